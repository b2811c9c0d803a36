// SPDX-License-Identifier: Apache-2.0
#include "market/scenario/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "node/configuration/configuration.hpp"

namespace corro::market {
namespace {

const std::string sound = R"([market]
name = "small"
duration = "5s"
gateway_time = "1us"
engine_time = { kind = "uniform", least = "1us", most = "3us" }

[[instrument]]
id = 1
symbol = "ONE"
tick_size = "0.25"
price_low = "1000"
price_high = "4000"

[[fee]]
instrument = "ONE"
maker = "-0.01"
taker = "0.03"

[[fundamental]]
name = "value"
start_ticks = 10_000
volatility_ticks = 0.5

[[link]]
name = "far"
delay = { kind = "lognormal", least = "1ms", median = "2ms", sigma = 0.5, most = "1s" }

[[agents]]
group = "noise"
kind = "noise"
count = 10
link = "far"
interval = "50ms"

[[agents]]
group = "value"
kind = "value"
count = 4
fundamental = "value"
interval = "50ms"

[[agents]]
group = "flow"
kind = "hawkes"
base_per_second = 2
terms = [{ decay_per_second = 4, same_side = 1, other_side = 0.5 }]

[[event]]
at = "2s"
kind = "phase"
phase = "halted"

[[event]]
at = "1s"
kind = "news"
fundamental = "value"
sigmas = 20
)";

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(parse_scenario(text, "bad.toml"));
        return "no error";
    } catch (const node::configuration_error& e) {
        return e.what();
    }
}

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::logic_error("the sound scenario has no " + from);
    return text.replace(at, from.size(), to);
}

TEST(scenario, is_read_and_runs) {
    const scenario made = parse_scenario(sound, "sound.toml");
    EXPECT_EQ(made.name, "small");
    EXPECT_EQ(made.duration_ns, 5'000'000'000);
    EXPECT_EQ(made.options.fees[0].taker, 30'000'000);
    ASSERT_EQ(made.events.size(), 2U);
    EXPECT_EQ(made.events[0].kind, "news") << "events are in the order of time";
    ASSERT_EQ(made.fundamentals[0].second.shocks.size(), 1U);
    EXPECT_EQ(made.fundamentals[0].second.shocks[0].second, 10);
    const auto world = made.build(3);
    EXPECT_EQ(world->agents_count(), 16U);
    EXPECT_EQ(world->name_of(0), "noise-1");
    world->run(made.duration_ns);
    EXPECT_GT(world->counts().trades, 10U);
    EXPECT_EQ(world->venue().phase_of(domain::instrument_id{1}), domain::trading_phase::halted);
    const auto again = made.build(3);
    again->run(made.duration_ns);
    EXPECT_EQ(again->digest(), world->digest());
}

/// FILE:LINE: KEY: SENTENCE, where the line is that of the key, or that of the table that lacks it.
void expect_position(const std::string& error, const std::string& text) {
    static const std::regex form("bad\\.toml:([0-9]+): ([a-z_.]+): (.+)");
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(error, parts, form)) << error;
    std::istringstream lines(text);
    std::string line;
    for (int i = std::stoi(parts[1]); i > 0; --i) ASSERT_TRUE(std::getline(lines, line)) << error;
    const std::string key = parts[2].str();
    const std::string last = key.substr(key.rfind('.') + 1);
    if (parts[3].str() == "is missing") {
        EXPECT_TRUE(line.starts_with("[") || line.find('{') != std::string::npos) << error << "\nat: " << line;
        return;
    }
    EXPECT_NE(line.find(last), std::string::npos) << error << "\nat: " << line;
}

