// SPDX-License-Identifier: Apache-2.0
// The matching facility: sequenced commands in, derived messages out, one total order.
//
// docs/spec/derived_messages.md has the messages that a command causes, their number and their order;
// docs/spec/matching.md has the rules of matching. The facility is a function of its commands: no clock, no thread, no
// file, no allocation after construction, no exception. The same commands give the same bytes on every machine.
//
// Units: ticks, lots, nanoseconds since the epoch.
// Limits: facility_options; a request beyond one is rejected, never asserted.
// Threads: one caller at a time.
// Cost: one virtual call per command (more when a command causes above events_buffered_max events), constant time per
//       derived message.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <system_error>

#include "base/byte_stream.hpp"
#include "base/page_touch.hpp"
#include "domain/account.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/prefetch_hint.hpp"
#include "facility/event_buffer.hpp"
#include "facility/snapshot.hpp"

namespace corro::facility {

struct facility_options {
    std::uint32_t orders_max = 1U << 16;  ///< open orders; beyond it an order is rejected with book_full
    std::uint32_t accounts_max = 1024;    ///< accounts are numbered below this; others are rejected with not_authorised
    std::uint32_t positions_max = 1U << 16;  ///< pairs of account and instrument with an order, now or earlier
    std::uint32_t window_bits = 0;           ///< see matching::engine_options
    /// Instruments that may be defined while the venue runs; beyond it a definition is rejected with instruments_full.
    std::uint32_t instruments_reserved = 0;
    /// Whether memory for all orders is touched at construction; changes no event.
    base::page_touch touch = base::page_touch::yes;
    /// The secret of the hash tables whose keys clients choose. A venue takes a random one, so that clients cannot
    /// choose ids that collide. Changes no event, no state hash and no snapshot.
    std::uint64_t hash_key = 0;
};

/// An open order in the book.
struct resting_order {
    domain::order_id order{};
    domain::client_order_id client_order{};
    domain::account_id account{};
    domain::session_id session{};
    domain::price_ticks price{};
    domain::quantity_lots open{};
    domain::quantity_lots filled{};
};

/// Walks a book; see facility::visit_book.
struct book_visitor {
    virtual void visit_level(domain::side side, const domain::level& level) = 0;
    virtual void visit_order(domain::side side, const resting_order& order) = 0;

 protected:
    ~book_visitor() = default;
};

/// The cost of a query of all open orders.
struct query_cost {
    std::uint32_t looks_count = 0;    ///< orders that were read
    std::uint32_t answers_count = 0;  ///< orders in the answer
};

class facility {
 public:
    /// @param instruments  Sound by domain::validate, ids distinct; at least one. Copied.
    /// @param consumer     Must outlive the facility.
    facility(const facility_options& options, std::span<const domain::instrument> instruments,
             event_consumer& consumer);
    ~facility();
    facility(const facility&) = delete;
    facility& operator=(const facility&) = delete;

    /// Executes one command and passes all its events to the consumer before it returns. Every bit pattern is a valid
    /// argument: invalid commands are rejected. Each command causes at least one event.
    void apply(const domain::command& command) noexcept;
    /// Executes commands one after the other. Faster than one call each when many orders are open: the memory of the
    /// following ones is prefetched.
    void apply(std::span<const domain::command> commands) noexcept;

    /// Whether the command, if it is accepted without a trade, leaves an account with more than `orders_max` open
    /// orders in all books. False for an account with a limit of its own, which `apply` checks.
    [[nodiscard]] bool opens_beyond(const domain::command& command, std::uint32_t orders_max) const noexcept;

    /// Prefetches the memory that these commands will need, and fills in the venue's ids of the orders that they name,
    /// as far as they exist. Changes no state; the hints may be wrong.
    void expect(std::span<domain::prefetch_hint> coming) const noexcept;

    /// Prefetches memory for commands that wait, before the first of them is executed. Called before each of them, with
    /// the first one removed. Changes no state.
    ///
    /// @param waiting  In the order of their execution. Each is read when it is the second, or, with many open orders,
    ///                 `look_ahead_step` (facility/limits.hpp) or two or three times as far from the front.
    void look_ahead(std::span<const domain::command> waiting) const noexcept;

