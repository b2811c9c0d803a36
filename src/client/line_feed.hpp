// SPDX-License-Identifier: Apache-2.0
// A client's view of the market over UDP: MoldUDP64 on one line or two, and the request server for lost packets.
//
// `join` opens the lines, fetches a snapshot over TCP and requests the messages since then. While `receive` runs (the
// caller spawns it), messages come from every line, each counts once, and missing ones are requested. `poll` yields
// each public event once, in order, already applied to its book. When a missing message is no longer available, `poll`
// returns sequence_gap: the books are stale, join again.
//
// Threads: one context. Cost: no allocation per message beyond the growth of the books and of the queue of events.
// Source: Nasdaq MoldUDP64 1.00; docs/spec/market_data.md.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "client/market_image.hpp"
#include "client/venue_endpoint.hpp"
#include "feed/line_merger.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/udp.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "wire/mold_udp64.hpp"

namespace corro::client {
/// How to join a feed of datagrams.
struct line_feed_options {
    line_feed_options() noexcept {}

    std::vector<io::endpoint> lines;        ///< multicast groups to join, or own addresses to be sent to; one or two
    io::endpoint retransmissions;           ///< the venue's request server
    venue_endpoint snapshot;                ///< the venue's snapshot port
    std::uint32_t multicast_interface = 0;  ///< index; 0 for the system's choice
    /// The time for a missing message to come by itself, from the other line or late.
    std::chrono::milliseconds patience{2};
    /// The requests for a missing message, `retry_interval` apart, before it counts as lost.
    std::uint32_t requests_max = 20;
    std::chrono::milliseconds retry_interval{50};  ///< between requests
    int receive_buffer_bytes = 4 << 20;            ///< asked of the system for each line, which may grant less
};

/// Counts since the feed was joined.
struct line_feed_statistics {
    std::uint64_t packets = 0;          ///< received
    std::uint64_t packets_refused = 0;  ///< malformed, or of another session
    std::uint64_t duplicates = 0;       ///< messages received before
    std::uint64_t early = 0;            ///< messages that had to wait for earlier ones
    std::uint64_t requests = 0;         ///< for missing messages
};

class line_feed {
 public:
    /// Joins the market.
    /// @error Errors of sockets and connections; session_errc; wire errors.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<line_feed>, std::error_code>> join(
        line_feed_options options);

    line_feed(const line_feed&) = delete;
    line_feed& operator=(const line_feed&) = delete;

    /// Receives until stopped, until the session ends, or until the books are stale.
    [[nodiscard]] io::task<void> receive();

    /// The next received event; nothing when there is none.
    /// @error end_of_session, sequence_gap, feed_contradiction, wire errors: after the last event before it.
    [[nodiscard]] std::expected<std::optional<domain::event>, std::error_code> poll();

    /// Waits until `poll` has a result. @error operation_canceled.
    [[nodiscard]] io::task<std::error_code> fill();

    /// The image as of the newest received message, which may be ahead of `poll`.
    [[nodiscard]] const market_image& image() const noexcept { return image_; }
    [[nodiscard]] const line_feed_statistics& statistics() const noexcept { return statistics_; }

    /// The address to which a line's packets must be sent, for lines on port 0.
    [[nodiscard]] std::expected<io::endpoint, std::error_code> line_endpoint(std::size_t index) const noexcept {
        return lines_[index].local_endpoint();
    }

 private:
    explicit line_feed(line_feed_options options) : options_(std::move(options)) {}

    std::error_code open(io::context& context);
    io::task<void> receive_from(io::udp_socket* socket);
    io::task<void> ask_for_missing();
    void take(std::span<const std::byte> datagram);
    void end(std::error_code error);

    line_feed_options options_;
    std::vector<io::udp_socket> lines_;
    io::udp_socket requests_;
    market_image image_;
    std::optional<feed::line_merger> merger_;
    std::optional<wire::mold_udp64::session_name> session_;
    std::deque<domain::event> events_;
    std::error_code ended_;
    io::auto_event news_;     ///< set for `fill`
    io::auto_event missing_;  ///< for `ask_for_missing`: there is a gap, or the end
    io::manual_event over_;
    line_feed_statistics statistics_;
};

}  // namespace corro::client
