// SPDX-License-Identifier: Apache-2.0
#include "http/router.hpp"

#include <utility>

#include "base/assert.hpp"

namespace corro::http {
namespace {

std::string_view take_segment(std::string_view& path) noexcept {
    path.remove_prefix(1);  // the slash
    const std::size_t size = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, size);
    path.remove_prefix(size);
    return segment;
}

bool is_wildcard(std::string_view segment) noexcept {
    return segment.size() >= 2 && segment.front() == '{' && segment.back() == '}';
}

}  // namespace

bool path_matches(std::string_view pattern, std::string_view path) noexcept {
    while (!pattern.empty()) {
        if (path.empty() || path.front() != '/') return false;
        const std::string_view wanted = take_segment(pattern);
        if (pattern.empty() && wanted == "*") return true;
        const std::string_view there = take_segment(path);
        if (is_wildcard(wanted) ? there.empty() : wanted != there) return false;
    }
    return path.empty();
}

std::string_view path_part(std::string_view pattern, std::string_view path, std::string_view name) noexcept {
    while (!pattern.empty() && !path.empty()) {
        const std::string_view wanted = take_segment(pattern);
        if (pattern.empty() && wanted == "*") return name == "*" ? path.substr(1) : std::string_view();
        const std::string_view there = take_segment(path);
        if (is_wildcard(wanted) && wanted.substr(1, wanted.size() - 2) == name) return there;
    }
    return {};
}

std::string_view query_part(std::string_view query, std::string_view name) noexcept {
    while (!query.empty()) {
        const std::size_t size = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, size);
        query.remove_prefix(std::min(size + 1, query.size()));
        const std::size_t equals = pair.find('=');
        if (pair.substr(0, equals) != name) continue;
        return equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    }
    return {};
}

bool percent_decode(std::string_view text, std::string& into) {
    const auto value = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        const char letter = static_cast<char>(c | 0x20);
        return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
    };
    into.clear();
    for (std::size_t i = 0; i != text.size(); ++i) {
        if (text[i] != '%') {
            into.push_back(text[i]);
            continue;
        }
        if (text.size() - i < 3) return false;
        const int high = value(text[i + 1]);
        const int low = value(text[i + 2]);
        if (high < 0 || low < 0 || (high | low) == 0) return false;
        into.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    return true;
}

router& router::add(method which, std::string_view pattern, handler answer) {
    CORRO_ASSERT(pattern.starts_with('/'), "a route's pattern must begin with a slash");
    routes_.emplace_back(which, pattern, std::move(answer));
    return *this;
}

io::task<> router::answer(exchange* on) const {
    const request_head& request = on->request();
    const method wanted = request.method == method::head ? method::get : request.method;
    for (const route& one : routes_) {
        if (one.which != wanted || !path_matches(one.pattern, request.path)) continue;
        co_await one.answer(on);
        co_return;
    }
    co_await answer_otherwise(on);
}

io::task<> router::answer_otherwise(exchange* on) const {
    const request_head& request = on->request();
    for (;;) {
        const auto piece = co_await on->read_some_of_body();
        if (!piece) co_return;
        if (piece->empty()) break;
    }
    std::string allowed;
    const auto allow = [&](method which) {
        if (allowed.find(name_of(which)) != std::string::npos) return;
        if (!allowed.empty()) allowed += ", ";
        allowed += name_of(which);
    };
    for (const route& one : routes_) {
        if (request.path != "*" && !path_matches(one.pattern, request.path)) continue;
        allow(one.which);
        if (one.which == method::get) allow(method::head);
    }
    if (allowed.empty() && request.path != "*") {
        on->respond(404, "text/plain; charset=utf-8", "there is nothing here\n");
        co_return;
    }
    allow(method::options);
    const field allow_field("Allow", allowed);
    if (request.method == method::options) {
        on->respond(204, std::span(&allow_field, 1), "");
    } else {
        on->respond(405, std::span(&allow_field, 1), "this path does not allow this method\n");
    }
}

}  // namespace corro::http
