// SPDX-License-Identifier: Apache-2.0
// Hard cases for a venue, each in a small world of its own.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "client/feed_session.hpp"
#include "client/line_feed.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/private_event.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "sim/disk.hpp"
#include "sim/world.hpp"
#include "simulation/findings.hpp"
#include "simulation/order_flow.hpp"
#include "simulation/plan.hpp"
#include "simulation/programs.hpp"
#include "simulation/served_process.hpp"
#include "simulation/state_checks.hpp"
#include "simulation/subscriber.hpp"
#include "simulation/traders.hpp"
#include "simulation/venue_configuration.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

plan quiet_plan() {
    plan whole = draw_plan(1, {});
    whole.faults.clear();
    whole.shape = run_shape();
    whole.shape.client_hosts_count = 2;
    whole.shape.traders_count = 2;
    whole.durability = journal::durability::group;
    whole.disk_call_max = 0ns;
    whole.requests_max = 0;
    return whole;
}

program_maker venue_of(const node::configuration& c) {
    return [c](io::context& on) { return std::make_unique<venue_program>(on, c, node::order_entry_place::here); };
}

/// A venue on a host, two traders on another, and a third host for a test's own client.
class small_world {
 public:
    explicit small_world(const node::configuration& c, std::chrono::nanoseconds think_time)
        : venue_(venue_host, "venue", venue_of(c)) {
        venue_.start();
        for (std::uint32_t k = 0; k < 2; ++k) {
            trader_settings settings;
            settings.venue = order_entry_of(venue_shape(), 0);
            settings.who.account = domain::account_id{k + 1};
            settings.who.key.fill(static_cast<std::byte>(k + 1));
            settings.who.heartbeat = client_heartbeat;
            settings.who.cancel_on_disconnect = false;
            settings.outstanding_max = 2;
            settings.think_time = think_time;
            settings.seed = k;
            settings.first_order_name = 1 + k * order_names_count;
            settings.make_flow = [this, k](std::vector<domain::instrument> instruments) {
                return std::make_unique<order_flow>(std::move(instruments), 1 + k * order_names_count, k, &found);
            };
            traders_.push_back(std::make_unique<trader>(settings, &found));
            trading_.spawn(traders_.back()->run());
        }
    }
    ~small_world() {
        end_trading();
        venue_.close();
        go_on_until([this] { return !venue_.is_running(); }, 60s);
        EXPECT_TRUE(found.empty()) << found.promise() << ": " << found.words();
    }

    template <class Condition>
    bool go_on_until(Condition is_true, std::chrono::nanoseconds longest) {
        for (const io::steady_time end = world.now() + longest; !is_true();) {
            if (world.now() >= end) return false;
            world.run_for(10ms);
            static_cast<void>(venue_.tend());
        }
        return true;
    }
    /// Takes what the venue's host has stored, in a power cut; the venue starts again on an empty disk.
    void lose_disk() {
        venue_host.cut_power();
        venue_.lose_power();
        sim::disk& disk = venue_host.disk();
        const std::string folder(journal_directory);
        // A temporary in a range-for's initializer would be gone before the first turn, for g++ 12 (P2718 is of 2022).
        const std::vector<std::string> stored = disk.list(folder).value();
        for (const std::string& name : stored) disk.take_away(folder + "/" + name);
        ASSERT_TRUE(disk.list(folder)->empty());
        go_on_until([] { return false; }, 100ms);
        venue_host.restore_power();
        venue_.start();
    }
    /// The traders end.
    void end_trading() {
        for (const auto& each : traders_) each->end();
        io::block_on(trading_context_, trading_.join());
    }
    [[nodiscard]] const trader& trader_at(std::size_t index) const noexcept { return *traders_[index]; }
    /// Ends trading. @return Whether everything was answered soon.
    bool settle() {
        for (const auto& each : traders_) each->finish();
        return go_on_until([this] { return traders_[0]->is_settled() && traders_[1]->is_settled(); }, 5s);
    }
    [[nodiscard]] const node::venue& venue() const { return static_cast<const venue_program&>(venue_.now()).venue(); }
    [[nodiscard]] bool is_serving() const { return venue_.is_serving(); }

