// SPDX-License-Identifier: Apache-2.0
// Edits one line of input, with a cursor and a history.
//
// Limits: bytes of printable ASCII; history_max lines are remembered. Threads: none of its own.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace corro::app::desk {

class line_editor {
 public:
    static constexpr std::size_t history_max = 200;
    static constexpr std::size_t line_max = 200;

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] std::size_t cursor() const noexcept { return cursor_; }

    /// Inserts a character. Ignores characters that are not printable ASCII, and those that do not fit.
    void insert(char c);
    void erase_before();
    void erase_after();
    void left() noexcept { cursor_ -= cursor_ > 0 ? 1U : 0U; }
    void right() noexcept { cursor_ += cursor_ < text_.size() ? 1U : 0U; }
    void home() noexcept { cursor_ = 0; }
    void end() noexcept { cursor_ = text_.size(); }
    void clear();
    /// Replaces the whole line and moves the cursor to its end.
    void replace(std::string text);

    /// Shows the previous or the next line of the history. After the newest comes the line being typed.
    void older();
    void newer();

    /// Ends the line and returns it. Adds it to the history unless it is empty or equals the last one. Begins a new
    /// line.
    [[nodiscard]] std::string enter();

 private:
    void show(std::size_t age);

    std::string text_;
    std::string typed_;                ///< the line before the history was shown
    std::deque<std::string> history_;  ///< newest first
    std::size_t age_ = 0;              ///< 0: the line being typed; n: history_[n - 1]
    std::size_t cursor_ = 0;
};

}  // namespace corro::app::desk
