// SPDX-License-Identifier: Apache-2.0
// Test support: a venue and its API in a world in memory, and clients of the API by WebSocket.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_value.hpp"
#include "api/site.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "node/links/api_role.hpp"
#include "node/venue/venue_fixture.hpp"
#include "sim/world.hpp"
#include "websocket/connection.hpp"

namespace corro::testing {

using api::json_value;
using domain::side;

inline io::task<void> serve_until(node::venue* venue, io::remote_event* ends) {
    io::task_scope serving(co_await io::this_context());
    serving.spawn(venue->run());
    static_cast<void>(co_await ends->wait());
    venue->close();
    co_await serving.join();
}

/// Enters and cancels orders around a price, and logs out.
inline io::task<void> trade_at_random(io::endpoint venue, std::uint32_t session_number, int requests_count) {
    client::credentials self = who(1, session_number);
    self.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue, self);
    if (!session) {
        ADD_FAILURE() << session.error().message();
        co_return;
    }
    std::vector<domain::instrument> instruments;
    (*session)->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    client::trader trader(client::trader_options(), instruments, {domain::price_ticks{9'000}, domain::price_ticks{200}},
                          session_number * 1'000'000, session_number);
    for (int i = 0; i < requests_count; ++i) {
        if ((*session)->send(trader.next_request()) == 0) co_return;
        bool answered = false;
        while (!answered) {
            const auto answer = co_await (*session)->next();
            if (!answer || answer->reject) co_return;
            answered = trader.on_event(answer->event);
        }
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(3)));
    }
    static_cast<void>(co_await (*session)->log_out());
}

/// A response as it came.
struct raw_response {
    /// The value of a field; empty if there is none.
    [[nodiscard]] std::string field(const std::string& name) const {
        const std::size_t begin = head.find("\r\n" + name + ": ");
        if (begin == std::string::npos) return {};
        const std::size_t from = begin + name.size() + 4;
        return head.substr(from, head.find("\r\n", from) - from);
    }

    unsigned status = 0;
    std::string head;
    std::string body;
};

/// Sends a request without a body to a host that is an address, unless `fields` begins with another Host, and reads the
/// response until the connection ends.
inline io::task<void> ask_raw(io::endpoint at, std::string method, std::string target, std::vector<std::string> fields,
                              raw_response* into) {
    auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), at);
    if (!stream) {
        ADD_FAILURE() << "not connected";
        co_return;
    }
    std::string text = method + " " + target + " HTTP/1.1\r\n";
    if (fields.empty() || !fields.front().starts_with("Host:")) text += "Host: 127.0.0.1\r\n";
    bool has_connection = false;
    for (const std::string& each : fields) {
        text += each + "\r\n";
        has_connection = has_connection || each.starts_with("Connection:");
    }
    if (!has_connection) text += "Connection: close\r\n";
    text += "\r\n";
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
    into->head = whole.substr(0, end + 2);
    into->body = whole.substr(end + 4);
}

/// A venue on a context of the world, while it lives.
class living_venue {
 public:
    living_venue(sim::world& world, const node::configuration& c)
        : context_(io::context_options(world.machine())), venue_(context_, c), ends_(context_), serving_(context_) {
        serving_.spawn(serve_until(&venue_, &ends_));
    }
    ~living_venue() {
        ends_.set();
        io::block_on(context_, serving_.join());
    }
    living_venue(const living_venue&) = delete;
    living_venue& operator=(const living_venue&) = delete;
    [[nodiscard]] const node::venue& operator*() const noexcept { return venue_; }
    [[nodiscard]] const node::venue* operator->() const noexcept { return &venue_; }

 private:
    io::context context_;
    node::testing::started_venue venue_;
    io::remote_event ends_;
    io::task_scope serving_;
};

/// The API on another context.
class living_api {
 public:
    living_api(sim::world& world, node::configuration c, io::endpoint feed, io::endpoint snapshots,
               std::optional<io::endpoint> orders = std::nullopt, std::vector<api::api_key> keys = {},
               std::span<const api::site_file> pages = {})
        : context_(io::context_options(world.machine())), ends_(context_), serving_(context_) {
        if (c.api_tls_listen.empty()) c.api_listen = "127.0.0.1:0";
        role_ = std::make_unique<node::api_role>(context_, c,
                                                 std::vector<api::feed_address>{node::feed_address_of(feed, snapshots)},
                                                 orders, std::move(keys), pages);
        serving_.spawn(run(this));
    }
    ~living_api() {
        ends_.set();
        io::block_on(context_, serving_.join());
        EXPECT_EQ(role_->server().statistics().sessions_now, 0U);
        EXPECT_EQ(role_->server().statistics().connections_now, 0U);
        EXPECT_EQ(role_->server().statistics().channels_now, 0U);
        EXPECT_EQ(role_->server().statistics().frame_channels_now, 0U);
    }
    living_api(const living_api&) = delete;
    living_api& operator=(const living_api&) = delete;
    [[nodiscard]] const node::api_role* operator->() const noexcept { return role_.get(); }

