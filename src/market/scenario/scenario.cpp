// SPDX-License-Identifier: Apache-2.0
#include "market/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "market/limits.hpp"
#include "market/scenario/scenario_parts.hpp"
#include "node/configuration/configuration_parts.hpp"

namespace corro::market {
namespace {

template <class Range, class Value, class Member = std::identity>
bool contains(const Range& all, const Value& value, Member member = {}) {
    return std::ranges::find(all, value, member) != std::ranges::end(all);
}

using node::configuration_error;
using node::table_reader;

/// The latest start: a week later is still a time.
constexpr std::int64_t start_ns_max = 7'258'118'400'000'000'000;  // 2200-01-01
/// Of a lot. The fees of some 90 million lots are below 2^63.
constexpr std::int64_t fee_nano_max = 100'000'000'000;

void read_market(table_reader& r, scenario& into) {
    into.name = r.text("name");
    if (into.name.empty() ||
        into.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") != std::string::npos) {
        r.fail("name", "expected lower-case letters, digits, '-' and '_'");
    }
    into.about = r.text("about", "");
    if (into.day != nullptr) {
        into.duration_ns = r.duration_ns("duration", into.duration_ns, 1, duration_ns_max);
        if (r.has("start")) r.fail("start", "the recording has its own times; remove this key");
    } else {
        into.duration_ns = r.duration_ns("duration", 1, duration_ns_max);
    }
    into.sample_ns = r.duration_ns("sample", into.sample_ns, 1'000'000, into.duration_ns);
    into.seed = r.number("seed", 1, 0, INT64_MAX);
    market_options& o = into.options;
    if (const domain::time_ns start = r.time("start"); start.value != 0) o.start_ns = start.value;
    if (o.start_ns > start_ns_max) r.fail("start", "expected a time from 1970 to 2199");
    o.orders_max = static_cast<std::uint32_t>(r.number("orders_max", o.orders_max, 1, 100'000'000));
    o.times.gateways_count = static_cast<std::uint32_t>(r.number("gateways", 1, 1, 1'000));
    o.times.gateway = read_delay(r, "gateway_time", delay());
    o.times.engine = read_delay(r, "engine_time", delay());
    o.times.bump_ns = r.duration_ns("speed_bump", 0, 0, link_delay_ns_max);
    o.times.resting_ns = r.duration_ns("resting_time", 0, 0, 3'600'000'000'000);
}

void read_instruments(const toml::table& root, const std::string& file, scenario& into) {
    node::configuration instruments;
    node::read_instruments(root, file, instruments);
    if (instruments.instruments.empty()) {
        throw configuration_error(file + ":1: instrument: expected at least one [[instrument]]");
    }
    into.options.instruments = std::move(instruments.instruments);
    std::ostringstream written;
    written << toml::table{{"instrument", *root["instrument"].as_array()}};
    into.instruments_toml = written.str() + "\n";
}

void read_fees(const toml::table& root, const std::string& file, scenario& into) {
    into.options.fees.resize(into.options.instruments.size());
    const scenario_names names{&into};
    std::set<std::size_t> has_fee;
    node::read_array(root, "fee", file, [&](table_reader& r) {
        const domain::instrument_id of = names.instrument(r, "instrument");
        const auto index =
            static_cast<std::size_t>(std::ranges::find(into.options.instruments, of, &domain::instrument::id) -
                                     into.options.instruments.begin());
        if (!has_fee.insert(index).second) r.fail("instrument", "has a [[fee]] already; expected one for each");
        const auto amount = [&r](std::string_view key) {
            const std::int64_t nano = r.decimal(key);
            if (nano < -fee_nano_max || nano > fee_nano_max) r.fail(key, "expected a decimal from -100 to 100");
            return nano;
        };
        into.options.fees[index] = {.maker = amount("maker"), .taker = amount("taker")};
        r.finish();
    });
}

void read_batches(const toml::table& root, const std::string& file, scenario& into) {
    const scenario_names names{&into};
    node::read_array(root, "batch_auction", file, [&](table_reader& r) {
        batch_auction one;
        one.instrument = names.instrument(r, "instrument");
        if (contains(into.batches, one.instrument, &batch_auction::instrument)) {
            r.fail("instrument", "has a [[batch_auction]] already; expected one for each");
        }
        one.interval_ns = r.duration_ns("interval", 1'000, duration_ns_max);
        r.finish();
        into.batches.push_back(one);
        into.options.in_batches.push_back(one.instrument);
    });
}

using link_map = std::map<std::string, std::shared_ptr<const link>>;

link_map read_links(const toml::table& root, const std::string& file) {
    link_map all;
    node::read_array(root, "link", file, [&](table_reader& r) {
        const std::string name = read_name(r, "name");
        const delay both = read_delay(r, "delay", delay());
        const delay request = read_delay(r, "request", both);
        const delay answer = read_delay(r, "answer", both);
        const delay data = read_delay(r, "market_data", answer);
        const bool in_order = r.flag("in_order", true);
        const std::int64_t bump_ns = r.duration_ns("speed_bump", 0, 0, link_delay_ns_max);
        const auto made = std::make_shared<const link>(request, answer, data, in_order, bump_ns);
        r.finish();
        if (!all.emplace(name, made).second) r.fail("name", used_twice);
    });
    return all;
}

void read_groups(const toml::table& root, const std::string& file, const link_map& links, scenario& into) {
    const scenario_names names{&into};
    std::uint64_t agents_count = 0;
    node::read_array(root, "agents", file, [&](table_reader& r) {
        agent_group g;
        g.name = read_name(r, "group");
        if (contains(into.groups, g.name, &agent_group::name)) r.fail("group", used_twice);
        g.kind = r.text("kind");
        g.count = static_cast<std::uint32_t>(r.number("count", 1, 1, 1'000'000));
        agents_count += g.count;
        if (agents_count > 1'000'000) r.fail("count", "expected at most 1,000,000 agents in all groups");
        if (into.day != nullptr && agents_count >= recorded_day_agents_max) {
            r.fail("count", fmt::format("expected fewer than {} agents in a recorded day", recorded_day_agents_max));
        }
        if (const std::string name = r.text("link", ""); !name.empty()) {
            std::vector<std::string> known;
            for (const auto& [each, way] : links) known.push_back(each);
            require_one_of(r, "link", name, known);
            g.way = links.at(name);
        }
        g.compute = read_delay(r, "compute", delay());
        g.clock_offset_most_ns = r.duration_ns("clock_offset_most", 0, 0, 3'600'000'000'000);
        g.clock_drift_most_ppm = r.real("clock_drift_most_ppm", 0, 0, 10'000);
        g.begins_ns = r.duration_ns("begins", 0, 0, duration_ns_max);
        g.make = read_participant(r, g.kind, names);
        r.finish();
        into.groups.push_back(std::move(g));
    });
    if (into.groups.empty())
        throw configuration_error(fmt::format("{}:1: agents: expected at least one [[agents]]", file));
    into.options.accounts_max =
        std::max(into.options.accounts_max, static_cast<std::uint32_t>(agents_count + into.batches.size()) + 2);
    into.options.orders_max = std::max(into.options.orders_max, static_cast<std::uint32_t>(2 * agents_count));
}

behaviour run_timeline(agent& me, market& world, const std::vector<timeline_event>* events) {
    for (const timeline_event& each : *events) {
        const bool goes_on = co_await me.sleep(each.at_ns - me.now_ns());
        if (!goes_on) co_return;
        each.act(world, me);
    }
}

/// Each interval ends the auction of the instrument, and begins the next one in the same moment.
behaviour run_batches(agent& me, batch_auction how) {
    for (std::int64_t next = how.interval_ns;; next += how.interval_ns) {
        me.send(phase_command(how.instrument, domain::trading_phase::volatility_auction));
        const bool goes_on = co_await me.sleep(next - me.now_ns());
        if (!goes_on) co_return;
        me.send(phase_command(how.instrument, domain::trading_phase::continuous));
    }
}

behaviour begin_later(agent& me, std::int64_t at_ns, std::function<behaviour(agent&)> make) {
    const bool goes_on = co_await me.sleep(at_ns);
    if (!goes_on) co_return;
    co_await make(me);
}

}  // namespace

std::string read_name(table_reader& r, std::string_view key) {
    std::string name = r.text(key);
    if (name.empty()) r.fail(key, "expected a name");
    return name;
}

void require_one_of(const table_reader& r, std::string_view key, const std::string& value,
                    const std::vector<std::string>& known) {
    if (contains(known, value)) return;
    std::string names;
    for (const std::string& each : known) names += (names.empty() ? "" : ", ") + each;
    r.fail(key,
           fmt::format("expected one of: {}; found \"{}\"", names.empty() ? "(nothing is defined)" : names, value));
}

domain::instrument_id scenario_names::instrument(table_reader& r, std::string_view key) const {
    const std::string name = r.text(key);
    std::vector<std::string> known;
    for (const domain::instrument& each : made->options.instruments) {
        if (each.name.view() == name) return each.id;
        known.emplace_back(each.name.view());
    }
    require_one_of(r, key, name, known);
    return {};
}

domain::instrument_id scenario_names::instrument_or_first(table_reader& r, std::string_view key) const {
    if (r.has(key)) return instrument(r, key);
    static_cast<void>(r.text(key, ""));  // it is a known key
    return made->options.instruments.front().id;
}

const domain::instrument& scenario_names::rules(domain::instrument_id of) const {
    return *std::ranges::find(made->options.instruments, of, &domain::instrument::id);
}

std::string scenario_names::fundamental(table_reader& r, std::string_view key, bool is_needed) const {
    const std::string name = is_needed ? r.text(key) : r.text(key, "");
    if (name.empty() && !is_needed) return name;
    std::vector<std::string> known;
    for (const auto& [each, options] : made->fundamentals) known.push_back(each);
    require_one_of(r, key, name, known);
    return name;
}

delay read_delay(table_reader& r, std::string_view key, const delay& otherwise) {
    if (!r.has(key)) {
        static_cast<void>(r.text(key, ""));  // it is a known key
        return otherwise;
    }
    if (r.is_text(key)) return delay::constant(r.duration_ns(key, 0, link_delay_ns_max));
    delay made;
    r.table(key, [&](table_reader& t) {
        const std::string kind = t.text("kind");
        require_one_of(t, "kind", kind, {"uniform", "lognormal", "exponential", "samples"});
        if (kind == "samples") {
            std::vector<std::int64_t> samples;
            for (const std::uint64_t ns : t.numbers("ns", 0, link_delay_ns_max)) {
                samples.push_back(static_cast<std::int64_t>(ns));
            }
            if (samples.empty()) t.fail("ns", "expected a list of durations in nanoseconds");
            made = delay::empirical(std::move(samples));
            t.finish();
            return;
        }
        const std::int64_t least = t.duration_ns("least", 0, 0, link_delay_ns_max);
        const std::int64_t most = t.duration_ns("most", 0, link_delay_ns_max);
        if (least > most) t.fail("least", "expected at most the value of most");
        if (kind == "uniform") made = delay::uniform(least, most);
        if (kind == "lognormal") {
            const std::int64_t median = t.duration_ns("median", 1, link_delay_ns_max);
            made = delay::lognormal(least, static_cast<double>(median), t.real("sigma", 0.001, 10), most);
        }
        if (kind == "exponential") {
            const std::int64_t mean = t.duration_ns("mean", 1, link_delay_ns_max);
            made = delay::exponential(least, static_cast<double>(mean), most);
        }
        t.finish();
    });
    return made;
}

std::unique_ptr<market> scenario::build(std::uint64_t run_seed, bool keeps_commands) const {
    market_options o = options;
    o.seed = run_seed;
    o.keeps_commands = keeps_commands;
    o.keeps_notes = true;
    auto made = std::make_unique<market>(std::move(o));
    oracle_map oracles;
    for (const auto& [each, how] : fundamentals) {
        oracles.emplace(each, std::make_shared<oracle>(how, run_seed, "fundamental " + each));
    }
    for (const agent_group& g : groups) {
        for (std::uint32_t i = 0; i < g.count; ++i) {
            agent_options who;
            who.name = fmt::format("{}-{}", g.name, i + 1);
            who.way = g.way;
            who.compute = g.compute;
            random_stream clocks(run_seed, who.name + " clock");
            if (g.clock_offset_most_ns != 0) {
                who.clock.offset_ns = clocks.between(-g.clock_offset_most_ns, g.clock_offset_most_ns);
            }
            who.clock.drift_ppm = g.clock_drift_most_ppm * clocks.uniform(-1, 1);
            std::function<behaviour(agent&)> make = g.make(oracles, i);
            if (g.begins_ns != 0) {
                make = [at = g.begins_ns, inner = std::move(make)](agent& me) { return begin_later(me, at, inner); };
            }
            made->add_agent(std::move(who), std::move(make));
        }
    }
    if (day != nullptr) {
        auto flow = std::make_shared<recorded_flow>(day, recorded, run_seed);
        made->observe_with(*flow);
        made->take_commands_from(std::move(flow));
    }
    agent_options by;
    by.name = "operator";
    by.is_operator = true;
    made->add_agent(std::move(by),
                    [world = made.get(), all = &events](agent& me) { return run_timeline(me, *world, all); });
    for (const batch_auction& each : batches) {
        agent_options batches_operator;
        batches_operator.name = fmt::format("batches-{}", each.instrument.value);
        batches_operator.is_operator = true;
        made->add_agent(std::move(batches_operator), [each](agent& me) { return run_batches(me, each); });
    }
    return made;
}

const recorded_flow* recorded_flow_of(const market& world) noexcept {
    return dynamic_cast<const recorded_flow*>(world.source());
}

scenario parse_scenario(std::string_view text, const std::string& file, const scenario_files& from) {
    toml::table root;
    try {
        root = toml::parse(text, file);
    } catch (const toml::parse_error& e) {
        throw configuration_error(fmt::format("{}:{}: not TOML: {}", file, e.source().begin.line, e.description()));
    }
    scenario made;
    made.text = std::string(text);
    table_reader top(root, file, "");
    top.knows({"market", "recording", "instrument", "fee", "batch_auction", "factor", "fundamental", "link", "agents",
               "event"});
    if (!root.contains("market")) throw configuration_error(file + ":1: market: is missing");
    node::read_table(root, "recording", file, [&](table_reader& r) { read_recording(r, file, from, made); });
    node::read_table(root, "market", file, [&](table_reader& r) { read_market(r, made); });
    if (made.day != nullptr) {
        if (root.contains("instrument")) top.fail("instrument", "the recording has its own; remove these tables");
    } else {
        read_instruments(root, file, made);
    }
    read_fees(root, file, made);
    read_batches(root, file, made);
    read_fundamentals(root, file, from, made);
    read_groups(root, file, read_links(root, file), made);
    node::read_array(root, "event", file, [&](table_reader& r) {
        read_event(r, made);
        r.finish();
    });
    std::vector<timeline_event> by_time;  // those of one moment stay in the order of the file
    for (timeline_event& each : made.events) {
        by_time.insert(std::ranges::upper_bound(by_time, each.at_ns, {}, &timeline_event::at_ns), std::move(each));
    }
    made.events = std::move(by_time);
    for (auto& [name, how] : made.fundamentals) std::ranges::sort(how.shocks);
    return made;
}

}  // namespace corro::market
