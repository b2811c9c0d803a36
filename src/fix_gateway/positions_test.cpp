// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/positions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fix/codec/frame.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/answers.hpp"
#include "fix_gateway/requests.hpp"

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

/// A request of account 2.
struct outcome {
    request_problem problem;
    domain::command asked;
};
outcome read(std::string_view body, fix_version version = fix_version::v4_4) {
    const std::string text =
        fix::testing::framed("35=AN|34=2|49=ALICE|52=20261123-12:00:00|56=CORRO|" + std::string(body));
    fix::field_index index;
    EXPECT_FALSE(index.index(text, fix::next_frame(text, fix::message_bytes_max_default)));
    wire::instrument_table table;
    table.define(instrument_of_test());
    symbols known(table);
    outcome made;
    made.problem = read_request(index, known, version, made.asked);
    made.asked.account = domain::account_id{2};
    if (!made.problem.is_there()) check_positions_account(index, made.asked);
    return made;
}

std::string message_of(const answer& a, fix_version version = fix_version::v5_0) {
    std::vector<char> room(fix::message_bytes_max_default);
    fix::message_writer writer(room, "FIX.4.4");
    writer.begin(message_type_of(a, version));
    const bool has_instrument = a.event.instrument.value != 0;
    write_body(a, has_instrument ? instrument_of_test() : domain::instrument(), version, writer);
    const std::string words = fix::testing::in_words(writer.finish());
    return words.substr(words.find("|35=") + 1, words.find("|10=") - words.find("|35="));
}

answer reported(std::uint32_t instrument) {
    answer a;
    a.event.kind = event_kind::position_reported;
    a.event.command = domain::sequence_number{40};
    a.event.time = domain::time_ns{1'795'435'200'123'456'789};
    a.event.instrument = domain::instrument_id{instrument};
    a.event.position = {};
    a.event.position.last = domain::no_price;
    a.event.position.account = domain::account_id{2};
    a.event.position.session = domain::session_id{4};
    a.event.position.request = 12;
    a.details.name = domain::client_order_id{99};
    a.details.request_kind = static_cast<std::uint8_t>(domain::command_kind::query_order);
    return a;
}

answer held(std::uint64_t lots, domain::side side, std::int64_t last) {
    answer a = reported(3);
    a.event.side = side;
    a.event.position.quantity = domain::volume_lots{lots};
    a.event.position.last = domain::price_ticks{last};
    return a;
}

answer refused(reject_reason reason) {
    answer a;
    a.event.kind = event_kind::order_rejected;
    a.event.command = domain::sequence_number{40};
    a.event.time = domain::time_ns{1'795'435'200'123'456'789};
    a.event.reason = reason;
    a.event.order = {};
    a.event.order.account = domain::account_id{2};
    a.event.order.session = domain::session_id{4};
    a.event.order.request = 12;
    a.details.name = domain::client_order_id{99};
    a.details.of_order = positions_mark;
    a.details.request_kind = static_cast<std::uint8_t>(domain::command_kind::query_order);
    return a;
}

TEST(fix_positions, a_request_is_a_query_of_all_of_one_or_of_those_behind_an_instrument) {
    using namespace domain::query_flag;
    const auto [none, all] = read("710=99|724=0|263=0|1=2|581=1|715=20261123|60=20261123-12:00:00|");
    ASSERT_FALSE(none.is_there());
    EXPECT_EQ(all.kind, domain::command_kind::query_order);
    EXPECT_EQ(all.request_name().value, 99U);
    EXPECT_EQ(all.query_order().flags, positions);
    EXPECT_EQ(all.instrument.value, 0U);
    EXPECT_EQ(all.verdict(), reject_reason::none);
    for (const std::string_view field : {"55=ESZ6|", "48=3|22=8|"}) {
        const domain::command one = read("710=99|724=0|" + std::string(field)).asked;
        EXPECT_EQ(one.instrument.value, 3U) << field;
        EXPECT_EQ(one.query_order().flags, positions) << field;
    }
    const domain::command behind = read("710=99|724=0|20028=ESZ6|").asked;
    EXPECT_EQ(behind.instrument.value, 3U);
    EXPECT_EQ(behind.query_order().flags, positions | domain::query_flag::behind);
}

TEST(fix_positions, a_request_without_its_name_or_with_fields_that_are_not_served_is_rejected_with_the_tag) {
    const auto tag_of = [](std::string_view body) { return read(body).problem.tag; };
    EXPECT_EQ(tag_of("724=0|"), tag::pos_req_id);
    EXPECT_EQ(tag_of("710=99|"), tag::pos_req_type);
    for (const std::string_view type : {"1", "4", "x", "00", "0.0"}) {
        EXPECT_EQ(tag_of("710=99|724=" + std::string(type) + "|"), tag::pos_req_type) << type;
    }
    EXPECT_EQ(tag_of("710=99|724=0|263=1|"), tag::subscription_request_type);
    EXPECT_EQ(tag_of("710=99|724=0|48=x|"), tag::security_id);
    EXPECT_EQ(tag_of("710=99|724=0|48=4294967296|"), tag::security_id);
    EXPECT_EQ(tag_of("710=99|724=0|20028=ESZ6|55=ESZ6|"), tag::behind_symbol);
    EXPECT_FALSE(read("710=" + std::string(64, 'x') + "|724=0|").problem.text.empty());
    EXPECT_EQ(read("710=99|724=0|", fix_version::v4_2).problem.business_reason, business_reason_unsupported_type);
}

