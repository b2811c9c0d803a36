// SPDX-License-Identifier: Apache-2.0
#include "fix/session/signed_logon.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/test_bytes.hpp"
#include "fix/codec/test_messages.hpp"

namespace corro::fix {
namespace {

using base::bytes_of;

using namespace std::chrono_literals;

constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t whole_second = 1'000 * millisecond;
constexpr std::int64_t noon = 1'795'435'200 * whole_second;

/// A Logon with these fields, and its index.
struct logon {
    explicit logon(const std::string& fields)
        : text(testing::framed("35=A|34=1|49=A|52=20261123-12:00:00|56=B|98=0|108=30|" + fields)) {
        EXPECT_FALSE(index.index(text, next_frame(text, 4'096)));
    }
    std::string text;
    field_index index{100};
};

std::string with_raw(const std::string& raw, const std::string& password) {
    return "95=" + std::to_string(raw.size()) + "|96=" + raw + "|554=" + password + "|";
}

const std::string raw_of_test = "1795435200000.MDEyMzQ1Njc4OWFi";
const std::string password_of_test = "ZstBaQq8BLAYlCCcLsfFJjxEPdz+XW4Puwgl7QqcvWA=";

std::string signed_at(std::int64_t time, std::string_view secret, std::string_view nonce) {
    std::vector<char> room(1'000);
    message_writer writer(room, "FIX.4.4");
    writer.begin("A");
    put_signature(writer, bytes_of(secret), time, bytes_of(nonce));
    std::string message = testing::in_words(writer.finish());
    const std::size_t begin = message.find("|95=") + 1;
    return message.substr(begin, message.find("|10=") + 1 - begin);
}

TEST(fix_signed_logon, is_the_hmac_of_time_and_nonce) {
    EXPECT_EQ(signed_at(noon, "key", "0123456789ab"), with_raw(raw_of_test, password_of_test));
    // RFC 4231, test case 2.
    const logon_signature of_standard = sign("what do ya want for nothing?", bytes_of("Jefe"));
    EXPECT_EQ(of_standard.front(), std::byte{0x5b});
    EXPECT_EQ(of_standard[1], std::byte{0xdc});
    EXPECT_EQ(of_standard.back(), std::byte{0x43});
}

TEST(fix_signed_logon, is_read_and_proves_the_secret_and_the_text) {
    const logon sound(signed_at(noon, "key", "0123456789ab"));
    const auto read = read_signed_logon(sound.index);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->time, noon);
    EXPECT_TRUE(is_signed_with(*read, bytes_of("key")));
    EXPECT_FALSE(is_signed_with(*read, bytes_of("kez")));
    EXPECT_FALSE(is_signed_with(*read, {}));
    const logon changed(with_raw("1795435200001.MDEyMzQ1Njc4OWFi", password_of_test));
    const auto read_changed = read_signed_logon(changed.index);
    ASSERT_TRUE(read_changed);
    EXPECT_FALSE(is_signed_with(*read_changed, bytes_of("key")));
}

TEST(fix_signed_logon, has_one_form) {
    EXPECT_TRUE(read_signed_logon(logon(with_raw(raw_of_test, password_of_test)).index));
    for (const char* const raw :
         {"1795435200000", "1795435200000.", ".MDEyMzQ1Njc4OWFi", "x.MDEyMzQ1Njc4OWFi", "-1.MDEyMzQ1Njc4OWFi",
          "1795435200000.MDEyMzQ1Njc4OWF", "1795435200000.MDEy MzQ1Njc4OWFi", "17954352000000.MDEyMzQ1Njc4OWFi",
          "18446744073709551616.MDEyMzQ1Njc4OWFi"}) {
        EXPECT_FALSE(read_signed_logon(logon(with_raw(raw, password_of_test)).index)) << raw;
    }
    EXPECT_FALSE(read_signed_logon(logon(with_raw("1." + std::string(65, 'a'), password_of_test)).index));
    std::string other_form = password_of_test;
    other_form[42] = other_form[42] == 'A' ? 'B' : static_cast<char>(other_form[42] + 1);
    for (const std::string& password :
         {password_of_test.substr(1), password_of_test + "=", password_of_test.substr(0, 43) + "A",
          "*" + password_of_test.substr(1), other_form, std::string("x")}) {
        EXPECT_FALSE(read_signed_logon(logon(with_raw(raw_of_test, password)).index)) << password;
    }
    EXPECT_FALSE(read_signed_logon(logon("554=" + password_of_test + "|").index));
    EXPECT_FALSE(read_signed_logon(logon("95=3|96=1.a|").index));
}

class fix_seen_logons : public ::testing::Test {
 protected:
    /// A Logon signed at `time`, the n-th.
    static signed_logon made_at(std::int64_t time, int n = 0) {
        signed_logon made;
        made.time = time;
        made.signature = sign(std::to_string(time) + "." + std::to_string(n), bytes_of("key"));
        return made;
    }
    static signed_logon_options small() {
        signed_logon_options options;
        options.remembered_max = 5;
        options.remembered_of_one_max = 3;
        return options;
    }
    seen_logons seen{small(), noon - 60 * whole_second};
};

using enum signed_logon_verdict;

TEST_F(fix_seen_logons, accept_a_logon_once) {
    EXPECT_EQ(seen.take(made_at(noon), 1, noon), accepted);
    EXPECT_EQ(seen.take(made_at(noon), 1, noon), replayed);
    EXPECT_EQ(seen.take(made_at(noon, 1), 1, noon), accepted) << "of the same time, with another nonce";
    EXPECT_EQ(seen.take(made_at(noon), 1, noon + 5 * whole_second), replayed) << "as long as its time is accepted";
    EXPECT_EQ(seen.take(made_at(noon), 1, noon + 5 * whole_second + 1), out_of_time);
}

TEST_F(fix_seen_logons, accept_times_near_the_clock_only) {
    EXPECT_EQ(seen.take(made_at(noon - 5 * whole_second), 1, noon), accepted);
    EXPECT_EQ(seen.take(made_at(noon - 5 * whole_second - millisecond), 1, noon), out_of_time);
    EXPECT_EQ(seen.take(made_at(noon + whole_second), 1, noon), accepted);
    EXPECT_EQ(seen.take(made_at(noon + whole_second + millisecond), 1, noon), out_of_time);
    // At the end of its time, which began before it was signed.
    EXPECT_EQ(seen.take(made_at(noon + whole_second), 1, noon + 6 * whole_second), replayed);
}

TEST_F(fix_seen_logons, accept_nothing_that_a_process_before_may_have_accepted) {
    seen_logons after(small(), noon);
    EXPECT_EQ(after.take(made_at(noon - millisecond), 1, noon), out_of_time);
    EXPECT_EQ(after.take(made_at(noon + whole_second), 1, noon), out_of_time);
    EXPECT_EQ(after.take(made_at(noon + whole_second + millisecond), 1, noon + 2 * whole_second), accepted);
}

TEST_F(fix_seen_logons, are_bounded_for_one_owner_and_for_all) {
    for (int n = 0; n < 3; ++n) EXPECT_EQ(seen.take(made_at(noon, n), 1, noon), accepted);
    EXPECT_EQ(seen.take(made_at(noon, 3), 1, noon), too_many);
    for (int n = 0; n < 2; ++n) EXPECT_EQ(seen.take(made_at(noon, 10 + n), 2, noon), accepted);
    EXPECT_EQ(seen.take(made_at(noon, 20), 3, noon), too_many);
    EXPECT_EQ(seen.remembered_count(), 5U);
    EXPECT_EQ(seen.take(made_at(noon, 1), 1, noon), replayed) << "none is forgotten for another";
    EXPECT_EQ(seen.take(made_at(noon + 7 * whole_second), 1, noon + 7 * whole_second), accepted);
    EXPECT_EQ(seen.remembered_count(), 1U) << "the others were out of time";
}

}  // namespace
}  // namespace corro::fix
