// SPDX-License-Identifier: Apache-2.0
// F4: a venue that a former version left is upgraded while its clients have orders and unread answers in it.
//
// A golden folder, tests/golden/files/NAME.vN, has what a venue of that version had on its disk when it was killed, its
// configuration, and the answers that it had given. A venue of today starts on it in a simulated world, goes on trading
// with the same clients through kills and power cuts, and still has each of those answers under its number.
// `tools/golden` makes the folders of a new `kept_state_version`.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "client/order_session.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/private_event.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "sim/disk.hpp"
#include "sim/world.hpp"
#include "simulation/findings.hpp"
#include "simulation/order_flow.hpp"
#include "simulation/programs.hpp"
#include "simulation/served_process.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

/// Raised by a release that changes what a venue keeps: the journal, snapshots, or the files beside them.
constexpr std::uint32_t kept_state_version = 2;

constexpr std::uint32_t known_clients_count = 2;
constexpr std::uint64_t names_of_client = 1'000'000;  // ClOrdIDs of client k begin at k times this
constexpr std::uint64_t names_of_today = 500'000;     // behind that
const std::filesystem::path golden_files = std::filesystem::path(CORRO_SOURCE_DIR) / "tests/golden/files";

/// One line for an answer: what its client knows of it.
std::string words_of(const domain::event& e) {
    std::string words =
        fmt::format("{} instrument {} side {} reason {} flags {} command {}", static_cast<int>(e.kind),
                    e.instrument.value, static_cast<int>(e.side), static_cast<int>(e.reason), e.flags, e.command.value);
    switch (e.kind) {
        case domain::event_kind::order_executed:
            return words + fmt::format(" order {} name {} price {} quantity {} leaves {}", e.execution.order.value,
                                       e.execution.client_order.value, e.execution.price.value,
                                       e.execution.quantity.value, e.execution.leaves.value);
        case domain::event_kind::trade_capture:
            return words + fmt::format(" trade {} order {} price {} quantity {}", e.capture.trade.value,
                                       e.capture.order.value, e.capture.price.value, e.capture.quantity.value);
        case domain::event_kind::quote_entered:
            return words + fmt::format(" name {} bid {} ask {} request {}", e.quote.client_order.value,
                                       e.quote.bid_quantity.value, e.quote.ask_quantity.value, e.quote.request);
        default:
            return words + fmt::format(" order {} name {} price {} quantity {} request {}", e.order.order.value,
                                       e.order.client_order.value, e.order.price.value, e.order.quantity.value,
                                       e.order.request);
    }
}

/// A client's session, and every answer that it has got, by number.
struct known_client {
    client::credentials who;
    std::unique_ptr<client::order_session> session;
    std::map<std::uint64_t, std::string> answers;
    std::uint64_t next_name = 0;
};

/// Makes the next request of a client; takes an event of the answer.
class request_source {
 public:
    virtual ~request_source() = default;
    virtual domain::command next(domain::time_ns wall) = 0;
    virtual void sent(std::uint32_t number, const domain::command& request, std::int64_t now) = 0;
    virtual void take(const domain::event& e, std::int64_t now) = 0;
};

/// Orders of all kinds, as in other runs.
class drawn_requests final : public request_source {
 public:
    drawn_requests(std::vector<domain::instrument> instruments, std::uint64_t first_name, std::uint64_t seed)
        : flow_(std::move(instruments), first_name, seed, &found_) {}
    domain::command next(domain::time_ns wall) override { return flow_.next_request(wall); }
    void sent(std::uint32_t number, const domain::command& request, std::int64_t now) override {
        flow_.sent(number, request, now);
    }
    void take(const domain::event& e, std::int64_t now) override {
        static_cast<void>(flow_.take(e, now));
        EXPECT_TRUE(found_.empty()) << found_.words();
    }

 private:
    findings found_;
    order_flow flow_;
};

/// Buys and sells around one price, so that orders of before trade too.
class plain_requests final : public request_source {
 public:
    explicit plain_requests(known_client* of) : of_(of) {}
    domain::command next(domain::time_ns) override {
        domain::command order;
        order.kind = domain::command_kind::enter_order;
        const std::uint64_t n = of_->next_name++;
        order.client_order = domain::client_order_id{n};
        order.instrument = domain::instrument_id{static_cast<std::uint32_t>(1 + n % 2)};
        order.order_terms().side = n / 2 % 2 == 0 ? domain::side::buy : domain::side::sell;
        order.enter_order().price = domain::price_ticks{10'000 + static_cast<std::int64_t>(n % 5) - 2};
        order.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + n % 3)};
        return order;
    }
    void sent(std::uint32_t, const domain::command&, std::int64_t) override {}
    void take(const domain::event&, std::int64_t) override {}

 private:
    known_client* of_;
};

