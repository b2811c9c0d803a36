// SPDX-License-Identifier: Apache-2.0
#include "simulation/scale_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "node/configuration/configuration_table.hpp"

namespace corro::simulation {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t hosts_max = 4'096;

void read_service(node::table_reader& from, const std::string& name, service_time& into) {
    into.ns = from.number(name + "_ns", into.ns, 0, second_ns);
    into.spread_percent = from.number(name + "_spread_percent", into.spread_percent, 0, 100);
}

void read_link(const toml::table& root, std::string_view key, const std::string& file, link_plan& into) {
    node::read_table(root, key, file, [&into](node::table_reader& from) {
        into.latency_ns_min = from.number("latency_ns_min", into.latency_ns_min, 0, second_ns);
        into.latency_ns_max = from.number("latency_ns_max", into.latency_ns_min, into.latency_ns_min, second_ns);
        into.megabits_per_second = from.number("megabits_per_second", into.megabits_per_second, 0, 10'000'000);
    });
}

void read_load(const toml::table& root, const std::string& file, scale_plan& into) {
    node::read_table(root, "run", file, [&into](node::table_reader& from) {
        into.seed = from.number("seed", into.seed, 0, ~std::uint64_t{0} >> 1U);
        into.measured_us = from.number("measured_us", into.measured_us, 1, 3'600'000'000);
        into.warm_up_us = from.number("warm_up_us", into.warm_up_us, 0, 3'600'000'000);
    });
    node::read_table(root, "clients", file, [&into](node::table_reader& from) {
        into.clients_count = from.number("count", into.clients_count, 1, 10'000'000);
        into.requests_per_second = from.number("requests_per_second", into.requests_per_second, 0, second_ns);
        into.outstanding_max = from.number("outstanding_max", into.outstanding_max, 1, 1'000);
        into.mass_cancels_per_million =
            from.number("mass_cancels_per_million", into.mass_cancels_per_million, 0, 1'000'000);
        into.hot_percent = from.number("hot_percent", into.hot_percent, 0, 100);
    });
    node::read_table(root, "messages", file, [&into](node::table_reader& from) {
        into.request_bytes = from.number("request_bytes", into.request_bytes, 1, 65'536);
        into.answer_bytes = from.number("answer_bytes", into.answer_bytes, 1, 65'536);
        into.feed_message_bytes = from.number("feed_message_bytes", into.feed_message_bytes, 1, 65'536);
        into.answers_percent = from.number("answers_percent", into.answers_percent, 100, 100'000);
        into.feed_messages_percent = from.number("feed_messages_percent", into.feed_messages_percent, 0, 100'000);
    });
}

void read_hosts(const toml::table& root, const std::string& file, scale_plan& into) {
    node::read_table(root, "gateways", file, [&into](node::table_reader& from) {
        into.gateways_count = from.number("count", into.gateways_count, 1, hosts_max);
        into.gateway_threads_count = from.number("threads", into.gateway_threads_count, 1, 256);
        read_service(from, "request", into.gateway_request);
        read_service(from, "answer", into.gateway_answer);
    });
    node::read_table(root, "partitions", file, [&into](node::table_reader& from) {
        into.partitions_count = from.number("count", into.partitions_count, 1, hosts_max);
        into.partition_counts = from.numbers("counts", 1, hosts_max);
        read_service(from, "command", into.command);
        read_service(from, "sync", into.sync);
    });
    node::read_table(root, "distributors", file, [&into](node::table_reader& from) {
        into.distributors = from.numbers("levels", 1, hosts_max);
        read_service(from, "message", into.feed_message);
        read_service(from, "send", into.feed_send);
        into.subscribers_count = from.number("subscribers", into.subscribers_count, 0, 10'000'000);
        into.has_whole_feed = from.flag("whole_feed", into.has_whole_feed);
    });
    read_link(root, "client_link", file, into.client_link);
    read_link(root, "venue_link", file, into.venue_link);
}

}  // namespace

scale_plan parse_scale_plan(const std::string& text, const std::string& file) {
    toml::table root;
    try {
        root = toml::parse(text, file);
    } catch (const toml::parse_error& e) {
        throw node::configuration_error(fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
    }
    for (const auto& [key, value] : root) {
        const std::string_view name = key.str();
        constexpr std::string_view known[] = {"run",        "clients",      "messages",    "gateways",
                                              "partitions", "distributors", "client_link", "venue_link"};
        if (std::ranges::find(known, name) == std::end(known)) {
            throw node::configuration_error(
                fmt::format("{}:{}: {}: unknown table", file, value.source().begin.line, name));
        }
    }
    scale_plan plan;
    read_load(root, file, plan);
    read_hosts(root, file, plan);
    return plan;
}

}  // namespace corro::simulation
