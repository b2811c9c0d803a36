// SPDX-License-Identifier: Apache-2.0
// Suite `api`: what the web API delivers, and how much longer an order by it takes than one by Corro Binary.

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/api_state.hpp"
#include "api/frame_session.hpp"
#include "api/market_frames.hpp"
#include "api/web_session.hpp"
#include "client/order_session.hpp"
#include "feed/book_image.hpp"
#include "http/server.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/suites.hpp"
#include "lab/suites/venue_suite.hpp"
#include "node/links/api_role.hpp"
#include "node/venue/venue.hpp"
#include "websocket/connection.hpp"
#include "wire/instrument_table.hpp"

namespace corro::lab {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t subscribers_count = 1'000;
constexpr std::uint32_t instruments_count = 10;
/// Of each instrument, within the interval of 100 ms.
constexpr int changes_per_interval = 10;
constexpr std::byte key_byte{0x5a};
/// A connection has credits for this many orders at once; more of them come from further connections.
constexpr int orders_per_connection = 80;
/// Dashboards: each draws one instrument, at 60 frames a second, from a market with 10,000 updates a second.
constexpr std::size_t dashboards_count = 200;
constexpr int updates_per_second = 10'000;
constexpr std::string_view frame_path = "/ws/market/v1";

domain::instrument instrument_of(std::uint32_t id) {
    domain::instrument i;
    i.id = domain::instrument_id{id};
    i.product = domain::product_id{1};
    i.name = domain::symbol(fmt::format("I{}", id).c_str());
    i.tick_size = domain::price_nano{250'000'000};
    i.price_low = domain::price_ticks{16'000};
    i.price_high = domain::price_ticks{20'000};
    return i;
}

/// The API's state and its WebSockets on a thread of their own, fed by changes that are made here.
class api_alone {
 public:
    /// @param feeding  Makes changes until `ends`.
    using feeder = io::task<> (*)(api_alone*);

    api_alone(io::platform* kind, feeder feeding)
        : context_(io::context_options(*kind)),
          state_(context_),
          server_(context_, [this](http::exchange* on) { return serve(on); }),
          ends_(context_) {
        for (std::uint32_t id = 1; id <= instruments_count; ++id) {
            const domain::instrument i = instrument_of(id);
            table_.define(i);
            state_.markets.begin(i, feed::book_image(), 1, 1);
        }
        state_.markets.end_begin();
        auto port = io::tcp_acceptor::open(context_, io::endpoint::loopback(0));
        verify(port.has_value(), "the API has no port");
        where_ = *port->local_endpoint();
        port_ = std::move(*port);
        thread_ = std::thread([this, feeding] { io::block_on(context_, run(this, feeding)); });
    }
    ~api_alone() {
        ends_.set();
        thread_.join();
    }
    api_alone(const api_alone&) = delete;
    api_alone& operator=(const api_alone&) = delete;

    [[nodiscard]] io::endpoint where() const noexcept { return where_; }
    /// Processor time of the thread, in nanoseconds.
    [[nodiscard]] std::uint64_t busy_ns() {
        clockid_t of{};
        verify(pthread_getcpuclockid(thread_.native_handle(), &of) == 0, "the thread has no clock");
        timespec t{};
        verify(clock_gettime(of, &t) == 0, "the thread's clock cannot be read");
        return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
    }
    [[nodiscard]] bool is_over() const noexcept { return over_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t waiting_bytes() const noexcept {
        return sessions_.empty() ? 0 : sessions_.front()->waiting_bytes();
    }
    [[nodiscard]] bool has_subscribers() const noexcept { return state_.publisher.count() != 0; }

    /// Changes a level of an instrument: a command of its own.
    void change_level(std::uint32_t id) {
        domain::event e;
        e.kind = domain::event_kind::level_changed;
        e.instrument = domain::instrument_id{id};
        e.command = domain::sequence_number{++command_};
        e.time = domain::time_ns{static_cast<std::int64_t>(command_)};
        e.side = (command_ & 1U) == 0 ? domain::side::buy : domain::side::sell;
        e.level = domain::level{};
        const auto step = static_cast<std::int64_t>(command_ / 2 % 20);
        e.level.price = domain::price_ticks{e.side == domain::side::buy ? 18'000 - step : 18'001 + step};
        e.level.quantity = domain::volume_lots{1 + command_ % 1'000};
        e.flags = domain::event_flag::last_of_command;
        state_.markets.take(table_, e);
    }

 private:
    io::task<> serve(http::exchange* on) {
        websocket::connection_options options;
        options.deflate.enabled = false;
        const std::string query(on->request().query);
        const bool wants_frames = on->request().path == frame_path;
        auto opened = co_await websocket::accept(on, options);
        if (!opened) co_return;
        if (wants_frames) {
            std::string_view param;
            const auto wish = api::parse_frame_query(query, state_.markets, param);
            verify(wish.has_value(), "the API does not know this wish");
            api::frame_session session(state_, **opened, *wish);
            frame_sessions_.push_back(&session);
            co_await session.run();
            std::erase(frame_sessions_, &session);
            co_return;
        }
        api::web_session session(state_, **opened);
        sessions_.push_back(&session);
        co_await session.run();
        std::erase(sessions_, &session);
    }
    static io::task<> publish_frames(api_alone* self) {
        while (true) {
            const std::error_code stopped =
                co_await io::sleep_for(std::chrono::milliseconds(api::frame_ticks_ms.front()));
            if (stopped) co_return;
            self->state_.frames.publish(0, self->state_.now_us());
        }
    }
    static io::task<> publish(api_alone* self) {
        while (true) {
            const std::error_code stopped =
                co_await self->state_.publisher.pending(api::channel_interval::short_).wait();
            if (stopped) co_return;
            const std::error_code interrupted = co_await io::sleep_for(api::interval_short);
            if (interrupted) co_return;
            self->state_.publisher.publish(api::channel_interval::short_);
        }
    }
    static io::task<> run(api_alone* self, feeder feeding) {
        io::task_scope serving(self->context_);
        serving.spawn(feeding(self));
        serving.spawn(publish(self));
        serving.spawn(publish_frames(self));
        serving.spawn(serve_all(self));
        static_cast<void>(co_await self->ends_.wait());
        self->over_ = true;
        self->server_.drain();
        for (api::web_session* each : self->sessions_) each->end_slow();
        for (api::frame_session* each : self->frame_sessions_) each->end_slow();
        serving.request_stop();
        co_await serving.join();
    }
    static io::task<> serve_all(api_alone* self) { static_cast<void>(co_await self->server_.serve(&self->port_)); }

    io::context context_;
    api::api_state state_;
    http::server server_;
    io::remote_event ends_;
    io::tcp_acceptor port_;
    io::endpoint where_;
    wire::instrument_table table_;
    std::vector<api::web_session*> sessions_;
    std::vector<api::frame_session*> frame_sessions_;
    std::uint64_t command_ = 1;
    std::atomic<bool> over_ = false;
    std::thread thread_;
};

io::task<std::unique_ptr<websocket::connection>> open_socket(io::endpoint at, std::string target = "/ws/api/v2") {
    auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), at);
    verify(stream.has_value(), "the API was not reached");
    static_cast<void>(stream->set_option(io::no_delay(true)));
    websocket::connection_options options;
    options.deflate.enabled = false;
    auto opened = co_await websocket::connect(io::any_stream(std::move(*stream)), at.to_string(), target, options);
    verify(opened.has_value(), "the WebSocket was not opened");
    co_return std::move(*opened);
}

io::task<> subscribe(websocket::connection* to, std::string channels) {
    const std::error_code error = co_await to->send_text(
        R"({"jsonrpc":"2.0","id":1,"method":"public/subscribe","params":{"channels":[)" + channels + "]}}");
    verify(!error, "the request was not sent");
}

/// The number behind a name of a message; 0 if it is not there.
std::uint64_t number_behind(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    std::uint64_t number = 0;
    if (at == std::string_view::npos) return number;
    for (const char c : text.substr(at + name.size())) {
        if (c < '0' || c > '9') break;
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
}

// The book, every change.

/// As fast as the client takes them: the slow consumer's rule would leave changes out.
io::task<> feed_without_pause(api_alone* of) {
    constexpr std::size_t waiting_bytes_max = 128 * 1024;
    static_assert(waiting_bytes_max < api::waiting_bytes_slow);
    while (!of->is_over()) {
        for (int k = 0; of->has_subscribers() && of->waiting_bytes() < waiting_bytes_max && k < 64; ++k) {
            of->change_level(1);
        }
        co_await io::yield();
    }
}

io::task<> take_changes(io::endpoint at, timed_run* run) {
    const auto peer = co_await open_socket(at);
    co_await subscribe(peer.get(), R"("book.I1.raw")");
    std::uint64_t last = 0;
    std::uint64_t begun = run->now();
    while (begun != 0) {
        const auto message = co_await peer->receive();
        verify(message.has_value(), "the connection has ended");
        const std::string_view text = message->text();
        const std::uint64_t id = number_behind(text, R"("change_id":)");
        if (id == 0) continue;
        const std::uint64_t previous = number_behind(text, R"("prev_change_id":)");
        verify(last == 0 || previous == last, "a change is missing");
        last = id;
        begun = run->count(begun, 1);
    }
}

measurement book_changes(const run_parameters& how, io::platform* kind) {
    api_alone served(kind, feed_without_pause);
    io::context here{io::context_options(*kind)};
    timed_run run(how.seconds);
    io::block_on(here, take_changes(served.where(), &run));
    return rate_of(run);
}

// A thousand subscribers.

io::task<> feed_by_interval(api_alone* of) {
    while (!of->is_over()) {
        const std::error_code stopped = co_await io::sleep_for(api::interval_short / changes_per_interval);
        if (stopped) co_return;
        for (std::uint32_t id = 1; id <= instruments_count; ++id) of->change_level(id);
    }
}

struct audience {
    std::uint64_t messages_count = 0;
    std::size_t subscribed_count = 0;
};

io::task<> listen(io::endpoint at, audience* in) {
    const auto peer = co_await open_socket(at);
    std::string channels;
    for (std::uint32_t id = 1; id <= instruments_count; ++id) {
        channels += fmt::format(R"({}"book.I{}.100ms")", channels.empty() ? "" : ",", id);
    }
    co_await subscribe(peer.get(), channels);
    ++in->subscribed_count;
    while (true) {
        const auto message = co_await peer->receive();
        if (!message) co_return;
        ++in->messages_count;
    }
}

io::task<> watch(io::endpoint at, std::uint32_t instrument, audience* in) {
    const auto peer = co_await open_socket(at, fmt::format("{}?instrument=I{}&tick=16", frame_path, instrument));
    ++in->subscribed_count;
    double last = 0;
    while (true) {
        const auto message = co_await peer->receive();
        if (!message) co_return;
        // Kind, sequence, sequence of the frame before.
        std::array<double, 4> head{};
        verify(message->data.size() >= sizeof head, "a frame has a head");
        std::memcpy(head.data(), message->data.data(), sizeof head);
        verify(head[1] == 1 || head[3] == last, "a frame is missing");
        last = head[2];
        ++in->messages_count;
    }
}

/// @param listen  Of the client with this number.
io::task<> measure_audience(api_alone* served, std::size_t count_of_clients,
                            io::task<> (*listen_as)(io::endpoint, std::size_t, audience*), double seconds,
                            std::vector<double>* values) {
    audience all;
    io::context& here = co_await io::this_context();
    io::task_scope listening(here);
    for (std::size_t k = 0; k < count_of_clients; ++k) {
        listening.spawn(listen_as(served->where(), k, &all));
        // The port's queue is not for a thousand at once.
        if (k % 50 == 49) {
            while (all.subscribed_count < k) static_cast<void>(co_await io::sleep_for(1ms));
        }
    }
    static_cast<void>(co_await io::sleep_for(300ms));
    const std::uint64_t before = all.messages_count;
    const std::uint64_t busy_before = served->busy_ns();
    const io::steady_time begun = here.now();
    static_cast<void>(co_await io::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9))));
    const double length_ns = static_cast<double>((here.now() - begun).count());
    const double busy_ns = static_cast<double>(served->busy_ns() - busy_before);
    const double count = static_cast<double>(all.messages_count - before);
    // In runs that are shorter than an interval there may be none.
    verify(count > 0 || seconds < 0.2, "nothing was published");
    *values = {100.0 * busy_ns / length_ns, count * 1e9 / length_ns};
    listening.request_stop();
    co_await listening.join();
}

measurement subscribers(const run_parameters& how, io::platform* kind) {
    api_alone served(kind, feed_by_interval);
    io::context here{io::context_options(*kind)};
    measurement made;
    io::block_on(
        here, measure_audience(
                  &served, subscribers_count, [](io::endpoint at, std::size_t, audience* in) { return listen(at, in); },
                  how.seconds, &made.values));
    return made;
}

// Dashboards.

io::task<> feed_fast(api_alone* of) {
    constexpr std::chrono::milliseconds pause{2};
    std::uint32_t id = 0;
    io::context& here = co_await io::this_context();
    const io::steady_time begun = here.now();
    std::int64_t made = 0;
    while (!of->is_over()) {
        const std::error_code stopped = co_await io::sleep_for(pause);
        if (stopped) co_return;
        const auto due = std::chrono::duration_cast<std::chrono::microseconds>(here.now() - begun).count() *
                         updates_per_second / 1'000'000;
        for (; made < due; ++made) of->change_level(1 + id++ % instruments_count);
    }
}

measurement dashboards(const run_parameters& how, io::platform* kind) {
    api_alone served(kind, feed_fast);
    io::context here{io::context_options(*kind)};
    measurement made;
    io::block_on(here, measure_audience(
                           &served, dashboards_count,
                           [](io::endpoint at, std::size_t k, audience* in) {
                               return watch(at, 1 + static_cast<std::uint32_t>(k) % instruments_count, in);
                           },
                           how.seconds, &made.values));
    return made;
}

// Orders, through a whole venue.

/// How an order gets to the venue.
enum class way : std::uint8_t { api_by_tcp, api_by_memory, binary };

node::configuration venue_with_api(way by) {
    node::configuration c;
    if (by == way::api_by_memory) c.order_entry_shm_listen = fmt::format("@corro-lab-api-{}", ::getpid());
    c.touch = base::page_touch::yes;
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = c.api_listen = "127.0.0.1:0";
    c.api_connections_per_address_max = api::connections_max;
    c.orders_max = c.account_open_orders_max = 1'000'000;
    c.instruments.push_back(instrument_of(1));
    gateway::account trader;
    trader.id = domain::account_id{1};
    trader.name = "trader";
    trader.key.fill(key_byte);
    trader.sessions_count = 2;
    c.accounts.push_back(trader);
    return c;
}

/// Runs `serving` on a thread with a context of its own, until the object ends; then `Part::close`.
template <class Part>
class on_thread {
 public:
    template <class... Arguments>
    explicit on_thread(io::platform* kind, Arguments&&... arguments)
        : context_(io::context_options(*kind)),
          part_(context_, std::forward<Arguments>(arguments)...),
          close_(context_) {
        if constexpr (requires { part_.start(); }) io::block_on(context_, part_.start());
        thread_ = std::thread([this] { io::block_on(context_, run_all(this)); });
    }
    ~on_thread() {
        close_.set();
        thread_.join();
    }
    on_thread(const on_thread&) = delete;
    on_thread& operator=(const on_thread&) = delete;
    [[nodiscard]] const Part& operator*() const noexcept { return part_; }
    [[nodiscard]] const Part* operator->() const noexcept { return &part_; }

