// SPDX-License-Identifier: Apache-2.0
// The instrument of a NewOrderMultileg (AB): a strategy that the venue has defined.
//
// Threads: one context. Cost: one look at each instrument when the message has no Symbol (55); no allocation.
// Source:  docs/spec/fix_orders.md, "NewOrderMultileg (AB)".
#pragma once

#include "fix/codec/field_index.hpp"
#include "fix_gateway/request_reader.hpp"
#include "fix_gateway/symbols.hpp"

namespace corro::fix_gateway {

/// Symbol (55), or without it the legs (555, 600, 623, 624). An unknown strategy becomes the verdict.
void read_strategy(const fix::field_index& message, symbols& instruments, request_reader& r) noexcept;

}  // namespace corro::fix_gateway
