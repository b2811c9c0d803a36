// Test support: traders that survive the crashes of a venue of partitions, and their state. A crash may lose requests
// that the venue then reports as lost.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../system/exchange_under_test.hpp"
#include "base/random.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "domain/private_event.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "survivors.hpp"

namespace corro::testing::partitions {

/// A trader that survives the crashes. It stores all unanswered requests.
struct survivor {
    std::unique_ptr<client::order_session> session;
    std::unique_ptr<client::trader> trader;
    std::map<std::uint32_t, domain::command> outstanding;
    std::uint32_t last_answered = 0;
};

struct market {
    explicit market(std::uint64_t with_seed) : random(with_seed), seed(with_seed) {}

    io::context context;
    base::prng random;
    std::uint64_t seed;
    std::vector<survivor> traders = std::vector<survivor>(4);
    std::uint64_t lost_count = 0;  ///< requests that the venue reports as lost
    bool stopping = false;
    std::string failure;

    void fail(const std::string& what) {
        if (failure.empty()) failure = what;
    }
};

inline io::task<bool> come(market* m, survivor* s, std::uint32_t index, io::endpoint venue) {
    if (s->session != nullptr) {
        std::error_code error = co_await s->session->reconnect(venue);
        // A gateway may see the new connection before the end of the old one.
        for (int i = 0; i < 1'000 && error == client::logged_out(wire::logout_reason::already_logged_on); ++i) {
            static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
            error = co_await s->session->reconnect(venue);
        }
        if (error && is_broken_connection(error)) co_return false;
        if (error) m->fail("a session cannot go on: " + error.message());
        if (!error && !s->session->resend_not_accepted()) m->fail("requests that were not taken are no longer kept");
        co_return m->failure.empty();
    }
    client::credentials credentials = who(1 + index % 2, 1 + index / 2);
    credentials.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue, credentials);
    if (!session) {
        if (!is_broken_connection(session.error())) m->fail("logon: " + session.error().message());
        co_return false;
    }
    s->session = std::move(*session);
    std::vector<domain::instrument> instruments;
    s->session->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    const std::vector<domain::price_ticks> middles(2, domain::price_ticks{9'000});
    s->trader = std::make_unique<client::trader>(client::trader_options(), instruments, middles,
                                                 1 + index * 1'000'000'000ULL, m->seed + index);
    co_return true;
}

// A request that a crash lost has no effect. The trader treats it as refused.
inline void take_loss(market* m, survivor* s, std::uint32_t request) {
    const auto at = s->outstanding.find(request);
    if (at == s->outstanding.end()) return m->fail("a request is said to be lost that was answered");
    domain::event refusal;
    refusal.kind = domain::event_kind::order_rejected;
    refusal.flags = domain::event_flag::last_of_request;
    refusal.order.client_order = at->second.client_order;
    refusal.order.request = request;
    static_cast<void>(s->trader->on_event(refusal));
    s->outstanding.erase(at);
    ++m->lost_count;
}

/// Returns the request that an event completes. A fill names only its order.
inline std::uint32_t request_of(const survivor& s, const domain::event& e) {
    const std::uint32_t said = domain::request_of(e);
    if (said != 0) return said;
    const bool is_fill = e.kind == domain::event_kind::order_executed;
    const domain::client_order_id name = is_fill ? e.execution.client_order : e.order.client_order;
    for (const auto& [request, what] : s.outstanding) {
        if (what.client_order == name) return request;
    }
    return 0;
}

/// Takes the answers that have arrived. False if the session has ended.
inline bool take_answers(market* m, survivor* s) {
    while (true) {
        const auto answer = s->session->poll();
        if (!answer) {
            // A gateway that has lost its facility logs its clients out. The client reconnects as after a crash.
            if (answer.error() != client::logged_out(wire::logout_reason::shutting_down)) {
                m->fail("answers: " + answer.error().message());
            }
            return false;
        }
        if (!*answer) return true;
        if ((*answer)->gap) m->fail("answers are missing");
        if ((*answer)->reject) m->fail("a request was refused");
        if ((*answer)->event.reason == domain::reject_reason::request_lost) {
            take_loss(m, s, domain::request_of((*answer)->event));
            continue;
        }
        if (!s->trader->on_event((*answer)->event)) continue;
        if (s->outstanding.empty()) {
            m->fail("more answers than requests");
            continue;
        }
        const std::uint32_t request = request_of(*s, (*answer)->event);
        // Lost requests are refused after the answers of the others.
        if (request <= s->last_answered) m->fail("answers come in another order than requests");
        s->last_answered = request;
        if (s->outstanding.erase(request) != 1) m->fail("an answer to no request");
    }
}

inline io::task<void> trade(market* m, std::uint32_t index, io::endpoint venue) {
    survivor& s = m->traders[index];
    const bool there = co_await come(m, &s, index, venue);
    if (!there) co_return;
    while (take_answers(m, &s) && m->failure.empty() && (!m->stopping || !s.outstanding.empty())) {
        while (!m->stopping && s.outstanding.size() < outstanding_max) {
            const domain::command what = s.trader->next_request();
            const std::uint32_t request = s.session->send(what);
            if (request == 0) m->fail("the output buffer is full");
            s.outstanding.emplace(request, what);
        }
        const std::error_code written = co_await s.session->flush();
        if (written) co_return;
        const std::error_code read = co_await s.session->fill();
        if (read) co_return;
    }
}

/// Reads messages that others' requests have caused, up to the answer to a test message.
inline io::task<void> catch_up(market* m, survivor* s) {
    static_cast<void>(s->session->send_test(4711));
    while (s->session->last_echo() != 4711 && m->failure.empty()) {
        const std::error_code written = co_await s->session->flush();
        const std::error_code read = co_await s->session->fill();
        if (written || read || !take_answers(m, s)) co_return m->fail("a session ended before its test was answered");
    }
}

/// Waits for all answers, and compares the state of clients and venue.
/// @param snapshots  Of the feeds of all partitions, each of which has one instrument.
inline io::task<void> settle(market* m, io::endpoint order_entry, std::vector<io::endpoint> snapshots) {
    m->stopping = true;
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(trade(m, i, order_entry));
    co_await clients.join();
    for (survivor& s : m->traders) {
        if (m->failure.empty()) co_await catch_up(m, &s);
    }
    std::size_t orders_count = 0;
    for (std::size_t k = 0; k < snapshots.size(); ++k) {
        const auto truth = co_await client::feed_session::fetch_snapshot(snapshots[k]);
        if (!truth) co_return m->fail("snapshot: " + truth.error().message());
        orders_count += truth->book(domain::instrument_id{static_cast<std::uint32_t>(k + 1)})->orders_count();
    }
    std::size_t known_count = 0;
    for (const survivor& s : m->traders) known_count += s.trader->open_orders_count();
    EXPECT_EQ(known_count, orders_count) << "clients and venue agree on which orders are open";
}

}  // namespace corro::testing::partitions
