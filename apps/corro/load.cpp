// `corro load`: many clients at once, a seeded mix of requests, and what came of them.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/histogram.hpp"
#include "base/tsc_clock.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "commands.hpp"
#include "io/block_on.hpp"
#include "io/context.hpp"
#include "io/event.hpp"
#include "io/scope.hpp"
#include "io/signals.hpp"
#include "io/timer.hpp"
#include "node/configuration.hpp"
#include "node/latency_tables.hpp"
#include "process.hpp"

namespace corro::app {
namespace {

struct load_options {
    std::string config = "corro.toml";
    std::string venue;
    std::uint32_t clients_count = 10;
    std::uint64_t messages_count = 100'000;
    std::uint32_t outstanding_max = 1;
    double rate = 0;
    double seconds_max = 600;
    std::uint64_t seed = 1;
    client::trader_options mix;
};

/// Where one client may log on.
struct seat {
    client::credentials who;
    std::uint64_t client_order_base = 0;
};

/// What all clients share.
struct load_run {
    load_run(io::context& on, const load_options& o) : context(on), options(o), started(), stop_now(false) {}

    io::context& context;
    const load_options& options;
    base::tsc_clock clock;
    io::endpoint venue;
    std::vector<seat> seats;      ///< all that the configuration has, those of this run's clients first
    std::size_t seats_tried = 0;  ///< from the front
    io::manual_event all_logged_on;
    std::uint32_t logged_on_count = 0;
    std::uint64_t quota_left = 0;  ///< requests that nobody has taken yet
    std::uint64_t started;
    bool stop_now;
    std::array<base::latency_histogram, 5> round_trips;  ///< by kind of request
    client::trader_statistics totals;
    std::uint64_t answered_now = 0;
    std::uint64_t lost = 0;
    std::vector<std::string> errors;
    std::uint32_t active_count = 0;
};

struct sent_request {
    std::uint64_t ticks = 0;
    domain::command_kind kind{};
};

/// One client: its session, its trader, its requests under way.
struct load_client {
    load_client(std::unique_ptr<client::order_session> s, client::trader t)
        : session(std::move(s)), trader(std::move(t)) {}

