// SPDX-License-Identifier: Apache-2.0
#include "simulation/traders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <string>
#include <vector>

#include "client/session_errors.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "simulation/connections.hpp"
#include "simulation/journal_audit.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t echo_id = 4'711;

}  // namespace

io::task<void> trader::run() {
    while (!ending_) {
        if (is_straying_) {
            co_await try_wrong_gateway();
        } else {
            const bool is_there = co_await come();
            if (is_there) co_await talk();
        }
        is_on_ = false;
        if (!ending_) static_cast<void>(co_await io::sleep_for(reconnect_pause));
    }
}

/// Another gateway than its own has no key of the account.
io::task<void> trader::try_wrong_gateway() {
    auto session = co_await io::with_timeout(logon_patience,
                                             client::order_session::log_on(settings_.wrong_gateway, settings_.who));
    if (!session) co_return;
    if (*session) {
        found_->add(
            "S9", fmt::format("account {} was admitted by another gateway than its own", settings_.who.account.value));
        co_return;
    }
    const std::error_code refused = session->error();
    if (refused == client::logged_out(wire::logout_reason::authentication_failed)) co_return;
    judge(refused);
}

io::task<bool> trader::come() {
    const bool there = session_ == nullptr ? co_await come_first() : co_await come_again();
    co_return there;
}

io::task<bool> trader::come_first() {
    // An earlier logon, whose acknowledgement was lost, may have caused answers: by its cancel on disconnect.
    client::credentials who = settings_.who;
    who.next_answer = 1;
    auto session = co_await io::with_timeout(logon_patience, client::order_session::log_on(settings_.venue, who));
    if (!session) co_return false;  // no answer in time
    if (!*session) {
        judge(session->error());
        co_return false;
    }
    session_ = std::move(**session);
    flow_ = settings_.make_flow({});
    co_return true;
}

/// The operator may define more while it is on.
void trader::learn_instruments() {
    if (session_->instruments().count() == flow_->instruments().size()) return;
    std::vector<domain::instrument> instruments;
    session_->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    flow_->set_instruments(std::move(instruments));
}

io::task<bool> trader::come_again() {
    ++reconnections_count_;
    const auto tried = co_await io::with_timeout(logon_patience, session_->reconnect(settings_.venue));
    const std::error_code error = error_of(tried);
    if (error) {
        judge(error);
        co_return false;
    }
    if (session_->began_again()) found_->add("O1", "a session's numbers began again within a day");
    flow_->connected_again(session_->next_request(), settings_.disk_may_fail || settings_.facility_may_be_away);
    if (!session_->resend_not_accepted()) found_->add("O1", "requests that were not accepted cannot be sent again");
    co_return true;
}

/// A refused logon: only what a fault explains is no violation.
void trader::judge(std::error_code refused) {
    if (is_broken_connection(refused)) return;
    if (refused == client::logged_out(wire::logout_reason::already_logged_on)) return;  // not noticed there yet
    if (refused == client::logged_out(wire::logout_reason::shutting_down)) return;
    if (refused == client::logged_out(wire::logout_reason::journal_failed) && settings_.disk_may_fail) return;
    if (refused == client::logged_out(wire::logout_reason::sequence_unknown)) {
        return found_->add("D1", fmt::format("account {} session {}: the venue does not know what it has acknowledged",
                                             settings_.who.account.value, settings_.who.session_number));
    }
    found_->add("O1", fmt::format("account {} session {}: a logon was refused: {}", settings_.who.account.value,
                                  settings_.who.session_number, refused.message()));
}

io::task<void> trader::talk() {
    is_on_ = true;
    io::task_scope beside(co_await io::this_context());
    beside.spawn(session_->keep_alive());
    co_await exchange_messages();
    beside.request_stop();
    session_->abandon();
    co_await beside.join();
}

/// Sends requests and takes answers until the connection breaks, or is silent for too long.
io::task<void> trader::exchange_messages() {
    const io::context& here = co_await io::this_context();
    std::chrono::nanoseconds heard = since_beginning(here);
    asked_for_echo_ = false;
    while (take_answers(since_beginning(here)) && !ending_) {
        const std::chrono::nanoseconds now = since_beginning(here);
        if (now - heard > 3 * client_heartbeat || is_straying_) co_return;
        send_what_is_due(now, domain::time_ns{here.wall_now().time_since_epoch().count()});
        if (session_->has_output()) {
            const auto written = co_await io::with_timeout(3 * client_heartbeat, session_->flush());
            if (error_of(written)) co_return;
        }
        const bool waits_for_answers = settings_.think_time.count() == 0;
        const std::chrono::nanoseconds patience =
            waits_for_answers ? 100ms : std::clamp<std::chrono::nanoseconds>(next_send_ - now, 100us, 100ms);
        const auto filled = co_await io::with_timeout(patience, session_->fill());
        const std::error_code read = error_of(filled);
        if (!read) heard = since_beginning(here);
        if (read && read != io::condition::timed_out) co_return;
    }
}

