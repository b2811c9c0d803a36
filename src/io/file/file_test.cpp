// SPDX-License-Identifier: Apache-2.0
#include "io/file/file.hpp"
#include "io/loop/machine.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/test_bytes.hpp"
#include "io/file/detail/file_pool.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/when_all.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using base::bytes_of;
using base::text_of;

using namespace std::chrono_literals;

/// Makes the `which`-th call of a kind fail, and counts the calls.
class nth_call_breaks final : public file_faults {
 public:
    nth_call_breaks(file_call what, int which, file_fault how) noexcept : what_(what), which_(which), how_(how) {}
    file_fault before(file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what != what_) return {};
        return ++count == which_ ? how_ : file_fault();
    }
    int count = 0;

 private:
    file_call what_;
    int which_;
    file_fault how_;
};

class files : public on_backend {
 protected:
    void SetUp() override {
        on_backend::SetUp();
        folder_ = std::filesystem::temp_directory_path() /
                  ("corro_files_" + std::to_string(::getpid()) + "_" + std::string(ctx.backend_name()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

    std::filesystem::path folder_;
};

TEST_P(files, what_is_written_at_a_place_is_read_there) {
    const auto body = [](context* on, std::string path) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open(path, file_mode::create_new);
        CORRO_REQUIRE(opened.has_value());
        io_result done = co_await opened->write_at(5, bytes_of("world"));
        EXPECT_EQ(done.bytes, 5U);
        done = co_await opened->write_at(0, bytes_of("hello"));
        EXPECT_TRUE(done.ok());
        const std::error_code synced = co_await opened->sync_data();
        EXPECT_FALSE(synced);
        EXPECT_EQ(opened->size(), 10U);
        std::array<std::byte, 16> room{};
        done = co_await opened->read_at(3, std::span(room).first(4));
        EXPECT_EQ(text_of(std::span(room).first(done.bytes)), "lowo");
        done = co_await opened->read_at(6, room);
        EXPECT_EQ(done.error, condition::end_of_stream);
        EXPECT_EQ(text_of(std::span(room).first(done.bytes)), "orld");
        done = co_await opened->read_at(10, {});
        EXPECT_TRUE(done.ok());
        opened->close();
        done = co_await opened->write_at(0, bytes_of("x"));
        EXPECT_EQ(done.error, std::errc::bad_file_descriptor);
    };
    block_on(ctx, body(&ctx, path("a")));
}

TEST_P(files, many_operations_overlap) {
    const auto body = [](context* on, std::string path) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open(path, file_mode::create);
        CORRO_REQUIRE(opened.has_value());
        std::vector<std::byte> block(3U << 20U);
        for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(i * 2654435761U >> 24U);
        const auto write = [](file* to, std::span<const std::byte> part, std::size_t at) -> task<> {
            const io_result done = co_await to->write_at(at, part);
            EXPECT_EQ(done.bytes, part.size());
        };
        std::vector<task<>> writers;
        constexpr std::size_t part_bytes = 100'000;
        for (std::size_t at = 0; at < block.size(); at += part_bytes) {
            const std::size_t size = std::min(part_bytes, block.size() - at);
            writers.push_back(write(&*opened, std::span(block).subspan(at, size), at));
        }
        co_await when_all(std::move(writers));
        std::vector<std::byte> back(block.size());
        const io_result done = co_await opened->read_at(0, back);
        EXPECT_EQ(done.bytes, back.size());
        EXPECT_TRUE(back == block);
    };
    block_on(ctx, body(&ctx, path("a")));
}

TEST_P(files, the_loop_goes_on_while_a_disk_is_waited_for) {
    const auto body = [](context* on, std::string path) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open(path, file_mode::create);
        CORRO_REQUIRE(opened.has_value());
        const std::vector<std::byte> block(1U << 20U);
        const auto work = [](file* to, std::span<const std::byte> what, bool* over) -> task<> {
            for (int i = 0; i < 20; ++i) {
                const io_result done = co_await to->write_at(0, what);
                EXPECT_TRUE(done.ok());
                const std::error_code synced = co_await to->sync_data();
                EXPECT_FALSE(synced);
            }
            *over = true;
        };
        const auto tick = [](const bool* over, int* count) -> task<> {
            while (!*over) {
                co_await sleep_for(50us);
                ++*count;
            }
        };
        bool over = false;
        int ticks_count = 0;
        const auto [a, b] = co_await when_all(work(&*opened, block, &over), tick(&over, &ticks_count));
        EXPECT_EQ(a, b);
        EXPECT_GT(ticks_count, 0);
    };
    block_on(ctx, body(&ctx, path("a")));
}

