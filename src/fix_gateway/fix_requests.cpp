// SPDX-License-Identifier: Apache-2.0
// From the bytes of a session to commands in the queue.
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "domain/long_name.hpp"
#include "domain/prefetch_hint.hpp"
#include "fix/codec/tags.hpp"
#include "fix/net/connection.hpp"
#include "fix_gateway/fix_session.hpp"
#include "fix_gateway/positions.hpp"
#include "fix_gateway/request_reader.hpp"
#include "fix_gateway/requests.hpp"
#include "gateway/limits.hpp"
#include "gateway/session/queue_waits.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::fix_gateway {

using gateway::end_reason;

namespace {

/// The answers of a session that an order with PossResend (97) is looked for in, at most: a few milliseconds.
constexpr std::uint64_t resend_answers_max = 65'536;

/// Whether the answer is about an order, or the change of one, with this ClOrdID (11).
bool is_about(const gateway::answer_log::detailed_answer& a, domain::client_order_id name) noexcept {
    switch (a.event.kind) {
        case domain::event_kind::order_entered:
        case domain::event_kind::order_amended:
        case domain::event_kind::order_cancelled:
        case domain::event_kind::order_executed:
        case domain::event_kind::order_rejected: return a.details.name == name;
        default: return false;
    }
}

/// The instrument that decides to which partition the request goes; 0: something else does, or it goes to all.
domain::instrument_id place_of(const domain::command& c) noexcept {
    if (c.kind == domain::command_kind::query_order) return {};
    return c.names_order() && c.named_order().value != 0 ? domain::instrument_id{} : c.instrument;
}

/// FIX 5.0, its service packs 1 and 2.
bool is_known_application(std::string_view version) noexcept {
    return version == "7" || version == "8" || version == "9";
}

}  // namespace

io::task<void> fix_session::read_requests() {
    bool goes_on = co_await take_at_hand();
    while (goes_on && !is_over() && !is_ending()) {
        if (input_begin_ != 0) {
            std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
            input_end_ -= input_begin_;
            input_begin_ = 0;
        }
        const std::span<std::byte> room = std::as_writable_bytes(std::span(input_).subspan(input_end_));
        io::io_result read;
        if (io::stream_socket* const socket = stream_.socket()) [[likely]] {
            read = co_await socket->read_some(room);
        } else {
            read = co_await stream_.layered().read_some(room);
        }
        input_end_ += read.bytes;
        goes_on = co_await take_at_hand();
        if (!read.error) continue;
        if (read.error != io::condition::canceled) lose();
        end(end_reason::connection_lost);
    }
    if (is_over()) end_with_session();
}

// Takes the messages that have come. Each needs room in the queue, and for what it causes.
io::task<bool> fix_session::take_at_hand() {
    fix::instant now = fix::moment_on(shared_.context);
    frames_at_hand& frames = shared_.frames;  // of this session until it waits, and others use it
    frames.keep_for(this);
    frames.clear();
    while (!is_over() && !is_ending()) {
        const bool has_kept = session_->has_kept();
        fix::frame_result frame;
        if (!has_kept) {
            if (frames.is_empty()) look_ahead();
            frame = frames.take();
            if (frame.state == fix::frame_state::incomplete) break;
            if (frame.state == fix::frame_state::garbled) {
                const std::size_t bytes = session_->garbled_bytes(unread(), frame);
                if (bytes == 0) break;
                input_begin_ += bytes;
                continue;
            }
        }
        if (owes_too_much() || !shared_.commands.has_room()) [[unlikely]] {
            bool has_room = co_await wait_until_written();
            if (has_room) has_room = co_await gateway::wait_for_room(&shared_.commands);
            if (!has_room) co_return false;
            frames.keep_for(this);
            now = fix::moment_on(shared_.context);
        }
        if (has_kept) {
            if (const auto kept = session_->take_kept(now)) act_on(*kept, now);
        } else {
            fix::taken what = session_->take(unread(), frame, now);
            if (what == fix::taken::restart) [[unlikely]] {
                const bool goes_on = co_await restart();
                if (!goes_on) co_return false;
                frames.keep_for(this);
                now = fix::moment_on(shared_.context);
                what = session_->take(unread(), frame, now);
            }
            act_on(what, now);
            input_begin_ += frame.bytes;
        }
        if (waiting_.empty()) [[likely]]
            continue;
        const bool taken = co_await submit_waiting();
        if (!taken) co_return false;
        frames.keep_for(this);
        now = fix::moment_on(shared_.context);
    }
    // A Logout must be answered soon, and an answered TestRequest brings the next Heartbeat nearer.
    if (session_->next_time() < wakes_at_) time_changed_.set();
    if (!session_->output().empty() || session_->is_resending()) output_ready_.set();
    co_return true;
}

