// SPDX-License-Identifier: Apache-2.0
// Many markets of one scenario at a time, each with a maker that a learner steers: the native part of vectors of
// environments.
//
// Units:   as in native/maker.hpp.
// Threads: one call at a time; it uses several itself, each market on one of them at a time.
// Cost:    a step of all markets, plus some microseconds for the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "native/maker.hpp"

namespace corro::python {

struct batch_options {
    std::string text;    ///< of the scenario
    std::string file;    ///< for messages
    std::string beside;  ///< a group of agents, whose link the makers get; empty: no delay
    std::vector<maker_rules> rules;
    std::int64_t interval_ns = 1;
    std::size_t count = 1;    ///< of markets
    std::size_t threads = 1;  ///< that run them, with the caller's
};

/// What happens to a market in a call of `advance`.
enum class batch_turn : std::uint8_t {
    nothing = 0,
    step = 1,
    begin = 2,  ///< another market, with another seed
};

/// Rows of what markets and makers have come to. Rows of markets to which nothing happens stay.
struct batch_rows {
    std::span<float> observations;     ///< count x rules x maker_numbers
    std::span<double> rewards;         ///< count; 0 for a market that begins
    std::span<std::uint8_t> is_over;   ///< count
    std::span<std::int64_t> position;  ///< count x rules, as the others
    std::span<double> value_ticks;
    std::span<double> middle;
};

class market_batch {
 public:
    /// @throws setup_error, argument_error
    explicit market_batch(batch_options options);
    ~market_batch();
    market_batch(const market_batch&) = delete;
    market_batch& operator=(const market_batch&) = delete;

    /// @param turns    One for each market; numbers of `batch_turn`.
    /// @param seeds    Of markets that begin; equally many.
    /// @param actions  count x rules x 2.
    /// @throws argument_error; what a market throws
    void advance(std::span<const std::uint8_t> turns, std::span<const std::uint64_t> seeds, std::span<const double> actions,
                 const batch_rows& into);
    /// @param index  Of a market that has begun. @throws argument_error
    [[nodiscard]] market_totals totals(std::size_t index) const;

 private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace corro::python
