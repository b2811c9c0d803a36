// SPDX-License-Identifier: Apache-2.0
// The matching engine: many books, one pool of orders, price-time priority or another allocation policy.
//
// A program needs only this header: it calls `enter`, `cancel`, `reduce`, `replace` and `cancel_account`, and a sink of
// its own type receives every change at once (matching/core_events.hpp). The rules, with their reasons and examples,
// are in docs/spec/matching.md. The engine identifies books and accounts by index and orders by the id that it assigns;
// its caller resolves the ids of clients.
//
// Units: ticks and lots. Books count from 0, accounts from 0.
// Limits: as given in engine_options; matching/limits.hpp for the largest values.
// Threads: none of its own; the same calls give the same results and the same ids everywhere.
// Cost: memory for all orders is allocated at construction and touched as the options say, nothing is allocated later.
//       Cancelling and reducing take constant time; entering too, unless the price lies beyond the window of its side
//       (logarithmic).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/archive.hpp"
#include "domain/allocation.hpp"
#include "domain/types.hpp"
#include "matching/auction.hpp"
#include "matching/auction_curve.hpp"
#include "matching/core_events.hpp"
#include "matching/entering.hpp"
#include "matching/entry.hpp"
#include "matching/order_books.hpp"
#include "matching/resting.hpp"
#include "matching/sweep.hpp"
#include "matching/waiting.hpp"

namespace corro::matching {

class engine {
 public:
    explicit engine(const engine_options& options) : books_(options) {}

    /// Sets the policy by which the orders at one price of a book share incoming orders (matching/allocation.hpp).
    /// Before the book's first order; allocates.
    void set_policy(std::uint32_t book, const domain::allocation_policy& policy) {
        books_.shares.define(book, policy, books_count(), books_.pool.orders_capacity());
    }

    // --- Entering -------------------------------------------------------------------------------------------------

    /// Matches an order and rests the remainder if it may rest. Needs a free order (`full()` is false), indices within
    /// the options, a quantity above 0 and a price within the venue's range.
    ///
    /// Reasons of a refusal: no_counterparty, insufficient_quantity, count_limit, would_take_liquidity,
    /// self_match_prevented.
    template <class Sink>
    entry_result enter(const entry& e, Sink& sink) noexcept {
        return detail::enter(books_, e, sink);
    }
    /// Rests a new order without instructions that would not trade: what `enter` does with it, in fewer steps. Needs
    /// what `enter` needs, and that `would_trade` is false.
    template <class Sink>
    [[gnu::always_inline]] void add(std::uint32_t book, std::uint32_t account, domain::side side,
                                    domain::price_ticks price, std::uint32_t quantity, Sink& sink) noexcept {
        detail::add(books_, book, account, side, price, quantity, sink);
    }

    // --- Changing and cancelling ----------------------------------------------------------------------------------

    /// Shrinks an open order to `open` lots (above 0, below what it has); its priority stays.
    template <class Sink>
    void reduce(std::uint32_t slot, std::uint32_t open, Sink& sink) noexcept {
        detail::reduce(books_, slot, open, sink);
    }
    /// Shrinks an open order to `open` lots (above 0, at most what it has) and its displayed quantity to at most
    /// `display`, not more than before; its priority stays.
    template <class Sink>
    void reshape(std::uint32_t slot, std::uint32_t open, std::uint32_t display, Sink& sink) noexcept {
        detail::reshape(books_, slot, open, display, sink);
    }
    /// Gives an open order a new price, a new open quantity, another account or all of them; it loses its priority and
    /// may trade. `e` has the new terms; its book and side are the order's. The id stays.
    template <class Sink>
    entry_result replace(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        lift(slot, sink);
        const std::uint32_t index = books_.pool.index_of(slot);
        if (e.account != detail::account_of(books_.pool[index])) [[unlikely]]
            books_.change_account(index, e.account);
        return reenter(slot, e, sink);
    }

    // Several orders are replaced together in two steps: all are removed from their books, then each enters. No other
    // call may come between the steps.

