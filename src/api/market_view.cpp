// SPDX-License-Identifier: Apache-2.0
#include "api/market_view.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/limits.hpp"

namespace corro::api {

using domain::event_kind;

market& market_view::define(const domain::instrument& terms) {
    market& one = markets_[terms.id.value];
    if (one.terms.id.value == 0) {
        one.prices.last = one.prices.high = one.prices.low = one.prices.open = domain::no_price;
    } else {
        ids_.erase(std::string(one.terms.name.view()));
    }
    one.terms = terms;
    ids_.insert_or_assign(std::string(terms.name.view()), terms.id.value);
    return one;
}

void market_view::begin(const domain::instrument& terms, const feed::book_image& book, std::uint64_t command,
                        std::int64_t now_ns) {
    market& one = define(terms);
    one.last_change = std::max(one.last_change, command);
    one.time_ns = std::max(one.time_ns, now_ns);
    listener_->before_event(one);
    one.implied = book.implied();
    one.prices = book.prices();
    one.volumes = book.volumes();
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        replace_side(one, side, book.levels(side));
    }
    replace_orders(one, book, command);
    listener_->on_ticker(one);
}

void market_view::set_level(market& where, domain::side side, std::int64_t rank, std::uint64_t quantity) {
    level_map& levels = where.levels[static_cast<std::size_t>(side)];
    std::uint64_t before = 0;
    if (quantity == 0) {
        const auto found = levels.find(rank);
        if (found != levels.end()) {
            before = found->second;
            levels.erase(found);
        }
    } else {
        before = std::exchange(levels[rank], quantity);
    }
    listener_->on_level(where, side, rank, before);
}

void market_view::replace_side(market& where, domain::side side, const std::vector<feed::image_level>& with) {
    level_map gone = where.side(side);
    for (const feed::image_level& level : with) {
        const std::int64_t rank = rank_of(side, level.price);
        const auto old = gone.find(rank);
        const bool is_same = old != gone.end() && old->second == level.quantity.value;
        if (old != gone.end()) gone.erase(old);
        if (!is_same) set_level(where, side, rank, level.quantity.value);
    }
    for (const auto& [rank, quantity] : gone) set_level(where, side, rank, 0);
}

void market_view::replace_orders(market& where, const feed::book_image& with, std::uint64_t command) {
    where.orders = with;
    where.priorities = base::flat_map<std::uint64_t>();
    where.orders.for_each_order(
        [&where](domain::side, domain::price_ticks, domain::order_id order, domain::quantity_lots) {
            static_cast<void>(where.priorities.try_insert(order.value, ++where.last_priority));
        });
    where.last_order_change = std::max(where.last_order_change, command);
    listener_->on_orders_replaced(where);
}

// The feed's session has compared the event with its own book already.
void market_view::change_order(market& where, const domain::event& event) {
    if (where.orders.apply(event) != feed::image_status::applied) return;
    where.last_order_change = event.command.value;
    order_change change;
    change.order = event.book.order;
    change.side = event.side;
    change.price = event.book.price;
    change.is_new = event.kind == event_kind::order_added;
    if (change.is_new) {
        change.priority = ++where.last_priority;
        static_cast<void>(where.priorities.try_insert(change.order.value, change.priority));
    } else if (const std::uint64_t* const known = where.priorities.find(change.order.value)) {
        change.priority = *known;
    }
    if (event.kind == event_kind::order_deleted) {
        static_cast<void>(where.priorities.erase(change.order.value));
    } else {
        change.lots = event.book.quantity.value;
    }
    listener_->on_order(where, change);
}

void market_view::add_trade(market& where, const domain::event& event) {
    tape_entry entry;
    entry.trade = event.trade.trade.value;
    entry.time_ns = event.time.value;
    entry.price = event.trade.price;
    entry.quantity = event.trade.quantity.value;
    entry.side = event.side;
    if (!where.trades.empty()) {
        const domain::price_ticks before = where.trades.back().price;
        const bool was_up = where.direction < 2;
        where.direction = entry.price > before ? 0 : entry.price < before ? 2 : was_up ? 1 : 3;
    }
    entry.direction = where.direction;
    if (where.trades.size() == trades_kept) where.trades.pop_front();
    where.trades.push_back(entry);
    listener_->on_trade(where, where.trades.back());
}

void market_view::take(const wire::instrument_table& instruments, const domain::event& event) {
    if (domain::is_definition(event.kind)) {
        // The last event of a definition makes the instrument known.
        const domain::instrument* const terms = instruments.find(event.instrument);
        if (terms == nullptr || event.kind != event_kind::instrument_defined) return;
        market& made = define(*terms);
        made.time_ns = event.time.value;
        made.last_change = event.command.value;
        return;
    }
    const auto found = markets_.find(event.instrument.value);
    if (found == markets_.end()) return;
    market& where = found->second;
    where.time_ns = event.time.value;
    listener_->before_event(where);
    switch (event.kind) {
        case event_kind::level_changed:
            where.last_change = event.command.value;
            set_level(where, event.side, rank_of(event.side, event.level.price), event.level.quantity.value);
            break;
        case event_kind::order_added:
        case event_kind::order_reduced:
        case event_kind::order_deleted: change_order(where, event); break;
        case event_kind::top_of_book: listener_->on_ticker(where); break;
        case event_kind::trade: add_trade(where, event); break;
        case event_kind::price_update:
            where.prices = event.prices;
            listener_->on_ticker(where);
            break;
        case event_kind::statistics:
            where.volumes = event.volumes;
            listener_->on_ticker(where);
            break;
        case event_kind::phase_changed:
            where.phase = event.phase.phase;
            where.indicative.price = domain::no_price;
            listener_->on_ticker(where);
            break;
        case event_kind::auction_indicative:
            where.indicative = event.auction;
            listener_->on_indication(where);
            break;
        case event_kind::auction_ended:
            where.indicative.price = domain::no_price;
            listener_->on_indication(where);
            break;
        case event_kind::implied_top:
            where.implied = event.top;
            listener_->on_indication(where);
            break;
        case event_kind::instrument_settled:
            where.is_settled = true;
            listener_->on_ticker(where);
            break;
        default: break;
    }
    if ((event.flags & domain::event_flag::last_of_command) != 0) listener_->on_command_end();
}

const market* market_view::find(domain::instrument_id id) const noexcept {
    const auto found = markets_.find(id.value);
    return found == markets_.end() ? nullptr : &found->second;
}

const market* market_view::find(std::string_view name) const noexcept {
    const auto found = ids_.find(name);
    return found == ids_.end() ? nullptr : find(domain::instrument_id{found->second});
}

}  // namespace corro::api
