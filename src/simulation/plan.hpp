// What a simulated run does: a venue, its clients, and the faults, drawn from a seed.
//
// Units:   std::chrono durations of virtual time, from the beginning of the run.
// Threads: a value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "journal/writer.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::simulation {

/// What goes wrong.
enum class fault_kind : std::uint8_t {
    kill,            ///< the venue's process ends, as by kill -9, and starts again after `length`
    power_cut,       ///< the venue's host loses its power for `length`
    pause,           ///< the venue's host does nothing for `length`
    cut,             ///< a client's host cannot reach the venue for `length`, in both directions
    cut_to_venue,    ///< only in this direction
    cut_from_venue,  ///< only in this direction
    loss,            ///< a client's links lose one packet in five for `length`
    slow_link,       ///< a client's links carry little for `length`
    clock_jump,      ///< the venue's time of day is set forward by `length`, or back if that is negative
    clock_rate,      ///< the venue's clocks gain or lose one part in 5,000 for `length`
    slow_disk,       ///< every call on the venue's disk takes up to 30 ms for `length`
};
inline constexpr std::size_t fault_kinds_count = 11;

/// As in `--without` and in traces.
[[nodiscard]] std::string_view name_of(fault_kind kind) noexcept;

struct fault {
    fault_kind kind{};
    std::chrono::nanoseconds at{};
    std::chrono::nanoseconds length{};
    std::size_t client_host = 0;  ///< of the faults of links

    friend bool operator==(const fault&, const fault&) noexcept = default;
};

/// Whether it happens to a client's links, and not to the venue.
[[nodiscard]] bool is_of_link(fault_kind kind) noexcept;

/// What happens, without its time: "power_cut for 0.310000 s".
[[nodiscard]] std::string words_of(const fault& one);

/// One line, for people: "1.204 s  power_cut for 0.310 s".
[[nodiscard]] std::string text_of(const fault& one);

/// What is drawn, and what a caller may fix.
struct plan_options {
    std::chrono::nanoseconds time{std::chrono::seconds(5)};  ///< of the phase with faults
    std::set<fault_kind> without;                            ///< faults that do not happen
};

struct plan {
    std::uint64_t seed = 0;
    std::chrono::nanoseconds time{};  ///< of the phase with faults
    node::threading_mode threading{};
    journal::durability durability{};
    std::uint64_t segment_bytes = 0;   ///< of the journal
    std::uint64_t snapshot_every = 0;  ///< commands; 0: never
    std::size_t client_hosts_count = 0;
    std::size_t traders_count = 0;
    std::size_t outstanding_max = 0;         ///< requests of one trader
    std::chrono::nanoseconds think_time{};   ///< of a trader between requests, at most
    std::chrono::nanoseconds latency_max{};  ///< of each link
    std::size_t piece_bytes_max = 0;         ///< streams arrive in pieces of at most this; 0: as they were written
    std::vector<fault> faults;               ///< in the order of time
};

/// The same seed and options give the same plan. Leaving a kind of fault out moves nothing else.
[[nodiscard]] plan draw_plan(std::uint64_t seed, const plan_options& options);

/// Some lines about the venue and its clients, without the faults.
[[nodiscard]] std::string text_of(const plan& whole);

}  // namespace corro::simulation
