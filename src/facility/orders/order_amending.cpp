// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/order_amending.hpp"

#include "facility/limits.hpp"
#include "facility/messages/message_writer_fills.hpp"
#include "facility/orders/order_checks.hpp"

namespace corro::facility {

using domain::command;
using domain::order_type;
using domain::reject_reason;
using domain::side;

namespace {

constexpr std::uint8_t amend_flags_known = domain::amend_flag::open_quantity | domain::amend_flag::trigger_price |
                                           domain::amend_flag::display_quantity | domain::amend_flag::account;

}  // namespace

void order_amending::amend_order(const command& c) noexcept {
    const domain::amend_order& wanted = c.amend_order();
    const auto [slot, unresolved] = lookup_.find(c, wanted.order, wanted.target_request);
    if (slot == order_lookup::none) {
        rejections_.refuse(c, unresolved);
        return;
    }
    if ((wanted.flags & ~amend_flags_known) != 0) {
        refuse(c, reject_reason::invalid_combination, slot);
        return;
    }
    const matching::level_state level = engine_.level_of(slot);
    const matching::order_view order = engine_.order_at(slot);
    const std::uint32_t filled = orders_[slot].total - order.total();
    const bool names_open = (wanted.flags & domain::amend_flag::open_quantity) != 0;
    if (wanted.quantity.value <= (names_open ? 0 : filled)) {
        engine_.cancel(slot, writer_);
        return;
    }
    const std::uint64_t total = std::uint64_t{wanted.quantity.value} + (names_open ? filled : 0);
    if (total > instruments_[level.book].order_quantity_max.value) {
        refuse(c, reject_reason::invalid_quantity, slot);
        return;
    }
    amendment a{.total = static_cast<std::uint32_t>(total), .open = static_cast<std::uint32_t>(total) - filled};
    if (const reject_reason reason = check_amend(c, slot, level, order, a); reason != reject_reason::none) {
        refuse(c, reason, slot);
        return;
    }
    orders_[slot].total = a.total;
    if (a.account != orders_[slot].account || a.name != orders_[slot].client_order) [[unlikely]]
        change_owner(slot, a, order.total());
    if (level.is_waiting) {
        amend_waiting(level.book, slot, order, a);
    } else {
        amend_resting(slot, level, order, a);
    }
}

void order_amending::refuse(const command& c, reject_reason reason, std::uint32_t slot) noexcept {
    rejections_.refuse_amend(c, reason, instruments_[engine_.level_of(slot).book].id, orders_[slot].side,
                             engine_.id_of(slot));
}

reject_reason order_amending::check_amend(const command& c, std::uint32_t slot, const matching::level_state& level,
                                          const matching::order_view& order, amendment& a) noexcept {
    const domain::amend_order& wanted = c.amend_order();
    const auto changes = [&](std::uint8_t flag) { return (wanted.flags & flag) != 0; };
    const order_record& record = orders_[slot];
    const domain::instrument& instrument = instruments_[level.book];
    a.account = changes(domain::amend_flag::account) ? wanted.other_account : record.account;
    a.position = record.position;
    a.name = wanted.request_name.value != 0 ? wanted.request_name : record.client_order;
    const bool moves = a.account != record.account;
    if (moves || a.name != record.client_order) [[unlikely]] {
        if (const reject_reason reason = check_owner(record, a); reason != reject_reason::none) return reason;
    }
    const std::uint32_t rules =
        std::uint32_t{phases_.flags(level.book)} | accounts_.flags(a.account) | accounts_.flags(record.account);
    if (rules != 0) [[unlikely]] {
        reject_reason reason = check_market(phases_, accounts_, level.book, record.account, c.session);
        if (reason == reject_reason::none && moves)
            reason = check_market(phases_, accounts_, level.book, a.account, c.session);
        if (reason != reject_reason::none) return reason;
    }
    const bool has_limit = !level.is_waiting || orders_.waiting(slot).type == order_type::stop_limit;
    a.limit = has_limit ? wanted.price : domain::no_price;
    a.trigger = level.price;
    if (changes(domain::amend_flag::trigger_price)) {
        if (!level.is_waiting) return reject_reason::order_not_waiting;
        a.trigger = wanted.trigger_price;
        const reject_reason reason = check_price(instrument, a.trigger);
        if (reason != reject_reason::none) return reason;
    }
    a.display = level.is_waiting ? orders_.waiting(slot).display : order.display;
    if (changes(domain::amend_flag::display_quantity)) {
        if (!has_limit && wanted.display_quantity.value != 0) return reject_reason::invalid_combination;
        a.display = wanted.display_quantity.value;
    }
    if (a.display != 0 && a.total / a.display > display_parts_max) return reject_reason::invalid_quantity;
    if (has_limit) {
        if (const reject_reason reason = check_price(instrument, a.limit); reason != reject_reason::none) return reason;
    }
    const bool keeps_price = level.is_waiting || a.limit == level.price;
    if (rules != 0 && !keeps_price && !phases_.is_collecting(level.book)) [[unlikely]] {
        domain::price_ticks limit = a.limit;
        const reject_reason reason =
            band_of(instrument, writer_.trades()[level.book]).apply(record.side, order_type::limit, limit);
        if (reason != reject_reason::none) return reason;
    }
    const bool is_post_only = (record.flags & domain::order_flag::post_only) != 0;
    if (is_post_only && !keeps_price && matcher_.would_trade(level.book, record.side, a.limit)) {
        return reject_reason::would_take_liquidity;
    }
    if (moves) {
        a.position = risk::acquire_with_legs(positions_, strategies_, a.account, level.book);
        if (a.position == risk::positions::none) return reject_reason::book_full;
    }
    if (!accounts_.is_limited(a.account)) [[likely]]
        return reject_reason::none;
    // A limit never refuses a change that only reduces the order.
    const std::uint32_t open = order.total();
    const domain::price_ticks price = has_limit ? a.limit : a.trigger;
    const domain::price_ticks price_before = !level.is_waiting ? level.price
                                             : has_limit       ? orders_.waiting(slot).limit
                                                               : level.price;
    if (!moves && a.open <= open && price == price_before) return reject_reason::none;
    return limits_.check({.account = a.account,
                          .book = level.book,
                          .position = a.position,
                          .side = record.side,
                          .total = a.total,
                          .added = moves           ? a.open
                                   : a.open > open ? a.open - open
                                                   : 0,
                          .price = price,
                          .opened = moves ? 1U : 0U},
                         instrument);
}

reject_reason order_amending::check_owner(const order_record& record, const amendment& a) const noexcept {
    if (a.account != record.account) {
        if (a.account.value >= engine_.accounts_count()) return reject_reason::not_authorised;
        const std::uint32_t firm = accounts_.firm(record.account);
        if (firm == 0 || firm != accounts_.firm(a.account)) return reject_reason::not_authorised;
    }
    return orders_.is_taken(a.account, a.name) ? reject_reason::duplicate_client_order_id : reject_reason::none;
}

void order_amending::change_owner(std::uint32_t slot, const amendment& a, std::uint32_t open) noexcept {
    order_record& record = orders_[slot];
    if (a.account == record.account) return orders_.rename(slot, a.name);
    if ((record.flags & record_flag::counted) != 0) {
        exposures_.remove_order(record.account, record.position, record.side, open);
        record.flags &= static_cast<std::uint8_t>(~record_flag::counted);
    }
    orders_.move(slot, a.account, a.position, a.name);
    if (accounts_.is_limited(a.account)) {
        record.flags |= record_flag::counted;
        exposures_.add_order(record.account, record.position, record.side, open);
    }
}

void order_amending::amend_waiting(std::uint32_t book, std::uint32_t slot, const matching::order_view& order,
                                   const amendment& a) noexcept {
    waiting_terms& terms = orders_.waiting(slot);
    const order_record& record = orders_[slot];
    const domain::price_ticks trigger = engine_.level_of(slot).price;
    const bool stays =
        a.account.value == order.account && a.trigger == trigger && a.limit == terms.limit && a.open <= order.open;
    const bool is_rising = (record.side == side::buy) == (terms.type != order_type::market_if_touched);
    terms.limit = a.limit;
    terms.display = a.display;
    if ((record.flags & record_flag::counted) != 0) {
        exposures_.remove_order(record.account, record.position, record.side, order.open);
        exposures_.add_order(record.account, record.position, record.side, a.open);
    }
    if (stays) {
        engine_.resize_waiting(slot, a.open);
    } else {
        engine_.wait_again(slot, a.account.value, is_rising, a.trigger, a.open);
    }
    writer_.amended(book, slot, terms.limit, a.open);
    if (a.trigger == trigger || phases_.is_collecting(book)) return;
    writer_.trades().set_range_to_last(book);
    stops_.enter_triggered(book);
}

void order_amending::amend_resting(std::uint32_t slot, const matching::level_state& level,
                                   const matching::order_view& order, const amendment& a) noexcept {
    const order_record& record = orders_[slot];
    const std::uint32_t open = order.total();
    writer_.amended(level.book, slot, a.limit, a.open);
    const bool shows_more = order.display != 0 && (a.display == 0 || a.display > order.display);
    if (a.limit == level.price && a.open <= open && a.account.value == order.account && !shows_more) {
        if (a.display != order.display) {
            engine_.reshape(slot, a.open, a.display, writer_);
        } else if (a.open != open) {
            engine_.reduce(slot, a.open, writer_);
        }
        return;
    }
    const std::uint64_t trades_before = writer_.trades().count();
    writer_.incoming(level.book, a.limit);
    const matching::entry entry{.book = level.book,
                                .account = a.account.value,
                                .side = record.side,
                                .self_match = record.self_match,
                                .group = orders_.group_of(slot),
                                .price = a.limit,
                                .quantity = domain::quantity_lots{a.open},
                                .display = a.display};
    if (phases_.is_collecting(level.book)) [[unlikely]] {
        engine_.lift(slot, writer_);
        engine_.collect_removed(slot, entry, writer_);
        return;
    }
    const matching::entry_result result = matcher_.replace(slot, entry);
    if (result.what == matching::outcome::cancelled) {
        writer_.remainder_cancelled(level.book, slot, order.order, a.limit, result.quantity, result.reason);
    }
    if (result.what != matching::outcome::rested) orders_.remove(slot);
    if (writer_.trades().count() != trades_before) stops_.enter_triggered(level.book);
}

}  // namespace corro::facility
