// SPDX-License-Identifier: Apache-2.0
#include "client/order_entry.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "base/assert.hpp"
#include "domain/instrument.hpp"
#include "wire/binary_codec.hpp"

namespace corro::client {
namespace {

constexpr double nano = 1e9;
// Above this a price in billionths does not fit 64 bits.
constexpr double price_max = 9e9;

std::expected<domain::price_ticks, domain::reject_reason> ticks_of(const domain::instrument& i, double price) {
    if (!(std::abs(price) < price_max)) return std::unexpected(domain::reject_reason::invalid_price);
    const auto ticks = domain::to_ticks(i, domain::price_nano{std::llround(price * nano)});
    if (ticks.reason != domain::reject_reason::none) return std::unexpected(ticks.reason);
    return ticks.value;
}

std::expected<domain::quantity_lots, domain::reject_reason> lots_of(const domain::instrument& i, std::uint64_t units) {
    if (units > INT64_MAX) return std::unexpected(domain::reject_reason::invalid_quantity);
    const auto lots = domain::to_lots(i, static_cast<std::int64_t>(units));
    if (lots.reason != domain::reject_reason::none) return std::unexpected(lots.reason);
    return lots.value;
}

double price_of(const domain::instrument& i, domain::price_ticks ticks) {
    return ticks == domain::no_price ? 0.0 : static_cast<double>(domain::to_nano(i, ticks).value) / nano;
}

// The session's number is the upper half of a client order id, so that orders of several sessions of an account differ.
constexpr std::uint64_t number_mask = UINT32_MAX;

}  // namespace

const domain::instrument* order_entry::find(std::string_view symbol) const noexcept {
    const domain::instrument* found = nullptr;
    session_.instruments().for_each([&](const domain::instrument& each) {
        if (each.name.view() == symbol) found = &each;
    });
    return found;
}

domain::client_order_id order_entry::id_of(order_number number) const noexcept {
    return domain::client_order_id{(std::uint64_t{session_.session().value} << 32U) | number};
}

std::expected<order_number, domain::reject_reason> order_entry::send_new(const domain::instrument& i,
                                                                         std::uint64_t units,
                                                                         domain::command& command) {
    const auto lots = lots_of(i, units);
    if (!lots) return std::unexpected(lots.error());
    command.kind = domain::command_kind::enter_order;
    command.instrument = i.id;
    command.enter_order().quantity = *lots;
    // The request's number: the session never uses it again.
    const order_number number = session_.next_request() & number_mask;
    command.client_order = id_of(number);
    const domain::side side = command.order_terms().side;
    if (session_.send(command) == 0) return std::unexpected(domain::reject_reason::throttled);
    open_[number] = {i.id, side};
    return number;
}

std::expected<order_number, domain::reject_reason> order_entry::enter(const limit_order& order) {
    const domain::instrument* const i = find(order.symbol);
    if (i == nullptr) return std::unexpected(domain::reject_reason::unknown_instrument);
    const auto price = ticks_of(*i, order.price);
    if (!price) return std::unexpected(price.error());
    domain::command command;
    command.kind = domain::command_kind::enter_order;
    command.order_terms().side = order.side;
    command.order_terms().time_in_force = order.lasts;
    command.enter_order().price = *price;
    command.enter_order().self_match_prevention = order.prevents;
    if (order.post_only) command.enter_order().flags |= domain::order_flag::post_only;
    if (order.shows != 0) {
        const auto shown = lots_of(*i, order.shows);
        if (!shown) return std::unexpected(shown.error());
        command.enter_order().display_quantity = *shown;
    }
    return send_new(*i, order.units, command);
}

std::expected<order_number, domain::reject_reason> order_entry::enter(const market_order& order) {
    const domain::instrument* const i = find(order.symbol);
    if (i == nullptr) return std::unexpected(domain::reject_reason::unknown_instrument);
    domain::command command;
    command.kind = domain::command_kind::enter_order;
    command.order_terms().side = order.side;
    command.order_terms().type = domain::order_type::market;
    command.order_terms().time_in_force = domain::time_in_force::ioc;
    return send_new(*i, order.units, command);
}

std::expected<domain::command, domain::reject_reason> order_entry::command_of(const quote& q) const {
    const domain::instrument* const i = find(q.symbol);
    if (i == nullptr) return std::unexpected(domain::reject_reason::unknown_instrument);
    domain::command command;
    command.kind = domain::command_kind::enter_quote;
    command.instrument = i->id;
    domain::enter_quote& sides = command.enter_quote();
    if (q.bid_units != 0) {
        const auto price = ticks_of(*i, q.bid);
        if (!price) return std::unexpected(price.error());
        const auto lots = lots_of(*i, q.bid_units);
        if (!lots) return std::unexpected(lots.error());
        sides.bid_price = *price;
        sides.bid_quantity = *lots;
    }
    if (q.ask_units != 0) {
        const auto price = ticks_of(*i, q.ask);
        if (!price) return std::unexpected(price.error());
        const auto lots = lots_of(*i, q.ask_units);
        if (!lots) return std::unexpected(lots.error());
        sides.ask_price = *price;
        sides.ask_quantity = *lots;
    }
    return command;
}

std::expected<order_number, domain::reject_reason> order_entry::enter(std::span<const quote> quotes) {
    CORRO_ASSERT(!quotes.empty() && quotes.size() <= wire::mass_quote_max);
    std::array<domain::command, wire::mass_quote_max> commands;
    const order_number number = session_.next_request() & number_mask;
    for (std::size_t k = 0; k < quotes.size(); ++k) {
        const auto command = command_of(quotes[k]);
        if (!command) return std::unexpected(command.error());
        commands[k] = *command;
        commands[k].client_order = id_of(number);
    }
    const auto used = std::span(commands).first(quotes.size());
    if (session_.send_mass_quote(used) == 0) return std::unexpected(domain::reject_reason::throttled);
    for (const domain::command& command : used) quotes_.emplace(command.instrument.value, number);
    return number;
}

domain::reject_reason order_entry::amend(order_number number, std::uint64_t units, double price) {
    const auto found = open_.find(number);
    const domain::instrument* const i =
        found == open_.end() ? nullptr : session_.instruments().find(found->second.instrument);
    if (i == nullptr) return domain::reject_reason::unknown_order;
    const auto lots = lots_of(*i, units);
    if (!lots) return lots.error();
    const auto ticks = ticks_of(*i, price);
    if (!ticks) return ticks.error();
    domain::command command;
    command.kind = domain::command_kind::amend_order;
    command.instrument = i->id;
    command.client_order = id_of(number);
    command.amend_order().quantity = *lots;
    command.amend_order().price = *ticks;
    return session_.send(command) == 0 ? domain::reject_reason::throttled : domain::reject_reason::none;
}

domain::reject_reason order_entry::cancel(order_number number) {
    const auto found = open_.find(number);
    if (found == open_.end()) return domain::reject_reason::unknown_order;
    domain::command command;
    command.kind = domain::command_kind::cancel_order;
    command.instrument = found->second.instrument;
    command.client_order = id_of(number);
    return session_.send(command) == 0 ? domain::reject_reason::throttled : domain::reject_reason::none;
}

void order_entry::fill_in(order_update& update, const domain::event& event, domain::client_order_id of) const {
    update.number = of.value & number_mask;
    update.side = event.side;
    update.reason = event.reason;
    const domain::instrument* const i = session_.instruments().find(event.instrument);
    if (i == nullptr) return;
    update.symbol = i->name.view();
    const bool is_fill = event.kind == domain::event_kind::order_executed;
    const std::uint64_t lots = is_fill ? event.execution.quantity.value : event.order.quantity.value;
    const bool is_over = event.kind == domain::event_kind::order_cancelled;
    update.units = lots * i->lot_size;
    update.open = is_over ? 0 : is_fill ? std::uint64_t{event.execution.leaves.value} * i->lot_size : update.units;
    update.price = price_of(*i, is_fill ? event.execution.price : event.order.price);
}

// The answer to a quote, or a fill of it.
void order_entry::read_quote(order_update& update, const domain::event& event) {
    using domain::event_kind;
    const std::uint32_t instrument = event.instrument.value;
    if (event.kind == event_kind::quote_entered) {
        const domain::client_order_id of = event.quote.client_order;
        const auto found = quotes_.find({instrument, of.value & number_mask});
        if (of != id_of(of.value & number_mask) || found == quotes_.end()) return;
        // No fill of an earlier quote comes behind this.
        quotes_.erase(quotes_.lower_bound({instrument, 0}), found);
        update.what = order_update::kind::quoted;
        update.number = of.value & number_mask;
        const domain::instrument& i = *session_.instruments().find(event.instrument);
        update.symbol = i.name.view();
        update.open = std::uint64_t{event.quote.bid_quantity.value} * i.lot_size;
        update.ask_open = std::uint64_t{event.quote.ask_quantity.value} * i.lot_size;
        return;
    }
    const bool is_fill = event.kind == event_kind::order_executed;
    const domain::client_order_id of = is_fill ? event.execution.client_order : event.order.client_order;
    const auto found = quotes_.find({instrument, of.value & number_mask});
    const bool is_refused = event.kind == event_kind::order_rejected;
    if (of != id_of(of.value & number_mask) || found == quotes_.end() || (!is_fill && !is_refused)) return;
    fill_in(update, event, of);
    update.what = is_fill ? order_update::kind::filled : order_update::kind::refused;
    if (is_refused) quotes_.erase(found);
}

order_update order_entry::read(const answer& from) {
    using domain::event_kind;
    order_update update;
    if (from.reject || from.gap || from.told != nullptr) return update;
    const domain::event& event = from.event;
    const bool is_fill = event.kind == event_kind::order_executed;
    const bool is_of_order = is_fill || event.kind == event_kind::order_entered ||
                             event.kind == event_kind::order_amended || event.kind == event_kind::order_cancelled ||
                             event.kind == event_kind::order_rejected;
    if (event.kind == event_kind::quote_entered) read_quote(update, event);
    if (!is_of_order) return update;
    const domain::client_order_id of = is_fill ? event.execution.client_order : event.order.client_order;
    if (is_fill) {
        const std::int64_t lots = event.execution.quantity.value;
        positions_[event.instrument.value] += event.side == domain::side::buy ? lots : -lots;
    }
    const order_number number = of.value & number_mask;
    const auto found = of == id_of(number) ? open_.find(number) : open_.end();
    if (found == open_.end()) {
        read_quote(update, event);
        return update;
    }
    fill_in(update, event, of);
    switch (event.kind) {
        case event_kind::order_entered: update.what = order_update::kind::accepted; break;
        case event_kind::order_amended: update.what = order_update::kind::amended; break;
        case event_kind::order_executed:
            update.what = order_update::kind::filled;
            if (update.open == 0) open_.erase(found);
            break;
        case event_kind::order_cancelled:
            update.what = order_update::kind::cancelled;
            open_.erase(found);
            break;
        default:
            update.what = order_update::kind::refused;
            // The request of the order itself has the order's number; a change of it has another one.
            if (event.order.request == number) open_.erase(found);
            break;
    }
    return update;
}

std::int64_t order_entry::position(std::string_view symbol) const noexcept {
    const domain::instrument* const i = find(symbol);
    if (i == nullptr) return 0;
    const auto found = positions_.find(i->id.value);
    return found == positions_.end() ? 0 : found->second * static_cast<std::int64_t>(i->lot_size);
}

std::vector<order_number> order_entry::open_orders() const {
    std::vector<order_number> numbers;
    for (const auto& [number, order] : open_) numbers.push_back(number);
    return numbers;
}

}  // namespace corro::client
