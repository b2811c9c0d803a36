#include "sim/memory_backend.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/net/unix_socket.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

bool reads(const io::operation& what) noexcept {
    return what.kind != io::operation_kind::send && what.kind != io::operation_kind::send_batch &&
           what.kind != io::operation_kind::connect;
}

std::error_code code_of(int number) noexcept {
    return {number, std::generic_category()};
}

}  // namespace

memory_backend::memory_backend(world& in) : world_(in) {
    world_.join(*this);
}

memory_backend::~memory_backend() {
    CORRO_ASSERT(sockets_.empty(), "sockets are closed before their context is destroyed");
    world_.leave(*this);
}

std::expected<io::descriptor*, std::error_code> memory_backend::open(io::transport kind) noexcept {
    return adopt_socket(std::make_unique<memory_socket>(owner(), *this, kind));
}

io::descriptor* memory_backend::adopt_socket(std::unique_ptr<memory_socket> socket) {
    io::descriptor* const made = socket.get();
    sockets_.emplace(made, std::move(socket));
    return made;
}

std::error_code memory_backend::bind(io::descriptor& on, const io::socket_address& address) noexcept {
    return code_of(world_.network().bind(own(on), address));
}

std::error_code memory_backend::listen(io::descriptor& on, int backlog) noexcept {
    memory_socket& acceptor = own(on);
    if (!is_stream(acceptor.kind)) return code_of(EOPNOTSUPP);
    acceptor.is_listening = true;
    acceptor.backlog = static_cast<std::size_t>(std::max(backlog, 1));
    return {};
}

std::error_code memory_backend::set_option(io::descriptor& on, io::socket_option option, int value) noexcept {
    if (option == io::socket_option::peer_user) return code_of(ENOPROTOOPT);
    own(on).options[option] = value;
    return {};
}

std::expected<int, std::error_code> memory_backend::get_option(io::descriptor& on, io::socket_option option) noexcept {
    if (option == io::socket_option::peer_user) {
        if (own(on).kind != io::transport::unix_stream || !own(on).is_connected) {
            return std::unexpected(code_of(ENOPROTOOPT));
        }
        return static_cast<int>(io::current_user());
    }
    const auto found = own(on).options.find(option);
    return found != own(on).options.end() ? found->second : 0;
}

std::expected<io::socket_address, std::error_code> memory_backend::local_address(io::descriptor& on) noexcept {
    return own(on).local;
}

std::expected<io::socket_address, std::error_code> memory_backend::remote_address(io::descriptor& on) noexcept {
    if (!own(on).is_connected) return std::unexpected(code_of(ENOTCONN));
    return own(on).remote;
}

std::error_code memory_backend::shutdown_send(io::descriptor& on) noexcept {
    memory_socket& socket = own(on);
    if (!socket.is_connected) return code_of(ENOTCONN);
    socket.send_is_over = true;
    if (socket.peer != nullptr) {
        socket.peer->peer_has_ended = true;
        socket.peer->home->note(*socket.peer);
    }
    return {};
}

std::expected<std::pair<io::descriptor*, io::descriptor*>, std::error_code> memory_backend::open_pair(
    io::transport kind) noexcept {
    auto first = std::make_unique<memory_socket>(owner(), *this, kind);
    auto second = std::make_unique<memory_socket>(owner(), *this, kind);
    first->peer = second.get();
    second->peer = first.get();
    first->is_connected = second->is_connected = true;
    io::descriptor* const one = adopt_socket(std::move(first));
    return std::pair(one, adopt_socket(std::move(second)));
}

std::error_code memory_backend::set_membership(io::descriptor& on, const io::endpoint& group,
                                               std::uint32_t /*interface*/, bool joined) noexcept {
    std::set<io::endpoint>& groups = own(on).groups;
    if (!group.is_multicast()) return code_of(EINVAL);
    if (joined) return code_of(groups.insert(group.with_port(0)).second ? 0 : EADDRINUSE);
    return code_of(groups.erase(group.with_port(0)) != 0 ? 0 : EADDRNOTAVAIL);
}

std::expected<io::descriptor*, std::error_code> memory_backend::adopt(int /*file*/) noexcept {
    return std::unexpected(std::make_error_code(std::errc::not_supported));
}

int memory_backend::detach(io::descriptor& /*on*/) noexcept {
    return -1;
}

/// Tells the other end that this one has gone. Bytes that it never read reset the connection.
void memory_backend::end_peer(memory_socket& gone) noexcept {
    memory_socket* const peer = std::exchange(gone.peer, nullptr);
    if (peer == nullptr) return;
    peer->peer = nullptr;
    peer->peer_has_ended = true;
    peer->was_reset = !gone.inbox.empty();
    peer->home->note(*peer);
}

void memory_backend::close(io::descriptor& on) noexcept {
    memory_socket& gone = own(on);
    for (io::operation* parked : {gone.reader, gone.writer}) {
        if (parked != nullptr) cancel(*parked);
    }
    world_.network().unbind(gone);
    end_peer(gone);
    for (const auto& waiting : gone.arrived) {
        waiting->inbox.push_back(std::byte{});  // nobody has read what was sent: a reset
        end_peer(*waiting);
    }
    std::erase(events_, &gone);
    collected_count_ = events_.size();
    sockets_.erase(&on);
}

bool memory_backend::attempt(memory_socket& on, io::operation& what) {
    if (what.kind == io::operation_kind::send_batch) return world_.network().send_batch(on, what);
    if (what.kind != io::operation_kind::connect) return memory_network::attempt(on, what);
    what.status = world_.network().connect(on, *what.address);
    return true;
}

bool memory_backend::start(io::operation& what) noexcept {
    memory_socket& on = own(*what.target);
    io::operation*& parked = reads(what) ? on.reader : on.writer;
    CORRO_ASSERT(parked == nullptr, "one read or accept, and one write, at a time per socket");
    if (attempt(on, what)) return true;
    parked = &what;
    what.parked = true;
    ++parked_count_;
    return false;
}

bool memory_backend::try_send(io::operation& what) noexcept {
    memory_socket& on = own(*what.target);
    if (on.writer != nullptr || what.kind != io::operation_kind::send) return false;
    return attempt(on, what);
}

void memory_backend::unpark(io::operation& what) noexcept {
    memory_socket& on = own(*what.target);
    (on.reader == &what ? on.reader : on.writer) = nullptr;
    what.parked = false;
    --parked_count_;
}

void memory_backend::cancel(io::operation& what) noexcept {
    unpark(what);
    what.status = ECANCELED;
    owner().complete(what);
}

void memory_backend::note(memory_socket& socket) {
    if (socket.has_news || (socket.reader == nullptr && socket.writer == nullptr)) return;
    socket.has_news = true;
    events_.push_back(&socket);
    collected_count_ = events_.size();
}

void memory_backend::dispatch_one() noexcept {
    memory_socket& socket = *events_.front();
    events_.pop_front();
    collected_count_ = events_.size();
    socket.has_news = false;
    try_parked(socket, socket.reader);
    try_parked(socket, socket.writer);
}

void memory_backend::try_parked(memory_socket& on, io::operation* parked) {
    if (parked == nullptr || !attempt(on, *parked)) return;
    unpark(*parked);
    owner().complete(*parked);
}

bool memory_backend::take_news() noexcept {
    return std::exchange(is_woken_, false) || collected_count_ != 0;
}

void memory_backend::wait(std::chrono::nanoseconds timeout) noexcept {
    world_.wait(*this, timeout);
}

}  // namespace corro::sim
