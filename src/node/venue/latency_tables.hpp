// SPDX-License-Identifier: Apache-2.0
// The latency of requests inside the venue, by kind of request and stage.
//
// Stage 1: from the receipt of a request's bytes to the decoded command. Stage 2: from there until the answers are in
// the session's output buffer; it includes the wait in the command queue, matching, encoding and publication. Total:
// both.
//
// Units: nanoseconds. Threads: one; `live` any.
// Source: the stages are those of the MiniExchange paper, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.hpp"
#include "base/shared_histogram.hpp"
#include "domain/command.hpp"

namespace corro::node {

/// A line of percentiles of a histogram of nanoseconds, and the heading for it.
[[nodiscard]] std::string latency_heading(const std::string& first_column);
[[nodiscard]] std::string latency_line(const std::string& name, const base::latency_histogram& h);

/// The kinds of requests that metrics and the API report, and their stages.
inline constexpr std::array<std::pair<domain::command_kind, std::string_view>, 4> timed_kinds{{
    {domain::command_kind::enter_order, "enter_order"},
    {domain::command_kind::amend_order, "amend_order"},
    {domain::command_kind::cancel_order, "cancel_order"},
    {domain::command_kind::enter_quote, "enter_quote"},
}};
inline constexpr std::array<std::string_view, 3> timed_stages{"decode", "answer", "total"};

class latency_tables {
 public:
    void record(domain::command_kind kind, std::uint64_t stage_1_ns, std::uint64_t stage_2_ns) noexcept {
        auto& stages = kinds_[static_cast<std::size_t>(kind)];
        stages[0].record(stage_1_ns);
        stages[1].record(stage_2_ns);
        stages[2].record(stage_1_ns + stage_2_ns);
        const auto found = std::ranges::find(timed_kinds, kind, [](const auto& each) { return each.first; });
        if (found == timed_kinds.end()) return;
        auto& shared = (*live_)[static_cast<std::size_t>(found - timed_kinds.begin())];
        shared[0].record(stage_1_ns);
        shared[1].record(stage_2_ns);
        shared[2].record(stage_1_ns + stage_2_ns);
    }

    /// The tables as text, in microseconds; a sentence when nothing was sampled.
    [[nodiscard]] std::string format() const;

    [[nodiscard]] const base::latency_histogram& stage(domain::command_kind kind, std::size_t index) const {
        return kinds_[static_cast<std::size_t>(kind)][index];
    }
    /// The same, coarser, for readers on other threads. @param kind  Of `timed_kinds`. @param index  Of `timed_stages`.
    [[nodiscard]] const base::shared_histogram& live(std::size_t kind, std::size_t index) const {
        return (*live_)[kind][index];
    }

 private:
    static constexpr std::size_t kinds_count = 28;  ///< domain::command_kind, from 1
    using live_histograms = std::array<std::array<base::shared_histogram, timed_stages.size()>, timed_kinds.size()>;
    std::array<std::array<base::latency_histogram, 3>, kinds_count> kinds_;
    std::unique_ptr<live_histograms> live_ = std::make_unique<live_histograms>();
};

}  // namespace corro::node
