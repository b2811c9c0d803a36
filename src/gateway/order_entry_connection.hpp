// What the gateway keeps of a connection and of a session. Not part of its interface.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/byte_queue.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "gateway/transport.hpp"
#include "io/event.hpp"
#include "io/scope.hpp"
#include "wire/binary_codec.hpp"

namespace corro::gateway {

/// What outlives a connection, beside the answer log.
struct order_entry_gateway::session_state {
    connection* active = nullptr;
    /// Counts the requests that were read. The log counts those that were sequenced: they may still be in the queue, or
    /// have been refused here.
    std::uint64_t next_request = 1;
    std::uint64_t logons = 0;  ///< ever
    /// The facility may have a cancel on disconnect of the session.
    bool cancel_is_noted = false;
    domain::account_id old_cancel{};  ///< the account, until the session has logged on after a restart; 0: none
};

/// One connection, from accept to the end.
struct order_entry_gateway::connection {
    connection(transport_stream s, std::size_t output_bytes)
        : stream(std::move(s)), plain(stream.socket()), output(output_bytes) {}

    [[nodiscard]] std::span<const std::byte> received() const noexcept {
        return std::span(input).subspan(input_begin, input_end - input_begin);
    }

    transport_stream stream;
    std::optional<io::endpoint> from;  ///< where the peer is; nothing of a local socket
    io::stream_socket* plain;          ///< `stream` where it is the kernel's own; otherwise nullptr
    base::byte_queue output;
    io::auto_event output_ready;
    io::task_scope* scope = nullptr;  ///< of the phase that runs: logging on, or being active
    std::array<std::byte, 32> challenge{};
    session_state* session = nullptr;  ///< set once the logon is accepted
    domain::session_id session_id{};
    domain::account_id account{};    ///< proven once `session` is set; before, what the hello claims
    std::uint64_t key_id = 0;        ///< of the key that was proven
    std::uint64_t asked_answer = 0;  ///< the first answer that the client wants; 0 when it wants none but new ones
    std::uint64_t first_answer = 0;  ///< number of the first answer that this connection carries
    std::uint64_t next_resent = 0;   ///< while `resending`: the number of the answer to be sent next
    std::uint16_t protocol_version = 0;
    std::chrono::milliseconds heartbeat{};
    std::optional<wire::logout_reason> ended;  ///< why; empty while the connection lives
    bool resending = false;                    ///< answers are sent out of the log, new ones too, until all are sent
    bool cancel_on_disconnect = false;
    bool is_operator = false;
    bool only_listens = false;  ///< a drop copy
    bool peer_logged_out = false;
    bool peer_gone = false;     ///< nothing can be sent any more
    bool overflowed = false;    ///< the output buffer was full once: nothing may be added any more
    bool pending = false;       ///< is in pending_
    bool writer_waits = false;  ///< all that was buffered is written, and the writer waits for more
    bool heard = false;         ///< something came since the last look
    bool said = false;          ///< something was sent since the last look
    std::size_t input_begin = 0;
    std::size_t input_end = 0;
    std::size_t input_foreseen = 0;                   ///< end of the frames whose needs are fetched already
    std::array<std::byte, input_buffer_bytes> input;  // deliberately not initialised
};

/// What the venue says to a client that the time is.
[[nodiscard]] inline domain::time_ns wall_clock_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return domain::time_ns{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

template <class Message>
void order_entry_gateway::put(connection& c, const Message& message) {
    const auto room = c.output.reserve(Message::frame_bytes);
    if (room.empty()) return overflow(c);
    wire::store(message, 0, room.data());
    c.output.commit(room.size());
    mark_pending(c);
}

}  // namespace corro::gateway
