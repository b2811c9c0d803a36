// SPDX-License-Identifier: Apache-2.0
#include "feed/book_image.hpp"

#include <gtest/gtest.h>

namespace corro::feed {
namespace {

domain::event order_event(domain::event_kind kind, std::uint64_t order, domain::side side, std::int64_t price,
                          std::uint32_t quantity, std::uint32_t change) {
    domain::event e;
    e.kind = kind;
    e.side = side;
    e.book = {};
    e.book.order = domain::order_id{order};
    e.book.price = domain::price_ticks{price};
    e.book.quantity = domain::quantity_lots{quantity};
    e.book.change = domain::quantity_lots{change};
    return e;
}

constexpr auto added = domain::event_kind::order_added;
constexpr auto reduced = domain::event_kind::order_reduced;
constexpr auto deleted = domain::event_kind::order_deleted;
constexpr auto buy = domain::side::buy;
constexpr auto sell = domain::side::sell;

TEST(book_image, keeps_orders_in_priority_order_and_levels_best_first) {
    book_image image;
    EXPECT_EQ(image.apply(order_event(added, 1, buy, 100, 5, 5)), image_status::applied);
    EXPECT_EQ(image.apply(order_event(added, 2, buy, 101, 7, 7)), image_status::applied);
    EXPECT_EQ(image.apply(order_event(added, 3, buy, 100, 2, 2)), image_status::applied);
    EXPECT_EQ(image.apply(order_event(added, 4, sell, 103, 1, 1)), image_status::applied);
    EXPECT_EQ(image.apply(order_event(reduced, 1, buy, 100, 4, 1)), image_status::applied);
    const auto bids = image.levels(buy);
    ASSERT_EQ(bids.size(), 2U);
    EXPECT_EQ(bids[0].price.value, 101);
    EXPECT_EQ(bids[1].quantity.value, 6U);
    EXPECT_EQ(bids[1].orders_count, 2U);
    const auto queue = image.orders_at(buy, domain::price_ticks{100});
    ASSERT_EQ(queue.size(), 2U);
    EXPECT_EQ(queue[0].order.value, 1U);
    EXPECT_EQ(queue[0].quantity.value, 4U);
    EXPECT_EQ(image.levels(buy, 1).size(), 1U);
    EXPECT_EQ(image.apply(order_event(deleted, 1, buy, 100, 0, 4)), image_status::applied);
    EXPECT_EQ(image.orders_at(buy, domain::price_ticks{100})[0].order.value, 3U);
    EXPECT_EQ(image.orders_count(), 3U);
}

TEST(book_image, keeps_what_is_implied_apart_from_what_is_there) {
    book_image image;
    EXPECT_EQ(image.implied().bid_price, domain::no_price);
    domain::event e;
    e.kind = domain::event_kind::implied_top;
    e.top = {domain::price_ticks{99}, domain::volume_lots{3}, domain::no_price, {}, {}};
    EXPECT_EQ(image.apply(e), image_status::applied);
    EXPECT_EQ(image.implied().bid_price.value, 99);
    EXPECT_EQ(image.implied().bid_quantity.value, 3U);
    EXPECT_EQ(image.top().bid_price, domain::no_price);
    EXPECT_TRUE(image.levels(buy).empty());
    image.clear();
    EXPECT_EQ(image.implied().bid_price, domain::no_price);
}

TEST(book_image, reports_increments_that_contradict_it_and_stays_as_it_was) {
    book_image image;
    EXPECT_EQ(image.apply(order_event(added, 1, buy, 100, 5, 5)), image_status::applied);
    const std::uint64_t before = image.digest();
    EXPECT_EQ(image.apply(order_event(added, 1, buy, 100, 5, 5)), image_status::duplicate_order);
    EXPECT_EQ(image.apply(order_event(reduced, 2, buy, 100, 4, 1)), image_status::unknown_order);
    EXPECT_EQ(image.apply(order_event(deleted, 2, buy, 100, 0, 1)), image_status::unknown_order);
    EXPECT_EQ(image.apply(order_event(reduced, 1, buy, 100, 4, 2)), image_status::wrong_quantity);
    EXPECT_EQ(image.apply(order_event(reduced, 1, sell, 100, 4, 1)), image_status::wrong_quantity);
    EXPECT_EQ(image.apply(order_event(deleted, 1, buy, 101, 0, 5)), image_status::wrong_quantity);
    domain::event level;
    level.kind = domain::event_kind::level_changed;
    level.side = buy;
    level.level = {};
    level.level.price = domain::price_ticks{100};
    level.level.quantity = domain::volume_lots{5};
    level.level.orders_count = 1;
    EXPECT_EQ(image.apply(level), image_status::applied);
    level.level.quantity = domain::volume_lots{6};
    EXPECT_EQ(image.apply(level), image_status::wrong_quantity);
    EXPECT_EQ(image.digest(), before);
    EXPECT_EQ(image.orders_count(), 1U);
}

TEST(book_image, ignores_private_events) {
    book_image image;
    domain::event e;
    e.kind = domain::event_kind::order_entered;
    EXPECT_EQ(image.apply(e), image_status::not_public);
}

TEST(book_image, has_a_digest_that_depends_on_the_set_of_orders_and_not_on_their_history) {
    book_image one;
    book_image other;
    EXPECT_EQ(one.apply(order_event(added, 1, buy, 100, 5, 5)), image_status::applied);
    EXPECT_EQ(one.apply(order_event(added, 2, sell, 105, 3, 3)), image_status::applied);
    EXPECT_EQ(other.apply(order_event(added, 2, sell, 105, 4, 4)), image_status::applied);
    EXPECT_EQ(other.apply(order_event(added, 1, buy, 100, 5, 5)), image_status::applied);
    EXPECT_NE(one.digest(), other.digest());
    EXPECT_EQ(other.apply(order_event(reduced, 2, sell, 105, 3, 1)), image_status::applied);
    EXPECT_EQ(one.digest(), other.digest());
    one.clear();
    EXPECT_EQ(one.digest(), 0U);
    EXPECT_EQ(one.orders_count(), 0U);
}

}  // namespace
}  // namespace corro::feed
