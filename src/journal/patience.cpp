// SPDX-License-Identifier: Apache-2.0
#include "journal/patience.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace corro::journal {

io::task<problem> wait_for_space(writer* log, std::string directory) {
    if (log->failed()) co_return log->error();
    if (log->disk_is_full() && log->room() == journal_room::none) {
        std::string text = fmt::format(
            "{}: the disk is full: the journal has no space after command {}; free some space, or use another disk",
            directory, log->next_sequence() - 1);
        co_return problem(journal_errc::disk_full, std::move(text), std::move(directory));
    }
    const std::error_code stopped = co_await log->progressed().wait();
    if (stopped) co_return system_problem(stopped, directory, "the journal was not written to its end");
    co_return problem();
}

}  // namespace corro::journal
