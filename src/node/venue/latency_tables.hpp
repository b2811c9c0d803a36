// SPDX-License-Identifier: Apache-2.0
// The latency of requests inside the venue, by kind of request and stage.
//
// Stage 1: from the receipt of a request's bytes to the decoded command. Stage 2: from there until the answers are in
// the session's output buffer; it includes the wait in the command queue, matching, encoding and publication. Total:
// both.
//
// Units: nanoseconds. Threads: one.
// Source: the stages are those of the MiniExchange paper, section 3.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/histogram.hpp"
#include "domain/command.hpp"

namespace corro::node {

/// A line of percentiles of a histogram of nanoseconds, and the heading for it.
[[nodiscard]] std::string latency_heading(const std::string& first_column);
[[nodiscard]] std::string latency_line(const std::string& name, const base::latency_histogram& h);

class latency_tables {
 public:
    void record(domain::command_kind kind, std::uint64_t stage_1_ns, std::uint64_t stage_2_ns) noexcept {
        auto& stages = kinds_[static_cast<std::size_t>(kind)];
        stages[0].record(stage_1_ns);
        stages[1].record(stage_2_ns);
        stages[2].record(stage_1_ns + stage_2_ns);
    }

    /// The tables as text, in microseconds; a sentence when nothing was sampled.
    [[nodiscard]] std::string format() const;

    [[nodiscard]] const base::latency_histogram& stage(domain::command_kind kind, std::size_t index) const {
        return kinds_[static_cast<std::size_t>(kind)][index];
    }

 private:
    static constexpr std::size_t kinds_count = 28;  ///< domain::command_kind, from 1
    std::array<std::array<base::latency_histogram, 3>, kinds_count> kinds_;
};

}  // namespace corro::node
