// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/fingerprint.hpp"
#include "domain/instrument.hpp"

namespace corro::domain {
namespace {

instrument e_mini() {
    instrument i;
    i.id = instrument_id{1};
    i.name = symbol{"ESH4"};
    i.tick_size = price_nano{250'000'000};
    i.price_low = price_ticks{0};
    i.price_high = price_ticks{40'000};
    return i;
}

TEST(instrument, converts_prices_exactly_or_says_why_not) {
    const instrument i = e_mini();
    EXPECT_EQ(to_ticks(i, price_nano{4'800'250'000'000}).value, price_ticks{19'201});
    EXPECT_EQ(to_ticks(i, price_nano{4'800'260'000'000}).reason, reject_reason::price_off_tick);
    EXPECT_EQ(to_ticks(i, price_nano{-250'000'000}).value, price_ticks{-1});
    EXPECT_EQ(to_ticks(i, price_nano{std::numeric_limits<std::int64_t>::max()}).reason, reject_reason::price_off_tick);
    instrument fine = i;
    fine.tick_size = price_nano{1};
    EXPECT_EQ(to_ticks(fine, price_nano{std::numeric_limits<std::int64_t>::max()}).reason,
              reject_reason::invalid_price);
    EXPECT_EQ(to_ticks(fine, no_price_nano).reason, reject_reason::invalid_price);
    EXPECT_EQ(to_nano(i, price_ticks{19'201}), price_nano{4'800'250'000'000});
    EXPECT_EQ(to_nano(i, no_price), no_price_nano);
}

TEST(allocation_policy, is_refused_when_its_parameters_contradict_its_algorithm) {
    using enum match_algorithm;
    const auto is_sound = [](allocation_policy p) { return validate(p).empty(); };
    for (const match_algorithm a :
         {fifo, fifo_makers, fifo_top_makers, split, allocation, pro_rata, threshold, threshold_makers}) {
        EXPECT_TRUE(is_sound({.algorithm = a}));
    }
    EXPECT_FALSE(is_sound({.algorithm = match_algorithm{'B'}}));
    EXPECT_TRUE(is_sound({.algorithm = split, .levels = true, .fifo_percent = 100}));
    EXPECT_FALSE(is_sound({.algorithm = split, .fifo_percent = 101}));
    EXPECT_FALSE(is_sound({.algorithm = threshold, .fifo_percent = 40}));
    EXPECT_FALSE(is_sound({.algorithm = pro_rata, .levels = true}));
    EXPECT_TRUE(is_sound({.algorithm = threshold, .top_minimum = 10, .top_maximum = 100}));
    EXPECT_FALSE(is_sound({.algorithm = pro_rata, .top_maximum = 100}));
    EXPECT_FALSE(is_sound({.algorithm = allocation, .pro_rata_minimum = 3}));
    EXPECT_FALSE(is_sound({.algorithm = fifo_makers, .pro_rata_minimum = 1}));
    EXPECT_FALSE(is_sound({.algorithm = threshold, .top_maximum = order_quantity_lots_max + 1}));
    allocation_policy made{.algorithm = fifo_makers};
    made.makers[0] = {account_id{4}, 60};
    made.makers[1] = {account_id{5}, 40};
    EXPECT_TRUE(is_sound(made));
    made.algorithm = threshold;
    EXPECT_FALSE(is_sound(made));
    made.algorithm = threshold_makers;
    made.makers[1] = {account_id{4}, 10};
    EXPECT_FALSE(is_sound(made)) << "one account twice";
    made.makers[1] = {account_id{5}, 41};
    EXPECT_FALSE(is_sound(made)) << "101 percent";
    made.makers[1] = {};
    made.makers[2] = {account_id{5}, 1};
    EXPECT_FALSE(is_sound(made)) << "a gap";
}

TEST(instrument, converts_quantities_exactly_or_says_why_not) {
    instrument i = e_mini();
    i.lot_size = 100;
    EXPECT_EQ(to_lots(i, 300).value, quantity_lots{3});
    EXPECT_EQ(to_lots(i, 250).reason, reject_reason::quantity_off_lot);
    EXPECT_EQ(to_lots(i, 0).reason, reject_reason::invalid_quantity);
    EXPECT_EQ(to_lots(i, -100).reason, reject_reason::invalid_quantity);
    EXPECT_EQ(to_lots(i, std::numeric_limits<std::int64_t>::min()).reason, reject_reason::invalid_quantity);
    EXPECT_EQ(to_lots(i, 100 * (std::int64_t{order_quantity_lots_max} + 1)).reason, reject_reason::invalid_quantity);
}

TEST(instrument, refuses_an_unsound_definition_with_a_sentence) {
    EXPECT_TRUE(validate(e_mini()).empty());
    auto refuses = [](auto change) {
        instrument i = e_mini();
        change(i);
        return !validate(i).empty();
    };
    EXPECT_TRUE(refuses([](instrument& i) { i.id = instrument_id{0}; }));
    EXPECT_TRUE(refuses([](instrument& i) { i.name = symbol{}; }));
    EXPECT_TRUE(refuses([](instrument& i) { i.tick_size = price_nano{0}; }));
    EXPECT_TRUE(refuses([](instrument& i) { i.lot_size = 0; }));
    EXPECT_TRUE(refuses([](instrument& i) { i.price_low = price_ticks{50'000}; }));
    EXPECT_TRUE(refuses([](instrument& i) { i.order_quantity_max = quantity_lots{0}; }));
    EXPECT_TRUE(refuses([](instrument& i) {
        i.tick_size = price_nano{std::int64_t{1} << 40};
        i.price_high = price_ticks{price_ticks_max};
    }));
}

TEST(instrument, says_what_implied_matching_asks_of_a_strategy_and_its_legs) {
    const auto leg_of = [](std::uint32_t id, side s) { return leg{instrument_id{id}, 1, s}; };
    std::array<instrument, 4> all;
    for (std::uint32_t n = 0; n < all.size(); ++n) {
        all[n] = e_mini();
        all[n].id = instrument_id{n + 1};
        all[n].product = product_id{1};
    }
    for (const std::size_t n : {2U, 3U}) {
        all[n].kind = instrument_kind::spread;
        all[n].legs_count = 2;
        all[n].legs = {leg_of(1, side::buy), leg_of(2, side::sell)};
    }
    all[2].implied = true;
    ASSERT_EQ(validate_legs(all[2], all), "");
    const auto refuses = [&](auto change) {
        std::array<instrument, 4> other = all;
        change(other);
        return !validate_legs(other[2], other).empty();
    };
    EXPECT_TRUE(refuses([](auto& i) { i[2].legs[1].side = side::buy; }));
    EXPECT_TRUE(refuses([](auto& i) { i[2].legs[0].ratio = 2; }));
    EXPECT_TRUE(refuses([](auto& i) { i[0].product = product_id{2}; }));
    EXPECT_TRUE(refuses([](auto& i) { i[0].product = i[1].product = i[2].product = product_id{0}; }));
    EXPECT_TRUE(refuses([](auto& i) { i[1].tick_size = price_nano{2 * i[1].tick_size.value}; }));
    EXPECT_TRUE(refuses([](auto& i) { i[1].allocation.algorithm = match_algorithm::pro_rata; }));
    EXPECT_TRUE(refuses([](auto& i) { i[2].allocation.algorithm = match_algorithm::pro_rata; }));
    EXPECT_TRUE(refuses([](auto& i) { i[3].implied = true; })) << "the same legs twice";
    all[0].implied = true;
    EXPECT_FALSE(validate(all[0]).empty()) << "no legs";
}

TEST(instrument, lets_the_sum_of_two_prices_that_imply_one_another_be_a_price) {
    instrument i = e_mini();
    EXPECT_EQ(implied_reach(i).value, implied_price_ticks_max);
    i.tick_size = price_nano{std::int64_t{1} << 60};
    EXPECT_EQ(implied_reach(i).value, 3) << "as far as 64 bits hold the sum in billionths";
}

TEST(symbol, keeps_as_many_characters_as_fit) {
    EXPECT_EQ(symbol{"ESH4"}.view(), "ESH4");
    EXPECT_EQ(symbol{"123456789012345678901234567890"}.view(), "123456789012345678901234");
}

TEST(reject_reason, names_every_number_in_use_and_no_other) {
    EXPECT_EQ(to_string(reject_reason::price_off_tick), "price_off_tick");
    EXPECT_EQ(to_string(static_cast<reject_reason>(255)), "unknown");
}

TEST(fingerprint, differs_with_every_definition_and_not_with_their_order) {
    instrument a;
    a.id = instrument_id{1};
    instrument b;
    b.id = instrument_id{2};
    const std::array one_way{a, b};
    const std::array other_way{b, a};
    EXPECT_EQ(fingerprint_of(one_way), fingerprint_of(other_way));
    EXPECT_NE(fingerprint_of(one_way), fingerprint_of(std::span(one_way).first(1)));
    b.allocation.makers[7].percent = 1;
    const std::array changed{a, b};
    EXPECT_NE(fingerprint_of(one_way), fingerprint_of(changed));
}

}  // namespace
}  // namespace corro::domain
