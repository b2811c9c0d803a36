// SPDX-License-Identifier: Apache-2.0
// Trading by the API, beside a venue in a world in memory: authentication, orders, their states and trades, what is
// cancelled with a connection, and what is left after restarts of the API and of the venue.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/authentication.hpp"
#include "api_world_fixture.hpp"
#include "base/random.hpp"
#include "io/loop/timer.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using api::json_value;
using testing::living_api;
using testing::living_venue;
using testing::web_client;

std::string secret_of(int byte) {
    std::string text;
    for (int k = 0; k < 32; ++k) text += "0" + std::to_string(byte);
    return text;
}

/// Accounts 1 to 3; the third is an operator.
constexpr std::array<const char*, 3> names{"alice", "bob", "operator"};

std::vector<api::api_key> three_keys() {
    std::vector<api::api_key> keys(names.size());
    for (std::uint32_t k = 0; k < keys.size(); ++k) {
        keys[k].client_id = names[k];
        keys[k].secret.fill(static_cast<std::byte>(k + 1));
        keys[k].account = domain::account_id{k + 1};
        keys[k].session_number = 4;
    }
    return keys;
}

/// The text at a path such as "result.order.order_id"; empty if there is none.
std::string at(const json_value& v, std::string_view path) {
    const json_value* found = &v;
    while (!path.empty()) {
        const std::size_t size = std::min(path.find('.'), path.size());
        const std::string_view name = path.substr(0, size);
        path.remove_prefix(std::min(size + 1, path.size()));
        found = found->find(name);
        if (found == nullptr) return "";
    }
    if (found->kind == api::json_kind::boolean) return found->truth ? "true" : "false";
    if (found->kind == api::json_kind::list) return std::to_string(found->items.size());
    return found->text;
}

std::string credentials(const std::string& id, const std::string& secret) {
    return R"({"grant_type":"client_credentials","client_id":")" + id + R"(","client_secret":")" + secret + R"("})";
}

int number_of(std::string_view name) {
    return static_cast<int>(std::ranges::find(names, name) - names.begin()) + 1;
}

io::task<bool> log_on(web_client* c, io::endpoint where, std::string name) {
    const bool is_open = co_await c->connect(where);
    if (!is_open) co_return false;
    const json_value told = co_await c->call("public/auth", credentials(name, secret_of(number_of(name))));
    EXPECT_EQ(at(told, "result.expires_in"), "900");
    co_return at(told, "result.token_type") == "bearer";
}

std::string order(std::string_view amount, std::string_view price, std::string_view more = "") {
    return R"({"instrument_name":"ONE","amount":)" + std::string(amount) + R"(,"price":)" + std::string(price) +
           std::string(more) + "}";
}

class api_trading : public ::testing::Test {
 protected:
    api_trading() : api_trading(node::configuration().session_answers_kept) {}
    /// @param answers_kept  For each session.
    explicit api_trading(std::size_t answers_kept) {
        configuration_.session_answers_kept = answers_kept;
        configuration_.busy_poll = 0us;
        configuration_.journal_directory = "/var/corro/journal";
        configuration_.order_entry_listen = "127.0.0.1:7101";
        configuration_.feed_listen = "127.0.0.1:7102";
        configuration_.snapshot_listen = "127.0.0.1:7103";
        gateway::account third = configuration_.accounts.back();
        third.id = domain::account_id{3};
        third.name = "account 3";
        third.key.fill(std::byte{3});
        third.is_operator = true;
        configuration_.accounts.push_back(third);
        start_venue();
        start_api();
    }
    void start_venue() { venue_ = std::make_unique<living_venue>(world_, configuration_); }
    void start_api() {
        api_ = std::make_unique<living_api>(world_, configuration_, io::endpoint::loopback(7102),
                                            io::endpoint::loopback(7103), io::endpoint::loopback(7101), three_keys());
        play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(1s)); }());
    }
    void play(io::task<void> work) { io::block_on(clients_, std::move(work)); }
    [[nodiscard]] io::endpoint where() const { return (*api_)->where(); }

    sim::world world_{37};
    node::configuration configuration_ = testing::small_venue();
    io::context clients_{io::context_options(world_.machine())};
    std::unique_ptr<living_venue> venue_;
    std::unique_ptr<living_api> api_;
};

