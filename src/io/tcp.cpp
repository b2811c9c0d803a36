#include "io/tcp.hpp"

#include "io/timer.hpp"

namespace corro::io {
namespace {

using connecting = lazily<detail::plain_awaiter, operation_kind, descriptor*, const socket_address*>;
using accepting = lazily<detail::accept_awaiter, descriptor*>;

transport transport_for(const endpoint& at) noexcept {
    return at.family() == address_family::ipv4 ? transport::tcp_ipv4 : transport::tcp_ipv6;
}

std::expected<endpoint, std::error_code> as_endpoint(
    const std::expected<socket_address, std::error_code>& address) noexcept {
    if (!address) return std::unexpected(address.error());
    if (const auto* ip = std::get_if<endpoint>(&*address)) return *ip;
    return std::unexpected(std::make_error_code(std::errc::address_family_not_supported));
}

/// Whether accepting failed for want of descriptors or memory, which other parts of the program may give back.
bool is_exhaustion(std::error_code code) noexcept {
    return code == std::errc::too_many_files_open || code == std::errc::too_many_files_open_in_system ||
           code == std::errc::no_buffer_space || code == std::errc::not_enough_memory;
}

}  // namespace

task<std::expected<tcp_stream, std::error_code>> tcp_stream::connect_on(context* on, endpoint peer) {
    const auto opened = on->io().open(transport_for(peer));
    if (!opened) co_return std::unexpected(opened.error());
    tcp_stream stream(**opened);
    const socket_address address(peer);
    const std::error_code error = co_await connecting(operation_kind::connect, *opened, &address);
    if (error) co_return std::unexpected(error);
    co_return stream;
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
    for (;;) {
        const auto accepted = co_await accepting(get());
        if (accepted) co_return tcp_stream(**accepted);
        if (!is_exhaustion(accepted.error())) co_return std::unexpected(accepted.error());
        const std::error_code stopped = co_await sleep_for(exhausted_retry_delay);
        if (stopped) co_return std::unexpected(stopped);
    }
}

std::expected<endpoint, std::error_code> tcp_acceptor::local_endpoint() const noexcept {
    return as_endpoint(local_address());
}

}  // namespace corro::io
