// SPDX-License-Identifier: Apache-2.0
#include "gateway/session/daily_reset.hpp"

#include <limits>

#include "gateway/session/queue_waits.hpp"
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

daily_reset::daily_reset(io::context& context, const gateway_options& options, const account_directory& accounts,
                         command_queue& commands, const answer_log& answers, session_table& sessions,
                         gateway_statistics& statistics)
    : context_(context),
      options_(options),
      accounts_(accounts),
      commands_(commands),
      answers_(answers),
      sessions_(sessions),
      statistics_(statistics),
      positions_(sessions.size()) {}

/// The latest scheduled time; without a schedule the earliest time there is.
domain::time_ns daily_reset::day_begin() const noexcept {
    if (!options_.session_day_begins) return domain::time_ns{std::numeric_limits<std::int64_t>::min()};
    const auto begins = *options_.session_day_begins;
    const auto day = std::chrono::floor<std::chrono::days>(context_.wall_now() - begins) + begins;
    return domain::time_ns{std::chrono::nanoseconds(day.time_since_epoch()).count()};
}

bool daily_reset::is_due(domain::session_id id) const noexcept {
    return answers_.is_of_before(id, day_begin());
}

// Sessions that are logged on at the scheduled time are logged out. The others are reset at once too: answers to a
// session without a connection then have numbers of the new day, and its client can fetch them.
io::task<void> daily_reset::run() {
    if (!options_.session_day_begins) co_return;
    while (true) {
        end_sessions_of_before();
        const bool goes_on = co_await begin_all();
        if (!goes_on) co_return;
        const std::error_code stopped = co_await io::sleep_for(options_.day_look_interval);
        if (stopped) co_return;
    }
}

void daily_reset::end_sessions_of_before() noexcept {
    const domain::time_ns moment = day_begin();
    for (session* s : sessions_.connected()) {
        if (!s->is_on() || !answers_.is_of_before(s->id(), moment)) continue;
        if (s->end(end_reason::session_day_ended)) ++statistics_.days_ended;
    }
}

// Resets sessions one after the other, so that requests of other sessions pass between two resets. False: stopped.
io::task<bool> daily_reset::begin_all() {
    const domain::time_ns moment = day_begin();
    for (std::uint32_t id = 1; id <= accounts_.sessions_count() && !is_paused_; ++id) {
        const domain::session_id session{id};
        if (sessions_.active(session) != nullptr || !answers_.is_of_before(session, moment)) continue;
        if (accounts_.owner_of(session)->is_other_gateway) continue;
        const bool goes_on = co_await begin(session, nullptr);
        if (!goes_on) co_return false;
        if (is_due(session)) break;  // the journal does not take it now
        co_await io::yield();
    }
    co_return true;
}

io::task<bool> daily_reset::begin(domain::session_id id, const session* by) {
    return reset(id, by, true);
}

io::task<bool> daily_reset::begin_for_client(domain::session_id id, const session* by) {
    return reset(id, by, false);
}

io::task<bool> daily_reset::reset(domain::session_id id, const session* by, bool only_if_due) {
    const std::uint64_t sent = commands_.pushed_count();
    bool goes_on = co_await wait_until_answered(&commands_, sent);
    while (goes_on && (is_due(id) || !only_if_due) && !is_under_way(id) && sessions_.active(id) == by) {
        if (commands_.try_push(reset_of_numbers(id, *accounts_.owner_of(id), day_begin()))) {
            positions_[id.value] = commands_.pushed_count();
            break;
        }
        goes_on = co_await wait_for_room(&commands_);
    }
    const std::uint64_t reset = positions_[id.value];
    if (goes_on) goes_on = co_await wait_until_answered(&commands_, reset);
    co_return goes_on;
}

}  // namespace corro::gateway
