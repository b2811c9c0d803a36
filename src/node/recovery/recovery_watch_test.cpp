// SPDX-License-Identifier: Apache-2.0
// A recovery, watched from outside: the test stops it in the middle of the journal, checks, and lets it continue.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/test_folder.hpp"
#include "http/client.hpp"
#include "io/file/detail/file_operation.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration_fixture.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/nobody_fixture.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro::node {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t commands_count = 20'000;

/// Stops the thread that reads a journal, at the fifth of its large reads.
class gate final : public io::file_faults {
 public:
    [[nodiscard]] io::file_fault before(io::file_call what, const char* /*path*/, std::uint64_t /*offset*/,
                                        std::size_t bytes) noexcept override {
        constexpr std::size_t large = std::size_t{1} << 16;
        if (what != io::file_call::read || bytes < large || ++reads_ != 5) return io::file_fault();
        is_reached = true;
        is_reached.notify_all();
        is_open.wait(false);
        return io::file_fault();
    }

    std::atomic<bool> is_reached{false};
    std::atomic<bool> is_open{false};

 private:
    int reads_ = 0;
};

/// An unused address, of a host of this process alone: other tests open ports of their own meanwhile.
std::string free_address() {
    const int process = ::getpid();
    const auto host = io::endpoint::parse(
        fmt::format("127.{}.{}.{}:0", 1 + (process >> 16) % 254, (process >> 8) % 256, 1 + process % 254));
    io::context context;
    const auto port = io::tcp_acceptor::open(context, *host);
    return port ? port->local_endpoint()->to_string() : std::string();
}

configuration watched_venue(const std::string& directory) {
    configuration c = testing::smallest_configuration();
    c.order_entry_listen = free_address();
    c.feed_listen = free_address();
    c.snapshot_listen = free_address();
    c.metrics_listen = free_address();
    c.link_listen = directory + "/link";
    c.link_secret.fill(std::byte{1});
    c.journal_directory = directory + "/journal";
    c.journal_segment_bytes = std::uint64_t{1} << 20;
    c.durability = journal::durability::async;
    return c;
}

io::task<void> write_all(host_journal* journal, io::context* context, matching_host* host, bool of_partitions) {
    io::task_scope journaling(*context);
    journaling.spawn(journal->run());
    for (std::uint32_t n = 1; n <= commands_count; ++n) {
        domain::command c;
        c.kind = domain::command_kind::cancel_order;
        c.instrument = domain::instrument_id{1};
        c.session = domain::session_id{1};
        c.account = domain::account_id{1};
        c.client_order = domain::client_order_id{n};
        c.set_request(n);
        if (of_partitions) c.set_arrival(n, 0);
        while (!host->has_room()) {
            host->release();
            co_await io::yield();
        }
        EXPECT_TRUE(host->execute(c));
        host->release();
    }
    journal->close();
    co_await journaling.join();
}

/// Leaves the journal of a killed venue with this configuration.
void leave_journal(const configuration& c, bool of_partitions) {
    io::context context;
    const io::tick_clock clock;
    nobody sink;
    market_data::feed_publisher feed(market_data::feed_options(), c.instruments);
    gateway::answer_log answers(account_directory_of(c).sessions_count());
    matching_host host(facility_options_of(c, io::default_platform()), c.instruments, clock, sink);
    host.throttle(throttle_options_of(c), 1);
    host_journal journal(context, context, c);
    io::block_on(context, journal.recover({&host, &answers, &feed}));
    io::block_on(context, write_all(&journal, &context, &host, of_partitions));
}

io::endpoint at(const std::string& address) {
    return *io::endpoint::parse(address);
}

using page = std::pair<unsigned, std::string>;

/// Status 0: there is no answer.
io::task<page> get(io::context* context, io::endpoint from, std::string_view path) {
    auto connected = co_await io::tcp_stream::connect(*context, from);
    if (!connected) co_return page();
    http::client client(std::move(*connected), "localhost");
    static_cast<void>(co_await client.send(http::method::get, path));
    const auto head = co_await client.receive();
    if (!head) co_return page();
    const unsigned status = head->status;
    const auto body = co_await client.read_body();
    co_return page(status, body ? std::string(*body) : std::string());
}

page get(const std::string& address, std::string_view path) {
    io::context context;
    return io::block_on(context, get(&context, at(address), path));
}

/// Repeats the request until a status comes; the test's own time limit ends a wait without end.
page get_when(const std::string& address, std::string_view path, unsigned status) {
    while (true) {
        page got = get(address, path);
        if (got.first == status) return got;
        std::this_thread::sleep_for(1ms);
    }
}

bool listens(const std::string& address) {
    io::context context;
    const auto connect = [](io::context* on, io::endpoint to) -> io::task<bool> {
        const auto stream = co_await io::tcp_stream::connect(*on, to);
        co_return stream.has_value();
    };
    return io::block_on(context, connect(&context, at(address)));
}

/// The value of a metric without labels; nothing when the page does not have it.
std::optional<double> metric(const std::string& text, const std::string& name) {
    const std::size_t found = text.find("\n" + name + " ");
    if (found == std::string::npos) return std::nullopt;
    return std::stod(text.substr(found + name.size() + 2));
}

