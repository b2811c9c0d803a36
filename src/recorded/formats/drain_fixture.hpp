// SPDX-License-Identifier: Apache-2.0
// For tests: runs a decoder over bytes cut into pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "base/assert.hpp"
#include "recorded/formats/read_error.hpp"

namespace corro::recorded {

/// Feeds `bytes` to `decoder` in pieces of `next_size()` bytes (at least 1), gives every record to `visit`, and returns
/// the error that ended it, if one did. Each piece has memory of its own with its exact size, which is released when
/// the next one comes, so that the address sanitizer detects reads beyond it and views that outlive it.
template <class Decoder, class NextSize, class Visit>
std::optional<read_error> drain(Decoder& decoder, std::span<const std::byte> bytes, NextSize next_size, Visit visit) {
    std::unique_ptr<std::byte[]> piece;
    bool finished = false;
    for (;;) {
        auto record = decoder.next();
        if (!record) {
            const auto again = decoder.next();
            CORRO_ASSERT(!again && again.error() == record.error(), "an error must be final");
            return record.error();
        }
        if (*record) {
            visit(**record);
            continue;
        }
        if (finished) {
            const auto again = decoder.next();
            CORRO_ASSERT(again && !*again, "the end must be final");
            return std::nullopt;
        }
        if (bytes.empty()) {
            decoder.finish();
            finished = true;
            continue;
        }
        const std::size_t size = std::min<std::size_t>(next_size(), bytes.size());
        piece = std::make_unique_for_overwrite<std::byte[]>(size);
        std::memcpy(piece.get(), bytes.data(), size);
        decoder.feed({piece.get(), size});
        bytes = bytes.subspan(size);
    }
}

/// The same in one piece.
template <class Decoder, class Visit>
std::optional<read_error> drain(Decoder& decoder, std::span<const std::byte> bytes, Visit visit) {
    return drain(decoder, bytes, [size = bytes.size()] { return size; }, visit);
}

}  // namespace corro::recorded
