// SPDX-License-Identifier: Apache-2.0
#include "sim/sparse_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/assert.hpp"

namespace corro::sim {

void sparse_bytes::resize(std::uint64_t bytes) {
    if (bytes < size_) {
        const std::uint64_t first_gone = (bytes + page_bytes - 1) / page_bytes;
        pages_.erase(pages_.lower_bound(first_gone), pages_.end());
        const auto last = pages_.find(bytes / page_bytes);
        if (last != pages_.end()) {
            const auto kept = static_cast<std::ptrdiff_t>(bytes % page_bytes);
            std::fill(last->second->begin() + kept, last->second->end(), std::byte{});
        }
    }
    size_ = bytes;
}

void sparse_bytes::read(std::uint64_t offset, std::span<std::byte> into) const noexcept {
    while (!into.empty()) {
        const auto within = static_cast<std::size_t>(offset % page_bytes);
        const std::size_t count = std::min(into.size(), page_bytes - within);
        const auto found = pages_.find(offset / page_bytes);
        if (found != pages_.end()) {
            std::memcpy(into.data(), found->second->data() + within, count);
        } else {
            std::memset(into.data(), 0, count);
        }
        into = into.subspan(count);
        offset += count;
    }
}

void sparse_bytes::write(std::uint64_t offset, std::span<const std::byte> from) {
    CORRO_ASSERT(offset <= size_ && from.size() <= size_ - offset, "the bytes have no such place");
    while (!from.empty()) {
        const auto within = static_cast<std::size_t>(offset % page_bytes);
        const std::size_t count = std::min(from.size(), page_bytes - within);
        std::unique_ptr<page>& into = pages_[offset / page_bytes];
        if (into == nullptr) into = std::make_unique<page>();
        std::memcpy(into->data() + within, from.data(), count);
        from = from.subspan(count);
        offset += count;
    }
}

std::uint64_t sparse_bytes::next_written(std::uint64_t offset) const noexcept {
    const auto found = pages_.lower_bound(offset / page_bytes);
    if (found == pages_.end()) return size_;
    return std::min(size_, std::max(offset, found->first * page_bytes));
}

std::uint64_t sparse_bytes::offset_of_page(std::size_t index) const noexcept {
    CORRO_ASSERT(index < pages_.size());
    return std::next(pages_.begin(), static_cast<std::ptrdiff_t>(index))->first * page_bytes;
}

}  // namespace corro::sim
