// Session, second part: the course of a connection, its heartbeats and its end.
#include <algorithm>
#include <memory>
#include <utility>

#include "gateway/disconnect_cancel.hpp"
#include "gateway/order_entry_connection.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::gateway {
namespace {

/// Until a push would succeed. False: stopped before there was room.
io::task<bool> wait_for_room(command_queue* commands) {
    while (!commands->has_room()) {
        commands->room().reset();
        const std::error_code stopped = co_await commands->room().wait();
        if (stopped) co_return false;
    }
    co_return true;
}

}  // namespace

// Puts into the journal what the session wants, before its first request: whoever finds it there when all of this has
// died cancels. A session that wants nothing, and of which nothing is noted, costs no command.
io::task<void> order_entry_gateway::journal_cancel_on_disconnect(connection* c) {
    c->session->old_cancel = {};
    if (c->only_listens) co_return;  // it has no orders
    if (!c->cancel_on_disconnect && !c->session->cancel_is_journaled) co_return;
    c->session->cancel_is_journaled = c->cancel_on_disconnect;
    const auto wanted = c->cancel_on_disconnect ? domain::switch_state::on : domain::switch_state::off;
    static_cast<void>(co_await submit(cancel_on_disconnect_command(c->session_id, c->account, wanted), 0, 0));
}

// The sessions that were connected when the venue died, and that have not come back.
io::task<void> order_entry_gateway::cancel_absent_sessions() {
    const bool any = std::ranges::any_of(sessions_, [](const session_state& s) { return s.old_cancel.value != 0; });
    if (!any) co_return;
    const std::error_code stopped = co_await io::sleep_for(grace_);
    if (stopped) co_return;
    for (std::uint32_t id = 1; id < sessions_.size(); ++id) {
        if (sessions_[id].old_cancel.value == 0) continue;
        bool room = co_await wait_for_room(&commands_);
        if (!room) co_return;
        // Nothing is waited for from here to the push: the orders of a session that comes back are not to be cancelled.
        const domain::account_id account = std::exchange(sessions_[id].old_cancel, domain::account_id{});
        if (account.value == 0 || sessions_[id].active != nullptr) continue;
        const domain::session_id session{id};
        bool taken = commands_.try_push(cancel_of_session(session, account));
        CORRO_ASSERT(taken, "there was room a moment ago");
        ++statistics_.cancels_after_start;
        room = co_await wait_for_room(&commands_);
        if (!room) co_return;
        // Somebody who has logged on meanwhile notes it again.
        if (sessions_[id].active != nullptr) continue;
        taken = commands_.try_push(cancel_on_disconnect_command(session, account, domain::switch_state::off));
        CORRO_ASSERT(taken, "there was room a moment ago");
        sessions_[id].cancel_is_journaled = false;
    }
}

// One connection, from accept to the end.
io::task<void> order_entry_gateway::converse(std::unique_ptr<connection> c, unauthenticated_connection* who) {
    connections_.push_back(c.get());
    who->conversation = c.get();
    c->from = who->from;
    if (closing_) {
        end(*c, end_reason::shutting_down);  // accepted just before
    } else if (who->evicted) {
        evict(*c, *who);  // accepted just before, with many others
    } else {
        io::task_scope logging_on(context_);
        c->scope = &logging_on;
        logging_on.spawn(log_on(c.get()));
        co_await logging_on.join();
        c->scope = nullptr;
    }
    // Who was refused stays an unauthenticated connection to the end: farewells of many would take more places than
    // there are.
    if (c->session != nullptr) admission_.prove(*who);
    const bool opened = c->session != nullptr && !c->ended;
    if (opened) {
        ++statistics_.logons;
        ++statistics_.sessions_now;
        log(*c, telemetry::log_record_kind::logged_on, static_cast<std::int64_t>(c->first_answer));
        co_await journal_cancel_on_disconnect(c.get());
        io::task_scope active(context_);
        c->scope = &active;
        active.spawn(write_pending(c.get()));
        active.spawn(keep_alive(c.get()));
        active.spawn(read_requests(c.get()));
        if (c->ended) active.request_stop();  // while the note waited for room
        co_await active.join();
        c->scope = nullptr;
        --statistics_.sessions_now;
    }
    if (c->session != nullptr) {
        if (opened && c->cancel_on_disconnect && !c->peer_logged_out) {
            ++statistics_.cancels_on_disconnect;
            static_cast<void>(co_await submit(cancel_of_session(c->session_id, c->account), 0, 0));
        }
        if (opened && c->cancel_on_disconnect) {
            c->cancel_on_disconnect = false;
            co_await journal_cancel_on_disconnect(c.get());
        }
        // Who takes the session over finds in the log what the old connection has not been sent.
        const bool is_taken_over = c->ended == end_reason::taken_over;
        if (opened && !c->peer_gone && !c->overflowed && !is_taken_over) {
            const auto settled = co_await io::with_timeout(farewell_timeout, settle(c.get()));
            if (!settled) c->peer_gone = true;
        }
        if (opened && !closing_ && !is_taken_over && is_of_before(c->session_id)) {
            static_cast<void>(co_await io::with_timeout(farewell_timeout, begin_day(c->session_id, c.get())));
        }
        // Free only now: the cancel must stand before whatever the session's next connection enters.
        c->session->active = nullptr;
        session_freed_.set();
    }
    if (!c->peer_gone) static_cast<void>(co_await io::with_timeout(farewell_timeout, leave(c.get())));
    log(*c, opened ? telemetry::log_record_kind::left : telemetry::log_record_kind::logon_refused,
        number_of(c->ended.value_or(end_reason::connection_lost)));
    // Answers may have come since the last flush; they are in the log.
    if (c->pending) std::erase(pending_, c.get());
    connections_.erase(std::find(connections_.begin(), connections_.end(), c.get()));
    who->conversation = nullptr;
    // Kept for the next session: large pieces that come and go among small ones would leave holes in the memory.
    if (c->memory != nullptr) spare_buffers_.push_back(std::move(c->memory));
}

