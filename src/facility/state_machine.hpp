// The facility's implementation: checks a command, resolves the ids in it, calls the engine.
//
// Not part of the facility's interface.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "facility/implied_books.hpp"
#include "facility/message_writer.hpp"
#include "facility/message_writer_fills.hpp"
#include "facility/order_directory.hpp"
#include "facility/quotes.hpp"
#include "facility/state_hasher.hpp"
#include "facility/strategies.hpp"
#include "facility/trading_rules.hpp"
#include "matching/engine.hpp"
#include "risk/exposures.hpp"
#include "risk/positions.hpp"

namespace corro::facility {

class facility::state_machine {
 public:
    state_machine(const facility_options& options, std::span<const domain::instrument> instruments,
                  event_consumer& consumer);

    void apply(const domain::command& command) noexcept;
    void expect(std::span<domain::prefetch_hint> coming) const noexcept;
    [[nodiscard]] bool opens_beyond(const domain::command& c, std::uint32_t orders_max) const noexcept;
    [[nodiscard]] std::uint64_t state_hash() const;

    // Snapshots: snapshot.cpp.
    [[nodiscard]] bool save(base::byte_sink& sink) const noexcept;
    /// The machine must be unused. After an error it must not be used.
    [[nodiscard]] std::error_code load(base::byte_source& source) noexcept;
    void set_hash_key(std::uint64_t key) noexcept {
        if (was_used_) return;  // the entries of the tables have their places already
        options_.hash_key = key;
        orders_.set_hash_key(key);
        positions_.set_hash_key(key);
    }
    [[nodiscard]] snapshot_position position() const noexcept { return {sequence_, now_}; }
    [[nodiscard]] bool was_used() const noexcept { return was_used_; }
    /// All instruments, as they were defined.
    [[nodiscard]] std::span<const domain::instrument> definitions() const noexcept { return definitions_; }
    /// The instruments of the configuration.
    [[nodiscard]] std::span<const domain::instrument> configured() const noexcept {
        return definitions().first(definitions_.size() - likes_.size());
    }

    [[nodiscard]] const matching::engine& engine() const noexcept { return engine_; }
    [[nodiscard]] const order_directory& orders() const noexcept { return orders_; }
    [[nodiscard]] const risk::positions& positions() const noexcept { return positions_; }
    [[nodiscard]] const implied_books& implied() const noexcept { return implied_; }
    [[nodiscard]] const message_writer& writer() const noexcept { return writer_; }
    [[nodiscard]] const trading_rules& rules() const noexcept { return rules_; }
    [[nodiscard]] std::span<const domain::defined_account> defined_accounts() const noexcept { return accounts_; }

    [[nodiscard]] query_cost last_query() const noexcept { return last_query_; }
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return engine_.steps_count() + steps_; }

    /// The index of an instrument's book, or `none`.
    static constexpr std::uint32_t none = 0xffffffffU;
    [[nodiscard]] std::uint32_t book_of(domain::instrument_id id) const noexcept {
        return id.value < books_.size() ? books_[id.value] : none;
    }

 private:
    /// The order that a command names, or a reject reason.
    struct resolution {
        std::uint32_t slot = none;
        domain::reject_reason reason = domain::reject_reason::none;
    };

    struct product_book {
        std::uint32_t product = 0;
        std::uint32_t book = 0;
        friend auto operator<=>(const product_book&, const product_book&) = default;
    };
    /// The books of a product, in the order of books.
    [[nodiscard]] std::span<const product_book> books_of(domain::product_id product) const noexcept;
    void note_product(std::uint32_t book) noexcept;

    /// A hash of the options and instruments.
    [[nodiscard]] std::uint64_t fingerprint() const noexcept;
    void transfer(base::archive& a) noexcept;

    void enter_order(const domain::command& c) noexcept;
    void amend_order(const domain::command& c) noexcept;
    void cancel_order(const domain::command& c) noexcept;
    void cancel_orders(const domain::command& c) noexcept;
    void query_order(const domain::command& c) noexcept;
    void reset_session_numbers(const domain::command& c) noexcept;

