// SPDX-License-Identifier: Apache-2.0
// Payloads: what one kind of command carries beside the header, one struct per kind.
//
// Layout: bytes 40 to 127 of a command (domain/command.hpp). `verdict`, `request`, `is_operator` and `arrival` belong
// to the header and stand between the kind's own fields, at the same offset in every payload; journals fix these
// offsets (docs/decisions/0009-typed-commands.md). Unused bytes are zero.
//
// Units: ticks, lots, nanoseconds since the epoch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "domain/instrument.hpp"
#include "domain/limits.hpp"
#include "domain/long_name.hpp"
#include "domain/order_instructions.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::domain {
/// Bytes that are zero.
template <std::size_t Bytes>
using unused = std::array<std::byte, Bytes>;

/// The arrival of a command in a venue of several partitions: its number among all submitted commands. It is part of
/// the command, in rings and in the journal, so that answers can be merged by arrival both live and after a crash. All
/// zero in a venue of one partition.
struct command_arrival {
    std::uint64_t number = 0;  ///< from 1
    std::uint8_t copies = 0;   ///< number of partitions that got the command, when it is for all; else 0
    unused<1> unused_1{};
    std::uint16_t leg = 0;                      ///< index of the command among those of its request, from 0
    std::uint32_t previous_request_plus_1 = 0;  ///< the session's previous submitted request; 0: not recorded

    /// Whether `leg` and the previous request are recorded.
    [[nodiscard]] constexpr bool has_place() const noexcept { return previous_request_plus_1 != 0; }
    /// 0 for none.
    [[nodiscard]] constexpr std::uint32_t previous_request() const noexcept {
        return has_place() ? previous_request_plus_1 - 1 : 0;
    }
};

/// enter_order: three bytes behind the kind.
struct order_terms {
    domain::side side = side::buy;
    order_type type = order_type::limit;                       ///< decides which prices it has
    domain::time_in_force time_in_force = time_in_force::day;  ///< how long it stays good
};

/// define_instrument: three bytes behind the kind.
struct definition_terms {
    unused<1> unused_1{};
    option_right right = option_right::none;  ///< of an option
    std::uint8_t given = 0;                   ///< definition_field
};
/// The terms of a defined option.
struct defined_option {
    price_nano strike{};  ///< the price at which its holder may buy or sell
    unused<8> unused_1{};
};

/// define_instrument: `definition_terms::given` says which.
union option_or_legs {
    std::array<instrument_id, legs_defined_max> legs;  ///< of a strategy
    defined_option option;                             ///< of an option

    constexpr option_or_legs() noexcept : legs{} {}
};

/// A new order. Its side, type and time in force are `order_terms`.
struct enter_order {
    unused<8> unused_1{};
    price_ticks price{};       ///< ignored for market orders
    quantity_lots quantity{};  ///< at least one
    reject_reason verdict = reject_reason::none;
    domain::self_match_prevention self_match_prevention = self_match_prevention::none;
    std::uint8_t flags = 0;  ///< order_flag
    unused<1> unused_2{};
    std::uint32_t request = 0;
    unused<4> unused_3{};
    price_ticks trigger_price{};       ///< of the order types that wait
    quantity_lots display_quantity{};  ///< most lots that the book shows at a time; 0 for all
    quantity_lots minimum_quantity{};  ///< the order is refused unless this much trades at once; 0 for none
    unused<6> unused_4{};
    std::uint8_t is_operator = 0;
    unused<1> unused_5{};
    time_ns expire_time{};               ///< of a gtd order, the last instant at which it is good
    std::uint32_t self_match_group = 0;  ///< prevents by this group of the firm instead of by account; 0: no
    unused<4> unused_6{};
    command_arrival arrival{};
};

