// SPDX-License-Identifier: Apache-2.0
// A simulated market for Python: a scenario and a seed, run as far as wanted, with its results as frames.
//
// Units: nanoseconds since the market's start; frames have the time of day. Prices are decimals, quantities units.
// Threads: one call at a time; others wait. The code of traders calls the market that runs it.
// Cost: the market's own, and what is recorded: some 60 bytes for a trade, 50 for a quote, 110 for a row of orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "native/errors.hpp"
#include "native/frame.hpp"
#include "native/journal.hpp"

namespace corro::market {
struct scenario;
}

namespace corro::python {

/// What a scenario says of itself.
struct scenario_facts {
    std::string name;
    std::string about;
    std::string text;
    std::int64_t duration_ns = 0;
    std::int64_t sample_ns = 0;
    std::int64_t start_ns = 0;
    std::uint64_t seed = 1;
    std::uint64_t agents = 0;
    std::vector<instrument_facts> instruments;
};

/// @param file  For messages. @throws setup_error
[[nodiscard]] scenario_facts read_scenario(const std::string& text, const std::string& file);

struct recorded_tables {
    bool orders = false;
    bool trades = false;
    bool levels = false;
    bool quotes = false;
};

struct market_totals {
    std::int64_t now_ns = 0;
    std::uint64_t commands = 0;
    std::uint64_t trades = 0;
    std::uint64_t rejects = 0;
    std::uint64_t digest = 0;
    std::uint64_t state_hash = 0;
};

/// A place for a trader that acts between two calls of `run`.
struct seat_wish {
    std::string name;
    std::string beside;  ///< a group of agents, whose link it gets; empty: no delay
};

/// An order from a seat.
struct seat_order {
    bool is_buy = true;
    std::string instrument;         ///< empty: the only one
    bool has_limit = false;         ///< otherwise a market order
    std::int64_t price_nano = 0;    ///< billionths of the currency
    std::int64_t quantity = 0;      ///< units
    std::string time_in_force;      ///< "day", "ioc", ...
    bool is_post_only = false;
    std::int64_t display_quantity = 0;
};

/// The best prices as a seat has seen them. Prices that do not exist are NaN.
struct quote_facts {
    std::int64_t time_ns = 0;  ///< when the venue published them, since the epoch
    double bid = 0;
    double ask = 0;
    std::int64_t bid_quantity = 0;
    std::int64_t ask_quantity = 0;
    double last = 0;
    std::int64_t volume = 0;
};

/// A trader whose code is outside of the market: it is called whenever its wait is over, from 1 ns after the start on.
struct trader_wish {
    std::string name;
    std::string beside;  ///< as for a seat
};

/// Traders that act together, at fixed times. They are called NAME-1, NAME-2, ...
struct crowd_wish {
    std::string name;
    std::string beside;
    std::uint32_t count = 1;
    std::string instrument;     ///< empty: the only one
    std::int64_t every_ns = 0;  ///< above 0
};

/// What a trader waits for.
struct next_wait {
    enum class kind : std::uint8_t {
        over,    ///< nothing any more
        sleep,   ///< `ns`
        answer,  ///< the answer to the request `number`
        news,    ///< news of `instrument`, bits of market::news; or `ns`
    };
    kind what = kind::over;
    std::int64_t ns = 0;
    std::uint32_t number = 0;
    std::uint8_t news = 0;
    std::string instrument;  ///< empty: the only one
};

/// The code of traders and crowds. Called by `market::run`, on its thread; may use the market, but not run it.
class outside {
 public:
    outside() = default;
    outside(const outside&) = delete;
    outside& operator=(const outside&) = delete;
    virtual ~outside() = default;
    /// @param trader  Its index among the traders.
    /// @param result  Of its last wait. Sleep and news: 1, or 0 when the trader is told to stop or the time for the news is
    ///                over. Answer: 0 when accepted, the number of the reason when rejected, -1 when told to stop.
    virtual next_wait proceed(std::size_t trader, std::int32_t result) = 0;
    virtual void act(std::size_t crowd) = 0;
};

/// Requests of a crowd, by rows. Columns are equally long.
struct crowd_requests {
    std::span<const std::int32_t> member;    ///< from 0
    std::span<const std::int8_t> side;       ///< above 0: buy; below: sell; 0: no order
    std::span<const double> price;           ///< the nearest price that the instrument accepts is taken; infinite: at market
    std::span<const std::int64_t> quantity;  ///< units
    std::span<const std::uint8_t> cancel;    ///< whether all its orders are cancelled before
    std::string time_in_force;               ///< of orders with a limit
};

/// What may happen while a thread waits for its turn on a market: it gives way to others, and takes it back.
struct courtesy {
    void* (*give_way)() = nullptr;
    void (*take_back)(void* given) = nullptr;
};
/// For all markets; set once, before there is one.
void wait_with(courtesy how);

struct market_tables {
    frame_pointer orders;
    frame_pointer trades;
    frame_pointer levels;
    frame_pointer quotes;
};

class market {
 public:
    /// @throws setup_error; argument_error for a seat, a trader, a crowd
    market(const std::string& text, const std::string& file, std::uint64_t seed, recorded_tables recorded,
           const std::vector<seat_wish>& seats, const std::vector<trader_wish>& traders = {},
           const std::vector<crowd_wish>& crowds = {});
    /// One of many runs of a scenario, which has no metrics and no tables. @throws argument_error
    market(std::shared_ptr<const corro::market::scenario> described, std::uint64_t seed, const std::vector<seat_wish>& seats);
    ~market();
    market(const market&) = delete;
    market& operator=(const market&) = delete;

