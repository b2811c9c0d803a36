// SPDX-License-Identifier: Apache-2.0
// The laboratory over HTTP, on this machine only, with its page.
//
//     /                           the page
//     /api/lab/v1/state           GET: what the run is and shows; ?instrument=SYMBOL
//     /api/lab/v1/scenario        GET: the scenario with all changes, as TOML
//     /api/lab/v1/control         POST: run, pause, step, go, restart
//     /api/lab/v1/inject          POST: an event at the present moment
//     /api/lab/v1/comparison      GET; POST: fork and compare; DELETE: stop it
//     /ws/lab/v1                  WebSocket: terms, then what is new; ?instrument=SYMBOL
//
// Threads: one context. Source: docs/howto/laboratory.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/site.hpp"
#include "http/router.hpp"
#include "http/server.hpp"
#include "io/net/tcp.hpp"
#include "io/task/task.hpp"
#include "laboratory.hpp"
#include "websocket/connection.hpp"

namespace corro::app {

/// Bytes of a request's body; connections.
inline constexpr std::size_t lab_request_bytes_max = 64 * 1024;
inline constexpr std::size_t lab_connections_max = 64;

class lab_server {
 public:
    lab_server(io::context& on, laboratory& of, std::span<const api::site_file> pages);
    lab_server(const lab_server&) = delete;
    lab_server& operator=(const lab_server&) = delete;

    /// Serves and drives the market. @suspend Until a stop. @cancel Ends all connections.
    [[nodiscard]] io::task<> serve(io::tcp_acceptor* port);

 private:
    /// What a client of the WebSocket has already.
    struct place {
        std::uint64_t epoch = 0;
        std::uint64_t terms = 0;
        std::uint64_t comparison = UINT64_MAX;
        std::uint64_t columns = 0;
        std::uint64_t trades = 0;
        std::uint64_t samples = 0;
    };

    using answer = std::expected<json, refusal>;

    [[nodiscard]] io::task<> answer_get(http::exchange* on, json (lab_server::*make)(std::size_t));
    [[nodiscard]] io::task<> answer_post(http::exchange* on, io::task<answer> (lab_server::*act)(json));
    [[nodiscard]] io::task<> show_page(http::exchange* on);
    [[nodiscard]] io::task<> answer_scenario(http::exchange* on);
    [[nodiscard]] io::task<> answer_stop(http::exchange* on);
    [[nodiscard]] io::task<> serve_socket(http::exchange* on);
    [[nodiscard]] io::task<> send_news(websocket::connection* to, std::size_t instrument);
    [[nodiscard]] json news_json(place& of, std::size_t instrument);

    [[nodiscard]] json state_of(std::size_t instrument);
    [[nodiscard]] json comparison_of(std::size_t instrument);
    [[nodiscard]] io::task<answer> control(json asked) { return laboratory_.control(std::move(asked)); }
    [[nodiscard]] io::task<answer> inject(json change) { return laboratory_.inject(std::move(change)); }
    [[nodiscard]] io::task<answer> compare(json asked);

    /// Refuses what pages of other hosts may have asked for. @return Whether it was refused.
    [[nodiscard]] static bool refuse_strangers(http::exchange* on);
    [[nodiscard]] std::expected<std::size_t, refusal> instrument_of(http::exchange* on);

    laboratory& laboratory_;
    api::site pages_;
    http::router router_;
    http::server http_;
};

}  // namespace corro::app