/// Takes what comes next; false at the end of the connection.
io::task<bool> take_next(known_client* c, bool* is_answered, request_source* from) {
    const auto one = co_await c->session->next();
    if (!one) co_return false;
    if (one->reject || one->gap) {
        ADD_FAILURE() << "a request was refused, or answers are missing";
        co_return false;
    }
    const auto [place, is_new] = c->answers.emplace(one->sequence, words_of(one->event));
    EXPECT_TRUE(is_new) << "answer " << one->sequence << " came twice";
    io::context& on = co_await io::this_context();
    from->take(one->event, on.now().time_since_epoch().count());
    if (domain::completes_request(one->event)) *is_answered = true;
    co_return true;
}

/// Connects again until the venue lets it, and sends what the venue does not have.
io::task<void> come_back(known_client* c) {
    while (true) {
        const std::error_code refused = co_await c->session->reconnect(order_entry_of(venue_shape(), 0));
        if (!refused) break;
        const std::error_code stopped = co_await io::sleep_for(50ms);
        if (stopped) co_return;
    }
    EXPECT_TRUE(c->session->resend_not_accepted());
    static_cast<void>(co_await c->session->flush());
}

/// Sends requests one after another, each behind the answer to the one before, over as many connections as that needs.
io::task<void> trade(known_client* c, request_source* from, std::uint32_t count, bool* is_done) {
    io::context& on = co_await io::this_context();
    for (std::uint32_t i = 0; i < count; ++i) {
        const domain::command request = from->next(domain::time_ns{on.wall_now().time_since_epoch().count()});
        const std::uint32_t number = c->session->send(request);
        EXPECT_NE(number, 0U);
        from->sent(number, request, on.now().time_since_epoch().count());
        static_cast<void>(co_await c->session->flush());
        bool is_answered = false;
        while (!is_answered) {
            const bool has_come = co_await take_next(c, &is_answered, from);
            if (!has_come) co_await come_back(c);
        }
        const std::error_code stopped = co_await io::sleep_for(5ms);
        if (stopped) co_return;
    }
    *is_done = true;
}

io::task<void> log_on(known_client* c, bool* is_on) {
    while (true) {
        auto session = co_await client::order_session::log_on(order_entry_of(venue_shape(), 0), c->who);
        if (session) {
            c->session = std::move(*session);
            break;
        }
        const std::error_code stopped = co_await io::sleep_for(50ms);
        if (stopped) co_return;
    }
    *is_on = true;
}

/// Takes answers until it has `count`.
io::task<void> take_answers(known_client* c, std::size_t count, bool* is_done) {
    plain_requests nobody(c);
    bool is_answered = false;
    while (c->answers.size() < count) {
        const bool has_come = co_await take_next(c, &is_answered, &nobody);
        if (!has_come) co_return;
    }
    *is_done = true;
}

/// A venue on a host, with the files of a folder on its disk, and two clients on another.
class upgraded_world {
 public:
    explicit upgraded_world(const std::string& configuration_file) {
        node::configuration c = node::load_configuration(configuration_file);
        c.order_entry_listen = order_entry_of(venue_shape(), 0).to_string();
        c.feed_listen = feed_of(venue_shape(), 0).to_string();
        c.snapshot_listen = snapshots_of(venue_shape(), 0).to_string();
        for (std::size_t i = 0; i < c.partitions.size(); ++i) {
            c.partitions[i].feed_listen = feed_of(venue_shape(), i).to_string();
            c.partitions[i].snapshot_listen = snapshots_of(venue_shape(), i).to_string();
        }
        instruments = c.instruments;
        journal_folder = c.journal_directory;
        venue_ = std::make_unique<served_process>(venue_host, "venue", [c](io::context& on) {
            return std::make_unique<venue_program>(on, c, node::order_entry_place::here);
        });
        for (std::uint32_t k = 0; k < known_clients_count; ++k) {
            client::credentials who;
            who.account = domain::account_id{k + 1};
            who.key.fill(static_cast<std::byte>(k + 1));
            who.cancel_on_disconnect = false;
            who.next_answer = 1;
            clients.push_back({.who = who, .session = {}, .answers = {}, .next_name = (k + 1) * names_of_client});
        }
    }
    ~upgraded_world() {
        for (known_client& c : clients) c.session.reset();
        venue_->close();
        EXPECT_TRUE(go_on_until([this] { return !venue_->is_running(); }, 60s));
    }

