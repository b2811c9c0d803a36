// SPDX-License-Identifier: Apache-2.0
// The rules of the venue a second time, written to be read: plain maps and lists, no thought of speed.
//
// It must agree with `facility` on every byte of every event and on the state hash after every command. It is for tests
// only. Order ids have no meaning for the rules, so the caller passes the id of a new order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/int128.hpp"
#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "facility/limits.hpp"
#include "facility/state_hasher.hpp"
#include "facility_reference/reference_allocation.hpp"
#include "facility_reference/reference_defects.hpp"

namespace corro::facility::testing {

class facility_reference {
 public:
    facility_reference(const facility_options& options, std::span<const domain::instrument> instruments,
                       defect mistake = defect::none)
        : options_(options),
          definitions_(instruments.begin(), instruments.end()),
          configured_count_(instruments.size()),
          instruments_(instruments.begin(), instruments.end()),
          books_(instruments.size()),
          mistake_(mistake),
          elsewhere_(instruments.size()) {
        find_triangles();
    }

    /// Executes a command and returns its events.
    const std::vector<domain::event>& apply(const domain::command& c, domain::order_id next_id,
                                            domain::order_id second_id);
    /// Marks the last event and the last public one. If more than 64 private events follow that one, adds another
    /// public event.
    void close_command();

    [[nodiscard]] std::uint64_t state_hash() const;

    /// True if an event had an order with this id.
    [[nodiscard]] bool was_issued(domain::order_id id) const;
    [[nodiscard]] std::size_t open_orders_count() const { return open_.size(); }

 private:
    using side = domain::side;
    using event_kind = domain::event_kind;
    using reject_reason = domain::reject_reason;

    struct order {
        domain::order_id id{};
        domain::client_order_id client_order{};
        domain::account_id account{};
        domain::session_id session{};
        std::uint32_t request = 0;
        std::uint32_t instrument = 0;  // index
        domain::side side{};
        domain::price_ticks price{};
        std::uint32_t open = 0;     // shown or not
        std::uint32_t shown = 0;    // while it rests
        std::uint32_t display = 0;  // most lots to show at a time; 0 for all
        std::uint32_t filled = 0;
        domain::order_type type{};
        domain::price_ticks trigger{};
        enum class place { nowhere, book, waiting } where = place::nowhere;
        domain::time_in_force time_in_force{};
        domain::self_match_prevention self_match{};
        std::uint8_t flags = 0;
        domain::price_ticks edge = domain::no_price;  // the worst price of a market order
        std::int64_t expire_time = 0;
        std::uint64_t expiring_before = 0;                // the number of earlier orders that expire
        std::pair<std::uint64_t, std::uint32_t> group{};  // the group's owner and number; 0 for none
        bool is_quote = false;
    };
    struct limits {
        std::int64_t notional = 0;
        std::uint32_t quantity = 0, position = 0, orders = 0, firm = 0;
    };
    /// An account's limits for its quotes.
    struct protection {
        std::uint32_t fills_max = 0, quantity_max = 0, window_ms = 0;
        bool is_tripped = false;
        std::int64_t began = 0;
        std::uint32_t fills = 0;
        std::uint64_t lots = 0;
        void restart() {
            began = 0;
            fills = 0;
            lots = 0;
        }
    };
    /// One side: price times -1 for bids, so that iteration goes from the best price to the worst.
    struct half {
        std::map<std::int64_t, std::list<order*>> levels;
        domain::order_id top{};  // the order that bettered the side, 0 for none
    };
    struct book {
        half buy, sell;
        half falling, rising;  // by trigger price, nearest to the market first
        domain::price_summary prices{domain::no_price, domain::no_price, domain::no_price, domain::no_price, {}};
        std::uint64_t volume = 0;
        std::int64_t turnover = 0;
        std::uint64_t leg_volume = 0;  // lots that strategies traded
        domain::trading_phase phase = domain::trading_phase::continuous;
        bool owes_uncross = false;        // has collected orders since it last matched
        bool has_auction_orders = false;  // some for one auction only since then
        bool is_settled = false;
        domain::auction_state indicative{domain::no_price, {}, 0, {}};
        std::int64_t resume_time = 0;
        std::int64_t pending_low = INT64_MAX,
                     pending_high = INT64_MIN;  // traded prices that waiting orders were not checked against
        std::int64_t window_end = INT64_MIN;
        domain::price_ticks reference = domain::no_price, last_seen = domain::no_price;
        std::uint64_t volume_seen = 0;
        domain::top implied{domain::no_price, {}, domain::no_price, {}, {}};  // as last published
    };

