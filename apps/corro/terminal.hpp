// What pictures on the terminal have in common: taking it over and giving it back, colours, a ladder of prices.
#pragma once

#include <string_view>
#include <vector>

#include "market_view.hpp"

namespace corro::app {

/// Whether standard output is a terminal that a picture can be drawn on, and standard input one that gives keys.
[[nodiscard]] bool is_terminal() noexcept;

/// How a text is drawn.
enum class ink : unsigned char { plain, bold, dim, bid, ask, bid_bold, ask_bold, bid_bar, ask_bar, own };

/// The terminal as a grid of characters, by curses. One at a time in a process.
class terminal {
 public:
    /// Takes it over. @pre is_terminal().
    terminal();
    /// Gives it back as it was.
    ~terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    [[nodiscard]] int rows() const noexcept;
    [[nodiscard]] int columns() const noexcept;

    /// A new picture begins, and is shown.
    void begin() noexcept;
    void show() noexcept;
    /// Shows the cursor at a place from now on, or hides it when `row` is negative.
    void place_cursor(int row, int column) noexcept;

    /// Draws what fits of a text.
    void put(int row, int column, std::string_view text, ink how = ink::plain) noexcept;

    /// Draws a heading and one line per level: price in the middle, bids to its left, asks to its right, a bar of the
    /// row's share behind each quantity.
    void put_ladder(int row, int width, const std::vector<ladder_row>& levels) noexcept;

    /// The next key that was pressed, as curses numbers them; -1 when there is none.
    [[nodiscard]] int key() noexcept;
};

}  // namespace corro::app
