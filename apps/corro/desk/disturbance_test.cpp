// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/disturbance.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "fix/codec/frame.hpp"
#include "wire/binary_codec.hpp"

namespace corro::app::desk {
namespace {

TEST(disturbance, reads_commands) {
    EXPECT_EQ(parse_disturbance("delay 200"),
              disturbance(delay_wish{std::chrono::milliseconds(200), std::chrono::milliseconds(200)}));
    EXPECT_EQ(parse_disturbance("  delay  50 250 "),
              disturbance(delay_wish{std::chrono::milliseconds(50), std::chrono::milliseconds(250)}));
    EXPECT_EQ(parse_disturbance("spoil 3"), disturbance(spoil_wish{3, spoiled_part::quantity}));
    EXPECT_EQ(parse_disturbance("spoil 3 instrument"), disturbance(spoil_wish{3, spoiled_part::instrument}));
    EXPECT_EQ(parse_disturbance("cut"), disturbance(link_wish::cut));
    EXPECT_EQ(parse_disturbance("quit\r"), disturbance(link_wish::quit));
}

TEST(disturbance, names_what_is_wrong_about_a_command) {
    EXPECT_EQ(parse_disturbance("").error(), "an empty line; see: help");
    EXPECT_EQ(parse_disturbance("delya 3").error(), "unknown command \"delya\"; did you mean delay?");
    EXPECT_EQ(parse_disturbance("dance").error(), "unknown command \"dance\"; see: help");
    EXPECT_EQ(parse_disturbance("cut all").error(), "cut: unexpected \"all\"");
    for (const char* line : {"delay", "delay -1", "delay 60001", "delay 1 2 3", "delay 1ms"}) {
        EXPECT_EQ(parse_disturbance(line).error(), "delay MS [MS]: one or two numbers up to 60000") << line;
    }
    EXPECT_EQ(parse_disturbance("delay 2 1").error(), "delay: the first time must not be above the second");
    for (const char* line : {"spoil", "spoil x", "spoil 1000001", "spoil 1 side", "spoil 1 price 2"}) {
        EXPECT_EQ(parse_disturbance(line).error(), "spoil COUNT [quantity | price | instrument]: a count up to 1000000")
            << line;
    }
}

TEST(disturbance, help_has_every_command) {
    for (const std::string& line : disturbance_help()) {
        std::string command = line.substr(0, line.find("   "));
        command = command.substr(0, command.find(','));
        EXPECT_TRUE(parse_disturbance(command)) << command;
    }
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What the venue gets, when the client's bytes come in pieces of this size.
std::string passed(order_spoiler& by, std::string_view bytes, std::size_t piece) {
    std::vector<std::byte> out;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
        by.pass(std::as_bytes(std::span(bytes.substr(at, piece))), out);
    by.finish(out);
    return text_of(out);
}

std::string order(domain::order_type type, std::uint64_t sequence) {
    wire::enter_order o{};
    o.client_order = domain::client_order_id{sequence};
    o.price = domain::price_nano{5'000'000'000'000};
    o.quantity = 3;
    o.instrument = domain::instrument_id{1};
    o.side = domain::side::buy;
    o.order_type = type;
    o.time_in_force = domain::time_in_force::day;
    std::array<std::byte, wire::enter_order::frame_bytes> frame{};
    EXPECT_EQ(wire::encode(o, sequence, frame), frame.size());
    return text_of(frame);
}

struct seen_order {
    std::int64_t price;
    std::int64_t quantity;
    std::uint32_t instrument;
    std::uint64_t sequence;
    friend bool operator==(const seen_order&, const seen_order&) = default;
};

std::vector<seen_order> orders_in(std::string_view bytes) {
    std::vector<seen_order> all;
    while (!bytes.empty()) {
        const auto frame = wire::next_frame(std::as_bytes(std::span(bytes)));
        if (!frame || !*frame) break;
        const wire::enter_order_view view(**frame);
        all.push_back({view.price().value, view.quantity(), view.instrument().value, (*frame)->sequence});
        bytes.remove_prefix((*frame)->size());
    }
    return all;
}

TEST(order_spoiler, spoils_as_many_orders_of_corro_binary_as_are_wished) {
    const std::string sent = order(domain::order_type::market, 7) + order(domain::order_type::limit, 8) +
                             order(domain::order_type::limit, 9);
    constexpr std::int64_t price = 5'000'000'000'000;
    const seen_order first{price, 3, 1, 7};
    const seen_order second{price, 3, 1, 8};
    const seen_order third{price, 3, 1, 9};
    for (const std::size_t piece : {1U, 13U, 1000U}) {
        spoil_wish wish{0, spoiled_part::quantity};
        order_spoiler none(&wish);
        EXPECT_EQ(passed(none, sent, piece), sent);

        wish = {2, spoiled_part::quantity};
        order_spoiler quantities(&wish);
        EXPECT_EQ(orders_in(passed(quantities, sent, piece)),
                  (std::vector<seen_order>{{price, 0, 1, 7}, {price, 0, 1, 8}, third}));
        EXPECT_EQ(quantities.spoiled_count(), 2U);
        EXPECT_EQ(wish.count, 0U);

        wish = {1, spoiled_part::price};  // a market order has no price
        order_spoiler prices(&wish);
        EXPECT_EQ(orders_in(passed(prices, sent, piece)),
                  (std::vector<seen_order>{first, {10'000'000'000'000'000, 3, 1, 8}, third}));

        wish = {1, spoiled_part::instrument};
        order_spoiler instruments(&wish);
        EXPECT_EQ(orders_in(passed(instruments, sent, piece)),
                  (std::vector<seen_order>{{price, 3, 0xffff'fffe, 7}, second, third}));
    }
}

std::string fix_message(std::string body) {
    for (char& c : body) c = c == '|' ? fix::soh : c;
    std::string whole =
        "8=FIX.4.4\x01"
        "9=" +
        std::to_string(body.size()) + fix::soh + body;
    const unsigned sum = fix::sum_of(whole);
    std::string digits = std::to_string(sum);
    digits.insert(0, 3 - digits.size(), '0');
    return whole + "10=" + digits + fix::soh;
}

TEST(order_spoiler, writes_an_order_of_fix_again_with_length_and_checksum) {
    const std::string logon = fix_message("35=A|49=ALICE|56=CORRO|34=1|98=0|108=30|");
    const std::string entered =
        fix_message("35=D|49=ALICE|56=CORRO|34=2|11=1|55=ESZ6|54=1|38=12|40=2|44=5998.75|59=0|");
    const std::string market = fix_message("35=D|49=ALICE|56=CORRO|34=3|11=2|55=ESZ6|54=1|38=12|40=1|59=0|");
    const std::string sent = logon + market + entered + entered;
    for (const std::size_t piece : {1U, 50U, 10'000U}) {
        spoil_wish wish{1, spoiled_part::quantity};
        order_spoiler quantity(&wish);
        EXPECT_EQ(
            passed(quantity, sent, piece),
            logon + fix_message("35=D|49=ALICE|56=CORRO|34=3|11=2|55=ESZ6|54=1|38=0|40=1|59=0|") + entered + entered);
        wish = {1, spoiled_part::price};
        order_spoiler price(&wish);
        EXPECT_EQ(passed(price, sent, piece),
                  logon + market +
                      fix_message("35=D|49=ALICE|56=CORRO|34=2|11=1|55=ESZ6|54=1|38=12|40=2|44=10000000|59=0|") +
                      entered);
        wish = {9, spoiled_part::instrument};
        order_spoiler instrument(&wish);
        EXPECT_NE(passed(instrument, sent, piece).find("55=NO.SUCH.INSTRUMENT"), std::string::npos);
        EXPECT_EQ(instrument.spoiled_count(), 3U);
    }
}

TEST(order_spoiler, leaves_other_protocols_and_damaged_messages_as_they_are) {
    const std::string http = "GET / HTTP/1.1\r\n\r\n";
    std::string damaged = fix_message("35=D|38=12|") + fix_message("35=D|38=12|");
    damaged[20] ^= 1;
    std::string foreign = order(domain::order_type::limit, 1) + order(domain::order_type::limit, 2);
    foreign[wire::enter_order::frame_bytes + 4] ^= 1;
    for (const std::size_t piece : {1U, 7U, 1000U}) {
        spoil_wish wish{9, spoiled_part::price};
        order_spoiler by_http(&wish);
        EXPECT_EQ(passed(by_http, http, piece), http);
        order_spoiler short_one(&wish);
        EXPECT_EQ(passed(short_one, "8=F", piece), "8=F");
        order_spoiler by_fix(&wish);
        EXPECT_EQ(passed(by_fix, damaged, piece), damaged);  // an order without a price cannot get another one
        order_spoiler by_binary(&wish);
        EXPECT_EQ(passed(by_binary, foreign, piece).substr(wire::enter_order::frame_bytes),
                  foreign.substr(wire::enter_order::frame_bytes));
        EXPECT_EQ(by_binary.spoiled_count(), 1U);
    }
}

}  // namespace
}  // namespace corro::app::desk
