// SPDX-License-Identifier: Apache-2.0
// The methods of the API: one table for the dispatch, the checks of parameters, the reference and the OpenAPI text.
//
// Threads: any. Source: docs/spec/api.md, which a test compares with this table.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "api/errors.hpp"
#include "api/json_value.hpp"
#include "api/limits.hpp"

namespace corro::api {

/// Credits for an authentication, so that secrets are not tried at the pace of other requests.
inline constexpr std::uint32_t authentication_cost = 5'000;
static_assert(authentication_cost <= credits_max);

enum class method_id : std::uint8_t {
    hello,
    test,
    get_time,
    status,
    get_currencies,
    get_instruments,
    get_instrument,
    get_order_book,
    orders_by_instrument,
    ticker,
    last_trades_by_instrument,
    last_trades_by_currency,
    latencies,
    set_heartbeat,
    disable_heartbeat,
    subscribe,
    unsubscribe,
    unsubscribe_all,
    auth,
    logout,
    private_subscribe,
    private_unsubscribe,
    buy,
    sell,
    edit,
    cancel,
    cancel_all,
    cancel_all_by_instrument,
    cancel_all_by_currency,
    cancel_by_label,
    open_orders,
    open_orders_by_instrument,
    open_orders_by_currency,
    order_state,
    user_trades_by_instrument,
    user_trades_by_currency,
    user_trades_by_order,
    positions,
    position,
    mass_quote,
    cancel_quotes,
    set_mmp_config,
    get_mmp_config,
    reset_mmp,
    enable_cancel_on_disconnect,
    disable_cancel_on_disconnect,
    get_cancel_on_disconnect,
    venue_status,
    kill_account,
    release_account,
    clear_account,
    limit_account,
    change_phase,
    settle_instrument,
};

/// Where a method may be called.
enum class transport : std::uint8_t { any, websocket };

enum class param_type : std::uint8_t { text, integer, decimal, boolean, texts, objects };

/// One parameter of a method.
struct param_description {
    std::string_view name{};
    param_type type = param_type::text;
    bool required = false;
    std::string_view choices{};  ///< values that are allowed, separated by blanks; empty for any
    std::int64_t low = 0;        ///< of an integer
    std::int64_t high = INT64_MAX;
    std::string_view meaning{};
};

struct method_description {
    method_id id{};
    std::string_view name{};  ///< "public/test"
    transport over = transport::any;
    std::uint32_t cost = request_cost;  ///< credits
    std::span<const param_description> params{};
    std::string_view meaning{};

    /// Whether the client must have authenticated.
    [[nodiscard]] constexpr bool is_private() const noexcept { return name.starts_with("private/"); }
};

/// All methods, in the order of the reference.
[[nodiscard]] std::span<const method_description> all_methods() noexcept;
/// nullptr if there is no method of this name.
[[nodiscard]] const method_description* find_method(std::string_view name) noexcept;
/// nullptr if the method has no parameter of this name.
[[nodiscard]] const param_description* find_param(const method_description& m, std::string_view name) noexcept;

/// Checks types, values and presence of a method's parameters. Unknown ones are ignored.
/// @param params  An object, or nullptr if the request has none.
[[nodiscard]] std::expected<void, api_error> check_params(const method_description& m, const json_value* params);

/// The parameter of a query, as the value that the method expects: an integer as a number, a list as a list. A list of
/// objects is JSON. The result
/// is not checked otherwise.
[[nodiscard]] json_value value_of_query(const param_description& p, std::string text);

/// The schema of a parameter's values, JSON.
[[nodiscard]] std::string schema_of(const param_description& p);
/// The table as a description in OpenAPI 3.0, JSON. @param server  The server's URL.
[[nodiscard]] std::string openapi_text(std::string_view server);
/// The tables of methods, parameters and errors as they stand in docs/spec/api.md.
[[nodiscard]] std::string reference_text();

}  // namespace corro::api
