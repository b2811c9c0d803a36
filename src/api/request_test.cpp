// SPDX-License-Identifier: Apache-2.0
// Requests: what is refused, and with which code; what the methods answer.

#include "api/request.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "api/credits.hpp"
#include "api/public_methods.hpp"
#include "api/test_market.hpp"

namespace corro::api {
namespace {

using testing::test_market;

struct bad_request {
    std::string text;
    int code = 0;
    std::string_view detail;  ///< data.param, or the beginning of data.reason; empty for none
    std::string_view id = "";
};

std::string call(std::string_view method, std::string_view params) {
    return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":)" + std::string(params) + "}";
}

/// Each kind of wrong request.
std::vector<bad_request> bad_requests() {
    const std::string deep = std::string(9, '[') + std::string(9, ']');
    std::string many = "[0";
    for (int k = 0; k < 2'000; ++k) many += ",0";
    many += "]";
    return {
        // Not JSON.
        {"", -32700, ""},
        {"hello", -32700, ""},
        {R"({"jsonrpc":"2.0","id":1,"method":"public/test")", -32700, ""},
        {R"({"jsonrpc":"2.0","id":1,"method":"public/test"}x)", -32700, ""},
        {R"({"jsonrpc":"2.0",id:1,"method":"public/test"})", -32700, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}", -32700, ""},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\nb\"}", -32700, ""},
        {R"({"jsonrpc":"2.0","id":1e999,"method":"public/test"})", -32700, ""},
        // Too much of it.
        {std::string(request_bytes_max + 1, ' '), -32600, ""},
        {deep, -32600, ""},
        {many, -32600, ""},
        // JSON, but no request.
        {"[]", 11050, "batches"},
        {R"([{"jsonrpc":"2.0","id":1,"method":"public/test"}])", 11050, "batches"},
        {"null", 11050, "expected an object"},
        {"17", 11050, "expected an object"},
        {R"("public/test")", 11050, "expected an object"},
        {"{}", 11050, "id is missing"},
        {R"({"jsonrpc":"2.0","method":"public/test"})", 11050, "id is missing"},
        {R"({"jsonrpc":"2.0","id":null,"method":"public/test"})", 11050, "id must be"},
        {R"({"jsonrpc":"2.0","id":[1],"method":"public/test"})", 11050, "id must be"},
        {R"({"jsonrpc":"2.0","id":true,"method":"public/test"})", 11050, "id must be"},
        {R"({"id":1,"method":"public/test"})", 11050, "jsonrpc must be", "1"},
        {R"({"jsonrpc":"1.0","id":1,"method":"public/test"})", 11050, "jsonrpc must be", "1"},
        {R"({"jsonrpc":2.0,"id":1,"method":"public/test"})", 11050, "jsonrpc must be", "1"},
        {R"({"jsonrpc":"2.0","id":"a","method":7})", 11050, "method must be", "\"a\""},
        {R"({"jsonrpc":"2.0","id":1})", 11050, "method must be", "1"},
        {call("public/test", "[]"), 11050, "params must be", "1"},
        {call("public/test", "\"x\""), 11050, "params must be", "1"},
        {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"public/test"})", 11050, "a member occurs twice"},
        {call("public/ticker", R"({"instrument_name":"ONE","instrument_name":"TWO.5"})"), 11050, "a member occurs"},
        // A request of another method.
        {call("public/tests", "{}"), -32601, "", "1"},
        {call("", "{}"), -32601, "", "1"},
        {call("PUBLIC/TEST", "{}"), -32601, "", "1"},
        {call("subscription", "{}"), -32601, "", "1"},
        // Parameters.
        {R"({"jsonrpc":"2.0","id":1,"method":"public/ticker"})", -32000, "", "1"},
        {call("public/ticker", "null"), -32000, "", "1"},
        {call("public/ticker", "{}"), -32602, "instrument_name", "1"},
        {call("public/ticker", R"({"instrument_name":null})"), -32602, "instrument_name", "1"},
        {call("public/ticker", R"({"instrument_name":1})"), -32602, "instrument_name", "1"},
        {call("public/ticker", R"({"instrument_name":["ONE"]})"), -32602, "instrument_name", "1"},
        {call("public/ticker", R"({"instrument_name":"THREE"})"), 10020, "instrument_name", "1"},
        {call("public/ticker", R"({"instrument_name":""})"), 10020, "instrument_name", "1"},
        {call("public/ticker", R"({"instrument_name":"ONE\u0000"})"), 10020, "instrument_name", "1"},
        {call("public/get_order_book", R"({"instrument_name":"ONE","depth":3})"), -32602, "depth", "1"},
        {call("public/get_order_book", R"({"instrument_name":"ONE","depth":"5"})"), -32602, "depth", "1"},
        {call("public/get_order_book", R"({"instrument_name":"ONE","depth":1.5})"), -32602, "depth", "1"},
        {call("public/get_order_book", R"({"instrument_name":"ONE","depth":-1})"), -32602, "depth", "1"},
        {call("public/get_last_trades_by_instrument", R"({"instrument_name":"ONE","count":0})"), -32602, "count", "1"},
        {call("public/get_last_trades_by_instrument", R"({"instrument_name":"ONE","count":1001})"), -32602, "count",
         "1"},
        {call("public/get_last_trades_by_instrument", R"({"instrument_name":"ONE","start_seq":99999999999999999999})"),
         -32602, "start_seq", "1"},
        {call("public/get_last_trades_by_instrument", R"({"instrument_name":"ONE","sorting":"up"})"), -32602, "sorting",
         "1"},
        {call("public/get_last_trades_by_currency", R"({"currency":"BTC"})"), -32602, "currency", "1"},
        {call("public/get_last_trades_by_currency", R"({"currency":"99999999999"})"), -32602, "currency", "1"},
        {call("public/get_instruments", R"({"currency":"7 "})"), -32602, "currency", "1"},
        {call("public/get_instruments", R"({"currency":"any","kind":"bond"})"), -32602, "kind", "1"},
        {call("public/get_instruments", R"({"currency":"any","expired":"true"})"), -32602, "expired", "1"},
        {call("public/set_heartbeat", R"({"interval":9})"), -32602, "interval", "1"},
        {call("public/set_heartbeat", R"({"interval":1e9})"), -32602, "interval", "1"},
        {call("public/subscribe", R"({"channels":"book.ONE.raw"})"), -32602, "channels", "1"},
        {call("public/subscribe", R"({"channels":[1]})"), -32602, "channels", "1"},
        {call("public/auth", R"({"grant_type":"password"})"), -32602, "grant_type", "1"},
        {call("public/auth", R"({"grant_type":"client_signature","timestamp":"now"})"), -32602, "timestamp", "1"},
        {call("private/buy", R"({"instrument_name":"ONE"})"), -32602, "amount", "1"},
        {call("private/buy", R"({"instrument_name":"ONE","amount":"1"})"), -32602, "amount", "1"},
        {call("private/buy", R"({"instrument_name":"ONE","amount":1,"price":0.0000000001})"), -32602, "price", "1"},
        {call("private/sell", R"({"instrument_name":"ONE","amount":1,"type":"stop"})"), -32602, "type", "1"},
        {call("private/sell", R"({"instrument_name":"ONE","amount":1,"post_only":1})"), -32602, "post_only", "1"},
        {call("private/cancel", R"({"order_id":17})"), -32602, "order_id", "1"},
        {call("private/cancel_by_label", "{}"), -32602, "label", "1"},
        {call("public/test", R"({"expected_result":"other"})"), -32602, "expected_result", "1"},
        {call("public/test", R"({"expected_result":"exception"})"), 11094, "", "1"},
    };
}

std::expected<std::string, api_error> answer_of(const test_market& m, const read_request& read) {
    if (!read.what) return std::unexpected(read.what.error());
    public_state state;
    state.markets = &m.view;
    state.is_joined = true;
    state.now_ms = 1'700'000'000'123;
    state.currency = "EUR";
    return answer_public(*read.what, state);
}

TEST(request, every_kind_of_bad_request_has_its_code) {
    const test_market m;
    const std::vector<bad_request> all = bad_requests();
    EXPECT_GE(all.size(), 40U);
    std::set<int> codes;
    for (const bad_request& each : all) {
        SCOPED_TRACE(each.text.substr(0, 100));
        const read_request read = request_of_json(each.text);
        const auto answer = answer_of(m, read);
        ASSERT_FALSE(answer.has_value());
        const api_error& error = answer.error();
        EXPECT_EQ(static_cast<int>(error.code), each.code);
        const bool in_reason = !each.detail.empty() && error.param.empty();
        EXPECT_EQ(in_reason ? error.reason.substr(0, each.detail.size()) : error.param, each.detail);
        EXPECT_EQ(read.id, each.id);
        codes.insert(each.code);
    }
    // The others depend on the connection, on the venue, or on the client's authentication.
    EXPECT_EQ(codes, (std::set<int>{-32700, -32602, -32601, -32600, -32000, 10020, 11050, 11094}));
}

std::string ok(const test_market& m, std::string_view method, std::string_view params) {
    const auto answer = answer_of(m, request_of_json(call(method, params)));
    if (!answer) return "error " + std::to_string(static_cast<int>(answer.error().code)) + " " + answer.error().reason;
    return *answer;
}

TEST(request, the_answers_have_the_documented_members) {
    test_market m;
    m.set_level(1, domain::side::buy, -2, 5);
    m.set_level(1, domain::side::buy, -3, 6);
    m.set_level(1, domain::side::sell, 1, 7);
    EXPECT_EQ(ok(m, "public/test", "{}"), R"({"version":"2.0.0"})");
    EXPECT_EQ(ok(m, "public/get_time", "{}"), "1700000000123");
    EXPECT_EQ(ok(m, "public/status", "{}"), R"({"locked":"false","locked_indices":[]})");
    EXPECT_EQ(ok(m, "public/get_currencies", "{}"),
              R"([{"currency":"7","currency_long":"Product 7","coin_type":"PRODUCT","fee_precision":0},)"
              R"({"currency":"8","currency_long":"Product 8","coin_type":"PRODUCT","fee_precision":0}])");
    EXPECT_EQ(ok(m, "public/get_instrument", R"({"instrument_name":"TWO.5"})"),
              R"({"instrument_name":"TWO.5","instrument_id":2,"kind":"option","instrument_type":"linear",)"
              R"("base_currency":"8","quote_currency":"EUR","counter_currency":"EUR","settlement_currency":"EUR",)"
              R"("settlement_period":"month","tick_size":0.25,"tick_size_steps":[],"min_trade_amount":10,)"
              R"("contract_size":10,"expiration_timestamp":1800000000000,"creation_timestamp":0,)"
              R"("maker_commission":0,"taker_commission":0,"option_type":"put","strike":5.5,"is_active":true})");
    EXPECT_EQ(ok(m, "public/get_order_book", R"({"instrument_name":"ONE","depth":1})"),
              R"({"instrument_name":"ONE","timestamp":1700000000012,"state":"open","best_bid_price":-0.5,)"
              R"("best_bid_amount":5,"best_ask_price":0.25,"best_ask_amount":7,"last_price":null,"min_price":-100,)"
              R"("max_price":10000,"open_interest":0,"mark_price":null,"index_price":null,"settlement_price":null,)"
              R"("stats":{"volume":0,"high":null,"low":null,"price_change":null},"change_id":12,)"
              R"("bids":[[-0.5,5]],"asks":[[0.25,7]]})");
}

TEST(request, instruments_are_chosen_by_product_kind_and_whether_they_have_ended) {
    test_market m;
    const auto count = [&m](std::string_view params) {
        const auto list = parse_json(ok(m, "public/get_instruments", params));
        return list ? static_cast<int>(list->items.size()) : -1;
    };
    EXPECT_EQ(count("{}"), 2);
    EXPECT_EQ(count(R"({"currency":"any","kind":"any"})"), 2);
    EXPECT_EQ(count(R"({"currency":"8"})"), 1);
    EXPECT_EQ(count(R"({"currency":"9"})"), 0);
    EXPECT_EQ(count(R"({"kind":"future"})"), 1);
    EXPECT_EQ(count(R"({"currency":"8","kind":"future"})"), 0);
    EXPECT_EQ(count(R"({"expired":true})"), 0);
    m.take(m.event(domain::event_kind::instrument_settled, 2), true);
    EXPECT_EQ(count(R"({"expired":true})"), 1);
    EXPECT_EQ(count("{}"), 1);
}

TEST(request, trades_are_found_by_number_and_by_time) {
    test_market m;
    for (std::uint32_t k = 1; k <= 12; ++k) m.trade(k % 2 == 0 ? 1 : 2, 40, k, domain::side::buy);
    const auto numbers = [&m](std::string_view method, std::string_view params) {
        std::string all;
        const auto found = parse_json(ok(m, method, params));
        if (!found) return std::string("error");
        for (const json_value& each : found->find("trades")->items) all += each.find("trade_seq")->text + " ";
        return all + (found->find("has_more")->truth ? "more" : "all");
    };
    const std::string_view one = "public/get_last_trades_by_instrument";
    EXPECT_EQ(numbers(one, R"({"instrument_name":"ONE"})"), "12 10 8 6 4 2 all");
    EXPECT_EQ(numbers(one, R"({"instrument_name":"ONE","count":2})"), "12 10 more");
    EXPECT_EQ(numbers(one, R"({"instrument_name":"ONE","count":2,"sorting":"asc"})"), "2 4 more");
    EXPECT_EQ(numbers(one, R"({"instrument_name":"ONE","start_seq":4,"end_seq":8})"), "8 6 4 all");
    EXPECT_EQ(numbers(one, R"({"instrument_name":"ONE","start_timestamp":1700000000019})"), "12 10 all");
    EXPECT_EQ(numbers(one, R"({"instrument_name":"ONE","end_timestamp":1700000000013})"), "4 2 all");
    const std::string_view many = "public/get_last_trades_by_currency";
    EXPECT_EQ(numbers(many, R"({"currency":"any"})"), "12 11 10 9 8 7 6 5 4 3 more");
    EXPECT_EQ(numbers(many, R"({"currency":"any","count":3,"sorting":"asc"})"), "1 2 3 more");
    EXPECT_EQ(numbers(many, R"({"currency":"8","count":2})"), "11 9 more");
    EXPECT_EQ(numbers(many, R"({"currency":"8","kind":"spot"})"), "all");
}

TEST(request, a_deep_book_costs_more_credits) {
    test_market m;
    for (std::int64_t k = 1; k <= 600; ++k) {
        m.set_level(1, domain::side::buy, 1'000 - k, 1);
        m.set_level(1, domain::side::sell, 1'000 + k, 1);
    }
    const auto cost = [&m](const std::string& query) {
        const read_request read = request_of_query("public/get_order_book", query);
        EXPECT_TRUE(read.what.has_value()) << query;
        return cost_of(*read.what, m.view);
    };
    EXPECT_EQ(cost("instrument_name=ONE"), request_cost);
    EXPECT_EQ(cost("instrument_name=ONE&depth=100"), request_cost);
    EXPECT_EQ(cost("instrument_name=ONE&depth=1000"), request_cost + levels_cost(1'200));
    EXPECT_EQ(cost("instrument_name=TWO.5&depth=1000"), request_cost) << "it has few";
    EXPECT_EQ(cost("instrument_name=NONE&depth=1000"), request_cost);
}

TEST(request, without_the_feed_nothing_about_the_market_is_answered) {
    const test_market m;
    public_state state;
    state.markets = &m.view;
    for (const method_description& each : all_methods()) {
        if (each.over == transport::websocket || each.is_private() || each.id == method_id::auth) continue;
        request r;
        r.method = &each;
        const auto answer = answer_public(r, state);
        const bool needs_none = each.id == method_id::test || each.id == method_id::get_time ||
                                each.id == method_id::status || each.id == method_id::latencies;
        ASSERT_EQ(answer.has_value(), needs_none) << each.name;
        if (!answer) {
            EXPECT_EQ(answer.error().code, error_code::system_maintenance) << each.name;
        }
        if (each.id == method_id::status) {
            EXPECT_EQ(*answer, R"({"locked":"true","locked_indices":[]})");
        }
    }
}

TEST(request, a_query_is_the_same_request) {
    const test_market m;
    const auto get = [&m](std::string_view method, std::string_view query) {
        const auto answer = answer_of(m, request_of_query(method, query));
        return answer ? *answer : std::to_string(static_cast<int>(answer.error().code));
    };
    EXPECT_EQ(get("public/get_order_book", "instrument_name=TWO.5&depth=1000"),
              ok(m, "public/get_order_book", R"({"instrument_name":"TWO.5","depth":1000})"));
    EXPECT_EQ(get("public/get_instruments", "currency=any&expired=false&unknown=%20"),
              ok(m, "public/get_instruments", "{}"));
    EXPECT_EQ(get("public/ticker", "instrument_name=%4f%4E%45"),
              ok(m, "public/ticker", R"({"instrument_name":"ONE"})"));
    EXPECT_EQ(get("public/ticker", ""), "-32000");
    EXPECT_EQ(get("public/ticker", "other=1"), "-32602");
    EXPECT_EQ(get("public/ticker", "instrument_name=%4"), "11050");
    EXPECT_EQ(get("public/ticker", "instrument_name=%00"), "11050");
    EXPECT_EQ(get("public/ticker", "instrument_name=ONE&instrument_name=ONE"), "11050");
    EXPECT_EQ(get("public/ticker/", "instrument_name=ONE"), "-32601");
    EXPECT_EQ(get("public/get_order_book", "instrument_name=ONE&depth=five"), "-32602");
    EXPECT_EQ(get("public/get_instruments", "expired=1"), "-32602");
    EXPECT_EQ(get("public/get_time", "&&"), "1700000000123");
}

TEST(request, responses_have_the_id_as_it_was_sent_and_times) {
    request_times times;
    times.in_us = 5;
    times.out_us = 7;
    EXPECT_EQ(request_of_json(R"({"jsonrpc":"2.0","id":9007199254740993,"method":"public/test"})").id,
              "9007199254740993");
    EXPECT_EQ(request_of_json(R"({"jsonrpc":"2.0","id":"a\"b","method":"public/test"})").id, R"("a\"b")");
    EXPECT_EQ(response_text("3", "[1]", times, true),
              R"({"jsonrpc":"2.0","id":3,"result":[1],"usIn":5,"usOut":7,"usDiff":2,"testnet":true})");
    EXPECT_EQ(error_text("", api_error(error_code::invalid_params, "depth", "expected: 1"), times, false),
              R"({"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params",)"
              R"("data":{"reason":"expected: 1","param":"depth"}},"usIn":5,"usOut":7,"usDiff":2,"testnet":false})");
}

}  // namespace
}  // namespace corro::api
