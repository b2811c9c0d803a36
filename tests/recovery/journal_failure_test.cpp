// SPDX-License-Identifier: Apache-2.0
// A journal that fails or has no space, seen from outside: the reports, what still works, and what ends.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "../system/exchange_fixture.hpp"
#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "io/file/detail/file_operation.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/venue/venue_fixture.hpp"
#include "seen_from_outside_fixture.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using node::threading_mode;
using testing::get;
using testing::logged;

/// Makes every call of one kind fail while it is on.
class breaks final : public io::file_faults {
 public:
    breaks(io::file_call call, int error) noexcept : call_(call), error_(error) {}
    std::atomic<bool> on{false};

    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        return what == call_ && on ? io::file_fault(error_) : io::file_fault();
    }

 private:
    io::file_call call_;
    int error_;
};

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

io::task<std::unique_ptr<client::order_session>> log_on(node::venue* venue, std::uint32_t account) {
    client::credentials who = testing::who(account, 1);
    who.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue->order_entry_endpoint(), who);
    if (!session) co_return nullptr;
    co_return std::move(*session);
}

/// Sends one request. True if it was answered and the facility accepted it.
io::task<bool> ask(client::order_session* session, domain::command c) {
    if (session->send(c) == 0) co_return false;
    const auto answer = co_await session->next();
    co_return answer && !answer->reject && answer->event.reason == domain::reject_reason::none;
}

node::configuration venue_in(const base::test_folder& directory, threading_mode threading, io::file_faults* faults) {
    node::configuration c = testing::small_venue(threading);
    c.journal_directory = directory.path() + "/journal";
    c.journal_segment_bytes = 64U * 1024;
    c.journal_faults = faults;
    c.metrics_listen = "127.0.0.1:0";
    c.event_log.directory = directory.path() + "/log";
    c.accounts[1].is_operator = true;
    return c;
}

class journal_failure : public ::testing::TestWithParam<threading_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, journal_failure, ::testing::Values(threading_mode::inline_, threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

/// Trades until the venue ends by itself.
io::task<void> trade_until_it_ends(io::context* context, node::venue* venue, breaks* disk) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    auto session = co_await log_on(venue, 1);
    CORRO_REQUIRE(session != nullptr);
    bool taken = co_await ask(session.get(), order(1));
    EXPECT_TRUE(taken);
    disk->on = true;
    taken = co_await ask(session.get(), order(2));
    EXPECT_FALSE(taken) << "it is not in the journal";
    co_await serving.join();
}

TEST_P(journal_failure, O3_ends_the_venue_and_is_in_the_log) {
    const base::test_folder directory;
    breaks disk(io::file_call::sync_data, EIO);
    const node::configuration c = venue_in(directory, GetParam(), &disk);
    {
        io::context context;
        node::testing::started_venue venue(context, c);
        EXPECT_EQ(venue.failure(), nullptr);
        io::block_on(context, trade_until_it_ends(&context, &venue, &disk));
        ASSERT_NE(venue.failure(), nullptr) << "`corro serve` returns 1 then";
        EXPECT_NE(venue.failure()->find("syncing failed"), std::string::npos) << *venue.failure();
    }
    EXPECT_NE(logged(c).find("journal_failed"), std::string::npos);
}

io::task<void> fail_and_look(io::context* context, node::venue* venue, breaks* disk) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    const io::endpoint metrics = *venue->metrics_endpoint();
    auto session = co_await log_on(venue, 1);
    CORRO_REQUIRE(session != nullptr);
    const bool taken = co_await ask(session.get(), order(1));
    EXPECT_TRUE(taken);
    auto ready = co_await get(context, metrics, "/ready");
    EXPECT_EQ(ready.first, 200U) << ready.second;
    auto page = co_await get(context, metrics, "/metrics");
    EXPECT_NE(page.second.find("\ncorro_journal_up 1\n"), std::string::npos);
    EXPECT_EQ(page.second.find("\ncorro_journal_free_bytes 0\n"), std::string::npos);
    EXPECT_NE(page.second.find("\ncorro_journal_syncs_total "), std::string::npos);
    disk->on = true;
    EXPECT_NE(session->send(order(2)), 0U);
    static_cast<void>(co_await session->flush());
    for (int i = 0; i < 1'000 && ready.first == 200; ++i) {
        static_cast<void>(co_await io::sleep_for(10ms));
        ready = co_await get(context, metrics, "/ready");
    }
    EXPECT_EQ(ready.first, 503U);
    EXPECT_NE(ready.second.find("The journal has failed"), std::string::npos) << ready.second;
    const auto health = co_await get(context, metrics, "/health");
    EXPECT_EQ(health.first, 200U);
    const auto refused = co_await log_on(venue, 2);
    EXPECT_EQ(refused, nullptr);
    page = co_await get(context, metrics, "/metrics");
    EXPECT_NE(page.second.find("\ncorro_journal_up 0\n"), std::string::npos);
    EXPECT_NE(page.second.find("\ncorro_logons_refused_by_reason_total{reason=\"journal_failed\"} 1\n"),
              std::string::npos)
        << page.second;
    session->abandon();
    venue->close();
    co_await serving.join();
}

