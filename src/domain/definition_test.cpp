// SPDX-License-Identifier: Apache-2.0
#include "domain/definition.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

namespace corro::domain {
namespace {

[[nodiscard]] instrument june_call() {
    instrument i;
    i.id = instrument_id{7};
    i.product = product_id{3};
    i.name = symbol("JUN-4800-C");
    i.kind = instrument_kind::option;
    i.tick_size = price_nano{250'000'000};
    i.lot_size = 5;
    i.price_low = price_ticks{1};
    i.price_high = price_ticks{4'000};
    i.right = option_right::call;
    i.strike = price_nano{4'800'000'000'000};
    i.expiry = time_ns{1'000};
    i.dynamic_band = 40;
    return i;
}

[[nodiscard]] instrument calendar() {
    instrument i;
    i.id = instrument_id{9};
    i.name = symbol("JUN-SEP");
    i.kind = instrument_kind::spread;
    i.legs_count = 2;
    i.legs[0] = {instrument_id{1}, 1, side::buy};
    i.legs[1] = {instrument_id{2}, 3, side::sell};
    return i;
}

[[nodiscard]] definition named(std::string_view name) {
    definition d;
    d.id = instrument_id{20};
    d.name = symbol(name);
    return d;
}

TEST(definition, is_like_the_other_instrument_in_everything_that_it_does_not_name) {
    const instrument like = june_call();
    const auto [made, reason] = define_like(like, named("SEP-4800-C"));
    ASSERT_EQ(reason, reject_reason::none);
    EXPECT_EQ(made.id.value, 20U);
    EXPECT_EQ(made.name.view(), "SEP-4800-C");
    EXPECT_EQ(made.product, like.product);
    EXPECT_EQ(made.tick_size, like.tick_size);
    EXPECT_EQ(made.lot_size, like.lot_size);
    EXPECT_EQ(made.strike, like.strike);
    EXPECT_EQ(made.right, like.right);
    EXPECT_EQ(made.expiry, like.expiry);
    EXPECT_EQ(made.price_high, like.price_high);
    EXPECT_EQ(made.dynamic_band, like.dynamic_band);
}

TEST(definition, differs_in_what_it_names) {
    definition d = named("SEP-4900-P");
    d.given = definition_field::expiry | definition_field::option | definition_field::price_high;
    d.expiry = time_ns{2'000};
    d.right = option_right::put;
    d.strike = price_nano{4'900'000'000'000};
    d.price_high = price_nano{500'000'000'000};
    const auto [made, reason] = define_like(june_call(), d);
    ASSERT_EQ(reason, reject_reason::none);
    EXPECT_EQ(made.expiry.value, 2'000);
    EXPECT_EQ(made.right, option_right::put);
    EXPECT_EQ(made.strike.value, 4'900'000'000'000);
    EXPECT_EQ(made.price_high.value, 2'000);
    EXPECT_EQ(made.price_low.value, 1);
}

TEST(definition, keeps_sides_and_ratios_of_the_legs_that_it_names) {
    definition d = named("SEP-DEC");
    d.given = definition_field::legs;
    d.legs = {instrument_id{2}, instrument_id{3}};
    d.legs_count = 2;
    const auto [made, reason] = define_like(calendar(), d);
    ASSERT_EQ(reason, reject_reason::none);
    EXPECT_EQ(made.legs[0], (leg{instrument_id{2}, 1, side::buy}));
    EXPECT_EQ(made.legs[1], (leg{instrument_id{3}, 3, side::sell}));
    d.legs_count = 3;
    EXPECT_EQ(define_like(calendar(), d).reason, reject_reason::unsound_definition);
    d.legs_count = 2;
    EXPECT_EQ(define_like(june_call(), d).reason, reject_reason::unsound_definition) << "it has no legs";
}

TEST(definition, is_refused_with_the_reason_when_it_makes_no_sound_instrument) {
    const auto reason_of = [](const definition& d) { return define_like(june_call(), d).reason; };
    definition d = named("X");
    d.given = definition_field::price_low;
    d.price_low = price_nano{1};
    EXPECT_EQ(reason_of(d), reject_reason::price_off_tick);
    d.price_low = price_nano{250'000'000 * (price_ticks_max + 1)};
    EXPECT_EQ(reason_of(d), reject_reason::invalid_price);
    d.price_low = price_nano{250'000'000 * std::int64_t{4'001}};
    EXPECT_EQ(reason_of(d), reject_reason::unsound_definition) << "the band is empty";
    d = named("X");
    d.given = definition_field::option;
    EXPECT_EQ(reason_of(d), reject_reason::unsound_definition) << "an option has a right";
    d = named("X");
    d.given = 32;
    EXPECT_EQ(reason_of(d), reject_reason::unsound_definition) << "a field that does not exist";
    d = named("X");
    d.id = instrument_id{0};
    EXPECT_EQ(reason_of(d), reject_reason::unsound_definition);
}

TEST(definition, refuses_names_that_files_and_screens_could_not_hold) {
    for (const std::string_view name : {"", "A B", "A,B", "A\"B", "A\nB", "\xc3\x84"}) {
        EXPECT_EQ(define_like(june_call(), named(name)).reason, reject_reason::unsound_definition) << name;
    }
    definition d = named("A");
    d.name.characters[2] = 'B';
    EXPECT_EQ(define_like(june_call(), d).reason, reject_reason::unsound_definition) << "something behind the end";
    EXPECT_EQ(define_like(june_call(), named("TWENTY-FOUR-CHARACTERS-X")).reason, reject_reason::none);
}

TEST(definition, goes_through_a_command_and_comes_out_the_same) {
    definition option = named("SEP-4900-P");
    option.like = instrument_id{7};
    option.given = definition_field::expiry | definition_field::option | definition_field::price_low;
    option.expiry = time_ns{2'000};
    option.right = option_right::put;
    option.strike = price_nano{-3};
    option.price_low = price_nano{-500'000'000};
    EXPECT_EQ(definition_of(command_of(option)), option);
    definition spread = named("SEP-DEC");
    spread.given = definition_field::legs | definition_field::price_high;
    spread.legs = {instrument_id{2}, instrument_id{3}, instrument_id{4}, instrument_id{65'536}};
    spread.legs_count = 4;
    spread.price_high = price_nano{9};
    EXPECT_EQ(definition_of(command_of(spread)), spread);
}

TEST(definition, leaves_what_every_command_has_where_it_always_is) {
    command c = command_of(named("X"));
    EXPECT_EQ(c.kind, command_kind::define_instrument);
    EXPECT_EQ(c.instrument.value, 20U);
    EXPECT_EQ(c.verdict(), reject_reason::none);
    EXPECT_EQ(c.client_order.value, 0U) << "a refusal repeats it";
    EXPECT_FALSE(c.is_operator());
    c.sequence = sequence_number{~std::uint64_t{0}};
    c.time = time_ns{-1};
    c.session = session_id{0xffffffffU};
    c.account = account_id{0xffffffffU};
    c.set_request(0xffffffffU);
    c.set_verdict(static_cast<reject_reason>(0xff));
    c.payload.any.is_operator = 0xff;
    EXPECT_EQ(definition_of(c), named("X"));
}

TEST(definition, has_its_arrival_beside_its_name_and_terms) {
    definition d = named("TWENTY-FOUR-CHARACTERS-X");
    d.given = definition_field::all & ~definition_field::option;
    d.price_low = d.price_high = price_nano{-1};
    d.expiry = time_ns{-1};
    d.legs.fill(instrument_id{0xffffffffU});
    d.legs_count = 4;
    command c = command_of(d);
    EXPECT_EQ(c.arrival().number, 0U);
    EXPECT_FALSE(c.arrival().has_place());
    c.set_request(0xffffffffU);
    c.set_operator(true);
    c.set_arrival(0xf1f2f3f4f5f6f7f8, 0);
    c.set_request_place(0, 0xe1e2e3e4);
    EXPECT_EQ(c.arrival().number, 0xf1f2f3f4f5f6f7f8);
    EXPECT_EQ(c.arrival().copies, 0U);
    EXPECT_EQ(c.arrival().leg, 0U);
    EXPECT_EQ(c.arrival().previous_request(), 0xe1e2e3e4U);
    EXPECT_EQ(definition_of(c), d) << "nothing of the definition is overwritten";
    EXPECT_EQ(c.request(), 0xffffffffU);
    EXPECT_TRUE(c.is_operator());
    EXPECT_EQ(c.verdict(), reject_reason::none);
    // The definition is not read from it either.
    c.set_arrival(1, 0);
    c.set_request_place(0, 0);
    EXPECT_EQ(definition_of(c), d);
}

TEST(definition, is_put_together_from_its_events) {
    const instrument made = define_like(calendar(), named("OTHER")).value;
    const definition said = definition_of(made, instrument_id{9});
    definition_reader reader;
    event e;
    e.instrument = said.id;
    e.kind = event_kind::instrument_terms;
    e.terms = {said.strike, said.price_low, said.price_high, said.right, {}};
    EXPECT_FALSE(reader.take(e));
    e.kind = event_kind::instrument_legs;
    e.legs = {said.legs, said.legs_count, {}};
    EXPECT_FALSE(reader.take(e));
    e.kind = event_kind::instrument_defined;
    e.defined = {said.name, said.expiry, said.like, {}};
    EXPECT_TRUE(reader.take(e));
    EXPECT_EQ(reader.get(), said);
    EXPECT_EQ(define_like(calendar(), reader.get()).value.legs, made.legs);
    // An event of another instrument: the events before it do not belong to it.
    e.instrument = instrument_id{21};
    EXPECT_TRUE(reader.take(e));
    EXPECT_EQ(reader.get().given, definition_field::expiry);
}

}  // namespace
}  // namespace corro::domain
