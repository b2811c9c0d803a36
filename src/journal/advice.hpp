// What to do about a journal that cannot be used, for the operator to read under the error.
//
// Threads: any. Cost: none; the texts are constants.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "journal/errors.hpp"

namespace corro::journal {

/// One or two sentences that follow the error's own; empty where that says it all.
[[nodiscard]] std::string_view advice_for(std::error_code code) noexcept;

/// What is wrong, and on a line of its own what to do about it.
[[nodiscard]] std::string with_advice(const problem& p);

}  // namespace corro::journal
