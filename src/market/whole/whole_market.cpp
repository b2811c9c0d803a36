// SPDX-License-Identifier: Apache-2.0
#include "market/whole/whole_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/assert.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "journal/reader.hpp"
#include "journal/storage.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/venue.hpp"
#include "sim/world.hpp"

namespace corro::market {
namespace {

using namespace std::chrono_literals;

constexpr const char* journal_directory = "/journal";
constexpr std::chrono::nanoseconds begin_time = 60s;  // of the market, in the world's time
constexpr std::chrono::milliseconds heartbeat = 60'000ms;

io::endpoint venue_at(std::uint16_t port) noexcept {
    return io::endpoint::ipv4({10, 0, 0, 1}, port);
}
constexpr std::uint16_t orders_port = 7'001;
constexpr std::uint16_t feed_port = 7'002;
constexpr std::uint16_t snapshots_port = 7'003;

wire::api_key key_of(std::size_t agent) noexcept {
    wire::api_key key{};
    const std::uint64_t number = agent + 1;
    std::memcpy(key.data(), &number, sizeof number);
    return key;
}

node::configuration configuration_of(const market& world, const whole_options& how) {
    const facility::facility_options reserved = world.venue_options();
    node::configuration c;
    c.instruments = world.options().instruments;
    c.orders_max = reserved.orders_max;
    c.accounts_max = reserved.accounts_max;
    c.account_open_orders_max = 0;  // a market limits none
    for (std::size_t i = 0; i < world.agents_count(); ++i) {
        gateway::account a;
        a.id = world.agent_at(i).account();
        a.name = world.name_of(i);
        a.key = key_of(i);
        a.is_operator = world.is_operator(i);
        c.accounts.push_back(std::move(a));
    }
    c.order_entry_listen = venue_at(orders_port).to_string();
    c.feed_listen = venue_at(feed_port).to_string();
    c.snapshot_listen = venue_at(snapshots_port).to_string();
    c.journal_directory = journal_directory;
    c.durability = how.durability;
    c.snapshot_every = 0;
    c.threading = node::threading_mode::inline_;
    c.busy_poll = 0us;  // time stands still while somebody polls
    return c;
}

sim::link_options options_of(const delay& from) {
    sim::link_options made;
    made.latency_min = std::chrono::nanoseconds(from.least_ns());
    made.latency_max = std::chrono::nanoseconds(from.most_ns());
    return made;
}

void require(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
}

void check_times(const market& world) {
    const venue_times& times = world.options().times;
    require(times.gateway.most_ns() == 0 && times.engine.most_ns() == 0 && times.bump_ns == 0 && times.resting_ns == 0,
            "a whole venue has times of its own: leave out the gateway's, the engine's, speed bumps and resting times");
    require(world.source() == nullptr, "a whole venue takes no recording");
}

void check_link(const std::string& agent, const link& way) {
    const auto is_plain = [](const delay& d) { return d.is_constant() || d.is_uniform(); };
    require(is_plain(way.request) && is_plain(way.answer) && is_plain(way.market_data),
            fmt::format("{}: the simulated network has constant and uniform delays", agent));
    require(way.answer == way.market_data,
            fmt::format("{}: answers and market data come over the same network; give them the same delay", agent));
    require(way.bump_ns == 0, fmt::format("{}: a whole venue has no speed bumps", agent));
    require(way.in_order, fmt::format("{}: a session's messages keep their order", agent));
}

io::task<std::vector<domain::command>> read_journal(io::context* on) {
    const std::unique_ptr<io::storage> files = on->runs_on().make_storage(*on, nullptr);
    const journal::reader_options anybody;
    auto opened = co_await journal::reader::open(files.get(), journal_directory, anybody);
    if (!opened) throw std::runtime_error(opened.error().text);
    std::vector<domain::command> all;
    for (;;) {
        const auto commands = co_await (*opened)->next();
        if (!commands) throw std::runtime_error(commands.error().text);
        if (commands->empty()) co_return all;
        all.insert(all.end(), commands->begin(), commands->end());
    }
}

bool is_note(const domain::command& c) noexcept {
    return c.request() == 0;
}

}  // namespace

struct whole_market::parts final : outside_venue {
    /// An agent's session.
    struct seat {
        std::size_t agent = 0;
        std::unique_ptr<client::order_session> session;
        io::auto_event has_output;
    };
    /// The agents with one link.
    struct office {
        office(sim::host& on, std::uint32_t feed_number) : number(feed_number), process(on.start_process("agents")) {}
        std::uint32_t number;
        sim::process& process;
        io::context context{io::context_options(process)};
        std::vector<seat*> seats;
        std::unique_ptr<client::feed_session> feed;
        bool is_ready = false;
        io::task_scope tasks{context};
    };

    /// The venue's process.
    struct served {
        served(sim::host& on, const node::configuration& c) : process(on.start_process("corro")), venue(context, c) {}
        sim::process& process;
        io::context context{io::context_options(process)};
        node::venue venue;
        bool is_serving = false;
        io::task_scope tasks{context};
    };

