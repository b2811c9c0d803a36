// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/replay_session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <variant>

#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "recorded/replay/order_record.hpp"

namespace corro::recorded::replay {
namespace {

/// The run counts its client order ids from 1; at the venue they start here, away from those of other programs that
/// trade for the same account.
constexpr std::uint64_t client_order_base = std::uint64_t{1} << 60U;

/// Requests queued before they are sent, so that the venue works while more are planned.
constexpr int requests_per_write = 64;

void subtract_base(domain::client_order_id& id) noexcept {
    if (id.value >= client_order_base) id.value -= client_order_base;
}

/// The same event, with the client order ids of the run.
domain::event renamed(domain::event e) noexcept {
    switch (e.kind) {
        case domain::event_kind::order_entered:
        case domain::event_kind::order_amended:
        case domain::event_kind::order_cancelled:
        case domain::event_kind::order_rejected: subtract_base(e.order.client_order); break;
        case domain::event_kind::order_executed: subtract_base(e.execution.client_order); break;
        default: break;
    }
    return e;
}

}  // namespace

io::task<std::unique_ptr<replay_session>> replay_session::join(venue_addresses venue, client::credentials who) {
    auto orders = co_await client::order_session::log_on(venue.order_entry, who);
    if (!orders) {
        throw replay_error(
            fmt::format("order entry at {}: {}", venue.order_entry.to_string(), orders.error().message()));
    }
    auto feed = co_await client::feed_session::join(venue.feed, venue.snapshots);
    if (!feed) {
        throw replay_error(fmt::format("feed at {} with snapshots at {}: {}", venue.feed.to_string(),
                                       venue.snapshots.to_string(), feed.error().message()));
    }
    co_return std::unique_ptr<replay_session>(new replay_session(std::move(*orders), std::move(*feed)));
}

const domain::instrument& replay_session::instrument(std::string_view name) const {
    const domain::instrument* found = nullptr;
    std::string names;
    orders_->instruments().for_each([&](const domain::instrument& i) {
        if (i.name.view() == name) found = &i;
        fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", i.name.view());
    });
    if (found == nullptr) throw replay_error(fmt::format("the venue has no instrument {}; it has {}", name, names));
    const feed::book_image* const book = feed_->book(found->id);
    if (book == nullptr || book->orders_count() != 0) {
        throw replay_error(fmt::format("the venue's book of {} is not empty: it has {} orders", name,
                                       book == nullptr ? 0 : book->orders_count()));
    }
    return *found;
}

domain::command replay_session::command_of(const request& r, domain::instrument_id instrument) const noexcept {
    domain::command c = replay::command_of(r);
    c.instrument = instrument;
    c.client_order = domain::client_order_id{client_order_base + r.client_order.value};
    return c;
}

io::task<bool> replay_session::flush(driving* d) {
    const std::error_code error = co_await orders_->flush();
    if (error) d->end("sending: " + error.message());
    d->queued_count = 0;
    co_return !error;
}

// Waits until the recorded time is due. False when the replay ends.
io::task<bool> replay_session::keep_pace(driving* d, domain::time_ns recorded) {
    using clock = std::chrono::steady_clock;
    if (d->first_time == domain::time_ns{}) {
        d->first_time = recorded;
        d->started = clock::now();
    }
    const auto since_first = static_cast<double>((recorded - d->first_time).value);
    const auto due = std::chrono::nanoseconds(static_cast<std::int64_t>(since_first / d->speed));
    const auto wait = due - (clock::now() - d->started);
    if (wait.count() <= 0) co_return true;
    const bool is_flushed = co_await flush(d);
    if (!is_flushed) co_return false;
    const std::error_code stopped = co_await io::sleep_for(wait);
    co_return !stopped;
}

io::task<void> replay_session::send(driving* d) {
    while (!d->run.finished()) {
        const std::optional<outgoing> out = d->run.next();
        if (!out) {
            if (d->run.finished()) break;
            const bool is_flushed = co_await flush(d);
            if (!is_flushed) co_return;
            const std::error_code stopped = co_await d->moved.wait();
            if (stopped) co_return;
            continue;
        }
        if (d->speed > 0 && out->time != domain::time_ns{}) {
            const bool is_due = co_await keep_pace(d, out->time);
            if (!is_due) co_return;
        }
        const domain::command c = command_of(out->request, d->instrument);
        std::uint32_t number = orders_->send(c);
        while (number == 0) {
            const bool is_flushed = co_await flush(d);
            if (!is_flushed) co_return;
            number = orders_->send(c);
        }
        if (noted_ && out->time != domain::time_ns{}) noted_(number, out->time);
        if (c.kind == domain::command_kind::change_phase) phase_ = c.change_phase().phase;
        if (++d->queued_count == requests_per_write) {
            const bool is_flushed = co_await flush(d);
            if (!is_flushed) co_return;
        }
    }
    d->scope.request_stop();
}

io::task<void> replay_session::receive(driving* d) {
    while (true) {
        while (true) {
            const auto answer = orders_->poll();
            if (!answer) {
                d->end("the venue's answers: " + answer.error().message());
                co_return;
            }
            if (!*answer) break;
            if ((*answer)->reject) {
                const wire::reject& reject = *(*answer)->reject;
                d->end(fmt::format("the venue refused message {}, reason {}", reject.refused_sequence.value,
                                   static_cast<int>(reject.session_reject_reason)));
                co_return;
            }
            if (!d->run.on_private(renamed((*answer)->event))) {
                d->end("the venue sent an answer without a request");
                co_return;
            }
        }
        d->moved.set();
        const std::error_code error = co_await orders_->fill();
        if (error) {
            if (!d->scope.stop_requested()) d->end("the venue's answers: " + error.message());
            co_return;
        }
    }
}

io::task<void> replay_session::follow_feed(driving* d) {
    while (true) {
        while (d->run.feed_has_room()) {
            const auto event = feed_->poll();
            if (!event) {
                d->end("the feed: " + event.error().message());
                co_return;
            }
            if (!*event) break;
            d->run.on_public(**event);
            if (((*event)->flags & domain::event_flag::last_of_command) != 0) {
                d->run.on_public_complete((*event)->command);
            }
        }
        d->moved.set();
        if (!d->run.feed_has_room()) {
            // Answers are late; messages of the feed wait on its connection.
            const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(1));
            if (stopped) co_return;
            continue;
        }
        const std::error_code error = co_await feed_->fill();
        if (error) {
            if (!d->scope.stop_requested()) d->end("the feed: " + error.message());
            co_return;
        }
    }
}

