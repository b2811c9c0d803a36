// SPDX-License-Identifier: Apache-2.0
// Suite `dispatch`, by Asio with callbacks and with coroutines, on one context shared by all threads and on one each.

#include <deque>

#include "lab/suites/asio.hpp"
#include "lab/suites/dispatch_shapes.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

/// Blocks of one size that each thread keeps for its next handlers. Asio's own recycling keeps two, which is enough for
/// handlers posted from handlers; bursts from outside need a pool.
class handler_blocks {
 public:
    static constexpr std::size_t block_bytes = 128;
    static constexpr std::size_t kept_max = 2 * concurrent_batch;

    handler_blocks() { idle_.reserve(kept_max); }
    handler_blocks(const handler_blocks&) = delete;
    handler_blocks& operator=(const handler_blocks&) = delete;
    ~handler_blocks() {
        for (void* const one : idle_) ::operator delete(one);
    }

    [[nodiscard]] void* take() {
        if (idle_.empty()) return ::operator new(block_bytes);
        void* const block = idle_.back();
        idle_.pop_back();
        return block;
    }
    void give_back(void* block) noexcept {
        if (idle_.size() == kept_max) {
            ::operator delete(block);
        } else {
            idle_.push_back(block);
        }
    }

 private:
    std::vector<void*> idle_;
};

handler_blocks& blocks_of_this_thread() {
    thread_local handler_blocks blocks;
    return blocks;
}

template <class T>
class pooled {
 public:
    using value_type = T;

    pooled() noexcept = default;
    template <class U>
    explicit(false) pooled(const pooled<U>&) noexcept {}

    T* allocate(std::size_t count) {
        verify(count * sizeof(T) <= handler_blocks::block_bytes, "a handler is larger than was thought");
        return static_cast<T*>(blocks_of_this_thread().take());
    }
    void deallocate(T* block, std::size_t) noexcept { blocks_of_this_thread().give_back(block); }
    friend bool operator==(const pooled&, const pooled&) noexcept { return true; }
};

/// Posts a function.
struct callbacks {
    static constexpr const char* style = "callbacks";
    static void increment(net::io_context& on, std::uint64_t& counter) {
        net::post(on, net::bind_allocator(pooled<std::byte>(), [&counter] { ++counter; }));
    }
    static void increment_atomic(net::io_context& on, padded_counter& counter) {
        net::post(on, [&counter] { counter.value.fetch_add(1, std::memory_order_relaxed); });
    }
    static void increment_own(net::io_context& on, padded_counter& counter) {
        net::post(on, [&counter] { counter.add_alone(1); });
    }
};

awaitable<> add_one(std::uint64_t& counter) {
    ++counter;
    co_return;
}
awaitable<> add_one_atomically(padded_counter& counter) {
    counter.value.fetch_add(1, std::memory_order_relaxed);
    co_return;
}
awaitable<> add_one_alone(padded_counter& counter) {
    counter.add_alone(1);
    co_return;
}

/// Spawns a coroutine.
struct coroutines {
    static constexpr const char* style = "coroutines";
    static void increment(net::io_context& on, std::uint64_t& counter) {
        net::co_spawn(on.get_executor(), add_one(counter), net::detached);
    }
    static void increment_atomic(net::io_context& on, padded_counter& counter) {
        net::co_spawn(on.get_executor(), add_one_atomically(counter), net::detached);
    }
    static void increment_own(net::io_context& on, padded_counter& counter) {
        net::co_spawn(on.get_executor(), add_one_alone(counter), net::detached);
    }
};

template <class Style>
measurement post(const run_parameters& how, int batch) {
    net::io_context on(alone);
    std::uint64_t counter = 0;
    return post_and_run(how, batch, counter, [&](int count) {
        for (int i = 0; i < count; ++i) Style::increment(on, counter);
        on.poll();
        on.restart();
    });
}

using guard = net::executor_work_guard<executor>;

template <class Style>
measurement runners_shared(const run_parameters& how, int runners_count) {
    net::io_context on(runners_count);
    padded_counter counter;
    guard held(on.get_executor());
    const auto work = [&](int thread, const timed_run& run) -> std::uint64_t {
        if (thread != runners_count) {
            on.run();
            return 0;
        }
        const std::uint64_t fed = feed(run, [&](std::uint64_t) { Style::increment_atomic(on, counter); });
        held.reset();
        return fed;
    };
    return on_threads(how, runners_count + 1, work, [&] { return counter.value.load(); });
}

