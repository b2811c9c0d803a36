// SPDX-License-Identifier: Apache-2.0
#include "io/loop/context.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "base/pause.hpp"
#include "io/task/scope.hpp"

namespace corro::io {

namespace {

platform& platform_of(const context_options& options) noexcept {
    return options.on != nullptr ? *options.on : default_platform();
}

}  // namespace

void operation::on_stop(stop_callback& self) noexcept {
    auto& stopped = static_cast<operation&>(self);
    stopped.target->by->cancel(stopped);
}

context::context(context_options options) : context(platform_of(options).make_backend(), options) {}

context::context(platform::made_backend made, context_options options) : context(std::move(made.own), options) {
    backend_notice_ = std::move(made.notice);
}

context::context(std::unique_ptr<backend> own, context_options options)
    : busy_poll_(options.busy_poll),
      platform_(&platform_of(options)),
      backend_(std::move(own)),
      roots_(std::make_unique<task_scope>(*this, task_scope::for_roots_t())) {
    backend_->attach(*this);
}

context::~context() {
    CORRO_ASSERT(!running_, "a running context must not be destroyed");
    backend_->tear_down();
    tearing_down_ = true;
    ready_.clear();
    after_events_.clear();
    // Items that other threads delivered may own frames. They arrive here and are destroyed with the rest.
    do {
        roots_->destroy_children();
    } while (take_deliveries());
    roots_.reset();
    // Another thread may still be in its call that wakes this loop.
    while (wake_ups_done_count_.load(std::memory_order_acquire) < wake_ups_owed_count_) std::this_thread::yield();
}

void context::stop() noexcept {
    if (!stop_requested_.exchange(true, std::memory_order_acq_rel)) deliver(stop_message_);
}

void context::on_stop_message(remote_item&, context& self) noexcept {
    self.stop_requested_.store(false, std::memory_order_release);
    self.stopped_ = true;
}

/// Marks the sleeping loop in `deliveries_`. No item has this address.
remote_item* context::asleep() noexcept {
    static constinit remote_item mark{nullptr, nullptr};
    return &mark;
}

void context::enter() noexcept {
    CORRO_ASSERT(!running_, "only one thread may run a context, and none of its own tasks may");
    running_ = true;
    // What was delivered between two steps met the mark too: see step.
    wake_ups_owed_count_ = std::max(wake_ups_owed_count_, wake_ups_done_count_.load(std::memory_order_relaxed));
    grant_credit();
}

bool context::is_idle() const noexcept {
    return work_count_ == 0 && ready_.empty() && after_events_.empty() &&
           deliveries_.load(std::memory_order_acquire) == nullptr;
}

void context::run() {
    enter();
    take_deliveries();
    while (!stopped_ && !is_idle()) turn();
    stopped_ = false;
    leave();
    if (roots_->size() == 0) roots_->rethrow_failure();
}

void context::run_until_done(std::coroutine_handle<> root) noexcept {
    until_ = root;
    while (!root.done()) turn();
    until_ = nullptr;
}

bool context::step() noexcept {
    enter();
    stepping_ = true;
    bool any = take_deliveries();
    any = any || !ready_.empty() || !after_events_.empty() || backend_->collected_count() != 0;
    any = any || timers_.has_newcomers() || (!timers_.empty() && timers_.is_due(now()));
    if (any) {
        turn();
    } else {
        // As before a sleep: a delivery wakes the backend, so that the platform learns that there is something to do.
        remote_item* none = nullptr;
        deliveries_.compare_exchange_strong(none, asleep(), std::memory_order_acq_rel, std::memory_order_relaxed);
    }
    stepping_ = false;
    leave();
    return any;
}

void context::resume_ready() noexcept {
    for (unsigned count = 0; count != ready_batch_max && !ready_.empty(); ++count) {
        grant_credit();
        resumed_since_look_ = true;
        ready_.pop().waiter.resume();
        // Plain code waits for one coroutine and continues as soon as that has ended.
        if (until_ && until_.done()) return;
    }
}

/// Whether it is time to ask the kernel for events. @param looks  How many looks at the memory this one counts for.
bool context::is_kernel_due(unsigned looks) noexcept {
    if (backend_->parked_count() == 0) return false;
    if (memory_ == nullptr) return true;
    looks_count_ += looks;
    if (looks_count_ < looks_per_kernel_call) return false;
    looks_count_ = 0;
    return true;
}

/// While tasks are ready: takes in what has arrived, without waiting.
void context::look_around() noexcept {
    if (memory_ != nullptr) static_cast<void>(memory_->look());
    if (is_kernel_due(looks_per_turn)) backend_->wait(std::chrono::nanoseconds(0));
}

void context::turn() noexcept {
    resume_ready();
    if (until_ && until_.done()) return;
    if (backend_->collected_count() != 0) {
        backend_->dispatch_one();
        return;
    }
    if (!after_events_.empty()) {
        ready_.append(after_events_);
        return;
    }
    take_deliveries();
    if (stopped_ && !until_) return;
    steady_time now{};
    if (!timers_.empty() || busy_poll_.count() > 0) {
        now = platform_->now();
        if (resumed_since_look_ && backend_->parked_count() != 0 && timers_.is_due(now)) {
            // Data that has arrived by now comes before the timers that fire now: data wins over its own timeout.
            resumed_since_look_ = false;
            backend_->wait(std::chrono::nanoseconds(0));
            while (backend_->collected_count() != 0) backend_->dispatch_one();
        }
        timers_.advance(now);
    }
    if (!ready_.empty()) {
        // Tasks are ready. Still polls for I/O once if a task waits for it.
        look_around();
        return;
    }
    if (until_ == nullptr && is_idle()) return;
    poll_or_sleep(now);
}

void context::poll_or_sleep(steady_time now) noexcept {
    using std::chrono::nanoseconds;
    if (timers_.has_newcomers()) return;  // a timer that fired armed another; its deadline is computed first
    nanoseconds timeout(-1);
    if (!timers_.empty() || busy_poll_.count() > 0) {
        const steady_time idle_since = now;
        while (now - idle_since < busy_poll_) {
            if (!timers_.empty() && timers_.next_due() <= now) return;
            if (memory_ != nullptr && memory_->look()) return;
            if (memory_ == nullptr || is_kernel_due(1)) backend_->wait(nanoseconds(0));
            if (!ready_.empty() || backend_->collected_count() != 0) return;
            if (deliveries_.load(std::memory_order_relaxed) != nullptr) return;
            now = platform_->now();
        }
        if (!timers_.empty()) {
            timeout = std::chrono::duration_cast<nanoseconds>(timers_.next_due() - now);
            if (timeout.count() <= 0) return;
        }
    }
    if (linger()) return;
    if (memory_ != nullptr && !memory_->prepare_sleep()) return;
    remote_item* none = nullptr;
    if (!deliveries_.compare_exchange_strong(none, asleep(), std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return;
    }
    backend_->wait(timeout);
    resumed_since_look_ = false;
    take_in(deliveries_.exchange(nullptr, std::memory_order_acquire), true);
}

/// A thread that hands over many things hands them over one by one, and each of them would end a sleep. So a loop that
/// waits for nothing else looks a little longer. @return Whether something has come.
bool context::linger() noexcept {
    constexpr int looks = 64;  // 2 us on an AMD EPYC
    if (!std::exchange(has_heard_, false) || stepping_) return false;
    if (backend_->parked_count() != 0 || memory_ != nullptr) return false;
    for (int i = 0; i < looks; ++i) {
        base::pause_briefly();
        if (deliveries_.load(std::memory_order_relaxed) != nullptr) return true;
    }
    return false;
}

void context::deliver(remote_item& item) noexcept {
    remote_item* first = deliveries_.load(std::memory_order_relaxed);
    do {
        item.next_remote = first == asleep() ? nullptr : first;
    } while (!deliveries_.compare_exchange_weak(first, &item, std::memory_order_acq_rel, std::memory_order_relaxed));
    // Once the item is in the list, its receiver may continue and destroy the context. If the loop sleeps, we must
    // still wake it; the destructor waits for that.
    if (first != asleep()) return;
    backend_->wake();
    wake_ups_done_count_.fetch_add(1, std::memory_order_release);
}

bool context::take_deliveries() noexcept {
    if (deliveries_.load(std::memory_order_relaxed) == nullptr) return false;
    return take_in(deliveries_.exchange(nullptr, std::memory_order_acquire), false);
}

bool context::take_in(remote_item* newest_first, bool slept) noexcept {
    if (newest_first == asleep()) return false;
    if (slept) ++wake_ups_owed_count_;
    has_heard_ = has_heard_ || newest_first != nullptr;
    remote_item* oldest_first = nullptr;
    while (newest_first != nullptr) {
        remote_item* item = newest_first;
        newest_first = item->next_remote;
        item->next_remote = oldest_first;
        oldest_first = item;
    }
    while (oldest_first != nullptr) {
        remote_item* item = oldest_first;
        oldest_first = item->next_remote;  // `arrive` may end the item's life
        item->arrive(*item, *this);
    }
    return true;
}

}  // namespace corro::io
