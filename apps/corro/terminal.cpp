#include "terminal.hpp"

#include <curses.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string>

namespace corro::app {
namespace {

constexpr short bid_colour = 1;
constexpr short ask_colour = 2;
constexpr short bid_bar = 3;
constexpr short ask_bar = 4;
constexpr short dim_colour = 5;
constexpr short own_colour = 6;

attr_t pair(short colour) {
    return static_cast<attr_t>(COLOR_PAIR(colour));
}

attr_t attributes_of(ink how) {
    switch (how) {
        case ink::plain: return A_NORMAL;
        case ink::bold: return A_BOLD;
        case ink::dim: return pair(dim_colour);
        case ink::bid: return pair(bid_colour);
        case ink::ask: return pair(ask_colour);
        case ink::bid_bold: return A_BOLD | pair(bid_colour);
        case ink::ask_bold: return A_BOLD | pair(ask_colour);
        case ink::bid_bar: return pair(bid_bar);
        case ink::ask_bar: return pair(ask_bar);
        case ink::own: return A_BOLD | pair(own_colour);
    }
    return A_NORMAL;
}

}  // namespace

bool is_terminal() noexcept {
    const char* term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0 && term != nullptr &&
           std::string_view(term) != "dumb";
}

terminal::terminal() {
    std::setlocale(LC_CTYPE, "");
    initscr();
    cbreak();
    noecho();
    curs_set(0);
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    set_escdelay(25);
    if (has_colors()) {
        start_color();
        use_default_colors();
        init_pair(bid_colour, COLOR_GREEN, -1);
        init_pair(ask_colour, COLOR_RED, -1);
        init_pair(bid_bar, COLOR_BLACK, COLOR_GREEN);
        init_pair(ask_bar, COLOR_BLACK, COLOR_RED);
        init_pair(dim_colour, COLOR_CYAN, -1);
        init_pair(own_colour, COLOR_YELLOW, -1);
    }
}

terminal::~terminal() {
    endwin();
}

int terminal::rows() const noexcept {
    return LINES;
}

int terminal::columns() const noexcept {
    return COLS;
}

void terminal::begin() noexcept {
    erase();
}

void terminal::show() noexcept {
    refresh();
}

void terminal::place_cursor(int row, int column) noexcept {
    curs_set(row < 0 ? 0 : 1);
    if (row >= 0) move(row, std::min(column, COLS - 1));
}

void terminal::put(int row, int column, std::string_view text, ink how) noexcept {
    if (row < 0 || row >= LINES || column < 0 || column >= COLS) return;
    const auto room = static_cast<std::size_t>(COLS - column);
    const attr_t attributes = attributes_of(how);
    attron(attributes);
    mvaddnstr(row, column, text.data(), static_cast<int>(std::min(text.size(), room)));
    attroff(attributes);
}

void terminal::put_ladder(int row, int width, const std::vector<ladder_row>& levels) noexcept {
    constexpr int price_width = 12;
    const int wing = std::max(10, (width - price_width) / 2);
    put(row, 0, fmt::format("{:>{}}{:^{}}{:<{}}", "bid", wing, "price", price_width, "ask", wing), ink::bold);
    for (const ladder_row& r : levels) {
        ++row;
        const bool is_bid = r.bid_quantity != 0;
        const int bar = std::max(1, static_cast<int>(r.bar * (wing - 9)));
        put(row, wing, fmt::format("{:^{}}", r.price, price_width), is_bid ? ink::bid_bold : ink::ask_bold);
        const std::string blank(static_cast<std::size_t>(bar), ' ');
        if (is_bid) {
            put(row, wing - bar, blank, ink::bid_bar);
            put(row, std::max(0, wing - bar - 8), fmt::format("{:>7}", r.bid_quantity), ink::bid);
        } else {
            put(row, wing + price_width, blank, ink::ask_bar);
            put(row, wing + price_width + bar + 1, fmt::format("{:<7}", r.ask_quantity), ink::ask);
        }
    }
}

int terminal::key() noexcept {
    const int pressed = getch();
    return pressed == ERR ? -1 : pressed;
}

}  // namespace corro::app
