// SPDX-License-Identifier: Apache-2.0
#include "sim/disk_timing.hpp"

#include <utility>

namespace corro::sim {
namespace {

time_range range_of(const disk_latency& ranges, disk_call kind) noexcept {
    switch (kind) {
        case disk_call::read: return ranges.read;
        case disk_call::write: return ranges.write;
        case disk_call::sync_data: return ranges.sync_data;
        case disk_call::preallocate:
        case disk_call::truncate: return ranges.resize;
        case disk_call::open:
        case disk_call::change_name:
        case disk_call::sync_directory: return ranges.names;
    }
    return {};
}

}  // namespace

call_time draw_call_time(const disk_latency& ranges, disk_call kind, disk_faults& faults, base::prng& random) noexcept {
    const time_range range = range_of(ranges, kind);
    call_time time;
    time.before = range.least;
    if (range.most > range.least) {
        time.before +=
            std::chrono::nanoseconds(random.below(static_cast<std::uint64_t>((range.most - range.least).count()) + 1));
    }
    time.before += faults.next_hang();
    if (time.before.count() != 0 && random.below(2) == 0) std::swap(time.before, time.after);
    return time;
}

}  // namespace corro::sim
