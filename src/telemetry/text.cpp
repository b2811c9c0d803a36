// SPDX-License-Identifier: Apache-2.0
#include "telemetry/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/assert.hpp"
#include "domain/limits.hpp"
#include "wire/binary_codec.hpp"

namespace corro::telemetry {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::size_t time_bytes = 30;  // 2023-11-14T22:13:20.000000017Z; 64 bits reach from 1677 to 2262
constexpr std::size_t reason_bytes_max = 48;

// Command, kind, instrument, side, reason, flags, three numbers of 32 bits, three of 64, two prices, three quantities,
// a comma or the line feed behind each, and a word's surplus.
static_assert(64 + 32 + 32 + 8 + reason_bytes_max + 1 + 4 + 3 * 11 + 3 * 21 + 2 * (decimal_bytes_max + 1) + 3 * 21 +
                  64 <=
              line_bytes_max);
static_assert(domain::symbol_size_max + 1 <= sizeof(event_text::listed::name.characters));

/// The columns that kinds of events share; 0 and no_price are left empty. The functions are inlined, so that the
/// compiler knows which columns of a kind are always empty.
struct columns {
    std::uint32_t account = 0;
    std::uint32_t session = 0;
    std::uint32_t request = 0;
    std::uint64_t order = 0;
    std::uint64_t client_order = 0;
    std::uint64_t trade = 0;
    domain::price_ticks price = domain::no_price;
    std::uint64_t quantity = 0;
    std::uint64_t leaves = 0;
    domain::price_ticks price_2 = domain::no_price;
    std::uint64_t quantity_2 = 0;
};

[[gnu::always_inline]] inline columns of(const domain::private_order& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.request = e.request;
    c.order = e.order.value;
    c.client_order = e.client_order.value;
    c.price = e.price;
    c.quantity = e.quantity.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::execution& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.order = e.order.value;
    c.client_order = e.client_order.value;
    c.price = e.price;
    c.quantity = e.quantity.value;
    c.leaves = e.leaves.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::capture& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.order = e.order.value;
    c.trade = e.trade.value;
    c.price = e.price;
    c.quantity = e.quantity.value;
    return c;
}

/// Without its price, which may not be a multiple of the leg's tick.
[[gnu::always_inline]] inline columns of(const domain::leg_fill& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.order = e.order.value;
    c.trade = e.trade.value;
    c.quantity = e.quantity.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::private_quote& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.request = e.request;
    c.client_order = e.client_order.value;
    c.quantity = e.bid_quantity.value;
    c.quantity_2 = e.ask_quantity.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::protection& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.request = e.request;
    c.quantity = e.quantity.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::numbers_reset& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::counted_messages& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.quantity = e.count;
    return c;
}

/// With the name of the request.
[[gnu::always_inline]] inline columns of(const domain::named_request& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.request = e.request;
    c.order = e.order.value;
    c.client_order = e.name.value;
    return c;
}

/// With its own name; the text is in the journal.
[[gnu::always_inline]] inline columns of(const domain::name_part& e) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.client_order = e.name.value;
    c.quantity = e.length;
    return c;
}

/// One that only counts has the count as its quantity.
[[gnu::always_inline]] inline columns of(const domain::position_state& e, domain::instrument_id i) noexcept {
    columns c;
    c.account = e.account.value;
    c.session = e.session.value;
    c.request = e.request;
    c.price = e.last;
    c.quantity = i.value == 0 ? e.count : e.quantity.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::public_order& e) noexcept {
    columns c;
    c.order = e.order.value;
    c.price = e.price;
    c.quantity = e.quantity.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::top& e) noexcept {
    columns c;
    c.price = e.bid_price;
    c.quantity = e.bid_quantity.value;
    c.price_2 = e.ask_price;
    c.quantity_2 = e.ask_quantity.value;
    return c;
}

[[gnu::always_inline]] inline columns of(const domain::tape_trade& e) noexcept {
    columns c;
    c.trade = e.trade.value;
    c.price = e.price;
    c.quantity = e.quantity.value;
    return c;
}

/// For events with only a price, a quantity or both.
[[gnu::always_inline]] inline columns of(domain::price_ticks price, std::uint64_t quantity) noexcept {
    columns c;
    c.price = price;
    c.quantity = quantity;
    return c;
}

char* put_price(const event_text::listed& of, domain::price_ticks price, char* to) noexcept {
    if (price != domain::no_price && of.is_known) to = put_decimal(price.value * of.tick_nano, to);
    *to = ',';
    return to + 1;
}

