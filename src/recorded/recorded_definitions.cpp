// SPDX-License-Identifier: Apache-2.0
#include "recorded/recorded_definitions.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "domain/decimal.hpp"

namespace corro::recorded {

namespace {

[[nodiscard]] domain::instrument_kind kind_of(dbn::instrument_class c) {
    switch (c) {
        case dbn::instrument_class::future: return domain::instrument_kind::future;
        case dbn::instrument_class::call:
        case dbn::instrument_class::put: return domain::instrument_kind::option;
        case dbn::instrument_class::future_spread:
        case dbn::instrument_class::option_spread:
        case dbn::instrument_class::mixed_spread: return domain::instrument_kind::spread;
        default: return domain::instrument_kind::spot;
    }
}

/// A leg's ratio, if the venue can hold it: whole lots.
[[nodiscard]] std::uint32_t ratio_of(const dbn::leg_definition& leg) {
    const std::int32_t denominator = std::max(leg.quantity_ratio_denominator, 1);
    const bool is_whole = leg.quantity_ratio_numerator > 0 && leg.quantity_ratio_numerator % denominator == 0;
    return is_whole ? static_cast<std::uint32_t>(leg.quantity_ratio_numerator / denominator) : 0;
}

/// The largest price that both the venue's ticks and 64 bits of billionths can hold: the default of a configuration
/// without a band.
[[nodiscard]] std::int64_t reach_of(const domain::instrument& i) {
    return std::min(domain::price_ticks_max, (INT64_MAX - 1) / i.tick_size.value);
}

/// Sets the price band: the recorded limits if they are prices of the instrument, otherwise the largest possible ones.
void set_band(domain::instrument& i, domain::price_nano low, domain::price_nano high) {
    i.price_low = domain::price_ticks{-reach_of(i)};
    i.price_high = domain::price_ticks{reach_of(i)};
    if (low == domain::no_price_nano || high == domain::no_price_nano) return;
    const auto low_ticks = domain::to_ticks(i, low);
    const auto high_ticks = domain::to_ticks(i, high);
    if (low_ticks.reason != domain::reject_reason::none || high_ticks.reason != domain::reject_reason::none) return;
    if (low_ticks.value > high_ticks.value) return;
    i.price_low = low_ticks.value;
    i.price_high = high_ticks.value;
}

[[nodiscard]] std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}  // namespace

recorded_definitions::entry recorded_definitions::read(const dbn::instrument_definition& d) const {
    entry e;
    e.symbol = std::string(d.raw_symbol);
    e.is_deleted = d.update_action == 'D';
    domain::instrument& i = e.what;
    i.name = domain::symbol{d.raw_symbol};
    i.kind = kind_of(d.instrument_class);
    i.tick_size = d.min_price_increment == domain::no_price_nano ? tick_size_ : d.min_price_increment;
    if (d.raw_symbol.empty() || d.raw_symbol.size() > domain::symbol_size_max) {
        e.problem = fmt::format("a symbol has 1 to {} characters", domain::symbol_size_max);
    } else if (i.tick_size.value <= 0) {
        e.problem = "the definition names no tick size";
    } else {
        set_band(i, d.low_limit_price, d.high_limit_price);
    }
    if (i.kind == domain::instrument_kind::option) {
        const bool is_call = d.instrument_class == dbn::instrument_class::call;
        i.right = is_call ? domain::option_right::call : domain::option_right::put;
        i.strike = d.strike_price == domain::no_price_nano ? domain::price_nano{} : d.strike_price;
    }
    if (d.expiration.value > 0) i.expiry = d.expiration;
    const std::size_t dash = d.raw_symbol.find('-');
    if (d.leg.count == 0 && d.instrument_class == dbn::instrument_class::future_spread &&
        dash != std::string_view::npos) {
        e.legs[0] = {std::string(d.raw_symbol.substr(0, dash)), 1, domain::side::buy};
        e.legs[1] = {std::string(d.raw_symbol.substr(dash + 1)), 1, domain::side::sell};
    }
    return e;
}

void recorded_definitions::add(const dbn::instrument_definition& d) {
    entry fresh = read(d);
    const auto [at, is_new] = by_symbol_.try_emplace(fresh.symbol, entries_.size());
    if (is_new) entries_.emplace_back();
    entry& known = entries_[at->second];
    // Each leg comes in a record of its own, which repeats the rest.
    if (d.leg.count != 0) {
        if (d.leg.index != 0) fresh.legs = std::move(known.legs);
        fresh.legs[d.leg.index] = {std::string(d.leg.raw_symbol), ratio_of(d.leg),
                                   d.leg.side == dbn::side::ask ? domain::side::sell : domain::side::buy};
    }
    known = std::move(fresh);
}

recorded_instruments recorded_definitions::finish() const {
    recorded_instruments made;
    const auto id_of = [&](const std::string& symbol) {
        const auto at = by_symbol_.find(symbol);
        return domain::instrument_id{at == by_symbol_.end() ? 0U : static_cast<std::uint32_t>(at->second) + 1};
    };
    for (const entry& e : entries_) {
        if (e.is_deleted) continue;
        domain::instrument i = e.what;
        i.id = id_of(e.symbol);
        std::string problem = e.problem;
        if (e.legs.size() > domain::legs_max) {
            problem = "more legs than the venue's limit";
        } else {
            std::uint32_t lots_max = domain::order_quantity_lots_max;
            for (const auto& [index, leg] : e.legs) {
                i.legs[i.legs_count++] = {id_of(leg.symbol), leg.ratio, leg.side};
                if (leg.ratio != 0) lots_max = std::min(lots_max, domain::order_quantity_lots_max / leg.ratio);
            }
            i.order_quantity_max = domain::quantity_lots{lots_max};
        }
        if (problem.empty()) problem = std::string(domain::validate(i));
        if (problem.empty()) {
            made.instruments.push_back(i);
        } else {
            made.left_out.push_back(e.symbol + ": " + problem);
        }
    }
    // Legs are plain instruments, so leaving a strategy out removes no leg of another strategy.
    std::vector<domain::instrument> sound;
    for (const domain::instrument& i : made.instruments) {
        const std::string_view problem = domain::validate_legs(i, made.instruments);
        if (problem.empty()) {
            sound.push_back(i);
        } else {
            made.left_out.push_back(fmt::format("{}: {}", i.name.view(), problem));
        }
    }
    made.instruments = std::move(sound);
    return made;
}

std::string to_configuration(const domain::instrument& i) {
    static constexpr const char* kinds[]{"future", "option", "spread", "spot"};
    const auto price = [&](domain::price_ticks ticks) {
        return std::string(domain::format_decimal(domain::to_nano(i, ticks).value).view());
    };
    std::string text = fmt::format("[[instrument]]\nid = {}\nsymbol = {}\nkind = \"{}\"\ntick_size = \"{}\"\n",
                                   i.id.value, quoted(i.name.view()), kinds[static_cast<std::size_t>(i.kind)],
                                   domain::format_decimal(i.tick_size.value).view());
    if (i.price_high.value != reach_of(i))
        text += fmt::format("price_low = \"{}\"\nprice_high = \"{}\"\n", price(i.price_low), price(i.price_high));
    if (i.right != domain::option_right::none) {
        text += fmt::format("right = \"{}\"\nstrike = \"{}\"\n", i.right == domain::option_right::call ? "call" : "put",
                            domain::format_decimal(i.strike.value).view());
    }
    if (i.expiry.value != 0) {
        const std::chrono::sys_time<std::chrono::seconds> at{std::chrono::seconds{i.expiry.value / 1'000'000'000}};
        text += fmt::format("expiry = {:%Y-%m-%dT%H:%M:%S}Z\n", at);
    }
    if (i.legs_count == 0) return text;
    std::string legs;
    for (const domain::leg& l : i.legs_used()) {
        legs += fmt::format("{}{{ instrument = {}, side = \"{}\", ratio = {} }}", legs.empty() ? "" : ", ",
                            l.instrument.value, l.side == domain::side::buy ? "buy" : "sell", l.ratio);
    }
    return text + "legs = [" + legs + "]\n";
}

}  // namespace corro::recorded