    template <class Condition>
    bool go_on_until(Condition is_true, std::chrono::nanoseconds longest) {
        for (const io::steady_time end = world.now() + longest; !is_true();) {
            if (world.now() >= end) return false;
            world.run_for(10ms);
            const auto ended = venue_->tend();
            if (ended) {
                EXPECT_EQ(ended->failure, "");
            }
        }
        return true;
    }
    void start() { venue_->start(); }
    [[nodiscard]] bool is_serving() const { return venue_->is_serving(); }
    void kill() { venue_->kill(); }
    void cut_power() {
        venue_host.cut_power();
        venue_->lose_power();
    }
    /// Runs a task of each client, made by `make`, beside the venue.
    template <class Make>
    bool run_clients(Make make, std::chrono::nanoseconds longest) {
        io::task_scope tasks(trading);
        std::vector<char> done(clients.size(), 0);
        for (std::size_t k = 0; k < clients.size(); ++k) {
            tasks.spawn(make(&clients[k], k, reinterpret_cast<bool*>(&done[k])));
        }
        const bool all = go_on_until([&] { return std::ranges::count(done, 0) == 0; }, longest);
        tasks.request_stop();
        io::block_on(trading, tasks.join());
        return all;
    }
    bool log_on_all() {
        return run_clients([](known_client* c, std::size_t, bool* done) { return log_on(c, done); }, 10s);
    }

    sim::world world{7};
    sim::host& venue_host = world.add_host("venue", {address_of_host(0)});
    sim::host& trading_host = world.add_host("clients", {io::endpoint::ipv4({10, 0, 1, 1}, 0)});
    io::context trading{io::context_options(trading_host.start_process("clients"))};
    std::vector<domain::instrument> instruments;
    std::string journal_folder;
    std::vector<known_client> clients;

 private:
    std::unique_ptr<served_process> venue_;
};

// --- Golden folders -------------------------------------------------------------------------------------------------

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// The files below a folder of the disk, by path.
void collect(sim::disk& disk, const std::string& folder, std::vector<std::string>* paths) {
    const auto names = disk.list(folder);
    if (!names) return;
    const std::vector<std::string> listed = *names;
    for (const std::string& name : listed) {
        const std::string path = folder + "/" + name;
        if (disk.list(path)) {
            collect(disk, path, paths);
        } else {
            paths->push_back(path);
        }
    }
}

/// Files end in zeros that were reserved: `sizes.txt` has their length, and the golden file what comes before the
/// zeros.
void write_disk(sim::disk& disk, const std::string& of, const std::filesystem::path& into) {
    std::vector<std::string> paths;
    collect(disk, of, &paths);
    std::ofstream sizes(into / "sizes.txt");
    for (const std::string& path : paths) {
        const sim::disk::contents bytes = disk.bytes_of(path);
        const auto last = std::find_if(bytes.rbegin(), bytes.rend(), [](std::byte b) { return b != std::byte{0}; });
        const std::string text(reinterpret_cast<const char*>(bytes.data()),
                               static_cast<std::size_t>(bytes.rend() - last));
        const std::string name = path.substr(of.size() + 1);
        std::filesystem::create_directories((into / "disk" / name).parent_path());
        std::ofstream(into / "disk" / name, std::ios::binary) << text;
        sizes << bytes.size() << ' ' << name << '\n';
    }
}

void read_disk(const std::filesystem::path& from, const std::string& folder, sim::disk& into) {
    std::istringstream sizes(text_of(from / "sizes.txt"));
    std::size_t size = 0;
    std::string name;
    while (sizes >> size >> name) {
        const std::string text = text_of(from / "disk" / name);
        const auto bytes = std::as_bytes(std::span(text));
        sim::disk::contents whole(bytes.begin(), bytes.end());
        ASSERT_LE(whole.size(), size);
        whole.resize(size);
        into.put(folder + "/" + name, whole);
    }
}

/// A line for each answer: client, number, words.
std::string text_of_answers(const std::vector<known_client>& clients) {
    std::string text;
    for (std::size_t k = 0; k < clients.size(); ++k) {
        for (const auto& [number, words] : clients[k].answers) text += fmt::format("{} {} {}\n", k + 1, number, words);
    }
    return text;
}

std::vector<std::map<std::uint64_t, std::string>> read_answers(const std::filesystem::path& file) {
    std::vector<std::map<std::uint64_t, std::string>> of_clients(known_clients_count);
    std::istringstream text(text_of(file));
    for (std::string line; std::getline(text, line);) {
        std::istringstream words(line);
        std::size_t client = 0;
        std::uint64_t number = 0;
        words >> client >> number;
        std::string rest;
        std::getline(words >> std::ws, rest);
        of_clients.at(client - 1)[number] = rest;
    }
    return of_clients;
}

