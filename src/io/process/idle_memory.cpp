// SPDX-License-Identifier: Apache-2.0
#include "io/process/idle_memory.hpp"

#include <malloc.h>

#include <system_error>
#include <thread>

#include "io/loop/context.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/environment.hpp"

namespace corro::io {
namespace {

void trim(remote_event* done) noexcept {
#if defined(__GLIBC__)
    static_cast<void>(::malloc_trim(0));
#endif
    done->set();
}

}  // namespace

task<void> give_idle_memory_back() {
    remote_event done(co_await this_context());
    // Its destructor joins it, also if the context is destroyed meanwhile.
    const std::jthread worker(trim, &done);
    const std::error_code stopped = co_await done.wait();
    static_cast<void>(stopped);
}

}  // namespace corro::io
