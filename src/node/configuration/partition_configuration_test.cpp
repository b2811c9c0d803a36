// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "node/configuration/configuration.hpp"

namespace corro::node {
namespace {

const std::string instruments = R"(
[facility]
journal = "data"
[[instrument]]
id = 1
symbol = "ONE"
product = 1
tick_size = "1"
[[instrument]]
id = 2
symbol = "TWO"
product = 2
tick_size = "1"
[[instrument]]
id = 3
symbol = "THREE"
product = 2
tick_size = "1"
[[account]]
id = 7
key = ")" + std::string(64, 'a') +
                                "\"\n";

std::string partition_text(const std::string& name, const std::string& members) {
    return "[[partition]]\nname = \"" + name + "\"\n" + members + "\nfeed_listen = \"127.0.0.1:0\"\n" +
           "snapshot_listen = \"127.0.0.1:0\"\n";
}

std::string partition_error_of(const std::string& more) {
    try {
        static_cast<void>(parse_configuration(instruments + more, "corro.toml"));
    } catch (const configuration_error& e) {
        return e.what();
    }
    return "no error";
}

void expect_error(const std::string& more, const std::string& sentence) {
    EXPECT_NE(partition_error_of(more).find(sentence), std::string::npos) << partition_error_of(more);
}

TEST(partition_configuration, divides_instruments_by_product_and_by_name) {
    const configuration c = parse_configuration(instruments + partition_text("A", "products = [1]\ninstruments = [3]") +
                                                    partition_text("B", "products = [2]\norders_max = 5"),
                                                "corro.toml");
    ASSERT_EQ(c.partitions.size(), 2U);
    EXPECT_EQ(partition_of(c, c.instruments[0]), 0U);
    EXPECT_EQ(partition_of(c, c.instruments[1]), 1U);
    EXPECT_EQ(partition_of(c, c.instruments[2]), 0U) << "named beats its product";
    const configuration b = configuration_of_partition(c, 1);
    ASSERT_EQ(b.instruments.size(), 1U);
    EXPECT_EQ(b.instruments[0].name.view(), "TWO");
    EXPECT_EQ(b.journal_directory, "data/B");
    EXPECT_EQ(b.feed_session, "B");
    EXPECT_EQ(b.partition_index, 1U);
    EXPECT_EQ(b.orders_max, 5U);
    EXPECT_EQ(configuration_of_partition(c, 0).orders_max, c.orders_max);
}

TEST(partition_configuration, keeps_the_places_of_its_addresses) {
    const configuration c = parse_configuration(
        instruments + partition_text("A", "products = [1]") + partition_text("B", "products = [2]"), "corro.toml");
    EXPECT_EQ(place_of(configuration_of_partition(c, 0), "market_data.feed_listen"),
              "corro.toml:25: partition.feed_listen");
    EXPECT_EQ(place_of(configuration_of_partition(c, 1), "market_data.snapshot_listen"),
              "corro.toml:31: partition.snapshot_listen");
}

TEST(partition_configuration, refuses_instruments_that_belong_nowhere_or_twice) {
    expect_error(partition_text("A", "products = [1]"), "no [[partition]] has this product or instrument");
    expect_error(partition_text("A", "products = [1, 2]") + partition_text("B", "products = [2]"),
                 "product 2 is already in another partition");
    expect_error(partition_text("A", "products = [1, 2]\ninstruments = [3]") + partition_text("B", "instruments = [3]"),
                 "instrument 3 is already in another partition");
    expect_error(partition_text("A", "products = [1, 2]") + partition_text("B", "products = [9]"),
                 "no instrument belongs");
    expect_error(partition_text("A", "products = [1, 2]\ninstruments = [9]"), "there is no instrument 9");
}

TEST(partition_configuration, has_snapshots_and_retention_in_every_partition) {
    const std::string all =
        "[facility]\njournal = \"data\"\nsnapshot_every = 7\nsnapshots_kept = 2\njournal_segments_kept = 5\n"
        "journal_bytes_kept = 9\n" +
        instruments.substr(instruments.find("[[instrument]]")) + partition_text("A", "products = [1]") +
        partition_text("B", "products = [2]");
    const configuration c = parse_configuration(all, "corro.toml");
    EXPECT_EQ(c.snapshot_every, 7U);
    for (std::size_t k = 0; k < 2; ++k) {
        const configuration own = configuration_of_partition(c, k);
        EXPECT_EQ(own.snapshots_kept, 2U);
        EXPECT_EQ(own.journal_segments_kept, 5U);
        EXPECT_EQ(own.journal_bytes_kept, 9U);
    }
}

TEST(partition_configuration, has_room_in_every_partition_for_instruments_that_are_defined_later) {
    const std::string venue = "[venue]\ninstruments_reserved = 10000\n";
    const std::string two = partition_text("A", "products = [1]") + partition_text("B", "products = [2]");
    const configuration c = parse_configuration(instruments + venue + two, "corro.toml");
    for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(configuration_of_partition(c, k).instruments_reserved, 10'000U);
    std::string seven = instruments;
    for (int id = 4; id <= 7; ++id) {
        seven += "[[instrument]]\nid = " + std::to_string(id) + "\nsymbol = \"S" + std::to_string(id) +
                 "\"\nproduct = " + std::to_string(id) + "\ntick_size = \"1\"\n";
    }
    std::string parts;
    for (int k = 1; k <= 7; ++k) {
        if (k != 3) parts += partition_text("P" + std::to_string(k), "products = [" + std::to_string(k) + "]");
    }
    EXPECT_NO_THROW(static_cast<void>(parse_configuration(seven + venue + parts, "corro.toml")));
    std::string eighth = seven + "[[instrument]]\nid = 8\nsymbol = \"S8\"\nproduct = 8\ntick_size = \"1\"\n";
    parts += partition_text("P8", "products = [8]");
    try {
        static_cast<void>(parse_configuration(eighth + venue + parts, "corro.toml"));
        ADD_FAILURE() << "70,000 books";
    } catch (const configuration_error& e) {
        EXPECT_NE(std::string(e.what()).find("venue.instruments_reserved: together with the file's instruments"),
                  std::string::npos)
            << e.what();
    }
}

TEST(partition_configuration, names_the_new_table_when_a_file_has_the_old_one) {
    EXPECT_EQ(partition_error_of("[[segment]]\nname = \"A\"\nproducts = [1, 2]\n").substr(0, 15), "corro.toml:22: ");
    expect_error("[[segment]]\nname = \"A\"\nproducts = [1, 2]\n",
                 "segment: this table has a new name; write [[partition]]");
}

TEST(partition_configuration, refuses_names_that_are_no_folders_or_used_twice) {
    expect_error(partition_text("", "products = [1, 2]"), "expected 1 to 10 letters");
    expect_error(partition_text("a/b", "products = [1, 2]"), "expected 1 to 10 letters");
    expect_error(partition_text("ELEVENCHARS", "products = [1, 2]"), "expected 1 to 10 letters");
    expect_error(partition_text("A", "products = [1]") + partition_text("A", "products = [2]"), "is used twice");
}

TEST(partition_configuration, refuses_a_strategy_whose_legs_are_elsewhere) {
    const std::string spread = R"(
[[instrument]]
id = 4
symbol = "TWO-THREE"
kind = "spread"
tick_size = "1"
legs = [{ instrument = 2, side = "buy" }, { instrument = 3, side = "sell" }]
)";
    expect_error(
        spread + partition_text("A", "products = [1]\ninstruments = [4]") + partition_text("B", "products = [2]"),
        "TWO is in another partition");
    EXPECT_EQ(partition_error_of(spread + partition_text("A", "products = [1]") +
                                 partition_text("B", "products = [2]\ninstruments = [4]")),
              "no error");
}

TEST(partition_configuration, refuses_a_feed_of_the_venue_beside_those_of_the_partitions) {
    expect_error("[market_data]\nfeed_listen = \"127.0.0.1:0\"\n" + partition_text("A", "products = [1, 2]"),
                 "every [[partition]] has its own feed");
    expect_error("[[partition]]\nname = \"A\"\nproducts = [1, 2]\n", "partition.feed_listen: is missing");
}

}  // namespace
}  // namespace corro::node
