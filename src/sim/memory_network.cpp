#include "sim/memory_network.hpp"

#include <algorithm>
#include <cerrno>
#include <variant>

#include "base/assert.hpp"
#include "sim/memory_backend.hpp"

namespace corro::sim {
namespace {

bool is_datagram_of_internet(io::transport kind) noexcept {
    return kind == io::transport::udp_ipv4 || kind == io::transport::udp_ipv6;
}

bool is_any(const io::endpoint& at) noexcept {
    return std::ranges::all_of(at.address(), [](std::uint8_t b) { return b == 0; });
}

io::endpoint any_of(const io::endpoint& like) noexcept {
    return like.family() == io::address_family::ipv4 ? io::endpoint::any(like.port())
                                                     : io::endpoint::ipv6({}, like.port());
}

bool may_share(const memory_socket& socket) {
    const auto set = [&socket](io::socket_option option) {
        const auto found = socket.options.find(option);
        return found != socket.options.end() && found->second != 0;
    };
    return set(io::socket_option::reuse_port) ||
           (is_datagram_of_internet(socket.kind) && set(io::socket_option::reuse_address));
}

void take(memory_socket& to, std::span<const std::byte> bytes) {
    to.inbox.insert(to.inbox.end(), bytes.begin(), bytes.end());
    to.home->note(to);
}

bool receive(memory_socket& on, io::operation& what) {
    const std::size_t wanted = what.size - what.bytes;
    const std::size_t count = std::min(wanted, on.inbox.size());
    if (count != 0) {
        const bool was_full = on.inbox.size() >= stream_bytes_max;
        std::copy_n(on.inbox.begin(), count, what.data + what.bytes);
        on.inbox.erase(on.inbox.begin(), on.inbox.begin() + static_cast<std::ptrdiff_t>(count));
        what.bytes += count;
        if (was_full && on.peer != nullptr) on.peer->home->note(*on.peer);
    }
    if (what.bytes >= what.minimum && (count != 0 || what.size == 0)) return true;
    if (on.was_reset) {
        what.status = ECONNRESET;
        return true;
    }
    if (!on.peer_has_ended && (on.is_connected || on.peer != nullptr)) return false;
    what.status = on.peer_has_ended ? io::operation::status_end_of_stream : ENOTCONN;
    return true;
}

bool send(memory_socket& on, io::operation& what) {
    for (;;) {
        if (on.was_reset || on.send_is_over || on.peer == nullptr) {
            what.status = on.is_connected && on.was_reset ? ECONNRESET : on.is_connected ? EPIPE : ENOTCONN;
            return true;
        }
        const std::size_t held = on.peer->inbox.size();
        const std::size_t room = held < stream_bytes_max ? stream_bytes_max - held : 0;
        const std::size_t count = std::min(room, what.size - what.bytes);
        if (count != 0) take(*on.peer, std::span<const std::byte>(what.data + what.bytes, count));
        what.bytes += count;
        if (what.bytes >= what.minimum) return true;
        if (count == 0) return false;
    }
}

bool accept(memory_socket& on, io::operation& what) {
    if (on.arrived.empty()) return false;
    what.accepted = on.home->adopt_socket(std::move(on.arrived.front()));
    on.arrived.pop_front();
    return true;
}

bool receive_batch(memory_socket& on, io::operation& what) {
    if (on.datagrams.empty()) return false;
    const std::size_t count = std::min(on.datagrams.size(), what.batch.size());
    for (std::size_t i = 0; i < count; ++i) {
        const memory_socket::stored_datagram& from = on.datagrams.front();
        io::datagram& into = what.batch[i];
        into.bytes = std::min(from.data.size(), into.data.size());
        std::copy_n(from.data.begin(), into.bytes, into.data.begin());
        into.truncated = from.data.size() > into.data.size();
        into.peer = from.from;
        on.datagrams.pop_front();
    }
    what.bytes = count;
    if (on.peer != nullptr) on.peer->home->note(*on.peer);
    return true;
}

}  // namespace

int memory_network::bind(memory_socket& socket, const io::socket_address& address) {
    if (socket.is_bound) return EINVAL;
    io::socket_address wanted = address;
    if (auto* at = std::get_if<io::endpoint>(&wanted)) {
        for (int tries = 0; at->port() == 0 || (tries != 0 && find(socket.kind, wanted) != nullptr); ++tries) {
            if (tries > 16'384) return EADDRINUSE;
            *at = at->with_port(next_port_);
            next_port_ = next_port_ == 65'535 ? std::uint16_t{49'152} : static_cast<std::uint16_t>(next_port_ + 1);
            if (find(socket.kind, wanted) == nullptr) break;
        }
    }
    const memory_socket* const other = find(socket.kind, wanted);
    if (other != nullptr && !(may_share(socket) && may_share(*other))) return EADDRINUSE;
    socket.local = wanted;
    socket.is_bound = true;
    bound_.emplace(binding(socket.kind, wanted), &socket);
    return 0;
}

void memory_network::unbind(memory_socket& socket) noexcept {
    if (!socket.is_bound) return;
    const auto [first, last] = bound_.equal_range(binding(socket.kind, socket.local));
    for (auto each = first; each != last; ++each) {
        if (each->second != &socket) continue;
        bound_.erase(each);
        break;
    }
    socket.is_bound = false;
}

memory_socket* memory_network::find(io::transport kind, const io::socket_address& address) const {
    auto found = bound_.find(binding(kind, address));
    if (found != bound_.end()) return found->second;
    const auto* at = std::get_if<io::endpoint>(&address);
    if (at == nullptr || is_any(*at)) return nullptr;
    found = bound_.find(binding(kind, any_of(*at)));
    return found != bound_.end() ? found->second : nullptr;
}

int memory_network::connect(memory_socket& socket, const io::socket_address& address) {
    if (socket.is_connected) return EISCONN;
    if (!is_stream(socket.kind)) {
        if (!socket.is_bound && is_datagram_of_internet(socket.kind)) {
            static_cast<void>(bind(socket, any_of(std::get<io::endpoint>(address)).with_port(0)));
        }
        socket.remote = address;
        socket.is_connected = true;
        return 0;
    }
    memory_socket* const acceptor = find(socket.kind, address);
    if (acceptor == nullptr || !acceptor->is_listening) {
        return socket.kind == io::transport::unix_stream && acceptor == nullptr ? ENOENT : ECONNREFUSED;
    }
    if (acceptor->arrived.size() >= acceptor->backlog) return EAGAIN;
    if (!socket.is_bound) {
        if (const auto* at = std::get_if<io::endpoint>(&address)) static_cast<void>(bind(socket, at->with_port(0)));
    }
    auto accepted = std::make_unique<memory_socket>(*acceptor->owner, *acceptor->home, acceptor->kind);
    accepted->options = acceptor->options;
    accepted->local = address;
    accepted->remote = socket.local;
    accepted->is_connected = socket.is_connected = true;
    accepted->peer = &socket;
    socket.peer = accepted.get();
    socket.remote = address;
    acceptor->arrived.push_back(std::move(accepted));
    acceptor->home->note(*acceptor);
    return 0;
}

bool memory_network::attempt(memory_socket& on, io::operation& what) {
    switch (what.kind) {
        case io::operation_kind::receive: return receive(on, what);
        case io::operation_kind::send: return send(on, what);
        case io::operation_kind::accept: return accept(on, what);
        case io::operation_kind::receive_batch: return receive_batch(on, what);
        case io::operation_kind::wait_readable:
            return !on.inbox.empty() || !on.datagrams.empty() || !on.arrived.empty() || on.peer_has_ended ||
                   on.was_reset;
        case io::operation_kind::send_batch:
        case io::operation_kind::connect: break;
    }
    CORRO_ASSERT(false, "sends of datagrams and connects are the network's");
    return true;
}

bool memory_network::send_batch(memory_socket& from, io::operation& what) {
    while (what.bytes < what.batch.size()) {
        const int status = send_one(from, what.batch[what.bytes]);
        if (status == EAGAIN) return false;
        if (status != 0) {
            what.status = status;
            return true;
        }
        ++what.bytes;
    }
    return true;
}

int memory_network::send_one(memory_socket& from, const io::datagram& what) {
    const auto* local = std::get_if<io::unix_endpoint>(&what.peer);
    const bool is_to_peer = local != nullptr && local->path().empty();
    const io::socket_address to = is_to_peer ? from.remote : what.peer;
    const bool is_internet = is_datagram_of_internet(from.kind);
    if (is_internet && what.data.size() > datagram_bytes_max) return EMSGSIZE;
    if (is_to_peer && !from.is_connected && from.peer == nullptr) return EDESTADDRREQ;
    if (is_internet && !from.is_bound) {
        const auto* at = std::get_if<io::endpoint>(&to);
        if (at == nullptr) return EAFNOSUPPORT;
        static_cast<void>(bind(from, any_of(*at).with_port(0)));
    }
    io::socket_address source = from.local;
    if (auto* at = std::get_if<io::endpoint>(&source); at != nullptr && is_any(*at)) {
        *at = at->family() == io::address_family::ipv4 ? io::endpoint::loopback(at->port())
                                                       : io::endpoint::loopback_ipv6(at->port());
    }
    std::vector<memory_socket*> takers;
    if (from.peer != nullptr) {
        takers.push_back(from.peer);
    } else if (const auto* at = std::get_if<io::endpoint>(&to); at != nullptr && at->is_multicast()) {
        for (const auto& [where, socket] : bound_) {
            const auto* bound = std::get_if<io::endpoint>(&where.second);
            if (where.first != from.kind || bound == nullptr || bound->port() != at->port()) continue;
            if (socket->groups.contains(at->with_port(0))) takers.push_back(socket);
        }
    } else if (memory_socket* const one = find(from.kind, to)) {
        takers.push_back(one);
    } else if (from.kind == io::transport::unix_datagram) {
        return std::get<io::unix_endpoint>(to).path().empty() ? EDESTADDRREQ : ENOENT;
    }
    for (memory_socket* taker : takers) {
        if (taker->datagrams.size() >= datagrams_max) {
            if (!is_internet) return EAGAIN;
            continue;
        }
        taker->datagrams.push_back({{what.data.begin(), what.data.end()}, source});
        taker->home->note(*taker);
    }
    return 0;
}

}  // namespace corro::sim
