// SPDX-License-Identifier: Apache-2.0
// Whatever a client says: a sound frame is answered with what is wrong with it, an unsound one ends that session and no
// other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using domain::event_kind;
using domain::reject_reason;
using domain::side;
using testing::cancel;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using wire::session_reject_reason;
using client_pointer = std::unique_ptr<raw_client>;

constexpr std::int64_t tick_nano = 250'000'000;

/// A sound entry, to be spoilt: one lot at tick 100.
wire::enter_order entry(std::uint64_t client_order) {
    wire::enter_order m;
    m.client_order = domain::client_order_id{client_order};
    m.price = domain::price_nano{100 * tick_nano};
    m.quantity = 10;
    m.instrument = domain::instrument_id{1};
    m.side = side::buy;
    m.order_type = domain::order_type::limit;
    m.time_in_force = domain::time_in_force::day;
    return m;
}

/// Sends what is queued and expects the market's refusal of the request numbered last.
io::task<bool> is_rejected(raw_client* c, reject_reason reason) {
    const bool flushed = co_await c->flush();
    if (!flushed) co_return false;
    const std::vector<domain::event> events = co_await c->answer();
    if (events.size() != 1 || events[0].kind != event_kind::order_rejected) {
        ADD_FAILURE() << "not refused, but should be for " << to_string(reason);
        co_return false;
    }
    EXPECT_EQ(to_string(events[0].reason), to_string(reason));
    EXPECT_EQ(events[0].order.request, c->next_request - 1);
    co_return true;
}

/// Sends what is queued and expects the session's refusal of the request numbered last.
io::task<bool> is_refused(raw_client* c, session_reject_reason reason, std::uint16_t field) {
    const bool flushed = co_await c->flush();
    if (!flushed) co_return false;
    const auto reject = co_await c->expect<wire::reject>();
    if (!reject) co_return false;
    EXPECT_EQ(to_string(reject->session_reject_reason), to_string(reason));
    EXPECT_EQ(reject->refused_field, field);
    EXPECT_EQ(reject->refused_sequence.value, c->next_request - 1);
    co_return true;
}

io::task<bool> enter(raw_client* c, std::uint64_t client_order) {
    c->queue_request(order(side::buy, 100, 1, client_order));
    const bool flushed = co_await c->flush();
    if (!flushed) co_return false;
    const std::vector<domain::event> events = co_await c->answer();
    co_return events.size() == 1 && events[0].kind == event_kind::order_entered;
}

// --- Sound frames ----------------------------------------------------------------------------------------------------

TEST(order_entry_bad_input, entries_that_the_market_does_not_allow_are_rejected_with_the_reason) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
        const std::vector<std::pair<std::int64_t, reject_reason>> quantities{
            {0, reject_reason::invalid_quantity},
            {-10, reject_reason::invalid_quantity},
            {std::numeric_limits<std::int64_t>::min(), reject_reason::invalid_quantity},
            {15, reject_reason::quantity_off_lot},
            {1, reject_reason::quantity_off_lot},
            {10'010, reject_reason::invalid_quantity},
            {(std::int64_t{1} << 32U) * 10, reject_reason::invalid_quantity},
            {largest / 10 * 10, reject_reason::invalid_quantity},
        };
        for (const auto& [quantity, reason] : quantities) {
            wire::enter_order m = entry(1);
            m.quantity = quantity;
            c->queue(m, c->next_request++);
            CORRO_REQUIRE(co_await is_rejected(c.get(), reason));
        }
        const std::vector<std::pair<std::int64_t, reject_reason>> prices{
            {100 * tick_nano + 1, reject_reason::price_off_tick},
            {1, reject_reason::price_off_tick},
            {largest, reject_reason::price_off_tick},
            {largest / tick_nano * tick_nano, reject_reason::invalid_price},
            {-(largest / tick_nano * tick_nano), reject_reason::invalid_price},
            {domain::no_price_nano.value, reject_reason::invalid_price},
            {10'001 * tick_nano, reject_reason::price_outside_band},
            {-tick_nano, reject_reason::price_outside_band},
        };
        for (const auto& [price, reason] : prices) {
            wire::enter_order m = entry(1);
            m.price = domain::price_nano{price};
            c->queue(m, c->next_request++);
            CORRO_REQUIRE(co_await is_rejected(c.get(), reason));
        }
        for (const std::uint32_t instrument : {0U, 3U, UINT32_MAX}) {
            wire::enter_order m = entry(1);
            m.instrument = domain::instrument_id{instrument};
            c->queue(m, c->next_request++);
            CORRO_REQUIRE(co_await is_rejected(c.get(), reject_reason::unknown_instrument));
        }
        wire::enter_order impatient_and_passive = entry(1);
        impatient_and_passive.time_in_force = domain::time_in_force::ioc;
        impatient_and_passive.order_flags = domain::order_flag::post_only;
        c->queue(impatient_and_passive, c->next_request++);
        CORRO_REQUIRE(co_await is_rejected(c.get(), reject_reason::invalid_combination));
        EXPECT_EQ(v->open_orders_count(), 0U);
        EXPECT_EQ(v->statistics().session_rejects, 0U);
        CORRO_REQUIRE(co_await enter(c.get(), 1));
    });
}

