// SPDX-License-Identifier: Apache-2.0
// Recordings of 1, 2, 5, 10 and 50 levels, made from one plain book with all orders. A replay takes data from the book
// file only where the recording has no messages, so there is no difference at any depth.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "recorded/replay/facility_venue_fixture.hpp"
#include "recorded/replay/quote_flow.hpp"
#include "recorded/replay/recorded_quotes.hpp"
#include "recorded/replay/scratch_folder_fixture.hpp"

namespace corro::recorded::replay {
namespace {

/// Random order flow at a stock whose tick is a cent, written as LOBSTER writes it: a message for each event that
/// touches one of the `depth` best levels of its side, and the levels after it.
class lobster_writer {
 public:
    lobster_writer(std::uint64_t seed, std::size_t depth) : random_(seed), depth_(depth) {
        for (int i = 0; i < 100; ++i) enter(i % 2 == 0 ? 1 : -1);
        messages_.clear();  // the recording begins with an unannounced book
        books_.clear();
        hidden_ = 0;
    }

    void write(int events) {
        for (int i = 0; i < events; ++i) {
            time_ns_ += 1 + static_cast<std::int64_t>(random_() % 1'000'000);
            const int side = random_() % 2 == 0 ? 1 : -1;
            switch (random_() % 8) {
                case 0:
                case 1:
                case 2: enter(side); break;
                case 3:
                case 4: remove(side); break;
                case 5: reduce(side); break;
                default: execute(side); break;
            }
        }
    }

    [[nodiscard]] const std::string& messages() const { return messages_; }
    [[nodiscard]] const std::string& books() const { return books_; }
    [[nodiscard]] std::size_t unrecorded_count() const { return hidden_; }  ///< events out of view

 private:
    struct order {
        std::uint64_t id;
        std::uint32_t size;
    };
    using level = std::vector<order>;
    using levels = std::map<int, level>;  ///< by rank: best first

    levels& of(int side) { return side == 1 ? bids_ : offers_; }
    static constexpr std::size_t orders_min = 25;  ///< of a side: enough for levels out of view

    [[nodiscard]] static int rank(int side, int cents) { return side == 1 ? -cents : cents; }

    void enter(int side) {
        // Never at or through the other side, up to 30 levels away from it.
        const levels& other = of(-side);
        const int touch = other.empty() ? (side == 1 ? 10'050 : 9'950) : side * other.begin()->first;
        const int cents = touch - side * (1 + static_cast<int>(random_() % 30));
        const order o{next_id_++, 1 + static_cast<std::uint32_t>(random_() % 50)};
        of(side)[rank(side, cents)].push_back(o);
        record(side, rank(side, cents), 1, o.id, o.size, in_view(side, rank(side, cents)));
    }

    void remove(int side) {
        if (orders_count(side) < orders_min) return;
        const auto [at, index] = any_order(side);
        const order o = of(side)[at][index];
        const bool seen = in_view(side, at);
        take(side, at, index, o.size);
        record(side, at, 3, o.id, o.size, seen);
    }

    void reduce(int side) {
        if (orders_count(side) < orders_min) return;
        const auto [at, index] = any_order(side);
        const order o = of(side)[at][index];
        if (o.size == 1) return;
        const auto lots = 1 + static_cast<std::uint32_t>(random_() % (o.size - 1));
        take(side, at, index, lots);
        record(side, at, 2, o.id, lots, in_view(side, at));
    }

    /// An aggressor of up to three orders: one row for each fill, all of one instant.
    void execute(int side) {
        for (std::uint64_t fills = 1 + random_() % 3; fills > 0 && orders_count(side) > orders_min; --fills) {
            const int at = of(side).begin()->first;
            const order o = of(side)[at].front();
            const std::uint32_t lots = fills > 1 ? o.size : 1 + static_cast<std::uint32_t>(random_() % o.size);
            take(side, at, 0, lots);
            record(side, at, 4, o.id, lots, true);
        }
    }

