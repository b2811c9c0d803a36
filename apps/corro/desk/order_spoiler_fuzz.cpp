// SPDX-License-Identifier: Apache-2.0
// Passes any bytes on. The first byte chooses the wish. Without a wish nothing changes; with one, the same bytes leave
// wherever the stream is cut, and at most as many orders change as are wished.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps/corro/desk/disturbance.hpp"
#include "base/assert.hpp"

namespace {

using namespace corro::app::desk;

std::vector<std::byte> passed(std::span<const std::byte> bytes, spoil_wish wish, std::size_t piece) {
    const std::uint32_t wished = wish.count;
    order_spoiler by(&wish);
    std::vector<std::byte> out;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        by.pass(bytes.subspan(at, std::min(piece, bytes.size() - at)), out);
    }
    by.finish(out);
    CORRO_ASSERT(by.spoiled_count() + wish.count == wished);
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 1, size - 1));
    const spoil_wish wish{1U + data[0] / 4U % 4U, static_cast<spoiled_part>(data[0] % 3U)};
    CORRO_ASSERT(std::ranges::equal(passed(bytes, spoil_wish{}, 7), bytes));
    const std::vector<std::byte> whole = passed(bytes, wish, bytes.size() + 1);
    CORRO_ASSERT(passed(bytes, wish, 1 + data[0] / 16U) == whole);
    return 0;
}
