// SPDX-License-Identifier: Apache-2.0
// From the bytes of a session to commands in the queue.
#include <array>
#include <span>

#include "gateway/binary/binary_session.hpp"
#include "gateway/binary/wire_reasons.hpp"
#include "gateway/session/queue_waits.hpp"

namespace corro::gateway {

io::task<void> binary_session::read_requests() {
    while (!is_ending()) {
        const auto next = wire::next_frame(channel_.received());
        if (!next) {
            ++shared_.statistics.protocol_errors;
            end(end_reason::protocol_error);
        } else if (*next) {
            const wire::frame frame = **next;
            const bool is_last_at_hand = frame.size() == channel_.received().size();
            if (channel_.is_at_prefetched_end() && !is_last_at_hand) prefetch_ahead();
            // The time of receipt is taken for the requests that are sampled; the others pay a decrement.
            std::uint64_t received_ticks = 0;
            if (shared_.options.timing_sample_every != 0 && shared_.sample_countdown-- == 0) {
                shared_.sample_countdown = shared_.options.timing_sample_every - 1;
                received_ticks = shared_.clock.now_ticks();
            }
            channel_.consume(frame.size());
            if (frame.sequence == 0) {
                take_session_message(frame);
            } else if (frame.message == wire::template_id::mass_quote) [[unlikely]] {
                const bool taken = co_await submit_mass_quote(frame);
                if (!taken) break;
            } else {
                std::uint64_t decoded_ticks = 0;
                while (!submit_request(frame, received_ticks, decoded_ticks)) {
                    const bool has_room = co_await wait_for_room(&shared_.commands);
                    if (!has_room) co_return;  // not taken and not answered: it was never read
                }
            }
        } else {
            // As `fill`, without a frame of its own: this is where a session waits.
            const std::span<std::byte> room = channel_.make_room();
            io::io_result read;
            if (io::stream_socket* const socket = channel_.socket()) [[likely]] {
                read = co_await socket->read_some(room);
            } else {
                read = co_await channel_.layered().read_some(room);
            }
            channel_.take_in(read.bytes);
            if (!take_in(read)) end(end_reason::connection_lost);
        }
    }
}

// What the requests at hand will need is fetched for several at once, before the first of them is executed. Of a single
// one it would be fetched no sooner than it is needed.
void binary_session::prefetch_ahead() noexcept {
    if (!shared_.commands.calls_consumer()) return;
    std::array<domain::prefetch_hint, domain::prefetch_hints_max> coming;
    std::size_t count = 0;
    std::size_t size = 0;
    const std::span<const std::byte> received = channel_.received();
    for (std::size_t frames = 0; frames < coming.size(); ++frames) {
        const auto next = wire::next_frame(received.subspan(size));
        if (!next || !*next) break;
        size += (*next)->size();
        if (!wire::decode_prefetch_hint(**next, coming[count])) continue;
        coming[count].account = owner();
        coming[count].session = id();
        ++count;
    }
    channel_.set_prefetched(size);
    if (count > 1) shared_.commands.expect(std::span(coming).first(count));
}

// Puts what one frame asks for into the queue. False: there was no room, and the request counts as not read. The
// command lives on the stack, which is in the cache whichever session's turn it is; a session's own memory seldom is.
bool binary_session::submit_request(const wire::frame& frame, std::uint64_t received_ticks,
                                    std::uint64_t& decoded_ticks) {
    domain::command command;
    if (!decode(frame, command)) return true;
    command_queue& commands = shared_.commands;
    ++shared_.statistics.requests;
    if (received_ticks == 0) {
        if (commands.try_push(command)) [[likely]]
            return true;
    } else {
        if (decoded_ticks == 0) decoded_ticks = shared_.clock.now_ticks();
        if (commands.try_push(command, received_ticks, decoded_ticks)) return true;
    }
    --shared_.statistics.requests;
    --next_request();
    return false;
}

// The commands of a mass quote, one after the other. False: stopped before all were taken; the session ends then, and
// what was taken stands.
io::task<bool> binary_session::submit_mass_quote(wire::frame frame) {
    watch_.note_received();
    if (!take_number(frame)) co_return true;
    if (is_drop_copy()) {
        refuse(frame, {wire::session_reject_reason::unexpected_message});
        co_return true;
    }
    wire::mass_quote_commands quotes;
    if (const wire::refusal refusal = wire::decode_mass_quote(frame, shared_.registry.instruments(), quotes)) {
        refuse(frame, refusal);
        co_return true;
    }
    ++shared_.statistics.requests;
    for (std::size_t i = 0; i < quotes.count; ++i) {
        domain::command& command = quotes.commands[i];
        command.session = id();
        command.account = owner();
        if (shared_.commands.try_push(command)) continue;
        const bool taken = co_await submit(&shared_.commands, command);
        if (taken) continue;
        if (i == 0) {
            // Not taken and not answered: it was never read.
            --next_request();
            --shared_.statistics.requests;
        }
        co_return false;
    }
    co_return true;
}

// A numbered frame. True: `command` is to be submitted; otherwise it was refused.
bool binary_session::decode(const wire::frame& frame, domain::command& command) {
    watch_.note_received();
    if (!take_number(frame)) return false;
    if (is_drop_copy()) {
        refuse(frame, {wire::session_reject_reason::unexpected_message});
        return false;
    }
    if (const wire::refusal refusal = wire::decode_command(frame, shared_.registry.instruments(), command)) {
        refuse(frame, refusal);
        return false;
    }
    command.session = id();
    command.account = owner();
    command.set_operator(is_operator());
    command.set_request(static_cast<std::uint32_t>(frame.sequence));
    return true;
}

namespace {

bool cancels(wire::template_id message) noexcept {
    return message == wire::template_id::cancel_order || message == wire::template_id::cancel_orders ||
           message == wire::template_id::kill_switch;
}

}  // namespace

// Whether a request has the number that it must have; it counts from then on. In Corro Binary the number of a message
// is the number of the request.
bool binary_session::take_number(const wire::frame& frame) {
    std::uint64_t& next = next_request();
    if (frame.sequence != next) {
        const bool repeated = frame.sequence < next;
        refuse(frame,
               {repeated ? wire::session_reject_reason::sequence_repeated : wire::session_reject_reason::sequence_gap});
        if (!repeated) end(end_reason::sequence_gap);
        return false;
    }
    if (frame.sequence > request_number_max) {
        refuse(frame, {wire::session_reject_reason::sequence_exhausted});
        return false;
    }
    ++next;
    if (frame.sequence > request_number_max - request_numbers_for_cancels && !cancels(frame.message)) [[unlikely]] {
        refuse(frame, {wire::session_reject_reason::sequence_exhausted});
        return false;
    }
    return true;
}

// Messages that are not numbered.
void binary_session::take_session_message(const wire::frame& frame) {
    watch_.note_received();
    if (const wire::refusal refusal = wire::check(frame)) return refuse(frame, refusal);
    switch (frame.message) {
        case wire::template_id::heartbeat:
            if (const std::uint64_t test = wire::heartbeat_view(frame).test_id(); test != 0) {
                wire::heartbeat echo;
                echo.echo_id = test;
                put(echo);
            }
            return;
        case wire::template_id::logout: end(end_reason::logged_out); return;
        case wire::template_id::logout_ack: return;
        case wire::template_id::status_request:
        case wire::template_id::snapshot_request: submit_admin_request(frame); return;
        default: refuse(frame, {wire::session_reject_reason::unexpected_message}); return;
    }
}

// A status_request or a snapshot_request, which is sound.
void binary_session::submit_admin_request(const wire::frame& frame) {
    if (!is_operator()) return refuse(frame, {wire_reason(request_refusal::not_an_operator)});
    admin_request question;
    question.session = id();
    question.logon = logon_number();
    if (frame.message == wire::template_id::snapshot_request) {
        question.wish = admin_request_kind::snapshot;
        question.question = wire::snapshot_request_view(frame).question();
    } else {
        question.question = wire::status_request_view(frame).question();
        question.instrument = wire::status_request_view(frame).instrument();
    }
    admin_service* const desk = shared_.options.desk;
    const request_refusal refusal = desk == nullptr ? request_refusal::not_known_here : desk->ask(question);
    if (refusal != request_refusal::none) refuse(frame, {wire_reason(refusal)});
}

void binary_session::refuse(const wire::frame& frame, wire::refusal refusal) {
    ++shared_.statistics.session_rejects;
    ++shared_.statistics.session_rejects_by[static_cast<std::uint8_t>(refusal.reason)];
    wire::reject reject;
    reject.refused_sequence = domain::sequence_number{frame.sequence};
    reject.refused_template = static_cast<std::uint16_t>(frame.message);
    reject.refused_field = refusal.field;
    reject.session_reject_reason = refusal.reason;
    put(reject);
}

}  // namespace corro::gateway
