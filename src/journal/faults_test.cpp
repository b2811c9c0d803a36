// SPDX-License-Identifier: Apache-2.0
// The journal's promises under faults: D2 to D5 of the venue's promises.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "journal/manifest.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro::journal {
namespace {

/// Appends in bursts until the writer fails or `most` commands are in.
io::task<> append_bursts(writer* log, std::uint64_t most, std::uint64_t seed) {
    base::prng random(seed);
    while (!log->failed() && log->next_sequence() <= most) {
        for (std::uint64_t burst = 1 + random.below(40); burst != 0 && log->next_sequence() <= most; --burst) {
            if (!log->append(command_at(log->next_sequence()))) break;
        }
        for (std::uint64_t turns = random.below(12); turns != 0; --turns) co_await io::yield();
        co_await io::yield();
    }
}

/// One run of a venue's journal: opens, appends, closes, with any faults.
/// @param refusal  Why the journal refused to start; unchanged when it starts, or when the disk failed.
/// @return The last sequence number that may have been acknowledged; 0 if it could not be opened.
io::task<std::uint64_t> live(storage* files, writer_options options, std::uint64_t most, std::uint64_t seed,
                             std::string* refusal = nullptr) {
    auto log = co_await open_writer(files, "j", std::move(options));
    if (!log) {
        if (log.error().code == std::errc::io_error) co_return 0;
        if (refusal != nullptr) *refusal = log.error().text;
        if (refusal == nullptr) ADD_FAILURE() << log.error().text;
        co_return 0;
    }
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*log)->run());
    co_await append_bursts(log->get(), most, seed);
    (*log)->close();
    co_await scope.join();
    co_return (*log)->durable_sequence();
}

/// A journal in one small segment, closed or left open, in a disk of its own.
void make_small_journal(io::context& ctx, sim::disk& disk, bool closed) {
    const auto body = [](sim::disk* files, bool closes) -> io::task<> {
        auto log = co_await open_writer(files, "j", small_options(durability::group, segment_bytes_min));
        CORRO_REQUIRE(log.has_value());
        io::context& on = co_await io::this_context();
        io::task_scope scope(on);
        scope.spawn((*log)->run());
        for (const std::uint64_t count : {1U, 2U, 4U, 1U}) {
            co_await append_commands(log->get(), count);
            co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
        }
        if (closes)
            (*log)->close();
        else
            scope.request_stop();
        co_await scope.join();
    };
    io::block_on(ctx, body(&disk, closed));
}
constexpr std::uint64_t small_count = 8;

/// Why a start refuses the journal; empty when it does not.
std::string refusal_of(io::context& ctx, sim::disk& disk, writer_options options) {
    const auto log = io::block_on(ctx, open_writer(&disk, "j", std::move(options)));
    return log ? "" : log.error().text;
}

/// The result of a sync that fails once, on a disk that works again afterwards.
struct failed_sync {
    bool journal_failed = false;
    std::uint64_t durable_sequence = 0;
    std::uint64_t later_syncs_count = 0;
    std::string error;
};

io::task<> fail_a_sync(sim::disk* files, failed_sync* result) {
    auto log = co_await open_writer(files, "j", small_options(durability::group));
    CORRO_REQUIRE(log.has_value());
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*log)->run());
    co_await append_commands(log->get(), 5);
    co_await wait_until_durable(log->get(), 5);
    // The write succeeds, the following sync fails.
    files->faults().fails_at = files->faults().calls_count + 2;
    const std::uint64_t syncs_count = files->faults().syncs_count;
    co_await append_commands(log->get(), 5);
    co_await wait_until_durable(log->get(), 10);
    result->journal_failed = (*log)->failed();
    result->error = (*log)->error().text;
    (*log)->close();
    co_await scope.join();
    result->later_syncs_count = files->faults().syncs_count - syncs_count;
    result->durable_sequence = (*log)->durable_sequence();
}

class journal_faults : public testing::Test {
 protected:
    reading read_from(storage& files) { return io::block_on(ctx, read_all(&files, "j", 1)); }
    io::context ctx;
};

// --- D3: damaged bytes ----------------------------------------------------------------------------------------------

TEST_F(journal_faults, d3_every_flipped_byte_is_found_or_ends_the_journal_before_it) {
    for (const bool closed : {false, true}) {
        sim::disk disk{sim::disk_pace::in_turns};
        make_small_journal(ctx, disk, closed);
        const std::string path = "j/" + segment_name(1);
        const sim::disk::contents sound = disk.bytes_of(path);
        ASSERT_EQ(read_from(disk).last, small_count) << "the control";
        std::uint64_t refused_count = 0;
        std::uint64_t ended_count = 0;
        for (std::size_t at = 0; at < sound.size(); ++at) {
            sim::disk::contents damaged = sound;
            damaged[at] ^= std::byte{0x10};
            disk.put(path, damaged);
            // read_all compares every command: a wrong command is never replayed.
            const reading found = read_from(disk);
            if (found.error.code) {
                ++refused_count;
                EXPECT_EQ(found.error.file, path);
                EXPECT_LE(found.error.offset, at) << found.error.text;
                EXPECT_NE(found.error.text.find("offset"), std::string::npos) << found.error.text;
            } else {
                ++ended_count;
                EXPECT_EQ(found.end.tail, tail_state::torn) << "flipped at " << at;
                // Only the last block may be lost; a closed journal loses nothing.
                EXPECT_GE(found.last, closed ? small_count : small_count - 1) << "flipped at " << at;
            }
        }
        EXPECT_GT(refused_count, 0U);
        EXPECT_GT(ended_count, 0U);
    }
}

