// SPDX-License-Identifier: Apache-2.0
// A multivariate Hawkes process with kernels that are sums of exponentials.
//
//   lambda_i(t) = mu_i + sum over events (s, j) before t, over terms m: alpha_m,ij exp(-beta_m (t - s))
//
// The mean rates are (I - B)^-1 mu with B_ij = sum over m of alpha_m,ij / beta_m; they exist if B's spectral radius is
// below 1.
//
// Units:  events per second, seconds.
// Cost:   O(dimension^2 x terms) for each candidate of the thinning.
// Source: Hawkes, "Spectra of some self-exciting and mutually exciting point processes", Biometrika 58 (1971);
// simulated by
//         thinning: Ogata, "On Lewis' simulation method for point processes", IEEE Transactions on Information Theory
//         27 (1981); as order flow: Bacry, Mastromatteo and Muzy, "Hawkes processes in finance" (2015).
#pragma once

#include <cstddef>
#include <vector>

#include "market/random_stream.hpp"

namespace corro::market {

struct hawkes_options {
    std::vector<double> base;  ///< mu: one for each kind of event
    struct term {
        double decay = 1;           ///< beta, per second
        std::vector<double> jumps;  ///< alpha: row i, column j: what an event j adds to the intensity of i
    };
    std::vector<term> terms;
};

class hawkes_process {
 public:
    explicit hawkes_process(hawkes_options options);

    struct event {
        double at = 0;  ///< seconds since the start
        std::size_t kind = 0;
    };
    /// The next event.
    [[nodiscard]] event next(random_stream& random);
    /// The intensity of a kind just after the last event or candidate.
    [[nodiscard]] double intensity(std::size_t kind) const noexcept;
    /// The largest row sum of B: below 1 is enough for a stationary process.
    [[nodiscard]] static double row_sum_max(const hawkes_options& options) noexcept;

 private:
    void decay_by(double seconds) noexcept;

    hawkes_options options_;
    double now_ = 0;
    std::vector<double> excitement_;  // of term m and kind i, at m x dimension + i
};

}  // namespace corro::market
