// SPDX-License-Identifier: Apache-2.0
// Echo over WebSocket and HTTP, on TCP and TLS: something for other people's clients, test suites and scanners to talk
// to.
//
//     corro-echo [--listen ADDRESS:PORT] [--listen-tls ADDRESS:PORT] ...      (corro-echo --help)
#include <charconv>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "http/router.hpp"
#include "http/server.hpp"
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/loop/timer.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/tls/tls_stream.hpp"
#include "self_signed.hpp"
#include "websocket/connection.hpp"

namespace io = corro::io;
namespace http = corro::http;
namespace websocket = corro::websocket;

constexpr std::string_view help = R"(corro-echo: echo over WebSocket and HTTP, on TCP and TLS, until Ctrl-C

  --listen ADDRESS:PORT       plain connections (default: 127.0.0.1:9001)
  --listen-tls ADDRESS:PORT   TLS connections (default: none)
  --certificate FILE          certificate chain in PEM form; without one, a self-signed one is made for localhost
  --key FILE                  its private key in PEM form
  --origin ORIGIN             pages of this origin may open WebSockets, too; "*": of any. May be repeated
  --protocol NAME             a WebSocket subprotocol to agree on. May be repeated
  --max-message BYTES         the largest message or body (default: 33554432)
  --no-compression            do not agree on permessage-deflate
  --backend NAME              epoll or uring (default: the best that works here)
  --help                      this text

What it answers:
  a WebSocket on any path     sends every message back as it came
  GET /                       says what this is
  GET /bytes/N                N bytes, at most 16777216
  POST, PUT /echo             sends the request's body back
  everything else             404 or 405
)";

/// What the command line says.
struct settings {
    std::string listen = "127.0.0.1:9001";
    std::string listen_tls;
    std::string certificate;
    std::string key;
    std::size_t message_bytes_max = 32U << 20U;
    io::platform* backend = &io::default_platform();
    websocket::connection_options sockets;
};

// [websocket]
/// Sends every message back. What can be answered together leaves together.
io::task<> echo_messages(http::exchange* on, const websocket::connection_options* options) {
    auto opened = co_await websocket::accept(on, *options);
    if (!opened) co_return;  // it was refused, and told why
    websocket::connection& peer = **opened;
    for (;;) {
        const auto got = co_await peer.receive();
        if (!got) co_return;  // closed, or closed for what the peer did wrong
        if (peer.has_input() && got->data.size() <= 4096 && peer.queued_bytes() < 32 * 1024) {
            peer.queue(got->is_text, got->data);
            continue;
        }
        const std::error_code error = co_await peer.send(got->is_text, got->data);
        if (error) co_return;
    }
}
// [/websocket]

// [routes]
io::task<> say_what_this_is(http::exchange* on) {
    const auto body = co_await on->read_body();
    if (!body) co_return;  // the server says what was wrong with it
    on->respond(200, "text/plain; charset=utf-8", "corro-echo: WebSocket on any path, POST /echo, GET /bytes/N\n");
}

io::task<> echo_body(http::exchange* on) {
    const auto body = co_await on->read_body();
    if (!body) co_return;
    const std::string_view type = on->request().find("Content-Type");
    on->respond(200, type.empty() ? "application/octet-stream" : type, *body);
}

io::task<> send_bytes(http::exchange* on) {
    const auto body = co_await on->read_body();
    if (!body) co_return;
    const std::string_view text = http::path_part("/bytes/{count}", on->request().path, "count");
    std::size_t count = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || count > (16U << 20U)) {
        on->respond(404, "text/plain; charset=utf-8", "unsupported number of bytes\n");
        co_return;
    }
    on->respond(200, "application/octet-stream", std::string(count, 'x'));
}

http::router routes() {
    http::router made;
    made.get("/", &say_what_this_is);
    made.get("/bytes/{count}", &send_bytes);
    made.post("/echo", &echo_body);
    made.put("/echo", &echo_body);
    return made;
}
// [/routes]

// [tls]
/// Shakes hands for each connection that the server accepts.
io::task<std::error_code> secure(io::tcp_stream plain, io::any_stream* into, io::tls_context settings) {
    auto done = co_await io::tls_stream<io::tcp_stream>::accept(std::move(plain), settings);
    if (!done) co_return done.error();
    *into = io::any_stream(std::move(*done));
    co_return std::error_code();
}
// [/tls]

// [stop]
/// Waits for Ctrl-C, then lets every request under way come to its end.
io::task<std::error_code> drain_on(io::signal_set* interrupt, http::server* server) {
    const auto signal = co_await interrupt->wait();
    if (!signal) co_return signal.error();
    server->drain();
    co_return co_await io::sleep_for(server->options().drain + std::chrono::seconds(5));
}

