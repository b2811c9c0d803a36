// SPDX-License-Identifier: Apache-2.0
// Commands: everything that can change the venue's state, in the order of its one sequence.
//
// A command is a plain record of 128 bytes without pointers or padding, so that it can be copied through a ring,
// written to a journal and hashed as it is: a header that all kinds share and a payload by kind. Time and sequence are
// fields: the facility reads no clock.
//
// Layout, in bytes: 0 to 39 are the members below; 40 to 127 are the payload (domain/command_payload.hpp), in which
// `verdict`, `request`, `is_operator` and `arrival` stand at 60, 64, 94 and 112 (except the arrival of a
// define_instrument).
// Units: ticks, lots, nanoseconds since the epoch.
// Source: docs/decisions/0009-typed-commands.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/assert.hpp"
#include "domain/command_payload.hpp"
#include "domain/order_instructions.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::domain {
/// What a command asks for; the payload of the same name has its fields.
enum class command_kind : std::uint8_t {
    enter_order = 1,
    amend_order = 2,
    cancel_order = 3,
    cancel_orders = 4,
    enter_quote = 8,        ///< replaces both sides of the account's quote in an instrument
    set_protection = 9,     ///< limits what the account's quotes may trade in a window of time
    reset_protection = 10,  ///< lets an account quote again
    change_phase = 11,
    set_limits = 12,
    kill_switch = 13,
    settle_instrument = 14,  ///< ends an instrument: its positions are settled at `price`
    query_order = 18,        ///< asks for an open order, for all, or for positions; changes nothing
    define_instrument = 24,  ///< a new instrument, like another one: domain/definition.hpp
    /// The edge's, at a logon and at its end: `state` on, the session's orders are to be cancelled when its connection
    /// is lost. Changes nothing and causes no event; it is journaled for the next start.
    cancel_on_disconnect = 25,
    new_trading_day = 26,  ///< the statistics of instruments begin again
    /// The venue's own, when its configuration has a new account while it runs: `other_account` has the sessions from
    /// `first_session` on, `sessions_count` of them. Causes no event; without an effect when an account or a session is
    /// already defined so, or does not fit.
    define_account = 27,
    /// The venue's own, when its configuration has other limits for an account: like `set_limits`, without an event.
    set_account_limits = 28,
    /// The gateway's, between two connections of a session: its requests and answers are numbered from 1 again, and its
    /// open orders lose the names that they had by request. `day_begin` is the moment of the schedule that asks for it.
    reset_session_numbers = 29,
    /// The gateway's, before messages of a session leave that are not answers but are numbered with them: after a crash
    /// answers have the numbers that the client knows. Journaled, and told to the gateway by `messages_counted`.
    count_messages = 30,
    /// The gateway's, before a request with a client order id that stands for a longer text: which text. Changes
    /// nothing; journaled before the request, and told to the gateways by `order_named`. domain/long_name.hpp reads and
    /// writes it.
    name_order = 31,
};

/// The three bytes behind the kind.
union command_terms {
    order_terms order;            ///< of an enter_order
    definition_terms definition;  ///< of a define_instrument

    constexpr command_terms() noexcept : order{} {}
};

// Not over-aligned: a coroutine frame holds commands and events, and compilers place over-aligned objects in frames at
// addresses that only a plain allocation guarantees. Rings and buffers align their arrays instead.
struct command {
    sequence_number sequence{};  ///< position in the venue's total order; given by the sequencer, not the gateway
    time_ns time{};              ///< when it was sequenced; never earlier than its predecessor's
    session_id session{};        ///< who sent it
    account_id account{};        ///< on whose behalf
    instrument_id instrument{};  ///< that it is about; 0 for none, or all
    command_kind kind = command_kind::enter_order;  ///< decides which payload is used
    command_terms terms{};                          ///< of two kinds; zero in others
    /// enter_order, enter_quote: the new order's; amend_order, cancel_order, query_order: names the order when nothing
    /// else does.
    client_order_id client_order{};
    command_payload payload{};  ///< what `kind` has beside the header

    /// An empty enter_order. Spelled out because g++ 12 deletes the implicit one of a struct with these unions.
    constexpr command() noexcept {}

    // The rest of the header.