// The control: without checksums a reader would accept every damaged block, as it does here, where the checksums are
// corrected. The comparison with the written commands finds each.
TEST_F(journal_faults, d3_control_what_a_reader_without_checksums_would_replay_is_noticed) {
    sim::disk disk{sim::disk_pace::in_turns};
    make_small_journal(ctx, disk, true);
    const std::string path = "j/" + segment_name(1);
    const sim::disk::contents sound = disk.bytes_of(path);
    const auto header = decode_segment_header(std::span(sound).first(segment_header_bytes));
    ASSERT_TRUE(header);
    const std::size_t at = segment_header_bytes + block_header_bytes;
    for (std::size_t i = sizeof(domain::command::sequence); i < command_bytes; ++i) {
        sim::disk::contents damaged = sound;
        damaged[at + i] ^= std::byte{0x10};
        encode_block(*header, 1, 0,
                     std::span(damaged).subspan(segment_header_bytes, block_header_bytes + command_bytes));
        disk.put(path, damaged);
        EXPECT_EQ(io::block_on(ctx, read_all(&disk, "j", 1, true)).mistaken_count, 1U) << "flipped at " << at + i;
    }
}

TEST_F(journal_faults, d3_every_cut_ends_the_journal_at_the_last_whole_block) {
    for (const bool closed : {false, true}) {
        sim::disk disk{sim::disk_pace::in_turns};
        make_small_journal(ctx, disk, closed);
        const std::string path = "j/" + segment_name(1);
        const sim::disk::contents sound = disk.bytes_of(path);
        // The end of each of the four blocks, and its last sequence number.
        const std::uint64_t counts[] = {1, 2, 4, 1};
        for (std::size_t size = 0; size < sound.size(); ++size) {
            sim::disk::contents cut = sound;
            cut.resize(size);
            disk.put(path, cut);
            const reading found = read_from(disk);
            if (size < segment_header_bytes) {
                EXPECT_EQ(found.error.code, journal_errc::damaged) << "cut at " << size;
                EXPECT_EQ(found.error.offset, size);
                continue;
            }
            std::uint64_t whole = 0;
            std::uint64_t offset = segment_header_bytes;
            for (const std::uint64_t count : counts) {
                if (size >= offset + block_header_bytes + count * command_bytes) whole += count;
                offset += block_bytes(count);
            }
            ASSERT_EQ(found.error.text, "");
            EXPECT_EQ(found.last, whole) << "cut at " << size;
            const bool seal_is_whole = closed && size >= offset + block_header_bytes;
            EXPECT_EQ(found.end.tail, seal_is_whole ? tail_state::sealed : tail_state::torn) << "cut at " << size;
        }
    }
}

TEST_F(journal_faults, d3_damage_in_any_segment_before_the_last_is_refused_with_its_place) {
    sim::disk disk{sim::disk_pace::in_turns};
    EXPECT_EQ(io::block_on(ctx, live(&disk, small_options(durability::group, 16 * 1024), 400, 1)), 400U);
    const reading sound = read_from(disk);
    ASSERT_GT(sound.end.segments.size(), 3U);
    for (std::size_t i = 0; i + 1 < sound.end.segments.size(); ++i) {
        const segment_summary& segment = sound.end.segments[i];
        const std::string path = "j/" + segment_name(segment.header.number);
        const sim::disk::contents good = disk.bytes_of(path);
        for (std::size_t at = 0; at < segment.used_bytes; at += 97) {
            sim::disk::contents damaged = good;
            damaged[at] ^= std::byte{1};
            disk.put(path, damaged);
            const reading found = read_from(disk);
            // The seal of a segment in the middle is not needed: the next segment has the same information.
            if (at >= segment.used_bytes - seal_bytes) continue;
            EXPECT_EQ(found.error.file, path) << "flipped at " << at << ": " << found.error.text;
            EXPECT_LE(found.error.offset, at);
        }
        disk.put(path, good);
    }
}

TEST_F(journal_faults, d3_a_missing_segment_is_named) {
    sim::disk disk{sim::disk_pace::in_turns};
    EXPECT_EQ(io::block_on(ctx, live(&disk, small_options(durability::group, 16 * 1024), 400, 1)), 400U);
    disk.take_away("j/" + segment_name(2));
    const reading found = read_from(disk);
    EXPECT_EQ(found.error.code, journal_errc::missing_segment);
    EXPECT_EQ(found.error.file, "j/" + segment_name(2));
    // A segment under another's name.
    disk.put("j/" + segment_name(2), disk.bytes_of("j/" + segment_name(3)));
    EXPECT_EQ(read_from(disk).error.code, journal_errc::missing_segment);
    // Without the first, the journal does not reach back.
    sim::disk second{sim::disk_pace::in_turns};
    EXPECT_EQ(io::block_on(ctx, live(&second, small_options(durability::group, 16 * 1024), 400, 1)), 400U);
    second.take_away("j/" + segment_name(1));
    EXPECT_EQ(read_from(second).error.code, journal_errc::out_of_reach);
}

/// Reads what a power cut has left. A directory that was not durable yet is gone, with nothing acknowledged in it.
reading read_after_cut(io::context& ctx, sim::disk& disk) {
    if (!disk.has("j")) return {};
    return io::block_on(ctx, read_all(&disk, "j", 1));
}

// --- D2: the power fails --------------------------------------------------------------------------------------------

struct cut_result {
    std::uint64_t acknowledged = 0;
    std::uint64_t found = 0;
    std::string problem;
};

/// What a disk claims to be durable and is not.
enum class disk_lies : std::uint8_t { about_nothing, about_bytes, about_everything };

