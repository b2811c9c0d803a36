// SPDX-License-Identifier: Apache-2.0
// Compressing and inflating messages with zlib.
//
// Limits:  an inflated message ends at the given size.
// Threads: one.
// Cost:    about 256 KiB for compressing and 40 KiB for inflating with the largest windows, allocated with the first
// message. Source: RFC 7692 section 7.2; RFC 1951.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "websocket/byte_buffer.hpp"
#include "websocket/errors.hpp"

namespace corro::websocket {

class deflater {
 public:
    /// @param window_bits  9 to 15.
    deflater(unsigned window_bits, bool no_context_takeover, int level) noexcept
        : window_bits_(window_bits), level_(level), no_context_takeover_(no_context_takeover) {}
    /// Appends the compressed `message` to `into`, without the four bytes that every message ends with.
    /// @throws std::bad_alloc
    void deflate(std::span<const std::byte> message, std::string& into);

 private:
    class stream;
    struct deleter {
        void operator()(stream* gone) const noexcept;
    };
    std::unique_ptr<stream, deleter> stream_;
    unsigned window_bits_;
    int level_;
    bool no_context_takeover_;
};

class inflater {
 public:
    /// @param window_bits  8 to 15: how far back the peer may refer.
    inflater(unsigned window_bits, bool no_context_takeover) noexcept
        : window_bits_(window_bits), no_context_takeover_(no_context_takeover) {}

    /// Inflates the next part of a message and appends the result.
    /// @error bad_deflate, message_too_big if `into` would become larger than `limit`; final.
    [[nodiscard]] std::expected<void, errc> inflate(std::span<const std::byte> part, byte_buffer& into,
                                                    std::size_t limit);
    /// Ends the message. @error As `inflate`.
    [[nodiscard]] std::expected<void, errc> finish(byte_buffer& into, std::size_t limit);

 private:
    class stream;
    struct deleter {
        void operator()(stream* gone) const noexcept;
    };
    std::unique_ptr<stream, deleter> stream_;
    unsigned window_bits_;
    bool no_context_takeover_;
};

}  // namespace corro::websocket
