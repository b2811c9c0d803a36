// SPDX-License-Identifier: Apache-2.0
// A run as a timeline, in the JSON format of Chrome's trace events, which Perfetto (ui.perfetto.dev) shows.
//
//     simulation::timeline made(plan);
//     simulation::run(plan, {}, &made);
//     file << made.text();
//
// Tracks: the faults, one for each kind; for each host its processes, one slice for each life, and the time without
// power or on hold; the connected clients, requests without an answer and feed messages that the subscriber lacks, as
// counters.
//
// Units:   microseconds of virtual time since the beginning of the run.
// Threads: one.
// Source:  "Trace Event Format", Google; the events X, i, C and M.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/plan.hpp"
#include "simulation/run.hpp"

namespace corro::simulation {

class timeline final : public run_watcher {
 public:
    explicit timeline(const plan& whole) : shape_(whole.shape), faults_(whole.faults) {}

    /// The file. For use after the run.
    [[nodiscard]] std::string text() const;

    void begins(const sim::world& in) override;
    void told(std::string_view what) override;
    void sampled(const run_sample& now) override;
    void process_started(const sim::process& one) override;
    void process_ended(const sim::process& one) override;
    void host_changed(const sim::host& one) override;

 private:
    static constexpr std::int64_t open = -1;

    struct slice {
        std::string host;
        std::string track;
        std::string name;
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = open;
    };
    struct moment {
        std::int64_t at_ns = 0;
        std::string name;
    };
    struct sample {
        std::int64_t at_ns = 0;
        run_sample values;
    };

    [[nodiscard]] std::int64_t now_ns() const;
    void begin_slice(std::string host, std::string track, std::string name);
    void end_slice(std::string_view host, std::string_view name);

    run_shape shape_;
    std::vector<fault> faults_;
    const sim::world* world_ = nullptr;  // while the run lasts
    std::int64_t begin_ns_ = 0;
    std::int64_t last_ns_ = 0;
    std::vector<slice> slices_;
    std::vector<moment> moments_;
    std::vector<sample> samples_;
};

}  // namespace corro::simulation