/// A journal that loses power at a call that the seed chooses, is read, continues, and loses power again.
cut_result cut_power(io::context& ctx, durability mode, std::uint64_t seed, disk_lies lies) {
    sim::disk disk{sim::disk_pace::in_turns};
    base::prng random(seed);
    cut_result result;
    for (int life = 0; life < 3; ++life) {
        disk.faults().ignores_syncs = lies == disk_lies::about_everything;
        disk.faults().ignores_data_syncs = lies == disk_lies::about_bytes;
        disk.faults().calls_count = 0;
        disk.faults().fails_at = 1 + random.below(120);
        disk.faults().fails_on = true;
        disk.faults().tears_failing_write = random.below(2) == 0;
        const std::uint64_t most = result.found + 600;
        const writer_options options = small_options(mode, 16 * 1024);
        const std::uint64_t durable = io::block_on(ctx, live(&disk, options, most, random(), &result.problem));
        if (!result.problem.empty()) break;
        result.acknowledged = std::max(result.acknowledged, durable);
        disk.cut_power(random());
        const reading after = read_after_cut(ctx, disk);
        result.problem = after.error.text;
        result.found = after.last;
        if (!result.problem.empty() || result.found < result.acknowledged) break;
    }
    if (result.problem.empty()) result.problem = refusal_of(ctx, disk, small_options(mode, 16 * 1024));
    return result;
}

TEST_F(journal_faults, d2_what_was_acknowledged_survives_a_power_cut_in_group_and_each) {
    const std::uint64_t seed = base::test_seed();
    for (const durability mode : {durability::group, durability::each}) {
        std::uint64_t acknowledged_count = 0;
        for (std::uint64_t i = 0; i < 200; ++i) {
            const cut_result result = cut_power(ctx, mode, seed + i, disk_lies::about_nothing);
            EXPECT_EQ(result.problem, "") << name_of(mode) << ", CORRO_SEED=" << seed + i;
            EXPECT_GE(result.found, result.acknowledged) << name_of(mode) << ", CORRO_SEED=" << seed + i;
            acknowledged_count += result.acknowledged;
        }
        EXPECT_GT(acknowledged_count, 200U * 20);
    }
}

/// A journal whose process is killed several times, at calls that the seed chooses; each run continues from the one
/// before. Then the power fails.
cut_result kill_then_cut_power(io::context& ctx, durability mode, std::uint64_t seed, std::uint64_t segment_bytes) {
    sim::disk disk{sim::disk_pace::in_turns};
    base::prng random(seed);
    cut_result result;
    for (std::uint64_t kills = 1 + random.below(4); kills != 0 && result.problem.empty(); --kills) {
        disk.faults().fails_at = 1 + random.below(90);
        // Or one call fails, and the journal with it.
        disk.faults().fails_on = random.below(3) != 0;
        disk.faults().tears_failing_write = random.below(2) == 0;
        const std::uint64_t most = result.found + 300;
        const writer_options options = small_options(mode, segment_bytes);
        const std::uint64_t durable = io::block_on(ctx, live(&disk, options, most, random(), &result.problem));
        if (!result.problem.empty()) break;
        result.acknowledged = std::max(result.acknowledged, durable);
        if (kills == 1) {
            disk.cut_power(random());
        } else {
            disk.end_views();
        }
        const reading after = read_after_cut(ctx, disk);
        result.problem = after.error.text;
        result.found = after.last;
        if (result.found < result.acknowledged) break;
    }
    if (result.problem.empty()) result.problem = refusal_of(ctx, disk, small_options(mode, segment_bytes));
    return result;
}

TEST_F(journal_faults, d9_what_was_acknowledged_survives_kills_and_then_a_power_cut) {
    const std::uint64_t seed = base::test_seed();
    for (const durability mode : {durability::group, durability::each}) {
        for (const std::uint64_t segment_bytes : {segment_bytes_min, std::uint64_t{16 * 1024}}) {
            std::uint64_t acknowledged_count = 0;
            for (std::uint64_t i = 0; i < 200; ++i) {
                const cut_result result = kill_then_cut_power(ctx, mode, seed + i, segment_bytes);
                EXPECT_EQ(result.problem, "") << name_of(mode) << ", CORRO_SEED=" << seed + i;
                EXPECT_GE(result.found, result.acknowledged) << name_of(mode) << ", CORRO_SEED=" << seed + i;
                acknowledged_count += result.acknowledged;
            }
            EXPECT_GT(acknowledged_count, 200U * 10);
        }
    }
}

TEST_F(journal_faults, d2_control_a_disk_that_ignores_syncs_loses_what_was_acknowledged) {
    const std::uint64_t seed = base::test_seed();
    for (const disk_lies lies : {disk_lies::about_bytes, disk_lies::about_everything}) {
        std::uint64_t lost_count = 0;
        for (std::uint64_t i = 0; i < 200; ++i) {
            const cut_result result = cut_power(ctx, durability::group, seed + i, lies);
            lost_count += !result.problem.empty() || result.found < result.acknowledged ? 1U : 0U;
        }
        EXPECT_GT(lost_count, 100U);
    }
}

TEST_F(journal_faults, d1_what_was_acknowledged_survives_the_process_in_async_group_and_each) {
    const std::uint64_t seed = base::test_seed();
    for (const durability mode : {durability::async, durability::group, durability::each}) {
        for (std::uint64_t i = 0; i < 100; ++i) {
            sim::disk disk{sim::disk_pace::in_turns};
            base::prng random(seed + i);
            disk.faults().fails_at = 1 + random.below(150);
            disk.faults().fails_on = true;
            disk.faults().tears_failing_write = true;
            const std::uint64_t durable = io::block_on(ctx, live(&disk, small_options(mode, 16 * 1024), 600, random()));
            disk.end_views();
            const reading after = read_from(disk);
            EXPECT_EQ(after.error.text, "") << name_of(mode) << ", CORRO_SEED=" << seed + i;
            EXPECT_GE(after.last, durable) << name_of(mode) << ", CORRO_SEED=" << seed + i;
            EXPECT_EQ(refusal_of(ctx, disk, small_options(mode, 16 * 1024)), "")
                << name_of(mode) << ", CORRO_SEED=" << seed + i;
        }
    }
}

