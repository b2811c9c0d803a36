// SPDX-License-Identifier: Apache-2.0
#include "fix/session/schedule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "fix/codec/message_writer.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::string_view new_york = "EST5EDT,M3.2.0,M11.1.0";
constexpr std::string_view berlin = "CET-1CEST,M3.5.0,M10.5.0/3";

std::int64_t at(std::string_view time) {
    return *timestamp_value(time);
}

std::string text_of(std::int64_t time) {
    std::array<char, timestamp_format::bytes_max> text{};
    return {text.data(), timestamp_format().write(time, time_precision::seconds, text.data())};
}

std::int64_t hours_at(std::string_view zone, std::string_view time) {
    return time_zone::parse(zone)->offset_at(at(time) / second) / 3'600;
}

std::string utc_of(std::string_view zone, std::string_view local) {
    return text_of(time_zone::parse(zone)->utc_of(at(local) / second) * second);
}

/// The period that contains a moment, in words.
std::string period_of(const session_schedule& schedule, std::string_view time) {
    const auto period = schedule.at(at(time));
    return period ? text_of(period->begin) + " " + text_of(period->end) : "closed";
}

TEST(fix_time_zone, has_a_fixed_offset) {
    EXPECT_EQ(hours_at("UTC0", "20260701-00:00:00"), 0);
    EXPECT_EQ(hours_at("JST-9", "20260701-00:00:00"), 9);
    EXPECT_EQ(hours_at("<-03>3", "20260701-00:00:00"), -3);
    EXPECT_EQ(time_zone::parse("IST-5:30")->offset_at(0), 19'800);
    EXPECT_EQ(time_zone().offset_at(0), 0);
}

TEST(fix_time_zone, changes_to_summer_time_and_back_by_its_rule) {
    EXPECT_EQ(hours_at(new_york, "20260308-06:59:59"), -5);
    EXPECT_EQ(hours_at(new_york, "20260308-07:00:00"), -4);
    EXPECT_EQ(hours_at(new_york, "20261101-05:59:59"), -4);
    EXPECT_EQ(hours_at(new_york, "20261101-06:00:00"), -5);
    EXPECT_EQ(hours_at(berlin, "20260329-00:59:59"), 1);
    EXPECT_EQ(hours_at(berlin, "20260329-01:00:00"), 2);
    EXPECT_EQ(hours_at(berlin, "20261025-00:59:59"), 2);
    EXPECT_EQ(hours_at(berlin, "20261025-01:00:00"), 1);
    // South of the equator summer spans the new year.
    constexpr std::string_view sydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";
    EXPECT_EQ(hours_at(sydney, "20260101-00:00:00"), 11);
    EXPECT_EQ(hours_at(sydney, "20260404-15:59:59"), 11);
    EXPECT_EQ(hours_at(sydney, "20260404-16:00:00"), 10);
    EXPECT_EQ(hours_at(sydney, "20261003-16:00:00"), 11);
}

TEST(fix_time_zone, finds_the_moment_of_a_local_time) {
    EXPECT_EQ(utc_of(new_york, "20260107-17:00:00"), "20260107-22:00:00");
    EXPECT_EQ(utc_of(new_york, "20260707-17:00:00"), "20260707-21:00:00");
    EXPECT_EQ(utc_of(new_york, "20261101-01:30:00"), "20261101-05:30:00") << "there are two: the first";
    EXPECT_EQ(utc_of(new_york, "20260308-02:30:00"), "20260308-07:30:00") << "the clock leaves it out";
    EXPECT_EQ(utc_of(berlin, "20260329-02:30:00"), "20260329-01:30:00");
    EXPECT_EQ(utc_of("UTC0", "20260308-02:30:00"), "20260308-02:30:00");
}

TEST(fix_time_zone, refuses_what_is_no_rule) {
    for (const std::string_view rule : {"",
                                        "UTC",
                                        "U0",
                                        "UTC0x",
                                        "UTC25",
                                        "UTC0:60",
                                        "EST5EDT",
                                        "EST5EDT,",
                                        "EST5EDT,M3.2.0",
                                        "EST5EDT,M13.2.0,M11.1.0",
                                        "EST5EDT,M3.6.0,M11.1.0",
                                        "EST5EDT,M3.2.7,M11.1.0",
                                        "EST5EDT,M0.2.0,M11.1.0",
                                        "EST5EDT,J60,J300",
                                        "EST5EDT,M3.2.0,M11.1.0,",
                                        "EST5EDT,M3.2.0/168,M11.1.0",
                                        "<+05",
                                        "<a>5",
                                        "America/New_York",
                                        "EST5EDT4:x,M3.2.0,M1.1.0"}) {
        EXPECT_FALSE(time_zone::parse(rule)) << rule;
    }
    EXPECT_TRUE(time_zone::parse("EST5EDT4,M3.2.0/2:30,M11.1.0/-1"));
}

TEST(fix_schedule, is_open_on_a_part_of_each_day) {
    session_schedule schedule;
    schedule.begins = 9h;
    schedule.ends = 17h + 30min;
    EXPECT_EQ(period_of(schedule, "20261123-08:59:59"), "closed");
    EXPECT_EQ(period_of(schedule, "20261123-09:00:00"), "20261123-09:00:00 20261123-17:30:00");
    EXPECT_EQ(period_of(schedule, "20261123-17:29:59"), "20261123-09:00:00 20261123-17:30:00");
    EXPECT_EQ(period_of(schedule, "20261123-17:30:00"), "closed");
    EXPECT_EQ(text_of(schedule.next_begin(at("20261123-08:00:00"))), "20261123-09:00:00");
    EXPECT_EQ(text_of(schedule.next_begin(at("20261123-09:00:00"))), "20261124-09:00:00");
}

TEST(fix_schedule, is_open_on_some_days_only) {
    session_schedule schedule;
    schedule.begins = 9h;
    schedule.ends = 17h;
    schedule.days = 0b0111110;
    EXPECT_EQ(period_of(schedule, "20261120-12:00:00"), "20261120-09:00:00 20261120-17:00:00") << "Friday";
    EXPECT_EQ(period_of(schedule, "20261121-12:00:00"), "closed");
    EXPECT_EQ(period_of(schedule, "20261122-12:00:00"), "closed");
    EXPECT_EQ(text_of(schedule.next_begin(at("20261120-12:00:00"))), "20261123-09:00:00");
}

TEST(fix_schedule, has_one_period_after_the_other_when_it_ends_as_it_begins) {
    session_schedule schedule;
    schedule.zone = *time_zone::parse(new_york);
    schedule.begins = schedule.ends = 17h;
    EXPECT_EQ(period_of(schedule, "20261123-21:59:59"), "20261122-22:00:00 20261123-22:00:00");
    EXPECT_EQ(period_of(schedule, "20261123-22:00:00"), "20261123-22:00:00 20261124-22:00:00");
}

TEST(fix_schedule, keeps_its_local_times_when_the_clocks_change) {
    session_schedule schedule;
    schedule.zone = *time_zone::parse(new_york);
    schedule.begins = 18h;
    schedule.ends = 17h;
    EXPECT_EQ(period_of(schedule, "20260307-12:00:00"), "20260306-23:00:00 20260307-22:00:00");
    EXPECT_EQ(period_of(schedule, "20260308-12:00:00"), "20260307-23:00:00 20260308-21:00:00") << "an hour less";
    EXPECT_EQ(period_of(schedule, "20261101-12:00:00"), "20261031-22:00:00 20261101-22:00:00") << "an hour more";
    EXPECT_EQ(period_of(schedule, "20260308-21:30:00"), "closed");
    EXPECT_EQ(text_of(schedule.next_begin(at("20260308-21:30:00"))), "20260308-22:00:00");
}

TEST(fix_schedule, lasts_from_one_day_of_the_week_to_another) {
    session_schedule schedule;
    schedule.zone = *time_zone::parse(new_york);
    schedule.first_day = std::chrono::Sunday;
    schedule.last_day = std::chrono::Friday;
    schedule.begins = 17h;
    schedule.ends = 16h;
    EXPECT_EQ(period_of(schedule, "20261122-21:59:59"), "closed");
    EXPECT_EQ(period_of(schedule, "20261122-22:00:00"), "20261122-22:00:00 20261127-21:00:00");
    EXPECT_EQ(period_of(schedule, "20261127-20:59:59"), "20261122-22:00:00 20261127-21:00:00");
    EXPECT_EQ(period_of(schedule, "20261127-21:00:00"), "closed");
    EXPECT_EQ(text_of(schedule.next_begin(at("20261127-21:00:00"))), "20261129-22:00:00");
    schedule.last_day = std::chrono::Sunday;
    EXPECT_EQ(period_of(schedule, "20261129-20:00:00"), "20261122-22:00:00 20261129-21:00:00") << "seven days";
    schedule.ends = 20h;
    EXPECT_EQ(period_of(schedule, "20261123-20:00:00"), "closed") << "three hours each Sunday";
}

}  // namespace
}  // namespace corro::fix
