// SPDX-License-Identifier: Apache-2.0
// `corro serve`: runs the exchange.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api_thread.hpp"
#include "backend.hpp"
#include "commands.hpp"
#include "io/loop/context.hpp"
#include "io/process/signals.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "journal_news.hpp"
#include "node/configuration/configuration.hpp"
#include "node/configuration/file_access.hpp"
#include "node/links/api_keys.hpp"
#include "node/links/api_role.hpp"
#include "node/links/distributor_role.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/account_changes.hpp"
#include "node/venue/ports.hpp"
#include "node/venue/venue.hpp"
#include "process.hpp"
#include "report.hpp"
#include "supervisor.hpp"
#include "test_clock.hpp"
#include "when_free.hpp"

namespace corro::app {
namespace {

struct serve_options {
    std::string config = "corro.toml";
    std::string listen;
    std::string threading;
    std::string io = "auto";
    std::string clock;
    std::string role = "all";
    std::string gateway;
    std::string metrics;
    std::string event_log;
    std::vector<std::string> venue_feed;
    std::vector<std::string> venue_snapshots;
    std::string venue_orders;
    std::string partition;
    std::string open_files = "refuse";
    std::uint32_t sample_every = 0;
    bool sample_given = false;
};

/// The machine of the whole process, which outlives every context.
io::platform& machine_of(const serve_options& options) {
    io::platform& real = platform_named(options.io);
    if (options.clock.empty()) return real;
    static const std::unique_ptr<io::platform> shifted = platform_with_clock(real, options.clock);
    return *shifted;
}

std::vector<const node::host_journal*> journals_of(const node::venue& venue) {
    std::vector<const node::host_journal*> all;
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) all.push_back(venue.at(k).journal.get());
    return all;
}

/// Refuses to start if other users can read or change a file with keys, unless the option allows it.
void close_on_exec(const serve_options& options, const std::string& problem) {
    if (problem.empty()) return;
    if (options.open_files == "refuse") {
        throw node::configuration_error(problem + ", or start with --open-files warn");
    }
    fmt::print(stderr, "corro serve: {}\n", problem);
}

/// Reads the configuration for a server: it allocates its memory before it opens.
node::configuration configuration_of_server(const serve_options& options) {
    node::configuration c = node::load_configuration(options.config);
    c.touch = base::page_touch::yes;
    const bool is_public = c.keys_are_public && c.link_secret == wire::api_key{};
    close_on_exec(options, node::open_to_others(options.config, is_public));
    if (!c.order_entry_private_key.empty()) {
        close_on_exec(options, node::open_to_others(c.order_entry_private_key, false));
    }
    return c;
}

void print_outcome(const serve_options& options, const node::reread_outcome& outcome) {
    for (const std::string& problem : outcome.problems) {
        fmt::print(stderr, "corro serve: {}: the keys stay unchanged: {}\n", options.config, problem);
    }
    if (outcome.problems.empty()) {
        fmt::print("{}: the accounts now have the keys of this file; {} accounts are new, {} have changed limits\n",
                   options.config, outcome.accounts_added, outcome.limits_changed);
    }
    for (const std::string& each : outcome.waiting) fmt::print(stderr, "corro serve: {}: {}\n", options.config, each);
    std::fflush(stdout);
}

// Reads accounts, keys and limits of the file again at each SIGHUP. A separate task, because the journal may take time.
template <class Served>
io::task<void> handle_sighup(Served* served, const serve_options* options, io::auto_event* asked) {
    while (true) {
        const std::error_code stopped = co_await asked->wait();
        if (stopped) co_return;
        node::reread_outcome outcome;
        std::optional<node::configuration> read;
        try {
            read = configuration_of_server(*options);
        } catch (const std::exception& e) {
            outcome.problems.emplace_back(e.what());
        }
        if constexpr (requires { served->reread(std::move(*read)); }) {
            if (read) outcome = co_await served->reread(std::move(*read));
            print_outcome(*options, outcome);
        } else {
            fmt::print(stderr, "corro serve: this role has no keys\n");
        }
    }
}

// SIGUSR1 prints the tables, SIGUSR2 writes a snapshot, SIGHUP reads the keys again. The first SIGINT or SIGTERM closes
// the venue; the second does not wait for slow logouts.
io::task<void> handle_signals(node::venue* venue, io::auto_event* hangup, io::signal_set* signals,
                              io::context* context) {
    bool closing = false;
    while (true) {
        const auto signal = co_await signals->wait();
        if (!signal) co_return;
        if (*signal == SIGUSR1) {
            print_report(*venue, false);
        } else if (*signal == SIGUSR2) {
            venue->write_snapshot();
        } else if (*signal == SIGHUP) {
            hangup->set();
        } else if (closing) {
            context->stop();
        } else {
            closing = true;
            tell_supervisor("STOPPING=1");
            fmt::print("closing: no new connections, a logout to every session\n");
            std::fflush(stdout);
            venue->close();
        }
    }
}

// Runs the server and a task that waits for signals. Joins that task also if the server fails.
template <class Served>
io::task<void> run_watched(Served* served, io::task_scope* watching) {
    std::exception_ptr failed;
    try {
        co_await served->run();
    } catch (...) {
        failed = std::current_exception();
    }
    watching->request_stop();
    co_await watching->join();
    if (failed) std::rethrow_exception(failed);
}

io::task<void> serve_until_closed(node::venue* venue, const serve_options* options, io::context* context) {
    io::signal_set signals(*context, {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP});
    release_signals();
    io::task_scope watching(*context);
    io::auto_event hangup;
    watching.spawn(handle_sighup(venue, options, &hangup));
    watching.spawn(handle_signals(venue, &hangup, &signals, context));
    watching.spawn(print_journal_news(journals_of(*venue)));
    watching.spawn(report_to_supervisor());
    co_await run_watched(venue, &watching);
}

/// Where the facilities of a venue run.
const char* threads_of(const node::configuration& c) {
    if (c.threading == node::threading_mode::inline_) return "on one thread";
    return c.partitions.empty() ? "the facility on its own thread" : "each partition on its own thread";
}

/// ", in 3 partitions" of a divided venue.
std::string division_of(const node::configuration& c) {
    return c.partitions.empty() ? std::string() : fmt::format(" in {} partitions", c.partitions.size());
}

void print_watching(const std::optional<io::endpoint>& metrics, const node::configuration& c) {
    if (metrics) fmt::print("  metrics      http://{}/metrics\n", metrics->to_string());
    if (!c.event_log.directory.empty()) fmt::print("  event log    {}\n", c.event_log.directory);
}

void print_partition(const node::partition& p) {
    if (p.is_of_several()) fmt::print("partition {} with {} instruments\n", p.name(), p.own.instruments.size());
    fmt::print("  feed         {}\n  snapshots    {}\n", p.feed.feed_endpoint().to_string(),
               p.feed.snapshot_endpoint().to_string());
    for (const std::string& line : p.own.lines) fmt::print("  line         {}\n", line);
    if (const auto depth = p.feed.depth_endpoint()) fmt::print("  depth        {}\n", depth->to_string());
    if (const auto fix = p.feed.fix_endpoint()) fmt::print("  FIX data     {}\n", fix->to_string());
    if (p.feed.lines() != nullptr && p.feed.lines()->retransmission_endpoint()) {
        fmt::print("  lost packets {}\n", p.feed.lines()->retransmission_endpoint()->to_string());
    }
    if (p.journal == nullptr) return;
    fmt::print("  journal      {}, {}; {} commands replayed, state hash {:016x}\n", p.own.journal_directory,
               journal::name_of(p.own.durability), p.journal->replayed_count(), p.host.state().state_hash());
    if (p.journal->snapshot_sequence() != 0) {
        fmt::print("  snapshot     of command {}\n", p.journal->snapshot_sequence());
    }
    for (const std::string& notice : p.journal->notices()) fmt::print("  notice       {}\n", notice);
}

void print_partitions(const node::venue& venue, const node::configuration& c) {
    print_watching(venue.metrics_endpoint(), c);
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) print_partition(venue.at(k));
}

