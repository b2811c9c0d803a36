// SPDX-License-Identifier: Apache-2.0
// The program `corro-simulate`: runs whole venues in simulated worlds, under faults. `corro simulate` starts it.

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command_line/command_line.hpp"
#include "apps/command_line/seed_range.hpp"
#include "base/defect.hpp"
#include "node/configuration/configuration.hpp"
#include "simulation/plan.hpp"
#include "simulation/run.hpp"
#include "simulation/scale_model.hpp"
#include "simulation/scale_plan.hpp"
#include "simulation/timeline.hpp"
#include "simulation/venue_file.hpp"

namespace corro::app {
namespace {

using simulation::fault_kind;

struct simulate_options {
    std::string seed = "1";
    std::string seeds;
    double minutes = 0;
    double seconds = 5;
    std::vector<std::string> without;
    std::string trace_file;
    std::string plan_file;
    std::string config_file;
    std::shared_ptr<const simulation::venue_file> venue;  ///< of the configuration file; null: venues are drawn
    std::string defect;
    bool keeps_all_faults = false;
};

std::optional<fault_kind> kind_in(std::string_view name) {
    for (std::size_t i = 0; i < simulation::fault_kinds_count; ++i) {
        const auto kind = static_cast<fault_kind>(i);
        if (simulation::name_of(kind) == name) return kind;
    }
    return {};
}

std::vector<std::string> names_of_kinds() {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < simulation::fault_kinds_count; ++i) {
        all.emplace_back(simulation::name_of(static_cast<fault_kind>(i)));
    }
    return all;
}

simulation::plan_options plan_options_of(const simulate_options& options) {
    simulation::plan_options made;
    made.time = std::chrono::nanoseconds(static_cast<std::int64_t>(options.seconds * 1e9));
    for (const std::string& name : options.without) made.without.insert(*kind_in(name));
    made.file = options.venue;
    return made;
}

/// The command that runs a seed with the same options.
std::string command_of(std::uint64_t seed, const simulate_options& options) {
    std::string text = fmt::format("corro simulate --seed {} --seconds {}", seed, options.seconds);
    if (!options.config_file.empty()) text += " --config " + options.config_file;
    for (const std::string& each : options.without) text += " --without " + each;
    return text;
}

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

/// What to print when an assertion fails in a run. Signal handlers see only globals.
struct last_words {
    std::array<char, 1'024> text;
    std::size_t size = 0;
};
last_words said_at_abort;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void say_last_words(int /*signal*/) {
    static_cast<void>(!::write(STDERR_FILENO, said_at_abort.text.data(), said_at_abort.size));
}

/// Runs a plan. If an assertion ends the process, its last line has the command that repeats the run.
simulation::run_result run_plan(const simulation::plan& whole, const simulate_options& options,
                                const simulation::trace& tell = {}, simulation::run_watcher* watcher = nullptr) {
    const auto written =
        fmt::format_to_n(said_at_abort.text.data(), said_at_abort.text.size(),
                         "seed {} fails an assertion; to repeat: {}\n", whole.seed, command_of(whole.seed, options));
    said_at_abort.size = std::min(written.size, said_at_abort.text.size());
    return simulation::run(whole, tell, watcher);
}

/// The sums of several runs.
struct totals {
    std::uint64_t runs = 0;
    std::uint64_t faults = 0;
    std::uint64_t requests = 0;
    std::uint64_t fills = 0;
    std::uint64_t starts = 0;
    std::uint64_t failures = 0;
    std::uint64_t reconnections = 0;
    double virtual_seconds = 0;
    std::uint64_t split = 0;  ///< runs of this shape, as the next four
    std::uint64_t divided = 0;
    std::uint64_t in_roles = 0;
    std::uint64_t with_distributors = 0;
    std::uint64_t with_fix_clients = 0;
    std::array<std::uint64_t, simulation::fault_kinds_count> by_kind{};

    void add(const simulation::plan& whole, const simulation::run_result& one) {
        ++runs;
        faults += whole.faults.size();
        requests += one.requests_count;
        fills += one.fills_count;
        starts += one.starts_count;
        failures += one.failures_count;
        reconnections += one.reconnections_count;
        virtual_seconds += seconds(one.virtual_time);
        const simulation::venue_shape& shape = whole.shape.venue;
        split += shape.threading == node::threading_mode::split ? 1U : 0U;
        divided += shape.partitions_count > 1 ? 1U : 0U;
        in_roles += shape.is_in_roles() ? 1U : 0U;
        with_distributors += shape.has_distributors ? 1U : 0U;
        with_fix_clients += whole.shape.fix_clients_count != 0 ? 1U : 0U;
        for (const simulation::fault& each : whole.faults) ++by_kind[static_cast<std::size_t>(each.kind)];
    }

