// SPDX-License-Identifier: Apache-2.0
// The position of one subscriber in the feed log.
//
// Threads: the publisher's context. Limits: join_lag_divisor, lag_max_numerator, lag_max_divisor, send_bytes_max.
// Cost:    `begin` searches the log's index; the other calls are a few instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/assert.hpp"
#include "market_data/feed_log.hpp"
#include "market_data/limits.hpp"

namespace corro::market_data {

class feed_reader {
 public:
    /// `log` outlives the reader.
    explicit feed_reader(const feed_log& log) noexcept : log_(log) {}

    /// Sets the position to a message that is in the log, or to the next one, unless it is so far back that the reader
    /// would soon be too slow.
    /// @param requested  The number of the message; 0 for the next one.
    /// @return           The number of the message; nothing when it is not available.
    /// @pre              The reader has no position yet (asserted).
    [[nodiscard]] std::optional<std::uint64_t> begin(std::uint64_t requested) noexcept {
        CORRO_ASSERT(!has_begun_, "a reader begins once");
        const std::uint64_t next = log_.next_sequence();
        const std::uint64_t wanted = requested == 0 ? next : requested;
        if (wanted < log_.first_sequence() || wanted > next) return std::nullopt;
        position_ = log_.position_of(wanted);
        if (lag_bytes() > log_.capacity_bytes() / join_lag_divisor) return std::nullopt;
        has_begun_ = true;
        return wanted;
    }
    [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
    /// Of the next byte to send, in the log.
    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

    /// The next bytes to send, at most send_bytes_max; empty when all are sent. @pre It has begun, and is not so slow
    /// that the log has overwritten them (asserted).
    [[nodiscard]] std::span<const std::byte> unsent() const noexcept {
        CORRO_ASSERT(has_begun_, "a reader must have a position");
        return log_.bytes_from(position_, send_bytes_max);
    }
    /// The first `bytes` of `unsent` are sent. @pre There are that many (asserted).
    void sent(std::size_t bytes) noexcept {
        CORRO_ASSERT(bytes <= lag_bytes(), "only bytes of the log can be sent");
        position_ += bytes;
    }

    /// How far it is behind the newest message.
    [[nodiscard]] std::uint64_t lag_bytes() const noexcept { return log_.end_position() - position_; }
    /// Whether the log has overwritten its bytes already: more was added at once than the log has room for.
    [[nodiscard]] bool is_lost() const noexcept { return !log_.has(position_); }
    /// Whether it is so far behind that the log will soon overwrite its bytes.
    [[nodiscard]] bool is_too_slow() const noexcept {
        return lag_bytes() > log_.capacity_bytes() / lag_max_divisor * lag_max_numerator;
    }

 private:
    const feed_log& log_;
    std::uint64_t position_ = 0;  ///< of the first unsent byte
    bool has_begun_ = false;
};

}  // namespace corro::market_data
