// SPDX-License-Identifier: Apache-2.0
// An outside project that uses the bridge to Asio: one loop for Asio's handlers and Corro's tasks, and a task that
// awaits an Asio operation.
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <expected>
#include <system_error>

#include "io/backends/asio/asio_backend.hpp"
#include "io/backends/asio/awaited.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"

namespace io = corro::io;

namespace {

io::task<> wait_both_ways(boost::asio::io_context* loop, bool* well) {
    const std::error_code slept = co_await io::sleep_for(std::chrono::milliseconds(1));
    boost::asio::steady_timer timer(*loop, std::chrono::milliseconds(1));
    const std::expected<void, std::error_code> waited = co_await timer.async_wait(io::asio::awaited);
    *well = !slept && waited.has_value();
}

}  // namespace

int main() {
    boost::asio::io_context loop;
    io::context on(io::asio::make_backend(loop));
    bool handled = false;
    bool well = false;
    boost::asio::post(loop, [&handled] { handled = true; });
    io::spawn(on, wait_both_ways(&loop, &well));
    on.run();
    std::printf("handlers and tasks on one loop: %s\n", handled && well ? "well" : "not so");
    return handled && well ? 0 : 1;
}
