// SPDX-License-Identifier: Apache-2.0
// A market in virtual time: agents, their links, and the venue's own facility.
//
// A request leaves its agent, travels its link, waits for a gateway and for the engine, and is executed by the
// facility. Private answers and public data travel back, each on its own link. docs/spec/market.md states the model.
//
//     market::market world(options);
//     world.add_agent({.name = "noise-1", ...}, [](agent& me) { return noise(me, parameters); });
//     world.run(60'000'000'000);
//
// The same options, agents and seed give the same commands, byte for byte, with any compiler: the digest is theirs.
//
// Units:   nanoseconds since the market's start; commands and events have the time of day, from `start_ns` on.
// Limits:  market/limits.hpp; the facility's, from the options.
// Threads: one.
// Cost:    some 300 ns for each request and its answers. No allocation in steady state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "market/agent.hpp"
#include "market/agent_list.hpp"
#include "market/behaviour.hpp"
#include "market/delay.hpp"
#include "market/public_history.hpp"
#include "market/queue_tracker.hpp"
#include "market/random_stream.hpp"
#include "market/schedule.hpp"

namespace corro::market {

/// What trading costs, per lot, in billionths of the currency; negative is a rebate.
struct fee {
    std::int64_t maker = 0;
    std::int64_t taker = 0;
};

/// The venue between its links: how long its parts take.
struct venue_times {
    std::uint32_t gateways_count = 1;  ///< agent i uses gateway i modulo this
    delay gateway;                     ///< a gateway's time for one request; others wait meanwhile
    delay engine;                      ///< the engine's
    /// Added to the way of requests that may trade (orders, amends); cancels are exempt. A speed bump
    /// for all; `link::bump_ns` is one for some.
    std::int64_t bump_ns = 0;
    /// A cancel or amend of an order that rests for less than this waits at the gateway until it does; a mass cancel,
    /// for the agent's newest order. A minimum resting time.
    std::int64_t resting_ns = 0;
};

struct market_options {
    std::uint64_t seed = 1;
    /// Time of day at the start, in nanoseconds since the epoch: 2026-01-05T14:30:00Z.
    std::int64_t start_ns = 1'767'623'400'000'000'000;
    std::vector<domain::instrument> instruments;
    std::vector<fee> fees;  ///< by the index of the instrument; none: no fees
    /// Instruments that trade in batches only: somebody ends an auction now and then and begins the next at once.
    /// Agents know it: see agent::accepts.
    std::vector<domain::instrument_id> in_batches;
    std::uint32_t orders_max = 1U << 18U;
    /// The facility reserves space for this many accounts; at least as many as agents.
    std::uint32_t accounts_max = 1'024;
    venue_times times;
    bool keeps_commands = false;  ///< for a recording: see `commands`
    bool keeps_notes = false;
    bool touches_memory = false;  ///< facility_options::touch
    /// Longest delay of market data of links that agents get while the market runs; those of `add_agent` count by
    /// themselves.
    std::int64_t reach_ns = 0;
};

/// Looks at all that the venue does. It must not call back into the market.
class market_observer {
 public:
    market_observer() = default;
    market_observer(const market_observer&) = delete;
    market_observer& operator=(const market_observer&) = delete;
    virtual ~market_observer() = default;
    /// A command that the facility is about to execute, with its sequence and time.
    virtual void on_command(const domain::command& command) = 0;
    /// Events of that command; from one to all of them at a time.
    virtual void on_events(std::span<const domain::event> events) = 0;
};

/// Commands that the venue executes at given times, without links and queues: a recording. It is asked before the
/// agents of the same moment, and must not call back into the market.
class command_source {
 public:
    command_source() = default;
    command_source(const command_source&) = delete;
    command_source& operator=(const command_source&) = delete;
    virtual ~command_source() = default;
    /// When it wants to be asked, in the market's time and never earlier than before; never_ns at the end.
    [[nodiscard]] virtual std::int64_t next_ns() const noexcept = 0;
    /// Gives the next command of now. The market sets its sequence and its time.
    /// @return False: nothing is to be done; then `next_ns` was moved on.
    [[nodiscard]] virtual bool take(const market& world, domain::command& into) = 0;
    /// The command that it gave last was executed; observers have its events.
    virtual void on_executed(const market& world) = 0;
};

/// A venue elsewhere, to which requests go instead of the market's own facility: market/whole/whole_market.hpp.
class outside_venue {
 public:
    outside_venue() = default;
    outside_venue(const outside_venue&) = delete;
    outside_venue& operator=(const outside_venue&) = delete;
    virtual ~outside_venue() = default;
    /// A request leaves its agent now. It must not call back into the market.
    virtual void send(const agent& from, const domain::command& request) = 0;
};

struct agent_options {
    std::string name;
    std::shared_ptr<const link> way;  ///< null: no delay
    delay compute;                    ///< between waking and the departure of requests
    clock_error clock;
    bool is_operator = false;  ///< may halt, settle, stop others
};

struct market_counts {
    std::uint64_t commands = 0;  ///< executed; also the sequence number of the last
    std::uint64_t trades = 0;    ///< of the public tape
    std::uint64_t rejects = 0;
    std::uint64_t wakes = 0;  ///< resumptions of agents
};

/// A private number of an agent, see agent::note.
struct note {
    std::int64_t at_ns = 0;
    std::uint32_t agent = 0;
    std::uint32_t what = 0;  ///< index of its name
    double value = 0;
};

class market final : private facility::event_consumer {
 public:
    /// @pre Instruments are sound and distinct (asserted by the facility), at least one.
    explicit market(market_options options);
    ~market();
    market(const market&) = delete;
    market& operator=(const market&) = delete;

