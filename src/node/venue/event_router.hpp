// SPDX-License-Identifier: Apache-2.0
// The router of a facility's events on the thread of order entry: to the sessions, to the feed and to the event log.
//
// Threads: one context.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/market_data_server.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// The sink of one partition.
class partition_sink : public outcome_sink {
 public:
    partition_sink() = default;
    partition_sink(const partition_sink&) = delete;
    partition_sink& operator=(const partition_sink&) = delete;
    virtual ~partition_sink() = default;

    /// Records every event in `log` from now on, a producer of this thread; nullptr for no log.
    void log_to(telemetry::producer* log) noexcept { log_ = log; }

    bool end_events() noexcept final { return !std::exchange(has_ended_, true); }
    /// Split: the partition's journal has failed, and all released events are here.
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

 protected:
    void log(std::span<const domain::event> events) const {
        if (log_ != nullptr) for_each_run_of_events(events, [this](auto run) { log_->note(run); });
    }

 private:
    telemetry::producer* log_ = nullptr;
    bool has_ended_ = false;
};

/// The sink of the only partition. Order entry is called without a virtual call per event.
/// @tparam OrderEntry  Has `deliver(event)` for private events and `define(event)` for those of definitions; and
///                     `executed(what)`, unless it counts answers in another way.
template <class OrderEntry>
class event_router final : public partition_sink {
 public:
    /// Both outlive the router.
    event_router(OrderEntry& orders, market_data_server& feed) noexcept : orders_(orders), feed_(feed) {}

    /// Takes all events.
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        log(events);
        for (const domain::event& event : events) feed_.expect(event);
        for (const domain::event& event : events) {
            if (is_progress_marker(event)) [[unlikely]]
                continue;
            if (domain::is_public(event.kind)) {
                if (domain::is_definition(event.kind)) [[unlikely]]
                    orders_.define(event);
                feed_.publish(event);
            } else {
                orders_.deliver(event);
            }
        }
        return events.size();
    }

    void executed(const executed_command& what) override {
        if constexpr (requires { orders_.executed(what); }) orders_.executed(what);
    }

 private:
    OrderEntry& orders_;
    market_data_server& feed_;
};

}  // namespace corro::node
