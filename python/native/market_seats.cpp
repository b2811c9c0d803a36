// SPDX-License-Identifier: Apache-2.0
// Seats of a market: their requests, and what they know.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "history/event_rows.hpp"
#include "native/book.hpp"
#include "native/market_state.hpp"

namespace corro::python {
namespace {

namespace mk = corro::market;

std::string_view name_of(mk::order_state state) noexcept {
    switch (state) {
        case mk::order_state::sent: return "sent";
        case mk::order_state::open: return "open";
        case mk::order_state::cancelling: return "cancelling";
    }
    return "";
}

constexpr std::array order_states{mk::order_state::sent, mk::order_state::open, mk::order_state::cancelling};

domain::price_ticks ticks_of(const domain::instrument& i, std::int64_t price_nano) {
    const auto made = domain::to_ticks(i, domain::price_nano{price_nano});
    if (made.reason == domain::reject_reason::none && made.value >= i.price_low && made.value <= i.price_high) {
        return made.value;
    }
    const double price = double_of_nano(price_nano);
    if (made.reason == domain::reject_reason::price_off_tick) {
        throw argument_error(fmt::format("price={}: {} trades in steps of {}", price, i.name.view(),
                                         double_of_nano(i.tick_size.value)));
    }
    const decimal_scale scale(i.tick_size.value);
    throw argument_error(fmt::format("price={}: prices of {} are from {} to {}", price, i.name.view(),
                                     scale(i.price_low.value), scale(i.price_high.value)));
}

domain::quantity_lots lots_of(const domain::instrument& i, std::int64_t units, std::string_view what) {
    const auto made = domain::to_lots(i, units);
    if (made.reason == domain::reject_reason::none) return made.value;
    throw argument_error(fmt::format("{}={}: a positive multiple of {} for {}", what, units, i.lot_size, i.name.view()));
}

const mk::known_order& order_of(const mk::agent& who, std::uint32_t number) {
    const mk::known_order* const found = who.order(number);
    if (found == nullptr) {
        throw argument_error(fmt::format("order {}: it is not open, as far as the seat knows", number));
    }
    return *found;
}

}  // namespace

domain::time_in_force time_in_force_of(const std::string& name) {
    for (const auto each : {domain::time_in_force::day, domain::time_in_force::gtc, domain::time_in_force::ioc,
                            domain::time_in_force::fok}) {
        if (history::name_of(each) == name) return each;
    }
    throw argument_error(fmt::format("time_in_force=\"{}\": \"day\", \"gtc\", \"ioc\" or \"fok\"", name));
}

const domain::instrument& market::state::instrument(const std::string& name) const {
    return instrument_of(world->venue(), name);
}

std::uint32_t market::enter(std::size_t seat, const seat_order& order) {
    const std::lock_guard hold(state_->one_at_a_time);
    const domain::instrument& i = state_->instrument(order.instrument);
    const domain::side side = order.is_buy ? domain::side::buy : domain::side::sell;
    const domain::quantity_lots lots = lots_of(i, order.quantity, "quantity");
    mk::new_order made = order.has_limit ? mk::limit(side, ticks_of(i, order.price_nano), lots) : mk::at_market(side, lots);
    made.instrument = i.id;
    made.time_in_force = time_in_force_of(order.time_in_force);
    if (order.is_post_only) made = made.post_only();
    if (order.display_quantity != 0) made = made.showing(lots_of(i, order.display_quantity, "display_quantity"));
    return state_->seats[seat]->enter(made).number;
}

std::uint32_t market::cancel(std::size_t seat, std::uint32_t number) {
    const std::lock_guard hold(state_->one_at_a_time);
    mk::agent& me = *state_->seats[seat];
    static_cast<void>(order_of(me, number));
    return me.cancel(number).number;
}

std::uint32_t market::amend(std::size_t seat, std::uint32_t number, bool has_price, std::int64_t price_nano,
                            std::int64_t quantity) {
    const std::lock_guard hold(state_->one_at_a_time);
    mk::agent& me = *state_->seats[seat];
    const mk::known_order& known = order_of(me, number);
    const domain::instrument& i = state_->world->rules(known.instrument);
    const domain::price_ticks price = has_price ? ticks_of(i, price_nano) : known.price;
    const domain::quantity_lots lots = quantity == 0 ? known.open : lots_of(i, quantity, "quantity");
    return me.amend(number, price, lots).number;
}

std::uint32_t market::cancel_all(std::size_t seat, const std::string& instrument) {
    const std::lock_guard hold(state_->one_at_a_time);
    const domain::instrument_id in = instrument.empty() ? domain::instrument_id{} : state_->instrument(instrument).id;
    return state_->seats[seat]->cancel_all(in).number;
}

frame_pointer market::seat_orders(std::size_t seat) const {
    const std::lock_guard hold(state_->one_at_a_time);
    const mk::market& world = *state_->world;
    instrument_columns known;
    std::vector<std::int64_t> number;
    std::vector<std::int32_t> instrument;
    std::vector<std::int8_t> side;
    std::vector<double> price;
    std::vector<std::int64_t> open;
    std::vector<std::int8_t> order_state;
    std::vector<std::int64_t> sent;
    for (const mk::known_order& each : state_->seats[seat]->orders()) {
        const domain::instrument& of = world.rules(each.instrument);
        number.push_back(each.number);
        instrument.push_back(known.code(&of));
        side.push_back(static_cast<std::int8_t>(each.side));
        price.push_back(known.price(&of, each.price));
        open.push_back(signed_of(std::uint64_t{each.open.value} * of.lot_size));
        order_state.push_back(static_cast<std::int8_t>(each.state));
        sent.push_back(world.options().start_ns + each.sent_at_ns);
    }
    std::vector<std::string> states;
    for (const mk::order_state each : order_states) states.emplace_back(name_of(each));
    std::vector<column> columns;
    columns.push_back({"number", meaning::number, std::move(number), {}});
    columns.push_back({"instrument", meaning::category, std::move(instrument), known.names()});
    columns.push_back({"side", meaning::category, std::move(side), side_names()});
    columns.push_back({"price", meaning::number, std::move(price), {}});
    columns.push_back({"open", meaning::number, std::move(open), {}});
    columns.push_back({"state", meaning::category, std::move(order_state), std::move(states)});
    columns.push_back({"sent", meaning::time, std::move(sent), {}});
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer market::seat_holdings(std::size_t seat) const {
    const std::lock_guard hold(state_->one_at_a_time);
    const mk::market& world = *state_->world;
    instrument_columns known;
    std::vector<std::int32_t> instrument;
    std::vector<std::int64_t> position;
    std::vector<double> cash;
    std::vector<std::int64_t> traded;
    std::vector<double> fees;
    for (const mk::holding& each : state_->seats[seat]->holdings()) {
        const domain::instrument& of = world.rules(each.instrument);
        instrument.push_back(known.code(&of));
        position.push_back(each.lots * of.lot_size);
        cash.push_back(static_cast<double>(each.cash) * double_of_nano(of.tick_size.value) * of.lot_size);
        traded.push_back(signed_of(each.traded_lots * of.lot_size));
        fees.push_back(static_cast<double>(each.fees) / 1e9);
    }
    std::vector<column> columns;
    columns.push_back({"instrument", meaning::category, std::move(instrument), known.names()});
    columns.push_back({"position", meaning::number, std::move(position), {}});
    columns.push_back({"cash", meaning::number, std::move(cash), {}});
    columns.push_back({"traded", meaning::number, std::move(traded), {}});
    columns.push_back({"fees", meaning::number, std::move(fees), {}});
    return std::make_shared<frame>(std::move(columns));
}

frame_pointer market::take_fills(std::size_t seat) {
    const std::lock_guard hold(state_->one_at_a_time);
    const mk::market& world = *state_->world;
    instrument_columns known;
    std::vector<std::int64_t> time;
    std::vector<std::int64_t> number;
    std::vector<std::int32_t> instrument;
    std::vector<std::int8_t> side;
    std::vector<double> price;
    std::vector<std::int64_t> quantity;
    std::vector<std::uint8_t> aggressor;
    for (const domain::event& each : state_->seats[seat]->take_fills()) {
        const domain::instrument& of = world.rules(each.instrument);
        time.push_back(each.time.value);
        number.push_back(signed_of(each.execution.client_order.value));
        instrument.push_back(known.code(&of));
        side.push_back(static_cast<std::int8_t>(each.side));
        price.push_back(known.price(&of, each.execution.price));
        quantity.push_back(signed_of(std::uint64_t{each.execution.quantity.value} * of.lot_size));
        aggressor.push_back((each.flags & domain::event_flag::aggressor) != 0 ? 1 : 0);
    }
    std::vector<column> columns;
    columns.push_back({"time", meaning::time, std::move(time), {}});
    columns.push_back({"number", meaning::number, std::move(number), {}});
    columns.push_back({"instrument", meaning::category, std::move(instrument), known.names()});
    columns.push_back({"side", meaning::category, std::move(side), side_names()});
    columns.push_back({"price", meaning::number, std::move(price), {}});
    columns.push_back({"quantity", meaning::number, std::move(quantity), {}});
    columns.push_back({"aggressor", meaning::flag, std::move(aggressor), {}});
    return std::make_shared<frame>(std::move(columns));
}

std::int64_t market::seat_position(std::size_t seat, const std::string& instrument) const {
    const std::lock_guard hold(state_->one_at_a_time);
    const domain::instrument& of = state_->instrument(instrument);
    return state_->seats[seat]->position(of.id) * of.lot_size;
}

double market::seat_cash(std::size_t seat, const std::string& instrument) const {
    const std::lock_guard hold(state_->one_at_a_time);
    const domain::instrument& of = state_->instrument(instrument);
    for (const mk::holding& each : state_->seats[seat]->holdings()) {
        if (each.instrument != of.id) continue;
        const double tick_value = double_of_nano(of.tick_size.value) * of.lot_size;
        return static_cast<double>(each.cash) * tick_value - static_cast<double>(each.fees) / 1e9;
    }
    return 0;
}

quote_facts market::seat_quote(std::size_t seat, const std::string& instrument) {
    const std::lock_guard hold(state_->one_at_a_time);
    const domain::instrument& of = state_->instrument(instrument);
    const mk::book_view& view = state_->seats[seat]->book(of.id);
    const decimal_scale scale(of.tick_size.value);
    const auto price_of = [&](domain::price_ticks ticks) {
        return ticks == domain::no_price ? std::numeric_limits<double>::quiet_NaN() : scale(ticks.value);
    };
    quote_facts made;
    made.time_ns = state_->world->options().start_ns + std::max<std::int64_t>(view.at_ns, 0);
    made.bid = price_of(view.bid);
    made.ask = price_of(view.ask);
    made.bid_quantity = signed_of(view.bid_lots * of.lot_size);
    made.ask_quantity = signed_of(view.ask_lots * of.lot_size);
    made.last = price_of(view.last);
    made.volume = signed_of(view.volume_lots * of.lot_size);
    return made;
}

}  // namespace corro::python