 private:
    static io::task<> close_when_told(on_thread* self) {
        const std::error_code stopped = co_await self->close_.wait();
        if (!stopped) self->part_.close();
    }
    static io::task<> run_all(on_thread* self) {
        io::task_scope watching(self->context_);
        watching.spawn(close_when_told(self));
        co_await self->part_.run();
        watching.request_stop();
        co_await watching.join();
    }

    io::context context_;
    Part part_;
    io::remote_event close_;
    std::thread thread_;
};

std::string secret_text() {
    std::string text;
    for (std::size_t i = 0; i < wire::api_key().size(); ++i) {
        text += fmt::format("{:02x}", std::to_integer<int>(key_byte));
    }
    return text;
}

/// Sends a request and waits for its response.
io::task<> call(websocket::connection* to, std::string request, std::string_view expected) {
    const std::error_code error = co_await to->send_text(request);
    verify(!error, "the request was not sent");
    const auto message = co_await to->receive();
    verify(message.has_value(), "the connection has ended");
    verify(message->text().find(expected) != std::string_view::npos, message->text());
}

std::string proof() {
    return R"({"jsonrpc":"2.0","id":1,"method":"public/auth","params":{"grant_type":"client_credentials",)"
           R"("client_id":"trader","client_secret":")" +
           secret_text() + R"("}})";
}

