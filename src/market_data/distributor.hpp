// The market-data distributor: the venue's public events as a feed over TCP, and snapshots to join it late.
//
// The feed is one sequence of messages over SoupBinTCP; the framing gives every message its number. Each message is
// encoded once, into the feed log, and every subscriber sends from there. A late joiner asks the snapshot port for all
// books as of message N, then logs in to the feed with N + 1 as the sequence number: it sees every change once, or is
// rejected.
//
// Threads: one context. Limits: market_data/limits.hpp.
// Cost: per event one encoding and one update of the book image; per subscriber and batch one write.
// Source: Nasdaq SoupBinTCP 3.00; docs/spec/market_data.md; the payload is docs/spec/corro_binary.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_stream.hpp"
#include "base/page_touch.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/prefetch_hint.hpp"
#include "io/loop/context.hpp"
#include "io/net/admission.hpp"
#include "io/net/tcp.hpp"
#include "io/task/task.hpp"
#include "market_data/book_image.hpp"
#include "market_data/feed_log.hpp"
#include "market_data/limits.hpp"
#include "telemetry/event_log.hpp"
#include "wire/instrument_table.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {

struct distributor_options {
    distributor_options() noexcept {}

    std::string session_name = "CORRO";  ///< SoupBinTCP session, at most ten characters
    std::size_t feed_log_bytes = market_data::feed_log_bytes;
    base::page_touch touch = base::page_touch::no;  ///< of the feed log, at construction
    std::chrono::milliseconds login_timeout = market_data::login_timeout;
    std::chrono::milliseconds snapshot_timeout = market_data::snapshot_timeout;
    std::chrono::milliseconds heartbeat_interval{wire::soup_bin_tcp::heartbeat_interval_ms};
    std::chrono::milliseconds silence_max{wire::soup_bin_tcp::silence_max_ms};
    std::uint32_t subscribers_max = market_data::subscribers_max;
    std::uint32_t subscribers_per_address_max = market_data::subscribers_per_address_max;
    std::uint32_t snapshots_max = market_data::snapshots_max;
    std::uint32_t snapshots_per_address_max = market_data::snapshots_per_address_max;
    std::uint32_t snapshots_made_max = market_data::snapshots_made_max;
    std::chrono::milliseconds snapshots_window = market_data::snapshots_window;
    std::size_t depth_levels = market_data::depth_levels;
    std::uint64_t hash_key = 0;  ///< of the books; a venue takes a random one
    std::chrono::milliseconds conflation_interval = market_data::conflation_interval;
    telemetry::producer* log = nullptr;  ///< of the distributor's thread; outlives the distributor; nullptr: no log
};

/// Counts since the distributor was made.
struct distributor_statistics {
    std::uint64_t messages = 0;  ///< published
    std::uint64_t bytes = 0;     ///< published, before multiplication by subscribers
    std::uint64_t logins = 0;
    std::uint64_t logins_rejected = 0;
    std::uint64_t snapshots = 0;
    std::uint64_t depths_sent = 0;          ///< conflated pictures sent, counted per subscriber
    std::uint64_t snapshots_made = 0;       ///< several subscribers may get the same one
    std::uint64_t connections_refused = 0;  ///< closed at once, because too many have logged in
    std::uint64_t evicted = 0;              ///< closed before their login, to admit newer ones
    std::uint64_t slow_cut = 0;
    std::uint64_t silent_cut = 0;
    std::uint64_t protocol_errors = 0;
    std::uint32_t subscribers_now = 0;
};

class distributor {
 public:
    distributor(io::context& context, const distributor_options& options,
                std::span<const domain::instrument> instruments);
    ~distributor();
    distributor(const distributor&) = delete;
    distributor& operator=(const distributor&) = delete;

    /// Begins in the middle of a feed that another process publishes too: the next message has this number, and `adopt`
    /// sets the books. @pre Nothing was published yet (asserted).
    void begin_at(std::uint64_t next_sequence, std::uint64_t last_command) noexcept;
    /// For set-up: adds an instrument that was defined in an earlier run of the venue.
    void define(const domain::instrument& instrument);
    /// For set-up: the first events of a definition in whose middle the feed begins; the rest will be published.
    void begin_definition(std::span<const domain::event> events);
    /// Sets the book of an instrument at that moment. False for an unknown instrument.
    [[nodiscard]] bool adopt(domain::instrument_id id, const book_image& book);

    /// Writes the books, the number of the next message, and the newest messages up to `log_bytes_max`, so that another
    /// distributor can continue. False when the sink fails.
    [[nodiscard]] bool save(base::byte_sink& sink, std::size_t log_bytes_max);
    /// Continues from a saved distributor. False without any change when the bytes are not from `save` with the same
    /// instruments. @pre Nothing was published yet (asserted).
    [[nodiscard]] bool load(base::byte_source& source);

