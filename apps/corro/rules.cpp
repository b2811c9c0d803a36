// `corro rules`: the rule book of matching, played.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "tests/conformance/rule_book.hpp"

namespace corro::app {
namespace {

struct rules_options {
    std::filesystem::path directory = CORRO_RULES_DIRECTORY;
    std::string filter;
    bool prints_titles_only = false;
    bool shows_text = false;
};

/// The files of the rule book whose names contain `filter`, by name.
std::vector<std::filesystem::path> rule_files(const rules_options& options) {
    if (!std::filesystem::is_directory(options.directory)) {
        throw std::runtime_error(fmt::format("{}: no such directory", options.directory.string()));
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(options.directory)) {
        const std::filesystem::path& path = entry.path();
        if (path.extension() == ".txt" && path.stem().string().find(options.filter) != std::string::npos) {
            files.push_back(path);
        }
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) throw std::runtime_error("no scenario has such a name");
    return files;
}

void print_differences(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
    for (const std::string& line : expected) fmt::print("      the rule   {}\n", line);
    for (const std::string& line : actual) fmt::print("      the venue  {}\n", line);
}

/// Plays one scenario on a venue of its own and prints a line for it. False: it did not end as its file says.
bool play(const std::filesystem::path& path, const rules_options& options) {
    std::ifstream file(path);
    const auto [rule, problem] = conformance::read_rule(file);
    if (options.prints_titles_only && problem.empty()) {
        fmt::print("{:<40} {}\n", path.filename().string(), rule.title);
        return true;
    }
    conformance::ending end;
    end.problem = problem;
    if (problem.empty()) end = conformance::play(rule);
    const bool passes = end.problem.empty() && end.facts == rule.then;
    fmt::print("{}  {:<40} {}\n", passes ? "pass" : "FAIL", path.filename().string(), rule.title);
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
    const std::vector<std::filesystem::path> files = rule_files(options);
    std::size_t failed_count = 0;
    for (const std::filesystem::path& path : files) failed_count += play(path, options) ? 0U : 1U;
    if (options.prints_titles_only) {
        fmt::print("{} scenarios\n", files.size());
        return 0;
    }
    fmt::print("{} scenarios, {} passed, {} failed\n", files.size(), files.size() - failed_count, failed_count);
    return failed_count == 0 ? 0 : 1;
}

}  // namespace

void add_rules_command(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<rules_options>();
    CLI::App* command = app.add_subcommand(
        "rules", "Lists the scenarios of the rule book of matching, plays each and says whether it ends as written");
    command->add_option("filter", options->filter, "Only scenarios whose file name contains this text");
    command->add_option("--directory", options->directory, "Where the scenario files are")->capture_default_str();
    command->add_flag("--list", options->prints_titles_only, "Only list files and titles, play nothing");
    command->add_flag("--text", options->shows_text, "Also print what each scenario says");
    command->footer(
        "A scenario is a text file with the parts given, when and then; docs/spec/matching.md links them all.\n"
        "Exit code: 0 when every scenario passes, 1 when one fails or cannot be read.");
    command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace corro::app
