// SPDX-License-Identifier: Apache-2.0
// Compares the venue with the table of docs/spec/phases.md, and bounds the cost of an auction.

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "facility/facility.hpp"
#include "facility/limits.hpp"
#include "facility/recorder.hpp"

namespace corro::facility {
namespace {

using domain::command;
using domain::command_kind;
using domain::event;
using domain::event_kind;
using domain::order_type;
using domain::reject_reason;
using domain::side;
using domain::time_in_force;
using domain::trading_phase;
using testing::limit;
using testing::recorder;
using testing::wide_instrument;

class auctions : public ::testing::Test {
 protected:
    auctions() { rebuild(1024); }

    void rebuild(std::uint32_t orders_max) {
        venue_ = std::make_unique<facility>(facility_options{.orders_max = orders_max, .accounts_max = 16},
                                            std::array{wide_instrument(1)}, recorder_);
    }
    const std::vector<event>& apply(command c) {
        c.sequence = domain::sequence_number{++sequence_};
        recorder_.events.clear();
        venue_->apply(c);
        return recorder_.events;
    }
    void enter(trading_phase phase) {
        command c;
        c.kind = command_kind::change_phase;
        c.change_phase().phase = phase;
        c.set_operator(true);
        apply(c);
    }
    [[nodiscard]] std::size_t count(event_kind kind) const {
        std::size_t n = 0;
        for (const event& e : recorder_.events) n += e.kind == kind ? 1U : 0U;
        return n;
    }

