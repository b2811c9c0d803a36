// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/itch.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "recorded/formats/record_decoder.hpp"

namespace corro::recorded::itch {

static_assert(record_decoder<decoder>);

namespace {

constexpr std::size_t length_bytes = 2;
constexpr std::int64_t day_ns = 86'400'000'000'000;
/// Prices in the file are in units of this many billionths.
constexpr std::int64_t price_unit_nano = 100'000;

// The bodies, as offsets from the type:
//
//   S   11 code 1
//   R   11 stock 8, 19 market 1, 20 financial status 1, 21 round lot 4, 25 round lots only 1, 26 class 1, 27 subtype 2,
//       29 authenticity 1, 30 short sale threshold 1, 31 offering 1, 32 price band tier 1, 33 exchange traded 1,
//       34 leverage 4, 38 inverse 1
//   H   11 stock 8, 19 state 1, 20 reserved 1, 21 reason 4
//   A F 11 order 8, 19 side 1, 20 shares 4, 24 stock 8, 32 price 4; F: 36 participant 4
//   E C 11 order 8, 19 shares 4, 23 match 8; C: 31 printable 1, 32 price 4
//   X   11 order 8, 19 shares 4
//   D   11 order 8
//   U   11 order 8, 19 new order 8, 27 shares 4, 31 price 4
//   P   11 order 8 (always 0 since 2010), 19 side 1, 20 shares 4, 24 stock 8, 32 price 4, 36 match 8
//   Q   11 shares 8, 19 stock 8, 27 price 4, 31 match 8, 39 cross type 1
//   B   11 match 8

std::int64_t time_at(const std::byte* message) noexcept {
    return static_cast<std::int64_t>(std::uint64_t{base::load_be<std::uint16_t>(message + 5)} << 32 |
                                     base::load_be<std::uint32_t>(message + 7));
}

/// Text without the spaces after it.
std::string_view text_at(const std::byte* at, std::size_t size) noexcept {
    while (size != 0 && at[size - 1] == std::byte{' '}) --size;
    return {reinterpret_cast<const char*>(at), size};
}

char char_at(const std::byte* at) noexcept {
    return static_cast<char>(*at);
}

domain::price_nano price_at(const std::byte* at) noexcept {
    return domain::price_nano{base::load_be<std::uint32_t>(at) * price_unit_nano};
}

domain::side side_at(const std::byte* at) noexcept {
    return char_at(at) == 'B' ? domain::side::buy : domain::side::sell;
}

/// Checks fields one by one and keeps the offset of the first wrong one.
class field_check {
 public:
    explicit field_check(const std::byte* message) noexcept : message_(message) {}

    field_check& one_of(std::size_t offset, std::string_view allowed) noexcept {
        if (wrong_ == 0 && allowed.find(char_at(message_ + offset)) == std::string_view::npos) wrong_ = offset;
        return *this;
    }
    field_check& printable(std::size_t offset, std::size_t size) noexcept {
        const auto shown = [](std::byte b) { return b >= std::byte{' '} && b <= std::byte{'~'}; };
        if (wrong_ == 0 && !std::all_of(message_ + offset, message_ + offset + size, shown)) wrong_ = offset;
        return *this;
    }
    /// The offset of the first wrong field; 0, the offset of the type, when there is none.
    [[nodiscard]] std::size_t wrong() const noexcept { return wrong_; }

