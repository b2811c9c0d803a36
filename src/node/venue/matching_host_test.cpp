// SPDX-License-Identifier: Apache-2.0
#include "node/venue/matching_host.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "domain/long_name.hpp"
#include "gateway/session/disconnect_cancel.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/test_journal.hpp"
#include "node/configuration/limits.hpp"
#include "node/venue/event_sink.hpp"
#include "sim/disk.hpp"

namespace corro::node {
namespace {

struct listener final : event_sink {
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
    c.set_request(1);
    c.enter_order().price = domain::price_ticks{10};
    c.enter_order().quantity = domain::quantity_lots{1};
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
    const io::tick_clock clock;
    listener sink;
    matching_host host({}, one_instrument(), clock, sink);
    host.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    host.limit_open_orders(2);
    std::vector<domain::command> sequenced;
    for (int i = 0; i < 3; ++i) {
        domain::command c = order();
        ASSERT_TRUE(host.execute(c));
        sequenced.push_back(c);
    }
    const domain::event& last = sink.heard.back();
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

/// Executes commands of one kind until the journal has less room than `room`.
io::task<void> fill(matching_host* host, journal::writer* log, domain::command what, journal::journal_room until) {
    while (log->room() < until) {
        while (!log->has_buffer() || log->space_is_being_made()) co_await log->progressed().wait();
        domain::command c = what;
        static_cast<void>(host->execute(c));
        host->release();
        co_await io::yield();
    }
}

domain::command reset_numbers(std::uint32_t session) {
    domain::command c;
    c.kind = domain::command_kind::reset_session_numbers;
    c.session = domain::session_id{session};
    c.account = domain::account_id{1};
    return c;
}

/// The text of a name, before a request of this kind.
domain::command name_for(domain::command_kind request, std::uint32_t session = 1) {
    domain::command c = domain::name_order_of("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    c.session = domain::session_id{session};
    c.account = domain::account_id{1};
    c.name_order().request_kind = static_cast<std::uint8_t>(request);
    return c;
}

/// The journal after a connection breaks on a full disk.
io::task<void> lose_connections(sim::disk* disk, matching_host* host) {
    auto opened = co_await journal::open_writer(disk, "j", journal::small_options(journal::durability::group));
    CORRO_REQUIRE(opened.has_value());
    journal::writer& log = **opened;
    host->set_journal(log);
    io::task_scope scope(co_await io::this_context());
    scope.spawn(log.run());
    co_await fill(host, &log, order(), journal::journal_room::cancels_only);
    domain::command day = reset_numbers(1);
    EXPECT_TRUE(host->execute(day)) << "without it a session could not log on to cancel";
    domain::command cancel = order();
    cancel.kind = domain::command_kind::cancel_order;
    cancel.client_order = domain::client_order_id{77};
    const auto is_taken = [host](domain::command c) { return host->execute(c); };
    EXPECT_FALSE(is_taken(name_for(domain::command_kind::enter_order)));
    EXPECT_FALSE(is_taken(order()));
    EXPECT_TRUE(is_taken(name_for(domain::command_kind::cancel_order)));
    EXPECT_TRUE(is_taken(cancel));
    co_await fill(host, &log, cancel, journal::journal_room::operators_only);
    EXPECT_EQ(log.room(), journal::journal_room::operators_only);
    const auto executes = [host](domain::command c) { return host->execute(c); };
    EXPECT_FALSE(executes(cancel)) << "a participant's";
    const domain::session_id session{1};
    const domain::account_id account{1};
    const domain::command lost = gateway::cancel_of_session(session, account);
    const domain::command on = gateway::cancel_on_disconnect_command(session, account, domain::switch_state::on);
    const domain::command off = gateway::cancel_on_disconnect_command(session, account, domain::switch_state::off);
    EXPECT_TRUE(executes(on));
    EXPECT_GT(host->state().open_orders_count(), 0U);
    EXPECT_TRUE(executes(lost));
    EXPECT_EQ(host->state().open_orders_count(), 0U) << "the orders of a session that is gone";
    EXPECT_TRUE(executes(off));
    EXPECT_EQ(host->disconnect_cancels()[1].value, 0U);
    // A second time in the same segment: the operators' reserve is not for repeated logons.
    EXPECT_FALSE(executes(on));
    EXPECT_FALSE(executes(lost));
    EXPECT_FALSE(executes(reset_numbers(1))) << "a day that begins takes nothing of the operators' room";
    domain::command day_of_operator = reset_numbers(2);
    day_of_operator.set_operator(true);
    EXPECT_TRUE(executes(day_of_operator)) << "or it could not log on to stop trading";
    domain::command of_operator = cancel;
    of_operator.set_operator(true);
    EXPECT_TRUE(executes(of_operator));
    EXPECT_FALSE(executes(name_for(domain::command_kind::cancel_order)));
    EXPECT_FALSE(executes(name_for(domain::command_kind::cancel_order, 2))) << "another session's, before its request";
    domain::command of_another = cancel;
    of_another.session = domain::session_id{2};
    // There is space again, and the note before the missing cancel stays.
    disk->faults().capacity_bytes = ~std::uint64_t{0};
    while (log.room() != journal::journal_room::everything) co_await log.progressed().wait();
    EXPECT_FALSE(executes(off)) << "the cancel before it is in no journal";
    EXPECT_FALSE(executes(cancel)) << "its name is in no journal";
    EXPECT_TRUE(executes(cancel));
    EXPECT_FALSE(executes(of_another)) << "nor is the other session's";
    EXPECT_TRUE(executes(of_another));
    EXPECT_TRUE(executes(on));
    EXPECT_TRUE(executes(lost));
    EXPECT_TRUE(executes(off));
    scope.request_stop();
    co_await scope.join();
}

// S2 on a full disk: the operators' reserve also takes the cancel for a lost connection, and the note that it is done
// is never in the journal without it.
TEST(matching_host, S2_cancels_for_a_lost_connection_when_the_disk_is_full) {
    io::context context;
    sim::disk disk{sim::disk_pace::in_turns};
    disk.faults().capacity_bytes = 200 * 1024;
    const io::tick_clock clock;
    listener sink;
    matching_host host({}, one_instrument(), clock, sink);
    host.throttle({}, 4);
    host.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    io::block_on(context, lose_connections(&disk, &host));
}

TEST(matching_host, counts_the_requests_of_a_session_from_one_when_its_numbers_begin_again) {
    const io::tick_clock clock;
    listener sink;
    matching_host host({}, one_instrument(), clock, sink);
    host.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    host.throttle({}, 2);
    matching_host again({}, one_instrument(), clock, sink);
    again.throttle({}, 2);
    const auto execute = [&](domain::command c, std::uint32_t session, std::uint32_t request) {
        c.session = domain::session_id{session};
        c.set_request(request);
        EXPECT_TRUE(host.execute(c));
        again.replay(c);
        EXPECT_EQ(host.last_requests()[1], again.last_requests()[1]);
    };
    execute(order(), 1, 900);
    execute(order(), 2, 800);
    execute(reset_numbers(1), 1, 0);
    EXPECT_EQ(host.last_requests()[1], 0U);
    EXPECT_EQ(host.last_requests()[2], 800U);
    EXPECT_EQ(sink.heard.back().kind, domain::event_kind::session_numbers_reset);
    execute(order(), 1, 1);
    EXPECT_EQ(host.last_requests()[1], 1U);
    EXPECT_EQ(host.state().state_hash(), again.state().state_hash());
}

risk::throttle_options three_and_five() {
    risk::throttle_options options;
    options.requests_max = 3;
    options.requests_end = 5;
    options.window_ns = std::int64_t{1'000'000} * 1'000'000'000;
    return options;
}

TEST(matching_host, S5_requests_that_the_decoder_has_found_wrong_are_throttled_like_others) {
    const io::tick_clock clock;
    listener sink;
    matching_host host({}, one_instrument(), clock, sink);
    host.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    host.throttle(three_and_five(), 1);
    std::vector<domain::command> sequenced;
    std::vector<domain::reject_reason> reasons;
    for (std::uint32_t request = 1; request <= 6; ++request) {
        domain::command c = order();
        c.set_request(request);
        c.set_verdict(domain::reject_reason::unknown_instrument);
        ASSERT_TRUE(host.execute(c));
        sequenced.push_back(c);
        reasons.push_back(sink.heard.back().reason);
    }
    using enum domain::reject_reason;
    EXPECT_EQ(reasons,
              (std::vector{unknown_instrument, unknown_instrument, unknown_instrument, throttled, throttled, flooded}));

    listener again;
    matching_host later({}, one_instrument(), clock, again);
    later.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    later.throttle(three_and_five(), 1);
    for (const domain::command& c : sequenced) later.replay(c);
    for (matching_host* const each : {&host, &later}) {
        domain::command c = order();
        c.set_request(7);
        ASSERT_TRUE(each->execute(c));
        EXPECT_EQ(c.verdict(), flooded) << "a replay has counted the same";
    }
}

TEST(matching_host, N6_a_query_is_charged_for_the_orders_that_it_only_looks_at) {
    const io::tick_clock clock;
    listener sink;
    matching_host host({}, one_instrument(), clock, sink);
    host.start_clock(std::chrono::system_clock::time_point(std::chrono::seconds(1'000)), clock_slew_ppm_default);
    for (std::uint32_t i = 0; i < 3 * risk::looks_per_request; ++i) {
        domain::command c = order();
        ASSERT_TRUE(host.execute(c));
    }
    risk::throttle_options five = three_and_five();
    five.requests_max = 5;
    five.requests_end = 0;
    host.throttle(five, 2);
    std::vector<domain::reject_reason> verdicts;
    for (std::uint32_t request = 1; request <= 3; ++request) {
        domain::command query;
        query.kind = domain::command_kind::query_order;
        query.session = domain::session_id{2};  // another session of the account, without an order
        query.account = domain::account_id{1};
        query.set_request(request);
        query.query_order().flags = domain::query_flag::all_of_session;
        ASSERT_TRUE(host.execute(query));
        verdicts.push_back(query.verdict());
    }
    using enum domain::reject_reason;
    EXPECT_EQ(verdicts, (std::vector{none, none, throttled})) << "one and three for each, of five";
}

}  // namespace
}  // namespace corro::node
