// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/requests.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fix/codec/frame.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

using domain::command;
using domain::command_kind;
using domain::reject_reason;

wire::instrument_table instruments_of_test() {
    wire::instrument_table table;
    domain::instrument i;
    i.id = domain::instrument_id{3};
    i.product = domain::product_id{1};
    i.name = domain::symbol("ESZ6");
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    table.define(i);
    i.id = domain::instrument_id{4};
    i.name = domain::symbol("ESH7");
    table.define(i);
    i.id = domain::instrument_id{5};
    i.kind = domain::instrument_kind::spread;
    i.name = domain::symbol("ESZ6-ESH7");
    i.legs[0] = {.instrument = domain::instrument_id{3}, .ratio = 1, .side = domain::side::buy};
    i.legs[1] = {.instrument = domain::instrument_id{4}, .ratio = 2, .side = domain::side::sell};
    i.legs_count = 2;
    table.define(i);
    return table;
}

struct outcome {
    request_problem problem;
    command asked;
};

/// @param body  Without the header; '|' stands for SOH.
outcome read(std::string_view type, std::string_view body, fix_version version = fix_version::v4_4) {
    const std::string text = fix::testing::framed("35=" + std::string(type) +
                                                  "|34=2|49=ALICE|52=20261123-12:00:00|56=CORRO|" + std::string(body));
    fix::field_index index;
    EXPECT_FALSE(index.index(text, fix::next_frame(text, fix::message_bytes_max_default)));
    const wire::instrument_table table = instruments_of_test();
    symbols known(table);
    outcome made;
    made.problem = read_request(index, known, version, made.asked);
    return made;
}

constexpr std::string_view sound_order = "11=17|55=ESZ6|54=2|38=50|40=2|44=6000.25|";

TEST(fix_requests, foresee_the_order_that_they_name) {
    const wire::instrument_table table = instruments_of_test();
    symbols known(table);
    domain::prefetch_hint seen;
    const auto hint = [&](const std::string& body) {
        const std::string text = fix::testing::framed(body);
        seen = {};
        return read_prefetch_hint(text, fix::next_frame(text, fix::message_bytes_max_default), known, seen);
    };
    ASSERT_TRUE(hint("35=D|34=9|11=17|55=ESZ6|"));
    EXPECT_EQ(seen.client_order.value, 17U);
    EXPECT_EQ(seen.request, 9U);
    EXPECT_TRUE(seen.enters);
    for (const std::string type : {"F", "G"}) {
        ASSERT_TRUE(hint("35=" + type + "|34=10|11=18|41=17|55=ESH7|"));
        EXPECT_EQ(seen.client_order.value, 17U);
        EXPECT_EQ(seen.instrument.value, 4U);
        EXPECT_FALSE(seen.enters);
    }
    EXPECT_FALSE(hint("35=D|34=9|55=ESZ6|")) << "no name";
    EXPECT_FALSE(hint("35=D|34=9|11=|")) << "no name";
    EXPECT_FALSE(hint("35=F|34=9|11=17|55=ESZ6|")) << "it names no order";
    EXPECT_FALSE(hint("35=F|34=9|41=17|55=NONE|"));
    EXPECT_FALSE(hint("35=0|34=9|11=17|"));
    EXPECT_FALSE(hint("35=AB|34=9|11=17|"));
    EXPECT_FALSE(hint("35=D|"));
}

