// SPDX-License-Identifier: Apache-2.0
#include "http/date_line.hpp"

#include <algorithm>
#include <string>

namespace corro::http {

std::string_view date_line::at(std::chrono::system_clock::time_point now) noexcept {
    using std::chrono::days;
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    if (second == written_) return {text_.data(), size_};
    written_ = second;
    const auto day = std::chrono::floor<days>(second);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(second - day);
    const std::chrono::weekday weekday(day);
    size_ = 0;
    const auto put = [&](std::string_view part) {
        std::ranges::copy(part, text_.data() + size_);
        size_ += part.size();
    };
    const auto put_number = [&](unsigned number, unsigned digits_count) {
        for (unsigned scale = digits_count == 4 ? 1000 : 10; scale != 0; scale /= 10) {
            text_[size_++] = static_cast<char>('0' + number / scale % 10);
        }
    };
    put("Date: ");
    put(std::string_view("SunMonTueWedThuFriSat").substr(weekday.c_encoding() * 3U, 3));
    put(", ");
    put_number(static_cast<unsigned>(date.day()), 2);
    put(" ");
    put(std::string_view("JanFebMarAprMayJunJulAugSepOctNovDec")
            .substr((static_cast<unsigned>(date.month()) - 1) * 3, 3));
    put(" ");
    put_number(static_cast<unsigned>(static_cast<int>(date.year())), 4);
    put(" ");
    put_number(static_cast<unsigned>(time.hours().count()), 2);
    put(":");
    put_number(static_cast<unsigned>(time.minutes().count()), 2);
    put(":");
    put_number(static_cast<unsigned>(time.seconds().count()), 2);
    put(" GMT\r\n");
    return {text_.data(), size_};
}

}  // namespace corro::http
