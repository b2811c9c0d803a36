// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/quote_answers.hpp"

#include <optional>

#include "domain/private_event.hpp"
#include "domain/reject_reason.hpp"
#include "fix_gateway/answer_fields.hpp"

namespace corro::fix_gateway {
namespace {

using domain::event_kind;
using domain::reject_reason;

bool is_refusal(const detailed_answer& a) noexcept {
    return a.event.kind == event_kind::order_rejected;
}

/// QuoteStatus (297). FIX 4.2 has 0 to 5.
unsigned quote_status(const detailed_answer& a, fix_version version) noexcept {
    constexpr unsigned accepted = 0;
    constexpr unsigned cancelled_for_symbol = 1;
    constexpr unsigned cancelled_all = 4;
    constexpr unsigned rejected = 5;
    constexpr unsigned not_found = 9;
    if (is_refusal(a)) {
        const bool is_not_found = a.event.reason == reject_reason::nothing_to_cancel;
        return is_not_found && version != fix_version::v4_2 ? not_found : rejected;
    }
    const auto quote = quote_of(a, a.details.name);
    if (quote && quote->is(quote_request::cancel)) return cancelled_for_symbol;
    if (quote && quote->is(quote_request::cancel_all)) return cancelled_all;
    return accepted;
}

/// QuoteRejectReason (300), QuoteEntryRejectReason (368). FIX 4.2 has no number for others.
std::optional<unsigned> quote_reject_reason(reject_reason reason, fix_version version) noexcept {
    switch (reason) {
        case reject_reason::unknown_instrument: return 1;
        case reject_reason::instrument_closed:
        case reject_reason::instrument_halted:
        case reject_reason::not_in_this_phase: return 2;
        case reject_reason::order_size_limit:
        case reject_reason::notional_limit:
        case reject_reason::open_orders_limit:
        case reject_reason::position_limit: return 3;
        case reject_reason::nothing_to_cancel: return 5;
        case reject_reason::quote_crossed: return 7;
        case reject_reason::price_off_tick:
        case reject_reason::price_outside_band:
        case reject_reason::price_outside_dynamic_band:
        case reject_reason::invalid_price: return 8;
        default: break;
    }
    return version == fix_version::v4_2 ? std::nullopt : std::optional(99U);
}

void put_reject_reason(const detailed_answer& a, std::uint32_t tag, fix_version version,
                       fix::message_writer& into) noexcept {
    if (!is_refusal(a)) return;
    if (const auto reason = quote_reject_reason(a.event.reason, version)) into.put(tag, *reason);
}

void put_text(const detailed_answer& a, fix::message_writer& into) noexcept {
    if (a.event.reason != reject_reason::none) into.put(tag::text, domain::to_string(a.event.reason));
}

void put_quote_id(const detailed_answer& a, fix::message_writer& into) noexcept {
    put_name_text(into, tag::quote_id, a, a.details.name);
}

void put_open_sizes(const detailed_answer& a, const domain::instrument& i, fix::message_writer& into) noexcept {
    if (a.event.kind != event_kind::quote_entered) return;
    into.put(tag::bid_size, units_of(i, a.event.quote.bid_quantity.value));
    into.put(tag::offer_size, units_of(i, a.event.quote.ask_quantity.value));
}

}  // namespace

void write_quote_status(const detailed_answer& a, const domain::instrument& i, fix_version version,
                        fix::message_writer& into) noexcept {
    const bool is_before_4_4 = version == fix_version::v4_2;
    put_quote_id(a, into);
    into.put(tag::quote_status, quote_status(a, version));
    put_text(a, into);
    if (is_before_4_4) return put_reject_reason(a, tag::quote_reject_reason, version, into);
    into.put(tag::account, domain::account_of(a.event).value);
    put_symbol(into, i);
    put_transact_time(into, a.event);
    put_open_sizes(a, i, into);
    if (version == fix_version::v5_0_sp) put_reject_reason(a, tag::quote_reject_reason, version, into);
}

void write_mass_quote_acknowledgement(const detailed_answer& a, const domain::instrument& i, fix_version version,
                                      fix::message_writer& into) noexcept {
    const bool is_before_4_4 = version == fix_version::v4_2;
    const quote_name_parts quote = quote_of(a, a.details.name).value_or(quote_name_parts{});
    put_quote_id(a, into);
    into.put(tag::quote_status, quote_status(a, version));
    put_text(a, into);
    put_reject_reason(a, tag::quote_reject_reason, version, into);
    if (!is_before_4_4) into.put(tag::account, domain::account_of(a.event).value);
    into.put(tag::no_quote_sets, 1);
    into.put(tag::quote_set_id, quote.set);
    into.put(tag::tot_no_quote_entries, 1);
    into.put(tag::no_quote_entries, 1);
    into.put(tag::quote_entry_id, quote.entry);
    put_symbol(into, i);
    if (!is_before_4_4) put_open_sizes(a, i, into);
    put_reject_reason(a, tag::quote_entry_reject_reason, version, into);
}

void write_protection_report(const detailed_answer& a, fix::message_writer& into) noexcept {
    constexpr unsigned changed = 0;
    constexpr unsigned reached = 1;
    constexpr unsigned refused = 2;
    const domain::event& e = a.event;
    into.put(tag::account, domain::account_of(e).value);
    if (const std::uint32_t request = domain::request_of(e); request != 0) into.put(tag::ref_seq_num, request);
    put_text(a, into);
    put_transact_time(into, e);
    if (is_refusal(a)) return into.put(tag::protection_status, refused);
    into.put(tag::protection_status, e.reason == reject_reason::quote_protection ? reached : changed);
    into.put(tag::protection_fills_max, e.protection.fills_max);
    into.put(tag::protection_lots_max, e.protection.quantity_max.value);
    into.put(tag::protection_window, e.protection.window_ms);
    into.put(tag::protection_fills, e.protection.fills);
    into.put(tag::protection_lots, e.protection.quantity.value);
}

}  // namespace corro::fix_gateway
