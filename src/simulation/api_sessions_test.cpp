// SPDX-License-Identifier: Apache-2.0
// Clients of the API under the faults of a simulated world: the venue is killed, loses power, the API is killed, in any
// order and at once. What a client was told stays true, and what it was told not to have happened has not.
//
// Venue, API and clients have a host each. Each key has a client whose orders end with its connection, and one whose
// orders stay. Beside them a trader by Corro Binary, which checks its own answers, trades in the same books. In the end
// the API has the venue's books, orders and positions.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_value.hpp"
#include "base/random.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "node/links/api_role.hpp"
#include "sim/world.hpp"
#include "simulation/findings.hpp"
#include "simulation/fix_venue_plan.hpp"
#include "simulation/order_flow.hpp"
#include "simulation/programs.hpp"
#include "simulation/served_process.hpp"
#include "simulation/traders.hpp"
#include "simulation/venue_configuration.hpp"
#include "websocket/connection.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;
using api::json_value;

constexpr std::size_t keys_count = 2;
constexpr std::uint32_t session_number = 3;
constexpr std::chrono::seconds trading_time{6};
/// Longer than a request may wait for its answer.
constexpr std::chrono::seconds answer_time_max{15};

class api_program final : public program {
 public:
    api_program(io::context& on, const node::configuration& c, api::feed_address feed, io::endpoint orders,
                std::vector<api::api_key> keys)
        : role_(on, c, std::vector<api::feed_address>{feed}, orders, std::move(keys)) {}

    io::task<void> start() override { co_return; }
    io::task<void> run() override { return role_.run(); }
    void close() noexcept override { role_.close(); }
    [[nodiscard]] std::string failure() const override { return {}; }

 private:
    node::api_role role_;
};

/// The text at a path such as "result.order.order_id"; empty if there is none.
std::string at(const json_value& v, std::string_view path) {
    const json_value* found = &v;
    while (!path.empty()) {
        const std::size_t size = std::min(path.find('.'), path.size());
        found = found->find(path.substr(0, size));
        path.remove_prefix(std::min(size + 1, path.size()));
        if (found == nullptr) return "";
    }
    return found->text;
}

std::string hexadecimal(const wire::api_key& key) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte each : key) {
        text += digits[std::to_integer<unsigned>(each) / 16];
        text += digits[std::to_integer<unsigned>(each) % 16];
    }
    return text;
}

/// An order that a client has sent, and what it was told of it.
struct sent_order {
    enum class fate : std::uint8_t { in_doubt, acknowledged, refused };
    fate told = fate::in_doubt;
    std::string id;
    std::string direction;
    bool was_cancelled = false;
};

struct client_settings {
    io::endpoint api;
    std::string client_id;
    std::string secret;
    std::string name;  ///< two characters, with which its labels begin
    bool cancels_on_disconnect = false;
    std::uint64_t seed = 0;
};

/// A connection that is authenticated.
class api_connection {
 public:
    io::task<bool> open(const client_settings* who) {
        auto stream = co_await io::with_timeout(1s, io::tcp_stream::connect(co_await io::this_context(), who->api));
        if (!stream || !*stream) co_return false;
        auto opened =
            co_await io::with_timeout(1s, websocket::connect(io::any_stream(std::move(**stream)), who->api.to_string(),
                                                             "/ws/api/v2", websocket::connection_options()));
        if (!opened || !*opened) co_return false;
        peer_ = std::move(**opened);
        const auto told =
            co_await call("public/auth", R"({"grant_type":"client_credentials","client_id":")" + who->client_id +
                                             R"(","client_secret":")" + who->secret + R"("})");
        co_return told && !at(*told, "result.access_token").empty();
    }
    /// Nothing when the connection has ended.
    io::task<std::optional<json_value>> call(std::string method, std::string params) {
        const auto text = co_await call_for_text(std::move(method), std::move(params));
        if (!text) co_return std::nullopt;
        auto v = api::parse_json(*text);
        if (!v || at(*v, "id") != std::to_string(last_id_)) co_return std::nullopt;
        co_return std::move(*v);
    }
    /// The same for a list that is longer than what a request may be.
    io::task<std::optional<std::string>> call_for_text(std::string method, std::string params) {
        const std::string id = std::to_string(++last_id_);
        const std::error_code error = co_await peer_->send_text(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" +
                                                                method + R"(","params":)" + params + "}");
        if (error) co_return std::nullopt;
        const auto message = co_await io::with_timeout(answer_time_max, peer_->receive());
        if (!message || !*message) co_return std::nullopt;
        co_return std::string((*message)->text());
    }
    void abort() noexcept {
        if (peer_ != nullptr) peer_->abort();
    }

 private:
    std::unique_ptr<websocket::connection> peer_;
    std::uint64_t last_id_ = 0;
};

