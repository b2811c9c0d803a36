// SPDX-License-Identifier: Apache-2.0
#include "simulation/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "gateway/answer_log.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "node/venue/order_entry.hpp"
#include "sim/world.hpp"
#include "simulation/clients.hpp"
#include "simulation/faults.hpp"
#include "simulation/fix_audit.hpp"
#include "simulation/journal_audit.hpp"
#include "simulation/market_replay.hpp"
#include "simulation/site.hpp"
#include "simulation/state_checks.hpp"
#include "simulation/time_watch.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds turn{1};
constexpr std::chrono::seconds last_cancels{1};  ///< after the clients have gone
constexpr std::chrono::nanoseconds idle_time = 4 * client_heartbeat;
/// A client may have sent nothing for an interval before, and the venue waits for two.
constexpr std::chrono::nanoseconds silence_allowed = client_heartbeat * 7 / 8;
/// A venue notices a silent client after two of its heartbeats and a quarter, and then cancels.
constexpr std::chrono::milliseconds silence_noticed = client_heartbeat * 9 / 4 + 200ms;
/// A FIX session gets a TestRequest after its heartbeat and a fifth, and is given up after as long again.
constexpr std::chrono::milliseconds fix_silence_noticed = std::chrono::milliseconds(fix_heartbeat) * 12 / 5 + 200ms;
/// It notices a client that has closed its connection at once.
constexpr std::chrono::milliseconds close_noticed = 500ms;

/// Sessions that asked for a cancel on disconnect in another partition's journal than this one.
std::set<std::uint32_t> sessions_that_asked_elsewhere(const std::vector<journal_commands>& journals, std::size_t own) {
    std::set<std::uint32_t> asked;
    for (std::size_t k = 0; k < journals.size(); ++k) {
        if (k == own) continue;
        for (const domain::command& c : journals[k]) {
            if (c.kind != domain::command_kind::cancel_on_disconnect) continue;
            if (c.cancel_on_disconnect().state == domain::switch_state::on) asked.insert(c.session.value);
        }
    }
    return asked;
}

class simulated_run {
 public:
    simulated_run(const plan& whole, const trace& tell, run_watcher* watcher)
        : plan_(whole),
          tell_(tell),
          watcher_(watcher),
          world_(whole.seed),
          begin_(world_.now()),
          site_(world_, plan_, &result_.found, [this](const std::string& what) { say(what); }) {
        if (watcher_ != nullptr) {
            world_.set_observer(watcher_);
            watcher_->begins(world_);
        }
        link_options_.latency_max = plan_.latency_max;
        link_options_.piece_bytes_max = plan_.piece_bytes_max;
        world_.network().usual_options() = link_options_;
        clients_ = std::make_unique<clients>(world_, plan_, &result_.found);
    }

    /// Whether its venue does not end. Then neither it nor its world can be destroyed.
    [[nodiscard]] bool is_stuck() const noexcept { return is_stuck_; }

    run_result perform() {
        site_.start();
        faults_.plan(plan_.faults, clients_->hosts(), clients_->sessions(),
                     [this](std::string_view what) { say(what); });
        for (const io::steady_time end = begin_ + plan_.time; world_.now() < end && is_sound();) go_on();
        say("the faults end");
        faults_.end_all(link_options_);
        await_hanging_calls();
        settle();
        if (is_sound()) stay_idle();
        if (is_sound()) check_state(site_.venue(), *clients_, &result_.found);
        result_.reconnections_count = reconnections_count();
        if (is_sound()) leave();
        const bool was_sound = is_sound();
        clients_->end();
        if (was_sound) rest();
        end_venue();
        if (was_sound && is_sound()) audit();
        if (was_sound && is_sound()) replay();
        return summary();
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
        for (const trader* each : clients_->sessions()) {
            now.connected_count += each->is_connected() ? 1U : 0U;
            now.outstanding_count += each->flow() == nullptr ? 0 : each->flow()->outstanding_count();
        }
        for (const fix_client* each : clients_->by_fix()) {
            now.connected_count += each->trader().is_on() ? 1U : 0U;
            now.outstanding_count += each->trader().outstanding_count();
        }
        if (site_.is_facility_serving()) now.feed_behind_count = feed_messages_missing(site_.venue(), *clients_);
        watcher_->sampled(now);
    }