    parts(std::unique_ptr<market> of, const whole_options& how)
        : agents(std::move(of)), world(agents->options().seed), settings(configuration_of(*agents, how)) {
        check_times(*agents);
        make_offices();
        exchange.emplace(*exchange_host, settings);
        try {
            begin();
        } catch (...) {
            close();
            throw;
        }
    }
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;
    ~parts() override { close(); }

    void begin() {
        exchange->tasks.spawn(serve(this));
        world.run_for(1s);
        for (office& each : offices) each.tasks.spawn(open(this, &each));
        world.run_until(io::steady_time(begin_time));
        check();
        require(exchange->is_serving && std::ranges::all_of(offices, &office::is_ready), "the agents could not log on");
    }

    void make_offices() {
        exchange_host = &world.add_host("exchange", {venue_at(0)});
        std::map<const link*, office*> of_link;
        std::vector<std::uint32_t> feed_of_agent;
        seats.resize(agents->agents_count());
        for (std::size_t i = 0; i < seats.size(); ++i) {
            const link& way = agents->agent_at(i).way();
            office*& there = of_link[&way];
            if (there == nullptr) {
                check_link(agents->name_of(i), way);
                const auto number = static_cast<std::uint32_t>(offices.size());
                const auto high = static_cast<std::uint8_t>(1 + number / 250);
                const auto low = static_cast<std::uint8_t>(1 + number % 250);
                sim::host& host =
                    world.add_host(fmt::format("office {}", number + 1), {io::endpoint::ipv4({10, 1, high, low}, 0)});
                world.link_between(host, *exchange_host).options() = options_of(way.request);
                world.link_between(*exchange_host, host).options() = options_of(way.answer);
                there = &offices.emplace_back(host, number);
            }
            seats[i] = std::make_unique<seat>();
            seats[i]->agent = i;
            there->seats.push_back(seats[i].get());
            feed_of_agent.push_back(there->number);
        }
        agents->trade_at(*this, feed_of_agent);
    }

    [[nodiscard]] std::int64_t now_ns() const noexcept {
        return static_cast<std::int64_t>(world.now_ns()) - begin_time.count();
    }
    /// What comes while the agents log on is there when the market begins.
    [[nodiscard]] std::int64_t arrival_ns() const noexcept { return std::max<std::int64_t>(now_ns(), 0); }

    void fail(const std::string& what) {
        if (failure.empty() && !is_closing) failure = what;
    }
    void check() const {
        if (!failure.empty()) throw std::runtime_error(failure);
    }

    static io::task<void> serve(parts* all) {
        try {
            co_await all->exchange->venue.start();
            all->exchange->is_serving = true;
            co_await all->exchange->venue.run();
            if (const std::string* why = all->exchange->venue.failure(); why != nullptr) all->fail(*why);
        } catch (const std::exception& e) {
            all->fail(e.what());
        }
        all->exchange->is_serving = false;
    }

    // Tasks of an office.

    static io::task<void> open(parts* all, office* here) {
        for (seat* each : here->seats) {
            client::credentials who;
            who.account = all->agents->agent_at(each->agent).account();
            who.key = key_of(each->agent);
            who.heartbeat = heartbeat;
            who.cancel_on_disconnect = false;
            auto logged_on = co_await client::order_session::log_on(venue_at(orders_port), who);
            if (!logged_on) {
                all->fail(fmt::format("{} cannot log on: {}", all->agents->name_of(each->agent),
                                      logged_on.error().message()));
                co_return;
            }
            each->session = std::move(*logged_on);
            here->tasks.spawn(each->session->keep_alive());
            here->tasks.spawn(write(all, each));
            here->tasks.spawn(read(all, each));
        }
        auto joined = co_await client::feed_session::join(venue_at(feed_port), venue_at(snapshots_port));
        if (!joined) {
            all->fail(fmt::format("the feed cannot be joined: {}", joined.error().message()));
            co_return;
        }
        here->feed = std::move(*joined);
        here->tasks.spawn(here->feed->keep_alive());
        here->tasks.spawn(follow(all, here));
        here->is_ready = true;
    }

    static io::task<void> write(parts* all, seat* own) {
        for (;;) {
            const std::error_code stopped = co_await own->has_output.wait();
            if (stopped) co_return;
            const std::error_code error = co_await own->session->flush();
            if (!error) continue;
            all->fail(fmt::format("{} cannot send: {}", all->agents->name_of(own->agent), error.message()));
            co_return;
        }
    }

    static io::task<void> read(parts* all, seat* own) {
        std::error_code error;
        while (!error) {
            error = all->take_answers(*own);
            if (error) break;
            error = co_await own->session->fill();
        }
        all->fail(fmt::format("the session of {} has ended: {}", all->agents->name_of(own->agent), error.message()));
    }

