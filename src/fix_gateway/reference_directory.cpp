// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/reference_directory.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace corro::fix_gateway {
namespace {

using leg_array = std::array<domain::leg, domain::legs_max>;

/// The legs in an order of their own. @pre There are at most legs_max.
std::span<const domain::leg> sorted(std::span<const domain::leg> legs, leg_array& into) {
    const auto end = std::copy(legs.begin(), legs.end(), into.begin());
    std::sort(into.begin(), end, [](const domain::leg& a, const domain::leg& b) {
        return std::tuple(a.instrument.value, a.side, a.ratio) < std::tuple(b.instrument.value, b.side, b.ratio);
    });
    return std::span(into).first(legs.size());
}

std::uint64_t hash_of(std::span<const domain::leg> legs) {
    std::uint64_t hash = 14'695'981'039'346'656'037U;
    const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1'099'511'628'211U; };
    for (const domain::leg& each : legs) {
        add(each.instrument.value);
        add(each.ratio);
        add(static_cast<std::uint64_t>(each.side));
    }
    return hash;
}

}  // namespace

const domain::instrument* reference_directory::find_strategy(std::span<const domain::leg> legs) {
    if (legs.empty() || legs.size() > domain::legs_max) return nullptr;
    learn();
    leg_array wanted_room;
    const std::span<const domain::leg> wanted = sorted(legs, wanted_room);
    const domain::instrument* best = nullptr;
    const auto [begin, end] = strategies_.equal_range(hash_of(wanted));
    for (auto at = begin; at != end; ++at) {
        const domain::instrument* const found = find(at->second);
        leg_array room;
        if (found == nullptr || !std::ranges::equal(sorted(found->legs_used(), room), wanted)) continue;
        if (best == nullptr || found->id < best->id) best = found;
    }
    return best;
}

// Instruments are added while the venue runs, and never leave.
void reference_directory::learn() {
    if (known_.size() == names_.instruments().count()) return;
    names_.instruments().for_each([this](const domain::instrument& i) {
        if (i.id.value >= is_known_.size()) is_known_.resize(std::size_t{i.id.value} + 1);
        if (is_known_[i.id.value]) return;
        is_known_[i.id.value] = true;
        known_.push_back(i.id);
        if (i.legs_count == 0) return;
        leg_array room;
        strategies_.emplace(hash_of(sorted(i.legs_used(), room)), i.id);
    });
}

}  // namespace corro::fix_gateway
