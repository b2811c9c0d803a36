// SPDX-License-Identifier: Apache-2.0
// The API beside a venue in a world in memory: virtual time, a network in memory. Clients by WebSocket have the venue's
// books, whatever happens to the connections; clients that break a rule or do not read are disconnected.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_value.hpp"
#include "api_world_fixture.hpp"
#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "http/client.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/certificates_fixture.hpp"
#include "io/tls/tls_stream.hpp"
#include "node/links/api_role.hpp"
#include "node/venue/venue_fixture.hpp"
#include "sim/world.hpp"
#include "websocket/connection.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using api::json_value;
using testing::living_api;
using testing::living_venue;
using testing::web_client;

/// A world with a venue, its API, and a context for clients.
class api_world : public ::testing::Test {
 protected:
    api_world() {
        configuration_.busy_poll = 0us;
        configuration_.api_origins = {"https://venue.example"};
        venue_ = std::make_unique<living_venue>(world_, configuration_);
        api_ = std::make_unique<living_api>(world_, configuration_, (*venue_)->feed_endpoint(),
                                            (*venue_)->snapshot_endpoint());
    }

    /// Runs work of clients; beside it `also`, until both have ended.
    void play(io::task<void> work) { io::block_on(clients_, std::move(work)); }

    sim::world world_{17};
    node::configuration configuration_ = testing::small_venue();
    std::unique_ptr<living_venue> venue_;
    std::unique_ptr<living_api> api_;
    io::context clients_{io::context_options(world_.machine())};
};

const std::string all_channels =
    R"({"channels":["book.ONE.raw","book.ONE.100ms","book.ONE.agg2","book.TWO.raw","book.TWO.100ms",)"
    R"("trades.ONE.raw","ticker.TWO.agg2","book.NONE.raw","nonsense"]})";

io::task<bool> subscribe(web_client* c, io::endpoint at) {
    const bool is_open = co_await c->connect(at);
    EXPECT_TRUE(is_open);
    if (!is_open) co_return false;
    const json_value subscribed = co_await c->call("public/subscribe", all_channels);
    const json_value* const names = subscribed.find("result");
    EXPECT_TRUE(names != nullptr && names->items.size() == 7) << "two of the channels do not exist";
    co_return names != nullptr;
}

void expect_the_venues_books(web_client& c, const node::venue& venue) {
    for (const char* interval : {"raw", "100ms", "agg2"}) {
        EXPECT_TRUE(c.has_book(std::string("book.ONE.") + interval, venue, 1)) << interval;
    }
    EXPECT_TRUE(c.has_book("book.TWO.raw", venue, 2));
    EXPECT_TRUE(c.has_book("book.TWO.100ms", venue, 2));
    EXPECT_EQ(c.gaps, 0U);
}

