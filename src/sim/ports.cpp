// SPDX-License-Identifier: Apache-2.0
#include "sim/ports.hpp"

#include <algorithm>
#include <cerrno>
#include <variant>

namespace corro::sim {
namespace {

bool may_share(const socket& of) {
    const bool is_datagram = is_internet(of.kind) && !is_stream(of.kind);
    return of.has_option(io::socket_option::reuse_port) ||
           (is_datagram && of.has_option(io::socket_option::reuse_address));
}

}  // namespace

bool is_any_address(const io::endpoint& at) noexcept {
    return std::ranges::all_of(at.address(), [](std::uint8_t b) { return b == 0; });
}

bool is_loopback(const io::endpoint& at) noexcept {
    if (at.family() == io::address_family::ipv4) return at.address()[0] == 127;
    return at.with_port(0) == io::endpoint::loopback_ipv6(0);
}

io::endpoint any_address_like(const io::endpoint& like, std::uint16_t port) noexcept {
    return like.family() == io::address_family::ipv4 ? io::endpoint::any(port) : io::endpoint::ipv6({}, port);
}

int ports::bind(socket& socket, const io::socket_address& address) {
    if (socket.is_bound) return EINVAL;
    io::socket_address wanted = address;
    if (auto* at = std::get_if<io::endpoint>(&wanted); at != nullptr && at->port() == 0) {
        int tries = 0;
        do {
            if (++tries > 16'384) return EADDRINUSE;
            *at = at->with_port(next_port_);
            next_port_ = next_port_ == 65'535 ? std::uint16_t{49'152} : static_cast<std::uint16_t>(next_port_ + 1);
        } while (find(socket.kind, wanted) != nullptr);
    }
    const auto* const other = find(socket.kind, wanted);
    if (other != nullptr && !(may_share(socket) && may_share(*other))) return EADDRINUSE;
    socket.local = wanted;
    socket.is_bound = true;
    bound_.emplace(binding(socket.kind, wanted), &socket);
    return 0;
}

void ports::unbind(socket& socket) noexcept {
    if (!socket.is_bound) return;
    const auto [first, last] = bound_.equal_range(binding(socket.kind, socket.local));
    const auto own = std::find_if(first, last, [&socket](const auto& each) { return each.second == &socket; });
    if (own != last) bound_.erase(own);
    socket.is_bound = false;
}

socket* ports::find(io::transport kind, const io::socket_address& address) const {
    auto found = bound_.find(binding(kind, address));
    if (found != bound_.end()) return found->second;
    const auto* at = std::get_if<io::endpoint>(&address);
    if (at == nullptr || is_any_address(*at)) return nullptr;
    found = bound_.find(binding(kind, any_address_like(*at, at->port())));
    return found != bound_.end() ? found->second : nullptr;
}

std::vector<socket*> ports::members(io::transport kind, const io::endpoint& group) const {
    std::vector<socket*> found;
    for (const auto& [where, each] : bound_) {
        const auto* at = std::get_if<io::endpoint>(&where.second);
        if (where.first != kind || at == nullptr || at->port() != group.port()) continue;
        if (each->groups.contains(group.with_port(0))) found.push_back(each);
    }
    return found;
}

}  // namespace corro::sim
