// SPDX-License-Identifier: Apache-2.0
// The rules of accounts find what breaks them: each test is a venue that did.

#include "simulation/account_rules.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"

namespace corro::simulation {
namespace {

constexpr domain::account_id trader{1};
constexpr domain::session_id session{1};
constexpr domain::instrument_id instrument{1};

class account_rules_test : public ::testing::Test {
 protected:
    /// A command of the session, and what it has caused.
    void execute(domain::command c, const std::vector<domain::event>& events) {
        c.sequence = domain::sequence_number{++sequence_};
        rules_.executed(c, events);
    }
    /// A command of a client that is answered by request_done.
    void execute_done(domain::command c) {
        c.set_request(7);
        domain::event done;
        done.kind = domain::event_kind::request_done;
        done.order.request = 7;
        execute(c, {done});
    }
    void enter(std::uint64_t order, std::uint32_t quantity, domain::side side = domain::side::buy) {
        execute({}, {entered(order, quantity, side)});
    }
    void stop_account(domain::switch_state state) {
        domain::command c;
        c.kind = domain::command_kind::kill_switch;
        c.kill_switch().other_account = trader;
        c.kill_switch().state = state;
        execute_done(c);
    }
    void limit(std::uint32_t position, std::uint32_t orders) {
        domain::command c;
        c.kind = domain::command_kind::set_limits;
        c.set_limits().other_account = trader;
        c.set_limits().position_max = domain::quantity_lots{position};
        c.set_limits().open_orders_max = orders;
        execute_done(c);
    }
    void cancel_for_lost_connection() {
        domain::command c;
        c.kind = domain::command_kind::cancel_orders;
        c.session = session;
        execute(c, {});
    }
    void request() {
        domain::command c;
        c.kind = domain::command_kind::query_order;
        c.session = session;
        c.set_request(1);
        execute(c, {});
    }
    void ask_for_cancel() {
        domain::command c;
        c.kind = domain::command_kind::cancel_on_disconnect;
        c.session = session;
        c.cancel_on_disconnect().state = domain::switch_state::on;
        execute(c, {});
    }
    static domain::event entered(std::uint64_t order, std::uint32_t quantity, domain::side side) {
        domain::event e;
        e.kind = domain::event_kind::order_entered;
        e.instrument = instrument;
        e.side = side;
        e.order.order = domain::order_id{order};
        e.order.quantity = domain::quantity_lots{quantity};
        e.order.account = trader;
        e.order.session = session;
        return e;
    }
    static domain::event filled(std::uint64_t order, std::uint32_t quantity, domain::side side) {
        domain::event e;
        e.kind = domain::event_kind::order_executed;
        e.instrument = instrument;
        e.side = side;
        e.execution.order = domain::order_id{order};
        e.execution.quantity = domain::quantity_lots{quantity};
        e.execution.account = trader;
        return e;
    }

