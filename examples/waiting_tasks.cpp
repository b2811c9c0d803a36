// SPDX-License-Identifier: Apache-2.0
// What do the tasks of a program wait for? `context::dump` prints them.
#include <chrono>
#include <iostream>

#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/channel.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

namespace desk {

// [tasks]
io::task<> read_request(io::tcp_stream* from) {
    std::byte room[64];
    const io::io_result got = co_await from->read_some(room);
    static_cast<void>(got);
}

io::task<> serve(io::tcp_stream peer) {
    const auto in_time = co_await io::with_timeout(10s, read_request(&peer));
    static_cast<void>(in_time);
}

io::task<> write_log(io::channel<int>* lines) {
    while (true) {
        const auto line = co_await lines->receive();
        if (!line) co_return;
    }
}

io::task<> tick() {
    const std::error_code stopped = co_await io::sleep_for(1h);
    static_cast<void>(stopped);
}
// [/tasks]

// [dump]
io::task<> look() {
    io::context& here = co_await io::this_context();
    auto acceptor = io::tcp_acceptor::open(here, *io::endpoint::parse("127.0.0.1:0"));
    io::channel<int> lines(4);
    io::task_scope scope(here);
    auto client = co_await io::tcp_stream::connect(here, *acceptor->local_endpoint());
    auto peer = co_await acceptor->accept();
    scope.spawn(serve(std::move(*peer)));
    scope.spawn(write_log(&lines));
    scope.spawn(tick());
    co_await io::sleep_for(10ms);  // all of them wait by now

    std::cout << here.dump();
    scope.request_stop();
    co_await scope.join();
}

}  // namespace desk

int main() {
    io::context::list_tasks();  // before the first task
    io::context ctx;
    io::block_on(ctx, desk::look());
}
// [/dump]
