// SPDX-License-Identifier: Apache-2.0
// Test support: a journal of random commands, and the states of a facility that executes them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "facility/command_generator.hpp"
#include "facility/recorder.hpp"
#include "history/timeline.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/writer.hpp"

namespace corro::history {

/// The commands of a seed; a command may come within nanoseconds of the one before it.
struct generated {
    explicit generated(std::uint64_t seed, std::size_t count) {
        facility::testing::command_generator generator(seed);
        venue.options = generator.profile().options;
        venue.instruments = generator.profile().instruments;
        venue.who = journal::identity("TEST", journal::fingerprint_of(venue.instruments));
        facility::testing::recorder seen;
        facility::facility live(venue.options, venue.instruments, seen);
        for (std::size_t i = 0; i < count; ++i) {
            commands.push_back(generator.next());
            seen.events.clear();
            live.apply(commands.back());
            generator.learn(seen.events);
            hashes.push_back(live.state_hash());
        }
    }
    venue_setup venue;
    std::vector<domain::command> commands;
    std::vector<std::uint64_t> hashes;  ///< after each command
};

inline io::task<> append_all(journal::writer* log, const std::vector<domain::command>* commands) {
    for (const domain::command& c : *commands) {
        while (!log->append(c) && !log->failed()) co_await log->progressed().wait();
    }
}

/// Writes a journal of small segments.
inline io::task<> write_journal(journal::storage* files, std::string directory, const generated* what) {
    auto lock = co_await journal::directory_lock::take(files, directory);
    CORRO_REQUIRE(lock.has_value());
    journal::writer_options options;
    options.venue = what->venue.who;
    options.mode = journal::durability::async;
    options.segment_bytes = std::uint64_t{256} * 1024;
    options.reserve_bytes = options.segment_bytes / 4;
    journal::journal_end end;
    auto opened = co_await journal::writer::open(std::move(*lock), std::move(end), options);
    if (!opened) ADD_FAILURE() << opened.error().text;
    CORRO_REQUIRE(opened.has_value());
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*opened)->run());
    co_await append_all(opened->get(), &what->commands);
    (*opened)->close();
    co_await scope.join();
    EXPECT_FALSE((*opened)->failed()) << (*opened)->error().text;
}

}  // namespace corro::history
