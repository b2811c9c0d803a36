// SPDX-License-Identifier: Apache-2.0
// JSON of a request as values, within limits, with numbers as they were written.
//
// A number stays text: a price such as 0.1 is converted to billionths exactly and never becomes a floating point
// number. A name that an object has twice is refused, because readers disagree about its meaning.
//
// Limits:  json_depth_max, json_values_max. Threads: any.
// Source:  RFC 8259; docs/decisions/0020-an-api-beside-the-venue.md for the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corro::api {

/// The types of JSON.
enum class json_kind : std::uint8_t { null, boolean, number, text, list, object };

/// A value with everything inside it.
struct json_value {
    json_kind kind = json_kind::null;
    bool truth = false;             ///< of a boolean
    std::string text;               ///< of a text; of a number, as it was written
    std::vector<json_value> items;  ///< of a list; of an object, the values in the order of `names`
    std::vector<std::string> names;

    /// The value of an object's member; nullptr if there is none, or if this is no object.
    [[nodiscard]] const json_value* find(std::string_view name) const noexcept;
};

/// Why a text was not read.
enum class json_problem : std::uint8_t {
    malformed,      ///< not JSON, or not UTF-8
    too_large,      ///< too deep, or too many values
    repeated_name,  ///< an object has a name twice
};

/// Reads a whole text.
[[nodiscard]] std::expected<json_value, json_problem> parse_json(std::string_view text);

/// Reads a number such as "5998.75", "-3" or "1e-3", times 10^`decimals`; nothing if the result is not an integer of 64
/// bits, or the text is no number.
[[nodiscard]] std::optional<std::int64_t> scaled_integer(std::string_view number, int decimals) noexcept;

}  // namespace corro::api
