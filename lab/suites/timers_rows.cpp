// SPDX-License-Identifier: Apache-2.0
// Suite `timers`.

#include <fmt/format.h>

#include "lab/suites/suites.hpp"
#include "lab/suites/timer_shapes.hpp"

namespace corro::lab {

void declare_timers(registry& into) {
    into.declare("timers", {{"schedule_cancel", "/s", better::higher,
                             "make a timer, set it an hour ahead, cancel it; nobody waits. The loop is run once in "
                             "1,000"}});
    into.declare("timers", {{"schedule_cancel_waiter", "/s", better::higher,
                             "1,000 timers an hour ahead with somebody waiting for each; then all are cancelled and "
                             "every waiter is told. Corro and Asio coroutines: a coroutine waits; Asio callbacks: a "
                             "function"}});
    into.declare("timers", {{"fire_zero_delay", "/s", better::higher,
                             "one timer, set to no delay and waited for, again and again. Corro has a short cut for "
                             "timers that are due already; Asio arms the kernel's timer"}});
    for (const int timers : concurrent_timer_counts) {
        const std::string row = concurrent_timers_row(timers);
        into.declare("timers",
                     {{fmt::format("{}_fires", row), "/s", better::higher,
                       fmt::format("{} timers with intervals from 100 to 1,000 us, each set again when it has "
                                   "fired; latencies are how late they fire",
                                   timers)},
                      {fmt::format("{}_late_p50", row), "ns", better::lower, "how late the median timer is"},
                      {fmt::format("{}_late_p99", row), "ns", better::lower, "how late one in a hundred is"}});
    }
}

}  // namespace corro::lab
