// SPDX-License-Identifier: Apache-2.0
#include "io/net/tcp.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/test_bytes.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/event.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using base::bytes_of;
using base::text_of;

using namespace std::chrono_literals;

struct stream_pair {
    stream_pair() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
    tcp_stream client;
    tcp_stream server;
};

task<stream_pair> connected(context* on) {
    auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
    EXPECT_TRUE(acceptor) << acceptor.error().message();
    auto [client, server] =
        co_await when_all(tcp_stream::connect(*on, *acceptor->local_endpoint()), acceptor->accept());
    EXPECT_TRUE(client) << client.error().message();
    EXPECT_TRUE(server) << server.error().message();
    stream_pair pair;
    pair.client = std::move(*client);
    pair.server = std::move(*server);
    co_return pair;
}

class tcp : public on_backend {
 protected:
    template <class Body>
    void with_pair(Body body) {
        const auto whole = [](context* on, Body inner) -> task<> {
            stream_pair pair = co_await connected(on);
            co_await inner(on, &pair);
        };
        block_on(ctx, whole(&ctx, body));
    }
};

TEST_P(tcp, bytes_travel_both_ways_and_endpoints_agree) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        EXPECT_EQ(*pair->client.local_endpoint(), *pair->server.remote_endpoint());
        EXPECT_EQ(*pair->server.local_endpoint(), *pair->client.remote_endpoint());
        std::array<std::byte, 64> buffer{};
        const io_result sent = co_await pair->client.write_all(bytes_of("ping"));
        EXPECT_TRUE(sent.ok());
        EXPECT_EQ(sent.bytes, 4U);
        io_result got = co_await pair->server.read_some(buffer);
        EXPECT_EQ(text_of(std::span(buffer).first(got.bytes)), "ping");
        co_await pair->server.write_some(bytes_of("pong"));
        got = co_await pair->client.read_exact(std::span(buffer).first(4));
        EXPECT_EQ(text_of(std::span(buffer).first(got.bytes)), "pong");
    });
}

TEST_P(tcp, reads_that_really_wait_are_woken_by_data) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        const auto echo = [](tcp_stream* on) -> task<int> {
            std::array<std::byte, 256> buffer{};
            for (int echoed_count = 0;; ++echoed_count) {
                const io_result got = co_await on->read_some(buffer);
                if (!got) {
                    EXPECT_EQ(got.error, condition::end_of_stream);
                    co_return echoed_count;
                }
                const io_result sent = co_await on->write_all(std::span(buffer).first(got.bytes));
                EXPECT_TRUE(sent.ok());
            }
        };
        const auto ask = [](tcp_stream* on) -> task<int> {
            std::array<std::byte, 256> buffer{};
            for (int i = 0; i < 2000; ++i) {
                const std::string message = "message " + std::to_string(i);
                co_await on->write_all(bytes_of(message));
                const io_result got = co_await on->read_exact(std::span(buffer).first(message.size()));
                EXPECT_TRUE(got.ok());
                EXPECT_EQ(text_of(std::span(buffer).first(got.bytes)), message);
            }
            EXPECT_FALSE(on->shutdown_send());
            co_return 0;
        };
        const auto [echoed_count, zero] = co_await when_all(echo(&pair->server), ask(&pair->client));
        EXPECT_EQ(echoed_count, 2000);
        EXPECT_EQ(zero, 0);
    });
}

TEST_P(tcp, large_writes_and_reads_are_resumed_in_parts_until_complete) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        EXPECT_FALSE(pair->client.set_option(send_buffer(16 * 1024)));
        EXPECT_FALSE(pair->server.set_option(receive_buffer(16 * 1024)));
        std::vector<std::byte> sent(8U << 20U);
        for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 2654435761U >> 24U);
        std::vector<std::byte> received(sent.size());
        const auto [wrote, read] = co_await when_all(pair->client.write_all(sent), pair->server.read_exact(received));
        EXPECT_TRUE(wrote.ok());
        EXPECT_EQ(wrote.bytes, sent.size());
        EXPECT_TRUE(read.ok());
        EXPECT_EQ(read.bytes, sent.size());
        EXPECT_TRUE(sent == received);
    });
}

TEST_P(tcp, write_some_takes_a_part_when_the_buffer_is_nearly_full) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        const std::vector<std::byte> block(4U << 20U);
        const io_result first = co_await pair->client.write_some(block);
        EXPECT_TRUE(first.ok());
        EXPECT_GT(first.bytes, 0U);
        EXPECT_LT(first.bytes, block.size());
        // The peer does not read: the next write waits until its timeout.
        bool waited = false;
        for (int i = 0; i < 100 && !waited; ++i) {
            const auto next = co_await with_timeout(5ms, pair->client.write_some(block));
            waited = !next.has_value();
        }
        EXPECT_TRUE(waited);
    });
}

