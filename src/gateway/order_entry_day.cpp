// Session days: once a day, at a scheduled time, the request and answer numbers of a session are reset to 1.
//
// A reset never comes in the middle of traffic: the session is logged out, all its requests are answered, and the next
// logon waits until the reset is durable.
#include <chrono>
#include <limits>

#include "gateway/order_entry_connection.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"

namespace corro::gateway {
namespace {

domain::command reset_of_numbers(domain::session_id session, const account& owner, domain::time_ns day_begin) noexcept {
    domain::command reset;
    reset.kind = domain::command_kind::reset_session_numbers;
    reset.session = session;
    reset.account = owner.id;
    // On a full disk an operator must be able to log on and stop trading.
    reset.set_operator(owner.is_operator);
    reset.reset_session_numbers().day_begin = day_begin;
    return reset;
}

}  // namespace

/// The latest scheduled time; without a schedule the earliest time there is.
domain::time_ns order_entry_gateway::day_begin() const noexcept {
    if (!options_.session_day_begins) return domain::time_ns{std::numeric_limits<std::int64_t>::min()};
    const auto begins = *options_.session_day_begins;
    const auto day = std::chrono::floor<std::chrono::days>(context_.wall_now() - begins) + begins;
    return domain::time_ns{std::chrono::nanoseconds(day.time_since_epoch()).count()};
}

/// Whether the session needs a reset before it is used.
bool order_entry_gateway::is_of_before(domain::session_id id) const noexcept {
    return answers_.is_of_before(id, day_begin());
}

/// Whether a reset is under way.
bool order_entry_gateway::is_beginning_day(domain::session_id id) const noexcept {
    return sessions_[id.value].reset_position > commands_.answered_count();
}

/// Whether `next_sequence` is a number of an earlier day, so that the client gets all answers of this one. Without a
/// session_day in the hello, a number beyond the last answer is.
bool order_entry_gateway::asks_for_all(const wire::hello& hello, domain::session_id id) const noexcept {
    if (hello.next_sequence.value == 0) return false;
    if (hello.session_day != 0) return hello.session_day != session_day_of(answers_.days_count(id));
    return answers_.days_count(id) > 1 && hello.next_sequence.value > answers_.next_answer(id);
}

/// Whether the client has seen a later day than there was here: it is not the venue that it knew.
bool order_entry_gateway::is_of_later(const wire::hello& hello, domain::session_id id) const noexcept {
    if (hello.next_sequence.value == 0 || hello.session_day == 0) return false;
    const std::uint8_t here = session_day_of(answers_.days_count(id));
    const unsigned ahead = (hello.session_day + 255U - here) % 255U;
    return ahead != 0 && ahead < 128;
}

// Sessions that are logged on at the scheduled time are logged out. The others are reset at once too: answers to a
// session without a connection then have numbers of the new day, and its client can fetch them.
io::task<void> order_entry_gateway::end_days() {
    if (!options_.session_day_begins) co_return;
    while (true) {
        const domain::time_ns moment = day_begin();
        for (connection* c : connections_) {
            if (c->session == nullptr || c->ended || !answers_.is_of_before(c->session_id, moment)) continue;
            ++statistics_.days_ended;
            end(*c, end_reason::session_day_ended);
        }
        const bool goes_on = co_await begin_days();
        if (!goes_on) co_return;
        const std::error_code stopped = co_await io::sleep_for(options_.day_look_interval);
        if (stopped) co_return;
    }
}

// Resets sessions one after the other, so that requests of other sessions pass between two resets. False: stopped.
io::task<bool> order_entry_gateway::begin_days() {
    const domain::time_ns moment = day_begin();
    for (std::uint32_t id = 1; id <= accounts_.sessions_count() && !no_logons_; ++id) {
        const domain::session_id session{id};
        if (sessions_[id].active != nullptr || !answers_.is_of_before(session, moment)) continue;
        if (accounts_.owner_of(session)->is_other_gateway) continue;
        const bool goes_on = co_await begin_day(session, nullptr);
        if (!goes_on) co_return false;
        if (is_of_before(session)) break;  // the journal does not take it now
        co_await io::yield();
    }
    co_return true;
}

// Resets a session when everything in the queue is answered, so that no request of the session follows its reset. One
// reset of a session is under way at a time, and none begins when another connection than `by` has the session: the
// clock may have gone back meanwhile. False: stopped.
io::task<bool> order_entry_gateway::begin_day(domain::session_id id, const connection* by) {
    const std::uint64_t sent = commands_.pushed_count();
    bool goes_on = co_await wait_until_answered(sent);
    while (goes_on && is_of_before(id) && !is_beginning_day(id) && sessions_[id.value].active == by) {
        if (commands_.try_push(reset_of_numbers(id, *accounts_.owner_of(id), day_begin()))) {
            sessions_[id.value].reset_position = commands_.pushed_count();
            break;
        }
        commands_.room().reset();
        const std::error_code stopped = co_await commands_.room().wait();
        goes_on = !stopped;
    }
    const std::uint64_t reset = sessions_[id.value].reset_position;
    if (goes_on) goes_on = co_await wait_until_answered(reset);
    co_return goes_on;
}

// False: stopped.
io::task<bool> order_entry_gateway::wait_until_answered(std::uint64_t position) {
    while (commands_.answered_count() < position) {
        commands_.room().reset();
        const std::error_code stopped = co_await commands_.room().wait();
        if (stopped) co_return false;
    }
    co_return true;
}

// After the answer log. A connection of the day before may still be saying goodbye.
void order_entry_gateway::take_reset(const domain::event& event) noexcept {
    if (event.numbers_reset.is_partial != 0) return;
    ++statistics_.numbers_reset;
    session_state& session = sessions_[event.numbers_reset.session.value];
    session.next_request = 1;
    if (session.active == nullptr) return;
    session.active->day_is_over = true;
    session.active->resending = false;
}

}  // namespace corro::gateway
