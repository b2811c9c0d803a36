// SPDX-License-Identifier: Apache-2.0
// What a session needs while it takes or writes one message, and no longer.
//
// A thousand sessions that take turns touch a thousand times this memory, which then comes from far away each time.
// They may share one: see session_settings::scratch.
//
// Threads: one: that of the sessions. Cost: an index of fields, and room for two messages.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fix/codec/field_index.hpp"
#include "fix/limits.hpp"

namespace corro::fix {

/// The memory of one session at a time.
class session_scratch {
 public:
    session_scratch() : room(2 * message_bytes_max_default) {}
    session_scratch(const session_scratch&) = delete;
    session_scratch& operator=(const session_scratch&) = delete;

    /// Gives memory to an output that has none: that of the output which was written last.
    void lend(std::string& output) noexcept {
        if (spare_.empty()) return;
        output.swap(spare_.back());
        spare_.pop_back();
    }
    /// Takes it back from an output that was written. @param output  Empty; has no memory afterwards.
    void take_back(std::string& output) {
        if (output.capacity() <= std::string().capacity()) return;
        spare_.emplace_back();
        spare_.back().swap(output);
    }

    field_index message;     ///< the message that was taken last
    field_index stored;      ///< one that is sent again
    std::vector<char> room;  ///< the message that is written

 private:
    std::vector<std::string> spare_;  ///< at most one for each session
};

}  // namespace corro::fix
