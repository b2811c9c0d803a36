// SPDX-License-Identifier: Apache-2.0
// Checks the laws of implied matching (docs/spec/implied.md) over random orders of every kind, in every phase. Computes
// the implied prices from the best levels alone, by trying every combination.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/facility.hpp"
#include "facility/implied_test_venue.hpp"

namespace corro::facility::testing {
namespace {

using domain::command;
using domain::command_kind;
using domain::event;
using domain::event_kind;
using domain::no_price;
using domain::price_ticks;
using domain::side;
using domain::trading_phase;

/// Three books. A price of `strategy` is a price of `bought` minus a price of `sold`.
struct triangle {
    implied_book strategy;
    implied_book bought;
    implied_book sold;
};
constexpr std::array triangles{
    triangle{implied_book::spread, implied_book::march, implied_book::june},
    triangle{implied_book::long_spread, implied_book::march, implied_book::september},
    triangle{implied_book::late_spread, implied_book::june, implied_book::september},
};
constexpr std::uint32_t implied_accounts_count = 4;

class implied_law : public ::testing::Test, protected implied_venue {
 protected:
    implied_law() {
        for (domain::instrument& i : instruments()) i.dynamic_band = 40;
        instruments()[1].breaker_move = 25;
        instruments()[1].breaker_window = 1'000;
        instruments()[1].breaker_halt = 50;
        rebuild();
    }

    command random_order() {
        const auto book = static_cast<implied_book>(random_.below(books_count));
        const bool is_spread = book >= implied_book::spread;
        command c =
            order(account(), random_.below(2) == 0 ? side::buy : side::sell, book,
                  (is_spread ? 0 : 100) + random_.between(-6, 6), 1 + static_cast<std::uint32_t>(random_.below(6)));
        c.enter_order().self_match_prevention = static_cast<domain::self_match_prevention>(random_.below(5));
        switch (random_.below(12)) {
            case 0: c.order_terms().time_in_force = domain::time_in_force::ioc; break;
            case 1: c.order_terms().time_in_force = domain::time_in_force::fok; break;
            case 2: c.enter_order().minimum_quantity = domain::quantity_lots{1}; break;
            case 3: c.enter_order().display_quantity = domain::quantity_lots{1}; break;
            case 4: c.enter_order().flags = domain::order_flag::post_only; break;
            case 5: c.enter_order().flags = domain::order_flag::post_only | domain::order_flag::reprice; break;
            case 6:
                c.order_terms().type = static_cast<domain::order_type>(2 + random_.below(3));
                c.enter_order().price = price_ticks{random_.between(0, 3)};
                c.order_terms().time_in_force = domain::time_in_force::ioc;
                break;
            case 7:
                c.order_terms().type = static_cast<domain::order_type>(5 + random_.below(3));
                c.enter_order().trigger_price = price_ticks{c.enter_order().price.value + random_.between(-3, 3)};
                break;
            case 8: c.order_terms().type = domain::order_type::market_to_limit; break;
            default: break;
        }
        return c;
    }
    command random_command() {
        command c = random_order();
        const std::uint64_t kind = random_.below(100);
        if (kind < 12 && !orders_.empty()) {
            const domain::enter_order o = c.enter_order();
            c.kind = command_kind::amend_order;
            c.amend_order() = {};
            c.set_request(o.request);
            c.amend_order().order = orders_[random_.below(orders_.size())];
            c.amend_order().price = o.price;
            c.amend_order().quantity = o.quantity;
            c.amend_order().trigger_price = o.trigger_price;
            c.amend_order().display_quantity = o.display_quantity;
        } else if (kind < 20 && !orders_.empty()) {
            c.kind = command_kind::cancel_order;
            c.cancel_order().order = orders_[random_.below(orders_.size())];
        } else if (kind < 30) {
            const command o = c;
            c = order(o.account.value, side::buy, static_cast<implied_book>(o.instrument.value - 11),
                      o.enter_order().price.value, 2);
            c.kind = command_kind::enter_quote;
            c.enter_quote().ask_price = price_ticks{o.enter_order().price.value + random_.between(1, 3)};
            c.enter_quote().ask_quantity = o.enter_order().quantity;
        } else if (kind < 33) {
            c = {};
            c.kind = command_kind::change_phase;
            c.set_operator(true);
            if (random_.below(3) != 0)
                c.instrument = domain::instrument_id{11 + static_cast<std::uint32_t>(random_.below(6))};
            constexpr std::array phases{trading_phase::halted, trading_phase::closing_auction,
                                        trading_phase::continuous, trading_phase::continuous};
            c.change_phase().phase = phases[random_.below(phases.size())];
        }
        c.time = domain::time_ns{time_ += random_.between(0, 20)};
        return c;
    }
    std::uint32_t account() { return 1 + static_cast<std::uint32_t>(random_.below(implied_accounts_count)); }

