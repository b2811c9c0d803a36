// SPDX-License-Identifier: Apache-2.0
#include "simulation/disk_trouble.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace corro::simulation {
namespace {

constexpr std::uint32_t short_writes_per_million = 300'000;
constexpr std::size_t sector_bytes = 512;
constexpr std::uint64_t no_capacity_limit = ~std::uint64_t{0};

void happens_next(sim::fault_rule& rule) noexcept {
    rule.at_call = rule.calls_count + 1;
}
bool is_due(const sim::fault_rule& rule) noexcept {
    return rule.at_call > rule.calls_count;
}

}  // namespace

void disk_trouble::fail_next_sync() noexcept {
    ++count_;
    happens_next(disk_.faults().failed_syncs);
}

void disk_trouble::fail_next_write() noexcept {
    ++count_;
    happens_next(disk_.faults().failed_writes);
}

void disk_trouble::hang_next_call(std::chrono::nanoseconds time) noexcept {
    ++count_;
    disk_.faults().hang_time = time;
    happens_next(disk_.faults().hangs);
}

void disk_trouble::set_short_writes(bool are_short) noexcept {
    disk_.faults().short_writes.per_million = are_short ? short_writes_per_million : 0;
}

void disk_trouble::set_longest_call(std::chrono::nanoseconds time) noexcept {
    sim::disk_latency all;
    for (sim::time_range* each : {&all.read, &all.write, &all.sync_data, &all.names, &all.resize}) {
        each->most = time;
    }
    disk_.latency() = all;
}

void disk_trouble::fill(std::uint64_t room_bytes) {
    ++count_;
    is_full_ = true;
    constexpr std::uint64_t plenty = std::uint64_t{1} << 39U;
    disk_.faults().capacity_bytes = plenty;
    const std::uint64_t used = plenty - disk_.free_bytes("/");
    disk_.faults().capacity_bytes = used + room_bytes;
}

void disk_trouble::make_room() noexcept {
    is_full_ = false;
    disk_.faults().capacity_bytes = no_capacity_limit;
}

// The last segment is being written, or was when the process ended.
std::vector<std::string> disk_trouble::old_files() const {
    std::vector<std::string> all;
    for (const std::string& folder : journals_) {
        const auto names = disk_.list(folder);
        if (!names) continue;
        std::vector<std::string> segments;
        for (const std::string& name : *names) {
            if (name.ends_with(".segment")) segments.push_back(folder + "/" + name);
            if (name.ends_with(".snapshot")) all.push_back(folder + "/" + name);
        }
        std::ranges::sort(segments);
        if (!segments.empty()) segments.pop_back();
        all.insert(all.end(), segments.begin(), segments.end());
    }
    return all;
}

void disk_trouble::damage(base::prng& random) {
    if (!damaged_path_.empty()) return;
    const std::vector<std::string> files = old_files();
    if (files.empty()) return;
    const std::string& path = files[random.below(files.size())];
    sound_bytes_ = disk_.bytes_of(path);
    if (sound_bytes_.empty()) return;
    damaged_path_ = path;
    damaged_name_ = path.substr(path.rfind('/') + 1);
    sim::disk::contents bytes = sound_bytes_;
    const std::size_t at = random.below(bytes.size());
    if (random.below(2) == 0) {
        bytes[at] ^= static_cast<std::byte>(1U << random.below(8));
    } else {
        const std::size_t first = at / sector_bytes * sector_bytes;
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), std::min(sector_bytes, bytes.size() - first),
                    std::byte{0});
    }
    disk_.put(path, bytes);
}

void disk_trouble::repair() {
    if (damaged_path_.empty()) return;
    if (disk_.has(damaged_path_)) disk_.put(damaged_path_, sound_bytes_);
    damaged_path_.clear();
    damaged_name_.clear();
}

void disk_trouble::end_all() {
    set_short_writes(false);
    end_slowness();
    make_room();
    repair();
    sim::disk_faults& faults = disk_.faults();
    for (sim::fault_rule* each : {&faults.failed_syncs, &faults.failed_writes, &faults.hangs}) each->at_call = 0;
}

bool disk_trouble::is_pending() const noexcept {
    const sim::disk_faults& faults = disk_.faults();
    return is_full_ || is_due(faults.failed_syncs) || is_due(faults.failed_writes) || is_due(faults.hangs);
}

}  // namespace corro::simulation
