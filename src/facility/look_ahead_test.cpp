// SPDX-License-Identifier: Apache-2.0
// A facility that looks ahead at the commands that wait gives the same events as one that does not.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "facility/limits.hpp"
#include "facility/recorder.hpp"

namespace corro::facility {
namespace {

using domain::command;
using domain::command_kind;
using testing::recorder;

class two_venues {
 public:
    two_venues(const facility_options& options, std::span<const domain::instrument> instruments)
        : one_by_one_(options, instruments, heard_of_one_), together_(options, instruments, heard_of_other_) {}

    void apply(std::span<const command> commands) {
        heard_of_one_.events.clear();
        heard_of_other_.events.clear();
        for (const command& c : commands) one_by_one_.apply(c);
        together_.apply(commands);
        ASSERT_EQ(heard_of_one_.events.size(), heard_of_other_.events.size());
        ASSERT_EQ(std::memcmp(heard_of_one_.events.data(), heard_of_other_.events.data(),
                              heard_of_one_.events.size() * sizeof(domain::event)),
                  0);
    }
    [[nodiscard]] const std::vector<domain::event>& events() const { return heard_of_one_.events; }
    [[nodiscard]] std::uint32_t open_orders_count() const { return together_.open_orders_count(); }
    void expect_same_state() const { EXPECT_EQ(one_by_one_.state_hash(), together_.state_hash()); }