    /// Removes an open order from its book, to be entered again.
    template <class Sink>
    void lift(std::uint32_t slot, Sink& sink) noexcept {
        const std::uint32_t index = books_.pool.index_of(slot);
        if (!books_.shares.is_empty()) [[unlikely]]
            books_.clear_top_order(index);
        detail::remove(books_, index, removal::replaced, sink);
    }
    /// Makes a new order that is in no book yet, to be entered. Needs a free order.
    domain::order_id reserve(std::uint32_t account) noexcept {
        const std::uint32_t index = books_.pool.acquire_order();
        books_.link_account(index, account);
        return books_.pool.id_of(index);
    }
    /// Enters what `lift` or `reserve` has prepared; see `replace`.
    template <class Sink>
    entry_result reenter(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        return detail::enter_again(books_, books_.pool.index_of(slot), e, sink);
    }

    /// Removes an open order from its book.
    template <class Sink>
    [[gnu::always_inline]] void cancel(std::uint32_t slot, Sink& sink, removal cause = removal::cancelled) noexcept {
        const std::uint32_t index = books_.pool.index_of(slot);
        detail::remove(books_, index, cause, sink);
        books_.close(index);
    }
    /// Cancels the account's orders for which `wanted(slot, book)` holds, oldest first. Returns how many.
    template <class Wanted, class Sink>
    std::uint32_t cancel_account(std::uint32_t account, Wanted&& wanted, Sink& sink,
                                 removal cause = removal::cancelled) noexcept {
        return detail::cancel_account(books_, account, std::forward<Wanted>(wanted), sink, cause);
    }
    /// Cancels the orders of a book for which `wanted(slot)` holds, waiting ones too: bids, asks, those that wait for
    /// falling and those that wait for rising prices, each in their order of priority.
    template <class Wanted, class Sink>
    void cancel_book(std::uint32_t book, Wanted&& wanted, Sink& sink, removal cause) noexcept {
        detail::cancel_book(books_, book, std::forward<Wanted>(wanted), sink, cause);
    }

    // --- Waiting for a price --------------------------------------------------------------------------------------

    /// Makes a new order wait for its trigger price, outside the book: a rising one for a trade at the price or above,
    /// a falling one for a trade at the price or below. Same requirements as `enter`. Does not call the sink.
    domain::order_id wait(std::uint32_t book, std::uint32_t account, bool is_rising, domain::price_ticks trigger,
                          std::uint32_t quantity) noexcept {
        return detail::wait(books_, book, account, is_rising, trigger, quantity);
    }
    /// The slot of the order that trades between `low` and `high` trigger next, or `none`: of those that wait for
    /// rising prices the one with the lowest trigger, then of the others the one with the highest; the oldest at equal
    /// triggers.
    [[nodiscard]] std::uint32_t next_triggered(std::uint32_t book, domain::price_ticks low,
                                               domain::price_ticks high) const noexcept {
        return detail::next_triggered(books_, book, low, high);
    }
    /// Takes a waiting order out of its queue and enters it; the id stays.
    template <class Sink>
    entry_result activate(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        wake(slot);
        return reenter(slot, e, sink);
    }
    /// Takes a waiting order out of its queue, to be entered.
    void wake(std::uint32_t slot) noexcept { detail::wake(books_, slot); }
    /// Moves a waiting order to the end of the queue of a trigger price, and to an account.
    void wait_again(std::uint32_t slot, std::uint32_t account, bool is_rising, domain::price_ticks trigger,
                    std::uint32_t quantity) noexcept {
        detail::wait_again(books_, slot, account, is_rising, trigger, quantity);
    }
    /// Changes the quantity of a waiting order; its place stays.
    void resize_waiting(std::uint32_t slot, std::uint32_t quantity) noexcept {
        detail::resize_waiting(books_, slot, quantity);
    }

    // --- Auctions -------------------------------------------------------------------------------------------------

