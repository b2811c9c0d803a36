// SPDX-License-Identifier: Apache-2.0
// What is wrong with the text of an address, in words for the person who wrote it.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

namespace corro::node {

/// @return  A sentence about a text that is not a numeric address with a port; empty if it is one.
[[nodiscard]] std::string address_problem(std::string_view text);

/// The same for a link, whose address may also be a path or a name such as "@corro".
[[nodiscard]] std::string link_address_problem(std::string_view text);

}  // namespace corro::node
