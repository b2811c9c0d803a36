// SPDX-License-Identifier: Apache-2.0
// Suite `market`: agents' actions per second of processor time, in markets of virtual time.

#include <malloc.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "journal/storage.hpp"
#include "lab/matching/recorded.hpp"
#include "lab/measurement.hpp"
#include "lab/registry.hpp"
#include "lab/suites/suites.hpp"
#include "market/participants/common_workload.hpp"
#include "market/participants/participants.hpp"
#include "market/recorded_day/recorded_flow.hpp"
#include "market/recording/recording.hpp"
#include "market/whole/whole_market.hpp"

namespace corro::lab {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

market::common_workload workload_of(std::uint32_t agents, std::uint32_t instruments, bool is_recorded) {
    market::common_workload how;
    how.agents_count = agents;
    how.instruments_count = instruments;
    how.keeps_commands = is_recorded;
    return how;
}

/// Cash and lots are conserved, and there was trade.
void verify_market(const market::market& world) {
    std::int64_t cash = 0;
    std::int64_t lots = 0;
    for (std::size_t i = 0; i < world.agents_count(); ++i) {
        for (const market::holding& each : world.agent_at(i).true_holdings()) {
            cash += each.cash;
            lots += each.lots;
        }
    }
    verify(cash == 0 && lots == 0, "cash and lots are conserved");
    verify(world.counts().trades != 0, "agents have traded");
}

measurement actions_per_second(double actions, double seconds) {
    measurement result;
    result.values = {actions / seconds};
    return result;
}

/// Without a recording: until the time is over.
measurement measure_unrecorded(const run_parameters& how, std::uint32_t agents, std::uint32_t instruments) {
    const auto world = market::make_common_workload(workload_of(agents, instruments, false));
    std::int64_t until = 2 * second_ns;
    world->run(until);  // agents have begun
    const std::int64_t step = std::max<std::int64_t>(1, 20'000 / (agents + 8)) * second_ns / 4;
    const std::uint64_t before = world->counts().commands;
    const double begin = thread_seconds();
    double spent = 0;
    do {
        until += step;
        world->run(until);
        spent = thread_seconds() - begin;
    } while (spent < how.seconds);
    const auto actions = static_cast<double>(world->counts().commands - before);
    verify_market(*world);
    return actions_per_second(actions, spent);
}

/// With a journal on disk, its creation and its end included.
measurement measure_recorded(const run_parameters& how, std::uint32_t agents, std::uint32_t instruments) {
    std::string folder = (std::filesystem::temp_directory_path() / "corro-lab-market-XXXXXX").string();
    verify(::mkdtemp(folder.data()) != nullptr, "a folder for the journal");
    const auto world = market::make_common_workload(workload_of(agents, instruments, true));
    io::context context;
    journal::disk_storage disk(context);
    market::recording_options recording;
    recording.directory = folder + "/journal";
    // As long as a million actions in a second take.
    const double market_seconds = std::max(3.0, how.seconds * 1e6 / (agents + 8.0 * instruments));
    const double begin = thread_seconds();
    const journal::problem failed = io::block_on(
        context,
        market::record(world.get(), static_cast<std::int64_t>(market_seconds * 1e9), &disk, std::move(recording)));
    const double spent = thread_seconds() - begin;
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    verify(!failed.code, "the journal is written");
    verify_market(*world);
    return actions_per_second(static_cast<double>(world->counts().commands), spent);
}

/// Until a fork goes on at the middle of a run of 10 million actions: the first half is executed again. A short budget
/// measures less of it, and scales.
measurement measure_fork(const run_parameters& how) {
    constexpr double half = 5e6;
    const auto world = market::make_common_workload(workload_of(100, 1, false));
    std::int64_t until = 0;
    const double begin = thread_seconds();
    double spent = 0;
    do {
        until += 100 * second_ns;
        world->run(until);
        spent = thread_seconds() - begin;
    } while (static_cast<double>(world->counts().commands) < half && spent < 5 * how.seconds);
    verify_market(*world);
    measurement result;
    result.values = {spent * half / static_cast<double>(world->counts().commands)};
    return result;
}

/// A maker that quotes at the best prices of a recorded day, once it trades.
market::behaviour quote_in_the_day(market::agent& me, std::int64_t lots) {
    while (me.accepts(domain::instrument_id{1}) != market::accepted_orders::all ||
           !me.book(domain::instrument_id{1}).is_two_sided()) {
        const bool goes_on = co_await me.sleep(second_ns);
        if (!goes_on) co_return;
    }
    market::ladder_options how;
    how.half_spread_ticks = 0.5;
    how.levels = 1;
    how.lots = lots;
    how.position_max = 10 * lots;
    how.skew_ticks = 0.1 / static_cast<double>(lots);
    co_await market::ladder_maker(me, how);
}

/// Recorded days with one agent, one after the other until the time is over; reading the files does not count.
measurement measure_replayed(const run_parameters& how, const std::shared_ptr<const market::recorded_day>& day) {
    const auto way =
        std::make_shared<const market::link>(market::link::symmetric(market::delay::uniform(20'000, 40'000)));
    double commands = 0;
    double spent = 0;
    for (std::uint64_t seed = 1; spent < how.seconds; ++seed) {
        market::market_options options;
        options.seed = seed;
        options.instruments = {day->instrument};
        options.start_ns = day->start_ns;
        options.orders_max = day->orders_max + 1'000;
        market::market world(std::move(options));
        const auto flow = std::make_shared<market::recorded_flow>(day, market::recorded_flow_options(), seed);
        world.observe_with(*flow);
        world.take_commands_from(flow);
        market::agent_options who;
        who.name = "maker";
        who.way = way;
        const std::int64_t lots = day->instrument.kind == domain::instrument_kind::future ? 1 : 100;
        const market::agent& maker =
            world.add_agent(std::move(who), [lots](market::agent& me) { return quote_in_the_day(me, lots); });
        const double begin = thread_seconds();
        world.run(day->length_ns);
        spent += thread_seconds() - begin;
        commands += static_cast<double>(world.counts().commands);
        verify(flow->position() == day->requests.size(), "the whole day was executed");
        std::int64_t cash = flow->cash();
        std::int64_t held = flow->lots();
        std::uint64_t traded = 0;
        for (const market::holding& each : maker.true_holdings()) {
            cash += each.cash;
            held += each.lots;
            traded += each.traded_lots;
        }
        verify(cash == 0 && held == 0, "cash and lots are conserved");
        verify(traded != 0, "the agent has traded");
    }
    return actions_per_second(commands, spent);
}

/// Read once, when a row first needs it.
std::function<std::shared_ptr<const market::recorded_day>()> day_of(std::vector<std::filesystem::path> files) {
    return [files = std::move(files), day = std::make_shared<std::shared_ptr<const market::recorded_day>>()] {
        if (*day == nullptr) {
            recorded::replay::recording_options from;
            from.files = files;
            *day = std::make_shared<const market::recorded_day>(market::load_recorded_day(from));
        }
        return *day;
    };
}

/// The row of the matching suite is `recorded_e_mini`, and so on.
std::string replayed_row(const recording& one) {
    return "replayed" + std::string(one.row.substr(one.row.find('_')));
}

/// With a whole venue: sessions, gateway, a journal on a simulated disk, the feed.
measurement measure_whole(const run_parameters& how, std::uint32_t agents) {
    market::common_workload workload = workload_of(agents, 1, false);
    workload.way = std::make_shared<const market::link>(market::link::symmetric(market::delay::constant(100'000)));
    market::whole_market whole(market::make_common_workload(workload), market::whole_options());
    std::int64_t until = 2 * second_ns;
    whole.run(until);  // agents have begun
    const std::uint64_t before = whole.commands_count();
    const double begin = thread_seconds();
    double spent = 0;
    do {
        until += second_ns;
        whole.run(until);
        spent = thread_seconds() - begin;
    } while (spent < how.seconds);
    const auto actions = static_cast<double>(whole.commands_count() - before);
    whole.run(until + second_ns / 1'000);  // the last answers arrive
    verify_market(whole.agents());
    whole.close();
    return actions_per_second(actions, spent);
}

double heap_bytes() {
    const struct mallinfo2 now = mallinfo2();
    return static_cast<double>(now.uordblks + now.hblkhd);
}

/// What an agent adds to a market whose facility has space for it anyway.
measurement measure_memory() {
    constexpr std::uint32_t agents = 100'000;
    const auto bytes_with = [](std::uint32_t count) {
        market::market_options options;
        domain::instrument one;
        one.id = domain::instrument_id{1};
        one.name = domain::symbol{"ONE"};
        one.price_low = domain::price_ticks{1};
        one.price_high = domain::price_ticks{20'000};
        options.instruments.push_back(one);
        options.accounts_max = agents + 1;
        const double before = heap_bytes();
        market::market world(std::move(options));
        for (std::uint32_t i = 0; i < count; ++i) {
            market::agent_options who;
            who.name = fmt::format("zi-{}", i + 1);
            world.add_agent(std::move(who), [](market::agent& me) {
                return market::common_zero_intelligence(me, domain::instrument_id{1}, 9'990, 10'010, second_ns);
            });
        }
        world.run(2 * second_ns);
        return heap_bytes() - before;
    };
    measurement result;
    result.values = {(bytes_with(agents) - bytes_with(0)) / agents};
    return result;
}

struct size {
    const char* name;
    std::uint32_t agents;
    std::uint32_t instruments;
};
constexpr size sizes[] = {{"zi_100", 100, 1}, {"zi_1000", 1'000, 1}, {"zi_100000_x_100", 100'000, 100}};

}  // namespace

void declare_market(registry& into) {
    for (const size& each : sizes) {
        const std::string what = fmt::format(
            "actions per second of processor time: {} agents of zero intelligence in {} instruments, links of 50 to "
            "150 us, "
            "acknowledgements, accounts",
            each.agents, each.instruments);
        into.declare("market", {{each.name, "/s", better::higher, what + ", a journal on disk"}}, 1, 1, 3);
        into.declare("market", {{fmt::format("{}_unrecorded", each.name), "/s", better::higher, what + ", no journal"}},
                     1, 1, 3);
    }
    into.declare("market",
                 {{"whole_100", "/s", better::higher,
                   "actions per second of processor time: 100 agents of zero intelligence with a whole venue: client "
                   "sessions, simulated network, gateway, a journal on a simulated disk, feed"}},
                 1, 1, 3);
    for (const recording& one : recordings()) {
        into.declare(
            "market",
            {{replayed_row(one), "/s", better::higher,
              fmt::format("requests per second of processor time, recorded ones and those of one agent, a maker at the "
                          "best prices, in {}; no journal; needs CORRO_DATA_DIR to name the folder with {}",
                          one.does, fmt::join(one.files, " and "))}},
            1, 1, 3);
    }
    into.declare("market",
                 {{"fork_10m", "s", better::lower,
                   "processor time until a fork goes on at the middle of a run of 10 million actions: 5 million "
                   "actions of 100 agents executed again, no journal"}},
                 1, 1, 3);
    into.declare(
        "market",
        {{"memory_per_agent", "B", better::lower,
          "heap bytes of one of 100,000 agents: the agent, its coroutine frame, its orders, its messages, its entries "
          "of the schedule"}},
        1, 1, 3);
}

void implement_market(registry& into) {
    for (const size& each : sizes) {
        into.implement("market", each.name, "corro", [each](const run_parameters& how) {
            return measure_recorded(how, each.agents, each.instruments);
        });
        into.implement("market", fmt::format("{}_unrecorded", each.name), "corro", [each](const run_parameters& how) {
            return measure_unrecorded(how, each.agents, each.instruments);
        });
    }
    into.implement("market", "whole_100", "corro", [](const run_parameters& how) { return measure_whole(how, 100); });
    for (const recording& one : recordings()) {
        if (const auto files = find_files(one); files) {
            into.implement("market", replayed_row(one), "corro",
                           [day = day_of(*files)](const run_parameters& how) { return measure_replayed(how, day()); });
        }
    }
    into.implement("market", "fork_10m", "corro", [](const run_parameters& how) { return measure_fork(how); });
    into.implement("market", "memory_per_agent", "corro", [](const run_parameters&) { return measure_memory(); });
}

}  // namespace corro::lab
