// SPDX-License-Identifier: Apache-2.0
// Answers to questions about instruments. They are not sequenced, and not sent again after the connection.
#include <algorithm>
#include <chrono>
#include <utility>

#include "fix/net/connection.hpp"
#include "fix_gateway/fix_session.hpp"
#include "fix_gateway/reference_answers.hpp"
#include "fix_gateway/reference_requests.hpp"
#include "io/loop/timer.hpp"

namespace corro::fix_gateway {

using gateway::end_reason;

// Answers the message that was taken last. False: it is not such a question.
bool fix_session::answer_reference(fix::instant now) {
    const fix_version version = store_->version();
    if (!is_reference_request(session_->message().message_type(), version)) return false;
    reference_request asked;
    const request_problem problem = read_reference_request(session_->message(), version, shared_.reference, asked);
    if (problem.is_there()) {
        ++shared_.statistics.session_rejects;
        session_->reject({problem.reason, problem.tag}, now);
        return true;
    }
    switch (asked.question) {
        case reference_question::list:
        case reference_question::definitions: answer_list(asked, now); break;
        case reference_question::definition: answer_definition(asked, now); break;
        case reference_question::status: answer_status(asked, now); break;
        case reference_question::session: answer_session(asked, now); break;
    }
    return true;
}

reference_answer fix_session::answer_to(std::string_view id, std::size_t total) const {
    reference_answer a;
    a.id = id;
    a.request = session_->message_number();
    a.total = total;
    a.version = store_->version();
    a.market = shared_.fix.comp_id;
    return a;
}

void fix_session::answer_list(const reference_request& asked, fix::instant now) {
    const bool as_definitions = asked.question == reference_question::definitions;
    if (asked.finding == reference_finding::all && !list_.is_under_way()) {
        list_ = list_progress{};
        list_.id = asked.id;
        list_.request = session_->message_number();
        list_.total = shared_.reference.count();
        list_.as_definitions = as_definitions;
        list_wanted_.set();
        return;
    }
    if (as_definitions) {
        fix::message_writer& writer = session_->begin_message("d", now);
        write_no_definition(answer_to(asked.id, 0), definition_result::rejected, {}, "Another list is under way",
                            writer);
        return send_message(now);
    }
    fix::message_writer& writer = session_->begin_message("y", now);
    switch (asked.finding) {
        case reference_finding::found:
            write_list(answer_to(asked.id, 1), shared_.reference, *asked.instrument, writer);
            break;
        case reference_finding::all: write_empty_list(answer_to(asked.id, 0), list_result::not_now, writer); break;
        case reference_finding::unsupported:
            write_empty_list(answer_to(asked.id, 0), list_result::unsupported, writer);
            break;
        default: write_empty_list(answer_to(asked.id, 0), list_result::nothing_found, writer); break;
    }
    send_message(now);
}

void fix_session::answer_definition(const reference_request& asked, fix::instant now) {
    fix::message_writer& writer = session_->begin_message("d", now);
    const reference_answer a = answer_to(asked.id, asked.instrument != nullptr ? 1 : 0);
    if (asked.instrument != nullptr) {
        const bool is_revised = asked.finding == reference_finding::reversed;
        const definition_result what = is_revised ? definition_result::revised : definition_result::as_it_is;
        write_definition(a, what, shared_.reference, *asked.instrument, writer);
    } else if (asked.finding == reference_finding::unknown) {
        write_no_definition(a, definition_result::no_match, asked.symbol, {}, writer);
    } else {
        write_no_definition(a, definition_result::rejected, asked.symbol, "Unsupported SecurityRequestType (321)",
                            writer);
    }
    send_message(now);
}

void fix_session::answer_status(const reference_request& asked, fix::instant now) {
    if (asked.instrument == nullptr) {
        fix::message_writer& writer = session_->begin_message("f", now);
        write_status(asked.id, asked.symbol, nullptr, std::nullopt, store_->version(), writer);
        return send_message(now);
    }
    phase_question waiting;
    waiting.instrument = asked.instrument->id;
    waiting.id = asked.id;
    ask_facility(std::move(waiting), now);
}

void fix_session::answer_session(const reference_request& asked, fix::instant now) {
    if (asked.finding != reference_finding::found) {
        fix::message_writer& writer = session_->begin_message("h", now);
        write_session_status(asked.id, asked.symbol, session_state::no_such_session, writer);
        return send_message(now);
    }
    phase_question waiting;
    waiting.is_for_session = true;
    waiting.id = asked.id;
    ask_facility(std::move(waiting), now);
}

// The venue's admin service has the phases and the state of the journal, in this process or behind a link.
void fix_session::ask_facility(phase_question waiting, fix::instant now) {
    if (phase_questions_.size() >= phase_questions_max) {
        return session_->reject_business(business_reason_not_available, "Too many requests are not answered", now);
    }
    gateway::admin_request question;
    question.question = waiting.question = ++phase_questions_count_;
    question.logon = logon_number();
    question.session = id();
    question.instrument = waiting.instrument;
    question.wish = gateway::admin_request_kind::phase;
    phase_questions_.push_back(std::move(waiting));
    gateway::admin_service* const desk = shared_.options.desk;
    // The answer may come before this returns.
    const auto refusal = desk != nullptr ? desk->ask(question) : gateway::request_refusal::not_known_here;
    if (refusal == gateway::request_refusal::none) return;
    std::erase_if(phase_questions_, [&](const phase_question& q) { return q.question == question.question; });
    session_->reject_business(business_reason_not_available, "The venue does not answer now", now);
}

void fix_session::send_admin_reply(const gateway::admin_reply& reply, const gateway::order_entry_report& /*unused*/) {
    const auto waiting = std::ranges::find(phase_questions_, reply.to.question, &phase_question::question);
    if (reply.to.wish != gateway::admin_request_kind::phase || waiting == phase_questions_.end()) return;
    const bool is_here = waiting->is_for_session ? state_of(reply.venue.journal) == session_state::halted
                                                 : reply.venue.instrument == waiting->instrument;
    if (!is_here && ++waiting->replies_count < reply.venue.partitions_count) return;
    const phase_question answered = std::move(*waiting);
    phase_questions_.erase(waiting);
    if (session_ == nullptr || !session_->may_send()) return;
    const fix::instant now = fix::moment_on(shared_.context);
    if (answered.is_for_session) {
        fix::message_writer& writer = session_->begin_message("h", now);
        write_session_status(answered.id, trading_session_name, state_of(reply.venue.journal), writer);
    } else {
        const domain::instrument* const i = shared_.reference.find(answered.instrument);
        fix::message_writer& writer = session_->begin_message("f", now);
        write_status(answered.id, "[N/A]", i, is_here ? std::optional(reply.venue.phase) : std::nullopt,
                     store_->version(), writer);
    }
    send_message(now);
    output_ready_.set();
}

void fix_session::send_message(fix::instant now) noexcept {
    if (session_->send(now) == 0) cut(end_reason::protocol_error);
}

// --- Lists -----------------------------------------------------------------------------------------------------------

io::task<void> fix_session::write_lists() {
    while (true) {
        const std::error_code stopped = co_await list_wanted_.wait();
        if (stopped) co_return;
        while (list_.is_under_way()) {
            const bool goes_on = co_await write_list_part();
            if (!goes_on) co_return;
        }
    }
}

// The next part, when the peer has read most of those before. However many sessions have a list under way, one of them
// writes a part in a turn of the loop.
io::task<bool> fix_session::write_list_part() {
    while (session_->is_resending() || session_->output().size() >= list_room()) {
        output_ready_.set();
        const std::error_code stopped = co_await list_may_go_on_.wait();
        if (stopped) co_return false;
    }
    const std::error_code not_locked = co_await shared_.registry.resend_turn().lock();
    if (not_locked) co_return false;
    put_list_part(fix::moment_on(shared_.context));
    output_ready_.set();
    const std::error_code stopped = co_await io::sleep_for(std::chrono::nanoseconds(1));
    shared_.registry.resend_turn().unlock();
    co_return !stopped && session_->may_send();
}

std::size_t fix_session::list_room() const noexcept {
    return std::min(list_output_bytes, shared_.options.output_buffer_bytes / 4);
}

// Its messages are not kept: a peer that asks for one again gets a gap fill.
void fix_session::put_list_part(fix::instant now) {
    constexpr std::size_t bytes_per_instrument = 4'096;  // of a small output buffer
    const std::size_t each = list_.as_definitions
                                 ? 1
                                 : std::clamp<std::size_t>(shared_.options.output_buffer_bytes / bytes_per_instrument,
                                                           1, instruments_per_list_max);
    const std::size_t end = std::min(list_.total, list_.next + instruments_per_turn_max);
    while (list_.next < end && session_->may_send() && !session_->is_resending() &&
           session_->output().size() < list_room()) {
        reference_answer a = answer_to(list_.id, list_.total);
        a.request = list_.request;
        a.part = list_.part;
        const std::size_t count = std::min(each, end - list_.next);
        fix::message_writer& writer = session_->begin_message(list_.as_definitions ? "d" : "y", now);
        if (list_.as_definitions) {
            write_definition(a, definition_result::one_of_all, shared_.reference, shared_.reference.at(list_.next),
                             writer);
        } else {
            write_list(a, shared_.reference, list_.next, count, writer);
        }
        store_->expect_unkept();
        send_message(now);
        list_.next += count;
        ++list_.part;
    }
}

}  // namespace corro::fix_gateway
