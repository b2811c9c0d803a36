// SPDX-License-Identifier: Apache-2.0
#include "history/event_rows.hpp"

#include <algorithm>

namespace corro::history {
namespace {

using domain::event_kind;

/// Whether an order has a limit price of its owner.
bool has_limit(domain::order_type type) noexcept {
    return type == domain::order_type::limit || type == domain::order_type::stop_limit;
}

order_event event_of(event_kind kind) noexcept {
    switch (kind) {
        case event_kind::order_amended: return order_event::amended;
        case event_kind::order_cancelled: return order_event::cancelled;
        case event_kind::order_executed: return order_event::executed;
        case event_kind::order_rejected: return order_event::rejected;
        default: return order_event::entered;
    }
}

/// Quantities in units of the instrument; for an unknown instrument the sender's number.
std::uint64_t units(const domain::instrument* i, std::uint64_t lots) noexcept {
    return i == nullptr ? lots : lots * i->lot_size;
}

}  // namespace

std::string_view name_of(order_event event) noexcept {
    switch (event) {
        case order_event::accepted: return "accepted";
        case order_event::entered: return "entered";
        case order_event::amended: return "amended";
        case order_event::cancelled: return "cancelled";
        case order_event::executed: return "executed";
        case order_event::rejected: return "rejected";
    }
    return "";
}

std::string_view name_of(domain::side side) noexcept {
    return side == domain::side::buy ? "buy" : "sell";
}

std::string_view name_of(domain::order_type type) noexcept {
    switch (type) {
        case domain::order_type::limit: return "limit";
        case domain::order_type::market: return "market";
        case domain::order_type::market_to_limit: return "market_to_limit";
        case domain::order_type::market_protected: return "market_protected";
        case domain::order_type::stop: return "stop";
        case domain::order_type::stop_limit: return "stop_limit";
        case domain::order_type::market_if_touched: return "market_if_touched";
    }
    return "";
}

std::string_view name_of(domain::time_in_force t) noexcept {
    switch (t) {
        case domain::time_in_force::day: return "day";
        case domain::time_in_force::gtc: return "gtc";
        case domain::time_in_force::ioc: return "ioc";
        case domain::time_in_force::fok: return "fok";
        case domain::time_in_force::gtd: return "gtd";
        case domain::time_in_force::at_the_open: return "at_the_open";
        case domain::time_in_force::at_the_close: return "at_the_close";
    }
    return "";
}

row_exporter::row_exporter(std::span<const domain::instrument> instruments, domain::instrument_id only,
                           export_choice what)
    : instruments_(instruments.begin(), instruments.end()), only_(only), what_(what) {
    std::ranges::sort(instruments_, {}, &domain::instrument::id);
}

void row_exporter::begin(const facility::facility& state) {
    struct visitor final : facility::book_visitor {
        void visit_level(domain::side side, const domain::level& level) override {
            if (!to->what_.levels) return;
            to->write_level({position.sequence, position.time, of, side, level.price, units(of, level.quantity.value),
                             level.orders_count});
        }
        void visit_order(domain::side, const facility::resting_order& o) override {
            if (to->what_.orders) to->known_.insert(o.order.value);
        }
        row_exporter* to = nullptr;
        const domain::instrument* of = nullptr;
        facility::snapshot_position position;
    } levels;
    levels.to = this;
    levels.position = state.position();
    for (const domain::instrument& i : instruments_) {
        if (!is_wanted(i.id)) continue;
        levels.of = &i;
        state.visit_book(i.id, levels);
    }
}

void row_exporter::write(const domain::event& e) {
    if (domain::is_definition(e.kind)) return take_definition(e);
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_cancelled:
        case event_kind::order_executed:
        case event_kind::order_rejected:
            if (what_.orders && is_wanted(e.instrument)) {
                const domain::instrument* const i = find(e.instrument);
                if (announces(e)) write_order(accepted_row(e, i));
                write_order(row_of(e, i));
            }
            break;
        case event_kind::trade_capture: (e.side == domain::side::buy ? buyer_ : seller_) = e.capture; break;
        case event_kind::trade:
            if (what_.trades && is_wanted(e.instrument)) {
                if (const domain::instrument* const i = find(e.instrument)) write_trade(trade_of(e, *i));
            }
            break;
        case event_kind::level_changed:
            if (what_.levels && is_wanted(e.instrument)) {
                if (const domain::instrument* const i = find(e.instrument)) {
                    write_level({e.command, e.time, i, e.side, e.level.price, units(i, e.level.quantity.value),
                                 e.level.orders_count});
                }
            }
            break;
        default: break;
    }
}

