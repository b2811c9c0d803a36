// SPDX-License-Identifier: Apache-2.0
#include "lab/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "lab/child_process.hpp"
#include "lab/machine.hpp"

namespace corro::lab {
namespace {

using std::chrono::steady_clock;

// A run that takes this much longer than it should hangs. On a busy machine the short runs of a test may wait for
// minutes.
std::chrono::milliseconds limit_of(double seconds) {
    return std::chrono::milliseconds(180'000 + static_cast<std::int64_t>(seconds * 10'000));
}

/// One line that is written over on a terminal; elsewhere a line now and then.
class progress {
 public:
    progress(std::size_t runs_count, double seconds_per_run)
        : runs_count_(runs_count), seconds_per_run_(seconds_per_run), on_terminal_(isatty(STDERR_FILENO) == 1) {
        fmt::print(stderr, "{} runs, about {}\n", runs_count,
                   duration_text(estimated_seconds(runs_count, seconds_per_run)));
    }

    void show(std::size_t done_count, const planned_run& next) {
        const auto now = steady_clock::now();
        if (!on_terminal_ && done_count != 0 && now - last_shown_ < std::chrono::seconds(20)) return;
        last_shown_ = now;
        const double spent = std::chrono::duration<double>(now - begun_).count();
        // After the first runs their real duration replaces the estimate.
        const double per_run =
            done_count < 10 ? estimated_seconds(1, seconds_per_run_) : spent / static_cast<double>(done_count);
        const double left = per_run * static_cast<double>(runs_count_ - done_count);
        const std::string line =
            fmt::format("{:3}%  {}/{}  {} left  {}/{} by {}", 100 * done_count / runs_count_, done_count, runs_count_,
                        duration_text(left), next.what->suite, next.what->name(), next.by->subject);
        write(line, "");
    }

    void interrupt_with(const std::string& line) const { write(line, "\n"); }

    void finish() const {
        const double spent = std::chrono::duration<double>(steady_clock::now() - begun_).count();
        write(fmt::format("done in {}", duration_text(spent)), "\n");
    }

 private:
    void write(const std::string& line, const char* terminal_end) const {
        if (on_terminal_) {
            fmt::print(stderr, "\r{:<110}{}", line, terminal_end);
        } else {
            fmt::print(stderr, "{}\n", line);
        }
        std::fflush(stderr);
    }

    std::size_t runs_count_;
    double seconds_per_run_;
    bool on_terminal_;
    steady_clock::time_point begun_ = steady_clock::now();
    steady_clock::time_point last_shown_ = begun_;
};

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// Returns the measurement. @throws an exception with the reason if there is none.
measurement run_in_process(const planned_run& run, const session_options& options) {
    const double seconds = options.seconds * run.what->time_factor;
    std::vector<std::string> arguments{one_command,     run.what->suite, run.what->name(),
                                       run.by->subject, "--seconds",     fmt::format("{}", seconds)};
    if (!options.lab.threads.empty()) {
        arguments.emplace_back("--threads");
        arguments.push_back(fmt::format("{}", fmt::join(options.lab.threads, ",")));
    }
    const finished_process ended =
        run_myself(arguments, limit_of(seconds), run.what->threads == 1 ? quiet_processor() : -1);
    if (ended.out_of_time) throw std::runtime_error("hangs; it was killed");
    if (ended.signal_number != 0) throw std::runtime_error(fmt::format("died of signal {}", ended.signal_number));
    if (ended.exit_code != 0) throw std::runtime_error(first_line(ended.output));
    return measurement_from_json(ended.output);
}

}  // namespace

session run_session(const registry& all, const session_options& options) {
    const std::vector<planned_run> plan = make_plan(all, options.wanted, options.repeats_count, options.seed);
    session made;
    made.measured.machine = machine_facts();
    const int repeats_count =
        std::max_element(plan.begin(), plan.end(),
                         [](const planned_run& a, const planned_run& b) { return a.repeat < b.repeat; })
            ->repeat +
        1;
    made.measured.machine["run"] =
        fmt::format("{} repeats of {} s, seed {}", repeats_count, options.seconds, options.seed);
    collector gathered;
    double time_factors = 0;
    for (const planned_run& run : plan) time_factors += run.what->time_factor;
    progress display(plan.size(), options.seconds * time_factors / static_cast<double>(plan.size()));
    for (std::size_t i = 0; i < plan.size(); ++i) {
        display.show(i, plan[i]);
        try {
            gathered.add(*plan[i].what, plan[i].by->subject, run_in_process(plan[i], options));
        } catch (const std::runtime_error& e) {
            made.failures.push_back(fmt::format("{}/{} by {}, repeat {}: {}", plan[i].what->suite, plan[i].what->name(),
                                                plan[i].by->subject, plan[i].repeat + 1, e.what()));
            display.interrupt_with(made.failures.back());
        }
    }
    display.finish();
    made.measured.rows = gathered.finish(all);
    return made;
}

int run_one(const registry& all, const std::string& suite, const std::string& name, const std::string& subject,
            double seconds) {
    const benchmark* const what = all.find(suite, name);
    if (what == nullptr) {
        fmt::print("there is no benchmark {}/{}\n", suite, name);
        return 1;
    }
    for (const implementation& by : what->by) {
        if (by.subject != subject) continue;
        try {
            run_parameters how;
            how.seconds = seconds;
            fmt::print("{}\n", to_json_line(by.run(how)));
            return 0;
        } catch (const std::exception& e) {
            fmt::print("{}\n", e.what());
            return 1;
        }
    }
    fmt::print("{}/{} has no subject {}\n", suite, name, subject);
    return 1;
}

}  // namespace corro::lab
