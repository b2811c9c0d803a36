// SPDX-License-Identifier: Apache-2.0
// The API's server: JSON-RPC over WebSocket and HTTP, for a venue that it follows by its feeds.
//
//     /ws/api/v2             WebSocket
//     /api/v2                POST: a request of JSON-RPC as the body
//     /api/v2/public/...     GET with a query, or POST as above
//     /api/v2/openapi.json   the description of the methods; asyncapi.json: that of the WebSocket's messages
//     /api/v1/...            GET: the past, from the venue's journal
//     /ws/market/v1          WebSocket: an instrument's market as binary frames
//     /                      the pages that the server was given
//
// It is a client of the venue: it joins each feed like any subscriber. So a slow or hostile web client costs this
// server something, and the venue nothing. Without its feeds it answers system_maintenance; when they are back, books
// continue with the differences.
//
// Limits:  api/limits.hpp. Threads: one context. Source: docs/spec/api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/address_credits.hpp"
#include "api/api_state.hpp"
#include "api/frame_session.hpp"
#include "api/history_service.hpp"
#include "api/site.hpp"
#include "api/stage_latencies.hpp"
#include "api/web_session.hpp"
#include "client/feed_session.hpp"
#include "client/venue_endpoint.hpp"
#include "http/router.hpp"
#include "http/server.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_stream.hpp"
#include "websocket/connection.hpp"

namespace corro::api {

/// The ports of a feed.
struct feed_address {
    io::endpoint feed;
    io::endpoint snapshots;
};

/// A port of clients that speak TLS, which listens already.
struct secure_port {
    secure_port(io::tcp_acceptor at, io::tls_context with) noexcept : port(std::move(at)), settings(std::move(with)) {}

    io::tcp_acceptor port;
    io::tls_context settings;
};

struct server_options {
    server_options() noexcept {}

    /// The same API over TLS; nothing: only without it.
    std::optional<secure_port> secure;

    /// One per partition of the venue.
    std::vector<feed_address> feeds;
    /// Order entry of the venue, and the keys whose sessions this server has with it; both may be missing.
    std::optional<client::venue_endpoint> orders;
    std::vector<api_key> keys;
    /// The pages that may connect from a browser, beside those of the server's own host: "https://venue.example".
    std::vector<std::string> origins;
    /// The names that a request without TLS may have in its Host field, beside addresses and "localhost"; "*": any.
    std::vector<std::string> hosts;
    std::string currency = "USD";
    bool is_test = false;
    std::size_t connections_per_address_max = api::connections_per_address_max;
    /// The venue's journals, one per partition, for questions about the past; none: there is no past.
    std::vector<history_source> journals;
    /// The stages of the venue's requests, if the venue is of this process.
    std::vector<timed_stage> stages;
    /// The pages at "/"; without any there is nothing.
    std::span<const site_file> pages;
};

struct server_statistics {
    std::size_t connections_now = 0;
    std::size_t sessions_now = 0;  ///< WebSockets
    std::size_t frame_channels_now = 0;
    std::uint64_t frames = 0;  ///< of the binary market channel
    std::size_t channels_now = 0;
    std::uint64_t http_requests = 0;
    std::uint64_t notifications = 0;
    std::uint64_t left_out = 0;           ///< notifications that slow clients did not get
    std::uint64_t refused = 0;            ///< connections
    std::uint64_t handshakes = 0;         ///< of TLS
    std::uint64_t failed_handshakes = 0;  ///< those that took too long included
    std::uint64_t history_questions = 0;
    std::size_t accounts_on = 0;     ///< keys whose sessions are on
    std::uint64_t feeds_joined = 0;  ///< how often a feed was joined by a snapshot
};

class server {
 public:
    /// @param port  Listens already; a closed one if there is only TLS.
    server(io::context& on, io::tcp_acceptor port, server_options options);
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    /// Serves until `close`. @suspend Until then. @cancel Ends all connections.
    [[nodiscard]] io::task<> run();
    /// Starts to shut down: clients are disconnected with "going away".
    void close() noexcept;

