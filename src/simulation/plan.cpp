// SPDX-License-Identifier: Apache-2.0
#include "simulation/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "gateway/limits.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

/// A multiple of the usual numbers of targets, so that each is equally likely.
constexpr std::uint64_t targets_chosen_from = 2'520;
constexpr std::uint64_t fix_clients_max = 3;

/// A generator for one purpose of one seed.
base::prng stream(std::uint64_t seed, std::string_view purpose) {
    return base::prng(base::hash_bytes(std::as_bytes(std::span(purpose)), seed));
}

/// Evenly between two durations.
std::chrono::nanoseconds between(base::prng& random, std::chrono::nanoseconds least, std::chrono::nanoseconds most) {
    const auto width = static_cast<std::uint64_t>((most - least).count()) + 1;
    return least + std::chrono::nanoseconds(static_cast<std::int64_t>(random.below(width)));
}
std::chrono::milliseconds milliseconds_between(base::prng& random, std::chrono::milliseconds least,
                                               std::chrono::milliseconds most) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(between(random, least, most));
}

// Half of the venues are one process and are not divided. Such runs are the shortest.
venue_shape draw_shape(std::uint64_t seed) {
    base::prng random = stream(seed, "shape");
    venue_shape shape;
    shape.threading = random.below(2) == 0 ? node::threading_mode::inline_ : node::threading_mode::split;
    const bool is_divided = random.below(10) < 3;
    const std::uint64_t partitions = 2 + random.below(3);
    const bool is_in_roles = random.below(10) < 3;
    const std::uint64_t gateways = 1 + random.below(2);
    const bool has_distributors = random.below(10) < (is_in_roles ? 6 : 1);
    const bool has_host_for_each = random.below(2) == 0;
    if (is_divided) shape.partitions_count = partitions;
    if (is_in_roles) shape.gateways_count = gateways;
    shape.has_distributors = has_distributors;
    shape.has_host_for_each = has_host_for_each && shape.processes_count() > 1;
    return shape;
}

journal::durability draw_durability(base::prng& random) {
    switch (random.below(6)) {
        case 0:
        case 1: return journal::durability::each;
        case 2: return journal::durability::async;
        default: return journal::durability::group;
    }
}

/// @param most  For faults that last.
std::chrono::nanoseconds length_of(fault_kind kind, std::chrono::nanoseconds most, base::prng& random) {
    switch (kind) {
        case fault_kind::kill: return between(random, 1ms, most / 10);
        case fault_kind::power_cut: return between(random, 10ms, most / 2);
        case fault_kind::pause: return between(random, 1ms, most);
        case fault_kind::hanging_disk: return between(random, 10ms, random.below(2) == 0 ? 900ms : hang_time_max);
        case fault_kind::clock_jump: {
            const std::chrono::nanoseconds by = between(random, 1ms, 2h);
            return random.below(2) == 0 ? by : -by;
        }
        default: return between(random, 10ms, most);
    }
}

/// One run in how many has this kind of fault.
std::uint64_t rareness_of(fault_kind kind) noexcept {
    switch (kind) {
        case fault_kind::failed_sync:
        case fault_kind::failed_write:
        case fault_kind::full_disk:
        case fault_kind::hanging_disk:
        case fault_kind::damage: return 5;
        case fault_kind::short_writes:
        case fault_kind::no_descriptors:
        case fault_kind::wrong_gateway: return 4;
        default: return 2;
    }
}

/// Whether a venue keeps its promises under such a fault.
bool may_happen(fault_kind kind, const plan& in) noexcept {
    // An asynchronous journal survives the end of the process, and not that of the machine.
    if (kind == fault_kind::power_cut) return in.durability != journal::durability::async;
    if (kind == fault_kind::wrong_gateway) return in.shape.venue.gateways_count > 1;
    return true;
}

/// Replaces what was drawn by what the file describes.
void take_file(plan& all) {
    const node::configuration& c = all.file->venue;
    venue_shape& shape = all.shape.venue;
    shape.threading = c.threading;
    shape.partitions_count = std::max<std::size_t>(1, c.partitions.size());
    shape.gateways_count = gateway_names_of(c).size();
    base::prng random = stream(all.seed, "hosts of a file's venue");
    shape.has_host_for_each = random.below(2) == 0 && shape.processes_count() > 1;
    all.durability = c.durability;
    all.segment_bytes = c.journal_segment_bytes;
    all.snapshot_every = c.snapshot_every;
    all.ends_with_journal = c.ends_with_journal;
    all.disk_patience = c.disk_patience;
    all.snapshots_kept = c.snapshots_kept;
    all.output_buffer_bytes = c.output_buffer_bytes;
    all.cancel_grace = c.cancel_grace;
    all.requests_max = c.requests_max;
    all.shape.traders_count = std::min(all.shape.traders_count, seats_of(all).size());
    all.shape.fix_clients_count = std::min(all.shape.fix_clients_count, fix_seats_of(all).size());
    if (!has_operator(all)) all.operator_pause = 0ns;
}

