// SPDX-License-Identifier: Apache-2.0
// Instruments that are defined while the venue runs: docs/spec/definitions.md.

#include "domain/definition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_stream.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"
#include "facility_reference/differential.hpp"

namespace corro::facility::testing {
namespace {

using domain::reject_reason;
using domain::side;

[[nodiscard]] domain::instrument named(std::uint32_t id, std::string_view name) {
    domain::instrument i = wide_instrument(id);
    i.name = domain::symbol(name);
    i.product = domain::product_id{1};
    return i;
}

[[nodiscard]] domain::instrument spread_of(std::uint32_t id, std::string_view name, bool implied) {
    domain::instrument i = named(id, name);
    i.kind = domain::instrument_kind::spread;
    i.implied = implied;
    i.legs_count = 2;
    i.legs[0] = {domain::instrument_id{1}, 1, side::buy};
    i.legs[1] = {domain::instrument_id{2}, 1, side::sell};
    i.order_quantity_max = domain::quantity_lots{1'000};
    return i;
}

/// Two months of a future with an implied spread, and an option on it whose strategies imply no prices.
[[nodiscard]] std::vector<domain::instrument> market() {
    domain::instrument call = named(4, "CALL");
    call.kind = domain::instrument_kind::option;
    call.right = domain::option_right::call;
    call.strike = domain::price_nano{100};
    call.allocation.algorithm = domain::match_algorithm::pro_rata;
    std::vector<domain::instrument> all{named(1, "JUN"), named(2, "SEP"), spread_of(3, "JUN-SEP", true), call,
                                        spread_of(5, "BOX", false)};
    all[0].price_low = domain::price_ticks{1};
    return all;
}

struct definitions : ::testing::Test {
    static constexpr facility_options options{
        .orders_max = 100, .accounts_max = 4, .positions_max = 64, .instruments_reserved = 2};
    std::vector<domain::instrument> configured = market();
    twin both{options, configured};
    std::uint64_t sequence = 0;

    /// Checks that the facility and the reference agree on all effects of the command.
    void apply(domain::command c) {
        c.sequence = domain::sequence_number{++sequence};
        c.time = domain::time_ns{static_cast<std::int64_t>(sequence)};
        ASSERT_EQ(both.apply(c), "");
    }
    void define(const domain::definition& d, bool is_operator = true) {
        domain::command c = domain::command_of(d);
        c.set_operator(is_operator);
        c.account = domain::account_id{1};
        c.session = domain::session_id{101};
        c.set_request(7);
        apply(c);
    }
    void open(std::uint32_t id) {
        domain::command c;
        c.kind = domain::command_kind::change_phase;
        c.instrument = domain::instrument_id{id};
        c.set_operator(true);
        apply(c);
    }
    void settle(std::uint32_t id) {
        domain::command c;
        c.kind = domain::command_kind::settle_instrument;
        c.instrument = domain::instrument_id{id};
        c.set_operator(true);
        apply(c);
    }
    void enter(std::uint32_t id, std::uint32_t account, side s, std::int64_t price, std::uint32_t lots) {
        domain::command c = limit(account, s, price, lots, 1'000 + sequence);
        c.instrument = domain::instrument_id{id};
        apply(c);
    }
    /// The reason of the only event, a refusal.
    [[nodiscard]] reject_reason refusal() const {
        if (both.events().size() != 1 || both.events()[0].kind != domain::event_kind::order_rejected) {
            return reject_reason::none;
        }
        return both.events()[0].reason;
    }
    [[nodiscard]] std::string kinds() const {
        std::string text;
        for (const domain::event& e : both.events()) text += std::string(text.empty() ? "" : " ") + name_of(e.kind);
        return text;
    }
    static domain::definition like(std::uint32_t other, std::uint32_t id, std::string_view name) {
        domain::definition d;
        d.id = domain::instrument_id{id};
        d.like = domain::instrument_id{other};
        d.name = domain::symbol(name);
        return d;
    }
};

TEST_F(definitions, an_instrument_begins_closed_and_trades_when_it_is_opened) {
    define(like(2, 9, "DEC"));
    EXPECT_EQ(kinds(), "instrument_terms instrument_defined phase_changed request_done");
    EXPECT_EQ(both.events()[2].phase.phase, domain::trading_phase::closed);
    EXPECT_EQ(both.events()[3].order.request, 7U);
    ASSERT_EQ(both.venue().defined().size(), 1U);
    EXPECT_EQ(both.venue().instruments().size(), 6U);
    EXPECT_EQ(both.venue().defined()[0].name.view(), "DEC");
    enter(9, 1, side::buy, 100, 5);
    EXPECT_EQ(refusal(), reject_reason::instrument_closed);
    open(9);
    enter(9, 1, side::buy, 100, 5);
    enter(9, 2, side::sell, 100, 3);
    EXPECT_EQ(both.venue().volumes_of(domain::instrument_id{9}).volume.value, 3U);
    EXPECT_EQ(both.venue().position_of(domain::account_id{2}, domain::instrument_id{9}), -3);
    EXPECT_EQ(both.venue().volumes_of(domain::instrument_id{2}).volume.value, 0U);
}

TEST_F(definitions, an_option_differs_in_strike_and_right_and_shares_as_the_other_one) {
    domain::definition d = like(4, 40, "PUT");
    d.given = domain::definition_field::option | domain::definition_field::expiry;
    d.right = domain::option_right::put;
    d.strike = domain::price_nano{90};
    d.expiry = domain::time_ns{5'000};
    define(d);
    open(40);
    const domain::instrument& made = both.venue().defined()[0];
    EXPECT_EQ(made.right, domain::option_right::put);
    EXPECT_EQ(made.strike.value, 90);
    EXPECT_EQ(made.expiry.value, 5'000);
    enter(40, 1, side::sell, 10, 30);
    enter(40, 2, side::sell, 10, 10);
    enter(40, 3, side::buy, 10, 20);
    EXPECT_EQ(both.venue().position_of(domain::account_id{1}, domain::instrument_id{40}), -15) << "pro rata";
    EXPECT_EQ(both.venue().position_of(domain::account_id{2}, domain::instrument_id{40}), -5);
}

TEST_F(definitions, a_strategy_trades_in_the_legs_that_it_names) {
    define(like(2, 9, "DEC"));
    domain::definition d = like(5, 10, "SEP-DEC");
    d.given = domain::definition_field::legs;
    d.legs = {domain::instrument_id{2}, domain::instrument_id{9}};
    d.legs_count = 2;
    define(d);
    EXPECT_EQ(kinds(), "instrument_terms instrument_legs instrument_defined phase_changed request_done");
    open(10);
    enter(10, 1, side::buy, 3, 4);
    enter(10, 2, side::sell, 3, 4);
    EXPECT_EQ(both.venue().position_of(domain::account_id{1}, domain::instrument_id{2}), 4);
    EXPECT_EQ(both.venue().position_of(domain::account_id{1}, domain::instrument_id{9}), -4);
}

TEST_F(definitions, the_band_is_the_other_instruments_and_not_what_implied_matching_leaves_of_it) {
    define(like(1, 9, "DEC"));
    EXPECT_EQ(both.venue().defined()[0].price_low.value, 1);
    EXPECT_EQ(both.venue().defined()[0].price_high.value, domain::price_ticks_max);
}

TEST_F(definitions, are_refused_with_a_reason_and_nothing_changes) {
    const std::uint64_t before = both.venue().state_hash();
    const auto reason_of = [this](const domain::definition& d, bool is_operator = true) {
        define(d, is_operator);
        return refusal();
    };
    EXPECT_EQ(reason_of(like(2, 9, "DEC"), 0), reject_reason::not_authorised);
    EXPECT_EQ(reason_of(like(2, 4, "DEC")), reject_reason::instrument_exists);
    EXPECT_EQ(reason_of(like(8, 9, "DEC")), reject_reason::unknown_instrument);
    EXPECT_EQ(reason_of(like(2, 9, "JUN")), reject_reason::name_taken);
    EXPECT_EQ(reason_of(like(2, 9, "")), reject_reason::unsound_definition);
    EXPECT_EQ(reason_of(like(2, 0, "DEC")), reject_reason::unsound_definition);
    EXPECT_EQ(reason_of(like(2, domain::instruments_max + 1, "DEC")), reject_reason::unsound_definition);
    EXPECT_EQ(reason_of(like(3, 9, "JUN-DEC")), reject_reason::implied_definition);
    domain::definition d = like(5, 9, "BAD");
    d.given = domain::definition_field::legs;
    d.legs = {domain::instrument_id{1}, domain::instrument_id{8}};
    d.legs_count = 2;
    EXPECT_EQ(reason_of(d), reject_reason::unknown_leg);
    d.legs[1] = domain::instrument_id{1};
    EXPECT_EQ(reason_of(d), reject_reason::unsound_definition) << "a leg twice";
    d.legs[1] = domain::instrument_id{3};
    EXPECT_EQ(reason_of(d), reject_reason::unsound_definition) << "a leg with legs";
    EXPECT_EQ(both.venue().state_hash(), before);
    EXPECT_TRUE(both.venue().defined().empty());
}

TEST_F(definitions, are_refused_when_what_they_need_is_settled_or_no_room_is_left) {
    settle(2);
    define(like(2, 9, "DEC"));
    EXPECT_EQ(refusal(), reject_reason::instrument_settled);
    define(like(5, 9, "BOX-2"));
    EXPECT_EQ(refusal(), reject_reason::instrument_settled) << "one of its legs is";
    define(like(1, 9, "DEC"));
    define(like(9, 8, "MAR"));
    EXPECT_EQ(both.venue().defined().size(), 2U) << "like one that was defined itself";
    define(like(1, 7, "MAY"));
    EXPECT_EQ(refusal(), reject_reason::instruments_full);
}

TEST_F(definitions, are_in_the_state_hash) {
    facility_options same = options;
    recorder heard;
    facility one(same, configured, heard);
    facility other(same, configured, heard);
    domain::definition d = like(1, 9, "DEC");
    domain::command c = domain::command_of(d);
    c.set_operator(true);
    one.apply(c);
    d.given = domain::definition_field::expiry;
    d.expiry = domain::time_ns{1};
    c = domain::command_of(d);
    c.set_operator(true);
    other.apply(c);
    EXPECT_NE(one.state_hash(), other.state_hash());
}

TEST_F(definitions, are_in_a_snapshot_with_their_orders_and_trades) {
    define(like(4, 9, "CALL-2"));
    domain::definition d = like(5, 10, "BOX-2");
    d.given = domain::definition_field::legs;
    d.legs = {domain::instrument_id{2}, domain::instrument_id{9}};
    d.legs_count = 2;
    define(d);
    open(9);
    open(10);
    enter(9, 1, side::buy, 100, 5);
    enter(9, 2, side::sell, 100, 3);
    enter(10, 2, side::sell, 7, 3);
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    ASSERT_TRUE(both.venue().save(sink));
    recorder heard;
    facility loaded(options, configured, heard);
    for (int i = 0; i < 2; ++i) {  // into a new facility, then into a used one
        base::memory_source source(bytes);
        ASSERT_EQ(loaded.load(source), std::error_code{});
        EXPECT_EQ(loaded.state_hash(), both.venue().state_hash());
        ASSERT_EQ(loaded.defined().size(), 2U);
        EXPECT_EQ(loaded.defined()[1].legs[1].instrument.value, 9U);
    }
    domain::command c = limit(3, side::buy, 7, 3);
    c.instrument = domain::instrument_id{10};
    heard.events.clear();
    c.sequence = domain::sequence_number{++sequence};
    loaded.apply(c);
    ASSERT_EQ(both.apply(c), "");
    ASSERT_EQ(heard.events.size(), both.events().size());
    EXPECT_EQ(loaded.state_hash(), both.venue().state_hash());
    loaded.clear();
    EXPECT_TRUE(loaded.defined().empty());
}

TEST_F(definitions, a_facility_that_reserves_nothing_is_the_one_that_it_was) {
    facility_options none = options;
    none.instruments_reserved = 0;
    recorder heard;
    facility without(none, configured, heard);
    domain::command c = domain::command_of(like(1, 9, "DEC"));
    c.set_operator(true);
    without.apply(c);
    ASSERT_EQ(heard.events.size(), 1U);
    EXPECT_EQ(heard.events[0].reason, reject_reason::instruments_full);
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    ASSERT_TRUE(without.save(sink));
    facility with(options, configured, heard);
    base::memory_source source(bytes);
    EXPECT_EQ(with.load(source), make_error_code(snapshot_errc::other_venue));
}

}  // namespace
}  // namespace corro::facility::testing
