// SPDX-License-Identifier: Apache-2.0
// Test support: reads the pages and the log of a venue from outside.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "http/client.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::testing {

/// Gets a page of the metrics' port: its status and its body.
inline io::task<std::pair<unsigned, std::string>> get(io::context* context, io::endpoint from, std::string_view path) {
    auto connected = co_await io::tcp_stream::connect(*context, from);
    EXPECT_TRUE(connected.has_value());
    if (!connected) co_return std::pair<unsigned, std::string>();
    http::client client(std::move(*connected), "localhost");
    static_cast<void>(co_await client.send(http::method::get, path));
    const auto head = co_await client.receive();
    EXPECT_TRUE(head.has_value());
    if (!head) co_return std::pair<unsigned, std::string>();
    const unsigned status = head->status;
    const auto body = co_await client.read_body();
    co_return std::pair<unsigned, std::string>(status, body ? std::string(*body) : std::string());
}

/// Returns the content of all files of the event log.
inline std::string logged(const node::configuration& c) {
    std::string all;
    for (const auto& each : std::filesystem::directory_iterator(c.event_log.directory)) {
        std::ifstream in(each.path());
        all.append(std::istreambuf_iterator<char>(in), {});
    }
    return all;
}

}  // namespace corro::testing
