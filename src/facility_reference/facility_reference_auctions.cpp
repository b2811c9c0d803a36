// SPDX-License-Identifier: Apache-2.0
// The reference: auctions, and the end of an instrument.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;
using domain::time_in_force;
using domain::trading_phase;

bool facility_reference::can_collect() const {
    const domain::enter_order& entry = command_.enter_order();
    return command_.order_terms().type == domain::order_type::limit && is_lasting(command_) && entry.flags % 4 == 0 &&
           entry.minimum_quantity.value == 0;
}

reject_reason facility_reference::check_phase(std::uint32_t instrument) const {
    const trading_phase phase = books_[instrument].phase;
    const domain::order_terms& terms = command_.order_terms();
    if (terms.time_in_force == time_in_force::at_the_open && phase != trading_phase::pre_open &&
        phase != trading_phase::opening_auction) {
        return reject_reason::not_in_this_phase;
    }
    if (terms.time_in_force == time_in_force::at_the_close && phase != trading_phase::closing_auction) {
        return reject_reason::not_in_this_phase;
    }
    const bool is_taken = !is_collecting(instrument) || is_waiting_type(terms.type) || can_collect();
    return is_taken ? reject_reason::none : reject_reason::not_in_this_phase;
}

void facility_reference::start_volatility_auction(std::uint32_t instrument, reject_reason reason) {
    const base::int128 end =
        static_cast<base::int128>(command_.time.value) + instruments_[instrument].volatility_auction;
    set_phase(instrument, trading_phase::volatility_auction, end > INT64_MAX ? 0 : static_cast<std::int64_t>(end),
              reason);
}

domain::auction_state facility_reference::find_price(std::uint32_t instrument) const {
    const book& b = books_[instrument];
    std::map<std::int64_t, std::int64_t> bids, asks;
    std::set<std::int64_t> candidates;
    std::int64_t wants = 0;
    for (const half* h : {&b.buy, &b.sell}) {
        for (const auto& [key, queue] : h->levels) {
            for (const order* o : queue) {
                const bool sees_all = mistake_ != defect::auctions_forget_what_is_hidden;
                const std::int64_t lots = sees_all ? o->open : o->shown;
                (h == &b.buy ? bids : asks)[o->price.value] += lots;
                if (h == &b.buy) wants += lots;
                for (const std::int64_t near : {-1, 0, 1}) candidates.insert(o->price.value + near);
            }
        }
    }
    std::int64_t reference = b.prices.last.value;
    if (mistake_ == defect::auction_price_ignores_the_last) reference = domain::no_price.value;
    if (reference != domain::no_price.value) candidates.insert(reference);

    struct outcome {
        std::int64_t price, volume, surplus;
    };
    std::vector<outcome> best;
    std::int64_t offered = 0;
    auto bid = bids.begin();
    auto ask = asks.begin();
    for (const std::int64_t price : candidates) {
        for (; bid != bids.end() && bid->first < price; ++bid) wants -= bid->second;
        for (; ask != asks.end() && ask->first <= price; ++ask) offered += ask->second;
        const outcome o{price, std::min(wants, offered), wants - offered};
        const auto rank = [&](const outcome& x) {
            return std::pair{-x.volume,
                             mistake_ == defect::auction_price_ignores_the_imbalance ? 0 : std::abs(x.surplus)};
        };
        if (best.empty() || rank(o) < rank(best.front())) best.clear();
        if (best.empty() || rank(o) == rank(best.front())) best.push_back(o);
    }
    if (best.empty() || best.front().volume == 0) return {domain::no_price, {}, 0, {}};

    const auto is_of_buyers = [](const outcome& o) { return o.surplus > 0; };
    const auto is_of_sellers = [](const outcome& o) { return o.surplus < 0; };
    outcome chosen = best.front();
    if (mistake_ != defect::auction_price_ignores_the_side && std::ranges::all_of(best, is_of_buyers)) {
        chosen = best.back();
    } else if (mistake_ == defect::auction_price_ignores_the_side || !std::ranges::all_of(best, is_of_sellers)) {
        const std::int64_t low = best.front().price;
        const std::int64_t high = best.back().price;
        // The remaining prices have no gaps, so their middle is one of them.
        const std::int64_t middle = low + (high - low) / 2;
        const std::int64_t wanted =
            reference == domain::no_price.value ? middle : std::max(low, std::min(high, reference));
        for (const outcome& o : best) {
            if (o.price <= wanted) chosen = {wanted, o.volume, o.surplus};
        }
    }
    return {domain::price_ticks{chosen.price},
            domain::volume_lots{static_cast<std::uint64_t>(chosen.volume)},
            chosen.surplus,
            {}};
}

