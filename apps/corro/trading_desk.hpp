// SPDX-License-Identifier: Apache-2.0
// The trading desk: a link to order entry, the market data, and the typed commands.
//
// The desk reports messages. A terminal shows the last ones; plain output prints all.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/corro/desk/desk_command.hpp"
#include "apps/corro/desk/own_orders.hpp"
#include "client/feed_session.hpp"
#include "client/venue_endpoint.hpp"
#include "io/task/task.hpp"
#include "market_view.hpp"
#include "trading_link.hpp"

namespace corro::app {

struct desk_settings {
    desk_settings() noexcept {}

    std::unique_ptr<trading_link> link;
    client::venue_endpoint feed;
    client::venue_endpoint snapshot;
    std::string symbol;  ///< shown first; empty: the venue's first
};

class trading_desk final : private link_listener {
 public:
    /// @param say  Called with each message.
    trading_desk(desk_settings settings, std::function<void(const std::string&)> say);

    /// Logs on and runs until `leave`, a stop, or until reconnecting fails.
    /// @return Why it ended, as a sentence; empty if it was asked to end.
    [[nodiscard]] io::task<std::string> run();

    /// Executes a typed line, or reports its error.
    void execute(std::string_view line);

    /// Logs out and ends `run`.
    void leave() noexcept;

    [[nodiscard]] bool connected() const noexcept { return link_->connected(); }
    [[nodiscard]] const std::vector<domain::instrument>& instruments() const noexcept { return instruments_; }
    [[nodiscard]] std::optional<domain::instrument_id> selected() const noexcept { return selected_; }
    void select_next() noexcept;
    [[nodiscard]] const desk::own_orders& orders() const noexcept { return orders_; }
    /// nullptr while the feed is not joined.
    [[nodiscard]] const client::feed_session* feed() const noexcept { return feed_.get(); }
    [[nodiscard]] const market_view& view() const noexcept { return view_; }
    [[nodiscard]] market_view& view() noexcept { return view_; }

    [[nodiscard]] const domain::instrument* find(domain::instrument_id id) const noexcept;
    /// Returns one line about an own order, as the venue reports it.
    [[nodiscard]] std::string describe(const desk::own_order& order) const;

 private:
    /// One line about a position: its average price, what closed lots have earned, what open ones would at the last
    /// price.
    [[nodiscard]] std::string describe(const domain::instrument& i, const desk::own_position& position) const;
    void on_first_logon() override;
    void on_event(const domain::event& event) override;
    void on_refused(domain::client_order_id number, std::string_view why) override;
    void on_reply(const client::admin_command& reply) override;
    void say(const std::string& message) override { say_(message); }

    io::task<void> follow_market();
    io::task<void> read_feed();

    void learn_instruments();
    void tell(const domain::event& event);
    void send(domain::command command);
    void ask(std::string_view problem);
    void query(const desk::order_question& wanted);
    void tell_position(const domain::event& event);
    /// @param behind  0: all.
    void ask_positions(domain::instrument_id behind);
    void amend(const desk::change& wanted);
    void cancel(const desk::cancellation& wanted);
    void list(desk::listing what);

    desk_settings settings_;
    std::unique_ptr<trading_link> link_;
    std::function<void(const std::string&)> say_;
    std::unique_ptr<client::feed_session> feed_;
    std::vector<domain::instrument> instruments_;
    std::optional<domain::instrument_id> selected_;
    desk::own_orders orders_;
    market_view view_;
};

}  // namespace corro::app
