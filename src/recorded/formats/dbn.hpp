// SPDX-License-Identifier: Apache-2.0
// Databento DBN files, versions 1 to 3: market-by-order records and instrument definitions, as a stream.
//
// Layout of a record (little-endian):
//
//   offset  size  meaning
//        0     1  length of the record in units of 4 bytes, this header included
//        1     1 type of record: 160 market by order, 19 instrument definition, others are skipped 2 2 publisher 4
//        4 instrument 8 8 time of the event at the venue, ns
//       16        body; then, 8 bytes of send time if the head of the file has that flag
//
//   market by order, 56 bytes
//       16     8  order id            37     1  channel
//       24     8  price, 1e-9         38     1  action: A C M R T F N
//       32     4  size                39     1  side: A (ask) B (bid) N (none)
//       36     1  flags               40     8  time of receipt, ns
//                                     48     4  time of receipt - time of sending, ns
//                                     52     4  sequence number of the venue
//
// Instrument definitions are 360, 400 or 520 bytes long, by version: see dbn_definition.cpp for their offsets.
//
// Units: prices in billionths, times in nanoseconds since the Unix epoch.
// Limits: head_bytes_max. Threads: one. Cost: records are views into the input; no allocation once a piece boundary
// has been crossed.
// Source: Databento, "Databento Binary Encoding", versions 1 to 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "domain/instrument.hpp"
#include "recorded/formats/byte_feed.hpp"
#include "recorded/formats/dbn_definition.hpp"
#include "recorded/formats/dbn_metadata.hpp"
#include "recorded/formats/read_error.hpp"

namespace corro::recorded::dbn {

/// The longest head that is read: every option on an exchange for a day, with its mappings, has some 100 MB.
inline constexpr std::uint64_t head_bytes_max = std::uint64_t{256} << 20;

/// The action of a record. Values of the file.
enum class action : char {
    add = 'A',
    cancel = 'C',  ///< completely or partly
    modify = 'M',
    clear = 'R',  ///< the whole book of the instrument
    trade = 'T',  ///< of an aggressor; does not change the book
    fill = 'F',   ///< of a resting order; does not change the book
    none = 'N',
};

/// Bits of `market_by_order::flags`.
enum flag : std::uint8_t {
    flag_maybe_bad_book = 1U << 2,
    flag_bad_receive_time = 1U << 3,
    flag_aggregated = 1U << 4,    ///< a price level, not an order
    flag_snapshot = 1U << 5,      ///< replayed, such as the book at the start
    flag_top_of_book = 1U << 6,   ///< a best price, not an order
    flag_last_of_event = 1U << 7  ///< the last record of one event at the venue
};

struct market_by_order {
    record_header header;
    std::uint64_t order_id = 0;
    domain::price_nano price;  ///< no_price_nano where there is none
    std::uint32_t size = 0;
    std::uint8_t flags = 0;
    std::uint8_t channel_id = 0;
    dbn::action action = action::none;
    dbn::side side = side::none;
    domain::time_ns received_at;  ///< no_time where there is none
    std::int32_t received_after_sent_ns = 0;
    std::uint32_t sequence = 0;  ///< of the venue's messages

    [[nodiscard]] bool has(flag bit) const noexcept { return (flags & bit) != 0; }
    friend bool operator==(const market_by_order&, const market_by_order&) = default;
};

enum class record_type : std::uint8_t { instrument_definition = 0x13, market_by_order = 0xA0 };

/// One record that the decoder has checked: a view that is valid until the next call to the decoder.
struct record {
    record_type type{};
    std::uint8_t version = 0;
    /// The offset of the record in the unpacked file.
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes;

    /// The record as a market_by_order. `type` must be record_type::market_by_order (asserted).
    [[nodiscard]] market_by_order as_market_by_order() const noexcept;
    /// As above, for record_type::instrument_definition. Text in the result points into `bytes`.
    [[nodiscard]] instrument_definition as_instrument_definition() const noexcept {
        CORRO_ASSERT(type == record_type::instrument_definition);
        return read_definition(bytes, version);
    }
};

/// Turns the bytes of a file into records.
class decoder {
 public:
    using record = dbn::record;

    decoder() = default;
    decoder(decoder&&) = default;
    decoder& operator=(decoder&&) = default;

    /// The next piece of the file, of any size; only when `next` has returned nothing. It must stay valid until `next`
    /// returns nothing again.
    void feed(std::span<const std::byte> piece) noexcept { input_.feed(piece); }
    /// The file has ended.
    void finish() noexcept { input_.finish(); }

    /// The next record.
    ///
    /// @return  A record; or nothing: call `feed`, or after `finish` the file has ended.
    /// @error   foreign_format, unsupported_version; malformed_length, malformed_field, too_large, out_of_range (a time
    ///          beyond the year 2262); truncated (the file ends inside the head or a record: the offset is where that
    ///          begins). Errors are final.
    [[nodiscard]] std::expected<std::optional<record>, read_error> next() noexcept;

    /// The head of the file, when `next` has read it; otherwise null. Valid for the decoder's lifetime, also when it is
    /// moved.
    [[nodiscard]] const file_metadata* metadata() const noexcept { return metadata_ ? &*metadata_ : nullptr; }
    /// Skipped records of other types.
    [[nodiscard]] std::uint64_t skipped_count() const noexcept { return skipped_count_; }

 private:
    using result = std::expected<std::optional<record>, read_error>;

    [[nodiscard]] result fail(wire::wire_errc code, std::uint64_t offset) noexcept;
    [[nodiscard]] result wait_or_end() noexcept;
    /// Whether the head has been read; false when it needs more input.
    [[nodiscard]] std::expected<bool, read_error> read_head() noexcept;

    byte_feed input_;
    std::vector<std::byte> head_;
    std::optional<file_metadata> metadata_;
    std::optional<read_error> failed_;
    std::uint64_t skipped_count_ = 0;
};

}  // namespace corro::recorded::dbn