 private:
    static io::task<void> run(living_api* self) {
        io::task_scope serving(self->context_);
        serving.spawn(self->role_->run());
        static_cast<void>(co_await self->ends_.wait());
        self->role_->close();
        co_await serving.join();
    }

    io::context context_;
    std::unique_ptr<node::api_role> role_;
    io::remote_event ends_;
    io::task_scope serving_;
};

/// A client of the API.
class web_client {
 public:
    [[nodiscard]] io::task<bool> connect(io::endpoint at) {
        auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), at);
        if (!stream) co_return false;
        co_return co_await open(io::any_stream(std::move(*stream)), at.to_string());
    }
    /// Opens the WebSocket over a stream that is connected. @param host  As the client knows it.
    [[nodiscard]] io::task<bool> open(io::any_stream stream, std::string host) {
        auto opened =
            co_await websocket::connect(std::move(stream), host, "/ws/api/v2", websocket::connection_options());
        if (!opened) co_return false;
        peer_ = std::move(*opened);
        co_return true;
    }

    /// The next message; an empty value at the end.
    [[nodiscard]] io::task<json_value> next() {
        const auto message = co_await peer_->receive();
        if (!message) co_return json_value();
        auto parsed = api::parse_json(message->text());
        if (!parsed) ADD_FAILURE() << message->text();
        co_return parsed ? std::move(*parsed) : json_value();
    }

    /// Sends a request and waits for its response. Notifications before it are applied.
    [[nodiscard]] io::task<json_value> call(std::string method, std::string params) {
        const std::string id = std::to_string(++last_id_);
        const std::error_code error = co_await peer_->send_text(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" +
                                                                method + R"(","params":)" + params + "}");
        if (error) co_return json_value();
        while (true) {
            json_value v = co_await next();
            if (v.kind == api::json_kind::null) co_return v;
            const json_value* const of = v.find("id");
            if (of != nullptr && of->text == id) co_return v;
            take(v);
        }
    }

    /// Takes notifications for this long.
    [[nodiscard]] io::task<void> listen(std::chrono::nanoseconds length) {
        io::context& here = co_await io::this_context();
        const io::steady_time end = here.now() + length;
        while (here.now() < end) {
            const auto got = co_await io::with_timeout(end - here.now(), next());
            if (!got || got->kind == api::json_kind::null) co_return;
            take(*got);
        }
    }

    void take(const json_value& v) {
        const json_value* const params = v.find("params");
        if (params == nullptr) return;
        if (v.find("method")->text == "heartbeat") {
            ++(params->find("type")->text == "heartbeat" ? heartbeats : test_requests);
            return;
        }
        const std::string& channel = params->find("channel")->text;
        const json_value& data = *params->find("data");
        ++notifications;
        if (channel.starts_with("trades.")) {
            trades += data.items.size();
            return;
        }
        if (channel.starts_with("user.")) {
            own.push_back(v);
            return;
        }
        if (channel.starts_with("orders.")) last_orders = data;
        if (!channel.starts_with("book.")) return;
        book& into = books[channel];
        if (data.find("type")->text == "snapshot") {
            into = book();
        } else if (data.find("prev_change_id")->text != into.change_id) {
            ++gaps;
        }
        into.change_id = data.find("change_id")->text;
        for (const char* name : {"bids", "asks"}) {
            for (const json_value& each : data.find(name)->items) {
                auto& levels = into.levels[name[0] == 'b' ? 0 : 1];
                const std::int64_t price = *api::scaled_integer(each.items[1].text, 9);
                if (each.items[0].text == "delete") {
                    levels.erase(price);
                } else {
                    levels[price] = static_cast<std::uint64_t>(*api::scaled_integer(each.items[2].text, 0));
                }
            }
        }
    }

    /// Whether the book of a channel is the venue's.
    [[nodiscard]] bool has_book(const std::string& channel, const node::venue& venue, std::uint32_t id) {
        const auto& published = *venue.book(domain::instrument_id{id});
        for (const side s : {side::buy, side::sell}) {
            std::map<std::int64_t, std::uint64_t> levels;
            for (const auto& level : published.levels(s)) {
                levels[level.price.value * 250'000'000] = level.quantity.value;
            }
            if (levels.empty() || levels != books[channel].levels[static_cast<std::size_t>(s)]) return false;
        }
        return true;
    }

    [[nodiscard]] websocket::connection& peer() noexcept { return *peer_; }

    struct book {
        std::string change_id;
        std::array<std::map<std::int64_t, std::uint64_t>, 2> levels;
    };
    std::map<std::string, book> books;
    std::vector<json_value> own;  ///< notifications of user channels
    json_value last_orders;       ///< of a channel of orders
    std::uint64_t notifications = 0;
    std::uint64_t trades = 0;
    std::uint64_t gaps = 0;
    int heartbeats = 0;
    int test_requests = 0;

 private:
    std::unique_ptr<websocket::connection> peer_;
    std::uint64_t last_id_ = 0;
};

}  // namespace corro::testing
