// SPDX-License-Identifier: Apache-2.0
#include "history/exporter.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "domain/definition.hpp"
#include "facility/command_generator.hpp"
#include "facility/recorder.hpp"
#include "history/moment.hpp"
#include "history/test_journal.hpp"
#include "recorded/formats/lobster.hpp"

namespace corro::history {
namespace {

namespace lobster = recorded::lobster;
using facility::testing::limit;

constexpr std::int64_t noon = 1'340'280'000'000'000'000;  // 2012-06-21T12:00:00Z

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

struct exporters : ::testing::Test {
    base::test_folder folder;
    std::vector<domain::instrument> instruments{facility::testing::wide_instrument(1)};
    facility::facility_options options{.orders_max = 1'000, .accounts_max = 10, .positions_max = 100};
    std::uint64_t sequence = 0;

    exporters() {
        instruments[0].name = domain::symbol{"AMZN"};
        instruments[0].tick_size = domain::price_nano{10'000'000};  // a cent
    }
    /// Makes the facility's consumer exchangeable.
    struct relay final : facility::event_consumer {
        facility::event_consumer* to = nullptr;
        void consume(std::span<const domain::event> events) noexcept override {
            if (to != nullptr) to->consume(events);
        }
    } relay;

    /// Two exporters at a time.
    struct pair final : facility::event_consumer {
        facility::event_consumer* first = nullptr;
        facility::event_consumer* second = nullptr;
        void consume(std::span<const domain::event> events) noexcept override {
            first->consume(events);
            second->consume(events);
        }
    } both_;

    domain::command at_noon(domain::command c) {
        c.sequence = domain::sequence_number{++sequence};
        c.time = domain::time_ns{noon + static_cast<std::int64_t>(sequence)};
        return c;
    }
};

TEST_F(exporters, know_an_instrument_from_its_definition_on) {
    options.instruments_reserved = 1;
    facility::facility venue(options, instruments, relay);
    domain::definition d;
    d.id = domain::instrument_id{2};
    d.like = domain::instrument_id{1};
    d.name = domain::symbol{"MSFT"};
    domain::command definition = domain::command_of(d);
    definition.set_operator(true);
    domain::command opening;
    opening.kind = domain::command_kind::change_phase;
    opening.instrument = d.id;
    opening.set_operator(true);
    domain::command order = limit(1, domain::side::buy, 31'000, 5, 77);
    order.instrument = d.id;
    const auto csv = make_csv_exporter(folder.path(), instruments, {}, {.levels = true});
    const auto lobster = make_lobster_exporter(folder.path(), instruments, d.id, 1);
    for (exporter* each : {csv.get(), lobster.get()}) each->begin(venue);
    struct both final : facility::event_consumer {
        std::vector<exporter*> to;
        void consume(std::span<const domain::event> events) noexcept override {
            for (exporter* each : to) each->consume(events);
        }
    } listeners;
    listeners.to = {csv.get(), lobster.get()};
    relay.to = &listeners;
    for (const domain::command& c : {definition, opening, order}) venue.apply(at_noon(c));
    csv->finish();
    lobster->finish();
    EXPECT_EQ(text_of(folder.path() + "/levels.csv"),
              "sequence,time,instrument,side,price,quantity,orders\n"
              "3,2012-06-21T12:00:00.000000003Z,MSFT,buy,310.00,5,1\n");
    EXPECT_EQ(text_of(folder.path() + "/MSFT_2012-06-21_0_86400000_orderbook_1.csv"),
              "9999999999,0,-9999999999,0\n9999999999,0,-9999999999,0\n9999999999,0,3100000,5\n");
}

TEST_F(exporters, write_a_symbol_with_a_comma_as_one_field_and_one_with_a_slash_into_their_own_folder) {
    instruments[0].name = domain::symbol{"../\"A\",%B"};
    facility::facility venue(options, instruments, relay);
    std::filesystem::create_directory(folder.path() + "/inner");
    const auto csv = make_csv_exporter(folder.path() + "/inner", instruments, {}, {.levels = true});
    const auto lobster = make_lobster_exporter(folder.path() + "/inner", instruments, {}, 1);
    struct each_once final : facility::event_consumer {
        exporter* first = nullptr;
        exporter* second = nullptr;
        void consume(std::span<const domain::event> events) noexcept override {
            first->consume(events);
            second->consume(events);
        }
    } listeners;
    listeners.first = csv.get();
    listeners.second = lobster.get();
    for (exporter* each : {csv.get(), lobster.get()}) each->begin(venue);
    relay.to = &listeners;
    venue.apply(at_noon(limit(1, domain::side::buy, 31'000, 5, 77)));
    csv->finish();
    lobster->finish();
    EXPECT_EQ(text_of(folder.path() + "/inner/levels.csv"),
              "sequence,time,instrument,side,price,quantity,orders\n"
              "1,2012-06-21T12:00:00.000000001Z,\"../\"\"A\"\",%B\",buy,310.00,5,1\n");
    EXPECT_EQ(text_of(folder.path() + "/inner/..%2F\"A\",%25B_2012-06-21_0_86400000_orderbook_1.csv"),
              "9999999999,0,3100000,5\n");
}

TEST_F(exporters, write_orders_trades_and_levels_as_csv) {
    facility::facility venue(options, instruments, relay);
    const auto csv =
        make_csv_exporter(folder.path(), instruments, {}, {.orders = true, .trades = true, .levels = true});
    relay.to = csv.get();
    csv->begin(venue);
    venue.apply(at_noon(limit(1, domain::side::buy, 22'310, 5, 77)));
    venue.apply(at_noon(limit(2, domain::side::sell, 22'300, 2, 78)));
    venue.apply(at_noon(limit(3, domain::side::sell, 22'300, 0, 79)));
    csv->finish();
    EXPECT_EQ(csv->problem(), "");
    EXPECT_EQ(csv->lines_count(), 10U);
    EXPECT_EQ(text_of(folder.path() + "/orders.csv"),
              "sequence,time,event,instrument,side,order,client_order,account,session,price,quantity,open,aggressor,"
              "reason,type,time_in_force,trigger_price,display_quantity,minimum_quantity\n"
              "1,2012-06-21T12:00:00.000000001Z,entered,AMZN,buy,4294967296,77,1,101,223.10,5,5,0,,,,,,\n"
              "2,2012-06-21T12:00:00.000000002Z,executed,AMZN,sell,4294967297,78,2,102,223.10,2,0,1,,,,,,\n"
              "2,2012-06-21T12:00:00.000000002Z,executed,AMZN,buy,4294967296,77,1,101,223.10,2,3,0,,,,,,\n"
              "3,2012-06-21T12:00:00.000000003Z,rejected,AMZN,sell,0,79,3,103,223.00,0,0,0,invalid_quantity,,,,,\n");
    EXPECT_EQ(text_of(folder.path() + "/trades.csv"),
              "sequence,time,trade,instrument,price,quantity,aggressor,buy_order,buy_account,sell_order,sell_account\n"
              "2,2012-06-21T12:00:00.000000002Z,1,AMZN,223.10,2,sell,4294967296,1,4294967297,2\n");
    EXPECT_EQ(text_of(folder.path() + "/levels.csv"),
              "sequence,time,instrument,side,price,quantity,orders\n"
              "1,2012-06-21T12:00:00.000000001Z,AMZN,buy,223.10,5,1\n"
              "2,2012-06-21T12:00:00.000000002Z,AMZN,buy,223.10,3,1\n");
}

TEST_F(exporters, write_every_accepted_order_as_it_was_sent_also_what_trades_at_once) {
    facility::facility venue(options, instruments, relay);
    const auto csv = make_csv_exporter(folder.path(), instruments, {}, {.orders = true});
    relay.to = csv.get();
    csv->begin(venue);
    const auto run = [&](domain::command c) {
        c = at_noon(c);
        csv->executing(c);
        venue.apply(c);
    };
    run(limit(1, domain::side::buy, 22'310, 5));
    domain::command iceberg = limit(1, domain::side::buy, 22'300, 6);
    iceberg.enter_order().display_quantity = domain::quantity_lots{2};
    iceberg.order_terms().time_in_force = domain::time_in_force::gtc;
    run(iceberg);
    domain::command all = limit(2, domain::side::sell, 22'290, 4, 78);
    all.order_terms().time_in_force = domain::time_in_force::ioc;
    run(all);
    domain::command market = limit(1, domain::side::sell, 0, 3);
    market.order_terms().type = domain::order_type::market;
    market.order_terms().time_in_force = domain::time_in_force::ioc;
    run(market);
    run(limit(3, domain::side::sell, 22'300, 0, 79));
    csv->finish();
    std::vector<std::string> accepted;
    std::istringstream lines(text_of(folder.path() + "/orders.csv"));
    for (std::string text; std::getline(lines, text);) {
        if (text.find(",accepted,") != std::string::npos) accepted.push_back(text.substr(text.find(",accepted,")));
    }
    EXPECT_EQ(accepted, (std::vector<std::string>{
                            ",accepted,AMZN,buy,4294967296,0,1,101,223.10,5,5,0,,limit,day,,0,0",
                            ",accepted,AMZN,buy,4294967297,0,1,101,223.00,6,6,0,,limit,gtc,,2,0",
                            ",accepted,AMZN,sell,4294967298,78,2,102,222.90,4,4,0,,limit,ioc,,0,0",
                            ",accepted,AMZN,sell,12884901890,0,1,101,,3,3,0,,market,ioc,,0,0",
                        }))
        << "the refused one has none";
}

TEST_F(exporters, take_recorded_times_instead_of_the_venues_clock) {
    const std::string path = folder.path() + "/times.csv";
    const std::int64_t a_year_before = noon - 365 * 86'400'000'000'000;
    std::ofstream(path) << "session,request,time\n101,1," << a_year_before + 5 << "\n102,1," << a_year_before + 7
                        << "\n";
    const recorded_times times = recorded_times::load(path);
    facility::facility venue(options, instruments, relay);
    const auto csv = make_csv_exporter(folder.path(), instruments, {}, {.trades = true, .levels = true});
    const auto lobster = make_lobster_exporter(folder.path(), instruments, {}, 1);
    for (exporter* const files : {csv.get(), lobster.get()}) files->take_times_from(times);
    const auto run = [&](domain::command c, std::uint32_t request) {
        c = at_noon(c);
        c.set_request(request);
        for (exporter* const files : {csv.get(), lobster.get()}) files->executing(c);
        both_.first = csv.get();
        both_.second = lobster.get();
        relay.to = &both_;
        venue.apply(c);
    };
    run(limit(1, domain::side::buy, 22'310, 5), 1);
    run(limit(2, domain::side::sell, 22'310, 2), 1);
    run(limit(1, domain::side::sell, 22'310, 1), 2);  // without a recorded time
    csv->finish();
    lobster->finish();
    EXPECT_EQ(text_of(folder.path() + "/levels.csv"),
              "sequence,time,instrument,side,price,quantity,orders\n"
              "1,2011-06-22T12:00:00.000000005Z,AMZN,buy,223.10,5,1\n"
              "2,2011-06-22T12:00:00.000000007Z,AMZN,buy,223.10,3,1\n"
              "3,2011-06-22T12:00:00.000000007Z,AMZN,buy,223.10,2,1\n");
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/AMZN_2011-06-22_0_86400000_message_1.csv"))
        << "the day of the files is the recorded one";
    std::ofstream(path) << "session,request,time\n1,2\n";
    EXPECT_THROW(static_cast<void>(recorded_times::load(path)), std::runtime_error);
}

TEST_F(exporters, write_the_files_that_lobster_sells) {
    facility::facility venue(options, instruments, relay);
    const auto files = make_lobster_exporter(folder.path(), instruments, {}, 2);
    relay.to = files.get();
    files->begin(venue);
    venue.apply(at_noon(limit(1, domain::side::buy, 22'310, 5, 77)));
    venue.apply(at_noon(limit(2, domain::side::sell, 22'300, 2, 78)));
    domain::command cancel = limit(1, domain::side::buy, 0, 0, 77);
    cancel.kind = domain::command_kind::cancel_order;
    venue.apply(at_noon(cancel));
    files->finish();
    EXPECT_EQ(files->problem(), "");
    EXPECT_EQ(text_of(folder.path() + "/AMZN_2012-06-21_0_86400000_message_2.csv"),
              "43200.000000001,1,4294967296,5,2231000,1\n"
              "43200.000000002,4,4294967296,2,2231000,1\n"
              "43200.000000003,3,4294967296,3,2231000,1\n");
    EXPECT_EQ(text_of(folder.path() + "/AMZN_2012-06-21_0_86400000_orderbook_2.csv"),
              "9999999999,0,2231000,5,9999999999,0,-9999999999,0\n"
              "9999999999,0,2231000,3,9999999999,0,-9999999999,0\n"
              "9999999999,0,-9999999999,0,9999999999,0,-9999999999,0\n");
}

TEST_F(exporters, say_what_a_lobster_file_cannot_hold) {
    instruments[0].tick_size = domain::price_nano{1};
    facility::facility venue(options, instruments, relay);
    const auto files = make_lobster_exporter(folder.path(), instruments, {}, 1);
    relay.to = files.get();
    venue.apply(at_noon(limit(1, domain::side::buy, 5, 5)));
    EXPECT_EQ(files->problem(),
              "AMZN: a LOBSTER file cannot hold the price 0.000000005; it allows multiples of 0.0001 from 0.0001 to "
              "999999.9998, so export as csv");
}

template <class Decoder>
void feed_file(Decoder& decoder, const std::string& text) {
    decoder.feed(std::as_bytes(std::span{text}));
    decoder.finish();
}

/// Rebuilds the book from a message file, order by order, and compares with the book file, line by line.
void compare_files(const std::string& messages_text, const std::string& books_text, std::size_t depth,
                   std::uint64_t& lines) {
    lobster::message_decoder messages;
    lobster::book_decoder books;
    feed_file(messages, messages_text);
    feed_file(books, books_text);
    std::map<std::uint64_t, lobster::message> open;
    for (;;) {
        const auto m = messages.next();
        const auto b = books.next();
        ASSERT_TRUE(m) << m.error().code.message() << " in line " << m.error().line;
        ASSERT_TRUE(b) << b.error().code.message() << " in line " << b.error().line;
        ASSERT_EQ(m->has_value(), b->has_value());
        if (!*m) break;
        ++lines;
        const lobster::message& message = **m;
        if (message.type == lobster::event_type::new_order) {
            ASSERT_TRUE(open.emplace(message.order_id, message).second);
        } else if (message.type != lobster::event_type::trading_halt) {
            const auto at = open.find(message.order_id);
            ASSERT_NE(at, open.end());
            ASSERT_EQ(at->second.price, message.price);
            ASSERT_EQ(at->second.side, message.side);
            ASSERT_GE(at->second.size, message.size);
            at->second.size -= message.size;
            if (at->second.size == 0) open.erase(at);
        }
        std::map<std::int64_t, std::uint64_t> bids;
        std::map<std::int64_t, std::uint64_t> asks;
        for (const auto& [id, o] : open) {
            (o.side == domain::side::buy ? bids : asks)[o.side == domain::side::buy ? -o.price.value : o.price.value] +=
                o.size;
        }
        ASSERT_EQ((*b)->levels.size(), depth);
        auto bid = bids.begin();
        auto ask = asks.begin();
        for (const lobster::level& l : (*b)->levels) {
            ASSERT_EQ(l.bid.empty(), bid == bids.end()) << "line " << message.line;
            ASSERT_EQ(l.ask.empty(), ask == asks.end()) << "line " << message.line;
            if (bid != bids.end()) {
                ASSERT_EQ(l.bid.price.value, -bid->first);
                ASSERT_EQ(l.bid.size, (bid++)->second);
            }
            if (ask != asks.end()) {
                ASSERT_EQ(l.ask.price.value, ask->first);
                ASSERT_EQ(l.ask.size, (ask++)->second);
            }
        }
    }
}

TEST_F(exporters, messages_and_books_of_random_flow_agree_when_the_reader_of_recordings_reads_them) {
    base::prng seeds{base::test_seed()};
    std::uint64_t lines = 0;
    int read_files = 0;
    for (int round = 0; round < 40; ++round) {
        facility::testing::command_generator generator(seeds());
        if (generator.profile().price_spread > 300) continue;
        // An implied price may lie outside the band of its book, at zero and below.
        if (std::ranges::any_of(generator.profile().instruments, &domain::instrument::implied)) continue;
        // Prices in whole cents, all above zero.
        std::vector<domain::instrument> traded = generator.profile().instruments;
        for (domain::instrument& i : traded) {
            i.name = domain::symbol{"I" + std::to_string(i.id.value)};
            i.tick_size = domain::price_nano{10'000'000};
            if (i.price_low.value < 1) i.price_low = domain::price_ticks{1};
        }
        if (std::ranges::any_of(traded, [](const auto& i) { return i.price_high.value < 2; })) continue;
        const std::string path = folder.path() + "/" + std::to_string(round);
        std::filesystem::create_directories(path);
        facility::testing::recorder seen;
        facility::facility venue(generator.profile().options, traded, seen);
        const auto files = make_lobster_exporter(path, traded, {}, 3);
        files->begin(venue);
        for (int i = 0; i < 1'500; ++i) {
            domain::command c = generator.next();
            c.payload.enter_order.price.value += 2 * generator.profile().price_spread;
            c.payload.enter_order.trigger_price.value += 2 * generator.profile().price_spread;
            seen.events.clear();
            venue.apply(c);
            generator.learn(seen.events);
            files->consume(seen.events);
        }
        files->finish();
        ASSERT_EQ(files->problem(), "");
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            std::string name = entry.path().filename().string();
            const std::size_t at = name.find("message");
            if (at == std::string::npos) continue;
            const std::string messages = text_of(entry.path());
            const std::string books = text_of(path + "/" + name.replace(at, 7, "orderbook"));
            if (messages.empty()) continue;
            compare_files(messages, books, 3, lines);
            if (HasFatalFailure()) return;
            ++read_files;
        }
    }
    EXPECT_GT(read_files, 10);
    EXPECT_GT(lines, 5'000U);
}

}  // namespace
}  // namespace corro::history
