// SPDX-License-Identifier: Apache-2.0
#include "desk_screen.hpp"

#include <curses.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "apps/corro/desk/desk_command.hpp"
#include "apps/corro/desk/folded_table.hpp"

namespace corro::app {
namespace {

constexpr std::string_view prompt = "> ";
constexpr std::string_view keys_line = "TAB completes   F2 buys  F3 sells  F8 cancels all   ? keys   help   quit";

const std::vector<std::string>& keys_page() {
    static const std::vector<std::string> lines{
        "TAB           complete the word; on an empty line: show the next instrument",
        "F2, F3        type an order to buy at the best bid, to sell at the best ask",
        "F8            cancel all own orders",
        "up, down      earlier lines, later lines",
        "Ctrl-A, E, U  begin of the line, its end, clear it",
        "?, F1         this page; \"?\" on an empty line",
        "Ctrl-C        leave",
        "",
        "Type \"help\" for the commands, \"help buy\" for one of them.",
        "The ladder has the prices in the middle, bids on the left, asks on the right. \"i\" marks a",
        "price that is implied by other instruments. \"(3 empty)\" stands for 3 prices without orders."};
    return lines;
}

/// The lines of "help" and of "help WORD", which need more room than the messages have; empty for another line.
std::vector<std::string> help_page(const std::string& line, const trading_desk& desk) {
    const auto parsed = desk::parse(line, desk.instruments(), desk.selected());
    if (!parsed) return {};
    const auto* const wanted = std::get_if<desk::help_request>(&*parsed);
    return wanted == nullptr ? std::vector<std::string>() : desk::help(wanted->topic);
}

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
    const feed::book_image* const book = desk.feed()->book(i->id);
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
        if (key != KEY_RESIZE && !page_.empty()) {
            page_.clear();
            continue;
        }
        if (key == KEY_F(1) || (key == '?' && line_.text().empty())) {
            page_ = keys_page();
            continue;
        }
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
                page_ = help_page(line, desk);
                if (page_.empty()) desk.execute(line);
                break;
            }
            default:
                if (key >= ' ' && key <= '~') line_.insert(static_cast<char>(key));
                break;
        }
    }
    return any;
}

// The end of the messages, in lines of the terminal's width.
std::vector<std::string_view> desk_screen::last_lines(std::size_t count, std::size_t width) const {
    std::vector<std::string_view> lines;  // newest first
    for (auto each = messages_.rbegin(); each != messages_.rend() && lines.size() < count && width != 0; ++each) {
        const std::vector<std::string_view> parts = desk::fold_text(*each, width);
        for (auto part = parts.rbegin(); part != parts.rend() && lines.size() < count; ++part) lines.push_back(*part);
    }
    std::ranges::reverse(lines);
    return lines;
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
    if (!page_.empty()) {
        terminal_.place_cursor(-1, 0);
        return terminal_.put_page("Help", page_);
    }
    terminal_.begin();
    const int rows = terminal_.rows();
    const int columns = terminal_.columns();
    terminal_.put(0, 0, headline + (desk.connected() ? "   connected" : "   NO CONNECTION"),
                  desk.connected() ? ink::bold : ink::ask_bold);
    // Divides the screen between market, orders and messages.
    const int market_rows = std::max(6, rows / 2);
    const int order_rows = std::max(2, (rows - 5) / 5);
    const domain::instrument* const shown = desk.selected() ? desk.find(*desk.selected()) : nullptr;
    if (shown != nullptr && desk.feed() != nullptr) {
        terminal_.put(1, 0, market_view::table_heading(), ink::dim);
        terminal_.put(2, 0, market_view::table_row(*desk.feed(), *shown), ink::bold);
        const int tape = tape_columns(columns);
        const int width = columns - (tape == 0 ? 0 : tape + 1);
        const auto depth = static_cast<std::size_t>(std::max(1, (market_rows - 4) / 2));
        terminal_.put_ladder(3, width, desk.view().ladder(*desk.feed(), *shown, depth));
        if (tape != 0) {
            terminal_.put(3, width + 1, market_view::tape_heading(tape), ink::bold);
            int line = 4;
            for (const tape_row& t : desk.view().tape(*shown, static_cast<std::size_t>(market_rows - 3), tape)) {
                terminal_.put(line++, width + 1, t.text, t.aggressor == domain::side::buy ? ink::bid : ink::ask);
            }
        }
    } else {
        terminal_.put(1, 0, "no market data; joining the feed", ink::dim);
    }
    draw_orders(desk, 1 + market_rows, order_rows);
    const int first = 2 + market_rows + order_rows;
    const int last = rows - 3;
    const auto room = static_cast<std::size_t>(std::max(0, last - first + 1));
    int line = first;
    for (const std::string_view text : last_lines(room, static_cast<std::size_t>(columns))) {
        terminal_.put(line++, 0, text);
    }
    terminal_.put(rows - 2, 0, std::string(prompt) + line_.text(), ink::bold);
    terminal_.put(rows - 1, 0, keys_line, ink::dim);
    terminal_.place_cursor(rows - 2, static_cast<int>(prompt.size() + line_.cursor()));
    terminal_.show();
}

}  // namespace corro::app
