// SPDX-License-Identifier: Apache-2.0
// The shapes of the socket rows, shared by all subjects.
//
// Threads: any.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measurement.hpp"

namespace corro::lab {

/// Shared memory has rows of its own: its peers have nothing like it.
enum class wire : unsigned char { tcp, unix_stream, shared_memory };

[[nodiscard]] inline std::string_view name_of(wire one) {
    if (one == wire::shared_memory) return "shm";
    return one == wire::tcp ? "tcp" : "unix";
}

/// A stream of bytes, one way or both ways.
struct throughput_shape {
    wire over;
    std::size_t buffer_bytes;
    bool two_way;

    [[nodiscard]] std::string row() const {
        const std::size_t kib = buffer_bytes / 1024;
        return fmt::format("{}_{}_{}", name_of(over), two_way ? "two_way" : "one_way",
                           kib < 1024 ? fmt::format("{}k", kib) : fmt::format("{}m", kib / 1024));
    }
};

/// Messages to and fro.
struct ping_pong_shape {
    wire over;
    std::size_t message_bytes;
    int pairs = 1;
    bool alone = false;         ///< both ends are served by one coroutine or chain of callbacks: no read ever waits
    bool with_timeout = false;  ///< every read of the client is under a timeout

    [[nodiscard]] std::string row() const {
        return fmt::format("{}_ping_pong{}{}{}", name_of(over), alone ? "_alone" : "", with_timeout ? "_timeout" : "",
                           pairs == 1 ? fmt::format("_{}", message_bytes) : fmt::format("_pairs_{}", pairs));
    }
};

inline constexpr std::chrono::seconds read_timeout{1};

[[nodiscard]] inline std::vector<throughput_shape> throughput_shapes() {
    std::vector<throughput_shape> shapes;
    for (const bool two_way : {false, true}) {
        for (const std::size_t kib : {1U, 4U, 16U, 64U, 256U, 1024U})
            shapes.push_back({wire::tcp, kib * 1024, two_way});
        for (const std::size_t kib : {1U, 4U, 16U, 64U}) shapes.push_back({wire::unix_stream, kib * 1024, two_way});
    }
    return shapes;
}

[[nodiscard]] inline std::vector<ping_pong_shape> ping_pong_shapes() {
    std::vector<ping_pong_shape> shapes;
    for (const wire over : {wire::tcp, wire::unix_stream}) {
        for (const bool alone : {false, true}) {
            for (const std::size_t bytes : {1U, 64U, 1024U}) shapes.push_back({over, bytes, 1, alone});
        }
    }
    for (const bool alone : {false, true}) {
        for (const int pairs : {4, 16}) shapes.push_back({wire::tcp, 64, pairs, alone});
    }
    shapes.push_back({wire::tcp, 64, 1, false, true});
    return shapes;
}

/// What one client sends and gets back: its number in the first byte and the last.
class ping_message {
 public:
    explicit ping_message(std::size_t bytes) : sent(bytes, std::byte{0x50}), received(bytes) {}

    void next() noexcept {
        number_ = static_cast<std::byte>(std::to_integer<unsigned>(number_) + 1);
        sent.front() = sent.back() = number_;
    }
    [[nodiscard]] bool came_back() const noexcept { return received.front() == number_ && received.back() == number_; }

    std::vector<std::byte> sent;
    std::vector<std::byte> received;

 private:
    std::byte number_{};
};

/// The connections of one run, each with its own record, so that a stalled connection is visible.
class ping_pong_run {
 public:
    ping_pong_run(double seconds, const ping_pong_shape& shape) : whole_(seconds) {
        for (int i = 0; i < shape.pairs; ++i) connections_.emplace_back(whole_, 0);
    }

    [[nodiscard]] timed_run& of(std::size_t pair) noexcept { return connections_[pair]; }

    /// The rate; and, for several pairs, the P99 of the connection whose P99 is the worst.
    [[nodiscard]] measurement result() {
        double worst = 0;
        for (const timed_run& one : connections_) {
            verify(one.amount() != 0, "a connection got no answer at all");
            worst = std::max(worst, static_cast<double>(one.latencies().value_at_percentile(99)));
            whole_.merge(one);
        }
        measurement made = rate_with_latencies(whole_);
        if (connections_.size() > 1) made.values.push_back(worst);
        return made;
    }

 private:
    timed_run whole_;
    std::deque<timed_run> connections_;
};

/// One direction of a stream. The writer records what it wrote, the reader what it read.
struct stream_account {
    std::uint64_t written = 0;
    std::uint64_t read = 0;
};

inline constexpr std::byte stream_filler{0x78};

/// @throws wrong_result unless everything that was written was read.
inline void verify_stream(const stream_account& one) {
    verify_equal(one.read, one.written, "bytes read of those written");
}

}  // namespace corro::lab
