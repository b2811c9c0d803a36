// SPDX-License-Identifier: Apache-2.0
#include "api/row_table.hpp"

#include "api/json_writer.hpp"
#include "base/assert.hpp"
#include "history/moment.hpp"

namespace corro::api {
namespace {

void write_csv_text(std::string& out, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

void write_csv(std::string& out, const row_column& column, std::size_t row) {
    const std::int64_t number = column.numbers[row];
    if (column.type == column_type::text) return write_csv_text(out, column.text(row));
    if (number == no_number) return;
    json_writer writer(out);
    switch (column.type) {
        case column_type::decimal: writer.decimal(number); break;
        case column_type::time: out += history::format_time(domain::time_ns{number}); break;
        case column_type::boolean: out += number != 0 ? "true" : "false"; break;
        default: writer.number(number); break;
    }
}

void write_json(json_writer& out, const row_column& column, std::size_t row) {
    const std::int64_t number = column.numbers[row];
    if (column.type == column_type::text) return out.text(column.text(row));
    if (number == no_number) return out.null();
    switch (column.type) {
        case column_type::decimal: out.decimal(number); break;
        case column_type::time: out.text(history::format_time(domain::time_ns{number})); break;
        case column_type::boolean: out.boolean(number != 0); break;
        default: out.number(number); break;
    }
}

}  // namespace

std::string_view row_column::text(std::size_t row) const noexcept {
    CORRO_ASSERT(type == column_type::text && row < numbers.size());
    const auto begin = row == 0 ? 0 : static_cast<std::size_t>(numbers[row - 1]);
    return std::string_view(texts).substr(begin, static_cast<std::size_t>(numbers[row]) - begin);
}

std::string json_of(const row_table& table) {
    std::string text;
    json_writer out(text);
    out.list([&] {
        for (std::size_t row = 0; row < table.rows_count(); ++row) {
            out.object([&] {
                for (const row_column& each : table.columns) {
                    out.member(each.name);
                    write_json(out, each, row);
                }
            });
        }
    });
    return text;
}

std::string csv_of(const row_table& table) {
    std::string text;
    for (const row_column& each : table.columns) {
        if (&each != &table.columns.front()) text += ',';
        text += each.name;
    }
    text += '\n';
    for (std::size_t row = 0; row < table.rows_count(); ++row) {
        for (const row_column& each : table.columns) {
            if (&each != &table.columns.front()) text += ',';
            write_csv(text, each, row);
        }
        text += '\n';
    }
    return text;
}

}  // namespace corro::api
