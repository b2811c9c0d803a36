// SPDX-License-Identifier: Apache-2.0
// The program `corro-market`, which `corro market` starts: runs, sweeps, comparisons and forks of simulated markets.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "apps/command_line/command_line.hpp"
#include "apps/command_line/output_file.hpp"
#include "apps/command_line/seed_range.hpp"
#include "calibration.hpp"
#include "laboratory/lab_command.hpp"
#include "node/configuration/configuration.hpp"
#include "report.hpp"
#include "runs.hpp"

namespace corro::app {
namespace {

struct market_options {
    std::string file;
    std::string other;
    std::optional<std::uint32_t> seed;
    std::string seeds;
    std::uint32_t jobs = 2;
    std::string out;
    std::string at;
    std::string event;
    std::string changed;
    std::string data;
    std::string against;
    std::string listen = lab_options().listen;
    std::uint32_t skip_seconds = 0;
    std::uint32_t warm_up_seconds = 0;
    std::uint32_t evaluations = 500;
    bool quiet = false;
    bool whole = false;
};

/// Where recordings are that are not beside their scenario.
std::filesystem::path data_folder_of(const market_options& options) {
    if (!options.data.empty()) return options.data;
    const char* const given = std::getenv("CORRO_DATA_DIR");
    return given != nullptr ? given : "";
}

void print_run(const market::scenario& what, const run_result& result, double seconds) {
    fmt::print("{}, seed {}: {} s of the market in {:.2f} s; {} commands, {} trades\n", what.name, result.seed,
               static_cast<double>(what.duration_ns) / 1e9, seconds, result.commands, result.trades);
    for (const market::metric& each : result.metrics) fmt::print("  {:36} {:.6g}\n", each.name, each.value);
    fmt::print("digest {:016x}, state hash {:016x}\n", result.digest, result.state_hash);
}

void print_whole(const run_result& result) {
    const whole_comparison& with = *result.whole;
    if (with.is_equal()) {
        fmt::print(
            "the direct run has the same digest: the same commands at the same nanoseconds, the same state hash\n");
        return;
    }
    fmt::print("the direct run differs: digest {:016x}, state hash {:016x}{}{}\n", with.direct_digest,
               with.direct_state_hash, with.difference.empty() ? "" : "; ", with.difference);
    if (!with.has_own_state_hash) fmt::print("the journal's commands give another state than the venue had\n");
}

template <class Work>
double seconds_of(Work&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run(const market_options& options) {
    const market::scenario what = load_scenario(options.file, data_folder_of(options));
    if (options.whole && !options.seeds.empty()) {
        throw std::runtime_error("--whole: expected one seed; leave out --seeds");
    }
    if (!options.seeds.empty()) {
        const std::string folder = options.out.empty() ? fmt::format("runs/{}", what.name) : options.out;
        const auto all = sweep(what, parse_seed_range(options.seeds).value(), options.jobs, folder);
        const std::string text = summary_of(all);
        write_file(std::filesystem::path(folder) / "summary.md", text);
        fmt::print("{}in {}\n", text, folder);
        return 0;
    }
    const std::uint64_t seed = options.seed ? *options.seed : what.seed;
    const std::string folder = options.out.empty() ? fmt::format("runs/{}-{}", what.name, seed) : options.out;
    run_result result;
    const double seconds =
        seconds_of([&] { result = (options.whole ? run_whole_into : run_into)(what, seed, folder, !options.quiet); });
    print_run(what, result, seconds);
    if (result.whole) print_whole(result);
    fmt::print("in {}; read it with: corro book --config {}/venue.toml --instrument {} --at end\n", folder, folder,
               what.options.instruments.front().name.view());
    return 0;
}

int compare(const market_options& options) {
    const market::scenario first = load_scenario(options.file, data_folder_of(options));
    const market::scenario second = load_scenario(options.other, data_folder_of(options));
    const std::filesystem::path folder =
        options.out.empty() ? fmt::format("runs/{}-against-{}", first.name, second.name) : options.out;
    const seed_range seeds = parse_seed_range(options.seeds).value();
    if (seeds.count() < 2) throw std::runtime_error("--seeds: a comparison needs at least two seeds");
    const auto a = sweep(first, seeds, options.jobs, folder / "a");
    const auto b = sweep(second, seeds, options.jobs, folder / "b");
    const std::vector<compared_metric> all = compare_runs(a, b);
    const std::string text =
        fmt::format("A: {}\nB: {}\n\n{}", options.file, options.other, comparison_of(all, a.size()));
    write_file(folder / "comparison.md", text);
    write_file(folder / "comparison.html", comparison_html(options.file, options.other, all, a.size()));
    fmt::print("{}in {}; with plots: {}\n", text, folder.string(), (folder / "comparison.html").string());
    return 0;
}

/// The scenario with one more event at `--at`.
market::scenario with_event(const market::scenario& original, const std::string& file, const market_options& options,
                            const std::string& event) {
    const std::string text = fmt::format("{}\n\n[[event]]\nat = \"{}\"\n{}\n", original.text, options.at, event);
    market::scenario_files from;
    from.data_folder = data_folder_of(options).string();
    return market::parse_scenario(text, file, from);
}

/// When the event is that `changed` has and `original` has not.
std::int64_t moment_of(const market::scenario& original, const market::scenario& changed) {
    std::int64_t latest = 0;
    for (const market::timeline_event& each : changed.events) {
        const bool is_new = std::ranges::count(original.events, each.at_ns, &market::timeline_event::at_ns) <
                            std::ranges::count(changed.events, each.at_ns, &market::timeline_event::at_ns);
        if (is_new) latest = each.at_ns;
    }
    return latest;
}

/// The folder of a fork for which none is named: beside that of the run, also for "RUN/" and ".".
std::string folder_of_fork(const std::filesystem::path& run) {
    std::filesystem::path folder = run.lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    if (folder.filename() == "." || folder.filename() == ".." || folder.empty())
        folder = std::filesystem::canonical(run);
    return folder.string() + "-fork";
}

int fork_run(const market_options& options) {
    const std::filesystem::path before = options.file;
    const market::scenario original = load_scenario(before / "scenario.toml", data_folder_of(options));
    const run_result known = read_result(before / "result.json");
    if (known.whole) {
        throw std::runtime_error(
            "a run with a whole venue has no forks; run the scenario without --whole, and fork that");
    }
    const bool is_changed = !options.event.empty() || !options.changed.empty();
    if (!options.event.empty() && !options.changed.empty()) {
        throw std::runtime_error("--scenario: expected without --event; put the event into the file");
    }
    const std::string file = (before / "scenario.toml").string();
    market::scenario changed = original;
    std::int64_t at_ns = original.duration_ns;
    if (!options.changed.empty()) {
        changed = load_scenario(options.changed, data_folder_of(options));
        // Any event has a moment; this one is not executed.
        at_ns = moment_of(original, with_event(original, file, options, "kind = \"phase\"\nphase = \"continuous\""));
    } else if (!options.event.empty()) {
        changed = with_event(original, file, options, options.event);
        at_ns = moment_of(original, changed);
    }
    if (changed.sample_ns != original.sample_ns) {
        throw std::runtime_error("--scenario: expected the market.sample of the run");
    }
    const std::string folder = options.out.empty() ? folder_of_fork(before) : options.out;
    // The new run repeats the old one up to the moment: both have the same digests on the way.
    const std::vector<std::uint64_t> before_change = read_digests(before / "digests.csv");
    run_result result;
    const double seconds = seconds_of([&] { result = run_into(changed, known.seed, folder, !options.quiet); });
    const std::size_t marks = std::min<std::size_t>(static_cast<std::size_t>(at_ns / original.sample_ns),
                                                    std::min(before_change.size(), result.digests.size()));
    if (!std::equal(before_change.begin(), before_change.begin() + static_cast<std::ptrdiff_t>(marks),
                    result.digests.begin())) {
        std::filesystem::remove_all(folder);
        throw std::runtime_error("the change has effects before its moment, or another version wrote the run");
    }
    print_run(changed, result, seconds);
    if (!is_changed && (result.digest != known.digest || result.state_hash != known.state_hash)) {
        fmt::print(stderr, "corro market: the unchanged fork differs from {}: written by another version?\n",
                   options.file);
        return 1;
    }
    fmt::print("in {}\n", folder);
    return 0;
}

int check(const market_options& options) {
    const market::scenario what = load_scenario(options.file, data_folder_of(options));
    std::uint64_t agents = 0;
    for (const market::agent_group& each : what.groups) agents += each.count;
    fmt::print("{}: {}\n{} instruments, {} agents in {} groups, {} events, {} s\n", what.name, what.about,
               what.options.instruments.size(), agents, what.groups.size(), what.events.size(),
               static_cast<double>(what.duration_ns) / 1e9);
    return 0;
}

int laboratory_of(const market_options& options) {
    lab_options with;
    with.file = options.file;
    with.data_folder = data_folder_of(options).string();
    with.listen = options.listen;
    with.seed = options.seed;
    return run_laboratory(with);
}

comparison_times times_of(const market_options& options) {
    return {std::int64_t{options.skip_seconds} * 1'000'000'000, std::int64_t{options.warm_up_seconds} * 1'000'000'000};
}

/// Refuses an output that is an input or cannot be written, before the runs that take long.
void check_output(const market_options& options) {
    if (options.out.empty()) return;
    refuse_shared_output("--out", options.out, {options.file, options.against});
    require_writable(options.out);
}

int score(const market_options& options) {
    check_output(options);
    const market::scenario what = load_scenario(options.file, data_folder_of(options));
    const market::scenario day = load_scenario(options.against, data_folder_of(options));
    const auto there = recorded_facts(day, times_of(options));
    const auto here = simulated_facts(what, parse_seed_range(options.seeds).value(), times_of(options), day.sample_ns);
    const std::string text = scorecard_of(market::score(there, here, 1));
    fmt::print("{}", text);
    std::fflush(stdout);
    if (!options.out.empty()) write_file(options.out, text);
    return 0;
}

int calibrate_scenario(const market_options& options) {
    check_output(options);
    const market::scenario day = load_scenario(options.against, data_folder_of(options));
    const market::scenario_template from(read_text(options.file), options.file);
    const market::fact_reference reference(recorded_facts(day, times_of(options)), 1);
    calibration_options how;
    how.times = times_of(options);
    how.seeds = parse_seed_range(options.seeds).value();
    how.evaluations = options.evaluations;
    how.jobs = options.jobs;
    how.seed = options.seed.value_or(1);
    how.out = options.out;
    calibration_result made;
    const double seconds = seconds_of([&] { made = calibrate(from, options.file, reference, day.sample_ns, how); });
    fmt::print("{} parameters, {} evaluations in {:.0f} s: cost {:.4f}, before {:.4f}\nin {}\n",
               from.parameters().size(), made.evaluations, seconds, made.cost, made.cost_before, options.out);
    return 0;
}

/// Runs a subcommand; an error of a file has the exit code of an invalid command line.
template <class Work>
int guarded(Work work, const market_options& options) {
    try {
        return work(options);
    } catch (const node::configuration_error& e) {
        fmt::print(stderr, "corro market: {}\n", e.what());
        return 2;
    }
}

}  // namespace
}  // namespace corro::app

int main(int argc, char** argv) {
    using namespace corro::app;
    const auto options = std::make_shared<market_options>();
    command_line line("corro-market", "Run markets of agents in virtual time.", CORRO_VERSION);
    line.footer(
        "docs/howto/run_a_market.md shows how to write a scenario and to read its results.\n"
        "Exit code: 0 on success, 1 if a run failed, 2 if the command line or a scenario is invalid.");
    const auto add_sweep_options = [&](const subcommand& to) {
        to.add_option("--jobs", options->jobs, "Seeds to run at a time, each in a process")
            .shows_default()
            .in_range(1U, 256U);
        to.add_option("--out", options->out, "The folder of the results (default: below runs/)");
    };
    const auto add_data_option = [&](const subcommand& to) {
        to.add_option("--data", options->data,
                      "The folder of recordings that are not beside their scenario (default: $CORRO_DATA_DIR)")
            .existing_directory();
    };
    const subcommand running = line.add_subcommand("run", "Run a scenario with one seed or many");
    running.add_option("scenario", options->file, "The scenario: a TOML file").required().existing_file();
    running.add_option("--seed", options->seed, "The seed (default: the scenario's)");
    running
        .add_option(
            "--seeds", options->seeds,
            "Run the seeds from A to before B, as A:B (0:200 has 200), without journals; continue where an earlier "
            "run stopped")
        .checked_by(seed_range_error);
    add_sweep_options(running);
    running.add_flag("--whole", options->whole,
                     "Run the agents with a whole venue: client sessions, simulated network, gateway, journal; compare "
                     "it with the direct run");
    running.add_flag("--quiet", options->quiet, "Show no progress");
    add_data_option(running);
    running.runs([options] { return guarded(run, *options); });
    const subcommand comparing = line.add_subcommand("compare", "Compare two scenarios over the same seeds");
    comparing.add_option("first", options->file, "A: a scenario").required().existing_file();
    comparing.add_option("second", options->other, "B: a scenario").required().existing_file();
    comparing.add_option("--seeds", options->seeds, "The seeds, as A:B: from A to before B (0:200 has 200)")
        .required()
        .checked_by(seed_range_error);
    add_sweep_options(comparing);
    add_data_option(comparing);
    comparing.runs([options] { return guarded(compare, *options); });
    const subcommand forking =
        line.add_subcommand("fork", "Repeat a recorded run up to a moment, and change one thing there");
    forking.add_option("run", options->file, "The folder of a run").required().existing_directory();
    forking.add_option("--at", options->at, "The moment, such as \"30s\"");
    forking.add_option("--event", options->event, "The change: the keys of an [[event]], such as 'kind = \"withdraw\"'")
        .needs("--at")
        .checked_by([](const std::string& text) {
            return std::string(text.empty() ? "expected the keys of an event; leave out --event for an unchanged run"
                                            : "");
        });
    forking
        .add_option("--scenario", options->changed,
                    "The change: another scenario, which does the same up to the moment, such as one with a breaker")
        .existing_file()
        .needs("--at");
    forking.add_option("--out", options->out, "The folder of the new run (default: the old one's with -fork)");
    forking.add_flag("--quiet", options->quiet, "Show no progress");
    add_data_option(forking);
    forking.runs([options] { return guarded(fork_run, *options); });
    const subcommand checking = line.add_subcommand("check", "Check a scenario and say what is in it");
    checking.add_option("scenario", options->file, "The scenario: a TOML file").required().existing_file();
    add_data_option(checking);
    checking.runs([options] { return guarded(check, *options); });
    const subcommand watching = line.add_subcommand(
        "lab", "Serve a page that runs a scenario: stop, step, change, fork and compare; until it is interrupted");
    watching.add_option("scenario", options->file, "The scenario: a TOML file").required().existing_file();
    watching.add_option("--seed", options->seed, "The seed (default: the scenario's)");
    watching.add_option("--listen", options->listen, "The address of the page, on this machine").shows_default();
    add_data_option(watching);
    watching.runs([options] { return guarded(laboratory_of, *options); });
    const auto add_facts_options = [&](const subcommand& to) {
        to.add_option("--against", options->against,
                      "The recorded day: a scenario with a [recording] and a group of kind \"idle\"")
            .required()
            .existing_file();
        to.add_option("--skip-seconds", options->skip_seconds, "Leave out the first N seconds of the recording")
            .shows_default();
        to.add_option("--warm-up-seconds", options->warm_up_seconds, "Leave out the first N seconds of each simulation")
            .shows_default();
        to.add_option("--seeds", options->seeds, "The seeds of the simulation, as A:B: from A to before B")
            .required()
            .checked_by(seed_range_error);
        add_data_option(to);
    };
    const subcommand scoring =
        line.add_subcommand("score", "Compare the stylised facts of a scenario with those of a recorded day");
    scoring.add_option("scenario", options->file, "The scenario: a TOML file").required().existing_file();
    add_facts_options(scoring);
    scoring.add_option("--out", options->out, "Write the scorecard to this file, too");
    scoring.runs([options] { return guarded(score, *options); });
    const subcommand calibrating = line.add_subcommand(
        "calibrate", "Search for parameters of a scenario that bring its facts next to those of a recorded day");
    calibrating
        .add_option("template", options->file,
                    "The scenario, with parameters such as ${80 in 20 to 500} in place of some numbers")
        .required()
        .existing_file();
    add_facts_options(calibrating);
    calibrating.add_option("--evaluations", options->evaluations, "Run at most N candidates")
        .shows_default()
        .in_range(1U, 1'000'000U);
    calibrating.add_option("--seed", options->seed, "The seed of the search (default: 1)");
    calibrating.add_option("--jobs", options->jobs, "Candidates to run at a time, each in a process")
        .shows_default()
        .in_range(1U, 256U);
    calibrating.add_option("--out", options->out, "Write the scenario to this file").required();
    calibrating.runs([options] { return guarded(calibrate_scenario, *options); });
    return line.run(argc, argv);
}
