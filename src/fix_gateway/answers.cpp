#include "fix_gateway/answers.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "fix/codec/values.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

using answer = gateway::answer_log::detailed_answer;
using domain::command_kind;
using domain::event;
using domain::event_kind;
using domain::reject_reason;

constexpr std::uint8_t nano_digits = 9;
constexpr std::string_view no_order = "NONE";

bool answers_request(const answer& a, command_kind kind) noexcept {
    return a.details.request_kind == static_cast<std::uint8_t>(kind);
}

/// Lots as units of quantity.
std::uint64_t units(const domain::instrument& i, std::uint64_t lots) noexcept {
    return lots * i.lot_size;
}

void put_price(fix::message_writer& into, std::uint32_t tag, const domain::instrument& i,
               domain::price_ticks price) noexcept {
    into.put(tag, fix::shortened({domain::to_nano(i, price).value, nano_digits}));
}

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
/// quantities do.
void put_exec_id(fix::message_writer& into, const event& e, std::uint64_t order, std::uint32_t open) noexcept {
    std::array<char, 64> text;
    char* at = text.data();
    char* const end = text.data() + text.size();
    at = std::to_chars(at, end, e.command.value).ptr;
    *at++ = '-';
    at = std::to_chars(at, end, order).ptr;
    *at++ = '-';
    at = std::to_chars(at, end, static_cast<unsigned>(e.kind)).ptr;
    *at++ = '-';
    at = std::to_chars(at, end, open).ptr;
    into.put(tag::exec_id, std::string_view(text.data(), static_cast<std::size_t>(at - text.data())));
}

void put_order_id(fix::message_writer& into, domain::order_id order) noexcept {
    if (order.value == 0) {
        into.put(tag::order_id, no_order);
    } else {
        into.put(tag::order_id, order.value);
    }
}

void put_name(fix::message_writer& into, std::uint32_t tag, domain::client_order_id name) noexcept {
    if (name.value != 0) into.put(tag, text_of(name).view());
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
    put_name(into, tag::cl_ord_id, is_query ? a.details.of_order : a.details.name);
    into.put(tag::cum_qty, units(i, a.details.filled.value));
    put_exec_id(into, e, order.value, now.leaves);
    if (is_before_4_4) into.put(tag::exec_trans_type, is_query ? '3' : '0');
    if (is_fill) {
        put_price(into, tag::last_px, i, e.execution.price);
        into.put(tag::last_qty, units(i, e.execution.quantity.value));
    }
    put_order_id(into, order);
    into.put(tag::order_qty, units(i, now.total));
    into.put(tag::ord_status, now.status);
    if (!is_query) put_name(into, tag::orig_cl_ord_id, a.details.of_order);
    if (!is_fill && e.order.price != domain::no_price && knows_price(e)) put_price(into, tag::price, i, e.order.price);
    into.put(tag::side, e.side == domain::side::buy ? '1' : '2');
    into.put(tag::symbol, i.id.value == 0 ? std::string_view("[N/A]") : i.name.view());
    if (e.reason != reject_reason::none) into.put(tag::text, domain::to_string(e.reason));
    into.put_time(tag::transact_time, e.time.value, fix::time_precision::nanoseconds);
    if (e.kind == event_kind::order_rejected) into.put(tag::ord_rej_reason, order_reject_reason(e.reason));
    into.put(tag::exec_type, now.type);
    into.put(tag::leaves_qty, units(i, now.leaves));
    if (now.type == 'D') into.put(tag::exec_restatement_reason, restatement_reason(e.reason, version));
    if (is_query && !is_before_4_4) put_name(into, tag::ord_status_req_id, a.details.name);
    if (is_fill && !is_before_4_4) {
        into.put(tag::last_liquidity_ind, (e.flags & domain::event_flag::aggressor) != 0 ? 2 : 1);
    }
}

void write_cancel_reject(const answer& a, fix_version version, fix::message_writer& into) noexcept {
    const event& e = a.event;
    put_name(into, tag::cl_ord_id, a.details.name);
    put_order_id(into, e.order.order);
    const char working = a.details.filled.value != 0 ? '1' : '0';
    into.put(tag::ord_status, e.order.order.value == 0 ? '8' : working);
    if (a.details.of_order.value != 0) {
        put_name(into, tag::orig_cl_ord_id, a.details.of_order);
    } else {
        into.put(tag::orig_cl_ord_id, no_order);
    }
    into.put(tag::text, domain::to_string(e.reason));
    into.put_time(tag::transact_time, e.time.value, fix::time_precision::nanoseconds);
    into.put(tag::cxl_rej_reason, cancel_reject_reason(e.reason, version));
    into.put(tag::cxl_rej_response_to, answers_request(a, command_kind::amend_order) ? '2' : '1');
}

/// OrderMassCancelReport. The request's kind stands where other requests have their order's name.
void write_mass_cancel_report(const answer& a, fix_version version, fix::message_writer& into) noexcept {
    const event& e = a.event;
    const bool is_refused = e.kind == event_kind::order_rejected;
    const std::uint64_t wanted = is_refused ? a.details.of_order.value : e.named.client_order.value;
    put_name(into, tag::cl_ord_id, a.details.name);
    into.put(tag::order_id, e.command.value);
    if (is_refused) into.put(tag::text, domain::to_string(e.reason));
    into.put_time(tag::transact_time, e.time.value, fix::time_precision::nanoseconds);
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

}  // namespace

fix_version version_of(std::string_view begin_string, std::string_view default_appl_ver_id) noexcept {
    if (begin_string == "FIX.4.2") return fix_version::v4_2;
    if (begin_string == "FIX.4.4") return fix_version::v4_4;
    return default_appl_ver_id == "8" || default_appl_ver_id == "9" ? fix_version::v5_0_sp : fix_version::v5_0;
}

std::string_view message_type_of(const answer& a) noexcept {
    switch (a.event.kind) {
        case event_kind::request_named: return "r";
        case event_kind::order_rejected:
            if (answers_request(a, command_kind::cancel_orders)) return "r";
            if (answers_request(a, command_kind::cancel_order) || answers_request(a, command_kind::amend_order)) {
                return "9";
            }
            return a.details.name.value == 0 ? "j" : "8";
        default: return "8";
    }
}

void write_body(const answer& a, const domain::instrument& instrument, fix_version version,
                fix::message_writer& into) noexcept {
    switch (message_type_of(a).front()) {
        case 'r': return write_mass_cancel_report(a, version, into);
        case '9': return write_cancel_reject(a, version, into);
        case 'j': return write_lost_request(a, into);
        default: return write_report(a, instrument, version, into);
    }
}

}  // namespace corro::fix_gateway
