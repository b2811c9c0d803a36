// One request and its response, as a handler on a server sees them.
//
// The response to a request that was pipelined waits for the next ones': what `respond` and `write` append goes out
// when no further request is there, or when enough has come together.
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

/// How a server behaves.
struct server_options {
    server_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// How large a request may be.
    message_limits limits;
    /// How slow a client may be.
    time_limits time;
    /// Connections at a time; when there are as many, further ones wait in the system's queue.
    std::size_t connections_max = 10'000;
    /// How long connections may go on after `server::drain`.
    std::chrono::nanoseconds drain = std::chrono::seconds(10);
    /// Responses are sent when so many bytes have come together, or earlier if no further request is there.
    std::size_t batch_bytes = 64 * 1024;
    /// A body that the handler left unread is read and thrown away up to this size; with more, the connection ends.
    std::size_t discarded_bytes_max = 64 * 1024;
};

/// One request after the other of one connection, each with its response.
class exchange {
 public:
    /// Made by the server.
    exchange(io::any_stream& stream, io::context& on, server& owner);
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    /// The request. Its views stay valid until the handler ends.
    [[nodiscard]] const request_head& request() const noexcept { return head_; }
    [[nodiscard]] io::context& where() const noexcept { return *context_; }

    /// Reads the next piece of the request's body. If the client waits for 100 (Continue), it is sent first.
    ///
    /// @return  A view into the connection's buffer until the next read; empty at the end of the body.
    /// @error   An http::errc (malformed_chunk, body_too_large, incomplete_message), timed_out if the client is slower
    ///          than `time_limits` allow, operation_canceled on stop, what the stream reports. A handler that returns
    ///          then without a response leaves it to the server, which sends the fitting one.
    /// @suspend Until there is a piece; resumes on the connection's context.
    /// @overlap One read at a time.
    /// @cancel  Observes the task's stop token.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_some_of_body();

    /// Reads the whole body, at most `limits.body_bytes`. The view is valid until the handler ends. Otherwise as
    /// `read_some_of_body`.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_body();

    /// The value of a trailer field, once a chunked body has ended; empty if there is none.
    [[nodiscard]] std::string_view trailer(std::string_view name);

    /// Gives the whole response. HEAD gets the same head without the body.
    ///
    /// @param body  Copied. @pre Nothing was responded yet (asserted).
    void respond(unsigned status, std::string_view content_type, std::string_view body);
    /// The same with any fields; Date, Content-Length and Connection come from the server.
    void respond(unsigned status, std::span<const field> fields, std::string_view body);

    /// Begins a response whose body follows by `write`. Without a length it is chunked (for HTTP/1.0: ends with the
    /// connection). @pre Nothing was responded yet (asserted).
    void begin(unsigned status, std::span<const field> fields, std::optional<std::uint64_t> length = {});

    /// Sends a piece of the body; an empty one is nothing.
    ///
    /// @error   timed_out if the client takes it more slowly than `time_limits` allow; operation_canceled on stop; what
    ///          the stream reports. The connection ends then.
    /// @suspend While what has come together is sent; resumes on the connection's context.
    /// @overlap One write at a time.
    /// @cancel  Observes the task's stop token.
    /// @pre     After `begin`; no more bytes than its length said (asserted).
    [[nodiscard]] io::task<std::error_code> write(std::string_view piece);

    /// Ends the response that `begin` began; trailers go to a client that takes chunks. If the handler leaves it out,
    /// the server does it.
    void finish(std::span<const field> trailers = {});

    /// Sends what is waiting, now. Otherwise as `write`.
    [[nodiscard]] io::task<std::error_code> flush();

    /// Ends the connection after this response.
    void close_after() noexcept { keep_alive_ = false; }

    /// Answers 101 (Switching Protocols): from now on the stream is the handler's, until it returns.
    ///
    /// @param protocol  For the Upgrade field.
    /// @error           As `write`.
    /// @suspend         Until the response is sent.
    [[nodiscard]] io::task<std::error_code> upgrade(std::string_view protocol, std::span<const field> fields);
    /// After `upgrade`: the stream, and what the peer had sent on it already.
    [[nodiscard]] io::any_stream& stream() noexcept { return *stream_; }
    [[nodiscard]] std::span<const std::byte> already_received() const noexcept { return in_.unread(); }

    /// Whether something was responded, be it only the beginning.
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
    std::uint64_t left_to_write_ = 0;  // of a response whose length was said
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