    // --- Helpers -----------------------------------------------------------------------------------------------------

    half& half_of(std::uint32_t instrument, side s);
    static std::int64_t key_of(side s, domain::price_ticks price);
    static std::uint64_t volume_of(const std::list<order*>& queue);
    domain::top top_of(std::uint32_t instrument) const;
    std::uint64_t open_interest(std::uint32_t instrument) const;
    static bool is_lasting(const domain::command& c);
    static bool is_waiting_type(domain::order_type type);
    static void hash_order(state_hasher& hasher, const order& o, bool by_request);
    void hash_order(state_hasher& hasher, const order& o) const;

    // --- Events ------------------------------------------------------------------------------------------------------

    domain::event& say(event_kind kind, std::uint32_t instrument_id, side s, reject_reason reason = reject_reason::none,
                       std::uint8_t flags = 0);
    std::uint32_t id_of(std::uint32_t instrument) const { return instruments_[instrument].id.value; }

    void refuse(reject_reason reason, const order* about = nullptr);
    /// The mark of the answer; in a request of several quotes only for the last of them.
    std::uint8_t answer_mark() const;
    void tell_owner(event_kind kind, const order& o, domain::price_ticks price, std::uint32_t quantity,
                    reject_reason reason, bool answers);
    /// An event for the owner, and one for another session of the account if that one asked.
    void tell_owner_and_asker(event_kind kind, const order& o, domain::price_ticks price, std::uint32_t quantity,
                              bool answers);
    void say_public(event_kind kind, const order& o, std::uint32_t open, std::uint32_t change);
    void say_level(const order& o);
    void say_top(const order& o);
    bool is_at_best(const order& o);

    // --- Entering ----------------------------------------------------------------------------------------------------

    std::uint32_t index_of(domain::instrument_id id) const;
    static reject_reason check_price(const domain::instrument& i, domain::price_ticks price);
    reject_reason check_instructions() const;
    reject_reason check_entry();
    /// A pair of account and instrument has a position from its first order on, if it fits. A strategy needs positions
    /// in its legs as well.
    bool has_position(std::uint32_t account, std::uint32_t instrument);

    void enter_order();
    /// The limit at which the order enters, from the current book.
    reject_reason find_limit(order& o);
    /// From now on the order is open and is found by its ids.
    void register_order(const order& o);
    /// Puts an open order at the end of its level and publishes that.
    void rest(order& o, bool is_refreshed = false);

    // --- Waiting -----------------------------------------------------------------------------------------------------

    static bool is_rising(const order& o);
    std::list<order*>& queue_of(const order& waiting);
    order* next_triggered(std::uint32_t instrument);
    void enter_triggered(std::uint32_t instrument);

    /// The levels of the other side that the order's limit reaches, best first.
    std::vector<const std::list<order*>*> reached_levels(const order& o);
    /// Whether the order would trade `wanted` lots at once: what a level shows, then what it hides, up to an order of
    /// its own account that stops it. None, or the reject reason.
    reject_reason check_fill(const order& o, std::uint64_t wanted);

    // --- Matching ----------------------------------------------------------------------------------------------------

    struct ending {
        bool is_known = false;    // an event had the order
        bool is_stopped = false;  // by self-match prevention, or after too many steps
        std::uint32_t taken_out = 0;
        reject_reason reason = reject_reason::self_match_prevented;
    };

    enum class reach { all, direct_only };
    ending match(order& incoming, bool is_entering, reach how_far = reach::all);
    /// Applies the incoming order's self-match instruction to an own order. True if that ends the incoming order.
    bool prevent(order& incoming, order& resting, ending& end);
    static void add_to_tape(book& b, domain::price_ticks price, std::uint32_t lots);

    // --- Sharing -----------------------------------------------------------------------------------------------------

    bool shares(std::uint32_t instrument) const;
    /// The oldest of a level's orders that the incoming one must not trade with.
    order* own_at(const std::list<order*>& queue, const order& incoming) const;
    /// Computes all shares before anything trades.
    void trade_shares(order& incoming, const std::list<order*>& queue, bool is_entering);

    void trade(order& incoming, order& resting, bool is_entering, std::uint32_t lots);

    // --- Strategies --------------------------------------------------------------------------------------------------

