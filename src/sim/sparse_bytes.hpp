// SPDX-License-Identifier: Apache-2.0
// The bytes of a file with holes: only the pages that were written take memory, the rest reads as zeros.
//
// Units:   bytes.
// Threads: one.
// Cost:    a read or a write takes a look-up per page of 16 KiB; a change of the length, one per page that it cuts off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace corro::sim {

class sparse_bytes {
 public:
    static constexpr std::size_t page_bytes = std::size_t{16} * 1024;

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// Cuts the bytes off, or extends them with zeros.
    void resize(std::uint64_t bytes);
    /// Fills `into` from `offset` on; with zeros from the end on.
    void read(std::uint64_t offset, std::span<std::byte> into) const noexcept;
    /// Writes all of `from`, which must end within the size (asserted).
    void write(std::uint64_t offset, std::span<const std::byte> from);

    /// The first offset from `offset` on that is in a page that was written; `size()` when there is none.
    [[nodiscard]] std::uint64_t next_written(std::uint64_t offset) const noexcept;
    [[nodiscard]] std::size_t pages_count() const noexcept { return pages_.size(); }
    /// The offset of a written page, of which there are `pages_count`.
    [[nodiscard]] std::uint64_t offset_of_page(std::size_t index) const noexcept;

 private:
    using page = std::array<std::byte, page_bytes>;

    std::uint64_t size_ = 0;
    std::map<std::uint64_t, std::unique_ptr<page>> pages_;  // by number; zeros beyond the size
};

}  // namespace corro::sim
