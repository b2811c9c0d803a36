// Phases that collect orders, the uncross, and the end of an instrument. See docs/spec/phases.md.

#include <algorithm>
#include <limits>

#include "facility/limits.hpp"
#include "facility/state_machine.hpp"

namespace corro::facility {

using domain::command;
using domain::order_type;
using domain::reject_reason;
using domain::time_in_force;
using domain::trading_phase;

// --- Which orders a phase takes --------------------------------------------------------------------------------------

reject_reason facility::state_machine::check_phase(const command& c, std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const trading_phase phase = rules_.book(book).phase;
    const bool opens = phase == trading_phase::pre_open || phase == trading_phase::opening_auction;
    if ((t.time_in_force == time_in_force::at_the_open && !opens) ||
        (t.time_in_force == time_in_force::at_the_close && phase != trading_phase::closing_auction)) {
        return reject_reason::not_in_this_phase;
    }
    if (!domain::collects(phase) || t.type >= order_type::stop) return reject_reason::none;
    const bool can_collect = t.type == order_type::limit && domain::is_lasting(t.time_in_force) &&
                             (o.flags & domain::order_flag::of_price) == 0 && o.minimum_quantity.value == 0;
    return can_collect ? reject_reason::none : reject_reason::not_in_this_phase;
}

bool facility::state_machine::starts_auction(const command& c, std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    return instruments_[book].volatility_auction != 0 && t.type == order_type::limit &&
           domain::is_lasting(t.time_in_force) && (o.flags & domain::order_flag::of_price) == 0 &&
           o.minimum_quantity.value == 0;
}

void facility::state_machine::start_volatility_auction(std::uint32_t book, reject_reason reason) noexcept {
    std::int64_t end = 0;
    if (__builtin_add_overflow(now_.value, instruments_[book].volatility_auction, &end)) end = 0;
    enter_phase(book, trading_phase::volatility_auction, end, reason);
    next_resume_ = rules_.next_resume();
}

// --- From phase to phase ---------------------------------------------------------------------------------------------

void facility::state_machine::enter_phase(std::uint32_t book, trading_phase phase, std::int64_t resume_time,
                                          reject_reason reason) noexcept {
    book_rules& b = rules_.book(book);
    const bool matches = phase == trading_phase::continuous || phase == trading_phase::closed;
    if (matches && b.owes_uncross) uncross(book);
    if (phase == trading_phase::closed) end_day(book);
    b.resumes_now = phase == trading_phase::continuous && b.phase != trading_phase::continuous;
    if (b.resumes_now) resuming_.push_back(book);
    b.owes_uncross = b.owes_uncross || domain::collects(phase);
    b.indicative = {};
    writer_.curve(book) = {};
    rules_.set_phase(book, phase, resume_time);
    writer_.watch(rules_.is_any_collecting());
    implied_.set_matching(book, phase == trading_phase::continuous);
    if (domain::collects(phase)) writer_.touch(book);
    writer_.phase_changed(book, phase, resume_time, reason);
}

void facility::state_machine::uncross(std::uint32_t book) noexcept {
    book_rules& b = rules_.book(book);
    const domain::price_ticks last = writer_.tape(book).prices.last;
    matching::auction_curve whole;
    const matching::equilibrium found =
        engine_.find_equilibrium(book, last, std::numeric_limits<std::uint32_t>::max(), whole);
    writer_.auction(domain::event_kind::auction_ended, book, found);
    writer_.announce_entry(false);
    // Waiting orders see the auction's price. Orders that came during the auction also see the last price before it.
    for (const domain::price_ticks seen : {last, found.price}) {
        if (seen == domain::no_price) continue;
        b.pending_low = std::min(b.pending_low, seen);
        b.pending_high = std::max(b.pending_high, seen);
    }
    if (found.volume != 0) {
        engine_.uncross(book, found.price, writer_);
        if (instruments_[book].breaker_move != 0) {
            // The circuit breaker's next window begins at the auction's price.
            b.window_end = std::numeric_limits<std::int64_t>::min();
            b.last_seen = found.price;
            b.volume_seen = writer_.tape(book).volume;
        }
        withdraw_tripped();
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

void facility::state_machine::end_day(std::uint32_t book) noexcept {
    writer_.withdraw_for(reject_reason::expired);
    engine_.cancel_book(
        book,
        [&](std::uint32_t slot) {
            const time_in_force t = orders_[slot].time_in_force;
            return (orders_[slot].flags & quote_mark) != 0 || (t != time_in_force::gtc && t != time_in_force::gtd);
        },
        writer_, matching::removal::expelled);
}

void facility::state_machine::publish_indicatives() noexcept {
    writer_.visit_touched([&](std::uint32_t book) {
        book_rules& b = rules_.book(book);
        if (!domain::collects(b.phase) || b.phase == trading_phase::pre_open) return;
        const matching::equilibrium now =
            engine_.find_equilibrium(book, writer_.tape(book).prices.last, indicative_levels_max, writer_.curve(book));
        if (!now.is_known || (now.price == b.indicative.price && now.volume == b.indicative.volume &&
                              now.imbalance == b.indicative.imbalance)) {
            return;
        }
        b.indicative = now;
        writer_.auction(domain::event_kind::auction_indicative, book, now);
    });
}

// --- The end of an instrument ----------------------------------------------------------------------------------------

void facility::state_machine::settle_instrument(const command& c) noexcept {
    const domain::settle_instrument& settled = c.settle_instrument();
    if (!c.is_operator()) return refuse(c, reject_reason::not_authorised);
    const std::uint32_t book = book_of(c.instrument);
    if (book == none) return refuse(c, reject_reason::unknown_instrument);
    book_rules& b = rules_.book(book);
    if (b.is_settled) return refuse(c, reject_reason::instrument_settled);
    if (settled.price.value > domain::price_ticks_max || settled.price.value < -domain::price_ticks_max) {
        return refuse(c, reject_reason::invalid_price);
    }
    writer_.withdraw_for(reject_reason::instrument_settled);
    engine_.cancel_book(book, [](std::uint32_t) { return true; }, writer_, matching::removal::expelled);
    const std::uint64_t open_interest = positions_.open_interest(book);
    for (std::uint32_t slot = 0; slot < positions_.count(); ++slot) {
        if (positions_[slot].instrument != book || positions_[slot].lots == 0) continue;
        const std::int64_t lots = positions_.settle(slot);
        writer_.position_settled(book, positions_[slot].account, lots, settled.price);
    }
    writer_.instrument_settled(book, settled.price, open_interest);
    b.is_settled = true;
    b.owes_uncross = b.has_auction_orders = false;
    enter_phase(book, trading_phase::closed, 0, reject_reason::instrument_settled);
    next_resume_ = rules_.next_resume();
    writer_.request_done(c.instrument, c.account);
}

}  // namespace corro::facility