    findings found;
    sim::world world{7};
    sim::host& venue_host = world.add_host("venue", {address_of_host(0)});
    sim::host& trading_host = world.add_host("traders", {io::endpoint::ipv4({10, 0, 1, 1}, 0)});
    sim::host& client_host = world.add_host("client", {io::endpoint::ipv4({10, 0, 1, 2}, 0)});
    io::context client{io::context_options(client_host.start_process("client"))};

 private:
    served_process venue_;
    io::context trading_context_{io::context_options(trading_host.start_process("traders"))};
    std::vector<std::unique_ptr<trader>> traders_;
    io::task_scope trading_{trading_context_};
};

io::task<void> join_lines(client::line_feed_options options, std::unique_ptr<client::line_feed>* into) {
    auto joined = co_await client::line_feed::join(std::move(options));
    if (joined) *into = std::move(*joined);
}

/// Takes all events. Ends with an error of the feed, or with the task.
io::task<void> take_events(client::line_feed* from, std::error_code* error) {
    while (true) {
        const auto event = from->poll();
        if (!event) {
            *error = event.error();
            co_return;
        }
        if (*event) continue;
        const std::error_code stopped = co_await from->fill();
        if (stopped) co_return;
    }
}

TEST(hard_cases, N1_books_are_exact_although_both_lines_lose_seven_packets_in_ten) {
    node::configuration c = configuration_of_facility(quiet_plan());
    c.lines = {"239.1.1.1:7501", "239.1.1.2:7502"};
    c.retransmission_listen = address_of_host(0).with_port(7'503).to_string();
    small_world w(c, 5ms);
    ASSERT_TRUE(w.go_on_until([&w] { return w.is_serving(); }, 5s));
    client::line_feed_options options;
    for (const std::string& line : c.lines) options.lines.push_back(*io::endpoint::parse(line));
    options.retransmissions = *io::endpoint::parse(c.retransmission_listen);
    options.snapshot = snapshots_of(venue_shape(), 0);
    options.requests_max = 1'000;
    std::unique_ptr<client::line_feed> feed;
    io::block_on(w.client, join_lines(options, &feed));
    ASSERT_NE(feed, nullptr);
    std::error_code error;
    io::task_scope receiving(w.client);
    receiving.spawn(feed->receive());
    receiving.spawn(take_events(feed.get(), &error));
    w.world.link_between(w.venue_host, w.client_host).options().loss = 0.7;
    w.world.run_for(5s);
    EXPECT_TRUE(w.settle());
    const auto is_current = [&] { return feed->image().next_sequence() == w.venue().feed_next_sequence() || error; };
    EXPECT_TRUE(w.go_on_until(is_current, 60s));
    EXPECT_FALSE(error) << error.message();
    for (const domain::instrument& i : c.instruments) {
        EXPECT_EQ(feed->image().book(i.id)->digest(), w.venue().book(i.id)->digest());
    }
    EXPECT_GT(feed->statistics().requests, 100U) << "messages were lost on both lines";
    receiving.request_stop();
    io::block_on(w.client, receiving.join());
    feed.reset();
}

TEST(hard_cases, N2_a_subscriber_that_is_slower_than_the_feed_for_an_hour_delays_nobody_and_becomes_current) {
    small_world w(configuration_of_facility(quiet_plan()), 500ms);
    ASSERT_TRUE(w.go_on_until([&w] { return w.is_serving(); }, 5s));
    subscriber_settings settings;
    settings.feed = feed_of(venue_shape(), 0);
    settings.snapshots = snapshots_of(venue_shape(), 0);
    subscriber slow(settings, &w.found);
    io::task_scope subscribing(w.client);
    subscribing.spawn(slow.run());
    ASSERT_TRUE(w.go_on_until([&slow] { return slow.session() != nullptr; }, 5s));
    sim::link_options& link = w.world.link_between(w.venue_host, w.client_host).options();
    link.bytes_per_second = 100;
    link.piece_bytes_max = 100;
    w.world.run_for(1h);
    const std::uint64_t behind = w.venue().feed_next_sequence() - slow.session()->next_sequence();
    EXPECT_GT(behind, 1'000U) << "it was slower";
    EXPECT_TRUE(w.settle());
    link.bytes_per_second = 0;
    // What is under way arrives as slowly as before: 256 KiB.
    const auto is_current = [&] { return slow.session()->next_sequence() == w.venue().feed_next_sequence(); };
    EXPECT_TRUE(w.go_on_until(is_current, 1h));
    slow.end();
    io::block_on(w.client, subscribing.join());
}

TEST(hard_cases, D8_a_second_process_on_the_same_journal_is_refused_and_the_first_goes_on) {
    node::configuration c = configuration_of_facility(quiet_plan());
    small_world w(c, 5ms);
    ASSERT_TRUE(w.go_on_until([&w] { return w.is_serving(); }, 5s));
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = address_of_host(0).with_port(0).to_string();
    served_process second(w.venue_host, "second venue", venue_of(c));
    second.start();
    std::optional<process_end> end;
    ASSERT_TRUE(w.go_on_until(
        [&] {
            end = second.tend();
            return end.has_value();
        },
        5s));
    EXPECT_FALSE(end->had_started);
    EXPECT_NE(end->failure.find("journal"), std::string::npos) << end->failure;
    w.world.run_for(1s);
    EXPECT_TRUE(w.is_serving());
    EXPECT_TRUE(w.settle());
}

/// The venue's answer to a logon; nothing if it is admitted.
std::error_code log_on(small_world* w, const client::credentials& who, std::unique_ptr<client::order_session>* into) {
    auto session = io::block_on(w->client, client::order_session::log_on(order_entry_of(venue_shape(), 0), who));
    if (!session) return session.error();
    *into = std::move(*session);
    return {};
}

/// Sends a request and takes its whole answer.
io::task<void> ask(client::order_session* session, domain::command request, std::vector<domain::event>* events) {
    const std::uint32_t number = session->send(request);
    EXPECT_NE(number, 0U);
    EXPECT_FALSE(co_await session->flush());
    while (true) {
        const auto one = co_await session->next();
        if (!one || one->reject) {
            ADD_FAILURE() << "the session has ended, or refused the request";
            co_return;
        }
        events->push_back(one->event);
        if (domain::completes_request(one->event)) co_return;
    }
}

domain::command bid(std::int64_t ticks, std::uint64_t name) {
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.instrument = domain::instrument_id{1};
    order.client_order = domain::client_order_id{name};
    order.enter_order().price = domain::price_ticks{ticks};
    order.enter_order().quantity = domain::quantity_lots{1};
    return order;
}

io::task<void> join_feed(std::unique_ptr<client::feed_session>* into) {
    auto joined = co_await client::feed_session::join(feed_of(venue_shape(), 0), snapshots_of(venue_shape(), 0));
    if (joined) *into = std::move(*joined);
}

TEST(hard_cases, D1_a_venue_that_has_lost_its_disk_refuses_everybody_who_knows_its_past) {
    small_world w(configuration_of_facility(quiet_plan()), 5ms);
    ASSERT_TRUE(w.go_on_until([&w] { return w.is_serving(); }, 5s));
    client::credentials who;
    who.account = domain::account_id{1};
    who.session_number = 2;
    who.key.fill(std::byte{1});
    who.cancel_on_disconnect = false;
    std::unique_ptr<client::order_session> session;
    ASSERT_FALSE(log_on(&w, who, &session));
    std::vector<domain::event> answers;
    for (std::uint64_t name = 1; name <= 3; ++name) {
        io::block_on(w.client, ask(session.get(), bid(100, 4 * order_names_count + name), &answers));
    }
    w.go_on_until([] { return false; }, 1s);
    std::unique_ptr<client::feed_session> feed;
    io::block_on(w.client, join_feed(&feed));
    ASSERT_NE(feed, nullptr);
    const std::uint64_t past = feed->next_sequence();
    EXPECT_GT(past, 100U);

    session->abandon();
    feed->abandon();
    w.lose_disk();
    ASSERT_TRUE(w.go_on_until([&w] { return w.is_serving(); }, 5s));
    EXPECT_EQ(w.venue().feed_next_sequence(), 1U);

    const std::error_code unknown = client::logged_out(wire::logout_reason::sequence_unknown);
    for (int attempt = 0; attempt < 3; ++attempt) {
        EXPECT_EQ(io::block_on(w.client, session->reconnect(order_entry_of(venue_shape(), 0))), unknown);
        EXPECT_EQ(io::block_on(w.client, feed->resume(feed_of(venue_shape(), 0))),
                  client::session_errc::session_not_available);
        w.go_on_until([] { return false; }, 1s);
    }
    EXPECT_EQ(w.found.promise(), "D1") << "the traders have noticed too";
    EXPECT_FALSE(w.trader_at(0).is_connected() || w.trader_at(1).is_connected());
    EXPECT_EQ(w.venue().feed_next_sequence(), 1U) << "nobody has traded";

    // Those who begin again are as on the first day.
    std::unique_ptr<client::order_session> again;
    ASSERT_FALSE(log_on(&w, who, &again));
    EXPECT_EQ(again->next_request(), 1U);
    answers.clear();
    io::block_on(w.client, ask(again.get(), order_flow::query_all(), &answers));
    EXPECT_EQ(answers.size(), 1U) << "none of the orders is open";
    io::block_on(w.client, ask(again.get(), bid(101, 4 * order_names_count + 1), &answers));
    EXPECT_EQ(answers.back().kind, domain::event_kind::order_entered);
    io::block_on(w.client, join_feed(&feed));
    EXPECT_LT(feed->next_sequence(), past);
    EXPECT_EQ(feed->book(domain::instrument_id{1})->digest(), w.venue().book(domain::instrument_id{1})->digest());
    again->abandon();
    feed.reset();
    w.end_trading();
    w.found = findings();
}

TEST(hard_cases, N6_a_venue_holds_nothing_of_clients_that_have_left_or_vanished) {
    small_world w(configuration_of_facility(quiet_plan()), 5ms);
    ASSERT_TRUE(w.go_on_until([&w] { return w.is_serving(); }, 5s));
    client::credentials who;
    who.account = domain::account_id{1};
    who.session_number = 2;
    who.key.fill(std::byte{1});
    std::unique_ptr<client::order_session> session;
    ASSERT_FALSE(log_on(&w, who, &session));
    std::unique_ptr<client::feed_session> feed;
    io::block_on(w.client, join_feed(&feed));
    ASSERT_NE(feed, nullptr);
    EXPECT_TRUE(w.settle());
    EXPECT_EQ(held_for_clients(w.venue(), true),
              "3 connections of order entry, 1 of market data, 0 commands without an answer");
    EXPECT_EQ(held_for_clients(w.venue(), false),
              "3 connections of order entry, 0 of market data, 0 commands without an answer");
    // The traders leave in order; the other host vanishes, and nothing tells the venue.
    w.end_trading();
    w.client_host.cut_power();
    w.world.run_for(1s);
    EXPECT_EQ(held_for_clients(w.venue(), true),
              "1 connections of order entry, 1 of market data, 0 commands without an answer");
    EXPECT_TRUE(w.go_on_until([&w] { return held_for_clients(w.venue(), true).empty(); }, 60s))
        << held_for_clients(w.venue(), true);
    session.reset();
    feed.reset();
}

}  // namespace
}  // namespace corro::simulation
