// SPDX-License-Identifier: Apache-2.0
// Estimates of how much of the trading is informed, from who took: PIN and VPIN.
//
// Units:  lots; shares of 1.
// Cost:   VPIN is linear in the trades; PIN takes some 500 steps over the periods from each of five beginnings.
// Source: docs/spec/market_metrics.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace corro::market {

/// Volume-synchronised: the volume is cut into `buckets_count` buckets of equal volume, and the imbalance of each, as a
/// share of its volume, is averaged. Trades are cut at the ends of buckets. Easley, Lopez de Prado and O'Hara (2012).
///
/// @param signed_lots  Of each trade, in order: positive if a buyer took.
/// @return             From 0 to 1; 0 without volume.
[[nodiscard]] double vpin_of(std::span<const double> signed_lots, std::size_t buckets_count) noexcept;

/// Trades of one period, by who took.
struct period_trades {
    std::uint32_t buys = 0;
    std::uint32_t sells = 0;
};

/// The model of Easley, Kiefer, O'Hara and Paperman (1996): a period has news with a probability; then the informed
/// trade on one side with a rate of their own, on top of the others, who trade on both sides in every period.
struct informed_trading {
    double news_share = 0;      ///< alpha: periods with news
    double bad_news_share = 0;  ///< delta: periods of bad news among them
    double informed = 0;        ///< mu: trades of the informed in a period with news
    double buys = 0;            ///< epsilon of buyers: trades of the others in each period
    double sells = 0;           ///< epsilon of sellers
    double log_likelihood = 0;  ///< without the factorials, which do not depend on the model
    /// The probability that a trade is informed.
    [[nodiscard]] double pin() const noexcept {
        const double of_informed = news_share * informed;
        const double all = of_informed + buys + sells;
        return all > 0 ? of_informed / all : 0;
    }
};

/// The most likely model: by expectation and maximisation (Dempster, Laird and Rubin, 1977) from several beginnings.
[[nodiscard]] informed_trading estimate_informed_trading(std::span<const period_trades> periods) noexcept;

}  // namespace corro::market
