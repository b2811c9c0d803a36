// SPDX-License-Identifier: Apache-2.0
// Runs a command as a child process and collects its output.
//
// Threads: one.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace corro::lab {

struct finished_process {
    std::string output;        ///< standard output, at most `output_bytes_max`
    int exit_code = -1;        ///< -1 if it did not exit by itself
    int signal_number = 0;     ///< 0 if it exited by itself
    bool out_of_time = false;  ///< it was killed after the time limit
};

inline constexpr std::size_t output_bytes_max = std::size_t{1} << 20;

/// Starts this program with `arguments`, waits for its end and kills it after `limit`. The child inherits standard
/// error and the environment.
/// @param processor  The only processor that the process may use; -1 leaves it to the kernel.
/// @throws std::system_error if no process can be started.
[[nodiscard]] finished_process run_myself(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                                          int processor);

/// The processor to bind a single-threaded run to: the last that this process may use (the first serves most
/// interrupts).
[[nodiscard]] int quiet_processor() noexcept;

/// Another processor that this process may use: the first; -1 where there is only one.
[[nodiscard]] int other_processor() noexcept;

/// Keeps the calling thread, and those that it starts from now on, on one processor; -1 changes nothing.
void bind_to_processor(int processor) noexcept;

}  // namespace corro::lab
