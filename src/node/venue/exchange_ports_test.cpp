// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/test_folder.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "node/configuration/configuration_fixture.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro::node {
namespace {

configuration served_venue(const std::string& directory) {
    configuration c = testing::smallest_configuration();
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = "127.0.0.1:0";
    c.order_entry_unix_listen = directory + "/orders";
    return c;
}

template <class Exchange>
void expect_order_entry_closed(configuration c) {
    io::context context;
    const auto taken = io::tcp_acceptor::open(context, io::endpoint::loopback(0));
    ASSERT_TRUE(taken);
    c.metrics_listen = taken->local_endpoint()->to_string();
    EXPECT_THROW(Exchange(context, c), std::system_error);
    EXPECT_FALSE(std::filesystem::exists(c.order_entry_unix_listen)) << "clients were let in before the start was sure";
}

TEST(exchange_ports, order_entry_opens_after_all_others) {
    const base::test_folder directory;
    expect_order_entry_closed<testing::started_venue>(served_venue(directory.path()));
}

TEST(exchange_ports, order_entry_of_partitions_opens_after_all_others) {
    const base::test_folder directory;
    configuration c = served_venue(directory.path());
    testing::add_only_partition(c);
    expect_order_entry_closed<testing::started_venue>(c);
}

}  // namespace
}  // namespace corro::node
