// SPDX-License-Identifier: Apache-2.0
// Invariants of implied matching, checked on every message. They are computed from the public feed alone, by trying
// every pair of levels. For tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "domain/event.hpp"
#include "domain/instrument.hpp"

namespace corro::facility::testing {

class implied_laws {
 public:
    explicit implied_laws(std::span<const domain::instrument> instruments) {
        for (const domain::instrument& i : instruments) {
            ticks_[i.id.value] = i.tick_size.value;
            said_[i.id.value] = {domain::no_price, {}, domain::no_price, {}, {}};
            if (!i.implied) continue;
            const bool in_order = i.legs[0].side == domain::side::buy;
            triangles_.push_back(
                {i.id.value, i.legs[in_order ? 0 : 1].instrument.value, i.legs[in_order ? 1 : 0].instrument.value});
        }
    }

    /// The messages of one command. Returns the first law that they break, or an empty text.
    [[nodiscard]] std::string check(std::span<const domain::event> events) {
        for (const domain::event& e : events) {
            if (e.kind == domain::event_kind::instrument_defined) {
                ticks_[e.instrument.value] = ticks_.at(e.defined.like.value);
                said_[e.instrument.value] = {domain::no_price, {}, domain::no_price, {}, {}};
            }
            std::string broken = check(e);
            if (!broken.empty()) return broken;
        }
        if (!fill_.empty()) return "a fill of less than three orders";
        for (const triangle& t : triangles_) {
            if (works(t) && is_crossed(t)) return "no book of a triangle is locked or crossed with the two others";
        }
        for (const auto& [instrument, said] : said_) {
            const domain::top now = imply(instrument);
            if (now.bid_price != said.bid_price || now.ask_price != said.ask_price) {
                return "the published price is the best of all combinations";
            }
            if (now.bid_quantity != said.bid_quantity || now.ask_quantity != said.ask_quantity) {
                return "the published quantity is that of all combinations at the price";
            }
        }
        return {};
    }
    [[nodiscard]] std::uint64_t fills() const { return fills_; }

 private:
    using event_kind = domain::event_kind;
    using side = domain::side;
    struct triangle {
        std::uint32_t strategy = 0, bought = 0, sold = 0;
    };
    struct resting {
        std::uint32_t instrument = 0;
        side on = side::buy;
        std::int64_t price = 0;
        std::uint64_t lots = 0;
    };
    /// One of two partner books with the side on which it takes part, and the sign of its price.
    struct part {
        std::uint32_t instrument = 0;
        side on = side::buy;
        std::int64_t sign = 1;
    };
    using levels = std::map<std::int64_t, std::uint64_t>;  // lots by price

