// The matching engine: many books, one pool of orders, price-time priority or another way of sharing at one price.
//
// An outside program needs only this header: it calls `enter`, `cancel`, `reduce`, `replace` and `cancel_account`, and
// a sink of its own type hears every change at the moment when it happens (matching/core_events.hpp). The rules, with
// their reasons and examples, are docs/spec/matching.md. The engine names books and accounts by index and orders by the
// id that it gave them; names that clients invent are resolved by whoever stands in front of it.
//
// Units: ticks and lots. Books count from 0, accounts from 0.
// Limits: as given in engine_options; matching/limits.hpp for the largest values.
// Threads: none of its own; the same calls give the same answers and the same ids everywhere.
// Cost: memory for all orders is allocated at construction and touched as the options say, nothing is allocated later.
// Cancelling and reducing take
//       constant time; entering too, unless the price lies beyond the window of its side (logarithmic).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "domain/allocation.hpp"
#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "matching/allocation.hpp"
#include "matching/core_events.hpp"
#include "matching/entry.hpp"
#include "matching/level_tree.hpp"
#include "matching/limits.hpp"
#include "matching/node_pool.hpp"
#include "matching/price_ladder.hpp"

namespace corro::matching {

class engine {
 public:
    explicit engine(const engine_options& options)
        : nodes_(options.accounts_max, options.orders_max, options.touch),
          tree_nodes_(options.orders_max, 4 * std::size_t{options.books_count}, options.touch),
          extras_(options.orders_max, options.touch) {
        CORRO_ASSERT(options.books_count > 0 && options.books_count <= domain::instruments_max);
        const std::uint32_t bits =
            options.window_bits != 0 ? options.window_bits : default_window_bits(options.books_count);
        sides_.reserve(4 * std::size_t{options.books_count});
        for (std::uint32_t i = 0; i < 4 * options.books_count; ++i) {
            const bool is_small = (i & waiting_bit) != 0 && bits > waiting_window_bits;
            sides_.emplace_back(tree_nodes_, is_small ? waiting_window_bits : bits, i);
        }
    }
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// Lets the orders at one price of a book share incoming orders by a policy (matching/allocation.hpp). Before the
    /// book's first order; allocates.
    void set_policy(std::uint32_t book, const domain::allocation_policy& policy) {
        shares_.define(book, policy, books_count(), nodes_.orders_capacity());
    }

    // --- Changing the books ---------------------------------------------------------------------------------------

    /// Matches an order and rests what may rest. Needs a free order (`full()` is false), indices within the options, a
    /// quantity above 0 and a price within the venue's range.
    ///
    /// Reasons of a refusal: no_counterparty, insufficient_quantity, would_take_liquidity, self_match_prevented.
    template <class Sink>
    entry_result enter(const entry& e, Sink& sink) noexcept {
        const std::uint64_t key = key_of(e.side, e.price);
        const std::uint64_t limit = e.is_market ? price_ladder::no_key - 1 : mirrored(key);
        price_ladder& against = sides_[side_index(e.book, e.side) ^ 1U];
        if (against.best_key() <= limit) {
            if (e.post_only) return refusal(domain::reject_reason::would_take_liquidity);
            if (e.rest == remainder::never_arises && !can_fill(against, e, limit, e.quantity.value)) {
                return refusal(domain::reject_reason::insufficient_quantity);
            }
            if (e.minimum != 0 && !can_fill(against, e, limit, e.minimum)) {
                return refusal(domain::reject_reason::insufficient_quantity);
            }
            const std::uint32_t index = nodes_.acquire_order();
            if (shares_.shares(e.book)) [[unlikely]]
                return enter_shared(index, e, key, limit, false, sink);
            aggressor incoming = make_aggressor(index, e, limit, false);
            match(against, incoming, sink);
            return settle(e, key, incoming, false, sink);
        }
        if (e.rest != remainder::rests || e.minimum != 0) [[unlikely]] {
            return refusal(e.rest == remainder::never_arises || e.minimum != 0
                               ? domain::reject_reason::insufficient_quantity
                               : domain::reject_reason::no_counterparty);
        }
        const std::uint32_t index = nodes_.acquire_order();
        link_account(index, e.account);
        rest(index, e, key, e.quantity.value, sink);
        return {nodes_.id_of(index), outcome::rested, domain::reject_reason::none, e.quantity.value};
    }

    // --- Auctions -------------------------------------------------------------------------------------------------

    /// Rests an order without matching; the book may be crossed afterwards. Needs what `enter` needs.
    template <class Sink>
    domain::order_id collect(const entry& e, Sink& sink) noexcept {
        const std::uint32_t index = nodes_.acquire_order();
        link_account(index, e.account);
        rest(index, e, key_of(e.side, e.price), e.quantity.value, sink);
        return nodes_.id_of(index);
    }
    /// As `enter_lifted`, without matching.
    template <class Sink>
    void collect_lifted(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        if (e.account != account_of(nodes_[index])) change_account(index, e.account);
        nodes_[index].order.account = e.account;
        rest(index, e, key_of(e.side, e.price), e.quantity.value, sink);
    }
    /// The price at which most lots trade, then at which fewest are left over, then towards the side that is left over,
    /// then nearest to `reference` (no_price: to the middle of what remains). docs/spec/phases.md has the rule.
    ///
    /// @param levels_max  Looks at no more levels than that.
    /// Cost: one step per level that would trade; per order where icebergs have been.
    [[nodiscard]] equilibrium find_equilibrium(std::uint32_t book, domain::price_ticks reference,
                                               std::uint32_t levels_max) const noexcept {
        const price_ladder& bids = sides_[side_index(book, domain::side::buy)];
        const price_ladder& asks = sides_[side_index(book, domain::side::sell)];
        if (bids.empty() || asks.empty()) return {};
        curve_end bid = begin_of(bids);
        curve_end ask = begin_of(asks);
        if (bid.price() < ask.price()) return {};
        for (std::uint32_t levels = 2;;) {
            if (levels > levels_max) return {.is_known = false};
            const curve_end next_bid = after(bids, bid);
            const curve_end next_ask = after(asks, ask);
            const bool takes_bid = bid.total <= ask.total;
            const bool takes_ask = ask.total <= bid.total;
            const curve_end& b = takes_bid ? next_bid : bid;
            const curve_end& a = takes_ask ? next_ask : ask;
            if (b.index == 0 || a.index == 0 || b.price() < a.price()) return choose(bids, asks, bid, ask, reference);
            levels += (takes_bid ? 1U : 0U) + (takes_ask ? 1U : 0U);
            bid = b;
            ask = a;
        }
    }
    /// Trades what crosses at one price, best price first and oldest order first on both sides, until nothing does.
    /// Self-match instructions are not looked at.
    template <class Sink>
    void uncross(std::uint32_t book, domain::price_ticks price, Sink& sink) noexcept {
        price_ladder& bids = sides_[side_index(book, domain::side::buy)];
        price_ladder& asks = sides_[side_index(book, domain::side::sell)];
        const std::uint64_t bid_limit = key_of(domain::side::buy, price);
        const std::uint64_t ask_limit = key_of(domain::side::sell, price);
        while (bids.best_key() <= bid_limit && asks.best_key() <= ask_limit) {
            const std::uint32_t buyer = nodes_[bids.best_level()].next;
            const std::uint32_t seller = nodes_[asks.best_level()].next;
            __builtin_prefetch(&nodes_[nodes_[buyer].next]);
            __builtin_prefetch(&nodes_[nodes_[seller].next]);
            const std::uint64_t bid_key = bids.best_key();
            const std::uint64_t ask_key = asks.best_key();
            const std::uint32_t lots = nodes_[buyer].order.open < nodes_[seller].order.open ? nodes_[buyer].order.open
                                                                                            : nodes_[seller].order.open;
            const cross now{
                .buyer = cross_out(buyer, lots), .seller = cross_out(seller, lots), .quantity = lots, .price = price};
            sink.crossed(now);
            if (now.buyer.open == 0) finish_crossing(buyer, now.buyer, bid_key, sink);
            if (now.seller.open == 0) finish_crossing(seller, now.seller, ask_key, sink);
        }
    }
    /// Cancels the orders of a book for which `wanted(slot)` holds, waiting ones too: bids, asks, those that wait for
    /// falling and those that wait for rising prices, each in their order of priority.
    template <class Wanted, class Sink>
    void cancel_book(std::uint32_t book, Wanted&& wanted, Sink& sink, removal cause) noexcept {
        for (const std::uint32_t side : {0U, 1U, 2U, 3U}) {
            const price_ladder& ladder = sides_[4 * book + side];
            for (keyed_index at{ladder.best_key(), ladder.best_level()}; at.index != 0;) {
                // The level goes with its last order, so what follows it is looked up first.
                const keyed_index following = ladder.next_after(at.key);
                std::uint32_t left = nodes_[at.index].level.orders_count;
                for (std::uint32_t i = nodes_[at.index].next; left != 0; --left) {
                    const std::uint32_t next = nodes_[i].next;
                    if (wanted(nodes_.slot_of(i))) {
                        remove(i, cause, sink);
                        close(i);
                    }
                    i = next;
                }
                at = following;
            }
        }
    }