    /// Where the code of traders and crowds is. Before the first `run`, if there are any.
    void drive_with(std::unique_ptr<outside> code);
    /// Lets everything happen until a time, inclusive; nothing if that is past.
    /// @throws what a behaviour and `outside` throw; what `interrupted` throws: the market can then go on
    void run(std::int64_t until_ns, const interruption& interrupted);

    [[nodiscard]] market_totals totals() const;
    [[nodiscard]] std::int64_t now_ns() const;
    [[nodiscard]] std::vector<std::string> instrument_names() const;
    /// By name, for what happened so far.
    [[nodiscard]] std::vector<std::pair<std::string, double>> metrics();
    /// A copy of what was recorded so far; null pointers for the others.
    [[nodiscard]] market_tables tables() const;
    /// A row for each agent and each instrument that it traded; profits with the last price of the instrument.
    [[nodiscard]] frame_pointer positions() const;
    /// The private numbers that agents noted.
    [[nodiscard]] frame_pointer notes() const;
    /// @param instrument  Empty: the only one. @throws argument_error
    [[nodiscard]] book_facts book(const std::string& instrument, std::uint32_t depth, bool with_orders) const;

    // Seats and then traders, by their index. Requests leave at once, and take effect while the market runs.

    // Each returns the number of the request, which for `enter` is the order's.

    /// @throws argument_error, for a price off the tick and the like
    std::uint32_t enter(std::size_t seat, const seat_order& order);
    /// @throws argument_error if the seat has no such open order
    std::uint32_t cancel(std::size_t seat, std::uint32_t number);
    /// @param quantity  Open from then on. @throws argument_error
    std::uint32_t amend(std::size_t seat, std::uint32_t number, bool has_price, std::int64_t price_nano, std::int64_t quantity);
    /// @param instrument  Empty: all. @throws argument_error
    std::uint32_t cancel_all(std::size_t seat, const std::string& instrument);
    /// What the seat knows by now: its orders, its holdings, its fills since the last call.
    [[nodiscard]] frame_pointer seat_orders(std::size_t seat) const;
    [[nodiscard]] frame_pointer seat_holdings(std::size_t seat) const;
    [[nodiscard]] frame_pointer take_fills(std::size_t seat);
    /// @return Units, negative when short. @throws argument_error
    [[nodiscard]] std::int64_t seat_position(std::size_t seat, const std::string& instrument) const;
    /// Cash that it has received, less what it has paid and fees. @throws argument_error
    [[nodiscard]] double seat_cash(std::size_t seat, const std::string& instrument) const;
    /// @throws argument_error
    [[nodiscard]] quote_facts seat_quote(std::size_t seat, const std::string& instrument);

    /// What the members of a crowd know by now, a row each.
    [[nodiscard]] frame_pointer crowd_view(std::size_t crowd);
    /// @return Requests that were sent. @throws argument_error; then none was
    std::uint64_t crowd_send(std::size_t crowd, const crowd_requests& requests);

 private:
    friend class makers;
    struct state;
    struct running;
    void add_seats(const std::vector<seat_wish>& seats);
    void run_slice(std::int64_t until_ns);
    std::unique_ptr<state> state_;
};

/// One metric of two designs over the same seeds; `p_corrected` is corrected over all metrics of the comparison.
struct paired_metric {
    std::string name;
    double mean_a = 0;
    double mean_b = 0;
    double difference = 0;  ///< b less a
    double low = 0;
    double high = 0;
    double p_value = 1;
    double p_corrected = 1;
};

/// As `corro market compare` does it.
/// @param series  Names, and the values of both designs by seed.
/// @throws argument_error unless both have equally many values, at least two
[[nodiscard]] std::vector<paired_metric> compare_metrics(
    const std::vector<std::tuple<std::string, std::vector<double>, std::vector<double>>>& series);

}  // namespace corro::python
