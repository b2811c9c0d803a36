// SPDX-License-Identifier: Apache-2.0
#include "simulation/subscriber.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include "client/session_errors.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "simulation/connections.hpp"

namespace corro::simulation {

using namespace std::chrono_literals;

io::task<void> subscriber::run() {
    while (!ending_) {
        const bool is_there = co_await come();
        if (is_there) co_await follow();
        if (!ending_) static_cast<void>(co_await io::sleep_for(reconnect_pause));
    }
    if (session_ != nullptr) session_->abandon();
}

io::task<bool> subscriber::come() {
    if (session_ != nullptr) {
        const auto tried = co_await io::with_timeout(logon_patience, session_->resume(settings_.feed));
        const std::error_code error = error_of(tried);
        if (!error) co_return true;
        const bool has_gap = !is_broken_connection(error);
        if (has_gap && settings_.may_join_again) {
            session_.reset();
            ++joins_count_;
        } else if (has_gap) {
            found_->add("N1", "the feed has a gap: " + error.message());
        }
        co_return false;
    }
    auto joined =
        co_await io::with_timeout(logon_patience, client::feed_session::join(settings_.feed, settings_.snapshots));
    if (!joined) co_return false;
    if (!*joined) {
        if (!is_broken_connection(joined->error()) && !settings_.may_join_again) {
            found_->add("N1", "nobody can join the feed: " + joined->error().message());
        }
        co_return false;
    }
    session_ = std::move(**joined);
    co_return true;
}

io::task<void> subscriber::follow() {
    const io::context& here = co_await io::this_context();
    io::task_scope beside(co_await io::this_context());
    beside.spawn(session_->keep_alive());
    std::chrono::nanoseconds heard = since_beginning(here);
    while (!ending_) {
        const auto event = session_->poll();
        if (!event) {
            // A venue whose journal has failed ends its feed in order.
            const bool may_end = settings_.disk_may_fail && event.error() == client::session_errc::end_of_session;
            if (!may_end) found_->add("N1", "the feed contradicts itself: " + event.error().message());
            break;
        }
        if (*event) {
            ++messages_count_;
            continue;
        }
        const auto filled = co_await io::with_timeout(100ms, session_->fill());
        const std::error_code read = error_of(filled);
        if (!read) heard = since_beginning(here);
        if (read && read != io::condition::timed_out) break;
        if (since_beginning(here) - heard > 20s) break;  // the feed's heartbeats have stopped
    }
    beside.request_stop();
    session_->abandon();
    co_await beside.join();
}

}  // namespace corro::simulation
