// What the numbers were measured on: machine, kernel, compiler, flags, versions of the peers.
//
// Threads: any.
#pragma once

#include <map>
#include <string>

namespace corro::lab {

/// Names and their texts. What cannot be found out is left out.
[[nodiscard]] std::map<std::string, std::string> machine_facts();

}  // namespace corro::lab