/// Continues a journal after commands whose sync has failed; the syncs of the new commands succeed.
io::task<> go_on_behind_a_failed_sync(storage* files) {
    auto log = co_await open_writer(files, "j", small_options(durability::group));
    CORRO_REQUIRE(log.has_value());
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*log)->run());
    EXPECT_EQ((*log)->next_sequence(), 11U) << "what was written is in the file";
    co_await append_commands(log->get(), 5);
    co_await wait_until_durable(log->get(), 15);
    EXPECT_EQ((*log)->durable_sequence(), 15U);
    scope.request_stop();
    co_await scope.join();
}

TEST_F(journal_faults, D9_what_stands_behind_a_failed_sync_survives_a_power_cut) {
    const std::uint64_t seed = base::test_seed();
    for (std::uint64_t i = 0; i < 50; ++i) {
        sim::disk disk{sim::disk_pace::in_turns};
        failed_sync result;
        io::block_on(ctx, fail_a_sync(&disk, &result));
        EXPECT_TRUE(result.journal_failed);
        disk.end_views();
        io::block_on(ctx, go_on_behind_a_failed_sync(&disk));
        disk.cut_power(seed + i);
        const reading after = read_from(disk);
        ASSERT_EQ(after.error.text, "") << "CORRO_SEED=" << seed + i;
        ASSERT_EQ(after.last, 15U) << "CORRO_SEED=" << seed + i;
    }
}

/// How a start is killed: only the process, or with the machine.
enum class end_of_start : std::uint8_t { kill, power_cut };

// Two starts in a row, each killed at any of its calls, for every third pair of calls. Neither has written a command,
// so the journal must be sound.
TEST_F(journal_faults, D9_starts_that_are_killed_at_any_call_leave_a_journal_that_starts) {
    const std::uint64_t seed = base::test_seed();
    const writer_options options = small_options(durability::group, segment_bytes_min);
    std::uint64_t killed_count = 0;
    for (const bool has_past : {true, false}) {
        for (std::uint64_t first = 1; first < 40; ++first) {
            for (std::uint64_t second = 1 + first % 3; second < 40; second += 3) {
                for (const end_of_start last : {end_of_start::kill, end_of_start::power_cut}) {
                    sim::disk disk{sim::disk_pace::in_turns};
                    if (has_past) {
                        EXPECT_EQ(io::block_on(ctx, live(&disk, options, 5, seed)), 5U);
                        disk.cut_power(seed);
                    }
                    for (const std::uint64_t at : {first, second}) {
                        disk.faults().fails_at = at;
                        disk.faults().fails_on = true;
                        io::block_on(ctx, live(&disk, options, 0, seed));
                        killed_count += disk.faults().calls_count >= at ? 1U : 0U;
                        if (at == second && last == end_of_start::power_cut) {
                            disk.cut_power(seed + first * 40 + second);
                        } else {
                            disk.end_views();
                        }
                    }
                    ASSERT_EQ(refusal_of(ctx, disk, options), "") << "killed at call " << first << ", then " << second;
                }
            }
        }
    }
    EXPECT_GT(killed_count, 1'300U);
}

/// Writes a manifest one segment further than the last one. @param confirms  As a start does before its first write.
io::task<> write_next_manifest(storage* files, bool confirms) {
    const auto there = co_await read_manifest(files, "j");
    if (!there) co_return;
    manifest next = there->value_or(manifest());
    if (confirms) static_cast<void>(co_await confirm_manifest(files, "j", next.writes_count));
    ++next.newest_segment;
    static_cast<void>(co_await write_manifest(files, "j", &next));
}

// A process is killed before it has synced a manifest, and the power goes at any call of the next one, which writes to
// the other slot. The control: without a confirmation both slots can be lost, and the manifest is older than the
// segments.
TEST_F(journal_faults, D9_a_manifest_that_was_not_synced_is_confirmed_before_the_other_slot_is_written) {
    const std::uint64_t seed = base::test_seed();
    for (const bool confirms : {true, false}) {
        std::uint64_t lost_count = 0;
        for (std::uint64_t call = 1; call < 12; ++call) {
            for (std::uint64_t cut = 0; cut < 100; ++cut) {
                sim::disk disk{sim::disk_pace::in_turns};
                disk.put_directory("j");
                for (int i = 0; i < 5; ++i) io::block_on(ctx, write_next_manifest(&disk, false));
                disk.faults().ignores_data_syncs = true;
                io::block_on(ctx, write_next_manifest(&disk, false));
                disk.end_views();
                disk.faults().ignores_data_syncs = false;
                disk.faults().fails_at = call;
                disk.faults().fails_on = true;
                io::block_on(ctx, write_next_manifest(&disk, confirms));
                disk.cut_power(seed + call * 100 + cut);
                const auto after = io::block_on(ctx, read_manifest(&disk, "j"));
                ASSERT_TRUE(after.has_value());
                lost_count += after->value_or(manifest()).newest_segment < 5 ? 1U : 0U;
            }
        }
        EXPECT_EQ(lost_count != 0, !confirms) << lost_count;
    }
}

// The first start is killed at any of its calls. The next one finds the directory, which may not be durable yet, and
// must not take it for granted.
TEST_F(journal_faults, D9_a_journal_whose_first_start_was_killed_survives_a_power_cut) {
    const std::uint64_t seed = base::test_seed();
    const writer_options options = small_options(durability::group, segment_bytes_min);
    for (std::uint64_t call = 1; call < 40; ++call) {
        for (std::uint64_t cut = 0; cut < 8; ++cut) {
            sim::disk disk{sim::disk_pace::in_turns};
            disk.faults().fails_at = call;
            disk.faults().fails_on = true;
            io::block_on(ctx, live(&disk, options, 0, seed));
            disk.end_views();
            ASSERT_EQ(io::block_on(ctx, live(&disk, options, 5, seed)), 5U) << "killed at call " << call;
            disk.cut_power(seed + cut);
            const reading after = read_after_cut(ctx, disk);
            ASSERT_EQ(after.error.text, "") << "killed at call " << call << ", CORRO_SEED=" << seed + cut;
            ASSERT_EQ(after.last, 5U) << "killed at call " << call << ", CORRO_SEED=" << seed + cut;
        }
    }
}

/// Appends commands and reports a snapshot for each durable one, so that segments are removed as soon as possible.
io::task<> live_on_snapshots(storage* files, std::uint64_t most, std::uint64_t* snapshot) {
    writer_options options = small_options(durability::group, segment_bytes_min);
    options.kept_segments_max = 0;
    auto log = co_await open_writer(files, "j", std::move(options));
    CORRO_REQUIRE(log.has_value());
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*log)->run());
    while (!(*log)->failed() && (*log)->durable_sequence() < most) {
        static_cast<void>((*log)->append(command_at((*log)->next_sequence())));
        *snapshot = (*log)->durable_sequence();
        (*log)->forget_before(*snapshot);
        co_await io::yield();
    }
    scope.request_stop();
    co_await scope.join();
}

