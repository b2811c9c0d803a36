// The last sent requests of a session, as bytes: requests that the venue has not accepted when a connection breaks
// are sent again from here, with the same numbers.
//
// Limits: the last `capacity` unanswered requests. Threads: one.
// Cost: one copy per request, one allocation at construction; the memory in use stays small while answers keep up.
#pragma once

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

    /// Keeps a request of at most wire::message_bytes_max bytes; drops the oldest if necessary. Numbers must be
    /// consecutive; any other number drops all earlier requests.
    void add(std::uint64_t number, std::span<const std::byte> bytes) noexcept {
        CORRO_ASSERT(bytes.size() <= wire::message_bytes_max);
        if (count_ == 0 || number != first_ + count_) {
            first_ = number;
            begin_ = count_ = 0;
        }
        if (count_ == capacity) drop_oldest();
        slot& s = slots_[(begin_ + count_++) % capacity];
        std::memcpy(s.bytes.data(), bytes.data(), bytes.size());
        s.size = bytes.size();
    }

    /// Keeps other bytes of at most wire::message_bytes_max for a number, if it is kept.
    void replace(std::uint64_t number, std::span<const std::byte> bytes) noexcept {
        if (number < first_ || number >= first_ + count_) return;
        slot& s = slots_[(begin_ + (number - first_)) % capacity];
        std::memcpy(s.bytes.data(), bytes.data(), bytes.size());
        s.size = bytes.size();
    }

    /// The request of this number and all earlier ones are answered.
    void answered(std::uint64_t number) noexcept {
        while (count_ != 0 && first_ <= number) drop_oldest();
    }

    /// The bytes of a request; empty when it is not kept.
    [[nodiscard]] std::span<const std::byte> find(std::uint64_t number) const noexcept {
        if (number < first_ || number >= first_ + count_) return {};
        const slot& s = slots_[(begin_ + (number - first_)) % capacity];
        return std::span(s.bytes).first(s.size);
    }

    /// Drops the request of this number and all later ones.
    void forget_from(std::uint64_t number) noexcept {
        if (number < first_ + count_) count_ = number > first_ ? static_cast<std::size_t>(number - first_) : 0;
    }

 private:
    struct slot {
        std::array<std::byte, wire::message_bytes_max> bytes;
        std::size_t size;
    };

    void drop_oldest() noexcept {
        begin_ = (begin_ + 1) % capacity;
        ++first_;
        --count_;
    }

    std::unique_ptr<slot[]> slots_ = std::make_unique_for_overwrite<slot[]>(capacity);
    std::size_t begin_ = 0;
    std::size_t count_ = 0;
    std::uint64_t first_ = 1;  ///< number of the oldest
};

}  // namespace corro::client
