// SPDX-License-Identifier: Apache-2.0
// The sessions of this process as the receiver of the merged answers of several partitions.
//
// Threads: one context.
#pragma once

#include <cstddef>
#include <span>

#include "domain/event.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/order_entry.hpp"

namespace corro::node {

class merged_answers final : public outcome_sink {
 public:
    /// `orders` outlives this.
    explicit merged_answers(order_entry& orders) noexcept : orders_(orders) {}

    std::size_t accept(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) orders_.deliver(event);
        return events.size();
    }
    void executed(const executed_command& what) override {
        if (what.refused) [[unlikely]]
            orders_.reject_overloaded(request_of(what));
    }

 private:
    order_entry& orders_;
};

}  // namespace corro::node
