// SPDX-License-Identifier: Apache-2.0
// Takes encrypted connections and passes what they carry on to a server that knows nothing of encryption.
//
//     tls_proxy ADDRESS:PORT TARGET:PORT CERTIFICATE_FILE KEY_FILE
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <expected>
#include <iostream>
#include <span>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_stream.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

// [copy]
/// One direction. An end is passed on as an end; a failure ends both directions.
template <io::stream From, io::stream To>
io::task<> copy(From* from, To* to) {
    std::array<std::byte, 16384> buffer;
    for (;;) {
        const io::io_result got = co_await from->read_some(buffer);
        if (got.error == io::condition::end_of_stream) {
            const std::error_code failed = co_await to->shutdown();
            if (failed) to->close();
            co_return;
        }
        io::io_result put;
        if (!got.error) put = co_await to->write_all(std::span(buffer).first(got.bytes));
        if (got.error || put.error) {
            from->close();
            to->close();
            co_return;
        }
    }
}
// [/copy]

// [serve]
struct settings {
    io::context* on;
    io::endpoint target;
    io::tls_context tls;
};

io::task<> serve(io::tcp_stream raw, const settings* how) {
    using secure_stream = io::tls_stream<io::tcp_stream>;
    auto client = co_await io::with_timeout(5s, secure_stream::accept(std::move(raw), how->tls));
    if (!client || !*client) co_return;  // no handshake, or not in time
    auto server = co_await io::with_timeout(5s, io::tcp_stream::connect(*how->on, how->target));
    if (!server || !*server) co_return;
    co_await io::when_all(copy(&**client, &**server), copy(&**server, &**client));
}
// [/serve]

io::task<> accept_all(io::tcp_acceptor* acceptor, io::task_scope* connections, const settings* how) {
    for (;;) {
        std::expected<io::tcp_stream, std::error_code> peer = co_await acceptor->accept();
        if (!peer) co_return;
        connections->spawn(serve(std::move(*peer), how));
    }
}

// [main]
int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 5 ? argv[1] : "");
    const auto target = io::endpoint::parse(argc == 5 ? argv[2] : "");
    if (!where || !target) {
        return std::cerr << "usage: tls_proxy ADDRESS:PORT TARGET:PORT CERTIFICATE_FILE KEY_FILE\n", 2;
    }
    const auto certificate = io::read_pem_file(argv[3]);
    const auto key = io::read_pem_file(argv[4]);
    if (!certificate || !key) return std::cerr << "cannot read the certificate or its key\n", 1;
    io::tls_server_options identity;
    identity.certificate_chain = *certificate;
    identity.private_key = *key;
    const auto tls = io::tls_context::server(identity);
    if (!tls) return std::cerr << argv[3] << ": " << tls.error().message() << '\n', 1;

    io::context ctx;
    auto acceptor = io::tcp_acceptor::open(ctx, *where);
    if (!acceptor) return std::cerr << argv[1] << ": " << acceptor.error().message() << '\n', 1;
    std::cout << "listening on " << acceptor->local_endpoint()->to_string() << std::endl;

    const settings how{&ctx, *target, *tls};
    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    auto service = io::with_scope([&](io::task_scope& peers) { return accept_all(&*acceptor, &peers, &how); });
    io::block_on(ctx, io::when_any(std::move(service), interrupt.wait()));
    std::cout << "stopped after " << tls->handshakes_count() << " handshakes" << std::endl;
}
// [/main]
