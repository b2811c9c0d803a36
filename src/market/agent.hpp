// SPDX-License-Identifier: Apache-2.0
// An agent of a market: an account with a session, links, a clock and a stream of random numbers, moved by a behaviour.
//
// All that an agent knows reaches it over its links: answers to its requests, and public data of some time ago.
// Requests leave when its computing is done, and take time too.
//
//     market::behaviour trader(market::agent& me) {
//         for (;;) {
//             const bool goes_on = co_await me.sleep(me.random().exponential(1e9));
//             if (!goes_on) co_return;
//             for (const known_order& each : me.orders()) me.cancel(each.number);
//             const answer got = co_await me.enter(limit(me.random().side(), price_ticks{100}, quantity_lots{1}));
//             ...
//         }
//     }
//
// Units:   ticks, lots, nanoseconds of the market's time.
// Limits:  market/limits.hpp.
// Threads: the market's.
// Cost:    below 1 KiB an agent beside its frame; no allocation in steady state.
// Source:  docs/spec/market.md.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "market/behaviour.hpp"
#include "market/delay.hpp"
#include "market/new_order.hpp"
#include "market/public_history.hpp"
#include "market/random_stream.hpp"

namespace corro::market {

class market;

/// A number that an agent gives to a request; the number of an order is that of the request that entered it.
using request_number = std::uint32_t;

enum class order_state : std::uint8_t {
    sent,        ///< no answer yet
    open,        ///< in the book, as far as known
    cancelling,  ///< a cancel has been sent
};

/// An order as its agent knows it.
struct known_order {
    request_number number = 0;
    domain::instrument_id instrument{};
    domain::price_ticks price{};
    domain::quantity_lots open{};
    domain::side side = domain::side::buy;
    order_state state = order_state::sent;
    domain::order_id order{};     ///< the venue's; 0 before the first answer
    std::int64_t sent_at_ns = 0;  ///< by the market's time
};

/// The first answer to a request.
struct answer {
    domain::event_kind kind = domain::event_kind::order_rejected;
    domain::reject_reason reason = domain::reject_reason::none;
    bool arrived = false;  ///< false: the agent was told to stop before
    [[nodiscard]] bool is_accepted() const noexcept { return arrived && kind != domain::event_kind::order_rejected; }
};

/// Position and cash in one instrument.
struct holding {
    domain::instrument_id instrument{};
    std::int64_t lots = 0;  ///< positive for long
    std::int64_t cash = 0;  ///< received less paid, in ticks x lots
    std::uint64_t traded_lots = 0;
    std::int64_t fees = 0;  ///< paid, in billionths of the currency; negative: received
};

/// What a lot costs in one instrument, in its ticks; negative for a rebate.
struct fee_ticks {
    double maker = 0;
    double taker = 0;
    /// In an auction, where an agent cannot know which of both it will pay.
    [[nodiscard]] double worse() const noexcept { return maker > taker ? maker : taker; }
};

/// What wakes an agent beside its deadline; bits.
namespace news {
inline constexpr std::uint8_t answers = 1;  ///< any private message
inline constexpr std::uint8_t trades = 2;   ///< a trade of the instrument
inline constexpr std::uint8_t tops = 4;     ///< a change of the best levels or of the phase of the instrument
}  // namespace news

/// For agent::until: the next trade of an instrument, and so on.
struct awaited_news {
    awaited_news(std::uint8_t which, domain::instrument_id of) noexcept : kinds(which), instrument(of) {}
    std::uint8_t kinds;
    domain::instrument_id instrument;
};
[[nodiscard]] inline awaited_news next_trade(domain::instrument_id of) noexcept {
    return {news::trades, of};
}
[[nodiscard]] inline awaited_news next_quote(domain::instrument_id of) noexcept {
    return {news::tops, of};
}
[[nodiscard]] inline awaited_news next_answer() noexcept {
    return {news::answers, domain::instrument_id{}};
}
/// Anything: answers, trades, tops.
[[nodiscard]] inline awaited_news next_news(domain::instrument_id of) noexcept {
    return {news::answers | news::trades | news::tops, of};
}

/// An agent's clock: its error against the market's time.
struct clock_error {
    std::int64_t offset_ns = 0;
    double drift_ppm = 0;  ///< how much faster it runs, in parts per million
};

/// No deadline.
inline constexpr std::int64_t never_ns = INT64_MAX / 2;

/// What an instrument accepts from an agent, as far as the agent knows: docs/spec/phases.md.
enum class accepted_orders : std::uint8_t {
    none,        ///< cancels only: halted or closed, or the agent was killed
    collecting,  ///< orders that may rest, for an auction; immediate and post-only ones are rejected
    all,
};

/// An agent that the venue has killed does not learn when it may trade again: it tries once in this time.
inline constexpr std::int64_t killed_pause_ns = 1'000'000'000;

class agent {
 public:
    agent(market& of, std::uint32_t index, std::string_view name, std::uint64_t run_seed, const link& way,
          const delay* compute, clock_error clock);
    agent(const agent&) = delete;
    agent& operator=(const agent&) = delete;

    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
    [[nodiscard]] domain::account_id account() const noexcept { return domain::account_id{index_ + 1}; }
    [[nodiscard]] random_stream& random() noexcept { return random_; }
    /// The agent's own clock: nanoseconds since the market's start, with the clock's error.
    [[nodiscard]] std::int64_t now_ns() const noexcept;
    /// Whether the agent was told to stop: each await now returns at once.
    [[nodiscard]] bool is_stopping() const noexcept { return is_stopping_; }
    [[nodiscard]] const link& way() const noexcept { return *link_; }

