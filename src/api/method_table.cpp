// SPDX-License-Identifier: Apache-2.0
#include "api/method_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace corro::api {
namespace {

constexpr std::string_view kinds = "any future option spread spot";
constexpr std::string_view depths = "1 5 10 20 50 100 1000 10000";

constexpr param_description instrument_param{.name = "instrument_name", .required = true, .meaning = "Its name."};
constexpr param_description currency_param{
    .name = "currency", .required = true, .meaning = "A product's number as text, or `any`."};
constexpr param_description kind_param{.name = "kind", .choices = kinds, .meaning = "Only instruments of this kind."};
constexpr param_description count_param{.name = "count",
                                        .type = param_type::integer,
                                        .low = 1,
                                        .high = trades_kept,
                                        .meaning = "How many trades at most; otherwise 10."};
constexpr param_description start_param{
    .name = "start_timestamp", .type = param_type::integer, .meaning = "Milliseconds; only trades from then on."};
constexpr param_description end_param{
    .name = "end_timestamp", .type = param_type::integer, .meaning = "Milliseconds; only trades up to then."};
constexpr param_description sorting_param{.name = "sorting",
                                          .choices = "asc desc default",
                                          .meaning = "`asc` for the oldest first; otherwise the newest first."};
constexpr param_description channels_param{
    .name = "channels", .type = param_type::texts, .required = true, .meaning = "Names of channels."};

constexpr std::array hello_params{
    param_description{.name = "client_name", .required = true, .meaning = "Any text."},
    param_description{.name = "client_version", .required = true, .meaning = "Any text."}};
constexpr std::array test_params{param_description{
    .name = "expected_result", .choices = "exception", .meaning = "`exception`: the answer is an error."}};
constexpr std::array instruments_params{
    param_description{.name = "currency", .meaning = "A product's number as text; otherwise any."}, kind_param,
    param_description{.name = "expired",
                      .type = param_type::boolean,
                      .meaning = "`true` for instruments that have been settled; otherwise the others."}};
constexpr std::array one_instrument{instrument_param};
constexpr std::array book_params{instrument_param, param_description{.name = "depth",
                                                                     .type = param_type::integer,
                                                                     .choices = depths,
                                                                     .meaning = "Levels of each side; otherwise 5."}};
constexpr std::array trades_params{
    instrument_param,
    param_description{.name = "start_seq", .type = param_type::integer, .meaning = "Only trades from this one on."},
    param_description{.name = "end_seq", .type = param_type::integer, .meaning = "Only trades up to this one."},
    start_param,
    end_param,
    count_param,
    sorting_param};
constexpr std::array currency_trades_params{currency_param, kind_param,  start_param,
                                            end_param,      count_param, sorting_param};
constexpr std::array heartbeat_params{param_description{.name = "interval",
                                                        .type = param_type::integer,
                                                        .required = true,
                                                        .low = heartbeat_seconds_min,
                                                        .high = heartbeat_seconds_max,
                                                        .meaning = "Seconds."}};
constexpr std::array subscription_params{channels_param};

constexpr std::array auth_params{
    param_description{.name = "grant_type",
                      .required = true,
                      .choices = "client_credentials client_signature refresh_token",
                      .meaning = "The kind of proof."},
    param_description{.name = "client_id", .meaning = "Of a key, except with a refresh token."},
    param_description{.name = "client_secret", .meaning = "With `client_credentials`: the account's key."},
    param_description{.name = "timestamp",
                      .type = param_type::integer,
                      .meaning = "With `client_signature`: milliseconds, at most a minute from the API's time."},
    param_description{.name = "nonce", .meaning = "With `client_signature`: any text."},
    param_description{.name = "data", .meaning = "With `client_signature`: any text."},
    param_description{.name = "signature", .meaning = "With `client_signature`: see above."},
    param_description{.name = "refresh_token", .meaning = "With `refresh_token`: it counts once."}};
constexpr param_description order_id_param{.name = "order_id", .required = true, .meaning = "Of an order of the key."};
constexpr param_description label_param{.name = "label", .required = true, .meaning = "See above."};
constexpr param_description any_currency_param{.name = "currency", .meaning = "A product's number as text, or `any`."};
constexpr std::array order_params{
    instrument_param,
    param_description{.name = "amount", .type = param_type::decimal, .required = true, .meaning = "Units."},
    param_description{.name = "type",
                      .choices = "limit market market_limit",
                      .meaning = "Otherwise `limit`; `market_limit` rests at the price at which it has traded."},
    param_description{.name = "price", .type = param_type::decimal, .meaning = "Of a limit order."},
    param_description{.name = "time_in_force",
                      .choices = "good_til_cancelled good_til_day immediate_or_cancel fill_or_kill",
                      .meaning = "Otherwise `good_til_cancelled`; `immediate_or_cancel` for a market order."},
    param_description{.name = "max_show", .type = param_type::decimal, .meaning = "Units that the book shows."},
    param_description{.name = "post_only", .type = param_type::boolean, .meaning = "Never takes liquidity."},
    param_description{.name = "reject_post_only",
                      .type = param_type::boolean,
                      .meaning = "A post-only order that would trade is refused; otherwise it gets another price."},
    param_description{.name = "reduce_only", .type = param_type::boolean, .meaning = "Only `false`."},
    param_description{.name = "label", .meaning = "See above."}};
constexpr std::array edit_params{
    order_id_param,
    param_description{.name = "amount",
                      .type = param_type::decimal,
                      .required = true,
                      .meaning = "The new total, what is filled included."},
    param_description{.name = "price", .type = param_type::decimal, .meaning = "Otherwise it stays."}};
constexpr std::array one_order{order_id_param};
constexpr std::array one_currency{currency_param};
constexpr std::array label_params{label_param, any_currency_param};
constexpr std::array own_trades_params{instrument_param, start_param, end_param, count_param, sorting_param};
constexpr std::array own_currency_trades_params{currency_param, start_param, end_param, count_param, sorting_param};
constexpr std::array order_trades_params{order_id_param, count_param, sorting_param};
constexpr std::array positions_params{any_currency_param};
constexpr std::array quotes_params{
    param_description{.name = "quotes",
                      .type = param_type::objects,
                      .required = true,
                      .meaning = "1 to 6, in different instruments: `instrument_name`, `bid` and `ask`, both objects "
                                 "with `price` and `amount`."},
    param_description{.name = "quote_id", .meaning = "A label."}};
constexpr std::array cancel_quotes_params{
    param_description{.name = "instrument_name", .meaning = "Only those in this instrument."}, any_currency_param};
constexpr std::array protection_params{
    param_description{.name = "interval",
                      .type = param_type::integer,
                      .required = true,
                      .low = 1,
                      .high = 3'600,
                      .meaning = "Seconds of a window, which begins with a fill."},
    param_description{.name = "fills_limit",
                      .type = param_type::integer,
                      .high = 1'000'000,
                      .meaning = "Fills within a window; otherwise any number."},
    param_description{.name = "quantity_limit",
                      .type = param_type::integer,
                      .high = 1'000'000'000,
                      .meaning = "Lots within a window, over all instruments; otherwise any number."}};

constexpr param_description account_param{.name = "account_id",
                                          .type = param_type::integer,
                                          .required = true,
                                          .low = 1,
                                          .high = UINT32_MAX,
                                          .meaning = "Its number."};
constexpr std::array one_account{account_param};
constexpr std::array clear_params{
    account_param, param_description{.name = "instrument_name", .meaning = "Only those in this instrument."}};
constexpr std::array limit_params{
    account_param,
    param_description{
        .name = "order_max", .type = param_type::integer, .high = UINT32_MAX, .meaning = "Lots of an order."},
    param_description{.name = "position_max",
                      .type = param_type::integer,
                      .high = UINT32_MAX,
                      .meaning = "Lots of a position, long or short."},
    param_description{.name = "open_orders_max",
                      .type = param_type::integer,
                      .high = UINT32_MAX,
                      .meaning = "Open orders at the same time."}};
constexpr std::array phase_params{
    param_description{.name = "phase",
                      .required = true,
                      .choices = "continuous halted pre_open opening_auction volatility_auction closing_auction closed",
                      .meaning = "The phase."},
    param_description{.name = "instrument_name", .meaning = "Only this instrument."}};
constexpr std::array settle_params{
    instrument_param,
    param_description{.name = "price", .type = param_type::decimal, .required = true, .meaning = "Of the settlement."}};

constexpr std::array methods{
    method_description{.id = method_id::hello,
                       .name = "public/hello",
                       .over = transport::websocket,
                       .params = hello_params,
                       .meaning = "Introduces a client; the answer has the version of the API."},
    method_description{.id = method_id::test,
                       .name = "public/test",
                       .params = test_params,
                       .meaning = "Tests the connection; also the answer to a `test_request`."},
    method_description{.id = method_id::get_time,
                       .name = "public/get_time",
                       .params = {},
                       .meaning = "The time of the API, in milliseconds since 1970."},
    method_description{.id = method_id::status,
                       .name = "public/status",
                       .params = {},
                       .meaning = "Whether the API has no connection to the venue's feed: `locked`."},
    method_description{.id = method_id::get_currencies,
                       .name = "public/get_currencies",
                       .params = {},
                       .meaning = "The products, which take the place of currencies."},
    method_description{.id = method_id::get_instruments,
                       .name = "public/get_instruments",
                       .cost = instruments_cost,
                       .params = instruments_params,
                       .meaning = "The instruments."},
    method_description{.id = method_id::get_instrument,
                       .name = "public/get_instrument",
                       .params = one_instrument,
                       .meaning = "One instrument."},
    method_description{.id = method_id::get_order_book,
                       .name = "public/get_order_book",
                       .params = book_params,
                       .meaning = "The best levels of a book, and everything that `ticker` contains."},
    method_description{.id = method_id::orders_by_instrument,
                       .name = "public/get_orders_by_instrument",
                       .cost = subscription_cost,
                       .params = book_params,
                       .meaning = "The orders of a book's best levels, each with its priority."},
    method_description{.id = method_id::ticker,
                       .name = "public/ticker",
                       .params = one_instrument,
                       .meaning = "The best prices, the last price, the day's volume."},
    method_description{.id = method_id::last_trades_by_instrument,
                       .name = "public/get_last_trades_by_instrument",
                       .params = trades_params,
                       .meaning = "The last trades of an instrument."},
    method_description{.id = method_id::last_trades_by_currency,
                       .name = "public/get_last_trades_by_currency",
                       .params = currency_trades_params,
                       .meaning = "The last trades of a product's instruments."},
    method_description{.id = method_id::latencies,
                       .name = "public/get_latencies",
                       .params = {},
                       .meaning = "How long requests have taken inside the venue, by stage, in the last ten seconds."},
    method_description{.id = method_id::set_heartbeat,
                       .name = "public/set_heartbeat",
                       .over = transport::websocket,
                       .params = heartbeat_params,
                       .meaning = "Asks for heartbeats; each `test_request` must be answered by `public/test`."},
    method_description{.id = method_id::disable_heartbeat,
                       .name = "public/disable_heartbeat",
                       .over = transport::websocket,
                       .params = {},
                       .meaning = "Ends the heartbeats."},
    method_description{.id = method_id::subscribe,
                       .name = "public/subscribe",
                       .over = transport::websocket,
                       .cost = subscription_cost,
                       .params = subscription_params,
                       .meaning = "Subscribes to channels; the answer lists those that exist."},
    method_description{.id = method_id::unsubscribe,
                       .name = "public/unsubscribe",
                       .over = transport::websocket,
                       .params = subscription_params,
                       .meaning = "Ends subscriptions; the answer lists those that have ended."},
    method_description{.id = method_id::unsubscribe_all,
                       .name = "public/unsubscribe_all",
                       .over = transport::websocket,
                       .params = {},
                       .meaning = "Ends all subscriptions of the connection."},
    method_description{.id = method_id::auth,
                       .name = "public/auth",
                       .cost = authentication_cost,
                       .params = auth_params,
                       .meaning = "Authenticates: the answer has an access token, and a WebSocket need not send it."},
    method_description{.id = method_id::logout,
                       .name = "private/logout",
                       .over = transport::websocket,
                       .params = {},
                       .meaning = "Closes the connection."},
    method_description{.id = method_id::private_subscribe,
                       .name = "private/subscribe",
                       .over = transport::websocket,
                       .cost = subscription_cost,
                       .params = subscription_params,
                       .meaning = "As `public/subscribe`, with the channels of the key."},
    method_description{.id = method_id::private_unsubscribe,
                       .name = "private/unsubscribe",
                       .over = transport::websocket,
                       .params = subscription_params,
                       .meaning = "As `public/unsubscribe`, with the channels of the key."},
    method_description{.id = method_id::buy,
                       .name = "private/buy",
                       .params = order_params,
                       .meaning = "Enters an order; the answer has the order, and its trades at once."},
    method_description{.id = method_id::sell,
                       .name = "private/sell",
                       .params = order_params,
                       .meaning = "Enters an order; the answer has the order, and its trades at once."},
    method_description{.id = method_id::edit,
                       .name = "private/edit",
                       .params = edit_params,
                       .meaning = "Changes amount or price of an open order."},
    method_description{
        .id = method_id::cancel, .name = "private/cancel", .params = one_order, .meaning = "Cancels an order."},
    method_description{.id = method_id::cancel_all,
                       .name = "private/cancel_all",
                       .params = {},
                       .meaning = "Cancels all orders of the key; the answer is their number."},
    method_description{.id = method_id::cancel_all_by_instrument,
                       .name = "private/cancel_all_by_instrument",
                       .params = one_instrument,
                       .meaning = "The same in an instrument."},
    method_description{.id = method_id::cancel_all_by_currency,
                       .name = "private/cancel_all_by_currency",
                       .params = one_currency,
                       .meaning = "The same in the instruments of a product."},
    method_description{.id = method_id::cancel_by_label,
                       .name = "private/cancel_by_label",
                       .params = label_params,
                       .meaning = "The same of the orders with a label."},
    method_description{.id = method_id::open_orders,
                       .name = "private/get_open_orders",
                       .params = {},
                       .meaning = "The open orders of the key, oldest first."},
    method_description{.id = method_id::open_orders_by_instrument,
                       .name = "private/get_open_orders_by_instrument",
                       .params = one_instrument,
                       .meaning = "The same in an instrument."},
    method_description{.id = method_id::open_orders_by_currency,
                       .name = "private/get_open_orders_by_currency",
                       .params = one_currency,
                       .meaning = "The same in the instruments of a product."},
    method_description{.id = method_id::order_state,
                       .name = "private/get_order_state",
                       .params = one_order,
                       .meaning = "An order of the key, open or closed."},
    method_description{.id = method_id::user_trades_by_instrument,
                       .name = "private/get_user_trades_by_instrument",
                       .params = own_trades_params,
                       .meaning = "The trades of the key in an instrument."},
    method_description{.id = method_id::user_trades_by_currency,
                       .name = "private/get_user_trades_by_currency",
                       .params = own_currency_trades_params,
                       .meaning = "The same in the instruments of a product."},
    method_description{.id = method_id::user_trades_by_order,
                       .name = "private/get_user_trades_by_order",
                       .params = order_trades_params,
                       .meaning = "The trades of an order, as a list."},
    method_description{.id = method_id::positions,
                       .name = "private/get_positions",
                       .params = positions_params,
                       .meaning = "The positions that the trades of the key have made."},
    method_description{.id = method_id::position,
                       .name = "private/get_position",
                       .params = one_instrument,
                       .meaning = "The position in one instrument."},
    method_description{.id = method_id::mass_quote,
                       .name = "private/mass_quote",
                       .params = quotes_params,
                       .meaning = "Enters or replaces quotes, both sides at once; each succeeds or fails by itself."},
    method_description{.id = method_id::cancel_quotes,
                       .name = "private/cancel_quotes",
                       .params = cancel_quotes_params,
                       .meaning = "Withdraws the quotes of the key; the answer is the number of their sides."},
    method_description{.id = method_id::set_mmp_config,
                       .name = "private/set_mmp_config",
                       .params = protection_params,
                       .meaning = "Limits what the account's quotes may trade; at a limit all of them are withdrawn."},
    method_description{.id = method_id::get_mmp_config,
                       .name = "private/get_mmp_config",
                       .params = {},
                       .meaning = "These limits, as the key has set them; `null` if it never has."},
    method_description{.id = method_id::reset_mmp,
                       .name = "private/reset_mmp",
                       .params = {},
                       .meaning = "Lets the account quote again after its quotes have reached a limit."},
    method_description{.id = method_id::enable_cancel_on_disconnect,
                       .name = "private/enable_cancel_on_disconnect",
                       .over = transport::websocket,
                       .params = {},
                       .meaning = "Orders that this connection enters from now on are cancelled when it ends."},
    method_description{.id = method_id::disable_cancel_on_disconnect,
                       .name = "private/disable_cancel_on_disconnect",
                       .over = transport::websocket,
                       .params = {},
                       .meaning = "Orders that this connection enters from now on stay."},
    method_description{.id = method_id::get_cancel_on_disconnect,
                       .name = "private/get_cancel_on_disconnect",
                       .over = transport::websocket,
                       .params = {},
                       .meaning = "Which of the two holds: `enabled`."},
    method_description{.id = method_id::venue_status,
                       .name = "private/get_venue_status",
                       .params = {},
                       .meaning = "For operators: commands, journal, requests that wait, sessions, of each partition."},
    method_description{.id = method_id::kill_account,
                       .name = "private/kill_account",
                       .params = one_account,
                       .meaning = "For operators: cancels the account's orders, and refuses new ones until a release."},
    method_description{.id = method_id::release_account,
                       .name = "private/release_account",
                       .params = one_account,
                       .meaning = "For operators: ends the effect of `private/kill_account`."},
    method_description{.id = method_id::clear_account,
                       .name = "private/clear_account",
                       .params = clear_params,
                       .meaning = "For operators: cancels the account's orders; the answer is their number."},
    method_description{.id = method_id::limit_account,
                       .name = "private/limit_account",
                       .params = limit_params,
                       .meaning = "For operators: replaces the account's limits. 0 or nothing means no limit."},
    method_description{.id = method_id::change_phase,
                       .name = "private/change_phase",
                       .params = phase_params,
                       .meaning = "For operators: moves an instrument, or all, to another phase."},
    method_description{.id = method_id::settle_instrument,
                       .name = "private/settle_instrument",
                       .params = settle_params,
                       .meaning = "For operators: ends an instrument; positions settle at the price."},
};

/// Calls `f` with each word.
template <class F>
void for_each_word(std::string_view words, F f) {
    while (!words.empty()) {
        const std::size_t size = std::min(words.find(' '), words.size());
        f(words.substr(0, size));
        words.remove_prefix(std::min(size + 1, words.size()));
    }
}

bool is_choice(std::string_view choices, std::string_view value) {
    bool found = choices.empty();
    for_each_word(choices, [&](std::string_view each) { found = found || each == value; });
    return found;
}

bool has_type(const param_description& p, const json_value& v) {
    switch (p.type) {
        case param_type::text: return v.kind == json_kind::text;
        case param_type::integer: return v.kind == json_kind::number && scaled_integer(v.text, 0).has_value();
        case param_type::decimal: return v.kind == json_kind::number && scaled_integer(v.text, 9).has_value();
        case param_type::boolean: return v.kind == json_kind::boolean;
        case param_type::objects:
            return v.kind == json_kind::list &&
                   std::ranges::all_of(v.items, [](const json_value& each) { return each.kind == json_kind::object; });
        case param_type::texts:
            return v.kind == json_kind::list &&
                   std::ranges::all_of(v.items, [](const json_value& each) { return each.kind == json_kind::text; });
    }
    return false;
}

bool is_in_range(const param_description& p, const json_value& v) {
    if (p.type == param_type::texts || p.type == param_type::objects) return true;
    if (p.type != param_type::integer) return is_choice(p.choices, v.text);
    const std::int64_t value = *scaled_integer(v.text, 0);
    return value >= p.low && value <= p.high && is_choice(p.choices, std::to_string(value));
}

std::string_view type_name(param_type type) {
    switch (type) {
        case param_type::text: return "string";
        case param_type::integer: return "integer";
        case param_type::decimal: return "number";
        case param_type::boolean: return "boolean";
        case param_type::texts: return "array of strings";
        case param_type::objects: return "array of objects";
    }
    return {};
}

/// The values of a parameter, for a person.
std::string values_of(const param_description& p) {
    std::string all;
    for_each_word(p.choices, [&](std::string_view each) {
        all += all.empty() ? "`" : ", `";
        all += each;
        all += '`';
    });
    if (!all.empty() || p.type != param_type::integer) return all;
    if (p.high == INT64_MAX) return "from " + std::to_string(p.low);
    return std::to_string(p.low) + " to " + std::to_string(p.high);
}

std::string path_of(const method_description& m) {
    std::string params;
    for (const param_description& p : m.params) {
        if (!params.empty()) params += ',';
        params += R"({"name":")" + std::string(p.name) + R"(","in":"query","required":)";
        params += p.required ? "true" : "false";
        params += R"(,"description":")" + std::string(p.meaning) + R"(","schema":)" + schema_of(p) + '}';
    }
    return "\"/" + std::string(m.name) + R"(":{"get":{"operationId":")" + std::string(m.name) + R"(","summary":")" +
           std::string(m.meaning) + R"(","parameters":[)" + params +
           R"(],"responses":{"200":{"description":"A response of JSON-RPC 2.0."},)"
           R"("default":{"description":"An error of JSON-RPC 2.0."}}}})";
}

}  // namespace

std::string schema_of(const param_description& p) {
    if (p.type == param_type::texts) return R"({"type":"array","items":{"type":"string"}})";
    if (p.type == param_type::objects) return R"({"type":"array","items":{"type":"object"}})";
    std::string schema = R"({"type":")" + std::string(type_name(p.type)) + '"';
    std::string choices;
    for_each_word(p.choices, [&](std::string_view each) {
        const std::string_view quote = p.type == param_type::text ? "\"" : "";
        choices.append(choices.empty() ? "" : ",").append(quote).append(each).append(quote);
    });
    if (!choices.empty()) {
        schema += R"(,"enum":[)" + choices + ']';
    } else if (p.type == param_type::integer) {
        schema += R"(,"minimum":)" + std::to_string(p.low);
        if (p.high != INT64_MAX) schema += R"(,"maximum":)" + std::to_string(p.high);
    }
    return schema + '}';
}

std::span<const method_description> all_methods() noexcept {
    return methods;
}

const method_description* find_method(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(methods, name, &method_description::name);
    return found == methods.end() ? nullptr : found;
}

const param_description* find_param(const method_description& m, std::string_view name) noexcept {
    const auto found = std::ranges::find(m.params, name, &param_description::name);
    return found == m.params.end() ? nullptr : &*found;
}

std::expected<void, api_error> check_params(const method_description& m, const json_value* params) {
    const bool needs_some = std::ranges::any_of(m.params, &param_description::required);
    if (params == nullptr && needs_some) return std::unexpected(api_error(error_code::missing_params));
    for (const param_description& p : m.params) {
        const json_value* const value = params == nullptr ? nullptr : params->find(p.name);
        const auto refuse = [&p](std::string why) {
            return std::unexpected(api_error(error_code::invalid_params, std::string(p.name), std::move(why)));
        };
        if (value == nullptr || value->kind == json_kind::null) {
            if (p.required) return refuse("is missing");
            continue;
        }
        if (!has_type(p, *value)) return refuse("expected: " + std::string(type_name(p.type)));
        if (!is_in_range(p, *value)) return refuse("expected: " + values_of(p));
    }
    return {};
}

json_value value_of_query(const param_description& p, std::string text) {
    json_value v;
    if (p.type == param_type::texts) {
        v.kind = json_kind::list;
        for_each_word(text, [&](std::string_view each) {
            json_value& item = v.items.emplace_back();
            item.kind = json_kind::text;
            item.text = each;
        });
        return v;
    }
    if (p.type == param_type::objects) {
        auto parsed = parse_json(text);
        if (parsed) return std::move(*parsed);
    }
    const bool is_truth = p.type == param_type::boolean && (text == "true" || text == "false");
    const bool is_number = p.type == param_type::integer || p.type == param_type::decimal;
    v.kind = is_truth ? json_kind::boolean : is_number ? json_kind::number : json_kind::text;
    v.truth = text == "true";
    v.text = std::move(text);
    return v;
}

std::string openapi_text(std::string_view server) {
    std::string text = R"({"openapi":"3.0.3","info":{"title":"Corro","version":"2"},"servers":[{"url":")";
    text += server;
    text += R"("}],"paths":{)";
    bool is_first = true;
    for (const method_description& m : methods) {
        if (m.over == transport::websocket) continue;
        if (!is_first) text += ',';
        is_first = false;
        text += path_of(m);
    }
    return text + "}}";
}

std::string reference_text() {
    std::string text = "| method | over | credits | what it does |\n|---|---|---:|---|\n";
    for (const method_description& m : methods) {
        text += "| `" + std::string(m.name) + "` | " + (m.over == transport::websocket ? "WebSocket" : "both") + " | " +
                std::to_string(m.cost) + " | " + std::string(m.meaning) + " |\n";
    }
    text += "\n| method | parameter | type | | values | meaning |\n|---|---|---|---|---|---|\n";
    for (const method_description& m : methods) {
        for (const param_description& p : m.params) {
            text += "| `" + std::string(m.name) + "` | `" + std::string(p.name) + "` | " +
                    std::string(type_name(p.type)) + " | " + (p.required ? "required" : "") + " | " + values_of(p) +
                    " | " + std::string(p.meaning) + " |\n";
        }
    }
    text += "\n| code | message | HTTP | meaning |\n|---:|---|---:|---|\n";
    for (const error_description& e : all_errors()) {
        text += "| " + std::to_string(static_cast<std::int32_t>(e.code)) + " | `" + std::string(e.message) + "` | " +
                std::to_string(e.http_status) + " | " + std::string(e.meaning) + " |\n";
    }
    return text;
}

}  // namespace corro::api
