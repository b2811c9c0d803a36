// SPDX-License-Identifier: Apache-2.0
// `corro client`: a trading desk for one person.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "binary_link.hpp"
#include "client/feed_session.hpp"
#include "commands.hpp"
#include "desk_screen.hpp"
#include "fix_link.hpp"
#include "input_lines.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "trading_desk.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds key_interval{15};
constexpr unsigned looks_per_frame = 7;
constexpr unsigned desk_frames_per_second = 10;

struct client_options {
    std::string config = "corro.toml";
    std::string account;
    std::uint32_t session_number = 1;
    std::string symbol;
    std::string fix_name;
    std::string store;
    order_entry_options order_entry;
    std::string feed;
    std::string snapshot;
    bool cancel_on_disconnect = false;
    bool plain = false;
    double patience_seconds = 60;
    double wait_seconds = 0;
};

io::task<void> leave_on_signal(trading_desk* desk, io::signal_set* signals) {
    const auto signal = co_await signals->wait();
    if (signal) desk->leave();
}

// Executes commands from standard input until it ends. Each waits for a connection, so that a script can start at once.
io::task<void> execute_lines(trading_desk* desk) {
    input_lines lines;
    while (!lines.ended()) {
        const std::error_code stopped = co_await io::sleep_for(key_interval);
        if (stopped) co_return;
        if (!desk->connected()) continue;
        if (const std::optional<std::string> line = lines.next()) desk->execute(*line);
    }
    desk->leave();
}

io::task<void> show(trading_desk* desk, desk_screen* screen, std::string headline) {
    for (unsigned look = 0;; ++look) {
        const std::error_code stopped = co_await io::sleep_for(key_interval);
        if (stopped) co_return;
        if (look % (looks_per_frame * desk_frames_per_second) == 0) desk->view().on_second();
        if (screen->handle_keys(*desk) || look % looks_per_frame == 0) screen->draw(*desk, headline);
    }
}

io::task<std::string> trade(desk_settings settings, bool picture, std::string headline) {
    io::context& context = co_await io::this_context();
    io::signal_set signals(context, {SIGINT, SIGTERM});
    std::unique_ptr<desk_screen> screen;
    const auto say = [&screen](const std::string& message) {
        if (screen != nullptr) return screen->add(message);
        fmt::print("{}\n", message);
        std::fflush(stdout);
    };
    trading_desk desk(std::move(settings), say);
    io::task_scope beside(context);
    beside.spawn(leave_on_signal(&desk, &signals));
    if (picture) {
        screen = std::make_unique<desk_screen>();
        beside.spawn(show(&desk, screen.get(), std::move(headline)));
    } else {
        beside.spawn(execute_lines(&desk));
    }
    std::string why = co_await desk.run();
    beside.request_stop();
    co_await beside.join();
    screen.reset();
    fmt::print("{} orders, {} open, {} fills\n", desk.orders().all().size(), desk.orders().open_count(),
               desk.orders().fills().size());
    co_return why;
}

/// A session of the configuration.
struct chosen_session {
    const gateway::account* account = nullptr;
    std::uint32_t number = 1;
};

chosen_session find_fix_session(const node::configuration& c, const client_options& options) {
    std::string names;
    for (const gateway::account& a : c.accounts) {
        for (std::uint32_t number = 1; number <= a.fix_names.size(); ++number) {
            const std::string& name = a.fix_names[number - 1];
            if (name == options.fix_name) return {&a, number};
            if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
        }
    }
    throw node::configuration_error(
        fmt::format("{} has no [[fix_session]] \"{}\"; it has: {}", options.config, options.fix_name, names));
}

chosen_session find_session(const node::configuration& c, const client_options& options) {
    const gateway::account* account = nullptr;
    std::string names;
    for (const gateway::account& a : c.accounts) {
        names += (names.empty() ? "" : ", ") + a.name;
        if (account == nullptr && (options.account.empty() || a.name == options.account)) account = &a;
    }
    if (account == nullptr) {
        throw node::configuration_error(
            fmt::format("{} has no account \"{}\"; it has: {}", options.config, options.account, names));
    }
    if (options.session_number < 1 || options.session_number > account->sessions_count) {
        throw node::configuration_error(
            fmt::format("account \"{}\" has the sessions 1 to {} in {}; it has no session {}", account->name,
                        account->sessions_count, options.config, options.session_number));
    }
    if (account->speaks_fix(static_cast<std::uint32_t>(options.session_number))) {
        throw node::configuration_error(fmt::format("session {} of account \"{}\" speaks FIX in {}; choose another one",
                                                    options.session_number, account->name, options.config));
    }
    return {account, options.session_number};
}

