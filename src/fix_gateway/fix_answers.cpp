// SPDX-License-Identifier: Apache-2.0
// From answers to the bytes of a session.
#include <span>

#include "fix/net/connection.hpp"
#include "fix_gateway/answers.hpp"
#include "fix_gateway/fix_session.hpp"
#include "gateway/session/queue_waits.hpp"

namespace corro::fix_gateway {

using gateway::end_reason;

namespace {

/// A resend is written in pieces of this size, between which other messages are read.
constexpr std::size_t resend_bytes = 64U * 1024;

}  // namespace

void fix_session::take_answers() noexcept {
    put_answers();
    output_ready_.set();
}

// The caller sees to it that they are written.
void fix_session::put_answers() noexcept {
    if (delivery() != gateway::answer_delivery::live || session_ == nullptr || !session_->may_send()) return;
    if (!has_answers_left()) return;
    const fix::instant now = fix::moment_on(shared_.context);
    while (has_answers_left()) {
        if (session_->output().size() > shared_.options.output_buffer_bytes) {
            if (peer_is_behind_) return cut(end_reason::slow_consumer);
            return;  // the others are in the log
        }
        const std::uint64_t before = store_->next_answer();
        put_answer(now);
        if (store_->next_answer() == before) return;  // it has ended
    }
    next_answer() = shared_.answers.next_answer(id());
}

// The next answer. A peer that lets the venue forget it before it is written is cut off.
void fix_session::put_answer(fix::instant now) noexcept {
    const auto answer = shared_.answers.find_detailed(id(), store_->next_answer(), near_);
    if (!answer) return cut(end_reason::resend_unavailable);
    fix::message_writer& writer = session_->begin_message(message_type_of(*answer, store_->version()), now);
    const domain::instrument& instrument = shared_.instruments.instruments().find_or_nameless(answer->event.instrument);
    write_body(*answer, instrument, store_->version(), writer);
    store_->expect_answer();
    if (session_->send(now) == 0) cut(end_reason::protocol_error);
}

void fix_session::flush() noexcept {
    put_answers();
    if (!send_now() || has_answers_left()) output_ready_.set();
}

// Writes what is there without a turn of the loop, if that is possible now; false when the writer must do it.
bool fix_session::send_now() noexcept {
    if (!writer_is_idle_ || session_ == nullptr || store_->has_uncounted() || session_->is_resending()) return false;
    io::stream_socket* const socket = stream_.socket();
    if (socket == nullptr) return false;
    const std::string_view ready = session_->output();
    if (ready.empty()) return true;
    const io::io_result written = socket->try_write(std::as_bytes(std::span(ready.data(), ready.size())));
    session_->consume(written.bytes);
    return session_->output().empty();
}

io::task<void> fix_session::write_pending() {
    while (true) {
        const bool is_written = co_await drain();
        if (!is_written) co_return;
        if (is_over()) co_return end_with_session();
        writer_is_idle_ = true;
        const std::error_code stopped = co_await output_ready_.wait();
        writer_is_idle_ = false;
        if (stopped) co_return;
    }
}

// Writes until nothing is left; false when the connection is beyond use or a stop was requested. Takes the whole output
// at once, so that the session may go on while it is written.
io::task<bool> fix_session::drain() {
    while (true) {
        put_answers();
        if (written_ == writing_.size()) {
            writing_.clear();
            written_ = 0;
            session_->resend(resend_bytes, fix::moment_on(shared_.context));
            session_->take_output(&writing_);
            store_->take_uncounted(&notes_);
            output_written_.set();
            list_may_go_on_.set();
            if (writing_.empty()) co_return true;
        }
        const counted done = co_await count();
        if (done == counted::failed) {
            // What is not in the journal must not leave.
            lose();
            end(end_reason::journal_failed);
        }
        if (done != counted::yes) co_return false;
        const std::span<const std::byte> ready =
            std::as_bytes(std::span(writing_.data() + written_, writing_.size() - written_));
        io::io_result written;
        peer_is_behind_ = true;
        if (io::stream_socket* const socket = stream_.socket()) [[likely]] {
            written = co_await socket->write_some(ready);
        } else {
            written = co_await stream_.layered().write_some(ready);
        }
        peer_is_behind_ = false;
        written_ += written.bytes;
        if (!written.error) continue;
        if (written.error != io::condition::canceled) {
            lose();
            end(end_reason::connection_lost);
        }
        co_return false;
    }
}

// Has the numbers of the session's own messages journaled, if `writing_` has any. When that has failed, it fails again
// for the same bytes: a farewell must not send them either. A note behind one that is missing is not taken.
io::task<fix_session::counted> fix_session::count() {
    while (!notes_.empty()) {
        const gateway::message_numbers::note& next = notes_.front();
        domain::command note;
        note.kind = domain::command_kind::count_messages;
        note.session = id();
        note.account = owner();
        note.set_operator(is_operator());
        note.count_messages().number = next.number;
        note.count_messages().count = static_cast<std::uint32_t>(next.count);
        note.count_messages().next_answer = next.next_answer;
        if (!shared_.commands.try_push(note)) {
            const bool has_room = co_await gateway::wait_for_room(&shared_.commands);
            if (!has_room) co_return counted::stopped;
            continue;
        }
        last_noted_ = next.number;
        noted_until_ = shared_.commands.pushed_count();
        notes_.erase(notes_.begin());
    }
    if (noted_until_ == 0) co_return counted::yes;
    const bool is_answered = co_await gateway::wait_until_answered(&shared_.commands, noted_until_);
    if (!is_answered) co_return counted::stopped;
    if (!shared_.answers.numbers(id()).has(last_noted_)) co_return counted::failed;
    noted_until_ = 0;
    co_return counted::yes;
}

}  // namespace corro::fix_gateway