TEST_P(journal_failure, O3_refuses_logons_by_name_and_is_not_ready_where_the_venue_goes_on) {
    const base::test_folder directory;
    breaks disk(io::file_call::sync_data, EIO);
    node::configuration c = venue_in(directory, GetParam(), &disk);
    c.ends_with_journal = false;
    io::context context;
    node::testing::started_venue venue(context, c);
    io::block_on(context, fail_and_look(&context, &venue, &disk));
    EXPECT_NE(venue.failure(), nullptr);
}

/// Fills the disk with orders and its reserve with cancels. Then an operator uses the kill switch.
io::task<void> fill_and_stop(io::context* context, node::venue* venue, breaks* disk) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    auto session = co_await log_on(venue, 1);
    auto operating = co_await log_on(venue, 2);
    CORRO_REQUIRE(session != nullptr && operating != nullptr);
    disk->on = true;
    std::uint64_t name = 1;
    bool taken = true;
    while (taken && name < 5'000) taken = co_await ask(session.get(), order(name++));
    EXPECT_FALSE(taken) << "the disk is full";
    domain::command cancel;
    cancel.kind = domain::command_kind::cancel_order;
    cancel.instrument = domain::instrument_id{1};
    std::uint64_t cancelled = 0;
    for (taken = true; taken && cancelled + 2 < name;) {
        cancel.client_order = domain::client_order_id{++cancelled};
        taken = co_await ask(session.get(), cancel);
    }
    EXPECT_FALSE(taken) << "the reserve of the others is used up";
    EXPECT_GT(cancelled, 3U);
    domain::command kill;
    kill.kind = domain::command_kind::kill_switch;
    kill.kill_switch().kill_scope = domain::kill_scope::account;
    kill.kill_switch().other_account = domain::account_id{1};
    kill.kill_switch().state = domain::switch_state::on;
    taken = co_await ask(operating.get(), kill);
    EXPECT_TRUE(taken) << "the operators have a reserve of their own";
    disk->on = false;
    session->abandon();
    operating->abandon();
    venue->close();
    co_await serving.join();
}

TEST_P(journal_failure, S3_a_kill_switch_works_on_a_full_disk) {
    const base::test_folder directory;
    breaks disk(io::file_call::preallocate, ENOSPC);
    const node::configuration c = venue_in(directory, GetParam(), &disk);
    io::context context;
    node::testing::started_venue venue(context, c);
    io::block_on(context, fill_and_stop(&context, &venue, &disk));
    EXPECT_EQ(venue.failure(), nullptr) << "a full disk is no failure";
}

/// Checks at every call of a recovery whether a port accepts connections.
class looks_for_a_port final : public io::file_faults {
 public:
    std::uint16_t port = 0;
    int looks = 0;
    int found = 0;

    [[nodiscard]] io::file_fault before(io::file_call, const char*, std::uint64_t, std::size_t) noexcept override {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ++looks;
        if (::connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) ++found;
        ::close(fd);
        return {};
    }
};

/// A free port below those that the system chooses: a connection to one of those may get the same port for its own end,
/// be its own peer, and keep the port.
std::uint16_t port_below_the_chosen_ones(const base::test_folder& directory) {
    io::context context;
    auto port = static_cast<std::uint16_t>(15'000 + std::hash<std::string>()(directory.path()) % 16'000);
    while (!io::tcp_acceptor::open(context, io::endpoint::ipv4({127, 0, 0, 1}, port))) ++port;
    return port;
}

TEST_P(journal_failure, O1_order_entry_opens_when_the_recovery_is_over) {
    const base::test_folder directory;
    looks_for_a_port disk;
    disk.port = port_below_the_chosen_ones(directory);
    node::configuration c = venue_in(directory, GetParam(), &disk);
    c.order_entry_listen = io::endpoint::ipv4({127, 0, 0, 1}, disk.port).to_string();
    {
        io::context context;
        node::testing::started_venue venue(context, c);
        io::block_on(context, venue.stop());
    }
    disk.looks = disk.found = 0;
    io::context context;
    node::testing::started_venue venue(context, c);
    EXPECT_GT(disk.looks, 3);
    EXPECT_EQ(disk.found, 0) << "somebody could have connected during the recovery";
    io::block_on(context, venue.stop());
}

}  // namespace
}  // namespace corro
