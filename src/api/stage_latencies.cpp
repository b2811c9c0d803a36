// SPDX-License-Identifier: Apache-2.0
#include "api/stage_latencies.hpp"

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "api/json_writer.hpp"

namespace corro::api {

stage_latencies::stage_latencies(std::vector<timed_stage> stages) : stages_(std::move(stages)) {
    if (stages_.empty()) return;
    // Before the first copies, everything is new.
    copies_.assign(copies_kept, copy(stages_.size()));
}

void stage_latencies::look() {
    for (std::size_t k = 0; k < stages_.size(); ++k) stages_[k].of->copy_to(copies_[oldest_][k]);
    oldest_ = (oldest_ + 1) % copies_kept;
}

std::string stage_latencies::text() const {
    std::string text;
    json_writer out(text);
    const auto now = std::make_unique<base::shared_histogram::counts>();
    out.list([&] {
        for (std::size_t k = 0; k < stages_.size(); ++k) {
            stages_[k].of->copy_to(*now);
            const base::shared_histogram::counts& before = copies_[oldest_][k];
            for (std::size_t i = 0; i < now->size(); ++i) (*now)[i] -= before[i];
            const std::uint64_t count = std::accumulate(now->begin(), now->end(), std::uint64_t{0});
            if (count == 0) continue;
            const auto at = [&](double share) { return static_cast<std::int64_t>(base::value_at_share(*now, share)); };
            out.object([&] {
                out.member("request").text(stages_[k].request);
                out.member("stage").text(stages_[k].stage);
                out.member("count").number(static_cast<std::int64_t>(count));
                out.member("p50_ns").number(at(0.5));
                out.member("p99_ns").number(at(0.99));
                out.member("p999_ns").number(at(0.999));
            });
        }
    });
    return text;
}

}  // namespace corro::api
