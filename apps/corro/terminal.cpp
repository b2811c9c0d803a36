// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <curses.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string>

#include "apps/corro/desk/folded_table.hpp"
#include "terminal_kind.hpp"

namespace corro::app {
namespace {

constexpr short bid_colour = 1;
constexpr short ask_colour = 2;
constexpr short bid_bar = 3;
constexpr short ask_bar = 4;
constexpr short dim_colour = 5;
constexpr short own_colour = 6;

// The screens reserve these columns of a ladder for a quantity and a space.
constexpr int quantity_width = 8;

attr_t pair(short colour) {
    return static_cast<attr_t>(COLOR_PAIR(colour));
}

bool wants_colours() noexcept {
    const char* const refused = std::getenv("NO_COLOR");
    return refused == nullptr || *refused == '\0';
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

bool can_show_pictures(const char* program) {
    if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0) return false;
    const std::string problem = problem_of_terminal();
    if (!problem.empty()) fmt::print(stderr, "{}: {}; printing lines instead of a picture\n", program, problem);
    return problem.empty();
}

int columns_of_output() noexcept {
    winsize size{};
    if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_col;
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
    has_colours_ = wants_colours() && has_colors();
    if (has_colours_) {
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
    // Without colours a pair would be that of the default colours; only bold is left.
    const attr_t attributes = has_colours_ ? attributes_of(how) : attributes_of(how) & A_BOLD;
    attron(attributes);
    mvaddnstr(row, column, text.data(), static_cast<int>(std::min(text.size(), room)));
    attroff(attributes);
}

void terminal::put_ladder(int row, int width, const std::vector<ladder_row>& levels) noexcept {
    constexpr int price_width = 14;
    const int wing = std::max(10, (width - price_width) / 2);
    put(row, 0, fmt::format("{:>{}}{:^{}}{:<{}}", "bid units", wing, "price", price_width, "ask units", wing),
        ink::bold);
    for (const ladder_row& r : levels) {
        ++row;
        if (r.is_gap) {
            put(row, wing, fmt::format("{:^{}}", r.price, price_width), ink::dim);
            continue;
        }
        const bool is_bid = r.bid_quantity != 0;
        const int bar = std::max(1, static_cast<int>(r.bar * (wing - quantity_width - 1)));
        put(row, wing, fmt::format("{:^{}}", r.price, price_width), is_bid ? ink::bid_bold : ink::ask_bold);
        const std::string drawn(static_cast<std::size_t>(bar), has_colours_ ? ' ' : '#');
        if (is_bid) {
            put(row, wing - bar, drawn, ink::bid_bar);
            put(row, std::max(0, wing - bar - quantity_width), fmt::format("{:>7}", r.bid_quantity), ink::bid);
        } else {
            put(row, wing + price_width, drawn, ink::ask_bar);
            put(row, wing + price_width + bar + 1, fmt::format("{:<7}", r.ask_quantity), ink::ask);
        }
    }
}

void terminal::put_page(std::string_view title, const std::vector<std::string>& lines) noexcept {
    begin();
    put(0, 0, title, ink::bold);
    int row = 2;
    for (const std::string& line : lines) {
        // Long lines continue below, so that keys and addresses can be read and copied on a narrow terminal.
        for (const std::string_view part : desk::fold_text(line, static_cast<std::size_t>(std::max(1, columns())))) {
            if (row < rows() - 1) put(row++, 0, part);
        }
    }
    put(rows() - 1, 0, "any key closes this page", ink::dim);
    show();
}

int terminal::key() noexcept {
    const int pressed = getch();
    return pressed == ERR ? -1 : pressed;
}

}  // namespace corro::app
