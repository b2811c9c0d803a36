// SPDX-License-Identifier: Apache-2.0
#include "gateway/transport/acceptor.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "base/assert.hpp"
#include "http/server.hpp"
#include "io/loop/timer.hpp"
#include "io/process/idle_memory.hpp"
#include "io/task/with_timeout.hpp"
#include "io/tls/tls_stream.hpp"
#include "websocket/byte_stream.hpp"
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

/// Ends a greeting after the time that last messages may take.
io::task<void> stop_after_delay(io::task_scope* greeting) {
    const std::error_code stopped = co_await io::sleep_for(farewell_timeout);
    if (!stopped) greeting->request_stop();
}

/// Serves the one connection of a greeting, and ends the greeting with it.
io::task<void> serve_pages(http::server* pages, io::any_stream stream, io::task_scope* greeting) {
    co_await pages->serve_stream(std::move(stream));
    greeting->request_stop();
}

io::admission_options admission_of(const gateway_options& options) {
    io::admission_options admission;
    admission.guests_max = options.strangers_max;
    admission.per_address_max = std::min(options.strangers_per_address_max, options.strangers_max);
    admission.reserved_for_proven = std::min(options.strangers_reserved, options.strangers_max / 4);
    admission.reserved_for_unproven = admission.reserved_for_proven;
    admission.proven_addresses_max = proven_addresses_max;
    return admission;
}

io::admission_options handshake_admission_of(const gateway_options& options) {
    io::admission_options admission;
    admission.guests_max = options.handshakes_max;
    admission.per_address_max = std::min(options.handshakes_per_address_max, options.handshakes_max);
    admission.reserved_for_proven = 0;
    return admission;
}

}  // namespace

connection_place::connection_place(acceptor& at, const std::optional<io::endpoint>& from) noexcept
    : acceptor_(at), from_(from) {
    ++acceptor_.statistics_.connections_now;
    acceptor_.connections_peak_ = std::max(acceptor_.connections_peak_, acceptor_.statistics_.connections_now);
}

connection_place::~connection_place() {
    --acceptor_.statistics_.connections_now;
    if (has_reserved_refusal_) --acceptor_.refusals_under_way_;
}

void connection_place::evict() noexcept {
    is_evicted_ = true;
    if (conversation_ != nullptr) return conversation_->evict();
    if (greeting_ != nullptr) end_greeting();
}

// A peer that was about to send an HTTP request is given the time for it, so that the reason can be its response.
void connection_place::end_greeting() noexcept {
    if (is_request_awaited_ && reserve_refusal()) return greeting_->spawn(stop_after_delay(greeting_));
    greeting_->request_stop();
}

bool connection_place::reserve_refusal() noexcept {
    if (has_reserved_refusal_) return true;
    if (acceptor_.closing_ || acceptor_.refusals_under_way_ >= acceptor_.options_.farewells_max) return false;
    ++acceptor_.refusals_under_way_;
    has_reserved_refusal_ = true;
    return true;
}

void connection_place::prove() {
    acceptor_.admission_.prove(*this);
}

acceptor::acceptor(io::context& context, const gateway_options& options, protocol& serves,
                   gateway_statistics& statistics)
    : context_(context),
      options_(options),
      protocol_(serves),
      statistics_(statistics),
      handshakes_(context, options.handshakes),
      handshake_admission_(handshake_admission_of(options)),
      admission_(admission_of(options)) {}

void acceptor::close() noexcept {
    closing_ = true;
    for (listener& each : listeners_) each.close();
    for (io::task_scope* greeting : greetings_) greeting->request_stop();
    for (http::server* pages : pages_) pages->drain();
}

io::task<void> acceptor::serve(std::vector<listener> listeners) {
    CORRO_ASSERT(listeners_.empty(), "a gateway serves once");
    listeners_ = std::move(listeners);
    io::task_scope conversations(context_);
    io::task_scope accepting(context_);
    io::task_scope pacing(context_);
    pacing.spawn(handshakes_.run());
    pacing.spawn(return_idle_memory());
    for (listener& each : listeners_) accepting.spawn(accept_all(&each, &conversations));
    co_await accepting.join();
    co_await conversations.join();
    pacing.request_stop();
    co_await pacing.join();
    listeners_.clear();
}

