// SPDX-License-Identifier: Apache-2.0
// The snapshots of two partitions on a disk that fails: the newest complete moment stays complete.
#include "node/recovery/partition_store.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/test_seed.hpp"
#include "gateway/answer_log.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/task/block_on.hpp"
#include "market_data/feed_publisher.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/nobody_fixture.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/matching_host.hpp"
#include "sim/disk.hpp"

namespace corro::node {
namespace {

using sequences = std::vector<std::uint64_t>;

configuration of_partition(std::uint32_t index) {
    configuration c;
    c.partition_index = index;
    c.journal_directory = index == 0 ? "FIRST" : "SECOND";
    c.orders_max = 100;
    domain::instrument i;
    i.id = domain::instrument_id{index + 1};
    i.name = domain::symbol{index == 0 ? "ONE" : "TWO"};
    i.tick_size = domain::price_nano{1'000'000'000};
    i.price_high = domain::price_ticks{1'000};
    c.instruments.push_back(i);
    return c;
}

/// A partition that executes commands, without receivers of its events.
struct executing_partition {
    explicit executing_partition(std::uint32_t index)
        : own(of_partition(index)),
          feed(small_feed(), own.instruments),
          host(facility_options_of(own, io::default_platform()), own.instruments, clock, sink) {
        host.throttle({}, 1);
    }
    static market_data::feed_options small_feed() {
        market_data::feed_options options;
        options.feed_log_bytes = std::size_t{1} << 16U;
        return options;
    }
    void execute() {
        domain::command c;
        c.kind = domain::command_kind::enter_order;
        c.instrument = own.instruments[0].id;
        c.session = domain::session_id{1};
        c.account = domain::account_id{1};
        c.enter_order().price = domain::price_ticks{10};
        c.enter_order().quantity = domain::quantity_lots{1};
        EXPECT_TRUE(host.execute(c));
    }

    configuration own;
    io::tick_clock clock;
    nobody sink;
    market_data::feed_publisher feed;
    matching_host host;
    std::uint64_t newest = 0;
};

class two_stored_partitions {
 public:
    explicit two_stored_partitions(std::size_t snapshots_kept) : kept_(snapshots_kept) {
        for (std::uint32_t k = 0; k < 2; ++k) {
            partitions_.push_back(std::make_unique<executing_partition>(k));
            disk.put_directory(partitions_[k]->own.journal_directory);
        }
    }

    /// Executes commands in the partitions and stores them. @return The oldest kept snapshot of each, or nothing on
    /// failure.
    std::optional<sequences> store(int first, int second) {
        for (; first != 0; --first) partitions_[0]->execute();
        for (; second != 0; --second) partitions_[1]->execute();
        std::vector<stored_partition> all;
        for (const auto& s : partitions_) {
            venue_parts parts{&s->host, s->own.partition_index == 0 ? &answers_ : nullptr, &s->feed};
            all.emplace_back(&disk, s->own, parts, 1, s->newest);
        }
        const auto stored = io::block_on(context_, store_partitions(&all, &context_, ++arrival_, kept_));
        if (!stored) return std::nullopt;
        for (const auto& s : partitions_) s->newest = s->host.sequence();
        return *stored;
    }

    [[nodiscard]] sequences now() const { return {partitions_[0]->host.sequence(), partitions_[1]->host.sequence()}; }
    [[nodiscard]] sequences list(std::size_t partition) { return *store_of(partition).list(); }

    /// The newest moment with all its snapshots valid.
    std::optional<sequences> newest_whole() {
        journal::snapshot_store first = store_of(0);
        journal::snapshot_store second = store_of(1);
        const sequences all = *first.list();
        for (std::size_t i = all.size(); i-- != 0;) {
            const auto loaded = io::block_on(context_, first.load(all[i]));
            if (!loaded) continue;
            const auto cut = cut_of(loaded->bytes, 2);
            if (!cut || cut->sequences[0] != all[i]) continue;
            if (io::block_on(context_, second.load(cut->sequences[1]))) return cut->sequences;
        }
        return std::nullopt;
    }

    sim::disk disk{sim::disk_pace::in_turns};

 private:
    journal::snapshot_store store_of(std::size_t partition) {
        const configuration& own = partitions_[partition]->own;
        return {&disk, own.journal_directory, identity_of(own)};
    }

    io::context context_;
    std::size_t kept_;
    gateway::answer_log answers_{1};
    std::vector<std::unique_ptr<executing_partition>> partitions_;
    std::uint64_t arrival_ = 0;
};

TEST(partition_store, leaves_a_whole_moment_at_whatever_call_the_power_fails) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    for (const std::size_t kept : {1U, 2U}) {
        // The commands of each partition since then. When the first has none, its file is written again with another
        // moment.
        for (const auto& [first, second] : {std::pair{1, 0}, std::pair{1, 1}, std::pair{0, 1}}) {
            std::uint64_t call = 1;
            for (bool is_done = false; !is_done; ++call) {
                two_stored_partitions venue(kept);
                ASSERT_TRUE(venue.store(1, 1) && venue.store(1, 1));
                const sequences before = venue.now();
                venue.disk.faults().fails_at = venue.disk.faults().calls_count + call;
                venue.disk.faults().fails_on = true;
                is_done = venue.store(first, second).has_value();
                venue.disk.faults().fails_at = 0;
                venue.disk.faults().fails_on = false;
                if ((call & 1U) != 0) {
                    venue.disk.end_views();
                } else {
                    venue.disk.cut_power(seed + call);
                }
                const auto found = venue.newest_whole();
                ASSERT_TRUE(found) << kept << " kept, call " << call;
                EXPECT_TRUE(*found == before || *found == venue.now()) << kept << " kept, call " << call;
                if (is_done) {
                    EXPECT_EQ(*found, venue.now());
                }
            }
            EXPECT_GT(call, 8U) << "a snapshot takes some calls";
        }
    }
}

TEST(partition_store, keeps_of_every_partition_what_the_kept_moments_need) {
    two_stored_partitions venue(2);
    EXPECT_EQ(venue.store(1, 1), (sequences{1, 1}));
    EXPECT_EQ(venue.store(1, 0), (sequences{1, 1})) << "both moments name the second partition's only one";
    EXPECT_EQ(venue.list(0), (sequences{1, 2}));
    EXPECT_EQ(venue.list(1), (sequences{1}));
    EXPECT_EQ(venue.store(1, 0), (sequences{2, 1}));
    EXPECT_EQ(venue.list(1), (sequences{1})) << "however old it is";
    // The first partition's snapshot gets the same name again, with another moment in it.
    EXPECT_EQ(venue.store(0, 1), (sequences{2, 1}));
    EXPECT_EQ(venue.list(1), (sequences{1, 2}));
    EXPECT_EQ(venue.store(0, 1), (sequences{2, 1})) << "the older of the kept moments has the first one still";
    EXPECT_EQ(venue.list(0), (sequences{2, 3}));
    EXPECT_EQ(venue.list(1), (sequences{1, 3})) << "and what is between is nobody's any more";
    EXPECT_EQ(venue.store(2, 2), (sequences{3, 3}));
    EXPECT_EQ(venue.list(0), (sequences{3, 5}));
    EXPECT_EQ(venue.list(1), (sequences{3, 5}));
}

TEST(partition_store, passes_over_a_first_partitions_snapshot_that_names_nothing) {
    two_stored_partitions venue(2);
    ASSERT_TRUE(venue.store(1, 1));
    venue.disk.put("FIRST/" + journal::snapshot_name(1), sim::disk::contents(4));
    EXPECT_EQ(venue.store(1, 1), (sequences{2, 2})) << "what is damaged needs nothing";
    EXPECT_EQ(venue.list(1), (sequences{2}));
}

}  // namespace
}  // namespace corro::node
