// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/answers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "domain/command.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix/limits.hpp"

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

answer of_order(event_kind kind, std::uint32_t open, std::uint32_t filled = 0) {
    answer a;
    a.event.kind = kind;
    a.event.command = domain::sequence_number{40};
    a.event.time = domain::time_ns{1'795'435'200'123'456'789};
    a.event.instrument = domain::instrument_id{3};
    a.event.order.order = domain::order_id{7};
    a.event.order.client_order = domain::client_order_id{17};
    a.event.order.price = domain::price_ticks{24'001};
    a.event.order.quantity = domain::quantity_lots{open};
    a.event.order.account = domain::account_id{2};
    a.details.name = domain::client_order_id{17};
    a.details.filled = domain::quantity_lots{filled};
    return a;
}

answer fill(std::uint32_t lots, std::uint32_t leaves, std::uint32_t filled, std::int64_t value) {
    answer a = of_order(event_kind::order_executed, 0, filled);
    a.event.execution = {.order = domain::order_id{7},
                         .client_order = domain::client_order_id{17},
                         .price = domain::price_ticks{24'000},
                         .quantity = domain::quantity_lots{lots},
                         .leaves = domain::quantity_lots{leaves},
                         .account = domain::account_id{2},
                         .session = {}};
    a.details.value = value;
    return a;
}

answer named(answer a, domain::command_kind kind, std::uint64_t name, std::uint64_t of_order) {
    a.details.request_kind = static_cast<std::uint8_t>(kind);
    a.details.name = domain::client_order_id{name};
    a.details.of_order = domain::client_order_id{of_order};
    return a;
}

/// The message in words, "35=8|1=2|...".
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

TEST(fix_answers, an_order_that_rests) {
    EXPECT_EQ(
        message_of(of_order(event_kind::order_entered, 5)),
        "35=8|1=2|6=0|11=17|14=0|17=40-7-1-5|37=7|38=50|39=0|44=6000.25|54=1|55=ESZ6|60=20261123-12:00:00.123456789|"
        "150=0|151=50|");
}

TEST(fix_answers, a_fill_and_the_average_of_all) {
    EXPECT_EQ(message_of(fill(2, 3, 3, 2 * 24'000 + 24'001)),
              "35=8|1=2|6=6000.083333333|11=17|14=30|17=40-7-4-3|31=6000|32=20|37=7|38=60|39=1|54=1|55=ESZ6|"
              "60=20261123-12:00:00.123456789|150=F|151=30|851=1|");
    answer last = fill(2, 0, 3, -3 * 24'000);
    last.event.flags = domain::event_flag::aggressor;
    const std::string words = message_of(last);
    EXPECT_NE(words.find("|6=-6000|"), std::string::npos) << words;
    EXPECT_NE(words.find("|39=2|"), std::string::npos) << words;
    EXPECT_NE(words.find("|851=2|"), std::string::npos) << words;
}

TEST(fix_answers, fix_4_2_has_other_types_of_fills) {
    const std::string part = message_of(fill(2, 3, 2, 48'000), fix_version::v4_2);
    EXPECT_NE(part.find("|20=0|"), std::string::npos) << part;
    EXPECT_NE(part.find("|150=1|"), std::string::npos) << part;
    EXPECT_EQ(part.find("|851="), std::string::npos) << part;
    const std::string whole = message_of(fill(2, 0, 2, 48'000), fix_version::v4_2);
    EXPECT_NE(whole.find("|150=2|"), std::string::npos) << whole;
    const answer replaced = named(of_order(event_kind::order_amended, 5), domain::command_kind::amend_order, 18, 17);
    EXPECT_NE(message_of(replaced, fix_version::v4_2).find("|39=5|"), std::string::npos);
}

TEST(fix_answers, what_ends_or_changes_an_order_without_a_request) {
    const auto types_of = [](event_kind kind, reject_reason reason) {
        answer a = of_order(kind, 5, 1);
        a.event.reason = reason;
        const std::string words = message_of(a);
        const std::size_t type = words.find("|150=") + 5;
        const std::size_t status = words.find("|39=") + 4;
        return std::string{words[type], words[status]};
    };
    EXPECT_EQ(types_of(event_kind::order_cancelled, reject_reason::expired), "CC");
    EXPECT_EQ(types_of(event_kind::order_cancelled, reject_reason::killed), "44");
    EXPECT_EQ(types_of(event_kind::order_amended, reject_reason::triggered), "L1");
    EXPECT_EQ(types_of(event_kind::order_amended, reject_reason::self_match_prevented), "D1");
    EXPECT_EQ(types_of(event_kind::order_amended, reject_reason::none), "51");
}

TEST(fix_answers, a_request_and_its_order_have_their_names) {
    const answer cancelled =
        named(of_order(event_kind::order_cancelled, 5), domain::command_kind::cancel_order, 18, 17);
    EXPECT_NE(message_of(cancelled).find("|11=18|"), std::string::npos);
    EXPECT_NE(message_of(cancelled).find("|41=17|"), std::string::npos);
    answer refused = named(of_order(event_kind::order_rejected, 0), domain::command_kind::amend_order, 18, 17);
    refused.event.reason = reject_reason::order_not_open;
    refused.event.order.order = {};
    EXPECT_EQ(message_of(refused),
              "35=9|11=18|37=NONE|39=8|41=17|58=order_not_open|60=20261123-12:00:00.123456789|102=0|434=2|");
    const answer state = named(of_order(event_kind::order_status, 5), domain::command_kind::query_order, 99, 17);
    EXPECT_NE(message_of(state).find("|11=17|"), std::string::npos);
    EXPECT_NE(message_of(state).find("|790=99|"), std::string::npos);
}

// Partitions number their commands by themselves.
TEST(fix_answers, refusals_without_an_order_have_ids_of_their_own) {
    const auto id_of = [](std::uint32_t session, std::uint32_t request) {
        answer refused = named(of_order(event_kind::order_rejected, 0), domain::command_kind::enter_order, 18, 0);
        refused.event.reason = reject_reason::instrument_halted;
        refused.event.order.order = {};
        refused.event.order.session = domain::session_id{session};
        refused.event.order.request = request;
        const std::string words = message_of(refused);
        const std::size_t begin = words.find("|17=") + 1;
        return words.substr(begin, words.find('|', begin) - begin);
    };
    EXPECT_EQ(id_of(4, 12), "17=40-4.12-5-0");
    EXPECT_EQ(id_of(4, 13), "17=40-4.13-5-0");
    EXPECT_EQ(id_of(5, 12), "17=40-5.12-5-0");
}

TEST(fix_answers, open_orders_that_were_asked_for_and_the_end_of_them) {
    answer state = named(of_order(event_kind::order_status, 5), domain::command_kind::query_order, 99, 0);
    EXPECT_NE(message_of(state).find("|11=17|"), std::string::npos) << "that of the order";
    EXPECT_NE(message_of(state).find("|584=99|"), std::string::npos);
    EXPECT_EQ(message_of(state).find("|20027="), std::string::npos);
    EXPECT_EQ(message_of(state).find("|912="), std::string::npos);
    state.event.flags = domain::event_flag::more_behind;
    EXPECT_NE(message_of(state).find("|20027=Y|"), std::string::npos);
    answer end = named(of_order(event_kind::request_done, 0), domain::command_kind::query_order, 99, 0);
    end.event.order = {};
    end.event.order.account = domain::account_id{2};
    end.details.orders_count = 3;
    EXPECT_EQ(message_of(end),
              "35=8|1=2|6=0|14=0|17=40-0.0-12-0|37=NONE|39=8|54=7|55=[N/A]|60=20261123-12:00:00.123456789|150=I|151=0|"
              "584=99|911=3|912=Y|");
    answer refused = named(of_order(event_kind::order_rejected, 0), domain::command_kind::query_order, 99, 0);
    refused.event.reason = reject_reason::order_not_open;
    EXPECT_NE(message_of(refused).find("|39=8|"), std::string::npos);
    EXPECT_NE(message_of(refused).find("|584=99|911=0|912=Y|"), std::string::npos);
}

// An ExecutionReport with OrdStatus (39) 8 would say that the order, or all of them, were rejected.
TEST(fix_answers, a_question_that_is_not_answered_rejects_no_order) {
    answer one = named(of_order(event_kind::order_rejected, 0), domain::command_kind::query_order, 99, 17);
    one.event.reason = reject_reason::throttled;
    one.event.order.order = {};
    one.event.order.request = 12;
    for (const fix_version version : {fix_version::v4_2, fix_version::v4_4, fix_version::v5_0_sp}) {
        EXPECT_EQ(message_of(one, version), "35=j|45=12|58=throttled|372=H|379=99|380=0|");
    }
    answer all = one;
    all.details.of_order = {};
    EXPECT_EQ(message_of(all), "35=j|45=12|58=throttled|372=AF|379=99|380=0|");
    for (const reject_reason reason : {reject_reason::unknown_order, reject_reason::order_not_open}) {
        one.event.reason = reason;
        EXPECT_NE(message_of(one).find("|39=8|"), std::string::npos) << "there is no such open order";
        EXPECT_NE(message_of(one).find("|150=I|"), std::string::npos);
    }
}

TEST(fix_answers, orders_of_strategies_are_marked) {
    domain::instrument strategy = instrument_of_test();
    strategy.legs_count = 2;
    EXPECT_NE(message_of(fill(2, 3, 3, 0), fix_version::v4_2, strategy).find("|442=3|"), std::string::npos);
    EXPECT_EQ(message_of(fill(2, 3, 3, 0), fix_version::v4_2).find("|442="), std::string::npos);
}

TEST(fix_answers, a_mass_cancel_and_a_lost_request) {
    answer report;
    report.event.kind = event_kind::request_named;
    report.event.command = domain::sequence_number{40};
    report.event.named = {};
    report.event.named.client_order = domain::client_order_id{7};
    report.details.name = domain::client_order_id{18};
    EXPECT_EQ(message_of(report).substr(0, 20), "35=r|11=18|37=40|60=");
    EXPECT_NE(message_of(report).find("|530=7|531=7|"), std::string::npos);
    answer nothing = named(of_order(event_kind::order_rejected, 0), domain::command_kind::cancel_orders, 18, 7);
    nothing.event.reason = reject_reason::nothing_to_cancel;
    EXPECT_NE(message_of(nothing).find("|530=7|531=0|532=99|"), std::string::npos);
    answer lost = of_order(event_kind::order_rejected, 0);
    lost.event.reason = reject_reason::request_lost;
    lost.event.order.request = 12;
    lost.details.name = {};
    EXPECT_EQ(message_of(lost), "35=j|45=12|58=request_lost|372=n/a|380=0|");
}

}  // namespace
}  // namespace corro::fix_gateway
