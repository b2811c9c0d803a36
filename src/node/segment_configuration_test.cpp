#include <gtest/gtest.h>

#include <string>

#include "node/configuration.hpp"

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

std::string segment(const std::string& name, const std::string& members) {
    return "[[segment]]\nname = \"" + name + "\"\n" + members + "\nfeed_listen = \"127.0.0.1:0\"\n" +
           "snapshot_listen = \"127.0.0.1:0\"\n";
}

std::string error_of(const std::string& more) {
    try {
        static_cast<void>(parse_configuration(instruments + more, "corro.toml"));
    } catch (const configuration_error& e) {
        return e.what();
    }
    return "no error";
}

void expect_error(const std::string& more, const std::string& sentence) {
    EXPECT_NE(error_of(more).find(sentence), std::string::npos) << error_of(more);
}

TEST(segment_configuration, divides_instruments_by_product_and_by_name) {
    const configuration c = parse_configuration(instruments + segment("A", "products = [1]\ninstruments = [3]") +
                                                    segment("B", "products = [2]\norders_max = 5"),
                                                "corro.toml");
    ASSERT_EQ(c.segments.size(), 2U);
    EXPECT_EQ(segment_of(c, c.instruments[0]), 0U);
    EXPECT_EQ(segment_of(c, c.instruments[1]), 1U);
    EXPECT_EQ(segment_of(c, c.instruments[2]), 0U) << "named beats its product";
    const configuration b = configuration_of_segment(c, 1);
    ASSERT_EQ(b.instruments.size(), 1U);
    EXPECT_EQ(b.instruments[0].name.view(), "TWO");
    EXPECT_EQ(b.journal_directory, "data/B");
    EXPECT_EQ(b.feed_session, "B");
    EXPECT_EQ(b.shard, 1U);
    EXPECT_EQ(b.orders_max, 5U);
    EXPECT_EQ(configuration_of_segment(c, 0).orders_max, c.orders_max);
}

TEST(segment_configuration, refuses_instruments_that_belong_nowhere_or_twice) {
    expect_error(segment("A", "products = [1]"), "no [[segment]] has this product or instrument");
    expect_error(segment("A", "products = [1, 2]") + segment("B", "products = [2]"),
                 "product 2 is already in another segment");
    expect_error(segment("A", "products = [1, 2]\ninstruments = [3]") + segment("B", "instruments = [3]"),
                 "instrument 3 is already in another segment");
    expect_error(segment("A", "products = [1, 2]") + segment("B", "products = [9]"), "no instrument belongs");
    expect_error(segment("A", "products = [1, 2]\ninstruments = [9]"), "there is no instrument 9");
}

TEST(segment_configuration, has_snapshots_and_retention_in_every_segment) {
    const std::string all =
        "[facility]\njournal = \"data\"\nsnapshot_every = 7\nsnapshots_kept = 2\njournal_segments_kept = 5\n"
        "journal_bytes_kept = 9\n" +
        instruments.substr(instruments.find("[[instrument]]")) + segment("A", "products = [1]") +
        segment("B", "products = [2]");
    const configuration c = parse_configuration(all, "corro.toml");
    EXPECT_EQ(c.snapshot_every, 7U);
    for (std::size_t k = 0; k < 2; ++k) {
        const configuration own = configuration_of_segment(c, k);
        EXPECT_EQ(own.snapshots_kept, 2U);
        EXPECT_EQ(own.journal_segments_kept, 5U);
        EXPECT_EQ(own.journal_bytes_kept, 9U);
    }
}

TEST(segment_configuration, refuses_room_for_instruments_that_are_defined_later) {
    expect_error("[venue]\ninstruments_reserved = 1\n" + segment("A", "products = [1, 2]"),
                 "venue.instruments_reserved: a venue of several segments cannot define instruments while it runs");
}

TEST(segment_configuration, refuses_names_that_are_no_folders_or_used_twice) {
    expect_error(segment("", "products = [1, 2]"), "expected 1 to 10 letters");
    expect_error(segment("a/b", "products = [1, 2]"), "expected 1 to 10 letters");
    expect_error(segment("ELEVENCHARS", "products = [1, 2]"), "expected 1 to 10 letters");
    expect_error(segment("A", "products = [1]") + segment("A", "products = [2]"), "is used twice");
}

TEST(segment_configuration, refuses_a_strategy_whose_legs_are_elsewhere) {
    const std::string spread = R"(
[[instrument]]
id = 4
symbol = "TWO-THREE"
kind = "spread"
tick_size = "1"
legs = [{ instrument = 2, side = "buy" }, { instrument = 3, side = "sell" }]
)";
    expect_error(spread + segment("A", "products = [1]\ninstruments = [4]") + segment("B", "products = [2]"),
                 "TWO is in another segment");
    EXPECT_EQ(error_of(spread + segment("A", "products = [1]") + segment("B", "products = [2]\ninstruments = [4]")),
              "no error");
}

TEST(segment_configuration, refuses_a_feed_of_the_venue_beside_those_of_the_segments) {
    expect_error("[market_data]\nfeed_listen = \"127.0.0.1:0\"\n" + segment("A", "products = [1, 2]"),
                 "every [[segment]] has its own feed");
    expect_error("[[segment]]\nname = \"A\"\nproducts = [1, 2]\n", "segment.feed_listen: is missing");
}

}  // namespace
}  // namespace corro::node
