// SPDX-License-Identifier: Apache-2.0
// How often a session may log on: each logon costs the other sessions the time of a welcome.
//
// Threads: one. Limits: as the options have it. Cost: one array access per logon; memory is reserved when it is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "domain/types.hpp"

namespace corro::gateway {

class logon_throttle {
 public:
    using time = std::chrono::steady_clock::time_point;

    /// @param sessions_count  Session ids are 1 to this number.
    logon_throttle(std::uint32_t sessions_count, std::uint32_t most, std::chrono::milliseconds length)
        : windows_(std::size_t{sessions_count} + 1), logons_max_(most), length_(length) {}

    [[nodiscard]] bool may_log_on(domain::session_id id, time now) const noexcept {
        const window& w = windows_[id.value];
        return w.logons_count < logons_max_ || now - w.begin >= length_;
    }

    void count(domain::session_id id, time now) noexcept {
        window& w = windows_[id.value];
        if (w.logons_count == 0 || now - w.begin >= length_) w = {now, 0};
        ++w.logons_count;
    }

 private:
    struct window {
        time begin{};
        std::uint32_t logons_count = 0;
    };

    std::vector<window> windows_;  ///< by session id
    std::uint32_t logons_max_;
    std::chrono::milliseconds length_;
};

}  // namespace corro::gateway