io::task<void> follow_a_market(const node::venue* venue, io::endpoint at) {
    io::context& here = co_await io::this_context();
    static_cast<void>(co_await io::sleep_for(1s));
    web_client early;
    web_client late;
    const bool is_early = co_await subscribe(&early, at);
    if (!is_early) co_return;
    io::task_scope beside(here);
    beside.spawn(testing::trade_at_random(venue->order_entry_endpoint(), 1, 400));
    co_await early.listen(700ms);
    const bool is_late = co_await subscribe(&late, at);
    if (!is_late) co_return;
    beside.spawn(late.listen(6s));
    co_await early.listen(6s);
    co_await beside.join();
    expect_the_venues_books(early, *venue);
    expect_the_venues_books(late, *venue);
    EXPECT_GT(early.trades, 10U);
    EXPECT_GT(early.notifications, 400U);
    EXPECT_LT(late.notifications, early.notifications);

    // The same by a question.
    const json_value asked = co_await early.call("public/get_order_book", R"({"instrument_name":"ONE","depth":10000})");
    const json_value& result = *asked.find("result");
    EXPECT_EQ(result.find("change_id")->text, early.books["book.ONE.raw"].change_id);
    EXPECT_EQ(result.find("bids")->items.size(), early.books["book.ONE.raw"].levels[0].size());
    EXPECT_EQ(result.find("asks")->items.size(), early.books["book.ONE.raw"].levels[1].size());
    // The channel of orders, over the connection, and the same by a question.
    static_cast<void>(co_await early.call("public/subscribe", R"({"channels":["orders.ONE.raw"]})"));
    co_await early.listen(100ms);
    const json_value& orders = early.last_orders;
    EXPECT_EQ(orders.find("type")->text, "snapshot");
    const json_value listed =
        co_await early.call("public/get_orders_by_instrument", R"({"instrument_name":"ONE","depth":10000})");
    for (const char* name : {"bids", "asks"}) {
        const auto& shown = orders.find(name)->items;
        const auto& told = listed.find("result")->find(name)->items;
        EXPECT_EQ(shown.size(), told.size());
        for (std::size_t k = 0; k < std::min(shown.size(), told.size()); ++k) {
            for (std::size_t part = 0; part < 4; ++part) {
                EXPECT_EQ(shown[k].items[part + 1].text, told[k].items[part].text) << name << " " << k;
            }
        }
    }
    const auto& book = *venue->book(domain::instrument_id{1});
    EXPECT_EQ(orders.find("bids")->items.size() + orders.find("asks")->items.size(), book.orders_count());
    const json_value ended =
        co_await early.call("public/unsubscribe", R"({"channels":["book.ONE.raw","book.TWO.agg2"]})");
    EXPECT_EQ(ended.find("result")->items.size(), 1U);
    static_cast<void>(co_await early.peer().close());
    static_cast<void>(co_await late.peer().close());
}

TEST_F(api_world, clients_have_the_venues_books_in_every_interval) {
    play(follow_a_market(&**venue_, (*api_)->where()));
}

io::task<void> keep_beating(io::endpoint at) {
    web_client c;
    const bool is_open = co_await c.connect(at);
    EXPECT_TRUE(is_open);
    if (!is_open) co_return;
    const json_value set = co_await c.call("public/set_heartbeat", R"({"interval":10})");
    EXPECT_EQ(set.find("result")->text, "ok");
    // A client that answers each test request stays on for hours.
    for (int k = 0; k < 1'000; ++k) {
        const int before = c.test_requests;
        co_await c.listen(10s);
        if (c.test_requests == before) continue;
        const json_value tested = co_await c.call("public/test", "{}");
        EXPECT_EQ(tested.find("result")->find("version")->text, "2.0.0");
    }
    EXPECT_GT(c.heartbeats, 900);
    EXPECT_GT(c.test_requests, 100);
    // One that does not is disconnected within two intervals.
    io::context& here = co_await io::this_context();
    const io::steady_time begin = here.now();
    co_await c.listen(1h);
    EXPECT_LE(here.now() - begin, 31s);
    EXPECT_EQ(c.peer().peer_code(), websocket::close_code::policy_violation);
    EXPECT_EQ(c.peer().peer_reason(), "no answer to test_request");
}

TEST_F(api_world, a_client_with_heartbeats_stays_on_as_long_as_it_answers_test_requests) {
    play(keep_beating((*api_)->where()));
}

io::task<void> ask_too_much(io::endpoint at) {
    web_client c;
    const bool is_open = co_await c.connect(at);
    EXPECT_TRUE(is_open);
    if (!is_open) co_return;
    int answered = 0;
    json_value last;
    for (int k = 0; k < 200; ++k) {
        last = co_await c.call("public/get_time", "{}");
        if (last.find("result") == nullptr) break;
        ++answered;
    }
    EXPECT_GE(answered, 100);
    EXPECT_LE(answered, 110) << "some credits have come back meanwhile";
    if (last.find("error") == nullptr) {
        ADD_FAILURE() << "no error";
        co_return;
    }
    EXPECT_EQ(last.find("error")->find("code")->text, "10028");
    const json_value end = co_await c.next();
    EXPECT_EQ(end.kind, api::json_kind::null);
    EXPECT_EQ(c.peer().peer_code(), websocket::close_code::policy_violation);
    // At a pace below the refill it may ask forever.
    web_client slow;
    const bool is_again = co_await slow.connect(at);
    EXPECT_TRUE(is_again);
    for (int k = 0; is_again && k < 2'000; ++k) {
        const json_value told = co_await slow.call("public/get_time", "{}");
        EXPECT_NE(told.find("result"), nullptr);
        if (told.find("result") == nullptr) break;
        static_cast<void>(co_await io::sleep_for(51ms));
    }
}

