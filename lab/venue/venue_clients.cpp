#include "lab/venue/venue_clients.hpp"

#include <time.h>

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "client/order_session.hpp"
#include "io/loop/machine.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/venue/system_calls.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::lab {
namespace {

namespace soup = wire::soup_bin_tcp;

constexpr std::size_t feed_bytes_max = std::size_t{256} * 1024;
/// How much of the measured time is spent on counting system calls behind it.
constexpr double counting_part = 0.1;

std::uint64_t cpu_ns(clockid_t which) noexcept {
    timespec spent{};
    clock_gettime(which, &spent);
    return static_cast<std::uint64_t>(spent.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(spent.tv_nsec);
}

struct clients_run {
    clients_run(const venue_shape& s, double measured, io::endpoint o, io::endpoint f, const gateway::account& a, int v)
        : shape(s), seconds(measured), orders(o), feed(f), account(a), system_calls(v) {
        verify(clock_getcpuclockid(v, &venue_clock) == 0, "the venue's process has a clock");
    }

    const venue_shape& shape;
    double seconds;
    io::endpoint orders;
    io::endpoint feed;
    const gateway::account& account;
    clockid_t venue_clock{};
    io::manual_event all_logged_on;
    std::shared_ptr<const wire::instrument_table> instruments;  ///< of all sessions
    std::uint32_t logged_on = 0;
    std::uint64_t measured_from = 0;
    std::uint64_t ends = 0;
    bool measuring = false;
    bool counting = false;  ///< after the measured time: the venue's system calls, which slows it down
    bool over = false;
    std::uint64_t client_cpu = 0;
    std::uint64_t venue_cpu = 0;
    system_call_counter system_calls;
    std::uint64_t answered_while_counting = 0;
    client_figures figures;

    void begin() {
        measured_from = clock().now_ticks() + ticks_of(seconds * timed_run::warm_up_part);
        ends = measured_from + ticks_of(seconds);
    }
    static std::uint64_t ticks_of(double seconds_long) {
        return static_cast<std::uint64_t>(seconds_long * clock().calibration().ticks_per_second);
    }
    /// Checks the time: starts the measurement, continues it, or ends it.
    void look(std::uint64_t now) {
        if (over) return;
        if (counting) {
            if (now >= ends && answered_while_counting != 0) end_counting();
        } else if (!measuring) {
            if (now >= measured_from) begin_measuring(now);
        } else if (now >= ends && figures.answered != 0) {
            // On a machine that is busy with other things it may take longer until something was counted.
            end_measuring(now);
        }
    }
    /// Counts answered requests.
    void completed(std::uint32_t count) {
        if (measuring) figures.answered += count;
        if (counting) answered_while_counting += count;
    }

 private:
    void begin_measuring(std::uint64_t now) {
        measuring = true;
        measured_from = now;
        client_cpu = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
        venue_cpu = cpu_ns(venue_clock);
    }
    void end_measuring(std::uint64_t now) {
        measuring = false;
        const auto wall = static_cast<double>(clock().between_ns(measured_from, now));
        figures.seconds = wall / 1e9;
        figures.client_busy = static_cast<double>(cpu_ns(CLOCK_THREAD_CPUTIME_ID) - client_cpu) / wall;
        figures.venue_busy = static_cast<double>(cpu_ns(venue_clock) - venue_cpu) / wall;
        if (shape.rate > 0 || !system_calls.works()) {
            over = true;
            return;
        }
        counting = true;
        ends = now + ticks_of(seconds * counting_part);
        system_calls.begin();
    }
    void end_counting() {
        figures.system_calls_per_request =
            static_cast<double>(system_calls.end()) / static_cast<double>(answered_while_counting);
        over = true;
    }
};

/// Reads everything that is published and looks at nothing.
io::task<> follow_feed(clients_run* run) {
    auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), run->feed);
    verify(stream.has_value(), "the feed takes a subscriber");
    std::array<std::byte, soup::login_request_bytes> login;
    soup::login_request wanted;
    wanted.requested_sequence = 1;
    verify(soup::encode(wanted, login).has_value(), "a login");
    const io::io_result sent = co_await stream->write_all(login);
    verify(!sent.error, "the feed takes a login");
    std::vector<std::byte> bytes(feed_bytes_max);
    for (;;) {
        const io::io_result got = co_await stream->read_some(bytes);
        if (got.error) co_return;
        run->figures.feed_bytes += got.bytes;
    }
}

/// Takes every answer that has arrived. @return How many requests they complete.
std::uint32_t take_answers(client::order_session& session, client::trader& trader) {
    std::uint32_t completed = 0;
    while (true) {
        const auto answer = session.poll();
        verify(answer.has_value(), "a session goes on");
        if (!*answer) return completed;
        if ((*answer)->reject) {
            trader.on_reject((*answer)->reject->session_reject_reason);
            ++completed;
        } else if (trader.on_event((*answer)->event)) {
            ++completed;
        }
    }
}

