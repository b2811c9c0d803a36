// SPDX-License-Identifier: Apache-2.0
#include "api/server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "api/asyncapi_text.hpp"
#include "api/json_writer.hpp"
#include "api/market_text.hpp"
#include "api/private_methods.hpp"
#include "api/signed_request.hpp"
#include "client/session_errors.hpp"
#include "history/moment.hpp"
#include "http/host_names.hpp"
#include "io/loop/timer.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::api {
namespace {

constexpr std::string_view method_prefix = "/api/v2/";
constexpr std::string_view history_prefix = "/api/v1/";
/// Credits of a question about the past.
constexpr std::uint32_t history_cost = 1'000;
/// Browsers keep the answer to a preflight request for this long.
constexpr std::string_view preflight_seconds = "600";
/// Clients have this long to end their connections when the server closes.
constexpr std::chrono::seconds drain_time{2};

http::server_options http_options_of() {
    http::server_options o;
    o.limits.body_bytes = 2 * request_bytes_max;
    o.connections_max = connections_max;
    o.drain = drain_time;
    return o;
}

websocket::connection_options socket_options_of(const server_options& from) {
    websocket::connection_options o;
    // A larger request is answered as long as it is not much larger.
    o.limits.receive.message_bytes = 2 * request_bytes_max;
    // Compression would cost the server time for each client.
    o.deflate.enabled = false;
    o.origins.allowed = from.origins;
    return o;
}

using secure_stream = io::tls_stream<io::tcp_stream>;

bool is_secure(http::exchange* on) {
    return on->stream().get_if<secure_stream>() != nullptr;
}

io::endpoint peer_of(http::exchange* on) {
    const io::tcp_stream* stream = on->stream().get_if<io::tcp_stream>();
    if (secure_stream* const over = on->stream().get_if<secure_stream>(); over != nullptr) stream = &over->next();
    if (stream == nullptr) return {};
    return stream->remote_endpoint().value_or(io::endpoint());
}

/// A digest, in hexadecimal.
std::string sixteen_digits(std::uint64_t number) {
    std::string text(16, '0');
    for (std::size_t k = text.size(); k-- > 0; number /= 16) text[k] = "0123456789abcdef"[number % 16];
    return text;
}

}  // namespace

/// Counts a connection of an address for as long as it lives.
class server::counted_connection {
 public:
    counted_connection(address_credits& with, io::endpoint peer) noexcept : with_(&with), peer_(peer) {}
    counted_connection(counted_connection&& other) noexcept
        : with_(std::exchange(other.with_, nullptr)), peer_(other.peer_) {}
    counted_connection& operator=(counted_connection&&) = delete;
    ~counted_connection() {
        if (with_ != nullptr) with_->end(peer_);
    }

 private:
    address_credits* with_;
    io::endpoint peer_;
};

