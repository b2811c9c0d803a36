// SPDX-License-Identifier: Apache-2.0
// From answers to the bytes of a session.
#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "base/defect.hpp"
#include "gateway/binary/binary_session.hpp"
#include "gateway/binary/wire_reasons.hpp"
#include "io/loop/timer.hpp"

namespace corro::gateway {

// Writes what is buffered as long as the session lives: first the welcome, then what the client missed, then what was
// delivered since.
io::task<void> binary_session::write_pending() {
    {
        const std::vector<std::byte> bytes = welcome();
        const io::io_result written = co_await channel_.write_all(bytes);
        if (written.error) {
            lose();
            end(end_reason::connection_lost);
            co_return;
        }
    }
    bool is_written = co_await resend();
    while (is_written) {
        is_written = co_await drain();
        if (!is_written) co_return;
        writer_is_idle_ = true;
        const std::error_code stopped = co_await output_ready_.wait();
        writer_is_idle_ = false;
        if (stopped) co_return;
    }
}

// Sends the answers that the client has missed, out of the log, until none is left; false as with `drain`. What is
// delivered meanwhile only goes into the log, so that everything comes in the order of its number. However many
// sessions ask for their past, one of them gets one batch in a turn of the loop; the others wait in a line.
io::task<bool> binary_session::resend() {
    while (delivery() == answer_delivery::from_log) {
        const std::error_code stopped = co_await shared_.registry.resend_turn().lock();
        if (stopped) co_return false;
        if (delivery() == answer_delivery::from_log) take_kept_answers();
        // A turn of the loop: a yield would let only those go first who are ready already.
        const std::error_code stopped_here = co_await io::sleep_for(std::chrono::nanoseconds(1));
        shared_.registry.resend_turn().unlock();
        if (stopped_here) co_return false;
        const bool written = co_await drain();
        if (!written) co_return false;
    }
    co_return true;
}

// The next batch of them, as far as there is room.
void binary_session::take_kept_answers() {
    std::size_t left = shared_.options.answers_per_turn_max;
    while (next_answer() != shared_.answers.next_answer(id())) {
        if (left == 0) return;
        const auto kept = shared_.answers.find_run(id(), next_answer(), taken_);
        if (kept.empty()) return cut(end_reason::resend_unavailable);  // it reads more slowly than the venue forgets
        for (const domain::event& answer : kept.first(std::min(kept.size(), left))) {
            if (!encode(CORRO_DEFECT(resend_repeats_content) ? kept.front() : answer)) return;
            watch_.note_sent();
            ++shared_.statistics.answers_resent;
            --left;
        }
    }
    go_live();
}

void binary_session::take_answers() noexcept {
    if (delivery() != answer_delivery::live) return;
    const std::uint64_t end = shared_.answers.next_answer(id());
    while (next_answer() != end) {
        const auto kept = shared_.answers.find_run(id(), next_answer(), taken_);
        for (const domain::event& answer : kept) {
            if (encode(answer)) {
                ++shared_.statistics.answers;
                continue;
            }
            shared_.statistics.answers_undelivered += end - next_answer();
            return overflow();
        }
        if (kept.empty()) [[unlikely]] {
            // A log with less than a block for each session gives up answers that are a moment old.
            shared_.statistics.answers_undelivered += end - next_answer();
            return cut(end_reason::resend_unavailable);
        }
    }
}

void binary_session::flush() noexcept {
    take_answers();
    if (!send_now()) wake_writer();
}

// Puts the answer with the number `next_answer` into the output. False: there is no room.
bool binary_session::encode(const domain::event& answer) noexcept {
    const std::span<std::byte> room = channel_.output().reserve(wire::message_bytes_max);
    if (room.empty()) return false;
    const domain::instrument& instrument = shared_.registry.instruments().find_or_nameless(answer.instrument);
    channel_.output().commit(wire::encode(answer, instrument, next_answer(), room));
    ++next_answer();
    return true;
}

// Room for a message that is not numbered, behind the answers that were delivered before it.
std::span<std::byte> binary_session::reserve(std::size_t size) noexcept {
    if (has_news()) take_answers();
    return channel_.output().reserve(size);
}

// Not numbered: a session that logs on later gets it with the other instruments.
void binary_session::send_definition(const domain::instrument& added) noexcept {
    if (is_ending() || !course_.may_send()) return;
    const std::span<std::byte> room =
        reserve(wire::instrument_definition::frame_bytes + added.legs_count * wire::instrument_leg::frame_bytes);
    if (room.empty()) return overflow();
    std::size_t size = wire::encode(added, 0, room);
    for (std::size_t leg = 0; leg < added.legs_count; ++leg) {
        size += wire::encode_leg(added, leg, 0, room.subspan(size));
    }
    channel_.output().commit(size);
    wake_writer();
}

void binary_session::refuse_request(std::uint32_t request, request_refusal why) noexcept {
    wire::reject reject;
    reject.refused_sequence = domain::sequence_number{request};
    reject.session_reject_reason = wire_reason(why);
    put(reject);
}

void binary_session::send_admin_reply(const admin_reply& reply, const order_entry_report& report) {
    const venue_report& venue = reply.venue;
    if (reply.to.wish == admin_request_kind::snapshot) {
        wire::snapshot_answer answer;
        answer.question = reply.to.question;
        answer.durable_command = domain::sequence_number{venue.durable_command};
        answer.snapshot_outcome = wire_outcome(reply.outcome);
        return put(answer);
    }
    wire::venue_status status;
    status.question = reply.to.question;
    status.time = wall_time(shared_.context);
    status.last_command = domain::sequence_number{venue.last_command};
    status.durable_command = domain::sequence_number{venue.durable_command};
    status.snapshot_command = domain::sequence_number{venue.snapshot_command};
    status.commands_waiting = report.commands_waiting;
    status.feed_sequence = domain::sequence_number{venue.feed_sequence};
    status.sessions_count = report.sessions_count;
    status.sessions_max = report.sessions_max;
    status.journal_state = wire_state(venue.journal);
    status.trading_phase = venue.phase;
    status.segment = venue.partition;
    status.segments_count = venue.partitions_count;
    status.instrument = venue.instrument;
    put(status);
}

// The peer does not read: from here on it gets nothing, so that it never sees a message with others missing before it.
void binary_session::overflow() noexcept {
    cut(end_reason::slow_consumer);
}

void binary_session::cut(end_reason why) noexcept {
    const bool was_ending = is_ending();
    if (course_.cut(why)) ++shared_.statistics.slow_cut;
    stop_answers();
    if (!was_ending && scope_ != nullptr) scope_->request_stop();
}

void binary_session::wake_writer() noexcept {
    watch_.note_sent();
    output_ready_.set();
}

// Writes until the output is empty; false when the connection is beyond use or a stop was requested.
io::task<bool> binary_session::drain() {
    while (true) {
        if (has_news()) take_answers();
        const std::span<const std::byte> ready = channel_.output().readable();
        if (ready.empty()) co_return true;
        io::io_result written;
        if (io::stream_socket* const socket = channel_.socket()) [[likely]] {
            written = co_await socket->write_some(ready);
        } else {
            written = co_await channel_.layered().write_some(ready);
        }
        channel_.output().consume(written.bytes);
        if (!written.error) continue;
        if (written.error != io::condition::canceled) {
            lose();
            end(end_reason::connection_lost);
        }
        co_return false;
    }
}

// Writes what is buffered without a turn of the loop, if that is possible now; false when the writer must do it.
bool binary_session::send_now() noexcept {
    if (!writer_is_idle_ || channel_.socket() == nullptr) return false;
    if (channel_.output().empty()) return true;
    if (channel_.try_write() != 0) watch_.note_sent();
    return channel_.output().empty();
}

// What a read brought: false when the peer is gone or a stop was requested.
bool binary_session::take_in(const io::io_result& read) noexcept {
    if (!read.error) return true;
    if (read.error != io::condition::canceled) lose();
    return false;
}

}  // namespace corro::gateway
