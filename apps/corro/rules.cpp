// SPDX-License-Identifier: Apache-2.0
// `corro rules`: runs the rule book of matching.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "rule_book/rule_book.hpp"
#include "rule_book/scenarios.hpp"

namespace corro::app {
namespace {

struct rules_options {
    std::filesystem::path directory;  ///< empty: the built-in rule book
    std::string filter;
    bool prints_titles_only = false;
    bool shows_text = false;
};

/// A scenario's name, such as "auctions/auction_collects.txt", and its text.
using named_text = std::pair<std::string, std::string>;

std::vector<named_text> scenarios_below(const std::filesystem::path& directory) {
    if (!std::filesystem::is_directory(directory)) {
        throw std::runtime_error(fmt::format("{}: no such directory", directory.string()));
    }
    std::vector<named_text> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        if (entry.path().extension() != ".txt") continue;
        std::ifstream file(entry.path());
        found.emplace_back(entry.path().lexically_relative(directory).string(),
                           std::string(std::istreambuf_iterator<char>(file), {}));
    }
    return found;
}

/// Returns the scenarios whose names contain `filter`, sorted by name.
std::vector<named_text> chosen_scenarios(const rules_options& options) {
    std::vector<named_text> found;
    if (options.directory.empty()) {
        for (const rule_book::scenario& s : rule_book::scenarios()) found.emplace_back(s.name, s.text);
    } else {
        found = scenarios_below(options.directory);
    }
    std::erase_if(found, [&](const named_text& s) { return s.first.find(options.filter) == std::string::npos; });
    std::sort(found.begin(), found.end());
    if (found.empty()) throw std::runtime_error("no scenario matches");
    return found;
}

void print_differences(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
    for (const std::string& line : expected) fmt::print("      the rule   {}\n", line);
    for (const std::string& line : actual) fmt::print("      the venue  {}\n", line);
}

/// Runs one scenario on a new venue and prints a line about it. False if the result differs from the file.
bool play(const named_text& scenario, const rules_options& options) {
    std::istringstream text(scenario.second);
    const auto [rule, problem] = rule_book::read_rule(text);
    if (options.prints_titles_only && problem.empty()) {
        fmt::print("{:<46} {}\n", scenario.first, rule.title);
        return true;
    }
    rule_book::ending end;
    end.problem = problem;
    if (problem.empty()) end = rule_book::play(rule);
    const bool passes = end.problem.empty() && end.facts == rule.then;
    fmt::print("{}  {:<46} {}\n", passes ? "pass" : "FAIL", scenario.first, rule.title);
    if (options.shows_text) {
        for (const std::string& line : rule.given) fmt::print("      given  {}\n", line);
        for (const std::string& line : rule.when) fmt::print("      when   {}\n", line);
        for (const std::string& line : rule.then) fmt::print("      then   {}\n", line);
    }
    if (!end.problem.empty()) {
        fmt::print("      {}\n", end.problem);
    } else if (!passes) {
        print_differences(rule.then, end.facts);
    }
    return passes;
}

int run(const rules_options& options) {
    const std::vector<named_text> chosen = chosen_scenarios(options);
    std::size_t failed_count = 0;
    for (const named_text& scenario : chosen) failed_count += play(scenario, options) ? 0U : 1U;
    if (options.prints_titles_only) {
        fmt::print("{} scenarios\n", chosen.size());
        return 0;
    }
    fmt::print("{} scenarios, {} passed, {} failed\n", chosen.size(), chosen.size() - failed_count, failed_count);
    return failed_count == 0 ? 0 : 1;
}

}  // namespace

void add_rules_command(command_line& line) {
    const auto options = std::make_shared<rules_options>();
    const subcommand command = line.add_subcommand(
        "rules", "List and run the scenarios of the rule book of matching, and report whether each passes");
    command.add_option("filter", options->filter, "Run only scenarios whose topic or file name contains this text");
    command.add_option("--directory", options->directory, "Run the scenario files below this folder instead");
    command.add_flag("--list", options->prints_titles_only, "Only list files and titles");
    command.add_flag("--text", options->shows_text, "Print also the text of each scenario");
    command.footer(
        "A scenario is a text file with the parts given, when and then; docs/spec/matching.md links them all.\n"
        "Exit code: 0 if every scenario passes, 1 if one fails or cannot be read.");
    command.runs([options] { return run(*options); });
}

}  // namespace corro::app