[[gnu::always_inline]] inline char* put_columns(const columns& c, const event_text::listed& of, char* to) noexcept {
    to = put_column(c.account, to);
    to = put_column(c.session, to);
    to = put_column(c.request, to);
    to = put_column(c.order, to);
    to = put_column(c.client_order, to);
    to = put_column(c.trade, to);
    to = put_price(of, c.price, to);
    to = put_column(c.quantity, to);
    to = put_column(c.leaves, to);
    to = put_price(of, c.price_2, to);
    if (c.quantity_2 != 0) to = put_number(c.quantity_2, to);
    *to = '\n';
    return to + 1;
}

char* put_payload(const domain::event& e, const event_text::listed& i, char* to) noexcept {
    using domain::event_kind;
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_rejected:
        case event_kind::order_status:
        case event_kind::request_done: return put_columns(of(e.order), i, to);
        case event_kind::order_executed: return put_columns(of(e.execution), i, to);
        case event_kind::trade_capture: return put_columns(of(e.capture), i, to);
        case event_kind::leg_capture:
        case event_kind::leg_trade: return put_columns(of(e.leg_fill), i, to);
        case event_kind::quote_entered: return put_columns(of(e.quote), i, to);
        case event_kind::protection_changed: return put_columns(of(e.protection), i, to);
        case event_kind::session_numbers_reset: return put_columns(of(e.numbers_reset), i, to);
        case event_kind::messages_counted: return put_columns(of(e.counted), i, to);
        case event_kind::request_named: return put_columns(of(e.named), i, to);
        case event_kind::order_named: return put_columns(of(e.name), i, to);
        case event_kind::position_reported: return put_columns(of(e.position, e.instrument), i, to);
        case event_kind::order_added:
        case event_kind::order_reduced:
        case event_kind::order_deleted: return put_columns(of(e.book), i, to);
        case event_kind::level_changed: return put_columns(of(e.level.price, e.level.quantity.value), i, to);
        case event_kind::top_of_book:
        case event_kind::implied_top: return put_columns(of(e.top), i, to);
        case event_kind::trade: return put_columns(of(e.trade), i, to);
        case event_kind::price_update: return put_columns(of(e.prices.last, 0), i, to);
        case event_kind::statistics: return put_columns(of(domain::no_price, e.volumes.volume.value), i, to);
        case event_kind::auction_indicative:
        case event_kind::auction_ended: return put_columns(of(e.auction.price, e.auction.volume.value), i, to);
        case event_kind::instrument_settled:
            return put_columns(of(e.settlement.price, e.settlement.open_interest.value), i, to);
        default: return put_columns(columns(), i, to);  // only the columns that every event has
    }
}

bool has_side(domain::event_kind kind) noexcept {
    using domain::event_kind;
    return kind != event_kind::top_of_book && kind != event_kind::implied_top && kind != event_kind::price_update &&
           kind != event_kind::statistics && kind != event_kind::phase_changed &&
           kind != event_kind::protection_changed && kind != event_kind::request_done &&
           kind != event_kind::quote_entered && kind != event_kind::session_numbers_reset &&
           kind != event_kind::messages_counted && kind != event_kind::order_named &&
           kind != event_kind::auction_indicative && kind != event_kind::auction_ended &&
           kind != event_kind::instrument_settled && !domain::is_definition(kind);
}

std::string_view name_of(domain::event_kind kind) noexcept {
    switch (kind) {  // kinds without a message
        case domain::event_kind::session_numbers_reset: return "session_numbers_reset";
        case domain::event_kind::messages_counted: return "messages_counted";
        case domain::event_kind::request_named: return "request_named";
        case domain::event_kind::order_named: return "order_named";
        case domain::event_kind::position_reported: return "position_reported";
        default: break;
    }
    // The template ids of the messages are the numbers of the events plus 32.
    return wire::to_string(static_cast<wire::template_id>(static_cast<unsigned>(kind) + 32));
}

/// Text that depends on only one byte of the event, with its comma.
struct prepared {
    std::array<word<32>, 256> kinds{};
    std::array<std::array<word<8>, 2>, 256> sides{};  ///< by kind and side
    std::array<word<8>, 256> flags{};

    prepared() {
        for (unsigned i = 0; i < kinds.size(); ++i) {
            const auto kind = static_cast<domain::event_kind>(i);
            kinds[i] = {name_of(kind), ","};
            sides[i] = {word<8>(has_side(kind) ? "sell" : "", ","), word<8>(has_side(kind) ? "buy" : "", ",")};
            flags[i] = {i == 0 ? std::string() : std::to_string(i), ","};
        }
    }
};

}  // namespace