/// Until the API has the feed and its session with the venue.
io::task<> wait_for_api(io::endpoint at) {
    constexpr std::string_view request =
        R"({"jsonrpc":"2.0","id":1,"method":"private/get_open_orders_by_instrument","params":{"instrument_name":"I1"}})";
    for (int attempts = 0; attempts < 500; ++attempts) {
        const auto peer = co_await open_socket(at);
        co_await call(peer.get(), proof(), "access_token");
        const std::error_code error = co_await peer->send_text(request);
        const auto message = co_await peer->receive();
        if (!error && message && message->text().find(R"("result":[)") != std::string_view::npos) co_return;
        static_cast<void>(co_await peer->close());
        static_cast<void>(co_await io::sleep_for(20ms));
    }
    verify(false, "the API has no session with the venue");
}

io::task<> order_by_api(io::endpoint at, timed_run* run) {
    const std::string request =
        R"({"jsonrpc":"2.0","id":1,"method":"private/buy","params":{"instrument_name":"I1","amount":1,"price":4500}})";
    std::uint64_t begun = run->now();
    while (begun != 0) {
        const auto peer = co_await open_socket(at);
        co_await call(peer.get(), proof(), "access_token");
        begun = run->now();
        for (int k = 0; k < orders_per_connection && begun != 0; ++k) {
            co_await call(peer.get(), request, R"("order_state":"open")");
            begun = run->lap(begun);
        }
        static_cast<void>(co_await peer->close());
    }
}

