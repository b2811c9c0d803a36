// SPDX-License-Identifier: Apache-2.0
// A port of the market data: subscribers of one kind by SoupBinTCP, on any listener or stream.
//
// The kind is a service: what a subscriber may log in to, and what it is sent. A service has
//
//   struct subscription                     what one subscriber gets; made with (service, session) when it connects
//   start(subscription&, requested, from)   the number of the first message for a login; nothing to reject it
//   send(session*, subscription*)           a task that sends until the session ends
//   finish(session*, subscription*)         a task that sends what a session in order is still owed
//   keeps_alive                             whether both sides send heartbeats
//
// Threads: one context. Cost: no virtual call; per connection one allocation and its tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/stream.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/task/with_timeout.hpp"
#include "market_data/soup_session.hpp"
#include "market_data/subscriber_registry.hpp"

namespace corro::market_data {

template <class Service>
class soup_port {
 public:
    /// All outlive the port.
    soup_port(io::context& context, Service& service, subscriber_registry& registry, const soup_options& options)
        : context_(context), service_(service), registry_(registry), options_(options) {}
    soup_port(const soup_port&) = delete;
    soup_port& operator=(const soup_port&) = delete;

    /// Serves the connections of a listener until `close`; ends when all have ended.
    /// @param acceptor  The result of `co_await accept()` is a stream, or an error on stop; `close()` ends the
    /// listening.
    template <class Acceptor>
    [[nodiscard]] io::task<void> serve(Acceptor acceptor) {
        io::task_scope conversations(context_);
        io::task_scope accepting(context_);
        accepting_.push_back(&accepting);
        accepting.spawn(accept_all(&acceptor, &conversations));
        co_await accepting.join();
        std::erase(accepting_, &accepting);
        acceptor.close();
        co_await conversations.join();
    }

    /// Serves one connection that is there already, until it has ended.
    template <io::stream Stream>
    [[nodiscard]] io::task<void> serve_stream(Stream stream) {
        io::task_scope conversations(context_);
        spawn_in(conversations, std::move(stream));
        co_await conversations.join();
    }

    /// Ends the listening. The registry, which must be closed (asserted), ends the connections.
    void close() noexcept {
        CORRO_ASSERT(registry_.is_closed(), "the registry is closed first, so that no connection enters any more");
        for (io::task_scope* each : accepting_) each->request_stop();
    }

 private:
    template <class Acceptor>
    io::task<void> accept_all(Acceptor* from, io::task_scope* conversations) {
        while (!registry_.is_closed()) {
            auto stream = co_await from->accept();
            if (!stream) co_return;  // stopped, or the listener has failed
            spawn_in(*conversations, std::move(*stream));
        }
    }

    // Counted here and not when its task starts, because many may be accepted before the first task runs.
    template <io::stream Stream>
    void spawn_in(io::task_scope& conversations, Stream stream) {
        auto made = std::make_unique<soup_session<Stream>>(std::move(stream), options_, registry_);
        if (!registry_.enter(*made, origin_of(made->stream()))) return;
        if constexpr (requires { made->stream().set_option(io::no_delay(true)); }) {
            static_cast<void>(made->stream().set_option(io::no_delay(true)));
        }
        conversations.spawn(converse(std::move(made)));
    }

    /// The peer's address; this machine for a connection that has ended already, or that has no address.
    template <class Stream>
    static std::optional<io::endpoint> origin_of(const Stream& stream) noexcept {
        if constexpr (requires { stream.remote_endpoint(); }) {
            const auto peer = stream.remote_endpoint();
            if (peer) return *peer;
        }
        return std::nullopt;
    }

    // Serves one connection, from its accept to its end.
    template <class Stream>
    io::task<void> converse(std::unique_ptr<soup_session<Stream>> s) {
        typename Service::subscription what(service_, *s);
        if (s->phase() == subscriber_phase::logging_in) {
            io::task_scope logging_in(context_);
            s->run_in(&logging_in);
            logging_in.spawn(log_in(s.get(), &what));
            co_await logging_in.join();
            s->run_in(nullptr);
        }
        if (s->is_active()) {
            io::task_scope active(context_);
            s->run_in(&active);
            active.spawn(s->listen());
            if (Service::keeps_alive) active.spawn(s->keep_alive());
            active.spawn(service_.send(s.get(), &what));
            co_await active.join();
            s->run_in(nullptr);
        }
        if (s->phase() == subscriber_phase::finishing || s->phase() == subscriber_phase::logged_out) {
            static_cast<void>(co_await io::with_timeout(farewell_timeout, leave(s.get(), &what)));
        }
        registry_.leave(*s);
    }

    template <class Stream>
    io::task<void> log_in(soup_session<Stream>* s, typename Service::subscription* what) {
        const bool has_arrived = co_await s->receive_login();
        if (!has_arrived) co_return;
        const std::optional<std::uint64_t> requested = s->requested_sequence();
        std::optional<std::uint64_t> first;
        if (requested) first = service_.start(*what, *requested, origin_of(s->stream()));
        if (first) {
            co_await s->accept_login(*first);
        } else {
            co_await s->reject_login();
        }
    }

    template <class Stream>
    io::task<void> leave(soup_session<Stream>* s, typename Service::subscription* what) {
        if (s->phase() == subscriber_phase::finishing) {
            const bool is_sent = co_await service_.finish(s, what);
            if (!is_sent) co_return;
        }
        co_await s->say_farewell();
    }

    io::context& context_;
    Service& service_;
    subscriber_registry& registry_;
    const soup_options& options_;
    std::vector<io::task_scope*> accepting_;  ///< of the listeners
};

}  // namespace corro::market_data