/// What this version leaves: trading, a kill, the files, and then the answers that it gives for them.
void write_golden(const std::filesystem::path& folder) {
    upgraded_world w(folder / "config.toml");
    w.start();
    ASSERT_TRUE(w.log_on_all());
    std::vector<std::unique_ptr<drawn_requests>> flows;
    for (std::uint32_t k = 0; k < known_clients_count; ++k) {
        flows.push_back(std::make_unique<drawn_requests>(w.instruments, w.clients[k].next_name, k));
    }
    ASSERT_TRUE(w.run_clients(
        [&flows](known_client* c, std::size_t k, bool* done) { return trade(c, flows[k].get(), 80, done); }, 60s));
    w.kill();
    w.go_on_until([] { return false; }, 100ms);
    write_disk(w.venue_host.disk(), w.journal_folder, folder);
    w.start();
    for (known_client& c : w.clients) c.answers.clear();
    ASSERT_TRUE(w.log_on_all());
    w.run_clients([](known_client* c, std::size_t, bool* done) { return take_answers(c, ~std::size_t{0}, done); }, 2s);
    std::ofstream(folder / "answers.txt") << text_of_answers(w.clients);
}

/// The folders of a venue, in the order of their versions.
std::vector<std::filesystem::path> folders_of(const std::string& name) {
    std::vector<std::filesystem::path> found;
    for (std::uint32_t version = 1; version <= kept_state_version; ++version) {
        const std::filesystem::path folder = golden_files / fmt::format("{}.v{}", name, version);
        if (std::filesystem::exists(folder / "answers.txt")) found.push_back(folder);
    }
    return found;
}

class upgrade : public ::testing::TestWithParam<const char*> {};

TEST_P(upgrade, F4_the_venue_of_every_version_goes_on_with_its_clients_through_kills_and_power_cuts) {
    const std::filesystem::path newest = golden_files / fmt::format("{}.v{}", GetParam(), kept_state_version);
    if (std::getenv("CORRO_WRITE_GOLDEN") != nullptr && std::filesystem::exists(newest / "config.toml") &&
        !std::filesystem::exists(newest / "answers.txt")) {
        write_golden(newest);
    }
    const std::vector<std::filesystem::path> folders = folders_of(GetParam());
    ASSERT_FALSE(folders.empty());
    for (const std::filesystem::path& folder : folders) {
        SCOPED_TRACE(folder.filename().string());
        const auto told = read_answers(folder / "answers.txt");
        upgraded_world w(folder / "config.toml");
        read_disk(folder, w.journal_folder, w.venue_host.disk());
        w.start();
        ASSERT_TRUE(w.go_on_until([&w] { return w.is_serving(); }, 10s));
        ASSERT_TRUE(w.log_on_all());
        ASSERT_TRUE(w.run_clients(
            [&told](known_client* c, std::size_t k, bool* done) { return take_answers(c, told[k].size(), done); },
            10s));
        for (std::size_t k = 0; k < known_clients_count; ++k) {
            EXPECT_GT(told[k].size(), 80U);
            EXPECT_EQ(w.clients[k].answers, told[k]) << "client " << k + 1;
        }

        // They go on, while the upgraded venue is killed and loses its power.
        for (known_client& c : w.clients) c.next_name += names_of_today;
        std::vector<plain_requests> requests;
        for (known_client& c : w.clients) requests.emplace_back(&c);
        io::task_scope tasks(w.trading);
        std::vector<char> done(known_clients_count, 0);
        for (std::size_t k = 0; k < known_clients_count; ++k) {
            tasks.spawn(trade(&w.clients[k], &requests[k], 300, reinterpret_cast<bool*>(&done[k])));
        }
        for (int fault = 0; fault < 4; ++fault) {
            w.go_on_until([] { return false; }, 300ms);
            if (fault % 2 == 0) {
                w.kill();
            } else {
                w.cut_power();
            }
            w.go_on_until([] { return false; }, 200ms);
            if (fault % 2 != 0) w.venue_host.restore_power();
            w.start();
        }
        EXPECT_TRUE(w.go_on_until([&done] { return std::ranges::count(done, 0) == 0; }, 60s));
        tasks.request_stop();
        io::block_on(w.trading, tasks.join());

        // Everything again from the first answer on, which the version before has given.
        std::vector<std::map<std::uint64_t, std::string>> known;
        for (known_client& c : w.clients) {
            c.session->abandon();
            known.push_back(std::exchange(c.answers, {}));
        }
        w.go_on_until([] { return false; }, 1s);
        ASSERT_TRUE(w.log_on_all());
        ASSERT_TRUE(w.run_clients([&known](known_client* c, std::size_t k,
                                           bool* is_done) { return take_answers(c, known[k].size(), is_done); },
                                  10s));
        for (std::size_t k = 0; k < known_clients_count; ++k) {
            EXPECT_GT(known[k].size(), told[k].size() + 300) << "every request is answered";
            EXPECT_EQ(w.clients[k].answers, known[k]) << "client " << k + 1;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(of, upgrade, ::testing::Values("venue", "partitions"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace corro::simulation
