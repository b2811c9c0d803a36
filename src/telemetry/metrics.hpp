// SPDX-License-Identifier: Apache-2.0
// Metrics: the Prometheus text format, and its HTTP server.
//
// Nothing is registered or counted here: the components have plain counters, and their owner writes a page from
// them on request.
//
// Units:   base units, as the format wants them: seconds, bytes.
// Threads: one context.
// Limits:  telemetry/limits.hpp. Beyond the limit of connections the oldest is closed.
// Cost:    per page, not per event.
// Source:  Prometheus text exposition format 0.0.4.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/histogram.hpp"
#include "http/server.hpp"
#include "io/loop/context.hpp"
#include "io/net/admission.hpp"
#include "io/net/tcp.hpp"
#include "telemetry/limits.hpp"

namespace corro::telemetry {

/// A label of a sample: its name and its value, which may be any text.
using label = std::pair<std::string_view, std::string_view>;

/// Builds one page. The samples of one metric must be consecutive.
class metrics_page {
 public:
    /// A number that only grows while the process runs. The name ends in `_total`.
    void counter(std::string_view name, std::string_view help, std::uint64_t value, std::span<const label> labels);
    void counter(std::string_view name, std::string_view help, std::uint64_t value,
                 std::initializer_list<label> labels = {}) {
        counter(name, help, value, std::span(labels.begin(), labels.size()));
    }
    /// A number that goes up and down.
    void gauge(std::string_view name, std::string_view help, double value, std::span<const label> labels);
    void gauge(std::string_view name, std::string_view help, double value, std::initializer_list<label> labels = {}) {
        gauge(name, help, value, std::span(labels.begin(), labels.size()));
    }
    /// Nanoseconds as a histogram in seconds, with the bucket bounds 0.1 us, 0.2 us, 0.5 us, 1 us and so on up to 1 s.
    void histogram(std::string_view name, std::string_view help, const base::latency_histogram& values_ns,
                   std::initializer_list<label> labels = {});

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
    void describe(std::string_view name, std::string_view help, std::string_view type);
    void sample(std::string_view name, std::string_view suffix, std::span<const label> labels,
                std::string_view extra_label, std::string_view value);

    std::string text_;
    std::string described_;  ///< the current metric
};

struct metrics_server_options {
    metrics_server_options() noexcept {}

    std::size_t connections_max = telemetry::metrics_connections_max;
    std::size_t connections_per_address_max = telemetry::metrics_connections_per_address_max;
    std::uint32_t pages_made_max = telemetry::pages_made_max;
    std::chrono::milliseconds pages_window = telemetry::pages_window;
};

/// Answers GET /metrics with a page; GET /health with 200 as long as its context runs; GET /ready with 200, or with 503
/// and a reason; and all other requests with 404 or 405.
class metrics_server {
 public:
    /// @param collect  Fills a page; called on the context, once per request up to a bound.
    /// @param hindered Returns why the process is not ready, as a sentence; empty when it is. Called like `collect`.
    metrics_server(io::context& context, std::function<void(metrics_page&)> collect,
                   std::function<std::string()> hindered = {},
                   const metrics_server_options& options = metrics_server_options());

    /// Serves until `close` or a stop.
    [[nodiscard]] io::task<void> serve(io::tcp_acceptor acceptor);
    void close() noexcept;

    [[nodiscard]] std::uint64_t evicted_count() const noexcept { return admission_.evicted_count(); }

 private:
    struct visitor;

    io::task<void> converse(std::unique_ptr<visitor> v);
    io::task<void> answer(http::exchange* on);
    [[nodiscard]] const std::string& page();

    io::context& context_;
    metrics_server_options options_;
    std::function<void(metrics_page&)> collect_;
    std::function<std::string()> hindered_;
    io::admission admission_;
    http::server server_;
    io::tcp_acceptor* acceptor_ = nullptr;
    metrics_page latest_;
    io::steady_time window_begin_{};
    std::uint32_t pages_made_ = 0;  ///< since the beginning of the window
    bool closing_ = false;
};

}  // namespace corro::telemetry
