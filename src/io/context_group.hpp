// Several contexts that work as one: run by the threads of a caller, or by a pool of their own.
//
// Each thread that runs the group runs one context of it. New tasks wait in one queue, from which every runner takes as
// much as it can do; once started, a task and everything it touches stay on one thread, so no lock or atomic enters the
// local path. What tasks of different contexts share has to be of the `shared_` kind.
//
// Threads: `run` on up to as many threads as there are contexts; `spawn` and `stop` on any.
// Cost:    spawning is a short lock, an atomic increment and a second recycled frame; a system call only if a runner
// sleeps.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "io/context.hpp"
#include "io/endpoint.hpp"
#include "io/remote_event.hpp"
#include "io/shared_wait_list.hpp"
#include "io/task.hpp"
#include "io/tcp.hpp"

namespace corro::io {

/// Contexts that share one queue of new tasks.
class context_group {
 public:
    /// Makes `contexts_count` contexts (at least 1). @throws std::system_error if the kernel refuses one (start-up).
    explicit context_group(std::size_t contexts_count, context_options options = context_options());
    context_group(const context_group&) = delete;
    context_group& operator=(const context_group&) = delete;
    /// Destroys what is still parked. @pre Nobody runs the group (asserted).
    ~context_group();

    [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
    /// The context number `index`; to be used by the thread that runs it.
    [[nodiscard]] context& at(std::size_t index) noexcept { return lanes_[index]->own; }

    /// Gives `child` to the next runner that has time. Any thread.
    void spawn(task<void> child) noexcept;
    /// Gives `child` to one context. Any thread. @pre Some thread runs that context.
    void spawn_at(std::size_t index, task<void> child) noexcept;

    /// Runs one context of the group on this thread until every task of the group has ended, or until `stop`. The first
    /// failure of a task stops the group and is rethrown by one of the runs.
    /// @pre Fewer than `size` threads are in `run` (asserted).
    void run();

    /// Lets every `run` return, and the next ones at once until `restart`. Any thread.
    void stop() noexcept;
    /// Takes a `stop` back. @pre Nobody runs the group.
    void restart() noexcept { stopped_.store(false); }

    /// Keeps `run` from returning while no task is there yet.
    void hold() noexcept { tasks_count_.fetch_add(1, std::memory_order_relaxed); }
    /// Takes one `hold` back.
    void release() noexcept { one_ended(); }

 private:
    struct lane {
        explicit lane(context_options options) : own(options), look(own) {}
        context own;
        remote_event look;   // there is something in the queue, or nothing will ever be again
        bool idle = false;   // guarded
        bool taken = false;  // guarded
    };

    static task<void> counted(context_group* group, task<void> child);
    static task<void> feed(context_group* group, lane* mine);
    [[nodiscard]] bool finished() const noexcept {
        return stopped_.load(std::memory_order_acquire) || tasks_count_.load(std::memory_order_acquire) == 0;
    }
    [[nodiscard]] std::size_t take_share(lane& mine) noexcept;
    void one_ended() noexcept;
    void wake_everybody() noexcept;

    std::vector<std::unique_ptr<lane>> lanes_;
    std::atomic<std::size_t> tasks_count_{0};
    std::atomic<bool> stopped_{false};
    detail::spin_lock guard_;  // guards what follows, and the lanes' flags
    remote_item* first_ = nullptr;
    remote_item* last_ = nullptr;
    std::size_t waiting_count_ = 0;
    std::size_t idle_count_ = 0;
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
    /// Stops and joins; a failure that nobody asked for with `join` is dropped.
    ~context_pool();

    [[nodiscard]] context_group& group() noexcept { return group_; }
    /// Gives `child` to the next thread that has time. Any thread.
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
