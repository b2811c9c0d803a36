// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/journal_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "io/loop/timer.hpp"
#include "io/process/error_output.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::node {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

io::task<std::error_code> wait_for(io::remote_event* event) {
    co_return co_await event->wait();
}

}  // namespace

std::chrono::nanoseconds stall_meter::look(const journal::disk_calls& calls, io::steady_time now) noexcept {
    const std::chrono::nanoseconds since_last =
        last_look_ == io::steady_time{} ? 0ns
                                        : std::min<std::chrono::nanoseconds>(now - last_look_, 2 * disk_look_interval);
    last_look_ = now;
    std::chrono::nanoseconds longest{0};
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const std::uint64_t count = calls.count(i);
        place& at = places_[i];
        const bool is_same_call = count % 2 != 0 && count == at.count;
        at.seen = is_same_call ? at.seen + since_last : 0ns;
        at.count = count;
        longest = std::max(longest, at.seen);
    }
    return longest;
}

std::string stall_message(const host_journal& journal) {
    return fmt::format("{}: the disk has not responded for {} s.", journal.directory(),
                       std::chrono::duration_cast<seconds>(journal.stalled()).count());
}

journal_watch::journal_watch(const io::context& beside, const configuration& c, std::vector<host_journal*> journals,
                             telemetry::event_log* log)
    : worker_(beside.runs_on().make_worker(io::context_options())),
      ended_(worker_->where()),
      patience_(c.disk_patience),
      ends_process_(c.ends_with_journal || !c.partitions.empty()),
      log_(log),
      log_end_(log == nullptr ? nullptr : &log->add_producer()) {
    for (host_journal* each : journals) {
        if (each != nullptr) journals_.emplace_back(each);
    }
}

void journal_watch::start() {
    if (!journals_.empty()) worker_->start(watch());
}

void journal_watch::stop() noexcept {
    if (!worker_->is_started()) return;
    ended_.set();
    worker_->join();
}

io::task<void> journal_watch::watch() {
    bool has_ended = false;
    while (!has_ended && !ends_now_) {
        const auto told = co_await io::with_timeout(disk_look_interval, wait_for(&ended_));
        has_ended = told.has_value();
        for (std::size_t i = 0; i < journals_.size() && !ends_now_; ++i) co_await look(&journals_[i]);
    }
}

io::task<void> journal_watch::look(watched* at) {
    const std::chrono::nanoseconds stalled = at->meter.look(at->journal->disk_calls(), worker_->where().now());
    const auto whole = std::chrono::duration_cast<seconds>(stalled);
    const bool is_over = patience_ != 0ms && stalled >= patience_;
    if (stalled < disk_notice_after && !is_over) {
        const auto before = std::chrono::duration_cast<seconds>(at->journal->stalled());
        at->journal->note_stall(0ns);
        if (!at->is_reported) co_return;
        at->is_reported = false;
        note(telemetry::log_record_kind::journal_resumed, *at, before);
        io::write_error_output(
            fmt::format("notice: {}: the disk responds again, after {} s\n", at->journal->directory(), before.count()));
        co_return;
    }
    at->journal->note_stall(stalled);
    if (!at->is_reported) {
        at->is_reported = true;
        note(telemetry::log_record_kind::journal_stalled, *at, whole);
        io::write_error_output(
            fmt::format("notice: {}: the disk does not respond; all answers wait for it\n", at->journal->directory()));
    }
    if (is_over && !at->is_given_up) {
        at->is_given_up = true;
        // First, so that nothing is acknowledged after this.
        at->journal->give_up();
        if (!ends_process_) {
            io::write_error_output(
                fmt::format("the journal has failed: {}: the disk has not responded for {} s "
                            "(facility.disk_patience_ms)\n",
                            at->journal->directory(), whole.count()));
        }
    }
    if (at->is_given_up && (ends_process_ || leaving_.load(std::memory_order_acquire))) {
        co_await end_process(at, whole);
    }
}

// Waits for no other thread and runs no destructor: any of them may hang with the disk.
io::task<void> journal_watch::end_process(const watched* at, std::chrono::seconds stalled) {
    note(telemetry::log_record_kind::journal_failed, *at, stalled);
    if (log_ != nullptr) {
        const io::steady_time until = worker_->where().now() + log_patience;
        while (log_end_->log_records_waiting() && !log_->error() && worker_->where().now() < until) {
            static_cast<void>(co_await io::sleep_for(1ms));
        }
    }
    io::write_error_output(
        fmt::format("the journal has failed: {}: the disk has not responded for {} s (facility.disk_patience_ms); "
                    "the process ends. The journal holds everything up to sequence number {} and goes on there "
                    "after a restart\n",
                    at->journal->directory(), stalled.count(), at->journal->writer().durable_sequence()));
    ends_now_ = true;
    worker_->where().runs_on().end_process(1);
}

void journal_watch::note(telemetry::log_record_kind what, const watched& at, std::chrono::seconds stalled) {
    if (log_end_ == nullptr) return;
    const bool is_end = what == telemetry::log_record_kind::journal_failed;
    const std::int64_t number =
        is_end ? static_cast<std::int64_t>(at.journal->writer().durable_sequence()) : stalled.count();
    telemetry::log_record said(telemetry::component::venue, what, number, worker_->where().wall_now());
    if (what != telemetry::log_record_kind::journal_resumed) said.severity = telemetry::severity::warning;
    const std::string& directory = at.journal->directory();
    said.set_address(directory.substr(directory.find_last_of('/') + 1));
    log_end_->note(said);
}

}  // namespace corro::node
