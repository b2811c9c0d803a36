// SPDX-License-Identifier: Apache-2.0
// A separate program, because it replaces the global allocation functions.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "facility/command_generator.hpp"
#include "facility/facility.hpp"

namespace {
std::uint64_t allocations_count = 0;
}  // namespace

void* operator new(std::size_t size) {
    ++allocations_count;
    if (void* memory = std::malloc(size)) return memory;
    std::abort();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    ++allocations_count;
    const auto align = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(align, (size + align - 1) / align * align)) return memory;
    std::abort();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace corro::facility {
namespace {

struct counter final : event_consumer {
    testing::command_generator* generator = nullptr;
    std::uint64_t events_count = 0;
    void consume(std::span<const domain::event> batch) noexcept override {
        events_count += batch.size();
        generator->learn(batch);
    }
};

TEST(facility_allocation, makes_no_allocation_in_a_million_commands) {
    std::uint64_t total = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        testing::command_generator generator(seed);
        counter seen;
        seen.generator = &generator;
        facility venue(generator.profile().options, generator.profile().instruments, seen);
        const std::uint64_t before = allocations_count;
        for (int i = 0; i < 50'000; ++i) venue.apply(generator.next());
        EXPECT_EQ(allocations_count - before, 0U) << "seed " << seed;
        total += seen.events_count;
    }
    EXPECT_GT(total, 1'000'000U);
    const std::uint64_t before = allocations_count;
    ::operator delete(::operator new(1));
    EXPECT_EQ(allocations_count - before, 1U) << "the counter counts";
}

}  // namespace
}  // namespace corro::facility
