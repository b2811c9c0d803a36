// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/replay_run.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "recorded/replay/facility_venue_fixture.hpp"
#include "recorded/replay/limits.hpp"

namespace corro::recorded::replay {
namespace {

/// Enters one order per step, each at another price; every `pause_every`-th step waits for the one before.
class endless_flow final : public flow {
 public:
    explicit endless_flow(std::uint64_t steps_max, std::uint64_t pause_every = 0)
        : steps_max_(steps_max), pause_every_(pause_every) {}

    plan_status plan(step& next) override {
        if (planned == steps_max_) return plan_status::finished;
        if (pause_every_ != 0 && planned % pause_every_ == 0 && answers < planned) return plan_status::waiting;
        next.number = planned++;
        next.requests.push_back({.client_order = domain::client_order_id{planned},
                                 .price = domain::price_ticks{static_cast<std::int64_t>(planned)},
                                 .quantity = domain::quantity_lots{1}});
        return plan_status::planned;
    }
    void answered(const step& of, std::span<const outcome> outcomes) override {
        EXPECT_EQ(of.number, answers++);
        EXPECT_EQ(outcomes.front().open.value, 1U);
    }
    void compare(const step& of, std::span<const outcome> /*outcomes*/, const feed::book_image& book) override {
        EXPECT_EQ(of.number, compared++);
        EXPECT_EQ(book.orders_count(), compared) << "the book as it was after this step, not later";
    }
    std::uint64_t compared_count() const noexcept override { return compared; }

    std::uint64_t planned = 0, answers = 0, compared = 0;

