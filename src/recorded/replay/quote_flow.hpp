// SPDX-License-Identifier: Apache-2.0
// A recording of quotes (LOBSTER, any number of levels) as a flow.
//
// Such a recording names every order that is entered, changed or executed at the levels that its book file shows, the
// best one or the best 5, 10, 50, but none behind them. When an event empties a level, the next one comes into view,
// with orders that no message announced, or that changed while they were out of view. Only then, and at the start, the
// replay takes data from the book file: price and size of the level that comes into view. Orders that rest there at the
// venue stay if they add up to that size and no later message contradicts them; otherwise they are replaced by the
// orders that later messages name while the level is in view, and an anonymous rest. Order names ascend in the order of
// entry, so they give the priority of unannounced orders.
//
// The comparison covers the venue's decisions: the resting order of each execution; price and size of every level in
// view on both sides after every row, except a side that was taken from the book file; and whether a level is empty.
//
// Hidden executions meet orders that are in no book: they are counted, not replayed.
//
// After an execution the next row is planned only when the answer has come; other requests are pipelined.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recorded/replay/agreement.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/flow.hpp"
#include "recorded/replay/quote_ledger.hpp"
#include "recorded/replay/quote_record.hpp"

namespace corro::recorded::replay {

struct quote_flow_facts {
    std::uint64_t messages[8]{};  ///< by quote_action
    std::uint64_t executed_lots = 0;
    std::uint64_t hidden_lots = 0;
    std::uint64_t taken_rows = 0;  ///< rows in which a level came into view
    std::uint64_t kept = 0;        ///< levels that came into view with all their orders at the venue
    // The venue's book at the level before data was taken, per level.
    std::uint64_t remembered = 0;        ///< with the right price and size
    std::uint64_t remembered_price = 0;  ///< the right price, another size
    std::uint64_t vanished_better = 0;   ///< a better level, gone without a message
    std::uint64_t unknown_price = 0;     ///< nothing, or only worse levels
    std::uint64_t placed_named = 0;      ///< unannounced orders that later messages name
    std::uint64_t placed_anonymous = 0;  ///< unannounced volume that no message names

    [[nodiscard]] std::uint64_t of(quote_action a) const noexcept { return messages[static_cast<std::size_t>(a)]; }
};

struct quote_flow_agreement {
    agreement rows;          ///< both best quotes
    agreement rows_untaken;  ///< of the rows for which nothing was taken from the book file
    agreement sides;         ///< best quotes of one side that were not taken from the book file
    std::uint64_t sides_taken = 0;
    agreement executions;     ///< that met exactly the named order
    agreement executed_lots;  ///< on the named order
};

class quote_flow final : public flow {
 public:
    /// `recording` has as many rows as messages, at least one (asserted). It and `log` must outlive the flow.
    quote_flow(const quote_recording& recording, difference_log& log);

    [[nodiscard]] plan_status plan(step& next) override;
    void answered(const step& of, std::span<const outcome> outcomes) override;
    void compare(const step& of, std::span<const outcome> outcomes, const feed::book_image& book) override;

    [[nodiscard]] std::uint64_t compared_count() const noexcept override { return result_.rows.total; }

    [[nodiscard]] const quote_flow_facts& facts() const noexcept { return facts_; }
    [[nodiscard]] const quote_flow_agreement& result() const noexcept { return result_; }

 private:
    static constexpr std::size_t before_first = SIZE_MAX;
    /// A step for the comparison.
    struct row_step {
        std::size_t row = before_first;
        bool completes_row = true;
        bool is_uncovering = false;         ///< follows an execution that uncovered a level
        std::optional<domain::side> taken;  ///< the side whose best quote comes from the book file
        std::vector<std::uint32_t> rests;   ///< expected open quantity, per request
    };
    /// An execution that met other orders than recorded.
    struct differing_execution {
        std::size_t row = 0;
        std::uint64_t lots = 0;
        bool named_rests = false;  ///< the recorded order rests at the venue, with enough open quantity
        std::string what;
    };
    /// Executions of one instant on one side at one price.
    struct burst {
        std::map<std::uint64_t, std::uint64_t> recorded, venue;  ///< order to lots
        std::vector<differing_execution> differing;
    };

    void start();
    void plan_row(const quote_record& m);
    void plan_change(const quote_record& m);
    void plan_removal(const quote_record& m, domain::client_order_id id);
    void plan_execution(const quote_record& m);
    void check_execution(const quote_record& m, const outcome& o);
    void check_request(const row_step& s, const request& r, std::uint32_t rests, const outcome& o);
    void check_quotes(const row_step& s, const feed::book_image& book);
    void bring_into_view();
    void bring_level_into_view(domain::side side, const quote& q, bool vanished);
    /// The lots that later messages take from a resting order.
    struct later_use {
        std::uint64_t lots = 0;
        bool is_executed = false;
    };
    using later_uses = std::map<std::uint64_t, later_use>;  ///< by name
    void place(domain::side side, const quote& q, const later_uses& named);
    [[nodiscard]] later_uses named_while_in_view(domain::side side, domain::price_ticks price, std::size_t from) const;
    [[nodiscard]] bool may_stay(domain::side side, const quote& q, const later_uses& named) const;
    [[nodiscard]] std::vector<quote> levels_before_first(domain::side side) const;
    [[nodiscard]] quote_levels levels_before(std::size_t row, domain::side side) const;
    [[nodiscard]] bool something_comes_into_view(std::size_t row) const;
    void count_memory(std::uint64_t size_there, const quote& q, bool vanished);
    void close_bursts();

    void enter(std::uint64_t name, domain::side side, domain::price_ticks price, std::uint32_t size);
    void cancel(domain::client_order_id id);
    void reduce_to(domain::client_order_id id, std::uint32_t open);
    void clear_level(domain::side side, domain::price_ticks price);

    const quote_recording& recording_;
    difference_log& log_;
    quote_ledger ledger_;
    std::vector<quote> initial_[2];                         ///< levels before the first message, per side
    std::vector<std::size_t> visible_[2];                   ///< rows of visible messages, per side
    std::unordered_map<std::uint64_t, std::int64_t> left_;  ///< the rest of named orders according to the messages
    std::size_t next_row_ = 0;
    bool started_ = false;
    bool awaits_execution_ = false;
    bool must_bring_into_view_ = false;
    std::uint64_t next_client_order_ = 1;
    std::uint64_t next_step_ = 0;
    step* planning_ = nullptr;
    row_step row_;
    std::deque<row_step> steps_;                                            ///< planned and not compared
    std::uint64_t first_step_ = 0;                                          ///< number of the front one
    std::map<std::pair<domain::side, domain::price_ticks>, burst> bursts_;  ///< of the current instant
    domain::time_ns bursts_time_{};
    quote_flow_facts facts_;
    quote_flow_agreement result_;
};

}  // namespace corro::recorded::replay
