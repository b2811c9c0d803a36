// SPDX-License-Identifier: Apache-2.0
// The order flow of a recorded day in a market with agents: each request at its recorded time, by order.
//
// Without orders of agents the venue does what it did in the recording. An order of an agent changes that: it stands
// before recorded orders in the queue, or takes lots that a recorded order took. What the recorded participants do then
// is a policy with a name; every departure from the recording is counted by its cause.
//
// In all policies a recorded participant keeps its intentions: a cancel cancels what is left, an amend has the recorded
// total, which counts what has been filled. Requests about an order that is gone are left out.
//
// Units:   ticks, lots, nanoseconds of the market's time.
// Limits:  recorded_day_agents_max agents.
// Threads: the market's.
// Cost:    as a command of the market; with orders of agents in the book, some policies walk it for each aggressor.
// Source:  docs/spec/recorded_day.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "market/market.hpp"
#include "market/random_stream.hpp"
#include "market/recorded_day/recorded_day.hpp"

namespace corro::market {

/// What happens to recorded aggressors, and to recorded orders that an agent has taken from.
enum class recorded_policy : std::uint8_t {
    /// An aggressor comes with its recorded lots and takes what it finds: orders of agents first, where they stand
    /// first.
    what_is_left,
    /// An aggressor takes what it took of the same recorded orders, and what stands before them as well.
    same_orders,
    /// An aggressor's lots are multiplied by the depth up to its price, and divided by the recorded depth.
    scaled,
    /// As what_is_left; and the owner of an order from which agents took restores it after a while, at the back.
    refilled,
    count
};
[[nodiscard]] std::string_view to_string(recorded_policy which) noexcept;

/// Where lots go that the recording has filled, and the market has not.
enum class recorded_leftovers : std::uint8_t {
    stay,   ///< in the book, until somebody takes them
    leave,  ///< cancelled at the moment of the recorded fill
    count
};
[[nodiscard]] std::string_view to_string(recorded_leftovers which) noexcept;

struct recorded_flow_options {
    recorded_policy policy = recorded_policy::what_is_left;
    recorded_leftovers leftovers = recorded_leftovers::stay;
    double refill_mean_ns = 500e6;  ///< of an exponential delay; `refilled`
    double scale_most = 10;         ///< an aggressor grows to at most this multiple; `scaled`
};

/// A number of events and their lots.
struct counted_lots {
    std::uint64_t count = 0;
    std::uint64_t lots = 0;
    void add(std::uint64_t some) noexcept {
        ++count;
        lots += some;
    }
    friend bool operator==(const counted_lots&, const counted_lots&) = default;
};

/// Departures from the recording, by cause. All are zero as long as agents have no orders.
struct recorded_departures {
    // What agents did.
    counted_lots taken_by_agents;  ///< fills of recorded resting orders by agents' aggressors
    counted_lots given_by_agents;  ///< fills of agents' resting orders by recorded orders
    // Requests that were changed or left out.
    counted_lots gone_cancels;     ///< cancels of orders that are gone; lots: open in the recording
    counted_lots gone_amends;      ///< amends of orders that are gone
    counted_lots ended_amends;     ///< amends to a total that is filled already: the order is cancelled
    counted_lots gone_aggressors;  ///< nothing is left for them; lots: that they took in the recording
    counted_lots resized;          ///< aggressors with other lots than recorded; lots: the difference
    // Fills that differ from the recorded ones.
    counted_lots short_aggressors;  ///< took fewer lots than recorded; lots: the difference
    counted_lots long_aggressors;   ///< took more
    counted_lots early_trades;      ///< orders that traded although the recording has them rest
    counted_lots missing_fills;     ///< recorded fills of resting orders that did not happen, or with fewer lots
    counted_lots additional_fills;  ///< fills of recorded resting orders by recorded orders that the recording has not
    // What followed.
    counted_lots leftovers;  ///< lots that stay, or were cancelled, by recorded_leftovers
    counted_lots refills;    ///< `refilled`
    counted_lots refused;    ///< requests that the venue rejected although the recording has them accepted

    [[nodiscard]] bool none() const noexcept { return *this == recorded_departures(); }
    friend bool operator==(const recorded_departures&, const recorded_departures&) = default;
};

/// Name and value of each cause, in the order above.
[[nodiscard]] std::vector<std::pair<std::string_view, counted_lots>> named(const recorded_departures& all);

/// Both the source of a market's recorded commands and an observer of all its events:
///     world.observe_with(*flow); world.take_commands_from(flow);
class recorded_flow final : public command_source, public market_observer {
 public:
    /// @param day   Shared by all runs of it.
    /// @param seed  Of the run; for the delays of refills.
    recorded_flow(std::shared_ptr<const recorded_day> day, recorded_flow_options how, std::uint64_t seed);

