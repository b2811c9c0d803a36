// SPDX-License-Identifier: Apache-2.0
#include "api/market_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "api/frame_recording.hpp"
#include "api/test_market.hpp"
#include "base/random.hpp"

namespace corro::api {
namespace {

using domain::side;
using testing::test_market;

/// Follows frames as a page would: from the numbers alone.
class page final : public subscriber {
 public:
    void take(std::string_view frame) override {
        ASSERT_EQ(frame.size() % 8, 0U);
        std::vector<double> f(frame.size() / 8);
        std::memcpy(f.data(), frame.data(), frame.size());
        last = f;
        ++frames;
        ASSERT_GE(f.size(), 24U);
        EXPECT_EQ(f[0], 1);
        const bool is_snapshot = f[1] == 1;
        if (is_snapshot) {
            levels = {};
            shown = {};
            ++snapshots;
            EXPECT_EQ(f[3], 0);
        } else {
            EXPECT_EQ(f[1], 2);
            if (f[3] != sequence) ++gaps;
        }
        sequence = f[2];
        std::size_t at = 24;
        for (std::size_t s = 0; s < 2; ++s) at = take_levels(f, at, f[20 + s], levels[s]);
        for (double k = 0; k < f[22]; ++k, at += 5) trades.push_back(f[at]);
        for (double k = 0; k < f[23]; ++k) {
            columns.push_back(f[at]);
            const double bids = f[at + 8];
            const double asks = f[at + 9];
            at = take_levels(f, at + 10, bids, shown[0]);
            at = take_levels(f, at, asks, shown[1]);
        }
        EXPECT_EQ(at, f.size()) << "the frame has what its head promises";
    }
    [[nodiscard]] std::size_t waiting_bytes() const noexcept override { return waiting; }
    void end_slow() noexcept override { ended = true; }

    [[nodiscard]] bool has(const std::array<level_map, 2>& book) const { return same(levels, book); }
    [[nodiscard]] bool shows(const std::array<level_map, 2>& book) const { return same(shown, book); }

    std::vector<double> last;
    std::array<std::map<double, double>, 2> levels;
    std::array<std::map<double, double>, 2> shown;  ///< by columns
    std::vector<double> trades;
    std::vector<double> columns;
    double sequence = 0;
    int frames = 0;
    int snapshots = 0;
    int gaps = 0;
    std::size_t waiting = 0;
    bool ended = false;

