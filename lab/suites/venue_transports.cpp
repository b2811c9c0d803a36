// SPDX-License-Identifier: Apache-2.0
// Suite `venue`: one session of Corro Binary over each local transport. Venue and client are a process each, and both
// poll: they need a processor each.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "client/order_session.hpp"
#include "client/venue_endpoint.hpp"
#include "domain/private_event.hpp"
#include "io/task/block_on.hpp"
#include "lab/suites/venue_suite.hpp"

namespace corro::lab {
namespace {

constexpr unsigned outstanding_max = 64;
constexpr std::chrono::seconds heartbeat{60};
constexpr domain::price_ticks away_from_the_market{9'500};

/// What local programs reach a venue by.
constexpr std::array transports{"tcp", "unix", "shm"};

std::string round_trip_row(std::string_view over, std::string_view statistic) {
    return fmt::format("polling_order_{}_{}", over, statistic);
}

std::string rate_row(std::string_view over) {
    return fmt::format("polling_outstanding_{}_{}", outstanding_max, over);
}

/// No other process has this name.
std::string socket_name(std::string_view over) {
    return fmt::format("@corro-lab-{}-{}", over, ::getpid());
}

client::venue_endpoint address_of(std::string_view over, const venue_report& report) {
    const std::string text = over == "tcp" ? fmt::format("127.0.0.1:{}", report.orders_port.load())
                                           : fmt::format("{}:{}", over, socket_name(over));
    const auto parsed = client::venue_endpoint::parse(text);
    verify(parsed.has_value(), "the venue's address");
    return *parsed;
}

/// Orders that rest, each followed by its cancel.
domain::command request(std::uint64_t number) {
    domain::command c;
    c.kind = number % 2 == 0 ? domain::command_kind::enter_order : domain::command_kind::cancel_order;
    c.instrument = domain::instrument_id{1};
    c.client_order = domain::client_order_id{number / 2 + 1};
    if (number % 2 == 0) {
        c.order_terms().side = domain::side::buy;
        c.enter_order().price = away_from_the_market;
        c.enter_order().quantity = domain::quantity_lots{1};
    }
    return c;
}

void send(client::order_session& by, std::uint64_t number) {
    verify(by.send(request(number)) != 0, "room for a request");
}

bool is_last_answer(const std::expected<client::answer, std::error_code>& received) {
    verify(received && !received->reject, "an answer");
    verify(received->event.kind != domain::event_kind::order_rejected, "an order that is accepted");
    return domain::completes_request(received->event);
}

io::task<> round_trips(client::order_session* by, timed_run* run) {
    std::uint64_t number = 0;
    for (std::uint64_t begun = run->now(); begun != 0; begun = run->lap(begun)) {
        send(*by, number++);
        const std::error_code failed = co_await by->flush();
        verify(!failed, "sending");
        for (bool is_last = false; !is_last;) {
            const auto received = co_await by->next();
            is_last = is_last_answer(received);
        }
    }
}

io::task<> flood(client::order_session* by, timed_run* run) {
    std::uint64_t sent_count = 0;
    std::uint64_t answered_count = 0;
    for (std::uint64_t begun = run->now(); begun != 0;) {
        while (sent_count - answered_count < outstanding_max) send(*by, sent_count++);
        const std::error_code failed = co_await by->flush();
        verify(!failed, "sending");
        std::uint64_t answered_now = 0;
        while (answered_now == 0) {
            const std::error_code ended = co_await by->fill();
            verify(!ended, "receiving");
            for (auto received = by->poll(); !received || *received; received = by->poll()) {
                verify(received.has_value(), "an answer");
                if (is_last_answer(**received)) ++answered_now;
            }
        }
        answered_count += answered_now;
        begun = run->count(begun, answered_now);
    }
}

using session_work = io::task<> (*)(client::order_session*, timed_run*);

io::task<> log_on_and(session_work work, client::venue_endpoint at, gateway::account account, timed_run* run) {
    client::credentials who;
    who.account = account.id;
    who.key = account.key;
    who.heartbeat = heartbeat;
    const auto session = co_await client::order_session::log_on(at, who);
    verify(session.has_value(), "the logon");
    co_await work(session->get(), run);
    const std::error_code ended = co_await (*session)->log_out();
    verify(!ended, "the logout");
}

timed_run measured(const run_parameters& how, const corro_backend& by, std::string_view over, session_work work) {
    venue_settings settings;
    settings.configuration = venue_configuration();
    settings.configuration.order_entry_unix_listen = socket_name("unix");
    settings.configuration.order_entry_shm_listen = socket_name("shm");
    settings.busy_poll = true;
    std::optional<timed_run> run;
    run_beside_venue(settings, corro_venue(by), [&](const venue_report& report) {
        io::context_options options(*by.kind);
        options.busy_poll = std::chrono::seconds(1);
        io::context context(options);
        run.emplace(how.seconds);
        auto body = log_on_and(work, address_of(over, report), settings.configuration.accounts.front(), &*run);
        io::block_on(context, std::move(body));
    });
    return std::move(*run);
}

}  // namespace

void declare_venue_transports(registry& into) {
    constexpr int threads = 2;
    constexpr double time_factor = 1;
    for (const std::string_view over : transports) {
        std::vector<row> rows;
        for (const char* const statistic : {"p50", "p99", "p999"}) {
            rows.push_back({round_trip_row(over, statistic), "ns", better::lower,
                            fmt::format("from an order or its cancel to the last answer, {}, one session over {}; "
                                        "venue and client are a process each that polls",
                                        statistic, over)});
        }
        into.declare("venue", std::move(rows), threads, time_factor, venue_repeats_count);
        into.declare("venue",
                     {{rate_row(over), "/s", better::higher,
                       fmt::format("requests of one session over {} with {} outstanding; both processes poll", over,
                                   outstanding_max)}},
                     threads, time_factor, venue_repeats_count);
    }
}

void implement_venue_transports(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        for (const std::string_view over : transports) {
            const std::string subject = by.subject + "_inline";
            into.implement("venue", round_trip_row(over, "p50"), subject, [by, over](const run_parameters& how) {
                const timed_run run = measured(how, by, over, round_trips);
                measurement made;
                made.latency_ns = summary_of(run.latencies());
                made.values = {made.latency_ns->p50, made.latency_ns->p99, made.latency_ns->p999};
                return made;
            });
            into.implement("venue", rate_row(over), subject,
                           [by, over](const run_parameters& how) { return rate_of(measured(how, by, over, flood)); });
        }
    }
}

}  // namespace corro::lab
