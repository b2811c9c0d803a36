// SPDX-License-Identifier: Apache-2.0
// What requests for reference data look up: instruments by name, strategies by their legs, and all instruments in an
// order that a definition does not change.
//
// Limits: domain::instruments_max. Threads: one context.
// Cost:    one hash and one compare per look-up. The first look-up after a definition reads all instruments once, and
//          may allocate.
// Source:  docs/spec/fix_reference_data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/assert.hpp"
#include "domain/instrument.hpp"
#include "fix_gateway/symbols.hpp"

namespace corro::fix_gateway {

class reference_directory {
 public:
    /// @param names  Outlives this.
    explicit reference_directory(symbols& names) : names_(names) {}

    /// The number of instruments.
    [[nodiscard]] std::size_t count() {
        learn();
        return known_.size();
    }
    /// An instrument by its place, from 0. Instruments that are defined later stand behind all others.
    /// @pre  `place` is less than an earlier `count` (asserted). Valid until the next definition.
    [[nodiscard]] const domain::instrument& at(std::size_t place) const {
        CORRO_ASSERT(place < known_.size());
        return names_.instruments().find_or_nameless(known_[place]);
    }
    /// nullptr: there is no such instrument. Valid until the next definition.
    [[nodiscard]] const domain::instrument* find(std::string_view name) { return names_.find(name); }
    [[nodiscard]] const domain::instrument* find(domain::instrument_id id) const {
        return names_.instruments().find(id);
    }
    /// The strategy with exactly these legs, in any order. Of several, the one with the lowest id.
    /// @return  nullptr: there is none. Valid until the next definition.
    [[nodiscard]] const domain::instrument* find_strategy(std::span<const domain::leg> legs);

 private:
    void learn();

    symbols& names_;
    std::vector<domain::instrument_id> known_;
    std::vector<bool> is_known_;                                                ///< by id
    std::unordered_multimap<std::uint64_t, domain::instrument_id> strategies_;  ///< by a hash of their legs
};

}  // namespace corro::fix_gateway
