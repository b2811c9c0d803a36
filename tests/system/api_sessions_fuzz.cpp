// SPDX-License-Identifier: Apache-2.0
// Sessions of the API with a small venue: two that trade and a stranger's send any messages. Each message gets exactly
// one answer, in their order and with its id; a stranger gets nothing of an account; in the end the API's books are the
// venue's, its open orders are those in the books, and positions sum to zero.
//
// The input: lines, the first 48 of them. The first byte of a line chooses who sends the rest: 1 the stranger, 2 bob,
// and otherwise it is a part of a message of alice's. After 3, time passes, 10 ms for each byte of the line; after 4,
// alice's connection is lost, and she logs on again. Lines of the stranger with a secret in them are left out.
//
// The committed corpus: tests/system/fuzz_corpus/api_sessions

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_value.hpp"
#include "api/request.hpp"
#include "api_world_fixture.hpp"
#include "base/assert.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "sim/world.hpp"
#include "websocket/connection.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using api::json_value;
using testing::living_api;
using testing::living_venue;

constexpr std::size_t lines_max = 48;
constexpr std::string_view end_text = R"({"jsonrpc":"2.0","id":"the end of the input","method":"public/test"})";
/// More than a request may wait for the venue.
constexpr std::chrono::seconds answer_time_max{20};

std::string secret_of(char account) {
    std::string text;
    for (int k = 0; k < 32; ++k) text += {'0', account};
    return text;
}

std::string logon_of(std::string_view name, char account) {
    return R"({"jsonrpc":"2.0","id":0,"method":"public/auth","params":{"grant_type":"client_credentials","client_id":")" +
           std::string(name) + R"(","client_secret":")" + secret_of(account) + R"("}})";
}

/// A client that notes what it has asked, and checks each answer as it comes.
class checked_client {
 public:
    explicit checked_client(bool is_stranger) : is_stranger_(is_stranger) {}

    io::task<> open(io::endpoint at) {
        auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), at);
        CORRO_ASSERT(stream.has_value());
        websocket::connection_options options;
        options.deflate.enabled = false;
        auto opened =
            co_await websocket::connect(io::any_stream(std::move(*stream)), at.to_string(), "/ws/api/v2", options);
        CORRO_ASSERT(opened.has_value());
        peer_ = std::move(*opened);
        asked_.clear();
        reading_.emplace(co_await io::this_context());
        reading_->spawn(receive(this));
    }
    io::task<> say(std::string text) {
        asked_.push_back(api::request_of_json(text));
        static_cast<void>(co_await peer_->send_text(text));
    }
    /// Loses the connection; what was asked may stay without an answer.
    io::task<> lose() {
        peer_->abort();
        co_await reading_->join();
        reading_.reset();
    }
    /// Waits for the answers to everything, unless the API ends the connection.
    io::task<> finish() {
        is_finishing_ = true;
        co_await say(std::string(end_text));
        const auto joined = co_await io::with_timeout(answer_time_max, reading_->join());
        CORRO_ASSERT(joined.has_value(), "each message has an answer, or the connection ends");
        reading_.reset();
        peer_->abort();
    }

 private:
    static io::task<> receive(checked_client* self) {
        while (!self->is_finishing_ || !self->asked_.empty()) {
            const auto message = co_await self->peer_->receive();
            if (!message) co_return;
            CORRO_ASSERT(message->is_text);
            self->take(message->text());
        }
    }
    void take(std::string_view text) {
        const auto v = api::parse_json(text);
        CORRO_ASSERT(v.has_value() || v.error() == api::json_problem::too_large, "a message must be JSON");
        if (v && v->find("method") != nullptr) {
            const json_value* const params = v->find("params");
            const json_value* const channel = params == nullptr ? nullptr : params->find("channel");
            CORRO_ASSERT(!is_stranger_ || channel == nullptr || !channel->text.starts_with("user."));
            return;
        }
        CORRO_ASSERT(!asked_.empty(), "an answer belongs to a message");
        const api::read_request asked = std::move(asked_.front());
        asked_.pop_front();
        if (!v) return;
        CORRO_ASSERT((v->find("result") != nullptr) != (v->find("error") != nullptr));
        const json_value* const id = v->find("id");
        CORRO_ASSERT(asked.id.empty() == (id == nullptr), "an answer has the id of its message");
        if (id != nullptr) {
            const auto sent = api::parse_json(R"({"id":)" + asked.id + "}");
            CORRO_ASSERT(sent && sent->find("id")->text == id->text, "answers come in the order of the messages");
        }
        const bool is_private = asked.what && asked.what->method->is_private();
        CORRO_ASSERT(!is_stranger_ || !is_private || v->find("error") != nullptr, "a stranger has no account");
    }

    bool is_stranger_;
    std::unique_ptr<websocket::connection> peer_;
    std::deque<api::read_request> asked_;
    std::optional<io::task_scope> reading_;
    bool is_finishing_ = false;
};

