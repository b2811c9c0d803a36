// SPDX-License-Identifier: Apache-2.0
#include "io/net/unix_socket.hpp"

#include <unistd.h>

#include "io/net/detail/socket_tasks.hpp"

namespace corro::io {

std::uint32_t current_user() noexcept {
    return static_cast<std::uint32_t>(::geteuid());
}

task<std::expected<unix_stream, std::error_code>> unix_stream::connect_on(context* on, unix_endpoint peer) {
    const auto connected = co_await detail::connect_socket(on, transport::unix_stream, peer);
    if (!connected) co_return std::unexpected(connected.error());
    co_return unix_stream(**connected);
}

std::expected<std::pair<unix_stream, unix_stream>, std::error_code> unix_stream::pair(context& on) noexcept {
    const auto opened = on.io().open_pair(transport::unix_stream);
    if (!opened) return std::unexpected(opened.error());
    return std::pair(unix_stream(*opened->first), unix_stream(*opened->second));
}

std::expected<unix_stream, std::error_code> unix_stream::adopt(context& on, int file) noexcept {
    const auto adopted = on.io().adopt(file);
    if (!adopted) return std::unexpected(adopted.error());
    return unix_stream(**adopted);
}

std::expected<unix_acceptor, std::error_code> unix_acceptor::open(context& on, unix_endpoint local,
                                                                  int backlog) noexcept {
    const auto opened = on.io().open(transport::unix_stream);
    if (!opened) return std::unexpected(opened.error());
    unix_acceptor acceptor(**opened);
    std::error_code error = on.io().bind(**opened, local);
    if (!error) error = on.io().listen(**opened, backlog);
    if (error) return std::unexpected(error);
    return acceptor;
}

task<std::expected<unix_stream, std::error_code>> unix_acceptor::accept() {
    const auto accepted = co_await detail::accept_patiently(get());
    if (!accepted) co_return std::unexpected(accepted.error());
    co_return unix_stream(**accepted);
}

std::expected<unix_datagram, std::error_code> unix_datagram::open(context& on) noexcept {
    const auto opened = on.io().open(transport::unix_datagram);
    if (!opened) return std::unexpected(opened.error());
    return unix_datagram(**opened);
}

std::expected<unix_datagram, std::error_code> unix_datagram::open(context& on, unix_endpoint local) noexcept {
    auto socket = open(on);
    if (!socket) return socket;
    if (const std::error_code error = on.io().bind(*socket->get(), local)) return std::unexpected(error);
    return socket;
}

std::expected<std::pair<unix_datagram, unix_datagram>, std::error_code> unix_datagram::pair(context& on) noexcept {
    const auto opened = on.io().open_pair(transport::unix_datagram);
    if (!opened) return std::unexpected(opened.error());
    return std::pair(unix_datagram(*opened->first), unix_datagram(*opened->second));
}

}  // namespace corro::io