    // --- Waiting ---------------------------------------------------------------------------------------------------

    class [[nodiscard("co_await it")]] wait {
     public:
        wait(agent& me, std::uint8_t kinds, domain::instrument_id instrument, request_number number,
             std::int64_t deadline_ns) noexcept
            : me_(me), kinds_(kinds), instrument_(instrument), number_(number), deadline_ns_(deadline_ns) {}
        bool await_ready() const noexcept { return me_.declines_to_wait(); }
        void await_suspend(std::coroutine_handle<> waiter) {
            me_.begin_wait(waiter, kinds_, instrument_, number_, deadline_ns_);
        }
        bool await_resume() const noexcept { return me_.was_woken_as_wanted(); }

     protected:
        agent& me_;

     private:
        std::uint8_t kinds_;
        domain::instrument_id instrument_;
        request_number number_;
        std::int64_t deadline_ns_;
    };
    class [[nodiscard("co_await it")]] sleeping : public wait {
     public:
        using wait::wait;
        bool await_resume() const noexcept { return !me_.is_stopping(); }
    };

    /// @return  True after that time; false if the agent is to stop.
    /// @suspend For the duration, by the agent's own clock.
    [[nodiscard]] sleeping sleep(std::int64_t duration) noexcept {
        return {*this, 0, domain::instrument_id{}, 0, deadline_after(duration)};
    }
    [[nodiscard]] sleeping sleep(double duration) noexcept { return sleep(duration_ns(duration)); }
    /// @return  True when the news has arrived; false at the timeout, and if the agent is to stop.
    /// @suspend Until then.
    [[nodiscard]] wait until(awaited_news what, std::int64_t timeout = never_ns) noexcept {
        return {*this, what.kinds, what.instrument, 0, deadline_after(timeout)};
    }

    // --- Requests: they leave at once, or when the agent's computing is done ----------------------------------------

    /// A request that was sent. Awaiting it is optional.
    class sent {
     public:
        sent(agent& me, request_number sent_as) noexcept : number(sent_as), me_(&me) {}
        request_number number;

        class reply_wait : public wait {
         public:
            using wait::wait;
            answer await_resume() const noexcept { return me_.last_answer(); }
        };
        /// @return  The first answer. To be awaited where it is made: `co_await me.enter(...)`.
        /// @suspend Until it has arrived.
        reply_wait operator co_await() && noexcept { return {*me_, 0, domain::instrument_id{}, number, never_ns}; }

     private:
        agent* me_;
    };
    sent enter(const new_order& order);
    /// Cancels an order of `orders()`; a number that is not there causes a request of no effect, which is rejected.
    sent cancel(request_number order);
    /// @param lots  Open quantity from then on.
    sent amend(request_number order, domain::price_ticks price, domain::quantity_lots lots);
    /// Cancels all orders of the account in the instrument; in all instruments for instrument 0.
    sent cancel_all(domain::instrument_id in = {});
    /// Any other command; the agent fills in account, session and request.
    sent send(domain::command command);

    // --- What the agent knows --------------------------------------------------------------------------------------

