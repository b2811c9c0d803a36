// SPDX-License-Identifier: Apache-2.0
// Test support: a forked process serves until its parent closes the wire between them; the parent waits for its end.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <exception>

#include "io/loop/context.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::testing {

/// The descriptor of the forked process's end of the wire.
inline constexpr int parents_wire = 3;

/// Waits until a child has ended. Kills it after a minute.
/// @return  Its exit code; -1 if a signal ended it.
[[nodiscard]] inline int wait_for_exit(pid_t id) noexcept {
    constexpr useconds_t pause_us = 5'000;
    constexpr int pauses_max = 12'000;
    int status = 0;
    for (int i = 0; ::waitpid(id, &status, WNOHANG) == 0; ++i) {
        if (i == pauses_max) ::kill(id, SIGKILL);
        ::usleep(pause_us);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <class Served>
io::task<void> close_on_signal(Served* served, io::unix_stream* wire) {
    std::array<std::byte, 1> nothing;
    static_cast<void>(co_await wire->read_some(nothing));
    served->close();
}

/// @throws What `run` throws.
template <class Served>
io::task<void> serve_until_told(io::context* context, Served* served) {
    auto wire = io::unix_stream::adopt(*context, ::dup(parents_wire));
    if (!wire) ::_exit(4);
    io::task_scope listening(*context);
    listening.spawn(close_on_signal(served, &*wire));
    std::exception_ptr failed;
    try {
        co_await served->run();
    } catch (...) {
        failed = std::current_exception();
    }
    listening.request_stop();
    co_await listening.join();
    if (failed) std::rethrow_exception(failed);
}

}  // namespace corro::testing
