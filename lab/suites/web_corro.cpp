// SPDX-License-Identifier: Apache-2.0
// Suite `http`, the server rows, by Corro.

#include "http/server.hpp"
#include "io/loop/context.hpp"
#include "io/task/scope.hpp"
#include "io/tls/tls_stream.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/suites.hpp"
#include "lab/suites/web_shapes.hpp"
#include "websocket/connection.hpp"

namespace corro::lab {
namespace {

io::task<> echo(http::exchange* on, const websocket::connection_options* options) {
    auto opened = co_await websocket::accept(on, *options);
    if (!opened) co_return;
    for (;;) {
        const auto got = co_await (*opened)->receive();
        if (!got) co_return;
        const std::error_code error = co_await (*opened)->send(got->is_text, got->data);
        if (error) co_return;
    }
}

io::task<> answer(http::exchange* on, const std::string* body) {
    on->respond(200, "text/plain", *body);
    co_return;
}

io::task<> serve_secured(http::server* server, io::tcp_stream plain, io::tls_context settings) {
    auto secured = co_await io::tls_stream<io::tcp_stream>::accept(std::move(plain), settings);
    if (secured) co_await server->serve_stream(io::any_stream(std::move(*secured)));
}

void serve(io::platform* kind, const web_shape& shape, const std::vector<int>& descriptors) {
    io::context ctx{io::context_options(*kind)};
    const websocket::connection_options sockets;
    const std::string body(shape.bytes, 'x');
    http::server server(ctx,
                        [&](http::exchange* on) { return shape.websocket ? echo(on, &sockets) : answer(on, &body); });
    const auto settings = io::tls_context::server(web_identity());
    verify(settings.has_value(), "there is no TLS");
    for (const int descriptor : descriptors) {
        auto stream = io::tcp_stream::adopt(ctx, descriptor);
        verify(stream.has_value(), "a descriptor was not adopted");
        if (shape.secure) {
            io::spawn(ctx, serve_secured(&server, std::move(*stream), *settings));
        } else {
            io::spawn(ctx, server.serve_stream(io::any_stream(std::move(*stream))));
        }
    }
    ctx.run();
}

}  // namespace

void implement_web_servers_corro(registry& into) {
    for (const corro_backend& by : corro_backends_and_asio()) {
        io::platform* const kind = by.kind;
        for (const web_shape& shape : web_shapes()) {
            into.implement("http", shape.row(), by.subject, [kind, shape](const run_parameters& how) {
                return load_web_server(how, shape, [kind](const web_shape& of, const std::vector<int>& descriptors) {
                    serve(kind, of, descriptors);
                });
            });
        }
    }
}

}  // namespace corro::lab
