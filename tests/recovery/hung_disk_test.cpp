// SPDX-License-Identifier: Apache-2.0
// O3: a disk that does not respond: the reports, the ends of sessions, and the recovery when it responds
// again.
//
// The venue is a separate process; the test makes its disk hang.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <tuple>

#include "../system/exchange_fixture.hpp"
#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "hanging_disk_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/testing/test_require.hpp"
#include "seen_from_outside_fixture.hpp"
#include "venue_process_fixture.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using node::threading_mode;
using testing::get;
using testing::hang_kind;
using testing::hanging_disk;
using testing::logged;
using testing::venue_process;

domain::command order(std::uint64_t name) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    c.instrument = domain::instrument_id{1};
    c.client_order = domain::client_order_id{name};
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{1};
    return c;
}

node::configuration venue_on(const base::test_folder& directory, threading_mode threading, hanging_disk* disk) {
    node::configuration c = testing::small_venue(threading);
    c.journal_directory = directory.path() + "/journal";
    c.journal_segment_bytes = 64U * 1024;
    c.journal_faults = disk;
    c.disk_patience = 1'500ms;
    c.metrics_listen = "127.0.0.1:0";
    c.event_log.directory = directory.path() + "/log";
    return c;
}

io::task<std::unique_ptr<client::order_session>> log_on(const venue_process* venue, std::uint32_t account) {
    client::credentials who = testing::who(account, 1);
    who.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue->order_entry(), who);
    if (!session) co_return nullptr;
    co_return std::move(*session);
}

/// Enters an order that is answered, and one that the hanging disk holds back.
io::task<std::unique_ptr<client::order_session>> trade_until_it_hangs(const venue_process* venue, hanging_disk* disk) {
    auto session = co_await log_on(venue, 1);
    EXPECT_NE(session, nullptr);
    if (session == nullptr) co_return nullptr;
    static_cast<void>(session->send(order(1)));
    const auto answer = co_await session->next();
    EXPECT_TRUE(answer && !answer->reject);
    disk->hang();
    static_cast<void>(session->send(order(2)));
    static_cast<void>(co_await session->flush());
    co_return session;
}

/// Waits until the log contains a text.
io::task<void> wait_for_log(const node::configuration* c, const char* what) {
    while (logged(*c).find(what) == std::string::npos) static_cast<void>(co_await io::sleep_for(10ms));
}

/// Waits until a page contains a text.
io::task<std::string> wait_for_page(io::context* context, const venue_process* venue, std::string path,
                                    std::string what) {
    const io::endpoint metrics = io::endpoint::loopback(venue->at_start().metrics_port);
    while (true) {
        const auto page = co_await get(context, metrics, path);
        if (page.second.find(what) != std::string::npos) co_return page.second;
        static_cast<void>(co_await io::sleep_for(10ms));
    }
}

using mode = std::tuple<threading_mode, hang_kind>;

class hung_disk : public ::testing::TestWithParam<mode> {};
INSTANTIATE_TEST_SUITE_P(modes, hung_disk,
                         ::testing::Combine(::testing::Values(threading_mode::inline_, threading_mode::split),
                                            ::testing::Values(hang_kind::thread, hang_kind::task)),
                         [](const auto& m) {
                             return testing::name_of(std::get<0>(m.param)) +
                                    (std::get<1>(m.param) == hang_kind::thread ? "_thread" : "_task");
                         });

/// Whether the thread of the venue's sessions and pages continues.
bool serves_meanwhile(const mode& m) {
    return std::get<0>(m) == threading_mode::split || std::get<1>(m) == hang_kind::task;
}

io::task<void> watch_it_end(io::context* context, const node::configuration* c, const mode* m, venue_process* venue,
                            hanging_disk* disk) {
    const auto session = co_await trade_until_it_hangs(venue, disk);
    CORRO_REQUIRE(session != nullptr);
    if (serves_meanwhile(*m)) {
        static_cast<void>(co_await wait_for_page(context, venue, "/ready", "the disk has not responded for 1 s"));
        static_cast<void>(co_await wait_for_page(context, venue, "/metrics", "\ncorro_journal_stalled_seconds 1."));
    }
    co_await wait_for_log(c, "journal_stalled");
    const auto answer = co_await session->next();
    EXPECT_FALSE(answer.has_value()) << "it is not in the journal";
}

