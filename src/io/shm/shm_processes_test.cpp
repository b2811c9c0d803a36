// SPDX-License-Identifier: Apache-2.0
// A client and a venue that are killed, as processes of their own, at every step of a connection through shared memory.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "io/backends/kernel_sockets.hpp"
#include "io/loop/timer.hpp"
#include "io/shm/device.hpp"
#include "io/shm/handshake.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

/// A process that runs `body` and then kills itself; killed and reaped with this object.
class child {
 public:
    template <class Body>
    explicit child(Body body) : process_(::fork()) {
        if (process_ != 0) return;
        body();
        ::kill(::getpid(), SIGKILL);
    }
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child() {
        kill();
        ::waitpid(process_, nullptr, 0);
    }
    void kill() const { ::kill(process_, SIGKILL); }

 private:
    pid_t process_;
};

int connect_plainly(const unix_endpoint& at) {
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const kernel::native_address to = kernel::to_native(at);
    while (::connect(file, to.data(), to.size) != 0) ::usleep(1000);
    return file;
}

constexpr int steps_count = 9;

/// Ends the process at once: no destructor closes anything in order.
void die() {
    ::kill(::getpid(), SIGKILL);
}

/// A client that gets as far as `step`.
void be_client(const unix_endpoint& at, int step) {
    const int file = connect_plainly(at);
    if (step == 0) return die();
    auto received = shm::receive_hello(file);
    while (!received) {
        ::usleep(1000);
        received = shm::receive_hello(file);
    }
    if (step == 1) return die();
    const auto memory = shm::map_memory(received->files[0], received->sizes.memory_bytes(), shm::sharing::both_write);
    if (step == 2) return die();
    const std::span<std::byte> bytes = memory->bytes();
    auto& to_server = *reinterpret_cast<shm::ring_words*>(bytes.data() + shm::words_to_server_offset);
    auto& to_client = *reinterpret_cast<shm::ring_words*>(bytes.data() + shm::words_to_client_offset);
    const auto data = bytes.subspan(shm::data_offset, received->sizes.to_server_bytes);
    data[0] = std::byte{7};  // not published
    if (step == 3) return die();
    shm::ring_writer writer(to_server, data);
    const std::array<std::byte, 100> sent{};
    static_cast<void>(writer.write(sent));
    if (step == 4) return die();  // published, not rung
    if (writer.must_wake_reader()) static_cast<void>(::send(file, sent.data(), 1, MSG_NOSIGNAL));
    if (step == 5) return die();
    to_client.reader_sleeps.store(1);
    if (step == 6) return die();
    to_server.writer_sleeps.store(1);
    if (step == 7) return die();
    writer.end();
    die();
}

/// A venue that gets as far as `step` with its first client.
void be_server(const unix_endpoint& at, int step) {
    context ctx;
    if (step == 1) {
        // Accepts and dies before it sends the memory.
        auto plain = unix_acceptor::open(ctx, at);
        static_cast<void>(block_on(ctx, plain->accept()));
        return die();
    }
    auto acceptor = shm_acceptor::open(ctx, at);
    if (step == 0) {
        ::usleep(5000);
        return die();
    }
    auto stream = block_on(ctx, acceptor->accept());
    if (step == 2) return die();
    std::array<std::byte, 1000> bytes{};
    static_cast<void>(block_on(ctx, stream->write_all(bytes)));
    if (step == 3) return die();
    static_cast<void>(block_on(ctx, stream->read_some(bytes)));
    if (step == 4) return die();
    static_cast<void>(stream->shutdown_send());
    die();
}

class shm_processes : public on_backend {
 protected:
    void SetUp() override {
        on_backend::SetUp();
        at_ = name();
    }
    unix_endpoint name() {
        static int count = 0;
        return *unix_endpoint::parse("@corro-shm-kill-" + std::to_string(::getpid()) + "-" +
                                     std::string(ctx.backend_name()) + "-" + std::to_string(++count));
    }

