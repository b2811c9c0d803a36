// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include <curses.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace corro::app {
namespace {

std::vector<domain::instrument> instruments_of(const client::feed_session& feed) {
    std::vector<domain::instrument> all;
    feed.instruments().for_each([&](const domain::instrument& i) { all.push_back(i); });
    return all;
}

std::vector<std::string> keys_page(bool has_details) {
    std::vector<std::string> lines{"1 to 9        show this instrument", "right, TAB    show the next instrument",
                                   "left          show the previous instrument", "?, h          this page"};
    if (has_details) lines.emplace_back("d             addresses, accounts and their keys");
    lines.emplace_back("q, Ctrl-C     leave");
    lines.emplace_back();
    lines.emplace_back("The ladder has the prices in the middle, bids on the left, asks on the right. \"i\" marks a");
    lines.emplace_back("price that is implied by other instruments. \"(3 empty)\" stands for 3 prices without orders.");
    return lines;
}

}  // namespace

bool screen::handle_keys() {
    for (int key = terminal_.key(); key != -1; key = terminal_.key()) {
        if (key == KEY_RESIZE) continue;
        if (page_ != page::market) {
            page_ = page::market;
            continue;
        }
        if (key == 'q' || key == 'Q') return false;
        if (key == '?' || key == 'h') page_ = page::keys;
        if (key == 'd' && !details_.empty()) page_ = page::details;
        if (key >= '1' && key <= '9') chosen_ = static_cast<std::size_t>(key - '1');
        if (key == KEY_RIGHT || key == '\t') ++chosen_;
        if (key == KEY_LEFT && chosen_ > 0) --chosen_;
    }
    return true;
}

void screen::say(const std::string& sentence) {
    terminal_.begin();
    terminal_.put(0, 0, sentence);
    terminal_.show();
}

void screen::draw(const client::feed_session& feed, const market_view& view, const std::string& headline) {
    const auto instruments = instruments_of(feed);
    if (instruments.empty()) return say("The venue has no instruments.");
    chosen_ %= instruments.size();
    if (page_ == page::keys) return terminal_.put_page("Keys", keys_page(!details_.empty()));
    if (page_ == page::details) return terminal_.put_page("Addresses and keys of this exchange", details_);
    terminal_.begin();
    terminal_.put(0, 0, headline, ink::bold);
    terminal_.put(1, 4, market_view::table_heading(), ink::bold);
    int row = 2;
    // A third of the screen for the list; the chosen instrument is always in it.
    const auto room = static_cast<std::size_t>(std::max(1, terminal_.rows() / 3 - row));
    const std::size_t first = chosen_ < room ? 0 : chosen_ + 1 - room;
    for (std::size_t i = first; i < std::min(instruments.size(), first + room); ++i, ++row) {
        terminal_.put(
            row, 0,
            fmt::format("{} {} {}", i == chosen_ ? '>' : ' ', i + 1, market_view::table_row(feed, instruments[i])),
            i == chosen_ ? ink::bold : ink::dim);
    }
    draw_market(feed, view, instruments, row + 1);
    terminal_.put(terminal_.rows() - 1, 0,
                  fmt::format("{} messages/s  {} trades/s   1-{} choose  {}? keys  q leaves",
                              view.messages_per_second(), view.trades_per_second(),
                              std::min<std::size_t>(instruments.size(), 9), details_.empty() ? "" : "d addresses  "),
                  ink::dim);
    terminal_.show();
}

// The ladder, and the last trades beside it where both fit.
void screen::draw_market(const client::feed_session& feed, const market_view& view,
                         const std::vector<domain::instrument>& instruments, int row) {
    const domain::instrument& shown = instruments[chosen_];
    const int bottom = terminal_.rows() - 2;
    const auto depth = static_cast<std::size_t>(std::max(1, (bottom - row - 1) / 2));
    const int tape = tape_columns(terminal_.columns());
    const int ladder = terminal_.columns() - (tape == 0 ? 0 : tape + 1);
    terminal_.put_ladder(row, ladder, view.ladder(feed, shown, std::min<std::size_t>(depth, 15)));
    if (tape == 0) return;
    terminal_.put(row, ladder + 1, market_view::tape_heading(tape), ink::bold);
    int line = row + 1;
    for (const tape_row& t : view.tape(shown, static_cast<std::size_t>(std::max(0, bottom - row - 1)), tape)) {
        terminal_.put(line++, ladder + 1, t.text, t.aggressor == domain::side::buy ? ink::bid : ink::ask);
    }
}

}  // namespace corro::app
