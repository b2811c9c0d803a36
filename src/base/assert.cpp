// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace corro::base {

void assertion_failed(const char* expression, const char* file, int line, const char* message) noexcept {
    std::fprintf(stderr, "%s:%d: assertion failed: %s%s%s\n", file, line, expression, *message != '\0' ? ": " : "",
                 message);
    std::abort();
}

}  // namespace corro::base
