#include "domain/definition.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace corro::domain {
namespace {

/// A define_instrument: the 128 bytes of a command, of which those that every command has stand where they always do.
///
/// | offset | size | meaning                                                     |
/// |--------|------|-------------------------------------------------------------|
/// |      0 |   24 | sequence, time, session, account: as in every command       |
/// |     24 |    4 | the new instrument's id                                     |
/// |     28 |    1 | kind                                                        |
/// |     29 |    1 | zero                                                        |
/// |     30 |    1 | right of an option                                          |
/// |     31 |    1 | definition_field bits                                       |
/// |     32 |    8 | zero                                                        |
/// |     40 |   16 | ids of the legs, or of an option 8 bytes of strike          |
/// |     56 |    4 | the instrument that it is like                              |
/// |     60 |    1 | verdict, as in every command                                |
/// |     61 |    1 | number of legs                                              |
/// |     62 |    2 | zero                                                        |
/// |     64 |    4 | request, as in every command                                |
/// |     68 |    4 | zero                                                        |
/// |     72 |   16 | lowest and highest price                                    |
/// |     88 |    6 | zero                                                        |
/// |     94 |    1 | whether it is an operator's, as in every command            |
/// |     95 |    1 | zero                                                        |
/// |     96 |    8 | expiry                                                      |
/// |    104 |   24 | name                                                        |
struct layout {
    sequence_number sequence{};
    time_ns time{};
    session_id session{};
    account_id account{};
    instrument_id instrument{};
    command_kind kind = command_kind::define_instrument;
    std::uint8_t zero_1 = 0;
    option_right right = option_right::none;
    std::uint8_t given = 0;
    std::uint64_t zero_2 = 0;
    union {
        std::array<instrument_id, legs_defined_max> legs{};
        price_nano strike;
    };
    instrument_id like{};
    reject_reason verdict = reject_reason::none;
    std::uint8_t legs_count = 0;
    std::uint16_t zero_3 = 0;
    std::uint32_t request = 0;
    std::uint32_t zero_4 = 0;
    price_nano price_low{};
    price_nano price_high{};
    std::uint32_t zero_5 = 0;
    std::uint16_t zero_6 = 0;
    std::uint8_t is_operator = 0;
    std::uint8_t zero_7 = 0;
    time_ns expiry{};
    symbol name{};

    constexpr layout() noexcept {}
};
static_assert(sizeof(layout) == sizeof(command) && std::is_trivially_copyable_v<layout>);
static_assert(offsetof(layout, instrument) == offsetof(command, instrument) &&
              offsetof(layout, kind) == offsetof(command, kind) &&
              offsetof(layout, verdict) == offsetof(command, verdict) &&
              offsetof(layout, request) == offsetof(command, request) &&
              offsetof(layout, is_operator) == offsetof(command, is_operator));
static_assert(sizeof(instrument_id) * legs_defined_max == 16);

/// Names stand in files and on screens between blanks, commas and quotation marks.
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
    const auto from = std::bit_cast<layout>(c);
    definition d;
    d.id = from.instrument;
    d.like = from.like;
    d.name = from.name;
    d.given = from.given;
    if ((d.given & definition_field::expiry) != 0) d.expiry = from.expiry;
    if ((d.given & definition_field::price_low) != 0) d.price_low = from.price_low;
    if ((d.given & definition_field::price_high) != 0) d.price_high = from.price_high;
    if ((d.given & definition_field::legs) != 0) {
        d.legs = from.legs;
        d.legs_count = from.legs_count;
    } else if ((d.given & definition_field::option) != 0) {
        d.right = from.right;
        d.strike = from.strike;
    }
    return d;
}

command command_of(const definition& d) noexcept {
    layout to;
    to.instrument = d.id;
    to.like = d.like;
    to.name = d.name;
    to.given = d.given;
    if ((d.given & definition_field::expiry) != 0) to.expiry = d.expiry;
    if ((d.given & definition_field::price_low) != 0) to.price_low = d.price_low;
    if ((d.given & definition_field::price_high) != 0) to.price_high = d.price_high;
    if ((d.given & definition_field::legs) != 0) {
        to.legs = d.legs;
        to.legs_count = d.legs_count;
    } else if ((d.given & definition_field::option) != 0) {
        to.right = d.right;
        to.strike = d.strike;
    }
    return std::bit_cast<command>(to);
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
