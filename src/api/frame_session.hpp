// SPDX-License-Identifier: Apache-2.0
// One WebSocket of the binary market channel: frames out, requests for snapshots in.
//
// Limits:  api/limits.hpp; a client without credits, or with another message, is disconnected.
// Threads: one context. Source: docs/spec/api.md, "The binary market channel".
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "api/api_state.hpp"
#include "api/credits.hpp"
#include "api/market_frames.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "websocket/connection.hpp"

namespace corro::api {

class frame_session final : public subscriber {
 public:
    /// @param state, peer  Outlive the session.
    frame_session(api_state& state, websocket::connection& peer, const frame_wish& wish) noexcept
        : state_(&state), peer_(&peer), wish_(wish), credits_(state.context->now()) {}
    frame_session(const frame_session&) = delete;
    frame_session& operator=(const frame_session&) = delete;
    ~frame_session() = default;

    /// Serves until the connection ends. @suspend Until then. @cancel Ends the connection.
    [[nodiscard]] io::task<> run();
    /// Sends what waits, then closes the connection.
    void end(websocket::close_code code, std::string_view reason) noexcept;

    void take(std::string_view frame) override;
    [[nodiscard]] std::size_t waiting_bytes() const noexcept override { return peer_->queued_bytes(); }
    void end_slow() noexcept override { peer_->abort(); }

 private:
    [[nodiscard]] io::task<> write();
    void obey(const websocket::message& message);

    api_state* state_;
    websocket::connection* peer_;
    frame_wish wish_;
    credits credits_;
    io::auto_event news_;       ///< something is queued, or the session is ending
    io::manual_event written_;  ///< the writer has ended
    std::optional<websocket::close_code> ending_;
    std::string_view ending_reason_;
};

}  // namespace corro::api