    unix_endpoint at_;
};

/// Reads to the end. @return bytes and how it ended.
task<io_result> read_all(shm_stream* from) {
    std::array<std::byte, 512> into{};
    std::size_t total = 0;
    for (;;) {
        const io_result read = co_await from->read_some(into);
        total += read.bytes;
        if (read.error) co_return io_result(read.error, total);
    }
}

TEST_P(shm_processes, a_client_killed_at_any_step_ends_its_own_connection_only) {
    auto acceptor = shm_acceptor::open(ctx, at_);
    ASSERT_TRUE(acceptor);
    const auto other = [](context* on, unix_endpoint to, shm_acceptor* from, shm_stream* a, shm_stream* b) -> task<> {
        auto [client, server] = co_await when_all(shm_stream::connect(*on, to), from->accept());
        CORRO_REQUIRE(client && server);
        *a = std::move(*client);
        *b = std::move(*server);
    };
    shm_stream neighbour;
    shm_stream neighbour_server;
    block_on(ctx, other(&ctx, at_, &*acceptor, &neighbour, &neighbour_server));
    for (int step = 0; step < steps_count; ++step) {
        const child victim([&] { be_client(at_, step); });
        // One that died before it could be sent its memory is passed over.
        const auto patience = step == 0 ? std::chrono::milliseconds(50) : std::chrono::milliseconds(test_patience);
        auto server = block_on(ctx, with_timeout(patience, acceptor->accept()));
        if (step == 0 && !server) continue;
        ASSERT_TRUE(server && *server) << step;
        const auto ended = block_on(ctx, with_timeout(test_patience, read_all(&**server)));
        ASSERT_TRUE(ended) << "not noticed at step " << step;
        EXPECT_EQ(ended->bytes, step >= 4 ? 100U : 0U) << step;
        const bool in_order = step == steps_count - 1;
        EXPECT_EQ(ended->error,
                  in_order ? make_error_code(errc::end_of_stream) : std::make_error_code(std::errc::connection_reset))
            << step;
        std::array<std::byte, 1000> bytes{};
        EXPECT_EQ(block_on(ctx, neighbour.write_all(bytes)).bytes, bytes.size()) << step;
        EXPECT_EQ(block_on(ctx, neighbour_server.read_exact(bytes)).bytes, bytes.size()) << step;
    }
}

TEST_P(shm_processes, a_venue_killed_at_any_step_is_noticed_by_its_client) {
    for (int step = 0; step < 6; ++step) {
        const unix_endpoint at = name();
        const child victim([&] { be_server(at, step); });
        const auto body = [](context* on, unix_endpoint to, int where) -> task<> {
            std::expected<shm_stream, std::error_code> stream = std::unexpected(std::error_code());
            for (int i = 0; i < 5000 && !stream; ++i) {
                stream = co_await shm_stream::connect(*on, to);
                if (stream || stream.error() != std::errc::connection_refused) break;
                (void)co_await sleep_for(1ms);
                if (where == 0 && i > 100) break;  // it has come and gone
            }
            if (where <= 1) {
                EXPECT_FALSE(stream) << where;
                co_return;
            }
            if (!stream) {
                // Killed between its sending and this side's look: the memory came with the end.
                ADD_FAILURE() << where << ": " << stream.error().message();
                co_return;
            }
            std::array<std::byte, 10> bytes{};
            (void)co_await stream->write_all(bytes);
            const io_result ended = co_await read_all(&*stream);
            EXPECT_EQ(ended.bytes, where >= 3 ? 1000U : 0U) << where;
            EXPECT_EQ(ended.error, where == 5 ? make_error_code(errc::end_of_stream)
                                              : std::make_error_code(std::errc::connection_reset))
                << where;
        };
        const auto in_time = block_on(ctx, with_timeout(test_patience, body(&ctx, at, step)));
        EXPECT_TRUE(in_time) << step;
    }
}

