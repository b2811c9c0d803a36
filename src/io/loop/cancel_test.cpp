// SPDX-License-Identifier: Apache-2.0
// Stops a task at every suspension point: before it waits, while it waits, after the event but before it runs, and
// afterwards; once and twice. A stopped wait takes nothing: the next wait gets the event.
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/wall_timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/resolver.hpp"
#include "io/net/udp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/process/signals.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/sync/remote_event.hpp"
#include "io/sync/semaphore.hpp"
#include "io/task/retry.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/tcp_pair_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

/// One kind of wait of a task.
struct suspension_point {
    suspension_point(std::string called, std::function<task<std::error_code>()> waits) noexcept
        : name(std::move(called)), wait(std::move(waits)) {}

    std::string name;
    std::function<task<std::error_code>()> wait;
    std::function<task<>()> complete;  // lets one wait succeed; empty if only time does
    std::function<task<>()> prepare;   // makes the next wait block
    bool may_end_by_itself = false;    // the wait may end before the stop
};

task<> call(std::function<void()> what) {
    what();
    co_return;
}
std::function<task<>()> at_once(std::function<void()> what) {
    return [what] { return call(what); };
}

task<> record(suspension_point* at, std::error_code* end, bool* ended) {
    *end = co_await at->wait();
    *ended = true;
}

task<> stop_in_every_phase(context* on, suspension_point* at) {
    enum class phase { before, during, completed, afterwards };
    for (const phase now : {phase::before, phase::during, phase::completed, phase::afterwards, phase::during}) {
        if (!at->complete && (now == phase::completed || now == phase::afterwards)) continue;
        const std::string where = at->name + ", phase " + std::to_string(static_cast<int>(now));
        if (at->prepare) co_await at->prepare();
        std::error_code end;
        bool ended = false;
        task_scope children(*on);
        if (now == phase::before) children.request_stop();
        children.spawn(record(at, &end, &ended));
        co_await yield();
        co_await yield();
        if (now == phase::during && !at->may_end_by_itself) {
            EXPECT_FALSE(ended) << where;
        }
        if (now == phase::completed || now == phase::afterwards) co_await at->complete();
        if (now == phase::afterwards) {
            while (!ended) co_await sleep_for(100us);
        }
        children.request_stop();
        children.request_stop();
        co_await children.join();
        children.request_stop();
        EXPECT_TRUE(ended) << where;
        if (now == phase::before || now == phase::during) {
            if (!at->may_end_by_itself || end) {
                EXPECT_EQ(end, condition::canceled) << where << ": " << end.message();
            }
        } else if (now == phase::afterwards) {
            EXPECT_FALSE(end) << where << ": " << end.message();
        } else if (end) {
            EXPECT_EQ(end, condition::canceled) << where << ": " << end.message();
            // This wait gets the event that came for the stopped one.
            const auto next = co_await with_timeout(test_patience, at->wait());
            EXPECT_TRUE(next.has_value() && !*next) << where;
        }
    }
}

class cancellation : public on_backend {
 protected:
    void stop_at(suspension_point at) { block_on(ctx, stop_in_every_phase(&ctx, &at)); }

    /// Tests an object with a wait and a call that ends it, such as an event or a semaphore.
    template <class Waited, class Wait, class End>
    void stop_at(std::string name, std::shared_ptr<Waited> waited, Wait wait, End end) {
        suspension_point at(std::move(name), [waited, wait] { return wait(waited.get()); });
        at.complete = at_once([waited, end] { end(waited.get()); });
        stop_at(std::move(at));
    }
};

template <class Event>
task<std::error_code> wait_and_reset(Event* on) {
    const std::error_code error = co_await on->wait();
    if (!error) on->reset();
    co_return error;
}
template <class Waited>
task<std::error_code> wait_plainly(Waited* on) {
    co_return co_await on->wait();
}
template <class Mutex>
task<std::error_code> take_lock(Mutex* on) {
    co_return co_await on->lock();
}
template <class Mutex>
task<std::error_code> take_guard(Mutex* on) {
    auto guard = co_await on->scoped_lock();
    if (!guard) co_return guard.error();
    // Leaves it locked, for the next round.
    guard->unlock();
    co_return on->try_lock() ? std::error_code() : std::make_error_code(std::errc::device_or_resource_busy);
}
template <class Semaphore>
task<std::error_code> acquire(Semaphore* on) {
    co_return co_await on->acquire();
}
template <class Channel>
task<std::error_code> send_one(Channel* on) {
    co_return co_await on->send(1);
}
template <class Channel>
task<std::error_code> receive_one(Channel* on) {
    const auto got = co_await on->receive();
    co_return got ? std::error_code() : got.error();
}

