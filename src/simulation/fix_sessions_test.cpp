// FIX sessions of a venue that is killed, loses its power and its connections: what a client has seen keeps its number,
// and nothing is lost or said twice.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "fix/codec/values.hpp"
#include "fix/net/application.hpp"
#include "fix/net/initiator.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "sim/disk.hpp"
#include "sim/world.hpp"
#include "simulation/plan.hpp"
#include "simulation/programs.hpp"
#include "simulation/served_process.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t fix_port = 9'878;
constexpr std::size_t clients_count = 2;

std::string client_name(std::size_t k) {
    return "CLIENT" + std::to_string(k + 1);
}

plan plan_of(std::uint64_t seed, const venue_shape& shape) {
    plan whole = draw_plan(seed, {});
    whole.faults.clear();
    whole.shape = run_shape();
    whole.shape.venue = shape;
    whole.shape.client_hosts_count = 2;
    whole.shape.traders_count = 2;
    whole.durability = journal::durability::group;
    whole.disk_call_max = 0ns;
    whole.requests_max = 0;
    return whole;
}

io::endpoint fix_address() {
    return address_of_host(0).with_port(fix_port);
}

/// The process that serves FIX has its port.
node::configuration with_fix(node::configuration c, bool is_served) {
    if (is_served) c.fix_listen = fix_address().to_string();
    for (std::size_t k = 0; k < clients_count; ++k) {
        gateway::account& a = c.accounts[k];
        a.fix_names.resize(a.sessions_count);
        a.fix_names[a.sessions_count - 1] = client_name(k);
    }
    return c;
}

std::string password_of(const node::configuration& c, std::size_t k) {
    std::string text;
    for (const std::byte b : c.accounts[k].key) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[std::to_integer<unsigned>(b) >> 4U];
        text += digits[std::to_integer<unsigned>(b) & 15U];
    }
    return text;
}

/// A client's program: enters, replaces, cancels and asks for orders and quotes at random, and checks what it is told.
class fix_trader final : public fix::application {
 public:
    fix_trader(std::vector<std::string> symbols, std::uint64_t seed, std::uint64_t first_name)
        : symbols_(std::move(symbols)), random_(seed), next_name_(first_name) {}

