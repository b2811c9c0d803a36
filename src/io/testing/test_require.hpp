// Test support for coroutines: GoogleTest's ASSERT macros return, and a coroutine cannot.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

/// Like ASSERT_TRUE, inside a coroutine that returns nothing.
#define CORRO_REQUIRE(condition)                           \
    if (!(condition)) {                                    \
        ADD_FAILURE() << "this did not hold: " #condition; \
        co_return;                                         \
    }

namespace corro::io {

/// A bound for whole tests that no sound run comes near, however busy the machine is.
inline constexpr std::chrono::seconds test_patience{30};

}  // namespace corro::io
