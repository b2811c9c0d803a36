// SPDX-License-Identifier: Apache-2.0
// Checks how the cost of one command grows with the size of the book. Counts steps and measures no time.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "facility/facility.hpp"
#include "facility/recorder.hpp"

namespace corro::facility {
namespace {

using domain::command;
using domain::command_kind;
using domain::reject_reason;
using domain::self_match_prevention;
using domain::side;
using domain::time_in_force;
using domain::trading_phase;
using testing::limit;
using testing::recorder;
using testing::wide_instrument;

constexpr std::uint32_t maker = 1;
constexpr std::uint32_t taker = 2;

/// A venue that counts the cost of each command.
class counted_venue {
 public:
    counted_venue(std::uint32_t instruments, std::uint32_t orders_max)
        : venue_({.orders_max = orders_max, .accounts_max = 16}, made(instruments), recorder_) {}

    /// Returns the number of steps of the command.
    std::uint64_t apply(const command& c) { return apply_at(static_cast<std::int64_t>(sequence_ + 1), c); }
    std::uint64_t apply_at(std::int64_t time, command c) {
        c.sequence = domain::sequence_number{++sequence_};
        c.time = domain::time_ns{time};
        recorder_.events.clear();
        const std::uint64_t before = venue_.steps_count();
        venue_.apply(c);
        return venue_.steps_count() - before;
    }
    std::uint64_t enter(trading_phase phase, std::uint32_t instrument = 0, std::int64_t resume_time = 0) {
        command c;
        c.kind = command_kind::change_phase;
        c.change_phase().phase = phase;
        c.instrument = domain::instrument_id{instrument};
        c.change_phase().resume_time = domain::time_ns{resume_time};
        c.set_operator(true);
        return apply(c);
    }
    [[nodiscard]] reject_reason refusal() const {
        return recorder_.events.size() == 1 ? recorder_.events[0].reason : reject_reason::none;
    }
    [[nodiscard]] std::size_t events_count() const { return recorder_.events.size(); }

 private:
    static std::vector<domain::instrument> made(std::uint32_t count) {
        std::vector<domain::instrument> all;
        for (std::uint32_t id = 1; id <= count; ++id) all.push_back(wide_instrument(id));
        return all;
    }

