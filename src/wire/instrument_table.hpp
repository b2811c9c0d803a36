// SPDX-License-Identifier: Apache-2.0
// The instruments that a codec converts prices and quantities for, by id.
//
// Limits: domain::instruments_max. Threads: define, then share; finding does not write.
// Cost: finding is one index; defining may allocate, so it belongs to start-up.
#pragma once

#include <vector>

#include "base/assert.hpp"
#include "domain/definition.hpp"
#include "domain/instrument.hpp"

namespace corro::wire {

class instrument_table {
 public:
    /// Adds a definition, or replaces the one with the same id. It must be sound by domain::validate.
    void define(const domain::instrument& instrument) {
        CORRO_ASSERT(domain::validate(instrument).empty());
        if (instrument.id.value >= instruments_.size()) instruments_.resize(std::size_t{instrument.id.value} + 1);
        count_ += instruments_[instrument.id.value].id.value == 0 ? 1U : 0U;
        instruments_[instrument.id.value] = instrument;
    }

    /// Adds the instrument that a definition makes of another one. Returns it, valid until the next `define`; nullptr
    /// when the other one is unknown or the result is not sound.
    const domain::instrument* define(const domain::definition& d) {
        const domain::instrument* like = find(d.like);
        if (like == nullptr) return nullptr;
        const auto [made, reason] = domain::define_like(*like, d);
        if (reason != domain::reject_reason::none) return nullptr;
        define(made);
        return find(made.id);
    }

    /// The definition, or nullptr when there is none. Valid until the next `define`.
    [[nodiscard]] const domain::instrument* find(domain::instrument_id id) const noexcept {
        if (id.value >= instruments_.size() || instruments_[id.value].id.value == 0) return nullptr;
        return &instruments_[id.value];
    }

    /// The definition; where there is none, a nameless instrument with id 0. The codec uses it for events about an
    /// unknown instrument, which are always rejects.
    [[nodiscard]] const domain::instrument& find_or_nameless(domain::instrument_id id) const noexcept {
        static constexpr domain::instrument nameless{};
        const domain::instrument* found = find(id);
        return found == nullptr ? nameless : *found;
    }

    /// How many instruments are defined.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    /// Calls `visit(const domain::instrument&)` for each definition, in order of ids.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const domain::instrument& each : instruments_) {
            if (each.id.value != 0) visit(each);
        }
    }

 private:
    std::vector<domain::instrument> instruments_;  ///< by id; id 0 marks an empty place
    std::size_t count_ = 0;
};

}  // namespace corro::wire