TEST(order_entry_bad_input, a_client_order_id_is_used_once_at_a_time_within_an_account) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(c != nullptr && sister != nullptr && other != nullptr);
        CORRO_REQUIRE(co_await enter(c.get(), 77));
        for (raw_client* duplicating : {c.get(), sister.get()}) {
            duplicating->queue_request(order(side::buy, 99, 1, 77));
            CORRO_REQUIRE(co_await is_rejected(duplicating, reject_reason::duplicate_client_order_id));
        }
        CORRO_REQUIRE(co_await enter(other.get(), 77));
        c->queue_request(cancel(77));
        CORRO_REQUIRE(co_await c->flush());
        CORRO_REQUIRE((co_await c->answer()).size() == 1);
        CORRO_REQUIRE(co_await enter(c.get(), 77));
        EXPECT_EQ(v->open_orders_count(), 2U);
    });
}

/// Enters an order that rests and returns the venue's id for it.
io::task<domain::order_id> rest(raw_client* c, std::uint64_t client_order) {
    c->queue_request(order(side::buy, 100, 1, client_order));
    const bool sent = co_await c->flush();
    const std::vector<domain::event> events = co_await c->answer();
    EXPECT_TRUE(sent && events.size() == 1 && events[0].kind == event_kind::order_entered);
    co_return events.empty() ? domain::order_id{} : events[0].order.order;
}