server::server(io::context& on, io::tcp_acceptor port, server_options options)
    : state_(on),
      options_(std::move(options)),
      port_(std::move(port)),
      where_(port_.local_endpoint().value_or(io::endpoint())),
      history_(on, std::move(options_.journals)),
      pages_(options_.pages),
      http_(
          on, [this](http::exchange* asked) { return answer(asked); }, http_options_of()),
      addresses_(options_.connections_per_address_max),
      handshakes_(on) {
    if (options_.secure) secure_where_ = options_.secure->port.local_endpoint().value_or(io::endpoint());
    state_.currency = options_.currency;
    state_.latencies = stage_latencies(std::move(options_.stages));
    state_.is_test = options_.is_test;
    state_.feeds_count = options_.feeds.size();
    for (const feed_address& each : options_.feeds) feeds_.push_back(followed_feed{each, nullptr, false});
    if (options_.orders) {
        for (const api_key& each : options_.keys) {
            state_.accounts.push_back(std::make_unique<account>(on, *options_.orders, each));
            state_.account_publishers.push_back(
                std::make_unique<account_channels>(*state_.accounts.back(), state_.markets));
        }
    }
    state_.keys = std::make_unique<authentication>(state_.accounts, on.runs_on(), state_.now_us() / 1'000);
    add_routes();
}

void server::add_routes() {
    router_.get("/ws/api/v2", [this](http::exchange* on) { return serve_socket(on); });
    router_.get("/api/v2/openapi.json", [this](http::exchange* on) { return describe_methods(on); });
    router_.get("/api/v2/asyncapi.json", [this](http::exchange* on) { return describe_messages(on); });
    router_.post("/api/v2", [this](http::exchange* on) { return answer_post(on); });
    router_.post("/api/v2/*", [this](http::exchange* on) { return answer_post(on); });
    router_.get("/api/v2/*", [this](http::exchange* on) { return answer_get(on); });
    router_.get("/api/v1/*", [this](http::exchange* on) { return answer_history(on); });
    for (const std::string_view path : {"/api/v2", "/api/v2/*", "/api/v1/*"}) {
        router_.add(http::method::options, path, [this](http::exchange* on) { return answer_options(on); });
    }
    router_.get("/ws/market/v1", [this](http::exchange* on) { return serve_frames(on); });
    // Last: it matches whatever is left.
    if (!pages_.is_empty()) router_.get("/*", [this](http::exchange* on) { return show_page(on); });
}

// Over TLS a browser has compared the name with the certificate already.
io::task<> server::answer(http::exchange* on) {
    if (!is_secure(on) && !http::host_may_be(on->request().authority, options_.hosts)) return refuse_host(on);
    return router_.answer(on);
}

io::task<> server::refuse_host(http::exchange* on) const {
    refuse(
        on,
        api_error(error_code::bad_request, {}, "this host is not the API's: use an address, or name it in api.hosts"),
        403);
    co_return;
}

io::task<> server::show_page(http::exchange* on) {
    pages_.answer(*on);
    co_return;
}

io::task<> server::describe_methods(http::exchange* on) {
    respond_json(on, 200, openapi_text("/api/v2"));
    co_return;
}

io::task<> server::describe_messages(http::exchange* on) {
    respond_json(on, 200, asyncapi_text(on->request().find("Host"), is_secure(on)));
    co_return;
}

server_statistics server::statistics() const noexcept {
    server_statistics s;
    s.connections_now = addresses_.connections_count();
    s.sessions_now = sessions_.size() + frame_sessions_.size();
    s.channels_now = state_.publisher.count();
    s.frame_channels_now = state_.frames.count();
    s.frames = state_.frames.frames_count();
    s.http_requests = http_.requests_count();
    s.notifications = state_.publisher.messages_count();
    s.left_out = state_.publisher.left_out_count() + state_.frames.left_out_count();
    s.refused = refused_count_;
    s.handshakes = handshakes_count_;
    s.failed_handshakes = failed_handshakes_count_;
    s.history_questions = history_.questions_count();
    s.accounts_on = static_cast<std::size_t>(
        std::ranges::count_if(state_.accounts, [](const auto& each) { return each->is_on(); }));
    s.feeds_joined = joined_count_;
    return s;
}

void server::close() noexcept {
    closing_ = true;
    closed_.set();
}

io::task<> server::run() {
    io::task_scope feeding(*state_.context);
    for (std::size_t k = 0; k < feeds_.size(); ++k) feeding.spawn(follow(k));
    feeding.spawn(publish_every(channel_interval::short_, interval_short));
    feeding.spawn(publish_every(channel_interval::long_, interval_long));
    for (std::size_t tick = 0; tick < frame_ticks_ms.size(); ++tick) feeding.spawn(publish_frames(tick));
    if (!state_.latencies.is_empty()) feeding.spawn(watch_stages());
    io::task_scope trading(*state_.context);
    for (const auto& each : state_.accounts) trading.spawn(each->run());
    for (const auto& each : state_.account_publishers) feeding.spawn(publish_account(each.get()));
    io::task_scope connections(*state_.context);
    io::task_scope accepting(*state_.context);
    if (port_.is_open()) accepting.spawn(accept_all(&connections, &port_, nullptr));
    if (options_.secure) {
        accepting.spawn(accept_all(&connections, &options_.secure->port, &options_.secure->settings));
    }

    static_cast<void>(co_await closed_.wait());
    closing_ = true;
    accepting.request_stop();
    co_await accepting.join();
    port_.close();
    if (options_.secure) options_.secure->port.close();
    http_.drain();
    for (web_session* each : sessions_) each->end(websocket::close_code::going_away, "the venue closes");
    for (frame_session* each : frame_sessions_) each->end(websocket::close_code::going_away, "the venue closes");
    static_cast<void>(co_await io::with_timeout(drain_time, connections.join()));
    history_.close();
    // Cancels of connections that have ended leave before the logouts.
    for (const auto& each : state_.accounts) each->close();
    static_cast<void>(co_await io::with_timeout(drain_time, trading.join()));
    feeding.request_stop();
    for (followed_feed& each : feeds_) {
        if (each.session != nullptr) each.session->abandon();
    }
    co_await feeding.join();
}

io::task<> server::publish_every(channel_interval interval, std::chrono::milliseconds length) {
    while (true) {
        const std::error_code stopped = co_await state_.publisher.pending(interval).wait();
        if (stopped) co_return;
        const std::error_code interrupted = co_await io::sleep_for(length);
        if (interrupted) co_return;
        state_.publisher.publish(interval);
    }
}

io::task<> server::watch_stages() {
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(stage_latencies::look_interval);
        if (stopped) co_return;
        state_.latencies.look();
    }
}