struct own_context {
    explicit own_context(int hint) : on(hint), held(on.get_executor()) {}
    net::io_context on;
    padded_counter counter;
    guard held;
};

std::uint64_t total(const std::deque<own_context>& all) {
    std::uint64_t sum = 0;
    for (const own_context& one : all) sum += one.counter.value.load();
    return sum;
}

template <class Style>
measurement runners_per_thread(const run_parameters& how, int runners_count) {
    std::deque<own_context> all;
    for (int i = 0; i < runners_count; ++i) all.emplace_back(one_runner);
    const auto work = [&](int thread, const timed_run& run) -> std::uint64_t {
        if (thread != runners_count) {
            all[static_cast<std::size_t>(thread)].on.run();
            return 0;
        }
        const std::uint64_t fed = feed(run, [&](std::uint64_t number) {
            own_context& to = all[number % all.size()];
            Style::increment_own(to.on, to.counter);
        });
        for (own_context& one : all) one.held.reset();
        return fed;
    };
    return on_threads(how, runners_count + 1, work, [&] { return total(all); });
}

template <class Style>
measurement concurrent_shared(const run_parameters& how, int threads_count) {
    net::io_context on(threads_count);
    padded_counter counter;
    // With a guard the context never stops, so no thread must restart it while others run it.
    guard held(on.get_executor());
    const auto work = [&](int, const timed_run& run) {
        std::uint64_t handed_over = 0;
        while (!run.over(run.now())) {
            for (int i = 0; i < concurrent_batch; ++i) Style::increment_atomic(on, counter);
            handed_over += concurrent_batch;
            on.poll();
        }
        return handed_over;
    };
    return on_threads(how, threads_count, work, [&] {
        // What the last to poll found in another thread's hands.
        held.reset();
        on.run();
        return counter.value.load();
    });
}

template <class Style>
measurement concurrent_per_thread(const run_parameters& how, int threads_count) {
    std::deque<own_context> all;
    for (int i = 0; i < threads_count; ++i) {
        // Without its guard a context stops when it has run dry, at once in this case.
        own_context& one = all.emplace_back(alone);
        one.held.reset();
        one.on.restart();
    }
    const auto work = [&](int thread, const timed_run& run) {
        own_context& mine = all[static_cast<std::size_t>(thread)];
        std::uint64_t handed_over = 0;
        while (!run.over(run.now())) {
            for (int i = 0; i < concurrent_batch; ++i) Style::increment_own(mine.on, mine.counter);
            handed_over += concurrent_batch;
            mine.on.poll();
            mine.on.restart();
        }
        return handed_over;
    };
    return on_threads(how, threads_count, work, [&] { return total(all); });
}

template <class Style>
void implement(registry& into, std::span<const int> threads) {
    const std::string by = subject(Style::style);
    into.implement("dispatch", "post_single_thread", by,
                   [](const run_parameters& how) { return post<Style>(how, post_batch); });
    into.implement("dispatch", "post_run_interleaved", by,
                   [](const run_parameters& how) { return post<Style>(how, interleaved_batch); });
    for (const int n : threads) {
        into.implement("dispatch", threads_row("runners", n, false), by,
                       [n](const run_parameters& how) { return runners_per_thread<Style>(how, n); });
        into.implement("dispatch", threads_row("concurrent", n, false), by,
                       [n](const run_parameters& how) { return concurrent_per_thread<Style>(how, n); });
        if (n == 1) continue;
        into.implement("dispatch", threads_row("runners", n, true), by,
                       [n](const run_parameters& how) { return runners_shared<Style>(how, n); });
        into.implement("dispatch", threads_row("concurrent", n, true), by,
                       [n](const run_parameters& how) { return concurrent_shared<Style>(how, n); });
    }
}

}  // namespace

void implement_dispatch(registry& into, std::span<const int> threads) {
    implement<callbacks>(into, threads);
    implement<coroutines>(into, threads);
}

}  // namespace corro::lab::CORRO_LAB_ASIO
