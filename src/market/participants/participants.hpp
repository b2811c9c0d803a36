// SPDX-License-Identifier: Apache-2.0
// The participants of markets: one behaviour each, with its parameters.
//
// docs/spec/participants.md has their rules, formulas and sources.
//
// Units: ticks, lots; times in nanoseconds; rates per second where a name says so.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "domain/types.hpp"
#include "market/agent.hpp"
#include "market/participants/hawkes.hpp"
#include "market/participants/oracle.hpp"

namespace corro::market {

// --- Flow
// -------------------------------------------------------------------------------------------------------------

/// Random orders around the book. Source: Daniels, Farmer, Gillemot, Iori and Smith, "Quantitative model of price
/// diffusion and market friction based on trading as a mechanistic random process", Physical Review Letters 90 (2003).
struct noise_options {
    domain::instrument_id in{1};
    double interval_ns = 1e9;      ///< mean, between actions
    double market_share = 0.2;     ///< probability of an immediate order
    double gap_ticks = 1;          ///< least distance of a limit order behind the other side's best
    double depth_ticks = 5;        ///< mean distance on top of that
    double life_ns = 30e9;         ///< mean life of a limit order
    double anchor_ticks = 10'000;  ///< the price in an empty market
    double reach_ticks = 50;       ///< how far an immediate order may sweep
    std::int64_t lots_least = 1;
    std::int64_t lots_most = 10;
};
behaviour noise(agent& me, noise_options how);

/// Zero intelligence with private values: a trader who wants each further lot less, and asks for a random surplus.
/// Source: Wah, Wright and Wellman, "Welfare Effects of Market Making in Continuous Double Auctions", JAIR 59 (2017);
/// after Gode and Sunder, "Allocative Efficiency of Markets with Zero-Intelligence Traders", JPE 101 (1993).
struct zero_intelligence_options {
    domain::instrument_id in{1};
    double interval_ns = 1e9;
    std::shared_ptr<oracle> fundamental;
    double fundamental_ticks = 10'000;  ///< without an oracle
    std::uint32_t position_max = 10;    ///< lots, long or short
    double value_deviation_ticks = 20;  ///< of private values
    double surplus_least_ticks = 0;
    double surplus_most_ticks = 25;
    double take_share = 0.8;   ///< trades at the other side's best when it offers this part of the surplus asked for
    bool counts_fees = false;  ///< surplus and offer are those after the venue's fee
};
behaviour zero_intelligence(agent& me, zero_intelligence_options how);

/// Market orders of a bivariate Hawkes process: buys and sells that excite themselves and each other.
struct hawkes_flow_options {
    domain::instrument_id in{1};
    hawkes_options process;  ///< kinds: 0 buys, 1 sells
    double reach_ticks = 50;
    std::int64_t lots_least = 1;
    std::int64_t lots_most = 5;
    /// Takes a whole best level that has at most this many lots: most changes of the price come from orders that are as
    /// large as the best level. Source: Farmer, Gillemot, Lillo, Mike and Sen, "What really causes large price
    /// changes?", Quantitative Finance 4 (2004).
    std::int64_t clears_lots = 0;
};
behaviour hawkes_flow(agent& me, hawkes_flow_options how);

/// Long orders cut into pieces, which make the signs of trades remember. Source: Lillo, Mike and Farmer, "Theory for
/// long memory in supply and demand", Physical Review E 71 (2005): sizes of exponent alpha give signs that remember
/// with exponent alpha - 1.
struct splitter_options {
    domain::instrument_id in{1};
    double pause_ns = 10e9;  ///< mean, between long orders
    double piece_interval_ns = 500e6;
    double pieces_alpha = 1.5;  ///< Pareto exponent of the number of pieces
    double pieces_max = 2'000;
    std::int64_t lots = 1;  ///< of a piece
    double reach_ticks = 50;
};
behaviour splitter(agent& me, splitter_options how);

/// Large orders that are not meant to trade, on one side, and a small one that is, on the other. Source: Cartea,
/// Jaimungal and Wang, "Spoofing and Price Manipulation in Order-Driven Markets", Applied Mathematical Finance 27
/// (2020).
struct spoofer_options {
    domain::instrument_id in{1};
    double pause_ns = 10e9;
    std::int64_t hold_ns = 2'000'000'000;
    std::uint32_t layers = 4;
    std::int64_t layer_lots = 100;
    std::int64_t genuine_lots = 10;
    std::int64_t distance_ticks = 3;  ///< of the first layer behind the best
};
behaviour spoofer(agent& me, spoofer_options how);

// --- Opinions
// ---------------------------------------------------------------------------------------------------------

/// Trades towards a value that it observes with an error. Source: Byrd, Hybinette and Balch (2020), value agent.
struct value_options {
    domain::instrument_id in{1};
    double interval_ns = 1e9;
    std::shared_ptr<oracle> fundamental;
    double observation_deviation_ticks = 5;
    double threshold_ticks = 1;  ///< trades at once when the best price is better than the estimate by this
    double passive_ticks = 2;    ///< otherwise quotes this far from the estimate
    std::int64_t lots = 5;
    std::int64_t position_max = 100;
    bool counts_fees = false;  ///< both distances are those after the venue's fee
};
behaviour value_trader(agent& me, value_options how);

/// Follows, or fades, the difference of two moving averages of the middle. Source: Byrd, Hybinette and Balch (2020),
/// momentum agent; the other sign is mean reversion.
struct average_options {
    domain::instrument_id in{1};
    std::int64_t interval_ns = 1'000'000'000;
    double short_count = 20;  ///< intervals of the short average
    double long_count = 50;
    double threshold_ticks = 1;
    bool follows = true;  ///< false: mean reversion
    std::int64_t lots = 2;
    std::int64_t position_max = 50;
    double reach_ticks = 5;
};
behaviour average_trader(agent& me, average_options how);

/// Trades in one instrument when another of the same value has moved first. Source: Wah and Wellman, "Latency
/// Arbitrage, Market Fragmentation, and Efficiency", EC'13 (2013).
struct latency_arbitrage_options {
    domain::instrument_id in{1};
    domain::instrument_id leader{2};
    double edge_ticks = 1;
    std::int64_t lots = 5;
    std::int64_t position_max = 50;
    bool counts_fees = false;  ///< the edge is that after the fee
};
behaviour latency_arbitrageur(agent& me, latency_arbitrage_options how);

/// Trades a calendar spread against its two legs when their prices differ. The spread's buyer buys `near`, sells `far`.
struct spread_arbitrage_options {
    domain::instrument_id spread{3};
    domain::instrument_id near{1};
    domain::instrument_id far{2};
    double edge_ticks = 1;
    std::int64_t lots = 1;
    std::int64_t position_max = 50;
    bool counts_fees = false;  ///< the edge is that after the fees of all three
};
behaviour spread_arbitrageur(agent& me, spread_arbitrage_options how);

// --- Makers
// -----------------------------------------------------------------------------------------------------------

/// Quotes a ladder of prices around the middle. Source: Chakraborty and Kearns, "Market Making and Mean Reversion",
/// EC'11 (2011).
struct ladder_options {
    domain::instrument_id in{1};
    std::int64_t refresh_ns = 1'000'000'000;  ///< at the latest; a change of the book comes first
    bool watches = true;                      ///< requotes when the best prices change
    double half_spread_ticks = 2;
    double step_ticks = 1;
    std::uint32_t levels = 5;
    std::int64_t lots = 10;
    double skew_ticks = 0.05;  ///< the centre moves against the position by this for each lot
    /// After new trades the centre is moved to the side of the last aggressor by this: who trades may know something.
    /// Source: Glosten and Milgrom, "Bid, ask and transaction prices in a specialist market with heterogeneously
    /// informed traders", Journal of Financial Economics 14 (1985).
    double follow_ticks = 0;
    std::int64_t position_max = 500;
    double anchor_ticks = 10'000;
    std::shared_ptr<oracle> fundamental;  ///< if given, half of the centre
    bool counts_fees = false;             ///< the half spread is that after the fee of makers
};
behaviour ladder_maker(agent& me, ladder_options how);

/// Quotes by inventory and risk aversion. Source: Avellaneda and Stoikov, "High-frequency trading in a limit order
/// book", Quantitative Finance 8 (2008); without an end: Gueant, Lehalle and Fernandez-Tapia, "Dealing with the
/// inventory risk", Mathematics and Financial Economics 7 (2013).
struct optimal_maker_options {
    domain::instrument_id in{1};
    std::int64_t refresh_ns = 5'000'000;
    std::int64_t horizon_ns = 1'000'000'000;  ///< T; Avellaneda and Stoikov only
    double risk_aversion = 0.1;               ///< gamma, per tick
    double volatility = 2;                    ///< sigma, ticks per square root of a second
    double decay = 1.5;                       ///< k: fills fall as exp(-k distance), per tick
    double intensity = 140;                   ///< A, per second; Gueant, Lehalle and Fernandez-Tapia only
    std::int64_t lots = 1;
    std::int64_t position_max = 100;
    double anchor_ticks = 10'000;
    bool has_end = true;       ///< false: Gueant, Lehalle and Fernandez-Tapia
    bool counts_fees = false;  ///< the distances are those after the fee of makers
};
behaviour optimal_maker(agent& me, optimal_maker_options how);

/// Distances of bid and offer from the middle, in ticks.
struct quote_distances {
    double bid = 0;
    double ask = 0;
};
/// @param seconds_left  Until the end.
[[nodiscard]] quote_distances avellaneda_stoikov(const optimal_maker_options& how, double position,
                                                 double seconds_left) noexcept;
[[nodiscard]] quote_distances gueant_lehalle_fernandez_tapia(const optimal_maker_options& how,
                                                             double position) noexcept;

/// Quotes options around Black's price and hedges their delta in the future.
struct options_maker_options {
    std::vector<domain::instrument_id> options;
    domain::instrument_id future{1};
    std::int64_t refresh_ns = 500'000'000;
    double volatility = 0.2;   ///< at the money, per square root of a year
    double skew = -0.1;        ///< change of volatility for each unit of log(strike / future)
    double smile = 0.2;        ///< and for its square
    double years_left = 0.25;  ///< at the start, for options without an expiry
    double half_spread_ticks = 4;
    std::int64_t lots = 5;
    std::int64_t position_max = 100;
    double hedge_lots = 2;  ///< hedges when the delta is further from zero than this
};
behaviour options_maker(agent& me, options_maker_options how);

/// Price and delta of an option on a future, without interest. Source: Black, "The pricing of commodity contracts",
/// Journal of Financial Economics 3 (1976). All prices in one unit.
struct option_value {
    double price = 0;
    double delta = 0;
};
[[nodiscard]] option_value black_76(bool is_call, double future, double strike, double years,
                                    double volatility) noexcept;

// --- Execution
// --------------------------------------------------------------------------------------------------------

enum class schedule_kind : std::uint8_t { twap, vwap, pov, almgren_chriss };

/// Executes one long order by a schedule. Sources: Berkowitz, Logue and Noser, "The Total Cost of Transactions on the
/// NYSE", Journal of Finance 43 (1988) for volume-weighted prices; Almgren and Chriss, "Optimal execution of portfolio
/// transactions", Journal of Risk 3 (2000).
struct execution_options {
    domain::instrument_id in{1};
    schedule_kind kind = schedule_kind::twap;
    domain::side side = domain::side::buy;
    std::int64_t lots = 100;
    std::int64_t begin_ns = 0;
    std::int64_t duration_ns = 60'000'000'000;
    std::int64_t slice_ns = 1'000'000'000;
    double reach_ticks = 10;
    std::vector<double> curve;         ///< vwap: expected volume of equal parts of the duration
    double participation = 0.1;        ///< pov: part of the volume of others
    double urgency_per_second = 0.05;  ///< Almgren and Chriss: kappa = sqrt(lambda sigma^2 / eta)
};
behaviour execution(agent& me, execution_options how);

/// The part of the order that should be done at a part of the duration, 0 to 1, by a schedule of time.
[[nodiscard]] double done_by(const execution_options& how, double part) noexcept;

}  // namespace corro::market
