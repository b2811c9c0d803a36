// SPDX-License-Identifier: Apache-2.0
#include "history/moment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>
#include <system_error>

namespace corro::history {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

/// Reads a text from left to right.
class scanner {
 public:
    explicit scanner(std::string_view text) noexcept : left_(text) {}

    /// Reads a number of exactly `count` digits, at most `max`.
    [[nodiscard]] bool digits(std::size_t count, int max, int& into) noexcept {
        if (left_.size() < count) return false;
        int value = 0;
        for (const char c : left_.substr(0, count)) {
            if (c < '0' || c > '9') return false;
            value = value * 10 + (c - '0');
        }
        if (value > max) return false;
        left_.remove_prefix(count);
        into = value;
        return true;
    }
    [[nodiscard]] bool take(char c) noexcept {
        if (left_.empty() || left_.front() != c) return false;
        left_.remove_prefix(1);
        return true;
    }
    /// Reads one to nine decimals, as nanoseconds.
    [[nodiscard]] bool fraction(std::int64_t& into) noexcept {
        std::int64_t weight = second_ns;
        std::int64_t value = 0;
        std::size_t size = 0;
        for (; size < left_.size() && left_[size] >= '0' && left_[size] <= '9'; ++size) {
            if (size == 9) return false;
            weight /= 10;
            value += weight * (left_[size] - '0');
        }
        left_.remove_prefix(size);
        into = value;
        return size != 0;
    }
    [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }

 private:
    std::string_view left_;
};

[[nodiscard]] bool read_time(std::string_view text, domain::time_ns& into) noexcept {
    scanner s(text);
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    std::int64_t fraction = 0;
    // 2261 is the last complete year within 64 bits of nanoseconds.
    const bool has_date = s.digits(4, 2261, year) && s.take('-') && s.digits(2, 12, month) && s.take('-') &&
                          s.digits(2, 31, day) && s.take('T');
    if (!has_date || !s.digits(2, 23, hour) || !s.take(':') || !s.digits(2, 59, minute)) return false;
    if (s.take(':')) {
        if (!s.digits(2, 59, second)) return false;
        if (s.take('.') && !s.fraction(fraction)) return false;
    }
    static_cast<void>(s.take('Z'));
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!s.at_end() || !date.ok() || year < 1970) return false;
    const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
    into = domain::time_ns{(days * 86'400 + hour * 3'600 + minute * 60 + second) * second_ns + fraction};
    return true;
}

}  // namespace

moment latest() noexcept {
    return moment{domain::sequence_number{std::numeric_limits<std::uint64_t>::max()}};
}

std::expected<moment, std::string> parse_moment(std::string_view text) {
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && stop == text.data() + text.size()) return moment{domain::sequence_number{number}};
    domain::time_ns time;
    if (read_time(text, time)) return moment{time};
    return std::unexpected(
        fmt::format("\"{}\": expected a sequence number, or a time such as 2026-11-22T09:30:00.123456789Z", text));
}

std::string format_time(domain::time_ns time) {
    std::int64_t seconds = time.value / second_ns;
    std::int64_t fraction = time.value % second_ns;
    if (fraction < 0) {
        fraction += second_ns;
        --seconds;
    }
    const std::chrono::sys_seconds at{std::chrono::seconds{seconds}};
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date{day};
    const std::int64_t of_day = (at - day).count();
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), of_day / 3'600,
                       of_day / 60 % 60, of_day % 60, fraction);
}

}  // namespace corro::history
