// SPDX-License-Identifier: Apache-2.0
#include "io/loop/platform.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "io/file/storage.hpp"
#include "io/loop/timer.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class platforms : public on_backend {
 protected:
    [[nodiscard]] static platform& machine() { return *GetParam(); }
};

task<void> ring(remote_event* bell, context** where) {
    *where = &co_await this_context();
    static_cast<void>(co_await sleep_for(1ms));
    bell->set();
}

TEST_P(platforms, contexts_and_their_workers_are_on_one_platform) {
    EXPECT_EQ(&ctx.runs_on(), &machine());
    const auto beside = machine().make_worker(context_options());
    EXPECT_EQ(&beside->where().runs_on(), &machine());
    EXPECT_EQ(beside->where().backend_name(), ctx.backend_name());
}

TEST_P(platforms, a_worker_does_one_work_after_another_beside_the_caller) {
    const auto beside = machine().make_worker(context_options());
    for (int i = 0; i < 3; ++i) {
        remote_event bell(ctx);
        context* where = nullptr;
        EXPECT_FALSE(beside->is_started());
        beside->start(ring(&bell, &where));
        EXPECT_TRUE(beside->is_started());
        EXPECT_FALSE(block_on(ctx, bell.wait()));
        beside->join();
        EXPECT_EQ(where, &beside->where());
    }
    beside->join();  // nothing was started: no effect
}

task<void> fail() {
    static_cast<void>(co_await sleep_for(1ms));
    throw std::runtime_error("as expected");
}

TEST_P(platforms, what_escapes_from_a_workers_work_is_thrown_by_join) {
    const auto beside = machine().make_worker(context_options());
    beside->start(fail());
    EXPECT_THROW(beside->join(), std::runtime_error);
    EXPECT_FALSE(beside->is_started());
}

TEST_P(platforms, random_bytes_do_not_repeat) {
    std::array<std::byte, 32> first{};
    std::array<std::byte, 32> second{};
    machine().fill_random(first);
    machine().fill_random(second);
    EXPECT_NE(first, second);
}

TEST_P(platforms, count_the_processors_that_the_process_may_use) {
    if (machine().name() == "simulated") {
        EXPECT_GE(machine().processors_count(), 2U);
        return;
    }
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_EQ(machine().processors_count(), static_cast<std::size_t>(CPU_COUNT(&before)));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(machine().processors_count(), 1U);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_P(platforms, the_clocks_of_a_context_are_the_platforms) {
    const steady_time before = machine().now();
    const std::uint64_t ticks = machine().ticks().now_ticks();
    EXPECT_FALSE(block_on(ctx, sleep_for(2ms)));
    EXPECT_GE(ctx.now() - before, 2ms);
    EXPECT_GE(machine().ticks().between_ns(ticks, machine().ticks().now_ticks()), 1'900'000U);
    EXPECT_EQ(&machine().ticks(), &machine().ticks()) << "calibrated once";
    const auto wall = ctx.wall_now();
    EXPECT_LE(wall, machine().wall_now());
}

TEST_P(platforms, the_disk_keeps_what_is_written) {
    const std::string folder = std::string(::testing::TempDir()) + "corro_platform_" + std::string(machine().name());
    const auto disk = machine().make_storage(ctx, nullptr);
    ASSERT_FALSE(disk->make_directory(folder));
    const auto write_and_read = [](storage* on, std::string path) -> task<std::string> {
        auto file = co_await on->open(path, file_mode::overwrite);
        if (!file) co_return file.error().message();
        const std::string text = "kept";
        const io_result written = co_await (*file)->write_at(0, std::as_bytes(std::span(text)));
        if (!written) co_return written.error.message();
        if (const std::error_code error = co_await (*file)->sync_data()) co_return error.message();
        std::string back(text.size(), ' ');
        const io_result got = co_await (*file)->read_at(0, std::as_writable_bytes(std::span(back)));
        co_return got ? back : got.error.message();
    };
    EXPECT_EQ(block_on(ctx, write_and_read(disk.get(), folder + "/a")), "kept");
    EXPECT_EQ(*disk->list(folder), std::vector<std::string>{"a"});
    EXPECT_GT(disk->free_bytes(folder), 0U);
    EXPECT_FALSE(block_on(ctx, disk->remove(folder + "/a")));
}

CORRO_ON_EVERY_BACKEND(platforms);

}  // namespace
}  // namespace corro::io