io::task<void> prove_oneself(io::endpoint where) {
    web_client c;
    const bool is_open = co_await c.connect(where);
    EXPECT_TRUE(is_open);
    if (!is_open) co_return;
    json_value told = co_await c.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "error.code"), "10000");
    told = co_await c.call("public/auth", credentials("alice", secret_of(2)));
    EXPECT_EQ(at(told, "error.code"), "13004") << "the secret of another key";
    told = co_await c.call("public/auth", credentials("carol", secret_of(1)));
    EXPECT_EQ(at(told, "error.code"), "13004");
    told = co_await c.call("public/auth", credentials("alice", secret_of(1)));
    const std::string token = at(told, "result.access_token");
    const std::string refresh = at(told, "result.refresh_token");
    told = co_await c.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "result"), "0");
    co_await c.listen(899s);
    told = co_await c.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "result"), "0");
    co_await c.listen(2s);
    told = co_await c.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "error.code"), "13009") << "it has expired";
    told = co_await c.call("private/get_open_orders", R"({"access_token":")" + token + R"("})");
    EXPECT_EQ(at(told, "error.code"), "13009");
    const std::string again = R"({"grant_type":"refresh_token","refresh_token":")" + refresh + R"("})";
    told = co_await c.call("public/auth", again);
    EXPECT_EQ(at(told, "result.token_type"), "bearer");
    told = co_await c.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "result"), "0");
    told = co_await c.call("public/auth", again);
    EXPECT_EQ(at(told, "error.code"), "13009") << "a refresh token counts once";
    // By a signature.
    told = co_await c.call("public/get_time", "{}");
    const std::string now = at(told, "result");
    const std::string signature = api::signature_of(secret_of(2), now + "\nn\n");
    const std::string by_signature = R"({"grant_type":"client_signature","client_id":"bob","timestamp":)" + now +
                                     R"(,"nonce":"n","signature":")" + signature + R"("})";
    told = co_await c.call("public/auth", by_signature);
    EXPECT_EQ(at(told, "result.token_type"), "bearer");
    told = co_await c.call("public/auth", by_signature);
    EXPECT_EQ(at(told, "error.code"), "13004") << "a signature counts once";
    told = co_await c.call("private/logout", "{}");
    EXPECT_EQ(at(told, "result"), "ok");
    const json_value end = co_await c.next();
    EXPECT_EQ(end.kind, api::json_kind::null);
}

/// Signs in as bob with a given time.
io::task<void> sign_in(io::endpoint where, std::string timestamp, json_value* told) {
    web_client c;
    const bool is_open = co_await c.connect(where);
    EXPECT_TRUE(is_open);
    if (!is_open) co_return;
    if (timestamp.empty()) timestamp = at(co_await c.call("public/get_time", "{}"), "result");
    const std::string signature = api::signature_of(secret_of(2), timestamp + "\nn\n");
    *told = co_await c.call("public/auth", R"({"grant_type":"client_signature","client_id":"bob","timestamp":)" +
                                               timestamp + R"(,"nonce":"n","signature":")" + signature + R"("})");
    told->names.emplace_back("timestamp");
    told->items.emplace_back().text = timestamp;
}

TEST_F(api_trading, a_signature_counts_once_also_when_the_api_starts_again) {
    play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(1s)); }());
    json_value told;
    play(sign_in(where(), "", &told));
    EXPECT_EQ(at(told, "result.token_type"), "bearer") << at(told, "error.data.reason");
    const std::string timestamp = at(told, "timestamp");
    api_.reset();
    start_api();
    play(sign_in(where(), timestamp, &told));
    EXPECT_EQ(at(told, "error.code"), "13004");
    EXPECT_NE(at(told, "error.data.reason").find("the API has started since"), std::string::npos);
    play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(1s)); }());
    play(sign_in(where(), timestamp, &told));
    EXPECT_EQ(at(told, "error.code"), "13004");
    play(sign_in(where(), "", &told));
    EXPECT_EQ(at(told, "result.token_type"), "bearer") << "it was signed after the start";
}

TEST_F(api_trading, a_client_proves_by_secret_or_signature_and_tokens_expire) {
    play(prove_oneself(where()));
}

