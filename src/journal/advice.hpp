// SPDX-License-Identifier: Apache-2.0
// Advice about journal errors, to print under the error.
//
// Threads: any. Cost: none; the texts are constants.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "journal/errors.hpp"

namespace corro::journal {

/// One or two sentences to follow the error's own text; empty when there is no advice.
[[nodiscard]] std::string_view advice_for(std::error_code code) noexcept;

/// The error's text, and the advice on a line of its own.
[[nodiscard]] std::string with_advice(const problem& p);

}  // namespace corro::journal
