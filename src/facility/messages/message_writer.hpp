// SPDX-License-Identifier: Apache-2.0
// The engine's sink inside the facility: turns compact core events into derived messages, in exactly the counts and
// order of docs/spec/derived_messages.md, and updates records, positions and statistics.
//
// Not part of the facility's interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/event_buffer.hpp"
#include "facility/event_text.hpp"
#include "facility/implied/implied_books.hpp"
#include "facility/implied/implied_fill.hpp"
#include "facility/messages/changed_books.hpp"
#include "facility/messages/trade_tape.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/quotes/quote_table.hpp"
#include "matching/engine.hpp"
#include "risk/exposures.hpp"
#include "risk/positions.hpp"
#include "risk/strategies.hpp"

namespace corro::facility {

class message_writer {
 public:
    message_writer(matching::engine& engine, order_directory& orders, risk::positions& positions, quote_table& quotes,
                   risk::exposures& exposures, const risk::strategies& strategies, implied_books& implied,
                   std::span<const domain::instrument> instruments, std::uint32_t books_max, event_consumer& consumer)
        : engine_(engine),
          orders_(orders),
          positions_(positions),
          quotes_(quotes),
          exposures_(exposures),
          strategies_(strategies),
          implied_(implied),
          trades_(books_max),
          changes_(implied, books_max),
          buffer_(consumer) {
        ids_.reserve(books_max);
        for (const domain::instrument& i : instruments) ids_.push_back(i.id);
    }

    void begin(const domain::command& command) noexcept {
        command_ = &command;
        is_entering_ = false;
        trades_.clear_range();
        last_answer_slot_ = any_slot;
        buffer_.begin(command);
    }
    /// @param book_of  Returns the book of an instrument.
    template <class BookOf>
    [[gnu::always_inline]] void end(BookOf&& book_of) noexcept {
        if (buffer_.end_plain()) [[likely]]
            return;
        end_any(book_of);
    }
    template <class BookOf>
    [[gnu::noinline]] void end_any(BookOf&& book_of) noexcept {
        if (const auto instrument = buffer_.owed()) [[unlikely]] {
            buffer_.append(domain::event_kind::top_of_book, *instrument, domain::side::buy).top =
                top_of(book_of(*instrument));
        }
        buffer_.end();
    }

    /// The time of the running command.
    [[nodiscard]] domain::time_ns now() const noexcept { return command_->time; }

    /// Sets whether the command enters a new order, whose resting is announced.
    void announce_entry(bool is_entering) noexcept { is_entering_ = is_entering; }
    /// Of the following cancellations only that of `slot` completes the answer.
    void answer_with(std::uint32_t slot) noexcept { last_answer_slot_ = slot; }

    /// Sets the reason of the following withdrawals.
    void withdraw_for(domain::reject_reason reason) noexcept { withdrawn_for_ = reason; }

    [[nodiscard]] trade_tape& trades() noexcept { return trades_; }
    [[nodiscard]] const trade_tape& trades() const noexcept { return trades_; }
    [[nodiscard]] changed_books& changes() noexcept { return changes_; }

    // --- Private messages that are not caused by a core event --------------------------------------------------------

