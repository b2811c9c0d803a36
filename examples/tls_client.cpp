// SPDX-License-Identifier: Apache-2.0
// Says a text over TLS, and prints what comes back. Trusts the certificates in a file.
//
//     tls_client ADDRESS:PORT HOST TRUSTED_FILE TEXT
#include <chrono>
#include <cstddef>
#include <expected>
#include <iostream>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_stream.hpp"

namespace io = corro::io;

// [talk]
io::task<std::error_code> talk(io::context* on, io::endpoint where, io::tls_context tls, std::string host,
                               std::string text) {
    auto raw = co_await io::tcp_stream::connect(*on, where);
    if (!raw) co_return raw.error();
    auto peer = co_await io::tls_stream<io::tcp_stream>::connect(std::move(*raw), tls, host);
    if (!peer) co_return peer.error();
    std::cout << "this is " << host << ", over " << peer->version() << std::endl;

    const io::io_result put = co_await peer->write_all(std::as_bytes(std::span(text)));
    if (put.error) co_return put.error;
    const io::io_result got = co_await peer->read_exact(std::as_writable_bytes(std::span(text)));
    if (got.error) co_return got.error;
    std::cout << text << std::endl;
    co_return co_await peer->shutdown();
}
// [/talk]

int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 5 ? argv[1] : "");
    if (!where) return std::cerr << "usage: tls_client ADDRESS:PORT HOST TRUSTED_FILE TEXT\n", 2;
    const auto trusted = io::read_pem_file(argv[3]);
    if (!trusted) return std::cerr << argv[3] << ": " << trusted.error().message() << '\n', 1;
    io::tls_client_options trust;
    trust.trusted_certificates = *trusted;
    const auto tls = io::tls_context::client(trust);
    if (!tls) return std::cerr << argv[3] << ": " << tls.error().message() << '\n', 1;

    io::context ctx;
    auto conversation = talk(&ctx, *where, *tls, argv[2], argv[4]);
    const auto ended = io::block_on(ctx, io::with_timeout(std::chrono::seconds(5), std::move(conversation)));
    const std::error_code error = ended ? *ended : ended.error();
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
}
