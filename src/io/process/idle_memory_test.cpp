// SPDX-License-Identifier: Apache-2.0
#include "io/process/idle_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/test_memory.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"

namespace corro::io {
namespace {

// Blocks that stay lie between released ones, as those of sessions lie between those of a crowd.
TEST(idle_memory, N6_what_lies_among_memory_in_use_is_given_back) {
#if defined(CORRO_SANITIZED)
    GTEST_SKIP() << "sanitizers have an allocator of their own";
#endif
    constexpr std::size_t pieces_count = 8'192;
    constexpr std::size_t piece_bytes = 8'192;
    std::vector<std::unique_ptr<std::byte[]>> crowd;
    std::vector<std::unique_ptr<std::byte[]>> sessions;
    crowd.reserve(pieces_count);
    sessions.reserve(pieces_count / 64 + 1);
    for (std::size_t i = 0; i < pieces_count; ++i) {
        crowd.push_back(std::make_unique<std::byte[]>(piece_bytes));
        if (i % 64 == 0) sessions.push_back(std::make_unique<std::byte[]>(64));
    }
    const std::size_t full = base::resident_bytes();
    crowd.clear();
    context here;
    block_on(here, give_idle_memory_back());
    EXPECT_LT(base::resident_bytes() + pieces_count * piece_bytes * 3 / 4, full);
}

}  // namespace
}  // namespace corro::io
