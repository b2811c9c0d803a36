// SPDX-License-Identifier: Apache-2.0
// The reference: commands, messages, and the state hash.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

const std::vector<domain::event>& facility_reference::apply(const domain::command& c, domain::order_id next_id,
                                                            domain::order_id second_id) {
    events_.clear();
    traded_.clear();
    command_ = c;
    next_id_ = next_id;
    second_id_ = second_id;
    pairs_before_ = positions_in_order_.size();
    process_due_times();
    if (mistake_ != defect::names_come_after_the_answer) say_name();
    if (c.verdict() != domain::reject_reason::none) {
        refuse(c.verdict());
    } else if (c.account.value >= options_.accounts_max) {
        refuse(domain::reject_reason::not_authorised);
    } else if (c.kind == domain::command_kind::enter_order) {
        enter_order();
    } else if (c.kind == domain::command_kind::amend_order) {
        amend_order();
    } else if (c.kind == domain::command_kind::cancel_order) {
        const auto [found, reason] = resolve(c.cancel_order().order, c.cancel_order().target_request);
        if (found == nullptr) {
            refuse(reason);
        } else {
            cancel(*found, true);
        }
    } else if (c.kind == domain::command_kind::cancel_orders) {
        cancel_orders();
    } else if (c.kind == domain::command_kind::query_order) {
        query_order();
    } else if (c.kind == domain::command_kind::enter_quote) {
        enter_quote();
    } else if (c.kind == domain::command_kind::set_protection) {
        set_protection();
    } else if (c.kind == domain::command_kind::reset_protection) {
        protections_[c.account.value].restart();
        protections_[c.account.value].is_tripped = false;
        say_protection(c.account, c.session, reject_reason::none, true);
    } else if (c.kind == domain::command_kind::change_phase) {
        change_phase();
    } else if (c.kind == domain::command_kind::set_limits) {
        set_limits();
    } else if (c.kind == domain::command_kind::kill_switch) {
        kill_switch();
    } else if (c.kind == domain::command_kind::settle_instrument) {
        settle_instrument();
    } else if (c.kind == domain::command_kind::new_trading_day) {
        begin_day();
    } else if (c.kind == domain::command_kind::define_instrument) {
        define_instrument();
    } else if (c.kind == domain::command_kind::define_account) {
        define_account();
    } else if (c.kind == domain::command_kind::set_account_limits) {
        set_account_limits();
    } else if (c.kind == domain::command_kind::reset_session_numbers) {
        reset_session_numbers();
    } else if (c.kind == domain::command_kind::count_messages) {
        count_messages();
    } else if (c.kind == domain::command_kind::name_order) {
        name_order();
    } else if (c.kind == domain::command_kind::cancel_on_disconnect) {
        // No rule depends on it.
    } else {
        refuse(domain::reject_reason::unknown_command);
    }
    if (mistake_ == defect::names_come_after_the_answer) say_name();
    settle_elsewhere();
    say_indicatives();
    say_implied_tops();
    close_command();
    return events_;
}

void facility_reference::close_command() {
    if (events_.empty()) return;
    const auto is_public = [](const domain::event& e) { return domain::is_public(e.kind); };
    const auto last_public = std::find_if(events_.rbegin(), events_.rend(), is_public);
    if (last_public - events_.rbegin() > 64 && last_public != events_.rend()) {
        const domain::instrument_id instrument = last_public->instrument;
        say(event_kind::top_of_book, instrument.value, side::buy).top = top_of(index_of(instrument));
    } else if (last_public != events_.rend() && mistake_ != defect::feed_misses_the_end_of_a_command) {
        last_public->flags |= domain::event_flag::last_of_command;
    }
    events_.back().flags |= domain::event_flag::last_of_command;
}

