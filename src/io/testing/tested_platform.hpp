// SPDX-License-Identifier: Apache-2.0
// Test support: the platform on which a program runs its tests. A world in memory, with virtual time, if the program
// links one (src/sim/test_offer.cpp); the machine otherwise.
#pragma once

#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {

[[nodiscard]] inline platform& tested_platform() {
    return only_tested_platform != nullptr ? *only_tested_platform : default_platform();
}
[[nodiscard]] inline bool time_is_virtual() {
    return only_tested_platform != nullptr;
}
[[nodiscard]] inline context_options on_tested_platform() {
    return context_options(tested_platform());
}

}  // namespace corro::io
