// SPDX-License-Identifier: Apache-2.0
// The shapes of the dispatch rows, shared by all subjects.
//
// Threads: as said.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lab/measurement.hpp"

namespace corro::lab {

inline constexpr int post_batch = 1000;
inline constexpr int interleaved_batch = 100;
inline constexpr int feeder_batch = 100'000;
inline constexpr int concurrent_batch = 10'000;

/// "runners_4_shared", "runners_4_per_thread"; with one thread there is no difference, and it is "runners_1".
[[nodiscard]] inline std::string threads_row(std::string_view name, int threads, bool shared) {
    if (threads == 1) return fmt::format("{}_1", name);
    return fmt::format("{}_{}_{}", name, threads, shared ? "shared" : "per_thread");
}

/// Hands over and runs batches on one thread. @param batch  Called with a count; hands over as many and runs them.
/// @param counter  What the work counts in.
template <class Batch>
measurement post_and_run(const run_parameters& how, int batch_count, const std::uint64_t& counter, Batch&& batch) {
    timed_run run(how.seconds);
    std::uint64_t handed_over = 0;
    for (std::uint64_t at = run.now(); at != 0; at = run.count(at, static_cast<std::uint64_t>(batch_count))) {
        batch(batch_count);
        handed_over += static_cast<std::uint64_t>(batch_count);
    }
    verify_equal(counter, handed_over, "pieces of work run of those handed over");
    return rate_of(run);
}

/// A counter of one thread, on a cache line of its own.
struct alignas(128) padded_counter {
    std::atomic<std::uint64_t> value{0};

    /// For counters that only one thread adds to.
    void add_alone(std::uint64_t more) noexcept {
        value.store(value.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
};

/// The rate of what several threads did until the last of them had run dry.
/// @param work  Called on each thread with its number and the run; returns how many pieces it handed over.
/// @param done  Called afterwards; how many pieces were run in all.
template <class Work, class Done>
measurement on_threads(const run_parameters& how, int threads_count, Work&& work, Done&& done) {
    const io::tick_clock& time = clock();
    const timed_run run(how.seconds);
    std::atomic<std::uint64_t> handed_over{0};
    const std::uint64_t begin = time.now_ticks();
    std::vector<std::thread> threads;
    for (int i = 0; i < threads_count; ++i) {
        threads.emplace_back([&, i] { handed_over.fetch_add(work(i, run)); });
    }
    for (std::thread& one : threads) one.join();
    const auto elapsed_ns = static_cast<double>(time.between_ns(begin, time.now_ticks()));
    const std::uint64_t done_count = done();
    verify_equal(done_count, handed_over.load(), "pieces of work run of those handed over");
    measurement made;
    made.values.push_back(static_cast<double>(done_count) * 1e9 / elapsed_ns);
    return made;
}

/// Feeds until the time is over. @param hand_over  Called with the number of a piece. @return How many there were.
template <class HandOver>
std::uint64_t feed(const timed_run& run, HandOver&& hand_over) {
    std::uint64_t number = 0;
    do {
        for (int i = 0; i < feeder_batch; ++i) hand_over(number++);
        std::this_thread::yield();
    } while (!run.over(run.now()));
    return number;
}

}  // namespace corro::lab
