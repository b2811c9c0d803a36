// SPDX-License-Identifier: Apache-2.0
// Test support for TLS: contexts that trust the test authority, and connected pairs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

#include "io/net/unix_socket.hpp"
#include "io/task/when_all.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/certificates_fixture.hpp"
#include "io/tls/tls_stream.hpp"

namespace corro::io {

inline tls_client_options trusting_options() {
    tls_client_options options;
    options.system_trust = false;
    options.trusted_certificates = test_authority().certificate;
    return options;
}

inline tls_server_options serving_options(const test_identity& identity = test_server_identity()) {
    tls_server_options options;
    options.certificate_chain = identity.certificate;
    options.private_key = identity.private_key;
    return options;
}

inline tls_context client_context(const tls_client_options& options = trusting_options()) {
    auto made = tls_context::client(options);
    EXPECT_TRUE(made) << made.error().message();
    return *made;
}

inline tls_context server_context(const tls_server_options& options = serving_options()) {
    auto made = tls_context::server(options);
    EXPECT_TRUE(made) << made.error().message();
    return *made;
}

using secure_stream = tls_stream<unix_stream>;
using secure_outcome = std::expected<secure_stream, std::error_code>;

/// The results of both sides of a handshake.
struct tls_pair {
    tls_pair() noexcept : client(std::unexpected(std::error_code())), server(std::unexpected(std::error_code())) {}
    [[nodiscard]] bool ok() const noexcept { return client.has_value() && server.has_value(); }
    secure_outcome client;
    secure_outcome server;
};

inline task<tls_pair> shake_hands(context* on, tls_context client, tls_context server, std::string host) {
    auto pair = unix_stream::pair(*on);
    EXPECT_TRUE(pair);
    auto [client_end, server_end] = co_await when_all(secure_stream::connect(std::move(pair->first), client, host),
                                                      secure_stream::accept(std::move(pair->second), server));
    tls_pair both;
    both.client = std::move(client_end);
    both.server = std::move(server_end);
    co_return both;
}

}  // namespace corro::io
