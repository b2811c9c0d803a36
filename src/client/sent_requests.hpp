// SPDX-License-Identifier: Apache-2.0
// The last sent requests of a session, as bytes: requests that the venue has not accepted when a connection breaks
// are sent again from here, with the same numbers.
//
// Limits: the last `capacity` unanswered requests, and any number of refused ones: of those only the number is kept.
// Threads: one.
// Cost: one copy per request, one allocation at construction; the memory in use stays small while answers keep up. An
//       answer reads no slot as long as nothing is refused: the slots of many sessions are not in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "base/assert.hpp"
#include "wire/binary_codec.hpp"

namespace corro::client {

class sent_requests {
 public:
    static constexpr std::size_t capacity = 512;

    /// Keeps a request of 1 to wire::message_bytes_max bytes; if necessary, drops the oldest unanswered request and all
    /// before it. Numbers have 32 bits and must be consecutive; any other number drops all earlier requests.
    void add(std::uint64_t number, std::span<const std::byte> bytes) noexcept {
        CORRO_ASSERT(!bytes.empty() && bytes.size() <= wire::message_bytes_max && number <= UINT32_MAX);
        if (number != end_) {
            count_ = 0;
            first_ = number;
        }
        if (count_ == 0) has_gaps_ = false;
        if (count_ == capacity) drop_refused();
        if (count_ == capacity) drop_through(oldest_number());
        end_ = number + 1;
        slot& s = at(count_++);
        std::memcpy(s.bytes.data(), bytes.data(), bytes.size());
        s.size = static_cast<std::uint8_t>(bytes.size());
        s.number = static_cast<std::uint32_t>(number);
    }

    /// The venue has refused this request, so its bytes are no longer needed.
    void refused(std::uint64_t number) noexcept {
        const std::size_t place = place_of(number);
        if (place == count_ || at(place).number != number) return;
        at(place).size = 0;
        has_gaps_ = true;
        while (count_ != 0 && at(count_ - 1).size == 0) --count_;
        drop_refused_oldest();
    }

    /// The request of this number and all earlier ones are answered.
    void answered(std::uint64_t number) noexcept {
        if (number >= first_) drop_through(number);
    }

    /// Whether each request from `number` on was refused or is kept, and `end` is one more than the last.
    [[nodiscard]] bool keeps_all(std::uint64_t number, std::uint64_t end) const noexcept {
        return number >= first_ && end == end_;
    }

    /// The bytes of a request; empty when it is not kept, or was refused.
    [[nodiscard]] std::span<const std::byte> find(std::uint64_t number) const noexcept {
        const std::size_t place = place_of(number);
        if (place == count_ || at(place).number != number) return {};
        return std::span(at(place).bytes).first(at(place).size);
    }

    /// Drops the request of this number and all later ones.
    void forget_from(std::uint64_t number) noexcept {
        if (number >= end_) return;
        if (!has_gaps_) {
            const std::uint64_t oldest = oldest_number();
            count_ = number > oldest ? static_cast<std::size_t>(number - oldest) : 0;
        }
        end_ = std::max(number, first_);
        if (!has_gaps_) return;
        while (count_ != 0 && at(count_ - 1).number >= end_) --count_;
    }

 private:
    struct slot {
        std::array<std::byte, wire::message_bytes_max> bytes;
        std::uint8_t size;  ///< 0: it was refused
        std::uint32_t number;
    };
    static_assert(wire::message_bytes_max <= UINT8_MAX && sizeof(slot) == 256, "whole lines of the cache");

    [[nodiscard]] slot& at(std::size_t place) noexcept { return slots_[(begin_ + place) % capacity]; }
    [[nodiscard]] const slot& at(std::size_t place) const noexcept { return slots_[(begin_ + place) % capacity]; }
    /// @pre There is one.
    [[nodiscard]] std::uint64_t oldest_number() const noexcept { return has_gaps_ ? at(0).number : end_ - count_; }

    /// The place of the first slot with this number or a larger one.
    [[nodiscard]] std::size_t place_of(std::uint64_t number) const noexcept {
        std::size_t low = 0;
        for (std::size_t high = count_; low < high;) {
            const std::size_t middle = (low + high) / 2;
            if (at(middle).number < number) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    void drop_oldest() noexcept {
        begin_ = (begin_ + 1) % capacity;
        --count_;
    }

    void drop_refused_oldest() noexcept {
        while (has_gaps_ && count_ != 0 && at(0).size == 0) drop_oldest();
    }

    void drop_through(std::uint64_t number) noexcept {
        while (count_ != 0 && oldest_number() <= number) drop_oldest();
        drop_refused_oldest();
        first_ = std::min(number + 1, end_);
    }

    /// Frees the slots of refused requests between unanswered ones.
    void drop_refused() noexcept {
        std::size_t kept = 0;
        for (std::size_t place = 0; place < count_; ++place) {
            if (at(place).size == 0) continue;
            if (kept != place) at(kept) = at(place);
            ++kept;
        }
        count_ = kept;
    }

    std::unique_ptr<slot[]> slots_ = std::make_unique_for_overwrite<slot[]>(capacity);
    std::size_t begin_ = 0;
    std::size_t count_ = 0;    ///< slots in use; a refused request has one only between two unanswered ones
    std::uint64_t first_ = 1;  ///< those before it are answered or dropped
    std::uint64_t end_ = 1;    ///< one more than the number of the last
    bool has_gaps_ = false;    ///< whether a request was refused since the slots were empty
};

}  // namespace corro::client
