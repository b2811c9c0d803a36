#include "node/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "io/scope.hpp"
#include "io/yield.hpp"

namespace corro::node {
namespace {

io::endpoint address_of(const std::string& text, const char* key) {
    const auto endpoint = io::endpoint::parse(text);
    if (!endpoint) {
        throw configuration_error(
            fmt::format("{}: expected an address such as \"127.0.0.1:7001\", found \"{}\"", key, text));
    }
    return *endpoint;
}

io::tcp_acceptor open_port(io::context& context, const std::string& address, const char* key) {
    auto acceptor = io::tcp_acceptor::open(context, address_of(address, key));
    if (!acceptor) {
        throw std::system_error(acceptor.error(), fmt::format("{}: cannot listen on {}", key, address));
    }
    return std::move(*acceptor);
}

gateway::account_directory directory_of(const configuration& c) {
    gateway::account_directory directory;
    for (const gateway::account& a : c.accounts) {
        if (const std::string problem = directory.add(a); !problem.empty()) {
            throw configuration_error(fmt::format("account {}: {}", a.id.value, problem));
        }
    }
    return directory;
}

facility::facility_options facility_options_of(const configuration& c) {
    facility::facility_options options;
    options.orders_max = c.orders_max;
    for (const gateway::account& a : c.accounts) options.accounts_max = std::max(options.accounts_max, a.id.value + 1);
    options.positions_max = std::max<std::uint32_t>(options.positions_max, c.orders_max);
    return options;
}

gateway::gateway_options gateway_options_of(const configuration& c) {
    gateway::gateway_options options;
    options.logon_timeout = c.logon_timeout;
    options.output_buffer_bytes = c.output_buffer_bytes;
    options.timing_sample_every = c.timing_sample_every;
    return options;
}

gateway::answer_log_options answer_options_of(const configuration& c) {
    gateway::answer_log_options options;
    options.answers_max = c.answers_kept;
    options.session_answers_max = c.session_answers_kept;
    return options;
}

market_data::distributor_options distributor_options_of(const configuration& c) {
    market_data::distributor_options options;
    options.session_name = c.venue_name;
    options.feed_log_bytes = c.feed_log_bytes;
    return options;
}

std::unique_ptr<market_data::line_publisher> open_lines(io::context& context, const configuration& c,
                                                        const market_data::feed_log& log) {
    if (c.lines.empty()) return nullptr;
    market_data::line_publisher_options options;
    options.session_name = c.venue_name;
    for (const std::string& line : c.lines) options.lines.push_back(address_of(line, "market_data.lines"));
    if (!c.retransmission_listen.empty()) {
        options.retransmissions = address_of(c.retransmission_listen, "market_data.retransmission_listen");
    }
    options.multicast_interface = c.multicast_interface;
    options.multicast_hops = c.multicast_hops;
    auto publisher = market_data::line_publisher::open(context, options, log);
    if (!publisher) throw std::system_error(publisher.error(), "market_data.lines: cannot open the sockets");
    return std::move(*publisher);
}

}  // namespace

exchange::exchange(io::context& context, const configuration& c)
    : start_ticks_(clock_.now_ticks()),
      start_ns_(
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count()),
      accounts_(directory_of(c)),
      commands_(gateway::command_queue_capacity),
      answers_(accounts_.sessions_count(), answer_options_of(c)),
      facility_(facility_options_of(c), c.instruments, *this),
      gateway_(context, gateway_options_of(c), c.instruments, accounts_, commands_, answers_, clock_),
      distributor_(context, distributor_options_of(c), c.instruments),
      lines_(open_lines(context, c, distributor_.log())),
      context_(context),
      order_entry_(open_port(context, c.order_entry_listen, "order_entry.listen")),
      feed_(open_port(context, c.feed_listen, "market_data.feed_listen")),
      snapshots_(open_port(context, c.snapshot_listen, "market_data.snapshot_listen")),
      order_entry_endpoint_(*order_entry_.local_endpoint()),
      feed_endpoint_(*feed_.local_endpoint()),
      snapshot_endpoint_(*snapshots_.local_endpoint()) {}

exchange::~exchange() = default;

io::task<void> exchange::run() {
    io::task_scope pumping(context_);
    pumping.spawn(pump());
    io::task_scope publishing(context_);
    publishing.spawn(distributor_.serve_feed(std::move(feed_)));
    publishing.spawn(distributor_.serve_snapshots(std::move(snapshots_)));
    if (lines_ != nullptr) publishing.spawn(lines_->run());
    co_await gateway_.serve(std::move(order_entry_));
    // The last sessions may have left cancels behind; they are answered and published before the feed ends.
    while (!commands_.empty()) co_await io::yield();
    distributor_.close();
    if (lines_ != nullptr) lines_->close();
    co_await publishing.join();
    pumping.request_stop();
    co_await pumping.join();
}

io::task<void> exchange::pump() {
    domain::command command;
    while (true) {
        for (std::size_t i = 0; i < batch_max && commands_.try_pop(command); ++i) apply(command);
        commands_.room().set();
        gateway_.flush();
        distributor_.flush();
        if (lines_ != nullptr) lines_->flush();
        if (!commands_.empty()) {
            co_await io::yield();
        } else if (co_await commands_.filled().wait()) {
            co_return;  // stopped
        }
    }
}

// Gives a command its place and time, applies it, and notes how long it took if it was sampled.
void exchange::apply(domain::command& command) {
    command.sequence = domain::sequence_number{++sequence_};
    const std::uint64_t elapsed_ns = clock_.between_ns(start_ticks_, clock_.now_ticks());
    command.time = domain::time_ns{start_ns_ + static_cast<std::int64_t>(elapsed_ns)};
    answers_.note(command);
    facility_.apply(command);
    gateway::request_timing timing;
    if (commands_.try_pop_timing(timing)) {
        latencies_.record(timing.kind, clock_.between_ns(timing.received_ticks, timing.decoded_ticks),
                          clock_.between_ns(timing.decoded_ticks, clock_.now_ticks()));
    }
}

void exchange::consume(std::span<const domain::event> events) noexcept {
    for (const domain::event& event : events) {
        if (domain::is_public(event.kind)) {
            distributor_.publish(event);
        } else {
            gateway_.deliver(event);
        }
    }
}

}  // namespace corro::node
