// SPDX-License-Identifier: Apache-2.0
// LOBSTER files: the order flow of a Nasdaq stock as a message file, and the book after each message as a book file.
//
// Layout: comma-separated text, one event to a line, no quotes; the first line may be a row of names. Line n of the
// book file is the book after line n of the message file.
//
//   message file, 6 columns
//     1  seconds after midnight, with a fraction of up to 9 digits
//     2  type: 1 new limit order, 2 partial cancellation, 3 deletion, 4 execution of a visible order, 5 execution of a
//        hidden order, 6 cross trade (auction), 7 trading halt
//     3  order id: 0 for hidden orders
//     4  size in shares
//     5  price x 10,000; of type 7: -1 halted, 0 quoting resumes, 1 trading resumes
//     6  direction of the resting order: 1 buy, -1 sell. An execution of a sell order is a buyer's trade.
//
//   book file, 4 columns for each level from the best on
//     ask price x 10,000, ask size, bid price x 10,000, bid size
//     a level that is not there: price 9999999999 (ask) or -9999999999 (bid), size 0
//
// Orders that rested before the file begins, or outside its levels, are not announced when they come into view.
//
// Units: prices become billionths, times nanoseconds after midnight, both exactly.
// Limits: levels_max; line_bytes_max. Threads: one.
// Cost: no allocation once a piece boundary has been crossed and the number of levels is known.
// Source: LOBSTER (lobsterdata.com), "Output structure".
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "domain/instrument.hpp"
#include "domain/types.hpp"
#include "recorded/formats/line_feed.hpp"
#include "recorded/formats/read_error.hpp"

namespace corro::recorded::lobster {

/// LOBSTER sells up to 200 levels.
inline constexpr std::size_t levels_max = 200;

/// Values of the file.
enum class event_type : std::uint8_t {
    new_order = 1,
    partial_cancel = 2,
    deletion = 3,
    visible_execution = 4,
    hidden_execution = 5,
    cross_trade = 6,
    trading_halt = 7,
};

/// The state in a message of type trading_halt. Values of the file.
enum class halt_state : std::int8_t { halted = -1, quoting_resumes = 0, trading_resumes = 1 };

struct message {
    std::uint64_t line = 0;
    std::int64_t since_midnight_ns = 0;
    event_type type{};
    std::uint64_t order_id = 0;
    std::uint32_t size = 0;
    domain::price_nano price;                       ///< no_price_nano for trading halts
    domain::side side{};                            ///< of the resting order
    halt_state halt = halt_state::trading_resumes;  ///< only for trading halts

    friend bool operator==(const message&, const message&) = default;
};

/// One side of one level; no_price_nano and size 0 where there is none.
struct quote {
    domain::price_nano price = domain::no_price_nano;
    std::uint64_t size = 0;

    [[nodiscard]] bool empty() const noexcept { return price == domain::no_price_nano; }
    friend bool operator==(const quote&, const quote&) = default;
};

struct level {
    quote ask;
    quote bid;

    friend bool operator==(const level&, const level&) = default;
};

/// The book after one message: a view that is valid until the next call to the decoder.
struct book {
    std::uint64_t line = 0;
    /// All levels of the file, from the best on.
    std::span<const level> levels;
};

/// Turns the text of a message file into messages. See recorded/formats/record_decoder.hpp for its use.
class message_decoder {
 public:
    using record = message;

    void feed(std::span<const std::byte> piece) noexcept { input_.feed(piece); }
    void finish() noexcept { input_.finish(); }

    /// The next message; or nothing: call `feed`, or after `finish` the file has ended.
    /// @error  With line and column of the field: malformed_field (not a number, an unknown type or direction, an
    ///         order without size or price), out_of_range (a number beyond its field, a time beyond the day),
    ///         malformed_length (too few or too many columns), too_large (a line). Errors are final.
    [[nodiscard]] std::expected<std::optional<record>, read_error> next() noexcept;

 private:
    line_feed input_;
    std::optional<read_error> failed_;
};

/// Turns the text of a book file into books. The first line of numbers determines the number of levels.
class book_decoder {
 public:
    using record = book;

    void feed(std::span<const std::byte> piece) noexcept { input_.feed(piece); }
    void finish() noexcept { input_.finish(); }

    /// The next book; or nothing, as above.
    /// @error  As above; malformed_length also when the number of columns is not a multiple of 4 or changes, too_large
    ///         when there are more than levels_max levels; malformed_field also for a level without price but with
    ///         size.
    [[nodiscard]] std::expected<std::optional<record>, read_error> next() noexcept;

    /// The number of levels of the file; 0 before the first book.
    [[nodiscard]] std::size_t levels_count() const noexcept { return levels_.size(); }

 private:
    [[nodiscard]] std::expected<void, read_error> read_levels(const line_feed::line& line) noexcept;

    line_feed input_;
    std::vector<level> levels_;
    std::optional<read_error> failed_;
};

}  // namespace corro::recorded::lobster
