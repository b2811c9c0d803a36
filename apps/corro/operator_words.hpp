// What the venue tells an operator, as lines for a person.
#pragma once

#include <string>
#include <string_view>

#include "client/order_session.hpp"

namespace corro::app {

/// @param symbol  Of the instrument in a status that says the phase of one.
[[nodiscard]] std::string in_words(const client::admin_command& told, std::string_view symbol);

}  // namespace corro::app
