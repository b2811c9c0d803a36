// SPDX-License-Identifier: Apache-2.0
// What a client needs to log on, from the venue's configuration: for programs that have the file at hand.
//
// Threads: any.
#pragma once

#include <string_view>

#include "client/order_session.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::node {

/// The number and the key of the account with this name.
/// @throws configuration_error for an unknown account; it lists the accounts.
[[nodiscard]] client::credentials credentials_of(const configuration& c, std::string_view account);

}  // namespace corro::node
