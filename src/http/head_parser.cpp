// SPDX-License-Identifier: Apache-2.0
#include "http/head_parser.hpp"

#include <cstring>

#include "http/characters.hpp"

namespace corro::http {
namespace {

using detail::all_in;
using detail::in_host;
using detail::in_target;
using detail::in_token;
using detail::in_value;
using detail::is_in;

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Finds a method by name; false for one that is not implemented.
bool find_method(std::string_view name, method& found) noexcept {
    for (unsigned i = 0; i <= static_cast<unsigned>(method::connect); ++i) {
        if (name_of(static_cast<method>(i)) == name) {
            found = static_cast<method>(i);
            return true;
        }
    }
    return false;
}

/// Reads "HTTP/x.y". @return The minor version of HTTP/1, at most 1.
std::expected<unsigned, errc> parse_version(std::string_view text) noexcept {
    if (text.size() != 8 || !text.starts_with("HTTP/") || !is_digit(text[5]) || text[6] != '.' || !is_digit(text[7])) {
        return std::unexpected(errc::malformed_start_line);
    }
    if (text[5] != '1') return std::unexpected(errc::unknown_version);
    return text[7] == '0' ? 0U : 1U;
}

/// Whether a percent sign is always followed by two hexadecimal digits.
bool escapes_are_whole(std::string_view text) noexcept {
    const auto is_hex = [](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); };
    for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
        if (text.size() - at < 3 || !is_hex(text[at + 1]) || !is_hex(text[at + 2])) return false;
    }
    return true;
}

/// Whether this is a host, with or without a port. Lenient about the host's name, strict about its delimiters.
bool is_authority(std::string_view text) noexcept {
    if (!all_in(text, in_host) || !escapes_are_whole(text)) return false;
    std::string_view host = text;
    std::string_view port;
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos || end == 1) return false;
        if (text.substr(1, end - 1).find_first_not_of("0123456789abcdefABCDEF:.v") != std::string_view::npos) {
            return false;
        }
        host = {};
        port = text.substr(end + 1);
        if (!port.empty() && port.front() != ':') return false;
        if (!port.empty()) port.remove_prefix(1);
    } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        host = text.substr(0, colon);
        port = text.substr(colon + 1);
        if (host.empty()) return false;
    }
    if (host.find_first_of("[]") != std::string_view::npos || port.size() > 5) return false;
    for (const char c : port) {
        if (!is_digit(c)) return false;
    }
    return true;
}

void split_path(std::string_view path_and_query, request_head& head) noexcept {
    const std::size_t mark = path_and_query.find('?');
    head.path = path_and_query.substr(0, mark);
    head.query = mark == std::string_view::npos ? std::string_view() : path_and_query.substr(mark + 1);
}

/// Recognises the four forms of a target (RFC 9112, section 3.2).
bool parse_target(request_head& head) noexcept {
    const std::string_view target = head.target;
    if (target.empty() || !all_in(target, in_target) || !escapes_are_whole(target)) return false;
    if (head.method == method::connect) {
        if (target.find(':') == std::string_view::npos || !is_authority(target)) return false;
        head.authority = target;
        return true;
    }
    if (target.front() == '/') {
        split_path(target, head);
        return true;
    }
    if (target == "*") {
        head.path = target;
        return head.method == method::options;
    }
    const std::size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return false;
    if (!same_name(target.substr(0, scheme), "http") && !same_name(target.substr(0, scheme), "https")) return false;
    const std::string_view rest = target.substr(scheme + 3);
    const std::size_t path = rest.find_first_of("/?");
    head.authority = rest.substr(0, path);
    if (head.authority.empty() || !is_authority(head.authority)) return false;
    split_path(path == std::string_view::npos ? std::string_view() : rest.substr(path), head);
    if (head.path.empty()) head.path = "/";
    return true;
}

/// Reads the line METHOD SP TARGET SP VERSION.
std::expected<void, errc> parse_request_line(std::string_view line, request_head& head) noexcept {
    std::size_t method_size = 0;
    while (method_size != line.size() && is_in(line[method_size], in_token)) ++method_size;
    if (method_size == 0 || method_size == line.size() || line[method_size] != ' ') {
        return std::unexpected(errc::malformed_start_line);
    }
    const std::string_view rest = line.substr(method_size + 1);
    const std::size_t target_size = rest.find(' ');
    if (target_size == std::string_view::npos || target_size == 0) return std::unexpected(errc::malformed_start_line);
    head.target = rest.substr(0, target_size);
    const auto minor = parse_version(rest.substr(target_size + 1));
    if (!minor) return std::unexpected(minor.error());
    head.version_minor = *minor;
    if (!find_method(line.substr(0, method_size), head.method)) return std::unexpected(errc::unknown_method);
    if (!parse_target(head)) return std::unexpected(errc::malformed_target);
    return {};
}

