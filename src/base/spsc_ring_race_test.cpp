// SPDX-License-Identifier: Apache-2.0
// Two threads use one ring. An element must not be lost, doubled, reordered or torn. The thread sanitizer also finds
// unsynchronised accesses.
//
// Pushes millions of elements on an idle machine. On a busy machine each hand-over costs a time slice, so the producer
// also stops after a while. All elements pushed until then must arrive.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "base/spsc_ring.hpp"
#include "base/test_seed.hpp"

namespace corro::base {
namespace {

#ifdef CORRO_SANITIZED
constexpr std::uint64_t items_count = 2'000'000;
#else
constexpr std::uint64_t items_count = 10'000'000;
#endif

/// Two words that must stay together, so that the test sees a torn element.
struct item {
    std::uint64_t number;
    std::uint64_t complement;
};

/// Counts violations of the order, instead of an assertion for each of millions of elements.
class order_check {
 public:
    void see(const item& value) {
        wrong_ += value.number != expected_ || value.complement != ~value.number ? 1 : 0;
        ++expected_;
    }
    [[nodiscard]] std::uint64_t seen() const { return expected_; }
    [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
    std::uint64_t expected_ = 0;
    std::uint64_t wrong_ = 0;
};

constexpr std::chrono::seconds producing_max{4};

/// Waits for the other side. It answers at once if it runs on another core, and otherwise needs this core.
class patience {
 public:
    void wait() {
        if (++misses_ % 256 == 0) std::this_thread::yield();
    }

 private:
    unsigned misses_ = 0;
};

/// The producer's side of a race. Gives the consumer the number of elements as soon as it is known.
class production {
 public:
    [[nodiscard]] bool time_is_up() const { return std::chrono::steady_clock::now() > end_; }
    void finish(std::uint64_t pushed) { total_.store(pushed, std::memory_order_release); }
    [[nodiscard]] bool all_seen(const order_check& check) const {
        return check.seen() == total_.load(std::memory_order_acquire);
    }

 private:
    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + producing_max;
    std::atomic<std::uint64_t> total_{~std::uint64_t{0}};
};

/// Pushes up to `count` elements, one at a time.
void produce(spsc_ring<item>& ring, production& run, std::uint64_t count) {
    patience idle;
    std::uint64_t pushed = 0;
    while (pushed < count && !(pushed % 64 == 0 && run.time_is_up())) {
        if (ring.try_push({pushed, ~pushed})) {
            ++pushed;
        } else {
            idle.wait();
        }
    }
    run.finish(pushed);
}

TEST(spsc_ring_race, single_elements_arrive_once_and_in_order) {
    for (const std::size_t capacity : {std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
        spsc_ring<item> ring{capacity};
        production run;
        std::jthread producer{[&] { produce(ring, run, capacity == 1 ? items_count / 20 : items_count / 2); }};
        order_check check;
        patience idle;
        while (!run.all_seen(check)) {
            item value{};
            if (ring.try_pop(value)) {
                check.see(value);
            } else {
                idle.wait();
            }
        }
        producer.join();
        EXPECT_EQ(check.wrong(), 0U) << "capacity " << capacity;
        EXPECT_GT(check.seen(), 0U);
        EXPECT_TRUE(ring.empty());
        std::printf("capacity %zu: %llu elements\n", capacity, static_cast<unsigned long long>(check.seen()));
    }
}

/// Pushes up to `items_count` elements in batches of random size.
void produce_batches(spsc_ring<item>& ring, production& run, std::uint64_t seed) {
    prng random{seed};
    patience idle;
    std::vector<item> batch;
    std::uint64_t next = 0;
    while (next < items_count && !run.time_is_up()) {
        batch.clear();
        const std::uint64_t end = std::min(next + 1 + random.below(300), items_count);
        for (; next < end; ++next) batch.push_back({next, ~next});
        std::span<const item> left{batch};
        while (!left.empty()) {
            const std::size_t pushed = ring.try_push(left);
            left = left.subspan(pushed);
            if (pushed == 0) idle.wait();
        }
    }
    run.finish(next);
}

TEST(spsc_ring_race, batches_of_random_size_arrive_once_and_in_order) {
    const std::uint64_t seed = test_seed();
    spsc_ring<item> ring{1024};
    production run;
    std::jthread producer{[&] { produce_batches(ring, run, seed); }};
    prng random{seed + 1};
    patience idle;
    order_check check;
    while (!run.all_seen(check)) {
        std::size_t consumed = 0;
        if (random.chance(1, 2)) {
            consumed = ring.consume([&check](const item& value) { check.see(value); }, 1 + random.below(500));
        } else {
            const std::span<const item> ready = ring.peek();
            for (const item& value : ready) check.see(value);
            ring.release(ready.size());
            consumed = ready.size();
        }
        if (consumed == 0) idle.wait();
    }
    producer.join();
    EXPECT_EQ(check.wrong(), 0U);
    EXPECT_GT(check.seen(), 0U);
    EXPECT_TRUE(ring.empty());
}

TEST(spsc_ring_race, a_third_thread_may_ask_for_the_size) {
    spsc_ring<item> ring{16};
    production run;
    std::atomic<bool> done{false};
    std::uint64_t out_of_range = 0;
    std::jthread watcher{[&] {
        while (!done.load(std::memory_order_relaxed)) {
            out_of_range += ring.size() > ring.capacity() ? 1U : 0U;
            std::this_thread::yield();
        }
    }};
    std::jthread producer{[&] { produce(ring, run, items_count / 50); }};
    order_check check;
    patience idle;
    while (!run.all_seen(check)) {
        if (ring.consume([&check](const item& value) { check.see(value); }) == 0) idle.wait();
    }
    done.store(true, std::memory_order_relaxed);
    watcher.join();
    producer.join();
    EXPECT_EQ(check.wrong(), 0U);
    EXPECT_GT(check.seen(), 0U);
    EXPECT_EQ(out_of_range, 0U);
}

}  // namespace
}  // namespace corro::base