// The client's numbers begin again. What was sent so far has the old ones, and they are in the journal before the reset
// is. Questions that wait for an answer are forgotten. False: the session ends.
io::task<bool> fix_session::restart() {
    is_restarting_ = true;
    list_ = list_progress{};
    phase_questions_.clear();
    const auto sent = co_await io::with_timeout(shared_.options.logon_timeout, send_all());
    std::optional<end_reason> refusal = end_reason::slow_consumer;
    if (sent && *sent) refusal = co_await shared_.registry.restart(this);
    is_restarting_ = false;
    const fix::instant now = fix::moment_on(shared_.context);
    if (refusal == end_reason::throttled) {
        session_->refuse_logon("Too many Logons", now);
    } else if (refusal) {
        lose();  // which numbers the peer would take is not known
        end(*refusal);
        co_return false;
    } else {
        session_->restart(now);
    }
    time_changed_.set();
    output_ready_.set();
    co_return !is_ending();
}

// Everything that the session has caused is answered and sent.
io::task<bool> fix_session::send_all() {
    const std::uint64_t position = shared_.commands.pushed_count();
    bool goes_on = co_await gateway::wait_until_answered(&shared_.commands, position);
    while (goes_on && !has_sent_all()) {
        output_ready_.set();
        const std::error_code stopped = co_await output_written_.wait();
        goes_on = !stopped;
    }
    co_return goes_on;
}

// Finds the frames that have come, and has what several requests will need fetched before the first is executed.
void fix_session::look_ahead() noexcept {
    frames_at_hand& frames = shared_.frames;
    frames.find(unread());
    if (frames.complete_count() < 2 || !shared_.commands.calls_consumer()) return;
    std::array<domain::prefetch_hint, domain::prefetch_hints_max> coming;
    std::size_t count = 0;
    std::string_view received = unread();
    for (const fix::frame_result& frame : frames.complete()) {
        if (read_prefetch_hint(received, frame, shared_.instruments, coming[count])) {
            coming[count].account = owner();
            coming[count].session = id();
            ++count;
        }
        received.remove_prefix(frame.bytes);
    }
    if (count > 1) shared_.commands.expect(std::span(coming).first(count));
}

// A peer that does not read what its messages cause is not read from.
io::task<bool> fix_session::wait_until_written() {
    while (owes_too_much()) {
        output_ready_.set();
        const std::error_code stopped = co_await output_written_.wait();
        if (stopped) co_return false;
    }
    co_return true;
}

void fix_session::act_on(fix::taken what, fix::instant now) {
    if (what == fix::taken::logon) {
        const std::chrono::seconds interval = session_->heartbeat();
        if (interval < shared_.fix.heartbeat_min || interval > shared_.fix.heartbeat_max) {
            session_->refuse_logon("HeartBtInt (108) is outside of what the venue allows", now);
            return;
        }
        const fix::session_identity& names = session_->settings().identity;
        if (names.begin_string == "FIXT.1.1" && !is_known_application(names.default_appl_ver_id)) {
            session_->refuse_logon("DefaultApplVerID (1137) is no version of the venue", now);
            return;
        }
        session_->accept_logon(now);
        take_answers();
        time_changed_.set();
    } else if (what == fix::taken::by_application) {
        submit_request(now);
    }
}

void fix_session::submit_request(fix::instant now) {
    const std::uint64_t number = session_->message_number();
    const fix::session_identity& names = session_->settings().identity;
    if (names.begin_string == "FIXT.1.1" && session_->application_version() != names.default_appl_ver_id) {
        ++shared_.statistics.session_rejects;
        return session_->reject({fix::reject_reason::unsupported_version, fix::tag::appl_ver_id}, now);
    }
    if (answer_reference(now)) return;
    if (is_drop_copy()) {
        return session_->reject_business(business_reason_not_authorised, "A drop copy enters nothing", now);
    }
    const auto refuse = [this, now](const request_problem& problem) {
        ++shared_.statistics.session_rejects;
        if (problem.is_of_session()) return session_->reject({problem.reason, problem.tag}, now);
        session_->reject_business(problem.business_reason, problem.text, now);
    };
    const auto complete = [this, number](domain::command& command) {
        command.session = id();
        command.account = owner();
        command.set_operator(is_operator());
        command.set_request(static_cast<std::uint32_t>(number));
    };
    if (may_have_several(session_->message().message_type())) [[unlikely]] {
        request_commands all;
        const request_problem problem = read_quotes(session_->message(), shared_.instruments, all);
        if (problem.is_there()) return refuse(problem);
        for (std::size_t i = 0; i < all.count; ++i) complete(all.commands[i]);
        ++shared_.statistics.requests;
        waiting_.assign(all.commands.begin(), all.commands.begin() + static_cast<std::ptrdiff_t>(all.count));
        return;
    }
    domain::command command;
    const bool is_quickfix = session_->settings().style == fix::session_style::quickfix;
    const request_problem problem =
        read_request(session_->message(), shared_.instruments, store_->version(), command, is_quickfix);
    if (problem.is_there()) return refuse(problem);
    complete(command);
    check_positions_account(session_->message(), command);
    const bool may_be_repeated = is_quickfix && session_->message().get(tag::poss_resend) == "Y";
    if (may_be_repeated || has_long_name(command)) [[unlikely]] {
        const request_problem of_texts = take_texts(command);
        if (of_texts.is_there()) return refuse(of_texts);
        ++shared_.statistics.requests;
        may_be_repeated_ = may_be_repeated;
        waiting_.push_back(command);
        return;
    }
    ++shared_.statistics.requests;
    const bool taken = shared_.commands.try_push(command);
    CORRO_ASSERT(taken, "the room was checked before");
}