    findings found_;
    account_rules rules_{&found_};
    std::uint64_t sequence_ = 0;
};

TEST_F(account_rules_test, S3_an_order_that_is_left_behind_a_kill_switch_is_found) {
    enter(1, 5);
    stop_account(domain::switch_state::on);
    EXPECT_EQ(found_.promise(), "S3") << "order 1 is still open";
}

TEST_F(account_rules_test, S3_an_order_that_enters_behind_a_kill_switch_is_found) {
    stop_account(domain::switch_state::on);
    EXPECT_TRUE(found_.empty());
    enter(1, 5);
    EXPECT_EQ(found_.promise(), "S3");
}

TEST_F(account_rules_test, S3_an_auction_that_ends_before_the_kill_switch_in_the_same_command_is_right) {
    enter(1, 5);
    domain::command c;
    c.kind = domain::command_kind::kill_switch;
    c.kill_switch().other_account = trader;
    c.kill_switch().state = domain::switch_state::on;
    c.set_request(7);
    domain::event done;
    done.kind = domain::event_kind::request_done;
    done.order.request = 7;
    execute(c, {filled(1, 5, domain::side::buy), done});
    EXPECT_TRUE(found_.empty()) << found_.words();
    execute({}, {filled(1, 5, domain::side::buy)});
    EXPECT_EQ(found_.promise(), "S3");
}

TEST_F(account_rules_test, S3_what_enters_after_the_switch_is_off_is_right) {
    stop_account(domain::switch_state::on);
    stop_account(domain::switch_state::off);
    enter(1, 5);
    EXPECT_TRUE(found_.empty()) << found_.words();
}

TEST_F(account_rules_test, S4_an_order_beyond_a_position_limit_is_found) {
    limit(10, 0);
    enter(1, 10);
    EXPECT_TRUE(found_.empty()) << found_.words();
    enter(2, 10, domain::side::sell);
    EXPECT_TRUE(found_.empty()) << "each side counts by itself: " << found_.words();
    enter(3, 1);
    EXPECT_EQ(found_.promise(), "S4");
}

TEST_F(account_rules_test, S4_a_position_and_open_orders_count_together) {
    limit(10, 0);
    enter(1, 10);
    execute({}, {filled(1, 10, domain::side::buy)});
    EXPECT_TRUE(found_.empty()) << found_.words();
    enter(2, 20, domain::side::sell);
    EXPECT_TRUE(found_.empty()) << "from 10 long to 10 short: " << found_.words();
    enter(3, 1);
    EXPECT_EQ(found_.promise(), "S4");
}

TEST_F(account_rules_test, S4_what_was_there_before_a_lower_limit_may_stay_and_not_grow) {
    enter(1, 20);
    limit(10, 0);
    EXPECT_TRUE(found_.empty()) << found_.words();
    enter(2, 1);
    EXPECT_EQ(found_.promise(), "S4");
}

TEST_F(account_rules_test, S4_an_order_beyond_a_limit_of_open_orders_is_found) {
    limit(0, 2);
    enter(1, 1);
    enter(2, 1);
    EXPECT_TRUE(found_.empty()) << found_.words();
    enter(3, 1);
    EXPECT_EQ(found_.promise(), "S4");
}

TEST_F(account_rules_test, S2_a_cancel_that_nobody_asked_for_is_found) {
    cancel_for_lost_connection();
    EXPECT_EQ(found_.promise(), "S2");
}

TEST_F(account_rules_test, S2_an_order_that_a_cancel_on_disconnect_leaves_is_found) {
    ask_for_cancel();
    cancel_for_lost_connection();
    EXPECT_TRUE(found_.empty()) << found_.words();
    enter(1, 5);
    cancel_for_lost_connection();
    EXPECT_EQ(found_.promise(), "S2");
}

TEST_F(account_rules_test, S2_a_cancel_while_the_session_is_connected_is_found) {
    ask_for_cancel();
    cancel_for_lost_connection();
    ask_for_cancel();
    request();
    EXPECT_TRUE(found_.empty()) << found_.words();
    cancel_for_lost_connection();
    request();
    EXPECT_EQ(found_.promise(), "S2");
}

TEST_F(account_rules_test, a_strategy_moves_positions_in_its_legs_and_counts_in_their_limits) {
    domain::instrument spread;
    spread.id = domain::instrument_id{9};
    spread.legs = {domain::leg{instrument, 3, domain::side::sell}, domain::leg{domain::instrument_id{2}}};
    spread.legs_count = 2;
    rules_.learn(std::vector<domain::instrument>{spread});
    limit(10, 0);
    domain::event order = entered(1, 3, domain::side::buy);
    order.instrument = spread.id;
    execute({}, {order});
    EXPECT_TRUE(found_.empty()) << "9 short in the first leg: " << found_.words();
    domain::event fill = filled(1, 2, domain::side::buy);
    fill.instrument = spread.id;
    fill.execution.leaves = domain::quantity_lots{1};
    domain::event first;
    first.kind = domain::event_kind::leg_capture;
    first.instrument = instrument;
    first.side = domain::side::sell;
    first.leg_fill.account = trader;
    first.leg_fill.quantity = domain::quantity_lots{6};
    domain::event second = first;
    second.instrument = domain::instrument_id{2};
    second.side = domain::side::buy;
    second.leg_fill.quantity = domain::quantity_lots{2};
    execute({}, {fill, first, second});
    EXPECT_TRUE(found_.empty()) << found_.words();
    EXPECT_EQ(rules_.positions(), (std::map<account_and_instrument, std::int64_t>{{{1, 1}, -6}, {{1, 2}, 2}}));
    order.order.order = domain::order_id{2};
    order.order.quantity = domain::quantity_lots{1};
    execute({}, {order});
    EXPECT_EQ(found_.promise(), "S4") << "6 + 3 + 3 short in the first leg";
}

}  // namespace
}  // namespace corro::simulation
