// SPDX-License-Identifier: Apache-2.0
// The commit log without a disk: what a host and the followers of a log rely on.
#include "journal/commit_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/log_space.hpp"
#include "journal/peer_marks.hpp"
#include "journal/test_journal.hpp"

namespace corro::journal {
namespace {

/// A log in memory. The test decides what is written and durable.
class memory_log final : public commit_log {
 public:
    explicit memory_log(std::uint64_t next_sequence = 1, bool promises_nothing = false)
        : commit_log(next_sequence, block_commands_max, promises_nothing, log_space(100'000, false)) {
        set_free(100'000'000);
    }
    void set_free(std::uint64_t bytes, bool disk_is_full = false) noexcept { set_space(bytes, disk_is_full); }
    /// Writes the batch that waits. @return Its commands.
    std::uint32_t write() {
        batch* const ready = take_batch();
        if (ready == nullptr) return 0;
        const std::uint32_t count = ready->count;
        for (std::uint32_t i = 0; i < count; ++i) {
            domain::command c;
            std::memcpy(static_cast<void*>(&c), ready->command(i), sizeof c);
            EXPECT_TRUE(is_command_at(c, written_sequence() + 1 + i));
        }
        note_written(count);
        release(*ready);
        return count;
    }
    using commit_log::acknowledge;
    using commit_log::begin_close;
    using commit_log::end_with;
    using commit_log::note_extent;
    using commit_log::note_written;
    using commit_log::take_batch;
};

void append(commit_log& log, std::uint64_t count) {
    for (; count != 0; --count) ASSERT_TRUE(log.append(command_at(log.next_sequence())));
}

TEST(commit_log, takes_commands_in_sequence_and_hands_them_out_in_batches) {
    memory_log log(11);
    EXPECT_EQ(log.durable_sequence(), 10U);
    EXPECT_EQ(log.write(), 0U);
    append(log, 5);
    EXPECT_EQ(log.next_sequence(), 16U);
    EXPECT_EQ(log.write(), 5U);
    EXPECT_EQ(log.written_sequence(), 15U);
    EXPECT_EQ(log.durable_sequence(), 10U) << "written is not durable";
    EXPECT_EQ(log.committed_sequence(), 10U);
    log.acknowledge(13);
    EXPECT_EQ(log.durable_sequence(), 13U);
    log.acknowledge(12);
    EXPECT_EQ(log.durable_sequence(), 13U) << "it only grows";
    EXPECT_EQ(log.committed_sequence(), 13U);
}

TEST(commit_log, takes_a_second_batch_while_the_first_is_written_and_no_third) {
    memory_log log;
    append(log, block_commands_max);
    EXPECT_FALSE(log.has_buffer());
    EXPECT_FALSE(log.append(command_at(log.next_sequence()))) << "full";
    EXPECT_EQ(log.next_sequence(), block_commands_max + 1U) << "a command that is not taken keeps its number";
    ASSERT_NE(log.take_batch(), nullptr);
    EXPECT_TRUE(log.has_buffer());
    append(log, block_commands_max);
    EXPECT_FALSE(log.has_buffer());
    EXPECT_DEATH(static_cast<void>(log.take_batch()), "one batch at a time");
}

TEST(commit_log, without_a_promise_counts_as_durable_at_once_and_as_committed_when_written) {
    memory_log log(1, true);
    append(log, 3);
    EXPECT_EQ(log.durable_sequence(), 3U);
    EXPECT_EQ(log.committed_sequence(), 0U) << "no file has them";
    log.write();
    EXPECT_EQ(log.committed_sequence(), 3U);
}

TEST(commit_log, takes_nothing_after_its_close_or_failure) {
    memory_log closed;
    append(closed, 1);
    closed.begin_close();
    EXPECT_TRUE(closed.is_closing());
    EXPECT_FALSE(closed.append(command_at(2)));
    memory_log failed;
    EXPECT_TRUE(failed.end_with(problem(journal_errc::disk_full, "first", "")));
    EXPECT_FALSE(failed.end_with(problem(journal_errc::damaged, "second", "")));
    EXPECT_EQ(failed.error().text, "first");
    EXPECT_FALSE(failed.append(command_at(1)));
    EXPECT_EQ(failed.room(), journal_room::none);
}

TEST(commit_log, tells_a_disk_that_is_full_from_space_that_is_being_made) {
    memory_log log;
    EXPECT_FALSE(log.space_is_being_made());
    log.set_free(50'000);
    EXPECT_EQ(log.room(), journal_room::cancels_only);
    EXPECT_TRUE(log.space_is_being_made());
    log.set_free(50'000, true);
    EXPECT_TRUE(log.disk_is_full());
    EXPECT_FALSE(log.space_is_being_made());
    log.set_free(0, true);
    EXPECT_FALSE(log.append(command_at(1)));
    EXPECT_EQ(log.extents_count(), 0U);
    log.note_extent();
    EXPECT_EQ(log.extents_count(), 1U);
}

io::task<void> wait_for(log_follower* follower, std::uint64_t sequence, int* done) {
    while (follower->log().committed_sequence() < sequence) {
        const std::error_code stopped = co_await follower->progressed().wait();
        CORRO_REQUIRE(!stopped);
    }
    ++*done;
}

TEST(commit_log, wakes_its_host_and_every_follower) {
    io::context context;
    memory_log log;
    log_follower one(log);
    const auto other = std::make_unique<log_follower>(log);
    int done = 0;
    const auto body = [](io::context* on, memory_log* what, log_follower* a, log_follower* b,
                         int* count) -> io::task<void> {
        io::task_scope waiting(*on);
        waiting.spawn(wait_for(a, 2, count));
        waiting.spawn(wait_for(b, 4, count));
        append(*what, 4);
        what->write();
        what->acknowledge(2);
        const std::error_code host = co_await what->progressed().wait();
        EXPECT_FALSE(host);
        what->acknowledge(4);
        co_await waiting.join();
    };
    io::block_on(context, body(&context, &log, &one, other.get(), &done));
    EXPECT_EQ(done, 2);
}

TEST(commit_log_asserts, what_host_and_implementation_must_not_do) {
    memory_log log;
    append(log, 2);
    EXPECT_DEATH(static_cast<void>(log.append(command_at(4))), "in sequence");
    EXPECT_DEATH(static_cast<void>(log.append(command_at(2))), "in sequence");
    EXPECT_DEATH(log.acknowledge(1), "only written commands");
    EXPECT_DEATH(log.note_written(1), "only appended commands");
    EXPECT_DEATH(memory_log(0), "numbered from 1");
    EXPECT_DEATH(
        {
            auto gone = std::make_unique<memory_log>();
            const log_follower left(*gone);
            gone.reset();
        },
        "outlives its followers");
}

TEST(log_space, has_room_for_fewer_kinds_of_commands_the_less_is_left) {
    for (const bool one_each : {false, true}) {
        log_space space(8'000, one_each);
        EXPECT_EQ(space.room(0), journal_room::none) << "nothing is known yet";
        for (const std::uint64_t waiting : {0U, 1U, 5'000U}) {
            const std::uint64_t needed = space.bytes_needed(waiting + 1);
            const auto with = [&](std::uint64_t left) {
                space.set_free(needed + left);
                return space.room(waiting);
            };
            EXPECT_EQ(with(8'001), journal_room::everything);
            EXPECT_EQ(with(8'000), journal_room::cancels_only);
            EXPECT_EQ(with(2'001), journal_room::cancels_only);
            EXPECT_EQ(with(2'000), journal_room::operators_only);
            EXPECT_EQ(with(1), journal_room::operators_only);
            EXPECT_EQ(with(0), journal_room::none);
        }
        EXPECT_GE(space.bytes_needed(1), block_bytes(1));
        EXPECT_GE(space.bytes_needed(block_commands_max * 3), 3 * block_bytes(block_commands_max));
    }
}

TEST(peer_marks, give_every_partition_its_turn_and_leave_out_the_own_one) {
    const auto board = std::make_shared<partition_board>();
    peer_marks marks(board, 3);
    EXPECT_TRUE(marks.for_block().empty()) << "no partition has begun";
    EXPECT_FALSE(marks.are_behind());
    for (std::uint32_t partition = 0; partition < partitions_max; ++partition) board->note(partition, 100 + partition);
    EXPECT_TRUE(marks.are_behind());
    std::vector<std::uint64_t> seen(partitions_max);
    for (std::size_t block = 0; block * block_marks_max < partitions_max - 1; ++block) {
        const packed_marks some = marks.for_block();
        EXPECT_EQ(some.size(), block_marks_max);
        for (const std::uint64_t mark : some) seen[unpack_mark(mark).partition] = unpack_mark(mark).sequence;
    }
    for (std::uint32_t partition = 0; partition < partitions_max; ++partition)
        EXPECT_EQ(seen[partition], partition == 3 ? 0 : 100 + partition);
    EXPECT_FALSE(marks.are_behind());
    board->note(7, 200);
    EXPECT_TRUE(marks.are_behind());
    std::array<std::uint64_t, partitions_max> header{};
    marks.put_in(header);
    EXPECT_EQ(unpack_mark(header[7]).sequence, 200U);
    EXPECT_EQ(header[3], 0U);
    EXPECT_FALSE(marks.are_behind());
    peer_marks alone(nullptr, 0);
    EXPECT_FALSE(alone.has_peers());
    EXPECT_TRUE(alone.for_block().empty());
    EXPECT_FALSE(alone.are_behind());
}

}  // namespace
}  // namespace corro::journal
