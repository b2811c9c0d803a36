// A client's view of the market: joins the feed by snapshot, applies every incremental, detects when it is stale.
//
// `join` fetches all books as of feed message N from the snapshot port, then logs in to the feed with N + 1. After that
// `poll` yields each public event once, in order, already applied to its book; `fill` reads more. An incremental that
// contradicts the book ends the session with feed_contradiction; join again.
//
// Threads: one context. Cost: no allocation per message beyond the growth of the books.
// Source: docs/spec/market_data.md; SoupBinTCP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "client/market_image.hpp"
#include "domain/event.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/task/task.hpp"

namespace corro::client {

class feed_session {
 public:
    static constexpr std::size_t input_bytes = 256 * 1024;

    /// Fetches all books from the snapshot port, and no feed.
    /// @error As `join`.
    [[nodiscard]] static io::task<std::expected<market_image, std::error_code>> fetch_snapshot(io::endpoint snapshot);

    /// Joins the market.
    /// @error Connection errors; session_errc; wire errors.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<feed_session>, std::error_code>> join(
        io::endpoint feed, io::endpoint snapshot);

    /// Connects again and continues with the message after the last applied one; the books stay as they are.
    /// @error As `join`; session_not_available when the feed no longer has that message, or not yet: join again.
    [[nodiscard]] io::task<std::error_code> resume(io::endpoint feed);

    feed_session(const feed_session&) = delete;
    feed_session& operator=(const feed_session&) = delete;

    /// The next event in the bytes received so far, applied to its book; nothing when there is none.
    /// @error end_of_session, feed_contradiction, wire errors; the session is over.
    [[nodiscard]] std::expected<std::optional<domain::event>, std::error_code> poll();

    /// Reads some more bytes. @error end_of_stream, operation_canceled, connection errors.
    [[nodiscard]] io::task<std::error_code> fill();

    /// Sends the client's heartbeats. Ends when stopped or when the connection fails.
    [[nodiscard]] io::task<void> keep_alive();

    void abandon() noexcept { stream_.close(); }

    [[nodiscard]] const wire::instrument_table& instruments() const noexcept { return image_.instruments(); }
    /// The book of an instrument; nullptr for an unknown one.
    [[nodiscard]] const market_data::book_image* book(domain::instrument_id id) const noexcept {
        return image_.book(id);
    }
    /// The number of the next feed message.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return image_.next_sequence(); }
    /// The last command with all its events applied; at first that of the snapshot.
    [[nodiscard]] std::uint64_t last_command() const noexcept { return image_.last_command(); }
    /// The events of an incomplete definition; empty when there is none.
    [[nodiscard]] std::span<const domain::event> begun_definition() const noexcept { return image_.begun_definition(); }

 private:
    explicit feed_session(io::tcp_stream stream) : stream_(std::move(stream)), input_(input_bytes) {}

    struct message {
        char type{};
        std::span<const std::byte> payload;
    };
    [[nodiscard]] std::expected<std::optional<message>, std::error_code> next_message();
    io::task<std::expected<message, std::error_code>> await_message();
    io::task<std::error_code> log_in(std::uint64_t sequence);
    io::task<std::error_code> read_snapshot();

    io::tcp_stream stream_;
    std::vector<std::byte> input_;
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
    market_image image_;
    bool ended_ = false;
};

}  // namespace corro::client
