// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/order_cancels.hpp"

#include <cstdint>

#include "facility/messages/message_writer_fills.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;
using domain::side;

void order_cancels::cancel_order(const command& c) noexcept {
    const domain::cancel_order& named = c.cancel_order();
    const auto [slot, unresolved] = lookup_.find(c, named.order, named.target_request);
    if (slot == order_lookup::none) {
        rejections_.refuse(c, unresolved);
        return;
    }
    engine_.cancel(slot, writer_);
}

void order_cancels::cancel_orders(const command& c) noexcept {
    const domain::cancel_orders& wanted = c.cancel_orders();
    std::uint32_t book = instrument_table::none;
    if (c.instrument.value != 0) {
        book = instruments_.book_of(c.instrument);
        if (book == instrument_table::none) {
            rejections_.refuse(c, reject_reason::unknown_instrument);
            return;
        }
    }
    constexpr std::uint8_t of_quotes = domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only;
    constexpr std::uint8_t flags_known = of_quotes | domain::cancel_flag::all_but_staying;
    if (wanted.scope > domain::cancel_scope::session || wanted.sides > domain::cancel_sides::sell ||
        (wanted.flags & ~flags_known) != 0 || (wanted.flags & of_quotes) == domain::cancel_flag::quotes_only) {
        rejections_.refuse(c, reject_reason::invalid_combination);
        return;
    }
    // An operator may name any account.
    const domain::account_id account = wanted.other_account.value != 0 ? wanted.other_account : c.account;
    if (wanted.other_account.value != 0 && (!c.is_operator() || account.value >= engine_.accounts_count())) {
        rejections_.refuse(c, reject_reason::not_authorised);
        return;
    }
    const bool covers_quotes = (wanted.flags & domain::cancel_flag::quotes_too) != 0;
    const bool covers_orders = (wanted.flags & domain::cancel_flag::quotes_only) == 0;
    const std::uint8_t spared =
        (wanted.flags & domain::cancel_flag::all_but_staying) != 0 ? domain::order_flag::stays : std::uint8_t{0};
    // An order is covered if these flags of it have this value, and, unless the whole account is meant, by its terms.
    const std::uint8_t marks_wanted = covers_orders ? std::uint8_t{0} : quote_mark;
    const std::uint8_t marks_read =
        covers_quotes && covers_orders ? spared : static_cast<std::uint8_t>(spared | quote_mark);
    const bool covers_all_terms = book == instrument_table::none && wanted.product.value == 0 &&
                                  wanted.sides == domain::cancel_sides::both &&
                                  wanted.scope == domain::cancel_scope::account;
    const auto is_covered_by_terms = [&](std::uint32_t slot, std::uint32_t at) {
        return (book == instrument_table::none || at == book) &&
               (wanted.product.value == 0 || instruments_[at].product == wanted.product) &&
               (wanted.sides == domain::cancel_sides::both ||
                (wanted.sides == domain::cancel_sides::buy) == (orders_[slot].side == side::buy)) &&
               (wanted.scope == domain::cancel_scope::account || orders_[slot].session == c.session);
    };
    const auto is_covered = [&](std::uint32_t slot, std::uint32_t at) {
        return (orders_[slot].flags & marks_read) == marks_wanted &&
               (covers_all_terms || is_covered_by_terms(slot, at));
    };
    const std::uint32_t last = engine_.newest_order_of(account.value, is_covered);
    if (last == matching::engine::none) {
        // Without a request there is nothing to refuse: the venue itself cancels after a lost connection.
        if (c.request() == 0) return writer_.request_done({}, account);
        rejections_.refuse(c, reject_reason::nothing_to_cancel);
        return;
    }
    writer_.answer_with(last);
    engine_.cancel_account(account.value, is_covered, writer_);
}

}  // namespace corro::facility
