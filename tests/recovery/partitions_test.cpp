// SPDX-License-Identifier: Apache-2.0
// A venue of two partitions: one session trades in both and sees one venue.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../system/lasting_client_fixture.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "domain/private_event.hpp"
#include "io/file/detail/file_operation.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/limits.hpp"
#include "journal/manifest.hpp"
#include "journal/reader.hpp"
#include "journal/segment_format.hpp"
#include "journal/storage.hpp"
#include "node/recovery/journal_replay.hpp"
#include "partitioned_venue_fixture.hpp"
#include "survivors_fixture.hpp"

namespace corro {
namespace {

using domain::command;
using domain::command_kind;
using domain::event;
using domain::event_kind;
using node::threading_mode;
using testing::two_partitions;

class partitions : public ::testing::TestWithParam<threading_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, partitions, ::testing::Values(threading_mode::inline_, threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

command buy(std::uint32_t instrument, std::uint64_t name, std::int64_t price = 1'000) {
    command c;
    c.kind = command_kind::enter_order;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{name};
    c.enter_order().price = domain::price_ticks{price};
    c.enter_order().quantity = domain::quantity_lots{2};
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    return c;
}

command sell(std::uint32_t instrument, std::uint64_t name, std::int64_t price = 1'000) {
    command c = buy(instrument, name, price);
    c.order_terms().side = domain::side::sell;
    return c;
}

command of(command_kind kind, std::uint32_t instrument, std::uint64_t name) {
    command c;
    c.kind = kind;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{name};
    return c;
}

/// A session that sends one request after the other.
struct asker {
    client::order_session* session;
    std::uint64_t last_sequence = 0;

    /// Sends a request and collects the messages up to the end of its answer.
    static io::task<std::vector<event>> ask(asker* self, command what) {
        std::vector<event> heard;
        const std::uint32_t request = self->session->send(what);
        EXPECT_NE(request, 0U);
        for (;;) {
            const auto answer = co_await self->session->next();
            EXPECT_TRUE(answer);
            if (!answer) break;
            EXPECT_FALSE(answer->reject);
            if (answer->reject) break;
            EXPECT_EQ(answer->sequence, self->last_sequence + 1) << "one sequence over all partitions";
            self->last_sequence = answer->sequence;
            heard.push_back(answer->event);
            if (domain::completes_request(answer->event)) break;
        }
        co_return heard;
    }
};

using asking_script = std::function<io::task<void>(node::venue*, asker*)>;

io::task<void> play(io::context* context, node::venue* exchange, asking_script* what) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, 1));
    EXPECT_TRUE(session);
    if (session) {
        asker a{session->get()};
        co_await (*what)(exchange, &a);
        static_cast<void>(co_await (*session)->log_out());
    }
    exchange->close();
    co_await serving.join();
}

void with_venue(threading_mode threading, asking_script what) {
    io::context context;
    node::testing::started_venue exchange(context, two_partitions(threading));
    io::block_on(context, play(&context, &exchange, &what));
}

std::vector<event_kind> kinds(const std::vector<event>& events) {
    std::vector<event_kind> all;
    for (const event& e : events) all.push_back(e.kind);
    return all;
}

using kind_list = std::vector<event_kind>;

