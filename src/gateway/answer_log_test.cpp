// SPDX-License-Identifier: Apache-2.0
#include "gateway/answer_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "base/random.hpp"
#include "base/test_memory.hpp"
#include "base/test_seed.hpp"

namespace corro::gateway {
namespace {

constexpr std::size_t block = answer_log::answers_per_block;

domain::event said_to(std::uint32_t session, std::uint64_t what) {
    domain::event e;
    e.kind = domain::event_kind::order_entered;
    e.order.session = domain::session_id{session};
    e.order.client_order = domain::client_order_id{what};
    return e;
}

answer_log_options kept(std::size_t all, std::size_t of_one) {
    answer_log_options options;
    options.answers_max = all;
    options.session_answers_max = of_one;
    return options;
}

std::uint64_t what_was_said(const answer_log& log, std::uint32_t session, std::uint64_t number) {
    const domain::event* const e = log.find(domain::session_id{session}, number);
    return e == nullptr ? 0 : e->order.client_order.value;
}

TEST(answer_log, counts_each_sessions_answers_from_one_and_finds_them) {
    answer_log log(2);
    EXPECT_EQ(log.next_answer(domain::session_id{1}), 1U);
    EXPECT_EQ(log.append(said_to(1, 10)), 1U);
    EXPECT_EQ(log.append(said_to(2, 20)), 1U);
    EXPECT_EQ(log.append(said_to(1, 11)), 2U);
    EXPECT_EQ(what_was_said(log, 1, 1), 10U);
    EXPECT_EQ(what_was_said(log, 1, 2), 11U);
    EXPECT_EQ(what_was_said(log, 2, 1), 20U);
    EXPECT_EQ(log.find(domain::session_id{1}, 0), nullptr);
    EXPECT_EQ(log.find(domain::session_id{1}, 3), nullptr) << "not given yet";
    EXPECT_EQ(log.find(domain::session_id{2}, 2), nullptr);
}

TEST(answer_log, finds_the_answers_of_a_block_in_one_piece) {
    answer_log log(2);
    for (std::uint64_t i = 1; i <= 2 * block + 3; ++i) {
        log.append(said_to(1, i));
        log.append(said_to(2, 1'000 + i));
    }
    const domain::session_id id{1};
    answer_log::cursor near;
    std::uint64_t number = 5;
    std::vector<std::size_t> sizes;
    while (number != log.next_answer(id)) {
        const auto run = log.find_run(id, number, near);
        ASSERT_FALSE(run.empty());
        sizes.push_back(run.size());
        for (const domain::event& e : run) EXPECT_EQ(e.order.client_order.value, number++);
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{block - 4, block, 3}));
    const std::uint64_t walked = log.blocks_walked_count();
    EXPECT_TRUE(log.find_run(id, number, near).empty()) << "not given yet";
    log.append(said_to(1, 77));
    const auto next = log.find_run(id, number, near);
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].order.client_order.value, 77U);
    EXPECT_EQ(log.blocks_walked_count(), walked) << "the cursor stands before it";
}

TEST(answer_log, keeps_the_newest_answers_that_it_promises_whatever_other_sessions_do) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    base::prng random(seed);
    for (const auto& [all, one] : std::vector<std::pair<std::size_t, std::size_t>>{
             {4 * block, 4 * block}, {8 * block, 2 * block}, {12 * block, 12 * block}, {2 * block, 2 * block}}) {
        answer_log log(4, kept(all, one));
        const std::uint64_t promised = log.newest_kept_count();
        for (int i = 0; i < 5'000; ++i) {
            // One session after the other has much to say.
            const auto busy = static_cast<std::uint32_t>(1 + i / 500 % 4);
            log.append(said_to(random.below(4) == 0 ? 1 + static_cast<std::uint32_t>(random.below(4)) : busy, 1));
            for (std::uint32_t id = 1; id <= 4; ++id) {
                const std::uint64_t next = log.next_answer(domain::session_id{id});
                ASSERT_LE(log.first_kept(domain::session_id{id}), next - std::min(promised, next - 1))
                    << "of session " << id << " after " << i;
            }
        }
    }
}

