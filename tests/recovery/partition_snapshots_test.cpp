// SPDX-License-Identifier: Apache-2.0
// Snapshots of a running venue of two partitions: they give the same state as all commands, and the venue removes files
// that no kept snapshot needs.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "../system/lasting_client_fixture.hpp"
#include "../system/venue_modes_fixture.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/segment_format.hpp"
#include "partitioned_venue_fixture.hpp"

namespace corro {
namespace {

using testing::two_partitions;
using testing::venue_mode;
using testing::venue_numbers;

constexpr const char* names[] = {"FIRST", "SECOND"};

/// Returns the snapshots of a partition, oldest first.
std::vector<std::filesystem::path> snapshots_of(const std::string& journal, std::size_t partition) {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::directory_iterator(journal + "/" + names[partition])) {
        if (each.path().extension() == ".snapshot") found.push_back(each.path());
    }
    std::ranges::sort(found);
    return found;
}

bool has_first_file(const std::string& journal, std::size_t partition) {
    return std::filesystem::exists(journal + "/" + names[partition] + "/" + journal::segment_name(1));
}

// --- A client who remembers what he was told -------------------------------------------------------------------------

/// The content of one answer.
using told = std::tuple<std::uint64_t, int, std::uint32_t, std::uint32_t, std::uint64_t, int, int>;

struct listener {
    testing::lasting_client client;
    std::vector<told> heard;

    void hear(std::uint64_t sequence, const domain::event& e) {
        EXPECT_EQ(sequence, heard.size() + 1) << "one sequence of answers";
        heard.emplace_back(sequence, static_cast<int>(e.kind), e.instrument.value, e.order.order.value,
                           e.order.client_order.value, static_cast<int>(e.reason), static_cast<int>(e.flags));
    }
};

/// Reads answers until at most `left_max` requests are unanswered.
io::task<void> hear_until(listener* l, std::uint64_t left_max) {
    while (l->client.trader->outstanding_count() > left_max) {
        const auto answer = co_await l->client.session->next();
        CORRO_REQUIRE(answer && !answer->reject && !answer->gap);
        l->hear(answer->sequence, answer->event);
        static_cast<void>(l->client.trader->on_event(answer->event));
    }
}

io::task<void> send_requests(listener* l, int requests_count) {
    for (int i = 0; i < requests_count; ++i) {
        CORRO_REQUIRE(l->client.session->send(l->client.trader->next_request()) != 0);
        co_await hear_until(l, 8);
    }
}

using condition = bool (*)(const std::string& journal);

/// Trades until the running venue has made a snapshot and `enough` is true.
io::task<void> live_until_saved(io::context* context, node::venue* exchange, listener* l, condition enough,
                                std::string journal, bool asks = false) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    co_await come(&l->client, exchange->order_entry_endpoint(), base::test_seed());
    bool saved = false;
    for (int round = 0; round < 2'000 && !saved && l->client.trader != nullptr; ++round) {
        co_await send_requests(l, 50);
        if (asks) exchange->write_snapshot();
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(10)));
        saved = exchange->at(0).journal->snapshot_sequence() != 0 && enough(journal);
    }
    EXPECT_TRUE(saved);
    if (saved) co_await hear_until(l, 0);
    exchange->close();
    if (l->client.session != nullptr) l->client.session->abandon();
    co_await serving.join();
}

/// Asks for all answers again and reads them.
io::task<void> hear_all_again(io::context* context, node::venue* exchange, listener* again, std::size_t count) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    client::credentials who = testing::who(1, 1);
    who.cancel_on_disconnect = false;
    who.next_answer = 1;
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), who);
    EXPECT_TRUE(session);
    while (session && again->heard.size() < count) {
        const auto answer = co_await (*session)->next();
        EXPECT_TRUE(answer && !answer->reject && !answer->gap);
        if (!answer || answer->reject || answer->gap) break;
        again->hear(answer->sequence, answer->event);
    }
    if (session) (*session)->abandon();
    exchange->close();
    co_await serving.join();
}