TEST_P(files, modes_say_what_must_exist) {
    const auto body = [](context* on, std::string path) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open(path, file_mode::read);
        EXPECT_EQ(opened.error(), std::errc::no_such_file_or_directory);
        opened = co_await disk.open(path, file_mode::write);
        EXPECT_EQ(opened.error(), std::errc::no_such_file_or_directory);
        opened = co_await disk.open(path, file_mode::create_new);
        CORRO_REQUIRE(opened.has_value());
        const io_result old = co_await opened->write_at(0, bytes_of("old"));
        EXPECT_TRUE(old.ok());
        opened = co_await disk.open(path, file_mode::create_new);
        EXPECT_EQ(opened.error(), std::errc::file_exists);
        opened = co_await disk.open(path, file_mode::create);
        CORRO_REQUIRE(opened.has_value());
        EXPECT_EQ(opened->size(), 3U);
        opened = co_await disk.open(path, file_mode::overwrite);
        CORRO_REQUIRE(opened.has_value());
        EXPECT_EQ(opened->size(), 0U);
        opened = co_await disk.open(path, file_mode::read);
        CORRO_REQUIRE(opened.has_value());
        const io_result done = co_await opened->write_at(0, bytes_of("x"));
        EXPECT_EQ(done.error, std::errc::bad_file_descriptor);
        EXPECT_EQ(file().size().error(), std::errc::bad_file_descriptor);
    };
    block_on(ctx, body(&ctx, path("a")));
}

TEST_P(files, files_grow_shrink_move_and_go) {
    const auto body = [](context* on, std::string folder) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open(folder + "/a", file_mode::create);
        CORRO_REQUIRE(opened.has_value());
        std::error_code error = co_await opened->preallocate(0, 64 * 1024);
        EXPECT_FALSE(error) << error.message();
        EXPECT_EQ(opened->size(), 65'536U);
        std::array<std::byte, 4> room{std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1}};
        const io_result done = co_await opened->read_at(65'532, room);
        EXPECT_TRUE(done.ok());
        EXPECT_EQ(room, (std::array<std::byte, 4>{}));
        error = co_await opened->truncate(100);
        EXPECT_FALSE(error);
        EXPECT_EQ(opened->size(), 100U);
        EXPECT_TRUE(opened->is_at(folder + "/a"));
        error = co_await disk.rename(folder + "/a", folder + "/b");
        EXPECT_FALSE(error);
        EXPECT_FALSE(opened->is_at(folder + "/a"));
        EXPECT_TRUE(opened->is_at(folder + "/b"));
        {
            const auto other = co_await disk.open(folder + "/c", file_mode::create);
            EXPECT_TRUE(other.has_value());
        }
        error = co_await disk.rename_new(folder + "/c", folder + "/b");
        EXPECT_EQ(error, std::errc::file_exists);
        EXPECT_TRUE(opened->is_at(folder + "/b")) << "a name in use is never taken";
        error = co_await disk.rename_new(folder + "/c", folder + "/d");
        EXPECT_FALSE(error);
        error = co_await disk.remove(folder + "/d");
        EXPECT_FALSE(error);
        error = co_await disk.sync_directory(folder);
        EXPECT_FALSE(error);
        error = co_await disk.sync_directory(folder + "/none");
        EXPECT_EQ(error, std::errc::no_such_file_or_directory);
        error = co_await disk.remove(folder + "/b");
        EXPECT_FALSE(error);
        error = co_await disk.remove(folder + "/b");
        EXPECT_EQ(error, std::errc::no_such_file_or_directory);
        error = co_await disk.rename(folder + "/a", folder + "/b");
        EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    };
    block_on(ctx, body(&ctx, folder_));
}

TEST_P(files, a_directory_is_taken_by_one_opening_at_a_time) {
    const auto body = [](context* on, std::string folder) -> task<> {
        file_system disk(*on);
        auto first = co_await disk.open(folder, file_mode::read);
        auto second = co_await disk.open(folder, file_mode::read);
        CORRO_REQUIRE(first.has_value() && second.has_value());
        EXPECT_TRUE(first->is_at(folder));
        EXPECT_FALSE(first->try_lock());
        EXPECT_EQ(second->try_lock(), std::errc::operation_would_block);
    };
    block_on(ctx, body(&ctx, folder_));
}

