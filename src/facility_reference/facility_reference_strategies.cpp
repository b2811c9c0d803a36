// SPDX-License-Identifier: Apache-2.0
// The reference: effects of strategies on their legs.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

void facility_reference::say_statistics(std::uint32_t instrument, side s) {
    const book& b = books_[instrument];
    say(event_kind::statistics, id_of(instrument), s).volumes = {
        domain::volume_lots{b.volume + b.leg_volume}, b.turnover, domain::volume_lots{open_interest(instrument)}, {}};
}

void facility_reference::trade_legs(const order& incoming, const order& resting, domain::trade_id id,
                                    domain::price_ticks price, std::uint32_t lots) {
    const domain::instrument& strategy = instruments_[incoming.instrument];
    const std::vector<std::int64_t> prices = leg_prices(strategy, price);
    for (std::size_t i = 0; i < strategy.legs_count; ++i) {
        const domain::leg& leg = strategy.legs[i];
        const std::uint32_t instrument = index_of(leg.instrument);
        const domain::quantity_lots quantity{lots * (mistake_ == defect::legs_forget_their_ratio ? 1 : leg.ratio)};
        const bool follows = leg.side == side::buy || mistake_ == defect::legs_are_all_bought;
        const auto side_of = [&](const order& o) { return follows ? o.side : domain::opposite(o.side); };
        if (mistake_ != defect::leg_volume_is_forgotten) books_[instrument].leg_volume += quantity.value;
        for (const side s : {side::buy, side::sell}) {
            const order& o = side_of(incoming) == s ? incoming : resting;
            if (s == side::buy || mistake_ != defect::legs_are_bought_from_nobody) {
                positions_[{o.account.value, instrument}] +=
                    s == side::buy ? std::int64_t{quantity.value} : -std::int64_t{quantity.value};
            }
            say(event_kind::leg_capture, id_of(instrument), s, reject_reason::none,
                &o == &incoming ? domain::event_flag::aggressor : std::uint8_t{0})
                .leg_fill = {id, o.id, prices[i], quantity, o.account, o.session, 0};
        }
        say(event_kind::leg_trade, id_of(instrument), side_of(incoming)).leg_fill = {id, {}, prices[i], quantity,
                                                                                     {}, {}, 0};
        say_statistics(instrument, side_of(incoming));
    }
}

std::vector<std::int64_t> facility_reference::leg_prices(const domain::instrument& strategy,
                                                         domain::price_ticks price) const {
    std::size_t balancing = 0;
    for (std::size_t i = 0; i < strategy.legs_count; ++i) {
        if (strategy.legs[i].ratio == 1) balancing = i;
    }
    const base::int128 whole = static_cast<base::int128>(price.value) * strategy.tick_size.value;
    std::vector<std::int64_t> prices(strategy.legs_count);
    base::int128 sum = 0;
    for (std::size_t i = 0; i < strategy.legs_count; ++i) {
        if (i == balancing && mistake_ != defect::legs_cost_their_references) continue;
        const domain::leg& leg = strategy.legs[i];
        const std::uint32_t instrument = index_of(leg.instrument);
        const domain::top top = top_of(instrument);
        domain::price_ticks reference = books_[instrument].prices.last;
        if (reference == domain::no_price) reference = top.bid_price;
        if (reference == domain::no_price) reference = top.ask_price;
        if (reference == domain::no_price) reference = {};
        prices[i] = reference.value * instruments_[instrument].tick_size.value;
        sum += static_cast<base::int128>(prices[i]) * leg.ratio * (leg.side == side::buy ? 1 : -1);
    }
    base::int128 left = whole - sum;
    if (left > INT64_MAX || left < -INT64_MAX) {
        prices.assign(prices.size(), 0);
        left = whole;
    }
    if (mistake_ == defect::legs_cost_their_references) return prices;
    prices[balancing] = static_cast<std::int64_t>(strategy.legs[balancing].side == side::buy ? left : -left);
    return prices;
}

std::vector<facility_reference::effect> facility_reference::effects(const order& o) const {
    const domain::instrument& i = instruments_[o.instrument];
    if (i.legs_count == 0) return {{o.instrument, o.side, 1}};
    std::vector<effect> all;
    for (const domain::leg& leg : i.legs_used()) {
        const side what = leg.side == side::buy ? o.side : domain::opposite(o.side);
        all.push_back({index_of(leg.instrument), what, leg.ratio});
    }
    return all;
}

bool facility_reference::exceeds_position(const order& o, std::uint32_t added, std::uint32_t lots_max) const {
    for (const auto& [instrument, what, ratio] : effects(o)) {
        const std::int64_t sign = what == side::buy ? 1 : -1;
        std::int64_t worst = sign * positions_.at({o.account.value, instrument}) + std::int64_t{added} * ratio;
        for (const auto& [id, other] : open_) {
            if (other.account != o.account || mistake_ == defect::open_orders_are_forgotten_by_position_limits)
                continue;
            for (const effect& e : effects(other)) {
                const bool is_in_own_book = other.instrument == instrument;
                if (mistake_ == defect::strategies_are_forgotten_by_position_limits && !is_in_own_book) continue;
                if (e.instrument == instrument && e.what == what) worst += std::int64_t{other.open} * e.ratio;
            }
        }
        if (worst > lots_max) return true;
    }
    return false;
}

}  // namespace corro::facility::testing
