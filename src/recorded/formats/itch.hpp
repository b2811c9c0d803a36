// SPDX-License-Identifier: Apache-2.0
// Nasdaq TotalView-ITCH 5.0 files: the messages of a day, each with its length in front.
//
// Layout (big-endian):
//
//   offset  size  meaning
//        0     2  length of the message; 0 ends the session
//        2     1  type
//        3     2  stock locate: number of the stock for the day; 0 for messages about none
//        5     2  tracking number of the venue
//        7     6  nanoseconds since midnight
//       13        body
//
//   types, with their length, that become records
//     S 12 system event         X 23 order cancelled in part    P 44 trade with a hidden order
//     R 39 stock directory      D 19 order deleted              Q 40 cross trade
//     H 25 trading action       U 35 order replaced             B 19 broken trade
//     A 36 order added          F 40 order added, with the name of the participant
//     E 31 order executed       C 36 order executed at another price
//   types that are skipped after a check of their length
//     Y 20  L 26  V 35  W 12  K 28  J 35  h 21  I 50  N 20  O 48
//   other types: skipped and counted, because the venue adds some from time to time
//
// The bodies are in itch.cpp.
//
// Units: prices (x 10,000 in the file) become billionths. Text is without its padding of spaces.
// Threads: one. Cost: messages are views into the input; no allocation once a piece boundary has been crossed.
// Source: Nasdaq, "TotalView-ITCH 5.0".
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "domain/instrument.hpp"
#include "domain/types.hpp"
#include "recorded/formats/byte_feed.hpp"
#include "recorded/formats/read_error.hpp"
#include "wire/errors.hpp"

namespace corro::recorded::itch {

/// The types that become records. Values of the file.
enum class message_type : char {
    system_event = 'S',
    stock_directory = 'R',
    trading_action = 'H',
    add_order = 'A',
    add_order_attributed = 'F',
    order_executed = 'E',
    order_executed_with_price = 'C',
    order_cancel = 'X',
    order_delete = 'D',
    order_replace = 'U',
    trade = 'P',
    cross_trade = 'Q',
    broken_trade = 'B',
};

/// The header of every message.
struct message_header {
    std::uint16_t stock_locate = 0;
    std::uint16_t tracking_number = 0;
    std::int64_t since_midnight_ns = 0;

    friend bool operator==(const message_header&, const message_header&) = default;
};

/// Values of the file.
enum class system_event_code : char {
    start_of_messages = 'O',
    start_of_system_hours = 'S',
    start_of_market_hours = 'Q',
    end_of_market_hours = 'M',
    end_of_system_hours = 'E',
    end_of_messages = 'C',
};

struct system_event {
    message_header header;
    system_event_code code{};
};

/// A stock and its number on this day. Single characters are the values of the file.
struct stock_directory {
    message_header header;
    std::string_view stock;
    char market_category = '\0';
    char financial_status = '\0';
    std::uint32_t round_lot_size = 0;
    bool round_lots_only = false;
    char issue_classification = '\0';
    std::string_view issue_subtype;
    bool is_test = false;  ///< a stock for tests only
    char short_sale_threshold = '\0';
    char initial_public_offering = '\0';
    char price_band_tier = '\0';
    char exchange_traded_product = '\0';
    std::uint32_t leverage_factor = 0;
    bool inverse = false;
};

/// Values of the file.
enum class trading_state : char { halted = 'H', paused = 'P', quotation_only = 'Q', trading = 'T' };

struct trading_action {
    message_header header;
    std::string_view stock;
    trading_state state{};
    std::string_view reason;
};

/// From 'A' and from 'F'.
struct add_order {
    message_header header;
    std::uint64_t order_reference = 0;
    domain::side side{};
    std::uint32_t shares = 0;
    std::string_view stock;
    domain::price_nano price;
    std::string_view attribution;  ///< of the participant; empty for 'A'
};

/// From 'E', at the price of the order, and from 'C', at a price of its own.
struct order_executed {
    message_header header;
    std::uint64_t order_reference = 0;
    std::uint32_t shares = 0;
    std::uint64_t match_number = 0;
    domain::price_nano price = domain::no_price_nano;  ///< no_price_nano: the price of the order
    bool printable = true;                             ///< counts towards the volume
};

/// Part of an order is cancelled.
struct order_cancel {
    message_header header;
    std::uint64_t order_reference = 0;
    std::uint32_t shares = 0;  ///< cancelled
};

struct order_delete {
    message_header header;
    std::uint64_t order_reference = 0;
};

/// An order is replaced by a new one on the same side, at the back of its queue.
struct order_replace {
    message_header header;
    std::uint64_t order_reference = 0;
    std::uint64_t new_order_reference = 0;
    std::uint32_t shares = 0;
    domain::price_nano price;
};

/// A trade with an order that was not displayed.
struct trade {
    message_header header;
    domain::side side{};
    std::uint32_t shares = 0;
    std::string_view stock;
    domain::price_nano price;
    std::uint64_t match_number = 0;
};

struct cross_trade {
    message_header header;
    std::uint64_t shares = 0;
    std::string_view stock;
    domain::price_nano price;
    std::uint64_t match_number = 0;
    char cross_type = '\0';  ///< 'O' opening, 'C' closing, 'H' after a halt or an offering
};

struct broken_trade {
    message_header header;
    std::uint64_t match_number = 0;
};

/// One message that the decoder has checked: a view that is valid until the next call to the decoder. Each `as_`
/// asserts that the type fits; text in its result points into `bytes`.
struct message {
    message_type type{};
    /// The offset of the message's length in the unpacked file.
    std::uint64_t offset = 0;
    /// From the type on.
    std::span<const std::byte> bytes;

