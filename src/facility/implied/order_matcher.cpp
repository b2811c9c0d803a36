// SPDX-License-Identifier: Apache-2.0
#include "facility/implied/order_matcher.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "facility/limits.hpp"
#include "facility/messages/message_writer_fills.hpp"

namespace corro::facility {

using domain::no_price;
using domain::price_ticks;
using domain::reject_reason;
using domain::side;
using matching::aggressor;
using matching::entry;
using matching::entry_result;

namespace {

/// Whether price `a` of side `s` is at least as good as `b` for an order on the other side.
[[nodiscard]] bool is_as_good(side s, price_ticks a, price_ticks b) noexcept {
    return s == side::buy ? a >= b : a <= b;
}

/// Whether an order reaches a price of the other side. False for `no_price`.
[[nodiscard]] bool reaches(const entry& e, price_ticks price) noexcept {
    return price != no_price && (e.is_market || is_as_good(domain::opposite(e.side), price, e.price));
}

}  // namespace

// --- Prices ----------------------------------------------------------------------------------------------------------

price_ticks order_matcher::best_price(std::uint32_t book, side s) const noexcept {
    const price_ticks direct = engine_.best(book, s).price;
    if (!implied_.takes_part(book)) return direct;
    const price_ticks implied = implied_.best(book, s).price;
    if (direct == no_price || implied == no_price) return direct == no_price ? implied : direct;
    return is_as_good(s, direct, implied) ? direct : implied;
}

bool order_matcher::would_trade(std::uint32_t book, side s, price_ticks price) const noexcept {
    if (!implied_.takes_part(book)) return engine_.would_trade(book, s, price);
    return reaches({.book = book, .side = s, .price = price}, best_price(book, domain::opposite(s)));
}

// --- An order on its way ---------------------------------------------------------------------------------------------

entry_result order_matcher::enter_implied(const entry& e) noexcept {
    implied_.refresh(engine_);
    const price_ticks implied = implied_.best(e.book, domain::opposite(e.side)).price;
    // No trade in its own book can bring an implied price into its reach.
    if (!reaches(e, implied) || e.rest == matching::remainder::never_arises) return engine_.enter(e, writer_);
    if (e.post_only) return {.reason = reject_reason::would_take_liquidity};
    if (e.minimum == 0) return match_implied(engine_.launch(e), e);
    // Only the order's own book counts for its minimum. That book trades first, so that what was counted trades.
    if (const reject_reason reason = engine_.check_fill(e, e.minimum); reason != reject_reason::none) {
        return {.reason = reason};
    }
    aggressor incoming = engine_.launch(e);
    engine_.trade(incoming, e, no_price, writer_);
    return match_implied(incoming, e);
}

entry_result order_matcher::match_implied(aggressor incoming, const entry& e) noexcept {
    const side against = domain::opposite(e.side);
    bool is_limited = false;
    for (std::uint32_t steps = 0; incoming.open != 0 && !incoming.is_stopped;) {
        implied_.refresh(engine_);
        const price_ticks implied = implied_.best(e.book, against).price;
        const price_ticks direct = engine_.best(e.book, against).price;
        const bool has_implied = reaches(e, implied);
        if (reaches(e, direct) && (!has_implied || is_as_good(against, direct, implied))) {
            engine_.trade(incoming, e, has_implied ? implied : no_price, writer_);
        } else if (!has_implied) {
            break;
        } else if (steps == implied_steps_max) {
            is_limited = true;
            incoming.is_stopped = true;
            incoming.taken_out = incoming.open;
            incoming.open = 0;
        } else {
            ++steps;
            step(incoming, e, implied);
        }
    }
    entry_result result = engine_.land(e, incoming, writer_);
    if (is_limited) result.reason = reject_reason::implied_limit;
    return result;
}

void order_matcher::step(aggressor& incoming, const entry& e, price_ticks price) noexcept {
    const implied_books::combination& c = implied_.first_at_best(e.book, domain::opposite(e.side));
    std::array<std::uint32_t, 2> partners{};
    std::uint32_t lots = incoming.open;
    for (std::size_t i = 0; i < partners.size(); ++i) {
        const implied_books::partner& p = c.partners[i];
        partners[i] = engine_.first_order(p.book, p.side_for(domain::opposite(e.side)));
        lots = std::min(lots, engine_.order_at(partners[i]).open);
    }
    for (const std::uint32_t slot : partners) {
        if (engine_.prevent(slot, incoming, writer_)) return;
    }
    incoming.open -= lots;
    incoming.is_known = true;
    implied_fill f{.strategy = c.strategy, .quantity = lots};
    f.parties[0] = {.order = engine_.id_of_incoming(incoming),
                    .slot = engine_.slot_of_incoming(incoming),
                    .book = e.book,
                    .side = e.side,
                    .price = price,
                    .leaves = incoming.open,
                    .rests = false};
    fill_implied(f, c, partners[0], partners[1]);
}

void order_matcher::fill_implied(implied_fill& f, const implied_books::combination& c, std::uint32_t first,
                                 std::uint32_t second) noexcept {
    const std::array<std::uint32_t, 2> slots{first, second};
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const matching::crossing taken = engine_.take(slots[i], f.quantity);
        f.parties[i + 1] = {.order = taken.order,
                            .slot = taken.slot,
                            .book = c.partners[i].book,
                            .side = taken.level.side,
                            .price = taken.level.price,
                            .leaves = taken.open + taken.hidden,
                            .rests = true,
                            .taken = taken};
        implied_.note_trade(c.partners[i].book, taken.level.price);
    }
    writer_.implied_filled(f);
    for (const implied_fill::party& p : f.parties) {
        if (p.rests) engine_.finish_taking(p.taken, writer_);
    }
}

// --- Books that go on ------------------------------------------------------------------------------------------------

bool order_matcher::trade_crossed(std::uint32_t book, side s) noexcept {
    bool has_traded = false;
    for (;; has_traded = true) {
        implied_.refresh(engine_);
        const price_ticks implied = implied_.best(book, domain::opposite(s)).price;
        const price_ticks direct = engine_.best(book, s).price;
        if (implied == no_price || direct == no_price || !is_as_good(s, direct, implied)) return has_traded;
        const implied_books::combination& c = implied_.first_at_best(book, domain::opposite(s));
        const std::uint32_t slot = engine_.first_order(book, s);
        std::array<std::uint32_t, 2> partners{};
        implied_fill f{.strategy = c.strategy, .quantity = engine_.order_at(slot).open};
        for (std::size_t i = 0; i < partners.size(); ++i) {
            const implied_books::partner& p = c.partners[i];
            partners[i] = engine_.first_order(p.book, p.side_for(domain::opposite(s)));
            f.quantity = std::min(f.quantity, engine_.order_at(partners[i]).open);
        }
        const matching::crossing taken = engine_.take(slot, f.quantity);
        f.parties[0] = {.order = taken.order,
                        .slot = slot,
                        .book = book,
                        .side = s,
                        .price = implied,
                        .leaves = taken.open + taken.hidden,
                        .rests = true,
                        .taken = taken};
        implied_.note_trade(book, implied);
        fill_implied(f, c, partners[0], partners[1]);
    }
}

// --- In public -------------------------------------------------------------------------------------------------------

void order_matcher::publish_implied() noexcept {
    implied_.refresh(engine_);
    implied_.publish([this](std::uint32_t book, const domain::top& top) { writer_.implied_top(book, top); });
}

void order_matcher::restore_implied_tops() noexcept {
    implied_.refresh(engine_);
    implied_.publish([](std::uint32_t, const domain::top&) {});
}

}  // namespace corro::facility
