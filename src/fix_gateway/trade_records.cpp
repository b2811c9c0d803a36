// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/trade_records.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "domain/private_event.hpp"
#include "fix_gateway/answer_fields.hpp"

namespace corro::fix_gateway {
namespace {

using domain::event;
using domain::event_kind;

/// TradeReportID (571): of the records of one command, account, instrument and side differ, or the trade does.
void put_report_id(const event& e, std::uint64_t trade, fix::message_writer& into) noexcept {
    std::array<char, 96> text;
    char* at = text.data();
    char* const end = text.data() + text.size();
    at = std::to_chars(at, end, e.command.value).ptr;
    for (const std::uint64_t part : {trade, std::uint64_t{e.instrument.value},
                                     std::uint64_t{domain::account_of(e).value}, static_cast<std::uint64_t>(e.side)}) {
        *at++ = '-';
        at = std::to_chars(at, end, part).ptr;
    }
    into.put(tag::trade_report_id, std::string_view(text.data(), static_cast<std::size_t>(at - text.data())));
}

/// TradeDate (75): the day in UTC.
void put_trade_date(const event& e, fix::message_writer& into) noexcept {
    constexpr std::size_t date_bytes = 8;
    std::array<char, fix::timestamp_format::bytes_max> text;
    fix::timestamp_format format;
    static_cast<void>(format.write(e.time.value, fix::time_precision::seconds, text.data()));
    into.put(tag::trade_date, std::string_view(text.data(), date_bytes));
}

}  // namespace

void write_trade_record(const detailed_answer& a, const domain::instrument& i, fix_version version,
                        fix::message_writer& into) noexcept {
    const event& e = a.event;
    const bool is_leg = e.kind == event_kind::leg_capture;
    const std::uint64_t trade = is_leg ? e.leg_fill.trade.value : e.capture.trade.value;
    put_report_id(e, trade, into);
    into.put(tag::previously_reported, false);
    if (trade != 0) {
        into.put(tag::trd_match_id, trade);
        if (version >= fix_version::v5_0) into.put(tag::trade_id, trade);
    }
    put_symbol(into, i);
    if (is_leg) {
        into.put(tag::last_px, fix::shortened({e.leg_fill.price, nano_digits}));
        into.put(tag::last_qty, units_of(i, e.leg_fill.quantity.value));
    } else {
        put_price(into, tag::last_px, i, e.capture.price);
        into.put(tag::last_qty, units_of(i, e.capture.quantity.value));
    }
    put_trade_date(e, into);
    put_transact_time(into, e);
    into.put(tag::multi_leg_reporting_type, is_leg ? 2 : 1);
    into.put(tag::no_sides, 1);
    put_side(into, e);
    // The group's fields have an order, and it is another one in the service packs.
    const std::uint32_t account = domain::account_of(e).value;
    if (version == fix_version::v5_0_sp) into.put(tag::account, account);
    put_order_id(into, is_leg ? e.leg_fill.order : e.capture.order);
    if (version != fix_version::v5_0_sp) into.put(tag::account, account);
}

}  // namespace corro::fix_gateway