io::task<> order_by_binary(io::endpoint at, timed_run* run) {
    client::credentials who;
    who.account = domain::account_id{1};
    who.key.fill(key_byte);
    auto session = co_await client::order_session::log_on(at, who);
    verify(session.has_value(), "the venue was not reached");
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.instrument = domain::instrument_id{1};
    order.order_terms().side = domain::side::buy;
    order.enter_order().price = domain::price_ticks{18'000};
    order.enter_order().quantity = domain::quantity_lots{1};
    order.client_order = domain::client_order_id{1};
    for (std::uint64_t begun = run->now(); begun != 0; begun = run->lap(begun)) {
        verify((*session)->send(order) != 0, "the order was not queued");
        const auto answer = co_await (*session)->next();
        verify(answer.has_value() && answer->event.kind == domain::event_kind::order_entered,
               "the order does not rest");
        ++order.client_order.value;
    }
    static_cast<void>(co_await (*session)->log_out());
}

measurement orders(const run_parameters& how, io::platform* kind, way by) {
    const node::configuration c = venue_with_api(by);
    const on_thread<node::venue> venue(kind, c);
    io::context here{io::context_options(*kind)};
    timed_run run(how.seconds);
    if (by != way::binary) {
        const auto& feed = venue->at(0).feed;
        api::api_key key;
        key.client_id = "trader";
        key.secret.fill(key_byte);
        key.account = domain::account_id{1};
        key.session_number = 2;
        const on_thread<node::api_role> web(
            kind, c,
            std::vector<api::feed_address>{node::feed_address_of(feed.feed_endpoint(), feed.snapshot_endpoint())},
            std::optional(node::order_entry_nearby(c, venue->order_entry_endpoint())), std::vector<api::api_key>{key});
        io::block_on(here, wait_for_api(web->where()));
        run = timed_run(how.seconds);
        io::block_on(here, order_by_api(web->where(), &run));
    } else {
        io::block_on(here, order_by_binary(venue->order_entry_endpoint(), &run));
    }
    measurement made;
    made.latency_ns = summary_of(run.latencies());
    made.values = {made.latency_ns->p50, made.latency_ns->p99};
    return made;
}

}  // namespace

