// SPDX-License-Identifier: Apache-2.0
// The publisher of a feed: numbers the venue's public events, encodes each once into the feed log, and keeps the books.
//
// The feed is one sequence of messages; the framing of SoupBinTCP gives every message its number. What sends them
// follows the log: add it with `follow`. Followers send when a batch of events is complete (`flush`). A batch that is
// larger than the log does not outrun them: `publish` has them keep up.
//
// Threads: one context's. Limits: market_data/limits.hpp.
// Cost:    per event one encoding and one update of a book; per batch one call of each follower.
// Source:  docs/spec/market_data.md; the messages are docs/spec/corro_binary.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/byte_stream.hpp"
#include "base/page_touch.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/prefetch_hint.hpp"
#include "feed/book_image.hpp"
#include "market_data/feed_follower.hpp"
#include "market_data/feed_log.hpp"
#include "market_data/limits.hpp"
#include "market_data/market_image.hpp"

namespace corro::market_data {

struct feed_options {
    feed_options() noexcept {}

    std::size_t feed_log_bytes = market_data::feed_log_bytes;
    base::page_touch touch = base::page_touch::no;  ///< of the feed log, at construction
    std::uint64_t hash_key = 0;                     ///< of the books; a venue takes a random one
};

/// Counts since the publisher was made.
struct feed_statistics {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;  ///< with their framing, before multiplication by subscribers
};

class feed_publisher {
 public:
    feed_publisher(const feed_options& options, std::span<const domain::instrument> instruments);
    feed_publisher(const feed_publisher&) = delete;
    feed_publisher& operator=(const feed_publisher&) = delete;

    /// For set-up: adds a follower. It must stay valid until the last `flush` or `close`.
    /// @pre It was not added before, and the feed is open (both asserted).
    void follow(feed_follower& what);

    /// Begins in the middle of a feed that another process publishes too: the next message has this number, and `adopt`
    /// sets the books. @pre Nothing was published yet (asserted).
    void begin_at(std::uint64_t next_sequence, std::uint64_t last_command) noexcept;
    /// For set-up: adds an instrument that was defined in an earlier run of the venue.
    void define(const domain::instrument& instrument) { image_.define(instrument); }
    /// For set-up: the first events of a definition in whose middle the feed begins; the rest will be published.
    void begin_definition(std::span<const domain::event> events) { image_.begin_definition(events); }
    /// Sets the book of an instrument at that moment. False for an unknown instrument.
    [[nodiscard]] bool adopt(domain::instrument_id id, const feed::book_image& book) { return image_.adopt(id, book); }

    /// Writes the books, the number of the next message, and the newest messages up to `log_bytes_max`, so that another
    /// publisher can continue. False when the sink fails.
    /// @pre No definition is incomplete (asserted).
    [[nodiscard]] bool save(base::byte_sink& sink, std::size_t log_bytes_max);
    /// Continues from a saved publisher. False without any change when the bytes are not from `save` with the same
    /// instruments. @pre Nothing was published yet (asserted).
    [[nodiscard]] bool load(base::byte_source& source);

    /// Appends a public event to the feed; a definition adds its instrument here too. When a part of the log was filled
    /// since the last `flush`, the followers keep up.
    /// @pre The event is public, does not contradict the ones before it, and does not come after `close` (all
    /// asserted).
    void publish(const domain::event& event) noexcept;

    /// Prefetches the memory for the events of these commands, as far as their orders are known. Changes no state.
    void prefetch(std::span<const domain::prefetch_hint> coming) const noexcept { image_.prefetch(coming); }
    /// The same for an event that will be published soon.
    void prefetch(const domain::event& event) const noexcept { image_.prefetch(event); }
    /// The same in steps 0 to 2; each reads what the one before has fetched.
    void prefetch(const domain::event& event, int step) const noexcept { image_.prefetch(event, step); }

    /// Lets the followers send the published messages. To be called once per batch of events.
    void flush() noexcept {
        for (feed_follower* each : followers_) each->flush();
        keep_up_at_ = log_.end_position() + keep_up_interval_;
    }
    /// Ends the feed, and closes the followers. Further calls change nothing.
    void close() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

    /// The public book as published so far; nullptr for an unknown instrument.
    [[nodiscard]] const feed::book_image* book(domain::instrument_id id) const noexcept { return image_.book(id); }
    [[nodiscard]] const market_image& image() const noexcept { return image_; }
    [[nodiscard]] const feed_log& log() const noexcept { return log_; }
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return log_.next_sequence(); }
    [[nodiscard]] const feed_statistics& statistics() const noexcept { return statistics_; }

 private:
    void keep_up() noexcept;

    market_image image_;
    feed_log log_;
    std::uint64_t keep_up_interval_;  ///< bytes of the log
    std::uint64_t keep_up_at_;        ///< in the log: where the followers keep up next
    std::vector<feed_follower*> followers_;
    feed_statistics statistics_;
    bool is_closed_ = false;
};

}  // namespace corro::market_data
