// Random numbers for challenges, from the operating system's generator.
#pragma once

#include <array>
#include <cstddef>

namespace corro::gateway {

/// Thirty-two bytes that nobody can predict. Aborts when the generator fails: without it no logon is safe.
[[nodiscard]] std::array<std::byte, 32> make_nonce() noexcept;

}  // namespace corro::gateway
