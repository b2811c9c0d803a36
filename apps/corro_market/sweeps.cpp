// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <set>
#include <stdexcept>

#include "base/hash.hpp"
#include "market/metrics/comparison.hpp"
#include "market/metrics/sampled_statistics.hpp"
#include "runs.hpp"

namespace corro::app {
namespace {

namespace fs = std::filesystem;

/// Of one sweep: their results are in memory at its end.
constexpr std::uint64_t seeds_max = 1'000'000;

fs::path file_of(const fs::path& folder, std::uint64_t seed) {
    return folder / fmt::format("seed-{}.json", seed);
}

/// Runs a seed in a process of its own, so that runs share nothing.
pid_t start(const market::scenario& what, std::uint64_t seed, const fs::path& folder) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("cannot start a process for a seed");
    if (child != 0) return child;
    int code = 0;
    try {
        write_file(file_of(folder, seed), json_of(what, run_seed(what, seed)));
    } catch (const std::exception& e) {
        fmt::print(stderr, "corro market: seed {}: {}\n", seed, e.what());
        code = 1;
    }
    std::fflush(nullptr);
    ::_exit(code);
}

/// The folder belongs to one scenario, whose text and files it keeps.
void claim(const fs::path& folder, const market::scenario& what) {
    fs::create_directories(folder);
    if (!fs::exists(folder / "scenario.toml")) {
        write_scenario(folder, what);
        return;
    }
    if (!has_scenario(folder, what)) {
        throw std::runtime_error(
            fmt::format("{} has runs of another scenario; name another folder with --out", folder.string()));
    }
}

/// The result of a seed that an earlier run left. The file states its seed and version itself, so that no other result
/// is taken for it.
run_result kept_result(const fs::path& folder, std::uint64_t seed) {
    const fs::path file = file_of(folder, seed);
    run_result made = read_result(file);
    if (made.seed != seed) throw std::runtime_error(fmt::format("{}: has seed {}", file.string(), made.seed));
    if (made.version != CORRO_VERSION) {
        throw std::runtime_error(fmt::format("{}: is of version {}, this is {}; name another folder with --out",
                                             file.string(), made.version, CORRO_VERSION));
    }
    return made;
}

/// Files of seeds that were not asked for stay out of all results; the user learns of them.
void report_others(const fs::path& folder, const seed_range& seeds) {
    std::size_t others = 0;
    for (const fs::directory_entry& each : fs::directory_iterator(folder)) {
        const std::string name = each.path().stem().string();
        if (!name.starts_with("seed-") || each.path().extension() != ".json") continue;
        const auto seed = parse_seed(name.substr(5));
        if (seed && !seeds.contains(*seed)) ++others;
    }
    if (others == 0) return;
    fmt::print(stderr, "corro market: {} has results of {} more seed{}, which {} not in {}:{}\n", folder.string(),
               others, others == 1 ? "" : "s", others == 1 ? "is" : "are", seeds.first, seeds.end);
}

using series = std::map<std::string, std::vector<double>>;

series series_of(const std::vector<run_result>& all, std::vector<std::string>* names) {
    series made;
    for (const run_result& run : all) {
        for (const market::metric& each : run.metrics) {
            std::vector<double>& values = made[each.name];
            if (values.empty() && names != nullptr) names->push_back(each.name);
            values.push_back(each.value);
        }
    }
    return made;
}

}  // namespace

std::vector<run_result> sweep(const market::scenario& what, seed_range seeds, unsigned jobs, const fs::path& folder) {
    if (seeds.count() > seeds_max) throw std::runtime_error(fmt::format("--seeds: at most {} seeds", seeds_max));
    claim(folder, what);
    report_others(folder, seeds);
    std::vector<run_result> made(seeds.count());
    std::vector<std::uint64_t> left;
    for (std::uint64_t seed = seeds.first; seed < seeds.end; ++seed) {
        if (fs::exists(file_of(folder, seed))) {
            made[seed - seeds.first] = kept_result(folder, seed);
        } else {
            left.push_back(seed);
        }
    }
    const std::vector<std::uint64_t> missing = left;
    const std::size_t all = left.size();
    std::reverse(left.begin(), left.end());
    std::set<pid_t> running;
    bool has_failed = false;
    std::size_t done = 0;
    while (!left.empty() || !running.empty()) {
        while (!left.empty() && running.size() < jobs && !has_failed) {
            running.insert(start(what, left.back(), folder));
            left.pop_back();
        }
        if (running.empty()) break;
        int status = 0;
        const pid_t ended = ::wait(&status);
        if (running.erase(ended) == 0) continue;
        ++done;
        has_failed = has_failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{} of {} seeds", done, all);
    }
    if (::isatty(STDERR_FILENO) != 0 && all != 0) fmt::print(stderr, "\n");
    if (has_failed) throw std::runtime_error("a seed failed; the same command continues with those that are missing");
    for (const std::uint64_t seed : missing) made[seed - seeds.first] = kept_result(folder, seed);
    return made;
}

std::string summary_of(const std::vector<run_result>& all) {
    std::vector<std::string> names;
    const series values = series_of(all, &names);
    std::string text =
        fmt::format("{} seeds\n\n| metric | mean | deviation | least | most |\n|---|---|---|---|---|\n", all.size());
    for (const std::string& name : names) {
        const std::vector<double>& x = values.at(name);
        const auto [least, most] = std::ranges::minmax(x);
        text += fmt::format("| {} | {:.6g} | {:.3g} | {:.6g} | {:.6g} |\n", name, market::mean_of(x),
                            std::sqrt(market::variance_of(x)), least, most);
    }
    return text;
}

std::vector<compared_metric> compare_runs(const std::vector<run_result>& first, const std::vector<run_result>& second) {
    std::vector<std::string> names;
    const series a = series_of(first, &names);
    const series b = series_of(second, nullptr);
    // A metric that a run lacks has no pair.
    std::erase_if(names, [&](const std::string& name) {
        return !b.contains(name) || a.at(name).size() != first.size() || b.at(name).size() != second.size();
    });
    std::vector<compared_metric> made;
    std::vector<double> p_values;
    for (const std::string& name : names) {
        compared_metric one;
        one.name = name;
        one.found = market::compare_pairs(a.at(name), b.at(name), base::hash_bytes(std::as_bytes(std::span(name))));
        p_values.push_back(one.found.p_value);
        made.push_back(std::move(one));
    }
    const std::vector<double> corrected = market::holm_correction(p_values);
    for (std::size_t i = 0; i < made.size(); ++i) made[i].corrected_p = corrected[i];
    return made;
}

std::string comparison_of(const std::vector<compared_metric>& all, std::size_t seeds_count) {
    std::string text = fmt::format(
        "{} seeds in pairs, the same random numbers in both. Intervals: 95 %, bootstrap. Significance: sign flips, "
        "Holm's correction over {} metrics.\n\n| metric | A | B | B - A | interval | p, corrected | "
        "|\n|---|---|---|---|---|---|---|\n",
        seeds_count, all.size());
    for (const compared_metric& each : all) {
        const market::paired_difference& d = each.found;
        text += fmt::format("| {} | {:.5g} | {:.5g} | {:+.4g} | {:+.4g} to {:+.4g} | {:.4f} | {} |\n", each.name,
                            d.mean_first, d.mean_second, d.difference, d.low, d.high, each.corrected_p,
                            each.differs() ? "differs" : "");
    }
    return text;
}

}  // namespace corro::app