/// Another price or quantity for an open order, and what its flags name.
struct amend_order {
    order_id order{};          ///< names the order when not 0
    price_ticks price{};       ///< the new one
    quantity_lots quantity{};  ///< the new total, counting what has been filled; see amend_flag
    reject_reason verdict = reject_reason::none;
    unused<1> unused_1{};
    std::uint8_t flags = 0;  ///< amend_flag
    unused<1> unused_2{};
    std::uint32_t request = 0;
    std::uint32_t target_request = 0;  ///< names the order when not 0 and `order` is 0: the request that entered it
    price_ticks trigger_price{};       ///< see amend_flag
    quantity_lots display_quantity{};  ///< see amend_flag
    unused<10> unused_3{};
    std::uint8_t is_operator = 0;
    unused<1> unused_4{};
    client_order_id request_name{};  ///< the request's own name, see `command::request_name`
    unused<4> unused_5{};
    account_id other_account{};  ///< see amend_flag
    command_arrival arrival{};
};

/// One open order. Without `order` and `target_request` the header's `client_order` names it.
struct cancel_order {
    order_id order{};  ///< names the order when not 0
    unused<12> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    std::uint32_t target_request = 0;  ///< names the order when not 0 and `order` is 0: the request that entered it
    unused<22> unused_3{};
    std::uint8_t is_operator = 0;
    unused<1> unused_4{};
    client_order_id request_name{};  ///< the request's own name, see `command::request_name`
    unused<8> unused_5{};
    command_arrival arrival{};
};

/// All open orders of an account, or some of them. The header's `instrument` is 0 for every instrument.
struct cancel_orders {
    unused<20> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<1> unused_2{};
    std::uint8_t flags = 0;                      ///< cancel_flag
    cancel_scope scope = cancel_scope::account;  ///< of which sessions
    std::uint32_t request = 0;
    unused<20> unused_3{};
    product_id product{};                     ///< 0 for every product
    cancel_sides sides = cancel_sides::both;  ///< one or both
    unused<1> unused_4{};
    std::uint8_t is_operator = 0;
    unused<1> unused_5{};
    client_order_id request_name{};  ///< the request's own name, see `command::request_name`
    unused<4> unused_6{};
    account_id other_account{};  ///< for operators: whose orders; 0 for the sender's own
    command_arrival arrival{};
};

/// The state of an open order, or of all; or the positions of the account.
struct query_order {
    order_id order{};  ///< names the order when not 0
    unused<12> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<1> unused_2{};
    std::uint8_t flags = 0;  ///< query_flag
    unused<1> unused_3{};
    std::uint32_t request = 0;
    std::uint32_t target_request = 0;  ///< names the order when not 0 and `order` is 0: the request that entered it
    unused<22> unused_4{};
    std::uint8_t is_operator = 0;
    unused<1> unused_5{};
    client_order_id request_name{};  ///< the request's own name, see `command::request_name`
    unused<8> unused_6{};
    command_arrival arrival{};
};

/// Both sides of the account's quote in an instrument. A side with quantity 0 is withdrawn.
struct enter_quote {
    unused<8> unused_1{};
    price_ticks bid_price{};       ///< of the buying side
    quantity_lots bid_quantity{};  ///< 0 withdraws it
    reject_reason verdict = reject_reason::none;
    domain::self_match_prevention self_match_prevention = self_match_prevention::none;
    std::uint8_t flags = 0;  ///< quote_flag
    unused<1> unused_2{};
    std::uint32_t request = 0;
    unused<4> unused_3{};
    price_ticks ask_price{};       ///< of the selling side
    quantity_lots ask_quantity{};  ///< 0 withdraws it
    unused<10> unused_4{};
    std::uint8_t is_operator = 0;
    unused<17> unused_5{};
    command_arrival arrival{};
};

/// Limits on what the account's quotes may trade in a window of time.
struct set_protection {
    unused<16> unused_1{};
    quantity_lots quantity_max{};  ///< lots in a window; 0 for no limit
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    std::uint32_t window_ms = 0;  ///< how long a window lasts
    unused<22> unused_3{};
    std::uint8_t is_operator = 0;
    unused<9> unused_4{};
    std::uint32_t fills_max = 0;  ///< fills in a window; 0 for no limit
    unused<4> unused_5{};
    command_arrival arrival{};
};

