// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/order_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::facility {
namespace {

using name = std::pair<std::uint32_t, std::uint64_t>;  // owner and number

/// Names beside a map that has the same ones.
class names_and_model {
 public:
    explicit names_and_model(std::uint32_t orders_max, std::uint64_t hash_key)
        : names_(orders_max, base::page_touch::no, hash_key), slots_(orders_max) {
        for (std::uint32_t slot = orders_max; slot != 0; --slot) free_.push_back(slot - 1);
    }

    [[nodiscard]] std::uint32_t find(const name& n) const {
        return names_.find(n.first, n.second, [&](std::uint32_t slot) { return slots_[slot] == n; });
    }
    void insert(const name& n) {
        if (free_.empty() || model_.contains(n)) return;
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        slots_[slot] = n;
        names_.insert(n.first, n.second, slot);
        model_.emplace(n, slot);
    }
    void erase(const name& n) {
        const auto at = model_.find(n);
        if (at == model_.end()) return;
        names_.erase(n.first, n.second, at->second);
        // The name of a closed order stays in its record until the slot is used again.
        free_.push_back(at->second);
        model_.erase(at);
    }
    /// Compares the look-up of `n` with the model.
    void expect_same(const name& n) const {
        const auto at = model_.find(n);
        EXPECT_EQ(find(n), at == model_.end() ? order_names::none : at->second) << n.first << " " << n.second;
    }
    [[nodiscard]] const std::map<name, std::uint32_t>& model() const { return model_; }
    [[nodiscard]] const order_names& names() const { return names_; }