TEST_P(files, a_file_is_taken_by_one_opening_at_a_time) {
    const auto body = [](context* on, std::string path) -> task<> {
        file_system disk(*on);
        auto first = co_await disk.open(path, file_mode::create);
        auto second = co_await disk.open(path, file_mode::write);
        CORRO_REQUIRE(first.has_value() && second.has_value());
        EXPECT_FALSE(first->try_lock());
        EXPECT_FALSE(first->try_lock()) << "taking what one has changes nothing";
        EXPECT_EQ(second->try_lock(), std::errc::operation_would_block);
        first->close();
        EXPECT_FALSE(second->try_lock());
        EXPECT_EQ(first->try_lock(), std::errc::bad_file_descriptor);
    };
    block_on(ctx, body(&ctx, path("a")));
}

TEST_P(files, a_full_disk_says_so) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
    const auto body = [](context* on) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open("/dev/full", file_mode::write);
        CORRO_REQUIRE(opened.has_value());
        const io_result done = co_await opened->write_at(0, bytes_of("no room for this"));
        EXPECT_EQ(done.error, std::errc::no_space_on_device);
        EXPECT_EQ(done.bytes, 0U);
    };
    block_on(ctx, body(&ctx));
}

TEST_P(files, a_write_across_the_limit_on_files_keeps_count_of_what_went_before) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{10'000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto body = [](context* on, std::string path) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open(path, file_mode::create);
        CORRO_REQUIRE(opened.has_value());
        const std::vector<std::byte> block(8'000);
        io_result done = co_await opened->write_at(0, block);
        EXPECT_TRUE(done.ok());
        done = co_await opened->write_at(8'000, block);
        EXPECT_EQ(done.error, std::errc::file_too_large);
        EXPECT_EQ(done.bytes, 2'000U);
        EXPECT_EQ(opened->size(), 10'000U);
    };
    block_on(ctx, body(&ctx, path("a")));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
}

TEST_P(files, short_calls_are_continued_until_all_is_done) {
    const auto body = [](context* on, std::string path) -> task<> {
        nth_call_breaks shortens(file_call::write, 1, file_fault::shortened(3));
        file_system disk(*on, &shortens);
        auto opened = co_await disk.open(path, file_mode::create);
        CORRO_REQUIRE(opened.has_value());
        io_result done = co_await opened->write_at(0, bytes_of("0123456789"));
        EXPECT_EQ(done.bytes, 10U);
        EXPECT_TRUE(done.ok());
        EXPECT_EQ(shortens.count, 2) << "the rest was a call of its own";
        std::array<std::byte, 10> room{};
        done = co_await opened->read_at(0, room);
        EXPECT_EQ(text_of(room), "0123456789");
    };
    block_on(ctx, body(&ctx, path("a")));
}

TEST_P(files, the_nth_write_fails_or_tears_as_the_test_wants) {
    const auto body = [](context* on, std::string path) -> task<> {
        nth_call_breaks fails(file_call::write, 2, file_fault(EIO));
        nth_call_breaks tears(file_call::write, 2, file_fault(ENOSPC, 4));
        for (nth_call_breaks* each : {&fails, &tears}) {
            file_system disk(*on, each);
            auto opened = co_await disk.open(path, file_mode::overwrite);
            CORRO_REQUIRE(opened.has_value());
            io_result done = co_await opened->write_at(0, bytes_of("first"));
            EXPECT_TRUE(done.ok());
            done = co_await opened->write_at(5, bytes_of("second"));
            const bool torn = each == &tears;
            EXPECT_EQ(done.error, torn ? std::errc::no_space_on_device : std::errc::io_error);
            EXPECT_EQ(done.bytes, torn ? 4U : 0U);
            EXPECT_EQ(opened->size(), torn ? 9U : 5U) << "a torn write has left its part behind";
            done = co_await opened->write_at(5, bytes_of("third"));
            EXPECT_TRUE(done.ok());
        }
    };
    block_on(ctx, body(&ctx, path("a")));
}

TEST_P(files, every_kind_of_call_can_be_made_to_fail) {
    for (const file_call what :
         {file_call::open, file_call::read, file_call::sync_data, file_call::preallocate, file_call::truncate,
          file_call::rename, file_call::remove, file_call::sync_directory}) {
        const auto body = [](context* on, std::string folder, file_call broken) -> task<> {
            nth_call_breaks fails(broken, 1, file_fault(EIO));
            file_system disk(*on, &fails);
            file_system sound(*on);
            const std::string name = folder + "/a";
            auto opened = co_await disk.open(name, file_mode::create);
            EXPECT_EQ(opened.has_value(), broken != file_call::open);
            if (!opened) opened = co_await sound.open(name, file_mode::create);
            CORRO_REQUIRE(opened.has_value());
            const auto expected = [broken](file_call call) {
                return call == broken ? std::make_error_code(std::errc::io_error) : std::error_code();
            };
            const io_result four = co_await opened->write_at(0, bytes_of("four"));
            EXPECT_TRUE(four.ok());
            std::array<std::byte, 4> room{};
            const io_result got = co_await opened->read_at(0, room);
            EXPECT_EQ(got.error, expected(file_call::read));
            std::error_code error = co_await opened->sync_data();
            EXPECT_EQ(error, expected(file_call::sync_data));
            error = co_await opened->preallocate(0, 10);
            EXPECT_EQ(error, expected(file_call::preallocate));
            error = co_await opened->truncate(2);
            EXPECT_EQ(error, expected(file_call::truncate));
            error = co_await disk.rename(name, name + "b");
            EXPECT_EQ(error, expected(file_call::rename));
            error = co_await disk.sync_directory(folder);
            EXPECT_EQ(error, expected(file_call::sync_directory));
            // A named variable, because g++ 12 destroys a temporary of `?:` in a co_await expression twice.
            const std::string remaining = broken == file_call::rename ? name : name + "b";
            error = co_await disk.remove(remaining);
            EXPECT_EQ(error, expected(file_call::remove));
        };
        block_on(ctx, body(&ctx, folder_, what));
    }
}

TEST_P(files, a_stop_that_came_first_prevents_the_call_and_a_later_one_waits_for_it) {
    const auto body = [](context* on, std::string path) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open(path, file_mode::create);
        CORRO_REQUIRE(opened.has_value());
        const auto write = [](file* to, io_result* into) -> task<> {
            const std::vector<std::byte> block(1U << 20U);
            *into = co_await to->write_at(0, block);
        };
        io_result before;
        io_result during;
        {
            task_scope children(*on);
            children.request_stop();
            children.spawn(write(&*opened, &before));
            co_await children.join();
        }
        EXPECT_EQ(before.error, condition::canceled);
        EXPECT_EQ(opened->size(), 0U);
        {
            task_scope children(*on);
            children.spawn(write(&*opened, &during));
            co_await yield();
            children.request_stop();
            co_await children.join();
        }
        EXPECT_TRUE(during.ok());
        EXPECT_EQ(opened->size(), 1U << 20U);
    };
    block_on(ctx, body(&ctx, path("a")));
}

/// Counts the frames that hold one.
struct frame_mark {
    explicit frame_mark(int* count) : alive(count) { ++*alive; }
    frame_mark(const frame_mark&) = delete;
    frame_mark& operator=(const frame_mark&) = delete;
    ~frame_mark() { --*alive; }
    int* alive;
};

TEST_P(files, a_context_may_go_while_calls_are_under_way) {
    const std::string name = path("a");
    int frames = 0;
    int writes_begun = 0;
    int writes_ended = 0;
    for (int round = 0; round < 20; ++round) {
        {
            context short_lived{context_options(*GetParam())};
            const auto write = [](context* on, std::string where, int* alive, int* begun, int* ended) -> task<> {
                const frame_mark mark(alive);
                file_system disk(*on);
                auto opened = co_await disk.open(where, file_mode::create);
                const std::vector<std::byte> block(1U << 20U, std::byte{'x'});
                for (;;) {
                    ++*begun;
                    const io_result done = co_await opened->write_at(0, block);
                    if (!done) break;
                    ++*ended;
                }
            };
            spawn(short_lived, write(&short_lived, name, &frames, &writes_begun, &writes_ended));
            block_on(short_lived, sleep_for(std::chrono::microseconds(200 * round)));
            EXPECT_EQ(frames, 1);
        }
        EXPECT_EQ(frames, 0) << "the task goes with its context, although its call has not returned";
    }
    EXPECT_GT(writes_begun, writes_ended) << "a call was under way";
    // The end of a task waits for the thread of its call, which writes from the memory of the task.
    std::ifstream written(name, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(written), {});
    EXPECT_FALSE(content.empty());
    EXPECT_EQ(content.find_first_not_of('x'), std::string::npos);
}

CORRO_ON_EVERY_BACKEND(files);

TEST(file_pool, has_no_thread_before_it_is_needed_and_never_many) {
    // Other tests of this program may have used the pool. Under ctest each test has its own process.
    const std::size_t before = file_pool::instance().threads_count();
    context ring{context_options(epoll_platform())};
    const auto body = [](context* on) -> task<> {
        file_system disk(*on);
        auto opened = co_await disk.open("/dev/null", file_mode::write);
        CORRO_REQUIRE(opened.has_value());
        std::vector<task<>> writers;
        const auto write = [](file* to) -> task<> {
            const io_result done = co_await to->write_at(0, bytes_of("x"));
            EXPECT_TRUE(done.ok());
        };
        for (int i = 0; i < 100; ++i) writers.push_back(write(&*opened));
        co_await when_all(std::move(writers));
    };
    block_on(ring, body(&ring));
    EXPECT_GE(file_pool::instance().threads_count(), std::max<std::size_t>(before, 1));
    EXPECT_LE(file_pool::instance().threads_count(), file_pool::threads_max);
}

/// Whether the page cache has the file's first byte and its file system says so. Empties the cache first if asked to.
bool is_in_page_cache(const std::string& name, bool empties = false) {
    const int raw = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (raw < 0) return false;
    if (empties) {
        EXPECT_EQ(::fdatasync(raw), 0);
        EXPECT_EQ(::posix_fadvise(raw, 0, 0, POSIX_FADV_DONTNEED), 0);
    }
    std::byte first{};
    const iovec into{&first, 1};
    const bool found = ::preadv2(raw, &into, 1, 0, RWF_NOWAIT) == 1;
    ::close(raw);
    return found;
}

class page_cache_reads : public ::testing::Test {
 protected:
    void SetUp() override {
        std::vector<std::byte> content(600'000);
        for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i * 2654435761U >> 24U);
        content_ = content;
        std::ofstream(name_, std::ios::binary)
            .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    }
    void TearDown() override { std::filesystem::remove(name_); }

    /// Reads and compares. @return The calls that the pool had to make.
    std::size_t calls_to_read(std::uint64_t offset, std::size_t size) {
        const std::size_t before = file_pool::instance().calls_count();
        std::size_t opened = 0;
        const auto body = [](context* on, page_cache_reads* self, std::uint64_t from, std::size_t wanted,
                             std::size_t* after_open) -> task<> {
            file_system disk(*on);
            auto source = co_await disk.open(self->name_, file_mode::read);
            CORRO_REQUIRE(source.has_value());
            *after_open = file_pool::instance().calls_count();
            std::vector<std::byte> got(wanted);
            const io_result done = co_await source->read_at(from, got);
            const std::size_t there = std::min(wanted, self->content_.size() - from);
            EXPECT_EQ(done.bytes, there);
            EXPECT_EQ(done.ok(), there == wanted);
            EXPECT_TRUE(
                std::ranges::equal(std::span(got).first(done.bytes), std::span(self->content_).subspan(from, there)));
        };
        block_on(ctx_, body(&ctx_, this, offset, size, &opened));
        EXPECT_GT(opened, before) << "a file is opened by the pool";
        return file_pool::instance().calls_count() - opened;
    }

    context ctx_{context_options(epoll_platform())};
    std::string name_ = std::filesystem::temp_directory_path() / ("corro_cached_" + std::to_string(::getpid()));
    std::vector<std::byte> content_;
};

TEST_F(page_cache_reads, of_a_short_piece_need_no_thread) {
    if (!is_in_page_cache(name_)) GTEST_SKIP() << "the file system of the temporary folder cannot tell";
    EXPECT_EQ(calls_to_read(0, 1), 0U);
    EXPECT_EQ(calls_to_read(4'000, 200'000), 0U);
    EXPECT_EQ(calls_to_read(590'000, 20'000), 0U) << "to the end of the file and beyond";
    EXPECT_EQ(calls_to_read(0, 600'000), 1U) << "a long one would hold up the context";
}

TEST_F(page_cache_reads, of_what_is_only_on_the_disk_need_one) {
    if (!is_in_page_cache(name_)) GTEST_SKIP() << "the file system of the temporary folder cannot tell";
    if (is_in_page_cache(name_, true)) GTEST_SKIP() << "the file system keeps everything in memory";
    EXPECT_GE(calls_to_read(0, 100'000), 1U);
}

}  // namespace
}  // namespace corro::io
