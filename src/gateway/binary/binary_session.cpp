// SPDX-License-Identifier: Apache-2.0
// The course of a session: from accept to the end.
#include "gateway/binary/binary_session.hpp"

#include "base/defect.hpp"
#include "gateway/binary/wire_reasons.hpp"
#include "gateway/session/queue_waits.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::gateway {

io::task<void> binary_session::run(std::unique_ptr<binary_session> s) {
    session_registry& registry = s->shared_.registry;
    registry.attach(*s);
    s->place_.set_conversation(s.get());
    if (registry.is_closing()) {
        s->end(end_reason::shutting_down);  // accepted just before
    } else if (s->place_.is_evicted()) {
        s->evict();  // accepted just before, with many others
    } else {
        io::task_scope logging_on(s->shared_.context);
        s->scope_ = &logging_on;
        logging_on.spawn(s->log_on());
        co_await logging_on.join();
        s->scope_ = nullptr;
    }
    // A connection that was refused keeps a place that may be taken away: the ends of many would take more places than
    // there are.
    if (s->is_on()) s->place_.prove();
    const bool was_active = s->is_on() && !s->is_ending();
    if (was_active) {
        s->course_.begin();
        co_await registry.begin(s.get(), &s->place_.from());
        io::task_scope active(s->shared_.context);
        s->scope_ = &active;
        active.spawn(s->write_pending());
        active.spawn(s->keep_alive());
        active.spawn(s->read_requests());
        if (s->is_ending()) active.request_stop();  // since before the scope
        co_await active.join();
        s->scope_ = nullptr;
    }
    if (s->is_on()) co_await s->give_up(was_active);
    if (!s->course_.is_gone()) static_cast<void>(co_await io::with_timeout(farewell_timeout, s->leave()));
    registry.log(*s, s->place_.from(),
                 was_active ? telemetry::log_record_kind::left : telemetry::log_record_kind::logon_refused,
                 number_of(s->course_.reason().value_or(end_reason::connection_lost)));
    registry.detach(*s);
    s->place_.set_conversation(nullptr);
    s->shared_.buffers.give_back(s->channel_.take_buffers());
}

// Another connection may have the session only after the cancel on disconnect stands in the queue, before everything
// that it will enter. A connection that takes the session over finds in the log what this one has not sent.
io::task<void> binary_session::give_up(bool was_active) {
    session_registry& registry = shared_.registry;
    if (was_active) {
        co_await registry.end_requests(this, course_.reason() == end_reason::logged_out);
        const bool is_taken_over = course_.reason() == end_reason::taken_over;
        if (course_.may_send() && !is_taken_over) {
            const auto settled = co_await io::with_timeout(farewell_timeout, settle());
            if (!settled) lose();
        }
        if (!is_taken_over) co_await registry.reset_if_due(this);
    }
    registry.release(*this);
}

bool binary_session::end(end_reason why) noexcept {
    if (!course_.end(why)) return false;
    if (scope_ != nullptr) scope_->request_stop();
    return true;
}

// There is no room for a connection that has not logged on. On a plain socket it is sent the reason at once. What is
// layered over a socket may have to wait for that, which a few may do at the same time.
void binary_session::evict() noexcept {
    if (is_ending()) {
        // Its end takes too long.
        lose();
        return channel_.close();
    }
    end(end_reason::capacity);
    io::stream_socket* const socket = channel_.socket();
    if (socket == nullptr && place_.reserve_refusal()) return;
    if (socket != nullptr && channel_.output().empty()) {
        wire::logout logout;
        logout.logout_reason = wire_reason(end_reason::capacity);
        put(logout);
        channel_.try_write();
    }
    lose();
}

// The peer is not there any more, or must not be sent anything.
void binary_session::lose() noexcept {
    course_.lose();
    stop_answers();
}

io::task<void> binary_session::keep_alive() {
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(heartbeat_ / heartbeat_watch::looks_per_interval);
        if (stopped) co_return;
        switch (watch_.look()) {
            case heartbeat_watch::finding::nothing: break;
            case heartbeat_watch::finding::heartbeat_is_due:
                if (!CORRO_DEFECT(heartbeats_left_out)) put(wire::heartbeat{});
                break;
            case heartbeat_watch::finding::peer_is_silent:
                if (CORRO_DEFECT(silent_peer_kept)) break;
                ++shared_.statistics.idle_cut;
                end(end_reason::idle_timeout);
                co_return;
        }
    }
}

// Every request that was taken is answered, also when the session ends right behind it, and so is the cancel on
// disconnect: writes until everything that stands in the queue now has gone through the facility.
io::task<void> binary_session::settle() {
    const std::uint64_t position = shared_.commands.pushed_count();
    const bool caught_up = co_await resend();
    if (!caught_up) co_return;
    while (true) {
        const bool written = co_await drain();
        if (!written || shared_.commands.answered_count() >= position) co_return;
        shared_.commands.room().reset();
        const std::error_code stopped = co_await shared_.commands.room().wait();
        if (stopped) co_return;
    }
}

// What is buffered, the logout, and then until the peer closes too, so that what was sent is not lost with the
// connection.
io::task<void> binary_session::leave() {
    bool written = co_await drain();
    if (!written) co_return;
    if (course_.reason() == end_reason::logged_out) {
        put(wire::logout_ack{});
    } else if (course_.reason()) {
        wire::logout logout;
        logout.logout_reason = wire_reason(*course_.reason());
        put(logout);
    }
    written = co_await drain();
    if (!written) co_return;
    static_cast<void>(co_await channel_.shut_down());
    while (!course_.is_gone()) {
        channel_.discard_received();
        const io::io_result read = co_await channel_.fill();
        if (!take_in(read)) co_return;
    }
}

}  // namespace corro::gateway