    std::unique_ptr<client::order_session> session;
    client::trader trader;
    std::deque<sent_request> under_way;
    bool failed = false;
};

void note_answer(load_run& run, load_client& c) {
    const sent_request& oldest = c.under_way.front();
    run.round_trips[static_cast<std::size_t>(oldest.kind)].record(
        run.clock.between_ns(oldest.ticks, run.clock.now_ticks()));
    c.under_way.pop_front();
    ++run.answered_now;
}

// Takes every answer that has arrived. False: the session is over.
bool take_answers(load_run& run, load_client& c) {
    while (true) {
        const auto answer = c.session->poll();
        if (!answer) {
            run.errors.push_back(answer.error().message());
            return false;
        }
        if (!*answer) return true;
        if ((*answer)->reject) {
            c.trader.on_reject();
            note_answer(run, c);
        } else if (c.trader.on_event((*answer)->event)) {
            if (c.under_way.empty()) {
                run.errors.emplace_back("an answer came that belongs to no request");
                return false;
            }
            note_answer(run, c);
        }
    }
}

bool send_one(load_run& run, load_client& c, std::uint64_t intended_ticks) {
    const domain::command request = c.trader.next_request();
    --run.quota_left;
    if (c.session->send(request) == 0) {
        run.errors.emplace_back("the client's own output buffer is full; lower --rate or --outstanding");
        return false;
    }
    c.under_way.push_back({intended_ticks, request.kind});
    return true;
}

// As many requests as allowed at once, then the answers, and again: the rate follows the venue.
io::task<void> closed_loop(load_run* run, load_client* c) {
    while (!run->stop_now && (run->quota_left > 0 || !c->under_way.empty())) {
        while (run->quota_left > 0 && c->under_way.size() < run->options.outstanding_max) {
            if (!send_one(*run, *c, run->clock.now_ticks())) c->failed = true;
        }
        std::error_code error = co_await c->session->flush();
        if (!error && !c->under_way.empty()) error = co_await c->session->fill();
        if (error) run->errors.push_back(error.message());
        if (error || c->failed || !take_answers(*run, *c)) {
            c->failed = true;
            co_return;
        }
    }
}

// Requests at their intended times, whatever the venue does; the wait of a late one counts as latency.
io::task<void> paced_sender(load_run* run, load_client* c, std::uint32_t index) {
    const double per_client = run->options.rate / run->options.clients_count;
    const auto gap =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(1 / per_client));
    const std::uint64_t begin_ticks = run->clock.now_ticks();
    const auto begin = std::chrono::steady_clock::now();
    auto due = gap * index / run->options.clients_count;
    while (!run->stop_now && run->quota_left > 0 && !c->failed) {
        const auto now = std::chrono::steady_clock::now() - begin;
        if (now < due) {
            if (co_await c->session->flush()) co_return;
            if (co_await io::sleep_for(due - now)) co_return;
            continue;
        }
        const std::uint64_t intended =
            begin_ticks + static_cast<std::uint64_t>(static_cast<double>(due.count()) *
                                                     run->clock.calibration().ticks_per_second / 1e9);
        if (!send_one(*run, *c, intended)) c->failed = true;
        due += gap;
    }
    if (co_await c->session->flush()) c->failed = true;
}

io::task<void> paced_receiver(load_run* run, load_client* c) {
    while (!c->failed && !(c->under_way.empty() && (run->quota_left == 0 || run->stop_now))) {
        const std::error_code error = co_await c->session->fill();
        if (error) co_return;
        if (!take_answers(*run, *c)) c->failed = true;
    }
}

io::task<void> paced_loop(load_run* run, load_client* c, std::uint32_t index) {
    io::task_scope receiving(run->context);
    receiving.spawn(paced_receiver(run, c));
    co_await paced_sender(run, c, index);
    for (int i = 0; i < 1'000 && !c->under_way.empty() && !c->failed; ++i) {
        if (co_await io::sleep_for(std::chrono::milliseconds(5))) break;
    }
    receiving.request_stop();
    co_await receiving.join();
}

io::task<void> run_client(load_run* run, std::uint32_t index) {
    seat where = run->seats[run->seats_tried++];
    auto session = co_await client::order_session::log_on(run->venue, where.who);
    // Somebody else, a demonstration's own traffic for instance, may sit there: the next free seat will do.
    while (!session && session.error() == client::logged_out(wire::logout_reason::already_logged_on) &&
           run->seats_tried < run->seats.size()) {
        where = run->seats[run->seats_tried++];
        session = co_await client::order_session::log_on(run->venue, where.who);
    }
    if (!session) {
        run->errors.push_back(fmt::format("client {}: logon failed: {}", index, session.error().message()));
        run->stop_now = true;
        run->all_logged_on.set();
        co_return;
    }
    std::vector<domain::instrument> instruments;
    (*session)->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    std::vector<domain::price_ticks> middles;
    for (const domain::instrument& i : instruments) {
        // The middle of the band; without a band, a price that is good for anything.
        const bool banded = i.price_high.value - i.price_low.value < domain::price_ticks_max;
        middles.push_back(domain::price_ticks{banded ? (i.price_low.value + i.price_high.value) / 2 : 10'000});
    }
    load_client c(std::move(*session), client::trader(run->options.mix, std::move(instruments), std::move(middles),
                                                      where.client_order_base, run->options.seed * 1'000'003 + index));
    if (++run->logged_on_count == run->options.clients_count) {
        run->started = run->clock.now_ticks();
        run->all_logged_on.set();
    }
    io::task_scope beating(run->context);
    beating.spawn(c.session->keep_alive());
    if (!co_await run->all_logged_on.wait() && !run->stop_now) {
        ++run->active_count;
        if (run->options.rate > 0) {
            co_await paced_loop(run, &c, index);
        } else {
            co_await closed_loop(run, &c);
        }
        --run->active_count;
    }
    beating.request_stop();
    co_await beating.join();
    run->lost += c.under_way.size();
    if (!c.failed) {
        if (const std::error_code error = co_await c.session->log_out()) {
            run->errors.push_back("logout: " + error.message());
        }
    }
    run->totals.add(c.trader.statistics());
}

io::task<void> show_progress(load_run* run) {
    std::uint64_t before = 0;
    for (double seconds = 1; !co_await io::sleep_for(std::chrono::seconds(1)); ++seconds) {
        fmt::print(stderr, "{:5.0f} s  {} of {} clients logged on  {:>10} answered  {:>9}/s\n", seconds,
                   run->logged_on_count, run->options.clients_count, run->answered_now, run->answered_now - before);
        before = run->answered_now;
        if (seconds >= run->options.seconds_max) {
            fmt::print(stderr, "the time given by --seconds is over\n");
            run->stop_now = true;
        }
    }
}

io::task<void> obey_signals(load_run* run, io::signal_set* signals) {
    const auto signal = co_await signals->wait();
    if (signal) run->stop_now = true;
}

io::task<void> run_all(load_run* run) {
    io::signal_set signals(run->context, {SIGINT, SIGTERM});
    io::task_scope watching(run->context);
    watching.spawn(show_progress(run));
    watching.spawn(obey_signals(run, &signals));
    io::task_scope clients(run->context);
    for (std::uint32_t i = 0; i < run->options.clients_count; ++i) clients.spawn(run_client(run, i));
    co_await clients.join();
    watching.request_stop();
    co_await watching.join();
}

std::vector<seat> seats_of(const node::configuration& c) {
    std::vector<seat> seats;
    for (const gateway::account& a : c.accounts) {
        for (std::uint32_t number = 1; number <= a.sessions_count; ++number) {
            seat s;
            s.who.account = a.id;
            s.who.session_number = number;
            s.who.key = a.key;
            s.who.heartbeat = std::chrono::milliseconds(30'000);
            s.client_order_base = (std::uint64_t{number} << 32U) + 1;
            seats.push_back(s);
        }
    }
    return seats;
}

void print_report(const load_run& run, double seconds) {
    static constexpr std::array<const char*, 5> names{"", "enter_order", "amend_order", "cancel_order",
                                                      "cancel_orders"};
    const auto& t = run.totals;
    fmt::print("\nround trip at the client (microseconds)\n{}", node::latency_heading("request"));
    base::latency_histogram all;
    for (std::size_t kind = 1; kind < names.size(); ++kind) {
        if (run.round_trips[kind].empty()) continue;
        fmt::print("{}", node::latency_line(names[kind], run.round_trips[kind]));
        all.merge(run.round_trips[kind]);
    }
    fmt::print("{}", node::latency_line("all", all));
    fmt::print("\n{} clients sent {} requests in {:.2f} s: {:.0f} answered per second\n", run.options.clients_count,
               t.requests, seconds, static_cast<double>(t.answered) / seconds);
    fmt::print("answered once {}, lost {}, fills {}, refused {}\n", t.answered, run.lost, t.fills, t.refused);
    for (std::size_t reason = 0; reason < t.refused_by_reason.size(); ++reason) {
        if (t.refused_by_reason[reason] == 0) continue;
        fmt::print("  refused {:<28}{:>10}\n", domain::to_string(static_cast<domain::reject_reason>(reason)),
                   t.refused_by_reason[reason]);
    }
}

void print_errors(const load_run& run) {
    for (std::size_t i = 0; i < run.errors.size() && i < 10; ++i) fmt::print(stderr, "error: {}\n", run.errors[i]);
    if (run.errors.size() > 10) fmt::print(stderr, "and {} errors more\n", run.errors.size() - 10);
}

int load(const load_options& options) {
    raise_descriptor_limit();
    const node::configuration configuration = node::load_configuration(options.config);
    std::vector<seat> seats = seats_of(configuration);
    if (seats.size() < options.clients_count) {
        throw node::configuration_error(
            fmt::format("{}: the accounts have only {} sessions for {} clients; raise account.sessions", options.config,
                        seats.size(), options.clients_count));
    }
    const std::string& address = options.venue.empty() ? configuration.order_entry_listen : options.venue;
    const auto venue = io::endpoint::parse(address);
    if (!venue) throw node::configuration_error(fmt::format("not an address: \"{}\"", address));
    io::context context;
    load_run run(context, options);
    run.venue = *venue;
    run.quota_left = options.messages_count;
    run.seats = std::move(seats);
    io::block_on(context, run_all(&run));
    if (run.started != 0) {
        print_report(run, static_cast<double>(run.clock.between_ns(run.started, run.clock.now_ticks())) / 1e9);
    }
    print_errors(run);
    if (run.started == 0) fmt::print(stderr, "no request was sent: not every client could log on\n");
    return run.errors.empty() && run.lost == 0 && run.started != 0 && run.totals.answered == run.totals.requests ? 0
                                                                                                                 : 1;
}

}  // namespace

void add_load_command(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<load_options>();
    CLI::App* command = app.add_subcommand("load", "Drive the exchange with many clients and measure");
    command->add_option("-c,--config", options->config, "The exchange's configuration: keys and address")
        ->capture_default_str();
    command->add_option("--venue", options->venue, "Order-entry address instead of the configuration's");
    command->add_option("-n,--clients", options->clients_count, "Connections")
        ->capture_default_str()
        ->check(CLI::Range(1, 10'000));
    command->add_option("-m,--messages", options->messages_count, "Requests in all")->capture_default_str();
    command->add_option("-o,--outstanding", options->outstanding_max, "Unanswered requests per client, without --rate")
        ->capture_default_str()
        ->check(CLI::Range(1, 512));
    command
        ->add_option("--rate", options->rate, "Requests per second in all, sent at their times; 0: as fast as answered")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    command->add_option("--seconds", options->seconds_max, "End after so long at the latest")->capture_default_str();
    command->add_option("--seed", options->seed, "Seed of the request mix")->capture_default_str();
    command->add_option("--new", options->mix.new_percent, "Percent of new orders")->capture_default_str();
    command->add_option("--cancel", options->mix.cancel_percent, "Percent of cancels; the rest are amends")
        ->capture_default_str();
    command->add_option("--market", options->mix.market_percent, "Percent of the new orders that are market orders")
        ->capture_default_str();
    command->callback([options, &exit_code] { exit_code = load(*options); });
}

}  // namespace corro::app
