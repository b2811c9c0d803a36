// SPDX-License-Identifier: Apache-2.0
#include "facility/snapshot.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/archive.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"

namespace corro::facility::testing {
namespace {

struct snapshots : ::testing::Test {
    facility_options options{.orders_max = 1'000, .accounts_max = 4, .positions_max = 100};
    std::vector<domain::instrument> instruments{wide_instrument(1), wide_instrument(2)};
    recorder seen;
    facility venue{options, instruments, seen};

    static std::vector<std::byte> saved(const facility& of) {
        std::vector<std::byte> bytes;
        base::memory_sink sink(bytes);
        EXPECT_TRUE(of.save(sink));
        return bytes;
    }
    std::error_code load(std::span<const std::byte> bytes) {
        base::memory_source source(bytes);
        return venue.load(source);
    }
    void fill_book() {
        for (std::uint32_t i = 0; i < 20; ++i) {
            domain::command c = limit(i % 3, domain::side::buy, 100 - i, 5, i + 1);
            c.sequence = domain::sequence_number{i + 1};
            c.time = domain::time_ns{1'000 + i};
            venue.apply(c);
        }
    }
};

TEST_F(snapshots, says_at_which_command_it_was_taken) {
    EXPECT_EQ(venue.position().sequence.value, 0U);
    fill_book();
    snapshot_header header;
    const std::vector<std::byte> bytes = saved(venue);
    std::memcpy(&header, bytes.data(), sizeof header);
    EXPECT_EQ(header.check(), std::error_code{});
    EXPECT_EQ(header.sequence, 20U);
    EXPECT_EQ(header.time, 1'019);
    EXPECT_EQ(header.state_hash, venue.state_hash());
}

TEST_F(snapshots, replaces_whatever_a_used_facility_holds) {
    fill_book();
    const std::vector<std::byte> bytes = saved(venue);
    const std::uint64_t hash = venue.state_hash();
    venue.apply(limit(0, domain::side::sell, 90, 3));
    EXPECT_NE(venue.state_hash(), hash);
    EXPECT_EQ(load(bytes), std::error_code{});
    EXPECT_EQ(venue.state_hash(), hash);
    EXPECT_EQ(venue.position().sequence.value, 20U);
}

TEST_F(snapshots, remember_that_some_order_shows_less_than_it_has) {
    domain::command iceberg = limit(0, domain::side::sell, 100, 10);
    iceberg.enter_order().display_quantity = domain::quantity_lots{2};
    venue.apply(iceberg);
    ASSERT_EQ(load(saved(venue)), std::error_code{});
    domain::command whole = limit(1, domain::side::buy, 100, 10);
    whole.order_terms().time_in_force = domain::time_in_force::fok;
    venue.apply(whole);
    EXPECT_EQ(venue.open_orders_count(), 0U) << "what is hidden counts for an order that trades whole or not at all";
}

TEST_F(snapshots, is_as_large_as_what_is_in_use) {
    facility large({.orders_max = 1U << 20, .accounts_max = 1U << 16, .positions_max = 1U << 20}, instruments, seen);
    EXPECT_LT(saved(large).size(), 1'000U);
    for (std::uint32_t i = 0; i < 1'000; ++i) large.apply(limit(i, domain::side::buy, 100 - (i % 50), 5, i + 1));
    EXPECT_LT(saved(large).size(), 100'000U);
}

TEST_F(snapshots, are_the_same_whether_the_memory_was_touched_or_not) {
    facility_options untouched = options;
    untouched.touch = base::page_touch::no;
    facility other(untouched, instruments, seen);
    EXPECT_EQ(saved(other), saved(venue));
    fill_book();
    const std::vector<std::byte> bytes = saved(venue);
    base::memory_source source(bytes);
    ASSERT_EQ(other.load(source), std::error_code{});
    EXPECT_EQ(saved(other), bytes);
}

TEST_F(snapshots, give_out_ids_as_the_saved_facility_would_have) {
    fill_book();
    // Some slots are free in between, and most were never used.
    for (const std::uint32_t name : {3U, 9U, 4U}) {
        domain::command cancel = limit((name - 1) % 3, domain::side::buy, 0, 0, name);
        cancel.kind = domain::command_kind::cancel_order;
        venue.apply(cancel);
    }
    ASSERT_EQ(venue.open_orders_count(), 17U);
    facility loaded(options, instruments, seen);
    const std::vector<std::byte> bytes = saved(venue);
    base::memory_source source(bytes);
    ASSERT_EQ(loaded.load(source), std::error_code{});
    for (std::uint32_t i = 0; i < 10; ++i) {
        for (std::uint32_t ahead = 0; ahead < 5; ++ahead) {
            EXPECT_EQ(loaded.next_order_id(ahead), venue.next_order_id(ahead)) << i << ", " << ahead;
        }
        const domain::order_id second = venue.next_order_id(1);
        for (facility* each : {&venue, &loaded}) each->apply(limit(0, domain::side::buy, 50, 1, 100 + i));
        EXPECT_EQ(venue.next_order_id(), second) << i;
        EXPECT_EQ(saved(loaded), saved(venue));
    }
}

TEST_F(snapshots, of_other_options_or_instruments_are_refused) {
    fill_book();
    facility_options smaller = options;
    smaller.orders_max = 999;
    facility other_options(smaller, instruments, seen);
    EXPECT_EQ(load(saved(other_options)), snapshot_errc::other_venue);
    std::vector<domain::instrument> changed = instruments;
    changed[1].dynamic_band = 7;
    facility other_instruments(options, changed, seen);
    EXPECT_EQ(load(saved(other_instruments)), snapshot_errc::other_venue);
    EXPECT_EQ(venue.open_orders_count(), 0U) << "a facility that could not load is as newly made";
}

TEST_F(snapshots, of_another_format_or_version_are_refused_by_name) {
    std::vector<std::byte> bytes = saved(venue);
    snapshot_header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const auto with = [&](snapshot_header changed) {
        changed.crc = changed.computed_crc();
        std::vector<std::byte> other = bytes;
        std::memcpy(other.data(), &changed, sizeof changed);
        return other;
    };
    EXPECT_EQ(load(with(header)), std::error_code{});
    snapshot_header changed = header;
    changed.mark ^= 1;
    EXPECT_EQ(load(with(changed)), snapshot_errc::foreign_format);
    changed = header;
    changed.version = 3;
    EXPECT_EQ(load(with(changed)), snapshot_errc::unsupported_version);
    changed = header;
    ++changed.state_hash;
    EXPECT_EQ(load(with(changed)), snapshot_errc::state_differs);
    EXPECT_EQ(load(std::span{bytes}.first(47)), snapshot_errc::truncated);
    EXPECT_EQ(load(std::span{bytes}.first(bytes.size() - 1)), snapshot_errc::truncated);
}

TEST_F(snapshots, with_checksums_that_are_right_and_links_that_are_not_are_refused) {
    // A forged snapshot: one number is changed and every checksum is computed again.
    fill_book();
    const std::vector<std::byte> bytes = saved(venue);
    const std::size_t front = sizeof(snapshot_header) + 8;
    ASSERT_LT(bytes.size(), base::archive::block_bytes) << "the content is one block";
    const std::span content = std::span{bytes}.subspan(front, bytes.size() - front - 8);
    int refused = 0;
    for (std::size_t at = 0; at + 4 <= content.size(); ++at) {
        for (const std::uint32_t change : {1U, 0x7fffffffU}) {
            std::vector<std::byte> changed(content.begin(), content.end());
            std::uint32_t word = 0;
            std::memcpy(&word, changed.data() + at, 4);
            word += change;
            std::memcpy(changed.data() + at, &word, 4);
            std::vector<std::byte> forged(bytes.begin(), bytes.begin() + sizeof(snapshot_header));
            base::memory_sink sink(forged);
            base::archive a(sink);
            for (std::byte& b : changed) a.value(b);
            ASSERT_TRUE(a.finish());
            if (load(forged)) ++refused;
            // Loaded or refused, the sanitizers check that it used only its own memory.
        }
    }
    EXPECT_GT(refused, static_cast<int>(content.size()));
}

TEST_F(snapshots, tells_that_the_sink_is_full) {
    struct full_sink final : base::byte_sink {
        std::size_t left = 100;
        bool write(std::span<const std::byte> bytes) noexcept override {
            if (bytes.size() > left) return false;
            left -= bytes.size();
            return true;
        }
    } sink;
    fill_book();
    EXPECT_FALSE(venue.save(sink));
}

}  // namespace
}  // namespace corro::facility::testing