/// Enters and cancels orders at random, across connections.
class trading_client {
 public:
    explicit trading_client(client_settings who) : who_(std::move(who)), random_(who_.seed) {}

    io::task<void> run() {
        while (!is_ending_) {
            connection_.emplace();
            const bool is_on = co_await connection_->open(&who_);
            if (is_on) co_await trade();
            connection_->abort();
            if (is_on) ++connections_count;
            static_cast<void>(co_await io::sleep_for(20ms));
        }
    }
    void finish() noexcept { is_finishing_ = true; }
    /// Ends at the next step, with its connection.
    void end() noexcept { is_ending_ = true; }

    [[nodiscard]] const client_settings& settings() const noexcept { return who_; }

    std::map<std::string, sent_order> orders;  ///< by label
    std::vector<std::string> problems;
    std::uint64_t connections_count = 0;

 private:
    io::task<void> trade() {
        if (who_.cancels_on_disconnect) {
            const auto told = co_await connection_->call("private/enable_cancel_on_disconnect", "{}");
            if (!told) co_return;
        }
        while (!is_ending_) {
            bool goes_on = true;
            if (!is_finishing_ && random_.chance(2, 3)) goes_on = co_await enter();
            if (!is_finishing_ && goes_on && random_.chance(1, 3)) goes_on = co_await cancel_one();
            if (!goes_on) co_return;
            static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(random_.between(20, 80))));
        }
    }

    io::task<bool> enter() {
        std::string digits = std::to_string(10'000 + orders.size());
        const std::string label = who_.name + digits.substr(1);
        const bool buys = random_.chance(1, 2);
        const std::string params = R"({"instrument_name":"I1","amount":)" + std::to_string(random_.between(1, 5)) +
                                   R"(,"price":)" + std::to_string(random_.between(98, 102)) + R"(,"label":")" + label +
                                   R"("})";
        sent_order& sent = orders[label];
        sent.direction = buys ? "buy" : "sell";
        const auto told = co_await connection_->call(buys ? "private/buy" : "private/sell", params);
        if (!told) co_return false;
        if (told->find("result") != nullptr) {
            sent.told = sent_order::fate::acknowledged;
            sent.id = at(*told, "result.order.order_id");
            if (at(*told, "result.order.label") != label) problems.push_back("another order than " + label);
        } else if (at(*told, "error.message") != "timed_out") {
            sent.told = sent_order::fate::refused;
        }
        co_return true;
    }

    io::task<bool> cancel_one() {
        auto which = orders.lower_bound(who_.name);
        if (orders.empty()) co_return true;
        std::advance(which, random_.between(0, static_cast<std::int64_t>(orders.size()) - 1));
        sent_order& chosen = which->second;
        if (chosen.id.empty() || chosen.was_cancelled) co_return true;
        const auto told = co_await connection_->call("private/cancel", R"({"order_id":")" + chosen.id + R"("})");
        if (!told) co_return false;
        chosen.was_cancelled = at(*told, "result.order_state") == "cancelled";
        co_return true;
    }

    client_settings who_;
    base::prng random_;
    std::optional<api_connection> connection_;
    bool is_finishing_ = false;
    bool is_ending_ = false;
};

/// The levels of a book: side, price in billionths, amount.
using book_levels = std::vector<std::array<std::int64_t, 3>>;

