// SPDX-License-Identifier: Apache-2.0
// No allocation per message: counts calls of operator new while clients of the same process send requests and get
// answers and market data.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "fix/net/application.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/message_store.hpp"
#include "fix_trading/fix_login.hpp"
#include "fix_trading/fix_orders.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/venue/venue_fixture.hpp"

namespace {

std::atomic<std::uint64_t> allocations_count = 0;  // in all threads

void* counted(std::size_t size, std::size_t alignment) {
    allocations_count.fetch_add(1, std::memory_order_relaxed);
    void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) std::abort();
    return memory;
}

}  // namespace

void* operator new(std::size_t size) {
    return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace corro {
namespace {

io::task<void> follow(client::feed_session* feed, std::uint64_t* seen) {
    while (true) {
        const auto event = feed->poll();
        if (!event) co_return;
        if (*event) {
            ++*seen;
            continue;
        }
        const std::error_code error = co_await feed->fill();
        if (error) co_return;
    }
}

struct counts {
    std::uint64_t allocations = 0;
    std::uint64_t feed_messages = 0;
    bool complete = false;
};

constexpr int warm_up_requests = 20'000;
constexpr int measured_requests = 20'000;

/// Sends requests one after the other, each after the previous answer. Counts after the warm-up.
io::task<void> trade(client::order_session* session, client::trader* trader, const std::uint64_t* seen, counts* into) {
    std::uint64_t allocations_before = 0;
    std::uint64_t seen_before = 0;
    for (int i = 0; i < warm_up_requests + measured_requests; ++i) {
        if (i == warm_up_requests) {
            allocations_before = allocations_count;
            seen_before = *seen;
        }
        if (session->send(trader->next_request()) == 0) co_return;
        bool answered = false;
        while (!answered) {
            const auto answer = co_await session->next();
            if (!answer || answer->reject) co_return;
            answered = trader->on_event(answer->event);
        }
    }
    into->allocations = allocations_count - allocations_before;
    into->feed_messages = *seen - seen_before;
    into->complete = true;
}

io::task<void> measure(io::context* context, node::venue* exchange, counts* into) {
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, 1));
    auto feed = co_await client::feed_session::join(exchange->feed_endpoint(), exchange->snapshot_endpoint());
    if (!session || !feed) co_return;
    client::trader_options mix;
    mix.open_orders_max = 40;
    std::vector<domain::instrument> instruments;
    (*session)->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    client::trader trader(mix, instruments, {domain::price_ticks{9'000}, domain::price_ticks{9'000}}, 1, 42);
    std::uint64_t seen = 0;
    io::task_scope following(*context);
    following.spawn(follow(feed->get(), &seen));
    co_await trade(session->get(), &trader, &seen, into);
    following.request_stop();
    co_await following.join();
    static_cast<void>(co_await (*session)->log_out());
    (*feed)->abandon();
}

/// The same by FIX: the next request is sent when the previous one is answered.
class fix_trader final : public fix::application {
 public:
    fix_trader(const wire::instrument_table& instruments, client::trader& trader, const std::uint64_t& seen,
               counts& into)
        : orders_(instruments, std::uint64_t{1} << 40U), trader_(trader), seen_(seen), into_(into) {}

    fix::initiator* session = nullptr;

    void on_active(fix::session& on, fix::instant now) override { send(on, now); }
    void on_message(fix::session& on, fix::instant now) override {
        const auto answer = orders_.read(on.message());
        if (!answer || !*answer || (*answer)->is_reject) return session->close();
        if (!trader_.on_event((*answer)->event)) return;
        if (++answered_ == warm_up_requests) {
            allocations_before_ = allocations_count;
            seen_before_ = seen_;
        }
        if (answered_ != warm_up_requests + measured_requests) return send(on, now);
        into_.allocations = allocations_count - allocations_before_;
        into_.feed_messages = seen_ - seen_before_;
        into_.complete = true;
        session->close();
    }
    void on_reject(fix::session&, fix::instant) override { session->close(); }

 private:
    void send(fix::session& on, fix::instant now) {
        if (orders_.send(on, trader_.next_request(), now) == 0) session->close();
    }

    fix_trading::fix_orders orders_;
    client::trader& trader_;
    const std::uint64_t& seen_;
    counts& into_;
    int answered_ = 0;
    std::uint64_t allocations_before_ = 0;
    std::uint64_t seen_before_ = 0;
};

io::task<void> measure_fix(io::context* context, node::venue* exchange, counts* into) {
    auto feed = co_await client::feed_session::join(exchange->feed_endpoint(), exchange->snapshot_endpoint());
    if (!feed) co_return;
    const node::configuration known = testing::small_venue();
    wire::instrument_table table;
    for (const domain::instrument& i : known.instruments) table.define(i);
    client::trader_options mix;
    mix.open_orders_max = 40;
    client::trader trader(mix, {known.instruments.begin(), known.instruments.end()},
                          {domain::price_ticks{9'000}, domain::price_ticks{9'000}}, 1, 42);
    std::uint64_t seen = 0;
    fix_trader trading(table, trader, seen, *into);
    fix::memory_store store(0);
    fix_trading::fix_login who;
    who.name = "ONE";
    who.key.fill(std::byte{1});
    fix::initiator session(*context, fix_trading::initiator_of(who, *exchange->fix_endpoint()), store, trading);
    trading.session = &session;
    io::task_scope following(*context);
    following.spawn(follow(feed->get(), &seen));
    co_await session.run();
    following.request_stop();
    co_await following.join();
    (*feed)->abandon();
}

using measurement = io::task<void> (*)(io::context*, node::venue*, counts*);

io::task<void> run_all(io::context* context, node::venue* exchange, counts* into, measurement how) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    co_await how(context, exchange, into);
    exchange->close();
    co_await serving.join();
}

class allocation : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, allocation,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST_P(allocation, none_per_message_through_gateway_facility_feed_and_clients) {
    io::context context;
    node::testing::started_venue exchange(context, testing::small_venue(GetParam()));
    counts c;
    io::block_on(context, run_all(&context, &exchange, &c, &measure));
    EXPECT_TRUE(c.complete);
    EXPECT_GT(c.feed_messages, 40'000U) << "the subscriber was really there";
    EXPECT_EQ(c.allocations, 0U) << "in 20,000 round trips";
}

TEST_P(allocation, none_per_message_by_fix) {
    io::context context;
    node::configuration with_fix = testing::small_venue(GetParam());
    with_fix.fix_listen = "127.0.0.1:0";
    with_fix.accounts.front().fix_names = {"ONE"};
    node::testing::started_venue exchange(context, with_fix);
    counts c;
    io::block_on(context, run_all(&context, &exchange, &c, &measure_fix));
    EXPECT_TRUE(c.complete);
    EXPECT_GT(c.feed_messages, 40'000U) << "the subscriber was really there";
    EXPECT_EQ(c.allocations, 0U) << "in 20,000 requests and their reports";
}

TEST(allocation_count, is_counted_at_all) {
    const std::uint64_t before = allocations_count;
    const auto memory = std::make_unique<int>(1);
    EXPECT_EQ(allocations_count, before + 1) << *memory;
}

}  // namespace
}  // namespace corro
