// SPDX-License-Identifier: Apache-2.0
// `corro replay`: sends recorded order flow through the gateway and compares the venue with the real exchange.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apps/command_line/output_file.hpp"
#include "commands.hpp"
#include "exchange_thread.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "recorded/replay/recording.hpp"
#include "recorded/replay/replay_session.hpp"
#include "recorded/replay/report.hpp"
#include "stop_on_signal.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

using recorded::replay::difference_log;
using recorded::replay::recording;
using recorded::replay::recording_options;
using recorded::replay::replay_error;
using recorded::replay::replay_report;
using recorded::replay::replay_run;
using recorded::replay::replay_session;

struct replay_options {
    recording_options recording;
    std::string config;
    std::string instrument;
    std::string account;
    order_entry_options order_entry;
    std::string serve;
    std::uint32_t visitors_count = 1;
    double speed = 0;
    std::size_t differences_max = 5;
    std::string json;
    std::string times;
};

/// The venue that replays the recording.
struct venue {
    recorded::replay::venue_addresses addresses;
    client::credentials who;
    std::string instrument;
    std::vector<gateway::account> visitors;  ///< the accounts for other traders
    std::unique_ptr<exchange_thread> own;    ///< empty for a venue in another process
};

struct replaying {
    replaying(const replay_options& o, recording& r, const venue& v) : options(o), what(r), where(v) {}

    const replay_options& options;
    recording& what;
    const venue& where;
    std::unique_ptr<difference_log> log;
    replay_report report;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    bool is_waiting = false;  ///< for visitors
};

// --- The venue -----------------------------------------------------------------------------------------------------

/// Connections that each visitor may have at once.
constexpr std::uint32_t sessions_of_visitor = 4;

void make_key(gateway::account& a) {
    std::random_device random;
    for (std::byte& b : a.key) b = static_cast<std::byte>(random());
}

/// How a file for visitors begins; only such a file is replaced.
constexpr const char* visitors_first_line =
    "# For visitors of `corro replay --serve`. The exchange ends with the replay.";

/// What the visitors of an exchange need to trade on it: addresses, the instrument, accounts with their keys.
std::string visitors_configuration(const venue& v, const domain::instrument& i) {
    const auto price = [&i](domain::price_ticks p) {
        return recorded::replay::decimal_of(p.value * i.tick_size.value);
    };
    std::string text = fmt::format(
        "{}\n[venue]\nname = \"REPLAY\"\n\n"
        "[order_entry]\nlisten = \"{}\"\n\n[market_data]\nfeed_listen = \"{}\"\nsnapshot_listen = \"{}\"\n\n"
        "[[instrument]]\nid = {}\nsymbol = \"{}\"\ntick_size = \"{}\"\nprice_low = \"{}\"\nprice_high = \"{}\"\n",
        visitors_first_line, v.addresses.order_entry.to_string(), v.addresses.feed.to_string(),
        v.addresses.snapshots.to_string(), i.id.value, i.name.view(), recorded::replay::decimal_of(i.tick_size.value),
        price(i.price_low), price(i.price_high));
    for (const gateway::account& a : v.visitors) {
        text += fmt::format("\n[[account]]\nid = {}\nname = \"{}\"\nsessions = {}\nkey = \"", a.id.value, a.name,
                            a.sessions_count);
        for (const std::byte b : a.key) fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned>(b));
        text += "\"\n";
    }
    return text;
}

/// Only its owner may read a file with keys.
void write_secret(const std::string& path, const std::string& text) {
    const std::filesystem::path where = path;
    std::filesystem::remove(where);
    std::ofstream out(where, std::ios::binary);
    std::filesystem::permissions(where, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    out << text;
    out.close();
    if (!out) throw std::runtime_error(fmt::format("cannot write {}", path));
}

/// Starts an exchange with one instrument for the recording, on free ports.
venue own_venue(const replay_options& options, const recording& what) {
    node::configuration c;
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = "127.0.0.1:0";
    c.orders_max = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(what.orders_max() + 1'000, 100'000, 4'000'000));
    c.account_open_orders_max = 0;  // one account enters all orders
    c.feed_log_bytes = std::size_t{64} << 20U;
    c.instruments.push_back(what.instrument());
    gateway::account a;
    a.id = domain::account_id{1};
    a.name = "replay";
    a.is_operator = true;
    make_key(a);
    c.accounts.push_back(a);

    venue v;
    for (std::uint32_t k = 1; !options.serve.empty() && k <= options.visitors_count; ++k) {
        gateway::account visitor;
        visitor.id = domain::account_id{1 + k};
        visitor.name = fmt::format("visitor{}", k);
        visitor.sessions_count = sessions_of_visitor;
        make_key(visitor);
        v.visitors.push_back(visitor);
        c.accounts.push_back(visitor);
    }
    v.own = std::make_unique<exchange_thread>(c);
    v.addresses.order_entry = v.own->exchange().order_entry_endpoint();
    v.addresses.feed = v.own->exchange().feed_endpoint();
    v.addresses.snapshots = v.own->exchange().snapshot_endpoint();
    v.who.account = a.id;
    v.who.key = a.key;
    v.instrument = std::string(c.instruments.front().name.view());
    if (!options.serve.empty()) write_secret(options.serve, visitors_configuration(v, c.instruments.front()));
    return v;
}

