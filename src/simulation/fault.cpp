// SPDX-License-Identifier: Apache-2.0
#include "simulation/fault.hpp"

#include <fmt/format.h>

#include <array>

namespace corro::simulation {
namespace {

constexpr std::array<std::string_view, fault_kinds_count> names{
    "kill",           "power_cut",   "pause",          "cut",          "cut_to_venue",
    "cut_from_venue", "loss",        "slow_link",      "clock_jump",   "clock_rate",
    "slow_disk",      "failed_sync", "failed_write",   "short_writes", "full_disk",
    "hanging_disk",   "damage",      "no_descriptors", "wrong_gateway"};

std::string words_of_target(const fault& one, const run_shape& shape) {
    const std::size_t index = index_of_target(one, shape);
    switch (target_of(one.kind)) {
        case fault_target::process: return " of " + shape.venue.name_of_process(index);
        case fault_target::host: return " of " + shape.venue.name_of_host(index);
        case fault_target::facility: return {};
        case fault_target::link: {
            const link_ends ends = shape.ends_of_link(index);
            return fmt::format(" between {} and {}", shape.name_of_host(ends.near), shape.name_of_host(ends.far));
        }
        case fault_target::trader: return fmt::format(" by trader {}", index + 1);
    }
    return {};
}

std::string words_of_length(const fault& one) {
    switch (one.kind) {
        case fault_kind::clock_jump: return fmt::format(" by {:.6f} s", seconds_of(one.length));
        case fault_kind::failed_sync:
        case fault_kind::failed_write:
        case fault_kind::damage: return {};
        default: return fmt::format(" for {:.6f} s", seconds_of(one.length));
    }
}

}  // namespace

std::string_view name_of(fault_kind kind) noexcept {
    return names[static_cast<std::size_t>(kind)];
}

fault_target target_of(fault_kind kind) noexcept {
    switch (kind) {
        case fault_kind::kill:
        case fault_kind::no_descriptors: return fault_target::process;
        case fault_kind::power_cut:
        case fault_kind::pause:
        case fault_kind::clock_jump:
        case fault_kind::clock_rate: return fault_target::host;
        case fault_kind::cut:
        case fault_kind::cut_to_venue:
        case fault_kind::cut_from_venue:
        case fault_kind::loss:
        case fault_kind::slow_link: return fault_target::link;
        case fault_kind::wrong_gateway: return fault_target::trader;
        default: return fault_target::facility;
    }
}

std::size_t index_of_target(const fault& one, const run_shape& shape) noexcept {
    switch (target_of(one.kind)) {
        case fault_target::process: return one.where % shape.venue.processes_count();
        case fault_target::host: return one.where % shape.venue.hosts_count();
        case fault_target::facility: return 0;
        case fault_target::link: return one.where % shape.links_count();
        case fault_target::trader: return one.where % shape.traders_count;
    }
    return 0;
}

std::string words_of(const fault& one, const run_shape& shape) {
    return std::string(name_of(one.kind)) + words_of_target(one, shape) + words_of_length(one);
}

std::string text_of(const fault& one, const run_shape& shape) {
    return fmt::format("{:9.6f} s  {}", seconds_of(one.at), words_of(one, shape));
}

}  // namespace corro::simulation
