// SPDX-License-Identifier: Apache-2.0
// A range of seeds on the command line, as `--seeds A:B`: from A to before B.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace corro::app {

/// Half-open, as Python's range(A, B): `0:200` is 200 seeds, and `0:200` and `200:400` have no seed in common.
struct seed_range {
    std::uint64_t first = 0;
    std::uint64_t end = 0;  ///< the first seed that is not in the range; larger than `first`

    [[nodiscard]] std::uint64_t count() const noexcept { return end - first; }
    [[nodiscard]] bool contains(std::uint64_t seed) const noexcept { return seed >= first && seed < end; }
};

/// A number without a sign, of at most 18 digits.
/// @error  What is wrong with the text, for the user.
[[nodiscard]] std::expected<std::uint64_t, std::string> parse_seed(const std::string& text);
/// A range that is not empty.
/// @error  What is wrong with the text, for the user.
[[nodiscard]] std::expected<seed_range, std::string> parse_seed_range(const std::string& text);
/// For `option::checked_by`: empty if the text is a range.
[[nodiscard]] std::string seed_range_error(const std::string& text);

}  // namespace corro::app
