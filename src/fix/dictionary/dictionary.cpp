// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/dictionary.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/assert.hpp"

namespace corro::fix {
namespace {

/// The header's fields of all versions, ascending; those of the trailer are 10, 89 and 93.
constexpr std::array<std::uint32_t, 30> header_tags{8,   9,   34,  35,  43,  49,  50,  52,  56,   57,
                                                    90,  91,  97,  115, 116, 122, 128, 129, 142,  143,
                                                    144, 145, 212, 213, 347, 369, 370, 627, 1128, 1129};

}  // namespace

field_place dictionary::standard_place(std::uint32_t tag) noexcept {
    if (std::ranges::binary_search(header_tags, tag)) return field_place::header;
    return tag == 10 || tag == 89 || tag == 93 ? field_place::trailer : field_place::body;
}

dictionary::field_number dictionary::find_sparse(std::uint32_t tag) const noexcept {
    const auto found = std::ranges::lower_bound(sparse_, tag, {}, &std::pair<std::uint32_t, field_number>::first);
    return found != sparse_.end() && found->first == tag ? found->second : no_field;
}

bool dictionary::is_listed_word(const field_definition& of, std::string_view value) const noexcept {
    return std::ranges::binary_search(listed_words(of), value, std::ranges::less(),
                                      [](const std::string& each) { return std::string_view(each); });
}

dictionary::row_number dictionary::find_message(std::string_view type) const noexcept {
    if (type.size() == 1) [[likely]]
        return by_letter_[static_cast<unsigned char>(type[0])];
    const auto found = std::ranges::lower_bound(messages_, type, std::ranges::less(),
                                                [](const auto& each) { return std::string_view(each.first); });
    return found != messages_.end() && found->first == type ? found->second : no_row;
}

dictionary::row_number dictionary::group(row_number row, field_number of) const noexcept {
    for (const auto& [count, group] : rows_[row].groups) {
        if (count == of) return group;
    }
    CORRO_ASSERT(false);
    return no_row;
}

}  // namespace corro::fix
