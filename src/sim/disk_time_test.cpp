// SPDX-License-Identifier: Apache-2.0
// How long calls on a simulated disk take, what ends in the midst of them, and how they fail.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/test_seed.hpp"
#include "io/errors.hpp"
#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "sim/disk.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t sector_bytes = stored_bytes::sector_bytes;

class disk_time : public testing::Test {
 protected:
    template <class T>
    T run(io::task<T> work) {
        return io::block_on(here_, std::move(work));
    }
    std::unique_ptr<io::stored_file> open(const std::string& path) {
        auto opened = run(storage_->open(path, io::file_mode::create));
        EXPECT_TRUE(opened.has_value()) << path;
        return opened ? std::move(*opened) : nullptr;
    }
    std::error_code write(io::stored_file& to, const disk::contents& bytes) { return run(to.write_at(0, bytes)).error; }
    std::chrono::nanoseconds time_of(io::task<std::error_code> call) {
        const io::steady_time begin = here_.now();
        EXPECT_FALSE(run(std::move(call)));
        return here_.now() - begin;
    }

    world world_{1};
    io::context here_{io::context_options(world_.machine())};
    sim::disk disk_{disk_pace::at_once, base::test_seed()};
    std::unique_ptr<io::storage> storage_ = disk_.make_storage(1);
};

TEST_F(disk_time, calls_take_no_time_unless_they_are_told_to) {
    const auto file = open("a");
    EXPECT_EQ(time_of(file->sync_data()), 0ns);
    disk_.latency().sync_data = {2ms, 5ms};
    std::set<std::chrono::nanoseconds> times;
    for (int i = 0; i < 50; ++i) {
        const std::chrono::nanoseconds time = time_of(file->sync_data());
        EXPECT_GE(time, 2ms);
        EXPECT_LE(time, 5ms);
        times.insert(time);
    }
    EXPECT_GT(times.size(), 40U);
    EXPECT_EQ(time_of(storage_->sync_directory("/")), 0ns) << "each kind of call has its own";
    disk_.latency().names = {1ms, 1ms};
    EXPECT_EQ(time_of(storage_->sync_directory("/")), 1ms);
    EXPECT_EQ(time_of(storage_->rename("a", "b")), 1ms);
    disk_.latency().resize = {3ms, 3ms};
    EXPECT_EQ(time_of(file->preallocate(100)), 3ms);
    EXPECT_EQ(time_of(file->truncate(0)), 3ms);
}

TEST_F(disk_time, a_hang_is_a_call_that_returns_late_and_is_seen_from_outside_meanwhile) {
    const auto file = open("a");
    disk_.faults().hangs.at_call = disk_.faults().hangs.calls_count + 2;
    EXPECT_EQ(time_of(file->sync_data()), 0ns);
    io::task_scope scope(here_);
    std::error_code error = io::operation_canceled();
    const auto body = [](io::stored_file* on, std::error_code* result) -> io::task<> {
        *result = co_await on->sync_data();
    };
    scope.spawn(body(file.get(), &error));
    run([](void) -> io::task<> { static_cast<void>(co_await io::sleep_for(59s)); }());
    EXPECT_EQ(storage_->calls().count(0) % 2, 1U) << "in progress";
    EXPECT_TRUE(error);
    run([](void) -> io::task<> { static_cast<void>(co_await io::sleep_for(2s)); }());
    EXPECT_EQ(storage_->calls().count(0) % 2, 0U);
    EXPECT_FALSE(error);
    run([](io::task_scope* all) -> io::task<> { co_await all->join(); }(&scope));
    EXPECT_EQ(time_of(file->sync_data()), 0ns) << "only that call";
}

TEST_F(disk_time, a_stop_keeps_a_call_from_beginning_and_does_not_cut_it_short) {
    const auto file = open("a");
    disk_.latency().write = {10ms, 10ms};
    struct outcome {
        io::io_result during;
        io::io_result later;
        std::chrono::nanoseconds time{};
    };
    outcome result;
    const auto body = [](io::stored_file* on, outcome* into) -> io::task<> {
        io::context& here = co_await io::this_context();
        const io::steady_time begin = here.now();
        const std::vector<std::byte> bytes(3 * sector_bytes, std::byte{1});
        into->during = co_await on->write_at(0, bytes);
        into->time = here.now() - begin;
        into->later = co_await on->write_at(0, bytes);
    };
    const auto stopping = [](io::task<> work) -> io::task<> {
        io::task_scope scope(co_await io::this_context());
        scope.spawn(std::move(work));
        static_cast<void>(co_await io::sleep_for(4ms));
        scope.request_stop();
        co_await scope.join();
    };
    run(stopping(body(file.get(), &result)));
    EXPECT_FALSE(result.during.error);
    EXPECT_EQ(result.during.bytes, 3 * sector_bytes);
    EXPECT_EQ(result.time, 10ms);
    EXPECT_EQ(result.later.error, std::errc::operation_canceled);
}

