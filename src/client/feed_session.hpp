// SPDX-License-Identifier: Apache-2.0
// A client's view of the market: joins the feed by snapshot, applies every incremental, detects when it is stale.
//
// `join` fetches all books as of feed message N from the snapshot port, then logs in to the feed with N + 1. After that
// `poll` yields each public event once, in order, already applied to its book; `fill` reads more. An incremental that
// contradicts the book ends the session with feed_contradiction; join again.
//
// A session stands on any stream, as an order_session does: give a venue_endpoint, or streams that are connected
// already. A venue itself serves its feed over TCP; the other transports are for what stands between, such as a proxy
// that encrypts.
//
// Threads: one context. Cost: no allocation per message beyond the growth of the books.
// Source: docs/spec/market_data.md; SoupBinTCP.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "client/market_image.hpp"
#include "client/venue_connection.hpp"
#include "client/venue_endpoint.hpp"
#include "domain/event.hpp"
#include "io/net/transport_stream.hpp"
#include "io/task/task.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::client {

class feed_session {
 public:
    static constexpr std::size_t input_bytes = 256 * 1024;  ///< the longest message that it can receive
    /// How long a venue may let a client wait for the connection, and for each message of the login and the snapshot.
    static constexpr std::chrono::milliseconds silence_max{wire::soup_bin_tcp::silence_max_ms};

    /// Fetches all books from the snapshot port, and no feed.
    /// @error As `join`.
    [[nodiscard]] static io::task<std::expected<market_image, std::error_code>> fetch_snapshot(venue_endpoint snapshot);
    /// The same over a connected stream.
    [[nodiscard]] static io::task<std::expected<market_image, std::error_code>> fetch_snapshot(
        io::transport_stream snapshot);

    /// Fetches the best prices of one instrument, as decimals.
    /// @error As `join`; session_errc::unknown_instrument.
    [[nodiscard]] static io::task<std::expected<best_prices, std::error_code>> fetch_best(venue_endpoint snapshot,
                                                                                          std::string symbol);

    /// Joins the market.
    /// @error As venue_endpoint::connect; session_errc, logon_timed_out after `silence_max` without a message; wire
    /// errors.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<feed_session>, std::error_code>> join(
        venue_endpoint feed, venue_endpoint snapshot);
    /// The same over connected streams.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<feed_session>, std::error_code>> join(
        io::transport_stream feed, io::transport_stream snapshot);

    /// Connects again and continues with the message after the last applied one; the books stay as they are.
    /// @error As `join`; session_not_available when the feed no longer has that message, or not yet: join again.
    [[nodiscard]] io::task<std::error_code> resume(venue_endpoint feed);
    /// The same over a connected stream.
    [[nodiscard]] io::task<std::error_code> resume(io::transport_stream feed);

    feed_session(const feed_session&) = delete;
    feed_session& operator=(const feed_session&) = delete;

    /// The next event in the bytes received so far, applied to its book; nothing when there is none.
    /// @error end_of_session, feed_contradiction, wire errors; the session is over.
    [[nodiscard]] std::expected<std::optional<domain::event>, std::error_code> poll();

    /// Reads some more bytes. @error end_of_stream, operation_canceled, connection errors.
    [[nodiscard]] io::task<std::error_code> fill() { return connection_.fill(); }

    /// Sends the client's heartbeats. Ends when stopped or when the connection fails.
    [[nodiscard]] io::task<void> keep_alive();

    void abandon() noexcept { connection_.close(); }

    [[nodiscard]] const wire::instrument_table& instruments() const noexcept { return image_.instruments(); }
    /// The book of an instrument; nullptr for an unknown one.
    [[nodiscard]] const feed::book_image* book(domain::instrument_id id) const noexcept { return image_.book(id); }
    /// The number of the next feed message.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return image_.next_sequence(); }
    /// The last command with all its events applied; at first that of the snapshot.
    [[nodiscard]] std::uint64_t last_command() const noexcept { return image_.last_command(); }
    /// The events of an incomplete definition; empty when there is none.
    [[nodiscard]] std::span<const domain::event> begun_definition() const noexcept { return image_.begun_definition(); }

 private:
    /// The client sends logins and heartbeats only.
    static constexpr std::size_t output_bytes = 1024;

    explicit feed_session(io::transport_stream connected)
        : connection_(std::move(connected), input_bytes, output_bytes) {}

    struct message {
        char type{};
        std::span<const std::byte> payload;
    };
    [[nodiscard]] std::expected<std::optional<message>, std::error_code> next_message();
    io::task<std::expected<message, std::error_code>> await_message();
    io::task<std::error_code> log_in(std::uint64_t sequence);
    io::task<std::error_code> read_snapshot();
    /// Logs in to the feed behind the image.
    static io::task<std::expected<std::unique_ptr<feed_session>, std::error_code>> follow(io::transport_stream feed,
                                                                                          market_image image);

    venue_connection connection_;
    market_image image_;
    bool ended_ = false;
};

}  // namespace corro::client
