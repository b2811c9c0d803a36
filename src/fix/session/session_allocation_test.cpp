// SPDX-License-Identifier: Apache-2.0
// A separate program, because it replaces the global allocation functions.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "fix/codec/values.hpp"
#include "fix/dictionary/test_dictionary.hpp"
#include "fix/session/session.hpp"
#include "fix/session/session_scratch.hpp"

namespace {
std::uint64_t allocations_count = 0;
}  // namespace

void* operator new(std::size_t size) {
    ++allocations_count;
    if (void* memory = std::malloc(size)) return memory;
    std::abort();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace corro::fix {
namespace {

constexpr std::string_view order = "11=a|21=3|18=1 G|40=1|54=1|55=MSFT|60=20261123-10:00:00.123|38=10|44=1.25|";

TEST(fix_allocation, counts_what_is_allocated) {
    const std::uint64_t before = allocations_count;
    ::operator delete(::operator new(1));
    EXPECT_EQ(allocations_count - before, 1U);
}

TEST(fix_allocation, is_not_made_by_the_check_of_a_message) {
    const std::string with_groups = std::string(order) + "453=2|448=A|452=3|802=1|523=x|448=B|";
    std::vector<std::string> all;
    for (const std::string& body :
         {std::string(order), with_groups, std::string(order) + "58=|", std::string(order) + "999=x|0=y|z|",
          std::string(order) + "453=7|448=A|", std::string("11=a|"), std::string(order) + "9000=1|"}) {
        all.push_back(testing::framed(testing::with_header("D", body)));
    }
    validator checking(testing::rules_for(testing::dictionary_xml()));
    field_index index;
    std::uint64_t problems = 0;
    const std::uint64_t before = allocations_count;
    for (int i = 0; i < 10'000; ++i) {
        for (const std::string& each : all) {
            static_cast<void>(index.index(each, next_frame(each, message_bytes_max)));
            problems += checking.check(index) ? 1U : 0U;
        }
    }
    EXPECT_EQ(allocations_count - before, 0U);
    EXPECT_EQ(problems, 50'000U);
}

TEST(fix_allocation, is_not_made_by_a_session_for_a_message_in_order) {
    for (const session_style style : {session_style::corro, session_style::quickfix}) {
        session_settings settings;
        settings.style = style;
        settings.identity.sender_comp_id = "ISLD";
        settings.identity.target_comp_id = "TW";
        settings.checked_by = testing::rules_for(testing::dictionary_xml());
        memory_store store;
        session on(settings, store);
        const instant now{1'000, *timestamp_value("20261123-10:00:00")};
        on.begin(now);
        const auto take = [&](const std::string& bytes) {
            return on.take(bytes, next_frame(bytes, message_bytes_max), now);
        };
        const std::string head = "|49=TW|52=20261123-10:00:00|56=ISLD|";
        ASSERT_EQ(take(testing::framed("35=A|34=1" + head + "98=0|108=30|")), taken::logon);
        on.accept_logon(now);
        std::vector<std::string> all;
        for (int i = 2; i < 1'002; ++i) {
            all.push_back(testing::framed("35=D|34=" + std::to_string(i) + head + std::string(order)));
        }
        const std::uint64_t before = allocations_count;
        std::uint64_t orders = 0;
        for (const std::string& each : all) orders += take(each) == taken::by_application ? 1U : 0U;
        EXPECT_EQ(allocations_count - before, 0U);
        EXPECT_EQ(orders, all.size());
    }
}

// Also when their outputs wait at the same time, after the first such time.
TEST(fix_allocation, is_not_made_by_sessions_that_share_their_scratch) {
    session_scratch shared;
    std::vector<std::unique_ptr<memory_store>> stores;
    std::vector<std::unique_ptr<session>> all;
    const instant now{1'000, *timestamp_value("20261123-10:00:00")};
    const std::string head = "|49=TW|52=20261123-10:00:00|56=ISLD|";
    const auto take = [&](session& on, const std::string& bytes) {
        return on.take(bytes, next_frame(bytes, message_bytes_max), now);
    };
    for (int i = 0; i < 3; ++i) {
        session_settings settings;
        settings.identity.sender_comp_id = "ISLD";
        settings.identity.target_comp_id = "TW";
        settings.scratch = &shared;
        stores.push_back(std::make_unique<memory_store>(0));
        all.push_back(std::make_unique<session>(settings, *stores.back()));
        all.back()->begin(now);
        ASSERT_EQ(take(*all.back(), testing::framed("35=A|34=1" + head + "98=0|108=30|")), taken::logon);
        all.back()->accept_logon(now);
    }
    std::vector<std::string> tests;
    for (int i = 2; i < 302; ++i) tests.push_back(testing::framed("35=1|34=" + std::to_string(i) + head + "112=x|"));
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < tests.size(); ++i) {
        if (i == 20) before = allocations_count;
        for (const auto& each : all) {
            take(*each, tests[i]);
            // Most write at once, some wait for the others.
            if (i % 4 != 0) each->consume(each->output().size());
        }
        for (const auto& each : all) each->consume(each->output().size());
    }
    EXPECT_EQ(allocations_count - before, 0U);
}

}  // namespace
}  // namespace corro::fix
