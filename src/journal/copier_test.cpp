// SPDX-License-Identifier: Apache-2.0
// Copies of journals while their venue runs.
#include "journal/copier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro::journal {
namespace {

writer_options options_of(std::uint32_t partition = 0, std::shared_ptr<partition_board> board = nullptr) {
    writer_options options = small_options(durability::group, 16 * 1024);
    options.venue.partition = partition;
    options.birth.id.fill(std::byte{7});
    options.birth.hash_key.fill(std::byte{9});
    options.board = std::move(board);
    return options;
}

identity venue_of(std::uint32_t partition) {
    identity venue = test_venue;
    venue.partition = partition;
    return venue;
}

class copies : public testing::Test {
 protected:
    copies() { EXPECT_FALSE(target.make_directory("copy") || target.make_directory("b")); }

    /// Reads a copy, and compares it with its manifest.
    reading expect_sound(const std::string& directory, std::uint32_t partition, std::uint64_t from_sequence = 1) {
        reading found =
            io::block_on(ctx, read_all(&target, directory, from_sequence == 1 ? 1 : 0, false, venue_of(partition)));
        EXPECT_EQ(found.error.text, "");
        EXPECT_EQ(found.end.tail, tail_state::sealed);
        const auto manifest =
            io::block_on(ctx, find_manifest(&target, directory, venue_of(partition), venue_identity()));
        EXPECT_TRUE(manifest.has_value()) << manifest.error().text;
        if (!manifest) return found;
        EXPECT_TRUE(manifest->is_closed);
        const auto whole = check_end(*manifest, found.end, directory);
        EXPECT_TRUE(whole.has_value()) << whole.error().text;
        EXPECT_EQ(manifest->birth.hash_key[3], std::byte{9});
        return found;
    }

    io::context ctx;
    sim::disk disk{sim::disk_pace::in_turns};
    sim::disk target{sim::disk_pace::in_turns};
};

/// Appends, a few at a time, until it is stopped.
io::task<> keep_appending(writer* log, base::prng* random) {
    while (!log->failed()) {
        co_await append_commands(log, 1 + random->below(20));
        for (std::uint64_t i = random->below(20); i != 0; --i) co_await io::yield();
        if (log->next_sequence() > 20'000) co_return;
    }
}

/// Copies the journals of running partitions, and returns the copiers when they are finished.
io::task<> copy_at_work(std::vector<std::unique_ptr<copier>>* all, std::vector<writer*> logs,
                        std::vector<std::uint64_t>* durable, int* cuts) {
    for (auto& each : *all) {
        const auto done = co_await each->catch_up();
        EXPECT_TRUE(done.has_value()) << done.error().text;
        co_await io::yield();
    }
    for (const writer* log : logs) durable->push_back(log->durable_sequence());
    for (auto& each : *all) {
        each->begin_moment();
    }
    std::vector<std::uint64_t> last;
    for (auto& each : *all) {
        for (int i = 0; i < 200; ++i) co_await io::yield();
        const auto done = co_await each->catch_up();
        EXPECT_TRUE(done.has_value()) << done.error().text;
        last.push_back(each->last_sequence());
    }
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::size_t k = 0; k < all->size(); ++k) {
            if (!(*all)[k]->cut(last)) continue;
            last[k] = (*all)[k]->last_sequence();
            ++*cuts;
            goes_on = true;
        }
    }
    for (auto& each : *all) {
        const auto done = co_await each->finish(last);
        EXPECT_TRUE(done.has_value()) << done.error().text;
    }
}

struct copied_venue {
    std::vector<std::uint64_t> durable;  ///< when the moment began
    int cuts = 0;
};

/// Copies a venue of `count` partitions under load.
io::task<copied_venue> run_and_copy(sim::disk* disk, sim::disk* target, std::size_t count, std::uint64_t seed) {
    copied_venue result;
    const auto board = count == 1 ? nullptr : std::make_shared<partition_board>();
    base::prng random(seed);
    std::vector<std::unique_ptr<writer>> logs;
    std::vector<std::unique_ptr<copier>> all;
    for (std::uint32_t k = 0; k < count; ++k) {
        auto log = co_await open_writer(disk, k == 0 ? "a" : "b", options_of(k, board));
        EXPECT_TRUE(log.has_value()) << log.error().text;
        if (!log) co_return result;
        logs.push_back(std::move(*log));
        all.push_back(std::make_unique<copier>(disk, k == 0 ? "a" : "b", target, k == 0 ? "copy" : "b"));
    }
    io::task_scope scope(co_await io::this_context());
    std::vector<writer*> written;
    for (auto& log : logs) {
        written.push_back(log.get());
        scope.spawn(log->run());
        scope.spawn(keep_appending(log.get(), &random));
        co_await wait_until_durable(log.get(), 300);
    }
    co_await copy_at_work(&all, written, &result.durable, &result.cuts);
    scope.request_stop();
    co_await scope.join();
    co_return result;
}

