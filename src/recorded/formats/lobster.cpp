// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/lobster.hpp"

#include <algorithm>

#include "recorded/formats/csv_fields.hpp"
#include "recorded/formats/record_decoder.hpp"

namespace corro::recorded::lobster {

static_assert(record_decoder<message_decoder> && record_decoder<book_decoder>);

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t day_seconds = 86'400;
/// Prices in the file are in units of this many billionths.
constexpr std::int64_t price_unit_nano = 100'000;
/// "No such level" on the ask side, and negative on the bid side. No price is larger.
constexpr std::int64_t no_level = 9'999'999'999;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Whether a line is a row of names: no number begins with a letter.
bool is_header(const line_feed::line& line) noexcept {
    if (line.number != 1 || line.text.empty()) return false;
    const char first = line.text[0];
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

/// Reads seconds after midnight with up to nine decimals. Computed in integers, so that no digit is lost.
std::int64_t take_time(csv_fields& fields) noexcept {
    const std::string_view text = fields.text();
    if (fields.failed()) return 0;
    std::int64_t ns = 0;
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
        ns = ns * 10 + (text[at] - '0');
        if (ns >= day_seconds) {
            fields.fail(wire::wire_errc::out_of_range);
            return 0;
        }
    }
    bool sound = at != 0;
    ns *= second_ns;
    if (sound && at < text.size()) {
        sound = text[at] == '.' && at + 1 < text.size();
        std::int64_t weight = second_ns;
        for (++at; sound && at < text.size(); ++at) {
            weight /= 10;
            // A digit below a nanosecond must be a zero.
            sound = is_digit(text[at]) && (weight != 0 || text[at] == '0');
            ns += weight * (text[at] - '0');
        }
    }
    if (!sound) fields.fail(wire::wire_errc::malformed_field);
    return sound ? ns : 0;
}

event_type take_type(csv_fields& fields) noexcept {
    const auto raw = fields.integer<std::uint32_t>();
    if (raw < 1 || raw > 7) fields.fail(wire::wire_errc::malformed_field);
    return static_cast<event_type>(raw);
}

/// Orders rest and trade in whole shares; crosses and halts may be of none.
std::uint32_t take_size(csv_fields& fields, event_type type) noexcept {
    const auto size = fields.integer<std::uint32_t>();
    if (size == 0 && type < event_type::cross_trade) fields.fail(wire::wire_errc::malformed_field);
    return size;
}

void take_price(csv_fields& fields, message& into) noexcept {
    const auto raw = fields.integer<std::int64_t>();
    if (into.type == event_type::trading_halt) {
        if (raw < -1 || raw > 1) fields.fail(wire::wire_errc::malformed_field);
        into.halt = static_cast<halt_state>(raw);
        into.price = domain::no_price_nano;
        return;
    }
    if (raw >= no_level) fields.fail(wire::wire_errc::out_of_range);
    if (raw < 0 || (raw == 0 && into.type != event_type::cross_trade)) fields.fail(wire::wire_errc::malformed_field);
    if (!fields.failed()) into.price = domain::price_nano{raw * price_unit_nano};
}

domain::side take_side(csv_fields& fields) noexcept {
    const auto raw = fields.integer<std::int32_t>();
    if (raw != 1 && raw != -1) fields.fail(wire::wire_errc::malformed_field);
    return raw == 1 ? domain::side::buy : domain::side::sell;
}

/// `absent` is the price of an empty level on this side.
quote take_quote(csv_fields& fields, std::int64_t absent) noexcept {
    const auto price = fields.integer<std::int64_t>();
    if (price != absent && (price >= no_level || price <= 0)) fields.fail(wire::wire_errc::out_of_range);
    const auto size = fields.integer<std::uint64_t>();
    if ((price == absent) != (size == 0)) fields.fail(wire::wire_errc::malformed_field);
    if (fields.failed() || price == absent) return {};
    return {domain::price_nano{price * price_unit_nano}, size};
}

/// The next line with numbers.
std::expected<std::optional<line_feed::line>, read_error> next_line(line_feed& input) noexcept {
    auto line = input.next();
    if (line && *line && is_header(**line)) line = input.next();
    return line;
}

}  // namespace

std::expected<std::optional<message>, read_error> message_decoder::next() noexcept {
    if (failed_) return std::unexpected(*failed_);
    const auto line = next_line(input_);
    if (!line) return std::unexpected(*(failed_ = line.error()));
    if (!*line) return std::nullopt;

    csv_fields fields{**line};
    message result;
    result.line = (*line)->number;
    result.since_midnight_ns = take_time(fields);
    result.type = take_type(fields);
    result.order_id = fields.integer<std::uint64_t>();
    result.size = take_size(fields, result.type);
    take_price(fields, result);
    result.side = take_side(fields);
    fields.end();
    if (fields.failed()) return std::unexpected(*(failed_ = fields.failed()));
    return result;
}

std::expected<void, read_error> book_decoder::read_levels(const line_feed::line& line) noexcept {
    csv_fields fields{line};
    if (levels_.empty()) {
        const auto columns = 1 + static_cast<std::size_t>(std::ranges::count(line.text, ','));
        if (columns % 4 != 0) fields.fail(wire::wire_errc::malformed_length);
        if (columns / 4 > levels_max) fields.fail(wire::wire_errc::too_large);
        if (fields.failed()) return std::unexpected(*fields.failed());
        levels_.resize(columns / 4);
    }
    for (level& l : levels_) {
        l.ask = take_quote(fields, no_level);
        l.bid = take_quote(fields, -no_level);
    }
    fields.end();
    if (fields.failed()) return std::unexpected(*fields.failed());
    return {};
}

std::expected<std::optional<book>, read_error> book_decoder::next() noexcept {
    if (failed_) return std::unexpected(*failed_);
    const auto line = next_line(input_);
    if (!line) return std::unexpected(*(failed_ = line.error()));
    if (!*line) return std::nullopt;
    if (const auto read = read_levels(**line); !read) return std::unexpected(*(failed_ = read.error()));
    return book{(*line)->number, levels_};
}

}  // namespace corro::recorded::lobster