    // Quotes: state_machine_quotes.cpp.
    void enter_quote(const domain::command& c) noexcept;
    void set_protection(const domain::command& c) noexcept;
    void reset_protection(const domain::command& c) noexcept;
    [[nodiscard]] domain::reject_reason check_quote(const domain::command& c) const noexcept;
    [[nodiscard]] static domain::reject_reason check_quote_side(const domain::instrument& i, domain::price_ticks price,
                                                                domain::quantity_lots quantity) noexcept;
    /// Makes the order of a new side. It is called before any side is removed, so that the ids do not depend on
    /// removals.
    void make_side(const domain::command& c, std::uint32_t position, domain::side side) noexcept;
    /// Prepares one side of a quote for entry. Returns its slot, or `none` if it does not enter.
    [[nodiscard]] std::uint32_t prepare_side(const domain::command& c, std::uint32_t book, std::uint32_t position,
                                             domain::side side, bool is_new) noexcept;
    void enter_side(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;
    /// Withdraws the quotes of the accounts whose protection has tripped.
    void withdraw_tripped() noexcept;

    void park_stop(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;
    void collect(const domain::command& c, std::uint32_t book, std::uint32_t slot, std::uint64_t group) noexcept;

    /// The terms of an order after an amend.
    struct amendment {
        std::uint32_t total = 0;  ///< counting what has been filled
        std::uint32_t open = 0;
        domain::price_ticks limit{};
        domain::price_ticks trigger{};
        std::uint32_t display = 0;
        domain::account_id account{};
        std::uint32_t position = 0;
    };
    [[nodiscard]] domain::reject_reason check_amend(const domain::command& c, std::uint32_t slot,
                                                    const matching::level_state& level,
                                                    const matching::order_view& order, amendment& a) noexcept;
    /// Moves an order's records to another account.
    void change_owner(std::uint32_t slot, const amendment& a, std::uint32_t open) noexcept;
    void amend_waiting(std::uint32_t book, std::uint32_t slot, const matching::order_view& order,
                       const amendment& a) noexcept;
    void amend_resting(std::uint32_t slot, const matching::level_state& level, const matching::order_view& order,
                       const amendment& a) noexcept;

    // Time and phases: state_machine_phases.cpp.
    void change_phase(const domain::command& c) noexcept;
    void settle_instrument(const domain::command& c) noexcept;
    void begin_day(const domain::command& c) noexcept;
    template <class Visit>
    void for_each_covered(domain::instrument_id instrument, domain::product_id product, Visit&& visit) noexcept;
    /// Moves a book to another phase and ends the old one.
    void enter_phase(std::uint32_t book, domain::trading_phase phase, std::int64_t resume_time,
                     domain::reject_reason reason) noexcept;
    /// Trades the orders of an auction; cancels those that were for the auction only.
    void uncross(std::uint32_t book) noexcept;
    /// Cancels the orders that end with the day.
    void end_day(std::uint32_t book) noexcept;
    void publish_indicatives() noexcept;
    /// Whether the book's phase accepts a new order of this type and time in force.
    [[nodiscard]] domain::reject_reason check_phase(const domain::command& c, std::uint32_t book) const noexcept;
    /// Whether an order beyond the dynamic band starts an auction instead of being rejected.
    [[nodiscard]] bool starts_auction(const domain::command& c, std::uint32_t book) const noexcept;
    void start_volatility_auction(std::uint32_t book, domain::reject_reason reason) noexcept;
    /// Expires orders and ends phases that are due before a command's time.
    void process_due_times(domain::time_ns now) noexcept;
    void resume_halted() noexcept;
    /// Enters the waiting orders that a halt has delayed.
    void enter_pending(std::uint32_t book) noexcept;
    /// True when the last trade triggers the circuit breaker: the product is halted, and triggered orders keep waiting.
    [[nodiscard]] bool breaks_circuit(std::uint32_t book) noexcept;
    /// Halts the product, or starts its volatility auctions.
    void halt_product(std::uint32_t book) noexcept;

    // Definitions: state_machine_definitions.cpp.
    void define_instrument(const domain::command& c) noexcept;
    /// Adds an instrument in phase closed, or returns the reject reason.
    [[nodiscard]] domain::reject_reason define(const domain::definition& d) noexcept;
    [[nodiscard]] domain::reject_reason check_legs(const domain::instrument& made) const noexcept;
    void transfer_definitions(base::archive& a) noexcept;

    // Rules for few commands: state_machine_rules.cpp.
    void set_limits(const domain::command& c) noexcept;
    // Accounts of the configuration: state_machine_accounts.cpp.
    void define_account(const domain::command& c) noexcept;
    void set_account_limits(const domain::command& c) noexcept;
    /// Sets the limits that a command names. Changes none of them unless it returns `none`.
    [[nodiscard]] domain::reject_reason take_limits(const domain::command& c) noexcept;
    [[nodiscard]] bool define(const domain::defined_account& a) noexcept;
    void transfer_accounts(base::archive& a) noexcept;
    void kill_switch(const domain::command& c) noexcept;
    [[nodiscard]] domain::reject_reason check_kill(const domain::command& c) const noexcept;
    void cancel_killed(domain::account_id account, domain::session_id session, bool all_sessions) noexcept;
    [[nodiscard]] domain::reject_reason check_market(std::uint32_t book, domain::account_id account,
                                                     domain::session_id session) const noexcept;
    /// The worst price that a dynamic band allows; no_price when there is no band.
    [[nodiscard]] domain::price_ticks band_edge(std::uint32_t book, domain::side side) const noexcept;
    [[nodiscard]] domain::reject_reason apply_band(std::uint32_t book, domain::side side, domain::order_type type,
                                                   domain::price_ticks& limit) const noexcept;
    /// Whether an account's limits allow an order of `total` lots at a price. `added` lots are new to its position, and
    /// the command opens `opened` new orders.
    [[nodiscard]] domain::reject_reason check_limits(domain::account_id account, std::uint32_t book,
                                                     std::uint32_t position, domain::side side, std::uint32_t total,
                                                     std::uint32_t added, domain::price_ticks price,
                                                     std::uint32_t opened) const noexcept;
    [[nodiscard]] std::uint32_t quotes_opened(const domain::command& c) const noexcept;
    /// Whether position and open orders of the account, with `added` more lots of an order, could exceed `lots_max` in
    /// the book or in one of its legs.
    [[nodiscard]] bool exceeds_position(domain::account_id account, std::uint32_t book, std::uint32_t position,
                                        domain::side side, std::uint64_t added, std::uint32_t lots_max) const noexcept;
    /// The largest position that the account's open orders, of the book and of strategies, could lead to in a book
    /// without legs.
    [[nodiscard]] std::int64_t worst_position(domain::account_id account, std::uint32_t book, std::uint32_t position,
                                              domain::side side) const noexcept;
    /// The position of an account in a book, and those in its legs, made now if necessary. `none` when they do not all
    /// fit.
    [[nodiscard]] std::uint32_t acquire_position(domain::account_id account, std::uint32_t book) noexcept;
    [[nodiscard]] std::uint64_t group_key(domain::account_id account, std::uint32_t group) const noexcept;
    [[nodiscard]] domain::reject_reason check_quote_rules(const domain::command& c, std::uint32_t book,
                                                          std::uint32_t position, std::uint32_t opened) noexcept;
    void count_orders_of(domain::account_id account) noexcept;
    void hash_rules(state_hasher& hasher) const;
    /// Enters the waiting orders whose trigger price has traded, until none is left.
    void enter_triggered(std::uint32_t book) noexcept {
        enter_triggered_in(book);
        if (implied_.has_traded()) [[unlikely]]
            enter_triggered_in_other_books();
    }
    void enter_triggered_in(std::uint32_t book) noexcept;

    // Implied matching: state_machine_implied.cpp.
    /// Enters a new order, or one that has been lifted, reserved or woken: it trades in its book, and with those that
    /// imply prices there.
    [[nodiscard]] matching::entry_result enter(const matching::entry& e) noexcept {
        return implied_.takes_part(e.book) ? enter_implied(e) : engine_.enter(e, writer_);
    }
    [[nodiscard]] matching::entry_result enter(std::uint32_t slot, const matching::entry& e) noexcept {
        return implied_.takes_part(e.book) ? match_implied(engine_.launch(slot, e), e)
                                           : engine_.reenter(slot, e, writer_);
    }
    [[nodiscard]] matching::entry_result enter_implied(const matching::entry& e) noexcept;
    /// Trades an order directly and at implied prices, as far as its limit allows, and finishes it.
    [[nodiscard]] matching::entry_result match_implied(matching::aggressor incoming, const matching::entry& e) noexcept;
    /// One step at the best implied price: an implied fill, or the effect of the order's self-match instruction.
    void step(matching::aggressor& incoming, const matching::entry& e, domain::price_ticks price) noexcept;
    /// Trades an order with the first orders of a combination's partners.
    void fill_implied(implied_fill& f, const implied_books::combination& c, std::uint32_t first,
                      std::uint32_t second) noexcept;
    /// Trades the first orders of a side at implied prices where a resuming book is crossed with others. Returns
    /// whether any order traded.
    bool trade_crossed(std::uint32_t book, domain::side side) noexcept;
    /// Resumes the books that have come to phase continuous: crossed triangles trade, then triggered orders enter.
    void go_on() noexcept;
    void match_crossed_triangles() noexcept;
    /// Enters triggered orders of the other books in which implied fills have traded.
    void enter_triggered_in_other_books() noexcept;
    /// Records a traded range, whose triggered orders enter when the book resumes.
    void defer_stops(const implied_books::traded_range& t) noexcept;
    void publish_implied() noexcept;
    /// After loading: the last published implied prices are those that follow from the books.
    void restore_implied_tops() noexcept;
    /// The best price of a side, direct or implied.
    [[nodiscard]] domain::price_ticks best_price(std::uint32_t book, domain::side side) const noexcept;
    /// Whether an order at this price would trade on entry, directly or at an implied price.
    [[nodiscard]] bool would_trade(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept;

    /// The limit at which an order enters, from the current book.
    [[nodiscard]] domain::conversion<domain::price_ticks> limit_of(const domain::command& c,
                                                                   std::uint32_t book) const noexcept;
    [[nodiscard]] domain::reject_reason check_instructions(const domain::command& c) const noexcept;

    [[nodiscard]] domain::reject_reason check_entry(const domain::command& c) const noexcept;
    [[nodiscard]] static domain::reject_reason check_price(const domain::instrument& i,
                                                           domain::price_ticks price) noexcept;
    /// The open order that a command names by its id or, without one, by a request or by its `client_order`.
    [[nodiscard]] resolution resolve(const domain::command& c, domain::order_id order,
                                     std::uint32_t target_request) const noexcept;
    void hash_order(state_hasher& hasher, std::uint32_t slot) const;
    void refuse(const domain::command& c, domain::reject_reason reason) noexcept;
    void refuse_amend(const domain::command& c, domain::reject_reason reason, std::uint32_t slot) noexcept;

    std::vector<domain::instrument> definitions_;    ///< by book index
    std::vector<domain::instrument> instruments_;    ///< the same, with the price bands that implied matching leaves
    std::vector<domain::instrument_id> likes_;       ///< of those defined since: the instrument that each is like
    std::vector<std::uint32_t> books_;               ///< instrument id to book index
    std::vector<product_book> by_product_;           ///< sorted
    std::vector<std::uint32_t> resuming_;            ///< books that resume in the running command
    std::vector<domain::defined_account> accounts_;  ///< while the venue ran
    matching::engine engine_;
    order_directory orders_;
    risk::positions positions_;
    quote_table quotes_;
    risk::exposures exposures_;
    trading_rules rules_;
    std::int64_t next_resume_ = expiry_queue::never;
    domain::time_ns now_{};               ///< of the running command
    domain::sequence_number sequence_{};  ///< of the running command
    query_cost last_query_;
    std::uint64_t steps_ = 0;  ///< books that were read
    facility_options options_;
    bool was_used_ = false;
    std::uint32_t positions_before_ = 0;  ///< pairs before the running command; a reject releases later ones
    strategies strategies_;
    implied_books implied_;
    message_writer writer_;
};

}  // namespace corro::facility