TEST_P(tcp, tries_to_write_at_once_and_says_when_it_cannot) {
    with_pair([](context* on, stream_pair* pair) -> task<> {
        const std::vector<std::byte> part(64 * 1024, std::byte{7});
        std::size_t sent = 0;
        while (true) {
            const io_result tried = pair->client.try_write(part);
            EXPECT_FALSE(tried.error);
            if (tried.bytes == 0) break;  // the buffer is full, or the backend gathers sends
            sent += tried.bytes;
        }
        EXPECT_TRUE(sent != 0 || on->backend_name() != "epoll");
        // A waiting write sends the rest, after the bytes that were sent at once.
        const std::vector<std::byte> last(1, std::byte{9});
        std::vector<std::byte> received(sent + 1);
        const auto [written, read] = co_await when_all(pair->client.write_all(last), pair->server.read_exact(received));
        EXPECT_EQ(written.bytes, 1U);
        EXPECT_EQ(read.bytes, sent + 1);
        EXPECT_EQ(received.back(), std::byte{9});
        EXPECT_EQ(std::count(received.begin(), received.end(), std::byte{7}), static_cast<std::ptrdiff_t>(sent));
        pair->client.close();
        EXPECT_EQ(pair->client.try_write(last).error, std::errc::bad_file_descriptor);
    });
}

TEST_P(tcp, end_of_stream_after_the_last_bytes_even_when_both_came_before_the_read) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        co_await pair->client.write_all(bytes_of("last words"));
        pair->client.close();
        co_await sleep_for(2ms);
        std::array<std::byte, 64> buffer{};
        io_result got = co_await pair->server.read_some(buffer);
        EXPECT_EQ(got.bytes, 10U);
        got = co_await pair->server.read_some(buffer);
        EXPECT_EQ(got.error, condition::end_of_stream);
        EXPECT_EQ(got.bytes, 0U);
        got = co_await pair->server.read_some(buffer);
        EXPECT_EQ(got.error, condition::end_of_stream) << "and it stays the end";
    });
}

TEST_P(tcp, read_exact_keeps_what_arrived_before_the_end) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        std::array<std::byte, 64> buffer{};
        const auto late_end = [](tcp_stream* on) -> task<> {
            co_await on->write_all(bytes_of("abc"));
            co_await sleep_for(2ms);
            co_await on->write_all(bytes_of("def"));
            co_await sleep_for(2ms);
            on->close();
        };
        const auto [got, done] = co_await when_all(pair->server.read_exact(buffer), late_end(&pair->client));
        EXPECT_EQ(got.error, condition::end_of_stream);
        EXPECT_EQ(got.bytes, 6U);
        EXPECT_EQ(text_of(std::span(buffer).first(6)), "abcdef");
        EXPECT_EQ(done, std::monostate());
    });
}

TEST_P(tcp, peer_reset_in_mid_write_is_an_error_and_not_a_signal) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        const auto resets = [](tcp_stream* on) -> task<> {
            std::array<std::byte, 1000> buffer{};
            co_await on->read_exact(buffer);
            EXPECT_FALSE(on->set_option(linger_seconds(0)));
            on->close();
        };
        const std::vector<std::byte> block(64U << 20U);
        const auto [sent, done] = co_await when_all(pair->client.write_all(block), resets(&pair->server));
        EXPECT_TRUE(sent.error == std::errc::connection_reset || sent.error == std::errc::broken_pipe)
            << sent.error.message();
        EXPECT_GE(sent.bytes, 1000U);
        EXPECT_LT(sent.bytes, block.size());
        EXPECT_EQ(done, std::monostate());
        const io_result again = co_await pair->client.write_some(bytes_of("x"));
        EXPECT_FALSE(again.ok());
    });
}

TEST_P(tcp, peer_reset_while_a_read_waits_is_an_error) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        const auto resets = [](tcp_stream* on) -> task<> {
            co_await sleep_for(1ms);
            EXPECT_FALSE(on->set_option(linger_seconds(0)));
            on->close();
        };
        std::array<std::byte, 8> buffer{};
        const auto [got, done] = co_await when_all(pair->client.read_some(buffer), resets(&pair->server));
        EXPECT_EQ(got.error, std::errc::connection_reset);
        EXPECT_EQ(done, std::monostate());
    });
}

