// SPDX-License-Identifier: Apache-2.0
// A table of columns: what Python gets as NumPy arrays and as an Arrow stream, both without a copy.
//
// Layout: each column is one contiguous array. Missing prices are NaN, missing times the least integer (NumPy's NaT),
//         missing categories have the code -1; the Arrow stream marks them as null.
// Threads: a finished frame does not change, so any number of threads may read it.
// Cost: the columns' memory, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace corro::python {

enum class meaning : std::uint8_t {
    number,
    time,      ///< nanoseconds since the epoch, UTC
    duration,  ///< nanoseconds
    flag,      ///< 0 or 1
    category,  ///< an index into `categories`; -1: none
};

/// A time or duration that is missing.
inline constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();

using column_values =
    std::variant<std::vector<std::int8_t>, std::vector<std::uint8_t>, std::vector<std::int32_t>,
                 std::vector<std::uint32_t>, std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<double>>;

struct column {
    std::string name;
    meaning what = meaning::number;
    column_values values;
    std::vector<std::string> categories;
};

class frame {
 public:
    /// @throws std::invalid_argument when columns differ in length, or a value is not of its column's meaning.
    explicit frame(std::vector<column> columns);

    [[nodiscard]] const std::vector<column>& columns() const noexcept { return columns_; }
    /// The column of that name; null if no column has it.
    [[nodiscard]] const column* find(std::string_view name) const noexcept;
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }

 private:
    std::vector<column> columns_;
    std::size_t rows_ = 0;
};

using frame_pointer = std::shared_ptr<const frame>;

/// The codes of texts that come one after the other, such as instruments.
class code_book {
 public:
    std::int32_t code_of(std::string_view text);
    [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

 private:
    std::map<std::string, std::int32_t, std::less<>> codes_;
    std::vector<std::string> texts_;
};

/// Converts counts of steps, such as ticks, to the nearest double of the decimal that they mean: 23995 ticks of 0.25
/// become the double that prints as 5998.75.
class decimal_scale {
 public:
    decimal_scale() = default;
    /// @param step_nano  The step in billionths; not 0.
    explicit decimal_scale(std::int64_t step_nano) noexcept;

    [[nodiscard]] double operator()(std::int64_t steps) const noexcept {
        return static_cast<double>(steps * factor_) / divisor_;
    }
    /// Digits behind the point that all such decimals need at most.
    [[nodiscard]] int decimals() const noexcept { return decimals_; }

 private:
    std::int64_t factor_ = 1;
    double divisor_ = 1;
    int decimals_ = 0;
};

/// Counts are signed in frames, because people subtract them.
[[nodiscard]] constexpr std::int64_t signed_of(std::uint64_t count) noexcept {
    return static_cast<std::int64_t>(count);
}

/// The nearest double of billionths.
[[nodiscard]] double double_of_nano(std::int64_t nano) noexcept;

}  // namespace corro::python
