// SPDX-License-Identifier: Apache-2.0
// What callback code becomes: the right-hand column of the migration guide. asio_before.cpp is the left-hand one.
#include <array>
#include <chrono>
#include <cstddef>
#include <expected>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/retry.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

// [timer]
io::task<> poll_inventory(int times) {
    for (int count = 1; count <= times; ++count) {
        const std::error_code stopped = co_await io::sleep_for(10ms);
        if (stopped) co_return;
        std::cout << "poll " << count << std::endl;
    }
}
// [/timer]

// [retry]
using connection = std::expected<io::tcp_stream, std::error_code>;

io::task<connection> connect_patiently(io::context* on, io::endpoint where) {
    io::retry_options patience;
    patience.attempts_max = 3;
    patience.first_pause = 10ms;
    co_return co_await io::retry(patience, [=] { return io::tcp_stream::connect(*on, where); });
}
// [/retry]

// [request]
/// One request and its answer. The caller sees how it ended; nothing is thrown.
io::task<std::expected<std::string, std::error_code>> request(io::context* on, io::endpoint where, std::string text) {
    connection peer = co_await connect_patiently(on, where);
    if (!peer) co_return std::unexpected(peer.error());
    if (const std::error_code refused = peer->set_option(io::no_delay(true))) co_return std::unexpected(refused);

    const io::io_result put = co_await peer->write_all(std::as_bytes(std::span(text)));
    if (put.error) co_return std::unexpected(put.error);
    const io::io_result got = co_await peer->read_exact(std::as_writable_bytes(std::span(text)));
    if (got.error) co_return std::unexpected(got.error);
    co_return text;
}
// [/request]

// [limit]
io::task<> ask(io::context* on, io::endpoint where) {
    const auto answer = co_await io::with_timeout(2s, request(on, where, "how much?"));
    if (!answer) {
        std::cout << "too late" << std::endl;
    } else if (!*answer) {
        std::cout << "failed: " << answer->error().message() << std::endl;
    } else {
        std::cout << "answer: " << **answer << std::endl;
    }
}
// [/limit]

// [strand]
/// The state of one session, used by two loops. They share a thread, so nothing comes between two statements that do
/// not await.
struct session {
    int received = 0;
    int reported = 0;
};

io::task<> receive(session* state) {
    for (; state->received < 3; ++state->received) co_await io::sleep_for(1ms);
}

io::task<> report(session* state) {
    for (; state->reported < 3; ++state->reported) co_await io::sleep_for(1ms);
}

io::task<> run_session() {
    session state;
    co_await io::when_all(receive(&state), report(&state));
    std::cout << "received " << state.received << ", reported " << state.reported << std::endl;
}
// [/strand]

io::task<> answer_once(io::tcp_acceptor* acceptor) {
    connection peer = co_await acceptor->accept();
    if (!peer) co_return;
    std::array<std::byte, 64> buffer;
    const io::io_result got = co_await peer->read_some(buffer);
    const std::string_view text = "a dozen..";
    if (got) co_await peer->write_all(std::as_bytes(std::span(text).first(got.bytes)));
}

io::task<> ask_a_server_and_nobody() {
    io::context& here = co_await io::this_context();
    auto acceptor = io::tcp_acceptor::open(here, io::endpoint::loopback(0));
    if (!acceptor) co_return;
    const io::endpoint where = *acceptor->local_endpoint();
    co_await io::when_all(answer_once(&*acceptor), ask(&here, where));
    acceptor->close();
    co_await ask(&here, where);
}

int main() {
    io::context ctx;
    io::block_on(ctx, poll_inventory(2));
    io::block_on(ctx, ask_a_server_and_nobody());
    io::block_on(ctx, run_session());
}
