#include "telemetry/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "domain/decimal.hpp"
#include "wire/binary_codec.hpp"

namespace corro::telemetry {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

template <class Number>
void append_number(Number n, std::string& to) {
    char digits[24];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), n);
    to.append(digits, end.ptr);
}

/// A number and the comma behind it; nothing but the comma for 0.
template <class Number>
void column(Number n, std::string& to) {
    if (n != 0) append_number(n, to);
    to += ',';
}

/// What the kinds of events have in common, as columns; 0 and no_price are left empty.
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

columns columns_of(const domain::event& e) noexcept {
    using domain::event_kind;
    columns c;
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_rejected:
        case event_kind::order_status:
        case event_kind::request_done:
            c.account = e.order.account.value;
            c.session = e.order.session.value;
            c.request = e.order.request;
            c.order = e.order.order.value;
            c.client_order = e.order.client_order.value;
            c.price = e.order.price;
            c.quantity = e.order.quantity.value;
            break;
        case event_kind::order_executed:
            c.account = e.execution.account.value;
            c.session = e.execution.session.value;
            c.order = e.execution.order.value;
            c.client_order = e.execution.client_order.value;
            c.price = e.execution.price;
            c.quantity = e.execution.quantity.value;
            c.leaves = e.execution.leaves.value;
            break;
        case event_kind::trade_capture:
            c.account = e.capture.account.value;
            c.session = e.capture.session.value;
            c.order = e.capture.order.value;
            c.trade = e.capture.trade.value;
            c.price = e.capture.price;
            c.quantity = e.capture.quantity.value;
            break;
        case event_kind::leg_capture:
        case event_kind::leg_trade:  // its price need not be one of the leg's ticks
            c.account = e.leg_fill.account.value;
            c.session = e.leg_fill.session.value;
            c.order = e.leg_fill.order.value;
            c.trade = e.leg_fill.trade.value;
            c.quantity = e.leg_fill.quantity.value;
            break;
        case event_kind::quote_entered:
            c.account = e.quote.account.value;
            c.session = e.quote.session.value;
            c.request = e.quote.request;
            c.client_order = e.quote.client_order.value;
            c.quantity = e.quote.bid_quantity.value;
            c.quantity_2 = e.quote.ask_quantity.value;
            break;
        case event_kind::protection_changed:
            c.account = e.protection.account.value;
            c.session = e.protection.session.value;
            c.request = e.protection.request;
            c.quantity = e.protection.quantity.value;
            break;
        case event_kind::order_added:
        case event_kind::order_reduced:
        case event_kind::order_deleted:
            c.order = e.book.order.value;
            c.price = e.book.price;
            c.quantity = e.book.quantity.value;
            break;
        case event_kind::level_changed:
            c.price = e.level.price;
            c.quantity = e.level.quantity.value;
            break;
        case event_kind::top_of_book:
        case event_kind::implied_top:
            c.price = e.top.bid_price;
            c.quantity = e.top.bid_quantity.value;
            c.price_2 = e.top.ask_price;
            c.quantity_2 = e.top.ask_quantity.value;
            break;
        case event_kind::trade:
            c.trade = e.trade.trade.value;
            c.price = e.trade.price;
            c.quantity = e.trade.quantity.value;
            break;
        case event_kind::price_update: c.price = e.prices.last; break;
        case event_kind::statistics: c.quantity = e.volumes.volume.value; break;
        case event_kind::auction_indicative:
        case event_kind::auction_ended:
            c.price = e.auction.price;
            c.quantity = e.auction.volume.value;
            break;
        case event_kind::instrument_settled:
            c.price = e.settlement.price;
            c.quantity = e.settlement.open_interest.value;
            break;
        default: break;  // the columns that every event has say what there is to say in a line
    }
    return c;
}