/// Applies the options that replace values of the file.
void override_threading(const serve_options& options, node::configuration& c) {
    if (options.threading.empty()) return;
    c.threading = options.threading == "split" ? node::threading_mode::split : node::threading_mode::inline_;
}

/// For a part of a venue. The file's metrics and event log belong to the facility. Another process with the same file
/// cannot use them; it gets its own on the command line.
/// With another address for order entry, the ports for FIX are left to the process that has the configuration's.
void listen_elsewhere(node::configuration& c, const serve_options& options) {
    if (options.listen.empty()) return;
    c.order_entry_listen = options.listen;
    c.fix_listen.clear();
    c.fix_tls_listen.clear();
}

node::configuration configuration_of_role(const serve_options& options) {
    node::configuration c = configuration_of_server(options);
    if (options.role != "facility" || !options.metrics.empty()) c.metrics_listen = options.metrics;
    if (options.role != "facility" || !options.event_log.empty()) c.event_log.directory = options.event_log;
    return c;
}

/// Runs a venue that was started, and stops it when its run cannot begin.
void run_started(io::context& context, node::venue& venue, io::task<void> work) {
    try {
        io::block_on(context, std::move(work));
    } catch (...) {
        io::block_on(context, venue.stop());
        throw;
    }
}

void print_api(const node::api_role& web) {
    for_each_address(web, [](const char* http, const char* ws, const std::string& at) {
        if (!dashboard_files().empty()) fmt::print("  dashboard    {}://{}/\n", http, at);
        fmt::print("  API          {}://{}/ws/api/v2, {}://{}/api/v2/public/...\n", ws, at, http, at);
    });
}

