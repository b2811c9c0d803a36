// SPDX-License-Identifier: Apache-2.0
// A moment in the venue's past: after a command, or at a time.
//
// Units: nanoseconds since the epoch, UTC. Cost: `format_time` allocates its text.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "domain/types.hpp"

namespace corro::history {

/// The state after the command of a sequence number; or, when that is 0 and `is_time` is set, after the last command
/// that is not later than a time.
struct moment {
    moment() = default;
    explicit moment(domain::sequence_number behind) : sequence(behind) {}
    explicit moment(domain::time_ns at) : time(at), is_time(true) {}

    domain::sequence_number sequence{};
    domain::time_ns time{};
    bool is_time = false;

    /// Whether the moment includes a command with this number and time.
    [[nodiscard]] bool includes(domain::sequence_number number, domain::time_ns at) const noexcept {
        return is_time ? at <= time : number <= sequence;
    }
    friend bool operator==(const moment&, const moment&) = default;
};

/// The moment after all commands.
[[nodiscard]] moment latest() noexcept;

/// Reads a sequence number ("125000") or a time in UTC as ISO 8601 writes it: "2026-11-22T09:30:00", with up to nine
/// decimals of a second, with or without a Z at the end; the seconds may be missing.
/// @return  The moment, or an error as a sentence.
[[nodiscard]] std::expected<moment, std::string> parse_moment(std::string_view text);

/// "2026-11-22T09:30:00.123456789Z": always nine decimals, so that texts sort like times.
[[nodiscard]] std::string format_time(domain::time_ns time);

}  // namespace corro::history
