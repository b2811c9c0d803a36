// SPDX-License-Identifier: Apache-2.0
#include "domain/command.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/long_name.hpp"

namespace corro::domain {
namespace {

// --- Layout ----------------------------------------------------------------------------------------------------------

// Where the fields stand in a command. Journals have these bytes: an offset never changes.
static_assert(offsetof(command, sequence) == 0 && offsetof(command, time) == 8 && offsetof(command, session) == 16 &&
              offsetof(command, account) == 20 && offsetof(command, instrument) == 24 &&
              offsetof(command, kind) == 28 && offsetof(command, terms) == 29 &&
              offsetof(command, client_order) == 32 && offsetof(command, payload) == 40);
static_assert(offsetof(order_terms, side) == 0 && offsetof(order_terms, type) == 1 &&
              offsetof(order_terms, time_in_force) == 2 && sizeof(order_terms) == 3);
static_assert(offsetof(definition_terms, right) == 1 && offsetof(definition_terms, given) == 2 &&
              sizeof(definition_terms) == 3);

#define CORRO_AT(payload_, field, offset_) \
    static_assert(offsetof(command, payload) + offsetof(payload_, field) == (offset_))
CORRO_AT(any_payload, verdict, 60);
CORRO_AT(any_payload, request, 64);
CORRO_AT(any_payload, is_operator, 94);
CORRO_AT(any_payload, arrival.number, 112);
CORRO_AT(any_payload, arrival.copies, 120);
CORRO_AT(any_payload, arrival.leg, 122);
CORRO_AT(any_payload, arrival.previous_request_plus_1, 124);
CORRO_AT(enter_order, price, 48);
CORRO_AT(enter_order, quantity, 56);
CORRO_AT(enter_order, self_match_prevention, 61);
CORRO_AT(enter_order, flags, 62);
CORRO_AT(enter_order, trigger_price, 72);
CORRO_AT(enter_order, display_quantity, 80);
CORRO_AT(enter_order, minimum_quantity, 84);
CORRO_AT(enter_order, expire_time, 96);
CORRO_AT(enter_order, self_match_group, 104);
CORRO_AT(amend_order, order, 40);
CORRO_AT(amend_order, price, 48);
CORRO_AT(amend_order, quantity, 56);
CORRO_AT(amend_order, flags, 62);
CORRO_AT(amend_order, target_request, 68);
CORRO_AT(amend_order, trigger_price, 72);
CORRO_AT(amend_order, display_quantity, 80);
CORRO_AT(amend_order, other_account, 108);
CORRO_AT(cancel_order, order, 40);
CORRO_AT(cancel_order, target_request, 68);
CORRO_AT(cancel_orders, flags, 62);
CORRO_AT(cancel_orders, scope, 63);
CORRO_AT(cancel_orders, product, 88);
CORRO_AT(cancel_orders, sides, 92);
CORRO_AT(cancel_orders, other_account, 108);
CORRO_AT(query_order, order, 40);
CORRO_AT(query_order, flags, 62);
CORRO_AT(query_order, target_request, 68);
CORRO_AT(enter_quote, bid_price, 48);
CORRO_AT(enter_quote, bid_quantity, 56);
CORRO_AT(enter_quote, self_match_prevention, 61);
CORRO_AT(enter_quote, flags, 62);
CORRO_AT(enter_quote, ask_price, 72);
CORRO_AT(enter_quote, ask_quantity, 80);
CORRO_AT(set_protection, quantity_max, 56);
CORRO_AT(set_protection, window_ms, 68);
CORRO_AT(set_protection, fills_max, 104);
CORRO_AT(change_phase, product, 88);
CORRO_AT(change_phase, phase, 93);
CORRO_AT(change_phase, resume_time, 96);
CORRO_AT(set_limits, order_quantity_max, 56);
CORRO_AT(set_limits, firm, 68);
CORRO_AT(set_limits, position_max, 84);
CORRO_AT(set_limits, notional_max, 96);
CORRO_AT(set_limits, open_orders_max, 104);
CORRO_AT(set_limits, other_account, 108);
CORRO_AT(kill_switch, firm, 68);
CORRO_AT(kill_switch, kill_scope, 92);
CORRO_AT(kill_switch, state, 93);
CORRO_AT(kill_switch, other_session, 104);
CORRO_AT(kill_switch, other_account, 108);
CORRO_AT(settle_instrument, price, 48);
CORRO_AT(define_instrument, terms, 40);
CORRO_AT(define_instrument, like, 56);
CORRO_AT(define_instrument, legs_count, 61);
CORRO_AT(define_instrument, arrival_high, 62);
CORRO_AT(define_instrument, previous_request_plus_1, 68);
CORRO_AT(define_instrument, arrival_low, 88);
CORRO_AT(define_instrument, arrival_middle, 92);
CORRO_AT(define_instrument, price_low, 72);
CORRO_AT(define_instrument, price_high, 80);
CORRO_AT(define_instrument, expiry, 96);
CORRO_AT(define_instrument, name, 104);
CORRO_AT(cancel_on_disconnect, state, 93);
CORRO_AT(new_trading_day, product, 88);
CORRO_AT(define_account, sessions_count, 56);
CORRO_AT(define_account, first_session, 104);
CORRO_AT(define_account, other_account, 108);
CORRO_AT(reset_session_numbers, day_begin, 96);
CORRO_AT(amend_order, request_name, 96);
CORRO_AT(cancel_order, request_name, 96);
CORRO_AT(cancel_orders, request_name, 96);
CORRO_AT(query_order, request_name, 96);
CORRO_AT(count_messages, number, 48);
CORRO_AT(count_messages, count, 56);
CORRO_AT(count_messages, next_answer, 72);
CORRO_AT(name_order, text_1, 40);
CORRO_AT(name_order, length, 61);
CORRO_AT(name_order, request_kind, 62);
CORRO_AT(name_order, text_2, 68);
CORRO_AT(name_order, text_3, 95);
#undef CORRO_AT

// --- Bytes -----------------------------------------------------------------------------------------------------------

[[nodiscard]] std::string hex_of(const command& c) {
    std::array<unsigned char, sizeof c> bytes;
    std::memcpy(bytes.data(), &c, sizeof c);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

/// A command whose header has a value of its own in every byte.
[[nodiscard]] command of(command_kind kind) {
    command c;
    c.sequence = sequence_number{0x0102030405060708};
    c.time = time_ns{0x1112131415161718};
    c.session = session_id{0x21222324};
    c.account = account_id{0x31323334};
    c.instrument = instrument_id{0x41424344};
    c.kind = kind;
    c.client_order = client_order_id{0x5152535455565758};
    c.set_verdict(reject_reason::throttled);
    c.set_request(0x61626364);
    c.set_operator(true);
    c.set_arrival(0x7172737475767778, 0x79);
    c.set_request_place(0x7a7b, 0x7c7d7e7f);
    return c;
}

constexpr price_ticks price{0x0182838485868788};
constexpr price_ticks other_price{0x2182838485868789};
constexpr quantity_lots quantity{0x91929394};
constexpr quantity_lots shown{0xa1a2a3a4};
constexpr quantity_lots third_quantity{0xb1b2b3b4};
constexpr time_ns moment{0x3132333435363738};
constexpr std::uint32_t number = 0xe1e2e3e4;
constexpr std::uint32_t other_number = 0xc1c2c3c4;
constexpr order_id order{0xd1d2d3d4d5d6d7d8};
constexpr account_id other_account{0xf1f2f3f4};
constexpr product_id product{0x92939495};

[[nodiscard]] command entered() {
    command c = of(command_kind::enter_order);
    c.order_terms() = {.side = side::sell, .type = order_type::stop_limit, .time_in_force = time_in_force::gtd};
    enter_order& o = c.enter_order();
    o.price = price;
    o.quantity = quantity;
    o.self_match_prevention = self_match_prevention::decrement;
    o.flags = 7;
    o.trigger_price = other_price;
    o.display_quantity = shown;
    o.minimum_quantity = third_quantity;
    o.expire_time = moment;
    o.self_match_group = other_number;
    return c;
}

[[nodiscard]] command amended() {
    command c = of(command_kind::amend_order);
    amend_order& a = c.amend_order();
    a.order = order;
    a.price = price;
    a.quantity = quantity;
    a.flags = 15;
    a.target_request = number;
    a.trigger_price = other_price;
    a.display_quantity = shown;
    a.other_account = other_account;
    return c;
}

[[nodiscard]] command limited(command_kind kind) {
    command c = of(kind);
    set_limits& l = c.set_limits();
    l.order_quantity_max = quantity;
    l.firm = number;
    l.position_max = third_quantity;
    l.notional_max = moment.value;
    l.open_orders_max = other_number;
    l.other_account = other_account;
    return c;
}

[[nodiscard]] command killed() {
    command c = of(command_kind::kill_switch);
    kill_switch& k = c.kill_switch();
    k.firm = number;
    k.kill_scope = kill_scope::firm;
    k.state = switch_state::on;
    k.other_session = session_id{other_number};
    k.other_account = other_account;
    return c;
}

[[nodiscard]] command defined(std::uint8_t option_or_legs) {
    definition d;
    d.id = instrument_id{0x41424344};
    d.like = instrument_id{0x45464748};
    d.name = symbol("TWENTY-FOUR-CHARACTERS-X");
    d.given = static_cast<std::uint8_t>(definition_field::expiry | definition_field::price_low |
                                        definition_field::price_high | option_or_legs);
    d.right = option_right::put;
    d.strike = price_nano{price.value};
    d.price_low = price_nano{other_price.value};
    d.price_high = price_nano{0x5182838485868789};
    d.expiry = moment;
    d.legs = {instrument_id{0x81828384}, instrument_id{0x85868788}, instrument_id{0x898a8b8c},
              instrument_id{0x8d8e8f90}};
    d.legs_count = 4;
    command c = command_of(d);
    c.sequence = sequence_number{0x0102030405060708};
    c.time = time_ns{0x1112131415161718};
    c.session = session_id{0x21222324};
    c.account = account_id{0x31323334};
    c.set_verdict(reject_reason::throttled);
    c.set_request(0x61626364);
    c.set_operator(true);
    EXPECT_EQ(definition_of(c).name, d.name);
    return c;
}

// The bytes that the first form of a command had, with one struct of fields for all kinds.
TEST(command, has_the_bytes_that_journals_have_of_orders_and_quotes) {
    EXPECT_EQ(hex_of(command{}),
              "0000000000000000000000000000000000000000000000000000000001000101"
              "0000000000000000000000000000000000000000000000000000000000000000"
              "0000000000000000000000000000000000000000000000000000000000000000"
              "0000000000000000000000000000000000000000000000000000000000000000");
    EXPECT_EQ(hex_of(entered()),
              "0807060504030201181716151413121124232221343332314443424101010605"
              "5857565554535251000000000000000088878685848382019493929129040700"
              "64636261000000008987868584838221a4a3a2a1b4b3b2b10000000000000100"
              "3837363534333231c4c3c2c100000000787776757473727179007b7a807e7d7c");
    EXPECT_EQ(hex_of(amended()),
              "0807060504030201181716151413121124232221343332314443424102000101"
              "5857565554535251d8d7d6d5d4d3d2d188878685848382019493929129000f00"
              "64636261e4e3e2e18987868584838221a4a3a2a1000000000000000000000100"
              "000000000000000000000000f4f3f2f1787776757473727179007b7a807e7d7c");
    {
        command c = of(command_kind::cancel_order);
        c.cancel_order().order = order;
        c.cancel_order().target_request = number;
        EXPECT_EQ(hex_of(c),
                  "0807060504030201181716151413121124232221343332314443424103000101"
                  "5857565554535251d8d7d6d5d4d3d2d100000000000000000000000029000000"
                  "64636261e4e3e2e1000000000000000000000000000000000000000000000100"
                  "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::cancel_orders);
        c.cancel_orders().flags = 7;
        c.cancel_orders().scope = cancel_scope::session;
        c.cancel_orders().product = product;
        c.cancel_orders().sides = cancel_sides::sell;
        c.cancel_orders().other_account = other_account;
        EXPECT_EQ(hex_of(c),
                  "0807060504030201181716151413121124232221343332314443424104000101"
                  "5857565554535251000000000000000000000000000000000000000029000701"
                  "6463626100000000000000000000000000000000000000009594939202000100"
                  "000000000000000000000000f4f3f2f1787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::enter_quote);
        c.enter_quote().bid_price = price;
        c.enter_quote().bid_quantity = quantity;
        c.enter_quote().self_match_prevention = self_match_prevention::cancel_both;
        c.enter_quote().flags = quote_flag::more;
        c.enter_quote().ask_price = other_price;
        c.enter_quote().ask_quantity = shown;
        EXPECT_EQ(hex_of(c),
                  "0807060504030201181716151413121124232221343332314443424108000101"
                  "5857565554535251000000000000000088878685848382019493929129030400"
                  "64636261000000008987868584838221a4a3a2a1000000000000000000000100"
                  "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::set_protection);
        c.set_protection().quantity_max = quantity;
        c.set_protection().window_ms = number;
        c.set_protection().fills_max = other_number;
        EXPECT_EQ(hex_of(c),
                  "0807060504030201181716151413121124232221343332314443424109000101"
                  "5857565554535251000000000000000000000000000000009493929129000000"
                  "64636261e4e3e2e1000000000000000000000000000000000000000000000100"
                  "0000000000000000c4c3c2c100000000787776757473727179007b7a807e7d7c");
    }
}

TEST(command, has_the_bytes_that_journals_have_of_limits_and_phases) {
    EXPECT_EQ(hex_of(of(command_kind::reset_protection)),
              "080706050403020118171615141312112423222134333231444342410a000101"
              "5857565554535251000000000000000000000000000000000000000029000000"
              "6463626100000000000000000000000000000000000000000000000000000100"
              "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    {
        command c = of(command_kind::change_phase);
        c.change_phase().product = product;
        c.change_phase().phase = trading_phase::closing_auction;
        c.change_phase().resume_time = moment;
        EXPECT_EQ(hex_of(c),
                  "080706050403020118171615141312112423222134333231444342410b000101"
                  "5857565554535251000000000000000000000000000000000000000029000000"
                  "6463626100000000000000000000000000000000000000009594939200050100"
                  "38373635343332310000000000000000787776757473727179007b7a807e7d7c");
    }
    EXPECT_EQ(hex_of(limited(command_kind::set_limits)),
              "080706050403020118171615141312112423222134333231444342410c000101"
              "5857565554535251000000000000000000000000000000009493929129000000"
              "64636261e4e3e2e1000000000000000000000000b4b3b2b10000000000000100"
              "3837363534333231c4c3c2c1f4f3f2f1787776757473727179007b7a807e7d7c");
    EXPECT_EQ(hex_of(limited(command_kind::set_account_limits)),
              "080706050403020118171615141312112423222134333231444342411c000101"
              "5857565554535251000000000000000000000000000000009493929129000000"
              "64636261e4e3e2e1000000000000000000000000b4b3b2b10000000000000100"
              "3837363534333231c4c3c2c1f4f3f2f1787776757473727179007b7a807e7d7c");
    EXPECT_EQ(hex_of(killed()),
              "080706050403020118171615141312112423222134333231444342410d000101"
              "5857565554535251000000000000000000000000000000000000000029000000"
              "64636261e4e3e2e1000000000000000000000000000000000000000002010100"
              "0000000000000000c4c3c2c1f4f3f2f1787776757473727179007b7a807e7d7c");
    {
        command c = of(command_kind::settle_instrument);
        c.settle_instrument().price = price;
        EXPECT_EQ(hex_of(c),
                  "080706050403020118171615141312112423222134333231444342410e000101"
                  "5857565554535251000000000000000088878685848382010000000029000000"
                  "6463626100000000000000000000000000000000000000000000000000000100"
                  "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::query_order);
        c.query_order().order = order;
        c.query_order().flags = 5;
        c.query_order().target_request = number;
        EXPECT_EQ(hex_of(c),
                  "0807060504030201181716151413121124232221343332314443424112000101"
                  "5857565554535251d8d7d6d5d4d3d2d100000000000000000000000029000500"
                  "64636261e4e3e2e1000000000000000000000000000000000000000000000100"
                  "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    }
}

TEST(command, has_the_bytes_that_journals_have_of_definitions_and_the_rest) {
    EXPECT_EQ(hex_of(defined(definition_field::option)),
              "080706050403020118171615141312112423222134333231444342411800020f"
              "0000000000000000888786858483820100000000000000004847464529000000"
              "6463626100000000898786858483822189878685848382510000000000000100"
              "38373635343332315457454e54592d464f55522d434841524143544552532d58");
    EXPECT_EQ(hex_of(defined(definition_field::legs)),
              "080706050403020118171615141312112423222134333231444342411800001d"
              "000000000000000084838281888786858c8b8a89908f8e8d4847464529040000"
              "6463626100000000898786858483822189878685848382510000000000000100"
              "38373635343332315457454e54592d464f55522d434841524143544552532d58");
    {
        command c = of(command_kind::cancel_on_disconnect);
        c.cancel_on_disconnect().state = switch_state::on;
        EXPECT_EQ(hex_of(c),
                  "0807060504030201181716151413121124232221343332314443424119000101"
                  "5857565554535251000000000000000000000000000000000000000029000000"
                  "6463626100000000000000000000000000000000000000000000000000010100"
                  "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::new_trading_day);
        c.new_trading_day().product = product;
        EXPECT_EQ(hex_of(c),
                  "080706050403020118171615141312112423222134333231444342411a000101"
                  "5857565554535251000000000000000000000000000000000000000029000000"
                  "6463626100000000000000000000000000000000000000009594939200000100"
                  "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::define_account);
        c.define_account().sessions_count = quantity.value;
        c.define_account().first_session = session_id{other_number};
        c.define_account().other_account = other_account;
        EXPECT_EQ(hex_of(c),
                  "080706050403020118171615141312112423222134333231444342411b000101"
                  "5857565554535251000000000000000000000000000000009493929129000000"
                  "6463626100000000000000000000000000000000000000000000000000000100"
                  "0000000000000000c4c3c2c1f4f3f2f1787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::reset_session_numbers);
        c.reset_session_numbers().day_begin = moment;
        EXPECT_EQ(hex_of(c),
                  "080706050403020118171615141312112423222134333231444342411d000101"
                  "5857565554535251000000000000000000000000000000000000000029000000"
                  "6463626100000000000000000000000000000000000000000000000000000100"
                  "38373635343332310000000000000000787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::count_messages);
        c.count_messages().number = 0xb1b2b3b4b5b6b7b8;
        c.count_messages().count = number;
        c.count_messages().next_answer = 0xc1c2c3c4c5c6c7c8;
        EXPECT_EQ(hex_of(c),
                  "080706050403020118171615141312112423222134333231444342411e000101"
                  "58575655545352510000000000000000b8b7b6b5b4b3b2b1e4e3e2e129000000"
                  "6463626100000000c8c7c6c5c4c3c2c100000000000000000000000000000100"
                  "00000000000000000000000000000000787776757473727179007b7a807e7d7c");
    }
    {
        command c = of(command_kind::name_order);
        c.payload.name_order.length = 63;
        c.payload.name_order.request_kind = 1;
        c.payload.name_order.text_1.fill('a');
        c.payload.name_order.text_2.fill('b');
        c.payload.name_order.text_3.fill('c');
        EXPECT_EQ(hex_of(c),
                  "080706050403020118171615141312112423222134333231444342411f000101"
                  "58575655545352516161616161616161616161616161616161616161293f0100"
                  "6463626162626262626262626262626262626262626262626262626262620163"
                  "63636363636363636363636363636363787776757473727179007b7a807e7d7c");
    }
}

// --- Long names ------------------------------------------------------------------------------------------------------

// Orders that are open when a venue is replaced are found by these.
TEST(long_name, a_text_has_the_same_id_for_ever) {
    EXPECT_EQ(long_name("order-0000012345").value, 18'191'523'273'031'104'292U);
    EXPECT_EQ(long_name("6ba7b810-9dad-11d1-80b4-00c04fd430c8").value, 18'090'971'651'979'647'550U);
    EXPECT_EQ(long_name(" ").value, 17'898'464'397'024'857'302U);
    EXPECT_EQ(long_name(std::string(63, '~')).value, 18'355'113'875'572'801'518U);
}

TEST(long_name, only_printable_texts_of_1_to_63_characters_have_one) {
    const std::string longest(long_name_characters_max, 'x');
    EXPECT_TRUE(is_long_name(long_name(longest)));
    for (const std::string& text : {std::string(), longest + "x", std::string("a\x01"), std::string("a\x7f"),
                                    std::string("\xc3\xb6"), std::string(1, '\0')}) {
        EXPECT_EQ(long_name(text).value, 0U) << text;
    }
    EXPECT_FALSE(is_long_name(client_order_id{UINT64_MAX})) << "free for marks";
    EXPECT_FALSE(is_long_name(client_order_id{long_names_begin - 1}));
}

TEST(long_name, a_command_and_its_events_have_the_text) {
    std::string text;
    while (text.size() < long_name_characters_max) {
        text += static_cast<char>('!' + text.size());
        const command c = name_order_of(text);
        EXPECT_EQ(c.client_order, long_name(text));
        EXPECT_EQ(long_name_of(c).view(), text);
        std::string joined;
        for (std::size_t part = 0; part < name_parts_count(text.size()); ++part) {
            const name_part said = name_part_of(text, part);
            EXPECT_EQ(said.part, part);
            EXPECT_EQ(said.length, text.size());
            joined.append(said.text.begin(), said.text.end());
        }
        EXPECT_EQ(joined.substr(0, text.size()), text);
        EXPECT_EQ(joined.find_first_not_of('\0', text.size()), std::string::npos);
    }
    command spoilt = name_order_of("x");
    spoilt.name_order().length = 255;
    EXPECT_EQ(long_name_of(spoilt).size, long_name_characters_max);
}

TEST(command, has_the_name_of_a_request_in_one_place_for_four_kinds) {
    for (const command_kind kind : {command_kind::amend_order, command_kind::cancel_order, command_kind::cancel_orders,
                                    command_kind::query_order}) {
        command c = of(kind);
        ASSERT_TRUE(c.may_have_name());
        EXPECT_EQ(c.request_name().value, 0U) << "none, as in journals that are older";
        std::string bytes = hex_of(c);
        c.request_name() = client_order_id{0xb1b2b3b4b5b6b7b8};
        bytes.replace(2 * 96, 16, "b8b7b6b5b4b3b2b1");
        EXPECT_EQ(hex_of(c), bytes);
    }
    for (const command_kind kind :
         {command_kind::enter_order, command_kind::enter_quote, command_kind::count_messages}) {
        EXPECT_FALSE(of(kind).may_have_name());
    }
}

TEST(command, says_which_order_it_names_in_one_place_for_three_kinds) {
    for (const command_kind kind : {command_kind::amend_order, command_kind::cancel_order, command_kind::query_order}) {
        command c = of(kind);
        ASSERT_TRUE(c.names_order());
        c.named_order() = order;
        c.named_request() = number;
        const bool is_amend = kind == command_kind::amend_order;
        const bool is_cancel = kind == command_kind::cancel_order;
        EXPECT_EQ(is_amend ? c.amend_order().order : is_cancel ? c.cancel_order().order : c.query_order().order, order);
        EXPECT_EQ(is_amend    ? c.amend_order().target_request
                  : is_cancel ? c.cancel_order().target_request
                              : c.query_order().target_request,
                  number);
    }
    EXPECT_FALSE(of(command_kind::cancel_orders).names_order());
}

// --- Kinds -----------------------------------------------------------------------------------------------------------

TEST(command_death_test, the_payload_of_another_kind_is_not_read_unnoticed) {
    const command entry = of(command_kind::enter_order);
    const command quote = of(command_kind::enter_quote);
    EXPECT_DEATH(static_cast<void>(entry.amend_order().price), "kind == expected");
    EXPECT_DEATH(static_cast<void>(quote.enter_order().price), "kind == expected");
    EXPECT_DEATH(static_cast<void>(quote.order_terms().side), "kind == expected");
    EXPECT_DEATH(static_cast<void>(entry.set_limits().firm), "set_account_limits");
    EXPECT_DEATH(static_cast<void>(entry.named_order()), "names_order");
    EXPECT_DEATH(static_cast<void>(entry.request_name()), "may_have_name");
    EXPECT_DEATH(static_cast<void>(definition_of(entry)), "kind == expected");
    EXPECT_DEATH(static_cast<void>(long_name_of(entry)), "kind == expected");
    EXPECT_DEATH(static_cast<void>(name_order_of("")), "id.value != 0");
    command written = quote;
    EXPECT_DEATH(written.kill_switch().state = switch_state::on, "kind == expected");
}

}  // namespace
}  // namespace corro::domain
