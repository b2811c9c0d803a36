// SPDX-License-Identifier: Apache-2.0
// The facility's implementation: owns the tables and the parts that work on them, and gives each command to its part.
//
// Tables hold state that later events depend on; parts hold rules, and references to the tables and parts that they
// need. A part needs only parts that are declared before it: docs/decisions/0014-facility-in-parts.md.
//
// Not part of the facility's interface.
#pragma once

#include <cstdint>
#include <span>
#include <system_error>

#include "base/archive.hpp"
#include "base/byte_stream.hpp"
#include "domain/account.hpp"
#include "domain/command.hpp"
#include "domain/instrument.hpp"
#include "domain/prefetch_hint.hpp"
#include "facility/definitions/account_controls.hpp"
#include "facility/definitions/account_definitions.hpp"
#include "facility/definitions/instrument_definitions.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/facility.hpp"
#include "facility/implied/implied_books.hpp"
#include "facility/implied/order_matcher.hpp"
#include "facility/limits.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_amending.hpp"
#include "facility/orders/order_cancels.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/order_entry.hpp"
#include "facility/orders/order_lookup.hpp"
#include "facility/orders/rejections.hpp"
#include "facility/orders/session_requests.hpp"
#include "facility/orders/stop_orders.hpp"
#include "facility/phases/instrument_settlement.hpp"
#include "facility/phases/phase_changes.hpp"
#include "facility/phases/phase_table.hpp"
#include "facility/phases/trading_schedule.hpp"
#include "facility/quotes/market_protection.hpp"
#include "facility/quotes/quote_table.hpp"
#include "facility/quotes/quoting.hpp"
#include "facility/state_hasher.hpp"
#include "matching/engine.hpp"
#include "risk/account_rules.hpp"
#include "risk/exposures.hpp"
#include "risk/order_limits.hpp"
#include "risk/positions.hpp"
#include "risk/strategies.hpp"

namespace corro::facility {

class facility::state_machine {
 public:
    state_machine(const facility_options& options, std::span<const domain::instrument> instruments,
                  event_consumer& consumer);
    state_machine(const state_machine&) = delete;
    state_machine& operator=(const state_machine&) = delete;

    void apply(const domain::command& command) noexcept;
    /// Looks ahead too.
    void apply(std::span<const domain::command> commands) noexcept;
    [[nodiscard]] bool opens_beyond(const domain::command& c, std::uint32_t orders_max) const noexcept;
    void expect(std::span<domain::prefetch_hint> coming) const noexcept { lookup_.prefetch(coming); }
    void look_ahead(std::span<const domain::command> waiting) noexcept {
        lookup_.look_ahead(lookup_.reach_now(), waiting, instruments_);
    }
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

    [[nodiscard]] const instrument_table& instruments() const noexcept { return instruments_; }
    [[nodiscard]] const matching::engine& engine() const noexcept { return engine_; }
    [[nodiscard]] const order_directory& orders() const noexcept { return orders_; }
    [[nodiscard]] const risk::positions& positions() const noexcept { return positions_; }
    [[nodiscard]] const risk::account_rules& account_rules() const noexcept { return account_rules_; }
    [[nodiscard]] const phase_table& phases() const noexcept { return phases_; }
    [[nodiscard]] const implied_books& implied() const noexcept { return implied_; }
    [[nodiscard]] const message_writer& writer() const noexcept { return writer_; }
    [[nodiscard]] std::span<const domain::defined_account> accounts_defined() const noexcept {
        return account_definitions_.all();
    }

    [[nodiscard]] query_cost last_query() const noexcept { return requests_.last_query(); }
    [[nodiscard]] std::uint64_t steps_count() const noexcept {
        return engine_.steps_count() + lookup_.steps_count() + requests_.steps_count() + phase_changes_.steps_count() +
               schedule_.steps_count();
    }

 private:
    [[gnu::always_inline]] void apply_one(const domain::command& c) noexcept;
    [[gnu::always_inline]] void dispatch(const domain::command& c) noexcept;
    /// Announces the request's own name, if it has one. @pre c.may_have_name() (asserted)
    [[gnu::always_inline]] void announce_name(const domain::command& c) noexcept {
        if (c.request_name().value != 0) [[unlikely]]
            requests_.announce_name(c);
    }
    /// Refuses a command that its part does not see.
    [[gnu::cold, gnu::noinline]] void refuse(const domain::command& c, domain::reject_reason reason) noexcept;

    void hash_books(state_hasher& hasher) const;
    void hash_order(state_hasher& hasher, std::uint32_t slot) const;
    void hash_accounts(state_hasher& hasher) const;
    void hash_phases(state_hasher& hasher) const;

    /// A hash of the options and instruments.
    [[nodiscard]] std::uint64_t fingerprint() const noexcept;
    void transfer(base::archive& a) noexcept;
    void transfer_orders(base::archive& a) noexcept;

    // Tables.
    facility_options options_;
    instrument_table instruments_;
    matching::engine engine_;
    order_directory orders_;
    risk::positions positions_;
    quote_table quotes_;
    risk::exposures exposures_;
    risk::account_rules account_rules_;
    phase_table phases_;
    risk::strategies strategies_;
    implied_books implied_;
    account_definitions account_definitions_;
    message_writer writer_;
    domain::time_ns now_{};               ///< of the last command
    domain::sequence_number sequence_{};  ///< of the last command
    bool was_used_ = false;

    // Parts.
    rejections rejections_;
    order_lookup lookup_;
    risk::order_limits limits_;
    order_matcher matcher_;
    market_protection protection_;
    phase_changes phase_changes_;
    stop_orders stops_;
    trading_schedule schedule_;
    instrument_settlement settlement_;
    order_entry entry_;
    order_amending amending_;
    order_cancels cancels_;
    quoting quoting_;
    session_requests requests_;
    account_controls controls_;
    instrument_definitions definitions_;
};

}  // namespace corro::facility
