// SPDX-License-Identifier: Apache-2.0
// Random markets, random requests, and clients of which some read slowly: whenever a client has read everything, it has
// what the image of the book has, and every trade once.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/session/message_store.hpp"
#include "fix_market_data/distribution.hpp"
#include "fix_market_data/limits.hpp"
#include "fix_market_data/random_market.hpp"
#include "fix_market_data/test_client.hpp"

namespace corro::fix_market_data {
namespace {

using testing::client_book;
using testing::random_market;
using testing::test_client;

/// The venue's end of a session, and the client that reads what it writes.
class connected_client final : outlet {
 public:
    connected_client(distribution& among, fix_version version, std::size_t room)
        : begin_string_(version == fix_version::v4_2   ? "FIX.4.2"
                        : version == fix_version::v4_4 ? "FIX.4.4"
                                                       : "FIXT.1.1"),
          store_(0),
          session_(settings(begin_string_), store_),
          room_(room),
          subscriptions(among, *this, version) {
        session_.begin({});
        receive("35=A|98=0|108=30|1137=9|");
        session_.accept_logon({});
        EXPECT_TRUE(session_.may_send());
    }

    /// Sends a request as a client would.
    void ask(const std::string& body) {
        receive("35=V|" + body);
        market_data_request request;
        request_problem problem = read_request(session_.message(), subscriptions.version(), request);
        if (!problem.is_there()) problem = subscriptions.take(request);
        last_problem = problem;
    }

    /// The client reads everything that was written.
    void read() {
        std::string bytes;
        session_.take_output(&bytes);
        std::string_view left = bytes;
        while (!left.empty()) {
            const fix::frame_result frame = fix::next_frame(left, fix::message_bytes_max_default);
            ASSERT_EQ(frame.state, fix::frame_state::complete);
            ASSERT_FALSE(index_.index(left, frame));
            client.take(index_);
            left.remove_prefix(frame.bytes);
        }
        subscriptions.resume();
    }

    test_client client;
    bool has_given_up = false;
    request_problem last_problem;

 private:
    static fix::session_settings settings(const std::string& begin_string) {
        fix::session_settings s;
        s.identity.begin_string = begin_string;
        s.identity.sender_comp_id = "CORRO";
        s.identity.target_comp_id = "C";
        s.sending_time_tolerance = std::chrono::seconds(0);
        return s;
    }
    void receive(const std::string& body) {
        const std::size_t type_end = body.find('|') + 1;
        const std::string header = "34=" + std::to_string(++sent_) + "|49=C|52=20260102-12:00:00|56=CORRO|";
        received_ = fix::testing::framed(body.substr(0, type_end) + header + body.substr(type_end), begin_string_);
        session_.take(received_, fix::next_frame(received_, fix::message_bytes_max_default), {});
    }

    fix::session& session() noexcept override { return session_; }
    fix::instant now() const noexcept override { return {}; }
    bool has_room() noexcept override { return !has_given_up && session_.output().size() < room_; }
    void flush() noexcept override {}
    void give_up() noexcept override { has_given_up = true; }

    std::string begin_string_;
    fix::memory_store store_;
    fix::session session_;
    std::size_t room_;
    std::uint64_t sent_ = 0;
    std::string received_;
    fix::field_index index_;

