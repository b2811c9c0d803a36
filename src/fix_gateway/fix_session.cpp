// SPDX-License-Identifier: Apache-2.0
// The course of a session: from accept to the end.
#include "fix_gateway/fix_session.hpp"

#include <algorithm>
#include <chrono>

#include "fix/net/connection.hpp"
#include "gateway/limits.hpp"
#include "gateway/session/queue_waits.hpp"
#include "io/loop/timer.hpp"
#include "io/result.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::fix_gateway {
namespace {

using gateway::end_reason;

/// The text of a Logout (5).
std::string_view words_of(end_reason why) noexcept {
    switch (why) {
        case end_reason::shutting_down: return "The venue closes";
        case end_reason::authentication_failed: return "The key was withdrawn";
        case end_reason::throttled: return "Far more requests than allowed";
        case end_reason::taken_over: return "Another connection has taken the session";
        case end_reason::journal_failed: return "The journal has failed";
        case end_reason::session_day_ended: return "The session's day has ended: numbers begin at 1";
        default: return "The session ends";
    }
}

}  // namespace

io::task<void> fix_session::run(std::unique_ptr<fix_session> s) {
    gateway::session_registry& registry = s->shared_.registry;
    registry.attach(*s);
    s->place_.set_conversation(s.get());
    if (registry.is_closing()) {
        s->end(end_reason::shutting_down);
    } else if (s->place_.is_evicted()) {
        s->evict();
    } else {
        io::task_scope logging_on(s->shared_.context);
        s->scope_ = &logging_on;
        logging_on.spawn(s->log_on());
        co_await logging_on.join();
        s->scope_ = nullptr;
    }
    if (s->is_on()) s->place_.prove();
    const bool was_active = s->is_on() && !s->is_ending();
    if (was_active) {
        s->course_.begin();
        co_await registry.begin(s.get(), &s->place_.from());
        io::task_scope active(s->shared_.context);
        s->scope_ = &active;
        s->session_->begin(fix::moment_on(s->shared_.context));
        active.spawn(s->write_pending());
        active.spawn(s->keep_time());
        active.spawn(s->read_requests());
        active.spawn(s->write_lists());
        if (s->is_ending()) active.request_stop();  // since before the scope
        co_await active.join();
        s->scope_ = nullptr;
    }
    if (s->is_on()) co_await s->give_up(was_active);
    if (!s->course_.is_gone()) {
        static_cast<void>(co_await io::with_timeout(gateway::farewell_timeout, s->leave()));
    }
    s->stream_.close();
    registry.log(*s, s->place_.from(),
                 was_active ? telemetry::log_record_kind::left : telemetry::log_record_kind::logon_refused,
                 gateway::number_of(s->course_.reason().value_or(end_reason::connection_lost)));
    registry.detach(*s);
    s->place_.set_conversation(nullptr);
}

// Another connection may have the session only after the cancel on disconnect stands in the queue, and after the last
// number of this one is in the journal.
io::task<void> fix_session::give_up(bool was_active) {
    gateway::session_registry& registry = shared_.registry;
    if (was_active) {
        co_await registry.end_requests(this, course_.reason() == end_reason::logged_out);
        if (course_.may_send()) {
            const auto settled = co_await io::with_timeout(gateway::farewell_timeout, log_out());
            if (!settled) lose();
        }
        if (course_.reason() != end_reason::taken_over) co_await registry.reset_if_due(this);
    }
    // A note that waits for the journal counts when it comes there; nothing of its messages has left.
    registry.release(*this);
}

bool fix_session::end(end_reason why) noexcept {
    if (!course_.end(why)) return false;
    if (scope_ != nullptr) scope_->request_stop();
    return true;
}

// Before a Logon there are no numbers, and so there are no words.
void fix_session::evict() noexcept {
    end(end_reason::capacity);
    lose();
    stream_.close();
}

void fix_session::lose() noexcept {
    course_.lose();
    stop_answers();
}

void fix_session::cut(end_reason why) noexcept {
    const bool was_ending = is_ending();
    if (course_.cut(why)) ++shared_.statistics.slow_cut;
    stop_answers();
    if (!was_ending && scope_ != nullptr) scope_->request_stop();
}

// fix::session has come to an end by itself: what the peer has sent, or not sent, is the reason.
void fix_session::end_with_session() noexcept {
    if (is_ending()) return;
    const std::string_view why = session_->ended_because();
    if (why == "the peer logged out" || why == "logged out") {
        end(end_reason::logged_out);
    } else if (why == "no answer to a TestRequest") {
        ++shared_.statistics.idle_cut;
        end(end_reason::idle_timeout);
    } else {
        ++shared_.statistics.protocol_errors;
        end(end_reason::protocol_error);
    }
}

// The session may set a nearer time when a Logout begins, and when the Logon has told the interval.
io::task<void> fix_session::keep_time() {
    while (!is_over()) {
        const fix::instant now = fix::moment_on(shared_.context);
        constexpr std::int64_t longest = 3'600'000'000'000;
        const std::int64_t next = is_restarting_ ? now.steady + longest : session_->next_time();
        if (next <= now.steady) {
            session_->pass(now);
            output_ready_.set();
            continue;
        }
        wakes_at_ = next;
        const std::chrono::nanoseconds wait{std::min(next - now.steady, longest)};
        const auto changed = co_await io::with_timeout(wait, time_changed_.wait());
        if (changed && *changed) co_return;  // stopped
        if (scope_ == nullptr || scope_->stop_requested()) co_return;
    }
    end_with_session();
}

// Every request that was taken is answered, also when the session ends right behind it.
io::task<void> fix_session::settle() {
    const std::uint64_t position = shared_.commands.pushed_count();
    while (true) {
        const bool written = co_await drain();
        if (!written || shared_.commands.answered_count() >= position) co_return;
        shared_.commands.room().reset();
        const std::error_code stopped = co_await shared_.commands.room().wait();
        if (stopped) co_return;
    }
}

io::task<void> fix_session::log_out() {
    if (session_->may_send()) co_await settle();
    if (session_->may_send() && course_.may_send()) {
        session_->log_out(words_of(course_.reason().value_or(end_reason::connection_lost)),
                          fix::moment_on(shared_.context));
        stop_answers();  // those behind a Logout are for the next connection
    }
    const bool written = co_await drain();
    static_cast<void>(written);
}

// What was sent is not lost with the connection: waits until the peer closes too.
io::task<void> fix_session::leave() {
    if (session_ == nullptr) co_return;
    static_cast<void>(co_await stream_.shutdown());
    std::vector<std::byte> room(1'024);
    while (!course_.is_gone()) {
        io::io_result read;
        if (io::stream_socket* const socket = stream_.socket()) {
            read = co_await socket->read_some(room);
        } else {
            read = co_await stream_.layered().read_some(room);
        }
        if (read.error) co_return;
    }
}

}  // namespace corro::fix_gateway
