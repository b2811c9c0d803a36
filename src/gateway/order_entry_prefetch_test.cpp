// SPDX-License-Identifier: Apache-2.0
// What the gateway says ahead of the requests of one read.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace testing;
using domain::side;

/// Takes nothing, so that everything goes its way through the queue, and remembers what it was told.
struct told final : command_consumer {
    bool take(const domain::command&) noexcept override { return false; }
    void expect(std::span<domain::prefetch_hint> coming) noexcept override {
        for (const domain::prefetch_hint& f : coming) {
            names.push_back(f.client_order.value);
            sound = sound && f.account == domain::account_id{1} && f.session.value != 0 && f.enters &&
                    f.instrument == domain::instrument_id{1};
        }
    }
    std::vector<std::uint64_t> names;
    bool sound = true;
};

TEST(order_entry_prefetch, names_the_orders_of_one_read_up_to_its_bound_and_not_of_a_single_request) {
    static told taker;
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const std::unique_ptr<raw_client> c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        v->commands.set_direct_consumer(&taker);
        const std::size_t requests = domain::prefetch_hints_max + 4;
        for (std::uint64_t name = 1; name <= requests; ++name) c->queue_request(order(side::buy, 100, 1, name));
        CORRO_REQUIRE(co_await c->flush());
        for (std::size_t i = 0; i < requests; ++i) EXPECT_EQ((co_await c->answer()).size(), 1U);
        // The others stood behind commands that waited, and were not worth a word.
        std::vector<std::uint64_t> first(domain::prefetch_hints_max);
        std::iota(first.begin(), first.end(), std::uint64_t{1});
        EXPECT_EQ(taker.names, first);
        EXPECT_TRUE(taker.sound);

        c->queue_request(order(side::buy, 100, 1, 99));
        CORRO_REQUIRE(co_await c->flush());
        EXPECT_EQ((co_await c->answer()).size(), 1U);
        EXPECT_EQ(taker.names, first);
        v->commands.set_direct_consumer(nullptr);
    });
    EXPECT_EQ(venue.open_orders_count(), domain::prefetch_hints_max + 5);
}

}  // namespace
}  // namespace corro::gateway
