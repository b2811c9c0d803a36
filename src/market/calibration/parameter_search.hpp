// SPDX-License-Identifier: Apache-2.0
// The least of a noisy function of a few dozen numbers, from its values alone.
//
// An evolution strategy: each round draws candidates around a centre, and moves the centre and the widths towards the
// better half. Candidates are points of the unit cube.
//
//     parameter_search search({0.5, 0.5}, 1);
//     for (int round = 0; round < 50; ++round) {
//         for (const auto& each : search.ask()) costs.push_back(cost_of(each));
//         search.tell(costs);
//     }
//     use(search.best());
//
// Cost:   linear in the numbers for each candidate.
// Source: CMA-ES with a diagonal covariance: Ros and Hansen, "A Simple Modification in CMA-ES Achieving Linear Time and
//         Space Complexity", PPSN X (2008).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "market/random_stream.hpp"

namespace corro::market {

class parameter_search {
 public:
    /// @param begin  In the unit cube; not empty (asserted).
    parameter_search(std::vector<double> begin, std::uint64_t seed);

    /// The candidates of a round; always equally many. The first one of all is `begin`.
    [[nodiscard]] const std::vector<std::vector<double>>& ask();
    /// @param costs  Of the candidates of the last `ask`, in their order (asserted).
    void tell(std::span<const double> costs);

    [[nodiscard]] std::size_t candidates_count() const noexcept { return weights_.size() * 2; }
    /// The candidate with the least cost so far, and that cost. @pre After the first `tell` (asserted).
    [[nodiscard]] const std::vector<double>& best() const noexcept;
    [[nodiscard]] double best_cost() const noexcept { return best_cost_; }

 private:
    random_stream random_;
    std::vector<double> weights_;  // of the better half
    double effective_ = 0;         // how many candidates the weights are worth
    std::vector<double> centre_;
    std::vector<double> variances_;
    std::vector<double> path_;  // of the step size
    std::vector<double> shape_path_;
    double step_ = 0.2;
    std::vector<std::vector<double>> asked_;
    std::vector<double> best_;
    double best_cost_ = 0;
    bool is_first_ = true;
};

}  // namespace corro::market
