// SPDX-License-Identifier: Apache-2.0
#include "io/shm/shm_stream.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/backends/kernel_sockets.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/stream.hpp"
#include "io/net/transport_stream.hpp"
#include "io/shm/device.hpp"
#include "io/shm/handshake.hpp"
#include "io/shm/shm_broadcast.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

static_assert(stream<shm_stream>);

unix_endpoint unique_name(context& ctx) {
    static int count = 0;
    return *unix_endpoint::parse("@corro-shm-" + std::to_string(::getpid()) + "-" + std::string(ctx.backend_name()) +
                                 "-" + std::to_string(++count));
}

/// The files that this process has open.
std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
}

class shm_streams : public on_backend {
 protected:
    void SetUp() override {
        on_backend::SetUp();
        if (IsSkipped()) return;
        at_ = unique_name(ctx);
    }
    void listen(shm_options options = {}) {
        auto opened = shm_acceptor::open(ctx, at_, options);
        ASSERT_TRUE(opened) << opened.error().message();
        acceptor_ = std::move(*opened);
    }
    void connect(shm_options options = {}) {
        listen(options);
        const auto body = [](context* on, shm_acceptor* from, unix_endpoint to, shm_stream* a,
                             shm_stream* b) -> task<> {
            auto [client, server] = co_await when_all(shm_stream::connect(*on, to), from->accept());
            CORRO_REQUIRE(client && server);
            *a = std::move(*client);
            *b = std::move(*server);
        };
        block_on(ctx, body(&ctx, &acceptor_, at_, &client_, &server_));
    }
    /// Connects by hand, to do what no client does.
    [[nodiscard]] int connect_plainly() const {
        const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const kernel::native_address to = kernel::to_native(at_);
        EXPECT_EQ(::connect(file, to.data(), to.size), 0);
        return file;
    }

    unix_endpoint at_;
    shm_acceptor acceptor_;
    shm_stream client_;
    shm_stream server_;
};

task<> send_numbers(shm_stream* over, std::size_t size, std::size_t piece) {
    std::vector<std::byte> bytes(piece);
    for (std::size_t sent = 0; sent < size; sent += piece) {
        for (std::size_t i = 0; i < piece; ++i) bytes[i] = static_cast<std::byte>((sent + i) % 251);
        const io_result written = co_await over->write_all(bytes);
        CORRO_REQUIRE(!written.error);
    }
}
task<> expect_numbers(shm_stream* over, std::size_t size, std::size_t piece) {
    std::vector<std::byte> bytes(piece);
    for (std::size_t received = 0; received < size;) {
        const io_result read = co_await over->read_some(bytes);
        CORRO_REQUIRE(!read.error);
        for (std::size_t i = 0; i < read.bytes; ++i) {
            CORRO_REQUIRE(bytes[i] == static_cast<std::byte>((received + i) % 251));
        }
        received += read.bytes;
    }
}

// Where the kernel has not yet confirmed what a stream cancelled when it was closed, its memory waits for that. The
// sanitizers see whether it is freed with the context.
TEST_P(shm_streams, are_freed_with_a_context_whose_thread_has_ended) {
    // It polls, and so its last turn asks the kernel for nothing.
    context_options polling(*GetParam());
    polling.busy_poll = 1s;
    auto there = std::make_unique<context>(polling);
    auto from = shm_acceptor::open(*there, at_);
    ASSERT_TRUE(from);
    const auto answer = [](shm_acceptor* acceptor, std::size_t* bytes) -> task<> {
        auto stream = co_await acceptor->accept();
        CORRO_REQUIRE(stream);
        acceptor->close();
        for (int turns = 0; turns < 10; ++turns) co_await yield();  // the stream waits for its peer's bells now
        std::array<std::byte, 64> into{};
        io_result got = co_await stream->read_some(into);
        while (!got.error) {
            *bytes += got.bytes;
            got = co_await stream->read_some(into);
        }
    };
    std::size_t received_bytes = 0;
    std::thread server([&] { block_on(*there, answer(&*from, &received_bytes)); });
    const auto ask = [](context* on, unix_endpoint to, shm_stream* into) -> task<> {
        auto stream = co_await shm_stream::connect(*on, to);
        CORRO_REQUIRE(stream);
        const std::array<std::byte, 100> message{};
        const io_result sent = co_await stream->write_all(message);
        EXPECT_FALSE(sent.error);
        EXPECT_FALSE(stream->shutdown_send());
        *into = std::move(*stream);  // open until the server has gone
    };
    block_on(ctx, ask(&ctx, at_, &client_));
    server.join();
    there.reset();
    EXPECT_EQ(received_bytes, 100U);
}

