// SPDX-License-Identifier: Apache-2.0
// Messages that break a rule of the session level, at the gateway: each is rejected with its reason, is counted, and
// has no effect. In virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "fix_gateway/fix_venue_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::fix_gateway {
namespace {

using testing::fix_venue;

/// What a client sends, and the fields of the Reject behind Text (58).
struct bad_message {
    const char* body;
    const char* reject;
};

const std::vector<bad_message>& bad_messages() {
    static const std::vector<bad_message> all{
        // 13: tag appears more than once
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|40=1|44=1|", "371=40|372=D|373=13|"},
        {"35=D|11=1|11=2|55=TEST|54=1|38=1|40=2|44=1|", "371=11|372=D|373=13|"},
        {"35=F|11=2|41=1|41=3|55=TEST|54=1|", "371=41|372=F|373=13|"},
        {"35=G|11=2|41=1|55=TEST|54=1|38=1|40=2|44=1|44=2|", "371=44|372=G|373=13|"},
        {"35=S|117=1|55=TEST|134=1|132=1|134=2|", "371=134|372=S|373=13|"},
        {"35=D|20004=1|20004=2|11=1|55=TEST|54=1|38=1|40=1|", "371=20004|372=D|373=13|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|2964=1|2964=2|", "371=2964|372=D|373=13|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|58=a|58=b|", "371=58|372=D|373=13|"},
        // 14: tag specified out of required order
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|97=N|", "371=97|372=D|373=14|"},
        {"35=D|89=x|11=1|55=TEST|54=1|38=1|40=2|44=1|", "371=11|372=D|373=14|"},
        // 16: incorrect NumInGroup count
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|386=3|336=1|336=2|", "371=386|372=D|373=16|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|453=1|448=a|452=1|448=b|", "371=453|372=D|373=16|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|453=2147483648|448=a|452=1|", "371=453|372=D|373=16|"},
        {"35=i|117=1|296=2|302=1|295=1|299=1|55=TEST|", "371=296|372=i|373=16|"},
        {"35=i|117=1|296=1|302=1|295=2|299=1|55=TEST|", "371=295|372=i|373=16|"},
        {"35=Z|117=1|298=1|295=2|55=TEST|", "371=295|372=Z|373=16|"},
        {"35=AB|11=1|54=1|38=1|40=2|44=1|555=3|600=A|624=1|600=B|624=2|", "371=555|372=AB|373=16|"},
        {"35=c|320=1|321=0|555=3|600=A|624=1|600=B|624=2|", "371=555|372=c|373=16|"},
        // 2: tag not defined for this message type
        {"35=D|11=1|41=2|55=TEST|54=1|38=1|40=2|44=1|", "371=41|372=D|373=2|"},
        {"35=S|117=1|55=TEST|134=1|132=1|11=2|", "371=11|372=S|373=2|"},
        {"35=0|55=TEST|", "371=55|372=0|373=2|"},
        {"35=1|112=x|36=2|", "371=36|372=1|373=2|"},
        // 4: tag specified without a value; 0: invalid tag number
        {"35=D|11=|55=TEST|54=1|38=1|40=2|44=1|", "371=11|372=D|373=4|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|58=|", "371=58|372=D|373=4|"},
        {"35=0|0=x|", "371=0|372=0|373=0|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|abc=1|", "372=D|373=0|"},
        // 1, 5, 6: missing, out of range, of another form
        {"35=D|11=1|55=TEST|54=1|40=2|44=1|", "371=38|372=D|373=1|"},
        {"35=D|11=1|55=TEST|54=9|38=1|40=2|44=1|", "371=54|372=D|373=5|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|59=X|", "371=59|372=D|373=5|"},
        {"35=D|11=1|55=TEST|54=1|38=+200.00|40=2|44=1|", "371=38|372=D|373=6|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1e2|", "371=44|372=D|373=6|"},
        {"35=D|11=1|55=TEST|54=12|38=1|40=2|44=1|", "371=54|372=D|373=6|"},
        {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|59=6|126=tomorrow|", "371=126|372=D|373=6|"},
    };
    return all;
}

TEST(fix_rejects, each_reason_of_the_session_level) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("ALICE", 1);
        std::uint64_t number = 2;
        for (const bad_message& each : bad_messages()) {
            const std::string answer = co_await client->ask(each.body);
            const std::string expected = "35=3|34=" + std::to_string(number) + "|45=" + std::to_string(number) + "|58=";
            EXPECT_EQ(answer.substr(0, expected.size()), expected) << each.body;
            EXPECT_TRUE(answer.ends_with(std::string("|") + each.reject)) << each.body << ": " << answer;
            ++number;
        }
        // None had an effect, and what is right goes on.
        const std::string orders = co_await client->ask("35=AF|584=all|585=7|");
        EXPECT_NE(orders.find("|911=0|"), std::string::npos) << orders;
        const std::string entered = co_await client->ask(
            "35=D|11=1|453=2|448=a|447=D|452=1|448=b|452=3|55=TEST|54=1|38=1|40=2|44=1|386=1|336=1|5001=x|");
        EXPECT_TRUE(entered.starts_with("35=8|")) << entered;
        EXPECT_NE(entered.find("|39=0|"), std::string::npos) << entered;
        co_await venue.close();
    });
}

