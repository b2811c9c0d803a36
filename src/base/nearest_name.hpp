// SPDX-License-Identifier: Apache-2.0
// Finds the name that a misspelt one most likely stands for, for messages such as: did you mean "serve"?
//
// Threads: any.
// Cost: no allocation; the product of the lengths for each name.
// Limits: names longer than `nearest_name_size_max` bytes are not compared.
// Source: the optimal string alignment distance: insertions, deletions, replacements, exchanges of neighbours.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace corro::base {

/// Longer than each name of a command line or a configuration.
inline constexpr std::size_t nearest_name_size_max = 64;

/// @param names  In the order of preference: the first of several equally near names is returned.
/// @return       A view into `names`. Empty if each name differs in more than a third of the longer one's characters.
[[nodiscard]] std::string_view nearest_name(std::string_view misspelt,
                                            std::span<const std::string_view> names) noexcept;

}  // namespace corro::base
