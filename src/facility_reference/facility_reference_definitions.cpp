// SPDX-License-Identifier: Apache-2.0
// The reference: instruments that are defined while the venue runs.
#include <cstring>

#include "domain/fingerprint.hpp"
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::instrument;
using domain::reject_reason;
using domain::side;

reject_reason facility_reference::make_instrument(const domain::definition& d, instrument& made) const {
    if (definitions_.size() - configured_count_ >= options_.instruments_reserved) {
        return reject_reason::instruments_full;
    }
    const instrument* like = nullptr;
    bool is_id_taken = false;
    bool is_name_taken = false;
    for (const instrument& i : definitions_) {
        is_id_taken = is_id_taken || i.id == d.id;
        is_name_taken = is_name_taken || i.name.view() == d.name.view();
        if (i.id == d.like) like = &i;
    }
    if (is_id_taken) return reject_reason::instrument_exists;
    if (like == nullptr) return reject_reason::unknown_instrument;
    if (books_[index_of(d.like)].is_settled) return reject_reason::instrument_settled;
    if (like->implied) return reject_reason::implied_definition;

    made = *like;
    made.id = d.id;
    made.name = d.name;
    if ((d.given & 1) != 0) made.expiry = d.expiry;
    if ((d.given & 2) != 0) {
        made.right = d.right;
        made.strike = d.strike;
    }
    const auto to_price = [&](domain::price_nano from, domain::price_ticks& to) {
        if (from.value % like->tick_size.value != 0) return reject_reason::price_off_tick;
        const std::int64_t ticks = from.value / like->tick_size.value;
        if (ticks > 4'000'000'000 || ticks < -4'000'000'000) return reject_reason::invalid_price;
        to = domain::price_ticks{ticks};
        return reject_reason::none;
    };
    reject_reason wrong = reject_reason::none;
    if ((d.given & 4) != 0) wrong = to_price(d.price_low, made.price_low);
    if (wrong == reject_reason::none && (d.given & 8) != 0) wrong = to_price(d.price_high, made.price_high);
    if (wrong != reject_reason::none) return wrong;
    if ((d.given & 16) != 0) {
        if (d.legs_count > 4 || d.legs_count != like->legs_count) return reject_reason::unsound_definition;
        for (std::size_t i = 0; i < d.legs_count; ++i) made.legs[i].instrument = d.legs[i];
    }
    std::size_t length = 0;
    while (length < 24 && d.name.characters[length] > 32 && d.name.characters[length] < 127 &&
           std::strchr(",\"", d.name.characters[length]) == nullptr) {
        ++length;
    }
    for (std::size_t i = length; i < 24; ++i) {
        if (d.name.characters[i] != 0) return reject_reason::unsound_definition;
    }
    if (d.given > 31 || !domain::validate(made).empty()) return reject_reason::unsound_definition;

    for (std::size_t i = 0; i < made.legs_count; ++i) {
        bool is_known = false;
        for (const instrument& other : definitions_) is_known = is_known || other.id == made.legs[i].instrument;
        if (!is_known) return reject_reason::unknown_leg;
        if (books_[index_of(made.legs[i].instrument)].is_settled) return reject_reason::instrument_settled;
    }
    if (is_name_taken && mistake_ != defect::names_are_given_twice) return reject_reason::name_taken;
    std::vector<instrument> with_it = definitions_;
    with_it.push_back(made);
    return domain::validate_legs(made, with_it).empty() ? reject_reason::none : reject_reason::unsound_definition;
}

void facility_reference::define_instrument() {
    if (!command_.is_operator()) return refuse(reject_reason::not_authorised);
    const domain::definition d = domain::definition_of(command_);
    instrument made;
    if (const reject_reason reason = make_instrument(d, made); reason != reject_reason::none) return refuse(reason);
    definitions_.push_back(made);
    instruments_.push_back(made);
    books_.emplace_back();
    elsewhere_.emplace_back();
    if (mistake_ != defect::definitions_begin_open) books_.back().phase = domain::trading_phase::closed;

    const auto nano = [&](domain::price_ticks ticks) { return domain::price_nano{ticks.value * made.tick_size.value}; };
    say(event_kind::instrument_terms, made.id.value, side::buy).terms = {
        made.strike, nano(made.price_low), nano(made.price_high), made.right, {}};
    if (made.legs_count != 0 && made.legs_count <= 4) {
        domain::instrument_legs_said legs;
        legs.count = made.legs_count;
        for (std::size_t i = 0; i < made.legs_count; ++i) legs.instruments[i] = made.legs[i].instrument;
        say(event_kind::instrument_legs, made.id.value, side::buy).legs = legs;
    }
    say(event_kind::instrument_defined, made.id.value, side::buy).defined = {made.name, made.expiry, d.like, {}};
    say(event_kind::phase_changed, made.id.value, side::buy).phase = {domain::trading_phase::closed, {}, {}, {}};
    request_done(made.id, command_.account.value);
}

void facility_reference::hash_definitions(state_hasher& hasher) const {
    for (std::size_t i = configured_count_; i < definitions_.size(); ++i) {
        base::hasher of_one;
        domain::add_to(of_one, definitions_[i]);
        hasher.add(of_one.value());
    }
}

}  // namespace corro::facility::testing
