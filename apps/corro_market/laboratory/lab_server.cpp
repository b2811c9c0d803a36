// SPDX-License-Identifier: Apache-2.0
#include "lab_server.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "http/host_names.hpp"
#include "io/loop/timer.hpp"
#include "io/task/when_any.hpp"

namespace corro::app {
namespace {

/// Between two messages to a page; the agents' table and the metrics come with every fifth. Without news there is a
/// message each second, so that the page notices a lost connection.
constexpr std::chrono::milliseconds news_interval{100};
constexpr unsigned table_ticks = 5;
constexpr unsigned silence_ticks = 10;
/// Of one message; with more, the next comes at once.
constexpr std::size_t columns_sent_max = 400;
constexpr std::size_t rows_sent_max = 5'000;

http::server_options http_options_of() {
    http::server_options o;
    o.limits.body_bytes = lab_request_bytes_max;
    o.connections_max = lab_connections_max;
    o.drain = std::chrono::seconds(1);
    return o;
}

void respond(http::exchange* on, unsigned status, std::string_view type, std::string_view text) {
    std::vector<http::field> fields(api::security_fields().begin(), api::security_fields().end());
    fields.emplace_back("Content-Type", type);
    fields.emplace_back("Cache-Control", "no-store");
    on->respond(status, fields, text);
}

void respond_json(http::exchange* on, unsigned status, const json& what) {
    respond(on, status, "application/json", what.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

void refuse(http::exchange* on, const refusal& why) {
    respond_json(on, why.status, {{"error", why.message}});
}

io::task<> wait_for_the_end(websocket::connection* peer) {
    for (;;) {
        const auto message = co_await peer->receive();
        if (!message) co_return;
    }
}

}  // namespace

lab_server::lab_server(io::context& on, laboratory& of, std::span<const api::site_file> pages)
    : laboratory_(of), pages_(pages), http_(on, router_.as_handler(), http_options_of()) {
    router_.get("/api/lab/v1/state", [this](http::exchange* e) { return answer_get(e, &lab_server::state_of); });
    router_.get("/api/lab/v1/scenario", [this](http::exchange* e) { return answer_scenario(e); });
    router_.get("/api/lab/v1/comparison",
                [this](http::exchange* e) { return answer_get(e, &lab_server::comparison_of); });
    router_.post("/api/lab/v1/control", [this](http::exchange* e) { return answer_post(e, &lab_server::control); });
    router_.post("/api/lab/v1/inject", [this](http::exchange* e) { return answer_post(e, &lab_server::inject); });
    router_.post("/api/lab/v1/comparison", [this](http::exchange* e) { return answer_post(e, &lab_server::compare); });
    router_.del("/api/lab/v1/comparison", [this](http::exchange* e) { return answer_stop(e); });
    router_.get("/ws/lab/v1", [this](http::exchange* e) { return serve_socket(e); });
    router_.get("/*", [this](http::exchange* e) { return show_page(e); });
}

io::task<> lab_server::show_page(http::exchange* on) {
    pages_.answer(*on);
    co_return;
}

io::task<> lab_server::serve(io::tcp_acceptor* port) {
    co_await io::when_any(http_.serve(port), laboratory_.drive());
}

bool lab_server::refuse_strangers(http::exchange* on) {
    const http::request_head& head = on->request();
    if (!http::host_may_be(head.authority, {})) {
        refuse(on, {403, "this host is not the laboratory's; open the address that corro market lab printed"});
        return true;
    }
    if (!websocket::origin_may_connect(head.find("Origin"), head.authority, websocket::origin_rules())) {
        refuse(on, {403, "pages of this origin may not ask; open the address that corro market lab printed"});
        return true;
    }
    return false;
}

std::expected<std::size_t, refusal> lab_server::instrument_of(http::exchange* on) {
    std::string name;
    if (!http::percent_decode(http::query_part(on->request().query, "instrument"), name)) name = "?";
    const auto& all = laboratory_.run().what().options.instruments;
    if (name.empty()) return 0;
    std::string known;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (all[k].name.view() == name) return k;
        known += fmt::format("{}{}", k == 0 ? "" : ", ", all[k].name.view());
    }
    return std::unexpected(refusal{404, fmt::format("instrument: unknown; available: {}", known)});
}

io::task<> lab_server::answer_get(http::exchange* on, json (lab_server::*make)(std::size_t)) {
    if (refuse_strangers(on)) co_return;
    const auto instrument = instrument_of(on);
    if (!instrument) co_return refuse(on, instrument.error());
    respond_json(on, 200, (this->*make)(*instrument));
}

io::task<> lab_server::answer_post(http::exchange* on, io::task<answer> (lab_server::*act)(json)) {
    if (refuse_strangers(on)) co_return;
    const auto body = co_await on->read_body();
    if (!body) co_return;  // the server answers
    auto asked = read_object(*body);
    if (!asked) co_return refuse(on, asked.error());
    const answer got = co_await (this->*act)(std::move(*asked));
    if (!got) co_return refuse(on, got.error());
    respond_json(on, 200, *got);
}

io::task<> lab_server::answer_scenario(http::exchange* on) {
    if (!refuse_strangers(on)) respond(on, 200, "text/plain; charset=utf-8", laboratory_.text());
    co_return;
}

io::task<> lab_server::answer_stop(http::exchange* on) {
    if (refuse_strangers(on)) co_return;
    laboratory_.stop_comparison();
    respond_json(on, 200, laboratory_.comparison());
}

io::task<lab_server::answer> lab_server::compare(json asked) {
    co_return laboratory_.compare(asked);
}

json lab_server::state_of(std::size_t instrument) {
    json made = laboratory_.terms();
    made.update(laboratory_.now_json());
    made.update(book_json(laboratory_.run(), instrument));
    made["metrics"] = metrics_json(laboratory_.run());
    made["agents"] = agents_json(laboratory_.run(), instrument);
    return made;
}

json lab_server::comparison_of(std::size_t /*instrument*/) {
    return laboratory_.comparison();
}

io::task<> lab_server::serve_socket(http::exchange* on) {
    if (refuse_strangers(on)) co_return;
    const auto instrument = instrument_of(on);
    if (!instrument) co_return refuse(on, instrument.error());
    websocket::connection_options options;
    options.limits.receive.message_bytes = lab_request_bytes_max;
    options.deflate.enabled = false;
    auto opened = co_await websocket::accept(on, options);
    if (!opened) co_return;
    websocket::connection* const peer = opened->get();
    co_await io::when_any(send_news(peer, *instrument), wait_for_the_end(peer));
}

/// What the client has not got yet, and its new place.
json lab_server::news_json(place& of, std::size_t instrument) {
    json made{{"now", laboratory_.now_json()}};
    observed_run& run = laboratory_.run();
    if (of.epoch != laboratory_.epoch()) {
        of.columns = of.trades = of.samples = 0;
        made["begins"] = true;
    }
    if (of.terms != laboratory_.terms_version() || of.epoch != laboratory_.epoch()) made["terms"] = laboratory_.terms();
    of.epoch = laboratory_.epoch();
    of.terms = laboratory_.terms_version();
    if (of.comparison != laboratory_.comparison_version()) {
        of.comparison = laboratory_.comparison_version();
        made["comparison"] = laboratory_.comparison();
    }
    const auto add = [&made](const char* name, json part, std::uint64_t& next) {
        next = part["next"].get<std::uint64_t>();
        if (!part["rows"].empty()) made[name] = std::move(part);
    };
    add("columns", columns_json(run.columns(instrument), of.columns, columns_sent_max), of.columns);
    add("trades", trades_json(run.trades(instrument), of.trades, rows_sent_max), of.trades);
    add("samples", samples_json(run.samples(instrument), of.samples, rows_sent_max), of.samples);
    return made;
}

io::task<> lab_server::send_news(websocket::connection* to, std::size_t instrument) {
    place of;
    std::string last;
    bool has_table = false;
    unsigned silent = 0;
    for (unsigned count = 0;; ++count) {
        json news = news_json(of, instrument);
        const bool is_behind = of.columns < laboratory_.run().columns(instrument).end();
        const std::string now = news["now"].dump();
        const bool has_news = now != last || news.size() > 1;
        if (has_news) {
            last = now;
            news["book"] = book_json(laboratory_.run(), instrument);
            has_table = false;
        }
        // The last state is in the table, too.
        if (!has_table && (count % table_ticks == 0)) {
            news["agents"] = agents_json(laboratory_.run(), instrument);
            news["metrics"] = metrics_json(laboratory_.run());
            has_table = true;
        }
        silent = news.size() > 1 ? 0 : silent + 1;
        if (silent == 0 || silent % silence_ticks == 0) {
            const std::error_code failed =
                co_await to->send_text(news.dump(-1, ' ', false, json::error_handler_t::replace));
            if (failed) co_return;
        }
        std::chrono::milliseconds pause = news_interval;
        if (is_behind) pause = std::chrono::milliseconds(0);
        const std::error_code stopped = co_await io::sleep_for(pause);
        if (stopped) co_return;
    }
}

}  // namespace corro::app
