// SPDX-License-Identifier: Apache-2.0
// Invariants of strategies, checked on every message. They use only the definitions and the messages. For tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/int128.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"

namespace corro::facility::testing {

class strategy_laws {
 public:
    explicit strategy_laws(std::span<const domain::instrument> instruments) {
        for (const domain::instrument& i : instruments) instruments_[i.id.value] = i;
    }

    /// The messages of one command. Returns the first law that they break, or an empty text.
    [[nodiscard]] std::string check(std::span<const domain::event> events) {
        for (const domain::event& e : events) {
            if (domain::is_definition(e.kind) && definitions_.take(e)) {
                const domain::definition& d = definitions_.get();
                instruments_[d.id.value] = domain::define_like(instruments_.at(d.like.value), d).value;
            }
            const std::string broken = check(e);
            if (!broken.empty()) return broken;
        }
        return fill_ ? "the messages of the last leg are missing" : "";
    }

    /// The position according to the messages.
    [[nodiscard]] std::int64_t position_of(std::uint32_t account, std::uint32_t instrument) const {
        const auto at = positions_.find({instrument, account});
        return at == positions_.end() ? 0 : at->second;
    }
    [[nodiscard]] std::uint64_t legs_traded() const { return legs_traded_; }

 private:
    using event_kind = domain::event_kind;
    struct party {
        domain::order_id order{};
        domain::account_id account{};
        domain::session_id session{};
        friend bool operator==(const party&, const party&) = default;
    };
    /// A trade of a strategy whose legs follow.
    struct fill {
        domain::trade_id trade{};
        const domain::instrument* strategy = nullptr;
        domain::price_ticks price{};
        domain::quantity_lots quantity{};
        std::size_t leg = 0;
        int step = 0;  ///< within the leg: the buyer's record, the seller's, the tape, the statistics
        std::int64_t leg_price = 0;
        base::int128 sum = 0;
    };

