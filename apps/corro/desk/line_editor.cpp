// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/line_editor.hpp"

#include <utility>

namespace corro::app::desk {

void line_editor::insert(char c) {
    if (c < ' ' || c > '~' || text_.size() >= line_max) return;
    text_.insert(cursor_++, 1, c);
}

void line_editor::erase_before() {
    if (cursor_ != 0) text_.erase(--cursor_, 1);
}

void line_editor::erase_after() {
    if (cursor_ < text_.size()) text_.erase(cursor_, 1);
}

void line_editor::clear() {
    replace({});
    age_ = 0;
}

void line_editor::replace(std::string text) {
    text_ = std::move(text);
    if (text_.size() > line_max) text_.resize(line_max);
    cursor_ = text_.size();
}

void line_editor::show(std::size_t age) {
    if (age_ == 0) typed_ = text_;
    age_ = age;
    replace(age_ == 0 ? typed_ : history_[age_ - 1]);
}

void line_editor::older() {
    if (age_ < history_.size()) show(age_ + 1);
}

void line_editor::newer() {
    if (age_ > 0) show(age_ - 1);
}

std::string line_editor::enter() {
    std::string line = std::exchange(text_, {});
    cursor_ = 0;
    age_ = 0;
    if (!line.empty() && (history_.empty() || history_.front() != line)) {
        history_.push_front(line);
        if (history_.size() > history_max) history_.pop_back();
    }
    return line;
}

}  // namespace corro::app::desk