    /// A millisecond of the world, and then what can only be done between its turns.
    void go_on() {
        world_.run_for(turn);
        sample();
        site_.tend();
        if (site_.is_facility_serving()) {
            time_watch_.look(site_.venue(), site_.starts_count(), world_.now(), &result_.found);
        }
    }
    void go_on_for(std::chrono::nanoseconds time) {
        for (const io::steady_time end = world_.now() + time; world_.now() < end && is_sound();) go_on();
    }

    // After the faults.

    template <class Condition>
    bool wait_for(Condition is_true, std::chrono::milliseconds longest = recovery_time_max) {
        const io::steady_time end = world_.now() + longest;
        while (!is_true() && is_sound()) {
            if (world_.now() >= end) return false;
            go_on();
        }
        return true;
    }

    [[nodiscard]] bool have_all(bool (trader::*what)() const noexcept) const {
        return std::ranges::all_of(clients_->sessions(), [what](const trader* each) { return (each->*what)(); });
    }
    [[nodiscard]] bool have_all_by_fix(bool (fix_trader::*what)() const noexcept) const {
        return std::ranges::all_of(clients_->by_fix(),
                                   [what](const fix_client* each) { return (each->trader().*what)(); });
    }

    [[nodiscard]] std::string who_is_missing() const {
        if (!site_.is_serving()) return "the venue does not serve";
        const auto missing = std::ranges::count_if(
            clients_->sessions(), [](const trader* each) { return !each->is_settled() || !each->has_echo(); });
        if (missing != 0) {
            return fmt::format("{} of {} clients are not back with all answers", missing, clients_->sessions().size());
        }
        const auto missing_by_fix = std::ranges::count_if(clients_->by_fix(), [](const fix_client* each) {
            return !each->trader().is_settled() || !each->trader().has_all_again();
        });
        if (missing_by_fix == 0) return "the feed is not current";
        return fmt::format("{} of {} FIX clients are not back with all messages", missing_by_fix,
                           clients_->by_fix().size());
    }

    /// A call on the disk that hangs when the faults end returns later, or is given up, which ends the venue.
    void await_hanging_calls() {
        const auto hangs = [](const fault& each) { return each.kind == fault_kind::hanging_disk; };
        if (std::ranges::any_of(plan_.faults, hangs)) go_on_for(hang_time_max);
    }

    void settle() {
        clients_->finish();
        bool is_well = wait_for([this] {
            return site_.is_serving() && have_all(&trader::is_settled) && have_all_by_fix(&fix_trader::is_settled);
        });
        for (trader* each : clients_->sessions()) each->ask_for_echo();
        is_well = is_well && wait_for([this] { return have_all(&trader::has_echo); });
        // FIX clients forget what they were told, and ask for all of it.
        for (fix_client* each : clients_->by_fix()) each->ask_again();
        is_well = is_well && wait_for([this] { return have_all_by_fix(&fix_trader::has_all_again); });
        is_well =
            is_well && wait_for([this] { return site_.is_serving() && are_feeds_current(site_.venue(), *clients_); });
        if (!is_well) {
            result_.found.add("O1",
                              fmt::format("{} s after the faults: {}", recovery_time_max.count(), who_is_missing()));
        }
        if (is_sound()) say("everything is settled");
    }

    [[nodiscard]] std::uint64_t reconnections_count() const {
        std::uint64_t sum = 0;
        for (const trader* each : clients_->sessions()) sum += each->reconnections_count();
        for (const fix_client* each : clients_->by_fix()) sum += each->trader().connections_count();
        return sum;
    }

