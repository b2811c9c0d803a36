// SPDX-License-Identifier: Apache-2.0
// The bytes of a file against a model that keeps whole copies of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "sim/stored_bytes.hpp"

namespace corro::sim {
namespace {

constexpr std::size_t sector_bytes = stored_bytes::sector_bytes;
constexpr std::size_t sectors_max = 64;  // beyond two pages
using whole = std::vector<std::byte>;

whole all_of(const stored_bytes& file) {
    whole bytes(file.size());
    file.read(0, bytes);
    return bytes;
}

/// A sector of a copy; zeros behind its end.
whole sector_of(const whole& bytes, std::size_t index) {
    whole content(sector_bytes);
    const std::size_t begin = std::min(index * sector_bytes, bytes.size());
    const std::size_t count = std::min(sector_bytes, bytes.size() - begin);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), count, content.begin());
    return content;
}

/// How often a power cut did what.
struct outcomes {
    std::uint64_t kept_count = 0;
    std::uint64_t dropped_count = 0;
    std::uint64_t torn_count = 0;
    std::uint64_t forgotten_dropped_count = 0;
    std::uint64_t old_lengths_count = 0;
    std::uint64_t new_lengths_count = 0;
    std::uint64_t lengths_between_count = 0;
};

/// The naive version, for one sync at a time.
class model {
 public:
    whole now;

    void write(std::size_t offset, const whole& bytes) {
        now.resize(std::max(now.size(), offset + bytes.size()));
        std::ranges::copy(bytes, now.begin() + static_cast<std::ptrdiff_t>(offset));
        note(offset, offset + bytes.size());
    }
    void resize(std::size_t bytes) {
        const std::size_t before = now.size();
        now.resize(bytes);
        if (bytes < before) note(bytes, before);
    }
    void begin_sync() {
        syncing_ = now;
        forgotten_then_ = forgotten_;
        changed_since_.assign(sectors_max, false);
    }
    void end_sync(bool succeeds) {
        const std::size_t old_size = durable_.size();
        if (succeeds) durable_.resize(std::max(old_size, syncing_->size()));
        for (std::size_t i = 0; i < sectors_max; ++i) {
            if (!succeeds && !changed_since_[i]) forgotten_[i] = true;
            if (succeeds && !forgotten_then_[i]) put(i, sector_of(*syncing_, i));
        }
        if (succeeds) durable_.resize(syncing_->size());
        syncing_.reset();
    }

    /// Compares what a power cut left, and continues from it. @return What must not be; empty if there is nothing.
    std::string judge(const whole& after, outcomes& seen) {
        const auto [shorter, longer] = std::minmax({now.size(), durable_.size()});
        if (after.size() < shorter || after.size() > longer) return "the length " + std::to_string(after.size());
        if (now.size() != durable_.size()) {
            (after.size() == durable_.size() ? seen.old_lengths_count
             : after.size() == now.size()    ? seen.new_lengths_count
                                             : seen.lengths_between_count) += 1;
        }
        for (std::size_t i = 0; i * sector_bytes < after.size(); ++i) {
            if (!judge_sector(i, after, seen)) return "sector " + std::to_string(i);
        }
        now = durable_ = after;
        syncing_.reset();
        forgotten_.assign(sectors_max, false);
        return {};
    }

