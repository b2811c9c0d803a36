// Kills a venue of two segments (kill -9) repeatedly under load (D1). Nothing acknowledged is lost, nothing happens
// twice, no request stays in doubt, and every session keeps its one sequence of answers.
//
// CORRO_CRASHES sets the number of crashes, CORRO_SEED the first seed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../system/venue_modes.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "domain/private_event.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "journal/segment_format.hpp"
#include "segmented_venue.hpp"
#include "segments_process.hpp"
#include "survivors.hpp"

namespace corro {
namespace {

using testing::two_segments;

using report = testing::segments_report;
using venue_process = testing::segments_process;

/// A trader that survives the crashes. It stores all unanswered requests.
struct survivor {
    std::unique_ptr<client::order_session> session;
    std::unique_ptr<client::trader> trader;
    std::map<std::uint32_t, domain::command> outstanding;
    std::uint32_t last_answered = 0;
};

struct market {
    explicit market(std::uint64_t with_seed) : random(with_seed), seed(with_seed) {}

    io::context context;
    base::prng random;
    std::uint64_t seed;
    std::vector<survivor> traders = std::vector<survivor>(4);
    std::uint64_t lost_count = 0;  ///< requests that the venue reports as lost
    bool stopping = false;
    std::string failure;

    void fail(const std::string& what) {
        if (failure.empty()) failure = what;
    }
};

io::task<bool> come(market* m, survivor* s, std::uint32_t index, io::endpoint venue) {
    if (s->session != nullptr) {
        const std::error_code error = co_await s->session->reconnect(venue);
        if (error && testing::is_broken_connection(error)) co_return false;
        if (error) m->fail("a session cannot go on: " + error.message());
        if (!error && !s->session->resend_not_accepted()) m->fail("requests that were not taken are no longer kept");
        co_return m->failure.empty();
    }
    client::credentials credentials = testing::who(1 + index % 2, 1 + index / 2);
    credentials.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue, credentials);
    if (!session) {
        if (!testing::is_broken_connection(session.error())) m->fail("logon: " + session.error().message());
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

// A request that a crash lost has no effect. The trader treats it as refused.
void take_loss(market* m, survivor* s, std::uint32_t request) {
    const auto at = s->outstanding.find(request);
    if (at == s->outstanding.end()) return m->fail("a request is said to be lost that was answered");
    domain::event refusal;
    refusal.kind = domain::event_kind::order_rejected;
    refusal.flags = domain::event_flag::last_of_request;
    refusal.order.client_order = at->second.client_order;
    refusal.order.request = request;
    static_cast<void>(s->trader->on_event(refusal));
    s->outstanding.erase(at);
    ++m->lost_count;
}

/// Returns the request that an event completes. A fill names only its order.
std::uint32_t request_of(const survivor& s, const domain::event& e) {
    const std::uint32_t said = domain::request_of(e);
    if (said != 0) return said;
    const bool is_fill = e.kind == domain::event_kind::order_executed;
    const domain::client_order_id name = is_fill ? e.execution.client_order : e.order.client_order;
    for (const auto& [request, what] : s.outstanding) {
        if (what.client_order == name) return request;
    }
    return 0;
}

/// Takes the answers that have arrived. False if the session has ended.
bool take_answers(market* m, survivor* s) {
    while (true) {
        const auto answer = s->session->poll();
        if (!answer) {
            m->fail("answers: " + answer.error().message());
            return false;
        }
        if (!*answer) return true;
        if ((*answer)->gap) m->fail("answers are missing");
        if ((*answer)->reject) m->fail("a request was refused");
        if ((*answer)->event.reason == domain::reject_reason::request_lost) {
            take_loss(m, s, domain::request_of((*answer)->event));
            continue;
        }
        if (!s->trader->on_event((*answer)->event)) continue;
        if (s->outstanding.empty()) {
            m->fail("more answers than requests");
            continue;
        }
        const std::uint32_t request = request_of(*s, (*answer)->event);
        // Lost requests are refused after the answers of the others.
        if (request <= s->last_answered) m->fail("answers come in another order than requests");
        s->last_answered = request;
        if (s->outstanding.erase(request) != 1) m->fail("an answer to no request");
    }
}

io::task<void> trade(market* m, std::uint32_t index, io::endpoint venue) {
    survivor& s = m->traders[index];
    const bool there = co_await come(m, &s, index, venue);
    if (!there) co_return;
    while (take_answers(m, &s) && m->failure.empty() && (!m->stopping || !s.outstanding.empty())) {
        while (!m->stopping && s.outstanding.size() < testing::outstanding_max) {
            const domain::command what = s.trader->next_request();
            const std::uint32_t request = s.session->send(what);
            if (request == 0) m->fail("the output buffer is full");
            s.outstanding.emplace(request, what);
        }
        const std::error_code written = co_await s.session->flush();
        if (written) co_return;
        const std::error_code read = co_await s.session->fill();
        if (read) co_return;
    }
}

io::task<void> until_killed(market* m, venue_process* venue, std::uint64_t microseconds_max) {
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(trade(m, i, venue->order_entry()));
    static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(500 + m->random.below(microseconds_max))));
    venue->kill();
    co_await clients.join();
}

/// Reads messages that others' requests have caused, up to the answer to a test message.
io::task<void> catch_up(market* m, survivor* s) {
    static_cast<void>(s->session->send_test(4711));
    while (s->session->last_echo() != 4711 && m->failure.empty()) {
        const std::error_code written = co_await s->session->flush();
        const std::error_code read = co_await s->session->fill();
        if (written || read || !take_answers(m, s)) co_return m->fail("a session ended before its test was answered");
    }
}

/// Waits for all answers, and compares the state of clients and venue.
io::task<void> settle(market* m, venue_process* venue) {
    m->stopping = true;
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(trade(m, i, venue->order_entry()));
    co_await clients.join();
    for (survivor& s : m->traders) {
        if (m->failure.empty()) co_await catch_up(m, &s);
    }
    std::size_t orders_count = 0;
    for (std::size_t k = 0; k < 2; ++k) {
        const auto truth =
            co_await client::feed_session::fetch_snapshot(io::endpoint::loopback(venue->at_start().snapshot_port[k]));
        if (!truth) co_return m->fail("snapshot: " + truth.error().message());
        orders_count += truth->book(domain::instrument_id{static_cast<std::uint32_t>(k + 1)})->orders_count();
    }
    std::size_t known_count = 0;
    for (const survivor& s : m->traders) known_count += s.trader->open_orders_count();
    EXPECT_EQ(known_count, orders_count) << "clients and venue agree on which orders are open";
}

class segments_crash : public ::testing::TestWithParam<testing::venue_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, segments_crash, ::testing::ValuesIn(testing::lasting_modes()), testing::name_of_mode());

