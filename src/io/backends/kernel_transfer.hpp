// SPDX-License-Identifier: Apache-2.0
// Attempts at reading, writing, accepting and connecting on a non-blocking socket of the Linux kernel, shared by its
// backends.
//
// Threads: one context per socket.
// Cost:    one system call per attempt, more only while a transfer makes progress.
#pragma once

#include <cstdint>

#include "io/loop/backend.hpp"

namespace corro::io::kernel {

/// Decides whether a first attempt pays. After a socket was drained its next read usually has to wait, and the attempt
/// is a wasted system call; but where the data is there already (both ends in one task) it saves the whole wait.
class attempt_predictor {
 public:
    [[nodiscard]] bool should_try() noexcept {
        if (to_skip_ == 0) return true;
        --to_skip_;
        return false;
    }
    void succeeded() noexcept { penalty_ = 0; }
    void failed() noexcept {
        penalty_ = penalty_ < penalty_max ? static_cast<std::uint8_t>(penalty_ * 2 + 1) : penalty_;
        to_skip_ = penalty_;
    }

 private:
    static constexpr std::uint8_t penalty_max = 31;
    std::uint8_t penalty_ = 0;
    std::uint8_t to_skip_ = 0;
};

/// The state of a socket that is known without a system call.
struct socket_state {
    explicit socket_state(int opened) noexcept : file(opened) {}

    int file;
    bool drained = false;  // the last read left nothing behind
    bool full = false;     // the last write filled the buffer
    bool hung_up = false;  // the peer's end, an error or urgent data was seen: no event may announce the rest
    attempt_predictor reading;

    [[nodiscard]] bool should_try_reading() noexcept { return !drained || hung_up || reading.should_try(); }
    [[nodiscard]] bool should_try_writing() const noexcept { return !full || hung_up; }
};

inline constexpr std::size_t batch_max = 64;

/// Each attempt returns true if the operation is complete (its outcome is filled in), false if it has to wait.
[[nodiscard]] bool attempt_receive(socket_state& on, operation& what) noexcept;
[[nodiscard]] bool attempt_send(socket_state& on, operation& what) noexcept;
/// Copies from the file within the kernel.
[[nodiscard]] bool attempt_send_file(socket_state& on, file_send_operation& what) noexcept;
/// One system call for up to `batch_max` datagrams.
[[nodiscard]] bool attempt_receive_batch(socket_state& on, operation& what) noexcept;
[[nodiscard]] bool attempt_send_batch(socket_state& on, operation& what) noexcept;
/// Whether there is something to read, without reading it.
[[nodiscard]] bool attempt_wait(socket_state& on, operation& what) noexcept;
/// `accepted_file` is the new connection's file on success.
[[nodiscard]] bool attempt_accept(socket_state& on, operation& what, int& accepted_file) noexcept;
[[nodiscard]] bool begin_connect(const socket_state& on, operation& what) noexcept;
[[nodiscard]] bool finish_connect(const socket_state& on, operation& what) noexcept;

/// Whether an error of accept concerns only the connection that was about to be accepted; the next accept may succeed.
[[nodiscard]] bool is_passing_accept_error(int number) noexcept;

}  // namespace corro::io::kernel
