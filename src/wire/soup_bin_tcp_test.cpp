// SPDX-License-Identifier: Apache-2.0
#include "wire/soup_bin_tcp.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/test_bytes.hpp"
#include "wire/errors.hpp"

namespace corro::wire::soup_bin_tcp {
namespace {

using base::text_of;

/// The bytes of `text`; "\0" inside a literal needs the size that std::string carries.
std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> out;
    for (const char c : text) out.push_back(static_cast<std::byte>(c));
    return out;
}

using namespace std::string_literals;

TEST(soup_bin_tcp, writes_a_login_request_as_the_specification_lays_it_out) {
    std::vector<std::byte> out(login_request_bytes);
    const auto size = encode(login_request{"mm01", "secret", "", 1}, out);
    ASSERT_TRUE(size);
    EXPECT_EQ(*size, 49u);
    EXPECT_EQ(text_of(out),
              "\0\x2FL"
              "mm01  "
              "secret    "
              "          "
              "                   1"s);
}

TEST(soup_bin_tcp, writes_a_login_accepted_with_session_and_number_at_the_right) {
    std::vector<std::byte> out(login_accepted_bytes);
    const auto size = encode(login_accepted{"20240102", 42}, out);
    ASSERT_TRUE(size);
    EXPECT_EQ(text_of(out),
              "\0\x1F"
              "A"
              "  20240102"
              "                  42"s);
}

TEST(soup_bin_tcp, writes_rejections_and_empty_packets) {
    std::vector<std::byte> out(login_rejected_bytes);
    ASSERT_TRUE(encode(reject_code::session_not_available, out));
    EXPECT_EQ(text_of(out), "\0\x02JS"s);
    const auto size = encode(packet_type::server_heartbeat, {}, out);
    ASSERT_TRUE(size);
    EXPECT_EQ(text_of(std::span{out}.first(*size)), "\0\x01H"s);
}

TEST(soup_bin_tcp, reads_back_the_login_that_it_wrote) {
    std::vector<std::byte> out(login_request_bytes);
    ASSERT_TRUE(encode(login_request{"USER12", "passwd4567", "S123456789", 18'446'744'073'709'551'615u}, out));
    const auto found = decode(out, sender::client);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->type, packet_type::login_request);
    EXPECT_EQ((*found)->size, login_request_bytes);
    const auto request = decode_login_request((*found)->payload);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->username, "USER12");
    EXPECT_EQ(request->password, "passwd4567");
    EXPECT_EQ(request->requested_session, "S123456789");
    EXPECT_EQ(request->requested_sequence, std::numeric_limits<std::uint64_t>::max());
}

TEST(soup_bin_tcp, accepts_padding_on_either_side) {
    const auto payload = bytes_of(
        "  mm01"
        "    secret"
        "S1        "
        "7                   ");
    const auto request = decode_login_request(payload);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->username, "mm01");
    EXPECT_EQ(request->password, "secret");
    EXPECT_EQ(request->requested_session, "S1");
    EXPECT_EQ(request->requested_sequence, 7u);
}

TEST(soup_bin_tcp, refuses_login_fields_that_are_not_what_they_should_be) {
    const std::string good =
        "mm01  "
        "secret    "
        "          "
        "                   1";
    const auto error_of = [&](std::size_t at, const std::string& replacement) {
        std::string text = good;
        text.replace(at, replacement.size(), replacement);
        const auto result = decode_login_request(bytes_of(text));
        return result ? std::error_code{} : result.error();
    };
    EXPECT_EQ(error_of(0, "mm01"), std::error_code{});
    EXPECT_EQ(error_of(0, "m 01"), wire_errc::malformed_field);
    EXPECT_EQ(error_of(0, "m\t01"), wire_errc::malformed_field);
    EXPECT_EQ(error_of(0, "m\xFF"), wire_errc::malformed_field);
    EXPECT_EQ(error_of(26, "                    "), wire_errc::malformed_field);
    EXPECT_EQ(error_of(26, "                  -1"), wire_errc::malformed_field);
    EXPECT_EQ(error_of(26, "                  +1"), wire_errc::malformed_field);
    EXPECT_EQ(error_of(26, "                0x10"), wire_errc::malformed_field);
    EXPECT_EQ(error_of(26, "                 1 1"), wire_errc::malformed_field);
    EXPECT_EQ(error_of(26, "18446744073709551616"), wire_errc::out_of_range);
    EXPECT_EQ(decode_login_request(bytes_of(good + " ")).error(), wire_errc::malformed_length);
    EXPECT_EQ(decode_login_accepted(bytes_of(good)).error(), wire_errc::malformed_length);
}

TEST(soup_bin_tcp, asks_for_more_bytes_until_a_packet_is_whole) {
    const auto stream = bytes_of("\0\x04Sabc\0\x01H"s);
    for (std::size_t size = 0; size < 6; ++size) {
        const auto found = decode(std::span{stream}.first(size), sender::server);
        ASSERT_TRUE(found) << size;
        EXPECT_FALSE(*found) << size;
    }
    const auto first = decode(stream, sender::server);
    ASSERT_TRUE(first && *first);
    EXPECT_EQ((*first)->type, packet_type::sequenced_data);
    EXPECT_EQ(text_of((*first)->payload), "abc");
    const auto second = decode(std::span{stream}.subspan((*first)->size), sender::server);
    ASSERT_TRUE(second && *second);
    EXPECT_EQ((*second)->type, packet_type::server_heartbeat);
    EXPECT_TRUE((*second)->payload.empty());
}

