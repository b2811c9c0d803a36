// SPDX-License-Identifier: Apache-2.0
// The feed over UDP: MoldUDP64 on one line or two (A and B), multicast or unicast, and a server for retransmissions.
//
// The messages are those of the TCP feed with the same numbers, from the same log: a packet is built once and sent on
// every line. A receiver joins by snapshot, requests missing packets, and falls back to the TCP feed.
//
// Threads: one context, the publisher's.
// Limits:  market_data/limits.hpp. A request of twenty bytes is answered with up to retransmission_packets_max packets,
//          to the address of its claimed sender. So the answers are limited for each address and in total, and
//          addresses beyond the local network get none unless the options permit it.
// Cost:    per line one system call for up to 32 packets; no allocation after `open`.
// Source:  Nasdaq MoldUDP64 1.00; docs/spec/market_data.md.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/udp.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "market_data/feed_follower.hpp"
#include "market_data/feed_log.hpp"
#include "market_data/limits.hpp"
#include "wire/mold_udp64.hpp"

namespace corro::market_data {

struct line_publisher_options {
    line_publisher_options() noexcept {}

    std::string session_name = "CORRO";
    std::vector<io::endpoint> lines;              ///< targets of the packets: a multicast group or one receiver each
    std::optional<io::endpoint> retransmissions;  ///< the address for requests; port 0 lets the system choose
    std::uint32_t multicast_interface = 0;        ///< index; 0 for the system's choice
    std::uint32_t multicast_hops = 1;             ///< 1 stays in the local network
    std::chrono::milliseconds heartbeat_interval{1'000};
    bool retransmit_beyond_local_network = false;  ///< also to public addresses
    std::uint32_t retransmission_address_packets_max = market_data::retransmission_address_packets_max;
    std::uint32_t retransmission_all_packets_max = market_data::retransmission_all_packets_max;
    std::chrono::milliseconds retransmission_window = market_data::retransmission_window;
};

/// Counts since the publisher was made.
struct line_publisher_statistics {
    std::uint64_t packets = 0;  ///< sent, before multiplication by lines
    std::uint64_t heartbeats = 0;
    std::uint64_t messages = 0;     ///< sent, before multiplication by lines
    std::uint64_t skipped = 0;      ///< messages that left the log before they could be sent
    std::uint64_t send_errors = 0;  ///< packets of one line that the system did not accept
    std::uint64_t requests = 0;
    std::uint64_t requests_refused =
        0;  ///< malformed, of another session, for messages no longer kept, or not from the local network
    std::uint64_t requests_over_limit = 0;  ///< not answered, or not in full, because of the limits in the window
    std::uint64_t messages_again = 0;       ///< sent on request
    std::uint64_t packets_again = 0;        ///< the same in packets
};

/// Whether an address is not routed publicly: of this machine, of a private network, or link-local.
[[nodiscard]] bool is_local_address(const io::endpoint& e) noexcept;

class line_publisher final : public feed_follower {
 public:
    /// Opens the sockets.
    /// @param log  Must outlive the publisher.
    /// @error      malformed_field for the session's name; the system's errors.
    [[nodiscard]] static std::expected<std::unique_ptr<line_publisher>, std::error_code> open(
        io::context& context, const line_publisher_options& options, const feed_log& log);

    /// Opens the socket for requests, when the options did not. @pre `run` has not begun (asserted).
    /// @error  The system's.
    [[nodiscard]] std::error_code take_requests(const io::endpoint& at);

    /// Sends messages from the log until `close`, then the rest and the end of the session.
    /// @overlap Once (asserted).
    [[nodiscard]] io::task<void> run();

    /// Starts sending the published messages. To be called once per batch of events.
    void flush() noexcept override { more_.set(); }
    /// Nothing: sending waits. What the log overwrites within one turn is skipped, and receivers join again.
    void keep_up() noexcept override {}

    /// Skips the messages that are already in the log: an earlier run of the venue has sent them. Receivers can request
    /// them.
    /// @pre `run` has not begun (asserted).
    void begin_at_end() noexcept;

    /// Ends `run`.
    void close() noexcept override;

    /// The address for requests; nothing without one.
    [[nodiscard]] std::optional<io::endpoint> retransmission_endpoint() const noexcept;
    [[nodiscard]] const line_publisher_statistics& statistics() const noexcept { return statistics_; }

 private:
    static constexpr std::size_t batch_packets_max = 32;
    static constexpr std::size_t requests_batch_max = 16;
    struct line {
        io::udp_socket socket;
        io::endpoint to;
    };

    line_publisher(io::context& context, const line_publisher_options& options, const feed_log& log,
                   wire::mold_udp64::session_name session);

    io::task<void> send_lines();
    io::task<void> keep_alive();
    io::task<void> serve_requests();
    [[nodiscard]] bool is_answered(const io::endpoint& from) const noexcept;
    [[nodiscard]] std::uint32_t packets_left(const io::endpoint& to);
    io::task<void> send_again(wire::mold_udp64::request request, io::endpoint to);
    io::task<void> send_on_all_lines(std::size_t count);
    std::size_t fill_packets();

    io::context& context_;
    line_publisher_options options_;
    const feed_log& log_;
    wire::mold_udp64::session_name session_;
    std::vector<line> lines_;
    io::udp_socket requests_;
    io::auto_event more_;
    std::uint64_t position_;       ///< in the log, of the first unsent message
    std::uint64_t next_sequence_;  ///< its number
    std::vector<wire::mold_udp64::packet_writer> writers_;
    std::vector<wire::mold_udp64::packet_writer> again_;
    std::vector<std::span<const std::byte>> packets_;
    std::vector<io::datagram> datagrams_;
    line_publisher_statistics statistics_;
    io::steady_time window_begin_{};
    std::uint32_t window_packets_ = 0;  ///< retransmitted since the beginning of the window
    /// The same by address, without ports: no more addresses than packets.
    std::map<std::array<std::uint8_t, 16>, std::uint32_t> address_packets_;
    bool heartbeat_due_ = false;
    bool sent_ = false;
    bool has_begun_ = false;
    bool closing_ = false;
};

}  // namespace corro::market_data
