// SPDX-License-Identifier: Apache-2.0
// Compares Corro with the best peer, row by row, with the geometric mean per suite. Losses come first.
//
// Corro's value is that of its best subject; the peers' value is that of the best peer. A subject with a name "raw..."
// is the floor that no library can go below. It is shown too, but is not a peer.
//
// Units:   a ratio above 1 means that Corro is better by this factor, in the row's better direction.
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
    double ratio = 0;               ///< Corro against the peer; 0 without a peer
    double floor_ratio = 0;         ///< Corro against the floor; 0 without one

    /// Whether the spreads of both overlap, so that a repeat could reverse the result.
    [[nodiscard]] bool within_spread() const noexcept;
};

struct suite_comparison {
    std::string suite;
    std::vector<comparison> rows;       ///< ascending ratio: losses first; rows without a peer last
    std::optional<double> mean_ratio;   ///< geometric, over the rows that have a peer
    std::vector<std::string> not_ours;  ///< rows that only peers have
};

/// The numbers of rows of a suite by result. Rows without a peer do not count.
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
