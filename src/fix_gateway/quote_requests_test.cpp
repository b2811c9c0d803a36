// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/quote_requests.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fix/codec/frame.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/quote_names.hpp"
#include "fix_gateway/requests.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

using domain::command;
using domain::command_kind;
using domain::reject_reason;

wire::instrument_table instruments_of_test() {
    wire::instrument_table table;
    domain::instrument i;
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    i.id = domain::instrument_id{3};
    i.name = domain::symbol("ESZ6");
    table.define(i);
    i.id = domain::instrument_id{4};
    i.name = domain::symbol("ESH7");
    table.define(i);
    return table;
}

struct outcome {
    request_problem problem;
    request_commands asked;
};

/// @param body  Without the header; '|' stands for SOH.
outcome read(std::string_view type, std::string_view body) {
    const std::string text = fix::testing::framed("35=" + std::string(type) +
                                                  "|34=2|49=ALICE|52=20261123-12:00:00|56=CORRO|" + std::string(body));
    fix::field_index index;
    EXPECT_FALSE(index.index(text, fix::next_frame(text, fix::message_bytes_max_default)));
    const wire::instrument_table table = instruments_of_test();
    symbols known(table);
    outcome made;
    if (may_have_several(type)) {
        made.problem = read_quotes(index, known, made.asked);
    } else {
        made.problem = read_request(index, known, fix_version::v4_2, made.asked.commands[0]);
        made.asked.count = 1;
    }
    return made;
}

