// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/command_generator.hpp"
#include "facility/recorder.hpp"
#include "facility_reference/differential.hpp"

namespace corro::facility::testing {
namespace {

using domain::command;
using domain::event;
using domain::event_kind;
using domain::side;

/// Rebuilds the market from events alone and checks the laws that hold for every message.
class law_checker {
 public:
    explicit law_checker(std::span<const domain::instrument> instruments) {
        for (const domain::instrument& i : instruments) {
            if (i.allocation.algorithm != domain::match_algorithm::fifo) sharing_.insert(i.id.value);
        }
    }
    void check(const command& c, const std::vector<event>& events) {
        is_command_itself_ = true;
        for (const event& e : events) {
            count_lots(c, e);
            switch (e.kind) {
                case event_kind::order_amended:
                    // From here on the events are those of triggered orders.
                    if (e.reason == domain::reject_reason::triggered) is_command_itself_ = false;
                    break;
                case event_kind::order_executed: executed(c, e); break;
                case event_kind::order_added: added(c, e); break;
                case event_kind::order_reduced: reduced(e); break;
                case event_kind::order_deleted: deleted(e); break;
                case event_kind::level_changed: level_changed(e); break;
                case event_kind::top_of_book: top_of_book(e); break;
                case event_kind::phase_changed:
                    collected_.erase(e.instrument.value);
                    // A halt does not change the book, even if it is crossed.
                    if (domain::collects(e.phase.phase) || e.phase.phase == domain::trading_phase::halted) {
                        collected_[e.instrument.value] = domain::no_price;
                    }
                    break;
                case event_kind::instrument_defined:
                    if (sharing_.contains(e.defined.like.value)) sharing_.insert(e.instrument.value);
                    break;
                case event_kind::auction_ended: collected_[e.instrument.value] = e.auction.price; break;
                default: break;
            }
        }
    }

 private:
    using key = std::tuple<std::uint32_t, side, std::int64_t>;  // instrument, side, price