io::task<> server::publish_frames(std::size_t tick) {
    while (true) {
        if (!state_.frames.has_channels(tick)) {
            const std::error_code stopped = co_await state_.frames.begun(tick).wait();
            if (stopped) co_return;
        }
        const std::error_code interrupted = co_await io::sleep_for(std::chrono::milliseconds(frame_ticks_ms[tick]));
        if (interrupted) co_return;
        state_.frames.set_live(state_.is_joined());
        state_.frames.publish(tick, state_.now_us());
    }
}

io::task<> server::publish_account(account_channels* of) {
    while (true) {
        const std::error_code stopped = co_await of->pending().wait();
        if (stopped) co_return;
        const std::error_code interrupted = co_await io::sleep_for(interval_short);
        if (interrupted) co_return;
        of->publish();
    }
}

io::task<> server::follow(std::size_t index) {
    followed_feed& feed = feeds_[index];
    while (!closing_) {
        io::task<bool> attempt = feed.session != nullptr ? resume(feed) : join(feed);
        const bool is_there = co_await std::move(attempt);
        if (is_there) {
            ++state_.feeds_joined;
            io::task_scope beating(*state_.context);
            beating.spawn(feed.session->keep_alive());
            co_await pass_on(feed);
            --state_.feeds_joined;
            feed.session->abandon();
            beating.request_stop();
            co_await beating.join();
            if (std::exchange(feed.contradicts, false)) feed.session.reset();
        }
        const std::error_code stopped = co_await io::sleep_for(feed_retry_interval);
        if (stopped) co_return;
    }
}

