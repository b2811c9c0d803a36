// SPDX-License-Identifier: Apache-2.0
// A WebSocket connection: messages in, messages out, until one side closes.
//
//     auto opened = co_await websocket::accept(on, options);            // in a handler of an http::server
//     if (!opened) co_return;
//     websocket::connection& peer = **opened;
//     for (;;) {
//         auto message = co_await peer.receive();
//         if (!message) co_return;                                      // websocket::errc::closed, or an error if
//         (co_await peer.send(message->is_text, message->data)) co_return;
//     }
//
// `receive` answers pings, assembles fragments and decompresses. A broken rule closes the connection with the matching
// code.
//
// Limits:  connection_limits.
// Threads: one context.
// Cost:    an uncompressed message in one piece is returned without a copy; sending copies it once (up to 64 KiB) or
//          not at all.
// Source:  RFC 6455, RFC 7692.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "http/exchange.hpp"
#include "io/loop/platform.hpp"
#include "io/net/stream.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "websocket/deflate.hpp"
#include "websocket/errors.hpp"
#include "websocket/handshake.hpp"
#include "websocket/limits.hpp"
#include "websocket/receiver.hpp"

namespace corro::websocket {

/// Options of a connection.
struct connection_options {
    connection_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Sizes and times.
    connection_limits limits;
    /// Options of compression.
    deflate_options deflate;
    /// Supported subprotocols, the preferred one first.
    std::vector<std::string> protocols;
    /// For servers: the origins that may connect.
    origin_rules origins;
};

/// A received message.
struct message {
    message() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Text (UTF-8, checked) or bytes.
    bool is_text = false;
    /// Its contents.
    std::span<const std::byte> data;
    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(data.data()), data.size()};
    }
};

/// One end of an open WebSocket.
class connection {
 public:
    /// A connection over `stream`, which must outlive it, after the handshake.
    /// @param received  Bytes that the peer had sent already.
    connection(io::any_stream* stream, role self, const connection_options& options, const handshake_answer& agreed,
               std::span<const std::byte> received);
    /// A connection that owns its stream.
    connection(io::any_stream stream, role self, const connection_options& options, const handshake_answer& agreed,
               std::span<const std::byte> received);
    /// From where a client takes the keys that mask its messages; before that from `io::default_platform`.
    void take_keys_from(io::platform& random) noexcept { random_ = &random; }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Receives the next message; answers pings, and sends queued messages before it waits.
    ///
    /// @return  A view that is valid until the next `receive`.
    /// @error   errc::closed when the peer has closed (see `peer_code`), another errc for a broken rule (the peer
    ///          gets its code), end_of_stream without a close frame, timed_out for a silent peer, operation_canceled
    ///          on stop.
    /// @suspend Until a message has arrived; resumes on the stream's context.
    /// @overlap One receive and any number of sends.
    /// @cancel  Observes the task's stop token; received bytes are not lost.
    [[nodiscard]] io::task<std::expected<message, std::error_code>> receive();

    /// Sends a message.
    ///
    /// @return  The error, if any: not_open, timed_out, operation_canceled on stop, the stream's errors.
    /// @suspend While the stream takes no more; resumes on its context.
    /// @overlap Any number of sends; their messages are sent completely, in the order of the calls.
    /// @cancel  Observes the task's stop token. After a stop within a message of more than 64 KiB the connection
    ///          cannot be used any more; the rest of other messages is sent with the next flush.
    [[nodiscard]] io::task<std::error_code> send(bool is_text, std::span<const std::byte> data);
    /// Sends a text message. Otherwise as `send`. @param text  UTF-8.
    [[nodiscard]] io::task<std::error_code> send_text(std::string_view text);

    /// Queues a message for the next `flush`, `send` or waiting `receive`. @return Whether the connection is open.
    bool queue(bool is_text, std::span<const std::byte> data);
    /// The number of queued bytes.
    [[nodiscard]] std::size_t queued_bytes() const noexcept { return out_.size(); }
    /// Whether the next `receive` may return a message without waiting.
    [[nodiscard]] bool has_input() const noexcept { return receiver_.has_input(); }
    /// Sends queued messages; after a stop the rest stays queued. Otherwise as `send`.
    [[nodiscard]] io::task<std::error_code> flush();

    /// Sends a ping, with up to 125 bytes (asserted). `receive` notes the answer.
    [[nodiscard]] io::task<std::error_code> ping(std::span<const std::byte> payload);
    [[nodiscard]] std::uint64_t pongs_count() const noexcept { return pongs_count_; }

