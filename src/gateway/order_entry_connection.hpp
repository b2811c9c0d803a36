// What the gateway keeps of a connection and of a session. Not part of its interface.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_queue.hpp"
#include "gateway/binary/wire_reasons.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "gateway/transport.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "wire/binary_codec.hpp"

namespace corro::gateway {

/// What outlives a connection, beside the answer log.
struct order_entry_gateway::session_state {
    connection* active = nullptr;
    /// Counts the requests that were read. The log counts those that were sequenced: they may still be in the queue, or
    /// have been refused here.
    std::uint64_t next_request = 1;
    std::uint64_t logons = 0;          ///< ever
    std::uint64_t reset_position = 0;  ///< in the queue, behind the last reset_session_numbers
    /// The facility may have a cancel on disconnect of the session.
    bool cancel_is_journaled = false;
    domain::account_id old_cancel{};  ///< the account, until the session has logged on after a restart; 0: none
    std::chrono::steady_clock::time_point window_begin{};
    std::uint32_t window_logons = 0;  ///< since then
};

/// Somebody who has been let in, from accept to the end of the connection. Until the logon it may be turned out.
struct order_entry_gateway::unauthenticated_connection final : io::admission::guest {
    unauthenticated_connection(order_entry_gateway& at, const std::optional<io::endpoint>& peer) noexcept
        : gateway(at), from(peer) {
        ++gateway.statistics_.connections_now;
        gateway.connections_peak_ = std::max(gateway.connections_peak_, gateway.statistics_.connections_now);
    }
    ~unauthenticated_connection() {
        --gateway.statistics_.connections_now;
        if (has_farewell) --gateway.refusals_under_way_;
    }
    unauthenticated_connection(const unauthenticated_connection&) = delete;
    unauthenticated_connection& operator=(const unauthenticated_connection&) = delete;

    void evict() noexcept override {
        evicted = true;
        if (conversation != nullptr) return gateway.evict(*conversation, *this);
        if (greeting != nullptr) end_greeting();
    }
    void end_greeting() noexcept;
    /// Whether it may be told why it has to go although that takes a while; false when as many are told already.
    [[nodiscard]] bool reserve_refusal() noexcept;

    order_entry_gateway& gateway;
    std::optional<io::endpoint> from;    ///< nothing of a local socket
    io::task_scope* greeting = nullptr;  ///< what its transport wants first
    connection* conversation = nullptr;  ///< once that is over
    bool evicted = false;
    bool is_asked = false;      ///< a request of it is waited for, which can be answered
    bool has_farewell = false;  ///< counts in refusals_under_way_
};

/// One connection, from accept to the end.
struct order_entry_gateway::connection {
    explicit connection(transport_stream s) : stream(std::move(s)), plain(stream.socket()) {
        input = std::span(first_input);
    }

    [[nodiscard]] std::span<const std::byte> received() const noexcept {
        return input.subspan(input_begin, input_end - input_begin);
    }
    /// What a session needs, in place of the little that is enough for a logon. @pre Nothing waits to be sent.
    void grow(std::unique_ptr<std::byte[]> buffers, std::size_t output_bytes) noexcept {
        CORRO_ASSERT(output.empty());
        const std::span<std::byte> fresh(buffers.get(), input_buffer_bytes);
        std::memcpy(fresh.data(), input.data() + input_begin, input_end - input_begin);
        input = fresh;
        input_end -= input_begin;
        input_begin = 0;
        output = base::byte_queue(std::span(buffers.get() + input_buffer_bytes, output_bytes));
        memory = std::move(buffers);
    }

    transport_stream stream;
    std::optional<io::endpoint> from;     ///< where the peer is; nothing of a local socket
    io::stream_socket* plain;             ///< `stream` where it is the kernel's own; otherwise nullptr
    std::unique_ptr<std::byte[]> memory;  ///< of a session's input and output; from the gateway's pool
    std::array<std::byte, stranger_buffer_bytes> first_input;   // deliberately not initialised
    std::array<std::byte, stranger_buffer_bytes> first_output;  // deliberately not initialised
    base::byte_queue output{std::span<std::byte>(first_output)};
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
    answer_log::cursor resent;       ///< where the one before it was found
    std::uint16_t protocol_version = 0;
    std::chrono::milliseconds heartbeat{};
    std::optional<end_reason> ended;  ///< why; empty while the connection lives
    bool resending = false;                    ///< answers are sent out of the log, new ones too, until all are sent
    bool cancel_on_disconnect = false;
    bool is_operator = false;
    bool only_listens = false;  ///< a drop copy
    bool peer_logged_out = false;
    bool peer_gone = false;     ///< nothing can be sent any more
    bool overflowed = false;    ///< the output buffer was full once: nothing may be added any more
    bool day_is_over = false;   ///< the session's numbers were reset: later answers are for its next connection
    bool pending = false;       ///< is in pending_
    bool writer_waits = false;  ///< all that was buffered is written, and the writer waits for more
    bool heard = false;         ///< something came since the last look
    bool said = false;          ///< something was sent since the last look
    std::size_t input_begin = 0;
    std::size_t input_end = 0;
    std::size_t input_foreseen = 0;  ///< end of the frames whose needs are fetched already
    std::span<std::byte> input;
};

static_assert(stranger_buffer_bytes >= wire::frame_bytes_max, "a whole frame fits, or a logon would wait for ever");

/// Which numbering of a session it is, as the protocol has it.
[[nodiscard]] constexpr std::uint8_t session_day_of(std::uint32_t days_count) noexcept {
    return static_cast<std::uint8_t>((days_count - 1) % 255 + 1);
}

/// The time of day, for clients to compare with theirs.
[[nodiscard]] inline domain::time_ns wall_time(const io::context& here) {
    const auto now = here.wall_now().time_since_epoch();
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
