// SPDX-License-Identifier: Apache-2.0
// An exchange ends and starts again on its journal: the same books, the same numbers, nothing lost.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/segment_format.hpp"
#include "lasting_client_fixture.hpp"
#include "node/venue/venue_fixture.hpp"
#include "venue_modes_fixture.hpp"

namespace corro {
namespace {

using testing::all_modes;
using testing::lasting_client;
using testing::name_of_mode;
using testing::venue_mode;

/// Sends requests and reads the answers of all but the last few.
io::task<void> send_requests(lasting_client* c, int requests_count) {
    for (int i = 0; i < requests_count; ++i) {
        CORRO_REQUIRE(c->session->send(c->trader->next_request()) != 0);
        while (c->trader->outstanding_count() > 8) {
            const auto answer = co_await c->session->next();
            CORRO_REQUIRE(answer && !answer->reject && !answer->gap);
            static_cast<void>(c->trader->on_event(answer->event));
        }
    }
}

/// One run of the exchange: the client logs on or reconnects, sends `requests_count` requests and reads the answers of
/// all but the last few. Then the exchange closes.
io::task<void> trade(node::venue* exchange, lasting_client* c, std::uint64_t seed, int requests_count) {
    co_await come(c, exchange->order_entry_endpoint(), seed);
    CORRO_REQUIRE(c->trader != nullptr);
    co_await send_requests(c, requests_count);
}

io::task<void> live(io::context* context, node::venue* exchange, lasting_client* c, std::uint64_t seed, int count) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    co_await trade(exchange, c, seed, count);
    if (count == 0) {  // the last run: everything is answered
        while (c->trader->outstanding_count() != 0) {
            const auto answer = co_await c->session->next();
            if (!answer) break;
            static_cast<void>(c->trader->on_event(answer->event));
        }
    }
    exchange->close();
    if (c->session != nullptr) c->session->abandon();
    co_await serving.join();
}

class restart : public ::testing::TestWithParam<venue_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, restart, ::testing::ValuesIn(all_modes()), name_of_mode());

node::configuration venue_with_journal(const std::string& directory, const venue_mode& m) {
    node::configuration c = testing::small_venue(m.threading);
    c.journal_directory = directory;
    c.durability = m.durability;
    c.journal_segment_bytes = 256U * 1024;
    return c;
}

/// Returns the snapshots beside a journal, oldest first.
std::vector<std::filesystem::path> snapshots_in(const std::string& journal) {
    std::vector<std::filesystem::path> found;
    if (!std::filesystem::exists(journal)) return found;
    for (const auto& each : std::filesystem::directory_iterator(journal)) {
        if (each.path().extension() == ".snapshot") found.push_back(each.path());
    }
    std::ranges::sort(found);
    return found;
}

/// The state of a venue that clients can see, in numbers.
struct venue_numbers {
    explicit venue_numbers(const node::venue& e)
        : hash(e.state_hash()), commands_count(e.commands_count()), feed_next(e.feed_next_sequence()) {
        for (const std::uint32_t id : {1U, 2U}) books.push_back(e.book(domain::instrument_id{id})->digest());
    }
    venue_numbers() = default;
    std::uint64_t hash = 0;
    std::uint64_t commands_count = 0;
    std::uint64_t feed_next = 1;
    std::vector<std::uint64_t> books;
    friend bool operator==(const venue_numbers&, const venue_numbers&) = default;
};

TEST_P(restart, keeps_books_numbers_and_answers) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder directory;
    const node::configuration c = venue_with_journal(directory.path() + "/journal", GetParam());
    lasting_client trader;
    venue_numbers before;
    // Run 1 starts from a snapshot, run 2 from an older one and the commands after it, run 3 from commands only.
    for (int life = 0; life < 4; ++life) {
        const auto snapshots = snapshots_in(c.journal_directory);
        EXPECT_EQ(snapshots.size(), life == 3 ? 2U : static_cast<std::size_t>(life)) << "each life ends with one";
        if (life == 2) std::filesystem::remove(snapshots.back());
        for (std::size_t i = 0; life == 3 && i < snapshots.size(); ++i) std::filesystem::remove(snapshots[i]);
        io::context context;
        node::testing::started_venue exchange(context, c);
        if (life != 0) {
            EXPECT_EQ(venue_numbers(exchange), before);
        }
        const std::uint64_t replayed = exchange.journal()->replayed_count();
        EXPECT_EQ(replayed == 0, life < 2);
        EXPECT_EQ(replayed == before.commands_count, life == 0 || life == 3);
        EXPECT_EQ(exchange.journal()->snapshot_sequence() + replayed, before.commands_count);
        const int requests_count = life == 3 ? 0 : GetParam().durability == journal::durability::each ? 100 : 600;
        io::block_on(context, live(&context, &exchange, &trader, seed, requests_count));
        before = venue_numbers(exchange);
    }
    ASSERT_NE(trader.trader, nullptr);
    EXPECT_EQ(trader.trader->outstanding_count(), 0U) << "every request is answered once, over four runs";
    EXPECT_EQ(before.commands_count, trader.trader->statistics().requests);
}

