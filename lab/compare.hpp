// Ours against the best peer, row by row, and the geometric mean per suite. Losses first.
//
// The best of our own subjects stands for us, the best of the peers for them; what is named raw... is the floor that no
// library can go below, so it is shown beside but is no peer.
//
// Units:   a ratio above 1 says how many times better we are, whichever direction is better.
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/results.hpp"

namespace corro::lab {

/// One row, compared.
struct comparison {
    const result* ours = nullptr;
    const result* peer = nullptr;   ///< nullptr if no peer has this row
    const result* floor = nullptr;  ///< nullptr if there is no floor
    double ratio = 0;               ///< ours against the peer; 0 without a peer
    double floor_ratio = 0;         ///< ours against the floor; 0 without one

    /// Whether the spreads of both overlap, so that a repeat could turn the verdict.
    [[nodiscard]] bool within_spread() const noexcept;
};

struct suite_comparison {
    std::string suite;
    std::vector<comparison> rows;       ///< ascending ratio: losses first; rows without a peer last
    std::optional<double> mean_ratio;   ///< geometric, over the rows that have a peer
    std::vector<std::string> not_ours;  ///< rows that only peers have
};

/// How many rows of a suite say what; rows without a peer count nowhere.
struct verdicts {
    int better = 0;
    int overlapping = 0;
    int worse = 0;
};
[[nodiscard]] verdicts verdicts_of(const suite_comparison& suite) noexcept;

/// Suites in the order of their first row. The comparisons point into `all`, which must outlive them.
[[nodiscard]] std::vector<suite_comparison> compare(const results& all);

/// The table that `corro lab compare` prints.
[[nodiscard]] std::string comparison_text(const std::vector<suite_comparison>& suites);

/// A value with its unit, in three significant digits: "182 k/s", "7.9 GB/s", "12.3 ns", "1.24 us".
[[nodiscard]] std::string value_text(double value, const std::string& unit);

}  // namespace corro::lab
