// SPDX-License-Identifier: Apache-2.0
// Errors of the simulated system: those that Linux would report.
#pragma once

#include <system_error>

namespace corro::sim {

/// @param number  An errno, such as ENETDOWN.
[[nodiscard]] inline std::error_code system_code(int number) noexcept {
    return {number, std::generic_category()};
}

}  // namespace corro::sim
