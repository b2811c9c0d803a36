// SPDX-License-Identifier: Apache-2.0
// `signal_set`: waiting for the process's signals (SIGINT, SIGTERM, SIGUSR1, ...) in a task.
//
// While a set lives, its signals no longer have their default effect. The handler does two atomic operations per set
// with the signal, and wakes its context; it takes no lock. Several sets may have the same signal: each receives it.
//
// Limits:  16 sets at a time in one process. Signals of one number that come before they are waited for count once.
// Threads: one context per set; signals may reach any thread of the process.
#pragma once

#include <csignal>
#include <expected>
#include <initializer_list>
#include <memory>
#include <system_error>

#include "io/loop/context.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// Some signals of the process, to be waited for.
class signal_set {
 public:
    /// Sets at a time, in one process.
    static constexpr std::size_t sets_max = 16;

    /// Takes over `numbers` (1 to 64).
    /// @error invalid_argument for a signal that cannot be handled; device_or_resource_busy if there are `sets_max`
    ///        sets already.
    [[nodiscard]] static std::expected<signal_set, std::error_code> open(context& on,
                                                                         std::initializer_list<int> numbers) noexcept;
    /// The same for the start of a program: throws std::system_error instead.
    signal_set(context& on, std::initializer_list<int> numbers);
    signal_set(signal_set&& other) noexcept;
    signal_set& operator=(signal_set&&) = delete;
    /// Restores the earlier effect of the signals, unless another set still has them.
    ~signal_set();

    /// Waits for the next signal of the set; of several that are pending the lowest number comes first.
    ///
    /// @return  The signal's number.
    /// @error   operation_canceled on stop.
    /// @suspend Unless a signal is pending; resumes on the set's context.
    /// @overlap One wait at a time (asserted).
    /// @cancel  Observes the task's stop token; no signal is lost.
    [[nodiscard]] task<std::expected<int, std::error_code>> wait();

    /// The state that the handler shares with this set.
    struct shared;

 private:
    explicit signal_set(std::unique_ptr<shared> registered) noexcept;
    static std::expected<std::unique_ptr<shared>, std::error_code> register_set(
        context& on, std::initializer_list<int> numbers) noexcept;

    std::unique_ptr<shared> shared_;
};

}  // namespace corro::io
