// SPDX-License-Identifier: Apache-2.0
// Runs of the venue that a configuration file describes.

#include "simulation/venue_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "node/configuration/configuration.hpp"
#include "simulation/plan.hpp"
#include "simulation/run.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

/// A venue of two partitions with a strategy, limits, a drop copy, an operator, and ports of every kind.
constexpr const char* divided = R"(
[venue]
name = "NORTH"
orders_max = 1_000
instruments_reserved = 2
account_open_orders_max = 40
clock_slew_ppm = 50_000

[facility]
threading = "split"
journal = "/nowhere"
durability = "each"
journal_segment_bytes = 32_768
snapshot_every = 150
snapshots_kept = 2
journal_segments_kept = 1
disk_patience_ms = 5_000

[order_entry]
websocket_listen = "127.0.0.1:9"
requests_max = 30
requests_window_ms = 400
cancel_grace_ms = 700

[market_data]
feed_log_bytes = 1_048_576

[metrics]
listen = "127.0.0.1:9"

[[partition]]
name = "EAST"
products = [1]
feed_listen = "127.0.0.1:9"
snapshot_listen = "127.0.0.1:9"
depth_listen = "127.0.0.1:9"

[[partition]]
name = "WEST"
products = [2]
feed_listen = "127.0.0.1:9"
snapshot_listen = "127.0.0.1:9"

[[instrument]]
id = 200
symbol = "NARROW"
product = 1
tick_size = "0.5"
price_low = "2.5"
price_high = "10"

[[instrument]]
id = 7
symbol = "MAR"
product = 2
tick_size = "0.01"
lot_size = 5
order_quantity_max = 4

[[instrument]]
id = 8
symbol = "JUN"
product = 2
tick_size = "0.01"
price_low = "-20"
price_high = "900"

[[instrument]]
id = 9
symbol = "MAR-JUN"
product = 2
kind = "spread"
tick_size = "0.01"
price_low = "-10"
price_high = "10"
legs = [{ instrument = 7, side = "buy" }, { instrument = 8, side = "sell" }]
implied = true

[[account]]
id = 300
key = "3c2ab6291091e38af2a3683333a6e0ccf1e3b6d53a46e5fcbd9062eaa690b5b1"
sessions = 2
position_max = 25
open_orders_max = 12

[[account]]
id = 5
key = "fc7d2b09ecee14bb69846b42616c073eb31a0e064aeea44015505bff39a5a04b"
order_quantity_max = 6

[[account]]
id = 6
key = "a8fb8a95bc7039f10bf0764d7dd2e6c3f23b8faf877ccae891a4bb3ac78dae20"
copies_of = [5]

[[account]]
id = 8
key = "5e3f0c6a1d9b7a48cf02e6d4b8137fa95c20d1e86b4f9a3370e5d2c1b6a49f08"
operator = true
)";

std::shared_ptr<const venue_file> file_of(const std::string& text) {
    return make_venue_file(node::parse_configuration(text, "venue.toml"), "venue.toml");
}

plan plan_of(std::uint64_t seed, const std::string& text) {
    plan_options options;
    options.time = 1s;
    options.file = file_of(text);
    return draw_plan(seed, options);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
    return text;
}

std::string refusal_of(const std::string& text) {
    try {
        static_cast<void>(file_of(text));
    } catch (const node::configuration_error& e) {
        return e.what();
    }
    return "none";
}

TEST(simulated_file, what_it_describes_is_the_venue_of_the_run) {
    const plan whole = plan_of(1, divided);
    EXPECT_EQ(whole.shape.venue.partitions_count, 2U);
    EXPECT_FALSE(whole.shape.venue.is_in_roles());
    const node::configuration file = node::parse_configuration(divided, "venue.toml");
    const node::configuration run = configuration_of_facility(whole);
    EXPECT_EQ(run.venue_name, "NORTH");
    EXPECT_EQ(run.threading, file.threading);
    EXPECT_EQ(run.durability, file.durability);
    EXPECT_EQ(run.journal_segment_bytes, file.journal_segment_bytes);
    EXPECT_EQ(run.snapshot_every, file.snapshot_every);
    EXPECT_EQ(run.snapshots_kept, file.snapshots_kept);
    EXPECT_EQ(run.disk_patience, file.disk_patience);
    EXPECT_EQ(run.requests_max, file.requests_max);
    EXPECT_EQ(run.requests_window, file.requests_window);
    EXPECT_EQ(run.cancel_grace, file.cancel_grace);
    EXPECT_EQ(run.account_open_orders_max, file.account_open_orders_max);
    EXPECT_EQ(run.clock_slew_ppm, file.clock_slew_ppm);
    EXPECT_EQ(run.orders_max, file.orders_max);
    EXPECT_EQ(run.instruments.size(), file.instruments.size());
    ASSERT_EQ(run.accounts.size(), file.accounts.size());
    EXPECT_EQ(run.accounts[0].key, file.accounts[0].key);
    EXPECT_EQ(run.accounts[0].limits, file.accounts[0].limits);
    EXPECT_EQ(journal_of(whole, 1), std::string(journal_directory) + "/WEST");
    EXPECT_EQ(run.partitions[1].feed_listen, facility_feed(1).to_string());
}