io::task<void> enter_and_cancel(node::venue* exchange, asker* a) {
    const auto first = co_await asker::ask(a, buy(1, 11));
    const auto second = co_await asker::ask(a, buy(2, 22));
    CORRO_REQUIRE(first.size() == 1 && second.size() == 1);
    EXPECT_EQ(first[0].kind, event_kind::order_entered);
    EXPECT_EQ(second[0].kind, event_kind::order_entered);
    EXPECT_NE(first[0].order.order, second[0].order.order) << "both are the first of their partition";
    // By the venue's order id, with any instrument; then by the client order id.
    command by_number = of(command_kind::cancel_order, 1, 0);
    by_number.cancel_order().order = second[0].order.order;
    const auto cancelled = co_await asker::ask(a, by_number);
    CORRO_REQUIRE(cancelled.size() == 1);
    EXPECT_EQ(cancelled[0].kind, event_kind::order_cancelled);
    EXPECT_EQ(cancelled[0].instrument.value, 2U);
    EXPECT_EQ(cancelled[0].order.order, second[0].order.order);
    const auto by_name = co_await asker::ask(a, of(command_kind::cancel_order, 1, 11));
    CORRO_REQUIRE(by_name.size() == 1);
    EXPECT_EQ(by_name[0].kind, event_kind::order_cancelled);
    const auto again = co_await asker::ask(a, by_number);
    CORRO_REQUIRE(again.size() == 1);
    EXPECT_EQ(again[0].reason, domain::reject_reason::order_not_open) << "the partition knows its number";
    EXPECT_EQ(exchange->orders()->statistics().requests, 5U);
}

TEST_P(partitions, let_one_session_trade_in_both) {
    with_venue(GetParam(), enter_and_cancel);
}

io::task<void> cancel_all(node::venue*, asker* a) {
    for (std::uint32_t i = 1; i <= 2; ++i) {
        for (std::uint64_t k = 0; k < 3; ++k) static_cast<void>(co_await asker::ask(a, buy(i, 10 * i + k)));
    }
    command query = of(command_kind::query_order, 0, 0);
    query.query_order().flags = domain::query_flag::all_of_session;
    const auto open = co_await asker::ask(a, query);
    EXPECT_EQ(open.size(), 7U);
    EXPECT_EQ(std::ranges::count(kinds(open), event_kind::order_status), 6);
    EXPECT_EQ(kinds(open).back(), event_kind::request_done);
    command one = of(command_kind::query_order, 0, 21);
    const auto found = co_await asker::ask(a, one);
    EXPECT_EQ(kinds(found), kind_list{event_kind::order_status}) << "the session gets only one refusal";
    const auto all = co_await asker::ask(a, of(command_kind::cancel_orders, 0, 0));
    EXPECT_EQ(kinds(all), kind_list(6, event_kind::order_cancelled));
    const auto none = co_await asker::ask(a, of(command_kind::cancel_orders, 0, 0));
    EXPECT_EQ(kinds(none), kind_list{event_kind::order_rejected}) << "one refusal, not two";
    static_cast<void>(co_await asker::ask(a, buy(2, 30)));
    const auto in_one = co_await asker::ask(a, of(command_kind::cancel_orders, 0, 0));
    EXPECT_EQ(kinds(in_one), kind_list{event_kind::order_cancelled});
}

TEST_P(partitions, answer_what_concerns_all_once) {
    with_venue(GetParam(), cancel_all);
}

io::task<void> kill_account(node::venue*, asker* a) {
    for (std::uint32_t i = 1; i <= 2; ++i) static_cast<void>(co_await asker::ask(a, buy(i, i)));
    command kill = of(command_kind::kill_switch, 0, 0);
    kill.kill_switch().kill_scope = domain::kill_scope::account;
    kill.kill_switch().state = domain::switch_state::on;
    kill.kill_switch().other_account = domain::account_id{1};
    const auto done = co_await asker::ask(a, kill);
    EXPECT_EQ(kinds(done),
              (kind_list{event_kind::order_cancelled, event_kind::order_cancelled, event_kind::request_done}));
    for (std::uint32_t i = 1; i <= 2; ++i) {
        const auto refused = co_await asker::ask(a, buy(i, 10 + i));
        CORRO_REQUIRE(refused.size() == 1);
        EXPECT_EQ(refused[0].reason, domain::reject_reason::killed) << "in partition " << i;
    }
}

TEST_P(partitions, are_all_closed_to_a_killed_account) {
    with_venue(GetParam(), kill_account);
}