// Memory of a crowd lies between blocks that are still in use, and the allocator keeps it.
io::task<void> acceptor::return_idle_memory() {
    auto seen = statistics_.connections_now;
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(options_.crowd_look_interval);
        if (stopped) co_return;
        const bool goes_on = statistics_.connections_now < seen;  // more will leave soon
        seen = statistics_.connections_now;
        if (goes_on || connections_peak_ < crowd_connections_min || seen > connections_peak_ / 4) continue;
        connections_peak_ = seen;
        co_await io::give_idle_memory_back();
        ++statistics_.crowds_left;
    }
}

io::task<void> acceptor::accept_all(listener* from, io::task_scope* conversations) {
    while (!closing_) {
        auto accepted = co_await from->accept();
        if (!accepted) break;  // closed or stopped; accept itself rides out a shortage of descriptors
        const auto* const tcp = std::get_if<io::tcp_stream>(&*accepted);
        std::optional<io::endpoint> origin;
        if (tcp != nullptr) {
            const auto peer = tcp->remote_endpoint();
            if (!peer) continue;  // the peer has closed it already
            origin = *peer;
        }
        admitted place = admit(origin);
        if (place == nullptr && !closing_) place = refuse_for_capacity(*accepted, from->kind(), origin);
        if (place != nullptr) conversations->spawn(receive(std::move(*accepted), from, std::move(place)));
    }
}

// Sends the reason to a client for whose connection there is no room. On a plain socket that costs no wait. A client of
// WebSockets gets it in the response to its request, which has to be read first: it is served like one that was
// evicted. Over TLS it would cost a handshake, whose turn others need: those connections are closed.
acceptor::admitted acceptor::refuse_for_capacity(accepted_stream& accepted, transport_kind kind,
                                                 const std::optional<io::endpoint>& from) {
    if (kind == transport_kind::websocket) {
        auto refused = std::make_unique<connection_place>(*this, from);
        refused->is_evicted_ = true;
        if (!refused->reserve_refusal()) refused.reset();
        return refused;
    }
    io::stream_socket* plain = std::get_if<io::unix_stream>(&accepted);
    if (kind == transport_kind::tcp) plain = std::get_if<io::tcp_stream>(&accepted);
    if (kind == transport_kind::shared_memory) plain = std::get_if<io::shm_stream>(&accepted);
    if (plain == nullptr) return nullptr;
    static_cast<void>(plain->try_write(protocol_.words_without_room()));
    return nullptr;
}

io::task<void> acceptor::serve_stream(io::any_stream stream) {
    const admitted place = admit(std::nullopt);
    if (place == nullptr) co_return;
    co_await protocol_.serve(transport_stream(std::move(stream)), place.get());
}

// Counted here and not when the conversation starts: many may be accepted before the first one runs. A newcomer takes
// the place of the oldest unauthenticated connection. It is refused only when sessions have all places.
acceptor::admitted acceptor::admit(const std::optional<io::endpoint>& from) {
    auto place = std::make_unique<connection_place>(*this, from);
    bool is_in = !closing_;
    const bool is_full = statistics_.connections_now - refusals_under_way_ > options_.connections_max;
    if (is_in && is_full) is_in = admission_.evict_oldest();
    if (is_in) is_in = admission_.enter(*place, from);
    statistics_.strangers_turned_out = admission_.evicted_count();
    if (is_in) {
        ++statistics_.connections_accepted;
        return place;
    }
    place.reset();
    ++statistics_.connections_refused;
    if (options_.log != nullptr) {
        telemetry::log_record refused(telemetry::component::gateway, telemetry::log_record_kind::connection_refused,
                                      statistics_.connections_now, context_.wall_now());
        refused.severity = telemetry::severity::warning;
        options_.log->note(refused);
    }
    return place;
}

