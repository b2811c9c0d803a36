// SPDX-License-Identifier: Apache-2.0
// Assertions that stay on in every build.
//
// CORRO_ASSERT states what only a bug in this process can break. It never judges what a peer, a file or the clock
// decides.
//
// Cost: one predictable branch; the failure path is cold and out of line.
#pragma once

namespace corro::base {

/// Prints the failed expression with its place to standard error and aborts.
[[noreturn, gnu::cold, gnu::noinline]] void assertion_failed(const char* expression, const char* file, int line,
                                                             const char* message) noexcept;

}  // namespace corro::base

/// Aborts with a message when `condition` is false. The optional second argument is a string literal with the message.
#define CORRO_ASSERT(condition, ...)                     \
    (static_cast<bool>(condition) ? static_cast<void>(0) \
                                  : ::corro::base::assertion_failed(#condition, __FILE__, __LINE__, "" __VA_ARGS__))