/// A venue whose ports are open.
struct started_venue {
    template <class... More>
    started_venue(const io::context_options& options, const node::configuration& c, More&&... more)
        : context(options), venue(context, c, std::forward<More>(more)...) {
        io::block_on(context, venue.start());
    }

    io::context context;
    node::venue venue;
};

/// Starts the API beside the venue; ends the venue when the API's port cannot be opened.
std::unique_ptr<api_thread> start_web(io::context& context, node::venue& venue, const node::configuration& c,
                                      const std::vector<api::api_key>& keys) {
    try {
        return when_free([&] { return start_api(c, venue, keys); });
    } catch (...) {
        io::block_on(context, venue.stop());
        throw;
    }
}

int serve(const serve_options& options) {
    raise_descriptor_limit();
    node::configuration configuration = configuration_of_server(options);
    listen_elsewhere(configuration, options);
    override_threading(options, configuration);
    if (!options.metrics.empty()) configuration.metrics_listen = options.metrics;
    if (!options.event_log.empty()) configuration.event_log.directory = options.event_log;
    if (options.sample_given) configuration.timing_sample_every = options.sample_every;
    const std::vector<api::api_key> keys = node::load_api_keys(configuration);
    report_descriptors(node::descriptors_needed(configuration));
    io::context_options loop(machine_of(options));
    loop.busy_poll = configuration.order_entry_busy_poll;
    const auto started = when_free([&] { return std::make_unique<started_venue>(loop, configuration); });
    io::context& context = started->context;
    node::venue& venue = started->venue;
    fmt::print("corro {} serves venue {} with {} instruments{} on {}, {}\n", CORRO_VERSION, configuration.venue_name,
               configuration.instruments.size(), division_of(configuration), context.backend_name(),
               threads_of(configuration));
    fmt::print("  order entry  {}\n", venue.order_entry_endpoint().to_string());
    if (const auto fix = venue.fix_endpoint()) fmt::print("  FIX          {}\n", fix->to_string());
    const std::unique_ptr<api_thread> web = start_web(context, venue, configuration, keys);
    if (web != nullptr) print_api(web->role());
    print_partitions(venue, configuration);
    fmt::print("Ctrl-C closes it; SIGUSR1 prints the latency tables, SIGUSR2 writes a snapshot.\n");
    std::fflush(stdout);
    run_started(context, venue, serve_until_closed(&venue, &options, &context));
    print_report(venue, true);
    return venue.failure() == nullptr ? 0 : 1;
}

