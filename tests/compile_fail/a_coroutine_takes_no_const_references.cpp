// SPDX-License-Identifier: Apache-2.0
// A const T& may refer to a temporary that is destroyed before the coroutine runs.
#include <string>
#include <vector>

#include "io/task/task.hpp"

using namespace corro::io;

#ifdef CORRO_CONTROL
task<std::size_t> count(int times, std::vector<int> numbers) {
    co_return static_cast<std::size_t>(times) * numbers.size();
}
#else
task<std::size_t> count(int times, const std::vector<int>& numbers) {
    co_return static_cast<std::size_t>(times) * numbers.size();
}
#endif

// The object of a member function is a reference to const too. It is allowed, because it looks like a first parameter.
struct counter {
    task<int> get() const { co_return value; }
    int value = 0;
};
