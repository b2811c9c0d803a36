// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/order_lookup.hpp"

#include <algorithm>
#include <cstddef>

#include "facility/limits.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;

order_lookup::result order_lookup::find_by_name(const command& c, std::uint32_t target_request) const noexcept {
    const std::uint32_t slot =
        target_request != 0 ? orders_.find(c.session, target_request) : orders_.find(c.account, c.client_order);
    if (slot == order_directory::none || orders_[slot].account != c.account)
        return {none, reject_reason::unknown_order};
    return {slot, reject_reason::none};
}

// Three rounds: the indices, the orders, what is linked to the orders. Each round reads what the round before has
// fetched.
void order_lookup::prefetch(std::span<domain::prefetch_hint> coming) const noexcept {
    for (const domain::prefetch_hint& f : coming) orders_.prefetch(f);
    for (const domain::prefetch_hint& f : coming) {
        if (f.enters) continue;
        const std::uint32_t slot = orders_.prefetch_record(f);
        if (slot != order_directory::none) engine_.prefetch(slot);
    }
    for (domain::prefetch_hint& f : coming) {
        if (f.enters) continue;
        const std::uint32_t slot = orders_.find(f.account, f.client_order);
        if (slot == order_directory::none) continue;
        f.order = engine_.id_of(slot);
        engine_.prefetch_place(slot);
        orders_.prefetch_names(slot);
    }
}

// Step 0 reads no memory but the command, step 1 what step 0 has fetched, step 2 what step 1 has.
template <int Step>
[[gnu::always_inline]] inline void order_lookup::fetch(const command& c, const instrument_table& instruments) noexcept {
    ++steps_;
    if (Step == 0) look_at(c);
    if (c.kind == domain::command_kind::enter_order) {
        const std::uint32_t book = instruments.book_of(c.instrument);
        const domain::side side = c.order_terms().side;
        const bool is_side = side == domain::side::buy || side == domain::side::sell;
        if (book == instrument_table::none || !is_side) return;
        const domain::price_ticks price = c.enter_order().price;
        if (Step == 0) engine_.prefetch_price(book, side, price);
        if (Step == 1) engine_.prefetch_level(book, side, price);
        if (Step == 2) engine_.prefetch_last(book, side, price);
        if (Step != 0 && engine_.would_trade(book, side, price)) {
            const domain::side other = domain::opposite(side);
            if (Step == 1) engine_.prefetch_first(book, other);
            if (Step == 2) engine_.prefetch_second(book, other);
        }
        return;
    }
    if (Step == 0) return;
    if (c.kind != domain::command_kind::cancel_order && c.kind != domain::command_kind::amend_order) return;
    if (c.named_order().value != 0) {
        const std::uint32_t slot = engine_.likely_slot_of(c.named_order());
        if (slot == none) return;
        if (Step == 2) return;
        engine_.prefetch_place(slot);
        orders_.prefetch_names(slot);
        return;
    }
    const std::uint32_t slot = c.named_request() != 0 ? orders_.likely(c.session, c.named_request())
                                                      : orders_.likely(c.account, c.client_order);
    if (slot == none) return;
    if (Step == 1) return engine_.prefetch(slot);
    engine_.prefetch_place(slot);
    orders_.prefetch_names(slot);
}

void order_lookup::look_at_all(std::span<const command> waiting, const instrument_table& instruments) noexcept {
    constexpr std::size_t step = look_ahead_step;
    const auto fetch_first = [&]<int Step>(std::size_t count) {
        for (const command& c : waiting.first(std::min(count, waiting.size()))) fetch<Step>(c, instruments);
    };
    const command* const end = waiting.data() + waiting.size();
    if (waiting.size() > 1 && (waiting.data() != next_ || end != end_)) [[unlikely]] {
        // Nothing has been fetched for the first ones yet. One alone is executed at once.
        fetch_first.operator()<0>(3 * step);
        fetch_first.operator()<1>(2 * step);
        fetch_first.operator()<2>(step);
        end_ = end;
    }
    next_ = waiting.data() + 1;
    if (waiting.size() > step) fetch<2>(waiting[step], instruments);
    if (waiting.size() > 2 * step) fetch<1>(waiting[2 * step], instruments);
    if (waiting.size() > 3 * step) fetch<0>(waiting[3 * step], instruments);
}

}  // namespace corro::facility
