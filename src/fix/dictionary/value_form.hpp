// SPDX-License-Identifier: Apache-2.0
// Whether a value has the form of its field's data type.
//
// Threads: any; pure functions. Cost: no allocation; one pass over the value.
// Source:  FIX 5.0 SP2, volume 1, "FIX data types".
#pragma once

#include <string_view>

#include "fix/dictionary/dictionary.hpp"

namespace corro::fix {

/// @param value  Not empty.
[[nodiscard]] bool has_form(value_kind kind, std::string_view value) noexcept;

/// Whether the value is one of those that the field lists; with several words, each of them.
/// @pre field.has_values
[[nodiscard]] bool is_listed_value(const dictionary& of, const field_definition& field,
                                   std::string_view value) noexcept;

}  // namespace corro::fix
