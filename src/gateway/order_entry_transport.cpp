// Networking and transport: how connections come in, and what has to be said on them before a session can begin.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>

#include "gateway/order_entry_connection.hpp"
#include "gateway/websocket_stream.hpp"
#include "http/server.hpp"
#include "io/loop/timer.hpp"
#include "io/process/idle_memory.hpp"
#include "io/task/with_timeout.hpp"
#include "io/tls/tls_stream.hpp"
#include "websocket/connection.hpp"

namespace corro::gateway {
namespace {

/// One handshake: it has a place among those under way, which a newer one may take, and waits for its turns.
class handshake final : public io::handshake_pace, public io::admission::guest {
 public:
    handshake(handshake_budget& budget, bool is_proven, io::task_scope& scope) noexcept
        : budget_(budget), scope_(scope), is_proven_(is_proven) {}

    io::task<std::error_code> next_step() override {
        if (++steps_ > handshake_steps_of_one_max) {
            co_return io::make_error_code(io::tls_errc::protocol_violation);
        }
        const handshake_rank others = steps_ == 1 ? handshake_rank::newcomer : handshake_rank::begun;
        co_return co_await budget_.wait_for_turn(is_proven_ ? handshake_rank::proven : others);
    }
    void evict() noexcept override { scope_.request_stop(); }