std::uint64_t facility_reference::state_hash() const {
    state_hasher hasher;
    hasher.add(trades_count_);
    for (std::size_t index = 0; index < books_.size(); ++index) {
        const book& b = books_[index];
        hasher.add(b.prices.last.value);
        hasher.add(b.prices.high.value);
        hasher.add(b.prices.low.value);
        hasher.add(b.prices.open.value);
        hasher.add(b.volume);
        hasher.add(b.turnover);
        hasher.add(b.leg_volume);
        const bool has_top = domain::has_top_order(instruments_[index].allocation.algorithm);
        for (const half* h : {&b.buy, &b.sell}) {
            hasher.add(std::uint64_t{0});
            if (has_top) hasher.add(h->top.value);
            for (const auto& [key, queue] : h->levels) {
                for (const order* o : queue) {
                    hasher.add(o->price.value);
                    hasher.add((std::uint64_t{o->shown} << 32) | o->display);
                    hash_order(hasher, *o);
                }
            }
        }
        for (const half* h : {&b.falling, &b.rising}) {
            hasher.add(std::uint64_t{0});
            for (const auto& [key, queue] : h->levels) {
                for (const order* o : queue) {
                    hasher.add(o->trigger.value);
                    hasher.add(o->price.value);
                    hasher.add((static_cast<std::uint64_t>(o->type) << 32) | o->display);
                    hash_order(hasher, *o);
                }
            }
        }
    }
    for (const auto& [account, ids] : by_account_) {
        for (const domain::order_id id : ids) hasher.add(id.value);
    }
    for (std::uint32_t account = 0; account < options_.accounts_max; ++account) {
        const auto at = protections_.find(account);
        const protection p = at == protections_.end() ? protection{} : at->second;
        hasher.add((std::uint64_t{p.fills_max} << 32) | p.quantity_max);
        hasher.add((std::uint64_t{p.window_ms} << 32) | p.fills);
        hasher.add(p.lots);
        hasher.add(p.began);
        hasher.add(std::uint64_t{p.is_tripped});
    }
    for (const auto& [account, instrument] : positions_in_order_) {
        hasher.add((std::uint64_t{account} << 32) | instrument);
        hasher.add(positions_.at({account, instrument}));
    }
    for (const book& b : books_) {
        hasher.add(static_cast<std::uint64_t>(b.phase));
        hasher.add(b.resume_time);
        hasher.add(b.pending_low);
        hasher.add(b.pending_high);
        hasher.add(b.window_end);
        hasher.add(b.reference.value);
        hasher.add(b.last_seen.value);
        hasher.add((b.owes_uncross ? std::uint64_t{1} : 0U) | (b.has_auction_orders ? 2U : 0U) |
                   (b.is_settled ? 4U : 0U));
        hasher.add(b.indicative.price.value);
        hasher.add(b.indicative.volume.value);
        hasher.add(b.indicative.imbalance);
    }
    for (std::uint32_t account = 0; account < options_.accounts_max; ++account) {
        const auto at = limits_.find(account);
        const limits l = at == limits_.end() ? limits{} : at->second;
        hasher.add(l.notional);
        hasher.add((std::uint64_t{l.quantity} << 32) | l.position);
        hasher.add((std::uint64_t{l.orders} << 32) | l.firm);
        hasher.add((killed_accounts_.contains(account) ? std::uint64_t{1} : 0U) |
                   (killed_firms_.contains(account) ? 2U : 0U));
    }
    for (const auto& [account, session] : killed_sessions_) hasher.add((std::uint64_t{account} << 32) | session);
    hash_definitions(hasher);
    hash_accounts(hasher);
    return hasher.value();
}

bool facility_reference::was_issued(domain::order_id id) const {
    const auto at = given_.find(id.value);
    return at != given_.end() && at->second;
}

facility_reference::half& facility_reference::half_of(std::uint32_t instrument, side s) {
    return s == side::buy ? books_[instrument].buy : books_[instrument].sell;
}

std::int64_t facility_reference::key_of(side s, domain::price_ticks price) {
    return s == side::buy ? -price.value : price.value;
}

std::uint64_t facility_reference::volume_of(const std::list<order*>& queue) {
    std::uint64_t volume = 0;
    for (const order* o : queue) volume += o->shown;
    return volume;
}

domain::top facility_reference::top_of(std::uint32_t instrument) const {
    const book& b = books_[instrument];
    domain::top t{domain::no_price, {}, domain::no_price, {}, {}};
    if (!b.buy.levels.empty()) {
        t.bid_price = domain::price_ticks{-b.buy.levels.begin()->first};
        t.bid_quantity = domain::volume_lots{volume_of(b.buy.levels.begin()->second)};
    }
    if (!b.sell.levels.empty()) {
        t.ask_price = domain::price_ticks{b.sell.levels.begin()->first};
        t.ask_quantity = domain::volume_lots{volume_of(b.sell.levels.begin()->second)};
    }
    return t;
}

std::uint64_t facility_reference::open_interest(std::uint32_t instrument) const {
    std::uint64_t sum = 0;
    for (const auto& [pair, lots] : positions_) {
        if (pair.second == instrument && lots > 0) sum += static_cast<std::uint64_t>(lots);
    }
    return sum;
}

bool facility_reference::is_lasting(const domain::command& c) {
    const domain::time_in_force t = c.order_terms().time_in_force;
    return t == domain::time_in_force::day || t == domain::time_in_force::gtc || t == domain::time_in_force::gtd ||
           t == domain::time_in_force::at_the_open || t == domain::time_in_force::at_the_close;
}

bool facility_reference::is_waiting_type(domain::order_type type) {
    return type == domain::order_type::stop || type == domain::order_type::stop_limit ||
           type == domain::order_type::market_if_touched;
}

