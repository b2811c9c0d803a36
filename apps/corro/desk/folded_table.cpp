// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/folded_table.hpp"

#include <algorithm>

namespace corro::app::desk {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t size = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, size));
        text.remove_prefix(std::min(size + 1, text.size()));
    }
    return lines;
}

/// Where the columns end: the ends of the words of the heading. The first column ends with its longest word.
std::vector<std::size_t> column_ends(const std::vector<std::string_view>& table) {
    const std::string_view heading = table.front();
    std::vector<std::size_t> ends;
    for (std::size_t at = 0; at < heading.size(); ++at) {
        const bool is_end = heading[at] != ' ' && (at + 1 == heading.size() || heading[at + 1] == ' ');
        if (is_end) ends.push_back(at + 1);
    }
    for (const std::string_view line : table)
        ends.front() = std::max(ends.front(), std::min(line.find(' '), line.size()));
    return ends;
}

void append_part(std::string& to, std::string_view line, std::size_t from, std::size_t end) {
    if (from < line.size()) to += line.substr(from, end - from);
}

void fold(std::string& to, const std::vector<std::string_view>& table, std::size_t width) {
    const std::vector<std::size_t> ends = column_ends(table);
    const std::size_t first = ends.front();
    for (std::size_t next = 1; next < ends.size();) {
        const std::size_t from = ends[next - 1];
        std::size_t last = next;
        while (last + 1 < ends.size() && first + ends[last + 1] - from <= width) ++last;
        if (next != 1) to += '\n';
        for (const std::string_view line : table) {
            append_part(to, line, 0, first);
            append_part(to, line, from, ends[last]);
            to += '\n';
        }
        next = last + 1;
    }
}

}  // namespace

std::string folded_tables(std::string_view text, int width) {
    if (width <= 0) return std::string(text);
    const auto columns = static_cast<std::size_t>(width);
    const std::vector<std::string_view> lines = lines_of(text);
    std::string folded;
    for (std::size_t at = 0; at < lines.size();) {
        std::size_t end = at + 1;
        if (lines[at].size() > columns) {
            while (end < lines.size() && lines[end].size() > columns) ++end;
        }
        const std::vector<std::string_view> table(lines.begin() + static_cast<std::ptrdiff_t>(at),
                                                  lines.begin() + static_cast<std::ptrdiff_t>(end));
        if (table.size() > 1) {
            fold(folded, table, columns);
        } else {
            folded.append(lines[at]) += '\n';
        }
        at = end;
    }
    return folded;
}

std::vector<std::string_view> fold_text(std::string_view text, std::size_t width) {
    std::vector<std::string_view> lines;
    width = std::max<std::size_t>(width, 1);
    while (text.size() > width) {
        // A space right behind the line divides it, too.
        const std::size_t space = text.substr(0, width + 1).find_last_of(' ');
        const bool divides = space != std::string_view::npos && text.find_first_not_of(' ') < space;
        lines.push_back(text.substr(0, divides ? space : width));
        text.remove_prefix(lines.back().size());
        if (divides) text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    }
    lines.push_back(text);
    return lines;
}

}  // namespace corro::app::desk
