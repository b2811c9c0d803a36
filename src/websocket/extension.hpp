// permessage-deflate: what is offered, what is agreed on.
//
// Threads: any; pure functions.
// Source:  RFC 7692 section 7.1; RFC 6455 section 9.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corro::websocket {

/// Parameters of the compression of both directions, as agreed on.
struct deflate_parameters {
    deflate_parameters() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    /// The server forgets what it has sent after each message.
    bool server_no_context_takeover = false;
    /// The client forgets what it has sent after each message.
    bool client_no_context_takeover = false;
    /// The logarithm of how far back the server refers.
    std::uint8_t server_max_window_bits = 15;
    /// The logarithm of how far back the client refers.
    std::uint8_t client_max_window_bits = 15;
};

/// How this process compresses, and what it asks of its peers.
struct deflate_options {
    deflate_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    /// Offer compression, or accept it.
    bool enabled = true;
    /// Forget the window between messages: worse compression, 300 KiB less memory per connection.
    bool no_context_takeover = false;
    /// Windows of 2^9 to 2^15 bytes.
    std::uint8_t window_bits = 15;
    /// 1 (fastest) to 9.
    int level = 1;
    /// Smaller messages are sent as they are.
    std::size_t bytes_min = 64;
};

/// The answer of a server to the Sec-WebSocket-Extensions of a request.
struct deflate_answer {
    deflate_answer() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
    /// What was agreed on.
    deflate_parameters parameters;
    std::string text;  // for the response's Sec-WebSocket-Extensions
};

/// Chooses the first offer of permessage-deflate that can be accepted; offers with unknown, repeated or malformed
/// parameters are declined. @return Nothing if none can be.
[[nodiscard]] std::optional<deflate_answer> accept_deflate(std::string_view offers, const deflate_options& options);

/// What a client offers.
[[nodiscard]] std::string offer_deflate(const deflate_options& options);

/// Reads a server's answer to `offer_deflate(options)`.
/// @return Nothing if it agrees to something that was not offered; then the connection must fail.
[[nodiscard]] std::optional<deflate_parameters> read_deflate_answer(std::string_view answer,
                                                                    const deflate_options& options);

}  // namespace corro::websocket