void trader::send_what_is_due(std::chrono::nanoseconds now, domain::time_ns wall) {
    if (session_->not_accepted_count() != 0) return;  // they go first
    if (wants_echo_ && !asked_for_echo_) asked_for_echo_ = session_->send_test(echo_id);
    if (now < next_send_) return;
    next_send_ = now + std::chrono::nanoseconds(static_cast<std::int64_t>(
                           random_.below(static_cast<std::uint64_t>(settings_.think_time.count()) * 2 + 1)));
    learn_instruments();
    do {
        const bool asks = flow_->wants_query();
        if (!asks && (finishing_ || flow_->outstanding_count() >= settings_.outstanding_max)) return;
        const domain::command request = asks ? order_flow::query_all() : flow_->next_request(wall);
        const std::uint32_t number = session_->send(request);
        if (number == 0) return found_->add("O1", "a request does not fit an empty buffer");
        flow_->sent(number, request, now.count());
    } while (settings_.think_time.count() == 0);
}

/// Whether the venue may end a session for this reason.
bool trader::may_end(std::error_code why) const noexcept {
    if (why == client::logged_out(wire::logout_reason::shutting_down)) return true;
    if (why == client::logged_out(wire::logout_reason::slow_consumer)) return true;
    if (why == client::logged_out(wire::logout_reason::journal_failed)) return settings_.disk_may_fail;
    return why == client::logged_out(wire::logout_reason::idle_timeout) && settings_.may_be_silent;
}

/// Takes the answers that have arrived. False if the session has ended.
bool trader::take_answers(std::chrono::nanoseconds now) {
    for (;;) {
        const auto got = session_->poll();
        if (!got) {
            const std::error_code error = got.error();
            const bool is_gap = error == client::session_errc::sequence_gap;
            const bool is_silence = error == client::logged_out(wire::logout_reason::idle_timeout);
            if (!may_end(error)) {
                found_->add(is_gap ? "C3" : is_silence ? "N3" : "O1", "a session has ended: " + error.message());
            }
            return false;
        }
        if (!*got) {
            if (wants_echo_ && session_->last_echo() == echo_id) has_echo_ = true;
            return true;
        }
        take(**got, now);
    }
}

/// Whether a request may be refused without effect: the disk is full or has failed, or the facility is out of reach.
bool trader::may_be_refused(wire::session_reject_reason why) const noexcept {
    if (why == wire::session_reject_reason::journal_failed) return settings_.disk_may_fail;
    return why == wire::session_reject_reason::overloaded &&
           (settings_.disk_may_fail || settings_.facility_may_be_away);
}

void trader::take(const client::answer& one, std::chrono::nanoseconds now) {
    if (one.told != nullptr) return;
    if (one.reject && may_be_refused(one.reject->session_reject_reason)) {
        return flow_->refused(static_cast<std::uint32_t>(one.reject->refused_sequence.value), now.count());
    }
    if (one.reject)
        return found_->add(
            "O1", fmt::format("request {} of account {} session {} was rejected by its session for reason {}",
                              one.reject->refused_sequence.value, settings_.who.account.value,
                              settings_.who.session_number, static_cast<int>(one.reject->session_reject_reason)));
    if (one.gap) return found_->add("O1", "the venue no longer has answers that were never received");
    if (one.sequence != 0) {
        if (one.sequence != last_sequence_ + 1) {
            found_->add("C3", fmt::format("answer {} came after answer {}", one.sequence, last_sequence_));
        }
        last_sequence_ = one.sequence;
        if (one.event.time < last_time_ && settings_.has_one_clock)
            found_->add("C4", "an answer is older than the one before it");
        last_time_ = one.event.time;
    }
    if (is_of_a_stranger(one.event)) found_->add("S8", "an answer is about another session's order");
    answer_digests_.push_back(digest_of(one.event));
    static_cast<void>(flow_->take(one.event, now.count()));
}

/// Whether an answer names an order that this trader has not named.
bool trader::is_of_a_stranger(const domain::event& event) const noexcept {
    const bool names_order = event.kind == domain::event_kind::order_entered ||
                             event.kind == domain::event_kind::order_amended ||
                             event.kind == domain::event_kind::order_cancelled;
    if (!names_order) return false;
    const std::uint64_t name = event.order.client_order.value;
    return name < settings_.first_order_name || name >= settings_.first_order_name + order_names_count;
}

}  // namespace corro::simulation
