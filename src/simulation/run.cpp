#include "simulation/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/market_image.hpp"
#include "facility/facility.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "market_data/book_image.hpp"
#include "sim/world.hpp"
#include "simulation/faults.hpp"
#include "simulation/served_venue.hpp"
#include "simulation/traders.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t instruments_count = 2;
constexpr std::uint32_t accounts_count = 2;
constexpr std::uint32_t sessions_of_account_min = 8;
constexpr std::chrono::milliseconds turn{1};
const io::endpoint venue_address = io::endpoint::ipv4({10, 0, 0, 1}, 0);

node::configuration configuration_of(const plan& whole) {
    node::configuration c;
    c.threading = whole.threading;
    c.busy_poll = 0us;
    c.order_entry_listen = venue_address.with_port(7'001).to_string();
    c.feed_listen = venue_address.with_port(7'002).to_string();
    c.snapshot_listen = venue_address.with_port(7'003).to_string();
    c.orders_max = 5'000;
    c.feed_log_bytes = std::size_t{16} * 1024 * 1024;
    c.answers_kept = 100'000;
    c.session_answers_kept = 50'000;
    c.journal_directory = "/var/corro/journal";
    c.durability = whole.durability;
    c.journal_segment_bytes = whole.segment_bytes;
    c.snapshot_every = whole.snapshot_every;
    c.disk_patience = 10s;
    for (std::uint32_t id = 1; id <= instruments_count; ++id) {
        domain::instrument i;
        i.id = domain::instrument_id{id};
        i.name = domain::symbol{id == 1 ? "ONE" : "TWO"};
        i.tick_size = domain::price_nano{250'000'000};
        i.price_low = domain::price_ticks{0};
        i.price_high = domain::price_ticks{20'000};
        c.instruments.push_back(i);
    }
    const auto traders_of_account = static_cast<std::uint32_t>(whole.traders_count / accounts_count + 1);
    for (std::uint32_t id = 1; id <= accounts_count; ++id) {
        gateway::account a;
        a.id = domain::account_id{id};
        a.name = "account " + std::to_string(id);
        a.key.fill(static_cast<std::byte>(id));
        a.sessions_count = std::max(sessions_of_account_min, traders_of_account);
        c.accounts.push_back(a);
    }
    return c;
}

/// The digest that a book image of the facility's orders would have.
std::uint64_t digest_of_orders(const facility::facility& state, domain::instrument_id instrument) {
    struct order_digests final : facility::book_visitor {
        std::uint64_t sum = 0;
        void visit_level(domain::side, const domain::level&) override {}
        void visit_order(domain::side side, const facility::resting_order& o) override {
            sum += market_data::order_digest(o.order, side, o.price, o.open);
        }
    } orders;
    state.visit_book(instrument, orders);
    return orders.sum;
}

/// A host with traders, and a process for them.
struct client_host {
    client_host(sim::world& in, std::size_t number)
        : host(in.add_host("client " + std::to_string(number + 1),
                           {io::endpoint::ipv4({10, 0, 1, static_cast<std::uint8_t>(number + 1)}, 0)})) {}

    sim::host& host;
    io::context context{io::context_options(host.start_process("traders"))};
    std::vector<std::unique_ptr<trader>> traders;
    io::task_scope tasks{context};
};

class simulated_run {
 public:
    simulated_run(const plan& whole, const trace& tell, run_watcher* watcher)
        : plan_(whole),
          tell_(tell),
          watcher_(watcher),
          world_(whole.seed),
          host_(world_.add_host("venue", {venue_address})),
          venue_(host_, configuration_of(whole), &result_.found),
          begin_(world_.now()) {
        if (watcher_ != nullptr) {
            world_.set_observer(watcher_);
            watcher_->begins(world_);
        }
        set_usual_links();
        add_clients();
    }

    /// Whether its venue does not end. Then neither it nor its world can be destroyed.
    [[nodiscard]] bool is_stuck() const noexcept { return is_stuck_; }

    run_result perform() {
        start();
        faults_.plan(plan_.faults, client_hosts(), [this](std::string_view what) { say(what); });
        for (const io::steady_time end = begin_ + plan_.time; world_.now() < end && is_sound();) go_on();
        end_faults();
        settle();
        if (is_sound()) compare();
        finish();
        return result_;
    }

 private:
    [[nodiscard]] bool is_sound() const noexcept { return result_.found.empty(); }
    void say(std::string_view what) const {
        if (tell_) tell_(world_.now() - begin_, what);
        if (watcher_ != nullptr) watcher_->told(what);
    }
    void sample() const {
        if (watcher_ == nullptr) return;
        run_sample now;
        for (const trader* each : traders()) {
            now.connected_count += each->is_connected() ? 1U : 0U;
            now.outstanding_count += each->outstanding_count();
        }
        const client::feed_session* const feed = subscriber_.session();
        if (venue_.is_serving() && feed != nullptr) {
            const std::uint64_t next = venue_.now().feed_next_sequence();
            now.feed_behind_count = next - std::min(next, feed->next_sequence());
        }
        watcher_->sampled(now);
    }

    void set_usual_links() {
        link_options_ = sim::link_options();
        link_options_.latency_max = plan_.latency_max;
        link_options_.piece_bytes_max = plan_.piece_bytes_max;
        world_.network().usual_options() = link_options_;
    }

    void add_clients() {
        for (std::size_t k = 0; k < plan_.client_hosts_count; ++k) {
            clients_.push_back(std::make_unique<client_host>(world_, k));
        }
        for (std::size_t k = 0; k < plan_.traders_count; ++k) {
            client_host& home = *clients_[k % clients_.size()];
            trader_settings settings;
            settings.venue = venue_address.with_port(7'001);
            settings.who.account = domain::account_id{static_cast<std::uint32_t>(1 + k % accounts_count)};
            settings.who.session_number = static_cast<std::uint32_t>(1 + k / accounts_count);
            settings.who.key.fill(static_cast<std::byte>(settings.who.account.value));
            settings.who.heartbeat = client_heartbeat;
            settings.who.cancel_on_disconnect = false;
            settings.outstanding_max = plan_.outstanding_max;
            settings.think_time = plan_.think_time;
            settings.seed = world_.seed_of("trader " + std::to_string(k));
            settings.first_order_name = 1 + k * order_names_count;
            home.traders.push_back(std::make_unique<trader>(settings, &result_.found));
            home.tasks.spawn(home.traders.back()->run());
        }
        client_host& home = *clients_.front();
        home.tasks.spawn(subscriber_.run());
    }

    void start() {
        say("the venue starts");
        venue_.start();
    }

    /// A millisecond of the world, and then what can only be done between its turns.
    void go_on() {
        world_.run_for(turn);
        sample();
        const bool was_serving = was_serving_;
        venue_.tend();
        was_serving_ = venue_.is_serving();
        if (was_serving_ && !was_serving) say("the venue serves");
        if (!venue_.is_running() && host_.is_on() && world_.now() >= faults_.next_start()) start();
    }

    [[nodiscard]] std::vector<sim::host*> client_hosts() const {
        std::vector<sim::host*> all;
        for (const auto& home : clients_) all.push_back(&home->host);
        return all;
    }

    void end_faults() {
        say("the faults end");
        faults_.end_all(link_options_);
    }

    // After the faults.

    [[nodiscard]] std::vector<trader*> traders() const {
        std::vector<trader*> all;
        for (const auto& home : clients_) {
            for (const auto& each : home->traders) all.push_back(each.get());
        }
        return all;
    }

    template <class Condition>
    bool wait_for(Condition is_true) {
        const io::steady_time end = world_.now() + recovery_time_max;
        while (!is_true() && is_sound()) {
            if (world_.now() >= end) return false;
            go_on();
        }
        return true;
    }

    [[nodiscard]] std::string who_is_missing() const {
        if (!venue_.is_serving()) return "the venue does not serve";
        std::size_t missing = 0;
        for (const trader* each : traders()) missing += each->is_settled() && each->has_echo() ? 0U : 1U;
        if (missing != 0)
            return fmt::format("{} of {} traders are not back with all answers", missing, plan_.traders_count);
        return "the feed is not current";
    }

    void settle() {
        for (trader* each : traders()) each->finish();
        const auto all_are = [this](auto what) { return std::ranges::all_of(traders(), what); };
        bool is_well =
            wait_for([&] { return venue_.is_serving() && all_are([](const trader* t) { return t->is_settled(); }); });
        for (trader* each : traders()) each->ask_for_echo();
        is_well = is_well && wait_for([&] { return all_are([](const trader* t) { return t->has_echo(); }); });
        is_well = is_well && wait_for([this] {
                      const client::feed_session* feed = subscriber_.session();
                      return venue_.is_serving() && feed != nullptr &&
                             feed->next_sequence() == venue_.now().feed_next_sequence();
                  });
        if (!is_well) {
            result_.found.add("O1",
                              fmt::format("{} s after the faults: {}", recovery_time_max.count(), who_is_missing()));
        }
        if (is_sound()) say("everything is settled");
    }

    void compare() {
        const node::venue& venue = venue_.now();
        const facility::facility& state = venue.at(0).host.state();
        std::size_t known = 0;
        std::uint64_t requests = 0;
        for (const trader* each : traders()) {
            known += each->open_orders_count();
            requests += each->requests_count();
        }
        if (known != state.open_orders_count()) {
            result_.found.add(
                "D1", fmt::format("clients know of {} open orders, the venue of {}", known, state.open_orders_count()));
        }
        if (venue.commands_count() != requests) {
            result_.found.add("C3", fmt::format("{} requests were sent, {} commands are in the journal", requests,
                                                venue.commands_count()));
        }
        for (std::uint32_t id = 1; id <= instruments_count; ++id) {
            const domain::instrument_id instrument{id};
            if (subscriber_.session()->book(instrument)->digest() != digest_of_orders(state, instrument)) {
                result_.found.add(
                    "N1",
                    fmt::format("the book of instrument {} that was rebuilt from the feed is not the venue's", id));
            }
            std::int64_t sum = 0;
            for (std::uint32_t account = 1; account <= accounts_count; ++account) {
                sum += state.position_of(domain::account_id{account}, instrument);
            }
            if (sum != 0) result_.found.add("C2", fmt::format("the positions in instrument {} sum to {}", id, sum));
        }
        result_.state_hash = venue.state_hash();
    }

    /// Ends everything; and unless something was found before, lets a last life read the whole journal again.
    void finish() {
        for (trader* each : traders()) each->end();
        subscriber_.end();
        const auto clients_have_ended = [this] {
            return std::ranges::all_of(clients_, [](const auto& each) { return each->tasks.size() == 0; });
        };
        while (!clients_have_ended()) world_.run_for(turn);
        for (const auto& each : clients_) io::block_on(each->context, each->tasks.join());
        const bool replays = is_sound();
        end_venue();
        if (replays && is_sound()) replay();
        result_.digest = world_.digest();
        result_.virtual_time = world_.now() - begin_;
        result_.starts_count = venue_.starts_count();
        result_.feed_messages_count = subscriber_.messages_count();
        for (const trader* each : traders()) {
            result_.requests_count += each->requests_count();
            result_.answers_count += each->answers_count();
            result_.fills_count += each->fills_count();
            result_.reconnections_count += each->reconnections_count();
        }
    }

    void end_venue() {
        venue_.close();
        const io::steady_time end = world_.now() + recovery_time_max;
        while ((venue_.is_running() || venue_.has_ghosts()) && world_.now() < end) {
            world_.run_for(turn);
            venue_.tend();
            venue_.close();  // one that had not started yet
        }
        if (!venue_.is_running() && !venue_.has_ghosts()) return;
        result_.found.add("O1", "a venue that was told to end does not");
        is_stuck_ = true;
    }

    void replay() {
        remove_snapshots();
        venue_.start();
        while (venue_.is_running() && !venue_.is_serving() && is_sound()) {
            world_.run_for(turn);
            venue_.tend();
        }
        if (venue_.is_serving() && venue_.now().state_hash() != result_.state_hash) {
            result_.found.add("D6", "a replay of the journal does not lead to the state in which the venue ended");
        }
        end_venue();
    }

    void remove_snapshots() {
        const std::string directory = "/var/corro/journal";
        const auto names = host_.disk().list(directory);
        if (!names) return;
        for (const std::string& name : *names) {
            if (name.ends_with(".snapshot")) host_.disk().take_away(directory + "/" + name);
        }
    }

    const plan plan_;
    const trace tell_;
    run_watcher* const watcher_;
    run_result result_;
    sim::world world_;
    sim::link_options link_options_;
    sim::host& host_;
    served_venue venue_;
    fault_injector faults_{world_, host_, venue_};
    subscriber subscriber_{venue_address.with_port(7'002), venue_address.with_port(7'003), &result_.found};
    std::vector<std::unique_ptr<client_host>> clients_;
    io::steady_time begin_;
    bool was_serving_ = false;
    bool is_stuck_ = false;
};

}  // namespace

run_result run(const plan& whole, const trace& tell, run_watcher* watcher) {
    auto one = std::make_unique<simulated_run>(whole, tell, watcher);
    run_result result = one->perform();
    if (one->is_stuck()) static_cast<void>(one.release());
    return result;
}

plan shrink(plan failing, std::string_view promise, const std::function<void(std::size_t)>& tried) {
    std::size_t before = 0;
    do {
        before = failing.faults.size();
        for (std::size_t i = 0; i < failing.faults.size();) {
            plan smaller = failing;
            smaller.faults.erase(smaller.faults.begin() + static_cast<std::ptrdiff_t>(i));
            if (run(smaller).found.promise() == promise) {
                failing = std::move(smaller);
            } else {
                ++i;
            }
            if (tried) tried(failing.faults.size());
        }
    } while (failing.faults.size() < before);
    return failing;
}

}  // namespace corro::simulation
