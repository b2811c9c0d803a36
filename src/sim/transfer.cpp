// SPDX-License-Identifier: Apache-2.0
#include "sim/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

#include "sim/backend.hpp"
#include "sim/connection.hpp"

namespace corro::sim {

bool receive(socket& on, io::operation& what) {
    const std::size_t count = on.inbox.take(what.data + what.bytes, what.size - what.bytes);
    what.bytes += count;
    if (count != 0 && on.stream != nullptr) on.stream->was_read(static_cast<connection::end>(on.end), count);
    if (what.bytes >= what.minimum && (count != 0 || what.size == 0)) return true;
    // A stream that the peer has ended reads as ended, whatever has happened since; the next write reports that.
    const bool has_ended = on.peer_has_ended && is_internet(on.kind);
    what.status = has_ended ? 0 : on.take_error();
    if (what.status != 0) return true;
    if (!on.peer_has_ended && !on.is_broken && on.is_connected) return false;
    what.status = on.is_connected ? io::operation::status_end_of_stream : ENOTCONN;
    return true;
}

bool send(socket& on, io::operation& what) {
    const bool is_unix = on.kind == io::transport::unix_stream;
    const auto end = static_cast<connection::end>(on.end);
    const bool is_closed = on.send_is_over || on.is_broken || !on.is_connected;
    if (is_closed || (is_unix && on.stream->peer_is_gone(end))) {
        what.status = is_unix ? 0 : on.take_error();
        if (what.status == 0) what.status = is_unix && !on.is_connected ? ENOTCONN : EPIPE;
        return true;
    }
    const std::span<const std::byte> rest(what.data + what.bytes, what.size - what.bytes);
    what.bytes += on.stream->send(end, rest);
    return what.bytes >= what.minimum;
}

bool receive_batch(socket& on, io::operation& what) {
    if (on.datagrams.empty()) {
        what.status = on.take_error();
        return what.status != 0;
    }
    const std::size_t count = std::min(on.datagrams.size(), what.batch.size());
    for (std::size_t i = 0; i < count; ++i) {
        const stored_datagram& from = on.datagrams.front();
        io::datagram& into = what.batch[i];
        into.bytes = std::min(from.data.size(), into.data.size());
        std::copy_n(from.data.begin(), into.bytes, into.data.begin());
        into.truncated = from.data.size() > into.data.size();
        into.peer = from.from;
        on.datagrams.pop_front();
    }
    what.bytes = count;
    if (on.pair != nullptr) on.pair->home->note(*on.pair);
    return true;
}

bool is_readable(const socket& on) noexcept {
    return !on.inbox.empty() || !on.datagrams.empty() || !on.arrived.empty() || on.peer_has_ended || on.is_broken ||
           on.error != 0;
}

}  // namespace corro::sim
