// SPDX-License-Identifier: Apache-2.0
// A whole venue and its clients in one thread, on a world in memory: virtual time, a network in memory, no kernel.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "node/links/distributor_role.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue_fixture.hpp"
#include "sim/world.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds heartbeat{1'000};
constexpr std::chrono::minutes quiet_time{10};
constexpr int requests_count = 300;

/// What a client has seen, in an order and with times.
struct seen {
    std::uint64_t digest = 0;
    std::uint64_t fills = 0;
    std::uint64_t answered = 0;
    bool stayed_on = false;

    void add(const domain::event& event) {
        digest = base::hash_bytes(std::as_bytes(std::span(&event, 1))) ^ (digest * 31);
    }
};

io::task<void> trade(client::order_session* session, std::uint64_t seed, std::uint64_t first_name, seen* into) {
    std::vector<domain::instrument> instruments;
    session->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    client::trader trader(client::trader_options(), instruments, {domain::price_ticks{9'000}, domain::price_ticks{200}},
                          first_name, seed);
    for (int i = 0; i < requests_count; ++i) {
        if (session->send(trader.next_request()) == 0) co_return;
        bool answered = false;
        while (!answered) {
            const auto answer = co_await session->next();
            if (!answer || answer->reject) co_return;
            into->add(answer->event);
            answered = trader.on_event(answer->event);
        }
        static_cast<void>(co_await io::sleep_for(3ms));
    }
    into->fills = trader.statistics().fills;
    into->answered = trader.statistics().answered;
}

/// Trades, is silent for ten minutes in which only heartbeats pass, and is still on.
io::task<void> stay_on(client::order_session* session, std::uint64_t seed, seen* into) {
    co_await trade(session, seed, 1, into);
    io::context& here = co_await io::this_context();
    const io::steady_time end = here.now() + quiet_time;
    while (here.now() < end) {
        // A fill may come for an order that rests; anything else would be the end of the session.
        const auto late = co_await io::with_timeout(end - here.now(), session->next());
        if (late.has_value() && !late->has_value()) {
            ADD_FAILURE() << "the session has ended: " << late->error().message();
            co_return;
        }
        if (late.has_value()) into->add((*late)->event);
    }
    into->stayed_on = true;
}

io::task<void> take_part(io::endpoint venue, std::uint32_t account, std::uint64_t seed, seen* into) {
    client::credentials who = testing::who(account, 1);
    who.heartbeat = heartbeat;
    auto session = co_await client::order_session::log_on(venue, who);
    if (!session) co_return;
    io::task_scope beside(co_await io::this_context());
    beside.spawn((*session)->keep_alive());
    co_await stay_on(session->get(), seed, into);
    beside.request_stop();
    co_await beside.join();
    static_cast<void>(co_await (*session)->log_out());
}

io::task<void> serve_until(node::venue* venue, io::remote_event* ends) {
    io::context& here = co_await io::this_context();
    io::task_scope serving(here);
    serving.spawn(venue->run());
    static_cast<void>(co_await ends->wait());
    venue->close();
    co_await serving.join();
}

/// All that a run leads to.
struct result {
    std::array<seen, 2> clients;
    std::uint64_t state_hash = 0;
    std::uint64_t commands = 0;
    std::chrono::nanoseconds took{};

    friend bool operator==(const result& a, const result& b) {
        return a.state_hash == b.state_hash && a.commands == b.commands && a.took == b.took &&
               a.clients[0].digest == b.clients[0].digest && a.clients[1].digest == b.clients[1].digest;
    }
};

result run(node::threading_mode threading, std::uint64_t seed) {
    sim::world world(seed);
    const io::context_options on_it(world.machine());
    io::context server(on_it);
    io::context first(on_it);
    io::context second(on_it);
    node::configuration c = testing::small_venue(threading);
    c.busy_poll = 0us;  // time stands still while somebody polls
    result all;
    {
        node::testing::started_venue venue(server, c);
        io::remote_event ends(server);
        io::task_scope there(server);
        there.spawn(serve_until(&venue, &ends));
        io::task_scope beside(second);
        beside.spawn(take_part(venue.order_entry_endpoint(), 2, seed + 1, &all.clients[1]));
        const io::steady_time begin = world.now();
        io::block_on(first, take_part(venue.order_entry_endpoint(), 1, seed, &all.clients[0]));
        io::block_on(second, beside.join());
        all.took = world.now() - begin;
        ends.set();
        io::block_on(server, there.join());
        all.state_hash = venue.state_hash();
        all.commands = venue.commands_count();
    }
    return all;
}

/// One life of a venue with a journal: `requests` trade, then it is closed. The disk is the world's.
struct life {
    std::uint64_t begins_with = 0;  ///< state hashes
    std::uint64_t ends_with = 0;
    std::uint64_t commands = 0;
    seen client;
};

io::task<void> trade_and_save(node::venue* venue, std::uint64_t seed, std::uint64_t first_name, seen* into) {
    client::credentials who = testing::who(1, 1);
    who.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue->order_entry_endpoint(), who);
    if (!session) co_return;
    co_await trade(session->get(), seed, first_name, into);
    venue->write_snapshot();
    static_cast<void>(co_await io::sleep_for(10s));
    into->stayed_on = true;
    static_cast<void>(co_await (*session)->log_out());
}

life live(sim::world* world, const node::configuration& c, std::uint64_t seed, std::uint64_t first_name) {
    const io::context_options on_it(world->machine());
    io::context server(on_it);
    io::context there(on_it);
    life one;
    {
        node::testing::started_venue venue(server, c);
        one.begins_with = venue.state_hash();
        io::remote_event ends(server);
        io::task_scope serving(server);
        serving.spawn(serve_until(&venue, &ends));
        io::block_on(there, trade_and_save(&venue, seed, first_name, &one.client));
        ends.set();
        io::block_on(server, serving.join());
        one.ends_with = venue.state_hash();
        one.commands = venue.commands_count();
    }
    return one;
}

/// Facility, two gateways and a distributor, each on a context of its own.
class roles {
 public:
    roles(sim::world* world, const node::configuration& c)
        : on_it_(world->machine()),
          facility_context_(on_it_),
          gateway_contexts_{std::make_unique<io::context>(on_it_), std::make_unique<io::context>(on_it_)},
          feed_context_(on_it_),
          serving_facility_(facility_context_),
          serving_feed_(feed_context_) {
        const std::array<std::string, 2> names{"north", "south"};
        node::configuration own = c;
        for (std::size_t k = 0; k < names.size(); ++k) own.accounts[k].gateway = names[k];
        own.link_listen = "@corro-in-memory";
        own.link_secret.fill(std::byte{0x5c});
        facility_ = std::make_unique<node::testing::started_facility>(facility_context_, own);
        serving_facility_.spawn(facility_->run());
        own.link_connect = std::exchange(own.link_listen, std::string());
        own.journal_directory.clear();
        for (std::size_t k = 0; k < gateways_.size(); ++k) {
            own.link_gateway = names[k];
            gateways_[k] = std::make_unique<node::gateway_role>(*gateway_contexts_[k], own,
                                                                [this, k](io::endpoint at) { at_[k] = at; });
            serving_gateways_[k] = std::make_unique<io::task_scope>(*gateway_contexts_[k]);
            serving_gateways_[k]->spawn(gateways_[k]->run());
        }
        feed_ = std::make_unique<node::distributor_role>(feed_context_, own, facility_->feed_endpoint(),
                                                         facility_->snapshot_endpoint());
        serving_feed_.spawn(feed_->run());
    }

    [[nodiscard]] const std::optional<io::endpoint>& gateway(std::size_t k) const noexcept { return at_[k]; }
    [[nodiscard]] const node::distributor_role& feed() const noexcept { return *feed_; }
    [[nodiscard]] const node::venue& facility() const noexcept { return *facility_; }

    void end() {
        for (std::size_t k = 0; k < gateways_.size(); ++k) {
            gateways_[k]->close();
            io::block_on(*gateway_contexts_[k], serving_gateways_[k]->join());
        }
        feed_->close();
        io::block_on(feed_context_, serving_feed_.join());
        facility_->close();
        io::block_on(facility_context_, serving_facility_.join());
    }

 private:
    io::context_options on_it_;
    io::context facility_context_;
    std::array<std::unique_ptr<io::context>, 2> gateway_contexts_;
    io::context feed_context_;
    std::unique_ptr<node::testing::started_facility> facility_;
    std::array<std::unique_ptr<node::gateway_role>, 2> gateways_;
    std::unique_ptr<node::distributor_role> feed_;
    std::array<std::optional<io::endpoint>, 2> at_;
    io::task_scope serving_facility_;
    std::array<std::unique_ptr<io::task_scope>, 2> serving_gateways_;
    io::task_scope serving_feed_;
};

io::task<void> take_part_at(const roles* venue, std::size_t gateway, std::uint64_t seed, seen* into) {
    while (!venue->gateway(gateway)) static_cast<void>(co_await io::sleep_for(10ms));
    co_await take_part(*venue->gateway(gateway), static_cast<std::uint32_t>(gateway) + 1, seed, into);
}

class memory_world : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, memory_world,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST_P(memory_world, a_venue_serves_ten_virtual_minutes) {
    const result all = run(GetParam(), 11);
    for (const seen& each : all.clients) {
        EXPECT_EQ(each.answered, static_cast<std::uint64_t>(requests_count));
        EXPECT_GT(each.fills, 10U);
        EXPECT_TRUE(each.stayed_on) << "ten minutes of heartbeats";
    }
    EXPECT_GE(all.took, quiet_time);
    EXPECT_LT(all.took, quiet_time + 1min);
}

TEST_P(memory_world, the_same_seed_gives_the_same_run_to_the_nanosecond) {
    const result one = run(GetParam(), 23);
    EXPECT_EQ(one, run(GetParam(), 23));
    EXPECT_NE(one, run(GetParam(), 24)) << "another seed, another market";
}

TEST_P(memory_world, a_venue_goes_on_from_the_snapshot_and_the_journal_of_its_last_life) {
    sim::world world(31);
    node::configuration c = testing::small_venue(GetParam());
    c.busy_poll = 0us;
    c.journal_directory = "/var/corro/journal";
    c.durability = journal::durability::group;
    const life first = live(&world, c, 5, 1);
    EXPECT_EQ(first.client.answered, static_cast<std::uint64_t>(requests_count));
    const auto names = world.disk().make_storage()->list(c.journal_directory);
    ASSERT_TRUE(names.has_value());
    EXPECT_TRUE(std::ranges::any_of(*names, [](const std::string& n) { return n.ends_with(".snapshot"); }));
    const life second = live(&world, c, 6, 1'000'000);
    EXPECT_EQ(second.begins_with, first.ends_with);
    EXPECT_GT(second.commands, first.commands);
    const life third = live(&world, c, 7, 2'000'000);
    EXPECT_EQ(third.begins_with, second.ends_with);
    EXPECT_EQ(third.client.answered, static_cast<std::uint64_t>(requests_count));
}

TEST(memory_world_of_roles, a_facility_two_gateways_and_a_distributor_serve_ten_virtual_minutes) {
    sim::world world(41);
    node::configuration c = testing::small_venue(node::threading_mode::inline_);
    c.busy_poll = 0us;
    c.journal_directory = "/var/corro/journal";
    c.durability = journal::durability::group;
    std::array<seen, 2> clients;
    const io::context_options on_it(world.machine());
    io::context first(on_it);
    io::context second(on_it);
    roles venue(&world, c);
    {
        io::task_scope beside(second);
        beside.spawn(take_part_at(&venue, 1, 43, &clients[1]));
        io::block_on(first, take_part_at(&venue, 0, 42, &clients[0]));
        io::block_on(second, beside.join());
    }
    for (const seen& each : clients) {
        EXPECT_EQ(each.answered, static_cast<std::uint64_t>(requests_count));
        EXPECT_GT(each.fills, 10U);
        EXPECT_TRUE(each.stayed_on);
    }
    EXPECT_TRUE(venue.feed().failure().empty()) << venue.feed().failure();
    EXPECT_GT(venue.feed().publisher().statistics().messages, 1'000U);
    venue.end();
}

}  // namespace
}  // namespace corro
