// SPDX-License-Identifier: Apache-2.0
#include "node/venue/facility_thread.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/pause.hpp"
#include "io/loop/yield.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/limits.hpp"
#include "node/venue/clock_watch.hpp"

namespace corro::node {
namespace {

/// The polls for commands of an idle thread between two turns of its context.
constexpr int looks_per_turn = 64;

}  // namespace

facility_thread::facility_thread(io::context& edge, gateway::command_queue& commands,
                                 std::chrono::nanoseconds busy_poll, std::size_t executed_max)
    : commands_(commands),
      edge_bell_(edge),
      worker_(edge.runs_on().make_worker(io::context_options())),
      bell_(worker_->where()),
      events_(event_ring_capacity),
      busy_poll_(busy_poll),
      refused_(refusals_ring_capacity) {
    if (executed_max != 0) executed_ = std::make_unique<base::spsc_ring<executed_command>>(executed_max);
}

facility_thread::~facility_thread() {
    stop();
}

/// Work of another thread, which waits until it is done.
struct facility_thread::preparation {
    preparation(io::task<void> what, io::remote_event* at_end) noexcept : work(std::move(what)), done(at_end) {}

    io::task<void> work;
    io::remote_event* done;
    std::exception_ptr failed = nullptr;
    // false -> true (the facility's thread, after it has set `done`).
    std::atomic<bool> has_ended{false};
};

// The thread stays between preparations: io_uring forgets the operations of a thread that has ended.
io::task<void> facility_thread::prepare(io::task<void> work) {
    CORRO_ASSERT(!has_host_.load(std::memory_order_relaxed), "a host is prepared before it runs");
    io::remote_event done(co_await io::this_context());
    preparation next(std::move(work), &done);
    next_preparation_.store(&next, std::memory_order_release);
    leaving_.store(false, std::memory_order_relaxed);
    if (worker_->is_started()) {
        bell_.set();
    } else {
        worker_->start(serve());
    }
    static_cast<void>(co_await done.wait());
    // Also when stopped: the work refers to this frame.
    next.has_ended.wait(false, std::memory_order_acquire);
    if (next.failed) std::rethrow_exception(next.failed);
}

void facility_thread::start(matching_host& host, host_journal* journal) {
    CORRO_ASSERT(!has_host_.load(std::memory_order_relaxed),
                 "a facility's thread is started once, until it is stopped");
    host_ = &host;
    journal_ = journal;
    sequence_.store(host.sequence(), std::memory_order_relaxed);
    if (journal != nullptr) room_.store(journal->writer().room(), std::memory_order_relaxed);
    leaving_.store(false, std::memory_order_relaxed);
    commands_.set_bell(&bell_);
    has_host_.store(true, std::memory_order_release);
    if (worker_->is_started()) {
        bell_.set();
    } else {
        worker_->start(serve());
    }
}

void facility_thread::stop() noexcept {
    if (!worker_->is_started()) return;
    leaving_.store(true, std::memory_order_release);
    bell_.set();
    worker_->join();
    commands_.set_bell(nullptr);
    has_host_.store(false, std::memory_order_relaxed);
}

io::task<void> facility_thread::serve() {
    co_await prepare_host();
    if (!has_host_.load(std::memory_order_acquire)) co_return;
    io::task_scope journaling(worker_->where());
    if (journal_ != nullptr) {
        journaling.spawn(journal_->run());
        journaling.spawn(follow_journal());
    }
    io::task_scope watching(worker_->where());
    watching.spawn(watch_clock(host_));
    co_await take_commands();
    watching.request_stop();
    co_await watching.join();
    if (journal_ != nullptr) journal_->close();
    co_await journaling.join();
}

// Until there is a host to run, or the thread is to end.
io::task<void> facility_thread::prepare_host() {
    while (!has_host_.load(std::memory_order_acquire)) {
        if (preparation* const next = next_preparation_.exchange(nullptr, std::memory_order_acq_rel)) {
            try {
                co_await std::move(next->work);
            } catch (...) {
                next->failed = std::current_exception();
            }
            next->done->set();
            next->has_ended.store(true, std::memory_order_release);
            next->has_ended.notify_one();
            continue;
        }
        if (leaving_.load(std::memory_order_acquire)) co_return;
        static_cast<void>(co_await bell_.wait());
    }
}

// Releases events when the journal has progressed, also without commands. Ends with the journal.
io::task<void> facility_thread::follow_journal() {
    while (!journal_->ended()) {
        const std::error_code stopped = co_await journal_->writer().progressed().wait();
        if (stopped) co_return;
        journal_->forget_old_segments();
        publish_progress();
        bell_.set();  // commands may be waiting for the journal
    }
}

io::task<void> facility_thread::take_commands() {
    while (!leaving_.load(std::memory_order_acquire)) {
        if (take_batch()) {
            idle_since_ = {};
            co_await io::yield();
            continue;
        }
        for (int i = 0; i < looks_per_turn && commands_.empty(); ++i) base::pause_briefly();
        if (!idle_for_long()) {
            co_await io::yield();
            continue;
        }
        // A consumer that makes space after this exchange sees the flag; space made before it is seen here. The journal
        // makes space on this thread, and rings.
        if (waits_for_room()) {
            wants_room_.exchange(true, std::memory_order_acq_rel);
            if (take_batch()) continue;
        }
        static_cast<void>(co_await bell_.wait());
        idle_since_ = {};
    }
}

// Releases and executes one batch; false when there was nothing to do.
bool facility_thread::take_batch() noexcept {
    const std::uint64_t released_before = host_->released_count();
    host_->release();
    const std::span<const domain::command> waiting = commands_.waiting();
    domain::command command;
    std::size_t count = 0;
    while (count < commands_batch_max && has_room_for_command()) {
        if (count < waiting.size()) host_->state().look_ahead(waiting.subspan(count));
        if (!commands_.try_pop(command)) break;
        const bool taken = host_->execute(command);
        if (!taken && journal_ != nullptr) [[unlikely]]
            journal_->note_failure();
        if (executed_ != nullptr) {
            static_cast<void>(executed_->try_push({command, host_->emitted_count(), !taken}));
        } else if (!taken) {
            static_cast<void>(refused_.try_push(command));
        }
        ++count;
    }
    if (count == 0 && host_->released_count() == released_before) return false;
    taken_count_ += count;
    if (count != 0) marks_.note(taken_count_, host_->emitted_count());
    publish_progress();
    return true;
}

bool facility_thread::has_room_for_command() noexcept {
    if (!host_->has_room()) return false;
    return executed_ != nullptr ? executed_->producer_space() != 0 : refused_.size() != refusals_ring_capacity;
}

bool facility_thread::waits_for_room() noexcept {
    return host_->released_count() != host_->emitted_count() ||
           (executed_ != nullptr && executed_->producer_space() == 0);
}

void facility_thread::publish_progress() noexcept {
    host_->release();
    if (executed_ != nullptr && host_->failed()) failed_.store(true, std::memory_order_release);
    // Commands that wait for a failed journal are never answered, so nothing waits for them.
    const std::uint64_t answered = host_->failed() ? taken_count_ : marks_.answered(host_->released_count());
    sequence_.store(host_->sequence(), std::memory_order_relaxed);
    if (journal_ != nullptr) room_.store(journal_->writer().room(), std::memory_order_relaxed);
    answered_count_.store(answered, std::memory_order_release);
    edge_bell_.set();
}

bool facility_thread::idle_for_long() noexcept {
    const io::steady_time now = worker_->where().now();
    if (idle_since_ == io::steady_time{}) idle_since_ = now;
    return now - idle_since_ >= busy_poll_;
}

bool facility_thread::drain(event_router<order_entry>& into, order_entry& orders) noexcept {
    // Read first: the events that it counts are then in the ring.
    const std::uint64_t answered = answered_count_.load(std::memory_order_acquire);
    std::size_t count = 0;
    while (count < events_batch_max) {
        const std::span<const domain::event> there = events_.peek();
        if (there.empty()) break;
        const std::span<const domain::event> ready = there.first(std::min(there.size(), events_batch_max - count));
        into.accept(ready);
        events_.release(ready.size());
        drained_count_ += ready.size();
        count += ready.size();
    }
    domain::command refused;
    while (refused_.try_pop(refused)) {
        if (journal_ != nullptr && journal_->failure() != nullptr) {
            orders.refuse_logons(gateway::end_reason::journal_failed);
        }
        orders.reject_overloaded(refused);
        ++count;
    }
    const bool all = count < events_batch_max;
    const bool news = count != 0 || (all && answered != orders.commands().answered_count());
    if (all) orders.answered(answered);
    if (count != 0 && wants_room_.exchange(false, std::memory_order_acq_rel)) bell_.set();
    return news;
}

bool facility_thread::drain(outcome_sink& into) {
    // Read first: all events released before the failure are then in the ring.
    const bool failed = failed_.load(std::memory_order_acquire);
    std::size_t count = 0;
    bool gave_up = false;
    executed_command what;
    while (executed_->try_pop(what)) {
        into.executed(what);
        ++count;
    }
    while (count < events_batch_max && into.has_room()) {
        const std::span<const domain::event> there = events_.peek();
        if (there.empty()) {
            gave_up = failed && into.end_events();
            break;
        }
        const std::span<const domain::event> ready = there.first(std::min(there.size(), events_batch_max - count));
        into.accept(ready);
        events_.release(ready.size());
        drained_count_ += ready.size();
        count += ready.size();
    }
    if (count != 0 && wants_room_.exchange(false, std::memory_order_acq_rel)) bell_.set();
    return count != 0 || gave_up;
}

}  // namespace corro::node
