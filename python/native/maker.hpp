// SPDX-License-Identifier: Apache-2.0
// Makers that a learner steers: the native part of corro.envs and corro.zoo.
//
// At each step the quotes of the step before are cancelled, and new ones leave at the distances that the learner chose. What
// it sees and earns is what has reached its seat. docs/howto/python_agents.md; the classes of corro.envs state the numbers.
//
// Units:   prices in ticks, quantities in lots, rewards in ticks of one lot; actions and observations from -1 to 1.
// Threads: those of the market.
// Cost:    below a microsecond beside the market's own; no allocation after the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "domain/instrument.hpp"
#include "native/journal.hpp"
#include "native/market.hpp"

namespace corro::python {

/// Of an observation, for each instrument.
inline constexpr std::size_t maker_numbers = 6;

/// What a maker may do in an instrument.
struct maker_rules {
    std::string instrument;
    std::int64_t lots = 1;            ///< of each quote; fits a quantity of lots
    std::int64_t distance_ticks = 1;  ///< the largest distance from the middle
    std::int64_t position_lots = 1;   ///< a side that could exceed it is not quoted
    double risk_aversion = 0;
};

/// What a maker has come to.
struct maker_facts {
    std::int64_t position = 0;  ///< lots
    double value_ticks = 0;     ///< cash less fees and marked position
    double middle = 0;          ///< the price between the best ones; NaN without both
};

/// The quotes of one seat in some instruments: `act`, let time pass, `reward`, `observe`; `step` does all of it.
class makers {
 public:
    /// @param of  Lives longer. @param rules  At least one. @throws argument_error
    makers(market& of, std::size_t seat, const std::vector<maker_rules>& rules, std::int64_t interval_ns);

    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
    /// Looks at the market as for the first time.
    void begin();
    /// Replaces the quotes. @param action  Two numbers for each instrument.
    void act(std::span<const double> action);
    /// Looks at the market.
    /// @return The change of the value since the last look, less the aversion to risk; of all instruments.
    double reward();
    /// @param into  `maker_numbers` for each instrument.
    void observe(std::span<float> into) const;
    [[nodiscard]] maker_facts facts(std::size_t index) const;
    /// @throws what `market::run` throws
    double step(std::span<const double> action, std::span<float> into, const interruption& interrupted);
    /// Whether the scenario's duration is over.
    [[nodiscard]] bool is_over() const;

 private:
    struct quoted {
        const domain::instrument* of = nullptr;
        domain::quantity_lots lots{};
        double distance_ticks = 0;
        std::int64_t position_lots = 0;
        double risk_aversion = 0;
        double fee_ticks = 0;  ///< a billionth of the currency, in ticks of one lot
        // As of the last look.
        double bid = 0;
        double ask = 0;
        double bid_lots = 0;
        double ask_lots = 0;
        double mid = 0;     ///< NaN without both sides
        double middle = 0;  ///< the last one that was a number
        double change = 0;
        double value = 0;
        std::int64_t position = 0;
    };
    void look(quoted& at) const;
    void quote(const quoted& at, std::span<const double> action);
    void send(const quoted& at, bool is_buy, double ticks);

    market* market_;
    std::size_t seat_;
    std::int64_t interval_ns_;
    std::int64_t duration_ns_;
    std::vector<quoted> all_;
};

}  // namespace corro::python
