// SPDX-License-Identifier: Apache-2.0
#include "market/agent.hpp"

#include <algorithm>

#include "domain/private_event.hpp"
#include "market/market.hpp"

namespace corro::market {
namespace {

using domain::event_kind;

bool contains(const std::vector<domain::instrument_id>& all, domain::instrument_id one) noexcept {
    return std::ranges::find(all, one) != all.end();
}

/// Adds a fill to a holding. Positions of a strategy are held in its legs, its cash at the strategy.
void add_fill(holding& to, const domain::execution& fill, domain::side side, bool is_strategy) noexcept {
    const auto lots = static_cast<std::int64_t>(fill.quantity.value);
    const std::int64_t sign = side == domain::side::buy ? 1 : -1;
    if (!is_strategy) to.lots += sign * lots;
    to.cash -= sign * lots * fill.price.value;
    to.traded_lots += fill.quantity.value;
}

}  // namespace

agent::agent(market& of, std::uint32_t index, std::string_view name, std::uint64_t run_seed, const link& way,
             const delay* compute, clock_error clock)
    : market_(&of),
      link_(&way),
      compute_(compute),
      index_(index),
      clock_(clock),
      random_(run_seed, name),
      way_random_{random_stream(run_seed ^ 1, name), random_stream(run_seed ^ 2, name),
                  random_stream(run_seed ^ 3, name), random_stream(run_seed ^ 4, name)} {}

std::int64_t agent::now_ns() const noexcept {
    const std::int64_t now = market_->now_ns();
    if (clock_.drift_ppm == 0) return now + clock_.offset_ns;
    return now + clock_.offset_ns +
           static_cast<std::int64_t>(rounded(static_cast<double>(now) * clock_.drift_ppm / 1e6));
}

std::int64_t agent::deadline_after(std::int64_t duration) const noexcept {
    if (duration >= never_ns) return never_ns;
    if (clock_.drift_ppm != 0) {
        duration = duration_ns(static_cast<double>(duration) / (1 + clock_.drift_ppm / 1e6));
    }
    return market_->now_ns() + std::max<std::int64_t>(duration, 0);
}

void agent::begin_wait(std::coroutine_handle<> waiter, std::uint8_t kinds, domain::instrument_id instrument,
                       request_number number, std::int64_t deadline_ns) {
    waiter_ = waiter;
    news_kinds_ = kinds;
    news_instrument_ = instrument;
    awaited_ = number;
    deadline_ns_ = deadline_ns;
    news_due_ns_ = never_ns;
    heard_ = false;
    woken_as_wanted_ = false;
    last_answer_ = answer();
    is_waiting_ = true;
    if (is_stopping_) return;
    if ((kinds & (news::trades | news::tops)) != 0) market_->await_public(*this);
    market_->plan_next(*this);
}

agent::sent agent::send(domain::command command) {
    domain::command& prepared = market_->prepare(*this);
    command.session = prepared.session;
    command.account = prepared.account;
    const request_number number = prepared.request();
    const bool is_operator = prepared.is_operator();
    prepared = command;
    prepared.set_request(number);
    prepared.set_operator(is_operator);
    market_->depart(*this);
    return {*this, number};
}

agent::sent agent::enter(const new_order& order) {
    domain::command& c = market_->prepare(*this, order.is_tracked);
    const request_number number = c.request();
    c.instrument = order.instrument;
    c.client_order = domain::client_order_id{number};
    c.order_terms().side = order.side;
    c.order_terms().type = order.type;
    c.order_terms().time_in_force = order.time_in_force;
    domain::enter_order& e = c.enter_order();
    e.price = order.price;
    e.quantity = order.quantity;
    e.flags = order.flags;
    e.display_quantity = order.display_quantity;
    e.self_match_prevention = order.self_match_prevention;
    known_order known;
    known.number = number;
    known.instrument = order.instrument;
    known.price = order.price;
    known.open = order.quantity;
    known.side = order.side;
    known.sent_at_ns = market_->now_ns();
    orders_.push_back(known);
    market_->depart(*this);
    return {*this, number};
}

agent::sent agent::cancel(request_number order) {
    domain::command& c = market_->prepare(*this);
    const request_number number = c.request();
    c.kind = domain::command_kind::cancel_order;
    c.client_order = domain::client_order_id{order};
    if (known_order* known = find(order); known != nullptr) {
        known->state = order_state::cancelling;
        c.instrument = known->instrument;
        c.payload.cancel_order.order = known->order;
    }
    market_->depart(*this);
    return {*this, number};
}

agent::sent agent::amend(request_number order, domain::price_ticks price, domain::quantity_lots lots) {
    domain::command& c = market_->prepare(*this);
    const request_number number = c.request();
    c.kind = domain::command_kind::amend_order;
    c.client_order = domain::client_order_id{order};
    c.payload.amend_order = domain::amend_order{};
    c.set_request(number);
    c.set_operator(market_->is_operator(index_));
    domain::amend_order& a = c.amend_order();
    a.price = price;
    a.quantity = lots;
    a.flags = domain::amend_flag::open_quantity;
    if (known_order* known = find(order); known != nullptr) {
        c.instrument = known->instrument;
        a.order = known->order;
    }
    market_->depart(*this);
    return {*this, number};
}

agent::sent agent::cancel_all(domain::instrument_id in) {
    domain::command& c = market_->prepare(*this);
    const request_number number = c.request();
    c.kind = domain::command_kind::cancel_orders;
    c.instrument = in;
    for (known_order& each : orders_) {
        if (in.value == 0 || each.instrument == in) each.state = order_state::cancelling;
    }
    market_->depart(*this);
    return {*this, number};
}

const known_order* agent::order(request_number number) const noexcept {
    const auto found = std::ranges::find(orders_, number, &known_order::number);
    return found == orders_.end() ? nullptr : &*found;
}

known_order* agent::find(request_number number) noexcept {
    const auto found = std::ranges::find(orders_, number, &known_order::number);
    return found == orders_.end() ? nullptr : &*found;
}

void agent::erase(request_number number) noexcept {
    const auto found = std::ranges::find(orders_, number, &known_order::number);
    if (found != orders_.end()) orders_.erase(found);
}

holding& agent::holding_in(std::vector<holding>& of, domain::instrument_id instrument) {
    for (holding& each : of) {
        if (each.instrument == instrument) return each;
    }
    holding added;
    added.instrument = instrument;
    of.push_back(added);
    return of.back();
}

std::int64_t agent::position(domain::instrument_id in) const noexcept {
    const auto found = std::ranges::find(known_, in, &holding::instrument);
    return found == known_.end() ? 0 : found->lots;
}

const book_view& agent::book(domain::instrument_id of) {
    const std::int64_t at = market_->now_ns() - draw(link_->market_data, stream::market_data);
    seen_ns_ = std::max(seen_ns_, at);
    return market_->public_of(*this, of).history.as_of(seen_ns_);
}

accepted_orders agent::accepts(domain::instrument_id of) {
    if (killed_until_ns_ > market_->now_ns()) return accepted_orders::none;
    switch (market_->public_of(*this, of).history.as_of(seen_ns_).phase) {
        case domain::trading_phase::halted:
        case domain::trading_phase::closed: return accepted_orders::none;
        case domain::trading_phase::continuous:
            // Between two batches the phase is continuous for a moment, which is over when an order arrives.
            return contains(market_->options().in_batches, of) ? accepted_orders::collecting : accepted_orders::all;
        default: return accepted_orders::collecting;
    }
}

const domain::instrument& agent::rules(domain::instrument_id of) const noexcept {
    return market_->rules(of);
}

fee_ticks agent::fees(domain::instrument_id of) const noexcept {
    const domain::instrument& i = rules(of);
    const double tick = static_cast<double>(i.tick_size.value) * static_cast<double>(i.lot_size);
    const fee& paid = market_->fees(of);
    return {static_cast<double>(paid.maker) / tick, static_cast<double>(paid.taker) / tick};
}

domain::price_ticks agent::price_in(domain::instrument_id of, double ticks) const noexcept {
    const domain::instrument& i = rules(of);
    return std::clamp(domain::price_ticks{rounded(ticks)}, i.price_low, i.price_high);
}

domain::price_ticks agent::price_in(domain::instrument_id of, domain::side which, double ticks) {
    const domain::price_ticks price = price_in(of, ticks);
    const domain::instrument& i = rules(of);
    if (i.dynamic_band == 0 || i.volatility_auction != 0) return price;
    const book_view& seen = market_->public_of(*this, of).history.as_of(seen_ns_);
    if (seen.last == domain::no_price || seen.phase != domain::trading_phase::continuous) return price;
    return which == domain::side::buy ? std::min(price, domain::price_ticks{seen.last.value + i.dynamic_band})
                                      : std::max(price, domain::price_ticks{seen.last.value - i.dynamic_band});
}

std::uint64_t agent::queue_ahead(request_number number) {
    const known_order* known = order(number);
    if (known == nullptr || known->order.value == 0) return 0;
    const std::int64_t at = market_->now_ns() - draw(link_->market_data, stream::market_data);
    seen_ns_ = std::max(seen_ns_, at);
    for (const auto& [owner, tracker] : market_->public_of(known->instrument).trackers) {
        if (owner == index_ && tracker.order() == known->order) return tracker.ahead_at(seen_ns_);
    }
    return 0;
}

void agent::note(std::string_view what, double value) {
    market_->take_note(index_, what, value);
}

void agent::hear(const domain::event& e) {
    heard_ = true;
    const auto answered = [&](request_number number) {
        if (awaited_ == 0 || number != awaited_ || last_answer_.arrived) return;
        last_answer_.kind = e.kind;
        last_answer_.reason = e.reason;
        last_answer_.arrived = true;
    };
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended: {
            const auto number = static_cast<request_number>(e.order.client_order.value);
            if (known_order* known = find(number); known != nullptr) {
                if (known->state == order_state::sent) known->state = order_state::open;
                known->order = e.order.order;
                known->price = e.order.price;
                known->open = e.order.quantity;
            }
            answered(e.order.request);
            break;
        }
        case event_kind::order_executed: {
            const auto number = static_cast<request_number>(e.execution.client_order.value);
            holding& held = holding_in(known_, e.instrument);
            add_fill(held, e.execution, e.side, market_->is_strategy(e.instrument));
            held.fees += market_->fee_of(e);
            if (e.execution.leaves.value == 0) {
                erase(number);
            } else if (known_order* known = find(number); known != nullptr) {
                known->open = e.execution.leaves;
                known->order = e.execution.order;
            }
            if (keeps_fills_) fills_.push_back(e);
            answered(number);
            break;
        }
        case event_kind::leg_capture: {
            const auto lots = static_cast<std::int64_t>(e.leg_fill.quantity.value);
            holding_in(known_, e.instrument).lots += e.side == domain::side::buy ? lots : -lots;
            break;
        }
        case event_kind::order_cancelled:
            if (e.reason == domain::reject_reason::killed) killed_until_ns_ = market_->now_ns() + killed_pause_ns;
            erase(static_cast<request_number>(e.order.client_order.value));
            answered(e.order.request);
            break;
        case event_kind::order_rejected: {
            if (e.reason == domain::reject_reason::killed) killed_until_ns_ = market_->now_ns() + killed_pause_ns;
            const auto number = static_cast<request_number>(e.order.client_order.value);
            if (number == e.order.request) {
                erase(number);
            } else if (known_order* known = find(number); known != nullptr && known->state == order_state::cancelling) {
                known->state = order_state::open;
            }
            answered(e.order.request);
            break;
        }
        default: answered(domain::request_of(e)); break;
    }
}

}  // namespace corro::market