TEST_P(tcp, empty_buffers_complete_at_once) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        const io_result got = co_await pair->client.read_some({});
        EXPECT_TRUE(got.ok());
        EXPECT_EQ(got.bytes, 0U);
        const io_result sent = co_await pair->client.write_all({});
        EXPECT_TRUE(sent.ok());
    });
}

// Linux gives every second port of its range to connections, one after the other. With this many attempts the system
// nearly always chooses the wanted port once.
TEST_P(tcp, a_port_where_nobody_listens_is_refused_also_when_the_system_would_connect_it_to_itself) {
    const auto body = [](context* on) -> task<> {
        endpoint nobody;
        {
            const stream_pair pair = co_await connected(on);
            nobody = *pair.client.local_endpoint();
        }
        for (int i = 0; i < 30'000; ++i) {
            const auto stream = co_await tcp_stream::connect(*on, nobody);
            EXPECT_FALSE(stream.has_value()) << "after " << i << " attempts";
            if (stream) co_return;
            CORRO_REQUIRE(stream.error() == std::errc::connection_refused);
        }
    };
    block_on(ctx, body(&ctx));
}

TEST_P(tcp, closed_streams_answer_with_errors) {
    const auto body = []() -> task<> {
        tcp_stream closed;
        std::array<std::byte, 8> buffer{};
        EXPECT_EQ((co_await closed.read_some(buffer)).error, std::errc::bad_file_descriptor);
        EXPECT_EQ((co_await closed.write_all(buffer)).error, std::errc::bad_file_descriptor);
        EXPECT_EQ((co_await closed.read_some({})).error, std::errc::bad_file_descriptor);
        EXPECT_EQ(closed.set_option(no_delay(true)), std::errc::bad_file_descriptor);
        EXPECT_EQ(closed.shutdown_send(), std::errc::bad_file_descriptor);
        EXPECT_FALSE(closed.local_endpoint());
        EXPECT_FALSE(closed.get_option<no_delay>());
        closed.close();
        tcp_acceptor none;
        EXPECT_EQ((co_await none.accept()).error(), std::errc::bad_file_descriptor);
    };
    block_on(ctx, body());
}

TEST_P(tcp, options_are_set_read_and_refused_without_throwing) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        EXPECT_FALSE(pair->client.set_option(no_delay(true)));
        EXPECT_EQ(pair->client.get_option<no_delay>(), 1);
        EXPECT_FALSE(pair->client.set_option(keep_alive(true)));
        EXPECT_FALSE(pair->client.set_option(keep_alive_idle(30)));
        EXPECT_EQ(pair->client.get_option<keep_alive_idle>(), 30);
        EXPECT_FALSE(pair->client.set_option(linger_seconds(3)));
        EXPECT_EQ(pair->client.get_option<linger_seconds>(), 3);
        EXPECT_TRUE(pair->client.set_option(keep_alive_idle(-1)));
        co_return;
    });
}

TEST_P(tcp, close_ends_operations_that_wait) {
    with_pair([](context* on, stream_pair* pair) -> task<> {
        const auto reads = [](tcp_stream* from) -> task<> {
            std::array<std::byte, 8> buffer{};
            const io_result got = co_await from->read_some(buffer);
            EXPECT_EQ(got.error, condition::canceled);
        };
        task_scope children(*on);
        children.spawn(reads(&pair->client));
        co_await yield();
        pair->client.close();
        co_await children.join();
    });
}

TEST_P(tcp, stop_ends_a_read_before_during_and_not_after) {
    with_pair([](context* on, stream_pair* pair) -> task<> {
        const auto reads = [](tcp_stream* from, io_result* into) -> task<> {
            std::array<std::byte, 8> buffer{};
            *into = co_await from->read_some(buffer);
        };
        io_result during;
        {
            task_scope children(*on);
            children.spawn(reads(&pair->client, &during));
            co_await yield();
            children.request_stop();
            co_await children.join();
        }
        EXPECT_EQ(during.error, condition::canceled);
        co_await pair->server.write_all(bytes_of("data"));
        co_await sleep_for(1ms);
        io_result before;
        {
            task_scope children(*on);
            children.request_stop();
            children.spawn(reads(&pair->client, &before));
            co_await children.join();
        }
        EXPECT_EQ(before.error, condition::canceled) << "a stopped read takes nothing from the stream";
        io_result after;
        {
            task_scope children(*on);
            children.spawn(reads(&pair->client, &after));
            co_await children.join();
            children.request_stop();
        }
        EXPECT_TRUE(after.ok());
        EXPECT_EQ(after.bytes, 4U);
    });
}

