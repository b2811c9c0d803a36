// SPDX-License-Identifier: Apache-2.0
// What sessions wait for at the queue of commands: room, and answers.
//
// Threads: the queue's. Cost: nothing but a coroutine while there is something to wait for.
#pragma once

#include <cstdint>
#include <system_error>

#include "domain/command.hpp"
#include "gateway/command_queue.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

/// Waits until a push would succeed.
/// @return   False: stopped before there was room.
/// @suspend  While the queue is full. @cancel  Observes the task's stop token.
[[nodiscard]] inline io::task<bool> wait_for_room(command_queue* commands) {
    while (!commands->has_room()) {
        commands->room().reset();
        const std::error_code stopped = co_await commands->room().wait();
        if (stopped) co_return false;
    }
    co_return true;
}

/// Puts a command into the queue, and waits for room as long as it takes.
/// @return   False: stopped before there was room.
/// @suspend  While the queue is full. @cancel  Observes the task's stop token.
[[nodiscard]] inline io::task<bool> submit(command_queue* commands, domain::command command) {
    while (!commands->try_push(command)) {
        commands->room().reset();
        const std::error_code stopped = co_await commands->room().wait();
        if (stopped) co_return false;
    }
    co_return true;
}

/// Waits until this number of the queue's commands is answered.
/// @return   False: stopped before.
/// @suspend  Until then. @cancel  Observes the task's stop token.
[[nodiscard]] inline io::task<bool> wait_until_answered(command_queue* commands, std::uint64_t position) {
    while (commands->answered_count() < position) {
        commands->room().reset();
        const std::error_code stopped = co_await commands->room().wait();
        if (stopped) co_return false;
    }
    co_return true;
}

}  // namespace corro::gateway
