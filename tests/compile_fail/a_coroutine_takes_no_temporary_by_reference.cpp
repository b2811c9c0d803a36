// SPDX-License-Identifier: Apache-2.0
// A T&& refers to a temporary, or to an object that the caller is about to give up.
#include <string>

#include "io/task/task.hpp"

using namespace corro::io;

#ifdef CORRO_CONTROL
task<std::size_t> count(int times, std::string text) {
    co_return static_cast<std::size_t>(times) * text.size();
}
#else
task<std::size_t> count(int times, std::string&& text) {
    co_return static_cast<std::size_t>(times) * text.size();
}
#endif
