// SPDX-License-Identifier: Apache-2.0
// The messages and the state changes of an implied fill. See docs/spec/implied.md.

#include <array>
#include <cstddef>
#include <cstdint>

#include "facility/messages/message_writer.hpp"

namespace corro::facility {

using domain::event_kind;
using domain::side;

void message_writer::implied_filled(const implied_fill& f) noexcept {
    constexpr std::uint8_t implied = domain::event_flag::implied;
    const domain::trade_id number = trades_.next_number();
    const domain::quantity_lots quantity{f.quantity};
    const implied_fill::party& incoming = f.parties[0];
    trades_.extend_range(incoming.price);

    std::array<domain::price_summary, 3> prices;
    std::array<domain::volume_summary, 3> volumes;
    const implied_fill::party* in_strategy = nullptr;
    for (std::size_t i = 0; i < f.parties.size(); ++i) {
        const implied_fill::party& p = f.parties[i];
        add_trade(trades_[p.book], p.price, f.quantity, prices[i], volumes[i]);
        implied_.note(p.book);
        if (p.book == f.strategy) in_strategy = &p;
    }
    // In each leg the counterparty is the owner of the order in the strategy.
    const order_record& owner = orders_[in_strategy->slot];
    for (std::size_t i = 0; i < f.parties.size(); ++i) {
        const implied_fill::party& p = f.parties[i];
        if (&p == in_strategy) continue;
        const std::uint32_t own = orders_[p.slot].position;
        const std::uint32_t other = positions_.find(owner.account.value, p.book);
        const bool buys = p.side == side::buy;
        volumes[i].open_interest =
            domain::volume_lots{positions_.trade(p.book, buys ? own : other, buys ? other : own, f.quantity)};
    }

    event_buffer::run out = buffer_.open(8);
    for (const implied_fill::party& p : f.parties) {
        const order_record& r = orders_[p.slot];
        const bool is_first = &p == &incoming;
        const bool answers = is_first && !p.rests && is_entering_ && p.leaves == 0;
        out.write(scope_word(ids_[p.book], p.side),
                  kind_word(event_kind::order_executed, domain::reject_reason::none,
                            static_cast<std::uint8_t>(implied | (is_first ? domain::event_flag::aggressor : 0) |
                                                      (answers ? domain::event_flag::last_of_request : 0))),
                  domain::execution{p.order, r.client_order, p.price, quantity, domain::quantity_lots{p.leaves},
                                    r.account, r.session});
    }
    const auto flags_of = [&](const implied_fill::party& p) {
        return static_cast<std::uint8_t>(implied | (&p == &incoming ? domain::event_flag::aggressor : 0));
    };
    for (const implied_fill::party& p : f.parties) {
        const order_record& r = orders_[p.slot];
        out.write(scope_word(ids_[p.book], p.side),
                  kind_word(event_kind::trade_capture, domain::reject_reason::none, flags_of(p)),
                  domain::capture{number, p.order, p.price, quantity, r.account, r.session, 0});
    }
    for (const risk::strategy_leg& leg : strategies_.legs(f.strategy)) {
        const auto* in_leg = f.parties.data();
        while (in_leg->book != leg.book) ++in_leg;
        out.write(scope_word(ids_[leg.book], leg.side_of(in_strategy->side)),
                  kind_word(event_kind::leg_capture, domain::reject_reason::none, flags_of(*in_strategy)),
                  domain::leg_fill{number, in_strategy->order, in_leg->price.value * strategies_.tick_nano(leg.book),
                                   quantity, owner.account, owner.session, 0});
    }
    buffer_.close(out);
    for (std::size_t i = 0; i < f.parties.size(); ++i) emit_implied_top(f, i, number, prices[i], volumes[i]);
    for (const implied_fill::party& p : f.parties) update_after_implied_fill(p, f.quantity);
}

void message_writer::emit_implied_top(const implied_fill& f, std::size_t which, domain::trade_id number,
                                      const domain::price_summary& prices,
                                      const domain::volume_summary& volumes) noexcept {
    const implied_fill::party& p = f.parties[which];
    const std::uint64_t own = scope_word(ids_[p.book], p.side);
    const std::uint64_t active = scope_word(ids_[p.book], which == 0 ? p.side : domain::opposite(p.side));
    const domain::quantity_lots quantity{f.quantity};
    event_buffer::run out = buffer_.open(6);
    out.write(active, kind_word(event_kind::trade, domain::reject_reason::none, domain::event_flag::implied),
              domain::tape_trade{number, p.price, quantity, {}});
    if (p.rests) {
        const matching::crossing& c = p.taken;
        out.write(own, kind_word(c.open == 0 ? event_kind::order_deleted : event_kind::order_reduced),
                  domain::public_order{p.order, c.level.price, domain::quantity_lots{c.open}, quantity, {}});
        publish_level(out, own, c.level);
        out.write(own, kind_word(event_kind::top_of_book), top_of(c.level));
    }
    out.write(active, kind_word(event_kind::price_update), prices);
    out.write(active, kind_word(event_kind::statistics), volumes);
    buffer_.close(out);
}

/// Updates the order's records after an implied fill.
void message_writer::update_after_implied_fill(const implied_fill::party& p, std::uint32_t lots) noexcept {
    const order_record& r = orders_[p.slot];
    if ((r.flags & quote_mark) != 0) quotes_.traded(r, lots, command_->time);
    if (!p.rests) return;
    if ((r.flags & record_flag::counted) != 0) {
        exposures_.shrink(r.position, r.side, lots);
        if (p.leaves == 0) exposures_.remove_order(r.account, r.position, r.side, 0);
    }
    if (p.leaves == 0) orders_.remove(p.slot);
}

}  // namespace corro::facility