    /// Closes the connection: sends a close frame and waits for the peer's, at most `limits.close`. Messages that
    /// arrive during that time are dropped, unless another task receives them.
    ///
    /// @param code    One that may be sent (asserted).
    /// @param reason  At most 123 bytes of UTF-8; more is cut.
    /// @return        No error if the peer closed too; otherwise the reason why not.
    /// @suspend       Until then.
    /// @cancel        Observes the task's stop token.
    [[nodiscard]] io::task<std::error_code> close(close_code code = close_code::normal, std::string_view reason = {});

    /// Closes the stream beneath at once, without a close frame. Operations in progress end with an error.
    void abort() noexcept;

    /// The code and the reason of the peer's close frame; `abnormal` while there is none.
    [[nodiscard]] close_code peer_code() const noexcept { return peer_code_; }
    [[nodiscard]] std::string_view peer_reason() const noexcept { return peer_reason_; }
    /// The agreed subprotocol; empty for none.
    [[nodiscard]] std::string_view protocol() const noexcept { return protocol_; }
    [[nodiscard]] bool compresses() const noexcept { return deflater_.has_value(); }
    [[nodiscard]] bool is_open() const noexcept { return !close_sent_ && !broken_; }
    /// Memory used for received bytes that were not returned yet.
    [[nodiscard]] std::size_t held_bytes() const noexcept { return receiver_.held_bytes(); }

 private:
    void append_frame(opcode code, std::span<const std::byte> payload, bool compressed);
    void append_close(std::optional<close_code> code, std::string_view reason);
    [[nodiscard]] std::array<std::byte, 4> next_key();
    [[nodiscard]] io::task<io::io_result> write(std::span<const std::byte> bytes);
    [[nodiscard]] io::task<std::error_code> write_out();
    [[nodiscard]] io::task<std::error_code> write_if_idle();
    [[nodiscard]] io::task<std::error_code> send_in_place(bool is_text, std::span<const std::byte> data);
    [[nodiscard]] io::task<std::error_code> fill();
    [[nodiscard]] io::task<std::error_code> fail(errc code);
    [[nodiscard]] io::task<std::error_code> answer_close(receiver::event closing);
    [[nodiscard]] io::task<std::error_code> await_peers_close();

    io::any_stream own_;
    io::any_stream* stream_;
    connection_limits limits_;
    deflate_options deflate_;
    receiver receiver_;
    std::optional<deflater> deflater_;
    std::string out_;
    std::string writing_;
    std::string compressed_;
    io::mutex writing_turn_;
    io::manual_event ended_;  // set when receiving has ended
    std::string protocol_;
    std::string peer_reason_;
    std::array<std::byte, 256> keys_{};
    std::size_t keys_used_ = 256;
    io::platform* random_ = &io::default_platform();
    std::uint64_t pongs_count_ = 0;
    close_code peer_code_ = close_code::abnormal;
    role self_;
    bool close_sent_ = false;
    bool close_received_ = false;
    bool broken_ = false;
    bool receiving_ = false;
    std::uint8_t silences_count_ = 0;  // consecutive waits without a byte
    std::error_code end_;              // why receiving has ended
};

/// Answers a request for a WebSocket, in a handler of an `http::server`. The connection must not outlive the
/// handler.
///
/// @return  The open connection. Otherwise the request has been refused: 400, 403 (a foreign origin), 426.
/// @error   bad_handshake, foreign_origin; errors of sending.
/// @suspend Until the answer is sent; resumes on the connection's context.
/// @cancel  Observes the task's stop token.
[[nodiscard]] io::task<std::expected<std::unique_ptr<connection>, std::error_code>> accept(http::exchange* on,
                                                                                           connection_options options);

/// Opens a WebSocket over a connected stream.
///
/// @param host    For the Host field, with the port unless it is the protocol's own.
/// @param target  Path and query.
/// @error   bad_handshake if the server does not agree; an http::errc; the stream's errors.
/// @suspend Until the handshake is done; resumes on the stream's context.
/// @cancel  Observes the task's stop token.
[[nodiscard]] io::task<std::expected<std::unique_ptr<connection>, std::error_code>> connect(io::any_stream stream,
                                                                                            std::string host,
                                                                                            std::string target,
                                                                                            connection_options options);

}  // namespace corro::websocket