TEST_P(tcp, read_with_a_timeout_never_loses_bytes) {
    with_pair([](context*, stream_pair* pair) -> task<> {
        // The writer repeatedly writes at the moment of the reader's timeout.
        constexpr int messages_count = 300;
        const auto writes = [](tcp_stream* to) -> task<> {
            for (int i = 0; i < messages_count; ++i) {
                co_await sleep_for(200us);
                const auto value = static_cast<std::byte>(i);
                co_await to->write_all(std::span(&value, 1));
            }
            to->close();
        };
        const auto reads = [](tcp_stream* from) -> task<int> {
            int received_count = 0;
            int timeouts_count = 0;
            for (;;) {
                std::byte value{};
                const auto got = co_await with_timeout(200us, from->read_some(std::span(&value, 1)));
                if (!got) {
                    EXPECT_EQ(got.error(), condition::timed_out);
                    ++timeouts_count;
                    continue;
                }
                if (got->error == condition::end_of_stream) break;
                EXPECT_TRUE(got->ok());
                EXPECT_EQ(value, static_cast<std::byte>(received_count));
                ++received_count;
            }
            EXPECT_GT(timeouts_count, 0);
            co_return received_count;
        };
        const auto [received_count, done] = co_await when_all(reads(&pair->server), writes(&pair->client));
        EXPECT_EQ(received_count, messages_count);
        EXPECT_EQ(done, std::monostate());
    });
}

TEST_P(tcp, connection_refused_is_reported) {
    endpoint nobody;
    {
        auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0));
        ASSERT_TRUE(acceptor);
        nobody = *acceptor->local_endpoint();
    }
    const auto result = block_on(ctx, tcp_stream::connect(ctx, nobody));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), std::errc::connection_refused);
}

TEST_P(tcp, connect_that_gets_no_answer_can_be_timed_out) {
    // A listener whose queue is full drops further handshakes.
    listen_options options;
    options.backlog = 0;
    auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0), options);
    ASSERT_TRUE(acceptor);
    const auto body = [](context* on, endpoint to) -> task<> {
        std::vector<tcp_stream> waiting;
        bool timed_out = false;
        for (int i = 0; i < 10 && !timed_out; ++i) {
            auto made = co_await with_timeout(50ms, tcp_stream::connect(*on, to));
            timed_out = !made.has_value();
            if (timed_out) {
                EXPECT_EQ(made.error(), condition::timed_out);
            } else if (made->has_value()) {
                waiting.push_back(std::move(**made));
            }
        }
        EXPECT_TRUE(timed_out);
    };
    block_on(ctx, body(&ctx, *acceptor->local_endpoint()));
}

TEST_P(tcp, address_in_use_is_reported_by_open) {
    auto first = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(first);
    const auto second = tcp_acceptor::open(ctx, *first->local_endpoint());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error(), std::errc::address_in_use);
}

TEST_P(tcp, ipv6_works_where_the_machine_has_it) {
    auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback_ipv6(0));
    if (!acceptor) GTEST_SKIP() << "no IPv6 loopback here: " << acceptor.error().message();
    const auto body = [](context* on, tcp_acceptor* from) -> task<> {
        auto [client, server] = co_await when_all(tcp_stream::connect(*on, *from->local_endpoint()), from->accept());
        EXPECT_TRUE(client);
        EXPECT_TRUE(server);
        EXPECT_EQ(*client->local_endpoint(), *server->remote_endpoint());
    };
    block_on(ctx, body(&ctx, &*acceptor));
}

TEST_P(tcp, stop_and_close_end_an_accept_and_lose_no_connection) {
    auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(acceptor);
    const auto body = [](context* on, tcp_acceptor* from) -> task<> {
        const auto stopped = co_await with_timeout(1ms, from->accept());
        EXPECT_FALSE(stopped.has_value());
        auto client = co_await tcp_stream::connect(*on, *from->local_endpoint());
        EXPECT_TRUE(client);
        auto server = co_await from->accept();
        EXPECT_TRUE(server);
        const auto closes = [](tcp_acceptor* closed) -> task<> {
            co_await yield();
            closed->close();
        };
        const auto [ended, done] = co_await when_all(from->accept(), closes(from));
        EXPECT_FALSE(ended);
        EXPECT_EQ(ended.error(), condition::canceled);
        EXPECT_EQ(done, std::monostate());
    };
    block_on(ctx, body(&ctx, &*acceptor));
}