    // Of the market.
    [[nodiscard]] std::int64_t next_ns() const noexcept override;
    [[nodiscard]] bool take(const market& world, domain::command& into) override;
    void on_executed(const market& world) override;
    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> events) override;

    [[nodiscard]] const recorded_day& day() const noexcept { return *day_; }
    [[nodiscard]] const recorded_departures& departures() const noexcept { return departures_; }
    /// Requests of the recording that were executed as they are.
    [[nodiscard]] std::uint64_t unchanged_count() const noexcept { return unchanged_count_; }
    /// Position and cash of all recorded participants together, in lots and in ticks x lots.
    [[nodiscard]] std::int64_t lots() const noexcept { return lots_; }
    [[nodiscard]] std::int64_t cash() const noexcept { return cash_; }
    /// Requests of the recording whose time has come.
    [[nodiscard]] std::size_t position() const noexcept { return next_; }

 private:
    /// A recorded order, in the recording ("there") and in this market ("here").
    struct order {
        domain::side side = domain::side::buy;
        bool is_immediate = false;
        domain::price_ticks price{};
        std::uint32_t open_there = 0;
        std::uint32_t open_here = 0;
        std::uint64_t filled_there = 0;
        std::uint64_t filled_here = 0;    // under all its names
        std::uint64_t filled_before = 0;  // under earlier names
        std::int64_t granted = 0;         // lots that it wants here beyond those that it wants there
        std::uint64_t name = 0;           // its client order id here: another one after a refill
    };
    struct refill {
        std::int64_t at_ns;
        std::uint64_t order;  // index in orders_
        friend bool operator>(const refill& a, const refill& b) noexcept {
            return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
        }
    };
    struct met_order {
        std::uint64_t order;  // index in orders_
        std::uint64_t lots;
    };
    enum class purpose : std::uint8_t { none, recorded, leftover, refill };

    [[nodiscard]] order& order_of(domain::client_order_id name) noexcept;
    [[nodiscard]] bool take_recorded(const market& world, const recorded_request& r, domain::command& into);
    [[nodiscard]] bool prepare(const market& world, const recorded_request& r, recorded::replay::request& asked);
    [[nodiscard]] bool take_refill(domain::command& into);
    [[nodiscard]] bool take_leftover(domain::command& into);
    void send(const recorded::replay::request& asked, purpose why, domain::command& into);
    /// The lots that a recorded aggressor takes here, by the policy.
    [[nodiscard]] std::uint64_t lots_to_take(const market& world, const recorded_request& r, domain::side side) const;
    void advance_recording(const recorded_request& r);
    void compare(const recorded_request& r);
    void compare_fills(const recorded_request& r);
    void find_leftovers(const recorded_request& r);
    void take_own_fill(const domain::event& e);
    void follow_agent(const domain::event& e);

    std::shared_ptr<const recorded_day> day_;
    recorded_flow_options how_;
    random_stream random_;
    std::size_t next_ = 0;
    std::int64_t now_ns_ = 0;
    std::vector<order> orders_;            // by name in the recording
    std::vector<std::uint64_t> refilled_;  // of names beyond those of the recording: the index in orders_
    std::priority_queue<refill, std::vector<refill>, std::greater<>> refills_;
    std::vector<std::uint64_t> leaving_;  // indices in orders_ whose leftovers are to be cancelled
    std::uint32_t requests_count_ = 0;
    struct agent_order {
        domain::side side;
        std::uint32_t open;
    };
    std::unordered_map<std::uint64_t, agent_order> agent_orders_;  // by the venue's id
    std::uint64_t agents_lots_[2]{};                               // open, by side

    // Of the command that is being executed.
    purpose purpose_ = purpose::none;  // none: an agent's
    std::int64_t agents_now_ns_ = 0;
    bool is_phase_change_ = false;
    bool is_refused_ = false;
    bool is_as_recorded_ = false;
    std::uint64_t filled_ = 0;    // by the recorded aggressor
    std::vector<met_order> met_;  // fills of recorded resting orders

    std::int64_t lots_ = 0;
    std::int64_t cash_ = 0;
    std::uint64_t unchanged_count_ = 0;
    recorded_departures departures_;
};

}  // namespace corro::market