 private:
    const std::byte* message_;
    std::size_t wrong_ = 0;
};

/// The rules of a type; all zero for types that are not in the specification.
struct type_rule {
    std::uint8_t bytes = 0;
    bool is_record = false;
};

constexpr auto type_rules = [] {
    std::array<type_rule, 256> rules{};
    const auto record = [&](message_type type, std::uint8_t bytes) {
        rules[static_cast<unsigned char>(type)] = {bytes, true};
    };
    record(message_type::add_order, 36);
    record(message_type::add_order_attributed, 40);
    record(message_type::order_executed, 31);
    record(message_type::order_executed_with_price, 36);
    record(message_type::order_cancel, 23);
    record(message_type::order_delete, 19);
    record(message_type::order_replace, 35);
    record(message_type::trade, 44);
    record(message_type::cross_trade, 40);
    record(message_type::broken_trade, 19);
    record(message_type::system_event, 12);
    record(message_type::stock_directory, 39);
    record(message_type::trading_action, 25);
    rules['Y'].bytes = 20;  // short sale price test
    rules['L'].bytes = 26;  // market participant position
    rules['V'].bytes = 35;  // circuit breaker levels
    rules['W'].bytes = 12;  // circuit breaker status
    rules['K'].bytes = 28;  // quoting period of an offering
    rules['J'].bytes = 35;  // auction collar
    rules['h'].bytes = 21;  // operational halt
    rules['I'].bytes = 50;  // net order imbalance
    rules['N'].bytes = 20;  // retail interest
    rules['O'].bytes = 48;  // direct listing with capital raise
    return rules;
}();

/// The offset of the first wrong field; 0 when there is none.
std::size_t wrong_field(message_type type, const std::byte* message) noexcept {
    field_check check{message};
    switch (type) {
        case message_type::system_event: check.one_of(11, "OSQMEC"); break;
        case message_type::stock_directory:
            check.printable(11, 10).one_of(25, "YN").printable(26, 3).one_of(29, "PT").printable(30, 4);
            check.printable(38, 1);
            break;
        case message_type::trading_action: check.printable(11, 8).one_of(19, "HPQT").printable(21, 4); break;
        case message_type::add_order: check.one_of(19, "BS").printable(24, 8); break;
        case message_type::add_order_attributed: check.one_of(19, "BS").printable(24, 8).printable(36, 4); break;
        case message_type::order_executed_with_price: check.one_of(31, "YN"); break;
        case message_type::trade: check.one_of(19, "BS").printable(24, 8); break;
        case message_type::cross_trade: check.printable(19, 8).printable(39, 1); break;
        case message_type::order_executed:
        case message_type::order_cancel:
        case message_type::order_delete:
        case message_type::order_replace:
        case message_type::broken_trade: break;
    }
    return check.wrong();
}

/// Asserts that `m` is of one of `types`, and returns the address of its type.
const std::byte* start_of(const message& m, std::initializer_list<message_type> types) noexcept {
    CORRO_ASSERT(std::ranges::find(types, m.type) != types.end(), "the message is of another type");
    return m.bytes.data();
}

}  // namespace

std::size_t message_bytes(char type) noexcept {
    return type_rules[static_cast<unsigned char>(type)].bytes;
}

message_header message::header() const noexcept {
    const std::byte* const at = bytes.data();
    return {base::load_be<std::uint16_t>(at + 1), base::load_be<std::uint16_t>(at + 3), time_at(at)};
}

system_event message::as_system_event() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::system_event});
    return {header(), static_cast<system_event_code>(at[11])};
}

stock_directory message::as_stock_directory() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::stock_directory});
    return {.header = header(),
            .stock = text_at(at + 11, 8),
            .market_category = char_at(at + 19),
            .financial_status = char_at(at + 20),
            .round_lot_size = base::load_be<std::uint32_t>(at + 21),
            .round_lots_only = char_at(at + 25) == 'Y',
            .issue_classification = char_at(at + 26),
            .issue_subtype = text_at(at + 27, 2),
            .is_test = char_at(at + 29) == 'T',
            .short_sale_threshold = char_at(at + 30),
            .initial_public_offering = char_at(at + 31),
            .price_band_tier = char_at(at + 32),
            .exchange_traded_product = char_at(at + 33),
            .leverage_factor = base::load_be<std::uint32_t>(at + 34),
            .inverse = char_at(at + 38) == 'Y'};
}

trading_action message::as_trading_action() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::trading_action});
    return {header(), text_at(at + 11, 8), static_cast<trading_state>(at[19]), text_at(at + 21, 4)};
}

add_order message::as_add_order() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::add_order, message_type::add_order_attributed});
    return {.header = header(),
            .order_reference = base::load_be<std::uint64_t>(at + 11),
            .side = side_at(at + 19),
            .shares = base::load_be<std::uint32_t>(at + 20),
            .stock = text_at(at + 24, 8),
            .price = price_at(at + 32),
            .attribution = type == message_type::add_order ? std::string_view{} : text_at(at + 36, 4)};
}

