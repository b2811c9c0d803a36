// SPDX-License-Identifier: Apache-2.0
// A desk's session of FIX.
//
// Its numbers stand in a file, or begin at 1 with each start. The venue sends the reports that a lost connection has
// taken when the session is on again.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fix/net/application.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/message_store.hpp"
#include "fix_trading/fix_login.hpp"
#include "fix_trading/fix_orders.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "trading_link.hpp"
#include "venue_access.hpp"

namespace corro::app {

struct fix_link_settings {
    fix_link_settings() noexcept {}

    fix_endpoint venue;
    fix_trading::fix_login who;
    std::uint32_t session_number = 1;
    std::string store;  ///< path of the file with the numbers; empty: they begin at 1
    wire::instrument_table instruments;
    double patience_seconds = 60;  ///< how long to retry a lost connection
    double wait_seconds = 0;       ///< how long to wait for a venue that is starting
};

class fix_link final : public trading_link, public fix::application {
 public:
    explicit fix_link(fix_link_settings settings);

    [[nodiscard]] io::task<std::string> run(link_listener* to) override;
    void leave() noexcept override;
    [[nodiscard]] bool connected() const noexcept override { return connected_; }
    [[nodiscard]] const wire::instrument_table& instruments() const noexcept override { return instruments_; }
    void learn(const domain::instrument& shown) override { instruments_.define(shown); }
    [[nodiscard]] domain::client_order_id next_order() const noexcept override;
    [[nodiscard]] domain::client_order_id long_number(std::uint64_t short_one) const noexcept override;
    [[nodiscard]] std::string_view send(const domain::command& request) override;
    [[nodiscard]] std::string_view ask_status(domain::instrument_id) override;
    [[nodiscard]] std::string_view ask_snapshot() override;
    [[nodiscard]] bool has_positions() const noexcept override { return true; }

 private:
    void on_active(fix::session& on, fix::instant now) override;
    void on_message(fix::session& on, fix::instant) override { take(on); }
    void on_reject(fix::session& on, fix::instant) override { take(on); }
    void on_end(fix::session& on) override;

    io::task<void> watch();
    void take(const fix::session& on);
    void give_up(std::string why);

    fix_link_settings settings_;
    wire::instrument_table instruments_;
    link_listener* to_ = nullptr;
    io::context* context_ = nullptr;
    std::unique_ptr<fix::message_store> store_;
    std::optional<fix_trading::fix_orders> orders_;
    std::unique_ptr<fix::initiator> session_;
    std::uint64_t life_ = 0;  ///< the upper half of the session's client order ids
    std::int64_t away_since_ = 0;
    std::string why_;  ///< of the end; empty if it was asked for
    bool was_active_ = false;
    bool connected_ = false;
    bool leaving_ = false;
};

}  // namespace corro::app
