// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/desk_command.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "domain/definition.hpp"

namespace corro::app::desk {
namespace {

domain::instrument make(std::uint32_t id, std::string_view name, std::int64_t tick_nano, std::uint32_t lot) {
    domain::instrument i;
    i.id = domain::instrument_id{id};
    i.name = domain::symbol(name);
    i.tick_size = domain::price_nano{tick_nano};
    i.lot_size = lot;
    return i;
}

const std::vector<domain::instrument> venue{make(1, "ESZ6", 250'000'000, 1), make(2, "ESH7", 250'000'000, 1),
                                            make(7, "CLF7", 10'000'000, 100)};

std::expected<request, std::string> read(std::string_view line) {
    return parse(line, venue, domain::instrument_id{1});
}

domain::command order(std::string_view line) {
    const auto result = read(line);
    EXPECT_TRUE(result.has_value()) << line << ": " << (result ? "" : result.error());
    return result && std::holds_alternative<order_ticket>(*result) ? std::get<order_ticket>(*result).command
                                                                   : domain::command();
}

std::string problem_of(std::string_view line) {
    const auto result = read(line);
    EXPECT_FALSE(result.has_value()) << line;
    return result ? std::string() : result.error();
}

TEST(desk_command, reads_a_limit_order_for_the_instrument_that_is_shown) {
    const domain::command c = order("buy 10 5998.75");
    EXPECT_EQ(c.kind, domain::command_kind::enter_order);
    EXPECT_EQ(c.instrument, domain::instrument_id{1});
    EXPECT_EQ(c.order_terms().side, domain::side::buy);
    EXPECT_EQ(c.order_terms().type, domain::order_type::limit);
    EXPECT_EQ(c.order_terms().time_in_force, domain::time_in_force::day);
    EXPECT_EQ(c.enter_order().quantity, domain::quantity_lots{10});
    EXPECT_EQ(c.enter_order().price, domain::price_ticks{23'995});
}

TEST(desk_command, reads_a_symbol_in_any_case_and_converts_to_its_lots_and_ticks) {
    const domain::command c = order("  SELL 300\tclf7 -1.25 gtc");
    EXPECT_EQ(c.instrument, domain::instrument_id{7});
    EXPECT_EQ(c.order_terms().side, domain::side::sell);
    EXPECT_EQ(c.enter_order().quantity, domain::quantity_lots{3});
    EXPECT_EQ(c.enter_order().price, domain::price_ticks{-125});
    EXPECT_EQ(c.order_terms().time_in_force, domain::time_in_force::gtc);
}

TEST(desk_command, reads_a_definition_with_its_differences) {
    const domain::definition plain = domain::definition_of(order("define 12 ESM7 like esh7"));
    EXPECT_EQ(plain.id.value, 12U);
    EXPECT_EQ(plain.name.view(), "ESM7");
    EXPECT_EQ(plain.like.value, 2U);
    EXPECT_EQ(plain.given, 0);
    const domain::definition put =
        domain::definition_of(order("define 13 P like ESH7 expiry 2027-03-19 put 5900.5 low 0.25 high 100"));
    EXPECT_EQ(put.expiry.value, 1'805'414'400'000'000'000);
    EXPECT_EQ(put.right, domain::option_right::put);
    EXPECT_EQ(put.strike.value, 5'900'500'000'000);
    EXPECT_EQ(put.price_low.value, 250'000'000);
    EXPECT_EQ(put.price_high.value, 100'000'000'000);
    EXPECT_EQ(put.given, 15);
    const domain::definition spread = domain::definition_of(order("define 14 S like CLF7 legs ESZ6 ESH7 low 1"));
    EXPECT_EQ(spread.legs_count, 2);
    EXPECT_EQ(spread.legs[1].value, 2U);
    EXPECT_EQ(spread.given, domain::definition_field::legs | domain::definition_field::price_low);
}

TEST(desk_command, says_what_is_wrong_with_a_definition) {
    EXPECT_EQ(problem_of("define X like ESH7"), "id: expected a whole number above 0, found \"X\"");
    EXPECT_EQ(problem_of("define 70000 X like ESH7"), "id: at most 65536");
    EXPECT_EQ(problem_of("define 12 X ESH7"), "like which instrument? For example: define 7 DEC like SEP");
    EXPECT_EQ(problem_of("define 12 X like NONE"), "no instrument \"NONE\"; press TAB for the names");
    EXPECT_EQ(problem_of("define 12 X like ESH7 expiry 2027-02-30"),
              "expiry: expected a day such as 2027-03-19, found \"2027-02-30\"");
    EXPECT_EQ(problem_of("define 12 X like ESH7 soon"), "\"soon\" is not part of a definition; see: help define");
    EXPECT_EQ(problem_of("define 12 X like ESH7 legs NONE"), "legs: no instrument \"NONE\"");
}

TEST(desk_command, reads_a_phase_for_one_instrument_or_for_all) {
    const domain::command one = order("phase continuous ESH7");
    EXPECT_EQ(one.kind, domain::command_kind::change_phase);
    EXPECT_EQ(one.instrument.value, 2U);
    EXPECT_EQ(one.change_phase().phase, domain::trading_phase::continuous);
    EXPECT_EQ(order("phase closed").change_phase().phase, domain::trading_phase::closed);
    EXPECT_EQ(order("phase closed").instrument.value, 0U);
    EXPECT_EQ(problem_of("phase soon"), "\"soon\" is not a phase; press TAB for the names");
}

TEST(desk_command, reads_every_instruction_of_an_order) {
    const domain::command iceberg = order("buy 100 ESH7 6000 show 10 min 5 post");
    EXPECT_EQ(iceberg.enter_order().display_quantity, domain::quantity_lots{10});
    EXPECT_EQ(iceberg.enter_order().minimum_quantity, domain::quantity_lots{5});
    EXPECT_EQ(iceberg.enter_order().flags, domain::order_flag::post_only);
    const domain::command market = order("sell 5 market");
    EXPECT_EQ(market.order_terms().type, domain::order_type::market);
    EXPECT_EQ(market.order_terms().time_in_force, domain::time_in_force::ioc);
    const domain::command stop = order("sell 5 market stop 5990");
    EXPECT_EQ(stop.order_terms().type, domain::order_type::stop);
    EXPECT_EQ(stop.order_terms().time_in_force, domain::time_in_force::day);
    EXPECT_EQ(stop.enter_order().trigger_price, domain::price_ticks{23'960});
    const domain::command stop_limit = order("buy 5 6001 stop 6000 gtc");
    EXPECT_EQ(stop_limit.order_terms().type, domain::order_type::stop_limit);
    EXPECT_EQ(stop_limit.order_terms().time_in_force, domain::time_in_force::gtc);
    EXPECT_EQ(order("buy 5 6001 fok").order_terms().time_in_force, domain::time_in_force::fok);
}

TEST(desk_command, reads_changes_and_cancels) {
    const change both = std::get<change>(*read("amend 12 quantity 5 price 6000.5"));
    EXPECT_EQ(both.number, 12U);
    EXPECT_EQ(both.quantity, 5);
    EXPECT_EQ(both.price, domain::price_nano{6'000'500'000'000});
    EXPECT_EQ(std::get<change>(*read("amend 12 price 1")).quantity, std::nullopt);
    EXPECT_EQ(std::get<cancellation>(*read("cancel 3")).number, 3U);
    EXPECT_EQ(std::get<cancellation>(*read("cancel all")).instrument, std::nullopt);
    EXPECT_EQ(std::get<cancellation>(*read("cancel all clf7")).instrument, domain::instrument_id{7});
}

TEST(desk_command, reads_the_rest) {
    EXPECT_TRUE(std::holds_alternative<nothing>(*read("  ")));
    EXPECT_TRUE(std::holds_alternative<leave>(*read("quit")));
    EXPECT_EQ(std::get<listing>(*read("Orders")), listing::orders);
    EXPECT_EQ(std::get<listing>(*read("positions")), listing::positions);
    EXPECT_EQ(std::get<listing>(*read("positions account")), listing::account_positions);
    EXPECT_EQ(std::get<selection>(*read("show esh7")).instrument, domain::instrument_id{2});
    EXPECT_EQ(std::get<help_request>(*read("help buy")).topic, "buy");
}

TEST(desk_command, says_what_was_expected) {
    EXPECT_EQ(problem_of("purchase 1"), "\"purchase\" is not a command; see: help");
    EXPECT_EQ(problem_of("buy"), "how many? For example: buy 10 SYMBOL 100.25");
    EXPECT_EQ(problem_of("buy 0 6000"), "quantity: expected a whole number above 0, found \"0\"");
    EXPECT_EQ(problem_of("buy 1 ESZ9 6000"), "no instrument \"ESZ9\"; press TAB for the names");
    EXPECT_EQ(problem_of("buy 1 6000.1"), "price: 6000.1 is not a multiple of the tick size, 0.25");
    EXPECT_EQ(problem_of("buy 150 CLF7 1"), "quantity: CLF7 trades in multiples of 100");
    EXPECT_EQ(problem_of("buy 99999999999999999999 1"),
              "quantity: expected a whole number above 0, found \"99999999999999999999\"");
    EXPECT_EQ(problem_of("buy 1 ESZ6"), "at which price? A decimal, or: market");
    EXPECT_EQ(problem_of("buy 1 6000 today"), "\"today\" is not part of an order; see: help buy");
    EXPECT_EQ(problem_of("amend 4"), "amend what? quantity UNITS, price PRICE, or both");
    EXPECT_EQ(problem_of("cancel"), "cancel: expected a whole number above 0, found \"\", or: all");
    EXPECT_EQ(problem_of("cancel 3 4"), "unexpected word \"4\"; see: help cancel");
    EXPECT_EQ(problem_of("help me"), "no help about \"me\"; see: help");
    EXPECT_FALSE(parse("buy 1 5", venue, std::nullopt).has_value());
}

TEST(desk_command, reads_orders_that_stay) {
    const auto read_order = read("buy 10 ESZ6 6000 gtc post stay");
    ASSERT_TRUE(read_order);
    EXPECT_EQ(std::get<order_ticket>(*read_order).command.enter_order().flags,
              domain::order_flag::post_only | domain::order_flag::stays);
}

TEST(desk_command, reads_what_operators_ask) {
    EXPECT_EQ(std::get<status_question>(*read("Status")).instrument, domain::instrument_id{});
    EXPECT_EQ(std::get<status_question>(*read("status esh7")).instrument, domain::instrument_id{2});
    EXPECT_TRUE(std::holds_alternative<snapshot_wish>(*read("snapshot")));
    EXPECT_EQ(std::get<order_question>(*read("status 17")).number, 17U);
    EXPECT_EQ(problem_of("status now"), "no instrument \"now\"; press TAB for the names");
    EXPECT_EQ(problem_of("status ESZ6 now"), "unexpected word \"now\"; see: help status");
    EXPECT_EQ(problem_of("snapshot ESZ6"), "unexpected word \"ESZ6\"; see: help snapshot");
}

TEST(desk_command, reads_what_operators_do_to_accounts_and_instruments) {
    const domain::command kill = order("KILL 2");
    EXPECT_EQ(kill.kind, domain::command_kind::kill_switch);
    EXPECT_EQ(kill.kill_switch().kill_scope, domain::kill_scope::account);
    EXPECT_EQ(kill.kill_switch().state, domain::switch_state::on);
    EXPECT_EQ(kill.kill_switch().other_account, domain::account_id{2});
    EXPECT_EQ(order("release 2").kill_switch().state, domain::switch_state::off);
    const domain::command clear = order("clear 7");
    EXPECT_EQ(clear.kind, domain::command_kind::cancel_orders);
    EXPECT_EQ(clear.cancel_orders().scope, domain::cancel_scope::account);
    EXPECT_EQ(clear.cancel_orders().other_account, domain::account_id{7});
    EXPECT_EQ(clear.instrument, domain::instrument_id{}) << "in all instruments, whichever is shown";
    EXPECT_EQ(order("clear 7 clf7").instrument, domain::instrument_id{7});
    const domain::command limits = order("limits 3 open 5 order 20");
    EXPECT_EQ(limits.kind, domain::command_kind::set_limits);
    EXPECT_EQ(limits.set_limits().other_account, domain::account_id{3});
    EXPECT_EQ(limits.set_limits().open_orders_max, 5U);
    EXPECT_EQ(limits.set_limits().order_quantity_max, domain::quantity_lots{20});
    EXPECT_EQ(limits.set_limits().position_max, domain::quantity_lots{0}) << "no limit";
    EXPECT_EQ(order("limits 3 position 8").set_limits().position_max, domain::quantity_lots{8});
    const domain::command settle = order("settle esh7 -1.25");
    EXPECT_EQ(settle.kind, domain::command_kind::settle_instrument);
    EXPECT_EQ(settle.instrument, domain::instrument_id{2});
    EXPECT_EQ(settle.settle_instrument().price, domain::price_ticks{-5});
    EXPECT_EQ(problem_of("kill"), "account: expected a whole number above 0, found \"\"");
    EXPECT_EQ(problem_of("kill alice"), "account: expected a whole number above 0, found \"alice\"");
    EXPECT_EQ(problem_of("release 4294967296"), "account: at most 4294967295");
    EXPECT_EQ(problem_of("kill 2 3"), "unexpected word \"3\"; see: help kill");
    EXPECT_EQ(problem_of("clear 2 XXX"), "no instrument \"XXX\"; press TAB for the names");
    EXPECT_EQ(problem_of("limits 2 lots 5"), "\"lots\": expected order LOTS, position LOTS or open ORDERS");
    EXPECT_EQ(problem_of("limits 2 open"), "open: expected a whole number above 0, found \"\"");
    EXPECT_EQ(problem_of("limits 2 open 4294967296"), "open: at most 4294967295");
    EXPECT_EQ(problem_of("settle ESZ6"), "price: expected a decimal such as \"0.25\", found \"\"");
    EXPECT_EQ(problem_of("settle 5"), "no instrument \"5\"; press TAB for the names");
}

TEST(desk_command, completes_words_where_they_may_stand) {
    EXPECT_EQ(completions("", venue).size(), 22U);
    EXPECT_EQ(completions("s", venue), (std::vector<std::string>{"sell", "settle", "show", "snapshot", "status"}));
    EXPECT_EQ(completions("status e", venue), (std::vector<std::string>{"ESH7", "ESZ6"}));
    EXPECT_EQ(completions("c", venue), (std::vector<std::string>{"cancel", "clear"}));
    EXPECT_EQ(completions("clear 2 c", venue), std::vector<std::string>{"CLF7"});
    EXPECT_EQ(completions("settle esh", venue), std::vector<std::string>{"ESH7"});
    EXPECT_EQ(completions("limits 2 o", venue), (std::vector<std::string>{"open", "order"}));
    EXPECT_EQ(completions("buy 10 e", venue), (std::vector<std::string>{"ESH7", "ESZ6"}));
    EXPECT_EQ(completions("buy 10 ESZ6 6000 i", venue), std::vector<std::string>{"ioc"});
    EXPECT_EQ(completions("cancel all c", venue), std::vector<std::string>{"CLF7"});
    EXPECT_TRUE(completions("orders ", venue).empty());
    EXPECT_EQ(complete("buy 10 e", venue), "buy 10 ES");
    EXPECT_EQ(complete("buy 10 esz", venue), "buy 10 ESZ6 ");
    EXPECT_EQ(complete("xyz", venue), "xyz");
}

TEST(desk_command, explains_every_word_that_it_takes) {
    for (const std::string& word : completions("", venue)) EXPECT_EQ(help(word).size(), 2U) << word;
    EXPECT_EQ(help("").size(), completions("", venue).size());
}

// Every line gives a request or a sentence, and a completion is never shorter than the line.
TEST(desk_command, takes_any_line) {
    base::prng random(base::test_seed());
    const std::vector<std::string> parts{"buy",    "sell",   "10",    "ESZ6", "-1",   "0.25",
                                         "market", "stop",   "show",  "all",  " ",    "\t",
                                         "amend",  "cancel", "price", "\xff", "help", "99999999999999999999",
                                         ""};
    for (int round = 0; round < 20'000; ++round) {
        std::string line;
        for (std::uint64_t i = random.below(9); i > 0; --i)
            line += parts[random.below(parts.size())] + (random.below(4) != 0 ? " " : "");
        const auto result = read(line);
        if (!result) {
            EXPECT_FALSE(result.error().empty()) << line;
        }
        EXPECT_GE(complete(line, venue).size(), line.size()) << line;
    }
}

}  // namespace
}  // namespace corro::app::desk
