// SPDX-License-Identifier: Apache-2.0
// What goes wrong with the disk of a simulated facility, and what its operator repairs.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "sim/disk.hpp"
#include "sim/host.hpp"

namespace corro::simulation {

class disk_trouble {
 public:
    /// @param journals    The folders of the journals.
    /// @param usual_call  What each call takes at most, as long as nothing else is set.
    disk_trouble(sim::host& on, std::vector<std::string> journals, std::chrono::nanoseconds usual_call)
        : disk_(on.disk()), journals_(std::move(journals)), usual_call_(usual_call) {
        set_longest_call(usual_call);
    }

    void fail_next_sync() noexcept;
    void fail_next_write() noexcept;
    void hang_next_call(std::chrono::nanoseconds time) noexcept;
    void set_short_writes(bool are_short) noexcept;
    void set_longest_call(std::chrono::nanoseconds time) noexcept;
    void end_slowness() noexcept { set_longest_call(usual_call_); }
    /// Leaves this many bytes of room.
    void fill(std::uint64_t room_bytes);
    void make_room() noexcept;

    /// Flips a bit, or zeroes a sector, of a sealed segment or of a snapshot, durably. Nothing happens if there is no
    /// such file, or if one is damaged already.
    void damage(base::prng& random);
    /// The file's name; empty if none is damaged.
    [[nodiscard]] const std::string& damaged_file() const noexcept { return damaged_name_; }
    /// Puts the old bytes back, as from a copy.
    void repair();

    void end_all();

    /// Rises with every trouble that may end a venue, and is not damage.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Whether a call may still fail or hang.
    [[nodiscard]] bool is_pending() const noexcept;

 private:
    [[nodiscard]] std::vector<std::string> old_files() const;

    sim::disk& disk_;
    std::vector<std::string> journals_;
    std::chrono::nanoseconds usual_call_;
    std::uint64_t count_ = 0;
    bool is_full_ = false;
    std::string damaged_path_;
    std::string damaged_name_;
    sim::disk::contents sound_bytes_;
};

}  // namespace corro::simulation
