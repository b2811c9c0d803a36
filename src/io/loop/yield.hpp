// SPDX-License-Identifier: Apache-2.0
// `yield`: lets every other ready task run first.
#pragma once

#include <coroutine>

#include "io/loop/context.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {
namespace detail {

class yield_awaiter : ready_item {
 public:
    yield_awaiter() noexcept {}  // NOLINT: ready_item is filled in when the task suspends
    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
        waiter = self;
        self.promise().surroundings().where->ready(*this);
    }
    void await_resume() const noexcept {}
};

}  // namespace detail

/// @suspend Always; resumes through the ready queue.
/// @cancel  Does not observe the stop token.
inline lazily<detail::yield_awaiter> yield() noexcept {
    return lazily<detail::yield_awaiter>();
}

}  // namespace corro::io