TEST_P(tcp, acceptor_survives_descriptor_exhaustion_and_recovers) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(acceptor);
    const auto body = [](context* on, tcp_acceptor* from) -> task<> {
        const endpoint to = *from->local_endpoint();
        auto waiting = co_await tcp_stream::connect(*on, to);
        EXPECT_TRUE(waiting);
        // Uses up all descriptors below the lowered limit.
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        const int highest = ::dup(0);
        limit.rlim_cur = static_cast<rlim_t>(highest) + 8;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        std::vector<int> hoard{highest};
        for (int file = ::dup(0); file >= 0; file = ::dup(0)) hoard.push_back(file);
        EXPECT_EQ(errno, EMFILE);
        const auto none = co_await with_timeout(50ms, from->accept());
        EXPECT_FALSE(none.has_value()) << "it waits; it does not fail";
        const auto gives_back = [](std::vector<int>* files) -> task<> {
            co_await sleep_for(30ms);
            for (const int file : *files) ::close(file);
        };
        const auto [server, done] = co_await when_all(from->accept(), gives_back(&hoard));
        EXPECT_TRUE(server) << "the connection that waited is served";
        EXPECT_EQ(done, std::monostate());
        const auto refused = tcp_stream();
        EXPECT_FALSE(refused.is_open());
    };
    block_on(ctx, body(&ctx, &*acceptor));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

// The pause of an acceptor that waits for a descriptor outlived the acceptor, and then used it.
TEST_P(tcp, closing_an_acceptor_that_waits_for_a_descriptor_ends_accept) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(acceptor);
    const auto body = [](context* on, tcp_acceptor* from) -> task<> {
        auto waiting = co_await tcp_stream::connect(*on, *from->local_endpoint());
        EXPECT_TRUE(waiting);
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        const int highest = ::dup(0);
        limit.rlim_cur = static_cast<rlim_t>(highest) + 8;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        std::vector<int> hoard{highest};
        for (int file = ::dup(0); file >= 0; file = ::dup(0)) hoard.push_back(file);
        const auto closes = [](tcp_acceptor* closed) -> task<> {
            co_await sleep_for(5ms);  // in the first pause
            closed->close();
        };
        const auto [ended, done] = co_await when_all(from->accept(), closes(from));
        EXPECT_FALSE(ended);
        if (!ended) {
            EXPECT_EQ(ended.error(), condition::canceled);
        }
        EXPECT_EQ(done, std::monostate());
        for (const int file : hoard) ::close(file);
    };
    block_on(ctx, body(&ctx, &*acceptor));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_P(tcp, connect_without_descriptors_reports_it) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit limit = before;
    limit.rlim_cur = 3;
    // The sanitizer's check of `this` would itself need a descriptor.
    context& here = ctx;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    const auto result = block_on(here, tcp_stream::connect(here, endpoint::loopback(1)));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), std::errc::too_many_files_open);
}

TEST_P(tcp, no_connection_starves_among_many_busy_ones) {
    constexpr int pairs_count = 16;
    constexpr int rounds = 300;
    const auto body = [](context* on) -> task<> {
        std::vector<stream_pair> pairs;
        for (int i = 0; i < pairs_count; ++i) pairs.push_back(co_await connected(on));
        const auto echo = [](tcp_stream* stream) -> task<> {
            std::array<std::byte, 64> buffer{};
            for (;;) {
                const io_result got = co_await stream->read_some(buffer);
                if (!got) co_return;
                co_await stream->write_all(std::span(buffer).first(got.bytes));
            }
        };
        const auto ask = [](tcp_stream* stream, int* done_count, int* others_at_end) -> task<> {
            std::array<std::byte, 64> buffer{};
            for (int i = 0; i < rounds; ++i) {
                co_await stream->write_all(buffer);
                co_await stream->read_exact(buffer);
                ++*done_count;
            }
            *others_at_end = *done_count;
            stream->close();
        };
        std::vector<int> done(pairs_count);
        std::vector<int> ends(pairs_count);
        std::vector<task<>> work;
        for (int i = 0; i < pairs_count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            work.push_back(echo(&pairs[at].server));
            work.push_back(ask(&pairs[at].client, &done[at], &ends[at]));
        }
        const auto watch = [](std::vector<int>* counts) -> task<> {
            // While all tasks work, none is far behind another.
            for (int i = 0; i < 50; ++i) {
                co_await sleep_for(200us);
                const auto [least, most] = std::minmax_element(counts->begin(), counts->end());
                if (*most == rounds) co_return;
                EXPECT_LE(*most - *least, rounds / 2);
            }
        };
        work.push_back(watch(&done));
        co_await when_all(std::move(work));
        EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), pairs_count * rounds);
    };
    block_on(ctx, body(&ctx));
}

CORRO_ON_EVERY_BACKEND(tcp);

}  // namespace
}  // namespace corro::io