TEST_P(shm_processes, a_client_killed_in_mid_flow_has_sent_a_prefix) {
    base::prng dice(base::test_seed());
    auto acceptor = shm_acceptor::open(ctx, at_);
    ASSERT_TRUE(acceptor);
    for (int round = 0; round < 20; ++round) {
        const child victim([&] {
            context own;
            auto stream = block_on(own, shm_stream::connect(own, at_));
            std::array<std::byte, 251> bytes{};
            for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
            while (!block_on(own, stream->write_all(bytes)).error) continue;
        });
        const auto body = [](shm_acceptor* from, const child* sender, std::size_t kill_after) -> task<> {
            auto stream = co_await from->accept();
            CORRO_REQUIRE(stream);
            std::vector<std::byte> into(1000);
            std::size_t total = 0;
            bool is_killed = false;
            for (;;) {
                const io_result read = co_await stream->read_some(into);
                for (std::size_t i = 0; i < read.bytes; ++i) {
                    CORRO_REQUIRE(into[i] == static_cast<std::byte>((total + i) % 251));
                }
                total += read.bytes;
                if (read.error) {
                    EXPECT_EQ(read.error, std::errc::connection_reset);
                    break;
                }
                if (!is_killed && total >= kill_after) {
                    sender->kill();
                    is_killed = true;
                }
            }
            EXPECT_TRUE(is_killed);
        };
        const auto in_time = block_on(ctx, with_timeout(test_patience, body(&*acceptor, &victim, dice.below(300'000))));
        ASSERT_TRUE(in_time) << round;
    }
}

TEST_P(shm_processes, a_client_that_stops_reading_makes_the_writer_wait_and_dies_alone) {
    auto acceptor = shm_acceptor::open(ctx, at_);
    ASSERT_TRUE(acceptor);
    const child victim([&] {
        context own;
        const auto stream = block_on(own, shm_stream::connect(own, at_));
        ::pause();
    });
    auto server = block_on(ctx, acceptor->accept());
    ASSERT_TRUE(server);
    std::vector<std::byte> much(1'000'000);
    const auto waits = block_on(ctx, with_timeout(20ms, server->write_all(much)));
    EXPECT_TRUE(!waits || waits->error == condition::timed_out) << "the ring is full";
    victim.kill();
    const auto ended = block_on(ctx, with_timeout(test_patience, server->write_all(much)));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->error, std::errc::broken_pipe);
}

TEST_P(shm_processes, a_stopped_client_goes_on_where_it_was) {
    auto acceptor = shm_acceptor::open(ctx, at_);
    ASSERT_TRUE(acceptor);
    const child echoing([&] {
        context own;
        auto stream = block_on(own, shm_stream::connect(own, at_));
        std::array<std::byte, 300> bytes{};
        for (;;) {
            const io_result read = block_on(own, stream->read_some(bytes));
            if (read.error) return;
            static_cast<void>(block_on(own, stream->write_all(std::span(bytes).first(read.bytes))));
        }
    });
    auto server = block_on(ctx, acceptor->accept());
    ASSERT_TRUE(server);
    const auto body = [](shm_stream* over) -> task<> {
        std::array<std::byte, 50> bytes{};
        for (int i = 0; i < 200; ++i) {
            // The other process sleeps after a while without bytes, and so does this one.
            if (i % 20 == 0) (void)co_await sleep_for(3ms);
            bytes.fill(static_cast<std::byte>(i));
            CORRO_REQUIRE(!(co_await over->write_all(bytes)).error);
            std::array<std::byte, 50> back{};
            CORRO_REQUIRE(!(co_await over->read_exact(back)).error);
            CORRO_REQUIRE(back == bytes);
        }
    };
    EXPECT_TRUE(block_on(ctx, with_timeout(test_patience, body(&*server))));
}

CORRO_ON_EVERY_BACKEND(shm_processes);

}  // namespace
}  // namespace corro::io
