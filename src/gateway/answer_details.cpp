// SPDX-License-Identifier: Apache-2.0
#include "gateway/answer_details.hpp"

#include <limits>

namespace corro::gateway {
namespace {

std::int64_t plus(std::int64_t value, domain::price_ticks price, domain::quantity_lots lots) noexcept {
    std::int64_t product = 0;
    std::int64_t sum = 0;
    const bool fits = !__builtin_mul_overflow(price.value, static_cast<std::int64_t>(lots.value), &product) &&
                      !__builtin_add_overflow(value, product, &sum);
    if (fits) return sum;
    return price.value < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

order_fills::totals order_fills::take(const domain::event& e) {
    switch (e.kind) {
        case domain::event_kind::order_executed: {
            const auto [found, is_new] = open_.try_insert(e.execution.order.value, totals{});
            found->lots += e.execution.quantity.value;
            found->value = plus(found->value, e.execution.price, e.execution.quantity);
            const totals now = *found;
            if (e.execution.leaves.value == 0) {
                closed_ = e.execution.order;
                closed_totals_ = now;
                open_.erase(e.execution.order.value);
            }
            return now;
        }
        case domain::event_kind::order_cancelled: {
            const totals* const found = open_.find(e.order.order.value);
            if (found == nullptr) return e.order.order == closed_ ? closed_totals_ : totals{};
            closed_ = e.order.order;
            closed_totals_ = *found;
            open_.erase(e.order.order.value);
            return closed_totals_;
        }
        case domain::event_kind::order_entered:
        case domain::event_kind::order_amended:
        case domain::event_kind::order_rejected:
        case domain::event_kind::order_status: {
            const totals* const found = e.order.order.value == 0 ? nullptr : open_.find(e.order.order.value);
            return found == nullptr ? totals{} : *found;
        }
        default: return {};
    }
}

void order_fills::clear() noexcept {
    open_.clear();
    closed_ = {};
    closed_totals_ = {};
}

}  // namespace corro::gateway
