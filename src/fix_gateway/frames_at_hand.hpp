// SPDX-License-Identifier: Apache-2.0
// The frames at the front of what a FIX session has received, found once for those who look ahead and those who take.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/assert.hpp"
#include "domain/prefetch_hint.hpp"
#include "fix/codec/frame.hpp"
#include "fix/limits.hpp"

namespace corro::fix_gateway {

class frames_at_hand {
 public:
    [[nodiscard]] bool is_empty() const noexcept { return next_ == count_; }

    void clear() noexcept { next_ = count_ = complete_count_ = 0; }
    /// Forgets what was found, unless nobody else has used this since `whose` did.
    void keep_for(const void* whose) noexcept {
        if (whose_ != whose) clear();
        whose_ = whose;
    }

    /// Finds complete frames, each behind the one before, and at last one that is not complete; at most as many as the
    /// facility looks ahead. Those of before are forgotten.
    void find(std::string_view received) noexcept {
        clear();
        while (count_ < frames_.size()) {
            const fix::frame_result& found = frames_[count_++] =
                fix::next_frame(received, fix::message_bytes_max_default);
            if (found.state != fix::frame_state::complete) return;
            ++complete_count_;
            received.remove_prefix(found.bytes);
        }
    }

    /// The next frame. @pre Not is_empty().
    [[nodiscard]] fix::frame_result take() noexcept {
        CORRO_ASSERT(!is_empty(), "no frame was found");
        return frames_[next_++];
    }

    [[nodiscard]] std::size_t complete_count() const noexcept { return complete_count_; }
    /// The complete ones that `find` found, those that were taken too.
    [[nodiscard]] std::span<const fix::frame_result> complete() const noexcept {
        return std::span(frames_).first(complete_count_);
    }

 private:
    std::array<fix::frame_result, domain::prefetch_hints_max> frames_;
    std::size_t next_ = 0;
    std::size_t count_ = 0;
    std::size_t complete_count_ = 0;
    const void* whose_ = nullptr;  ///< only compared
};

}  // namespace corro::fix_gateway
