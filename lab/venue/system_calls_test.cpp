// SPDX-License-Identifier: Apache-2.0
#include "lab/venue/system_calls.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace corro::lab {
namespace {

TEST(system_call_counter, counts_the_calls_between_begin_and_end) {
    system_call_counter counter(getpid());
    if (!counter.works()) GTEST_SKIP() << "the kernel's tracing is not open to this user";
    static_cast<void>(getppid());
    counter.begin();
    for (int i = 0; i < 1'000; ++i) static_cast<void>(getppid());
    const std::uint64_t counted = counter.end();
    EXPECT_GE(counted, 1'000U);
    EXPECT_LT(counted, 1'100U) << "only those of this process";
}

TEST(system_call_counter, does_not_work_for_a_process_that_is_not_there) {
    EXPECT_FALSE(system_call_counter(-1).works());
}

}  // namespace
}  // namespace corro::lab