    /// Port 0 if there is only TLS.
    [[nodiscard]] io::endpoint where() const noexcept { return where_; }
    /// Nothing without TLS.
    [[nodiscard]] std::optional<io::endpoint> secure_where() const noexcept { return secure_where_; }
    /// Whether all feeds are joined.
    [[nodiscard]] bool is_joined() const noexcept { return state_.is_joined(); }
    [[nodiscard]] const market_view& markets() const noexcept { return state_.markets; }
    [[nodiscard]] server_statistics statistics() const noexcept;

 private:
    struct followed_feed {
        feed_address address;
        std::unique_ptr<client::feed_session> session;
        bool contradicts = false;  ///< the feed does not fit the books, which a snapshot must replace
    };
    class counted_connection;

    /// Spaces the steps of TLS handshakes evenly, first come, first served.
    class pace final : public io::handshake_pace {
     public:
        explicit pace(io::context& on) noexcept : context_(&on) {}
        [[nodiscard]] io::task<std::error_code> next_step() override;

     private:
        io::context* context_;
        io::steady_time next_{};
    };

    [[nodiscard]] io::task<> follow(std::size_t index);
    [[nodiscard]] io::task<bool> join(followed_feed& feed);
    [[nodiscard]] io::task<bool> resume(followed_feed& feed);
    [[nodiscard]] io::task<> pass_on(followed_feed& feed);
    [[nodiscard]] io::task<> watch_stages();
    [[nodiscard]] io::task<> publish_frames(std::size_t tick);
    [[nodiscard]] io::task<> publish_every(channel_interval interval, std::chrono::milliseconds length);

    /// @param with  The settings of a port with TLS; nullptr for one without.
    [[nodiscard]] io::task<> accept_all(io::task_scope* connections, io::tcp_acceptor* from,
                                        const io::tls_context* with);
    [[nodiscard]] io::task<> serve(io::tcp_stream stream, counted_connection counted);
    [[nodiscard]] io::task<> serve_secure(io::tcp_stream stream, io::tls_context settings, counted_connection counted);
    void add_routes();
    [[nodiscard]] io::task<> answer(http::exchange* on);
    [[nodiscard]] io::task<> refuse_host(http::exchange* on) const;
    [[nodiscard]] io::task<> serve_socket(http::exchange* on);
    [[nodiscard]] io::task<> serve_frames(http::exchange* on);
    [[nodiscard]] io::task<> answer_history(http::exchange* on);
    [[nodiscard]] std::expected<history_query, api_error> read_history_query(http::exchange* on);
    void list_instruments(http::exchange* on) const;
    [[nodiscard]] std::expected<account*, api_error> account_of(http::exchange* on, std::string_view body);
    [[nodiscard]] io::task<> show_page(http::exchange* on);
    [[nodiscard]] io::task<> answer_post(http::exchange* on);
    [[nodiscard]] io::task<> answer_get(http::exchange* on);
    [[nodiscard]] io::task<> answer_options(http::exchange* on);
    [[nodiscard]] io::task<> describe_methods(http::exchange* on);
    [[nodiscard]] io::task<> describe_messages(http::exchange* on);
    [[nodiscard]] io::task<> respond(http::exchange* on, const read_request* read, std::string_view body,
                                     std::int64_t in_us);
    [[nodiscard]] io::task<std::expected<std::string, api_error>> dispatch(http::exchange* on, const request* r,
                                                                           std::string_view body);
    [[nodiscard]] io::task<> publish_account(account_channels* of);
    [[nodiscard]] std::string_view allowed_origin(http::exchange* on) const;
    void refuse(http::exchange* on, const api_error& error, unsigned status) const;
    void respond_json(http::exchange* on, unsigned status, std::string_view text) const;

    api_state state_;
    server_options options_;
    io::tcp_acceptor port_;
    io::endpoint where_;
    std::optional<io::endpoint> secure_where_;
    std::vector<followed_feed> feeds_;
    history_service history_;
    site pages_;
    http::router router_;
    http::server http_;
    address_credits addresses_;
    std::vector<web_session*> sessions_;
    std::vector<frame_session*> frame_sessions_;
    io::manual_event closed_;
    pace handshakes_;
    std::uint64_t handshakes_count_ = 0;
    std::uint64_t failed_handshakes_count_ = 0;
    std::uint64_t refused_count_ = 0;
    std::uint64_t joined_count_ = 0;
    bool closing_ = false;
};

}  // namespace corro::api
