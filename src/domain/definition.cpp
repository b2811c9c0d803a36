// SPDX-License-Identifier: Apache-2.0
#include "domain/definition.hpp"

#include <algorithm>
#include <cstddef>

namespace corro::domain {
namespace {

/// Files and screens separate names by blanks, commas and quotation marks.
[[nodiscard]] bool is_plain(const symbol& name) noexcept {
    const std::size_t size = name.view().size();
    for (std::size_t i = 0; i < name.characters.size(); ++i) {
        const char c = name.characters[i];
        if (i >= size ? c != '\0' : c <= ' ' || c > '~' || c == ',' || c == '"') return false;
    }
    return true;
}

}  // namespace

conversion<instrument> define_like(const instrument& like, const definition& d) noexcept {
    const auto names = [&](std::uint8_t field) { return (d.given & field) != 0; };
    instrument made = like;
    made.id = d.id;
    made.name = d.name;
    if (names(definition_field::expiry)) made.expiry = d.expiry;
    if (names(definition_field::option)) {
        made.right = d.right;
        made.strike = d.strike;
    }
    if (names(definition_field::price_low)) {
        const auto [ticks, reason] = to_ticks(like, d.price_low);
        if (reason != reject_reason::none) return {.reason = reason};
        made.price_low = ticks;
    }
    if (names(definition_field::price_high)) {
        const auto [ticks, reason] = to_ticks(like, d.price_high);
        if (reason != reject_reason::none) return {.reason = reason};
        made.price_high = ticks;
    }
    if (names(definition_field::legs)) {
        if (d.legs_count != like.legs_count || d.legs_count > legs_defined_max) {
            return {.reason = reject_reason::unsound_definition};
        }
        for (std::size_t i = 0; i < d.legs_count; ++i) made.legs[i].instrument = d.legs[i];
    }
    const bool is_sound = (d.given & ~definition_field::all) == 0 && is_plain(d.name) && validate(made).empty();
    if (!is_sound) return {.reason = reject_reason::unsound_definition};
    return {.value = made};
}

definition definition_of(const instrument& i, instrument_id like) noexcept {
    definition d;
    d.id = i.id;
    d.like = like;
    d.name = i.name;
    d.given = definition_field::expiry | definition_field::option | definition_field::price_low |
              definition_field::price_high;
    d.right = i.right;
    d.strike = i.strike;
    d.price_low = to_nano(i, i.price_low);
    d.price_high = to_nano(i, i.price_high);
    d.expiry = i.expiry;
    if (i.legs_count == 0 || i.legs_count > legs_defined_max) return d;
    d.given |= definition_field::legs;
    d.legs_count = i.legs_count;
    for (std::size_t leg = 0; leg < i.legs_count; ++leg) d.legs[leg] = i.legs[leg].instrument;
    return d;
}

definition definition_of(const command& c) noexcept {
    const define_instrument& from = c.define_instrument();
    definition d;
    d.id = c.instrument;
    d.like = from.like;
    d.name = from.name;
    d.given = c.definition_terms().given;
    if ((d.given & definition_field::expiry) != 0) d.expiry = from.expiry;
    if ((d.given & definition_field::price_low) != 0) d.price_low = from.price_low;
    if ((d.given & definition_field::price_high) != 0) d.price_high = from.price_high;
    if ((d.given & definition_field::legs) != 0) {
        d.legs = from.terms.legs;
        d.legs_count = from.legs_count;
    } else if ((d.given & definition_field::option) != 0) {
        d.right = c.definition_terms().right;
        d.strike = from.terms.option.strike;
    }
    return d;
}

command command_of(const definition& d) noexcept {
    command c;
    c.kind = command_kind::define_instrument;
    c.instrument = d.id;
    c.definition_terms() = {};
    c.definition_terms().given = d.given;
    define_instrument& to = c.define_instrument();
    to = {};
    to.like = d.like;
    to.name = d.name;
    if ((d.given & definition_field::expiry) != 0) to.expiry = d.expiry;
    if ((d.given & definition_field::price_low) != 0) to.price_low = d.price_low;
    if ((d.given & definition_field::price_high) != 0) to.price_high = d.price_high;
    if ((d.given & definition_field::legs) != 0) {
        to.terms.legs = d.legs;
        to.legs_count = d.legs_count;
    } else if ((d.given & definition_field::option) != 0) {
        c.definition_terms().right = d.right;
        to.terms.option.strike = d.strike;
    }
    return c;
}

bool definition_reader::take(const event& e) noexcept {
    if (e.kind == event_kind::instrument_terms || e.instrument != definition_.id) {
        definition_ = definition{};
        definition_.id = e.instrument;
    }
    switch (e.kind) {
        case event_kind::instrument_terms:
            definition_.given = definition_field::option | definition_field::price_low | definition_field::price_high;
            definition_.right = e.terms.right;
            definition_.strike = e.terms.strike;
            definition_.price_low = e.terms.price_low;
            definition_.price_high = e.terms.price_high;
            return false;
        case event_kind::instrument_legs:
            definition_.given |= definition_field::legs;
            definition_.legs = e.legs.instruments;
            definition_.legs_count = e.legs.count;
            return false;
        case event_kind::instrument_defined:
            definition_.given |= definition_field::expiry;
            definition_.name = e.defined.name;
            definition_.expiry = e.defined.expiry;
            definition_.like = e.defined.like;
            return true;
        default: return false;
    }
}

}  // namespace corro::domain
