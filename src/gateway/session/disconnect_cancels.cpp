// SPDX-License-Identifier: Apache-2.0
#include "gateway/session/disconnect_cancels.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "gateway/session/disconnect_cancel.hpp"
#include "gateway/session/queue_waits.hpp"
#include "io/loop/timer.hpp"

namespace corro::gateway {

disconnect_cancels::disconnect_cancels(command_queue& commands, session_table& sessions, gateway_statistics& statistics)
    : commands_(commands), sessions_(sessions), statistics_(statistics), states_(sessions.size()) {}

void disconnect_cancels::set_absent(std::span<const domain::account_id> sessions,
                                    std::optional<std::chrono::milliseconds> grace) {
    grace_ = grace.value_or(std::chrono::milliseconds{0});
    for (std::size_t id = 1; id < std::min(sessions.size(), states_.size()); ++id) {
        if (sessions[id].value == 0) continue;
        states_[id].is_journaled = true;
        if (grace) states_[id].absent = sessions[id];
    }
}

io::task<void> disconnect_cancels::run() {
    const bool any = std::ranges::any_of(states_, [](const session_state& s) { return s.absent.value != 0; });
    if (!any) co_return;
    const std::error_code stopped = co_await io::sleep_for(grace_);
    if (stopped) co_return;
    for (std::uint32_t id = 1; id < states_.size(); ++id) {
        if (states_[id].absent.value == 0) continue;
        bool room = co_await wait_for_room(&commands_);
        if (!room) co_return;
        // No wait from here to the push: the orders of a session that has come back are not cancelled.
        const domain::session_id session{id};
        const domain::account_id account = std::exchange(states_[id].absent, domain::account_id{});
        if (account.value == 0 || sessions_.active(session) != nullptr) continue;
        if (CORRO_DEFECT(absent_session_not_cancelled)) continue;
        bool taken = commands_.try_push(cancel_of_session(session, account));
        CORRO_ASSERT(taken, "the room was checked before");
        ++statistics_.cancels_after_start;
        room = co_await wait_for_room(&commands_);
        if (!room) co_return;
        // A session that has logged on meanwhile has journaled its own request.
        if (sessions_.active(session) != nullptr) continue;
        taken = commands_.try_push(cancel_on_disconnect_command(session, account, domain::switch_state::off));
        CORRO_ASSERT(taken, "the room was checked before");
        states_[id].is_journaled = false;
    }
}

io::task<void> disconnect_cancels::begin(session* s) {
    states_[s->id().value].absent = {};
    co_await journal(s);
}

io::task<void> disconnect_cancels::end(session* s, bool has_logged_out) {
    if (CORRO_DEFECT(logout_cancels)) has_logged_out = false;
    if (!s->cancels_on_disconnect_) co_return;
    if (!has_logged_out && !CORRO_DEFECT(disconnect_cancel_left_out)) {
        ++statistics_.cancels_on_disconnect;
        static_cast<void>(co_await submit(&commands_, cancel_of_session(s->id(), s->owner())));
    }
    s->cancels_on_disconnect_ = false;
    co_await journal(s);
}

// A session that asks for nothing, and of which nothing is journaled, costs no command.
io::task<void> disconnect_cancels::journal(session* s) {
    if (s->is_drop_copy_) co_return;  // it has no orders
    bool& is_journaled = states_[s->id().value].is_journaled;
    if (!s->cancels_on_disconnect_ && !is_journaled) co_return;
    is_journaled = s->cancels_on_disconnect_;
    const auto wanted = s->cancels_on_disconnect_ ? domain::switch_state::on : domain::switch_state::off;
    static_cast<void>(co_await submit(&commands_, cancel_on_disconnect_command(s->id(), s->owner(), wanted)));
}

}  // namespace corro::gateway
