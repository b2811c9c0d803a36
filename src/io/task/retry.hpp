// SPDX-License-Identifier: Apache-2.0
// `retry`: repeats an operation, with growing pauses, until it succeeds or the attempts are used up.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "io/task/awaitable.hpp"

namespace corro::io {

/// The number of attempts, and the pauses. Pauses double from `first_pause` up to `longest_pause`; each is shortened by
/// a random part of up to `jitter_percent`, so that clients that failed together do not retry together.
struct retry_options {
    retry_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Attempts, the first included.
    unsigned attempts_max = 5;
    /// After the first failure.
    std::chrono::nanoseconds first_pause = std::chrono::milliseconds(50);
    /// The longest pause.
    std::chrono::nanoseconds longest_pause = std::chrono::seconds(5);
    /// The largest random part by which a pause is shortened.
    unsigned jitter_percent = 50;
    /// Seed of the jitter; the same seed gives the same pauses.
    std::uint64_t seed = 1;
};

namespace detail {

/// The pause before attempt number `attempt`, from 2 on.
[[nodiscard]] inline std::chrono::nanoseconds retry_pause(const retry_options& options, unsigned attempt,
                                                          std::uint64_t& random) noexcept {
    std::int64_t pause = options.first_pause.count();
    for (unsigned i = 2; i < attempt && pause < options.longest_pause.count(); ++i) pause *= 2;
    pause = std::min<std::int64_t>(pause, options.longest_pause.count());
    // xorshift64*: small, and good enough to spread clients.
    random ^= random >> 12U;
    random ^= random << 25U;
    random ^= random >> 27U;
    const std::uint64_t part = (random * 2685821657736338717ULL >> 32U) % 1000;
    const std::int64_t cut = pause / 100 * static_cast<std::int64_t>(options.jitter_percent);
    return std::chrono::nanoseconds(pause - cut / 1000 * static_cast<std::int64_t>(part));
}

}  // namespace detail

/// Calls `attempt()` until it succeeds.
///
/// @param attempt  Returns a task of std::expected<T, std::error_code>; called once per attempt, kept alive throughout.
/// @return         The first success, or the last failure.
/// @error          The last attempt's; operation_canceled on stop, without a further attempt.
/// @suspend        May suspend; resumes on the same context.
/// @cancel         Observes the task's stop token in attempts and pauses.
template <class Attempt>
auto retry(retry_options options, Attempt attempt) -> task<detail::task_value_of<std::invoke_result_t<Attempt&>>> {
    CORRO_ASSERT(options.attempts_max != 0, "at least one attempt");
    std::uint64_t random = options.seed | 1U;
    for (unsigned number = 1;; ++number) {
        auto result = co_await attempt();
        if (result.has_value() || number == options.attempts_max || result.error() == condition::canceled) {
            co_return result;
        }
        const std::error_code stopped = co_await sleep_for(detail::retry_pause(options, number + 1, random));
        if (stopped) co_return std::unexpected(stopped);
    }
}

}  // namespace corro::io