    [[nodiscard]] std::string check(const domain::event& e) {
        switch (e.kind) {
            case event_kind::phase_changed: phases_[e.instrument.value] = e.phase.phase; return {};
            case event_kind::implied_top: said_[e.instrument.value] = e.top; return {};
            case event_kind::order_added:
                move_level(e, 0, e.book.quantity.value);
                queues_[{e.instrument.value, e.side}][e.book.price.value].push_back(e.book.order);
                orders_[e.book.order] = {e.instrument.value, e.side, e.book.price.value, e.book.quantity.value};
                return {};
            case event_kind::order_reduced:
            case event_kind::order_deleted:
                move_level(e, e.book.change.value, 0);
                orders_[e.book.order].lots -= e.book.change.value;
                if (e.kind == event_kind::order_deleted) leave(e);
                return {};
            case event_kind::order_executed:
                if (is_implied(e)) return executed(e);
                return fill_.empty() ? "" : "all three orders of a fill trade at once";
            case event_kind::leg_capture: return is_implied(e) ? leg_captured(e) : "";
            default: return {};
        }
    }
    [[nodiscard]] static bool is_implied(const domain::event& e) {
        return (e.flags & domain::event_flag::implied) != 0;
    }
    [[nodiscard]] std::string executed(const domain::event& e) {
        const bool takes = (e.flags & domain::event_flag::aggressor) != 0;
        if (takes != fill_.empty()) return "one order is the aggressor, two are not";
        if (!fill_.empty() && fill_.front().execution.quantity != e.execution.quantity) {
            return "all three orders of a fill trade the same quantity";
        }
        if (takes) {
            for (const auto& [price, lots] : levels_[{e.instrument.value, domain::opposite(e.side)}]) {
                const bool is_as_good =
                    e.side == side::buy ? price <= e.execution.price.value : price >= e.execution.price.value;
                if (is_as_good) return "direct orders come before what is implied at the same price";
            }
        } else {
            const auto at = orders_.find(e.execution.order);
            if (at == orders_.end() || at->second.price != e.execution.price.value ||
                at->second.lots < e.execution.quantity.value) {
                return "a partner is a displayed order, at its own price";
            }
            const auto& own = queues_[{e.instrument.value, e.side}];
            const auto& best = e.side == side::buy ? own.rbegin()->second : own.begin()->second;
            if (best.front() != e.execution.order) return "a partner is the first order of its side";
        }
        fill_.push_back(e);
        return fill_.size() == 3 ? finished() : "";
    }
    [[nodiscard]] std::string finished() {
        last_ = std::exchange(fill_, {});
        ++fills_;
        const auto of = [&](std::uint32_t instrument) {
            return std::ranges::find(last_, instrument, [](const domain::event& e) { return e.instrument.value; });
        };
        for (const triangle& t : triangles_) {
            const auto s = of(t.strategy);
            const auto a = of(t.bought);
            const auto b = of(t.sold);
            if (s == last_.end() || a == last_.end() || b == last_.end()) continue;
            if (!works(t)) return "a book that does not match is not for sale";
            if (a->side == s->side || b->side != s->side) return "what one sells another buys";
            const bool fits = s->execution.price.value == a->execution.price.value - b->execution.price.value;
            return fits ? "" : "the prices of the three fit exactly";
        }
        return "the three orders are of one triangle";
    }
    [[nodiscard]] std::string leg_captured(const domain::event& e) const {
        for (const domain::event& x : last_) {
            if (x.instrument != e.instrument) continue;
            const bool fits = e.leg_fill.price == x.execution.price.value * ticks_.at(e.instrument.value) &&
                              e.leg_fill.quantity == x.execution.quantity && e.side != x.side;
            return fits ? "" : "a leg of the strategy's trade is the trade of that leg";
        }
        return "a leg of no fill";
    }
    void leave(const domain::event& e) {
        orders_.erase(e.book.order);
        auto& own = queues_[{e.instrument.value, e.side}];
        auto& queue = own[e.book.price.value];
        std::erase(queue, e.book.order);
        if (queue.empty()) own.erase(e.book.price.value);
    }
    void move_level(const domain::event& e, std::uint64_t less, std::uint64_t more) {
        levels& l = levels_[{e.instrument.value, e.side}];
        const auto at = l.try_emplace(e.book.price.value, 0).first;
        at->second = at->second + more - less;
        if (at->second == 0) l.erase(at);
    }
    [[nodiscard]] bool works(const triangle& t) const {
        return std::ranges::none_of(std::array{t.strategy, t.bought, t.sold}, [&](std::uint32_t i) {
            const auto at = phases_.find(i);
            return at != phases_.end() && at->second != domain::trading_phase::continuous;
        });
    }
    /// Every pair of levels of two books. The best price that it makes, with the smaller quantity of the two.
    [[nodiscard]] std::optional<std::pair<std::int64_t, std::uint64_t>> best_pair(const part& first, const part& second,
                                                                                  side implied) {
        std::optional<std::pair<std::int64_t, std::uint64_t>> best;
        for (const auto& [x, x_lots] : levels_[{first.instrument, first.on}]) {
            for (const auto& [y, y_lots] : levels_[{second.instrument, second.on}]) {
                const std::int64_t price = first.sign * x + second.sign * y;
                if (best && (implied == side::buy ? price <= best->first : price >= best->first)) continue;
                best = {price, std::min(x_lots, y_lots)};
            }
        }
        return best;
    }
    [[nodiscard]] std::optional<std::pair<std::int64_t, std::uint64_t>> seen_from(const triangle& t,
                                                                                  std::uint32_t instrument,
                                                                                  side implied) {
        const side other = domain::opposite(implied);
        if (instrument == t.bought) return best_pair({t.strategy, implied, 1}, {t.sold, implied, 1}, implied);
        if (instrument == t.sold) return best_pair({t.strategy, other, -1}, {t.bought, implied, 1}, implied);
        if (instrument == t.strategy) return best_pair({t.bought, implied, 1}, {t.sold, other, -1}, implied);
        return {};
    }
    [[nodiscard]] domain::top imply(std::uint32_t instrument) {
        domain::top now{domain::no_price, {}, domain::no_price, {}, {}};
        for (const side s : {side::buy, side::sell}) {
            std::map<std::int64_t, std::uint64_t> found;
            for (const triangle& t : triangles_) {
                const auto one = works(t) ? seen_from(t, instrument, s) : std::nullopt;
                if (one) found[one->first] += one->second;
            }
            if (found.empty()) continue;
            const auto& [price, lots] = s == side::buy ? *found.rbegin() : *found.begin();
            (s == side::buy ? now.bid_price : now.ask_price) = domain::price_ticks{price};
            (s == side::buy ? now.bid_quantity : now.ask_quantity) = domain::volume_lots{lots};
        }
        return now;
    }
    [[nodiscard]] bool is_crossed(const triangle& t) {
        const levels& bids = levels_[{t.bought, side::buy}];
        const levels& asks = levels_[{t.bought, side::sell}];
        const auto offered = seen_from(t, t.bought, side::sell);
        const auto wanted = seen_from(t, t.bought, side::buy);
        return (offered && !bids.empty() && bids.rbegin()->first >= offered->first) ||
               (wanted && !asks.empty() && asks.begin()->first <= wanted->first);
    }

    std::map<std::uint32_t, std::int64_t> ticks_;
    std::vector<triangle> triangles_;
    std::map<std::uint32_t, domain::trading_phase> phases_;
    std::map<std::uint32_t, domain::top> said_;
    std::map<domain::order_id, resting> orders_;
    std::map<std::pair<std::uint32_t, side>, levels> levels_;
    std::map<std::pair<std::uint32_t, side>, std::map<std::int64_t, std::deque<domain::order_id>>> queues_;
    std::vector<domain::event> fill_;  ///< its order_executed so far
    std::vector<domain::event> last_;  ///< of the last whole fill
    std::uint64_t fills_ = 0;
};

}  // namespace corro::facility::testing