/// The faults of one kind; each kind has a stream of its own, so that leaving one out moves no other.
void draw_faults(plan& into, fault_kind kind) {
    base::prng random = stream(into.seed, "faults of kind " + std::string(name_of(kind)));
    if (random.below(rareness_of(kind)) != 0 || !may_happen(kind, into)) return;  // this run has none of them
    for (std::uint64_t left = 1 + random.below(4); left != 0; --left) {
        fault one;
        one.kind = kind;
        one.at = between(random, 0ns, into.time);
        one.length = length_of(kind, into.time / 3, random);
        one.where = static_cast<std::size_t>(random.below(targets_chosen_from));
        into.faults.push_back(one);
    }
}

}  // namespace

plan draw_plan(std::uint64_t seed, const plan_options& options) {
    plan all;
    all.seed = seed;
    all.time = options.time;
    all.shape.venue = draw_shape(seed);
    base::prng random = stream(seed, "plan");
    all.durability = draw_durability(random);
    all.segment_bytes = std::uint64_t{16 * 1024} << (2 * random.below(4));
    all.snapshot_every = random.below(3) == 0 ? 0 : 20 + random.below(500);
    all.ends_with_journal = random.below(3) != 0;
    all.disk_patience = random.below(2) == 0 ? 1s : 10s;
    all.disk_call_max = random.below(2) == 0 ? 0ns : between(random, 10us, 3ms);
    all.snapshots_kept = 1 + static_cast<std::size_t>(random.below(3));
    all.output_buffer_bytes =
        random.below(3) == 0 ? std::size_t{4'096} << random.below(4) : gateway::output_buffer_bytes;
    all.cancel_grace = milliseconds_between(random, 100ms, 3s);
    all.requests_max = random.below(4) == 0 ? 5 + static_cast<std::uint32_t>(random.below(60)) : 0;
    all.shape.client_hosts_count = 1 + random.below(3);
    all.shape.traders_count = 2 + random.below(5);
    all.outstanding_max = 1 + random.below(16);
    all.think_time = between(random, 1ms, 40ms);
    all.latency_max = random.below(4) == 0 ? 0ns : between(random, 10us, 5ms);
    all.piece_bytes_max = random.below(3) == 0 ? 1 + random.below(100) : 0;
    all.operator_pause = random.below(2) == 0 ? 0ns : between(random, 20ms, 300ms);
    all.leaves_silently = random.below(2) == 0;
    all.shape.fix_clients_count = stream(seed, "FIX clients").below(fix_clients_max + 1);
    all.file = options.file;
    if (all.file != nullptr) take_file(all);
    for (std::size_t kind = 0; kind < fault_kinds_count; ++kind) {
        const auto one = static_cast<fault_kind>(kind);
        if (!options.without.contains(one)) draw_faults(all, one);
    }
    std::ranges::sort(all.faults, {},
                      [](const fault& one) { return std::tuple(one.at, one.kind, one.length, one.where); });
    return all;
}

namespace {

std::string text_of(const venue_file& file) {
    std::string left_out;
    for (const std::string& key : file.left_out) left_out += (left_out.empty() ? "; without " : ", ") + key;
    return fmt::format("the venue of {}: {} instruments, {} accounts{}\n", file.path, file.venue.instruments.size(),
                       file.venue.accounts.size(), left_out);
}

std::string text_of_fix_clients(const plan& whole) {
    const std::size_t count = whole.shape.fix_clients_count;
    return count == 0 ? std::string() : fmt::format(" and {} FIX {}", count, count == 1 ? "client" : "clients");
}

std::string text_of_window(const plan& whole) {
    if (whole.requests_max == 0) return {};
    const auto window = configuration_of_facility(whole).requests_window;
    const std::string length = window == 1s ? std::string("a second") : fmt::format("{} ms", window.count());
    return fmt::format(", {} in {} at most", whole.requests_max, length);
}

}  // namespace

std::string text_of(const plan& whole) {
    return fmt::format(
        "{}{}\n"
        "journal {} in segments of {} KiB, {}; {} when it fails, a call takes up to {:.3f} ms and may take {} s\n"
        "{} traders{} on {} hosts, each with up to {} requests outstanding and {:.1f} ms between them{}\n"
        "{}links of up to {:.3f} ms{}\n",
        whole.file == nullptr ? std::string() : text_of(*whole.file), text_of(whole.shape.venue),
        journal::name_of(whole.durability), whole.segment_bytes / 1024,
        whole.snapshot_every == 0 ? std::string("no snapshots")
                                  : fmt::format("a snapshot every {} commands", whole.snapshot_every),
        whole.ends_with_journal ? "ends" : "refuses", seconds_of(whole.disk_call_max) * 1e3,
        whole.disk_patience.count() / 1000, whole.shape.traders_count, text_of_fix_clients(whole),
        whole.shape.client_hosts_count, whole.outstanding_max, seconds_of(whole.think_time) * 1e3,
        text_of_window(whole),
        whole.operator_pause == 0ns
            ? ""
            : "an operator who changes limits and phases, stops accounts and defines instruments\n",
        seconds_of(whole.latency_max) * 1e3,
        whole.piece_bytes_max == 0 ? std::string()
                                   : fmt::format(", streams in pieces of up to {} bytes", whole.piece_bytes_max));
}

}  // namespace corro::simulation
