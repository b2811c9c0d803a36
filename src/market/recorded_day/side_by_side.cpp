// SPDX-License-Identifier: Apache-2.0
#include "market/recorded_day/side_by_side.hpp"

#include <cmath>
#include <utility>

namespace corro::market {

side_by_side::side_by_side(std::shared_ptr<const recorded_day> day, std::int64_t step_ns)
    : day_(std::move(day)), step_ns_(step_ns) {}

/// The state at a step is that after all commands up to its moment.
void side_by_side::advance(std::int64_t now_ns) {
    for (;;) {
        const std::int64_t at = (static_cast<std::int64_t>(steps_.size()) + 1) * step_ns_;
        if (at >= now_ns) return;
        for (; next_ < day_->requests.size() && day_->requests[next_].at_ns <= at; ++next_) {
            const recorded_request& r = day_->requests[next_];
            there_ = {r.bid, r.ask, r.has_quotes};
        }
        steps_.push_back({at, there_, here_});
    }
}

void side_by_side::on_command(const domain::command& command) {
    advance(command.time.value - day_->start_ns);
}

void side_by_side::on_events(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        if (e.kind != domain::event_kind::top_of_book) continue;
        here_ = {e.top.bid_price.value, e.top.ask_price.value,
                 e.top.bid_price != domain::no_price && e.top.ask_price != domain::no_price};
    }
}

double side_by_side::mean_difference_ticks() const noexcept {
    double sum = 0;
    double count = 0;
    for (const step& each : steps_) {
        if (!each.there.has_both || !each.here.has_both) continue;
        sum += std::fabs(each.here.mid() - each.there.mid());
        count += 1;
    }
    return count != 0 ? sum / count : 0;
}

double side_by_side::last_difference_ticks() const noexcept {
    for (std::size_t i = steps_.size(); i > 0; --i) {
        const step& last = steps_[i - 1];
        if (last.there.has_both && last.here.has_both) return last.here.mid() - last.there.mid();
    }
    return 0;
}

}  // namespace corro::market
