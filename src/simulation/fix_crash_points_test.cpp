// SPDX-License-Identifier: Apache-2.0
// A venue that ends at every single disk call while two FIX clients trade by a script: the process is killed, or its
// host loses power. Whatever the moment, each client is told exactly what it is told without a
// crash, once, and under numbers that stay.
//
// The calls are enumerated by a run without a crash. Each has two points: when it has begun, and a little later. Each
// command of the journal is written by one of them and made durable by another one, so every command has a point behind
// it at which it is the newest one of the journal.
// Only commands that are written together have none between them, such as the text of a name and its request.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix/net/application.hpp"
#include "fix/net/connection.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/message_store.hpp"
#include "fix_trading/fix_login.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "sim/disk.hpp"
#include "sim/world.hpp"
#include "simulation/fix_traders.hpp"
#include "simulation/fix_venue_plan.hpp"
#include "simulation/programs.hpp"
#include "simulation/served_process.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

// --- The script ------------------------------------------------------------------------------------------------------

/// What a client sends, and what ends the answer to it.
struct step {
    std::size_t client;
    std::string body;   ///< "35=D|11=1|"
    std::string until;  ///< a part of the last message that answers it, in words
};

constexpr std::string_view uuid_begin = "6ba7b810-9dad-11d1-80b4-00c04fd4";

