// SPDX-License-Identifier: Apache-2.0
// Stylised facts of a market, measured alike in a recorded day and in a simulated one, and how far both are apart.
//
// A market is observed in blocks of equal time, which keep what the facts are computed from. A fact of a market is
// computed from all its blocks; its error is that of the bootstrap, which draws blocks with replacement. So markets of
// several seeds are one market of more blocks.
//
//     stylised_facts observed(world, {.begin_ns = 60 * s, .end_ns = 3'600 * s});
//     world.observe_with(observed);
//     world.run(3'600 * s);
//     const std::vector<scored_fact> card = score(recorded_blocks, observed.take(), 1);
//
// Units:   ticks, lots, seconds.
// Cost:    some ten nanoseconds for each event; some bytes for each sample, transaction and order at the best price.
// Source:  docs/spec/market_metrics.md#stylised-facts; block bootstrap: Kuensch, "The Jackknife and the Bootstrap for
//          General Stationary Observations", Annals of Statistics 17 (1989).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "market/market.hpp"

namespace corro::market {

/// What a value of a fact is: how a distance between two of them is taken.
enum class fact_kind : std::uint8_t {
    size,  ///< positive: by its logarithm
    part,  ///< a correlation, a share, an impact: by its difference
};

struct fact_rule {
    std::string_view name;  ///< ends with its unit
    fact_kind kind;
    double tolerance;  ///< the smallest error that counts: of the logarithm, or of the value
};

inline constexpr std::size_t facts_count = 26;
/// All facts, in the order of their values.
[[nodiscard]] std::span<const fact_rule, facts_count> fact_rules() noexcept;
using fact_values = std::array<double, facts_count>;

/// Lags, in transactions, of the impact; docs/spec/market_metrics.md.
inline constexpr std::array<std::size_t, 3> impact_lags{1, 10, 50};

/// What was seen in a part of the time.
struct fact_block {
    struct impact {
        double sum_ticks = 0;
        double count = 0;
    };
    struct best_order {
        double ahead_lots = 0;
        bool is_filled = false;
    };
    double length_ns = 0;
    double quoted_ns = 0;  ///< with both sides
    double spread_sum = 0;
    double depth_sum = 0;
    double best_orders_count = 0;
    std::vector<double> changes;    ///< of the middle, from sample to sample
    std::vector<double> signs;      ///< of transactions: 1 if a buyer took
    std::vector<double> lots;       ///< of transactions
    std::vector<double> intervals;  ///< between transactions, in seconds
    std::vector<double> lives;      ///< of orders at the best price that were cancelled, in seconds
    std::vector<best_order> ended;  ///< orders at the best price
    std::array<impact, impact_lags.size()> impacts;
};

struct fact_window {
    std::int64_t begin_ns = 0;  ///< nothing before counts
    std::int64_t end_ns = 0;
    std::int64_t sample_ns = 1'000'000'000;
    std::size_t blocks_count = 20;
};

class stylised_facts final : public market_observer {
 public:
    /// Observes the first instrument. @pre begin_ns < end_ns, and a block has at least one sample (asserted).
    stylised_facts(const market& world, fact_window window);

    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> events) override;
    /// After the run, once.
    [[nodiscard]] std::vector<fact_block> take();

 private:
    struct followed {
        std::int64_t since_ns = 0;
        domain::price_ticks price{};
        double ahead_lots = 0;
        bool is_filled = false;
    };
    struct transaction {
        std::size_t block;
        double middle;  // before it
        double sign;
    };

    [[nodiscard]] fact_block* block_at(std::int64_t at_ns) noexcept;
    [[nodiscard]] bool has_quotes() const noexcept;
    [[nodiscard]] double middle() const noexcept;
    void advance(std::int64_t to_ns);
    void end_command();
    void take_trade(const domain::event& e);
    void take_top(const domain::top& now);
    void end_order(std::uint64_t order, bool is_cancelled);

    domain::instrument_id instrument_;
    std::int64_t start_ns_;
    fact_window window_;
    std::int64_t block_ns_;
    std::vector<fact_block> blocks_;
    std::int64_t now_ns_ = 0;
    std::int64_t advanced_ns_ = 0;
    std::int64_t next_sample_ns_;
    domain::top top_;
    double last_sample_ = 0;  // the middle; 0: none yet
    // Transactions: trades of one moment with the same aggressor.
    std::int64_t traded_ns_ = -1;
    domain::side traded_side_ = domain::side::buy;
    std::deque<transaction> recent_;  // the newest first
    // When the best price of a side was left last: what comes into view then was there before.
    std::array<std::int64_t, 2> left_ns_{-1, -1};
    std::vector<domain::event> entered_;  // by the last command
    std::vector<domain::event> levels_;   // that it changed
    std::unordered_map<std::uint64_t, followed> orders_;
};

/// @pre At least one block (asserted).
[[nodiscard]] fact_values facts_of(std::span<const fact_block* const> blocks);
[[nodiscard]] fact_values facts_of(std::span<const fact_block> blocks);

/// No distance is larger.
inline constexpr double distance_max = 20;

/// The facts of a recording and the errors by which distances from it are measured.
class fact_reference {
 public:
    fact_reference(std::span<const fact_block> recorded, std::uint64_t seed);
    [[nodiscard]] const fact_values& values() const noexcept { return values_; }
    /// The difference of a value from the recorded one, in errors: those of the bootstrap, or the tolerance if that is
    /// larger. From 0 to distance_max.
    [[nodiscard]] double distance(std::size_t fact, double value) const noexcept;
    /// The mean of all distances.
    [[nodiscard]] double distance(const fact_values& of) const noexcept;
    /// The mean of the square roots of all distances, without a limit: what a search makes small. A fact that no
    /// parameters reach does not govern it, and each step towards a far one counts.
    [[nodiscard]] double cost(const fact_values& of) const noexcept;

 private:
    fact_values values_;
    fact_values errors_{};
};

struct scored_fact {
    fact_rule rule;
    double recorded = 0;
    double recorded_low = 0;  ///< the interval of 95 %
    double recorded_high = 0;
    double simulated = 0;
    double simulated_low = 0;
    double simulated_high = 0;
    double distance = 0;
    double distance_low = 0;  ///< the interval of 95 %, with both markets resampled
    double distance_high = 0;
};

/// All facts of two markets, those that are furthest apart first.
[[nodiscard]] std::vector<scored_fact> score(std::span<const fact_block> recorded,
                                             std::span<const fact_block> simulated, std::uint64_t seed);

}  // namespace corro::market