TEST_F(copies, of_a_journal_at_work_has_everything_that_was_durable_when_its_moment_began) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(testing::Message() << "CORRO_SEED=" << seed);
    const copied_venue venue = io::block_on(ctx, run_and_copy(&disk, &target, 1, seed));
    const reading found = expect_sound("copy", 0);
    EXPECT_GE(found.last, venue.durable[0]);
    EXPECT_GT(found.end.segments.size(), 2U) << "segments were sealed while it was copied";
    // A venue continues after it.
    io::block_on(ctx, write_journal(&target, "copy", options_of(), 100));
    EXPECT_EQ(io::block_on(ctx, read_all(&target, "copy", 1, false, venue_of(0))).last, found.last + 100);
}

TEST_F(copies, of_partitions_at_work_are_of_one_moment) {
    const std::uint64_t seed = base::test_seed();
    int cuts = 0;
    for (std::uint64_t round = 0; round < 20; ++round) {
        SCOPED_TRACE(testing::Message() << "CORRO_SEED=" << seed + round);
        disk.~disk();
        new (&disk) sim::disk(sim::disk_pace::in_turns);
        target.~disk();
        new (&target) sim::disk(sim::disk_pace::in_turns);
        ASSERT_FALSE(target.make_directory("copy") || target.make_directory("b"));
        const copied_venue venue = io::block_on(ctx, run_and_copy(&disk, &target, 2, seed + round));
        const reading a = expect_sound("copy", 0);
        const reading b = expect_sound("b", 1);
        EXPECT_GE(a.last, venue.durable[0]) << "nothing that was durable is cut off";
        EXPECT_GE(b.last, venue.durable[1]);
        EXPECT_GE(b.last, unpack_mark(a.end.marks[1]).sequence) << "no journal knows more of another than that has";
        EXPECT_GE(a.last, unpack_mark(b.end.marks[0]).sequence);
        cuts += venue.cuts;
    }
    EXPECT_GT(cuts, 0) << "the journals that were copied later were further";
}

/// Copies a journal without a writer.
io::task<std::expected<void, problem>> copy_whole(storage* from, storage* to, std::string directory = "a") {
    copier copy(from, std::move(directory), to, "copy");
    auto done = co_await copy.catch_up();
    if (done && !copy.has_segments()) co_return done;
    if (!done) co_return done;
    const std::array<std::uint64_t, 1> last{copy.last_sequence()};
    done = co_await copy.finish(last);
    co_return done;
}

TEST_F(copies, of_a_closed_journal_is_the_same_journal) {
    io::block_on(ctx, write_journal(&disk, "a", options_of(), 700));
    const auto done = io::block_on(ctx, copy_whole(&disk, &target));
    ASSERT_TRUE(done.has_value()) << done.error().text;
    EXPECT_EQ(expect_sound("copy", 0).last, 700U);
    const reading original = io::block_on(ctx, read_all(&disk, "a", 1, false, venue_of(0)));
    const reading copy = io::block_on(ctx, read_all(&target, "copy", 1, false, venue_of(0)));
    EXPECT_EQ(copy.end.segments.back().digest, original.end.segments.back().digest);
}

