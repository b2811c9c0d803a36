// SPDX-License-Identifier: Apache-2.0
// What a FIX session tells the venue ahead of the requests of one read.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "domain/prefetch_hint.hpp"
#include "fix_gateway/fix_venue_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::fix_gateway {
namespace {

using testing::fix_venue;

/// Takes nothing, so that everything goes its way through the queue, and remembers what it was told.
struct told final : gateway::command_consumer {
    bool take(const domain::command&) noexcept override { return false; }
    void expect(std::span<domain::prefetch_hint> coming) noexcept override {
        for (const domain::prefetch_hint& each : coming) {
            names.push_back(each.client_order.value);
            is_sound = is_sound && each.account == domain::account_id{2} && each.session.value != 0 && each.enters &&
                       each.request == each.client_order.value;
        }
    }
    std::vector<std::uint64_t> names;
    bool is_sound = true;
};

TEST(fix_prefetch, names_the_orders_of_one_read_and_not_of_a_single_request) {
    static told taker;
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("BOB", 2);
        CORRO_REQUIRE(client != nullptr);
        venue.commands.set_direct_consumer(&taker);
        // The Logon was number 1: each order is named as its message.
        const auto order = [](int name) {
            return "35=D|11=" + std::to_string(name) + "|55=TEST|54=1|38=1|40=2|44=100|";
        };
        std::string all;
        for (int name = 2; name < 8; ++name) all += client->message(order(name));
        CORRO_REQUIRE(co_await client->send_bytes(all));
        for (int i = 0; i < 6; ++i) {
            const std::string report = co_await client->next();
            EXPECT_TRUE(report.starts_with("35=8|")) << report;
        }
        const std::vector<std::uint64_t> expected{2, 3, 4, 5, 6, 7};
        EXPECT_EQ(taker.names, expected);
        EXPECT_TRUE(taker.is_sound);
        const std::string report = co_await client->ask(order(8));
        EXPECT_TRUE(report.starts_with("35=8|")) << report;
        EXPECT_EQ(taker.names, expected);
        venue.commands.set_direct_consumer(nullptr);
        co_await venue.close();
    });
}

}  // namespace
}  // namespace corro::fix_gateway