TEST_P(hung_disk, O3_is_reported_and_ends_the_process_when_the_patience_is_over) {
    const base::test_folder directory;
    hanging_disk disk(std::get<1>(GetParam()));
    const node::configuration c = venue_on(directory, std::get<0>(GetParam()), &disk);
    venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    io::context context;
    const mode m = GetParam();
    io::block_on(context, watch_it_end(&context, &c, &m, &venue, &disk));
    EXPECT_EQ(venue.wait_for_end(), 1);
    EXPECT_NE(logged(c).find("journal_failed"), std::string::npos) << "it is in the log before the process ends";
    disk.answer();
    const venue_process again(c);
    EXPECT_TRUE(again.at_start().sound) << "a disk that works again hinders no start";
}

io::task<void> watch_it_resume(io::context* context, const node::configuration* c, venue_process* venue,
                               hanging_disk* disk) {
    const auto session = co_await trade_until_it_hangs(venue, disk);
    CORRO_REQUIRE(session != nullptr);
    co_await wait_for_log(c, "journal_stalled");
    disk->answer();
    const auto answer = co_await session->next();
    EXPECT_TRUE(answer && !answer->reject && answer->event.reason == domain::reject_reason::none);
    co_await wait_for_log(c, "journal_resumed");
    const auto page = co_await wait_for_page(context, venue, "/metrics", "\ncorro_journal_stalled_seconds 0\n");
    EXPECT_NE(page.find("\ncorro_journal_up 1\n"), std::string::npos);
    const auto ready = co_await get(context, io::endpoint::loopback(venue->at_start().metrics_port), "/ready");
    EXPECT_EQ(ready.first, 200U) << ready.second;
    co_await session->log_out();
}

class hung_disk_resumes : public ::testing::TestWithParam<threading_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, hung_disk_resumes, ::testing::Values(threading_mode::inline_, threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

TEST_P(hung_disk_resumes, O3_without_a_bound_the_venue_waits_and_goes_on_when_the_disk_answers) {
    const base::test_folder directory;
    hanging_disk disk(hang_kind::thread);
    node::configuration c = venue_on(directory, GetParam(), &disk);
    c.disk_patience = 0ms;
    venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    io::context context;
    io::block_on(context, watch_it_resume(&context, &c, &venue, &disk));
    venue.begin_to_close();
    EXPECT_EQ(venue.wait_for_end(), 0);
    EXPECT_EQ(logged(c).find("journal_failed"), std::string::npos);
}

io::task<void> watch_it_refuse(io::context* context, venue_process* venue, hanging_disk* disk) {
    const auto session = co_await trade_until_it_hangs(venue, disk);
    CORRO_REQUIRE(session != nullptr);
    static_cast<void>(co_await wait_for_page(context, venue, "/ready", "The journal has failed"));
    static_cast<void>(session->send(order(3)));
    const auto answer = co_await session->next();
    EXPECT_TRUE(answer && answer->reject);
    if (answer && answer->reject) {
        EXPECT_EQ(answer->reject->session_reject_reason, wire::session_reject_reason::journal_failed);
    }
    const auto refused = co_await log_on(venue, 2);
    EXPECT_EQ(refused, nullptr);
    static_cast<void>(co_await wait_for_page(context, venue, "/metrics",
                                             "\ncorro_logons_refused_by_reason_total{reason=\"journal_failed\"} 1\n"));
    session->abandon();
}

TEST_P(hung_disk_resumes, O3_where_the_venue_stays_requests_are_refused_by_the_reason_until_it_is_closed) {
    const base::test_folder directory;
    hanging_disk disk(hang_kind::task);
    node::configuration c = venue_on(directory, GetParam(), &disk);
    c.ends_with_journal = false;
    venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    io::context context;
    io::block_on(context, watch_it_refuse(&context, &venue, &disk));
    venue.begin_to_close();
    EXPECT_EQ(venue.wait_for_end(), 1) << "the call still hangs, and holds up no end";
    EXPECT_NE(logged(c).find("journal_failed"), std::string::npos);
}

}  // namespace
}  // namespace corro
