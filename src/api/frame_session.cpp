// SPDX-License-Identifier: Apache-2.0
#include "api/frame_session.hpp"

#include <span>

#include "api/limits.hpp"
#include "io/task/scope.hpp"

namespace corro::api {

void frame_session::take(std::string_view frame) {
    peer_->queue(false, std::as_bytes(std::span(frame.data(), frame.size())));
    news_.set();
}

void frame_session::end(websocket::close_code code, std::string_view reason) noexcept {
    if (ending_) return;
    ending_ = code;
    ending_reason_ = reason;
    news_.set();
}

io::task<> frame_session::run() {
    io::task_scope beside(*state_->context);
    beside.spawn(write());
    state_->frames.subscribe(wish_, *this, state_->now_us());
    while (!ending_) {
        const auto message = co_await peer_->receive();
        if (!message) break;
        obey(*message);
    }
    state_->frames.leave(wish_, *this);
    // The writer sends the close frame.
    if (ending_) static_cast<void>(co_await written_.wait());
    beside.request_stop();
    co_await beside.join();
}

void frame_session::obey(const websocket::message& message) {
    if (!message.is_text || message.text() != "snapshot") {
        return end(websocket::close_code::policy_violation, "the only request is the text snapshot");
    }
    if (!credits_.take(frame_snapshot_cost(state_->markets, wish_.instrument), state_->context->now())) {
        return end(websocket::close_code::policy_violation, describe(error_code::too_many_requests).message);
    }
    state_->frames.ask_for_snapshot(wish_, *this);
}

io::task<> frame_session::write() {
    while (true) {
        const std::error_code stopped = co_await news_.wait();
        if (stopped) break;
        const std::error_code error = co_await peer_->flush();
        if (error) {
            peer_->abort();
            break;
        }
        if (ending_) {
            static_cast<void>(co_await peer_->close(*ending_, ending_reason_));
            break;
        }
    }
    written_.set();
}

}  // namespace corro::api