// The first SIGINT or SIGTERM closes the role. SIGUSR2 makes a facility write a snapshot. Only a venue in one process
// has latency tables; SIGUSR1 must not end other roles.
template <class Role>
io::task<void> run_until_closed(Role* role, const serve_options* options, io::context* context) {
    const auto obey = [](Role* what, io::auto_event* hangup, io::signal_set* signals) -> io::task<void> {
        while (true) {
            const auto signal = co_await signals->wait();
            if (!signal) co_return;
            if (*signal == SIGINT || *signal == SIGTERM) break;
            if (*signal == SIGUSR1) {
                fmt::print(stderr, "corro serve: this role has no latency tables\n");
                continue;
            }
            if (*signal == SIGHUP) {
                hangup->set();
                continue;
            }
            if constexpr (requires { what->write_snapshot(); }) what->write_snapshot();
        }
        tell_supervisor("STOPPING=1");
        what->close();
    };
    io::signal_set signals(*context, {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP});
    release_signals();
    io::task_scope watching(*context);
    io::auto_event hangup;
    watching.spawn(handle_sighup(role, options, &hangup));
    watching.spawn(obey(role, &hangup, &signals));
    if constexpr (requires { journals_of(*role); }) watching.spawn(print_journal_news(journals_of(*role)));
    watching.spawn(report_to_supervisor());
    co_await run_watched(role, &watching);
}

/// The configuration of the partition whose feed a distributor publishes.
node::configuration configuration_of_distributor(const serve_options& options) {
    node::configuration c = configuration_of_role(options);
    if (c.partitions.empty()) {
        if (options.partition.empty()) return c;
        throw node::configuration_error("--partition: the venue has no partitions");
    }
    std::string names;
    for (std::size_t k = 0; k < c.partitions.size(); ++k) {
        if (c.partitions[k].name == options.partition) return node::configuration_of_partition(c, k);
        names += (names.empty() ? "" : ", ") + c.partitions[k].name;
    }
    throw node::configuration_error(
        fmt::format("the venue has partitions, each with its own feed: choose one with --partition: {}", names));
}

int distribute(const serve_options& options) {
    raise_descriptor_limit();
    const node::configuration configuration = configuration_of_distributor(options);
    if (options.venue_feed.size() != 1 || options.venue_snapshots.size() != 1) {
        throw node::configuration_error(
            "a distributor needs its venue's ports: --venue-feed ADDRESS and --venue-snapshots ADDRESS");
    }
    io::context context(io::context_options(machine_of(options)));
    const io::endpoint feed = node::address_of(options.venue_feed[0], "--venue-feed");
    const io::endpoint snapshots = node::address_of(options.venue_snapshots[0], "--venue-snapshots");
    const auto made =
        when_free([&] { return std::make_unique<node::distributor_role>(context, configuration, feed, snapshots); });
    node::distributor_role& distributor = *made;
    fmt::print("corro {} distributes the feed of venue {} on {}\n  feed         {}\n  snapshots    {}\n", CORRO_VERSION,
               configuration.venue_name, context.backend_name(), distributor.feed_endpoint().to_string(),
               distributor.snapshot_endpoint().to_string());
    if (const auto fix = distributor.fix_endpoint()) fmt::print("  FIX data     {}\n", fix->to_string());
    print_watching(distributor.metrics_endpoint(), configuration);
    fmt::print("It publishes as soon as the venue runs. Ctrl-C closes it.\n");
    std::fflush(stdout);
    io::block_on(context, run_until_closed(&distributor, &options, &context));
    if (!distributor.failure().empty()) fmt::print(stderr, "{}\n", distributor.failure());
    return distributor.failure().empty() ? 0 : 1;
}

/// The feeds of an API's venue: one per partition.
std::vector<api::feed_address> feeds_of(const serve_options& options, const node::configuration& c) {
    const std::size_t count = std::max<std::size_t>(c.partitions.size(), 1);
    if (options.venue_feed.size() != count || options.venue_snapshots.size() != count) {
        throw node::configuration_error(fmt::format(
            "an API needs its venue's ports: --venue-feed ADDRESS and --venue-snapshots ADDRESS, {} of each", count));
    }
    std::vector<api::feed_address> feeds;
    for (std::size_t k = 0; k < count; ++k) {
        feeds.push_back(api::feed_address{node::address_of(options.venue_feed[k], "--venue-feed"),
                                          node::address_of(options.venue_snapshots[k], "--venue-snapshots")});
    }
    return feeds;
}