TEST(fix_requests, a_new_order_becomes_ticks_and_lots) {
    const auto [problem, c] = read("D", sound_order);
    ASSERT_FALSE(problem.is_there());
    EXPECT_EQ(c.kind, command_kind::enter_order);
    EXPECT_EQ(c.client_order.value, 17U);
    EXPECT_EQ(c.instrument.value, 3U);
    EXPECT_EQ(c.verdict(), reject_reason::none);
    EXPECT_EQ(c.order_terms().side, domain::side::sell);
    EXPECT_EQ(c.order_terms().type, domain::order_type::limit);
    EXPECT_EQ(c.order_terms().time_in_force, domain::time_in_force::day);
    EXPECT_EQ(c.enter_order().price.value, 24'001);
    EXPECT_EQ(c.enter_order().quantity.value, 5U);
}

TEST(fix_requests, every_instruction_of_an_order_has_a_field) {
    const auto [problem, c] = read("D",
                                   "11=a|55=ESZ6|54=1|38=100|40=4|44=6000|99=6001.5|59=6|126=20261123-20:00:00|110=20|"
                                   "1138=30|18=6|20003=Y|20002=Y|2964=3|2362=77|");
    ASSERT_FALSE(problem.is_there()) << problem.tag << problem.text;
    const domain::enter_order& order = c.enter_order();
    EXPECT_EQ(c.order_terms().type, domain::order_type::stop_limit);
    EXPECT_EQ(c.order_terms().time_in_force, domain::time_in_force::gtd);
    EXPECT_EQ(order.price.value, 24'000);
    EXPECT_EQ(order.trigger_price.value, 24'006);
    EXPECT_EQ(order.expire_time.value, 1'795'464'000'000'000'000);
    EXPECT_EQ(order.minimum_quantity.value, 2U);
    EXPECT_EQ(order.display_quantity.value, 3U);
    EXPECT_EQ(order.flags, domain::order_flag::post_only | domain::order_flag::reprice | domain::order_flag::stays);
    EXPECT_EQ(order.self_match_prevention, domain::self_match_prevention::cancel_both);
    EXPECT_EQ(order.self_match_group, 77U);
}

TEST(fix_requests, order_types_and_times_in_force_are_those_of_the_venue) {
    const auto type_of = [](std::string_view fields) {
        const auto [problem, c] = read("D", "11=1|55=ESZ6|54=1|38=10|" + std::string(fields));
        EXPECT_FALSE(problem.is_there()) << fields;
        return c.order_terms().type;
    };
    EXPECT_EQ(type_of("40=1|"), domain::order_type::market);
    EXPECT_EQ(type_of("40=1|20004=0.5|"), domain::order_type::market_protected);
    EXPECT_EQ(type_of("40=3|99=1|"), domain::order_type::stop);
    EXPECT_EQ(type_of("40=J|99=1|"), domain::order_type::market_if_touched);
    EXPECT_EQ(type_of("40=K|"), domain::order_type::market_to_limit);
    const auto time_of = [](char code) {
        return read("D", std::string(sound_order) + "59=" + code + "|").asked.order_terms().time_in_force;
    };
    EXPECT_EQ(time_of('1'), domain::time_in_force::gtc);
    EXPECT_EQ(time_of('2'), domain::time_in_force::at_the_open);
    EXPECT_EQ(time_of('3'), domain::time_in_force::ioc);
    EXPECT_EQ(time_of('4'), domain::time_in_force::fok);
    EXPECT_EQ(time_of('7'), domain::time_in_force::at_the_close);
}

// These are sequenced and refused by the facility, as those of Corro Binary.
TEST(fix_requests, what_the_units_cannot_express_is_the_verdict) {
    const auto verdict_of = [](std::string_view body) {
        const auto [problem, c] = read("D", body);
        EXPECT_FALSE(problem.is_there()) << body;
        return c.verdict();
    };
    EXPECT_EQ(verdict_of("11=1|55=NONE|54=1|38=10|40=2|44=1|"), reject_reason::unknown_instrument);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=10|40=2|44=1.1|"), reject_reason::price_off_tick);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=10|40=2|44=0.0000000001|"), reject_reason::price_off_tick);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=10|40=2|44=99999999999|"), reject_reason::invalid_price);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=11|40=2|44=1|"), reject_reason::quantity_off_lot);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=10.5|40=2|44=1|"), reject_reason::quantity_off_lot);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=0|40=2|44=1|"), reject_reason::invalid_quantity);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=-10|40=2|44=1|"), reject_reason::invalid_quantity);
    EXPECT_EQ(verdict_of("11=1|55=ESZ6|54=1|38=10.00|40=2|44=1.500|"), reject_reason::none);
}

TEST(fix_requests, fields_that_are_missing_or_wrong_are_named) {
    const auto tag_of = [](std::string_view type, std::string_view body) { return read(type, body).problem.tag; };
    EXPECT_EQ(tag_of("D", "55=ESZ6|54=1|38=10|40=2|44=1|"), tag::cl_ord_id);
    EXPECT_EQ(tag_of("D", "11=1|54=1|38=10|40=2|44=1|"), tag::symbol);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|38=10|40=2|44=1|"), tag::side);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|54=5|38=10|40=2|44=1|"), tag::side);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|54=1|40=2|44=1|"), tag::order_qty);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|54=1|38=ten|40=2|44=1|"), tag::order_qty);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|54=1|38=10|44=1|"), tag::ord_type);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|54=1|38=10|40=P|44=1|"), tag::ord_type);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|54=1|38=10|40=2|"), tag::price);
    EXPECT_EQ(tag_of("D", "11=1|55=ESZ6|54=1|38=10|40=3|"), tag::stop_px);
    EXPECT_EQ(tag_of("D", std::string(sound_order) + "59=9|"), tag::time_in_force);
    EXPECT_EQ(tag_of("D", std::string(sound_order) + "59=6|"), tag::expire_time);
    EXPECT_EQ(tag_of("D", std::string(sound_order) + "18=R|"), tag::exec_inst);
    EXPECT_EQ(tag_of("G", "11=2|55=ESZ6|54=1|38=10|40=2|44=1|"), tag::orig_cl_ord_id);
    EXPECT_EQ(tag_of("F", "41=1|55=ESZ6|54=1|"), tag::cl_ord_id);
    EXPECT_EQ(tag_of("q", "11=1|"), tag::mass_cancel_request_type);
    EXPECT_EQ(tag_of("q", "11=1|530=4|"), tag::mass_cancel_request_type);
    EXPECT_EQ(tag_of("q", "11=1|530=1|"), tag::symbol);
}

