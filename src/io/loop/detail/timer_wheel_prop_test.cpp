// SPDX-License-Identifier: Apache-2.0
#include "io/loop/detail/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace corro::io {
namespace {

using std::chrono::nanoseconds;

std::uint64_t seed() {
    const char* given = std::getenv("CORRO_SEED");
    const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::cout << "CORRO_SEED=" << value << '\n';
    return value;
}

struct probe : timer_node {
    probe() noexcept : timer_node(&on_time) {}
    static void on_time(timer_node& self) noexcept {
        auto& fired = static_cast<probe&>(self);
        fired.log->push_back(fired.id);
    }
    std::vector<int>* log = nullptr;
    int id = 0;
};

steady_time at(std::int64_t ns) {
    return steady_time(nanoseconds(ns));
}

/// Compares the wheel with a sorted map: the same timers fire, in the same order, at the same calls.
TEST(timer_wheel, fires_exactly_what_a_sorted_map_fires) {
    std::mt19937_64 random(seed());
    for (int round = 0; round < 30; ++round) {
        timer_wheel wheel;
        std::vector<int> fired;
        std::vector<std::unique_ptr<probe>> timers;
        for (int i = 0; i < 300; ++i) {
            timers.push_back(std::make_unique<probe>());
            timers.back()->log = &fired;
            timers.back()->id = i;
        }
        std::map<std::pair<std::int64_t, std::uint64_t>, int> model;
        std::map<int, std::pair<std::int64_t, std::uint64_t>> keys;
        struct newcomer {
            int id;
            std::int64_t due;
            bool relative;
            std::uint64_t order;
        };
        std::vector<newcomer> fresh;
        std::uint64_t order = 0;
        std::int64_t now = static_cast<std::int64_t>(random() % 1'000'000'000'000'000);
        for (int step = 0; step < 4000; ++step) {
            const int id = static_cast<int>(random() % timers.size());
            probe& timer = *timers[static_cast<std::size_t>(id)];
            switch (random() % 4) {
                case 0:
                case 1: {
                    if (timer.armed()) break;
                    const auto reach = static_cast<std::int64_t>(random() % (1ULL << (random() % 50)));
                    const bool relative = random() % 2 == 0;
                    if (relative) {
                        wheel.arm_after(timer, nanoseconds(reach));
                        fresh.push_back({id, reach, true, ++order});
                    } else {
                        const std::int64_t due = now + reach - 1000;
                        wheel.arm_at(timer, at(due));
                        fresh.push_back({id, due, false, ++order});
                    }
                    break;
                }
                case 2:
                    wheel.disarm(timer);
                    std::erase_if(fresh, [id](const newcomer& each) { return each.id == id; });
                    if (const auto key = keys.find(id); key != keys.end()) {
                        model.erase(key->second);
                        keys.erase(key);
                    }
                    break;
                default: {
                    now += static_cast<std::int64_t>(random() % (1ULL << (random() % 45)));
                    for (const newcomer& each : fresh) {
                        const std::pair key(each.relative ? now + each.due : each.due, each.order);
                        model.emplace(key, each.id);
                        keys.emplace(each.id, key);
                    }
                    fresh.clear();
                    fired.clear();
                    wheel.advance(at(now));
                    std::vector<int> expected;
                    while (!model.empty() && model.begin()->first.first <= now) {
                        expected.push_back(model.begin()->second);
                        keys.erase(model.begin()->second);
                        model.erase(model.begin());
                    }
                    ASSERT_EQ(fired, expected);
                    if (!model.empty()) {
                        ASSERT_LE(wheel.next_due(), at(model.begin()->first.first));
                        ASSERT_GT(wheel.next_due(), at(now - (std::int64_t{1} << 62)));
                    }
                }
            }
            ASSERT_EQ(wheel.size(), model.size() + fresh.size());
        }
        for (auto& timer : timers) wheel.disarm(*timer);
        ASSERT_TRUE(wheel.empty());
    }
}

TEST(timer_wheel, next_due_is_exact_while_nothing_is_disarmed) {
    timer_wheel wheel;
    std::vector<int> fired;
    probe near;
    probe far;
    near.log = far.log = &fired;
    near.id = 1;
    far.id = 2;
    wheel.advance(at(5'000'000));
    wheel.arm_at(far, at(7'000'000'000'123));
    wheel.arm_at(near, at(5'000'777));
    EXPECT_TRUE(wheel.has_newcomers());
    wheel.advance(at(5'000'000));
    EXPECT_EQ(wheel.next_due(), at(5'000'777));
    wheel.advance(at(5'000'776));
    EXPECT_TRUE(fired.empty()) << "not a nanosecond early";
    wheel.advance(at(5'000'777));
    EXPECT_EQ(fired, std::vector<int>{1});
    EXPECT_EQ(wheel.next_due(), at(7'000'000'000'123));
    wheel.advance(at(7'000'000'000'123));
    EXPECT_EQ(fired, (std::vector<int>{1, 2}));
}

TEST(timer_wheel, durations_beyond_reason_are_clamped_and_never_fire_early) {
    timer_wheel wheel;
    std::vector<int> fired;
    probe timer;
    timer.log = &fired;
    wheel.advance(at(1'000));
    wheel.arm_after(timer, nanoseconds::max());
    wheel.advance(at(2'000));
    wheel.advance(at(std::int64_t{1} << 61));
    EXPECT_TRUE(fired.empty());
    wheel.disarm(timer);
    wheel.arm_at(timer, steady_time::max());
    wheel.advance(at((std::int64_t{1} << 61) + 5));
    EXPECT_TRUE(fired.empty());
    wheel.disarm(timer);
    wheel.arm_at(timer, steady_time::min());
    wheel.advance(at((std::int64_t{1} << 61) + 5));
    EXPECT_EQ(fired.size(), 1U) << "a time in the past is due at once";
}

}  // namespace
}  // namespace corro::io
