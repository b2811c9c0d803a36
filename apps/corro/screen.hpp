// The terminal: a full-screen picture of the market in colours, by curses. One at a time in a process.
#pragma once

#include <cstddef>
#include <string>

#include "client/feed_session.hpp"
#include "market_view.hpp"

namespace corro::app {

/// Whether standard output is a terminal that a picture can be drawn on, and standard input one that gives keys.
[[nodiscard]] bool is_terminal() noexcept;

class screen {
 public:
    /// Takes over the terminal. @pre is_terminal().
    screen();
    /// Gives it back as it was.
    ~screen();
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;

    /// Draws the market as it is now. `headline` stands above it.
    void draw(const client::feed_session& feed, const market_view& view, const std::string& headline);

    /// Draws one sentence instead of a market.
    void say(const std::string& sentence);

    /// Handles the keys pressed since the last call. False: the person wants to leave.
    [[nodiscard]] bool handle_keys();

    /// Chooses the instrument to show, counted in the order of their ids.
    void show(std::size_t index) noexcept { chosen_ = index; }

 private:
    std::size_t chosen_ = 0;
};

}  // namespace corro::app
