// SPDX-License-Identifier: Apache-2.0
// When the pages of a large array are first written to: at construction, or when they are needed.
//
// The operating system hands out pages of zeros at their first write. A venue writes at its start to all pages that
// every order uses, because a page fault in the middle of a trading day is a pause. A tool that asks one question of a
// facility with a capacity of a million orders leaves most pages untouched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corro::base {

/// Whether the pages are written to at construction, so that no page fault happens later.
enum class page_touch : std::uint8_t {
    no,
    yes,
    small_pages,  ///< no; and pages are small, because few elements are used for a short time: the first use of a large
                  ///< page clears 2 MiB
};

/// How much of an array with room for every order is used. Decides what `page_touch::yes` touches, and with which
/// pages.
enum class array_use : std::uint8_t {
    every_element,   ///< touches all of it
    first_elements,  ///< elements are used from the front on: touches one part in `first_elements_divisor`
    few_elements,    ///< rare elements in any place: touches nothing, and asks for small pages
};
inline constexpr std::size_t first_elements_divisor = 16;

inline constexpr std::size_t small_page_bytes = 4096;

/// Writes a zero to every page. The memory holds nothing yet, or zeros.
inline void touch_pages(void* memory, std::size_t bytes) noexcept {
    auto* const at = static_cast<volatile std::byte*>(memory);
    for (std::size_t i = 0; i < bytes; i += small_page_bytes) at[i] = std::byte{0};
}

}  // namespace corro::base