TEST_P(shm_streams, carry_bytes_both_ways_many_times_around) {
    connect();
    const auto body = [](shm_stream* a, shm_stream* b) -> task<> {
        co_await when_all(send_numbers(a, 3'000'000, 1000), expect_numbers(b, 3'000'000, 777),
                          send_numbers(b, 2'000'000, 500), expect_numbers(a, 2'000'000, 4096));
    };
    block_on(ctx, body(&client_, &server_));
}

TEST_P(shm_streams, a_read_that_waits_gets_what_comes_later_also_when_the_loop_sleeps_between) {
    connect();
    const auto body = [](shm_stream* a, shm_stream* b) -> task<> {
        const auto late = [](shm_stream* to) -> task<> {
            for (int i = 0; i < 5; ++i) {
                (void)co_await sleep_for(2ms);
                std::array<std::byte, 3> bytes{};
                const io_result sent = co_await to->write_all(bytes);
                CORRO_REQUIRE(!sent.error);
            }
        };
        const auto wait = [](shm_stream* from) -> task<> {
            std::array<std::byte, 15> bytes{};
            const io_result read = co_await from->read_exact(bytes);
            EXPECT_EQ(read.bytes, bytes.size());
        };
        co_await when_all(late(a), wait(b));
        co_await when_all(late(b), wait(a));
    };
    block_on(ctx, body(&client_, &server_));
}

TEST_P(shm_streams, a_full_ring_makes_the_writer_wait_and_then_goes_on) {
    shm_options options;
    options.to_server_bytes = options.to_client_bytes = 4096;
    connect(options);
    std::vector<std::byte> bytes(5000);
    const io_result first = client_.try_write(bytes);
    EXPECT_EQ(first.bytes, 4096U);
    const io_result second = client_.try_write(bytes);
    EXPECT_EQ(second.bytes, 0U);
    EXPECT_FALSE(second.error);
    const auto body = [](shm_stream* a, shm_stream* b, std::span<std::byte> sent) -> task<> {
        const auto waits = co_await with_timeout(2ms, a->write_some(sent));
        EXPECT_FALSE(waits) << "there was no room";
        const auto drain = [](shm_stream* from) -> task<> {
            (void)co_await sleep_for(2ms);
            std::vector<std::byte> into(4096 + 5000);
            const io_result read = co_await from->read_exact(into);
            EXPECT_EQ(read.bytes, into.size());
        };
        const auto [written, nothing] = co_await when_all(a->write_all(sent), drain(b));
        EXPECT_EQ(written.bytes, sent.size());
    };
    block_on(ctx, body(&client_, &server_, bytes));
}

TEST_P(shm_streams, end_in_order_and_keep_the_other_direction) {
    connect();
    const auto body = [](shm_stream* a, shm_stream* b) -> task<> {
        std::array<std::byte, 10> bytes{};
        CORRO_REQUIRE(!(co_await a->write_all(bytes)).error);
        EXPECT_FALSE(co_await a->shutdown());
        const io_result refused = co_await a->write_some(bytes);
        EXPECT_EQ(refused.error, std::errc::broken_pipe);
        std::array<std::byte, 20> into{};
        const io_result read = co_await b->read_exact(into);
        EXPECT_EQ(read.bytes, 10U);
        EXPECT_EQ(read.error, condition::end_of_stream);
        CORRO_REQUIRE(!(co_await b->write_all(bytes)).error);
        const io_result back = co_await a->read_exact(bytes);
        EXPECT_EQ(back.bytes, bytes.size());
    };
    block_on(ctx, body(&client_, &server_));
}