    void reject(domain::instrument_id instrument, domain::side side, domain::reject_reason reason,
                domain::order_id order, domain::price_ticks price, domain::quantity_lots quantity) noexcept {
        buffer_.append(domain::event_kind::order_rejected, instrument, side, reason, answer_of_quote()).order = {
            order, command_->client_order, price, quantity, command_->account, command_->session, command_->request()};
    }
    /// The side of a quote is entered or changed; the changes of the book follow.
    void quote_side(domain::event_kind kind, std::uint32_t book, std::uint32_t slot, domain::price_ticks price,
                    std::uint32_t open) noexcept {
        tell(kind, book, slot, engine_.id_of(slot), price, open, domain::reject_reason::none, 0);
    }
    /// Both sides of a quote are done.
    void quote_entered(std::uint32_t book, std::uint32_t bid_open, std::uint32_t ask_open) noexcept {
        buffer_
            .append(domain::event_kind::quote_entered, ids_[book], domain::side::buy, domain::reject_reason::none,
                    answer_of_quote())
            .quote = {command_->client_order,
                      domain::quantity_lots{bid_open},
                      domain::quantity_lots{ask_open},
                      command_->account,
                      command_->session,
                      command_->request(),
                      {}};
    }
    /// An account's quote limits have changed, or have been reached.
    void protection_changed(const quote_protection& p, domain::account_id account, domain::session_id session,
                            domain::reject_reason reason, bool answers) noexcept;
    /// The requested amendment of an open order is done; its consequences for the book follow.
    void amended(std::uint32_t book, std::uint32_t slot, domain::price_ticks price, std::uint32_t open) noexcept {
        event_buffer::run out = buffer_.open(2);
        answer(out, domain::event_kind::order_amended, book, slot, engine_.id_of(slot), price, open, true);
        buffer_.close(out);
    }
    /// An operator's request is done.
    void request_done(domain::instrument_id instrument, domain::account_id account) noexcept;
    void numbers_reset(domain::time_ns day_begin) noexcept;
    void messages_counted(const domain::count_messages& counted) noexcept;
    /// The running command says what a client order id stands for.
    void order_named() noexcept;
    /// The running command has a name of its own.
    ///
    /// @param slot  Of the open order that it names; matching::engine::none for none or many.
    void request_named(std::uint32_t slot) noexcept;
    void phase_changed(std::uint32_t book, domain::trading_phase phase, std::int64_t resume_time,
                       domain::reject_reason reason) noexcept;
    void auction(domain::event_kind kind, std::uint32_t book, const matching::equilibrium& e) noexcept;
    /// One account's position has ended at a price. Sent to the session that asked.
    void position_settled(std::uint32_t book, std::uint32_t account, std::int64_t lots,
                          domain::price_ticks price) noexcept;
    void instrument_settled(std::uint32_t book, domain::price_ticks price, std::uint64_t open_interest) noexcept;

    /// The next book is that of an instrument. Does not allocate.
    void define(domain::instrument_id id) noexcept { ids_.push_back(id); }
    /// The definition of the instrument, as far as it differs from `like`.
    void instrument_defined(const domain::instrument& i, domain::instrument_id like) noexcept {
        const domain::definition d = domain::definition_of(i, like);
        buffer_.append(domain::event_kind::instrument_terms, i.id, domain::side::buy).terms = {
            d.strike, d.price_low, d.price_high, d.right, {}};
        if (d.legs_count != 0) {
            buffer_.append(domain::event_kind::instrument_legs, i.id, domain::side::buy).legs = {
                d.legs, d.legs_count, {}};
        }
        buffer_.append(domain::event_kind::instrument_defined, i.id, domain::side::buy).defined = {
            d.name, d.expiry, d.like, {}};
    }

    // --- Implied prices and fills ------------------------------------------------------------------------------------

    void implied_top(std::uint32_t book, const domain::top& top) noexcept {
        buffer_.write(scope_word(ids_[book], domain::side::buy), kind_word(domain::event_kind::implied_top), top);
    }
    /// Writes the messages of an implied fill and updates tapes, positions and records. The books have changed already;
    /// orders without displayed quantity left are dealt with afterwards.
    void implied_filled(const implied_fill& f) noexcept;

    /// How many positions an answer has, before them; for the session that asks. Without any it is the whole answer.
    void positions_counted(std::uint32_t count) noexcept;
    /// The account's position in a book, for the session that asks.
    void position(std::uint32_t book, std::int64_t lots, std::uint8_t flags) noexcept;
    /// The state of an open order, for the session that asks.
    void status(std::uint32_t slot, std::uint8_t flags) noexcept;
    /// The statistics of a book begin again.
    void begin_day(std::uint32_t book) noexcept;
    /// A new order starts to wait for its trigger price.
    void waits(std::uint32_t book, std::uint32_t slot, domain::price_ticks price, std::uint32_t quantity) noexcept {
        tell(domain::event_kind::order_entered, book, slot, engine_.id_of(slot), price, quantity,
             domain::reject_reason::none, domain::event_flag::last_of_request);
    }
    /// A waiting order's trigger price has traded; it enters now.
    void triggered(std::uint32_t book, std::uint32_t slot, domain::price_ticks price, std::uint32_t quantity) noexcept {
        tell(domain::event_kind::order_amended, book, slot, engine_.id_of(slot), price, quantity,
             domain::reject_reason::triggered, 0);
    }
    /// An incoming order's remainder was cancelled before it could rest.
    void remainder_cancelled(std::uint32_t book, std::uint32_t slot, domain::order_id order, domain::price_ticks price,
                             std::uint32_t quantity, domain::reject_reason reason) noexcept {
        tell(domain::event_kind::order_cancelled, book, slot, order, price, quantity, reason,
             is_entering_ ? domain::event_flag::last_of_request : std::uint8_t{0});
    }