TEST(soup_bin_tcp, judges_a_packet_by_its_header_before_the_payload_arrives) {
    const auto error_of = [](const std::string& text, sender from, std::size_t limit = payload_bytes_max) {
        const auto bytes = bytes_of(text);
        const auto result = decode(bytes, from, limit);
        return result ? std::error_code{} : result.error();
    };
    EXPECT_EQ(error_of("\0\0"s, sender::client), wire_errc::malformed_length);
    EXPECT_EQ(error_of("\xFF\xFFS"s, sender::server), std::error_code{});
    EXPECT_EQ(error_of("\x01\x02"s, sender::server, 256), wire_errc::too_large);
    EXPECT_EQ(error_of("\x01\x01"s, sender::server, 256), std::error_code{});
    EXPECT_EQ(error_of("\0\x01?"s, sender::server), wire_errc::unknown_type);
    EXPECT_EQ(error_of("\0\x02H"s, sender::server), wire_errc::malformed_length);
    EXPECT_EQ(error_of("\0\x2EL"s, sender::client), wire_errc::malformed_length);
    EXPECT_EQ(error_of("\0\x01J"s, sender::server), wire_errc::malformed_length);
}

TEST(soup_bin_tcp, keeps_each_side_to_its_own_packets) {
    const std::string client_only = "LRO";
    const std::string server_only = "AJSHZ";
    for (const char type : client_only + server_only + "+U") {
        // The header alone: the decoder checks the type before it has the payload.
        const std::size_t payload = type == 'L' ? 46 : type == 'A' ? 30 : type == 'J' ? 1 : 0;
        const auto bytes = header(static_cast<packet_type>(type), payload);
        EXPECT_EQ(decode(bytes, sender::client).has_value(), server_only.find(type) == std::string::npos) << type;
        EXPECT_EQ(decode(bytes, sender::server).has_value(), client_only.find(type) == std::string::npos) << type;
    }
}

TEST(soup_bin_tcp, carries_the_largest_payload_that_the_format_has) {
    const std::vector<std::byte> payload(payload_bytes_max, std::byte{0xAB});
    std::vector<std::byte> out(header_bytes + payload.size());
    ASSERT_TRUE(encode(packet_type::sequenced_data, payload, out));
    const auto found = decode(out, sender::server);
    ASSERT_TRUE(found && *found);
    EXPECT_TRUE(std::ranges::equal((*found)->payload, payload));

    const std::vector<std::byte> larger(payload_bytes_max + 1);
    out.resize(header_bytes + larger.size());
    EXPECT_EQ(encode(packet_type::sequenced_data, larger, out).error(), wire_errc::too_large);
}

TEST(soup_bin_tcp, refuses_to_write_what_could_not_be_read) {
    std::vector<std::byte> out(64);
    EXPECT_EQ(encode(login_request{"toolong", "x", "", 0}, out).error(), wire_errc::malformed_field);
    EXPECT_EQ(encode(login_request{"a b", "x", "", 0}, out).error(), wire_errc::malformed_field);
    EXPECT_EQ(encode(login_request{"ab", "x\n", "", 0}, out).error(), wire_errc::malformed_field);
    EXPECT_EQ(encode(login_accepted{"12345678901", 0}, out).error(), wire_errc::malformed_field);
    EXPECT_EQ(encode(packet_type::client_heartbeat, bytes_of("x"), out).error(), wire_errc::malformed_length);
    EXPECT_EQ(encode(static_cast<packet_type>('?'), {}, out).error(), wire_errc::unknown_type);
    const auto small = std::span{out}.first(2);
    EXPECT_EQ(encode(packet_type::client_heartbeat, {}, small).error(), wire_errc::buffer_too_small);
    EXPECT_EQ(encode(reject_code::not_authorised, small).error(), wire_errc::buffer_too_small);
    EXPECT_EQ(encode(login_request{"ab", "x", "", 0}, small).error(), wire_errc::buffer_too_small);
    EXPECT_EQ(encode(login_accepted{"ab", 0}, small).error(), wire_errc::buffer_too_small);
}

TEST(soup_bin_tcp, reads_only_the_reasons_that_exist) {
    EXPECT_EQ(decode_login_rejected(bytes_of("A")), reject_code::not_authorised);
    EXPECT_EQ(decode_login_rejected(bytes_of("S")), reject_code::session_not_available);
    EXPECT_EQ(decode_login_rejected(bytes_of("X")).error(), wire_errc::malformed_field);
    EXPECT_EQ(decode_login_rejected(bytes_of("")).error(), wire_errc::malformed_length);
}

TEST(soup_bin_tcp, compares_credentials_without_regard_to_case) {
    EXPECT_TRUE(same_credential("Secret1", "sECRET1"));
    EXPECT_TRUE(same_credential("", ""));
    EXPECT_FALSE(same_credential("secret1", "secret2"));
    EXPECT_FALSE(same_credential("secret", "secret1"));
    EXPECT_FALSE(same_credential("@", "`"));
}

TEST(wire_errors, each_code_says_what_is_wrong) {
    EXPECT_STREQ(wire_category().name(), "wire");
    for (int code = 1; code <= static_cast<int>(wire_errc::buffer_too_small); ++code) {
        EXPECT_NE(wire_category().message(code), "unknown wire error") << code;
    }
    EXPECT_EQ(wire_category().message(0), "unknown wire error");
    EXPECT_EQ(std::error_code{wire_errc::truncated}.category(), wire_category());
}

}  // namespace
}  // namespace corro::wire::soup_bin_tcp
