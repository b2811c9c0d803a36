// SPDX-License-Identifier: Apache-2.0
// The way from one simulated host to another: how long it takes, how much it carries, and what it does wrong.
//
// Units:   std::chrono durations, bytes per second, probabilities from 0 to 1.
// Threads: one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/random.hpp"

namespace corro::sim {

struct link_options {
    /// What a packet takes is drawn evenly between these two.
    std::chrono::nanoseconds latency_min{0};
    std::chrono::nanoseconds latency_max{0};
    /// What the link carries in a second; 0 for any amount. Packets wait for those before them.
    std::uint64_t bytes_per_second = 0;
    /// How likely a packet is lost. A lost packet of a stream is sent again, `stream_retry` later.
    double loss = 0;
    /// How likely a datagram arrives twice.
    double duplication = 0;
    /// How likely a datagram is overtaken by those behind it.
    double reordering = 0;
    /// How much later a datagram comes that is overtaken, at most.
    std::chrono::nanoseconds reordering_delay_max{std::chrono::milliseconds(1)};
    /// The largest piece of a stream that arrives at once. Each piece's size is drawn between 1 and this; 0: whole
    /// writes arrive whole.
    std::size_t piece_bytes_max = 0;
};

/// One direction between two hosts, or within one.
class link {
 public:
    explicit link(std::uint64_t seed) noexcept : random_(seed) {}

    /// What holds for packets from now on.
    [[nodiscard]] link_options& options() noexcept { return options_; }

    /// While a link is cut, all that is sent on it is lost, and what is under way too.
    void set_cut(bool cut) noexcept { is_cut_ = cut; }
    [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

    /// Draws when a packet that is sent now arrives; after `now_ns`, or at it if the link takes no time.
    [[nodiscard]] std::uint64_t arrival_ns(std::uint64_t now_ns, std::size_t bytes) noexcept {
        std::uint64_t at = now_ns;
        if (options_.bytes_per_second != 0) {
            free_ns_ = std::max(free_ns_, now_ns) + bytes * 1'000'000'000 / options_.bytes_per_second;
            at = free_ns_;
        }
        const auto least = static_cast<std::uint64_t>(options_.latency_min.count());
        const auto most = static_cast<std::uint64_t>(std::max(options_.latency_max, options_.latency_min).count());
        return at + least + (most > least ? random_.below(most - least + 1) : 0);
    }

    /// Draws with a probability. Draws nothing for 0, so that a fault that is off moves nothing elsewhere.
    [[nodiscard]] bool draw(double probability) noexcept {
        if (probability <= 0) return false;
        return static_cast<double>(random_() >> 11U) < probability * static_cast<double>(std::uint64_t{1} << 53U);
    }
    [[nodiscard]] bool loses_packet() noexcept { return draw(options_.loss); }

    /// The size of the next piece of a stream that has `bytes` to send, from 1 to `bytes`.
    [[nodiscard]] std::size_t piece_bytes(std::size_t bytes) noexcept {
        const std::size_t most = options_.piece_bytes_max;
        if (most == 0) return bytes;
        return std::min<std::size_t>(bytes, 1 + static_cast<std::size_t>(random_.below(most)));
    }

    /// When a datagram that is sent now arrives: behind those before it, unless it is overtaken.
    [[nodiscard]] std::uint64_t datagram_arrival_ns(std::uint64_t now_ns, std::size_t bytes) noexcept {
        std::uint64_t at = std::max(arrival_ns(now_ns, bytes), last_datagram_ns_);
        last_datagram_ns_ = at;
        const auto most = static_cast<std::uint64_t>(options_.reordering_delay_max.count());
        if (most != 0 && draw(options_.reordering)) at += 1 + random_.below(most);
        return at;
    }

 private:
    link_options options_;
    base::prng random_;
    std::uint64_t free_ns_ = 0;           // when the last packet has left
    std::uint64_t last_datagram_ns_ = 0;  // when the last datagram arrives
    bool is_cut_ = false;
};

}  // namespace corro::sim