    recorder recorder_;
    facility venue_;
    std::uint64_t sequence_ = 0;
};

command iceberg(command c, std::uint32_t shown) {
    c.enter_order().display_quantity = domain::quantity_lots{shown};
    return c;
}

command elsewhere(command c) {
    c.instrument = domain::instrument_id{2};
    return c;
}

/// The state of the venue, and the conditions of the order.
struct fill_case {
    const char* name;
    bool has_icebergs = false;       ///< in the book
    bool had_iceberg = false;        ///< in another book
    bool has_own_elsewhere = false;  ///< an open order in another book
    self_match_prevention self_match = self_match_prevention::none;
    bool by_minimum = false;  ///< instead of fill-or-kill
};

std::vector<fill_case> fill_cases() {
    return {{"plain"},
            {"an iceberg in another book", false, true},
            {"icebergs in the book", true},
            {"an own order in another book", false, false, true, self_match_prevention::cancel_newest},
            {"a self-match instruction", true, true, true, self_match_prevention::cancel_resting},
            {"a minimum quantity", true, true, false, self_match_prevention::none, true}};
}

/// Returns the steps of one rejected order against `orders` resting orders at `levels` prices.
std::uint64_t steps_of_refusal(const fill_case& f, std::uint32_t orders, std::uint32_t levels) {
    counted_venue venue(2, orders + 16);
    if (f.had_iceberg) venue.apply(elsewhere(iceberg(limit(maker, side::sell, 100, 10), 1)));
    if (f.has_own_elsewhere) venue.apply(elsewhere(limit(taker, side::buy, 1, 1)));
    for (std::uint32_t i = 0; i < orders; ++i) {
        command c = limit(maker, side::sell, 100 + i % levels, 2);
        venue.apply(f.has_icebergs ? iceberg(c, 1) : c);
    }
    command wants = limit(taker, side::buy, 100 + std::int64_t{levels}, 2 * orders + 1);
    wants.enter_order().self_match_prevention = f.self_match;
    wants.order_terms().time_in_force = f.by_minimum ? time_in_force::ioc : time_in_force::fok;
    if (f.by_minimum) wants.enter_order().minimum_quantity = wants.enter_order().quantity;
    const std::uint64_t steps = venue.apply(wants);
    EXPECT_NE(venue.refusal(), reject_reason::none);
    return steps;
}

TEST(growth, N6_a_fill_or_kill_order_takes_bounded_steps_however_many_orders_rest) {
    constexpr std::uint64_t bound = 5'000;
    for (const fill_case& f : fill_cases()) {
        SCOPED_TRACE(f.name);
        for (const std::uint32_t n : {6'000U, 12'000U, 24'000U}) {
            EXPECT_LE(steps_of_refusal(f, n, 8), bound) << n << " orders at 8 prices";
            EXPECT_LE(steps_of_refusal(f, n, n), bound) << n << " orders at as many prices";
        }
    }
}

/// Returns the largest number of steps of one order in an auction in which `levels` prices of either side cross.
std::uint64_t steps_in_auction(std::uint32_t orders, std::uint32_t levels, bool had_iceberg) {
    counted_venue venue(2, 2 * orders + 16);
    if (had_iceberg) venue.apply(elsewhere(iceberg(limit(maker, side::sell, 100, 10), 1)));
    venue.enter(trading_phase::opening_auction, 1);
    for (std::uint32_t i = 0; i < orders; ++i) {
        venue.apply(limit(maker, side::sell, -std::int64_t{i % levels}, 2, i + 1));
        venue.apply(limit(taker, side::buy, i % levels, 2, i + 1));
    }
    std::uint64_t most = 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
        // Many orders and cancels, at all prices that would trade.
        const std::int64_t away = i * 7 % levels;
        most = std::max(most, venue.apply(limit(maker, side::sell, -away, 1 + i % 3, orders + 1 + i)));
        most = std::max(most, venue.apply(limit(taker, side::buy, away, 1 + i % 5, orders + 1 + i)));
        for (const std::uint32_t account : {maker, taker}) {
            command c = limit(account, side::buy, 0, 0, i + 1);
            c.kind = command_kind::cancel_order;
            most = std::max(most, venue.apply(c));
        }
    }
    return most;
}

TEST(growth, N6_an_order_in_an_auction_takes_the_same_steps_however_many_cross) {
    constexpr std::uint64_t bound = 64;
    for (const bool had_iceberg : {false, true}) {
        for (const std::uint32_t n : {1U, 2U, 4U}) {
            EXPECT_LE(steps_in_auction(n * 1'000, 1, had_iceberg), bound) << n << ", at one price";
            EXPECT_LE(steps_in_auction(n * 1'000, 100, had_iceberg), bound) << n << ", orders grow";
            EXPECT_LE(steps_in_auction(n * 1'000, n * 100, had_iceberg), bound) << n << ", prices grow";
            EXPECT_LE(steps_in_auction(n * 1'000, n * 600, had_iceberg), bound) << n << ", beyond the limit of levels";
        }
    }
}

TEST(growth, N6_a_phase_of_one_instrument_takes_the_same_steps_however_many_there_are) {
    constexpr std::uint64_t bound = 32;
    for (const std::uint32_t n : {500U, 1'000U, 2'000U}) {
        counted_venue venue(n, 16);
        std::uint64_t most = 0;
        for (std::uint32_t id = 1; id <= n; ++id) {
            most = std::max(most, venue.enter(trading_phase::opening_auction, id, 1'000'000 + id));
        }
        for (std::uint32_t id = 1; id <= n / 2; ++id) most = std::max(most, venue.enter(trading_phase::halted, id));
        EXPECT_LE(most, bound) << n << " instruments";
    }
}

/// A mass cancel or an expiry of the same orders, with `others` orders of another account in the same books.
struct long_command {
    std::uint64_t steps = 0;
    std::uint64_t events = 0;
};

long_command leave(std::uint32_t own, std::uint32_t others, bool expires) {
    counted_venue venue(2, own + others);
    constexpr std::int64_t end = 1'000'000;
    for (std::uint32_t i = 0; i < own || i < others; ++i) {
        command c = limit(maker, side::sell, 100 + i % 50, 2, i + 1);
        if (i < others) venue.apply(i % 2 == 0 ? c : elsewhere(c));
        c.account = domain::account_id{taker};
        c.order_terms().time_in_force = time_in_force::gtd;
        c.enter_order().expire_time = domain::time_ns{end};
        if (i < own) venue.apply(i % 2 == 0 ? c : elsewhere(c));
    }
    command c = limit(expires ? maker : taker, side::buy, 0, 0);
    c.kind = command_kind::cancel_orders;
    c.instrument = {};
    c.cancel_orders().sides = domain::cancel_sides::buy;
    if (!expires) c.cancel_orders().sides = domain::cancel_sides::both;
    const std::uint64_t steps = expires ? venue.apply_at(end + 1, c) - others : venue.apply(c);
    return {steps, venue.events_count()};
}

TEST(growth, N6_mass_cancels_and_expiries_take_a_step_per_order_that_leaves) {
    for (const bool expires : {false, true}) {
        for (const std::uint32_t n : {1'000U, 2'000U, 4'000U}) {
            const long_command most = leave(n, n, expires);
            EXPECT_LE(most.steps, 2 * n) << "the newest that is covered, then all";
            EXPECT_LE(most.events, 5 * n);
            const long_command few = leave(100, n, expires);
            EXPECT_LE(few.steps, 200) << "not those of others";
            EXPECT_LE(few.events, 500);
        }
    }
}

}  // namespace
}  // namespace corro::facility
