// SPDX-License-Identifier: Apache-2.0
#include "history/timeline.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "history/test_journal.hpp"

namespace corro::history {
namespace {

using domain::sequence_number;

class timelines : public ::testing::Test {
 protected:
    std::unique_ptr<timeline> open(const venue_setup& venue) {
        auto opened = io::block_on(ctx, timeline::open(&disk, folder.path(), venue));
        EXPECT_TRUE(opened) << opened.error().text;
        return opened ? std::move(*opened) : nullptr;
    }
    void write(const generated& what) { io::block_on(ctx, write_journal(&disk, folder.path(), &what)); }
    index_report index(const venue_setup& venue, std::uint64_t interval) {
        const auto past = open(venue);
        const auto report = io::block_on(ctx, make_index(past.get(), interval));
        EXPECT_TRUE(report) << report.error().text;
        return report ? *report : index_report{};
    }
    /// The error of going to a moment; empty when there is none.
    std::string go(timeline& past, moment at) {
        const auto done = io::block_on(ctx, past.go_to(at));
        return done ? "" : done.error().text;
    }

    io::context ctx;
    journal::disk_storage disk{ctx};
    base::test_folder folder;
};

TEST_F(timelines, d6_every_moment_is_as_a_full_replay_to_it_with_and_without_an_index) {
    base::prng random{base::test_seed()};
    const generated what(random(), 6'000);
    write(what);
    const auto plain = open(what.venue);
    const index_report made = index(what.venue, 500);
    EXPECT_GT(made.snapshots_written, 0U);
    EXPECT_EQ(made.last.value, what.commands.size());
    const auto indexed = open(what.venue);
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t sequence = 1 + random.below(what.commands.size());
        for (timeline* past : {plain.get(), indexed.get()}) {
            ASSERT_EQ(go(*past, moment{sequence_number{sequence}}), "");
            ASSERT_EQ(past->state().position().sequence.value, sequence);
            ASSERT_EQ(past->state().state_hash(), what.hashes[sequence - 1]) << "behind command " << sequence;
        }
        EXPECT_LE(indexed->executed_count(), 6'000U);
    }
}

TEST_F(timelines, a_time_means_the_last_command_that_is_not_later) {
    base::prng random{base::test_seed()};
    const generated what(random(), 3'000);
    write(what);
    index(what.venue, 250);
    const auto past = open(what.venue);
    for (int i = 0; i < 100; ++i) {
        const std::size_t near = random.below(what.commands.size());
        const domain::time_ns time{what.commands[near].time.value + static_cast<std::int64_t>(random.below(3)) - 1};
        std::size_t count = 0;
        while (count < what.commands.size() && what.commands[count].time <= time) ++count;
        ASSERT_EQ(go(*past, moment{time}), "");
        ASSERT_EQ(past->state().position().sequence.value, count);
        if (count != 0) {
            ASSERT_EQ(past->state().state_hash(), what.hashes[count - 1]);
        }
    }
}

TEST_F(timelines, begin_empty_and_end_where_the_journal_ends) {
    const generated what(7, 400);
    write(what);
    const auto past = open(what.venue);
    EXPECT_EQ(past->state().position().sequence.value, 0U);
    EXPECT_EQ(go(*past, latest()), "");
    EXPECT_EQ(past->state().position().sequence.value, 400U);
    EXPECT_EQ(go(*past, moment{sequence_number{0}}), "");
    EXPECT_EQ(past->state().open_orders_count(), 0U);
    EXPECT_EQ(go(*past, moment{domain::time_ns{INT64_MAX}}), "");
    EXPECT_EQ(past->state().position().sequence.value, 400U);
    EXPECT_EQ(go(*past, moment{sequence_number{401}}),
              folder.path() + ": the journal ends with sequence number 400; expected 401");
}

TEST_F(timelines, a_directory_without_a_journal_is_refused) {
    const generated what(7, 10);
    const auto opened = io::block_on(ctx, timeline::open(&disk, folder.path(), what.venue));
    ASSERT_FALSE(opened) << "its books would look like those before the first command";
    EXPECT_EQ(opened.error().code, journal::journal_errc::foreign_file);
    EXPECT_NE(opened.error().text.find("there is no segment"), std::string::npos) << opened.error().text;
}

TEST_F(timelines, say_again_what_was_said) {
    const generated what(11, 2'000);
    write(what);
    index(what.venue, 100);
    facility::testing::recorder live;
    facility::facility venue(what.venue.options, what.venue.instruments, live);
    for (const domain::command& c : what.commands) {
        if (c.sequence.value == 1'234) live.events.clear();
        venue.apply(c);
    }
    const auto past = open(what.venue);
    ASSERT_EQ(go(*past, moment{sequence_number{1'233}}), "");
    facility::testing::recorder again;
    const auto done = io::block_on(ctx, past->advance(latest(), &again));
    ASSERT_TRUE(done);
    ASSERT_EQ(again.events.size(), live.events.size());
    EXPECT_EQ(std::memcmp(again.events.data(), live.events.data(), live.events.size() * sizeof(domain::event)), 0);
}

TEST_F(timelines, an_index_is_continued_and_not_made_twice) {
    const generated what(3, 2'000);
    write(what);
    const index_report first = index(what.venue, 200);
    EXPECT_GT(first.snapshots_written, 1U);
    EXPECT_EQ(index(what.venue, 200).snapshots_written, 0U);
    const auto past = open(what.venue);
    ASSERT_EQ(past->index().indexed_count(), first.snapshots_written);
    std::string last = std::to_string(past->index().last_indexed());
    last.insert(0, 20 - last.size(), '0');
    ASSERT_TRUE(std::filesystem::remove(folder.path() + "/history/" + last + ".snapshot"));
    EXPECT_EQ(index(what.venue, 200).snapshots_written, 1U);
}

TEST_F(timelines, a_damaged_snapshot_is_passed_over) {
    const generated what(5, 2'000);
    write(what);
    index(what.venue, 200);
    std::size_t damaged = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/history")) {
        std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
        // Every second one in its content, the others cut off.
        if (++damaged % 2 == 0) {
            bytes.seekp(300);
            bytes.put('\x55');
        } else {
            std::filesystem::resize_file(file.path(), 40);
        }
    }
    ASSERT_GT(damaged, 2U);
    const auto past = open(what.venue);
    ASSERT_EQ(go(*past, moment{sequence_number{1'999}}), "");
    EXPECT_EQ(past->loaded_sequence(), 0U);
    EXPECT_EQ(past->state().state_hash(), what.hashes[1'998]);
}

TEST_F(timelines, the_index_of_another_journal_is_refused) {
    const generated what(9, 2'000);
    write(what);
    index(what.venue, 200);
    // The same venue begins with a new journal, but the old index remains.
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
        const bool is_journal = file.path().extension() == ".segment" || file.path().filename() == "manifest";
        if (is_journal) std::filesystem::remove(file.path());
    }
    generated other = what;
    for (domain::command& c : other.commands) c.time.value += 1;
    write(other);
    const auto past = open(what.venue);
    EXPECT_NE(go(*past, latest()).find("the index does not belong to this journal"), std::string::npos);
}

TEST_F(timelines, the_journal_of_another_venue_is_refused) {
    const generated what(9, 100);
    write(what);
    venue_setup other = what.venue;
    other.who.name = domain::symbol{"OTHER"};
    const auto opened = io::block_on(ctx, timeline::open(&disk, folder.path(), other));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, journal::journal_errc::foreign_venue);
}

}  // namespace
}  // namespace corro::history
