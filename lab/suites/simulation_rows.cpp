// SPDX-License-Identifier: Apache-2.0
// Suite `simulation`: how much of a venue's life passes in a second of processor time, in the simulated world.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "io/loop/context.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/suites/venue_suite.hpp"
#include "lab/venue/venue_clients.hpp"
#include "sim/world.hpp"
#include "simulation/programs.hpp"
#include "simulation/run.hpp"
#include "simulation/served_process.hpp"

namespace corro::lab {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t clients_count = 16;
constexpr std::uint32_t outstanding_many = 64;
constexpr std::chrono::microseconds link_latency{20};

/// What the clients of the whole stack share.
struct stack_run {
    io::endpoint orders = io::endpoint::ipv4({10, 0, 0, 1}, 7'001);
    io::endpoint feed = io::endpoint::ipv4({10, 0, 0, 1}, 7'002);
    io::endpoint snapshots = io::endpoint::ipv4({10, 0, 0, 1}, 7'003);
    wire::api_key key{};
    std::uint32_t outstanding_max = 1;
    io::manual_event begins;
    std::uint32_t logged_on_count = 0;
    bool over = false;
    std::uint64_t answered_count = 0;
    std::unique_ptr<client::feed_session> follower;
};

/// A client that keeps as many requests as it may under way.
io::task<void> trade(stack_run* run, std::uint32_t index) {
    client::credentials who;
    who.account = domain::account_id{1};
    who.session_number = index + 1;
    who.key = run->key;
    who.heartbeat = 60s;
    who.cancel_on_disconnect = false;
    auto logged_on = co_await client::order_session::log_on(run->orders, who);
    verify(logged_on.has_value(), "a client logs on");
    client::order_session& session = **logged_on;
    std::vector<domain::instrument> instruments;
    session.instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    client::trader trader = trader_of(index, std::move(instruments));
    ++run->logged_on_count;
    const std::error_code stopped = co_await run->begins.wait();
    if (stopped) co_return;
    while (!run->over || trader.outstanding_count() != 0) {
        while (!run->over && trader.outstanding_count() < run->outstanding_max) {
            verify(session.send(trader.next_request()) != 0, "a request fits into the client's buffer");
        }
        std::error_code error = co_await session.flush();
        verify(!error, "the venue takes requests");
        error = co_await session.fill();
        verify(!error, "the venue answers");
        for (;;) {
            const auto answer = session.poll();
            verify(answer.has_value() && (!*answer || !(*answer)->reject), "a session goes on");
            if (!*answer) break;
            if (trader.on_event((*answer)->event)) ++run->answered_count;
        }
    }
    session.abandon();
}

/// Rebuilds the books from the feed.
io::task<void> follow(stack_run* run) {
    auto joined = co_await client::feed_session::join(run->feed, run->snapshots);
    verify(joined.has_value(), "the feed takes a subscriber");
    run->follower = std::move(*joined);
    for (;;) {
        for (;;) {
            const auto event = run->follower->poll();
            verify(event.has_value(), "the feed does not contradict itself");
            if (!*event) break;
        }
        const std::error_code error = co_await run->follower->fill();
        if (error) co_return;
    }
}

node::configuration stack_configuration(const stack_run& run) {
    node::configuration c = venue_configuration();
    c.touch = base::page_touch::no;
    c.threading = node::threading_mode::inline_;
    c.busy_poll = 0us;
    c.order_entry_listen = run.orders.to_string();
    c.feed_listen = run.feed.to_string();
    c.snapshot_listen = run.snapshots.to_string();
    return c;
}

measurement measure_stack(const run_parameters& how, std::uint32_t outstanding_max) {
    sim::world world(1);
    world.network().usual_options().latency_min = world.network().usual_options().latency_max = link_latency;
    stack_run run;
    run.outstanding_max = outstanding_max;
    node::configuration c = stack_configuration(run);
    run.key = c.accounts.front().key;
    const std::vector<domain::instrument> instruments = c.instruments;
    sim::host& exchange = world.add_host("exchange", {run.orders});
    sim::host& outside = world.add_host("clients", {io::endpoint::ipv4({10, 0, 0, 2}, 0)});
    simulation::served_process process(exchange, "venue", [&c](io::context& on) {
        return std::make_unique<simulation::venue_program>(on, c, node::order_entry_place::here);
    });
    process.start();
    world.run_for(1s);
    verify(process.is_serving(), "the venue serves");
    const node::venue& venue = static_cast<const simulation::venue_program&>(process.now()).venue();

    io::context here{io::context_options(outside.start_process("clients"))};
    io::task_scope clients(here);
    for (std::uint32_t i = 0; i < clients_count; ++i) clients.spawn(trade(&run, i));
    io::task_scope following(here);
    following.spawn(follow(&run));
    world.run_for(1s);
    const bool are_there = run.logged_on_count == clients_count && run.follower != nullptr;

    const auto run_for_seconds = [&](double seconds) {
        const double begin = thread_seconds();
        const std::uint64_t before = run.answered_count;
        double spent = 0;
        do {
            world.run_for(1ms);
            spent = thread_seconds() - begin;
        } while (spent < seconds);
        return static_cast<double>(run.answered_count - before) / spent;
    };
    measurement result;
    run.begins.set();
    if (are_there) {
        static_cast<void>(run_for_seconds(how.seconds * timed_run::warm_up_part));
        result.values = {run_for_seconds(how.seconds)};
    }
    run.over = true;
    world.run_for(1s);
    const std::uint64_t commands_count = venue.commands_count();
    const bool is_current = are_there && run.follower->next_sequence() == venue.feed_next_sequence() &&
                            std::ranges::all_of(instruments, [&](const domain::instrument& i) {
                                return run.follower->book(i.id)->digest() == venue.book(i.id)->digest();
                            });
    if (run.follower != nullptr) run.follower->abandon();
    io::block_on(here, clients.join());
    following.request_stop();
    io::block_on(here, following.join());
    process.close();
    std::optional<simulation::process_end> end;
    while (!end) {
        world.run_for(10ms);
        end = process.tend();
    }
    verify(are_there, "all clients are there");
    verify_equal(commands_count, run.answered_count, "requests in the venue");
    verify(is_current, "the books from the feed are the venue's");
    verify(end->was_closed && end->failure.empty(), "the venue ends when it is closed");
    return result;
}

/// Runs a seed's plan, as `corro simulate` does, with every checker.
simulation::run_result run_checked(const simulation::plan& whole) {
    simulation::run_result result = simulation::run(whole);
    verify(result.found.empty(),
           fmt::format("seed {} breaks {}: {}", whole.seed, result.found.promise(), result.found.words()));
    return result;
}

simulation::plan plan_of(std::uint64_t seed, std::chrono::nanoseconds time) {
    simulation::plan_options options;
    options.time = time;
    return simulation::draw_plan(seed, options);
}

/// Runs plans of one seed after another until `seconds` are over.
/// @param figure  Of the sums of all runs and the processor time.
template <class Draw, class Figure>
measurement measure_runs(double seconds, Draw draw, Figure figure) {
    simulation::run_result all;
    std::uint64_t runs = 0;
    std::uint64_t faults = 0;
    const double begin = thread_seconds();
    double spent = 0;
    do {
        const simulation::plan whole = draw(++runs);
        const simulation::run_result one = run_checked(whole);
        faults += whole.faults.size();
        all.requests_count += one.requests_count;
        all.virtual_time += one.virtual_time;
        spent = thread_seconds() - begin;
    } while (spent < seconds || faults == 0);
    verify(all.requests_count != 0, "requests were answered");
    measurement result;
    result.values = {figure(all, runs, spent)};
    return result;
}

simulation::plan busy_plan(std::uint64_t seed) {
    simulation::plan whole = plan_of(seed, 1s);
    whole.durability = journal::durability::group;
    whole.shape.venue = simulation::venue_shape();  // inline, one process
    whole.shape.traders_count = 12;
    whole.requests_max = 0;
    whole.operator_pause = 0ns;
    whole.outstanding_max = outstanding_many;
    whole.think_time = 0ns;
    whole.latency_max = 4ms;
    whole.piece_bytes_max = 0;
    return whole;
}

simulation::plan steady_plan(std::uint64_t seed) {
    simulation::plan whole = plan_of(seed, 5s);
    whole.shape.venue = simulation::venue_shape();
    whole.shape.traders_count = 20;
    whole.requests_max = 0;
    whole.operator_pause = 0ns;
    whole.think_time = 20ms;
    return whole;
}

double virtual_seconds(const simulation::run_result& all) {
    return std::chrono::duration<double>(all.virtual_time).count();
}

}  // namespace

void declare_simulation(registry& into) {
    for (const std::uint32_t outstanding : {outstanding_many, 1U}) {
        into.declare("simulation",
                     {{fmt::format("whole_stack_{}", outstanding), "/s", better::higher,
                       fmt::format("requests answered per second of processor time, without faults: {} clients with {} "
                                   "requests outstanding each encode them; simulated TCP, the venue inline without a "
                                   "journal, its feed; the clients decode the answers, and a subscriber rebuilds the "
                                   "books",
                                   clients_count, outstanding)}},
                     1, 1, 3);
    }
    into.declare("simulation",
                 {{"under_faults", "/s", better::higher,
                   "requests answered per second of processor time under the faults of corro simulate: a "
                   "virtual second of 12 traders with 64 "
                   "requests outstanding each, journal in group, every checker, recovery and replay"}},
                 1, 1, 3);
    into.declare("simulation",
                 {{"time_compression", "to 1", better::higher,
                   "virtual seconds per second of processor time: 20 traders at 50 requests a second "
                   "each, with faults and every checker"}},
                 1, 1, 3);
    into.declare("simulation",
                 {{"thousand_seeds", "s", better::lower,
                   "processor time of 1,000 seeds of 30 virtual seconds on two processors: 500 times "
                   "the time of a seed, from as many as fit"}},
                 1, 1, 3);
    into.declare("simulation",
                 {{"short_seeds", "s", better::lower,
                   "processor time of 200 seeds of 2 virtual seconds, as in the test run: 200 times the "
                   "time of a seed, from as many as fit"}},
                 1, 1, 3);
}

void implement_simulation(registry& into) {
    for (const std::uint32_t outstanding : {outstanding_many, 1U}) {
        into.implement("simulation", fmt::format("whole_stack_{}", outstanding), "corro",
                       [outstanding](const run_parameters& how) { return measure_stack(how, outstanding); });
    }
    into.implement("simulation", "under_faults", "corro", [](const run_parameters& how) {
        return measure_runs(how.seconds, &busy_plan, [](const auto& all, std::uint64_t, double spent) {
            return static_cast<double>(all.requests_count) / spent;
        });
    });
    into.implement("simulation", "time_compression", "corro", [](const run_parameters& how) {
        return measure_runs(how.seconds, &steady_plan,
                            [](const auto& all, std::uint64_t, double spent) { return virtual_seconds(all) / spent; });
    });
    const auto per_seed = [&into](const char* row, std::chrono::nanoseconds time, double factor) {
        into.implement("simulation", row, "corro", [time, factor](const run_parameters& how) {
            return measure_runs(
                how.seconds, [time](std::uint64_t seed) { return plan_of(seed, time); },
                [factor](const auto&, std::uint64_t runs, double spent) {
                    return factor * spent / static_cast<double>(runs);
                });
        });
    };
    per_seed("thousand_seeds", 30s, 500);
    per_seed("short_seeds", 2s, 200);
}

}  // namespace corro::lab
