#include "node/matching_host.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "base/tsc_clock.hpp"
#include "node/event_outlet.hpp"
#include "node/limits.hpp"

namespace corro::node {
namespace {

struct listener final : event_outlet {
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        heard.insert(heard.end(), events.begin(), events.end());
        return events.size();
    }
    std::vector<domain::event> heard;
};

domain::command order() {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{1};
    c.session = domain::session_id{1};
    c.account = domain::account_id{1};
    c.request = 1;
    c.price = domain::price_ticks{10};
    c.quantity = domain::quantity_lots{1};
    return c;
}

std::vector<domain::instrument> one_instrument() {
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{"ONE"};
    i.tick_size = domain::price_nano{1'000'000'000};
    i.price_high = domain::price_ticks{1'000};
    return {i};
}

TEST(matching_host, refuses_the_order_beyond_the_limit_of_all_accounts_and_repeats_that_under_another_limit) {
    const base::tsc_clock clock;
    listener outlet;
    matching_host host({}, one_instrument(), clock, outlet);
    host.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    host.limit_open_orders(2);
    std::vector<domain::command> sequenced;
    for (int i = 0; i < 3; ++i) {
        domain::command c = order();
        ASSERT_TRUE(host.execute(c));
        sequenced.push_back(c);
    }
    const domain::event& last = outlet.heard.back();
    EXPECT_EQ(last.kind, domain::event_kind::order_rejected);
    EXPECT_EQ(last.reason, domain::reject_reason::open_orders_limit);
    EXPECT_EQ(host.state().open_orders_count(), 2U);

    listener again;
    matching_host later({}, one_instrument(), clock, again);
    later.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    for (const domain::command& c : sequenced) later.replay(c);
    EXPECT_EQ(later.state().state_hash(), host.state().state_hash());
    domain::command free = order();
    EXPECT_TRUE(later.execute(free));
    EXPECT_EQ(later.state().open_orders_count(), 3U) << "0 is no limit";
}

}  // namespace
}  // namespace corro::node