// Retention that keeps no segment before the snapshot, on a disk with slow syncs: the segment in the manifest stays
// until the next one has a name.
TEST_F(journal_faults, D1_old_segments_go_only_when_the_manifest_names_a_newer_one) {
    const std::uint64_t seed = base::test_seed();
    std::uint64_t removed_count = 0;
    for (std::uint64_t i = 0; i < 600; ++i) {
        sim::disk disk{sim::disk_pace::in_turns};
        base::prng slowness(seed + i);
        disk.faults().slowness = &slowness;
        std::uint64_t snapshot = 0;
        disk.faults().fails_at = 40 + i;
        disk.faults().fails_on = true;
        io::block_on(ctx, live_on_snapshots(&disk, 200, &snapshot));
        disk.end_views();
        removed_count += disk.list("j")->empty() || disk.has("j/" + segment_name(1)) ? 0U : 1U;
        writer_options options = small_options(durability::group, segment_bytes_min);
        const auto log = io::block_on(ctx, open_writer(&disk, "j", options, snapshot + 1));
        ASSERT_TRUE(log.has_value()) << log.error().text << ", CORRO_SEED=" << seed << ", killed at call " << 40 + i;
    }
    EXPECT_GT(removed_count, 100U);
}

// --- D4: an error at every call -------------------------------------------------------------------------------------

TEST_F(journal_faults, d4_the_first_error_ends_the_journal_and_nothing_is_tried_again) {
    for (const durability mode : {durability::none, durability::async, durability::group, durability::each}) {
        std::uint64_t failed_opening_count = 0;
        std::uint64_t failed_running_count = 0;
        for (std::uint64_t call = 1; call < 400; ++call) {
            sim::disk disk{sim::disk_pace::in_turns};
            disk.faults().fails_at = call;
            const auto body = [](sim::disk* files, durability how, std::uint64_t* opening, std::uint64_t* running,
                                 std::uint64_t* durable) -> io::task<> {
                auto log = co_await open_writer(files, "j", small_options(how, segment_bytes_min));
                if (!log) {
                    ++*opening;
                    EXPECT_EQ(log.error().code, std::errc::io_error) << log.error().text;
                    co_return;
                }
                io::context& on = co_await io::this_context();
                io::task_scope scope(on);
                scope.spawn((*log)->run());
                co_await append_bursts(log->get(), 120, 5);
                (*log)->close();
                co_await scope.join();
                *durable = (*log)->durable_sequence();
                if (!(*log)->failed()) co_return;
                ++*running;
                EXPECT_EQ((*log)->error().code, std::errc::io_error) << (*log)->error().text;
                EXPECT_EQ((*log)->room(), journal_room::none);
                EXPECT_FALSE((*log)->append(command_at((*log)->next_sequence())));
                EXPECT_EQ((*log)->durable_sequence(), *durable) << "nothing is acknowledged after an error";
            };
            std::uint64_t durable = 0;
            io::block_on(ctx, body(&disk, mode, &failed_opening_count, &failed_running_count, &durable));
            // Calls in progress beside the failing one may end; none starts after it. With one writing task and two
            // helpers that is at most two.
            EXPECT_LE(disk.faults().calls_after_failure_count, 2U) << name_of(mode) << ", call " << call;
            disk.faults().fails_at = 0;
            const reading after = read_from(disk);
            EXPECT_EQ(after.error.text, "") << name_of(mode) << ", call " << call;
            if (mode != durability::none) {
                EXPECT_GE(after.last, durable) << name_of(mode) << ", call " << call;
            }
        }
        EXPECT_GT(failed_opening_count, 5U);
        EXPECT_GT(failed_running_count, 20U) << name_of(mode);
    }
}

TEST_F(journal_faults, d4_a_sync_that_failed_once_is_never_trusted_again) {
    sim::disk disk{sim::disk_pace::in_turns};
    failed_sync result;
    io::block_on(ctx, fail_a_sync(&disk, &result));
    EXPECT_TRUE(result.journal_failed);
    EXPECT_NE(result.error.find("syncing failed"), std::string::npos) << result.error;
    EXPECT_EQ(result.later_syncs_count, 0U);
    EXPECT_EQ(result.durable_sequence, 5U);
}

