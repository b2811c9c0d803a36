// SPDX-License-Identifier: Apache-2.0
// Test support for coroutines: GoogleTest's ASSERT macros return, and a coroutine cannot.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

/// Like ASSERT_TRUE, inside a coroutine that returns nothing.
#define CORRO_REQUIRE(condition)               \
    if (!(condition)) {                        \
        ADD_FAILURE() << "false: " #condition; \
        co_return;                             \
    }

namespace corro::io {

/// A time limit for whole tests, far above any run without an error, even on a busy machine.
inline constexpr std::chrono::seconds test_patience{30};

}  // namespace corro::io
