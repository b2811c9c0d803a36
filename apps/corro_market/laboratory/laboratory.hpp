// SPDX-License-Identifier: Apache-2.0
// A market that a person runs, stops, steps and changes, and whose present moment can be forked.
//
// A change is an event of the scenario's timeline at the present moment. The market is run again from its start with
// that event, and takes the old one's place when it has the same digest: so a run with changes is a scenario and a seed
// like any other, and `text` is that scenario.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "comparison_job.hpp"
#include "io/sync/event.hpp"
#include "lab_json.hpp"
#include "observed_run.hpp"

namespace corro::app {

/// Speeds: seconds of the market in a second.
inline constexpr double speed_least = 0.01;
inline constexpr double speed_most = 100'000;

class laboratory {
 public:
    /// @throws node::configuration_error
    laboratory(io::context& on, scenario_source from, std::uint64_t seed);
    laboratory(const laboratory&) = delete;
    laboratory& operator=(const laboratory&) = delete;

    /// Moves the market while it runs. @suspend Until a stop. @cancel Ends.
    [[nodiscard]] io::task<> drive();

    /// {"do": "run" | "pause" | "step" | "go" | "restart", "speed", "seconds", "seed"}
    /// @suspend Until the market is at the moment that was asked for.
    [[nodiscard]] io::task<std::expected<json, refusal>> control(json asked);
    /// An event now: the keys of an [[event]]. @suspend Until the market has it.
    [[nodiscard]] io::task<std::expected<json, refusal>> inject(json change);
    /// {"event": {...}, "seeds": N}: starts a comparison of this run with one that has the event now.
    [[nodiscard]] std::expected<json, refusal> compare(const json& asked);
    void stop_comparison() noexcept { comparison_.stop(); }
    [[nodiscard]] json comparison() const { return comparison_.state(); }
    [[nodiscard]] std::uint64_t comparison_version() const noexcept { return comparison_.version(); }

    [[nodiscard]] observed_run& run() noexcept { return *run_; }
    /// The scenario with all changes.
    [[nodiscard]] const std::string& text() const noexcept { return source_.text; }
    /// Time, state, speed, counts.
    [[nodiscard]] json now_json() const;
    [[nodiscard]] json terms() const { return terms_json(*run_, seed_, injected_count_); }
    /// Grows when a run begins whose past is another one.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    /// Grows when the terms have changed.
    [[nodiscard]] std::uint64_t terms_version() const noexcept { return epoch_ + injected_count_; }

 private:
    /// While a request moves the market, nothing else does.
    class busy_mark;
    using done = std::expected<void, refusal>;

    [[nodiscard]] io::task<done> advance(observed_run* which, std::int64_t to_ns);
    /// From the start again if the moment is past.
    [[nodiscard]] io::task<done> go(std::int64_t to_ns);
    [[nodiscard]] io::task<done> take(scenario_source changed, std::unique_ptr<market::scenario> with);
    void restart(std::uint64_t seed);
    [[nodiscard]] std::expected<scenario_source, refusal> changed_by(const json& change) const;
    [[nodiscard]] done may_change() const;
    void advance_for_a_while(std::int64_t to_ns);

    io::context& context_;
    scenario_source source_;
    std::string original_text_;
    std::uint64_t seed_;
    std::unique_ptr<market::scenario> scenario_;  // of the run
    std::unique_ptr<observed_run> run_;
    comparison_job comparison_;
    double speed_ = 1;
    bool is_running_ = false;
    bool is_busy_ = false;
    std::size_t injected_count_ = 0;
    std::uint64_t epoch_ = 1;
    std::string failure_;
};

}  // namespace corro::app
