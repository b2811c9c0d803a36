// SPDX-License-Identifier: Apache-2.0
// Bounds what one account can slow down or use up by its choice of names and by the number of its orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "facility/orders/order_names.hpp"
#include "facility/recorder.hpp"
#include "risk/positions.hpp"

namespace corro::facility::testing {
namespace {

constexpr std::uint32_t orders_max = 4'096;
constexpr std::uint64_t key_of_the_venue = 0x0123'4567'89ab'cdef;
constexpr std::uint64_t key_that_the_client_guesses = 42;

constexpr std::uint32_t names_max = 1U << 15U;
constexpr std::uint64_t places = 2 * names_max;
constexpr std::uint64_t line_entries = 16;
constexpr std::uint64_t rounds = 16;
constexpr std::uint64_t lines_filled = 1'000;

/// The number of account 1 with this place in a round of the ring, as order_names places it.
[[nodiscard]] std::uint64_t number_at(std::uint64_t place, std::uint64_t round) {
    const std::uint64_t start =
        (0x9e37'79b9'7f4a'7c15 + round * 0x53c5'5c1b'4382'36dd) >> (64 - std::countr_zero(places));
    return round * places + (place + places - start % places) % places;
}

/// Numbers that fill a thousand lines of the ring, and others of these lines whose buckets, in the table behind the
/// ring, are neighbours under a key.
struct colliding_names {
    std::vector<std::uint64_t> filling;
    std::vector<std::uint64_t> colliding;
};
[[nodiscard]] colliding_names names_against(std::uint64_t hash_key) {
    constexpr std::uint32_t homes = 1U << 13U;  // the table's buckets
    const base::keyed_hash hash(hash_key);
    colliding_names all;
    for (std::uint64_t place = 0; place < lines_filled * line_entries; ++place) {
        all.filling.push_back(number_at(place, 0));
        for (std::uint64_t round = 1; round < rounds; ++round) {
            const std::uint64_t number = number_at(place, round);
            if (hash(number, 1) % homes < 64) all.colliding.push_back(number);
        }
    }
    return all;
}

TEST(flooding, N6_names_chosen_to_collide_do_not_collide_under_another_key) {
    const colliding_names names = names_against(key_that_the_client_guesses);
    ASSERT_GE(names.colliding.size(), 1'500U);
    const auto passed_under = [&](std::uint64_t key) {
        order_names ring(names_max, base::page_touch::no, key);
        std::uint32_t slot = 0;
        for (const std::uint64_t number : names.filling) ring.insert(1, number, slot++);
        EXPECT_EQ(ring.others_count(), 0U);
        for (const std::uint64_t number : names.colliding) ring.insert(1, number, slot++);
        EXPECT_EQ(ring.others_count(), names.colliding.size()) << "the ring has no room for them under any key";
        return ring.passed_max();
    };
    EXPECT_GT(passed_under(key_that_the_client_guesses), 1'000U) << "possible with a known key";
    EXPECT_LT(passed_under(key_of_the_venue), 10U);
    EXPECT_LT(passed_under(0), 10U);
}

[[nodiscard]] std::uint32_t passed_after(std::uint64_t hash_key, std::span<const std::uint64_t> names) {
    order_names ring(orders_max, base::page_touch::no, hash_key);
    std::uint32_t slot = 0;
    for (const std::uint64_t name : names) ring.insert(1, name, slot++);
    return ring.passed_max();
}

TEST(flooding, names_that_follow_each_other_in_any_step_do_not_collide) {
    base::prng random{base::test_seed()};
    for (std::uint32_t shift = 0; shift < 52; ++shift) {
        std::vector<std::uint64_t> names;
        for (std::uint64_t i = 1; i <= 2'000; ++i) names.push_back(i << shift);
        EXPECT_LT(passed_after(random(), names), 100U) << "step 2^" << shift;
    }
}

/// Two venues differ only in their keys.
TEST(flooding, the_key_changes_no_event_no_state_and_no_snapshot) {
    base::prng seeds{base::test_seed()};
    for (int run = 0; run < 60; ++run) {
        command_generator generator(seeds());
        facility_options options = generator.profile().options;
        recorder heard_by_one;
        facility one(options, generator.profile().instruments, heard_by_one);
        options.hash_key = seeds();
        recorder heard_by_other;
        facility other(options, generator.profile().instruments, heard_by_other);
        for (int i = 0; i < 1'000; ++i) {
            const domain::command c = generator.next();
            heard_by_one.events.clear();
            heard_by_other.events.clear();
            one.apply(c);
            other.apply(c);
            ASSERT_EQ(heard_by_one.events.size(), heard_by_other.events.size());
            ASSERT_EQ(std::memcmp(heard_by_one.events.data(), heard_by_other.events.data(),
                                  heard_by_one.events.size() * sizeof(domain::event)),
                      0);
            generator.learn(heard_by_one.events);
        }
        EXPECT_EQ(one.state_hash(), other.state_hash());
        std::vector<std::byte> of_one;
        std::vector<std::byte> of_other;
        base::memory_sink sink_of_one(of_one);
        base::memory_sink sink_of_other(of_other);
        ASSERT_TRUE(one.save(sink_of_one));
        ASSERT_TRUE(other.save(sink_of_other));
        ASSERT_EQ(of_one, of_other);
        base::memory_source source(of_one);
        ASSERT_EQ(other.load(source), std::error_code{}) << "a snapshot is read under any key";
        EXPECT_EQ(one.state_hash(), other.state_hash());
    }
}

/// The number of open orders of each account.
class open_orders {
 public:
    void see(const facility& venue) {
        counts_.clear();
        struct counter final : book_visitor {
            explicit counter(std::map<std::uint32_t, std::uint32_t>& to) : counts(&to) {}
            void visit_level(domain::side, const domain::level&) override {}
            void visit_order(domain::side, const resting_order& o) override { ++(*counts)[o.account.value]; }
            std::map<std::uint32_t, std::uint32_t>* counts;
        } counter(counts_);
        for (const domain::instrument& i : venue.instruments()) venue.visit_book(i.id, counter);
    }
    [[nodiscard]] std::uint32_t of(std::uint32_t account) const {
        const auto at = counts_.find(account);
        return at == counts_.end() ? 0 : at->second;
    }

 private:
    std::map<std::uint32_t, std::uint32_t> counts_;
};

[[nodiscard]] bool may_wait(const domain::command& c) {
    return c.kind == domain::command_kind::enter_order && c.order_terms().type >= domain::order_type::stop;
}

/// A venue that rejects the commands for which `opens_beyond` is true never has more open orders of an account. Each
/// rejected command would have exceeded the limit.
TEST(flooding, N6_no_account_gets_beyond_the_limit_that_all_have) {
    base::prng seeds{base::test_seed()};
    std::uint32_t refused = 0;
    for (int run = 0; run < 60; ++run) {
        command_generator generator(seeds());
        const auto most = static_cast<std::uint32_t>(1 + seeds.below(6));
        recorder heard;
        facility venue(generator.profile().options, generator.profile().instruments, heard);
        open_orders open;
        for (int i = 0; i < 1'000; ++i) {
            domain::command c = generator.next();
            // `visit_book` does not show waiting orders, and the account's own limits are checked first.
            if (may_wait(c) || c.kind == domain::command_kind::set_limits ||
                c.kind == domain::command_kind::set_account_limits)
                continue;
            if (venue.opens_beyond(c, most)) {
                const bool moves = c.kind == domain::command_kind::amend_order;
                EXPECT_GE(open.of(moves ? c.amend_order().other_account.value : c.account.value) + 2, most);
                c.set_verdict(domain::reject_reason::open_orders_limit);
                ++refused;
            }
            heard.events.clear();
            venue.apply(c);
            open.see(venue);
            for (std::uint32_t account = 0; account < generator.profile().options.accounts_max; ++account) {
                ASSERT_LE(open.of(account), most);
            }
            generator.learn(heard.events);
        }
    }
    EXPECT_GT(refused, 1'000U);
}

struct limit_of_all : ::testing::Test {
    recorder heard;
    std::vector<domain::instrument> instruments{wide_instrument(1)};
    facility venue{{.orders_max = 100, .accounts_max = 4, .positions_max = 16}, instruments, heard};
    std::uint64_t sequence = 0;

    void apply(domain::command c) {
        c.sequence = domain::sequence_number{++sequence};
        venue.apply(c);
    }
};

TEST_F(limit_of_all, is_reached_by_the_order_after_the_last_allowed) {
    const domain::command buy = limit(1, domain::side::buy, 10, 1);
    EXPECT_FALSE(venue.opens_beyond(buy, 2));
    apply(buy);
    EXPECT_FALSE(venue.opens_beyond(buy, 2));
    apply(buy);
    EXPECT_TRUE(venue.opens_beyond(buy, 2));
    EXPECT_FALSE(venue.opens_beyond(limit(2, domain::side::buy, 10, 1), 2)) << "another account";
    domain::command at_once = buy;
    at_once.order_terms().time_in_force = domain::time_in_force::ioc;
    EXPECT_FALSE(venue.opens_beyond(at_once, 2)) << "never rests";
    domain::command waits = buy;
    waits.order_terms().type = domain::order_type::stop;
    EXPECT_TRUE(venue.opens_beyond(waits, 2)) << "waiting orders are open";
    domain::command beyond_all = buy;
    beyond_all.account = domain::account_id{4'000'000};
    EXPECT_FALSE(venue.opens_beyond(beyond_all, 0)) << "refused for another reason";
}

TEST_F(limit_of_all, counts_a_waiting_order_and_forgets_what_is_filled) {
    domain::command waits = limit(1, domain::side::buy, 0, 1, 7);
    waits.order_terms().type = domain::order_type::stop;
    waits.enter_order().trigger_price = domain::price_ticks{50};
    apply(waits);
    EXPECT_TRUE(venue.opens_beyond(limit(1, domain::side::buy, 10, 1), 1));
    domain::command cancel;
    cancel.kind = domain::command_kind::cancel_order;
    cancel.account = domain::account_id{1};
    cancel.client_order = domain::client_order_id{7};
    apply(cancel);
    EXPECT_FALSE(venue.opens_beyond(limit(1, domain::side::buy, 10, 1), 1));
    apply(limit(1, domain::side::buy, 10, 1));
    apply(limit(2, domain::side::sell, 10, 1));
    EXPECT_FALSE(venue.opens_beyond(limit(1, domain::side::buy, 10, 1), 1));
}

TEST_F(limit_of_all, is_not_for_accounts_with_a_limit_of_their_own) {
    domain::command limits;
    limits.kind = domain::command_kind::set_limits;
    limits.set_operator(true);
    limits.set_limits().other_account = domain::account_id{1};
    limits.set_limits().open_orders_max = 50;
    apply(limits);
    for (int i = 0; i < 5; ++i) apply(limit(1, domain::side::buy, 10, 1));
    EXPECT_FALSE(venue.opens_beyond(limit(1, domain::side::buy, 10, 1), 2));
    limits.set_limits().open_orders_max = 0;
    limits.set_limits().position_max = domain::quantity_lots{1'000};
    apply(limits);
    EXPECT_TRUE(venue.opens_beyond(limit(1, domain::side::buy, 10, 1), 2)) << "other limits do not count";
}

TEST_F(limit_of_all, counts_both_sides_of_a_quote_and_orders_that_come_from_another_account) {
    domain::command quote;
    quote.kind = domain::command_kind::enter_quote;
    quote.account = domain::account_id{1};
    quote.session = domain::session_id{101};
    quote.instrument = domain::instrument_id{1};
    quote.enter_quote().bid_price = domain::price_ticks{10};
    quote.enter_quote().bid_quantity = domain::quantity_lots{1};
    quote.enter_quote().ask_price = domain::price_ticks{20};
    quote.enter_quote().ask_quantity = domain::quantity_lots{1};
    EXPECT_TRUE(venue.opens_beyond(quote, 1));
    EXPECT_FALSE(venue.opens_beyond(quote, 2));
    apply(quote);
    EXPECT_FALSE(venue.opens_beyond(quote, 2)) << "the sides that stand are replaced";
    EXPECT_TRUE(venue.opens_beyond(limit(1, domain::side::buy, 10, 1), 2));
    domain::command moved;
    moved.kind = domain::command_kind::amend_order;
    moved.account = domain::account_id{2};
    moved.amend_order().flags = domain::amend_flag::account;
    moved.amend_order().other_account = domain::account_id{1};
    EXPECT_TRUE(venue.opens_beyond(moved, 2));
    EXPECT_FALSE(venue.opens_beyond(moved, 3));
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    ASSERT_TRUE(venue.save(sink));
    base::memory_source source(bytes);
    ASSERT_EQ(venue.load(source), std::error_code{});
    EXPECT_TRUE(venue.opens_beyond(moved, 2)) << "counted again after loading";
    EXPECT_FALSE(venue.opens_beyond(moved, 3));
}

TEST(flooding, N6_pairs_of_account_and_instrument_chosen_to_collide_do_not_under_another_key) {
    constexpr std::uint32_t accounts = 8;
    constexpr std::uint32_t instruments = 65'536;
    const base::keyed_hash hash(key_that_the_client_guesses);
    const auto passed = [&](std::uint64_t hash_key) {
        risk::positions positions(1U << 16U, instruments, hash_key);
        for (std::uint32_t account = 0; account < accounts; ++account) {
            for (std::uint32_t i = 0; i < instruments; ++i) {
                constexpr std::uint32_t buckets = 1U << 15U;
                if (hash(i, account) % buckets < 256) static_cast<void>(positions.acquire(account, i));
            }
        }
        return positions.passed_max();
    };
    EXPECT_GT(passed(key_that_the_client_guesses), 1'000U);
    EXPECT_LT(passed(key_of_the_venue), 100U);
}

TEST(flooding, N6_refused_orders_use_up_no_positions) {
    std::vector<domain::instrument> instruments;
    for (std::uint32_t i = 1; i <= 20; ++i) instruments.push_back(wide_instrument(i));
    recorder heard;
    facility venue({.orders_max = 100, .accounts_max = 4, .positions_max = 4}, instruments, heard);
    const std::uint64_t before = venue.state_hash();
    domain::command c = limit(1, domain::side::buy, 10, 1);
    c.order_terms().time_in_force = domain::time_in_force::ioc;
    for (const domain::instrument& i : instruments) {
        c.instrument = i.id;
        venue.apply(c);
        ASSERT_EQ(heard.events.back().reason, domain::reject_reason::no_counterparty);
    }
    EXPECT_EQ(venue.state_hash(), before);
    for (std::uint32_t account = 2; account < 4; ++account) {
        venue.apply(limit(account, domain::side::buy, 10, 1));
        EXPECT_EQ(heard.events.back().reason, domain::reject_reason::none) << "there is room for others";
    }
    EXPECT_EQ(venue.open_orders_count(), 2U);
}

}  // namespace
}  // namespace corro::facility::testing