TEST(restart_from_snapshot, passes_over_what_is_damaged_or_half_written) {
    const base::test_folder directory;
    const node::configuration c = venue_with_journal(
        directory.path() + "/journal", venue_mode{node::threading_mode::inline_, journal::durability::group});
    lasting_client trader;
    venue_numbers before;
    for (int life = 0; life < 3; ++life) {
        io::context context;
        node::testing::started_venue exchange(context, c);
        if (life != 0) {
            EXPECT_EQ(venue_numbers(exchange), before);
            EXPECT_EQ(exchange.journal()->notices().size(), 1U) << "the operator is told";
        }
        EXPECT_EQ(exchange.journal()->replayed_count(), before.commands_count);
        io::block_on(context, live(&context, &exchange, &trader, 7, 200));
        before = venue_numbers(exchange);
        const auto snapshots = snapshots_in(c.journal_directory);
        for (std::size_t i = 0; i + 1 < snapshots.size(); ++i) std::filesystem::remove(snapshots[i]);
        std::fstream file(snapshots.back(), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(1'000);
        file.put('?').put('!');
        std::ofstream(c.journal_directory + "/snapshot.unfinished") << "CORROSNP and nothing else";
    }
}

// --- While it runs ---------------------------------------------------------------------------------------------------

/// Trades until the running venue has made a snapshot and `enough` is true.
io::task<void> live_until_saved(io::context* context, node::venue* exchange, lasting_client* c,
                                bool (*enough)(const std::string&), std::string journal, bool asks = false) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    bool saved = false;
    co_await trade(exchange, c, 11, 50);
    for (int round = 0; round < 2'000 && !saved && c->session != nullptr; ++round) {
        co_await send_requests(c, 50);
        if (asks) exchange->write_snapshot();
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(10)));
        saved = exchange->journal()->snapshot_sequence() != 0 && enough(journal);
    }
    EXPECT_TRUE(saved);
    while (saved && c->trader->outstanding_count() != 0) {
        const auto answer = co_await c->session->next();
        if (!answer) break;
        static_cast<void>(c->trader->on_event(answer->event));
    }
    exchange->close();
    if (c->session != nullptr) c->session->abandon();
    co_await serving.join();
}

/// In mode `none`, commands that count as durable may not be written yet.
std::vector<venue_mode> modes_with_snapshots() {
    using enum journal::durability;
    return testing::modes_of({none, group});
}

class snapshots_while_running : public ::testing::TestWithParam<venue_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, snapshots_while_running, ::testing::ValuesIn(modes_with_snapshots()), name_of_mode());

TEST_P(snapshots_while_running, lead_to_the_same_venue_as_all_commands) {
    const base::test_folder directory;
    node::configuration c = venue_with_journal(directory.path() + "/journal", GetParam());
    c.snapshot_every = 100;
    c.snapshots_kept = 100;
    lasting_client trader;
    venue_numbers before;
    {
        io::context context;
        node::testing::started_venue exchange(context, c);
        const auto two = [](const std::string& journal) { return snapshots_in(journal).size() >= 2; };
        io::block_on(context, live_until_saved(&context, &exchange, &trader, two, c.journal_directory));
        EXPECT_TRUE(exchange.journal()->notices().empty()) << exchange.journal()->notices().front();
        before = venue_numbers(exchange);
    }
    // Starts from each of them, and finally without snapshots.
    for (auto all = snapshots_in(c.journal_directory);; all.pop_back()) {
        io::context context;
        const node::testing::started_venue exchange(context, c);
        EXPECT_EQ(venue_numbers(exchange), before);
        EXPECT_EQ(exchange.journal()->snapshot_sequence() == 0, all.empty());
        if (all.empty()) break;
        std::filesystem::remove(all.back());
    }
}

