// SPDX-License-Identifier: Apache-2.0
#include "sim/disk_file.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "io/errors.hpp"
#include "io/loop/yield.hpp"
#include "sim/errors.hpp"

namespace corro::sim {
namespace {

constexpr std::uint64_t offset_max = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t directory_bytes = 4'096;

io::io_result ended(int number, std::size_t bytes = 0) noexcept {
    return {system_code(number), bytes};
}

std::size_t sectors_of(std::size_t bytes) noexcept {
    return (bytes + stored_bytes::sector_bytes - 1) / stored_bytes::sector_bytes;
}

}  // namespace

disk_file::~disk_file() {
    if (node_->locked_by == this) node_->locked_by = nullptr;
}

io::io_result disk_file::read_now(std::uint64_t offset, std::span<std::byte> into) const {
    if (offset > offset_max) return ended(EINVAL);
    if (node_->is_directory) return ended(EISDIR);
    const std::uint64_t size = node_->bytes.size();
    const std::size_t count = std::min<std::uint64_t>(size > offset ? size - offset : 0, into.size());
    node_->bytes.read(offset, into.first(count));
    if (count < into.size()) return {make_error_code(io::errc::end_of_stream), count};
    return {std::error_code(), count};
}

io::task<io::io_result> disk_file::read_at(std::uint64_t offset, std::span<std::byte> into) {
    if (life_->is_over) co_return ended(ESTALE);
    if (into.empty()) co_return io::io_result();
    const io::disk_calls::call mark(marks_);
    const io::stop_token stop = co_await io::this_stop_token();
    if (stop.stop_requested()) co_return io::io_result(io::operation_canceled(), 0);
    const call_time time = on_.draw(disk_call::read);
    co_await spend(time.whole());
    if (life_->is_over) co_return ended(ESTALE);
    const disk_fault fault = on_.faults.next(disk_call::read);
    co_return fault.error != 0 ? ended(fault.error) : read_now(offset, into);
}

disk_file::write_plan disk_file::plan_write(std::uint64_t offset, std::size_t bytes) {
    const disk_fault fault = on_.faults.next(disk_call::write);
    if (offset > offset_max) return {EINVAL};
    if (!may_write_) return {EBADF};
    if (offset >= file_bytes_max) return {EFBIG};
    write_plan plan{fault.error, bytes};
    if (fault.error != 0) {
        const bool is_half = on_.faults.tears_failing_write;
        plan.bytes = !fault.is_torn ? 0
                     : is_half      ? bytes / 2
                                    : on_.faults.random().below(sectors_of(bytes)) * stored_bytes::sector_bytes;
    } else if (fault.is_short && bytes > stored_bytes::sector_bytes) {
        plan.bytes = (1 + on_.faults.random().below(sectors_of(bytes) - 1)) * stored_bytes::sector_bytes;
    }
    plan.bytes = std::min<std::uint64_t>(plan.bytes, file_bytes_max - offset);
    const std::uint64_t end = offset + plan.bytes;
    const std::uint64_t size = node_->bytes.size();
    if (end <= size) return plan;
    const std::uint64_t room = on_.room();
    if (end - size <= room) return plan;
    if (on_.faults.drops_what_is_beyond) {
        plan.is_dropped = true;
        return plan;
    }
    return {ENOSPC, static_cast<std::size_t>(size + room > offset ? size + room - offset : 0)};
}

io::task<io::io_result> disk_file::write_at(std::uint64_t offset, std::span<const std::byte> from) {
    if (life_->is_over) co_return ended(ESTALE);
    if (from.empty()) co_return io::io_result();
    const io::disk_calls::call mark(marks_);
    const io::stop_token stop = co_await io::this_stop_token();
    if (stop.stop_requested()) co_return io::io_result(io::operation_canceled(), 0);
    if (on_.pace == disk_pace::in_turns) co_await io::yield();
    std::size_t done = 0;
    // More than one call of the kernel after a short write.
    while (done < from.size()) {
        if (life_->is_over) co_return ended(ESTALE, done);
        const call_time time = on_.draw(disk_call::write);
        const write_plan plan = plan_write(offset + done, from.size() - done);
        const std::span<const std::byte> part = from.subspan(done, plan.is_dropped ? 0 : plan.bytes);
        // Some sectors at once, the rest when the time is over: the process may end in between, or the power.
        std::size_t first = part.size();
        if (time.whole().count() != 0) {
            first = std::min(first, on_.random.below(sectors_of(first) + 1) * stored_bytes::sector_bytes);
        }
        node_->bytes.write(offset + done, part.first(first));
        co_await spend(time.whole());
        if (life_->is_over) co_return ended(ESTALE, done);
        node_->bytes.write(offset + done + first, part.subspan(first));
        done += plan.bytes;
        if (plan.error != 0) co_return ended(plan.error, done);
    }
    co_return io::io_result(std::error_code(), done);
}

io::task<std::error_code> disk_file::sync_data() {
    if (life_->is_over) co_return system_code(ESTALE);
    const io::disk_calls::call mark(marks_);
    const io::stop_token stop = co_await io::this_stop_token();
    if (stop.stop_requested()) co_return io::operation_canceled();
    if (on_.pace == disk_pace::in_turns) co_await io::yield();
    if (life_->is_over) co_return system_code(ESTALE);
    // What is written from here on is not part of the sync.
    const bool is_ignored = on_.faults.ignores_syncs || on_.faults.ignores_data_syncs;
    const std::uint64_t number = is_ignored ? 0 : node_->bytes.begin_sync();
    if (on_.pace == disk_pace::in_turns) {
        const std::uint64_t turns = on_.faults.slowness == nullptr ? 1 : on_.faults.slowness->below(40);
        for (std::uint64_t i = 0; i < turns; ++i) co_await io::yield();
    }
    const call_time time = on_.draw(disk_call::sync_data);
    co_await spend(time.whole());
    if (life_->is_over) co_return system_code(ESTALE);
    const disk_fault fault = on_.faults.next(disk_call::sync_data);
    if (fault.error == 0) ++on_.faults.syncs_count;
    if (!is_ignored) node_->bytes.end_sync(number, fault.error == 0);
    if (fault.error == 0 && !is_ignored && node_->is_directory) on_.tree.sync(*node_);
    co_return system_code(fault.error);
}

int disk_file::preallocate_now(std::uint64_t bytes) {
    if (bytes == 0 || bytes > offset_max) return EINVAL;
    if (!may_write_) return EBADF;
    if (bytes > file_bytes_max) return EFBIG;
    const std::uint64_t size = node_->bytes.size();
    if (bytes <= size) return 0;
    const std::uint64_t room = on_.room();
    if (bytes - size <= room) {
        node_->bytes.resize(bytes);
        return 0;
    }
    if (on_.faults.drops_what_is_beyond) return 0;
    // As on some file systems: the remaining space has been used up.
    node_->bytes.resize(size + room);
    return ENOSPC;
}

int disk_file::truncate_now(std::uint64_t bytes) {
    if (!may_write_ || bytes > offset_max) return EINVAL;
    if (bytes > file_bytes_max) return EFBIG;
    node_->bytes.resize(bytes);
    return 0;
}

io::task<std::error_code> disk_file::change_length(disk_call kind, std::uint64_t bytes) {
    if (life_->is_over) co_return system_code(ESTALE);
    const io::disk_calls::call mark(marks_);
    const io::stop_token stop = co_await io::this_stop_token();
    if (stop.stop_requested()) co_return io::operation_canceled();
    if (on_.pace == disk_pace::in_turns) co_await io::yield();
    while (kind == disk_call::preallocate && on_.faults.holds_room_back) co_await io::yield();
    const call_time time = on_.draw(kind);
    co_await spend(time.before);
    if (life_->is_over) co_return system_code(ESTALE);
    const disk_fault fault = on_.faults.next(kind);
    int error = fault.error;
    if (error == 0) error = kind == disk_call::preallocate ? preallocate_now(bytes) : truncate_now(bytes);
    co_await spend(time.after);
    co_return system_code(life_->is_over ? ESTALE : error);
}

io::task<std::error_code> disk_file::preallocate(std::uint64_t bytes) {
    return change_length(disk_call::preallocate, bytes);
}

io::task<std::error_code> disk_file::truncate(std::uint64_t bytes) {
    return change_length(disk_call::truncate, bytes);
}

std::expected<std::uint64_t, std::error_code> disk_file::size() const {
    if (life_->is_over) return std::unexpected(system_code(ESTALE));
    return node_->is_directory ? directory_bytes : node_->bytes.size();
}

std::error_code disk_file::try_lock() {
    if (life_->is_over) return system_code(ESTALE);
    if (node_->locked_by == this) return {};
    if (node_->locked_by != nullptr && !node_->lock_life->is_over) return system_code(EWOULDBLOCK);
    node_->locked_by = this;
    node_->lock_life = life_;
    return {};
}

bool disk_file::is_at(const std::string& path) const {
    if (life_->is_over) return false;
    const auto found = on_.tree.find(path);
    return found && *found == node_;
}

}  // namespace corro::sim