/// Orders, fills, replaces, cancels, refusals, questions, quotes and positions. @param round  Makes names unique; those
/// of the second one are UUIDs.
void add_round(std::vector<step>& all, std::uint64_t round) {
    const auto quote = [round](std::uint64_t n) { return std::to_string(round * 1'000 + n); };
    const auto name = [&](std::uint64_t n) {
        return std::string(round == 2 ? uuid_begin : std::string_view()) + quote(n);
    };
    const auto add = [&](std::size_t client, const std::string& type, const std::string& fields, const char* until_tag,
                         const std::string& value) {
        all.push_back({client, "35=" + type + "|" + fields, "|" + std::string(until_tag) + "=" + value + "|"});
    };
    const auto order = [&](std::size_t client, std::uint64_t n, const std::string& terms) {
        add(client, "D", "11=" + name(n) + "|55=I1|" + terms, "11", name(n));
    };
    order(0, 1, "54=1|38=5|40=2|44=100|");
    order(1, 101, "54=2|38=3|40=2|44=100|");  // a fill
    add(0, "G", "11=" + name(2) + "|41=" + name(1) + "|55=I1|54=1|38=10|40=2|44=101|", "11", name(2));
    order(1, 102, "54=2|38=20|40=2|44=101|");  // a fill, and the rest stays
    add(1, "H", "11=" + name(102) + "|55=I1|54=2|790=" + name(103) + "|", "790", name(103));
    add(0, "F", "11=" + name(3) + "|41=" + name(2) + "|55=I1|54=1|", "11", name(3));  // refused: it is filled
    add(1, "F", "11=" + name(104) + "|41=" + name(102) + "|55=I1|54=2|", "11", name(104));
    add(0, "S", "117=" + quote(4) + "|55=I1|132=99|133=102|134=5|135=5|", "117", quote(4));
    order(1, 105, "54=1|38=2|40=2|44=102|");  // trades with the quote
    add(0, "i",
        "117=" + quote(5) +
            "|296=1|302=1|304=2|295=2|299=1|55=I1|132=98|133=103|134=4|135=4|299=2|55=I2|132=50|133=60|" +
            "134=1|135=1|",
        "299", "2");
    order(1, 106, "54=2|38=6|40=2|44=98|59=3|");  // takes the bid, and the rest is cancelled
    add(0, "AF", "584=" + name(6) + "|585=7|", "912", "Y");
    add(1, "AN", "710=" + name(107) + "|724=0|55=I1|", "710", name(107));
    add(0, "Z", "117=" + quote(7) + "|298=4|", "117", quote(7));
    add(0, "AN", "710=" + name(8) + "|724=0|55=I1|", "710", name(8));
    order(0, 9, "54=1|38=1|40=2|44=90|");
    order(1, 108, "54=2|38=1|40=2|44=110|");
    add(1, "q", "11=" + name(109) + "|530=7|", "11", name(109));
    order(1, 110, "54=2|38=1|40=2|44=100.01|");  // refused: off tick
    add(0, "F", "11=" + name(10) + "|41=" + name(9) + "|55=I1|54=1|", "11", name(10));
}

std::vector<step> script() {
    std::vector<step> all;
    for (std::uint64_t round = 1; round <= 3; ++round) add_round(all, round);
    return all;
}

// --- A client --------------------------------------------------------------------------------------------------------

/// A message without what may differ from run to run: numbers of commands, and times.
std::string meaning_of(const fix::field_index& message) {
    std::string words = "|";
    for (const fix::field& each : message.fields()) {
        switch (each.tag) {
            case fix::tag::msg_seq_num:
            case fix::tag::poss_dup_flag:
            case fix::tag::sender_comp_id:
            case fix::tag::sending_time:
            case fix::tag::target_comp_id:
            case fix::tag::orig_sending_time:
            case 17:   // ExecID
            case 37:   // OrderID
            case 60:   // TransactTime
            case 880:  // TrdMatchID
                break;
            case 721: words += "721=|"; break;  // PosMaintRptID
            default: words += std::to_string(each.tag) + "=" + std::string(message.value(each)) + "|";
        }
    }
    return words;
}

/// Sends what it is told, and keeps what comes.
class scripted final : public fix::application {
 public:
    explicit scripted(io::context& on, fix::initiator_options options)
        : initiator_(on, std::move(options), store_, *this) {}

    void start(io::task_scope& in) { in.spawn(initiator_.run()); }
    void end() noexcept { initiator_.abandon(); }
    [[nodiscard]] bool may_send() noexcept { return initiator_.of().may_send(); }

    void send(std::string_view body, fix::instant now) {
        std::optional<fix::message_writer*> into;
        while (!body.empty()) {
            const std::string_view one = body.substr(0, body.find('|'));
            body.remove_prefix(one.size() + 1);
            const std::size_t equals = one.find('=');
            const auto tag = static_cast<std::uint32_t>(fix::unsigned_value(one.substr(0, equals)).value_or(0));
            if (!into) {
                into = &initiator_.of().begin_message(one.substr(equals + 1), now);
            } else {
                (*into)->put(tag, one.substr(equals + 1));
            }
        }
        EXPECT_NE(initiator_.of().send(now), 0U);
        initiator_.flush();
    }
    /// Whether a message has come with this in it, behind the first `from`.
    [[nodiscard]] bool has(std::string_view part, std::size_t from) const {
        return std::any_of(meanings.begin() + static_cast<std::ptrdiff_t>(std::min(from, meanings.size())),
                           meanings.end(), [part](const std::string& m) { return m.find(part) != m.npos; });
    }
    /// Forgets the venue's numbers at the end of the connection, which it ends.
    void ask_again(fix::instant now) {
        forgets_ = true;
        initiator_.of().log_out({}, now);
        initiator_.flush();
    }
    [[nodiscard]] bool has_all_again() const { return repeated_.size() == contents_.size(); }

    void on_message(fix::session& on, fix::instant /*now*/) override {
        const fix::field_index& message = on.message();
        const auto number = fix::unsigned_value(message.get(fix::tag::msg_seq_num).value_or("")).value_or(0);
        const std::string content = content_of(message);
        if (is_asking_again_) {
            const auto before = contents_.find(number);
            if (before == contents_.end()) {
                problems.push_back("is new: " + content);
            } else if (before->second != content) {
                problems.push_back("was: " + before->second + ", is: " + content);
            } else if (message.get(fix::tag::poss_dup_flag) != "Y") {
                problems.push_back("is not marked as sent again: " + content);
            }
            repeated_.insert(number);
            return;
        }
        if (!contents_.emplace(number, content).second) problems.push_back("came twice: " + content);
        const auto execution = message.get(17);
        const bool is_of_question = message.get(150) == "I";
        if (execution && !is_of_question && !executions_.insert(std::string(*execution)).second) {
            problems.push_back("an execution came twice: " + content);
        }
        meanings.push_back(meaning_of(message));
    }
    void on_reject(fix::session& on, fix::instant /*now*/) override {
        problems.push_back("was rejected: " + content_of(on.message()));
    }
    void on_end(fix::session& on) override {
        if (std::string_view(on.ended_because()).starts_with("MsgSeqNum")) {
            problems.emplace_back(on.ended_because());
        }
        if (!forgets_ || is_asking_again_) return;
        is_asking_again_ = store_.set_next_received(1);
    }

    std::vector<std::string> meanings;  ///< of the messages, in their order
    std::vector<std::string> problems;

 private:
    fix::memory_store store_;
    fix::initiator initiator_;
    std::map<std::uint64_t, std::string> contents_;  ///< by number
    std::set<std::string> executions_;
    std::set<std::uint64_t> repeated_;
    bool forgets_ = false;
    bool is_asking_again_ = false;
};

// --- The run ---------------------------------------------------------------------------------------------------------

constexpr std::uint64_t seed = 5;

enum class ending : std::uint8_t { none, kill, power_cut };

/// The venue that trades by the script.
struct scripted_venue {
    node::threading_mode threading = node::threading_mode::inline_;
    bool has_lying_disk = false;  ///< a control: its syncs of data do nothing
};

/// A call of the disk at which the venue ends; calls are counted from the moment at which it serves.
struct crash_point {
    std::uint64_t call = 0;
    ending how = ending::none;
    std::chrono::nanoseconds later{};  ///< behind the begin of the call, whose effect may be there then
};

class scripted_world {
 public:
    scripted_world(const scripted_venue& of, crash_point at)
        : plan_(testing::plan_of(seed, shape_of(of))),
          world_(seed),
          host_(world_.add_host("venue", {address_of_host(0)})),
          client_host_(world_.add_host("clients", {io::endpoint::ipv4({10, 0, 1, 1}, 0)})),
          context_(io::context_options(client_host_.start_process("clients"))),
          at_(at) {
        plan_.snapshot_every = 25;
        const node::configuration c = testing::with_fix(configuration_of_facility(plan_), true);
        venue_.emplace(host_, "venue", [c](io::context& on) {
            return std::make_unique<venue_program>(on, c, node::order_entry_place::here);
        });
        host_.disk().faults().ignores_data_syncs = of.has_lying_disk;
        host_.disk().latency().write = {.least = 40us, .most = 90us};
        host_.disk().latency().sync_data = {.least = 100us, .most = 300us};
        venue_->start();
        EXPECT_TRUE(go_on_until([this] { return venue_->is_serving(); }, 10s));
        calls_before_ = host_.disk().faults().calls_count;
        for (std::size_t k = 0; k < testing::clients_count; ++k) {
            fix_trading::fix_login who;
            who.name = testing::fix_name_of(k);
            who.venue_name = c.fix_comp_id;
            who.key = c.accounts[k].key;
            who.heartbeat = 1s;  // a host without power tells its peers nothing
            fix::initiator_options options = fix_trading::initiator_of(who, testing::fix_address());
            options.connect_timeout = options.session.logon_timeout = 500ms;
            options.retry_delay_min = 5ms;
            options.retry_delay_max = 20ms;
            clients.push_back(std::make_unique<scripted>(context_, std::move(options)));
            clients.back()->start(talking_);
        }
    }
    ~scripted_world() {
        for (const auto& each : clients) each->end();
        io::block_on(context_, talking_.join());
        venue_->close();
        go_on_until([this] { return !venue_->is_running(); }, 60s);
    }

    /// Plays the script, and lets everything come again. @param expected  Messages of each client; 0: wait for quiet.
    void play(const std::vector<std::size_t>& expected = {}) {
        for (const step& each : script()) {
            scripted& client = *clients[each.client];
            if (!go_on_until([&] { return client.may_send(); }, 10s)) return fail("no session", each.body);
            const std::size_t from = client.meanings.size();
            client.send(each.body, now());
            if (!go_on_until([&] { return client.has(each.until, from); }, 10s)) return fail("no answer", each.body);
        }
        const auto has_expected = [&] {
            for (std::size_t k = 0; k < expected.size(); ++k) {
                if (clients[k]->meanings.size() < expected[k]) return false;
            }
            return true;
        };
        if (!go_on_until(has_expected, 10s)) return fail("messages are missing", "at the end");
        if (!venue_->is_serving()) return fail("the venue has ended", "at the end");
        calls_count = host_.disk().faults().calls_count - calls_before_;
        commands_count = venue().commands_count();
        go_on_until([] { return false; }, 200ms);  // one too many would come now
        for (const auto& each : clients) each->ask_again(now());
        const auto has_all = [this] {
            return std::ranges::all_of(clients, [](const auto& each) { return each->has_all_again(); });
        };
        if (!go_on_until(has_all, 10s)) fail("messages do not come again", "at the end");
    }

    std::vector<std::unique_ptr<scripted>> clients;
    std::vector<std::string> failures;
    std::uint64_t calls_count = 0;     ///< of the disk, if there was no crash
    std::uint64_t commands_count = 0;  ///< at the end
    std::uint64_t commands_kept = 0;   ///< in the journal behind the crash
    bool has_crashed = false;

 private:
    static venue_shape shape_of(const scripted_venue& of) {
        venue_shape shape;
        shape.threading = of.threading;
        return shape;
    }
    [[nodiscard]] const node::venue& venue() const { return static_cast<const venue_program&>(venue_->now()).venue(); }
    [[nodiscard]] fix::instant now() const { return fix::moment_on(context_); }
    void fail(const std::string& what, const std::string& where) { failures.push_back(what + ": " + where); }

    template <class Condition>
    bool go_on_until(Condition is_true, std::chrono::nanoseconds longest) {
        for (const io::steady_time end = world_.now() + longest; !is_true();) {
            if (world_.now() >= end) return false;
            world_.run_for(has_crashed ? 500us : 20us);
            static_cast<void>(venue_->tend());
            crash_if_due();
        }
        return true;
    }

    void crash_if_due() {
        if (at_.how == ending::none || has_crashed || calls_before_ == 0) return;
        if (host_.disk().faults().calls_count - calls_before_ < at_.call) return;
        if (!due_) due_ = world_.now() + at_.later;
        if (world_.now() < *due_) return;
        has_crashed = true;
        if (at_.how == ending::kill) {
            venue_->kill();
        } else {
            host_.cut_power();
            venue_->lose_power();
            world_.run_for(1ms);
            host_.restore_power();
        }
        venue_->start();
        const auto is_up = [this] { return venue_->is_serving() || !venue_->is_running(); };
        if (!go_on_until(is_up, 10s) || !venue_->is_serving()) return fail("no start", "behind the crash");
        commands_kept = venue().commands_count();
    }

    plan plan_;
    sim::world world_;
    sim::host& host_;
    sim::host& client_host_;
    io::context context_;
    crash_point at_;
    std::uint64_t calls_before_ = 0;
    std::optional<io::steady_time> due_;  ///< the crash
    std::optional<served_process> venue_;
    io::task_scope talking_{context_};
};

std::vector<std::string> problems_of(const scripted_world& w, const scripted_world& reference) {
    std::vector<std::string> all = w.failures;
    for (std::size_t k = 0; k < w.clients.size(); ++k) {
        const scripted& one = *w.clients[k];
        for (const std::string& each : one.problems) all.push_back(testing::fix_name_of(k) + ": a message " + each);
        const std::vector<std::string>& expected = reference.clients[k]->meanings;
        const auto [got, wanted] = std::ranges::mismatch(one.meanings, expected);
        if (got == one.meanings.end() && wanted == expected.end()) continue;
        all.push_back(testing::fix_name_of(k) + ": message " + std::to_string(wanted - expected.begin() + 1) + " is " +
                      (got == one.meanings.end() ? "missing" : *got) + ", expected " +
                      (wanted == expected.end() ? "nothing" : *wanted));
    }
    return all;
}

/// What all points of a venue have found.
struct sweep_result {
    std::uint64_t calls = 0;
    std::uint64_t commands = 0;
    std::uint64_t crashes = 0;
    std::set<std::uint64_t> newest;     ///< commands that were the last one of the journal behind a crash
    std::vector<std::string> problems;  ///< the first one of each point
};

sweep_result sweep(const scripted_venue& of, const std::vector<ending>& kinds) {
    sweep_result result;
    scripted_world reference(of, {});
    reference.play();
    for (const std::string& each : problems_of(reference, reference)) result.problems.push_back("no crash: " + each);
    result.calls = reference.calls_count;
    result.commands = reference.commands_count;
    const std::vector<std::size_t> expected{reference.clients[0]->meanings.size(),
                                            reference.clients[1]->meanings.size()};
    EXPECT_GT(expected[0] + expected[1], 120U);
    if (!result.problems.empty()) return result;
    for (const ending how : kinds) {
        for (std::uint64_t point = 0; point < 2 * reference.calls_count; ++point) {
            // A call takes up to 300 us.
            const crash_point at{point / 2 + 1, how, point % 2 == 0 ? 0us : 120us};
            scripted_world w(of, at);
            w.play(expected);
            const std::vector<std::string> problems = problems_of(w, reference);
            if (!problems.empty()) {
                result.problems.push_back(std::string(how == ending::kill ? "killed" : "without power") +
                                          " at disk call " + std::to_string(at.call) +
                                          (point % 2 == 0 ? "" : ", later") + ": " + problems.front());
            }
            if (!w.has_crashed) continue;
            ++result.crashes;
            result.newest.insert(w.commands_kept);
        }
    }
    return result;
}

class fix_crash_points : public ::testing::TestWithParam<node::threading_mode> {};

TEST_P(fix_crash_points, D1_D2_R1_a_crash_at_any_disk_call_loses_repeats_and_renumbers_nothing) {
    const sweep_result result = sweep({.threading = GetParam()}, {ending::kill, ending::power_cut});
    EXPECT_TRUE(result.problems.empty()) << result.problems.size() << " points: " << result.problems.front();
    std::printf("%llu disk calls, %llu commands; %llu crashes; %zu commands were the newest one\n",
                static_cast<unsigned long long>(result.calls), static_cast<unsigned long long>(result.commands),
                static_cast<unsigned long long>(result.crashes), result.newest.size());
    EXPECT_GT(result.calls, 100U);
    EXPECT_GE(result.crashes, 4 * result.calls - 8) << "a crash that moves the last calls may miss a point behind them";
    // The text of a name is written together with its request, and the clients' first Logons may be.
    const auto texts_count = std::ranges::count_if(
        script(), [](const step& each) { return each.body.find(uuid_begin) != std::string::npos; });
    EXPECT_GT(texts_count, 10);
    EXPECT_GE(result.newest.size() + static_cast<std::size_t>(texts_count) + 4, result.commands);
}

INSTANTIATE_TEST_SUITE_P(of, fix_crash_points,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& each) {
                             return std::string(each.param == node::threading_mode::inline_
                                                    ? "one_thread"
                                                    : "a_thread_for_the_facility");
                         });

// The control: a disk whose syncs do nothing.
TEST(fix_crash_points_control, with_a_disk_that_lies_a_power_cut_loses_something) {
    const sweep_result result = sweep({.has_lying_disk = true}, {ending::power_cut});
    EXPECT_GT(result.problems.size(), result.calls / 4) << "of two points for each call";
}

}  // namespace
}  // namespace corro::simulation
