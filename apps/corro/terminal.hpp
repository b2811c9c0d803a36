// Shared by the full-screen views: use and release of the terminal, colours, a ladder of prices.
#pragma once

#include <string_view>
#include <vector>

#include "market_view.hpp"

namespace corro::app {

/// Whether standard output and standard input are terminals that can show a picture and read keys.
[[nodiscard]] bool is_terminal() noexcept;

/// The style of a text.
enum class ink : unsigned char { plain, bold, dim, bid, ask, bid_bold, ask_bold, bid_bar, ask_bar, own };

/// The terminal as a grid of characters, by curses. A process can have only one at a time.
class terminal {
 public:
    /// Starts full-screen mode. @pre is_terminal().
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

    /// Draws a heading and one line per level: price in the middle, bids on its left, asks on its right. A bar behind
    /// each quantity shows the row's share.
    void put_ladder(int row, int width, const std::vector<ladder_row>& levels) noexcept;

    /// Returns the next pressed key as curses numbers it; -1 if there is none.
    [[nodiscard]] int key() noexcept;
};

}  // namespace corro::app