TEST_P(cancellation, of_events) {
    const auto set = [](auto* event) { event->set(); };
    stop_at("manual event", std::make_shared<manual_event>(), wait_and_reset<manual_event>, set);
    stop_at("auto event", std::make_shared<auto_event>(), wait_and_reset<auto_event>, set);
    stop_at("shared manual event", std::make_shared<shared_manual_event>(), wait_and_reset<shared_manual_event>, set);
    stop_at("shared auto event", std::make_shared<shared_auto_event>(), wait_and_reset<shared_auto_event>, set);
    stop_at("remote event", std::make_shared<remote_event>(ctx), wait_plainly<remote_event>, set);
}

TEST_P(cancellation, of_locks) {
    const auto unlock = [](auto* locked) { locked->unlock(); };
    const auto locked = [](auto made) {
        EXPECT_TRUE(made->try_lock());
        return made;
    };
    stop_at("mutex", locked(std::make_shared<mutex>()), take_lock<mutex>, unlock);
    stop_at("mutex with guard", locked(std::make_shared<mutex>()), take_guard<mutex>, unlock);
    stop_at("shared mutex", locked(std::make_shared<shared_mutex>()), take_lock<shared_mutex>, unlock);
    stop_at("shared mutex with guard", locked(std::make_shared<shared_mutex>()), take_guard<shared_mutex>, unlock);
}

TEST_P(cancellation, of_semaphores_and_latches) {
    const auto release = [](auto* units) { units->release(); };
    stop_at("semaphore", std::make_shared<semaphore>(0), acquire<semaphore>, release);
    stop_at("shared semaphore", std::make_shared<shared_semaphore>(0), acquire<shared_semaphore>, release);
    const auto at_latch = [this]<class Latch>(std::string name, std::shared_ptr<Latch>) {
        // A latch opens once; a new one for every round.
        auto current = std::make_shared<std::unique_ptr<Latch>>();
        suspension_point at(std::move(name), [current] { return wait_plainly(current->get()); });
        at.prepare = at_once([current] { *current = std::make_unique<Latch>(1); });
        at.complete = at_once([current] { (*current)->count_down(); });
        stop_at(std::move(at));
    };
    at_latch("latch", std::shared_ptr<latch>());
    at_latch("shared latch", std::shared_ptr<shared_latch>());
}

TEST_P(cancellation, of_channels) {
    const auto put = [](auto* on) {
        int value = 7;
        EXPECT_TRUE(on->try_send(value));
    };
    const auto take = [](auto* on) { EXPECT_TRUE(on->try_receive().has_value()); };
    const auto filled = [](auto made) {
        int value = 1;
        EXPECT_TRUE(made->try_send(value));
        return made;
    };
    using plain = channel<int>;
    using shared = shared_channel<int>;
    stop_at("receive", std::make_shared<plain>(1), receive_one<plain>, put);
    stop_at("send", filled(std::make_shared<plain>(1)), send_one<plain>, take);
    stop_at("shared receive", std::make_shared<shared>(1), receive_one<shared>, put);
    stop_at("shared send", filled(std::make_shared<shared>(1)), send_one<shared>, take);
}

task<std::error_code> sleep_an_hour() {
    co_return co_await sleep_for(1h);
}
task<std::error_code> sleep_till_the_clock_says() {
    co_return co_await sleep_until(std::chrono::system_clock::now() + 1h);
}
task<std::error_code> wait_and_arm(steady_timer* on) {
    const std::error_code error = co_await on->wait();
    if (!error) on->expires_after(1h);
    co_return error;
}

TEST_P(cancellation, of_timers) {
    stop_at(suspension_point("sleep", sleep_an_hour));
    stop_at(suspension_point("wall clock", sleep_till_the_clock_says));
    auto timer = std::make_shared<steady_timer>(ctx);
    timer->expires_after(1h);
    stop_at("timer", timer, wait_and_arm, [](steady_timer* on) { on->expires_at(steady_time()); });
}

