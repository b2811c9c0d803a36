// SPDX-License-Identifier: Apache-2.0
// The backend on a `boost::asio::io_context`: tasks of Corro and handlers of Asio share one loop, and one thread.
//
//     boost::asio::io_context loop;
//     io::context ctx(io::asio::make_backend(loop));
//     ctx.run();  // in the place of loop.run(): runs Asio's handlers too
//
// Sockets stand on Asio's reactor: each wait for readiness is an `async_wait` of a `posix::stream_descriptor`. When
// somebody stops the io_context, `context::run` returns with its tasks where they are, and after one turn (what is
// ready, timers that are due) as long as it is stopped; after `restart` it goes on. What a handler of Asio throws comes
// out of `context::run`, as what a task throws does.
//
// Threads: one thread runs the io_context, by `context::run`. Other threads may post to it.
// Cost:    Asio's handler memory, which it recycles, for each operation that has to wait.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "io/loop/backend.hpp"
#include "io/loop/platform.hpp"

namespace corro::io::asio {

/// A backend on an io_context of its own.
[[nodiscard]] std::unique_ptr<backend> make_backend();

/// A backend on the io_context that the program has already; `loop` outlives the context.
[[nodiscard]] std::unique_ptr<backend> make_backend(boost::asio::io_context& loop);

/// The machine, each of whose contexts has an io_context of its own.
[[nodiscard]] platform& asio_platform() noexcept;

/// The io_context beneath a context, for Asio's own objects; null if it stands on something else.
[[nodiscard]] boost::asio::io_context* loop_of(context& on) noexcept;

}  // namespace corro::io::asio