 private:
    recorder heard_of_one_;
    recorder heard_of_other_;
    facility one_by_one_;
    facility together_;
};

TEST(look_ahead, changes_no_event_with_few_orders) {
    base::prng seeds{base::test_seed()};
    for (int run = 0; run < 20; ++run) {
        testing::command_generator generator(seeds());
        two_venues venues(generator.profile().options, generator.profile().instruments);
        for (int i = 0; i < 50; ++i) {
            std::vector<command> commands(seeds.below(30));
            for (command& c : commands) c = generator.next();
            ASSERT_NO_FATAL_FAILURE(venues.apply(commands));
            generator.learn(venues.events());
        }
        venues.expect_same_state();
    }
}

/// Commands that name orders in every way and are wrong in many, for venues with at least `open_min` open orders.
void expect_same_events(std::uint32_t open_min) {
    base::prng random{base::test_seed()};
    const std::array instruments{testing::wide_instrument(1), testing::wide_instrument(2)};
    two_venues venues({.orders_max = 2 * look_ahead_orders_min, .accounts_max = 8, .touch = base::page_touch::no},
                      instruments);
    std::vector<domain::order_id> known;
    std::array<std::uint32_t, 8> requests{};
    std::uint64_t sequence = 0;
    const auto any_order = [&] {
        const std::uint64_t dice = random.below(10);
        if (dice == 0) return domain::order_id{random()};
        return known.empty() || dice == 1 ? domain::order_id{} : known[random.below(known.size())];
    };
    const auto make = [&](bool adds) {
        command c;
        c.sequence = domain::sequence_number{++sequence};
        c.account = domain::account_id{static_cast<std::uint32_t>(random.below(8))};
        c.session = domain::session_id{c.account.value + 1};
        c.instrument = domain::instrument_id{static_cast<std::uint32_t>(1 + random.below(adds ? 2 : 3))};
        c.set_request(++requests[c.account.value]);
        c.client_order = domain::client_order_id{sequence};
        const std::uint64_t dice = adds ? 0 : random.below(100);
        if (dice < 50) {
            const bool sells = random.below(2) != 0;
            c.order_terms().side = sells ? domain::side::sell : domain::side::buy;
            const auto away = static_cast<std::int64_t>(random.below(200));
            c.enter_order().price = domain::price_ticks{sells ? 1'000 + away : 1'000 - away - (adds ? 1 : 0)};
            c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random.below(3))};
            if (adds) return c;
            if (random.below(50) == 0) c.order_terms().side = static_cast<domain::side>(random.below(256));
            if (random.below(50) == 0) c.enter_order().price.value = static_cast<std::int64_t>(random());
            if (random.below(50) == 0) c.instrument.value = static_cast<std::uint32_t>(random());
            return c;
        }
        if (dice < 70) {
            c.kind = command_kind::amend_order;
            c.amend_order().price = domain::price_ticks{900 + static_cast<std::int64_t>(random.below(200))};
            c.amend_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(random.below(4))};
        } else {
            c.kind = dice == 70 ? command_kind::query_order : command_kind::cancel_order;
        }
        const std::uint64_t by = random.below(4);
        if (by < 2) c.named_order() = any_order();
        if (by == 2) c.named_request() = 1 + static_cast<std::uint32_t>(random.below(requests[c.account.value] + 2));
        if (by == 3) c.client_order.value = 1 + random.below(sequence + 2);
        return c;
    };
    std::vector<command> commands;
    for (std::uint32_t left = open_min + 5'000; left != 0; --left) commands.push_back(make(true));
    ASSERT_NO_FATAL_FAILURE(venues.apply(commands));
    ASSERT_GE(venues.open_orders_count(), open_min + 4'000);
    for (int i = 0; i < 200; ++i) {
        for (const domain::event& e : venues.events()) {
            if (e.kind == domain::event_kind::order_entered) known.push_back(e.order.order);
        }
        commands.resize(random.below(100));
        for (command& c : commands) c = make(false);
        ASSERT_NO_FATAL_FAILURE(venues.apply(commands));
    }
    EXPECT_GE(venues.open_orders_count(), open_min) << "it has looked ahead to the end";
    if (open_min < look_ahead_orders_min) {
        EXPECT_LT(venues.open_orders_count(), look_ahead_orders_min);
    }
    venues.expect_same_state();
}

TEST(look_ahead, changes_no_event_with_some_orders_whatever_the_commands_name) {
    expect_same_events(look_ahead_one_orders_min);
}

TEST(look_ahead, changes_no_event_with_many_orders_whatever_the_commands_name) {
    expect_same_events(look_ahead_orders_min);
}

/// Returns the looks at a hundred commands that wait in a venue with `open` orders. Expects that commands that come
/// one at a time are not looked at.
std::uint64_t looks_at_a_hundred(std::uint32_t open) {
    recorder heard;
    const std::array instruments{testing::wide_instrument(1)};
    facility venue({.orders_max = 2 * look_ahead_orders_min, .accounts_max = 2, .touch = base::page_touch::no},
                   instruments, heard);
    std::uint64_t sequence = 0;
    const auto add = [&] {
        command c;
        c.sequence = domain::sequence_number{++sequence};
        c.account = domain::account_id{1};
        c.session = domain::session_id{1};
        c.instrument = domain::instrument_id{1};
        c.client_order = domain::client_order_id{sequence};
        c.enter_order().price = domain::price_ticks{1'000};
        c.enter_order().quantity = domain::quantity_lots{1};
        return c;
    };
    for (std::uint32_t i = 0; i < open; ++i) {
        const std::array one{add()};
        venue.apply(one);
    }
    EXPECT_EQ(venue.open_orders_count(), open);
    EXPECT_EQ(venue.steps_count(), 0U);
    std::vector<command> queue(100);
    for (command& c : queue) c = add();
    venue.apply(queue);
    return venue.steps_count();
}

TEST(look_ahead, looks_at_each_command_once_or_once_for_each_step) {
    EXPECT_EQ(looks_at_a_hundred(look_ahead_one_orders_min - 1), 0U);
    EXPECT_EQ(looks_at_a_hundred(look_ahead_one_orders_min), 99U) << "the first one is executed at once";
    EXPECT_EQ(looks_at_a_hundred(look_ahead_orders_min - 1), 99U);
    EXPECT_EQ(looks_at_a_hundred(look_ahead_orders_min), 300U) << "three steps";
}

}  // namespace
}  // namespace corro::facility
