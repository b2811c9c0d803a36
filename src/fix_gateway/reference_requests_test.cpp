// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/reference_requests.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fix/codec/frame.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/reference_fixture.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

/// A request that was read, with what its views refer to.
class asked {
 public:
    /// @param body  Without the header; '|' stands for SOH.
    asked(std::string_view type, std::string_view body, fix_version version = fix_version::v4_4)
        : table_(testing::instruments_of_each_kind()),
          names_(table_),
          directory_(names_),
          text_(fix::testing::framed("35=" + std::string(type) + "|34=2|49=ALICE|52=20261123-12:00:00|56=CORRO|" +
                                     std::string(body))) {
        EXPECT_FALSE(index_.index(text_, fix::next_frame(text_, fix::message_bytes_max_default)));
        problem = read_reference_request(index_, version, directory_, request);
    }
    [[nodiscard]] std::string_view name() const {
        return request.instrument == nullptr ? std::string_view("none") : request.instrument->name.view();
    }

    reference_request request;
    request_problem problem;

 private:
    wire::instrument_table table_;
    symbols names_;
    reference_directory directory_;
    std::string text_;
    fix::field_index index_;
};

TEST(fix_reference_requests, a_list_is_of_all_instruments_or_of_one) {
    const asked all("x", "320=r1|559=4|");
    ASSERT_FALSE(all.problem.is_there());
    EXPECT_EQ(all.request.question, reference_question::list);
    EXPECT_EQ(all.request.finding, reference_finding::all);
    EXPECT_EQ(all.request.id, "r1");
    const asked one("x", "320=r1|559=0|55=ESH7|263=0|");
    EXPECT_EQ(one.request.finding, reference_finding::found);
    EXPECT_EQ(one.name(), "ESH7");
    EXPECT_EQ(asked("x", "320=r1|559=0|55=NONE|").request.finding, reference_finding::unknown);
    EXPECT_EQ(asked("x", "320=r1|559=1|167=FUT|").request.finding, reference_finding::unsupported);
}

TEST(fix_reference_requests, a_definition_is_asked_for_by_name) {
    const asked one("c", "320=r1|321=0|55=ESZ6-C6000|");
    ASSERT_FALSE(one.problem.is_there());
    EXPECT_EQ(one.request.question, reference_question::definition);
    EXPECT_EQ(one.request.finding, reference_finding::found);
    EXPECT_EQ(one.name(), "ESZ6-C6000");
    EXPECT_EQ(asked("c", "320=r1|321=1|55=NONE|").request.finding, reference_finding::unknown);
    EXPECT_EQ(asked("c", "320=r1|321=2|").request.finding, reference_finding::unsupported);
}

TEST(fix_reference_requests, a_strategy_is_found_by_its_legs_in_any_order) {
    const asked found("c", "320=r|321=1|55=[N/A]|555=2|600=ESH7|623=2|624=2|600=ESZ6|624=1|");
    ASSERT_FALSE(found.problem.is_there());
    EXPECT_EQ(found.request.finding, reference_finding::found);
    EXPECT_EQ(found.name(), "ESZ6-ESH7");
    const asked opposite("c", "320=r|321=1|555=2|600=ESH7|623=2|624=1|600=ESZ6|623=1|624=2|");
    EXPECT_EQ(opposite.request.finding, reference_finding::reversed);
    EXPECT_EQ(opposite.name(), "ESZ6-ESH7");
    const auto finding_of = [](std::string_view legs) {
        const asked request("c", "320=r|321=0|" + std::string(legs));
        EXPECT_FALSE(request.problem.is_there()) << legs;
        return request.request.finding;
    };
    EXPECT_EQ(finding_of("555=2|600=ESH7|623=1|624=2|600=ESZ6|624=1|"), reference_finding::unknown);
    EXPECT_EQ(finding_of("555=2|600=ESH7|623=2|624=1|600=ESZ6|624=1|"), reference_finding::unknown);
    EXPECT_EQ(finding_of("555=2|600=NONE|624=2|600=ESZ6|624=1|"), reference_finding::unknown);
    EXPECT_EQ(finding_of("555=1|600=ESZ6|624=1|"), reference_finding::unknown);
    std::string nine = "555=9|";
    for (int i = 0; i < 9; ++i) nine += "600=ESZ6|624=1|";
    EXPECT_EQ(finding_of(nine), reference_finding::unknown);
}

