// SPDX-License-Identifier: Apache-2.0
#include "market/recording/recording.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "base/test_folder.hpp"
#include "history/timeline.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "journal/storage.hpp"
#include "market/market_fixture.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::market {
namespace {

using namespace testing;

std::unique_ptr<market> small_market() {
    auto made = std::make_unique<market>(options_of(5));
    const auto way = link_of(delay::uniform(10 * us, 90 * us), delay::constant(20 * us), delay());
    for (int i = 0; i < 6; ++i) {
        made->add_agent(named("noisy" + std::to_string(i), way), [](agent& me) { return noisy(me, only, 1 * ms); });
    }
    return made;
}

std::map<std::string, std::string> files_of(const std::string& folder) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream in(entry.path(), std::ios::binary);
        all[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    return all;
}

TEST(recording, is_a_journal_that_leads_to_the_same_state) {
    const base::test_folder folder;
    io::context on;
    journal::disk_storage disk(on);
    const auto world = small_market();
    recording_options options;
    options.directory = folder.path() + "/journal";
    std::int64_t told = 0;
    options.progress = [&](std::int64_t now_ns) { told = now_ns; };
    const journal::problem failed = io::block_on(on, record(world.get(), 10 * s, &disk, options));
    ASSERT_FALSE(failed.code) << failed.text;
    EXPECT_EQ(told, 10 * s);
    ASSERT_GT(world->counts().commands, 5'000U);

    // The configuration beside it reads it, as the program does.
    const std::string toml = venue_toml(*world, "MARKET", options.directory,
                                        "[[instrument]]\nid = 1\nproduct = 1\nsymbol = \"I1\"\ntick_size = \"1\"\n"
                                        "price_low = \"1\"\nprice_high = \"1000000\"\n");
    const node::configuration c = node::parse_configuration(toml, "venue.toml");
    EXPECT_EQ(journal::fingerprint_of(c.instruments), journal::fingerprint_of(world->options().instruments));
    history::venue_setup venue;
    venue.options = node::facility_options_of(c, io::default_platform());
    EXPECT_EQ(venue.options.orders_max, world->venue_options().orders_max);
    EXPECT_EQ(venue.options.positions_max, world->venue_options().positions_max);
    EXPECT_EQ(venue.options.accounts_max, world->venue_options().accounts_max);
    venue.instruments = c.instruments;
    venue.who = journal::identity(c.venue_name, journal::fingerprint_of(c.instruments), c.partition_index);
    auto opened = io::block_on(on, history::timeline::open(&disk, c.journal_directory, venue));
    ASSERT_TRUE(opened.has_value()) << opened.error().text;
    const auto end = history::parse_moment(std::to_string(world->counts().commands));
    ASSERT_TRUE(end.has_value());
    const auto gone = io::block_on(on, (*opened)->go_to(*end));
    ASSERT_TRUE(gone.has_value()) << gone.error().text;
    EXPECT_EQ((*opened)->state().state_hash(), world->venue().state_hash());
}

TEST(recording, of_the_same_seed_has_the_same_bytes) {
    std::map<std::string, std::string> written[2];
    for (auto& each : written) {
        const base::test_folder folder;
        io::context on;
        journal::disk_storage disk(on);
        const auto world = small_market();
        recording_options options;
        options.directory = folder.path() + "/journal";
        const journal::problem failed = io::block_on(on, record(world.get(), 2 * s, &disk, options));
        ASSERT_FALSE(failed.code) << failed.text;
        each = files_of(options.directory);
    }
    EXPECT_FALSE(written[0].empty());
    EXPECT_TRUE(written[0] == written[1]);
}

}  // namespace
}  // namespace corro::market
