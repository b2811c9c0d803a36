// SPDX-License-Identifier: Apache-2.0
#include "facility/implied/implied_books.hpp"

#include <algorithm>

namespace corro::facility {

using domain::side;

namespace {

/// Whether price `a` of side `s` is better than `b` for an order on the other side.
[[nodiscard]] bool is_better(side s, domain::price_ticks a, domain::price_ticks b) noexcept {
    return s == side::buy ? a > b : a < b;
}

}  // namespace

implied_books::implied_books(std::span<const domain::instrument> instruments, const risk::strategies& all,
                             std::uint32_t books_max)
    : takes_part_(books_max), is_noted_(books_max, 1), books_(books_max) {
    std::vector<std::vector<combination>> seen_from(instruments.size());
    for (std::uint32_t strategy = 0; strategy < instruments.size(); ++strategy) {
        if (!instruments[strategy].implied) continue;
        const std::span<const risk::strategy_leg> legs = all.legs(strategy);
        const bool first_is_bought = legs[0].side == side::buy;
        // A price of the strategy is the price of the bought leg minus the price of the sold leg.
        seen_from[legs[0].book].push_back({{{{legs[1].book, true}, {strategy, first_is_bought}}}, strategy});
        seen_from[legs[1].book].push_back({{{{legs[0].book, true}, {strategy, !first_is_bought}}}, strategy});
        seen_from[strategy].push_back(
            {{{{legs[0].book, first_is_bought}, {legs[1].book, !first_is_bought}}}, strategy});
        for (const std::uint32_t book : {legs[0].book, legs[1].book, strategy}) takes_part_[book] = 1;
    }
    std::vector<std::vector<link>> links_from(instruments.size());
    for (std::uint32_t book = 0; book < instruments.size(); ++book) {
        books_[book].combinations = {static_cast<std::uint32_t>(combinations_.size()),
                                     static_cast<std::uint32_t>(seen_from[book].size())};
        for (const combination& c : seen_from[book]) {
            for (const partner& p : c.partners) {
                links_from[p.book].push_back({book, static_cast<std::uint32_t>(combinations_.size()), p.same_side});
            }
            combinations_.push_back(c);
        }
        if (takes_part(book)) is_noted_[book] = 0;
    }
    for (std::uint32_t book = 0; book < instruments.size(); ++book) {
        books_[book].links = {static_cast<std::uint32_t>(links_.size()),
                              static_cast<std::uint32_t>(links_from[book].size())};
        links_.insert(links_.end(), links_from[book].begin(), links_from[book].end());
    }
    values_.resize(combinations_.size());
    noted_.reserve(instruments.size());
    changed_.reserve(instruments.size());
    traded_.reserve(instruments.size());
}

implied_books::level implied_books::value_of(const combination& c, side s) const noexcept {
    std::int64_t price = 0;
    std::uint64_t quantity = ~std::uint64_t{0};
    for (const partner& p : c.partners) {
        const level& top = books_[p.book].top[static_cast<std::size_t>(p.side_for(s))];
        if (top.price == domain::no_price) return {};
        price += p.same_side ? top.price.value : -top.price.value;
        quantity = std::min(quantity, top.quantity);
    }
    return {domain::price_ticks{price}, quantity};
}

void implied_books::refresh(const matching::engine& engine) noexcept {
    for (const std::uint32_t book : noted_) {
        is_noted_[book] = 0;
        book_state& b = books_[book];
        for (const side s : {side::buy, side::sell}) {
            level now;
            if (b.matches) {
                const matching::level_state direct = engine.best(book, s);
                now = {direct.price, direct.volume};
            }
            level& top = b.top[static_cast<std::size_t>(s)];
            if (now == top) continue;
            top = now;
            for (std::uint32_t i = 0; i < b.links.count; ++i) update(links_[b.links.first + i], s);
        }
    }
    noted_.clear();
}

void implied_books::update(const link& l, side changed) noexcept {
    const side s = l.same_side ? changed : domain::opposite(changed);
    const auto at = static_cast<std::size_t>(s);
    level& value = values_[l.at][at];
    const level before = value;
    const level now = value_of(combinations_[l.at], s);
    if (now == before) return;
    value = now;
    level& best = books_[l.target].best[at];
    const bool was_at_best = before.price != domain::no_price && before.price == best.price;
    const bool exists = now.price != domain::no_price;
    if (exists && (best.price == domain::no_price || is_better(s, now.price, best.price))) {
        best = now;
    } else if (exists && now.price == best.price) {
        best.quantity += now.quantity - (was_at_best ? before.quantity : 0);
    } else if (!was_at_best) {
        return;
    } else if (best.quantity -= before.quantity; best.quantity == 0) {
        find_best(l.target, s);
    }
    change(l.target);
}

void implied_books::find_best(std::uint32_t book, side s) noexcept {
    const auto at = static_cast<std::size_t>(s);
    const range mine = books_[book].combinations;
    level best;
    for (std::uint32_t i = mine.first; i < mine.first + mine.count; ++i) {
        const level& value = values_[i][at];
        if (value.price == domain::no_price) continue;
        if (best.price == domain::no_price || is_better(s, value.price, best.price)) {
            best = value;
        } else if (value.price == best.price) {
            best.quantity += value.quantity;
        }
    }
    books_[book].best[at] = best;
}

const implied_books::combination& implied_books::first_at_best(std::uint32_t book, side s) const noexcept {
    const auto at = static_cast<std::size_t>(s);
    std::uint32_t i = books_[book].combinations.first;
    while (values_[i][at].price != books_[book].best[at].price) ++i;
    return combinations_[i];
}

void implied_books::sort_changed() noexcept {
    // The changes of one best level are already in order.
    if (!std::is_sorted(changed_.begin(), changed_.end())) std::sort(changed_.begin(), changed_.end());
}

void implied_books::note_trade(std::uint32_t book, domain::price_ticks price) noexcept {
    const auto at = std::lower_bound(traded_.begin(), traded_.end(), book,
                                     [](const traded_range& t, std::uint32_t b) { return t.book < b; });
    if (at != traded_.end() && at->book == book) {
        at->low = std::min(at->low, price);
        at->high = std::max(at->high, price);
    } else {
        traded_.insert(at, {book, price, price});
    }
}

implied_books::traded_range implied_books::next_traded() noexcept {
    const traded_range first = traded_.front();
    traded_.erase(traded_.begin());
    return first;
}

}  // namespace corro::facility
