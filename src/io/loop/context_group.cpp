// SPDX-License-Identifier: Apache-2.0
#include "io/loop/context_group.hpp"

#include <algorithm>
#include <coroutine>
#include <mutex>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/resume_on.hpp"
#include "io/task/scope.hpp"

namespace corro::io {
namespace {

/// The largest number of tasks that a runner takes from a queue at once.
constexpr std::size_t share_max = 64;
/// The number of times a runner without work searches before it sleeps: about ten microseconds.
constexpr int searches_max = 40;

using void_promise = detail::task_promise<void>;

task<void> task_of(remote_item& queued) noexcept {
    auto& promise = static_cast<void_promise&>(static_cast<detail::promise_base&>(queued));
    return task<void>(task<void>::handle::from_promise(promise));
}

/// The group and queue that a thread used last. Only a hint: the group may be destroyed, and another may have its
/// address.
struct home {
    const context_group* group = nullptr;
    std::size_t index = 0;
};
constinit thread_local home last_home{};

}  // namespace

/// One context, its tasks and the queue of new tasks. It is also the completion hook of its tasks.
struct context_group::lane : detail::completion_hook {
    lane(context_group* of, context_options options)
        : completion_hook(&on_finished), group(of), own(options), look(own) {
        io::spawn(own, keep(owner(this)));
    }
    ~lane() {
        while (first != nullptr) {
            remote_item& queued = *std::exchange(first, first->next_remote);
            const task<void> never_started(task_of(queued));
        }
    }

    /// Destroys the tasks when the frame that holds it is destroyed.
    class owner {
     public:
        explicit owner(lane* of) noexcept : of_(of) {}
        owner(owner&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        owner& operator=(owner&&) = delete;
        ~owner() {
            if (of_ == nullptr) return;
            while (of_->running != nullptr) {
                auto& promise = static_cast<void_promise&>(*of_->running);
                of_->unlink(promise);
                const task<void> unfinished(task<void>::handle::from_promise(promise));
            }
        }

     private:
        lane* of_;
    };
    /// Never ends, so that the context's teardown also destroys the tasks.
    static task<void> keep(owner) {
        const std::suspend_always parked;
        co_await parked;
    }

