// Networking and transport: how connections come in, and what has to be said on them before a session can begin.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "gateway/order_entry_connection.hpp"
#include "gateway/websocket_stream.hpp"
#include "io/http/server.hpp"
#include "io/tls_stream.hpp"
#include "io/websocket/connection.hpp"
#include "io/with_timeout.hpp"

namespace corro::gateway {
namespace {

/// The server's half of the TLS handshake. `secured` stays closed when it fails.
io::task<void> shake_hands(io::tcp_stream stream, io::tls_context tls, std::chrono::milliseconds patience,
                           io::any_stream* secured) {
    auto made =
        co_await io::with_timeout(patience, io::tls_stream<io::tcp_stream>::accept(std::move(stream), std::move(tls)));
    if (made && *made) *secured = io::any_stream(std::move(**made));
}

/// Tells a client for whose connection there is no room why it is closed, where that costs neither a wait nor a
/// handshake.
void refuse_for_room(accepted_stream& accepted, transport_kind kind) noexcept {
    io::stream_socket* plain = std::get_if<io::unix_stream>(&accepted);
    if (kind == transport_kind::tcp) plain = std::get_if<io::tcp_stream>(&accepted);
    if (plain == nullptr) return;
    wire::logout logout;
    logout.logout_reason = wire::logout_reason::capacity;
    std::array<std::byte, wire::logout::frame_bytes> frame;
    wire::store(logout, 0, frame.data());
    static_cast<void>(plain->try_write(frame));
}

}  // namespace

io::task<void> order_entry_gateway::serve(io::tcp_acceptor acceptor) {
    std::vector<listener> one;
    one.emplace_back(transport_kind::tcp, std::move(acceptor));
    co_await serve(std::move(one));
}

io::task<void> order_entry_gateway::serve(std::vector<listener> listeners) {
    CORRO_ASSERT(listeners_.empty(), "a gateway serves once");
    listeners_ = std::move(listeners);
    io::task_scope conversations(context_);
    io::task_scope waiting(context_);
    waiting.spawn(execute_old_cancels());
    io::task_scope accepting(context_);
    for (listener& each : listeners_) accepting.spawn(accept_all(&each, &conversations));
    co_await accepting.join();
    co_await conversations.join();
    waiting.request_stop();
    co_await waiting.join();
    listeners_.clear();
}

io::task<void> order_entry_gateway::accept_all(listener* from, io::task_scope* conversations) {
    while (!closing_) {
        auto accepted = co_await from->accept();
        if (!accepted) break;  // closed or stopped; accept itself rides out a shortage of descriptors
        if (!admit()) {
            if (!closing_) refuse_for_room(*accepted, from->kind());
            continue;
        }
        auto* const tcp = std::get_if<io::tcp_stream>(&*accepted);
        if (tcp == nullptr) {
            transport_stream stream(std::move(*std::get_if<io::unix_stream>(&*accepted)));
            conversations->spawn(
                converse(std::make_unique<connection>(std::move(stream), options_.output_buffer_bytes)));
        } else if (from->kind() == transport_kind::tcp) {
            const auto peer = tcp->remote_endpoint();
            auto c = std::make_unique<connection>(transport_stream(std::move(*tcp)), options_.output_buffer_bytes);
            if (peer) c->from = *peer;
            conversations->spawn(converse(std::move(c)));
        } else {
            conversations->spawn(greet(std::move(*tcp), from));
        }
    }
}

io::task<void> order_entry_gateway::serve_stream(io::any_stream stream) {
    if (!admit()) co_return;
    auto c = std::make_unique<connection>(transport_stream(std::move(stream)), options_.output_buffer_bytes);
    co_await converse(std::move(c));
}

// Counted here and not when the conversation starts: many may be accepted before the first one runs.
bool order_entry_gateway::admit() noexcept {
    if (closing_ || statistics_.connections_now >= options_.connections_max ||
        strangers_now_ >= options_.strangers_max) {
        ++statistics_.connections_refused;
        if (options_.log != nullptr) {
            telemetry::happening refused(telemetry::component::gateway, telemetry::happening_kind::connection_refused,
                                         statistics_.connections_now, context_.wall_now());
            refused.severity = telemetry::severity::warning;
            options_.log->note(refused);
        }
        return false;
    }
    ++statistics_.connections_accepted;
    ++statistics_.connections_now;
    ++strangers_now_;
    return true;
}

// Somebody left who never came as far as a session.
void order_entry_gateway::dismiss() noexcept {
    --statistics_.connections_now;
    --strangers_now_;
}

// What TLS and WebSocket want to be said first, and then the conversation.
io::task<void> order_entry_gateway::greet(io::tcp_stream accepted, const listener* from) {
    const transport_kind kind = from->kind();
    const auto peer = accepted.remote_endpoint();
    io::any_stream stream;
    if (from->tls() == nullptr) {
        stream = io::any_stream(std::move(accepted));
    } else {
        io::task_scope greeting(context_);
        greetings_.push_back(&greeting);
        greeting.spawn(shake_hands(std::move(accepted), *from->tls(), options_.logon_timeout, &stream));
        if (closing_) greeting.request_stop();
        co_await greeting.join();
        greetings_.erase(std::find(greetings_.begin(), greetings_.end(), &greeting));
        if (!stream.is_open()) {
            ++statistics_.logons_refused;
            dismiss();
            co_return;
        }
    }
    if (kind == transport_kind::tls) {
        auto c = std::make_unique<connection>(transport_stream(std::move(stream)), options_.output_buffer_bytes);
        if (peer) c->from = *peer;
        co_await converse(std::move(c));
        co_return;
    }
    bool upgraded = false;
    io::http::server_options options;
    options.time.head = options.time.idle = options.time.transfer_grace = options_.logon_timeout;
    io::http::server pages(
        context_, [this, &upgraded](io::http::exchange* on) { return upgrade(on, &upgraded); }, options);
    pages_.push_back(&pages);
    if (closing_) pages.drain();
    co_await pages.serve_stream(std::move(stream));
    pages_.erase(std::find(pages_.begin(), pages_.end(), &pages));
    if (!upgraded) dismiss();
}

// A WebSocket lives as long as the handler of the request that opened it.
io::task<void> order_entry_gateway::upgrade(io::http::exchange* on, bool* upgraded) {
    if (*upgraded) co_return;
    io::websocket::connection_options options;
    options.deflate.enabled = false;
    options.limits.receive.message_bytes = websocket_message_bytes_max;
    options.limits.time.transfer_grace = options_.logon_timeout;
    auto opened = co_await io::websocket::accept(on, options);
    if (!opened) co_return;
    *upgraded = true;
    io::any_stream stream(websocket_stream(std::move(*opened)));
    auto c = std::make_unique<connection>(transport_stream(std::move(stream)), options_.output_buffer_bytes);
    co_await converse(std::move(c));
}

}  // namespace corro::gateway
