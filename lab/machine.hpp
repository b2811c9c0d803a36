// SPDX-License-Identifier: Apache-2.0
// Facts about a measurement's system: machine, kernel, compiler, flags, versions of the peers.
//
// Threads: any.
#pragma once

#include <map>
#include <string>

namespace corro::lab {

/// Returns names with their texts, without unknown facts.
[[nodiscard]] std::map<std::string, std::string> machine_facts();

}  // namespace corro::lab
