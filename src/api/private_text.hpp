// SPDX-License-Identifier: Apache-2.0
// Orders, trades and positions of an account as JSON.
//
// Threads: any. Source: docs/spec/api.md.
#pragma once

#include <optional>

#include "api/errors.hpp"
#include "api/json_writer.hpp"
#include "api/own_orders.hpp"
#include "domain/instrument.hpp"
#include "domain/order_instructions.hpp"
#include "domain/reject_reason.hpp"

namespace corro::api {

/// The name of a time in force; nothing for one that the API does not have.
[[nodiscard]] std::string_view lasting_name(domain::time_in_force lasts) noexcept;
[[nodiscard]] std::optional<domain::time_in_force> lasting_of(std::string_view name) noexcept;

void write_order(json_writer& out, const own_order& order, const domain::instrument& in);
void write_own_trade(json_writer& out, const own_trade& trade, const domain::instrument& in);
/// The limits of an account's quotes.
void write_protection(json_writer& out, const domain::protection& limits);
void write_position(json_writer& out, const own_position& position, const domain::instrument& in);

/// The error that stands for a reason of the venue; `data.reason` is the reason's own name.
[[nodiscard]] api_error error_of(domain::reject_reason reason);

}  // namespace corro::api
