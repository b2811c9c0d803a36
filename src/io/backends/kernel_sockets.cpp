// SPDX-License-Identifier: Apache-2.0
#include "io/backends/kernel_sockets.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

namespace corro::io::kernel {
namespace {

std::error_code outcome(int returned) noexcept {
    return returned == 0 ? std::error_code{} : system_code(errno);
}

struct kernel_option {
    int level;
    int name;
};

/// The kernel's level and name of an option whose value is a plain int.
kernel_option place_of(socket_option option) noexcept {
    switch (option) {
        case socket_option::no_delay: return {IPPROTO_TCP, TCP_NODELAY};
        case socket_option::keep_alive: return {SOL_SOCKET, SO_KEEPALIVE};
        case socket_option::keep_alive_idle_s: return {IPPROTO_TCP, TCP_KEEPIDLE};
        case socket_option::keep_alive_interval_s: return {IPPROTO_TCP, TCP_KEEPINTVL};
        case socket_option::keep_alive_count: return {IPPROTO_TCP, TCP_KEEPCNT};
        case socket_option::user_timeout_ms: return {IPPROTO_TCP, TCP_USER_TIMEOUT};
        case socket_option::quick_acknowledge: return {IPPROTO_TCP, TCP_QUICKACK};
        case socket_option::linger_s: return {SOL_SOCKET, SO_LINGER};
        case socket_option::reuse_address: return {SOL_SOCKET, SO_REUSEADDR};
        case socket_option::reuse_port: return {SOL_SOCKET, SO_REUSEPORT};
        case socket_option::send_buffer_bytes: return {SOL_SOCKET, SO_SNDBUF};
        case socket_option::receive_buffer_bytes: return {SOL_SOCKET, SO_RCVBUF};
        case socket_option::peer_user: return {SOL_SOCKET, SO_PEERCRED};
        case socket_option::ipv6_only: return {IPPROTO_IPV6, IPV6_V6ONLY};
        case socket_option::busy_poll_us: return {SOL_SOCKET, SO_BUSY_POLL};
        case socket_option::broadcast: return {SOL_SOCKET, SO_BROADCAST};
        case socket_option::multicast_loop: return {IPPROTO_IP, IP_MULTICAST_LOOP};
        case socket_option::multicast_hops: return {IPPROTO_IP, IP_MULTICAST_TTL};
        case socket_option::multicast_interface: return {IPPROTO_IP, IP_MULTICAST_IF};
    }
    return {-1, -1};
}

bool is_ipv6(int file) noexcept {
    int domain = 0;
    socklen_t size = sizeof domain;
    return ::getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_INET6;
}

/// The multicast options of IPv6 sockets have a separate level.
kernel_option place_of(int file, socket_option option) noexcept {
    switch (option) {
        case socket_option::multicast_loop:
            if (is_ipv6(file)) return {IPPROTO_IPV6, IPV6_MULTICAST_LOOP};
            break;
        case socket_option::multicast_hops:
            if (is_ipv6(file)) return {IPPROTO_IPV6, IPV6_MULTICAST_HOPS};
            break;
        case socket_option::multicast_interface:
            if (is_ipv6(file)) return {IPPROTO_IPV6, IPV6_MULTICAST_IF};
            break;
        default: break;
    }
    return place_of(option);
}

using name_call = int (*)(int, sockaddr*, socklen_t*);

std::expected<socket_address, std::error_code> name_of(int file, name_call call) noexcept {
    native_address address;
    address.size = sizeof address.storage;
    if (call(file, address.data(), &address.size) != 0) return std::unexpected(system_code(errno));
    return from_native(address);
}

}  // namespace

native_address to_native(const socket_address& address) noexcept {
    native_address made;
    if (const auto* ip = std::get_if<endpoint>(&address)) {
        if (ip->family() == address_family::ipv4) {
            sockaddr_in in{};
            in.sin_family = AF_INET;
            in.sin_port = htons(ip->port());
            std::memcpy(&in.sin_addr, ip->address().data(), sizeof in.sin_addr);
            std::memcpy(&made.storage, &in, sizeof in);
            made.size = sizeof in;
        } else {
            sockaddr_in6 in{};
            in.sin6_family = AF_INET6;
            in.sin6_port = htons(ip->port());
            in.sin6_scope_id = ip->scope();
            std::memcpy(&in.sin6_addr, ip->address().data(), sizeof in.sin6_addr);
            std::memcpy(&made.storage, &in, sizeof in);
            made.size = sizeof in;
        }
        return made;
    }
    const auto& local = std::get<unix_endpoint>(address);
    const std::string_view path = local.path();
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), un.sun_path);
    // An abstract name starts with a zero byte and has no end mark; a path ends with one.
    if (local.is_abstract()) un.sun_path[0] = '\0';
    const std::size_t extra = path.empty() || local.is_abstract() ? 0 : 1;
    made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + extra);
    std::memcpy(&made.storage, &un, sizeof un);
    return made;
}