    /// Rests an order without matching; the book may be crossed afterwards. Same requirements as `enter`.
    template <class Sink>
    domain::order_id collect(const entry& e, Sink& sink) noexcept {
        const std::uint32_t index = books_.pool.acquire_order();
        books_.link_account(index, e.account);
        detail::rest(books_, index, e, detail::key_of(e.side, e.price), e.quantity.value, sink);
        return books_.pool.id_of(index);
    }
    /// As `reenter`, without matching.
    template <class Sink>
    void collect_removed(std::uint32_t slot, const entry& e, Sink& sink) noexcept {
        const std::uint32_t index = books_.pool.index_of(slot);
        if (e.account != detail::account_of(books_.pool[index])) books_.change_account(index, e.account);
        books_.pool[index].order.account = e.account;
        detail::rest(books_, index, e, detail::key_of(e.side, e.price), e.quantity.value, sink);
    }
    /// The price at which most lots trade; of several, the one with the smallest imbalance, then the one towards the
    /// side of the imbalance, then the nearest to `reference` (no_price: to the middle of the range).
    /// docs/spec/phases.md has the rule.
    ///
    /// @param levels_max  When more levels would trade, the price is returned as not known.
    /// @param curve       The curve of the last call for this book, with every change of the book reported to it
    /// since; or a new one. Cost: one step per level by which the ends of the curve move; with a new one, per level
    /// that would trade.
    [[nodiscard]] equilibrium find_equilibrium(std::uint32_t book, domain::price_ticks reference,
                                               std::uint32_t levels_max, auction_curve& curve) const noexcept {
        return detail::find_equilibrium(books_, book, reference, levels_max, curve);
    }
    /// Trades the crossed orders at one price, best price first and oldest order first on both sides, until the book is
    /// not crossed. Ignores self-match instructions.
    template <class Sink>
    void uncross(std::uint32_t book, domain::price_ticks price, Sink& sink) noexcept {
        detail::uncross(books_, book, price, sink);
    }

    // --- Orders that trade with other books too ---------------------------------------------------------------------

    // `launch` begins an order, which then trades in steps that the caller decides, and `land` finishes it. No other
    // order may be entered between the two. Only in books without a policy.

    /// Begins a new order that no event has reported. Same requirements as `enter`.
    [[nodiscard]] aggressor launch(const entry& e) noexcept {
        return detail::make_aggressor(books_.pool.acquire_order(), e, detail::limit_of(e), false);
    }
    /// Begins an order that `lift`, `reserve` or `wake` has prepared.
    [[nodiscard]] aggressor launch(std::uint32_t slot, const entry& e) noexcept {
        const std::uint32_t index = books_.pool.index_of(slot);
        if (e.account != detail::account_of(books_.pool[index])) books_.change_account(index, e.account);
        books_.pool[index].order.account = e.account;
        return detail::make_aggressor(index, e, detail::limit_of(e), true);
    }
    [[nodiscard]] std::uint32_t slot_of_incoming(const aggressor& incoming) const noexcept {
        return books_.pool.slot_of(incoming.index);
    }
    [[nodiscard]] domain::order_id id_of_incoming(const aggressor& incoming) const noexcept {
        return books_.pool.id_of(incoming.index);
    }
    /// Trades in the order's own book, as far as its limit allows and `up_to` (no_price: any).
    template <class Sink>
    [[gnu::noinline]] void trade(aggressor& incoming, const entry& e, domain::price_ticks up_to, Sink& sink) noexcept {
        const std::uint64_t limit = incoming.limit;
        if (up_to != domain::no_price) {
            incoming.limit = std::min(limit, detail::mirrored(detail::key_of(e.side, up_to)));
        }
        detail::match(books_, books_.sides[detail::side_index(e.book, e.side) ^ 1U], incoming, sink);
        incoming.limit = limit;
    }
    /// Applies the order's self-match instruction to a resting order if that is an own one; returns whether it is.
    template <class Sink>
    [[nodiscard]] bool prevent(std::uint32_t slot, aggressor& incoming, Sink& sink) noexcept {
        const std::uint32_t index = books_.pool.index_of(slot);
        if (!books_.is_own(index, incoming.own_mask, incoming.own_value, incoming.group)) return false;
        detail::prevent_self_match(books_, index, incoming, sink);
        return true;
    }
    /// Finishes the order: its remainder rests or is cancelled.
    template <class Sink>
    entry_result land(const entry& e, const aggressor& incoming, Sink& sink) noexcept {
        return detail::settle(books_, e, detail::key_of(e.side, e.price), incoming, incoming.is_linked, sink);
    }
    /// Takes lots, at most its displayed ones, from the order that is first in its book. Does not call the sink;
    /// `finish_taking` closes an order without lots, or shows its next part.
    [[nodiscard]] crossing take(std::uint32_t slot, std::uint32_t lots) noexcept {
        return detail::fill_at_auction(books_, books_.pool.index_of(slot), lots);
    }
    template <class Sink>
    void finish_taking(const crossing& taken, Sink& sink) noexcept {
        if (taken.open != 0) return;
        detail::finish_crossing(books_, books_.pool.index_of(taken.slot), taken,
                                detail::key_of(taken.level.side, taken.level.price), sink);
    }

