// A task is awaited once; one that has a name says so by being moved.
#include <utility>

#include "io/task/task.hpp"

using namespace corro::io;

task<> work();

task<> wait_for_it() {
    task<> later = work();
#ifdef CORRO_CONTROL
    co_await std::move(later);
#else
    co_await later;
#endif
}
