// SPDX-License-Identifier: Apache-2.0
#include "terminal_kind.hpp"

// clang-format off
#include <curses.h>
#include <term.h>
// clang-format on

#include <unistd.h>

#include <cstdlib>

namespace corro::app {

std::string problem_of_terminal() {
    const char* const name = std::getenv("TERM");
    if (name == nullptr || *name == '\0') return "the environment variable TERM is not set";
    const std::string text = name;
    if (text == "dumb") return "the terminal is \"dumb\"";
    int found = 0;
    if (setupterm(name, STDOUT_FILENO, &found) != OK) {
        return "this machine does not know the terminal \"" + text + "\" (TERM)";
    }
    const bool can_move = cursor_address != nullptr;
    del_curterm(cur_term);
    return can_move ? std::string() : "the terminal \"" + text + "\" cannot move its cursor";
}

}  // namespace corro::app
