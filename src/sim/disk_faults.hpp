// SPDX-License-Identifier: Apache-2.0
// What a simulated disk does wrong, and when: at the N-th call, or at random from a seed.
//
// Two sets of knobs. The first counts all calls, and is for tests that break a program at each of its calls. The second
// has a rule for each kind of fault, and is for worlds.
//
// Limits:  `list`, `make_directory`, `free_bytes` and the functions of open files that do not suspend neither fail nor
//          count.
// Threads: one.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>

#include "base/random.hpp"

namespace corro::sim {

/// The kinds of calls on a disk.
enum class disk_call : std::uint8_t {
    open,
    read,
    write,
    sync_data,
    preallocate,
    truncate,
    change_name,
    sync_directory,
};

/// When a kind of fault happens.
struct fault_rule {
    std::uint64_t at_call = 0;      ///< the call of its kind, from 1; 0 for none
    std::uint32_t per_million = 0;  ///< how many of a million calls, at random
    std::uint64_t calls_count = 0;  ///< calls so far
};

/// How a call goes wrong.
struct disk_fault {
    int error = 0;          ///< an errno number; 0 for none
    bool is_torn = false;   ///< a write with an error writes its first part
    bool is_short = false;  ///< a write ends early, and a second call writes the rest
};

class disk_faults {
 public:
    explicit disk_faults(std::uint64_t seed) noexcept : random_(seed) {}

    // By the number of the call.
    std::uint64_t fails_at = 0;         ///< the call, from 1, that ends with `failure`; 0 for none
    int failure = EIO;                  ///< an errno number
    bool fails_on = false;              ///< whether all later calls fail as well, as without power
    bool tears_failing_write = false;   ///< the write that fails writes its first half
    bool ignores_syncs = false;         ///< a control: a disk that lies
    bool ignores_data_syncs = false;    ///< a control: it lies about bytes, and not about names
    bool retries_syncs = false;         ///< a control: a sync that fails is retried, and then succeeds
    bool drops_what_is_beyond = false;  ///< a control: a full disk reports success for bytes that it drops
    bool holds_room_back = false;       ///< preallocation waits while this is true; on a disk that takes turns
    base::prng* slowness = nullptr;     ///< if set, it determines how many turns a sync takes
    std::uint64_t capacity_bytes = ~std::uint64_t{0};

    std::uint64_t calls_count = 0;
    std::uint64_t syncs_count = 0;                ///< of data, that succeeded
    std::uint64_t calls_after_failure_count = 0;  ///< writes and syncs that came after the failing call

    // By kind. The errors are EIO, except for `no_room`.
    fault_rule failed_reads;
    fault_rule failed_writes;  ///< after some of the sectors
    fault_rule short_writes;   ///< the call writes some of the sectors, and another call the rest
    fault_rule failed_syncs;   ///< of data: the unsynced bytes are forgotten (sim/stored_bytes.hpp)
    fault_rule failed_names;   ///< opening, renaming, removing, syncing a directory: nothing changes
    fault_rule no_room;        ///< ENOSPC from a write or a preallocation, though there is room
    fault_rule hangs;          ///< any call takes longer by `hang_time`
    std::chrono::nanoseconds hang_time = std::chrono::seconds(60);

    /// How much longer a call takes that begins now.
    [[nodiscard]] std::chrono::nanoseconds next_hang() noexcept;
    /// Counts a call, and returns how it goes wrong.
    [[nodiscard]] disk_fault next(disk_call kind) noexcept;
    /// The calls are counted from the beginning, and none is set to fail by its number; as after a restart.
    void begin_again() noexcept;

    /// The faults' own stream.
    [[nodiscard]] base::prng& random() noexcept { return random_; }

 private:
    [[nodiscard]] bool happens(fault_rule& rule) noexcept;
    [[nodiscard]] bool fails_by_number(bool changes_data) noexcept;

    base::prng random_;
};

}  // namespace corro::sim
