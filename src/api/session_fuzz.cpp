// SPDX-License-Identifier: Apache-2.0
// A session of the API gets any messages, while the market changes. Each of its messages is JSON, has the id of a
// request or the name of a channel, no book has a gap, and behind the session no channel is left.
//
// The input: messages between line feeds, the first 64 of them. One that begins with the byte 1 is binary; behind each,
// the market changes, or is published, by the length of the message. The key is "key", its secret 64 zeros; it has no
// session with a venue.
//
// The committed corpus: src/api/fuzz_corpus/session

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/api_state.hpp"
#include "api/json_value.hpp"
#include "api/test_market.hpp"
#include "api/web_session.hpp"
#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "websocket/connection.hpp"

using namespace corro;

namespace {

constexpr std::size_t messages_max = 64;
constexpr std::string_view end_id = "the end of the input";
constexpr std::string_view end_text = R"({"jsonrpc":"2.0","id":"the end of the input","method":"public/test"})";

/// What all connections share, without a server: two instruments, and a key.
class shared {
 public:
    explicit shared(io::context& on) : state(on) {
        state.currency = "USD";
        for (const std::uint32_t id : {1U, 2U}) {
            state.markets.begin(*events_.instruments.find(domain::instrument_id{id}), feed::book_image(), 5, 1);
        }
        state.markets.end_begin();
        api::api_key key;
        key.client_id = "key";
        key.account = domain::account_id{1};
        state.accounts.push_back(std::make_unique<api::account>(on, client::venue_endpoint(), std::move(key)));
        state.account_publishers.push_back(
            std::make_unique<api::account_channels>(*state.accounts.back(), state.markets));
        state.keys = std::make_unique<api::authentication>(state.accounts, on.runs_on(), state.now_us() / 1'000);
    }

    void change(std::size_t choice) {
        domain::event e = events_.event(domain::event_kind::level_changed, 1 + choice % 2);
        e.side = choice % 4 < 2 ? domain::side::buy : domain::side::sell;
        const domain::price_ticks price{e.side == domain::side::buy ? 100 - static_cast<std::int64_t>(choice % 5)
                                                                    : 101 + static_cast<std::int64_t>(choice % 5)};
        switch (choice % 7) {
            case 0: state.publisher.publish(api::channel_interval::short_); return;
            case 1: state.publisher.publish(api::channel_interval::long_); return;
            case 2:
                e.kind = domain::event_kind::trade;
                e.trade = domain::tape_trade{};
                e.trade.trade = domain::trade_id{++events_.last_trade};
                e.trade.price = price;
                e.trade.quantity = domain::quantity_lots{1};
                break;
            case 3:
                e.kind = domain::event_kind::order_added;
                e.book = domain::public_order{};
                e.book.order = domain::order_id{++last_order_};
                e.book.price = price;
                e.book.quantity = e.book.change = domain::quantity_lots{1};
                break;
            default:
                e.level = domain::level{};
                e.level.price = price;
                e.level.quantity = domain::volume_lots{choice % 3};
        }
        e.flags |= domain::event_flag::last_of_command;
        state.markets.take(events_.instruments, e);
        ++events_.command;
    }

    api::api_state state;

 private:
    api::testing::test_market events_;
    std::uint64_t last_order_ = 0;
};

/// The client's end, which checks what it gets.
class checking {
 public:
    explicit checking(websocket::connection* peer) noexcept : peer_(peer) {}

    void sends(std::string_view text) {
        const auto sent = api::parse_json(text);
        const api::json_value* const id = sent ? sent->find("id") : nullptr;
        if (id != nullptr) ids_.insert(id->text);
    }

    /// Receives until the last answer, or the end of the connection.
    io::task<> receive() {
        while (true) {
            const auto message = co_await peer_->receive();
            if (!message) break;
            CORRO_ASSERT(message->is_text);
            const bool is_last = take(message->text());
            if (is_last) break;
        }
        peer_->abort();
    }

 private:
    bool take(std::string_view text) {
        const auto v = api::parse_json(text);
        CORRO_ASSERT(v.has_value() || v.error() == api::json_problem::too_large, "a message must be JSON");
        if (!v) return false;
        if (const api::json_value* const id = v->find("id"); id != nullptr) {
            CORRO_ASSERT(id->text == end_id || ids_.contains(id->text), "an answer has the id of a request");
            CORRO_ASSERT((v->find("result") != nullptr) != (v->find("error") != nullptr));
            return id->text == end_id;
        }
        const api::json_value* const params = v->find("params");
        if (params == nullptr) {
            CORRO_ASSERT(v->find("error") != nullptr, "what has neither id nor parameters is an error");
            return false;
        }
        const api::json_value* const channel = params->find("channel");
        if (channel == nullptr || (!channel->text.starts_with("book.") && !channel->text.starts_with("orders."))) {
            return false;
        }
        const api::json_value& data = *params->find("data");
        std::string& last = changes_[channel->text];
        CORRO_ASSERT(data.find("type")->text == "snapshot" || data.find("prev_change_id")->text == last,
                     "a book has no gaps");
        last = data.find("change_id")->text;
        return false;
    }

    websocket::connection* peer_;
    std::set<std::string> ids_;
    std::map<std::string, std::string> changes_;  ///< the last one of each book
};

io::task<> serve(api::api_state* state, websocket::connection* peer) {
    {
        api::web_session session(*state, *peer);
        co_await session.run();
    }
    peer->abort();
    CORRO_ASSERT(state->publisher.count() == 0, "no channel is left");
}

io::task<> play(io::context* on, std::string_view text) {
    shared all(*on);
    auto pair = io::unix_stream::pair(*on);
    CORRO_ASSERT(pair.has_value());
    websocket::connection_options options;
    options.deflate.enabled = false;
    options.limits.receive.message_bytes = 2 * api::request_bytes_max;
    const websocket::handshake_answer agreed;
    websocket::connection served(io::any_stream(std::move(pair->first)), websocket::role::server, options, agreed, {});
    websocket::connection client(io::any_stream(std::move(pair->second)), websocket::role::client, options, agreed, {});
    checking checks(&client);
    io::task_scope running(*on);
    running.spawn(serve(&all.state, &served));
    running.spawn(checks.receive());
    for (std::size_t k = 0; k < messages_max && !text.empty(); ++k) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view message = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const bool is_text = message.empty() || message.front() != '\1';
        if (is_text) checks.sends(message);
        client.queue(is_text, std::as_bytes(std::span(message.data(), message.size())));
        const std::error_code error = co_await client.flush();
        if (error) break;
        all.change(message.size());
    }
    client.queue(true, std::as_bytes(std::span(end_text.data(), end_text.size())));
    static_cast<void>(co_await client.flush());
    co_await running.join();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static io::context on;
    io::block_on(on, play(&on, std::string_view(reinterpret_cast<const char*>(data), size)));
    return 0;
}
