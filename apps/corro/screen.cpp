#include "screen.hpp"

#include <curses.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace corro::app {
namespace {

constexpr short bid_colour = 1;
constexpr short ask_colour = 2;
constexpr short bid_bar = 3;
constexpr short ask_bar = 4;
constexpr short dim_colour = 5;

attr_t pair(short colour) {
    return static_cast<attr_t>(COLOR_PAIR(colour));
}

void put(int row, int column, std::string_view text, attr_t attributes = A_NORMAL) {
    if (row < 0 || row >= LINES || column >= COLS) return;
    const auto room = static_cast<std::size_t>(COLS - column);
    attron(attributes);
    mvaddnstr(row, column, text.data(), static_cast<int>(std::min(text.size(), room)));
    attroff(attributes);
}

std::vector<domain::instrument> instruments_of(const client::feed_session& feed) {
    std::vector<domain::instrument> all;
    feed.instruments().for_each([&](const domain::instrument& i) { all.push_back(i); });
    return all;
}

// Price in the middle, bids to its left, asks to its right; a bar of the row's share behind each quantity.
void draw_ladder(int top, int width, const std::vector<ladder_row>& rows) {
    const int price_width = 12;
    const int wing = std::max(10, (width - price_width) / 2);
    put(top, 0, fmt::format("{:>{}}{:^{}}{:<{}}", "bid", wing, "price", price_width, "ask", wing), A_BOLD);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const ladder_row& r = rows[at];
        const int row = top + 1 + static_cast<int>(at);
        const bool is_bid = r.bid_quantity != 0;
        const int bar = std::max(1, static_cast<int>(r.bar * (wing - 9)));
        put(row, wing, fmt::format("{:^{}}", r.price, price_width), A_BOLD | pair(is_bid ? bid_colour : ask_colour));
        if (is_bid) {
            put(row, wing - bar, std::string(static_cast<std::size_t>(bar), ' '), pair(bid_bar));
            put(row, std::max(0, wing - bar - 8), fmt::format("{:>7}", r.bid_quantity), pair(bid_colour));
        } else {
            put(row, wing + price_width, std::string(static_cast<std::size_t>(bar), ' '), pair(ask_bar));
            put(row, wing + price_width + bar + 1, fmt::format("{:<7}", r.ask_quantity), pair(ask_colour));
        }
    }
}

}  // namespace

bool is_terminal() noexcept {
    const char* term = std::getenv("TERM");
    return isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0 && term != nullptr &&
           std::string_view(term) != "dumb";
}

screen::screen() {
    std::setlocale(LC_CTYPE, "");
    initscr();
    cbreak();
    noecho();
    curs_set(0);
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    if (has_colors()) {
        start_color();
        use_default_colors();
        init_pair(bid_colour, COLOR_GREEN, -1);
        init_pair(ask_colour, COLOR_RED, -1);
        init_pair(bid_bar, COLOR_BLACK, COLOR_GREEN);
        init_pair(ask_bar, COLOR_BLACK, COLOR_RED);
        init_pair(dim_colour, COLOR_CYAN, -1);
    }
}

screen::~screen() {
    endwin();
}

bool screen::handle_keys() {
    for (int key = getch(); key != ERR; key = getch()) {
        if (key == 'q' || key == 'Q') return false;
        if (key >= '1' && key <= '9') chosen_ = static_cast<std::size_t>(key - '1');
        if (key == KEY_RIGHT || key == '\t') ++chosen_;
        if (key == KEY_LEFT && chosen_ > 0) --chosen_;
    }
    return true;
}

void screen::say(const std::string& sentence) {
    erase();
    put(0, 0, sentence);
    refresh();
}

void screen::draw(const client::feed_session& feed, const market_view& view, const std::string& headline) {
    const auto instruments = instruments_of(feed);
    if (instruments.empty()) return say("The venue has no instruments.");
    chosen_ %= instruments.size();
    const domain::instrument& shown = instruments[chosen_];
    erase();
    put(0, 0, headline, A_BOLD);
    int row = 1;
    for (std::size_t i = 0; i < instruments.size() && row < LINES / 3; ++i, ++row) {
        put(row, 0,
            fmt::format("{} {} {}", i == chosen_ ? '>' : ' ', i + 1, market_view::summary(feed, instruments[i])),
            i == chosen_ ? A_BOLD : pair(dim_colour));
    }
    ++row;
    const int bottom = LINES - 2;
    const auto depth = static_cast<std::size_t>(std::max(1, (bottom - row - 1) / 2));
    const bool wide = COLS >= 100;
    const int ladder_width = wide ? COLS - 44 : COLS;
    draw_ladder(row, ladder_width, view.ladder(feed, shown, std::min<std::size_t>(depth, 15)));
    if (wide) {
        put(row, ladder_width + 2, "last trades (UTC)", A_BOLD);
        int line = row + 1;
        for (const tape_row& t : view.tape(shown, static_cast<std::size_t>(std::max(0, bottom - row - 1)))) {
            put(line++, ladder_width + 2, t.text, pair(t.aggressor == domain::side::buy ? bid_colour : ask_colour));
        }
    }
    put(LINES - 1, 0,
        fmt::format("{} messages/s  {} trades/s   keys: 1-{} or arrows choose, q leaves", view.messages_per_second(),
                    view.trades_per_second(), std::min<std::size_t>(instruments.size(), 9)),
        pair(dim_colour));
    refresh();
}

}  // namespace corro::app
