// SPDX-License-Identifier: Apache-2.0
// When the pages of a large array are first written to: at construction, or when they are needed.
//
// The operating system hands out pages of zeros at their first write. A venue writes to all pages at its start, because
// a page fault in the middle of a trading day is a pause. A tool that asks one question of a facility with a capacity
// of a million orders leaves most pages untouched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corro::base {

/// Whether the pages are written to at construction, so that no page fault happens later.
enum class page_touch : bool { no, yes };

/// Writes a zero to every page. The memory holds nothing yet, or zeros.
inline void touch_pages(void* memory, std::size_t bytes) noexcept {
    constexpr std::size_t page_bytes = 4096;
    auto* const at = static_cast<volatile std::byte*>(memory);
    for (std::size_t i = 0; i < bytes; i += page_bytes) at[i] = std::byte{0};
}

}  // namespace corro::base
