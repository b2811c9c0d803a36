// SPDX-License-Identifier: Apache-2.0
// Connecting to one of several addresses, on every backend. How the attempts follow one another in time is tested in
// sim/connect_race_test.cpp.
#include "io/net/connect.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class connecting : public on_backend {
 protected:
    tcp_acceptor listen(endpoint at = endpoint::loopback(0), listen_options options = {}) {
        auto opened = tcp_acceptor::open(ctx, at, options);
        EXPECT_TRUE(opened) << opened.error().message();
        return std::move(*opened);
    }
    /// An address of this machine at which nobody listens.
    endpoint refusing(endpoint like = endpoint::loopback(0)) { return *listen(like).local_endpoint(); }

    /// An acceptor that does not answer: its queue is full.
    struct silent {
        tcp_acceptor acceptor;
        std::vector<tcp_stream> waiting;
    };
    silent make_silent() {
        listen_options options;
        options.backlog = 0;
        silent made;
        made.acceptor = listen(endpoint::loopback(0), options);
        for (bool answered = true; answered && made.waiting.size() < 10;) {
            auto one = block_on(ctx, with_timeout(50ms, tcp_stream::connect(ctx, *made.acceptor.local_endpoint())));
            answered = one.has_value() && one->has_value();
            if (answered) made.waiting.push_back(std::move(**one));
        }
        return made;
    }
};

std::size_t open_files_count() {
    using std::filesystem::directory_iterator;
    return static_cast<std::size_t>(std::distance(directory_iterator("/proc/self/fd"), directory_iterator()));
}

TEST_P(connecting, to_a_numeric_address) {
    tcp_acceptor acceptor = listen();
    const auto made = block_on(ctx, connect_by_name("127.0.0.1", acceptor.local_endpoint()->port()));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), acceptor.local_endpoint());
}

TEST_P(connecting, by_a_name_of_the_system) {
    tcp_acceptor acceptor = listen();
    const auto made = block_on(ctx, connect_by_name("localhost", acceptor.local_endpoint()->port()));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), acceptor.local_endpoint());
    const auto unknown = block_on(ctx, connect_by_name("no.such.host.invalid", 1));
    ASSERT_FALSE(unknown);
}

TEST_P(connecting, goes_on_to_the_next_address_when_one_is_refused) {
    tcp_acceptor acceptor = listen();
    std::vector<failed_attempt> failures;
    connect_options options;
    options.attempt_delay = 1h;  // only the failure begins the next attempt
    options.failures = &failures;
    const endpoint wrong = refusing(endpoint::loopback_ipv6(0));
    const auto made = block_on(ctx, connect_to_first({wrong, *acceptor.local_endpoint()}, options));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), acceptor.local_endpoint());
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(failures[0].address, wrong);
    EXPECT_EQ(failures[0].error, std::errc::connection_refused);
}

TEST_P(connecting, fails_when_all_have_failed_and_lists_why) {
    std::vector<failed_attempt> failures;
    connect_options options;
    options.failures = &failures;
    const std::vector<endpoint> all{refusing(), refusing(), refusing()};
    const auto made = block_on(ctx, connect_to_first(all, options));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), std::errc::connection_refused);
    ASSERT_EQ(failures.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(failures[i].address, all[i]);
}

TEST_P(connecting, to_no_address_is_an_error) {
    const auto made = block_on(ctx, connect_to_first({}));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), errc::host_not_found);
}

TEST_P(connecting, an_address_that_does_not_answer_only_delays_and_leaves_no_socket) {
    const silent first = make_silent();
    const tcp_acceptor second = listen();
    const std::size_t before = open_files_count();
    std::vector<failed_attempt> failures;
    connect_options options;
    options.attempt_delay = 5ms;
    options.failures = &failures;
    auto made = block_on(ctx, connect_to_first({*first.acceptor.local_endpoint(), *second.local_endpoint()}, options));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), second.local_endpoint());
    EXPECT_TRUE(failures.empty()) << "the attempt that was stopped has not failed";
    made->close();
    if (ctx.backend_name() == "epoll") {
        EXPECT_EQ(open_files_count(), before);
    }
}

TEST_P(connecting, a_stop_ends_all_attempts_and_leaves_no_socket) {
    const silent nobody = make_silent();
    const silent nobody_else = make_silent();
    const std::size_t before = open_files_count();
    std::vector<failed_attempt> failures;
    connect_options options;
    options.attempt_delay = 1ms;
    options.failures = &failures;
    const std::vector<endpoint> all{*nobody.acceptor.local_endpoint(), *nobody_else.acceptor.local_endpoint()};
    const auto made = block_on(ctx, with_timeout(10ms, connect_to_first(all, options)));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), condition::timed_out);
    EXPECT_TRUE(failures.empty());
    if (ctx.backend_name() == "epoll") {
        EXPECT_EQ(open_files_count(), before);
    }
}

CORRO_ON_EVERY_BACKEND(connecting);

std::string order_of(std::string_view families) {
    std::vector<endpoint> given;
    std::uint16_t port = 0;
    for (const char each : families) {
        ++port;
        given.push_back(each == '6' ? endpoint::loopback_ipv6(port) : endpoint::loopback(port));
    }
    std::string ordered;
    for (const endpoint& each : detail::interleaved(given)) ordered += std::to_string(each.port());
    return ordered;
}

TEST(interleaving, families_take_turns_and_each_keeps_its_order) {
    EXPECT_EQ(order_of(""), "");
    EXPECT_EQ(order_of("6"), "1");
    EXPECT_EQ(order_of("6644"), "1324");
    EXPECT_EQ(order_of("4466"), "1324") << "the family of the first address begins";
    EXPECT_EQ(order_of("66664"), "15234");
    EXPECT_EQ(order_of("46666"), "12345");
    EXPECT_EQ(order_of("464646"), "123456");
    EXPECT_EQ(order_of("444"), "123");
}

TEST(interleaving, an_address_that_is_repeated_is_tried_once) {
    const endpoint one = endpoint::loopback(1);
    const endpoint other = endpoint::loopback_ipv6(1);
    EXPECT_EQ(detail::interleaved({one, one, other, one, other}), (std::vector<endpoint>{one, other}));
}

TEST(interleaving, has_a_limit_that_leaves_both_families) {
    std::vector<endpoint> many;
    for (std::uint16_t port = 1; port <= 100; ++port) many.push_back(endpoint::loopback_ipv6(port));
    many.push_back(endpoint::loopback(7));
    const std::vector<endpoint> tried = detail::interleaved(many);
    EXPECT_EQ(tried.size(), connect_attempts_max);
    EXPECT_EQ(tried[1], endpoint::loopback(7));
}

}  // namespace
}  // namespace corro::io
