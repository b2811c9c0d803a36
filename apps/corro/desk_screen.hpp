// SPDX-License-Identifier: Apache-2.0
// The trading desk on a terminal: the market, the own orders, the messages, and the line being typed.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "apps/corro/desk/line_editor.hpp"
#include "terminal.hpp"
#include "trading_desk.hpp"

namespace corro::app {

class desk_screen {
 public:
    static constexpr std::size_t messages_max = 500;

    /// Adds a message to show.
    void add(const std::string& message);

    /// Handles the keys pressed since the last call. True if the picture must be drawn again.
    [[nodiscard]] bool handle_keys(trading_desk& desk);

    void draw(const trading_desk& desk, const std::string& headline);

 private:
    void prefill(const trading_desk& desk, domain::side side);
    void complete(trading_desk& desk);
    [[nodiscard]] std::vector<std::string_view> last_lines(std::size_t count, std::size_t width) const;
    void draw_orders(const trading_desk& desk, int row, int rows);

    terminal terminal_;
    std::vector<std::string> page_;  ///< lines over the whole screen; empty: the market
    desk::line_editor line_;
    std::deque<std::string> messages_;  ///< oldest first
};

}  // namespace corro::app
