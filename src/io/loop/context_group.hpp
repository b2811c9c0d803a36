// SPDX-License-Identifier: Apache-2.0
// Several contexts that work as one: run by the threads of a caller, or by a pool of their own.
//
// Each thread that runs the group runs one context of it. New tasks wait in the queue of the thread that made them; a
// runner takes from its own first, then from the others'. Once started, a task and everything it touches stay on one
// thread, so no lock or atomic enters the local path. Primitives that tasks of different contexts share must be of the
// `shared_` kind.
//
// Threads: `run` and `poll` on up to as many threads as there are contexts; `spawn` and `stop` on any.
// Cost:    spawning is an almost uncontended lock and a fence; a system call only if no runner is searching and one is
//          idle. Nothing is allocated besides the task's own frame.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/detail/shared_wait_list.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// Contexts that share one queue of new tasks.
class context_group {
 public:
    /// Makes `contexts_count` contexts (at least 1). @throws std::system_error if the kernel refuses one (start-up).
    explicit context_group(std::size_t contexts_count, context_options options = context_options());
    context_group(const context_group&) = delete;
    context_group& operator=(const context_group&) = delete;
    /// Destroys what is still parked. @pre No thread runs the group (asserted).
    ~context_group();

    [[nodiscard]] std::size_t size() const noexcept;
    /// The context with this index; to be used by the thread that runs it.
    [[nodiscard]] context& at(std::size_t index) noexcept;

    /// Passes `child` to the next free runner. Any thread.
    void spawn(task<void> child) noexcept;
    /// Passes `child` to one context. Any thread. @pre Some thread runs that context.
    void spawn_at(std::size_t index, task<void> child) noexcept;

    /// Runs one context of the group on this thread until every task of the group has ended, or until `stop`. The first
    /// failure of a task stops the group and is rethrown by one of the runs.
    /// @pre Fewer than `size` threads are in `run` or `poll` (asserted).
    void run();

    /// Runs new tasks on one context of the group, on this thread, until none is left, and resumes the older ones of
    /// that context that are ready. Does not wait. Rethrows as `run` does.
    /// @pre Fewer than `size` threads are in `run` or `poll` (asserted).
    void poll();

    /// Lets every `run` return, and the next ones at once until `restart`. Any thread.
    void stop() noexcept;
    /// Undoes a `stop`. @pre No thread runs the group.
    void restart() noexcept { stopped_.store(false); }

    /// Keeps `run` from returning while no task is there yet.
    void hold() noexcept { holds_begun_count_.fetch_add(1); }
    /// Undoes one `hold`.
    void release() noexcept;

 private:
    struct lane;

    static task<void> counted(context_group* group, task<void> child);
    static task<void> feed(context_group* group, lane* mine);
    static task<void> drain(context_group* group, lane* mine);
    [[nodiscard]] lane& loop_of_this_thread() noexcept;
    [[nodiscard]] lane& enter_lane();
    void leave_lane(lane& mine);
    [[nodiscard]] bool take_something(lane& mine) noexcept;
    [[nodiscard]] bool anything_waits() const noexcept;
    [[nodiscard]] bool search(lane& mine) noexcept;
    void wake_one() noexcept;
    void lie_down(lane& mine) noexcept;
    [[nodiscard]] bool all_ended() const noexcept;
    void wake_everybody() noexcept;
    void fail(std::exception_ptr failure) noexcept;

    std::vector<std::unique_ptr<lane>> lanes_;
    std::atomic<bool> stopped_{false};
    std::atomic<std::uint64_t> holds_begun_count_{0};
    std::atomic<std::uint64_t> holds_ended_count_{0};
    std::atomic<std::size_t> homes_count_{0};  // threads with a home context
    // Runners move between three states: at work, searching (counted here), idle (counted here, flagged in the lane).
    // A runner without work becomes idle or searches for a while. A spawn moves one runner from idle to searching and
    // wakes it, unless one is searching already. A searching runner that finds a task is at work.
    alignas(64) std::atomic<std::size_t> searching_count_{0};
    std::atomic<std::size_t> idle_count_{0};
    alignas(64) detail::spin_lock guard_;  // guards what follows, and the lanes' flags
    std::size_t runners_count_ = 0;
    std::exception_ptr failure_;
};

/// A group with threads of its own, one per context, each on a processor of its own where the system allows it.
class context_pool {
 public:
    /// `threads_count` 0 means one per processor.
    explicit context_pool(std::size_t threads_count = 0, context_options options = context_options());
    context_pool(const context_pool&) = delete;
    context_pool& operator=(const context_pool&) = delete;
    /// Stops and joins; a failure that `join` has not rethrown is dropped.
    ~context_pool();

    [[nodiscard]] context_group& group() noexcept { return group_; }
    /// Passes `child` to the next free thread. Any thread.
    void spawn(task<void> child) noexcept { group_.spawn(std::move(child)); }
    void stop() noexcept { group_.stop(); }

    /// Waits until every task has ended, or until `stop`; rethrows the first failure of a task. Once.
    void join();

 private:
    void join_threads() noexcept;

    context_group group_;
    detail::spin_lock guard_;
    std::exception_ptr failure_;
    bool held_ = true;
    std::vector<std::thread> threads_;
};

/// Accepts at `local` and spreads the connections evenly over the contexts of `group`.
///
/// @param serve   Called on the context that a connection was given to; makes the task that owns it.
/// @param opened  Called once with the endpoint at which connections are accepted.
/// @return        Why accepting ended: operation_canceled on stop, or what `tcp_acceptor::open` reports.
/// @pre           Every context of the group is run by a thread.
[[nodiscard]] task<std::error_code> serve_balanced(context_group* group, endpoint local,
                                                   std::function<task<void>(tcp_stream)> serve,
                                                   std::function<void(endpoint)> opened,
                                                   listen_options options = listen_options());

}  // namespace corro::io