TEST(answer_log, knows_the_session_of_every_private_kind) {
    answer_log log(5);
    domain::event e;
    e.kind = domain::event_kind::order_executed;
    e.execution = {};
    e.execution.session = domain::session_id{2};
    EXPECT_EQ(log.append(e), 1U);
    e.kind = domain::event_kind::trade_capture;
    e.capture = {};
    e.capture.session = domain::session_id{3};
    EXPECT_EQ(log.append(e), 1U);
    e.kind = domain::event_kind::quote_entered;
    e.quote = {};
    e.quote.session = domain::session_id{4};
    EXPECT_EQ(log.append(e), 1U);
    e.kind = domain::event_kind::protection_changed;
    e.protection = {};
    e.protection.session = domain::session_id{5};
    EXPECT_EQ(log.append(e), 1U);
    for (std::uint32_t id = 2; id <= 5; ++id) EXPECT_EQ(log.next_answer(domain::session_id{id}), 2U) << id;
}

TEST(answer_log, takes_the_next_request_from_what_was_sequenced) {
    answer_log log(1);
    domain::command c;
    c.session = domain::session_id{1};
    c.set_request(7);
    log.note(c);
    EXPECT_EQ(log.next_request(domain::session_id{1}), 8U);
    log.note(c);  // the second command of a mass quote
    EXPECT_EQ(log.next_request(domain::session_id{1}), 8U);
    c.set_request(0);  // the venue's own cancel
    log.note(c);
    EXPECT_EQ(log.next_request(domain::session_id{1}), 8U);
}

TEST(answer_log, gives_up_a_sessions_oldest_answers_at_its_bound) {
    answer_log log(2, kept(100 * block, 2 * block));
    for (std::uint64_t i = 1; i <= 2 * block; ++i) log.append(said_to(1, i));
    EXPECT_EQ(log.first_kept(domain::session_id{1}), 1U);
    log.append(said_to(1, 2 * block + 1));
    EXPECT_EQ(log.first_kept(domain::session_id{1}), block + 1);
    EXPECT_EQ(what_was_said(log, 1, block), 0U);
    for (std::uint64_t i = block + 1; i <= 2 * block + 1; ++i) EXPECT_EQ(what_was_said(log, 1, i), i);
    EXPECT_EQ(log.next_answer(domain::session_id{1}), 2 * block + 2);
}

TEST(answer_log, a_session_that_says_much_cannot_crowd_out_one_that_says_little) {
    answer_log log(4, kept(8 * block, 8 * block));
    for (std::uint64_t i = 1; i <= block; ++i) log.append(said_to(2, i));
    for (std::uint64_t i = 1; i <= 100 * block; ++i) log.append(said_to(1, i));
    EXPECT_EQ(log.first_kept(domain::session_id{2}), 1U);
    // And the others get their share back when they want it.
    for (std::uint64_t i = 1; i <= 2 * block; ++i) {
        log.append(said_to(3, i));
        log.append(said_to(4, i));
    }
    EXPECT_EQ(log.first_kept(domain::session_id{2}), 1U);
    EXPECT_EQ(log.first_kept(domain::session_id{3}), 1U);
    EXPECT_EQ(log.first_kept(domain::session_id{4}), 1U);
    EXPECT_EQ(what_was_said(log, 1, 100 * block), 100 * block);
}

TEST(answer_log, serves_more_sessions_than_it_has_memory_for) {
    answer_log log(10, kept(2 * block, block));
    for (std::uint64_t round = 1; round <= 3 * block; ++round) {
        for (std::uint32_t id = 1; id <= 10; ++id) {
            EXPECT_EQ(log.append(said_to(id, round)), round);
            EXPECT_EQ(what_was_said(log, id, round), round) << "the newest is always there";
        }
    }
}

TEST(answer_log, N6_reading_n_answers_walks_over_no_more_blocks_than_they_are_in) {
    for (const std::uint64_t n : {10 * block, 20 * block, 40 * block}) {
        SCOPED_TRACE(::testing::Message() << n << " answers");
        answer_log log(2, kept(100 * block, 100 * block));
        for (std::uint64_t i = 1; i <= 60 * block; ++i) log.append(said_to(1, i));
        // The last n, as a client asks for them, wherever they begin.
        for (const std::uint64_t first : {60 * block - n + 1, 60 * block - n + 7}) {
            const std::uint64_t walked_before = log.blocks_walked_count();
            answer_log::cursor near;
            for (std::uint64_t i = first; i <= 60 * block; ++i) {
                ASSERT_EQ(log.find(domain::session_id{1}, i, near)->order.client_order.value, i);
            }
            EXPECT_LE(log.blocks_walked_count() - walked_before, 2 * n / block);
        }
    }
}