    [[nodiscard]] std::size_t orders_count(int side) {
        std::size_t count = 0;
        for (const auto& [at, orders] : of(side)) count += orders.size();
        return count;
    }
    [[nodiscard]] std::pair<int, std::size_t> any_order(int side) {
        auto at = std::next(of(side).begin(), static_cast<std::ptrdiff_t>(random_() % of(side).size()));
        return {at->first, random_() % at->second.size()};
    }
    [[nodiscard]] bool in_view(int side, int at) {
        const levels& l = of(side);
        return static_cast<std::size_t>(std::distance(l.begin(), l.lower_bound(at))) < depth_;
    }
    void take(int side, int at, std::size_t index, std::uint32_t lots) {
        level& l = of(side)[at];
        l[index].size -= lots;
        if (l[index].size == 0) l.erase(l.begin() + static_cast<std::ptrdiff_t>(index));
        if (l.empty()) of(side).erase(at);
    }

    void record(int side, int at, int type, std::uint64_t id, std::uint32_t size, bool seen) {
        if (!seen) {
            ++hidden_;
            return;
        }
        messages_ += std::to_string(34'200 + time_ns_ / 1'000'000'000) + "." +
                     std::to_string(1'000'000'000 + time_ns_ % 1'000'000'000).substr(1) + "," + std::to_string(type) +
                     "," + std::to_string(id) + "," + std::to_string(size) + "," + std::to_string(std::abs(at) * 100) +
                     "," + std::to_string(side) + "\n";
        for (std::size_t i = 0; i < depth_; ++i) {
            for (const int column_side : {-1, 1}) {
                const levels& l = of(column_side);
                if (i != 0 || column_side == 1) books_ += ",";
                if (i >= l.size()) {
                    books_ += column_side == 1 ? "-9999999999,0" : "9999999999,0";
                    continue;
                }
                const auto& [rank_of, orders] = *std::next(l.begin(), static_cast<std::ptrdiff_t>(i));
                std::uint64_t sum = 0;
                for (const order& o : orders) sum += o.size;
                books_ += std::to_string(std::abs(rank_of) * 100) + "," + std::to_string(sum);
            }
        }
        books_ += "\n";
    }

    base::prng random_;
    std::size_t depth_;
    std::int64_t time_ns_ = 0;
    std::uint64_t next_id_ = 1;
    std::size_t hidden_ = 0;
    levels bids_, offers_;
    std::string messages_, books_;
};

class depths : public testing::TestWithParam<std::size_t> {};

TEST_P(depths, a_recording_of_any_depth_is_reproduced_row_by_row) {
    const domain::instrument stock = wide_instrument(domain::price_nano{10'000'000});
    const std::uint64_t seed = base::test_seed();
    lobster_writer writer(seed, GetParam());
    writer.write(3'000);
    const scratch_folder folder;
    const quote_recording recording = load_quotes(folder.write("message.csv", writer.messages()),
                                                  folder.write("orderbook.csv", writer.books()), stock);
    EXPECT_EQ(recording.depth, GetParam());
    difference_log log;
    quote_flow flow(recording, log);
    replay_run run(flow, log, stock.id);
    facility_venue venue(stock, 100'000);
    venue.drive(run);
    ASSERT_TRUE(run.finished());

    const auto rows = static_cast<std::uint64_t>(recording.messages.size());
    EXPECT_EQ(log.unexplained_count(), 0U) << "seed " << seed;
    for (const difference& d : log.examples(cause::quotes_differ)) ADD_FAILURE() << d.where << ": " << d.what;
    for (const difference& d : log.examples(cause::fill_differs)) ADD_FAILURE() << d.where << ": " << d.what;
    EXPECT_EQ(log.count(cause::younger_order_first), 0U);
    EXPECT_EQ(log.count(cause::quantity_unannounced), 0U);
    EXPECT_EQ(flow.result().rows, (agreement{rows, rows}));
    EXPECT_GT(flow.result().executions.total, 100U);
    EXPECT_EQ(flow.result().executions.equal, flow.result().executions.total);
    // The flow of one level leaves more to be taken than that of all; with all levels in view nothing is.
    if (GetParam() >= 50) {
        EXPECT_EQ(flow.facts().taken_rows, 0U);
    } else {
        EXPECT_GT(writer.unrecorded_count(), 0U) << "no event was out of view: the test shows nothing";
        EXPECT_GT(flow.facts().taken_rows, 0U);
        EXPECT_GT(flow.facts().kept, 0U) << "no announced order came back into view";
    }
}

INSTANTIATE_TEST_SUITE_P(quote_flow, depths, testing::Values(1, 2, 5, 10, 50), testing::PrintToStringParamName());

}  // namespace
}  // namespace corro::recorded::replay