TEST(fix_reference_requests, fix_4_2_has_no_lists_and_other_names_for_legs) {
    EXPECT_FALSE(is_reference_request("x", fix_version::v4_2));
    EXPECT_TRUE(is_reference_request("x", fix_version::v4_4));
    EXPECT_TRUE(is_reference_request("c", fix_version::v4_2));
    EXPECT_TRUE(is_reference_request("e", fix_version::v4_2));
    EXPECT_TRUE(is_reference_request("g", fix_version::v4_2));
    EXPECT_FALSE(is_reference_request("h", fix_version::v5_0));
    const asked all("c", "320=r1|321=3|", fix_version::v4_2);
    EXPECT_EQ(all.request.question, reference_question::definitions);
    EXPECT_EQ(all.request.finding, reference_finding::all);
    EXPECT_EQ(asked("c", "320=r1|321=3|").request.finding, reference_finding::unsupported);
    const asked legs("c", "320=r|321=1|146=2|311=ESZ6|319=1|54=1|311=ESH7|319=2|54=2|", fix_version::v4_2);
    EXPECT_EQ(legs.request.finding, reference_finding::found);
    EXPECT_EQ(legs.name(), "ESZ6-ESH7");
}

TEST(fix_reference_requests, a_status_is_asked_for_by_name) {
    const asked one("e", "324=s1|55=BTC|263=0|");
    ASSERT_FALSE(one.problem.is_there());
    EXPECT_EQ(one.request.question, reference_question::status);
    EXPECT_EQ(one.request.id, "s1");
    EXPECT_EQ(one.name(), "BTC");
    const asked unknown("e", "324=s1|55=NONE|263=0|");
    EXPECT_EQ(unknown.request.finding, reference_finding::unknown);
    EXPECT_EQ(unknown.request.symbol, "NONE");
}

TEST(fix_reference_requests, the_venue_has_one_trading_session) {
    for (const char* body : {"335=t1|263=0|", "335=t1|336=1|263=0|", "335=t1|"}) {
        for (const fix_version version : {fix_version::v4_2, fix_version::v5_0_sp}) {
            const asked one("g", body, version);
            ASSERT_FALSE(one.problem.is_there()) << body;
            EXPECT_EQ(one.request.question, reference_question::session);
            EXPECT_EQ(one.request.finding, reference_finding::found);
            EXPECT_EQ(one.request.id, "t1");
        }
    }
    const asked other("g", "335=t1|336=2|263=0|");
    ASSERT_FALSE(other.problem.is_there());
    EXPECT_EQ(other.request.finding, reference_finding::unknown);
    EXPECT_EQ(other.request.symbol, "2");
    EXPECT_EQ(asked("g", "335=t1|336=2|263=0|", fix_version::v4_2).problem.tag, tag::trading_session_id);
}

