// SPDX-License-Identifier: Apache-2.0
#include "gateway/session/session_registry.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "base/hash.hpp"
#include "domain/private_event.hpp"
#include "gateway/session/queue_waits.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::gateway {

void set_receivers(const account_directory& accounts, answer_log& answers) {
    for (const account& a : accounts.accounts()) {
        for (std::uint32_t i = 0; i < a.sessions_count; ++i) {
            if (a.speaks_fix(i + 1)) answers.set_detailed(domain::session_id{a.first_session.value + i});
        }
        for (const domain::account_id copied : a.copies_of) {
            for (std::uint32_t i = 0; i < a.sessions_count; ++i) {
                answers.copy(copied, domain::session_id{a.first_session.value + i});
            }
        }
    }
}

session_registry::session_registry(io::context& context, const gateway_options& options,
                                   std::span<const domain::instrument> instruments, const account_directory& accounts,
                                   command_queue& commands, answer_log& answers, gateway_statistics& statistics)
    : context_(context),
      options_(options),
      accounts_(accounts),
      commands_(commands),
      answers_(answers),
      statistics_(statistics),
      sessions_(accounts.sessions_capacity(), options.connections_max),
      cancels_(commands, sessions_, statistics),
      resets_(context, options, accounts, commands, answers, sessions_, statistics),
      logons_(accounts.sessions_capacity(), options.logons_max, options.logons_window),
      news_max_(std::clamp<std::uint64_t>(answers.newest_kept_count(), 1, answer_log::answers_per_block)) {
    CORRO_ASSERT(answers.sessions_count() == accounts.sessions_capacity());
    set_receivers(accounts, answers);
    for (const domain::instrument& i : instruments) instruments_.define(i);
    news_.reserve(options.connections_max);
}

session_registry::~session_registry() {
    CORRO_ASSERT(sessions_.connected().empty(), "serve() has ended before the gateway is destroyed");
}

void session_registry::refuse_logons(end_reason why) noexcept {
    no_logons_ = why;
    resets_.pause();
}

void session_registry::close() noexcept {
    is_closing_ = true;
    for (session* s : sessions_.connected()) s->end(end_reason::shutting_down);
}

void session_registry::end_withdrawn() noexcept {
    for (session* s : sessions_.connected()) {
        if (!s->is_on() || has_key(*accounts_.find(s->owner()), s->key_id_)) continue;
        s->end(end_reason::authentication_failed);
    }
}

void session_registry::detach(session& s) noexcept {
    // Answers may have come since the last flush; they are in the log.
    if (s.has_news_) std::erase(news_, &s);
    sessions_.remove(s);
}

// --- Events to sessions ---------------------------------------------------------------------------------------------

void session_registry::deliver(const domain::event& event) noexcept {
    const domain::session_id id = domain::session_of(event);
    if (event.kind == domain::event_kind::session_numbers_reset) [[unlikely]]
        return take_reset(id, event);
    if (const std::uint64_t number = answers_.append(event); number != 0) announce(id, number);
    for (const domain::session_id copy : answers_.copies_of(domain::account_of(event))) {
        // A copy that has no connection is in the log, and counts as delivered.
        if (copy != id && sessions_.active(copy) != nullptr) announce(copy, answers_.next_answer(copy) - 1);
    }
    if (event.reason != domain::reject_reason::none) [[unlikely]]
        count_refusal(id, event);
}

// The log has an answer with this number. The session will take it in `flush`, or at once when too many wait, so that
// the log might give them up before.
void session_registry::announce(domain::session_id to, std::uint64_t number) noexcept {
    session* const s = sessions_.active(to);
    if (s == nullptr || s->delivery_ == answer_delivery::none) {
        ++statistics_.answers_undelivered;
        return;
    }
    if (s->delivery_ == answer_delivery::from_log) return;  // its turn comes
    if (!s->has_news_) {
        s->has_news_ = true;
        news_.push_back(s);
    }
    if (number + 1 - s->next_answer_ >= news_max_) [[unlikely]]
        s->take_answers();
}

void session_registry::count_refusal(domain::session_id id, const domain::event& event) noexcept {
    if (event.kind == domain::event_kind::order_rejected)
        ++statistics_.refusals_by[static_cast<std::uint8_t>(event.reason)];
    if (event.reason != domain::reject_reason::flooded) return;
    session* const s = sessions_.active(id);
    if (s != nullptr && s->end(end_reason::throttled)) ++statistics_.throttled_cut;
}

// The log drops the answers of the day that ends, so the session takes them first. Later answers are for its next
// connection: this one may still be leaving.
void session_registry::take_reset(domain::session_id id, const domain::event& event) noexcept {
    session* const s = sessions_.active(id);
    if (s != nullptr && s->delivery_ == answer_delivery::live) s->take_answers();
    answers_.append(event);
    if (event.numbers_reset.is_partial != 0) return;
    ++statistics_.numbers_reset;
    sessions_.at(id).next_request = 1;
    if (s != nullptr) s->stop_answers();
}