/// Another trading phase for an instrument or a product.
struct change_phase {
    unused<20> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    unused<20> unused_3{};
    product_id product{};  ///< all its instruments, when not 0
    unused<1> unused_4{};
    trading_phase phase = trading_phase::continuous;  ///< the new one
    std::uint8_t is_operator = 0;
    unused<1> unused_5{};
    time_ns resume_time{};  ///< when the phase ends by itself, if it is one that can; 0 for never
    unused<8> unused_6{};
    command_arrival arrival{};
};

/// What an account may do from now on; of `set_account_limits` as well.
struct set_limits {
    unused<16> unused_1{};
    quantity_lots order_quantity_max{};  ///< of one order; 0 for no limit
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    std::uint32_t firm = 0;  ///< 0 for none; numbered like accounts
    unused<12> unused_3{};
    quantity_lots position_max{};  ///< lots, long or short, in one instrument; 0 for no limit
    unused<6> unused_4{};
    std::uint8_t is_operator = 0;
    unused<1> unused_5{};
    std::int64_t notional_max = 0;      ///< price times quantity of one order, in currency; 0 for no limit
    std::uint32_t open_orders_max = 0;  ///< 0 for no limit
    account_id other_account{};         ///< the account concerned
    command_arrival arrival{};
};

/// Stops a session, an account or a firm, or releases it.
struct kill_switch {
    unused<20> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    std::uint32_t firm = 0;  ///< the firm concerned; numbered like accounts
    unused<20> unused_3{};
    domain::kill_scope kill_scope = kill_scope::session;  ///< whom it stops
    switch_state state = switch_state::off;               ///< on: stopped
    std::uint8_t is_operator = 0;
    unused<9> unused_4{};
    session_id other_session{};  ///< the session concerned, of `other_account`
    account_id other_account{};  ///< the account concerned
    command_arrival arrival{};
};

/// Ends an instrument.
struct settle_instrument {
    unused<8> unused_1{};
    price_ticks price{};  ///< the settlement price
    unused<4> unused_2{};
    reject_reason verdict = reject_reason::none;
    unused<3> unused_3{};
    std::uint32_t request = 0;
    unused<26> unused_4{};
    std::uint8_t is_operator = 0;
    unused<17> unused_5{};
    command_arrival arrival{};
};

/// A new instrument: the header's `instrument`, like another one. What `definition_terms::given` does not
/// name is zero; domain/definition.hpp reads and writes it.
struct define_instrument {
    option_or_legs terms;  ///< those of `definition_terms::given`
    instrument_id like{};  ///< the other instrument
    reject_reason verdict = reject_reason::none;
    std::uint8_t legs_count = 0;     ///< legs that are given
    std::uint16_t arrival_high = 0;  ///< the arrival's number, bits 48 to 63; its place belongs to the name
    std::uint32_t request = 0;
    std::uint32_t previous_request_plus_1 = 0;  ///< as in `command_arrival`
    price_nano price_low{};                     ///< lowest price accepted
    price_nano price_high{};                    ///< highest price accepted
    std::uint32_t arrival_low = 0;              ///< bits 0 to 31
    std::uint16_t arrival_middle = 0;           ///< bits 32 to 47
    std::uint8_t is_operator = 0;
    unused<1> unused_1{};
    time_ns expiry{};  ///< when it ends
    symbol name{};     ///< its last 16 characters stand where other kinds have their arrival
};

/// Whether the open orders of the session are cancelled when its connection is lost.
struct cancel_on_disconnect {
    unused<20> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    unused<25> unused_3{};
    switch_state state = switch_state::off;  ///< on from a logon to its end
    std::uint8_t is_operator = 0;
    unused<17> unused_4{};
    command_arrival arrival{};
};

