// SPDX-License-Identifier: Apache-2.0
#include "gateway/binary/session_course.hpp"

#include <gtest/gtest.h>

#include "gateway/binary/heartbeat_watch.hpp"

namespace corro::gateway {
namespace {

using finding = heartbeat_watch::finding;

TEST(session_course, goes_from_logging_on_to_active_to_ending_to_gone) {
    session_course course;
    EXPECT_EQ(course.phase(), session_phase::logging_on);
    EXPECT_FALSE(course.is_ending());
    course.begin();
    EXPECT_EQ(course.phase(), session_phase::active);
    EXPECT_TRUE(course.end(end_reason::logged_out));
    EXPECT_EQ(course.phase(), session_phase::ending);
    EXPECT_TRUE(course.may_send()) << "answers that are owed";
    course.lose();
    EXPECT_EQ(course.phase(), session_phase::gone);
    EXPECT_FALSE(course.may_send());
    EXPECT_EQ(course.reason(), end_reason::logged_out);
}

TEST(session_course, a_refused_logon_never_becomes_active) {
    session_course course;
    EXPECT_TRUE(course.end(end_reason::authentication_failed));
    EXPECT_EQ(course.phase(), session_phase::ending);
    EXPECT_DEATH(course.begin(), "");
}

TEST(session_course, the_first_reason_counts) {
    session_course course;
    course.begin();
    EXPECT_TRUE(course.end(end_reason::idle_timeout));
    EXPECT_FALSE(course.end(end_reason::shutting_down));
    EXPECT_EQ(course.reason(), end_reason::idle_timeout);
}

TEST(session_course, no_phase_is_left_backwards) {
    session_course course;
    course.begin();
    EXPECT_TRUE(course.cut(end_reason::slow_consumer));
    EXPECT_EQ(course.phase(), session_phase::cut);
    EXPECT_FALSE(course.end(end_reason::shutting_down));
    EXPECT_EQ(course.phase(), session_phase::cut);
    course.lose();
    EXPECT_FALSE(course.cut(end_reason::slow_consumer)) << "counts once";
    EXPECT_EQ(course.phase(), session_phase::gone);
}

TEST(session_course, a_connection_that_is_lost_needs_no_reason) {
    session_course course;
    course.lose();
    EXPECT_TRUE(course.is_gone());
    EXPECT_FALSE(course.is_ending());
    EXPECT_FALSE(course.reason());
}

TEST(session_course, a_client_that_misses_answers_of_a_day_that_ends_learns_it) {
    session_course course;
    course.begin();
    course.end(end_reason::session_day_ended);
    EXPECT_TRUE(course.cut(end_reason::slow_consumer));
    EXPECT_EQ(course.reason(), end_reason::slow_consumer);
}

TEST(session_course, a_cut_for_another_reason_leaves_the_first_one) {
    session_course course;
    course.begin();
    course.end(end_reason::session_day_ended);
    EXPECT_TRUE(course.cut(end_reason::resend_unavailable));
    EXPECT_EQ(course.reason(), end_reason::session_day_ended);
    session_course other;
    other.begin();
    other.end(end_reason::taken_over);
    other.cut(end_reason::slow_consumer);
    EXPECT_EQ(other.reason(), end_reason::taken_over);
}

TEST(heartbeat_watch, a_heartbeat_is_due_when_nothing_was_sent_for_three_looks) {
    heartbeat_watch watch;
    for (int interval = 0; interval < 2; ++interval) {
        watch.note_received();
        watch.note_sent();
        EXPECT_EQ(watch.look(), finding::nothing);
        EXPECT_EQ(watch.look(), finding::nothing);
        EXPECT_EQ(watch.look(), finding::nothing);
        EXPECT_EQ(watch.look(), finding::heartbeat_is_due);
    }
}

TEST(heartbeat_watch, a_peer_is_silent_after_two_intervals_and_not_before) {
    heartbeat_watch watch;
    watch.note_received();
    EXPECT_EQ(watch.look(), finding::nothing);
    for (std::uint32_t i = 1; i < silent_intervals_max * heartbeat_watch::looks_per_interval; ++i) {
        watch.note_sent();
        EXPECT_EQ(watch.look(), finding::nothing) << i;
    }
    watch.note_sent();
    EXPECT_EQ(watch.look(), finding::peer_is_silent);
}

TEST(heartbeat_watch, whatever_is_received_ends_the_silence) {
    heartbeat_watch watch;
    for (std::uint32_t i = 0; i < 3 * silent_intervals_max * heartbeat_watch::looks_per_interval; ++i) {
        watch.note_sent();
        if (i % heartbeat_watch::looks_per_interval == 0) watch.note_received();
        EXPECT_EQ(watch.look(), finding::nothing) << i;
    }
}

}  // namespace
}  // namespace corro::gateway
