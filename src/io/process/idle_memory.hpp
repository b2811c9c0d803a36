// SPDX-License-Identifier: Apache-2.0
// Memory that the allocator keeps although it is unused.
//
// When many connections have closed, their memory is free but still belongs to the process, because used pieces lie
// between. The allocator returns such pages to the system only on request.
//
// Threads: the work runs on a thread of its own, so that the context continues. A thread that allocates at the same
//          time may have to wait for it, some milliseconds for 100 MB.
#pragma once

#include "io/task/task.hpp"

namespace corro::io {

/// Returns unused pages to the system. Does nothing where the C library has no such call.
/// @suspend Until that is done; resumes on the task's context.
/// @cancel  Does not observe stops.
[[nodiscard]] task<void> give_idle_memory_back();

}  // namespace corro::io
