// SPDX-License-Identifier: Apache-2.0
// The words of the desk's commands, for parsing, completion and help. Case does not matter.
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
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) break;
        line.remove_prefix(begin);
        const std::size_t size = std::min(line.find_first_of(" \t\r"), line.size());
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

inline constexpr std::array<verb, 22> verbs{{
    {"amend", "amend NUMBER [quantity UNITS] [price PRICE]",
     "Change an order. A smaller quantity keeps its place in the queue; a larger one or another price loses it."},
    {"buy",
     "buy UNITS [SYMBOL] PRICE|market [day|gtc|ioc|fok] [post] [show UNITS] [min UNITS] [stop PRICE] [stay] "
     "[self newest|resting|both|decrement]",
     "Enter an order to buy. Without a symbol it is for the instrument shown. With \"stay\" it survives a "
     "lost connection. \"self\" keeps it from trading with the account's own orders, by cancelling the newest, the "
     "resting "
     "or both, or by decrementing both."},
    {"cancel", "cancel NUMBER | cancel all [SYMBOL]", "Cancel an order, or all, or all of one instrument."},
    {"clear", "clear ACCOUNT [SYMBOL]",
     "Cancel all open orders of an account, by its number, or those in one instrument. For operators."},
    {"define",
     "define ID SYMBOL like SYMBOL [expiry YYYY-MM-DD] [call STRIKE|put STRIKE] [low PRICE] [high PRICE] [legs "
     "SYMBOL...]",
     "Define an instrument like another one. It begins closed. For operators."},
    {"exit", "exit", "Same as quit."},
    {"fills", "fills", "List the last fills."},
    {"help", "help [WORD]", "Explain a word, or list all words."},
    {"kill", "kill ACCOUNT",
     "Cancel all open orders of an account, and refuse new ones until \"release\". For operators."},
    {"limits", "limits ACCOUNT [order LOTS] [position LOTS] [open ORDERS]",
     "Set the limits of an account: the lots of one order, the lots long or short in an instrument, the open orders. "
     "One that is not named has no limit. For operators."},
    {"newday", "newday [SYMBOL]",
     "Reset the statistics of an instrument, or of all; the last price stays. For operators."},
    {"orders", "orders", "List the open orders."},
    {"phase", "phase PHASE [SYMBOL]", "Move an instrument, or all, to another phase. For operators."},
    {"positions", "positions [account]",
     "List the lots bought and sold since the start of the desk. With \"account\", by FIX: ask the venue for the "
     "positions of the account."},
    {"quit", "quit", "Leave. The venue cancels the open orders if the session asked for that."},
    {"release", "release ACCOUNT", "End the effect of \"kill\". For operators."},
    {"sell",
     "sell UNITS [SYMBOL] PRICE|market [day|gtc|ioc|fok] [post] [show UNITS] [min UNITS] [stop PRICE] [stay] "
     "[self newest|resting|both|decrement]",
     "Enter an order to sell."},
    {"settle", "settle SYMBOL PRICE",
     "End an instrument: its orders are cancelled, and positions settle at the price. For operators."},
    {"show", "show SYMBOL", "Show another instrument."},
    {"snapshot", "snapshot",
     "Make the venue write a snapshot beside its journal while trading continues. For operators."},
    {"status", "status NUMBER | status [SYMBOL]",
     "Ask the venue for an order. Without a number, for operators: show the positions of venue and journal, waiting "
     "requests, sessions, and an instrument's phase."},
    {"use", "use SYMBOL", "Same as show."},
}};

inline constexpr std::array<std::string_view, 11> order_words{"day",  "fok",  "gtc",  "ioc",  "market", "min",
                                                              "post", "self", "show", "stay", "stop"};

/// In the order of domain::self_match_prevention, without `none`.
inline constexpr std::array<std::string_view, 4> prevention_words{"newest", "resting", "both", "decrement"};

/// In the order of domain::trading_phase.
inline constexpr std::array<std::string_view, 7> phase_words{
    "continuous", "halted", "pre_open", "opening_auction", "volatility_auction", "closing_auction", "closed"};

inline constexpr std::array<std::string_view, 3> limit_words{"open", "order", "position"};

inline constexpr std::array<std::string_view, 7> definition_words{"call", "expiry", "high", "legs",
                                                                  "like", "low",    "put"};

}  // namespace corro::app::desk