/// The journal loses its oldest segments while it is copied.
io::task<> copy_while_segments_go(sim::disk* disk, sim::disk* target, bool between) {
    writer_options options = options_of();
    options.kept_segments_max = 0;
    auto log = co_await open_writer(disk, "a", options);
    CORRO_REQUIRE(log.has_value());
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*log)->run());
    co_await append_commands(log->get(), 100);
    co_await wait_until_durable(log->get(), 100);
    copier copy(disk, "a", target, "copy");
    auto done = co_await copy.catch_up();
    EXPECT_TRUE(done.has_value());
    if (between) {
        co_await append_commands(log->get(), 1'000);
        co_await wait_until_durable(log->get(), 1'100);
    }
    co_await append_commands(log->get(), 300);
    co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
    // Removes the segment that is being copied, or also later ones that are not copied yet.
    (*log)->forget_before(between ? (*log)->durable_sequence() : 150);
    while ((*log)->statistics().segments_removed_count == 0) co_await io::yield();
    for (int i = 0; i < 2'000; ++i) co_await io::yield();
    done = co_await copy.catch_up();
    EXPECT_TRUE(done.has_value()) << done.error().text;
    EXPECT_EQ(copy.last_sequence(), (*log)->durable_sequence());
    const std::array<std::uint64_t, 1> last{copy.last_sequence()};
    done = co_await copy.finish(last);
    EXPECT_TRUE(done.has_value()) << done.error().text;
    scope.request_stop();
    co_await scope.join();
}

TEST_F(copies, go_on_with_a_segment_that_the_venue_removes_meanwhile) {
    io::block_on(ctx, copy_while_segments_go(&disk, &target, false));
    EXPECT_EQ(expect_sound("copy", 0).last, 400U);
}

TEST_F(copies, begin_later_when_segments_were_removed_that_were_not_copied_yet) {
    io::block_on(ctx, copy_while_segments_go(&disk, &target, true));
    const reading found = expect_sound("copy", 0, 0);
    EXPECT_EQ(found.last, 1'400U);
    EXPECT_GT(found.first, 101U) << "what was copied before the gap is not there any more";
}

TEST_F(copies, refuse_a_journal_with_a_segment_that_is_missing) {
    io::block_on(ctx, write_journal(&disk, "a", options_of(), 700));
    disk.take_away("a/" + segment_name(2));
    const auto done = io::block_on(ctx, copy_whole(&disk, &target));
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, journal_errc::missing_segment);
}

TEST_F(copies, refuse_a_journal_whose_end_is_missing) {
    io::block_on(ctx, write_journal(&disk, "a", options_of(), 700));
    const reading whole = io::block_on(ctx, read_all(&disk, "a", 1, false, venue_of(0)));
    const segment_summary& last = whole.end.segments.back();
    const std::string path = "a/" + segment_name(last.header.number);
    sim::disk::contents bytes = disk.bytes_of(path);
    bytes.resize(segment_header_bytes);
    disk.put(path, bytes);
    const auto done = io::block_on(ctx, copy_whole(&disk, &target));
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, journal_errc::missing_end);
}

TEST_F(copies, refuse_damage_in_front_of_what_was_durable) {
    io::block_on(ctx, write_journal(&disk, "a", options_of(), 30));
    io::block_on(ctx, write_journal(&disk, "a", options_of(), 30));
    const reading whole = io::block_on(ctx, read_all(&disk, "a", 1, false, venue_of(0)));
    // The last segment has one block of all thirty, and then the seal, which records them as durable.
    const std::string path = "a/" + segment_name(whole.end.segments.back().header.number);
    sim::disk::contents bytes = disk.bytes_of(path);
    bytes[segment_header_bytes + 300] ^= std::byte{1};
    disk.put(path, bytes);
    const auto done = io::block_on(ctx, copy_whole(&disk, &target));
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, journal_errc::damaged);
    EXPECT_EQ(done.error().offset, segment_header_bytes);
}

TEST_F(copies, refuse_one_of_several_alone) {
    static_cast<void>(io::block_on(ctx, run_and_copy(&disk, &target, 2, 5)));
    sim::disk other{sim::disk_pace::in_turns};
    ASSERT_FALSE(other.make_directory("copy"));
    const auto done = io::block_on(ctx, copy_whole(&disk, &other));
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, journal_errc::different_moments);
}

TEST_F(copies, that_are_not_finished_do_not_start) {
    io::block_on(ctx, write_journal(&disk, "a", options_of(), 700));
    std::uint64_t calls = 0;
    {
        ASSERT_TRUE(io::block_on(ctx, copy_whole(&disk, &target)).has_value());
        calls = target.faults().calls_count;
    }
    ASSERT_GT(calls, 20U);
    for (std::uint64_t at = 1; at < calls; ++at) {
        sim::disk small{sim::disk_pace::in_turns};
        ASSERT_FALSE(small.make_directory("copy"));
        small.faults().fails_at = at;
        small.faults().failure = ENOSPC;
        small.faults().fails_on = true;
        const auto done = io::block_on(ctx, copy_whole(&disk, &small));
        ASSERT_FALSE(done.has_value()) << "call " << at;
        EXPECT_EQ(done.error().code, std::errc::no_space_on_device) << done.error().text;
        small.faults().fails_at = 0;
        // A manifest that could not be synced may be whole; then everything before it is on the disk.
        if (io::block_on(ctx, read_manifest(&small, "copy")).value_or(std::nullopt)) continue;
        if (small.list("copy")->empty()) continue;  // it has another name then: node/recovery/venue_backup.hpp
        EXPECT_FALSE(io::block_on(ctx, open_writer(&small, "copy", options_of())).has_value()) << "call " << at;
    }
}

TEST_F(copies, of_what_is_not_there_say_so) {
    disk.put_directory("empty");
    EXPECT_TRUE(io::block_on(ctx, copy_whole(&disk, &target, "empty")).has_value()) << "there is no segment";
    const auto nothing = io::block_on(ctx, copy_whole(&disk, &target, "nothing"));
    ASSERT_FALSE(nothing.has_value());
    EXPECT_EQ(nothing.error().code, std::errc::no_such_file_or_directory);
    disk_storage files(ctx);
    const auto done = io::block_on(ctx, copy_whole(&files, &target, "/nowhere/at/all"));
    ASSERT_FALSE(done.has_value());
    EXPECT_NE(done.error().text.find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace corro::journal
