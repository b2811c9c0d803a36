// SPDX-License-Identifier: Apache-2.0
// `corro load`: runs many clients with a seeded mix of requests and reports the results.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/corro/desk/folded_table.hpp"
#include "commands.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "load_client.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/latency_tables.hpp"
#include "process.hpp"
#include "terminal.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

// The longest wait for unanswered requests at the end of the run. A venue whose journal has failed, for instance, never
// answers them.
constexpr int last_answers_wait_s = 10;

// An attempt to log on that takes longer is given up for the next one.
constexpr std::chrono::milliseconds attempt_max{4'000};

// Prints the progress and ends the run when its time is over.
io::task<void> show_progress(load_run* run, io::task_scope* clients) {
    std::uint64_t before = 0;
    int seconds_ending = 0;
    for (double seconds = 1; !co_await io::sleep_for(std::chrono::seconds(1)); ++seconds) {
        const std::uint32_t there = run->logged_on_count - run->outages.disconnected_count();
        fmt::print(stderr, "{:5.0f} s  {} of {} clients logged on  {:>10} answered  {:>9}/s\n", seconds, there,
                   run->options.clients_count, run->answered_now, run->answered_now - before);
        before = run->answered_now;
        if (seconds >= run->options.seconds_max && !run->stop_now) {
            fmt::print(stderr, "the time given by --seconds is over\n");
            run->stop_now = true;
        }
        if (run->stop_now && ++seconds_ending == last_answers_wait_s) {
            fmt::print(stderr, "the venue does not answer the requests in progress; not waiting any longer\n");
            clients->request_stop();
        }
    }
}

// A venue closes connections beyond this number that have not logged on (gateway::strangers_max).
constexpr std::uint32_t logging_on_max = 1'000;
// Fewer of them by FIX, of one address (fix_gateway::fix_connections_max).
constexpr std::uint32_t fix_logging_on_max = 256;

// The first signal waits up to last_answers_wait_s for outstanding answers; the second does not wait.
io::task<void> handle_signals(load_run* run, io::signal_set* signals, io::task_scope* clients) {
    const auto first = co_await signals->wait();
    if (!first) co_return;
    run->stop_now = true;
    run->all_logged_on.set();
    const auto second = co_await signals->wait();
    if (second) clients->request_stop();
}

io::task<void> run_all(load_run* run) {
    io::signal_set signals(run->context, {SIGINT, SIGTERM});
    io::task_scope clients(run->context);
    io::task_scope watching(run->context);
    watching.spawn(show_progress(run, &clients));
    watching.spawn(handle_signals(run, &signals, &clients));
    const std::uint32_t at_once_max = run->options.fix ? fix_logging_on_max : logging_on_max;
    for (std::uint32_t i = 0; i < run->options.clients_count; ++i) {
        clients.spawn(run->options.fix ? run_fix_client(run, i) : run_client(run, i));
        while (i + 1 >= run->logged_on_count + at_once_max && !run->stop_now) {
            const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(1));
            if (stopped) break;
        }
    }
    co_await clients.join();
    watching.request_stop();
    co_await watching.join();
}