std::size_t remove_snapshots(const node::configuration& c) {
    std::size_t count = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(c.journal_directory)) {
        if (each.path().extension() == ".snapshot" && std::filesystem::remove(each.path())) ++count;
    }
    return count;
}

void expect_the_same(const report& found, const report& expected) {
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(found.commands_count[k], expected.commands_count[k]);
        EXPECT_EQ(found.state_hash[k], expected.state_hash[k]) << "a replay ends where the venue ended";
        EXPECT_EQ(found.feed_messages[k], expected.feed_messages[k]);
    }
}

/// Checks that a killed venue can start from the second newest moment, if there is one.
void expect_start_from_the_moment_before(node::configuration c, const std::string& directory) {
    std::filesystem::remove_all(directory);
    std::filesystem::copy(c.journal_directory, directory, std::filesystem::copy_options::recursive);
    c.journal_directory = directory;
    std::set<std::filesystem::path> moments;
    for (const auto& each : std::filesystem::directory_iterator(directory + "/FIRST")) {
        if (each.path().extension() == ".snapshot") moments.insert(each.path());
    }
    if (moments.size() < 2) return;
    std::filesystem::remove(*moments.rbegin());
    EXPECT_TRUE(venue_process(c).at_start().sound) << "the older moment that is kept has its files too";
}