// One connection, from accept to the end.
io::task<void> acceptor::receive(accepted_stream accepted, const listener* from, admitted place) {
    auto* const tcp = std::get_if<io::tcp_stream>(&accepted);
    if (tcp != nullptr && from->kind() != transport_kind::tcp) {
        if (!place->is_evicted_ || from->tls() == nullptr) co_await greet(std::move(*tcp), from, place.get());
        co_return;
    }
    if (tcp != nullptr) {
        co_await protocol_.serve(transport_stream(std::move(*tcp)), place.get());
    } else if (auto* const shared = std::get_if<io::shm_stream>(&accepted)) {
        co_await protocol_.serve(transport_stream(std::move(*shared)), place.get());
    } else {
        co_await protocol_.serve(transport_stream(std::move(*std::get_if<io::unix_stream>(&accepted))), place.get());
    }
}

// The TLS handshake and the WebSocket upgrade, and then the conversation.
io::task<void> acceptor::greet(io::tcp_stream accepted, const listener* from, connection_place* place) {
    const transport_kind kind = from->kind();
    io::any_stream stream;
    if (from->tls() == nullptr) {
        stream = io::any_stream(std::move(accepted));
    } else {
        co_await secure(std::move(accepted), from, place, &stream);
        if (!stream.is_open()) {
            ++statistics_.logons_refused;
            co_return;
        }
    }
    if (kind == transport_kind::tls) {
        co_await protocol_.serve(transport_stream(std::move(stream)), place);
        co_return;
    }
    http::server_options options;
    options.time.head = options.time.idle = options.time.transfer_grace = options_.logon_timeout;
    http::server pages(context_, [this, place](http::exchange* on) { return upgrade(on, place); }, options);
    pages_.push_back(&pages);
    if (closing_) pages.drain();
    io::task_scope greeting(context_);
    place->greeting_ = &greeting;
    place->is_request_awaited_ = true;
    greeting.spawn(serve_pages(&pages, std::move(stream), &greeting));
    // All requests before the one that opens the WebSocket have this time together.
    const auto end_without_conversation = [](std::chrono::milliseconds patience, const connection_place* of,
                                             io::task_scope* scope) -> io::task<void> {
        const std::error_code stopped = co_await io::sleep_for(patience);
        if (!stopped && of->conversation_ == nullptr) scope->request_stop();
    };
    greeting.spawn(end_without_conversation(options_.logon_timeout, place, &greeting));
    if (place->is_evicted_) place->end_greeting();
    co_await greeting.join();
    place->greeting_ = nullptr;
    pages_.erase(std::find(pages_.begin(), pages_.end(), &pages));
}

// The TLS handshake. `secured` stays closed when it fails.
io::task<void> acceptor::secure(io::tcp_stream accepted, const listener* from, connection_place* place,
                                io::any_stream* secured) {
    io::task_scope greeting(context_);
    place->greeting_ = &greeting;
    greetings_.push_back(&greeting);
    handshake mine(handshakes_, place->is_in() && place->is_from_proven(), greeting);
    const bool has_place = handshake_admission_.enter(mine, place->from_);
    greeting.spawn(shake_hands(std::move(accepted), *from->tls(), options_.logon_timeout, &mine, secured));
    if (closing_ || place->is_evicted_ || !has_place) greeting.request_stop();
    co_await greeting.join();
    greetings_.erase(std::find(greetings_.begin(), greetings_.end(), &greeting));
    place->greeting_ = nullptr;
}

// A WebSocket lives as long as the handler of the request that opened it.
io::task<void> acceptor::upgrade(http::exchange* on, connection_place* place) {
    if (place->is_evicted_) {
        on->respond(503, "text/plain", "capacity: the venue has no room for another connection\n");
        on->close_after();
        co_return;
    }
    if (!place->is_in() || place->conversation_ != nullptr) co_return;
    websocket::connection_options options;
    options.deflate.enabled = false;
    options.limits.receive.message_bytes = websocket_message_bytes_max;
    options.limits.time.transfer_grace = options_.logon_timeout;
    auto opened = co_await websocket::accept(on, options);
    if (!opened) co_return;
    io::any_stream stream(websocket::byte_stream(std::move(*opened)));
    co_await protocol_.serve(transport_stream(std::move(stream)), place);
}

}  // namespace corro::gateway