bool has_side(domain::event_kind kind) noexcept {
    using domain::event_kind;
    return kind != event_kind::top_of_book && kind != event_kind::implied_top && kind != event_kind::price_update &&
           kind != event_kind::statistics && kind != event_kind::phase_changed &&
           kind != event_kind::protection_changed && kind != event_kind::request_done &&
           kind != event_kind::quote_entered && kind != event_kind::auction_indicative &&
           kind != event_kind::auction_ended && kind != event_kind::instrument_settled;
}

std::string_view name_of(domain::event_kind kind) noexcept {
    // The numbers of the messages are those of the events, 32 higher.
    return wire::to_string(static_cast<wire::template_id>(static_cast<unsigned>(kind) + 32));
}

}  // namespace

event_text::event_text(std::span<const domain::instrument> instruments) {
    for (const domain::instrument& i : instruments) {
        if (i.id.value >= instruments_.size()) instruments_.resize(std::size_t{i.id.value} + 1);
        instruments_[i.id.value] = i;
    }
}

const domain::instrument* event_text::find(domain::instrument_id id) const noexcept {
    const bool is_known = id.value < instruments_.size() && instruments_[id.value].id == id && id.value != 0;
    return is_known ? &instruments_[id.value] : nullptr;
}

std::string_view event_text::heading() noexcept {
    return "sequence,time,kind,instrument,side,reason,flags,account,session,request,order,client_order,trade,price,"
           "quantity,leaves,price_2,quantity_2\n";
}

void event_text::append_time(domain::time_ns time, std::string& to) {
    std::int64_t second = time.value / second_ns;
    std::int64_t rest = time.value % second_ns;
    if (rest < 0) {
        --second;
        rest += second_ns;
    }
    if (second != second_) {
        second_ = second;
        const std::chrono::sys_seconds at{std::chrono::seconds{second}};
        second_text_ = fmt::format("{:%Y-%m-%dT%H:%M:%S}.", at);
    }
    to += second_text_;
    char digits[9];
    for (int i = 8; i >= 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
    to.append(digits, std::size(digits));
    to += 'Z';
}

void event_text::append_price(domain::instrument_id instrument, domain::price_ticks price, std::string& to) const {
    if (price == domain::no_price) return;
    const domain::instrument* const i = find(instrument);
    if (i == nullptr) return;
    to += domain::format_decimal(domain::to_nano(*i, price).value).view();
}

void event_text::append(const domain::event& e, std::string& to) {
    const columns c = columns_of(e);
    append_number(e.command.value, to);
    to += ',';
    append_time(e.time, to);
    to += ',';
    to += name_of(e.kind);
    to += ',';
    if (const domain::instrument* const i = find(e.instrument)) to += i->name.view();
    to += ',';
    if (has_side(e.kind)) to += e.side == domain::side::buy ? "buy" : "sell";
    to += ',';
    if (e.reason != domain::reject_reason::none) to += domain::to_string(e.reason);
    to += ',';
    column(unsigned{e.flags}, to);
    column(c.account, to);
    column(c.session, to);
    column(c.request, to);
    column(c.order, to);
    column(c.client_order, to);
    column(c.trade, to);
    append_price(e.instrument, c.price, to);
    to += ',';
    column(c.quantity, to);
    column(c.leaves, to);
    append_price(e.instrument, c.price_2, to);
    to += ',';
    if (c.quantity_2 != 0) append_number(c.quantity_2, to);
    to += '\n';
}

void event_text::append(const happening& what, std::string& to) {
    std::string time;
    append_time(what.time, time);
    nlohmann::ordered_json object = {{"time", time},
                                     {"severity", to_string(what.severity)},
                                     {"component", to_string(what.component)},
                                     {"what", to_string(what.kind)},
                                     {"number", what.number}};
    if (what.session.value != 0) object["session"] = what.session.value;
    if (what.account.value != 0) object["account"] = what.account.value;
    to += object.dump();
    to += '\n';
}

}  // namespace corro::telemetry
