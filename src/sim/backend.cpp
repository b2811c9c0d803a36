// SPDX-License-Identifier: Apache-2.0
#include "sim/backend.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/net/unix_socket.hpp"
#include "sim/connection.hpp"
#include "sim/errors.hpp"
#include "sim/host.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"
#include "sim/transfer.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

bool reads(const io::operation& what) noexcept {
    return what.kind != io::operation_kind::send && what.kind != io::operation_kind::send_batch &&
           what.kind != io::operation_kind::connect;
}

}  // namespace

backend::backend(process& of) : process_(of) {
    process_.join(*this);
}

backend::~backend() {
    CORRO_ASSERT(sockets_.empty(), "sockets are closed before their context is destroyed");
    process_.leave(*this);
}

std::expected<io::descriptor*, std::error_code> backend::open(io::transport kind) noexcept {
    if (!process_.is_alive()) return std::unexpected(system_code(ENETDOWN));
    if (!process_.has_descriptor_left()) return std::unexpected(system_code(EMFILE));
    return keep(std::make_unique<socket>(owner(), *this, kind));
}

io::descriptor* backend::keep(std::unique_ptr<socket> made) {
    made->number = process_.where().next_number();
    io::descriptor* const kept = made.get();
    sockets_.emplace(kept, std::move(made));
    return kept;
}

std::error_code backend::bind(io::descriptor& on, const io::socket_address& address) noexcept {
    if (!process_.is_alive()) return system_code(ENETDOWN);
    return system_code(process_.where().network().bind(own(on), process_.on(), address));
}

std::error_code backend::listen(io::descriptor& on, int backlog) noexcept {
    socket& acceptor = own(on);
    if (!process_.is_alive()) return system_code(ENETDOWN);
    if (!is_stream(acceptor.kind)) return system_code(EOPNOTSUPP);
    acceptor.is_listening = true;
    acceptor.backlog = static_cast<std::size_t>(std::max(backlog, 1));
    return {};
}

std::error_code backend::set_option(io::descriptor& on, io::socket_option option, int value) noexcept {
    if (option == io::socket_option::peer_user) return system_code(ENOPROTOOPT);
    const bool counts_probes = option == io::socket_option::keep_alive_idle_s ||
                               option == io::socket_option::keep_alive_interval_s ||
                               option == io::socket_option::keep_alive_count;
    if (counts_probes && value < 1) return system_code(EINVAL);
    own(on).options[option] = value;
    return {};
}

std::expected<int, std::error_code> backend::get_option(io::descriptor& on, io::socket_option option) noexcept {
    if (option == io::socket_option::peer_user) {
        if (own(on).kind != io::transport::unix_stream || !own(on).is_connected) {
            return std::unexpected(system_code(ENOPROTOOPT));
        }
        return static_cast<int>(io::current_user());
    }
    const auto found = own(on).options.find(option);
    return found != own(on).options.end() ? found->second : 0;
}

std::expected<io::socket_address, std::error_code> backend::local_address(io::descriptor& on) noexcept {
    return own(on).local;
}

std::expected<io::socket_address, std::error_code> backend::remote_address(io::descriptor& on) noexcept {
    if (!own(on).is_connected) return std::unexpected(system_code(ENOTCONN));
    return own(on).remote;
}

std::error_code backend::shutdown_send(io::descriptor& on) noexcept {
    socket& ending = own(on);
    const bool is_over = ending.is_broken || (ending.send_is_over && ending.peer_has_ended);
    if (!ending.is_connected || (is_over && is_internet(ending.kind))) return system_code(ENOTCONN);
    if (std::exchange(ending.send_is_over, true) || ending.stream == nullptr) return {};
    ending.stream->end_sending(static_cast<connection::end>(ending.end));
    return {};
}

std::expected<std::pair<io::descriptor*, io::descriptor*>, std::error_code> backend::open_pair(
    io::transport kind) noexcept {
    if (!process_.is_alive()) return std::unexpected(system_code(ENETDOWN));
    auto first = std::make_unique<socket>(owner(), *this, kind);
    auto second = std::make_unique<socket>(owner(), *this, kind);
    if (is_stream(kind)) {
        std::make_shared<connection>(process_.where().network(), process_.on(), &process_.on())->join(*first, *second);
    } else {
        first->pair = second.get();
        second->pair = first.get();
        first->is_connected = second->is_connected = true;
    }
    io::descriptor* const one = keep(std::move(first));
    return std::pair(one, keep(std::move(second)));
}

std::error_code backend::set_membership(io::descriptor& on, const io::endpoint& group, std::uint32_t /*interface*/,
                                        bool joined) noexcept {
    std::set<io::endpoint>& groups = own(on).groups;
    if (!group.is_multicast()) return system_code(EINVAL);
    if (joined) return system_code(groups.insert(group.with_port(0)).second ? 0 : EADDRINUSE);
    return system_code(groups.erase(group.with_port(0)) != 0 ? 0 : EADDRNOTAVAIL);
}

std::expected<io::descriptor*, std::error_code> backend::adopt(int /*file*/) noexcept {
    return std::unexpected(std::make_error_code(std::errc::not_supported));
}

int backend::detach(io::descriptor& /*on*/) noexcept {
    return -1;
}

