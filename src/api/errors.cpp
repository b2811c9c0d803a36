// SPDX-License-Identifier: Apache-2.0
#include "api/errors.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace corro::api {
namespace {

constexpr std::array errors{
    error_description{error_code::parse_error, 400, "Parse error", "The request is not JSON, or is not UTF-8."},
    error_description{error_code::invalid_params, 400, "Invalid params",
                      "A parameter has a wrong type or value, or is missing; `data.param` names it."},
    error_description{error_code::method_not_found, 400, "Method not found", "There is no such method."},
    error_description{error_code::request_too_large, 413, "request entity too large",
                      "The request has more than 32 KiB, is too deep, or has too many values."},
    error_description{error_code::missing_params, 400, "Missing params", "A method with parameters got none."},
    error_description{error_code::authorization_required, 401, "authorization_required",
                      "A private method, and the client has not authenticated."},
    error_description{error_code::order_not_found, 400, "order_not_found",
                      "The key's session has no order of this id, or it is closed for long."},
    error_description{error_code::price_not_allowed, 400, "price_not_allowed", "The price is outside a band."},
    error_description{error_code::book_closed, 400, "book_closed",
                      "The instrument does not take this order in its phase."},
    error_description{error_code::locked_by_admin, 400, "locked_by_admin",
                      "A kill switch is on, or only operators may do it."},
    error_description{error_code::invalid_instrument, 400, "invalid_or_unsupported_instrument",
                      "There is no instrument of this name."},
    error_description{error_code::invalid_amount, 400, "invalid_amount",
                      "The amount is not a multiple of the lot, or over a limit."},
    error_description{error_code::invalid_price, 400, "invalid_price", "The price is out of the venue's range."},
    error_description{error_code::invalid_order_id, 400, "invalid_order_id", "The order_id is not a number."},
    error_description{error_code::too_many_requests, 429, "too_many_requests",
                      "The client has no credits left, or too many connections. A WebSocket is closed after it."},
    error_description{error_code::must_be_websocket, 400, "must_be_websocket_request", "The method needs a WebSocket."},
    error_description{
        error_code::retry, 503, "retry",
        "The request was not sent to the venue, the venue did not take it, or a crash took it: it had no effect."},
    error_description{error_code::price_wrong_tick, 400, "price_wrong_tick",
                      "The price is not a multiple of the tick size."},
    error_description{error_code::other_reject, 400, "other_reject",
                      "The venue has refused the request; `data.reason` is its reason."},
    error_description{error_code::not_open_order, 400, "not_open_order", "The order is filled or cancelled."},
    error_description{error_code::unsupported_arg_combination, 400, "unsupported_arg_combination",
                      "The order's terms contradict each other, or are not supported."},
    error_description{error_code::bad_request, 400, "bad_request",
                      "The request is JSON but not a request of JSON-RPC 2.0; `data.reason` says why."},
    error_description{error_code::system_maintenance, 503, "system_maintenance",
                      "The API has no connection to the venue's feed at the moment."},
    error_description{error_code::post_only_reject, 400, "post_only_reject",
                      "A post-only order with `reject_post_only` would have traded."},
    error_description{error_code::internal_server_error, 500, "internal_server_error",
                      "The answer to a `public/test` that asks for an exception."},
    error_description{error_code::invalid_credentials, 401, "invalid_credentials",
                      "The secret or the signature is wrong, old, or was used before."},
    error_description{error_code::invalid_token, 401, "invalid_token", "The token has expired, or never was valid."},
    error_description{
        error_code::unavailable, 400, "unavailable",
        "It follows from answers to the key's session that the venue keeps no longer; `data.reason` says more."},
    error_description{error_code::timed_out, 504, "timed_out",
                      "The venue has not answered in time; the request may have an effect."},
};
static_assert(std::ranges::is_sorted(errors, {}, &error_description::code));

}  // namespace

std::span<const error_description> all_errors() noexcept {
    return errors;
}

const error_description& describe(error_code code) noexcept {
    const auto* const found = std::ranges::find(errors, code, &error_description::code);
    CORRO_ASSERT(found != errors.end(), "every error has a description");
    return *found;
}

}  // namespace corro::api
