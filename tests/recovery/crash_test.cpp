// kill -9 at random moments under load, again and again: nothing that was acknowledged is lost, nothing happens twice,
// sessions go on with their numbers, and the feed goes on without a gap (D1, D7, O1).
//
// CORRO_CRASHES says how often, CORRO_SEED from which seed; tools/crash runs the long form.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../system/exchange_under_test.hpp"
#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "io/block_on.hpp"
#include "io/context.hpp"
#include "io/errors.hpp"
#include "io/scope.hpp"
#include "io/timer.hpp"
#include "venue_process.hpp"

namespace corro {
namespace {

using testing::venue_process;

int crashes_wanted(int otherwise) {
    const char* given = std::getenv("CORRO_CRASHES");
    return given != nullptr ? std::atoi(given) : otherwise;
}

/// A directory of the test's own, gone afterwards.
class scratch {
 public:
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "corro-crash-XXXXXX").string();
        EXPECT_NE(::mkdtemp(name.data()), nullptr);
        path_ = name;
    }
    ~scratch() { std::filesystem::remove_all(path_); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

 private:
    std::filesystem::path path_;
};

constexpr std::size_t outstanding_max = 16;

/// A trader who outlives the venue's crashes, and what he knows.
struct survivor {
    std::unique_ptr<client::order_session> session;
    std::unique_ptr<client::trader> trader;
};

/// One market: the survivors and a subscriber of the feed.
struct market {
    explicit market(std::uint64_t with_seed) : random(with_seed), seed(with_seed) {}

    io::context context;
    base::prng random;
    std::uint64_t seed;
    std::vector<survivor> traders = std::vector<survivor>(4);
    std::unique_ptr<client::feed_session> feed;
    bool stopping = false;  ///< no new requests; what is under way is waited for
    std::string failure;    ///< the first thing that must not happen
    bool lost = false;      ///< a client knows more than the venue: something acknowledged is gone

