// SPDX-License-Identifier: Apache-2.0
// Instruments of a venue from recorded definitions, for `corro definitions`, which prints a configuration.
//
// Later definitions of a symbol replace earlier ones, deleted ones are left out. Ids count from 1 in the order in which
// the symbols first came. The legs of a spread are taken from its leg records (DBN version 3); without these, a spread
// of futures named FIRST-SECOND buys one lot of FIRST and sells one of SECOND.
//
// Units: prices in billionths. Threads: one. Cost: allocates; for start-up and tools.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "domain/instrument.hpp"
#include "recorded/formats/dbn.hpp"

namespace corro::recorded {

struct recorded_instruments {
    std::vector<domain::instrument> instruments;  ///< sound, with their legs
    std::vector<std::string> left_out;            ///< "SYMBOL: why"
};

class recorded_definitions {
 public:
    /// @param tick_size  For instruments without one in their definition, such as options; 0 leaves them out.
    explicit recorded_definitions(domain::price_nano tick_size = {}) : tick_size_(tick_size) {}

    void add(const recorded::dbn::instrument_definition& d);
    [[nodiscard]] recorded_instruments finish() const;

 private:
    struct named_leg {
        std::string symbol;
        std::uint32_t ratio = 1;
        domain::side side = domain::side::buy;
    };
    struct entry {
        std::string symbol;
        domain::instrument what;
        std::map<std::uint16_t, named_leg> legs;  ///< by their index
        std::string problem;
        bool is_deleted = false;
    };
    [[nodiscard]] entry read(const recorded::dbn::instrument_definition& d) const;

    domain::price_nano tick_size_;
    std::vector<entry> entries_;  ///< in the order in which they first came
    std::map<std::string, std::size_t> by_symbol_;
};

/// An instrument as a table [[instrument]] of a venue's configuration.
[[nodiscard]] std::string to_configuration(const domain::instrument& i);

}  // namespace corro::recorded