void order_entry_gateway::log(const connection& c, telemetry::log_record_kind what, std::int64_t number) const {
    if (options_.log == nullptr) return;
    telemetry::log_record said(telemetry::component::gateway, what, number, context_.wall_now());
    said.session = c.session_id;
    said.account = c.account;
    if (c.from) said.set_address(c.from->to_string());
    if (what == telemetry::log_record_kind::logon_refused) said.severity = telemetry::severity::warning;
    options_.log->note(said);
}

// A peer that was silent for two intervals is gone; one that heard nothing from us for one gets a heartbeat. Looking
// four times an interval bounds the error of both.
io::task<void> order_entry_gateway::keep_alive(connection* c) {
    constexpr std::uint32_t looks_per_interval = 4;
    std::uint32_t silent_looks = 0;
    std::uint32_t mute_looks = 0;
    while (true) {
        if (co_await io::sleep_for(c->heartbeat / looks_per_interval)) co_return;  // stopped
        silent_looks = c->heard ? 0 : silent_looks + 1;
        mute_looks = c->said ? 0 : mute_looks + 1;
        c->heard = c->said = false;
        // The silence began up to one look before it was first seen, so that it has lasted for at least so many looks.
        if (silent_looks >= silent_intervals_max * looks_per_interval) {
            ++statistics_.idle_cut;
            end(*c, end_reason::idle_timeout);
            co_return;
        }
        if (mute_looks >= looks_per_interval - 1) {
            put(*c, wire::heartbeat{});
            c->output_ready.set();
        }
    }
}

// Every request that was taken is answered, also when the session ends right behind it, and so is the cancel on
// disconnect: writes until all that stands in the queue now has gone through the facility.
io::task<void> order_entry_gateway::settle(connection* c) {
    const std::uint64_t position = commands_.pushed_count();
    if (!co_await resend(c)) co_return;
    while (co_await drain(c) && commands_.answered_count() < position) {
        commands_.room().reset();
        if (co_await commands_.room().wait()) co_return;  // stopped
    }
}

// The last words of a connection: what is buffered, the logout, and then until the peer closes too, so that what we
// said is not lost with the connection.
io::task<void> order_entry_gateway::leave(connection* c) {
    if (!co_await drain(c)) co_return;
    if (c->peer_logged_out) {
        put(*c, wire::logout_ack{});
    } else if (c->ended) {
        wire::logout logout;
        logout.logout_reason = wire_reason(*c->ended);
        put(*c, logout);
    }
    if (!co_await drain(c)) co_return;
    if (c->plain != nullptr) {
        static_cast<void>(c->plain->shutdown_send());
    } else {
        static_cast<void>(co_await c->stream.layered().shutdown());
    }
    while (!c->peer_gone) {
        c->input_begin = c->input_end = c->input_foreseen = 0;
        if (!co_await fill(c)) co_return;
    }
}

}  // namespace corro::gateway
