// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <algorithm>
#include <array>

namespace corro::base {
namespace {

/// The number of edits between two texts of at most nearest_name_size_max bytes.
std::size_t edits_between(std::string_view a, std::string_view b) noexcept {
    using row = std::array<std::size_t, nearest_name_size_max + 1>;
    row before_last{};
    row last{};
    row now{};
    for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before_last = last;
        last = now;
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
            const bool are_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (are_exchanged) now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
    }
    return now[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names) noexcept {
    std::string_view nearest;
    std::size_t least = nearest_name_size_max;
    if (misspelt.size() > nearest_name_size_max) return nearest;
    for (const std::string_view name : names) {
        if (name.size() > nearest_name_size_max) continue;
        const std::size_t edits = edits_between(misspelt, name);
        if (edits < least && edits * 3 <= std::max(misspelt.size(), name.size())) {
            least = edits;
            nearest = name;
        }
    }
    return nearest;
}

}  // namespace corro::base
