// SPDX-License-Identifier: Apache-2.0
// S4: the limits of an account hold after any sequence of new orders, amendments, quotes and changes of limits.
//
// The oracle derives orders and positions from the private messages alone. After each request it checks whether an
// exposure of the account has grown beyond a limit.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"

namespace corro::facility::testing {
namespace {

using domain::command_kind;
using domain::event_kind;
using domain::side;

constexpr std::uint32_t accounts_count = 3;

struct limits {
    std::uint32_t order_max = 0;
    std::uint32_t position_max = 0;
    std::uint32_t orders_max = 0;
};

/// The exposure of an account if all its open orders of one side traded.
struct exposure {
    std::int64_t longest = 0;
    std::int64_t shortest = 0;
    std::uint32_t orders = 0;
};

class oracle {
 public:
    void see(const domain::event& e) {
        switch (e.kind) {
            case event_kind::order_entered:
            case event_kind::order_amended:
                open_[e.order.order.value] = {e.order.account.value, e.side, e.order.quantity.value};
                break;
            case event_kind::order_cancelled: open_.erase(e.order.order.value); break;
            case event_kind::order_executed: {
                const std::int64_t lots = e.execution.quantity.value;
                positions_.at(e.execution.account.value) += e.side == side::buy ? lots : -lots;
                const auto at = open_.find(e.execution.order.value);
                if (at == open_.end()) break;  // the aggressor; it rests later or never
                at->second.lots = e.execution.leaves.value;
                if (at->second.lots == 0) open_.erase(at);
                break;
            }
            default: break;
        }
    }

    [[nodiscard]] exposure of(std::uint32_t account) const {
        exposure x{positions_.at(account), -positions_.at(account), 0};
        for (const auto& [id, o] : open_) {
            if (o.account != account) continue;
            ++x.orders;
            (o.side == side::buy ? x.longest : x.shortest) += o.lots;
        }
        return x;
    }

    /// Describes what is wrong after a request of the account; empty if nothing is.
    [[nodiscard]] std::string judge(const exposure& before, const exposure& after, const limits& l,
                                    std::uint32_t largest_entered) const {
        if (l.order_max != 0 && largest_entered > l.order_max) return "an order is too large";
        if (l.orders_max != 0 && after.orders > l.orders_max && after.orders > before.orders) return "too many orders";
        if (l.position_max != 0) {
            if (after.longest > l.position_max && after.longest > before.longest) return "could become too long";
            if (after.shortest > l.position_max && after.shortest > before.shortest) return "could become too short";
        }
        return {};
    }

 private:
    struct order {
        std::uint32_t account;
        domain::side side;
        std::uint32_t lots;
    };
    std::map<std::uint64_t, order> open_;
    std::array<std::int64_t, accounts_count> positions_{};
};

domain::command random_request(base::prng& random, std::uint64_t number, std::uint64_t ids) {
    domain::command c;
    c.sequence = domain::sequence_number{number};
    c.time = domain::time_ns{static_cast<std::int64_t>(number)};
    c.account = domain::account_id{static_cast<std::uint32_t>(random.below(accounts_count))};
    c.session = domain::session_id{c.account.value + 1};
    c.instrument = domain::instrument_id{1};
    c.set_request(static_cast<std::uint32_t>(number));
    const side s = random.below(2) == 0 ? side::buy : side::sell;
    const domain::price_ticks price{95 + static_cast<std::int64_t>(random.below(11))};
    const domain::quantity_lots quantity{1 + static_cast<std::uint32_t>(random.below(8))};
    switch (random.below(10)) {
        case 0:
        case 1:
        case 2:
        case 3:
            c.client_order = domain::client_order_id{number};
            c.order_terms().side = s;
            c.enter_order().price = price;
            c.enter_order().quantity = quantity;
            if (random.below(5) == 0) c.order_terms().time_in_force = domain::time_in_force::ioc;
            break;
        case 4:
        case 5:
            c.kind = command_kind::amend_order;
            c.client_order = domain::client_order_id{1 + random.below(ids)};
            c.amend_order().price = price;
            c.amend_order().quantity = quantity;
            if (random.below(2) == 0) c.amend_order().flags = domain::amend_flag::open_quantity;
            break;
        case 6:
            c.kind = command_kind::cancel_order;
            c.client_order = domain::client_order_id{1 + random.below(ids)};
            break;
        case 7:
        case 8:
            c.kind = command_kind::enter_quote;
            c.enter_quote().bid_price = price;
            c.enter_quote().bid_quantity = quantity;
            c.enter_quote().ask_price =
                domain::price_ticks{price.value + 1 + static_cast<std::int64_t>(random.below(3))};
            c.enter_quote().ask_quantity = domain::quantity_lots{static_cast<std::uint32_t>(random.below(8))};
            break;
        default:
            c.kind = command_kind::set_limits;
            c.set_operator(true);
            c.set_limits().other_account = c.account;
            c.set_limits().order_quantity_max = domain::quantity_lots{static_cast<std::uint32_t>(random.below(8))};
            c.set_limits().position_max = domain::quantity_lots{static_cast<std::uint32_t>(random.below(25))};
            c.set_limits().open_orders_max = static_cast<std::uint32_t>(random.below(6));
            break;
    }
    return c;
}

/// Returns the first violation that the oracle finds. `sharpness` divides the limits that the oracle uses: above 1 it
/// must find a violation.
std::string first_violation(std::uint64_t seed, std::uint32_t sharpness) {
    base::prng random(seed);
    recorder events;
    facility_options options;
    options.accounts_max = accounts_count;
    const std::array instruments{wide_instrument(1)};
    facility venue(options, instruments, events);
    oracle judge;
    std::array<limits, accounts_count> in_force{};
    for (std::uint64_t number = 1; number <= 4'000; ++number) {
        const domain::command c = random_request(random, number, number);
        const exposure before = judge.of(c.account.value);
        events.events.clear();
        venue.apply(c);
        std::uint32_t largest = 0;
        for (const domain::event& e : events.events) {
            judge.see(e);
            const bool is_own = e.kind == event_kind::order_entered && e.order.account == c.account;
            if (is_own && c.kind == command_kind::enter_order) largest = c.enter_order().quantity.value;
        }
        if (c.kind == command_kind::set_limits) {
            const auto sharp = [&](std::uint32_t limit) { return limit == 0 ? 0 : 1 + (limit - 1) / sharpness; };
            in_force.at(c.account.value) = {sharp(c.set_limits().order_quantity_max.value),
                                            sharp(c.set_limits().position_max.value),
                                            sharp(c.set_limits().open_orders_max)};
            continue;
        }
        const std::string wrong = judge.judge(before, judge.of(c.account.value), in_force.at(c.account.value), largest);
        if (!wrong.empty()) return "request " + std::to_string(number) + ": " + wrong;
    }
    return {};
}

TEST(facility_limits, S4_are_not_exceeded_by_any_mixture_of_requests) {
    const std::uint64_t first = base::test_seed();
    for (std::uint64_t seed = first; seed < first + 40; ++seed) {
        EXPECT_EQ(first_violation(seed, 1), "") << "seed " << seed;
    }
}

TEST(facility_limits, S4_an_oracle_with_half_the_limits_finds_a_violation_every_time) {
    const std::uint64_t first = base::test_seed();
    for (std::uint64_t seed = first; seed < first + 5; ++seed) {
        EXPECT_NE(first_violation(seed, 2), "") << "seed " << seed;
    }
}

}  // namespace
}  // namespace corro::facility::testing
