// SPDX-License-Identifier: Apache-2.0
#include "http/chunked.hpp"

#include <algorithm>
#include <array>

#include "http/characters.hpp"
#include "http/head_parser.hpp"

namespace corro::http {
namespace {

constexpr std::size_t trailers_room = 64;  // fields that are checked at a time; more are refused

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    const char letter = static_cast<char>(c | 0x20);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

}  // namespace

void chunk_decoder::reset() noexcept {
    remaining_ = 0;
    body_bytes_ = 0;
    line_bytes_ = 0;
    digits_count_ = 0;
    at_ = part::size;
    extension_empty_ = false;
    trailers_.clear();
}

/// Skips one character of an extension. Extensions are unused, but a recipient must skip them.
bool chunk_decoder::take_extension(char c) noexcept {
    using detail::in_token;
    using detail::in_value;
    using detail::is_in;
    switch (at_) {
        case part::space:
            if (c == ' ' || c == '\t') return true;
            if (c != ';') return false;
            at_ = part::extension_name;
            extension_empty_ = true;
            return true;
        case part::extension_name:
        case part::extension_value:
            if (is_in(c, in_token)) {
                extension_empty_ = false;
                return true;
            }
            if (extension_empty_) {
                if (at_ == part::extension_value && c == '"') {
                    at_ = part::extension_quoted;
                    return true;
                }
                return c == ' ' || c == '\t';
            }
            if (at_ == part::extension_name && c == '=') {
                at_ = part::extension_value;
                extension_empty_ = true;
                return true;
            }
            if (c == ';') {
                at_ = part::extension_name;
                extension_empty_ = true;
                return true;
            }
            return false;
        case part::extension_quoted:
            if (c == '"') {
                at_ = part::space;
                return true;
            }
            if (c == '\\') at_ = part::extension_escaped;
            return is_in(c, in_value);
        case part::extension_escaped: at_ = part::extension_quoted; return is_in(c, in_value);
        default: return false;
    }
}

bool chunk_decoder::take_line_character(char c, const message_limits& limits, errc& wrong) noexcept {
    wrong = errc::malformed_chunk;
    if (++line_bytes_ > limits.chunk_line_bytes) return false;
    if (at_ == part::size_end) {
        if (c != '\n') return false;
        line_bytes_ = 0;
        digits_count_ = 0;
        at_ = remaining_ == 0 ? part::trailers : part::data;
        return true;
    }
    if (at_ == part::size) {
        if (const int digit = hex_value(c); digit >= 0) {
            if (++digits_count_ > 16) {
                wrong = errc::body_too_large;
                return false;
            }
            remaining_ = remaining_ << 4U | static_cast<unsigned>(digit);
            return true;
        }
        if (digits_count_ == 0) return false;
        if (remaining_ > limits.body_bytes - body_bytes_) {
            wrong = errc::body_too_large;
            return false;
        }
    }
    if (c == '\r') {
        // White space is allowed before a semicolon only.
        const bool complete = at_ == part::size || (at_ == part::space && !extension_empty_) ||
                              ((at_ == part::extension_name || at_ == part::extension_value) && !extension_empty_);
        at_ = part::size_end;
        return complete;
    }
    if (at_ == part::size) {
        at_ = part::space;
        extension_empty_ = true;
    }
    const bool was_quoted = at_ == part::extension_quoted;
    if (!take_extension(c)) return false;
    if (was_quoted && at_ == part::space) extension_empty_ = false;
    if (at_ == part::space && (c == ' ' || c == '\t')) extension_empty_ = true;
    return true;
}

std::expected<std::size_t, errc> chunk_decoder::take_trailers(std::string_view bytes, const message_limits& limits) {
    std::size_t used = 0;
    while (used != bytes.size()) {
        const std::size_t feed = bytes.find('\n', used);
        const std::size_t end = feed == std::string_view::npos ? bytes.size() : feed + 1;
        if (trailers_.size() + (end - used) > limits.trailers_bytes + 2) {
            return std::unexpected(errc::trailers_too_large);
        }
        trailers_.append(bytes.substr(used, end - used));
        used = end;
        if (feed == std::string_view::npos) break;
        if (trailers_.size() < 2 || trailers_[trailers_.size() - 2] != '\r') {
            return std::unexpected(errc::bare_line_feed);
        }
        const bool empty_line = trailers_.size() == 2 || trailers_[trailers_.size() - 3] == '\n';
        if (!empty_line) continue;
        std::array<field, trailers_room> room;
        const std::size_t allowed = std::min(limits.trailers_count, trailers_room);
        const auto fields = detail::parse_fields(trailers_, std::span(room).first(allowed));
        if (!fields) {
            return std::unexpected(fields.error() == errc::fields_too_large ? errc::trailers_too_large
                                                                            : fields.error());
        }
        if (fields->empty()) trailers_.clear();
        at_ = part::ended;
        break;
    }
    return used;
}

std::expected<chunk_decoder::step, errc> chunk_decoder::decode(std::string_view bytes, const message_limits& limits) {
    step done;
    while (done.consumed != bytes.size() && at_ != part::ended) {
        switch (at_) {
            case part::data: {
                const auto size =
                    static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size() - done.consumed));
                done.data = bytes.substr(done.consumed, size);
                done.consumed += size;
                remaining_ -= size;
                body_bytes_ += size;
                if (remaining_ == 0) at_ = part::data_return;
                return done;
            }
            case part::data_return:
            case part::data_feed:
                if (bytes[done.consumed] != (at_ == part::data_return ? '\r' : '\n')) {
                    return std::unexpected(errc::malformed_chunk);
                }
                at_ = at_ == part::data_return ? part::data_feed : part::size;
                ++done.consumed;
                break;
            case part::trailers: {
                const auto used = take_trailers(bytes.substr(done.consumed), limits);
                if (!used) return std::unexpected(used.error());
                done.consumed += *used;
                break;
            }
            default: {
                errc wrong{};
                if (!take_line_character(bytes[done.consumed], limits, wrong)) return std::unexpected(wrong);
                ++done.consumed;
            }
        }
    }
    return done;
}

std::string_view chunk_size_line(std::size_t size, std::span<char, 18> into) noexcept {
    std::size_t at = into.size();
    into[--at] = '\n';
    into[--at] = '\r';
    do {
        into[--at] = "0123456789abcdef"[size & 15U];
        size >>= 4U;
    } while (size != 0);
    return {into.data() + at, into.size() - at};
}

}  // namespace corro::http
