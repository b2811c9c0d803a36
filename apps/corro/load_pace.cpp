// SPDX-License-Identifier: Apache-2.0
#include "load_pace.hpp"

#include <algorithm>

namespace corro::app {
namespace {

// A day counts as forever.
std::chrono::nanoseconds gap_of(const load_options& options) {
    if (options.rate <= 0) return {};
    const std::chrono::duration<double> gap(std::min(options.clients_count / options.rate, 86'400.0));
    return std::chrono::duration_cast<std::chrono::nanoseconds>(gap);
}

}  // namespace

pace::pace(const load_run& run, std::uint32_t index)
    : gap(gap_of(run.options)),
      begin_ticks(run.clock.now_ticks()),
      begin(std::chrono::steady_clock::now()),
      due(gap * index / run.options.clients_count) {}

}  // namespace corro::app
