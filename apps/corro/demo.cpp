// SPDX-License-Identifier: Apache-2.0
// `corro demo`: runs an exchange, background traffic on all its instruments, and a view of the market, in one process.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "api_thread.hpp"
#include "base/random.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "commands.hpp"
#include "demo_configuration.hpp"
#include "exchange_thread.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "market_watch.hpp"
#include "node/configuration/configuration.hpp"
#include "node/links/api_keys.hpp"
#include "node/venue/venue.hpp"
#include "process.hpp"
#include "report.hpp"
#include "screen.hpp"
#include "stop_on_signal.hpp"
#include "test_clock.hpp"
#include "when_free.hpp"

namespace corro::app {
namespace {

constexpr const char* traffic_account = "background traffic";
constexpr std::chrono::milliseconds tick_interval{20};
constexpr std::uint32_t traders_max = 8;

struct demo_options {
    std::string config;
    double rate = 2'000;
    std::uint64_t seed = 1;
    double seconds = 0;
    std::string clock;
    bool plain = false;
    bool no_journal = false;
};

// The past that the dashboard shows. At the default rate a segment is full after a minute, a snapshot is made every
// four, and between eight and twelve minutes are kept.
constexpr std::uint64_t past_segment_bytes = std::uint64_t{16} * 1024 * 1024;
constexpr std::uint64_t past_snapshot_every = 500'000;
constexpr std::size_t past_snapshots_kept = 3;
/// More than the demonstration ever uses; with less on the disk there is no past.
constexpr std::uintmax_t past_free_bytes_min = std::uintmax_t{2} * 1024 * 1024 * 1024;

constexpr std::string_view folder_prefix = "corro-demo-";
/// A demonstration locks its folder sooner than this after it has made it.
constexpr std::chrono::minutes folder_age_min{1};

/// A folder that is locked as long as this process lives.
class locked_folder {
 public:
    /// Locks a folder unless another process has it. @param age_min  One that was changed since is not tried.
    /// @return The system's error; operation_not_permitted if the folder belongs to another user.
    static std::expected<locked_folder, std::error_code> take(const std::filesystem::path& path,
                                                              std::chrono::seconds age_min) {
        const auto failed = [] { return std::unexpected(std::error_code(errno, std::generic_category())); };
        const auto refused = [](std::errc why) { return std::unexpected(std::make_error_code(why)); };
        const int opened = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (opened < 0) return failed();
        locked_folder made(opened);
        struct stat about{};
        if (::fstat(opened, &about) != 0) return failed();
        if (about.st_uid != ::geteuid()) return refused(std::errc::operation_not_permitted);
        if (std::time(nullptr) - about.st_mtime < age_min.count()) return refused(std::errc::device_or_resource_busy);
        if (::flock(opened, LOCK_EX | LOCK_NB) != 0) return failed();
        return made;
    }
    locked_folder(locked_folder&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    locked_folder& operator=(locked_folder&&) = delete;
    ~locked_folder() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

 private:
    explicit locked_folder(int descriptor) noexcept : descriptor_(descriptor) {}
    int descriptor_;
};

/// A new folder for temporary files, removed with what is in it at the end.
class passing_folder {
 public:
    /// @throws std::system_error
    passing_folder() : path_((std::filesystem::temp_directory_path() / folder_prefix).string() + "XXXXXX") {
        if (::mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
        // Of any age: its time lies ahead if the clock is set back.
        auto made = locked_folder::take(path_, std::chrono::seconds::min());
        if (!made) {
            std::error_code ignored;
            std::filesystem::remove(path_, ignored);
            throw std::system_error(made.error(), path_);
        }
        lock_.emplace(std::move(*made));
    }
    ~passing_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    passing_folder(const passing_folder&) = delete;
    passing_folder& operator=(const passing_folder&) = delete;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
    std::string path_;
    std::optional<locked_folder> lock_;
};

/// Removes the folders of demonstrations that were killed.
void remove_left_behind() {
    std::error_code error;
    std::filesystem::directory_iterator each(std::filesystem::temp_directory_path(error), error);
    for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
        if (!each->path().filename().string().starts_with(folder_prefix)) continue;
        const auto mine = locked_folder::take(each->path(), folder_age_min);
        if (!mine) continue;
        std::error_code failed;
        std::filesystem::remove_all(each->path(), failed);
        if (!failed) fmt::print("removed {}, which a demonstration that was killed has left\n", each->path().string());
    }
}

/// Gives a venue without a journal one of bounded size, for its past.
/// @return The folder that ends with the demonstration; nothing when there is no room.
std::unique_ptr<passing_folder> keep_past(node::configuration& c) {
    remove_left_behind();
    std::error_code error;
    const auto space = std::filesystem::space(std::filesystem::temp_directory_path(error), error);
    if (error || space.available < past_free_bytes_min) {
        fmt::print("no past: it needs 2 GiB in the folder for temporary files\n");
        return nullptr;
    }
    auto folder = std::make_unique<passing_folder>();
    // Beneath it, because a journal locks its own folder.
    c.journal_directory = folder->path() + "/journal";
    std::filesystem::create_directory(c.journal_directory);
    // An answer does not wait for the disk, so that the latencies are those without a journal.
    c.durability = journal::durability::none;
    c.journal_segment_bytes = past_segment_bytes;
    c.snapshot_every = past_snapshot_every;
    c.snapshots_kept = past_snapshots_kept;
    c.journal_bytes_kept = 0;
    return folder;
}

/// The price of each instrument, a random walk with steps of a tick.
struct price_walk {
    std::vector<domain::instrument> instruments;
    std::vector<domain::price_ticks> middles;
    base::prng random{1};