void declare_api(registry& into) {
    into.declare("api",
                 {{"book_changes", "/s", better::higher,
                   "changes of a book, each a message of a raw channel, to one subscriber over loopback TCP; "
                   "the client checks that none is missing. The API has a thread, and makes the changes itself"}},
                 2);
    into.declare("api",
                 {{"subscribers_1000_busy", "%", better::lower,
                   fmt::format("processor time of the API's thread, of one processor, with {} WebSockets that have {} "
                               "books at 100 ms each; each book changes {} times in 100 ms",
                               subscribers_count, instruments_count, changes_per_interval)},
                  {"subscribers_1000_messages", "/s", better::higher, "messages that they receive"}},
                 2, 10, 3);
    into.declare(
        "api",
        {{"dashboards_200_busy", "%", better::lower,
          fmt::format("processor time of the API's thread, of one processor, with {} binary market channels at "
                      "16 ms, spread over {} instruments, and {} changes of books a second in all",
                      dashboards_count, instruments_count, updates_per_second)},
         {"dashboards_200_frames", "/s", better::higher, "frames that they receive; each checks that none is missing"}},
        2, 10, 3);
    into.declare(
        "api",
        {{"order_to_answer_p50", "ns", better::lower,
          "from an order that rests to its answer over loopback TCP, one outstanding: the median. By the API "
          "over a WebSocket, and by Corro Binary to the same venue, which counts as the peer. `memory`: by the "
          "API, which reaches its venue by shared memory. Venue, API and client have a thread each, which sleep "
          "between messages; there is no journal"},
         {"order_to_answer_p99", "ns", better::lower, "the same: the P99"}},
        2);
    declare_api_history(into);
}

void implement_api(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        io::platform* const kind = by.kind;
        into.implement("api", "book_changes", by.subject,
                       [kind](const run_parameters& how) { return book_changes(how, kind); });
        into.implement("api", "subscribers_1000_busy", by.subject,
                       [kind](const run_parameters& how) { return subscribers(how, kind); });
        into.implement("api", "dashboards_200_busy", by.subject,
                       [kind](const run_parameters& how) { return dashboards(how, kind); });
        into.implement("api", "order_to_answer_p50", by.subject,
                       [kind](const run_parameters& how) { return orders(how, kind, way::api_by_tcp); });
        into.implement("api", "order_to_answer_p50", "memory" + by.subject.substr(by.subject.find('_')),
                       [kind](const run_parameters& how) { return orders(how, kind, way::api_by_memory); });
        into.implement("api", "order_to_answer_p50", "binary" + by.subject.substr(by.subject.find('_')),
                       [kind](const run_parameters& how) { return orders(how, kind, way::binary); });
    }
    implement_api_history(into);
}

}  // namespace corro::lab