order_executed message::as_order_executed() const noexcept {
    const std::byte* const at =
        start_of(*this, {message_type::order_executed, message_type::order_executed_with_price});
    order_executed result{.header = header(),
                          .order_reference = base::load_be<std::uint64_t>(at + 11),
                          .shares = base::load_be<std::uint32_t>(at + 19),
                          .match_number = base::load_be<std::uint64_t>(at + 23)};
    if (type == message_type::order_executed_with_price) {
        result.printable = char_at(at + 31) == 'Y';
        result.price = price_at(at + 32);
    }
    return result;
}

order_cancel message::as_order_cancel() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::order_cancel});
    return {header(), base::load_be<std::uint64_t>(at + 11), base::load_be<std::uint32_t>(at + 19)};
}

order_delete message::as_order_delete() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::order_delete});
    return {header(), base::load_be<std::uint64_t>(at + 11)};
}

order_replace message::as_order_replace() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::order_replace});
    return {header(), base::load_be<std::uint64_t>(at + 11), base::load_be<std::uint64_t>(at + 19),
            base::load_be<std::uint32_t>(at + 27), price_at(at + 31)};
}

trade message::as_trade() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::trade});
    return {header(),
            side_at(at + 19),
            base::load_be<std::uint32_t>(at + 20),
            text_at(at + 24, 8),
            price_at(at + 32),
            base::load_be<std::uint64_t>(at + 36)};
}

cross_trade message::as_cross_trade() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::cross_trade});
    return {header(),          base::load_be<std::uint64_t>(at + 11), text_at(at + 19, 8),
            price_at(at + 27), base::load_be<std::uint64_t>(at + 31), char_at(at + 39)};
}

broken_trade message::as_broken_trade() const noexcept {
    const std::byte* const at = start_of(*this, {message_type::broken_trade});
    return {header(), base::load_be<std::uint64_t>(at + 11)};
}

decoder::result decoder::fail(wire::wire_errc code, std::uint64_t offset) noexcept {
    failed_ = read_error{.code = make_error_code(code), .offset = offset};
    return std::unexpected(*failed_);
}

decoder::result decoder::wait_or_end() noexcept {
    if (input_.finished() && input_.available() != 0) return fail(wire::wire_errc::truncated, input_.offset());
    return std::nullopt;
}

decoder::result decoder::next() noexcept {
    if (failed_) [[unlikely]]
        return std::unexpected(*failed_);
    for (;;) {
        const std::uint64_t offset = input_.offset();
        if (session_ended_) [[unlikely]] {
            if (input_.available() != 0) return fail(wire::wire_errc::malformed_length, offset);
            return std::nullopt;
        }
        const auto front = input_.peek(length_bytes);
        if (front.empty()) return wait_or_end();
        const std::size_t length = base::load_be<std::uint16_t>(front.data());
        if (length == 0) [[unlikely]] {
            if (offset == 0) return fail(wire::wire_errc::foreign_format, 0);
            input_.drop(length_bytes);
            session_ended_ = true;
            continue;
        }
        // The type determines the length, which is checked before the whole message has arrived.
        const auto start = input_.peek(length_bytes + 1);
        if (start.empty()) return wait_or_end();
        const char type = static_cast<char>(start[length_bytes]);
        const type_rule rule = type_rules[static_cast<unsigned char>(type)];
        if (length != rule.bytes) [[unlikely]] {
            if (offset == 0) return fail(wire::wire_errc::foreign_format, 0);
            if (rule.bytes != 0) return fail(wire::wire_errc::malformed_length, offset);
        }
        const auto frame = input_.peek(length_bytes + length);
        if (frame.empty()) return wait_or_end();
        if (rule.bytes == 0) [[unlikely]] {
            input_.drop(frame.size());
            ++unknown_count_;
            continue;
        }

        const auto bytes = frame.subspan(length_bytes);
        if (time_at(bytes.data()) >= day_ns) [[unlikely]]
            return fail(wire::wire_errc::out_of_range, offset + length_bytes + 5);
        if (!rule.is_record) {
            input_.drop(frame.size());
            ++skipped_count_;
            continue;
        }
        const auto record_type = static_cast<message_type>(type);
        if (const std::size_t wrong = wrong_field(record_type, bytes.data()); wrong != 0) [[unlikely]]
            return fail(wire::wire_errc::malformed_field, offset + length_bytes + wrong);
        input_.drop(frame.size());
        return message{record_type, offset, bytes};
    }
}

}  // namespace corro::recorded::itch
