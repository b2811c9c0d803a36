// SPDX-License-Identifier: Apache-2.0
// The names by which a server may be asked.
//
// A page of another site can let its own name lead to this machine (DNS rebinding). Its browser then takes both for one
// site, so the check of the origin passes. The Host field still contains the other site's name.
//
// Threads: any; a pure function.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace corro::http {

/// Whether a request may have this authority (`request_head::authority`): an address, "localhost", or one of `names`,
/// each with any port or without one. No authority at all passes, because browsers always send one.
///
/// @param names  Without port, such as "venue.example"; in any case. "*" for all.
[[nodiscard]] bool host_may_be(std::string_view authority, std::span<const std::string> names);

}  // namespace corro::http