    void step() {
        for (std::size_t i = 0; i < middles.size(); ++i) {
            const std::int64_t low = instruments[i].price_low.value;
            const std::int64_t high = instruments[i].price_high.value;
            const std::int64_t next = middles[i].value + random.between(-1, 1);
            if (next > low + (high - low) / 4 && next < high - (high - low) / 4) middles[i].value = next;
        }
    }
};

struct traffic {
    io::context& context;
    io::endpoint venue;
    const gateway::account& account;
    const demo_options& options;
    price_walk walk;
    std::string error;
    std::uint64_t requests = 0;
};

io::task<void> wander(traffic* t) {
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(250));
        if (stopped) co_return;
        t->walk.step();
    }
}

// Runs one background trader: sends a burst of requests every tick, takes answers as they come.
io::task<void> trade(traffic* t, std::uint32_t index, std::uint32_t traders_count) {
    client::credentials who;
    who.account = t->account.id;
    who.session_number = index + 1;
    who.key = t->account.key;
    auto session = co_await client::order_session::log_on(t->venue, who);
    if (!session) {
        t->error = "background traffic: " + session.error().message();
        co_return;
    }
    client::trader_options mix;
    mix.open_orders_max = 120;
    client::trader trader(mix, t->walk.instruments, t->walk.middles, (std::uint64_t{index} << 32U) + 1,
                          t->options.seed * 1'000'003 + index);
    const auto read_answers = [](client::order_session* s, client::trader* own) -> io::task<void> {
        while (!co_await s->fill()) {
            while (true) {
                const auto answer = s->poll();
                if (!answer) co_return;
                if (!*answer) break;
                if ((*answer)->reject) {
                    own->on_reject((*answer)->reject->session_reject_reason);
                } else {
                    own->on_event((*answer)->event);
                }
            }
        }
    };
    io::task_scope helpers(t->context);
    helpers.spawn(read_answers(session->get(), &trader));
    helpers.spawn((*session)->keep_alive());
    double due = 0;
    while (!co_await io::sleep_for(tick_interval)) {
        trader.set_middles(t->walk.middles);
        due += t->options.rate * std::chrono::duration<double>(tick_interval).count() / traders_count;
        for (; due >= 1; --due) {
            if ((*session)->send(trader.next_request()) == 0) break;
            ++t->requests;
        }
        if (co_await (*session)->flush()) break;
    }
    helpers.request_stop();
    co_await helpers.join();
    (*session)->abandon();
}

io::task<watch_result> run_demo(traffic* t, watch_settings settings) {
    io::signal_set signals(t->context, {SIGINT, SIGTERM});
    io::task_scope traders(t->context);
    const std::uint32_t count = std::min(traders_max, t->account.sessions_count);
    for (std::uint32_t i = 0; i < count; ++i) traders.spawn(trade(t, i, count));
    traders.spawn(wander(t));
    watch_result result;
    io::task_scope watching(t->context);
    io::task_scope waiting(t->context);
    waiting.spawn(stop_on_signal(&watching, &signals));
    watching.spawn(watch_market_into(std::move(settings), &result));
    co_await watching.join();
    waiting.request_stop();
    co_await waiting.join();
    traders.request_stop();
    co_await traders.join();
    co_return result;
}

std::string hexadecimal(const wire::api_key& key) {
    std::string text;
    for (const std::byte b : key) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
    return text;
}

/// How to connect to the exchange, in lines.
std::vector<std::string> how_to_connect(const node::configuration& c, const node::venue& exchange,
                                        const api_thread* web, std::span<const api::api_key> keys) {
    std::vector<std::string> lines;
    lines.push_back(fmt::format("order entry  {}   Corro Binary, docs/spec/corro_binary.md",
                                exchange.order_entry_endpoint().to_string()));
    if (const auto fix = exchange.fix_endpoint()) {
        lines.push_back(fmt::format("FIX          {}   FIX 4.2, 4.4, 5.0; docs/spec/fix.md", fix->to_string()));
    }
    if (web != nullptr) {
        for_each_address(web->role(), [&](const char* http, const char* ws, const std::string& at) {
            if (!dashboard_files().empty())
                lines.push_back(fmt::format("dashboard    {}://{}/   in a browser", http, at));
            lines.push_back(fmt::format("API          {}://{}/ws/api/v2   JSON-RPC, docs/spec/api.md", ws, at));
            lines.push_back(fmt::format("             {}://{}/api/v2/public/get_instruments", http, at));
        });
    }
    lines.push_back(
        fmt::format("feed         {}   SoupBinTCP, docs/spec/market_data.md", exchange.feed_endpoint().to_string()));
    lines.push_back(fmt::format("snapshots    {}", exchange.snapshot_endpoint().to_string()));
    for (const gateway::account& a : c.accounts) {
        if (a.name == traffic_account) continue;
        lines.push_back(fmt::format("log on as    account {} ({}), {} sessions, key {}", a.id.value, a.name,
                                    a.sessions_count, hexadecimal(a.key)));
    }
    for (const gateway::account& a : c.accounts) {
        for (const std::string& name : a.fix_names) {
            if (name.empty()) continue;
            lines.push_back(fmt::format("by FIX       SenderCompID {}, TargetCompID {}, Password: the key of {}", name,
                                        c.fix_comp_id, a.name));
        }
    }
    for (const api::api_key& key : keys) {
        const auto owner = std::ranges::find(c.accounts, key.account, &gateway::account::id);
        lines.push_back(
            fmt::format("by the API   client_id {}, client_secret: the key of {}", key.client_id, owner->name));
    }
    return lines;
}

int demo(const demo_options& options) {
    raise_descriptor_limit();
    node::configuration configuration = options.config.empty()
                                            ? node::parse_configuration(demo_configuration, "demo.toml")
                                            : node::load_configuration(options.config);
    std::unique_ptr<passing_folder> past;
    if (configuration.journal_directory.empty() && !options.no_journal) past = keep_past(configuration);
    const gateway::account* account = nullptr;
    for (const gateway::account& a : configuration.accounts) {
        if (a.name == traffic_account) account = &a;
    }
    if (account == nullptr) {
        throw node::configuration_error(
            fmt::format("{}: the demonstration needs an account named \"{}\"", options.config, traffic_account));
    }
    const std::vector<api::api_key> keys = options.config.empty()
                                               ? node::parse_api_keys(demo_configuration, "demo.toml", configuration)
                                               : node::load_api_keys(configuration);
    io::platform& real = io::default_platform();
    const auto shifted = options.clock.empty() ? nullptr : platform_with_clock(real, options.clock);
    const auto started = when_free([&] {
        return std::make_unique<exchange_thread>(configuration,
                                                 io::context_options(shifted == nullptr ? real : *shifted));
    });
    exchange_thread& venue = *started;
    const std::unique_ptr<api_thread> web = when_free([&] { return start_api(configuration, venue.exchange(), keys); });
    const std::vector<std::string> details = how_to_connect(configuration, venue.exchange(), web.get(), keys);
    for (const std::string& line : details) fmt::print("{}\n", line);
    std::fflush(stdout);

    io::context context;
    traffic t{context, venue.exchange().order_entry_endpoint(), *account, options, {}, {}, 0};
    t.walk.instruments = configuration.instruments;
    t.walk.random = base::prng(options.seed);
    for (const domain::instrument& i : configuration.instruments) {
        t.walk.middles.push_back(domain::price_ticks{(i.price_low.value + i.price_high.value) / 2});
    }
    watch_settings settings;
    settings.feed = venue.exchange().feed_endpoint();
    settings.snapshot = venue.exchange().snapshot_endpoint();
    settings.seconds = options.seconds;
    settings.picture = !options.plain && can_show_pictures("corro demo");
    settings.headline = fmt::format("corro demo   order entry {}   feed {}",
                                    venue.exchange().order_entry_endpoint().to_string(), settings.feed.to_string());
    settings.details = details;
    const watch_result result = io::block_on(context, run_demo(&t, std::move(settings)));
    venue.close();
    print_report(venue.exchange(), true);
    fmt::print("traffic      {} requests; the view saw {} messages and {} trades\n", t.requests, result.messages,
               result.trades);
    const std::string error = t.error.empty() ? result.error : t.error;
    if (error.empty()) return 0;
    fmt::print(stderr, "corro demo: {}\n", error);
    return 1;
}

}  // namespace

void add_demo_command(command_line& line) {
    auto options = std::make_shared<demo_options>();
    const subcommand command =
        line.add_subcommand("demo", "Run an exchange, background traffic and a live view in one");
    command.add_option("-c,--config", options->config, "Configuration file instead of the built-in one");
    command.add_option("--rate", options->rate, "Background requests per second")
        .shows_default()
        .in_range(0.0, 200'000.0);
    command.add_option("--seed", options->seed, "Seed of the background traffic").shows_default();
    command.add_option("--seconds", options->seconds, "Seconds until the end; 0: until Ctrl-C or q")
        .shows_default()
        .not_negative();
    command.add_option("--clock", options->clock, clock_help);
    command.add_flag("--no-journal", options->no_journal,
                     "Keep no temporary journal when the configuration has none: the dashboard then has no past");
    command.add_flag("--plain", options->plain, "Print a line per second, also on a terminal");
    command.runs([options] { return demo(*options); });
}

}  // namespace corro::app