    std::error_code take_answers(seat& own) {
        for (;;) {
            const auto answer = own.session->poll();
            if (!answer) return answer.error();
            if (!*answer) break;
            if ((*answer)->reject || (*answer)->gap) return std::make_error_code(std::errc::bad_message);
            if ((*answer)->sequence != 0) agents->hear(arrival_ns(), (*answer)->event);
        }
        plan_agents();
        return {};
    }

    static io::task<void> follow(parts* all, office* here) {
        std::error_code error;
        while (!error) {
            for (;;) {
                const auto event = here->feed->poll();
                if (!event) error = event.error();
                if (!event || !*event) break;
                all->agents->show(all->arrival_ns(), here->number, **event);
            }
            if (error) break;
            all->plan_agents();
            error = co_await here->feed->fill();
        }
        all->fail(fmt::format("the feed has ended: {}", error.message()));
    }

    /// Lets the agents act when the next of them is due: outside of the turns of the offices, because they act on the
    /// sessions of all.
    void plan_agents() {
        if (now_ns() < 0) return;
        const std::int64_t next_ns = std::max(agents->next_ns(), now_ns());
        if (next_ns >= planned_ns || next_ns >= never_ns) return;
        planned_ns = next_ns;
        world.plan(static_cast<std::uint64_t>(begin_time.count() + next_ns), [this, next_ns] {
            if (planned_ns != next_ns || is_closing) return;  // something else became due before
            planned_ns = never_ns;
            agents->run(next_ns);
            plan_agents();
        });
    }

    void send(const agent& from, const domain::command& request) override {
        seat& own = *seats[from.index()];
        const std::uint32_t number = own.session->send(request);
        require(number != 0, fmt::format("{}: too many requests at once", agents->name_of(own.agent)));
        CORRO_ASSERT(number == request.request(), "a session numbers the requests of its agent");
        own.has_output.set();
    }

    void run(std::int64_t until_ns) {
        plan_agents();
        world.run_until(io::steady_time(begin_time + std::chrono::nanoseconds(until_ns)));
        check();
    }

    void close() {
        if (std::exchange(is_closing, true)) return;
        for (office& each : offices) {
            each.tasks.request_stop();
            for (seat* one : each.seats) {
                if (one->session != nullptr) one->session->abandon();
            }
            if (each.feed != nullptr) each.feed->abandon();
            io::block_on(each.context, each.tasks.join());
        }
        if (exchange->is_serving) exchange->venue.close();
        io::block_on(exchange->context, exchange->tasks.join());
    }

    std::unique_ptr<market> agents;
    sim::world world;
    node::configuration settings;
    sim::host* exchange_host = nullptr;
    std::optional<served> exchange;
    std::vector<std::unique_ptr<seat>> seats;
    std::list<office> offices;
    std::string failure;
    std::int64_t planned_ns = never_ns;  // when the agents act next
    bool is_closing = false;
};

whole_market::whole_market(std::unique_ptr<market> agents, const whole_options& how)
    : parts_(std::make_unique<parts>(std::move(agents), how)) {}

whole_market::~whole_market() = default;

void whole_market::run(std::int64_t until_ns) {
    parts_->run(until_ns);
}

void whole_market::close() {
    parts_->close();
    parts_->check();
}

std::vector<domain::command> whole_market::commands() {
    CORRO_ASSERT(parts_->is_closing, "a journal is read when nobody writes it");
    io::context here{io::context_options(parts_->exchange_host->start_process("reader"))};
    return io::block_on(here, read_journal(&here));
}

market& whole_market::agents() noexcept {
    return *parts_->agents;
}

std::int64_t whole_market::start_ns() noexcept {
    return std::chrono::nanoseconds(sim::world::beginning.time_since_epoch() + begin_time).count();
}

std::uint64_t whole_market::state_hash() const {
    return parts_->exchange->venue.state_hash();
}

std::uint64_t whole_market::commands_count() const {
    return parts_->exchange->venue.commands_count();
}

std::uint64_t whole_market::digest() const noexcept {
    return parts_->world.digest();
}

std::string difference_of(std::span<const domain::command> direct, std::span<const domain::command> whole) {
    std::size_t at = 0;
    for (domain::command c : whole) {
        if (is_note(c)) continue;
        if (at == direct.size()) {
            return fmt::format("the venue executed a request {} of session {} that the market did not", c.request(),
                               c.session.value);
        }
        const domain::command& expected = direct[at];
        ++at;
        c.sequence = expected.sequence;  // the notes of sessions have sequence numbers, too
        if (std::memcmp(&c, &expected, sizeof c) == 0) continue;
        return fmt::format(
            "command {}: the market executed request {} of session {} at {} ns, kind {}; the venue request {} of "
            "session "
            "{} at {} ns, kind {}",
            at, expected.request(), expected.session.value, expected.time.value, static_cast<int>(expected.kind),
            c.request(), c.session.value, c.time.value, static_cast<int>(c.kind));
    }
    if (at != direct.size()) {
        return fmt::format("the venue executed {} requests, the market {}", at, direct.size());
    }
    return {};
}

}  // namespace corro::market
