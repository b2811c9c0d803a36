// An HTTP/1.1 client on one connection: requests one after another, or several on their way at once.
//
//     http::client venue(std::move(*connected), "venue.example");
//     const auto sent = co_await venue.send(http::method::get, "/orders");
//     const auto head = co_await venue.receive();
//     const auto body = co_await venue.read_body();
//
// Limits:  client_options; responses are held to them as strictly as a server holds requests.
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

/// How a client behaves.
struct client_options {
    client_options() noexcept { limits.body_bytes = 64U << 20U; }

    /// How large a response may be.
    message_limits limits;
    /// How slow a server may be.
    time_limits time;
    /// From the end of a request to the first byte of its response.
    std::chrono::nanoseconds response = std::chrono::seconds(30);
};

/// Requests over one connection, one after the other. Operations that are under way when it is destroyed end with
/// operation_canceled.
class client {
 public:
    /// Requests that may be on their way at a time.
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
    /// @return  The error, if any: operation_canceled on stop, timed_out, what the stream reports; no_buffer_space when
    ///          `pipelined_max` responses are owed already.
    /// @suspend While the stream takes no more; resumes on the stream's context.
    /// @overlap Sending and receiving may overlap; two sends may not, nor two receives.
    /// @cancel  Observes the task's stop token; then the connection is of no further use.
    [[nodiscard]] io::task<std::error_code> send(method which, std::string_view target,
                                                 std::span<const field> fields = {}, std::string_view body = {});

    /// Begins a request whose body follows by `write`, chunked unless there is a length. Otherwise as `send`.
    [[nodiscard]] io::task<std::error_code> begin(method which, std::string_view target,
                                                  std::span<const field> fields = {},
                                                  std::optional<std::uint64_t> length = {});
    /// Sends a piece of the body; an empty one is nothing. Otherwise as `send`.
    [[nodiscard]] io::task<std::error_code> write(std::string_view piece);
    /// Ends the body. Otherwise as `send`.
    [[nodiscard]] io::task<std::error_code> finish(std::span<const field> trailers = {});

    /// After `begin` with the field "Expect: 100-continue": waits for the server's word.
    ///
    /// @return  Whether it wants the body. If not, its response is there for `receive`, and the request is over. A
    ///          server that says nothing for `patience` gets the body.
    [[nodiscard]] io::task<std::expected<bool, std::error_code>> wait_for_continue(std::chrono::nanoseconds patience);

    /// Receives the head of the next response; what is left of the one before is read and thrown away. Interim
    /// responses are skipped, but for 101.
    ///
    /// @return  Views that are valid until the next `receive`.
    /// @error   An http::errc (no_response, incomplete_message, ...), timed_out, operation_canceled on stop, what the
    ///          stream reports.
    /// @suspend Until the head is there; resumes on the stream's context.
    /// @cancel  Observes the task's stop token.
    /// @pre     A response is owed (asserted).
    [[nodiscard]] io::task<std::expected<response_head, std::error_code>> receive();

    /// Reads the next piece of the response's body; empty at its end. The view is valid until the next read. Otherwise
    /// as `receive`.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_some_of_body();
    /// Reads the whole body, at most `limits.body_bytes`; the view is valid until the next `receive`.
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_body();
    /// The value of a trailer field, once a chunked body has ended; empty if there is none.
    [[nodiscard]] std::string_view trailer(std::string_view name);

    /// Whether the server goes on with this connection after the response that was received.
    [[nodiscard]] bool kept_alive() const noexcept;

    /// The stream and what has arrived on it already, for a protocol that was agreed on by 101.
    [[nodiscard]] io::any_stream& stream() noexcept;
    [[nodiscard]] std::span<const std::byte> already_received() const noexcept;

 private:
    /// What operations under way need, in http/client_state.hpp.
    class state;

    void close_for_others() noexcept;

    io::detail::kept<state> state_;
};

}  // namespace corro::http