TEST(fix_quote_requests, a_quote_becomes_ticks_and_lots) {
    const auto [problem, asked] = read("S", "117=q-1|55=ESZ6|132=6000|134=20|133=6000.5|135=30|2964=2|");
    ASSERT_FALSE(problem.is_there()) << problem.tag << problem.text;
    const command& c = asked.commands[0];
    ASSERT_EQ(c.kind, command_kind::enter_quote);
    EXPECT_EQ(c.instrument.value, 3U);
    EXPECT_EQ(c.verdict(), reject_reason::none);
    EXPECT_EQ(c.enter_quote().bid_price.value, 24'000);
    EXPECT_EQ(c.enter_quote().bid_quantity.value, 2U);
    EXPECT_EQ(c.enter_quote().ask_price.value, 24'002);
    EXPECT_EQ(c.enter_quote().ask_quantity.value, 3U);
    EXPECT_EQ(c.enter_quote().flags, 0);
    EXPECT_EQ(c.enter_quote().self_match_prevention, domain::self_match_prevention::cancel_resting);
    const auto name = parts_of(c.client_order);
    ASSERT_TRUE(name);
    EXPECT_TRUE(name->is(quote_request::quote));
    EXPECT_EQ(text_of_quote(name->id).view(), "q-1");
}

TEST(fix_quote_requests, a_side_without_a_size_is_withdrawn) {
    const auto [problem, asked] = read("S", "117=1|55=ESZ6|132=bad|134=0.00|133=6000.5|135=30|");
    ASSERT_FALSE(problem.is_there());
    EXPECT_EQ(asked.commands[0].enter_quote().bid_quantity.value, 0U);
    EXPECT_EQ(asked.commands[0].enter_quote().ask_quantity.value, 3U);
    EXPECT_EQ(asked.commands[0].verdict(), reject_reason::none);
}

TEST(fix_quote_requests, a_quote_with_a_missing_or_bad_field_has_its_tag) {
    const auto tag_of = [](std::string_view body) { return read("S", body).problem.tag; };
    EXPECT_EQ(tag_of("55=ESZ6|132=1|134=10|"), tag::quote_id);
    EXPECT_EQ(tag_of("117=1|132=1|134=10|"), tag::symbol);
    EXPECT_EQ(tag_of("117=1|55=ESZ6|134=10|"), tag::bid_px);
    EXPECT_EQ(tag_of("117=1|55=ESZ6|135=10|"), tag::offer_px);
    EXPECT_EQ(tag_of("117=1|55=ESZ6|132=1|134=ten|"), tag::bid_size);
    EXPECT_EQ(tag_of("117=1|55=ESZ6|132=one|134=10|"), tag::bid_px);
    EXPECT_EQ(tag_of("117=1|55=ESZ6|132=1|134=10|2964=9|"), tag::self_match_prevention_instruction);
    EXPECT_NE(read("S", "117=eight888|55=ESZ6|").problem.text.find("7 characters"), std::string_view::npos);
    const auto verdict_of = [](std::string_view body) { return read("S", body).asked.commands[0].verdict(); };
    EXPECT_EQ(verdict_of("117=1|55=NONE|132=1|134=10|"), reject_reason::unknown_instrument);
    EXPECT_EQ(verdict_of("117=1|55=ESZ6|132=1.1|134=10|"), reject_reason::price_off_tick);
    EXPECT_EQ(verdict_of("117=1|55=ESZ6|132=1|134=11|"), reject_reason::quantity_off_lot);
    EXPECT_EQ(verdict_of("117=1|55=ESZ6|132=1|134=-10|"), reject_reason::invalid_quantity);
}

constexpr std::string_view two_sets =
    "117=7|2964=1|296=2|302=1|304=2|295=2|299=1|55=ESZ6|132=1|134=10|299=2|55=ESH7|133=2|135=20|"
    "302=9|304=1|295=1|299=8|55=NONE|132=3|134=30|";

TEST(fix_quote_requests, a_mass_quote_is_one_command_for_each_entry) {
    const auto [problem, asked] = read("i", two_sets);
    ASSERT_FALSE(problem.is_there()) << problem.tag << problem.text;
    ASSERT_EQ(asked.count, 3U);
    const command& first = asked.commands[0];
    EXPECT_EQ(first.instrument.value, 3U);
    EXPECT_EQ(first.enter_quote().bid_quantity.value, 1U);
    EXPECT_EQ(first.enter_quote().ask_quantity.value, 0U) << "the next entry's";
    EXPECT_EQ(first.enter_quote().flags, domain::quote_flag::more);
    EXPECT_EQ(first.enter_quote().self_match_prevention, domain::self_match_prevention::cancel_newest);
    const command& second = asked.commands[1];
    EXPECT_EQ(second.instrument.value, 4U);
    EXPECT_EQ(second.enter_quote().ask_price.value, 8);
    EXPECT_EQ(second.enter_quote().flags, domain::quote_flag::more);
    const command& last = asked.commands[2];
    EXPECT_EQ(last.verdict(), reject_reason::unknown_instrument) << "does not affect the others";
    EXPECT_EQ(last.enter_quote().flags, 0);
    const auto name = parts_of(last.client_order);
    ASSERT_TRUE(name);
    EXPECT_EQ(name->set, 9U);
    EXPECT_EQ(name->entry, 8U);
    EXPECT_EQ(text_of_quote(name->id).view(), "7");
}

TEST(fix_quote_requests, a_mass_quote_with_wrong_counts_is_rejected) {
    const auto tag_of = [](std::string_view body) { return read("i", body).problem.tag; };
    EXPECT_EQ(tag_of("117=7|"), tag::no_quote_sets);
    EXPECT_EQ(tag_of("117=7|296=1|302=1|"), tag::no_quote_entries);
    EXPECT_EQ(tag_of("117=7|296=2|302=1|295=1|299=1|55=ESZ6|132=1|134=10|"), tag::no_quote_sets);
    EXPECT_EQ(tag_of("117=7|296=1|302=1|295=2|299=1|55=ESZ6|132=1|134=10|"), tag::no_quote_entries);
    EXPECT_EQ(tag_of("117=7|296=2|302=1|295=2|299=1|55=ESZ6|302=2|295=1|299=1|55=ESZ6|"), tag::no_quote_entries);
    EXPECT_EQ(tag_of("117=7|296=1|302=1|295=0|"), tag::no_quote_entries);
    EXPECT_EQ(tag_of("117=7|296=1|295=1|299=1|55=ESZ6|"), tag::quote_set_id);
    EXPECT_EQ(tag_of("117=7|296=1|302=1|299=1|55=ESZ6|"), tag::no_quote_entries);
    EXPECT_EQ(tag_of("117=7|296=1|302=1|295=1|299=1|132=1|134=10|"), tag::symbol);
    EXPECT_EQ(tag_of("296=1|302=1|295=1|299=1|55=ESZ6|"), tag::quote_id);
    const auto text_of = [](std::string_view body) { return read("i", body).problem.text; };
    EXPECT_FALSE(text_of("117=7|296=1|302=100|295=1|299=1|55=ESZ6|").empty());
    EXPECT_FALSE(text_of("117=7|296=1|302=1|295=1|299=a|55=ESZ6|").empty());
    EXPECT_FALSE(text_of("117=7|296=1|302=1|295=1|299=01|55=ESZ6|").empty());
    std::string seven = "117=7|296=1|302=1|295=7|";
    for (int i = 1; i <= 7; ++i) seven += "299=" + std::to_string(i) + "|55=ESZ6|132=1|134=10|";
    EXPECT_FALSE(text_of(seven).empty());
    EXPECT_FALSE(read("i", std::string(two_sets) + "97=Y|").problem.text.empty());
}

TEST(fix_quote_requests, a_cancel_withdraws_the_quotes_of_instruments_or_all) {
    const auto [problem, some] = read("Z", "117=c|298=1|295=2|55=ESZ6|55=ESH7|");
    ASSERT_FALSE(problem.is_there());
    ASSERT_EQ(some.count, 2U);
    EXPECT_EQ(some.commands[0].kind, command_kind::enter_quote);
    EXPECT_EQ(some.commands[0].instrument.value, 3U);
    EXPECT_EQ(some.commands[0].enter_quote().bid_quantity.value, 0U);
    EXPECT_EQ(some.commands[0].enter_quote().flags, domain::quote_flag::more);
    EXPECT_EQ(some.commands[1].instrument.value, 4U);
    EXPECT_EQ(some.commands[1].enter_quote().flags, 0);
    EXPECT_TRUE(parts_of(some.commands[1].client_order)->is(quote_request::cancel));
    const auto [none, all] = read("Z", "117=c|298=4|295=1|55=*|");
    ASSERT_FALSE(none.is_there());
    ASSERT_EQ(all.count, 1U);
    EXPECT_EQ(all.commands[0].kind, command_kind::cancel_orders);
    EXPECT_EQ(all.commands[0].instrument.value, 0U);
    EXPECT_EQ(all.commands[0].cancel_orders().flags,
              domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only);
    EXPECT_TRUE(parts_of(all.commands[0].request_name())->is(quote_request::cancel_all));
    EXPECT_EQ(read("Z", "298=4|").problem.tag, tag::quote_id);
    EXPECT_EQ(read("Z", "117=c|").problem.tag, tag::quote_cancel_type);
    EXPECT_EQ(read("Z", "117=c|298=2|").problem.tag, tag::quote_cancel_type);
    EXPECT_EQ(read("Z", "117=c|298=1|").problem.tag, tag::symbol);
    EXPECT_EQ(read("Z", "117=c|298=1|295=2|55=ESZ6|").problem.tag, tag::no_quote_entries);
    EXPECT_FALSE(read("Z", "117=c|298=1|55=A|55=A|55=A|55=A|55=A|55=A|55=A|").problem.text.empty());
}

TEST(fix_quote_requests, the_protection_of_quotes_is_set_and_reset) {
    const auto [problem, set] = read("U1", "20021=5|20022=100|20023=1000|");
    ASSERT_FALSE(problem.is_there());
    ASSERT_EQ(set.commands[0].kind, command_kind::set_protection);
    EXPECT_EQ(set.commands[0].set_protection().fills_max, 5U);
    EXPECT_EQ(set.commands[0].set_protection().quantity_max.value, 100U);
    EXPECT_EQ(set.commands[0].set_protection().window_ms, 1'000U);
    EXPECT_TRUE(parts_of(set.commands[0].client_order)->is(quote_request::protection));
    EXPECT_EQ(read("U1", "").asked.commands[0].set_protection().fills_max, 0U) << "no limits";
    EXPECT_EQ(read("U1", "20021=-1|").problem.tag, tag::protection_fills_max);
    EXPECT_EQ(read("U1", "20022=4294967296|").problem.tag, tag::protection_lots_max);
    EXPECT_EQ(read("U1", "20023=1s|").problem.tag, tag::protection_window);
    EXPECT_EQ(read("U2", "").asked.commands[0].kind, command_kind::reset_protection);
}

}  // namespace
}  // namespace corro::fix_gateway