 private:
    std::uint64_t steps_max_, pause_every_;
};

const domain::instrument replayed_instrument = wide_instrument(domain::price_nano{1});

/// A resting order's only private answer.
domain::event entered(std::uint64_t command) {
    domain::event e;
    e.command = domain::sequence_number{command};
    e.flags = domain::event_flag::last_of_request;
    e.order.client_order = domain::client_order_id{command};
    e.order.order = domain::order_id{command};
    e.order.quantity = domain::quantity_lots{1};
    return e;
}

domain::event added(std::uint64_t command) {
    domain::event e;
    e.command = domain::sequence_number{command};
    e.instrument = replayed_instrument.id;
    e.kind = domain::event_kind::order_added;
    e.book = {};
    e.book.order = domain::order_id{command};
    e.book.price = domain::price_ticks{static_cast<std::int64_t>(command)};
    e.book.quantity = e.book.change = domain::quantity_lots{1};
    return e;
}

TEST(replay_run, requests_without_answers_are_bounded) {
    endless_flow flow(1'000'000);
    difference_log log;
    replay_run run(flow, log, replayed_instrument.id);
    std::size_t sent = 0;
    while (run.next()) ++sent;
    EXPECT_EQ(sent, requests_in_flight_max);
    EXPECT_TRUE(run.awaits_venue());
    EXPECT_TRUE(run.on_private(entered(1)));
    EXPECT_TRUE(run.next().has_value()) << "one answer, one more request";
    EXPECT_FALSE(run.next().has_value());
}

TEST(replay_run, steps_that_wait_for_the_feed_are_bounded) {
    endless_flow flow(1'000'000);
    difference_log log;
    replay_run run(flow, log, replayed_instrument.id);
    std::uint64_t sent = 0;
    while (run.next()) EXPECT_TRUE(run.on_private(entered(++sent)));
    EXPECT_EQ(sent, steps_in_flight_max) << "all answered, none compared";
    EXPECT_EQ(flow.compared, 0U);
    for (std::uint64_t i = 1; i <= 10; ++i) run.on_public(added(i));
    EXPECT_EQ(flow.compared, 9U) << "the tenth command may have more to say";
    run.on_public_complete(domain::sequence_number{10});
    EXPECT_EQ(flow.compared, 10U);
    EXPECT_TRUE(run.next().has_value());
}

TEST(replay_run, a_feed_that_runs_ahead_waits_for_the_answers) {
    endless_flow flow(3);
    difference_log log;
    replay_run run(flow, log, replayed_instrument.id);
    while (run.next()) continue;
    for (std::uint64_t i = 1; i <= 3; ++i) run.on_public(added(i));
    run.on_public_complete(domain::sequence_number{3});
    EXPECT_EQ(flow.compared, 0U);
    EXPECT_FALSE(run.finished());
    for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_TRUE(run.on_private(entered(i)));
    EXPECT_EQ(flow.compared, 3U);
    EXPECT_TRUE(run.finished());
    EXPECT_FALSE(run.awaits_venue());
    EXPECT_FALSE(run.on_private(entered(4))) << "nobody asked";
}

TEST(replay_run, events_of_other_instruments_are_ignored) {
    endless_flow flow(1);
    difference_log log;
    replay_run run(flow, log, replayed_instrument.id);
    while (run.next()) continue;
    domain::event other = added(1);
    other.instrument = domain::instrument_id{2};
    run.on_public(other);
    EXPECT_EQ(run.counts().public_events, 0U);
    EXPECT_EQ(run.book().orders_count(), 0U);
}

TEST(replay_run, a_step_that_depends_on_an_answer_is_planned_after_it) {
    endless_flow flow(1'000, 10);
    difference_log log;
    replay_run run(flow, log, replayed_instrument.id);
    std::size_t sent = 0;
    while (run.next()) ++sent;
    EXPECT_EQ(sent, 10U);
    facility_venue venue(instrument, 2'000);
    endless_flow whole(1'000, 10);
    replay_run driven(whole, log, replayed_instrument.id);
    venue.drive(driven);
    EXPECT_TRUE(driven.finished());
    EXPECT_EQ(whole.compared, 1'000U);
    EXPECT_EQ(log.unexplained_count(), 0U);
}

/// Orders rest at a few prices, and immediate orders take them; nobody checks what comes of it.
class crossing_flow final : public flow {
 public:
    crossing_flow(std::uint64_t seed, std::uint64_t steps_max) : random_(seed), steps_max_(steps_max) {}

    plan_status plan(step& next) override {
        if (planned == steps_max_) return plan_status::finished;
        next.number = planned++;
        const bool rests = random_() % 3 != 0;
        const auto side = random_() % 2 == 0 ? domain::side::buy : domain::side::sell;
        const std::int64_t better = side == domain::side::buy ? 1 : -1;
        const auto away = static_cast<std::int64_t>(random_() % 3);
        next.requests.push_back({.side = side,
                                 .time_in_force = rests ? domain::time_in_force::gtc : domain::time_in_force::ioc,
                                 .client_order = domain::client_order_id{planned},
                                 .price = domain::price_ticks{1'000 + better * (rests ? -away : 5)},
                                 .quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random_() % 4)}});
        if (random_() % 4 == 0) {
            next.requests.push_back({.kind = domain::command_kind::amend_order,
                                     .client_order = domain::client_order_id{1 + random_() % planned},
                                     .price = domain::price_ticks{1'000 + better * 2},
                                     .quantity = domain::quantity_lots{6}});
        }
        return plan_status::planned;
    }
    void answered(const step& of, std::span<const outcome> /*outcomes*/) override { EXPECT_EQ(of.number, answers++); }
    void compare(const step& of, std::span<const outcome> outcomes, const feed::book_image& /*book*/) override {
        EXPECT_EQ(of.number, compared++);
        for (const outcome& o : outcomes) {
            for (const fill& f : o.fills) own_lots += f.quantity.value;
            aggressing_lots += o.filled.value;
        }
    }
    std::uint64_t compared_count() const noexcept override { return compared; }

    std::uint64_t planned = 0, answers = 0, compared = 0, own_lots = 0, aggressing_lots = 0;

 private:
    base::prng random_;
    std::uint64_t steps_max_;
};

TEST(replay_run, other_traders_neither_end_it_nor_get_into_its_outcomes) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(seed);
    base::prng random(seed);
    for (int round = 0; round < 50; ++round) {
        crossing_flow flow(random(), 400);
        difference_log log;
        replay_run run(flow, log, replayed_instrument.id);
        facility_venue venue(instrument, 4'000);
        std::uint64_t visits = 0;
        venue.visitor = [&](facility_venue& here) {
            domain::command c;
            c.kind = domain::command_kind::enter_order;
            c.client_order = domain::client_order_id{++visits};
            c.order_terms().side = random() % 2 == 0 ? domain::side::buy : domain::side::sell;
            c.order_terms().time_in_force = random() % 2 == 0 ? domain::time_in_force::gtc : domain::time_in_force::ioc;
            c.enter_order().self_match_prevention = domain::self_match_prevention::cancel_newest;
            c.enter_order().price = domain::price_ticks{995 + static_cast<std::int64_t>(random() % 11)};
            c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random() % 5)};
            here.visit(c);
        };
        venue.drive(run, random);
        venue.pass_on_rest(run);
        EXPECT_TRUE(run.finished());
        EXPECT_EQ(flow.compared, 400U);
        EXPECT_GT(venue.visitors_lots, 0U);
        EXPECT_EQ(run.counts().visitors_lots, venue.visitors_lots);
        EXPECT_LE(flow.own_lots, flow.aggressing_lots) << "a visitor's fill is in no outcome";
        EXPECT_EQ(log.count(cause::feed_contradicts), 0U);
    }
}

TEST(replay_run, a_fill_by_another_trader_comes_while_nothing_is_asked) {
    endless_flow flow(1);
    difference_log log;
    replay_run run(flow, log, replayed_instrument.id);
    while (run.next()) continue;
    run.on_public(added(1));
    run.on_public_complete(domain::sequence_number{1});
    EXPECT_TRUE(run.on_private(entered(1)));
    domain::event filled = entered(2);
    filled.kind = domain::event_kind::order_executed;
    filled.flags = 0;
    filled.execution = {.order = domain::order_id{1}, .quantity = domain::quantity_lots{1}};
    EXPECT_TRUE(run.on_private(filled));
    EXPECT_EQ(run.counts().visitors_lots, 1U);
    filled.flags = domain::event_flag::aggressor;
    EXPECT_FALSE(run.on_private(filled)) << "nobody entered an order";
}

}  // namespace
}  // namespace corro::recorded::replay