/// The number of levels of both sides that take part in an uncross of `volume` lots.
std::size_t facility_reference::levels_trading(std::uint32_t instrument, std::uint64_t volume) const {
    std::size_t levels = 0;
    for (const half* h : {&books_[instrument].buy, &books_[instrument].sell}) {
        std::uint64_t before = 0;
        for (const auto& [key, queue] : h->levels) {
            if (before >= volume) break;
            ++levels;
            for (const order* o : queue) before += o->open;
        }
    }
    return levels;
}

void facility_reference::say_indicatives() {
    for (std::uint32_t i = 0; i < books_.size(); ++i) {
        book& b = books_[i];
        if (!is_collecting(i) || b.phase == trading_phase::pre_open) continue;
        const domain::auction_state now = find_price(i);
        if (levels_trading(i, now.volume.value) > indicative_levels_max) continue;
        const bool is_same = now.price == b.indicative.price && now.volume == b.indicative.volume &&
                             now.imbalance == b.indicative.imbalance;
        if (is_same) continue;
        b.indicative = now;
        say(event_kind::auction_indicative, id_of(i), side::buy).auction = now;
    }
}

void facility_reference::cancel_book(std::uint32_t instrument, reject_reason reason,
                                     const std::function<bool(const order&)>& wanted) {
    book& b = books_[instrument];
    std::vector<order*> covered;
    for (half* h : {&b.buy, &b.sell, &b.falling, &b.rising}) {
        for (const auto& [key, queue] : h->levels) {
            for (order* o : queue) {
                if (wanted(*o)) covered.push_back(o);
            }
        }
    }
    for (order* o : covered) {
        tell_owner(event_kind::order_cancelled, *o, o->price, o->open, reason, false);
        take_out(*o);
    }
}

void facility_reference::uncross(std::uint32_t instrument) {
    book& b = books_[instrument];
    const domain::price_ticks last = b.prices.last;
    const domain::auction_state found = find_price(instrument);
    say(event_kind::auction_ended, id_of(instrument), side::buy).auction = found;
    for (const domain::price_ticks seen : {last, found.price}) {
        if (seen == domain::no_price || mistake_ == defect::stops_do_not_see_auctions) continue;
        b.pending_low = std::min(b.pending_low, seen.value);
        b.pending_high = std::max(b.pending_high, seen.value);
    }
    if (found.volume.value != 0) {
        while (!b.buy.levels.empty() && !b.sell.levels.empty()) {
            const auto& bids = b.buy.levels.begin()->second;
            const auto& asks = b.sell.levels.begin()->second;
            if (bids.front()->price < found.price || asks.front()->price > found.price) break;
            const bool newest = mistake_ == defect::auction_trades_the_newest_first;
            cross(newest ? *bids.back() : *bids.front(), *asks.front(), found.price);
        }
        if (instruments_[instrument].breaker_move != 0) {
            b.window_end = INT64_MIN;
            b.last_seen = found.price;
            b.volume_seen = b.volume;
        }
        withdraw_tripped();
    }
    if (mistake_ != defect::auction_orders_stay) {
        cancel_book(instrument, reject_reason::expired,
                    [](const order& o) { return o.time_in_force > time_in_force::gtd && !o.is_quote; });
    }
    b.has_auction_orders = false;
    b.owes_uncross = false;
}

