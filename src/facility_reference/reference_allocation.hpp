// SPDX-License-Identifier: Apache-2.0
// A second implementation of how the orders at one price share an incoming order: each step follows its sentence in
// docs/spec/allocation.md, with searches instead of arithmetic where possible. For tests only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "domain/allocation.hpp"
#include "facility_reference/reference_defects.hpp"

namespace corro::facility::testing {

class reference_sharing {
 public:
    /// A resting order at the price; the oldest comes first.
    struct sharer {
        std::uint32_t account = 0;
        std::uint32_t shown = 0;
        bool is_top = false;
        std::uint32_t gets = 0;
        bool got_pro_rata = false;
        [[nodiscard]] std::uint32_t rest() const { return shown - gets; }
    };

    reference_sharing(const domain::allocation_policy& policy, std::vector<sharer> sharers, std::uint32_t lots,
                      defect mistake)
        : policy_(policy), sharers_(std::move(sharers)), left_(lots), mistake_(mistake) {}

    /// Computes the lots of each.
    [[nodiscard]] const std::vector<sharer>& work_out() {
        using enum domain::match_algorithm;
        const domain::match_algorithm a = policy_.algorithm;
        const bool knows_top = a == split || a == fifo_top_makers || a == domain::match_algorithm::allocation ||
                               a == threshold || a == threshold_makers;
        for (sharer& s : sharers_) s.is_top = s.is_top && knows_top;
        if (mistake_ != defect::top_order_is_ignored) serve_top();
        if (a == fifo_makers || a == fifo_top_makers || a == split || a == threshold_makers) serve_makers();
        if (a == split) serve_first();
        if (a != fifo_makers && a != fifo_top_makers) serve_pro_rata();
        if (a == split && policy_.levels) level();
        for (sharer& s : sharers_) give(s, left_);
        return sharers_;
    }

 private:
    void give(sharer& s, std::uint32_t lots) {
        const std::uint32_t taken = std::min({lots, s.rest(), left_});
        s.gets += taken;
        left_ -= taken;
    }
    void serve_top() {
        for (sharer& s : sharers_) {
            if (!s.is_top) continue;
            give(s, policy_.top_maximum == 0 ? s.shown : policy_.top_maximum);
        }
    }
    void serve_makers() {
        const std::uint64_t before = left_;
        for (const domain::lead_market_maker& m : policy_.makers) {
            const std::uint64_t base = mistake_ == defect::makers_share_in_turn ? left_ : before;
            std::uint32_t owed = 0;  // the most lots that are no more than the percentage
            while ((owed + std::uint64_t{1}) * 100 <= base * m.percent) ++owed;
            for (sharer& s : sharers_) {
                const bool served = s.is_top && mistake_ != defect::top_order_shares_as_a_maker;
                if (s.account != m.account.value || served) continue;
                const std::uint32_t had = s.gets;
                give(s, owed);
                owed -= s.gets - had;
            }
        }
    }
    void serve_first() {
        std::uint32_t lots = 0;  // the fewest that are no less than the percentage
        while (std::uint64_t{lots} * 100 < std::uint64_t{left_} * policy_.fifo_percent) ++lots;
        for (sharer& s : sharers_) {
            const std::uint32_t had = s.gets;
            give(s, lots);
            lots -= s.gets - had;
        }
    }
    void serve_pro_rata() {
        std::uint64_t all = 0;
        for (const sharer& s : sharers_) all += s.rest();
        const std::uint64_t lots = left_;
        std::uint32_t minimum = policy_.pro_rata_minimum;
        if (policy_.algorithm == domain::match_algorithm::allocation) minimum = 2;
        if (policy_.algorithm == domain::match_algorithm::pro_rata && minimum == 0) minimum = 2;
        if (mistake_ == defect::pro_rata_minimum_is_ignored) minimum = 0;
        for (sharer& s : sharers_) {
            std::uint32_t part = 0;  // the most lots that are no more than the order's part
            while ((part + std::uint64_t{1}) * all <= lots * s.rest() && part < s.rest()) ++part;
            if (mistake_ == defect::pro_rata_rounds_to_the_nearest && 2 * part * all + all <= 2 * lots * s.rest())
                ++part;
            if (part == 0 || part < minimum) continue;
            give(s, part);
            s.got_pro_rata = true;
        }
    }
    void level() {
        for (std::vector<sharer*> served; left_ != 0;) {
            sharer* next = nullptr;
            for (sharer& s : sharers_) {
                const bool is_done = std::find(served.begin(), served.end(), &s) != served.end();
                if (s.got_pro_rata || s.rest() == 0 || is_done) continue;
                const bool is_larger = next != nullptr && s.rest() > next->rest();
                if (next == nullptr || (is_larger && mistake_ != defect::levelling_prefers_the_oldest)) next = &s;
            }
            if (next == nullptr) return;
            give(*next, 1);
            served.push_back(next);
        }
    }

    const domain::allocation_policy& policy_;
    std::vector<sharer> sharers_;
    std::uint32_t left_;
    defect mistake_;
};

}  // namespace corro::facility::testing