    [[nodiscard]] message_header header() const noexcept;
    [[nodiscard]] system_event as_system_event() const noexcept;
    [[nodiscard]] stock_directory as_stock_directory() const noexcept;
    [[nodiscard]] trading_action as_trading_action() const noexcept;
    [[nodiscard]] add_order as_add_order() const noexcept;
    [[nodiscard]] order_executed as_order_executed() const noexcept;
    [[nodiscard]] order_cancel as_order_cancel() const noexcept;
    [[nodiscard]] order_delete as_order_delete() const noexcept;
    [[nodiscard]] order_replace as_order_replace() const noexcept;
    [[nodiscard]] trade as_trade() const noexcept;
    [[nodiscard]] cross_trade as_cross_trade() const noexcept;
    [[nodiscard]] broken_trade as_broken_trade() const noexcept;
};

/// The length of messages of `type`; 0 for types that are not in the specification.
[[nodiscard]] std::size_t message_bytes(char type) noexcept;

/// Turns the bytes of a file into messages. See recorded/formats/record_decoder.hpp for its use.
class decoder {
 public:
    using record = message;

    void feed(std::span<const std::byte> piece) noexcept { input_.feed(piece); }
    void finish() noexcept { input_.finish(); }

    /// The next message; or nothing: call `feed`, or after `finish` the file has ended.
    /// @error  foreign_format (the first message is invalid), malformed_length (not that of the type, or bytes after
    ///         the end of the session), malformed_field (an enumeration or text), out_of_range (a time beyond the day),
    ///         truncated (the file ends inside a message: the offset is where it begins). Errors are final.
    [[nodiscard]] std::expected<std::optional<record>, read_error> next() noexcept;

    /// Skipped messages of known types.
    [[nodiscard]] std::uint64_t skipped_count() const noexcept { return skipped_count_; }
    /// Skipped messages of unknown types.
    [[nodiscard]] std::uint64_t unknown_count() const noexcept { return unknown_count_; }
    /// Whether the file has the end of the session. A file that was cut off between two messages does not.
    [[nodiscard]] bool session_ended() const noexcept { return session_ended_; }

 private:
    using result = std::expected<std::optional<record>, read_error>;

    [[nodiscard]] result fail(wire::wire_errc code, std::uint64_t offset) noexcept;
    [[nodiscard]] result wait_or_end() noexcept;

    byte_feed input_;
    std::optional<read_error> failed_;
    std::uint64_t skipped_count_ = 0;
    std::uint64_t unknown_count_ = 0;
    bool session_ended_ = false;
};

}  // namespace corro::recorded::itch
