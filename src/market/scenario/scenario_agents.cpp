// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of participants.

#include <array>
#include <map>
#include <utility>

#include "market/participants/common_workload.hpp"
#include "market/participants/participants.hpp"
#include "market/scenario/scenario_parts.hpp"

namespace corro::market {
namespace {

using domain::side;
using node::table_reader;

std::shared_ptr<oracle> find_in(const oracle_map& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? nullptr : found->second;
}

double ticks(table_reader& r, std::string_view key, double otherwise) {
    return r.real(key, otherwise, -many, many);
}
double positive(table_reader& r, std::string_view key, double otherwise) {
    return r.real(key, otherwise, 0, many);
}
double share(table_reader& r, std::string_view key, double otherwise) {
    return r.real(key, otherwise, 0, 1);
}
std::int64_t lots(table_reader& r, std::string_view key, std::int64_t otherwise) {
    return static_cast<std::int64_t>(r.number(key, static_cast<std::uint64_t>(otherwise), 1, 1'000'000));
}
std::int64_t duration(table_reader& r, std::string_view key, std::int64_t otherwise) {
    return r.duration_ns(key, otherwise, 1, duration_ns_max);
}
double mean_duration(table_reader& r, std::string_view key, double otherwise) {
    return static_cast<double>(duration(r, key, static_cast<std::int64_t>(otherwise)));
}
side side_in(table_reader& r, std::string_view key) {
    const std::string text = r.text(key, "buy");
    require_one_of(r, key, text, {"buy", "sell"});
    return text == "buy" ? side::buy : side::sell;
}
void check_order(table_reader& r, std::string_view key, double least, double most, std::string_view other) {
    if (least > most) r.fail(key, fmt::format("expected at most the value of {}", other));
}

/// The lots of one order, drawn between two bounds.
template <class Options>
void read_sizes(table_reader& r, Options& how) {
    how.lots_least = lots(r, "lots_least", how.lots_least);
    how.lots_most = lots(r, "lots_most", std::max(how.lots_least, how.lots_most));
    check_order(r, "lots_least", static_cast<double>(how.lots_least), static_cast<double>(how.lots_most), "lots_most");
}

/// The lots of one order, and of the largest position.
template <class Options>
void read_position(table_reader& r, Options& how) {
    how.lots = lots(r, "lots", how.lots);
    how.position_max = lots(r, "position_max", how.position_max);
}

/// A maker of behaviours that are the same for all agents of the group.
template <class Options, class Make>
group_maker same_for_all(Options how, std::string fundamental, Make make) {
    return [how, fundamental, make](const oracle_map& oracles, std::uint32_t) {
        Options own = how;
        if constexpr (requires { own.fundamental; }) own.fundamental = find_in(oracles, fundamental);
        return [own, make](agent& me) { return make(me, own); };
    };
}

group_maker read_noise(table_reader& r, const scenario_names& names) {
    noise_options how;
    how.in = names.instrument_or_first(r, "instrument");
    how.interval_ns = mean_duration(r, "interval", how.interval_ns);
    how.market_share = share(r, "market_share", how.market_share);
    how.gap_ticks = positive(r, "gap_ticks", how.gap_ticks);
    how.depth_ticks = positive(r, "depth_ticks", how.depth_ticks);
    how.life_ns = mean_duration(r, "life", how.life_ns);
    how.anchor_ticks = ticks(r, "anchor_ticks", how.anchor_ticks);
    how.reach_ticks = positive(r, "reach_ticks", how.reach_ticks);
    read_sizes(r, how);
    return same_for_all(how, "", noise);
}

group_maker read_zero_intelligence(table_reader& r, const scenario_names& names) {
    zero_intelligence_options how;
    how.in = names.instrument_or_first(r, "instrument");
    how.interval_ns = mean_duration(r, "interval", how.interval_ns);
    const std::string fundamental = names.fundamental(r, "fundamental", false);
    how.fundamental_ticks = ticks(r, "fundamental_ticks", how.fundamental_ticks);
    how.position_max = static_cast<std::uint32_t>(lots(r, "position_max", how.position_max));
    how.value_deviation_ticks = positive(r, "value_deviation_ticks", how.value_deviation_ticks);
    how.surplus_least_ticks = positive(r, "surplus_least_ticks", how.surplus_least_ticks);
    how.surplus_most_ticks = positive(r, "surplus_most_ticks", how.surplus_most_ticks);
    check_order(r, "surplus_least_ticks", how.surplus_least_ticks, how.surplus_most_ticks, "surplus_most_ticks");
    how.take_share = share(r, "take_share", how.take_share);
    how.counts_fees = r.flag("counts_fees", false);
    return same_for_all(how, fundamental, zero_intelligence);
}

group_maker read_hawkes(table_reader& r, const scenario_names& names) {
    hawkes_flow_options how;
    how.in = names.instrument_or_first(r, "instrument");
    const double base = positive(r, "base_per_second", 0.5);
    if (base <= 0) r.fail("base_per_second", "expected a positive number");
    how.process.base = {base, base};
    how.reach_ticks = positive(r, "reach_ticks", how.reach_ticks);
    read_sizes(r, how);
    how.clears_lots = static_cast<std::int64_t>(r.number("clears_lots", 0, 0, 1'000'000));
    r.tables("terms", 8, [&](table_reader& term) {
        hawkes_options::term one;
        one.decay = term.real("decay_per_second", 1e-6, 1e6);
        const double same = term.real("same_side", 0, 0, many);
        const double other = term.real("other_side", 0, 0, many);
        term.finish();
        one.jumps = {same, other, other, same};
        how.process.terms.push_back(std::move(one));
    });
    if (const double sum = hawkes_process::row_sum_max(how.process); sum >= 1) {
        r.fail("terms", fmt::format("each event causes {} others on average; expected fewer than 1: lower same_side "
                                    "and other_side, or raise decay_per_second",
                                    sum));
    }
    return same_for_all(how, "", hawkes_flow);
}

group_maker read_splitter(table_reader& r, const scenario_names& names) {
    splitter_options how;
    how.in = names.instrument_or_first(r, "instrument");
    how.pause_ns = mean_duration(r, "pause", how.pause_ns);
    how.piece_interval_ns = mean_duration(r, "piece_interval", how.piece_interval_ns);
    how.pieces_alpha = r.real("pieces_alpha", how.pieces_alpha, 0.1, 10);
    how.pieces_max = r.real("pieces_max", how.pieces_max, 1, 1e6);
    how.lots = lots(r, "lots", how.lots);
    how.reach_ticks = positive(r, "reach_ticks", how.reach_ticks);
    return same_for_all(how, "", splitter);
}

group_maker read_spoofer(table_reader& r, const scenario_names& names) {
    spoofer_options how;
    how.in = names.instrument_or_first(r, "instrument");
    how.pause_ns = mean_duration(r, "pause", how.pause_ns);
    how.hold_ns = duration(r, "hold", how.hold_ns);
    how.layers = static_cast<std::uint32_t>(r.number("layers", how.layers, 1, 100));
    how.layer_lots = lots(r, "layer_lots", how.layer_lots);
    how.genuine_lots = lots(r, "genuine_lots", how.genuine_lots);
    how.distance_ticks = static_cast<std::int64_t>(r.number("distance_ticks", 3, 0, 10'000));
    return same_for_all(how, "", spoofer);
}

group_maker read_value(table_reader& r, const scenario_names& names) {
    value_options how;
    how.in = names.instrument_or_first(r, "instrument");
    const std::string fundamental = names.fundamental(r, "fundamental", true);
    how.interval_ns = mean_duration(r, "interval", how.interval_ns);
    how.observation_deviation_ticks = positive(r, "observation_deviation_ticks", how.observation_deviation_ticks);
    how.threshold_ticks = positive(r, "threshold_ticks", how.threshold_ticks);
    how.passive_ticks = positive(r, "passive_ticks", how.passive_ticks);
    read_position(r, how);
    how.counts_fees = r.flag("counts_fees", false);
    return same_for_all(how, fundamental, value_trader);
}

group_maker read_average(table_reader& r, const scenario_names& names, bool follows) {
    average_options how;
    how.follows = follows;
    how.in = names.instrument_or_first(r, "instrument");
    how.interval_ns = duration(r, "interval", how.interval_ns);
    how.short_count = r.real("short_count", how.short_count, 1, 1e6);
    how.long_count = r.real("long_count", how.long_count, 1, 1e6);
    check_order(r, "short_count", how.short_count, how.long_count, "long_count");
    how.threshold_ticks = positive(r, "threshold_ticks", how.threshold_ticks);
    read_position(r, how);
    how.reach_ticks = positive(r, "reach_ticks", how.reach_ticks);
    return same_for_all(how, "", average_trader);
}

group_maker read_latency_arbitrage(table_reader& r, const scenario_names& names) {
    latency_arbitrage_options how;
    how.in = names.instrument(r, "instrument");
    how.leader = names.instrument(r, "leader");
    if (how.leader == how.in) r.fail("leader", "is the instrument itself; expected another one");
    how.edge_ticks = positive(r, "edge_ticks", how.edge_ticks);
    read_position(r, how);
    how.counts_fees = r.flag("counts_fees", false);
    return same_for_all(how, "", latency_arbitrageur);
}

group_maker read_spread_arbitrage(table_reader& r, const scenario_names& names) {
    spread_arbitrage_options how;
    how.spread = names.instrument(r, "spread");
    how.near = names.instrument(r, "near");
    how.far = names.instrument(r, "far");
    const auto has_leg = [legs = names.rules(how.spread).legs_used()](domain::instrument_id of) {
        return std::ranges::find(legs, of, &domain::leg::instrument) != legs.end();
    };
    if (how.near == how.far || !has_leg(how.near) || !has_leg(how.far)) {
        r.fail("spread", "expected an instrument of kind \"spread\" with near and far as its legs");
    }
    how.edge_ticks = positive(r, "edge_ticks", how.edge_ticks);
    read_position(r, how);
    how.counts_fees = r.flag("counts_fees", false);
    return same_for_all(how, "", spread_arbitrageur);
}

group_maker read_ladder(table_reader& r, const scenario_names& names) {
    ladder_options how;
    how.in = names.instrument_or_first(r, "instrument");
    const std::string fundamental = names.fundamental(r, "fundamental", false);
    how.refresh_ns = duration(r, "refresh", how.refresh_ns);
    how.watches = r.flag("watches", how.watches);
    how.half_spread_ticks = positive(r, "half_spread_ticks", how.half_spread_ticks);
    how.step_ticks = positive(r, "step_ticks", how.step_ticks);
    how.levels = static_cast<std::uint32_t>(r.number("levels", how.levels, 1, 100));
    how.skew_ticks = ticks(r, "skew_ticks", how.skew_ticks);
    how.follow_ticks = positive(r, "follow_ticks", 0);
    read_position(r, how);
    how.anchor_ticks = ticks(r, "anchor_ticks", how.anchor_ticks);
    how.counts_fees = r.flag("counts_fees", false);
    return same_for_all(how, fundamental, ladder_maker);
}

group_maker read_optimal_maker(table_reader& r, const scenario_names& names, bool has_end) {
    optimal_maker_options how;
    how.has_end = has_end;
    how.in = names.instrument_or_first(r, "instrument");
    how.refresh_ns = duration(r, "refresh", how.refresh_ns);
    if (has_end) how.horizon_ns = duration(r, "horizon", how.horizon_ns);
    how.risk_aversion = r.real("risk_aversion", how.risk_aversion, 1e-9, 1e3);
    how.volatility = r.real("volatility_ticks", how.volatility, 0, many);
    how.decay = r.real("decay_per_tick", how.decay, 1e-6, 1e3);
    if (!has_end) how.intensity = r.real("intensity_per_second", how.intensity, 1e-6, 1e9);
    read_position(r, how);
    how.anchor_ticks = ticks(r, "anchor_ticks", how.anchor_ticks);
    how.counts_fees = r.flag("counts_fees", false);
    return same_for_all(how, "", optimal_maker);
}

group_maker read_options_maker(table_reader& r, const scenario_names& names) {
    options_maker_options how;
    how.future = names.instrument(r, "future");
    if (names.rules(how.future).kind == domain::instrument_kind::option) {
        r.fail("future", "is an option; expected the instrument that hedges");
    }
    for (const domain::instrument& each : names.made->options.instruments) {
        if (each.kind == domain::instrument_kind::option) how.options.push_back(each.id);
    }
    if (how.options.empty()) r.fail("kind", "quotes options: expected an [[instrument]] of kind \"option\"");
    how.refresh_ns = duration(r, "refresh", how.refresh_ns);
    how.volatility = r.real("volatility", how.volatility, 0.001, 10);
    how.skew = r.real("skew", how.skew, -10, 10);
    how.smile = r.real("smile", how.smile, -10, 10);
    how.years_left = r.real("years_left", how.years_left, 1e-6, 100);
    how.half_spread_ticks = positive(r, "half_spread_ticks", how.half_spread_ticks);
    read_position(r, how);
    how.hedge_lots = positive(r, "hedge_lots", how.hedge_lots);
    return same_for_all(how, "", options_maker);
}

group_maker read_execution(table_reader& r, const scenario_names& names, schedule_kind kind) {
    execution_options how;
    how.kind = kind;
    how.in = names.instrument_or_first(r, "instrument");
    how.side = side_in(r, "side");
    how.lots = lots(r, "lots", how.lots);
    how.begin_ns = r.duration_ns("begin", 0, 0, duration_ns_max);
    how.duration_ns = duration(r, "duration", how.duration_ns);
    how.slice_ns = duration(r, "slice", how.slice_ns);
    check_order(r, "slice", static_cast<double>(how.slice_ns), static_cast<double>(how.duration_ns), "duration");
    how.reach_ticks = positive(r, "reach_ticks", how.reach_ticks);
    if (kind == schedule_kind::vwap) {
        for (const std::uint64_t each : r.numbers("curve", 0, 1'000'000))
            how.curve.push_back(static_cast<double>(each));
        double sum = 0;
        for (const double each : how.curve) sum += each;
        if (sum <= 0) r.fail("curve", "expected a list of expected volumes with a positive sum");
    }
    if (kind == schedule_kind::pov) how.participation = r.real("participation", how.participation, 0.001, 0.9);
    if (kind == schedule_kind::almgren_chriss) {
        how.urgency_per_second = r.real("urgency_per_second", how.urgency_per_second, 0, 1e3);
    }
    return same_for_all(how, "", execution);
}

group_maker read_common(table_reader& r, const scenario_names& names) {
    const domain::instrument_id in = names.instrument_or_first(r, "instrument");
    const std::int64_t step = duration(r, "interval", 1'000'000'000);
    const auto middle = static_cast<std::int64_t>(r.number("middle_ticks", 10'000, 1, 1'000'000'000));
    const auto band = static_cast<std::int64_t>(r.number("band_ticks", 20, 2, 100'000));
    return [=](const oracle_map&, std::uint32_t) {
        return [=](agent& me) { return common_zero_intelligence(me, in, middle - band / 2, middle + band / 2, step); };
    };
}

group_maker read_idle(table_reader& /*r*/, const scenario_names& /*names*/) {
    return [](const oracle_map&, std::uint32_t) { return [](agent&) { return behaviour(); }; };
}

using reader_of_kind = group_maker (*)(table_reader&, const scenario_names&);
const std::map<std::string, reader_of_kind>& readers() {
    static const std::map<std::string, reader_of_kind> all{
        {"almgren_chriss",
         [](table_reader& r, const scenario_names& n) { return read_execution(r, n, schedule_kind::almgren_chriss); }},
        {"avellaneda_stoikov", [](table_reader& r, const scenario_names& n) { return read_optimal_maker(r, n, true); }},
        {"banded_zero_intelligence", &read_common},
        {"gueant_lehalle", [](table_reader& r, const scenario_names& n) { return read_optimal_maker(r, n, false); }},
        {"hawkes", &read_hawkes},
        {"idle", &read_idle},
        {"ladder", &read_ladder},
        {"latency_arbitrage", &read_latency_arbitrage},
        {"mean_reversion", [](table_reader& r, const scenario_names& n) { return read_average(r, n, false); }},
        {"momentum", [](table_reader& r, const scenario_names& n) { return read_average(r, n, true); }},
        {"noise", &read_noise},
        {"options_maker", &read_options_maker},
        {"pov", [](table_reader& r, const scenario_names& n) { return read_execution(r, n, schedule_kind::pov); }},
        {"splitter", &read_splitter},
        {"spoofer", &read_spoofer},
        {"spread_arbitrage", &read_spread_arbitrage},
        {"twap", [](table_reader& r, const scenario_names& n) { return read_execution(r, n, schedule_kind::twap); }},
        {"value", &read_value},
        {"vwap", [](table_reader& r, const scenario_names& n) { return read_execution(r, n, schedule_kind::vwap); }},
        {"zero_intelligence", &read_zero_intelligence},
    };
    return all;
}

}  // namespace

group_maker read_participant(table_reader& r, const std::string& kind, const scenario_names& names) {
    std::vector<std::string> known;
    for (const auto& [name, reader] : readers()) known.push_back(name);
    require_one_of(r, "kind", kind, known);
    return readers().at(kind)(r, names);
}

}  // namespace corro::market