io::task<void> trade_by_hand(io::endpoint where) {
    web_client alice;
    web_client bob;
    const bool is_alice = co_await log_on(&alice, where, "alice");
    const bool is_bob = co_await log_on(&bob, where, "bob");
    EXPECT_TRUE(is_alice && is_bob);
    if (!is_alice || !is_bob) co_return;
    json_value told = co_await bob.call(
        "private/subscribe", R"({"channels":["user.changes.any.any.raw","user.orders.ONE.100ms","user.x.y"]})");
    EXPECT_EQ(at(told, "result"), "2");

    // A resting order, and one that trades with a part of it.
    told = co_await bob.call("private/sell", order("10", "100.25", R"(,"label":"maker","post_only":true)"));
    const std::string id = at(told, "result.order.order_id");
    EXPECT_EQ(at(told, "result.order.order_state"), "open");
    EXPECT_EQ(at(told, "result.order.label"), "maker");
    EXPECT_EQ(at(told, "result.order.post_only"), "true");
    EXPECT_EQ(at(told, "result.trades"), "0");
    told = co_await alice.call("private/buy", order("4", "100.5", R"(,"label":"taker")"));
    EXPECT_EQ(at(told, "result.order.order_state"), "filled");
    EXPECT_EQ(at(told, "result.order.price"), "100.5") << "its limit, not the price of its fill";
    EXPECT_EQ(at(told, "result.order.average_price"), "100.25");
    EXPECT_EQ(at(told, "result.trades"), "1");
    co_await bob.listen(1s);
    told = co_await bob.call("private/get_order_state", R"({"order_id":")" + id + R"("})");
    EXPECT_EQ(at(told, "result.filled_amount"), "4");
    told = co_await bob.call("private/get_user_trades_by_order", R"({"order_id":")" + id + R"("})");
    EXPECT_EQ(at(told, "result"), "1");
    EXPECT_EQ(told.find("result")->items.empty() ? "" : at(told.find("result")->items[0], "liquidity"), "M");

    // Another price, then too late.
    told = co_await bob.call("private/edit", R"({"order_id":")" + id + R"(","amount":8,"price":101})");
    EXPECT_EQ(at(told, "result.order.price"), "101");
    EXPECT_EQ(at(told, "result.order.amount"), "8");
    told = co_await bob.call("private/cancel", R"({"order_id":")" + id + R"("})");
    EXPECT_EQ(at(told, "result.order_state"), "cancelled");
    told = co_await bob.call("private/cancel", R"({"order_id":")" + id + R"("})");
    EXPECT_EQ(at(told, "error.code"), "11044");
    // Bob's notifications: entered, filled, its trade, edited, cancelled, in this order.
    co_await bob.listen(1s);
    std::string states;
    for (const json_value& each : bob.own) {
        if (at(each, "params.channel") != "user.changes.any.any.raw") continue;
        const json_value& data = *each.find("params")->find("data");
        for (const json_value& o : data.find("orders")->items) states += at(o, "order_state") + at(o, "amount") + " ";
        for (const json_value& t : data.find("trades")->items) states += "trade" + at(t, "amount") + " ";
        for (const json_value& p : data.find("positions")->items) states += "position" + at(p, "size") + " ";
    }
    EXPECT_EQ(states, "open10 open10 trade4 position-4 open8 cancelled8 ");
    // At the market, and at once or not at all.
    static_cast<void>(co_await bob.call("private/sell", order("3", "110")));
    told = co_await alice.call("private/buy", R"({"instrument_name":"ONE","amount":2,"type":"market"})");
    EXPECT_EQ(at(told, "result.order.order_state"), "filled") << at(told, "error.data.reason");
    EXPECT_EQ(at(told, "result.order.order_type"), "market");
    EXPECT_EQ(at(told, "result.order.time_in_force"), "immediate_or_cancel");
    told = co_await alice.call("private/buy", order("5", "110", R"(,"time_in_force":"immediate_or_cancel")"));
    EXPECT_EQ(at(told, "result.order.order_state"), "cancelled");
    EXPECT_EQ(at(told, "result.order.filled_amount"), "1");
    EXPECT_EQ(at(told, "result.trades"), "1");
    // Others' orders do not exist.
    told = co_await alice.call("private/cancel", R"({"order_id":")" + id + R"("})");
    EXPECT_EQ(at(told, "error.code"), "10004");
    told = co_await alice.call("private/get_position", R"({"instrument_name":"ONE"})");
    EXPECT_EQ(at(told, "result.size"), "7");
}

TEST_F(api_trading, orders_rest_trade_change_and_end) {
    play(trade_by_hand(where()));
}

struct refusal {
    std::string method;
    std::string params;
    std::string code;
};

io::task<void> be_refused(io::endpoint where) {
    web_client c;
    const bool is_on = co_await log_on(&c, where, "alice");
    EXPECT_TRUE(is_on);
    if (!is_on) co_return;
    static_cast<void>(co_await c.call("private/sell", order("1", "100")));
    const std::vector<refusal> all{
        {"private/buy", order("1", "100.1"), "10043"},
        {"private/buy", order("1.5", "100"), "10021"},
        {"private/buy", order("0", "100"), "10021"},
        {"private/buy", order("-1", "100"), "10021"},
        {"private/buy", order("1", "-100"), "10011"},
        {"private/buy", order("1", "6000"), "10011"},
        {"private/buy", R"({"instrument_name":"ONE","amount":1})", "-32602"},
        {"private/buy", R"({"instrument_name":"NONE","amount":1,"price":1})", "10020"},
        {"private/buy", order("1", "100", R"(,"reduce_only":true)"), "11047"},
        {"private/buy", order("1", "100", R"(,"post_only":true,"reject_post_only":true)"), "11054"},
        {"private/buy", order("2", "100", R"(,"time_in_force":"fill_or_kill")"), "11030"},
        {"private/buy", order("1", "99", R"(,"label":")" + std::string(65, 'x') + R"(")"), "-32602"},
        {"private/cancel", R"({"order_id":"x"})", "10025"},
        {"private/cancel", R"({"order_id":"99999"})", "10004"},
        {"private/get_order_state", R"({"order_id":"0"})", "10025"},
        {"private/edit", R"({"order_id":"99999","amount":1})", "10004"},
    };
    for (const refusal& each : all) {
        const json_value told = co_await c.call(each.method, each.params);
        EXPECT_EQ(at(told, "error.code"), each.code) << each.params << " " << at(told, "error.data.reason");
    }
    const json_value open = co_await c.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(open, "result"), "1") << "none of them had an effect";
}

TEST_F(api_trading, refusals_have_their_codes) {
    play(be_refused(where()));
}

