// SPDX-License-Identifier: Apache-2.0
#include "io/net/tcp.hpp"

#include "io/net/detail/socket_tasks.hpp"

namespace corro::io {
namespace {

transport transport_for(const endpoint& at) noexcept {
    return at.family() == address_family::ipv4 ? transport::tcp_ipv4 : transport::tcp_ipv6;
}

std::expected<endpoint, std::error_code> as_endpoint(
    const std::expected<socket_address, std::error_code>& address) noexcept {
    if (!address) return std::unexpected(address.error());
    if (const auto* ip = std::get_if<endpoint>(&*address)) return *ip;
    return std::unexpected(std::make_error_code(std::errc::address_family_not_supported));
}

/// If no program listens on a port, the system may choose this port for the connecting side. Then the socket is
/// connected to itself.
bool is_connected_to_itself(const tcp_stream& stream, const endpoint& peer) noexcept {
    const auto local = stream.local_endpoint();
    return local && local->port() == peer.port() && stream.remote_endpoint() == local;
}

}  // namespace

task<std::expected<tcp_stream, std::error_code>> tcp_stream::connect_on(context* on, endpoint peer) {
    const auto connected = co_await detail::connect_socket(on, transport_for(peer), peer);
    if (!connected) co_return std::unexpected(connected.error());
    tcp_stream stream(**connected);
    if (is_connected_to_itself(stream, peer)) {
        // Closes with a reset, so that the port is free for its server at once.
        static_cast<void>(stream.set_option(linger_seconds(0)));
        co_return std::unexpected(make_error_code(std::errc::connection_refused));
    }
    co_return stream;
}

std::expected<tcp_stream, std::error_code> tcp_stream::adopt(context& on, int file) noexcept {
    const auto adopted = on.io().adopt(file);
    if (!adopted) return std::unexpected(adopted.error());
    return tcp_stream(**adopted);
}

std::expected<endpoint, std::error_code> tcp_stream::local_endpoint() const noexcept {
    return as_endpoint(local_address());
}
std::expected<endpoint, std::error_code> tcp_stream::remote_endpoint() const noexcept {
    return as_endpoint(remote_address());
}

std::expected<tcp_acceptor, std::error_code> tcp_acceptor::open(context& on, endpoint local,
                                                                listen_options options) noexcept {
    const auto opened = on.io().open(transport_for(local));
    if (!opened) return std::unexpected(opened.error());
    tcp_acceptor acceptor(**opened);
    std::error_code error;
    if (options.reuse_address) error = acceptor.set_option(io::reuse_address(true));
    if (!error && options.reuse_port) error = acceptor.set_option(io::reuse_port(true));
    if (!error && local.family() == address_family::ipv6) error = acceptor.set_option(ipv6_only(options.ipv6_only));
    if (!error) error = on.io().bind(**opened, local);
    if (!error) error = on.io().listen(**opened, options.backlog);
    if (error) return std::unexpected(error);
    return acceptor;
}

task<std::expected<tcp_stream, std::error_code>> tcp_acceptor::accept() {
    const auto accepted = co_await detail::accept_patiently(get());
    if (!accepted) co_return std::unexpected(accepted.error());
    co_return tcp_stream(**accepted);
}

std::expected<endpoint, std::error_code> tcp_acceptor::local_endpoint() const noexcept {
    return as_endpoint(local_address());
}

}  // namespace corro::io
