// A connection of the distributor, and its packets.
//
// Not part of the distributor's interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "io/net/admission.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "market_data/distributor.hpp"
#include "market_data/limits.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {

namespace soup = wire::soup_bin_tcp;

/// A snapshot being sent.
class snapshot_guest final : public io::admission::guest {
    void evict() noexcept override {
        CORRO_ASSERT(false, "a snapshot's guest is settled from the beginning and cannot be evicted");
    }
};

struct distributor::subscriber final : io::admission::guest {
    explicit subscriber(io::tcp_stream s) : stream(std::move(s)) {}

    // Only before its login.
    void evict() noexcept override {
        cut = true;
        ended = true;
        if (scope != nullptr) scope->request_stop();
    }

    io::tcp_stream stream;
    snapshot_guest snapshot_place;    ///< admitted while a snapshot is sent
    io::auto_event more;              ///< messages or packets wait to be sent
    io::task_scope* scope = nullptr;  ///< of the current phase
    std::uint64_t position = 0;       ///< of the first unsent byte of the feed
    bool logged_in = false;
    bool follows_feed = false;  ///< whether `position` is valid
    bool idle = false;          ///< whether it waits for `more`
    bool ended = false;
    bool cut = false;         ///< ended by the distributor: nothing more may be sent
    bool logged_out = false;  ///< ended by the subscriber's logout
    bool sent = false;        ///< a packet was sent since the last check
    bool heard = false;
    bool heartbeat_due = false;
    std::size_t input_end = 0;
    std::array<std::byte, input_buffer_bytes> input;  // deliberately not initialised
};

template <class Packet>
[[nodiscard]] std::span<const std::byte> encoded(const Packet& packet, std::span<std::byte> into) {
    const auto size = soup::encode(packet, into);
    CORRO_ASSERT(size.has_value(), "the distributor's own packets must be valid");
    return into.first(*size);
}

[[nodiscard]] inline std::span<const std::byte> encoded(soup::packet_type type, std::span<std::byte> into) {
    const auto size = soup::encode(type, {}, into);
    CORRO_ASSERT(size.has_value(), "the distributor's own packets must be valid");
    return into.first(*size);
}

}  // namespace corro::market_data