    /// @pre The market has not run yet (asserted).
    agent& add_agent(agent_options options, std::function<behaviour(agent&)> make);

    /// Lets everything happen until `until_ns`, inclusive.
    /// @param commands_max  Returns early when `commands()` has this many.
    /// @return Whether it came to `until_ns`.
    /// @throws What a behaviour throws.
    bool run(std::int64_t until_ns, std::size_t commands_max = SIZE_MAX);

    /// Tells an agent to stop: its running await returns false.
    void stop(agent& which);

    [[nodiscard]] std::int64_t now_ns() const noexcept { return now_ns_; }
    [[nodiscard]] const market_options& options() const noexcept { return options_; }
    [[nodiscard]] std::size_t agents_count() const noexcept { return agents_.size(); }
    [[nodiscard]] agent& agent_at(std::size_t index) noexcept { return agents_[index]; }
    [[nodiscard]] const agent& agent_at(std::size_t index) const noexcept { return agents_[index]; }
    [[nodiscard]] const std::string& name_of(std::size_t index) const noexcept { return names_[index]; }
    [[nodiscard]] bool is_operator(std::size_t index) const noexcept { return operators_[index]; }
    /// @pre The market has run (asserted).
    [[nodiscard]] const facility::facility& venue() const noexcept;
    [[nodiscard]] facility::facility_options venue_options() const noexcept;
    [[nodiscard]] const market_counts& counts() const noexcept { return counts_; }
    /// A hash of all commands so far, with their times.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    /// Fees that the venue has received, less rebates, in billionths of the currency.
    [[nodiscard]] std::int64_t fees_received() const noexcept { return fees_received_; }
    [[nodiscard]] const domain::instrument& rules(domain::instrument_id id) const noexcept;
    [[nodiscard]] const fee& fees(domain::instrument_id id) const noexcept;
    /// What all see without delay; for observers and results.
    [[nodiscard]] const book_view& latest(domain::instrument_id of) const { return public_of(of).history.latest(); }

    /// Commands since the last `forget_commands`; only with `keeps_commands`.
    [[nodiscard]] std::span<const domain::command> commands() const noexcept { return kept_commands_; }
    void forget_commands() noexcept { kept_commands_.clear(); }
    [[nodiscard]] std::span<const note> notes() const noexcept { return notes_; }
    void forget_notes() noexcept { notes_.clear(); }
    [[nodiscard]] std::string_view note_name(std::uint32_t what) const { return note_names_[what]; }

    /// The observer outlives the market's running.
    void observe_with(market_observer& observer) { observers_.push_back(&observer); }

    /// Commands come from `source` as well. Then each command of an agent is executed when the engine is done with it,
    /// so that commands of the source come in between; the source waits for nobody.
    /// @pre The market has not run yet, and has no source (asserted).
    void take_commands_from(std::shared_ptr<command_source> source);
    /// Null: there is none.
    [[nodiscard]] const command_source* source() const noexcept { return source_.get(); }

    /// Requests leave for `elsewhere`, and the market has no facility of its own: what arrives is given to `hear` and
    /// `show`. Agents have no links then, and no places in queues.
    /// @param feed_of_agent  Each agent's feed, from 0: whose `show` it sees.
    /// @pre   The market has not run yet; the venue's times are 0, and there is no source (asserted). `elsewhere`
    ///        outlives the market's running.
    void trade_at(outside_venue& elsewhere, std::span<const std::uint32_t> feed_of_agent);
    /// When something happens next without further arrivals; never_ns: nothing will.
    [[nodiscard]] std::int64_t next_ns() const noexcept;
    /// A private message has arrived at its agent; observers get it. @pre Not before now, and not after `next_ns`
    /// (asserted).
    void hear(std::int64_t at_ns, const domain::event& e);
    /// A public message has arrived over a feed; otherwise as `hear`. Observers get those of feed 0.
    void show(std::int64_t at_ns, std::uint32_t feed, const domain::event& e);

    /// For agents and scenarios. @throws std::runtime_error where the venue is elsewhere.
    void change_link(agent& of, std::shared_ptr<const link> way);

 private:
    friend class agent;