TEST(order_entry_bad_input, changes_of_orders_that_are_unknown_foreign_filled_or_cancelled_are_rejected) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(c != nullptr && other != nullptr);
        const domain::order_id filled = co_await rest(c.get(), 1);
        other->queue_request(order(side::sell, 100, 1, 1));
        CORRO_REQUIRE(co_await other->flush());
        CORRO_REQUIRE(!(co_await other->answer()).empty());
        CORRO_REQUIRE(co_await other->event());  // its record of the trade
        CORRO_REQUIRE(co_await c->event());      // the fill
        CORRO_REQUIRE(co_await c->event());      // its record
        const domain::order_id cancelled = co_await rest(c.get(), 2);
        c->queue_request(cancel(2));
        CORRO_REQUIRE(co_await c->flush());
        CORRO_REQUIRE((co_await c->answer()).size() == 1);
        const domain::order_id foreign = co_await rest(other.get(), 3);

        const auto named = [](std::uint64_t client_order, domain::order_id id, std::uint32_t request) {
            domain::command by = cancel(client_order);
            by.cancel_order().order = id;
            by.cancel_order().target_request = request;
            return by;
        };
        const std::vector<std::pair<domain::command, reject_reason>> cases{
            {named(1, {}, 0), reject_reason::unknown_order},  // filled, by the client's id: free for reuse
            {named(2, {}, 0), reject_reason::unknown_order},  // cancelled
            {named(3, {}, 0), reject_reason::unknown_order},  // another account's id
            {named(9, {}, 0), reject_reason::unknown_order},  // never heard of
            {named(0, {}, 0), reject_reason::unknown_order},  // names nothing
            {named(0, filled, 0), reject_reason::order_not_open},
            {named(0, cancelled, 0), reject_reason::order_not_open},
            {named(0, foreign, 0), reject_reason::unknown_order},
            {named(0, domain::order_id{UINT64_MAX}, 0), reject_reason::unknown_order},
            {named(0, {}, 1), reject_reason::unknown_order},  // filled, by the number of its request
            {named(0, {}, UINT32_MAX), reject_reason::unknown_order},
        };
        for (const auto& [wanted, reason] : cases) {
            c->queue_request(wanted);
            CORRO_REQUIRE(co_await is_rejected(c.get(), reason));
            domain::command amend = wanted;
            amend.kind = domain::command_kind::amend_order;
            amend.amend_order().price = domain::price_ticks{101};
            amend.amend_order().quantity = domain::quantity_lots{2};
            c->queue_request(amend);
            CORRO_REQUIRE(co_await is_rejected(c.get(), reason));
        }
        domain::command all;
        all.kind = domain::command_kind::cancel_orders;
        c->queue_request(all);
        CORRO_REQUIRE(co_await is_rejected(c.get(), reject_reason::nothing_to_cancel));
        all.instrument = domain::instrument_id{2};
        other->queue_request(all);
        CORRO_REQUIRE(co_await is_rejected(other.get(), reject_reason::nothing_to_cancel));
        EXPECT_EQ(v->open_orders_count(), 1U) << "the other account's order is untouched";
    });
}

TEST(order_entry_bad_input, amends_to_what_an_order_may_not_be_leave_it_as_it_was) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        static_cast<void>(co_await rest(c.get(), 1));
        const std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, reject_reason>> cases{
            {{100 * tick_nano + 1, 10}, reject_reason::price_off_tick},
            {{10'001 * tick_nano, 10}, reject_reason::price_outside_band},
            {{domain::no_price_nano.value, 10}, reject_reason::invalid_price},
            {{100 * tick_nano, 0}, reject_reason::invalid_quantity},
            {{100 * tick_nano, -10}, reject_reason::invalid_quantity},
            {{100 * tick_nano, 11}, reject_reason::quantity_off_lot},
            {{100 * tick_nano, 10'010}, reject_reason::invalid_quantity},
        };
        for (const auto& [terms, reason] : cases) {
            wire::amend_order m;
            m.client_order = domain::client_order_id{1};
            m.instrument = domain::instrument_id{1};
            m.price = domain::price_nano{terms.first};
            m.quantity = terms.second;
            c->queue(m, c->next_request++);
            CORRO_REQUIRE(co_await is_rejected(c.get(), reason));
        }
        c->queue_request(cancel(1));
        CORRO_REQUIRE(co_await c->flush());
        const auto events = co_await c->answer();
        CORRO_REQUIRE(events.size() == 1);
        EXPECT_EQ(events[0].kind, event_kind::order_cancelled);
        EXPECT_EQ(events[0].order.quantity.value, 1U);
        EXPECT_EQ(events[0].order.price.value, 100);
    });
}

TEST(order_entry_bad_input, messages_that_are_not_the_protocols_are_refused_by_field_and_take_their_number) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        // Offsets are those of the specification's table of enter_order, plus the header.
        const auto spoilt = [&](std::size_t offset, std::uint8_t value) {
            c->queue(entry(1), c->next_request++);
            c->queued()[c->queued().size() - wire::enter_order::frame_bytes + offset] = std::byte{value};
        };
        constexpr std::size_t block = wire::header_bytes;
        spoilt(block + 28, 2);
        CORRO_REQUIRE(co_await is_refused(c.get(), session_reject_reason::invalid_value, 36));
        spoilt(block + 29, 0);
        CORRO_REQUIRE(co_await is_refused(c.get(), session_reject_reason::invalid_value, 37));
        spoilt(block + 30, 200);
        CORRO_REQUIRE(co_await is_refused(c.get(), session_reject_reason::invalid_value, 38));
        spoilt(block + 31, 255);
        CORRO_REQUIRE(co_await is_refused(c.get(), session_reject_reason::invalid_value, 39));
        spoilt(block + 32, 0x82);
        CORRO_REQUIRE(co_await is_refused(c.get(), session_reject_reason::undefined_flags, 40));
        spoilt(2, 0x7f);  // the template id
        CORRO_REQUIRE(co_await is_refused(c.get(), session_reject_reason::unknown_template, 0));
        c->queue(entry(1), c->next_request++);
        c->queued()[1] = std::byte{8};  // the block's length, and the block with it
        c->queued().resize(wire::header_bytes + 8);
        CORRO_REQUIRE(co_await is_refused(c.get(), session_reject_reason::block_too_short, 0));
        EXPECT_EQ(v->commands_count(), 0U);
        EXPECT_EQ(v->statistics().session_rejects, 7U);

        // A longer block is a newer client's: what it appended is skipped.
        c->queue(entry(1), c->next_request++);
        c->queued()[1] = static_cast<std::byte>(wire::enter_order::block_bytes + 16);
        c->queued().insert(c->queued().end(), 16, std::byte{0xab});
        CORRO_REQUIRE(co_await c->flush());
        CORRO_REQUIRE((co_await c->answer()).size() == 1);
        CORRO_REQUIRE(co_await enter(c.get(), 2));
        EXPECT_EQ(v->open_orders_count(), 2U);
    });
}

