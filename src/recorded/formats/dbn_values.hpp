// SPDX-License-Identifier: Apache-2.0
// Converts DBN's "no value" to the domain's.
#pragma once

#include <cstdint>

#include "base/byte_order.hpp"
#include "domain/instrument.hpp"
#include "recorded/formats/dbn_definition.hpp"

namespace corro::recorded::dbn {

/// Whether a time fits nanoseconds in 63 bits, or is undefined.
[[nodiscard]] inline bool is_time(std::uint64_t raw) noexcept {
    return raw <= INT64_MAX || raw == UINT64_MAX;
}

/// The time at `at`, for which is_time() holds.
[[nodiscard]] inline domain::time_ns time_at(const std::byte* at) noexcept {
    const auto raw = base::load_le<std::uint64_t>(at);
    return raw == UINT64_MAX ? no_time : domain::time_ns{static_cast<std::int64_t>(raw)};
}

[[nodiscard]] inline domain::price_nano price_at(const std::byte* at) noexcept {
    const auto raw = base::load_le<std::int64_t>(at);
    return raw == INT64_MAX ? domain::no_price_nano : domain::price_nano{raw};
}

[[nodiscard]] inline bool is_side(std::byte raw) noexcept {
    return raw == std::byte{'A'} || raw == std::byte{'B'} || raw == std::byte{'N'};
}

[[nodiscard]] inline record_header header_at(const std::byte* at) noexcept {
    return {base::load_le<std::uint16_t>(at + 2), base::load_le<std::uint32_t>(at + 4), time_at(at + 8)};
}

}  // namespace corro::recorded::dbn
