// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/positions.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "domain/private_event.hpp"
#include "domain/reject_reason.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix_gateway {
namespace {

using domain::event;
using domain::event_kind;
using domain::reject_reason;

/// PosReqResult (728).
unsigned result_of(reject_reason reason) noexcept {
    constexpr unsigned invalid = 1;
    constexpr unsigned not_authorised = 3;
    constexpr unsigned other_reason = 99;
    switch (reason) {
        case reject_reason::unknown_instrument: return invalid;
        case reject_reason::not_authorised: return not_authorised;
        default: return other_reason;
    }
}

/// PosMaintRptID (721): of the messages of one command the instruments differ.
void put_report_id(const event& e, fix::message_writer& into) noexcept {
    std::array<char, 64> text;
    char* at = text.data();
    char* const end = text.data() + text.size();
    at = std::to_chars(at, end, e.command.value).ptr;
    for (const std::uint32_t part : {domain::session_of(e).value, domain::request_of(e), e.instrument.value}) {
        *at++ = '-';
        at = std::to_chars(at, end, part).ptr;
    }
    into.put(tag::pos_maint_rpt_id, std::string_view(text.data(), static_cast<std::size_t>(at - text.data())));
}

/// ClearingBusinessDate (715): the day in UTC.
void put_business_date(const event& e, fix::message_writer& into) noexcept {
    constexpr std::size_t date_bytes = 8;
    std::array<char, fix::timestamp_format::bytes_max> text;
    fix::timestamp_format format;
    static_cast<void>(format.write(e.time.value, fix::time_precision::seconds, text.data()));
    into.put(tag::clearing_business_date, std::string_view(text.data(), date_bytes));
}

void put_account(const event& e, fix::message_writer& into) noexcept {
    constexpr unsigned customer_side = 1;
    into.put(tag::account, domain::account_of(e).value);
    into.put(tag::account_type, customer_side);
}

/// The position's quantity times its last price, negative if it is short; stays at the limits of 64 bits.
fix::decimal value_of(const event& e, const domain::instrument& i) noexcept {
    if (e.position.last == domain::no_price) return {};
    __extension__ using wide = __int128;
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    const std::uint64_t units = units_of(i, e.position.quantity.value);
    const wide held = units > static_cast<std::uint64_t>(largest) ? wide{largest} : static_cast<wide>(units);
    const wide value = held * domain::to_nano(i, e.position.last).value * (e.side == domain::side::buy ? 1 : -1);
    const wide kept = value > largest ? wide{largest} : value < -largest ? -wide{largest} : value;
    return fix::shortened({static_cast<std::int64_t>(kept), nano_digits});
}

/// In FIX 4.4 a price and an amount are required.
void put_value(const event& e, const domain::instrument& i, fix::message_writer& into) noexcept {
    into.put(tag::prior_settl_price, 0);
    into.put(tag::no_pos_amt, 1);
    into.put(tag::pos_amt_type, "FMTM");
    into.put(tag::pos_amt, value_of(e, i));
}

}  // namespace

void read_positions_request(request_reader& r, domain::command& c) noexcept {
    c.kind = domain::command_kind::query_order;
    c.request_name() = r.name(tag::pos_req_id);
    c.client_order = positions_mark;
    c.query_order().flags = domain::query_flag::positions;
    if (const auto type = r.required(tag::pos_req_type); type && *type != "0") r.fail(out_of_range(tag::pos_req_type));
    if (r.letter(tag::subscription_request_type).value_or('0') != '0') {
        r.fail(out_of_range(tag::subscription_request_type));
    }
    if (r.has(tag::behind_symbol)) {
        if (r.has(tag::symbol) || r.has(tag::security_id)) r.fail(out_of_range(tag::behind_symbol));
        c.query_order().flags |= domain::query_flag::behind;
        r.set_instrument(r.find_instrument(tag::behind_symbol));
    } else if (r.has(tag::symbol)) {
        r.instrument();
    } else if (r.has(tag::security_id)) {
        r.set_instrument(r.instrument_with(domain::instrument_id{r.number(tag::security_id)}));
    }
}

void check_positions_account(const fix::field_index& message, domain::command& c) noexcept {
    if (c.kind != domain::command_kind::query_order || c.client_order != positions_mark) return;
    const auto named = message.get(tag::account);
    if (named && fix::unsigned_value(*named) != c.account.value) c.set_verdict(reject_reason::not_authorised);
}

bool is_about_positions(const detailed_answer& a) noexcept {
    if (a.event.kind == event_kind::position_reported) return true;
    return a.event.kind == event_kind::order_rejected && answers_request(a, domain::command_kind::query_order) &&
           a.details.is_foreign == 0 && a.details.of_order == positions_mark;
}

bool is_position_report(const detailed_answer& a) noexcept {
    return a.event.kind == event_kind::position_reported && a.event.instrument.value != 0;
}

void write_positions_ack(const detailed_answer& a, const domain::instrument& i, fix_version version,
                         fix::message_writer& into) noexcept {
    constexpr unsigned nothing_found = 2;
    constexpr unsigned completed = 0;
    constexpr unsigned rejected = 2;
    const event& e = a.event;
    const bool is_refused = e.kind == event_kind::order_rejected;
    const std::uint32_t count = is_refused ? 0 : e.position.count;
    put_account(e, into);
    if (is_refused && i.id.value != 0) put_symbol(into, i);
    if (is_refused) into.put(tag::text, domain::to_string(e.reason));
    put_name_text(into, tag::pos_req_id, a, a.details.name);
    if (version >= fix_version::v5_0) put_business_date(e, into);
    put_report_id(e, into);
    if (version >= fix_version::v5_0) into.put(tag::pos_req_type, 0);
    into.put(tag::total_num_pos_reports, count);
    into.put(tag::pos_req_result, is_refused ? result_of(e.reason) : count == 0 ? nothing_found : 0U);
    into.put(tag::pos_req_status, is_refused ? rejected : completed);
}

void write_position_report(const detailed_answer& a, const domain::instrument& i, fix_version version,
                           fix::message_writer& into) noexcept {
    const event& e = a.event;
    const bool is_long = e.side == domain::side::buy;
    put_account(e, into);
    into.put(tag::security_id_source, 8);
    into.put(tag::security_id, i.id.value);
    put_symbol(into, i);
    put_name_text(into, tag::pos_req_id, a, a.details.name);
    put_business_date(e, into);
    put_report_id(e, into);
    into.put(tag::pos_req_type, 0);
    into.put(tag::pos_req_result, 0);
    const bool is_before_5_0 = version < fix_version::v5_0;
    const bool has_price = e.position.last != domain::no_price;
    if (has_price) put_price(into, tag::settl_price, i, e.position.last);
    if (!has_price && is_before_5_0) into.put(tag::settl_price, 0);
    constexpr unsigned theoretical = 2;
    if (has_price || is_before_5_0) into.put(tag::settl_price_type, theoretical);
    const std::uint64_t units = units_of(i, e.position.quantity.value);
    into.put(tag::no_positions, 1);
    into.put(tag::pos_type, "TQ");
    into.put(tag::long_qty, is_long ? units : 0);
    into.put(tag::short_qty, is_long ? 0 : units);
    if (is_before_5_0) put_value(e, i, into);
    if ((e.flags & domain::event_flag::more_behind) != 0) into.put(tag::more_positions_behind, true);
}

}  // namespace corro::fix_gateway