io::task<void> replay_session::detect_timeout(driving* d) {
    std::uint64_t heard_before = 0;
    std::chrono::seconds silent{0};
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(std::chrono::seconds(1));
        if (stopped) co_return;
        const std::uint64_t heard = d->run.counts().private_events + d->run.counts().public_events;
        silent = heard != heard_before || !d->run.awaits_venue() ? std::chrono::seconds(0)
                                                                 : silent + std::chrono::seconds(1);
        heard_before = heard;
        if (silent >= silence_max) {
            d->end(fmt::format("the venue has not answered for {} seconds; {} requests are open", silent.count(),
                               d->run.in_flight_count()));
            co_return;
        }
    }
}

io::task<std::string> replay_session::wait_for_others(std::uint32_t count) {
    io::task_scope beside(co_await io::this_context());
    beside.spawn(orders_->keep_alive());
    beside.spawn(feed_->keep_alive());
    std::string failure = co_await ask_for_others(count);
    beside.request_stop();
    co_await beside.join();
    co_return failure;
}

io::task<std::string> replay_session::ask_for_others(std::uint32_t count) {
    constexpr std::chrono::milliseconds interval{200};
    for (std::uint64_t question = 1;; ++question) {
        static_cast<void>(orders_->ask_status(question));
        auto answer = co_await orders_->next();
        while (answer && !(*answer).told) answer = co_await orders_->next();
        if (!answer) {
            const bool is_stop = answer.error() == io::condition::canceled;
            co_return is_stop ? std::string("stopped") : "waiting for visitors: " + answer.error().message();
        }
        const auto* const status = std::get_if<wire::venue_status>((*answer).told.get());
        if (status != nullptr && status->sessions_count > count) co_return std::string();
        const std::error_code stopped = co_await io::sleep_for(interval);
        if (stopped) co_return std::string("stopped");
    }
}

io::task<std::string> replay_session::drive(replay_run* run, domain::instrument_id instrument, double speed) {
    io::task_scope scope(co_await io::this_context());
    driving d(*run, instrument, speed, scope);
    scope.spawn(orders_->keep_alive());
    scope.spawn(feed_->keep_alive());
    scope.spawn(receive(&d));
    scope.spawn(follow_feed(&d));
    scope.spawn(detect_timeout(&d));
    scope.spawn(send(&d));
    co_await scope.join();
    if (d.failure.empty() && !run->finished()) co_return std::string("stopped");
    co_return d.failure;
}

io::task<void> replay_session::leave(domain::instrument_id instrument) {
    domain::command all;
    all.kind = domain::command_kind::cancel_orders;
    all.instrument = instrument;
    all.cancel_orders().scope = domain::cancel_scope::session;
    static_cast<void>(orders_->send(all));
    if (phase_ != domain::trading_phase::continuous) {
        domain::command open;
        open.kind = domain::command_kind::change_phase;
        open.instrument = instrument;
        open.change_phase().phase = domain::trading_phase::continuous;
        static_cast<void>(orders_->send(open));
    }
    static_cast<void>(co_await orders_->log_out());  // a venue that has ended has no orders of this session
    feed_->abandon();
}

}  // namespace corro::recorded::replay
