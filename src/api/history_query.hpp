// SPDX-License-Identifier: Apache-2.0
// A question about the past of the venue: what a request for /api/v1/... asks.
//
// Threads: any. Source: docs/spec/api.md, "History".
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "api/errors.hpp"
#include "domain/types.hpp"
#include "history/moment.hpp"

namespace corro::api {

/// Rows of one answer.
inline constexpr std::uint64_t history_rows_default = 1'000;
inline constexpr std::uint64_t history_rows_max = 50'000;
/// Columns of one answer.
inline constexpr std::uint64_t history_columns_max = 2'000;
/// Levels of each side in a book.
inline constexpr std::uint64_t history_depth_default = 100;
inline constexpr std::uint64_t history_depth_max = 10'000;
/// Commands that one question may execute.
inline constexpr std::uint64_t history_commands_max = 1'000'000;

enum class history_table : std::uint8_t { trades, orders, levels, book, columns };
enum class history_format : std::uint8_t { json, csv, arrow, frame };

struct history_query {
    history_table table{};
    history_format format{};
    std::string instrument;
    history::moment from;                   ///< events after it; of a book, the moment
    history::moment to{history::latest()};  ///< and up to it
    std::uint64_t limit = history_rows_default;
    std::uint64_t depth = history_depth_default;
    bool wants_digest = false;              ///< of a book: also the digest of the whole state, which reads all of it
    std::int64_t column_us = 0;             ///< the length of a column
    std::optional<std::uint64_t> pictures;  ///< columns are books at this many moments, without what was between
    domain::account_id account{};           ///< whose orders; set by the server
};

/// Reads a path behind "/api/v1/" and a query.
/// @param accept  The field of the request; a parameter `format` comes first.
/// @error method_not_found for another path; invalid_params with the parameter.
[[nodiscard]] std::expected<history_query, api_error> parse_history_query(std::string_view path, std::string_view query,
                                                                          std::string_view accept);

/// The content type of a format.
[[nodiscard]] std::string_view content_type_of(history_format format) noexcept;

}  // namespace corro::api