    void say_statistics(std::uint32_t instrument, side s);
    /// The legs of a strategy's trade.
    void trade_legs(const order& incoming, const order& resting, domain::trade_id id, domain::price_ticks price,
                    std::uint32_t lots);
    /// All legs but one have their reference price from their own books; the last one of ratio 1 has the remainder.
    std::vector<std::int64_t> leg_prices(const domain::instrument& strategy, domain::price_ticks price) const;
    /// The effect of an order on positions.
    struct effect {
        std::uint32_t instrument = 0;
        side what{};
        std::uint32_t ratio = 1;
    };
    std::vector<effect> effects(const order& o) const;
    bool exceeds_position(const order& o, std::uint32_t added, std::uint32_t lots_max) const;

    // --- Implied -----------------------------------------------------------------------------------------------------

    /// A calendar spread and its legs, by index: in the order of the definition, and by the side of its buyer.
    struct triangle {
        std::uint32_t strategy = 0, first = 0, second = 0, bought = 0, sold = 0;
    };
    struct combination {
        const triangle* in = nullptr;
        domain::price_ticks price{};
        std::array<order*, 2> partners{};  // the leg before the strategy, the first leg before the second
        std::uint64_t volume = 0;          // as published
    };
    enum class stepping { direct, done, over };

    void find_triangles();
    bool works(const triangle& t) const;
    std::optional<combination> seen_from(const triangle& t, std::uint32_t instrument, side implied);
    std::vector<combination> best_implied(std::uint32_t instrument, side implied);
    /// The best price, direct or implied.
    std::optional<domain::price_ticks> best_price(std::uint32_t instrument, side s);
    static bool reaches(const order& o, domain::price_ticks price);
    bool crosses(const order& o);
    stepping step_implied(order& incoming, bool is_entering, ending& end, std::uint32_t& steps);
    void trade_implied(order& incoming, const combination& c, std::uint32_t lots, bool is_entering, bool keeps_place);
    void move_positions(const triangle& t, const std::array<order, 3>& orders, std::uint32_t lots);
    void tell_implied_book(const order& o, domain::trade_id id, domain::price_ticks price, std::uint32_t lots,
                           bool is_partner, bool has_place);
    void go_on(const std::vector<std::uint32_t>& resumed);
    void settle_elsewhere();
    void wait_for(std::uint32_t instrument, const std::vector<std::int64_t>& seen);
    void say_implied_tops();

    // --- Leaving -----------------------------------------------------------------------------------------------------

    /// Removes an order from its level or its queue of waiting orders.
    void unqueue(order& o);
    /// Removes an order from the book and from every directory; `o` is destroyed.
    void forget(order& o);
    void take_out(order& o);
    void cancel(order& o, bool answers);
    /// Takes lots away from a resting order that has more, what is hidden first, and hides what it may not show.
    void shrink(order& o, std::uint32_t lots, std::uint32_t display);

    std::pair<order*, reject_reason> resolve(domain::order_id named, std::uint32_t target_request);

    void cancel_orders();
    void query_order();
    void query_positions();
    void say_status(const order& o, std::uint8_t flags);

    // --- Amending ----------------------------------------------------------------------------------------------------

    void amend_order();
    void amend_waiting(order& o, const order& amended, bool stays);
    /// Fills in the order after the amend.
    reject_reason check_amend(const order& o, order& amended);

    // --- Time --------------------------------------------------------------------------------------------------------

    /// Expires orders and ends halts that are due before the command, earliest first.
    void process_due_times();

    // --- Halts -------------------------------------------------------------------------------------------------------

    void set_phase(std::uint32_t instrument, domain::trading_phase phase, std::int64_t resume_time,
                   reject_reason reason);
    /// Resumes books: orders that are crossed between them trade, then triggered orders enter.
    void go_on_trading(const std::vector<std::uint32_t>& resumed);
    void enter_pending(std::uint32_t instrument);
    void request_done(domain::instrument_id instrument, std::uint32_t account);
    void change_phase();
    /// Resets the statistics of the day; the last price stays.
    void begin_day();
    /// After an order's trades: whether the last price is too far from the first price of the window.
    bool breaks_circuit(std::uint32_t instrument);
    reject_reason check_market(std::uint32_t instrument, std::uint32_t account);

    // --- Auctions ----------------------------------------------------------------------------------------------------

