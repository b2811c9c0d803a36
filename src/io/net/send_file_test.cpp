// SPDX-License-Identifier: Apache-2.0
#include "io/net/send_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/tcp_pair_fixture.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tls_fixture.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

/// Larger than every buffer between the two ends, so that the sender has to wait.
constexpr std::size_t large_bytes = std::size_t{24} << 20U;

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    std::uint32_t state = 1;
    for (char& each : text) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<char>(state >> 24U);
    }
    return text;
}

const std::string& large_pattern() {
    static const std::string made = pattern(large_bytes);
    return made;
}

/// Changes nothing, but is called before each call on a file: then the kernel may not copy past it.
class counts_reads final : public file_faults {
 public:
    file_fault before(file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what != file_call::read) return {};
        return ++count == broken_read ? file_fault(EIO) : file_fault();
    }
    int count = 0;
    int broken_read = 0;  // this one fails; 0 for none
};

class sending_files : public on_backend {
 protected:
    void SetUp() override {
        on_backend::SetUp();
        folder_ = std::filesystem::temp_directory_path() /
                  ("corro_send_file_" + std::to_string(::getpid()) + "_" + std::string(ctx.backend_name()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    /// An open file with these contents.
    [[nodiscard]] file make(const std::string& contents, file_faults* faults = nullptr) {
        const std::string path = folder_ / "file";
        std::ofstream(path, std::ios::binary) << contents;
        file_system disk(ctx, faults);
        auto opened = block_on(ctx, disk.open(path, file_mode::read));
        EXPECT_TRUE(opened) << opened.error().message();
        return std::move(*opened);
    }

    std::filesystem::path folder_;
};

task<std::string> read_to_end(any_stream* from) {
    std::string text;
    std::vector<std::byte> room(100'000);
    for (;;) {
        const io_result got = co_await from->read_some(room);
        text.append(reinterpret_cast<const char*>(room.data()), got.bytes);
        if (got.error) {
            EXPECT_EQ(got.error, condition::end_of_stream);
            co_return text;
        }
    }
}

struct sent_and_arrived {
    sent_and_arrived(io_result result, std::string text) noexcept : sent(result), arrived(std::move(text)) {}
    io_result sent;
    std::string arrived;
};

/// Through the stream's own type, as a program calls it.
template <class Stream, class File>
task<io_result> send_and_shut_down(Stream* to, File* from, std::uint64_t offset, std::uint64_t count) {
    const io_result sent = co_await send_file(*to, *from, offset, count);
    static_cast<void>(co_await to->shutdown());
    co_return sent;
}

template <class Stream, class File>
task<sent_and_arrived> pass(Stream* to, any_stream receiver, File* from, std::uint64_t offset, std::uint64_t count) {
    auto [sent, arrived] = co_await when_all(send_and_shut_down(to, from, offset, count), read_to_end(&receiver));
    co_return sent_and_arrived(sent, std::move(arrived));
}

task<std::pair<shm_stream, shm_stream>> shm_pair(context* on, shm_acceptor* acceptor, unix_endpoint at) {
    auto [client, server] = co_await when_all(shm_stream::connect(*on, at), acceptor->accept());
    EXPECT_TRUE(client && server);
    co_return std::pair(std::move(*client), std::move(*server));
}

/// The same transfer over every kind of stream. `check` gets the kind and the result of it.
void over_every_stream(context& ctx, file& from, std::uint64_t offset, std::uint64_t count,
                       const std::function<void(const std::string&, const sent_and_arrived&)>& check) {
    {
        tcp_pair tcp = block_on(ctx, make_tcp_pair(&ctx));
        check("tcp", block_on(ctx, pass(&tcp.client, any_stream(std::move(tcp.server)), &from, offset, count)));
    }
    {
        auto local = unix_stream::pair(ctx);
        ASSERT_TRUE(local);
        check("unix", block_on(ctx, pass(&local->first, any_stream(std::move(local->second)), &from, offset, count)));
    }
    {
        tcp_pair tcp = block_on(ctx, make_tcp_pair(&ctx));
        any_stream hidden(std::move(tcp.client));
        check("any tcp", block_on(ctx, pass(&hidden, any_stream(std::move(tcp.server)), &from, offset, count)));
    }
    {
        const auto at = *unix_endpoint::parse("@corro-send-file-" + std::to_string(::getpid()) + "-" +
                                              std::string(ctx.backend_name()));
        auto acceptor = shm_acceptor::open(ctx, at);
        ASSERT_TRUE(acceptor) << acceptor.error().message();
        auto shared = block_on(ctx, shm_pair(&ctx, &*acceptor, at));
        check("shm", block_on(ctx, pass(&shared.first, any_stream(std::move(shared.second)), &from, offset, count)));
    }
    {
        auto tls = block_on(ctx, shake_hands(&ctx, client_context(), server_context(), "localhost"));
        ASSERT_TRUE(tls.ok());
        check("tls", block_on(ctx, pass(&*tls.client, any_stream(std::move(*tls.server)), &from, offset, count)));
    }
}

TEST_P(sending_files, the_whole_file_arrives_over_every_stream) {
    const std::string contents = pattern(3'000'001);
    file from = make(contents);
    over_every_stream(ctx, from, 0, contents.size(), [&](const std::string& kind, const sent_and_arrived& result) {
        EXPECT_TRUE(result.sent.ok()) << kind << ": " << result.sent.error.message();
        EXPECT_EQ(result.sent.bytes, contents.size()) << kind;
        EXPECT_TRUE(result.arrived == contents) << kind << ": " << result.arrived.size() << " bytes arrived";
    });
}

TEST_P(sending_files, a_range_begins_and_ends_at_the_byte) {
    const std::string contents = pattern(1'000'000);
    file from = make(contents);
    over_every_stream(ctx, from, 4097, 700'003, [&](const std::string& kind, const sent_and_arrived& result) {
        EXPECT_TRUE(result.sent.ok()) << kind << ": " << result.sent.error.message();
        EXPECT_EQ(result.sent.bytes, 700'003U) << kind;
        EXPECT_TRUE(result.arrived == contents.substr(4097, 700'003)) << kind;
    });
}

TEST_P(sending_files, nothing_is_sent_of_an_empty_range) {
    file from = make("contents");
    over_every_stream(ctx, from, 3, 0, [&](const std::string& kind, const sent_and_arrived& result) {
        EXPECT_TRUE(result.sent.ok()) << kind << ": " << result.sent.error.message();
        EXPECT_EQ(result.sent.bytes, 0U) << kind;
        EXPECT_EQ(result.arrived, "") << kind;
    });
}

TEST_P(sending_files, an_empty_file_ends_at_once) {
    file from = make("");
    over_every_stream(ctx, from, 0, 10, [&](const std::string& kind, const sent_and_arrived& result) {
        EXPECT_EQ(result.sent.error, condition::end_of_stream) << kind;
        EXPECT_EQ(result.sent.bytes, 0U) << kind;
        EXPECT_EQ(result.arrived, "") << kind;
    });
}

TEST_P(sending_files, a_file_that_is_shorter_is_sent_to_its_end) {
    const std::string contents = pattern(300'000);
    file from = make(contents);
    over_every_stream(ctx, from, 100'000, 900'000, [&](const std::string& kind, const sent_and_arrived& result) {
        EXPECT_EQ(result.sent.error, condition::end_of_stream) << kind;
        EXPECT_EQ(result.sent.bytes, 200'000U) << kind;
        EXPECT_TRUE(result.arrived == contents.substr(100'000)) << kind;
    });
}

TEST_P(sending_files, a_file_that_a_test_breaks_is_read_in_parts) {
    const std::string contents = pattern(200'000);
    counts_reads faults;
    file from = make(contents, &faults);
    over_every_stream(ctx, from, 0, contents.size(), [&](const std::string& kind, const sent_and_arrived& result) {
        EXPECT_TRUE(result.sent.ok()) << kind;
        EXPECT_TRUE(result.arrived == contents) << kind;
        EXPECT_EQ(std::exchange(faults.count, 0), 4) << kind;  // of 64 KiB
    });
    faults.broken_read = 3;
    over_every_stream(ctx, from, 0, contents.size(), [&](const std::string& kind, const sent_and_arrived& result) {
        EXPECT_EQ(result.sent.error, std::errc::io_error) << kind;
        EXPECT_EQ(result.sent.bytes, 2 * send_file_buffer_bytes) << kind;
        EXPECT_TRUE(result.arrived == contents.substr(0, 2 * send_file_buffer_bytes)) << kind;
        faults.count = 0;
    });
}

template <class Stream>
task<> read_a_part_and_close(Stream* on) {
    std::vector<std::byte> room(100'000);
    const io_result got = co_await on->read_exact(room);
    EXPECT_EQ(got.bytes, room.size());
    on->close();
}

template <class Stream>
task<> peer_closes_in_the_middle(Stream from, Stream to, file* what) {
    auto [sent, nothing] = co_await when_all(send_file(from, *what, 0, large_bytes), read_a_part_and_close(&to));
    static_cast<void>(nothing);
    EXPECT_TRUE(sent.error == std::errc::broken_pipe || sent.error == std::errc::connection_reset)
        << sent.error.message();
    EXPECT_GE(sent.bytes, 100'000U);
    EXPECT_LT(sent.bytes, large_bytes);
    const io_result again = co_await send_file(from, *what, 0, 1000);
    EXPECT_EQ(again.error, std::errc::broken_pipe) << again.error.message();
    EXPECT_EQ(again.bytes, 0U);
}

TEST_P(sending_files, a_peer_that_closes_in_the_middle_is_an_error_and_no_signal) {
    file from = make(large_pattern());
    const auto before = std::signal(SIGPIPE, SIG_DFL);  // would end the process
    tcp_pair tcp = block_on(ctx, make_tcp_pair(&ctx));
    block_on(ctx, peer_closes_in_the_middle(std::move(tcp.client), std::move(tcp.server), &from));
    auto local = unix_stream::pair(ctx);
    ASSERT_TRUE(local);
    block_on(ctx, peer_closes_in_the_middle(std::move(local->first), std::move(local->second), &from));
    sigset_t pending;
    sigset_t blocked;
    ASSERT_EQ(::sigpending(&pending), 0);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
    EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
    std::signal(SIGPIPE, before);
}

template <class Stream>
task<> send_into(Stream* to, file* from, io_result* result) {
    *result = co_await send_file(*to, *from, 0, large_bytes);
}

template <class Stream>
task<> stop_while_it_waits(context* on, Stream to, Stream receiver, file* from, const std::string* contents) {
    io_result sent;
    task_scope children(*on);
    children.spawn(send_into(&to, from, &sent));
    static_cast<void>(co_await sleep_for(20ms));
    children.request_stop();
    co_await children.join();
    EXPECT_EQ(sent.error, std::errc::operation_canceled) << sent.error.message();
    EXPECT_GT(sent.bytes, 0U);
    EXPECT_LT(sent.bytes, large_bytes);
    any_stream reads(std::move(receiver));
    auto [error, arrived] = co_await when_all(to.shutdown(), read_to_end(&reads));
    EXPECT_FALSE(error);
    EXPECT_EQ(arrived.size(), sent.bytes);
    EXPECT_TRUE(contents->starts_with(arrived));
}

TEST_P(sending_files, a_stop_while_it_waits_leaves_the_bytes_that_were_taken) {
    const std::string& contents = large_pattern();
    file from = make(contents);
    tcp_pair tcp = block_on(ctx, make_tcp_pair(&ctx));
    block_on(ctx, stop_while_it_waits(&ctx, std::move(tcp.client), std::move(tcp.server), &from, &contents));
    auto local = unix_stream::pair(ctx);
    ASSERT_TRUE(local);
    block_on(ctx, stop_while_it_waits(&ctx, std::move(local->first), std::move(local->second), &from, &contents));
}

TEST_P(sending_files, closing_the_stream_ends_it) {
    file from = make(large_pattern());
    const auto body = [](context* on, file* what) -> task<> {
        tcp_pair tcp = co_await make_tcp_pair(on);
        io_result sent;
        task_scope children(*on);
        children.spawn(send_into(&tcp.client, what, &sent));
        static_cast<void>(co_await sleep_for(20ms));
        tcp.client.close();
        co_await children.join();
        EXPECT_EQ(sent.error, std::errc::operation_canceled) << sent.error.message();
        io_result refused = co_await send_file(tcp.client, *what, 0, 1);
        EXPECT_EQ(refused.error, std::errc::bad_file_descriptor);
        what->close();
        refused = co_await send_file(tcp.server, *what, 0, 1);
        EXPECT_EQ(refused.error, std::errc::bad_file_descriptor);
    };
    block_on(ctx, body(&ctx, &from));
}

TEST_P(sending_files, other_tasks_run_while_a_large_file_is_sent) {
    const std::string& contents = large_pattern();
    file from = make(contents);
    const auto body = [](context* on, file* what, const std::string* expected) -> task<> {
        tcp_pair tcp = co_await make_tcp_pair(on);
        const auto take_turns = [](int* count, const bool* done) -> task<> {
            for (; !*done; ++*count) co_await yield();
        };
        int count = 0;
        bool done = false;
        task_scope children(*on);
        children.spawn(take_turns(&count, &done));
        const sent_and_arrived result =
            co_await pass(&tcp.client, any_stream(std::move(tcp.server)), what, 0, expected->size());
        EXPECT_TRUE(result.arrived == *expected);
        // A part that the kernel made wait can end in the turn in which the next one is sent at once.
        EXPECT_GE(count, large_bytes / send_file_part_bytes / 2) << "a turn after two parts at the most";
        done = true;
        co_await children.join();
    };
    block_on(ctx, body(&ctx, &from, &contents));
}

class sending_stored_files : public on_backend {};

TEST_P(sending_stored_files, arrive_from_a_real_and_from_a_simulated_disk) {
    const auto body = [](context* on, std::string folder, std::string name) -> task<> {
        const auto disk = on->runs_on().make_storage(*on, nullptr);
        EXPECT_FALSE(disk->make_directory(folder));
        const std::string path = folder + "/" + name;
        auto opened = co_await disk->open(path, file_mode::overwrite);
        CORRO_REQUIRE(opened.has_value());
        const std::string contents = pattern(150'000);
        const io_result written = co_await (*opened)->write_at(0, std::as_bytes(std::span(contents)));
        EXPECT_TRUE(written.ok());
        tcp_pair tcp = co_await make_tcp_pair(on);
        stored_file& from = **opened;
        const sent_and_arrived result =
            co_await pass(&tcp.client, any_stream(std::move(tcp.server)), &from, 1, 200'000);
        EXPECT_EQ(result.sent.error, condition::end_of_stream);
        EXPECT_EQ(result.sent.bytes, contents.size() - 1);
        EXPECT_TRUE(result.arrived == contents.substr(1));
        const std::error_code removed = co_await disk->remove(path);
        EXPECT_FALSE(removed);
    };
    block_on(ctx, body(&ctx, std::filesystem::temp_directory_path().string(),
                       "corro_stored_" + std::to_string(::getpid()) + std::string(ctx.backend_name())));
}

CORRO_ON_EVERY_BACKEND(sending_files);
CORRO_ON_EVERY_BACKEND(sending_stored_files);

}  // namespace
}  // namespace corro::io
