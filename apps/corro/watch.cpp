// SPDX-License-Identifier: Apache-2.0
// `corro watch`: shows the market live from the public feed.

#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>

#include "commands.hpp"
#include "io/loop/context.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "market_watch.hpp"
#include "node/configuration/configuration.hpp"
#include "screen.hpp"
#include "stop_on_signal.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

struct watch_options {
    std::string config;
    std::string feed;
    std::string snapshot;
    std::string symbol;
    bool plain = false;
    double seconds = 0;
    double patience_s = 30;
    double wait_s = 0;
};

io::task<watch_result> watch_until_signal(watch_settings settings) {
    io::context& context = co_await io::this_context();
    io::signal_set signals(context, {SIGINT, SIGTERM});
    watch_result result;
    io::task_scope watching(context);
    io::task_scope waiting(context);
    waiting.spawn(stop_on_signal(&watching, &signals));
    watching.spawn(watch_market_into(std::move(settings), &result));
    co_await watching.join();
    waiting.request_stop();
    co_await waiting.join();
    co_return result;
}

/// An address as those of order entry: "shm:PATH" and "unix:PATH" too.
client::venue_endpoint parse_feed_address(const std::string& text) {
    const auto local = client::venue_endpoint::parse(text);
    return local ? *local : client::venue_endpoint(parse_address(text));
}

int watch(const watch_options& options) {
    watch_settings settings;
    feed_addresses market{"127.0.0.1:7002", "127.0.0.1:7003"};
    io::context context;
    // Addresses that are given replace those of the configuration, whatever partition they belong to.
    if (!options.config.empty() && (options.feed.empty() || options.snapshot.empty())) {
        const auto found = io::block_on(context, find_feed(node::load_configuration(options.config), options.symbol));
        if (!found) throw std::runtime_error(found.error());
        market = *found;
    }
    const std::string& feed = options.feed.empty() ? market.feed : options.feed;
    const std::string& snapshot = options.snapshot.empty() ? market.snapshot : options.snapshot;
    settings.feed = parse_feed_address(feed);
    settings.snapshot = parse_address(snapshot);
    settings.symbol = options.symbol;
    settings.seconds = options.seconds;
    settings.patience_s = options.patience_s;
    settings.wait_s = options.wait_s;
    settings.picture = !options.plain && can_show_pictures("corro watch");
    settings.headline = fmt::format("corro watch  {}", feed);
    const watch_result result = io::block_on(context, watch_until_signal(std::move(settings)));
    fmt::print("saw {} messages and {} trades\n", result.messages, result.trades);
    if (result.resumes + result.joins > 1) {
        fmt::print("the feed was lost {} times, {} of them without missed messages; the longest outage was {:.3f} s\n",
                   result.resumes + result.joins - 1, result.resumes, result.away_s_max);
    }
    if (result.error.empty()) return 0;
    fmt::print(stderr, "corro watch: {}\n", result.error);
    if (result.joins == 0) fmt::print(stderr, "Is the exchange running? Start one with: corro demo\n");
    return 1;
}

}  // namespace

void add_watch_command(command_line& line) {
    auto options = std::make_shared<watch_options>();
    const subcommand command = line.add_subcommand("watch", "Watch an instrument: ladder, trades, rates");
    command.add_option("symbol", options->symbol, "Instrument to show first");
    command.add_option("-c,--config", options->config, "Configuration of the exchange, for its addresses");
    command.add_option("--feed", options->feed,
                       "Address of the feed, or shm:PATH (default: the configuration's; without one 127.0.0.1:7002)");
    command.add_option("--snapshot", options->snapshot,
                       "Address of the snapshots (default: the configuration's; without one 127.0.0.1:7003)");
    command.add_flag("--plain", options->plain, "Print a line per second, also on a terminal");
    command.add_option("--patience", options->patience_s, "Seconds to retry a lost feed")
        .shows_default()
        .not_negative();
    command.add_option("--wait", options->wait_s, "Seconds to wait for a venue that is starting")
        .shows_default()
        .not_negative();
    command.add_option("--seconds", options->seconds, "Seconds until the end; 0: until Ctrl-C")
        .shows_default()
        .not_negative();
    command.runs([options] { return watch(*options); });
}

}  // namespace corro::app
