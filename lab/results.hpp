// SPDX-License-Identifier: Apache-2.0
// The results of a lab session, and their JSON form.
//
// Layout:
//     {"schema": 1, "machine": {name: text, ...},
//      "rows": [{"suite", "row", "subject", "unit", "better": "higher" or "lower", "median", "min", "max",
//                "samples": [...], "latency_ns": {"mean", "deviation", "min", "p50", "p90", "p95", "p99", "p999",
//                "p9999", "max"}, "checksum"}]}
// `latency_ns` is there only where latencies were measured; each of its values is the median over the repeats, and the
// older files that lack some of them are read. `checksum` is there where a row has one.
//
// Threads: a value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/measurement.hpp"
#include "lab/registry.hpp"
#include "lab/statistics.hpp"

namespace corro::lab {

inline constexpr int results_schema = 1;

/// One row by one subject, over all repeats.
struct result {
    std::string suite;
    std::string row;
    std::string subject;
    std::string unit;
    lab::better better = lab::better::higher;
    spread value;
    std::vector<double> samples;
    std::optional<latency_summary> latency_ns;
    std::string checksum{};  ///< see measurement::checksum

    friend bool operator==(const result&, const result&) = default;
};

struct results {
    std::map<std::string, std::string> machine;  ///< what there is to know about machine, kernel, compiler, peers, run
    std::vector<result> rows;

    friend bool operator==(const results&, const results&) = default;
};

[[nodiscard]] std::string to_json(const results& all);

/// @throws std::runtime_error with the error in the text.
[[nodiscard]] results results_from_json(std::string_view text);

/// One run's measurement on one line, as a run's process hands it to the lab.
[[nodiscard]] std::string to_json_line(const measurement& one);
/// @throws std::runtime_error with the error in the line.
[[nodiscard]] measurement measurement_from_json(std::string_view line);

/// Gathers the measurements of all runs and makes results of them, in the order of the registry.
class collector {
 public:
    /// @throws wrong_result if the benchmark's checksum is another one than in the runs before, by whichever subject.
    void add(const benchmark& what, std::string_view subject, const measurement& one);
    [[nodiscard]] std::vector<result> finish(const registry& order) const;

 private:
    struct gathered {
        std::vector<std::vector<double>> samples;  // by row
        std::vector<latency_summary> latencies;
        std::size_t latency_row = 0;
    };
    std::map<std::string, gathered> by_key_;        // "suite/benchmark/subject"
    std::map<std::string, std::string> checksums_;  // by "suite/benchmark"
};

}  // namespace corro::lab
