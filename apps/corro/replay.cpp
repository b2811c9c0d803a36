// `corro replay`: sends recorded order flow through the gateway and compares the venue with the real exchange.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "commands.hpp"
#include "exchange_thread.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "recorded/replay/replay_session.hpp"
#include "recorded/replay/report.hpp"
#include "recording.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

using recorded::replay::difference_log;
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
    std::unique_ptr<exchange_thread> own;  ///< empty for a venue in another process
};

struct replaying {
    replaying(const replay_options& o, recording& r, const venue& v) : options(o), what(r), where(v) {}

    const replay_options& options;
    recording& what;
    const venue& where;
    std::unique_ptr<difference_log> log;
    replay_report report;
};

// --- The venue -----------------------------------------------------------------------------------------------------

/// Starts an exchange with one instrument for the recording, on free ports.
venue own_venue(const recording& what) {
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
    std::random_device random;
    for (std::byte& b : a.key) b = static_cast<std::byte>(random());
    c.accounts.push_back(a);

    venue v;
    v.own = std::make_unique<exchange_thread>(c);
    v.addresses.order_entry = v.own->exchange().order_entry_endpoint();
    v.addresses.feed = v.own->exchange().feed_endpoint();
    v.addresses.snapshots = v.own->exchange().snapshot_endpoint();
    v.who.account = a.id;
    v.who.key = a.key;
    v.instrument = std::string(c.instruments.front().name.view());
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
        const std::uint64_t requests = run->counts().requests();
        fmt::print(stderr, "{:5} s  {:>10} of {} records  recorded time {}  {:>8} requests/s  {} unexplained\n",
                   seconds, flow->compared_count(), r->what.total(), time_of_day(run->compared_up_to()),
                   requests - before, r->log->unexplained_count());
        before = requests;
    }
}

io::task<void> stop_on_signal(io::task_scope* driving, io::signal_set* signals) {
    const auto signal = co_await signals->wait();
    if (signal) driving->request_stop();
}

io::task<void> drive(replaying* r, replay_session* session, replay_run* run, domain::instrument_id instrument) {
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
    const auto begin = std::chrono::steady_clock::now();
    driving.spawn(drive(r, session.get(), &run, instrument.id));
    co_await driving.join();
    r->report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

int replay(const replay_options& options) {
    const std::unique_ptr<recording> what = survey_recording(options.recording);
    fmt::print(stderr, "{} records; {}\n", what->total(),
               options.config.empty() ? "replaying them on a new exchange" : "replaying them on " + options.config);
    venue where = options.config.empty() ? own_venue(*what) : configured_venue(options, *what);
    replaying r(options, *what, where);
    for (const std::filesystem::path& file : options.recording.files) r.report.files.push_back(file.string());
    io::context context;
    io::block_on(context, replay_all(&r));
    if (where.own) where.own->close();
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
                    "Databento DBN market-by-order files in their order, or a LOBSTER message and orderbook file; "
                    "plain, gzip or zstd")
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
    command.add_option("--format", options->recording.format, "auto, dbn or lobster")
        .shows_default()
        .one_of({"auto", "dbn", "lobster"});
    command.add_option("--recorded-instrument", options->recording.recorded_instrument,
                       "DBN: the number of the instrument, if the files have several");
    command.add_option("--opening", options->recording.opening, "DBN: auto, auction or continuous")
        .shows_default()
        .one_of({"auto", "auction", "continuous"});
    command.add_option("--speed", options->speed, "Multiple of recorded time (default: as fast as the venue answers)")
        .positive();
    command.add_option("--max-differences", options->differences_max, "Number of examples to print per cause")
        .shows_default();
    command.add_option("--times", options->times,
                       "Write the recorded time of each request to this file, for `corro export --times`");
    command.add_option("--json", options->json, "Write the summary also to this file");
    command.runs([options] { return replay(*options); });
}

}  // namespace corro::app
