// SPDX-License-Identifier: Apache-2.0
#include "api/request.hpp"

#include <algorithm>
#include <utility>

#include "api/json_writer.hpp"
#include "http/router.hpp"

namespace corro::api {
namespace {

api_error problem_of(json_problem problem) {
    switch (problem) {
        case json_problem::too_large: return api_error(error_code::request_too_large);
        case json_problem::repeated_name: return api_error(error_code::bad_request, {}, "a member occurs twice");
        case json_problem::malformed: break;
    }
    return api_error(error_code::parse_error);
}

/// An id as JSON; nothing if a request may not have it.
std::optional<std::string> id_of(const json_value& v) {
    std::string text;
    json_writer out(text);
    switch (v.kind) {
        case json_kind::number: return v.text;
        case json_kind::text: out.text(v.text); return text;
        default: return std::nullopt;
    }
}

read_request refused(std::string id, api_error why) {
    read_request r;
    r.id = std::move(id);
    r.what = std::unexpected(std::move(why));
    return r;
}

read_request checked(std::string id, std::string_view name, json_value params, bool has_params) {
    const method_description* const method = find_method(name);
    if (method == nullptr) return refused(std::move(id), api_error(error_code::method_not_found));
    auto sound = check_params(*method, has_params ? &params : nullptr);
    if (!sound) return refused(std::move(id), std::move(sound.error()));
    read_request r;
    r.id = std::move(id);
    request made;
    made.method = method;
    made.params = std::move(params);
    r.what = std::move(made);
    return r;
}

void begin_response(json_writer& out, std::string_view id) {
    out.member("jsonrpc").text("2.0");
    if (!id.empty()) out.member("id").raw(id);
}

void end_response(json_writer& out, request_times times, bool is_test) {
    out.member("usIn").number(times.in_us);
    out.member("usOut").number(times.out_us);
    out.member("usDiff").number(times.out_us - times.in_us);
    out.member("testnet").boolean(is_test);
}

/// Decodes a name or a value of a query, where a plus is a blank.
bool decode(std::string_view encoded, std::string& into) {
    std::string text(encoded);
    std::ranges::replace(text, '+', ' ');
    return http::percent_decode(text, into);
}

}  // namespace

std::string_view request::text(std::string_view name) const noexcept {
    const json_value* const found = params.find(name);
    return found == nullptr ? std::string_view() : std::string_view(found->text);
}

std::int64_t request::integer(std::string_view name, std::int64_t otherwise) const noexcept {
    const json_value* const found = params.find(name);
    if (found == nullptr || found->kind != json_kind::number) return otherwise;
    return scaled_integer(found->text, 0).value_or(otherwise);
}

bool request::flag(std::string_view name) const noexcept {
    const json_value* const found = params.find(name);
    return found != nullptr && found->kind == json_kind::boolean && found->truth;
}

read_request request_of_json(std::string_view text) {
    if (text.size() > request_bytes_max) return refused({}, api_error(error_code::request_too_large));
    auto parsed = parse_json(text);
    if (!parsed) return refused({}, problem_of(parsed.error()));
    const auto bad = [](std::string id, std::string why) {
        return refused(std::move(id), api_error(error_code::bad_request, {}, std::move(why)));
    };
    if (parsed->kind == json_kind::list) return bad({}, "batches are not supported");
    if (parsed->kind != json_kind::object) return bad({}, "expected an object");
    const json_value* const id_value = parsed->find("id");
    if (id_value == nullptr) return bad({}, "id is missing: notifications are not supported");
    const std::optional<std::string> id = id_of(*id_value);
    if (!id) return bad({}, "id must be a number or a string");
    const json_value* const version = parsed->find("jsonrpc");
    const bool is_two = version != nullptr && version->kind == json_kind::text && version->text == "2.0";
    if (!is_two) return bad(*id, "jsonrpc must be \"2.0\"");
    const json_value* const method = parsed->find("method");
    if (method == nullptr || method->kind != json_kind::text) return bad(*id, "method must be a string");
    const json_value* const params = parsed->find("params");
    const bool has_params = params != nullptr && params->kind != json_kind::null;
    if (has_params && params->kind != json_kind::object) return bad(*id, "params must be an object");
    json_value given;
    given.kind = json_kind::object;
    if (has_params) given = *params;
    return checked(*id, method->text, std::move(given), has_params);
}

read_request request_of_query(std::string_view method, std::string_view query) {
    const method_description* const known = find_method(method);
    if (known == nullptr) return refused({}, api_error(error_code::method_not_found));
    json_value params;
    params.kind = json_kind::object;
    const bool has_params = !query.empty();
    while (!query.empty()) {
        const std::size_t size = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, size);
        query.remove_prefix(std::min(size + 1, query.size()));
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        std::string name;
        std::string value;
        const bool sound =
            decode(pair.substr(0, equals), name) && decode(pair.substr(std::min(equals + 1, pair.size())), value);
        if (!sound) return refused({}, api_error(error_code::bad_request, {}, "the query is malformed"));
        const param_description* const param = find_param(*known, name);
        if (param == nullptr) continue;
        if (params.find(name) != nullptr) {
            return refused({}, api_error(error_code::bad_request, {}, "a parameter occurs twice"));
        }
        params.items.push_back(value_of_query(*param, std::move(value)));
        params.names.push_back(std::move(name));
    }
    return checked({}, method, std::move(params), has_params);
}

std::string response_text(std::string_view id, std::string_view result, request_times times, bool is_test) {
    std::string text;
    json_writer out(text);
    out.object([&] {
        begin_response(out, id);
        out.member("result").raw(result);
        end_response(out, times, is_test);
    });
    return text;
}

std::string error_text(std::string_view id, const api_error& error, request_times times, bool is_test) {
    std::string text;
    json_writer out(text);
    out.object([&] {
        begin_response(out, id);
        out.member("error").object([&] {
            out.member("code").number(std::int64_t{static_cast<std::int32_t>(error.code)});
            out.member("message").text(describe(error.code).message);
            if (error.param.empty() && error.reason.empty()) return;
            out.member("data").object([&] {
                if (!error.reason.empty()) out.member("reason").text(error.reason);
                if (!error.param.empty()) out.member("param").text(error.param);
            });
        });
        end_response(out, times, is_test);
    });
    return text;
}

}  // namespace corro::api
