// SPDX-License-Identifier: Apache-2.0
// Test support: traders and a subscriber that survive the venue's crashes, and their state.
//
// A crash of a venue of partitions may lose requests, which the venue then reports as lost; one of a single facility
// loses none.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../system/exchange_fixture.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "domain/private_event.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"

namespace corro::testing {

inline constexpr std::size_t outstanding_max = 16;

/// A trader that survives the venue's crashes. It stores all unanswered requests.
struct survivor {
    std::unique_ptr<client::order_session> session;
    std::unique_ptr<client::trader> trader;
    std::map<std::uint32_t, domain::command> outstanding;
    std::uint32_t last_answered = 0;
};

/// One market: the survivors and a subscriber of the feed.
struct market {
    explicit market(std::uint64_t with_seed) : random(with_seed), seed(with_seed) {}

    io::context context;
    base::prng random;
    std::uint64_t seed;
    std::vector<survivor> traders = std::vector<survivor>(4);
    std::unique_ptr<client::feed_session> feed;
    bool stopping = false;           ///< no new requests; outstanding ones are awaited
    std::string failure;             ///< the first violation
    bool lost = false;               ///< a client knows more than the venue: an acknowledged command is lost
    bool may_lose_requests = false;  ///< with partitions
    std::uint64_t lost_count = 0;    ///< requests that the venue reports as lost

