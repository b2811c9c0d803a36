// SPDX-License-Identifier: Apache-2.0
// The errors that the API answers with: number, message, and the status of an HTTP response.
//
// Source: the error codes of the API that this one resembles; docs/spec/api.md, which a test compares with this table.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace corro::api {

/// An error's number.
enum class error_code : std::int32_t {
    parse_error = -32700,
    invalid_params = -32602,
    method_not_found = -32601,
    request_too_large = -32600,
    missing_params = -32000,
    authorization_required = 10000,
    order_not_found = 10004,
    price_not_allowed = 10011,
    book_closed = 10012,
    locked_by_admin = 10019,
    invalid_instrument = 10020,
    invalid_amount = 10021,
    invalid_price = 10023,
    invalid_order_id = 10025,
    too_many_requests = 10028,
    must_be_websocket = 10030,
    retry = 10040,
    price_wrong_tick = 10043,
    other_reject = 11030,
    not_open_order = 11044,
    unsupported_arg_combination = 11047,
    bad_request = 11050,
    system_maintenance = 11051,
    post_only_reject = 11054,
    internal_server_error = 11094,
    invalid_credentials = 13004,
    invalid_token = 13009,
    unavailable = 13503,
    timed_out = 13888,
};

/// What an error's number means.
struct error_description {
    error_code code{};
    unsigned http_status = 400;
    std::string_view message;  ///< as it is sent
    std::string_view meaning;  ///< for the reference
};

/// All errors, by number.
[[nodiscard]] std::span<const error_description> all_errors() noexcept;
[[nodiscard]] const error_description& describe(error_code code) noexcept;

/// An error with its details.
struct api_error {
    explicit api_error(error_code is, std::string parameter = {}, std::string why = {})
        : code(is), param(std::move(parameter)), reason(std::move(why)) {}

    error_code code;
    std::string param;   ///< the parameter that is wrong; empty for none
    std::string reason;  ///< a sentence or a word; empty for none
};

/// An error as what a method answers.
[[nodiscard]] inline std::unexpected<api_error> refuse(error_code code, std::string param = {},
                                                       std::string reason = {}) {
    return std::unexpected(api_error(code, std::move(param), std::move(reason)));
}

}  // namespace corro::api