/// What the kernel does when a socket is closed, whether by its process or because that has ended.
void backend::leave_network(socket& gone, bool has_power) noexcept {
    process_.on().ports().unbind(gone);
    gone.is_listening = false;
    if (gone.stream != nullptr) {
        const auto end = static_cast<connection::end>(gone.end);
        if (has_power) {
            const auto linger = gone.options.find(io::socket_option::linger_s);
            const bool cuts_off = linger != gone.options.end() && linger->second == 0;
            gone.stream->close(end, cuts_off || !gone.inbox.empty());
        } else {
            gone.stream->vanish(end);
        }
    }
    if (socket* const other = std::exchange(gone.pair, nullptr)) {
        other->pair = nullptr;
        other->peer_has_ended = true;
        other->home->note(*other);
    }
    for (const auto& each : gone.arrived) {
        const auto end = static_cast<connection::end>(each->end);
        has_power ? each->stream->close(end, true) : each->stream->vanish(end);
    }
    gone.arrived.clear();
}

void backend::close(io::descriptor& on) noexcept {
    socket& gone = own(on);
    for (io::operation* parked : {gone.reader, gone.writer}) {
        if (parked != nullptr) cancel(*parked);
    }
    if (process_.is_alive()) leave_network(gone, true);
    std::erase(events_, &gone);
    collected_count_ = events_.size();
    sockets_.erase(&on);
}

void backend::end_sockets(bool has_power) noexcept {
    // In the order in which they were opened: the order of the map differs from run to run.
    std::vector<socket*> open;
    for (const auto& [key, each] : sockets_) open.push_back(each.get());
    std::ranges::sort(open, {}, &socket::number);
    for (socket* each : open) {
        leave_network(*each, has_power);
        each->is_broken = true;
        note(*each);
    }
}

bool backend::connect(socket& on, io::operation& what) {
    if (on.stream == nullptr && on.error == 0) {
        what.status = process_.where().network().connect(on, process_.on(), *what.address);
        if (what.status != 0) return true;
    }
    what.status = on.take_error();
    return what.status != 0 || on.is_connected;
}

bool backend::accept(socket& on, io::operation& what) {
    if (on.arrived.empty()) return false;
    if (!process_.has_descriptor_left()) {
        what.status = EMFILE;
        return true;
    }
    what.accepted = keep(std::move(on.arrived.front()));
    on.arrived.pop_front();
    return true;
}

bool backend::attempt(socket& on, io::operation& what) {
    if (!process_.is_alive()) {
        what.status = ENETDOWN;
        return true;
    }
    switch (what.kind) {
        case io::operation_kind::receive: return receive(on, what);
        case io::operation_kind::send: return send(on, what);
        case io::operation_kind::accept: return accept(on, what);
        case io::operation_kind::connect: return connect(on, what);
        case io::operation_kind::receive_batch: return receive_batch(on, what);
        case io::operation_kind::send_batch:
            what.status = on.take_error();
            return what.status != 0 || process_.where().network().send_batch(on, process_.on(), what);
        case io::operation_kind::wait_readable: return is_readable(on);
        case io::operation_kind::send_file: what.status = EOPNOTSUPP; return true;  // not offered: `sends_files`
    }
    return true;
}

bool backend::start(io::operation& what) noexcept {
    socket& on = own(*what.target);
    io::operation*& parked = reads(what) ? on.reader : on.writer;
    CORRO_ASSERT(parked == nullptr, "one read or accept, and one write, at a time per socket");
    if (attempt(on, what)) return true;
    parked = &what;
    what.parked = true;
    ++parked_count_;
    return false;
}

bool backend::try_send(io::operation& what) noexcept {
    socket& on = own(*what.target);
    if (on.writer != nullptr || what.kind != io::operation_kind::send) return false;
    return attempt(on, what);
}

void backend::unpark(io::operation& what) noexcept {
    socket& on = own(*what.target);
    (on.reader == &what ? on.reader : on.writer) = nullptr;
    what.parked = false;
    --parked_count_;
}

void backend::cancel(io::operation& what) noexcept {
    unpark(what);
    what.status = ECANCELED;
    owner().complete(what);
}

void backend::note(socket& on) {
    if (on.has_news || (on.reader == nullptr && on.writer == nullptr)) return;
    on.has_news = true;
    events_.push_back(&on);
    collected_count_ = events_.size();
    process_.where().agenda().list(*this);
}

void backend::wake() noexcept {
    is_woken_ = true;
    process_.where().agenda().list(*this);
}

void backend::dispatch_one() noexcept {
    socket& on = *events_.front();
    events_.pop_front();
    collected_count_ = events_.size();
    on.has_news = false;
    try_parked(on, on.reader);
    try_parked(on, on.writer);
}

void backend::try_parked(socket& on, io::operation* parked) {
    if (parked == nullptr || !attempt(on, *parked)) return;
    unpark(*parked);
    owner().complete(*parked);
}

bool backend::take_news() noexcept {
    return std::exchange(is_woken_, false) || collected_count_ != 0;
}

void backend::wait(std::chrono::nanoseconds timeout) noexcept {
    process_.where().wait(*this, timeout);
}

}  // namespace corro::sim