 private:
    static std::size_t take_levels(const std::vector<double>& f, std::size_t at, double count,
                                   std::map<double, double>& into) {
        for (double k = 0; k < count; ++k, at += 2) {
            if (f[at + 1] == 0) {
                EXPECT_EQ(into.erase(f[at]), 1U) << "a level that was not there is gone";
            } else {
                into[f[at]] = f[at + 1];
            }
        }
        return at;
    }
    static bool same(const std::array<std::map<double, double>, 2>& seen, const std::array<level_map, 2>& book) {
        for (const side s : {side::buy, side::sell}) {
            std::map<double, double> now;
            for (const auto& [rank, lots] : book[static_cast<std::size_t>(s)]) {
                now[static_cast<double>(price_of(s, rank).value)] = static_cast<double>(lots);
            }
            if (now != seen[static_cast<std::size_t>(s)]) return false;
        }
        return true;
    }
};

/// The time of the next event, in microseconds.
std::int64_t now_us(const test_market& m) {
    return 1'700'000'000'000'000 + static_cast<std::int64_t>(m.command) * 1'000;
}

frame_wish wish_of(const test_market& m, std::string_view query) {
    std::string_view param;
    const auto wish = parse_frame_query(query, m.view, param);
    EXPECT_TRUE(wish.has_value()) << query;
    return wish.value_or(frame_wish());
}

TEST(market_frames, begin_with_a_snapshot_and_go_on_with_changes) {
    test_market m;
    m.set_level(1, side::buy, 100, 5);
    m.set_level(1, side::sell, 103, 6);
    m.trade(1, 101, 2, side::sell);
    page p;
    const frame_wish wish = wish_of(m, "instrument=ONE");
    m.frames.subscribe(wish, p, now_us(m));
    ASSERT_EQ(p.frames, 1);
    EXPECT_EQ(p.snapshots, 1);
    EXPECT_TRUE(p.has(m.view.find("ONE")->levels));
    EXPECT_EQ(p.trades, std::vector{1.0});
    EXPECT_EQ(p.last[5], 11) << "the last command that changed the book";
    EXPECT_EQ(p.last[6], 1);
    EXPECT_TRUE(std::isnan(p.last[14])) << "no auction";

    m.frames.publish(0, now_us(m));
    EXPECT_EQ(p.frames, 1) << "nothing is new";
    m.set_level(1, side::buy, 100, 0);
    m.set_level(1, side::buy, 99, 4);
    m.set_level(1, side::buy, 98, 4);
    m.set_level(1, side::buy, 98, 0);
    m.trade(1, 99, 3, side::buy);
    EXPECT_EQ(p.frames, 1) << "a tick has not ended";
    m.frames.publish(0, now_us(m));
    ASSERT_EQ(p.frames, 2);
    EXPECT_EQ(p.last[20], 2) << "what has come and gone is not in it";
    EXPECT_EQ(p.last[22], 1);
    EXPECT_EQ(std::vector<double>(p.last.end() - 5, p.last.end()),
              (std::vector<double>{2, static_cast<double>(now_us(m) - 1'000), 99, 3, 1}));
    EXPECT_TRUE(p.has(m.view.find("ONE")->levels));
    m.set_level(2, side::buy, 100, 1);
    m.frames.publish(0, now_us(m));
    EXPECT_EQ(p.frames, 2) << "another instrument";
    EXPECT_EQ(p.gaps, 0);
    m.frames.leave(wish, p);
    EXPECT_EQ(m.frames.count(), 0U);
}

TEST(market_frames, have_news_each_second_and_when_the_feed_is_lost) {
    test_market m;
    page p;
    m.frames.subscribe(wish_of(m, "instrument=ONE&tick=100"), p, now_us(m));
    const std::int64_t begin = now_us(m);
    m.frames.publish(2, begin + 999'999);
    EXPECT_EQ(p.frames, 1);
    m.frames.publish(2, begin + 1'000'000);
    EXPECT_EQ(p.frames, 2);
    m.frames.set_live(false);
    m.frames.publish(2, begin + 1'100'000);
    EXPECT_EQ(p.frames, 3);
    EXPECT_EQ(p.last[6], 0);
    m.frames.publish(0, begin + 9'000'000);
    EXPECT_EQ(p.frames, 3) << "another tick";
    m.frames.leave(wish_of(m, "instrument=ONE&tick=100"), p);
}

TEST(market_frames, contain_auctions_and_implied_prices) {
    test_market m;
    page p;
    m.frames.subscribe(wish_of(m, "instrument=ONE"), p, now_us(m));
    domain::event e = m.event(domain::event_kind::phase_changed, 1);
    e.phase = domain::phase_state{};
    e.phase.phase = domain::trading_phase::opening_auction;
    m.take(e, true);
    e = m.event(domain::event_kind::auction_indicative, 1);
    e.auction = domain::auction_state{};
    e.auction.price = domain::price_ticks{-3};
    e.auction.volume = domain::volume_lots{40};
    m.take(e, true);
    e = m.event(domain::event_kind::implied_top, 1);
    e.top = domain::top{};
    e.top.bid_price = domain::price_ticks{7};
    e.top.bid_quantity = domain::volume_lots{2};
    e.top.ask_price = domain::no_price;
    m.take(e, true);
    m.frames.publish(0, now_us(m));
    ASSERT_EQ(p.frames, 2);
    EXPECT_EQ(p.last[7], 3);
    EXPECT_EQ(p.last[14], -3);
    EXPECT_EQ(p.last[15], 40);
    EXPECT_EQ(p.last[16], 7);
    EXPECT_EQ(p.last[17], 2);
    EXPECT_TRUE(std::isnan(p.last[18]));
    e = m.event(domain::event_kind::auction_ended, 1);
    e.auction = domain::auction_state{};
    m.take(e, true);
    m.frames.publish(0, now_us(m));
    ASSERT_EQ(p.frames, 3);
    EXPECT_TRUE(std::isnan(p.last[14]));
    m.frames.leave(wish_of(m, "instrument=ONE"), p);
}

TEST(market_frames, a_slow_page_gets_a_snapshot_when_it_has_read_and_a_stopped_one_ends) {
    test_market m;
    page p;
    page other;
    const frame_wish wish = wish_of(m, "instrument=ONE&column=1000");
    m.frames.subscribe(wish, p, now_us(m));
    m.frames.subscribe(wish, other, now_us(m));
    p.waiting = waiting_bytes_slow + 1;
    for (std::int64_t price = 1; price < 20; ++price) {
        m.set_level(1, side::buy, price, 5);
        m.frames.publish(0, now_us(m));
    }
    EXPECT_EQ(p.frames, 1);
    EXPECT_EQ(other.frames, 20);
    EXPECT_EQ(m.frames.left_out_count(), 19U);
    p.waiting = 0;
    m.frames.publish(0, now_us(m));
    EXPECT_EQ(p.frames, 2);
    EXPECT_EQ(p.snapshots, 2);
    EXPECT_TRUE(p.has(m.view.find("ONE")->levels));
    EXPECT_EQ(p.sequence, other.sequence);
    m.frames.ask_for_snapshot(wish, other);
    m.frames.publish(0, now_us(m));
    EXPECT_EQ(other.snapshots, 2);
    p.waiting = waiting_bytes_max + 1;
    m.set_level(1, side::buy, 7, 1);
    m.frames.publish(0, now_us(m));
    EXPECT_TRUE(p.ended);
    EXPECT_TRUE(other.has(m.view.find("ONE")->levels));
    m.frames.leave(wish, p);
    m.frames.leave(wish, other);
}

TEST(market_frames, refuse_queries_that_name_nothing) {
    const test_market m;
    std::string_view param;
    for (const auto& [query, named, why] : std::vector<std::tuple<std::string_view, std::string_view, frame_refusal>>{
             {"", "instrument", frame_refusal::bad_parameter},
             {"instrument=", "instrument", frame_refusal::bad_parameter},
             {"instrument=%zz", "instrument", frame_refusal::bad_parameter},
             {"instrument=NONE", "instrument", frame_refusal::unknown_instrument},
             {"instrument=ONE&tick=17", "tick", frame_refusal::bad_parameter},
             {"instrument=ONE&tick=16x", "tick", frame_refusal::bad_parameter},
             {"instrument=ONE&tick=-16", "tick", frame_refusal::bad_parameter},
             {"instrument=ONE&tick=99999999999999999999", "tick", frame_refusal::bad_parameter},
             {"instrument=ONE&column=5", "column", frame_refusal::bad_parameter}}) {
        const auto wish = parse_frame_query(query, m.view, param);
        ASSERT_FALSE(wish.has_value()) << query;
        EXPECT_EQ(wish.error(), why) << query;
        EXPECT_EQ(param, named) << query;
    }
    const frame_wish all = wish_of(m, "instrument=TWO%2e5&tick=1000&column=10000");
    EXPECT_EQ(all.instrument, domain::instrument_id{2});
    EXPECT_EQ(all.tick, 3U);
    EXPECT_EQ(all.column, 2U);
}

// Any changes, ticks, slow pages and pages that come late: without a gap, each has the book that was published last,
// every trade once, and columns that add up to the book.
TEST(market_frames, any_page_has_the_book_and_the_columns) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE(seed);
        base::prng random(seed);
        test_market m;
        const frame_wish wish = wish_of(m, "instrument=ONE");
        std::vector<page> pages(4);
        std::size_t joined = 0;
        for (int k = 0; k < 3'000; ++k) {
            if (joined < pages.size() && random.below(300) == 0) m.frames.subscribe(wish, pages[joined++], now_us(m));
            const side s = random.below(2) == 0 ? side::buy : side::sell;
            m.set_level(1, s, static_cast<std::int64_t>(random.below(30)), random.below(4), random.below(4) != 0);
            if (random.below(5) == 0) m.trade(1, 15, 1, s);
            if (random.below(100) == 0) m.command += random.below(300);
            if (random.below(16) == 0) m.frames.publish(0, now_us(m));
            if (joined > 1 && random.below(50) == 0) {
                pages[1].waiting = pages[1].waiting == 0 ? waiting_bytes_slow + 1 : 0;
            }
        }
        while (joined < pages.size()) m.frames.subscribe(wish, pages[joined++], now_us(m));
        pages[1].waiting = 0;
        m.command += 1'000;
        m.frames.publish(0, now_us(m));
        for (const page& each : pages) {
            EXPECT_EQ(each.gaps, 0);
            EXPECT_TRUE(each.has(m.view.find("ONE")->levels));
            EXPECT_TRUE(each.shows(m.view.find("ONE")->levels));
        }
        const page& steady = pages[0];
        for (std::size_t k = 1; k < steady.trades.size(); ++k) {
            ASSERT_EQ(steady.trades[k], steady.trades[k - 1] + 1) << "a trade is missing or came twice";
        }
        EXPECT_EQ(steady.trades.back(), static_cast<double>(m.last_trade));
        EXPECT_TRUE(std::ranges::is_sorted(steady.columns));
        for (page& each : pages) m.frames.leave(wish, each);
    }
}

/// Writes what the feed would have told a recording, and reads it back from any snapshot.
TEST(market_frames, a_recording_gives_the_book_of_any_tick) {
    base::prng random(20261126);
    test_market m;
    m.set_level(1, side::buy, 100, 5);
    std::vector<double> file;
    const domain::instrument one = m.view.find("ONE")->terms;
    frame_recording recording(one, m.view.find("ONE")->levels, 2, [&](std::string_view bytes) {
        const std::size_t before = file.size();
        file.resize(before + bytes.size() / 8);
        std::memcpy(file.data() + before, bytes.data(), bytes.size());
    });
    // Books by the number of the frame that should have them.
    std::vector<std::array<level_map, 2>> books;
    for (int k = 0; k < 10'000; ++k) {
        m.command += random.below(100);
        const side s = random.below(2) == 0 ? side::buy : side::sell;
        const std::int64_t ticks = s == side::buy ? 100 - static_cast<std::int64_t>(random.below(9))
                                                  : 101 + static_cast<std::int64_t>(random.below(9));
        domain::event e = m.event(domain::event_kind::level_changed, 1);
        e.side = s;
        e.level = domain::level{};
        e.level.price = domain::price_ticks{ticks};
        e.level.quantity = domain::volume_lots{random.below(4)};
        recording.take(e);
        while (books.size() < recording.frames_count()) books.push_back(m.view.find("ONE")->levels);
        m.take(e, true);
    }
    recording.finish();
    while (books.size() < recording.frames_count()) books.push_back(m.view.find("ONE")->levels);
    // A reader from each snapshot on.
    int snapshots = 0;
    page reader;
    std::uint64_t frame = 0;
    for (std::size_t at = 0; at < file.size(); ++frame) {
        const auto size = static_cast<std::size_t>(file[at]);
        ASSERT_LE(at + 1 + size, file.size());
        const std::string_view bytes(reinterpret_cast<const char*>(file.data() + at + 1), size * 8);
        if (file[at + 2] == 1) {
            ++snapshots;
            reader = page();
        }
        reader.take(bytes);
        EXPECT_EQ(reader.gaps, snapshots == 0 ? 1 : 0);
        ASSERT_TRUE(reader.has(books[frame])) << frame;
        at += 1 + size;
    }
    EXPECT_EQ(frame, recording.frames_count());
    EXPECT_GT(snapshots, 5);
}

}  // namespace
}  // namespace corro::api
