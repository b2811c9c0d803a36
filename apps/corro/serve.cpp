// `corro serve`: runs the exchange.

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "commands.hpp"
#include "io/loop/context.hpp"
#include "io/process/signals.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "journal_news.hpp"
#include "node/account_changes.hpp"
#include "node/configuration.hpp"
#include "node/distributor_role.hpp"
#include "node/exchange.hpp"
#include "node/facility_role.hpp"
#include "node/file_access.hpp"
#include "node/gateway_role.hpp"
#include "node/ports.hpp"
#include "node/segmented_exchange.hpp"
#include "process.hpp"
#include "report.hpp"

namespace corro::app {
namespace {

struct serve_options {
    std::string config = "corro.toml";
    std::string listen;
    std::string threading;
    std::string io = "auto";
    std::string role = "all";
    std::string gateway;
    std::string metrics;
    std::string event_log;
    std::string venue_feed;
    std::string venue_snapshots;
    std::string open_files = "refuse";
    std::uint32_t sample_every = 0;
    bool sample_given = false;
};

void print_report(const node::exchange& exchange) {
    print_exchange_report(exchange);
}
void print_report(const node::segmented_exchange& exchange) {
    print_segments_report(exchange, false);
}

std::vector<const node::host_journal*> journals_of(const node::exchange& exchange) {
    return {exchange.journal()};
}
std::vector<const node::host_journal*> journals_of(const node::facility_role& facility) {
    return {facility.journal()};
}
std::vector<const node::host_journal*> journals_of(const node::segmented_exchange& exchange) {
    std::vector<const node::host_journal*> all;
    for (std::size_t k = 0; k < exchange.segments_count(); ++k) all.push_back(exchange.at(k).journal.get());
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
template <class Exchange>
io::task<void> handle_signals(Exchange* exchange, io::auto_event* hangup, io::signal_set* signals,
                              io::context* context) {
    bool closing = false;
    while (true) {
        const auto signal = co_await signals->wait();
        if (!signal) co_return;
        if (*signal == SIGUSR1) {
            print_report(*exchange);
        } else if (*signal == SIGUSR2) {
            exchange->write_snapshot();
        } else if (*signal == SIGHUP) {
            hangup->set();
        } else if (closing) {
            context->stop();
        } else {
            closing = true;
            fmt::print("closing: no new connections, a logout to every session\n");
            std::fflush(stdout);
            exchange->close();
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

template <class Exchange>
io::task<void> serve_until_closed(Exchange* exchange, const serve_options* options, io::context* context) {
    io::signal_set signals(*context, {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP});
    release_signals();
    io::task_scope watching(*context);
    io::auto_event hangup;
    watching.spawn(handle_sighup(exchange, options, &hangup));
    watching.spawn(handle_signals(exchange, &hangup, &signals, context));
    watching.spawn(print_journal_news(journals_of(*exchange)));
    co_await run_watched(exchange, &watching);
}

const char* name_of(node::threading_mode threading, bool segments) {
    if (threading == node::threading_mode::inline_) return "on one thread";
    return segments ? "each segment on its own thread" : "the facility on its own thread";
}

void print_watching(const std::optional<io::endpoint>& metrics, const node::configuration& c) {
    if (metrics) fmt::print("  metrics      http://{}/metrics\n", metrics->to_string());
    if (!c.event_log.directory.empty()) fmt::print("  event log    {}\n", c.event_log.directory);
}

void print_segment(const node::segment& s) {
    fmt::print("segment {} with {} instruments\n  feed         {}\n  snapshots    {}\n", s.name(),
               s.own.instruments.size(), s.feed.feed_endpoint().to_string(), s.feed.snapshot_endpoint().to_string());
    for (const std::string& line : s.own.lines) fmt::print("  line         {}\n", line);
    if (const auto depth = s.feed.depth_endpoint()) fmt::print("  depth        {}\n", depth->to_string());
    if (s.feed.lines() != nullptr && s.feed.lines()->retransmission_endpoint()) {
        fmt::print("  lost packets {}\n", s.feed.lines()->retransmission_endpoint()->to_string());
    }
    if (s.journal == nullptr) return;
    fmt::print("  journal      {}, {}; {} commands replayed, state hash {:016x}\n", s.own.journal_directory,
               journal::name_of(s.own.durability), s.journal->replayed_count(), s.host.state().state_hash());
    if (s.journal->snapshot_sequence() != 0) {
        fmt::print("  snapshot     of command {}\n", s.journal->snapshot_sequence());
    }
    for (const std::string& notice : s.journal->notices()) fmt::print("  notice       {}\n", notice);
}

int serve_segments(const serve_options& options, const node::configuration& configuration) {
    io::context context(io::context_options(platform_named(options.io)));
    node::segmented_exchange exchange(context, configuration);
    fmt::print("corro {} serves venue {} with {} instruments in {} segments on {}, {}\n", CORRO_VERSION,
               configuration.venue_name, configuration.instruments.size(), exchange.segments_count(),
               context.backend_name(), name_of(configuration.threading, true));
    fmt::print("  order entry  {}\n", exchange.order_entry_endpoint().to_string());
    print_watching(exchange.metrics_endpoint(), configuration);
    for (std::size_t k = 0; k < exchange.segments_count(); ++k) print_segment(exchange.at(k));
    fmt::print("Ctrl-C closes it; SIGUSR1 prints the latency tables, SIGUSR2 writes a snapshot.\n");
    std::fflush(stdout);
    io::block_on(context, serve_until_closed(&exchange, &options, &context));
    print_segments_report(exchange, true);
    return exchange.failure() == nullptr ? 0 : 1;
}

/// Applies the options that replace values of the file.
void override_threading(const serve_options& options, node::configuration& c) {
    if (options.threading.empty()) return;
    c.threading = options.threading == "split" ? node::threading_mode::split : node::threading_mode::inline_;
}

/// For the roles of one facility, its gateway or its feed. The file's metrics and event log belong to the facility.
/// Another process with the same file cannot use them; it gets its own on the command line.
node::configuration configuration_of_one_facility(const serve_options& options) {
    node::configuration c = configuration_of_server(options);
    if (options.role != "facility" || !options.metrics.empty()) c.metrics_listen = options.metrics;
    if (options.role != "facility" || !options.event_log.empty()) c.event_log.directory = options.event_log;
    if (c.segments.empty()) return c;
    throw node::configuration_error(options.config + ": segment: a venue of segments runs in one process; role \"" +
                                    options.role + "\" cannot serve it");
}

int serve(const serve_options& options) {
    raise_descriptor_limit();
    node::configuration configuration = configuration_of_server(options);
    if (!options.listen.empty()) configuration.order_entry_listen = options.listen;
    override_threading(options, configuration);
    if (!options.metrics.empty()) configuration.metrics_listen = options.metrics;
    if (!options.event_log.empty()) configuration.event_log.directory = options.event_log;
    if (options.sample_given) configuration.timing_sample_every = options.sample_every;
    report_descriptors(node::descriptors_needed(configuration));
    if (!configuration.segments.empty()) return serve_segments(options, configuration);
    io::context context(io::context_options(platform_named(options.io)));
    node::exchange exchange(context, configuration);
    fmt::print("corro {} serves venue {} with {} instruments on {}, {}\n", CORRO_VERSION, configuration.venue_name,
               configuration.instruments.size(), context.backend_name(), name_of(configuration.threading, false));
    fmt::print("  order entry  {}\n  feed         {}\n  snapshots    {}\n", exchange.order_entry_endpoint().to_string(),
               exchange.feed_endpoint().to_string(), exchange.snapshot_endpoint().to_string());
    if (const node::host_journal* journal = exchange.journal()) {
        fmt::print("  journal      {}, {}; {} commands replayed, state hash {:016x}\n", configuration.journal_directory,
                   journal::name_of(configuration.durability), journal->replayed_count(), exchange.state_hash());
        if (journal->snapshot_sequence() != 0) {
            fmt::print("  snapshot     of command {}\n", journal->snapshot_sequence());
        }
        for (const std::string& notice : journal->notices()) fmt::print("  notice       {}\n", notice);
    }
    for (const std::string& line : configuration.lines) fmt::print("  line         {}\n", line);
    if (const auto depth = exchange.depth_endpoint()) fmt::print("  depth        {}\n", depth->to_string());
    if (const auto metrics = exchange.metrics_endpoint()) {
        fmt::print("  metrics      http://{}/metrics\n", metrics->to_string());
    }
    if (!configuration.event_log.directory.empty())
        fmt::print("  event log    {}\n", configuration.event_log.directory);
    if (const auto requests = exchange.retransmission_endpoint())
        fmt::print("  lost packets {}\n", requests->to_string());
    fmt::print("Ctrl-C closes it; SIGUSR1 prints the latency tables, SIGUSR2 writes a snapshot.\n");
    std::fflush(stdout);
    io::block_on(context, serve_until_closed(&exchange, &options, &context));
    print_exchange_report(exchange);
    return exchange.failure() == nullptr ? 0 : 1;
}

// The first SIGINT or SIGTERM closes the role. SIGUSR2 makes a facility write a snapshot. Only an exchange in one
// process has latency tables; SIGUSR1 must not end other roles.
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
        what->close();
    };
    io::signal_set signals(*context, {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP});
    release_signals();
    io::task_scope watching(*context);
    io::auto_event hangup;
    watching.spawn(handle_sighup(role, options, &hangup));
    watching.spawn(obey(role, &hangup, &signals));
    if constexpr (requires { journals_of(*role); }) watching.spawn(print_journal_news(journals_of(*role)));
    co_await run_watched(role, &watching);
}

int distribute(const serve_options& options) {
    raise_descriptor_limit();
    const node::configuration configuration = configuration_of_one_facility(options);
    if (options.venue_feed.empty() || options.venue_snapshots.empty()) {
        throw node::configuration_error(
            "a distributor needs its venue's ports: --venue-feed ADDRESS and --venue-snapshots ADDRESS");
    }
    io::context context(io::context_options(platform_named(options.io)));
    node::distributor_role distributor(context, configuration, node::address_of(options.venue_feed, "--venue-feed"),
                                       node::address_of(options.venue_snapshots, "--venue-snapshots"));
    fmt::print("corro {} distributes the feed of venue {} on {}\n  feed         {}\n  snapshots    {}\n", CORRO_VERSION,
               configuration.venue_name, context.backend_name(), distributor.feed_endpoint().to_string(),
               distributor.snapshot_endpoint().to_string());
    print_watching(distributor.metrics_endpoint(), configuration);
    fmt::print("It publishes as soon as the venue runs. Ctrl-C closes it.\n");
    std::fflush(stdout);
    io::block_on(context, run_until_closed(&distributor, &options, &context));
    if (!distributor.failure().empty()) fmt::print(stderr, "{}\n", distributor.failure());
    return distributor.failure().empty() ? 0 : 1;
}

int serve_facility(const serve_options& options) {
    raise_descriptor_limit();
    node::configuration configuration = configuration_of_one_facility(options);
    override_threading(options, configuration);
    if (configuration.link_listen.empty())
        throw node::configuration_error(options.config +
                                        ": link.listen: a facility needs an address for its gateways; add "
                                        "[link] with listen = \"venue.link\"");
    io::context context(io::context_options(platform_named(options.io)));
    const auto noticed = [](const std::string& what) { fmt::print(stderr, "corro serve: {}\n", what); };
    node::facility_role facility(context, configuration, noticed);
    fmt::print(
        "corro {} is the facility of venue {} on {}, {}\n  link         {}\n  feed         {}\n  snapshots    {}\n",
        CORRO_VERSION, configuration.venue_name, context.backend_name(), name_of(configuration.threading, false),
        facility.link_address(), facility.feed_endpoint().to_string(), facility.snapshot_endpoint().to_string());
    if (const node::host_journal* journal = facility.journal()) {
        fmt::print("  journal      {}, {}; {} commands replayed, state hash {:016x}\n", configuration.journal_directory,
                   journal::name_of(configuration.durability), journal->replayed_count(), facility.state_hash());
        for (const std::string& notice : journal->notices()) fmt::print("  notice       {}\n", notice);
    }
    print_watching(facility.metrics_endpoint(), configuration);
    fmt::print("Ctrl-C closes it.\n");
    std::fflush(stdout);
    io::block_on(context, run_until_closed(&facility, &options, &context));
    fmt::print("{} commands, state hash {:016x}; cancelled for {} sessions that were gone\n", facility.commands_count(),
               facility.state_hash(), facility.cancels_executed());
    return facility.failure() == nullptr ? 0 : 1;
}

int serve_gateway(const serve_options& options) {
    raise_descriptor_limit();
    node::configuration configuration = configuration_of_one_facility(options);
    if (!options.listen.empty()) configuration.order_entry_listen = options.listen;
    if (!options.gateway.empty()) configuration.link_gateway = options.gateway;
    if (configuration.link_connect.empty())
        throw node::configuration_error(options.config +
                                        ": link.connect: a gateway needs the address of its facility; add [link] with "
                                        "listen, or with connect");
    io::context context(io::context_options(platform_named(options.io)));
    const auto opened = [](io::endpoint where) {
        fmt::print("  order entry  {}\n", where.to_string());
        std::fflush(stdout);
    };
    const auto noticed = [](const std::string& what) { fmt::print(stderr, "corro serve: {}; trying again\n", what); };
    node::gateway_role gateway(context, configuration, opened, noticed);
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
    if (options.role == "facility") return serve_facility(options);
    if (options.role == "gateway") return serve_gateway(options);
    return serve(options);
}

}  // namespace

void add_serve_command(command_line& line) {
    auto options = std::make_shared<serve_options>();
    const subcommand command = line.add_subcommand("serve", "Run the exchange");
    command.add_option("-c,--config", options->config, "Configuration file (TOML)").shows_default();
    command.add_option("--listen", options->listen, "Order-entry address instead of the configuration's");
    command.add_option("--threading", options->threading, "inline or split, instead of the configuration's")
        .one_of({"inline", "split"});
    command.add_option("--io", options->io, "Kernel interface of the sockets").one_of(backend_names()).shows_default();
    command
        .add_option(
            "--role", options->role,
            "all: the whole exchange; facility: matching, journal and feed, for gateways that connect; gateway: "
            "order entry for a facility; distributor: publishes the feed of another venue process, on "
            "the configuration's market-data ports")
        .one_of({"all", "facility", "gateway", "distributor"})
        .shows_default();
    command.add_option("--gateway", options->gateway,
                       "Number of this gateway, for the role gateway; instead of the configuration's");
    command.add_option("--venue-feed", options->venue_feed, "Feed port of the venue, for a distributor");
    command.add_option("--venue-snapshots", options->venue_snapshots, "Snapshot port of the venue, for a distributor");
    command.add_option("--metrics", options->metrics,
                       "Address of the metrics, instead of the configuration's; the roles gateway and distributor "
                       "use only this option");
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
