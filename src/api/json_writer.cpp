// SPDX-License-Identifier: Apache-2.0
#include "api/json_writer.hpp"

#include <array>
#include <charconv>

#include "domain/decimal.hpp"

namespace corro::api {
namespace {

void append_escaped(std::string& into, char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (c) {
        case '"': into += "\\\""; return;
        case '\\': into += "\\\\"; return;
        case '\n': into += "\\n"; return;
        case '\r': into += "\\r"; return;
        case '\t': into += "\\t"; return;
        default: break;
    }
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20) {
        into += c;
        return;
    }
    into += "\\u00";
    into += digits[code >> 4U];
    into += digits[code & 0xFU];
}

template <class Integer>
void append_integer(std::string& into, Integer value) {
    std::array<char, 24> room;
    const auto written = std::to_chars(room.data(), room.data() + room.size(), value);
    into.append(room.data(), written.ptr);
}

}  // namespace

void json_writer::separate() {
    if (!first_) into_->push_back(',');
    first_ = false;
}

void json_writer::begin(char bracket) {
    separate();
    into_->push_back(bracket);
    first_ = true;
}

void json_writer::end(char bracket) {
    into_->push_back(bracket);
    first_ = false;
}

json_writer& json_writer::member(std::string_view name) {
    separate();
    into_->push_back('"');
    into_->append(name);
    into_->append("\":");
    first_ = true;
    return *this;
}

void json_writer::text(std::string_view value) {
    separate();
    into_->push_back('"');
    for (const char c : value) append_escaped(*into_, c);
    into_->push_back('"');
}

void json_writer::number(std::int64_t value) {
    separate();
    append_integer(*into_, value);
}

void json_writer::number(std::uint64_t value) {
    separate();
    append_integer(*into_, value);
}

void json_writer::decimal(std::int64_t nano) {
    separate();
    into_->append(domain::format_decimal(nano).view());
}

void json_writer::raw(std::string_view json) {
    separate();
    into_->append(json);
}

}  // namespace corro::api