    /// Lots are conserved. Of each order, the open quantity falls by the traded quantity, and a cancel takes the rest.
    /// Of each trade, both sides and the tape state the same quantity.
    void count_lots(const command& c, const event& e) {
        switch (e.kind) {
            case event_kind::order_entered:
            case event_kind::order_amended: left_[e.order.order] = e.order.quantity.value; break;
            case event_kind::order_cancelled: {
                const auto known = left_.find(e.order.order);
                if (known == left_.end()) break;  // the second message about one cancel
                EXPECT_EQ(known->second, e.order.quantity.value) << "a cancel takes all that is left";
                left_.erase(known);
                break;
            }
            case event_kind::order_executed: {
                // An entering order is not known before its first fill.
                const std::uint32_t entered =
                    c.kind == domain::command_kind::enter_order ? c.enter_order().quantity.value : 0;
                const auto known = left_.try_emplace(e.execution.order, entered).first;
                EXPECT_EQ(known->second, e.execution.quantity.value + e.execution.leaves.value);
                known->second = e.execution.leaves.value;
                if (known->second == 0) left_.erase(known);
                if (is_implied(e)) break;  // it trades in three books; implied_prop_test.cpp checks those
                traded_now_.push_back(e.execution.quantity.value);
                break;
            }
            case event_kind::trade_capture:
                // A settlement goes to the holders of positions only, not to the tape.
                if (e.reason == domain::reject_reason::instrument_settled) break;
                if (!is_implied(e)) traded_now_.push_back(e.capture.quantity.value);
                break;
            case event_kind::trade:
                if (is_implied(e)) break;
                traded_now_.push_back(e.trade.quantity.value);
                EXPECT_EQ(traded_now_, std::vector<std::uint64_t>(5, e.trade.quantity.value))
                    << "two executions, two captures and the tape speak of one quantity";
                traded_now_.clear();
                break;
            default: break;
        }
    }
    static bool is_implied(const event& e) { return (e.flags & domain::event_flag::implied) != 0; }
    void executed(const command& c, const event& e) {
        EXPECT_GT(e.execution.quantity.value, 0U);
        if ((e.flags & domain::event_flag::aggressor) != 0) {
            const bool is_quote = c.kind == domain::command_kind::enter_quote;
            const bool rests = open_.contains(e.execution.order);  // and trades because other books resume
            const bool is_amend = c.kind == domain::command_kind::amend_order;
            const bool is_limit =
                c.kind == domain::command_kind::enter_order && c.order_terms().type == domain::order_type::limit;
            if (is_command_itself_ && !rests && (is_limit || is_quote || is_amend)) {
                const domain::price_ticks limit = is_amend               ? c.amend_order().price
                                                  : is_limit             ? c.enter_order().price
                                                  : e.side == side::sell ? c.enter_quote().ask_price
                                                                         : c.enter_quote().bid_price;
                const bool within = e.side == side::buy ? e.execution.price <= limit : e.execution.price >= limit;
                EXPECT_TRUE(within) << "a fill is never worse than the aggressor's limit";
            }
            return;
        }
        if (collected_.contains(e.instrument.value)) return crossed(e);
        const auto& queue = queues_[{e.instrument.value, e.side, e.execution.price.value}];
        ASSERT_FALSE(queue.empty()) << "a fill is at the resting order's price";
        if (sharing_.contains(e.instrument.value)) {
            EXPECT_EQ(std::count(queue.begin(), queue.end(), e.execution.order), 1) << "who shares rests at the price";
        } else {
            EXPECT_EQ(queue.front(), e.execution.order) << "the oldest order of the level trades first";
        }
        EXPECT_LE(e.execution.quantity.value, open_[e.execution.order]) << "nobody trades more than he shows";
        EXPECT_LE(open_[e.execution.order] - e.execution.quantity.value, e.execution.leaves.value)
            << "what is left is what is shown, and what an iceberg hides";
    }
    void crossed(const event& e) {
        EXPECT_EQ(e.execution.price, collected_[e.instrument.value]) << "an auction has one price";
        // The best price of a side comes first in the map's order of sells, last in that of buys.
        const bool buys = e.side == side::buy;
        auto best = buys ? queues_.lower_bound({e.instrument.value, side::sell, INT64_MIN})
                         : queues_.lower_bound({e.instrument.value, side::sell, INT64_MIN});
        if (buys) --best;
        EXPECT_EQ(best->second.front(), e.execution.order) << "the oldest order of the best level trades first";
        const std::int64_t limit = std::get<2>(best->first);
        EXPECT_TRUE(buys ? limit >= e.execution.price.value : limit <= e.execution.price.value)
            << "a fill is never worse than the order's limit";
    }
    void added(const command& c, const event& e) {
        const bool is_refresh = leaving_.contains(e.book.order);
        if (is_command_itself_ && !is_refresh && c.kind == domain::command_kind::enter_order) {
            EXPECT_TRUE(c.order_terms().type != domain::order_type::market &&
                        domain::is_lasting(c.order_terms().time_in_force))
                << "what is immediate never rests";
        }
        queues_[{e.instrument.value, e.side, e.book.price.value}].push_back(e.book.order);
        open_[e.book.order] = e.book.quantity.value;
    }
    void reduced(const event& e) {
        EXPECT_EQ(open_[e.book.order], e.book.quantity.value + e.book.change.value);
        open_[e.book.order] = e.book.quantity.value;
    }
    void deleted(const event& e) {
        EXPECT_EQ(open_[e.book.order], e.book.change.value);
        open_.erase(e.book.order);
        leaving_.insert(e.book.order);
        auto& queue = queues_[{e.instrument.value, e.side, e.book.price.value}];
        std::erase(queue, e.book.order);
        if (queue.empty()) queues_.erase({e.instrument.value, e.side, e.book.price.value});
    }
    void level_changed(const event& e) {
        std::uint64_t sum = 0;
        const auto at = queues_.find({e.instrument.value, e.side, e.level.price.value});
        if (at != queues_.end()) {
            for (const domain::order_id id : at->second) sum += open_[id];
        }
        EXPECT_EQ(e.level.quantity.value, sum) << "a level is the sum of its orders";
        EXPECT_EQ(e.level.orders_count, at == queues_.end() ? 0 : at->second.size());
    }
    void top_of_book(const event& e) {
        if (collected_.contains(e.instrument.value)) return;
        if (e.top.bid_price != domain::no_price && e.top.ask_price != domain::no_price) {
            EXPECT_LT(e.top.bid_price, e.top.ask_price) << "the book is never crossed, not even for one message";
        }
    }

