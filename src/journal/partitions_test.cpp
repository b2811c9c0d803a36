// SPDX-License-Identifier: Apache-2.0
// The marks that the journals of a venue's partitions record of each other.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "io/loop/timer.hpp"
#include "io/testing/tested_platform.hpp"
#include "journal/limits.hpp"
#include "journal/manifest.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro::journal {
namespace {

writer_options options_of_partition(std::uint32_t partition, std::shared_ptr<partition_board> board) {
    writer_options options = small_options(durability::group);
    options.venue.partition = partition;
    options.birth.id.fill(std::byte{7});
    options.birth.hash_key.fill(std::byte{9});
    options.board = std::move(board);
    return options;
}

io::task<std::expected<std::unique_ptr<writer>, problem>> open_partition(storage* files, std::string directory,
                                                                         std::uint32_t partition,
                                                                         std::shared_ptr<partition_board> board) {
    return open_writer(files, std::move(directory), options_of_partition(partition, std::move(board)));
}

class partition_journals : public testing::Test {
 protected:
    journal_end end_of(const std::string& directory) {
        identity venue = test_venue;
        venue.partition = directory == "a" ? 0 : 1;
        const reading found = io::block_on(ctx, read_all(&disk, directory, 1, false, venue));
        EXPECT_EQ(found.error.text, "");
        return found.end;
    }
    partition_mark mark_of(const std::string& directory, std::uint32_t partition) {
        return unpack_mark(end_of(directory).marks[partition]);
    }
    io::context ctx{io::on_tested_platform()};
    sim::disk disk{sim::disk_pace::in_turns};
};

/// Two partitions, the first with commands before and after those of the second; both are then left as after a crash.
io::task<> write_in_turns(storage* files) {
    const auto board = std::make_shared<partition_board>();
    auto first = co_await open_partition(files, "a", 0, board);
    auto second = co_await open_partition(files, "b", 1, board);
    CORRO_REQUIRE(first.has_value() && second.has_value());
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*first)->run());
    scope.spawn((*second)->run());
    co_await append_commands(first->get(), 3);
    co_await wait_until_durable(first->get(), 3);
    co_await append_commands(second->get(), 5);
    co_await wait_until_durable(second->get(), 5);
    co_await append_commands(first->get(), 1);
    co_await wait_until_durable(first->get(), 4);
    scope.request_stop();
    co_await scope.join();
}

TEST_F(partition_journals, record_what_the_others_have_on_the_disk) {
    io::block_on(ctx, write_in_turns(&disk));
    EXPECT_EQ(mark_of("a", 1), (partition_mark{.partition = 1, .has_begun = true, .sequence = 5}));
    EXPECT_EQ(mark_of("b", 0), (partition_mark{.partition = 0, .has_begun = true, .sequence = 3}));
    EXPECT_EQ(mark_of("a", 0), partition_mark()) << "nothing of itself";
    const journal_end end = end_of("a");
    EXPECT_EQ(end.segments.back().header.birth.id[0], std::byte{7});
    EXPECT_EQ(end.segments.back().header.birth.hash_key[15], std::byte{9});
}

/// The first partition's journal continues alone, and has the second one's progress only from its own blocks; then the
/// second one has more, and the first records that without a command.
io::task<> go_on_alone(storage* files, bool other_has_more) {
    const auto board = std::make_shared<partition_board>();
    auto first = co_await open_partition(files, "a", 0, board);
    CORRO_REQUIRE(first.has_value());
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*first)->run());
    if (other_has_more) {
        board->note(1, 7);
        const std::uint64_t ticket = (*first)->write_marks();
        while ((*first)->durable_progress() < ticket && !(*first)->failed()) co_await (*first)->progressed().wait();
    }
    scope.request_stop();
    co_await scope.join();
}

TEST_F(partition_journals, keep_what_was_recorded_in_the_next_life_and_add_marks_without_commands) {
    io::block_on(ctx, write_in_turns(&disk));
    io::block_on(ctx, go_on_alone(&disk, false));
    EXPECT_EQ(mark_of("a", 1), (partition_mark{.partition = 1, .has_begun = true, .sequence = 5}));
    io::block_on(ctx, go_on_alone(&disk, true));
    EXPECT_EQ(mark_of("a", 1), (partition_mark{.partition = 1, .has_begun = true, .sequence = 7}));
    EXPECT_EQ(end_of("a").next_sequence, 5U);
}