TEST_F(journal_faults, d4_control_a_sync_that_is_tried_again_is_noticed) {
    sim::disk disk{sim::disk_pace::in_turns};
    disk.faults().retries_syncs = true;
    failed_sync result;
    io::block_on(ctx, fail_a_sync(&disk, &result));
    EXPECT_FALSE(result.journal_failed);
    EXPECT_GT(result.later_syncs_count, 0U);
    EXPECT_EQ(result.durable_sequence, 10U) << "acknowledged, although a sync has failed";
}

// --- D5: a full disk ------------------------------------------------------------------------------------------------

/// Fills a disk: orders while there is space for everything, then cancels from the reserve until nothing fits.
struct full_disk_result {
    std::uint64_t orders_count = 0;
    std::uint64_t cancels_count = 0;
    bool failed = false;
};

io::task<> fill_the_disk(storage* files, std::string path, writer_options options, full_disk_result* result) {
    auto log = co_await open_writer(files, path, std::move(options));
    if (!log) ADD_FAILURE() << log.error().text;
    CORRO_REQUIRE(log.has_value());
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*log)->run());
    while ((*log)->room() == journal_room::everything || !(*log)->disk_is_full()) {
        if ((*log)->room() == journal_room::everything && (*log)->append(command_at((*log)->next_sequence()))) {
            ++result->orders_count;
        }
        co_await io::yield();
        if ((*log)->failed()) break;
    }
    co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
    EXPECT_EQ((*log)->room(), journal_room::cancels_only);
    while ((*log)->room() != journal_room::none) {
        if ((*log)->append(command_at((*log)->next_sequence()))) {
            ++result->cancels_count;
            co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
        }
    }
    // Without durability commands are acknowledged before they are written, and a stop leaves out what is not.
    while ((*log)->written_sequence() + 1 < (*log)->next_sequence() && !(*log)->failed()) co_await io::yield();
    EXPECT_FALSE((*log)->append(command_at((*log)->next_sequence())));
    EXPECT_TRUE((*log)->disk_is_full());
    result->failed = (*log)->failed();
    scope.request_stop();
    co_await scope.join();
}

TEST_F(journal_faults, d5_a_full_disk_refuses_orders_first_then_cancels_and_corrupts_nothing) {
    for (const durability mode : {durability::none, durability::async, durability::group, durability::each}) {
        sim::disk disk{sim::disk_pace::in_turns};
        disk.faults().capacity_bytes = 200 * 1024;
        full_disk_result result;
        io::block_on(ctx, fill_the_disk(&disk, "j", small_options(mode), &result));
        EXPECT_FALSE(result.failed) << "a full disk is no failure";
        EXPECT_GT(result.orders_count, 100U) << name_of(mode);
        EXPECT_GE(result.cancels_count, 8U * 1024 / block_bytes(1) - 8) << "the reserve, a block each";
        const reading after = read_from(disk);
        EXPECT_EQ(after.error.text, "");
        EXPECT_EQ(after.last, result.orders_count + result.cancels_count) << name_of(mode);
    }
}

/// Appends commands to a journal on a disk that may be full, regardless of `room`. @return The number acknowledged.
io::task<std::uint64_t> append_regardless(storage* files, std::uint64_t most) {
    auto log = co_await open_writer(files, "j", small_options(durability::group));
    if (!log) co_return 0;
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*log)->run());
    while ((*log)->next_sequence() <= most && (*log)->room() != journal_room::none) {
        static_cast<void>((*log)->append(command_at((*log)->next_sequence())));
        co_await io::yield();
    }
    co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
    scope.request_stop();
    co_await scope.join();
    co_return (*log)->durable_sequence();
}