    [[nodiscard]] std::string check(const domain::event& e) {
        switch (e.kind) {
            case event_kind::trade_capture: return captured(e);
            case event_kind::trade: return traded(e);
            case event_kind::leg_capture: return leg_captured(e);
            case event_kind::leg_trade: return leg_traded(e);
            case event_kind::statistics: return counted(e);
            case event_kind::price_update:
                return fill_ && fill_->step != 0 ? "a leg's share of a price is not a price of the leg's book" : "";
            case event_kind::order_executed:
                if (e.execution.quantity.value == 0) return "a fill of nothing";
                return e.execution.quantity.value + std::uint64_t{e.execution.leaves.value} >
                               domain::order_quantity_lots_max
                           ? "an order has more lots than an order may have"
                           : "";
            default: return {};
        }
    }
    [[nodiscard]] std::string captured(const domain::event& e) {
        if (e.capture.quantity.value == 0) return "a record of nothing";
        const bool has_legs = instruments_.at(e.instrument.value).legs_count != 0;
        (e.side == domain::side::buy ? buyer_ : seller_) = {e.capture.order, e.capture.account, e.capture.session};
        if (!has_legs) move(e.instrument.value, e.capture.account.value, e.side, e.capture.quantity.value);
        return has_legs && e.capture.order.value == 0 ? "an account had a position in a strategy at its settlement"
                                                      : "";
    }
    [[nodiscard]] std::string traded(const domain::event& e) {
        if (fill_) return "a trade before the legs of the one before it";
        volumes_[e.instrument.value] += e.trade.quantity.value;
        const domain::instrument& i = instruments_.at(e.instrument.value);
        turnovers_[e.instrument.value] += static_cast<base::int128>(e.trade.price.value) * e.trade.quantity.value;
        // The legs of an implied fill are trades of their own books.
        const bool is_implied = (e.flags & domain::event_flag::implied) != 0;
        if (i.legs_count != 0 && !is_implied) fill_ = {e.trade.trade, &i, e.trade.price, e.trade.quantity, 0, 0, 0, 0};
        return {};
    }
    [[nodiscard]] std::string leg_captured(const domain::event& e) {
        if ((e.flags & domain::event_flag::implied) != 0) {
            move(e.instrument.value, e.leg_fill.account.value, e.side, e.leg_fill.quantity.value);
            return fill_ ? "an implied fill before the legs of the trade before it" : "";
        }
        if (!fill_ || fill_->step > 1) return "a record of a leg out of its turn";
        const domain::leg& leg = fill_->strategy->legs[fill_->leg];
        const domain::side told = fill_->step == 0 ? domain::side::buy : domain::side::sell;
        const bool is_strategy_buyer = leg.side == told;
        if (e.instrument != leg.instrument || e.side != told) return "the legs are in another order";
        if (e.leg_fill.trade != fill_->trade) return "the record of a leg has another trade";
        if (e.leg_fill.quantity.value != std::uint64_t{fill_->quantity.value} * leg.ratio) return "a leg's ratio";
        if (party{e.leg_fill.order, e.leg_fill.account, e.leg_fill.session} != (is_strategy_buyer ? buyer_ : seller_)) {
            return "the buyer of the strategy has the definition's side in each leg";
        }
        if (fill_->step == 1 && e.leg_fill.price != fill_->leg_price) return "both sides of a leg have one price";
        fill_->leg_price = e.leg_fill.price;
        ++fill_->step;
        move(e.instrument.value, e.leg_fill.account.value, e.side, e.leg_fill.quantity.value);
        return {};
    }
    [[nodiscard]] std::string leg_traded(const domain::event& e) {
        if (!fill_ || fill_->step != 2) return "the tape of a leg out of its turn";
        const domain::leg& leg = fill_->strategy->legs[fill_->leg];
        const std::uint64_t lots = std::uint64_t{fill_->quantity.value} * leg.ratio;
        if (e.instrument != leg.instrument || e.leg_fill.price != fill_->leg_price ||
            e.leg_fill.quantity.value != lots || e.leg_fill.trade != fill_->trade) {
            return "the tape and the records of a leg agree";
        }
        volumes_[e.instrument.value] += lots;
        const base::int128 part = static_cast<base::int128>(e.leg_fill.price) * leg.ratio;
        fill_->sum += leg.side == domain::side::buy ? part : -part;
        ++fill_->step;
        ++legs_traded_;
        return {};
    }
    [[nodiscard]] std::string counted(const domain::event& e) {
        const bool begins_day = !fill_ && e.volumes.volume.value == 0;
        if (begins_day) {
            volumes_[e.instrument.value] = 0;
            turnovers_[e.instrument.value] = 0;
        }
        if (e.volumes.volume.value != volumes_[e.instrument.value]) return "volume counts each lot that traded once";
        if (static_cast<base::int128>(e.volumes.turnover) != turnovers_[e.instrument.value]) {
            return "turnover counts only the trades of the book itself";
        }
        if (e.volumes.open_interest.value != longs_of(e.instrument.value))
            return "open interest is the sum of the long positions";
        if (begins_day) return {};
        if (!fill_ || fill_->step == 0) {
            const bool is_strategy = instruments_.at(e.instrument.value).legs_count != 0;
            return is_strategy && e.volumes.open_interest.value != 0 ? "no account has a position in a strategy" : "";
        }
        if (fill_->step != 3 || e.instrument != fill_->strategy->legs[fill_->leg].instrument) {
            return "the statistics of a leg out of their turn";
        }
        fill_->step = 0;
        if (++fill_->leg < fill_->strategy->legs_count) return {};
        const base::int128 whole = static_cast<base::int128>(fill_->price.value) * fill_->strategy->tick_size.value;
        const bool is_exact = fill_->sum == whole;
        fill_.reset();
        return is_exact ? "" : "the prices of the legs add up to the price of the strategy";
    }
    void move(std::uint32_t instrument, std::uint32_t account, domain::side s, std::uint64_t lots) {
        const auto signed_lots = static_cast<std::int64_t>(lots);
        positions_[{instrument, account}] += s == domain::side::buy ? signed_lots : -signed_lots;
    }
    [[nodiscard]] std::uint64_t longs_of(std::uint32_t instrument) const {
        std::uint64_t sum = 0;
        for (auto at = positions_.lower_bound({instrument, 0}); at != positions_.end(); ++at) {
            if (at->first.first != instrument) break;
            if (at->second > 0) sum += static_cast<std::uint64_t>(at->second);
        }
        return sum;
    }

    domain::definition_reader definitions_;
    std::map<std::uint32_t, domain::instrument> instruments_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> positions_;  ///< by instrument and account
    std::map<std::uint32_t, std::uint64_t> volumes_;
    std::map<std::uint32_t, base::int128> turnovers_;
    party buyer_, seller_;  ///< of the current trade
    std::optional<fill> fill_;
    std::uint64_t legs_traded_ = 0;
};

}  // namespace corro::facility::testing
