// `lazily<Awaiter, Args...>`: what an operation returns before it is awaited.
//
// Awaiters are linked into lists while they wait, so they cannot move. What a caller passes around (to `with_timeout`,
// to `when_any`) is this small value; `co_await` makes the awaiter from it, in place.
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
