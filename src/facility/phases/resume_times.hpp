// SPDX-License-Identifier: Apache-2.0
// The times at which phases end by themselves: the earliest one, and its book.
//
// A tree of minima over the books: leaf by leaf the time of each book, above them the smaller of two.
//
// Units: nanoseconds since the epoch. Books by index.
// Cost: allocates at construction only, 16 bytes per book. Setting a time and finding the first book are
// logarithmic.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace corro::facility {

class resume_times {
 public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    explicit resume_times(std::uint32_t books_max)
        : leaves_begin_(std::bit_ceil(std::size_t{books_max})), times_(2 * leaves_begin_, never) {}

    /// The earliest time of all books; `never` when no phase ends by itself.
    [[nodiscard]] std::int64_t first() const noexcept { return times_[1]; }
    /// The first book with that time. There must be one.
    [[nodiscard]] std::uint32_t book_of_first() const noexcept {
        std::size_t at = 1;
        while (at < leaves_begin_) at = 2 * at + (times_[2 * at] == times_[at] ? 0 : 1);
        return static_cast<std::uint32_t>(at - leaves_begin_);
    }
    void set(std::uint32_t book, std::int64_t time) noexcept {
        std::size_t at = leaves_begin_ + book;
        times_[at] = time;
        for (at /= 2; at != 0; at /= 2) times_[at] = std::min(times_[2 * at], times_[2 * at + 1]);
    }

 private:
    std::size_t leaves_begin_;
    std::vector<std::int64_t> times_;  ///< the root at 1, the children of `i` at `2 * i` and the next
};

}  // namespace corro::facility
