// SPDX-License-Identifier: Apache-2.0
// When a heartbeat is due, and when a peer has been silent for too long.
//
// A peer that was silent for two of its intervals is gone; a peer that was sent nothing for one gets a heartbeat.
// Looking four times an interval bounds the error of both.
//
// Threads: one. Cost: a store per message.
#pragma once

#include <cstdint>

#include "gateway/limits.hpp"

namespace corro::gateway {

class heartbeat_watch {
 public:
    static constexpr std::uint32_t looks_per_interval = 4;

    enum class finding : std::uint8_t { nothing, heartbeat_is_due, peer_is_silent };

    void note_received() noexcept { has_received_ = true; }
    void note_sent() noexcept { has_sent_ = true; }

    /// Called `looks_per_interval` times in an interval.
    [[nodiscard]] finding look() noexcept {
        silent_looks_ = has_received_ ? 0 : silent_looks_ + 1;
        mute_looks_ = has_sent_ ? 0 : mute_looks_ + 1;
        has_received_ = has_sent_ = false;
        // The silence began up to one look before it was first seen, so that it has lasted for at least this long.
        if (silent_looks_ >= silent_intervals_max * looks_per_interval) return finding::peer_is_silent;
        return mute_looks_ >= looks_per_interval - 1 ? finding::heartbeat_is_due : finding::nothing;
    }

 private:
    std::uint32_t silent_looks_ = 0;
    std::uint32_t mute_looks_ = 0;
    bool has_received_ = false;  ///< since the last look
    bool has_sent_ = false;      ///< since the last look
};

}  // namespace corro::gateway
