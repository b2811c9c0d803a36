// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/answers.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "fix_gateway/answer_fields.hpp"
#include "fix_gateway/positions.hpp"
#include "fix_gateway/quote_answers.hpp"
#include "fix_gateway/trade_records.hpp"

namespace corro::fix_gateway {
namespace {

using answer = detailed_answer;
using domain::command_kind;
using domain::event;
using domain::event_kind;
using domain::reject_reason;

/// What messages answers become.
enum class message_kind : std::uint8_t {
    report,
    cancel_reject,
    mass_cancel_report,
    lost_request,
    quote_status,
    mass_quote_acknowledgement,
    protection_report,
    trade_record,
    positions_ack,
    position_report,
    unanswered_query,
};

/// AvgPx (6): rounded to the nearest billionth; 0 without fills.
void put_average(fix::message_writer& into, const domain::instrument& i, const gateway::answer_details& d) noexcept {
    if (d.filled.value == 0) return into.put(tag::avg_px, 0);
    __extension__ using wide = __int128;
    const wide value = static_cast<wide>(d.value) * i.tick_size.value;
    const auto lots = static_cast<wide>(d.filled.value);
    const wide half = value < 0 ? -(lots / 2) : lots / 2;
    into.put(tag::avg_px, fix::shortened({static_cast<std::int64_t>((value + half) / lots), nano_digits}));
}

/// Unique among the executions of the venue: an order's kinds of messages within one command differ, or their open
/// quantities do. Orders of partitions have different ids, commands have not: where there is no order, the request that
/// is answered has its place.
void put_exec_id(fix::message_writer& into, const event& e, std::uint64_t order, std::uint32_t open) noexcept {
    std::array<char, 64> text;
    char* at = text.data();
    char* const end = text.data() + text.size();
    at = std::to_chars(at, end, e.command.value).ptr;
    *at++ = '-';
    if (order == 0) {
        at = std::to_chars(at, end, e.order.session.value).ptr;
        *at++ = '.';
        at = std::to_chars(at, end, e.order.request).ptr;
    } else {
        at = std::to_chars(at, end, order).ptr;
    }
    *at++ = '-';
    at = std::to_chars(at, end, static_cast<unsigned>(e.kind)).ptr;
    *at++ = '-';
    at = std::to_chars(at, end, open).ptr;
    into.put(tag::exec_id, std::string_view(text.data(), static_cast<std::size_t>(at - text.data())));
}

void put_name(fix::message_writer& into, std::uint32_t tag, const answer& a, domain::client_order_id name) noexcept {
    if (name.value != 0) put_name_text(into, tag, a, name);
}

/// Of a query of all orders: it names none.
bool is_of_all(const answer& a) noexcept {
    return answers_request(a, command_kind::query_order) && a.details.of_order.value == 0;
}

/// What an ExecutionReport says of the state.
struct state {
    char type = '0';    ///< ExecType (150)
    char status = '0';  ///< OrdStatus (39)
    std::uint32_t leaves = 0;
    std::uint64_t total = 0;  ///< of the order, in lots
};

state state_of(const answer& a, fix_version version) noexcept {
    const bool is_before_4_4 = version == fix_version::v4_2;
    const event& e = a.event;
    const std::uint32_t filled = a.details.filled.value;
    const char working = filled != 0 ? '1' : '0';
    const std::uint32_t open = e.kind == event_kind::order_executed ? e.execution.leaves.value : e.order.quantity.value;
    const std::uint64_t total = std::uint64_t{filled} + open;
    switch (e.kind) {
        case event_kind::order_executed: {
            const char status = open == 0 ? '2' : '1';
            return {is_before_4_4 ? status : 'F', status, open, total};
        }
        case event_kind::order_cancelled: {
            const char what = e.reason == reject_reason::expired ? 'C' : '4';
            return {what, what, 0, total};
        }
        case event_kind::order_amended:
            if (e.reason == reject_reason::none) return {'5', is_before_4_4 ? '5' : working, open, total};
            if (e.reason == reject_reason::triggered && version >= fix_version::v5_0)
                return {'L', working, open, total};
            return {'D', working, open, total};
        case event_kind::order_status: return {is_before_4_4 ? working : 'I', working, open, total};
        case event_kind::order_rejected:
            if (answers_request(a, command_kind::query_order)) return {is_before_4_4 ? '8' : 'I', '8', 0, 0};
            return {'8', '8', 0, open};
        default: return {'0', working, open, total};
    }
}

/// OrdRejReason (103), in FIX 4.2 already.
unsigned order_reject_reason(reject_reason reason) noexcept {
    switch (reason) {
        case reject_reason::unknown_instrument: return 1;
        case reject_reason::instrument_closed:
        case reject_reason::instrument_halted:
        case reject_reason::not_in_this_phase: return 2;
        case reject_reason::order_size_limit:
        case reject_reason::notional_limit:
        case reject_reason::open_orders_limit:
        case reject_reason::position_limit: return 3;
        case reject_reason::unknown_order:
        case reject_reason::order_not_open: return 5;
        case reject_reason::duplicate_client_order_id: return 6;
        default: return 0;
    }
}

/// CxlRejReason (102). FIX 4.2 has 0 to 3.
unsigned cancel_reject_reason(reject_reason reason, fix_version version) noexcept {
    switch (reason) {
        case reject_reason::order_not_open: return 0;
        case reject_reason::unknown_order: return 1;
        case reject_reason::duplicate_client_order_id: return version == fix_version::v4_2 ? 2 : 6;
        default: return 2;
    }
}

/// ExecRestatementReason (378): partial decline of the quantity, or, for a trigger, "other", which FIX 4.2 does not
/// have.
unsigned restatement_reason(reject_reason reason, fix_version version) noexcept {
    constexpr unsigned partial_decline = 5;
    constexpr unsigned broker_option = 4;
    constexpr unsigned other = 99;
    if (reason != reject_reason::triggered) return partial_decline;
    return version == fix_version::v4_2 ? broker_option : other;
}

/// Whether the price of a refused order could be read in ticks.
bool knows_price(const event& e) noexcept {
    return e.reason != reject_reason::unknown_instrument && e.reason != reject_reason::price_off_tick &&
           e.reason != reject_reason::invalid_price;
}

/// Which names the order and the request have.
void put_names(const answer& a, fix::message_writer& into) noexcept {
    if (is_of_all(a)) return put_name(into, tag::cl_ord_id, a, a.event.order.client_order);
    if (answers_request(a, command_kind::query_order)) return put_name(into, tag::cl_ord_id, a, a.details.of_order);
    put_name(into, tag::cl_ord_id, a, a.details.name);
    put_name(into, tag::orig_cl_ord_id, a, a.details.of_order);
}

void put_query_name(const answer& a, fix::message_writer& into) noexcept {
    if (!is_of_all(a)) return put_name(into, tag::ord_status_req_id, a, a.details.name);
    put_name(into, tag::mass_status_req_id, a, a.details.name);
    if ((a.event.flags & domain::event_flag::more_behind) != 0) into.put(tag::more_orders_behind, true);
    if (a.event.kind == event_kind::order_status) return;
    into.put(tag::tot_num_reports, 0);
    into.put(tag::last_rpt_requested, true);
}

void write_report(const answer& a, const domain::instrument& i, fix_version version,
                  fix::message_writer& into) noexcept {
    const bool is_before_4_4 = version == fix_version::v4_2;
    const event& e = a.event;
    const bool is_fill = e.kind == event_kind::order_executed;
    const bool is_query = answers_request(a, command_kind::query_order);
    const domain::order_id order = is_fill ? e.execution.order : e.order.order;
    const state now = state_of(a, version);
    into.put(tag::account, is_fill ? e.execution.account.value : e.order.account.value);
    put_average(into, i, a.details);
    put_names(a, into);
    into.put(tag::cum_qty, units_of(i, a.details.filled.value));
    put_exec_id(into, e, order.value, now.leaves);
    if (is_before_4_4) into.put(tag::exec_trans_type, is_query ? '3' : '0');
    if (is_fill) {
        put_price(into, tag::last_px, i, e.execution.price);
        into.put(tag::last_qty, units_of(i, e.execution.quantity.value));
    }
    put_order_id(into, order);
    into.put(tag::order_qty, units_of(i, now.total));
    into.put(tag::ord_status, now.status);
    if (!is_fill && e.order.price != domain::no_price && knows_price(e)) put_price(into, tag::price, i, e.order.price);
    put_side(into, e);
    put_symbol(into, i);
    if (e.reason != reject_reason::none) into.put(tag::text, domain::to_string(e.reason));
    put_transact_time(into, e);
    if (e.kind == event_kind::order_rejected) into.put(tag::ord_rej_reason, order_reject_reason(e.reason));
    into.put(tag::exec_type, now.type);
    into.put(tag::leaves_qty, units_of(i, now.leaves));
    if (now.type == 'D') into.put(tag::exec_restatement_reason, restatement_reason(e.reason, version));
    if (i.legs_count != 0) into.put(tag::multi_leg_reporting_type, 3);
    if (is_query && !is_before_4_4) put_query_name(a, into);
    if (is_fill && !is_before_4_4) {
        into.put(tag::last_liquidity_ind, (e.flags & domain::event_flag::aggressor) != 0 ? 2 : 1);
    }
}

/// The last report of a query of all orders: it is about none.
void write_end_of_query(const answer& a, fix::message_writer& into) noexcept {
    into.put(tag::account, a.event.order.account.value);
    into.put(tag::avg_px, 0);
    into.put(tag::cum_qty, 0);
    put_exec_id(into, a.event, 0, 0);
    into.put(tag::order_id, no_order);
    into.put(tag::ord_status, '8');
    into.put(tag::side, '7');
    into.put(tag::symbol, "[N/A]");
    put_transact_time(into, a.event);
    into.put(tag::exec_type, 'I');
    into.put(tag::leaves_qty, 0);
    put_name(into, tag::mass_status_req_id, a, a.details.name);
    into.put(tag::tot_num_reports, a.details.orders_count);
    into.put(tag::last_rpt_requested, true);
}

void write_cancel_reject(const answer& a, fix_version version, fix::message_writer& into) noexcept {
    const event& e = a.event;
    put_name(into, tag::cl_ord_id, a, a.details.name);
    put_order_id(into, e.order.order);
    const char working = a.details.filled.value != 0 ? '1' : '0';
    into.put(tag::ord_status, e.order.order.value == 0 ? '8' : working);
    if (a.details.of_order.value != 0) {
        put_name(into, tag::orig_cl_ord_id, a, a.details.of_order);
    } else {
        into.put(tag::orig_cl_ord_id, no_order);
    }
    into.put(tag::text, domain::to_string(e.reason));
    put_transact_time(into, e);
    into.put(tag::cxl_rej_reason, cancel_reject_reason(e.reason, version));
    into.put(tag::cxl_rej_response_to, answers_request(a, command_kind::amend_order) ? '2' : '1');
}

/// OrderMassCancelReport. The request's kind stands where other requests have their order's name.
void write_mass_cancel_report(const answer& a, fix_version version, fix::message_writer& into) noexcept {
    const event& e = a.event;
    const bool is_refused = e.kind == event_kind::order_rejected;
    const std::uint64_t wanted = is_refused ? a.details.of_order.value : e.named.client_order.value;
    put_name(into, tag::cl_ord_id, a, a.details.name);
    into.put(tag::order_id, e.command.value);
    if (is_refused) into.put(tag::text, domain::to_string(e.reason));
    put_transact_time(into, e);
    into.put(tag::mass_cancel_request_type, wanted);
    into.put(tag::mass_cancel_response, is_refused ? std::uint64_t{0} : wanted);
    if (version == fix_version::v5_0_sp) into.put(tag::mass_action_report_id, e.command.value);
    if (is_refused) into.put(tag::mass_cancel_reject_reason, e.reason == reject_reason::unknown_instrument ? 1 : 99);
}

/// A request that a crash took: only its number is known.
void write_lost_request(const answer& a, fix::message_writer& into) noexcept {
    into.put(tag::ref_seq_num, a.event.order.request);
    into.put(tag::text, domain::to_string(a.event.reason));
    into.put(tag::ref_msg_type, "n/a");
    into.put(tag::business_reject_reason, 0);
}

/// A refused question about orders that are there: an ExecutionReport would say that an order is rejected.
bool is_unanswered_query(const answer& a) noexcept {
    const reject_reason reason = a.event.reason;
    return answers_request(a, command_kind::query_order) && reason != reject_reason::unknown_order &&
           reason != reject_reason::order_not_open;
}

void write_unanswered_query(const answer& a, fix::message_writer& into) noexcept {
    into.put(tag::ref_seq_num, a.event.order.request);
    into.put(tag::text, domain::to_string(a.event.reason));
    into.put(tag::ref_msg_type, is_of_all(a) ? "AF" : "H");
    put_name(into, tag::business_reject_ref_id, a, a.details.name);
    into.put(tag::business_reject_reason, 0);
}

message_kind kind_of_refusal(const answer& a) noexcept {
    if (is_about_positions(a)) return message_kind::positions_ack;
    if (const auto quote = quote_of(a, a.details.name)) {
        if (quote->is(quote_request::protection)) return message_kind::protection_report;
        return quote->is_of_mass_quote() ? message_kind::mass_quote_acknowledgement : message_kind::quote_status;
    }
    if (answers_request(a, command_kind::cancel_orders)) return message_kind::mass_cancel_report;
    if (answers_request(a, command_kind::cancel_order) || answers_request(a, command_kind::amend_order)) {
        return message_kind::cancel_reject;
    }
    if (a.details.name.value == 0) return message_kind::lost_request;
    return is_unanswered_query(a) ? message_kind::unanswered_query : message_kind::report;
}

message_kind kind_of(const answer& a) noexcept {
    const auto quote = quote_of(a, a.details.name);
    switch (a.event.kind) {
        case event_kind::request_named: return quote ? message_kind::quote_status : message_kind::mass_cancel_report;
        case event_kind::order_rejected: return kind_of_refusal(a);
        case event_kind::quote_entered:
            return quote && quote->is_of_mass_quote() ? message_kind::mass_quote_acknowledgement
                                                      : message_kind::quote_status;
        case event_kind::protection_changed: return message_kind::protection_report;
        case event_kind::trade_capture:
        case event_kind::leg_capture: return message_kind::trade_record;
        case event_kind::position_reported:
            return is_position_report(a) ? message_kind::position_report : message_kind::positions_ack;
        default: return message_kind::report;
    }
}

}  // namespace

std::string_view message_type_of(const answer& a, fix_version version) noexcept {
    const bool is_before_4_4 = version == fix_version::v4_2;
    switch (kind_of(a)) {
        case message_kind::cancel_reject: return "9";
        case message_kind::mass_cancel_report: return "r";
        case message_kind::lost_request:
        case message_kind::unanswered_query: return "j";
        case message_kind::positions_ack: return "AO";
        case message_kind::position_report: return "AP";
        case message_kind::quote_status: return is_before_4_4 ? "b" : "AI";
        case message_kind::mass_quote_acknowledgement: return "b";
        case message_kind::protection_report: return "U3";
        case message_kind::trade_record: return is_before_4_4 ? "U4" : "AE";
        case message_kind::report: break;
    }
    return "8";
}

void write_body(const answer& a, const domain::instrument& instrument, fix_version version,
                fix::message_writer& into) noexcept {
    switch (kind_of(a)) {
        case message_kind::cancel_reject: return write_cancel_reject(a, version, into);
        case message_kind::mass_cancel_report: return write_mass_cancel_report(a, version, into);
        case message_kind::lost_request: return write_lost_request(a, into);
        case message_kind::quote_status: return write_quote_status(a, instrument, version, into);
        case message_kind::mass_quote_acknowledgement:
            return write_mass_quote_acknowledgement(a, instrument, version, into);
        case message_kind::protection_report: return write_protection_report(a, into);
        case message_kind::trade_record: return write_trade_record(a, instrument, version, into);
        case message_kind::positions_ack: return write_positions_ack(a, instrument, version, into);
        case message_kind::position_report: return write_position_report(a, instrument, version, into);
        case message_kind::unanswered_query: return write_unanswered_query(a, into);
        case message_kind::report: break;
    }
    if (a.event.kind == event_kind::request_done) return write_end_of_query(a, into);
    write_report(a, instrument, version, into);
}

}  // namespace corro::fix_gateway