/// Writes, and is interrupted in the midst of it by what `ends` does.
template <class Ends>
io::io_result write_until(io::context& here, io::stored_file& file, std::size_t bytes, Ends ends) {
    io::io_result result;
    const auto writes = [](io::stored_file* on, std::size_t count, io::io_result* into) -> io::task<> {
        const std::vector<std::byte> all(count, std::byte{1});
        *into = co_await on->write_at(0, all);
    };
    const auto body = [](io::task<> work, Ends* end) -> io::task<> {
        io::task_scope scope(co_await io::this_context());
        scope.spawn(std::move(work));
        static_cast<void>(co_await io::sleep_for(5ms));
        (*end)();
        co_await scope.join();
    };
    io::block_on(here, body(writes(&file, bytes, &result), &ends));
    return result;
}

TEST_F(disk_time, a_write_in_progress_has_reached_some_of_its_sectors_when_its_process_ends) {
    disk_.latency().write = {10ms, 10ms};
    std::set<std::size_t> seen;
    for (std::uint32_t i = 0; i < 100; ++i) {
        const auto storage = disk_.make_storage(i);
        disk_.put("a", {});
        auto opened = run(storage->open("a", io::file_mode::write));
        ASSERT_TRUE(opened.has_value());
        const io::io_result result = write_until(here_, **opened, 4 * sector_bytes, [this, i] { disk_.end_views(i); });
        EXPECT_EQ(result.error, std::errc(ESTALE));
        const disk::contents bytes = disk_.bytes_of("a");
        EXPECT_EQ(bytes.size() % sector_bytes, 0U);
        seen.insert(bytes.size() / sector_bytes);
    }
    EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 2, 3, 4}));
}

TEST_F(disk_time, a_write_in_progress_may_have_reached_any_of_its_sectors_when_the_power_goes) {
    disk_.latency().write = {10ms, 10ms};
    std::set<std::string> seen;
    for (std::uint32_t i = 0; i < 400; ++i) {
        const auto storage = disk_.make_storage(i);
        disk_.put("a", disk::contents(3 * sector_bytes));
        auto opened = run(storage->open("a", io::file_mode::write));
        ASSERT_TRUE(opened.has_value());
        const io::io_result result = write_until(here_, **opened, 3 * sector_bytes, [this, i] { disk_.cut_power(i); });
        EXPECT_EQ(result.error, std::errc(ESTALE));
        const disk::contents bytes = disk_.bytes_of("a");
        ASSERT_EQ(bytes.size(), 3 * sector_bytes);
        std::string reached;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::byte first = bytes[k * sector_bytes];
            const std::byte last = bytes[(k + 1) * sector_bytes - 1];
            reached += first == last ? (first == std::byte{1} ? 'n' : 'o') : 't';
        }
        seen.insert(reached);
    }
    EXPECT_TRUE(seen.contains("ooo"));
    EXPECT_TRUE(seen.contains("ono")) << "the second alone";
    EXPECT_GT(seen.size(), 6U);
}

TEST_F(disk_time, a_sync_in_progress_when_the_power_goes_has_promised_nothing) {
    disk_.latency().sync_data = {10ms, 10ms};
    std::set<std::byte> seen;
    for (std::uint32_t i = 0; i < 40; ++i) {
        const auto storage = disk_.make_storage(i);
        disk_.put("a", disk::contents(1));
        auto opened = run(storage->open("a", io::file_mode::write));
        ASSERT_TRUE(opened.has_value());
        EXPECT_FALSE(write(**opened, disk::contents(1, std::byte{1})));
        std::error_code error;
        const auto body = [](io::stored_file* file, sim::disk* on, std::uint64_t seed,
                             std::error_code* result) -> io::task<> {
            io::task_scope scope(co_await io::this_context());
            const auto syncs = [](io::stored_file* what, std::error_code* into) -> io::task<> {
                *into = co_await what->sync_data();
            };
            scope.spawn(syncs(file, result));
            static_cast<void>(co_await io::sleep_for(5ms));
            on->cut_power(seed);
            co_await scope.join();
        };
        run(body(opened->get(), &disk_, i, &error));
        EXPECT_EQ(error, std::errc(ESTALE));
        seen.insert(disk_.bytes_of("a")[0]);
    }
    EXPECT_EQ(seen.size(), 2U);
}