    void fail(const std::string& what) {
        if (failure.empty()) failure = what;
    }
};

/// Whether an error means a lost connection, as after a crash, and not a refusal of the venue.
inline bool is_broken_connection(const std::error_code& error) {
    return error.category() == std::system_category() || error.category() == std::generic_category() ||
           error == io::condition::end_of_stream;
}

inline io::task<bool> come(market* m, survivor* s, std::uint32_t index, io::endpoint venue) {
    if (s->session != nullptr) {
        std::error_code error = co_await s->session->reconnect(venue);
        // The venue may see the new connection before the end of the old one.
        for (int i = 0; i < 1'000 && error == client::logged_out(wire::logout_reason::already_logged_on); ++i) {
            static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
            error = co_await s->session->reconnect(venue);
        }
        if (error && is_broken_connection(error)) co_return false;
        if (error == client::logged_out(wire::logout_reason::sequence_unknown)) m->lost = true;
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
    if (!m->may_lose_requests) return m->fail("a request is said to be lost, of a venue that loses none");
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

inline void take_answer(market* m, survivor* s, const domain::event& event) {
    if (event.reason == domain::reject_reason::request_lost) return take_loss(m, s, domain::request_of(event));
    if (!s->trader->on_event(event)) return;
    if (s->outstanding.empty()) return m->fail("more answers than requests");
    const std::uint32_t request = request_of(*s, event);
    // Lost requests are refused after the answers of the others.
    if (request <= s->last_answered) m->fail("answers come in another order than requests");
    s->last_answered = request;
    if (s->outstanding.erase(request) != 1) m->fail("an answer to no request");
}

/// Takes the answers that have arrived. False if the session has ended.
inline bool take_answers(market* m, survivor* s) {
    while (true) {
        const auto answer = s->session->poll();
        if (!answer) {
            // A gateway that has lost its facility logs its clients out. The client reconnects as after a crash.
            if (answer.error() != client::logged_out(wire::logout_reason::shutting_down))
                m->fail("answers: " + answer.error().message());
            return false;
        }
        if (!*answer) return true;
        if ((*answer)->gap) m->fail("answers are missing");
        if ((*answer)->reject) m->fail("a request was refused");
        if (!(*answer)->gap && !(*answer)->reject) take_answer(m, s, (*answer)->event);
    }
}

/// Trades until the venue ends, or after the market's stop until all requests are answered.
inline io::task<void> trade(market* m, std::uint32_t index, io::endpoint venue) {
    survivor& s = m->traders[index];
    const bool there = co_await come(m, &s, index, venue);
    if (!there) co_return;
    // Answers may have come together with the logon reply.
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

inline io::task<void> follow(market* m, io::endpoint feed, io::endpoint snapshots) {
    if (m->feed == nullptr) {
        auto joined = co_await client::feed_session::join(feed, snapshots);
        if (!joined) {
            if (!is_broken_connection(joined.error())) m->fail("feed: " + joined.error().message());
            co_return;
        }
        m->feed = std::move(*joined);
    } else {
        const std::error_code error = co_await m->feed->resume(feed);
        if (error && is_broken_connection(error)) co_return;
        if (error) co_return m->fail("the feed has a gap: " + error.message());
    }
    while (true) {
        const auto event = m->feed->poll();
        if (!event) co_return m->fail("the feed contradicts itself: " + event.error().message());
        if (*event) continue;
        const std::error_code read = co_await m->feed->fill();
        if (read) co_return;
    }
}

/// Returns the address of a trader's gateway.
template <class Venue>
[[nodiscard]] io::endpoint order_entry_of(const Venue& venue, std::uint32_t trader) {
    if constexpr (requires { venue.order_entry(trader); }) {
        return venue.order_entry(trader);
    } else {
        return venue.order_entry();
    }
}

/// Returns how many orders are open: according to the clients, and according to the books.
[[nodiscard]] inline std::size_t known_orders(const market& m) {
    std::size_t count = 0;
    for (const survivor& s : m.traders) count += s.trader->open_orders_count();
    return count;
}

[[nodiscard]] inline std::size_t orders_in(const client::market_image& books) {
    std::size_t count = 0;
    for (const std::uint32_t id : {1U, 2U}) count += books.book(domain::instrument_id{id})->orders_count();
    return count;
}

/// Waits until every request is answered, and every message has been read.
template <class Venue>
io::task<void> finish_trading(market* m, const Venue* venue) {
    m->stopping = true;
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(trade(m, i, order_entry_of(*venue, i)));
    co_await clients.join();
    for (survivor& s : m->traders) {
        if (m->failure.empty()) co_await catch_up(m, &s);
    }
}

/// Waits until everything is answered, and compares the orders that clients and a venue of partitions know.
/// @param snapshots  Of the feeds of all partitions, each of which has one instrument.
template <class Venue>
io::task<void> settle_partitions(market* m, const Venue* venue, std::vector<io::endpoint> snapshots) {
    co_await finish_trading(m, venue);
    std::size_t orders_count = 0;
    for (std::size_t k = 0; k < snapshots.size(); ++k) {
        const auto truth = co_await client::feed_session::fetch_snapshot(snapshots[k]);
        if (!truth) co_return m->fail("snapshot: " + truth.error().message());
        orders_count += truth->book(domain::instrument_id{static_cast<std::uint32_t>(k + 1)})->orders_count();
    }
    EXPECT_EQ(known_orders(*m), orders_count) << "clients and venue agree on which orders are open";
}

/// Waits until everything is answered and read, and compares the state of clients and venue.
template <class Venue>
io::task<void> settle(market* m, const Venue* venue) {
    io::task_scope following(m->context);
    following.spawn(follow(m, venue->feed(), venue->snapshots()));
    co_await finish_trading(m, venue);
    auto truth = co_await client::feed_session::fetch_snapshot(venue->snapshots());
    // A distributor in a process of its own may be behind the answers.
    for (int i = 0; truth && m->failure.empty() && known_orders(*m) != orders_in(*truth) && i < 100; ++i) {
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(50)));
        truth = co_await client::feed_session::fetch_snapshot(venue->snapshots());
    }
    if (!truth) m->fail("snapshot: " + truth.error().message());
    // A new subscriber may not have joined yet.
    const auto is_behind = [&] { return m->feed == nullptr || m->feed->next_sequence() < truth->next_sequence(); };
    for (int i = 0; truth && m->failure.empty() && is_behind() && i < 5'000; ++i)
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    if (m->feed == nullptr) m->fail("nobody could join the feed");
    following.request_stop();
    co_await following.join();
    if (!m->failure.empty()) co_return;
    for (const std::uint32_t id : {1U, 2U}) {
        const auto* ours = m->feed->book(domain::instrument_id{id});
        const auto* venues = truth->book(domain::instrument_id{id});
        EXPECT_EQ(ours->digest(), venues->digest()) << "the book that followed every crash is the venue's";
    }
    EXPECT_EQ(known_orders(*m), orders_in(*truth)) << "clients and venue agree on which orders are open";
}

}  // namespace corro::testing