 public:
    client_subscriptions subscriptions;
};

void serve_all(distribution& d) {
    d.catch_up();
    for (int turns = 0; d.take_turn(); ++turns) ASSERT_LT(turns, 100'000);
}

struct asked {
    std::size_t client = 0;
    std::string id;
    domain::instrument instrument;
    std::size_t levels = 0;
    std::string types;
    bool is_incremental = false;
    std::size_t trades_before = 0;
};

/// What the client should have of the levels.
std::map<std::int64_t, testing::client_level> expected(const feed::book_image& book, const asked& a,
                                                       domain::side side) {
    std::map<std::int64_t, testing::client_level> all;
    for (const feed::image_level& l : book.levels(side, a.levels)) {
        all[domain::to_nano(a.instrument, l.price).value] = {l.quantity.value * a.instrument.lot_size, l.orders_count};
    }
    return all;
}

void expect_same(random_market& market, const client_book& has, const asked& a, fix_version version) {
    const feed::book_image& book = *market.feed.book(a.instrument.id);
    const auto wants = [&](char type) { return a.types.find(type) != std::string::npos; };
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        const auto k = static_cast<std::size_t>(side);
        if (wants(side == domain::side::buy ? '0' : '1')) {
            EXPECT_TRUE(has.levels[k] == expected(book, a, side)) << a.id << ", side " << k;
        } else {
            EXPECT_TRUE(has.levels[k].empty());
        }
    }
    const auto expect_value = [&](const char* key, bool is_there) {
        EXPECT_EQ(has.values.contains(key), is_there) << a.id << ", " << key;
    };
    expect_value("7", wants('7') && book.prices().high != domain::no_price);
    expect_value("8", wants('8') && book.prices().low != domain::no_price);
    expect_value("B", wants('B'));
    if (wants('B')) {
        EXPECT_EQ(has.values.at("B"), " " + std::to_string(book.volumes().volume.value * a.instrument.lot_size));
    }
    const bool marks = version == fix_version::v5_0;
    expect_value("0K", marks && wants('0') && book.implied().bid_quantity.value != 0);
    expect_value("1K", marks && wants('1') && book.implied().ask_quantity.value != 0);
    if (!wants('2') || !a.is_incremental) {
        EXPECT_TRUE(has.trades.empty());
        return;
    }
    const std::vector<std::uint64_t>& all = market.trades[a.instrument.id.value];
    EXPECT_EQ(has.trades,
              std::vector<std::uint64_t>(all.begin() + static_cast<std::ptrdiff_t>(a.trades_before), all.end()));
}

class random_run {
 public:
    explicit random_run(std::uint64_t seed) : random_(seed * 31 + 1), market_(seed), distribution_(market_.feed) {
        market_.trade(static_cast<int>(random_.below(200)));
        distribution_.catch_up();
        const std::size_t count = 1 + random_.below(4);
        for (std::size_t k = 0; k < count; ++k) {
            constexpr std::array<fix_version, 3> versions{fix_version::v4_2, fix_version::v4_4, fix_version::v5_0};
            const std::size_t room = random_.below(2) == 0 ? 1 : 1 + random_.below(60'000);
            clients_.push_back(std::make_unique<connected_client>(distribution_, versions[random_.below(3)], room));
        }
    }

    void play() {
        for (int step = 0; step < 60 && !::testing::Test::HasFailure(); ++step) {
            if (random_.below(4) == 0) ask();
            if (random_.below(12) == 0) end_one();
            market_.trade(static_cast<int>(1 + random_.below(random_.below(8) == 0 ? 200 : 4)));
            serve_all(distribution_);
            for (std::size_t k = 0; k < clients_.size(); ++k) {
                if (random_.below(3) == 0) clients_[k]->read();
            }
        }
        read_all();
        for (const asked& a : asked_) {
            connected_client& c = *clients_[a.client];
            EXPECT_FALSE(c.has_given_up);
            const auto found = c.client.books.find({a.id, std::string(a.instrument.name.view())});
            ASSERT_NE(found, c.client.books.end());
            expect_same(market_, found->second, a, c.subscriptions.version());
            changes_ += found->second.changes;
        }
        for (const auto& c : clients_) EXPECT_TRUE(c->client.refused.empty());
    }
    [[nodiscard]] std::uint64_t changes() const { return changes_; }

 private:
    void ask() {
        asked a;
        a.client = random_.below(clients_.size());
        connected_client& c = *clients_[a.client];
        a.id = "r" + std::to_string(++requests_);
        a.instrument = market_.instruments[random_.below(market_.instruments.size())];
        const std::size_t depth = random_.below(4) == 0 ? 0 : 1 + random_.below(10);
        a.levels = depth == 0 ? levels_max : depth;
        a.is_incremental = random_.below(3) != 0;
        const std::string possible = c.subscriptions.version() == fix_version::v4_2 ? "01278" : "01278BC";
        for (const char type : possible) {
            if (random_.below(3) != 0) a.types += type;
        }
        if (a.types.empty()) a.types = "0";
        // The trades before the W are not in X. It is made in the next turn of the distribution.
        c.read();
        serve_all(distribution_);
        a.trades_before = market_.trades[a.instrument.id.value].size();
        std::string body = "262=" + a.id + "|263=1|264=" + std::to_string(depth) +
                           "|265=" + (a.is_incremental ? "1" : "0") + "|267=" + std::to_string(a.types.size()) + "|";
        for (const char type : a.types) body += std::string("269=") + type + "|";
        c.ask(body + "146=1|55=" + std::string(a.instrument.name.view()) + "|");
        ASSERT_FALSE(c.last_problem.is_there()) << c.last_problem.text;
        while (c.subscriptions.count() != 0 &&
               !c.client.books.contains({a.id, std::string(a.instrument.name.view())})) {
            serve_all(distribution_);
            c.read();
        }
        asked_.push_back(a);
    }

    void end_one() {
        if (asked_.empty()) return;
        const std::size_t k = random_.below(asked_.size());
        connected_client& c = *clients_[asked_[k].client];
        c.ask("262=" + asked_[k].id + "|263=2|");
        ASSERT_FALSE(c.last_problem.is_there());
        asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(k));
    }

