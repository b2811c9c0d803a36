// SPDX-License-Identifier: Apache-2.0
// How many system calls a process makes, by the kernel's own trace point: the same for every subject, whatever library
// makes the calls.
//
// Needs the kernel's tracing (a mounted tracefs) and the right to use it, as root has.
//
// Threads: one. Cost: while it counts, every system call on the machine takes longer; so not while anything is timed.
#pragma once

#include <cstdint>
#include <vector>

namespace corro::lab {

class system_call_counter {
 public:
    /// @param process  All its threads that there are now.
    explicit system_call_counter(int process);
    ~system_call_counter();
    system_call_counter(const system_call_counter&) = delete;
    system_call_counter& operator=(const system_call_counter&) = delete;

    /// False where the kernel does not allow it; then it counts nothing.
    [[nodiscard]] bool works() const noexcept { return !counters_.empty(); }

    void begin() noexcept;
    /// @return  System calls since `begin`.
    [[nodiscard]] std::uint64_t end() noexcept;

 private:
    std::vector<int> counters_;  ///< one for each thread
};

}  // namespace corro::lab
