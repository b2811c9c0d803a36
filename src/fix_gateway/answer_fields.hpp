// SPDX-License-Identifier: Apache-2.0
// Fields that several messages of the venue have.
//
// Threads: any. Cost: no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/long_name.hpp"
#include "domain/private_event.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/codec/values.hpp"
#include "fix_gateway/quote_names.hpp"
#include "fix_gateway/tags.hpp"
#include "gateway/answer_log.hpp"

namespace corro::fix_gateway {

using detailed_answer = gateway::answer_log::detailed_answer;

inline constexpr std::uint8_t nano_digits = 9;
inline constexpr std::string_view no_order = "NONE";  ///< as OrderID (37)

/// Lots as units of quantity.
inline std::uint64_t units_of(const domain::instrument& i, std::uint64_t lots) noexcept {
    return lots * i.lot_size;
}

inline void put_price(fix::message_writer& into, std::uint32_t tag, const domain::instrument& i,
                      domain::price_ticks price) noexcept {
    into.put(tag, fix::shortened({domain::to_nano(i, price).value, nano_digits}));
}

inline void put_order_id(fix::message_writer& into, domain::order_id order) noexcept {
    if (order.value == 0) {
        into.put(tag::order_id, no_order);
    } else {
        into.put(tag::order_id, order.value);
    }
}

inline void put_symbol(fix::message_writer& into, const domain::instrument& i) noexcept {
    into.put(tag::symbol, i.id.value == 0 ? std::string_view("[N/A]") : i.name.view());
}

/// The side of the event's header.
inline void put_side(fix::message_writer& into, const domain::event& e) noexcept {
    into.put(tag::side, e.side == domain::side::buy ? '1' : '2');
}

inline void put_transact_time(fix::message_writer& into, const domain::event& e) noexcept {
    into.put_time(tag::transact_time, e.time.value, fix::time_precision::nanoseconds);
}

inline bool answers_request(const detailed_answer& a, domain::command_kind kind) noexcept {
    return a.details.request_kind == static_cast<std::uint8_t>(kind);
}

/// Of a quote of a FIX session. Names of other protocols mean nothing here.
inline std::optional<quote_name_parts> quote_of(const detailed_answer& a, domain::client_order_id name) noexcept {
    return a.details.is_foreign != 0 ? std::nullopt : parts_of(name);
}

/// The text that a long name stood for when the answer was given; empty if it was not known.
inline std::string_view long_text_of(const detailed_answer& a, domain::client_order_id name) noexcept {
    if (a.details.texts == 0 || a.texts == nullptr) return {};
    const std::uint8_t bit = name == a.details.name       ? gateway::text_of::name
                             : name == a.details.of_order ? gateway::text_of::of_order
                                                          : gateway::text_of::order_of_event;
    return (a.details.texts & bit) != 0 ? a.texts->find(domain::account_of(a.event), name) : std::string_view();
}

/// A field with the text of a name, of an order or of a quote.
inline void put_name_text(fix::message_writer& into, std::uint32_t tag, const detailed_answer& a,
                          domain::client_order_id name) noexcept {
    if (domain::is_long_name(name)) [[unlikely]] {
        if (const std::string_view text = long_text_of(a, name); !text.empty()) return into.put(tag, text);
    }
    const auto quote = quote_of(a, name);
    into.put(tag, (quote && quote->id != 0 ? text_of_quote(quote->id) : text_of(name)).view());
}

}  // namespace corro::fix_gateway
