// SPDX-License-Identifier: Apache-2.0
#include "history/moment.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::history {
namespace {

std::int64_t ns_of(std::string_view text) {
    const auto m = parse_moment(text);
    return m && m->is_time ? m->time.value : -1;
}

TEST(moment, reads_sequence_numbers) {
    EXPECT_EQ(parse_moment("125000"), moment{domain::sequence_number{125'000}});
    EXPECT_EQ(parse_moment("0"), moment{domain::sequence_number{0}});
}

TEST(moment, reads_times_with_and_without_decimals_and_seconds) {
    EXPECT_EQ(ns_of("1970-01-01T00:00"), 0);
    EXPECT_EQ(ns_of("1970-01-01T00:00:01Z"), 1'000'000'000);
    EXPECT_EQ(ns_of("1970-01-02T00:00:00.5"), 86'400'500'000'000);
    EXPECT_EQ(ns_of("2012-06-21T09:30:00.017460000Z"), 1'340'271'000'017'460'000);
    EXPECT_EQ(ns_of("2024-02-29T23:59:59.123456789Z"), 1'709'251'199'123'456'789);
}

TEST(moment, refuses_what_is_neither) {
    for (const char* text : {"", "-1", "12x", "2026-11-22", "2026-11-22 09:30:00", "2026-13-01T00:00",
                             "2026-02-29T00:00", "2026-11-22T24:00", "2026-11-22T09:60", "2026-11-22T09:30:60",
                             "2026-11-22T09:30:00.", "2026-11-22T09:30:00.1234567890", "2026-11-22T09:30:00+01:00",
                             "1969-12-31T23:59", "2262-01-01T00:00", "99999999999999999999"}) {
        EXPECT_FALSE(parse_moment(text)) << text;
    }
    EXPECT_EQ(parse_moment("noon").error(),
              "\"noon\": expected a sequence number, or a time such as 2026-11-22T09:30:00.123456789Z");
}

TEST(moment, reads_every_time_that_it_writes) {
    base::prng random{base::test_seed()};
    for (int i = 0; i < 10'000; ++i) {
        const auto ns = static_cast<std::int64_t>(random.below(9'214'646'400'000'000'000));
        ASSERT_EQ(ns_of(format_time(domain::time_ns{ns})), ns);
    }
    EXPECT_EQ(format_time(domain::time_ns{-1}), "1969-12-31T23:59:59.999999999Z");
}

TEST(moment, includes_what_has_happened_by_then) {
    const domain::time_ns t{5};
    EXPECT_TRUE(moment{domain::sequence_number{3}}.includes(domain::sequence_number{3}, t));
    EXPECT_FALSE(moment{domain::sequence_number{3}}.includes(domain::sequence_number{4}, t));
    EXPECT_TRUE(moment{t}.includes(domain::sequence_number{4}, t));
    EXPECT_FALSE(moment{t}.includes(domain::sequence_number{4}, domain::time_ns{6}));
    EXPECT_TRUE(latest().includes(domain::sequence_number{std::numeric_limits<std::uint64_t>::max()}, t));
}

}  // namespace
}  // namespace corro::history
