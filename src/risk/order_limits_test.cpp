// SPDX-License-Identifier: Apache-2.0
#include "risk/order_limits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace corro::risk {
namespace {

using domain::account_id;
using domain::price_ticks;
using domain::reject_reason;
using domain::side;

constexpr account_id account{1};
constexpr account_id other{2};

/// Two futures, and a spread that buys two lots of the first and sells one of the second.
std::vector<domain::instrument> defined() {
    std::vector<domain::instrument> all(3);
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i].id = domain::instrument_id{i + 1};
    all[2].kind = domain::instrument_kind::spread;
    all[2].legs = {domain::leg{.instrument = domain::instrument_id{1}, .ratio = 2, .side = side::buy},
                   domain::leg{.instrument = domain::instrument_id{2}, .ratio = 1, .side = side::sell}};
    all[2].legs_count = 2;
    all[2].order_quantity_max = domain::quantity_lots{1'000};
    return all;
}

class order_limits_test : public testing::Test {
 protected:
    static constexpr std::uint32_t near = 0;
    static constexpr std::uint32_t far = 1;
    static constexpr std::uint32_t spread = 2;

    reject_reason check(side s, std::uint32_t lots, std::int64_t price = 100, std::uint32_t book = near) {
        const std::uint32_t position = acquire_with_legs(positions_, strategies_, account, book);
        return limits_.check({.account = account,
                              .book = book,
                              .position = position,
                              .side = s,
                              .total = lots,
                              .added = lots,
                              .price = price_ticks{price},
                              .opened = 1},
                             instruments_[book]);
    }
    void open(side s, std::uint32_t lots, std::uint32_t book = near) {
        exposures_.add_order(account, acquire_with_legs(positions_, strategies_, account, book), s, lots);
    }
    /// The account buys from another, or sells if `lots` is negative.
    void trade(std::int32_t lots, std::uint32_t book = near) {
        const std::uint32_t own = positions_.acquire(account.value, book);
        const std::uint32_t others = positions_.acquire(other.value, book);
        positions_.trade(book, lots > 0 ? own : others, lots > 0 ? others : own,
                         static_cast<std::uint32_t>(lots > 0 ? lots : -lots));
    }

