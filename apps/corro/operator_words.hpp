// SPDX-License-Identifier: Apache-2.0
// Formats admin replies as text.
#pragma once

#include <string>
#include <string_view>

#include "client/order_session.hpp"

namespace corro::app {

/// @param symbol  The instrument's symbol, for a status with an instrument's phase.
[[nodiscard]] std::string in_words(const client::admin_command& told, std::string_view symbol);

}  // namespace corro::app