 private:
    void note(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin / sector_bytes; i * sector_bytes < end; ++i) {
            forgotten_[i] = false;
            changed_since_[i] = true;
        }
    }
    void put(std::size_t index, const whole& content) {
        const std::size_t begin = std::min(index * sector_bytes, durable_.size());
        const std::size_t count = std::min(sector_bytes, durable_.size() - begin);
        std::copy_n(content.begin(), count, durable_.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    [[nodiscard]] bool judge_sector(std::size_t index, const whole& after, outcomes& seen) const {
        const std::size_t count = std::min(sector_bytes, after.size() - index * sector_bytes);
        const auto part_of = [&](const whole& bytes) {
            whole content = sector_of(bytes, index);
            content.resize(count);
            return content;
        };
        const whole found = part_of(after);
        const whole old = part_of(durable_);
        const whole newest = part_of(now);
        if (found == old) {
            if (old == newest) return true;
            ++seen.dropped_count;
            seen.forgotten_dropped_count += forgotten_[index] ? 1U : 0U;
            return true;
        }
        std::vector<whole> newer{newest};
        if (syncing_) newer.push_back(part_of(*syncing_));
        for (const whole& each : newer) {
            const auto [differs, unused] = std::ranges::mismatch(found, each);
            // From the first difference on it is the old one.
            const auto at = differs - found.begin();
            if (!std::equal(differs, found.end(), old.begin() + at)) continue;
            (differs == found.end() ? seen.kept_count : seen.torn_count) += 1;
            return true;
        }
        return false;
    }

    whole durable_;
    std::optional<whole> syncing_;
    std::vector<bool> forgotten_ = std::vector<bool>(sectors_max);
    std::vector<bool> forgotten_then_;
    std::vector<bool> changed_since_ = std::vector<bool>(sectors_max);
};

class program {
 public:
    explicit program(std::uint64_t seed) : random_(seed) {}

    std::string step(outcomes& seen) {
        const std::uint64_t kind = random_.below(20);
        if (kind < 10) {
            const std::size_t offset = random_.below(18'000);
            whole bytes(random_.below(3) == 0 ? random_.below(4'000) : random_.below(900));
            for (std::byte& each : bytes) each = static_cast<std::byte>(random_.below(3) == 0 ? 0 : random_());
            file_.write(offset, bytes);
            if (!bytes.empty()) naive_.write(offset, bytes);
        } else if (kind < 13) {
            const std::size_t bytes = random_.below(22'000);
            file_.resize(bytes);
            naive_.resize(bytes);
        } else if (kind < 17 && sync_ == 0) {
            sync_ = file_.begin_sync();
            naive_.begin_sync();
        } else if (kind < 19 && sync_ != 0) {
            const bool succeeds = random_.below(4) != 0;
            file_.end_sync(sync_, succeeds);
            naive_.end_sync(succeeds);
            sync_ = 0;
        } else if (kind == 19) {
            file_.cut_power(random_);
            sync_ = 0;
            if (!file_.is_durable()) return "not durable";
            return naive_.judge(all_of(file_), seen);
        }
        return all_of(file_) == naive_.now ? "" : "what readers see";
    }

 private:
    base::prng random_;
    stored_bytes file_;
    model naive_;
    std::uint64_t sync_ = 0;
};

TEST(stored_bytes_model, what_a_power_cut_leaves_is_allowed_and_everything_that_is_allowed_happens) {
    const std::uint64_t seed = base::test_seed();
    outcomes seen;
    for (std::uint64_t i = 0; i < 80; ++i) {
        program one(seed + i);
        for (int k = 0; k < 100; ++k) ASSERT_EQ(one.step(seen), "") << "step " << k << ", CORRO_SEED=" << seed + i;
    }
    EXPECT_GT(seen.kept_count, 1'000U);
    EXPECT_GT(seen.dropped_count, 1'000U);
    EXPECT_GT(seen.torn_count, 500U);
    EXPECT_GT(seen.forgotten_dropped_count, 100U) << "a sync that fails loses its sectors";
    EXPECT_GT(seen.old_lengths_count, 50U);
    EXPECT_GT(seen.new_lengths_count, 50U);
    EXPECT_GT(seen.lengths_between_count, 50U);
}

TEST(stored_bytes, a_sync_that_began_later_and_ends_first_makes_the_earlier_ones_bytes_durable) {
    stored_bytes file;
    file.write(0, whole(512, std::byte{1}));
    const std::uint64_t first = file.begin_sync();
    file.write(512, whole(512, std::byte{2}));
    const std::uint64_t second = file.begin_sync();
    file.end_sync(second, true);
    EXPECT_TRUE(file.is_durable());
    file.end_sync(first, false);
    EXPECT_TRUE(file.is_durable()) << "they were already";
}

TEST(stored_bytes, a_sync_takes_what_was_written_before_it_began) {
    stored_bytes file;
    file.write(0, whole(512, std::byte{1}));
    const std::uint64_t number = file.begin_sync();
    file.write(0, whole(512, std::byte{2}));
    file.end_sync(number, true);
    EXPECT_EQ(file.unsynced_sectors_count(), 1U);
    std::uint64_t old_ones_count = 0;
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        stored_bytes cut;
        cut.write(0, whole(512, std::byte{1}));
        cut.end_sync(cut.begin_sync(), true);
        cut.write(0, whole(512, std::byte{2}));
        base::prng random(seed);
        cut.cut_power(random);
        EXPECT_NE(all_of(cut)[0], std::byte{0});
        old_ones_count += all_of(cut)[511] == std::byte{1} ? 1U : 0U;
    }
    EXPECT_GT(old_ones_count, 20U);
    EXPECT_LT(old_ones_count, 64U);
}

TEST(stored_bytes, holes_take_no_records) {
    stored_bytes file;
    file.resize(std::uint64_t{64} << 20U);
    EXPECT_EQ(file.unsynced_sectors_count(), 0U);
    file.end_sync(file.begin_sync(), true);
    file.write(1'000'000, whole(1'024, std::byte{1}));
    EXPECT_EQ(file.unsynced_sectors_count(), 3U) << "what a sync costs, whatever the size of the file";
    file.end_sync(file.begin_sync(), true);
    EXPECT_TRUE(file.is_durable());
    file.resize(0);
    EXPECT_EQ(file.unsynced_sectors_count(), sparse_bytes::page_bytes / sector_bytes) << "one page was written";
}

TEST(stored_bytes, damage_changes_durable_bytes_only) {
    base::prng random(base::test_seed());
    std::uint64_t flipped_count = 0;
    for (int i = 0; i < 200; ++i) {
        stored_bytes file;
        EXPECT_FALSE(file.damage(random)) << "there is nothing";
        file.write(0, whole(20'000, std::byte{0x55}));
        EXPECT_FALSE(file.damage(random)) << "nothing is durable";
        file.end_sync(file.begin_sync(), true);
        file.write(600, whole(10, std::byte{0xAA}));
        const whole before = all_of(file);
        const auto at = file.damage(random);
        ASSERT_TRUE(at);
        const whole after = all_of(file);
        std::vector<std::size_t> changed;
        for (std::size_t k = 0; k < after.size(); ++k) {
            if (after[k] != before[k]) changed.push_back(k);
        }
        ASSERT_FALSE(changed.empty());
        EXPECT_EQ(changed.front(), *at);
        EXPECT_EQ(changed.back() / sector_bytes, *at / sector_bytes);
        EXPECT_NE(*at / sector_bytes, 1U) << "that sector is not durable";
        flipped_count += changed.size() == 1 ? 1U : 0U;
        EXPECT_EQ(file.unsynced_sectors_count(), 1U) << "the damage is what the disk has";
    }
    EXPECT_GT(flipped_count, 50U);
    EXPECT_LT(flipped_count, 150U);
}

}  // namespace
}  // namespace corro::sim
