// SPDX-License-Identifier: Apache-2.0
#include "sim/network.hpp"

#include <cerrno>
#include <string>
#include <variant>

#include "sim/backend.hpp"
#include "sim/connection.hpp"
#include "sim/host.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

/// The address that a socket on `on` sends from, to `target`.
io::endpoint source_for(const host& on, const host* target, const io::endpoint& to) {
    if (target == &on) return is_any_address(to) || to.is_multicast() ? on.loopback_like(to) : to;
    return on.address_like(to);
}

bool take(socket& by, const stored_datagram& what) {
    if (by.datagrams.size() >= datagrams_max) return false;
    by.datagrams.push_back(what);
    by.home->note(by);
    return true;
}

}  // namespace

link& network::link_between(const host& from, const host& to) {
    std::unique_ptr<link>& there = links_[{from.number(), to.number()}];
    if (there == nullptr) {
        there = std::make_unique<link>(world_.seed_of("link " + from.name() + " to " + to.name()));
        if (&from != &to) there->options() = usual_;
    }
    return *there;
}

host* network::find(const io::endpoint& address, host& asking) const {
    if (is_loopback(address) || is_any_address(address)) return &asking;
    const auto found = hosts_.find(address.with_port(0));
    return found != hosts_.end() ? found->second : nullptr;
}

int network::bind(socket& socket, host& on, const io::socket_address& address) const {
    const auto* at = std::get_if<io::endpoint>(&address);
    if (at != nullptr && !at->is_multicast()) {
        const auto found = hosts_.find(at->with_port(0));
        const bool is_own = is_loopback(*at) || is_any_address(*at) || (found != hosts_.end() && found->second == &on);
        if (!is_own) return EADDRNOTAVAIL;
    }
    return on.ports().bind(socket, address);
}

int network::connect(socket& socket, host& on, const io::socket_address& address) {
    const auto* to = std::get_if<io::endpoint>(&address);
    if (!is_stream(socket.kind)) {
        if (!socket.is_bound && to != nullptr) {
            const int status = on.ports().bind(socket, source_for(on, find(*to, on), *to).with_port(0));
            if (status != 0) return status;
        }
        socket.remote = address;
        socket.is_connected = true;
        return 0;
    }
    if (socket.is_connected) return EISCONN;
    host* const target = to != nullptr ? find(*to, on) : &on;
    if (to == nullptr && on.ports().find(socket.kind, address) == nullptr) return ENOENT;
    if (to != nullptr && !socket.is_bound) {
        const int status = on.ports().bind(socket, source_for(on, target, *to).with_port(0));
        if (status != 0) return status;
    }
    const auto made = std::make_shared<connection>(*this, on, target);
    socket.stream = made;
    socket.end = connection::caller;
    made->ask(socket, address);
    return 0;
}

bool network::send_batch(socket& from, host& on, io::operation& what) {
    while (what.bytes < what.batch.size()) {
        const int status = send_one(from, on, what.batch[what.bytes]);
        if (status == EAGAIN) return false;
        if (status != 0) {
            what.status = status;
            return true;
        }
        ++what.bytes;
    }
    return true;
}

int network::send_one(socket& from, host& on, const io::datagram& what) {
    const auto* unnamed = std::get_if<io::unix_endpoint>(&what.peer);
    const bool is_to_peer = unnamed != nullptr && unnamed->path().empty();
    if (is_to_peer && !from.is_connected && from.pair == nullptr)
        return is_internet(from.kind) ? EDESTADDRREQ : ENOTCONN;
    const io::socket_address to = is_to_peer ? from.remote : what.peer;
    if (!is_internet(from.kind)) return send_on_host(from, on, to, what);
    const auto* at = std::get_if<io::endpoint>(&to);
    if (at == nullptr) return EAFNOSUPPORT;
    if (what.data.size() > datagram_bytes_max) return EMSGSIZE;
    if (!from.is_bound) {
        const int status = on.ports().bind(from, any_address_like(*at, 0));
        if (status != 0) return status;
    }
    host* const target = at->is_multicast() ? nullptr : find(*at, on);
    stored_datagram sent{{what.data.begin(), what.data.end()}, from.local};
    auto& source = std::get<io::endpoint>(sent.from);
    if (is_any_address(source))
        source = source_for(on, at->is_multicast() ? &on : target, *at).with_port(source.port());
    if (at->is_multicast()) {
        for (const auto& each : world_.hosts()) send_to_host(on, *each, from.kind, sent, *at, false);
    } else if (target != nullptr) {
        send_to_host(on, *target, from.kind, sent, *at, from.is_connected);
    }
    return 0;
}

int network::send_on_host(socket& from, host& on, const io::socket_address& to, const io::datagram& what) const {
    socket* const taker = from.pair != nullptr ? from.pair : on.ports().find(from.kind, to);
    if (taker == nullptr) return from.is_connected && from.remote == to ? ECONNREFUSED : ENOENT;
    return take(*taker, {{what.data.begin(), what.data.end()}, from.local}) ? 0 : EAGAIN;
}

void network::send_to_host(host& on, host& target, io::transport kind, const stored_datagram& what,
                           const io::endpoint& to, bool is_connected) {
    link& way = link_between(on, target);
    if (way.is_cut() || way.loses_packet()) return;
    for (int copies = way.draw(way.options().duplication) ? 2 : 1; copies != 0; --copies) {
        const std::uint64_t at = way.datagram_arrival_ns(now_ns(), what.data.size());
        if (at == now_ns()) {
            arrive(on, target, kind, what, to, is_connected);
        } else {
            plan(at, [this, &on, &target, kind, what, to, is_connected] {
                if (!link_between(on, target).is_cut()) arrive(on, target, kind, what, to, is_connected);
            });
        }
    }
}

void network::arrive(host& on, host& target, io::transport kind, const stored_datagram& what, const io::endpoint& to,
                     bool is_connected) {
    if (!target.is_on()) return;
    record(on.number(), target.number(), what.data);
    if (to.is_multicast()) {
        for (socket* member : target.ports().members(kind, to)) static_cast<void>(take(*member, what));
    } else if (socket* const one = target.ports().find(kind, to)) {
        static_cast<void>(take(*one, what));
    } else if (is_connected) {
        link& back = link_between(target, on);
        if (back.is_cut() || back.loses_packet()) return;
        const std::uint64_t at = back.arrival_ns(now_ns(), 0);
        if (at == now_ns()) return refuse(on, kind, what.from);
        plan(at, [this, &on, kind, sender = what.from] { refuse(on, kind, sender); });
    }
}

/// Tells a connected datagram socket that its peer's port is nobody's.
void network::refuse(host& at, io::transport kind, const io::socket_address& sender) const {
    socket* const told = at.ports().find(kind, sender);
    if (told == nullptr || !told->is_connected) return;
    told->error = ECONNREFUSED;
    told->home->note(*told);
}

std::uint64_t network::now_ns() const noexcept {
    return world_.now_ns();
}

void network::plan(std::uint64_t at_ns, action what) {
    world_.plan_inside(at_ns, std::move(what));
}

void network::record(std::uint64_t from, std::uint64_t to, std::span<const std::byte> bytes) noexcept {
    world_.record(from, to, bytes);
}

}  // namespace corro::sim
