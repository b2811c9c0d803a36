#include "io/context.hpp"

#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "io/epoll/epoll_backend.hpp"
#include "io/scope.hpp"

namespace corro::io {
namespace {

std::unique_ptr<backend> make_backend(backend_kind kind) {
    switch (kind) {
        case backend_kind::automatic:
        case backend_kind::epoll: return make_epoll_backend();
    }
    throw std::system_error(std::make_error_code(std::errc::invalid_argument), "no such backend");
}

}  // namespace

void operation::on_stop(stop_callback& self) noexcept {
    auto& stopped = static_cast<operation&>(self);
    stopped.target->owner->io().cancel(stopped);
}

context::context(context_options options) : context(make_backend(options.backend), options) {}

context::context(std::unique_ptr<backend> own, context_options options)
    : busy_poll_(options.busy_poll), backend_(std::move(own)), roots_(std::make_unique<task_scope>(*this)) {
    backend_->attach(*this);
}

context::~context() {
    CORRO_ASSERT(!running_, "a context is destroyed after it has stopped running");
    backend_->tear_down();
    tearing_down_ = true;
    ready_.clear();
    // What other threads delivered may hold frames of its own; it arrives, and is destroyed with the rest.
    do {
        roots_->destroy_children();
    } while (take_deliveries());
    roots_.reset();
}

void context::stop() noexcept {
    stop_requested_.store(true, std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_seq_cst) && sleeping_.exchange(false)) backend_->wake();
}

void context::enter() noexcept {
    CORRO_ASSERT(!running_, "a context is run by one thread, and not from within its own tasks");
    running_ = true;
    inline_credit_ = inline_credit_bytes;
}

bool context::out_of_work() const noexcept {
    return work_count_ == 0 && ready_.empty() && deliveries_.load(std::memory_order_acquire) == nullptr;
}

void context::run() {
    enter();
    while (!out_of_work()) {
        if (stop_requested_.load(std::memory_order_relaxed)) break;
        turn();
    }
    stop_requested_.store(false, std::memory_order_relaxed);
    leave();
    if (roots_->size() == 0) roots_->rethrow_failure();
}

void context::run_until_done(std::coroutine_handle<> root) noexcept {
    until_ = root;
    while (!root.done()) turn();
    until_ = nullptr;
}

void context::resume_ready() noexcept {
    for (unsigned count = 0; count != ready_batch_max && !ready_.empty(); ++count) {
        inline_credit_ = inline_credit_bytes;
        ready_.pop().waiter.resume();
        // Plain code waits for one coroutine: it goes on as soon as that has ended.
        if (until_ && until_.done()) return;
    }
}

void context::turn() noexcept {
    resume_ready();
    if (until_ && until_.done()) return;
    if (backend_->collected_count() != 0) {
        backend_->dispatch_one();
        return;
    }
    take_deliveries();
    steady_time now{};
    if (!timers_.empty() || busy_poll_.count() > 0) {
        now = backend_->now();
        timers_.advance(now);
    }
    if (!ready_.empty()) {
        // More to do already; still give I/O its turn, if anybody waits for some.
        if (backend_->parked_count() != 0) backend_->wait(std::chrono::nanoseconds(0));
        return;
    }
    if (until_ == nullptr && out_of_work()) return;
    poll_or_sleep(now);
}

void context::poll_or_sleep(steady_time now) noexcept {
    using std::chrono::nanoseconds;
    if (timers_.has_newcomers()) return;  // a timer's firing armed another; it wants its deadline first
    nanoseconds timeout(-1);
    if (!timers_.empty() || busy_poll_.count() > 0) {
        const steady_time idle_since = now;
        while (now - idle_since < busy_poll_) {
            if (!timers_.empty() && timers_.next_due() <= now) return;
            backend_->wait(nanoseconds(0));
            if (!ready_.empty() || backend_->collected_count() != 0) return;
            if (deliveries_.load(std::memory_order_relaxed) != nullptr) return;
            if (stop_requested_.load(std::memory_order_relaxed) && until_ == nullptr) return;
            now = backend_->now();
        }
        if (!timers_.empty()) {
            timeout = std::chrono::duration_cast<nanoseconds>(timers_.next_due() - now);
            if (timeout.count() <= 0) return;
        }
    }
    // From here on a deliverer wakes the backend. Whatever was delivered before is seen below.
    sleeping_.store(true, std::memory_order_seq_cst);
    const bool wanted = deliveries_.load(std::memory_order_seq_cst) != nullptr ||
                        (stop_requested_.load(std::memory_order_seq_cst) && until_ == nullptr);
    backend_->wait(wanted ? nanoseconds(0) : timeout);
    sleeping_.store(false, std::memory_order_relaxed);
}

void context::deliver(remote_item& item) noexcept {
    remote_item* first = deliveries_.load(std::memory_order_relaxed);
    do {
        item.next_remote = first;
    } while (!deliveries_.compare_exchange_weak(first, &item, std::memory_order_seq_cst, std::memory_order_relaxed));
    // Only the first of a batch needs to look: the others find a list that is already announced.
    if (first == nullptr && sleeping_.load(std::memory_order_seq_cst) && sleeping_.exchange(false)) backend_->wake();
}

bool context::take_deliveries() noexcept {
    if (deliveries_.load(std::memory_order_relaxed) == nullptr) return false;
    remote_item* newest_first = deliveries_.exchange(nullptr, std::memory_order_acquire);
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
