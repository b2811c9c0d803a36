// SPDX-License-Identifier: Apache-2.0
#include "journal/snapshot_store.hpp"

#include <gtest/gtest.h>

#include "base/test_seed.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro::journal {
namespace {

std::vector<std::byte> state_of(std::uint64_t sequence, std::size_t size = 1'000) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(base::mix64(sequence * 1'000 + i));
    return bytes;
}

snapshot_header about(std::uint64_t sequence) {
    snapshot_header header;
    header.sequence = sequence;
    header.epoch = 2;
    header.created_ns = 1'700'000'000'000'000'000;
    header.state_hash = base::mix64(sequence);
    return header;
}

io::task<std::error_code> save(snapshot_store* store, std::uint64_t sequence) {
    const std::vector<std::byte> bytes = state_of(sequence);
    const auto saved = co_await store->save(about(sequence), bytes);
    co_return saved ? std::error_code() : saved.error().code;
}

class snapshots : public testing::Test {
 protected:
    snapshots() { disk.put_directory("j"); }

    newest_snapshot newest(std::uint64_t at_most = ~std::uint64_t{0}) {
        auto found = io::block_on(ctx, store.load_newest(at_most));
        EXPECT_TRUE(found.has_value()) << found.error().text;
        return found ? std::move(*found) : newest_snapshot();
    }
    io::context ctx;
    sim::disk disk{sim::disk_pace::in_turns};
    snapshot_store store{&disk, "j", test_venue};
};

TEST_F(snapshots, the_newest_is_loaded_as_it_was_saved) {
    EXPECT_FALSE(newest().snapshot.has_value());
    for (const std::uint64_t sequence : {100U, 300U, 200U}) EXPECT_FALSE(io::block_on(ctx, save(&store, sequence)));
    const newest_snapshot found = newest();
    ASSERT_TRUE(found.snapshot.has_value());
    EXPECT_EQ(found.snapshot->about.sequence, 300U);
    EXPECT_EQ(found.snapshot->about.epoch, 2U);
    EXPECT_EQ(found.snapshot->about.created_ns, 1'700'000'000'000'000'000);
    EXPECT_EQ(found.snapshot->about.state_hash, base::mix64(300));
    EXPECT_EQ(found.snapshot->bytes, state_of(300));
    EXPECT_TRUE(found.passed_over.empty());
    EXPECT_EQ(newest(299).snapshot->about.sequence, 200U);
    EXPECT_FALSE(newest(99).snapshot.has_value());
    EXPECT_EQ(store.list(), (std::vector<std::uint64_t>{100, 200, 300}));
    EXPECT_TRUE(io::block_on(ctx, store.keep(1)).has_value());
    EXPECT_EQ(store.list(), (std::vector<std::uint64_t>{300}));
    EXPECT_EQ(io::block_on(ctx, store.load(100)).error().code, journal_errc::out_of_reach);
}

