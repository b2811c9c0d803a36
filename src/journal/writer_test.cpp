// SPDX-License-Identifier: Apache-2.0
// Writer and reader together, on the disk of this machine.
#include "journal/writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/test_folder.hpp"
#include "io/testing/backend_tests.hpp"
#include "journal/test_journal.hpp"

namespace corro::journal {
namespace {

constexpr durability written_modes[] = {durability::none, durability::async, durability::group, durability::each};

class journals : public io::on_backend {
 protected:
    disk_storage disk{ctx};
    base::test_folder folder;
};

TEST_P(journals, what_is_appended_is_read_again_in_every_mode) {
    for (const durability mode : written_modes) {
        const std::string path = folder.path() + "/" + std::string(name_of(mode));
        // A sync for each command is slow.
        const std::uint64_t count = mode == durability::each ? 250 : 2'000;
        io::block_on(ctx, write_journal(&disk, path, small_options(mode), count));
        const reading found = io::block_on(ctx, read_all(&disk, path, 1));
        EXPECT_EQ(found.error.text, "");
        EXPECT_EQ(found.first, 1U);
        EXPECT_EQ(found.last, count);
        EXPECT_EQ(found.end.tail, tail_state::sealed);
        EXPECT_GT(found.end.segments.size(), 3U) << "the small segments were filled";
    }
}

TEST_P(journals, an_empty_journal_is_one) {
    io::block_on(ctx, write_journal(&disk, folder.path(), small_options(durability::group), 0));
    io::block_on(ctx, write_journal(&disk, folder.path(), small_options(durability::group), 0));
    const reading found = io::block_on(ctx, read_all(&disk, folder.path(), 1));
    EXPECT_EQ(found.error.text, "");
    EXPECT_EQ(found.first, 0U);
    EXPECT_EQ(found.end.next_sequence, 1U);
    EXPECT_EQ(found.end.segments.size(), 2U);
}

TEST_P(journals, go_on_where_they_ended_with_a_new_epoch_each_time) {
    for (std::uint64_t round = 1; round <= 5; ++round) {
        io::block_on(ctx, write_journal(&disk, folder.path(), small_options(durability::group), 100));
        const reading found = io::block_on(ctx, read_all(&disk, folder.path(), 1));
        ASSERT_EQ(found.error.text, "");
        EXPECT_EQ(found.last, 100 * round);
        EXPECT_EQ(found.end.segments.size(), round);
        EXPECT_EQ(found.end.segments.back().header.epoch, round);
        EXPECT_LT(found.end.segments.back().bytes, 32U * 1024) << "a closed segment holds no room";
    }
}

TEST_P(journals, are_read_from_any_sequence_number) {
    io::block_on(ctx, write_journal(&disk, folder.path(), small_options(durability::group), 1'000));
    for (std::uint64_t sequence = 1; sequence <= 1'000; sequence += 37) {
        const reading found = io::block_on(ctx, read_all(&disk, folder.path(), sequence));
        EXPECT_EQ(found.error.text, "");
        EXPECT_EQ(found.first, sequence);
        EXPECT_EQ(found.last, 1'000U);
    }
    const reading nothing_new = io::block_on(ctx, read_all(&disk, folder.path(), 1'001));
    EXPECT_EQ(nothing_new.error.text, "");
    EXPECT_EQ(nothing_new.first, 0U);
    const reading beyond = io::block_on(ctx, read_all(&disk, folder.path(), 1'002));
    EXPECT_EQ(beyond.error.code, journal_errc::out_of_reach);
    EXPECT_NE(beyond.error.text.find("ends with sequence number 1000; expected it to reach 1001"), std::string::npos)
        << beyond.error.text;
}

TEST_P(journals, a_second_writer_is_refused_while_the_first_lives) {
    const auto body = [](disk_storage* files, std::string path) -> io::task<> {
        auto first = co_await open_writer(files, path, small_options(durability::group));
        CORRO_REQUIRE(first.has_value());
        auto second = co_await open_writer(files, path, small_options(durability::group));
        CORRO_REQUIRE(!second.has_value());
        EXPECT_EQ(second.error().code, journal_errc::in_use);
        EXPECT_EQ(second.error().text,
                  path + ": another process uses this journal; stop it, or choose another directory");
        first->reset();
        second = co_await open_writer(files, path, small_options(durability::group));
        EXPECT_TRUE(second.has_value());
    };
    io::block_on(ctx, body(&disk, folder.path()));
}

// D8: the lock is on the directory, which cannot be removed while a journal is in it.
TEST_P(journals, a_second_writer_is_refused_although_the_lock_file_was_removed) {
    const auto body = [](storage* files, std::string path) -> io::task<> {
        auto first = co_await open_writer(files, path, small_options(durability::group));
        CORRO_REQUIRE(first.has_value());
        const std::error_code removed = co_await files->remove(path + "/lock");
        EXPECT_FALSE(removed);
        auto second = co_await open_writer(files, path, small_options(durability::group));
        CORRO_REQUIRE(!second.has_value());
        EXPECT_EQ(second.error().code, journal_errc::in_use);
        // Also when another file has replaced the lock file.
        second = co_await open_writer(files, path, small_options(durability::group));
        CORRO_REQUIRE(!second.has_value());
        EXPECT_EQ(second.error().code, journal_errc::in_use);
    };
    io::block_on(ctx, body(&disk, folder.path()));
}

/// Writes until the journal has failed.
io::task<> write_until_failed(writer* log) {
    io::task_scope scope(co_await io::this_context());
    scope.spawn(log->run());
    co_await append_commands(log, 100'000);
    scope.request_stop();
    co_await scope.join();
}

TEST_P(journals, a_segment_that_somebody_else_has_made_is_not_overwritten) {
    const auto body = [](storage* files, std::string path) -> io::task<> {
        auto log = co_await open_writer(files, path, small_options(durability::group));
        CORRO_REQUIRE(log.has_value());
        {
            auto other = co_await files->open(path + "/" + segment_name(3), io::file_mode::create_new);
            CORRO_REQUIRE(other.has_value());
            const io::io_result done = co_await (*other)->write_at(0, std::as_bytes(std::span("somebody's")));
            EXPECT_TRUE(done.ok());
        }
        co_await write_until_failed(log->get());
        EXPECT_EQ((*log)->error().code, journal_errc::in_use) << (*log)->error().text;
        auto other = co_await files->open(path + "/" + segment_name(3), io::file_mode::read);
        CORRO_REQUIRE(other.has_value());
        std::array<char, 10> text{};
        const io::io_result got = co_await (*other)->read_at(0, std::as_writable_bytes(std::span(text)));
        EXPECT_TRUE(got.ok());
        EXPECT_EQ(std::string_view(text.data(), text.size()), "somebody's");
    };
    io::block_on(ctx, body(&disk, folder.path()));
}

TEST_P(journals, a_directory_that_takes_the_place_of_the_locked_one_is_not_written_to) {
    const std::string path = folder.path() + "/j";
    const auto body = [](storage* files, std::string at) -> io::task<> {
        auto log = co_await open_writer(files, at, small_options(durability::group));
        CORRO_REQUIRE(log.has_value());
        std::filesystem::rename(at, at + ".moved");
        auto other = co_await open_writer(files, at, small_options(durability::group));
        CORRO_REQUIRE(other.has_value());
        co_await write_until_failed(log->get());
        EXPECT_FALSE(std::filesystem::exists(at + "/" + segment_name(2)));
    };
    io::block_on(ctx, body(&disk, path));
}

TEST_P(journals, an_epoch_that_is_not_newer_is_refused) {
    writer_options options = small_options(durability::group);
    options.epoch = 7;
    io::block_on(ctx, write_journal(&disk, folder.path(), options, 10));
    const auto again = io::block_on(ctx, open_writer(&disk, folder.path(), options));
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, journal_errc::stale_epoch);
    options.epoch = 8;
    io::block_on(ctx, write_journal(&disk, folder.path(), options, 10));
}

TEST_P(journals, another_venue_another_partition_and_other_instruments_are_refused) {
    io::block_on(ctx, write_journal(&disk, folder.path(), small_options(durability::group), 10));
    for (const identity& other : {identity("OTHER", test_venue.fingerprint, 3), identity("TEST", 1, 3),
                                  identity("TEST", test_venue.fingerprint, 4)}) {
        reader_options options = from(1);
        options.venue = other;
        const auto opened = io::block_on(ctx, reader::open(&disk, folder.path(), options));
        ASSERT_FALSE(opened.has_value());
        EXPECT_EQ(opened.error().code, journal_errc::foreign_venue);
        EXPECT_NE(opened.error().text.find("venue \"TEST\", partition 3, instruments 123456789abcdef0"),
                  std::string::npos)
            << opened.error().text;
    }
    reader_options anybody = from(1);
    anybody.venue.reset();
    EXPECT_TRUE(io::block_on(ctx, reader::open(&disk, folder.path(), anybody)).has_value());
}

TEST_P(journals, a_full_buffer_says_not_now_and_loses_nothing) {
    const auto body = [](disk_storage* files, std::string path) -> io::task<> {
        writer_options options = small_options(durability::group, 1U << 20U);
        options.buffer_commands = block_commands_max;
        auto log = co_await open_writer(files, path, options);
        CORRO_REQUIRE(log.has_value());
        // `run` has not been started yet.
        for (std::uint64_t i = 1; i <= block_commands_max; ++i) EXPECT_TRUE((*log)->append(command_at(i)));
        EXPECT_FALSE((*log)->append(command_at(block_commands_max + 1)));
        EXPECT_EQ((*log)->next_sequence(), block_commands_max + 1);
        EXPECT_EQ((*log)->durable_sequence(), 0U);
        io::context& on = co_await io::this_context();
        io::task_scope scope(on);
        scope.spawn((*log)->run());
        co_await append_commands(log->get(), 10'000);
        co_await wait_until_durable(log->get(), 10'000 + block_commands_max);
        (*log)->close();
        co_await scope.join();
        EXPECT_FALSE((*log)->append(command_at((*log)->next_sequence()))) << "it is closed";
        EXPECT_EQ((*log)->durable_sequence(), 10'000U + block_commands_max);
    };
    io::block_on(ctx, body(&disk, folder.path()));
    EXPECT_EQ(io::block_on(ctx, read_all(&disk, folder.path(), 1)).last, 10'000U + block_commands_max);
}

TEST_P(journals, what_a_reader_finds_is_what_was_written_also_where_more_counts_as_durable) {
    const auto body = [](disk_storage* files, std::string path) -> io::task<> {
        auto log = co_await open_writer(files, path, small_options(durability::none));
        CORRO_REQUIRE(log.has_value());
        for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_TRUE((*log)->append(command_at(i)));
        EXPECT_EQ((*log)->durable_sequence(), 3U);
        EXPECT_EQ((*log)->written_sequence(), 0U);
        reading found = co_await read_all(files, path, 1);
        EXPECT_EQ(found.last, 0U);
        io::context& on = co_await io::this_context();
        io::task_scope scope(on);
        scope.spawn((*log)->run());
        while ((*log)->written_sequence() != 3) co_await (*log)->progressed().wait();
        found = co_await read_all(files, path, 1);
        EXPECT_EQ(found.last, 3U);
        (*log)->close();
        co_await scope.join();
    };
    io::block_on(ctx, body(&disk, folder.path()));
}

TEST_P(journals, more_than_the_buffers_hold_is_waited_for) {
    for (const durability mode : {durability::none, durability::async, durability::group}) {
        const std::string path = folder.path() + "/" + std::string(name_of(mode));
        io::block_on(ctx, write_journal(&disk, path, small_options(mode, 4U << 20U), 3 * buffer_commands_default));
        EXPECT_EQ(io::block_on(ctx, read_all(&disk, path, 1)).last, 3U * buffer_commands_default);
        std::filesystem::remove_all(path);
    }
}

TEST_P(journals, each_syncs_for_every_command_and_group_for_all_that_wait) {
    for (const durability mode : {durability::group, durability::each}) {
        const auto body = [](disk_storage* files, std::string path, durability how) -> io::task<> {
            auto log = co_await open_writer(files, path, small_options(how, 1U << 20U));
            CORRO_REQUIRE(log.has_value());
            for (std::uint64_t i = 1; i <= 50; ++i) EXPECT_TRUE((*log)->append(command_at(i)));
            io::context& on = co_await io::this_context();
            io::task_scope scope(on);
            scope.spawn((*log)->run());
            co_await wait_until_durable(log->get(), 50);
            EXPECT_EQ((*log)->statistics().syncs_count, how == durability::each ? 50U : 1U);
            EXPECT_EQ((*log)->statistics().blocks_count, how == durability::each ? 50U : 1U);
            (*log)->close();
            co_await scope.join();
        };
        io::block_on(ctx, body(&disk, folder.path() + "/" + std::string(name_of(mode)), mode));
    }
}

TEST_P(journals, old_segments_go_behind_a_snapshot_and_only_there) {
    const auto body = [](disk_storage* files, std::string path) -> io::task<> {
        writer_options options = small_options(durability::group);
        options.kept_segments_max = 2;
        auto log = co_await open_writer(files, path, options);
        CORRO_REQUIRE(log.has_value());
        io::context& on = co_await io::this_context();
        io::task_scope scope(on);
        scope.spawn((*log)->run());
        co_await append_commands(log->get(), 2'000);
        co_await wait_until_durable(log->get(), 2'000);
        EXPECT_EQ((*log)->statistics().segments_removed_count, 0U) << "without a snapshot nothing may go";
        const reading before = co_await read_all(files, path, 1);
        std::uint64_t behind_count = 0;
        for (const segment_summary& each : before.end.segments) behind_count += each.last_sequence <= 1'500 ? 1U : 0U;
        CORRO_REQUIRE(behind_count > 2);
        (*log)->forget_before(1'500);
        while ((*log)->statistics().segments_removed_count < behind_count - 2 && !(*log)->failed())
            co_await io::yield();
        (*log)->close();
        co_await scope.join();
        EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
    };
    io::block_on(ctx, body(&disk, folder.path()));
    const reading whole = io::block_on(ctx, read_all(&disk, folder.path(), 1));
    EXPECT_EQ(whole.error.code, journal_errc::out_of_reach) << whole.error.text;
    const reading rest = io::block_on(ctx, read_all(&disk, folder.path(), 1'501));
    EXPECT_EQ(rest.error.text, "");
    EXPECT_EQ(rest.last, 2'000U);
    std::uint64_t behind_count = 0;
    for (const segment_summary& each : rest.end.segments) behind_count += each.last_sequence <= 1'500 ? 1U : 0U;
    EXPECT_EQ(behind_count, 2U);
}

TEST_P(journals, a_writer_that_goes_without_closing_leaves_an_open_tail) {
    for (std::uint64_t round = 1; round <= 3; ++round) {
        const auto body = [](disk_storage* files, std::string path) -> io::task<> {
            auto log = co_await open_writer(files, path, small_options(durability::group));
            CORRO_REQUIRE(log.has_value());
            io::context& on = co_await io::this_context();
            io::task_scope scope(on);
            scope.spawn((*log)->run());
            co_await append_commands(log->get(), 10);
            co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
            scope.request_stop();
            co_await scope.join();
            EXPECT_EQ((*log)->error().code, std::errc::operation_canceled);
        };
        io::block_on(ctx, body(&disk, folder.path()));
        const reading found = io::block_on(ctx, read_all(&disk, folder.path(), 1));
        ASSERT_EQ(found.error.text, "");
        EXPECT_EQ(found.last, 10 * round);
        EXPECT_EQ(found.end.tail, tail_state::open);
        EXPECT_EQ(found.end.segments.back().bytes, 32U * 1024);
        EXPECT_EQ(found.end.segments.size(), round);
        if (round > 1) {
            EXPECT_LT(found.end.segments.front().bytes, 32U * 1024) << "the next writer freed the space";
        }
    }
}

CORRO_ON_EVERY_BACKEND(journals);

}  // namespace
}  // namespace corro::journal
