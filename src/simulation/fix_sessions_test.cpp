// SPDX-License-Identifier: Apache-2.0
// FIX sessions of a venue that is killed, loses its power and its connections: what a client has seen keeps its number,
// and nothing is lost or said twice.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "sim/disk.hpp"
#include "sim/world.hpp"
#include "simulation/findings.hpp"
#include "simulation/fix_traders.hpp"
#include "simulation/fix_venue_plan.hpp"
#include "simulation/plan.hpp"
#include "simulation/programs.hpp"
#include "simulation/served_process.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

using testing::clients_count;
using testing::fix_address;
using testing::fix_name_of;
using testing::plan_of;
using testing::with_fix;

/// A venue, two FIX clients, and faults from a seed.
class fix_world {
 public:
    fix_world(std::uint64_t seed, const venue_shape& shape)
        : random_(seed),
          plan_(plan_of(seed, shape)),
          world_(seed),
          venue_host_(world_.add_host("venue", {address_of_host(0)})),
          client_host_(world_.add_host("clients", {io::endpoint::ipv4({10, 0, 1, 1}, 0)})),
          client_context_(io::context_options(client_host_.start_process("clients"))) {
        const bool has_gateway = shape.is_in_roles();
        const node::configuration venue = with_fix(configuration_of_facility(plan_), !has_gateway);
        const auto place = has_gateway ? node::order_entry_place::over_gateways : node::order_entry_place::here;
        processes_.push_back(std::make_unique<served_process>(venue_host_, "venue", [venue, place](io::context& on) {
            return std::make_unique<venue_program>(on, venue, place);
        }));
        if (has_gateway) {
            processes_.push_back(std::make_unique<served_process>(
                venue_host_, "gateway", [c = with_fix(configuration_of_gateway(plan_, 0), true)](io::context& on) {
                    return std::make_unique<gateway_program>(on, c);
                }));
        }
        venue_host_.disk().latency().write.most = 2ms;
        venue_host_.disk().latency().sync_data.most = 30ms;
        for (const auto& each : processes_) each->start();
        std::vector<std::string> symbols;
        for (const domain::instrument& i : venue.instruments) symbols.emplace_back(i.name.view());
        for (std::size_t k = 0; k < clients_count; ++k) {
            fix_client_settings settings;
            settings.who.name = fix_name_of(k);
            settings.who.venue_name = venue.fix_comp_id;
            settings.who.key = venue.accounts[k].key;
            settings.who.heartbeat = 2s;
            settings.venue = fix_address();
            settings.trades.symbols = symbols;
            settings.trades.first_name = 1 + k * 1'000'000;
            settings.trades.think_time = 1'500us;
            settings.trades.seed = seed + k;
            settings.trades.is_divided = shape.partitions_count > 1;
            settings.trades.facility_may_be_away = has_gateway;
            settings.trades.may_be_silent = true;
            clients.push_back(std::make_unique<fix_client>(client_context_, settings, &found));
            clients.back()->start(talking_);
        }
    }
    ~fix_world() {
        for (const auto& each : clients) each->end();
        io::block_on(client_context_, talking_.join());
        for (auto each = processes_.rbegin(); each != processes_.rend(); ++each) {
            (*each)->close();
            go_on_until([&each] { return !(*each)->is_running(); }, 60s);
        }
    }

    template <class Condition>
    bool go_on_until(Condition is_true, std::chrono::nanoseconds longest) {
        for (const io::steady_time end = world_.now() + longest; !is_true();) {
            if (world_.now() >= end) return false;
            world_.run_for(1ms);
            for (const auto& each : processes_) static_cast<void>(each->tend());
        }
        return true;
    }
    void go_on(std::chrono::nanoseconds time) {
        go_on_until([] { return false; }, time);
    }

    /// One of: the process is killed, the host loses its power, the clients are cut off for a while, and nothing.
    void disturb() {
        go_on(std::chrono::microseconds(random_.below(400'000)));
        switch (random_.below(4)) {
            case 0: {
                served_process& which = *processes_[static_cast<std::size_t>(random_.below(processes_.size()))];
                which.kill();
                go_on(std::chrono::milliseconds(random_.below(20)));
                which.start();
                break;
            }
            case 1:
                venue_host_.cut_power();
                for (const auto& each : processes_) each->lose_power();
                go_on(10ms);
                venue_host_.restore_power();
                for (const auto& each : processes_) each->start();
                break;
            case 2:
                world_.set_isolated(client_host_, true);
                go_on(std::chrono::milliseconds(random_.below(6'000)));
                world_.set_isolated(client_host_, false);
                break;
            default: break;
        }
    }

    template <class Condition>
    bool go_on_until_each(Condition is_true, std::chrono::nanoseconds longest) {
        return go_on_until([&] { return std::ranges::all_of(clients, is_true); }, longest);
    }

    findings found;
    std::vector<std::unique_ptr<fix_client>> clients;

 private:
    base::prng random_;
    plan plan_;
    sim::world world_;
    sim::host& venue_host_;
    sim::host& client_host_;
    io::context client_context_;
    std::vector<std::unique_ptr<served_process>> processes_;
    io::task_scope talking_{client_context_};
};

struct shape_of_test {
    const char* name;
    venue_shape shape;
};

venue_shape shape_with(node::threading_mode threading, std::size_t partitions, std::size_t gateways) {
    venue_shape shape;
    shape.threading = threading;
    shape.partitions_count = partitions;
    shape.gateways_count = gateways;
    return shape;
}

class fix_sessions : public ::testing::TestWithParam<shape_of_test> {};

TEST_P(fix_sessions, D1_R1_nothing_is_lost_said_twice_or_renumbered_over_crashes) {
    std::uint64_t reports = 0;
    std::uint64_t connections = 0;
    std::uint64_t quotes = 0;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        fix_world w(seed, GetParam().shape);
        for (int i = 0; i < 20; ++i) w.disturb();
        for (const auto& each : w.clients) each->finish();
        EXPECT_TRUE(w.go_on_until_each([](const auto& each) { return each->trader().is_settled(); }, 30s))
            << "requests have no answer";
        w.go_on(1s);
        // The clients forget what they were told, and ask for all of it.
        for (const auto& each : w.clients) each->ask_again();
        EXPECT_TRUE(w.go_on_until_each([](const auto& each) { return each->trader().has_all_again(); }, 30s))
            << "a message is no longer there under its number";
        EXPECT_TRUE(w.found.empty()) << w.found.promise() << ": " << w.found.words();
        std::int64_t bought = 0;
        for (const auto& each : w.clients) {
            bought += each->trader().bought();
            reports += each->trader().messages_count();
            connections += each->trader().connections_count();
            quotes += each->trader().quotes_count();
        }
        EXPECT_EQ(bought, 0) << "a fill is missing, or one too many";
        if (HasFailure()) break;
    }
    EXPECT_GT(reports, 4'000U);
    EXPECT_GT(quotes, 500U);
    EXPECT_GT(connections, 100U) << "the faults have cut connections";
}

INSTANTIATE_TEST_SUITE_P(
    of, fix_sessions,
    ::testing::Values(shape_of_test{"one_thread", shape_with(node::threading_mode::inline_, 1, 0)},
                      shape_of_test{"a_thread_for_the_facility", shape_with(node::threading_mode::split, 1, 0)},
                      shape_of_test{"two_partitions", shape_with(node::threading_mode::split, 2, 0)},
                      shape_of_test{"roles", shape_with(node::threading_mode::inline_, 1, 1)},
                      shape_of_test{"roles_of_two_partitions", shape_with(node::threading_mode::split, 2, 1)}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace corro::simulation
