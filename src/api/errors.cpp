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
    error_description{error_code::invalid_instrument, 400, "invalid_or_unsupported_instrument",
                      "There is no instrument of this name."},
    error_description{error_code::too_many_requests, 429, "too_many_requests",
                      "The client has no credits left, or too many connections. A WebSocket is closed after it."},
    error_description{error_code::must_be_websocket, 400, "must_be_websocket_request", "The method needs a WebSocket."},
    error_description{error_code::bad_request, 400, "bad_request",
                      "The request is JSON but not a request of JSON-RPC 2.0; `data.reason` says why."},
    error_description{error_code::system_maintenance, 503, "system_maintenance",
                      "The API has no connection to the venue's feed at the moment."},
    error_description{error_code::internal_server_error, 500, "internal_server_error",
                      "The answer to a `public/test` that asks for an exception."},
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
