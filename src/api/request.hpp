// SPDX-License-Identifier: Apache-2.0
// A request of JSON-RPC 2.0, and the text of its response.
//
// Threads: any. Source: JSON-RPC 2.0; docs/spec/api.md.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "api/errors.hpp"
#include "api/json_value.hpp"
#include "api/method_table.hpp"

namespace corro::api {

/// A request whose method exists and whose parameters are checked.
struct request {
    const method_description* method = nullptr;
    json_value params;  ///< an object; empty if there were none

    /// The text of a parameter; empty if it is missing.
    [[nodiscard]] std::string_view text(std::string_view name) const noexcept;
    /// An integer parameter, or `otherwise` if it is missing.
    [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const noexcept;
    /// Whether a boolean parameter is there and true.
    [[nodiscard]] bool flag(std::string_view name) const noexcept;
};

/// A request, or why it is none; and in both cases its id, if it has one.
struct read_request {
    std::string id;  ///< as JSON; empty if there is none
    std::expected<request, api_error> what = std::unexpected(api_error(error_code::bad_request));
};

/// Reads the text of a request.
[[nodiscard]] read_request request_of_json(std::string_view text);
/// Makes a request of the path behind "/api/v2/" and a query. A response to it has no id.
[[nodiscard]] read_request request_of_query(std::string_view method, std::string_view query);

/// The times of a request, in microseconds since 1970.
struct request_times {
    std::int64_t in_us = 0;
    std::int64_t out_us = 0;
};

/// The text of a response. @param result  JSON. @param id  As in `read_request`.
[[nodiscard]] std::string response_text(std::string_view id, std::string_view result, request_times times,
                                        bool is_test);
/// The text of an error's response.
[[nodiscard]] std::string error_text(std::string_view id, const api_error& error, request_times times, bool is_test);

}  // namespace corro::api