TEST(scenario, a_duration_may_have_any_unit_up_to_the_longest) {
    const std::vector<std::pair<std::string, std::int64_t>> all{
        {"9223372036ns", 9'223'372'036},
        {"9223372037ns", 9'223'372'037},  // as a decimal number it would be above 2^63 billionths
        {"604800000000000ns", 604'800'000'000'000},
        {"604800000000us", 604'800'000'000'000},
        {"168h", 604'800'000'000'000},
        {"1.5m", 90'000'000'000},
        {"2500.25ms", 2'500'250'000},
        {"2.000000001s", 2'000'000'001},
    };
    for (const auto& [written, ns] : all) {
        EXPECT_EQ(parse_scenario(with(sound, "\"5s\"", "\"" + written + "\""), "sound.toml").duration_ns, ns)
            << written;
    }
}

struct bad_file {
    std::string from;
    std::string to;
    std::string error;  ///< a part of it
};

TEST(scenario, names_the_line_and_the_key_of_every_error) {
    const std::vector<bad_file> all{
        {"[market]", "[market", "bad.toml:1: not TOML"},
        {"[market]", "[[[market]]]", "bad.toml:1: not TOML: Error while parsing key"},
        {"[market]", "[markets]", "is not a key of this table"},
        {"name = \"small\"\n", "", "market.name: is missing"},
        {"\"small\"", "\"Small Market\"", ":2: market.name: expected lower-case letters"},
        {"duration = \"5s\"\n", "", "market.duration: is missing"},
        {"\"5s\"", "5", ":3: market.duration: expected a duration in quotes"},
        {"\"5s\"", "\"5 seconds\"", ":3: market.duration: expected a duration in quotes"},
        {"\"5s\"", "\"0s\"", ":3: market.duration: expected a duration from 1"},
        {"\"5s\"", "\"9000h\"", ":3: market.duration: expected a duration from 1"},
        {"\"5s\"", "\"604800000000001ns\"", ":3: market.duration: expected a duration from 1 to 604800000000000 ns"},
        {"\"5s\"", "\"9223372036854775808ns\"", ":3: market.duration: expected a duration from 1 to"},
        {"\"5s\"", "\"99999999999999999999999h\"", ":3: market.duration: expected a duration from 1 to"},
        {"\"5s\"", "\".5s\"", ":3: market.duration: expected a duration in quotes"},
        {"\"5s\"", "\"5.s\"", ":3: market.duration: expected a duration in quotes"},
        {"\"5s\"", "\"s\"", ":3: market.duration: expected a duration in quotes"},
        {"\"5s\"", "\"0.0000000001s\"", ":3: market.duration: expected a duration in quotes"},
        {"\"5s\"", "\"5s\"\nsped_bump = \"1ms\"", ":4: market.sped_bump: is not a key of this table"},
        {"\"5s\"", "\"5s\"\ngateways = 0", ":4: market.gateways: expected a number from 1"},
        {"\"5s\"", "\"5s\"\nsample = \"1us\"", ":4: market.sample: expected a duration"},
        {"\"5s\"", "\"5s\"\nspeed_bump = \"2m\"", ":4: market.speed_bump: expected a duration"},
        {"\"5s\"", "\"5s\"\nstart = \"today\"", ":4: market.start: expected a time"},
        {"\"uniform\"", "\"normal\"", ":5: market.engine_time.kind: expected one of: uniform, lognormal"},
        {"least = \"1us\", most = \"3us\"", "least = \"4us\", most = \"3us\"",
         ":5: market.engine_time.least: expected at most the value of most"},
        {"kind = \"uniform\", least = \"1us\", most = \"3us\"", "kind = \"samples\", ns = []",
         ":5: market.engine_time.ns: expected a list of durations"},
        {"\"ONE\"\ntick", "\"\"\ntick", "instrument.symbol: expected 1 to"},
        {"tick_size = \"0.25\"\n", "", "instrument.tick_size: is missing"},
        {"price_low = \"1000\"", "price_low = \"1000.1\"", "instrument.price_low: is not a price"},
        {"instrument = \"ONE\"", "instrument = \"TWO\"", ":15: fee.instrument: expected one of: ONE; found \"TWO\""},
        {"maker = \"-0.01\"", "maker = -0.01", ":16: fee.maker: expected a text in quotes"},
        {"start_ticks = 10_000\n", "", "fundamental.start_ticks: is missing"},
        {"volatility_ticks = 0.5", "volatility_ticks = -1",
         ":22: fundamental.volatility_ticks: expected a number from 0"},
        {"volatility_ticks = 0.5", "volatility_ticks = 0.5\nstep = \"1ns\"",
         ":23: fundamental.step: expected a duration"},
        {"volatility_ticks = 0.5", "volatility_ticks = 0", "event.sigmas: the fundamental has no volatility"},
        {"[[link]]", "[[link]]\nname = \"far\"\n[[link]]", "link.name: is used twice; expected another name"},
        {"sigma = 0.5", "sigma = 0", ":26: link.delay.sigma: expected a number from 0.001"},
        {"median = \"2ms\", ", "", ":26: link.delay.median: is missing"},
        {"most = \"1s\"", "most = \"2m\"", ":26: link.delay.most: expected a duration"},
        {"delay = { kind", "delays = { kind", "link.delays: is not a key of this table; did you mean \"delay\"?"},
        {"group = \"value\"", "group = \"noise\"", ":36: agents.group: is used twice"},
        {"kind = \"noise\"", "kind = \"noisy\"",
         ":30: agents.kind: expected one of: almgren_chriss, avellaneda_stoikov"},
        {"count = 10", "count = 0", ":31: agents.count: expected a number from 1"},
        {"count = 10", "count = 10_000_000", ":31: agents.count: expected a number from 1"},
        {"link = \"far\"", "link = \"near\"", ":32: agents.link: expected one of: far; found \"near\""},
        {"interval = \"50ms\"", "intervall = \"50ms\"",
         ":33: agents.intervall: is not a key of this table; did you mean \"interval\"?"},
        {"interval = \"50ms\"", "market_share = 1.5", ":33: agents.market_share: expected a number from 0 to 1"},
        {"interval = \"50ms\"", "lots_least = 9\nlots_most = 3",
         ":33: agents.lots_least: expected at most the value of lots_most"},
        {"interval = \"50ms\"", "instrument = \"TWO\"", ":33: agents.instrument: expected one of: ONE"},
        {"interval = \"50ms\"", "compute = \"fast\"", ":33: agents.compute: expected a duration in quotes"},
        {"fundamental = \"value\"\ninterval", "interval", "agents.fundamental: is missing"},
        {"fundamental = \"value\"\ninterval", "fundamental = \"worth\"\ninterval",
         ":39: agents.fundamental: expected one of: value; found \"worth\""},
        {"same_side = 1", "same_side = 4", ":46: agents.terms: each event causes 1.125 others"},
        {"decay_per_second = 4", "decay_per_second = 0", ":46: agents.terms.decay_per_second: expected a number"},
        {"kind = \"hawkes\"", "kind = \"options_maker\"\nfuture = \"ONE\"",
         "agents.kind: quotes options: expected an [[instrument]] of kind \"option\""},
        {"at = \"2s\"", "at = \"6s\"", ":49: event.at: expected a duration from 0"},
        {"at = \"2s\"\n", "", "event.at: is missing"},
        {"kind = \"phase\"", "kind = \"pause\"", ":50: event.kind: expected one of: fat_finger, kill_switch"},
        {"phase = \"halted\"", "phase = \"lunch\"", ":51: event.phase: expected one of: continuous, halted"},
        {"kind = \"phase\"\nphase = \"halted\"", "kind = \"withdraw\"\ngroup = \"makers\"",
         ":51: event.group: expected one of: noise, value, flow; found \"makers\""},
        {"kind = \"phase\"\nphase = \"halted\"", "kind = \"withdraw\"\ngroup = \"noise\"\ncount = 11",
         ":52: event.count: expected a number from 1 to 10"},
        {"kind = \"phase\"\nphase = \"halted\"", "kind = \"latency\"\ngroup = \"value\"\nfactor = 2\nlength = \"1s\"",
         ":51: event.group: has no delays that could change; give its agents a link"},
        {"kind = \"phase\"\nphase = \"halted\"",
         "kind = \"latency\"\ngroup = \"noise\"\nfactor = 1000\nlength = \"1s\"",
         ":52: event.factor: expected a factor that makes no delay longer than a minute"},
        {"kind = \"phase\"\nphase = \"halted\"", "kind = \"fat_finger\"\nside = \"long\"\nlots = 5",
         ":51: event.side: expected one of: buy, sell"},
        {"sigmas = 20", "sigmas = 20\nticks = 3", ":58: event.ticks: expected either ticks or sigmas"},
        {"sigmas = 20", "sigmas = 20\nforce = 3", ":58: event.force: is not a key of this table"},
        {"\"5s\"", "\"5s\"\nstart = 2300-01-01T00:00:00Z", ":4: market.start: expected a time from 1970 to 2261"},
        {"\"5s\"", "\"5s\"\nstart = 2250-01-01T00:00:00Z", ":4: market.start: expected a time from 1970 to 2199"},
        {"\"5s\"", "\"5s\"\nstart = 1969-12-31T23:59:59Z", ":4: market.start: expected a time from 1970 to 2261"},
        {"\"5s\"", "\"5s\"\norders_max = 0", ":4: market.orders_max: expected a number from 1"},
        {"\"5s\"", "\"5s\"\nseed = -1", ":4: market.seed: expected a number from 0"},
        {"\"5s\"", "\"5s\"\nabout = 7", ":4: market.about: expected a text in quotes"},
        {"\"1us\"", "\"2m\"", ":4: market.gateway_time: expected a duration from 0"},
        {"id = 1", "id = 0", ":8: instrument.id: expected a number from 1"},
        {"[[fee]]", "[[instrument]]\nid = 1\nsymbol = \"TWO\"\ntick_size = \"1\"\n[[fee]]",
         ":15: instrument.id: is used twice"},
        {"[[fee]]", "[[instrument]]\nid = 2\nsymbol = \"ONE\"\ntick_size = \"1\"\n[[fee]]",
         ":16: instrument.symbol: is used twice"},
        {"taker = \"0.03\"", "taker = \"100.01\"", ":17: fee.taker: expected a decimal from -100 to 100"},
        {"taker = \"0.03\"", "taker = \"three\"", ":17: fee.taker: "},
        {"[[fundamental]]", "[[fee]]\ninstrument = \"ONE\"\nmaker = \"0\"\ntaker = \"0\"\n[[fundamental]]",
         ":20: fee.instrument: has a [[fee]] already; expected one for each"},
        {"[[fundamental]]\nname = \"value\"", "[[fundamental]]\nname = \"\"", ":20: fundamental.name: expected a name"},
        {"[[link]]", "[[fundamental]]\nname = \"value\"\nstart_ticks = 1\n[[link]]",
         ":25: fundamental.name: is used twice; expected another name"},
        {"[[link]]\nname = \"far\"", "[[link]]\nname = \"\"", ":25: link.name: expected a name"},
        {"[[link]]\n", "[[link]]\nspeed_bump = \"2m\"\n", ":25: link.speed_bump: expected a duration from 0"},
        {"[[link]]\n", "[[link]]\nspeed_bump = 20\n", ":25: link.speed_bump: expected a duration in quotes"},
        {"[[link]]\n", "[[link]]\nspeed_bumps = \"1ms\"\n",
         ":25: link.speed_bumps: is not a key of this table; did you mean \"speed_bump\"?"},
        {"least = \"1ms\"", "least = \"2s\"", ":26: link.delay.least: expected at most the value of most"},
        {"\"lognormal\"", "\"exponential\"", "link.delay.mean: is missing"},
        {"[[agents]]\ngroup = \"noise\"", "[[agents]]\ngroup = \"\"", ":29: agents.group: expected a name"},
        {"interval = \"50ms\"", "depth_ticks = nan", ":33: agents.depth_ticks: expected a number from 0"},
        {"interval = \"50ms\"", "clock_drift_most_ppm = 20_000",
         ":33: agents.clock_drift_most_ppm: expected a number from 0"},
        {"kind = \"value\"\ncount = 4\nfundamental = \"value\"", "kind = \"vwap\"\ncurve = [0, 0]",
         ":38: agents.curve: expected a list of expected volumes with a positive sum"},
        {"kind = \"value\"\ncount = 4\nfundamental = \"value\"", "kind = \"twap\"\nduration = \"1s\"\nslice = \"2s\"",
         ":39: agents.slice: expected at most the value of duration"},
        {"kind = \"value\"\ncount = 4\nfundamental = \"value\"", "kind = \"pov\"\nparticipation = 1",
         ":38: agents.participation: expected a number from 0.001 to 0.9"},
        {"kind = \"value\"\ncount = 4\nfundamental = \"value\"", "kind = \"twap\"\nside = \"long\"",
         ":38: agents.side: expected one of: buy, sell"},
        {"kind = \"value\"\ncount = 4\nfundamental = \"value\"", "kind = \"momentum\"\nshort_count = 9\nlong_count = 3",
         ":38: agents.short_count: expected at most the value of long_count"},
        {"kind = \"value\"\ncount = 4\nfundamental = \"value\"",
         "kind = \"latency_arbitrage\"\ninstrument = \"ONE\"\nleader = \"ONE\"",
         ":39: agents.leader: is the instrument itself; expected another one"},
        {"kind = \"value\"\ncount = 4\nfundamental = \"value\"",
         "kind = \"spread_arbitrage\"\nspread = \"ONE\"\nnear = \"ONE\"\nfar = \"ONE\"",
         ":38: agents.spread: expected an instrument of kind \"spread\""},
        {"count = 4\nfundamental", "count = 4\ncounts_fees = \"yes\"\nfundamental",
         ":39: agents.counts_fees: expected true or false"},
        {"count = 10", "count = 10\ncounts_fees = true", ":32: agents.counts_fees: is not a key of this table"},
        {"base_per_second = 2", "base_per_second = 0", ":45: agents.base_per_second: expected a positive number"},
        {"terms = [{ decay_per_second = 4, same_side = 1, other_side = 0.5 }]", "terms = 3",
         ":46: agents.terms: expected a list of at most 8 tables"},
        {"kind = \"phase\"\nphase = \"halted\"", "kind = \"settle\"\ninstrument = \"ONE\"",
         "event.price_ticks: is missing"},
        {"kind = \"phase\"\nphase = \"halted\"", "kind = \"settle\"", "event.price_ticks: is missing"},
        {"\"5s\"", "\"5s\"\nstart = \"2026-01-05T14:30:00Z\"",
         ":4: market.start: expected a time such as 2026-12-18T14:30:00Z, without quotes"},
        {"kind = \"phase\"\nphase = \"halted\"", "kind = \"kill_switch\"\ngroup = \"noise\"\non = \"yes\"",
         ":52: event.on: expected true or false"},
        {"sigmas = 20", "sigmas = \"twenty\"", ":57: event.sigmas: expected a number"},
        {"\"5s\"", "\"5s\"\nresting_time = \"2h\"", ":4: market.resting_time: expected a duration"},
        {"[[fundamental]]", "[[batch_auction]]\ninstrument = \"TWO\"\ninterval = \"1s\"\n[[fundamental]]",
         ":20: batch_auction.instrument: expected one of: ONE"},
        {"[[fundamental]]", "[[batch_auction]]\ninstrument = \"ONE\"\ninterval = \"1ns\"\n[[fundamental]]",
         ":21: batch_auction.interval: expected a duration"},
        {"[[fundamental]]",
         "[[batch_auction]]\ninstrument = \"ONE\"\ninterval = \"1s\"\n[[batch_auction]]\ninstrument = \"ONE\"\n"
         "interval = \"1s\"\n[[fundamental]]",
         ":23: batch_auction.instrument: has a [[batch_auction]] already"},
        {"volatility_ticks = 0.5", "volatility_ticks = 0.5\nvariance_correlation = 2",
         ":23: fundamental.variance_correlation: expected a number from -1"},
        {"[[fundamental]]", "[[factor]]\nname = \"\"\n[[fundamental]]", ":20: factor.name: expected a name"},
        {"[[fundamental]]", "[[factor]]\nname = \"f\"\n[[factor]]\nname = \"f\"\n[[fundamental]]",
         ":22: factor.name: is used twice; expected another name"},
        {"[[fundamental]]", "[[factor]]\nname = \"f\"\nloading = 1\n[[fundamental]]",
         ":21: factor.loading: is not a key of this table"},
        {"volatility_ticks = 0.5", "volatility_ticks = 0.5\nfactors = [{ name = \"index\", loading = 0.5 }]",
         ":23: fundamental.factors.name: expected one of: (nothing is defined); found \"index\""},
        {"[[fundamental]]\nname = \"value\"\n",
         "[[factor]]\nname = \"f\"\n[[fundamental]]\nname = \"value\"\nfactors = [{ name = \"f\" }]\n",
         "fundamental.factors.loading: is missing"},
        {"[[fundamental]]\nname = \"value\"\n",
         "[[factor]]\nname = \"f\"\n[[fundamental]]\nname = \"value\"\n"
         "factors = [{ name = \"f\", loading = 1.5 }]\n",
         ":23: fundamental.factors.loading: expected a number from -1 to 1"},
        {"[[fundamental]]\nname = \"value\"\n",
         "[[factor]]\nname = \"f\"\n[[fundamental]]\nname = \"value\"\n"
         "factors = [{ name = \"f\", loading = 0.1 }, { name = \"f\", loading = 0.1 }]\n",
         ":23: fundamental.factors.name: has a loading already; expected one for each factor"},
        {"[[fundamental]]\nname = \"value\"\n",
         "[[factor]]\nname = \"f\"\n[[factor]]\nname = \"g\"\n[[fundamental]]\nname = \"value\"\n"
         "factors = [{ name = \"f\", loading = 0.8 }, { name = \"g\", loading = -0.7 }]\n",
         ":25: fundamental.factors: the squares of the loadings have the sum 1.13"},
        {"[[fundamental]]\nname = \"value\"\n",
         "[[factor]]\nname = \"f\"\n[[fundamental]]\nname = \"other\"\nstart_ticks = 5\nstep = \"1ms\"\n"
         "factors = [{ name = \"f\", loading = 0.5 }]\n[[fundamental]]\nname = \"value\"\nstep = \"2ms\"\n"
         "factors = [{ name = \"f\", loading = 0.5 }]\n",
         ":28: fundamental.step: \"other\" has the factor \"f\", too, with another step; expected 1000000 ns for both"},
        {"start_ticks = 10_000\n", "path = \"v.csv\"\n",
         "fundamental.volatility_ticks: the values come from a file; remove this key, or remove path"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"no.csv\"",
         ":21: fundamental.path: no.csv cannot be read; expected a CSV file beside the scenario, or in"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"/v.csv\"",
         ":21: fundamental.path: expected a .csv file beside the scenario"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"../v.csv\"",
         ":21: fundamental.path: expected a .csv file beside the scenario"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"values.txt\"",
         ":21: fundamental.path: expected a .csv file beside the scenario"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"agents.csv\"",
         ":21: fundamental.path: is a file that each run writes beside its copy of the scenario"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \".//agents.csv\"",
         ":21: fundamental.path: is a file that each run writes beside its copy of the scenario"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"journal/x.csv\"",
         ":21: fundamental.path: is in the folder \"journal\", where each run keeps its journal; move the file to "
         "another folder, such as values/"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"./journal//deep/x.csv\"",
         ":21: fundamental.path: is in the folder \"journal\", where each run keeps its journal"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"journal.csv\"",
         ":21: fundamental.path: journal.csv cannot be read"},
        {"start_ticks = 10_000\nvolatility_ticks = 0.5", "path = 3",
         ":21: fundamental.path: expected a text in quotes"},
    };
    EXPECT_GE(all.size(), 80U);
    EXPECT_EQ(error_of(sound), "no error");
    for (const bad_file& each : all) {
        const std::string text = with(sound, each.from, each.to);
        const std::string found = error_of(text);
        if (found.find("not TOML") == std::string::npos) expect_position(found, text);
        EXPECT_NE(found.find(each.error), std::string::npos)
            << "for " << each.to << "\nfound:    " << found << "\nexpected: " << each.error;
    }
    EXPECT_EQ(error_of(""), "bad.toml:1: market: is missing");
    const std::string no_agents = sound.substr(0, sound.find("[[agents]]"));
    EXPECT_EQ(error_of(no_agents), "bad.toml:1: agents: expected at least one [[agents]]");
    EXPECT_EQ(error_of("[market]\nname = \"m\"\nduration = \"1s\"\n"),
              "bad.toml:1: instrument: expected at least one [[instrument]]");
    EXPECT_EQ(error_of("market = 3\n"), "bad.toml:1: market: expected a table headed [market]");
    EXPECT_EQ(error_of("[market]\nname = \"m\"\nduration = \"1s\"\n[instrument]\nid = 1\n"),
              "bad.toml:4: instrument: expected tables headed [[instrument]]");
}

TEST(scenario, names_the_line_of_every_error_of_a_file_of_values) {
    const std::string text = with(sound, "start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"v.csv\"");
    const std::map<std::string, std::string> all{
        {"", "1: expected a line with a time and a value"},
        {"seconds,ticks\n", "1: expected a line with a time and a value"},
        {"time,value\n1,2\n", "1: expected the header seconds,ticks"},
        {"seconds,ticks\n0,5\n1;6\n", "3: expected a time and a value with a comma between them"},
        {"seconds,ticks\n0,5\n\n2,6\n", "3: expected a time and a value with a comma between them"},
        {"seconds,ticks\n0,5\nten,6\n", "3: seconds: "},
        {"seconds,ticks\n0,5,6\n", "2: ticks: "},
        {"seconds,ticks\n0,\n", "2: ticks: "},
        {"seconds,ticks\n0,nan\n", "2: ticks: "},
        {"seconds,ticks\n-1,5\n", "2: seconds: expected the time since the start of the run, from 0 to a week"},
        {"seconds,ticks\n604800.1,5\n", "2: seconds: expected the time since the start of the run, from 0 to a week"},
        {"seconds,ticks\n0,5\n0,6\n", "3: seconds: expected a later time than in the line before"},
        {"seconds,ticks\n0,1000000000.5\n", "2: ticks: expected a value from -1"},
    };
    for (const auto& [values, error] : all) {
        scenario_files from;
        from.read_text = [&](const std::string& file) {
            EXPECT_EQ(file, "there/v.csv") << "beside the scenario";
            return values;
        };
        try {
            static_cast<void>(parse_scenario(text, "there/bad.toml", from));
            ADD_FAILURE() << "no error for " << values;
        } catch (const node::configuration_error& e) {
            const std::string found = e.what();
            const std::string expected = "there/bad.toml:21: fundamental.path: there/v.csv:" + error;
            EXPECT_EQ(found.substr(0, expected.size()), expected) << "for " << values;
        }
    }
}

TEST(scenario, values_from_a_file_are_followed_exactly) {
    scenario_files from;
    from.data_folder = "elsewhere";
    from.read_text = [](const std::string& file) -> std::optional<std::string> {
        if (file != "elsewhere/days/v.csv") return std::nullopt;
        return "seconds,ticks\r\n0,10000.25\r\n0.000000001,-3\n2.5,10004.1";
    };
    const std::string text = with(sound, "start_ticks = 10_000\nvolatility_ticks = 0.5", "path = \"days/v.csv\"");
    const scenario made = parse_scenario(with(text, "sigmas = 20", "ticks = 8"), "file.toml", from);
    ASSERT_EQ(made.files.size(), 1U);
    EXPECT_EQ(made.files[0].name, "days/v.csv");
    EXPECT_EQ(made.files[0].text, from.read_text("elsewhere/days/v.csv"));
    oracle value(made.fundamentals[0].second, 1, "value");
    const value_path expected{
        {0, 10'000.25}, {1, -3}, {999'999'999, -3}, {1'000'000'000, 5}, {2'500'000'000, 10'012.1}};
    for (const auto& [at_ns, ticks] : expected) EXPECT_DOUBLE_EQ(value.at(at_ns), ticks) << at_ns;
    EXPECT_EQ(error_of(with(text, "days/v.csv", "config/no.csv")).find("bad.toml:21: fundamental.path: config/no.csv"),
              0U);
}

TEST(scenario, a_factor_changes_a_run_only_through_loadings) {
    const auto digest_of = [](const std::string& text) {
        const scenario made = parse_scenario(text, "factors.toml");
        const auto world = made.build(3);
        world->run(3'000'000'000);
        return world->digest();
    };
    const std::string other =
        "[[factor]]\nname = \"index\"\n[[fundamental]]\nname = \"other\"\nstart_ticks = 1\n"
        "factors = [{ name = \"index\", loading = 0.5 }]\n[[fundamental]]";
    const std::string beside = with(sound, "[[fundamental]]", other);
    EXPECT_EQ(digest_of(beside), digest_of(sound)) << "another value changes no path";
    const std::string loaded = "volatility_ticks = 0.5\nfactors = [{ name = \"index\", loading = 0.5 }]";
    EXPECT_NE(digest_of(with(beside, "volatility_ticks = 0.5", loaded)), digest_of(sound));
}

TEST(scenario, fees_change_decisions_only_of_groups_that_count_them) {
    const auto run_of = [](const std::string& text) {
        const scenario made = parse_scenario(text, "fees.toml");
        const auto world = made.build(3);
        world->run(3'000'000'000);
        return std::pair{world->digest(), world->fees_received()};
    };
    const std::string free = with(with(sound, "-0.01", "0"), "\"0.03\"", "\"0\"");
    const std::string dear = with(sound, "\"0.03\"", "\"0.75\"");
    EXPECT_EQ(run_of(dear).first, run_of(free).first) << "the default";
    EXPECT_GT(run_of(dear).second, 0);
    const auto counted = [](const std::string& text) {
        return with(text, "count = 4", "count = 4\ncounts_fees = true");
    };
    EXPECT_NE(run_of(counted(dear)).first, run_of(free).first);
    EXPECT_EQ(run_of(counted(free)).first, run_of(free).first) << "there is nothing to count";
}

TEST(scenario, a_spread_arbitrageur_that_counts_fees_leaves_what_they_would_eat_up) {
    const std::string file = CORRO_SOURCE_DIR "/config/markets/calendar.toml";
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto lots_traded = [&](const std::string& key, const std::string& fee) {
        std::string fees;
        for (const char* const each : {"ESZ6", "ESH7", "ESZ6-ESH7"}) {
            fees += std::string("[[fee]]\ninstrument = \"") + each + "\"\nmaker = \"0\"\ntaker = \"" + fee + "\"\n";
        }
        const std::string kind = "kind = \"spread_arbitrage\"\n";
        const scenario made = parse_scenario(with(text, kind, kind + key) + fees, file);
        const auto world = made.build(1, false);
        world->run(60'000'000'000);
        std::uint64_t lots = 0;
        for (std::size_t i = 0; i < world->agents_count(); ++i) {
            if (world->name_of(i) != "arbitrageur-1") continue;
            for (const holding& each : world->agent_at(i).true_holdings()) lots += each.traded_lots;
        }
        return lots;
    };
    EXPECT_GT(lots_traded("", "90"), 0U);
    EXPECT_GT(lots_traded("counts_fees = true\n", "0"), 0U);
    EXPECT_EQ(lots_traded("counts_fees = true\n", "90"), 0U);
}

/// When an instrument traded, and how often.
struct trade_times final : market_observer {
    void on_command(const domain::command& command) override { now_ns = command.time.value; }
    void on_events(std::span<const domain::event> events) override {
        for (const domain::event& e : events) {
            if (e.kind == domain::event_kind::trade) all.push_back(now_ns);
        }
    }
    std::int64_t now_ns = 0;
    std::vector<std::int64_t> all;
};

TEST(scenario, an_instrument_in_batches_trades_when_they_end_and_at_no_other_time) {
    const std::string text = with(sound, "[[fundamental]]",
                                  "[[batch_auction]]\ninstrument = \"ONE\"\ninterval = \"500ms\"\n[[fundamental]]");
    const scenario made = parse_scenario(
        with(text, "kind = \"phase\"\nphase = \"halted\"", "kind = \"withdraw\"\ngroup = \"value\""), "batches.toml");
    const auto world = made.build(1);
    trade_times trades;
    world->observe_with(trades);
    world->run(made.duration_ns);
    EXPECT_GT(trades.all.size(), 10U);
    std::set<std::int64_t> ends;
    for (const std::int64_t at : trades.all) {
        const std::int64_t since_end = (at - made.options.start_ns) % 500'000'000;
        EXPECT_LT(since_end, 1'000'000) << "the gateway's and the engine's time";
        ends.insert((at - made.options.start_ns) / 500'000'000);
    }
    EXPECT_GT(ends.size(), 3U);
}

/// Counts rejected requests by reason. Those that a phase rejects count apart when the agents must have known it.
struct refusals final : market_observer {
    void on_command(const domain::command& command) override { now_ns = command.time.value; }
    void on_events(std::span<const domain::event> events) override {
        for (const domain::event& e : events) {
            if (e.kind == domain::event_kind::phase_changed) changed_ns[e.instrument.value] = now_ns;
            if (e.kind != domain::event_kind::order_rejected) continue;
            ++count[e.reason];
            const bool is_by_phase = e.reason == domain::reject_reason::instrument_halted ||
                                     e.reason == domain::reject_reason::instrument_closed ||
                                     e.reason == domain::reject_reason::not_in_this_phase;
            // The slowest links of these files take 8 ms, and longer than 100 ms once in a hundred million times.
            if (is_by_phase && now_ns - changed_ns[e.instrument.value] > 250'000'000) ++known_phase;
        }
    }
    std::int64_t now_ns = 0;
    std::map<std::uint32_t, std::int64_t> changed_ns;
    std::map<domain::reject_reason, std::uint64_t> count;
    std::uint64_t known_phase = 0;
};

/// What happens while a request is on its way: the order has traded, the price has gone, a post-only one would trade.
constexpr std::array unavoidable{domain::reject_reason::order_not_open, domain::reject_reason::no_counterparty,
                                 domain::reject_reason::would_take_liquidity,
                                 domain::reject_reason::price_outside_dynamic_band};

/// A participant sends nothing that it knows to be rejected.
void expect_sensible(const refusals& found, const scenario& of) {
    EXPECT_EQ(found.known_phase, 0U) << of.name;
    for (const auto& [reason, count] : found.count) {
        if (std::ranges::find(unavoidable, reason) != unavoidable.end()) continue;
        const std::string what = of.name + ": " + std::string(domain::to_string(reason));
        if (reason == domain::reject_reason::instrument_halted || reason == domain::reject_reason::not_in_this_phase) {
            // What was on its way when the phase changed.
            EXPECT_LE(count, 50U) << what;
            EXPECT_TRUE(of.batches.empty()) << what << ": all know that the instrument trades in batches";
        } else {
            // Both makers learn of the kill, and then try ten quotes each second for 30 seconds.
            EXPECT_EQ(reason, domain::reject_reason::killed) << what;
            EXPECT_LE(count, 2 * 10 * 31U) << what;
        }
    }
}

TEST(scenario, no_participant_sends_what_it_knows_to_be_rejected) {
    // Those whose phases change, and the one with a kill switch; the other files are in the next test.
    for (const auto& [name, seconds] : std::map<std::string, std::int64_t>{{"fat_finger_with_auction", 110},
                                                                           {"fat_finger_with_breaker", 110},
                                                                           {"flash_crash_with_breaker", 110},
                                                                           {"halt", 170},
                                                                           {"kill_switch", 160}}) {
        const std::string file = CORRO_SOURCE_DIR "/config/markets/" + name + ".toml";
        std::ifstream in(file);
        const scenario made = parse_scenario(std::string{std::istreambuf_iterator<char>(in), {}}, file);
        const auto world = made.build(1, false);
        refusals found;
        world->observe_with(found);
        world->run(seconds * 1'000'000'000);
        expect_sensible(found, made);
        EXPECT_GE(found.count.size(), 3U) << name << ": the test has seen refusals";
    }
}

TEST(scenario, every_shipped_one_runs_and_repeats_itself) {
    const std::filesystem::path folder = CORRO_SOURCE_DIR "/config/markets";
    std::vector<std::filesystem::directory_entry> all;
    for (const std::filesystem::path& each : {folder, folder / "calibrated", folder / "designs"}) {
        std::ranges::copy(std::filesystem::directory_iterator(each), std::back_inserter(all));
    }
    std::size_t count = 0;
    for (const auto& entry : all) {
        if (entry.path().extension() != ".toml") continue;
        ++count;
        // Recorded sessions are quieter than the other markets.
        const bool is_quiet = entry.path().parent_path() == folder / "calibrated";
        std::ifstream in(entry.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        const scenario made = parse_scenario(text, entry.path().string());
        EXPECT_EQ(made.name, entry.path().stem().string());
        EXPECT_FALSE(made.about.empty());
        std::uint64_t digest = 0;
        for (int i = 0; i < 2; ++i) {
            const auto world = made.build(1, false);
            refusals found;
            world->observe_with(found);
            world->run(is_quiet ? 1'200'000'000'000 : 20'000'000'000);
            EXPECT_GT(world->counts().trades, 50U) << made.name;
            expect_sensible(found, made);
            std::int64_t cash = 0;
            for (std::size_t k = 0; k < world->agents_count(); ++k) {
                for (const holding& each : world->agent_at(k).true_holdings()) cash += each.cash;
            }
            EXPECT_EQ(cash, 0) << made.name;
            if (i == 0) digest = world->digest();
            EXPECT_EQ(world->digest(), digest) << made.name;
        }
    }
    EXPECT_GE(count, 12U);
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
}

TEST(scenario, a_design_has_all_lines_of_the_continuous_market_and_a_few_of_its_own) {
    // Two changes would give one difference. Ticks of another size change all distances, so those files are not here.
    const std::filesystem::path folder = CORRO_SOURCE_DIR "/config/markets/designs";
    constexpr std::size_t head_lines = 4;  // the comment, [market], the name and the sentence about it
    const std::vector<std::string> base = lines_of(folder / "continuous.toml");
    ASSERT_GT(base.size(), head_lines);
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().stem().string().find("ticks") != std::string::npos) continue;
        ++count;
        const std::vector<std::string> lines = lines_of(entry.path());
        std::size_t found = head_lines;
        for (std::size_t i = head_lines; i < lines.size() && found < base.size(); ++i) {
            if (lines[i] == base[found]) ++found;
        }
        EXPECT_EQ(found, base.size()) << entry.path() << " lacks: " << (found < base.size() ? base[found] : "");
        EXPECT_LE(lines.size(), base.size() + 12) << entry.path();
        EXPECT_EQ(lines.size() == base.size(), entry.path().stem() == "continuous") << entry.path();
    }
    EXPECT_GE(count, 18U);
}

}  // namespace
}  // namespace corro::market
