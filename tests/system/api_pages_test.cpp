// SPDX-License-Identifier: Apache-2.0
// The binary market channel and the pages of the API, beside a venue in a world in memory.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/site.hpp"
#include "api_world_fixture.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "node/venue/venue_fixture.hpp"
#include "sim/world.hpp"
#include "websocket/connection.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using testing::living_api;
using testing::living_venue;

constexpr std::array pages{
    api::site_file{"index.html", "text/html; charset=utf-8", "00ff", "<p>a market", "z", false},
    api::site_file{"app-3f9c2a71.js", "text/javascript; charset=utf-8", "11ee", "let a;", {}, true},
};

/// A world with a venue, its API with pages, and a context for clients.
class pages_world : public ::testing::Test {
 protected:
    pages_world() {
        node::configuration c = testing::small_venue();
        c.busy_poll = 0us;
        c.api_hosts = {"venue.example"};
        venue_ = std::make_unique<living_venue>(world_, c);
        api_ = std::make_unique<living_api>(world_, c, (*venue_)->feed_endpoint(), (*venue_)->snapshot_endpoint(),
                                            std::nullopt, std::vector<api::api_key>(), pages);
    }
    void play(io::task<void> work) { io::block_on(clients_, std::move(work)); }
    [[nodiscard]] io::endpoint where() const { return (*api_)->where(); }

    sim::world world_{31};
    std::unique_ptr<living_venue> venue_;
    std::unique_ptr<living_api> api_;
    io::context clients_{io::context_options(world_.machine())};
};

/// A client of frames.
struct frame_client {
    [[nodiscard]] io::task<std::error_code> connect(io::endpoint at, std::string query) {
        auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), at);
        if (!stream) co_return stream.error();
        auto opened = co_await websocket::connect(io::any_stream(std::move(*stream)), at.to_string(),
                                                  "/ws/market/v1?" + query, websocket::connection_options());
        if (!opened) co_return opened.error();
        peer = std::move(*opened);
        co_return std::error_code();
    }
    /// Takes frames for this long, or until the connection ends.
    [[nodiscard]] io::task<void> listen(std::chrono::nanoseconds length) {
        io::context& here = co_await io::this_context();
        const io::steady_time end = here.now() + length;
        while (here.now() < end) {
            const auto got = co_await io::with_timeout(end - here.now(), peer->receive());
            if (!got) co_return;
            if (!*got) co_return;
            take((*got)->data);
        }
    }
    void take(std::span<const std::byte> bytes) {
        std::vector<double> f(bytes.size() / 8);
        std::memcpy(f.data(), bytes.data(), f.size() * 8);
        ++frames;
        if (f[1] == 1) {
            ++snapshots;
            levels = {};
        } else if (f[3] != sequence) {
            ++gaps;
        }
        sequence = f[2];
        is_live = f[6] == 1;
        std::size_t at = 24;
        for (std::size_t s = 0; s < 2; ++s) {
            for (double k = 0; k < f[20 + s]; ++k, at += 2) {
                if (f[at + 1] == 0) {
                    levels[s].erase(static_cast<std::int64_t>(f[at]));
                } else {
                    levels[s][static_cast<std::int64_t>(f[at])] = static_cast<std::uint64_t>(f[at + 1]);
                }
            }
        }
        trades += f[22];
        columns += f[23];
    }
    [[nodiscard]] bool has_book(const node::venue& venue, std::uint32_t id) const {
        const auto& published = *venue.book(domain::instrument_id{id});
        for (const domain::side s : {domain::side::buy, domain::side::sell}) {
            std::map<std::int64_t, std::uint64_t> now;
            for (const auto& level : published.levels(s)) now[level.price.value] = level.quantity.value;
            if (now.empty() || now != levels[static_cast<std::size_t>(s)]) return false;
        }
        return true;
    }

    std::unique_ptr<websocket::connection> peer;
    std::array<std::map<std::int64_t, std::uint64_t>, 2> levels;
    double sequence = 0;
    double trades = 0;
    double columns = 0;
    int frames = 0;
    int snapshots = 0;
    int gaps = 0;
    bool is_live = false;
};