TEST_P(shm_streams, closing_ends_the_peers_read_and_write) {
    connect();
    const auto body = [](shm_stream* a, shm_stream* b) -> task<> {
        std::array<std::byte, 10> bytes{};
        CORRO_REQUIRE(!(co_await a->write_all(bytes)).error);
        const auto reads = [](shm_stream* from) -> task<> {
            std::array<std::byte, 20> into{};
            const io_result read = co_await from->read_exact(into);
            EXPECT_EQ(read.bytes, 10U) << "what was sent before the close is read";
            EXPECT_EQ(read.error, condition::end_of_stream);
        };
        const auto closes = [](shm_stream* what) -> task<> {
            (void)co_await sleep_for(2ms);
            what->close();
        };
        co_await when_all(reads(b), closes(a));
        io_result written;
        while (!written.error) written = co_await b->write_some(bytes);
        EXPECT_EQ(written.error, std::errc::broken_pipe);
        const io_result closed = co_await a->read_some(bytes);
        EXPECT_EQ(closed.error, std::errc::bad_file_descriptor);
    };
    block_on(ctx, body(&client_, &server_));
}

TEST_P(shm_streams, a_stopped_read_takes_nothing_and_a_closed_one_ends) {
    connect();
    const auto body = [](shm_stream* a, shm_stream* b) -> task<> {
        std::array<std::byte, 10> bytes{};
        const auto late = co_await with_timeout(2ms, b->read_some(bytes));
        EXPECT_FALSE(late);
        CORRO_REQUIRE(!(co_await a->write_all(bytes)).error);
        const io_result read = co_await b->read_exact(bytes);
        EXPECT_EQ(read.bytes, 10U);
        const auto reads = [](shm_stream* from) -> task<> {
            std::array<std::byte, 20> into{};
            const io_result ended = co_await from->read_some(into);
            EXPECT_EQ(ended.error, condition::canceled);
        };
        const auto closes = [](shm_stream* what) -> task<> {
            (void)co_await sleep_for(2ms);
            what->close();
        };
        co_await when_all(reads(b), closes(b));
    };
    block_on(ctx, body(&client_, &server_));
}

TEST_P(shm_streams, more_than_are_polled_are_served_too) {
    listen();
    constexpr int pairs = 3 * static_cast<int>(shm::stream_device::polled_max) / 2;
    const auto body = [](context* on, shm_acceptor* from, unix_endpoint to) -> task<> {
        std::vector<shm_stream> clients;
        std::vector<shm_stream> servers;
        for (int i = 0; i < pairs; ++i) {
            auto [client, server] = co_await when_all(shm_stream::connect(*on, to), from->accept());
            CORRO_REQUIRE(client && server);
            clients.push_back(std::move(*client));
            servers.push_back(std::move(*server));
        }
        const auto echo = [](shm_stream* over) -> task<> {
            std::array<std::byte, 64> bytes{};
            for (int i = 0; i < 20; ++i) {
                const io_result read = co_await over->read_some(bytes);
                CORRO_REQUIRE(!read.error);
                const io_result sent = co_await over->write_all(std::span(bytes).first(read.bytes));
                CORRO_REQUIRE(!sent.error);
            }
        };
        const auto ask = [](shm_stream* over) -> task<> {
            std::array<std::byte, 7> bytes{};
            for (int i = 0; i < 20; ++i) {
                CORRO_REQUIRE(!(co_await over->write_all(bytes)).error);
                CORRO_REQUIRE(!(co_await over->read_exact(bytes)).error);
            }
        };
        std::vector<task<>> all;
        for (int i = 0; i < pairs; ++i) {
            all.push_back(echo(&servers[static_cast<std::size_t>(i)]));
            all.push_back(ask(&clients[static_cast<std::size_t>(i)]));
        }
        co_await when_all(std::move(all));
    };
    block_on(ctx, body(&ctx, &acceptor_, at_));
}