/// Crashes a venue repeatedly and then compares the state of venue and clients.
/// @param journal_is_whole  No file was removed, so a replay can start at the first command.
void crash_and_recover(const node::configuration& c, int crashes, std::uint64_t microseconds_max,
                       bool journal_is_whole) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    market m(seed);
    for (int i = 0; i < crashes && m.failure.empty(); ++i) {
        venue_process venue(c);
        ASSERT_TRUE(venue.at_start().sound) << "after crash " << i;
        io::block_on(m.context, until_killed(&m, &venue, microseconds_max));
        ASSERT_EQ(m.failure, "") << "after crash " << i;
        // A run without clients.
        if (i % 2 == 1) {
            venue_process alone(c);
            ASSERT_TRUE(alone.at_start().sound) << "after crash " << i;
            ::usleep(static_cast<useconds_t>(m.random.below(20'000)));
        }
        if (!journal_is_whole) expect_start_from_the_moment_before(c, c.journal_directory + ".before");
    }
    venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    io::block_on(m.context, settle(&m, &venue));
    ASSERT_EQ(m.failure, "");
    std::uint64_t requests_count = 0;
    for (survivor& s : m.traders) {
        EXPECT_TRUE(s.outstanding.empty()) << "a request is in doubt";
        requests_count += s.trader->statistics().requests;
        s.session->abandon();
    }
    const report last = venue.close();
    EXPECT_EQ(last.commands_count[0] + last.commands_count[1], requests_count)
        << "every request, or the refusal of a lost one, stands in one journal once";
    if (journal_is_whole) {
        EXPECT_GT(remove_snapshots(c), 1U);
        expect_the_same(venue_process(c).at_start(), last);
    } else {
        // The number of runs that are long enough to remove files depends on the machine.
        const bool any_gone = !std::filesystem::exists(c.journal_directory + "/FIRST/" + journal::segment_name(1));
        std::printf("files of the journal were let go: %s\n", any_gone ? "yes" : "no");
        expect_the_same(venue_process(c).at_start(), last);
    }
    std::printf("%d crashes, %llu and %llu commands, %llu requests lost unacknowledged\n", crashes,
                static_cast<unsigned long long>(last.commands_count[0]),
                static_cast<unsigned long long>(last.commands_count[1]), static_cast<unsigned long long>(m.lost_count));
}

int crashes_wanted(int otherwise) {
    const char* given = std::getenv("CORRO_CRASHES");
    return given != nullptr ? std::atoi(given) : otherwise;
}

TEST_P(segments_crash, loses_nothing_that_was_acknowledged_and_leaves_nothing_in_doubt) {
    const base::test_folder directory;
    const node::configuration c = two_segments(GetParam().threading, directory.path(), GetParam().durability);
    crash_and_recover(c, crashes_wanted(6), 60'000, true);
}

// The runs are so long, and snapshots so frequent, that most crashes happen during a snapshot.
TEST_P(segments_crash, in_the_middle_of_a_snapshot_loses_nothing_either) {
    const base::test_folder directory;
    node::configuration c = two_segments(GetParam().threading, directory.path(), GetParam().durability);
    c.snapshot_every = 20;
    crash_and_recover(c, crashes_wanted(5), 300'000, true);
}

// The venue keeps so few snapshots and files that the test would notice a missing one.
TEST_P(segments_crash, while_files_of_the_journals_go_loses_nothing_either) {
    const base::test_folder directory;
    node::configuration c = two_segments(GetParam().threading, directory.path(), GetParam().durability);
    c.snapshot_every = 20;
    c.snapshots_kept = 2;
    c.journal_segment_bytes = 16U * 1024;
    c.journal_segments_kept = 0;
    crash_and_recover(c, crashes_wanted(5), 300'000, false);
}

}  // namespace
}  // namespace corro
