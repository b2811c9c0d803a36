// Mistakes that can be put into the reference, to prove that the comparison would notice them in the venue. For tests.
#pragma once

#include <cstdint>

namespace corro::facility::testing {

enum class defect : std::uint8_t {
    none,
    newest_order_first,  ///< a level is not first in, first out
    amend_down_loses_priority,
    fill_at_aggressor_price,
    post_only_may_trade,
    decrement_forgets_the_resting_order,
    immediate_remainder_rests,
    top_of_book_always,
    mass_cancel_newest_first,
    feed_misses_the_end_of_a_command,
    iceberg_refresh_keeps_priority,
    stop_needs_a_price_beyond_its_trigger,
    minimum_quantity_is_ignored,
    triggered_orders_newest_first,
    only_the_last_price_triggers,
    hidden_lots_are_forgotten_by_fill_or_kill,
    quote_that_shrinks_loses_priority,
    quote_meets_its_own_old_side,
    protection_window_never_ends,
    protection_counts_no_lots,
    tripped_quotes_stay,
    mass_cancel_takes_quotes_unasked,
    orders_expire_at_their_time,
    showing_more_keeps_priority,
    self_match_group_is_ignored,
    open_orders_are_forgotten_by_position_limits,
    killed_sessions_may_enter,
    halts_forget_what_has_triggered,
    circuit_breaker_spares_the_product,
    dynamic_band_does_not_move,
    top_order_is_ignored,
    top_order_survives_an_amend,
    top_order_shares_as_a_maker,
    small_orders_become_top_orders,
    makers_share_in_turn,
    pro_rata_rounds_to_the_nearest,
    pro_rata_minimum_is_ignored,
    levelling_prefers_the_oldest,
    self_match_waits_for_its_turn,
    legs_forget_their_ratio,
    legs_are_all_bought,
    strategies_are_forgotten_by_position_limits,
    auction_price_ignores_the_imbalance,
    auction_price_ignores_the_side,
    auction_price_ignores_the_last,
    auction_trades_the_newest_first,
    auctions_forget_what_is_hidden,
    auction_orders_stay,
    day_orders_outlast_the_day,
    stops_do_not_see_auctions,
    circuit_breaker_always_halts,
    settlement_keeps_positions,
    count_,
};

}  // namespace corro::facility::testing