    // --- The engine's sink -------------------------------------------------------------------------------------------

    [[gnu::always_inline]] void rested(const matching::order_change& change) noexcept {
        event_buffer::run out = buffer_.open(1 + messages_per_change);
        if (is_entering_) {
            tell(out, domain::event_kind::order_entered, change.level.book, change.slot, change.order,
                 change.level.price, change.open + change.hidden, domain::reject_reason::none,
                 domain::event_flag::last_of_request);
        }
        const order_record& r = orders_[change.slot];
        if ((r.flags & record_flag::counted) != 0) [[unlikely]]
            exposures_.add_order(r.account, r.position, r.side, change.open + change.hidden);
        publish(out, domain::event_kind::order_added, change, 1);
        buffer_.close(out);
    }

    /// `rested`, for a plain order that the running command has entered. It is not `counted`.
    [[gnu::always_inline]] void entered(const matching::order_change& change) noexcept {
        event_buffer::run out = buffer_.open(1 + messages_per_change);
        const std::uint64_t scope = scope_word(ids_[change.level.book], change.level.side);
        out.write(scope,
                  kind_word(domain::event_kind::order_entered, domain::reject_reason::none,
                            domain::event_flag::last_of_request),
                  domain::private_order{change.order, command_->client_order, change.level.price,
                                        domain::quantity_lots{change.open}, command_->account, command_->session,
                                        command_->request()});
        publish(out, scope, domain::event_kind::order_added, change, 1);
        buffer_.close(out);
    }

    [[gnu::always_inline]] void removed(const matching::order_change& change, matching::removal cause) noexcept {
        event_buffer::run out = buffer_.open(2 + messages_per_change);
        switch (cause) {
            case matching::removal::cancelled:
                answer(out, domain::event_kind::order_cancelled, change.level.book, change.slot, change.order,
                       price_of(change), change.taken,
                       last_answer_slot_ == any_slot || last_answer_slot_ == change.slot);
                break;
            case matching::removal::self_match_prevented:
                tell(out, domain::event_kind::order_cancelled, change.level.book, change.slot, change.order,
                     change.level.price, change.taken, domain::reject_reason::self_match_prevented, 0);
                break;
            case matching::removal::expelled:
                tell(out, domain::event_kind::order_cancelled, change.level.book, change.slot, change.order,
                     price_of(change), change.taken, withdrawn_for_, 0);
                break;
            case matching::removal::replaced: break;
            case matching::removal::withdrawn:
            case matching::removal::protected_quote:
                tell(out, domain::event_kind::order_cancelled, change.level.book, change.slot, change.order,
                     change.level.price, change.taken,
                     cause == matching::removal::withdrawn ? domain::reject_reason::none
                                                           : domain::reject_reason::quote_protection,
                     0);
                break;
        }
        const order_record& r = orders_[change.slot];
        if ((r.flags & record_flag::counted) != 0) [[unlikely]]
            exposures_.remove_order(r.account, r.position, r.side, change.taken);
        if (!change.level.is_waiting) publish(out, domain::event_kind::order_deleted, change, -1);
        buffer_.close(out);
        if (cause != matching::removal::replaced) orders_.remove(change.slot);
    }

    void reduced(const matching::order_change& change, matching::reduction cause) noexcept {
        if (cause == matching::reduction::self_match_prevented) {
            orders_[change.slot].total -= change.taken;
            tell(domain::event_kind::order_amended, change.level.book, change.slot, change.order, change.level.price,
                 change.open + change.hidden, domain::reject_reason::self_match_prevented, 0);
        }
        const order_record& r = orders_[change.slot];
        if ((r.flags & record_flag::counted) != 0) exposures_.shrink(r.position, r.side, change.taken);
        if (change.change != 0) {
            publish(domain::event_kind::order_reduced, change, 0);
        } else if (changes_.is_watching()) {
            note(change, 0);
        }
    }

    void refreshed(const matching::order_change& change) noexcept {
        publish(domain::event_kind::order_added, change, 1);
    }

    void aggressor_decremented(const matching::decrement& d) noexcept {
        order_record& record = orders_[d.slot];
        record.total -= d.change;
        tell(domain::event_kind::order_amended, book_, d.slot, d.order, price_, d.open,
             domain::reject_reason::self_match_prevented, 0);
    }

