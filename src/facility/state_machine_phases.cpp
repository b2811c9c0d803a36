// Effects of time on the market, phases, and the circuit breaker. See docs/spec/matching.md.

#include <algorithm>
#include <limits>

#include "facility/state_machine.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;
using domain::trading_phase;

// --- Time ------------------------------------------------------------------------------------------------------------

void facility::state_machine::process_due_times(domain::time_ns now) noexcept {
    now_ = now;
    for (;;) {
        const std::int64_t expiry = orders_.expiries().next_due();
        if (expiry != expiry_queue::never && expiry <= now.value && expiry <= next_resume_) {
            ++steps_;
            writer_.withdraw_for(reject_reason::expired);
            engine_.cancel(orders_.expiries().next_slot(), writer_, matching::removal::expelled);
        } else if (next_resume_ != expiry_queue::never && next_resume_ <= now.value) {
            resume_halted();
        } else {
            break;
        }
    }
    implied_.refresh(engine_);  // the command's checks use the present implied prices
}

void facility::state_machine::resume_halted() noexcept {
    const std::int64_t at = next_resume_;
    while (rules_.next_resume() == at) {
        ++steps_;
        const std::uint32_t book = rules_.next_book_to_resume();
        enter_phase(book, domain::phase_after(rules_.book(book).phase), 0, reject_reason::none);
    }
    next_resume_ = rules_.next_resume();
    go_on();
}

void facility::state_machine::go_on() noexcept {
    steps_ += resuming_.size();
    if (implied_.any()) match_crossed_triangles();
    for (const std::uint32_t book : resuming_) enter_pending(book);
    resuming_.clear();
    if (!implied_.has_traded()) return;
    enter_triggered_in_other_books();
    writer_.forget_trades();
}

void facility::state_machine::enter_pending(std::uint32_t book) noexcept {
    book_rules& b = rules_.book(book);
    if (!b.resumes_now) return;
    b.resumes_now = false;
    // Another book that resumed at the same moment may have halted them all again. The trades until then are looked at
    // later.
    if (b.phase != trading_phase::continuous) return;
    // Waiting orders see the pending prices and the trades since the book resumed.
    implied_.take_traded_range([&](const implied_books::traded_range& t) {
        if (t.book != book) return false;
        defer_stops(t);
        return true;
    });
    if (b.pending_low > b.pending_high) return;
    writer_.record_trades_for_stops(b.pending_low, b.pending_high);
    b.pending_low = domain::price_ticks{std::numeric_limits<std::int64_t>::max()};
    b.pending_high = domain::no_price;
    enter_triggered_in(book);
    writer_.forget_trades();
}

// --- Products --------------------------------------------------------------------------------------------------------

std::span<const facility::state_machine::product_book> facility::state_machine::books_of(
    domain::product_id product) const noexcept {
    const auto first = std::lower_bound(by_product_.begin(), by_product_.end(), product_book{product.value, 0});
    const auto last = std::lower_bound(first, by_product_.end(), product_book{product.value, none});
    return {first, last};
}

void facility::state_machine::note_product(std::uint32_t book) noexcept {
    const product_book added{instruments_[book].product.value, book};
    by_product_.insert(std::upper_bound(by_product_.begin(), by_product_.end(), added), added);
}

// --- Halts -----------------------------------------------------------------------------------------------------------

/// Calls `visit(book)` for each book that a change_phase or new_trading_day is about.
template <class Visit>
void facility::state_machine::for_each_covered(domain::instrument_id instrument, domain::product_id product,
                                               Visit&& visit) noexcept {
    const auto cover = [&](std::uint32_t book) {
        ++steps_;
        visit(book);
    };
    if (instrument.value != 0) {
        if (const std::uint32_t one = book_of(instrument); one != none) cover(one);
    } else if (product.value != 0) {
        for (const product_book& p : books_of(product)) cover(p.book);
    } else {
        for (std::uint32_t book = 0; book < instruments_.size(); ++book) cover(book);
    }
}

