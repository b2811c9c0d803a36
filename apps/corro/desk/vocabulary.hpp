// The words that a trader types, for whoever reads, completes or explains them. Upper and lower case are the same.
//
// Not part of the library's interface. Threads: any.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace corro::app::desk {

[[nodiscard]] constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline bool equal(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

[[nodiscard]] inline bool begins(std::string_view word, std::string_view with) noexcept {
    return word.size() >= with.size() && equal(word.substr(0, with.size()), with);
}

[[nodiscard]] inline std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) break;
        line.remove_prefix(begin);
        const std::size_t size = std::min(line.find_first_of(" \t"), line.size());
        words.push_back(line.substr(0, size));
        line.remove_prefix(size);
    }
    return words;
}

struct verb {
    std::string_view word;
    std::string_view usage;
    std::string_view meaning;
};

inline constexpr std::array<verb, 16> verbs{{
    {"amend", "amend NUMBER [quantity UNITS] [price PRICE]",
     "Changes an order. Less quantity keeps its place in the queue; more, or another price, gives it up."},
    {"buy", "buy UNITS [SYMBOL] PRICE|market [day|gtc|ioc|fok] [post] [show UNITS] [min UNITS] [stop PRICE] [stay]",
     "Enters an order to buy. Without a symbol it is for the instrument that is shown. With \"stay\" it outlives a "
     "lost connection."},
    {"cancel", "cancel NUMBER | cancel all [SYMBOL]", "Cancels an order, or all, or all in one instrument."},
    {"define",
     "define ID SYMBOL like SYMBOL [expiry YYYY-MM-DD] [call STRIKE|put STRIKE] [low PRICE] [high PRICE] [legs "
     "SYMBOL...]",
     "Defines an instrument like another one, which begins closed. For operators."},
    {"fills", "fills", "Lists the last fills."},
    {"help", "help [WORD]", "Explains a word, or lists them all."},
    {"newday", "newday [SYMBOL]",
     "Begins the statistics of an instrument, or of all, again; the last price stays. For operators."},
    {"orders", "orders", "Lists the open orders."},
    {"phase", "phase PHASE [SYMBOL]", "Moves an instrument, or all, to another phase. For operators."},
    {"positions", "positions", "Lists what has been bought and sold since the desk was opened."},
    {"quit", "quit", "Leaves; the venue cancels the open orders if the session was opened so."},
    {"sell", "sell UNITS [SYMBOL] PRICE|market [day|gtc|ioc|fok] [post] [show UNITS] [min UNITS] [stop PRICE] [stay]",
     "Enters an order to sell."},
    {"show", "show SYMBOL", "Shows another instrument."},
    {"snapshot", "snapshot", "For operators: has the venue write a snapshot beside its journal while trading goes on."},
    {"status", "status [SYMBOL]",
     "For operators: how far the venue and its journal are, what waits, who is there, and an instrument's phase."},
    {"use", "use SYMBOL", "The same as show."},
}};

inline constexpr std::array<std::string_view, 10> order_words{"day", "fok",  "gtc",  "ioc",  "market",
                                                              "min", "post", "show", "stay", "stop"};

/// In the order of domain::trading_phase.
inline constexpr std::array<std::string_view, 7> phase_words{
    "continuous", "halted", "pre_open", "opening_auction", "volatility_auction", "closing_auction", "closed"};

inline constexpr std::array<std::string_view, 7> definition_words{"call", "expiry", "high", "legs",
                                                                  "like", "low",    "put"};

}  // namespace corro::app::desk
