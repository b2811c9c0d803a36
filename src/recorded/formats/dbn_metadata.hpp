// SPDX-License-Identifier: Apache-2.0
// The head of a Databento DBN file: the request, and the mapping of symbols to instruments.
//
// Layout (little-endian; offsets from the start of the file):
//
//   offset   size  meaning                                      versions
//        0      3  "DBN"                                        all
//        3      1  version: 1, 2 or 3                           all
//        4      4  size of everything from offset 8 on          all
//        8     16  dataset, padded with NUL                     all
//       24      2  schema; 65535: records of several            all
//       26      8  start of the range asked for, ns             all
//       34      8  its end, ns; 2^64 - 1: open                  all
//       42      8  limit of records; 0: none                    all
//       50      8  number of records, no longer in use          1 only: later versions have the next fields here
//       58 | 50 1  how symbols were given; 255: several ways    all
//       59 | 51 1  how instruments are named                    all
//       60 | 52 1  1: a send time of 8 bytes ends each record   all
//          | 53 2  width of a symbol (version 1: 22)            2 and 3
//       61 | 55    reserved, up to offset 108                   all
//      108      4  size of a schema definition: always 0        all
//      112         symbols, partial, not found: each a count of 4 bytes, then the symbols
//                  mappings: a count of 4 bytes; each a symbol, a count of 4 bytes, then intervals:
//                  first day 4 (as the number yyyymmdd), day after the last 4, symbol
//                  version 3: up to 7 bytes of padding, so that records are aligned
//
// Units: times in nanoseconds since the Unix epoch. Cost: views into the bytes of the head; nothing is copied.
// Source: Databento, "Databento Binary Encoding", versions 1 to 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "recorded/formats/read_error.hpp"

namespace corro::recorded::dbn {

inline constexpr std::uint8_t version_max = 3;
/// Magic, version and size: enough to compute the length of the head.
inline constexpr std::size_t prelude_bytes = 8;
/// Everything up to the first list of symbols, prelude included, without the size of the schema definition.
inline constexpr std::size_t fixed_bytes = 108;
inline constexpr std::size_t symbol_bytes_v1 = 22;
/// "No end", "no such time".
inline constexpr std::uint64_t undefined_timestamp = UINT64_MAX;

/// A list of symbols of equal width.
class symbol_list {
 public:
    symbol_list() = default;
    symbol_list(const std::byte* first, std::size_t width, std::size_t count) noexcept
        : first_(first), width_(width), count_(count) {}

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// The symbol at `index`, which is below size() (asserted), without its padding.
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept;

 private:
    const std::byte* first_ = nullptr;
    std::size_t width_ = 0;
    std::size_t count_ = 0;
};

/// The days on which a symbol meant the same instrument. Days are numbers such as 20240115.
struct mapping_interval {
    std::uint32_t first_day = 0;
    std::uint32_t end_day = 0;  ///< the first day on which it no longer holds
    std::string_view symbol;
};

/// One symbol of the request and its instruments.
class symbol_mapping {
 public:
    symbol_mapping(const std::byte* first, std::size_t width) noexcept : first_(first), width_(width) {}

    [[nodiscard]] std::string_view raw_symbol() const noexcept;
    [[nodiscard]] std::size_t intervals_count() const noexcept;
    /// `index` is below intervals_count() (asserted).
    [[nodiscard]] mapping_interval interval(std::size_t index) const noexcept;

 private:
    friend class mapping_list;
    [[nodiscard]] std::size_t interval_bytes() const noexcept { return 8 + width_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return width_ + 4 + intervals_count() * interval_bytes(); }

    const std::byte* first_;
    std::size_t width_;
};

/// All mappings, in the order of the file; for range-for.
class mapping_list {
 public:
    class iterator {
     public:
        iterator(const std::byte* at, std::size_t width, std::size_t left) noexcept
            : at_(at), width_(width), left_(left) {}
        [[nodiscard]] symbol_mapping operator*() const noexcept { return {at_, width_}; }
        iterator& operator++() noexcept {
            at_ += symbol_mapping{at_, width_}.size_bytes();
            --left_;
            return *this;
        }
        [[nodiscard]] bool operator==(const iterator& other) const noexcept { return left_ == other.left_; }

     private:
        const std::byte* at_;
        std::size_t width_;
        std::size_t left_;
    };

    mapping_list() = default;
    mapping_list(const std::byte* first, std::size_t width, std::size_t count) noexcept
        : first_(first), width_(width), count_(count) {}

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] iterator begin() const noexcept { return {first_, width_, count_}; }
    [[nodiscard]] iterator end() const noexcept { return {nullptr, width_, 0}; }

 private:
    const std::byte* first_ = nullptr;
    std::size_t width_ = 0;
    std::size_t count_ = 0;
};

struct file_metadata {
    std::uint8_t version = 0;
    std::string_view dataset;
    std::optional<std::uint16_t> schema;
    std::uint64_t start_ns = 0;
    std::optional<std::uint64_t> end_ns;
    std::optional<std::uint64_t> limit;
    std::optional<std::uint8_t> symbol_type_in;
    std::uint8_t symbol_type_out = 0;
    /// Each record ends with the time at which it was sent.
    bool has_send_time = false;
    std::size_t symbol_bytes = symbol_bytes_v1;
    symbol_list symbols;
    symbol_list partial;
    symbol_list not_found;
    mapping_list mappings;
};

/// The size of the head of a file.
///
/// @param prelude  The first prelude_bytes bytes of the file.
/// @error  foreign_format, unsupported_version, malformed_length (shorter than the fixed part).
[[nodiscard]] std::expected<std::uint64_t, read_error> head_bytes(
    std::span<const std::byte, prelude_bytes> prelude) noexcept;

/// Reads a whole head.
///
/// @param head  Exactly head_bytes() bytes. The result's views point into it.
/// @error  Those of head_bytes; malformed_length (a list that does not fit, bytes left over), malformed_field
///         (unprintable text, an invalid day, a flag other than 0 and 1). The offset is that of the field.
[[nodiscard]] std::expected<file_metadata, read_error> decode_head(std::span<const std::byte> head) noexcept;

}  // namespace corro::recorded::dbn