io::task<void> follow_frames(const node::venue* venue, io::endpoint at) {
    static_cast<void>(co_await io::sleep_for(1s));
    frame_client quick;
    frame_client calm;
    const std::error_code first = co_await quick.connect(at, "instrument=ONE");
    const std::error_code second = co_await calm.connect(at, "instrument=ONE&tick=1000&column=1000");
    if (first || second) {
        ADD_FAILURE() << first.message() << second.message();
        co_return;
    }
    io::task_scope beside(co_await io::this_context());
    beside.spawn(testing::trade_at_random(venue->order_entry_endpoint(), 1, 400));
    beside.spawn(calm.listen(6s));
    co_await quick.listen(2s);
    const std::error_code asked = co_await quick.peer->send_text("snapshot");
    EXPECT_FALSE(asked);
    co_await quick.listen(4s);
    co_await beside.join();
    EXPECT_TRUE(quick.has_book(*venue, 1));
    EXPECT_TRUE(calm.has_book(*venue, 1));
    EXPECT_EQ(quick.gaps + calm.gaps, 0);
    EXPECT_EQ(quick.snapshots, 2);
    EXPECT_EQ(calm.snapshots, 1);
    EXPECT_GT(quick.frames, 60);
    EXPECT_LE(calm.frames, 8) << "one each second";
    EXPECT_GT(quick.trades, 10);
    EXPECT_GT(quick.columns, 10);
    EXPECT_TRUE(quick.is_live);
    static_cast<void>(co_await quick.peer->close());
    // Anything else that a client sends ends its connection.
    const std::error_code sent = co_await calm.peer->send_text("snapshot please");
    EXPECT_FALSE(sent);
    co_await calm.listen(10s);
    EXPECT_EQ(calm.peer->peer_code(), websocket::close_code::policy_violation);
}

TEST_F(pages_world, frames_follow_the_venues_book_at_any_tick) {
    play(follow_frames(&**venue_, where()));
}

io::task<void> ask_for_snapshots(io::endpoint at) {
    static_cast<void>(co_await io::sleep_for(1s));
    frame_client c;
    const std::error_code error = co_await c.connect(at, "instrument=TWO");
    EXPECT_FALSE(error);
    if (error) co_return;
    for (int k = 0; k < 200; ++k) static_cast<void>(co_await c.peer->send_text("snapshot"));
    co_await c.listen(10s);
    EXPECT_EQ(c.peer->peer_code(), websocket::close_code::policy_violation);
    EXPECT_EQ(c.peer->peer_reason(), "too_many_requests");
}

TEST_F(pages_world, snapshots_cost_credits) {
    play(ask_for_snapshots(where()));
}

