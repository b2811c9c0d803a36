// SPDX-License-Identifier: Apache-2.0
#include "facility/phases/phase_changes.hpp"

#include <limits>

#include "facility/limits.hpp"
#include "facility/messages/message_writer_fills.hpp"

namespace corro::facility {

using domain::reject_reason;
using domain::time_in_force;
using domain::trading_phase;

void phase_changes::start_volatility_auction(std::uint32_t book, reject_reason reason) noexcept {
    std::int64_t end = 0;
    if (__builtin_add_overflow(writer_.now().value, instruments_[book].volatility_auction, &end)) end = 0;
    enter_phase(book, trading_phase::volatility_auction, end, reason);
}

// --- From phase to phase ---------------------------------------------------------------------------------------------

void phase_changes::enter_phase(std::uint32_t book, trading_phase phase, std::int64_t resume_time,
                                reject_reason reason) noexcept {
    book_phase& b = phases_[book];
    const bool matches = phase == trading_phase::continuous || phase == trading_phase::closed;
    if (matches && b.owes_uncross) uncross(book);
    if (phase == trading_phase::closed) end_day(book);
    b.resumes_now = phase == trading_phase::continuous && b.phase != trading_phase::continuous;
    if (b.resumes_now) resuming_.push_back(book);
    b.owes_uncross = b.owes_uncross || domain::collects(phase);
    b.indicative = {};
    writer_.changes().curve(book) = {};
    phases_.set(book, phase, resume_time);
    writer_.changes().watch_auctions(phases_.is_any_collecting());
    implied_.set_matching(book, phase == trading_phase::continuous);
    if (domain::collects(phase)) writer_.changes().touch(book);
    writer_.phase_changed(book, phase, resume_time, reason);
}

void phase_changes::uncross(std::uint32_t book) noexcept {
    book_phase& b = phases_[book];
    const domain::price_ticks last = writer_.trades()[book].prices.last;
    matching::auction_curve whole;
    const matching::equilibrium found =
        engine_.find_equilibrium(book, last, std::numeric_limits<std::uint32_t>::max(), whole);
    writer_.auction(domain::event_kind::auction_ended, book, found);
    writer_.announce_entry(false);
    // Waiting orders see the auction's price. Orders that came during the auction also see the last price before it.
    for (const domain::price_ticks seen : {last, found.price}) {
        if (seen != domain::no_price) b.delay_stops(seen, seen);
    }
    if (found.volume != 0) {
        engine_.uncross(book, found.price, writer_);
        if (instruments_[book].breaker_move != 0) b.breaker.restart(found.price, writer_.trades()[book].volume);
        protection_.withdraw_tripped();
    }
    if (b.has_auction_orders) {
        writer_.withdraw_for(reject_reason::expired);
        engine_.cancel_book(
            book, [&](std::uint32_t slot) { return domain::is_for_auction(orders_[slot].time_in_force); }, writer_,
            matching::removal::expelled);
    }
    b.has_auction_orders = false;
    b.owes_uncross = false;
}

void phase_changes::end_day(std::uint32_t book) noexcept {
    writer_.withdraw_for(reject_reason::expired);
    engine_.cancel_book(
        book,
        [&](std::uint32_t slot) {
            const time_in_force t = orders_[slot].time_in_force;
            return (orders_[slot].flags & quote_mark) != 0 || (t != time_in_force::gtc && t != time_in_force::gtd);
        },
        writer_, matching::removal::expelled);
}

void phase_changes::publish_indicatives() noexcept {
    writer_.changes().visit_touched([&](std::uint32_t book) {
        book_phase& b = phases_[book];
        if (!domain::collects(b.phase) || b.phase == trading_phase::pre_open) return;
        const matching::equilibrium now = engine_.find_equilibrium(
            book, writer_.trades()[book].prices.last, indicative_levels_max, writer_.changes().curve(book));
        if (!now.is_known || (now.price == b.indicative.price && now.volume == b.indicative.volume &&
                              now.imbalance == b.indicative.imbalance)) {
            return;
        }
        b.indicative = now;
        writer_.auction(domain::event_kind::auction_indicative, book, now);
    });
}

// --- Halts -----------------------------------------------------------------------------------------------------------

bool phase_changes::breaks_circuit(std::uint32_t book) noexcept {
    book_phase& b = phases_[book];
    const tape_summary& tape = writer_.trades()[book];
    const domain::instrument& i = instruments_[book];
    if (!b.breaker.trips(i.breaker_move, i.breaker_window, writer_.now(), tape.prices.last, tape.volume)) return false;
    b.delay_stops(writer_.trades().low(), writer_.trades().high());
    halt_product(book);
    return true;
}

void phase_changes::halt_product(std::uint32_t book) noexcept {
    const domain::instrument& breaker = instruments_[book];
    const bool auctions = breaker.volatility_auction != 0;
    const std::int64_t length = auctions ? breaker.volatility_auction : breaker.breaker_halt;
    std::int64_t resume = 0;
    if (length != 0 && __builtin_add_overflow(writer_.now().value, length, &resume)) resume = 0;
    const auto halt = [&](std::uint32_t other) {
        ++steps_;
        const book_phase& before = phases_[other];
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
        for (const instrument_table::product_book& p : instruments_.books_of(breaker.product)) halt(p.book);
    }
}

}  // namespace corro::facility
