// SPDX-License-Identifier: Apache-2.0
// The public books as a function of the events.
#include "market_data/market_image.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/archive.hpp"
#include "base/byte_stream.hpp"
#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "market_data/test_market.hpp"

namespace corro::market_data {
namespace {

using testing::book_comparison;
using testing::test_market;

/// The first difference between the images' books; empty when there is none.
std::string difference(const market_image& one, const market_image& other) {
    std::string found;
    if (one.instruments().count() != other.instruments().count()) return "the number of instruments";
    one.instruments().for_each([&](const domain::instrument& i) {
        const feed::book_image* const a = one.book(i.id);
        const feed::book_image* const b = other.book(i.id);
        if (b == nullptr || a->digest() != b->digest() || a->orders_count() != b->orders_count()) {
            found = "instrument " + std::to_string(i.id.value);
        }
    });
    return found;
}

TEST(market_image, equals_the_facilitys_books_after_its_events_for_every_seed) {
    base::prng seeds(base::test_seed());
    for (int i = 0; i < 20 && !::testing::Test::HasFailure(); ++i) {
        const std::uint64_t seed = seeds();
        SCOPED_TRACE("seed " + std::to_string(seed));
        test_market market(seed);
        std::vector<domain::event> events;
        market.keep = &events;
        market.trade(1'000);
        market_image image(market.instruments());
        std::uint64_t sequence = 0;
        for (const domain::event& e : events) image.apply(e, ++sequence);
        for (const domain::instrument& each : market.venue.instruments()) {
            ASSERT_NE(image.book(each.id), nullptr);
            EXPECT_EQ(book_comparison::difference(market.venue, each.id, *image.book(each.id)), "");
        }
        EXPECT_EQ(image.instruments().count(), market.venue.instruments().size()) << "with those defined meanwhile";
        EXPECT_EQ(image.last_command(), events.empty() ? 0 : events.back().command.value);
    }
}

TEST(market_image, keeps_the_number_of_the_last_message_about_each_instrument) {
    test_market market(7);
    std::vector<domain::event> events;
    market.keep = &events;
    market.trade(500);
    market_image image(market.instruments());
    std::vector<std::uint64_t> last(64);
    std::uint64_t sequence = 100;
    for (const domain::event& e : events) {
        image.apply(e, sequence);
        last.at(e.instrument.value) = sequence++;
    }
    ASSERT_GT(sequence, 600U);
    image.instruments().for_each(
        [&](const domain::instrument& i) { EXPECT_EQ(image.changed_at(i.id), last.at(i.id.value)); });
}

TEST(market_image, saves_its_books_and_loads_them_into_an_image_of_the_same_instruments) {
    test_market market(base::test_seed());
    market.trade(2'000);
    market_image saved = market.feed.image();
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    base::archive writing(sink);
    saved.transfer_books(writing);
    ASSERT_TRUE(writing.finish());

    market_image loaded = saved.without_orders();
    EXPECT_EQ(loaded.instruments().count(), saved.instruments().count());
    base::memory_source source(bytes);
    base::archive reading(source);
    loaded.transfer_books(reading);
    ASSERT_TRUE(reading.finish());
    EXPECT_EQ(difference(saved, loaded), "");

    market_image damaged = saved.without_orders();
    bytes.at(bytes.size() / 2) ^= std::byte{1};
    base::memory_source wrong(bytes);
    base::archive again(wrong);
    damaged.transfer_books(again);
    EXPECT_FALSE(again.finish());
}

TEST(market_image, completes_a_definition_that_began_before_it) {
    const test_market market(3);
    const domain::instrument_id id{static_cast<std::uint32_t>(market.feed.image().instruments().count() + 1)};
    const testing::definition_events events(market.instruments(), id);
    ASSERT_GT(events.all().size(), 1U);
    market_image image(market.instruments());
    image.begin_definition(events.all().first(1));
    EXPECT_EQ(image.begun_definition().size(), 1U);
    EXPECT_EQ(image.book(id), nullptr) << "not defined yet";
    EXPECT_FALSE(image.adopt(id, feed::book_image()));
    for (const domain::event& e : events.all().subspan(1)) image.apply(e, 7);
    EXPECT_TRUE(image.begun_definition().empty());
    ASSERT_NE(image.book(id), nullptr);
    EXPECT_EQ(image.instruments().find(id)->name.view(), "NEW");
    EXPECT_TRUE(image.adopt(id, feed::book_image()));
}

TEST(market_image_asserts, that_events_are_public_known_and_consistent) {
    test_market market(5);
    market_image image(market.instruments());
    domain::event e;
    e.kind = domain::event_kind::order_deleted;
    e.instrument = market.instruments().front().id;
    e.book = {};
    e.book.order = domain::order_id{1};
    EXPECT_DEATH(image.apply(e, 1), "must be consistent");
    e.kind = domain::event_kind::order_entered;
    EXPECT_DEATH(image.apply(e, 1), "must be consistent") << "a private event";
    e.kind = domain::event_kind::order_added;
    e.instrument = domain::instrument_id{1'000'000};
    EXPECT_DEATH(image.apply(e, 1), "known instrument");
}

}  // namespace
}  // namespace corro::market_data