TEST_F(pages_world, pages_come_with_their_types_and_what_protects_browsers) {
    play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(1s)); }());
    const auto ask = [this](std::string target, std::vector<std::string> fields = {}, std::string method = "GET") {
        testing::raw_response got;
        play(testing::ask_raw(where(), std::move(method), std::move(target), std::move(fields), &got));
        return got;
    };
    const testing::raw_response index = ask("/");
    EXPECT_EQ(index.status, 200U);
    EXPECT_EQ(index.body, "<p>a market");
    EXPECT_EQ(index.field("Content-Type"), "text/html; charset=utf-8");
    EXPECT_EQ(index.field("Cache-Control"), "no-cache");
    EXPECT_EQ(index.field("ETag"), "\"00ff\"");
    EXPECT_EQ(index.field("Vary"), "Accept-Encoding");
    EXPECT_NE(index.field("Content-Security-Policy"), "");
    EXPECT_EQ(index.field("X-Content-Type-Options"), "nosniff");
    const testing::raw_response packed = ask("/index.html?x=1", {"Accept-Encoding: br, gzip"});
    EXPECT_EQ(packed.body, "z");
    EXPECT_EQ(packed.field("Content-Encoding"), "gzip");
    EXPECT_EQ(packed.field("ETag"), "\"00ff-gzip\"");
    EXPECT_EQ(ask("/", {"If-None-Match: \"00ff-gzip\""}).status, 304U);
    EXPECT_EQ(ask("/", {"If-None-Match: \"00fe\""}).status, 200U);
    EXPECT_EQ(ask("/", {}, "HEAD").body, "");
    EXPECT_EQ(ask("/app-3f9c2a71.js").field("Cache-Control"), "public, max-age=31536000, immutable");
    EXPECT_EQ(ask("/app-3f9c2a71.js", {"Accept-Encoding: gzip"}).field("Content-Encoding"), "")
        << "it would save nothing";
    const testing::raw_response missing = ask("/../etc/passwd");
    EXPECT_EQ(missing.status, 404U);
    EXPECT_NE(missing.field("Content-Security-Policy"), "");
    EXPECT_EQ(ask("/", {}, "POST").status, 405U);
    EXPECT_EQ(ask("/api/v2/public/get_time").status, 200U) << "methods are not pages";
}

TEST_F(pages_world, names_of_others_that_lead_here_are_refused) {
    play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(1s)); }());
    const auto status_of = [this](const std::string& host, std::string target, std::vector<std::string> more = {}) {
        std::vector<std::string> fields{"Host: " + host};
        fields.insert(fields.end(), more.begin(), more.end());
        testing::raw_response got;
        play(testing::ask_raw(where(), "GET", std::move(target), std::move(fields), &got));
        return got.status;
    };
    for (const char* const target : {"/", "/api/v2/public/get_time", "/api/v1/instruments", "/nothing"}) {
        EXPECT_EQ(status_of("evil.example", target), 403U) << target;
    }
    // The page of such a name has this name as its origin, too.
    const std::vector<std::string> upgrade{"Origin: http://evil.example", "Upgrade: websocket", "Connection: Upgrade",
                                           "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="};
    EXPECT_EQ(status_of("evil.example", "/ws/api/v2", upgrade), 403U);
    EXPECT_EQ(status_of("evil.example", "/ws/market/v1?instrument=ONE", upgrade), 403U);
    for (const char* const host : {"venue.example", "Venue.Example:7020", "localhost", "192.0.2.1:7020"}) {
        EXPECT_EQ(status_of(host, "/api/v2/public/get_time"), 200U) << host;
    }
}

TEST_F(pages_world, requests_for_frames_that_are_wrong_are_refused) {
    const auto ask = [this](std::string target, std::vector<std::string> fields = {}) {
        testing::raw_response got;
        play(testing::ask_raw(where(), "GET", std::move(target), std::move(fields), &got));
        return got;
    };
    EXPECT_EQ(ask("/ws/market/v1?instrument=ONE").status, 503U) << "the feed is not joined yet";
    play([]() -> io::task<void> { static_cast<void>(co_await io::sleep_for(1s)); }());
    EXPECT_EQ(ask("/ws/market/v1").status, 400U);
    const testing::raw_response tick = ask("/ws/market/v1?instrument=ONE&tick=7");
    EXPECT_EQ(tick.status, 400U);
    EXPECT_NE(tick.body.find(R"("data":{"param":"tick"})"), std::string::npos) << tick.body;
    EXPECT_EQ(ask("/ws/market/v1?instrument=NONE").status, 404U);
    EXPECT_EQ(ask("/ws/market/v1?instrument=ONE").status, 426U) << "not a WebSocket";
    const std::vector<std::string> foreign{
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Origin: https://evil.example"};
    EXPECT_EQ(ask("/ws/market/v1?instrument=ONE", foreign).status, 403U);
}

}  // namespace
}  // namespace corro
