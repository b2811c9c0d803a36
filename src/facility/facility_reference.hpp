// The rules of the venue a second time, written to be read: plain maps and lists, no thought of speed.
//
// It must agree with `facility` on every byte of every event and on the state hash after every command. It is for tests
// only. Order ids are names without meaning, so it is told which id a new order gets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/int128.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "facility/limits.hpp"
#include "facility/reference_allocation.hpp"
#include "facility/reference_defects.hpp"
#include "facility/state_hasher.hpp"

namespace corro::facility::testing {

class facility_reference {
 public:
    facility_reference(const facility_options& options, std::span<const domain::instrument> instruments,
                       defect mistake = defect::none)
        : options_(options),
          instruments_(instruments.begin(), instruments.end()),
          books_(instruments.size()),
          mistake_(mistake) {}

    /// Executes a command and returns its events.
    const std::vector<domain::event>& apply(const domain::command& c, domain::order_id next_id,
                                            domain::order_id second_id) {
        events_.clear();
        traded_.clear();
        command_ = c;
        next_id_ = next_id;
        second_id_ = second_id;
        settle_due();
        if (c.verdict != domain::reject_reason::none) {
            refuse(c.verdict);
        } else if (c.account.value >= options_.accounts_max) {
            refuse(domain::reject_reason::not_authorised);
        } else if (c.kind == domain::command_kind::enter_order) {
            enter_order();
        } else if (c.kind == domain::command_kind::amend_order) {
            amend_order();
        } else if (c.kind == domain::command_kind::cancel_order) {
            const auto [found, reason] = resolve();
            if (found == nullptr) {
                refuse(reason);
            } else {
                cancel(*found, true);
            }
        } else if (c.kind == domain::command_kind::cancel_orders) {
            cancel_orders();
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
        } else {
            refuse(domain::reject_reason::unknown_command);
        }
        close_command();
        return events_;
    }
    /// Marks the last event and the last public one. If more than 64 private events follow that, the feed gets one
    /// more.
    void close_command() {
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

    [[nodiscard]] std::uint64_t state_hash() const {
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
            hasher.add(b.is_halted ? std::uint64_t{1} : std::uint64_t{0});
            hasher.add(b.resume_time);
            hasher.add(b.pending_low);
            hasher.add(b.pending_high);
            hasher.add(b.window_end);
            hasher.add(b.reference.value);
            hasher.add(b.last_seen.value);
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
        return hasher.value();
    }

    /// True if somebody was told of an order with this id.
    [[nodiscard]] bool was_given(domain::order_id id) const {
        const auto at = given_.find(id.value);
        return at != given_.end() && at->second;
    }
    [[nodiscard]] std::size_t open_orders_count() const { return open_.size(); }

 private:
    using side = domain::side;
    using event_kind = domain::event_kind;
    using reject_reason = domain::reject_reason;

    struct order {
        domain::order_id id{};
        domain::client_order_id client_order{};
        domain::account_id account{};
        domain::session_id session{};
        std::uint32_t request = 0;
        std::uint32_t instrument = 0;  // index
        domain::side side{};
        domain::price_ticks price{};
        std::uint32_t open = 0;     // shown or not
        std::uint32_t shown = 0;    // while it rests
        std::uint32_t display = 0;  // most lots to show at a time; 0 for all
        std::uint32_t filled = 0;
        domain::order_type type{};
        domain::price_ticks trigger{};
        enum class place { nowhere, book, waiting } where = place::nowhere;
        domain::time_in_force time_in_force{};
        domain::self_match_prevention self_match{};
        std::uint8_t flags = 0;
        domain::price_ticks edge = domain::no_price;  // how far a market order may go
        std::int64_t expire_time = 0;
        std::uint64_t expiring_before = 0;                // how many expiring orders there had been when it came
        std::pair<std::uint64_t, std::uint32_t> group{};  // whose group, and its number; 0 for none
        bool is_quote = false;
    };
    struct limits {
        std::int64_t notional = 0;
        std::uint32_t quantity = 0, position = 0, orders = 0, firm = 0;
    };
    /// What an account allows its quotes.
    struct protection {
        std::uint32_t fills_max = 0, quantity_max = 0, window_ms = 0;
        bool is_tripped = false;
        std::int64_t began = 0;
        std::uint32_t fills = 0;
        std::uint64_t lots = 0;
        void restart() {
            began = 0;
            fills = 0;
            lots = 0;
        }
    };
    /// One side: price times -1 for bids, so that iteration goes from the best price to the worst.
    struct half {
        std::map<std::int64_t, std::list<order*>> levels;
        domain::order_id top{};  // the order that bettered the side, 0 for none
    };
    struct book {
        half buy, sell;
        half falling, rising;  // by trigger price, nearest to the market first
        domain::price_summary prices{domain::no_price, domain::no_price, domain::no_price, domain::no_price, {}};
        std::uint64_t volume = 0;
        std::int64_t turnover = 0;
        bool is_halted = false;
        std::int64_t resume_time = 0;
        std::int64_t pending_low = INT64_MAX, pending_high = INT64_MIN;  // what waiting orders have not seen
        std::int64_t window_end = INT64_MIN;
        domain::price_ticks reference = domain::no_price, last_seen = domain::no_price;
        std::uint64_t volume_seen = 0;
    };

    // --- Small words -------------------------------------------------------------------------------------------------

    half& half_of(std::uint32_t instrument, side s) {
        return s == side::buy ? books_[instrument].buy : books_[instrument].sell;
    }
    static std::int64_t key_of(side s, domain::price_ticks price) {
        return s == side::buy ? -price.value : price.value;
    }
    static std::uint64_t volume_of(const std::list<order*>& queue) {
        std::uint64_t volume = 0;
        for (const order* o : queue) volume += o->shown;
        return volume;
    }
    domain::top top_of(std::uint32_t instrument) const {
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
    std::uint64_t open_interest(std::uint32_t instrument) const {
        std::uint64_t sum = 0;
        for (const auto& [pair, lots] : positions_) {
            if (pair.second == instrument && lots > 0) sum += static_cast<std::uint64_t>(lots);
        }
        return sum;
    }
    static bool is_lasting(const domain::command& c) {
        return c.time_in_force == domain::time_in_force::day || c.time_in_force == domain::time_in_force::gtc ||
               c.time_in_force == domain::time_in_force::gtd;
    }
    static bool is_waiting_type(domain::order_type type) {
        return type == domain::order_type::stop || type == domain::order_type::stop_limit ||
               type == domain::order_type::market_if_touched;
    }
    static void hash_order(state_hasher& hasher, const order& o, bool by_request) {
        hasher.add(o.id.value);
        hasher.add((std::uint64_t{o.filled + o.open} << 32) | o.open);
        hasher.add(o.client_order.value);
        hasher.add((std::uint64_t{o.session.value} << 32) | o.account.value);
        const bool expires = o.time_in_force == domain::time_in_force::gtd;
        hasher.add(expires ? o.expire_time : 0);
        hasher.add(expires ? o.expiring_before : 0);
        hasher.add(o.group.second == 0 ? 0 : (o.group.first << 32) | o.group.second);
        hasher.add((std::uint64_t{o.request} << 32) | (std::uint64_t{o.is_quote ? 0x80U : o.flags} << 24) |
                   (static_cast<std::uint64_t>(o.time_in_force) << 16) |
                   (static_cast<std::uint64_t>(o.self_match) << 8) |
                   (o.client_order.value != 0 && !o.is_quote ? 2U : 0U) | (by_request ? 1U : 0U));
    }
    void hash_order(state_hasher& hasher, const order& o) const {
        const auto at = by_request_.find({o.session.value, o.request});
        hash_order(hasher, o, at != by_request_.end() && at->second == o.id);
    }

    // --- Saying ------------------------------------------------------------------------------------------------------

    domain::event& say(event_kind kind, std::uint32_t instrument_id, side s, reject_reason reason = reject_reason::none,
                       std::uint8_t flags = 0) {
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
    std::uint32_t id_of(std::uint32_t instrument) const { return instruments_[instrument].id.value; }

    void refuse(reject_reason reason, const order* about = nullptr) {
        const bool has_terms =
            command_.kind == domain::command_kind::enter_order || command_.kind == domain::command_kind::amend_order;
        const bool has_price =
            command_.kind == domain::command_kind::amend_order ||
            (command_.kind == domain::command_kind::enter_order &&
             (command_.type == domain::order_type::limit || command_.type == domain::order_type::stop_limit));
        const side claimed = command_.side == side::sell ? side::sell : side::buy;
        say(event_kind::order_rejected, about != nullptr ? id_of(about->instrument) : command_.instrument.value,
            about != nullptr ? about->side : claimed, reason, answer_mark())
            .order = {about != nullptr ? about->id : domain::order_id{},
                      command_.client_order,
                      has_price ? command_.price : domain::no_price,
                      has_terms ? command_.quantity : domain::quantity_lots{},
                      command_.account,
                      command_.session,
                      command_.request};
    }
    /// The mark of the answer, except in a request of several quotes before the last of them.
    std::uint8_t answer_mark() const {
        if (command_.kind == domain::command_kind::enter_quote && (command_.flags & 4) != 0) return 0;
        return domain::event_flag::last_of_request;
    }
    void tell_owner(event_kind kind, const order& o, domain::price_ticks price, std::uint32_t quantity,
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
                      asked ? command_.request : 0};
    }
    /// The owner, and a different session of the account if that one asked.
    void tell_owner_and_asker(event_kind kind, const order& o, domain::price_ticks price, std::uint32_t quantity,
                              bool answers) {
        tell_owner(kind, o, price, quantity, reject_reason::none, answers);
        if (o.session == command_.session) return;
        say(kind, id_of(o.instrument), o.side, reject_reason::none,
            answers ? domain::event_flag::last_of_request : std::uint8_t{0})
            .order = {o.id,      o.client_order,   price,           domain::quantity_lots{quantity},
                      o.account, command_.session, command_.request};
    }
    void say_public(event_kind kind, const order& o, std::uint32_t open, std::uint32_t change) {
        say(kind, id_of(o.instrument), o.side).book = {
            o.id, o.price, domain::quantity_lots{open}, domain::quantity_lots{change}, {}};
    }
    void say_level(const order& o) {
        const half& h = half_of(o.instrument, o.side);
        const auto at = h.levels.find(key_of(o.side, o.price));
        domain::level level{o.price, {}, 0, {}};
        if (at != h.levels.end()) {
            level.quantity = domain::volume_lots{volume_of(at->second)};
            level.orders_count = at->second.size();
        }
        say(event_kind::level_changed, id_of(o.instrument), o.side).level = level;
    }
    void say_top(const order& o) {
        say(event_kind::top_of_book, id_of(o.instrument), o.side).top = top_of(o.instrument);
    }
    bool is_at_best(const order& o) {
        const half& h = half_of(o.instrument, o.side);
        return mistake_ == defect::top_of_book_always || h.levels.empty() ||
               key_of(o.side, o.price) <= h.levels.begin()->first;
    }

    // --- Entering ----------------------------------------------------------------------------------------------------

    std::uint32_t index_of(domain::instrument_id id) const {
        for (std::uint32_t i = 0; i < instruments_.size(); ++i) {
            if (instruments_[i].id == id) return i;
        }
        return static_cast<std::uint32_t>(instruments_.size());
    }
    static reject_reason check_price(const domain::instrument& i, domain::price_ticks price) {
        if (price.value > domain::price_ticks_max || price.value < -domain::price_ticks_max) {
            return reject_reason::invalid_price;
        }
        if (price < i.price_low || price > i.price_high) return reject_reason::price_outside_band;
        return reject_reason::none;
    }
    reject_reason check_instructions() const {
        const domain::command& c = command_;
        if (c.side != side::buy && c.side != side::sell) return reject_reason::invalid_side;
        const auto type = static_cast<unsigned>(c.type);
        if (type < 1 || type > 7) return reject_reason::invalid_order_type;
        const auto tif = static_cast<unsigned>(c.time_in_force);
        if (tif < 1 || tif > 5) return reject_reason::invalid_time_in_force;
        if (static_cast<unsigned>(c.self_match_prevention) > 4) return reject_reason::invalid_self_match_prevention;
        const bool post_only = c.flags == 1 || c.flags == 3;
        if (c.flags != 0 && !post_only) return reject_reason::invalid_combination;
        if (post_only && !(c.type == domain::order_type::limit && is_lasting(c)))
            return reject_reason::invalid_combination;
        if (is_waiting_type(c.type) && !is_lasting(c)) return reject_reason::invalid_combination;
        if (c.display_quantity.value != 0) {
            const bool can_rest =
                c.type == domain::order_type::limit || c.type == domain::order_type::market_to_limit ||
                c.type == domain::order_type::market_protected || c.type == domain::order_type::stop_limit;
            if (!can_rest || !is_lasting(c)) return reject_reason::invalid_combination;
        }
        if (c.minimum_quantity.value != 0 &&
            (post_only || is_waiting_type(c.type) || c.time_in_force == domain::time_in_force::fok)) {
            return reject_reason::invalid_combination;
        }
        const bool expires = c.time_in_force == domain::time_in_force::gtd;
        if (expires && c.type == domain::order_type::market) return reject_reason::invalid_combination;
        if (!expires && c.expire_time.value != 0) return reject_reason::invalid_combination;
        if (expires && c.expire_time < c.time) return reject_reason::invalid_expire_time;
        return reject_reason::none;
    }
    reject_reason check_entry() {
        const domain::command& c = command_;
        const std::uint32_t instrument = index_of(c.instrument);
        if (instrument == instruments_.size()) return reject_reason::unknown_instrument;
        const reject_reason contradiction = check_instructions();
        if (contradiction != reject_reason::none) return contradiction;
        if (c.quantity.value == 0 || c.quantity > instruments_[instrument].order_quantity_max) {
            return reject_reason::invalid_quantity;
        }
        if (c.minimum_quantity > c.quantity) return reject_reason::invalid_quantity;
        if (c.display_quantity.value != 0 && c.quantity.value / c.display_quantity.value > 256) {
            return reject_reason::invalid_quantity;
        }
        if (c.type == domain::order_type::limit || c.type == domain::order_type::stop_limit) {
            const reject_reason reason = check_price(instruments_[instrument], c.price);
            if (reason != reject_reason::none) return reason;
        }
        if (c.type == domain::order_type::market_protected && (c.price.value < 0 || c.price.value > 4'000'000'000)) {
            return reject_reason::invalid_price;
        }
        if (is_waiting_type(c.type)) {
            const reject_reason reason = check_price(instruments_[instrument], c.trigger_price);
            if (reason != reject_reason::none) return reason;
        }
        if (c.client_order.value != 0 && by_name_.contains({c.account.value, c.client_order.value})) {
            return reject_reason::duplicate_client_order_id;
        }
        if (open_.size() == options_.orders_max) return reject_reason::book_full;
        const reject_reason closed = check_market(instrument, c.account.value);
        if (closed != reject_reason::none) return closed;
        return has_position(c.account.value, instrument) ? reject_reason::none : reject_reason::book_full;
    }
    /// A pair of account and instrument has a position from its first order on, if there is room.
    bool has_position(std::uint32_t account, std::uint32_t instrument) {
        if (positions_.contains({account, instrument})) return true;
        if (positions_.size() == options_.positions_max) return false;
        positions_[{account, instrument}] = 0;
        positions_in_order_.emplace_back(account, instrument);
        return true;
    }

    void enter_order() {
        const reject_reason refusal = check_entry();
        if (refusal != reject_reason::none) return refuse(refusal);
        const domain::command& c = command_;
        order o{.id = next_id_,
                .client_order = c.client_order,
                .account = c.account,
                .session = c.session,
                .request = c.request,
                .instrument = index_of(c.instrument),
                .side = c.side,
                .price = c.price,
                .open = c.quantity.value,
                .display = c.display_quantity.value,
                .type = c.type,
                .trigger = c.trigger_price,
                .time_in_force = c.time_in_force,
                .self_match = c.self_match_prevention,
                .flags = c.flags,
                .expire_time = c.expire_time.value,
                .group = {group_owner(c.account.value), c.self_match_group}};
        if (is_waiting_type(c.type)) {
            const reject_reason over =
                check_limits(o, o.open, o.open, c.type == domain::order_type::stop_limit ? c.price : o.trigger, 1);
            if (over != reject_reason::none) return refuse(over);
            if (c.type != domain::order_type::stop_limit) o.price = domain::no_price;
            register_order(o);
            order& waiting = open_.at(o.id);
            waiting.where = order::place::waiting;
            queue_of(waiting).push_back(&waiting);
            tell_owner(event_kind::order_entered, o, o.price, o.open, reject_reason::none, true);
            const domain::price_ticks last = books_[o.instrument].prices.last;
            if (last != domain::no_price) traded_.push_back(last.value);
            return enter_triggered(o.instrument);
        }
        const reject_reason no_limit = find_limit(o);
        if (no_limit != reject_reason::none) return refuse(no_limit);
        const reject_reason too_far = apply_band(o);
        if (too_far != reject_reason::none) return refuse(too_far);
        const half& other = half_of(o.instrument, domain::opposite(o.side));
        domain::price_ticks value = o.price;
        if (c.type == domain::order_type::market && !other.levels.empty()) {
            value = other.levels.begin()->second.front()->price;
        }
        const bool is_opened = c.type != domain::order_type::market && is_lasting(c);
        const reject_reason over = check_limits(o, o.open, o.open, value, is_opened ? 1 : 0);
        if (over != reject_reason::none) return refuse(over);
        const bool may_rest = c.type != domain::order_type::market && is_lasting(c);
        const bool crosses = !reached_levels(o).empty();
        if (crosses && (c.flags & domain::order_flag::post_only) != 0 && mistake_ != defect::post_only_may_trade) {
            return refuse(reject_reason::would_take_liquidity);
        }
        const bool wants_all = c.time_in_force == domain::time_in_force::fok;
        const std::uint32_t wanted = wants_all ? o.open : c.minimum_quantity.value;
        const bool ignores = mistake_ == defect::minimum_quantity_is_ignored && !wants_all;
        if (!ignores && wanted != 0 && tradable(o) < wanted) return refuse(reject_reason::insufficient_quantity);
        if (!crosses && !may_rest) return refuse(reject_reason::no_counterparty);

        const std::uint64_t trades_before = trades_count_;
        const ending end = match(o, true);
        given_[o.id.value] = given_[o.id.value] || end.is_known;
        const std::uint32_t taken_out = end.is_stopped ? end.taken_out : o.open;
        if (o.open != 0 &&
            (may_rest || (mistake_ == defect::immediate_remainder_rests && c.type == domain::order_type::limit))) {
            register_order(o);
            tell_owner(event_kind::order_entered, o, o.price, o.open, reject_reason::none, true);
            rest(open_.at(o.id));
        } else if (taken_out != 0) {
            const reject_reason reason =
                end.is_stopped ? reject_reason::self_match_prevented : reject_reason::no_counterparty;
            if (end.is_known) {
                tell_owner(event_kind::order_cancelled, o, o.price, taken_out, reason, true);
            } else {
                refuse(reason);
            }
        }
        if (trades_count_ != trades_before) enter_triggered(o.instrument);
    }
    /// The limit at which the order enters, from what the book says now.
    reject_reason find_limit(order& o) {
        const std::int64_t worse = o.side == side::buy ? 1 : -1;
        const half& other = half_of(o.instrument, domain::opposite(o.side));
        const std::int64_t best = other.levels.empty() ? 0 : other.levels.begin()->second.front()->price.value;
        const domain::instrument& instrument = instruments_[o.instrument];
        switch (o.type) {
            case domain::order_type::market: o.price = domain::no_price; return reject_reason::none;
            case domain::order_type::market_to_limit:
            case domain::order_type::market_protected:
                if (other.levels.empty()) return reject_reason::no_counterparty;
                o.price = domain::price_ticks{
                    best + (o.type == domain::order_type::market_protected ? worse * o.price.value : 0)};
                o.price = std::max({o.price, instrument.price_low, domain::price_ticks{-domain::price_ticks_max}});
                o.price = std::min({o.price, instrument.price_high, domain::price_ticks{domain::price_ticks_max}});
                return reject_reason::none;
            default: break;
        }
        if ((o.flags & domain::order_flag::reprice) != 0 && !reached_levels(o).empty()) {
            o.price = domain::price_ticks{best - worse};
            if (check_price(instrument, o.price) != reject_reason::none) return reject_reason::would_take_liquidity;
        }
        return reject_reason::none;
    }
    /// From now on the order is open and its names find it.
    void register_order(const order& o) {
        open_[o.id] = o;
        if (o.time_in_force == domain::time_in_force::gtd) open_[o.id].expiring_before = expiring_count_++;
        given_[o.id.value] = true;
        by_account_[o.account.value].push_back(o.id);
        if (o.client_order.value != 0) by_name_[{o.account.value, o.client_order.value}] = o.id;
        if (o.request != 0) by_request_[{o.session.value, o.request}] = o.id;
    }
    /// Puts an open order at the end of its level and says so in public.
    void rest(order& o, bool is_refreshed = false) {
        o.shown = o.display == 0 ? o.open : std::min(o.display, o.open);
        o.where = order::place::book;
        std::list<order*>& queue = half_of(o.instrument, o.side).levels[key_of(o.side, o.price)];
        if (mistake_ == defect::iceberg_refresh_keeps_priority && o.display != 0 && o.filled != 0) {
            queue.push_front(&o);
        } else {
            queue.push_back(&o);
        }
        half& own_side = half_of(o.instrument, o.side);
        if (!is_refreshed && queue.size() == 1 && &queue == &own_side.levels.begin()->second) {
            const bool is_large = o.shown >= instruments_[o.instrument].allocation.top_minimum ||
                                  mistake_ == defect::small_orders_become_top_orders;
            own_side.top = is_large ? o.id : domain::order_id{};
        }
        say_public(event_kind::order_added, o, o.shown, o.shown);
        say_level(o);
        if (is_at_best(o)) say_top(o);
    }

    // --- Waiting -----------------------------------------------------------------------------------------------------

    static bool is_rising(const order& o) {
        return (o.side == side::buy) != (o.type == domain::order_type::market_if_touched);
    }
    std::list<order*>& queue_of(const order& waiting) {
        book& b = books_[waiting.instrument];
        return is_rising(waiting) ? b.rising.levels[waiting.trigger.value] : b.falling.levels[-waiting.trigger.value];
    }
    order* next_triggered(std::uint32_t instrument) {
        const book& b = books_[instrument];
        if (traded_.empty()) return nullptr;
        for (const half* h : {&b.rising, &b.falling}) {
            if (h->levels.empty()) continue;
            const auto& [key, queue] = *h->levels.begin();
            std::int64_t reached = h == &b.rising ? *std::max_element(traded_.begin(), traded_.end())
                                                  : -*std::min_element(traded_.begin(), traded_.end());
            if (mistake_ == defect::only_the_last_price_triggers)
                reached = h == &b.rising ? traded_.back() : -traded_.back();
            if (key > reached || (key == reached && mistake_ == defect::stop_needs_a_price_beyond_its_trigger))
                continue;
            return mistake_ == defect::triggered_orders_newest_first ? queue.back() : queue.front();
        }
        return nullptr;
    }
    void enter_triggered(std::uint32_t instrument) {
        withdraw_tripped();
        for (;;) {
            if (!traded_.empty() && breaks_circuit(instrument)) return;
            order* next = next_triggered(instrument);
            if (next == nullptr) return;
            order& o = *next;
            tell_owner(event_kind::order_amended, o, o.price, o.open, reject_reason::triggered, false);
            order bounded = o;
            if (bounded.type != domain::order_type::stop_limit) bounded.type = domain::order_type::market;
            if (apply_band(bounded) != reject_reason::none) {
                tell_owner(event_kind::order_cancelled, o, o.price, o.open, reject_reason::price_outside_dynamic_band,
                           false);
                take_out(o);
                continue;
            }
            o.edge = bounded.edge;
            unqueue(o);
            const ending end = match(o, false);
            if (o.open != 0 && o.type == domain::order_type::stop_limit) {
                rest(o);
                withdraw_tripped();
                continue;
            }
            const std::uint32_t taken_out = end.is_stopped ? end.taken_out : o.open;
            if (taken_out != 0) {
                tell_owner(event_kind::order_cancelled, o, o.price, taken_out,
                           end.is_stopped ? reject_reason::self_match_prevented : reject_reason::no_counterparty,
                           false);
            }
            forget(o);
            withdraw_tripped();
        }
    }

    /// The levels of the other side that the order's limit reaches, best first.
    std::vector<const std::list<order*>*> reached_levels(const order& o) {
        std::vector<const std::list<order*>*> reached;
        const side other = domain::opposite(o.side);
        for (const auto& [key, queue] : half_of(o.instrument, other).levels) {
            const domain::price_ticks limit = o.price != domain::no_price ? o.price : o.edge;
            if (limit != domain::no_price && key > key_of(other, limit)) break;
            reached.push_back(&queue);
        }
        return reached;
    }
    /// How much the order would trade at once: what a level shows, then what it hides, up to an order of its own
    /// account that stops it.
    std::uint64_t tradable(const order& o) {
        using domain::self_match_prevention;
        std::uint64_t found = 0;
        for (const std::list<order*>* queue : reached_levels(o)) {
            std::uint64_t hidden = 0;
            if (shares(o.instrument) && o.self_match != self_match_prevention::cancel_resting &&
                own_at(*queue, o) != nullptr) {
                return found;
            }
            for (const order* resting : *queue) {
                if (is_own(*resting, o) && o.self_match != self_match_prevention::none) {
                    if (o.self_match == self_match_prevention::cancel_resting) continue;
                    return found;
                }
                found += resting->shown;
                hidden += resting->open - resting->shown;
            }
            if (mistake_ != defect::hidden_lots_are_forgotten_by_fill_or_kill) found += hidden;
        }
        return found;
    }

    // --- Matching ----------------------------------------------------------------------------------------------------

    struct ending {
        bool is_known = false;    // the order's owner has heard of it
        bool is_stopped = false;  // by self-match prevention
        std::uint32_t taken_out = 0;
    };

    ending match(order& incoming, bool is_entering) {
        using domain::self_match_prevention;
        ending end;
        while (incoming.open != 0) {
            const auto reached = reached_levels(incoming);
            if (reached.empty()) break;
            order* resting =
                mistake_ == defect::newest_order_first ? reached.front()->back() : reached.front()->front();
            if (shares(incoming.instrument)) {
                resting = own_at(*reached.front(), incoming);
                if (resting == nullptr ||
                    (mistake_ == defect::self_match_waits_for_its_turn && resting != reached.front()->front())) {
                    trade_shares(incoming, *reached.front(), is_entering);
                    end.is_known = true;
                    continue;
                }
            }
            if (!is_own(*resting, incoming) || incoming.self_match == self_match_prevention::none) {
                trade(incoming, *resting, is_entering, std::min(incoming.open, resting->shown));
                end.is_known = true;
                continue;
            }
            if (incoming.self_match == self_match_prevention::cancel_newest) {
                return {end.is_known, true, std::exchange(incoming.open, 0)};
            }
            const std::uint32_t lots = incoming.self_match == self_match_prevention::decrement
                                           ? std::min(incoming.open, resting->open)
                                           : resting->open;
            if (lots == resting->open) {
                tell_owner(event_kind::order_cancelled, *resting, resting->price, resting->open,
                           reject_reason::self_match_prevented, false);
                take_out(*resting);
            } else if (mistake_ != defect::decrement_forgets_the_resting_order) {
                tell_owner(event_kind::order_amended, *resting, resting->price, resting->open - lots,
                           reject_reason::self_match_prevented, false);
                shrink(*resting, lots, resting->display);
            }
            if (incoming.self_match == self_match_prevention::cancel_both) {
                return {end.is_known, true, std::exchange(incoming.open, 0)};
            }
            if (incoming.self_match == self_match_prevention::decrement) {
                incoming.open -= lots;
                if (incoming.open == 0) return {end.is_known, true, lots};
                tell_owner(event_kind::order_amended, incoming, incoming.price, incoming.open,
                           reject_reason::self_match_prevented, false);
                end.is_known = true;
            }
        }
        return end;
    }

    // --- Sharing -----------------------------------------------------------------------------------------------------

    bool shares(std::uint32_t instrument) const {
        return instruments_[instrument].allocation.algorithm != domain::match_algorithm::fifo;
    }
    /// The oldest of a level's orders that the incoming one must not trade with.
    order* own_at(const std::list<order*>& queue, const order& incoming) const {
        if (incoming.self_match == domain::self_match_prevention::none) return nullptr;
        for (order* resting : queue) {
            if (is_own(*resting, incoming)) return resting;
        }
        return nullptr;
    }
    /// Everybody's share is known before anything trades.
    void trade_shares(order& incoming, const std::list<order*>& queue, bool is_entering) {
        const domain::order_id top = half_of(incoming.instrument, domain::opposite(incoming.side)).top;
        std::vector<order*> resting(queue.begin(), queue.end());
        std::vector<reference_sharing::sharer> sharers;
        for (const order* o : resting) sharers.push_back({o->account.value, o->shown, o->id == top});
        reference_sharing sharing(instruments_[incoming.instrument].allocation, std::move(sharers), incoming.open,
                                  mistake_);
        const auto& shares = sharing.work_out();
        for (std::size_t i = 0; i < resting.size(); ++i) {
            if (shares[i].gets != 0) trade(incoming, *resting[i], is_entering, shares[i].gets);
        }
    }

    void trade(order& incoming, order& resting, bool is_entering, std::uint32_t lots) {
        const domain::price_ticks price =
            mistake_ == defect::fill_at_aggressor_price && incoming.price != domain::no_price ? incoming.price
                                                                                              : resting.price;
        const domain::trade_id id{++trades_count_};
        for (order* o : {&incoming, &resting}) {
            o->open -= lots;
            o->filled += lots;
        }
        resting.shown -= lots;
        book& b = books_[incoming.instrument];
        const std::uint32_t instrument = id_of(incoming.instrument);
        for (const order* o : {&incoming, &resting}) {
            std::uint8_t flags = o == &incoming ? domain::event_flag::aggressor : 0;
            if (o == &incoming && is_entering && incoming.open == 0) flags |= domain::event_flag::last_of_request;
            say(event_kind::order_executed, instrument, o->side, reject_reason::none, flags).execution = {
                o->id,      o->client_order, price, domain::quantity_lots{lots}, domain::quantity_lots{o->open},
                o->account, o->session};
        }
        const order& buyer = incoming.side == side::buy ? incoming : resting;
        const order& seller = incoming.side == side::buy ? resting : incoming;
        for (const order* o : {&buyer, &seller}) {
            say(event_kind::trade_capture, instrument, o->side, reject_reason::none,
                o == &incoming ? domain::event_flag::aggressor : std::uint8_t{0})
                .capture = {id, o->id, price, domain::quantity_lots{lots}, o->account, o->session, 0};
        }
        say(event_kind::trade, instrument, incoming.side).trade = {id, price, domain::quantity_lots{lots}, {}};

        const order before = resting;  // its memory goes when it is filled
        if (before.open == 0) {
            forget(resting);
        } else if (before.shown == 0) {
            unqueue(resting);
        }
        say_public(before.shown == 0 ? event_kind::order_deleted : event_kind::order_reduced, before, before.shown,
                   lots);
        say_level(before);
        say_top(before);

        b.prices.last = price;
        traded_.push_back(price.value);
        if (b.prices.open == domain::no_price) b.prices.open = b.prices.high = b.prices.low = price;
        b.prices.high = std::max(b.prices.high, price);
        b.prices.low = std::min(b.prices.low, price);
        say(event_kind::price_update, instrument, incoming.side).prices = b.prices;
        b.volume += lots;
        const base::int128 turnover =
            static_cast<base::int128>(b.turnover) + static_cast<base::int128>(price.value) * lots;
        b.turnover = turnover > INT64_MAX   ? INT64_MAX
                     : turnover < INT64_MIN ? INT64_MIN
                                            : static_cast<std::int64_t>(turnover);
        const bool buys = incoming.side == side::buy;
        positions_[{(buys ? incoming : before).account.value, incoming.instrument}] += lots;
        positions_[{(buys ? before : incoming).account.value, incoming.instrument}] -= lots;
        say(event_kind::statistics, instrument, incoming.side).volumes = {
            domain::volume_lots{b.volume}, b.turnover, domain::volume_lots{open_interest(incoming.instrument)}, {}};
        if (incoming.is_quote) count_for_protection(incoming, lots);
        if (before.is_quote) count_for_protection(before, lots);
        if (before.open != 0 && before.shown == 0) rest(resting, true);
    }

    // --- Leaving -----------------------------------------------------------------------------------------------------

    /// Out of its level or its queue of waiting orders.
    void unqueue(order& o) {
        if (o.where == order::place::nowhere) return;
        const bool waits = o.where == order::place::waiting;
        book& b = books_[o.instrument];
        half& h = !waits ? half_of(o.instrument, o.side) : is_rising(o) ? b.rising : b.falling;
        const std::int64_t key = !waits ? key_of(o.side, o.price) : is_rising(o) ? o.trigger.value : -o.trigger.value;
        const auto at = h.levels.find(key);
        at->second.remove(&o);
        if (at->second.empty()) h.levels.erase(at);
        const bool survives = mistake_ == defect::top_order_survives_an_amend &&
                              command_.kind == domain::command_kind::amend_order && o.open != 0;
        if (h.top == o.id && !survives) h.top = {};
        o.where = order::place::nowhere;
    }
    /// Out of the book and of every directory; `o` is gone afterwards.
    void forget(order& o) {
        unqueue(o);
        by_account_[o.account.value].remove(o.id);
        if (o.client_order.value != 0 && !o.is_quote) by_name_.erase({o.account.value, o.client_order.value});
        const auto request = by_request_.find({o.session.value, o.request});
        if (request != by_request_.end() && request->second == o.id) by_request_.erase(request);
        open_.erase(o.id);
    }
    void take_out(order& o) {
        const order before = o;
        const bool was_best = before.where == order::place::book && is_at_best(o);
        forget(o);
        if (before.where == order::place::waiting) return;
        say_public(event_kind::order_deleted, before, 0, before.shown);
        say_level(before);
        if (was_best) say_top(before);
    }
    void cancel(order& o, bool answers) {
        tell_owner_and_asker(event_kind::order_cancelled, o, o.price, o.open, answers);
        take_out(o);
    }
    /// Takes lots away from a resting order that has more, what is hidden first, and hides what it may not show.
    void shrink(order& o, std::uint32_t lots, std::uint32_t display) {
        const std::uint32_t shown_before = o.shown;
        o.shown -= lots - std::min(lots, o.open - o.shown);
        o.open -= lots;
        o.display = display;
        if (display != 0) o.shown = std::min(o.shown, display);
        const std::uint32_t from_shown = shown_before - o.shown;
        if (from_shown == 0) return;
        say_public(event_kind::order_reduced, o, o.shown, from_shown);
        say_level(o);
        if (is_at_best(o)) say_top(o);
    }

    std::pair<order*, reject_reason> resolve() {
        const domain::command& c = command_;
        domain::order_id id = c.order;
        if (id.value == 0 && c.target_request != 0) {
            const auto at = by_request_.find({c.session.value, c.target_request});
            if (at != by_request_.end()) id = at->second;
        } else if (id.value == 0 && c.client_order.value != 0) {
            const auto at = by_name_.find({c.account.value, c.client_order.value});
            if (at != by_name_.end()) id = at->second;
        }
        const auto at = open_.find(id);
        if (at != open_.end() && at->second.account == c.account) {
            if (at->second.is_quote) return {nullptr, reject_reason::order_is_quote};
            return {&at->second, reject_reason::none};
        }
        const bool closed = at == open_.end() && c.order.value != 0 && given_.contains(id.value) && given_.at(id.value);
        return {nullptr, closed ? reject_reason::order_not_open : reject_reason::unknown_order};
    }

    void cancel_orders() {
        const domain::command& c = command_;
        const std::uint32_t instrument = index_of(c.instrument);
        if (c.instrument.value != 0 && instrument == instruments_.size())
            return refuse(reject_reason::unknown_instrument);
        if (c.scope != domain::cancel_scope::account && c.scope != domain::cancel_scope::session) {
            return refuse(reject_reason::invalid_combination);
        }
        if (static_cast<unsigned>(c.sides) > 2) return refuse(reject_reason::invalid_combination);
        if (c.flags != 0 && c.flags != 1 && c.flags != 3) return refuse(reject_reason::invalid_combination);
        const bool takes_quotes = c.flags != 0 || mistake_ == defect::mass_cancel_takes_quotes_unasked;
        std::vector<order*> covered;
        for (const domain::order_id id : by_account_[c.account.value]) {
            order& o = open_.at(id);
            if (c.instrument.value != 0 && o.instrument != instrument) continue;
            if (o.is_quote && !takes_quotes) continue;
            if (!o.is_quote && c.flags == 3) continue;
            if (c.scope == domain::cancel_scope::session && o.session != c.session) continue;
            if (c.product.value != 0 && instruments_[o.instrument].product != c.product) continue;
            if (c.sides == domain::cancel_sides::buy && o.side != side::buy) continue;
            if (c.sides == domain::cancel_sides::sell && o.side != side::sell) continue;
            covered.push_back(&o);
        }
        if (mistake_ == defect::mass_cancel_newest_first) covered = {covered.rbegin(), covered.rend()};
        if (covered.empty()) return refuse(reject_reason::nothing_to_cancel);
        for (order* o : covered) cancel(*o, o == covered.back());
    }

    // --- Amending ----------------------------------------------------------------------------------------------------

    void amend_order() {
        const domain::command& c = command_;
        const auto [found, reason] = resolve();
        if (found == nullptr) return refuse(reason);
        order& o = *found;
        if (c.flags > 15) return refuse(reject_reason::invalid_combination, &o);
        const bool names_open = (c.flags & domain::amend_flag::open_quantity) != 0;
        if (names_open ? c.quantity.value == 0 : c.quantity.value <= o.filled) return cancel(o, true);
        const std::uint64_t total = std::uint64_t{c.quantity.value} + (names_open ? o.filled : 0);
        if (total > instruments_[o.instrument].order_quantity_max.value) {
            return refuse(reject_reason::invalid_quantity, &o);
        }
        order amended = o;
        amended.open = static_cast<std::uint32_t>(total) - o.filled;
        const reject_reason bad = check_amend(o, amended);
        if (bad != reject_reason::none) return refuse(bad, &o);

        if (amended.account != o.account) {
            by_account_[o.account.value].remove(o.id);
            by_account_[amended.account.value].push_back(o.id);
            if (o.client_order.value != 0) {
                by_name_.erase({o.account.value, o.client_order.value});
                by_name_[{amended.account.value, o.client_order.value}] = o.id;
            }
        }
        const bool shows_more = o.display != 0 && (amended.display == 0 || amended.display > o.display) &&
                                mistake_ != defect::showing_more_keeps_priority;
        const bool stays = amended.account == o.account && amended.price == o.price && amended.trigger == o.trigger &&
                           amended.open <= o.open;
        if (o.where == order::place::waiting) return amend_waiting(o, amended, stays);
        o.account = amended.account;
        tell_owner_and_asker(event_kind::order_amended, o, amended.price, amended.open, true);
        if (stays && amended.open == o.open && amended.display == o.display) return;
        if (stays && !shows_more && mistake_ != defect::amend_down_loses_priority) {
            return shrink(o, o.open - amended.open, amended.display);
        }
        const bool was_best = is_at_best(o);
        unqueue(o);
        say_public(event_kind::order_deleted, o, 0, o.shown);
        say_level(o);
        if (was_best) say_top(o);
        o.price = amended.price;
        o.open = amended.open;
        o.display = amended.display;
        const std::uint64_t trades_before = trades_count_;
        const std::uint32_t instrument = o.instrument;
        const ending end = match(o, false);
        if (o.open != 0) {
            rest(o);
        } else {
            if (end.is_stopped) {
                tell_owner(event_kind::order_cancelled, o, o.price, end.taken_out, reject_reason::self_match_prevented,
                           false);
            }
            forget(o);
        }
        if (trades_count_ != trades_before) enter_triggered(instrument);
    }
    void amend_waiting(order& o, const order& amended, bool stays) {
        if (!stays) unqueue(o);
        const bool has_new_trigger = amended.trigger != o.trigger;
        o.account = amended.account;
        o.price = amended.price;
        o.open = amended.open;
        o.display = amended.display;
        o.trigger = amended.trigger;
        if (!stays) {
            o.where = order::place::waiting;
            queue_of(o).push_back(&o);
        }
        tell_owner_and_asker(event_kind::order_amended, o, o.price, o.open, true);
        const domain::price_ticks last = books_[o.instrument].prices.last;
        if (!has_new_trigger || last == domain::no_price) return;
        traded_.push_back(last.value);
        enter_triggered(o.instrument);
    }
    /// Fills in what the command makes of the order.
    reject_reason check_amend(const order& o, order& amended) {
        const domain::command& c = command_;
        const auto changes = [&](std::uint8_t flag) { return (c.flags & flag) != 0; };
        const bool waits = o.where == order::place::waiting;
        if (changes(domain::amend_flag::account)) amended.account = c.other_account;
        const bool moves = amended.account != o.account;
        if (moves) {
            if (amended.account.value >= options_.accounts_max) return reject_reason::not_authorised;
            const std::uint32_t firm = limits_[o.account.value].firm;
            if (firm == 0 || limits_[amended.account.value].firm != firm) return reject_reason::not_authorised;
            if (o.client_order.value != 0 && by_name_.contains({amended.account.value, o.client_order.value})) {
                return reject_reason::duplicate_client_order_id;
            }
        }
        for (const domain::account_id account : {o.account, amended.account}) {
            const reject_reason closed = check_market(o.instrument, account.value);
            if (closed != reject_reason::none) return closed;
        }
        const domain::instrument& instrument = instruments_[o.instrument];
        const bool has_limit = !waits || o.type == domain::order_type::stop_limit;
        if (has_limit) amended.price = c.price;
        if (changes(domain::amend_flag::trigger_price)) {
            if (!waits) return reject_reason::order_not_waiting;
            amended.trigger = c.trigger_price;
            const reject_reason bad = check_price(instrument, amended.trigger);
            if (bad != reject_reason::none) return bad;
        }
        if (changes(domain::amend_flag::display_quantity)) {
            if (!has_limit && c.display_quantity.value != 0) return reject_reason::invalid_combination;
            amended.display = c.display_quantity.value;
        }
        if (amended.display != 0 && (amended.open + amended.filled) / amended.display > 256) {
            return reject_reason::invalid_quantity;
        }
        if (has_limit) {
            const reject_reason bad = check_price(instrument, amended.price);
            if (bad != reject_reason::none) return bad;
        }
        if (!waits && amended.price != o.price) {
            order bounded = amended;
            bounded.type = domain::order_type::limit;
            const reject_reason too_far = apply_band(bounded);
            if (too_far != reject_reason::none) return too_far;
            if ((o.flags & domain::order_flag::post_only) != 0 && !reached_levels(amended).empty()) {
                return reject_reason::would_take_liquidity;
            }
        }
        if (moves && !has_position(amended.account.value, o.instrument)) return reject_reason::book_full;
        const domain::price_ticks value = has_limit ? amended.price : amended.trigger;
        const bool only_takes_away = !moves && amended.open <= o.open && value == (has_limit ? o.price : o.trigger);
        if (only_takes_away) return reject_reason::none;
        const std::uint32_t added = moves ? amended.open : amended.open > o.open ? amended.open - o.open : 0;
        return check_limits(amended, amended.open + amended.filled, added, value, moves ? 1 : 0);
    }

    // --- Time --------------------------------------------------------------------------------------------------------

    /// What is due before the command: orders expire, halts end, earliest first.
    void settle_due() {
        const std::int64_t now = command_.time.value;
        for (;;) {
            order* first = nullptr;
            for (auto& [id, o] : open_) {
                if (o.time_in_force != domain::time_in_force::gtd) continue;
                const bool is_over =
                    mistake_ == defect::orders_expire_at_their_time ? o.expire_time <= now : o.expire_time < now;
                if (!is_over) continue;
                const auto rank = [](const order& x) { return std::pair{x.expire_time, x.expiring_before}; };
                if (first == nullptr || rank(o) < rank(*first)) first = &o;
            }
            std::int64_t resume = INT64_MAX;
            for (const book& b : books_) {
                if (b.is_halted && b.resume_time != 0) resume = std::min(resume, b.resume_time);
            }
            const bool resumes = resume <= now && resume != INT64_MAX;
            if (first != nullptr && !(resumes && resume <= first->expire_time)) {
                tell_owner(event_kind::order_cancelled, *first, first->price, first->open, reject_reason::expired,
                           false);
                take_out(*first);
            } else if (resumes) {
                std::vector<std::uint32_t> resumed;
                for (std::uint32_t i = 0; i < books_.size(); ++i) {
                    if (!books_[i].is_halted || books_[i].resume_time != resume) continue;
                    set_phase(i, false, 0, reject_reason::none);
                    resumed.push_back(i);
                }
                for (const std::uint32_t i : resumed) enter_pending(i);
            } else {
                return;
            }
        }
    }

    // --- Halts -------------------------------------------------------------------------------------------------------

    void set_phase(std::uint32_t instrument, bool is_halted, std::int64_t resume_time, reject_reason reason) {
        books_[instrument].is_halted = is_halted;
        books_[instrument].resume_time = resume_time;
        say(event_kind::phase_changed, id_of(instrument), side::buy, reason).phase = {
            is_halted ? domain::trading_phase::halted : domain::trading_phase::continuous,
            {},
            domain::time_ns{resume_time},
            {}};
    }
    void enter_pending(std::uint32_t instrument) {
        book& b = books_[instrument];
        if (b.is_halted || b.pending_low > b.pending_high) return;
        traded_ = {b.pending_low, b.pending_high};
        b.pending_low = INT64_MAX;
        b.pending_high = INT64_MIN;
        enter_triggered(instrument);
        traded_.clear();
    }
    void request_done(domain::instrument_id instrument, std::uint32_t account) {
        say(event_kind::request_done, instrument.value, side::buy, reject_reason::none,
            domain::event_flag::last_of_request)
            .order = {{}, {}, domain::no_price, {}, domain::account_id{account}, command_.session, command_.request};
    }
    void change_phase() {
        const domain::command& c = command_;
        if (c.is_operator == 0) return refuse(reject_reason::not_authorised);
        if (static_cast<unsigned>(c.phase) > 1) return refuse(reject_reason::invalid_combination);
        const bool halts = c.phase == domain::trading_phase::halted;
        if (halts && c.resume_time.value != 0 && c.resume_time <= c.time) {
            return refuse(reject_reason::invalid_expire_time);
        }
        std::vector<std::uint32_t> covered;
        for (std::uint32_t i = 0; i < books_.size(); ++i) {
            const bool is_named = c.instrument.value != 0 && instruments_[i].id == c.instrument;
            const bool is_of_product =
                c.instrument.value == 0 && (c.product.value == 0 || instruments_[i].product == c.product);
            if (is_named || is_of_product) covered.push_back(i);
        }
        if (covered.empty()) return refuse(reject_reason::unknown_instrument);
        for (const std::uint32_t i : covered) set_phase(i, halts, halts ? c.resume_time.value : 0, reject_reason::none);
        request_done(c.instrument, c.account.value);
        if (halts) return;
        for (const std::uint32_t i : covered) enter_pending(i);
    }
    /// After an order's trades: is the last price too far from where the window began?
    bool breaks_circuit(std::uint32_t instrument) {
        const domain::instrument& i = instruments_[instrument];
        book& b = books_[instrument];
        if (i.breaker_move == 0 || b.volume_seen == b.volume) return false;
        if (command_.time.value >= b.window_end) {
            b.reference = b.last_seen == domain::no_price ? b.prices.last : b.last_seen;
            const base::int128 end = static_cast<base::int128>(command_.time.value) + i.breaker_window;
            b.window_end = end > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(end);
        }
        b.last_seen = b.prices.last;
        b.volume_seen = b.volume;
        if (std::abs(b.last_seen.value - b.reference.value) <= i.breaker_move) return false;
        b.window_end = INT64_MIN;
        if (mistake_ != defect::halts_forget_what_has_triggered) {
            b.pending_low = *std::min_element(traded_.begin(), traded_.end());
            b.pending_high = *std::max_element(traded_.begin(), traded_.end());
        }
        const base::int128 wanted = static_cast<base::int128>(command_.time.value) + i.breaker_halt;
        const std::int64_t resume = i.breaker_halt == 0 || wanted > INT64_MAX ? 0 : static_cast<std::int64_t>(wanted);
        for (std::uint32_t other = 0; other < books_.size(); ++other) {
            const bool is_relative = i.product.value != 0 && instruments_[other].product == i.product &&
                                     mistake_ != defect::circuit_breaker_spares_the_product;
            if (other != instrument && !is_relative) continue;
            const book& before = books_[other];
            const bool is_longer =
                !before.is_halted || (before.resume_time != 0 && (resume == 0 || resume > before.resume_time));
            if (is_longer) set_phase(other, true, resume, reject_reason::circuit_breaker);
        }
        return true;
    }
    reject_reason check_market(std::uint32_t instrument, std::uint32_t account) {
        if (books_[instrument].is_halted) return reject_reason::instrument_halted;
        const std::uint32_t firm = limits_[account].firm;
        if (killed_accounts_.contains(account)) return reject_reason::killed;
        if (firm != 0 && killed_firms_.contains(firm)) return reject_reason::killed;
        if (killed_sessions_.contains({account, command_.session.value}) &&
            mistake_ != defect::killed_sessions_may_enter) {
            return reject_reason::killed;
        }
        return reject_reason::none;
    }

    // --- Bands and limits --------------------------------------------------------------------------------------------

    /// Around the last trade: how far a market order goes, and which limits are too far.
    reject_reason apply_band(order& o) const {
        const std::int64_t width = instruments_[o.instrument].dynamic_band;
        const domain::price_summary& prices = books_[o.instrument].prices;
        if (width == 0 || prices.last == domain::no_price) return reject_reason::none;
        const domain::price_ticks around = mistake_ == defect::dynamic_band_does_not_move ? prices.open : prices.last;
        domain::price_ticks edge{o.side == side::buy ? around.value + width : around.value - width};
        edge = std::min(edge, domain::price_ticks{domain::price_ticks_max});
        edge = std::max(edge, domain::price_ticks{-domain::price_ticks_max});
        const bool is_beyond = o.side == side::buy ? o.price > edge : o.price < edge;
        if (o.type == domain::order_type::market) {
            o.edge = edge;
        } else if (is_beyond && o.type == domain::order_type::market_protected) {
            o.price = edge;
        } else if (is_beyond) {
            return reject_reason::price_outside_dynamic_band;
        }
        return reject_reason::none;
    }
    /// `total` lots of one order at a price, of which `added` are new to the position.
    reject_reason check_limits(const order& o, std::uint32_t total, std::uint32_t added, domain::price_ticks price,
                               std::size_t opened) {
        const limits& l = limits_[o.account.value];
        if (l.quantity != 0 && total > l.quantity) return reject_reason::order_size_limit;
        if (l.notional != 0 && price != domain::no_price) {
            const domain::instrument& i = instruments_[o.instrument];
            const base::int128 value = static_cast<base::int128>(std::abs(price.value)) * total * i.lot_size;
            if (value * i.tick_size.value > static_cast<base::int128>(l.notional) * 1'000'000'000) {
                return reject_reason::notional_limit;
            }
        }
        if (l.orders != 0 && opened != 0 && by_account_[o.account.value].size() + opened > l.orders) {
            return reject_reason::open_orders_limit;
        }
        if (l.position == 0 || added == 0) return reject_reason::none;
        const std::int64_t sign = o.side == side::buy ? 1 : -1;
        std::int64_t worst = sign * positions_.at({o.account.value, o.instrument}) + added;
        for (const auto& [id, other] : open_) {
            const bool counts = other.account == o.account && other.instrument == o.instrument && other.side == o.side;
            if (counts && mistake_ != defect::open_orders_are_forgotten_by_position_limits) worst += other.open;
        }
        return worst > l.position ? reject_reason::position_limit : reject_reason::none;
    }
    void set_limits() {
        const domain::command& c = command_;
        if (c.is_operator == 0 || c.other_account.value >= options_.accounts_max || c.firm >= options_.accounts_max) {
            return refuse(reject_reason::not_authorised);
        }
        if (c.notional_max < 0) return refuse(reject_reason::invalid_quantity);
        limits_[c.other_account.value] = {c.notional_max, c.quantity.value, c.position_max.value, c.open_orders_max,
                                          c.firm};
        request_done({}, c.other_account.value);
    }
    /// Groups belong to a firm, or to an account that has none.
    std::uint64_t group_owner(std::uint32_t account) {
        const std::uint32_t firm = limits_[account].firm;
        return firm != 0 ? firm : (std::uint64_t{1} << 31) + account;
    }
    bool is_own(const order& resting, const order& incoming) const {
        if (incoming.group.second == 0 || mistake_ == defect::self_match_group_is_ignored) {
            return resting.account == incoming.account;
        }
        return resting.group == incoming.group;
    }

    // --- Kill switches -----------------------------------------------------------------------------------------------

    void kill_switch() {
        using domain::kill_scope;
        const domain::command& c = command_;
        if (static_cast<unsigned>(c.kill_scope) > 2 || static_cast<unsigned>(c.state) > 1) {
            return refuse(reject_reason::invalid_combination);
        }
        const bool on = c.state == domain::switch_state::on;
        const bool is_firm = c.kill_scope == kill_scope::firm;
        const bool exists =
            is_firm ? c.firm != 0 && c.firm < options_.accounts_max : c.other_account.value < options_.accounts_max;
        const bool is_own = on && !is_firm && c.other_account == c.account &&
                            (c.kill_scope == kill_scope::account || c.other_session == c.session);
        if (!exists || (c.is_operator == 0 && !is_own)) return refuse(reject_reason::not_authorised);
        const auto turn = [&](auto& set, const auto& key) {
            if (on) {
                set.insert(key);
            } else {
                set.erase(key);
            }
        };
        std::vector<order*> covered;
        const auto cover = [&](std::uint32_t account) {
            for (const domain::order_id id : by_account_[account]) {
                order& o = open_.at(id);
                if (c.kill_scope != kill_scope::session || o.session == c.other_session) covered.push_back(&o);
            }
        };
        if (is_firm) {
            turn(killed_firms_, c.firm);
            for (std::uint32_t account = 0; account < options_.accounts_max; ++account) {
                if (limits_[account].firm == c.firm) cover(account);
            }
        } else if (c.kill_scope == kill_scope::account) {
            turn(killed_accounts_, c.other_account.value);
            cover(c.other_account.value);
        } else {
            const std::pair key{c.other_account.value, c.other_session.value};
            const bool is_new = on && !killed_sessions_.contains(key);
            if (is_new && killed_sessions_.size() == sessions_killed_max) return refuse(reject_reason::book_full);
            turn(killed_sessions_, key);
            cover(c.other_account.value);
        }
        for (order* o : covered) {
            if (!on) break;
            tell_owner(event_kind::order_cancelled, *o, o->price, o->open, reject_reason::killed, false);
            take_out(*o);
        }
        request_done({}, is_firm ? c.account.value : c.other_account.value);
    }

    // --- Quotes ------------------------------------------------------------------------------------------------------

    /// The side of an account's quote that stands in an instrument, if any.
    order* standing(std::uint32_t instrument, side s) {
        for (const domain::order_id id : by_account_[command_.account.value]) {
            order& o = open_.at(id);
            if (o.is_quote && o.instrument == instrument && o.side == s) return &o;
        }
        return nullptr;
    }
    reject_reason check_quote(std::uint32_t instrument) {
        const domain::command& c = command_;
        if (instrument == instruments_.size()) return reject_reason::unknown_instrument;
        if (static_cast<unsigned>(c.self_match_prevention) > 4) return reject_reason::invalid_self_match_prevention;
        if (c.flags != 0 && c.flags != 4) return reject_reason::invalid_combination;
        const std::uint32_t bid = c.quantity.value;
        const std::uint32_t ask = c.ask_quantity.value;
        for (const auto& [lots, price] : {std::pair{bid, c.price}, std::pair{ask, c.ask_price}}) {
            if (lots == 0) continue;
            if (lots > instruments_[instrument].order_quantity_max.value) return reject_reason::invalid_quantity;
            const reject_reason reason = check_price(instruments_[instrument], price);
            if (reason != reject_reason::none) return reason;
        }
        if (bid != 0 && ask != 0 && c.ask_price <= c.price) return reject_reason::quote_crossed;
        if (bid + std::uint64_t{ask} != 0 && protections_[c.account.value].is_tripped) {
            return reject_reason::quote_protection;
        }
        const bool has_bid = standing(instrument, side::buy) != nullptr;
        const bool has_ask = standing(instrument, side::sell) != nullptr;
        if (bid == 0 && ask == 0 && !has_bid && !has_ask) return reject_reason::nothing_to_cancel;
        const std::size_t more = (bid != 0 && !has_bid ? 1U : 0U) + (ask != 0 && !has_ask ? 1U : 0U);
        if (open_.size() + more > options_.orders_max) return reject_reason::book_full;
        if (bid != 0 || ask != 0) {
            const reject_reason closed = check_market(instrument, c.account.value);
            if (closed != reject_reason::none) return closed;
        }
        if (!has_position(c.account.value, instrument)) return reject_reason::book_full;
        for (const side s : {side::buy, side::sell}) {
            const order* old = standing(instrument, s);
            order fresh{.account = c.account, .instrument = instrument, .side = s, .type = domain::order_type::limit};
            fresh.price = s == side::buy ? c.price : c.ask_price;
            fresh.open = s == side::buy ? bid : ask;
            const std::uint32_t before = old == nullptr ? 0 : old->open;
            const bool keeps_price = old != nullptr && old->price == fresh.price;
            if (fresh.open == 0 || (keeps_price && fresh.open <= before)) continue;
            const reject_reason too_far = keeps_price ? reject_reason::none : apply_band(fresh);
            if (too_far != reject_reason::none) return too_far;
            const std::uint32_t added = fresh.open > before ? fresh.open - before : 0;
            const reject_reason over = check_limits(fresh, fresh.open, added, fresh.price, more);
            if (over != reject_reason::none) return over;
        }
        return reject_reason::none;
    }
    void enter_quote() {
        const domain::command& c = command_;
        const std::uint32_t instrument = index_of(c.instrument);
        const reject_reason refusal = check_quote(instrument);
        if (refusal != reject_reason::none) return refuse(refusal);
        const std::uint64_t trades_before = trades_count_;
        std::vector<domain::order_id> entering;
        for (const side s : {side::buy, side::sell}) {
            const domain::order_id id = prepare_side(instrument, s);
            if (id.value == 0) continue;
            if (mistake_ == defect::quote_meets_its_own_old_side) {
                enter_side(id);
            } else {
                entering.push_back(id);
            }
        }
        for (const domain::order_id id : entering) enter_side(id);
        const order* bid = standing(instrument, side::buy);
        const order* ask = standing(instrument, side::sell);
        say(event_kind::quote_entered, c.instrument.value, side::buy, reject_reason::none, answer_mark()).quote = {
            c.client_order,
            domain::quantity_lots{bid == nullptr ? 0 : bid->open},
            domain::quantity_lots{ask == nullptr ? 0 : ask->open},
            c.account,
            c.session,
            c.request,
            {}};
        if (trades_count_ != trades_before) enter_triggered(instrument);
    }
    /// Takes a side out of the book as far as its successor demands. Returns its id if it has to enter, else 0.
    domain::order_id prepare_side(std::uint32_t instrument, side s) {
        const domain::command& c = command_;
        const std::uint32_t wanted = s == side::buy ? c.quantity.value : c.ask_quantity.value;
        const domain::price_ticks price = s == side::buy ? c.price : c.ask_price;
        order* old = standing(instrument, s);
        if (old == nullptr) {
            if (wanted == 0) return {};
            const order fresh{.id = std::exchange(next_id_, second_id_),
                              .client_order = c.client_order,
                              .account = c.account,
                              .session = c.session,
                              .instrument = instrument,
                              .side = s,
                              .price = price,
                              .open = wanted,
                              .type = domain::order_type::limit,
                              .time_in_force = domain::time_in_force::day,
                              .self_match = c.self_match_prevention,
                              .is_quote = true};
            open_[fresh.id] = fresh;
            given_[fresh.id.value] = true;
            by_account_[c.account.value].push_back(fresh.id);
            tell_owner(event_kind::order_entered, fresh, price, wanted, reject_reason::none, false);
            return fresh.id;
        }
        old->client_order = c.client_order;
        old->session = c.session;
        old->self_match = c.self_match_prevention;
        if (wanted == 0) {
            tell_owner(event_kind::order_cancelled, *old, old->price, old->open, reject_reason::none, false);
            take_out(*old);
            return {};
        }
        if (old->price == price && old->open == wanted) return {};
        old->filled = 0;
        tell_owner(event_kind::order_amended, *old, price, wanted, reject_reason::none, false);
        if (old->price == price && wanted < old->open && mistake_ != defect::quote_that_shrinks_loses_priority) {
            shrink(*old, old->open - wanted, old->display);
            return {};
        }
        const bool was_best = is_at_best(*old);
        unqueue(*old);
        say_public(event_kind::order_deleted, *old, 0, old->shown);
        say_level(*old);
        if (was_best) say_top(*old);
        old->price = price;
        old->open = wanted;
        return old->id;
    }
    void enter_side(domain::order_id id) {
        order& o = open_.at(id);
        const ending end = match(o, false);
        if (o.open != 0) return rest(o);
        if (end.is_stopped) {
            tell_owner(event_kind::order_cancelled, o, o.price, end.taken_out, reject_reason::self_match_prevented,
                       false);
        }
        forget(o);
    }

    // --- Protection of quotes ----------------------------------------------------------------------------------------

    void say_protection(domain::account_id account, domain::session_id session, reject_reason reason, bool answers) {
        const protection& p = protections_[account.value];
        say(event_kind::protection_changed, 0, side::buy, reason,
            answers ? domain::event_flag::last_of_request : std::uint8_t{0})
            .protection = {p.fills,
                           p.fills_max,
                           domain::volume_lots{p.lots},
                           domain::quantity_lots{p.quantity_max},
                           p.window_ms,
                           account,
                           session,
                           session == command_.session ? command_.request : 0,
                           {}};
    }
    void set_protection() {
        const domain::command& c = command_;
        const bool is_limited = c.fills_max > 0 || c.quantity.value > 0;
        if (is_limited && c.window_ms == 0) return refuse(reject_reason::invalid_combination);
        protection& p = protections_[c.account.value];
        p.restart();
        p.fills_max = c.fills_max;
        p.quantity_max = c.quantity.value;
        p.window_ms = is_limited ? c.window_ms : 0;
        say_protection(c.account, c.session, reject_reason::none, true);
    }
    void count_for_protection(const order& quote, std::uint32_t lots) {
        protection& p = protections_[quote.account.value];
        if (p.is_tripped || (p.fills_max == 0 && p.quantity_max == 0)) return;
        const base::int128 elapsed = static_cast<base::int128>(command_.time.value) - p.began;
        const bool is_over = (elapsed < 0 || elapsed >= static_cast<base::int128>(p.window_ms) * 1'000'000) &&
                             mistake_ != defect::protection_window_never_ends;
        if (p.fills == 0 || is_over) {
            p.restart();
            p.began = command_.time.value;
        }
        p.fills += 1;
        p.lots += lots;
        const bool too_many = p.fills_max != 0 && p.fills >= p.fills_max;
        const bool too_much =
            p.quantity_max != 0 && p.lots >= p.quantity_max && mistake_ != defect::protection_counts_no_lots;
        if (too_many || too_much) {
            p.is_tripped = true;
            tripped_.emplace_back(quote.account, quote.session);
        }
    }
    /// Takes out the quotes of the accounts whose protection has just tripped.
    void withdraw_tripped() {
        for (const auto& [account, session] : std::exchange(tripped_, {})) {
            say_protection(account, session, reject_reason::quote_protection, false);
            const std::list<domain::order_id> ids = by_account_[account.value];
            for (const domain::order_id id : ids) {
                order& o = open_.at(id);
                if (!o.is_quote || mistake_ == defect::tripped_quotes_stay) continue;
                tell_owner(event_kind::order_cancelled, o, o.price, o.open, reject_reason::quote_protection, false);
                take_out(o);
            }
        }
    }

    facility_options options_;
    std::vector<domain::instrument> instruments_;
    std::vector<book> books_;
    std::map<domain::order_id, order> open_;
    std::map<std::uint64_t, bool> given_;                              ///< every id that somebody was told
    std::map<std::uint32_t, std::list<domain::order_id>> by_account_;  ///< oldest first
    std::map<std::pair<std::uint32_t, std::uint64_t>, domain::order_id> by_name_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, domain::order_id> by_request_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> positions_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> positions_in_order_;
    std::map<std::uint32_t, protection> protections_;  ///< by account
    std::vector<std::pair<domain::account_id, domain::session_id>> tripped_;
    std::uint64_t trades_count_ = 0;
    std::map<std::uint32_t, limits> limits_;  ///< by account; whoever is not there has none
    std::set<std::uint32_t> killed_accounts_, killed_firms_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> killed_sessions_;
    std::uint64_t expiring_count_ = 0;
    std::vector<std::int64_t> traded_;  ///< prices that the running command traded at, which waiting orders have seen
    defect mistake_;
    domain::command command_;
    domain::order_id next_id_;
    domain::order_id second_id_;
    std::vector<domain::event> events_;
};

}  // namespace corro::facility::testing
