// SPDX-License-Identifier: Apache-2.0
// Compares the venue's results with recorded order flow: fill by fill, and the book after every event group.
//
// Fills are compared per aggressor: each resting order's lots at each price, first as sets, then in their order. Books
// are compared order by order with the queues of all levels that the group touched, and as a whole by digest. An
// auction is compared by its price, its lots and each order that it filled, and these by side in their order.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "feed/book_image.hpp"
#include "recorded/replay/agreement.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/group_plan.hpp"
#include "recorded/replay/recorded_book.hpp"
#include "recorded/replay/request.hpp"

namespace corro::recorded::replay {

struct order_flow_agreement {
    agreement books_pre_open;    ///< groups after which the books are equal
    agreement books_continuous;  ///< groups after which the books are equal
    agreement books_whole;       ///< comparisons of every order in every queue: after the auction and at the end
    agreement trades;            ///< trade records: lots at their price
    agreement aggressors;        ///< whose resting orders and lots agree
    agreement aggressors_in_order;
    agreement fills_in_order;  ///< fill records of resting orders, at the same place in the sequence
    agreement lots;            ///< on the recorded resting order
    agreement lots_in_order;   ///< as above, at the same place in the sequence
    agreement own_fills;       ///< fill records of the aggressor itself: lots at that price
    agreement own_lots;
    agreement auction_prices;          ///< of auctions, and of all their fills
    agreement auction_lots;            ///< as published by the venue
    agreement auction_fills;           ///< orders with all their lots
    agreement auction_fill_lots;       ///< buyers' and sellers'
    agreement auction_fills_in_order;  ///< as auction_fills, at the same place among those of their side too
    std::string auction_price_recorded;
    std::string auction_price;  ///< the venue's
};

class order_flow_check {
 public:
    /// `log` must outlive the check.
    explicit order_flow_check(difference_log& log) noexcept : log_(log) {}

    /// Compares the groups in order, each with the outcomes of its requests and the public book after it.
    void compare(const group_plan& g, std::span<const outcome> outcomes, const feed::book_image& book);

    /// Compares every order in every queue, after the last group.
    void compare_whole_book(const std::string& where, const feed::book_image& book);

    [[nodiscard]] const order_flow_agreement& result() const noexcept { return result_; }
    [[nodiscard]] const recorded_book& book() const noexcept { return book_; }

 private:
    /// The lots of one resting order at one price.
    struct met {
        domain::price_ticks price{};
        std::uint64_t order = 0;
        std::uint32_t lots = 0;

        [[nodiscard]] bool same_order(const met& other) const noexcept {
            return price == other.price && order == other.order;
        }
        friend auto operator<=>(const met&, const met&) = default;
    };
    struct touched_level {
        domain::side side = domain::side::buy;
        domain::price_ticks price{};

        friend auto operator<=>(const touched_level&, const touched_level&) = default;
    };

    void learn_names(const group_plan& g, std::span<const outcome> outcomes);
    void forget_names(const group_plan& g, std::span<const outcome> outcomes);
    void check_request(const group_plan& g, std::size_t request, const outcome& o);
    void check_aggressor(const group_plan& g, const planned_aggressor& a, const outcome& o);
    void check_trades(const group_plan& g, const planned_aggressor& a);
    void judge_order(const group_plan& g, const planned_aggressor& a);
    /// Fills of one order at one price are one entry, at the place of the first.
    static void merge_into(std::vector<met>& fills, const met& next);
    [[nodiscard]] static std::uint32_t lots_at(const std::vector<met>& fills, domain::price_ticks price);
    void check_auction(const group_plan& g, const outcome& o);
    void check_auction_orders(const group_plan& g, const outcome& o);
    void note_unnamed_trades(const group_plan& g);
    void collect_touched(const group_plan& g);
    void apply(const group_plan& g, std::span<const outcome> outcomes);
    [[nodiscard]] bool check_books(const group_plan& g, const feed::book_image& book);
    [[nodiscard]] bool same_queue(domain::side side, domain::price_ticks price, const feed::book_image& book);
    [[nodiscard]] std::string describe(const std::vector<met>& fills) const;
    [[nodiscard]] std::uint64_t name_of(domain::client_order_id client_order) const;

    difference_log& log_;
    recorded_book book_;
    std::unordered_map<std::uint64_t, std::uint64_t> names_;  ///< client order id to the recording's name
    order_flow_agreement result_;
    std::uint64_t known_offset_ = 0;  ///< the difference of the digests at the last reported difference
    std::vector<met> venue_, recorded_;
    std::vector<touched_level> touched_;
};

}  // namespace corro::recorded::replay
