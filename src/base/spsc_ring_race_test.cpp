// Two threads on one ring. Forbidden outcomes: an element lost, doubled, reordered or torn; under the thread sanitizer
// also any unsynchronised access.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
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

/// Two words that must stay together; a torn element shows.
struct item {
    std::uint64_t number;
    std::uint64_t complement;
};

/// Counts what violates the order instead of asserting on each of the millions.
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

TEST(spsc_ring_race, single_elements_arrive_once_and_in_order) {
    for (const std::size_t capacity : {std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
        const std::uint64_t count = capacity == 1 ? items_count / 100 : items_count / 2;
        spsc_ring<item> ring{capacity};
        std::jthread producer{[&ring, count] {
            for (std::uint64_t i = 0; i < count; ++i) {
                while (!ring.try_push({i, ~i})) std::this_thread::yield();
            }
        }};
        order_check check;
        while (check.seen() < count) {
            item value{};
            if (ring.try_pop(value)) {
                check.see(value);
            } else {
                std::this_thread::yield();
            }
        }
        producer.join();
        EXPECT_EQ(check.wrong(), 0U) << "capacity " << capacity;
        EXPECT_TRUE(ring.empty());
    }
}

TEST(spsc_ring_race, batches_of_random_size_arrive_once_and_in_order) {
    const std::uint64_t seed = test_seed();
    spsc_ring<item> ring{1024};
    std::jthread producer{[&ring, seed] {
        prng random{seed};
        std::vector<item> batch;
        for (std::uint64_t next = 0; next < items_count;) {
            batch.clear();
            const std::uint64_t size = 1 + random.below(300);
            for (std::uint64_t i = next; i < std::min(next + size, items_count); ++i) batch.push_back({i, ~i});
            std::span<const item> left{batch};
            while (!left.empty()) {
                const std::size_t pushed = ring.try_push(left);
                left = left.subspan(pushed);
                if (pushed == 0) std::this_thread::yield();
            }
            next += batch.size();
        }
    }};
    prng random{seed + 1};
    order_check check;
    while (check.seen() < items_count) {
        std::size_t consumed = 0;
        if (random.chance(1, 2)) {
            consumed = ring.consume([&check](const item& value) { check.see(value); }, 1 + random.below(500));
        } else {
            const std::span<const item> ready = ring.peek();
            for (const item& value : ready) check.see(value);
            ring.release(ready.size());
            consumed = ready.size();
        }
        if (consumed == 0) std::this_thread::yield();
    }
    producer.join();
    EXPECT_EQ(check.wrong(), 0U);
    EXPECT_EQ(check.seen(), items_count);
}

TEST(spsc_ring_race, a_third_thread_may_ask_for_the_size) {
    spsc_ring<item> ring{16};
    std::atomic<bool> done{false};
    std::uint64_t out_of_range = 0;
    std::jthread watcher{[&] {
        while (!done.load(std::memory_order_relaxed)) {
            out_of_range += ring.size() > ring.capacity() ? 1U : 0U;
            std::this_thread::yield();
        }
    }};
    std::jthread producer{[&ring] {
        for (std::uint64_t i = 0; i < items_count / 50; ++i) {
            while (!ring.try_push({i, ~i})) std::this_thread::yield();
        }
    }};
    order_check check;
    while (check.seen() < items_count / 50) {
        if (ring.consume([&check](const item& value) { check.see(value); }) == 0) std::this_thread::yield();
    }
    done.store(true, std::memory_order_relaxed);
    watcher.join();
    EXPECT_EQ(check.wrong(), 0U);
    EXPECT_EQ(out_of_range, 0U);
}

}  // namespace
}  // namespace corro::base
