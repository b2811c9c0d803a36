// SPDX-License-Identifier: Apache-2.0
#include "lab/venue/venue_clients.hpp"

#include <time.h>

#include <array>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "client/order_session.hpp"
#include "fix/net/application.hpp"
#include "fix/net/connection.hpp"
#include "fix/net/initiator.hpp"
#include "fix_trading/fix_login.hpp"
#include "fix_trading/fix_orders.hpp"
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
/// A venue takes fewer connections of FIX that have not logged on from one address.
constexpr std::uint32_t fix_logging_on_max = 256;
/// How much of the measured time is spent on counting system calls behind it.
constexpr double counting_part = 0.1;

std::uint64_t cpu_ns(clockid_t which) noexcept {
    timespec spent{};
    clock_gettime(which, &spent);
    return static_cast<std::uint64_t>(spent.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(spent.tv_nsec);
}

struct clients_run {
    clients_run(const venue_shape& s, double measured, io::endpoint o, io::endpoint f, const node::configuration& c,
                int v)
        : shape(s), seconds(measured), orders(o), feed(f), venue(c), account(c.accounts.front()), system_calls(v) {
        verify(clock_getcpuclockid(v, &venue_clock) == 0, "the venue's process has a clock");
    }

    const venue_shape& shape;
    double seconds;
    io::endpoint orders;
    io::endpoint feed;
    const node::configuration& venue;
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

/// A client by FIX. It sends as many requests as allowed, and another one for each answer.
class fix_client final : public fix::application {
 public:
    fix_client(clients_run& run, io::context& on, std::uint32_t index)
        : run_(run),
          orders_(*run.instruments, changes_begin + (std::uint64_t{index} << 32U)),
          trader_(trader_of(index, instruments_of(run))),
          store_(0),
          session_(on, options_of(run, index), store_, *this) {}

    io::task<> trade() {
        io::context& here = co_await io::this_context();
        io::task_scope talking(here);
        talking.spawn(session_.run());
        const std::error_code stopped = co_await run_.all_logged_on.wait();
        if (!stopped) fill(fix::moment_on(here));
        if (run_.over) session_.close();
        session_.flush();
        co_await talking.join();
        verify(failure_.empty(), failure_);
        verify_equal(session_.connections_count(), 1, "connections of a session");
        run_.figures.requests.add(trader_.statistics());
    }

    void on_active(fix::session&, fix::instant) override {
        if (++run_.logged_on != run_.shape.clients) return;
        run_.begin();
        run_.all_logged_on.set();
    }
    void on_message(fix::session& on, fix::instant now) override {
        const auto answer = orders_.read(on.message());
        if (!answer) return fail(answer.error());
        if (!*answer || (*answer)->is_reject) return fail("a message is no answer to a request");
        if (!trader_.on_event((*answer)->event)) return;
        --under_way_;
        run_.look(clock().now_ticks());
        run_.completed(1);
        fill(now);
        if (under_way_ == 0) session_.close();
    }
    void on_end(fix::session& on) override {
        if (on.ended_because() != "logged out") fail(on.ended_because().empty() ? "lost" : on.ended_because());
    }
    void on_reject(fix::session&, fix::instant) override { fail("a request is rejected"); }

 private:
    static constexpr std::uint64_t changes_begin = std::uint64_t{1} << 61U;

    static std::vector<domain::instrument> instruments_of(const clients_run& run) {
        return {run.venue.instruments.begin(), run.venue.instruments.end()};
    }
    static fix::initiator_options options_of(const clients_run& run, std::uint32_t index) {
        fix_trading::fix_login who;
        who.name = run.account.fix_names[index];
        who.venue_name = run.venue.fix_comp_id;
        who.key = run.account.key;
        who.heartbeat = std::chrono::seconds(60);
        return fix_trading::initiator_of(who, run.orders);
    }
    void fill(fix::instant now) {
        if (run_.over || !session_.of().may_send()) return;
        for (; under_way_ < run_.shape.outstanding; ++under_way_) {
            if (orders_.send(session_.of(), trader_.next_request(), now) == 0) return fail("a request is not sent");
        }
    }
    // A session calls this, so it does not throw.
    void fail(std::string_view why) {
        if (failure_.empty()) failure_ = why;
        run_.over = true;
        run_.all_logged_on.set();
        session_.close();
    }

    clients_run& run_;
    fix_trading::fix_orders orders_;
    client::trader trader_;
    std::uint32_t under_way_ = 0;
    std::string failure_;
    fix::memory_store store_;  ///< keeps nothing: nothing is lost
    fix::initiator session_;
};

io::task<> be_fix_client(clients_run* run, std::uint32_t index) {
    io::context& here = co_await io::this_context();
    const auto client = std::make_unique<fix_client>(*run, here, index);
    co_await client->trade();
}

io::task<> run_all(clients_run* run) {
    io::context& here = co_await io::this_context();
    io::task_scope watching(here);
    watching.spawn(follow_feed(run));
    io::task_scope clients(here);
    if (run->shape.by_fix) {
        auto table = std::make_shared<wire::instrument_table>();
        for (const domain::instrument& i : run->venue.instruments) table->define(i);
        run->instruments = std::move(table);
    }
    for (std::uint32_t i = 0; i < run->shape.clients; ++i) {
        clients.spawn(run->shape.by_fix ? be_fix_client(run, i) : be_client(run, i));
        while (run->shape.by_fix && !run->over && i + 1 >= run->logged_on + fix_logging_on_max) co_await io::yield();
    }
    std::exception_ptr failed;
    try {
        co_await clients.join();
    } catch (...) {
        failed = std::current_exception();
    }
    watching.request_stop();
    co_await watching.join();
    if (failed) std::rethrow_exception(failed);
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
                                 const node::configuration& configuration, int venue) {
    io::context_options options(io::epoll_platform());
    if (shape.rate > 0) options.busy_poll = std::chrono::seconds(1);
    io::context on(options);
    clients_run run(shape, seconds, orders, feed, configuration, venue);
    io::block_on(on, run_all(&run));
    verify(run.figures.answered != 0, "requests were answered");
    verify_equal(run.figures.requests.answered, run.figures.requests.requests, "requests answered");
    return std::move(run.figures);
}

}  // namespace corro::lab
