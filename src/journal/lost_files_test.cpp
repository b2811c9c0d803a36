// SPDX-License-Identifier: Apache-2.0
// D8: files of a journal that are removed, swapped or replaced by older ones are noticed: a start refuses, or has
// everything.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>

#include "journal/advice.hpp"
#include "journal/manifest.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro::journal {
namespace {

using directory = std::map<std::string, sim::disk::contents>;

/// One run of a journal: `count` commands, one by one, then closed in order or left as after a crash.
io::task<> live_once(storage* files, std::uint64_t count, bool closes) {
    auto log = co_await open_writer(files, "j", small_options(durability::group, segment_bytes_min));
    CORRO_REQUIRE(log.has_value());
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*log)->run());
    for (std::uint64_t i = 0; i < count; ++i) {
        co_await append_commands(log->get(), 1);
        co_await wait_until_durable(log->get(), (*log)->next_sequence() - 1);
    }
    if (closes) {
        (*log)->close();
    } else {
        scope.request_stop();
    }
    co_await scope.join();
}

directory files_of(sim::disk& disk) {
    directory all;
    const auto names = disk.list("j");
    for (const std::string& name : *names) all["j/" + name] = disk.bytes_of("j/" + name);
    return all;
}

void put_back(sim::disk& disk, const directory& all) {
    const auto names = disk.list("j");
    for (const std::string& name : *names) disk.take_away("j/" + name);
    for (const auto& [path, bytes] : all) disk.put(path, bytes);
}

/// A change to the files of a directory.
struct mishap {
    std::string what;
    std::function<void(directory&)> happens;
};

class lost_files : public testing::Test {
 protected:
    static constexpr std::uint64_t commands_count = 60;

    void SetUp() override {
        io::block_on(ctx, live_once(&disk, 20, true));
        io::block_on(ctx, live_once(&disk, 20, false));
        older = files_of(disk);
    }
    void end_well(bool closes) {
        io::block_on(ctx, live_once(&disk, 20, closes));
        sound = files_of(disk);
    }

    /// All changes of single files.
    [[nodiscard]] std::vector<mishap> all_mishaps() const {
        std::vector<mishap> all;
        for (const auto& [path, bytes] : sound) {
            all.push_back({path + " removed", [path](directory& d) { d.erase(path); }});
            const auto before = older.find(path);
            if (before != older.end() && before->second != bytes) {
                all.push_back({path + " rolled back", [this, path](directory& d) { d[path] = older.at(path); }});
            }
            for (const auto& [other, unused] : sound) {
                if (other <= path) continue;
                all.push_back({path + " swapped with " + other, [path, other](directory& d) {
                                   if (d.contains(path) && d.contains(other)) std::swap(d[path], d[other]);
                               }});
            }
        }
        return all;
    }

    /// Starts after the changes. @return The last command; nothing when the start is refused.
    std::optional<std::uint64_t> start(const std::vector<const mishap*>& mishaps) {
        directory left = sound;
        for (const mishap* each : mishaps) each->happens(left);
        is_older_copy = left == older;
        put_back(disk, left);
        const auto log =
            io::block_on(ctx, open_writer(&disk, "j", small_options(durability::group, segment_bytes_min)));
        if (log) return (*log)->next_sequence() - 1;
        EXPECT_FALSE(log.error().text.empty());
        return std::nullopt;
    }

    io::context ctx;
    sim::disk disk{sim::disk_pace::in_turns};
    directory older;  ///< the files at the end of the run before
    directory sound;
    bool is_older_copy = false;
};