// Against a map that forgets nothing: what is kept is right, without gaps, and bounded.
TEST(answer_log, agrees_with_a_naive_log_over_random_streams) {
    const std::uint64_t first_seed = base::test_seed();
    for (std::uint64_t seed = first_seed; seed < first_seed + 30; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        base::prng random(seed);
        const auto sessions = static_cast<std::uint32_t>(1 + random.below(6));
        const std::size_t all = (1 + random.below(12)) * block;
        const std::size_t one = (1 + random.below(6)) * block;
        answer_log log(sessions, kept(all, one));
        std::vector<std::vector<std::uint64_t>> naive(sessions + 1);
        std::vector<std::pair<std::uint64_t, answer_log::cursor>> readers(sessions + 1, {1, answer_log::cursor()});
        for (int step = 0; step < 3'000; ++step) {
            const auto id = static_cast<std::uint32_t>(1 + random.below(1 + random.below(sessions)));
            const std::uint64_t what = random() | 1;
            naive[id].push_back(what);
            ASSERT_EQ(log.append(said_to(id, what)), naive[id].size());
            const auto reading = static_cast<std::uint32_t>(1 + random.below(sessions));
            auto& [number, near] = readers[reading];
            for (std::uint64_t left = random.below(4); left != 0; --left) {
                const domain::event* const e = log.find(domain::session_id{reading}, number, near);
                const bool is_kept =
                    number >= log.first_kept(domain::session_id{reading}) && number <= naive[reading].size();
                ASSERT_EQ(e != nullptr, is_kept) << reading << " " << number;
                if (is_kept) {
                    ASSERT_EQ(e->order.client_order.value, naive[reading][number - 1]);
                }
                if (is_kept || number <= naive[reading].size()) ++number;
            }
            if (step == 1'500) {
                std::vector<std::byte> bytes;
                log.save(bytes);
                answer_log again(sessions, kept(all, one));
                ASSERT_EQ(again.load(bytes), "");
                std::vector<std::byte> bytes_again;
                again.save(bytes_again);
                ASSERT_EQ(bytes, bytes_again);
                log = std::move(again);
                for (auto& [unused, cursor] : readers) cursor = answer_log::cursor();
            }
        }
        std::size_t total = 0;
        for (std::uint32_t id = 1; id <= sessions; ++id) {
            const std::uint64_t first = log.first_kept(domain::session_id{id});
            const std::uint64_t next = log.next_answer(domain::session_id{id});
            ASSERT_EQ(next, naive[id].size() + 1);
            ASSERT_LE(next - first, one);
            total += next - first;
            for (std::uint64_t n = 1; n < next; ++n) {
                ASSERT_EQ(what_was_said(log, id, n), n < first ? 0 : naive[id][n - 1]) << id << " " << n;
            }
        }
        ASSERT_LE(total, all);
    }
}

// --- Saving ----------------------------------------------------------------------------------------------------------

answer_log some_log() {
    answer_log log(3);
    for (std::uint64_t i = 1; i <= 70; ++i) log.append(said_to(1, i));
    log.append(said_to(3, 5));
    domain::command c;
    c.session = domain::session_id{2};
    c.set_request(41);
    log.note(c);
    return log;
}

TEST(answer_log, comes_back_from_its_bytes_with_all_numbers) {
    std::vector<std::byte> bytes;
    some_log().save(bytes);
    answer_log log(4);
    log.append(said_to(4, 1));
    ASSERT_EQ(log.load(bytes), "");
    EXPECT_EQ(log.next_answer(domain::session_id{1}), 71U);
    EXPECT_EQ(log.next_request(domain::session_id{2}), 42U);
    EXPECT_EQ(log.next_answer(domain::session_id{4}), 1U) << "a session that was not saved starts at 1";
    for (std::uint64_t i = 1; i <= 70; ++i) EXPECT_EQ(what_was_said(log, 1, i), i);
    EXPECT_EQ(what_was_said(log, 3, 1), 5U);
    EXPECT_EQ(log.append(said_to(1, 71)), 71U);
}

TEST(answer_log, saves_of_some_sessions_only) {
    std::vector<std::byte> bytes;
    some_log().save(bytes, {false, false, false, true});
    answer_log log(3);
    ASSERT_EQ(log.load(bytes), "");
    EXPECT_EQ(log.next_answer(domain::session_id{1}), 1U);
    EXPECT_EQ(log.first_kept(domain::session_id{1}), 1U);
    EXPECT_EQ(log.next_request(domain::session_id{2}), 1U);
    EXPECT_EQ(log.next_answer(domain::session_id{3}), 2U);
    EXPECT_EQ(what_was_said(log, 3, 1), 5U);
}

