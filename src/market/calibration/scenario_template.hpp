// SPDX-License-Identifier: Apache-2.0
// A scenario with open parameters: a text in which some numbers are written as `${80 in 20 to 500}`.
//
// The first number is the value to begin with, the others are the bounds. `${3 in 1 to 10, whole}` is a whole number.
// Values above 0 are searched on a logarithmic scale, others on a linear one.
//
// Limits: 64 parameters.
// Source: docs/spec/scenarios.md#templates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corro::market {

struct open_parameter {
    double begin = 0;
    double least = 0;
    double most = 0;
    bool is_whole = false;
    std::uint32_t line = 0;

    /// The value at a place from 0 to 1 between the bounds, rounded to what the text will have.
    [[nodiscard]] double at(double place) const noexcept;
    /// The place of a value within the bounds.
    [[nodiscard]] double place_of(double value) const noexcept;
};

class scenario_template {
 public:
    /// @throws node::configuration_error: "FILE:LINE: sentence".
    scenario_template(std::string_view text, const std::string& file);

    [[nodiscard]] std::span<const open_parameter> parameters() const noexcept { return parameters_; }
    /// The text with numbers in place of the parameters.
    /// @param places  From 0 to 1, one for each parameter (asserted).
    [[nodiscard]] std::string filled(std::span<const double> places) const;
    /// The places of the values to begin with.
    [[nodiscard]] std::vector<double> begin() const;

 private:
    std::vector<std::string> texts_;  // one more than parameters
    std::vector<open_parameter> parameters_;
};

}  // namespace corro::market