    recorder recorder_;
    std::unique_ptr<facility> venue_;
    std::uint64_t sequence_ = 0;
};

// --- The table -------------------------------------------------------------------------------------------------------

using row = std::map<std::string, std::string>;  ///< phase to outcome

/// The rows of the page's table of orders by phase.
std::map<std::string, row> read_table() {
    std::ifstream page(CORRO_SOURCE_DIR "/docs/spec/phases.md");
    std::map<std::string, row> table;
    std::vector<std::string> phases;
    for (std::string line; std::getline(page, line);) {
        std::vector<std::string> cells;
        std::istringstream rest(line);
        for (std::string cell; std::getline(rest, cell, '|');) {
            const std::size_t first = cell.find_first_not_of(' ');
            if (first != std::string::npos) cells.push_back(cell.substr(first, cell.find_last_not_of(' ') - first + 1));
        }
        if (!cells.empty() && cells[0] == "order") {
            phases = cells;
        } else if (!phases.empty() && cells.size() != phases.size()) {
            break;
        } else if (!phases.empty() && cells[0].find("---") == std::string::npos) {
            for (std::size_t i = 1; i < cells.size(); ++i) table[cells[0]][phases[i]] = cells[i];
        }
    }
    return table;
}

/// One order of each kind, priced to trade with the ask at 100.
std::map<std::string, command> orders_of_each_kind() {
    std::map<std::string, command> orders;
    const auto add = [&](const char* name, const std::function<void(command&)>& shape) {
        command c = limit(2, side::buy, 100, 5);
        shape(c);
        orders[name] = c;
    };
    const auto lasting = [](time_in_force t) { return [t](command& c) { c.order_terms().time_in_force = t; }; };
    const auto typed = [](order_type t) {
        return [t](command& c) {
            c.order_terms().type = t;
            c.enter_order().trigger_price = domain::price_ticks{500};
            if (t == order_type::market_protected) c.enter_order().price = domain::price_ticks{1};
        };
    };
    add("limit, day", lasting(time_in_force::day));
    add("limit, gtc", lasting(time_in_force::gtc));
    add("limit, gtd", [](command& c) {
        c.order_terms().time_in_force = time_in_force::gtd;
        c.enter_order().expire_time = domain::time_ns{1};
    });
    add("limit, at_the_open", lasting(time_in_force::at_the_open));
    add("limit, at_the_close", lasting(time_in_force::at_the_close));
    add("limit, ioc", lasting(time_in_force::ioc));
    add("limit, fok", lasting(time_in_force::fok));
    add("limit, post-only", [](command& c) {
        c.enter_order().flags = domain::order_flag::post_only;
        c.enter_order().price = domain::price_ticks{99};
    });
    add("limit, minimum quantity", [](command& c) { c.enter_order().minimum_quantity = domain::quantity_lots{1}; });
    add("limit, iceberg", [](command& c) { c.enter_order().display_quantity = domain::quantity_lots{1}; });
    add("market", typed(order_type::market));
    add("market_to_limit", typed(order_type::market_to_limit));
    add("market_protected", typed(order_type::market_protected));
    add("stop", typed(order_type::stop));
    add("stop_limit", typed(order_type::stop_limit));
    add("market_if_touched", [](command& c) {
        c.order_terms().type = order_type::market_if_touched;
        c.enter_order().trigger_price = domain::price_ticks{1};
    });
    add("quote", [](command& c) {
        c.kind = command_kind::enter_quote;
        c.enter_quote().ask_price = domain::price_ticks{200};
        c.enter_quote().ask_quantity = domain::quantity_lots{1};
    });
    return orders;
}

TEST_F(auctions, take_and_refuse_what_the_specification_says_of_every_phase) {
    const std::map<std::string, row> table = read_table();
    const std::map<std::string, command> orders = orders_of_each_kind();
    constexpr std::array<const char*, 7> phases{"continuous",         "halted",          "pre_open", "opening_auction",
                                                "volatility_auction", "closing_auction", "closed"};
    ASSERT_EQ(table.size(), orders.size());
    for (const auto& [name, order] : orders) {
        ASSERT_TRUE(table.contains(name)) << name;
        for (std::size_t phase = 0; phase < phases.size(); ++phase) {
            SCOPED_TRACE(name + " in " + phases[phase]);
            rebuild(64);
            command ask = limit(1, side::sell, 100, 5);
            ask.order_terms().time_in_force = time_in_force::gtc;
            apply(ask);
            enter(static_cast<trading_phase>(phase));
            std::string result = "taken";
            for (const event& e : apply(order)) {
                if (e.kind == event_kind::order_rejected) result = domain::to_string(e.reason);
            }
            EXPECT_EQ(result, table.at(name).at(phases[phase]));
            const bool is_waiting =
                order.kind == command_kind::enter_order && order.order_terms().type >= order_type::stop;
            EXPECT_EQ(count(event_kind::trade) != 0,
                      phase == 0 && result == "taken" && name != "limit, post-only" && !is_waiting)
                << "only the continuous market matches";
        }
    }
}

// --- What it may cost ------------------------------------------------------------------------------------------------

TEST_F(auctions, end_in_as_many_fills_as_there_are_orders_after_a_storm_of_cancels) {
    constexpr std::uint32_t orders = 2'000;
    rebuild(2 * orders);
    enter(trading_phase::opening_auction);
    for (std::uint32_t i = 0; i < orders; ++i) {
        apply(limit(1, side::sell, 100 - i % 7, 1 + i % 3, 1 + i));
        apply(limit(2, side::buy, 100 + i % 5, 1 + i % 4, 1 + i));
    }
    for (std::uint32_t i = 0; i < orders; i += 2) {
        command c = limit(1 + i % 4 / 2, side::buy, 0, 0, 1 + i);
        c.kind = command_kind::cancel_order;
        EXPECT_LE(apply(c).size(), 5U) << "a cancel costs its own messages and one indicative price";
    }
    enter(trading_phase::continuous);
    EXPECT_GT(count(event_kind::trade), orders / 4);
    EXPECT_LT(count(event_kind::trade), 2 * orders) << "each step takes an order out";
    EXPECT_EQ(recorder_.events.size(), 1 + 12 * count(event_kind::trade) + 2)
        << "auction_ended, the fills, phase_changed, request_done";
}

TEST_F(auctions, renew_no_indicative_price_while_too_many_levels_would_trade) {
    rebuild(4096);
    enter(trading_phase::opening_auction);
    const auto says = [&](command c) {
        apply(c);
        return count(event_kind::auction_indicative) != 0;
    };
    // Each pair of orders adds one level that trades to either side.
    for (std::uint32_t i = 0; i < indicative_levels_max / 2; ++i) {
        says(limit(1, side::sell, -std::int64_t{i}, 1));
        EXPECT_TRUE(says(limit(2, side::buy, 1 + std::int64_t{i}, 1))) << i;
    }
    says(limit(1, side::sell, -5000, 1, 77));
    EXPECT_FALSE(says(limit(2, side::buy, 5000, 1)));
    command c = limit(1, side::buy, 0, 0, 77);
    c.kind = command_kind::cancel_order;
    EXPECT_TRUE(says(c)) << "the level less is one that would trade";
    enter(trading_phase::continuous);
    EXPECT_EQ(count(event_kind::trade), indicative_levels_max / 2);
}

}  // namespace
}  // namespace corro::facility
