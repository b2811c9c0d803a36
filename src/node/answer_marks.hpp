// Which commands of a source are answered, told from how many of the host's events have left.
//
// Events leave in order and a command's events are emitted before the next command's. So when everything has left that
// had been emitted after the N-th command of a source, its first N commands are answered. One mark per batch suffices.
//
// Threads: one. Limits: `capacity` marks; beyond that neighbours are joined, which answers later but never wrongly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corro::node {

class answer_marks {
 public:
    static constexpr std::size_t capacity = 256;

    /// The source's first `taken` commands have caused events up to number `emitted` of the host.
    void note(std::uint64_t taken, std::uint64_t emitted) noexcept {
        if (end_ - begin_ == capacity) --end_;
        marks_[end_++ % capacity] = {taken, emitted};
    }

    /// How many commands of the source are answered when `released` events have left.
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