io::task<bool> server::join(followed_feed& feed) {
    auto joined = co_await io::with_timeout(feed_join_timeout,
                                            client::feed_session::join(feed.address.feed, feed.address.snapshots));
    if (!joined || !*joined) co_return false;
    feed.session = std::move(**joined);
    ++joined_count_;
    const client::feed_session& now = *feed.session;
    now.instruments().for_each([&](const domain::instrument& each) {
        state_.markets.begin(each, *now.book(each.id), now.last_command(), state_.now_us() * 1'000);
    });
    state_.markets.end_begin();
    co_return true;
}

// A feed that does not continue where this one has ended is joined again, by a snapshot.
io::task<bool> server::resume(followed_feed& feed) {
    const auto resumed = co_await io::with_timeout(feed_resume_timeout, feed.session->resume(feed.address.feed));
    const std::error_code error = resumed ? *resumed : resumed.error();
    if (error == client::session_errc::session_not_available) feed.session.reset();
    co_return !error;
}

io::task<> server::pass_on(followed_feed& feed) {
    while (!closing_) {
        const auto event = feed.session->poll();
        if (!event) {
            // What contradicts the books is not continued.
            feed.contradicts = event.error() != client::session_errc::end_of_session;
            co_return;
        }
        if (*event) {
            state_.markets.take(feed.session->instruments(), **event);
            continue;
        }
        const std::error_code error = co_await feed.session->fill();
        if (error) co_return;
    }
}

io::task<> server::accept_all(io::task_scope* connections, io::tcp_acceptor* from, const io::tls_context* with) {
    while (true) {
        auto accepted = co_await from->accept();
        if (!accepted) {
            if (accepted.error() == io::condition::canceled) co_return;
            const std::error_code stopped = co_await io::sleep_for(feed_retry_interval);
            if (stopped) co_return;
            continue;
        }
        const auto peer = accepted->remote_endpoint();
        if (!peer || !addresses_.begin(*peer, state_.context->now())) {
            ++refused_count_;
            continue;
        }
        counted_connection counted(addresses_, *peer);
        if (with != nullptr && !addresses_.take(*peer, handshake_cost, state_.context->now())) {
            ++refused_count_;
            continue;
        }
        static_cast<void>(accepted->set_option(io::no_delay(true)));
        if (with == nullptr) {
            connections->spawn(serve(std::move(*accepted), std::move(counted)));
        } else {
            connections->spawn(serve_secure(std::move(*accepted), *with, std::move(counted)));
        }
    }
}

io::task<std::error_code> server::pace::next_step() {
    constexpr std::chrono::nanoseconds apart =
        std::chrono::nanoseconds(std::chrono::seconds(1)) / handshake_steps_per_second;
    const io::steady_time now = context_->now();
    const io::steady_time mine = std::max(next_, now);
    next_ = mine + apart;
    if (mine == now) co_return std::error_code();
    co_return co_await io::sleep_for(mine - now);
}

io::task<> server::serve_secure(io::tcp_stream stream, io::tls_context settings, counted_connection) {
    auto made = co_await io::with_timeout(handshake_timeout,
                                          secure_stream::accept(std::move(stream), std::move(settings), &handshakes_));
    if (!made || !*made) {
        ++failed_handshakes_count_;
        co_return;
    }
    ++handshakes_count_;
    co_await http_.serve_stream(io::any_stream(std::move(**made)));
}

io::task<> server::serve(io::tcp_stream stream, counted_connection) {
    co_await http_.serve_stream(io::any_stream(std::move(stream)));
}

io::task<> server::serve_socket(http::exchange* on) {
    auto opened = co_await websocket::accept(on, socket_options_of(options_));
    if (!opened) co_return;
    web_session session(state_, **opened);
    sessions_.push_back(&session);
    if (closing_) session.end(websocket::close_code::going_away, "the venue closes");
    co_await session.run();
    std::erase(sessions_, &session);
}

std::expected<history_query, api_error> server::read_history_query(http::exchange* on) {
    const http::request_head& head = on->request();
    if (head.query.size() > request_bytes_max) return std::unexpected(api_error(error_code::request_too_large));
    auto query = parse_history_query(head.path.substr(history_prefix.size()), head.query, head.find("Accept"));
    if (!query || query->table != history_table::orders) return query;
    // Orders are those of the key's account only.
    const auto of = account_of(on, {});
    if (!of) return std::unexpected(of.error());
    query->account = (*of)->key().account;
    return query;
}

void server::list_instruments(http::exchange* on) const {
    std::string text;
    json_writer out(text);
    out.list(
        [&] { state_.markets.for_each([&](const market& each) { write_instrument(out, each, state_.currency); }); });
    respond_json(on, 200, text);
}

io::task<> server::answer_history(http::exchange* on) {
    if (!addresses_.take(peer_of(on), history_cost, state_.context->now())) {
        co_return refuse(on, api_error(error_code::too_many_requests), 429);
    }
    if (on->request().path == "/api/v1/instruments") co_return list_instruments(on);
    auto query = read_history_query(on);
    history_result result = std::unexpected(query ? api_error(error_code::internal_server_error) : query.error());
    const history_format format = query ? query->format : history_format::json;
    if (query) {
        // A question whose client has gone is not worth the commands that it executes.
        auto ended = co_await io::when_any(history_.ask(std::move(*query), peer_of(on)), on->wait_for_end());
        auto& answered = std::get<0>(ended.values);
        if (answered) result = std::move(*answered);
    }
    if (!result) {
        const error_code code = result.error().code;
        const bool is_missing = code == error_code::invalid_instrument || code == error_code::method_not_found;
        co_return refuse(on, result.error(), is_missing ? 404 : describe(code).http_status);
    }
    const std::string sequence = std::to_string(result->sequence);
    const std::string time = history::format_time(domain::time_ns{result->time_ns});
    std::vector<http::field> fields{{"Content-Type", content_type_of(format)},
                                    {"Cache-Control", "no-store"},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"Vary", "Accept, Origin"},
                                    {"Corro-Sequence", sequence},
                                    {"Corro-Time", time}};
    const std::string digest = result->digest ? sixteen_digits(*result->digest) : std::string();
    if (!digest.empty()) fields.emplace_back("Corro-Digest", digest);
    const std::string next = result->next ? std::to_string(*result->next) : std::string();
    if (!next.empty()) fields.emplace_back("Corro-Next", next);
    if (const std::string_view origin = allowed_origin(on); !origin.empty()) {
        fields.emplace_back("Access-Control-Allow-Origin", origin);
        fields.emplace_back("Access-Control-Expose-Headers", "Corro-Sequence, Corro-Time, Corro-Digest, Corro-Next");
    }
    on->respond(200, fields, result->body);
}

