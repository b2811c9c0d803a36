// SPDX-License-Identifier: Apache-2.0
// The instruments of a scenario, from the lines before its first command.
#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "domain/instrument.hpp"

namespace corro::rule_book {

class rule_market {
 public:
    /// Instruments have numbers from 1 to one below this.
    static constexpr std::uint32_t instruments_end = 8;

    rule_market();

    /// Reads a line with the first word `what`. False when it is not a valid description.
    [[nodiscard]] bool define(const std::string& what, std::istringstream& words);
    [[nodiscard]] static bool is_definition(const std::string& what) {
        return what == "band" || what == "auction" || what == "breaker" || what == "matching" || what == "strategy";
    }

    [[nodiscard]] bool has_strategies() const noexcept { return !strategies_.empty(); }
    [[nodiscard]] domain::price_nano tick_size() const noexcept { return first_.tick_size; }
    [[nodiscard]] std::vector<domain::instrument> instruments() const;

 private:
    [[nodiscard]] bool define_breaker(std::istringstream& words);
    [[nodiscard]] bool define_matching(std::istringstream& words);
    [[nodiscard]] bool define_strategy(std::istringstream& words);

    domain::instrument first_;
    std::map<std::uint32_t, domain::instrument> strategies_;
};

}  // namespace corro::rule_book