io::task<void> cancel_many(io::endpoint where) {
    web_client c;
    const bool is_on = co_await log_on(&c, where, "alice");
    EXPECT_TRUE(is_on);
    if (!is_on) co_return;
    json_value told = co_await c.call("private/cancel_all", "{}");
    EXPECT_EQ(at(told, "result"), "0");
    for (int k = 0; k < 3; ++k) {
        for (const char* label : {"a", "a label of a longer kind"}) {
            static_cast<void>(
                co_await c.call("private/buy", order("1", "50", R"(,"label":")" + std::string(label) + R"(")")));
            co_await c.listen(200ms);
        }
    }
    static_cast<void>(co_await c.call("private/buy", R"({"instrument_name":"TWO","amount":2,"price":50})"));
    told = co_await c.call("private/get_open_orders_by_instrument", R"({"instrument_name":"ONE"})");
    EXPECT_EQ(at(told, "result"), "6");
    told = co_await c.call("private/cancel_by_label", R"({"label":"a label of a longer kind"})");
    EXPECT_EQ(at(told, "result"), "3");
    told = co_await c.call("private/buy", order("1", "50", R"(,"label":"another long label")"));
    const std::string answered = at(told, "result.order.label");
    EXPECT_TRUE(answered.starts_with("#")) << answered;
    told = co_await c.call("private/cancel_by_label", R"({"label":")" + answered + R"("})");
    EXPECT_EQ(at(told, "result"), "1") << answered;
    told = co_await c.call("private/cancel_all_by_instrument", R"({"instrument_name":"TWO"})");
    EXPECT_EQ(at(told, "result"), "1");
    told = co_await c.call("private/cancel_all", "{}");
    EXPECT_EQ(at(told, "result"), "3");
    told = co_await c.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "result"), "0");
}

TEST_F(api_trading, orders_are_cancelled_by_label_by_instrument_and_all) {
    play(cancel_many(where()));
}

/// Trades until the venue takes no more, and asks for what it still takes.
io::task<void> fill_the_disk(io::endpoint where, std::string* reason) {
    web_client c;
    const bool is_on = co_await log_on(&c, where, "alice");
    EXPECT_TRUE(is_on);
    for (int k = 0; is_on && k < 5'000 && reason->empty(); ++k) {
        const json_value told = co_await c.call("private/buy", order("1", "50"));
        *reason = at(told, "error.message") + at(told, "error.data.reason");
        co_await c.listen(100ms);
    }
    const json_value told = co_await c.call("private/cancel_all", "{}");
    EXPECT_NE(at(told, "result"), "") << at(told, "error.data.reason");
    EXPECT_NE(at(told, "result"), "0");
}

TEST_F(api_trading, an_order_that_the_venue_cannot_take_is_refused_with_the_venues_word) {
    api_.reset();
    venue_.reset();
    configuration_.journal_segment_bytes = 64 * 1024;
    start_venue();
    start_api();
    world_.disk().faults().capacity_bytes = 400 * 1024;
    std::string reason;
    play(fill_the_disk(where(), &reason));
    EXPECT_EQ(reason, "retrythe venue did not take the request: overloaded");
}

std::string quote(std::string_view instrument, int bid, int ask, int amount) {
    const auto side = [amount](int price) {
        return R"({"price":)" + std::to_string(price) + R"(,"amount":)" + std::to_string(amount) + "}";
    };
    return R"({"instrument_name":")" + std::string(instrument) + R"(","bid":)" + side(bid) + R"(,"ask":)" + side(ask) +
           "}";
}

std::string quotes(const std::string& each) {
    return R"({"quote_id":"mm","quotes":[)" + each + "]}";
}

io::task<void> be_hit_at_the_bid(io::endpoint where) {
    web_client taker;
    const bool is_on = co_await log_on(&taker, where, "bob");
    EXPECT_TRUE(is_on);
    if (!is_on) co_return;
    for (int k = 0; k < 2; ++k) static_cast<void>(co_await taker.call("private/sell", order("1", "100")));
    const json_value left = co_await taker.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(left, "result"), "0") << "both have traded";
}