void facility_reference::cross(order& buyer, order& seller, domain::price_ticks price) {
    const std::uint32_t lots = std::min(buyer.shown, seller.shown);
    const std::uint32_t instrument = buyer.instrument;
    const domain::trade_id id{++trades_count_};
    for (order* o : {&buyer, &seller}) {
        o->open -= lots;
        o->shown -= lots;
        o->filled += lots;
        say(event_kind::order_executed, id_of(instrument), o->side).execution = {
            o->id,      o->client_order, price, domain::quantity_lots{lots}, domain::quantity_lots{o->open},
            o->account, o->session};
    }
    for (const order* o : {&buyer, &seller}) {
        say(event_kind::trade_capture, id_of(instrument), o->side).capture = {
            id, o->id, price, domain::quantity_lots{lots}, o->account, o->session, 0};
    }
    say(event_kind::trade, id_of(instrument), side::buy).trade = {id, price, domain::quantity_lots{lots}, {}};
    const order bought = buyer;
    const order sold = seller;
    for (order* o : {&buyer, &seller}) {
        if (o->open == 0) {
            forget(*o);
        } else if (o->shown == 0) {
            unqueue(*o);
        }
    }
    for (const order* o : {&bought, &sold}) {
        say_public(o->shown == 0 ? event_kind::order_deleted : event_kind::order_reduced, *o, o->shown, lots);
        say_level(*o);
    }
    say(event_kind::top_of_book, id_of(instrument), side::buy).top = top_of(instrument);
    const bool has_legs = instruments_[instrument].legs_count != 0;
    if (!has_legs) {
        positions_[{bought.account.value, instrument}] += lots;
        positions_[{sold.account.value, instrument}] -= lots;
    }
    tell_trade(instrument, price, lots);
    if (has_legs) trade_legs(bought, sold, id, price, lots);
    if (bought.is_quote) count_for_protection(bought, lots);
    if (sold.is_quote) count_for_protection(sold, lots);
    if (bought.open != 0 && bought.shown == 0) rest(buyer, true);
    if (sold.open != 0 && sold.shown == 0) rest(seller, true);
}

/// Writes the market data after a trade of an auction.
void facility_reference::tell_trade(std::uint32_t instrument, domain::price_ticks price, std::uint32_t lots) {
    book& b = books_[instrument];
    add_to_tape(b, price, lots);
    say(event_kind::price_update, id_of(instrument), side::buy).prices = b.prices;
    say_statistics(instrument, side::buy);
}

void facility_reference::settle_instrument() {
    const domain::command& c = command_;
    const domain::price_ticks price = c.settle_instrument().price;
    if (!c.is_operator()) return refuse(reject_reason::not_authorised);
    const std::uint32_t instrument = index_of(c.instrument);
    if (instrument == instruments_.size()) return refuse(reject_reason::unknown_instrument);
    if (books_[instrument].is_settled) return refuse(reject_reason::instrument_settled);
    if (price.value > domain::price_ticks_max || price.value < -domain::price_ticks_max)
        return refuse(reject_reason::invalid_price);
    cancel_book(instrument, reject_reason::instrument_settled, [](const order&) { return true; });
    const std::uint64_t settled = open_interest(instrument);
    for (const auto& [account, of] : positions_in_order_) {
        if (of != instrument || positions_[{account, of}] == 0) continue;
        std::int64_t& lots = positions_[{account, of}];
        const side closes = lots > 0 ? side::sell : side::buy;
        for (std::int64_t left = std::abs(lots); left > 0; left -= domain::order_quantity_lots_max) {
            const auto now = static_cast<std::uint32_t>(std::min<std::int64_t>(left, domain::order_quantity_lots_max));
            say(event_kind::trade_capture, c.instrument.value, closes, reject_reason::instrument_settled).capture = {
                {}, {}, price, domain::quantity_lots{now}, domain::account_id{account}, c.session, 0};
        }
        if (mistake_ != defect::settlement_keeps_positions) lots = 0;
    }
    say(event_kind::instrument_settled, c.instrument.value, side::buy).settlement = {
        price, domain::volume_lots{settled}, {}};
    books_[instrument].is_settled = true;
    books_[instrument].owes_uncross = books_[instrument].has_auction_orders = false;
    set_phase(instrument, trading_phase::closed, 0, reject_reason::instrument_settled);
    request_done(c.instrument, c.account.value);
}

}  // namespace corro::facility::testing
