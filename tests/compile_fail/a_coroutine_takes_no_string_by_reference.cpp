// SPDX-License-Identifier: Apache-2.0
// The same for the first parameter, where its type cannot be that of a member function's object.
#include <string>

#include "io/task/task.hpp"

using namespace corro::io;

#ifdef CORRO_CONTROL
task<std::size_t> count(std::string text) {
    co_return text.size();
}
#else
task<std::size_t> count(const std::string& text) {
    co_return text.size();
}
#endif