io::task<void> quote_a_market(io::endpoint where) {
    web_client maker;
    const bool is_on = co_await log_on(&maker, where, "alice");
    EXPECT_TRUE(is_on);
    if (!is_on) co_return;
    json_value told = co_await maker.call("private/get_mmp_config", "{}");
    EXPECT_NE(told.find("result"), nullptr);
    static_cast<void>(co_await maker.call("private/enable_cancel_on_disconnect", "{}"));
    told = co_await maker.call("private/set_mmp_config", R"({"interval":60,"fills_limit":2})");
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await maker.call("private/get_mmp_config", "{}");
    EXPECT_EQ(at(told, "result.interval") + " " + at(told, "result.fills_limit"), "60 2");

    told = co_await maker.call("private/mass_quote", quotes(quote("ONE", 100, 110, 5) + "," + quote("TWO", 50, 60, 3)));
    EXPECT_EQ(at(told, "result.success_count"), "2") << at(told, "error.data.reason");
    EXPECT_EQ(at(told, "result.errors") + at(told, "result.trades"), "00");
    json_value open = co_await maker.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(open, "result"), "4");
    const json_value& first = open.find("result")->items[0];
    EXPECT_EQ(at(first, "quote") + " " + at(first, "label"), "true mm");
    told = co_await maker.call("private/cancel", R"({"order_id":")" + at(first, "order_id") + R"("})");
    EXPECT_EQ(at(told, "error.data.reason"), "order_is_quote");
    static_cast<void>(co_await io::sleep_for(100ms));
    told = co_await maker.call("public/get_orders_by_instrument", R"({"instrument_name":"ONE"})");
    EXPECT_EQ(at(told, "result.bids") + at(told, "result.asks") + at(told, "result.has_more"), "11false");
    EXPECT_EQ(told.find("result")->find("bids")->items[0].items[0].text, at(first, "order_id"));

    // A side moves, and nothing else.
    told = co_await maker.call("private/mass_quote", quotes(quote("TWO", 51, 60, 3)));
    EXPECT_EQ(at(told, "result.success_count"), "1");
    open = co_await maker.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(open, "result"), "4");

    // Two fills are the limit: all quotes are withdrawn, and further ones refused.
    co_await be_hit_at_the_bid(where);
    static_cast<void>(co_await io::sleep_for(100ms));
    open = co_await maker.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(open, "result"), "0");
    told = co_await maker.call("private/mass_quote", quotes(quote("ONE", 100, 110, 5)));
    EXPECT_EQ(at(told, "result.success_count") + at(told, "result.errors"), "01");
    EXPECT_EQ(at(told.find("result")->find("errors")->items[0], "reason"), "quote_protection");
    told = co_await maker.call("private/reset_mmp", "{}");
    EXPECT_EQ(at(told, "result"), "ok");

    // One of two is wrong, and the other stands; then wrong requests.
    told = co_await maker.call("private/mass_quote", quotes(quote("ONE", 110, 100, 5) + "," + quote("TWO", 50, 60, 3)));
    EXPECT_EQ(at(told, "result.success_count") + at(told, "result.errors"), "11");
    EXPECT_EQ(at(told.find("result")->find("errors")->items[0], "reason"), "quote_crossed");
    // The API refuses some before they are sent; each of them for itself too.
    const std::vector<std::array<std::string, 3>> bad_quotes{
        {R"({"instrument_name":"ONE","bid":{"price":1.1,"amount":1}})", "10043", "price_off_tick"},
        {R"({"instrument_name":"ONE","bid":{"price":1e99,"amount":1}})", "10043", "price_off_tick"},
        {R"({"instrument_name":"ONE","bid":{"price":100,"amount":1.5}})", "10021", "invalid_quantity"},
        {R"({"instrument_name":"ONE","ask":{"price":100,"amount":-1}})", "10021", "invalid_quantity"},
        {quote("NONE", 1, 2, 1), "10020", "unknown_instrument"},
    };
    for (const std::array<std::string, 3>& each : bad_quotes) {
        const std::string& bad = each[0];
        told = co_await maker.call("private/mass_quote", quotes(bad + "," + quote("TWO", 50, 60, 3)));
        EXPECT_EQ(at(told, "result.success_count") + at(told, "result.quotes") + at(told, "result.errors"), "111")
            << bad;
        if (at(told, "result.errors") != "1") continue;
        const json_value& error = told.find("result")->find("errors")->items[0];
        EXPECT_EQ(at(error, "code") + " " + at(error, "reason"), each[1] + " " + each[2]) << bad;
        EXPECT_EQ(at(error, "instrument_name"), bad.find("NONE") == std::string::npos ? "ONE" : "NONE");
        told = co_await maker.call("private/mass_quote", quotes(bad));
        EXPECT_EQ(at(told, "result.success_count") + at(told, "result.errors"), "01") << bad;
    }
    const std::vector<refusal> wrong{
        {"private/mass_quote", quotes(""), "-32602"},
        {"private/mass_quote", quotes("1"), "-32602"},
        {"private/mass_quote", quotes("{}"), "-32602"},
        {"private/mass_quote", quotes(quote("ONE", 1, 2, 1) + "," + quote("ONE", 1, 2, 1)), "-32602"},
        {"private/mass_quote", quotes(R"({"instrument_name":"ONE","bid":7})"), "-32602"},
        {"private/mass_quote", quotes(R"({"instrument_name":"ONE","bid":{"price":1}})"), "-32602"},
        {"private/set_mmp_config", R"({"interval":0})", "-32602"},
    };
    for (const refusal& each : wrong) {
        told = co_await maker.call(each.method, each.params);
        EXPECT_EQ(at(told, "error.code"), each.code) << each.params << " " << at(told, "error.data.reason");
    }
    told = co_await maker.call("private/cancel_quotes", R"({"instrument_name":"TWO"})");
    EXPECT_EQ(at(told, "result"), "2");

    // Quotes end with a connection that has asked for it.
    told = co_await maker.call("private/mass_quote", quotes(quote("ONE", 90, 120, 5)));
    EXPECT_EQ(at(told, "result.success_count"), "1");
    static_cast<void>(co_await maker.peer().close());
    web_client later;
    const bool is_back = co_await log_on(&later, where, "alice");
    EXPECT_TRUE(is_back);
    if (!is_back) co_return;
    static_cast<void>(co_await io::sleep_for(300ms));
    open = co_await later.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(open, "result"), "0");
    told = co_await later.call("public/get_orders_by_instrument", R"({"instrument_name":"ONE","depth":1000})");
    EXPECT_EQ(at(told, "result.bids") + at(told, "result.asks"), "00");
}

TEST_F(api_trading, quotes_are_replaced_protected_and_end_with_their_connection) {
    play(quote_a_market(where()));
}

