#include "io/context_group.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/assert.hpp"
#include "io/block_on.hpp"
#include "io/resume_on.hpp"
#include "io/scope.hpp"
#include "io/yield.hpp"

namespace corro::io {
namespace {

/// At most so many tasks are taken from the queue at once.
constexpr std::size_t share_max = 64;

task<void>::handle handle_of(remote_item& queued) noexcept {
    auto& promise = static_cast<detail::task_promise<void>&>(static_cast<detail::promise_base&>(queued));
    return task<void>::handle::from_promise(promise);
}

}  // namespace

context_group::context_group(std::size_t contexts_count, context_options options) {
    CORRO_ASSERT(contexts_count != 0, "a group has at least one context");
    for (std::size_t i = 0; i < contexts_count; ++i) lanes_.push_back(std::make_unique<lane>(options));
}

context_group::~context_group() {
    CORRO_ASSERT(runners_count_ == 0, "nobody runs a group that is destroyed");
    while (first_ != nullptr) {
        remote_item& queued = *std::exchange(first_, first_->next_remote);
        const task<void> never_started(handle_of(queued));
    }
}

task<void> context_group::counted(context_group* group, task<void> child) {
    std::exception_ptr failure;
    try {
        co_await std::move(child);
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure) {
        {
            const std::scoped_lock lock(group->guard_);
            if (!group->failure_) group->failure_ = failure;
        }
        group->stop();
    }
    group->one_ended();
}

void context_group::one_ended() noexcept {
    if (tasks_count_.fetch_sub(1, std::memory_order_acq_rel) == 1) wake_everybody();
}

void context_group::stop() noexcept {
    stopped_.store(true, std::memory_order_release);
    wake_everybody();
}

void context_group::wake_everybody() noexcept {
    for (auto& each : lanes_) each->look.set();
}

void context_group::spawn(task<void> child) noexcept {
    tasks_count_.fetch_add(1, std::memory_order_relaxed);
    remote_item& queued = counted(this, std::move(child)).release().promise();
    queued.next_remote = nullptr;
    lane* sleeper = nullptr;
    {
        const std::scoped_lock lock(guard_);
        (first_ == nullptr ? first_ : last_->next_remote) = &queued;
        last_ = &queued;
        ++waiting_count_;
        if (idle_count_ != 0) {
            for (auto& each : lanes_) {
                if (!each->idle) continue;
                sleeper = each.get();
                sleeper->idle = false;
                --idle_count_;
                break;
            }
        }
    }
    if (sleeper != nullptr) sleeper->look.set();
}

void context_group::spawn_at(std::size_t index, task<void> child) noexcept {
    tasks_count_.fetch_add(1, std::memory_order_relaxed);
    remote_spawn(lanes_[index]->own, counted(this, std::move(child)));
}

/// Takes a share of what waits, and leaves as much for each of the others. @return How many tasks were taken.
std::size_t context_group::take_share(lane& mine) noexcept {
    remote_item* taken = nullptr;
    std::size_t count = 0;
    {
        const std::scoped_lock lock(guard_);
        count = std::min((waiting_count_ + lanes_.size() - 1) / lanes_.size(), share_max);
        if (count == 0) {
            if (!mine.idle) ++idle_count_;
            mine.idle = true;
            return 0;
        }
        taken = first_;
        remote_item* last_taken = first_;
        for (std::size_t i = 1; i < count; ++i) last_taken = last_taken->next_remote;
        first_ = std::exchange(last_taken->next_remote, nullptr);
        waiting_count_ -= count;
    }
    while (taken != nullptr) {
        remote_item& next = *std::exchange(taken, taken->next_remote);
        io::spawn(mine.own, task<void>(handle_of(next)));
    }
    return count;
}

/// Keeps one context supplied, until there is nothing more to do.
task<void> context_group::feed(context_group* group, lane* mine) {
    while (!group->finished()) {
        if (group->take_share(*mine) != 0) {
            // Behind the tasks just taken: the next share comes when they have had their turn.
            co_await yield();
        } else {
            co_await mine->look.wait();
        }
    }
}

void context_group::run() {
    lane* mine = nullptr;
    {
        const std::scoped_lock lock(guard_);
        const auto free = std::find_if(lanes_.begin(), lanes_.end(), [](const auto& each) { return !each->taken; });
        CORRO_ASSERT(free != lanes_.end(), "a group is run by at most as many threads as it has contexts");
        mine = free->get();
        mine->taken = true;
        ++runners_count_;
    }
    block_on(mine->own, feed(this, mine));
    std::exception_ptr failure;
    {
        const std::scoped_lock lock(guard_);
        mine->taken = false;
        if (std::exchange(mine->idle, false)) --idle_count_;
        --runners_count_;
        failure = std::exchange(failure_, nullptr);
    }
    if (failure) std::rethrow_exception(failure);
}

context_pool::context_pool(std::size_t threads_count, context_options options)
    : group_(threads_count != 0 ? threads_count : std::max(1U, std::thread::hardware_concurrency()), options) {
    group_.hold();
    for (std::size_t i = 0; i < group_.size(); ++i) {
        threads_.emplace_back([this, i] {
            // A wish, not a condition: the system may not let us choose.
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(i % std::max(1U, std::thread::hardware_concurrency()), &one);
            if (group_.size() <= std::thread::hardware_concurrency()) {
                ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
            }
            try {
                group_.run();
            } catch (...) {
                const std::scoped_lock lock(guard_);
                failure_ = std::current_exception();
            }
        });
    }
}

context_pool::~context_pool() {
    group_.stop();
    join_threads();
}

void context_pool::join_threads() noexcept {
    for (std::thread& each : threads_) {
        if (each.joinable()) each.join();
    }
}

void context_pool::join() {
    if (std::exchange(held_, false)) group_.release();
    join_threads();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

namespace {

/// Runs on the context that the connection was given to.
task<void> serve_adopted(int file, std::function<task<void>(tcp_stream)> serve) {
    auto stream = tcp_stream::adopt(co_await this_context(), file);
    if (stream) co_await serve(std::move(*stream));
}

}  // namespace

task<std::error_code> serve_balanced(context_group* group, endpoint local, std::function<task<void>(tcp_stream)> serve,
                                     std::function<void(endpoint)> opened, listen_options options) {
    auto acceptor = tcp_acceptor::open(co_await this_context(), local, options);
    if (!acceptor) co_return acceptor.error();
    const auto bound = acceptor->local_endpoint();
    if (!bound) co_return bound.error();
    opened(*bound);
    for (std::size_t next = 0;; next = (next + 1) % group->size()) {
        auto accepted = co_await acceptor->accept();
        if (!accepted) co_return accepted.error();
        const int file = accepted->detach();
        if (file < 0) co_return std::make_error_code(std::errc::not_supported);
        group->spawn_at(next, serve_adopted(file, serve));
    }
}

}  // namespace corro::io
