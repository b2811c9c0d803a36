// SPDX-License-Identifier: Apache-2.0
// When a session is open: each day, on some days, or from one day of the week to another.
//
// Outside of its schedule a session takes no Logon and makes none; at the end of a period it logs out; and at the
// beginning of the next one its numbers begin at 1.
//
//     fix::session_schedule schedule;
//     schedule.zone = *fix::time_zone::parse("EST5EDT,M3.2.0,M11.1.0");  // New York
//     schedule.begins = 18h;                                             // of the day before
//     schedule.ends = 17h;
//     settings.schedule = schedule;
//
// A time zone is a rule in the form of POSIX, because the standard library has no zones with every compiler. It holds
// for all years: where a country changes its rule, a configuration has to change too.
//
// Units:   times are nanoseconds of the wall clock since 1970, UTC.
// Threads: any; pure functions. Cost: no allocation.
// Source:  POSIX.1-2017, base definitions, 8.3, "TZ"; FIX session layer, "Session times".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corro::fix {

/// A zone with a fixed offset from UTC, or with summer time by a rule.
class time_zone {
 public:
    /// UTC.
    time_zone() = default;

    /// Reads "UTC0", "JST-9", "<-03>3", "CET-1CEST,M3.5.0,M10.5.0/3": a name and what is to be added to the local time
    /// for UTC; with summer time its name, and the month, week and day of the week on which it begins and ends. Days as
    /// `Jn` and `n` are not supported.
    [[nodiscard]] static std::optional<time_zone> parse(std::string_view rule) noexcept;

    /// Seconds that local time is ahead of UTC at a moment, in seconds since 1970, UTC.
    [[nodiscard]] std::int64_t offset_at(std::int64_t utc) const noexcept;
    /// The moment of a local time, in seconds since 1970 of the local clock. Of two the first; if a change leaves the
    /// local time out, the moment that is as long behind the change.
    [[nodiscard]] std::int64_t utc_of(std::int64_t local) const noexcept;

 private:
    /// A change of the clock in each year.
    struct change {
        std::uint8_t month = 1;     ///< 1 to 12
        std::uint8_t week = 1;      ///< 1 to 4; 5 is the last one
        std::uint8_t weekday = 0;   ///< 0 is Sunday
        std::int32_t time = 7'200;  ///< seconds after midnight, local time before the change
    };

    [[nodiscard]] static std::int64_t local_time_of(const change& which, std::int32_t year) noexcept;
    [[nodiscard]] static bool read_change(std::string_view* from, change* into) noexcept;

    std::int32_t offset_ = 0;         ///< of local time, ahead of UTC
    std::int32_t summer_offset_ = 0;  ///< the same as `offset_` without summer time
    change to_summer_;
    change to_winter_;
};

/// The time between two resets of the numbers.
struct session_period {
    std::int64_t begin = 0;  ///< the first moment
    std::int64_t end = 0;    ///< the first moment behind it

    friend bool operator==(const session_period&, const session_period&) = default;
};

/// The periods in which a session is open.
struct session_schedule {
    time_zone zone;                  ///< of the local times
    std::chrono::seconds begins{0};  ///< after midnight, local time; below 24 hours
    std::chrono::seconds ends{0};    ///< the same; not later than `begins`: on the next day
    /// Both: one period a week, from `begins` on the first day to `ends` on the last one.
    std::optional<std::chrono::weekday> first_day;
    std::optional<std::chrono::weekday> last_day;  ///< the same
    /// Without them: the days on which a period begins, 1 for Sunday, 2 for Monday, 64 for Saturday. At least one.
    std::uint8_t days = 0x7f;

    /// The period that contains a moment; nothing when the session is closed then.
    [[nodiscard]] std::optional<session_period> at(std::int64_t wall) const noexcept;
    /// The beginning of the first period that begins later.
    [[nodiscard]] std::int64_t next_begin(std::int64_t wall) const noexcept;

 private:
    [[nodiscard]] std::optional<session_period> beginning_on(std::int64_t day) const noexcept;
    [[nodiscard]] std::int64_t local_day(std::int64_t wall) const noexcept;
};

}  // namespace corro::fix