    /// Orders that are open as far as the agent knows, in the order in which they were entered. Valid until the next
    /// request or await.
    [[nodiscard]] std::span<const known_order> orders() const noexcept { return orders_; }
    /// Null if the order is not in `orders()`.
    [[nodiscard]] const known_order* order(request_number number) const noexcept;
    [[nodiscard]] std::int64_t position(domain::instrument_id in = domain::instrument_id{1}) const noexcept;
    /// As known to the agent.
    [[nodiscard]] std::span<const holding> holdings() const noexcept { return known_; }
    /// The instrument as the feed has shown it to this agent by now. Never older than an earlier look.
    [[nodiscard]] const book_view& book(domain::instrument_id of = domain::instrument_id{1});
    /// By the phase that the agent's last look at any book has shown; it looks at nothing itself.
    [[nodiscard]] accepted_orders accepts(domain::instrument_id of);
    /// The instrument's definition.
    [[nodiscard]] const domain::instrument& rules(domain::instrument_id of) const noexcept;
    /// The venue's fees of the instrument. A lot is `lot_size` units, so one tick of it is `tick_size` x `lot_size`.
    [[nodiscard]] fee_ticks fees(domain::instrument_id of) const noexcept;
    /// The nearest price that the instrument accepts.
    [[nodiscard]] domain::price_ticks price_in(domain::instrument_id of, double ticks) const noexcept;
    /// The same for an order of a side, within the dynamic band of continuous trading around the last trade that the
    /// agent's last look at any book has shown. Beyond a band that starts an auction, orders are accepted.
    [[nodiscard]] domain::price_ticks price_in(domain::instrument_id of, domain::side which, double ticks);
    /// Lots ahead of an order that was entered with `tracked()`, as far as the feed has shown; 0 for other orders.
    [[nodiscard]] std::uint64_t queue_ahead(request_number order);
    /// Records a private number of the agent beside the run: a fair value, an intention.
    void note(std::string_view what, double value);
    /// Fills since the last call, oldest first, as they arrived. Only while `keeps_fills` is on.
    void keep_fills(bool keep) noexcept { keeps_fills_ = keep; }
    [[nodiscard]] std::vector<domain::event> take_fills() noexcept { return std::exchange(fills_, {}); }

    // --- What is true at the venue; for tests and results, not for behaviours ---------------------------------------

    [[nodiscard]] std::span<const holding> true_holdings() const noexcept { return true_; }

 private:
    friend class market;
    friend class wait;

    [[nodiscard]] bool declines_to_wait() noexcept {
        return is_stopping_ && ++awaits_after_stop_ <= awaits_after_stop_max;
    }
    void begin_wait(std::coroutine_handle<> waiter, std::uint8_t kinds, domain::instrument_id instrument,
                    request_number number, std::int64_t deadline_ns);
    [[nodiscard]] bool was_woken_as_wanted() const noexcept { return woken_as_wanted_ && !is_stopping_; }
    [[nodiscard]] answer last_answer() const noexcept { return last_answer_; }
    [[nodiscard]] std::int64_t deadline_after(std::int64_t duration) const noexcept;

    /// Takes a private message that has arrived.
    void hear(const domain::event& e);
    [[nodiscard]] known_order* find(request_number number) noexcept;
    void erase(request_number number) noexcept;
    [[nodiscard]] static holding& holding_in(std::vector<holding>& of, domain::instrument_id instrument);

    enum class stream : std::uint8_t { request, answer, market_data, compute };
    [[nodiscard]] std::int64_t draw(const delay& from, stream which) noexcept {
        return from.draw(way_random_[static_cast<std::size_t>(which)].generator());
    }

    market* market_;
    const link* link_;
    const delay* compute_;  // null: none
    std::uint32_t index_;
    std::uint32_t first_public_ = 0;  // the public states that it sees
    request_number last_number_ = 0;

    // The running wait.
    std::coroutine_handle<> waiter_;
    std::int64_t deadline_ns_ = 0;
    std::int64_t news_due_ns_ = never_ns;  // when public news that is waited for arrives
    std::int64_t news_from_ns_ = 0;        // when it was published
    std::uint64_t planned_number_ = 0;     // of the entry in the schedule that counts; others are stale
    std::int64_t planned_at_ns_ = never_ns;
    request_number awaited_ = 0;
    domain::instrument_id news_instrument_{};
    std::uint8_t news_kinds_ = 0;
    bool is_waiting_ = false;
    bool woken_as_wanted_ = false;
    bool is_stopping_ = false;
    bool keeps_fills_ = false;
    bool heard_ = false;  // a private message was taken in the running wait
    std::uint32_t awaits_after_stop_ = 0;
    answer last_answer_;

    // Messages on their way to the agent: a list by arrival.
    std::uint32_t inbox_first_ = 0;  // 0: none
    std::uint32_t inbox_last_ = 0;
    std::uint64_t answered_command_ = 0;  // the last command whose messages were sent to the agent, and their arrival
    std::int64_t answer_at_ns_ = 0;
    std::int64_t request_at_ns_ = 0;    // of the last request
    std::int64_t busy_until_ns_ = 0;    // computing
    std::int64_t seen_ns_ = -1;         // the newest public data that was looked at
    std::int64_t killed_until_ns_ = 0;  // when it tries again; 0: it was not killed

    clock_error clock_;
    random_stream random_;
    std::array<random_stream, 4> way_random_;
    std::vector<known_order> orders_;
    std::vector<holding> known_;
    std::vector<holding> true_;
    std::vector<domain::event> fills_;
    behaviour behaviour_;
};

}  // namespace corro::market