int serve_api(const serve_options& options) {
    raise_descriptor_limit();
    const node::configuration configuration = configuration_of_role(options);
    if (configuration.api_listen.empty() && configuration.api_tls_listen.empty()) {
        throw node::configuration_error(options.config +
                                        ": api.listen: an API needs an address; add [api] with "
                                        "listen = \"127.0.0.1:7020\"");
    }
    io::context context(io::context_options(machine_of(options)));
    std::optional<client::venue_endpoint> orders;
    if (!options.venue_orders.empty()) {
        const auto local = client::venue_endpoint::parse(options.venue_orders);
        orders = local ? *local : client::venue_endpoint(node::address_of(options.venue_orders, "--venue-orders"));
    }
    const std::vector<api::api_key> keys = node::load_api_keys(configuration);
    if (!orders && !keys.empty()) {
        throw node::configuration_error("an API with keys needs its venue's order entry: --venue-orders ADDRESS");
    }
    const auto made = when_free([&] {
        return std::make_unique<node::api_role>(context, configuration, feeds_of(options, configuration), orders, keys,
                                                dashboard_files());
    });
    node::api_role& web = *made;
    fmt::print("corro {} is the API of venue {} on {}\n", CORRO_VERSION, configuration.venue_name,
               context.backend_name());
    print_api(web);
    if (web.metrics_endpoint()) fmt::print("  metrics      http://{}/metrics\n", web.metrics_endpoint()->to_string());
    fmt::print("It answers as soon as the venue runs. Ctrl-C closes it.\n");
    std::fflush(stdout);
    io::block_on(context, run_until_closed(&web, &options, &context));
    return 0;
}

int serve_facility(const serve_options& options) {
    raise_descriptor_limit();
    node::configuration configuration = configuration_of_role(options);
    override_threading(options, configuration);
    if (configuration.link_listen.empty())
        throw node::configuration_error(options.config +
                                        ": link.listen: a facility needs an address for its gateways; add "
                                        "[link] with listen = \"venue.link\"");
    const auto noticed = [](const std::string& what) { fmt::print(stderr, "corro serve: {}\n", what); };
    const auto started = when_free([&] {
        return std::make_unique<started_venue>(io::context_options(machine_of(options)), configuration,
                                               node::order_entry_place::over_gateways, noticed);
    });
    io::context& context = started->context;
    node::venue& facility = started->venue;
    fmt::print("corro {} is the facility of venue {}{} on {}, {}\n  link         {}\n", CORRO_VERSION,
               configuration.venue_name, division_of(configuration), context.backend_name(), threads_of(configuration),
               facility.link_address());
    print_partitions(facility, configuration);
    fmt::print("Ctrl-C closes it.\n");
    std::fflush(stdout);
    run_started(context, facility, run_until_closed(&facility, &options, &context));
    for (std::size_t k = 0; k < facility.partitions_count(); ++k) {
        const node::partition& p = facility.at(k);
        if (p.is_of_several()) fmt::print("partition {}: ", p.name());
        fmt::print("{} commands, state hash {:016x}{}", p.host.sequence(), p.host.state().state_hash(),
                   k + 1 == facility.partitions_count() ? "; " : "\n");
    }
    fmt::print("cancelled for {} sessions that were gone\n", facility.links()->cancels_executed());
    return facility.failure() == nullptr ? 0 : 1;
}

int serve_gateway(const serve_options& options) {
    raise_descriptor_limit();
    node::configuration configuration = configuration_of_role(options);
    listen_elsewhere(configuration, options);
    if (!options.gateway.empty()) configuration.link_gateway = options.gateway;
    if (configuration.link_connect.empty())
        throw node::configuration_error(options.config +
                                        ": link.connect: a gateway needs the address of its facility; add [link] with "
                                        "listen, or with connect");
    io::context context(io::context_options(machine_of(options)));
    const auto opened = [](io::endpoint where) {
        fmt::print("  order entry  {}\n", where.to_string());
        std::fflush(stdout);
    };
    const auto noticed = [](const std::string& what) { fmt::print(stderr, "corro serve: {}; trying again\n", what); };
    const auto made =
        when_free([&] { return std::make_unique<node::gateway_role>(context, configuration, opened, noticed); });
    node::gateway_role& gateway = *made;
    const std::string& name = configuration.link_gateway;
    fmt::print("corro {} is {} of venue {} on {}, for the facility at {}\n", CORRO_VERSION,
               name.empty() ? "a gateway" : "gateway " + name, configuration.venue_name, context.backend_name(),
               configuration.link_connect);
    print_watching(gateway.metrics_endpoint(), configuration);
    fmt::print("It opens its ports as soon as the facility runs. Ctrl-C closes it.\n");
    std::fflush(stdout);
    io::block_on(context, run_until_closed(&gateway, &options, &context));
    if (!gateway.failure().empty()) fmt::print(stderr, "{}\n", gateway.failure());
    return gateway.failure().empty() ? 0 : 1;
}

