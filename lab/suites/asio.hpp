// SPDX-License-Identifier: Apache-2.0
// Asio as its experts use it: no type-erased executors, operations awaited without a frame of their own, handlers from
// recycled memory, no locks where there is one thread.
//
// The files that include this are compiled once per Asio: Boost's, and a standalone one if CORRO_ASIO_ROOT names it.
// `net` is that Asio; everything else lives in a namespace of its own, so that both can stand in one program.
//
// Threads: as said.
#pragma once

#if defined(CORRO_LAB_STANDALONE_ASIO)
#include <asio/as_tuple.hpp>
#include <asio/awaitable.hpp>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/bind_allocator.hpp>
#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/deferred.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/version.hpp>
#include <asio/write.hpp>
#define CORRO_LAB_ASIO newer_asio
#define CORRO_LAB_ASIO_HINT_UNSAFE ASIO_CONCURRENCY_HINT_UNSAFE
namespace corro::lab::newer_asio {
namespace net = ::asio;
using error_code = ::asio::error_code;
}  // namespace corro::lab::newer_asio
#else
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/version.hpp>
#include <boost/asio/write.hpp>
#define CORRO_LAB_ASIO boost_asio
#define CORRO_LAB_ASIO_HINT_UNSAFE BOOST_ASIO_CONCURRENCY_HINT_UNSAFE
namespace corro::lab::boost_asio {
namespace net = ::boost::asio;
using error_code = ::boost::system::error_code;
}  // namespace corro::lab::boost_asio
#endif

#include <chrono>
#include <exception>
#include <span>
#include <string>

#include "lab/suites/suites.hpp"

namespace corro::lab::CORRO_LAB_ASIO {

using executor = net::io_context::executor_type;
using tcp_socket = net::basic_stream_socket<net::ip::tcp, executor>;
using tcp_acceptor = net::basic_socket_acceptor<net::ip::tcp, executor>;
using unix_socket = net::basic_stream_socket<net::local::stream_protocol, executor>;
using timer =
    net::basic_waitable_timer<std::chrono::steady_clock, net::wait_traits<std::chrono::steady_clock>, executor>;
template <class T = void>
using awaitable = net::awaitable<T, executor>;

/// Completes an awaited operation with a tuple of its error and its results, without a frame of its own.
inline constexpr auto as_results = net::as_tuple(net::deferred);

/// For contexts that one thread runs and no other touches: no locks at all.
inline constexpr int alone = static_cast<int>(CORRO_LAB_ASIO_HINT_UNSAFE);
/// For contexts that one thread runs and others hand work to.
inline constexpr int one_runner = 1;

/// "asio_callbacks", "newer_asio_coroutines".
[[nodiscard]] std::string subject(const char* style);

inline void verify_ok(const error_code& outcome, const char* what) {
    if (outcome) throw wrong_result(std::string(what) + ": " + outcome.message());
}

/// For `co_spawn`: what escapes from a coroutine ends the run.
inline constexpr auto rethrow = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
};

/// Bytes as Asio's buffers: to read into, to write from.
[[nodiscard]] inline net::mutable_buffer into_buffer(std::span<std::byte> bytes) {
    return {bytes.data(), bytes.size()};
}
[[nodiscard]] inline net::const_buffer from_buffer(std::span<const std::byte> bytes) {
    return {bytes.data(), bytes.size()};
}

void implement_coro(registry& into);
void implement_dispatch(registry& into, std::span<const int> threads);
void implement_sockets_callbacks(registry& into);
void implement_sockets_coroutines(registry& into);
void implement_http(registry& into, std::span<const int> threads);
void implement_timers(registry& into);
void implement_churn_callbacks(registry& into);
void implement_churn_coroutines(registry& into);
void implement_facility(registry& into);

}  // namespace corro::lab::CORRO_LAB_ASIO
