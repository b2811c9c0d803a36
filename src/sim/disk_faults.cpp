// SPDX-License-Identifier: Apache-2.0
#include "sim/disk_faults.hpp"

namespace corro::sim {

bool disk_faults::happens(fault_rule& rule) noexcept {
    ++rule.calls_count;
    if (rule.calls_count == rule.at_call) return true;
    return rule.per_million != 0 && random_.below(1'000'000) < rule.per_million;
}

bool disk_faults::fails_by_number(bool changes_data) noexcept {
    ++calls_count;
    if (fails_at == 0 || calls_count < fails_at) return false;
    if (calls_count > fails_at && changes_data) ++calls_after_failure_count;
    return calls_count == fails_at || fails_on;
}

disk_fault disk_faults::next(disk_call kind) noexcept {
    disk_fault fault;
    const bool is_sync = kind == disk_call::sync_data || kind == disk_call::sync_directory;
    if (fails_by_number(is_sync || kind == disk_call::write)) {
        fault.error = failure;
        fault.is_torn = tears_failing_write && calls_count == fails_at && kind == disk_call::write;
        if (kind != disk_call::sync_data || !retries_syncs) return fault;
        fault = {};
        if (fails_by_number(true)) fault.error = failure;
        return fault;
    }
    switch (kind) {
        case disk_call::read: fault.error = happens(failed_reads) ? EIO : 0; break;
        case disk_call::write:
            fault.is_short = happens(short_writes);
            if (happens(no_room)) fault.error = ENOSPC;
            if (happens(failed_writes)) fault.error = EIO;
            fault.is_torn = fault.error != 0;
            break;
        case disk_call::sync_data: fault.error = happens(failed_syncs) ? EIO : 0; break;
        case disk_call::preallocate: fault.error = happens(no_room) ? ENOSPC : 0; break;
        case disk_call::truncate: break;
        case disk_call::open:
        case disk_call::change_name:
        case disk_call::sync_directory: fault.error = happens(failed_names) ? EIO : 0; break;
    }
    return fault;
}

std::chrono::nanoseconds disk_faults::next_hang() noexcept {
    return happens(hangs) ? hang_time : std::chrono::nanoseconds(0);
}

void disk_faults::begin_again() noexcept {
    calls_count = fails_at = 0;
    calls_after_failure_count = 0;
}

}  // namespace corro::sim