io::task<void> quote_both(node::venue*, asker* a) {
    std::vector<command> quotes;
    for (const std::uint32_t i : {2U, 1U, 2U, 1U}) {
        command q = of(command_kind::enter_quote, i, 7);
        q.enter_quote().bid_price = domain::price_ticks{900};
        q.enter_quote().ask_price = domain::price_ticks{1'100};
        q.enter_quote().bid_quantity = q.enter_quote().ask_quantity =
            domain::quantity_lots{static_cast<std::uint32_t>(quotes.size() + 1)};
        quotes.push_back(q);
    }
    const std::uint32_t request = a->session->send_mass_quote(quotes);
    std::vector<std::uint32_t> said;
    for (bool done = false; !done;) {
        const auto answer = co_await a->session->next();
        CORRO_REQUIRE(answer && !answer->reject);
        EXPECT_EQ(answer->sequence, a->last_sequence + 1);
        a->last_sequence = answer->sequence;
        if (answer->event.kind == event_kind::quote_entered) {
            EXPECT_EQ(answer->event.quote.request, request);
            said.push_back(answer->event.instrument.value);
        }
        done = domain::completes_request(answer->event);
    }
    EXPECT_EQ(said, (std::vector<std::uint32_t>{2, 1, 2, 1})) << "in the order of the request, not of the answers";
}

TEST_P(partitions, answer_a_mass_quote_in_its_order) {
    with_venue(GetParam(), quote_both);
}

io::task<void> watch_feeds(node::venue* exchange, asker* a) {
    std::vector<std::unique_ptr<client::feed_session>> feeds;
    for (std::size_t k = 0; k < 2; ++k) {
        const auto& feed = exchange->at(k).feed;
        auto joined = co_await client::feed_session::join(feed.feed_endpoint(), feed.snapshot_endpoint());
        CORRO_REQUIRE(joined);
        feeds.push_back(std::move(*joined));
    }
    for (std::uint32_t i = 1; i <= 2; ++i) {
        for (std::uint64_t k = 0; k < 4; ++k) {
            static_cast<void>(co_await asker::ask(a, buy(i, 10 * i + k, 900 + static_cast<std::int64_t>(i))));
            static_cast<void>(co_await asker::ask(a, sell(i, 100 * i + k, 900 + static_cast<std::int64_t>(i + k % 2))));
        }
    }
    for (std::size_t k = 0; k < 2; ++k) {
        const market_data::feed_publisher& venue = exchange->at(k).feed.publisher();
        EXPECT_GT(venue.next_sequence(), 1U);
        while (feeds[k]->next_sequence() < venue.next_sequence()) {
            const auto said = feeds[k]->poll();
            CORRO_REQUIRE(said);
            if (*said) continue;
            const std::error_code error = co_await feeds[k]->fill();
            CORRO_REQUIRE(!error);
        }
        const domain::instrument_id here{static_cast<std::uint32_t>(k + 1)};
        const domain::instrument_id elsewhere{static_cast<std::uint32_t>(2 - k)};
        EXPECT_EQ(feeds[k]->book(here)->digest(), venue.book(here)->digest());
        EXPECT_EQ(feeds[k]->book(elsewhere), nullptr) << "each feed has its own instruments";
        feeds[k]->abandon();
    }
}

TEST_P(partitions, have_a_feed_each) {
    with_venue(GetParam(), watch_feeds);
}

// --- Restarting ------------------------------------------------------------------------------------------------------

using testing::lasting_client;
using testing::venue_numbers;

/// Sends requests and reads the answers of all but the last few.
io::task<void> trade(node::venue* exchange, lasting_client* c, std::uint64_t seed, int requests_count,
                     std::uint64_t left_max) {
    co_await come(c, exchange->order_entry_endpoint(), seed);
    CORRO_REQUIRE(c->trader != nullptr);
    for (int i = 0; i < requests_count || c->trader->outstanding_count() > left_max;) {
        if (i < requests_count && c->trader->outstanding_count() <= 8) {
            CORRO_REQUIRE(c->session->send(c->trader->next_request()) != 0);
            ++i;
            continue;
        }
        const auto answer = co_await c->session->next();
        CORRO_REQUIRE(answer && !answer->reject && !answer->gap);
        static_cast<void>(c->trader->on_event(answer->event));
    }
}

io::task<void> live(io::context* context, node::venue* exchange, lasting_client* c, std::uint64_t seed,
                    int requests_count, std::uint64_t left_max) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    co_await trade(exchange, c, seed, requests_count, left_max);
    exchange->close();
    if (c->session != nullptr) c->session->abandon();
    co_await serving.join();
}

