// Session, third part: the bytes of a connection in both directions, and what is sent again.
#include <chrono>
#include <cstring>
#include <vector>

#include "gateway/order_entry_connection.hpp"
#include "io/loop/timer.hpp"

namespace corro::gateway {

// Writes what is buffered as long as the session lives: first the welcome, then what the client missed, then whatever
// was delivered since.
io::task<void> order_entry_gateway::write_pending(connection* c) {
    {
        const std::vector<std::byte> bytes = welcome(*c);
        io::io_result written;
        if (c->plain != nullptr) {
            written = co_await c->plain->write_all(bytes);
        } else {
            written = co_await c->stream.layered().write_all(bytes);
        }
        if (written.error) {
            c->peer_gone = true;
            end(*c, end_reason::connection_lost);
            co_return;
        }
    }
    bool writable = co_await resend(c);
    while (writable && co_await drain(c)) {
        c->writer_waits = true;
        const std::error_code stopped = co_await c->output_ready.wait();
        c->writer_waits = false;
        if (stopped) co_return;
    }
}

// Sends the answers that the client has missed, out of the log, until none is left; false as with `drain`. What is
// delivered meanwhile only goes into the log, so that everything comes in the order of its number. However many
// sessions ask for their past, one of them gets one batch in a turn of the loop; the others wait in a line.
io::task<bool> order_entry_gateway::resend(connection* c) {
    while (c->resending) {
        const std::error_code stopped = co_await resend_turn_.lock();
        if (stopped) co_return false;
        if (c->resending) buffer_kept(*c);
        // A turn of the loop: a yield would let only those go first who are ready already.
        const std::error_code stopped_here = co_await io::sleep_for(std::chrono::nanoseconds(1));
        resend_turn_.unlock();
        if (stopped_here) co_return false;
        const bool written = co_await drain(c);
        if (!written) co_return false;
    }
    co_return true;
}

// The next batch of them, as far as there is room.
void order_entry_gateway::buffer_kept(connection& c) {
    const std::uint64_t batch_end = c.next_resent + options_.answers_per_turn_max;
    while (c.next_resent != answers_.next_answer(c.session_id)) {
        if (c.next_resent == batch_end) return;
        const domain::event* const event = answers_.find(c.session_id, c.next_resent, c.resent);
        if (event == nullptr) {
            // The client reads more slowly than the venue forgets.
            c.overflowed = true;
            ++statistics_.slow_cut;
            c.resending = false;
            return end(c, end_reason::resend_unavailable);
        }
        const auto room = c.output.reserve(wire::message_bytes_max);
        if (room.empty()) return;
        c.output.commit(wire::encode(*event, instruments_.find_or_nameless(event->instrument), c.next_resent, room));
        c.said = true;
        ++c.next_resent;
        ++statistics_.answers_resent;
    }
    c.resending = false;
}

// Writes until the output buffer is empty; false when the connection is beyond use or a stop was requested.
io::task<bool> order_entry_gateway::drain(connection* c) {
    while (true) {
        const auto ready = c->output.readable();
        if (ready.empty()) co_return true;
        io::io_result written;
        if (c->plain != nullptr) [[likely]] {
            written = co_await c->plain->write_some(ready);
        } else {
            written = co_await c->stream.layered().write_some(ready);
        }
        c->output.consume(written.bytes);
        if (!written.error) continue;
        if (written.error != io::condition::canceled) {
            c->peer_gone = true;
            end(*c, end_reason::connection_lost);
        }
        co_return false;
    }
}

// Writes what is buffered without a turn of the loop, if that is possible now; false when the writer must do it.
bool order_entry_gateway::send_now(connection& c) noexcept {
    if (!c.writer_waits || c.plain == nullptr) return false;
    const auto ready = c.output.readable();
    if (ready.empty()) return true;
    const io::io_result written = c.plain->try_write(ready);
    c.output.consume(written.bytes);
    if (written.bytes != 0) c.said = true;
    return c.output.empty();
}

// Room behind the bytes that wait.
std::span<std::byte> order_entry_gateway::make_room(connection& c) noexcept {
    if (c.input_begin != 0) {
        std::memmove(c.input.data(), c.input.data() + c.input_begin, c.input_end - c.input_begin);
        c.input_end -= c.input_begin;
        c.input_begin = 0;
        c.input_foreseen = 0;
    }
    return c.input.subspan(c.input_end);
}

// What was read into that room; false when the peer is gone or a stop was requested.
bool order_entry_gateway::take_in(connection& c, const io::io_result& read) noexcept {
    c.input_end += read.bytes;
    if (!read.error) return true;
    if (read.error != io::condition::canceled) c.peer_gone = true;
    return false;
}

// Reads some bytes behind those that wait; false when the peer is gone or a stop was requested.
io::task<bool> order_entry_gateway::fill(connection* c) {
    const std::span<std::byte> room = make_room(*c);
    io::io_result read;
    if (c->plain != nullptr) [[likely]] {
        read = co_await c->plain->read_some(room);
    } else {
        read = co_await c->stream.layered().read_some(room);
    }
    co_return take_in(*c, read);
}

}  // namespace corro::gateway
