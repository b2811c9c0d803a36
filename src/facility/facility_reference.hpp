// The rules of the venue a second time, written to be read: plain maps and lists, no thought of speed.
//
// It must agree with `facility` on every byte of every event and on the state hash after every command. It is for tests
// only. Order ids are names without meaning, so it is told which id the next order gets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/int128.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "facility/state_hasher.hpp"

namespace corro::facility::testing {

/// Mistakes that can be put into the reference, to prove that the comparison would notice them in the venue.
enum class defect : std::uint8_t {
    none,
    newest_order_first,  ///< a level is not first in, first out
    amend_down_loses_priority,
    fill_at_aggressor_price,
    post_only_may_trade,
    decrement_forgets_the_resting_order,
    immediate_remainder_rests,
    top_of_book_always,
    mass_cancel_newest_first,
    feed_misses_the_end_of_a_command,
    iceberg_refresh_keeps_priority,
    stop_needs_a_price_beyond_its_trigger,
    minimum_quantity_is_ignored,
    triggered_orders_newest_first,
    only_the_last_price_triggers,
    hidden_lots_are_forgotten_by_fill_or_kill,
    quote_that_shrinks_loses_priority,
    quote_meets_its_own_old_side,
    protection_window_never_ends,
    protection_counts_no_lots,
    tripped_quotes_stay,
    mass_cancel_takes_quotes_unasked,
    count_,
};

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
        for (const book& b : books_) {
            hasher.add(b.prices.last.value);
            hasher.add(b.prices.high.value);
            hasher.add(b.prices.low.value);
            hasher.add(b.prices.open.value);
            hasher.add(b.volume);
            hasher.add(b.turnover);
            for (const half* h : {&b.buy, &b.sell}) {
                hasher.add(std::uint64_t{0});
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
        return hasher.value();
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
        bool is_quote = false;
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
    };
    struct book {
        half buy, sell;
        half falling, rising;  // by trigger price, nearest to the market first
        domain::price_summary prices{domain::no_price, domain::no_price, domain::no_price, domain::no_price, {}};
        std::uint64_t volume = 0;
        std::int64_t turnover = 0;
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
        return c.time_in_force == domain::time_in_force::day || c.time_in_force == domain::time_in_force::gtc;
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
        if (tif < 1 || tif > 4) return reject_reason::invalid_time_in_force;
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
        if (!positions_.contains({c.account.value, instrument})) {
            if (positions_.size() == options_.positions_max) return reject_reason::book_full;
            positions_[{c.account.value, instrument}] = 0;
            positions_in_order_.emplace_back(c.account.value, instrument);
        }
        return reject_reason::none;
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
                .flags = c.flags};
        if (is_waiting_type(c.type)) {
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
        given_[o.id.value] = true;
        by_account_[o.account.value].push_back(o.id);
        if (o.client_order.value != 0) by_name_[{o.account.value, o.client_order.value}] = o.id;
        if (o.request != 0) by_request_[{o.session.value, o.request}] = o.id;
    }
    /// Puts an open order at the end of its level and says so in public.
    void rest(order& o) {
        o.shown = o.display == 0 ? o.open : std::min(o.display, o.open);
        o.where = order::place::book;
        std::list<order*>& queue = half_of(o.instrument, o.side).levels[key_of(o.side, o.price)];
        if (mistake_ == defect::iceberg_refresh_keeps_priority && o.display != 0 && o.filled != 0) {
            queue.push_front(&o);
        } else {
            queue.push_back(&o);
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
        for (order* next = next_triggered(instrument); next != nullptr; next = next_triggered(instrument)) {
            order& o = *next;
            tell_owner(event_kind::order_amended, o, o.price, o.open, reject_reason::triggered, false);
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
            if (o.price != domain::no_price && key > key_of(other, o.price)) break;
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
            for (const order* resting : *queue) {
                if (resting->account == o.account && o.self_match != self_match_prevention::none) {
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
            if (resting->account != incoming.account || incoming.self_match == self_match_prevention::none) {
                trade(incoming, *resting, is_entering);
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
                shrink(*resting, lots);
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

    void trade(order& incoming, order& resting, bool is_entering) {
        const std::uint32_t lots = std::min(incoming.open, resting.shown);
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
        if (before.open != 0 && before.shown == 0) rest(resting);
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
    /// Takes lots away from a resting order that has more, what is hidden first.
    void shrink(order& o, std::uint32_t lots) {
        const std::uint32_t from_shown = lots - std::min(lots, o.open - o.shown);
        o.open -= lots;
        o.shown -= from_shown;
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
        if (c.quantity.value <= o.filled) return cancel(o, true);
        if (c.quantity > instruments_[o.instrument].order_quantity_max)
            return refuse(reject_reason::invalid_quantity, &o);
        const bool has_limit = o.where == order::place::book || o.type == domain::order_type::stop_limit;
        const reject_reason bad_price =
            has_limit ? check_price(instruments_[o.instrument], c.price) : reject_reason::none;
        if (bad_price != reject_reason::none) return refuse(bad_price, &o);
        if (o.where == order::place::waiting) {
            if (has_limit) o.price = c.price;
            o.open = c.quantity.value;
            tell_owner_and_asker(event_kind::order_amended, o, o.price, o.open, true);
            return;
        }
        order amended = o;
        amended.price = c.price;
        amended.open = c.quantity.value - o.filled;
        if ((o.flags & domain::order_flag::post_only) != 0 && !reached_levels(amended).empty()) {
            return refuse(reject_reason::would_take_liquidity, &o);
        }
        tell_owner_and_asker(event_kind::order_amended, o, amended.price, amended.open, true);
        if (amended.price == o.price && amended.open == o.open) return;
        if (amended.price == o.price && amended.open < o.open && mistake_ != defect::amend_down_loses_priority) {
            return shrink(o, o.open - amended.open);
        }
        const bool was_best = is_at_best(o);
        unqueue(o);
        say_public(event_kind::order_deleted, o, 0, o.shown);
        say_level(o);
        if (was_best) say_top(o);
        o.price = amended.price;
        o.open = amended.open;
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
        if (!positions_.contains({c.account.value, instrument})) {
            if (positions_.size() == options_.positions_max) return reject_reason::book_full;
            positions_[{c.account.value, instrument}] = 0;
            positions_in_order_.emplace_back(c.account.value, instrument);
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
            shrink(*old, old->open - wanted);
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
    std::vector<std::int64_t> traded_;  ///< prices that the running command traded at, which waiting orders have seen
    defect mistake_;
    domain::command command_;
    domain::order_id next_id_;
    domain::order_id second_id_;
    std::vector<domain::event> events_;
};

}  // namespace corro::facility::testing
