// SPDX-License-Identifier: Apache-2.0
#include "sim/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/assert.hpp"
#include "sim/backend.hpp"
#include "sim/host.hpp"
#include "sim/link.hpp"
#include "sim/network.hpp"

namespace corro::sim {
namespace {

std::uint64_t in_ns(std::chrono::nanoseconds time) noexcept {
    return static_cast<std::uint64_t>(time.count());
}

void note(socket& of) {
    of.home->note(of);
}

}  // namespace

connection::connection(network& in, host& from, host* to) noexcept : network_(in) {
    directions_[caller].source = directions_[callee].target = &from;
    directions_[caller].target = directions_[callee].source = to;
    if (to == nullptr) return;
    directions_[caller].over = &in.link_between(from, *to);
    directions_[callee].over = &in.link_between(*to, from);
}

std::uint64_t connection::now_ns() const noexcept {
    return network_.now_ns();
}

void connection::plan(std::uint64_t at_ns, step what, end of) {
    network_.plan(at_ns, [self = shared_from_this(), what, of] { ((*self).*what)(of); });
}

bool connection::is_passable(const direction& way) noexcept {
    return way.target != nullptr && way.target->is_on() && !way.over->is_cut();
}

void connection::signal(end from, step then) {
    direction& way = directions_[from];
    if (!is_passable(way) || way.over->loses_packet()) return;
    const std::uint64_t at = std::max(way.over->arrival_ns(now_ns(), 0), way.last_arrival_ns);
    way.last_arrival_ns = at;
    if (at == now_ns()) {
        (this->*then)(from);
    } else {
        plan(at, then, from);
    }
}

// The handshake.

void connection::ask(socket& from, const io::socket_address& address) {
    address_ = address;
    directions_[caller].from = directions_[callee].to = &from;
    try_to_ask(caller);
}

void connection::try_to_ask(end /*of*/) {
    if (directions_[caller].from == nullptr || is_established_) return;
    if (tries_count_ == connect_tries_max) return finish_asking(ETIMEDOUT);
    const std::uint64_t interval = in_ns(connect_retry) << static_cast<unsigned>(tries_count_);
    ++tries_count_;
    signal(caller, &connection::asked);
    const socket* const from = directions_[caller].from;
    if (from != nullptr && !is_established_) plan(now_ns() + interval, &connection::try_to_ask, caller);
}

void connection::asked(end /*of*/) {
    direction& back = directions_[callee];
    if (!is_passable(directions_[caller]) || directions_[caller].from == nullptr) return;
    if (back.from == nullptr) {
        const socket& from = *directions_[caller].from;
        socket* const acceptor = back.source->ports().find(from.kind, address_);
        if (acceptor == nullptr || !acceptor->is_listening) return signal(callee, &connection::refused);
        if (!make_callee(*acceptor)) return;
    }
    signal(callee, &connection::answered);
}

/// @return false if the acceptor's queue is full: a stream over the internet asks again, a Unix socket fails.
bool connection::make_callee(socket& acceptor) {
    if (acceptor.arrived.size() >= acceptor.backlog) {
        if (!is_internet(acceptor.kind)) finish_asking(EAGAIN);
        return false;
    }
    auto made = std::make_unique<socket>(*acceptor.owner, *acceptor.home, acceptor.kind);
    made->options = acceptor.options;
    made->local = address_;
    made->remote = directions_[caller].from->local;
    made->is_connected = true;
    made->stream = shared_from_this();
    made->end = callee;
    direction& back = directions_[callee];
    back.from = directions_[caller].to = made.get();
    // An acceptor that went before its answer arrived may have left packets of an earlier try, which nobody takes.
    for (packet& each : back.under_way) each = packet{.what = packet_kind::nothing};
    back.lost.clear();
    back.bytes.clear();
    back.sent_bytes = back.arrived_bytes = back.known_read_bytes = back.read_bytes = 0;
    back.vanished = false;
    acceptor.arrived.push_back(std::move(made));
    note(acceptor);
    return true;
}

void connection::answered(end /*of*/) {
    if (is_established_) return;
    socket* const from = directions_[caller].from;
    if (from == nullptr) return put(caller, {.what = packet_kind::reset});
    is_established_ = true;
    from->is_connected = true;
    from->remote = address_;
    note(*from);
}

void connection::refused(end /*of*/) {
    if (!is_established_ && directions_[caller].from != nullptr) finish_asking(ECONNREFUSED);
}

void connection::finish_asking(int status) {
    socket& from = *std::exchange(directions_[caller].from, nullptr);
    directions_[callee].to = nullptr;
    from.error = status;
    from.stream.reset();
    note(from);
}

void connection::join(socket& one, socket& other) noexcept {
    directions_[caller].from = directions_[callee].to = &one;
    directions_[callee].from = directions_[caller].to = &other;
    one.stream = other.stream = shared_from_this();
    other.end = callee;
    one.is_connected = other.is_connected = is_established_ = true;
}

// Bytes.

std::size_t connection::send(end from, std::span<const std::byte> bytes) {
    direction& way = directions_[from];
    const auto outstanding = static_cast<std::size_t>(way.sent_bytes - way.known_read_bytes);
    const std::size_t count = std::min(bytes.size(), stream_window_bytes - outstanding);
    if (count < bytes.size()) {
        way.waits = true;
        if (way.read_bytes > way.known_read_bytes && !way.tells) tell(other(from));
    }
    way.bytes.add(bytes.first(count));
    for (std::size_t rest = count; rest != 0;) {
        const packet piece{.bytes = way.over->piece_bytes(rest), .offset = way.sent_bytes};
        way.sent_bytes += piece.bytes;
        rest -= piece.bytes;
        put(from, piece);
    }
    return count;
}

void connection::put(end from, packet what) {
    direction& way = directions_[from];
    const bool resets = what.what == packet_kind::reset;
    if (resets) give_up_lost(way);
    what.is_lost = !is_passable(way);
    if (what.is_lost && resets) return;
    // What still travels stays in front, although some of it may turn out to be lost.
    if (way.under_way.empty() && (what.is_lost || !way.lost.empty())) return lose(from, what);
    std::uint64_t at = way.over->arrival_ns(now_ns(), what.bytes);
    if (way.over->loses_packet()) at += in_ns(stream_retry);
    at = std::max(at, way.last_arrival_ns);
    way.last_arrival_ns = at;
    way.under_way.push_back(what);
    if (at == now_ns() && way.under_way.size() == 1) return arrive(from);
    plan(at, &connection::arrive, from);
}

void connection::arrive(end from) {
    direction& way = directions_[from];
    const packet what = way.under_way.front();
    way.under_way.pop_front();
    // Nobody takes bytes of a connection whose answer was lost.
    const bool is_known = is_established_ || from == caller;
    if (way.lost.empty() && !what.is_lost && is_known && is_passable(way)) return deliver(from, what);
    if (what.what != packet_kind::reset) lose(from, what);
}

void connection::deliver(end from, const packet& what) {
    direction& way = directions_[from];
    const std::span<const std::byte> bytes = way.bytes.front(what.bytes);
    network_.record(way.source->number(), way.target->number(), bytes);
    socket* const to = way.to;
    if (to == nullptr) {
        way.bytes.drop(what.bytes);
        // A kernel answers bytes for a closed socket, and anything for one that it never had.
        const bool asks = what.what == packet_kind::bytes || what.what == packet_kind::end_of_stream;
        const bool answers = what.what == packet_kind::bytes || (asks && directions_[other(from)].vanished);
        if (answers) put(other(from), {.what = packet_kind::reset});
        return;
    }
    switch (what.what) {
        case packet_kind::nothing: return;
        case packet_kind::bytes:
            CORRO_ASSERT(what.offset == way.arrived_bytes, "a stream keeps its order");
            way.arrived_bytes += what.bytes;
            to->inbox.add(bytes);
            way.bytes.drop(what.bytes);
            break;
        case packet_kind::end_of_stream: to->peer_has_ended = true; break;
        case packet_kind::reset: {
            const bool had_ended = to->peer_has_ended && is_internet(to->kind);
            return fail(other(from), had_ended ? EPIPE : ECONNRESET);
        }
    }
    note(*to);
}

void connection::lose(end from, packet what) {
    direction& way = directions_[from];
    way.lost.push_back(what);
    if (std::exchange(way.retries, true)) return;
    way.lost_since_ns = now_ns();
    way.retry_ns = in_ns(stream_retry);
    plan(now_ns() + way.retry_ns, &connection::retry, from);
}

void connection::retry(end from) {
    direction& way = directions_[from];
    way.retries = false;
    if (way.lost.empty()) return;
    if (is_passable(way) && !way.under_way.empty()) {
        // Behind what still travels, of which more may get lost.
        way.retries = true;
        return plan(way.last_arrival_ns, &connection::retry, from);
    }
    if (is_passable(way)) {
        for (const packet& each : std::exchange(way.lost, {})) put(from, each);
        return;
    }
    std::uint64_t limit = in_ns(stream_timeout);
    if (way.from != nullptr && way.from->has_option(io::socket_option::user_timeout_ms)) {
        limit = in_ns(std::chrono::milliseconds(way.from->options[io::socket_option::user_timeout_ms]));
    }
    if (now_ns() - way.lost_since_ns >= limit) {
        return fail(from, ETIMEDOUT);
    }
    way.retries = true;
    way.retry_ns = std::min(way.retry_ns * 2, in_ns(stream_retry_max));
    plan(now_ns() + way.retry_ns, &connection::retry, from);
}

/// Lost bytes are not sent again. Then nobody can take what travels behind them either.
void connection::give_up_lost(direction& way) noexcept {
    if (way.lost.empty()) return;
    way.lost.clear();
    way.bytes.clear();
    for (packet& each : way.under_way) each = packet{.what = packet_kind::nothing};
}

/// The kernel of this end gives up the connection.
void connection::fail(end whose, int error) {
    direction& way = directions_[whose];
    socket* const failed = std::exchange(way.from, nullptr);
    directions_[other(whose)].to = nullptr;
    give_up_lost(way);
    if (failed == nullptr) return;
    failed->error = error;
    failed->is_broken = true;
    note(*failed);
}

// Room.

void connection::was_read(end by, std::size_t bytes) {
    direction& way = directions_[other(by)];
    way.read_bytes += bytes;
    if (way.tells) return;
    if (way.waits || way.read_bytes - way.known_read_bytes >= stream_window_bytes / 4) tell(by);
}

void connection::tell(end reader) {
    direction& way = directions_[other(reader)];
    direction& back = directions_[reader];
    way.telling_bytes = way.read_bytes;
    way.tells = true;
    if (!is_passable(back)) return plan(now_ns() + in_ns(stream_retry_max) / 4, &connection::tell, reader);
    const std::uint64_t at = back.over->arrival_ns(now_ns(), 0);
    if (at == now_ns()) return told(reader);
    plan(at, &connection::told, reader);
}

void connection::told(end reader) {
    direction& way = directions_[other(reader)];
    way.tells = false;
    way.known_read_bytes = way.telling_bytes;
    if (std::exchange(way.waits, false) && way.from != nullptr) note(*way.from);
}

// Ends.

void connection::end_sending(end from) {
    put(from, {.what = packet_kind::end_of_stream});
}

void connection::close(end at, bool resets) {
    direction& way = directions_[at];
    const socket* const closed = std::exchange(way.from, nullptr);
    directions_[other(at)].to = nullptr;
    if (closed == nullptr || way.target == nullptr) return;
    if (at == caller && !is_established_) return;  // the callee learns it when it answers
    if (resets) {
        put(at, {.what = packet_kind::reset});
    } else if (!closed->send_is_over) {
        put(at, {.what = packet_kind::end_of_stream});
    }
}

void connection::vanish(end at) noexcept {
    direction& way = directions_[at];
    way.from = directions_[other(at)].to = nullptr;
    give_up_lost(way);
    way.vanished = true;
}

}  // namespace corro::sim