    /// A reason found at the edge that the domain's units cannot express, such as an off-tick price. The facility
    /// answers such a command with this refusal, so that it is sequenced and journaled like any other.
    [[nodiscard]] constexpr reject_reason verdict() const noexcept { return payload.any.verdict; }
    constexpr void set_verdict(reject_reason reason) noexcept { payload.any.verdict = reason; }  ///< At the edge.
    /// The client's own number of this message, echoed in the answers; 0 when no client sent it.
    [[nodiscard]] constexpr std::uint32_t request() const noexcept { return payload.any.request; }
    constexpr void set_request(std::uint32_t number) noexcept { payload.any.request = number; }  ///< By the session.
    /// Sent by an operator. The edge sets it from its accounts, never from the message. set_limits, change_phase,
    /// settle_instrument and new_trading_day need it, and a kill_switch that is released or covers another account.
    [[nodiscard]] constexpr bool is_operator() const noexcept { return payload.any.is_operator != 0; }
    constexpr void set_operator(bool is) noexcept { payload.any.is_operator = is ? 1 : 0; }  ///< At the edge.
    /// In a venue of one partition all zero. A define_instrument is for one partition and has it in other places,
    /// because its name stands there.
    [[nodiscard]] constexpr command_arrival arrival() const noexcept {
        if (kind != command_kind::define_instrument) [[likely]]
            return payload.any.arrival;
        const domain::define_instrument& d = payload.define_instrument;
        command_arrival a;
        a.number = std::uint64_t{d.arrival_high} << 48U | std::uint64_t{d.arrival_middle} << 32U | d.arrival_low;
        a.previous_request_plus_1 = d.previous_request_plus_1;
        return a;
    }
    /// @pre `copies` is 0 for a define_instrument (asserted).
    constexpr void set_arrival(std::uint64_t number, std::uint8_t copies) noexcept {
        if (kind == command_kind::define_instrument) [[unlikely]] {
            CORRO_ASSERT(copies == 0);
            payload.define_instrument.arrival_low = static_cast<std::uint32_t>(number);
            payload.define_instrument.arrival_middle = static_cast<std::uint16_t>(number >> 32U);
            payload.define_instrument.arrival_high = static_cast<std::uint16_t>(number >> 48U);
            return;
        }
        payload.any.arrival.number = number;
        payload.any.arrival.copies = copies;
    }
    /// @param previous  The session's last submitted request; the command's own for a further command of the same
    ///                  request.
    /// @pre `leg` is 0 for a define_instrument (asserted).
    constexpr void set_request_place(std::uint16_t leg, std::uint32_t previous) noexcept {
        if (kind == command_kind::define_instrument) [[unlikely]] {
            CORRO_ASSERT(leg == 0);
            payload.define_instrument.previous_request_plus_1 = previous + 1;
            return;
        }
        payload.any.arrival.leg = leg;
        payload.any.arrival.previous_request_plus_1 = previous + 1;
    }

    // The payload of the kind. Asserted: the command is of the kind that the function is named after.

