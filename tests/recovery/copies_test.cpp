// SPDX-License-Identifier: Apache-2.0
// D10: copies a venue's journals repeatedly while it runs. Every copy starts, and repeats all answers that the venue
// had sent before the copy began, under the same numbers.
//
// CORRO_CRASHES sets the number of copies, CORRO_SEED the first seed; tools/crash runs the long form.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "copied_venue_fixture.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "journal/segment_format.hpp"

namespace corro {
namespace {

using testing::copied_market;
using testing::listener;
using testing::told_answer;

int copies_wanted() {
    const char* given = std::getenv("CORRO_CRASHES");
    return given != nullptr ? std::atoi(given) : 4;
}

struct copied_mode {
    node::threading_mode threading;
    std::size_t partitions_count;
};

/// The longest wait for a copy's answers. Only a copy that lacks some takes this long.
constexpr std::chrono::seconds answers_limit{20};

/// The answers of every client at the begin of a copy.
using memory = std::vector<std::map<std::uint64_t, told_answer>>;

/// Reads the copy's answers to a session, at least up to the answer with that number.
io::task<void> ask_copy(copied_market* m, std::uint32_t index, io::endpoint venue, std::uint64_t until,
                        std::map<std::uint64_t, told_answer>* heard) {
    client::credentials credentials = testing::who(1 + index % 2, 1 + index / 2);
    credentials.cancel_on_disconnect = false;
    credentials.next_answer = 1;
    auto session = co_await client::order_session::log_on(venue, credentials);
    if (!session) co_return m->fail("a session of the copy: " + session.error().message());
    static_cast<void>((*session)->send_test(4711));
    // Past answers come in pieces, and the echo may come before the last piece.
    while ((*session)->last_echo() != 4711 || (heard->empty() ? 0 : heard->rbegin()->first) < until) {
        const std::error_code written = co_await (*session)->flush();
        const std::error_code read = co_await (*session)->fill();
        if (written || read) co_return m->fail("a session of the copy ended");
        while (true) {
            const auto answer = (*session)->poll();
            if (!answer) co_return m->fail("answers of the copy: " + answer.error().message());
            if (!*answer) break;
            // Number 0 means that the venue has forgotten answers.
            if ((*answer)->sequence != 0) heard->emplace((*answer)->sequence, testing::told_by((*answer)->event));
        }
    }
    (*session)->abandon();
}

/// Starts the copy and compares its answers.
template <class Process>
void expect_the_same_answers(copied_market* m, node::configuration c, const std::string& copy, const memory& told) {
    c.journal_directory = copy;
    Process venue(c);
    ASSERT_TRUE(venue.at_start().sound) << "the copy starts";
    for (std::uint32_t i = 0; i < told.size(); ++i) {
        std::map<std::uint64_t, told_answer> heard;
        const std::uint64_t until = told[i].empty() ? 0 : told[i].rbegin()->first;
        static_cast<void>(io::block_on(
            m->context, io::with_timeout(answers_limit, ask_copy(m, i, venue.order_entry(), until, &heard))));
        ASSERT_EQ(m->failure, "");
        ASSERT_FALSE(heard.empty());
        // A venue does not keep all past answers.
        std::size_t changed = 0;
        for (auto at = told[i].lower_bound(heard.begin()->first); at != told[i].end(); ++at) {
            const auto found = heard.find(at->first);
            if (found == heard.end() || found->second != at->second) ++changed;
        }
        EXPECT_EQ(changed, 0U) << "of " << told[i].size() << " answers of session " << i + 1;
        EXPECT_GE(heard.rbegin()->first, until);
    }
}

/// Copies the venue `copies` times while the clients trade. Each copy begins after new answers.
io::task<void> copy_under_load(copied_market* m, io::endpoint venue, const node::configuration* c, int count,
                               std::vector<memory>* told) {
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->clients.size(); ++i) clients.spawn(testing::trade_and_listen(m, i, venue));
    for (int i = 0; i < count && m->failure.empty(); ++i) {
        const std::uint64_t enough = m->answers_count + 200 + m->random.below(400);
        while (m->answers_count < enough && m->failure.empty()) {
            static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(1)));
        }
        memory now;
        for (const listener& each : m->clients) now.push_back(each.heard);
        told->push_back(std::move(now));
        const int copying =
            testing::begin_copy(c->journal_directory, c->journal_directory + ".copy" + std::to_string(i));
        const bool done = co_await testing::ended_well(copying);
        if (!done) m->fail("copy " + std::to_string(i) + " could not be made");
    }
    m->stopping = true;
    co_await clients.join();
}

template <class Exchange>
void copy_again_and_again(const copied_mode& mode, std::uint64_t seed) {
    using process = testing::forked_venue<Exchange, testing::port_of<Exchange>>;
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder folder;
    const std::string directory = folder.path() + "/journal";
    const node::configuration c = testing::venue_to_copy(mode.threading, mode.partitions_count, directory);
    copied_market m(seed, static_cast<std::uint32_t>(c.instruments.size()));
    std::vector<memory> told;
    const int count = copies_wanted();
    {
        process venue(c);
        ASSERT_TRUE(venue.at_start().sound);
        io::block_on(m.context, copy_under_load(&m, venue.order_entry(), &c, count, &told));
        ASSERT_EQ(m.failure, "");
        EXPECT_TRUE(venue.close().sound) << "the venue does not mind being copied";
    }
    const std::string first = directory + (mode.partitions_count == 1 ? "" : "/PART1") + "/" + journal::segment_name(1);
    const bool any_gone = !std::filesystem::exists(first);
    for (int i = 0; i < count; ++i) {
        SCOPED_TRACE(::testing::Message() << "copy " << i);
        expect_the_same_answers<process>(&m, c, directory + ".copy" + std::to_string(i),
                                         told[static_cast<std::size_t>(i)]);
    }
    std::printf("%d copies, %llu answers told; files of the journal were let go: %s\n", count,
                static_cast<unsigned long long>(m.answers_count), any_gone ? "yes" : "no");
}

class copies_of_a_running_venue : public ::testing::TestWithParam<copied_mode> {};
INSTANTIATE_TEST_SUITE_P(
    modes, copies_of_a_running_venue,
    ::testing::Values(copied_mode{node::threading_mode::inline_, 1}, copied_mode{node::threading_mode::split, 1},
                      copied_mode{node::threading_mode::split, 2}, copied_mode{node::threading_mode::inline_, 3},
                      copied_mode{node::threading_mode::split, 4}),
    [](const auto& p) { return testing::name_of(p.param.threading) + "_" + std::to_string(p.param.partitions_count); });

TEST_P(copies_of_a_running_venue, D10_start_and_tell_what_was_told_number_for_number) {
    if (GetParam().partitions_count == 1) {
        copy_again_and_again<node::testing::started_venue>(GetParam(), base::test_seed());
    } else {
        copy_again_and_again<node::testing::started_venue>(GetParam(), base::test_seed());
    }
}

}  // namespace
}  // namespace corro
