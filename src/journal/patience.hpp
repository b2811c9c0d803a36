// SPDX-License-Identifier: Apache-2.0
// For programs that write a journal and wait while it takes nothing, unlike a venue, which answers at once.
//
//     while (!log->append(command)) {
//         problem ended = co_await wait_for_space(log, directory);
//         if (ended.code) co_return ended;
//     }
//
// Threads: the log's context.
#pragma once

#include <string>

#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/writer.hpp"

namespace corro::journal {

/// Waits until it is worth trying again to append a command that the log has refused.
///
/// @param directory  Of the journal, for the sentence.
/// @return  No code to try again. Otherwise no command will be taken: the log's error; `disk_full`, because such a
///          program does not wait for somebody to free space; the error of a stop.
/// @suspend While the log is busy.
[[nodiscard]] io::task<problem> wait_for_space(writer* log, std::string directory);

}  // namespace corro::journal
