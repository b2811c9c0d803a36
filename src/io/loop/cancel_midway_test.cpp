// SPDX-License-Identifier: Apache-2.0
// A stop that comes together with a part of the bytes that the operation waits for. On io_uring the operation, its
// cancel and the bytes may then reach the kernel in one system call. The stop must not be lost.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "io/loop/yield.hpp"
#include "io/net/unix_socket.hpp"
#include "io/sync/event.hpp"
#include "io/task/when_any.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

std::vector<std::byte> zeros(std::size_t size) {
    return std::vector<std::byte>(size);
}

/// A stream and its other end. The test uses the other end by plain calls, which take effect at once on every backend.
class local_pair {
 public:
    explicit local_pair(context& on) {
        int files[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, files), 0);
        near = std::move(*unix_stream::adopt(on, files[0]));
        far_ = files[1];
    }
    local_pair(const local_pair&) = delete;
    local_pair& operator=(const local_pair&) = delete;
    ~local_pair() { ::close(far_); }

    void write_four() const {
        const std::vector<std::byte> block = zeros(4);
        EXPECT_EQ(::send(far_, block.data(), block.size(), MSG_NOSIGNAL), 4);
    }
    void read_what_is_there() const {
        std::vector<std::byte> room = zeros(65'536);
        std::size_t bytes = 0;
        for (ssize_t got = 1; got > 0; bytes += got > 0 ? static_cast<std::size_t>(got) : 0) {
            got = ::recv(far_, room.data(), room.size(), 0);
        }
        EXPECT_NE(bytes, 0U);
    }

    unix_stream near;

 private:
    int far_ = -1;
};

task<> read_eight(unix_stream* from, io_result* got) {
    std::array<std::byte, 8> room{};
    *got = co_await from->read_exact(room);
}
task<> write_block(unix_stream* to, std::size_t size, io_result* sent) {
    const std::vector<std::byte> block = zeros(size);
    *sent = co_await to->write_all(block);
}
class cancel_midway : public on_backend {};

task<> stop_a_read(context* on) {
    local_pair local(*on);
    io_result got;
    task_scope children(*on);
    children.spawn(read_eight(&local.near, &got));
    co_await yield();
    local.write_four();
    children.request_stop();
    co_await children.join();
    EXPECT_EQ(got.error, condition::canceled) << got.error.message();
    // Every byte is either counted or still readable.
    std::vector<std::byte> rest = zeros(8 - got.bytes);
    local.write_four();
    const io_result second = co_await local.near.read_exact(rest);
    EXPECT_TRUE(second.ok());
    EXPECT_EQ(got.bytes + second.bytes, 8U);
}
TEST_P(cancel_midway, a_read_that_has_got_a_part_stops) {
    block_on(ctx, stop_a_read(&ctx));
}

task<> stop_a_write(context* on) {
    local_pair local(*on);
    io_result sent;
    task_scope children(*on);
    children.spawn(write_block(&local.near, std::size_t{1} << 22U, &sent));
    co_await yield();
    local.read_what_is_there();
    children.request_stop();
    co_await children.join();
    EXPECT_EQ(sent.error, condition::canceled) << sent.error.message();
}
TEST_P(cancel_midway, a_write_that_has_found_some_room_stops) {
    block_on(ctx, stop_a_write(&ctx));
}

task<> close_under_a_read(context* on) {
    local_pair local(*on);
    io_result got;
    task_scope children(*on);
    children.spawn(read_eight(&local.near, &got));
    co_await yield();
    local.write_four();
    local.near.close();
    co_await children.join();
    EXPECT_EQ(got.error, condition::canceled) << got.error.message();
}
TEST_P(cancel_midway, a_read_that_has_got_a_part_ends_when_its_stream_is_closed) {
    block_on(ctx, close_under_a_read(&ctx));
}

task<> stop_and_close(context* on) {
    local_pair local(*on);
    io_result got;
    task_scope children(*on);
    children.spawn(read_eight(&local.near, &got));
    co_await yield();
    local.write_four();
    children.request_stop();
    local.near.close();
    co_await children.join();
    EXPECT_EQ(got.error, condition::canceled) << got.error.message();
}
TEST_P(cancel_midway, a_stop_and_a_close_at_once_end_a_read_once) {
    block_on(ctx, stop_and_close(&ctx));
}

task<> write_a_part_and_set(local_pair* on, manual_event* told) {
    on->write_four();
    told->set();
    co_return;
}
task<> lose_against_an_event(context* on) {
    local_pair local(*on);
    manual_event told;
    io_result got;
    task_scope writers(*on);
    writers.spawn(write_a_part_and_set(&local, &told));
    const auto first = co_await when_any(read_eight(&local.near, &got), told.wait());
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(got.error, condition::canceled) << got.error.message();
    co_await writers.join();
}
TEST_P(cancel_midway, when_any_ends_although_the_loser_has_got_a_part) {
    block_on(ctx, lose_against_an_event(&ctx));
}

struct transfer_of_its_own {
    explicit transfer_of_its_own(context& on) : streams(on) {}
    local_pair streams;
    io_result result;
};
task<> read_for_ever(std::shared_ptr<transfer_of_its_own> own) {
    co_await read_eight(&own->streams.near, &own->result);
}
task<> write_for_ever(std::shared_ptr<transfer_of_its_own> own) {
    co_await write_block(&own->streams.near, std::size_t{1} << 22U, &own->result);
}
task<> begin_both_and_leave(context* on) {
    auto reading = std::make_shared<transfer_of_its_own>(*on);
    auto writing = std::make_shared<transfer_of_its_own>(*on);
    spawn(*on, read_for_ever(reading));
    spawn(*on, write_for_ever(writing));
    co_await yield();
    reading->streams.write_four();
    writing->streams.read_what_is_there();
}
TEST_P(cancel_midway, a_context_goes_although_its_operations_have_got_a_part) {
    context gone{context_options(*GetParam())};
    block_on(gone, begin_both_and_leave(&gone));
}

CORRO_ON_EVERY_BACKEND(cancel_midway);

}  // namespace
}  // namespace corro::io
