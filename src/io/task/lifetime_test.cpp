// SPDX-License-Identifier: Apache-2.0
// Destroys objects with operations in progress. The operations end with operation_canceled and use no destroyed memory;
// the address sanitizer checks that.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/stream.hpp"
#include "io/sync/event.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tls_fixture.hpp"

namespace corro::io {

/// A stream that gives one byte for each signal and has no member `read_exact`, so it is read in parts. Not in the
/// unnamed namespace: g++ warns of coroutines outside it that have such a member.
class stream_in_parts {
 public:
    explicit stream_in_parts(auto_event* told) noexcept : told_(told) {}
    [[nodiscard]] task<io_result> read_some(std::span<std::byte>) { return open_ ? wait(told_) : refuse(); }
    [[nodiscard]] task<io_result> write_some(std::span<const std::byte>) { return refuse(); }
    [[nodiscard]] task<std::error_code> shutdown() { return succeed(); }
    void close() noexcept { open_ = false; }
    [[nodiscard]] bool is_open() const noexcept { return open_; }

 private:
    static task<io_result> wait(auto_event* told) {
        const std::error_code stopped = co_await told->wait();
        co_return io_result(stopped, stopped ? 0 : 1);
    }
    static task<io_result> refuse() { co_return io_result(std::make_error_code(std::errc::bad_file_descriptor), 0); }
    static task<std::error_code> succeed() { co_return std::error_code(); }

    auto_event* told_;
    bool open_ = true;
};
static_assert(stream<stream_in_parts>);

namespace {

using namespace std::chrono_literals;

class lifetime : public on_backend {};

template <class Stream>
task<> read_four(Stream* from, io_result* got) {
    std::array<std::byte, 4> room{};
    *got = co_await from->read_exact(room);
}
template <class Stream>
task<> write_a_lot(Stream* to, io_result* sent) {
    const std::vector<std::byte> block(std::size_t{1} << 23U);
    *sent = co_await to->write_all(block);
}
template <class Stream>
task<> send_close(Stream* to, std::error_code* end) {
    *end = co_await to->shutdown();
}

/// Starts a read, a write and a shutdown that waits behind it, and destroys the stream under them.
template <class Stream>
task<> destroy_under_operations(std::optional<Stream>* on, bool at_once) {
    task_scope children(co_await this_context());
    io_result got;
    io_result sent;
    std::error_code end;
    children.spawn(read_four(&**on, &got));
    children.spawn(write_a_lot(&**on, &sent));
    children.spawn(send_close(&**on, &end));
    for (int turn = 0; turn < (at_once ? 1 : 5); ++turn) co_await yield();
    on->reset();
    co_await children.join();
    EXPECT_EQ(got.error, condition::canceled) << got.error.message();
    EXPECT_EQ(sent.error, condition::canceled) << sent.error.message();
    EXPECT_EQ(end, condition::canceled) << end.message();
}

template <class Stream>
task<> tls_goes(context* on, bool at_once) {
    tls_pair both = co_await shake_hands(on, client_context(), server_context(), "localhost");
    CORRO_REQUIRE(both.ok());
    std::optional<Stream> under(Stream(std::move(*both.client)));
    co_await destroy_under_operations(&under, at_once);
}
TEST_P(lifetime, a_tls_stream_goes_under_its_operations) {
    for (const bool at_once : {true, false}) block_on(ctx, tls_goes<secure_stream>(&ctx, at_once));
}
TEST_P(lifetime, an_any_stream_over_tls_goes_under_its_operations) {
    for (const bool at_once : {true, false}) block_on(ctx, tls_goes<any_stream>(&ctx, at_once));
}

task<> parts_go(context* on) {
    auto_event told;
    std::optional<any_stream> under(std::in_place, stream_in_parts(&told));
    task_scope children(*on);
    io_result got;
    children.spawn(read_four(&*under, &got));
    co_await yield();
    // The first byte has come when the stream is destroyed. The task runs after that.
    told.set();
    under.reset();
    co_await children.join();
    EXPECT_EQ(got.error, std::errc::bad_file_descriptor) << got.error.message();
    EXPECT_EQ(got.bytes, 1U);
}
TEST_P(lifetime, an_any_stream_that_is_read_in_parts_goes_between_two_of_them) {
    block_on(ctx, parts_go(&ctx));
}

task<> stream_is_replaced(context* on) {
    tls_pair both = co_await shake_hands(on, client_context(), server_context(), "localhost");
    CORRO_REQUIRE(both.ok());
    any_stream under(std::move(*both.client));
    task_scope children(*on);
    io_result got;
    children.spawn(read_four(&under, &got));
    co_await yield();
    under = any_stream();
    co_await children.join();
    EXPECT_EQ(got.error, condition::canceled) << got.error.message();
}
TEST_P(lifetime, a_stream_that_another_one_is_assigned_to_ends_its_operations) {
    block_on(ctx, stream_is_replaced(&ctx));
}

task<> wait_for(steady_timer* on, std::error_code* end) {
    *end = co_await on->wait();
}
task<> timer_goes(context* on, bool cancelled) {
    std::optional<steady_timer> under(*on);
    under->expires_after(1h);
    task_scope children(*on);
    std::error_code first;
    std::error_code second;
    children.spawn(wait_for(&*under, &first));
    children.spawn(wait_for(&*under, &second));
    co_await yield();
    if (cancelled) under->cancel();
    under.reset();
    co_await children.join();
    EXPECT_EQ(first, condition::canceled) << first.message();
    EXPECT_EQ(second, condition::canceled) << second.message();
}
TEST_P(lifetime, a_timer_goes_under_those_that_wait_for_it) {
    for (const bool cancelled : {true, false}) block_on(ctx, timer_goes(&ctx, cancelled));
}

task<> timer_goes_when_it_has_expired(context* on) {
    std::optional<steady_timer> under(*on);
    under->expires_after(0ns);
    task_scope children(*on);
    std::error_code end = operation_canceled();
    children.spawn(wait_for(&*under, &end));
    co_await yield();
    under.reset();
    co_await children.join();
    EXPECT_FALSE(end) << end.message();
}
TEST_P(lifetime, a_timer_that_has_expired_goes_before_its_waiter_runs) {
    block_on(ctx, timer_goes_when_it_has_expired(&ctx));
}

CORRO_ON_EVERY_BACKEND(lifetime);

}  // namespace
}  // namespace corro::io
