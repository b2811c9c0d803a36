// The facility's inside: checks a command, resolves the names in it, drives the engine.
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
    /// Needs a machine that was not used. After an error it must not be.
    [[nodiscard]] std::error_code load(base::byte_source& source) noexcept;
    void set_hash_key(std::uint64_t key) noexcept {
        if (was_used_) return;  // what is in a table stays where it is
        options_.hash_key = key;
        orders_.set_hash_key(key);
        positions_.set_hash_key(key);
    }
    [[nodiscard]] snapshot_position position() const noexcept { return {sequence_, now_}; }
    [[nodiscard]] bool was_used() const noexcept { return was_used_; }
    /// All instruments, as they were defined.
    [[nodiscard]] std::span<const domain::instrument> definitions() const noexcept { return definitions_; }
    /// Those of them that the machine was made with.
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
    /// An order that a command names, or the reason why it may not.
    struct resolution {
        std::uint32_t slot = none;
        domain::reject_reason reason = domain::reject_reason::none;
    };

    struct product_book {
        std::uint32_t product = 0;
        std::uint32_t book = 0;
        friend auto operator<=>(const product_book&, const product_book&) = default;
    };
    /// The books of a product, in their order.
    [[nodiscard]] std::span<const product_book> books_of(domain::product_id product) const noexcept;
    void note_product(std::uint32_t book) noexcept;

    /// A number that differs for facilities of other options or instruments.
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
    /// Gives a side that stands nowhere yet its order. Before any side leaves, so that the ids do not depend on that.
    void make_side(const domain::command& c, std::uint32_t position, domain::side side) noexcept;
    /// Brings one side of a quote to where it only has to enter. Returns its slot, or `none` if it need not.
    [[nodiscard]] std::uint32_t prepare_side(const domain::command& c, std::uint32_t book, std::uint32_t position,
                                             domain::side side, bool is_new) noexcept;
    void enter_side(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;
    /// Withdraws the quotes of the accounts whose protection has tripped.
    void withdraw_tripped() noexcept;

    void park_stop(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;
    void collect(const domain::command& c, std::uint32_t book, std::uint32_t slot, std::uint64_t group) noexcept;

    /// What an amend makes of an order.
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
    /// Hands an order to another account as far as records go.
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
    void for_each_covered(const domain::command& c, Visit&& visit) noexcept;
    /// Moves a book to another phase with all that belongs to leaving the old one.
    void enter_phase(std::uint32_t book, domain::trading_phase phase, std::int64_t resume_time,
                     domain::reject_reason reason) noexcept;
    /// Trades what an auction has collected; cancels what was for it alone.
    void uncross(std::uint32_t book) noexcept;
    /// Cancels what does not outlast the day.
    void end_day(std::uint32_t book) noexcept;
    void publish_indicatives() noexcept;
    /// Whether the book's phase takes a new order of this type and time in force.
    [[nodiscard]] domain::reject_reason check_phase(const domain::command& c, std::uint32_t book) const noexcept;
    /// Whether an order beyond the dynamic band starts an auction there, instead of being refused.
    [[nodiscard]] bool starts_auction(const domain::command& c, std::uint32_t book) const noexcept;
    void start_volatility_auction(std::uint32_t book, domain::reject_reason reason) noexcept;
    /// Lets orders expire and halts end whose time has come before a command's.
    void process_due_times(domain::time_ns now) noexcept;
    void resume_halted() noexcept;
    /// Sets free what a halt kept waiting.
    void enter_pending(std::uint32_t book) noexcept;
    /// True when the last trade breaks the circuit: the product is halted, and what would be set free stays waiting.
    [[nodiscard]] bool breaks_circuit(std::uint32_t book) noexcept;
    /// Halts the product, or starts its volatility auctions.
    void halt_product(std::uint32_t book) noexcept;

    // Definitions: state_machine_definitions.cpp.
    void define_instrument(const domain::command& c) noexcept;
    /// Adds an instrument in phase closed, or says why it cannot be.
    [[nodiscard]] domain::reject_reason define(const domain::definition& d) noexcept;
    [[nodiscard]] domain::reject_reason check_legs(const domain::instrument& made) const noexcept;
    void transfer_definitions(base::archive& a) noexcept;

    // The rules that few commands meet: state_machine_rules.cpp.
    void set_limits(const domain::command& c) noexcept;
    // Accounts of the configuration: state_machine_accounts.cpp.
    void define_account(const domain::command& c) noexcept;
    void set_account_limits(const domain::command& c) noexcept;
    /// Takes the limits that a command names. None is changed unless the reason is `none`.
    [[nodiscard]] domain::reject_reason take_limits(const domain::command& c) noexcept;
    [[nodiscard]] bool define(const domain::defined_account& a) noexcept;
    void transfer_accounts(base::archive& a) noexcept;
    void kill_switch(const domain::command& c) noexcept;
    [[nodiscard]] domain::reject_reason check_kill(const domain::command& c) const noexcept;
    void cancel_killed(domain::account_id account, domain::session_id session, bool all_sessions) noexcept;
    [[nodiscard]] domain::reject_reason check_market(std::uint32_t book, domain::account_id account,
                                                     domain::session_id session) const noexcept;
    /// The worst price that a dynamic band lets an order have; no_price when there is no band.
    [[nodiscard]] domain::price_ticks band_edge(std::uint32_t book, domain::side side) const noexcept;
    [[nodiscard]] domain::reject_reason apply_band(std::uint32_t book, domain::side side, domain::order_type type,
                                                   domain::price_ticks& limit) const noexcept;
    /// Whether an account's limits allow an order of `total` lots at a price, of which `added` are new to its position
    /// and which is one of `opened` new open orders, or of none.
    [[nodiscard]] domain::reject_reason check_limits(domain::account_id account, std::uint32_t book,
                                                     std::uint32_t position, domain::side side, std::uint32_t total,
                                                     std::uint32_t added, domain::price_ticks price,
                                                     std::uint32_t opened) const noexcept;
    [[nodiscard]] std::uint32_t quotes_opened(const domain::command& c) const noexcept;
    /// Whether position and open orders of the account, with `added` more lots of an order, could exceed `lots_max` in
    /// the book or in one of its legs.
    [[nodiscard]] bool exceeds_position(domain::account_id account, std::uint32_t book, std::uint32_t position,
                                        domain::side side, std::uint64_t added, std::uint32_t lots_max) const noexcept;
    /// What the account could come to own in a book without legs, by orders there and by those of strategies.
    [[nodiscard]] std::int64_t worst_position(domain::account_id account, std::uint32_t book, std::uint32_t position,
                                              domain::side side) const noexcept;
    /// The position of an account in a book, made now if there is none; and those in its legs. `none` when there is no
    /// room for all of them.
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
    /// Enters a new order, or one that has been lifted, reserved or woken: in its book, and in those that imply prices
    /// there.
    [[nodiscard]] matching::entry_result enter(const matching::entry& e) noexcept {
        return implied_.takes_part(e.book) ? enter_implied(e) : engine_.enter(e, writer_);
    }
    [[nodiscard]] matching::entry_result enter(std::uint32_t slot, const matching::entry& e) noexcept {
        return implied_.takes_part(e.book) ? match_implied(engine_.launch(slot, e), e)
                                           : engine_.reenter(slot, e, writer_);
    }
    [[nodiscard]] matching::entry_result enter_implied(const matching::entry& e) noexcept;
    /// Lets an order trade directly and at implied prices, as far as it reaches, and ends its way.
    [[nodiscard]] matching::entry_result match_implied(matching::aggressor incoming, const matching::entry& e) noexcept;
    /// One step at the best implied price: an implied fill, or what the order's self-match instruction asks for.
    void step(matching::aggressor& incoming, const matching::entry& e, domain::price_ticks price) noexcept;
    /// Lets an order trade with the first orders of a combination's partners.
    void fill_implied(implied_fill& f, const implied_books::combination& c, std::uint32_t first,
                      std::uint32_t second) noexcept;
    /// Lets the first orders of a side trade at implied prices where a book that goes on stands crossed with others.
    /// Returns whether any has.
    bool trade_crossed(std::uint32_t book, domain::side side) noexcept;
    /// What has come to phase continuous goes on: crossed triangles trade, then waiting orders are set free.
    void go_on() noexcept;
    void match_crossed_triangles() noexcept;
    /// Looks at the waiting orders of the other books in which implied fills have traded.
    void enter_triggered_in_other_books() noexcept;
    /// What has traded sets waiting orders free when the book goes on.
    void defer_stops(const implied_books::traded_range& t) noexcept;
    void publish_implied() noexcept;
    /// After loading: what was last said is what follows from the books.
    void restore_implied_tops() noexcept;
    /// The best price of a side, direct or implied.
    [[nodiscard]] domain::price_ticks best_price(std::uint32_t book, domain::side side) const noexcept;
    /// Whether an order at this price would trade on entry, directly or at an implied price.
    [[nodiscard]] bool would_trade(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept;

    /// The limit at which an order is to be entered, from what the book says now.
    [[nodiscard]] domain::conversion<domain::price_ticks> limit_of(const domain::command& c,
                                                                   std::uint32_t book) const noexcept;
    [[nodiscard]] domain::reject_reason check_instructions(const domain::command& c) const noexcept;

    [[nodiscard]] domain::reject_reason check_entry(const domain::command& c) const noexcept;
    [[nodiscard]] static domain::reject_reason check_price(const domain::instrument& i,
                                                           domain::price_ticks price) noexcept;
    [[nodiscard]] resolution resolve(const domain::command& c) const noexcept;
    void hash_order(state_hasher& hasher, std::uint32_t slot) const;
    void refuse(const domain::command& c, domain::reject_reason reason) noexcept;
    void refuse(const domain::command& c, domain::reject_reason reason, std::uint32_t slot) noexcept;

    std::vector<domain::instrument> definitions_;    ///< by book index
    std::vector<domain::instrument> instruments_;    ///< the same, with the price bands that implied matching leaves
    std::vector<domain::instrument_id> likes_;       ///< of those defined since: what each is like
    std::vector<std::uint32_t> books_;               ///< instrument id to book index
    std::vector<product_book> by_product_;           ///< sorted
    std::vector<std::uint32_t> resuming_;            ///< books that go on with the running command
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
    std::uint64_t steps_ = 0;  ///< books that have been looked at
    facility_options options_;
    bool was_used_ = false;
    std::uint32_t positions_before_ = 0;  ///< pairs before the running command; a refusal takes later ones back
    strategies strategies_;
    implied_books implied_;
    message_writer writer_;
};

}  // namespace corro::facility