    /// Two orders will trade soon, one after the other: prefetches the record of the later one, and the memory that the
    /// removal of the first one reads.
    void expect(std::uint32_t slot, std::uint32_t later) const noexcept { orders_.prefetch_leaving(slot, later); }
    // Fills: message_writer_fills.hpp.
    void filled(const matching::fill& f) noexcept;
    void crossed(const matching::cross& f) noexcept;

    /// Sets the incoming order of the following core events, while it is not in a book.
    void incoming(std::uint32_t book, domain::price_ticks price) noexcept {
        book_ = book;
        price_ = price;
    }

    [[nodiscard]] domain::volume_summary volumes_of(std::uint32_t book) const noexcept {
        return {domain::volume_lots{trades_[book].volume + trades_[book].leg_volume},
                trades_[book].turnover,
                domain::volume_lots{positions_.open_interest(book)},
                {}};
    }
    [[nodiscard]] domain::top top_of(std::uint32_t book) const noexcept {
        const matching::level_state bid = engine_.best(book, domain::side::buy);
        const matching::level_state ask = engine_.best(book, domain::side::sell);
        return {bid.price, domain::volume_lots{bid.volume}, ask.price, domain::volume_lots{ask.volume}, {}};
    }
    /// The same for the book of a level that is, or was until now, the best of its side.
    [[nodiscard, gnu::always_inline]] domain::top top_of(const matching::level_state& level) const noexcept {
        const matching::level_state other = engine_.best(level.book, domain::opposite(level.side));
        domain::price_ticks price = level.price;
        std::uint64_t volume = level.volume;
        if (volume == 0) {
            const matching::level_state next = engine_.best(level.book, level.side);
            price = next.price;
            volume = next.volume;
        }
        const bool is_bid = level.side == domain::side::buy;
        return {is_bid ? price : other.price,
                domain::volume_lots{is_bid ? volume : other.volume},
                is_bid ? other.price : price,
                domain::volume_lots{is_bid ? other.volume : volume},
                {}};
    }

 private:
    static constexpr std::uint32_t any_slot = 0xffffffffU;
    static constexpr std::size_t messages_per_change = 3;
    static constexpr std::size_t messages_per_fill = 10;
    static constexpr std::size_t messages_per_cross = 12;
    static_assert(2 + messages_per_change <= event_buffer::run_max && messages_per_fill <= event_buffer::run_max &&
                  messages_per_cross <= event_buffer::run_max);

    /// The mark of the event that answers a command, unless more quotes of the same request follow.
    [[nodiscard]] std::uint8_t answer_of_quote() const noexcept {
        const bool goes_on = command_->kind == domain::command_kind::enter_quote &&
                             (command_->enter_quote().flags & domain::quote_flag::more) != 0;
        return goes_on ? std::uint8_t{0} : domain::event_flag::last_of_request;
    }
    [[gnu::noinline]] void quotes_traded(const order_record& aggressor, const order_record& resting,
                                         std::uint32_t lots) noexcept {
        if ((aggressor.flags & quote_mark) != 0) quotes_.traded(aggressor, lots, command_->time);
        if ((resting.flags & quote_mark) != 0) quotes_.traded(resting, lots, command_->time);
    }
    void emit_implied_top(const implied_fill& f, std::size_t which, domain::trade_id number,
                          const domain::price_summary& prices, const domain::volume_summary& volumes) noexcept;
    void update_after_implied_fill(const implied_fill::party& p, std::uint32_t lots) noexcept;
    /// Writes the legs of a strategy's trade, in their order.
    void fill_legs(const matching::fill& f, domain::trade_id number, domain::side aggressor_side) noexcept;
    /// The reference price of a leg: its last trade, else its best bid, else its best offer, else no_price.
    [[nodiscard]] domain::price_ticks reference_price(std::uint32_t book) const noexcept;
    /// The limit of a cancelled order; for a waiting order the level holds only the trigger price.
    [[nodiscard]] domain::price_ticks price_of(const matching::order_change& change) const noexcept {
        return change.level.is_waiting ? orders_.waiting(change.slot).limit : change.level.price;
    }

