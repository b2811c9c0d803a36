// SPDX-License-Identifier: Apache-2.0
// Runs random trees of tasks, made from a seed: scopes, combinators, limits, locks, channels, events, sleeps,
// streams in pieces, stops and exceptions. Every tree ends after a stop, leaves no task, and loses no byte and no
// value. Some trees are destroyed with the context instead.
//
// CORRO_TREES sets the number of seeds (default 200), CORRO_SEED the first one. tools/trees runs the long form.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/stream.hpp"
#include "io/net/unix_socket.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/sync/semaphore.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/tcp_pair_fixture.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tls_fixture.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

constexpr unsigned depth_max = 5;
constexpr std::size_t units_count = 3;

/// The exception that tasks of a tree throw on purpose.
struct thrown_on_purpose {};

/// The byte that belongs at a position of a stream.
std::byte byte_at(std::uint64_t position) {
    return static_cast<std::byte>((position * 131 + position / 251) & 0xffU);
}

/// One direction of a connection: its writer and its reader, and their positions.
struct wire {
    any_stream writer;
    any_stream reader;
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    bool writing = false;
    bool reading = false;
    bool closed = false;  // by a task: bytes in flight are lost
};

/// The state that the tasks of one tree share.
struct world {
    explicit world(context& on) : where(&on) {}
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    context* where;
    int alive_count = 0;
    int inside_count = 0;  // tasks that hold the lock
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    mutex lock;
    semaphore units{units_count};
    channel<std::uint64_t> queue{4};
    manual_event event;
    steady_timer timer{*where};
    std::array<wire, 3> wires;
};

/// Counts the frames that are alive.
class alive {
 public:
    explicit alive(world* in) noexcept : in_(in) { ++in_->alive_count; }
    alive(const alive&) = delete;
    alive& operator=(const alive&) = delete;
    ~alive() { --in_->alive_count; }

 private:
    world* in_;
};

std::chrono::nanoseconds some_time(base::prng& dice) {
    // Returns zero, a few turns of the loop, or longer than most competing waits.
    return dice.chance(1, 4) ? 0ns : std::chrono::nanoseconds(dice.below(dice.chance(1, 2) ? 20'000 : 600'000));
}

task<> sleep_a_while(base::prng dice) {
    co_await sleep_for(some_time(dice));
}
task<> take_turns(world* in, base::prng dice) {
    const std::error_code stopped = co_await in->lock.lock();
    if (stopped) co_return;
    EXPECT_EQ(++in->inside_count, 1);
    co_await sleep_for(some_time(dice));
    --in->inside_count;
    in->lock.unlock();
}
task<> use_a_unit(world* in, base::prng dice) {
    const std::error_code stopped = co_await in->units.acquire();
    if (stopped) co_return;
    co_await sleep_for(some_time(dice));
    in->units.release();
}
task<> pass_a_value(world* in, base::prng dice) {
    if (dice.chance(1, 2)) {
        const std::error_code failed = co_await in->queue.send(1);
        if (!failed) ++in->sent;
    } else {
        const auto got = co_await in->queue.receive();
        if (got) ++in->received;
    }
}
task<> use_the_event(world* in, base::prng dice) {
    switch (dice.below(3)) {
        case 0: in->event.set(); break;
        case 1: in->event.reset(); break;
        default: co_await in->event.wait();
    }
}
task<> use_the_timer(world* in, base::prng dice) {
    switch (dice.below(4)) {
        case 0: in->timer.expires_after(some_time(dice)); break;
        case 1: in->timer.cancel(); break;
        default: co_await in->timer.wait();
    }
}