    /// Sessions without requests stay, by heartbeats alone, and through a silence that is not too long.
    void stay_idle() {
        const std::uint64_t before = reconnections_count();
        std::vector<std::uint64_t> before_by_fix;
        for (const fix_client* each : clients_->by_fix()) before_by_fix.push_back(each->trader().connections_count());
        go_on_for(idle_time);
        for (sim::host* each : clients_->hosts()) each->set_paused(true);
        go_on_for(silence_allowed);
        for (sim::host* each : clients_->hosts()) each->set_paused(false);
        go_on_for(idle_time);
        // The heartbeat of a FIX session is a command, with which an order may expire at the last moment.
        static_cast<void>(
            wait_for([this] { return site_.is_serving() && are_feeds_current(site_.venue(), *clients_); }));
        for (std::size_t k = 0; k < before_by_fix.size(); ++k) {
            const fix_trader& idle = clients_->by_fix()[k]->trader();
            if (idle.connections_count() == before_by_fix[k]) continue;
            result_.found.add("N3", "a FIX session has ended although nothing failed: " + idle.last_end());
        }
        if (reconnections_count() != before) result_.found.add("N3", "a session has ended although nothing failed");
    }

    /// The sessions with cancel on disconnect close their connections, or all clients fall silent.
    void leave() {
        std::set<std::uint32_t> gone;
        for (trader* each : clients_->sessions()) {
            if (!each->settings().who.cancel_on_disconnect) continue;
            gone.insert(each->session().value);
            if (!plan_.leaves_silently) each->end();
        }
        for (fix_client* each : clients_->by_fix()) {
            if (!each->settings().who.cancel_on_disconnect) continue;
            gone.insert(each->settings().session.value);
            if (!plan_.leaves_silently) each->end();
        }
        if (plan_.leaves_silently) {
            for (fix_client* each : clients_->by_fix()) each->expect_silence();
            faults_.set_clients_cut(true);
        }
        const std::chrono::milliseconds silence = clients_->by_fix().empty() ? silence_noticed : fix_silence_noticed;
        go_on_for((plan_.leaves_silently ? silence : close_noticed) + 4 * plan_.latency_max);
        if (is_sound()) check_orders_are_gone(site_.venue(), gone, &result_.found);
        if (is_sound() && plan_.leaves_silently) check_sessions_are_gone(site_.venue(), &result_.found);
        faults_.set_clients_cut(false);
    }

    /// What the end of the clients leads to.
    void rest() {
        go_on_for(last_cancels);
        std::string held;
        const std::chrono::milliseconds patience = recovery_time_max + venue_.logon_timeout;
        const bool is_free = wait_for(
            [this, &held] {
                if (site_.is_facility_serving()) {
                    held = held_for_clients(site_.venue(), !plan_.shape.venue.has_distributors);
                }
                return held.empty();
            },
            patience);
        if (!is_free) {
            result_.found.add("N6", fmt::format("{} s after the clients have left: {}", patience.count() / 1000, held));
        }
        if (!is_sound()) return;
        state_hashes_ = state_hashes_of(site_.venue());
        for (const std::uint64_t each : state_hashes_) result_.state_hash = result_.state_hash * 31 + each;
    }

    void end_venue() {
        site_.close();
        const io::steady_time end = world_.now() + recovery_time_max;
        do {
            go_on();
        } while (!site_.has_ended() && world_.now() < end);
        if (site_.has_ended()) return;
        result_.found.add("O1", "a venue that was told to end does not");
        is_stuck_ = true;
    }

    /// Reads the journals, and compares them with what the clients have sent and received.
    void audit() {
        sim::process& auditor = site_.host(0).start_process("audit");
        io::context context{io::context_options(auditor)};
        std::vector<journal_commands> journals;
        for (std::size_t k = 0; k < plan_.shape.venue.partitions_count; ++k) {
            auto read = io::block_on(context, read_journal(&context, journal_of(plan_, k)));
            if (!read) return result_.found.add("D3", "a journal that was closed cannot be read: " + read.error());
            journals.push_back(std::move(*read));
        }
        fix_requests_.clear();
        for (const fix_client* each : clients_->by_fix()) fix_requests_.push_back(requests_of(each->trader()));
        check_requests(journals, histories(), &result_.found);
        check_throttle(journals, plan_.requests_max, std::chrono::nanoseconds(venue_.requests_window).count(),
                       &result_.found);
        for (std::size_t k = 0; k < journals.size() && is_sound(); ++k) {
            const bool is_whole = journals.size() == 1;  // the answers of several partitions are merged
            const std::unique_ptr<gateway::answer_log> answers = is_whole ? answers_of_replay() : nullptr;
            market_replay market(configuration_of_partition(plan_, k), auditor, &result_.found,
                                 sessions_that_asked_elsewhere(journals, k), answers.get());
            market.run(journals[k]);
            if (is_whole && is_sound()) check_answers(market, histories(), &result_.found);
            if (answers != nullptr && is_sound()) check_messages(*answers, market, clients_->by_fix(), &result_.found);
        }
    }

