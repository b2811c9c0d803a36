// SPDX-License-Identifier: Apache-2.0
// Hears what happens to the hosts and processes of a world; a trace is one.
//
// Threads: one.
#pragma once

namespace corro::sim {

class host;
class process;

/// It outlives the contexts of the world. It changes nothing in the world.
class observer {
 public:
    observer() = default;
    observer(const observer&) = delete;
    observer& operator=(const observer&) = delete;

    virtual void process_started(const process& one) = 0;
    /// It was killed, its host has lost its power, or its last context has gone. Possibly more than once.
    virtual void process_ended(const process& one) = 0;
    /// Its power was cut or is back, or it was paused or goes on.
    virtual void host_changed(const host& one) = 0;

 protected:
    ~observer() = default;
};

}  // namespace corro::sim
