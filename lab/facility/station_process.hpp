// SPDX-License-Identifier: Apache-2.0
// Stations as processes, connected by TCP on the loopback interface: the injector's end of the first one's input, the
// receiver's end of the last one's output.
//
// Threads: one; no other may run when a line is made, because it forks.
#pragma once

#include <sys/types.h>

#include <vector>

#include "lab/facility/canned.hpp"
#include "lab/suites/raw_sockets.hpp"

namespace corro::lab {

class station_line {
 public:
    /// Starts the processes, all on the quiet processor, and binds this one to another.
    /// @throws std::system_error
    station_line(station_role role, const station_transport& transport, idling idle);
    /// Kills the processes that still run.
    ~station_line();
    station_line(const station_line&) = delete;
    station_line& operator=(const station_line&) = delete;

    [[nodiscard]] int input() const noexcept { return input_.get(); }
    [[nodiscard]] int output() const noexcept { return output_.get(); }

    /// Ends the input and waits for every process. @throws wrong_result if one failed or sent extra bytes.
    void finish();

 private:
    owned_descriptor input_;
    owned_descriptor output_;
    std::vector<pid_t> running_;
};

}  // namespace corro::lab
