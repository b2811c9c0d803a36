// SPDX-License-Identifier: Apache-2.0
// Payloads of events as five 64-bit words, as they are in memory.
//
// An event is written in whole words. That takes fewer stores than fields, and a wide load right afterwards is served
// from the store buffer; after two narrow stores it would have to wait for the cache.
//
// Not part of the facility's interface.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "domain/event.hpp"

namespace corro::facility {

static_assert(std::endian::native == std::endian::little, "words are put together with the first field lowest");

using payload_words = std::array<std::uint64_t, 5>;

/// Two fields of 32 bits that lie side by side.
[[nodiscard]] constexpr std::uint64_t word_of(std::uint32_t first, std::uint32_t second) noexcept {
    return first | (std::uint64_t{second} << 32);
}
[[nodiscard]] constexpr std::uint64_t word_of(domain::price_ticks price) noexcept {
    return static_cast<std::uint64_t>(price.value);
}

[[nodiscard]] constexpr payload_words words_of(const domain::private_order& p) noexcept {
    return {p.order.value, p.client_order.value, word_of(p.price), word_of(p.quantity.value, p.account.value),
            word_of(p.session.value, p.request)};
}
[[nodiscard]] constexpr payload_words words_of(const domain::execution& p) noexcept {
    return {p.order.value, p.client_order.value, word_of(p.price), word_of(p.quantity.value, p.leaves.value),
            word_of(p.account.value, p.session.value)};
}
[[nodiscard]] constexpr payload_words words_of(const domain::capture& p) noexcept {
    return {p.trade.value, p.order.value, word_of(p.price), word_of(p.quantity.value, p.account.value),
            word_of(p.session.value, p.reserved)};
}
[[nodiscard]] constexpr payload_words words_of(const domain::leg_fill& p) noexcept {
    return {p.trade.value, p.order.value, static_cast<std::uint64_t>(p.price),
            word_of(p.quantity.value, p.account.value), word_of(p.session.value, p.reserved)};
}
[[nodiscard]] constexpr payload_words words_of(const domain::named_request& p) noexcept {
    return {p.order.value, p.client_order.value, p.name.value, word_of(p.account.value, p.session.value),
            word_of(p.request, p.kind)};
}
[[nodiscard]] constexpr payload_words words_of(const domain::public_order& p) noexcept {
    return {p.order.value, word_of(p.price), word_of(p.quantity.value, p.change.value), 0, 0};
}
[[nodiscard]] constexpr payload_words words_of(const domain::level& p) noexcept {
    return {word_of(p.price), p.quantity.value, p.orders_count, 0, 0};
}
[[nodiscard]] constexpr payload_words words_of(const domain::top& p) noexcept {
    return {word_of(p.bid_price), p.bid_quantity.value, word_of(p.ask_price), p.ask_quantity.value, 0};
}
[[nodiscard]] constexpr payload_words words_of(const domain::tape_trade& p) noexcept {
    return {p.trade.value, word_of(p.price), word_of(p.quantity.value, 0), 0, 0};
}
[[nodiscard]] constexpr payload_words words_of(const domain::price_summary& p) noexcept {
    return {word_of(p.last), word_of(p.high), word_of(p.low), word_of(p.open), 0};
}
[[nodiscard]] constexpr payload_words words_of(const domain::volume_summary& p) noexcept {
    return {p.volume.value, static_cast<std::uint64_t>(p.turnover), p.open_interest.value, 0, 0};
}

[[nodiscard]] constexpr payload_words words_of(const domain::auction_state& p) noexcept {
    return {word_of(p.price), p.volume.value, static_cast<std::uint64_t>(p.imbalance), 0, 0};
}
[[nodiscard]] constexpr payload_words words_of(const domain::settlement& p) noexcept {
    return {word_of(p.price), p.open_interest.value, 0, 0, 0};
}

// The third word of an event's header is the sum of a part that many events share and a part for its kind.

[[nodiscard]] constexpr std::uint64_t scope_word(domain::instrument_id instrument, domain::side side) noexcept {
    return instrument.value | (static_cast<std::uint64_t>(side) << 40);
}
[[nodiscard]] constexpr std::uint64_t kind_word(domain::event_kind kind,
                                                domain::reject_reason reason = domain::reject_reason::none,
                                                std::uint8_t flags = 0) noexcept {
    return (static_cast<std::uint64_t>(kind) << 32) | (static_cast<std::uint64_t>(reason) << 48) |
           (std::uint64_t{flags} << 56);
}

}  // namespace corro::facility
