// SPDX-License-Identifier: Apache-2.0
// A table of rows, kept by column, and its text as JSON or CSV; api/arrow_stream.hpp writes it as Arrow.
//
// Threads: any. Cost: 8 bytes per number, the text of each text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace corro::api {

enum class column_type : std::uint8_t {
    integer,  ///< 64 bits, with a sign
    decimal,  ///< billionths
    time,     ///< nanoseconds since the epoch, UTC
    text,     ///< UTF-8
    boolean,
};

/// A number that does not exist.
inline constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();

/// One column. Texts stand behind each other, `numbers` then has the end of each.
struct row_column {
    row_column(std::string_view called, column_type is) : name(called), type(is) {}

    std::string_view name;  ///< without characters that JSON or CSV would escape; outlives the table
    column_type type;
    std::vector<std::int64_t> numbers;
    std::string texts;

    void add(std::int64_t number) { numbers.push_back(number); }
    void add(std::string_view text) {
        texts += text;
        numbers.push_back(static_cast<std::int64_t>(texts.size()));
    }
    [[nodiscard]] std::string_view text(std::size_t row) const noexcept;
};

struct row_table {
    std::vector<row_column> columns;

    [[nodiscard]] std::size_t rows_count() const noexcept { return columns.empty() ? 0 : columns[0].numbers.size(); }
};

/// A list with an object per row. Decimals are numbers, exactly; times are texts of ISO 8601.
[[nodiscard]] std::string json_of(const row_table& table);
/// With a line of names (RFC 4180). What does not exist is empty.
[[nodiscard]] std::string csv_of(const row_table& table);

}  // namespace corro::api