TEST(fix_requests, a_name_that_the_venue_cannot_keep_is_refused_with_the_rule) {
    const auto [problem, c] = read("D", "11=" + std::string(64, 'x') + "|55=ESZ6|54=1|38=10|40=2|44=1|");
    EXPECT_EQ(problem.tag, 0U);
    EXPECT_NE(problem.text.find("63 characters"), std::string_view::npos);
}

TEST(fix_requests, a_replace_names_its_order_and_has_a_name) {
    const auto [problem, c] = read("G", "11=b|41=a|55=ESZ6|54=1|38=30|40=2|44=2|111=10|20005=Y|");
    ASSERT_FALSE(problem.is_there());
    EXPECT_EQ(c.kind, command_kind::amend_order);
    EXPECT_EQ(c.client_order, order_name("a"));
    EXPECT_EQ(c.request_name(), order_name("b"));
    EXPECT_EQ(c.amend_order().quantity.value, 3U);
    EXPECT_EQ(c.amend_order().price.value, 8);
    EXPECT_EQ(c.amend_order().flags, domain::amend_flag::display_quantity | domain::amend_flag::open_quantity);
    const auto [none, market] = read("G", "11=b|37=99|55=ESZ6|54=1|38=30|40=3|99=2|");
    ASSERT_FALSE(none.is_there());
    EXPECT_EQ(market.named_order().value, 99U);
    EXPECT_EQ(market.amend_order().price, domain::no_price);
    EXPECT_EQ(market.amend_order().flags, domain::amend_flag::trigger_price);
}

TEST(fix_requests, cancels_and_questions) {
    const auto [none, cancel] = read("F", "11=b|41=a|55=ESZ6|54=1|");
    ASSERT_FALSE(none.is_there());
    EXPECT_EQ(cancel.kind, command_kind::cancel_order);
    EXPECT_EQ(cancel.request_name(), order_name("b"));
    const auto [no_problem, all] = read("q", "11=m|530=7|54=2|");
    ASSERT_FALSE(no_problem.is_there());
    EXPECT_EQ(all.kind, command_kind::cancel_orders);
    EXPECT_EQ(all.instrument.value, 0U);
    EXPECT_EQ(all.cancel_orders().sides, domain::cancel_sides::sell);
    EXPECT_EQ(read("q", "11=m|530=1|55=ESZ6|").asked.instrument.value, 3U);
    const auto [nothing, question] = read("H", "11=a|790=q|55=ESZ6|54=1|");
    ASSERT_FALSE(nothing.is_there());
    EXPECT_EQ(question.kind, command_kind::query_order);
    EXPECT_EQ(question.client_order, order_name("a"));
    EXPECT_EQ(question.request_name(), order_name("q"));
    EXPECT_EQ(read("H", "11=a|").asked.request_name(), order_name("a"));
}

constexpr std::string_view terms_of_multileg = "11=17|54=2|38=50|40=2|44=6000.25|";
std::string multileg(std::string_view legs) {
    return std::string(terms_of_multileg) + std::string(legs);
}

TEST(fix_requests, a_strategy_is_named_by_its_symbol_or_by_its_legs) {
    const auto instrument_of = [](std::string_view legs) {
        const auto [problem, c] = read("AB", multileg(legs));
        EXPECT_FALSE(problem.is_there()) << legs << problem.tag << problem.text;
        EXPECT_EQ(c.kind, command_kind::enter_order);
        EXPECT_EQ(c.enter_order().quantity.value, c.verdict() == reject_reason::none ? 5U : 0U);
        return c.verdict() == reject_reason::none ? c.instrument.value : 0;
    };
    EXPECT_EQ(instrument_of("55=ESZ6-ESH7|"), 5U);
    EXPECT_EQ(instrument_of("55=ESZ6-ESH7|555=2|600=ESZ6|623=1|624=1|600=ESH7|623=2|624=2|"), 5U);
    EXPECT_EQ(instrument_of("555=2|600=ESZ6|624=1|600=ESH7|623=2.0|624=2|"), 5U) << "a ratio of 1 need not be given";
    EXPECT_EQ(instrument_of("555=2|600=ESH7|623=2|624=2|600=ESZ6|624=1|"), 5U) << "in any order";
    EXPECT_EQ(instrument_of("555=2|600=ESZ6|624=2|600=ESH7|623=2|624=2|"), 0U) << "other sides";
    EXPECT_EQ(instrument_of("555=2|600=ESZ6|624=1|600=ESH7|623=1|624=2|"), 0U) << "other ratios";
    EXPECT_EQ(instrument_of("555=1|600=ESZ6|624=1|"), 0U) << "too few legs";
    EXPECT_EQ(instrument_of("555=2|600=ESZ6|624=1|600=NONE|623=2|624=2|"), 0U) << "an unknown leg";
}