io::task<std::error_code> serve_all(http::server* server, io::tcp_acceptor* plain, io::tcp_acceptor* encrypted,
                                    http::securing handshake) {
    if (encrypted == nullptr) co_return co_await server->serve(plain);
    auto [first, second] = co_await io::when_all(server->serve(plain), server->serve(encrypted, std::move(handshake)));
    co_return first ? first : second;
}
// [/stop]

int run(const settings& chosen) {
    const auto open = [](io::context& ctx, const std::string& text) -> std::optional<io::tcp_acceptor> {
        const auto where = io::endpoint::parse(text);
        if (!where) return std::cerr << text << ": " << where.error().message() << '\n', std::nullopt;
        auto acceptor = io::tcp_acceptor::open(ctx, *where);
        if (!acceptor) return std::cerr << text << ": " << acceptor.error().message() << '\n', std::nullopt;
        return std::move(*acceptor);
    };
    io::context ctx{io::context_options(*chosen.backend)};
    std::optional<io::tcp_acceptor> plain = open(ctx, chosen.listen);
    if (!plain) return 1;

    std::optional<io::tcp_acceptor> encrypted;
    http::securing handshake;
    if (!chosen.listen_tls.empty()) {
        io::tls_server_options options;
        if (chosen.certificate.empty()) {
            options = example::self_signed();
        } else {
            const auto certificate = io::read_pem_file(chosen.certificate);
            if (!certificate)
                return std::cerr << chosen.certificate << ": " << certificate.error().message() << '\n', 1;
            const auto key = io::read_pem_file(chosen.key);
            if (!key) return std::cerr << chosen.key << ": " << key.error().message() << '\n', 1;
            options.certificate_chain = *certificate;
            options.private_key = *key;
        }
        options.protocols = {"http/1.1"};
        auto tls = io::tls_context::server(options);
        if (!tls) return std::cerr << "TLS: " << tls.error().message() << '\n', 1;
        encrypted = open(ctx, chosen.listen_tls);
        if (!encrypted) return 1;
        handshake = [shared = *tls](io::tcp_stream stream, io::any_stream* into) {
            return secure(std::move(stream), into, shared);
        };
    }

    const http::router pages = routes();
    const websocket::connection_options& sockets = chosen.sockets;
    http::server_options options;
    options.limits.body_bytes = chosen.message_bytes_max;
    options.drain = std::chrono::seconds(2);
    http::server server(
        ctx,
        [&](http::exchange* on) {
            return on->request().has("Upgrade", "websocket") ? echo_messages(on, &sockets) : pages.answer(on);
        },
        options);
    std::cout << "listening on " << plain->local_endpoint()->to_string() << std::endl;
    if (encrypted) std::cout << "listening for TLS on " << encrypted->local_endpoint()->to_string() << std::endl;

    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    io::block_on(ctx, io::when_any(serve_all(&server, &*plain, encrypted ? &*encrypted : nullptr, std::move(handshake)),
                                   drain_on(&interrupt, &server)));
    std::cout << "stopped after " << server.requests_count() << " requests" << std::endl;
    return 0;
}

int main(int argc, char** argv) {
    settings chosen;
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    for (std::size_t i = 0; i != words.size(); ++i) {
        const std::string_view option = words[i];
        if (option == "--help") return std::cout << help, 0;
        if (option == "--no-compression") {
            chosen.sockets.deflate.enabled = false;
            continue;
        }
        if (i + 1 == words.size()) return std::cerr << option << ": unknown, or without its value; see --help\n", 2;
        const std::string value(words[++i]);
        if (option == "--listen") {
            chosen.listen = value;
        } else if (option == "--listen-tls") {
            chosen.listen_tls = value;
        } else if (option == "--certificate") {
            chosen.certificate = value;
        } else if (option == "--key") {
            chosen.key = value;
        } else if (option == "--origin") {
            chosen.sockets.origins.allowed.push_back(value);
        } else if (option == "--protocol") {
            chosen.sockets.protocols.push_back(value);
        } else if (option == "--backend" && (value == "epoll" || value == "uring")) {
            chosen.backend = value == "epoll" ? &io::epoll_platform() : &io::uring_platform();
        } else if (option == "--max-message" && value.find_first_not_of("0123456789") == std::string::npos &&
                   value.size() < 10) {
            chosen.message_bytes_max = std::stoul(value);
        } else {
            return std::cerr << option << " " << value << ": unknown, or not a value for it; see --help\n", 2;
        }
    }
    if (chosen.certificate.empty() != chosen.key.empty()) {
        return std::cerr << "--certificate and --key belong together\n", 2;
    }
    chosen.sockets.limits.receive.message_bytes = chosen.message_bytes_max;
    return run(chosen);
}
