// SPDX-License-Identifier: Apache-2.0
#include "wire/binary_codec.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

#include "wire/messages_fixture.hpp"

namespace corro::wire {
namespace {

using domain::reject_reason;
using namespace std::string_view_literals;

/// Encodes a message into a heap buffer of its exact size.
template <class Message>
std::vector<std::byte> bytes_of(const Message& message, std::uint64_t sequence = 1) {
    std::vector<std::byte> bytes(Message::frame_bytes);
    EXPECT_EQ(encode(message, sequence, bytes), bytes.size());
    return bytes;
}

frame frame_in(const std::vector<std::byte>& bytes) {
    const auto found = next_frame(bytes);
    EXPECT_TRUE(found && *found);
    return found && *found ? **found : frame{};
}

void put(std::vector<std::byte>& bytes, std::size_t at, std::initializer_list<int> values) {
    for (const int value : values) bytes.at(at++) = static_cast<std::byte>(value);
}

/// A limit order for one contract of the E-mini at 5,000.25.
enter_order sound_order() {
    return {.client_order = domain::client_order_id{7},
            .price = domain::price_nano{5'000'250'000'000},
            .quantity = 1,
            .instrument = domain::instrument_id{1},
            .side = domain::side::sell,
            .order_type = domain::order_type::limit,
            .time_in_force = domain::time_in_force::gtc,
            .self_match_prevention = domain::self_match_prevention::decrement,
            .order_flags = domain::order_flag::post_only,
            .trigger_price = domain::no_price_nano};
}

reject_reason verdict_of(const enter_order& message) {
    domain::command command;
    const auto bytes = bytes_of(message);
    EXPECT_FALSE(decode_command(frame_in(bytes), made_instruments(), command));
    return command.verdict();
}

refusal refusal_of(const std::vector<std::byte>& bytes) {
    domain::command command;
    return decode_command(frame_in(bytes), made_instruments(), command);
}

// Layout.

TEST(binary_codec, lays_an_order_out_byte_by_byte_as_the_specification_says) {
    enter_order order = sound_order();
    order.display_quantity = 10;
    order.self_match_group = 9;
    order.expire_time = domain::time_ns{0x11};
    const auto bytes = bytes_of(order, 0x0102030405060708);
    constexpr std::string_view expected =
        "\x00\x48\x00\x10\x10\x1D\x00\x02"     // block length 72, template 16, schema 4125, version 2
        "\x01\x02\x03\x04\x05\x06\x07\x08"     // sequence
        "\x00\x00\x00\x00\x00\x00\x00\x07"     // client order
        "\x00\x00\x04\x8C\x36\x20\x02\x80"     // price 5,000,250,000,000
        "\x00\x00\x00\x00\x00\x00\x00\x01"     // quantity
        "\x00\x00\x00\x01\x01\x01\x02\x04"     // instrument, sell, limit, gtc, decrement
        "\x01\x00\x00\x00\x00\x00\x00\x09"     // post-only, self-match group
        "\x80\x00\x00\x00\x00\x00\x00\x00"     // no trigger price
        "\x00\x00\x00\x00\x00\x00\x00\x0A"     // display quantity
        "\x00\x00\x00\x00\x00\x00\x00\x00"     // no minimum quantity
        "\x00\x00\x00\x00\x00\x00\x00\x11"sv;  // expire time
    ASSERT_EQ(bytes.size(), expected.size());
    for (std::size_t at = 0; at < expected.size(); ++at) {
        EXPECT_EQ(std::to_integer<int>(bytes[at]), static_cast<unsigned char>(expected[at])) << "offset " << at;
    }
}

TEST(binary_codec, reads_an_order_into_ticks_and_lots) {
    domain::command command;
    const auto bytes = bytes_of(sound_order(), 99);
    ASSERT_FALSE(decode_command(frame_in(bytes), made_instruments(), command));
    EXPECT_EQ(command.verdict(), reject_reason::none);
    EXPECT_EQ(command.kind, domain::command_kind::enter_order);
    EXPECT_EQ(command.request(), 99U);
    EXPECT_EQ(command.enter_order().price, domain::price_ticks{20'001});
    EXPECT_EQ(command.enter_order().quantity, domain::quantity_lots{1});
    EXPECT_EQ(command.order_terms().side, domain::side::sell);
    EXPECT_EQ(command.enter_order().flags, domain::order_flag::post_only);
}

TEST(binary_codec, foresees_which_order_a_request_names) {
    domain::prefetch_hint seen;
    ASSERT_TRUE(decode_prefetch_hint(frame_in(bytes_of(sound_order(), 9)), seen));
    EXPECT_EQ(seen.client_order.value, 7U);
    EXPECT_EQ(seen.instrument.value, 1U);
    EXPECT_EQ(seen.request, 9U);
    EXPECT_TRUE(seen.enters);
    cancel_order cancel;
    cancel.client_order = domain::client_order_id{8};
    cancel.instrument = domain::instrument_id{2};
    ASSERT_TRUE(decode_prefetch_hint(frame_in(bytes_of(cancel, 10)), seen));
    EXPECT_EQ(seen.client_order.value, 8U);
    EXPECT_EQ(seen.instrument.value, 2U);
    EXPECT_FALSE(seen.enters);
    amend_order amend;
    amend.client_order = domain::client_order_id{6};
    ASSERT_TRUE(decode_prefetch_hint(frame_in(bytes_of(amend, 11)), seen));
    EXPECT_EQ(seen.client_order.value, 6U);
    EXPECT_FALSE(seen.enters);
    EXPECT_FALSE(decode_prefetch_hint(frame_in(bytes_of(heartbeat{})), seen)) << "it names no order";
}

TEST(binary_codec, foresees_nothing_in_a_block_that_is_too_short) {
    auto bytes = bytes_of(sound_order());
    put(bytes, 0, {0, 8});
    bytes.resize(header_bytes + 8);
    domain::prefetch_hint seen;
    EXPECT_FALSE(decode_prefetch_hint(frame_in(bytes), seen));
}

TEST(binary_codec, a_value_comes_back_out_of_its_view) {
    hello sent{.account = domain::account_id{11},
               .session_number = 2,
               .next_sequence = domain::sequence_number{1'000},
               .heartbeat_interval_ms = 1'000,
               .protocol_version = protocol_version,
               .hello_flags = hello_flag::cancel_on_disconnect,
               .key_id = 5};
    sent.client_nonce.fill(std::byte{0x11});
    sent.proof.fill(std::byte{0x22});
    const auto bytes = bytes_of(sent, 0);
    const frame received = frame_in(bytes);
    ASSERT_FALSE(check(received));
    EXPECT_EQ(hello_view{received}.value(), sent);
}

TEST(binary_codec, carries_an_instrument_definition_both_ways) {
    for (std::uint32_t id = 1; id <= instruments_made; ++id) {
        const domain::instrument sent = made_instrument(id);
        std::array<std::byte, message_bytes_max> buffer;
        const std::size_t size = encode(sent, 0, buffer);
        ASSERT_EQ(size, instrument_definition::frame_bytes);
        const auto found = next_frame(std::span{buffer}.first(size));
        ASSERT_TRUE(found && *found);
        const auto received = decode_instrument(**found);
        ASSERT_TRUE(received);
        EXPECT_EQ(received->id, sent.id);
        EXPECT_EQ(received->product, sent.product);
        EXPECT_EQ(received->name, sent.name);
        EXPECT_EQ(received->kind, sent.kind);
        EXPECT_EQ(received->tick_size, sent.tick_size);
        EXPECT_EQ(received->lot_size, sent.lot_size);
        EXPECT_EQ(received->price_low, sent.price_low);
        EXPECT_EQ(received->price_high, sent.price_high);
        EXPECT_EQ(received->order_quantity_max, sent.order_quantity_max);
        EXPECT_EQ(received->right, sent.right);
        EXPECT_EQ(received->strike, sent.strike);
        EXPECT_EQ(received->expiry, sent.expiry);
        EXPECT_EQ(received->legs_count, sent.legs_count);
        EXPECT_EQ(received->implied, id == 2);
    }
}

TEST(binary_codec, carries_the_legs_of_a_strategy_behind_its_definition) {
    const domain::instrument sent = made_instrument(2);
    instrument_table received;
    const auto take_leg = [&](std::size_t index) {
        std::array<std::byte, message_bytes_max> buffer;
        const std::size_t size = encode_leg(sent, index, 0, buffer);
        EXPECT_EQ(size, instrument_leg::frame_bytes);
        return decode_leg(**next_frame(std::span{buffer}.first(size)), received);
    };
    EXPECT_EQ(take_leg(0), wire_errc::unknown_instrument) << "before its strategy";
    domain::instrument bare = sent;
    bare.legs = {};
    received.define(bare);
    EXPECT_FALSE(take_leg(1));
    EXPECT_FALSE(take_leg(0));
    EXPECT_EQ(received.find(sent.id)->legs, sent.legs);
    EXPECT_EQ(take_leg(sent.legs_count), wire_errc::malformed_field) << "there is no third leg";
}

TEST(binary_codec, refuses_an_unsound_instrument_definition) {
    const instrument_definition sound{.instrument = domain::instrument_id{1},
                                      .symbol = domain::symbol{"X"},
                                      .tick_size = domain::price_nano{5},
                                      .price_low = domain::price_nano{0},
                                      .price_high = domain::price_nano{100},
                                      .quantity_max = 10,
                                      .lot_size = 2};
    const auto error_with = [&](auto change) {
        instrument_definition message = sound;
        change(message);
        const auto bytes = bytes_of(message);
        const auto received = decode_instrument(frame_in(bytes));
        return received ? std::error_code{} : received.error();
    };
    EXPECT_FALSE(error_with([](instrument_definition&) {}));
    EXPECT_EQ(error_with([](auto& m) { m.tick_size = domain::price_nano{0}; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.tick_size = domain::price_nano{-5}; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.lot_size = 0; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.price_high = domain::price_nano{101}; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.price_low = domain::no_price_nano; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.quantity_max = 11; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.quantity_max = -10; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.instrument = domain::instrument_id{0}; }), wire_errc::malformed_field);
    EXPECT_EQ(error_with([](auto& m) { m.symbol = domain::symbol{}; }), wire_errc::malformed_field);
    const auto order = bytes_of(sound_order());
    EXPECT_EQ(decode_instrument(frame_in(order)).error(), wire_errc::unknown_type);
}

// Frames.

TEST(binary_codec_frame, waits_for_the_rest_of_a_truncated_frame_at_every_cut) {
    const auto whole = bytes_of(sound_order());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const auto found = next_frame(cut);
        ASSERT_TRUE(found) << size;
        EXPECT_FALSE(*found) << size;
    }
}

TEST(binary_codec_frame, breaks_on_another_schema_as_soon_as_the_header_is_there) {
    auto bytes = bytes_of(sound_order());
    put(bytes, 4, {0x10, 0x1C});
    bytes.resize(header_bytes);
    EXPECT_EQ(next_frame(bytes).error(), wire_errc::foreign_format);
}

TEST(binary_codec_frame, breaks_on_garbage) {
    constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: exchange\r\n\r\n";
    std::vector<std::byte> bytes;
    for (const char c : request) bytes.push_back(static_cast<std::byte>(c));
    EXPECT_EQ(next_frame(bytes).error(), wire_errc::foreign_format);
}

TEST(binary_codec_frame, breaks_on_version_zero) {
    auto bytes = bytes_of(sound_order());
    put(bytes, 6, {0, 0});
    EXPECT_EQ(next_frame(bytes).error(), wire_errc::unsupported_version);
}

TEST(binary_codec_frame, breaks_on_a_block_that_is_no_multiple_of_eight) {
    auto bytes = bytes_of(sound_order());
    put(bytes, 0, {0, 41});
    EXPECT_EQ(next_frame(bytes).error(), wire_errc::malformed_length);
}

TEST(binary_codec_frame, breaks_on_a_frame_longer_than_the_limit_and_takes_one_at_the_limit) {
    std::vector<std::byte> bytes = bytes_of(sound_order());
    bytes.resize(frame_bytes_max);
    const std::size_t longest = frame_bytes_max - header_bytes;
    put(bytes, 0, {static_cast<int>(longest >> 8), static_cast<int>(longest & 0xFF)});
    const auto found = next_frame(bytes);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->size(), frame_bytes_max);
    put(bytes, 0, {static_cast<int>((longest + 8) >> 8), static_cast<int>((longest + 8) & 0xFF)});
    EXPECT_EQ(next_frame(bytes).error(), wire_errc::too_large);
    put(bytes, 0, {0xFF, 0xF8});
    EXPECT_EQ(next_frame(bytes).error(), wire_errc::too_large);
}

TEST(binary_codec_frame, takes_a_longer_block_from_a_newer_version_and_ignores_what_it_appends) {
    auto bytes = bytes_of(sound_order());
    bytes.resize(bytes.size() + 8, std::byte{0xFF});
    put(bytes, 0, {0, 80});
    put(bytes, 6, {0, 2});
    domain::command command;
    const frame received = frame_in(bytes);
    EXPECT_EQ(received.version, 2);
    EXPECT_EQ(received.size(), bytes.size());
    ASSERT_FALSE(decode_command(received, made_instruments(), command));
    EXPECT_EQ(command.enter_order().price, domain::price_ticks{20'001});
}

// Messages that the protocol forbids. The frame is valid; the error states the place.

TEST(binary_codec_refusal, names_an_unknown_template) {
    auto bytes = bytes_of(sound_order());
    put(bytes, 2, {0x7F, 0xFF});
    EXPECT_EQ(refusal_of(bytes), (refusal{session_reject_reason::unknown_template, 0}));
    EXPECT_EQ(check(frame_in(bytes)), (refusal{session_reject_reason::unknown_template, 0}));
    EXPECT_EQ(to_string(frame_in(bytes).message), "unknown");
}

TEST(binary_codec_refusal, does_not_take_another_message_for_a_request) {
    EXPECT_EQ(refusal_of(bytes_of(heartbeat{})), (refusal{session_reject_reason::unexpected_message, 0}));
    EXPECT_EQ(refusal_of(bytes_of(order_entered{})), (refusal{session_reject_reason::unexpected_message, 0}));
}

TEST(binary_codec_refusal, finds_a_block_shorter_than_its_message) {
    auto bytes = bytes_of(sound_order());
    put(bytes, 0, {0, 32});
    bytes.resize(header_bytes + 32);
    EXPECT_EQ(refusal_of(bytes), (refusal{session_reject_reason::block_too_short, 0}));
    put(bytes, 0, {0, 0});
    bytes.resize(header_bytes);
    EXPECT_EQ(refusal_of(bytes), (refusal{session_reject_reason::block_too_short, 0}));
}

TEST(binary_codec_refusal, names_the_field_of_each_number_that_an_enumeration_does_not_have) {
    constexpr std::size_t block = header_bytes;
    const auto with = [](std::size_t at, int value) {
        auto bytes = bytes_of(sound_order());
        put(bytes, at, {value});
        return refusal_of(bytes);
    };
    EXPECT_EQ(with(block + 28, 2), (refusal{session_reject_reason::invalid_value, 36})) << "side";
    EXPECT_EQ(with(block + 29, 8), (refusal{session_reject_reason::invalid_value, 37})) << "order_type";
    EXPECT_EQ(with(block + 30, 8), (refusal{session_reject_reason::invalid_value, 38})) << "time_in_force";
    EXPECT_EQ(with(block + 31, 255), (refusal{session_reject_reason::invalid_value, 39})) << "self_match_prevention";
    EXPECT_EQ(with(block + 32, 8), (refusal{session_reject_reason::undefined_flags, 40})) << "order_flags";
    EXPECT_FALSE(with(block + 33, 0xFF)) << "reserved bytes are ignored";
    auto bytes = bytes_of(cancel_orders{});
    put(bytes, block + 4, {2});
    EXPECT_EQ(refusal_of(bytes), (refusal{session_reject_reason::invalid_value, 43})) << "cancel_scope";
}

TEST(binary_codec_refusal, keeps_the_heartbeat_interval_in_its_range) {
    const auto with = [](std::uint32_t interval_ms) {
        const auto bytes = bytes_of(hello{.heartbeat_interval_ms = interval_ms});
        return check(frame_in(bytes));
    };
    EXPECT_EQ(with(99), (refusal{session_reject_reason::out_of_range, 9}));
    EXPECT_FALSE(with(100));
    EXPECT_FALSE(with(60'000));
    EXPECT_EQ(with(60'001), (refusal{session_reject_reason::out_of_range, 9}));
}

TEST(binary_codec_refusal, does_not_take_a_request_number_beyond_32_bits) {
    EXPECT_FALSE(refusal_of(bytes_of(sound_order(), 0xFFFF'FFFF)));
    EXPECT_EQ(refusal_of(bytes_of(sound_order(), 0x1'0000'0000)),
              (refusal{session_reject_reason::sequence_exhausted, 0}));
}

// Requests that the market forbids. The codec makes a command with a verdict.

TEST(binary_codec_verdict, knows_no_other_instruments_than_the_defined_ones) {
    for (const std::uint32_t id : {0U, instruments_made + 1, 0xFFFF'FFFFU}) {
        enter_order message = sound_order();
        message.instrument = domain::instrument_id{id};
        EXPECT_EQ(verdict_of(message), reject_reason::unknown_instrument) << id;
        domain::command command;
        const auto amend = bytes_of(amend_order{.instrument = domain::instrument_id{id}});
        EXPECT_FALSE(decode_command(frame_in(amend), made_instruments(), command));
        EXPECT_EQ(command.verdict(), reject_reason::unknown_instrument) << id;
        const auto cancel = bytes_of(cancel_order{.instrument = domain::instrument_id{id}});
        EXPECT_FALSE(decode_command(frame_in(cancel), made_instruments(), command));
        EXPECT_EQ(command.verdict(), reject_reason::unknown_instrument) << id;
        const auto cancels = bytes_of(cancel_orders{.instrument = domain::instrument_id{id}});
        EXPECT_FALSE(decode_command(frame_in(cancels), made_instruments(), command));
        EXPECT_EQ(command.verdict(), id == 0 ? reject_reason::none : reject_reason::unknown_instrument) << id;
    }
}

TEST(binary_codec_verdict, refuses_quantities_that_are_zero_negative_or_too_large) {
    for (const std::int64_t quantity :
         {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max(), std::int64_t{domain::order_quantity_lots_max} + 1}) {
        enter_order message = sound_order();
        message.quantity = quantity;
        EXPECT_EQ(verdict_of(message), reject_reason::invalid_quantity) << quantity;
    }
}

TEST(binary_codec_verdict, refuses_a_quantity_off_the_lot) {
    enter_order message = sound_order();
    message.instrument = domain::instrument_id{2};
    message.price = domain::price_nano{1};
    message.quantity = 250;
    EXPECT_EQ(verdict_of(message), reject_reason::quantity_off_lot);
    message.quantity = 300;
    EXPECT_EQ(verdict_of(message), reject_reason::none);
}

TEST(binary_codec_verdict, refuses_a_price_off_the_tick_beyond_the_range_or_missing) {
    enter_order message = sound_order();
    message.price = domain::price_nano{5'000'250'000'001};
    EXPECT_EQ(verdict_of(message), reject_reason::price_off_tick);
    message.price = domain::price_nano{250'000'000 * (domain::price_ticks_max + 1)};
    EXPECT_EQ(verdict_of(message), reject_reason::invalid_price);
    message.price = domain::no_price_nano;
    EXPECT_EQ(verdict_of(message), reject_reason::invalid_price);
    message.price = domain::price_nano{std::numeric_limits<std::int64_t>::max()};
    EXPECT_EQ(verdict_of(message), reject_reason::price_off_tick);
}

TEST(binary_codec_verdict, does_not_look_at_the_price_of_a_market_order) {
    enter_order message = sound_order();
    message.order_type = domain::order_type::market;
    message.price = domain::price_nano{1};
    domain::command command;
    const auto bytes = bytes_of(message);
    ASSERT_FALSE(decode_command(frame_in(bytes), made_instruments(), command));
    EXPECT_EQ(command.verdict(), reject_reason::none);
    EXPECT_EQ(command.enter_order().price, domain::price_ticks{0});
}

TEST(binary_codec_verdict, leaves_nothing_of_an_earlier_command_behind) {
    domain::command command;
    command.enter_order().price = domain::price_ticks{1};
    command.session = domain::session_id{1};
    command.set_arrival(1, 1);
    const auto bytes = bytes_of(cancel_orders{});
    ASSERT_FALSE(decode_command(frame_in(bytes), made_instruments(), command));
    EXPECT_EQ(command.payload.enter_order.price, domain::price_ticks{0});
    EXPECT_EQ(command.session, domain::session_id{0});
    EXPECT_EQ(command.arrival().number, 0U);
}

// Events.

TEST(binary_codec_event, totals_too_large_for_the_wire_stay_at_its_limit) {
    domain::event sent;
    sent.kind = domain::event_kind::statistics;
    sent.instrument = domain::instrument_id{4};
    sent.volumes = {.volume = domain::volume_lots{std::numeric_limits<std::uint64_t>::max()}, .turnover = -1};
    std::array<std::byte, message_bytes_max> buffer;
    const std::size_t size = encode(sent, made_instrument(4), 1, buffer);
    const auto found = next_frame(std::span{buffer}.first(size));
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(statistics_view{**found}.volume(), std::numeric_limits<std::int64_t>::max());
    domain::event received;
    EXPECT_FALSE(decode_event(**found, made_instruments(), received));
    EXPECT_EQ(received.volumes.turnover, -1);
}

TEST(binary_codec_event, a_refusal_that_names_no_instrument_comes_through) {
    domain::event sent;
    sent.kind = domain::event_kind::order_rejected;
    sent.reason = reject_reason::unknown_instrument;
    sent.instrument = domain::instrument_id{77};
    sent.order = {.client_order = domain::client_order_id{5}, .request = 9};
    const instrument_table instruments = made_instruments();
    std::array<std::byte, message_bytes_max> buffer;
    const std::size_t size = encode(sent, instruments.find_or_nameless(sent.instrument), 1, buffer);
    const auto found = next_frame(std::span{buffer}.first(size));
    ASSERT_TRUE(found && *found);
    domain::event received;
    ASSERT_FALSE(decode_event(**found, instruments, received));
    EXPECT_EQ(received.instrument, sent.instrument);
    EXPECT_EQ(received.reason, sent.reason);
    EXPECT_EQ(received.order.request, 9U);
}

TEST(binary_codec_event, says_what_is_wrong_with_a_derived_message) {
    const instrument_table instruments = made_instruments();
    domain::event event;
    const auto error_of = [&](const std::vector<std::byte>& bytes) {
        return decode_event(frame_in(bytes), instruments, event);
    };
    const trade sound{.instrument = domain::instrument_id{2}, .price = domain::price_nano{3}, .quantity = 100};
    EXPECT_FALSE(error_of(bytes_of(sound)));
    trade message = sound;
    message.instrument = domain::instrument_id{instruments_made + 1};
    EXPECT_EQ(error_of(bytes_of(message)), wire_errc::unknown_instrument);
    message = sound;
    message.quantity = 150;
    EXPECT_EQ(error_of(bytes_of(message)), wire_errc::malformed_field) << "off the lot";
    message.quantity = -100;
    EXPECT_EQ(error_of(bytes_of(message)), wire_errc::malformed_field) << "negative";
    message = sound;
    message.instrument = domain::instrument_id{1};
    EXPECT_EQ(error_of(bytes_of(message)), wire_errc::malformed_field) << "off the tick";
    auto bytes = bytes_of(sound);
    put(bytes, header_bytes + 21, {255});
    EXPECT_EQ(error_of(bytes), wire_errc::malformed_field) << "no such reason";
    bytes = bytes_of(sound);
    put(bytes, 0, {0, 40});
    bytes.resize(bytes.size() - 8);
    EXPECT_EQ(error_of(bytes), wire_errc::malformed_length);
    EXPECT_EQ(error_of(bytes_of(heartbeat{})), wire_errc::unknown_type);
}

// Logon.

TEST(binary_codec_logon, lays_out_label_nonce_and_the_block_up_to_the_proof) {
    hello message{.account = domain::account_id{0x01020304},
                  .session_number = 5,
                  .heartbeat_interval_ms = 1'000,
                  .hello_flags = hello_flag::cancel_on_disconnect};
    std::array<std::byte, 32> nonce;
    nonce.fill(std::byte{0xEE});
    const auto input = logon_proof_input(nonce, message);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(input.data()), 13), "corro-logon-1");
    EXPECT_EQ(input[13], std::byte{0xEE});
    EXPECT_EQ(input[44], std::byte{0xEE});
    EXPECT_EQ(load_be<std::uint32_t>(input.data() + 45), 0x01020304U);
    const auto bytes = bytes_of(message);
    EXPECT_TRUE(std::equal(input.begin() + 45, input.end(), bytes.begin() + header_bytes));
}

TEST(binary_codec_logon, every_field_changes_what_is_proved_and_the_proof_does_not) {
    const std::array<std::byte, 32> nonce{};
    const auto plain = logon_proof_input(nonce, hello{});
    const auto changed = [&](auto change) {
        hello message;
        change(message);
        return logon_proof_input(nonce, message) != plain;
    };
    EXPECT_TRUE(changed([](hello& h) { h.account.value = 1; }));
    EXPECT_TRUE(changed([](hello& h) { h.session_number = 1; }));
    EXPECT_TRUE(changed([](hello& h) { h.next_sequence.value = 1; }));
    EXPECT_TRUE(changed([](hello& h) { h.heartbeat_interval_ms = 1; }));
    EXPECT_TRUE(changed([](hello& h) { h.protocol_version = 1; }));
    EXPECT_TRUE(changed([](hello& h) { h.hello_flags = 1; }));
    EXPECT_TRUE(changed([](hello& h) { h.key_id = 1; }));
    EXPECT_TRUE(changed([](hello& h) { h.client_nonce[15] = std::byte{1}; }));
    EXPECT_FALSE(changed([](hello& h) { h.proof[0] = std::byte{1}; }));
    EXPECT_NE(logon_proof_input({std::byte{1}}, hello{}), plain);
}

}  // namespace
}  // namespace corro::wire