TEST_P(shm_streams, are_transports_and_know_the_user_at_the_other_end) {
    connect();
    const auto user = server_.get_option<peer_user>();
    ASSERT_TRUE(user) << user.error().message();
    EXPECT_EQ(*user, static_cast<int>(current_user()));
    EXPECT_FALSE(client_.set_option(no_delay(true))) << "accepted, and changes nothing";
    transport_stream held(std::move(client_));
    ASSERT_NE(held.socket(), nullptr) << "read and written without a layer";
    std::array<std::byte, 4> bytes{};
    EXPECT_EQ(held.socket()->try_write(bytes).bytes, 4U);
    held.close();
    EXPECT_EQ(block_on(ctx, io::read_exact(server_, std::span<std::byte>(bytes))).bytes, 4U);
}

TEST_P(shm_streams, leave_no_file_and_no_task_behind) {
    listen();
    const auto cycle = [](context* on, shm_acceptor* from, unix_endpoint to) -> task<> {
        auto [client, server] = co_await when_all(shm_stream::connect(*on, to), from->accept());
        CORRO_REQUIRE(client && server);
        std::array<std::byte, 4> bytes{};
        CORRO_REQUIRE(!(co_await client->write_all(bytes)).error);
        CORRO_REQUIRE(!(co_await server->read_exact(bytes)).error);
    };
    block_on(ctx, cycle(&ctx, &acceptor_, at_));
    block_on(ctx, sleep_for(1ms));
    const std::size_t before = open_files();
    for (int i = 0; i < 20; ++i) block_on(ctx, cycle(&ctx, &acceptor_, at_));
    for (int i = 0; i < 100 && open_files() != before; ++i) block_on(ctx, sleep_for(1ms));
    EXPECT_EQ(open_files(), before);
    acceptor_.close();
    ctx.run();  // returns: nothing of the streams is left
}

// --- The broadcast --------------------------------------------------------------------------------------------------

TEST_P(shm_streams, a_client_goes_on_in_the_broadcast_and_comes_back_at_its_end) {
    auto broadcast = shm_broadcast::make(8192, 1000);
    ASSERT_TRUE(broadcast);
    shm_options options;
    options.broadcast = &*broadcast;
    connect(options);
    const auto body = [](shm_stream* a, shm_stream* b, shm_broadcast* all) -> task<> {
        const auto reads = [](shm_stream* from) -> task<> {
            std::array<std::byte, 12> into{};
            const io_result read = co_await from->read_exact(into);
            EXPECT_EQ(read.bytes, into.size());
            for (std::size_t i = 0; i < into.size(); ++i) EXPECT_EQ(into[i], static_cast<std::byte>(i)) << i;
            const io_result end = co_await from->read_some(into);
            EXPECT_EQ(end.error, condition::end_of_stream);
        };
        const auto writes = [](shm_stream* to, shm_broadcast* everybody) -> task<> {
            std::array<std::byte, 12> sent{};
            for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i);
            const auto part = [&](std::size_t at) { return std::span<const std::byte>(sent).subspan(at, 3); };
            everybody->write(std::span<const std::byte>(sent));  // before the client follows: it does not read this
            CORRO_REQUIRE(!(co_await to->write_all(part(0))).error);
            to->follow(everybody->position());
            (void)co_await sleep_for(2ms);  // the client sleeps
            everybody->write(part(3));
            to->wake();
            (void)co_await sleep_for(2ms);
            everybody->write(part(6));
            everybody->end();
            to->wake();
            CORRO_REQUIRE(!(co_await to->write_all(part(9))).error);
            EXPECT_FALSE(to->shutdown_send());
        };
        co_await when_all(reads(a), writes(b, all));
    };
    block_on(ctx, body(&client_, &server_, &*broadcast));
}

TEST_P(shm_streams, a_client_that_is_overrun_by_the_broadcast_is_told) {
    auto broadcast = shm_broadcast::make(4096, 0);
    ASSERT_TRUE(broadcast);
    shm_options options;
    options.broadcast = &*broadcast;
    connect(options);
    server_.follow(0);
    std::vector<std::byte> much(4096);
    broadcast->write(much);
    std::array<std::byte, 96> some{};
    EXPECT_EQ(block_on(ctx, client_.read_exact(some)).bytes, some.size());
    broadcast->write(some);
    EXPECT_EQ(block_on(ctx, client_.read_exact(some)).bytes, some.size()) << "just in time";
    broadcast->write(much);
    EXPECT_EQ(block_on(ctx, client_.read_some(some)).error, std::errc::no_buffer_space);
}

