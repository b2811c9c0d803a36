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
    for (std::size_t i = 0; i < refused_by_reason.size(); ++i) refused_by_reason[i] += other.refused_by_reason[i];
}

trader::trader(const trader_options& options, std::vector<domain::instrument> instruments,
               std::vector<domain::price_ticks> middles, std::uint64_t client_order_base, std::uint64_t seed)
    : options_(options),
      instruments_(std::move(instruments)),
      middles_(std::move(middles)),
      random_(seed),
      next_client_order_(client_order_base) {
    CORRO_ASSERT(!instruments_.empty() && instruments_.size() == middles_.size());
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
domain::price_ticks trader::price_for(std::size_t instrument, domain::side side) noexcept {
    const auto spread = static_cast<std::int64_t>(options_.spread_ticks);
    const std::int64_t away = random_.between(-spread / 4, spread);
    const std::int64_t price = middles_[instrument].value + (side == domain::side::buy ? -away : away);
    return domain::price_ticks{
        std::clamp(price, instruments_[instrument].price_low.value, instruments_[instrument].price_high.value)};
}

domain::command trader::enter() noexcept {
    const std::size_t i = random_.below(instruments_.size());
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = instruments_[i].id;
    c.side = random_.below(2) == 0 ? domain::side::buy : domain::side::sell;
    c.client_order = domain::client_order_id{next_client_order_++};
    c.quantity = domain::quantity_lots{1 + static_cast<std::uint32_t>(random_.below(options_.quantity_lots_max))};
    if (random_.below(100) < options_.market_percent) {
        c.type = domain::order_type::market;
        c.time_in_force = domain::time_in_force::ioc;
    } else {
        c.price = price_for(i, c.side);
    }
    open_.push_back({c.client_order.value, c.instrument, c.side, c.price, c.quantity.value, false});
    return c;
}

domain::command trader::amend() noexcept {
    open_order& o = some_resting_order();
    domain::command c;
    c.kind = domain::command_kind::amend_order;
    c.instrument = o.instrument;
    c.side = o.side;
    c.client_order = domain::client_order_id{o.client_order};
    // Half of the amends only shrink and keep their place; the others move.
    if (o.total > 1 && random_.below(2) == 0) {
        --o.total;
    } else {
        const auto at = std::find_if(instruments_.begin(), instruments_.end(),
                                     [&](const domain::instrument& i) { return i.id == o.instrument; });
        o.price = price_for(static_cast<std::size_t>(at - instruments_.begin()), o.side);
        o.total = std::min(o.total + 1, at->order_quantity_max.value);
    }
    c.price = o.price;
    c.quantity = domain::quantity_lots{o.total};
    return c;
}

domain::command trader::cancel() noexcept {
    const open_order& o = some_resting_order();
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.instrument = o.instrument;
    c.client_order = domain::client_order_id{o.client_order};
    return c;
}

trader::open_order& trader::some_resting_order() noexcept {
    const std::size_t start = random_.below(open_.size());
    for (std::size_t step = 0;; ++step) {
        open_order& o = open_[(start + step) % open_.size()];
        if (o.resting) return o;
        CORRO_ASSERT(step < open_.size());
    }
}

bool trader::on_event(const domain::event& event) noexcept {
    switch (event.kind) {
        case domain::event_kind::order_entered:
            if (open_order* o = find(event.order.client_order.value); o != nullptr && !o->resting) {
                o->resting = true;
                ++resting_count_;
            }
            break;
        case domain::event_kind::order_cancelled: forget(event.order.client_order.value); break;
        case domain::event_kind::order_executed:
            ++statistics_.fills;
            if (event.execution.leaves.value == 0) forget(event.execution.client_order.value);
            break;
        case domain::event_kind::order_rejected: {
            ++statistics_.refused;
            ++statistics_.refused_by_reason[static_cast<std::size_t>(event.reason)];
            // A refused entry never lived; a refused change leaves a resting order as it was.
            const open_order* o = find(event.order.client_order.value);
            if (o != nullptr && !o->resting) forget(event.order.client_order.value);
            break;
        }
        default: break;
    }
    const bool completes = domain::completes_request(event);
    if (completes) ++statistics_.answered;
    return completes;
}

void trader::on_reject() noexcept {
    ++statistics_.answered;
    ++statistics_.refused;
}

trader::open_order* trader::find(std::uint64_t client_order) noexcept {
    const auto at =
        std::find_if(open_.begin(), open_.end(), [&](const open_order& o) { return o.client_order == client_order; });
    return at == open_.end() ? nullptr : &*at;
}

void trader::forget(std::uint64_t client_order) noexcept {
    open_order* o = find(client_order);
    if (o == nullptr) return;
    if (o->resting) --resting_count_;
    *o = open_.back();
    open_.pop_back();
}

}  // namespace corro::client
