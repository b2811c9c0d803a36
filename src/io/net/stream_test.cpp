// SPDX-License-Identifier: Apache-2.0
#include "io/net/stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {

// Not in the unnamed namespace: g++ warns of coroutine frames in headers that contain a type from it.

/// A stream with only the required members. It moves three bytes at a time.
class trickling_test_stream {
 public:
    explicit trickling_test_stream(unix_stream next) noexcept : next_(std::move(next)) {}
    [[nodiscard]] bool is_open() const noexcept { return next_.is_open(); }
    auto read_some(std::span<std::byte> into) noexcept {
        return next_.read_some(into.first(std::min<std::size_t>(into.size(), 3)));
    }
    auto write_some(std::span<const std::byte> from) noexcept {
        return next_.write_some(from.first(std::min<std::size_t>(from.size(), 3)));
    }
    auto shutdown() noexcept { return next_.shutdown(); }
    void close() noexcept { next_.close(); }

 private:
    unix_stream next_;
};
static_assert(stream<trickling_test_stream>);

namespace {

using namespace std::chrono_literals;

static_assert(stream<tcp_stream> && stream<unix_stream> && stream<any_stream>);
static_assert(!stream<tcp_acceptor> && !stream<int>);

class streams : public on_backend {
 protected:
    /// Runs `body(one end, the other)`. Both ends are type-erased; the other moves three bytes at a time.
    template <class Body>
    void with_pair(Body body) {
        const auto whole = [](context* on, Body inner) -> task<> {
            auto pair = unix_stream::pair(*on);
            EXPECT_TRUE(pair);
            any_stream plain(std::move(pair->first));
            any_stream trickling(trickling_test_stream(std::move(pair->second)));
            co_await inner(&plain, &trickling);
        };
        block_on(ctx, whole(&ctx, body));
    }
};

TEST_P(streams, whole_messages_travel_over_a_stream_that_moves_little_at_a_time) {
    with_pair([](any_stream* plain, any_stream* trickling) -> task<> {
        const std::string text = "twenty-two bytes of it";
        std::string answer(text.size(), ' ');
        const auto out = std::as_bytes(std::span(text));
        const auto [sent, got] =
            co_await when_all(trickling->write_all(out), plain->read_exact(std::as_writable_bytes(std::span(answer))));
        EXPECT_EQ(sent.bytes, text.size());
        EXPECT_EQ(answer, text);
        answer.assign(text.size(), ' ');
        const auto [sent_back, got_back] =
            co_await when_all(plain->write_all(out), trickling->read_exact(std::as_writable_bytes(std::span(answer))));
        EXPECT_EQ(got_back.bytes, text.size());
        EXPECT_EQ(answer, text);
        EXPECT_TRUE(got.ok() && sent_back.ok());
    });
}

TEST_P(streams, read_exact_in_parts_says_how_far_it_came_when_the_peer_ends) {
    with_pair([](any_stream* plain, any_stream* trickling) -> task<> {
        const std::array<std::byte, 7> seven{};
        co_await plain->write_all(seven);
        const std::error_code ended = co_await plain->shutdown();
        EXPECT_FALSE(ended);
        std::array<std::byte, 10> ten{};
        const io_result got = co_await trickling->read_exact(ten);
        EXPECT_EQ(got.error, condition::end_of_stream);
        EXPECT_EQ(got.bytes, 7U);
        const io_result sent = co_await trickling->write_all(seven);
        EXPECT_TRUE(sent.ok()) << "the other direction is still open";
        const io_result back = co_await plain->read_exact(std::span(ten).first(7));
        EXPECT_TRUE(back.ok());
    });
}

TEST_P(streams, a_stop_reaches_through_the_hidden_stream) {
    with_pair([](any_stream* plain, any_stream*) -> task<> {
        std::array<std::byte, 8> room{};
        const auto got = co_await with_timeout(2ms, plain->read_some(room));
        EXPECT_FALSE(got.has_value());
    });
}

TEST_P(streams, closing_the_hidden_stream_closes_it) {
    with_pair([](any_stream* plain, any_stream* trickling) -> task<> {
        EXPECT_TRUE(plain->is_open());
        EXPECT_NE(plain->get_if<unix_stream>(), nullptr);
        EXPECT_EQ(plain->get_if<tcp_stream>(), nullptr);
        plain->close();
        EXPECT_FALSE(plain->is_open());
        std::array<std::byte, 8> room{};
        io_result got = co_await plain->read_some(room);
        EXPECT_EQ(got.error, std::errc::bad_file_descriptor);
        got = co_await trickling->read_some(room);
        EXPECT_EQ(got.error, condition::end_of_stream);
    });
}

TEST_P(streams, no_stream_at_all_answers_like_a_closed_one) {
    const auto body = []() -> task<> {
        any_stream none;
        std::array<std::byte, 8> room{};
        EXPECT_FALSE(none.is_open());
        EXPECT_EQ((co_await none.read_some(room)).error, std::errc::bad_file_descriptor);
        EXPECT_EQ((co_await none.write_all(room)).error, std::errc::bad_file_descriptor);
        EXPECT_EQ(co_await none.shutdown(), std::errc::bad_file_descriptor);
        none.close();
    };
    block_on(ctx, body());
}

CORRO_ON_EVERY_BACKEND(streams);

}  // namespace
}  // namespace corro::io