    /// Serves the live feed until `close`; ends when every subscriber has disconnected.
    [[nodiscard]] io::task<void> serve_feed(io::tcp_acceptor acceptor);

    /// Serves snapshots until `close`.
    [[nodiscard]] io::task<void> serve_snapshots(io::tcp_acceptor acceptor);

    /// Serves conflated depth until `close`: pictures of the best levels, at the speed of each subscriber.
    [[nodiscard]] io::task<void> serve_depth(io::tcp_acceptor acceptor);

    /// Ends the feed: every subscriber gets the remaining messages and an end-of-session packet, as far as it reads
    /// them within market_data::farewell_timeout.
    void close() noexcept;

    /// Appends a public event to the feed; a definition adds its instrument here too. The event must be public, must
    /// not contradict the ones before it, and must not come after `close` (all asserted).
    void publish(const domain::event& event) noexcept;

    /// Prefetches the memory for the events of these commands, as far as their orders are known. Changes no state.
    void expect(std::span<const domain::prefetch_hint> coming) const noexcept;
    /// The same for an event that will be published soon.
    void expect(const domain::event& event) const noexcept {
        // The definition of its instrument may be among the events that are not published yet.
        if (event.kind != domain::event_kind::order_added || event.instrument.value >= books_.size()) return;
        books_[event.instrument.value].prefetch_addition(event.book.order);
    }

    /// Starts sending the published messages. To be called once per batch of events. Disconnects subscribers that are
    /// too far behind.
    void flush() noexcept;

    /// The public book as published so far; nullptr for an unknown instrument.
    [[nodiscard]] const book_image* book(domain::instrument_id id) const noexcept;

    [[nodiscard]] const distributor_statistics& statistics() const noexcept { return statistics_; }
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return log_.next_sequence(); }
    /// The log of recent feed messages, for other publishers.
    [[nodiscard]] const feed_log& log() const noexcept { return log_; }

 private:
    enum class port : std::uint8_t { feed, snapshot, depth };
    /// The latest picture of an instrument's best levels, ready to be sent.
    struct depth_picture {
        std::vector<std::byte> bytes;
        std::uint64_t made_at = 0;     ///< the number of the feed's next message at that time
        std::uint64_t changed_at = 0;  ///< number of the last message about the instrument
    };
    struct subscriber;

    io::task<void> serve(io::tcp_acceptor acceptor, port what);
    io::task<void> converse(std::unique_ptr<subscriber> s, port what);
    io::task<void> log_in(subscriber* s, port what);
    io::task<void> send_feed(subscriber* s);
    io::task<void> send_snapshot(subscriber* s);
    io::task<void> send_depth(subscriber* s);
    io::task<void> listen(subscriber* s);
    io::task<void> keep_alive(subscriber* s);
    io::task<void> leave(subscriber* s, port what);
    io::task<bool> send_heartbeat(subscriber* s);
    using shared_bytes = std::shared_ptr<const std::vector<std::byte>>;
    [[nodiscard]] shared_bytes snapshot();
    [[nodiscard]] std::vector<std::byte> make_snapshot() const;
    [[nodiscard]] std::vector<std::byte> definitions() const;
    [[nodiscard]] const depth_picture& depth_snapshot_of(const domain::instrument& i);
    [[nodiscard]] std::uint64_t lag_of(const subscriber& s) const noexcept;
    void take_definition(const domain::event& event);
    void end(subscriber& s) noexcept;
    void log(telemetry::log_record_kind what, std::uint64_t number) const noexcept;

    io::context& context_;
    distributor_options options_;
    wire::instrument_table instruments_;
    std::vector<book_image> books_;        ///< by instrument id
    std::vector<depth_picture> pictures_;  ///< by instrument id
    domain::definition_reader definitions_;
    std::vector<domain::event> begun_;  ///< the messages of an incomplete definition
    feed_log log_;
    std::uint64_t last_command_ = 0;
    io::admission subscriber_admission_;
    io::admission snapshot_admission_;
    shared_bytes latest_;                ///< the last snapshot made
    std::uint64_t latest_position_ = 0;  ///< the feed's end at that time
    io::steady_time snapshots_window_begin_{};
    std::uint32_t snapshots_made_ = 0;  ///< since the beginning of the window
    std::vector<subscriber*> subscribers_;
    io::tcp_acceptor* acceptors_[3] = {nullptr, nullptr, nullptr};
    distributor_statistics statistics_;
    bool closing_ = false;
};

}  // namespace corro::market_data