    // --- Reading --------------------------------------------------------------------------------------------------

    /// "No such slot".
    static constexpr std::uint32_t none = detail::none;

    [[nodiscard]] bool full() const noexcept { return books_.pool.orders_free_count() == 0; }
    [[nodiscard]] std::uint32_t open_orders_count() const noexcept { return books_.pool.orders_open_count(); }
    [[nodiscard]] std::uint32_t free_orders_count() const noexcept { return books_.pool.orders_free_count(); }
    /// Slots whose ids are used up; the capacity is smaller by this number.
    [[nodiscard]] std::uint32_t retired_orders_count() const noexcept { return books_.pool.orders_retired_count(); }
    /// For tests: as if every slot had been used by that many orders. @pre No order was entered (asserted).
    void age(std::uint32_t orders_per_place) noexcept { books_.pool.age(orders_per_place); }
    /// The slot of the next order. @pre Not full.
    [[nodiscard]] std::uint32_t next_slot() const noexcept { return books_.pool.next_slot(); }
    /// The id of the next order, or of the one `ahead` orders later, if none is released in between.
    [[nodiscard]] domain::order_id next_id(std::uint32_t ahead = 0) const noexcept {
        return books_.pool.next_id(ahead);
    }
    /// True if `id` is that of an open order.
    [[nodiscard]] bool is_open(domain::order_id id) const noexcept { return books_.pool.find(id) != 0; }
    /// True if `id` was that of an order that is closed now.
    [[nodiscard]] bool was_issued(domain::order_id id) const noexcept { return books_.pool.was_issued(id); }
    /// The slot in an id of this engine.
    [[nodiscard]] static std::uint32_t slot_of(domain::order_id id) noexcept {
        return static_cast<std::uint32_t>(id.value);
    }
    [[nodiscard]] domain::order_id id_of(std::uint32_t slot) const noexcept {
        return books_.pool.id_of(books_.pool.index_of(slot));
    }
    [[nodiscard]] order_view order_at(std::uint32_t slot) const noexcept {
        return books_.view(books_.pool.index_of(slot));
    }
    /// The caller's records of orders. The engine neither reads nor writes them.
    [[nodiscard]] order_records records() noexcept { return books_.pool.records(); }
    /// Prefetches an order, and its record.
    void prefetch(std::uint32_t slot) const noexcept {
        __builtin_prefetch(&books_.pool[books_.pool.index_of(slot)], 1);
    }
    /// Prefetches the neighbours of an open order that will change soon.
    void prefetch_place(std::uint32_t slot) const noexcept {
        books_.pool.prefetch_neighbours(books_.pool.index_of(slot));
    }
    /// The slot of an id, whether it is open or not; `none` if there is no such slot. Reads no memory.
    [[nodiscard]] std::uint32_t likely_slot_of(domain::order_id id) const noexcept {
        return slot_of(id) < books_.pool.orders_capacity() ? slot_of(id) : none;
    }
    // The place of an order that will rest at a price, in three steps: each reads what the one before has fetched. Any
    // price will do.

