// SPDX-License-Identifier: Apache-2.0
// A client that is destroyed during operations: they end with operation_canceled, and their state stays valid. For the
// address sanitizer.
#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "http/client.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/stream.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/scope.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::http {
namespace {

using namespace std::chrono_literals;

class http_client_lifetime : public io::on_backend {};

io::task<> receive_one(client* from, std::error_code* end) {
    const auto got = co_await from->receive();
    *end = got ? std::error_code() : got.error();
}
io::task<> receive_body(client* from, std::error_code* end) {
    const auto got = co_await from->receive();
    CORRO_REQUIRE(got);
    const auto body = co_await from->read_body();
    *end = body ? std::error_code() : body.error();
}
io::task<> send_a_lot(client* to, std::error_code* end) {
    const std::string body(std::size_t{1} << 23U, 'x');
    *end = co_await to->send(method::post, "/", {}, body);
}
io::task<> client_goes(io::context* on) {
    auto pair = io::unix_stream::pair(*on);
    CORRO_REQUIRE(pair);
    std::optional<client> under(std::in_place, io::any_stream(std::move(pair->first)), "venue.example");
    const std::error_code asked = co_await under->send(method::get, "/");
    EXPECT_FALSE(asked);
    io::task_scope children(*on);
    std::error_code received;
    std::error_code sent;
    children.spawn(receive_one(&*under, &received));
    children.spawn(send_a_lot(&*under, &sent));
    for (int turn = 0; turn < 5; ++turn) co_await io::yield();
    under.reset();
    co_await children.join();
    EXPECT_EQ(received, io::condition::canceled) << received.message();
    EXPECT_EQ(sent, io::condition::canceled) << sent.message();
}
TEST_P(http_client_lifetime, an_http_client_goes_while_it_sends_and_receives) {
    io::block_on(ctx, client_goes(&ctx));
}

io::task<> client_goes_within_a_body(io::context* on) {
    auto pair = io::unix_stream::pair(*on);
    CORRO_REQUIRE(pair);
    std::optional<client> under(std::in_place, io::any_stream(std::move(pair->first)), "venue.example");
    const std::error_code asked = co_await under->send(method::get, "/");
    EXPECT_FALSE(asked);
    io::task_scope children(*on);
    std::error_code received;
    children.spawn(receive_body(&*under, &received));
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc";
    co_await pair->second.write_all(std::as_bytes(std::span(head)));
    co_await io::sleep_for(1ms);
    under.reset();
    co_await children.join();
    EXPECT_EQ(received, io::condition::canceled) << received.message();
}
TEST_P(http_client_lifetime, an_http_client_goes_within_a_body) {
    io::block_on(ctx, client_goes_within_a_body(&ctx));
}
CORRO_ON_EVERY_BACKEND(http_client_lifetime);

}  // namespace
}  // namespace corro::http
