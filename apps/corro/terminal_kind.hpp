// SPDX-License-Identifier: Apache-2.0
// What the terminal's description on this machine says. By itself, because <term.h> defines macros such as `columns`.
#pragma once

#include <string>

namespace corro::app {

/// Why the terminal cannot show a picture; empty if it can.
[[nodiscard]] std::string problem_of_terminal();

}  // namespace corro::app