void session_registry::flush() noexcept {
    for (std::size_t i = 0; i < news_.size(); ++i) {
        // With many sessions none of this is in a near cache.
        if (i + 1 < news_.size()) __builtin_prefetch(news_[i + 1]);
        news_[i]->has_news_ = false;
        news_[i]->flush();
    }
    news_.clear();
}

void session_registry::define(const domain::event& event) noexcept {
    if (!definitions_.take(event)) return;
    const domain::instrument* const made = instruments_.define(definitions_.get());
    if (made != nullptr) broadcast(*made);
}

void session_registry::define(const domain::instrument& instrument) noexcept {
    instruments_.define(instrument);
    broadcast(instrument);
}

void session_registry::broadcast(const domain::instrument& added) noexcept {
    for (session* s : sessions_.connected()) {
        if (s->is_on()) s->send_definition(added);
    }
}

void session_registry::reject_overloaded(const domain::command& command) noexcept {
    session* const s = sessions_.active(command.session);
    if (command.request() == 0 || s == nullptr || s->delivery_ == answer_delivery::none) return;
    ++statistics_.overloaded;
    s->refuse_request(command.request(), no_logons_ == end_reason::journal_failed ? request_refusal::journal_failed
                                                                                  : request_refusal::overloaded);
}

void session_registry::deliver_admin_reply(const admin_reply& reply) {
    const session_record& record = sessions_.at(reply.to.session);
    if (record.active == nullptr || record.active->is_ending() || record.logons != reply.to.logon) return;
    order_entry_report report;
    report.commands_waiting = commands_.pushed_count() - commands_.answered_count();
    report.sessions_count = statistics_.sessions_now;
    report.sessions_max = accounts_.sessions_count();
    record.active->send_admin_reply(reply, report);
}

// --- Logons ---------------------------------------------------------------------------------------------------------

domain::session_id session_registry::id_of(const logon_request& request) const noexcept {
    const account* const a = accounts_.find(request.account);
    CORRO_ASSERT(a != nullptr && has_session(*a, request.session_number));
    return domain::session_id{a->first_session.value + request.session_number - 1};
}

// Local sockets, and streams whose other end is not known, share one address.
std::chrono::milliseconds session_registry::wait_after_wrong_proof(const std::optional<io::endpoint>& from,
                                                                   domain::account_id claimed) noexcept {
    const std::uint64_t address = from ? base::hash_bytes(std::as_bytes(std::span(from->address()))) : 0;
    const std::chrono::milliseconds wait =
        std::min(wrong_proofs_.count(address, claimed, context_.now()), options_.wrong_proof_wait_max);
    if (wait.count() != 0) ++statistics_.refusals_held_back;
    return wait;
}

// Why a client that has proved its key cannot log on, even when no connection has the session.
std::optional<end_reason> session_registry::refusal_of(const logon_request& request) const noexcept {
    const domain::session_id id = id_of(request);
    if (no_logons_) return no_logons_;
    if (!logons_.may_log_on(id, context_.now())) return end_reason::throttled;
    if (is_of_later_day(request, id, answers_)) return end_reason::sequence_unknown;
    // A reset drops the numbers of before.
    if (resets_.is_due(id) || asks_for_all(request, id, answers_)) return std::nullopt;
    if (request.next_answer > answers_.next_answer(id)) return end_reason::sequence_unknown;
    return std::nullopt;
}

// The other connection ends as if it had been lost: what is cancelled for it stands in the queue before the session is
// free. A reset that does not come makes `open` refuse the logon.
io::task<void> session_registry::prepare(session* s, const logon_request* request) {
    const domain::session_id id = id_of(*request);
    session* const old = sessions_.active(id);
    if (old != nullptr && request->takes_over && !refusal_of(*request)) {
        ++statistics_.taken_over;
        old->end(end_reason::taken_over);
        static_cast<void>(co_await io::with_timeout(options_.logon_timeout, wait_until_released(id, old)));
    }
    if (s->is_ending() || sessions_.active(id) != nullptr || refusal_of(*request)) co_return;
    if (!resets_.is_due(id) && !resets_.is_under_way(id)) co_return;
    static_cast<void>(co_await io::with_timeout(options_.logon_timeout, resets_.begin(id, nullptr)));
}

io::task<bool> session_registry::settle_numbers(const logon_request* request, bool resets) {
    const domain::session_id id = id_of(*request);
    if (resets && sessions_.active(id) == nullptr && !refusal_of(*request)) {
        const auto reset = co_await io::with_timeout(options_.logon_timeout, resets_.begin_for_client(id, nullptr));
        co_return reset && *reset;
    }
    const std::uint64_t sent = commands_.pushed_count();
    const auto settled = co_await io::with_timeout(options_.logon_timeout, wait_until_answered(&commands_, sent));
    co_return settled && *settled;
}

io::task<void> session_registry::wait_until_released(domain::session_id id, const session* by) {
    while (sessions_.active(id) == by) {
        sessions_.freed().reset();
        const std::error_code stopped = co_await sessions_.freed().wait();
        if (stopped) co_return;
    }
}

