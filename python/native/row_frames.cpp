// SPDX-License-Identifier: Apache-2.0
#include "native/row_frames.hpp"

#include <array>
#include <limits>
#include <utility>

namespace corro::python {
namespace {

using domain::order_type;
using domain::time_in_force;

template <class Enum, std::size_t Size>
std::vector<std::string> names_of(const std::array<Enum, Size>& all) {
    std::vector<std::string> names;
    for (const Enum each : all) names.emplace_back(history::name_of(each));
    return names;
}

/// The position of a value among those that have names; -1 for another.
template <class Enum, std::size_t Size>
std::int8_t place_of(Enum value, const std::array<Enum, Size>& all) noexcept {
    for (std::size_t i = 0; i < Size; ++i) {
        if (all[i] == value) return static_cast<std::int8_t>(i);
    }
    return -1;
}

constexpr std::array order_events{history::order_event::accepted,  history::order_event::entered,
                                  history::order_event::amended,   history::order_event::cancelled,
                                  history::order_event::executed,  history::order_event::rejected};
constexpr std::array sides{domain::side::buy, domain::side::sell};
constexpr std::array order_types{
    order_type::limit, order_type::market,     order_type::market_to_limit,   order_type::market_protected,
    order_type::stop,  order_type::stop_limit, order_type::market_if_touched,
};
constexpr std::array times_in_force{time_in_force::day, time_in_force::gtc,         time_in_force::ioc,
                                    time_in_force::fok, time_in_force::gtd,         time_in_force::at_the_open,
                                    time_in_force::at_the_close};

/// The numbers in use, in ascending order: a code of eight bits for each.
struct reason_codes {
    reason_codes() {
        codes.fill(-1);
        for (int number = 1; number < 256; ++number) {
            const auto text = domain::to_string(static_cast<domain::reject_reason>(number));
            if (text == "unknown") continue;
            codes[static_cast<std::size_t>(number)] = static_cast<std::int8_t>(names.size());
            names.emplace_back(text);
        }
    }
    std::array<std::int8_t, 256> codes{};
    std::vector<std::string> names;
};

const reason_codes& reasons() {
    static const reason_codes all;
    return all;
}

template <class Values>
column number(const char* name, Values& values, meaning what = meaning::number) {
    return {name, what, std::exchange(values, {}), {}};
}

template <class Codes>
column category(const char* name, Codes& codes, std::vector<std::string> names) {
    return {name, meaning::category, std::exchange(codes, {}), std::move(names)};
}

}  // namespace

std::vector<std::string> side_names() {
    return names_of(sides);
}

const instrument_columns::entry& instrument_columns::of(const domain::instrument& i) {
    if (last_ != nullptr && last_id_ == i.id.value) return *last_;
    const auto [at, is_new] = entries_.try_emplace(i.id.value);
    if (is_new) {
        at->second.code = static_cast<std::int32_t>(names_.size());
        at->second.price = decimal_scale(i.tick_size.value);
        names_.emplace_back(i.name.view());
    }
    last_ = &at->second;  // an unordered_map does not move its elements
    last_id_ = i.id.value;
    return at->second;
}

double instrument_columns::price(const domain::instrument* i, domain::price_ticks ticks) {
    if (i == nullptr || ticks == domain::no_price) return std::numeric_limits<double>::quiet_NaN();
    return of(*i).price(ticks.value);
}

void frame_exporter::write_order(const history::order_row& row) {
    order_columns& to = orders_;
    const bool is_sent = row.event == history::order_event::accepted;
    to.sequence.push_back(signed_of(row.sequence.value));
    to.time.push_back(row.time.value);
    to.event.push_back(place_of(row.event, order_events));
    to.instrument.push_back(instruments_.code(row.instrument));
    to.side.push_back(place_of(row.side, sides));
    to.order.push_back(row.order.value);
    to.client_order.push_back(row.client_order.value);
    to.account.push_back(row.account.value);
    to.session.push_back(row.session.value);
    to.price.push_back(instruments_.price(row.instrument, row.price));
    to.quantity.push_back(signed_of(row.quantity));
    to.open.push_back(signed_of(row.open));
    to.aggressor.push_back(row.is_aggressor ? 1 : 0);
    to.reason.push_back(reasons().codes[static_cast<std::size_t>(row.reason)]);
    to.type.push_back(is_sent ? place_of(row.type, order_types) : std::int8_t{-1});
    to.time_in_force.push_back(is_sent ? place_of(row.time_in_force, times_in_force) : std::int8_t{-1});
    to.trigger_price.push_back(instruments_.price(row.instrument, row.trigger_price));
    to.display_quantity.push_back(signed_of(row.display_quantity));
    to.minimum_quantity.push_back(signed_of(row.minimum_quantity));
}

void frame_exporter::write_trade(const history::trade_row& row) {
    trade_columns& to = trades_;
    to.sequence.push_back(signed_of(row.sequence.value));
    to.time.push_back(row.time.value);
    to.trade.push_back(row.trade.value);
    to.instrument.push_back(instruments_.code(row.instrument));
    to.price.push_back(instruments_.price(row.instrument, row.price));
    to.quantity.push_back(signed_of(row.quantity));
    to.aggressor.push_back(place_of(row.aggressor, sides));
    to.buy_order.push_back(row.buy_order.value);
    to.buy_account.push_back(row.buy_account.value);
    to.sell_order.push_back(row.sell_order.value);
    to.sell_account.push_back(row.sell_account.value);
}

void frame_exporter::write_level(const history::level_row& row) {
    level_columns& to = levels_;
    to.sequence.push_back(signed_of(row.sequence.value));
    to.time.push_back(row.time.value);
    to.instrument.push_back(instruments_.code(row.instrument));
    to.side.push_back(place_of(row.side, sides));
    to.price.push_back(instruments_.price(row.instrument, row.price));
    to.quantity.push_back(signed_of(row.quantity));
    to.orders.push_back(signed_of(row.orders));
}

row_frames frame_exporter::take() {
    row_frames made;
    if (what_.orders) made.orders = frame_of(std::exchange(orders_, {}));
    if (what_.trades) made.trades = frame_of(std::exchange(trades_, {}));
    if (what_.levels) made.levels = frame_of(std::exchange(levels_, {}));
    return made;
}

row_frames frame_exporter::copy() const {
    row_frames made;
    if (what_.orders) made.orders = frame_of(order_columns(orders_));
    if (what_.trades) made.trades = frame_of(trade_columns(trades_));
    if (what_.levels) made.levels = frame_of(level_columns(levels_));
    return made;
}

frame_pointer frame_exporter::frame_of(order_columns&& o) const {
    std::vector<column> columns;
    columns.push_back(number("sequence", o.sequence));
    columns.push_back(number("time", o.time, meaning::time));
    columns.push_back(category("event", o.event, names_of(order_events)));
    columns.push_back(category("instrument", o.instrument, instruments_.names()));
    columns.push_back(category("side", o.side, names_of(sides)));
    columns.push_back(number("order", o.order));
    columns.push_back(number("client_order", o.client_order));
    columns.push_back(number("account", o.account));
    columns.push_back(number("session", o.session));
    columns.push_back(number("price", o.price));
    columns.push_back(number("quantity", o.quantity));
    columns.push_back(number("open", o.open));
    columns.push_back(number("aggressor", o.aggressor, meaning::flag));
    columns.push_back(category("reason", o.reason, reasons().names));
    columns.push_back(category("type", o.type, names_of(order_types)));
    columns.push_back(category("time_in_force", o.time_in_force, names_of(times_in_force)));
    columns.push_back(number("trigger_price", o.trigger_price));
    columns.push_back(number("display_quantity", o.display_quantity));
    columns.push_back(number("minimum_quantity", o.minimum_quantity));
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer frame_exporter::frame_of(trade_columns&& t) const {
    std::vector<column> columns;
    columns.push_back(number("sequence", t.sequence));
    columns.push_back(number("time", t.time, meaning::time));
    columns.push_back(number("trade", t.trade));
    columns.push_back(category("instrument", t.instrument, instruments_.names()));
    columns.push_back(number("price", t.price));
    columns.push_back(number("quantity", t.quantity));
    columns.push_back(category("aggressor", t.aggressor, names_of(sides)));
    columns.push_back(number("buy_order", t.buy_order));
    columns.push_back(number("buy_account", t.buy_account));
    columns.push_back(number("sell_order", t.sell_order));
    columns.push_back(number("sell_account", t.sell_account));
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer frame_exporter::frame_of(level_columns&& l) const {
    std::vector<column> columns;
    columns.push_back(number("sequence", l.sequence));
    columns.push_back(number("time", l.time, meaning::time));
    columns.push_back(category("instrument", l.instrument, instruments_.names()));
    columns.push_back(category("side", l.side, names_of(sides)));
    columns.push_back(number("price", l.price));
    columns.push_back(number("quantity", l.quantity));
    columns.push_back(number("orders", l.orders));
    return std::make_shared<frame>(std::move(columns));
}

void quote_recorder::consume(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        if (e.kind != domain::event_kind::top_of_book || (only_.value != 0 && e.instrument != only_)) continue;
        rows_.push_back({e.command.value, e.time.value, e.instrument, e.top});
    }
}

frame_pointer quote_recorder::copy(std::span<const domain::instrument> instruments) const {
    std::unordered_map<std::uint32_t, const domain::instrument*> by_id;
    for (const domain::instrument& each : instruments) by_id.emplace(each.id.value, &each);
    instrument_columns known;
    std::vector<std::int64_t> sequence;
    std::vector<std::int64_t> time;
    std::vector<std::int32_t> instrument;
    std::vector<double> bid_price;
    std::vector<std::int64_t> bid_quantity;
    std::vector<double> ask_price;
    std::vector<std::int64_t> ask_quantity;
    for (const row& each : rows_) {
        const auto found = by_id.find(each.instrument.value);
        if (found == by_id.end()) continue;
        const domain::instrument* const i = found->second;
        sequence.push_back(signed_of(each.sequence));
        time.push_back(each.time);
        instrument.push_back(known.code(i));
        bid_price.push_back(known.price(i, each.top.bid_price));
        bid_quantity.push_back(signed_of(each.top.bid_quantity.value * i->lot_size));
        ask_price.push_back(known.price(i, each.top.ask_price));
        ask_quantity.push_back(signed_of(each.top.ask_quantity.value * i->lot_size));
    }
    std::vector<column> columns;
    columns.push_back(number("sequence", sequence));
    columns.push_back(number("time", time, meaning::time));
    columns.push_back(category("instrument", instrument, known.names()));
    columns.push_back(number("bid_price", bid_price));
    columns.push_back(number("bid_quantity", bid_quantity));
    columns.push_back(number("ask_price", ask_price));
    columns.push_back(number("ask_quantity", ask_quantity));
    return std::make_shared<frame>(std::move(columns));
}

}  // namespace corro::python
