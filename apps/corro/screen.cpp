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

}  // namespace

bool screen::handle_keys() {
    for (int key = terminal_.key(); key != -1; key = terminal_.key()) {
        if (key == 'q' || key == 'Q') return false;
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
    const domain::instrument& shown = instruments[chosen_];
    terminal_.begin();
    terminal_.put(0, 0, headline, ink::bold);
    int row = 1;
    for (std::size_t i = 0; i < instruments.size() && row < terminal_.rows() / 3; ++i, ++row) {
        terminal_.put(
            row, 0,
            fmt::format("{} {} {}", i == chosen_ ? '>' : ' ', i + 1, market_view::summary(feed, instruments[i])),
            i == chosen_ ? ink::bold : ink::dim);
    }
    ++row;
    const int bottom = terminal_.rows() - 2;
    const auto depth = static_cast<std::size_t>(std::max(1, (bottom - row - 1) / 2));
    const bool wide = terminal_.columns() >= 100;
    const int ladder_width = wide ? terminal_.columns() - 44 : terminal_.columns();
    terminal_.put_ladder(row, ladder_width, view.ladder(feed, shown, std::min<std::size_t>(depth, 15)));
    if (wide) {
        terminal_.put(row, ladder_width + 2, "last trades (UTC)", ink::bold);
        int line = row + 1;
        for (const tape_row& t : view.tape(shown, static_cast<std::size_t>(std::max(0, bottom - row - 1)))) {
            terminal_.put(line++, ladder_width + 2, t.text, t.aggressor == domain::side::buy ? ink::bid : ink::ask);
        }
    }
    terminal_.put(
        terminal_.rows() - 1, 0,
        fmt::format("{} messages/s  {} trades/s   keys: 1-{} or arrows choose, q leaves", view.messages_per_second(),
                    view.trades_per_second(), std::min<std::size_t>(instruments.size(), 9)),
        ink::dim);
    terminal_.show();
}

}  // namespace corro::app