    /// Takes an open order out of its book.
    template <class Sink>
    void cancel(std::uint32_t slot, Sink& sink, removal cause = removal::cancelled) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        remove(index, cause, sink);
        close(index);
    }

    /// Shrinks an open order to `open` lots (above 0, below what it has); its priority stays.
    template <class Sink>
    void reduce(std::uint32_t slot, std::uint32_t open, Sink& sink) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        shrink(index, view(index).total() - open, reduction::amended, sink);
    }

    /// Shrinks an open order to `open` lots (above 0, at most what it has) and lets it show at most `display` of them,
    /// which is not more than it could show before; its priority stays.
    template <class Sink>
    void reshape(std::uint32_t slot, std::uint32_t open, std::uint32_t display, Sink& sink) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        const order_view before = view(index);
        const std::uint32_t lots = before.total() - open;
        const std::uint32_t from_shown = lots > before.hidden ? lots - before.hidden : 0;
        const std::uint32_t shown_max = before.open - from_shown;
        const std::uint32_t shown = display != 0 && display < shown_max ? display : shown_max;
        nodes_[index].order.account |= iceberg_bit;
        extras_[slot] = {display, open - shown, before.group};
        had_icebergs_ = true;
        nodes_[index].order.open = shown;
        const level_state level = deduct(index, before.open - shown, false);
        sink.reduced(change_of(index, shown, before.open - shown, open - shown, lots, level), reduction::amended);
    }

    /// Lets a new order wait for its trigger price, out of the book: a rising one for a trade at the price or above,
    /// another for one at the price or below. Needs what `enter` needs. The sink hears nothing.
    domain::order_id wait(std::uint32_t book, std::uint32_t account, bool is_rising, domain::price_ticks trigger,
                          std::uint32_t quantity) noexcept {
        const std::uint32_t index = nodes_.acquire_order();
        link_account(index, account);
        const domain::side direction = is_rising ? domain::side::sell : domain::side::buy;
        queue(index, waiting_index(book, direction), key_of(direction, trigger), quantity);
        return nodes_.id_of(index);
    }
    /// The slot of the order that trades between `low` and `high` set free next, or `none`: of those that wait for
    /// rising prices the one with the lowest trigger, then of the others the one with the highest; the oldest at equal
    /// triggers.
    [[nodiscard]] std::uint32_t next_triggered(std::uint32_t book, domain::price_ticks low,
                                               domain::price_ticks high) const noexcept {
        for (const domain::side direction : {domain::side::sell, domain::side::buy}) {
            const price_ladder& ladder = sides_[waiting_index(book, direction)];
            if (ladder.best_key() <= key_of(direction, direction == domain::side::sell ? high : low)) {
                return nodes_.slot_of(nodes_[ladder.best_level()].next);
            }
        }
        return none;
    }
    /// Takes a waiting order out of its queue and enters it; the id stays.
    template <class Sink>
    entry_result activate(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        wake(slot);
        return enter_lifted(slot, e, sink);
    }
    /// Takes a waiting order out of its queue, to be entered.
    void wake(std::uint32_t slot) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        deduct(index, nodes_[index].order.open, true);
    }
    /// Sends a waiting order to the end of the queue of another trigger price, or of its own, for an account.
    void wait_again(std::uint32_t slot, std::uint32_t account, bool is_rising, domain::price_ticks trigger,
                    std::uint32_t quantity) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        const std::uint32_t book = nodes_[nodes_[index].order.level].level.side >> 2;
        deduct(index, nodes_[index].order.open, true);
        if (account != account_of(nodes_[index])) change_account(index, account);
        const domain::side direction = is_rising ? domain::side::sell : domain::side::buy;
        queue(index, waiting_index(book, direction), key_of(direction, trigger), quantity);
    }
    /// Changes the quantity of a waiting order; its place stays.
    void resize_waiting(std::uint32_t slot, std::uint32_t quantity) noexcept {
        node& order = nodes_[nodes_.index_of(slot)];
        std::uint64_t& volume = nodes_[order.order.level].level.volume;
        volume = volume - order.order.open + quantity;
        order.order.open = quantity;
    }

    /// Gives an open order a new price, a new open quantity, another account or all of them; it loses its priority and
    /// may trade. `e` says what the order is from now on; its book and side are the order's. The id stays.
    template <class Sink>
    entry_result replace(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        lift(slot, sink);
        const std::uint32_t index = nodes_.index_of(slot);
        if (e.account != account_of(nodes_[index])) [[unlikely]]
            change_account(index, e.account);
        return enter_lifted(slot, e, sink);
    }

    // Several orders are replaced as one in two steps: all are taken out of their books, then each enters. Between the
    // steps nothing else may be done.

    /// Takes an open order out of its book, to be entered again.
    template <class Sink>
    void lift(std::uint32_t slot, Sink& sink) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        if (!shares_.is_empty()) [[unlikely]]
            lose_top(index);
        remove(index, removal::replaced, sink);
    }
    /// A new order that is in no book yet, to be entered. Needs a free order.
    domain::order_id reserve(std::uint32_t account) noexcept {
        const std::uint32_t index = nodes_.acquire_order();
        link_account(index, account);
        return nodes_.id_of(index);
    }
    /// Enters what `lift` or `reserve` has prepared; see `replace`.
    template <class Sink>
    entry_result enter_lifted(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        return enter_again(nodes_.index_of(slot), e, sink);
    }

    /// Cancels the account's orders for which `wanted(slot, book)` holds, oldest first. Returns how many.
    template <class Wanted, class Sink>
    std::uint32_t cancel_account(std::uint32_t account, Wanted&& wanted, Sink& sink,
                                 removal cause = removal::cancelled) noexcept {
        std::uint32_t count = 0;
        for (std::uint32_t at = nodes_[account].order.account_next; at != account;) {
            const std::uint32_t next = nodes_[at].order.account_next;
            __builtin_prefetch(&nodes_[next]);
            if (wanted(nodes_.slot_of(at), nodes_[nodes_[at].order.level].level.side >> 2)) {
                remove(at, cause, sink);
                close(at);
                ++count;
            }
            at = next;
        }
        return count;
    }

    // --- Orders that trade with other books too ---------------------------------------------------------------------

    // An order that `launch` has set on its way trades piece by piece, as its owner decides, and `land` ends that.
    // Between the two no other order may be entered. Only in books without a policy.

    /// A new order of which nobody has heard. Needs what `enter` needs.
    [[nodiscard]] aggressor launch(const entry& e) noexcept {
        return make_aggressor(nodes_.acquire_order(), e, limit_of(e), false);
    }
    /// One that `lift`, `reserve` or `wake` has prepared.
    [[nodiscard]] aggressor launch(std::uint32_t slot, const entry& e) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        if (e.account != account_of(nodes_[index])) change_account(index, e.account);
        nodes_[index].order.account = e.account;
        return make_aggressor(index, e, limit_of(e), true);
    }
    [[nodiscard]] std::uint32_t slot_in_flight(const aggressor& incoming) const noexcept {
        return nodes_.slot_of(incoming.index);
    }
    [[nodiscard]] domain::order_id id_in_flight(const aggressor& incoming) const noexcept {
        return nodes_.id_of(incoming.index);
    }
    /// Trades in the order's own book, as far as its limit allows and `up_to` (no_price: any).
    template <class Sink>
    [[gnu::noinline]] void trade(aggressor& incoming, const entry& e, domain::price_ticks up_to, Sink& sink) noexcept {
        const std::uint64_t limit = incoming.limit;
        if (up_to != domain::no_price) incoming.limit = std::min(limit, mirrored(key_of(e.side, up_to)));
        match(sides_[side_index(e.book, e.side) ^ 1U], incoming, sink);
        incoming.limit = limit;
    }
    /// Carries out the order's self-match instruction on a resting order if that is its own; says whether it is.
    template <class Sink>
    [[nodiscard]] bool prevent(std::uint32_t slot, aggressor& incoming, Sink& sink) noexcept {
        const std::uint32_t index = nodes_.index_of(slot);
        if (!is_own(index, incoming.own_mask, incoming.own_value, incoming.group)) return false;
        prevent_self_match(index, incoming, sink);
        return true;
    }
    /// What is left rests or is cancelled.
    template <class Sink>
    entry_result land(const entry& e, const aggressor& incoming, Sink& sink) noexcept {
        return settle(e, key_of(e.side, e.price), incoming, incoming.is_linked, sink);
    }
    /// Takes lots, as many as it shows at most, from the order that is first in its book. The sink hears nothing before
    /// `finish_taking`: an order that has nothing left is forgotten then, or shows its next part.
    [[nodiscard]] crossing take(std::uint32_t slot, std::uint32_t lots) noexcept {
        return cross_out(nodes_.index_of(slot), lots);
    }
    template <class Sink>
    void finish_taking(const crossing& taken, Sink& sink) noexcept {
        if (taken.open != 0) return;
        finish_crossing(nodes_.index_of(taken.slot), taken, key_of(taken.level.side, taken.level.price), sink);
    }

    /// "No such slot".
    static constexpr std::uint32_t none = 0xffffffffU;

    // --- Reading --------------------------------------------------------------------------------------------------

    [[nodiscard]] bool full() const noexcept { return nodes_.orders_free_count() == 0; }
    [[nodiscard]] std::uint32_t open_orders_count() const noexcept {
        return nodes_.orders_capacity() - nodes_.orders_free_count();
    }
    [[nodiscard]] std::uint32_t free_orders_count() const noexcept { return nodes_.orders_free_count(); }
    /// The id that the next order will get; or the one after it, if both are acquired before another is released.
    [[nodiscard]] domain::order_id next_id(std::uint32_t ahead = 0) const noexcept { return nodes_.next_id(ahead); }
    /// True if `id` is that of an open order.
    [[nodiscard]] bool is_open(domain::order_id id) const noexcept { return nodes_.find(id) != 0; }
    /// True if `id` was that of an order which is closed by now.
    [[nodiscard]] bool was_given(domain::order_id id) const noexcept { return nodes_.was_given(id); }
    /// The slot within an id that this engine gave.
    [[nodiscard]] static std::uint32_t slot_of(domain::order_id id) noexcept {
        return static_cast<std::uint32_t>(id.value);
    }
    [[nodiscard]] domain::order_id id_of(std::uint32_t slot) const noexcept {
        return nodes_.id_of(nodes_.index_of(slot));
    }
    [[nodiscard]] order_view order_at(std::uint32_t slot) const noexcept { return view(nodes_.index_of(slot)); }
    /// The level at which an open order rests.
    [[nodiscard]] level_state level_of(std::uint32_t slot) const noexcept {
        return state_of(nodes_[nodes_[nodes_.index_of(slot)].order.level], false);
    }
    /// The best level of a side; its price is no_price when the side is empty.
    [[nodiscard]] level_state best(std::uint32_t book, domain::side side) const noexcept {
        const price_ladder& ladder = sides_[side_index(book, side)];
        if (ladder.empty()) return {.book = book, .side = side, .price = domain::no_price};
        return state_of(nodes_[ladder.best_level()], false);
    }
    /// The slot of the order that is first at the best level of a side, or `none`.
    [[nodiscard]] std::uint32_t first_order(std::uint32_t book, domain::side side) const noexcept {
        const price_ladder& ladder = sides_[side_index(book, side)];
        return ladder.empty() ? none : nodes_.slot_of(nodes_[ladder.best_level()].next);
    }
    /// Whether an order would trade so many lots at once in its own book.
    [[nodiscard]] bool would_fill(const entry& e, std::uint32_t lots) const noexcept {
        return can_fill(sides_[side_index(e.book, e.side) ^ 1U], e, limit_of(e), lots);
    }
    /// True if an order at this price would trade on entry.
    [[nodiscard]] bool would_trade(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept {
        return sides_[side_index(book, side) ^ 1U].best_key() <= mirrored(key_of(side, price));
    }
    /// The order that bettered its side of the book last, if it stands there still; 0 where none does and in books
    /// whose policy has no use for it.
    [[nodiscard]] domain::order_id top_order(std::uint32_t book, domain::side side) const noexcept {
        if (shares_.is_empty()) return {};
        const domain::order_id top = shares_.top(book, side);
        return is_open(top) ? top : domain::order_id{};
    }
    [[nodiscard]] std::uint32_t books_count() const noexcept { return static_cast<std::uint32_t>(sides_.size() / 4); }
    [[nodiscard]] std::uint32_t accounts_count() const noexcept { return nodes_.accounts_count(); }
    [[nodiscard]] bool has_orders(std::uint32_t account) const noexcept {
        return nodes_[account].order.account_next != account;
    }
    /// The slot of the account's newest order for which `wanted(slot, book)` holds; `none` if there is none.
    template <class Wanted>
    [[nodiscard]] std::uint32_t newest_order_of(std::uint32_t account, Wanted&& wanted) const noexcept {
        for (std::uint32_t at = nodes_[account].order.account_prev; at != account; at = nodes_[at].order.account_prev) {
            const std::uint32_t slot = nodes_.slot_of(at);
            if (wanted(slot, nodes_[nodes_[at].order.level].level.side >> 2)) return slot;
        }
        return none;
    }
    /// Calls `visit(const level_state&)` for each level of a side, best first.
    template <class Visit>
    void for_each_level(std::uint32_t book, domain::side side, Visit&& visit) const {
        for_each_level_index(book, side, [&](std::uint32_t level) { visit(state_of(nodes_[level], false)); });
    }
    /// Calls `visit(const level_state&, const order_view&)` for each order of a side, in priority order.
    template <class Visit>
    void for_each_order(std::uint32_t book, domain::side side, Visit&& visit) const {
        for_each_level_index(book, side, [&](std::uint32_t level) {
            const level_state state = state_of(nodes_[level], false);
            for (std::uint32_t at = nodes_[level].next; at != level; at = nodes_[at].next) visit(state, view(at));
        });
    }
    /// Calls `visit(trigger price, slot)` for each waiting order, in the order in which they would be set free.
    template <class Visit>
    void for_each_waiting(std::uint32_t book, bool is_rising, Visit&& visit) const {
        const price_ladder& ladder = sides_[waiting_index(book, is_rising ? domain::side::sell : domain::side::buy)];
        for (keyed_index at{ladder.best_key(), ladder.best_level()}; at.index != 0; at = ladder.next_after(at.key)) {
            const domain::price_ticks trigger = state_of(nodes_[at.index], false).price;
            for (std::uint32_t i = nodes_[at.index].next; i != at.index; i = nodes_[i].next) {
                visit(trigger, nodes_.slot_of(i));
            }
        }
    }
    /// Calls `visit(slot)` for each open order, by slot.
    template <class Visit>
    void for_each_open(Visit&& visit) const {
        nodes_.for_each_open([&](std::uint32_t index) { visit(nodes_.slot_of(index)); });
    }
    /// Calls `visit(slot)` for each open order of an account, oldest first.
    template <class Visit>
    void for_each_order_of(std::uint32_t account, Visit&& visit) const {
        for (std::uint32_t at = nodes_[account].order.account_next; at != account; at = nodes_[at].order.account_next) {
            visit(nodes_.slot_of(at));
        }
    }

    // --- Saving and loading ---------------------------------------------------------------------------------------

    /// Saves everything that the engine holds, or loads it into an engine that is as it was made and has the same
    /// options. After a failure an engine must not be used.
    void transfer(base::archive& a) noexcept {
        const std::uint32_t levels = nodes_.transfer(a);
        a.sparse(
            sides_.size(), [&](std::size_t i) { return sides_[i].empty(); },
            [&](std::size_t i) { sides_[i].transfer(a); });
        if (a.loads() && !a.failed()) restore_levels(a, levels);
        a.value(had_icebergs_);
        shares_.transfer(a);
        if (a.failed()) return;
        nodes_.for_each_open([&](std::uint32_t index) {
            const node& n = nodes_[index];
            a.require(account_of(n) < accounts_count());
            if ((n.order.account & (iceberg_bit | group_bit)) != 0) a.value(extras_[nodes_.slot_of(index)]);
        });
    }

 private:
    void restore_levels(base::archive& a, std::uint32_t levels) noexcept {
        nodes_.for_each_level(levels, [&](std::uint32_t index) {
            const level_fields& level = nodes_[index].level;
            a.require(level.side < sides_.size() && sides_[level.side].restore(level.key, index));
        });
        for (const price_ladder& ladder : sides_) a.require(ladder.is_sound());
    }

    /// Four ladders per book: buy side, sell side, waiting for falling prices, waiting for rising prices.
    static constexpr std::uint32_t waiting_bit = 2;
    static constexpr std::uint32_t waiting_window_bits = 8;
    /// Set in an order node's account: the order has something in `extras_`.
    static constexpr std::uint32_t iceberg_bit = 1U << 31;
    static constexpr std::uint32_t group_bit = 1U << 30;
    static constexpr std::uint32_t account_mask = group_bit - 1;
    static_assert(accounts_max <= group_bit);

    struct extra {
        std::uint32_t display = 0;
        std::uint32_t hidden = 0;
        std::uint64_t group = 0;
    };

    [[nodiscard]] static std::uint32_t default_window_bits(std::uint32_t books) noexcept {
        return books <= 16 ? 16 : books <= 1024 ? 12 : 10;
    }
    [[nodiscard]] static std::uint32_t side_index(std::uint32_t book, domain::side side) noexcept {
        return 4 * book + static_cast<std::uint32_t>(side);
    }
    [[nodiscard]] static domain::side side_of(std::uint32_t side_index) noexcept {
        return (side_index & 1) != 0 ? domain::side::sell : domain::side::buy;
    }
    [[nodiscard]] static std::uint32_t waiting_index(std::uint32_t book, domain::side direction) noexcept {
        return side_index(book, direction) | waiting_bit;
    }
    [[nodiscard]] static std::uint32_t level_side(const level_state& level) noexcept {
        return side_index(level.book, level.side);
    }
    /// Both sides share one code path: a bid's key is its negated price, so that the better price has the lower key.
    [[nodiscard]] static std::uint64_t key_of(domain::side side, domain::price_ticks price) noexcept {
        return key_bias + static_cast<std::uint64_t>(side == domain::side::sell ? price.value : -price.value);
    }
    /// The same price in the keys of the other side.
    [[nodiscard]] static std::uint64_t mirrored(std::uint64_t key) noexcept { return 2 * key_bias - key; }

    /// The last key of the other side at which an order may trade.
    [[nodiscard]] static std::uint64_t limit_of(const entry& e) noexcept {
        return e.is_market ? price_ladder::no_key - 1 : mirrored(key_of(e.side, e.price));
    }

    [[nodiscard]] static entry_result refusal(domain::reject_reason reason) noexcept {
        return {{}, outcome::refused, reason, 0};
    }
    [[nodiscard, gnu::always_inline]] static level_state state_of(const node& level, bool top_changed) noexcept {
        const bool sells = (level.level.side & 1) != 0;
        const auto offset = static_cast<std::int64_t>(level.level.key - key_bias);
        return {.book = level.level.side >> 2,
                .side = sells ? domain::side::sell : domain::side::buy,
                .is_waiting = (level.level.side & waiting_bit) != 0,
                .top_changed = top_changed,
                .orders_count = level.level.orders_count,
                .price = domain::price_ticks{sells ? offset : -offset},
                .volume = level.level.volume};
    }
    [[nodiscard]] static std::uint32_t account_of(const node& order) noexcept {
        return order.order.account & account_mask;
    }
    [[nodiscard, gnu::always_inline]] static aggressor make_aggressor(std::uint32_t index, const entry& e,
                                                                      std::uint64_t limit, bool is_known) noexcept {
        const bool prevents = e.self_match != domain::self_match_prevention::none;
        const bool by_group = e.group != 0;
        return {.index = index,
                .account = e.account,
                .open = e.quantity.value,
                .limit = limit,
                .self_match = e.self_match,
                .group = e.group,
                .own_mask = by_group ? group_bit : account_mask,
                .own_value = !prevents  ? none
                             : by_group ? group_bit
                                        : e.account,
                .is_known = is_known,
                .is_linked = is_known};
    }
    /// True if a resting order must not trade with an incoming one.
    [[nodiscard, gnu::always_inline]] bool is_own(std::uint32_t index, std::uint32_t mask, std::uint32_t value,
                                                  std::uint64_t group) const noexcept {
        if ((nodes_[index].order.account & mask) != value) [[likely]]
            return false;
        return group == 0 || extras_[nodes_.slot_of(index)].group == group;
    }
    [[nodiscard]] bool has_own(std::uint32_t level, const aggressor& incoming) const noexcept {
        for (std::uint32_t i = nodes_[level].next; i != level; i = nodes_[i].next) {
            if (is_own(i, incoming.own_mask, incoming.own_value, incoming.group)) return true;
        }
        return false;
    }
    [[nodiscard]] std::uint32_t hidden_of(std::uint32_t index) const noexcept {
        if ((nodes_[index].order.account & iceberg_bit) == 0) [[likely]]
            return 0;
        return extras_[nodes_.slot_of(index)].hidden;
    }
    [[nodiscard]] order_view view(std::uint32_t index) const noexcept {
        const node& n = nodes_[index];
        const std::uint32_t slot = nodes_.slot_of(index);
        const bool is_iceberg = (n.order.account & iceberg_bit) != 0;
        return {nodes_.id_of(index),
                slot,
                account_of(n),
                n.order.open,
                is_iceberg ? extras_[slot].hidden : 0,
                is_iceberg ? extras_[slot].display : 0,
                (n.order.account & group_bit) != 0 ? extras_[slot].group : 0};
    }
    [[nodiscard, gnu::always_inline]] order_change change_of(std::uint32_t index, std::uint32_t open,
                                                             std::uint32_t change, std::uint32_t hidden,
                                                             std::uint32_t taken,
                                                             const level_state& level) const noexcept {
        return {
            nodes_.id_of(index), nodes_.slot_of(index), account_of(nodes_[index]), open, change, hidden, taken, level};
    }

    void link_account(std::uint32_t index, std::uint32_t account) noexcept {
        node* const nodes = nodes_.data();
        node& head = nodes[account];
        const std::uint32_t newest = head.order.account_prev;
        nodes[index].order.account = account;
        nodes[index].order.account_next = account;
        nodes[index].order.account_prev = newest;
        nodes[newest].order.account_next = index;
        head.order.account_prev = index;
    }
    void change_account(std::uint32_t index, std::uint32_t account) noexcept {
        const node& n = nodes_[index];
        nodes_[n.order.account_prev].order.account_next = n.order.account_next;
        nodes_[n.order.account_next].order.account_prev = n.order.account_prev;
        link_account(index, account);
    }
    /// Forgets an order that stands in no level any more but still in its account's ring.
    void close(std::uint32_t index) noexcept {
        node* const nodes = nodes_.data();
        const std::uint32_t next = nodes[index].order.account_next;
        const std::uint32_t prev = nodes[index].order.account_prev;
        nodes[prev].order.account_next = next;
        nodes[next].order.account_prev = prev;
        nodes_.release_order(index);
    }

    /// Puts an order at the end of the level at `key` of a ladder.
    [[gnu::always_inline]] level_state queue(std::uint32_t index, std::uint32_t side, std::uint64_t key,
                                             std::uint32_t open) noexcept {
        price_ladder& ladder = sides_[side];
        std::uint32_t at = ladder.find(key);
        if (at == 0) {
            at = nodes_.acquire_level();
            node& fresh = nodes_[at];
            fresh.next = fresh.prev = at;
            fresh.level = {0, key, 0, side};
            ladder.insert(key, at);
        }
        node* const nodes = nodes_.data();
        node& level = nodes[at];
        node& order = nodes[index];
        const std::uint32_t last = level.prev;
        order.next = at;
        order.prev = last;
        order.order.level = at;
        order.order.open = open;
        nodes[last].next = index;
        level.prev = index;
        level.level.volume += open;
        ++level.level.orders_count;
        return state_of(level, key == ladder.best_key());
    }

    /// Lets an order rest in the book.
    template <class Sink>
    [[gnu::always_inline]] void rest(std::uint32_t index, const entry& e, std::uint64_t key, std::uint32_t open,
                                     Sink& sink) noexcept {
        std::uint32_t hidden = 0;
        if ((e.display | e.group) != 0) [[unlikely]] {
            const std::uint32_t shown = e.display != 0 && e.display < open ? e.display : open;
            hidden = open - shown;
            open = shown;
            nodes_[index].order.account =
                e.account | (e.display != 0 ? iceberg_bit : 0) | (e.group != 0 ? group_bit : 0);
            extras_[nodes_.slot_of(index)] = {e.display, hidden, e.group};
            had_icebergs_ = had_icebergs_ || e.display != 0;
        }
        const level_state level = queue(index, side_index(e.book, e.side), key, open);
        if (!shares_.is_empty()) [[unlikely]]
            crown(index);
        sink.rested(change_of(index, open, open, hidden, 0, level));
    }

    /// Enters an order that has left its level but not its account's ring.
    template <class Sink>
    entry_result enter_again(std::uint32_t index, const entry& e, Sink& sink) noexcept {
        const std::uint64_t key = key_of(e.side, e.price);
        const std::uint64_t limit = e.is_market ? price_ladder::no_key - 1 : mirrored(key);
        nodes_[index].order.account = e.account;
        if (shares_.shares(e.book)) [[unlikely]]
            return enter_shared(index, e, key, limit, true, sink);
        aggressor incoming = make_aggressor(index, e, limit, true);
        match(sides_[side_index(e.book, e.side) ^ 1U], incoming, sink);
        return settle(e, key, incoming, true, sink);
    }

    /// Takes `lots` from the order's level and the order out of it when it is `gone`. Returns the level's new state.
    [[gnu::always_inline]] level_state deduct(std::uint32_t index, std::uint32_t lots, bool gone) noexcept {
        node* const nodes = nodes_.data();
        const std::uint32_t at = nodes[index].order.level;
        node& level = nodes[at];
        price_ladder& ladder = sides_[level.level.side];
        level_state state = state_of(level, level.level.key == ladder.best_key());
        state.volume -= lots;
        level.level.volume = state.volume;
        if (gone) {
            const std::uint32_t next = nodes[index].next;
            const std::uint32_t prev = nodes[index].prev;
            nodes[prev].next = next;
            nodes[next].prev = prev;
            level.level.orders_count = --state.orders_count;
            if (state.orders_count == 0) {
                ladder.erase(level.level.key);
                nodes_.release_level(at);
            }
        }
        return state;
    }

    /// Takes an order out of the book; it stays in its account's ring.
    template <class Sink>
    [[gnu::always_inline]] void remove(std::uint32_t index, removal cause, Sink& sink) noexcept {
        const std::uint32_t open = nodes_[index].order.open;
        const std::uint32_t hidden = hidden_of(index);
        const level_state level = deduct(index, open, true);
        sink.removed(change_of(index, 0, open, 0, open + hidden, level), cause);
    }

    /// Takes `lots` from an order that has more; what is hidden goes first.
    template <class Sink>
    void shrink(std::uint32_t index, std::uint32_t lots, reduction cause, Sink& sink) noexcept {
        const std::uint32_t hidden = hidden_of(index);
        const std::uint32_t from_hidden = lots < hidden ? lots : hidden;
        if (from_hidden != 0) extras_[nodes_.slot_of(index)].hidden -= from_hidden;
        nodes_[index].order.open -= lots - from_hidden;
        const level_state level = deduct(index, lots - from_hidden, false);
        sink.reduced(change_of(index, nodes_[index].order.open, lots - from_hidden, hidden - from_hidden, lots, level),
                     cause);
    }

    /// An iceberg whose shown part has traded shows the next, at the end of its level.
    template <class Sink>
    [[gnu::noinline]] void refresh(std::uint32_t index, std::uint32_t side, std::uint64_t key, Sink& sink) noexcept {
        extra& part = extras_[nodes_.slot_of(index)];
        const std::uint32_t shown = part.display < part.hidden ? part.display : part.hidden;
        part.hidden -= shown;
        const level_state level = queue(index, side, key, shown);
        sink.refreshed(change_of(index, shown, shown, part.hidden, 0, level));
    }

    /// An order that rests alone at the best price has bettered the market: it is the top order, if it is large enough,
    /// and no other is.
    [[gnu::noinline]] void crown(std::uint32_t index) noexcept {
        const order_fields& order = nodes_[index].order;
        const level_fields& level = nodes_[order.level].level;
        const domain::allocation_policy& policy = shares_.policy(level.side >> 2);
        const bool is_alone_at_best = level.orders_count == 1 && level.key == sides_[level.side].best_key();
        if (!is_alone_at_best || !domain::has_top_order(policy.algorithm)) return;
        shares_.top(level.side >> 2, side_of(level.side)) =
            order.open >= policy.top_minimum ? nodes_.id_of(index) : domain::order_id{};
    }
    void lose_top(std::uint32_t index) noexcept {
        const std::uint32_t side = nodes_[nodes_[index].order.level].level.side;
        domain::order_id& top = shares_.top(side >> 2, side_of(side));
        if (top == nodes_.id_of(index)) top = {};
    }

    /// What `enter` and `enter_again` do in a book with a policy. Takes the entry by value, because whoever has no
    /// policy should not have to keep his in memory.
    template <class Sink>
    [[gnu::noinline]] entry_result enter_shared(std::uint32_t index, entry e, std::uint64_t key, std::uint64_t limit,
                                                bool is_linked, Sink& sink) noexcept {
        aggressor incoming = make_aggressor(index, e, limit, is_linked);
        match_shared(sides_[side_index(e.book, e.side) ^ 1U], incoming, e.book, sink);
        return settle(e, key, incoming, is_linked, sink);
    }

    /// Trades the aggressor against a side of a book with a policy, best price first. At each price the aggressor's
    /// self-match instruction comes first, then everybody's share is worked out of what is shown, then it trades, the
    /// oldest order first and each once; what icebergs show next is shared anew.
    template <class Sink>
    void match_shared(price_ladder& against, aggressor& incoming, std::uint32_t book, Sink& sink) noexcept {
        while (incoming.open != 0 && against.best_key() <= incoming.limit) {
            const std::uint32_t at = against.best_level();
            if (incoming.own_value != none && prevent_at(at, incoming, sink)) {
                if (incoming.is_stopped) return;
                continue;
            }
            const node& level = nodes_[at];
            const bool takes_all = incoming.open >= level.level.volume;
            const domain::order_id top_id = shares_.top(book, side_of(level.level.side));
            claim* top = nullptr;
            std::uint32_t count = 0;
            for (std::uint32_t i = level.next; i != at; i = nodes_[i].next) {
                const node& n = nodes_[i];
                __builtin_prefetch(&nodes_[n.next]);
                claim& c = shares_.claim_at(count++);
                c = {i, account_of(n), n.order.open, takes_all ? n.order.open : 0};
                if (nodes_.id_of(i) == top_id) top = &c;
            }
            const std::span<claim> claims = shares_.claims(count);
            if (!takes_all) share_out(shares_.policy(book), claims, top, incoming.open, shares_.ranks());
            trade_shares(against, at, claims, incoming, sink);
        }
    }

    /// Trades every claim's share at a level.
    template <class Sink>
    void trade_shares(price_ladder& against, std::uint32_t at, std::span<const claim> claims, aggressor& incoming,
                      Sink& sink) noexcept {
        node* const nodes = nodes_.data();
        node& level = nodes[at];
        const std::uint64_t key = level.level.key;
        fill now{.aggressor = nodes_.id_of(incoming.index),
                 .aggressor_slot = nodes_.slot_of(incoming.index),
                 .aggressor_account = incoming.account,
                 .level = state_of(level, true)};
        incoming.is_known = true;
        for (const claim& c : claims) {
            if (c.share == 0) continue;
            const std::uint32_t index = c.index;
            incoming.open -= c.share;
            now.quantity = c.share;
            now.aggressor_open = incoming.open;
            now.resting = nodes_.id_of(index);
            now.resting_slot = nodes_.slot_of(index);
            now.resting_account = c.account;
            now.resting_open = c.open - c.share;
            now.resting_hidden = hidden_of(index);
            now.level.volume -= c.share;
            level.level.volume = now.level.volume;
            if (now.resting_open != 0) {
                nodes[index].order.open = now.resting_open;
                sink.filled(now);
                continue;
            }
            const std::uint32_t next = nodes[index].next;
            const std::uint32_t prev = nodes[index].prev;
            nodes[prev].next = next;
            nodes[next].prev = prev;
            level.level.orders_count = --now.level.orders_count;
            if (now.level.orders_count == 0) {
                against.erase(key);
                nodes_.release_level(at);
            }
            if (now.resting_hidden == 0) {
                sink.filled(now);
                close(index);
            } else {
                lose_top(index);
                sink.filled(now);
                refresh(index, level_side(now.level), key, sink);
                now.level = state_of(level, true);  // not read after the last claim, when the level is another one
            }
        }
    }

    /// Applies the aggressor's self-match instruction to all its own orders at a level, oldest first. True if it met
    /// any; then the level may be gone.
    template <class Sink>
    [[nodiscard]] bool prevent_at(std::uint32_t at, aggressor& incoming, Sink& sink) noexcept {
        bool met = false;
        for (std::uint32_t i = nodes_[at].next; i != at && !incoming.is_stopped;) {
            const std::uint32_t next = nodes_[i].next;
            if (is_own(i, incoming.own_mask, incoming.own_value, incoming.group)) {
                prevent_self_match(i, incoming, sink);
                met = true;
            }
            i = next;
        }
        return met;
    }

    /// Trades the aggressor against a side, best price first and oldest order first, as far as its limit allows.
    ///
    /// What is common to the fills at one level is worked out once. The sink sees every level as it stands after its
    /// fill.
    template <class Sink>
    [[gnu::always_inline]] void match(price_ladder& against, aggressor& incoming, Sink& sink) noexcept {
        node* const nodes = nodes_.data();
        fill now{.aggressor = nodes_.id_of(incoming.index),
                 .aggressor_slot = nodes_.slot_of(incoming.index),
                 .aggressor_account = incoming.account};
        const std::uint32_t own_mask = incoming.own_mask;
        const std::uint32_t own_value = incoming.own_value;
        while (incoming.open != 0 && against.best_key() <= incoming.limit) {
            const std::uint32_t at = against.best_level();
            const std::uint64_t key = against.best_key();
            node& level = nodes[at];
            now.level = state_of(level, true);
            for (;;) {
                const std::uint32_t index = level.next;
                node& resting = nodes[index];
                const std::uint32_t behind = resting.next;
                __builtin_prefetch(&nodes[behind]);
                if (is_own(index, own_mask, own_value, incoming.group)) [[unlikely]] {
                    prevent_self_match(index, incoming, sink);
                    if (incoming.is_stopped) return;
                    break;  // what was common to the fills may have changed
                }
                const std::uint32_t had = resting.order.open;
                const std::uint32_t lots = incoming.open < had ? incoming.open : had;
                incoming.open -= lots;
                now.quantity = lots;
                now.aggressor_open = incoming.open;
                now.resting = nodes_.id_of(index);
                now.resting_slot = nodes_.slot_of(index);
                now.resting_account = account_of(resting);
                now.resting_open = had - lots;
                now.resting_hidden = hidden_of(index);
                now.level.volume -= lots;
                level.level.volume = now.level.volume;
                if (lots != had) {  // then nothing of the aggressor is left
                    resting.order.open = had - lots;
                    incoming.is_known = true;
                    sink.filled(now);
                    return;
                }
                level.next = behind;
                nodes[behind].prev = at;
                level.level.orders_count = --now.level.orders_count;
                const bool was_last = now.level.orders_count == 0;
                if (was_last) {
                    against.erase(key);
                    nodes_.release_level(at);
                }
                incoming.is_known = true;
                sink.filled(now);
                if (now.resting_hidden == 0) [[likely]] {
                    close(index);
                } else {
                    refresh(index, level_side(now.level), key, sink);
                    break;
                }
                if (was_last || incoming.open == 0) break;
            }
        }
    }

    /// The aggressor meets an own order: its own instruction decides (docs/spec/matching.md).
    template <class Sink>
    void prevent_self_match(std::uint32_t index, aggressor& incoming, Sink& sink) noexcept {
        using domain::self_match_prevention;
        const std::uint32_t resting_open = nodes_[index].order.open + hidden_of(index);
        if (incoming.self_match == self_match_prevention::cancel_newest) {
            stop(incoming, incoming.open);
            return;
        }
        if (incoming.self_match != self_match_prevention::decrement) {
            remove(index, removal::self_match_prevented, sink);
            close(index);
            if (incoming.self_match == self_match_prevention::cancel_both) stop(incoming, incoming.open);
            return;
        }
        const std::uint32_t lots = incoming.open < resting_open ? incoming.open : resting_open;
        if (lots == resting_open) {
            remove(index, removal::self_match_prevented, sink);
            close(index);
        } else {
            shrink(index, lots, reduction::self_match_prevented, sink);
        }
        if (lots == incoming.open) {
            stop(incoming, lots);
            return;
        }
        incoming.open -= lots;
        incoming.is_known = true;
        sink.aggressor_decremented(decrement{nodes_.id_of(incoming.index), nodes_.slot_of(incoming.index),
                                             incoming.account, incoming.open, lots});
    }
    // --- Auctions -------------------------------------------------------------------------------------------------

    /// A level on the way down one side, with all that stands at it and before it.
    struct curve_end {
        std::uint64_t key = 0;
        std::uint32_t index = 0;  ///< 0: there is none
        domain::side side = domain::side::buy;
        std::uint64_t total = 0;
        [[nodiscard]] std::int64_t price() const noexcept {
            const auto offset = static_cast<std::int64_t>(key - key_bias);
            return side == domain::side::sell ? offset : -offset;
        }
    };
    [[nodiscard]] std::uint64_t lots_at(std::uint32_t level) const noexcept {
        std::uint64_t lots = nodes_[level].level.volume;
        if (!had_icebergs_) [[likely]]
            return lots;
        for (std::uint32_t i = nodes_[level].next; i != level; i = nodes_[i].next) lots += hidden_of(i);
        return lots;
    }
    [[nodiscard]] curve_end begin_of(const price_ladder& ladder) const noexcept {
        const std::uint32_t at = ladder.best_level();
        return {ladder.best_key(), at, (nodes_[at].level.side & 1) != 0 ? domain::side::sell : domain::side::buy,
                lots_at(at)};
    }
    [[nodiscard]] curve_end after(const price_ladder& ladder, const curve_end& before) const noexcept {
        const keyed_index next = ladder.next_after(before.key);
        if (next.index == 0) return {};
        return {next.key, next.index, before.side, before.total + lots_at(next.index)};
    }
    /// The price, from the last levels that trade on either side.
    [[nodiscard]] equilibrium choose(const price_ladder& bids, const price_ladder& asks, const curve_end& bid,
                                     const curve_end& ask, domain::price_ticks reference) const noexcept {
        const auto surplus = [](std::uint64_t more, std::uint64_t less) {
            return static_cast<std::int64_t>(more - less);
        };
        if (bid.total > ask.total) {
            return {domain::price_ticks{bid.price()}, ask.total, surplus(bid.total, ask.total)};
        }
        if (ask.total > bid.total) {
            return {domain::price_ticks{ask.price()}, bid.total, -surplus(ask.total, bid.total)};
        }
        const std::uint64_t volume = bid.total;
        const auto nearest = [&](std::int64_t low, std::int64_t high) {
            if (reference == domain::no_price) return low + (high - low) / 2;
            return reference.value < low ? low : reference.value > high ? high : reference.value;
        };
        const curve_end next_bid = after(bids, bid);
        const curve_end next_ask = after(asks, ask);
        const auto above = [](const curve_end& b, std::int64_t low) {
            return b.index != 0 && b.price() + 1 > low ? b.price() + 1 : low;
        };
        const auto below = [](const curve_end& a, std::int64_t high) {
            return a.index != 0 && a.price() - 1 < high ? a.price() - 1 : high;
        };
        const std::int64_t low = above(next_bid, ask.price());
        const std::int64_t high = below(next_ask, bid.price());
        if (low <= high) return {domain::price_ticks{nearest(low, high)}, volume, 0};
        // The next bid and the next ask are one tick apart: every price leaves one of them over.
        const std::int64_t of_buyers = surplus(next_bid.total, volume);
        const std::int64_t of_sellers = surplus(next_ask.total, volume);
        if (of_buyers < of_sellers) return {domain::price_ticks{next_bid.price()}, volume, of_buyers};
        if (of_sellers < of_buyers) return {domain::price_ticks{next_ask.price()}, volume, -of_sellers};
        const std::int64_t price =
            nearest(above(after(bids, next_bid), ask.price()), below(after(asks, next_ask), bid.price()));
        return {domain::price_ticks{price}, volume, price <= next_bid.price() ? of_buyers : -of_sellers};
    }
    /// Takes lots of an auction's trade from an order at the head of its level.
    [[nodiscard]] crossing cross_out(std::uint32_t index, std::uint32_t lots) noexcept {
        const std::uint32_t open = nodes_[index].order.open - lots;
        const std::uint32_t hidden = hidden_of(index);
        if (open == 0 && hidden != 0 && !shares_.is_empty()) lose_top(index);
        nodes_[index].order.open = open;
        const level_state level = deduct(index, lots, open == 0);
        return {nodes_.id_of(index), nodes_.slot_of(index), open, hidden, level};
    }
    template <class Sink>
    void finish_crossing(std::uint32_t index, const crossing& side, std::uint64_t key, Sink& sink) noexcept {
        if (side.hidden == 0) {
            close(index);
        } else {
            refresh(index, level_side(side.level), key, sink);
        }
    }

    static void stop(aggressor& incoming, std::uint32_t taken_out) noexcept {
        incoming.is_stopped = true;
        incoming.taken_out = taken_out;
        incoming.open = 0;
    }

    /// Decides what becomes of an order after it has traded. An amended order is still in its account's ring.
    template <class Sink>
    entry_result settle(const entry& e, std::uint64_t key, const aggressor& incoming, bool is_linked,
                        Sink& sink) noexcept {
        const std::uint32_t index = incoming.index;
        const domain::order_id id = nodes_.id_of(index);
        if (incoming.open != 0 && e.rest == remainder::rests) {
            if (!is_linked) link_account(index, e.account);
            rest(index, e, key, incoming.open, sink);
            return {id, outcome::rested, domain::reject_reason::none, incoming.open};
        }
        entry_result result{id, outcome::filled, domain::reject_reason::none, 0};
        if (incoming.is_stopped || incoming.open != 0) {
            result.reason = incoming.is_stopped ? domain::reject_reason::self_match_prevented
                                                : domain::reject_reason::no_counterparty;
            result.what = incoming.is_known ? outcome::cancelled : outcome::refused;
            result.quantity = incoming.is_stopped ? incoming.taken_out : incoming.open;
        }
        if (is_linked) {
            close(index);
        } else if (incoming.is_known) {
            nodes_.release_order(index);
        } else {
            nodes_.return_order(index);
            result.order = {};
        }
        return result;
    }

    /// Whether an order would trade `wanted` lots at once, given what its self-match instruction would do on the way.
    [[nodiscard]] bool can_fill(const price_ladder& against, const entry& e, std::uint64_t limit,
                                std::uint64_t wanted) const noexcept {
        using domain::self_match_prevention;
        const bool meets_itself =
            e.self_match != self_match_prevention::none && (e.group != 0 || has_orders(e.account));
        const aggressor incoming = make_aggressor(0, e, limit, false);
        const bool looks_at_orders = meets_itself || had_icebergs_;
        const bool own_come_first =
            meets_itself && e.self_match != self_match_prevention::cancel_resting && shares_.shares(e.book);
        keyed_index at{against.best_key(), against.best_level()};
        while (at.index != 0 && at.key <= limit) {
            const node& level = nodes_[at.index];
            if (!looks_at_orders) {
                if (level.level.volume >= wanted) return true;
                wanted -= level.level.volume;
            } else if (own_come_first && has_own(at.index, incoming)) {
                return false;
            } else {
                std::uint64_t hidden = 0;  // shows itself after all that the level shows now
                for (std::uint32_t i = level.next; i != at.index; i = nodes_[i].next) {
                    if (meets_itself && is_own(i, incoming.own_mask, incoming.own_value, e.group)) {
                        if (e.self_match == self_match_prevention::cancel_resting) continue;
                        return false;
                    }
                    if (nodes_[i].order.open >= wanted) return true;
                    wanted -= nodes_[i].order.open;
                    hidden += hidden_of(i);
                }
                if (hidden >= wanted) return true;
                wanted -= hidden;
            }
            at = against.next_after(at.key);
        }
        return false;
    }

    template <class Visit>
    void for_each_level_index(std::uint32_t book, domain::side side, Visit&& visit) const {
        const price_ladder& ladder = sides_[side_index(book, side)];
        for (keyed_index at{ladder.best_key(), ladder.best_level()}; at.index != 0; at = ladder.next_after(at.key)) {
            visit(at.index);
        }
    }

    node_pool nodes_;
    level_tree_pool tree_nodes_;
    std::vector<price_ladder> sides_;
    base::large_array<extra> extras_;  ///< by slot
    allocation_table shares_;          ///< empty as long as every book is first in, first out
    bool had_icebergs_ = false;        ///< ever; until then volumes of levels tell the whole truth
};
static_assert(sizeof(engine) == 248, "`transfer` knows every member; then correct the size here");

}  // namespace corro::matching
