// SPDX-License-Identifier: Apache-2.0
// What the lab can measure: suites of benchmarks, each with one or more rows, and the subjects that implement them.
//
// A benchmark is one piece of work; a subject is one way of doing it (`corro_epoll`, `asio_callbacks`). A benchmark
// gives one value for each of its rows, such as a rate and the worst connection's latency. Rows are declared once, with
// what they do; each subject's file then says which of them it implements.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measurement.hpp"

namespace corro::lab {

enum class better : unsigned char { higher, lower };

/// How a subject counts when results are compared.
enum class subject_role : unsigned char {
    ours,   ///< named corro...
    floor,  ///< named raw...: what the machine or the kernel costs without a library
    peer,   ///< everything else
};
[[nodiscard]] subject_role role_of(std::string_view subject) noexcept;

struct row {
    std::string name;
    std::string unit;
    lab::better better = lab::better::higher;
    std::string does;
};

using benchmark_function = std::function<measurement(const run_parameters&)>;

struct implementation {
    std::string subject;
    benchmark_function run;
};

struct benchmark {
    std::string suite;
    std::vector<row> rows;   ///< the first one names the benchmark
    int threads = 1;         ///< with one thread, the process is bound to one processor
    double time_factor = 1;  ///< factor on the session's measuring time of a run
    int repeats_count = 5;   ///< default of the session's number of repeats
    std::vector<implementation> by;

    [[nodiscard]] const std::string& name() const { return rows.front().name; }
};

class registry {
 public:
    /// Declares a benchmark. @pre No other row of the suite has one of its rows' names (asserted).
    void declare(std::string_view suite, std::vector<row> rows, int threads = 1, double time_factor = 1,
                 int repeats_count = 5);

    /// Registers `subject` for the benchmark `name`. @pre The benchmark is declared (asserted).
    void implement(std::string_view suite, std::string_view name, std::string_view subject, benchmark_function run);

    [[nodiscard]] const std::vector<benchmark>& benchmarks() const noexcept { return benchmarks_; }
    /// @return nullptr if there is no such benchmark.
    [[nodiscard]] const benchmark* find(std::string_view suite, std::string_view name) const noexcept;
    /// The row of this name, whichever benchmark gives it. @return nullptr if there is none.
    [[nodiscard]] const row* find_row(std::string_view suite, std::string_view name) const noexcept;
    /// The names of the suites in the order of their declaration.
    [[nodiscard]] std::vector<std::string> suites() const;

 private:
    std::vector<benchmark> benchmarks_;
};

}  // namespace corro::lab
