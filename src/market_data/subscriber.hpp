// One connection of the distributor, and the packets that it sends.
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

/// One snapshot that is being sent.
class snapshot_guest final : public io::admission::guest {
    void evict() noexcept override { CORRO_ASSERT(false, "it has settled from the first"); }
};

struct distributor::subscriber final : io::admission::guest {
    explicit subscriber(io::tcp_stream s) : stream(std::move(s)) {}

    // It has not logged in yet.
    void evict() noexcept override {
        cut = true;
        ended = true;
        if (scope != nullptr) scope->request_stop();
    }

    io::tcp_stream stream;
    snapshot_guest snapshot_place;    ///< in while it is sent a snapshot
    io::auto_event more;              ///< something was published, or is to be said
    io::task_scope* scope = nullptr;  ///< of the phase that runs
    std::uint64_t position = 0;       ///< of the first byte of the feed that is not sent yet
    bool logged_in = false;
    bool follows_feed = false;  ///< and has a position in it
    bool idle = false;          ///< waits for more
    bool ended = false;
    bool cut = false;         ///< ended by rule: nothing more may be sent
    bool logged_out = false;  ///< ended by the subscriber's wish
    bool sent = false;        ///< something was sent since the last look
    bool heard = false;
    bool heartbeat_due = false;
    std::size_t input_end = 0;
    std::array<std::byte, input_buffer_bytes> input;  // deliberately not initialised
};

template <class Packet>
[[nodiscard]] std::span<const std::byte> encoded(const Packet& packet, std::span<std::byte> into) {
    const auto size = soup::encode(packet, into);
    CORRO_ASSERT(size.has_value(), "packets of our own making are sound");
    return into.first(*size);
}

[[nodiscard]] inline std::span<const std::byte> encoded(soup::packet_type type, std::span<std::byte> into) {
    const auto size = soup::encode(type, {}, into);
    CORRO_ASSERT(size.has_value(), "packets of our own making are sound");
    return into.first(*size);
}

}  // namespace corro::market_data
