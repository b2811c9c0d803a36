// SPDX-License-Identifier: Apache-2.0
// Suite `dispatch`: handing work to an event loop.

#include <fmt/format.h>

#include "lab/suites/dispatch_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {

void declare_dispatch(registry& into, std::span<const int> threads) {
    const char* const work =
        "the work adds one to a counter; Corro and Asio coroutines spawn a coroutine, Asio "
        "callbacks post a function";
    into.declare("dispatch", {{"post_single_thread", "/s", better::higher,
                               fmt::format("hand over 1,000 pieces of work, run the loop dry, and again: {}", work)}});
    into.declare("dispatch", {{"post_run_interleaved", "/s", better::higher,
                               fmt::format("the same with 100 pieces at a time: {}", work)}});
    for (const int n : threads) {
        for (const bool shared : {true, false}) {
            if (n == 1 && !shared) continue;
            into.declare("dispatch",
                         {{threads_row("runners", n, shared), "/s", better::higher,
                           fmt::format("a feeder thread hands over 100,000 pieces at a time, {}",
                                       n == 1   ? "one more thread runs the context"
                                       : shared ? fmt::format("{} more threads run one context", n)
                                                : fmt::format("in turn to {} threads with a context each", n))}},
                         n + 1);
            into.declare("dispatch",
                         {{threads_row("concurrent", n, shared), "/s", better::higher,
                           fmt::format("{} thread{}: each hands 10,000 pieces to {} context and runs it dry, and again",
                                       n, n == 1 ? "" : "s", shared && n != 1 ? "the one" : "its own")}},
                         n);
        }
    }
}

}  // namespace corro::lab