TEST(answer_log, loads_into_less_memory_and_keeps_the_newest) {
    std::vector<std::byte> bytes;
    some_log().save(bytes);
    answer_log log(3, kept(block, block));
    ASSERT_EQ(log.load(bytes), "");
    EXPECT_EQ(log.next_answer(domain::session_id{1}), 71U);
    EXPECT_EQ(log.next_answer(domain::session_id{3}), 2U);
    EXPECT_EQ(what_was_said(log, 3, 1), 5U);
}

TEST(answer_log, refuses_bytes_with_any_bit_flipped_or_cut_anywhere_and_stays_as_it_was) {
    std::vector<std::byte> bytes;
    some_log().save(bytes);
    answer_log log(3);
    log.append(said_to(2, 9));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::vector<std::byte> damaged = bytes;
        damaged[at] ^= std::byte{0x10};
        EXPECT_NE(log.load(damaged), "") << at;
        EXPECT_NE(log.load(std::span(bytes).first(at)), "") << at;
    }
    EXPECT_EQ(what_was_said(log, 2, 1), 9U);
    answer_log small(2);
    EXPECT_EQ(small.load(bytes), "they are of more sessions than the venue has now");
}

// --- Numbers that begin again ----------------------------------------------------------------------------------------

domain::event reset_of(std::uint32_t session, std::int64_t day_begin, bool is_partial = false) {
    domain::event e;
    e.kind = domain::event_kind::session_numbers_reset;
    e.numbers_reset = {};
    e.numbers_reset.session = domain::session_id{session};
    e.numbers_reset.day_begin = domain::time_ns{day_begin};
    e.numbers_reset.is_partial = is_partial ? 1 : 0;
    return e;
}

domain::event said_at(std::uint32_t session, std::uint64_t what, std::int64_t time) {
    domain::event e = said_to(session, what);
    e.time = domain::time_ns{time};
    return e;
}

void take_request(answer_log& log, std::uint32_t session, std::uint32_t number) {
    domain::command c;
    c.session = domain::session_id{session};
    c.set_request(number);
    log.note(c);
}