TEST_F(lost_files, d8_any_two_mishaps_are_noticed_or_lose_nothing) {
    for (const bool closed : {true, false}) {
        put_back(disk, older);
        end_well(closed);
        const std::vector<mishap> all = all_mishaps();
        std::uint64_t refused_count = 0;
        std::uint64_t started_count = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (std::size_t k = i; k < all.size(); ++k) {
                std::vector<const mishap*> both{&all[i]};
                if (k != i) both.push_back(&all[k]);
                const auto last = start(both);
                (last ? started_count : refused_count) += 1;
                // A complete older copy cannot be detected.
                if (last && !is_older_copy) {
                    EXPECT_EQ(*last, commands_count) << all[i].what << ", " << all[k].what;
                }
            }
        }
        EXPECT_GT(refused_count, 100U);
        EXPECT_GE(started_count, 3U) << "lock and spare may go";
    }
}

// The control: without the manifest the loss of the newest segment is not noticed.
TEST_F(lost_files, d8_control_a_reader_alone_does_not_miss_the_newest_segment) {
    end_well(true);
    std::uint64_t newest = 0;
    for (const auto& [path, bytes] : sound) newest = std::max(newest, segment_number(path.substr(2)).value_or(0));
    disk.take_away("j/" + segment_name(newest));
    const reading found = io::block_on(ctx, read_all(&disk, "j", 1));
    EXPECT_EQ(found.error.text, "");
    EXPECT_LT(found.last, commands_count);
}

TEST_F(lost_files, d8_a_journal_with_a_past_does_not_begin_again) {
    end_well(true);
    const auto open = [this] {
        return io::block_on(ctx, open_writer(&disk, "j", small_options(durability::group, segment_bytes_min)));
    };
    // All segments are missing; the manifest remains.
    directory left = sound;
    std::erase_if(left, [](const auto& file) { return segment_number(file.first.substr(2)).has_value(); });
    put_back(disk, left);
    auto log = open();
    ASSERT_FALSE(log.has_value());
    EXPECT_EQ(log.error().code, journal_errc::missing_segment) << log.error().text;
    EXPECT_FALSE(advice_for(log.error().code).empty());
    // The manifest too; another file remains.
    for (const char* const trace : {"j/sessions", "j/00000000000000000020.snapshot", "j/0000000001.torn"}) {
        put_back(disk, {{trace, sim::disk::contents(10)}});
        log = open();
        ASSERT_FALSE(log.has_value()) << trace;
        EXPECT_EQ(log.error().code, journal_errc::missing_segment) << log.error().text;
    }
    // The control: an empty directory, and one from a start that was killed.
    put_back(disk, {{"j/lock", {}}, {"j/manifest", {}}});
    EXPECT_TRUE(open().has_value());
}

TEST_F(lost_files, d8_what_is_cut_off_a_journal_that_was_closed_is_missed) {
    end_well(true);
    std::uint64_t refused_count = 0;
    for (const auto& [path, bytes] : sound) {
        const auto number = segment_number(path.substr(2));
        if (!number || sound.contains("j/" + segment_name(*number + 1))) continue;
        for (std::size_t size = segment_header_bytes; size < bytes.size(); size += 64) {
            directory left = sound;
            left[path].resize(size);
            put_back(disk, left);
            const auto log =
                io::block_on(ctx, open_writer(&disk, "j", small_options(durability::group, segment_bytes_min)));
            if (log) {
                EXPECT_EQ((*log)->next_sequence() - 1, commands_count) << "cut at " << size;
                continue;
            }
            ++refused_count;
            EXPECT_EQ(log.error().code, journal_errc::missing_end) << log.error().text;
        }
    }
    EXPECT_GT(refused_count, 5U);
}

