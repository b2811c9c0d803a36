// SPDX-License-Identifier: Apache-2.0
// The requests and responses of the http rows and their parsing, shared by all subjects.
//
// Layout:  a request of 60 bytes without a body, a response of 51 bytes with a body of 13.
// Threads: any.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "lab/measurement.hpp"

namespace corro::lab {

inline constexpr std::string_view http_request =
    "GET /api/data HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
inline constexpr std::string_view http_body = "Hello, World!";
inline constexpr std::string_view http_response = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// Bytes that have arrived and what they amount to: a buffer in front of a message that may come in pieces.
class http_buffer {
 public:
    /// The buffer for more bytes. @throws wrong_result if a message is longer than any of ours.
    [[nodiscard]] std::span<std::byte> room() {
        verify(filled_ < bytes_.size(), "an HTTP message is too long");
        return std::span(bytes_).subspan(filled_);
    }
    void filled(std::size_t bytes) noexcept { filled_ += bytes; }

    /// Takes one request off the front. @return Whether there was a whole one.
    [[nodiscard]] bool take_request() noexcept {
        const std::size_t end = text().find("\r\n\r\n");
        if (end == std::string_view::npos) return false;
        drop(end + 4);
        return true;
    }
    /// Takes one response off the front. @return Whether there was a whole one. @throws wrong_result for another
    /// answer than the one that the server gives.
    [[nodiscard]] bool take_response() {
        static constexpr std::string_view name = "Content-Length: ";
        const std::size_t end = text().find("\r\n\r\n");
        if (end == std::string_view::npos) return false;
        const std::string_view head = text().substr(0, end);
        const std::size_t at = head.find(name);
        verify(at != std::string_view::npos, "a response without Content-Length");
        std::size_t length = 0;
        std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
        if (text().size() < end + 4 + length) return false;
        verify(text().substr(end + 4, length) == http_body, "a response with another body");
        drop(end + 4 + length);
        return true;
    }

 private:
    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes_.data()), filled_};
    }
    void drop(std::size_t bytes) noexcept {
        filled_ -= bytes;
        if (filled_ != 0) std::memmove(bytes_.data(), bytes_.data() + bytes, filled_);
    }

    std::array<std::byte, 1024> bytes_;
    std::size_t filled_ = 0;
};

struct http_shape {
    int connections;
    int threads = 1;
    bool shared = false;  ///< the threads run one context together; otherwise each has its own

    /// How many of the connections a thread has, if each has its own context.
    [[nodiscard]] constexpr int connections_of(int thread) const noexcept {
        return (connections - thread + threads - 1) / threads;
    }

    [[nodiscard]] std::string row() const;
};

[[nodiscard]] std::vector<http_shape> http_shapes(std::span<const int> threads);

/// What every connection of a run counts: the client its responses, with their latencies, the server its requests.
struct http_connection_account {
    explicit http_connection_account(const timed_run& times) : client(times, 0) {}

    timed_run client;
    std::uint64_t requested = 0;
    std::uint64_t answered = 0;
    std::uint64_t served = 0;
};

/// Adds up the connections of a run. @throws wrong_result if a request was lost.
template <class Accounts>
[[nodiscard]] measurement http_result(timed_run& whole, const Accounts& connections) {
    for (const http_connection_account& one : connections) {
        verify_equal(one.answered, one.requested, "responses to the requests");
        verify_equal(one.served, one.requested, "requests served of those sent");
        whole.merge(one.client);
    }
    return rate_with_latencies(whole);
}

}  // namespace corro::lab
