// The feed over UDP: MoldUDP64 on one line or two (A and B), multicast or unicast, and a server that sends again what
// was lost.
//
// The messages are those of the TCP feed with the same numbers, from the same log: a packet is put together once and
// goes to every line. A receiver joins by snapshot, asks for what it misses, and falls back to the TCP feed.
//
// Threads: one context, the distributor's.
// Limits:  market_data/limits.hpp. Whoever can reach the retransmission port can make it send up to
//          retransmission_packets_max packets per request to the address that the request claims: it belongs on a
//          private network.
// Cost:    per line one system call for up to 32 packets; no allocation after `open`.
// Source:  Nasdaq MoldUDP64 1.00; docs/spec/market_data.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "io/context.hpp"
#include "io/endpoint.hpp"
#include "io/event.hpp"
#include "io/task.hpp"
#include "io/udp.hpp"
#include "market_data/feed_log.hpp"
#include "market_data/limits.hpp"
#include "wire/mold_udp64.hpp"

namespace corro::market_data {

struct line_publisher_options {
    line_publisher_options() noexcept {}

    std::string session_name = "CORRO";
    std::vector<io::endpoint> lines;              ///< where packets go: a multicast group or one receiver each
    std::optional<io::endpoint> retransmissions;  ///< where requests are taken; port 0 lets the system choose
    std::uint32_t multicast_interface = 0;        ///< index; 0 for the system's choice
    std::uint32_t multicast_hops = 1;             ///< 1 stays in the local network
    std::chrono::milliseconds heartbeat_interval{1'000};
};

/// Counts since the publisher was made.
struct line_publisher_statistics {
    std::uint64_t packets = 0;  ///< sent, before multiplication by lines
    std::uint64_t heartbeats = 0;
    std::uint64_t messages = 0;     ///< sent, before multiplication by lines
    std::uint64_t skipped = 0;      ///< messages that left the log before they could be sent
    std::uint64_t send_errors = 0;  ///< packets of one line that the system did not take
    std::uint64_t requests = 0;
    std::uint64_t requests_refused = 0;  ///< malformed, of another session, or for what is not kept
    std::uint64_t messages_again = 0;    ///< sent on request
};

class line_publisher {
 public:
    /// Opens the sockets.
    /// @param log  Must outlive the publisher.
    /// @error      malformed_field for the session's name; what the system says of an address.
    [[nodiscard]] static std::expected<std::unique_ptr<line_publisher>, std::error_code> open(
        io::context& context, const line_publisher_options& options, const feed_log& log);

    /// Sends what the log gets from now on until `close`, then the rest of it and the end of the session.
    [[nodiscard]] io::task<void> run();

    /// Starts sending what was published: once per batch of events.
    void flush() noexcept { more_.set(); }

    /// Leaves out what the log holds already: it was sent in another life of the venue. Who missed it asks for it.
    /// @pre `run` has not begun.
    void begin_at_end() noexcept;

    /// Ends `run`.
    void close() noexcept;

    /// Where requests are taken; nothing if they are not.
    [[nodiscard]] std::optional<io::endpoint> retransmission_endpoint() const noexcept;
    [[nodiscard]] const line_publisher_statistics& statistics() const noexcept { return statistics_; }

 private:
    static constexpr std::size_t batch_packets_max = 32;
    static constexpr std::size_t requests_batch_max = 16;
    struct line {
        io::udp_socket socket;
        io::endpoint to;
    };

    line_publisher(const line_publisher_options& options, const feed_log& log, wire::mold_udp64::session_name session);

    io::task<void> send_lines();
    io::task<void> keep_alive();
    io::task<void> serve_requests();
    io::task<void> send_again(wire::mold_udp64::request request, io::socket_address to);
    io::task<void> send_everywhere(std::size_t count);
    std::size_t fill_packets();

    line_publisher_options options_;
    const feed_log& log_;
    wire::mold_udp64::session_name session_;
    std::vector<line> lines_;
    io::udp_socket requests_;
    io::auto_event more_;
    std::uint64_t position_;       ///< in the log, of the first message that is not sent yet
    std::uint64_t next_sequence_;  ///< its number
    std::vector<wire::mold_udp64::packet_writer> writers_;
    std::vector<wire::mold_udp64::packet_writer> again_;
    std::vector<std::span<const std::byte>> packets_;
    std::vector<io::datagram> datagrams_;
    line_publisher_statistics statistics_;
    bool heartbeat_due_ = false;
    bool sent_ = false;
    bool closing_ = false;
};

}  // namespace corro::market_data