TEST(order_entry_bad_input, messages_of_the_other_direction_are_refused) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        const auto is_unexpected = [](raw_client* from) -> io::task<bool> {
            if (!co_await from->flush()) co_return false;
            const auto reject = co_await from->expect<wire::reject>();
            co_return reject && reject->session_reject_reason == session_reject_reason::unexpected_message;
        };
        wire::hello_ack ack;
        ack.heartbeat_interval_ms = 1'000;
        c->queue(ack);
        EXPECT_TRUE(co_await is_unexpected(c.get()));
        wire::hello second_hello;
        second_hello.heartbeat_interval_ms = 1'000;
        second_hello.protocol_version = wire::protocol_version;
        c->queue(second_hello);
        EXPECT_TRUE(co_await is_unexpected(c.get()));
        wire::reject reject;
        reject.session_reject_reason = session_reject_reason::unknown_template;
        c->queue(reject);
        EXPECT_TRUE(co_await is_unexpected(c.get()));
        c->queue(wire::snapshot_begin{}, c->next_request++);
        EXPECT_TRUE(co_await is_unexpected(c.get()));
        EXPECT_TRUE(co_await enter(c.get(), 1));
    });
}

// --- Unsound frames --------------------------------------------------------------------------------------------------

TEST(order_entry_bad_input, a_frame_that_is_not_the_protocol_ends_its_session_and_no_other) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer bystander = co_await v->log_on(logon(2));
        CORRO_REQUIRE(bystander != nullptr);
        struct defect {
            std::size_t offset;
            std::uint16_t value;
        };
        const std::vector<defect> defects{
            {4, wire::schema_id + 1},  // another schema
            {4, 0},
            {6, 0},   // version 0
            {0, 41},  // lengths that are no multiple of 8
            {0, 0xffff},
            {0, 504},  // a frame larger than any
            {0, 0xfff8},
        };
        std::uint64_t client_order = 0;
        for (const defect& d : defects) {
            const client_pointer c = co_await v->log_on(logon(1));
            CORRO_REQUIRE(c != nullptr);
            CORRO_REQUIRE(co_await enter(c.get(), ++client_order));
            c->queue_request(order(side::buy, 100, 1, ++client_order));
            c->queue_request(order(side::buy, 100, 1, ++client_order));
            const std::size_t second = c->queued().size() / 2;
            base::store_be<std::uint16_t>(c->queued().data() + second + d.offset, d.value);
            CORRO_REQUIRE(co_await c->flush());
            EXPECT_EQ((co_await c->answer()).size(), 1U) << "what came before the damage counts";
            EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::protocol_error))
                << "offset " << d.offset << " value " << d.value;
            CORRO_REQUIRE(co_await enter(bystander.get(), client_order));
            c->stream.close();
            CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 1; }));
        }
        EXPECT_EQ(v->statistics().protocol_errors, defects.size());
        EXPECT_EQ(v->open_orders_count(), 3 * defects.size());
    });
}

