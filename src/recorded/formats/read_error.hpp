// SPDX-License-Identifier: Apache-2.0
// The position and the reason of a fault in recorded order flow.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>

namespace corro::recorded {

/// A fault in recorded input. A decoder reports the same fault in all later calls.
struct read_error {
    std::error_code code;
    /// Byte of the (unpacked) input at which the faulty field, record or line begins, from 0.
    std::uint64_t offset = 0;
    /// Line, from 1; 0 where the format has no lines.
    std::uint64_t line = 0;
    /// Character in the line, from 1; 0 where the format has no lines.
    std::uint32_t column = 0;

    friend bool operator==(const read_error&, const read_error&) = default;
};

/// For people: "line 12, column 7 (byte 301): a field holds what its definition does not allow".
[[nodiscard]] std::string to_string(const read_error& error);

}  // namespace corro::recorded