void facility::state_machine::change_phase(const command& c) noexcept {
    const domain::change_phase& wanted = c.change_phase();
    if (!c.is_operator()) return refuse(c, reject_reason::not_authorised);
    if (wanted.phase > trading_phase::closed) return refuse(c, reject_reason::invalid_combination);
    const bool may_end = wanted.phase == trading_phase::halted || domain::collects(wanted.phase);
    if (may_end && wanted.resume_time.value != 0 && wanted.resume_time <= c.time) {
        return refuse(c, reject_reason::invalid_expire_time);
    }
    bool is_any = false;
    bool is_any_settled = false;
    for_each_covered(c.instrument, wanted.product, [&](std::uint32_t book) {
        is_any_settled = is_any_settled || rules_.book(book).is_settled;
        if (rules_.book(book).is_settled) return;
        is_any = true;
        enter_phase(book, wanted.phase, may_end ? wanted.resume_time.value : 0, reject_reason::none);
    });
    if (!is_any) {
        return refuse(c, is_any_settled ? reject_reason::instrument_settled : reject_reason::unknown_instrument);
    }
    next_resume_ = rules_.next_resume();
    writer_.request_done(c.instrument, c.account);
    go_on();
}

// Keeps the last price: bands, circuit breakers and auctions use it.
void facility::state_machine::begin_day(const command& c) noexcept {
    if (!c.is_operator()) return refuse(c, reject_reason::not_authorised);
    bool is_any = false;
    bool is_any_settled = false;
    for_each_covered(c.instrument, c.new_trading_day().product, [&](std::uint32_t book) {
        book_rules& b = rules_.book(book);
        (b.is_settled ? is_any_settled : is_any) = true;
        if (b.is_settled) return;
        // Both counts fall by the same amount, so the circuit breaker still sees the trades that it has not seen.
        b.volume_seen -= writer_.tape(book).volume;
        writer_.begin_day(book);
    });
    if (!is_any) {
        return refuse(c, is_any_settled ? reject_reason::instrument_settled : reject_reason::unknown_instrument);
    }
    writer_.request_done(c.instrument, c.account);
}

bool facility::state_machine::breaks_circuit(std::uint32_t book) noexcept {
    book_rules& b = rules_.book(book);
    const tape_summary& tape = writer_.tape(book);
    if (tape.volume == b.volume_seen) return false;
    const domain::instrument& instrument = instruments_[book];
    const domain::price_ticks last = tape.prices.last;
    if (now_.value >= b.window_end) {
        b.reference = b.last_seen == domain::no_price ? last : b.last_seen;
        if (__builtin_add_overflow(now_.value, instrument.breaker_window, &b.window_end)) {
            b.window_end = std::numeric_limits<std::int64_t>::max();
        }
    }
    b.last_seen = last;
    b.volume_seen = tape.volume;
    const std::int64_t moved = last.value - b.reference.value;
    if (moved <= instrument.breaker_move && -moved <= instrument.breaker_move) return false;
    // The next window begins at the price at which this one ended.
    b.window_end = std::numeric_limits<std::int64_t>::min();
    b.pending_low = std::min(b.pending_low, writer_.traded_low());
    b.pending_high = std::max(b.pending_high, writer_.traded_high());
    halt_product(book);
    return true;
}

void facility::state_machine::halt_product(std::uint32_t book) noexcept {
    const domain::instrument& breaker = instruments_[book];
    const bool auctions = breaker.volatility_auction != 0;
    const std::int64_t length = auctions ? breaker.volatility_auction : breaker.breaker_halt;
    std::int64_t resume = 0;
    if (length != 0 && __builtin_add_overflow(now_.value, length, &resume)) resume = 0;
    const auto halt = [&](std::uint32_t other) {
        ++steps_;
        const book_rules& before = rules_.book(other);
        // A book that collects orders or is closed does not trade.
        if (domain::collects(before.phase) || before.phase == trading_phase::closed) return;
        if (before.phase == trading_phase::halted &&
            (before.resume_time == 0 || (resume != 0 && resume <= before.resume_time))) {
            return;  // halted for longer
        }
        enter_phase(other, auctions ? trading_phase::volatility_auction : trading_phase::halted, resume,
                    reject_reason::circuit_breaker);
    };
    if (breaker.product.value == 0) {
        halt(book);
    } else {
        for (const product_book& p : books_of(breaker.product)) halt(p.book);
    }
    next_resume_ = rules_.next_resume();
}

}  // namespace corro::facility
