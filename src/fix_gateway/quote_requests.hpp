// SPDX-License-Identifier: Apache-2.0
// The requests of market makers: quotes, and the limits of what these trade.
//
// Threads: one context. Cost: no allocation.
// Source:  docs/spec/fix_quotes.md.
#pragma once

#include "domain/command.hpp"
#include "fix_gateway/request_reader.hpp"

namespace corro::fix_gateway {

/// Quote (S).
void read_quote(request_reader& r, domain::command& c) noexcept;
/// SetProtection (U1).
void read_set_protection(request_reader& r, domain::command& c) noexcept;
/// ResetProtection (U2).
void read_reset_protection(domain::command& c) noexcept;

}  // namespace corro::fix_gateway