TEST(fix_requests, legs_that_make_no_sense_are_rejected) {
    const auto tag_of = [](std::string_view legs) { return read("AB", multileg(legs)).problem.tag; };
    EXPECT_EQ(tag_of(""), tag::symbol);
    EXPECT_EQ(tag_of("555=3|600=ESZ6|624=1|600=ESH7|624=2|"), tag::no_legs);
    EXPECT_EQ(tag_of("555=0|"), tag::no_legs);
    EXPECT_EQ(tag_of("555=1|600=ESZ6|"), tag::leg_side);
    EXPECT_EQ(tag_of("555=1|600=ESZ6|624=5|"), tag::leg_side);
    EXPECT_EQ(tag_of("555=1|600=ESZ6|624=1|623=0.5|"), tag::leg_ratio_qty);
    EXPECT_EQ(tag_of("555=1|600=ESZ6|624=1|623=0|"), tag::leg_ratio_qty);
    const auto text_of = [](std::string_view legs) { return read("AB", multileg(legs)).problem.text; };
    EXPECT_FALSE(text_of("55=ESZ6-ESH7|555=1|600=ESZ6|624=1|").empty()) << "other legs than those of Symbol";
    EXPECT_FALSE(text_of("555=9|600=A|600=A|600=A|600=A|600=A|600=A|600=A|600=A|600=A|").empty());
}

TEST(fix_requests, all_open_orders_are_asked_for_from_one_on) {
    const auto [none, all] = read("AF", "584=m|585=7|");
    ASSERT_FALSE(none.is_there());
    EXPECT_EQ(all.kind, command_kind::query_order);
    EXPECT_EQ(all.request_name(), order_name("m"));
    EXPECT_EQ(all.client_order.value, 0U);
    EXPECT_EQ(all.query_order().flags, domain::query_flag::all_of_account);
    const auto [no_problem, behind] = read("AF", "584=m|585=7|20026=99|");
    ASSERT_FALSE(no_problem.is_there());
    EXPECT_EQ(behind.query_order().flags, domain::query_flag::all_of_account | domain::query_flag::behind);
    EXPECT_EQ(behind.query_order().order.value, 99U);
    EXPECT_EQ(read("AF", "585=7|").problem.tag, tag::mass_status_req_id);
    EXPECT_EQ(read("AF", "584=m|").problem.tag, tag::mass_status_req_type);
    EXPECT_EQ(read("AF", "584=m|585=1|").problem.tag, tag::mass_status_req_type);
    EXPECT_EQ(read("AF", "584=m|585=7|20026=0|").problem.tag, tag::behind_order_id);
}

TEST(fix_requests, messages_that_a_version_does_not_have_are_unsupported) {
    for (const std::string_view type : {"AB", "AF", "AN", "q"}) {
        EXPECT_EQ(read(type, "", fix_version::v4_2).problem.business_reason, business_reason_unsupported_type) << type;
        EXPECT_NE(read(type, "", fix_version::v5_0).problem.tag, 0U) << type;
    }
}

TEST(fix_requests, other_messages_and_possible_resends_are_refused) {
    for (const std::string_view type : {"E", "z", "9", "BZ", "U9", "Ux1"}) {
        const request_problem problem = read(type, "66=1|").problem;
        EXPECT_FALSE(problem.is_of_session()) << type;
        EXPECT_EQ(problem.business_reason, business_reason_unsupported_type) << type;
    }
    EXPECT_FALSE(read("D", std::string(sound_order) + "97=Y|").problem.text.empty());
    EXPECT_FALSE(read("D", std::string(sound_order) + "97=N|").problem.is_there());
}

TEST(fix_requests, types_that_no_message_can_have_are_invalid) {
    for (const std::string_view type : {"*", "d1", "aB", "D*", "ABC", "U*", " "}) {
        const request_problem problem = read(type, "66=1|").problem;
        EXPECT_TRUE(problem.is_there()) << type;
        EXPECT_TRUE(problem.is_of_session()) << type;
        EXPECT_EQ(problem.reason, fix::reject_reason::invalid_message_type) << type;
        EXPECT_EQ(problem.tag, 0U) << type;
    }
}

}  // namespace
}  // namespace corro::fix_gateway
