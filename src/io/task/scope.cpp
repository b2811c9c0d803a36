// SPDX-License-Identifier: Apache-2.0
#include "io/task/scope.hpp"

namespace corro::io {

/// Gives later children a new stop source.
void task_scope::renew() noexcept {
    renewal_due_ = false;
    if (size_ == 0) {
        // No task waits for a stop of the old source any more.
        source_.reset();
        for (const auto& later : later_sources_) later->reset();
        current_ = &source_;
        later_sources_used_count_ = 0;
        return;
    }
    if (later_sources_used_count_ == later_sources_.size()) later_sources_.push_back(std::make_unique<stop_source>());
    current_ = later_sources_[later_sources_used_count_++].get();
}

void task_scope::destroy_children() noexcept {
    while (first_ != nullptr) {
        auto& child = static_cast<detail::task_promise<void>&>(*first_);
        unlink(child);
        std::coroutine_handle<detail::task_promise<void>>::from_promise(child).destroy();
    }
}

}  // namespace corro::io