TEST(fix_reference_requests, fields_that_are_missing_or_wrong_are_named) {
    const auto tag_of = [](std::string_view type, const std::string& body) { return asked(type, body).problem.tag; };
    const std::string long_text(reference_text_max + 1, 'x');
    EXPECT_EQ(tag_of("x", "559=4|"), tag::security_req_id);
    EXPECT_EQ(tag_of("x", "320=" + long_text + "|559=4|"), tag::security_req_id);
    EXPECT_EQ(tag_of("x", "320=r|"), tag::security_list_request_type);
    EXPECT_EQ(tag_of("x", "320=r|559=all|"), tag::security_list_request_type);
    EXPECT_EQ(tag_of("x", "320=r|559=0|"), tag::symbol);
    EXPECT_EQ(tag_of("x", "320=r|559=4|263=1|"), tag::subscription_request_type);
    EXPECT_EQ(tag_of("c", "320=r|55=ESZ6|"), tag::security_request_type);
    EXPECT_EQ(tag_of("c", "320=r|321=0|"), tag::symbol);
    EXPECT_EQ(tag_of("c", "320=r|321=0|55=" + long_text + "|"), tag::symbol);
    EXPECT_EQ(tag_of("c", "320=r|321=1|555=2|600=ESZ6|624=1|"), tag::no_legs);
    EXPECT_EQ(tag_of("c", "320=r|321=1|555=2|600=ESZ6|600=ESH7|624=1|"), tag::leg_side);
    EXPECT_EQ(tag_of("c", "320=r|321=1|555=1|600=ESZ6|"), tag::leg_side);
    EXPECT_EQ(tag_of("c", "320=r|321=1|555=1|600=ESZ6|624=3|"), tag::leg_side);
    EXPECT_EQ(tag_of("c", "320=r|321=1|555=1|600=ESZ6|623=0|624=1|"), tag::leg_ratio_qty);
    EXPECT_EQ(tag_of("c", "320=r|321=1|555=1|600=ESZ6|623=0.5|624=1|"), tag::leg_ratio_qty);
    EXPECT_EQ(tag_of("c", "320=r|321=1|555=1|600=ESZ6|623=two|624=1|"), tag::leg_ratio_qty);
    EXPECT_EQ(tag_of("g", "336=1|263=0|"), tag::trad_ses_req_id);
    EXPECT_EQ(tag_of("g", "335=t|336=" + long_text + "|"), tag::trading_session_id);
    EXPECT_EQ(tag_of("g", "335=t|263=1|"), tag::subscription_request_type);
    EXPECT_EQ(tag_of("e", "55=ESZ6|263=0|"), tag::security_status_req_id);
    EXPECT_EQ(tag_of("e", "324=s|263=0|"), tag::symbol);
    EXPECT_EQ(tag_of("e", "324=s|55=ESZ6|263=2|"), tag::subscription_request_type);
}

TEST(fix_reference_directory, a_definition_moves_no_instrument_of_a_list) {
    wire::instrument_table table = testing::instruments_of_each_kind();
    symbols names(table);
    reference_directory directory(names);
    ASSERT_EQ(directory.count(), 5U);
    EXPECT_EQ(directory.at(0).name.view(), "ESZ6");
    table.define(testing::made_instrument(1, "FIRST", domain::instrument_kind::future));
    EXPECT_EQ(directory.at(0).name.view(), "ESZ6");
    EXPECT_EQ(directory.count(), 6U);
    EXPECT_EQ(directory.at(0).name.view(), "ESZ6");
    EXPECT_EQ(directory.at(5).name.view(), "FIRST");
    EXPECT_EQ(directory.find("FIRST"), &directory.at(5));
}

TEST(fix_reference_directory, a_strategy_that_is_defined_later_is_found_by_its_legs) {
    wire::instrument_table table = testing::instruments_of_each_kind();
    symbols names(table);
    reference_directory directory(names);
    domain::instrument made = testing::made_instrument(9, "NEW", domain::instrument_kind::spread);
    made.legs[0] = {domain::instrument_id{7}, 1, domain::side::buy};
    made.legs[1] = {domain::instrument_id{3}, 1, domain::side::buy};
    made.legs_count = 2;
    EXPECT_EQ(directory.find_strategy(made.legs_used()), nullptr);
    table.define(made);
    const domain::instrument* const found = directory.find_strategy(made.legs_used());
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name.view(), "NEW");
}

}  // namespace
}  // namespace corro::fix_gateway