    void read_all() {
        for (int k = 0; k < 10'000; ++k) {
            serve_all(distribution_);
            bool is_quiet = true;
            for (const auto& c : clients_) {
                const std::size_t before = count(*c);
                c->read();
                is_quiet = is_quiet && count(*c) == before;
            }
            if (is_quiet && !distribution_.has_work()) return;
        }
        ADD_FAILURE() << "there is no end";
    }
    static std::size_t count(const connected_client& c) {
        std::size_t all = 0;
        for (const auto& [key, book] : c.client.books) all += book.changes + book.snapshots;
        return all;
    }

    base::prng random_;
    random_market market_;
    distribution distribution_;
    std::vector<std::unique_ptr<connected_client>> clients_;
    std::vector<asked> asked_;
    std::uint64_t requests_ = 0;
    std::uint64_t changes_ = 0;
};

TEST(market_data_distribution, gives_every_client_the_book_however_slowly_it_reads) {
    std::uint64_t changes = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        random_run run(seed);
        run.play();
        if (HasFailure()) return;
        changes += run.changes();
    }
    EXPECT_GT(changes, 10'000U) << "the markets must move";
}

std::string request(const std::string& id, const std::string& symbol, int depth = 10) {
    return "262=" + id + "|263=1|264=" + std::to_string(depth) + "|265=1|267=2|269=0|269=1|146=1|55=" + symbol + "|";
}

// Twice the subscriptions are twice the work, and those of instruments that have not changed are none.
TEST(market_data_distribution, works_in_proportion_to_the_subscriptions_of_what_changes) {
    const auto steps_of = [](std::size_t on_first, std::size_t on_others) {
        random_market market(12);
        distribution d(market.feed);
        std::vector<std::unique_ptr<connected_client>> clients;
        domain::instrument quiet = market.instruments.front();
        const auto add = [&](const domain::instrument& i) {
            clients.push_back(std::make_unique<connected_client>(d, fix_version::v4_4, std::size_t{1} << 30U));
            clients.back()->ask(request("a", std::string(i.name.view())));
        };
        for (std::size_t k = 0; k < on_first; ++k) add(market.instruments.front());
        for (std::size_t k = 0; k < on_others; ++k) {
            add(market.instruments.size() > 1 ? market.instruments.back() : quiet);
        }
        serve_all(d);
        const std::uint64_t before = d.all().steps();
        for (int k = 0; k < 500; ++k) {
            domain::command c;
            c.sequence = domain::sequence_number{static_cast<std::uint64_t>(k) + 1};
            c.account = domain::account_id{1};
            c.instrument = market.instruments.front().id;
            c.enter_order().price = domain::price_ticks{market.instruments.front().price_low.value + k % 7};
            c.enter_order().quantity = domain::quantity_lots{1};
            c.client_order = domain::client_order_id{static_cast<std::uint64_t>(k) + 1};
            market.venue.apply(c);
            market.feed.flush();
            serve_all(d);
        }
        EXPECT_NE(market.feed.book(market.instruments.front().id)->orders_count(), 0U);
        return d.all().steps() - before;
    };
    const std::uint64_t once = steps_of(8, 0);
    EXPECT_GT(once, 1'000U);
    EXPECT_EQ(steps_of(16, 0), 2 * once);
    EXPECT_EQ(steps_of(32, 0), 4 * once);
    if (random_market(12).instruments.size() > 1) {
        EXPECT_EQ(steps_of(8, 32), once);
    }
}

// A turn of the venue may add more to the feed than its log keeps.
TEST(market_data_distribution, goes_on_from_the_image_when_the_feed_log_has_overtaken_it) {
    random_market market(5);
    distribution d(market.feed);
    market.trade(200);
    d.catch_up();
    connected_client of_levels(d, fix_version::v4_4, std::size_t{1} << 30U);
    connected_client of_trades(d, fix_version::v4_4, std::size_t{1} << 30U);
    asked a;
    a.id = "a";
    a.instrument = market.instruments.front();
    a.levels = 10;
    a.types = "01";
    a.is_incremental = true;
    const std::string symbol(a.instrument.name.view());
    of_levels.ask(request("a", symbol));
    of_trades.ask("262=b|263=1|264=10|265=1|267=1|269=2|146=1|55=" + symbol + "|");
    serve_all(d);
    of_levels.read();
    of_trades.read();
    const std::uint64_t before = market.feed.log().end_position();
    while (market.feed.log().has(before)) market.trade(100);
    serve_all(d);
    of_levels.read();
    EXPECT_FALSE(of_levels.has_given_up);
    expect_same(market, of_levels.client.books.at({"a", symbol}), a, fix_version::v4_4);
    EXPECT_TRUE(of_trades.has_given_up);

    market.trade(100);
    serve_all(d);
    of_levels.read();
    expect_same(market, of_levels.client.books.at({"a", symbol}), a, fix_version::v4_4);
}

TEST(market_data_distribution, refuses_what_it_cannot_serve) {
    random_market market(3);
    distribution d(market.feed);
    connected_client c(d, fix_version::v4_4, 100'000);
    const auto refusal = [&c](const std::string& body) {
        c.ask(body);
        return c.last_problem.refusal;
    };
    const std::string known(market.instruments.front().name.view());
    EXPECT_EQ(refusal(request("a", "NONE")), refusal_reason::unknown_symbol);
    EXPECT_EQ(c.subscriptions.count(), 0U);
    c.ask(request("a", known));
    EXPECT_FALSE(c.last_problem.is_there());
    EXPECT_EQ(refusal(request("a", known)), refusal_reason::duplicate_id);
    EXPECT_EQ(refusal("262=b|263=2|"), refusal_reason::none);
    EXPECT_TRUE(c.last_problem.is_there());
    c.ask("262=a|263=2|");
    EXPECT_FALSE(c.last_problem.is_there());
    EXPECT_EQ(c.subscriptions.count(), 0U);
    std::size_t taken = 0;
    while (true) {
        c.ask(request("m" + std::to_string(taken), known, 0));
        if (c.last_problem.is_there()) break;
        ++taken;
    }
    EXPECT_EQ(c.last_problem.refusal, refusal_reason::insufficient_bandwidth);
    EXPECT_EQ(taken, subscribed_levels_max / (2 * levels_max));
}

TEST(market_data_distribution, sends_one_picture_for_a_snapshot) {
    random_market market(5);
    market.trade(300);
    distribution d(market.feed);
    connected_client c(d, fix_version::v4_4, 100'000);
    const std::string known(market.instruments.front().name.view());
    c.ask("262=s|263=0|264=0|267=2|269=0|269=1|146=2|55=" + known + "|55=" + known + "|");
    serve_all(d);
    market.trade(300);
    serve_all(d);
    c.read();
    const client_book& book = c.client.books.at({"s", known});
    EXPECT_EQ(book.snapshots, 1U);
    EXPECT_EQ(book.changes, 0U);
    EXPECT_EQ(c.subscriptions.count(), 0U);
    c.ask("262=s|263=0|264=0|267=1|269=0|146=1|55=" + known + "|");
    EXPECT_FALSE(c.last_problem.is_there()) << "the name is free again";
}

}  // namespace
}  // namespace corro::fix_market_data
