// SPDX-License-Identifier: Apache-2.0
#include "io/net/udp.hpp"

namespace corro::io {

std::expected<udp_socket, std::error_code> udp_socket::open(context& on, endpoint local, udp_options options) noexcept {
    const auto opened =
        on.io().open(local.family() == address_family::ipv4 ? transport::udp_ipv4 : transport::udp_ipv6);
    if (!opened) return std::unexpected(opened.error());
    udp_socket socket(**opened);
    std::error_code error;
    if (options.reuse_address) error = socket.set_option(io::reuse_address(true));
    if (!error) error = on.io().bind(**opened, local);
    if (error) return std::unexpected(error);
    return socket;
}

std::error_code udp_socket::join_group(const endpoint& group, std::uint32_t interface) noexcept {
    if (!is_open()) return std::make_error_code(std::errc::bad_file_descriptor);
    return get()->owner->io().set_membership(*get(), group, interface, true);
}

std::error_code udp_socket::leave_group(const endpoint& group, std::uint32_t interface) noexcept {
    if (!is_open()) return std::make_error_code(std::errc::bad_file_descriptor);
    return get()->owner->io().set_membership(*get(), group, interface, false);
}

std::expected<endpoint, std::error_code> udp_socket::local_endpoint() const noexcept {
    const auto address = local_address();
    if (!address) return std::unexpected(address.error());
    if (const auto* ip = std::get_if<endpoint>(&*address)) return *ip;
    return std::unexpected(std::make_error_code(std::errc::address_family_not_supported));
}

}  // namespace corro::io