/// Returns the running exchange of a configuration.
venue configured_venue(const replay_options& options, const recording& what) {
    const node::configuration c = node::load_configuration(options.config);
    const gateway::account* account = nullptr;
    for (const gateway::account& a : c.accounts) {
        if (account == nullptr && (options.account.empty() || a.name == options.account)) account = &a;
    }
    if (account == nullptr) {
        throw node::configuration_error(fmt::format("{}: no account named \"{}\"", options.config, options.account));
    }
    if (what.begins_before_auction() && !account->is_operator) {
        throw node::configuration_error(
            fmt::format("{}: account \"{}\" is not an operator, and only operators change phases: the recording begins "
                        "before an opening auction. Set operator = true, or choose another account with --account",
                        options.config, account->name));
    }
    venue v;
    v.addresses.order_entry = order_entry_of(c, options.config, options.order_entry);
    v.addresses.feed = parse_address(c.feed_listen);
    v.addresses.snapshots = parse_address(c.snapshot_listen);
    v.who.account = account->id;
    v.who.key = account->key;
    v.instrument = options.instrument.empty() ? std::string(what.instrument().name.view()) : options.instrument;
    return v;
}

// --- The replay ----------------------------------------------------------------------------------------------------

std::string time_of_day(domain::time_ns t) {
    const std::int64_t seconds = t.value / 1'000'000'000 % 86'400;
    return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

io::task<void> show_progress(const replaying* r, const replay_run* run, const recorded::replay::flow* flow) {
    std::uint64_t before = 0;
    for (int seconds = 1;; ++seconds) {
        const std::error_code stopped = co_await io::sleep_for(std::chrono::seconds(1));
        if (stopped) co_return;
        if (r->is_waiting) continue;
        const std::uint64_t requests = run->counts().requests();
        fmt::print(stderr, "{:5} s  {:>10} of {} records  recorded time {}  {:>8} requests/s  {} unexplained\n",
                   seconds, flow->compared_count(), r->what.total(), time_of_day(run->compared_up_to()),
                   requests - before, r->log->unexplained_count());
        before = requests;
    }
}

/// Waits for the visitors. @return Why the replay cannot begin; empty: it can.
io::task<std::string> receive_visitors(const replaying* r, replay_session* session) {
    const std::uint32_t count = r->options.visitors_count;
    fmt::print(stderr, "The exchange is open. To trade on it:\n");
    for (const gateway::account& a : r->where.visitors) {
        fmt::print(stderr, "  corro client --config {} --account {}\n", r->options.serve, a.name);
    }
    fmt::print(stderr, "The replay begins when {} logged on.\n",
               count == 1 ? std::string("a visitor has") : fmt::format("{} visitors have", count));
    std::string failure = co_await session->wait_for_others(count);
    if (failure.empty()) fmt::print(stderr, "The replay begins, at {} times recorded time.\n", r->options.speed);
    co_return failure;
}

io::task<void> drive(replaying* r, replay_session* session, replay_run* run, domain::instrument_id instrument) {
    if (r->report.is_served) {
        r->is_waiting = true;
        r->report.failure = co_await receive_visitors(r, session);
        r->is_waiting = false;
        if (!r->report.failure.empty()) co_return;
    }
    r->began = std::chrono::steady_clock::now();
    try {
        r->report.failure = co_await session->drive(run, instrument, r->options.speed);
    } catch (const replay_error& e) {
        r->report.failure = e.what();
    }
}

/// Opens the file for `corro export --times`; not open if the option is not given.
std::ofstream open_times(const std::string& path) {
    std::ofstream file;
    if (path.empty()) return file;
    file.open(path, std::ios::binary);
    file << "session,request,time\n";
    if (!file) throw std::runtime_error(fmt::format("cannot write {}", path));
    return file;
}

io::task<void> replay_all(replaying* r) {
    io::context& context = co_await io::this_context();
    const std::unique_ptr<replay_session> session = co_await replay_session::join(r->where.addresses, r->where.who);
    const domain::instrument instrument = session->instrument(r->where.instrument);
    r->log = std::make_unique<difference_log>(r->options.differences_max, instrument.tick_size);
    recorded::replay::flow& flow = r->what.open(instrument, *r->log);
    replay_run run(flow, *r->log, instrument.id);
    std::ofstream times = open_times(r->options.times);
    if (times.is_open()) {
        session->note_times([&times, id = session->session().value, begin = r->what.times_begin().value](
                                std::uint32_t request, domain::time_ns time) {
            times << id << ',' << request << ',' << begin + time.value << '\n';
        });
    }

    io::signal_set signals(context, {SIGINT, SIGTERM});
    io::task_scope driving(context);
    io::task_scope watching(context);
    watching.spawn(show_progress(r, &run, &flow));
    watching.spawn(stop_on_signal(&driving, &signals));
    driving.spawn(drive(r, session.get(), &run, instrument.id));
    co_await driving.join();
    r->report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - r->began).count();
    watching.request_stop();
    co_await watching.join();

    if (run.finished()) r->what.finish(run.book());
    if (!run.finished() && r->report.failure.empty()) r->report.failure = "stopped";
    r->report.instrument = std::string(instrument.name.view());
    r->report.tick = recorded::replay::decimal_of(instrument.tick_size.value);
    r->report.counts = run.counts();
    r->report.sections = r->what.sections();
    co_await session->leave(instrument.id);
    if (!times.is_open()) co_return;
    times.close();
    if (!times) throw std::runtime_error(fmt::format("cannot write {}", r->options.times));
}