/// A venue that starts on a copy of the journals, because a start changes them.
class started_again {
 public:
    started_again(node::configuration c, const std::string& directory, std::size_t answers_count,
                  std::size_t moments_left) {
        std::filesystem::remove_all(directory);
        std::filesystem::copy(c.journal_directory, directory, std::filesystem::copy_options::recursive);
        c.journal_directory = directory;
        auto moments = snapshots_of(directory, 0);
        for (; moments.size() > moments_left; moments.pop_back()) std::filesystem::remove(moments.back());
        io::context context;
        node::testing::started_venue exchange(context, c);
        numbers = venue_numbers(exchange).all;
        for (std::size_t k = 0; k < 2; ++k) snapshot_sequences[k] = exchange.at(k).journal->snapshot_sequence();
        io::block_on(context, hear_all_again(&context, &exchange, &again, answers_count));
    }

    std::vector<std::uint64_t> numbers;
    std::uint64_t snapshot_sequences[2] = {0, 0};
    listener again;
};

std::vector<venue_mode> modes() {
    using enum journal::durability;
    return testing::modes_of({none, group});
}

class snapshots_of_partitions : public ::testing::TestWithParam<venue_mode> {
 protected:
    node::configuration venue() const {
        node::configuration c = two_partitions(GetParam().threading, directory.path(), GetParam().durability);
        c.snapshot_every = 100;
        return c;
    }
    base::test_folder directory;
};
INSTANTIATE_TEST_SUITE_P(modes, snapshots_of_partitions, ::testing::ValuesIn(modes()), testing::name_of_mode());

TEST_P(snapshots_of_partitions, lead_to_the_same_venue_as_all_commands) {
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << base::test_seed());
    node::configuration c = venue();
    c.snapshots_kept = 100;
    listener l;
    std::vector<std::uint64_t> before;
    {
        io::context context;
        node::testing::started_venue exchange(context, c);
        const auto three = [](const std::string& journal) { return snapshots_of(journal, 0).size() >= 3; };
        io::block_on(context, live_until_saved(&context, &exchange, &l, three, c.journal_directory));
        EXPECT_TRUE(exchange.at(0).journal->notices().empty()) << exchange.at(0).journal->notices().front();
        before = venue_numbers(exchange).all;
    }
    ASSERT_FALSE(l.heard.empty());
    // Starts from each moment, and finally without snapshots.
    std::uint64_t newer = ~std::uint64_t{0};
    for (std::size_t left = snapshots_of(c.journal_directory, 0).size();; --left) {
        const started_again venue(c, directory.path() + "/again", l.heard.size(), left);
        EXPECT_EQ(venue.numbers, before) << "from moment " << left;
        EXPECT_EQ(venue.again.heard, l.heard) << "from moment " << left;
        EXPECT_LT(venue.snapshot_sequences[0], newer) << "it began with an older one";
        EXPECT_EQ(venue.snapshot_sequences[1] == 0, left == 0);
        newer = venue.snapshot_sequences[0];
        if (left == 0) break;
    }
    EXPECT_EQ(newer, 0U);
}

TEST_P(snapshots_of_partitions, are_written_when_somebody_asks) {
    node::configuration c = venue();
    c.snapshot_every = 0;
    c.event_log.directory = directory.path() + "/log";
    listener l;
    io::context context;
    auto exchange = std::make_unique<node::testing::started_venue>(context, c);
    const auto one = [](const std::string& journal) { return !snapshots_of(journal, 0).empty(); };
    io::block_on(context, live_until_saved(&context, exchange.get(), &l, one, c.journal_directory, true));
    EXPECT_TRUE(exchange->at(0).journal->notices().empty());
    exchange.reset();  // which writes the log
    std::ifstream log(directory.path() + "/log/records.1.jsonl");
    const std::string said{std::istreambuf_iterator<char>(log), {}};
    EXPECT_NE(said.find("\"component\":\"venue\",\"what\":\"snapshot_made\",\"number\":"), std::string::npos) << said;
}