    /// Instruments whose books may be crossed, with the price of an ending auction.
    std::map<std::uint32_t, domain::price_ticks> collected_;
    std::set<std::uint32_t> sharing_;  ///< instruments whose algorithm is not plain FIFO
    std::map<key, std::deque<domain::order_id>> queues_;
    std::map<domain::order_id, std::uint64_t> open_;
    std::map<domain::order_id, std::uint64_t> left_;  ///< of every order, displayed or hidden
    std::vector<std::uint64_t> traded_now_;           ///< quantities of the present trade
    std::set<domain::order_id> leaving_;              ///< all orders that ever left their levels
    bool is_command_itself_ = true;
};

TEST(facility_prop, keeps_the_laws_of_the_market_in_every_message) {
    base::prng seeds{base::test_seed()};
    for (int run = 0; run < 60 && !::testing::Test::HasFailure(); ++run) {
        const std::uint64_t seed = seeds();
        SCOPED_TRACE("seed " + std::to_string(seed));
        command_generator generator(seed);
        recorder seen;
        facility venue(generator.profile().options, generator.profile().instruments, seen);
        law_checker laws(generator.profile().instruments);
        for (int i = 0; i < 2'000; ++i) {
            const command c = generator.next();
            seen.events.clear();
            venue.apply(c);
            generator.learn(seen.events);
            laws.check(c, seen.events);

            std::size_t answers = 0;
            const event* last_public = nullptr;
            for (const event& e : seen.events) last_public = domain::is_public(e.kind) ? &e : last_public;
            for (const event& e : seen.events) {
                const bool answers_now = (e.flags & domain::event_flag::last_of_request) != 0;
                answers += answers_now ? 1U : 0U;
                ASSERT_EQ((e.flags & domain::event_flag::last_of_command) != 0,
                          &e == &seen.events.back() || &e == last_public);
            }
            const bool goes_on =
                c.kind == domain::command_kind::enter_quote && (c.enter_quote().flags & domain::quote_flag::more) != 0;
            const bool is_counted = std::any_of(seen.events.begin(), seen.events.end(), [](const event& e) {
                return e.kind == event_kind::messages_counted || e.kind == event_kind::order_named;
            });
            const bool is_silent = c.kind == domain::command_kind::define_account ||
                                   c.kind == domain::command_kind::set_account_limits ||
                                   c.kind == domain::command_kind::cancel_on_disconnect || is_counted;
            ASSERT_EQ(answers, goes_on || is_silent ? 0U : 1U)
                << "every request is answered exactly once, by its last command";
        }
        for (const domain::instrument& instrument : generator.profile().instruments) {
            std::int64_t sum = 0;
            for (std::uint32_t account = 0; account < generator.profile().options.accounts_max; ++account) {
                sum += venue.position_of(domain::account_id{account}, instrument.id);
            }
            EXPECT_EQ(sum, 0) << "positions add up to zero";
        }
    }
}

TEST(facility_prop, gives_the_same_bytes_for_the_same_commands) {
    base::prng seeds{base::test_seed()};
    const std::uint64_t seed = seeds();
    std::vector<event> first;
    for (int time = 0; time < 2; ++time) {
        command_generator generator(seed);
        recorder seen;
        facility venue(generator.profile().options, generator.profile().instruments, seen);
        for (int i = 0; i < 5'000; ++i) {
            const std::size_t before = seen.events.size();
            venue.apply(generator.next());
            generator.learn(std::span{seen.events}.subspan(before));
        }
        if (time == 0) {
            first = seen.events;
        } else {
            ASSERT_EQ(first.size(), seen.events.size());
            EXPECT_EQ(std::memcmp(first.data(), seen.events.data(), first.size() * sizeof(event)), 0);
        }
    }
}

/// Four orders of two accounts at two prices with one or two lots. Every incoming order meets every book of up to three
/// orders in every self-match mode.
TEST(facility_prop, agrees_with_the_reference_on_all_small_books_in_every_self_match_mode) {
    const domain::instrument instruments[]{wide_instrument(1)};
    const auto order = [](std::uint32_t number) {
        return limit(number & 1U, (number & 2U) != 0 ? side::buy : side::sell, (number & 4U) != 0 ? 1 : 2,
                     (number & 8U) != 0 ? 1 : 2);
    };
    for (std::uint32_t mode = 0; mode <= 4; ++mode) {
        for (std::uint32_t book = 0; book < (1U << 16); ++book) {
            twin both({.orders_max = 4, .accounts_max = 2, .positions_max = 2, .window_bits = 6}, instruments);
            for (std::uint32_t i = 0; i < 4; ++i) {
                command c = order((book >> (4 * i)) & 15U);
                c.sequence = domain::sequence_number{i + 1};
                c.enter_order().self_match_prevention = static_cast<domain::self_match_prevention>(mode);
                ASSERT_EQ(both.apply(c), "") << "book " << book << " in mode " << mode;
            }
        }
    }
}

/// Three orders of two accounts with up to five lots at one price. Every incoming order meets every such book in every
/// self-match mode, under every algorithm.
TEST(facility_prop, agrees_with_the_reference_on_all_small_books_that_share) {
    using enum domain::match_algorithm;
    constexpr domain::lead_market_maker maker{domain::account_id{1}, 40};
    const domain::allocation_policy policies[]{
        {.algorithm = fifo_makers, .makers = {maker}},
        {.algorithm = fifo_top_makers, .top_minimum = 2, .makers = {maker}},
        {.algorithm = split, .levels = true, .fifo_percent = 30, .pro_rata_minimum = 2, .makers = {maker}},
        {.algorithm = allocation},
        {.algorithm = pro_rata},
        {.algorithm = threshold, .top_minimum = 3, .top_maximum = 2},
        {.algorithm = threshold_makers, .top_maximum = 1, .makers = {maker}},
    };
    constexpr std::array<std::uint32_t, 4> lots{1, 2, 3, 5};
    for (const domain::allocation_policy& policy : policies) {
        domain::instrument instrument = wide_instrument(1);
        instrument.allocation = policy;
        for (std::uint32_t run = 0; run < 512 * 5 * 11; ++run) {
            const std::uint32_t book = run % 512;
            twin both({.orders_max = 4, .accounts_max = 2, .positions_max = 2, .window_bits = 6}, {&instrument, 1});
            for (std::uint32_t i = 0; i < 4; ++i) {
                const std::uint32_t number = book >> (3 * i);
                command c = i < 3 ? limit(number & 1U, side::sell, 1, lots[(number >> 1U) & 3U])
                                  : limit(0, side::buy, 1, 1 + run / (512 * 5));
                c.sequence = domain::sequence_number{i + 1};
                c.enter_order().self_match_prevention = static_cast<domain::self_match_prevention>(run / 512 % 5);
                ASSERT_EQ(both.apply(c), "") << "run " << run << " of " << static_cast<char>(policy.algorithm);
            }
        }
    }
}

}  // namespace
}  // namespace corro::facility::testing
