// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/order_flow.hpp"

#include <utility>

#include "base/assert.hpp"

namespace corro::recorded::replay {

order_flow::order_flow(std::unique_ptr<order_record_source> source, opening how, difference_log& log)
    : reader_(std::move(source)), planner_(how), log_(log), check_(log) {}

plan_status order_flow::plan(step& next) {
    group_plan g;
    if (!reader_.next(g.records)) return plan_status::finished;
    g.number = next_number_++;
    planner_.plan(g);
    if (g.kind == group_kind::replaced) {
        log_.add(cause::book_replaced, 0, [&] { return difference{place_of(g.records), planner_.replacement()}; });
    }
    next.number = g.number;
    // A snapshot is entered at once, without pacing.
    next.time = g.records.front().is_snapshot ? domain::time_ns{} : g.records.front().time;
    next.requests = g.requests;
    plans_.push_back(std::move(g));
    return plan_status::planned;
}

void order_flow::answered(const step& /*of*/, std::span<const outcome> /*outcomes*/) {}

void order_flow::compare(const step& of, std::span<const outcome> outcomes, const feed::book_image& book) {
    CORRO_ASSERT(!plans_.empty() && plans_.front().number == of.number);
    check_.compare(plans_.front(), outcomes, book);
    compared_count_ += plans_.front().records.size();
    plans_.pop_front();
}

void order_flow::compare_at_end(const feed::book_image& book) {
    check_.compare_whole_book("end of the recording", book);
}

}  // namespace corro::recorded::replay