std::unique_ptr<trading_link> binary_link_of(const chosen_session& chosen, client::venue_endpoint venue,
                                             const client_options& options) {
    client::credentials who;
    who.account = chosen.account->id;
    who.key = chosen.account->key;
    who.session_number = chosen.number;
    who.cancel_on_disconnect = options.cancel_on_disconnect;
    who.heartbeat = std::chrono::milliseconds(1000);
    who.next_answer = 1;  // all messages that the venue still has, so that earlier orders are shown too
    return std::make_unique<binary_link>(std::move(venue), who, options.patience_seconds, options.wait_seconds);
}

// FIX has no definitions at the logon: they are the configuration's, and those that the market data has in addition.
std::unique_ptr<trading_link> fix_link_of(const chosen_session& chosen, fix_endpoint venue,
                                          const node::configuration& c, const client_options& options) {
    fix_link_settings settings;
    settings.venue = std::move(venue);
    settings.who.name = options.fix_name;
    settings.who.venue_name = c.fix_comp_id;
    settings.who.key = chosen.account->key;
    settings.who.cancel_on_disconnect = options.cancel_on_disconnect;
    settings.session_number = chosen.number;
    settings.store = options.store;
    settings.patience_seconds = options.patience_seconds;
    settings.wait_seconds = options.wait_seconds;
    for (const domain::instrument& i : c.instruments) settings.instruments.define(i);
    return std::make_unique<fix_link>(std::move(settings));
}

int run_client(const client_options& options) {
    const node::configuration c = node::load_configuration(options.config);
    const bool by_fix = !options.fix_name.empty();
    if (by_fix && !options.account.empty()) {
        throw node::configuration_error("--fix names a session and its account: leave out --account");
    }
    const chosen_session chosen = by_fix ? find_fix_session(c, options) : find_session(c, options);
    desk_settings settings;
    std::string address;
    if (by_fix) {
        fix_endpoint venue = fix_order_entry_of(c, options.config, options.order_entry);
        address = venue.to_string();
        settings.link = fix_link_of(chosen, std::move(venue), c, options);
    } else {
        client::venue_endpoint venue = order_entry_of(c, options.config, options.order_entry);
        address = venue.to_string();
        settings.link = binary_link_of(chosen, std::move(venue), options);
    }
    io::context context;
    feed_addresses market{options.feed, options.snapshot};
    if (market.feed.empty() || market.snapshot.empty()) {
        auto found = io::block_on(context, find_feed(c, options.symbol));
        // The desk reports an unknown instrument, and shows the first one.
        if (!found) found = io::block_on(context, find_feed(c, ""));
        market = *found;
    }
    settings.feed = parse_address(options.feed.empty() ? market.feed : options.feed);
    settings.snapshot = parse_address(options.snapshot.empty() ? market.snapshot : options.snapshot);
    settings.symbol = options.symbol;
    const bool picture = !options.plain && can_show_pictures("corro client");
    std::string headline =
        fmt::format("corro client   {}   {}", by_fix ? options.fix_name : chosen.account->name, address);
    const std::string why = io::block_on(context, trade(std::move(settings), picture, std::move(headline)));
    if (why.empty()) return 0;
    fmt::print(stderr, "corro client: {}\n", why);
    return 1;
}

}  // namespace

void add_client_command(command_line& line) {
    auto options = std::make_shared<client_options>();
    const subcommand command = line.add_subcommand("client", "Trade by hand: orders, ladder, tape, typed commands");
    command.add_option("-c,--config", options->config, "The exchange's configuration: addresses, accounts and keys")
        .shows_default();
    command.add_option("-a,--account", options->account, "Name of the account (default: the first)");
    command.add_option("--session", options->session_number, "Number of the account's session")
        .shows_default()
        .in_range(1U, 1'000'000U);
    command.add_option("--fix", options->fix_name, "Log on by FIX, as the [[fix_session]] of this name");
    command
        .add_option("--store", options->store,
                    "File with the session's numbers; without it they begin at 1 with each start")
        .needs("--fix");
    command.add_option("symbol", options->symbol, "Instrument to show first");
    add_order_entry_options(command, options->order_entry);
    command.add_option("--feed", options->feed, "Address of the feed, instead of the configuration's");
    command.add_option("--snapshot", options->snapshot, "Address of the snapshots, instead of the configuration's");
    command.add_flag("--cancel-on-disconnect", options->cancel_on_disconnect,
                     "Ask the venue to cancel the open orders when the connection is lost");
    command.add_flag("--plain", options->plain,
                     "Read commands from standard input and print a line per message (always without a terminal)");
    command.add_option("--patience", options->patience_seconds, "Seconds to retry a lost connection")
        .shows_default()
        .not_negative();
    command.add_option("--wait", options->wait_seconds, "Seconds to wait for a venue that is starting")
        .shows_default()
        .not_negative();
    command.footer(
        "Commands, one per line (TAB completes them on a terminal):\n  buy 10 ESZ6 5998.75     sell 5 market"
        "     amend 3 price 5999     cancel 3     cancel all\n  orders  fills  positions  show SYMBOL  help [WORD]  "
        "quit");
    command.runs([options] { return run_client(*options); });
}

}  // namespace corro::app