    /// nullptr without FIX clients.
    [[nodiscard]] std::unique_ptr<gateway::answer_log> answers_of_replay() const {
        if (clients_->by_fix().empty()) return nullptr;
        const std::uint32_t sessions = node::account_directory_of(venue_).sessions_capacity();
        auto answers = std::make_unique<gateway::answer_log>(sessions, node::answer_options_of(venue_));
        for (const fix_client* each : clients_->by_fix()) answers->set_detailed(each->settings().session);
        return answers;
    }

    [[nodiscard]] std::vector<session_history> histories() const {
        std::vector<session_history> all;
        for (const trader* each : clients_->sessions()) {
            all.push_back(
                {each->session(), each->settings().who.account, &each->flow()->requests(), &each->answer_digests()});
        }
        for (std::size_t k = 0; k < fix_requests_.size(); ++k) {
            const fix_client_settings& own = clients_->by_fix()[k]->settings();
            all.push_back({own.session, own.account, &fix_requests_[k], nullptr});
        }
        return all;
    }

    /// A last life executes all commands again.
    void replay() {
        for (std::size_t k = 0; k < plan_.shape.venue.partitions_count; ++k) remove_snapshots(journal_of(plan_, k));
        site_.start_facility();
        while (site_.is_facility_running() && !site_.is_facility_serving() && is_sound()) go_on();
        if (is_sound() && state_hashes_of(site_.venue()) != state_hashes_) {
            result_.found.add("D6", "a replay of the journal does not lead to the state in which the venue ended");
        }
        end_venue();
    }

    void remove_snapshots(const std::string& directory) {
        sim::disk& disk = site_.host(0).disk();
        const auto names = disk.list(directory);
        if (!names) return;
        for (const std::string& name : *names) {
            if (name.ends_with(".snapshot")) disk.take_away(directory + "/" + name);
        }
    }

    [[nodiscard]] run_result summary() {
        result_.digest = world_.digest();
        result_.virtual_time = world_.now() - begin_;
        result_.starts_count = site_.starts_count();
        result_.failures_count = site_.failures_count();
        for (const subscriber* each : clients_->subscribers()) result_.feed_messages_count += each->messages_count();
        for (const trader* each : clients_->sessions()) {
            if (each->flow() == nullptr) continue;
            result_.requests_count += each->flow()->requests().size();
            result_.answers_count += each->answer_digests().size();
            result_.fills_count += each->flow()->fills_count();
            result_.refused_count += each->flow()->refused_count();
        }
        for (const fix_client* each : clients_->by_fix()) {
            result_.requests_count += each->trader().requests().size();
            result_.answers_count += each->trader().messages_count();
            result_.fills_count += each->trader().fills_count();
            result_.refused_count += each->trader().refused_count();
        }
        return result_;
    }

    const plan plan_;
    const node::configuration venue_ = configuration_of_facility(plan_);
    const trace tell_;
    run_watcher* const watcher_;
    run_result result_;
    sim::world world_;
    sim::link_options link_options_;
    io::steady_time begin_;
    site site_;
    fault_injector faults_{world_, site_, plan_.shape};
    std::unique_ptr<clients> clients_;
    std::vector<std::uint64_t> state_hashes_;              // by partition
    std::vector<std::vector<sent_request>> fix_requests_;  // of the FIX clients, once they have left
    time_watch time_watch_{venue_.clock_slew_ppm};
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
