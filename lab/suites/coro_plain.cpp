// SPDX-License-Identifier: Apache-2.0
// Suite `coro`: what a call, a lock and an allocation cost without any library.

#include <functional>
#include <mutex>
#include <new>
#include <thread>

#include "lab/suites/coro_methods.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

[[gnu::noinline]] int call(int value) {
    // So that the compiler neither knows the result nor finds two calls to be one.
    asm volatile("" : "+r"(value));
    return value;
}

[[gnu::noinline]] void call_nothing() {
    asm volatile("");
}

void lock_and_unlock(std::mutex& lock) {
    lock.lock();
    keep(lock);
    lock.unlock();
}

}  // namespace

void implement_coro_plain(registry& into) {
    into.implement("coro", "new_delete_64", "raw_new", [](const run_parameters& how) {
        return both_methods_of(how, [](std::int64_t i) {
            void* const block = ::operator new(64);
            keep(block);
            ::operator delete(block);
            return i;
        });
    });
    into.implement("coro", "task_int_await", "raw_call", [](const run_parameters& how) {
        return both_methods_of(how, [](std::int64_t i) { return std::int64_t{call(static_cast<int>(i))}; });
    });
    into.implement("coro", "task_int_await", "raw_std_function", [](const run_parameters& how) {
        std::function<int(int)> function = &call;
        keep(function);
        return both_methods_of(how, [&](std::int64_t i) { return std::int64_t{function(static_cast<int>(i))}; });
    });
    into.implement("coro", "task_void_await", "raw_call", [](const run_parameters& how) {
        return both_methods_of(how, [](std::int64_t i) {
            call_nothing();
            return i;
        });
    });
    for (const char* const row : {"mutex_uncontended", "shared_mutex_uncontended"}) {
        into.implement("coro", row, "std_mutex", [](const run_parameters& how) {
            // From the second thread on, the C library's locks use atomic instructions for ever.
            std::thread([] {}).join();
            std::mutex lock;
            return both_methods_of(how, [&](std::int64_t i) {
                lock_and_unlock(lock);
                return i;
            });
        });
    }
    into.implement("coro", "mutex_uncontended", "std_mutex_alone", [](const run_parameters& how) {
        std::mutex lock;
        return both_methods_of(how, [&](std::int64_t i) {
            lock_and_unlock(lock);
            return i;
        });
    });
}

}  // namespace corro::lab