// What the index finds, and what is in the header, too.
TEST(fix_rejects, a_field_of_the_header_that_is_there_twice) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("ALICE", 1);
        const std::string answer = co_await client->ask("35=0|34=2|");
        EXPECT_EQ(answer, "35=3|34=2|45=2|58=Tag appears more than once|371=34|372=0|373=13|");
        co_await venue.close();
    });
}

// EncodedText (355) contains what looks like another OrdType. With a length that lies it is one.
TEST(fix_rejects, data_may_contain_the_separator_and_what_looks_like_fields) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("ALICE", 1);
        const std::string order = "35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|";
        const std::string lying = co_await client->ask(order + "354=1|355=a|40=9|");
        EXPECT_TRUE(lying.ends_with("|371=40|372=D|373=13|")) << lying;
        const std::string too_long = co_await client->ask(order + "354=60|355=a|40=9|");
        EXPECT_TRUE(too_long.ends_with("|371=355|372=D|373=6|")) << too_long;
        const std::string entered = co_await client->ask(order + "354=6|355=a|40=9|");
        EXPECT_NE(entered.find("|39=0|44=1|"), std::string::npos) << entered;
        co_await venue.close();
    });
}

/// What a client that is logged on sends, with which number, and the text of the Logout that ends its session.
struct end_of_session {
    const char* body;
    std::uint64_t number;
    const char* text;
};

TEST(fix_rejects, what_cannot_be_repaired_ends_the_session_with_the_reason) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        std::uint64_t next = 1;
        const std::vector<end_of_session> all{
            {"35=A|98=0|108=30|", 0, "Logon (A) while logged on"},
            {"35=0|", 1, "MsgSeqNum too low, expecting "},
            {"35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|", 1, "MsgSeqNum too low, expecting "},
        };
        for (const end_of_session& each : all) {
            const auto client = co_await venue.log_on("BOB", 2, next);
            next = client->next_number;
            if (each.number != 0) client->next_number = each.number;
            const std::string logout = co_await client->ask(each.body);
            EXPECT_TRUE(logout.starts_with("35=5|")) << each.body << ": " << logout;
            EXPECT_NE(logout.find(std::string("|58=") + each.text), std::string::npos) << each.body << ": " << logout;
            const std::string end = co_await client->next();
            EXPECT_EQ(end, "closed") << each.body;
        }
        // Backwards is no way, and too high is a gap.
        const auto client = co_await venue.log_on("BOB", 2, next);
        const std::string number = std::to_string(client->next_number);
        const std::string backwards = co_await client->ask("35=4|36=1|");
        EXPECT_TRUE(backwards.ends_with("|371=36|372=4|373=5|")) << backwards;
        client->next_number += 5;
        const std::string asked = co_await client->ask("35=0|");
        EXPECT_TRUE(asked.starts_with("35=2|")) << asked;
        EXPECT_TRUE(asked.ends_with("|7=" + number + "|16=0|")) << asked;
        co_await venue.close();
    });
}

// --- Sessions in QuickFIX's style
// -------------------------------------------------------------------------------------

fix_options options_of_quickfix() {
    fix_options options;
    options.quickfix_names = {"ALICE"};
    return options;
}

TEST(fix_rejects, a_session_in_the_style_of_quickfix_gets_its_texts_and_times) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here, fix_venue::any_number_of_logons(), gateway::answer_log_options(), options_of_quickfix());
        const auto alice = co_await venue.log_on("ALICE", 1);
        EXPECT_EQ(co_await alice->ask("35=4|36=1|"),
                  "35=3|34=2|45=2|58=Value is incorrect (out of range) for this tag|372=4|373=5|");
        --alice->next_number;  // it does not count
        EXPECT_EQ(co_await alice->ask("35=0|5000=HI|"), "35=3|34=3|45=2|58=Invalid tag number|371=5000|372=0|373=0|")
            << "the venue's own checks are there, too";
        EXPECT_EQ(co_await alice->ask("35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|97=N|"),
                  "35=3|34=4|45=3|58=Tag specified out of required order|371=97|372=D|373=14|");
        std::string report = co_await alice->ask("35=D|11=1|55=TEST|54=1|38=1|40=2|44=1|");
        const std::size_t time = report.find("|60=");
        CORRO_REQUIRE(time != std::string::npos);
        EXPECT_EQ(report.find('|', time + 1) - time, std::string_view("|60=20261126-10:00:00.000").size()) << report;
        const std::string text = report.substr(time, report.find('|', time + 1) - time);
        report = co_await alice->ask("35=2|7=5|16=5|");
        EXPECT_TRUE(report.starts_with("35=8|34=5|43=Y|") && report.find(text) != std::string::npos) << report;
        // Another session of the account has the venue's style.
        const auto other = co_await venue.log_on("ALICE2", 1);
        report = co_await other->ask("35=D|11=2|55=TEST|54=1|38=1|40=2|44=1|");
        EXPECT_EQ(report.find('|', report.find("|60=") + 1) - report.find("|60="),
                  std::string_view("|60=20261126-10:00:00.000000000").size());
        co_await venue.close();
    });
}

