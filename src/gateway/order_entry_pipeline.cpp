// The application's pipeline: from the bytes of a session to commands in the queue.
#include <array>
#include <span>

#include "gateway/order_entry_connection.hpp"

namespace corro::gateway {

io::task<void> order_entry_gateway::read_requests(connection* c) {
    while (!c->ended) {
        const auto next = wire::next_frame(c->received());
        if (!next) {
            ++statistics_.protocol_errors;
            end(*c, end_reason::protocol_error);
        } else if (*next) {
            const wire::frame frame = **next;
            const bool is_last_at_hand = c->input_begin + frame.size() == c->input_end;
            if (c->input_begin >= c->input_foreseen && !is_last_at_hand) prefetch_ahead(*c);
            // The time of receipt is taken for the requests that are sampled; the others pay a decrement.
            std::uint64_t received_ticks = 0;
            if (options_.timing_sample_every != 0 && sample_countdown_-- == 0) {
                sample_countdown_ = options_.timing_sample_every - 1;
                received_ticks = clock_.now_ticks();
            }
            c->input_begin += frame.size();
            if (frame.message == wire::template_id::mass_quote && frame.sequence != 0) [[unlikely]] {
                const bool taken = co_await submit_mass_quote(c, frame);
                if (!taken) break;
                continue;
            }
            std::uint64_t decoded_ticks = 0;
            if (!pass_on(*c, frame, received_ticks, decoded_ticks) &&
                !co_await submit(late_, received_ticks, decoded_ticks)) {
                // Not taken and not answered: for the client it must remain a request that was never read.
                --c->session->next_request;
                --statistics_.requests;
            }
        } else {
            // As `fill`, without a frame of its own: this is where a session waits.
            const std::span<std::byte> room = make_room(*c);
            io::io_result read;
            if (c->plain != nullptr) [[likely]] {
                read = co_await c->plain->read_some(room);
            } else {
                read = co_await c->stream.layered().read_some(room);
            }
            if (!take_in(*c, read)) end(*c, end_reason::connection_lost);
        }
    }
}

// What the requests at hand will need is fetched for several at once, before the first of them is executed. Of a single
// one it would be fetched no sooner than it is needed.
void order_entry_gateway::prefetch_ahead(connection& c) noexcept {
    if (!commands_.calls_consumer()) return;
    std::array<domain::prefetch_hint, domain::prefetch_hints_max> coming;
    std::size_t count = 0;
    std::size_t at = c.input_begin;
    for (std::size_t frames = 0; frames < coming.size(); ++frames) {
        const auto next = wire::next_frame(c.input.subspan(at, c.input_end - at));
        if (!next || !*next) break;
        at += (*next)->size();
        if (!wire::decode_prefetch_hint(**next, coming[count])) continue;
        coming[count].account = c.account;
        coming[count].session = c.session_id;
        ++count;
    }
    c.input_foreseen = at;
    if (count > 1) commands_.expect(std::span(coming).first(count));
}

// What one frame asks for goes into the queue. False: there was no room, and `late_` is the command. The command lives
// on the stack, which is in the cache whoever's turn it is; a session's frame seldom is.
bool order_entry_gateway::pass_on(connection& c, const wire::frame& frame, std::uint64_t received_ticks,
                                  std::uint64_t& decoded_ticks) {
    domain::command command;
    if (!handle(c, frame, command)) return true;
    ++statistics_.requests;
    if (received_ticks != 0) decoded_ticks = clock_.now_ticks();
    const bool taken =
        received_ticks != 0 ? commands_.try_push(command, received_ticks, decoded_ticks) : commands_.try_push(command);
    if (!taken) late_ = command;
    return taken;
}

// Puts a command into the queue, waiting for room as long as it takes. False: stopped before there was room.
io::task<bool> order_entry_gateway::submit(domain::command command, std::uint64_t received_ticks,
                                           std::uint64_t decoded_ticks) {
    while (!(received_ticks != 0 ? commands_.try_push(command, received_ticks, decoded_ticks)
                                 : commands_.try_push(command))) {
        commands_.room().reset();
        const std::error_code stopped = co_await commands_.room().wait();
        if (stopped) co_return false;
    }
    co_return true;
}

// The commands of a mass quote, one after the other. False: stopped before all were taken; the session ends then, and
// what was taken stands.
io::task<bool> order_entry_gateway::submit_mass_quote(connection* c, wire::frame frame) {
    c->heard = true;
    if (!take_number(*c, frame)) co_return true;
    if (c->only_listens) {
        refuse(*c, frame, {wire::session_reject_reason::unexpected_message});
        co_return true;
    }
    wire::mass_quote_commands quotes;
    if (const wire::refusal refusal = wire::decode_mass_quote(frame, instruments_, quotes)) {
        refuse(*c, frame, refusal);
        co_return true;
    }
    ++statistics_.requests;
    for (std::size_t i = 0; i < quotes.count; ++i) {
        domain::command& command = quotes.commands[i];
        command.session = c->session_id;
        command.account = c->account;
        if (commands_.try_push(command)) continue;
        const bool taken = co_await submit(command, 0, 0);
        if (taken) continue;
        if (i == 0) {
            // As with every request: not taken and not answered, it was never read.
            --c->session->next_request;
            --statistics_.requests;
        }
        co_return false;
    }
    co_return true;
}

// One sound frame. True: `command` is to be passed on.
bool order_entry_gateway::handle(connection& c, const wire::frame& frame, domain::command& command) {
    c.heard = true;
    if (frame.sequence == 0) return handle_session_message(c, frame);
    if (!take_number(c, frame)) return false;
    if (c.only_listens) {
        refuse(c, frame, {wire::session_reject_reason::unexpected_message});
        return false;
    }
    if (const wire::refusal refusal = wire::decode_command(frame, instruments_, command)) {
        refuse(c, frame, refusal);
        return false;
    }
    command.session = c.session_id;
    command.account = c.account;
    command.set_operator(c.is_operator);
    command.set_request(static_cast<std::uint32_t>(frame.sequence));
    return true;
}

namespace {

bool cancels(wire::template_id message) noexcept {
    return message == wire::template_id::cancel_order || message == wire::template_id::cancel_orders ||
           message == wire::template_id::kill_switch;
}

}  // namespace

// Whether a request has the number that it must have; it counts from then on.
bool order_entry_gateway::take_number(connection& c, const wire::frame& frame) {
    session_state& session = *c.session;
    if (frame.sequence != session.next_request) {
        const bool repeated = frame.sequence < session.next_request;
        refuse(c, frame,
               {repeated ? wire::session_reject_reason::sequence_repeated : wire::session_reject_reason::sequence_gap});
        if (!repeated) end(c, end_reason::sequence_gap);
        return false;
    }
    if (frame.sequence > request_number_max) {
        refuse(c, frame, {wire::session_reject_reason::sequence_exhausted});
        return false;
    }
    ++session.next_request;
    if (frame.sequence > request_number_max - request_numbers_for_cancels && !cancels(frame.message)) [[unlikely]] {
        refuse(c, frame, {wire::session_reject_reason::sequence_exhausted});
        return false;
    }
    return true;
}

// Messages that are not numbered. Never to be passed on.
bool order_entry_gateway::handle_session_message(connection& c, const wire::frame& frame) {
    if (const wire::refusal refusal = wire::check(frame)) {
        refuse(c, frame, refusal);
        return false;
    }
    switch (frame.message) {
        case wire::template_id::heartbeat:
            if (const std::uint64_t test = wire::heartbeat_view(frame).test_id(); test != 0) {
                wire::heartbeat echo;
                echo.echo_id = test;
                put(c, echo);
            }
            return false;
        case wire::template_id::logout:
            c.peer_logged_out = true;
            end(c, end_reason::logged_out);
            return false;
        case wire::template_id::logout_ack: return false;
        case wire::template_id::status_request:
        case wire::template_id::snapshot_request: submit_admin_request(c, frame); return false;
        default: refuse(c, frame, {wire::session_reject_reason::unexpected_message}); return false;
    }
}

void order_entry_gateway::refuse(connection& c, const wire::frame& frame, wire::refusal refusal) {
    ++statistics_.session_rejects;
    ++statistics_.session_rejects_by[static_cast<std::uint8_t>(refusal.reason)];
    wire::reject reject;
    reject.refused_sequence = domain::sequence_number{frame.sequence};
    reject.refused_template = static_cast<std::uint16_t>(frame.message);
    reject.refused_field = refusal.field;
    reject.session_reject_reason = refusal.reason;
    put(c, reject);
}

}  // namespace corro::gateway
