// SPDX-License-Identifier: Apache-2.0
// The lots ahead of an order in the queue of its price level, exactly: by the orders that are there.
//
// The orders ahead of it are read from the book when the order rests. From then on each of them that shrinks or leaves
// lowers the sum; nothing raises it.
//
// Units: lots, nanoseconds of the market's time.
// Cost:  a walk of the book at the beginning; logarithmic for each change of an order ahead.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "domain/event.hpp"
#include "facility/facility.hpp"

namespace corro::market {

class queue_tracker {
 public:
    /// @pre The order rests in the book of that instrument.
    queue_tracker(const facility::facility& venue, domain::instrument_id instrument, domain::side side,
                  domain::order_id order, std::int64_t now_ns);

    [[nodiscard]] domain::order_id order() const noexcept { return order_; }
    [[nodiscard]] bool is_gone() const noexcept { return is_gone_; }
    /// An order_reduced or order_deleted of the instrument.
    void on_change(const domain::event& e, std::int64_t now_ns);
    /// The lots ahead at that moment.
    [[nodiscard]] std::uint64_t ahead_at(std::int64_t at_ns) const noexcept;

 private:
    struct state {
        std::int64_t at_ns;
        std::uint64_t ahead;
    };

    domain::order_id order_;
    std::map<std::uint64_t, std::uint32_t> ahead_;  // lots, by order
    std::uint64_t sum_ = 0;
    std::vector<state> states_;  // by time
    bool is_gone_ = false;
};

}  // namespace corro::market