void facility_reference::hash_order(state_hasher& hasher, const order& o, bool by_request) {
    hasher.add(o.id.value);
    hasher.add((std::uint64_t{o.filled + o.open} << 32) | o.open);
    hasher.add(o.client_order.value);
    hasher.add((std::uint64_t{o.session.value} << 32) | o.account.value);
    const bool expires = o.time_in_force == domain::time_in_force::gtd;
    hasher.add(expires ? o.expire_time : 0);
    hasher.add(expires ? o.expiring_before : 0);
    hasher.add(o.group.second == 0 ? 0 : (o.group.first << 32) | o.group.second);
    hasher.add((std::uint64_t{o.request} << 32) | (std::uint64_t{o.is_quote ? 0x80U : o.flags} << 24) |
               (static_cast<std::uint64_t>(o.time_in_force) << 16) | (static_cast<std::uint64_t>(o.self_match) << 8) |
               (o.client_order.value != 0 && !o.is_quote ? 2U : 0U) | (by_request ? 1U : 0U));
}

void facility_reference::hash_order(state_hasher& hasher, const order& o) const {
    const auto at = by_request_.find({o.session.value, o.request});
    hash_order(hasher, o, at != by_request_.end() && at->second == o.id);
}

domain::event& facility_reference::say(event_kind kind, std::uint32_t instrument_id, side s, reject_reason reason,
                                       std::uint8_t flags) {
    domain::event e;
    e.command = command_.sequence;
    e.time = command_.time;
    e.instrument = domain::instrument_id{instrument_id};
    e.kind = kind;
    e.side = s;
    e.reason = reason;
    e.flags = flags;
    events_.push_back(e);
    return events_.back();
}

void facility_reference::refuse(reject_reason reason, const order* about) {
    // A refused command leaves no position behind.
    for (; positions_in_order_.size() > pairs_before_; positions_in_order_.pop_back()) {
        if (mistake_ == defect::refused_orders_keep_positions) break;
        positions_.erase(positions_in_order_.back());
    }
    const side claimed = command_.terms.order.side == side::sell ? side::sell : side::buy;
    domain::price_ticks price = domain::no_price;
    domain::quantity_lots quantity{};
    if (command_.kind == domain::command_kind::enter_order) {
        const domain::order_type type = command_.order_terms().type;
        const bool has_price = type == domain::order_type::limit || type == domain::order_type::stop_limit;
        if (has_price) price = command_.enter_order().price;
        quantity = command_.enter_order().quantity;
    }
    if (command_.kind == domain::command_kind::amend_order) {
        price = command_.amend_order().price;
        quantity = command_.amend_order().quantity;
    }
    say(event_kind::order_rejected, about != nullptr ? id_of(about->instrument) : command_.instrument.value,
        about != nullptr ? about->side : claimed, reason, answer_mark())
        .order = {about != nullptr ? about->id : domain::order_id{},
                  command_.client_order,
                  price,
                  quantity,
                  command_.account,
                  command_.session,
                  command_.request()};
}

std::uint8_t facility_reference::answer_mark() const {
    if (command_.kind == domain::command_kind::enter_quote && (command_.enter_quote().flags & 4) != 0) return 0;
    return domain::event_flag::last_of_request;
}

void facility_reference::tell_owner(event_kind kind, const order& o, domain::price_ticks price, std::uint32_t quantity,
                                    reject_reason reason, bool answers) {
    const bool asked = o.session == command_.session;
    say(kind, id_of(o.instrument), o.side, reason,
        answers && asked ? domain::event_flag::last_of_request : std::uint8_t{0})
        .order = {o.id,
                  o.client_order,
                  price,
                  domain::quantity_lots{quantity},
                  o.account,
                  o.session,
                  asked ? command_.request() : 0};
}

void facility_reference::tell_owner_and_asker(event_kind kind, const order& o, domain::price_ticks price,
                                              std::uint32_t quantity, bool answers) {
    tell_owner(kind, o, price, quantity, reject_reason::none, answers);
    if (o.session == command_.session) return;
    say(kind, id_of(o.instrument), o.side, reject_reason::none,
        answers ? domain::event_flag::last_of_request : std::uint8_t{0})
        .order = {
        o.id, o.client_order, price, domain::quantity_lots{quantity}, o.account, command_.session, command_.request()};
}

void facility_reference::say_public(event_kind kind, const order& o, std::uint32_t open, std::uint32_t change) {
    say(kind, id_of(o.instrument), o.side).book = {
        o.id, o.price, domain::quantity_lots{open}, domain::quantity_lots{change}, {}};
}

void facility_reference::say_level(const order& o) {
    const half& h = half_of(o.instrument, o.side);
    const auto at = h.levels.find(key_of(o.side, o.price));
    domain::level level{o.price, {}, 0, {}};
    if (at != h.levels.end()) {
        level.quantity = domain::volume_lots{volume_of(at->second)};
        level.orders_count = at->second.size();
    }
    say(event_kind::level_changed, id_of(o.instrument), o.side).level = level;
}

void facility_reference::say_top(const order& o) {
    say(event_kind::top_of_book, id_of(o.instrument), o.side).top = top_of(o.instrument);
}

bool facility_reference::is_at_best(const order& o) {
    const half& h = half_of(o.instrument, o.side);
    return mistake_ == defect::top_of_book_always || h.levels.empty() ||
           key_of(o.side, o.price) <= h.levels.begin()->first;
}

}  // namespace corro::facility::testing
