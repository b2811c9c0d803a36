#include "facility/state_machine.hpp"

#include <algorithm>

namespace corro::facility {

using domain::command;
using domain::command_kind;
using domain::order_type;
using domain::reject_reason;
using domain::self_match_prevention;
using domain::side;
using domain::time_in_force;

namespace {

constexpr std::uint8_t amend_flags_known = domain::amend_flag::open_quantity | domain::amend_flag::trigger_price |
                                           domain::amend_flag::display_quantity | domain::amend_flag::account;

[[nodiscard]] bool is_valid(side s) noexcept {
    return s == side::buy || s == side::sell;
}

/// Orders of this type wait out of the book for their trigger price.
[[nodiscard]] bool is_waiting(order_type type) noexcept {
    return type >= order_type::stop;
}

}  // namespace

void facility::state_machine::apply(const command& c) noexcept {
    writer_.begin(c);
    if (c.time.value >= std::min(orders_.expiries().next_due(), next_resume_)) [[unlikely]]
        settle_due(c.time);
    now_ = c.time;
    sequence_ = c.sequence;
    was_used_ = true;
    if (c.verdict != reject_reason::none) {
        refuse(c, c.verdict);
    } else if (c.account.value >= engine_.accounts_count()) {
        refuse(c, reject_reason::not_authorised);
    } else {
        switch (c.kind) {
            case command_kind::enter_order: enter_order(c); break;
            case command_kind::amend_order: amend_order(c); break;
            case command_kind::cancel_order: cancel_order(c); break;
            case command_kind::cancel_orders: cancel_orders(c); break;
            case command_kind::enter_quote: enter_quote(c); break;
            case command_kind::set_protection: set_protection(c); break;
            case command_kind::reset_protection: reset_protection(c); break;
            case command_kind::change_phase: change_phase(c); break;
            case command_kind::set_limits: set_limits(c); break;
            case command_kind::kill_switch: kill_switch(c); break;
            case command_kind::settle_instrument: settle_instrument(c); break;
            case command_kind::query_order: query_order(c); break;
            case command_kind::define_instrument: define_instrument(c); break;
            default: refuse(c, reject_reason::unknown_command); break;
        }
    }
    if (writer_.is_watching()) [[unlikely]] {
        publish_indicatives();
        publish_implied();
    }
    writer_.end();
}

reject_reason facility::state_machine::check_price(const domain::instrument& i, domain::price_ticks price) noexcept {
    if (price.value > domain::price_ticks_max || price.value < -domain::price_ticks_max) {
        return reject_reason::invalid_price;
    }
    return price < i.price_low || price > i.price_high ? reject_reason::price_outside_band : reject_reason::none;
}

reject_reason facility::state_machine::check_instructions(const command& c) const noexcept {
    if (!is_valid(c.side)) return reject_reason::invalid_side;
    if (c.type < order_type::limit || c.type > order_type::market_if_touched) return reject_reason::invalid_order_type;
    if (c.time_in_force < time_in_force::day || c.time_in_force > time_in_force::at_the_close) {
        return reject_reason::invalid_time_in_force;
    }
    if (c.self_match_prevention > self_match_prevention::decrement) return reject_reason::invalid_self_match_prevention;
    constexpr std::uint8_t flags_known = domain::order_flag::of_price | domain::order_flag::stays;
    const unsigned of_price = c.flags & domain::order_flag::of_price;
    if ((c.flags & ~flags_known) != 0 || of_price == domain::order_flag::reprice) {
        return reject_reason::invalid_combination;
    }
    const bool is_lasting = domain::is_lasting(c.time_in_force);
    if (domain::is_for_auction(c.time_in_force) &&
        (c.type != order_type::limit || (of_price | c.minimum_quantity.value) != 0)) {
        return reject_reason::invalid_combination;
    }
    const bool becomes_market =
        c.type == order_type::market || c.type == order_type::stop || c.type == order_type::market_if_touched;
    if (of_price != 0 && (!is_lasting || c.type != order_type::limit)) return reject_reason::invalid_combination;
    if (c.flags != 0 && !is_lasting) return reject_reason::invalid_combination;
    if (is_waiting(c.type) && !is_lasting) return reject_reason::invalid_combination;
    if (c.display_quantity.value != 0 && (!is_lasting || becomes_market)) return reject_reason::invalid_combination;
    if (c.minimum_quantity.value != 0 &&
        (of_price != 0 || is_waiting(c.type) || c.time_in_force == time_in_force::fok)) {
        return reject_reason::invalid_combination;
    }
    if (c.time_in_force == time_in_force::gtd) {
        if (c.type == order_type::market) return reject_reason::invalid_combination;
        return c.expire_time < c.time ? reject_reason::invalid_expire_time : reject_reason::none;
    }
    return c.expire_time.value != 0 ? reject_reason::invalid_combination : reject_reason::none;
}

reject_reason facility::state_machine::check_entry(const command& c) const noexcept {
    const std::uint32_t book = book_of(c.instrument);
    if (book == none) return reject_reason::unknown_instrument;
    if (const reject_reason reason = check_instructions(c); reason != reject_reason::none) return reason;

    const domain::instrument& instrument = instruments_[book];
    if (c.quantity.value == 0 || c.quantity > instrument.order_quantity_max || c.minimum_quantity > c.quantity) {
        return reject_reason::invalid_quantity;
    }
    // A part shown is a fill; what one aggressor can set in motion stays bounded.
    if (c.display_quantity.value != 0 && c.quantity.value / c.display_quantity.value > display_parts_max) {
        return reject_reason::invalid_quantity;
    }
    if (c.type == order_type::limit || c.type == order_type::stop_limit) {
        if (const reject_reason reason = check_price(instrument, c.price); reason != reject_reason::none) return reason;
    }
    if (c.type == order_type::market_protected && (c.price.value < 0 || c.price.value > domain::price_ticks_max)) {
        return reject_reason::invalid_price;
    }
    if (is_waiting(c.type)) {
        const reject_reason reason = check_price(instrument, c.trigger_price);
        if (reason != reject_reason::none) return reason;
    }
    if (orders_.find(c.account, c.client_order) != order_directory::none) {
        return reject_reason::duplicate_client_order_id;
    }
    return engine_.full() ? reject_reason::book_full : reject_reason::none;
}

domain::conversion<domain::price_ticks> facility::state_machine::limit_of(const command& c,
                                                                          std::uint32_t book) const noexcept {
    if (c.type == order_type::market) return {.value = domain::no_price};
    const bool reprices = (c.flags & domain::order_flag::reprice) != 0;
    if (c.type == order_type::limit && !reprices) [[likely]]
        return {.value = c.price};
    const domain::price_ticks best = best_price(book, domain::opposite(c.side));
    const std::int64_t worse = c.side == side::buy ? 1 : -1;
    const domain::instrument& instrument = instruments_[book];
    if (reprices) {
        if (!would_trade(book, c.side, c.price)) return {.value = c.price};
        const domain::price_ticks behind{best.value - worse};
        if (check_price(instrument, behind) != reject_reason::none)
            return {.reason = reject_reason::would_take_liquidity};
        return {.value = behind};
    }
    if (best == domain::no_price) return {.reason = reject_reason::no_counterparty};
    const domain::price_ticks limit{best.value + (c.type == order_type::market_to_limit ? 0 : worse * c.price.value)};
    return {.value = std::clamp(limit, std::max(instrument.price_low, domain::price_ticks{-domain::price_ticks_max}),
                                std::min(instrument.price_high, domain::price_ticks{domain::price_ticks_max}))};
}

void facility::state_machine::enter_order(const command& c) noexcept {
    if (const reject_reason reason = check_entry(c); reason != reject_reason::none) {
        refuse(c, reason);
        return;
    }
    const std::uint32_t book = book_of(c.instrument);
    const std::uint32_t rules = rules_.any(book, c.account) | (domain::is_for_auction(c.time_in_force) ? 0x100U : 0U);
    bool collects = false;
    if (rules != 0) [[unlikely]] {
        reject_reason reason = check_market(book, c.account, c.session);
        if (reason == reject_reason::none) reason = check_phase(c, book);
        if (reason != reject_reason::none) {
            refuse(c, reason);
            return;
        }
        collects = rules_.is_collecting(book);
    }
    const std::uint32_t position = acquire_position(c.account, book);
    if (position == risk::positions::none) {
        refuse(c, reject_reason::book_full);
        return;
    }
    const std::uint32_t slot = matching::engine::slot_of(engine_.next_id());
    orders_[slot] = {.client_order = c.client_order,
                     .session = c.session,
                     .account = c.account,
                     .request = c.request,
                     .total = c.quantity.value,
                     .position = position,
                     .side = c.side,
                     .time_in_force = c.time_in_force,
                     .self_match = c.self_match_prevention,
                     .flags = c.flags};
    std::uint64_t group = 0;
    if ((c.self_match_group | static_cast<std::uint64_t>(c.expire_time.value)) != 0 ||
        c.time_in_force == time_in_force::gtd) [[unlikely]] {
        group = group_key(c.account, c.self_match_group);
        orders_.rare(slot) = {c.expire_time.value, group};
        if (group != 0) orders_[slot].flags |= record_flag::grouped;
    }
    bool is_market = c.type == order_type::market;
    const bool is_immediate =
        is_market || c.time_in_force == time_in_force::ioc || c.time_in_force == time_in_force::fok;
    auto [limit, refusal] =
        is_waiting(c.type)
            ? domain::conversion<domain::price_ticks>{.value =
                                                          c.type == order_type::stop_limit ? c.price : c.trigger_price}
            : limit_of(c, book);
    domain::price_ticks entry_price = is_market ? domain::price_ticks{} : limit;
    if (rules != 0 && refusal == reject_reason::none) [[unlikely]] {
        if (!is_waiting(c.type) && !collects) {
            domain::price_ticks within = limit;
            refusal = apply_band(book, c.side, c.type, within);
            if (within != limit) {
                // A market order has the band's edge for its limit, and says none.
                if (is_market)
                    is_market = false;
                else
                    limit = within;
                entry_price = within;
            }
            if (refusal == reject_reason::price_outside_dynamic_band && starts_auction(c, book)) {
                refusal = reject_reason::none;
                collects = true;
            }
        }
        if (refusal == reject_reason::none) {
            refusal = check_limits(c.account, book, position, c.side, c.quantity.value, c.quantity.value,
                                   c.type == order_type::market ? best_price(book, domain::opposite(c.side)) : limit,
                                   !is_immediate);
        }
        if ((rules_.account_flags(c.account) & account_flag::limited) != 0) orders_[slot].flags |= record_flag::counted;
    }
    if (refusal != reject_reason::none) {
        refuse(c, refusal);
        return;
    }
    if (is_waiting(c.type)) {
        let_wait(c, book, slot);
        return;
    }
    if (collects) [[unlikely]] {
        collect(c, book, slot, group);
        return;
    }
    const matching::remainder rest = c.time_in_force == time_in_force::fok ? matching::remainder::never_arises
                                     : is_immediate                        ? matching::remainder::cancelled
                                                                           : matching::remainder::rests;
    const std::uint64_t trades_before = writer_.trades_count();
    writer_.announce_entry(true);
    writer_.incoming(book, limit);
    const matching::entry_result result = enter({.book = book,
                                                 .account = c.account.value,
                                                 .side = c.side,
                                                 .is_market = is_market,
                                                 .post_only = (c.flags & domain::order_flag::post_only) != 0,
                                                 .rest = rest,
                                                 .self_match = c.self_match_prevention,
                                                 .group = group,
                                                 .price = entry_price,
                                                 .quantity = c.quantity,
                                                 .display = c.display_quantity.value,
                                                 .minimum = c.minimum_quantity.value});
    switch (result.what) {
        case matching::outcome::rested: orders_.add(slot); break;
        case matching::outcome::filled: break;
        case matching::outcome::cancelled:
            writer_.remainder_cancelled(book, slot, result.order, limit, result.quantity, result.reason);
            break;
        case matching::outcome::refused: refuse(c, result.reason); break;
    }
    if (writer_.trades_count() != trades_before) enter_triggered(book);
}

/// Lets a limit order rest where an auction collects, or begins with it.
void facility::state_machine::collect(const command& c, std::uint32_t book, std::uint32_t slot,
                                      std::uint64_t group) noexcept {
    if (!rules_.is_collecting(book)) start_volatility_auction(book, reject_reason::price_outside_dynamic_band);
    if (domain::is_for_auction(c.time_in_force)) rules_.book(book).has_auction_orders = true;
    writer_.announce_entry(true);
    engine_.collect({.book = book,
                     .account = c.account.value,
                     .side = c.side,
                     .group = group,
                     .price = c.price,
                     .quantity = c.quantity,
                     .display = c.display_quantity.value},
                    writer_);
    orders_.add(slot);
}

void facility::state_machine::let_wait(const command& c, std::uint32_t book, std::uint32_t slot) noexcept {
    const bool waits_for_worse = c.type != order_type::market_if_touched;
    const bool is_rising = (c.side == side::buy) == waits_for_worse;
    orders_.waiting(slot) = {.limit = c.type == order_type::stop_limit ? c.price : domain::no_price,
                             .display = c.display_quantity.value,
                             .type = c.type};
    engine_.wait(book, c.account.value, is_rising, c.trigger_price, c.quantity.value);
    orders_.add(slot);
    const order_record& record = orders_[slot];
    if ((record.flags & record_flag::counted) != 0) {
        exposures_.add_order(record.account, record.position, record.side, record.total);
    }
    writer_.waits(book, slot, orders_.waiting(slot).limit, c.quantity.value);
    if (rules_.is_collecting(book)) return;  // the uncross sets free whatever its price does
    writer_.see_last_trade(book);
    enter_triggered(book);
}

void facility::state_machine::enter_triggered_in(std::uint32_t book) noexcept {
    writer_.announce_entry(false);
    for (;;) {
        if (!quotes_.trips().empty()) [[unlikely]]
            withdraw_tripped();
        // By every trade of the command, not by the last alone: a price that traded in the middle of a sweep has
        // traded.
        if (writer_.traded_low() > writer_.traded_high()) return;
        if ((rules_.book_flags(book) & book_flag::circuit_breaker) != 0 && breaks_circuit(book)) [[unlikely]]
            return;
        const std::uint32_t slot = engine_.next_triggered(book, writer_.traded_low(), writer_.traded_high());
        if (slot == none) return;
        const order_record& record = orders_[slot];
        const waiting_terms terms = orders_.waiting(slot);
        const domain::quantity_lots quantity{engine_.order_at(slot).open};
        const domain::order_id order = engine_.id_of(slot);
        bool is_market = terms.type != order_type::stop_limit;
        const matching::remainder rest = is_market ? matching::remainder::cancelled : matching::remainder::rests;
        writer_.triggered(book, slot, terms.limit, quantity.value);
        domain::price_ticks entry_price = is_market ? domain::price_ticks{} : terms.limit;
        if ((rules_.book_flags(book) & book_flag::dynamic_band) != 0) [[unlikely]] {
            const domain::price_ticks edge = band_edge(book, record.side);
            const bool is_beyond = record.side == side::buy ? terms.limit > edge : terms.limit < edge;
            if (edge != domain::no_price && is_market) {
                is_market = false;
                entry_price = edge;
            } else if (edge != domain::no_price && is_beyond) {
                writer_.withdraw_for(reject_reason::price_outside_dynamic_band);
                engine_.cancel(slot, writer_, matching::removal::expelled);
                continue;
            }
        }
        if ((record.flags & record_flag::counted) != 0) [[unlikely]] {
            exposures_.remove_order(record.account, record.position, record.side, quantity.value);
        }
        writer_.incoming(book, terms.limit);
        engine_.wake(slot);
        const matching::entry_result result = enter(slot, {.book = book,
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
}

facility::state_machine::resolution facility::state_machine::resolve(const command& c) const noexcept {
    if (c.order.value != 0) {
        if (!engine_.is_open(c.order)) {
            return {none, engine_.was_given(c.order) ? reject_reason::order_not_open : reject_reason::unknown_order};
        }
        const std::uint32_t slot = matching::engine::slot_of(c.order);
        if (orders_[slot].account != c.account) return {none, reject_reason::unknown_order};
        const bool is_quote = (orders_[slot].flags & quote_mark) != 0;
        return {is_quote ? none : slot, is_quote ? reject_reason::order_is_quote : reject_reason::none};
    }
    const std::uint32_t slot =
        c.target_request != 0 ? orders_.find(c.session, c.target_request) : orders_.find(c.account, c.client_order);
    if (slot == order_directory::none || orders_[slot].account != c.account)
        return {none, reject_reason::unknown_order};
    return {slot, reject_reason::none};
}

void facility::state_machine::amend_order(const command& c) noexcept {
    const auto [slot, unresolved] = resolve(c);
    if (slot == none) {
        refuse(c, unresolved);
        return;
    }
    if ((c.flags & ~amend_flags_known) != 0) {
        refuse(c, reject_reason::invalid_combination, slot);
        return;
    }
    const matching::level_state level = engine_.level_of(slot);
    const matching::order_view order = engine_.order_at(slot);
    const std::uint32_t filled = orders_[slot].total - order.total();
    const bool names_open = (c.flags & domain::amend_flag::open_quantity) != 0;
    if (c.quantity.value <= (names_open ? 0 : filled)) {
        engine_.cancel(slot, writer_);
        return;
    }
    const std::uint64_t total = std::uint64_t{c.quantity.value} + (names_open ? filled : 0);
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
    if (a.account != orders_[slot].account) [[unlikely]]
        change_owner(slot, a, order.total());
    if (level.is_waiting) {
        amend_waiting(level.book, slot, order, a);
    } else {
        amend_resting(slot, level, order, a);
    }
}

reject_reason facility::state_machine::check_amend(const command& c, std::uint32_t slot,
                                                   const matching::level_state& level,
                                                   const matching::order_view& order, amendment& a) noexcept {
    const auto changes = [&](std::uint8_t flag) { return (c.flags & flag) != 0; };
    const order_record& record = orders_[slot];
    const domain::instrument& instrument = instruments_[level.book];
    a.account = changes(domain::amend_flag::account) ? c.other_account : record.account;
    a.position = record.position;
    const bool moves = a.account != record.account;
    if (moves) {
        if (a.account.value >= engine_.accounts_count()) return reject_reason::not_authorised;
        const std::uint32_t firm = rules_.limits(record.account).firm;
        if (firm == 0 || firm != rules_.limits(a.account).firm) return reject_reason::not_authorised;
        if (orders_.find(a.account, record.client_order) != order_directory::none) {
            return reject_reason::duplicate_client_order_id;
        }
    }
    const std::uint32_t rules = rules_.any(level.book, a.account) | rules_.account_flags(record.account);
    if (rules != 0) [[unlikely]] {
        reject_reason reason = check_market(level.book, record.account, c.session);
        if (reason == reject_reason::none && moves) reason = check_market(level.book, a.account, c.session);
        if (reason != reject_reason::none) return reason;
    }
    const bool has_limit = !level.is_waiting || orders_.waiting(slot).type == order_type::stop_limit;
    a.limit = has_limit ? c.price : domain::no_price;
    a.trigger = level.price;
    if (changes(domain::amend_flag::trigger_price)) {
        if (!level.is_waiting) return reject_reason::order_not_waiting;
        a.trigger = c.trigger_price;
        const reject_reason reason = check_price(instrument, a.trigger);
        if (reason != reject_reason::none) return reason;
    }
    a.display = level.is_waiting ? orders_.waiting(slot).display : order.display;
    if (changes(domain::amend_flag::display_quantity)) {
        if (!has_limit && c.display_quantity.value != 0) return reject_reason::invalid_combination;
        a.display = c.display_quantity.value;
    }
    if (a.display != 0 && a.total / a.display > display_parts_max) return reject_reason::invalid_quantity;
    if (has_limit) {
        if (const reject_reason reason = check_price(instrument, a.limit); reason != reject_reason::none) return reason;
    }
    const bool keeps_price = level.is_waiting || a.limit == level.price;
    if (rules != 0 && !keeps_price && !rules_.is_collecting(level.book)) [[unlikely]] {
        domain::price_ticks limit = a.limit;
        const reject_reason reason = apply_band(level.book, record.side, order_type::limit, limit);
        if (reason != reject_reason::none) return reason;
    }
    const bool is_post_only = (record.flags & domain::order_flag::post_only) != 0;
    if (is_post_only && !keeps_price && would_trade(level.book, record.side, a.limit)) {
        return reject_reason::would_take_liquidity;
    }
    if (moves) {
        a.position = acquire_position(a.account, level.book);
        if (a.position == risk::positions::none) return reject_reason::book_full;
    }
    if ((rules_.account_flags(a.account) & account_flag::limited) == 0) [[likely]]
        return reject_reason::none;
    // What only takes away is never refused for a limit.
    const std::uint32_t open = order.total();
    const domain::price_ticks price = has_limit ? a.limit : a.trigger;
    const domain::price_ticks price_before = !level.is_waiting ? level.price
                                             : has_limit       ? orders_.waiting(slot).limit
                                                               : level.price;
    if (!moves && a.open <= open && price == price_before) return reject_reason::none;
    return check_limits(a.account, level.book, a.position, record.side, a.total,
                        moves           ? a.open
                        : a.open > open ? a.open - open
                                        : 0,
                        price, moves ? 1 : 0);
}

void facility::state_machine::change_owner(std::uint32_t slot, const amendment& a, std::uint32_t open) noexcept {
    order_record& record = orders_[slot];
    if ((record.flags & record_flag::counted) != 0) {
        exposures_.remove_order(record.account, record.position, record.side, open);
        record.flags &= static_cast<std::uint8_t>(~record_flag::counted);
    }
    orders_.move(slot, a.account, a.position);
    if ((rules_.account_flags(a.account) & account_flag::limited) != 0) {
        record.flags |= record_flag::counted;
        exposures_.add_order(record.account, record.position, record.side, open);
    }
}

void facility::state_machine::amend_waiting(std::uint32_t book, std::uint32_t slot, const matching::order_view& order,
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
    if (a.trigger == trigger || rules_.is_collecting(book)) return;
    writer_.see_last_trade(book);
    enter_triggered(book);
}

void facility::state_machine::amend_resting(std::uint32_t slot, const matching::level_state& level,
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
    const std::uint64_t trades_before = writer_.trades_count();
    writer_.incoming(level.book, a.limit);
    const matching::entry entry{.book = level.book,
                                .account = a.account.value,
                                .side = record.side,
                                .self_match = record.self_match,
                                .group = orders_.group_of(slot),
                                .price = a.limit,
                                .quantity = domain::quantity_lots{a.open},
                                .display = a.display};
    if (rules_.is_collecting(level.book)) [[unlikely]] {
        engine_.lift(slot, writer_);
        engine_.collect_lifted(slot, entry, writer_);
        return;
    }
    const matching::entry_result result = [&] {
        if (!implied_.takes_part(level.book)) [[likely]]
            return engine_.replace(slot, entry, writer_);
        engine_.lift(slot, writer_);
        return enter(slot, entry);
    }();
    if (result.what == matching::outcome::cancelled) {
        writer_.remainder_cancelled(level.book, slot, order.order, a.limit, result.quantity, result.reason);
    }
    if (result.what != matching::outcome::rested) orders_.remove(slot);
    if (writer_.trades_count() != trades_before) enter_triggered(level.book);
}

void facility::state_machine::cancel_order(const command& c) noexcept {
    const auto [slot, unresolved] = resolve(c);
    if (slot == none) {
        refuse(c, unresolved);
        return;
    }
    engine_.cancel(slot, writer_);
}

void facility::state_machine::cancel_orders(const command& c) noexcept {
    std::uint32_t book = none;
    if (c.instrument.value != 0) {
        book = book_of(c.instrument);
        if (book == none) {
            refuse(c, reject_reason::unknown_instrument);
            return;
        }
    }
    constexpr std::uint8_t of_quotes = domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only;
    constexpr std::uint8_t flags_known = of_quotes | domain::cancel_flag::all_but_staying;
    if (c.scope > domain::cancel_scope::session || c.sides > domain::cancel_sides::sell ||
        (c.flags & ~flags_known) != 0 || (c.flags & of_quotes) == domain::cancel_flag::quotes_only) {
        refuse(c, reject_reason::invalid_combination);
        return;
    }
    // An operator may name anybody's account.
    const domain::account_id account = c.other_account.value != 0 ? c.other_account : c.account;
    if (c.other_account.value != 0 && (c.is_operator == 0 || account.value >= engine_.accounts_count())) {
        refuse(c, reject_reason::not_authorised);
        return;
    }
    const bool covers_quotes = (c.flags & domain::cancel_flag::quotes_too) != 0;
    const bool covers_orders = (c.flags & domain::cancel_flag::quotes_only) == 0;
    const std::uint8_t spared =
        (c.flags & domain::cancel_flag::all_but_staying) != 0 ? domain::order_flag::stays : std::uint8_t{0};
    const auto is_covered = [&](std::uint32_t slot, std::uint32_t at) {
        return (orders_[slot].flags & spared) == 0 &&
               ((orders_[slot].flags & quote_mark) != 0 ? covers_quotes : covers_orders) &&
               (book == none || at == book) && (c.product.value == 0 || instruments_[at].product == c.product) &&
               (c.sides == domain::cancel_sides::both ||
                (c.sides == domain::cancel_sides::buy) == (orders_[slot].side == side::buy)) &&
               (c.scope == domain::cancel_scope::account || orders_[slot].session == c.session);
    };
    const std::uint32_t last = engine_.newest_order_of(account.value, is_covered);
    if (last == none) {
        // Nobody is refused what nobody asked for: the venue's own cancel of a lost connection has no request.
        if (c.request == 0) return writer_.request_done({}, account);
        refuse(c, reject_reason::nothing_to_cancel);
        return;
    }
    writer_.answer_with(last);
    engine_.cancel_account(account.value, is_covered, writer_);
}

void facility::state_machine::query_order(const command& c) noexcept {
    switch (c.flags) {
        case 0: {
            const auto [slot, unresolved] = resolve(c);
            if (slot == none) return refuse(c, unresolved);
            writer_.status(slot, true);
            return;
        }
        case domain::query_flag::all_of_session:
        case domain::query_flag::all_of_account: break;
        default: return refuse(c, reject_reason::invalid_combination);
    }
    engine_.for_each_order_of(c.account.value, [&](std::uint32_t slot) {
        if (c.flags == domain::query_flag::all_of_account || orders_[slot].session == c.session) {
            writer_.status(slot, false);
        }
    });
    writer_.request_done({}, c.account);
}

void facility::state_machine::refuse(const command& c, reject_reason reason) noexcept {
    const bool has_terms = c.kind == command_kind::enter_order || c.kind == command_kind::amend_order;
    const bool has_limit =
        c.kind == command_kind::amend_order ||
        (c.kind == command_kind::enter_order && (c.type == order_type::limit || c.type == order_type::stop_limit));
    writer_.reject(c.instrument, is_valid(c.side) ? c.side : side::buy, reason, {},
                   has_limit ? c.price : domain::no_price, has_terms ? c.quantity : domain::quantity_lots{});
}

void facility::state_machine::refuse(const command& c, reject_reason reason, std::uint32_t slot) noexcept {
    writer_.reject(instruments_[engine_.level_of(slot).book].id, orders_[slot].side, reason, engine_.id_of(slot),
                   c.price, c.quantity);
}

}  // namespace corro::facility