/// The statistics of instruments begin again.
struct new_trading_day {
    unused<20> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    unused<20> unused_3{};
    product_id product{};  ///< all its instruments, when not 0
    unused<2> unused_4{};
    std::uint8_t is_operator = 0;
    unused<17> unused_5{};
    command_arrival arrival{};
};

/// A new account of the configuration.
struct define_account {
    unused<16> unused_1{};
    std::uint32_t sessions_count = 0;  ///< of the new account
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    unused<26> unused_3{};
    std::uint8_t is_operator = 0;
    unused<9> unused_4{};
    session_id first_session{};  ///< the account has `sessions_count` sessions from this one on
    account_id other_account{};  ///< the new account
    command_arrival arrival{};
};

/// A session whose requests and answers are numbered from 1 again.
struct reset_session_numbers {
    unused<20> unused_1{};
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    unused<26> unused_3{};
    std::uint8_t is_operator = 0;
    unused<1> unused_4{};
    time_ns day_begin{};  ///< the moment of the schedule that asks for it
    unused<8> unused_5{};
    command_arrival arrival{};
};

/// Messages of a session that are not answers, such as heartbeats of FIX, have got numbers among its answers.
struct count_messages {
    unused<8> unused_1{};
    std::uint64_t number = 0;  ///< of the first of them; from 1
    std::uint32_t count = 0;   ///< of messages
    reject_reason verdict = reject_reason::none;
    unused<3> unused_2{};
    std::uint32_t request = 0;
    unused<4> unused_3{};
    std::uint64_t next_answer = 0;  ///< the answer that has the number behind them
    unused<14> unused_4{};
    std::uint8_t is_operator = 0;
    unused<17> unused_5{};
    command_arrival arrival{};
};

/// The text of a client order id, before the request that has it as a name. The header has the id in `client_order`,
/// and in `instrument` the one of the request, if that tells where the request goes; 0: everywhere.
struct name_order {
    std::array<char, 20> text_1{};  ///< characters 0 to 19; those behind the text's end are zero
    reject_reason verdict = reject_reason::none;
    std::uint8_t length = 0;        ///< of the text, 1 to long_name_characters_max
    std::uint8_t request_kind = 0;  ///< of the request, command_kind
    unused<1> unused_1{};
    std::uint32_t request = 0;
    std::array<char, 26> text_2{};  ///< characters 20 to 45
    std::uint8_t is_operator = 0;
    std::array<char, 17> text_3{};  ///< characters 46 to 62
    command_arrival arrival{};
};
static_assert(sizeof(name_order::text_1) + sizeof(name_order::text_2) + sizeof(name_order::text_3) ==
              long_name_characters_max);

/// What every payload has. `reset_protection` has nothing else.
struct any_payload {
    unused<20> unused_1{};
    reject_reason verdict = reject_reason::none;  ///< `command::verdict`
    unused<3> unused_2{};
    std::uint32_t request = 0;  ///< `command::request`
    unused<26> unused_3{};
    std::uint8_t is_operator = 0;  ///< `command::is_operator`
    unused<17> unused_4{};
    command_arrival arrival{};  ///< `command::arrival`
};

/// Spelled out because g++ 12 deletes the implicit constructor of a struct with such a union.
union command_payload {
    any_payload any;  ///< what all kinds have
    domain::enter_order enter_order;
    domain::amend_order amend_order;
    domain::cancel_order cancel_order;
    domain::cancel_orders cancel_orders;
    domain::query_order query_order;
    domain::enter_quote enter_quote;
    domain::set_protection set_protection;
    domain::change_phase change_phase;
    domain::set_limits set_limits;
    domain::kill_switch kill_switch;
    domain::settle_instrument settle_instrument;
    domain::define_instrument define_instrument;
    domain::cancel_on_disconnect cancel_on_disconnect;
    domain::new_trading_day new_trading_day;
    domain::define_account define_account;
    domain::reset_session_numbers reset_session_numbers;
    domain::count_messages count_messages;
    domain::name_order name_order;

    constexpr command_payload() noexcept : enter_order{} {}
};

}  // namespace corro::domain
