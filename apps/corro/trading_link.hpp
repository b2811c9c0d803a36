// SPDX-License-Identifier: Apache-2.0
// What a desk trades over: a session of Corro Binary or of FIX. It connects again by itself, and gets what it missed.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/order_session.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "io/task/task.hpp"
#include "wire/instrument_table.hpp"

namespace corro::app {

/// The number that the user types for an order: the end of its client order id.
[[nodiscard]] constexpr std::uint64_t short_number(domain::client_order_id number) noexcept {
    return number.value & 0xffffffffU;
}

/// What a link reports to its desk.
class link_listener {
 public:
    link_listener() = default;
    link_listener(const link_listener&) = delete;
    link_listener& operator=(const link_listener&) = delete;
    virtual ~link_listener() = default;

    /// The session is on for the first time, with the venue's instruments.
    virtual void on_first_logon() = 0;
    virtual void on_event(const domain::event& event) = 0;
    /// A request was refused before it was sequenced. @param number  Of the order that it was to enter, if it was.
    virtual void on_refused(domain::client_order_id number, std::string_view why) = 0;
    virtual void on_reply(const client::admin_command& reply) = 0;
    /// A message to the user.
    virtual void say(const std::string& message) = 0;
};

class trading_link {
 public:
    trading_link() = default;
    trading_link(const trading_link&) = delete;
    trading_link& operator=(const trading_link&) = delete;
    virtual ~trading_link() = default;

    /// Logs on and runs until `leave`, a stop, or until reconnecting fails.
    /// @param to  Outlives the task.
    /// @return    Why it ended, as a sentence; empty if it was asked to end.
    [[nodiscard]] virtual io::task<std::string> run(link_listener* to) = 0;
    /// Logs out and ends `run`.
    virtual void leave() noexcept = 0;
    [[nodiscard]] virtual bool connected() const noexcept = 0;

    /// Those that are known now; the venue may define more.
    [[nodiscard]] virtual const wire::instrument_table& instruments() const noexcept = 0;
    /// An instrument that the feed has shown.
    virtual void learn(const domain::instrument& shown) = 0;

    /// The client order id of an order that is sent next.
    [[nodiscard]] virtual domain::client_order_id next_order() const noexcept = 0;
    /// The client order id with this short number.
    [[nodiscard]] virtual domain::client_order_id long_number(std::uint64_t short_one) const noexcept = 0;

    /// @return Why the request was not sent; empty if it was. @pre connected()
    [[nodiscard]] virtual std::string_view send(const domain::command& request) = 0;
    /// Requests per second that the session may send; 0: not known, or no limit.
    [[nodiscard]] virtual std::uint32_t requests_per_second_max() const noexcept { return 0; }
    /// Whether the protocol has questions for the positions of the account.
    [[nodiscard]] virtual bool has_positions() const noexcept { return false; }
    /// As order_session::ask_status. @return As `send`.
    [[nodiscard]] virtual std::string_view ask_status(domain::instrument_id instrument) = 0;
    /// As order_session::ask_snapshot. @return As `send`.
    [[nodiscard]] virtual std::string_view ask_snapshot() = 0;
};

}  // namespace corro::app
