// SPDX-License-Identifier: Apache-2.0
// Reads the commands of a scenario from its lines.
#pragma once

#include <sstream>
#include <string>

#include "domain/command.hpp"
#include "rule_book/rule_names.hpp"

namespace corro::rule_book {

/// Reads a client's command. `c` has the account already; `words` follow the verb. False when it is not understood.
[[nodiscard]] bool read_client_command(const std::string& verb, std::istringstream& words, domain::command& c,
                                       rule_names& names);

/// Reads an operator's command. False when it is not understood.
[[nodiscard]] bool read_operator_command(const std::string& verb, std::istringstream& words, domain::command& c);

}  // namespace corro::rule_book
