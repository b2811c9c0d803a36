// A const T& may refer to a temporary that has gone when the coroutine runs.
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

// A member function's object is a reference to const too, and is allowed: it cannot be told from a first parameter.
struct counter {
    task<int> get() const { co_return value; }
    int value = 0;
};
