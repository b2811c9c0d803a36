// SPDX-License-Identifier: Apache-2.0
// Work on another context that is awaited here.
#pragma once

#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"

namespace corro::node {

namespace detail {

/// Sets an event when it is destroyed.
struct event_at_end {
    explicit event_at_end(io::remote_event* what) noexcept : event(what) {}
    event_at_end(const event_at_end&) = delete;
    event_at_end& operator=(const event_at_end&) = delete;
    ~event_at_end() { event->set(); }
    io::remote_event* event;
};

[[nodiscard]] inline io::task<void> work_and_report(io::task<void> work, io::remote_event* done) {
    const event_at_end at_end(done);
    co_await std::move(work);
}

}  // namespace detail

/// Runs `work` on a worker, beside this context, and rethrows its exception.
/// @param on     Not started; outlives the await.
/// @param work   Uses neither this context nor data of its other tasks.
/// @cancel  The call still waits for the work, and blocks this context meanwhile.
[[nodiscard]] inline io::task<void> run_on(io::worker* on, io::task<void> work) {
    io::remote_event done(co_await io::this_context());
    on->start(detail::work_and_report(std::move(work), &done));
    static_cast<void>(co_await done.wait());
    on->join();
}

}  // namespace corro::node