TEST(fix_positions, an_unknown_instrument_or_another_account_becomes_the_verdict) {
    for (const std::string_view field : {"55=NONE|", "48=9|", "48=0|", "20028=NONE|"}) {
        const auto [problem, asked] = read("710=99|724=0|" + std::string(field));
        EXPECT_FALSE(problem.is_there()) << field;
        EXPECT_EQ(asked.verdict(), reject_reason::unknown_instrument) << field;
    }
    for (const std::string_view account : {"1", "3", "x", "2x", "-2", "4294967298"}) {
        const auto [problem, asked] = read("710=99|724=0|55=NONE|1=" + std::string(account) + "|");
        EXPECT_FALSE(problem.is_there()) << account;
        EXPECT_EQ(asked.verdict(), reject_reason::not_authorised) << account << ": before anything is said of the rest";
    }
}

TEST(fix_positions, the_ack_has_the_number_of_positions) {
    answer some = reported(0);
    some.event.position.count = 2;
    EXPECT_EQ(message_of(some), "35=AO|1=2|581=1|710=99|715=20261123|721=40-4-12-0|724=0|727=2|728=0|729=0|");
    EXPECT_EQ(message_of(some, fix_version::v4_4), "35=AO|1=2|581=1|710=99|721=40-4-12-0|727=2|728=0|729=0|");
    EXPECT_EQ(message_of(reported(0)), "35=AO|1=2|581=1|710=99|715=20261123|721=40-4-12-0|724=0|727=0|728=2|729=0|");
}

TEST(fix_positions, a_refusal_is_an_ack_with_its_reason) {
    const auto ending = [](reject_reason reason) {
        const std::string words = message_of(refused(reason));
        return words.substr(0, words.find("710=")) + words.substr(words.find("727="));
    };
    EXPECT_EQ(ending(reject_reason::unknown_instrument), "35=AO|1=2|581=1|58=unknown_instrument|727=0|728=1|729=2|");
    EXPECT_EQ(ending(reject_reason::not_authorised), "35=AO|1=2|581=1|58=not_authorised|727=0|728=3|729=2|");
    EXPECT_EQ(ending(reject_reason::throttled), "35=AO|1=2|581=1|58=throttled|727=0|728=99|729=2|");
    answer of_other_protocol = refused(reject_reason::throttled);
    of_other_protocol.details.is_foreign = 1;
    EXPECT_EQ(message_type_of(of_other_protocol, fix_version::v5_0), "j") << "an order's name may be this number there";
}

TEST(fix_positions, a_report_has_the_side_as_long_or_short_and_the_last_price) {
    EXPECT_EQ(message_of(held(5, domain::side::buy, 24'001)),
              "35=AP|1=2|581=1|22=8|48=3|55=ESZ6|710=99|715=20261123|721=40-4-12-3|724=0|728=0|730=6000.25|731=2|"
              "702=1|703=TQ|704=50|705=0|");
    answer last = held(5, domain::side::sell, 24'001);
    last.event.flags = domain::event_flag::more_behind;
    EXPECT_EQ(message_of(last, fix_version::v4_4),
              "35=AP|1=2|581=1|22=8|48=3|55=ESZ6|710=99|715=20261123|721=40-4-12-3|724=0|728=0|730=6000.25|731=2|"
              "702=1|703=TQ|704=0|705=50|734=0|753=1|707=FMTM|708=-300012.5|20029=Y|");
}

TEST(fix_positions, an_instrument_that_has_not_traded_by_itself_has_no_price) {
    answer of_strategy = held(1, domain::side::buy, 0);
    of_strategy.event.position.last = domain::no_price;
    EXPECT_NE(message_of(of_strategy).find("|728=0|702=1|"), std::string::npos);
    EXPECT_NE(message_of(of_strategy, fix_version::v4_4)
                  .find("|730=0|731=2|702=1|703=TQ|704=10|705=0|734=0|753=1|707=FMTM|708=0|"),
              std::string::npos);
}

TEST(fix_positions, the_value_stays_within_64_bits) {
    const std::string largest = message_of(held(1ULL << 40U, domain::side::buy, 1LL << 30), fix_version::v4_4);
    EXPECT_NE(largest.find("|708=9223372036.854775807|"), std::string::npos) << largest;
    const std::string smallest = message_of(held(1ULL << 40U, domain::side::sell, 1LL << 30), fix_version::v4_4);
    EXPECT_NE(smallest.find("|708=-9223372036.854775807|"), std::string::npos) << smallest;
}

}  // namespace
}  // namespace corro::fix_gateway
