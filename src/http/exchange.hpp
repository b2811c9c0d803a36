// SPDX-License-Identifier: Apache-2.0
// One request and its response, for a handler on a server.
//
// Responses to pipelined requests are sent together: bytes of `respond` and `write` are sent when no further request
// has arrived, or when there are enough of them.
//
// Limits:  server_options. A response waits in memory until it is sent; large ones are streamed by `begin` and `write`.
// Threads: one context.
// Cost:    `respond` does no system call and, once its buffer has grown, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "http/date_line.hpp"
#include "http/limits.hpp"
#include "http/message.hpp"
#include "http/message_buffer.hpp"
#include "io/loop/detail/timer_wheel.hpp"
#include "io/net/stream.hpp"
#include "io/task/stop.hpp"

namespace corro::io {
class context;
}

namespace corro::http {

class server;

/// Options of a server.
struct server_options {
    server_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Limits of the size of a request.
    message_limits limits;
    /// Limits of the time of a client.
    time_limits time;
    /// The most concurrent connections; further ones wait in the system's queue.
    std::size_t connections_max = 10'000;
    /// The time limit for connections after `server::drain`.
    std::chrono::nanoseconds drain = std::chrono::seconds(10);
    /// Responses are sent when they have this many bytes, or earlier without a further request.
    std::size_t batch_bytes = 64 * 1024;
    /// An unread body is read and dropped up to this size; with more, the connection ends.
    std::size_t discarded_bytes_max = 64 * 1024;
};

/// The requests of one connection, one after the other, each with its response.
class exchange {
 public:
    /// Made by the server.
    exchange(io::any_stream& stream, io::context& on, server& owner);
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    /// The request. Its views stay valid until the handler ends.
    [[nodiscard]] const request_head& request() const noexcept { return head_; }
    [[nodiscard]] io::context& where() const noexcept { return *context_; }

    /// Reads the next piece of the request's body. Sends 100 (Continue) first if the client waits for it.
    ///
    /// @return  A view into the connection's buffer until the next read; empty at the end of the body.
    /// @error   An http::errc (malformed_chunk, body_too_large, incomplete_message), timed_out if the client is slower
    ///          than `time_limits` allow, operation_canceled on stop, the stream's errors. If the handler then returns
    ///          without a response, the server sends a suitable one.
    /// @suspend Until a piece has arrived; resumes on the connection's context.
    /// @overlap One read at a time.
    /// @cancel  Observes the task's stop token.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_some_of_body();

    /// Reads the whole body, at most `limits.body_bytes`. The view is valid until the handler ends. Otherwise as
    /// `read_some_of_body`.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_body();

    /// Waits until the client has ended its connection, or its half of it: nobody may read the response then. For a
    /// handler that works for long, beside that work. Bytes of further requests are received meanwhile, and kept.
    ///
    /// @suspend Until then. With an unread body, or without room for more bytes, until a stop.
    /// @overlap No read of the body.
    /// @cancel  Observes the task's stop token.
    [[nodiscard]] io::task<> wait_for_end();

    /// The value of a trailer field, when a chunked body has ended; empty if there is none.
    [[nodiscard]] std::string_view trailer(std::string_view name);

    /// Sends the whole response; for HEAD the head without the body.
    ///
    /// @param body  Copied. @pre There is no response yet (asserted).
    void respond(unsigned status, std::string_view content_type, std::string_view body);
    /// The same with any fields; Date, Content-Length and Connection come from the server.
    void respond(unsigned status, std::span<const field> fields, std::string_view body);

    /// Begins a response whose body follows by `write`. Without a length it is chunked (for HTTP/1.0: ends with the
    /// connection). @pre There is no response yet (asserted).
    void begin(unsigned status, std::span<const field> fields, std::optional<std::uint64_t> length = {});

    /// Sends a piece of the body; an empty one has no effect.
    ///
    /// @error   timed_out if the client reads more slowly than `time_limits` allow; operation_canceled on stop; the
    ///          stream's errors. The connection then ends.
    /// @suspend While collected bytes are sent; resumes on the connection's context.
    /// @overlap One write at a time.
    /// @cancel  Observes the task's stop token.
    /// @pre     After `begin`; no more bytes than its length (asserted).
    [[nodiscard]] io::task<std::error_code> write(std::string_view piece);

    /// Ends the response of `begin`; trailers are sent if the body is chunked. The server calls it if the handler does
    /// not.
    void finish(std::span<const field> trailers = {});

    /// Sends waiting bytes now. Otherwise as `write`.
    [[nodiscard]] io::task<std::error_code> flush();

    /// Ends the connection after this response.
    void close_after() noexcept { keep_alive_ = false; }

    /// Answers 101 (Switching Protocols): from now on the stream belongs to the handler, until it
    /// returns.
    ///
    /// @param protocol  For the Upgrade field.
    /// @error           As `write`.
    /// @suspend         Until the response is sent.
    [[nodiscard]] io::task<std::error_code> upgrade(std::string_view protocol, std::span<const field> fields);
    /// After `upgrade`: the stream, and the bytes received on it already.
    [[nodiscard]] io::any_stream& stream() noexcept { return *stream_; }
    [[nodiscard]] std::span<const std::byte> already_received() const noexcept { return in_.unread(); }

    /// Whether there is a response, or its beginning.
    [[nodiscard]] bool responded() const noexcept { return state_ != response_state::none; }

 private:
    friend class server;
    enum class response_state : std::uint8_t { none, sized, chunked, until_close, complete, upgraded };

    void begin_request() noexcept;
    [[nodiscard]] bool will_discard_body() const noexcept;
    void append_head(unsigned status, std::span<const field> fields);
    void refuse(unsigned status, std::string_view why);
    [[nodiscard]] io::task<std::error_code> fill(std::chrono::nanoseconds allowed);
    [[nodiscard]] io::task<bool> discard_body();
    [[nodiscard]] io::task<std::error_code> send(std::span<const std::byte> bytes);

    io::any_stream* stream_;
    io::context* context_;
    server* server_;
    message_buffer in_;
    std::string out_;
    std::string whole_body_;
    std::vector<field> fields_;
    std::vector<field> trailer_fields_;
    request_head head_;
    std::uint64_t left_to_write_ = 0;  // of a response with a length
    std::uint64_t body_bytes_ = 0;     // of the request, read so far
    io::steady_time transfer_begun_{};
    std::error_code body_error_;
    response_state state_ = response_state::none;
    bool keep_alive_ = true;
    bool continue_owed_ = false;
    bool broken_ = false;  // the stream cannot be written to any more
    bool idle_ = false;    // waits for the first byte of a request

    io::stop_source stop_;
    exchange* previous_ = nullptr;
    exchange* next_ = nullptr;
};

}  // namespace corro::http