    void push(task<void> child) noexcept {
        remote_item& queued = child.release().promise();
        queued.next_remote = nullptr;
        const std::scoped_lock lock(guard);
        (first == nullptr ? first : last->next_remote) = &queued;
        last = &queued;
        spawned_count.store(spawned_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        waiting_count.store(waiting_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }

    /// Takes a share of the waiting tasks and leaves an equal share for each other runner. @return null if no task
    /// waits.
    remote_item* pop_share(std::size_t runners) noexcept {
        if (waiting_count.load(std::memory_order_relaxed) == 0) return nullptr;
        const std::scoped_lock lock(guard);
        const std::size_t waiting = waiting_count.load(std::memory_order_relaxed);
        const std::size_t count = std::min((waiting + runners - 1) / runners, share_max);
        if (count == 0) return nullptr;
        remote_item* const share = first;
        remote_item* last_taken = first;
        for (std::size_t i = 1; i < count; ++i) last_taken = last_taken->next_remote;
        first = std::exchange(last_taken->next_remote, nullptr);
        waiting_count.store(waiting - count, std::memory_order_relaxed);
        return share;
    }

    void start(task<void> child) noexcept {
        void_promise& promise = child.promise();
        promise.started_by(*this, environment(&own, own.roots().token()));
        promise.waiter = child.release();
        promise.previous_sibling = nullptr;
        promise.next_sibling = running;
        if (running != nullptr) running->previous_sibling = &promise;
        running = &promise;
        own.ready(promise);
    }
    void unlink(detail::promise_base& promise) noexcept {
        (promise.previous_sibling == nullptr ? running : promise.previous_sibling->next_sibling) = promise.next_sibling;
        if (promise.next_sibling != nullptr) promise.next_sibling->previous_sibling = promise.previous_sibling;
    }
    static std::coroutine_handle<> on_finished(completion_hook& self, detail::promise_base& ended) noexcept {
        auto& mine = static_cast<lane&>(self);
        auto& promise = static_cast<void_promise&>(ended);
        mine.unlink(promise);
        ++mine.finished_count;
        if (promise.failed()) [[unlikely]]
            mine.group->fail(promise.failure());
        task<void>::handle::from_promise(promise).destroy();
        // `feed` publishes the count itself, unless it sleeps.
        if (mine.running == nullptr && mine.feeder_sleeps) mine.publish();
        return std::noop_coroutine();
    }
    /// Publishes the number of ended tasks. Wakes all runners if these were the last ones.
    void publish() noexcept {
        if (ended_count.load(std::memory_order_relaxed) != finished_count) ended_count.store(finished_count);
        if (group->all_ended()) group->wake_everybody();
    }

    context_group* group;
    bool idle = false;   // guarded by the group
    bool taken = false;  // guarded by the group

    // These belong to the thread that runs the lane. The context is destroyed before the members that its frames refer
    // to.
    bool feeder_sleeps = false;
    std::uint64_t finished_count = 0;
    detail::promise_base* running = nullptr;
    context own;
    remote_event look;  // set when there is work, or when there will be no more work
    std::atomic<std::uint64_t> ended_count{0};

    alignas(64) detail::spin_lock guard;  // guards the members below; the counts are read without it
    remote_item* first = nullptr;
    remote_item* last = nullptr;
    std::atomic<std::size_t> waiting_count{0};
    std::atomic<std::uint64_t> spawned_count{0};
};

context_group::context_group(std::size_t contexts_count, context_options options) {
    CORRO_ASSERT(contexts_count != 0, "a group must have at least one context");
    for (std::size_t i = 0; i < contexts_count; ++i) lanes_.push_back(std::make_unique<lane>(this, options));
}

context_group::~context_group() {
    CORRO_ASSERT(runners_count_ == 0, "a running group must not be destroyed");
}

std::size_t context_group::size() const noexcept {
    return lanes_.size();
}

context& context_group::at(std::size_t index) noexcept {
    return lanes_[index]->own;
}

task<void> context_group::counted(context_group* group, task<void> child) {
    std::exception_ptr failure;
    try {
        co_await std::move(child);
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure) group->fail(failure);
    group->release();
}

void context_group::fail(std::exception_ptr failure) noexcept {
    {
        const std::scoped_lock lock(guard_);
        if (!failure_) failure_ = std::move(failure);
    }
    stop();
}

void context_group::release() noexcept {
    holds_ended_count_.fetch_add(1);
    if (all_ended()) wake_everybody();
}

/// Sums the ended tasks before the begun tasks. Both only grow, and the first never exceeds the second. So if the sums
/// are equal, there was a moment between the two at which no task was running.
bool context_group::all_ended() const noexcept {
    std::uint64_t ended_count = holds_ended_count_.load();
    for (const auto& each : lanes_) ended_count += each->ended_count.load();
    std::uint64_t begun_count = holds_begun_count_.load();
    for (const auto& each : lanes_) begun_count += each->spawned_count.load();
    return ended_count == begun_count;
}

void context_group::stop() noexcept {
    stopped_.store(true, std::memory_order_release);
    wake_everybody();
}

void context_group::wake_everybody() noexcept {
    for (auto& each : lanes_) each->look.set();
}

context_group::lane& context_group::loop_of_this_thread() noexcept {
    if (last_home.group != this || last_home.index >= lanes_.size()) [[unlikely]] {
        last_home.group = this;
        last_home.index = homes_count_.fetch_add(1, std::memory_order_relaxed) % lanes_.size();
    }
    return *lanes_[last_home.index];
}

void context_group::spawn(task<void> child) noexcept {
    CORRO_ASSERT(child.valid(), "an empty task cannot be spawned");
    loop_of_this_thread().push(std::move(child));
    // Either this thread sees a runner that became idle, or that runner sees the task (`lie_down`).
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (idle_count_.load(std::memory_order_relaxed) != 0 && searching_count_.load(std::memory_order_relaxed) == 0) {
        wake_one();
    }
}

void context_group::spawn_at(std::size_t index, task<void> child) noexcept {
    hold();
    remote_spawn(lanes_[index]->own, counted(this, std::move(child)));
}

/// Changes an idle runner to searching, and wakes it.
void context_group::wake_one() noexcept {
    lane* sleeper = nullptr;
    {
        const std::scoped_lock lock(guard_);
        if (searching_count_.load() != 0) return;
        for (auto& each : lanes_) {
            if (!each->idle) continue;
            sleeper = each.get();
            sleeper->idle = false;
            idle_count_.fetch_sub(1);
            searching_count_.fetch_add(1);
            break;
        }
    }
    if (sleeper != nullptr) sleeper->look.set();
}

bool context_group::anything_waits() const noexcept {
    return std::any_of(lanes_.begin(), lanes_.end(),
                       [](const auto& each) { return each->waiting_count.load(std::memory_order_relaxed) != 0; });
}

/// Starts a share of the first queue with waiting tasks. Looks at its own queue first.
bool context_group::take_something(lane& mine) noexcept {
    remote_item* taken = mine.pop_share(lanes_.size());
    for (std::size_t i = 0; taken == nullptr && i != lanes_.size(); ++i) taken = lanes_[i]->pop_share(lanes_.size());
    if (taken == nullptr) return false;
    while (taken != nullptr) {
        remote_item& next = *std::exchange(taken, taken->next_remote);
        mine.start(task_of(next));
    }
    return true;
}

/// Searches the queues for a while. @return Whether a task was started.
bool context_group::search(lane& mine) noexcept {
    for (int i = 0; i != searches_max && !stopped_.load(std::memory_order_relaxed); ++i) {
        if (anything_waits() && take_something(mine)) return true;
        std::this_thread::yield();
    }
    return false;
}

/// Changes from searching to idle. A later spawn sees the idle runner; an earlier spawn is seen here.
void context_group::lie_down(lane& mine) noexcept {
    {
        const std::scoped_lock lock(guard_);
        mine.idle = true;
        idle_count_.fetch_add(1);
        searching_count_.fetch_sub(1);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (anything_waits()) wake_one();
}

/// Supplies one context with tasks until all tasks have ended.
task<void> context_group::feed(context_group* group, lane* mine) {
    bool searching = false;
    while (!group->stopped_.load(std::memory_order_acquire)) {
        bool found = group->take_something(*mine);
        if (!found) {
            mine->publish();
            if (group->all_ended()) break;
            if (!std::exchange(searching, true)) group->searching_count_.fetch_add(1);
            // Only a runner without tasks searches: the tasks of other runners would wait for their sockets meanwhile.
            found = mine->running == nullptr && group->search(*mine);
        }
        if (found) {
            // The last searching runner wakes another one if more tasks wait.
            if (std::exchange(searching, false) && group->searching_count_.fetch_sub(1) == 1 &&
                group->anything_waits()) {
                group->wake_one();
            }
            // Yields, so that the tasks just taken run before the next share is taken.
            co_await yield();
            continue;
        }
        group->lie_down(*mine);
        mine->feeder_sleeps = true;
        co_await mine->look.wait();
        mine->feeder_sleeps = false;
        const std::scoped_lock lock(group->guard_);
        // `wake_one` has counted this runner as searching; a signal to all runners has not.
        if (std::exchange(mine->idle, false)) {
            group->idle_count_.fetch_sub(1);
            group->searching_count_.fetch_add(1);
        }
        searching = true;
    }
    if (searching) group->searching_count_.fetch_sub(1);
}

/// Runs the tasks that can continue at once.
task<void> context_group::drain(context_group* group, lane* mine) {
    for (bool more = true; more && !group->stopped_.load(std::memory_order_acquire);) {
        more = group->take_something(*mine);
        co_await yield();
    }
    mine->publish();
}

/// Returns a free lane with unfinished tasks, else this thread's home, else any. It becomes the thread's home.
context_group::lane& context_group::enter_lane() {
    lane* mine = &loop_of_this_thread();
    const std::scoped_lock lock(guard_);
    const auto merit = [mine](const lane& one) {
        if (one.taken) return 0;
        return one.running != nullptr ? 3 : &one == mine ? 2 : 1;
    };
    const auto best = std::max_element(lanes_.begin(), lanes_.end(),
                                       [&](const auto& a, const auto& b) { return merit(*a) < merit(*b); });
    mine = best->get();
    CORRO_ASSERT(!mine->taken, "a group must not be run by more threads than it has contexts");
    last_home.index = static_cast<std::size_t>(best - lanes_.begin());
    mine->taken = true;
    ++runners_count_;
    return *mine;
}

void context_group::run() {
    lane& mine = enter_lane();
    block_on(mine.own, feed(this, &mine));
    leave_lane(mine);
}

void context_group::poll() {
    lane& mine = enter_lane();
    block_on(mine.own, drain(this, &mine));
    leave_lane(mine);
}

void context_group::leave_lane(lane& mine) {
    std::exception_ptr failure;
    {
        const std::scoped_lock lock(guard_);
        mine.taken = false;
        --runners_count_;
        failure = std::exchange(failure_, nullptr);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace corro::io
