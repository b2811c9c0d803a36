// SPDX-License-Identifier: Apache-2.0
// The scenarios of the rule book, compiled in: src/rule_book/scenarios, a folder per topic.
#pragma once

#include <span>
#include <string_view>

namespace corro::rule_book {

struct scenario {
    std::string_view name;  ///< topic and file, such as "auctions/auction_collects.txt"
    std::string_view text;  ///< for `read_rule`
};

/// All of them, by name.
[[nodiscard]] std::span<const scenario> scenarios() noexcept;

}  // namespace corro::rule_book
