// SPDX-License-Identifier: Apache-2.0
// One account at a venue, in a trader's words: an `order_session` and its `order_entry`, with heartbeats.
//
//     auto venue = co_await trading_session::log_on(address, who);
//     const auto number = venue->enter(limit_order{side::buy, "ESZ6", 2, 5998.75});
//     const auto update = co_await venue->next();     // accepted, filled, refused, ...
//
// What it leaves out is in `order_session`: connecting again, replies to operators, messages without an order.
//
// Units:   as order_entry.
// Threads: one context. Cost: as order_session and order_entry; a timer per wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "client/order_entry.hpp"
#include "client/order_session.hpp"
#include "client/venue_endpoint.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"

namespace corro::client {

class trading_session {
 public:
    /// Connects and logs on.
    ///
    /// @error   As order_session::log_on.
    /// @suspend Until the logon is complete. @cancel Ends with operation_canceled.
    [[nodiscard]] static io::task<std::expected<trading_session, std::error_code>> log_on(venue_endpoint venue,
                                                                                          credentials who);

    /// Queues an order, a market order or quotes; `next` sends them. As order_entry::enter.
    template <class Order>
    [[nodiscard]] std::expected<order_number, domain::reject_reason> enter(const Order& order) {
        return orders_->enter(order);
    }
    /// As order_entry::amend.
    [[nodiscard]] domain::reject_reason amend(order_number number, std::uint64_t units, double price) {
        return orders_->amend(number, units, price);
    }
    /// As order_entry::cancel.
    [[nodiscard]] domain::reject_reason cancel(order_number number) { return orders_->cancel(number); }
    /// As order_entry::position.
    [[nodiscard]] std::int64_t position(std::string_view symbol) const noexcept { return orders_->position(symbol); }

    /// Sends what is queued, and waits for the next update of an order or a quote of this session.
    ///
    /// @error   What ended the session: logged_out(reason), wire and connection errors; operation_canceled.
    /// @suspend Until an update arrives. Sends heartbeats while it waits. The venue ends a session that does not await
    ///          `next` for longer than `credentials::heartbeat`.
    /// @overlap One at a time.
    /// @cancel  Observes the task's stop token; no update is lost.
    [[nodiscard]] io::task<std::expected<order_update, std::error_code>> next();

    /// Logs out. The venue cancels the open orders, unless `credentials::cancel_on_disconnect` is off.
    [[nodiscard]] io::task<std::error_code> log_out() { return session_->log_out(); }

    /// The session beneath, for what is not here.
    [[nodiscard]] order_session& session() noexcept { return *session_; }
    /// The orders beneath.
    [[nodiscard]] order_entry& orders() noexcept { return *orders_; }

 private:
    trading_session(std::unique_ptr<order_session> session, std::chrono::milliseconds heartbeat)
        : session_(std::move(session)), orders_(std::make_unique<order_entry>(*session_)), heartbeat_(heartbeat) {}

    std::unique_ptr<order_session> session_;
    std::unique_ptr<order_entry> orders_;
    std::chrono::milliseconds heartbeat_;
    io::steady_time heartbeat_due_{};
};

}  // namespace corro::client
