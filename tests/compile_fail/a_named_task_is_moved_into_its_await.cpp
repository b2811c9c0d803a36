// SPDX-License-Identifier: Apache-2.0
// A task can be awaited once, so a named task must be moved into its await.
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