io::task<> server::serve_frames(http::exchange* on) {
    if (!state_.is_joined()) {
        co_return refuse(on, api_error(error_code::system_maintenance), 503);
    }
    std::string_view param;
    const auto wish = parse_frame_query(on->request().query, state_.markets, param);
    if (!wish) {
        const bool is_unknown = wish.error() == frame_refusal::unknown_instrument;
        const error_code code = is_unknown ? error_code::invalid_instrument : error_code::invalid_params;
        co_return refuse(on, api_error(code, std::string(param)), is_unknown ? 404 : 400);
    }
    // It begins with a snapshot.
    const std::uint32_t cost = frame_snapshot_cost(state_.markets, wish->instrument);
    if (!addresses_.take(peer_of(on), cost, state_.context->now())) {
        co_return refuse(on, api_error(error_code::too_many_requests), 429);
    }
    auto opened = co_await websocket::accept(on, socket_options_of(options_));
    if (!opened) co_return;
    frame_session session(state_, **opened, *wish);
    frame_sessions_.push_back(&session);
    if (closing_) session.end(websocket::close_code::going_away, "the venue closes");
    co_await session.run();
    std::erase(frame_sessions_, &session);
}

void server::refuse(http::exchange* on, const api_error& error, unsigned status) const {
    request_times times;
    times.in_us = times.out_us = state_.now_us();
    respond_json(on, status, error_text("", error, times, state_.is_test));
}

/// The request's origin if its page may read responses; empty otherwise.
std::string_view server::allowed_origin(http::exchange* on) const {
    const std::string_view origin = on->request().find("Origin");
    const bool is_allowed = std::ranges::any_of(
        options_.origins, [origin](const std::string& each) { return each == "*" || each == origin; });
    return is_allowed ? origin : std::string_view();
}