    [[nodiscard]] constexpr domain::order_terms& order_terms() noexcept {
        return of(command_kind::enter_order, terms.order);
    }
    [[nodiscard]] constexpr const domain::order_terms& order_terms() const noexcept {
        return of(command_kind::enter_order, terms.order);
    }
    [[nodiscard]] constexpr domain::definition_terms& definition_terms() noexcept {
        return of(command_kind::define_instrument, terms.definition);
    }
    [[nodiscard]] constexpr const domain::definition_terms& definition_terms() const noexcept {
        return of(command_kind::define_instrument, terms.definition);
    }
    [[nodiscard]] constexpr domain::enter_order& enter_order() noexcept {
        return of(command_kind::enter_order, payload.enter_order);
    }
    [[nodiscard]] constexpr const domain::enter_order& enter_order() const noexcept {
        return of(command_kind::enter_order, payload.enter_order);
    }
    [[nodiscard]] constexpr domain::amend_order& amend_order() noexcept {
        return of(command_kind::amend_order, payload.amend_order);
    }
    [[nodiscard]] constexpr const domain::amend_order& amend_order() const noexcept {
        return of(command_kind::amend_order, payload.amend_order);
    }
    [[nodiscard]] constexpr domain::cancel_order& cancel_order() noexcept {
        return of(command_kind::cancel_order, payload.cancel_order);
    }
    [[nodiscard]] constexpr const domain::cancel_order& cancel_order() const noexcept {
        return of(command_kind::cancel_order, payload.cancel_order);
    }
    [[nodiscard]] constexpr domain::cancel_orders& cancel_orders() noexcept {
        return of(command_kind::cancel_orders, payload.cancel_orders);
    }
    [[nodiscard]] constexpr const domain::cancel_orders& cancel_orders() const noexcept {
        return of(command_kind::cancel_orders, payload.cancel_orders);
    }
    [[nodiscard]] constexpr domain::query_order& query_order() noexcept {
        return of(command_kind::query_order, payload.query_order);
    }
    [[nodiscard]] constexpr const domain::query_order& query_order() const noexcept {
        return of(command_kind::query_order, payload.query_order);
    }
    [[nodiscard]] constexpr domain::enter_quote& enter_quote() noexcept {
        return of(command_kind::enter_quote, payload.enter_quote);
    }
    [[nodiscard]] constexpr const domain::enter_quote& enter_quote() const noexcept {
        return of(command_kind::enter_quote, payload.enter_quote);
    }
    [[nodiscard]] constexpr domain::set_protection& set_protection() noexcept {
        return of(command_kind::set_protection, payload.set_protection);
    }
    [[nodiscard]] constexpr const domain::set_protection& set_protection() const noexcept {
        return of(command_kind::set_protection, payload.set_protection);
    }
    [[nodiscard]] constexpr domain::change_phase& change_phase() noexcept {
        return of(command_kind::change_phase, payload.change_phase);
    }
    [[nodiscard]] constexpr const domain::change_phase& change_phase() const noexcept {
        return of(command_kind::change_phase, payload.change_phase);
    }
    [[nodiscard]] constexpr domain::kill_switch& kill_switch() noexcept {
        return of(command_kind::kill_switch, payload.kill_switch);
    }
    [[nodiscard]] constexpr const domain::kill_switch& kill_switch() const noexcept {
        return of(command_kind::kill_switch, payload.kill_switch);
    }
    [[nodiscard]] constexpr domain::settle_instrument& settle_instrument() noexcept {
        return of(command_kind::settle_instrument, payload.settle_instrument);
    }
    [[nodiscard]] constexpr const domain::settle_instrument& settle_instrument() const noexcept {
        return of(command_kind::settle_instrument, payload.settle_instrument);
    }
    [[nodiscard]] constexpr domain::define_instrument& define_instrument() noexcept {
        return of(command_kind::define_instrument, payload.define_instrument);
    }
    [[nodiscard]] constexpr const domain::define_instrument& define_instrument() const noexcept {
        return of(command_kind::define_instrument, payload.define_instrument);
    }
    [[nodiscard]] constexpr domain::cancel_on_disconnect& cancel_on_disconnect() noexcept {
        return of(command_kind::cancel_on_disconnect, payload.cancel_on_disconnect);
    }
    [[nodiscard]] constexpr const domain::cancel_on_disconnect& cancel_on_disconnect() const noexcept {
        return of(command_kind::cancel_on_disconnect, payload.cancel_on_disconnect);
    }
    [[nodiscard]] constexpr domain::new_trading_day& new_trading_day() noexcept {
        return of(command_kind::new_trading_day, payload.new_trading_day);
    }
    [[nodiscard]] constexpr const domain::new_trading_day& new_trading_day() const noexcept {
        return of(command_kind::new_trading_day, payload.new_trading_day);
    }
    [[nodiscard]] constexpr domain::define_account& define_account() noexcept {
        return of(command_kind::define_account, payload.define_account);
    }
    [[nodiscard]] constexpr const domain::define_account& define_account() const noexcept {
        return of(command_kind::define_account, payload.define_account);
    }
    [[nodiscard]] constexpr domain::reset_session_numbers& reset_session_numbers() noexcept {
        return of(command_kind::reset_session_numbers, payload.reset_session_numbers);
    }
    [[nodiscard]] constexpr const domain::reset_session_numbers& reset_session_numbers() const noexcept {
        return of(command_kind::reset_session_numbers, payload.reset_session_numbers);
    }
    [[nodiscard]] constexpr domain::count_messages& count_messages() noexcept {
        return of(command_kind::count_messages, payload.count_messages);
    }
    [[nodiscard]] constexpr const domain::count_messages& count_messages() const noexcept {
        return of(command_kind::count_messages, payload.count_messages);
    }
    [[nodiscard]] constexpr domain::name_order& name_order() noexcept {
        return of(command_kind::name_order, payload.name_order);
    }
    [[nodiscard]] constexpr const domain::name_order& name_order() const noexcept {
        return of(command_kind::name_order, payload.name_order);
    }
    /// amend_order, cancel_order, cancel_orders, query_order: they may have a name of their own.
    [[nodiscard]] constexpr bool may_have_name() const noexcept {
        return names_order() || kind == command_kind::cancel_orders;
    }
    /// That name; 0: none. The answer comes behind a `request_named` then, and an amended order has the name from then
    /// on. In FIX it is the ClOrdID (11) of a request that names its order by OrigClOrdID (41).
    [[nodiscard]] constexpr client_order_id& request_name() noexcept {
        CORRO_ASSERT(may_have_name());
        return payload.cancel_order.request_name;
    }
    [[nodiscard]] constexpr const client_order_id& request_name() const noexcept {
        CORRO_ASSERT(may_have_name());
        return payload.cancel_order.request_name;
    }
    /// amend_order, cancel_order, query_order: they name an open order, at the same place.
    [[nodiscard]] constexpr bool names_order() const noexcept {
        return kind == command_kind::amend_order || kind == command_kind::cancel_order ||
               kind == command_kind::query_order;
    }
    [[nodiscard]] constexpr order_id& named_order() noexcept {
        CORRO_ASSERT(names_order());
        return payload.cancel_order.order;
    }
    [[nodiscard]] constexpr const order_id& named_order() const noexcept {
        CORRO_ASSERT(names_order());
        return payload.cancel_order.order;
    }
    [[nodiscard]] constexpr std::uint32_t& named_request() noexcept {
        CORRO_ASSERT(names_order());
        return payload.cancel_order.target_request;
    }
    [[nodiscard]] constexpr const std::uint32_t& named_request() const noexcept {
        CORRO_ASSERT(names_order());
        return payload.cancel_order.target_request;
    }
    /// Of set_limits and of set_account_limits.
    [[nodiscard]] constexpr domain::set_limits& set_limits() noexcept {
        CORRO_ASSERT(kind == command_kind::set_limits || kind == command_kind::set_account_limits);
        return payload.set_limits;
    }
    [[nodiscard]] constexpr const domain::set_limits& set_limits() const noexcept {
        CORRO_ASSERT(kind == command_kind::set_limits || kind == command_kind::set_account_limits);
        return payload.set_limits;
    }