TEST_F(api_world, a_client_without_credits_is_told_and_disconnected) {
    play(ask_too_much((*api_)->where()));
}

/// Subscribes to a raw book, and does not read for a while.
io::task<void> be_slow(const node::venue* venue, io::endpoint at) {
    web_client c;
    const bool is_open = co_await subscribe(&c, at);
    if (!is_open) co_return;
    co_await testing::trade_at_random(venue->order_entry_endpoint(), 2, 3'000);
    co_await c.listen(3s);
    EXPECT_TRUE(c.has_book("book.ONE.raw", *venue, 1) || !c.peer().is_open());
    c.peer().abort();
}

io::task<void> be_quick_beside_a_slow_one(const node::venue* venue, io::endpoint at) {
    static_cast<void>(co_await io::sleep_for(1s));
    web_client quick;
    const bool is_open = co_await subscribe(&quick, at);
    if (!is_open) co_return;
    io::task_scope beside(co_await io::this_context());
    beside.spawn(be_slow(venue, at));
    co_await quick.listen(30s);
    co_await beside.join();
    expect_the_venues_books(quick, *venue);
    static_cast<void>(co_await quick.peer().close());
}

TEST_F(api_world, a_client_that_does_not_read_slows_nobody) {
    play(be_quick_beside_a_slow_one(&**venue_, (*api_)->where()));
}

/// The API's state, as `public/status` says.
io::task<std::string> locked(web_client* c) {
    const json_value told = co_await c->call("public/status", "{}");
    const json_value* const result = told.find("result");
    co_return result == nullptr ? "" : result->find("locked")->text;
}

io::task<void> subscribe_and_trade(const node::venue* venue, io::endpoint at, web_client* c) {
    static_cast<void>(co_await io::sleep_for(1s));
    const bool is_open = co_await subscribe(c, at);
    if (!is_open) co_return;
    io::task_scope beside(co_await io::this_context());
    beside.spawn(testing::trade_at_random(venue->order_entry_endpoint(), 1, 300));
    co_await c->listen(4s);
    co_await beside.join();
    expect_the_venues_books(*c, *venue);
}

io::task<void> see_it_gone(web_client* c) {
    co_await c->listen(2s);
    const std::string state = co_await locked(c);
    EXPECT_EQ(state, "true");
    const json_value refused = co_await c->call("public/ticker", R"({"instrument_name":"ONE"})");
    const json_value* const error = refused.find("error");
    EXPECT_TRUE(error != nullptr && error->find("code")->text == "11051");
}

io::task<void> trade_on(const node::venue* venue, web_client* c) {
    io::task_scope beside(co_await io::this_context());
    beside.spawn(testing::trade_at_random(venue->order_entry_endpoint(), 3, 300));
    co_await c->listen(5s);
    co_await beside.join();
    const std::string state = co_await locked(c);
    EXPECT_EQ(state, "false");
    expect_the_venues_books(*c, *venue);
    static_cast<void>(co_await c->peer().close());
}

TEST(api_and_restarts, books_go_on_when_the_venue_comes_back) {
    sim::world world(23);
    node::configuration c = testing::small_venue();
    c.busy_poll = 0us;
    c.journal_directory = "/var/corro/journal";
    c.feed_listen = "127.0.0.1:7102";
    c.snapshot_listen = "127.0.0.1:7103";
    io::context clients{io::context_options(world.machine())};
    auto venue = std::make_unique<living_venue>(world, c);
    living_api api(world, c, (*venue)->feed_endpoint(), (*venue)->snapshot_endpoint());
    web_client client;
    io::block_on(clients, subscribe_and_trade(&**venue, api->where(), &client));
    const std::uint64_t before = client.notifications;
    venue.reset();
    io::block_on(clients, see_it_gone(&client));
    venue = std::make_unique<living_venue>(world, c);
    io::block_on(clients, trade_on(&**venue, &client));
    EXPECT_GT(client.notifications, before + 300);
    EXPECT_EQ(api->server().statistics().feeds_joined, 1U) << "the feed continues where it has ended";
}

TEST(api_and_restarts, books_go_on_with_the_differences_when_the_feed_has_to_be_joined_again) {
    sim::world world(29);
    node::configuration c = testing::small_venue();
    c.busy_poll = 0us;
    c.feed_listen = "127.0.0.1:7102";
    c.snapshot_listen = "127.0.0.1:7103";
    io::context clients{io::context_options(world.machine())};
    auto venue = std::make_unique<living_venue>(world, c);
    living_api api(world, c, (*venue)->feed_endpoint(), (*venue)->snapshot_endpoint());
    web_client client;
    io::block_on(clients, subscribe_and_trade(&**venue, api->where(), &client));
    // Without a journal the next venue begins with empty books and message 1.
    venue = nullptr;
    venue = std::make_unique<living_venue>(world, c);
    io::block_on(clients, trade_on(&**venue, &client));
    EXPECT_EQ(api->server().statistics().feeds_joined, 2U);
}

struct response {
    unsigned status = 0;
    std::string type;
    std::string allowed_origin;
    std::string body;
};

io::task<void> get(io::endpoint at, http::method method, std::string target, std::string body, std::string origin,
                   response* into) {
    auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), at);
    if (!stream) {
        ADD_FAILURE() << "not connected";
        co_return;
    }
    std::string text(http::name_of(method));
    text += " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n";
    if (!origin.empty()) text += "Origin: " + origin + "\r\n";
    if (method == http::method::post) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    text += "\r\n" + body;
    const io::io_result sent = co_await stream->write_all(std::as_bytes(std::span(text.data(), text.size())));
    EXPECT_FALSE(sent.error);
    std::string whole;
    std::string part(16 * 1024, '\0');
    while (true) {
        const io::io_result got = co_await stream->read_some(std::as_writable_bytes(std::span(part)));
        whole.append(part, 0, got.bytes);
        if (got.error) break;
    }
    const std::size_t end = whole.find("\r\n\r\n");
    if (end == std::string::npos) {
        ADD_FAILURE() << whole;
        co_return;
    }
    into->status = static_cast<unsigned>(std::stoul(whole.substr(9, 3)));
    into->body = whole.substr(end + 4);
    const auto field = [&whole, end](const std::string& name) {
        const std::size_t begin = whole.find("\r\n" + name + ": ");
        if (begin == std::string::npos || begin > end) return std::string();
        const std::size_t from = begin + name.size() + 4;
        return whole.substr(from, whole.find("\r\n", from) - from);
    };
    into->type = field("Content-Type");
    into->allowed_origin = field("Access-Control-Allow-Origin");
}

