// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "http/client.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"

namespace corro::telemetry {
namespace {

TEST(metrics_page, describes_a_metric_once_before_its_samples) {
    metrics_page page;
    page.counter("corro_requests_total", "Requests.", 7, {{"kind", "enter_order"}});
    page.counter("corro_requests_total", "Requests.", 9, {{"kind", "cancel_order"}});
    page.gauge("corro_sessions", "Sessions now.", 2);
    EXPECT_EQ(page.text(),
              "# HELP corro_requests_total Requests.\n# TYPE corro_requests_total counter\n"
              "corro_requests_total{kind=\"enter_order\"} 7\ncorro_requests_total{kind=\"cancel_order\"} 9\n"
              "# HELP corro_sessions Sessions now.\n# TYPE corro_sessions gauge\ncorro_sessions 2\n");
}

TEST(metrics_page, escapes_what_a_label_may_not_hold) {
    metrics_page page;
    page.gauge("g", "h", 1.5, {{"name", "a\"b\\c\nd"}});
    EXPECT_TRUE(page.text().ends_with("g{name=\"a\\\"b\\\\c\\nd\"} 1.5\n")) << page.text();
}

TEST(metrics_page, gives_a_histogram_in_seconds_whose_buckets_only_grow) {
    base::latency_histogram h;
    h.record(150, 2);
    h.record(3'000'000'000);
    metrics_page page;
    page.histogram("corro_stage_seconds", "Stages.", h, {{"stage", "decode"}});
    const std::string& text = page.text();
    EXPECT_NE(text.find("corro_stage_seconds_bucket{stage=\"decode\",le=\"1e-07\"} 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("corro_stage_seconds_bucket{stage=\"decode\",le=\"2e-07\"} 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("corro_stage_seconds_bucket{stage=\"decode\",le=\"1\"} 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("corro_stage_seconds_bucket{stage=\"decode\",le=\"+Inf\"} 3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("corro_stage_seconds_count{stage=\"decode\"} 3\n"), std::string::npos) << text;
}

io::task<std::pair<unsigned, std::string>> get(io::context* context, io::endpoint from, std::string_view path) {
    auto connected = co_await io::tcp_stream::connect(*context, from);
    EXPECT_TRUE(connected.has_value());
    http::client client(std::move(*connected), "localhost");
    const std::error_code sent = co_await client.send(http::method::get, path);
    EXPECT_FALSE(sent) << sent.message();
    const auto head = co_await client.receive();
    EXPECT_TRUE(head.has_value());
    const unsigned status = head->status;
    const auto body = co_await client.read_body();
    EXPECT_TRUE(body.has_value());
    co_return std::pair<unsigned, std::string>(status, std::string(*body));
}

io::task<void> ask_twice(io::context* context) {
    auto acceptor = io::tcp_acceptor::open(*context, *io::endpoint::parse("127.0.0.1:0"));
    EXPECT_TRUE(acceptor.has_value());
    const io::endpoint where = *acceptor->local_endpoint();
    int collected = 0;
    std::string hindrance;
    metrics_server server(
        *context, [&collected](metrics_page& page) { page.gauge("asked", "Times.", ++collected); },
        [&hindrance] { return hindrance; });
    io::task_scope serving(*context);
    serving.spawn(server.serve(std::move(*acceptor)));
    const auto page = co_await get(context, where, "/metrics?x=1");
    EXPECT_EQ(page.first, 200U);
    EXPECT_TRUE(page.second.ends_with("asked 1\n")) << page.second;
    const auto other = co_await get(context, where, "/");
    EXPECT_EQ(other.first, 404U);
    const auto ready = co_await get(context, where, "/ready");
    EXPECT_EQ(ready.first, 200U);
    hindrance = "The journal has failed.";
    const auto hindered = co_await get(context, where, "/ready");
    EXPECT_EQ(hindered.first, 503U);
    EXPECT_EQ(hindered.second, "The journal has failed.\n");
    const auto healthy = co_await get(context, where, "/health");
    EXPECT_EQ(healthy.first, 200U) << "it runs";
    EXPECT_EQ(collected, 1);
    server.close();
    co_await serving.join();
}

TEST(metrics_server, O3_hands_out_a_page_that_is_made_when_it_is_asked_for_and_whether_it_is_ready) {
    io::context context;
    io::block_on(context, ask_twice(&context));
}

/// Requests the page `times` times. Returns the number of pages that were made.
io::task<int> ask_often(io::context* context, int times) {
    auto acceptor = io::tcp_acceptor::open(*context, *io::endpoint::parse("127.0.0.1:0"));
    EXPECT_TRUE(acceptor.has_value());
    const io::endpoint where = *acceptor->local_endpoint();
    int collected = 0;
    metrics_server_options options;
    options.pages_made_max = 3;
    options.pages_window = std::chrono::hours(1);
    metrics_server server(
        *context, [&collected](metrics_page& page) { page.gauge("asked", "Times.", ++collected); }, {}, options);
    io::task_scope serving(*context);
    serving.spawn(server.serve(std::move(*acceptor)));
    for (int i = 1; i <= times; ++i) {
        const auto page = co_await get(context, where, "/metrics");
        EXPECT_EQ(page.first, 200U);
        EXPECT_TRUE(page.second.ends_with(i < 3 ? "asked " + std::to_string(i) + "\n" : "asked 3\n")) << page.second;
    }
    server.close();
    co_await serving.join();
    co_return collected;
}

TEST(metrics_server, N6_makes_no_more_pages_in_a_window_however_often_it_is_asked) {
    for (const int times : {5, 10, 20}) {
        io::context context;
        EXPECT_EQ(io::block_on(context, ask_often(&context, times)), 3) << times << " requests";
    }
}

/// Opens idle connections up to the limit, then requests a page on a further one.
io::task<void> crowd_the_port(io::context* context, const metrics_server_options* options, std::size_t idle,
                              std::size_t room) {
    auto acceptor = io::tcp_acceptor::open(*context, *io::endpoint::parse("127.0.0.1:0"));
    EXPECT_TRUE(acceptor.has_value());
    const io::endpoint where = *acceptor->local_endpoint();
    metrics_server server(*context, [](metrics_page&) {}, {}, *options);
    io::task_scope serving(*context);
    serving.spawn(server.serve(std::move(*acceptor)));
    std::vector<io::tcp_stream> silent;
    for (std::size_t i = 0; i < idle; ++i) {
        auto one = co_await io::tcp_stream::connect(*context, where);
        EXPECT_TRUE(one.has_value());
        silent.push_back(std::move(*one));
    }
    const auto page = co_await get(context, where, "/metrics");
    EXPECT_EQ(page.first, 200U);
    EXPECT_EQ(server.evicted_count(), idle + 1 - room);
    if (server.evicted_count() != 0) {
        std::byte none{};
        const io::io_result first = co_await silent.front().read_some(std::span(&none, 1));
        EXPECT_TRUE(first.error) << "the oldest has gone";
    }
    server.close();
    co_await serving.join();
}

TEST(metrics_server, N5_answers_a_newcomer_whatever_crowd_of_idle_connections_is_there) {
    metrics_server_options options;
    options.connections_max = 8;
    for (const std::size_t idle : {20U, 40U}) {
        io::context context;
        io::block_on(context, crowd_the_port(&context, &options, idle, 8));
    }
}

TEST(metrics_server, N5_one_address_has_no_more_connections_than_its_part) {
    metrics_server_options options;
    options.connections_per_address_max = 5;
    for (const std::size_t idle : {20U, 40U}) {
        io::context context;
        io::block_on(context, crowd_the_port(&context, &options, idle, 5));
    }
}

}  // namespace
}  // namespace corro::telemetry
