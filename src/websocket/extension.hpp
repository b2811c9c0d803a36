// SPDX-License-Identifier: Apache-2.0
// permessage-deflate: offers and answers.
//
// Threads: any; pure functions.
// Source:  RFC 7692 section 7.1; RFC 6455 section 9.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corro::websocket {

/// Agreed parameters of the compression of both directions.
struct deflate_parameters {
    deflate_parameters() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    /// The server resets its window after each message.
    bool server_no_context_takeover = false;
    /// The client resets its window after each message.
    bool client_no_context_takeover = false;
    /// The logarithm of the server's window.
    std::uint8_t server_max_window_bits = 15;
    /// The logarithm of the client's window.
    std::uint8_t client_max_window_bits = 15;
};

/// The compression of this process and its requests to peers.
struct deflate_options {
    deflate_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    /// Offer compression, or accept it.
    bool enabled = true;
    /// Reset the window between messages: worse compression, 300 KiB less memory per connection.
    bool no_context_takeover = false;
    /// Windows of 2^9 to 2^15 bytes.
    std::uint8_t window_bits = 15;
    /// 1 (fastest) to 9.
    int level = 1;
    /// Smaller messages are not compressed.
    std::size_t bytes_min = 64;
};

/// The answer of a server to the Sec-WebSocket-Extensions of a request.
struct deflate_answer {
    deflate_answer() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
    /// The agreed parameters.
    deflate_parameters parameters;
    std::string text;  // for the response's Sec-WebSocket-Extensions
};

/// Chooses the first acceptable offer of permessage-deflate; offers with unknown, repeated or malformed parameters are
/// declined. @return Nothing if there is none.
[[nodiscard]] std::optional<deflate_answer> accept_deflate(std::string_view offers, const deflate_options& options);

/// A client's offer.
[[nodiscard]] std::string offer_deflate(const deflate_options& options);

/// Reads a server's answer to `offer_deflate(options)`.
/// @return Nothing if it agrees to something that was not offered; the connection must then fail.
[[nodiscard]] std::optional<deflate_parameters> read_deflate_answer(std::string_view answer,
                                                                    const deflate_options& options);

}  // namespace corro::websocket
