// SPDX-License-Identifier: Apache-2.0
// Suite `coro`: what the primitives of a coroutine library cost.

#include <fmt/format.h>

#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

struct primitive {
    const char* name;
    const char* does;
};

constexpr primitive primitives[] = {
    {"new_delete_64", "operator new and operator delete of 64 bytes: the measure by which to scale other machines"},
    {"task_int_await",
     "create a coroutine that returns an int, await it (floors: a call that is not inlined, a "
     "std::function)"},
    {"task_void_await", "create a coroutine that returns nothing, await it"},
    {"task_run_plain", "create a coroutine that returns an int and run it to its end from plain code"},
    {"chain_of_ten", "ten coroutines, each awaiting the next"},
    {"yield", "let everybody else run first, through the ready queue; nobody else is there"},
    {"mutex_uncontended",
     "lock and unlock a mutex of one context that is free (std_mutex_alone: in a process that "
     "never had a second thread, std_mutex: in one that did)"},
    {"shared_mutex_uncontended", "lock and unlock a mutex for several threads that is free"},
    {"mutex_hand_over",
     "lock, start a task that waits for the lock, unlock, so that the waiter gets the lock, unlocks "
     "and ends; with its task"},
    {"event_set", "wait for an event that is set already"},
    {"event_suspend",
     "start a task that waits for an event, set the event, let the task end; started and run by plain "
     "code"},
    {"event_suspend_spawned", "the same, spawned and joined by another task"},
    {"when_all_3", "three coroutines that end at once, side by side"},
    {"when_any_2", "two coroutines, of which one ends at once; the other waits, is stopped and joined"},
    {"with_timeout_at_once", "a coroutine that ends at once, under a timeout of an hour"},
    {"with_timeout_armed", "a coroutine that yields once, under a timeout of an hour that is armed and disarmed"},
    {"with_timeout_fires", "a coroutine that waits for ever, under a timeout of nothing: it is stopped and joined"},
};

}  // namespace

void declare_coro(registry& into) {
    for (const primitive& one : primitives) {
        into.declare("coro",
                     {{one.name, "ns", better::lower,
                       fmt::format("{}. Amortised: the fastest of many batches, by operation", one.does)},
                      {fmt::format("{}_single", one.name), "ns", better::lower,
                       fmt::format("{}. Each operation between two readings of the time stamp counter, which are "
                                   "included; the value is the median operation",
                                   one.does)}});
    }
}

}  // namespace corro::lab
