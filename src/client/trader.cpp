// SPDX-License-Identifier: Apache-2.0
#include "client/trader.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "domain/private_event.hpp"

namespace corro::client {

void trader_statistics::add(const trader_statistics& other) noexcept {
    requests += other.requests;
    answered += other.answered;
    refused += other.refused;
    fills += other.fills;
    for (std::size_t i = 0; i < refused_by_reason.size(); ++i) {
        refused_by_reason[i] += other.refused_by_reason[i];
        rejected_by_reason[i] += other.rejected_by_reason[i];
    }
}

trader::trader(const trader_options& options, std::vector<domain::instrument> instruments,
               std::vector<domain::price_ticks> middles, std::uint64_t client_order_base, std::uint64_t seed)
    : options_(options), random_(seed), next_client_order_(client_order_base) {
    CORRO_ASSERT(!instruments.empty() && instruments.size() == middles.size());
    markets_.reserve(instruments.size());
    for (std::size_t i = 0; i < instruments.size(); ++i) {
        const domain::instrument& of = instruments[i];
        markets_.push_back({middles[i], of.price_low, of.price_high, of.id, of.order_quantity_max});
    }
    names_.reserve(std::size_t{options_.open_orders_max} + 1024);
    open_.reserve(std::size_t{options_.open_orders_max} + 1024);
}

domain::command trader::next_request() noexcept {
    ++statistics_.requests;
    const std::uint64_t draw = random_.below(100);
    if (resting_count_ == 0) return enter();
    if (open_.size() >= options_.open_orders_max) return cancel();
    if (draw < options_.new_percent) return enter();
    return draw < options_.new_percent + options_.cancel_percent ? cancel() : amend();
}

// Buyers bid mostly below the middle and sellers mostly above; a quarter of the range crosses, so that orders trade.
domain::price_ticks trader::price_for(const market& m, domain::side side) noexcept {
    const auto spread = static_cast<std::int64_t>(options_.spread_ticks);
    const std::int64_t away = random_.between(-spread / 4, spread);
    const std::int64_t price = m.middle.value + (side == domain::side::buy ? -away : away);
    return domain::price_ticks{std::clamp(price, m.price_low.value, m.price_high.value)};
}

domain::command trader::enter() noexcept {
    const market& m = markets_[random_.below(markets_.size())];
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = m.instrument;
    c.order_terms().side = random_.below(2) == 0 ? domain::side::buy : domain::side::sell;
    c.client_order = domain::client_order_id{next_client_order_++};
    c.enter_order().quantity =
        domain::quantity_lots{1 + static_cast<std::uint32_t>(random_.below(options_.quantity_lots_max))};
    if (random_.below(100) < options_.market_percent) {
        c.order_terms().type = domain::order_type::market;
        c.order_terms().time_in_force = domain::time_in_force::ioc;
    } else {
        c.enter_order().price = price_for(m, c.order_terms().side);
    }
    names_.push_back(c.client_order.value);
    open_.push_back({c.instrument, c.order_terms().side, c.enter_order().price, c.enter_order().quantity.value, false});
    return c;
}

domain::command trader::amend() noexcept {
    const std::size_t place = some_resting_order();
    open_order& o = open_[place];
    domain::command c;
    c.kind = domain::command_kind::amend_order;
    c.instrument = o.instrument;
    c.client_order = domain::client_order_id{names_[place]};
    // Half of the amends only shrink and keep their place; the others move.
    if (o.total > 1 && random_.below(2) == 0) {
        --o.total;
    } else {
        const auto at = std::find_if(markets_.begin(), markets_.end(),
                                     [&](const market& m) { return m.instrument == o.instrument; });
        o.price = price_for(*at, o.side);
        o.total = std::min(o.total + 1, at->order_quantity_max.value);
    }
    c.amend_order().price = o.price;
    c.amend_order().quantity = domain::quantity_lots{o.total};
    return c;
}

domain::command trader::cancel() noexcept {
    const std::size_t place = some_resting_order();
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.instrument = open_[place].instrument;
    c.client_order = domain::client_order_id{names_[place]};
    return c;
}

std::size_t trader::some_resting_order() noexcept {
    const std::size_t start = random_.below(open_.size());
    for (std::size_t step = 0;; ++step) {
        const std::size_t place = (start + step) % open_.size();
        if (open_[place].resting) return place;
        CORRO_ASSERT(step < open_.size());
    }
}

bool trader::on_event(const domain::event& event) noexcept {
    switch (event.kind) {
        case domain::event_kind::order_entered:
            if (const std::size_t place = place_of(event.order.client_order.value);
                place != open_.size() && !open_[place].resting) {
                open_[place].resting = true;
                ++resting_count_;
            }
            break;
        case domain::event_kind::order_cancelled: forget(place_of(event.order.client_order.value)); break;
        case domain::event_kind::order_executed:
            ++statistics_.fills;
            if (event.execution.leaves.value == 0) forget(place_of(event.execution.client_order.value));
            break;
        case domain::event_kind::order_rejected: {
            ++statistics_.refused;
            ++statistics_.refused_by_reason[static_cast<std::size_t>(event.reason)];
            // A rejected entry was never open; a rejected change leaves a resting order as it was.
            const std::size_t place = place_of(event.order.client_order.value);
            if (place != open_.size() && !open_[place].resting) forget(place);
            break;
        }
        default: break;
    }
    const bool completes = domain::completes_request(event);
    if (completes) ++statistics_.answered;
    return completes;
}

void trader::on_reject(wire::session_reject_reason reason) noexcept {
    ++statistics_.answered;
    ++statistics_.refused;
    ++statistics_.rejected_by_reason[static_cast<std::size_t>(reason)];
}

std::size_t trader::place_of(std::uint64_t client_order) const noexcept {
    return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), client_order) - names_.begin());
}

void trader::forget(std::size_t place) noexcept {
    if (place == open_.size()) return;
    if (open_[place].resting) --resting_count_;
    open_[place] = open_.back();
    names_[place] = names_.back();
    open_.pop_back();
    names_.pop_back();
}

}  // namespace corro::client
