// SPDX-License-Identifier: Apache-2.0
#include "load_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include "client/session_errors.hpp"
#include "domain/private_event.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "load_pace.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds logon_retry_interval{50};

struct sent_request {
    std::uint64_t ticks = 0;
    std::uint32_t number = 0;
    domain::command_kind kind{};
    domain::client_order_id order{};
};

/// One client: its session, its trader, its outstanding requests.
struct load_client {
    load_client(std::unique_ptr<client::order_session> s, client::trader t)
        : session(std::move(s)), trader(std::move(t)) {}

    /// Handles the end of the session: the client reconnects or gives up.
    void end(load_run& run, const std::error_code& error) {
        if (client::may_come_back(error)) {
            broken = error;
        } else {
            fail(run, error.message());
        }
    }
    void fail(load_run& run, std::string why) {
        run.errors.push_back(std::move(why));
        failed = true;
    }
    [[nodiscard]] bool is_over() const noexcept { return failed || broken; }

    std::unique_ptr<client::order_session> session;
    client::trader trader;
    std::deque<sent_request> under_way;
    std::error_code broken;  ///< the connection's error; none after a reconnection
    bool failed = false;
    bool is_answered = false;  ///< whether any of its requests is
};

/// The request with this number. The end if it is not under way.
auto find_request(load_client& c, std::uint64_t number) {
    return std::ranges::find(c.under_way, number, &sent_request::number);
}

/// The request that the event answers. A fill has no number, but names its order.
auto find_answered(load_client& c, const domain::event& by) {
    if (by.kind != domain::event_kind::order_executed) return find_request(c, domain::request_of(by));
    return std::ranges::find_if(c.under_way, [&](const sent_request& each) {
        return each.order == by.execution.client_order && each.kind != domain::command_kind::cancel_order;
    });
}

void note_answer(load_run& run, load_client& c, std::deque<sent_request>::iterator request) {
    run.round_trips[static_cast<std::size_t>(request->kind)].record(
        run.clock.between_ns(request->ticks, run.clock.now_ticks()));
    c.under_way.erase(request);
    ++run.answered_now;
}

// Processes all answers that have arrived.
void take_answers(load_run& run, load_client& c) {
    while (!c.is_over()) {
        const auto answer = c.session->poll();
        if (!answer) return c.end(run, answer.error());
        if (!*answer) return;
        if ((*answer)->gap) return c.fail(run, "the venue no longer has the missed answers");
        const auto& refusal = (*answer)->reject;
        const domain::event& event = (*answer)->event;
        const auto request = refusal ? find_request(c, refusal->refused_sequence.value) : find_answered(c, event);
        const bool is_known = request != c.under_way.end();
        // The session's client before this one may have been killed. What it had sent is answered first.
        if (!is_known && !c.is_answered) continue;
        c.is_answered = true;
        // The session has sent a cancel in place of a request that was refused before a crash of the venue.
        if (!refusal && !is_known && event.kind == domain::event_kind::order_rejected) continue;
        if (!refusal && !c.trader.on_event(event)) continue;
        if (refusal) c.trader.on_reject(refusal->session_reject_reason);
        if (!is_known) return c.fail(run, "received an answer that matches no request");
        note_answer(run, c, request);
    }
}

void send_one(load_run& run, load_client& c, std::uint64_t intended_ticks) {
    const domain::command request = c.trader.next_request();
    --run.quota_left;
    const std::uint32_t number = c.session->send(request);
    if (number == 0) {
        return c.fail(run, c.session->numbers_have_ended()
                               ? "the session has no more request numbers; use another session"
                               : "the client's output buffer is full; lower --rate or --outstanding");
    }
    c.under_way.push_back({intended_ticks, number, request.kind, request.client_order});
}

// Repeatedly sends as many requests as allowed, then takes the answers. The rate follows the venue.
io::task<void> closed_loop(load_run* run, load_client* c) {
    while (!c->is_over() && ((run->quota_left > 0 && !run->stop_now) || !c->under_way.empty())) {
        while (!c->failed && !run->stop_now && run->quota_left > 0 && c->session->not_accepted_count() == 0 &&
               c->under_way.size() < run->options.outstanding_max) {
            send_one(*run, *c, run->clock.now_ticks());
        }
        std::error_code error = co_await c->session->flush();
        const bool waits = !c->under_way.empty() || c->session->not_accepted_count() != 0;
        if (!error && waits) error = co_await c->session->fill();
        // Answers that have arrived count, even if the connection failed after them.
        take_answers(*run, *c);
        if (error && !c->is_over()) c->end(*run, error);
    }
}

io::task<void> paced_sender(load_run* run, load_client* c, pace* p) {
    while (!run->stop_now && run->quota_left > 0 && !c->is_over()) {
        std::chrono::nanoseconds wait = p->wait();
        if (c->under_way.size() >= client::sent_requests::capacity || c->session->not_accepted_count() != 0)
            wait = std::max<std::chrono::nanoseconds>(wait, std::chrono::milliseconds(1));
        if (wait.count() > 0) {
            const std::error_code error = co_await c->session->flush();
            if (error) co_return c->end(*run, error);
            const std::error_code stopped = co_await io::sleep_for(wait);
            if (stopped) co_return;
            continue;
        }
        send_one(*run, *c, p->due_ticks(*run));
        p->due += p->gap;
    }
    const std::error_code error = co_await c->session->flush();
    if (error && !c->is_over()) c->end(*run, error);
}