TEST_F(snapshots, the_end_of_a_state_is_read_alone) {
    EXPECT_FALSE(io::block_on(ctx, save(&store, 7)));
    const std::vector<std::byte> all = state_of(7);
    const std::vector<std::byte> end(all.end() - 24, all.end());
    EXPECT_EQ(io::block_on(ctx, store.load_end(7, 24)).value(), end);
    EXPECT_EQ(io::block_on(ctx, store.load_end(7, 5'000)).value(), all) << "without the header";
    sim::disk::contents cut = disk.bytes_of("j/" + snapshot_name(7));
    cut.resize(100);
    disk.put("j/" + snapshot_name(7), cut);
    EXPECT_EQ(io::block_on(ctx, store.load_end(7, 24)).value(), std::vector<std::byte>());
    EXPECT_FALSE(io::block_on(ctx, store.load_end(8, 24)).has_value());
}

TEST_F(snapshots, an_empty_state_is_one) {
    EXPECT_TRUE(io::block_on(ctx, store.save(about(1), {})).has_value());
    ASSERT_TRUE(newest().snapshot.has_value());
    EXPECT_TRUE(newest().snapshot->bytes.empty());
}

TEST_F(snapshots, a_state_beyond_the_limit_is_refused_and_nothing_is_written) {
    const std::byte first{};
    // Too many bytes are refused without reading them.
    const std::span<const std::byte> too_many(&first, snapshot_bytes_max + 1);
    const auto saved = io::block_on(ctx, store.save(about(1), too_many));
    ASSERT_FALSE(saved.has_value());
    EXPECT_EQ(saved.error().code, std::errc::file_too_large);
    EXPECT_EQ(store.list(), std::vector<std::uint64_t>{});
    EXPECT_FALSE(newest().snapshot.has_value());
}

TEST_F(snapshots, d6_every_flipped_byte_and_every_cut_makes_it_passed_over) {
    EXPECT_FALSE(io::block_on(ctx, save(&store, 1)));
    EXPECT_FALSE(io::block_on(ctx, save(&store, 2)));
    const std::string path = "j/" + snapshot_name(2);
    const sim::disk::contents sound = disk.bytes_of(path);
    for (std::size_t at = 0; at < sound.size(); ++at) {
        for (const bool cuts : {false, true}) {
            sim::disk::contents damaged = sound;
            if (cuts)
                damaged.resize(at);
            else
                damaged[at] ^= std::byte{0x40};
            disk.put(path, damaged);
            const newest_snapshot found = newest();
            ASSERT_TRUE(found.snapshot.has_value());
            EXPECT_EQ(found.snapshot->about.sequence, 1U) << (cuts ? "cut at " : "flipped at ") << at;
            ASSERT_EQ(found.passed_over.size(), 1U);
            EXPECT_EQ(found.passed_over[0].file, path);
        }
    }
    disk.put(path, sound);
    EXPECT_EQ(newest().snapshot->about.sequence, 2U) << "the control";
}

TEST_F(snapshots, one_of_another_venue_is_refused) {
    EXPECT_FALSE(io::block_on(ctx, save(&store, 1)));
    snapshot_store other(&disk, "j", identity("TEST", test_venue.fingerprint + 1, 3));
    const auto found = io::block_on(ctx, other.load_newest());
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, journal_errc::foreign_venue);
    snapshot_store anybody(&disk, "j", std::nullopt);
    EXPECT_TRUE(io::block_on(ctx, anybody.load_newest()).has_value());
}

TEST_F(snapshots, d4_an_error_at_any_call_leaves_the_older_one) {
    EXPECT_FALSE(io::block_on(ctx, save(&store, 1)));
    std::uint64_t failures_count = 0;
    for (std::uint64_t call = 1;; ++call) {
        disk.faults().calls_count = 0;
        disk.faults().fails_at = call;
        const std::error_code error = io::block_on(ctx, save(&store, 2));
        disk.faults().fails_at = 0;
        if (!error) break;
        EXPECT_EQ(error, std::errc::io_error);
        ++failures_count;
        const std::uint64_t found = newest().snapshot->about.sequence;
        // When only the directory's sync failed, the new one has its name.
        EXPECT_TRUE(found == 1 || (found == 2 && call == 6)) << "call " << call << " found " << found;
        disk.take_away("j/" + snapshot_name(2));
    }
    EXPECT_EQ(failures_count, 6U) << "open, two writes, sync, rename, sync of the directory";
    EXPECT_EQ(newest().snapshot->about.sequence, 2U);
}

TEST_F(snapshots, d6_after_a_power_cut_there_is_the_old_one_or_the_new_one_whole) {
    const std::uint64_t seed = base::test_seed();
    std::uint64_t new_ones_count = 0;
    for (std::uint64_t round = 0; round < 200; ++round) {
        sim::disk fresh{sim::disk_pace::in_turns};
        fresh.put_directory("j");
        snapshot_store here(&fresh, "j", test_venue);
        ASSERT_FALSE(io::block_on(ctx, save(&here, 1)));
        fresh.faults().calls_count = 0;
        fresh.faults().fails_at = 1 + round % 7;
        fresh.faults().fails_on = true;
        const std::error_code error = io::block_on(ctx, save(&here, 2));
        fresh.cut_power(seed + round);
        const auto found = io::block_on(ctx, here.load_newest());
        ASSERT_TRUE(found.has_value() && found->snapshot.has_value());
        EXPECT_TRUE(found->passed_over.empty()) << "half of one has its name, seed " << seed + round;
        if (!error) {
            EXPECT_EQ(found->snapshot->about.sequence, 2U);
        }
        new_ones_count += found->snapshot->about.sequence - 1;
    }
    EXPECT_GT(new_ones_count, 0U);
    EXPECT_LT(new_ones_count, 200U);
}

}  // namespace
}  // namespace corro::journal