TEST(order_entry_bad_input, a_frame_that_is_cut_off_by_the_end_has_no_effect) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        for (std::size_t kept = 0; kept < wire::enter_order::frame_bytes; kept += 5) {
            const client_pointer c = co_await v->log_on(logon(1));
            CORRO_REQUIRE(c != nullptr);
            c->queue_request(order(side::buy, 100, 1, 1));
            c->queued().resize(kept);
            CORRO_REQUIRE(co_await c->flush());
            CORRO_REQUIRE(!co_await c->stream.shutdown());
            EXPECT_TRUE(co_await c->is_closed());
        }
        EXPECT_EQ(v->commands_count(), 0U);
        EXPECT_EQ(v->statistics().protocol_errors, 0U) << "a broken connection is no crime";
    });
}

// Sound requests with a few bytes changed, in pieces of random size, from a client that takes whatever comes back.
io::task<> damage_at_random(test_venue* v, std::uint64_t seed) {
    base::prng random(seed);
    const client_pointer bystander = co_await v->log_on(logon(2));
    CORRO_REQUIRE(bystander != nullptr);
    std::uint64_t ended = 0;
    for (std::uint64_t round = 1; round <= 200; ++round) {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        for (int i = 0; i < 20; ++i) {
            c->queue_request(
                order(random.below(2) == 0 ? side::buy : side::sell, random.between(90, 110), 1, random.below(50) + 1));
            if (random.below(4) == 0) c->queue_request(cancel(random.below(50) + 1));
        }
        c->queue(wire::heartbeat{});
        std::vector<std::byte> bytes = std::exchange(c->queued(), {});
        for (std::uint64_t changes = random.below(4); changes > 0; --changes) {
            bytes[random.below(bytes.size())] = static_cast<std::byte>(random());
        }
        for (std::span<const std::byte> rest(bytes); !rest.empty();) {
            const std::size_t size = std::min<std::size_t>(1 + random.below(400), rest.size());
            c->queue_bytes(rest.first(size));
            if (!co_await c->flush()) break;
            rest = rest.subspan(size);
            if (random.below(3) == 0) co_await io::yield();
        }
        if (random.below(2) == 0) static_cast<void>(co_await c->stream.shutdown());
        for (int i = 0; i < 5; ++i) {
            if (!co_await c->next()) {
                ++ended;
                break;
            }
        }
        // In the other instrument, far from where anybody sells.
        domain::command elsewhere = order(side::buy, 1, 1, round);
        elsewhere.instrument = domain::instrument_id{2};
        bystander->queue_request(elsewhere);
        CORRO_REQUIRE(co_await bystander->flush());
        const auto events = co_await bystander->answer();
        CORRO_REQUIRE(events.size() == 1 && events[0].kind == event_kind::order_entered);
        c->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 1; }));
    }
    EXPECT_GT(v->statistics().session_rejects, 0U) << "some damage is a refusal";
    EXPECT_GT(v->statistics().protocol_errors + ended, 0U) << "some ends the session";
}

TEST(order_entry_bad_input, random_damage_never_harms_another_session) {
    test_venue venue;
    const std::uint64_t seed = base::test_seed();
    venue.run([seed](test_venue* v) -> io::task<> { return damage_at_random(v, seed); });
}

}  // namespace
}  // namespace corro::gateway