std::uint64_t replayed(const node::venue& e) {
    return e.at(0).journal->replayed_count() + e.at(1).journal->replayed_count();
}

TEST_P(partitions, keep_books_numbers_and_answers_over_restarts) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder directory;
    const node::configuration c = two_partitions(GetParam(), directory.path());
    lasting_client trader;
    venue_numbers before;
    // Run 1 starts from snapshots, run 2 without one partition's snapshot, run 3 from commands only, run 4 from
    // snapshots.
    for (int life = 0; life < 5; ++life) {
        if (life == 2) {
            for (const auto& each : std::filesystem::directory_iterator(c.journal_directory + "/SECOND")) {
                if (each.path().extension() == ".snapshot") std::filesystem::remove(each.path());
            }
        }
        if (life == 3) testing::remove_snapshots(c);
        io::context context;
        node::testing::started_venue exchange(context, c);
        if (life != 0) {
            EXPECT_EQ(venue_numbers(exchange).all, before.all) << "in life " << life;
        }
        EXPECT_EQ(replayed(exchange) == 0, life == 0 || life == 1 || life == 4) << "in life " << life;
        io::block_on(context, live(&context, &exchange, &trader, seed, life == 4 ? 0 : 300, life == 4 ? 0 : 8));
        before = venue_numbers(exchange);
    }
    ASSERT_NE(trader.trader, nullptr);
    EXPECT_EQ(trader.trader->outstanding_count(), 0U) << "every request is answered once, over five runs";
    EXPECT_EQ(before.all[0] + before.all[4], trader.trader->statistics().requests);
}

std::vector<std::uint64_t> hashes_of_a_run(threading_mode threading, std::uint64_t seed) {
    const base::test_folder directory;
    lasting_client trader;
    io::context context;
    node::testing::started_venue exchange(context, two_partitions(threading, directory.path()));
    io::block_on(context, live(&context, &exchange, &trader, seed, 500, 0));
    return venue_numbers(exchange).all;
}

TEST(partitions_determinism, the_same_requests_give_each_partition_the_same_state_on_one_thread_and_on_several) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    // A trader's requests depend on the order of answers over both partitions.
    EXPECT_EQ(hashes_of_a_run(threading_mode::inline_, seed), hashes_of_a_run(threading_mode::split, seed));
}

TEST(partitions_recovery, refuses_the_journal_of_another_partition) {
    const base::test_folder directory;
    node::configuration c = two_partitions(threading_mode::inline_, directory.path());
    {
        io::context context;
        const node::testing::started_venue first(context, c);
    }
    std::swap(c.partitions[0].name, c.partitions[1].name);
    io::context context;
    EXPECT_THROW(node::testing::started_venue(context, c), node::recovery_error);
}

TEST(partitions_recovery, refuses_a_journal_of_which_sessions_would_be_another_accounts) {
    const base::test_folder directory;
    node::configuration c = two_partitions(threading_mode::inline_, directory.path());
    {
        io::context context;
        const node::testing::started_venue first(context, c);
    }
    std::swap(c.accounts[0], c.accounts[1]);
    io::context context;
    EXPECT_THROW(node::testing::started_venue(context, c), node::recovery_error);
}

// --- A request to all of which one partition lost its copy
// --------------------------------------------------------------

io::task<void> cancel_in_both(node::venue*, asker* a) {
    for (std::uint32_t i = 1; i <= 2; ++i) static_cast<void>(co_await asker::ask(a, buy(i, i)));
    const auto cancelled = co_await asker::ask(a, of(command_kind::cancel_orders, 0, 0));
    EXPECT_EQ(kinds(cancelled), kind_list(2, event_kind::order_cancelled));
}