io::task<void> paced_receiver(load_run* run, load_client* c) {
    while (true) {
        take_answers(*run, *c);
        if (c->is_over()) co_return;
        const std::error_code error = co_await c->session->fill();
        if (!error) continue;
        take_answers(*run, *c);
        if (!c->is_over() && error != io::condition::canceled) c->end(*run, error);
        co_return;
    }
}

io::task<void> paced_loop(load_run* run, load_client* c, pace* p) {
    io::task_scope receiving(run->context);
    receiving.spawn(paced_receiver(run, c));
    co_await paced_sender(run, c, p);
    for (int i = 0; i < 1'000 && !c->under_way.empty() && !c->is_over(); ++i) {
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(5));
        if (stopped) break;
    }
    receiving.request_stop();
    co_await receiving.join();
}

// Waits until the session continues or has ended.
io::task<void> come_back(load_run* run, load_client* c) {
    const std::uint64_t since = run->outages.lost(c->broken.message());
    std::error_code error = std::exchange(c->broken, {});
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(run->options.patience_s);
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0 || !client::may_come_back(error)) break;
        const auto tried = co_await io::with_timeout(left, c->session->reconnect(run->venue));
        error = tried ? *tried : tried.error();
        if (!error) break;
        const std::error_code stopped = co_await io::sleep_for(logon_retry_interval);
        if (stopped) error = stopped;
    }
    const std::uint32_t untaken = error ? 0 : c->session->not_accepted_count();
    if (!error && c->session->resend_not_accepted()) {
        run->outages.back(since, untaken);
        co_return take_answers(*run, *c);  // some arrived with the logon reply
    }
    run->outages.gave_up();
    c->fail(*run, error ? "could not reconnect: " + error.message()
                        : "the client no longer has requests that the venue has not received");
}

io::task<void> trade(load_run* run, load_client* c, std::uint32_t index) {
    pace p(*run, index);
    while (!c->failed) {
        io::task_scope beating(run->context);
        beating.spawn(c->session->keep_alive());
        if (run->options.rate > 0) {
            co_await paced_loop(run, c, &p);
        } else {
            co_await closed_loop(run, c);
        }
        beating.request_stop();
        co_await beating.join();
        if (!c->broken) break;
        co_await come_back(run, c);
    }
}

// Another client, such as the traffic of `corro demo`, may use the first session: takes the next free one.
io::task<std::unique_ptr<client::order_session>> claim_session(load_run* run, std::uint32_t index, seat* where) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(run->options.wait_s);
    *where = run->seats[run->seats_tried++];
    while (true) {
        auto session = co_await client::order_session::log_on(run->venue, where->who);
        if (session) co_return std::move(*session);
        if (may_be_starting(session.error()) && !run->stop_now && std::chrono::steady_clock::now() < end) {
            const std::error_code stopped = co_await io::sleep_for(logon_retry_interval);
            if (!stopped) continue;
        }
        if (session.error() == client::logged_out(wire::logout_reason::already_logged_on) &&
            run->seats_tried < run->seats.size()) {
            *where = run->seats[run->seats_tried++];
            continue;
        }
        run->logon_error = session.error();
        ++run->logon_failures;
        if (run->logon_failures == 1) {
            run->errors.push_back(fmt::format("client {}: logon failed at {}: {}", index, run->venue.to_string(),
                                              session.error().message()));
        }
        co_return nullptr;
    }
}

}  // namespace

client::trader make_simulated_trader(const load_run& run, const wire::instrument_table& table,
                                     std::uint64_t client_order_base, std::uint32_t index) {
    std::vector<domain::instrument> instruments;
    table.for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    std::vector<domain::price_ticks> middles;
    for (const domain::instrument& i : instruments) {
        // The middle of the band; without a band, any valid price.
        const bool banded = i.price_high.value - i.price_low.value < domain::price_ticks_max;
        middles.push_back(domain::price_ticks{banded ? (i.price_low.value + i.price_high.value) / 2 : 10'000});
    }
    return client::trader(run.options.mix, std::move(instruments), std::move(middles), client_order_base,
                          run.options.seed * 1'000'003 + index);
}

io::task<void> run_client(load_run* run, std::uint32_t index) {
    seat where;
    auto session = co_await claim_session(run, index, &where);
    if (session == nullptr) {
        run->stop_now = true;
        run->all_logged_on.set();
        co_return;
    }
    client::trader trader = make_simulated_trader(*run, session->instruments(), where.client_order_base, index);
    load_client c(std::move(session), std::move(trader));
    if (++run->logged_on_count == run->options.clients_count) {
        run->started = run->clock.now_ticks();
        run->all_logged_on.set();
    }
    // Sends heartbeats while other clients log on.
    io::task_scope beating(run->context);
    beating.spawn(c.session->keep_alive());
    const std::error_code stopped = co_await run->all_logged_on.wait();
    beating.request_stop();
    co_await beating.join();
    if (!stopped && !run->stop_now) co_await trade(run, &c, index);
    run->lost += c.under_way.size();
    if (!c.failed) {
        const std::error_code error = co_await c.session->log_out();
        // All requests are answered, so a connection lost now needs no reconnection.
        if (error && !client::may_come_back(error)) run->errors.push_back("logout: " + error.message());
    }
    run->totals.add(c.trader.statistics());
}

}  // namespace corro::app