    struct flight {
        domain::command command;
        std::uint32_t agent = 0;
        std::uint32_t next_free = 0;
        bool is_at_gateway = true;
        bool is_at_engine = false;  // only with a source
        bool is_tracked = false;
    };
    struct message {
        domain::event event;
        std::int64_t at_ns = 0;
        std::uint32_t next = 0;
    };
    struct waiting {
        std::uint32_t agent;
        std::uint8_t kinds;
    };
    struct public_state {
        public_history history;
        book_view now;
        std::vector<waiting> waiting_agents;
        std::vector<std::pair<std::uint32_t, queue_tracker>> trackers;  // with the agent
        std::uint8_t changed = 0;                                       // news since the last publication
    };

    // Time.
    void start();
    void prefetch_coming() const noexcept;
    void wake(agent& who, std::uint64_t number);
    void resume(agent& who);
    void plan_wake(agent& who, std::int64_t at_ns);
    void plan_next(agent& who);
    [[nodiscard]] bool is_over(agent& who) noexcept;
    void take_messages(agent& who);
    void await_public(agent& who);
    [[nodiscard]] static bool is_news(const book_view& before, const book_view& after, std::uint8_t kinds) noexcept;
    void take_note(std::uint32_t from, std::string_view what, double value);
    [[nodiscard]] bool is_strategy(domain::instrument_id id) const noexcept { return rules(id).legs_count != 0; }
    /// Of an order_executed.
    [[nodiscard]] std::int64_t fee_of(const domain::event& e) const noexcept;

    // Requests.
    domain::command& prepare(agent& from, bool is_tracked = false);
    void depart(agent& from);
    void arrive(std::uint32_t flight_index);
    /// When a minimum resting time allows the request; 0: at once.
    [[nodiscard]] std::int64_t allowed_ns(const flight& arrived) const noexcept;
    void follow_rest(const domain::event& e);
    void execute(std::uint32_t flight_index);
    void execute_command(domain::command& c);
    void ask_source();

    // Events.
    void consume(std::span<const domain::event> events) noexcept override;
    void consume_one(const domain::event& e);
    void post(domain::session_id to, const domain::event& e);
    void settle_fill(const domain::event& e);
    void publish(std::uint32_t state_index);
    void track(const domain::event& e);
    void advance(std::int64_t to_ns);
    [[nodiscard]] std::size_t index_of(domain::instrument_id id) const noexcept;
    /// What the feed without delay has shown, and what that of an agent has.
    [[nodiscard]] const public_state& public_of(domain::instrument_id id) const noexcept {
        return public_[index_of(id)];
    }
    [[nodiscard]] public_state& public_of(domain::instrument_id id) noexcept { return public_[index_of(id)]; }
    [[nodiscard]] public_state& public_of(const agent& who, domain::instrument_id id) noexcept {
        return public_[who.first_public_ + index_of(id)];
    }
    void remove_waiting(agent& who) noexcept;

    market_options options_;
    random_stream venue_random_;
    schedule schedule_;
    std::int64_t now_ns_ = 0;
    agent_list agents_;
    bool is_large_ = false;  // more agents than caches hold: what comes next is prefetched
    std::vector<std::string> names_;
    std::vector<bool> operators_;
    std::vector<std::function<behaviour(agent&)>> makers_;  // until the start
    std::vector<std::shared_ptr<const link>> links_;        // kept alive
    std::vector<std::unique_ptr<const delay>> computes_;
    std::int64_t reach_ns_ = 0;
    std::unique_ptr<facility::facility> facility_;
    std::shared_ptr<command_source> source_;
    outside_venue* outside_ = nullptr;
    bool has_started_ = false;

    std::vector<flight> flights_;
    std::uint32_t free_flight_ = 0;  // 0: none; the first place is not used
    std::uint32_t departing_ = 0;
    std::vector<std::int64_t> gateway_free_ns_;
    std::int64_t engine_free_ns_ = 0;

    std::vector<message> messages_;
    std::uint32_t free_message_ = 0;

    // With a minimum resting time: when orders came to rest, by agent and by number of the order.
    std::unordered_map<std::uint64_t, std::int64_t> rests_since_;
    std::vector<std::int64_t> newest_rests_since_;  // by agent

    // While a command is executed.
    std::int64_t published_at_ns_ = 0;
    flight* executing_ = nullptr;
    std::vector<std::uint32_t> changed_;  // indices of public states
    std::size_t first_shown_ = 0;         // the public states of the feed that shows
    std::vector<std::pair<std::uint32_t, domain::event>> to_track_;
    std::uint32_t trackers_count_ = 0;

    std::vector<public_state> public_;        // by instrument; of a venue elsewhere by feed and instrument
    std::vector<std::uint32_t> index_of_id_;  // of an instrument, plus 1
    std::vector<waiting> told_;               // scratch of `publish`

    market_counts counts_;
    std::uint64_t digest_ = 0;
    std::int64_t fees_received_ = 0;
    std::vector<domain::command> kept_commands_;
    std::vector<note> notes_;
    std::vector<std::string> note_names_;
    std::vector<market_observer*> observers_;
};

}  // namespace corro::market