/// The answers to a client that had sent three requests and received two answers when the venue crashed.
io::task<void> come_back(io::context* context, node::venue* exchange) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    client::credentials who = testing::who(1, 1);
    who.next_answer = 3;
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), who);
    CORRO_REQUIRE(session);
    const auto answer = co_await (*session)->next();
    CORRO_REQUIRE(answer && !answer->reject);
    EXPECT_EQ(answer->event.kind, event_kind::order_cancelled);
    EXPECT_EQ(answer->event.instrument.value, 1U);
    const auto said = co_await (*session)->next();
    CORRO_REQUIRE(said && !said->reject);
    EXPECT_EQ(said->event.kind, event_kind::order_rejected) << "that it did not happen everywhere stands behind it";
    EXPECT_EQ(said->event.reason, domain::reject_reason::request_lost);
    EXPECT_EQ(domain::request_of(said->event), 3U);
    asker a{session->get(), said->sequence};
    command query = of(command_kind::query_order, 0, 0);
    query.query_order().flags = domain::query_flag::all_of_session;
    const auto open = co_await asker::ask(&a, query);
    EXPECT_EQ(kinds(open), (kind_list{event_kind::order_status, event_kind::request_done}));
    static_cast<void>(co_await (*session)->log_out());
    exchange->close();
    co_await serving.join();
}

/// Cuts a partition of a journal after that number of blocks with commands.
void cut_behind(const std::string& path, int blocks_count) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::span<const std::byte> all = std::as_bytes(std::span(bytes));
    const auto header = journal::decode_segment_header(all.first(journal::segment_header_bytes));
    ASSERT_TRUE(header.has_value());
    std::uint64_t offset = journal::segment_header_bytes;
    while (blocks_count != 0) {
        const auto size = journal::claimed_bytes(*header, all.subspan(offset, journal::block_header_bytes));
        ASSERT_TRUE(size.has_value());
        blocks_count -= *size > journal::block_header_bytes ? 1 : 0;
        offset += journal::padded(*size);
    }
    std::filesystem::resize_file(path, offset);
}

TEST(partitions_recovery, tells_that_a_request_to_all_did_not_happen_everywhere) {
    const base::test_folder directory;
    const node::configuration c = two_partitions(threading_mode::inline_, directory.path(), journal::durability::each);
    {
        io::context context;
        node::testing::started_venue exchange(context, c);
        asking_script what = cancel_in_both;
        io::block_on(context, play(&context, &exchange, &what));
    }
    // The crash: the second partition's journal ends after its order. Before the order it has the session's wish for
    // cancel on disconnect. Neither journal was closed.
    testing::remove_snapshots(c);
    cut_behind(c.journal_directory + "/FIRST/" + journal::segment_name(1), 3);
    cut_behind(c.journal_directory + "/SECOND/" + journal::segment_name(1), 2);
    {
        // Adopts both journals as they are.
        io::context tools;
        journal::disk_storage files(tools);
        for (const char* const name : {"/FIRST", "/SECOND"}) {
            EXPECT_TRUE(io::block_on(tools, journal::adopt_journal(&files, c.journal_directory + name)));
        }
    }
    io::context context;
    node::testing::started_venue exchange(context, c);
    io::block_on(context, come_back(&context, &exchange));
}

/// The same in a second run of the venue: the session's answers continue after the four of the first run.
io::task<void> cancel_in_both_again(node::venue* exchange, asker* a) {
    a->last_sequence = 4;
    co_await cancel_in_both(exchange, a);
}

/// Returns the error of a refused start; empty if it succeeds.
std::string refusal_of(const node::configuration& c) {
    try {
        io::context context;
        const node::testing::started_venue exchange(context, c);
        return {};
    } catch (const node::recovery_error& e) {
        return e.what();
    }
}

