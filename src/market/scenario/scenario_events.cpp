// SPDX-License-Identifier: Apache-2.0
// Reads the timeline: what happens to a market at which moment.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "market/limits.hpp"
#include "market/scenario/scenario_parts.hpp"

namespace corro::market {
namespace {

using domain::trading_phase;
using node::table_reader;

/// The indices of the agents of a group.
struct index_range {
    std::size_t first = 0;
    std::size_t last = 0;  // one beyond
};

index_range group_in(table_reader& r, const scenario& of) {
    const std::string name = r.text("group");
    std::vector<std::string> known;
    index_range found;
    std::size_t index = 0;
    for (const agent_group& g : of.groups) {
        if (g.name == name) found = {index, index + g.count};
        index += g.count;
        known.push_back(g.name);
    }
    require_one_of(r, "group", name, known);
    return found;
}

using action = std::function<void(market&, agent&)>;

action read_phase(table_reader& r, const scenario_names& names) {
    static constexpr std::array<std::string_view, 7> phases{
        "continuous", "halted", "pre_open", "opening_auction", "volatility_auction", "closing_auction", "closed"};
    const domain::instrument_id of = names.instrument_or_first(r, "instrument");
    const std::string name = r.text("phase");
    require_one_of(r, "phase", name, {phases.begin(), phases.end()});
    const auto phase = static_cast<trading_phase>(std::ranges::find(phases, name) - phases.begin());
    const std::int64_t length = r.duration_ns("length", 0, 0, duration_ns_max);
    return [=](market& world, agent& by) {
        const std::int64_t ends = length == 0 ? 0 : world.options().start_ns + world.now_ns() + length;
        by.send(phase_command(of, phase, ends));
    };
}

action read_kill(table_reader& r, const scenario& of) {
    const index_range all = group_in(r, of);
    const bool is_on = r.flag("on", true);
    return [=](market& world, agent& by) {
        for (std::size_t i = all.first; i < all.last; ++i) {
            domain::command c;
            c.kind = domain::command_kind::kill_switch;
            c.payload.kill_switch = domain::kill_switch{};
            c.kill_switch().kill_scope = domain::kill_scope::account;
            c.kill_switch().state = is_on ? domain::switch_state::on : domain::switch_state::off;
            c.kill_switch().other_account = world.agent_at(i).account();
            by.send(c);
        }
    };
}

/// Multiplies the delays of a group, and gives them back after a length.
void read_latency(table_reader& r, std::int64_t at_ns, scenario& into) {
    const index_range all = group_in(r, into);
    const double factor = r.real("factor", 0, 1e6);
    const std::int64_t length = r.duration_ns("length", 1, duration_ns_max);
    std::size_t index = 0;
    std::shared_ptr<const link> before;
    for (const agent_group& g : into.groups) {
        if (index == all.first) before = g.way;
        index += g.count;
    }
    if (before == nullptr) r.fail("group", "has no delays that could change; give its agents a link");
    const auto storm =
        std::make_shared<const link>(before->request.scaled(factor), before->answer.scaled(factor),
                                     before->market_data.scaled(factor), before->in_order, before->bump_ns);
    if (storm->market_data.most_ns() > link_delay_ns_max || storm->request.most_ns() > link_delay_ns_max) {
        r.fail("factor", "expected a factor that makes no delay longer than a minute");
    }
    into.options.reach_ns = std::max(into.options.reach_ns, storm->market_data.most_ns());
    const auto change = [all](std::shared_ptr<const link> way) {
        return [all, way = std::move(way)](market& world, agent&) {
            for (std::size_t i = all.first; i < all.last; ++i) world.change_link(world.agent_at(i), way);
        };
    };
    into.events.push_back({at_ns, "latency", change(storm)});
    into.events.push_back({at_ns + length, "latency ends", change(before)});
}

void read_news(table_reader& r, std::int64_t at_ns, scenario& into) {
    const scenario_names names{&into};
    const std::string name = names.fundamental(r, "fundamental", true);
    if (r.has("ticks") == r.has("sigmas")) r.fail("ticks", "expected either ticks or sigmas");
    auto& how = std::ranges::find(into.fundamentals, name, &std::pair<std::string, oracle_options>::first)->second;
    double ticks = 0;
    if (r.has("ticks")) {
        ticks = r.real("ticks", -many, many);
    } else {
        // Standard deviations of the change in one second.
        ticks = r.real("sigmas", -1e6, 1e6) * how.volatility;
        if (how.volatility == 0) r.fail("sigmas", "the fundamental has no volatility; write ticks");
    }
    how.shocks.emplace_back(at_ns, ticks);
    into.events.push_back({at_ns, "news", [](market&, agent&) {}});
}

action read_fat_finger(table_reader& r, const scenario_names& names) {
    const domain::instrument_id of = names.instrument_or_first(r, "instrument");
    const std::string text = r.text("side");
    require_one_of(r, "side", text, {"buy", "sell"});
    const domain::side side = text == "buy" ? domain::side::buy : domain::side::sell;
    const domain::quantity_lots lots{static_cast<std::uint32_t>(r.number("lots", 1, domain::order_quantity_lots_max))};
    return [=](market&, agent& by) { by.enter(at_market(side, lots).on(of).ioc()); };
}

action read_withdraw(table_reader& r, const scenario& of) {
    const index_range all = group_in(r, of);
    const auto count = static_cast<std::size_t>(r.number("count", all.last - all.first, 1, all.last - all.first));
    return [=](market& world, agent&) {
        for (std::size_t i = all.first; i < all.first + count; ++i) world.stop(world.agent_at(i));
    };
}

action read_settle(table_reader& r, const scenario_names& names) {
    const domain::instrument_id of = names.instrument_or_first(r, "instrument");
    const auto price = static_cast<std::int64_t>(r.number("price_ticks", 0, 4'000'000'000));
    return [=](market&, agent& by) {
        domain::command c;
        c.kind = domain::command_kind::settle_instrument;
        c.payload.settle_instrument = domain::settle_instrument{};
        c.instrument = of;
        c.settle_instrument().price = domain::price_ticks{price};
        by.send(c);
    };
}

}  // namespace

domain::command phase_command(domain::instrument_id of, trading_phase phase, std::int64_t resume_ns) {
    domain::command c;
    c.kind = domain::command_kind::change_phase;
    c.payload.change_phase = domain::change_phase{};
    c.instrument = of;
    c.change_phase().phase = phase;
    c.change_phase().resume_time = domain::time_ns{resume_ns};
    return c;
}

void read_event(table_reader& r, scenario& into) {
    const scenario_names names{&into};
    const std::int64_t at = r.duration_ns("at", 0, into.duration_ns);
    const std::string kind = r.text("kind");
    require_one_of(r, "kind", kind, {"fat_finger", "kill_switch", "latency", "news", "phase", "settle", "withdraw"});
    if (kind == "latency") return read_latency(r, at, into);
    if (kind == "news") return read_news(r, at, into);
    action act;
    if (kind == "phase") act = read_phase(r, names);
    if (kind == "kill_switch") act = read_kill(r, into);
    if (kind == "fat_finger") act = read_fat_finger(r, names);
    if (kind == "withdraw") act = read_withdraw(r, into);
    if (kind == "settle") act = read_settle(r, names);
    into.events.push_back({at, kind, std::move(act)});
}

}  // namespace corro::market
