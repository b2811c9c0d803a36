// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/quote_answers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "domain/command.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/answers.hpp"
#include "fix_gateway/quote_names.hpp"

namespace corro::fix_gateway {
namespace {

using answer = gateway::answer_log::detailed_answer;
using domain::event_kind;
using domain::reject_reason;

domain::instrument instrument_of_test() {
    domain::instrument i;
    i.id = domain::instrument_id{3};
    i.name = domain::symbol("ESZ6");
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    return i;
}

answer answer_of(event_kind kind) {
    answer a;
    a.event.kind = kind;
    a.event.command = domain::sequence_number{40};
    a.event.time = domain::time_ns{1'795'435'200'123'456'789};
    a.event.instrument = domain::instrument_id{3};
    return a;
}

answer quote_with(domain::client_order_id name) {
    answer a = answer_of(event_kind::quote_entered);
    a.event.quote = {};
    a.event.quote.client_order = name;
    a.event.quote.bid_quantity = domain::quantity_lots{2};
    a.event.quote.account = domain::account_id{2};
    a.details.name = name;
    return a;
}

answer refusal_with(domain::client_order_id name, reject_reason reason) {
    answer a = answer_of(event_kind::order_rejected);
    a.event.reason = reason;
    a.event.order.client_order = name;
    a.event.order.account = domain::account_id{2};
    a.event.order.price = domain::no_price;
    a.event.order.request = 12;
    a.details.name = name;
    return a;
}

/// The message in words, "35=AI|1=2|...".
std::string message_of(const answer& a, fix_version version = fix_version::v5_0,
                       const domain::instrument& i = instrument_of_test()) {
    std::vector<char> room(fix::message_bytes_max_default);
    fix::message_writer writer(room, "FIX.4.4");
    writer.begin(message_type_of(a, version));
    write_body(a, i, version, writer);
    const std::string_view written = writer.finish();
    fix::field_index index(100);
    EXPECT_FALSE(index.index(written, fix::next_frame(written, room.size())));
    std::string words;
    for (const fix::field& each : index.fields()) {
        words += std::to_string(each.tag) + "=" + std::string(index.value(each)) + "|";
    }
    return words;
}

constexpr std::string_view at_noon = "60=20261123-12:00:00.123456789|";

TEST(fix_quote_answers, a_quote_that_was_entered) {
    const answer quote = quote_with(quote_name(*quote_id("q"), quote_request::quote));
    EXPECT_EQ(message_of(quote), "35=AI|117=q|297=0|1=2|55=ESZ6|" + std::string(at_noon) + "134=20|135=0|");
    EXPECT_EQ(message_of(quote, fix_version::v4_2), "35=b|117=q|297=0|");
}

TEST(fix_quote_answers, a_quote_that_was_cancelled) {
    const answer one = quote_with(quote_name(*quote_id("q"), quote_request::cancel));
    EXPECT_NE(message_of(one).find("|117=q|297=1|"), std::string::npos);
    answer all = answer_of(event_kind::request_named);
    all.event.named = {};
    all.event.instrument = {};
    all.event.named.account = domain::account_id{2};
    all.details.name = quote_name(7, quote_request::cancel_all);
    all.details.request_kind = static_cast<std::uint8_t>(domain::command_kind::cancel_orders);
    EXPECT_EQ(message_of(all, fix_version::v4_4, {}), "35=AI|117=7|297=4|1=2|55=[N/A]|" + std::string(at_noon));
    EXPECT_EQ(message_of(all, fix_version::v4_2, {}), "35=b|117=7|297=4|");
    answer none = refusal_with(all.details.name, reject_reason::nothing_to_cancel);
    none.details.request_kind = all.details.request_kind;
    EXPECT_NE(message_of(none).find("|297=9|58=nothing_to_cancel|"), std::string::npos);
    EXPECT_EQ(message_of(none, fix_version::v4_2), "35=b|117=7|297=5|58=nothing_to_cancel|300=5|");
}

TEST(fix_quote_answers, a_refused_quote_has_a_reason_that_the_version_has) {
    const answer crossed = refusal_with(quote_name(7, quote_request::quote), reject_reason::quote_crossed);
    EXPECT_EQ(message_of(crossed, fix_version::v4_2), "35=b|117=7|297=5|58=quote_crossed|300=7|");
    EXPECT_EQ(message_of(crossed, fix_version::v4_4).find("|300="), std::string::npos);
    EXPECT_NE(message_of(crossed, fix_version::v5_0_sp).find("|300=7|"), std::string::npos);
    const answer reached = refusal_with(quote_name(7, quote_request::quote), reject_reason::quote_protection);
    EXPECT_EQ(message_of(reached, fix_version::v4_2).find("|300="), std::string::npos);
    EXPECT_NE(message_of(reached, fix_version::v5_0_sp).find("|300=99|"), std::string::npos);
}

TEST(fix_quote_answers, each_entry_of_a_mass_quote_has_an_acknowledgement) {
    const answer entered = quote_with(quote_name(*quote_id("m"), 3, 12));
    EXPECT_EQ(message_of(entered), "35=b|117=m|297=0|1=2|296=1|302=3|304=1|295=1|299=12|55=ESZ6|134=20|135=0|");
    EXPECT_EQ(message_of(entered, fix_version::v4_2), "35=b|117=m|297=0|296=1|302=3|304=1|295=1|299=12|55=ESZ6|");
    const answer refused = refusal_with(quote_name(*quote_id("m"), 3, 12), reject_reason::unknown_instrument);
    EXPECT_EQ(message_of(refused, fix_version::v4_4, {}),
              "35=b|117=m|297=5|58=unknown_instrument|300=1|1=2|296=1|302=3|304=1|295=1|299=12|55=[N/A]|368=1|");
}

TEST(fix_quote_answers, a_fill_names_its_quote) {
    answer fill = answer_of(event_kind::order_executed);
    fill.event.execution = {.order = domain::order_id{7},
                            .client_order = quote_name(*quote_id("q"), quote_request::quote),
                            .price = domain::price_ticks{24'000},
                            .quantity = domain::quantity_lots{1},
                            .leaves = domain::quantity_lots{1},
                            .account = domain::account_id{2},
                            .session = {}};
    fill.details.name = fill.event.execution.client_order;
    EXPECT_NE(message_of(fill).find("|11=q|"), std::string::npos);
}

// A drop copy: names of Corro Binary may be any number.
TEST(fix_quote_answers, names_of_other_protocols_are_numbers) {
    const domain::client_order_id name = quote_name(7, 1, 1);
    answer order = refusal_with(name, reject_reason::invalid_price);
    order.details.is_foreign = 1;
    EXPECT_EQ(message_of(order).substr(0, 5), "35=8|");
    EXPECT_NE(message_of(order).find("|11=" + std::to_string(name.value) + "|"), std::string::npos);
    answer quote = quote_with(name);
    quote.details.is_foreign = 1;
    EXPECT_EQ(message_of(quote).substr(0, 8), "35=AI|11");
    EXPECT_NE(message_of(quote).find("|117=" + std::to_string(name.value) + "|297=0|"), std::string::npos);
}

TEST(fix_quote_answers, protection_that_was_set_reached_or_refused) {
    answer changed = answer_of(event_kind::protection_changed);
    changed.event.protection = {};
    changed.event.protection.fills = 1;
    changed.event.protection.fills_max = 5;
    changed.event.protection.quantity = domain::volume_lots{30};
    changed.event.protection.quantity_max = domain::quantity_lots{100};
    changed.event.protection.window_ms = 1'000;
    changed.event.protection.account = domain::account_id{2};
    changed.event.protection.request = 12;
    EXPECT_EQ(message_of(changed),
              "35=U3|1=2|45=12|" + std::string(at_noon) + "20020=0|20021=5|20022=100|20023=1000|20024=1|20025=30|");
    changed.event.reason = reject_reason::quote_protection;
    changed.event.protection.request = 0;
    EXPECT_EQ(message_of(changed).substr(0, 29), "35=U3|1=2|58=quote_protection");
    EXPECT_NE(message_of(changed).find("|20020=1|"), std::string::npos);
    const answer refused = refusal_with(quote_name(0, quote_request::protection), reject_reason::invalid_combination);
    EXPECT_EQ(message_of(refused), "35=U3|1=2|45=12|58=invalid_combination|" + std::string(at_noon) + "20020=2|");
}

TEST(fix_quote_answers, a_leg_and_a_settlement_are_records_of_trades) {
    answer leg = answer_of(event_kind::leg_capture);
    leg.event.side = domain::side::sell;
    leg.event.leg_fill = {.trade = domain::trade_id{9},
                          .order = domain::order_id{7},
                          .price = 6'000'125'000'000,
                          .quantity = domain::quantity_lots{4},
                          .account = domain::account_id{2},
                          .session = {},
                          .reserved = 0};
    EXPECT_EQ(message_of(leg), "35=AE|571=40-9-3-2-1|570=N|880=9|1003=9|55=ESZ6|31=6000.125|32=40|75=20261123|" +
                                   std::string(at_noon) + "442=2|552=1|54=2|37=7|1=2|");
    EXPECT_NE(message_of(leg, fix_version::v5_0_sp).find("|54=2|1=2|37=7|"), std::string::npos);
    EXPECT_EQ(message_of(leg, fix_version::v4_4).find("|1003="), std::string::npos);
    EXPECT_EQ(message_of(leg, fix_version::v4_2).substr(0, 6), "35=U4|");
    answer settlement = answer_of(event_kind::trade_capture);
    settlement.event.capture = {};
    settlement.event.capture.price = domain::price_ticks{24'000};
    settlement.event.capture.quantity = domain::quantity_lots{4};
    settlement.event.capture.account = domain::account_id{2};
    EXPECT_EQ(message_of(settlement), "35=AE|571=40-0-3-2-0|570=N|55=ESZ6|31=6000|32=40|75=20261123|" +
                                          std::string(at_noon) + "442=1|552=1|54=1|37=NONE|1=2|");
}

}  // namespace
}  // namespace corro::fix_gateway
