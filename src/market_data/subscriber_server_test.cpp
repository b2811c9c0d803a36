// SPDX-License-Identifier: Apache-2.0
// The feed and its snapshots: the subscribers' messages, their order, and rejected subscribers.
#include "market_data/subscriber_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "io/net/socket_options.hpp"
#include "market_data/test_feed.hpp"

namespace corro::market_data {
namespace {

using namespace std::chrono_literals;
using testing::follower;
using testing::raw_subscriber;
using testing::test_exchange;
namespace soup = wire::soup_bin_tcp;
using subscriber_pointer = std::unique_ptr<raw_subscriber>;

/// Reads a whole snapshot.
io::task<bool> take_snapshot(test_exchange* x, follower* into) {
    const subscriber_pointer s = co_await raw_subscriber::connect(x->snapshot_port);
    if (s == nullptr || !co_await s->log_in(1)) co_return false;
    co_return co_await into->read_snapshot(s.get());
}

/// A connection logged in to the feed at `sequence`; a null pointer when the login was rejected.
io::task<subscriber_pointer> subscribe(test_exchange* x, std::uint64_t sequence) {
    subscriber_pointer s = co_await raw_subscriber::connect(x->feed_port);
    if (s == nullptr || !co_await s->log_in(sequence)) co_return nullptr;
    co_return s;
}

// --- Joining and following -------------------------------------------------------------------------------------------

TEST(subscriber_server, late_joiners_get_a_snapshot_under_traffic_and_then_every_increment) {
    test_exchange exchange(base::test_seed());
    exchange.run([](test_exchange* x) -> io::task<> {
        x->trade(2'000);
        bool trading = true;
        const auto keep_trading = [](test_exchange* on, bool* until) -> io::task<> {
            for (int i = 0; i < 300; ++i) {
                on->trade(10);
                co_await io::yield();
            }
            *until = false;
        };
        const auto join_and_follow = [](test_exchange* on, int delay, const bool* still_trading) -> io::task<> {
            for (int i = 0; i < delay; ++i) co_await io::yield();
            follower f;
            CORRO_REQUIRE(co_await take_snapshot(on, &f));
            const subscriber_pointer s = co_await subscribe(on, f.last_sequence + 1);
            CORRO_REQUIRE(s != nullptr);
            bool last_round = false;
            while (!last_round) {
                last_round = !*still_trading;
                CORRO_REQUIRE(co_await f.follow(s.get(), on->feed.next_sequence() - 1));
                // Nothing was published since the last message, so the books must agree now.
                if (s->next_sequence == on->feed.next_sequence()) {
                    CORRO_REQUIRE(f.difference(*on).empty());
                    EXPECT_TRUE(f.is_consistent);
                }
                co_await io::yield();
            }
        };
        io::task_scope all(x->context);
        all.spawn(keep_trading(x, &trading));
        for (int i = 0; i < 12; ++i) all.spawn(join_and_follow(x, 20 * i, &trading));
        co_await all.join();
        EXPECT_EQ(x->ports.statistics().snapshots, 12U);
    });
}

TEST(subscriber_server, a_book_from_the_feed_equals_the_venues_book_for_every_seed) {
    base::prng seeds(base::test_seed());
    for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
        const std::uint64_t seed = seeds();
        SCOPED_TRACE("seed " + std::to_string(seed));
        test_exchange exchange(seed);
        exchange.run([](test_exchange* x) -> io::task<> {
            x->trade(1'000);
            follower joined;
            CORRO_REQUIRE(co_await take_snapshot(x, &joined));
            EXPECT_EQ(joined.difference(*x), "") << "by snapshot alone";
            x->trade(1'000);
            const std::uint64_t last = x->feed.next_sequence() - 1;
            const subscriber_pointer late = co_await subscribe(x, joined.last_sequence + 1);
            CORRO_REQUIRE(late != nullptr);
            CORRO_REQUIRE(co_await joined.follow(late.get(), last));
            EXPECT_EQ(joined.difference(*x), "") << "by snapshot and increments";

            follower from_the_start(x->instruments());
            const subscriber_pointer early = co_await subscribe(x, 1);
            CORRO_REQUIRE(early != nullptr);
            CORRO_REQUIRE(co_await from_the_start.follow(early.get(), last));
            EXPECT_EQ(from_the_start.difference(*x), "") << "by increments alone";
            EXPECT_EQ(from_the_start.commands_seen, x->commands_with_news) << "each command's end is marked once";
            EXPECT_EQ(x->public_events, last);
        });
    }
}

TEST(subscriber_server, sends_every_subscriber_the_same_bytes) {
    test_exchange exchange(base::test_seed());
    exchange.run([](test_exchange* x) -> io::task<> {
        const subscriber_pointer one = co_await subscribe(x, 0);
        const subscriber_pointer other = co_await subscribe(x, 1);
        CORRO_REQUIRE(one != nullptr && other != nullptr);
        for (int i = 0; i < 50; ++i) {
            x->trade(20);
            co_await io::yield();
        }
        const std::uint64_t count = x->feed.next_sequence() - 1;
        for (std::uint64_t i = 1; i <= count; ++i) {
            const auto packet = co_await one->next_change();
            CORRO_REQUIRE(packet);
            const auto same = co_await other->next_change();
            CORRO_REQUIRE(same);
            CORRO_REQUIRE(std::ranges::equal(packet->payload, same->payload));
        }
    });
}

// --- Logging in ------------------------------------------------------------------------------------------------------

TEST(subscriber_server, rejects_logins_for_what_it_does_not_have) {
    testing::test_feed_options options;
    options.feed_log_bytes = feed_log_bytes_min;
    options.session_name = "TODAY";
    test_exchange exchange(base::test_seed(), options);
    exchange.run([](test_exchange* x) -> io::task<> {
        const auto rejected = [](io::endpoint port, std::uint64_t sequence, std::string session) -> io::task<bool> {
            const subscriber_pointer s = co_await raw_subscriber::connect(port);
            if (s == nullptr) co_return false;
            co_return co_await s->is_rejected(sequence, std::move(session));
        };
        x->trade(100);
        const std::uint64_t next = x->feed.next_sequence();
        EXPECT_TRUE(co_await rejected(x->feed_port, 1, "YESTERDAY"));
        EXPECT_TRUE(co_await rejected(x->snapshot_port, 1, "YESTERDAY"));
        EXPECT_TRUE(co_await rejected(x->feed_port, next + 1, ""));
        EXPECT_TRUE(co_await rejected(x->feed_port, UINT64_MAX, ""));
        EXPECT_TRUE(co_await rejected(x->snapshot_port, 2, "")) << "a snapshot has no parts";
        EXPECT_EQ(x->ports.statistics().logins_rejected, 5U);

        const subscriber_pointer live = co_await raw_subscriber::connect(x->feed_port);
        CORRO_REQUIRE(live != nullptr);
        EXPECT_EQ(co_await live->log_in(0, "today"), next) << "0 asks for what comes next";
        const subscriber_pointer early = co_await raw_subscriber::connect(x->feed_port);
        CORRO_REQUIRE(early != nullptr);
        EXPECT_EQ(co_await early->log_in(1, "TODAY"), 1U);

        // Until the first message has left the log.
        while (x->feed.statistics().bytes < 2 * feed_log_bytes_min) x->trade(100);
        EXPECT_TRUE(co_await rejected(x->feed_port, 1, ""));
    });
}

TEST(subscriber_server, never_lets_somebody_in_only_to_cut_them_off) {
    testing::test_feed_options options;
    options.feed_log_bytes = feed_log_bytes_min;
    test_exchange exchange(base::test_seed(), options);
    exchange.run([](test_exchange* x) -> io::task<> {
        while (x->feed.statistics().bytes < 2 * feed_log_bytes_min) x->trade(100);
        // Finds the oldest accepted number by bisection.
        std::uint64_t rejected = 1;
        std::uint64_t accepted = x->feed.next_sequence();
        while (accepted - rejected > 1) {
            const std::uint64_t middle = rejected + (accepted - rejected) / 2;
            const subscriber_pointer s = co_await raw_subscriber::connect(x->feed_port);
            CORRO_REQUIRE(s != nullptr);
            const auto reply = co_await s->log_in(middle);
            (reply ? accepted : rejected) = middle;
        }
        const subscriber_pointer oldest = co_await subscribe(x, accepted);
        CORRO_REQUIRE(oldest != nullptr);
        for (int i = 0; i < 20; ++i) {
            x->trade(10);
            co_await io::yield();
        }
        EXPECT_EQ(x->ports.statistics().slow_cut, 0U);
        for (std::uint64_t i = accepted; i < x->feed.next_sequence(); ++i) {
            CORRO_REQUIRE(co_await oldest->next_change());
        }
    });
}

TEST(subscriber_server, closes_connections_that_do_not_log_in_or_say_something_else) {
    testing::test_feed_options options;
    options.login_timeout = 100ms;
    test_exchange exchange(base::test_seed(), options);
    exchange.run([](test_exchange* x) -> io::task<> {
        x->trade(10);
        const subscriber_pointer bystander = co_await subscribe(x, 1);
        CORRO_REQUIRE(bystander != nullptr);
        std::vector<std::vector<std::byte>> sayings{
            {},                                                           // nothing at all
            std::vector<std::byte>(20, std::byte{0}),                     // packets without a type
            std::vector<std::byte>(2'000, std::byte{0xff}),               // a packet that is too long
            raw_subscriber::packet(soup::packet_type::client_heartbeat),  // not yet
            raw_subscriber::packet(soup::packet_type::server_heartbeat),  // not from a client
            raw_subscriber::login(1),
        };
        sayings.back().resize(sayings.back().size() - 1);  // half a login
        const std::string text = "GET /feed HTTP/1.1\r\n\r\n";
        const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
        sayings.emplace_back(bytes.begin(), bytes.end());
        for (const io::endpoint port : {x->feed_port, x->snapshot_port}) {
            for (const std::vector<std::byte>& saying : sayings) {
                const subscriber_pointer s = co_await raw_subscriber::connect(port);
                CORRO_REQUIRE(s != nullptr);
                CORRO_REQUIRE(saying.empty() || co_await s->write(saying));
                EXPECT_FALSE(co_await s->next()) << "saying of " << saying.size() << " bytes";
            }
        }
        EXPECT_EQ(x->ports.statistics().protocol_errors, 2 * sayings.size());
        EXPECT_EQ(x->ports.statistics().logins, 1U);
        for (std::uint64_t i = 1; i < x->feed.next_sequence(); ++i) CORRO_REQUIRE(co_await bystander->next_change());
    });
}

// Random bytes after a valid login, on both ports, while another subscriber follows.
io::task<> subscribers_talk_nonsense(test_exchange* x, std::uint64_t seed) {
    base::prng random(seed);
    const subscriber_pointer bystander = co_await subscribe(x, 1);
    CORRO_REQUIRE(bystander != nullptr);
    for (int round = 0; round < 200; ++round) {
        const subscriber_pointer s =
            co_await raw_subscriber::connect(random.below(2) == 0 ? x->feed_port : x->snapshot_port);
        CORRO_REQUIRE(s != nullptr && co_await s->log_in(random.below(2)));
        std::vector<std::byte> nonsense(1 + random.below(600));
        for (std::byte& b : nonsense) b = static_cast<std::byte>(random());
        if (random.below(2) == 0) nonsense[0] = std::byte{0};  // lengths that could be true
        static_cast<void>(co_await s->write(std::move(nonsense)));
        x->trade(1);
        if (random.below(2) == 0) static_cast<void>(co_await s->next());
    }
    for (std::uint64_t i = 1; i < x->feed.next_sequence(); ++i) CORRO_REQUIRE(co_await bystander->next_change());
    EXPECT_GT(x->ports.statistics().protocol_errors, 0U);
}

TEST(subscriber_server, ends_a_subscriber_that_says_something_else_after_its_login_and_no_other) {
    test_exchange exchange(base::test_seed());
    const std::uint64_t seed = base::test_seed();
    exchange.run([seed](test_exchange* x) { return subscribers_talk_nonsense(x, seed); });
}

/// Idle connections. They are made while the venue's loop does not run, so that all of them wait to be accepted at
/// once.
struct silent_crowd {
    silent_crowd(const io::endpoint& port, int count) {
        for (int i = 0; i < count; ++i) {
            auto stream = io::block_on(context, io::tcp_stream::connect(context, port));
            EXPECT_TRUE(stream);
            if (stream) streams.push_back(std::move(*stream));
        }
    }
    io::context context;
    std::vector<io::tcp_stream> streams;
};

TEST(subscriber_server, N5_turns_out_the_oldest_who_has_not_logged_in_and_no_subscriber) {
    testing::test_feed_options options;
    options.subscribers_max = options.subscribers_per_address_max = 3;
    test_exchange exchange(base::test_seed(), options);
    exchange.run([](test_exchange* x) -> io::task<> {
        const subscriber_pointer first = co_await subscribe(x, 0);
        CORRO_REQUIRE(first != nullptr);
        // Not in the coroutine's frame, which lacks the alignment.
        const auto crowd = std::make_unique<silent_crowd>(x->feed_port, 30);
        while (x->ports.statistics().evicted < 28) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        while (x->ports.statistics().subscribers_now > 3) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        EXPECT_EQ(x->ports.statistics().connections_refused, 0U);
        const subscriber_pointer second = co_await subscribe(x, 0);
        EXPECT_NE(second, nullptr) << "a newcomer finds a place";
        const subscriber_pointer third = co_await subscribe(x, 0);
        EXPECT_NE(third, nullptr);
        // Now all connections have logged in.
        const auto late = std::make_unique<silent_crowd>(x->feed_port, 5);
        while (x->ports.statistics().connections_refused < 5) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        x->trade(50);
        const auto news = co_await first->next_change();
        EXPECT_TRUE(news && news->type == soup::packet_type::sequenced_data);
    });
}

TEST(subscriber_server, N6_one_address_has_no_more_subscribers_and_snapshots_than_its_part) {
    testing::test_feed_options options;
    options.subscribers_per_address_max = 2;
    options.snapshots_per_address_max = 1;
    test_exchange exchange(base::test_seed(), options, 200'000);
    exchange.run([](test_exchange* x) -> io::task<> {
        x->fill(150'000);  // more than the kernel's buffers take
        const subscriber_pointer deaf = co_await raw_subscriber::connect(x->snapshot_port);
        CORRO_REQUIRE(deaf != nullptr && co_await deaf->log_in(1));
        const subscriber_pointer other = co_await raw_subscriber::connect(x->snapshot_port);
        CORRO_REQUIRE(other != nullptr);
        EXPECT_TRUE(co_await other->is_rejected(1)) << "there is one already";
        other->stream.close();
        while (x->ports.statistics().subscribers_now > 1) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        const subscriber_pointer follower = co_await subscribe(x, 0);
        CORRO_REQUIRE(follower != nullptr);
        const auto late = std::make_unique<silent_crowd>(x->feed_port, 1);
        while (x->ports.statistics().connections_refused < 1) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
    });
}

io::task<> take_snapshots(test_exchange* x, int count) {
    for (int i = 0; i < count; ++i) {
        x->trade(20);
        follower f;
        CORRO_REQUIRE(co_await take_snapshot(x, &f));
        // The feed continues from the snapshot, whatever its age.
        const subscriber_pointer s = co_await subscribe(x, f.last_sequence + 1);
        CORRO_REQUIRE(s != nullptr);
        CORRO_REQUIRE(co_await f.follow(s.get(), x->feed.next_sequence() - 1));
        EXPECT_EQ(f.difference(*x), "");
    }
    EXPECT_EQ(x->ports.statistics().snapshots, static_cast<std::uint64_t>(count));
}

TEST(subscriber_server, N6_no_more_snapshots_are_made_in_a_window_however_many_ask) {
    for (const int count : {5, 10, 20}) {
        testing::test_feed_options options;
        options.snapshots_made_max = 2;
        options.snapshots_window = 1h;
        test_exchange exchange(base::test_seed(), options);
        exchange.run([count](test_exchange* x) { return take_snapshots(x, count); });
        EXPECT_EQ(exchange.ports.statistics().snapshots_made, 2U) << count << " snapshots sent";
    }
}

// --- Staying alive, being slow, leaving
// --------------------------------------------------------------------------------

TEST(subscriber_server, says_heartbeats_when_there_is_no_news_and_wants_to_hear_some) {
    testing::test_feed_options options;
    options.heartbeat_interval = 50ms;
    options.silence_max = 400ms;
    test_exchange exchange(base::test_seed(), options);
    exchange.run([](test_exchange* x) -> io::task<> {
        const subscriber_pointer talking = co_await subscribe(x, 0);
        const subscriber_pointer silent = co_await subscribe(x, 0);
        CORRO_REQUIRE(talking != nullptr && silent != nullptr);
        const auto begin = std::chrono::steady_clock::now();
        std::uint32_t beats = 0;
        while (x->ports.statistics().silent_cut == 0) {
            const auto beat = co_await talking->next();
            CORRO_REQUIRE(beat && beat->type == soup::packet_type::server_heartbeat);
            ++beats;
            CORRO_REQUIRE(co_await talking->write(raw_subscriber::packet(soup::packet_type::client_heartbeat)));
        }
        EXPECT_GE(std::chrono::steady_clock::now() - begin, 350ms);
        EXPECT_GE(beats, 4U);
        EXPECT_TRUE(co_await silent->is_cut());
        EXPECT_EQ(x->ports.statistics().silent_cut, 1U);
        EXPECT_EQ(x->ports.statistics().subscribers_now, 1U);
        x->trade(50);
        const auto news = co_await talking->next_change();
        EXPECT_TRUE(news && news->type == soup::packet_type::sequenced_data);
    });
}

TEST(subscriber_server, cuts_off_a_subscriber_that_does_not_read_and_slows_nobody) {
    testing::test_feed_options options;
    options.feed_log_bytes = feed_log_bytes_min;
    test_exchange exchange(base::test_seed(), options);
    exchange.run([](test_exchange* x) -> io::task<> {
        const subscriber_pointer deaf = co_await subscribe(x, 0);
        const subscriber_pointer quick = co_await subscribe(x, 0);
        CORRO_REQUIRE(deaf != nullptr && quick != nullptr);
        follower f(x->instruments());
        // The kernel's buffers hold bytes in addition to the log.
        for (int i = 0; x->ports.statistics().slow_cut == 0; ++i) {
            CORRO_REQUIRE(i < 5'000);
            x->trade(100);
            CORRO_REQUIRE(co_await f.follow(quick.get(), x->feed.next_sequence() - 1));
        }
        EXPECT_EQ(f.difference(*x), "");
        EXPECT_EQ(x->ports.statistics().slow_cut, 1U);
        while (x->ports.statistics().subscribers_now > 1) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        // The remaining messages have no gap; then the connection ends.
        std::uint64_t read = 0;
        while (co_await deaf->next_change()) ++read;
        EXPECT_GT(read, 0U);
        EXPECT_LT(read, x->feed.next_sequence() - 1);
    });
}

TEST(subscriber_server, cuts_off_who_waits_when_one_turn_adds_more_than_the_log_has_room_for) {
    testing::test_feed_options options;
    options.feed_log_bytes = feed_log_bytes_min;
    test_exchange exchange(base::test_seed(), options);
    exchange.run([](test_exchange* x) -> io::task<> {
        const subscriber_pointer waiting = co_await subscribe(x, 0);
        CORRO_REQUIRE(waiting != nullptr);
        const std::uint64_t begin = x->feed.log().end_position();
        // It has everything, so that no flush finds it slow; then its connection is full, and it is a whole log behind.
        EXPECT_FALSE(waiting->stream.set_option(io::receive_buffer(4'096)));
        while (x->feed.log().end_position() - begin < 8 * x->feed.log().capacity_bytes()) x->execute(10'000);
        x->feed.flush();
        CORRO_REQUIRE(!x->feed.log().has(begin));
        EXPECT_EQ(x->ports.statistics().slow_cut, 0U);
        while (x->ports.statistics().subscribers_now != 0) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        EXPECT_EQ(x->ports.statistics().slow_cut, 1U);
        // The others go on.
        const subscriber_pointer next = co_await subscribe(x, 0);
        CORRO_REQUIRE(next != nullptr);
        x->trade(1'000);
        const auto news = co_await next->next_change();
        EXPECT_TRUE(news && news->type == soup::packet_type::sequenced_data);
    });
}

TEST(subscriber_server, gives_the_place_of_a_snapshot_that_nobody_reads_to_others) {
    testing::test_feed_options options;
    options.snapshots_max = 2;
    options.snapshot_timeout = 300ms;
    test_exchange exchange(base::test_seed(), options, 200'000);
    exchange.run([](test_exchange* x) -> io::task<> {
        x->fill(150'000);  // more than the kernel's buffers take
        std::vector<subscriber_pointer> deaf;
        for (int i = 0; i < 2; ++i) {
            deaf.push_back(co_await raw_subscriber::connect(x->snapshot_port));
            CORRO_REQUIRE(deaf.back() != nullptr && co_await deaf.back()->log_in(1));
        }
        const subscriber_pointer third = co_await raw_subscriber::connect(x->snapshot_port);
        CORRO_REQUIRE(third != nullptr);
        EXPECT_TRUE(co_await third->is_rejected(1)) << "there are two already";
        while (x->ports.statistics().subscribers_now > 0) CORRO_REQUIRE(!co_await io::sleep_for(5ms));
        EXPECT_EQ(x->ports.statistics().slow_cut, 2U);
        // On a busy machine a snapshot that is read may take longer than the limit, too.
        for (bool is_whole = false; !is_whole;) {
            follower f;
            is_whole = co_await take_snapshot(x, &f);
            if (is_whole) {
                EXPECT_EQ(f.difference(*x), "");
            }
            CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        }
        follower of_a_part;
        while (const auto packet = co_await deaf.front()->next()) {
            EXPECT_EQ(packet->type, soup::packet_type::sequenced_data) << "a part does not end like a whole";
        }
    });
}

TEST(subscriber_server, lets_subscribers_go_who_ask_for_it) {
    test_exchange exchange(base::test_seed());
    exchange.run([](test_exchange* x) -> io::task<> {
        const subscriber_pointer s = co_await subscribe(x, 0);
        CORRO_REQUIRE(s != nullptr);
        CORRO_REQUIRE(co_await s->write(raw_subscriber::packet(soup::packet_type::logout_request)));
        EXPECT_TRUE(co_await s->is_cut());
        s->stream.close();
        while (x->ports.statistics().subscribers_now > 0) CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        EXPECT_EQ(x->ports.statistics().protocol_errors, 0U);
    });
}

TEST(subscriber_server, ends_the_session_behind_the_last_message_when_it_closes) {
    test_exchange exchange(base::test_seed());
    exchange.run([](test_exchange* x) -> io::task<> {
        // One has read everything, the other nothing of the last messages.
        const subscriber_pointer current = co_await subscribe(x, 0);
        CORRO_REQUIRE(current != nullptr);
        x->trade(100);
        const std::uint64_t read_before = x->feed.next_sequence() - 1;
        for (std::uint64_t i = 0; i < read_before; ++i) CORRO_REQUIRE(co_await current->next_change());
        const subscriber_pointer behind = co_await subscribe(x, 1);
        CORRO_REQUIRE(behind != nullptr);
        while (x->feed.statistics().bytes < 8U * 1024 * 1024) x->trade(100);
        const std::uint64_t count = x->feed.next_sequence() - 1;
        x->feed.close();
        const auto reads_all = [](raw_subscriber* from, std::uint64_t expected) -> io::task<> {
            std::uint64_t read = 0;
            while (const auto packet = co_await from->next_change()) {
                if (packet->type == soup::packet_type::end_of_session) {
                    EXPECT_EQ(read, expected);
                    EXPECT_TRUE(co_await from->is_cut());
                    from->stream.close();
                    co_return;
                }
                ++read;
            }
            ADD_FAILURE() << "the session was not ended after " << read << " of " << expected << " messages";
        };
        io::task_scope reading(x->context);
        reading.spawn(reads_all(current.get(), count - read_before));
        reading.spawn(reads_all(behind.get(), count));
        co_await reading.join();
    });
}

}  // namespace
}  // namespace corro::market_data