void row_exporter::take_definition(const domain::event& e) {
    if (!definitions_.take(e)) return;
    const domain::instrument* const like = find(definitions_.get().like);
    if (like == nullptr || find(e.instrument) != nullptr) return;
    const domain::instrument made = domain::define_like(*like, definitions_.get()).value;
    instruments_.insert(std::ranges::upper_bound(instruments_, made.id, {}, &domain::instrument::id), made);
}

const domain::instrument* row_exporter::find(domain::instrument_id id) const noexcept {
    const auto at = std::ranges::lower_bound(instruments_, id, {}, &domain::instrument::id);
    return at != instruments_.end() && at->id == id ? &*at : nullptr;
}

/// Whether the event is the first about the order that the running command enters: one with its account, session
/// and id that no earlier event had.
bool row_exporter::announces(const domain::event& e) {
    const bool is_fill = e.kind == event_kind::order_executed;
    const std::uint64_t order = is_fill ? e.execution.order.value : e.order.order.value;
    const bool has_ended = e.kind == event_kind::order_cancelled || (is_fill && e.execution.leaves.value == 0);
    const bool is_new = has_ended ? known_.erase(order) == 0 : known_.insert(order).second;
    const domain::command& c = command();
    if (!is_new || order == 0 || accepted_ == e.command || e.command != c.sequence) return false;
    if (c.kind != domain::command_kind::enter_order || c.instrument != e.instrument) return false;
    if (e.reason == domain::reject_reason::expired || e.reason == domain::reject_reason::triggered) return false;
    const bool is_own = is_fill ? e.execution.account == c.account && e.execution.session == c.session &&
                                      e.execution.client_order == c.client_order
                                : e.order.account == c.account && e.order.session == c.session &&
                                      e.order.client_order == c.client_order;
    if (is_own) accepted_ = e.command;
    return is_own;
}

/// The order as sent, with all its lots, independent of immediate fills.
order_row row_exporter::accepted_row(const domain::event& e, const domain::instrument* i) const {
    const domain::command& c = command();
    const domain::order_terms& terms = c.order_terms();
    const domain::enter_order& o = c.enter_order();
    order_row row;
    row.sequence = e.command;
    row.time = e.time;
    row.event = order_event::accepted;
    row.instrument = i;
    row.side = terms.side;
    row.order = e.kind == event_kind::order_executed ? e.execution.order : e.order.order;
    row.client_order = c.client_order;
    row.account = c.account;
    row.session = c.session;
    if (has_limit(terms.type)) row.price = o.price;
    row.quantity = units(i, o.quantity.value);
    row.open = row.quantity;
    row.type = terms.type;
    row.time_in_force = terms.time_in_force;
    if (terms.type >= domain::order_type::stop) row.trigger_price = o.trigger_price;
    row.display_quantity = units(i, o.display_quantity.value);
    row.minimum_quantity = units(i, o.minimum_quantity.value);
    return row;
}

order_row row_exporter::row_of(const domain::event& e, const domain::instrument* i) {
    order_row row;
    row.sequence = e.command;
    row.time = e.time;
    row.event = event_of(e.kind);
    row.instrument = i;
    row.side = e.side;
    row.reason = e.reason;
    if (e.kind == event_kind::order_executed) {
        const domain::execution& x = e.execution;
        row.order = x.order;
        row.client_order = x.client_order;
        row.account = x.account;
        row.session = x.session;
        row.price = x.price;
        row.quantity = units(i, x.quantity.value);
        row.open = units(i, x.leaves.value);
        row.is_aggressor = (e.flags & domain::event_flag::aggressor) != 0;
        return row;
    }
    const domain::private_order& o = e.order;
    const bool stays = e.kind == event_kind::order_entered || e.kind == event_kind::order_amended;
    row.order = o.order;
    row.client_order = o.client_order;
    row.account = o.account;
    row.session = o.session;
    row.price = o.price;
    row.quantity = units(i, o.quantity.value);
    row.open = stays ? row.quantity : 0;
    return row;
}

trade_row row_exporter::trade_of(const domain::event& e, const domain::instrument& i) const {
    trade_row row;
    row.sequence = e.command;
    row.time = e.time;
    row.trade = e.trade.trade;
    row.instrument = &i;
    row.price = e.trade.price;
    row.quantity = units(&i, e.trade.quantity.value);
    row.aggressor = e.side;
    if (buyer_.trade == row.trade) {
        row.buy_order = buyer_.order;
        row.buy_account = buyer_.account;
    }
    if (seller_.trade == row.trade) {
        row.sell_order = seller_.order;
        row.sell_account = seller_.account;
    }
    return row;
}

}  // namespace corro::history
