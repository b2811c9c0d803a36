// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 client on one connection: requests one after another, or pipelined.
//
//     http::client venue(std::move(*connected), "venue.example");
//     const auto sent = co_await venue.send(http::method::get, "/orders");
//     const auto head = co_await venue.receive();
//     const auto body = co_await venue.read_body();
//
// Limits:  client_options; responses are checked as strictly as a server checks requests.
// Threads: one context.
// Cost:    no allocation per request once the buffers have grown.
// Source:  RFC 9110, RFC 9112.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "http/limits.hpp"
#include "http/message.hpp"
#include "io/net/detail/kept.hpp"
#include "io/net/stream.hpp"

namespace corro::http {

/// Options of a client.
struct client_options {
    client_options() noexcept { limits.body_bytes = 64U << 20U; }

    /// Limits of the size of a response.
    message_limits limits;
    /// Limits of the time of a server.
    time_limits time;
    /// From the end of a request to the first byte of its response.
    std::chrono::nanoseconds response = std::chrono::seconds(30);
};

/// Requests over one connection, one after the other. Operations in progress end with operation_canceled when it is
/// destroyed.
class client {
 public:
    /// The most outstanding requests.
    static constexpr std::size_t pipelined_max = 1024;

    /// @param host  For the Host field, with the port unless it is the protocol's own.
    client(io::any_stream stream, std::string_view host, client_options options = client_options());

    client(client&& other) noexcept;
    client& operator=(client&& other) noexcept;
    ~client();

    [[nodiscard]] bool is_open() const noexcept;
    void close() noexcept;

    /// Sends a request with its body. Host comes from the client, Content-Length too where there is a body.
    ///
    /// @return  The error, if any: operation_canceled on stop, timed_out, the stream's errors; no_buffer_space when
    ///          `pipelined_max` requests are outstanding.
    /// @suspend While the stream takes no more; resumes on the stream's context.
    /// @overlap Sending and receiving may overlap; two sends may not, nor two receives.
    /// @cancel  Observes the task's stop token; the connection cannot be used afterwards.
    [[nodiscard]] io::task<std::error_code> send(method which, std::string_view target,
                                                 std::span<const field> fields = {}, std::string_view body = {});

    /// Begins a request whose body follows by `write`, chunked unless there is a length. Otherwise as `send`.
    [[nodiscard]] io::task<std::error_code> begin(method which, std::string_view target,
                                                  std::span<const field> fields = {},
                                                  std::optional<std::uint64_t> length = {});
    /// Sends a piece of the body; an empty one has no effect. Otherwise as `send`.
    [[nodiscard]] io::task<std::error_code> write(std::string_view piece);
    /// Ends the body. Otherwise as `send`.
    [[nodiscard]] io::task<std::error_code> finish(std::span<const field> trailers = {});

    /// After `begin` with the field "Expect: 100-continue": waits for the server's decision.
    ///
    /// @return  Whether the server wants the body. If not, `receive` returns its response, and the request is
    ///          done. Without an answer for `patience` the body is sent.
    [[nodiscard]] io::task<std::expected<bool, std::error_code>> wait_for_continue(std::chrono::nanoseconds patience);

    /// Receives the head of the next response; the rest of the one before is read and dropped. Interim responses
    /// except 101 are skipped.
    ///
    /// @return  Views that are valid until the next `receive`.
    /// @error   An http::errc (no_response, incomplete_message, ...), timed_out, operation_canceled on stop, the
    ///          stream's errors.
    /// @suspend Until the head has arrived; resumes on the stream's context.
    /// @cancel  Observes the task's stop token.
    /// @pre     A request is outstanding (asserted).
    [[nodiscard]] io::task<std::expected<response_head, std::error_code>> receive();

    /// Reads the next piece of the response's body; empty at its end. The view is valid until the next read. Otherwise
    /// as `receive`.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_some_of_body();
    /// Reads the whole body, at most `limits.body_bytes`; the view is valid until the next `receive`.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_body();
    /// The value of a trailer field, when a chunked body has ended; empty if there is none.
    [[nodiscard]] std::string_view trailer(std::string_view name);

    /// Whether the server keeps the connection open after the received response.
    [[nodiscard]] bool kept_alive() const noexcept;

    /// The stream and the bytes received on it already, for a protocol agreed on by 101.
    [[nodiscard]] io::any_stream& stream() noexcept;
    [[nodiscard]] std::span<const std::byte> already_received() const noexcept;

 private:
    /// The state of operations in progress, in http/client_state.hpp.
    class state;

    void close_for_others() noexcept;

    io::detail::kept<state> state_;
};

}  // namespace corro::http