int serve_role(const serve_options& options) {
    keep_files_from_others();
    ignore_sigpipe();
    hold_signals();
    // Until the handlers exist: a recovery may take seconds, and an early signal must not end it.
    std::signal(SIGUSR1, SIG_IGN);
    std::signal(SIGUSR2, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    if (options.role == "distributor") return distribute(options);
    if (options.role == "api") return serve_api(options);
    if (options.role == "facility") return serve_facility(options);
    if (options.role == "gateway") return serve_gateway(options);
    return serve(options);
}

}  // namespace

void add_serve_command(command_line& line) {
    auto options = std::make_shared<serve_options>();
    const subcommand command = line.add_subcommand("serve", "Run the exchange");
    command.add_option("-c,--config", options->config, "Configuration file (TOML)").shows_default();
    command.add_option("--listen", options->listen,
                       "Order-entry address instead of the configuration's; FIX is not served then");
    command.add_option("--threading", options->threading, "inline or split, instead of the configuration's")
        .one_of({"inline", "split"});
    command.add_option("--io", options->io, "Kernel interface of the sockets").one_of(backend_names()).shows_default();
    command.add_option("--clock", options->clock, clock_help);
    command
        .add_option(
            "--role", options->role,
            "all: the whole exchange; facility: matching, journal and feed, for gateways that connect; gateway: "
            "order entry for a facility; distributor: publishes the feed of another venue process, on "
            "the configuration's market-data ports; api: JSON-RPC over WebSocket and HTTP for another venue process")
        .one_of({"all", "facility", "gateway", "distributor", "api"})
        .shows_default();
    command.add_option("--gateway", options->gateway,
                       "Number of this gateway, for the role gateway; instead of the configuration's");
    command.add_option("--venue-feed", options->venue_feed,
                       "Feed port of the venue, for a distributor or an API; of each partition for an API");
    command.add_option("--venue-snapshots", options->venue_snapshots,
                       "Snapshot port of the venue, for a distributor or an API; in the order of the feeds");
    command.add_option("--venue-orders", options->venue_orders,
                       "Order entry of the venue, for an API with keys; also unix:PATH and shm:PATH");
    command.add_option("--partition", options->partition,
                       "Partition whose feed a distributor publishes, in a venue with partitions");
    command.add_option("--metrics", options->metrics,
                       "Address of the metrics, instead of the configuration's; the roles gateway, distributor and "
                       "api use only this option");
    command.add_option("--event-log", options->event_log,
                       "Directory of the event log, instead of the configuration's; the roles gateway and distributor "
                       "use only this option");
    command
        .add_option("--open-files", options->open_files,
                    "Action if other users can read the keys in the configuration or in the TLS key's file, or "
                    "can change the files")
        .one_of({"refuse", "warn"})
        .shows_default();
    const option sample = command.add_option("--sample-every", options->sample_every,
                                             "Time one of every N requests; 0: none (default: the configuration's)");
    command.footer(
        "docs/howto/configure.md explains every key of the configuration; config/demo.toml is an example.\n"
        "SIGINT and SIGTERM close the exchange. SIGUSR1 prints the latency tables, SIGUSR2 writes a "
        "snapshot.\n"
        "Exit code: 0 after an orderly end, 1 if it could not start or continue.");
    command.runs([options, sample] {
        options->sample_given = sample.given();
        return serve_role(*options);
    });
}

}  // namespace corro::app
