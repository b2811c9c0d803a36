// Memory that the allocator keeps although nobody uses it.
//
// After a crowd of connections has left, its memory is free and still the process's: pieces that stay in use lie among
// it. The allocator gives such pages back only when it is asked.
//
// Threads: the call waits for a thread of its own, so that the context goes on. A thread that allocates meanwhile may
//          wait for it, some milliseconds for 100 MB.
#pragma once

#include "io/task/task.hpp"

namespace corro::io {

/// Gives the pages that hold nothing in use back to the system. Does nothing where the C library offers no such call.
/// @suspend Until that is done; resumes on the task's context.
/// @cancel  Does not observe stops.
[[nodiscard]] task<void> give_idle_memory_back();

}  // namespace corro::io
