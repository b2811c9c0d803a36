// SPDX-License-Identifier: Apache-2.0
#include "client/trading_session.hpp"

#include "io/errors.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::client {

io::task<std::expected<trading_session, std::error_code>> trading_session::log_on(venue_endpoint venue,
                                                                                  credentials who) {
    auto session = co_await order_session::log_on(std::move(venue), who);
    if (!session) co_return std::unexpected(session.error());
    co_return trading_session(std::move(*session), who.heartbeat);
}

io::task<std::expected<order_update, std::error_code>> trading_session::next() {
    io::context& here = co_await io::this_context();
    for (;;) {
        // Also while updates come faster than heartbeats are due.
        if (here.now() >= heartbeat_due_) {
            session_->queue_heartbeat();
            heartbeat_due_ = here.now() + heartbeat_ / 2;
        }
        if (const std::error_code error = co_await session_->flush()) co_return std::unexpected(error);
        auto answered = co_await io::with_timeout(heartbeat_due_ - here.now(), session_->next());
        if (!answered) {
            if (answered.error() != io::condition::timed_out) co_return std::unexpected(answered.error());
            continue;
        }
        if (!*answered) co_return std::unexpected(answered->error());
        const order_update update = orders_->read(**answered);
        if (update.what != order_update::kind::other) co_return update;
    }
}

}  // namespace corro::client
