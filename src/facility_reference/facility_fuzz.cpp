// SPDX-License-Identifier: Apache-2.0
// Turns bytes into commands; the reference is the oracle. Each command takes 32 bytes, so that most inputs are nearly
// valid. One kind of record copies its bytes over the whole command, so that the fuzzer reaches every field.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "domain/definition.hpp"
#include "facility_reference/differential.hpp"

namespace {

using corro::domain::command;
using namespace corro;

/// An instrument like one of the first few, with a name that another one soon has.
[[nodiscard]] command definition_from(const std::uint8_t* bytes) {
    domain::definition d;
    d.id = domain::instrument_id{bytes[3] % 8U};
    d.like = domain::instrument_id{bytes[4] % 8U};
    d.name.characters[0] = static_cast<char>(bytes[5] < 200 ? 'A' + bytes[5] % 4 : bytes[5]);
    d.given = bytes[6];
    d.right = static_cast<domain::option_right>(bytes[7] % 4);
    d.strike = domain::price_nano{bytes[8]};
    d.price_low = domain::price_nano{static_cast<std::int8_t>(bytes[9])};
    d.price_high = domain::price_nano{bytes[10]};
    d.expiry = domain::time_ns{static_cast<std::int8_t>(bytes[13])};
    d.legs_count = bytes[14] % 6;
    for (std::size_t i = 0; i < d.legs.size(); ++i) d.legs[i] = domain::instrument_id{bytes[18 + i] % 8U};
    command c = domain::command_of(d);
    c.set_operator((bytes[12] & 1) != 0);
    return c;
}

[[nodiscard]] command command_from(const std::uint8_t* bytes, const std::vector<domain::order_id>& ids) {
    command c;
    if (bytes[0] == 0xff) {
        auto* whole = reinterpret_cast<std::uint8_t*>(&c);
        for (std::size_t i = 0; i < 31; ++i) whole[(bytes[1 + i] * 7 + i) % sizeof(command)] = bytes[31 - i];
        return c;
    }
    // Kind 7 does not exist.
    if (bytes[0] % 15 == 7) return definition_from(bytes);
    // Nor does kind 0. Three kinds are far behind the others.
    constexpr std::uint8_t far_kinds[]{0, static_cast<std::uint8_t>(domain::command_kind::query_order),
                                       static_cast<std::uint8_t>(domain::command_kind::count_messages),
                                       static_cast<std::uint8_t>(domain::command_kind::name_order)};
    c.kind = static_cast<domain::command_kind>(bytes[0] % 15 == 0 ? far_kinds[bytes[31] % 4] : bytes[0] % 15);
    c.set_operator((bytes[12] & 1) != 0);
    c.payload.amend_order.other_account = domain::account_id{bytes[6] % 4U};
    c.account = domain::account_id{bytes[1] % 4U};
    c.session = domain::session_id{bytes[2] % 4U};
    c.instrument = domain::instrument_id{bytes[3] % 4U};
    c.terms.order.side = static_cast<domain::side>(bytes[4] & 1);
    c.terms.order.type = static_cast<domain::order_type>(bytes[5] < 128 ? 1 : bytes[5] % 9);
    c.terms.order.time_in_force = static_cast<domain::time_in_force>(bytes[6] % 7);
    c.payload.enter_order.self_match_group = bytes[7] < 128 ? 0U : bytes[7] % 3U;
    c.payload.enter_order.self_match_prevention = static_cast<domain::self_match_prevention>(bytes[7] % 6);
    c.payload.enter_order.flags = bytes[8] < 200 ? 0 : bytes[8] & 31;
    c.payload.cancel_orders.scope = static_cast<domain::cancel_scope>(bytes[9] % 3);
    c.client_order = domain::client_order_id{bytes[10] % 8U};
    c.set_request(bytes[11] % 16);
    c.payload.amend_order.target_request = bytes[12] < 128 ? 0 : bytes[12] % 16;
    c.payload.enter_order.quantity = domain::quantity_lots{bytes[13]};
    std::int16_t near = 0;
    std::memcpy(&near, bytes + 14, 2);
    c.payload.enter_order.price = domain::price_ticks{bytes[16] < 200 ? near % 8 : std::int64_t{near} * 100'000};
    c.payload.enter_order.trigger_price = domain::price_ticks{static_cast<std::int8_t>(bytes[20]) % 8};
    c.payload.enter_order.display_quantity = domain::quantity_lots{bytes[21] < 200 ? 0U : bytes[21] % 4U};
    c.payload.enter_order.minimum_quantity = domain::quantity_lots{bytes[22] < 220 ? 0U : bytes[22] % 8U};
    c.payload.cancel_orders.sides = static_cast<domain::cancel_sides>(bytes[23] % 4);
    c.payload.enter_quote.ask_price = domain::price_ticks{static_cast<std::int8_t>(bytes[24]) % 8};
    c.payload.enter_quote.ask_quantity = domain::quantity_lots{bytes[25] % 16U};
    c.payload.set_protection.fills_max = bytes[26] % 4U;
    c.payload.set_protection.window_ms = bytes[27] % 8U;
    c.payload.cancel_orders.product = domain::product_id{bytes[28] < 200 ? 0U : bytes[28] % 3U};
    if (!ids.empty() && bytes[17] >= 100) c.payload.amend_order.order = ids[bytes[18] % ids.size()];
    if (c.may_have_name()) c.request_name() = domain::client_order_id{bytes[30] < 128 ? 0U : bytes[30] % 8U};
    if (bytes[17] == 99) c.payload.amend_order.order = domain::order_id{(std::uint64_t{bytes[19]} << 32) | bytes[18]};
    return c;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    domain::instrument banded = facility::testing::wide_instrument(2);
    banded.price_low = domain::price_ticks{-5};
    banded.price_high = domain::price_ticks{500'000};
    banded.order_quantity_max = domain::quantity_lots{100};
    banded.dynamic_band = 6;
    banded.breaker_move = 4;
    banded.breaker_window = 10;
    banded.breaker_halt = 5;
    banded.allocation = {.algorithm = domain::match_algorithm::split,
                         .levels = true,
                         .fifo_percent = 40,
                         .top_maximum = 3,
                         .makers = {domain::lead_market_maker{domain::account_id{1}, 30}}};
    const domain::instrument instruments[]{facility::testing::wide_instrument(1), banded};
    facility::testing::twin both(
        {.orders_max = 16, .accounts_max = 3, .positions_max = 5, .window_bits = 6, .instruments_reserved = 2},
        instruments);
    std::vector<domain::order_id> ids;
    std::int64_t now = 0;
    constexpr std::size_t record_size = 32;
    for (std::size_t at = 0; at + record_size <= size && at < 400 * record_size; at += record_size) {
        command c = command_from(data + at, ids);
        c.sequence = domain::sequence_number{at / record_size + 1};
        now += std::int64_t{data[at + 29]} * 20'000;
        if (data[at] != 0xff) c.time = domain::time_ns{now};
        if (c.terms.order.time_in_force == domain::time_in_force::gtd)
            c.payload.enter_order.expire_time.value = c.time.value + data[at + 19] % 8;
        const std::string difference = both.apply(c);
        if (!difference.empty()) {
            std::fprintf(stderr, "%s\n", difference.c_str());
            std::abort();
        }
        for (const domain::event& e : both.events()) {
            if (e.kind == domain::event_kind::order_entered && ids.size() < 64) ids.push_back(e.order.order);
        }
    }
    return 0;
}
