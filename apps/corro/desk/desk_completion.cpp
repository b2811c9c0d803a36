// SPDX-License-Identifier: Apache-2.0
// Completions and help for a typed command.

#include <algorithm>

#include "apps/corro/desk/desk_command.hpp"
#include "apps/corro/desk/vocabulary.hpp"

namespace corro::app::desk {

std::vector<std::string> completions(std::string_view line, std::span<const domain::instrument> instruments) {
    const auto words = words_of(line);
    const bool is_new_word = line.empty() || line.back() == ' ' || line.back() == '\t';
    const std::string_view begun = is_new_word || words.empty() ? std::string_view{} : words.back();
    const std::size_t position = words.size() - (is_new_word ? 0 : 1);
    std::vector<std::string> found;
    const auto offer = [&](std::string_view word) {
        if (begins(word, begun)) found.emplace_back(word);
    };
    const auto offer_symbols = [&] {
        for (const domain::instrument& i : instruments) offer(i.name.view());
    };
    if (position == 0 || (position == 1 && equal(words[0], "help"))) {
        for (const verb& v : verbs) offer(v.word);
    } else if (equal(words[0], "buy") || equal(words[0], "sell")) {
        if (position == 2) offer_symbols();
        if (position >= 2) {
            for (const std::string_view word : order_words) offer(word);
        }
    } else if (equal(words[0], "define")) {
        if (position >= 3) {
            for (const std::string_view word : definition_words) offer(word);
            offer_symbols();
        }
    } else if (equal(words[0], "phase")) {
        if (position == 1) {
            for (const std::string_view word : phase_words) offer(word);
        }
        if (position == 2) offer_symbols();
    } else if (equal(words[0], "limits")) {
        if (position >= 2) {
            for (const std::string_view word : limit_words) offer(word);
        }
    } else if (equal(words[0], "clear")) {
        if (position == 2) offer_symbols();
    } else if (equal(words[0], "amend")) {
        if (position >= 2) {
            offer("price");
            offer("quantity");
        }
    } else if (equal(words[0], "cancel")) {
        if (position == 1) offer("all");
        if (position == 2 && equal(words[1], "all")) offer_symbols();
    } else if (position == 1 && equal(words[0], "positions")) {
        offer("account");
    } else if (position == 1 && (equal(words[0], "show") || equal(words[0], "use") || equal(words[0], "status") ||
                                 equal(words[0], "settle"))) {
        offer_symbols();
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string complete(std::string_view line, std::span<const domain::instrument> instruments) {
    const auto found = completions(line, instruments);
    std::string result(line);
    if (found.empty()) return result;
    std::string_view common = found.front();
    for (const std::string& word : found) {
        std::size_t same = 0;
        while (same < common.size() && same < word.size() && lower(common[same]) == lower(word[same])) ++same;
        common = common.substr(0, same);
    }
    const std::size_t begun = line.find_last_of(" \t");
    result.resize(begun == std::string_view::npos ? 0 : begun + 1);
    result += common;
    if (found.size() == 1) result += ' ';
    return result;
}

std::vector<std::string> help(std::string_view topic) {
    std::vector<std::string> lines;
    for (const verb& v : verbs) {
        if (topic.empty()) {
            lines.emplace_back(v.usage);
        } else if (equal(v.word, topic)) {
            lines.emplace_back(v.usage);
            lines.emplace_back(v.meaning);
        }
    }
    return lines;
}

}  // namespace corro::app::desk
