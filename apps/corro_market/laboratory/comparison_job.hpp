// SPDX-License-Identifier: Apache-2.0
// Two scenarios that differ in one change, run to their ends beside the laboratory: one seed side by side, and many
// seeds in pairs.
//
// Threads: the laboratory's context; the runs are on a worker.
// Cost:    two runs for each seed, and two more for the pictures.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/task/task.hpp"
#include "lab_json.hpp"
#include "observed_run.hpp"

namespace corro::app {

/// Seeds of a comparison.
inline constexpr std::uint64_t compared_seeds_max = 10'000;

/// The text of a scenario, and where the files are that it names.
struct scenario_source {
    std::string text;
    std::string file;
    std::string data_folder;

    /// @throws node::configuration_error
    [[nodiscard]] market::scenario parse() const;
};

struct comparison_order {
    scenario_source a;
    scenario_source b;
    json change;             ///< what B has and A has not
    std::int64_t at_ns = 0;  ///< when
    std::uint64_t seed = 0;  ///< the first
    std::uint64_t seeds_count = 0;
};

class comparison_job {
 public:
    explicit comparison_job(io::context& on) noexcept : context_(&on) {}
    ~comparison_job() { end(); }
    comparison_job(const comparison_job&) = delete;
    comparison_job& operator=(const comparison_job&) = delete;

    [[nodiscard]] bool is_running() const noexcept { return worker_ != nullptr; }
    /// Grows with each start, step and end.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_ + done_; }
    /// @pre Not running. @throws std::system_error
    void start(comparison_order what);
    /// Asks the runs to end; the seeds that are done are compared.
    void stop() noexcept { is_stopping_ = true; }
    /// Takes the result if the runs have ended. The laboratory calls it now and then.
    void collect();
    /// Stops, and waits for it.
    void end() noexcept;
    /// Null before the first.
    [[nodiscard]] json state() const;

 private:
    [[nodiscard]] io::task<void> work();
    void run_pairs();

    io::context* context_;
    std::unique_ptr<io::worker> worker_;
    std::optional<comparison_order> order_;
    std::atomic<bool> is_stopping_ = false;
    std::atomic<bool> has_ended_ = false;
    std::atomic<std::uint64_t> done_ = 0;  // seeds, both runs
    std::uint64_t version_ = 0;
    // The worker's until it has ended.
    json paths_;
    json rows_;
    std::uint64_t pairs_count_ = 0;
    std::string failure_;
};

}  // namespace corro::app