/// The fields that determine the end of a message and whether the connection is kept.
struct framing {
    std::string_view length;
    std::string_view host;
    std::string_view expectation;
    std::string_view coding;
    unsigned lengths_count = 0;
    unsigned hosts_count = 0;
    unsigned codings_count = 0;
    bool close = false;
    bool keep_alive = false;
    bool upgrade = false;
};

void note_connection(const field& one, framing& found) noexcept {
    const std::span<const field> alone(&one, 1);
    if (has_token(alone, one.name, "close")) found.close = true;
    if (has_token(alone, one.name, "keep-alive")) found.keep_alive = true;
    if (has_token(alone, one.name, "upgrade")) found.upgrade = true;
}

framing find_framing(std::span<const field> fields) noexcept {
    framing found;
    for (const field& one : fields) {
        // The lengths distinguish most of the names.
        switch (one.name.size()) {
            case 4:
                if (same_name(one.name, "host")) {
                    ++found.hosts_count;
                    found.host = one.value;
                }
                break;
            case 6:
                if (same_name(one.name, "expect")) found.expectation = one.value;
                break;
            case 10:
                if (same_name(one.name, "connection")) note_connection(one, found);
                break;
            case 14:
                if (same_name(one.name, "content-length")) {
                    ++found.lengths_count;
                    found.length = one.value;
                }
                break;
            case 17:
                if (same_name(one.name, "transfer-encoding")) {
                    ++found.codings_count;
                    found.coding = one.value;
                }
                break;
            default: break;
        }
    }
    return found;
}

/// Decides from Content-Length and Transfer-Encoding how the body ends (RFC 9112, section 6.3). Leaves `head.body`
/// alone if neither is there.
std::expected<void, errc> decide_body(const framing& found, message_head& head) noexcept {
    if (found.codings_count != 0) {
        if (found.lengths_count != 0) return std::unexpected(errc::ambiguous_length);
        if (found.codings_count > 1 || head.version_minor == 0) return std::unexpected(errc::bad_transfer_coding);
        if (!same_name(found.coding, "chunked")) {
            const std::size_t comma = found.coding.rfind(',');
            std::string_view last = comma == std::string_view::npos ? found.coding : found.coding.substr(comma + 1);
            while (!last.empty() && (last.front() == ' ' || last.front() == '\t')) last.remove_prefix(1);
            const bool chunked_twice =
                comma != std::string_view::npos && same_name(found.coding.substr(0, 7), "chunked");
            const bool delimited = comma != std::string_view::npos && same_name(last, "chunked") && !chunked_twice &&
                                   is_in(found.coding.front(), in_token);
            return std::unexpected(delimited ? errc::unknown_transfer_coding : errc::bad_transfer_coding);
        }
        head.body = body_kind::chunked;
        return {};
    }
    if (found.lengths_count == 0) return {};
    if (found.lengths_count > 1) return std::unexpected(errc::ambiguous_length);
    if (found.length.empty()) return std::unexpected(errc::malformed_length);
    std::uint64_t length = 0;
    bool too_large = false;
    for (const char c : found.length) {
        if (!is_digit(c)) return std::unexpected(errc::malformed_length);
        if (length > (~std::uint64_t{0} - 9) / 10) too_large = true;
        length = length * 10 + static_cast<unsigned>(c - '0');
    }
    if (too_large) return std::unexpected(errc::body_too_large);
    head.content_length = length;
    head.body = length == 0 ? body_kind::none : body_kind::sized;
    return {};
}

void decide_persistence(const framing& found, message_head& head) noexcept {
    head.keep_alive = !found.close && (head.version_minor != 0 || found.keep_alive);
    head.upgrade = found.upgrade;
}

/// The first line of a head, without its end; what follows stays in `rest`.
std::string_view take_line(std::string_view head, std::string_view& rest) noexcept {
    const std::size_t end = head.find('\n');
    rest = head.substr(end + 1);
    return head.substr(0, end - 1);
}

}  // namespace

std::expected<std::size_t, errc> head_scanner::scan(std::string_view bytes, const message_limits& limits) noexcept {
    if (searched_ == 0 && !bytes.empty() && !is_in(bytes.front(), in_token)) {
        return std::unexpected(errc::malformed_start_line);
    }
    for (;;) {
        const auto* found =
            static_cast<const char*>(std::memchr(bytes.data() + searched_, '\n', bytes.size() - searched_));
        const std::size_t line_end = found == nullptr ? bytes.size() : static_cast<std::size_t>(found - bytes.data());
        // An incomplete line counts as well.
        if (lines_count_ == 0) {
            if (line_end + 1 > limits.start_line_bytes) return std::unexpected(errc::start_line_too_long);
        } else if (line_end + 1 - fields_begin_ > limits.fields_bytes) {
            return std::unexpected(errc::fields_too_large);
        }
        if (found == nullptr) {
            searched_ = bytes.size();
            return 0;
        }
        if (line_end == line_begin_ || bytes[line_end - 1] != '\r') return std::unexpected(errc::bare_line_feed);
        if (lines_count_ == 0) {
            fields_begin_ = line_end + 1;
        } else if (line_end - 1 == line_begin_) {
            return line_end + 1;
        } else if (lines_count_ > limits.fields_count) {
            return std::unexpected(errc::fields_too_large);
        }
        ++lines_count_;
        line_begin_ = line_end + 1;
        searched_ = line_begin_;
    }
}