 private:
    handshake_budget& budget_;
    io::task_scope& scope_;
    std::uint32_t steps_ = 0;
    bool is_proven_;
};

/// The server's half of the TLS handshake. `secured` stays closed when it fails.
io::task<void> shake_hands(io::tcp_stream stream, io::tls_context tls, std::chrono::milliseconds patience,
                           io::handshake_pace* pace, io::any_stream* secured) {
    auto made = co_await io::with_timeout(
        patience, io::tls_stream<io::tcp_stream>::accept(std::move(stream), std::move(tls), pace));
    if (made && *made) *secured = io::any_stream(std::move(**made));
}

/// Ends a greeting after the time that a farewell may take.
io::task<void> stop_after_delay(io::task_scope* greeting) {
    const std::error_code stopped = co_await io::sleep_for(farewell_timeout);
    if (!stopped) greeting->request_stop();
}

/// Serves the one connection of a greeting, and ends the greeting with it.
io::task<void> serve_pages(http::server* pages, io::any_stream stream, io::task_scope* greeting) {
    co_await pages->serve_stream(std::move(stream));
    greeting->request_stop();
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
    waiting.spawn(cancel_absent_sessions());
    io::task_scope accepting(context_);
    io::task_scope pacing(context_);
    pacing.spawn(handshakes_.run());
    pacing.spawn(return_idle_memory());
    pacing.spawn(end_days());
    for (listener& each : listeners_) accepting.spawn(accept_all(&each, &conversations));
    co_await accepting.join();
    co_await conversations.join();
    waiting.request_stop();
    co_await waiting.join();
    pacing.request_stop();
    co_await pacing.join();
    listeners_.clear();
}

// What a crowd had in memory lies among what is still in use, and the allocator keeps it.
io::task<void> order_entry_gateway::return_idle_memory() {
    auto seen = statistics_.connections_now;
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(options_.crowd_look_interval);
        if (stopped) co_return;
        const bool goes_on = statistics_.connections_now < seen;  // what leaves later would stay in memory
        seen = statistics_.connections_now;
        if (goes_on || connections_peak_ < crowd_connections_min || seen > connections_peak_ / 4) continue;
        connections_peak_ = seen;
        co_await io::give_idle_memory_back();
        ++statistics_.crowds_left;
    }
}

io::task<void> order_entry_gateway::accept_all(listener* from, io::task_scope* conversations) {
    while (!closing_) {
        auto accepted = co_await from->accept();
        if (!accepted) break;  // closed or stopped; accept itself rides out a shortage of descriptors
        const auto* const tcp = std::get_if<io::tcp_stream>(&*accepted);
        std::optional<io::endpoint> origin;
        if (tcp != nullptr) {
            const auto peer = tcp->remote_endpoint();
            if (!peer) continue;  // it has gone again
            origin = *peer;
        }
        admitted who = admit(origin);
        if (who == nullptr && !closing_) who = refuse_for_capacity(*accepted, from->kind(), origin);
        if (who != nullptr) conversations->spawn(receive(std::move(*accepted), from, std::move(who)));
    }
}

// Tells a client for whose connection there is no room why it is closed. On a plain socket that costs no wait. A client
// of WebSockets is told in the answer to its request, which has to be read first: it is served as one that was turned
// out. Over TLS it would cost a handshake, whose turn others need: those connections are closed.
order_entry_gateway::admitted order_entry_gateway::refuse_for_capacity(accepted_stream& accepted, transport_kind kind,
                                                                       const std::optional<io::endpoint>& from) {
    if (kind == transport_kind::websocket) {
        auto refused = std::make_unique<unauthenticated_connection>(*this, from);
        refused->evicted = true;
        if (!refused->reserve_refusal()) refused.reset();
        return refused;
    }
    io::stream_socket* plain = std::get_if<io::unix_stream>(&accepted);
    if (kind == transport_kind::tcp) plain = std::get_if<io::tcp_stream>(&accepted);
    if (plain == nullptr) return nullptr;
    wire::logout logout;
    logout.logout_reason = wire::logout_reason::capacity;
    std::array<std::byte, wire::logout::frame_bytes> frame;
    wire::store(logout, 0, frame.data());
    static_cast<void>(plain->try_write(frame));
    return nullptr;
}

// A client that is greeted is not in any more. Who has a request to send is given the time for it.
void order_entry_gateway::unauthenticated_connection::end_greeting() noexcept {
    if (is_asked && reserve_refusal()) return greeting->spawn(stop_after_delay(greeting));
    greeting->request_stop();
}

bool order_entry_gateway::unauthenticated_connection::reserve_refusal() noexcept {
    if (has_farewell) return true;
    if (gateway.closing_ || gateway.refusals_under_way_ >= gateway.options_.farewells_max) return false;
    ++gateway.refusals_under_way_;
    has_farewell = true;
    return true;
}

io::task<void> order_entry_gateway::serve_stream(io::any_stream stream) {
    const admitted who = admit(std::nullopt);
    if (who == nullptr) co_return;
    auto c = std::make_unique<connection>(transport_stream(std::move(stream)));
    co_await converse(std::move(c), who.get());
}

// Counted here and not when the conversation starts: many may be accepted before the first one runs. A newcomer takes
// the place of the oldest unauthenticated connection; only when all places are taken by sessions it is refused.
order_entry_gateway::admitted order_entry_gateway::admit(const std::optional<io::endpoint>& from) {
    auto who = std::make_unique<unauthenticated_connection>(*this, from);
    bool is_in = !closing_;
    const bool is_full = statistics_.connections_now - refusals_under_way_ > options_.connections_max;
    if (is_in && is_full) is_in = admission_.evict_oldest();
    if (is_in) is_in = admission_.enter(*who, from);
    statistics_.strangers_turned_out = admission_.evicted_count();
    if (is_in) {
        ++statistics_.connections_accepted;
        return who;
    }
    who.reset();
    ++statistics_.connections_refused;
    if (options_.log != nullptr) {
        telemetry::log_record refused(telemetry::component::gateway, telemetry::log_record_kind::connection_refused,
                                      statistics_.connections_now, context_.wall_now());
        refused.severity = telemetry::severity::warning;
        options_.log->note(refused);
    }
    return who;
}

// One connection, from accept to the end, whatever it travels over.
io::task<void> order_entry_gateway::receive(accepted_stream accepted, const listener* from, admitted who) {
    auto* const tcp = std::get_if<io::tcp_stream>(&accepted);
    if (tcp != nullptr && from->kind() != transport_kind::tcp) {
        if (!who->evicted || from->tls() == nullptr) co_await greet(std::move(*tcp), from, who.get());
        co_return;
    }
    std::unique_ptr<connection> c;
    if (tcp != nullptr) {
        c = std::make_unique<connection>(transport_stream(std::move(*tcp)));
    } else {
        c = std::make_unique<connection>(transport_stream(std::move(*std::get_if<io::unix_stream>(&accepted))));
    }
    co_await converse(std::move(c), who.get());
}

// What TLS and WebSocket want to be said first, and then the conversation.
io::task<void> order_entry_gateway::greet(io::tcp_stream accepted, const listener* from,
                                          unauthenticated_connection* who) {
    const transport_kind kind = from->kind();
    io::any_stream stream;
    if (from->tls() == nullptr) {
        stream = io::any_stream(std::move(accepted));
    } else {
        co_await secure(std::move(accepted), from, who, &stream);
        if (!stream.is_open()) {
            ++statistics_.logons_refused;
            co_return;
        }
    }
    if (kind == transport_kind::tls) {
        auto c = std::make_unique<connection>(transport_stream(std::move(stream)));
        co_await converse(std::move(c), who);
        co_return;
    }
    http::server_options options;
    options.time.head = options.time.idle = options.time.transfer_grace = options_.logon_timeout;
    http::server pages(context_, [this, who](http::exchange* on) { return upgrade(on, who); }, options);
    pages_.push_back(&pages);
    if (closing_) pages.drain();
    io::task_scope greeting(context_);
    who->greeting = &greeting;
    who->is_asked = true;
    greeting.spawn(serve_pages(&pages, std::move(stream), &greeting));
    // All requests before the one that opens the WebSocket have this time together.
    const auto end_without_conversation = [](std::chrono::milliseconds patience, const unauthenticated_connection* of,
                                             io::task_scope* scope) -> io::task<void> {
        const std::error_code stopped = co_await io::sleep_for(patience);
        if (!stopped && of->conversation == nullptr) scope->request_stop();
    };
    greeting.spawn(end_without_conversation(options_.logon_timeout, who, &greeting));
    if (who->evicted) who->end_greeting();
    co_await greeting.join();
    who->greeting = nullptr;
    pages_.erase(std::find(pages_.begin(), pages_.end(), &pages));
}

// The handshake of TLS. `secured` stays closed when nothing comes of it.
io::task<void> order_entry_gateway::secure(io::tcp_stream accepted, const listener* from,
                                           unauthenticated_connection* who, io::any_stream* secured) {
    io::task_scope greeting(context_);
    who->greeting = &greeting;
    greetings_.push_back(&greeting);
    handshake mine(handshakes_, who->is_in() && who->is_from_proven(), greeting);
    const bool has_place = handshake_admission_.enter(mine, who->from);
    greeting.spawn(shake_hands(std::move(accepted), *from->tls(), options_.logon_timeout, &mine, secured));
    if (closing_ || who->evicted || !has_place) greeting.request_stop();
    co_await greeting.join();
    greetings_.erase(std::find(greetings_.begin(), greetings_.end(), &greeting));
    who->greeting = nullptr;
}

// A WebSocket lives as long as the handler of the request that opened it.
io::task<void> order_entry_gateway::upgrade(http::exchange* on, unauthenticated_connection* who) {
    if (who->evicted) {
        on->respond(503, "text/plain", "capacity: the venue has no room for another connection\n");
        on->close_after();
        co_return;
    }
    if (!who->is_in() || who->conversation != nullptr) co_return;
    websocket::connection_options options;
    options.deflate.enabled = false;
    options.limits.receive.message_bytes = websocket_message_bytes_max;
    options.limits.time.transfer_grace = options_.logon_timeout;
    auto opened = co_await websocket::accept(on, options);
    if (!opened) co_return;
    io::any_stream stream(websocket_stream(std::move(*opened)));
    auto c = std::make_unique<connection>(transport_stream(std::move(stream)));
    co_await converse(std::move(c), who);
}

}  // namespace corro::gateway
