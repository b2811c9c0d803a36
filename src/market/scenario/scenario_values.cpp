// SPDX-License-Identifier: Apache-2.0
// Reads the values that the agents of a scenario observe: common factors, processes, paths from files.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "domain/decimal.hpp"
#include "market/scenario/scenario_parts.hpp"
#include "recorded/replay/recording.hpp"

namespace corro::market {
namespace {

using node::configuration_error;
using node::table_reader;

constexpr std::string_view path_head = "seconds,ticks";
constexpr std::size_t factors_max = 16;
/// Loadings whose squares have a sum of 1, such as 0.6 and 0.8, may miss it by what decimals are rounded.
constexpr double squares_max = 1 + 1e-9;

std::unexpected<std::string> bad_line(std::size_t line, const std::string& sentence) {
    return std::unexpected(fmt::format("{}: {}", line, sentence));
}

std::vector<oracle_options::factor> read_loadings(table_reader& r, const std::vector<std::string>& known) {
    std::vector<oracle_options::factor> all;
    double squares = 0;
    r.tables("factors", factors_max, [&](table_reader& each) {
        oracle_options::factor one;
        one.name = each.text("name");
        require_one_of(each, "name", one.name, known);
        if (std::ranges::find(all, one.name, &oracle_options::factor::name) != all.end()) {
            each.fail("name", "has a loading already; expected one for each factor");
        }
        one.loading = each.real("loading", -1, 1);
        each.finish();
        squares += one.loading * one.loading;
        all.push_back(std::move(one));
    });
    if (squares > squares_max) {
        r.fail("factors", fmt::format("the squares of the loadings have the sum {}; expected at most 1", squares));
    }
    return all;
}

/// Keys of a process, which a path from a file does not have.
constexpr std::array<std::string_view, 11> process_keys{"start_ticks",
                                                        "mean_ticks",
                                                        "reversion_per_second",
                                                        "volatility_ticks",
                                                        "variance_volatility",
                                                        "variance_reversion_per_second",
                                                        "variance_correlation",
                                                        "jumps_per_second",
                                                        "jump_deviation_ticks",
                                                        "step",
                                                        "factors"};

/// In the folder of a run, beside its copy of the file.
constexpr std::array<std::string_view, 5> run_files{"agents.csv", "digests.csv", "impact.csv", "private.csv",
                                                    "recorded.csv"};
constexpr std::string_view journal_folder = "journal/";

/// A path that does not leave the folder of the scenario, in its shortest form.
std::string read_path_name(table_reader& r) {
    const std::string written = r.text("path");
    if (!written.ends_with(".csv") || written.starts_with('/') || written.find("..") != std::string::npos) {
        r.fail("path", "expected a .csv file beside the scenario: a path that does not begin with / and has no ..");
    }
    std::string shortest;  // a//b and ./a/b are a/b
    for (std::string_view left = written; !left.empty();) {
        const std::size_t end = std::min(left.find('/'), left.size());
        const std::string_view part = left.substr(0, end);
        left.remove_prefix(std::min(end + 1, left.size()));
        if (part.empty() || part == ".") continue;
        if (!shortest.empty()) shortest += '/';
        shortest += part;
    }
    if (std::ranges::find(run_files, shortest) != run_files.end()) {
        r.fail("path", "is a file that each run writes beside its copy of the scenario; expected another name");
    }
    if (shortest.starts_with(journal_folder)) {
        r.fail("path",
               "is in the folder \"journal\", where each run keeps its journal; move the file to another folder, such "
               "as values/");
    }
    return shortest;
}

value_path read_path(table_reader& r, const std::string& file, const scenario_files& from, scenario& into) {
    const std::string name = read_path_name(r);
    for (const std::string_view key : process_keys) {
        if (r.has(key)) r.fail(key, "the values come from a file; remove this key, or remove path");
    }
    const std::string found = recorded::replay::find_recording({name}, file, from.data_folder).front().string();
    std::optional<std::string> text = from.read_text(found);
    if (!text) {
        r.fail("path", fmt::format("{} cannot be read; expected a CSV file beside the scenario, or in the folder of "
                                   "--data",
                                   found));
    }
    std::expected<value_path, std::string> made = parse_value_path(*text);
    if (!made) r.fail("path", fmt::format("{}:{}", found, made.error()));
    if (std::ranges::find(into.files, name, &scenario_file::name) == into.files.end()) {
        into.files.push_back({name, std::move(*text)});
    }
    return std::move(*made);
}

void read_process(table_reader& r, const std::vector<std::string>& factors, const scenario& of, oracle_options& o) {
    o.start_ticks = r.real("start_ticks", -many, many);
    o.mean_ticks = r.real("mean_ticks", o.start_ticks, -many, many);
    o.reversion_per_second = r.real("reversion_per_second", 0, 0, 1e6);
    o.volatility = r.real("volatility_ticks", 0, 0, 1e6);
    o.variance_reversion_per_second = r.real("variance_reversion_per_second", 1, 1e-6, 1e3);
    o.variance_volatility = r.real("variance_volatility", 0, 0, 1e3);
    o.variance_correlation = r.real("variance_correlation", 0, -1, 1);
    o.jumps_per_second = r.real("jumps_per_second", 0, 0, 1e3);
    o.jump_deviation_ticks = r.real("jump_deviation_ticks", 0, 0, 1e6);
    o.step_ns = r.duration_ns("step", 10'000'000, 1'000, 3'600'000'000'000);
    if (of.duration_ns / o.step_ns > 100'000'000)
        r.fail("step", "expected at most 100,000,000 steps in the duration: lengthen the step");
    o.factors = read_loadings(r, factors);
    for (const oracle_options::factor& each : o.factors) {
        for (const auto& [name, other] : of.fundamentals) {
            if (other.step_ns == o.step_ns ||
                std::ranges::find(other.factors, each.name, &oracle_options::factor::name) == other.factors.end()) {
                continue;
            }
            r.fail(r.has("step") ? "step" : "factors",
                   fmt::format("\"{}\" has the factor \"{}\", too, with another step; expected {} ns for both", name,
                               each.name, other.step_ns));
        }
    }
}

}  // namespace

std::expected<value_path, std::string> parse_value_path(std::string_view text) {
    value_path made;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (number == 1) {
            if (line != path_head) return bad_line(1, fmt::format("expected the header {}", path_head));
            continue;
        }
        const std::size_t comma = line.find(',');
        if (comma == std::string_view::npos) {
            return bad_line(number, "expected a time and a value with a comma between them, such as 1.5,10000.25");
        }
        const domain::parsed_decimal time = domain::parse_decimal(line.substr(0, comma));
        const domain::parsed_decimal value = domain::parse_decimal(line.substr(comma + 1));
        if (!time.problem.empty()) return bad_line(number, fmt::format("seconds: {}", time.problem));
        if (!value.problem.empty()) return bad_line(number, fmt::format("ticks: {}", value.problem));
        if (time.nano < 0 || time.nano > duration_ns_max) {
            return bad_line(number, "seconds: expected the time since the start of the run, from 0 to a week");
        }
        if (!made.empty() && time.nano <= made.back().first) {
            return bad_line(number, "seconds: expected a later time than in the line before");
        }
        const double ticks = static_cast<double>(value.nano) / 1e9;
        if (ticks < -many || ticks > many) {
            return bad_line(number, fmt::format("ticks: expected a value from {} to {}", -many, many));
        }
        made.emplace_back(time.nano, ticks);
    }
    if (made.empty()) return bad_line(std::max<std::size_t>(number, 1), "expected a line with a time and a value");
    return made;
}

void read_fundamentals(const toml::table& root, const std::string& file, const scenario_files& from, scenario& into) {
    std::vector<std::string> factors;
    node::read_array(root, "factor", file, [&](table_reader& r) {
        const std::string name = read_name(r, "name");
        if (std::ranges::find(factors, name) != factors.end()) r.fail("name", used_twice);
        r.finish();
        factors.push_back(name);
    });
    node::read_array(root, "fundamental", file, [&](table_reader& r) {
        const std::string name = read_name(r, "name");
        if (std::ranges::find(into.fundamentals, name, &std::pair<std::string, oracle_options>::first) !=
            into.fundamentals.end()) {
            r.fail("name", used_twice);
        }
        oracle_options o;
        if (r.has("path")) {
            o.path = read_path(r, file, from, into);
        } else {
            static_cast<void>(r.text("path", ""));  // it is a known key
            read_process(r, factors, into, o);
        }
        r.finish();
        into.fundamentals.emplace_back(name, std::move(o));
    });
}

}  // namespace corro::market