    void take_in(const std::vector<event>& events) {
        for (const event& e : events) {
            if (e.kind == event_kind::order_entered) orders_.push_back(e.order.order);
            if (e.kind == event_kind::phase_changed)
                matches_[e.instrument.value] = e.phase.phase == trading_phase::continuous;
        }
        if (orders_.size() > 200) orders_.erase(orders_.begin(), orders_.begin() + 100);
    }
    [[nodiscard]] bool works(const triangle& t) const {
        const auto matches = [&](implied_book book) {
            const auto found = matches_.find(id_of(book).value);
            return found == matches_.end() || found->second;
        };
        return matches(t.strategy) && matches(t.bought) && matches(t.sold);
    }

    void check_not_crossed() {
        for (const triangle& t : triangles) {
            if (!works(t)) continue;
            const domain::top s = top(t.strategy);
            const domain::top a = top(t.bought);
            const domain::top b = top(t.sold);
            const auto exist = [](price_ticks x, price_ticks y, price_ticks z) {
                return x != no_price && y != no_price && z != no_price;
            };
            if (exist(a.bid_price, s.ask_price, b.ask_price)) {
                ASSERT_LT(a.bid_price.value, s.ask_price.value + b.ask_price.value);
            }
            if (exist(a.ask_price, s.bid_price, b.bid_price)) {
                ASSERT_GT(a.ask_price.value, s.bid_price.value + b.bid_price.value);
            }
        }
    }