task<> write_a_piece(wire* on, base::prng dice) {
    if (on->writing) co_return;
    on->writing = true;
    std::vector<std::byte> piece(1 + dice.below(dice.chance(1, 8) ? 300'000 : 3000));
    for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = byte_at(on->written + i);
    io_result sent;
    if (dice.chance(1, 2)) {
        sent = co_await on->writer.write_all(piece);
    } else {
        sent = co_await on->writer.write_some(piece);
    }
    on->written += sent.bytes;
    on->writing = false;
}
task<> read_a_piece(wire* on, base::prng dice) {
    if (on->reading) co_return;
    on->reading = true;
    std::vector<std::byte> room(1 + dice.below(dice.chance(1, 8) ? 300'000 : 3000));
    io_result got;
    if (dice.chance(1, 2)) {
        got = co_await on->reader.read_exact(room);
    } else {
        got = co_await on->reader.read_some(room);
    }
    for (std::size_t i = 0; i < got.bytes; ++i) {
        if (room[i] != byte_at(on->read + i)) {
            ADD_FAILURE() << "wrong byte at " << on->read + i;
            break;
        }
    }
    on->read += got.bytes;
    on->reading = false;
}
void close_one(wire* on, base::prng& dice) {
    on->closed = true;
    if (dice.chance(1, 2)) {
        (dice.chance(1, 2) ? on->reader : on->writer).close();
    } else {
        (dice.chance(1, 2) ? on->reader : on->writer) = any_stream();
    }
}

task<> leaf(world* in, base::prng dice) {
    wire* const on = &in->wires[dice.below(in->wires.size())];
    const std::uint64_t kind = dice.below(26);
    base::prng own = dice.fork();
    if (kind < 3) co_return co_await sleep_a_while(own);
    if (kind < 5) co_return co_await take_turns(in, own);
    if (kind < 7) co_return co_await use_a_unit(in, own);
    if (kind < 10) co_return co_await pass_a_value(in, own);
    if (kind < 12) co_return co_await use_the_event(in, own);
    if (kind < 14) co_return co_await use_the_timer(in, own);
    if (kind < 19) co_return co_await write_a_piece(on, own);
    if (kind < 24) co_return co_await read_a_piece(on, own);
    if (kind < 25 && own.chance(1, 8)) co_return close_one(on, own);
    if (own.chance(1, 6)) throw thrown_on_purpose();
    co_await yield();
}

task<> branch(world* in, base::prng dice, unsigned depth);

std::vector<task<>> some_branches(world* in, base::prng& dice, unsigned depth) {
    std::vector<task<>> made;
    for (std::uint64_t i = 0, count = 1 + dice.below(4); i < count; ++i) {
        made.push_back(branch(in, dice.fork(), depth));
    }
    return made;
}

task<> spawn_some(task_scope* into, world* in, base::prng dice, unsigned depth) {
    for (task<>& child : some_branches(in, dice, depth)) into->spawn(std::move(child));
    co_await branch(in, dice.fork(), depth);
    if (dice.chance(1, 4)) into->request_stop();
}
/// Spawns into a scope and joins it by hand.
task<> own_scope(world* in, base::prng dice, unsigned depth) {
    task_scope children(*in->where);
    for (task<>& child : some_branches(in, dice, depth)) children.spawn(std::move(child));
    if (dice.chance(1, 2)) co_await yield();
    if (dice.chance(1, 3)) children.request_stop();
    co_await children.join();
}
task<> catch_all(world* in, base::prng dice, unsigned depth) {
    try {
        co_await branch(in, dice, depth);
    } catch (const thrown_on_purpose&) {
        co_return;
    }
}

task<> branch(world* in, base::prng dice, unsigned depth) {
    const alive counted(in);
    base::prng own = dice.fork();
    if (depth == 0 || dice.chance(1, 4)) co_return co_await leaf(in, own);
    --depth;
    switch (dice.below(9)) {
        case 0: {
            for (task<>& child : some_branches(in, own, depth)) co_await std::move(child);
            break;
        }
        case 1: co_await when_all(some_branches(in, own, depth)); break;
        case 2: co_await when_all(branch(in, own.fork(), depth), branch(in, own.fork(), depth)); break;
        case 3: co_await when_any(some_branches(in, own, depth)); break;
        case 4: co_await when_any(branch(in, own.fork(), depth), sleep_for(some_time(own))); break;
        case 5: co_await with_timeout(some_time(own), branch(in, own.fork(), depth)); break;
        case 6:
            co_await with_scope([in, own, depth](task_scope& into) { return spawn_some(&into, in, own, depth); });
            break;
        case 7: co_await own_scope(in, own, depth); break;
        default: co_await catch_all(in, own, depth); break;
    }
}

/// Small buffers, so that writers wait.
template <class Stream>
Stream narrow(Stream on) {
    EXPECT_FALSE(on.set_option(send_buffer(8192)));
    EXPECT_FALSE(on.set_option(receive_buffer(8192)));
    return on;
}
void narrow_beneath(secure_stream& on) {
    EXPECT_FALSE(on.next().set_option(send_buffer(8192)));
    EXPECT_FALSE(on.next().set_option(receive_buffer(8192)));
}
task<> connect_wires(world* in) {
    tcp_pair tcp = co_await make_tcp_pair(in->where);
    auto local = unix_stream::pair(*in->where);
    CORRO_REQUIRE(local);
    in->wires[0].writer = any_stream(narrow(std::move(tcp.client)));
    in->wires[0].reader = any_stream(narrow(std::move(tcp.server)));
    in->wires[1].writer = any_stream(narrow(std::move(local->first)));
    in->wires[1].reader = any_stream(narrow(std::move(local->second)));
    static const tls_context connecting = client_context();
    static const tls_context accepting = server_context();
    tls_pair secure = co_await shake_hands(in->where, connecting, accepting, "localhost");
    CORRO_REQUIRE(secure.ok());
    narrow_beneath(*secure.client);
    narrow_beneath(*secure.server);
    in->wires[2].writer = any_stream(std::move(*secure.client));
    in->wires[2].reader = any_stream(std::move(*secure.server));
}

/// Reads what was written and is not read yet.
task<> read_the_rest(wire* on) {
    std::vector<std::byte> room(static_cast<std::size_t>(on->written - on->read));
    // Bytes that a stopped encrypted write has taken leave with the next write.
    const auto [end, got] =
        co_await when_all(on->writer.shutdown(), with_timeout(test_patience, on->reader.read_exact(room)));
    EXPECT_FALSE(end) << end.message();
    CORRO_REQUIRE(got);
    EXPECT_TRUE(got->ok()) << got->error.message();
    EXPECT_EQ(got->bytes, room.size());
    for (std::size_t i = 0; i < got->bytes; ++i) CORRO_REQUIRE(room[i] == byte_at(on->read + i));
}

task<> expect_a_clean_world(world* in) {
    EXPECT_EQ(in->alive_count, 0);
    EXPECT_EQ(in->inside_count, 0);
    EXPECT_TRUE(in->lock.try_lock());
    EXPECT_EQ(in->units.available(), units_count);
    EXPECT_EQ(in->sent, in->received + in->queue.size());
    for (wire& each : in->wires) {
        EXPECT_FALSE(each.reading);
        EXPECT_FALSE(each.writing);
        if (!each.closed && each.reader.is_open()) co_await read_the_rest(&each);
    }
}

task<> grow_and_look(context* on, std::uint64_t seed) {
    base::prng dice(seed);
    world in(*on);
    co_await connect_wires(&in);
    const std::chrono::nanoseconds limit(dice.below(3'000'000));
    try {
        co_await with_timeout(limit, branch(&in, dice.fork(), depth_max));
    } catch (const thrown_on_purpose&) {
        in.event.set();
    }
    co_await expect_a_clean_world(&in);
}

/// The same as a root task; the context is destroyed while it runs.
task<> grow_alone(context* on, std::uint64_t seed) {
    base::prng dice(seed);
    const auto in = std::make_unique<world>(*on);
    co_await connect_wires(in.get());
    try {
        co_await with_timeout(1h, branch(in.get(), dice.fork(), depth_max));
    } catch (const thrown_on_purpose&) {
        co_return;
    }
}

/// Prints the seed of a tree that does not end, and ends the program.
class watchdog {
 public:
    watchdog() : thread_([this](const std::stop_token& ended) { watch(ended); }) {}
    void begin(std::uint64_t seed) noexcept {
        seed_.store(seed);
        begun_count_.fetch_add(1);
    }

 private:
    void watch(const std::stop_token& ended) const {
        std::uint64_t seen = 0;
        auto since = std::chrono::steady_clock::now();
        while (!ended.stop_requested()) {
            std::this_thread::sleep_for(20ms);
            const std::uint64_t begun = begun_count_.load();
            const auto now = std::chrono::steady_clock::now();
            if (begun != seen) since = now;
            seen = begun;
            if (now - since < 2 * test_patience) continue;
            std::fprintf(stderr, "the tree of CORRO_SEED=%llu does not end\n",
                         static_cast<unsigned long long>(seed_.load()));
            std::abort();
        }
    }

    std::atomic<std::uint64_t> seed_{0};
    std::atomic<std::uint64_t> begun_count_{0};
    std::jthread thread_;
};

std::uint64_t trees_count() {
    constexpr std::uint64_t count_default = 200;
    const char* const given = std::getenv("CORRO_TREES");
    return given != nullptr ? std::strtoull(given, nullptr, 0) : count_default;
}

class random_trees : public on_backend {};

TEST_P(random_trees, end_when_they_are_stopped_and_lose_nothing) {
    const std::uint64_t first = base::test_seed();
    watchdog dog;
    for (std::uint64_t seed = first; seed != first + trees_count(); ++seed) {
        SCOPED_TRACE("CORRO_SEED=" + std::to_string(seed) + " CORRO_TREES=1");
        dog.begin(seed);
        block_on(ctx, grow_and_look(&ctx, seed));
        if (HasFailure()) break;
    }
}

TEST_P(random_trees, are_torn_down_with_their_context) {
    const std::uint64_t first = base::test_seed();
    watchdog dog;
    for (std::uint64_t seed = first; seed != first + trees_count(); ++seed) {
        SCOPED_TRACE("CORRO_SEED=" + std::to_string(seed) + " CORRO_TREES=1");
        dog.begin(seed);
        base::prng dice(seed);
        context gone{context_options(*GetParam())};
        for (std::uint64_t i = 0, count = 1 + dice.below(3); i < count; ++i) spawn(gone, grow_alone(&gone, dice()));
        block_on(gone, sleep_for(std::chrono::nanoseconds(dice.below(1'500'000))));
        if (HasFailure()) break;
    }
}

CORRO_ON_EVERY_BACKEND(random_trees);

}  // namespace
}  // namespace corro::io
