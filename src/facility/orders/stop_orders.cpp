// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/stop_orders.hpp"

#include "facility/messages/message_writer_fills.hpp"
#include "facility/orders/order_checks.hpp"

namespace corro::facility {

using domain::command;
using domain::order_type;
using domain::reject_reason;
using domain::side;

void stop_orders::park(const command& c, std::uint32_t book, std::uint32_t slot) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const bool waits_for_worse = t.type != order_type::market_if_touched;
    const bool is_rising = (t.side == side::buy) == waits_for_worse;
    orders_.waiting(slot) = {.limit = t.type == order_type::stop_limit ? o.price : domain::no_price,
                             .display = o.display_quantity.value,
                             .type = t.type};
    engine_.wait(book, c.account.value, is_rising, o.trigger_price, o.quantity.value);
    orders_.add(slot);
    const order_record& record = orders_[slot];
    if ((record.flags & record_flag::counted) != 0) {
        exposures_.add_order(record.account, record.position, record.side, record.total);
    }
    writer_.waits(book, slot, orders_.waiting(slot).limit, o.quantity.value);
    if (phases_.is_collecting(book)) return;  // the uncross triggers the orders that its price reaches
    writer_.trades().set_range_to_last(book);
    enter_triggered(book);
}

void stop_orders::enter_triggered_in(std::uint32_t book) noexcept {
    writer_.announce_entry(false);
    for (;;) {
        protection_.withdraw_tripped();
        // Every trade of the command triggers, not only the last: a price in the middle of a sweep has traded too.
        if (writer_.trades().low() > writer_.trades().high()) return;
        if ((phases_.flags(book) & book_flag::circuit_breaker) != 0 && changes_.breaks_circuit(book)) [[unlikely]]
            return;
        const std::uint32_t slot = engine_.next_triggered(book, writer_.trades().low(), writer_.trades().high());
        if (slot == matching::engine::none) return;
        enter_one(book, slot);
    }
}

void stop_orders::enter_one(std::uint32_t book, std::uint32_t slot) noexcept {
    const order_record& record = orders_[slot];
    const waiting_terms terms = orders_.waiting(slot);
    const domain::quantity_lots quantity{engine_.order_at(slot).open};
    const domain::order_id order = engine_.id_of(slot);
    bool is_market = terms.type != order_type::stop_limit;
    const matching::remainder rest = is_market ? matching::remainder::cancelled : matching::remainder::rests;
    writer_.triggered(book, slot, terms.limit, quantity.value);
    domain::price_ticks entry_price = is_market ? domain::price_ticks{} : terms.limit;
    if ((phases_.flags(book) & book_flag::dynamic_band) != 0) [[unlikely]] {
        const risk::price_band band = band_of(instruments_[book], writer_.trades()[book]);
        const domain::price_ticks edge = band.edge(record.side);
        if (is_market && edge != domain::no_price) {
            is_market = false;
            entry_price = edge;
        } else if (!is_market && band.excludes(record.side, terms.limit)) {
            writer_.withdraw_for(reject_reason::price_outside_dynamic_band);
            engine_.cancel(slot, writer_, matching::removal::expelled);
            return;
        }
    }
    if ((record.flags & record_flag::counted) != 0) [[unlikely]] {
        exposures_.remove_order(record.account, record.position, record.side, quantity.value);
    }
    writer_.incoming(book, terms.limit);
    engine_.wake(slot);
    const matching::entry_result result = matcher_.enter(slot, {.book = book,
                                                                .account = record.account.value,
                                                                .side = record.side,
                                                                .is_market = is_market,
                                                                .rest = rest,
                                                                .self_match = record.self_match,
                                                                .group = orders_.group_of(slot),
                                                                .price = entry_price,
                                                                .quantity = quantity,
                                                                .display = terms.display});
    if (result.what == matching::outcome::cancelled) {
        writer_.remainder_cancelled(book, slot, order, terms.limit, result.quantity, result.reason);
    }
    if (result.what != matching::outcome::rested) orders_.remove(slot);
}

void stop_orders::enter_triggered_in_other_books() noexcept {
    while (implied_.has_traded()) {
        const implied_books::traded_range t = implied_.next_traded();
        writer_.trades().set_range(t.low, t.high);
        if (phases_.is_continuous(t.book)) {
            enter_triggered_in(t.book);
            continue;
        }
        protection_.withdraw_tripped();
        if ((phases_.flags(t.book) & book_flag::circuit_breaker) != 0) {
            static_cast<void>(changes_.breaks_circuit(t.book));
        }
        phases_[t.book].delay_stops(t.low, t.high);
    }
}

}  // namespace corro::facility
