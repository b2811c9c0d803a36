// SPDX-License-Identifier: Apache-2.0
#include "calibration.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>

#include "market/calibration/parameter_search.hpp"
#include "runs.hpp"

namespace corro::app {
namespace {

/// A candidate that takes longer counts as the furthest: some parameters make a market of endless orders.
constexpr rlim_t seconds_max = 60;
constexpr double cost_max = 1e6;

std::vector<market::fact_block> facts_of_run(const market::scenario& what, std::uint64_t seed,
                                             market::fact_window window) {
    const auto world = what.build(seed, false);
    market::stylised_facts observed(*world, window);
    world->observe_with(observed);
    world->run(what.duration_ns);
    return observed.take();
}

market::fact_window window_of(std::int64_t begin_ns, const market::scenario& what, std::int64_t sample_ns) {
    market::fact_window window;
    window.begin_ns = begin_ns;
    window.end_ns = what.duration_ns;
    window.sample_ns = sample_ns;
    const auto blocks = static_cast<std::int64_t>(window.blocks_count);
    if ((window.end_ns - window.begin_ns) / blocks < sample_ns) {
        throw std::runtime_error(
            fmt::format("{}: expected at least {} samples after what is left out", what.name, blocks));
    }
    return window;
}

/// Evaluates a candidate in a process of its own, so that runs share nothing and none can end the search.
class evaluation {
 public:
    template <class Work>
    explicit evaluation(Work&& work) {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0) throw std::runtime_error("cannot make a pipe for a candidate");
        std::fflush(nullptr);
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("cannot start a process for a candidate");
        if (child_ == 0) {
            ::close(ends[0]);
            const rlimit limit{seconds_max, seconds_max};
            ::setrlimit(RLIMIT_CPU, &limit);
            int code = 1;
            try {
                const double cost = work();
                code = ::write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1;
            } catch (const std::exception& e) {
                fmt::print(stderr, "corro market: a candidate: {}\n", e.what());
            }
            std::fflush(nullptr);
            ::_exit(code);
        }
        ::close(ends[1]);
        from_ = ends[0];
    }
    evaluation(const evaluation&) = delete;
    evaluation& operator=(const evaluation&) = delete;
    ~evaluation() {
        ::close(from_);
        int status = 0;
        ::waitpid(child_, &status, 0);
    }
    /// Waits for it. That of a candidate that failed is above all others.
    [[nodiscard]] double cost() const {
        std::array<std::byte, sizeof(double)> bytes{};
        std::size_t got = 0;
        while (got < bytes.size()) {
            const ssize_t some = ::read(from_, bytes.data() + got, bytes.size() - got);
            if (some <= 0) return cost_max;
            got += static_cast<std::size_t>(some);
        }
        double value = 0;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }

 private:
    pid_t child_ = -1;
    int from_ = -1;
};

}  // namespace

std::vector<market::fact_block> recorded_facts(const market::scenario& recorded, const comparison_times& times) {
    if (recorded.day == nullptr)
        throw std::runtime_error(fmt::format("{}: expected a scenario with a [recording]", recorded.name));
    for (const market::agent_group& each : recorded.groups) {
        if (each.kind != "idle") {
            throw std::runtime_error(
                fmt::format("{}: has agents that trade; expected the recording alone, with a group of kind \"idle\"",
                            recorded.name));
        }
    }
    return facts_of_run(recorded, recorded.seed, window_of(times.skipped_ns, recorded, recorded.sample_ns));
}

std::vector<market::fact_block> simulated_facts(const market::scenario& what, seed_range seeds,
                                                const comparison_times& times, std::int64_t sample_ns) {
    const market::fact_window window = window_of(times.warm_up_ns, what, sample_ns);
    std::vector<market::fact_block> all;
    for (std::uint64_t seed = seeds.first; seed < seeds.end; ++seed) {
        std::vector<market::fact_block> one = facts_of_run(what, seed, window);
        std::ranges::move(one, std::back_inserter(all));
    }
    return all;
}

std::string scorecard_of(const std::vector<market::scored_fact>& all) {
    double sum = 0;
    std::size_t near = 0;
    for (const market::scored_fact& each : all) {
        sum += each.distance;
        if (each.distance <= 2) ++near;
    }
    std::string text = fmt::format(
        "Mean distance {:.2f}; {} of {} facts within 2 errors of the recording. Intervals: 95 %, bootstrap over "
        "blocks.\n\n"
        "| fact | recorded | interval | simulated | interval | distance | interval |\n|---|---|---|---|---|---|---|\n",
        sum / static_cast<double>(all.size()), near, all.size());
    for (const market::scored_fact& each : all) {
        text += fmt::format(
            "| `{}` | {:.3g} | {:.3g} to {:.3g} | {:.3g} | {:.3g} to {:.3g} | {:.1f} | {:.1f} to {:.1f} |\n",
            each.rule.name, each.recorded, each.recorded_low, each.recorded_high, each.simulated, each.simulated_low,
            each.simulated_high, each.distance, each.distance_low, each.distance_high);
    }
    return text;
}

calibration_result calibrate(const market::scenario_template& from, const std::filesystem::path& file,
                             const market::fact_reference& reference, std::int64_t sample_ns,
                             const calibration_options& how) {
    if (from.parameters().empty()) {
        throw std::runtime_error(fmt::format("{}: has no parameters, such as ${{80 in 20 to 500}}", file.string()));
    }
    const auto cost_of = [&](const std::vector<double>& places) {
        const market::scenario what = market::parse_scenario(from.filled(places), file.string());
        return reference.cost(market::facts_of(simulated_facts(what, how.seeds, how.times, sample_ns)));
    };
    // An error of the text is one of all candidates: it ends the search before it begins.
    static_cast<void>(market::parse_scenario(from.filled(from.begin()), file.string()));
    market::parameter_search search(from.begin(), how.seed);
    calibration_result made;
    while (made.evaluations + search.candidates_count() <=
           std::max<std::size_t>(how.evaluations, search.candidates_count())) {
        const std::vector<std::vector<double>>& asked = search.ask();
        std::vector<double> costs(asked.size(), cost_max);
        std::map<std::size_t, evaluation> running;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (running.size() == how.jobs) {
                costs[running.begin()->first] = running.begin()->second.cost();
                running.erase(running.begin());
            }
            running.try_emplace(i, [&] { return cost_of(asked[i]); });
        }
        for (const auto& [i, each] : running) costs[i] = each.cost();
        if (made.evaluations == 0) made.cost_before = costs.front();
        made.evaluations += static_cast<std::uint32_t>(asked.size());
        search.tell(costs);
        made.cost = search.best_cost();
        write_file(how.out, from.filled(search.best()));
        fmt::print(stderr, "{} evaluations: cost {:.4f}, in this round {:.4f}\n", made.evaluations, search.best_cost(),
                   *std::ranges::min_element(costs));
    }
    return made;
}

}  // namespace corro::app