/// The book of an instrument as the API has it; nothing without an answer.
io::task<void> ask_book(const client_settings* who, std::optional<book_levels>* into) {
    api_connection connection;
    const bool is_on = co_await connection.open(who);
    if (!is_on) co_return;
    const auto told = co_await connection.call("public/get_order_book", R"({"instrument_name":"I1","depth":10000})");
    connection.abort();
    if (!told || told->find("result") == nullptr) co_return;
    into->emplace();
    const json_value& result = *told->find("result");
    for (const std::int64_t side : {0, 1}) {
        for (const json_value& each : result.find(side == 0 ? "bids" : "asks")->items) {
            (*into)->push_back(
                {side, *api::scaled_integer(each.items[0].text, 9), *api::scaled_integer(each.items[1].text, 0)});
        }
    }
}

/// What the API tells of a key at the end.
struct state_of_key {
    std::map<std::string, std::string> open;  ///< labels of the open orders, and their ids
    std::set<std::string> traded;             ///< labels of orders that have traded
    std::map<std::string, json_value> asked;  ///< the states of the acknowledged orders, by label
    std::string position;
    bool is_complete = false;

    friend bool operator==(const state_of_key& a, const state_of_key& b) {
        return a.open == b.open && a.traded == b.traded && a.position == b.position;
    }
};

/// The texts of a member in a list of objects.
std::vector<std::string> texts_of(std::string_view list, const std::string& member) {
    const std::string begin = "\"" + member + "\":\"";
    std::vector<std::string> all;
    for (std::size_t from = list.find(begin); from != std::string_view::npos; from = list.find(begin, from)) {
        from += begin.size();
        all.emplace_back(list.substr(from, list.find('"', from) - from));
    }
    return all;
}

/// @param of  Whose acknowledged orders are asked for; at a pace that the credits allow.
io::task<void> examine(const client_settings* who, std::vector<const trading_client*> of, state_of_key* into) {
    api_connection connection;
    const bool is_on = co_await connection.open(who);
    if (!is_on) co_return;
    const auto open = co_await connection.call_for_text("private/get_open_orders", "{}");
    const auto trades =
        co_await connection.call_for_text("private/get_user_trades_by_currency", R"({"currency":"any","count":1000})");
    const auto position = co_await connection.call("private/get_position", R"({"instrument_name":"I1"})");
    if (!open || !trades || !position || position->find("result") == nullptr) co_return;
    const std::vector<std::string> labels = texts_of(*open, "label");
    const std::vector<std::string> ids = texts_of(*open, "order_id");
    if (labels.size() != ids.size()) co_return;
    for (std::size_t k = 0; k < labels.size(); ++k) into->open[labels[k]] = ids[k];
    for (const std::string& each : texts_of(*trades, "label")) into->traded.insert(each);
    into->position = at(*position, "result.size");
    for (const trading_client* each : of) {
        for (const auto& [label, sent] : each->orders) {
            if (sent.told != sent_order::fate::acknowledged) continue;
            auto told = co_await connection.call("private/get_order_state", R"({"order_id":")" + sent.id + R"("})");
            if (!told) co_return;
            into->asked[label] = std::move(*told);
            static_cast<void>(co_await io::sleep_for(60ms));
        }
    }
    into->is_complete = true;
    connection.abort();
}

enum class fault_of_api : std::uint8_t { kill_venue, cut_power, kill_api, kill_both };

