// SPDX-License-Identifier: Apache-2.0
#include "api/site.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace corro::api {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Takes the part before `mark` from the front of `text`, which keeps what is behind it.
std::string_view take_part(std::string_view& text, char mark) noexcept {
    const std::size_t size = std::min(text.find(mark), text.size());
    const std::string_view part = trimmed(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
    return part;
}

/// Whether the parameters of a coding contain a weight of 0.
bool is_refused(std::string_view parameters) noexcept {
    while (!parameters.empty()) {
        std::string_view one = take_part(parameters, ';');
        const std::string_view name = take_part(one, '=');
        if (!http::same_name(name, "q") || !one.starts_with('0')) continue;
        return one.find_first_of("123456789") == std::string_view::npos;
    }
    return false;
}

}  // namespace

bool accepts_coding(std::span<const http::field> fields, std::string_view coding) noexcept {
    bool by_star = false;
    for (const http::field& each : fields) {
        if (!http::same_name(each.name, "Accept-Encoding")) continue;
        std::string_view rest = each.value;
        while (!rest.empty()) {
            std::string_view one = take_part(rest, ',');
            const std::string_view name = take_part(one, ';');
            if (http::same_name(name, coding)) return !is_refused(one);
            by_star = by_star || (name == "*" && !is_refused(one));
        }
    }
    return by_star;
}

bool has_already(std::string_view if_none_match, std::string_view tag) noexcept {
    while (!if_none_match.empty()) {
        std::string_view one = take_part(if_none_match, ',');
        if (one == "*") return true;
        if (one.starts_with("W/")) one.remove_prefix(2);
        if (one.size() < 2 || one.front() != '"' || one.back() != '"') continue;
        one = one.substr(1, one.size() - 2);
        if (one == tag) return true;
        if (one.starts_with(tag) && one.substr(tag.size()) == "-gzip") return true;
    }
    return false;
}

std::span<const http::field> security_fields() noexcept {
    static const std::array fields{
        http::field("Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
                    "blob:; font-src 'self'; connect-src 'self'; worker-src 'self' data: blob:; manifest-src 'self'; "
                    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        http::field("X-Content-Type-Options", "nosniff"),
        http::field("Referrer-Policy", "no-referrer"),
        http::field("Cross-Origin-Opener-Policy", "same-origin"),
        http::field("Cross-Origin-Resource-Policy", "same-origin"),
        http::field("X-Frame-Options", "DENY"),
    };
    return fields;
}

const site_file* site::find(std::string_view path) const noexcept {
    if (!path.starts_with('/')) return nullptr;
    path.remove_prefix(1);
    if (path.empty()) path = "index.html";
    const auto found = std::ranges::find(files_, path, &site_file::path);
    return found == files_.end() ? nullptr : &*found;
}

void site::answer(http::exchange& on) const {
    const http::request_head& asked = on.request();
    const site_file* const file = find(asked.path);
    std::vector<http::field> fields(security_fields().begin(), security_fields().end());
    if (file == nullptr) {
        fields.emplace_back("Content-Type", "text/plain; charset=utf-8");
        fields.emplace_back("Cache-Control", "no-store");
        on.respond(404, fields, "there is nothing here\n");
        return;
    }
    const bool is_compressed = !file->gzip.empty() && accepts_coding(asked.fields, "gzip");
    const std::string tag = '"' + std::string(file->tag) + (is_compressed ? "-gzip\"" : "\"");
    fields.emplace_back("Content-Type", file->content_type);
    fields.emplace_back("ETag", tag);
    fields.emplace_back("Cache-Control", file->is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
    if (!file->gzip.empty()) fields.emplace_back("Vary", "Accept-Encoding");
    if (has_already(asked.find("If-None-Match"), file->tag)) {
        on.respond(304, fields, "");
        return;
    }
    if (is_compressed) fields.emplace_back("Content-Encoding", "gzip");
    on.respond(200, fields, is_compressed ? file->gzip : file->contents);
}

}  // namespace corro::api