 private:
    template <class Payload>
    [[nodiscard]] constexpr Payload& of(command_kind expected, Payload& p) const noexcept {
        CORRO_ASSERT(kind == expected);
        return p;
    }
};

static_assert(sizeof(command) == 128);
static_assert(std::is_standard_layout_v<command>);
static_assert(std::is_trivially_copyable_v<command>);
static_assert(std::has_unique_object_representations_v<command>,
              "no padding: a command is hashed and journaled as bytes");
static_assert(offsetof(command, terms) == 29 && offsetof(command, client_order) == 32 &&
              offsetof(command, payload) == 40);

/// What stands at the same place in every payload.
template <class Payload>
inline constexpr bool has_header =
    sizeof(Payload) == sizeof(any_payload) && offsetof(Payload, verdict) == offsetof(any_payload, verdict) &&
    offsetof(Payload, request) == offsetof(any_payload, request) &&
    offsetof(Payload, is_operator) == offsetof(any_payload, is_operator);
template <class... Payloads>
inline constexpr bool have_header = ((has_header<Payloads> && offsetof(Payloads, arrival) == 72) && ...);  ///< Each.
static_assert(offsetof(any_payload, verdict) == 20 && offsetof(any_payload, request) == 24 &&
              offsetof(any_payload, is_operator) == 54 && offsetof(any_payload, arrival) == 72);
static_assert(
    has_header<define_instrument> &&
    have_header<enter_order, amend_order, cancel_order, cancel_orders, query_order, enter_quote, set_protection,
                change_phase, set_limits, kill_switch, settle_instrument, cancel_on_disconnect, new_trading_day,
                define_account, reset_session_numbers, count_messages, name_order>);
/// What stands at the same place in those that name an order.
template <class Payload>
inline constexpr bool names_order = offsetof(Payload, order) == offsetof(cancel_order, order) &&
                                    offsetof(Payload, target_request) == offsetof(cancel_order, target_request);
static_assert(names_order<amend_order> && names_order<query_order>);
/// The same for the name of a request.
template <class... Payloads>
inline constexpr bool have_name = ((offsetof(Payloads, request_name) == offsetof(cancel_order, request_name)) && ...);
static_assert(have_name<amend_order, cancel_orders, query_order>);

}  // namespace corro::domain