node::configuration tiny_venue() {
    node::configuration c = testing::small_venue();
    c.busy_poll = 0us;
    c.orders_max = 256;
    c.feed_log_bytes = 1024 * 1024;
    c.order_entry_listen = "127.0.0.1:7101";
    c.feed_listen = "127.0.0.1:7102";
    c.snapshot_listen = "127.0.0.1:7103";
    return c;
}

std::vector<api::api_key> two_keys() {
    std::vector<api::api_key> keys(2);
    for (std::uint32_t k = 0; k < 2; ++k) {
        keys[k].client_id = k == 0 ? "alice" : "bob";
        keys[k].secret.fill(static_cast<std::byte>(k + 1));
        keys[k].account = domain::account_id{k + 1};
        keys[k].session_number = 4;
    }
    return keys;
}

io::task<> play(io::endpoint at, std::string_view text) {
    checked_client alice(false);
    checked_client bob(false);
    checked_client stranger(true);
    co_await alice.open(at);
    co_await bob.open(at);
    co_await stranger.open(at);
    co_await alice.say(logon_of("alice", '1'));
    co_await bob.say(logon_of("bob", '2'));
    for (std::size_t k = 0; k < lines_max && !text.empty(); ++k) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string line(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        const char whose = line.empty() ? '\0' : line.front();
        if (whose >= '\1' && whose <= '\4') line.erase(0, 1);
        if (whose == '\1') {
            if (line.find("0101010101") == line.npos && line.find("0202020202") == line.npos) {
                co_await stranger.say(std::move(line));
            }
        } else if (whose == '\2') {
            co_await bob.say(std::move(line));
        } else if (whose == '\3') {
            static_cast<void>(co_await io::sleep_for(10ms * line.size()));
        } else if (whose == '\4') {
            co_await alice.lose();
            co_await alice.open(at);
            co_await alice.say(logon_of("alice", '1'));
        } else {
            co_await alice.say(std::move(line));
        }
    }
    co_await alice.finish();
    co_await bob.finish();
    co_await stranger.finish();
}

/// The lots of a key's position in an instrument, and its open orders.
struct holding {
    std::int64_t position = 0;
    std::size_t open = 0;
};

io::task<> ask_holding(io::endpoint at, std::string logon, holding* into) {
    testing::web_client c;
    const bool is_open = co_await c.connect(at);
    CORRO_ASSERT(is_open);
    static_cast<void>(co_await c.peer().send_text(logon));
    const json_value told = co_await c.next();
    CORRO_ASSERT(told.find("result") != nullptr, "a key can log on in the end");
    const json_value open = co_await c.call("private/get_open_orders", "{}");
    const json_value position = co_await c.call("private/get_position", R"({"instrument_name":"ONE"})");
    CORRO_ASSERT(open.find("result") != nullptr && position.find("result") != nullptr, "a key is answered in the end");
    into->open = open.find("result")->items.size();
    into->position = *api::scaled_integer(position.find("result")->find("size")->text, 0);
}

io::task<> compare(const node::venue* venue, io::endpoint at) {
    // Connections that were lost have cancelled what they had to.
    static_cast<void>(co_await io::sleep_for(1s));
    testing::web_client c;
    const bool is_open = co_await c.connect(at);
    CORRO_ASSERT(is_open);
    static_cast<void>(co_await c.call("public/subscribe", R"({"channels":["book.ONE.raw","book.TWO.raw"]})"));
    co_await c.listen(500ms);
    std::size_t in_books = 0;
    for (const std::uint32_t id : {1U, 2U}) {
        const auto& published = *venue->book(domain::instrument_id{id});
        const auto& shown = c.books[id == 1 ? "book.ONE.raw" : "book.TWO.raw"];
        in_books += published.orders_count();
        for (const domain::side s : {domain::side::buy, domain::side::sell}) {
            std::map<std::int64_t, std::uint64_t> levels;
            for (const auto& level : published.levels(s)) {
                levels[level.price.value * 250'000'000] = level.quantity.value;
            }
            CORRO_ASSERT(levels == shown.levels[static_cast<std::size_t>(s)], "the API has the venue's book");
        }
    }
    holding alice;
    holding bob;
    co_await ask_holding(at, logon_of("alice", '1'), &alice);
    co_await ask_holding(at, logon_of("bob", '2'), &bob);
    CORRO_ASSERT(alice.open + bob.open == in_books, "open orders are those in the books");
    CORRO_ASSERT(alice.position + bob.position == 0, "what one sells the other has");
}

/// A world for one input.
void run(std::string_view input) {
    sim::world world{71};
    const node::configuration c = tiny_venue();
    io::context clients{io::context_options(world.machine())};
    living_venue venue(world, c);
    living_api api(world, c, io::endpoint::loopback(7102), io::endpoint::loopback(7103), io::endpoint::loopback(7101),
                   two_keys());
    io::block_on(clients, []() -> io::task<> { static_cast<void>(co_await io::sleep_for(1s)); }());
    const io::endpoint at = api->where();
    io::block_on(clients, play(at, input));
    io::block_on(clients, compare(&*venue, at));
}

}  // namespace
}  // namespace corro

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    corro::run(std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}
