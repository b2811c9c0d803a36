// SPDX-License-Identifier: Apache-2.0
// How long requests have taken inside the venue, stage by stage, in the last seconds.
//
// The venue records into histograms that may be read from another thread; this copies them now and then, and reports
// the difference between the newest counts and the oldest copy. So it costs the venue's thread nothing.
//
// Units:   nanoseconds. Threads: one; the histograms' may be another.
// Cost:    8.4 KB for each stage and copy.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_histogram.hpp"

namespace corro::api {

/// A stage of a kind of request, such as "answer" of "enter_order".
struct timed_stage {
    std::string_view request;
    std::string_view stage;
    const base::shared_histogram* of = nullptr;  ///< outlives its readers
};

class stage_latencies {
 public:
    static constexpr std::chrono::seconds look_interval{2};
    static constexpr std::size_t copies_kept = 5;

    explicit stage_latencies(std::vector<timed_stage> stages);

    [[nodiscard]] bool is_empty() const noexcept { return stages_.empty(); }
    /// Copies the counts. Called every `look_interval`.
    void look();
    /// A list of the stages with a value since the oldest copy, as JSON.
    [[nodiscard]] std::string text() const;

 private:
    using copy = std::vector<base::shared_histogram::counts>;

    std::vector<timed_stage> stages_;
    std::vector<copy> copies_;  ///< a ring
    std::size_t oldest_ = 0;
};

}  // namespace corro::api