event_text::event_text(std::span<const domain::instrument> instruments) : instruments_(1) {
    for (const domain::instrument& i : instruments) list(i.id, i.name, i.tick_size.value);
}

void event_text::list(domain::instrument_id id, const domain::symbol& name, std::int64_t tick_nano) {
    if (id.value >= instruments_.size()) instruments_.resize(std::size_t{id.value} + 1);
    if (id.value != 0) instruments_[id.value] = {{name.view(), ","}, tick_nano, true};
}

std::string_view event_text::heading() noexcept {
    return "sequence,time,kind,instrument,side,reason,flags,account,session,request,order,client_order,trade,price,"
           "quantity,leaves,price_2,quantity_2\n";
}

void event_text::write_time(domain::time_ns time, char* to) {
    std::int64_t second = time.value / second_ns;
    std::int64_t rest = time.value % second_ns;
    if (rest < 0) {
        --second;
        rest += second_ns;
    }
    if (second != second_) {
        const std::chrono::sys_seconds at{std::chrono::seconds{second}};
        const std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%S}.", at);
        CORRO_ASSERT(text.size() == second_text_.size(), "years must have four digits");
        text.copy(second_text_.data(), text.size());
        second_ = second;
    }
    std::memcpy(to, second_text_.data(), second_text_.size());
    put_nine_digits(static_cast<std::uint32_t>(rest), to + second_text_.size());
    to[time_bytes - 1] = 'Z';
}

void event_text::begin_command(const domain::event& e) {
    char* to = put_number(e.command.value, command_text_.data());
    *to++ = ',';
    write_time(e.time, to);
    to += time_bytes;
    *to++ = ',';
    command_text_size_ = static_cast<std::size_t>(to - command_text_.data());
    command_ = e.command;
    command_time_ = e.time;
}

char* event_text::write(const domain::event& e, char* to) {
    static const prepared words;
    if (e.command != command_ || e.time != command_time_ || command_text_size_ == 0) begin_command(e);
    std::memcpy(to, command_text_.data(), command_text_.size());
    to += command_text_size_;
    const auto kind = static_cast<std::uint8_t>(e.kind);
    if (e.kind == domain::event_kind::instrument_defined && e.defined.like.value < instruments_.size()) [[unlikely]] {
        list(e.instrument, e.defined.name, instruments_[e.defined.like.value].tick_nano);
    }
    const listed& i = instruments_[e.instrument.value < instruments_.size() ? e.instrument.value : 0];
    to = put(words.kinds[kind], to);
    to = put(i.name, to);
    to = put(words.sides[kind][e.side == domain::side::buy ? 1 : 0], to);
    if (e.reason != domain::reject_reason::none) [[unlikely]] {
        const std::string_view why = domain::to_string(e.reason).substr(0, reason_bytes_max);
        to += why.copy(to, why.size());
    }
    *to++ = ',';
    to = put(words.flags[e.flags], to);
    return put_payload(e, i, to);
}

namespace {

bool concerns_journal(log_record_kind kind) noexcept {
    return kind == log_record_kind::journal_failed || kind == log_record_kind::journal_stalled ||
           kind == log_record_kind::journal_resumed;
}

}  // namespace

std::int64_t format_version_of(std::string_view first_line) {
    constexpr std::int64_t version_without_a_record = 1;
    const auto object = nlohmann::json::parse(first_line, nullptr, false);
    if (!object.is_object()) return version_without_a_record;
    const auto what = object.find("what");
    const auto number = object.find("number");
    const bool is_format = what != object.end() && *what == to_string(log_record_kind::format);
    if (!is_format || number == object.end() || !number->is_number_integer()) return version_without_a_record;
    return number->get<std::int64_t>();
}

void event_text::append(const log_record& what, std::string& to) {
    char time[time_bytes];
    write_time(what.time, time);
    nlohmann::ordered_json object = {{"time", std::string_view(time, time_bytes)},
                                     {"severity", to_string(what.severity)},
                                     {"component", to_string(what.component)},
                                     {"what", to_string(what.kind)},
                                     {"number", what.number}};
    if (what.session.value != 0) object["session"] = what.session.value;
    if (what.account.value != 0) object["account"] = what.account.value;
    if (what.address[0] != '\0') object[concerns_journal(what.kind) ? "journal" : "address"] = what.address.data();
    to += object.dump();
    to += '\n';
}

}  // namespace corro::telemetry