TEST_P(snapshots_while_running, are_written_when_somebody_asks) {
    const base::test_folder directory;
    node::configuration c = venue_with_journal(directory.path() + "/journal", GetParam());
    c.snapshot_every = 0;
    c.event_log.directory = directory.path() + "/log";
    lasting_client trader;
    io::context context;
    auto exchange = std::make_unique<node::testing::started_venue>(context, c);
    const auto one = [](const std::string& journal) { return !snapshots_in(journal).empty(); };
    io::block_on(context, live_until_saved(&context, exchange.get(), &trader, one, c.journal_directory, true));
    EXPECT_TRUE(exchange->journal()->notices().empty());
    exchange.reset();  // which writes the log
    std::ifstream log(directory.path() + "/log/records.1.jsonl");
    const std::string said{std::istreambuf_iterator<char>(log), {}};
    EXPECT_NE(said.find("\"component\":\"venue\",\"what\":\"snapshot_made\",\"number\":"), std::string::npos) << said;
}

TEST_P(snapshots_while_running, let_segments_go_that_none_of_them_needs) {
    const base::test_folder directory;
    node::configuration c = venue_with_journal(directory.path() + "/journal", GetParam());
    c.journal_segment_bytes = 16U * 1024;
    c.snapshot_every = 100;
    c.snapshots_kept = 2;
    c.journal_segments_kept = 1;
    lasting_client trader;
    venue_numbers before;
    {
        io::context context;
        node::testing::started_venue exchange(context, c);
        const auto gone = [](const std::string& journal) {
            return !std::filesystem::exists(journal + "/" + journal::segment_name(1));
        };
        io::block_on(context, live_until_saved(&context, &exchange, &trader, gone, c.journal_directory));
        before = venue_numbers(exchange);
    }
    auto all = snapshots_in(c.journal_directory);
    ASSERT_EQ(all.size(), 2U);
    for (; !all.empty(); all.pop_back()) {
        io::context context;
        const node::testing::started_venue exchange(context, c);
        EXPECT_EQ(venue_numbers(exchange), before) << "the oldest snapshot that is kept has its segments too";
        std::filesystem::remove(all.back());
    }
    io::context context;
    EXPECT_THROW(node::testing::started_venue(context, c), node::recovery_error) << "the beginning is gone";
}

TEST_P(snapshots_while_running, keep_every_segment_unless_told_otherwise) {
    const base::test_folder directory;
    node::configuration c = venue_with_journal(directory.path() + "/journal", GetParam());
    c.journal_segment_bytes = 16U * 1024;
    c.snapshot_every = 100;
    lasting_client trader;
    io::context context;
    node::testing::started_venue exchange(context, c);
    const auto three = [](const std::string& journal) { return snapshots_in(journal).size() == 3; };
    io::block_on(context, live_until_saved(&context, &exchange, &trader, three, c.journal_directory));
    EXPECT_TRUE(std::filesystem::exists(c.journal_directory + "/" + journal::segment_name(1)));
}

TEST(restart_refused, when_another_exchange_has_the_journal) {
    const base::test_folder directory;
    const venue_mode m{node::threading_mode::inline_, journal::durability::group};
    io::context context;
    const node::testing::started_venue first(context, venue_with_journal(directory.path(), m));
    io::context other;
    EXPECT_THROW(node::testing::started_venue(other, venue_with_journal(directory.path(), m)), node::recovery_error);
}

TEST(restart_refused, when_the_journal_is_another_venues) {
    const base::test_folder directory;
    const venue_mode m{node::threading_mode::inline_, journal::durability::group};
    node::configuration c = venue_with_journal(directory.path(), m);
    {
        io::context context;
        const node::testing::started_venue first(context, c);
    }
    c.venue_name = "OTHER";
    io::context context;
    try {
        const node::testing::started_venue second(context, c);
        FAIL() << "it served somebody else's orders";
    } catch (const node::recovery_error& e) {
        EXPECT_NE(std::string(e.what()).find("OTHER"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace corro