    struct level {
        price_ticks price = no_price;
        std::uint64_t quantity = 0;
    };
    static level best_of(const domain::top& t, side s) {
        return s == side::buy ? level{t.bid_price, t.bid_quantity.value} : level{t.ask_price, t.ask_quantity.value};
    }
    static void offer(level& best, const level& x, const level& y, std::int64_t sign, side s) {
        if (x.price == no_price || y.price == no_price) return;
        const level made{price_ticks{x.price.value + sign * y.price.value}, std::min(x.quantity, y.quantity)};
        if (made.price == best.price) {
            best.quantity += made.quantity;
        } else if (best.price == no_price || (s == side::buy ? made.price > best.price : made.price < best.price)) {
            best = made;
        }
    }
    [[nodiscard]] level implied_in(implied_book book, side s) {
        level best;
        for (const triangle& t : triangles) {
            if (!works(t)) continue;
            const side other = domain::opposite(s);
            const auto of = [&](implied_book b, side which) { return best_of(top(b), which); };
            if (book == t.bought) offer(best, of(t.strategy, s), of(t.sold, s), 1, s);
            if (book == t.sold) offer(best, of(t.bought, s), of(t.strategy, other), -1, s);
            if (book == t.strategy) offer(best, of(t.bought, s), of(t.sold, other), -1, s);
        }
        return best;
    }
    void check_published() {
        for (std::size_t n = 0; n < books_count; ++n) {
            const auto book = static_cast<implied_book>(n);
            const auto found = said().find(id_of(book).value);
            for (const side s : {side::buy, side::sell}) {
                const level expected = implied_in(book, s);
                const level last = found == said().end() ? level{} : best_of(found->second, s);
                ASSERT_EQ(last.price, expected.price) << "book " << n;
                ASSERT_EQ(last.quantity, expected.quantity) << "book " << n;
            }
        }
    }
    void check_fills(const std::vector<event>& events) {
        std::map<std::uint64_t, std::vector<event>> by_trade;
        for (const event& e : find(events, event_kind::trade)) by_trade[e.trade.trade.value].push_back(e);
        for (const auto& [number, trades] : by_trade) {
            const bool is_implied = (trades[0].flags & domain::event_flag::implied) != 0;
            ASSERT_EQ(trades.size(), is_implied ? 3U : 1U);
            if (!is_implied) continue;
            ++implied_fills_;
            std::map<std::uint32_t, std::int64_t> prices;
            for (const event& e : trades) {
                prices[e.instrument.value] = e.trade.price.value;
                ASSERT_EQ(e.trade.quantity, trades[0].trade.quantity);
            }
            const std::uint32_t strategy = prices.rbegin()->first;
            const triangle& t = triangles[strategy - id_of(implied_book::spread).value];
            ASSERT_EQ(prices[strategy], prices.at(id_of(t.bought).value) - prices.at(id_of(t.sold).value));
        }
    }
    void check_positions() {
        for (std::size_t n = 0; n < books_count; ++n) {
            std::int64_t sum = 0;
            for (std::uint32_t a = 0; a <= implied_accounts_count; ++a) {
                const std::int64_t lots = position(a, static_cast<implied_book>(n));
                sum += lots;
                if (n >= 3) {
                    ASSERT_EQ(lots, 0) << "in a strategy";
                }
            }
            ASSERT_EQ(sum, 0) << "book " << n;
        }
    }

    base::prng random_{base::test_seed()};
    std::vector<domain::order_id> orders_;
    std::map<std::uint32_t, bool> matches_;
    std::int64_t time_ = 1;
    std::uint64_t implied_fills_ = 0;
};

TEST_F(implied_law, nothing_stands_crossed_and_what_is_said_is_what_every_combination_gives) {
    for (int i = 0; i < 60'000; ++i) {
        const auto events = apply(random_command());
        take_in(events);
        ASSERT_NO_FATAL_FAILURE(check_not_crossed()) << "command " << i;
        ASSERT_NO_FATAL_FAILURE(check_published()) << "command " << i;
        ASSERT_NO_FATAL_FAILURE(check_fills(events)) << "command " << i;
        if (i % 100 == 0) {
            ASSERT_NO_FATAL_FAILURE(check_positions()) << "command " << i;
        }
    }
    EXPECT_GT(implied_fills_, 2'000U) << "otherwise little was tried";
}

TEST_F(implied_law, a_loaded_venue_goes_on_as_the_saved_one) {
    for (int cut = 0; cut < 40; ++cut) {
        const std::uint64_t before = 200 + random_.below(300);
        for (std::uint64_t i = 0; i < before; ++i) take_in(apply(random_command()));
        std::vector<std::byte> bytes;
        base::memory_sink sink(bytes);
        ASSERT_TRUE(venue().save(sink));
        recorder seen;
        facility loaded(options(), instruments(), seen);
        base::memory_source source(bytes);
        ASSERT_EQ(loaded.load(source), std::error_code{});
        for (int i = 0; i < 100; ++i) {
            command c = random_command();
            const auto events = apply(c);
            take_in(events);
            c.sequence = loaded.position().sequence;
            ++c.sequence.value;
            seen.events.clear();
            loaded.apply(c);
            ASSERT_EQ(seen.events.size(), events.size());
            ASSERT_EQ(std::memcmp(seen.events.data(), events.data(), events.size() * sizeof(event)), 0);
        }
        ASSERT_EQ(loaded.state_hash(), venue().state_hash());
    }
}

}  // namespace
}  // namespace corro::facility::testing