TEST_F(journal_faults, d5_control_a_full_disk_that_takes_everything_and_keeps_nothing_is_noticed) {
    for (const bool drops : {false, true}) {
        sim::disk disk{sim::disk_pace::in_turns};
        disk.faults().capacity_bytes = 200 * 1024;
        disk.faults().drops_what_is_beyond = drops;
        const std::uint64_t acknowledged = io::block_on(ctx, append_regardless(&disk, 2'000));
        const reading after = io::block_on(ctx, read_all(&disk, "j", 1, true));
        const bool kept = !after.error.code && after.last == acknowledged;
        EXPECT_EQ(kept, !drops) << acknowledged << " acknowledged, " << after.last << " found; " << after.error.text;
        EXPECT_EQ(acknowledged < 2'000U, !drops);
    }
}

TEST_F(journal_faults, d5_when_there_is_room_again_the_journal_goes_on_by_itself) {
    sim::disk disk{sim::disk_pace::in_turns};
    disk.faults().capacity_bytes = 100 * 1024;
    const auto body = [](sim::disk* files) -> io::task<> {
        auto log = co_await open_writer(files, "j", small_options(durability::group));
        CORRO_REQUIRE(log.has_value());
        io::context& on = co_await io::this_context();
        io::task_scope scope(on);
        scope.spawn((*log)->run());
        while ((*log)->room() == journal_room::everything || !(*log)->disk_is_full()) {
            if ((*log)->room() == journal_room::everything) {
                static_cast<void>((*log)->append(command_at((*log)->next_sequence())));
            }
            co_await io::yield();
        }
        files->faults().capacity_bytes = 1'000 * 1024;
        while ((*log)->room() != journal_room::everything) co_await (*log)->progressed().wait();
        EXPECT_FALSE((*log)->disk_is_full());
        co_await append_commands(log->get(), 500);
        (*log)->close();
        co_await scope.join();
        EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
    };
    io::block_on(ctx, body(&disk));
    EXPECT_EQ(read_from(disk).end.tail, tail_state::sealed);
}

/// A disk on which no file can be opened while the process has too many open files.
class without_descriptors final : public storage {
 public:
    explicit without_descriptors(sim::disk* under) noexcept : under_(under) {}

    bool none_left = false;
    std::uint64_t refused_count = 0;

    io::task<opened> open(std::string path, io::file_mode mode) override {
        if (refuses()) co_return std::unexpected(std::error_code(EMFILE, std::generic_category()));
        auto file = co_await under_->open(std::move(path), mode);
        co_return file;
    }
    io::task<std::error_code> rename(std::string from, std::string to) override {
        return under_->rename(std::move(from), std::move(to));
    }
    io::task<std::error_code> rename_new(std::string from, std::string to) override {
        return under_->rename_new(std::move(from), std::move(to));
    }
    io::task<std::error_code> remove(std::string path) override { return under_->remove(std::move(path)); }
    io::task<std::error_code> sync_directory(std::string path) override {
        if (refuses()) co_return std::error_code(EMFILE, std::generic_category());
        const std::error_code error = co_await under_->sync_directory(std::move(path));
        co_return error;
    }
    [[nodiscard]] std::expected<std::vector<std::string>, std::error_code> list(const std::string& path) override {
        return under_->list(path);
    }
    [[nodiscard]] std::error_code make_directory(const std::string& path) override {
        return under_->make_directory(path);
    }
    [[nodiscard]] std::uint64_t free_bytes(const std::string& path) override { return under_->free_bytes(path); }

 private:
    bool refuses() noexcept {
        if (none_left) ++refused_count;
        return none_left;
    }

    sim::disk* under_;
};

TEST_F(journal_faults, O3_a_process_without_descriptors_makes_the_journal_wait_and_not_fail) {
    sim::disk disk{sim::disk_pace::in_turns};
    without_descriptors files(&disk);
    const auto body = [](without_descriptors* on_disk) -> io::task<> {
        auto log = co_await open_writer(on_disk, "j", small_options(durability::group));
        CORRO_REQUIRE(log.has_value());
        io::context& on = co_await io::this_context();
        io::task_scope scope(on);
        scope.spawn((*log)->run());
        on_disk->none_left = true;
        // Until the next segment has been tried several times: a faulty writer would have failed by then.
        while (on_disk->refused_count < 3 && !(*log)->failed()) {
            if ((*log)->room() == journal_room::everything && (*log)->has_buffer()) {
                EXPECT_TRUE((*log)->append(command_at((*log)->next_sequence())));
            }
            co_await io::yield();
        }
        EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
        EXPECT_FALSE((*log)->disk_is_full());
        on_disk->none_left = false;
        co_await append_commands(log->get(), 500);
        (*log)->close();
        co_await scope.join();
        EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
    };
    io::block_on(ctx, body(&files));
    EXPECT_EQ(read_from(disk).end.tail, tail_state::sealed);
}

TEST_F(journal_faults, d5_operators_have_a_reserve_of_their_own_on_a_full_disk) {
    sim::disk disk{sim::disk_pace::in_turns};
    disk.faults().capacity_bytes = 200 * 1024;
    const auto body = [](sim::disk* files) -> io::task<> {
        auto log = co_await open_writer(files, "j", small_options(durability::group));
        CORRO_REQUIRE(log.has_value());
        io::context& on = co_await io::this_context();
        io::task_scope scope(on);
        scope.spawn((*log)->run());
        const auto fill = [](writer* into, journal_room until) -> io::task<std::uint64_t> {
            std::uint64_t count = 0;
            while (into->room() < until || !into->disk_is_full()) {
                if (into->room() < until && into->has_buffer() && into->append(command_at(into->next_sequence())))
                    ++count;
                co_await io::yield();
            }
            co_await wait_until_durable(into, into->next_sequence() - 1);
            co_return count;
        };
        const std::uint64_t orders = co_await fill(log->get(), journal_room::cancels_only);
        const std::uint64_t cancels = co_await fill(log->get(), journal_room::operators_only);
        EXPECT_EQ((*log)->room(), journal_room::operators_only) << "whatever the others have sent";
        const std::uint64_t last = co_await fill(log->get(), journal_room::none);
        EXPECT_GT(orders, 100U);
        EXPECT_GT(cancels, last);
        EXPECT_GT(last, 1U);
        scope.request_stop();
        co_await scope.join();
    };
    io::block_on(ctx, body(&disk));
}

/// Uses up the space while the next segment is being preallocated, which then succeeds or not.
io::task<> run_short_of_room(sim::disk* files, bool fills_up) {
    auto log = co_await open_writer(files, "j", small_options(durability::group));
    CORRO_REQUIRE(log.has_value());
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    files->faults().holds_room_back = true;
    scope.spawn((*log)->run());
    while ((*log)->room() == journal_room::everything) {
        EXPECT_FALSE((*log)->space_is_being_made());
        EXPECT_TRUE((*log)->append(command_at((*log)->next_sequence())));
        co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
    }
    EXPECT_GT((*log)->statistics().segments_begun_count, 1U) << "the first two had their room from the start";
    EXPECT_TRUE((*log)->space_is_being_made());
    EXPECT_FALSE((*log)->disk_is_full());
    if (fills_up) files->faults().capacity_bytes = 0;
    files->faults().holds_room_back = false;
    while ((*log)->space_is_being_made()) co_await (*log)->progressed().wait();
    EXPECT_EQ((*log)->disk_is_full(), fills_up);
    EXPECT_EQ((*log)->room(), fills_up ? journal_room::cancels_only : journal_room::everything);
    (*log)->close();
    EXPECT_FALSE((*log)->space_is_being_made());
    co_await scope.join();
    EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
}

TEST_F(journal_faults, d5_a_disk_that_is_still_making_room_is_not_full) {
    for (const bool fills_up : {false, true}) {
        sim::disk disk{sim::disk_pace::in_turns};
        io::block_on(ctx, run_short_of_room(&disk, fills_up));
    }
}

TEST_F(journal_faults, d5_a_disk_without_room_for_the_smallest_segment_refuses_to_start_and_says_so) {
    sim::disk disk{sim::disk_pace::in_turns};
    disk.faults().capacity_bytes = 8 * 1024;
    const auto opened = io::block_on(ctx, open_writer(&disk, "j", small_options(durability::group)));
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, journal_errc::disk_full);
    EXPECT_NE(opened.error().text.find("for a segment of 8192 bytes, the smallest; free some space, then start again"),
              std::string::npos)
        << opened.error().text;
}

/// Starts on a disk without space for a whole segment, and uses up the space.
io::task<> start_on_a_full_disk(sim::disk* files, journal_room expected) {
    auto log = co_await open_writer(files, "j", small_options(durability::group, 64 * 1024));
    if (!log) ADD_FAILURE() << log.error().text;
    CORRO_REQUIRE(log.has_value());
    EXPECT_TRUE((*log)->disk_is_full());
    EXPECT_FALSE((*log)->space_is_being_made()) << "orders beyond the reserve are refused, they do not wait";
    EXPECT_EQ((*log)->room(), expected);
    EXPECT_EQ((*log)->notices().size(), 1U);
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*log)->run());
    std::uint64_t closed_count = 0;
    while ((*log)->room() != journal_room::none) {
        if (!(*log)->append(command_at((*log)->next_sequence()))) break;
        ++closed_count;
        co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
    }
    EXPECT_GT(closed_count, 3U) << "what closes orders still goes";
    EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
    files->faults().capacity_bytes = 1'000 * 1024;
    while ((*log)->room() != journal_room::everything) co_await (*log)->progressed().wait();
    co_await append_commands(log->get(), 1'500);
    (*log)->close();
    co_await scope.join();
    EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
}

TEST_F(journal_faults, d5_a_start_on_a_full_disk_serves_what_can_be_served_and_goes_on_by_itself) {
    // Free space in KiB, and the room that remains after a reserve of 16 KiB.
    using enum journal_room;
    for (const auto& [room_left, expected] : {std::pair{63U, everything}, {20U, cancels_only}, {10U, cancels_only}}) {
        sim::disk disk{sim::disk_pace::in_turns};
        io::block_on(ctx, write_journal(&disk, "j", small_options(durability::group, 64 * 1024), 700));
        std::uint64_t used = 0;
        const auto names = disk.list("j");
        for (const std::string& name : *names) used += disk.bytes_of("j/" + name).size();
        disk.faults().capacity_bytes = used + room_left * 1024;
        io::block_on(ctx, start_on_a_full_disk(&disk, expected));
        const reading after = read_from(disk);
        EXPECT_EQ(after.error.text, "");
        EXPECT_EQ(after.end.tail, tail_state::sealed);
        EXPECT_GT(after.last, 2'200U);
    }
}

TEST_F(journal_faults, d5_a_file_system_of_one_mib) {
    const base::test_folder folder;
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
        GTEST_SKIP() << "a small file system cannot be mounted here: " << std::strerror(errno);
    }
    disk_storage files(ctx);
    full_disk_result result;
    const std::string path = folder.path() + "/j";
    io::block_on(ctx, fill_the_disk(&files, path, small_options(durability::group, 128 * 1024), &result));
    EXPECT_FALSE(result.failed);
    const reading after = io::block_on(ctx, read_all(&files, path, 1));
    EXPECT_EQ(after.error.text, "");
    EXPECT_GT(result.cancels_count, 30U);
    EXPECT_EQ(after.last, result.orders_count + result.cancels_count);
    EXPECT_EQ(::umount(folder.path().c_str()), 0);
}

// --- Other refusals -------------------------------------------------------------------------------------------------

TEST_F(journal_faults, a_directory_that_may_not_be_written_is_refused_in_words) {
    const base::test_folder folder;
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec |
                                     std::filesystem::perms::others_read | std::filesystem::perms::others_exec);
    constexpr uid_t nobody = 65534;
    const bool was_root = ::geteuid() == 0;
    if (was_root) {
        ASSERT_EQ(::seteuid(nobody), 0);
    }
    disk_storage files(ctx);
    const auto opened = io::block_on(ctx, open_writer(&files, folder.path(), small_options(durability::group)));
    if (was_root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, std::errc::permission_denied);
    EXPECT_EQ(opened.error().text, folder.path() +
                                       "/lock: cannot be opened for writing: Permission denied. The journal needs a "
                                       "directory with write permission for this user");
}

TEST_F(journal_faults, a_version_of_the_format_that_is_not_known_is_refused) {
    sim::disk disk{sim::disk_pace::in_turns};
    make_small_journal(ctx, disk, true);
    const std::string path = "j/" + segment_name(1);
    sim::disk::contents bytes = disk.bytes_of(path);
    // As the next version would write it, with a correct checksum.
    bytes[8] = std::byte{format_version + 1};
    std::fill(bytes.begin() + 12, bytes.begin() + 16, std::byte{});
    const std::uint32_t crc = base::crc32c(std::span(bytes).first(segment_header_bytes));
    base::store_le<std::uint32_t>(bytes.data() + 12, crc);
    disk.put(path, bytes);
    EXPECT_EQ(read_from(disk).error.code, journal_errc::unsupported_version);
    disk.put(path, sim::disk::contents(2'000, std::byte{'x'}));
    EXPECT_EQ(read_from(disk).error.code, journal_errc::foreign_file);
}

}  // namespace
}  // namespace corro::journal
