// SPDX-License-Identifier: Apache-2.0
#include "facility/phases/trading_schedule.hpp"

#include <limits>

#include "facility/messages/message_writer_fills.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;
using domain::side;
using domain::trading_phase;

// --- Time ------------------------------------------------------------------------------------------------------------

void trading_schedule::process_due_times(domain::time_ns now) noexcept {
    for (;;) {
        const std::int64_t expiry = orders_.expiries().next_due();
        if (expiry != expiry_queue::never && expiry <= now.value && expiry <= phases_.next_resume()) {
            ++steps_;
            writer_.withdraw_for(reject_reason::expired);
            engine_.cancel(orders_.expiries().next_slot(), writer_, matching::removal::expelled);
        } else if (phases_.next_resume() != expiry_queue::never && phases_.next_resume() <= now.value) {
            resume_halted();
        } else {
            break;
        }
    }
    implied_.refresh(engine_);  // the command's checks use the present implied prices
}

void trading_schedule::resume_halted() noexcept {
    const std::int64_t at = phases_.next_resume();
    while (phases_.next_resume() == at) {
        ++steps_;
        const std::uint32_t book = phases_.next_book_to_resume();
        changes_.enter_phase(book, domain::phase_after(phases_[book].phase), 0, reject_reason::none);
    }
    go_on();
}

void trading_schedule::go_on() noexcept {
    steps_ += changes_.resuming().size();
    if (implied_.any()) match_crossed_triangles();
    for (const std::uint32_t book : changes_.resuming()) enter_pending(book);
    changes_.clear_resuming();
    if (!implied_.has_traded()) return;
    stops_.enter_triggered_in_other_books();
    writer_.trades().clear_range();
}

void trading_schedule::enter_pending(std::uint32_t book) noexcept {
    book_phase& b = phases_[book];
    if (!b.resumes_now) return;
    b.resumes_now = false;
    // Another book that resumed at the same moment may have halted them all again. The trades until then are looked at
    // later.
    if (b.phase != trading_phase::continuous) return;
    // Waiting orders see the pending prices and the trades since the book resumed.
    implied_.take_traded_range([&](const implied_books::traded_range& t) {
        if (t.book != book) return false;
        b.delay_stops(t.low, t.high);
        return true;
    });
    if (b.pending_low > b.pending_high) return;
    writer_.trades().set_range(b.pending_low, b.pending_high);
    b.pending_low = domain::price_ticks{std::numeric_limits<std::int64_t>::max()};
    b.pending_high = domain::no_price;
    stops_.enter_triggered_in(book);
    writer_.trades().clear_range();
}

void trading_schedule::match_crossed_triangles() noexcept {
    writer_.announce_entry(false);
    bool has_traded = false;
    for (const std::uint32_t book : changes_.resuming()) {
        if (!phases_[book].resumes_now || !phases_.is_continuous(book) || !implied_.takes_part(book)) continue;
        for (const side s : {side::buy, side::sell}) has_traded = matcher_.trade_crossed(book, s) || has_traded;
    }
    if (!has_traded) return;
    protection_.withdraw_tripped();
    writer_.trades().clear_range();
}

// --- Commands --------------------------------------------------------------------------------------------------------

void trading_schedule::change_phase(const command& c) noexcept {
    const domain::change_phase& wanted = c.change_phase();
    if (!c.is_operator()) return rejections_.refuse(c, reject_reason::not_authorised);
    if (wanted.phase > trading_phase::closed) return rejections_.refuse(c, reject_reason::invalid_combination);
    const bool may_end = wanted.phase == trading_phase::halted || domain::collects(wanted.phase);
    if (may_end && wanted.resume_time.value != 0 && wanted.resume_time <= c.time) {
        return rejections_.refuse(c, reject_reason::invalid_expire_time);
    }
    bool is_any = false;
    bool is_any_settled = false;
    steps_ += instruments_.visit_covered(c.instrument, wanted.product, [&](std::uint32_t book) {
        is_any_settled = is_any_settled || phases_[book].is_settled;
        if (phases_[book].is_settled) return;
        is_any = true;
        changes_.enter_phase(book, wanted.phase, may_end ? wanted.resume_time.value : 0, reject_reason::none);
    });
    if (!is_any) {
        return rejections_.refuse(
            c, is_any_settled ? reject_reason::instrument_settled : reject_reason::unknown_instrument);
    }
    writer_.request_done(c.instrument, c.account);
    go_on();
}

// Keeps the last price: bands, circuit breakers and auctions use it.
void trading_schedule::begin_day(const command& c) noexcept {
    if (!c.is_operator()) return rejections_.refuse(c, reject_reason::not_authorised);
    bool is_any = false;
    bool is_any_settled = false;
    steps_ += instruments_.visit_covered(c.instrument, c.new_trading_day().product, [&](std::uint32_t book) {
        book_phase& b = phases_[book];
        (b.is_settled ? is_any_settled : is_any) = true;
        if (b.is_settled) return;
        b.breaker.forget_volume(writer_.trades()[book].volume);
        writer_.begin_day(book);
    });
    if (!is_any) {
        return rejections_.refuse(
            c, is_any_settled ? reject_reason::instrument_settled : reject_reason::unknown_instrument);
    }
    writer_.request_done(c.instrument, c.account);
}

}  // namespace corro::facility
