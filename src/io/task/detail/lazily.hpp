// SPDX-License-Identifier: Apache-2.0
// `lazily<Awaiter, Args...>`: the return type of an operation that starts when it is awaited.
//
// Awaiters are linked into lists while they wait, so they cannot move. Callers pass this small value around (to
// `with_timeout`, to `when_any`); `co_await` makes the awaiter from it, in place.
#pragma once

#include <tuple>
#include <utility>

namespace corro::io {

template <class Awaiter, class... Args>
class [[nodiscard("an operation starts when it is awaited")]] lazily {
 public:
    explicit lazily(Args... args) noexcept : args_(std::move(args)...) {}

    Awaiter operator co_await() && noexcept { return std::make_from_tuple<Awaiter>(std::move(args_)); }

 private:
    std::tuple<Args...> args_;
};

}  // namespace corro::io
