// SPDX-License-Identifier: Apache-2.0
#include "io/net/detail/socket_tasks.hpp"

#include "base/defect.hpp"
#include "io/errors.hpp"
#include "io/net/socket.hpp"
#include "io/sync/event.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::io::detail {

/// A member of the frame that pauses. The descriptor refers to it until the pause ends, or until it is closed.
struct accept_pause {
    explicit accept_pause(descriptor& of) noexcept : on(of) { on.pause = this; }
    accept_pause(const accept_pause&) = delete;
    accept_pause& operator=(const accept_pause&) = delete;
    ~accept_pause() {
        if (!closed.is_set()) on.pause = nullptr;
    }

    descriptor& on;  // gone when `closed` is set
    manual_event closed;
};

void end_pause(accept_pause& of) noexcept {
    of.closed.set();
}

namespace {

using connecting = lazily<plain_awaiter, operation_kind, descriptor*, const socket_address*>;
using accepting = lazily<accept_awaiter, descriptor*>;

/// Closes the descriptor if connecting does not complete.
class half_made_socket : public socket_base {
 public:
    explicit half_made_socket(descriptor& owned) noexcept : socket_base(owned) {}
    using socket_base::release;
};

/// Whether accepting failed for lack of descriptors or memory, which other parts of the program may release.
bool is_exhaustion(std::error_code code) noexcept {
    return code == std::errc::too_many_files_open || code == std::errc::too_many_files_open_in_system ||
           code == std::errc::no_buffer_space || code == std::errc::not_enough_memory;
}

}  // namespace

task<std::expected<descriptor*, std::error_code>> connect_socket(context* on, transport kind, socket_address peer) {
    const auto opened = on->io().open(kind);
    if (!opened) co_return std::unexpected(opened.error());
    half_made_socket connected(**opened);
    const std::error_code error = co_await connecting(operation_kind::connect, *opened, &peer);
    if (error) co_return std::unexpected(error);
    co_return connected.release();
}

task<std::expected<descriptor*, std::error_code>> accept_patiently(descriptor* on) {
    for (;;) {
        const auto accepted = co_await accepting(on);
        if (accepted || !is_exhaustion(accepted.error())) co_return accepted;
        if (CORRO_DEFECT(accepting_ends_without_descriptors)) co_return accepted;
        accept_pause pause(*on);
        const auto ended = co_await with_timeout(exhausted_retry_delay, pause.closed.wait());
        const bool is_time_over = !ended && ended.error() == condition::timed_out;
        // Closed in the turn in which the time was over: the descriptor is gone all the same.
        if (!is_time_over || pause.closed.is_set()) co_return std::unexpected(operation_canceled());
    }
}

}  // namespace corro::io::detail
