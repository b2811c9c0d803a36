// SPDX-License-Identifier: Apache-2.0
// A venue whose journal fills its segments faster than the disk allocates new ones: requests wait, and none is refused.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "../recovery/partitioned_venue_fixture.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

constexpr std::uint64_t requests_wanted = 4'000;
constexpr std::size_t outstanding_max = 64;

struct flood_result {
    std::uint64_t requests = 0;
    std::uint64_t refused = 0;
    std::error_code ended;
};

/// Sends requests as fast as they are answered.
io::task<void> flood(io::endpoint venue, std::uint32_t account, std::uint64_t seed, flood_result* into) {
    auto logged_on = co_await client::order_session::log_on(venue, testing::who(account, 1));
    if (!logged_on) {
        into->ended = logged_on.error();
        co_return;
    }
    client::order_session& session = **logged_on;
    std::vector<domain::instrument> instruments;
    session.instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    const std::vector<domain::price_ticks> middles(instruments.size(), domain::price_ticks{9'000});
    client::trader trader(client::trader_options(), instruments, middles, 1 + account * 1'000'000ULL, seed + account);
    while (into->requests < requests_wanted || trader.outstanding_count() > into->refused) {
        while (into->requests < requests_wanted && trader.outstanding_count() < outstanding_max + into->refused) {
            if (session.send(trader.next_request()) == 0) break;
            ++into->requests;
        }
        into->ended = co_await session.flush();
        if (!into->ended) into->ended = co_await session.fill();
        while (!into->ended) {
            const auto answer = session.poll();
            if (!answer) into->ended = answer.error();
            if (!answer || !*answer) break;
            if ((*answer)->reject) {
                ++into->refused;
            } else {
                static_cast<void>(trader.on_event((*answer)->event));
            }
        }
        if (into->ended) co_return;
    }
    static_cast<void>(co_await session.log_out());
}

template <class Exchange>
io::task<void> flood_venue(io::context* context, Exchange* exchange, std::uint64_t seed, flood_result* results) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    io::task_scope flooding(*context);
    for (std::uint32_t account = 1; account <= 2; ++account)
        flooding.spawn(flood(exchange->order_entry_endpoint(), account, seed, &results[account - 1]));
    co_await flooding.join();
    exchange->close();
    co_await serving.join();
}

using mode = std::tuple<node::threading_mode, journal::durability>;

class tiny_segments : public ::testing::TestWithParam<mode> {
 protected:
    template <class Exchange>
    void nobody_is_refused(node::configuration c) {
        const std::uint64_t seed = base::test_seed();
        SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
        const base::test_folder directory;
        c.journal_directory = directory.path() + "/journal";
        c.durability = std::get<1>(GetParam());
        c.journal_segment_bytes = journal::segment_bytes_min;
        io::context context;
        Exchange exchange(context, c);
        flood_result results[2];
        io::block_on(context, flood_venue(&context, &exchange, seed, results));
        for (const flood_result& r : results) {
            EXPECT_EQ(r.ended, std::error_code()) << r.ended.message();
            EXPECT_EQ(r.requests, requests_wanted);
            EXPECT_EQ(r.refused, 0U) << "the disk was never full";
        }
    }
};
INSTANTIATE_TEST_SUITE_P(modes, tiny_segments,
                         ::testing::Combine(::testing::Values(node::threading_mode::inline_,
                                                              node::threading_mode::split),
                                            ::testing::Values(journal::durability::none, journal::durability::group)),
                         [](const auto& m) {
                             return testing::name_of(std::get<0>(m.param)) + "_" +
                                    std::string(journal::name_of(std::get<1>(m.param)));
                         });

TEST_P(tiny_segments, make_requests_wait_and_have_none_refused) {
    nobody_is_refused<node::testing::started_venue>(testing::small_venue(std::get<0>(GetParam())));
}

TEST_P(tiny_segments, of_a_divided_venue_do_neither) {
    nobody_is_refused<node::testing::started_venue>(testing::two_partitions(std::get<0>(GetParam())));
}

}  // namespace
}  // namespace corro