TEST(simulated_file, clients_have_the_sessions_of_its_trading_accounts) {
    std::set<std::uint32_t> first;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const plan whole = plan_of(seed, divided);
        EXPECT_LE(whole.shape.traders_count, 3U) << "three sessions may trade";
        const auto seats = seats_of(whole);
        ASSERT_EQ(seats.size(), 3U);
        first.insert(seats[0].account.id.value);
        EXPECT_NE(seats[0].account.id, seats[1].account.id);
        EXPECT_EQ(seats[2].account.id.value, 300U);
        EXPECT_EQ(seats[2].session_number, 2U);
    }
    EXPECT_EQ(first, (std::set<std::uint32_t>{5, 300}));
    EXPECT_EQ(operator_of(plan_of(1, divided)).id.value, 8U);
}

TEST(simulated_file, the_faults_are_those_of_the_seed) {
    plan_options options;
    options.time = 1s;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const plan drawn = draw_plan(seed, options);
        const plan read = plan_of(seed, divided);
        for (const fault& each : read.faults) {
            const bool depends = each.kind == fault_kind::power_cut || each.kind == fault_kind::wrong_gateway;
            EXPECT_TRUE(depends || std::ranges::find(drawn.faults, each) != drawn.faults.end());
        }
    }
}

TEST(simulated_file, runs_keep_every_promise) {
    std::uint64_t fills = 0;
    std::uint64_t starts = 0;
    std::set<std::size_t> processes;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const plan whole = plan_of(seed, divided);
        const run_result result = run(whole);
        EXPECT_TRUE(result.found.empty())
            << "seed " << seed << ": " << result.found.promise() << ": " << result.found.words() << '\n'
            << text_of(whole);
        fills += result.fills_count;
        starts += result.starts_count;
        processes.insert(whole.shape.venue.processes_count());
    }
    EXPECT_GT(fills, 100U);
    EXPECT_GT(starts, 36U);
}

TEST(simulated_file, accounts_of_several_gateways_make_a_venue_in_roles) {
    std::string text = replaced(divided, "order_quantity_max = 6", "order_quantity_max = 6\ngateway = \"south\"");
    const plan together = plan_of(2, text);
    EXPECT_EQ(together.shape.venue.gateways_count, 0U) << "without links one process serves all accounts";
    std::uint64_t answers = 0;
    text += "\n[link]\nlisten = \"venue.link\"\nsecret = \"" + std::string(64, '7') + "\"\n";
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const plan whole = plan_of(seed, text);
        EXPECT_EQ(whole.shape.venue.gateways_count, 2U);
        EXPECT_EQ(configuration_of_gateway(whole, 1).link_gateway, "south");
        const run_result result = run(whole);
        EXPECT_TRUE(result.found.empty())
            << "seed " << seed << ": " << result.found.promise() << ": " << result.found.words() << '\n'
            << text_of(whole);
        answers += result.answers_count;
    }
    EXPECT_GT(answers, 500U);
}

TEST(simulated_file, what_a_run_leaves_out_is_in_its_text) {
    const std::string text = text_of(plan_of(1, divided));
    EXPECT_NE(text.find("the venue of venue.toml: 4 instruments, 4 accounts; without order_entry.websocket_listen, "
                        "metrics, depth_listen of EAST, facility.journal_segments_kept\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("30 in 400 ms at most"), std::string::npos) << text;
}

TEST(simulated_file, what_a_run_cannot_have_is_refused_with_its_key) {
    const auto in_order_entry = [](const std::string& line) {
        return refusal_of(replaced(divided, "requests_max = 30", line));
    };
    EXPECT_EQ(refusal_of(divided), "none");
    EXPECT_EQ(refusal_of(replaced(divided, "durability = \"each\"", "durability = \"none\"")),
              "venue.toml: facility.durability: cannot be simulated: \"none\" lets a crash take what was acknowledged, "
              "and a run crashes; write \"async\", \"group\" or \"each\"");
    EXPECT_TRUE(in_order_entry("requests_end = 30").starts_with("venue.toml: order_entry.requests_end: "));
    EXPECT_TRUE(
        in_order_entry("session_day_begins = \"17:00\"").starts_with("venue.toml: order_entry.session_day_begins: "));
    EXPECT_EQ(in_order_entry("logons_max = 3"),
              "venue.toml: order_entry.logons_max: cannot be simulated: a run breaks connections often; write at least "
              "32");
    EXPECT_TRUE(refusal_of(replaced(divided, "clock_slew_ppm = 50_000", "clock_ahead_max_s = 5"))
                    .starts_with("venue.toml: venue.clock_ahead_max_s: "));
    std::string idle = replaced(divided, "sessions = 2", "operator = true");
    idle = replaced(idle, "order_quantity_max = 6", "operator = true");
    EXPECT_TRUE(refusal_of(idle).starts_with("venue.toml: account: cannot be simulated: no client could trade"));
}

TEST(simulated_file, a_bad_file_is_refused_as_by_a_server) {
    EXPECT_EQ(refusal_of("none"),
              "venue.toml:1: not TOML: Error while parsing key-value pair: encountered end-of-file");
    EXPECT_THROW(static_cast<void>(load_venue_file("/nowhere/venue.toml")), node::configuration_error);
}

}  // namespace
}  // namespace corro::simulation