std::optional<end_reason> session_registry::open(session& s, const logon_request& request) {
    CORRO_ASSERT(!s.is_on() && !s.is_ending());
    const domain::session_id id = id_of(request);
    const account& a = *accounts_.find(request.account);
    session_record& record = sessions_.at(id);
    const std::optional<end_reason> refusal = refusal_of(request);
    if (refusal == end_reason::throttled) ++statistics_.logons_throttled;
    if (refusal) return refusal;
    if (!has_key(a, request.key_id)) return end_reason::authentication_failed;  // withdrawn meanwhile
    if (record.active != nullptr) return end_reason::already_logged_on;
    // A logon that has waited for a reset in vain has cost a command.
    logons_.count(id, context_.now());
    if (resets_.is_due(id) || resets_.is_under_way(id)) return end_reason::session_day_ended;
    const std::uint64_t next = answers_.next_answer(id);
    const std::uint64_t asked = asks_for_all(request, id, answers_) ? 1 : request.next_answer;
    s.first_answer_ = s.next_answer_ = asked == 0 ? next : std::max(asked, answers_.first_kept(id));
    if (CORRO_DEFECT(resend_skips_answer) && s.next_answer_ < next) ++s.next_answer_;
    s.first_missing_ = asked != 0 && s.first_answer_ > asked ? asked : 0;
    if (s.first_missing_ != 0) ++statistics_.gaps_announced;
    s.delivery_ = s.next_answer_ == next ? answer_delivery::live : answer_delivery::from_log;
    s.account_ = a.id;
    s.key_id_ = request.key_id;
    s.is_operator_ = a.is_operator;
    s.is_drop_copy_ = !a.copies_of.empty();
    s.cancels_on_disconnect_ = request.cancels_on_disconnect;
    s.id_ = id;
    s.record_ = &record;
    if (CORRO_DEFECT(request_executed_twice) && record.next_request > 1) --record.next_request;
    record.next_request = std::max(record.next_request, answers_.next_request(id));
    record.active = &s;
    ++record.logons;
    return std::nullopt;
}

// --- The course of a session ----------------------------------------------------------------------------------------

io::task<void> session_registry::begin(session* s, const std::optional<io::endpoint>* from) {
    ++statistics_.logons;
    ++statistics_.sessions_now;
    log(*s, *from, telemetry::log_record_kind::logged_on, static_cast<std::int64_t>(s->first_answer_));
    co_await cancels_.begin(s);
}

io::task<void> session_registry::end_requests(session* s, bool has_logged_out) {
    --statistics_.sessions_now;
    co_await cancels_.end(s, has_logged_out);
}

io::task<void> session_registry::reset_if_due(session* s) {
    if (is_closing_ || !resets_.is_due(s->id())) co_return;
    static_cast<void>(co_await io::with_timeout(farewell_timeout, resets_.begin(s->id(), s)));
}

io::task<std::optional<end_reason>> session_registry::restart(session* s) {
    const domain::session_id id = s->id();
    if (no_logons_) co_return no_logons_;
    if (!logons_.may_log_on(id, context_.now())) {
        ++statistics_.logons_throttled;
        co_return end_reason::throttled;
    }
    logons_.count(id, context_.now());
    const auto reset = co_await io::with_timeout(options_.logon_timeout, reset_until_unused(s));
    if (!reset || !*reset || s->is_ending()) co_return end_reason::logon_timed_out;
    s->first_answer_ = s->next_answer_ = answers_.next_answer(id);
    s->first_missing_ = 0;
    s->delivery_ = answer_delivery::live;
    co_return std::nullopt;
}

// A fill of an older order may come right behind the reset, and take the number of the answer to the client's Logon.
io::task<bool> session_registry::reset_until_unused(session* s) {
    constexpr int attempts_max = 4;
    const domain::session_id id = s->id();
    for (int i = 0; i < attempts_max; ++i) {
        const std::uint32_t days = answers_.days_count(id);
        const bool is_answered = co_await resets_.begin_for_client(id, s);
        if (!is_answered || answers_.days_count(id) == days) break;
        if (answers_.next_answer(id) == 1) co_return true;
    }
    co_return false;
}

// What was delivered so far is the connection's own; what comes from here on is for the next one.
void session_registry::release(session& s) noexcept {
    if (s.delivery_ == answer_delivery::live) s.take_answers();
    s.stop_answers();
    sessions_.free(s.id_);
}

void session_registry::log(const session& s, const std::optional<io::endpoint>& from, telemetry::log_record_kind what,
                           std::int64_t number) const {
    if (options_.log == nullptr) return;
    telemetry::log_record record(telemetry::component::gateway, what, number, context_.wall_now());
    record.session = s.id();
    record.account = s.owner();
    if (from) record.set_address(from->to_string());
    if (what == telemetry::log_record_kind::logon_refused) record.severity = telemetry::severity::warning;
    options_.log->note(record);
}

}  // namespace corro::gateway