    /// Asks now and then, as long as the session is there.
    io::task<void> trade(fix::initiator* venue) {
        while (!is_finishing_) {
            static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(500 + random_.below(2'000))));
            if (!venue->of().may_send() || !may_ask()) continue;
            ask(venue->of(), fix::moment_on(co_await io::this_context()));
            venue->flush();
        }
    }
    void on_message(fix::session& on, fix::instant) override { take(on.message()); }
    void on_end(fix::session&) override { ++connections_count; }

    /// Sends nothing new from here on.
    void finish() noexcept { is_finishing_ = true; }
    /// Whether every request was answered.
    [[nodiscard]] bool is_settled() const noexcept { return outstanding_.empty(); }
    [[nodiscard]] const std::map<std::string, char>& outstanding() const noexcept { return outstanding_; }

    std::uint64_t connections_count = 0;
    std::uint64_t reports_count = 0;
    bool is_asking_again = false;  ///< what comes from here on was here before
    std::uint64_t repeated_count = 0;
    std::uint64_t quotes_count = 0;  ///< answers to quotes
    std::int64_t bought = 0;         ///< lots, with the sold ones below zero
    std::vector<std::string> problems;

 private:
    static constexpr std::size_t outstanding_max = 6;
    static constexpr std::size_t orders_max = 40;

    struct terms {
        char side = '1';
        std::string symbol;
    };

    [[nodiscard]] bool may_ask() const { return !is_finishing_ && outstanding_.size() < outstanding_max; }

    void ask(fix::session& on, fix::instant now) {
        const std::uint64_t choice = random_.below(13);
        const std::string name = std::to_string(next_name_++);
        if (choice >= 10) {
            ask_as_market_maker(on, now, name);
        } else if (choice < 6 || open_.empty()) {
            fix::message_writer& order = on.begin_message("D", now);
            order.put(11, name);
            put_common(order, {random_.below(2) == 0 ? '1' : '2',
                               symbols_[static_cast<std::size_t>(random_.below(symbols_.size()))]});
            order.put(40, '2');
            put_terms(order);
        } else {
            auto which = open_.begin();
            std::advance(which, static_cast<std::ptrdiff_t>(random_.below(open_.size())));
            const bool replaces = choice < 8 && open_.size() < orders_max;
            fix::message_writer& request = on.begin_message(replaces ? "G" : choice == 8 ? "H" : "F", now);
            // A status request is about the order itself.
            if (!replaces && choice == 8) {
                request.put(11, which->first);
                request.put(790, name);
            } else {
                request.put(11, name);
                request.put(41, which->first);
            }
            put_common(request, which->second);
            if (replaces) put_terms(request);
        }
        const std::uint64_t number = on.send(now);
        if (number == 0) problems.emplace_back("a request was not sent");
        sent_.emplace(number, name);
        outstanding_.emplace(name, '?');
    }
    /// A quote, several, their cancel, or the question for all orders.
    void ask_as_market_maker(fix::session& on, fix::instant now, const std::string& name) {
        const auto any_symbol = [this] { return symbols_[static_cast<std::size_t>(random_.below(symbols_.size()))]; };
        const auto put_quote = [this, &any_symbol](fix::message_writer& into) {
            const std::uint64_t bid = 99 + random_.below(4);
            into.put(55, any_symbol());
            into.put(132, bid);
            into.put(133, bid + 1 + random_.below(2));
            into.put(134, random_.below(5));
            into.put(135, random_.below(5));
        };
        const std::uint64_t choice = random_.below(8);
        if (choice == 0) {
            fix::message_writer& question = on.begin_message("AF", now);
            question.put(584, name);
            question.put(585, 7);
            return;
        }
        quotes_.insert(name);
        fix::message_writer& request = on.begin_message(choice < 4 ? "S" : choice < 7 ? "i" : "Z", now);
        request.put(117, name);
        if (choice < 4) return put_quote(request);
        if (choice == 7) return request.put(298, 4);
        const std::uint64_t count = 1 + random_.below(4);
        request.put(296, 1);
        request.put(302, 1);
        request.put(304, count);
        request.put(295, count);
        for (std::uint64_t k = 1; k <= count; ++k) {
            request.put(299, k);
            put_quote(request);
        }
    }
    static void put_common(fix::message_writer& into, const terms& of) {
        into.put(54, of.side);
        into.put(55, of.symbol);
    }
    void put_terms(fix::message_writer& into) {
        into.put(38, 1 + random_.below(9));
        into.put(44, 100 + random_.below(4));
    }

    /// Everything but the header's fields that differ when a message is sent again.
    [[nodiscard]] static std::string content_of(const fix::field_index& message) {
        std::string content;
        for (const fix::field& each : message.fields()) {
            if (each.tag == 43 || each.tag == 52 || each.tag == 122) continue;
            content += std::to_string(each.tag) + "=" + std::string(message.value(each)) + "|";
        }
        return content;
    }

    void take(const fix::field_index& message) {
        const std::uint64_t number = fix::unsigned_value(message.get(34).value_or("")).value_or(0);
        const std::string content = content_of(message);
        if (is_asking_again) {
            ++repeated_count;
            const auto before = contents_.find(number);
            if (before == contents_.end()) {
                problems.push_back("new: " + content);
            } else if (before->second != content) {
                problems.push_back("was: " + before->second + ", is: " + content);
            }
            return;
        }
        ++reports_count;
        if (!contents_.emplace(number, content).second) {
            problems.push_back("number " + std::to_string(number) + " came twice");
        }
        // A crash took the request from one partition.
        if (message.message_type() == "j") {
            return settle(sent_[fix::unsigned_value(message.get(45).value_or("")).value_or(0)]);
        }
        if (message.message_type() == "AI" || message.message_type() == "b") {
            ++quotes_count;
            return settle(std::string(message.get(117).value_or("")));
        }
        const std::string name(message.get(11).value_or(""));
        if (message.message_type() == "9") return settle(name);
        if (message.message_type() != "8") {
            problems.push_back("a message of type " + std::string(message.message_type()));
            return;
        }
        const std::string execution(message.get(17).value_or(""));
        const bool is_status = message.get(150) == "I";
        if (!is_status && !executions_.insert(execution).second) problems.push_back(execution + " came twice");
        const char side = message.get(54).value_or("?").front();
        if (message.get(150) == "F") {
            const auto lots = fix::signed_value(message.get(32).value_or("")).value_or(0);
            bought += side == '1' ? lots : -lots;
        }
        if (const auto all = message.get(584)) {
            if (message.get(912) == "Y") settle(std::string(*all));
            return;
        }
        if (quotes_.contains(name)) return;  // their state is told by other messages
        const std::string previous(message.get(41).value_or(""));
        if (!previous.empty()) open_.erase(previous);
        const bool is_open = message.get(39) == "0" || message.get(39) == "1";
        if (is_open && message.get(151) == "0") problems.push_back(name + " is open, and nothing is left of it");
        if (is_open && !is_status) {
            open_.insert_or_assign(name, terms{side, std::string(message.get(55).value_or(""))});
        } else if (!is_open) {
            open_.erase(name);
        }
        settle(is_status ? std::string(message.get(790).value_or("")) : name);
    }
    void settle(const std::string& name) { outstanding_.erase(name); }

    std::vector<std::string> symbols_;
    base::prng random_;
    std::uint64_t next_name_;
    bool is_finishing_ = false;
    std::map<std::uint64_t, std::string> sent_;      ///< names of requests, by the number of their message
    std::map<std::string, char> outstanding_;        ///< requests without an answer, by name
    std::map<std::string, terms> open_;              ///< orders, by their newest name
    std::map<std::uint64_t, std::string> contents_;  ///< of messages, by number
    std::set<std::string> executions_;
    std::set<std::string> quotes_;  ///< names of requests for quotes
};

/// A venue, two FIX clients, and faults from a seed.
class fix_world {
 public:
    fix_world(std::uint64_t seed, const venue_shape& shape)
        : random_(seed),
          plan_(plan_of(seed, shape)),
          world_(seed),
          venue_host_(world_.add_host("venue", {address_of_host(0)})),
          client_host_(world_.add_host("clients", {io::endpoint::ipv4({10, 0, 1, 1}, 0)})),
          clients_(io::context_options(client_host_.start_process("clients"))) {
        const bool has_gateway = shape.is_in_roles();
        const node::configuration venue = with_fix(configuration_of_facility(plan_), !has_gateway);
        const auto place = has_gateway ? node::order_entry_place::over_gateways : node::order_entry_place::here;
        processes_.push_back(std::make_unique<served_process>(venue_host_, "venue", [venue, place](io::context& on) {
            return std::make_unique<venue_program>(on, venue, place);
        }));
        if (has_gateway) {
            processes_.push_back(std::make_unique<served_process>(
                venue_host_, "gateway", [c = with_fix(configuration_of_gateway(plan_, 0), true)](io::context& on) {
                    return std::make_unique<gateway_program>(on, c);
                }));
        }
        venue_host_.disk().latency().write.most = 2ms;
        venue_host_.disk().latency().sync_data.most = 30ms;
        for (const auto& each : processes_) each->start();
        std::vector<std::string> symbols;
        for (const domain::instrument& i : venue.instruments) symbols.emplace_back(i.name.view());
        for (std::size_t k = 0; k < clients_count; ++k) {
            fix::initiator_options options;
            options.session.identity.sender_comp_id = client_name(k);
            options.session.identity.target_comp_id = venue.fix_comp_id;
            options.session.heartbeat = 2s;
            options.servers = {fix_address()};
            options.credentials = [password = password_of(venue, k)](fix::message_writer& logon) {
                logon.put(554, password);
            };
            options.retry_delay_min = 50ms;
            options.retry_delay_max = 200ms;
            stores_.push_back(std::make_unique<fix::memory_store>());
            traders.push_back(std::make_unique<fix_trader>(symbols, seed + k, 1 + k * 1'000'000));
            initiators_.push_back(
                std::make_unique<fix::initiator>(clients_, options, *stores_.back(), *traders.back()));
            talking_.spawn(initiators_.back()->run());
            talking_.spawn(traders.back()->trade(initiators_.back().get()));
        }
    }
    ~fix_world() {
        for (const auto& each : traders) each->finish();
        for (const auto& each : initiators_) each->close();
        io::block_on(clients_, talking_.join());
        for (auto each = processes_.rbegin(); each != processes_.rend(); ++each) {
            (*each)->close();
            go_on_until([&each] { return !(*each)->is_running(); }, 60s);
        }
    }

    template <class Condition>
    bool go_on_until(Condition is_true, std::chrono::nanoseconds longest) {
        for (const io::steady_time end = world_.now() + longest; !is_true();) {
            if (world_.now() >= end) return false;
            world_.run_for(1ms);
            for (const auto& each : processes_) static_cast<void>(each->tend());
        }
        return true;
    }
    void go_on(std::chrono::nanoseconds time) {
        go_on_until([] { return false; }, time);
    }

    /// One of: the process is killed, the host loses its power, the clients are cut off for a while, and nothing.
    void disturb() {
        go_on(std::chrono::microseconds(random_.below(400'000)));
        switch (random_.below(4)) {
            case 0: {
                served_process& which = *processes_[static_cast<std::size_t>(random_.below(processes_.size()))];
                which.kill();
                go_on(std::chrono::milliseconds(random_.below(20)));
                which.start();
                break;
            }
            case 1:
                venue_host_.cut_power();
                for (const auto& each : processes_) each->lose_power();
                go_on(10ms);
                venue_host_.restore_power();
                for (const auto& each : processes_) each->start();
                break;
            case 2:
                world_.set_isolated(client_host_, true);
                go_on(std::chrono::milliseconds(random_.below(6'000)));
                world_.set_isolated(client_host_, false);
                break;
            default: break;
        }
    }

    /// The clients have forgotten what they were told, and ask for all of it.
    void ask_again() {
        world_.set_isolated(client_host_, true);
        go_on(10s);  // heartbeats are missing
        for (std::size_t k = 0; k < clients_count; ++k) {
            traders[k]->is_asking_again = true;
            ASSERT_TRUE(stores_[k]->set_next_received(1));
        }
        world_.set_isolated(client_host_, false);
        go_on(10s);
    }

    std::vector<std::unique_ptr<fix_trader>> traders;

 private:
    base::prng random_;
    plan plan_;
    sim::world world_;
    sim::host& venue_host_;
    sim::host& client_host_;
    io::context clients_;
    std::vector<std::unique_ptr<served_process>> processes_;
    std::vector<std::unique_ptr<fix::memory_store>> stores_;
    std::vector<std::unique_ptr<fix::initiator>> initiators_;
    io::task_scope talking_{clients_};
};

struct shape_of_test {
    const char* name;
    venue_shape shape;
};

venue_shape shape_with(node::threading_mode threading, std::size_t partitions, std::size_t gateways) {
    venue_shape shape;
    shape.threading = threading;
    shape.partitions_count = partitions;
    shape.gateways_count = gateways;
    return shape;
}

class fix_sessions : public testing::TestWithParam<shape_of_test> {};

TEST_P(fix_sessions, D1_R1_nothing_is_lost_said_twice_or_renumbered_over_crashes) {
    std::uint64_t reports = 0;
    std::uint64_t connections = 0;
    std::uint64_t quotes = 0;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        fix_world w(seed, GetParam().shape);
        for (int i = 0; i < 20; ++i) w.disturb();
        for (const auto& each : w.traders) each->finish();
        const bool settled = w.go_on_until(
            [&w] { return std::ranges::all_of(w.traders, [](const auto& each) { return each->is_settled(); }); }, 30s);
        w.go_on(1s);
        w.ask_again();
        std::int64_t bought = 0;
        for (const auto& each : w.traders) {
            EXPECT_TRUE(settled) << each->outstanding().size() << " requests have no answer";
            for (const std::string& problem : each->problems) ADD_FAILURE() << problem;
            EXPECT_EQ(each->repeated_count, each->reports_count) << "each message is still there under its number";
            bought += each->bought;
            reports += each->reports_count;
            connections += each->connections_count;
            quotes += each->quotes_count;
        }
        EXPECT_EQ(bought, 0) << "a fill is missing, or one too many";
        if (HasFailure()) break;
    }
    EXPECT_GT(reports, 4'000U);
    EXPECT_GT(quotes, 500U);
    EXPECT_GT(connections, 100U) << "the faults have cut connections";
}

INSTANTIATE_TEST_SUITE_P(
    of, fix_sessions,
    testing::Values(shape_of_test{"one_thread", shape_with(node::threading_mode::inline_, 1, 0)},
                    shape_of_test{"a_thread_for_the_facility", shape_with(node::threading_mode::split, 1, 0)},
                    shape_of_test{"two_partitions", shape_with(node::threading_mode::split, 2, 0)},
                    shape_of_test{"roles", shape_with(node::threading_mode::inline_, 1, 1)},
                    shape_of_test{"roles_of_two_partitions", shape_with(node::threading_mode::split, 2, 1)}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace corro::simulation