    bool is_collecting(std::uint32_t instrument) const { return domain::collects(books_[instrument].phase); }
    /// Whether the instrument's phase accepts a new order of this type and time in force.
    reject_reason check_phase(std::uint32_t instrument) const;
    bool can_collect() const;
    void start_volatility_auction(std::uint32_t instrument, reject_reason reason);
    /// Follows the rule literally: tries every price that could matter.
    domain::auction_state find_price(std::uint32_t instrument) const;
    std::size_t levels_trading(std::uint32_t instrument, std::uint64_t volume) const;
    void uncross(std::uint32_t instrument);
    void cross(order& buyer, order& seller, domain::price_ticks price);
    void tell_trade(std::uint32_t instrument, domain::price_ticks price, std::uint32_t lots);
    void cancel_book(std::uint32_t instrument, reject_reason reason, const std::function<bool(const order&)>& wanted);
    void say_indicatives();
    void settle_instrument();

    // --- Definitions -------------------------------------------------------------------------------------------------

    void define_instrument();
    reject_reason make_instrument(const domain::definition& d, domain::instrument& made) const;
    void hash_definitions(state_hasher& hasher) const;

    // --- Bands and limits --------------------------------------------------------------------------------------------

    /// The band around the last trade: the worst price of a market order, and the limits that are rejected.
    reject_reason apply_band(order& o) const;
    /// `total` lots of one order at a price, of which `added` are new to the position.
    reject_reason check_limits(const order& o, std::uint32_t total, std::uint32_t added, domain::price_ticks price,
                               std::size_t opened);
    void set_limits();
    void reset_session_numbers();
    void count_messages();
    void name_order();
    /// The own name of an amend, a cancel, a mass cancel or a query, if it has one.
    void say_name();
    void forget_request(order& o);
    void define_account();
    void set_account_limits();
    void hash_accounts(state_hasher& hasher) const;
    /// Groups belong to a firm, or to an account that has none.
    std::uint64_t group_owner(std::uint32_t account);
    bool is_own(const order& resting, const order& incoming) const;

    // --- Kill switches -----------------------------------------------------------------------------------------------

    void kill_switch();

    // --- Quotes ------------------------------------------------------------------------------------------------------

    /// The side of an account's quote that stands in an instrument, if any.
    order* standing(std::uint32_t instrument, side s);
    reject_reason check_quote(std::uint32_t instrument);
    void enter_quote();
    /// Removes a side from the book if its successor requires that. Returns its id if it must enter, else 0.
    domain::order_id prepare_side(std::uint32_t instrument, side s);
    void enter_side(domain::order_id id);

    // --- Protection of quotes ----------------------------------------------------------------------------------------

    void say_protection(domain::account_id account, domain::session_id session, reject_reason reason, bool answers);
    void set_protection();
    void count_for_protection(const order& quote, std::uint32_t lots);
    /// Withdraws the quotes of the accounts whose protection has just tripped.
    void withdraw_tripped();

    facility_options options_;
    std::vector<domain::instrument> definitions_;  ///< as they were given
    std::size_t configured_count_;
    std::vector<domain::instrument> instruments_;  ///< with the prices that they accept
    std::vector<book> books_;
    std::map<domain::order_id, order> open_;
    std::map<std::uint64_t, bool> given_;                              ///< every id that an event had
    std::map<std::uint32_t, std::list<domain::order_id>> by_account_;  ///< oldest first
    std::map<std::pair<std::uint32_t, std::uint64_t>, domain::order_id> by_name_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, domain::order_id> by_request_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> positions_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> positions_in_order_;
    std::size_t pairs_before_ = 0;                     ///< the running command
    std::map<std::uint32_t, protection> protections_;  ///< by account
    std::vector<std::pair<domain::account_id, domain::session_id>> tripped_;
    std::uint64_t trades_count_ = 0;
    std::vector<std::array<std::uint32_t, 3>> accounts_;  ///< defined: number, first session, sessions
    std::map<std::uint32_t, limits> limits_;              ///< by account; an account without an entry has none
    std::set<std::uint32_t> killed_accounts_, killed_firms_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> killed_sessions_;
    std::uint64_t expiring_count_ = 0;
    std::vector<std::int64_t> traded_;  ///< prices of the running command that waiting orders were checked against
    defect mistake_;
    std::vector<triangle> triangles_;                   ///< in the order of their strategies
    std::vector<std::vector<std::int64_t>> elsewhere_;  ///< by book: prices of fills as a partner, not yet checked
    domain::command command_;
    domain::order_id next_id_;
    domain::order_id second_id_;
    std::vector<domain::event> events_;
};

}  // namespace corro::facility::testing