/// Stops, limits and halts others, and shows that only an operator may.
io::task<void> operate(io::endpoint where) {
    web_client alice;
    web_client chief;
    const bool is_alice = co_await log_on(&alice, where, "alice");
    const bool is_chief = co_await log_on(&chief, where, "operator");
    EXPECT_TRUE(is_alice && is_chief);
    if (!is_alice || !is_chief) co_return;
    const std::string hers = R"({"account_id":1})";
    const std::string one = R"({"account_id":1,"instrument_name":"ONE"})";
    json_value told;
    static constexpr std::array<const char*, 5> methods{"get_venue_status", "kill_account", "release_account",
                                                        "clear_account", "limit_account"};
    for (const char* const method : methods) {
        const std::string whole = std::string("private/") + method;
        told = co_await alice.call(whole, R"({"account_id":2})");
        EXPECT_EQ(at(told, "error.code"), "10019") << method;
    }
    told = co_await alice.call("private/change_phase", R"({"phase":"halted"})");
    EXPECT_EQ(at(told, "error.code"), "10019");
    told = co_await alice.call("private/settle_instrument", R"({"instrument_name":"TWO","price":10})");
    EXPECT_EQ(at(told, "error.code"), "10019");

    static_cast<void>(co_await alice.call("private/buy", order("1", "50")));
    static_cast<void>(co_await alice.call("private/buy", order("1", "51")));
    told = co_await chief.call("private/kill_account", hers);
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await alice.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "result"), "0");
    told = co_await alice.call("private/buy", order("1", "50"));
    EXPECT_EQ(at(told, "error.code"), "10019");
    EXPECT_EQ(at(told, "error.data.reason"), "killed");
    told = co_await chief.call("private/release_account", hers);
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await alice.call("private/buy", order("1", "50"));
    EXPECT_EQ(at(told, "result.order.order_state"), "open");

    told = co_await chief.call("private/clear_account", R"({"account_id":1,"instrument_name":"TWO"})");
    EXPECT_EQ(at(told, "result"), "0");
    told = co_await chief.call("private/clear_account", one);
    EXPECT_EQ(at(told, "result"), "1");
    told = co_await chief.call("private/clear_account", R"({"account_id":77})");
    EXPECT_EQ(at(told, "result"), "0") << "nothing of such an account is open";
    told = co_await chief.call("private/clear_account", R"({"account_id":1,"instrument_name":"THREE"})");
    EXPECT_EQ(at(told, "error.code"), "10020");

    told = co_await chief.call("private/limit_account", R"({"account_id":1,"order_max":5})");
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await alice.call("private/buy", order("6", "50"));
    EXPECT_EQ(at(told, "error.code"), "10021");
    told = co_await chief.call("private/limit_account", hers);
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await alice.call("private/buy", order("6", "50"));
    EXPECT_EQ(at(told, "result.order.order_state"), "open");

    told = co_await chief.call("private/change_phase", R"({"phase":"halted","instrument_name":"ONE"})");
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await alice.call("private/buy", order("1", "50"));
    EXPECT_EQ(at(told, "error.code"), "10012");
    told = co_await chief.call("private/change_phase", R"({"phase":"continuous"})");
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await alice.call("private/buy", order("1", "50"));
    EXPECT_EQ(at(told, "result.order.order_state"), "open");
    told = co_await chief.call("private/change_phase", R"({"phase":"lunch"})");
    EXPECT_EQ(at(told, "error.code"), "-32602");

    told = co_await chief.call("private/settle_instrument", R"({"instrument_name":"TWO","price":10.1})");
    EXPECT_EQ(at(told, "error.data.param"), "price") << "not a multiple of the tick";
    told = co_await chief.call("private/settle_instrument", R"({"instrument_name":"TWO","price":10.25})");
    EXPECT_EQ(at(told, "result"), "ok");
    static_cast<void>(co_await io::sleep_for(100ms));
    told = co_await alice.call("public/get_instrument", R"({"instrument_name":"TWO"})");
    EXPECT_EQ(at(told, "result.is_active"), "false");
    told = co_await chief.call("private/settle_instrument", R"({"instrument_name":"TWO","price":10.25})");
    EXPECT_EQ(at(told, "error.code"), "10012");
}

io::task<void> enter_some(io::endpoint where) {
    web_client alice;
    web_client bob;
    const bool is_alice = co_await log_on(&alice, where, "alice");
    const bool is_bob = co_await log_on(&bob, where, "bob");
    EXPECT_TRUE(is_alice && is_bob);
    if (!is_alice || !is_bob) co_return;
    static_cast<void>(co_await alice.call("private/buy", order("5", "100", R"(,"label":"keep","post_only":true)")));
    static_cast<void>(co_await bob.call("private/sell", order("2", "99")));
    static_cast<void>(co_await bob.call("private/sell", order("7", "120.75", R"(,"time_in_force":"good_til_day")")));
}