TEST_F(lost_files, d8_a_damaged_tail_is_kept_aside_and_said) {
    end_well(false);
    std::string newest;
    for (const auto& [path, bytes] : sound) {
        if (segment_number(path.substr(2))) newest = std::max(newest, path);
    }
    // The last block of a journal that was not closed cannot be distinguished from a torn write.
    const reading whole = io::block_on(ctx, read_all(&disk, "j", 1));
    const std::uint64_t end = whole.end.segments.back().used_bytes;
    ASSERT_EQ(whole.last, commands_count);
    sim::disk::contents damaged = disk.bytes_of(newest);
    damaged[end - block_bytes(1) + block_header_bytes + 40] ^= std::byte{1};
    disk.put(newest, damaged);
    auto log = io::block_on(ctx, open_writer(&disk, "j", small_options(durability::group, segment_bytes_min)));
    ASSERT_TRUE(log.has_value()) << log.error().text;
    ASSERT_EQ((*log)->notices().size(), 1U);
    EXPECT_NE((*log)->notices()[0].find("after sequence number 59"), std::string::npos) << (*log)->notices()[0];
    const std::uint64_t number = *segment_number(newest.substr(2));
    const sim::disk::contents kept = disk.bytes_of("j/" + torn_name(number));
    const std::uint64_t begin = end - block_bytes(1);
    ASSERT_LE(begin + kept.size(), damaged.size());
    EXPECT_GT(kept.size(), block_header_bytes);
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), damaged.begin() + static_cast<std::ptrdiff_t>(begin)));
    EXPECT_EQ(disk.bytes_of(newest).size(), begin);
    EXPECT_EQ(torn_number(torn_name(number)), number);
    log->reset();
    log = io::block_on(ctx, open_writer(&disk, "j", small_options(durability::group, segment_bytes_min)));
    ASSERT_TRUE(log.has_value());
    EXPECT_TRUE((*log)->notices().empty()) << (*log)->notices()[0];
}

TEST_F(lost_files, an_operator_can_take_a_journal_as_it_is) {
    end_well(true);
    std::uint64_t newest = 0;
    for (const auto& [path, bytes] : sound) newest = std::max(newest, segment_number(path.substr(2)).value_or(0));
    disk.take_away("j/" + segment_name(newest));
    const auto open = [this] {
        return io::block_on(ctx, open_writer(&disk, "j", small_options(durability::group, segment_bytes_min)));
    };
    ASSERT_FALSE(open().has_value());
    const auto adopted = io::block_on(ctx, adopt_journal(&disk, "j"));
    ASSERT_TRUE(adopted.has_value()) << adopted.error().text;
    const auto log = open();
    ASSERT_TRUE(log.has_value()) << log.error().text;
    EXPECT_EQ((*log)->next_sequence(), adopted->next_sequence);
    EXPECT_LT((*log)->next_sequence(), commands_count);
}

// F4: a journal of version 1 has no manifest and no random numbers, and gets them at its next start.
TEST_F(lost_files, a_journal_of_version_1_gets_a_manifest) {
    segment_header header;
    header.version = 1;
    header.venue = test_venue;
    header.number = 1;
    header.first_sequence = 1;
    header.epoch = 4;
    header.segment_bytes = segment_bytes_min;
    sim::disk::contents bytes(segment_header_bytes + block_header_bytes_v1 + command_bytes);
    encode(header, std::span(bytes).first(segment_header_bytes));
    const domain::command first = command_at(1);
    std::memcpy(bytes.data() + segment_header_bytes + block_header_bytes_v1, &first, sizeof first);
    encode_block(header, 1, 0, std::span(bytes).subspan(segment_header_bytes));
    put_back(disk, {{"j/" + segment_name(1), bytes}, {"j/sessions", sim::disk::contents(4)}});
    writer_options options = small_options(durability::group, segment_bytes_min);
    options.birth.id.fill(std::byte{5});
    {
        const auto log = io::block_on(ctx, open_writer(&disk, "j", options));
        ASSERT_TRUE(log.has_value()) << log.error().text;
        EXPECT_EQ((*log)->next_sequence(), 2U);
        EXPECT_EQ((*log)->epoch(), 5U);
        EXPECT_EQ((*log)->birth(), options.birth);
    }
    options.birth.id.fill(std::byte{6});
    const auto log = io::block_on(ctx, open_writer(&disk, "j", options));
    ASSERT_TRUE(log.has_value()) << log.error().text;
    EXPECT_EQ((*log)->birth().id[0], std::byte{5}) << "they stay";
}

}  // namespace
}  // namespace corro::journal
