// SPDX-License-Identifier: Apache-2.0
// Shared by the full-screen views: use and release of the terminal, colours, a ladder of prices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "market_view.hpp"

namespace corro::app {

/// Whether standard output and standard input are a terminal that can show a picture and read keys. If they are one
/// that cannot (TERM is "dumb", missing, or unknown to this machine), prints a line about it on standard error.
/// @param program  The beginning of that line, such as "corro watch".
[[nodiscard]] bool can_show_pictures(const char* program);

/// The columns of the terminal at standard output; 0 if it is none.
[[nodiscard]] int columns_of_output() noexcept;

/// The style of a text.
enum class ink : unsigned char { plain, bold, dim, bid, ask, bid_bold, ask_bold, bid_bar, ask_bar, own };

/// The terminal as a grid of characters, by curses. A process can have only one at a time. It has colours unless the
/// environment has NO_COLOR (https://no-color.org); without colours, bars are drawn with characters.
class terminal {
 public:
    /// Starts full-screen mode. @pre can_show_pictures().
    terminal();
    /// Restores the terminal.
    ~terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    [[nodiscard]] int rows() const noexcept;
    [[nodiscard]] int columns() const noexcept;

    /// Clears the picture.
    void begin() noexcept;
    void show() noexcept;
    /// Shows the cursor at a place from now on, or hides it if `row` is negative.
    void place_cursor(int row, int column) noexcept;

    /// Draws the part of a text that fits.
    void put(int row, int column, std::string_view text, ink how = ink::plain) noexcept;

    /// Draws a heading and one line per row: price in the middle, bids on its left, asks on its right. A bar behind
    /// each quantity shows the row's share.
    void put_ladder(int row, int width, const std::vector<ladder_row>& levels) noexcept;

    /// Draws lines over the whole screen: `title`, the lines, and below them that any key closes them.
    void put_page(std::string_view title, const std::vector<std::string>& lines) noexcept;

    /// Returns the next pressed key as curses numbers it; -1 if there is none.
    [[nodiscard]] int key() noexcept;

 private:
    bool has_colours_ = false;
};

}  // namespace corro::app
