// The commands of a scenario, out of the words of its lines.
#pragma once

#include <sstream>
#include <string>

#include "domain/command.hpp"
#include "rule_book/rule_names.hpp"

namespace corro::rule_book {

/// What a client does. `c` names his account already; `words` stand behind the verb. False: it is not understood.
[[nodiscard]] bool read_client_command(const std::string& verb, std::istringstream& words, domain::command& c,
                                       rule_names& names);

/// What the operator does. False: it is not understood.
[[nodiscard]] bool read_operator_command(const std::string& verb, std::istringstream& words, domain::command& c);

}  // namespace corro::rule_book