TEST_P(snapshots_of_partitions, let_files_of_the_journals_go_that_none_of_them_needs) {
    node::configuration c = venue();
    c.journal_segment_bytes = 16U * 1024;
    c.snapshots_kept = 2;
    c.journal_segments_kept = 0;
    listener l;
    std::vector<std::uint64_t> before;
    {
        io::context context;
        node::testing::started_venue exchange(context, c);
        const auto gone = [](const std::string& journal) {
            return !has_first_file(journal, 0) && !has_first_file(journal, 1);
        };
        io::block_on(context, live_until_saved(&context, &exchange, &l, gone, c.journal_directory));
        before = venue_numbers(exchange).all;
    }
    EXPECT_EQ(snapshots_of(c.journal_directory, 0).size(), 2U);
    EXPECT_LE(snapshots_of(c.journal_directory, 1).size(), 2U);
    for (const std::size_t left : {2U, 1U}) {
        const started_again venue(c, directory.path() + "/again", l.heard.size(), left);
        EXPECT_EQ(venue.numbers, before) << "the oldest moment that is kept has its files too";
        EXPECT_EQ(venue.again.heard, l.heard);
    }
    EXPECT_THROW(started_again(c, directory.path() + "/again", 0, 0), node::recovery_error) << "the beginning is gone";
}

TEST_P(snapshots_of_partitions, keep_all_files_of_the_journals_unless_told_otherwise) {
    node::configuration c = venue();
    c.journal_segment_bytes = 16U * 1024;
    listener l;
    io::context context;
    node::testing::started_venue exchange(context, c);
    const auto three = [](const std::string& journal) { return snapshots_of(journal, 0).size() == 3; };
    io::block_on(context, live_until_saved(&context, &exchange, &l, three, c.journal_directory));
    EXPECT_TRUE(has_first_file(c.journal_directory, 0) && has_first_file(c.journal_directory, 1));
}

// --- A partition with nothing to do
// ------------------------------------------------------------------------------------

domain::command order(std::uint32_t instrument, std::uint64_t name) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{name};
    c.enter_order().price = domain::price_ticks{1'000};
    c.enter_order().quantity = domain::quantity_lots{1};
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    return c;
}

/// Repeatedly enters an order in `instrument` and asks for a snapshot.
io::task<void> trade_in_one(io::context* context, node::venue* exchange, std::uint32_t instrument,
                            std::uint64_t count) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    client::credentials who = testing::who(1, 1);
    who.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), who);
    EXPECT_TRUE(session);
    const node::host_journal& journal = *exchange->at(instrument - 1).journal;
    for (std::uint64_t i = 0; session && i < count; ++i) {
        const std::uint64_t saved = journal.snapshot_sequence();
        EXPECT_NE((*session)->send(order(instrument, 100 * saved + i + 1)), 0U);
        const auto answer = co_await (*session)->next();
        EXPECT_TRUE(answer && !answer->reject && answer->event.kind == domain::event_kind::order_entered);
        exchange->write_snapshot();
        while (journal.snapshot_sequence() == saved) {
            static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
        }
    }
    if (session) (*session)->abandon();
    exchange->close();
    co_await serving.join();
}

TEST(snapshots_of_an_idle_partition, stay_as_long_as_a_kept_moment_needs_them) {
    const base::test_folder directory;
    node::configuration c = two_partitions(node::threading_mode::inline_, directory.path());
    c.snapshots_kept = 1;
    std::vector<std::uint64_t> before;
    for (const std::uint32_t instrument : {2U, 1U, 2U}) {
        io::context context;
        node::testing::started_venue exchange(context, c);
        if (!before.empty()) {
            EXPECT_EQ(venue_numbers(exchange).all, before);
            EXPECT_EQ(exchange.at(0).journal->replayed_count() + exchange.at(1).journal->replayed_count(), 0U);
        }
        const auto idle = snapshots_of(c.journal_directory, 2 - instrument);
        const auto written =
            idle.empty() ? std::filesystem::file_time_type() : std::filesystem::last_write_time(idle[0]);
        io::block_on(context, trade_in_one(&context, &exchange, instrument, 3));
        before = venue_numbers(exchange).all;
        EXPECT_EQ(snapshots_of(c.journal_directory, instrument - 1).size(), 1U);
        if (instrument == 1) {
            const auto now = snapshots_of(c.journal_directory, 1);
            ASSERT_EQ(now, idle);
            EXPECT_EQ(std::filesystem::last_write_time(now[0]), written) << "it is not written again";
        }
    }
}

}  // namespace
}  // namespace corro
