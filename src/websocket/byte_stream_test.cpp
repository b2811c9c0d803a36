// SPDX-License-Identifier: Apache-2.0
#include "websocket/byte_stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "io/errors.hpp"
#include "io/loop/yield.hpp"
#include "io/net/stream.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"

namespace corro::websocket {
namespace {

io::task<void> read_one(io::any_stream* from, io::io_result* into) {
    std::array<std::byte, 16> bytes;
    *into = co_await from->read_some(bytes);
}

// The address sanitizer finds it when the reader comes back to a connection that is gone.
io::task<void> close_while_reading(io::context* context) {
    auto pair = io::unix_stream::pair(*context);
    CORRO_REQUIRE(pair);
    const connection_options options;
    const handshake_answer agreed;
    io::any_stream stream(byte_stream(std::make_unique<connection>(io::any_stream(std::move(pair->first)), role::server,
                                                                   options, agreed, std::span<const std::byte>())));
    io::io_result read;
    io::task_scope reading(*context);
    reading.spawn(read_one(&stream, &read));
    for (int i = 0; i < 3; ++i) co_await io::yield();
    EXPECT_TRUE(stream.is_open());
    stream.close();
    EXPECT_FALSE(stream.is_open());
    co_await reading.join();
    EXPECT_EQ(read.error, io::condition::canceled);
    std::array<std::byte, 16> bytes;
    const io::io_result again = co_await stream.read_some(bytes);
    EXPECT_TRUE(again.error);
    const io::io_result written = co_await stream.write_some(bytes);
    EXPECT_TRUE(written.error);
    EXPECT_TRUE(co_await stream.shutdown());
}

TEST(websocket_byte_stream, ends_a_read_that_is_under_way_when_it_is_closed) {
    io::context context;
    io::block_on(context, close_while_reading(&context));
}

}  // namespace
}  // namespace corro::websocket
