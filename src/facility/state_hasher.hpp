// SPDX-License-Identifier: Apache-2.0
// Folds a state into one number, the same way for the facility and for its oracle.
#pragma once

#include <cstdint>

#include "base/hash.hpp"

namespace corro::facility {

class state_hasher {
 public:
    /// One multiplication: the differential test hashes whole books after every command.
    void add(std::uint64_t value) noexcept {
        state_ = (state_ ^ value) * 0x9e3779b97f4a7c15ULL;
        state_ ^= state_ >> 32;
    }
    void add(std::int64_t value) noexcept { add(static_cast<std::uint64_t>(value)); }
    [[nodiscard]] std::uint64_t value() const noexcept { return base::mix64(state_); }

 private:
    std::uint64_t state_ = 0x636f72726f;  // "corro"
};

}  // namespace corro::facility