task<std::error_code> join_a_sleeper() {
    task_scope children(co_await this_context());
    const auto sleeper = []() -> task<> { co_await sleep_for(1h); };
    children.spawn(sleeper());
    co_await children.join();
    const stop_token token = co_await this_stop_token();
    co_return token.stop_requested() ? operation_canceled() : std::error_code();
}
task<std::error_code> all_of_two() {
    const auto [a, b] = co_await when_all(sleep_an_hour(), sleep_an_hour());
    EXPECT_EQ(a, b);
    co_return a;
}
task<std::error_code> any_of_two() {
    auto result = co_await when_any(sleep_an_hour(), sleep_an_hour());
    co_return *std::get<0>(result.values);
}
task<std::error_code> within_two_hours() {
    const auto result = co_await with_timeout(2h, sleep_an_hour());
    co_return result ? *result : result.error();
}
task<std::error_code> try_again_in_an_hour() {
    retry_options options;
    options.first_pause = 1h;
    options.longest_pause = 1h;
    const auto fails = []() -> task<std::expected<int, std::error_code>> {
        co_return std::unexpected(std::make_error_code(std::errc::connection_refused));
    };
    const auto result = co_await retry(options, fails);
    co_return result.error();
}
task<std::error_code> body_of_a_scope() {
    const auto body = [](task_scope&) -> task<std::error_code> { co_return co_await sleep_for(1h); };
    co_return co_await with_scope(body);
}

TEST_P(cancellation, of_what_waits_for_other_tasks) {
    stop_at(suspension_point("join", join_a_sleeper));
    stop_at(suspension_point("when_all", all_of_two));
    stop_at(suspension_point("when_any", any_of_two));
    stop_at(suspension_point("with_timeout", within_two_hours));
    stop_at(suspension_point("retry", try_again_in_an_hour));
    stop_at(suspension_point("with_scope", body_of_a_scope));
}

task<std::error_code> read_four(tcp_stream* from, bool exactly) {
    std::array<std::byte, 4> buffer{};
    io_result got;
    if (exactly) {
        got = co_await from->read_exact(buffer);
    } else {
        got = co_await from->read_some(buffer);
    }
    co_return got.error;
}
template <class Stream>
task<> write_four(Stream* to) {
    const std::array<std::byte, 4> block{};
    const io_result sent = co_await to->write_all(block);
    EXPECT_TRUE(sent.ok());
}
template <class Stream>
task<std::error_code> write_one(Stream* to) {
    const std::array<std::byte, 1> block{};
    const io_result sent = co_await to->write_all(block);
    co_return sent.error;
}
/// Writes until the buffer is full.
template <class Stream>
task<> fill(Stream* to) {
    const std::vector<std::byte> block(std::size_t{1} << 20U);
    for (std::size_t size = block.size(); size != 0;) {
        const auto sent = co_await with_timeout(2ms, to->write_some(std::span(block).first(size)));
        if (!sent) size /= 64;
    }
}
template <class Stream>
task<> drain(Stream* from) {
    std::vector<std::byte> room(std::size_t{1} << 20U);
    for (;;) {
        const auto got = co_await with_timeout(5ms, from->read_some(room));
        if (!got) co_return;
    }
}

TEST_P(cancellation, of_streams) {
    auto pair = std::make_shared<tcp_pair>(block_on(ctx, make_tcp_pair(&ctx)));
    for (const bool exactly : {false, true}) {
        suspension_point at(exactly ? "read_exact" : "read_some",
                            [pair, exactly] { return read_four(&pair->server, exactly); });
        at.complete = [pair] { return write_four(&pair->client); };
        stop_at(std::move(at));
    }
    suspension_point writing("write_all", [pair] { return write_one(&pair->client); });
    writing.prepare = [pair] { return fill(&pair->client); };
    writing.complete = [pair] { return drain(&pair->server); };
    stop_at(std::move(writing));

    auto opened = unix_stream::pair(ctx);
    ASSERT_TRUE(opened);
    auto local = std::make_shared<std::pair<unix_stream, unix_stream>>(std::move(*opened));
    suspension_point sending("write_all on a Unix socket", [local] { return write_one(&local->first); });
    sending.prepare = [local] { return fill(&local->first); };
    sending.complete = [local] { return drain(&local->second); };
    stop_at(std::move(sending));
}

task<std::error_code> accept_one(tcp_acceptor* from) {
    const auto accepted = co_await from->accept();
    co_return accepted ? std::error_code() : accepted.error();
}
task<> connect_one(context* on, tcp_acceptor* to) {
    const auto connected = co_await tcp_stream::connect(*on, *to->local_endpoint());
    EXPECT_TRUE(connected);
}
task<std::error_code> connect_to(context* on, endpoint to) {
    const auto connected = co_await tcp_stream::connect(*on, to);
    co_return connected ? std::error_code() : connected.error();
}