/// Two questions at the same time, each with its own answer.
io::task<void> ask_for_the_status(io::endpoint where, std::uint64_t* last_command) {
    web_client chief;
    const bool is_chief = co_await log_on(&chief, where, "operator");
    EXPECT_TRUE(is_chief);
    if (!is_chief) co_return;
    for (int k = 1; k <= 2; ++k) {
        const std::error_code error =
            co_await chief.peer().send_text(R"({"jsonrpc":"2.0","id":)" + std::to_string(100 + k) +
                                            R"(,"method":"private/get_venue_status","params":{}})");
        EXPECT_FALSE(error);
    }
    for (int k = 1; k <= 2; ++k) {
        const json_value told = co_await chief.next();
        const json_value* const list = told.find("result");
        EXPECT_TRUE(list != nullptr && list->items.size() == 1);
        if (list == nullptr || list->items.size() != 1) co_return;
        const json_value& first = list->items[0];
        EXPECT_EQ(at(first, "partition"), "0");
        EXPECT_EQ(at(first, "journal"), "open");
        EXPECT_EQ(at(first, "sessions"), "3");
        EXPECT_EQ(at(first, "sessions_max"), "12");
        *last_command = std::stoull("0" + at(first, "last_command"));
        EXPECT_EQ(at(first, "durable_command"), at(first, "last_command"));
    }
}

TEST_F(api_trading, an_operator_stops_limits_halts_and_settles_and_nobody_else) {
    play(operate(where()));
}

TEST_F(api_trading, an_operator_sees_the_state_of_the_venue) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    play(ask_for_the_status(where(), &before));
    play(enter_some(where()));
    play(ask_for_the_status(where(), &after));
    EXPECT_EQ(after, before + 3);
}

io::task<void> leave_orders(io::endpoint where) {
    web_client stays;
    web_client leaves;
    const bool is_one = co_await log_on(&stays, where, "alice");
    const bool is_other = co_await log_on(&leaves, where, "alice");
    EXPECT_TRUE(is_one && is_other);
    if (!is_one || !is_other) co_return;
    json_value told = co_await leaves.call("private/enable_cancel_on_disconnect", "{}");
    EXPECT_EQ(at(told, "result"), "ok");
    told = co_await leaves.call("private/get_cancel_on_disconnect", "{}");
    EXPECT_EQ(at(told, "result.enabled"), "true");
    static_cast<void>(co_await leaves.call("private/buy", order("1", "50")));
    static_cast<void>(co_await leaves.call("private/buy", order("2", "51")));
    static_cast<void>(co_await stays.call("private/buy", order("3", "52")));
    told = co_await stays.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "result"), "3");
    leaves.peer().abort();
    co_await stays.listen(2s);
    told = co_await stays.call("private/get_open_orders", "{}");
    EXPECT_EQ(at(told, "result"), "1");
    EXPECT_EQ(told.find("result")->items.empty() ? "" : at(told.find("result")->items[0], "amount"), "3");
}

TEST_F(api_trading, orders_of_a_lost_connection_are_cancelled_if_it_asked_for_that) {
    play(leave_orders(where()));
}

/// What a key has, as text.
io::task<void> tell(io::endpoint where, std::string name, std::string* into) {
    web_client c;
    const bool is_on = co_await log_on(&c, where, std::move(name));
    EXPECT_TRUE(is_on);
    if (!is_on) co_return;
    const json_value open = co_await c.call("private/get_open_orders", "{}");
    const json_value trades = co_await c.call("private/get_user_trades_by_currency", R"({"currency":"any"})");
    const json_value positions = co_await c.call("private/get_positions", "{}");
    if (open.find("result") == nullptr || trades.find("result") == nullptr) co_return;
    for (const json_value& each : open.find("result")->items) {
        for (const char* member : {"order_id", "direction", "price", "amount", "filled_amount", "label", "post_only",
                                   "time_in_force", "creation_timestamp"}) {
            *into += at(each, member) + " ";
        }
        *into += "\n";
    }
    for (const json_value& each : trades.find("result")->find("trades")->items) {
        *into +=
            at(each, "trade_id") + " " + at(each, "price") + " " + at(each, "amount") + " " + at(each, "label") + "\n";
    }
    for (const json_value& each : positions.find("result")->items) *into += at(each, "size") + "\n";
}

TEST_F(api_trading, nothing_is_lost_when_the_api_or_the_venue_comes_back) {
    play(enter_some(where()));
    std::string alice;
    std::string bob;
    play(tell(where(), "alice", &alice));
    play(tell(where(), "bob", &bob));
    EXPECT_NE(alice.find("buy 100 5 2 keep true good_til_cancelled"), std::string::npos) << alice;
    EXPECT_NE(bob.find("sell 120.75 7 0  false good_til_day"), std::string::npos) << bob;
    const auto expect_the_same = [&](const char* after) {
        for (const std::string name : {"alice", "bob"}) {
            std::string now;
            play(tell(where(), name, &now));
            EXPECT_EQ(now, name == "alice" ? alice : bob) << after;
        }
    };
    api_.reset();
    start_api();
    expect_the_same("a restart of the API");
    venue_.reset();
    start_venue();
    play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(5s)); }());
    expect_the_same("a restart of the venue");
    api_.reset();
    start_api();
    expect_the_same("a restart of both");
}

