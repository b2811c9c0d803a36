// SPDX-License-Identifier: Apache-2.0
// What a venue did, as rows of three tables: orders, trades, levels. The base of what writes them down.
//
// docs/spec/export.md has the meaning of each column. Prices are ticks of the instrument; quantities are its units.
// Threads: none of their own. Cost: a table of the open orders, if orders are chosen.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "history/exporter.hpp"

namespace corro::history {

enum class order_event : std::uint8_t { accepted, entered, amended, cancelled, executed, rejected };

/// A message to the owner of an order; or an accepted order, as it was sent. Valid during the call.
struct order_row {
    domain::sequence_number sequence{};
    domain::time_ns time{};
    order_event event = order_event::entered;
    const domain::instrument* instrument = nullptr;  ///< null for a reject that names an unknown one
    domain::side side = domain::side::buy;
    domain::order_id order{};
    domain::client_order_id client_order{};
    domain::account_id account{};
    domain::session_id session{};
    domain::price_ticks price = domain::no_price;  ///< no_price: without a limit
    std::uint64_t quantity = 0;                    ///< for an unknown instrument the sender's number
    std::uint64_t open = 0;
    bool is_aggressor = false;
    domain::reject_reason reason = domain::reject_reason::none;
    // Of accepted orders only.
    domain::order_type type = domain::order_type::limit;
    domain::time_in_force time_in_force = domain::time_in_force::day;
    domain::price_ticks trigger_price = domain::no_price;
    std::uint64_t display_quantity = 0;
    std::uint64_t minimum_quantity = 0;
};

/// A trade of the public tape. An order is 0 when the venue made no record for that side.
struct trade_row {
    domain::sequence_number sequence{};
    domain::time_ns time{};
    domain::trade_id trade{};
    const domain::instrument* instrument = nullptr;  ///< never null
    domain::price_ticks price{};
    std::uint64_t quantity = 0;
    domain::side aggressor = domain::side::buy;
    domain::order_id buy_order{};
    domain::account_id buy_account{};
    domain::order_id sell_order{};
    domain::account_id sell_account{};
};

/// A level's new total.
struct level_row {
    domain::sequence_number sequence{};
    domain::time_ns time{};
    const domain::instrument* instrument = nullptr;  ///< never null
    domain::side side = domain::side::buy;
    domain::price_ticks price{};
    std::uint64_t quantity = 0;  ///< 0: the level is gone
    std::uint64_t orders = 0;
};

/// Turns commands and events into rows.
class row_exporter : public exporter {
 public:
    /// @param only  Only rows of this instrument; 0 for all.
    row_exporter(std::span<const domain::instrument> instruments, domain::instrument_id only, export_choice what);

    /// Levels that are already in the book come first, with the number and time of the command before.
    void begin(const facility::facility& state) final;

 protected:
    virtual void write_order(const order_row& row) = 0;
    virtual void write_trade(const trade_row& row) = 0;
    virtual void write_level(const level_row& row) = 0;

 private:
    void write(const domain::event& event) final;
    void take_definition(const domain::event& e);
    [[nodiscard]] bool is_wanted(domain::instrument_id id) const noexcept { return only_.value == 0 || id == only_; }
    [[nodiscard]] const domain::instrument* find(domain::instrument_id id) const noexcept;
    [[nodiscard]] bool announces(const domain::event& e);
    [[nodiscard]] order_row accepted_row(const domain::event& e, const domain::instrument* i) const;
    [[nodiscard]] static order_row row_of(const domain::event& e, const domain::instrument* i);
    [[nodiscard]] trade_row trade_of(const domain::event& e, const domain::instrument& i) const;

    std::vector<domain::instrument> instruments_;  ///< by id
    domain::definition_reader definitions_;
    domain::instrument_id only_;
    export_choice what_;
    std::unordered_set<std::uint64_t> known_;  ///< orders that are open according to the events
    domain::sequence_number accepted_{};       ///< the last command whose order was written as accepted
    domain::capture buyer_{};                  ///< of the current trade
    domain::capture seller_{};
};

/// The words of the columns.
[[nodiscard]] std::string_view name_of(order_event event) noexcept;
[[nodiscard]] std::string_view name_of(domain::side side) noexcept;
[[nodiscard]] std::string_view name_of(domain::order_type type) noexcept;
[[nodiscard]] std::string_view name_of(domain::time_in_force t) noexcept;

}  // namespace corro::history