    [[nodiscard]] std::string shapes_and_faults() const {
        std::string all = fmt::format(
            "{} split, {} of several partitions, {} with gateways, {} with distributors, {} with FIX clients\n", split,
            divided, in_roles, with_distributors, with_fix_clients);
        for (std::size_t i = 0; i < by_kind.size(); ++i) {
            all += fmt::format("{}{} {}", i == 0 ? "" : ", ", by_kind[i], name_of(static_cast<fault_kind>(i)));
        }
        return all + '\n';
    }
};

class stopwatch {
 public:
    [[nodiscard]] double elapsed() const { return seconds(std::chrono::steady_clock::now() - begin_); }

 private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void print_faults(const simulation::plan& whole) {
    for (const simulation::fault& each : whole.faults) fmt::print("  {}\n", simulation::text_of(each, whole.shape));
}

/// Writes what happens in a run: a timeline to a file whose name ends in .json, else a line for each event.
class trace_writer {
 public:
    trace_writer(const std::string& path, const simulation::plan& whole) {
        if (path.empty()) return;
        if (path.ends_with(".json")) timeline_.emplace(whole);
        file_.open(path);
        if (!file_) throw std::runtime_error(fmt::format("{}: cannot be written", path));
    }
    [[nodiscard]] simulation::run_watcher* watcher() { return timeline_ ? &*timeline_ : nullptr; }
    [[nodiscard]] simulation::trace writer() {
        if (!file_.is_open() || timeline_) return {};
        return [this](std::chrono::nanoseconds at, std::string_view what) {
            file_ << fmt::format("{:9.6f} s  {}\n", seconds(at), what);
        };
    }

    /// @pre The run has ended.
    void finish() {
        if (timeline_) file_ << timeline_->text();
    }