    /// A number that depends on everything that can influence later events, except which order ids come next. Takes
    /// time proportional to the open orders.
    [[nodiscard]] std::uint64_t state_hash() const;

    // --- Saving and loading, docs/spec/snapshot.md ---------------------------------------------------------------

    /// Writes everything that later events can depend on; the size depends on what is in use. False when the sink
    /// fails. Does not allocate.
    [[nodiscard]] bool save(base::byte_sink& sink) const noexcept;
    /// Loads a saved state: from here on the same commands cause the same events, byte by byte, and leave the same
    /// state hash. The saved facility must have had the same options and instruments.
    ///
    /// @error  snapshot_errc; then the facility is as newly made.
    /// @cost   Allocates when the facility has executed a command before, or on failure: it is then made again.
    [[nodiscard]] std::error_code load(base::byte_source& source);
    /// Returns to the newly made state, without the instruments that were defined since. Allocates. Does nothing before
    /// the first command or load.
    void clear();
    /// Sets another hash key, unless the facility has executed or loaded something already.
    void set_hash_key(std::uint64_t key) noexcept;
    /// Sequence number and time of the last command; 0 before the first.
    [[nodiscard]] snapshot_position position() const noexcept;

    /// The configured instruments, then those that were defined since, in the order of their definition. Valid until
    /// the next call that is not const.
    [[nodiscard]] std::span<const domain::instrument> instruments() const noexcept;
    /// Only the instruments that were defined since.
    [[nodiscard]] std::span<const domain::instrument> defined() const noexcept;

    /// Accounts that were defined while the venue ran, in the order of their definition. Valid as the instruments.
    [[nodiscard]] std::span<const domain::defined_account> defined_accounts() const noexcept;
    /// No limits for an unknown account.
    [[nodiscard]] domain::account_limits limits_of(domain::account_id account) const noexcept;
    /// Whether a `set_account_limits` has ever set limits for the account, or an operator has set any that still hold.
    [[nodiscard]] bool was_given_limits(domain::account_id account) const noexcept;
    /// Accounts are numbered below this.
    [[nodiscard]] std::uint32_t accounts_max() const noexcept { return options_.accounts_max; }

    // --- Reading, for snapshots, market data and tests; an unknown instrument has an empty book ---------------------

    /// Both best levels. An empty side has price no_price and quantity 0.
    [[nodiscard]] domain::top top_of(domain::instrument_id instrument) const noexcept;
    /// Both best implied prices as last published by implied_top, in the same form.
    [[nodiscard]] domain::top implied_top_of(domain::instrument_id instrument) const noexcept;
    /// Visits the buy side, then the sell side; levels best first, each followed by its orders in priority order.
    void visit_book(domain::instrument_id instrument, book_visitor& visitor) const;
    /// Last, high, low and open; all no_price before the first trade.
    [[nodiscard]] domain::price_summary prices_of(domain::instrument_id instrument) const noexcept;
    [[nodiscard]] domain::volume_summary volumes_of(domain::instrument_id instrument) const noexcept;
    /// Closed for an unknown instrument.
    [[nodiscard]] domain::trading_phase phase_of(domain::instrument_id instrument) const noexcept;
    /// Lots, positive for long.
    [[nodiscard]] std::int64_t position_of(domain::account_id account, domain::instrument_id instrument) const noexcept;
    [[nodiscard]] std::uint32_t open_orders_count() const noexcept;
    /// Levels, orders and books that were read since the facility was made, except those that its events report; plus
    /// the looks at commands that wait. Tests of the cost of a command use this number; it is not part of the state.
    [[nodiscard]] std::uint64_t steps_count() const noexcept;
    /// The cost of the last query of all open orders.
    [[nodiscard]] query_cost last_query() const noexcept;
    /// The id that the next accepted order will get, or the one after it when one command (a quote) enters two; 0 when
    /// the facility is full.
    [[nodiscard]] domain::order_id next_order_id(std::uint32_t ahead = 0) const noexcept;

 private:
    class state_machine;
    facility_options options_;
    event_consumer* consumer_;
    std::unique_ptr<state_machine> machine_;
};

}  // namespace corro::facility
