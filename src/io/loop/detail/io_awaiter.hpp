// SPDX-License-Identifier: Apache-2.0
// The awaiters of socket operations: an operation for the backend, and how it suspends its task.
//
// Threads: one context.
// Cost:    no frame, no allocation.
#pragma once

#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <expected>
#include <span>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/result.hpp"

namespace corro::io::detail {

/// The error code of an operation's status.
[[nodiscard]] inline std::error_code status_code(int status) noexcept {
    if (status == 0) [[likely]]
        return success;
    if (status == operation::status_end_of_stream) return make_error_code(errc::end_of_stream);
    return {status, std::generic_category()};
}

/// Starts `what` for the coroutine `self`. @return Whether the coroutine has to suspend.
[[nodiscard]] inline bool begin_operation(operation& what, std::coroutine_handle<> self,
                                          const environment& around) noexcept {
    if (what.target == nullptr) [[unlikely]] {
        what.status = EBADF;
        return false;
    }
    if (around.stop.stop_requested()) [[unlikely]] {
        what.status = ECANCELED;
        return false;
    }
    context& on = *what.target->owner;
    CORRO_ASSERT(&on == around.where, "a socket is used by tasks of its own context");
    what.waiter = self;
    if (what.target->by->start(what)) {
        if (on.may_continue_inline(what)) [[likely]]
            return false;
        // The task has used up its credit; the others come first.
        on.ready(what);
        return true;
    }
    around.stop.add(what);
    return true;
}

/// A transfer of bytes: `minimum` of them at least, unless an error or a stop comes first.
class transfer_awaiter : operation {
 public:
    transfer_awaiter(operation_kind what, descriptor* on, std::span<std::byte> bytes_of, std::size_t at_least) noexcept
        : operation(what, on) {
        data = bytes_of.data();
        size = bytes_of.size();
        minimum = at_least;
    }
    bool await_ready() const noexcept { return size == 0 && target != nullptr; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        return begin_operation(*this, self, self.promise().surroundings());
    }
    io_result await_resume() const noexcept { return {status_code(status), bytes}; }
};

/// An operation without a buffer; its result is its status.
class plain_awaiter : protected operation {
 public:
    plain_awaiter(operation_kind what, descriptor* on, const socket_address* to) noexcept : operation(what, on) {
        address = to;
    }
    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        return begin_operation(*this, self, self.promise().surroundings());
    }
    std::error_code await_resume() const noexcept { return status_code(status); }
};

/// Accepting: the descriptor of the new connection.
class accept_awaiter : public plain_awaiter {
 public:
    explicit accept_awaiter(descriptor* on) noexcept : plain_awaiter(operation_kind::accept, on, nullptr) {}
    std::expected<descriptor*, std::error_code> await_resume() const noexcept {
        if (status != 0) return std::unexpected(status_code(status));
        return accepted;
    }
};

}  // namespace corro::io::detail
