// SPDX-License-Identifier: Apache-2.0
// Any bytes are read as a scenario: they are one, or the error names the file, a line and what is wrong. A scenario
// that was accepted runs for a while, conserves cash, and repeats itself.
//
// The committed corpus: src/market/fuzz_corpus/scenario

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "market/calibration/scenario_template.hpp"
#include "market/scenario/scenario.hpp"
#include "market/scenario/scenario_parts.hpp"
#include "node/configuration/configuration.hpp"
#include "recorded/replay/order_record.hpp"

namespace {

using namespace corro;

/// "fuzzed.toml:LINE: " and a sentence.
void check_error(std::string_view text) {
    constexpr std::string_view file = "fuzzed.toml:";
    CORRO_ASSERT(text.starts_with(file));
    text.remove_prefix(file.size());
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    CORRO_ASSERT(digits != 0 && text.substr(digits).starts_with(": "), "an error names its line");
    CORRO_ASSERT(text.front() != '0', "lines count from 1");
    CORRO_ASSERT(text.size() > digits + 10, "an error has words");
}

/// Runs it until something has happened; returns the digest.
std::uint64_t run_a_while(const market::scenario& of) {
    constexpr std::uint64_t wakes_max = 2'000;
    const std::unique_ptr<market::market> world = of.build(of.seed, false);
    for (std::int64_t until = 100; world->counts().wakes < wakes_max; until *= 4) {
        world->run(std::min(until, of.duration_ns));
        if (until >= of.duration_ns) break;
    }
    std::int64_t cash = 0;
    for (std::size_t i = 0; i < world->agents_count(); ++i) {
        for (const market::holding& each : world->agent_at(i).true_holdings()) cash += each.cash;
    }
    CORRO_ASSERT(cash == 0, "what one side pays the other receives");
    return world->digest();
}

/// Any bytes are read as a template, too: what it begins with is a text without parameters.
void read_as_template(std::string_view text) {
    try {
        const market::scenario_template made(text, "fuzzed.toml");
        const std::string filled = made.filled(made.begin());
        CORRO_ASSERT(market::scenario_template(filled, "filled").parameters().empty(),
                     "all parameters are numbers now");
        if (made.parameters().empty()) CORRO_ASSERT(filled == text, "a text without parameters stays");
    } catch (const node::configuration_error& error) {
        check_error(error.what());
    }
}

/// Any bytes are read as a file of values: a path by time, or an error with its line.
void read_as_values(std::string_view text) {
    const auto made = market::parse_value_path(text);
    if (!made) {
        check_error("fuzzed.toml:" + made.error());
        return;
    }
    CORRO_ASSERT(!made->empty());
    CORRO_ASSERT(std::ranges::adjacent_find(*made, [](const auto& a, const auto& b) { return a.first >= b.first; }) ==
                     made->end(),
                 "values are by time");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_as_template(text);
    read_as_values(text);
    market::scenario made;
    market::scenario_files from;
    from.load = [](const recorded::replay::recording_options& /*files*/) -> market::recorded_day {
        throw recorded::replay::replay_error("no file is opened here");
    };
    from.read_text = [](const std::string& /*file*/) { return std::string("seconds,ticks\n0,100\n1,101.5\n"); };
    try {
        made = market::parse_scenario(text, "fuzzed.toml", from);
    } catch (const node::configuration_error& error) {
        check_error(error.what());
        return 0;
    }
    std::uint64_t agents_count = 0;
    for (const market::agent_group& each : made.groups) agents_count += each.count;
    if (agents_count > 64) return 0;  // slow to run, and no other code
    made.options.orders_max = std::min(made.options.orders_max, 4'096U);
    CORRO_ASSERT(run_a_while(made) == run_a_while(made), "a seed has one run");
    return 0;
}