template <class Venue>
io::task<void> serve_until(io::context* context, Venue* venue, io::remote_event* told) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    static_cast<void>(co_await told->wait());
    venue->close();
    co_await serving.join();
}

template <class Venue>
class venue_thread {
 public:
    explicit venue_thread(const configuration& c) : thread_([this, &c] { run(c); }) {}
    void end() {
        end_.set();
        thread_.join();
    }

 private:
    void run(const configuration& c) {
        Venue venue(context_, c);
        io::block_on(context_, serve_until(&context_, &venue, &end_));
    }

    io::context context_;
    io::remote_event end_{context_};
    std::thread thread_;
};

/// @param entry  Where sessions log on; empty when they do so elsewhere.
template <class Venue>
void expect_watched_recovery(configuration c, const std::string& entry) {
    gate held;
    c.journal_faults = &held;
    for (partition_configuration& each : c.partitions) each.journal_faults = &held;
    venue_thread<Venue> venue(c);
    held.is_reached.wait(false);

    const page ready = get(c.metrics_listen, "/ready");
    EXPECT_EQ(ready.first, 503U);
    EXPECT_NE(ready.second.find("recovering"), std::string::npos) << ready.second;
    EXPECT_EQ(get(c.metrics_listen, "/health").first, 200U);
    const std::string metrics = get(c.metrics_listen, "/metrics").second;
    const auto done = metric(metrics, "corro_recovery_bytes");
    const auto total = metric(metrics, "corro_recovery_bytes_total");
    const auto commands = metric(metrics, "corro_recovery_commands");
    EXPECT_TRUE(done && total && commands) << metrics;
    if (done && total && commands) {
        EXPECT_GT(*done, 0);
        EXPECT_LT(*done, *total);
        EXPECT_GT(*total, static_cast<double>(commands_count) * 64);
        EXPECT_GT(*commands, 0);
        EXPECT_LT(*commands, static_cast<double>(commands_count));
        const std::string progress = fmt::format("{:.0f} of {:.0f} bytes", *done, *total);
        EXPECT_NE(ready.second.find(progress), std::string::npos) << ready.second;
    }
    for (const std::string& port : {c.feed_listen, c.snapshot_listen, entry}) {
        EXPECT_FALSE(!port.empty() && listens(port)) << "a port is open before the recovery has ended: " << port;
    }

    held.is_open = true;
    held.is_open.notify_all();
    get_when(c.metrics_listen, "/ready", 200);
    for (const std::string& port : {c.feed_listen, c.snapshot_listen, entry}) {
        EXPECT_TRUE(port.empty() || listens(port)) << port;
    }
    const std::string after = get(c.metrics_listen, "/metrics").second;
    EXPECT_EQ(metric(after, "corro_recovery_commands"), static_cast<double>(commands_count));
    EXPECT_EQ(metric(after, "corro_recovery_bytes"), metric(after, "corro_recovery_bytes_total"));
    venue.end();
}

class recovery_watch : public ::testing::TestWithParam<threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threading, recovery_watch, ::testing::Values(threading_mode::inline_, threading_mode::split),
                         [](const auto& m) { return m.param == threading_mode::split ? "split" : "inline"; });

TEST_P(recovery_watch, O1_an_exchange_shows_its_recovery_and_opens_behind_it) {
    const base::test_folder directory;
    configuration c = watched_venue(directory.path());
    c.threading = GetParam();
    leave_journal(c, false);
    expect_watched_recovery<testing::started_venue>(c, c.order_entry_listen);
}

TEST_P(recovery_watch, O1_a_facility_shows_its_recovery_and_opens_behind_it) {
    const base::test_folder directory;
    configuration c = watched_venue(directory.path());
    c.threading = GetParam();
    leave_journal(c, false);
    expect_watched_recovery<testing::started_facility>(c, {});
}

TEST_P(recovery_watch, O1_a_venue_of_partitions_shows_its_recovery_and_opens_behind_it) {
    const base::test_folder directory;
    configuration c = watched_venue(directory.path());
    c.threading = GetParam();
    partition_configuration s;
    s.name = "ONLY";
    s.instruments = {domain::instrument_id{1}};
    s.orders_max = 100;
    s.feed_listen = c.feed_listen;
    s.snapshot_listen = c.snapshot_listen;
    c.partitions.push_back(s);
    leave_journal(configuration_of_partition(c, 0), true);
    expect_watched_recovery<testing::started_venue>(c, c.order_entry_listen);
}

TEST(recovery_watch, a_recovery_that_fails_is_thrown_and_leaves_no_port_open) {
    const base::test_folder directory;
    configuration c = watched_venue(directory.path());
    leave_journal(c, false);
    c.venue_name = "ANOTHER";
    io::context context;
    EXPECT_THROW(testing::started_venue(context, c), recovery_error);
    EXPECT_FALSE(listens(c.metrics_listen));
}

}  // namespace
}  // namespace corro::node
