// SPDX-License-Identifier: Apache-2.0
// Computes how many commands of a source are answered from the number of the host's released events.
//
// Events leave in order and a command's events are emitted before the next command's. So when all events have left
// that had been emitted by the end of the N-th command of a source, its first N commands are answered. One mark per
// batch suffices.
//
// Threads: one. Limits: `capacity` marks; beyond that neighbours are joined, which delays the answer but never
// makes it wrong.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corro::node {

class answer_progress {
 public:
    static constexpr std::size_t capacity = 256;

    /// Records that the source's first `taken` commands have caused the host's events up to number `emitted`.
    void note(std::uint64_t taken, std::uint64_t emitted) noexcept {
        if (end_ - begin_ == capacity) --end_;
        marks_[end_++ % capacity] = {taken, emitted};
    }

    /// The number of the source's commands that are answered when `released` events have left.
    [[nodiscard]] std::uint64_t answered(std::uint64_t released) noexcept {
        while (begin_ != end_ && marks_[begin_ % capacity].emitted <= released)
            answered_ = marks_[begin_++ % capacity].taken;
        return answered_;
    }

 private:
    struct mark {
        std::uint64_t taken = 0;
        std::uint64_t emitted = 0;
    };
    std::array<mark, capacity> marks_{};
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t answered_ = 0;
};

}  // namespace corro::node
