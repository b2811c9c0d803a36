// The event router: passes a facility's events to order entry, to market data and to the log.
//
// Threads: one context.
#pragma once

#include <span>

#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "node/event_outlet.hpp"
#include "node/market_data_side.hpp"
#include "node/order_entry_side.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

class edges final : public event_outlet {
 public:
    /// Either may be nullptr; its events are then dropped. Both outlive the router.
    edges(order_entry_side* orders, market_data_side* feed) noexcept : orders_(orders), feed_(feed) {}

    /// Records every event in `log` from now on, a producer of this thread; nullptr for no log.
    void log_to(telemetry::producer* log) noexcept { log_ = log; }

    /// Takes all events.
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        if (log_ != nullptr) without_marks(events, [this](auto run) { log_->note(run); });
        if (feed_ != nullptr) {
            for (const domain::event& event : events) feed_->expect(event);
        }
        for (const domain::event& event : events) {
            if (is_mark(event)) [[unlikely]]
                continue;
            if (domain::is_public(event.kind)) {
                if (domain::is_definition(event.kind) && orders_ != nullptr) [[unlikely]]
                    orders_->define(event);
                if (feed_ != nullptr) feed_->publish(event);
            } else if (orders_ != nullptr) {
                orders_->deliver(event);
            }
        }
        return events.size();
    }

    /// Starts sending. To be called once per batch.
    void flush() noexcept {
        if (orders_ != nullptr) orders_->flush();
        if (feed_ != nullptr) feed_->flush();
    }

 private:
    order_entry_side* orders_;
    market_data_side* feed_;
    telemetry::producer* log_ = nullptr;
};

}  // namespace corro::node
