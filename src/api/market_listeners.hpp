// SPDX-License-Identifier: Apache-2.0
// Two listeners of a market as one.
#pragma once

#include "api/market_view.hpp"

namespace corro::api {

class market_listeners final : public market_listener {
 public:
    /// Both outlive it; the first is called first.
    market_listeners(market_listener& first, market_listener& second) noexcept : first_(&first), second_(&second) {}
    market_listeners(const market_listeners&) = delete;
    market_listeners& operator=(const market_listeners&) = delete;
    ~market_listeners() = default;

    void before_event(const market& where) override {
        first_->before_event(where);
        second_->before_event(where);
    }
    void on_level(const market& where, domain::side side, std::int64_t rank, std::uint64_t before) override {
        first_->on_level(where, side, rank, before);
        second_->on_level(where, side, rank, before);
    }
    void on_trade(const market& where, const tape_entry& trade) override {
        first_->on_trade(where, trade);
        second_->on_trade(where, trade);
    }
    void on_ticker(const market& where) override {
        first_->on_ticker(where);
        second_->on_ticker(where);
    }
    void on_indication(const market& where) override {
        first_->on_indication(where);
        second_->on_indication(where);
    }
    void on_order(const market& where, const order_change& change) override {
        first_->on_order(where, change);
        second_->on_order(where, change);
    }
    void on_orders_replaced(const market& where) override {
        first_->on_orders_replaced(where);
        second_->on_orders_replaced(where);
    }
    void on_command_end() override {
        first_->on_command_end();
        second_->on_command_end();
    }

 private:
    market_listener* first_;
    market_listener* second_;
};

}  // namespace corro::api