void server::respond_json(http::exchange* on, unsigned status, std::string_view text) const {
    std::vector<http::field> fields{
        {"Content-Type", "application/json"}, {"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
    if (const std::string_view origin = allowed_origin(on); !origin.empty()) {
        fields.emplace_back("Access-Control-Allow-Origin", origin);
        fields.emplace_back("Vary", "Origin");
    }
    on->respond(status, fields, text);
}

/// The account of a request, by its token or its signature.
/// @param body  That the request has; a signature covers it.
std::expected<account*, api_error> server::account_of(http::exchange* on, std::string_view body) {
    const http::request_head& head = on->request();
    const std::string_view given = head.find("Authorization");
    constexpr std::string_view by_token = "Bearer ";
    constexpr std::string_view by_signature = "deri-hmac-sha256 ";
    account* of = nullptr;
    if (given.starts_with(by_token)) {
        of = state_.keys->by_token(given.substr(by_token.size()), state_.context->now());
        if (of == nullptr) return std::unexpected(api_error(error_code::invalid_token));
        return of;
    }
    if (!given.starts_with(by_signature)) return std::unexpected(api_error(error_code::authorization_required));
    const std::string data =
        std::string(http::name_of(head.method)).append("\n").append(head.target).append("\n").append(body).append("\n");
    signed_credentials with = signed_request_of(given.substr(by_signature.size()));
    with.data = data;
    return state_.keys->by_signature(with, state_.now_us() / 1'000);
}

io::task<std::expected<std::string, api_error>> server::dispatch(http::exchange* on, const request* r,
                                                                 std::string_view body) {
    if (r->method->over == transport::websocket) co_return std::unexpected(api_error(error_code::must_be_websocket));
    const io::steady_time now = state_.context->now();
    if (r->method->id == method_id::auth) {
        auto done = answer_auth(*r, *state_.keys, state_.now_us() / 1'000, now);
        if (!done) co_return std::unexpected(std::move(done.error()));
        co_return std::move(done->result);
    }
    if (!r->method->is_private()) co_return answer_public(*r, state_.seen_by_public());
    const auto of = account_of(on, body);
    if (!of) co_return std::unexpected(of.error());
    private_caller by;
    by.markets = &state_.markets;
    by.is_joined = state_.is_joined();
    co_return co_await answer_private(r, *of, &by);
}

io::task<> server::respond(http::exchange* on, const read_request* read, std::string_view body, std::int64_t in_us) {
    const std::uint32_t cost = read->what ? cost_of(*read->what, state_.markets) : request_cost;
    std::expected<std::string, api_error> result = std::unexpected(api_error(error_code::too_many_requests));
    const bool has_credits = addresses_.take(peer_of(on), cost, state_.context->now());
    if (has_credits && !read->what) result = std::unexpected(read->what.error());
    if (has_credits && read->what) result = co_await dispatch(on, &*read->what, body);
    request_times times;
    times.in_us = in_us;
    times.out_us = state_.now_us();
    if (result) {
        respond_json(on, 200, response_text(read->id, *result, times, state_.is_test));
        co_return;
    }
    respond_json(on, describe(result.error().code).http_status,
                 error_text(read->id, result.error(), times, state_.is_test));
}

/// What a browser asks before it sends a page's request with a token or with JSON to another site.
io::task<> server::answer_options(http::exchange* on) {
    const http::request_head& head = on->request();
    const bool is_history = head.path.starts_with(history_prefix);
    const std::string_view allowed = is_history ? "GET, HEAD, OPTIONS" : "GET, HEAD, POST, OPTIONS";
    std::vector<http::field> fields{{"Allow", allowed}, {"Vary", "Origin"}};
    const std::string_view origin = allowed_origin(on);
    if (!origin.empty() && !head.find("Access-Control-Request-Method").empty()) {
        fields.emplace_back("Access-Control-Allow-Origin", origin);
        fields.emplace_back("Access-Control-Allow-Methods", is_history ? "GET, HEAD" : "GET, HEAD, POST");
        fields.emplace_back("Access-Control-Allow-Headers", "Authorization, Content-Type");
        fields.emplace_back("Access-Control-Max-Age", preflight_seconds);
    }
    on->respond(204, fields, "");
    co_return;
}

io::task<> server::answer_get(http::exchange* on) {
    const std::int64_t in_us = state_.now_us();
    const http::request_head& head = on->request();
    if (head.query.size() > request_bytes_max) {
        read_request refused;
        refused.what = std::unexpected(api_error(error_code::request_too_large));
        co_await respond(on, &refused, {}, in_us);
        co_return;
    }
    const read_request read = request_of_query(head.path.substr(method_prefix.size()), head.query);
    co_await respond(on, &read, {}, in_us);
}

io::task<> server::answer_post(http::exchange* on) {
    const std::int64_t in_us = state_.now_us();
    const auto body = co_await on->read_body();
    // Without a response, the HTTP server sends the one that fits the error.
    if (!body) co_return;
    read_request read = request_of_json(*body);
    const std::string_view path = on->request().path;
    const std::string_view named = path.size() > method_prefix.size() ? path.substr(method_prefix.size()) : "";
    if (read.what && !named.empty() && named != read.what->method->name) {
        read.what = std::unexpected(api_error(error_code::bad_request, {}, "the path names another method"));
    }
    co_await respond(on, &read, *body, in_us);
}

}  // namespace corro::api