/// A day of two sessions, of which the first begins again at 100 and is used; the other one only in a partition.
answer_log two_days() {
    answer_log log(2);
    for (std::uint64_t i = 1; i <= 70; ++i) log.append(said_at(1, i, 50));
    log.append(said_at(2, 9, 60));
    take_request(log, 1, 40);
    take_request(log, 2, 8);
    EXPECT_EQ(log.append(reset_of(1, 100)), 0U) << "it is no answer";
    log.append(said_at(1, 1'000, 110));
    take_request(log, 1, 3);
    log.append(reset_of(2, 100, true));
    return log;
}

TEST(answer_log, numbers_of_a_session_begin_again_and_the_others_go_on) {
    const answer_log log = two_days();
    constexpr domain::session_id first{1};
    EXPECT_EQ(log.next_answer(first), 2U);
    EXPECT_EQ(log.first_kept(first), 1U);
    EXPECT_EQ(log.next_request(first), 4U);
    EXPECT_EQ(what_was_said(log, 1, 1), 1'000U);
    EXPECT_EQ(what_was_said(log, 1, 2), 0U);
    EXPECT_EQ(log.days_count(first), 2U);
    EXPECT_EQ(log.next_request(domain::session_id{2}), 9U) << "partly is not at all";
    EXPECT_EQ(what_was_said(log, 2, 1), 9U);
    EXPECT_EQ(log.days_count(domain::session_id{2}), 1U);
}

TEST(answer_log, numbers_begin_again_once_for_a_moment_and_after_it_only_when_they_were_used_before) {
    const auto is_of_before = [](const answer_log& log, std::uint32_t session, std::int64_t moment) {
        return log.is_of_before(domain::session_id{session}, domain::time_ns{moment});
    };
    answer_log log(2);
    EXPECT_FALSE(is_of_before(log, 1, 100)) << "nothing was said";
    log.append(said_at(1, 1, 50));
    log.append(said_at(1, 2, 120));
    EXPECT_TRUE(is_of_before(log, 1, 100));
    EXPECT_FALSE(is_of_before(log, 1, 50));
    log.append(reset_of(1, 200));
    EXPECT_FALSE(is_of_before(log, 1, 200));
    EXPECT_FALSE(is_of_before(log, 1, 300)) << "nothing was said since";
    log.append(said_at(1, 1, 130));
    EXPECT_FALSE(is_of_before(log, 1, 200)) << "they began for this moment, by a clock that was ahead";
    EXPECT_FALSE(is_of_before(log, 1, 100)) << "a clock that went back";
    EXPECT_TRUE(is_of_before(log, 1, 300));
    log.append(reset_of(2, 100, true));
    EXPECT_TRUE(is_of_before(log, 2, 0)) << "whatever the schedule has";
    log.append(reset_of(2, 100));
    EXPECT_FALSE(is_of_before(log, 2, 0));
}

TEST(answer_log, remembers_the_days_of_sessions_in_its_bytes) {
    std::vector<std::byte> bytes;
    two_days().save(bytes);
    answer_log log(2);
    ASSERT_EQ(log.load(bytes), "");
    for (const std::int64_t moment : {0, 50, 51, 99, 100, 101, 110, 111, 200}) {
        for (const domain::session_id id : {domain::session_id{1}, domain::session_id{2}}) {
            EXPECT_EQ(log.is_of_before(id, domain::time_ns{moment}),
                      two_days().is_of_before(id, domain::time_ns{moment}))
                << moment;
        }
    }
    EXPECT_EQ(log.days_count(domain::session_id{1}), 2U);
    std::vector<std::byte> again;
    log.save(again);
    EXPECT_EQ(again, bytes);
}

/// What a version without resets saved.
std::vector<std::byte> in_version_1(std::vector<std::byte> bytes, std::size_t sessions_count) {
    bytes.resize(bytes.size() - 4);
    for (std::size_t i = sessions_count; i-- > 0;) {
        const auto record = bytes.begin() + static_cast<std::ptrdiff_t>(16 + 48 * i);
        bytes.erase(record + 24, record + 48);
    }
    bytes[8] = std::byte{1};
    const std::uint32_t checksum = base::crc32c(bytes);
    bytes.resize(bytes.size() + 4);
    base::store_le<std::uint32_t>(bytes.data() + bytes.size() - 4, checksum);
    return bytes;
}

TEST(answer_log, takes_what_was_saved_before_there_were_resets) {
    std::vector<std::byte> bytes;
    some_log().save(bytes);
    answer_log log(3);
    ASSERT_EQ(log.load(in_version_1(bytes, 3)), "");
    EXPECT_EQ(log.next_answer(domain::session_id{1}), 71U);
    EXPECT_EQ(log.next_request(domain::session_id{2}), 42U);
    EXPECT_EQ(what_was_said(log, 3, 1), 5U);
    EXPECT_EQ(log.days_count(domain::session_id{1}), 1U);
    EXPECT_TRUE(log.is_of_before(domain::session_id{1}, domain::time_ns{1})) << "of an unknown time";
}

TEST(answer_log, gives_the_memory_of_a_day_that_has_ended_to_everybody) {
    answer_log log(3, kept(6 * block, 6 * block));
    for (std::int64_t day = 1; day <= 50; ++day) {
        for (std::uint32_t id = 1; id <= 3; ++id) {
            for (std::uint64_t i = 1; i <= 2 * block; ++i) log.append(said_at(id, i, day));
            EXPECT_EQ(log.first_kept(domain::session_id{id}), 1U) << "day " << day;
            for (std::uint64_t i = 1; i <= 2 * block; ++i) ASSERT_EQ(what_was_said(log, id, i), i);
        }
        for (std::uint32_t id = 1; id <= 3; ++id) log.append(reset_of(id, day));
        for (std::uint64_t i = 1; i <= 6 * block; ++i) log.append(said_at(2, i, day));
        EXPECT_EQ(log.first_kept(domain::session_id{2}), 1U) << "the others need nothing now";
        log.append(reset_of(2, day));
    }
}

TEST(answer_log, takes_its_memory_at_construction_when_it_is_asked_to) {
    answer_log_options options;
    options.answers_max = std::size_t{1} << 20;
    const std::size_t size = options.answers_max * sizeof(domain::event);
    const std::size_t before = base::resident_bytes();
    if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
    {
        const answer_log untouched(1, options);
        EXPECT_LT(base::resident_bytes(), before + size / 2);
    }
    options.touch = base::page_touch::yes;
    const answer_log touched(1, options);
    EXPECT_GE(base::resident_bytes(), before + size - size / 8);
}

}  // namespace
}  // namespace corro::gateway
