// SPDX-License-Identifier: Apache-2.0
#include "fix/session/schedule.hpp"

#include <algorithm>
#include <limits>

namespace corro::fix {
namespace {

constexpr std::int64_t day_seconds = 86'400;
constexpr std::int64_t nanoseconds_in_a_second = 1'000'000'000;

std::int64_t floor_of(std::int64_t value, std::int64_t step) noexcept {
    return value / step - (value % step < 0 ? 1 : 0);
}

bool skip(std::string_view* from, char c) noexcept {
    if (!from->starts_with(c)) return false;
    from->remove_prefix(1);
    return true;
}

/// Digits, at most three of them.
bool read_number(std::string_view* from, std::int32_t most, std::int32_t* into) noexcept {
    std::size_t size = 0;
    std::int32_t value = 0;
    while (size < from->size() && size < 3 && (*from)[size] >= '0' && (*from)[size] <= '9') {
        value = 10 * value + ((*from)[size++] - '0');
    }
    from->remove_prefix(size);
    *into = value;
    return size != 0 && value <= most;
}

/// [+-]hours[:minutes[:seconds]]
bool read_time(std::string_view* from, std::int32_t hours_max, std::int32_t* into) noexcept {
    const bool is_negative = skip(from, '-');
    if (!is_negative) static_cast<void>(skip(from, '+'));
    std::int32_t hours = 0;
    std::int32_t minutes = 0;
    std::int32_t seconds = 0;
    if (!read_number(from, hours_max, &hours)) return false;
    if (skip(from, ':')) {
        if (!read_number(from, 59, &minutes)) return false;
        if (skip(from, ':') && !read_number(from, 59, &seconds)) return false;
    }
    *into = (is_negative ? -1 : 1) * (3'600 * hours + 60 * minutes + seconds);
    return true;
}

/// Letters, or anything between < and >; three characters or more.
bool read_name(std::string_view* from) noexcept {
    std::size_t size = 0;
    if (skip(from, '<')) {
        size = from->find('>');
        if (size == std::string_view::npos) return false;
        from->remove_prefix(size + 1);
    } else {
        const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
        while (size < from->size() && is_letter((*from)[size])) ++size;
        from->remove_prefix(size);
    }
    return size >= 3;
}

}  // namespace

// Mmonth.week.day[/time]
bool time_zone::read_change(std::string_view* from, change* into) noexcept {
    std::int32_t month = 0;
    std::int32_t week = 0;
    std::int32_t weekday = 0;
    if (!skip(from, 'M') || !read_number(from, 12, &month) || !skip(from, '.') || !read_number(from, 5, &week) ||
        !skip(from, '.') || !read_number(from, 6, &weekday) || month == 0 || week == 0) {
        return false;
    }
    into->month = static_cast<std::uint8_t>(month);
    into->week = static_cast<std::uint8_t>(week);
    into->weekday = static_cast<std::uint8_t>(weekday);
    constexpr std::int32_t hours_max = 167;
    return !skip(from, '/') || read_time(from, hours_max, &into->time);
}

std::optional<time_zone> time_zone::parse(std::string_view rule) noexcept {
    constexpr std::int32_t hours_max = 24;
    time_zone made;
    std::int32_t behind = 0;
    if (!read_name(&rule) || !read_time(&rule, hours_max, &behind)) return std::nullopt;
    made.offset_ = made.summer_offset_ = -behind;
    if (rule.empty()) return made;
    if (!read_name(&rule)) return std::nullopt;
    made.summer_offset_ = made.offset_ + 3'600;
    if (!rule.starts_with(',')) {
        if (!read_time(&rule, hours_max, &behind)) return std::nullopt;
        made.summer_offset_ = -behind;
    }
    const bool has_changes = skip(&rule, ',') && read_change(&rule, &made.to_summer_) && skip(&rule, ',') &&
                             read_change(&rule, &made.to_winter_);
    return has_changes && rule.empty() ? std::optional(made) : std::nullopt;
}

std::int64_t time_zone::local_time_of(const change& which, std::int32_t year) noexcept {
    const std::chrono::year_month month = std::chrono::year(year) / std::chrono::month(which.month);
    const std::chrono::weekday weekday(which.weekday);
    const std::chrono::sys_days day = which.week == 5 ? std::chrono::sys_days(month / weekday[std::chrono::last])
                                                      : std::chrono::sys_days(month / weekday[which.week]);
    return day.time_since_epoch().count() * day_seconds + which.time;
}

// The changes of the years around, because an offset or a time of a rule may reach into another one.
std::int64_t time_zone::offset_at(std::int64_t utc) const noexcept {
    if (summer_offset_ == offset_) return offset_;
    const std::chrono::sys_days day{std::chrono::days(floor_of(utc + offset_, day_seconds))};
    const auto this_year = static_cast<std::int32_t>(static_cast<int>(std::chrono::year_month_day(day).year()));
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    bool is_summer = false;
    for (std::int32_t year = this_year - 1; year <= this_year + 1; ++year) {
        const std::int64_t summer = local_time_of(to_summer_, year) - offset_;
        const std::int64_t winter = local_time_of(to_winter_, year) - summer_offset_;
        if (summer <= utc && summer > last) {
            last = summer;
            is_summer = true;
        }
        if (winter <= utc && winter > last) {
            last = winter;
            is_summer = false;
        }
    }
    return is_summer ? summer_offset_ : offset_;
}

std::int64_t time_zone::utc_of(std::int64_t local) const noexcept {
    const std::int64_t first = local - std::max(offset_, summer_offset_);
    const std::int64_t second = local - std::min(offset_, summer_offset_);
    if (first + offset_at(first) == local) return first;
    if (second + offset_at(second) == local) return second;
    return local - offset_at(first);  // by the clock of before the change, so as far behind it
}

std::int64_t session_schedule::local_day(std::int64_t wall) const noexcept {
    const std::int64_t utc = floor_of(wall, nanoseconds_in_a_second);
    return floor_of(utc + zone.offset_at(utc), day_seconds);
}

/// @param day  Since 1970, of the local calendar.
std::optional<session_period> session_schedule::beginning_on(std::int64_t day) const noexcept {
    const unsigned weekday = std::chrono::weekday(std::chrono::sys_days(std::chrono::days(day))).c_encoding();
    const bool is_weekly = first_day && last_day;
    std::int64_t days_count = 0;
    if (is_weekly) {
        if (weekday != first_day->c_encoding()) return std::nullopt;
        days_count = (*last_day - *first_day).count();  // 0 to 6
        if (days_count == 0 && ends <= begins) days_count = 7;
    } else {
        if ((days >> weekday & 1U) == 0) return std::nullopt;
        days_count = ends <= begins ? 1 : 0;
    }
    session_period period;
    period.begin = zone.utc_of(day * day_seconds + begins.count()) * nanoseconds_in_a_second;
    period.end = zone.utc_of((day + days_count) * day_seconds + ends.count()) * nanoseconds_in_a_second;
    return period;
}

std::optional<session_period> session_schedule::at(std::int64_t wall) const noexcept {
    const std::int64_t today = local_day(wall);
    for (std::int64_t day = today + 1; day >= today - 8; --day) {
        const auto period = beginning_on(day);
        if (period && period->begin <= wall && wall < period->end) return period;
    }
    return std::nullopt;
}

std::int64_t session_schedule::next_begin(std::int64_t wall) const noexcept {
    const std::int64_t today = local_day(wall);
    for (std::int64_t day = today - 1; day <= today + 8; ++day) {
        const auto period = beginning_on(day);
        if (period && period->begin > wall) return period->begin;
    }
    return std::numeric_limits<std::int64_t>::max();  // no day has a period
}

}  // namespace corro::fix