class api_in_a_world {
 public:
    api_in_a_world(std::uint64_t seed, bool has_lying_disk)
        : plan_(testing::plan_of(seed, venue_shape())),
          world_(seed),
          venue_host_(world_.add_host("venue", {address_of_host(0)})),
          api_host_(world_.add_host("api", {io::endpoint::ipv4({10, 0, 2, 1}, 0)})),
          client_host_(world_.add_host("clients", {io::endpoint::ipv4({10, 0, 1, 1}, 0)})),
          context_(io::context_options(client_host_.start_process("clients"))) {
        venue_host_.disk().faults().ignores_data_syncs = has_lying_disk;
        node::configuration c = configuration_of_facility(plan_);
        add_trader(c);
        node::configuration own = c;
        own.api_listen = where_.to_string();
        own.journal_directory.clear();
        own.metrics_listen.clear();
        std::vector<api::api_key> keys(keys_count);
        for (std::size_t k = 0; k < keys_count; ++k) {
            keys[k].client_id = "key" + std::to_string(k);
            keys[k].secret = c.accounts[k].key;
            keys[k].account = c.accounts[k].id;
            keys[k].session_number = session_number;
            accounts_.push_back(keys[k].account);
        }
        const venue_shape& shape = plan_.shape.venue;
        venue_.emplace(venue_host_, "venue", [c](io::context& on) {
            return std::make_unique<venue_program>(on, c, node::order_entry_place::here);
        });
        api_.emplace(api_host_, "api",
                     [own, keys, feed = api::feed_address{feed_of(shape, 0), snapshots_of(shape, 0)},
                      orders = order_entry_of(shape, 0)](io::context& on) {
                         return std::make_unique<api_program>(on, own, feed, orders, keys);
                     });
        for (std::size_t k = 0; k < 2 * keys_count; ++k) {
            client_settings who;
            who.api = where_;
            who.client_id = keys[k / 2].client_id;
            who.secret = hexadecimal(keys[k / 2].secret);
            who.name = std::string("c") + static_cast<char>('0' + k);
            who.cancels_on_disconnect = k % 2 == 1;
            who.seed = world_.seed_of("client " + std::to_string(k));
            clients.push_back(std::make_unique<trading_client>(std::move(who)));
        }
        venue_->start();
        api_->start();
        for (const auto& each : clients) trading_.spawn(each->run());
        trading_.spawn(binary->run());
    }
    ~api_in_a_world() {
        for (const auto& each : clients) each->end();
        binary->end();
        io::block_on(context_, trading_.join());
        api_->close();
        venue_->close();
        const io::steady_time end = world_.now() + 60s;
        while ((api_->is_running() || venue_->is_running() || api_->has_ghosts() || venue_->has_ghosts()) &&
               world_.now() < end) {
            go_on_for(1ms);
        }
    }

    void go_on_for(std::chrono::nanoseconds time) {
        for (const io::steady_time end = world_.now() + time; world_.now() < end;) {
            world_.run_for(1ms);
            tend(*venue_, venue_start_);
            tend(*api_, api_start_);
        }
    }