    void prefetch_price(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept {
        books_.sides[detail::side_index(book, side)].prefetch(detail::key_of(side, price));
    }
    void prefetch_level(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept {
        const std::uint32_t level = books_.sides[detail::side_index(book, side)].find_near(detail::key_of(side, price));
        __builtin_prefetch(&books_.pool[level], 1);
    }
    void prefetch_last(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept {
        const std::uint32_t level = books_.sides[detail::side_index(book, side)].find_near(detail::key_of(side, price));
        __builtin_prefetch(&books_.pool[books_.pool[level].prev], 1);
    }
    /// Prefetches the order that is first at the best level of a side, if there is one.
    void prefetch_first(std::uint32_t book, domain::side side) const noexcept {
        __builtin_prefetch(&books_.pool[first_index(book, side)], 1);
    }
    /// Prefetches the neighbours of that order: reads what `prefetch_first` has fetched.
    void prefetch_second(std::uint32_t book, domain::side side) const noexcept {
        books_.pool.prefetch_neighbours(first_index(book, side));
    }
    /// The level at which an open order rests.
    [[nodiscard]] level_state level_of(std::uint32_t slot) const noexcept {
        return detail::state_of(books_.pool[books_.pool[books_.pool.index_of(slot)].order.level], false);
    }
    /// The best level of a side; its price is no_price when the side is empty.
    [[nodiscard]] level_state best(std::uint32_t book, domain::side side) const noexcept {
        const price_ladder& ladder = books_.sides[detail::side_index(book, side)];
        if (ladder.empty()) return {.book = book, .side = side, .price = domain::no_price};
        const level_fields& level = books_.pool[ladder.best_level()].level;
        return {.book = book,
                .side = side,
                .orders_count = level.orders_count,
                .price = detail::price_of(side, ladder.best_key()),
                .volume = level.volume};
    }
    /// The slot of the order that is first at the best level of a side, or `none`.
    [[nodiscard]] std::uint32_t first_order(std::uint32_t book, domain::side side) const noexcept {
        const price_ladder& ladder = books_.sides[detail::side_index(book, side)];
        return ladder.empty() ? none : books_.pool.slot_of(books_.pool[ladder.best_level()].next);
    }
    /// Whether an order would trade `lots` at once in its own book: none, or the reject reason.
    [[nodiscard]] domain::reject_reason check_fill(const entry& e, std::uint32_t lots) const noexcept {
        return detail::check_fill(books_, books_.sides[detail::side_index(e.book, e.side) ^ 1U], e, detail::limit_of(e),
                                  lots);
    }
    /// True if an order at this price would trade on entry.
    [[nodiscard]] bool would_trade(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept {
        return books_.sides[detail::side_index(book, side) ^ 1U].best_key() <=
               detail::mirrored(detail::key_of(side, price));
    }
    /// The order that last improved its side's best price, if it still has its place; 0 if none has, and in books whose
    /// policy has no top order.
    [[nodiscard]] domain::order_id top_order(std::uint32_t book, domain::side side) const noexcept {
        if (books_.shares.is_empty()) return {};
        const domain::order_id top = books_.shares.top(book, side);
        return is_open(top) ? top : domain::order_id{};
    }
    /// Levels and orders that searches have read since the engine was made: its work beside the reported changes.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return books_.steps; }
    [[nodiscard]] std::uint32_t books_count() const noexcept { return books_.books_count(); }
    [[nodiscard]] std::uint32_t accounts_count() const noexcept { return books_.pool.accounts_count(); }
    [[nodiscard]] bool has_orders(std::uint32_t account) const noexcept { return books_.has_orders(account); }
    /// Open orders of an account, waiting ones too.
    [[nodiscard]] std::uint32_t orders_count(std::uint32_t account) const noexcept {
        return books_.orders_count(account);
    }
    /// The slot of the account's newest order for which `wanted(slot, book)` holds; `none` if there is none.
    template <class Wanted>
    [[nodiscard]] std::uint32_t newest_order_of(std::uint32_t account, Wanted&& wanted) const noexcept {
        for (std::uint32_t at = books_.pool[account].order.account_prev; at != account;
             at = books_.pool[at].order.account_prev) {
            const std::uint32_t slot = books_.pool.slot_of(at);
            ++books_.steps;
            if (wanted(slot, books_.book_of(at))) return slot;
        }
        return none;
    }
    /// Calls `visit(const level_state&)` for each level of a side, best first.
    template <class Visit>
    void for_each_level(std::uint32_t book, domain::side side, Visit&& visit) const {
        books_.for_each_level_index(book, side,
                                    [&](std::uint32_t level) { visit(detail::state_of(books_.pool[level], false)); });
    }
    /// Calls `visit(const level_state&, const order_view&)` for each order of a side, in priority order.
    template <class Visit>
    void for_each_order(std::uint32_t book, domain::side side, Visit&& visit) const {
        books_.for_each_level_index(book, side, [&](std::uint32_t level) {
            const level_state state = detail::state_of(books_.pool[level], false);
            for (std::uint32_t at = books_.pool[level].next; at != level; at = books_.pool[at].next)
                visit(state, books_.view(at));
        });
    }
    /// Calls `visit(trigger price, slot)` for each waiting order, in the order in which they would trigger.
    template <class Visit>
    void for_each_waiting(std::uint32_t book, bool is_rising, Visit&& visit) const {
        const price_ladder& ladder =
            books_.sides[detail::waiting_index(book, is_rising ? domain::side::sell : domain::side::buy)];
        for (keyed_index at{ladder.best_key(), ladder.best_level()}; at.index != 0; at = ladder.next_after(at.key)) {
            const domain::price_ticks trigger = detail::state_of(books_.pool[at.index], false).price;
            for (std::uint32_t i = books_.pool[at.index].next; i != at.index; i = books_.pool[i].next) {
                visit(trigger, books_.pool.slot_of(i));
            }
        }
    }
    /// Calls `visit(slot)` for each open order, by slot.
    template <class Visit>
    void for_each_open(Visit&& visit) const {
        books_.pool.for_each_open([&](std::uint32_t index) { visit(books_.pool.slot_of(index)); });
    }
    /// Calls `visit(slot)` for each open order of an account, oldest first.
    template <class Visit>
    void for_each_order_of(std::uint32_t account, Visit&& visit) const {
        for (std::uint32_t at = books_.pool[account].order.account_next; at != account;
             at = books_.pool[at].order.account_next) {
            visit(books_.pool.slot_of(at));
        }
    }

    /// The same for those behind an open order of that account, or for all when `slot` is from_the_oldest, until
    /// `visit(slot, whether it is the newest)` returns false.
    static constexpr std::uint32_t from_the_oldest = UINT32_MAX;
    template <class Visit>
    void for_orders_behind(std::uint32_t account, std::uint32_t slot, Visit&& visit) const {
        std::uint32_t at = slot == from_the_oldest ? account : books_.pool.index_of(slot);
        while ((at = books_.pool[at].order.account_next) != account) {
            const std::uint32_t next = books_.pool[at].order.account_next;
            __builtin_prefetch(&books_.pool[next]);
            if (!visit(books_.pool.slot_of(at), next == account)) return;
        }
    }

    // --- Saving and loading ---------------------------------------------------------------------------------------

    /// Saves everything that the engine holds, or loads it into a newly made engine with the same options. After a
    /// failure an engine must not be used.
    void transfer(base::archive& a) noexcept { books_.transfer(a); }

 private:
    [[nodiscard]] std::uint32_t first_index(std::uint32_t book, domain::side side) const noexcept {
        return books_.pool[books_.sides[detail::side_index(book, side)].best_level()].next;
    }

    detail::order_books books_;
};

}  // namespace corro::matching