/// The first partition's journal gets commands, fifty in an interval of marks, while the second one is idle; until the
/// second has recorded that, or a time limit is over.
io::task<> trade_beside_an_idle_partition(storage* files, std::uint64_t count, std::uint64_t* marks_written_count,
                                          std::uint64_t* marks_written_max) {
    const auto board = std::make_shared<partition_board>();
    auto first = co_await open_partition(files, "a", 0, board);
    auto second = co_await open_partition(files, "b", 1, board);
    CORRO_REQUIRE(first.has_value() && second.has_value());
    io::context& on = co_await io::this_context();
    const io::steady_time begin = on.now();
    io::task_scope scope(on);
    scope.spawn((*first)->run());
    scope.spawn((*second)->run());
    for (std::uint64_t i = 0; i < count; ++i) {
        co_await append_commands(first->get(), 1);
        co_await wait_until_durable(first->get(), (*first)->next_sequence() - 1);
        static_cast<void>(co_await io::sleep_for(marks_interval / 50));
    }
    identity venue = test_venue;
    venue.partition = 1;
    while (on.now() - begin < 20 * marks_interval) {
        const reading found = co_await read_all(files, "b", 1, false, venue);
        if (unpack_mark(found.end.marks[0]).sequence == count) break;
        static_cast<void>(co_await io::sleep_for(marks_interval / 20));
    }
    *marks_written_count = (*second)->durable_progress();
    *marks_written_max = 1 + static_cast<std::uint64_t>((on.now() - begin) / marks_interval);
    scope.request_stop();
    co_await scope.join();
}

TEST_F(partition_journals, D8_that_are_idle_record_what_the_others_have_reached_and_not_each_command) {
    std::uint64_t count = 0;
    std::uint64_t most = 0;
    io::block_on(ctx, trade_beside_an_idle_partition(&disk, 300, &count, &most));
    EXPECT_EQ(mark_of("b", 0), (partition_mark{.partition = 0, .has_begun = true, .sequence = 300}));
    EXPECT_GE(count, 1U);
    EXPECT_LE(count, most);
}

TEST_F(partition_journals, D8_record_that_a_partition_without_a_command_has_a_journal) {
    io::block_on(ctx, go_on_alone(&disk, false));
    const auto board = std::make_shared<partition_board>();
    board->note(0, 0);
    static_cast<void>(io::block_on(ctx, open_partition(&disk, "b", 1, board)));
    EXPECT_EQ(mark_of("b", 0), (partition_mark{.partition = 0, .has_begun = true, .sequence = 0}));
}

// --- The chain ------------------------------------------------------------------------------------------------------

/// One run of a journal with `count` more commands, in one segment.
io::task<> one_life(storage* files, std::string directory, std::uint64_t count, std::int64_t (*clock)()) {
    writer_options options = small_options(durability::group);
    options.wall_clock_ns = clock;
    auto log = co_await open_writer(files, std::move(directory), options);
    CORRO_REQUIRE(log.has_value());
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*log)->run());
    co_await append_commands(log->get(), count);
    (*log)->close();
    co_await scope.join();
}

std::int64_t one_clock() {
    return 1'700'000'000'000'000'000;
}
std::int64_t another_clock() {
    return 1'700'000'000'000'000'001;
}

// A copy of a journal continues by itself. Its segments have the same numbers and the same sequence numbers, but do not
// fit between those of the original.
TEST_F(partition_journals, a_segment_of_another_copy_does_not_fit) {
    io::block_on(ctx, one_life(&disk, "a", 10, one_clock));
    for (const std::string& name : {segment_name(1), std::string(manifest_name)}) {
        disk.put("b/" + name, disk.bytes_of("a/" + name));
    }
    io::block_on(ctx, one_life(&disk, "a", 10, one_clock));
    io::block_on(ctx, one_life(&disk, "a", 10, one_clock));
    io::block_on(ctx, one_life(&disk, "b", 10, another_clock));
    io::block_on(ctx, one_life(&disk, "b", 10, another_clock));
    for (const std::uint64_t number : {2U, 3U}) {
        const sim::disk::contents sound = disk.bytes_of("a/" + segment_name(number));
        disk.put("a/" + segment_name(number), disk.bytes_of("b/" + segment_name(number)));
        const reading found = io::block_on(ctx, read_all(&disk, "a", 1));
        EXPECT_EQ(found.error.code, journal_errc::broken_chain) << found.error.text;
        EXPECT_EQ(found.error.file, "a/" + segment_name(3));
        disk.put("a/" + segment_name(number), sound);
    }
    EXPECT_EQ(io::block_on(ctx, read_all(&disk, "a", 1)).last, 30U) << "the control";
}

}  // namespace
}  // namespace corro::journal
