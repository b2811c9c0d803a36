// SPDX-License-Identifier: Apache-2.0
// A market-by-order recording as a flow: groups in, requests out, outcomes judged.
#pragma once

#include <deque>
#include <memory>
#include <span>

#include "recorded/replay/difference.hpp"
#include "recorded/replay/flow.hpp"
#include "recorded/replay/order_flow_check.hpp"
#include "recorded/replay/order_flow_planner.hpp"
#include "recorded/replay/order_record.hpp"

namespace corro::recorded::replay {

class order_flow final : public flow {
 public:
    /// `log` must outlive the flow.
    order_flow(std::unique_ptr<order_record_source> source, opening how, difference_log& log);

    [[nodiscard]] plan_status plan(step& next) override;
    void answered(const step& of, std::span<const outcome> outcomes) override;
    void compare(const step& of, std::span<const outcome> outcomes, const feed::book_image& book) override;
    [[nodiscard]] std::uint64_t compared_count() const noexcept override { return compared_count_; }
    /// The last comparison, of the whole book; call it when the run is finished.
    void compare_at_end(const feed::book_image& book);

    [[nodiscard]] const order_flow_facts& facts() const noexcept { return planner_.facts(); }
    [[nodiscard]] const order_flow_agreement& result() const noexcept { return check_.result(); }

 private:
    group_reader reader_;
    order_flow_planner planner_;
    difference_log& log_;
    order_flow_check check_;
    std::deque<group_plan> plans_;  ///< planned and not compared
    std::uint64_t next_number_ = 0;
    std::uint64_t compared_count_ = 0;
};

}  // namespace corro::recorded::replay
