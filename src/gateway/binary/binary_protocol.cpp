// SPDX-License-Identifier: Apache-2.0
#include "gateway/binary/binary_protocol.hpp"

#include <array>
#include <memory>
#include <utility>

#include "gateway/binary/binary_session.hpp"
#include "gateway/binary/wire_reasons.hpp"

namespace corro::gateway {

io::task<void> binary_protocol::serve(transport_stream stream, connection_place* place) {
    return binary_session::run(std::make_unique<binary_session>(shared_, std::move(stream), *place));
}

std::span<const std::byte> binary_protocol::words_without_room() const noexcept {
    static const auto frame = [] {
        wire::logout logout;
        logout.logout_reason = wire_reason(end_reason::capacity);
        std::array<std::byte, wire::logout::frame_bytes> bytes;
        wire::store(logout, 0, bytes.data());
        return bytes;
    }();
    return frame;
}

}  // namespace corro::gateway
