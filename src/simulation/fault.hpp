// SPDX-License-Identifier: Apache-2.0
// What can go wrong in a simulated run: kinds of faults, and one fault of a plan.
//
// Units:   std::chrono durations of virtual time, from the beginning of the run.
// Threads: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "simulation/shape.hpp"

namespace corro::simulation {

[[nodiscard]] inline double seconds_of(std::chrono::nanoseconds time) noexcept {
    return std::chrono::duration<double>(time).count();
}

/// What goes wrong.
enum class fault_kind : std::uint8_t {
    kill,            ///< a process of the venue ends, as by kill -9, and starts again after `length`
    power_cut,       ///< a host of the venue loses its power for `length`
    pause,           ///< a host of the venue does nothing for `length`
    cut,             ///< two hosts cannot reach one another for `length`
    cut_to_venue,    ///< only in this direction; between hosts of the venue, to the facility
    cut_from_venue,  ///< only in this direction
    loss,            ///< the links between two hosts lose one packet in five for `length`
    slow_link,       ///< the links between two hosts carry little for `length`
    clock_jump,      ///< a host's time of day is set forward by `length`, or back if that is negative
    clock_rate,      ///< a host's clocks gain or lose one part in 5,000 for `length`
    slow_disk,       ///< every call on the facility's disk takes up to 30 ms for `length`
    failed_sync,     ///< the facility's next sync of data fails, and the bytes are lost
    failed_write,    ///< the facility's next write fails after some of its sectors
    short_writes,    ///< writes on the facility's disk often end early, for `length`
    full_disk,       ///< the facility's disk has almost no room for `length`
    hanging_disk,    ///< the next call on the facility's disk takes `length` longer
    damage,          ///< old bytes of the facility's disk are damaged, and its process is killed
    no_descriptors,  ///< a process of the venue can open no further socket for `length`
    wrong_gateway,   ///< a trader tries another gateway than its own for `length`
};
inline constexpr std::size_t fault_kinds_count = 19;

/// What a fault concerns.
enum class fault_target : std::uint8_t {
    process,   ///< of the venue
    host,      ///< of the venue
    facility,  ///< its disk
    link,      ///< run_shape::ends_of_link
    trader,
};

/// As in `--without` and in traces.
[[nodiscard]] std::string_view name_of(fault_kind kind) noexcept;
[[nodiscard]] fault_target target_of(fault_kind kind) noexcept;

struct fault {
    fault_kind kind{};
    std::chrono::nanoseconds at{};
    std::chrono::nanoseconds length{};
    std::size_t where = 0;  ///< chooses the target: see index_of_target

    friend bool operator==(const fault&, const fault&) noexcept = default;
};

/// The process, host, link or trader that a fault concerns. The same fault concerns another one in another shape.
[[nodiscard]] std::size_t index_of_target(const fault& one, const run_shape& shape) noexcept;

/// What happens, without its time: "power_cut of gateway 1 for 0.310000 s".
[[nodiscard]] std::string words_of(const fault& one, const run_shape& shape);

/// One line, for people: "1.204000 s  power_cut of gateway 1 for 0.310000 s".
[[nodiscard]] std::string text_of(const fault& one, const run_shape& shape);

}  // namespace corro::simulation