// Commands with the texts of the request's long names, which go before it. The name of the request itself is new, or
// the request is refused; that of an order is known while the order is open.
request_problem fix_session::take_texts(const domain::command& command) {
    waiting_.clear();
    if (!has_long_name(command)) return {};
    const request_texts found = texts_of(session_->message(), command);
    for (const std::string_view text : std::span(found.texts).first(found.count)) {
        const domain::client_order_id name = domain::long_name(text);
        const bool is_own = name == (command.may_have_name() ? command.request_name() : command.client_order);
        const std::string_view known = shared_.answers.texts().find(owner(), name);
        if (!known.empty() && known != text) {
            waiting_.clear();
            return other(name_taken_rule);
        }
        if (!known.empty() && !is_own) continue;
        domain::command& naming = waiting_.emplace_back(domain::name_order_of(text));
        naming.session = id();
        naming.account = owner();
        naming.set_operator(is_operator());
        naming.instrument = place_of(command);
        naming.name_order().request_kind = static_cast<std::uint8_t>(command.kind);
    }
    return {};
}

// The commands of a message with several. A session that is stopped before all were taken ends, and those that were
// taken stand.
io::task<bool> fix_session::submit_waiting() {
    if (std::exchange(may_be_repeated_, false)) {
        const bool goes_on = co_await drop_repeated();
        if (!goes_on) co_return false;
    }
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        const bool taken = co_await gateway::submit(&shared_.commands, waiting_[i]);
        if (!taken) co_return false;
    }
    waiting_.clear();
    co_return true;
}

// An order with PossResend (97) is executed if no answer to the session is about it, and dropped if one is. While some
// answers are not kept any more, that cannot be known.
io::task<bool> fix_session::drop_repeated() {
    const bool is_answered = co_await gateway::wait_until_answered(&shared_.commands, shared_.commands.pushed_count());
    if (!is_answered) co_return false;
    const domain::command order = waiting_.back();  // behind the text of its name
    const std::uint64_t last = shared_.answers.detailed_count(id());
    const std::uint64_t first = shared_.answers.first_detailed_kept(id());
    const bool is_known = first == 1 && last <= resend_answers_max;
    gateway::answer_log::cursor near;
    bool was_answered = false;
    for (std::uint64_t i = first; is_known && i <= last && !was_answered; ++i) {
        const auto answer = shared_.answers.find_detailed(id(), i, near);
        was_answered = answer && is_about(*answer, order.client_order);
    }
    if (is_known && !was_answered) co_return true;
    waiting_.clear();
    if (is_known || !session_->may_send()) co_return true;
    fix::message_writer& writer = session_->begin_message("j", fix::moment_on(shared_.context));
    writer.put(fix::tag::ref_seq_num, order.request());
    writer.put(fix::tag::text, possible_resend.text);
    writer.put(fix::tag::ref_msg_type, "D");
    writer.put(fix::tag::business_reject_reason, possible_resend.business_reason);
    send_message(fix::moment_on(shared_.context));
    co_return true;
}

// Of a command that the queue has taken, and the venue has not: the peer may send it again.
void fix_session::refuse_request(std::uint32_t request, gateway::request_refusal why) noexcept {
    if (session_ == nullptr || !session_->may_send()) return;
    const fix::instant now = fix::moment_on(shared_.context);
    fix::message_writer& writer = session_->begin_message("j", now);
    writer.put(fix::tag::ref_seq_num, request);
    writer.put(fix::tag::text, why == gateway::request_refusal::journal_failed ? "The journal has failed"
                                                                               : "The venue has no capacity now");
    writer.put(fix::tag::ref_msg_type, "n/a");
    writer.put(fix::tag::business_reject_reason, business_reason_not_available);
    static_cast<void>(session_->send(now));
    output_ready_.set();
}

}  // namespace corro::fix_gateway
