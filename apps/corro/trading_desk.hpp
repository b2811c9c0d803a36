// The trading desk: an order-entry session that reconnects, the market data, and the typed commands.
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
#include "client/order_session.hpp"
#include "client/venue_endpoint.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "market_view.hpp"

namespace corro::app {

struct desk_settings {
    desk_settings() noexcept {}

    client::venue_endpoint order_entry;
    client::venue_endpoint feed;
    client::venue_endpoint snapshot;
    client::credentials who;
    std::string symbol;            ///< shown first; empty: the venue's first
    double patience_seconds = 60;  ///< how long to retry a lost connection
};

class trading_desk {
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

    [[nodiscard]] bool connected() const noexcept { return connected_; }
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
    /// Returns the number that the user types for an order.
    [[nodiscard]] static std::uint64_t short_number(domain::client_order_id number) noexcept {
        return number.value & 0xffffffffU;
    }

 private:
    io::task<std::string> hold_session();
    io::task<std::error_code> connect();
    io::task<void> converse();
    io::task<void> read_answers();
    io::task<void> write_requests();
    io::task<void> follow_market();
    io::task<void> read_feed();

    void learn_instruments();
    void take(const client::answer& answer);
    void tell(const domain::event& event);
    void send(domain::command command);
    void ask_status(domain::instrument_id instrument);
    void ask_snapshot();
    void is_asked(bool queued);
    void tell(const client::admin_command& told);
    void amend(const desk::change& wanted);
    void cancel(const desk::cancellation& wanted);
    void list(desk::listing what);
    [[nodiscard]] domain::client_order_id long_number(std::uint64_t short_one) const noexcept;

    desk_settings settings_;
    std::function<void(const std::string&)> say_;
    std::unique_ptr<client::order_session> session_;
    std::unique_ptr<client::feed_session> feed_;
    std::vector<domain::instrument> instruments_;
    std::optional<domain::instrument_id> selected_;
    desk::own_orders orders_;
    market_view view_;
    io::auto_event has_output_;
    std::uint64_t questions_count_ = 0;  ///< admin requests
    io::task_scope* conversation_ = nullptr;
    io::task_scope* everything_ = nullptr;
    std::error_code broken_;  ///< why the last connection ended
    bool connected_ = false;
    bool leaving_ = false;
};

}  // namespace corro::app