TEST_P(shm_streams, nobody_else_can_write_the_broadcast) {
    auto broadcast = shm_broadcast::make(4096, 0);
    ASSERT_TRUE(broadcast);
    const int file = broadcast->file();
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
    EXPECT_LT(::pwrite(file, "x", 1, 0), 0);
    EXPECT_NE(::ftruncate(file, 0), 0);
    EXPECT_NE(::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
}

// --- A client that is no client -------------------------------------------------------------------------------------

/// What the other side of a connection is given, mapped by hand.
struct stolen_memory {
    explicit stolen_memory(int socket) {
        auto received = shm::receive_hello(socket);
        for (int i = 0; i < 1000 && !received; ++i) {
            ::usleep(1000);
            received = shm::receive_hello(socket);
        }
        EXPECT_TRUE(received);
        sizes = received->sizes;
        memory = std::move(*shm::map_memory(received->files[0], sizes.memory_bytes(), shm::sharing::both_write));
        file = std::move(received->files[0]);
    }
    [[nodiscard]] shm::ring_words& to_server() const { return words(shm::words_to_server_offset); }
    [[nodiscard]] shm::ring_words& to_client() const { return words(shm::words_to_client_offset); }

    shm::hello sizes;
    shm::mapping memory;
    shm::owned_file file;

 private:
    [[nodiscard]] shm::ring_words& words(std::size_t at) const {
        return *reinterpret_cast<shm::ring_words*>(memory.bytes().data() + at);
    }
};

TEST_P(shm_streams, a_client_that_claims_impossible_positions_gets_an_error_and_nothing_else_happens) {
    listen();
    const int file = connect_plainly();
    auto server = block_on(ctx, acceptor_.accept());
    ASSERT_TRUE(server);
    const stolen_memory stolen(file);
    stolen.to_server().written.store(std::uint64_t{1} << 40U);
    std::array<std::byte, 100> bytes{};
    EXPECT_EQ(block_on(ctx, server->read_some(bytes)).error, std::errc::protocol_error);
    EXPECT_EQ(block_on(ctx, server->read_some(bytes)).error, std::errc::protocol_error) << "for ever";
    stolen.to_client().read.store(std::uint64_t{1} << 40U);
    std::vector<std::byte> much(stolen.sizes.to_client_bytes + 1);
    const io_result sent = block_on(ctx, server->write_all(much));
    EXPECT_EQ(sent.bytes, 0U);
    EXPECT_EQ(sent.error, std::errc::protocol_error);
    ::close(file);
}

TEST_P(shm_streams, a_client_cannot_shrink_or_grow_the_memory) {
    listen();
    const int file = connect_plainly();
    auto server = block_on(ctx, acceptor_.accept());
    ASSERT_TRUE(server);
    const stolen_memory stolen(file);
    EXPECT_NE(::ftruncate(stolen.file.get(), 0), 0);
    EXPECT_NE(::ftruncate(stolen.file.get(), 1 << 28U), 0);
    EXPECT_NE(::fcntl(stolen.file.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
    // A hole is zeros: rubbish like any other.
    EXPECT_EQ(::fallocate(stolen.file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                          static_cast<off_t>(stolen.sizes.memory_bytes())),
              0);
    std::array<std::byte, 4> bytes{};
    EXPECT_EQ(block_on(ctx, server->write_all(bytes)).bytes, 4U);
    EXPECT_EQ(stolen.to_client().written.load(), 4U);
    ::close(file);
}

TEST_P(shm_streams, a_client_that_floods_the_bell_and_passes_files_costs_no_file) {
    listen();
    const int file = connect_plainly();
    auto server = block_on(ctx, acceptor_.accept());
    ASSERT_TRUE(server);
    const stolen_memory stolen(file);
    const std::size_t before = open_files();
    const std::array<int, 2> passed{stolen.file.get(), file};
    for (int i = 0; i < 20; ++i) static_cast<void>(shm::send_hello(file, stolen.sizes, passed));
    std::vector<std::byte> bells(100'000);
    static_cast<void>(::send(file, bells.data(), bells.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    std::array<std::byte, 4> bytes{};
    EXPECT_FALSE(block_on(ctx, with_timeout(20ms, server->read_some(bytes)))) << "a bell is not a byte";
    EXPECT_EQ(open_files(), before);
    shm::ring_writer honest(stolen.to_server(),
                            stolen.memory.bytes().subspan(shm::data_offset, stolen.sizes.to_server_bytes));
    EXPECT_EQ(honest.write(bytes), 4U);
    static_cast<void>(::send(file, bells.data(), 1, MSG_DONTWAIT | MSG_NOSIGNAL));
    EXPECT_EQ(block_on(ctx, server->read_exact(bytes)).bytes, 4U);
    ::close(file);
}

TEST_P(shm_streams, a_client_that_goes_without_a_word_is_noticed) {
    listen();
    const int file = connect_plainly();
    auto server = block_on(ctx, acceptor_.accept());
    ASSERT_TRUE(server);
    {
        const stolen_memory stolen(file);
        shm::ring_writer honest(stolen.to_server(),
                                stolen.memory.bytes().subspan(shm::data_offset, stolen.sizes.to_server_bytes));
        std::array<std::byte, 4> bytes{};
        EXPECT_EQ(honest.write(bytes), 4U);
    }
    ::close(file);
    std::array<std::byte, 8> bytes{};
    const io_result read = block_on(ctx, server->read_exact(bytes));
    EXPECT_EQ(read.bytes, 4U) << "what it wrote before";
    EXPECT_EQ(read.error, std::errc::connection_reset);
    EXPECT_EQ(block_on(ctx, server->write_some(bytes)).error, std::errc::broken_pipe);
}

TEST_P(shm_streams, a_client_that_never_takes_its_memory_keeps_nobody_waiting) {
    listen();
    const int silent = connect_plainly();
    const auto body = [](context* on, shm_acceptor* from, unix_endpoint to) -> task<> {
        auto first = co_await from->accept();
        auto [client, server] = co_await when_all(shm_stream::connect(*on, to), from->accept());
        CORRO_REQUIRE(first && client && server);
        std::array<std::byte, 4> bytes{};
        CORRO_REQUIRE(!(co_await client->write_all(bytes)).error);
        CORRO_REQUIRE(!(co_await server->read_exact(bytes)).error);
    };
    block_on(ctx, body(&ctx, &acceptor_, at_));
    ::close(silent);
}

// --- A server that is no server -------------------------------------------------------------------------------------

class shm_liars : public shm_streams {
 protected:
    /// What a client says to a server that sends this. The files stay the caller's.
    std::error_code connect_to_liar(std::span<const std::byte> bytes, std::span<const int> files) {
        at_ = unique_name(ctx);
        auto listening = unix_acceptor::open(ctx, at_);
        EXPECT_TRUE(listening);
        const auto body = [](context* on, unix_acceptor* from, unix_endpoint to, std::span<const std::byte> content,
                             std::span<const int> passed, std::error_code* result) -> task<> {
            const auto lie = [](unix_acceptor* by, std::span<const std::byte> what,
                                std::span<const int> with) -> task<> {
                auto stream = co_await by->accept();
                CORRO_REQUIRE(stream);
                const int file = stream->detach();
                iovec part{const_cast<std::byte*>(what.data()), what.size()};
                std::vector<std::byte> control(CMSG_SPACE(with.size_bytes()));
                msghdr message{};
                message.msg_iov = &part;
                message.msg_iovlen = 1;
                if (!with.empty()) {
                    message.msg_control = control.data();
                    message.msg_controllen = control.size();
                    cmsghdr* const header = CMSG_FIRSTHDR(&message);
                    header->cmsg_level = SOL_SOCKET;
                    header->cmsg_type = SCM_RIGHTS;
                    header->cmsg_len = CMSG_LEN(with.size_bytes());
                    std::memcpy(CMSG_DATA(header), with.data(), with.size_bytes());
                }
                if (!what.empty()) {
                    EXPECT_EQ(::sendmsg(file, &message, 0), static_cast<ssize_t>(what.size()));
                }
                ::close(file);
            };
            const std::size_t before = open_files();
            {
                auto [client, nothing] = co_await when_all(shm_stream::connect(*on, to), lie(from, content, passed));
                if (!client) *result = client.error();
            }
            (void)co_await sleep_for(1ms);
            EXPECT_EQ(open_files(), before) << "no file of the liar stays open";
        };
        std::error_code result;
        block_on(ctx, body(&ctx, &*listening, at_, bytes, files, &result));
        return result;
    }
    static int memory(std::size_t size, int seals, bool is_sealable = true) {
        const int file = ::memfd_create("liar", MFD_CLOEXEC | (is_sealable ? MFD_ALLOW_SEALING : 0U));
        EXPECT_EQ(::ftruncate(file, static_cast<off_t>(size)), 0);
        if (seals != 0) {
            EXPECT_EQ(::fcntl(file, F_ADD_SEALS, seals), 0);
        }
        return file;
    }
    static constexpr int all_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;
};

TEST_P(shm_liars, are_refused) {
    shm::hello sizes;
    sizes.to_server_bytes = sizes.to_client_bytes = 4096;
    const auto good = shm::encode(sizes);
    const std::size_t right_size = sizes.memory_bytes();

    struct lie {
        const char* what;
        std::vector<std::byte> bytes;
        std::vector<int> files;
        std::error_code expected;
    };
    const std::error_code refused = std::make_error_code(std::errc::protocol_error);
    const std::vector<std::byte> whole(good.begin(), good.end());
    std::vector<std::byte> other_version = whole;
    other_version[8] = std::byte{9};
    shm::hello with_broadcast = sizes;
    with_broadcast.broadcast_bytes = 4096;
    const auto promised = shm::encode(with_broadcast);
    const int good_file = memory(right_size, all_seals);
    const int null_device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    std::vector<lie> lies{
        {"nothing", {}, {}, make_error_code(errc::end_of_stream)},
        {"half a hello", {good.begin(), good.begin() + 20}, {good_file}, refused},
        {"another version", other_version, {good_file}, refused},
        {"rubbish", std::vector<std::byte>(shm::hello_bytes, std::byte{0x41}), {good_file}, refused},
        {"no file", whole, {}, refused},
        {"two files", whole, {good_file, good_file}, refused},
        {"twenty files", whole, std::vector<int>(20, good_file), refused},
        {"one file of two", {promised.begin(), promised.end()}, {good_file}, refused},
        {"a device", whole, {null_device}, refused},
        {"memory without seals", whole, {memory(right_size, 0)}, refused},
        {"memory that cannot be sealed", whole, {memory(right_size, 0, false)}, refused},
        {"memory that may shrink", whole, {memory(right_size, F_SEAL_GROW | F_SEAL_SEAL)}, refused},
        {"seals that are not sealed", whole, {memory(right_size, F_SEAL_GROW | F_SEAL_SHRINK)}, refused},
        {"memory that is too small", whole, {memory(right_size - 4096, all_seals)}, refused},
        {"memory that is too large", whole, {memory(right_size + 4096, all_seals)}, refused},
        {"memory of no bytes", whole, {memory(0, all_seals)}, refused},
        {"the truth", whole, {good_file}, {}},
    };
    for (const lie& each : lies) {
        EXPECT_EQ(connect_to_liar(each.bytes, each.files), each.expected) << each.what;
    }
    std::vector<int> used{null_device};
    for (const lie& each : lies) used.insert(used.end(), each.files.begin(), each.files.end());
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const int file : used) ::close(file);
}

CORRO_ON_EVERY_BACKEND(shm_streams);
CORRO_ON_EVERY_BACKEND(shm_liars);

}  // namespace
}  // namespace corro::io
