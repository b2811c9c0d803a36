// SPDX-License-Identifier: Apache-2.0
#include "node/venue/partition_map.hpp"

#include <gtest/gtest.h>

namespace corro::node {
namespace {

using domain::command;
using domain::command_kind;

/// Instruments 1 and 2 in the first partition, 3 in the second.
configuration two_partitions() {
    configuration c;
    for (std::uint32_t id = 1; id <= 3; ++id) {
        domain::instrument i;
        i.id = domain::instrument_id{id};
        i.product = domain::product_id{id == 3 ? 2U : 1U};
        c.instruments.push_back(i);
    }
    c.partitions.resize(2);
    c.partitions[0].products = {domain::product_id{1}};
    c.partitions[1].products = {domain::product_id{2}};
    return c;
}

command of(command_kind kind, std::uint32_t instrument) {
    command c;
    c.kind = kind;
    c.instrument = domain::instrument_id{instrument};
    return c;
}

/// The venue's id of a partition's order.
domain::order_id named(std::uint64_t own, std::size_t partition) {
    domain::event e;
    e.order.order = domain::order_id{own};
    partition_map::leave_partition(e, partition);
    return e.order.order;
}

TEST(partition_map, routes_what_names_an_instrument_by_it) {
    const partition_map map(two_partitions());
    for (const command_kind kind : {command_kind::enter_order, command_kind::enter_quote, command_kind::amend_order,
                                    command_kind::cancel_order, command_kind::cancel_orders, command_kind::change_phase,
                                    command_kind::settle_instrument, command_kind::new_trading_day}) {
        EXPECT_EQ(map.target_of(of(kind, 1)), 0U);
        EXPECT_EQ(map.target_of(of(kind, 2)), 0U);
        EXPECT_EQ(map.target_of(of(kind, 3)), 1U);
    }
}

TEST(partition_map, sends_the_text_of_a_name_where_its_request_goes_or_to_all) {
    const partition_map map(two_partitions());
    EXPECT_EQ(map.target_of(of(command_kind::name_order, 1)), 0U);
    EXPECT_EQ(map.target_of(of(command_kind::name_order, 3)), 1U);
    EXPECT_EQ(map.target_of(of(command_kind::name_order, 0)), partition_map::all);
    EXPECT_EQ(map.target_of(of(command_kind::name_order, 4)), partition_map::all);
}

TEST(partition_map, sends_an_unknown_instrument_to_the_first_partition_to_be_refused) {
    const partition_map map(two_partitions());
    EXPECT_EQ(map.target_of(of(command_kind::enter_order, 4)), 0U);
    EXPECT_EQ(map.target_of(of(command_kind::enter_order, 0xffff'ffff)), 0U);
}

TEST(partition_map, sends_what_concerns_an_account_to_all) {
    const partition_map map(two_partitions());
    for (const command_kind kind :
         {command_kind::cancel_orders, command_kind::change_phase, command_kind::set_limits, command_kind::kill_switch,
          command_kind::set_protection, command_kind::reset_protection, command_kind::query_order,
          command_kind::cancel_on_disconnect, command_kind::reset_session_numbers}) {
        EXPECT_EQ(map.target_of(of(kind, 0)), partition_map::all);
    }
    // Named by the client's id without an instrument: it may be in any partition.
    EXPECT_EQ(map.target_of(of(command_kind::cancel_order, 0)), partition_map::all);
}

TEST(partition_map, finds_an_order_by_its_number_whatever_instrument_is_said) {
    const partition_map map(two_partitions());
    command cancel = of(command_kind::cancel_order, 1);
    cancel.cancel_order().order = named((std::uint64_t{7} << 32) | 5, 1);
    EXPECT_EQ(map.target_of(cancel), 1U);
    partition_map::enter_partition(cancel, 1);
    EXPECT_EQ(cancel.cancel_order().order.value, (std::uint64_t{7} << 32) | 5);
    cancel.cancel_order().order = domain::order_id{(std::uint64_t{7} << 32) | 5};
    EXPECT_EQ(map.target_of(cancel), 0U);
}

TEST(partition_map, sends_a_query_of_all_to_all_and_of_those_behind_an_order_to_its_partition) {
    const partition_map map(two_partitions());
    command query = of(command_kind::query_order, 0);
    query.query_order().flags = domain::query_flag::all_of_account;
    query.query_order().order = named(5, 1);
    EXPECT_EQ(map.target_of(query), partition_map::all);
    query.query_order().flags |= domain::query_flag::behind;
    EXPECT_EQ(map.target_of(query), 1U);
}

TEST(partition_map, sends_a_query_of_positions_to_all_or_to_the_partition_of_its_instrument) {
    const partition_map map(two_partitions());
    command query = of(command_kind::query_order, 0);
    query.query_order().flags = domain::query_flag::positions;
    EXPECT_EQ(map.target_of(query), partition_map::all);
    for (const std::uint32_t instrument : {1U, 2U}) {
        query.instrument = domain::instrument_id{instrument};
        for (const std::uint8_t flags : {std::uint8_t{0}, domain::query_flag::behind}) {
            query.query_order().flags = domain::query_flag::positions | flags;
            EXPECT_EQ(map.target_of(query), map.target_of(of(command_kind::enter_order, instrument))) << instrument;
        }
    }
    query.instrument = domain::instrument_id{99};
    EXPECT_EQ(map.target_of(query), 0U) << "which refuses it";
}

TEST(partition_map, leaves_the_number_of_a_partition_that_is_not_there_as_it_is) {
    const partition_map map(two_partitions());
    command cancel = of(command_kind::cancel_order, 1);
    cancel.cancel_order().order = named(5, 9);
    EXPECT_EQ(map.target_of(cancel), 0U);
    partition_map::enter_partition(cancel, 0);
    EXPECT_EQ(cancel.cancel_order().order, named(5, 9)) << "the first partition must not take it for one of its own";
}

TEST(partition_map, gives_orders_and_trades_of_different_partitions_different_numbers) {
    EXPECT_EQ(named(5, 0).value, 5U);
    EXPECT_NE(named(5, 1), named(5, 0));
    EXPECT_NE(named(5, 31), named(5, 30));
    EXPECT_EQ(named(0, 3).value, 0U) << "no order stays no order";
    domain::event trade;
    trade.kind = domain::event_kind::trade;
    trade.trade = {};
    trade.trade.trade = domain::trade_id{9};
    partition_map::leave_partition(trade, 2);
    EXPECT_EQ(trade.trade.trade.value, (std::uint64_t{2} << 56) | 9);
    EXPECT_EQ(trade.trade.quantity.value, 0U);
}

}  // namespace
}  // namespace corro::node