TEST(fix_rejects, an_order_that_may_have_come_before_is_executed_once_in_the_style_of_quickfix) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here, fix_venue::any_number_of_logons(), gateway::answer_log_options(), options_of_quickfix());
        auto alice = co_await venue.log_on("ALICE", 1);
        const std::string order = "55=TEST|54=1|38=1|40=2|44=1|";
        std::string report = co_await alice->ask("35=D|97=Y|11=1|" + order);
        EXPECT_TRUE(report.starts_with("35=8|34=2|") && report.find("|150=0|") != std::string::npos) << report;
        // Behind each other: the second one waits for the answer to the first.
        CORRO_REQUIRE(co_await alice->send("35=D|11=2|" + order));
        CORRO_REQUIRE(co_await alice->send("35=D|97=Y|11=2|" + order));
        CORRO_REQUIRE(co_await alice->send("35=D|97=Y|11=1|" + order));
        report = co_await alice->next();
        EXPECT_TRUE(report.starts_with("35=8|34=3|") && report.find("|11=2|") != std::string::npos) << report;
        EXPECT_EQ(co_await alice->ask("35=1|112=x|"), "35=0|34=4|112=x|") << "the others are dropped";
        EXPECT_TRUE((co_await alice->ask("35=F|97=Y|11=3|41=1|55=TEST|54=1|")).starts_with("35=j|34=5|"))
            << "only orders are looked for";
        // So it is after a connection.
        const std::uint64_t number = alice->next_number;
        alice.reset();
        CORRO_REQUIRE(!co_await io::sleep_for(std::chrono::seconds(1)));
        alice = co_await venue.log_on("ALICE", 1, number);
        CORRO_REQUIRE(co_await alice->send("35=D|97=Y|11=2|" + order));
        report = co_await alice->ask("35=D|97=Y|11=4|" + order);
        EXPECT_TRUE(report.find("|11=4|") != std::string::npos) << report;
        const auto other = co_await venue.log_on("ALICE2", 1);
        EXPECT_TRUE((co_await other->ask("35=D|97=Y|11=9|" + order)).starts_with("35=j|34=2|45=2|58=PossResend (97)"));
        co_await venue.close();
    });
}

TEST(fix_rejects, a_client_in_the_style_of_quickfix_may_continue_numbers_that_are_not_known) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here, fix_venue::any_number_of_logons(), gateway::answer_log_options(), options_of_quickfix());
        const auto alice = co_await venue.log_on("ALICE", 1, 5);
        EXPECT_EQ(co_await alice->next(), "35=2|34=2|7=1|16=0|");
        const std::string logon = "35=A|98=0|108=30|554=" + testing::password_of(1) + "|";
        const auto other = co_await venue.connect("ALICE2");
        other->next_number = 5;
        EXPECT_EQ(co_await other->ask(logon), "closed");
        co_await venue.close();
    });
}

TEST(fix_rejects, a_logon_that_is_not_sound_ends_without_a_word_in_the_style_of_quickfix) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here, fix_venue::any_number_of_logons(), gateway::answer_log_options(), options_of_quickfix());
        const std::string logon = "35=A|98=0|554=" + testing::password_of(1) + "|";
        auto alice = co_await venue.connect("ALICE");
        EXPECT_EQ(co_await alice->ask(logon), "closed") << "no HeartBtInt";
        alice = co_await venue.connect("ALICE");
        alice->begin_string = "FIXT.1.1";
        EXPECT_EQ(co_await alice->ask(logon + "108=30|"), "closed") << "no DefaultApplVerID";
        alice = co_await venue.connect("ALICE");
        alice->begin_string = "FIXT.1.1";
        EXPECT_EQ(co_await alice->ask(logon + "108=30|1137=9|"), "35=A|34=1|98=0|108=30|1137=9|");
        co_await venue.close();
    });
}

TEST(fix_rejects, a_length_that_is_wrong_takes_the_frame_to_its_checksum_in_the_style_of_quickfix) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here, fix_venue::any_number_of_logons(), gateway::answer_log_options(), options_of_quickfix());
        const auto alice = co_await venue.log_on("ALICE", 1);
        std::string longer = alice->message("35=1|112=lost|");
        const std::size_t length = longer.find("9=") + 2;
        longer[length] = static_cast<char>(longer[length] + 1);  // ten bytes, or more
        CORRO_REQUIRE(co_await alice->send_bytes(longer + alice->message("35=1|112=lost, too|")));
        EXPECT_EQ(co_await alice->ask("35=1|112=here|"), "35=2|34=2|7=2|16=0|");
        co_await venue.close();
    });
}

}  // namespace
}  // namespace corro::fix_gateway