socket_address from_native(const native_address& address) noexcept {
    if (address.storage.ss_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, &address.storage, sizeof in);
        std::array<std::uint8_t, 4> bytes{};
        std::memcpy(bytes.data(), &in.sin_addr, bytes.size());
        return endpoint::ipv4(bytes, ntohs(in.sin_port));
    }
    if (address.storage.ss_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, &address.storage, sizeof in);
        std::array<std::uint8_t, 16> bytes{};
        std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
        return endpoint::ipv6(bytes, ntohs(in.sin6_port), in.sin6_scope_id);
    }
    constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);
    if (address.storage.ss_family != AF_UNIX || address.size <= path_offset) return unix_endpoint{};
    sockaddr_un un{};
    std::memcpy(&un, &address.storage, sizeof un);
    std::size_t size = std::min<std::size_t>(address.size - path_offset, sizeof un.sun_path);
    if (un.sun_path[0] == '\0') {
        un.sun_path[0] = '@';
    } else {
        size = ::strnlen(un.sun_path, size);
    }
    return unix_endpoint::parse({un.sun_path, size}).value_or(unix_endpoint{});
}

std::expected<int, std::error_code> open_socket(transport kind) noexcept {
    int family = AF_INET;
    int type = SOCK_STREAM;
    switch (kind) {
        case transport::tcp_ipv4: break;
        case transport::tcp_ipv6: family = AF_INET6; break;
        case transport::udp_ipv4: type = SOCK_DGRAM; break;
        case transport::udp_ipv6:
            family = AF_INET6;
            type = SOCK_DGRAM;
            break;
        case transport::unix_stream: family = AF_UNIX; break;
        case transport::unix_datagram:
            family = AF_UNIX;
            type = SOCK_DGRAM;
            break;
    }
    const int file = ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file < 0) return std::unexpected(system_code(errno));
    return file;
}

std::error_code bind_socket(int file, const socket_address& address) noexcept {
    const native_address native = to_native(address);
    return outcome(::bind(file, native.data(), native.size));
}

std::error_code listen_socket(int file, int backlog) noexcept {
    return outcome(::listen(file, backlog));
}

std::error_code set_socket_option(int file, socket_option option, int value) noexcept {
    const kernel_option place = place_of(file, option);
    if (option == socket_option::linger_s) {
        linger how{};
        how.l_onoff = value >= 0 ? 1 : 0;
        how.l_linger = std::max(value, 0);
        return outcome(::setsockopt(file, place.level, place.name, &how, sizeof how));
    }
    if (option == socket_option::multicast_interface && place.level == IPPROTO_IP) {
        ip_mreqn way{};
        way.imr_ifindex = value;
        return outcome(::setsockopt(file, place.level, place.name, &way, sizeof way));
    }
    return outcome(::setsockopt(file, place.level, place.name, &value, sizeof value));
}

std::expected<int, std::error_code> get_socket_option(int file, socket_option option) noexcept {
    const kernel_option place = place_of(file, option);
    if (option == socket_option::linger_s) {
        linger how{};
        socklen_t size = sizeof how;
        if (::getsockopt(file, place.level, place.name, &how, &size) != 0) return std::unexpected(system_code(errno));
        return how.l_onoff != 0 ? how.l_linger : -1;
    }
    if (option == socket_option::peer_user) {
        ucred who{};
        socklen_t size = sizeof who;
        if (::getsockopt(file, place.level, place.name, &who, &size) != 0) return std::unexpected(system_code(errno));
        // A socket that is not a Unix socket, or not connected, has no peer process.
        if (who.pid == 0) return std::unexpected(std::make_error_code(std::errc::not_connected));
        return static_cast<int>(who.uid);
    }
    int value = 0;
    socklen_t size = sizeof value;
    if (::getsockopt(file, place.level, place.name, &value, &size) != 0) return std::unexpected(system_code(errno));
    return value;
}

std::expected<socket_address, std::error_code> local_address(int file) noexcept {
    return name_of(file, &::getsockname);
}
std::expected<socket_address, std::error_code> remote_address(int file) noexcept {
    return name_of(file, &::getpeername);
}
std::error_code shutdown_send(int file) noexcept {
    return outcome(::shutdown(file, SHUT_WR));
}

std::expected<std::pair<int, int>, std::error_code> open_socket_pair(transport kind) noexcept {
    const int type = kind == transport::unix_datagram ? SOCK_DGRAM : SOCK_STREAM;
    int files[2] = {-1, -1};
    if (::socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, files) != 0) {
        return std::unexpected(system_code(errno));
    }
    return std::pair(files[0], files[1]);
}

std::error_code set_membership(int file, const endpoint& group, std::uint32_t interface, bool joined) noexcept {
    if (group.family() == address_family::ipv4) {
        ip_mreqn membership{};
        std::memcpy(&membership.imr_multiaddr, group.address().data(), sizeof membership.imr_multiaddr);
        membership.imr_ifindex = static_cast<int>(interface);
        const int name = joined ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP;
        return outcome(::setsockopt(file, IPPROTO_IP, name, &membership, sizeof membership));
    }
    ipv6_mreq membership{};
    std::memcpy(&membership.ipv6mr_multiaddr, group.address().data(), sizeof membership.ipv6mr_multiaddr);
    membership.ipv6mr_interface = interface;
    const int name = joined ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP;
    return outcome(::setsockopt(file, IPPROTO_IPV6, name, &membership, sizeof membership));
}

steady_time steady_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return steady_time(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace corro::io::kernel