void write_json(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw std::runtime_error(fmt::format("cannot write {}", path));
}

/// The positions of the visitors. @pre The exchange is closed.
void report_visitors(const venue& where, replay_report& report) {
    for (const gateway::account& a : where.visitors) {
        const auto position = where.own->exchange().at(0).host.state().position_of(a.id, domain::instrument_id{1});
        report.visitors.push_back({a.name, position});
    }
}

/// Refuses outputs that would overwrite what the user has. @throws std::runtime_error
void check_outputs(const replay_options& options) {
    if (!options.serve.empty()) refuse_foreign_output("--serve", options.serve, visitors_first_line);
    std::vector<std::filesystem::path> others = options.recording.files;
    others.emplace_back(options.config);
    others.emplace_back(options.serve);
    refuse_shared_output("--times", options.times, others);
    others.emplace_back(options.times);
    refuse_shared_output("--json", options.json, others);
}

int replay(replay_options options) {
    if (!options.serve.empty() && !options.config.empty()) {
        throw node::configuration_error("--serve opens the exchange that the replay starts; leave out --config");
    }
    check_outputs(options);
    if (!options.serve.empty() && options.speed == 0) options.speed = 1;
    const std::unique_ptr<recording> what = survey_recording(options.recording);
    fmt::print(stderr, "{} records; {}\n", what->total(),
               options.config.empty() ? "replaying them on a new exchange" : "replaying them on " + options.config);
    venue where = options.config.empty() ? own_venue(options, *what) : configured_venue(options, *what);
    replaying r(options, *what, where);
    for (const std::filesystem::path& file : options.recording.files) r.report.files.push_back(file.string());
    r.report.is_served = !options.serve.empty();
    io::context context;
    io::block_on(context, replay_all(&r));
    if (where.own) where.own->close();
    report_visitors(where, r.report);
    fmt::print("{}", to_text(r.report, *r.log));
    std::fflush(stdout);
    if (!options.json.empty()) write_json(options.json, to_json(r.report, *r.log));
    return is_success(r.report, *r.log) ? 0 : 1;
}

}  // namespace

void add_replay_command(command_line& line) {
    auto options = std::make_shared<replay_options>();
    const subcommand command =
        line.add_subcommand("replay", "Replay recorded order flow and compare fills and books with the recorded ones");
    command
        .add_option("files", options->recording.files,
                    "Databento DBN market-by-order files in their order, a LOBSTER message and orderbook file, or a "
                    "Nasdaq ITCH 5.0 file; plain, gzip or zstd")
        .required();
    command
        .add_option("-c,--config", options->config,
                    "Replay on the running exchange of this configuration (default: on a new exchange)")
        .existing_file();
    command
        .add_option("--instrument", options->instrument,
                    "The exchange's instrument for the replay; its book must be empty (default: the recorded name)")
        .needs("--config");
    command.add_option("--account", options->account, "Name of the exchange's account (default: the first)")
        .needs("--config");
    add_order_entry_options(command, options->order_entry, "--config");
    command.add_option("--format", options->recording.format, "auto, dbn, lobster or itch")
        .shows_default()
        .one_of({"auto", "dbn", "lobster", "itch"});
    command.add_option("--recorded-instrument", options->recording.recorded_instrument,
                       "DBN: the number of the instrument, if the files have several");
    command.add_option("--stock", options->recording.stock, "ITCH: the name of the stock, if the file has several");
    command.add_option("--opening", options->recording.opening, "DBN: auto, auction or continuous")
        .shows_default()
        .one_of({"auto", "auction", "continuous"});
    command.add_option(
        "--serve", options->serve,
        "Open the new exchange to other traders, write a configuration for them to this file, and begin when "
        "they have logged on");
    command.add_option("--visitors", options->visitors_count, "Number of traders to wait for, each with an account")
        .shows_default()
        .in_range(1, 100)
        .needs("--serve");
    command
        .add_option("--speed", options->speed,
                    "Multiple of recorded time (default: as fast as the venue answers; with --serve 1)")
        .positive();
    command.add_option("--max-differences", options->differences_max, "Number of examples to print per cause")
        .shows_default();
    command.add_option("--times", options->times,
                       "Write the recorded time of each request to this file, for `corro export --times`");
    command.add_option("--json", options->json, "Write the summary also to this file");
    command.runs([options] { return replay(*options); });
}

}  // namespace corro::app
