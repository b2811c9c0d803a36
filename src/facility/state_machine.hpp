// The facility's inside: checks a command, resolves the names in it, drives the engine.
//
// Not part of the facility's interface.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "facility/message_writer.hpp"
#include "facility/order_directory.hpp"
#include "facility/quotes.hpp"
#include "facility/state_hasher.hpp"
#include "matching/engine.hpp"
#include "risk/positions.hpp"

namespace corro::facility {

class facility::state_machine {
 public:
    state_machine(const facility_options& options, std::span<const domain::instrument> instruments,
                  event_consumer& consumer);

    void apply(const domain::command& command) noexcept;
    [[nodiscard]] std::uint64_t state_hash() const;

    [[nodiscard]] const matching::engine& engine() const noexcept { return engine_; }
    [[nodiscard]] const order_directory& orders() const noexcept { return orders_; }
    [[nodiscard]] const risk::positions& positions() const noexcept { return positions_; }
    [[nodiscard]] const message_writer& writer() const noexcept { return writer_; }

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

    void enter_order(const domain::command& c) noexcept;
    void amend_order(const domain::command& c) noexcept;
    void cancel_order(const domain::command& c) noexcept;
    void cancel_orders(const domain::command& c) noexcept;

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

    void let_wait(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;
    void amend_waiting(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;
    /// Enters the waiting orders whose trigger price has traded, until none is left.
    void enter_triggered(std::uint32_t book) noexcept;

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

    std::vector<domain::instrument> instruments_;
    std::vector<std::uint32_t> books_;  ///< instrument id to book index
    matching::engine engine_;
    order_directory orders_;
    risk::positions positions_;
    quote_table quotes_;
    message_writer writer_;
};

}  // namespace corro::facility