TEST_F(disk_time, each_kind_of_fault_has_a_rule) {
    const disk::contents four(4 * sector_bytes, std::byte{1});
    const auto file = open("a");
    disk_faults& faults = disk_.faults();
    faults.failed_writes.at_call = 2;
    EXPECT_FALSE(write(*file, four));
    const io::io_result torn = run(file->write_at(4 * sector_bytes, four));
    EXPECT_EQ(torn.error, std::errc::io_error);
    EXPECT_LT(torn.bytes, four.size());
    EXPECT_EQ(disk_.bytes_of("a").size(), four.size() + torn.bytes);

    faults.short_writes.at_call = faults.short_writes.calls_count + 1;
    const std::uint64_t calls_count = faults.calls_count;
    EXPECT_FALSE(write(*file, four)) << "the rest comes with another call";
    EXPECT_EQ(faults.calls_count, calls_count + 2);

    faults.no_room.per_million = 1'000'000;
    EXPECT_EQ(write(*file, four), std::errc::no_space_on_device);
    EXPECT_EQ(run(file->preallocate(100'000)), std::errc::no_space_on_device);
    faults.no_room = {};
    faults.failed_reads.per_million = 1'000'000;
    std::array<std::byte, 4> into{};
    EXPECT_EQ(run(file->read_at(0, into)).error, std::errc::io_error);
    faults.failed_names.per_million = 1'000'000;
    EXPECT_EQ(run(storage_->rename("a", "b")), std::errc::io_error);
    EXPECT_EQ(run(storage_->open("b", io::file_mode::create)).error(), std::errc::io_error);
    EXPECT_EQ(run(storage_->sync_directory("/")), std::errc::io_error);
    EXPECT_EQ(disk_.list("/"), std::vector<std::string>{"a"}) << "nothing has changed";
}

TEST_F(disk_time, a_full_disk_takes_what_fits) {
    const auto file = open("a");
    disk_.faults().capacity_bytes = 1'000;
    EXPECT_EQ(storage_->free_bytes("/"), 1'000U);
    const io::io_result done = run(file->write_at(0, disk::contents(1'200, std::byte{1})));
    EXPECT_EQ(done.error, std::errc::no_space_on_device);
    EXPECT_EQ(done.bytes, 1'000U);
    EXPECT_EQ(storage_->free_bytes("/"), 0U);
    EXPECT_FALSE(write(*file, disk::contents(1'000, std::byte{2}))) << "that is there already";
    EXPECT_FALSE(run(file->truncate(300)));
    EXPECT_EQ(storage_->free_bytes("/"), 700U);
    EXPECT_EQ(run(file->preallocate(1'001)), std::errc::no_space_on_device);
    EXPECT_FALSE(run(storage_->remove("a")));
    EXPECT_EQ(storage_->free_bytes("/"), 1'000U);
}

/// The outcomes of many calls that fail at random.
std::string outcomes_of(std::uint64_t seed, std::uint32_t per_million) {
    world in(seed);
    io::context here{io::context_options(in.machine())};
    disk one(disk_pace::at_once, seed);
    one.latency().write = {1us, 1ms};
    one.faults().failed_writes.per_million = per_million;
    one.faults().failed_syncs.per_million = per_million;
    auto opened = io::block_on(here, one.open("a", io::file_mode::create));
    std::string all;
    for (int i = 0; i < 400; ++i) {
        const io::io_result done = io::block_on(here, (*opened)->write_at(0, disk::contents(2'000, std::byte{1})));
        const std::error_code synced = io::block_on(here, (*opened)->sync_data());
        all += std::to_string(done.error.value()) + " " + std::to_string(done.bytes) + " " +
               std::to_string(synced.value()) + " " + std::to_string(here.now().time_since_epoch().count()) + "\n";
    }
    return all;
}

TEST(disk_seed, the_same_seed_gives_the_same_faults_and_times) {
    const std::string one = outcomes_of(1, 250'000);
    EXPECT_EQ(one, outcomes_of(1, 250'000));
    EXPECT_NE(one, outcomes_of(2, 250'000));
    EXPECT_EQ(outcomes_of(1, 0).find("\n5 "), std::string::npos);
    std::size_t failed_count = 0;
    for (std::size_t at = one.find("\n5 "); at != std::string::npos; at = one.find("\n5 ", at + 1)) ++failed_count;
    EXPECT_GT(failed_count, 60U) << "a quarter of 400";
    EXPECT_LT(failed_count, 140U);
}

}  // namespace
}  // namespace corro::sim