    std::vector<domain::instrument> instruments_ = defined();
    account_rules rules_{8, 8};
    positions positions_{16, 3};
    exposures exposures_{16, 8};
    strategies strategies_{instruments_, 3};
    order_limits limits_{rules_, positions_, exposures_, strategies_};
};

TEST_F(order_limits_test, allow_everything_without_limits) {
    open(side::buy, 4'000'000'000U);
    EXPECT_EQ(check(side::buy, domain::order_quantity_lots_max, domain::price_ticks_max), reject_reason::none);
}

TEST_F(order_limits_test, bound_the_size_of_an_order) {
    rules_.set_limits(account, {.order_quantity_max = 10});
    EXPECT_EQ(check(side::buy, 10), reject_reason::none);
    EXPECT_EQ(check(side::buy, 11), reject_reason::order_size_limit);
}

TEST_F(order_limits_test, bound_the_notional_value_in_currency) {
    instruments_[near].tick_size = domain::price_nano{250'000'000};  // a quarter
    instruments_[near].lot_size = 100;
    rules_.set_limits(account, {.notional_max = 25'000});
    EXPECT_EQ(check(side::buy, 10, 100), reject_reason::none) << "25 a unit, 1,000 units";
    EXPECT_EQ(check(side::buy, 10, 101), reject_reason::notional_limit);
    EXPECT_EQ(check(side::sell, 10, -100), reject_reason::none) << "negative prices count as positive ones";
    EXPECT_EQ(check(side::sell, 10, -101), reject_reason::notional_limit);
    EXPECT_EQ(check(side::buy, 1'000'000, domain::no_price.value), reject_reason::none) << "no price, no value";
}

TEST_F(order_limits_test, bound_the_notional_value_beyond_64_bits) {
    instruments_[near].tick_size = domain::price_nano{1};
    instruments_[near].lot_size = 4'000'000'000U;
    rules_.set_limits(account, {.notional_max = 9'000'000'000'000'000'000});
    EXPECT_EQ(check(side::buy, 1'000'000, 1'000'000'000), reject_reason::none) << "4 * 10^15";
    EXPECT_EQ(check(side::buy, 4'000'000'000U, 1'000'000'000), reject_reason::notional_limit) << "1.6 * 10^19";
}

TEST_F(order_limits_test, bound_the_open_orders) {
    rules_.set_limits(account, {.open_orders_max = 2});
    open(side::buy, 5);
    EXPECT_EQ(check(side::sell, 1), reject_reason::none);
    open(side::sell, 5, far);
    EXPECT_EQ(check(side::buy, 1), reject_reason::open_orders_limit) << "in all books together";
    EXPECT_EQ(limits_.check({.account = account, .total = 1, .added = 1, .price = price_ticks{1}, .opened = 0},
                            instruments_[near]),
              reject_reason::none)
        << "a command that opens no order";
}

TEST_F(order_limits_test, bound_the_position_that_open_orders_could_lead_to) {
    rules_.set_limits(account, {.position_max = 10});
    trade(4);
    open(side::buy, 3);
    EXPECT_EQ(check(side::buy, 3), reject_reason::none) << "4 + 3 + 3";
    EXPECT_EQ(check(side::buy, 4), reject_reason::position_limit);
    EXPECT_EQ(check(side::sell, 14), reject_reason::none) << "14 - 4; open buys do not count";
    EXPECT_EQ(check(side::sell, 15), reject_reason::position_limit);
    EXPECT_EQ(check(side::buy, 10, 100, far), reject_reason::none) << "each book by itself";
}

TEST_F(order_limits_test, count_the_legs_of_open_strategy_orders) {
    rules_.set_limits(account, {.position_max = 10});
    open(side::buy, 3, spread);
    EXPECT_EQ(check(side::buy, 4), reject_reason::none) << "2 * 3 + 4";
    EXPECT_EQ(check(side::buy, 5), reject_reason::position_limit);
    EXPECT_EQ(check(side::sell, 10), reject_reason::none) << "the spread buys the first leg";
    EXPECT_EQ(check(side::sell, 7, 100, far), reject_reason::none) << "3 + 7: it sells the second";
    EXPECT_EQ(check(side::sell, 8, 100, far), reject_reason::position_limit);
}

TEST_F(order_limits_test, check_a_strategy_in_each_of_its_legs) {
    rules_.set_limits(account, {.position_max = 10});
    EXPECT_EQ(check(side::buy, 5, 1, spread), reject_reason::none) << "2 * 5 in the first leg";
    EXPECT_EQ(check(side::buy, 6, 1, spread), reject_reason::position_limit);
    trade(-8, far);
    EXPECT_EQ(check(side::buy, 2, 1, spread), reject_reason::none) << "8 + 2 sold in the second leg";
    EXPECT_EQ(check(side::buy, 3, 1, spread), reject_reason::position_limit);
    EXPECT_EQ(check(side::sell, 5, 1, spread), reject_reason::none) << "a seller buys the second leg";
}

TEST_F(order_limits_test, report_size_before_value_before_orders_before_position) {
    rules_.set_limits(account, {.notional_max = 1, .order_quantity_max = 1, .position_max = 1, .open_orders_max = 1});
    open(side::buy, 1);
    EXPECT_EQ(check(side::buy, 2), reject_reason::order_size_limit);
    rules_.set_limits(account, {.notional_max = 1, .position_max = 1, .open_orders_max = 1});
    EXPECT_EQ(check(side::buy, 2), reject_reason::notional_limit);
    rules_.set_limits(account, {.position_max = 1, .open_orders_max = 1});
    EXPECT_EQ(check(side::buy, 2), reject_reason::open_orders_limit);
    rules_.set_limits(account, {.position_max = 1});
    EXPECT_EQ(check(side::buy, 2), reject_reason::position_limit);
}

TEST(acquire_with_legs, gives_a_strategy_and_its_legs_a_slot_each) {
    const std::vector<domain::instrument> instruments = defined();
    const strategies all(instruments, 3);
    positions held(3, 3);
    EXPECT_NE(acquire_with_legs(held, all, account, 2), positions::none);
    EXPECT_EQ(held.count(), 3U);
    EXPECT_NE(held.find(account.value, 0), positions::none);
    EXPECT_NE(held.find(account.value, 1), positions::none);
}

TEST(acquire_with_legs, returns_none_when_a_leg_has_no_room) {
    const std::vector<domain::instrument> instruments = defined();
    const strategies all(instruments, 3);
    positions held(2, 3);
    EXPECT_EQ(acquire_with_legs(held, all, account, 2), positions::none);
    EXPECT_NE(acquire_with_legs(held, all, account, 0), positions::none) << "a book without legs needs one slot";
}

}  // namespace
}  // namespace corro::risk
