// SPDX-License-Identifier: Apache-2.0
// The program `corro-lab`: runs the benchmarks of Corro and its peers and compares them. `corro lab` starts it.

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>

#include "apps/command_line/command_line.hpp"
#include "lab/compare.hpp"
#include "lab/html.hpp"
#include "lab/markdown.hpp"
#include "lab/plots.hpp"
#include "lab/runner.hpp"

namespace corro::app {
namespace {

struct lab_arguments {
    lab::session_options session;
    std::string json_file;
    std::string markdown_file;
    std::string html_file;
    std::string svg_file;
    std::string svg_rows;
    std::string compared_file;
    bool quick = false;
    std::string one_suite;
    std::string one_benchmark;
    std::string one_subject;
};

void write_file(const std::string& path, const std::string& text) {
    if (path.empty()) return;
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", path));
    return {std::istreambuf_iterator<char>(file), {}};
}

int list(const lab_arguments& arguments) {
    const lab::registry all = lab::make_registry(arguments.session.lab);
    std::string suite;
    for (const lab::benchmark& one : all.benchmarks()) {
        if (one.suite != suite) fmt::print("\n{}\n", one.suite);
        suite = one.suite;
        std::string subjects;
        for (const lab::implementation& by : one.by) subjects += " " + by.subject;
        for (const lab::row& each : one.rows) {
            fmt::print("  {:<36} {:<5} {}\n", each.name, each.unit, &each == &one.rows.front() ? subjects : "");
        }
    }
    return 0;
}

void write_reports(const lab::results& measured, const lab::registry& known, const lab_arguments& arguments) {
    write_file(arguments.markdown_file, lab::to_markdown(measured, known));
    write_file(arguments.html_file, lab::to_html(measured, known));
    if (arguments.svg_file.empty()) return;
    const std::string picture = lab::bars_picture(measured.rows, std::regex(arguments.svg_rows));
    if (picture.empty()) {
        throw std::runtime_error(fmt::format("{}: no row name contains '{}'", arguments.svg_file, arguments.svg_rows));
    }
    write_file(arguments.svg_file, picture);
}

// Short runs that check within minutes that everything works, with rough figures.
constexpr double quick_seconds = 0.05;

int run(lab_arguments& arguments) {
    if (arguments.quick) {
        arguments.session.seconds = quick_seconds;
        arguments.session.repeats_count = 1;
    }
    const lab::registry all = lab::make_registry(arguments.session.lab);
    for (const lab::benchmark& one : all.benchmarks()) {
        if (one.by.empty()) fmt::print(stderr, "{}/{} is skipped: {}\n", one.suite, one.name(), one.rows.front().does);
    }
    const lab::session session = lab::run_session(all, arguments.session);
    fmt::print("{}", lab::comparison_text(lab::compare(session.measured)));
    write_file(arguments.json_file, lab::to_json(session.measured));
    write_reports(session.measured, all, arguments);
    if (session.failures.empty()) return 0;
    fmt::print(stderr, "{} runs failed; their samples are missing:\n", session.failures.size());
    for (const std::string& failure : session.failures) fmt::print(stderr, "  {}\n", failure);
    return 1;
}

int compare(const lab_arguments& arguments) {
    const std::string text = read_file(arguments.compared_file);
    lab::results all;
    try {
        all = lab::results_from_json(text);
    } catch (const std::runtime_error& e) {
        throw std::runtime_error(fmt::format("{}: {}", arguments.compared_file, e.what()));
    }
    fmt::print("{}", lab::comparison_text(lab::compare(all)));
    write_reports(all, lab::make_registry(arguments.session.lab), arguments);
    return 0;
}

void add_threads_option(const subcommand& command, lab_arguments& arguments) {
    command
        .add_option("--threads", arguments.session.lab.threads,
                    "Thread counts of the rows that scale over threads, e.g. 1,2,4")
        .separated_by(',')
        .in_range(1, 64);
}

/// Returns the error in a regular expression; empty if it is valid.
std::string expression_error(const std::string& text) {
    try {
        static_cast<void>(std::regex(text));
        return {};
    } catch (const std::regex_error& e) {
        return fmt::format("'{}' is not a regular expression: {}", text, e.what());
    }
}

void add_report_options(const subcommand& command, lab_arguments& arguments) {
    command.add_option("--markdown", arguments.markdown_file, "Write the report as Markdown to this file");
    command.add_option("--html", arguments.html_file, "Write the report with plots to this file");
    command.add_option("--svg", arguments.svg_file, "Draw rows as bars into this file");
    command
        .add_option("--svg-rows", arguments.svg_rows, "Draw only rows whose names match this expression (default: all)")
        .needs("--svg")
        .checked_by(expression_error);
}

void add_run(command_line& line, const std::shared_ptr<lab_arguments>& arguments) {
    lab::session_options& session = arguments->session;
    const subcommand command = line.add_subcommand("run", "Measure and compare");
    command.add_option("suites", session.wanted.suites, "Suites to run, see `corro lab list` (default: all)");
    command.add_option("--rows", session.wanted.rows, "Run only rows whose names match this expression")
        .checked_by(expression_error);
    command
        .add_option("--subjects", session.wanted.subjects, "Run only these subjects, e.g. corro_epoll,asio_callbacks")
        .separated_by(',');
    command.add_option("--seconds", session.seconds, "Seconds that each run measures, without its warm-up")
        .shows_default()
        .in_range(0.001, 600.0);
    command
        .add_option("--repeats", session.repeats_count,
                    "Number of runs of each row by each subject (default: 5, in the long suites 3)")
        .in_range(1, 1000);
    command.add_flag("--quick", arguments->quick, "Run each row once for 0.05 s: a check, no usable figures");
    add_threads_option(command, *arguments);
    command.add_option("--seed", session.seed, "Seed of the random order of the runs").shows_default();
    command.add_option("--json", arguments->json_file, "Write the results to this file");
    add_report_options(command, *arguments);
    command.runs([arguments] { return run(*arguments); });
}

// The subcommand that the lab starts for each run. The help does not show it.
void add_one(command_line& line, const std::shared_ptr<lab_arguments>& arguments) {
    const subcommand command = line.add_subcommand(lab::one_command, "Run one benchmark in this process").hidden();
    command.add_option("suite", arguments->one_suite).required();
    command.add_option("benchmark", arguments->one_benchmark).required();
    command.add_option("subject", arguments->one_subject).required();
    command.add_option("--seconds", arguments->session.seconds);
    add_threads_option(command, *arguments);
    command.runs([arguments] {
        return lab::run_one(lab::make_registry(arguments->session.lab), arguments->one_suite, arguments->one_benchmark,
                            arguments->one_subject, arguments->session.seconds);
    });
}

}  // namespace
}  // namespace corro::app

int main(int argc, char** argv) {
    using namespace corro::app;
    const auto arguments = std::make_shared<lab_arguments>();
    command_line line("corro-lab", "Run benchmarks of Corro and its peers on this machine.", CORRO_VERSION);
    line.footer(
        "`corro-lab SUBCOMMAND --help` shows details; docs/benchmarks/ has the figures and how to repeat them.\n"
        "Exit code: 0 on success, 1 on failure, 2 if the command line is invalid.");
    line.add_subcommand("list", "Show suites, rows and subjects").runs([arguments] { return list(*arguments); });
    add_run(line, arguments);
    const subcommand comparing = line.add_subcommand("compare", "Compare Corro with the best peer, losses first");
    comparing.add_option("file", arguments->compared_file, "File that --json wrote").required();
    add_report_options(comparing, *arguments);
    comparing.runs([arguments] { return compare(*arguments); });
    add_one(line, arguments);
    return line.run(argc, argv);
}
