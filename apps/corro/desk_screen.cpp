#include "desk_screen.hpp"

#include <curses.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace corro::app {
namespace {

constexpr int tape_width = 42;
constexpr std::string_view prompt = "> ";
constexpr std::string_view keys_line =
    "TAB completes, or shows the next instrument   F2 buys  F3 sells  F8 cancels all   help explains   quit leaves";

constexpr int ctrl(char letter) noexcept {
    return letter - 'a' + 1;
}

}  // namespace

void desk_screen::add(const std::string& message) {
    messages_.push_back(message);
    if (messages_.size() > messages_max) messages_.pop_front();
}

// Writes an order at the best price into the line. Enter sends it.
void desk_screen::prefill(const trading_desk& desk, domain::side side) {
    const domain::instrument* const i = desk.selected() ? desk.find(*desk.selected()) : nullptr;
    if (i == nullptr || desk.feed() == nullptr) return;
    const market_data::book_image* const book = desk.feed()->book(i->id);
    if (book == nullptr) return;
    const bool buys = side == domain::side::buy;
    const domain::price_ticks best = buys ? book->top().bid_price : book->top().ask_price;
    line_.replace(fmt::format("{} {} {} {}", buys ? "buy" : "sell", i->lot_size, i->name.view(),
                              best == domain::no_price ? std::string() : format_price(*i, best)));
}

void desk_screen::complete(trading_desk& desk) {
    if (line_.text().empty()) return desk.select_next();
    const std::string completed = desk::complete(line_.text(), desk.instruments());
    if (completed == line_.text()) {
        std::string offered;
        for (const std::string& word : desk::completions(line_.text(), desk.instruments())) {
            offered += (offered.empty() ? "" : "  ") + word;
        }
        if (!offered.empty()) add(offered);
    }
    line_.replace(completed);
}

bool desk_screen::handle_keys(trading_desk& desk) {
    bool any = false;
    for (int key = terminal_.key(); key != -1; key = terminal_.key(), any = true) {
        switch (key) {
            case KEY_UP:
            case ctrl('p'): line_.older(); break;
            case KEY_DOWN:
            case ctrl('n'): line_.newer(); break;
            case KEY_LEFT:
            case ctrl('b'): line_.left(); break;
            case KEY_RIGHT:
            case ctrl('f'): line_.right(); break;
            case KEY_HOME:
            case ctrl('a'): line_.home(); break;
            case KEY_END:
            case ctrl('e'): line_.end(); break;
            case KEY_BACKSPACE:
            case 127:
            case ctrl('h'): line_.erase_before(); break;
            case KEY_DC: line_.erase_after(); break;
            case ctrl('u'): line_.clear(); break;
            case '\t': complete(desk); break;
            case KEY_F(2): prefill(desk, domain::side::buy); break;
            case KEY_F(3): prefill(desk, domain::side::sell); break;
            case KEY_F(8): desk.execute("cancel all"); break;
            case KEY_ENTER:
            case '\n':
            case '\r': {
                const std::string line = line_.enter();
                if (!line.empty()) add(std::string(prompt) + line);
                desk.execute(line);
                break;
            }
            default:
                if (key >= ' ' && key <= '~') line_.insert(static_cast<char>(key));
                break;
        }
    }
    return any;
}

void desk_screen::draw_orders(const trading_desk& desk, int row, int rows) {
    terminal_.put(row, 0, fmt::format("your orders ({} open)", desk.orders().open_count()), ink::bold);
    // The newest orders come first.
    int line = row + 1;
    const auto& all = desk.orders().all();
    for (auto at = all.rbegin(); at != all.rend() && line < row + rows; ++at) {
        if (!at->second.is_alive()) continue;
        terminal_.put(line++, 2, desk.describe(at->second), ink::own);
    }
}

void desk_screen::draw(const trading_desk& desk, const std::string& headline) {
    terminal_.begin();
    const int rows = terminal_.rows();
    const int columns = terminal_.columns();
    terminal_.put(0, 0, headline + (desk.connected() ? "   connected" : "   NO CONNECTION"),
                  desk.connected() ? ink::bold : ink::ask_bold);
    // Divides the screen between market, orders and messages.
    const int market_rows = std::max(4, (rows - 5) / 2);
    const int order_rows = std::max(2, (rows - 5) / 5);
    const domain::instrument* const shown = desk.selected() ? desk.find(*desk.selected()) : nullptr;
    if (shown != nullptr && desk.feed() != nullptr) {
        terminal_.put(1, 0, market_view::summary(*desk.feed(), *shown), ink::bold);
        const bool wide = columns >= 90;
        const int width = wide ? columns - tape_width - 2 : columns;
        const auto depth = static_cast<std::size_t>(std::max(1, (market_rows - 2) / 2));
        terminal_.put_ladder(2, width, desk.view().ladder(*desk.feed(), *shown, depth));
        if (wide) {
            terminal_.put(2, width + 2, "last trades (UTC)", ink::bold);
            int line = 3;
            for (const tape_row& t : desk.view().tape(*shown, static_cast<std::size_t>(market_rows - 2))) {
                terminal_.put(line++, width + 2, t.text, t.aggressor == domain::side::buy ? ink::bid : ink::ask);
            }
        }
    } else {
        terminal_.put(1, 0, "no market data; joining the feed", ink::dim);
    }
    draw_orders(desk, 1 + market_rows, order_rows);
    const int first = 2 + market_rows + order_rows;
    const int last = rows - 3;
    const auto room = static_cast<std::size_t>(std::max(0, last - first + 1));
    const std::size_t count = std::min(room, messages_.size());
    int line = first;
    for (std::size_t i = messages_.size() - count; i < messages_.size(); ++i) terminal_.put(line++, 0, messages_[i]);
    terminal_.put(rows - 2, 0, std::string(prompt) + line_.text(), ink::bold);
    terminal_.put(rows - 1, 0, keys_line, ink::dim);
    terminal_.place_cursor(rows - 2, static_cast<int>(prompt.size() + line_.cursor()));
    terminal_.show();
}

}  // namespace corro::app