TEST_F(api_world, http_has_the_same_methods_and_statuses_for_errors) {
    const auto ask = [this](http::method method, std::string target, std::string body = "", std::string origin = "") {
        response got;
        play(get((*api_)->where(), method, std::move(target), std::move(body), std::move(origin), &got));
        return got;
    };
    play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(1s)); }());
    const response time = ask(http::method::get, "/api/v2/public/get_time");
    EXPECT_EQ(time.status, 200U);
    EXPECT_EQ(time.type, "application/json");
    EXPECT_TRUE(time.body.starts_with(R"({"jsonrpc":"2.0","result":)")) << time.body;
    const response ticker = ask(http::method::get, "/api/v2/public/ticker?instrument_name=ONE");
    EXPECT_NE(ticker.body.find(R"("instrument_name":"ONE")"), std::string::npos) << ticker.body;
    const std::string by_body =
        R"({"jsonrpc":"2.0","id":"x","method":"public/ticker","params":{"instrument_name":"TWO"}})";
    for (const char* path : {"/api/v2", "/api/v2/public/ticker"}) {
        const response posted = ask(http::method::post, path, by_body);
        EXPECT_EQ(posted.status, 200U) << path;
        EXPECT_TRUE(posted.body.starts_with(R"({"jsonrpc":"2.0","id":"x","result":{"instrument_name":"TWO")"))
            << posted.body;
    }
    struct refused {
        http::method method;
        std::string target;
        std::string body;
        unsigned status;
        std::string code;
    };
    const std::vector<refused> all{
        {http::method::get, "/api/v2/public/nothing", "", 400, "-32601"},
        {http::method::get, "/api/v2/public/ticker", "", 400, "-32000"},
        {http::method::get, "/api/v2/public/ticker?instrument_name=THREE", "", 400, "10020"},
        {http::method::get, "/api/v2/public/subscribe?channels=book.ONE.raw", "", 400, "10030"},
        {http::method::get, "/api/v2/public/test?expected_result=exception", "", 500, "11094"},
        {http::method::post, "/api/v2/public/test", by_body, 400, "11050"},
        {http::method::post, "/api/v2", "{", 400, "-32700"},
        {http::method::post, "/api/v2", std::string(40'000, ' '), 413, "-32600"},
    };
    for (const refused& each : all) {
        const response got = ask(each.method, each.target, each.body);
        EXPECT_EQ(got.status, each.status) << each.target << " " << got.body;
        EXPECT_NE(got.body.find("\"code\":" + each.code + ","), std::string::npos) << each.target << " " << got.body;
    }
    EXPECT_EQ(ask(http::method::post, "/api/v2", std::string(100'000, ' ')).status, 413U);
    EXPECT_EQ(ask(http::method::get, "/api/v3/public/test").status, 404U);
    EXPECT_EQ(ask(http::method::del, "/api/v2/public/test").status, 405U);
    EXPECT_EQ(ask(http::method::get, "/ws/api/v2").status, 426U);
    EXPECT_NE(ask(http::method::get, "/api/v2/openapi.json").body.find("\"openapi\":\"3.0.3\""), std::string::npos);
    EXPECT_EQ(ask(http::method::get, "/api/v2/public/test", "", "https://evil.example").allowed_origin, "");
    // The credits of an address: a burst of requests uses them up.
    response last;
    int answered = 0;
    for (; answered < 200; ++answered) {
        last = ask(http::method::get, "/api/v2/public/get_time");
        if (last.status != 200) break;
    }
    EXPECT_LT(answered, 150);
    EXPECT_EQ(last.status, 429U);
    EXPECT_NE(last.body.find("\"code\":10028,"), std::string::npos) << last.body;
}

/// A venue whose API has TLS only.
class api_over_tls : public ::testing::Test {
 protected:
    api_over_tls() {
        const io::test_identity& identity = io::test_server_identity();
        configuration_.busy_poll = 0us;
        configuration_.api_tls_listen = "127.0.0.1:0";
        configuration_.api_certificate = file("chain.pem", identity.certificate);
        configuration_.api_private_key = file("key.pem", identity.private_key);
        venue_ = std::make_unique<living_venue>(world_, configuration_);
        api_ = std::make_unique<living_api>(world_, configuration_, (*venue_)->feed_endpoint(),
                                            (*venue_)->snapshot_endpoint());
    }
    std::string file(const char* name, const std::string& text) {
        std::string path = folder_.path() + "/" + name;
        std::ofstream(path) << text;
        return path;
    }
    void play(io::task<void> work) { io::block_on(clients_, std::move(work)); }
    [[nodiscard]] io::endpoint at() const { return *(*api_)->secure_where(); }
    [[nodiscard]] api::server_statistics statistics() const { return (*api_)->server().statistics(); }

    base::test_folder folder_;
    sim::world world_{18};
    node::configuration configuration_ = testing::small_venue();
    std::unique_ptr<living_venue> venue_;
    std::unique_ptr<living_api> api_;
    io::context clients_{io::context_options(world_.machine())};
};

using secure_stream = io::tls_stream<io::tcp_stream>;

/// The encrypted stream of a client that trusts the test's authority; nothing if the handshake fails.
io::task<std::optional<secure_stream>> connect_securely(io::endpoint at) {
    io::tls_client_options options;
    options.system_trust = false;
    options.trusted_certificates = io::test_authority().certificate;
    auto settings = io::tls_context::client(options);
    auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), at);
    if (!stream || !settings) co_return std::nullopt;
    auto made = co_await secure_stream::connect(std::move(*stream), *settings, "localhost");
    if (!made) co_return std::nullopt;
    co_return std::move(*made);
}

io::task<void> follow_over_tls(const node::venue* venue, io::endpoint at) {
    static_cast<void>(co_await io::sleep_for(1s));
    std::optional<secure_stream> stream = co_await connect_securely(at);
    EXPECT_TRUE(stream.has_value());
    if (!stream) co_return;
    EXPECT_EQ(stream->version(), "TLSv1.3");
    web_client client;
    const bool is_open = co_await client.open(io::any_stream(std::move(*stream)), "localhost");
    EXPECT_TRUE(is_open);
    if (!is_open) co_return;
    static_cast<void>(co_await client.call("public/subscribe", R"({"channels":["book.ONE.raw","book.ONE.100ms"]})"));
    io::task_scope beside(co_await io::this_context());
    beside.spawn(testing::trade_at_random(venue->order_entry_endpoint(), 1, 400));
    co_await client.listen(4s);
    co_await beside.join();
    EXPECT_TRUE(client.has_book("book.ONE.raw", *venue, 1));
    EXPECT_TRUE(client.has_book("book.ONE.100ms", *venue, 1));
    EXPECT_EQ(client.gaps, 0U);
    static_cast<void>(co_await client.peer().close());
}

TEST_F(api_over_tls, clients_have_the_venues_books) {
    play(follow_over_tls(&**venue_, at()));
    EXPECT_EQ(statistics().handshakes, 1U);
    EXPECT_EQ(statistics().failed_handshakes, 0U);
}

io::task<void> ask_for_the_messages(io::endpoint at, std::string* into) {
    std::optional<secure_stream> stream = co_await connect_securely(at);
    EXPECT_TRUE(stream.has_value());
    if (!stream) co_return;
    const std::string_view request =
        "GET /api/v2/asyncapi.json HTTP/1.1\r\nHost: localhost:7020\r\nConnection: close\r\n\r\n";
    const io::io_result sent = co_await stream->write_all(std::as_bytes(std::span(request.data(), request.size())));
    EXPECT_FALSE(sent.error);
    std::string part(16 * 1024, '\0');
    while (true) {
        const io::io_result got = co_await stream->read_some(std::as_writable_bytes(std::span(part)));
        into->append(part, 0, got.bytes);
        if (!got.error) continue;
        EXPECT_EQ(got.error, io::condition::end_of_stream) << "the end is told, not cut";
        co_return;
    }
}

TEST_F(api_over_tls, http_is_served_and_descriptions_have_its_scheme) {
    std::string got;
    play(ask_for_the_messages(at(), &got));
    EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ")) << got.substr(0, 200);
    EXPECT_NE(got.find(R"({"url":"localhost:7020","protocol":"wss"})"), std::string::npos) << got.substr(0, 400);
}

/// A connection that sends these bytes instead of a handshake, and waits for its end.
io::task<void> say_instead(io::endpoint at, std::string_view words, std::chrono::nanoseconds* lasted) {
    io::context& here = co_await io::this_context();
    const io::steady_time begun = here.now();
    auto stream = co_await io::tcp_stream::connect(here, at);
    EXPECT_TRUE(stream.has_value());
    if (!stream) co_return;
    static_cast<void>(co_await stream->write_all(std::as_bytes(std::span(words.data(), words.size()))));
    std::array<std::byte, 512> into{};
    io::io_result got;
    while (!got.error) got = co_await stream->read_some(into);
    *lasted = here.now() - begun;
}

TEST_F(api_over_tls, who_does_not_shake_hands_is_disconnected) {
    std::chrono::nanoseconds lasted{};
    play(say_instead(at(), "GET /api/v2/public/get_time HTTP/1.1\r\nHost: localhost\r\n\r\n", &lasted));
    EXPECT_LT(lasted, 1s);
    play(say_instead(at(), "", &lasted));
    EXPECT_GE(lasted, api::handshake_timeout);
    EXPECT_LT(lasted, api::handshake_timeout + 1s);
    EXPECT_EQ(statistics().failed_handshakes, 2U);
    EXPECT_EQ(statistics().handshakes, 0U);
}

TEST_F(api_over_tls, an_address_has_no_more_handshakes_than_its_credits_allow) {
    constexpr auto at_once = static_cast<std::uint64_t>(api::credits_max / api::handshake_cost);
    std::chrono::nanoseconds lasted{};
    for (std::uint64_t k = 0; k < at_once + 10; ++k) play(say_instead(at(), "no hello", &lasted));
    EXPECT_GE(statistics().failed_handshakes, at_once);
    EXPECT_LT(statistics().failed_handshakes, at_once + 10);
    EXPECT_EQ(statistics().failed_handshakes + statistics().refused, at_once + 10);
}

TEST_F(api_world, pages_of_allowed_sites_may_send_tokens_and_those_of_others_may_not) {
    const auto ask = [this](std::string target, std::string origin, std::string wanted) {
        std::vector<std::string> fields;
        if (!origin.empty()) fields.push_back("Origin: " + origin);
        if (!wanted.empty()) {
            fields.push_back("Access-Control-Request-Method: " + wanted);
            fields.emplace_back("Access-Control-Request-Headers: authorization,content-type");
        }
        testing::raw_response got;
        play(testing::ask_raw((*api_)->where(), "OPTIONS", std::move(target), std::move(fields), &got));
        return got;
    };
    const std::string allowed = "https://venue.example";
    for (const char* const path : {"/api/v2", "/api/v2/private/get_positions", "/api/v1/orders"}) {
        const bool is_history = std::string_view(path).starts_with("/api/v1/");
        const testing::raw_response got = ask(path, allowed, "GET");
        EXPECT_EQ(got.status, 204U) << path;
        EXPECT_EQ(got.body, "");
        EXPECT_EQ(got.field("Access-Control-Allow-Origin"), allowed) << path;
        EXPECT_EQ(got.field("Access-Control-Allow-Methods"), is_history ? "GET, HEAD" : "GET, HEAD, POST") << path;
        EXPECT_EQ(got.field("Access-Control-Allow-Headers"), "Authorization, Content-Type") << path;
        EXPECT_EQ(got.field("Access-Control-Max-Age"), "600") << path;
        EXPECT_EQ(got.field("Access-Control-Allow-Credentials"), "") << "nothing here depends on cookies";
        EXPECT_EQ(got.field("Vary"), "Origin") << path;
    }
    const std::vector<testing::raw_response> refused{
        ask("/api/v2", "https://evil.example", "POST"),
        ask("/api/v2", "https://venue.example.evil.example", "POST"),
        ask("/api/v2", "http://venue.example", "POST"),
        ask("/api/v2", "null", "POST"),
        ask("/api/v1/orders", "https://evil.example", "GET"),
        ask("/api/v2", "", "POST"),
        ask("/api/v2", allowed, ""),
        ask("/ws/api/v2", allowed, "GET"),
        ask("/", allowed, "GET"),
    };
    for (const testing::raw_response& each : refused) {
        EXPECT_EQ(each.head.find("Access-Control"), std::string::npos) << each.head;
    }
    EXPECT_EQ(refused[0].status, 204U);
    EXPECT_EQ(refused[0].field("Allow"), "GET, HEAD, POST, OPTIONS");
}

}  // namespace
}  // namespace corro