    void strike(fault_of_api what, base::prng& random) {
        const auto later = [&] { return world_.now() + std::chrono::milliseconds(random.between(5, 1'500)); };
        if (what == fault_of_api::cut_power) {
            venue_host_.cut_power();
            venue_->lose_power();
            world_.run_for(1ms);
            venue_host_.restore_power();
            venue_start_ = later();
        } else if (what != fault_of_api::kill_api) {
            venue_->kill();
            venue_start_ = later();
        }
        if (what == fault_of_api::kill_api || what == fault_of_api::kill_both) {
            api_->kill();
            api_start_ = later();
        }
    }

    void end_clients_that_cancel() {
        for (const auto& each : clients) {
            if (each->settings().cancels_on_disconnect) each->end();
        }
        go_on_for(3s);
    }

    std::vector<state_of_key> examine_all() {
        std::vector<state_of_key> all(keys_count);
        io::task_scope asking(context_);
        for (std::size_t k = 0; k < keys_count; ++k) {
            asking.spawn(
                examine(&clients[2 * k]->settings(), {clients[2 * k].get(), clients[2 * k + 1].get()}, &all[k]));
        }
        go_on_for(30s);
        io::block_on(context_, asking.join());
        return all;
    }

    void finish_all() {
        for (const auto& each : clients) each->finish();
        binary->finish();
    }

    [[nodiscard]] const node::venue& venue() const { return static_cast<const venue_program&>(venue_->now()).venue(); }
    /// The open orders of a key's account in the venue.
    [[nodiscard]] std::size_t orders_of_key(std::size_t k) const {
        struct counter final : facility::book_visitor {
            void visit_level(domain::side, const domain::level&) override {}
            void visit_order(domain::side, const facility::resting_order& order) override {
                if (order.account == of) ++count;
            }
            domain::account_id of{};
            std::size_t count = 0;
        } orders;
        orders.of = accounts_[k];
        venue().at(0).host.state().visit_book(domain::instrument_id{1}, orders);
        return orders.count;
    }
    [[nodiscard]] std::int64_t position_of_key(std::size_t k) const {
        return venue().at(0).host.state().position_of(accounts_[k], domain::instrument_id{1});
    }
    [[nodiscard]] const domain::instrument& traded_instrument() const {
        return venue().at(0).host.state().instruments().front();
    }
    [[nodiscard]] book_levels book_of_the_venue() const {
        book_levels all;
        const domain::instrument& terms = traded_instrument();
        for (const domain::side side : {domain::side::buy, domain::side::sell}) {
            for (const auto& level : venue().book(terms.id)->levels(side)) {
                all.push_back({static_cast<std::int64_t>(side), level.price.value * terms.tick_size.value,
                               static_cast<std::int64_t>(level.quantity.value * terms.lot_size)});
            }
        }
        return all;
    }
    [[nodiscard]] std::optional<book_levels> book_of_the_api() {
        std::optional<book_levels> told;
        io::task_scope asking(context_);
        asking.spawn(ask_book(&clients[0]->settings(), &told));
        go_on_for(5s);
        io::block_on(context_, asking.join());
        return told;
    }

    std::vector<std::unique_ptr<trading_client>> clients;
    std::unique_ptr<trader> binary;
    findings of_binary;
    std::vector<std::string> problems;

 private:
    /// An account and its trader by Corro Binary, beside the keys.
    void add_trader(node::configuration& c) {
        gateway::account own = c.accounts[0];
        for (const gateway::account& each : c.accounts) own.id.value = std::max(own.id.value, each.id.value + 1);
        own.name = "binary";
        own.key.fill(std::byte{0x5b});
        c.accounts.push_back(own);
        trader_settings settings;
        settings.venue = order_entry_of(plan_.shape.venue, 0);
        settings.who.account = own.id;
        settings.who.session_number = 1;
        settings.who.key = own.key;
        settings.who.heartbeat = client_heartbeat;
        settings.who.cancel_on_disconnect = false;
        settings.outstanding_max = 4;
        settings.think_time = 30ms;
        settings.seed = world_.seed_of("binary");
        settings.make_flow = [this](std::vector<domain::instrument> instruments) {
            return std::make_unique<order_flow>(std::move(instruments), 1, world_.seed_of("flow"), &of_binary);
        };
        binary = std::make_unique<trader>(std::move(settings), &of_binary);
    }
    void tend(served_process& which, std::optional<io::steady_time>& start) {
        if (const auto end = which.tend(); end && !end->was_closed) {
            problems.push_back(which.name() + " has ended: " + end->failure);
        }
        if (!start || world_.now() < *start || which.is_running()) return;
        start.reset();
        which.start();
    }

    plan plan_;
    sim::world world_;
    sim::host& venue_host_;
    sim::host& api_host_;
    sim::host& client_host_;
    io::endpoint where_ = io::endpoint::ipv4({10, 0, 2, 1}, 7'020);
    std::vector<domain::account_id> accounts_;  ///< of the keys
    io::context context_;
    std::optional<served_process> venue_;
    std::optional<served_process> api_;
    std::optional<io::steady_time> venue_start_;  ///< when it is started again
    std::optional<io::steady_time> api_start_;
    io::task_scope trading_{context_};
};

/// What contradicts a client's orders in what the API tells of its key.
std::vector<std::string> contradictions(const trading_client& client, const state_of_key& told) {
    std::vector<std::string> all = client.problems;
    const auto add = [&all](const std::string& label, const char* what) { all.push_back(label + ": " + what); };
    for (const auto& [label, sent] : client.orders) {
        const bool is_open = told.open.contains(label);
        const bool exists = is_open || told.traded.contains(label);
        if (sent.told == sent_order::fate::refused && exists) add(label, "was refused, and exists");
        if (sent.was_cancelled && is_open) add(label, "was cancelled, and is open");
        if (client.settings().cancels_on_disconnect && is_open) add(label, "was to end with its connection");
        if (sent.told != sent_order::fate::acknowledged) continue;
        const auto found = told.asked.find(label);
        if (found == told.asked.end() || found->second.find("result") == nullptr) {
            add(label, "was acknowledged, and is not known");
            continue;
        }
        const json_value& state = *found->second.find("result");
        if (at(state, "label") != label || at(state, "direction") != sent.direction) add(label, "is another order");
        if ((at(state, "order_state") == "open") != is_open) add(label, "is open, or not, by turns");
    }
    return all;
}

/// What a run has found, and how much it has done.
struct run_report {
    std::vector<std::string> problems;
    std::uint64_t acknowledged = 0;
    std::uint64_t connections = 0;
    std::uint64_t fills_of_binary = 0;
};

/// @param has_lying_disk  A control: the venue's disk keeps nothing that it was told to, and loses its power.
run_report run(std::uint64_t seed, bool has_lying_disk) {
    run_report report;
    std::vector<std::string>& problems = report.problems;
    base::prng random(seed * 77 + 1);
    api_in_a_world w(seed, has_lying_disk);
    w.go_on_for(1s);
    for (std::chrono::nanoseconds passed{}; passed < trading_time;) {
        const std::chrono::milliseconds pause(random.between(100, 1'500));
        w.go_on_for(pause);
        passed += pause;
        const auto drawn = static_cast<fault_of_api>(random.below(4));
        w.strike(has_lying_disk ? fault_of_api::cut_power : drawn, random);
    }
    // Everybody comes back, and nothing is open any more that ends with its connection.
    w.go_on_for(5s);
    w.finish_all();
    w.go_on_for(20s);
    w.end_clients_that_cancel();
    const std::vector<state_of_key> told = w.examine_all();
    for (std::size_t k = 0; k < w.clients.size(); ++k) {
        const state_of_key& of_key = told[k / 2];
        if (!of_key.is_complete) problems.push_back("key " + std::to_string(k / 2) + ": no answers");
        for (const std::string& each : contradictions(*w.clients[k], of_key)) problems.push_back(each);
        report.connections += w.clients[k]->connections_count;
    }
    problems.insert(problems.end(), w.problems.begin(), w.problems.end());
    if (!problems.empty()) return report;
    if (!w.of_binary.empty()) problems.push_back("Corro Binary: " + w.of_binary.words());
    if (w.binary->flow() != nullptr) report.fills_of_binary = w.binary->flow()->fills_count();
    for (std::size_t k = 0; k < told.size(); ++k) {
        report.acknowledged += told[k].asked.size();
        const std::string key = "key " + std::to_string(k);
        if (told[k].open.size() != w.orders_of_key(k)) problems.push_back(key + ": the venue has other open orders");
        if (told[k].position != std::to_string(w.position_of_key(k))) {
            problems.push_back(key + ": the venue has another position");
        }
    }
    if (w.book_of_the_api() != w.book_of_the_venue()) problems.emplace_back("the API has another book");
    // An API that begins again tells the same.
    w.strike(fault_of_api::kill_api, random);
    w.go_on_for(5s);
    if (w.examine_all() != told) problems.emplace_back("behind a restart of the API it is told otherwise");
    return report;
}

class api_sessions : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(api_sessions, C5_what_clients_of_the_api_were_told_stays_true_under_faults) {
    const run_report found = run(GetParam(), false);
    for (const std::string& each : found.problems) ADD_FAILURE() << each;
    EXPECT_GT(found.acknowledged, 20U);
    EXPECT_GT(found.connections, 2U) << "faults have ended connections";
    EXPECT_GT(found.fills_of_binary, 0U) << "the trader by Corro Binary has traded";
}

INSTANTIATE_TEST_SUITE_P(seeds, api_sessions, ::testing::Range(std::uint64_t{1}, std::uint64_t{7}));

TEST(api_sessions_control, a_disk_that_lies_is_found) {
    EXPECT_FALSE(run(1, true).problems.empty());
}

}  // namespace
}  // namespace corro::simulation