// As many requests as allowed at once, then the answers, and again: the rate is the venue's.
io::task<> closed_loop(clients_run* run, client::order_session* session, client::trader* trader) {
    std::uint32_t under_way = 0;
    while (!run->over || under_way != 0) {
        for (; !run->over && under_way < run->shape.outstanding; ++under_way) {
            verify(session->send(trader->next_request()) != 0, "a request fits into the client's buffer");
        }
        std::error_code error = co_await session->flush();
        verify(!error, "the venue takes requests");
        error = co_await session->fill();
        verify(!error, "the venue answers");
        const std::uint32_t completed = take_answers(*session, *trader);
        under_way -= completed;
        run->look(clock().now_ticks());
        run->completed(completed);
    }
}

// One request at a time, each at its time; the loop never sleeps.
io::task<> paced(clients_run* run, client::order_session* session, client::trader* trader) {
    const auto gap = static_cast<std::uint64_t>(clock().calibration().ticks_per_second / run->shape.rate);
    for (std::uint64_t due = clock().now_ticks(); !run->over; due += gap) {
        while (clock().now_ticks() < due) co_await io::yield();
        const domain::command request = trader->next_request();
        verify(session->send(request) != 0, "a request fits into the client's buffer");
        std::error_code error = co_await session->flush();
        verify(!error, "the venue takes requests");
        std::uint32_t completed = 0;
        while (completed == 0) {
            error = co_await session->fill();
            verify(!error, "the venue answers");
            completed = take_answers(*session, *trader);
        }
        const std::uint64_t now = clock().now_ticks();
        run->look(now);
        if (!run->measuring) continue;
        run->completed(completed);
        for (std::size_t kind = 0; kind < venue_kinds.size(); ++kind) {
            if (venue_kinds[kind] == request.kind) run->figures.round_trips[kind].record(clock().between_ns(due, now));
        }
    }
}

io::task<> be_client(clients_run* run, std::uint32_t index) {
    client::credentials who;
    who.account = run->account.id;
    who.session_number = index + 1;
    who.key = run->account.key;
    who.heartbeat = std::chrono::milliseconds(60'000);
    who.cancel_on_disconnect = false;
    auto logged_on = co_await client::order_session::log_on(run->orders, who);
    verify(logged_on.has_value(), "a client logs on");
    const std::unique_ptr<client::order_session> session = std::move(*logged_on);
    std::vector<domain::instrument> instruments;
    if (run->instruments == nullptr) {
        run->instruments = std::make_shared<const wire::instrument_table>(session->instruments());
    }
    session->share_instruments(run->instruments);
    session->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    client::trader trader = trader_of(index, std::move(instruments));
    if (++run->logged_on == run->shape.clients) {
        run->begin();
        run->all_logged_on.set();
    }
    const std::error_code stopped = co_await run->all_logged_on.wait();
    if (stopped) co_return;
    if (run->shape.rate > 0) {
        co_await paced(run, session.get(), &trader);
    } else {
        co_await closed_loop(run, session.get(), &trader);
    }
    run->figures.requests.add(trader.statistics());
    session->abandon();
}

io::task<> run_all(clients_run* run) {
    io::context& here = co_await io::this_context();
    io::task_scope watching(here);
    watching.spawn(follow_feed(run));
    io::task_scope clients(here);
    for (std::uint32_t i = 0; i < run->shape.clients; ++i) clients.spawn(be_client(run, i));
    co_await clients.join();
    watching.request_stop();
    co_await watching.join();
}

}  // namespace

client::trader trader_of(std::uint32_t session, std::vector<domain::instrument> instruments, std::uint32_t life) {
    std::vector<domain::price_ticks> middles;
    for (const domain::instrument& i : instruments) {
        middles.push_back(domain::price_ticks{(i.price_low.value + i.price_high.value) / 2});
    }
    const std::uint64_t client_order_base = (std::uint64_t{session + 1} << 32U) + (std::uint64_t{life} << 28U) + 1;
    return {client::trader_options(), std::move(instruments), std::move(middles), client_order_base,
            session + 1 + (std::uint64_t{life} << 32U)};
}

client_figures run_venue_clients(const venue_shape& shape, double seconds, io::endpoint orders, io::endpoint feed,
                                 const gateway::account& account, int venue) {
    io::context_options options(io::epoll_platform());
    if (shape.rate > 0) options.busy_poll = std::chrono::seconds(1);
    io::context on(options);
    clients_run run(shape, seconds, orders, feed, account, venue);
    io::block_on(on, run_all(&run));
    verify(run.figures.answered != 0, "requests were answered");
    verify_equal(run.figures.requests.answered, run.figures.requests.requests, "requests answered");
    return std::move(run.figures);
}

}  // namespace corro::lab