namespace detail {

std::expected<std::span<const field>, errc> parse_fields(std::string_view lines, std::span<field> into) noexcept {
    std::size_t count = 0;
    const char* at = lines.data();
    const char* const end = at + lines.size();
    for (;;) {
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n') break;
        if (at == end) return std::unexpected(errc::malformed_field);
        if (*at == ' ' || *at == '\t') return std::unexpected(errc::folded_field);
        const char* const name = at;
        while (at != end && is_in(*at, in_token)) ++at;
        if (at == name || at == end || *at != ':') return std::unexpected(errc::malformed_field);
        const std::string_view name_text(name, static_cast<std::size_t>(at - name));
        ++at;
        while (at != end && (*at == ' ' || *at == '\t')) ++at;
        const char* const value = at;
        while (at != end && is_in(*at, in_value)) ++at;
        if (end - at < 2 || at[0] != '\r' || at[1] != '\n') return std::unexpected(errc::malformed_field);
        const char* value_end = at;
        while (value_end != value && (value_end[-1] == ' ' || value_end[-1] == '\t')) --value_end;
        at += 2;
        if (count == into.size()) return std::unexpected(errc::fields_too_large);
        into[count] = field(name_text, std::string_view(value, static_cast<std::size_t>(value_end - value)));
        ++count;
    }
    return into.first(count);
}

}  // namespace detail

std::expected<request_head, errc> parse_request(std::string_view head, std::span<field> into) noexcept {
    request_head parsed;
    std::string_view lines;
    const std::string_view line = take_line(head, lines);
    if (const auto understood = parse_request_line(line, parsed); !understood) {
        return std::unexpected(understood.error());
    }
    const auto fields = detail::parse_fields(lines, into);
    if (!fields) return std::unexpected(fields.error());
    parsed.fields = *fields;
    const framing found = find_framing(parsed.fields);
    if (found.hosts_count > 1 || (found.hosts_count == 0 && parsed.version_minor != 0)) {
        return std::unexpected(errc::bad_host);
    }
    if (!is_authority(found.host)) return std::unexpected(errc::bad_host);
    // An absolute target takes precedence over Host (RFC 9112, section 3.2.2).
    if (parsed.authority.empty()) parsed.authority = found.host;
    if (const auto decided = decide_body(found, parsed); !decided) return std::unexpected(decided.error());
    decide_persistence(found, parsed);
    if (parsed.version_minor != 0 && !found.expectation.empty()) {
        if (!same_name(found.expectation, "100-continue")) return std::unexpected(errc::unknown_expectation);
        parsed.expects_continue = true;
    }
    return parsed;
}

std::expected<response_head, errc> parse_response(std::string_view head, std::span<field> into, method asked) noexcept {
    response_head parsed;
    std::string_view lines;
    const std::string_view line = take_line(head, lines);
    if (line.size() < 12 || line[8] != ' ') return std::unexpected(errc::malformed_start_line);
    const auto minor = parse_version(line.substr(0, 8));
    if (!minor) return std::unexpected(minor.error());
    parsed.version_minor = *minor;
    const std::string_view status = line.substr(9, 3);
    for (const char c : status) {
        if (!is_digit(c)) return std::unexpected(errc::malformed_start_line);
        parsed.status = parsed.status * 10 + static_cast<unsigned>(c - '0');
    }
    if (parsed.status < 100) return std::unexpected(errc::malformed_start_line);
    if (line.size() > 12) {
        if (line[12] != ' ' || !all_in(line.substr(13), in_value)) return std::unexpected(errc::malformed_start_line);
        parsed.reason = line.substr(13);
    }
    const auto fields = detail::parse_fields(lines, into);
    if (!fields) return std::unexpected(fields.error());
    parsed.fields = *fields;
    const framing found = find_framing(parsed.fields);
    parsed.body = body_kind::until_close;
    if (const auto decided = decide_body(found, parsed); !decided) return std::unexpected(decided.error());
    decide_persistence(found, parsed);
    const bool bodiless = parsed.status < 200 || parsed.status == 204 || parsed.status == 304;
    if (bodiless || asked == method::head || (asked == method::connect && parsed.status < 300)) {
        parsed.body = body_kind::none;
    }
    if (parsed.body == body_kind::until_close) parsed.keep_alive = false;
    return parsed;
}

}  // namespace corro::http
