// Hard cases for a venue, each in a small world of its own.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/line_feed.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "sim/world.hpp"
#include "simulation/findings.hpp"
#include "simulation/order_flow.hpp"
#include "simulation/plan.hpp"
#include "simulation/programs.hpp"
#include "simulation/served_process.hpp"
#include "simulation/subscriber.hpp"
#include "simulation/traders.hpp"
#include "simulation/venue_configuration.hpp"

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
        for (const auto& each : traders_) each->end();
        io::block_on(trading_context_, trading_.join());
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

}  // namespace
}  // namespace corro::simulation