    /// Writes an event for the session that owns the order.
    [[gnu::always_inline]] void tell(event_buffer::run& out, domain::event_kind kind, std::uint32_t book,
                                     std::uint32_t slot, domain::order_id order, domain::price_ticks price,
                                     std::uint32_t quantity, domain::reject_reason reason,
                                     std::uint8_t flags) noexcept {
        const order_record& r = orders_[slot];
        out.write(scope_word(ids_[book], r.side), kind_word(kind, reason, flags),
                  domain::private_order{order, r.client_order, price, domain::quantity_lots{quantity}, r.account,
                                        r.session, r.session == command_->session ? command_->request() : 0});
    }
    [[gnu::always_inline]] void tell(domain::event_kind kind, std::uint32_t book, std::uint32_t slot,
                                     domain::order_id order, domain::price_ticks price, std::uint32_t quantity,
                                     domain::reject_reason reason, std::uint8_t flags) noexcept {
        event_buffer::run out = buffer_.open(1);
        tell(out, kind, book, slot, order, price, quantity, reason, flags);
        buffer_.close(out);
    }
    /// Writes an event for the owner of the order and, when another session of the account asked, one for that session.
    [[gnu::always_inline]] void answer(event_buffer::run& out, domain::event_kind kind, std::uint32_t book,
                                       std::uint32_t slot, domain::order_id order, domain::price_ticks price,
                                       std::uint32_t quantity, bool is_last) noexcept {
        const order_record& r = orders_[slot];
        const bool is_owner = r.session == command_->session;
        const std::uint8_t flags = is_last ? domain::event_flag::last_of_request : std::uint8_t{0};
        tell(out, kind, book, slot, order, price, quantity, domain::reject_reason::none,
             is_owner ? flags : std::uint8_t{0});
        if (is_owner) [[likely]]
            return;
        out.append(kind, ids_[book], r.side, domain::reject_reason::none, flags).order = {
            order,
            r.client_order,
            price,
            domain::quantity_lots{quantity},
            r.account,
            command_->session,
            command_->request()};
    }
    /// Takes a copy, so that a change that is not noted can stay in registers.
    void note(matching::order_change change, int orders) noexcept { changes_.note(change, orders); }
    /// L3, L2 and, when the best level changed, L1.
    [[gnu::always_inline]] void publish(event_buffer::run& out, domain::event_kind kind,
                                        const matching::order_change& change, int orders) noexcept {
        publish(out, scope_word(ids_[change.level.book], change.level.side), kind, change, orders);
    }
    [[gnu::always_inline]] void publish(event_buffer::run& out, std::uint64_t scope, domain::event_kind kind,
                                        const matching::order_change& change, int orders) noexcept {
        if (changes_.is_watching()) [[unlikely]]
            note(change, orders);
        const matching::level_state& level = change.level;
        out.write(scope, kind_word(kind),
                  domain::public_order{change.order,
                                       level.price,
                                       domain::quantity_lots{change.open},
                                       domain::quantity_lots{change.change},
                                       {}});
        publish_level(out, scope, level);
        if (level.top_changed) out.write(scope, kind_word(domain::event_kind::top_of_book), top_of(level));
    }
    [[gnu::always_inline]] void publish(domain::event_kind kind, const matching::order_change& change,
                                        int orders) noexcept {
        event_buffer::run out = buffer_.open(messages_per_change);
        publish(out, kind, change, orders);
        buffer_.close(out);
    }
    [[gnu::always_inline]] static void publish_level(event_buffer::run& out, std::uint64_t scope,
                                                     const matching::level_state& level) noexcept {
        out.write(scope, kind_word(domain::event_kind::level_changed),
                  domain::level{level.price, domain::volume_lots{level.volume}, level.orders_count, {}});
    }

    matching::engine& engine_;
    order_directory& orders_;
    risk::positions& positions_;
    quote_table& quotes_;
    risk::exposures& exposures_;
    const risk::strategies& strategies_;
    implied_books& implied_;
    const domain::command* command_ = nullptr;
    bool is_entering_ = false;
    std::uint32_t last_answer_slot_ = any_slot;
    std::uint32_t book_ = 0;
    domain::price_ticks price_{};
    domain::reject_reason withdrawn_for_ = domain::reject_reason::none;
    std::vector<domain::instrument_id> ids_;
    trade_tape trades_;
    changed_books changes_;
    event_buffer buffer_;
};
static_assert(sizeof(message_writer) - sizeof(event_buffer) - sizeof(changed_books) - sizeof(trade_tape) == 120,
              "only the tape outlasts a command; transfer a new member that does, then correct the size here");

}  // namespace corro::facility
