// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::telemetry {
namespace {

constexpr double ns_per_second = 1e9;

// Three bounds to a power of ten, from a tenth of a microsecond to a second.
constexpr std::array<std::uint64_t, 22> bounds_ns = {
    100,        200,        500,         1'000,       2'000,       5'000,        10'000,    20'000,
    50'000,     100'000,    200'000,     500'000,     1'000'000,   2'000'000,    5'000'000, 10'000'000,
    20'000'000, 50'000'000, 100'000'000, 200'000'000, 500'000'000, 1'000'000'000};

void append_escaped(std::string_view value, std::string& to) {
    for (const char c : value) {
        if (c == '\n') {
            to += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') to += '\\';
        to += c;
    }
}

}  // namespace

void metrics_page::describe(std::string_view name, std::string_view help, std::string_view type) {
    if (described_ == name) return;
    described_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void metrics_page::sample(std::string_view name, std::string_view suffix, std::span<const label> labels,
                          std::string_view extra_label, std::string_view value) {
    text_ += name;
    text_ += suffix;
    if (!labels.empty() || !extra_label.empty()) {
        text_ += '{';
        bool is_first = true;
        for (const auto& [key, text] : labels) {
            if (!is_first) text_ += ',';
            is_first = false;
            text_ += key;
            text_ += "=\"";
            append_escaped(text, text_);
            text_ += '"';
        }
        if (!extra_label.empty()) {
            if (!is_first) text_ += ',';
            text_ += extra_label;
        }
        text_ += '}';
    }
    text_ += ' ';
    text_ += value;
    text_ += '\n';
}

void metrics_page::counter(std::string_view name, std::string_view help, std::uint64_t value,
                           std::span<const label> labels) {
    describe(name, help, "counter");
    sample(name, {}, labels, {}, fmt::format("{}", value));
}

void metrics_page::gauge(std::string_view name, std::string_view help, double value, std::span<const label> labels) {
    describe(name, help, "gauge");
    sample(name, {}, labels, {}, fmt::format("{}", value));
}

void metrics_page::histogram(std::string_view name, std::string_view help, const base::latency_histogram& values_ns,
                             std::initializer_list<label> labels) {
    describe(name, help, "histogram");
    const std::span<const label> all(labels.begin(), labels.size());
    for (const std::uint64_t bound : bounds_ns) {
        sample(name, "_bucket", all, fmt::format("le=\"{}\"", static_cast<double>(bound) / ns_per_second),
               fmt::format("{}", values_ns.count_at_or_below(bound)));
    }
    sample(name, "_bucket", all, "le=\"+Inf\"", fmt::format("{}", values_ns.count()));
    const double sum = values_ns.mean() * static_cast<double>(values_ns.count()) / ns_per_second;
    sample(name, "_sum", all, {}, fmt::format("{}", values_ns.empty() ? 0.0 : sum));
    sample(name, "_count", all, {}, fmt::format("{}", values_ns.count()));
}

/// One connection.
struct metrics_server::visitor final : io::admission::guest {
    explicit visitor(io::tcp_stream s) : stream(std::move(s)) {}

    void evict() noexcept override {
        evicted = true;
        if (scope != nullptr) scope->request_stop();
    }

    io::tcp_stream stream;
    io::task_scope* scope = nullptr;  ///< the scope of its task
    bool evicted = false;
};

namespace {

io::admission_options door_of(const metrics_server_options& options) {
    io::admission_options door;
    door.guests_max = options.connections_max;
    door.per_address_max = options.connections_per_address_max;
    door.reserved_for_proven = 0;  // there is no authentication here
    return door;
}

/// The time limit for sending the last page when the server closes.
constexpr std::chrono::milliseconds last_page_timeout{1'000};

}  // namespace

metrics_server::metrics_server(io::context& context, std::function<void(metrics_page&)> collect,
                               std::function<std::string()> hindered, const metrics_server_options& options)
    : context_(context),
      options_(options),
      collect_(std::move(collect)),
      hindered_(std::move(hindered)),
      admission_(door_of(options)),
      server_(context, [this](http::exchange* on) { return answer(on); }) {}

void metrics_server::close() noexcept {
    closing_ = true;
    if (acceptor_ != nullptr) acceptor_->close();
    server_.drain();
}

io::task<void> metrics_server::serve(io::tcp_acceptor acceptor) {
    acceptor_ = &acceptor;
    io::task_scope conversations(context_);
    while (!closing_) {
        auto accepted = co_await acceptor.accept();
        if (!accepted) break;  // closed or stopped
        auto v = std::make_unique<visitor>(std::move(*accepted));
        const auto from = v->stream.remote_endpoint();
        if (!admission_.enter(*v, from ? std::optional(*from) : std::nullopt)) continue;
        conversations.spawn(converse(std::move(v)));
    }
    acceptor_ = nullptr;
    static_cast<void>(co_await io::with_timeout(last_page_timeout, conversations.join()));
}

io::task<void> metrics_server::converse(std::unique_ptr<visitor> v) {
    if (v->evicted) co_return;
    static_cast<void>(v->stream.set_option(io::no_delay(true)));
    io::task_scope serving(context_);
    v->scope = &serving;
    serving.spawn(server_.serve_stream(io::any_stream(std::move(v->stream))));
    co_await serving.join();
    v->scope = nullptr;
}

// A new page, or the last one when this window's limit is reached.
const std::string& metrics_server::page() {
    const io::steady_time now = context_.now();
    if (now - window_begin_ >= options_.pages_window) {
        window_begin_ = now;
        pages_made_ = 0;
    }
    if (pages_made_ < options_.pages_made_max) {
        ++pages_made_;
        latest_ = metrics_page();
        latest_.gauge("corro_build_info", "Always 1; the label has the version.", 1, {{"version", CORRO_VERSION}});
        collect_(latest_);
    }
    return latest_.text();
}

io::task<void> metrics_server::answer(http::exchange* on) {
    const bool is_read = on->request().method == http::method::get || on->request().method == http::method::head;
    const std::string_view path = on->request().path;
    if (path != "/metrics" && path != "/ready" && path != "/health") {
        on->respond(404, "text/plain", "The metrics are at /metrics; see also /ready and /health.\n");
    } else if (!is_read) {
        on->respond(405, "text/plain", "Use GET.\n");
    } else if (path == "/health") {
        on->respond(200, "text/plain", "The process runs.\n");
    } else if (path == "/ready") {
        const std::string why = hindered_ ? hindered_() : std::string();
        on->respond(why.empty() ? 200 : 503, "text/plain", why.empty() ? "The process is ready.\n" : why + "\n");
    } else {
        on->respond(200, "text/plain; version=0.0.4; charset=utf-8", page());
    }
    co_return;
}

}  // namespace corro::telemetry
