// SPDX-License-Identifier: Apache-2.0
// One WebSocket of the API: requests in, responses and notifications out.
//
// Requests are answered in their order. A client that asks for heartbeats gets one per interval; if it was silent for
// an interval it gets a `test_request` too, and is disconnected if no `public/test` has come within the next one.
//
// Limits:  api/limits.hpp; a client without credits gets too_many_requests, and its connection ends.
// Threads: one context. Source: docs/spec/api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/api_state.hpp"
#include "api/credits.hpp"
#include "api/request.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "websocket/connection.hpp"

namespace corro::api {

class web_session final : public subscriber {
 public:
    /// @param state, peer  Outlive the session.
    web_session(api_state& state, websocket::connection& peer) noexcept
        : state_(&state), peer_(&peer), credits_(state.context->now()) {}
    web_session(const web_session&) = delete;
    web_session& operator=(const web_session&) = delete;
    ~web_session() = default;

    /// Serves until the connection ends. @suspend Until then. @cancel Ends the connection.
    [[nodiscard]] io::task<> run();
    /// Sends what waits, then closes the connection.
    void end(websocket::close_code code, std::string_view reason) noexcept;

    void take(std::string_view message) override;
    [[nodiscard]] std::size_t waiting_bytes() const noexcept override { return peer_->queued_bytes(); }
    void end_slow() noexcept override { peer_->abort(); }

 private:
    using answer = std::expected<std::string, api_error>;

    [[nodiscard]] io::task<> write();
    [[nodiscard]] io::task<> beat();
    [[nodiscard]] io::task<> respond(websocket::message message);
    [[nodiscard]] io::task<answer> dispatch(const request* r);
    [[nodiscard]] io::task<answer> dispatch_private(const request* r);
    [[nodiscard]] answer dispatch_public(const request& r);
    [[nodiscard]] answer authenticate(const request& r);
    /// The account that a private request is about.
    [[nodiscard]] std::expected<account*, api_error> account_of(const request& r) const;
    void end_subscriptions() noexcept;
    void cancel_entered();
    [[nodiscard]] answer subscribe(const request& r);
    [[nodiscard]] answer unsubscribe(const request& r);
    [[nodiscard]] answer set_heartbeat(std::int64_t seconds);

    api_state* state_;
    websocket::connection* peer_;
    credits credits_;
    io::auto_event news_;       ///< something is queued, or the session is ending
    io::manual_event written_;  ///< the writer has ended
    io::auto_event beat_changed_;
    std::int64_t heartbeat_s_ = 0;      ///< 0: none
    std::vector<std::string> joining_;  ///< channels to subscribe to, behind the response that names them
    account* account_ = nullptr;        ///< of the last authentication
    io::steady_time account_ends_{};    ///< when it expires
    bool cancels_on_disconnect_ = false;
    std::vector<domain::order_id> entered_;      ///< orders of `account_` that end with the connection
    std::vector<domain::instrument_id> quoted_;  ///< instruments whose quotes of `account_` do
    std::optional<websocket::close_code> ending_;
    std::string_view ending_reason_;
    bool heard_ = false;      ///< a message has come in this interval
    bool test_owed_ = false;  ///< a test_request was not answered yet
};

}  // namespace corro::api