 private:
    order_names names_;
    std::vector<name> slots_;
    std::vector<std::uint32_t> free_;
    std::map<name, std::uint32_t> model_;
};

TEST(order_names, finds_the_names_of_owners_who_count_without_the_table) {
    names_and_model all(100, 7);
    for (std::uint64_t i = 1; i <= 100; ++i) all.insert({3, 1'100 + i});
    EXPECT_EQ(all.names().others_count(), 0U);
    EXPECT_EQ(all.names().places_count(), 256U);
    for (std::uint64_t i = 0; i <= 101; ++i) all.expect_same({3, 1'100 + i});
    all.expect_same({4, 1'150});
}

// Behind each round of the ring the numbers go on at another place.
TEST(order_names, finds_the_names_of_an_owner_who_counts_on_into_the_next_round) {
    for (std::uint64_t first = 1; first <= 1'000; ++first) {
        names_and_model few(100, 7);
        for (std::uint64_t i = 0; i < 60; ++i) few.insert({3, first + i});
        EXPECT_EQ(few.names().others_count(), 0U) << first;
        names_and_model all(100, 7);
        for (std::uint64_t i = 0; i < 100; ++i) all.insert({3, first + i});
        EXPECT_LT(all.names().others_count(), 33U) << first << ": of an owner with all orders of a venue";
    }
}

constexpr std::uint32_t line_entries = 16;

/// Numbers of an owner that have the line of `first`.
std::vector<std::uint64_t> numbers_in_line_of(std::uint64_t first, std::uint32_t owner, std::uint32_t orders_max,
                                              std::uint64_t hash_key, std::size_t count) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t number = first; found.size() < count; ++number) {
        order_names names(orders_max, base::page_touch::no, hash_key);
        for (std::uint32_t slot = 0; slot < line_entries; ++slot) names.insert(owner, first, slot);
        names.insert(owner, number, line_entries);
        if (names.others_count() == 1) found.push_back(number);
    }
    return found;
}

TEST(order_names, keeps_a_name_in_the_table_when_its_line_is_full) {
    names_and_model all(100, 7);
    const std::vector<std::uint64_t> same = numbers_in_line_of(5, 1, 100, 7, 23);
    for (std::size_t i = 0; i < 20; ++i) all.insert({1, same[i]});
    EXPECT_EQ(all.names().others_count(), 4U);
    for (const std::uint64_t number : same) all.expect_same({1, number});
    all.erase({1, same[0]});
    for (const std::uint64_t number : same) all.expect_same({1, number});
    all.insert({1, same[20]});
    EXPECT_EQ(all.names().others_count(), 4U) << "the line had room again";
    all.insert({1, same[21]});
    EXPECT_EQ(all.names().others_count(), 5U);
    for (const std::uint64_t number : same) all.expect_same({1, number});
    for (const std::uint64_t number : same) all.erase({1, number});
    EXPECT_EQ(all.names().others_count(), 0U);
    for (const std::uint64_t number : same) all.expect_same({1, number});
}

// Orders that rest for long do not send the names behind them to the table.
TEST(order_names, finds_names_beside_those_of_long_lived_orders_without_the_table) {
    constexpr std::uint32_t orders_max = 10'000;
    base::prng random{base::test_seed()};
    names_and_model all(orders_max, random());
    std::vector<name> open;
    std::size_t others = 0;
    for (std::uint64_t number = 1; number <= 10 * orders_max; ++number) {
        const name n{static_cast<std::uint32_t>(1 + random.below(64)), number};
        if (open.size() == 2 * orders_max / 3) {
            name& gone = open[random.below(open.size())];
            all.erase(gone);
            gone = n;
        } else {
            open.push_back(n);
        }
        all.insert(n);
        others = std::max(others, all.names().others_count());
    }
    EXPECT_LT(others, orders_max / 100);
}

// As sessions do, and clients that number their orders.
TEST(order_names, finds_the_names_of_owners_who_count_at_the_same_pace_without_the_table) {
    constexpr std::uint32_t orders_max = 12'000;  // in a ring of 32,768 places
    for (const std::uint32_t owners : {1U, 2U, 3U, 10U, 64U, 100U, 1'000U}) {
        for (const std::uint32_t first : {0U, 1U, 77U}) {
            names_and_model all(orders_max, 7);
            for (std::uint64_t number = 1; number <= orders_max / owners; ++number) {
                for (std::uint32_t owner = first; owner < first + owners; ++owner) all.insert({owner, number});
            }
            EXPECT_EQ(all.names().others_count(), 0U) << owners << " owners from " << first;
        }
    }
}

// A thousand strategies of one account have the higher bits of the numbers, and each counts in the lower ones.
TEST(order_names, finds_most_names_of_strategies_with_ranges_of_numbers_without_the_table) {
    constexpr std::uint32_t orders_max = 50'000;
    constexpr std::uint64_t strategies = 1'000;
    constexpr std::uint64_t orders_each = 40;
    for (std::uint32_t shift = 18; shift <= 52; ++shift) {
        names_and_model all(orders_max, 7);
        for (std::uint64_t s = 1; s <= strategies; ++s) {
            for (std::uint64_t i = 1; i <= orders_each; ++i) all.insert({3, (s << shift) + i});
        }
        EXPECT_LE(all.names().others_count(), strategies * orders_each / 8) << shift;
    }
}

// What one owner can do to another one, whose numbers it knows.
TEST(order_names, N6_an_owner_sends_one_name_of_another_to_the_table_for_each_of_its_orders) {
    constexpr std::uint32_t orders_max = 1U << 15U;
    constexpr std::uint64_t places = 2 * orders_max;
    constexpr std::uint32_t hostile = 5;
    constexpr std::uint32_t other = 9;
    const auto start_of = [](std::uint64_t owner) {
        return owner * 0x9e37'79b9'7f4a'7c15 >> (64 - std::countr_zero(places));
    };
    for (const std::uint64_t count : {1'000U, 2'000U, 4'000U}) {
        names_and_model all(orders_max, 7);
        for (std::uint64_t next = 1; next <= count; ++next) {
            all.insert({hostile, (start_of(other) + next - start_of(hostile)) % places});
        }
        for (std::uint64_t number = 1; number <= count; ++number) all.insert({other, number});
        EXPECT_GE(all.names().others_count(), count - 2 * line_entries) << "or the attack is another one now";
        EXPECT_LE(all.names().others_count(), count);
        EXPECT_LE(all.names().passed_max(), 40U) << count;
        const std::size_t before = all.names().others_count();
        for (std::uint64_t number = count + 2 * line_entries; number <= 2 * count; ++number)
            all.insert({other, number});
        EXPECT_EQ(all.names().others_count(), before) << "what comes after the attack";
    }
}

TEST(order_names, does_not_erase_the_name_of_another_order) {
    order_names names(100, base::page_touch::no, 7);
    const auto is = [](std::uint32_t wanted) { return [wanted](std::uint32_t slot) { return slot == wanted; }; };
    const std::vector<std::uint64_t> same = numbers_in_line_of(5, 1, 100, 7, line_entries + 1);
    for (std::uint32_t slot = 0; slot <= line_entries; ++slot) names.insert(1, same[slot], slot);
    ASSERT_EQ(names.others_count(), 1U);
    for (const std::uint64_t number : same) names.erase(1, number, 50);
    for (std::uint32_t slot = 0; slot <= line_entries; ++slot) EXPECT_EQ(names.find(1, same[slot], is(slot)), slot);
}

TEST(order_names, agrees_with_a_map_over_random_names_of_every_kind) {
    base::prng random{base::test_seed()};
    for (int run = 0; run < 200; ++run) {
        const auto orders_max = static_cast<std::uint32_t>(1 + random.below(60));
        names_and_model all(orders_max, random());
        std::uint64_t next = random();
        const std::uint64_t kind = random.below(4);
        for (int i = 0; i < 1'000; ++i) {
            // Counted, few and often the same, one round of the ring apart, random.
            const std::uint64_t number = kind == 0   ? next++
                                         : kind == 1 ? 1 + random.below(100)
                                         : kind == 2 ? 5 + random.below(1'000) * all.names().places_count()
                                                     : random();
            const name n{static_cast<std::uint32_t>(1 + random.below(4)), number};
            all.expect_same(n);
            all.insert(n);
            all.expect_same(n);
            while (!all.model().empty() && random.below(100) < (all.model().size() < orders_max ? 40U : 90U)) {
                const auto some = all.model().lower_bound({static_cast<std::uint32_t>(random.below(5)), random()});
                all.erase(some == all.model().end() ? all.model().begin()->first : some->first);
            }
        }
        for (const auto& [n, slot] : all.model()) all.expect_same(n);
        EXPECT_LE(all.names().others_count(), all.model().size());
    }
}

}  // namespace
}  // namespace corro::facility
