// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/multileg_request.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "domain/instrument.hpp"
#include "domain/limits.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

constexpr std::string_view too_many_legs = "A strategy has at most 8 legs";
static_assert(domain::legs_max == 8);
constexpr std::string_view other_legs = "The legs are not those of the strategy in Symbol (55)";
constexpr std::string_view many_strategies = "Several strategies have these legs: give Symbol (55)";

struct legs_found {
    std::array<domain::leg, domain::legs_max> all{};
    std::size_t count = 0;
    bool are_known = true;  ///< all instruments

    [[nodiscard]] std::span<const domain::leg> used() const noexcept { return {all.data(), count}; }
};

/// Legs have no order.
bool are_same(std::span<const domain::leg> a, std::span<const domain::leg> b) noexcept {
    return a.size() == b.size() && std::ranges::is_permutation(a, b);
}

/// LegSymbol (600) begins an entry; LegRatioQty (623) is 1 and LegSide (624) is required.
legs_found read_legs(const fix::field_index& message, symbols& instruments, request_reader& r) noexcept {
    legs_found found;
    const auto count = r.number(tag::no_legs);
    const std::span<const fix::field> fields = message.fields();
    std::array<std::size_t, domain::legs_max + 1> begins{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].tag != tag::leg_symbol) continue;
        if (found.count == domain::legs_max) {
            r.fail(other(too_many_legs));
            return found;
        }
        begins[found.count++] = i;
    }
    begins[found.count] = fields.size();
    if (count != found.count || count == 0) {
        r.fail({.tag = tag::no_legs,
                .reason = fix::reject_reason::incorrect_group_count,
                .business_reason = 0,
                .text = {}});
        return found;
    }
    for (std::size_t k = 0; k < found.count; ++k) {
        domain::command nothing;
        request_reader entry(message, {begins[k], begins[k + 1]}, instruments, nothing);
        const domain::instrument* const instrument = entry.find_instrument(tag::leg_symbol);
        found.are_known = found.are_known && instrument != nullptr;
        domain::leg& leg = found.all[k];
        leg.instrument = instrument != nullptr ? instrument->id : domain::instrument_id{};
        if (entry.has(tag::leg_ratio_qty)) leg.ratio = entry.ratio(tag::leg_ratio_qty);
        const auto side = entry.letter(tag::leg_side);
        if (!side) entry.fail(missing(tag::leg_side));
        if (side && side != '1' && side != '2') entry.fail(out_of_range(tag::leg_side));
        leg.side = side == '2' ? domain::side::sell : domain::side::buy;
        r.fail(entry.problem());
    }
    return found;
}

}  // namespace

void read_strategy(const fix::field_index& message, symbols& instruments, request_reader& r) noexcept {
    const bool has_legs = r.has(tag::no_legs);
    if (r.has(tag::symbol) || !has_legs) {
        r.instrument();
        if (!has_legs) return;
        const legs_found legs = read_legs(message, instruments, r);
        const domain::instrument* const named = r.find_instrument(tag::symbol);
        if (named != nullptr && !are_same(legs.used(), named->legs_used())) r.fail(other(other_legs));
        return;
    }
    const legs_found legs = read_legs(message, instruments, r);
    if (r.problem().is_there()) return;
    const domain::instrument* only = nullptr;
    std::size_t count = 0;
    if (legs.are_known) {
        instruments.instruments().for_each([&](const domain::instrument& i) {
            if (!are_same(legs.used(), i.legs_used())) return;
            only = &i;
            ++count;
        });
    }
    if (count > 1) r.fail(other(many_strategies));
    r.set_instrument(only);
}

}  // namespace corro::fix_gateway
