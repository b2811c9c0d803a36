// SPDX-License-Identifier: Apache-2.0
// Columns as numbers of a frame, and frames that have nothing else: those of the past.
//
// Source: docs/spec/api.md, "The binary market channel".
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/market_columns.hpp"
#include "domain/types.hpp"

namespace corro::api {

/// Indexes of numbers in a frame, and how many there are of each thing.
namespace frame_layout {
inline constexpr double version = 1;
inline constexpr double kind_snapshot = 1;
inline constexpr double kind_changes = 2;
inline constexpr double kind_history = 3;
inline constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::size_t head_count = 24;
inline constexpr std::size_t kind_at = 1;
inline constexpr std::size_t time_at = 4;
inline constexpr std::size_t command_at = 5;
inline constexpr std::size_t first_price_at = 7;  ///< the phase, and from there on prices and volumes
inline constexpr std::size_t bids_count_at = 20;  ///< then of asks, trades, columns
inline constexpr std::size_t columns_count_at = 23;
}  // namespace frame_layout

/// A whole number as it stands in a frame.
template <class Number>
[[nodiscard]] double frame_number(Number value) noexcept {
    return static_cast<double>(value);
}
[[nodiscard]] inline double frame_number(domain::price_ticks price) noexcept {
    return price == domain::no_price ? frame_layout::nothing : static_cast<double>(price.value);
}

/// Appends a column to a frame that has a head, and counts it there.
void append_column(std::vector<double>& frame, const market_column& column);

/// A frame of columns of the past.
class frame_writer {
 public:
    /// @param command, time_us  The last command that it takes into account.
    void begin_history(std::uint64_t command, std::int64_t time_us);
    void set_position(std::uint64_t command, std::int64_t time_us) noexcept;
    void add_column(const market_column& column) { append_column(numbers_, column); }
    [[nodiscard]] std::string bytes() const;

 private:
    std::vector<double> numbers_;
};

}  // namespace corro::api
