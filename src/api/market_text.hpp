// SPDX-License-Identifier: Apache-2.0
// Instruments, tickers, books and trades as JSON.
//
// Units:   prices and amounts as decimals in units, exactly; times in milliseconds.
// Threads: any. Source: docs/spec/api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/json_writer.hpp"
#include "api/market_view.hpp"
#include "domain/instrument.hpp"

namespace corro::api {

/// A number of lots as an amount; the largest number of 64 bits when it is larger.
[[nodiscard]] std::uint64_t amount_of(const domain::instrument& i, std::uint64_t lots) noexcept;
/// "future", "option", "spread" or "spot".
[[nodiscard]] std::string_view kind_name(domain::instrument_kind kind) noexcept;

/// A price of the instrument, or null for no_price.
void write_price(json_writer& out, const domain::instrument& i, domain::price_ticks price);
/// @param currency  That prices are in.
void write_instrument(json_writer& out, const market& of, std::string_view currency);
/// The members of a ticker, inside an object.
void write_ticker_members(json_writer& out, const market& of);
/// A list of [price, amount], best first.
void write_levels(json_writer& out, const market& of, domain::side side, std::size_t depth);
void write_trade(json_writer& out, const domain::instrument& i, const tape_entry& trade);

}  // namespace corro::api