/// Alice's order of 10 trades 4 with bob's; then both have many more answers than the venue keeps.
io::task<void> trade_and_forget(io::endpoint where, std::string* id) {
    web_client alice;
    web_client bob;
    const bool are_on = co_await log_on(&alice, where, "alice") && co_await log_on(&bob, where, "bob");
    EXPECT_TRUE(are_on);
    if (!are_on) co_return;
    *id = at(co_await alice.call("private/buy", order("10", "100")), "result.order.order_id");
    json_value told = co_await bob.call("private/sell", order("4", "100"));
    EXPECT_EQ(at(told, "result.order.order_state"), "filled");
    told = co_await alice.call("private/get_position", R"({"instrument_name":"ONE"})");
    EXPECT_EQ(at(told, "result.size"), "4");
    for (int k = 0; k < 20; ++k) {
        co_await alice.listen(200ms);
        const std::string other = at(co_await alice.call("private/buy", order("1", "90")), "result.order.order_id");
        told = co_await alice.call("private/cancel", R"({"order_id":")" + other + R"("})");
        EXPECT_EQ(at(told, "result.order_state"), "cancelled");
    }
}

io::task<void> expect_what_is_missing(io::endpoint where, std::string id) {
    web_client alice;
    const bool is_on = co_await log_on(&alice, where, "alice");
    EXPECT_TRUE(is_on);
    if (!is_on) co_return;
    const std::string one = R"({"instrument_name":"ONE"})";
    json_value told = co_await alice.call("private/get_position", one);
    EXPECT_EQ(at(told, "error.code"), "13503");
    EXPECT_NE(at(told, "error.data.reason").find("session_answers_kept"), std::string::npos);
    told = co_await alice.call("private/get_positions", "{}");
    EXPECT_EQ(at(told, "error.code"), "13503");
    told = co_await alice.call("private/get_order_state", R"({"order_id":")" + id + R"("})");
    EXPECT_EQ(at(told, "result.order_state"), "open");
    EXPECT_EQ(at(told, "result.amount"), "6");
    EXPECT_EQ(at(told, "result.fills_missing"), "true");
    // It would have been cut to 2.
    told = co_await alice.call("private/edit", R"({"order_id":")" + id + R"(","amount":6,"price":100})");
    EXPECT_EQ(at(told, "error.code"), "13503");
    // What is entered now is known.
    told = co_await alice.call("private/buy", order("5", "91"));
    EXPECT_EQ(at(told, "result.order.fills_missing"), "");
    told = co_await alice.call("private/cancel", R"({"order_id":")" + id + R"("})");
    EXPECT_EQ(at(told, "result.order_state"), "cancelled");
}

class api_that_forgets : public api_trading {
 protected:
    api_that_forgets() : api_trading(16) {}
};

TEST_F(api_that_forgets, what_follows_from_answers_that_are_gone_is_not_guessed) {
    std::string id;
    play(trade_and_forget(where(), &id));
    api_.reset();
    start_api();
    play(expect_what_is_missing(where(), id));
}

/// Enters, edits and cancels at random, at a pace that its credits allow.
io::task<void> trade_at_random(io::endpoint where, std::string name, std::uint64_t seed, std::int64_t* position,
                               std::uint64_t* open) {
    web_client c;
    const bool is_on = co_await log_on(&c, where, std::move(name));
    EXPECT_TRUE(is_on);
    if (!is_on) co_return;
    base::prng random(seed);
    std::vector<std::string> ids;
    for (int k = 0; k < 300; ++k) {
        co_await c.listen(60ms);
        const auto price = std::to_string(100 + random.between(-3, 3));
        const auto amount = std::to_string(random.between(1, 9));
        json_value told;
        if (ids.empty() || random.between(0, 9) < 6) {
            told = co_await c.call(random.between(0, 1) == 0 ? "private/buy" : "private/sell", order(amount, price));
            ids.push_back(at(told, "result.order.order_id"));
        } else {
            const auto which = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(ids.size()) - 1));
            const bool edits = random.between(0, 1) == 0;
            const std::string params =
                R"({"order_id":")" + ids[which] + R"(","amount":)" + amount + R"(,"price":)" + price + "}";
            told = co_await c.call(edits ? "private/edit" : "private/cancel", params);
        }
        const std::string code = at(told, "error.code");
        EXPECT_TRUE(code.empty() || code == "11044" || code == "11030" || code == "10021") << code;
    }
    co_await c.listen(5s);
    const json_value told = co_await c.call("private/get_position", R"({"instrument_name":"ONE"})");
    *position = std::stoll("0" + at(told, "result.bought")) - std::stoll("0" + at(told, "result.sold"));
    EXPECT_EQ(std::to_string(*position), at(told, "result.size"));
    EXPECT_NE(at(told, "result.bought"), "0");
    const json_value list = co_await c.call("private/get_open_orders", "{}");
    *open = list.find("result")->items.size();
}

io::task<void> trade_both(io::endpoint where, std::int64_t* positions, std::uint64_t* open) {
    io::task_scope beside(co_await io::this_context());
    beside.spawn(trade_at_random(where, "alice", 1, &positions[0], &open[0]));
    beside.spawn(trade_at_random(where, "bob", 2, &positions[1], &open[1]));
    co_await beside.join();
}

TEST_F(api_trading, positions_sum_to_zero_and_open_orders_are_those_of_the_venue) {
    std::array<std::int64_t, 2> positions{};
    std::array<std::uint64_t, 2> open{};
    play(trade_both(where(), positions.data(), open.data()));
    EXPECT_EQ(positions[0] + positions[1], 0);
    EXPECT_EQ(open[0] + open[1], (*venue_)->book(domain::instrument_id{1})->orders_count());
}

}  // namespace
}  // namespace corro
