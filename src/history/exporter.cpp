// SPDX-License-Identifier: Apache-2.0
#include "history/exporter.hpp"

#include <exception>

namespace corro::history {

void exporter::executing(const domain::command& command) noexcept {
    command_ = command;
    if (times_ == nullptr) return;
    const auto found = times_->of(command.session, command.request());
    // The times of an export ascend, as those of a venue do.
    if (found && *found > recorded_) recorded_ = *found;
}

void exporter::consume(std::span<const domain::event> events) noexcept {
    if (!problem_.empty()) return;
    try {
        for (const domain::event& e : events) {
            if (times_ == nullptr) {
                write(e);
                continue;
            }
            domain::event recorded = e;
            recorded.time = recorded_;
            write(recorded);
        }
    } catch (const std::exception& e) {
        problem_ = e.what();
    }
}

}  // namespace corro::history