/// Whether the newest partition of the second journal has a mark with this sequence number of the first.
io::task<bool> has_mark(journal::storage* files, std::string directory, std::uint64_t sequence) {
    journal::reader_options anybody;
    anybody.from_sequence = 0;
    auto reader = co_await journal::reader::open(files, directory, anybody);
    if (!reader) co_return false;
    for (;;) {
        const auto commands = co_await (*reader)->next();
        if (!commands) co_return false;
        if (commands->empty()) break;
    }
    co_return journal::unpack_mark((*reader)->end().marks[0]).sequence >= sequence;
}

/// The paths of copies of a running venue's folders.
struct running_copies {
    std::string journal;
    std::string older;
    std::string newer;
};

/// Trades in both partitions, and then in the first alone. Copies the folders before and after that.
io::task<void> copy_beside_an_idle_partition(const running_copies* where, asker* a) {
    using std::filesystem::copy_options;
    for (std::uint32_t i = 1; i <= 2; ++i) static_cast<void>(co_await asker::ask(a, buy(i, i)));
    std::filesystem::copy(where->journal, where->older, copy_options::recursive);
    for (std::uint64_t name = 10; name < 15; ++name) static_cast<void>(co_await asker::ask(a, buy(1, name)));
    io::context& on = co_await io::this_context();
    journal::disk_storage files(on);
    // The record of the cancel on disconnect, two orders, and five. The time limit is generous.
    const io::steady_time begin = on.now();
    while (on.now() - begin < 20 * journal::marks_interval) {
        const bool is_there = co_await has_mark(&files, where->journal + "/SECOND", 7);
        if (is_there) break;
        static_cast<void>(co_await io::sleep_for(journal::marks_interval / 20));
    }
    std::filesystem::copy(where->journal, where->newer, copy_options::recursive);
}

// D8: a venue is killed, and the folder of one partition is an older copy or is missing. The other partition was idle
// since then.
TEST_P(partitions, D8_of_different_moments_are_refused_also_when_one_was_idle) {
    using std::filesystem::copy_options;
    const base::test_folder directory;
    const node::configuration c = two_partitions(GetParam(), directory.path());
    const running_copies where{c.journal_directory, directory.path() + "/older", directory.path() + "/newer"};
    {
        io::context context;
        node::testing::started_venue exchange(context, c);
        asking_script what = [&](node::venue*, asker* a) { return copy_beside_an_idle_partition(&where, a); };
        io::block_on(context, play(&context, &exchange, &what));
    }
    const auto start_with = [&](const std::string& name, const std::string& from) {
        std::filesystem::remove_all(c.journal_directory);
        std::filesystem::copy(where.newer, c.journal_directory, copy_options::recursive);
        if (name.empty()) return refusal_of(c);
        std::filesystem::remove_all(c.journal_directory + name);
        if (!from.empty()) std::filesystem::copy(from + name, c.journal_directory + name, copy_options::recursive);
        return refusal_of(c);
    };
    EXPECT_NE(start_with("/FIRST", where.older), "") << "the first is older";
    EXPECT_NE(start_with("/FIRST", ""), "") << "the first is gone";
    EXPECT_NE(start_with("/SECOND", ""), "") << "the second is gone";
    EXPECT_EQ(start_with("", ""), "") << "the control";
}