TEST_P(cancellation, of_accepting_and_connecting) {
    auto opened = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(opened);
    auto acceptor = std::make_shared<tcp_acceptor>(std::move(*opened));
    suspension_point accepting("accept", [acceptor] { return accept_one(acceptor.get()); });
    accepting.complete = [acceptor, on = &ctx] { return connect_one(on, acceptor.get()); };
    stop_at(std::move(accepting));

    // A listener whose queue is full drops further handshakes.
    listen_options options;
    options.backlog = 0;
    const auto full = tcp_acceptor::open(ctx, endpoint::loopback(0), options);
    ASSERT_TRUE(full);
    std::vector<tcp_stream> waiting;
    for (bool answered = true; answered && waiting.size() < 10;) {
        auto made = block_on(ctx, with_timeout(50ms, tcp_stream::connect(ctx, *full->local_endpoint())));
        answered = made.has_value() && made->has_value();
        if (answered) waiting.push_back(std::move(**made));
    }
    stop_at(suspension_point("connect", [on = &ctx, to = *full->local_endpoint()] { return connect_to(on, to); }));
}

task<std::error_code> receive_datagram(udp_socket* on) {
    std::array<std::byte, 8> room{};
    const auto got = co_await on->receive_from(room);
    co_return got ? std::error_code() : got.error();
}
task<std::error_code> receive_datagrams(udp_socket* on) {
    std::array<std::byte, 8> room{};
    std::array<datagram, 1> batch{datagram(std::span(room))};
    const auto got = co_await on->receive_batch(batch);
    co_return got ? std::error_code() : got.error();
}
task<> send_datagram(udp_socket* on) {
    const std::array<std::byte, 4> block{};
    const std::error_code error = co_await on->send_to(block, *on->local_endpoint());
    EXPECT_FALSE(error);
}
task<std::error_code> send_local(unix_datagram* on) {
    const std::array<std::byte, 4> block{};
    co_return co_await on->send(block);
}
task<> send_until_full(unix_datagram* on) {
    for (;;) {
        const auto sent = co_await with_timeout(2ms, send_local(on));
        if (!sent || *sent) co_return;
    }
}
task<> receive_until_empty(unix_datagram* on) {
    std::array<std::byte, 8> room{};
    for (;;) {
        const auto got = co_await with_timeout(2ms, on->receive_from(room));
        if (!got || !*got) co_return;
    }
}

TEST_P(cancellation, of_datagrams) {
    auto opened = udp_socket::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(opened);
    auto socket = std::make_shared<udp_socket>(std::move(*opened));
    for (auto* receive : {&receive_datagram, &receive_datagrams}) {
        suspension_point at("receive", [socket, receive] { return receive(socket.get()); });
        at.complete = [socket] { return send_datagram(socket.get()); };
        stop_at(std::move(at));
    }
    auto paired = unix_datagram::pair(ctx);
    ASSERT_TRUE(paired);
    auto both = std::make_shared<std::pair<unix_datagram, unix_datagram>>(std::move(*paired));
    suspension_point at("send", [both] { return send_local(&both->first); });
    at.prepare = [both] { return send_until_full(&both->first); };
    at.complete = [both] { return receive_until_empty(&both->second); };
    stop_at(std::move(at));
}

task<std::error_code> next_signal(signal_set* from) {
    const auto number = co_await from->wait();
    co_return number ? std::error_code() : number.error();
}
task<std::error_code> look_up() {
    const auto found = co_await resolve("localhost", 80);
    co_return found ? std::error_code() : found.error();
}

TEST_P(cancellation, of_signals_and_lookups) {
    auto opened = signal_set::open(ctx, {SIGUSR1});
    ASSERT_TRUE(opened);
    auto set = std::make_shared<signal_set>(std::move(*opened));
    suspension_point at("signal", [set] { return next_signal(set.get()); });
    at.complete = at_once([] { std::raise(SIGUSR1); });
    stop_at(std::move(at));
    suspension_point looking("resolve", look_up);
    looking.may_end_by_itself = true;
    stop_at(std::move(looking));
}

CORRO_ON_EVERY_BACKEND(cancellation);

}  // namespace
}  // namespace corro::io
