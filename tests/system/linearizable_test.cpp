// SPDX-License-Identifier: Apache-2.0
// C3: the histories of concurrent clients are linearizable in the order of the venue's own sequence.

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "history_checker_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/reader.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

using testing::client_history;
using testing::operation;
using testing::unexplained;

constexpr std::uint32_t clients_count = 8;
constexpr std::uint32_t requests_each = 300;

/// The results of a run: the clients' histories and the venue's commands.
struct recorded_run {
    client_history history;
    std::vector<domain::command> journal;
    node::configuration venue;
    wire::instrument_table instruments;
    std::uint64_t clock = 0;

    [[nodiscard]] std::string problem() const {
        return unexplained(history, journal, node::facility_options_of(venue, io::default_platform()),
                           venue.instruments, instruments);
    }
};

/// A client with up to five outstanding requests. It records the times of each request and its answer.
io::task<void> trade(recorded_run* run, std::uint32_t index, io::endpoint venue, std::uint64_t seed) {
    auto logged_on = co_await client::order_session::log_on(venue, testing::who(1 + index % 2, 1 + index / 2));
    CORRO_REQUIRE(logged_on);
    client::order_session& session = **logged_on;
    if (index == 0) run->instruments = session.instruments();
    const std::uint32_t id = session.session().value;
    std::vector<domain::instrument> instruments = run->venue.instruments;
    const std::vector<domain::price_ticks> middles(instruments.size(), domain::price_ticks{9'000});
    client::trader trader(client::trader_options(), std::move(instruments), middles, 1 + index * 1'000'000'000ULL,
                          seed + index);
    base::prng random(seed + 100 + index);
    std::vector<std::size_t> out;  // indices of the unanswered operations, oldest first
    std::uint32_t sent_count = 0;
    while (sent_count < requests_each || !out.empty()) {
        for (std::uint64_t burst = 1 + random.below(5); burst > out.size() && sent_count < requests_each;
             ++sent_count) {
            out.push_back(run->history.operations.size());
            run->history.operations.push_back({id, session.send(trader.next_request()), ++run->clock, 0});
        }
        const std::error_code written = co_await session.flush();
        const std::error_code read = co_await session.fill();
        CORRO_REQUIRE(!written && !read);
        while (true) {
            const auto answer = session.poll();
            CORRO_REQUIRE(answer);
            if (!*answer) break;
            CORRO_REQUIRE(!(*answer)->reject && !(*answer)->gap);
            run->history.heard[id].push_back((*answer)->event);
            if (!trader.on_event((*answer)->event)) continue;
            run->history.operations[out.front()].answered = ++run->clock;
            out.erase(out.begin());
        }
        for (std::uint64_t turns = random.below(3); turns != 0; --turns) co_await io::yield();
    }
    static_cast<void>(co_await session.log_out());
}

io::task<void> run_clients(recorded_run* run, node::venue* exchange, std::uint64_t seed) {
    io::context& on = co_await io::this_context();
    io::task_scope serving(on);
    serving.spawn(exchange->run());
    io::task_scope clients(on);
    for (std::uint32_t i = 0; i < clients_count; ++i) {
        clients.spawn(trade(run, i, exchange->order_entry_endpoint(), seed));
    }
    co_await clients.join();
    exchange->close();
    co_await serving.join();
}

io::task<void> read_journal(recorded_run* run, io::context* context) {
    journal::disk_storage files(*context);
    journal::reader_options options;
    auto opened = co_await journal::reader::open(&files, run->venue.journal_directory, options);
    CORRO_REQUIRE(opened);
    while (true) {
        const auto commands = co_await (*opened)->next();
        CORRO_REQUIRE(commands);
        if (commands->empty()) break;
        run->journal.insert(run->journal.end(), commands->begin(), commands->end());
    }
}

void record(recorded_run* run, node::threading_mode threading, std::uint64_t seed) {
    const base::test_folder folder;
    run->venue = testing::small_venue(threading);
    run->venue.journal_directory = folder.path() + "/journal";
    run->venue.durability = journal::durability::async;
    io::context context;
    {
        node::testing::started_venue exchange(context, run->venue);
        io::block_on(context, run_clients(run, &exchange, seed));
    }
    io::block_on(context, read_journal(run, &context));
}

class linearizable : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, linearizable,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

/// Finds two requests of different sessions; the first was answered before the second was sent.
std::pair<std::size_t, std::size_t> one_after_the_other(const client_history& history) {
    for (std::size_t a = 0; a < history.operations.size(); ++a) {
        for (std::size_t b = a + 1; b < history.operations.size(); ++b) {
            const operation& first = history.operations[a];
            const operation& second = history.operations[b];
            if (first.session != second.session && first.answered != 0 && first.answered < second.left) return {a, b};
        }
    }
    return {0, 0};
}

TEST_P(linearizable, C3_the_journal_explains_everything_that_clients_saw) {
    const std::uint64_t seed = base::test_seed();
    recorded_run run;
    record(&run, GetParam(), seed);
    ASSERT_EQ(run.history.operations.size(), clients_count * requests_each);
    ASSERT_GE(run.journal.size(), run.history.operations.size());
    EXPECT_EQ(run.problem(), "") << "CORRO_SEED=" << seed;
    // The requests overlap: some were sequenced in another order than they were sent.
    std::uint64_t heard_count = 0;
    for (const auto& [session, heard] : run.history.heard) heard_count += heard.size();
    EXPECT_GT(heard_count, run.history.operations.size());

    // The controls: histories that no order explains, each with one change.
    {
        recorded_run changed = run;
        const auto [first, second] = one_after_the_other(changed.history);
        ASSERT_NE(first, second);
        std::swap(changed.history.operations[first].left, changed.history.operations[second].left);
        std::swap(changed.history.operations[first].answered, changed.history.operations[second].answered);
        EXPECT_NE(changed.problem().find("before one that was answered before it left"), std::string::npos)
            << "two requests in the other order: " << changed.problem();
    }
    {
        recorded_run changed = run;
        changed.history.heard.begin()->second.back().flags ^= std::uint8_t{1};
        EXPECT_NE(changed.problem().find("heard another message"), std::string::npos) << changed.problem();
    }
    {
        recorded_run changed = run;
        auto& heard = changed.history.heard.begin()->second;
        heard.push_back(heard.back());
        EXPECT_NE(changed.problem(), "") << "an answer that came twice";
    }
    {
        recorded_run changed = run;
        const std::size_t middle = changed.journal.size() / 2;
        changed.journal.erase(changed.journal.begin() + static_cast<std::ptrdiff_t>(middle));
        for (std::size_t i = middle; i < changed.journal.size(); ++i) --changed.journal[i].sequence.value;
        EXPECT_NE(changed.problem().find("was answered and not executed"), std::string::npos) << changed.problem();
    }
    {
        recorded_run changed = run;
        const std::uint32_t other = changed.journal[10].request();
        changed.journal[10].set_request(changed.journal[500].request());
        changed.journal[500].set_request(other);
        EXPECT_NE(changed.problem(), "") << "two requests under each other's number";
    }
}

}  // namespace
}  // namespace corro
