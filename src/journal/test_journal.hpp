// SPDX-License-Identifier: Apache-2.0
// Test support: commands, and whole journals of them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/reader.hpp"
#include "journal/writer.hpp"

namespace corro::journal {

inline const identity test_venue("TEST", 0x1234'5678'9ABC'DEF0, 3);

/// The command of that sequence number: every field that tests compare depends on it.
inline domain::command command_at(std::uint64_t sequence) {
    domain::command c;
    c.sequence = domain::sequence_number{sequence};
    c.time = domain::time_ns{static_cast<std::int64_t>(1'000'000 * sequence)};
    c.enter_order().price = domain::price_ticks{static_cast<std::int64_t>(base::mix64(sequence) % 1000)};
    c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + sequence % 100)};
    c.account = domain::account_id{static_cast<std::uint32_t>(sequence % 7)};
    return c;
}

inline bool is_command_at(const domain::command& found, std::uint64_t sequence) {
    const domain::command expected = command_at(sequence);
    return std::memcmp(&found, &expected, sizeof expected) == 0;
}

/// Small segments, so that a test uses many.
inline writer_options small_options(durability mode, std::uint64_t segment_bytes = 32 * 1024) {
    writer_options options;
    options.venue = test_venue;
    options.mode = mode;
    options.segment_bytes = segment_bytes;
    options.reserve_bytes = segment_bytes / 4;
    options.wall_clock_ns = [] { return std::int64_t{1'700'000'000'000'000'000}; };
    return options;
}

inline reader_options from(std::uint64_t sequence) {
    reader_options options;
    options.venue = test_venue;
    options.from_sequence = sequence;
    return options;
}

/// The result of reading a journal.
struct reading {
    std::uint64_t first = 0;  ///< 0 for none
    std::uint64_t last = 0;
    std::uint64_t mistaken_count = 0;  ///< commands that differ from the written ones: the worst error
    problem error;                     ///< no code when the end was reached
    journal_end end;
};

/// Reads everything from `sequence` on; compares every command with the expected one.
inline io::task<reading> read_all(storage* files, std::string directory, std::uint64_t sequence,
                                  bool mistakes_are_expected = false, identity venue = test_venue) {
    reading result;
    reader_options options = from(sequence);
    options.venue = venue;
    auto opened = co_await reader::open(files, std::move(directory), options);
    if (!opened) {
        result.error = opened.error();
        co_return result;
    }
    for (;;) {
        const auto commands = co_await (*opened)->next();
        if (!commands) {
            result.error = commands.error();
            co_return result;
        }
        if (commands->empty()) break;
        for (const domain::command& c : *commands) {
            if (result.first == 0)
                result.first = result.last = c.sequence.value;
            else if (c.sequence.value != ++result.last)
                ADD_FAILURE() << "a gap at " << result.last;
            if (is_command_at(c, result.last)) continue;
            ++result.mistaken_count;
            if (!mistakes_are_expected) ADD_FAILURE() << "another command at " << result.last;
        }
    }
    result.end = (*opened)->end();
    co_return result;
}

/// Opens a writer at the journal's end, as a venue does.
inline io::task<std::expected<std::unique_ptr<writer>, problem>> open_writer(storage* files, std::string directory,
                                                                             writer_options options,
                                                                             std::uint64_t from_sequence = 1) {
    auto lock = co_await directory_lock::take(files, directory);
    if (!lock) co_return std::unexpected(lock.error());
    reading before = co_await read_all(files, directory, from_sequence, false, options.venue);
    if (before.error.code) co_return std::unexpected(before.error);
    auto opened = co_await writer::open(std::move(*lock), std::move(before.end), std::move(options));
    co_return opened;
}

/// Appends the next `count` commands, waiting while the buffer is full; ends early when the writer has failed.
inline io::task<> append_commands(writer* log, std::uint64_t count) {
    while (count != 0 && !log->failed()) {
        if (log->append(command_at(log->next_sequence()))) {
            --count;
        } else {
            co_await log->progressed().wait();
        }
    }
}

inline io::task<> wait_until_durable(writer* log, std::uint64_t sequence) {
    while (log->durable_sequence() < sequence && !log->failed()) co_await log->progressed().wait();
}

/// Appends `count` commands to the journal and closes it.
inline io::task<> write_journal(storage* files, std::string directory, writer_options options, std::uint64_t count) {
    auto log = co_await open_writer(files, std::move(directory), std::move(options));
    if (!log) ADD_FAILURE() << log.error().text;
    CORRO_REQUIRE(log.has_value());
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*log)->run());
    co_await append_commands(log->get(), count);
    (*log)->close();
    co_await scope.join();
    EXPECT_FALSE((*log)->failed()) << (*log)->error().text;
}

}  // namespace corro::journal
