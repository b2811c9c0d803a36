// SPDX-License-Identifier: Apache-2.0
#include "api/history_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/history_service.hpp"
#include "api/json_value.hpp"
#include "api/json_writer.hpp"
#include "api/market_levels.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "facility/recorder.hpp"
#include "history/test_journal.hpp"
#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"

namespace corro::api {
namespace {

using domain::event_kind;

history_query query_of(std::string_view path, std::string_view query) {
    const auto read = parse_history_query(path, query, "");
    EXPECT_TRUE(read.has_value()) << path << "?" << query;
    return read.value_or(history_query());
}

TEST(history_query, has_moments_limits_and_a_format) {
    const history_query q = query_of("trades", "instrument=ONE&from=2026-01-05T09%3A30&to=77&limit=5&format=csv");
    EXPECT_EQ(q.instrument, "ONE");
    EXPECT_TRUE(q.from.is_time);
    EXPECT_EQ(q.to, history::moment(domain::sequence_number{77}));
    EXPECT_EQ(q.limit, 5U);
    EXPECT_EQ(q.format, history_format::csv);
    EXPECT_EQ(query_of("book", "instrument=ONE").from, history::latest());
    EXPECT_EQ(query_of("columns", "instrument=ONE&column=250").column_us, 250'000);
    for (const auto& [accept, format] : std::vector<std::pair<std::string_view, history_format>>{
             {"", history_format::json},
             {"*/*", history_format::json},
             {"text/html, application/xhtml+xml, */*;q=0.8", history_format::json},
             {"text/csv", history_format::csv},
             {"text/csv;q=0, application/json", history_format::json},
             {"application/vnd.apache.arrow.stream;q=0.9", history_format::arrow}}) {
        EXPECT_EQ(parse_history_query("trades", "instrument=ONE", accept)->format, format) << accept;
    }
}

TEST(history_query, refuses_what_it_does_not_know_and_names_the_parameter) {
    for (const auto& [path, query, param] :
         std::vector<std::array<std::string_view, 3>>{{"trades", "", "instrument"},
                                                      {"trades", "instrument=", "instrument"},
                                                      {"trades", "instrument=%f", "instrument"},
                                                      {"trades", "instrument=ONE&from=yesterday", "from"},
                                                      {"trades", "instrument=ONE&to=2026-13-05", "to"},
                                                      {"trades", "instrument=ONE&from=-1", "from"},
                                                      {"trades", "instrument=ONE&limit=0", "limit"},
                                                      {"trades", "instrument=ONE&limit=50001", "limit"},
                                                      {"trades", "instrument=ONE&limit=1e3", "limit"},
                                                      {"trades", "instrument=ONE&format=xml", "format"},
                                                      {"trades", "instrument=ONE&format=frame", "format"},
                                                      {"trades", "instrument=ONE&at=5", "at"},
                                                      {"trades", "instrument=ONE&depth=5", "depth"},
                                                      {"trades", "instrument=ONE&nonsense=5", "nonsense"},
                                                      {"trades", "instrument=ONE&%22%ff=5", ""},
                                                      {"book", "instrument=ONE&from=5", "from"},
                                                      {"book", "instrument=ONE&at=x", "at"},
                                                      {"book", "instrument=ONE&at=1&at=2", "at"},
                                                      {"trades", "instrument=ONE&instrument=ONE", "instrument"},
                                                      {"trades", "limit=5&instrument=ONE&limit=5", "limit"},
                                                      {"book", "instrument=ONE&at=18446744073709551615", "at"},
                                                      {"trades", "instrument=ONE&from=18446744073709551615", "from"},
                                                      {"book", "instrument=ONE&depth=10001", "depth"},
                                                      {"book", "instrument=ONE&digest=yes", "digest"},
                                                      {"trades", "instrument=ONE&digest=1", "digest"},
                                                      {"columns", "instrument=ONE&column=9", "column"},
                                                      {"columns", "instrument=ONE&format=json", "format"},
                                                      {"columns", "instrument=ONE&limit=5", "limit"},
                                                      {"columns", "instrument=ONE&pictures=0", "pictures"}}) {
        const auto read = parse_history_query(path, query, "");
        ASSERT_FALSE(read.has_value()) << path << "?" << query;
        EXPECT_EQ(read.error().code, error_code::invalid_params) << path << "?" << query;
        EXPECT_EQ(read.error().param, param) << path << "?" << query;
    }
    for (const char* path : {"", "trade", "trades/", "../trades", "levels/ONE"}) {
        const auto read = parse_history_query(path, "instrument=ONE", "");
        ASSERT_FALSE(read.has_value()) << path;
        EXPECT_EQ(read.error().code, error_code::method_not_found) << path;
    }
}

/// A journal of a seed, its events by a facility that executes its commands once, and a reader.
class history_readers : public ::testing::Test {
 protected:
    history_readers() {
        io::block_on(context, history::write_journal(&disk, folder.path(), &what));
        facility::testing::recorder seen;
        facility::facility live(what.venue.options, what.venue.instruments, seen);
        for (const domain::command& each : what.commands) live.apply(each);
        events = seen.events;
        // The instrument with the most trades.
        std::map<std::uint32_t, int> trades;
        for (const domain::event& e : events) trades[e.instrument.value] += e.kind == event_kind::trade ? 1 : 0;
        for (const domain::instrument& i : what.venue.instruments) {
            if (of == nullptr || trades[i.id.value] > trades[of->id.value]) of = &i;
        }
        name = std::string(of->name.view());
    }
    void index(std::uint64_t interval) {
        auto opened = io::block_on(context, history::timeline::open(&disk, folder.path(), what.venue));
        ASSERT_TRUE(opened.has_value());
        const auto made = io::block_on(context, history::make_index(opened->get(), interval));
        ASSERT_TRUE(made.has_value());
        EXPECT_GT(made->snapshots_written, 0U);
    }
    history_answer ask(history_query q) {
        q.instrument = name;
        auto result = io::block_on(context, reader.answer(&q));
        EXPECT_TRUE(result.has_value()) << result.error().reason;
        return result.value_or(history_answer());
    }
    /// All pages of a question as lines of CSV, without the names.
    std::vector<std::string> lines(std::string_view path, std::uint64_t limit, std::uint32_t account = 0) {
        std::vector<std::string> all;
        history_query q = query_of(path, "instrument=x&format=csv");
        q.limit = limit;
        q.account = domain::account_id{account};
        for (int pages = 0; pages < 100'000; ++pages) {
            const history_answer answer = ask(q);
            std::size_t begin = answer.body.find('\n') + 1;
            while (begin < answer.body.size()) {
                const std::size_t end = answer.body.find('\n', begin);
                all.push_back(answer.body.substr(begin, end - begin));
                begin = end + 1;
            }
            if (!answer.next) return all;
            q.from = history::moment(domain::sequence_number{*answer.next});
        }
        ADD_FAILURE() << "it never ends";
        return all;
    }

    base::prng random{base::test_seed()};
    history::generated what{random(), 5'000};
    io::context context;
    journal::disk_storage disk{context};
    base::test_folder folder;
    std::vector<domain::event> events;
    const domain::instrument* of = nullptr;
    std::string name;
    history_reader reader{&disk, history_source{folder.path(), what.venue}};
};

TEST_F(history_readers, trades_and_levels_are_those_of_the_events_however_they_are_paged) {
    std::vector<std::string> trades;
    std::vector<std::string> levels;
    const auto price = [this](domain::price_ticks ticks) {
        std::string text;
        json_writer(text).decimal(ticks.value * of->tick_size.value);
        return text;
    };
    for (const domain::event& e : events) {
        if (e.instrument != of->id) continue;
        const std::string head = std::to_string(e.command.value) + "," + history::format_time(e.time) + ",";
        const std::string side = e.side == domain::side::buy ? "buy" : "sell";
        if (e.kind == event_kind::trade) {
            trades.push_back(head + std::to_string(e.trade.trade.value) + "," + price(e.trade.price) + "," +
                             std::to_string(e.trade.quantity.value * of->lot_size) + "," + side);
        }
        if (e.kind == event_kind::level_changed) {
            levels.push_back(head + side + "," + price(e.level.price) + "," +
                             std::to_string(e.level.quantity.value * of->lot_size) + "," +
                             std::to_string(e.level.orders_count));
        }
    }
    ASSERT_GT(trades.size(), 5U);
    ASSERT_GT(levels.size(), 50U);
    EXPECT_EQ(lines("trades", 50'000), trades);
    EXPECT_EQ(lines("trades", 3), trades);
    EXPECT_EQ(lines("levels", 50'000), levels);
    index(700);
    EXPECT_EQ(lines("levels", 17), levels);
}

TEST_F(history_readers, a_full_answer_ends_with_the_command_of_its_last_row) {
    history_query q = query_of("levels", "instrument=x&limit=3&format=csv");
    std::size_t pages = 0;
    for (; pages < 20; ++pages) {
        const history_answer answer = ask(q);
        if (!answer.next) break;
        ASSERT_GE(answer.body.size(), 2U);
        const std::size_t row = answer.body.rfind('\n', answer.body.size() - 2) + 1;
        const std::string last =
            std::to_string(answer.sequence) + "," + history::format_time(domain::time_ns{answer.time_ns}) + ",";
        EXPECT_EQ(answer.body.substr(row, last.size()), last) << "a poller that goes on there misses nothing";
        EXPECT_EQ(answer.next, answer.sequence);
        q.from = history::moment(domain::sequence_number{answer.sequence});
    }
    EXPECT_GT(pages, 5U);
}

TEST_F(history_readers, orders_are_those_of_one_account) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const domain::event& e : events) {
        if (e.instrument != of->id) continue;
        switch (e.kind) {
            case event_kind::order_executed: ++counts[e.execution.account.value]; break;
            case event_kind::order_entered:
            case event_kind::order_amended:
            case event_kind::order_cancelled:
            case event_kind::order_rejected: ++counts[e.order.account.value]; break;
            default: break;
        }
    }
    ASSERT_GT(counts.size(), 1U);
    for (const auto& [account, count] : counts) {
        if (account == 0) continue;
        EXPECT_EQ(lines("orders", 100, account).size(), count) << "account " << account;
    }
}

TEST_F(history_readers, a_book_is_the_one_at_its_moment) {
    index(700);
    for (int k = 0; k < 30; ++k) {
        const std::uint64_t sequence = 1 + random.below(what.commands.size());
        std::array<level_map, 2> book;
        for (const domain::event& e : events) {
            if (e.command.value > sequence) break;
            if (e.instrument != of->id || e.kind != event_kind::level_changed) continue;
            level_map& side = book[static_cast<std::size_t>(e.side)];
            const std::int64_t rank = rank_of(e.side, e.level.price);
            if (e.level.quantity.value == 0) {
                side.erase(rank);
            } else {
                side[rank] = e.level.quantity.value;
            }
        }
        history_query q = query_of("book", "instrument=x&depth=10000&digest=0");
        q.from = history::moment(domain::sequence_number{sequence});
        EXPECT_EQ(ask(q).digest, std::nullopt) << "it reads the whole state";
        q.wants_digest = true;
        const history_answer answer = ask(q);
        EXPECT_EQ(answer.sequence, sequence);
        EXPECT_EQ(answer.digest, what.hashes[sequence - 1]);
        const auto rows = parse_json(answer.body);
        if (!rows) continue;  // it has more values than a request may have
        ASSERT_EQ(rows->items.size(), book[0].size() + book[1].size());
        std::size_t row = 0;
        for (std::size_t side = 0; side < 2; ++side) {
            for (const auto& [rank, lots] : book[side]) {
                const json_value& one = rows->items[row++];
                EXPECT_EQ(one.find("side")->text, side == 0 ? "buy" : "sell");
                EXPECT_EQ(one.find("quantity")->text, std::to_string(lots * of->lot_size));
            }
        }
    }
}

TEST_F(history_readers, a_question_that_is_given_up_is_not_executed_further) {
    history_query q = query_of("trades", "instrument=x&format=csv");
    q.instrument = name;
    std::atomic<bool> given_up{true};
    const auto result = io::block_on(context, reader.answer(&q, &given_up));
    EXPECT_FALSE(result.has_value());
    EXPECT_LE(reader.commands_count(), 2'000U) << "of 5,000";
    given_up = false;
    EXPECT_TRUE(io::block_on(context, reader.answer(&q, &given_up)).has_value());
    EXPECT_GE(reader.commands_count(), 5'000U);
}

TEST_F(history_readers, a_moment_behind_the_end_is_refused_by_number_and_not_by_time) {
    history_query q = query_of("book", "instrument=x");
    q.instrument = name;
    q.from = history::moment(domain::sequence_number{5'001});
    auto refused = io::block_on(context, reader.answer(&q));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, error_code::invalid_params);
    EXPECT_EQ(refused.error().param, "at");
    history_query rows = query_of("trades", "instrument=x");
    rows.instrument = name;
    rows.from = q.from;
    refused = io::block_on(context, reader.answer(&rows));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().param, "from");
    q.from = history::moment(domain::time_ns{what.commands.back().time.value + 1});
    EXPECT_EQ(ask(q).sequence, 5'000U);
}

io::task<> ask_one(history_service* of, history_query q, std::uint16_t port, history_result* into) {
    *into = co_await of->ask(std::move(q), io::endpoint::loopback(port));
}

io::task<> ask_and_leave(history_service* of, history_query q) {
    constexpr std::size_t share = history_questions_per_client_max;
    std::vector<history_result> results(share + 1, history_answer());
    {
        io::task_scope clients(co_await io::this_context());
        std::uint16_t port = 1'000;
        for (history_result& each : results) clients.spawn(ask_one(of, q, ++port, &each));
        co_await io::yield();
        clients.request_stop();
        co_await clients.join();
    }
    EXPECT_EQ(of->waiting_count(), 0U);
    EXPECT_FALSE(results[share].has_value());
    if (!results[share]) {
        EXPECT_EQ(results[share].error().code, error_code::too_many_requests);
    }
    // The worker may have been quick.
    results.pop_back();
    const auto is_missing = [](const history_result& each) { return !each.has_value(); };
    EXPECT_EQ(of->given_up_count(), static_cast<std::uint64_t>(std::ranges::count_if(results, is_missing)));
    const history_result later = co_await of->ask(q, io::endpoint::loopback(1));
    EXPECT_TRUE(later.has_value());
}

TEST_F(history_readers, one_client_has_a_share_of_the_questions_and_gets_it_back_when_it_leaves) {
    history_service service(context, {history_source{folder.path(), what.venue}});
    history_query q = query_of("trades", "instrument=x&format=csv");
    q.instrument = name;
    io::block_on(context, ask_and_leave(&service, q));
    EXPECT_EQ(service.questions_count(), history_questions_per_client_max + 1);
    EXPECT_GE(service.commands_count(), 5'000U);
}

/// Adds up the columns of a frame of the past.
std::array<std::map<double, double>, 2> added_up(std::string_view frame, double& columns_count) {
    std::vector<double> f(frame.size() / 8);
    std::memcpy(f.data(), frame.data(), f.size() * 8);
    EXPECT_EQ(f[1], 3);
    columns_count = f[23];
    std::array<std::map<double, double>, 2> shown;
    std::size_t at = 24;
    for (double k = 0; k < f[23]; ++k) {
        const std::array<double, 2> counts{f[at + 8], f[at + 9]};
        at += 10;
        for (std::size_t side = 0; side < 2; ++side) {
            for (double n = 0; n < counts[side]; ++n, at += 2) {
                if (f[at + 1] == 0) {
                    EXPECT_EQ(shown[side].erase(f[at]), 1U);
                } else {
                    shown[side][f[at]] = f[at + 1];
                }
            }
        }
    }
    EXPECT_EQ(at, f.size());
    return shown;
}

TEST_F(history_readers, columns_and_pictures_add_up_to_the_book) {
    index(700);
    std::array<std::map<double, double>, 2> book;
    for (const domain::event& e : events) {
        if (e.instrument != of->id || e.kind != event_kind::level_changed) continue;
        auto& side = book[static_cast<std::size_t>(e.side)];
        if (e.level.quantity.value == 0) {
            side.erase(static_cast<double>(e.level.price.value));
        } else {
            side[static_cast<double>(e.level.price.value)] = static_cast<double>(e.level.quantity.value);
        }
    }
    history_query q = query_of("columns", "instrument=x&column=10");
    // Two slots behind the last command the columns show the book.
    q.to = history::moment(domain::time_ns{what.commands.back().time.value + 50'000'000});
    double count = 0;
    history_answer answer = ask(q);
    EXPECT_FALSE(answer.next.has_value());
    EXPECT_EQ(added_up(answer.body, count), book);
    EXPECT_GE(count, 2);
    q.from = history::moment(domain::sequence_number{what.commands.size() / 2});
    EXPECT_EQ(added_up(ask(q).body, count), book) << "the first column has all levels";
    q.from = history::moment();
    q.pictures = 4;
    answer = ask(q);
    added_up(answer.body, count);
    EXPECT_EQ(count, 4);
    EXPECT_EQ(answer.sequence % 700, 0U) << "at snapshots";
}

TEST_F(history_readers, moments_and_instruments_that_are_not_there_are_refused) {
    history_query q = query_of("book", "instrument=x");
    q.instrument = name;
    q.from = history::moment(domain::sequence_number{what.commands.size() + 1});
    auto result = io::block_on(context, reader.answer(&q));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, error_code::invalid_params);
    q = query_of("trades", "instrument=NONE");
    result = io::block_on(context, reader.answer(&q));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, error_code::invalid_instrument);
    EXPECT_FALSE(reader.is_configured("NONE"));
    EXPECT_TRUE(reader.is_configured(name));
    // It is of use again.
    EXPECT_FALSE(lines("trades", 1'000).empty());
    history_reader elsewhere(&disk, history_source{folder.path() + "/nothing", what.venue});
    result = io::block_on(context, elsewhere.answer(&q));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, error_code::system_maintenance);
    EXPECT_EQ(result.error().reason.find(folder.path()), std::string::npos) << "no names of folders for strangers";
}

}  // namespace
}  // namespace corro::api
