// SPDX-License-Identifier: Apache-2.0
// The phases of a subscriber, its position in the feed, and the registry of all subscribers.
#include "market_data/subscriber.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "io/loop/context.hpp"
#include "market_data/feed_log.hpp"
#include "market_data/feed_reader.hpp"
#include "market_data/subscriber_registry.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {
namespace {

using phase = subscriber_phase;

class plain_subscriber final : public subscriber {};

/// A subscriber in a phase.
std::unique_ptr<plain_subscriber> subscriber_in(phase wanted) {
    auto s = std::make_unique<plain_subscriber>();
    if (wanted == phase::refused) s->refuse();
    if (wanted >= phase::active) s->accept();
    if (wanted == phase::finishing) s->end();
    if (wanted == phase::logged_out) s->log_out();
    if (wanted == phase::cut) s->cut();
    EXPECT_EQ(s->phase(), wanted);
    return s;
}

TEST(subscriber, goes_forward_through_its_phases_only) {
    struct row {
        phase from;
        phase ended;
        phase logged_out;
        phase cut;
    };
    // An end that has begun is not changed, except that it may be cut.
    constexpr std::array<row, 6> table{{
        {phase::logging_in, phase::refused, phase::refused, phase::refused},
        {phase::refused, phase::refused, phase::refused, phase::refused},
        {phase::active, phase::finishing, phase::logged_out, phase::cut},
        {phase::finishing, phase::finishing, phase::finishing, phase::cut},
        {phase::logged_out, phase::logged_out, phase::logged_out, phase::cut},
        {phase::cut, phase::cut, phase::cut, phase::cut},
    }};
    for (const row& r : table) {
        const auto ended = subscriber_in(r.from);
        ended->end();
        EXPECT_EQ(ended->phase(), r.ended);
        const auto logged_out = subscriber_in(r.from);
        logged_out->log_out();
        EXPECT_EQ(logged_out->phase(), r.logged_out);
        const auto cut = subscriber_in(r.from);
        cut->cut();
        EXPECT_EQ(cut->phase(), r.cut);
        EXPECT_EQ(cut->was_accepted(), r.from >= phase::active);
        if (r.from == phase::logging_in) continue;
        EXPECT_DEATH(ended->accept(), "can be accepted");
        EXPECT_DEATH(ended->refuse(), "can be refused");
    }
}

TEST(subscriber, stops_the_tasks_of_its_phase_when_it_ends) {
    io::context context;
    plain_subscriber s;
    io::task_scope logging_in(context);
    s.run_in(&logging_in);
    s.accept();
    EXPECT_FALSE(logging_in.stop_requested());
    s.run_in(nullptr);
    io::task_scope active(context);
    s.run_in(&active);
    s.end();
    EXPECT_TRUE(active.stop_requested());
    EXPECT_FALSE(logging_in.stop_requested());
    EXPECT_DEATH(s.run_in(&logging_in), "needs no more tasks");
    s.run_in(nullptr);
}

registry_options room_for(std::uint32_t subscribers) {
    registry_options options;
    options.subscribers_max = options.subscribers_per_address_max = subscribers;
    return options;
}

TEST(subscriber_registry, N5_evicts_the_oldest_that_has_not_logged_in_and_refuses_when_all_have) {
    io::context context;
    subscriber_registry registry(context, room_for(2));
    std::vector<std::unique_ptr<plain_subscriber>> all;
    for (int i = 0; i < 5; ++i) all.push_back(std::make_unique<plain_subscriber>());
    ASSERT_TRUE(registry.enter(*all[0], std::nullopt));
    registry.accept(*all[0], 1);
    ASSERT_TRUE(registry.enter(*all[1], std::nullopt));
    ASSERT_TRUE(registry.enter(*all[2], std::nullopt));
    EXPECT_EQ(all[0]->phase(), phase::active);
    EXPECT_EQ(all[1]->phase(), phase::refused) << "the oldest that has not logged in";
    EXPECT_EQ(registry.statistics().evicted, 1U);
    EXPECT_EQ(registry.statistics().subscribers_now, 3U) << "until its connection has ended";
    registry.leave(*all[1]);
    registry.accept(*all[2], 1);
    EXPECT_FALSE(registry.enter(*all[3], std::nullopt));
    EXPECT_EQ(registry.statistics().connections_refused, 1U);
    EXPECT_EQ(registry.statistics().logins, 2U);
    registry.close();
    EXPECT_EQ(all[0]->phase(), phase::finishing);
    EXPECT_EQ(all[2]->phase(), phase::finishing);
    EXPECT_FALSE(registry.enter(*all[4], std::nullopt)) << "closed";
    registry.leave(*all[0]);
    registry.leave(*all[2]);
    EXPECT_DEATH(registry.leave(*all[0]), "that has entered");
    EXPECT_EQ(registry.statistics().subscribers_now, 0U);
}

/// A log with messages of 100 bytes.
void append_many(feed_log& log, std::uint64_t messages) {
    for (std::uint64_t i = 0; i < messages; ++i) {
        const auto header = wire::soup_bin_tcp::header(wire::soup_bin_tcp::packet_type::sequenced_data, 97);
        std::memcpy(log.reserve().data(), header.data(), header.size());
        log.commit(100);
    }
}

TEST(feed_reader, begins_where_it_asks_if_it_is_not_too_far_back) {
    feed_log log(1U << 20U);
    append_many(log, 100);
    EXPECT_EQ(feed_reader(log).begin(0), 101U) << "the next one";
    EXPECT_EQ(feed_reader(log).begin(1), 1U);
    EXPECT_EQ(feed_reader(log).begin(101), 101U);
    EXPECT_EQ(feed_reader(log).begin(102), std::nullopt);
    EXPECT_EQ(feed_reader(log).begin(~std::uint64_t{0}), std::nullopt);
    const std::uint64_t joinable = log.capacity_bytes() / join_lag_divisor / 100;
    append_many(log, 20'000);
    const std::uint64_t next = log.next_sequence();
    EXPECT_EQ(feed_reader(log).begin(next - joinable), next - joinable);
    EXPECT_EQ(feed_reader(log).begin(next - joinable - 1), std::nullopt) << "it would soon be too slow";
    EXPECT_EQ(feed_reader(log).begin(1), std::nullopt) << "overwritten";
}

TEST(feed_reader, counts_what_is_sent_in_parts_and_how_far_it_is_behind) {
    feed_log log(1U << 20U);
    append_many(log, 10);
    feed_reader reader(log);
    ASSERT_EQ(reader.begin(1), 1U);
    EXPECT_EQ(reader.unsent().size(), 1'000U);
    reader.sent(150);
    EXPECT_EQ(reader.lag_bytes(), 850U);
    EXPECT_EQ(reader.unsent().size(), 850U);
    EXPECT_FALSE(reader.is_too_slow());
    const std::uint64_t allowed = log.capacity_bytes() / lag_max_divisor * lag_max_numerator;
    while (reader.lag_bytes() + 100 <= allowed) append_many(log, 1);
    EXPECT_FALSE(reader.is_too_slow());
    EXPECT_LE(reader.unsent().size(), send_bytes_max);
    append_many(log, 1);
    EXPECT_TRUE(reader.is_too_slow());
    EXPECT_DEATH(reader.sent(log.capacity_bytes()), "bytes of the log");
    EXPECT_DEATH(static_cast<void>(reader.begin(1)), "begins once");
    EXPECT_DEATH(static_cast<void>(feed_reader(log).unsent()), "must have a position");
}

}  // namespace
}  // namespace corro::market_data