std::vector<seat> seats_of(const node::configuration& c, bool by_fix) {
    std::vector<seat> seats;
    for (const gateway::account& a : c.accounts) {
        for (std::uint32_t number = 1; number <= a.sessions_count; ++number) {
            if (a.speaks_fix(number) != by_fix) continue;
            seat s;
            if (by_fix) s.fix_name = a.fix_names[number - 1];
            s.who.account = a.id;
            s.who.session_number = number;
            s.who.key = a.key;
            s.who.heartbeat = std::chrono::milliseconds(30'000);
            s.who.logon_timeout = attempt_max;
            s.client_order_base = (std::uint64_t{number} << 32U) + 1;
            seats.push_back(s);
        }
    }
    return seats;
}

void print_load(const load_run& run, double seconds) {
    static constexpr std::array<const char*, 5> names{"", "enter_order", "amend_order", "cancel_order",
                                                      "cancel_orders"};
    const auto& t = run.totals;
    std::string table = node::latency_heading("request");
    base::latency_histogram all;
    for (std::size_t kind = 1; kind < names.size(); ++kind) {
        if (run.round_trips[kind].empty()) continue;
        table += node::latency_line(names[kind], run.round_trips[kind]);
        all.merge(run.round_trips[kind]);
    }
    table += node::latency_line("all", all);
    fmt::print("\nround trip at the client (microseconds)\n{}", desk::folded_tables(table, columns_of_output()));
    fmt::print("\n{} clients sent {} requests in {:.2f} s: {:.0f} answered per second\n", run.options.clients_count,
               t.requests, seconds, static_cast<double>(t.answered) / seconds);
    fmt::print("answered once {}, lost {}, fills {}, refused {}\n", t.answered, run.lost, t.fills, t.refused);
    run.outages.print();
    const auto print_reason = [](std::string_view reason, std::uint64_t count) {
        if (count != 0) fmt::print("  refused {:<28}{:>10}\n", reason, count);
    };
    for (std::size_t reason = 0; reason < t.refused_by_reason.size(); ++reason) {
        print_reason(to_string(static_cast<domain::reject_reason>(reason)), t.refused_by_reason[reason]);
        print_reason(to_string(static_cast<wire::session_reject_reason>(reason)), t.rejected_by_reason[reason]);
    }
}

void print_errors(const load_run& run) {
    for (std::size_t i = 0; i < run.errors.size() && i < 10; ++i) fmt::print(stderr, "error: {}\n", run.errors[i]);
    if (run.errors.size() > 10) fmt::print(stderr, "and {} errors more\n", run.errors.size() - 10);
}

void check_mix(const client::trader_options& mix) {
    const auto sum = mix.new_percent + mix.cancel_percent;
    if (sum <= 100) return;
    throw node::configuration_error(
        fmt::format("--new {} and --cancel {} are {} percent together; they may be at most 100", mix.new_percent,
                    mix.cancel_percent, sum));
}

int load(const load_options& options) {
    raise_descriptor_limit();
    check_mix(options.mix);
    const node::configuration configuration = node::load_configuration(options.config);
    std::vector<seat> seats = seats_of(configuration, options.fix);
    if (seats.size() < options.clients_count) {
        throw node::configuration_error(
            fmt::format("{}: the accounts have only {} sessions {}for {} clients; {}", options.config, seats.size(),
                        options.fix ? "by FIX " : "", options.clients_count,
                        options.fix ? "add more [[fix_session]]" : "raise account.sessions"));
    }
    io::context_options loop;
    if (options.polls) loop.busy_poll = std::chrono::seconds(1);
    io::context context(loop);
    load_run run(context, options);
    if (options.fix) {
        run.fix_venue = fix_order_entry_of(configuration, options.config, options.order_entry);
        run.venue = run.fix_venue.at;
        run.fix_venue_name = configuration.fix_comp_id;
        for (const domain::instrument& i : configuration.instruments) run.instruments.define(i);
    } else {
        run.venue = order_entry_of(configuration, options.config, options.order_entry);
    }
    run.quota_left = options.messages_count;
    run.seats = std::move(seats);
    io::block_on(context, run_all(&run));
    if (run.started != 0) {
        print_load(run, static_cast<double>(run.clock.between_ns(run.started, run.clock.now_ticks())) / 1e9);
    }
    print_errors(run);
    if (run.started == 0) {
        fmt::print(stderr, "no request was sent: {} of {} clients could log on at {}\n", run.logged_on_count,
                   run.options.clients_count, run.venue.to_string());
        if (const auto advice = logon_advice(run.logon_error); !advice.empty()) fmt::print(stderr, "{}\n", advice);
    }
    return run.errors.empty() && run.lost == 0 && run.started != 0 && run.totals.answered == run.totals.requests ? 0
                                                                                                                 : 1;
}

}  // namespace

void add_load_command(command_line& line) {
    auto options = std::make_shared<load_options>();
    const subcommand command = line.add_subcommand("load", "Load the exchange with many clients and measure");
    command.add_option("-c,--config", options->config, "The exchange's configuration: keys and address")
        .shows_default();
    add_order_entry_options(command, options->order_entry);
    command.add_flag("--fix", options->fix, "Log on by FIX, with the names of the configuration's [[fix_session]]");
    command.add_option("-n,--clients", options->clients_count, "Connections").shows_default().in_range(1, 10'000);
    command.add_option("-m,--messages", options->messages_count, "Total number of requests")
        .shows_default()
        .in_range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000});
    command
        .add_option("-o,--outstanding", options->outstanding_max,
                    "Maximum unanswered requests per client, without --rate")
        .shows_default()
        .in_range(1, 512);
    command
        .add_option("--rate", options->rate,
                    "Total requests per second, sent at fixed times; 0: as fast as the venue answers")
        .shows_default()
        .not_negative();
    command.add_flag("--poll", options->polls,
                     "Poll for answers instead of sleeping; takes a processor, and shows what shared memory can do");
    command.add_option("--patience", options->patience_s, "Seconds that a client retries a lost connection")
        .shows_default()
        .in_range(0.0, 1e9);
    command.add_option("--wait", options->wait_s, "Seconds to wait for a venue that is starting")
        .shows_default()
        .in_range(0.0, 1e9);
    command.add_option("--seconds", options->seconds_max, "Maximum duration in seconds").shows_default().positive();
    command.add_option("--seed", options->seed, "Seed of the request mix").shows_default();
    command.add_option("--new", options->mix.new_percent, "Percent of new orders").shows_default().in_range(0U, 100U);
    command.add_option("--cancel", options->mix.cancel_percent, "Percent of cancels; the rest are amendments")
        .shows_default()
        .in_range(0U, 100U);
    command.add_option("--market", options->mix.market_percent, "Percent of the new orders that are market orders")
        .shows_default()
        .in_range(0U, 100U);
    command.runs([options] { return load(*options); });
}

}  // namespace corro::app
