#include "simulation/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/hash.hpp"
#include "base/random.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, fault_kinds_count> names{
    "kill", "power_cut", "pause",      "cut",        "cut_to_venue", "cut_from_venue",
    "loss", "slow_link", "clock_jump", "clock_rate", "slow_disk"};

/// A generator for one purpose of one seed.
base::prng stream(std::uint64_t seed, std::string_view purpose) {
    return base::prng(base::hash_bytes(std::as_bytes(std::span(purpose)), seed));
}

/// Evenly between two durations.
std::chrono::nanoseconds between(base::prng& random, std::chrono::nanoseconds least, std::chrono::nanoseconds most) {
    const auto width = static_cast<std::uint64_t>((most - least).count()) + 1;
    return least + std::chrono::nanoseconds(static_cast<std::int64_t>(random.below(width)));
}

double seconds(std::chrono::nanoseconds time) noexcept {
    return std::chrono::duration<double>(time).count();
}

/// @param most  For faults that last.
std::chrono::nanoseconds length_of(fault_kind kind, std::chrono::nanoseconds most, base::prng& random) {
    switch (kind) {
        case fault_kind::kill: return between(random, 1ms, most / 10);
        case fault_kind::power_cut: return between(random, 10ms, most / 2);
        case fault_kind::pause: return between(random, 1ms, most);
        case fault_kind::clock_jump: {
            const std::chrono::nanoseconds by = between(random, 1ms, 2h);
            return random.below(2) == 0 ? by : -by;
        }
        default: return between(random, 10ms, most);
    }
}

/// The faults of one kind; each kind has a stream of its own, so that leaving one out moves no other.
void draw_faults(plan& into, fault_kind kind) {
    base::prng random = stream(into.seed, "faults of kind " + std::string(name_of(kind)));
    if (random.below(2) == 0) return;  // this run has none of them
    for (std::uint64_t left = 1 + random.below(4); left != 0; --left) {
        fault one;
        one.kind = kind;
        one.at = between(random, 0ns, into.time);
        one.length = length_of(kind, into.time / 3, random);
        one.client_host = static_cast<std::size_t>(random.below(into.client_hosts_count));
        into.faults.push_back(one);
    }
}

}  // namespace

std::string_view name_of(fault_kind kind) noexcept {
    return names[static_cast<std::size_t>(kind)];
}

bool is_of_link(fault_kind kind) noexcept {
    switch (kind) {
        case fault_kind::cut:
        case fault_kind::cut_to_venue:
        case fault_kind::cut_from_venue:
        case fault_kind::loss:
        case fault_kind::slow_link: return true;
        default: return false;
    }
}

std::string words_of(const fault& one) {
    return fmt::format("{}{} {} {:.6f} s", name_of(one.kind),
                       is_of_link(one.kind) ? fmt::format(" of client host {}", one.client_host + 1) : "",
                       one.kind == fault_kind::clock_jump ? "by" : "for", seconds(one.length));
}

std::string text_of(const fault& one) {
    return fmt::format("{:9.6f} s  {}", seconds(one.at), words_of(one));
}

plan draw_plan(std::uint64_t seed, const plan_options& options) {
    plan all;
    all.seed = seed;
    all.time = options.time;
    base::prng random = stream(seed, "plan");
    all.threading = random.below(2) == 0 ? node::threading_mode::inline_ : node::threading_mode::split;
    all.durability = random.below(3) == 0 ? journal::durability::each : journal::durability::group;
    all.segment_bytes = random.below(2) == 0 ? 64U * 1024 : 1024U * 1024;
    all.snapshot_every = random.below(3) == 0 ? 0 : 20 + random.below(500);
    all.client_hosts_count = 1 + random.below(3);
    all.traders_count = 2 + random.below(5);
    all.outstanding_max = 1 + random.below(16);
    all.think_time = between(random, 1ms, 40ms);
    all.latency_max = random.below(4) == 0 ? 0ns : between(random, 10us, 5ms);
    all.piece_bytes_max = random.below(3) == 0 ? 1 + random.below(100) : 0;
    for (std::size_t kind = 0; kind < fault_kinds_count; ++kind) {
        const auto one = static_cast<fault_kind>(kind);
        if (!options.without.contains(one)) draw_faults(all, one);
    }
    std::ranges::sort(all.faults, {}, [](const fault& one) { return std::tuple(one.at, one.kind, one.length); });
    return all;
}

std::string text_of(const plan& whole) {
    return fmt::format(
        "venue {}, journal {} in segments of {} KiB, {}\n"
        "{} traders on {} hosts, each with up to {} requests outstanding and {:.1f} ms between them\n"
        "links of up to {:.3f} ms{}\n",
        whole.threading == node::threading_mode::split ? "split" : "inline", journal::name_of(whole.durability),
        whole.segment_bytes / 1024,
        whole.snapshot_every == 0 ? std::string("no snapshots")
                                  : fmt::format("a snapshot every {} commands", whole.snapshot_every),
        whole.traders_count, whole.client_hosts_count, whole.outstanding_max, seconds(whole.think_time) * 1e3,
        seconds(whole.latency_max) * 1e3,
        whole.piece_bytes_max == 0 ? std::string()
                                   : fmt::format(", streams in pieces of up to {} bytes", whole.piece_bytes_max));
}

}  // namespace corro::simulation
