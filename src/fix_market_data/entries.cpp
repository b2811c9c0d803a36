// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/entries.hpp"

#include <array>
#include <cstddef>

#include "fix/codec/values.hpp"
#include "fix_market_data/tags.hpp"

namespace corro::fix_market_data {
namespace {

constexpr std::uint8_t nano_digits = 9;

/// MDEntryDate (272) and MDEntryTime (273), in milliseconds, which all versions have.
void put_moment(std::int64_t time, fix::message_writer& into) noexcept {
    std::array<char, fix::timestamp_format::bytes_max> text;
    const std::size_t size = fix::timestamp_format().write(time, fix::time_precision::milliseconds, text.data());
    const std::string_view all(text.data(), size);
    constexpr std::size_t date_bytes = 8;
    into.put(tag::md_entry_date, all.substr(0, date_bytes));
    into.put(tag::md_entry_time, all.substr(date_bytes + 1));
}

void put_values(const entry& e, fix_version version, fix::message_writer& into) noexcept {
    if (e.price) into.put(tag::md_entry_px, fix::shortened({*e.price, nano_digits}));
    if (e.size) into.put(tag::md_entry_size, *e.size);
    if (e.time != 0) put_moment(e.time, into);
    if (e.is_implied) into.put(tag::quote_condition, 'K');
    if (e.condition != '\0') into.put(tag::trade_condition, e.condition);
    if (e.position != 0) into.put(tag::md_entry_position_no, e.position);
    if (e.orders_count != 0) into.put(tag::number_of_orders, e.orders_count);
    if (e.position != 0 && is_since_5_0(version)) into.put(tag::md_price_level, e.position);
    if (e.aggressor != '\0') into.put(tag::aggressor_side, e.aggressor);
}

}  // namespace

void write_snapshot(const entry_context& of, std::span<const entry> entries, fix::message_writer& into) noexcept {
    into.put(tag::md_req_id, of.id);
    into.put(tag::symbol, of.symbol);
    into.put(tag::no_md_entries, entries.size());
    for (const entry& each : entries) {
        into.put(tag::md_entry_type, letter_of(each.type));
        if (each.trade != 0 && is_since_5_0(of.version)) into.put(tag::md_entry_id, each.trade);
        put_values(each, of.version, into);
    }
}

void write_changes(const entry_context& of, std::span<const entry> entries, std::uint64_t first_number,
                   fix::message_writer& into) noexcept {
    into.put(tag::md_req_id, of.id);
    into.put(tag::no_md_entries, entries.size());
    std::uint64_t number = first_number;
    for (const entry& each : entries) {
        into.put(tag::md_update_action, static_cast<char>(each.action));
        into.put(tag::md_entry_type, letter_of(each.type));
        if (each.trade != 0) into.put(tag::md_entry_id, each.trade);
        into.put(tag::symbol, of.symbol);
        put_values(each, of.version, into);
        if (is_since_5_0(of.version)) into.put(tag::rpt_seq, number);
        ++number;
    }
}

void write_refusal(std::string_view id, refusal_reason reason, std::string_view text,
                   fix::message_writer& into) noexcept {
    into.put(tag::md_req_id, id);
    if (reason != refusal_reason::none) into.put(tag::md_req_rej_reason, static_cast<char>(reason));
    into.put(tag::text, text);
}

}  // namespace corro::fix_market_data
