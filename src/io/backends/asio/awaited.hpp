// SPDX-License-Identifier: Apache-2.0
// `awaited`: the completion token with which a task awaits an operation of Asio.
//
//     auto length = co_await socket.async_read_some(buffer, io::asio::awaited);   // std::expected<size_t, error_code>
//
// An exception that Asio's initiation throws comes out of the await. A stop of the task cancels the operation, by its
// cancellation slot, and waits for it. If the io_context is destroyed before the operation has ended, the await ends
// with operation_canceled.
//
// Threads: the task's context; the io_context may run on any thread, the context's own among them.
// Cost:    that of `await_callback`, and Asio's.
#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/error_code.hpp>
#include <expected>
#include <memory>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "io/task/await_callback.hpp"

namespace corro::io::asio {

/// The type of `awaited`.
struct awaited_t {
    constexpr awaited_t() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions
};
inline constexpr awaited_t awaited;

namespace detail {

/// The result of an operation whose handler is `void(error_code, Values...)`.
template <class... Values>
struct asio_result {
    using type = std::expected<std::tuple<Values...>, std::error_code>;
    static type from(std::tuple<boost::system::error_code, Values...>&& all) {
        return std::apply([](auto&&, auto&&... rest) { return type(std::tuple<Values...>(std::move(rest)...)); },
                          std::move(all));
    }
};
template <class Value>
struct asio_result<Value> {
    using type = std::expected<Value, std::error_code>;
    static type from(std::tuple<boost::system::error_code, Value>&& all) { return type(std::get<1>(std::move(all))); }
};
template <>
struct asio_result<> {
    using type = std::expected<void, std::error_code>;
    static type from(boost::system::error_code) { return {}; }
};

template <class Initiate, class... Values>
auto run_initiation(Initiate initiate) -> task<typename asio_result<Values...>::type> {
    // The signal outlives the operation: the task always waits for the operation's end.
    const auto signal = std::make_shared<boost::asio::cancellation_signal>();
    auto start = [&initiate, &signal](callback<boost::system::error_code, Values...> done) {
        initiate(boost::asio::bind_cancellation_slot(
            signal->slot(), [done, signal](boost::system::error_code failed, Values... values) {
                done(failed, std::move(values)...);
            }));
    };
    auto cancel = [&signal] { signal->emit(boost::asio::cancellation_type::all); };
    auto ended = co_await await_callback<boost::system::error_code, Values...>(start, cancel);
    if (!ended) co_return std::unexpected(ended.error());
    boost::system::error_code failed;
    if constexpr (sizeof...(Values) == 0) {
        failed = *ended;
    } else {
        failed = std::get<0>(*ended);
    }
    // Asio's numbers for the outcomes that Corro compares with.
    if (failed == boost::system::errc::operation_canceled) co_return std::unexpected(operation_canceled());
    if (failed) co_return std::unexpected(std::error_code(failed));
    co_return asio_result<Values...>::from(std::move(*ended));
}

}  // namespace detail
}  // namespace corro::io::asio

template <class... Values>
class boost::asio::async_result<corro::io::asio::awaited_t, void(boost::system::error_code, Values...)> {
 public:
    template <class Initiation, class... Arguments>
    static auto initiate(Initiation initiation, corro::io::asio::awaited_t, Arguments... arguments) {
        auto whole = [initiation = std::move(initiation),
                      held = std::make_tuple(std::move(arguments)...)](auto handler) mutable {
            std::apply([&](auto&... each) { std::move(initiation)(std::move(handler), std::move(each)...); }, held);
        };
        return corro::io::asio::detail::run_initiation<decltype(whole), Values...>(std::move(whole));
    }
};