// D8: folders that were copied at different moments do not belong together, although each is valid.
TEST_P(partitions, of_different_moments_are_refused) {
    using std::filesystem::copy_options;
    const base::test_folder directory;
    const node::configuration c = two_partitions(GetParam(), directory.path());
    const std::string older = directory.path() + "/older";
    const std::string newer = directory.path() + "/newer";
    for (const std::string& copy : {older, newer}) {
        {
            io::context context;
            node::testing::started_venue exchange(context, c);
            asking_script what = copy == older ? cancel_in_both : cancel_in_both_again;
            io::block_on(context, play(&context, &exchange, &what));
        }
        std::filesystem::copy(c.journal_directory, copy, copy_options::recursive);
    }
    for (const char* const name : {"/FIRST", "/SECOND"}) {
        for (const bool with_snapshots : {true, false}) {
            std::filesystem::remove_all(c.journal_directory);
            std::filesystem::copy(newer, c.journal_directory, copy_options::recursive);
            std::filesystem::remove_all(c.journal_directory + name);
            std::filesystem::copy(older + name, c.journal_directory + name, copy_options::recursive);
            if (!with_snapshots) testing::remove_snapshots(c);
            EXPECT_NE(refusal_of(c), "") << name << " is older";
        }
        // A missing folder does not start empty.
        std::filesystem::remove_all(c.journal_directory + name);
        EXPECT_NE(refusal_of(c), "") << name << " is gone";
    }
    // The control: each copy by itself is valid.
    for (const std::string& whole : {older, newer}) {
        std::filesystem::remove_all(c.journal_directory);
        std::filesystem::copy(whole, c.journal_directory, copy_options::recursive);
        EXPECT_EQ(refusal_of(c), "");
    }
}

// --- A journal that fails --------------------------------------------------------------------------------------------

/// Sends requests to both partitions at once until the venue ends the session.
io::task<void> ask_until_the_end(const std::string* directory, asker* a) {
    std::filesystem::rename(*directory + "/FIRST", *directory + "/gone");
    std::error_code end;
    for (std::uint64_t name = 1; !end; ++name) {
        CORRO_REQUIRE(a->session->send(buy(1, name)) != 0 && a->session->send(buy(2, name)) != 0);
        const auto answer = co_await a->session->next();
        if (!answer) end = answer.error();
    }
    EXPECT_EQ(end, client::logged_out(wire::logout_reason::shutting_down));
}

TEST_P(partitions, D9_end_when_the_journal_of_one_fails) {
    const base::test_folder directory;
    node::configuration c = two_partitions(GetParam(), directory.path(), journal::durability::async);
    c.journal_segment_bytes = journal::segment_bytes_min;
    io::context context;
    node::testing::started_venue exchange(context, c);
    EXPECT_EQ(exchange.failure(), nullptr);
    asking_script what = [&](node::venue*, asker* a) { return ask_until_the_end(&c.journal_directory, a); };
    io::block_on(context, play(&context, &exchange, &what));
    ASSERT_NE(exchange.failure(), nullptr);
    EXPECT_NE(exchange.failure()->find("/FIRST"), std::string::npos) << *exchange.failure();
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(exchange.at(k).journal->snapshot_sequence(), 0U) << "its state is in no journal";
    }
}

/// Fails every sync while it is on.
class fails_syncs final : public io::file_faults {
 public:
    std::atomic<bool> is_on = false;
    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        return what == io::file_call::sync_data && is_on ? io::file_fault(EIO) : io::file_fault();
    }
};

io::task<void> trade_in_both(io::context* context, node::venue* exchange, fails_syncs* faults) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, 1));
    CORRO_REQUIRE(session);
    asker a{session->get()};
    for (std::uint32_t i = 1; i <= 2; ++i) static_cast<void>(co_await asker::ask(&a, buy(i, i)));
    static_cast<void>(co_await (*session)->log_out());
    // Everything except the seal is on the disk.
    faults->is_on = true;
    exchange->close();
    co_await serving.join();
}

TEST_P(partitions, D4_a_sync_that_fails_at_the_end_is_a_failure_of_the_venue) {
    const base::test_folder directory;
    node::configuration c = two_partitions(GetParam(), directory.path());
    fails_syncs faults;
    c.partitions[1].journal_faults = &faults;
    io::context context;
    node::testing::started_venue exchange(context, c);
    io::block_on(context, trade_in_both(&context, &exchange, &faults));
    ASSERT_NE(exchange.failure(), nullptr);
    EXPECT_NE(exchange.failure()->find("/SECOND"), std::string::npos) << *exchange.failure();
}

}  // namespace
}  // namespace corro
