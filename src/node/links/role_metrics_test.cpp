// SPDX-License-Identifier: Apache-2.0
// What docs/howto/observe.md promises of the metrics of each role, and what the roles have.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_folder.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/configuration/configuration.hpp"
#include "node/configuration/configuration_fixture.hpp"
#include "node/links/distributor_role.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro::node {
namespace {

using names = std::set<std::string>;

/// The names in backticks.
names names_in(const std::string& text) {
    names all;
    for (std::size_t at = 0; (at = text.find('`', at)) != std::string::npos;) {
        const std::size_t end = text.find('`', at + 1);
        if (end == std::string::npos) break;
        all.insert(text.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    return all;
}

struct promise {
    names always;
    names after_events;  ///< in the page from their first occurrence on
};

/// The table of the page: what each role has, in the order of its columns.
std::vector<promise> promised() {
    std::ifstream page(CORRO_SOURCE_DIR "/docs/howto/observe.md");
    std::vector<promise> roles(4);
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| `corro_")) continue;
        std::vector<std::string> cells;
        for (std::size_t at = 0; at + 1 < line.size();) {
            const std::size_t end = line.find('|', at + 1);
            cells.push_back(line.substr(at + 1, end - at - 1));
            at = end;
        }
        EXPECT_EQ(cells.size(), 6U) << line;
        if (cells.size() != 6) continue;
        const bool is_later = cells[5].find("after the first") != std::string::npos;
        for (std::size_t role = 0; role < roles.size(); ++role) {
            if (cells[1 + role] != " yes ") {
                EXPECT_EQ(cells[1 + role], " no ") << line;
                continue;
            }
            roles[role].always.merge(is_later ? names() : names_in(cells[0]));
            roles[role].after_events.merge(is_later ? names_in(cells[0]) : names());
        }
    }
    return roles;
}

/// Reads the page of metrics.
io::task<names> metrics_at(io::context* context, io::endpoint where) {
    names all;
    auto stream = co_await io::tcp_stream::connect(*context, where);
    EXPECT_TRUE(stream);
    if (!stream) co_return all;
    const std::string_view request = "GET /metrics HTTP/1.1\r\nHost: venue\r\nConnection: close\r\n\r\n";
    static_cast<void>(co_await stream->write_all(std::as_bytes(std::span(request))));
    std::string text;
    std::array<std::byte, 4096> piece{};
    while (true) {
        const io::io_result got = co_await stream->read_some(piece);
        if (!got) break;
        text.append(reinterpret_cast<const char*>(piece.data()), got.bytes);
    }
    for (std::size_t at = 0; (at = text.find("# TYPE ", at)) != std::string::npos;) {
        at += 7;
        all.insert(text.substr(at, text.find(' ', at) - at));
    }
    co_return all;
}

void expect_kept(const promise& what, const names& there, const char* role) {
    for (const std::string& name : what.always) {
        EXPECT_TRUE(there.contains(name)) << role << " lacks " << name << ", which the page promises";
    }
    for (const std::string& name : there) {
        EXPECT_TRUE(what.always.contains(name) || what.after_events.contains(name))
            << role << " has " << name << ", which the page does not name for it";
    }
}

/// A venue with everything that has metrics.
configuration with_everything(const std::string& directory, const std::string& role) {
    configuration c = testing::smallest_configuration();
    c.threading = threading_mode::split;
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = c.metrics_listen = "127.0.0.1:0";
    c.link_listen = directory + "/link";
    c.link_connect = c.link_listen;
    c.link_secret.fill(std::byte{1});
    if (role == "whole" || role == "facility") c.journal_directory = directory + "/journal-" + role;
    c.event_log.directory = directory + "/log-" + role;
    partition_configuration only;
    only.name = "ONLY";
    only.instruments = {domain::instrument_id{1}};
    only.orders_max = 100;
    only.feed_listen = only.snapshot_listen = "127.0.0.1:0";
    only.lines = {"127.0.0.1:9"};  // nobody listens
    c.partitions.push_back(only);
    return c;
}

io::task<void> compare_whole(io::context* context, venue* whole, const promise* what) {
    io::task_scope serving(*context);
    serving.spawn(whole->run());
    const names there = co_await metrics_at(context, *whole->metrics_endpoint());
    expect_kept(*what, there, "a venue in one process");
    whole->close();
    co_await serving.join();
}

io::task<void> compare_roles(io::context* context, venue* facility, gateway_role* gateway,
                             distributor_role* distributor, const std::vector<promise>* what, const bool* is_linked) {
    io::task_scope serving(*context);
    serving.spawn(facility->run());
    serving.spawn(gateway->run());
    serving.spawn(distributor->run());
    while (!*is_linked) static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(1)));
    const names at_facility = co_await metrics_at(context, *facility->metrics_endpoint());
    expect_kept((*what)[1], at_facility, "a facility");
    const names at_gateway = co_await metrics_at(context, *gateway->metrics_endpoint());
    expect_kept((*what)[2], at_gateway, "a gateway");
    const names at_distributor = co_await metrics_at(context, *distributor->metrics_endpoint());
    expect_kept((*what)[3], at_distributor, "a distributor");
    gateway->close();
    distributor->close();
    facility->close();
    co_await serving.join();
}

TEST(role_metrics, are_those_that_the_page_promises_of_a_venue_in_one_process) {
    const base::test_folder directory;
    const std::vector<promise> what = promised();
    EXPECT_GT(what[0].always.size(), 50U);
    io::context context;
    testing::started_venue whole(context, with_everything(directory.path(), "whole"));
    io::block_on(context, compare_whole(&context, &whole, &what[0]));
}

TEST(role_metrics, are_those_that_the_page_promises_of_facility_gateway_and_distributor) {
    const base::test_folder directory;
    const std::vector<promise> what = promised();
    io::context context;
    testing::started_facility facility(context, with_everything(directory.path(), "facility"));
    bool is_linked = false;
    gateway_role gateway(context, with_everything(directory.path(), "gateway"),
                         [&is_linked](io::endpoint) { is_linked = true; });
    distributor_role distributor(context,
                                 configuration_of_partition(with_everything(directory.path(), "distributor"), 0),
                                 facility.feed_endpoint(), facility.snapshot_endpoint());
    io::block_on(context, compare_roles(&context, &facility, &gateway, &distributor, &what, &is_linked));
}

}  // namespace
}  // namespace corro::node