 private:
    std::ofstream file_;
    std::optional<simulation::timeline> timeline_;
};

/// What a failing run found, and the shortest list of faults that was found to fail too.
void print_failure(const simulation::plan& failing, const simulation::run_result& result,
                   const simulate_options& options) {
    fmt::print("\nseed {} breaks {}: {}\n{}", failing.seed, result.found.promise(), result.found.words(),
               simulation::text_of(failing));
    simulation::plan shortest = failing;
    if (!options.keeps_all_faults) {
        fmt::print("{} faults; looking for a shorter list\n", failing.faults.size());
        std::fflush(stdout);
        shortest = simulation::shrink(failing, result.found.promise());
    }
    fmt::print("{} faults are enough:\n", shortest.faults.size());
    print_faults(shortest);
    trace_writer to(options.trace_file, shortest);
    static_cast<void>(simulation::run(shortest, to.writer(), to.watcher()));
    to.finish();
    fmt::print("corro {}; to repeat: {}\n", CORRO_VERSION, command_of(failing.seed, options));
}

int run_one(const simulate_options& options) {
    const auto seed = parse_seed(options.seed);
    const simulation::plan whole = simulation::draw_plan(*seed, plan_options_of(options));
    fmt::print("seed {}\n{}{} faults in {} s:\n", whole.seed, simulation::text_of(whole), whole.faults.size(),
               options.seconds);
    print_faults(whole);
    std::fflush(stdout);
    const stopwatch watch;
    trace_writer to(options.trace_file, whole);
    const simulation::run_result result = run_plan(whole, options, to.writer(), to.watcher());
    to.finish();
    fmt::print(
        "{} requests, {} answers, {} fills, {} refused without effect, {} feed messages\n"
        "{} starts of processes, {} failures, {} reconnections\n"
        "{:.1f} s of virtual time in {:.2f} s; digest {:016x}, state hash {:016x}\n",
        result.requests_count, result.answers_count, result.fills_count, result.refused_count,
        result.feed_messages_count, result.starts_count, result.failures_count, result.reconnections_count,
        seconds(result.virtual_time), watch.elapsed(), result.digest, result.state_hash);
    if (result.found.empty()) {
        fmt::print("every promise was kept\n");
        return 0;
    }
    print_failure(whole, result, options);
    return 1;
}

int run_many(const simulate_options& options, const seed_range& range) {
    const stopwatch watch;
    totals all;
    double told_at = 0;
    for (std::uint64_t seed = range.first; seed < range.end; ++seed) {
        const simulation::plan whole = simulation::draw_plan(seed, plan_options_of(options));
        const simulation::run_result result = run_plan(whole, options);
        all.add(whole, result);
        if (!result.found.empty()) {
            print_failure(whole, result, options);
            return 1;
        }
        if (watch.elapsed() - told_at >= 5) {
            told_at = watch.elapsed();
            fmt::print("seed {}: {} runs in {:.0f} s, {} faults\n", seed, all.runs, told_at, all.faults);
            std::fflush(stdout);
        }
        if (options.minutes > 0 && watch.elapsed() >= options.minutes * 60) break;
    }
    fmt::print(
        "{} runs, {} faults, {} requests, {} fills, {} starts, {} failures, {} reconnections\n"
        "{}{:.0f} s of virtual time in {:.1f} s ({:.0f} to 1): every promise was kept\n",
        all.runs, all.faults, all.requests, all.fills, all.starts, all.failures, all.reconnections,
        all.shapes_and_faults(), all.virtual_seconds, watch.elapsed(), all.virtual_seconds / watch.elapsed());
    return 0;
}

#ifdef CORRO_DEFECTS

void add_defect_option(const subcommand& command, simulate_options& options) {
    std::vector<std::string> names;
    for (const base::defect_entry& each : base::defect_entries) names.emplace_back(each.name);
    command.add_option("--defect", options.defect, "Run a venue that has this defect").one_of(names);
}

void take_defect(const simulate_options& options) {
    if (!options.defect.empty()) base::chosen_defect = *base::defect_of(options.defect);
}

#else

void add_defect_option(const subcommand& /*command*/, simulate_options& /*options*/) {}
void take_defect(const simulate_options& /*options*/) {}

#endif

int run_plan_file(const simulate_options& options) {
    std::ifstream file(options.plan_file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", options.plan_file));
    const simulation::scale_plan plan = simulation::parse_scale_plan(text, options.plan_file);
    const stopwatch watch;
    const std::string report =
        plan.partition_counts.empty() ? simulation::text_of(simulation::run_scale(plan)) : simulation::growth_of(plan);
    fmt::print("{}{:.3f} s of virtual time for each line or table, in {:.1f} s\n", report,
               static_cast<double>(plan.warm_up_us + plan.measured_us) / 1e6, watch.elapsed());
    return 0;
}

int run(simulate_options& options) {
    if (!options.plan_file.empty() && !options.config_file.empty()) {
        fmt::print(stderr, "corro simulate: --plan has a venue of its own; leave out --config\n");
        return 2;
    }
    if (!options.plan_file.empty()) return run_plan_file(options);
    if (!options.config_file.empty()) {
        try {
            options.venue = simulation::load_venue_file(options.config_file);
        } catch (const node::configuration_error& e) {
            fmt::print(stderr, "corro simulate: {}\n", e.what());
            return 2;
        }
    }
    take_defect(options);
    std::signal(SIGABRT, say_last_words);
    if (!options.seeds.empty()) return run_many(options, parse_seed_range(options.seeds).value());
    if (options.minutes > 0) return run_many(options, {parse_seed(options.seed).value(), ~std::uint64_t{0}});
    return run_one(options);
}

std::string seed_error(const std::string& text) {
    const auto parsed = parse_seed(text);
    return parsed ? std::string() : parsed.error();
}

}  // namespace
}  // namespace corro::app

int main(int argc, char** argv) {
    using namespace corro::app;
    const auto options = std::make_shared<simulate_options>();
    command_line line("corro-simulate", "Run a venue and its clients in a simulated world, under faults.",
                      CORRO_VERSION);
    line.footer(
        "docs/howto/simulate.md shows how to read the output and how to repeat a run that failed.\n"
        "Exit code: 0 on success, 1 if a promise was broken, 2 if the command line or the configuration is\n"
        "invalid.");
    const subcommand command = line.add_subcommand("run", "Run one seed, a range of seeds, or seeds for some minutes");
    command.add_option("--seed", options->seed, "The seed of the run, or the first with --minutes")
        .shows_default()
        .checked_by(seed_error);
    command.add_option("--seeds", options->seeds, "Run the seeds from A to before B, as A:B (0:200 has 200)")
        .checked_by(seed_range_error);
    command.add_option("--minutes", options->minutes, "Run seeds for this long").in_range(0.0, 100'000.0);
    command.add_option("--seconds", options->seconds, "Virtual seconds of the phase with faults")
        .shows_default()
        .in_range(0.1, 3'600.0);
    command.add_option("--without", options->without, "Leave out a kind of fault; several with commas")
        .one_of(names_of_kinds())
        .separated_by(',');
    command.add_option("--trace", options->trace_file,
                       "Write what happens in the run to this file; .json: for ui.perfetto.dev");
    command.add_option("--plan", options->plan_file, "Run a queueing model of a large venue: docs/design/scale.md")
        .existing_file();
    command.add_option("-c,--config", options->config_file,
                       "Run the venue of this configuration file (TOML), not a drawn one");
    command.add_flag("--all-faults", options->keeps_all_faults,
                     "Do not look for a shorter list of faults after a failure");
    add_defect_option(command, *options);
    command.runs([options] { return run(*options); });
    return line.run(argc, argv);
}
