// SPDX-License-Identifier: Apache-2.0
#include "client/venue_endpoint.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/environment.hpp"
#include "io/tls/tls_stream.hpp"
#include "websocket/byte_stream.hpp"
#include "websocket/connection.hpp"

namespace corro::client {
namespace {

using connected = std::expected<io::transport_stream, std::error_code>;

/// A venue closes a WebSocket that sends more in one message (gateway::websocket_message_bytes_max).
constexpr std::size_t sent_message_bytes_max = 32 * 1024;
/// A venue sends what waits for a session as one message, at most its output buffer.
constexpr std::size_t received_message_bytes_max = 4 * 1024 * 1024;

/// For the Host field. An encrypted connection names the server that it expects, others have the address alone.
std::string host_of(io::endpoint at, const std::string& server_name) {
    if (server_name.empty() || server_name.contains(':')) return at.to_string();
    return server_name + ':' + std::to_string(at.port());
}

io::task<connected> connect_tcp(io::endpoint at) {
    auto tcp = co_await io::tcp_stream::connect(co_await io::this_context(), at);
    if (!tcp) co_return std::unexpected(tcp.error());
    // A session writes whole batches; the kernel must not wait for more.
    static_cast<void>(tcp->set_option(io::no_delay(true)));
    co_return io::transport_stream(std::move(*tcp));
}

io::task<connected> connect_unix(io::unix_endpoint at) {
    auto stream = co_await io::unix_stream::connect(co_await io::this_context(), at);
    if (!stream) co_return std::unexpected(stream.error());
    co_return io::transport_stream(std::move(*stream));
}

io::task<connected> connect_shared_memory(io::unix_endpoint at) {
    auto stream = co_await io::shm_stream::connect(co_await io::this_context(), at);
    if (!stream) co_return std::unexpected(stream.error());
    co_return io::transport_stream(std::move(*stream));
}

io::task<connected> connect_layers(io::endpoint at, std::optional<io::tls_context> tls, std::string server_name,
                                   std::optional<std::string> websocket_target) {
    auto tcp = co_await io::tcp_stream::connect(co_await io::this_context(), at);
    if (!tcp) co_return std::unexpected(tcp.error());
    static_cast<void>(tcp->set_option(io::no_delay(true)));
    io::any_stream stream;
    if (tls) {
        auto secure = co_await io::tls_stream<io::tcp_stream>::connect(std::move(*tcp), *tls, server_name);
        if (!secure) co_return std::unexpected(secure.error());
        stream = io::any_stream(std::move(*secure));
    } else {
        stream = io::any_stream(std::move(*tcp));
    }
    if (websocket_target) {
        websocket::connection_options options;
        options.deflate.enabled = false;
        options.limits.receive.message_bytes = received_message_bytes_max;
        auto opened = co_await websocket::connect(std::move(stream), host_of(at, server_name),
                                                  std::move(*websocket_target), options);
        if (!opened) co_return std::unexpected(opened.error());
        stream = io::any_stream(websocket::byte_stream(std::move(*opened), sent_message_bytes_max));
    }
    co_return io::transport_stream(std::move(stream));
}

}  // namespace

venue_endpoint venue_endpoint::shared_memory(io::unix_endpoint at) {
    venue_endpoint made(at);
    made.is_shared_memory_ = true;
    return made;
}

std::expected<venue_endpoint, std::error_code> venue_endpoint::parse(std::string_view text) {
    constexpr std::string_view socket = "unix:";
    constexpr std::string_view memory = "shm:";
    const bool is_memory = text.starts_with(memory);
    if (is_memory || text.starts_with(socket)) {
        const auto local = io::unix_endpoint::parse(text.substr((is_memory ? memory : socket).size()));
        if (!local) return std::unexpected(local.error());
        return is_memory ? shared_memory(*local) : venue_endpoint(*local);
    }
    const auto at = io::endpoint::parse(text);
    if (!at) return std::unexpected(at.error());
    return venue_endpoint(*at);
}

venue_endpoint venue_endpoint::tls(io::endpoint at, io::tls_context settings, std::string server_name) {
    CORRO_ASSERT(!settings.is_server());
    venue_endpoint made(at);
    made.tls_ = std::move(settings);
    made.server_name_ = std::move(server_name);
    return made;
}

venue_endpoint venue_endpoint::websocket(io::endpoint at, std::string target) {
    venue_endpoint made(at);
    made.websocket_target_ = std::move(target);
    return made;
}

venue_endpoint venue_endpoint::secure_websocket(io::endpoint at, io::tls_context settings, std::string server_name,
                                                std::string target) {
    venue_endpoint made = tls(at, std::move(settings), std::move(server_name));
    made.websocket_target_ = std::move(target);
    return made;
}

io::task<std::expected<io::transport_stream, std::error_code>> venue_endpoint::connect() const {
    if (const auto* const local = std::get_if<io::unix_endpoint>(&at_)) {
        return is_shared_memory_ ? connect_shared_memory(*local) : connect_unix(*local);
    }
    const io::endpoint at = *std::get_if<io::endpoint>(&at_);
    if (!tls_ && !websocket_target_) return connect_tcp(at);
    return connect_layers(at, tls_, server_name_, websocket_target_);
}

std::string venue_endpoint::to_string() const {
    if (const auto* const local = std::get_if<io::unix_endpoint>(&at_)) {
        return (is_shared_memory_ ? "shm:" : "unix:") + local->to_string();
    }
    const std::string at = std::get_if<io::endpoint>(&at_)->to_string();
    if (websocket_target_) return (tls_ ? "wss://" : "ws://") + at + *websocket_target_;
    return tls_ ? "tls://" + at : at;
}

}  // namespace corro::client