    void fail(const std::string& what) {
        if (failure.empty()) failure = what;
    }
};

/// Whether an error says that the connection broke, which is what a crash does, and not that the venue refuses.
bool is_broken_connection(const std::error_code& error) {
    return error.category() == std::system_category() || error.category() == std::generic_category() ||
           error == io::condition::end_of_stream;
}

io::task<bool> come(market* m, survivor* s, std::uint32_t index, io::endpoint venue) {
    if (s->session != nullptr) {
        const std::error_code error = co_await s->session->reconnect(venue);
        if (error && is_broken_connection(error)) co_return false;
        if (error == client::logged_out(wire::logout_reason::sequence_unknown)) m->lost = true;
        if (error) m->fail("a session cannot go on: " + error.message());
        if (!error && !s->session->resend_untaken()) m->fail("requests that were not taken are no longer kept");
        co_return m->failure.empty();
    }
    client::credentials who = testing::who(1 + index % 2, 1 + index / 2);
    who.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue, who);
    if (!session) {
        if (!is_broken_connection(session.error())) m->fail("logon: " + session.error().message());
        co_return false;
    }
    s->session = std::move(*session);
    std::vector<domain::instrument> instruments;
    s->session->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    const std::vector<domain::price_ticks> middles(2, domain::price_ticks{9'000});
    s->trader = std::make_unique<client::trader>(client::trader_options(), instruments, middles,
                                                 1 + index * 1'000'000'000ULL, m->seed + index);
    co_return true;
}

/// Takes the answers that are there. False: the session is over.
bool take_answers(market* m, survivor* s) {
    while (true) {
        const auto answer = s->session->poll();
        if (!answer) {
            m->fail("answers: " + answer.error().message());
            return false;
        }
        if (!*answer) return true;
        if ((*answer)->reject || (*answer)->gap) m->fail("a request was refused, or answers are missing");
        static_cast<void>(s->trader->on_event((*answer)->event));
    }
}

/// Trades until the venue is gone, or until everything is answered when the market stops.
io::task<void> trade(market* m, std::uint32_t index, io::endpoint venue) {
    survivor& s = m->traders[index];
    const bool there = co_await come(m, &s, index, venue);
    if (!there) co_return;
    // Answers may have come together with the welcome.
    while (take_answers(m, &s) && (!m->stopping || s.trader->outstanding_count() != 0)) {
        while (!m->stopping && s.trader->outstanding_count() < outstanding_max) {
            if (s.session->send(s.trader->next_request()) == 0) m->fail("the output buffer is full");
        }
        const std::error_code written = co_await s.session->flush();
        if (written) co_return;
        const std::error_code read = co_await s.session->fill();
        if (read) co_return;
    }
}

/// Reads what others' requests have caused, up to the answer to a test.
io::task<void> catch_up(market* m, survivor* s) {
    static_cast<void>(s->session->send_test(4711));
    while (s->session->last_echo() != 4711 && m->failure.empty()) {
        const std::error_code written = co_await s->session->flush();
        const std::error_code read = co_await s->session->fill();
        if (written || read || !take_answers(m, s)) co_return m->fail("a session ended before its test was answered");
    }
}

io::task<void> follow(market* m, io::endpoint feed, io::endpoint snapshots) {
    if (m->feed == nullptr) {
        auto joined = co_await client::feed_session::join(feed, snapshots);
        if (!joined) {
            if (!is_broken_connection(joined.error())) m->fail("feed: " + joined.error().message());
            co_return;
        }
        m->feed = std::move(*joined);
    } else {
        const std::error_code error = co_await m->feed->resume(feed);
        if (error && is_broken_connection(error)) co_return;
        if (error) co_return m->fail("the feed has a gap: " + error.message());
    }
    while (true) {
        const auto event = m->feed->poll();
        if (!event) co_return m->fail("the feed contradicts itself: " + event.error().message());
        if (*event) continue;
        const std::error_code read = co_await m->feed->fill();
        if (read) co_return;
    }
}

/// Trades against the venue and kills it after a while.
io::task<void> until_killed(market* m, venue_process* venue) {
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(trade(m, i, venue->order_entry()));
    clients.spawn(follow(m, venue->feed(), venue->snapshots()));
    static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(500 + m->random.below(40'000))));
    venue->kill();
    co_await clients.join();
}

/// Lets everything be answered and read, and compares what the clients and the venue hold.
io::task<void> settle(market* m, venue_process* venue) {
    m->stopping = true;
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(trade(m, i, venue->order_entry()));
    io::task_scope following(m->context);
    following.spawn(follow(m, venue->feed(), venue->snapshots()));
    co_await clients.join();
    for (survivor& s : m->traders) {
        if (m->failure.empty()) co_await catch_up(m, &s);
    }
    const auto truth = co_await client::feed_session::fetch_snapshot(venue->snapshots());
    if (!truth) m->fail("snapshot: " + truth.error().message());
    for (int i = 0; truth && m->failure.empty() && m->feed->next_sequence() < truth->next_sequence() && i < 5'000; ++i)
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    following.request_stop();
    co_await following.join();
    if (!m->failure.empty()) co_return;
    std::size_t orders_count = 0;
    for (const std::uint32_t id : {1U, 2U}) {
        const auto* ours = m->feed->book(domain::instrument_id{id});
        const auto* venues = truth->book(domain::instrument_id{id});
        EXPECT_EQ(ours->digest(), venues->digest()) << "the book that followed every crash is the venue's";
        orders_count += venues->orders_count();
    }
    std::size_t known_count = 0;
    for (const survivor& s : m->traders) known_count += s.trader->open_orders_count();
    EXPECT_EQ(known_count, orders_count) << "clients and venue agree on which orders are open";
}

node::configuration crash_venue(const std::string& directory, node::threading_mode threading,
                                journal::durability durability) {
    node::configuration c = testing::small_venue(threading);
    c.journal_directory = directory + "/journal";
    c.durability = durability;
    c.journal_segment_bytes = 512U * 1024;
    return c;
}

struct mode {
    node::threading_mode threading;
    journal::durability durability;
};
class crash : public ::testing::TestWithParam<mode> {};
INSTANTIATE_TEST_SUITE_P(modes, crash,
                         ::testing::Values(mode{node::threading_mode::inline_, journal::durability::async},
                                           mode{node::threading_mode::inline_, journal::durability::group},
                                           mode{node::threading_mode::inline_, journal::durability::each},
                                           mode{node::threading_mode::split, journal::durability::async},
                                           mode{node::threading_mode::split, journal::durability::group},
                                           mode{node::threading_mode::split, journal::durability::each}),
                         [](const auto& m) {
                             return testing::name_of(m.param.threading) + "_" +
                                    std::string(journal::name_of(m.param.durability));
                         });

TEST_P(crash, loses_nothing_that_was_acknowledged_and_does_nothing_twice) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const scratch directory;
    const node::configuration c = crash_venue(directory.path(), GetParam().threading, GetParam().durability);
    market m(seed);
    std::uint64_t commands_before = 0;
    const int crashes = crashes_wanted(4);
    for (int i = 0; i < crashes && m.failure.empty(); ++i) {
        venue_process venue(c);
        ASSERT_TRUE(venue.at_start().sound) << "after crash " << i;
        EXPECT_GE(venue.at_start().commands_count, commands_before);
        commands_before = venue.at_start().commands_count;
        io::block_on(m.context, until_killed(&m, &venue));
        ASSERT_EQ(m.failure, "") << "after crash " << i;
    }
    venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    io::block_on(m.context, settle(&m, &venue));
    ASSERT_EQ(m.failure, "");
    std::uint64_t requests_count = 0;
    for (survivor& s : m.traders) {
        EXPECT_EQ(s.trader->outstanding_count(), 0U);
        requests_count += s.trader->statistics().requests;
        s.session->abandon();
    }
    m.feed->abandon();
    const venue_process::report last = venue.close();
    EXPECT_EQ(last.commands_count, requests_count) << "every request of the clients stands in the journal once";
    for (const auto& each : std::filesystem::directory_iterator(c.journal_directory)) {
        if (each.path().extension() == ".snapshot") std::filesystem::remove(each.path());
    }
    venue_process reference(c);
    EXPECT_EQ(reference.at_start().commands_count, last.commands_count);
    EXPECT_EQ(reference.at_start().state_hash, last.state_hash) << "a replay ends where the venue ended";
    EXPECT_EQ(reference.at_start().feed_messages, last.feed_messages);
    std::printf("%d crashes, %llu commands, %llu feed messages\n", crashes,
                static_cast<unsigned long long>(last.commands_count),
                static_cast<unsigned long long>(last.feed_messages));
}

// The control: the mode that promises nothing does lose, so that the test above would notice.
TEST(crash_control, without_durability_something_acknowledged_is_lost_sooner_or_later) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    for (std::uint64_t attempt = 0; attempt < 200; ++attempt) {
        const scratch directory;
        const node::configuration c =
            crash_venue(directory.path(), node::threading_mode::inline_, journal::durability::none);
        market m(seed + attempt);
        for (int i = 0; i < 2 && m.failure.empty(); ++i) {
            venue_process venue(c);
            ASSERT_TRUE(venue.at_start().sound);
            io::block_on(m.context, until_killed(&m, &venue));
        }
        const bool lost = m.lost || m.failure.starts_with("the feed has a gap");
        for (survivor& s : m.traders) {
            if (s.session != nullptr) s.session->abandon();
        }
        if (m.feed != nullptr) m.feed->abandon();
        if (lost) return;
        EXPECT_EQ(m.failure, "");
    }
    FAIL() << "200 crashes lost nothing";
}

}  // namespace
}  // namespace corro
