// SPDX-License-Identifier: Apache-2.0
// `corro proxy`: passes connections on to a venue, and disturbs them by command.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apps/corro/desk/disturbance.hpp"
#include "base/random.hpp"
#include "commands.hpp"
#include "input_lines.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "node/configuration/configuration.hpp"
#include "process.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds window_interval{15};
constexpr std::chrono::seconds connect_patience{5};
constexpr std::size_t piece_bytes_max = 16'384;
// Of each direction of a connection. A sender that outruns the delay waits, as behind a slow line.
constexpr std::size_t pieces_max = 256;

struct proxy_options {
    std::string listen = "127.0.0.1:7101";
    std::string venue = "127.0.0.1:7001";
    std::vector<std::string> at_start;
    std::uint64_t seed = 1;
};

/// What was read at one time.
struct piece {
    std::vector<std::byte> bytes;
    io::steady_time due;
    bool is_end = false;
};

/// A client's connection and the one to the venue.
struct passage {
    passage(io::tcp_stream from, io::tcp_stream to, desk::spoil_wish* wanted)
        : client(std::move(from)), venue(std::move(to)), spoiler(wanted) {}

    void end(bool resets) noexcept {
        for (io::tcp_stream* each : {&client, &venue}) {
            if (!each->is_open()) continue;
            if (resets) static_cast<void>(each->set_option(io::linger_seconds{0}));
            each->close();
        }
        up.close();
        down.close();
    }

    io::tcp_stream client;
    io::tcp_stream venue;
    io::channel<piece> up{pieces_max};
    io::channel<piece> down{pieces_max};
    desk::order_spoiler spoiler;
};

struct proxy {
    proxy(io::context* context, const proxy_options& options)
        : on(context),
          listen(parse_address(options.listen)),
          venue(parse_address(options.venue)),
          random(options.seed) {}

    io::context* on;
    io::endpoint listen;
    io::endpoint venue;
    base::prng random;
    io::tcp_acceptor acceptor;
    io::manual_event is_open{true};
    io::manual_event passes{true};
    io::manual_event never;
    desk::delay_wish delay;
    desk::spoil_wish spoil;
    std::list<passage*> passages;
    std::uint64_t connections_count = 0;
    std::uint64_t bytes_up = 0;
    std::uint64_t bytes_down = 0;
    std::uint64_t spoiled = 0;
};

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

io::steady_time due_of_next(proxy& p, io::steady_time before) {
    const std::chrono::milliseconds by(p.random.between(p.delay.least.count(), p.delay.most.count()));
    return std::max(before, p.on->now() + by);
}

/// One direction, as far as the channel.
io::task<> take(proxy* p, passage* own, bool from_client) {
    io::tcp_stream& from = from_client ? own->client : own->venue;
    io::channel<piece>& into = from_client ? own->up : own->down;
    std::vector<std::byte> buffer(piece_bytes_max);
    io::steady_time due = p->on->now();
    for (bool ended = false; !ended;) {
        const io::io_result got = co_await from.read_some(buffer);
        ended = got.error == io::condition::end_of_stream;
        if (got.error && !ended) {
            own->end(false);
            co_return;
        }
        (from_client ? p->bytes_up : p->bytes_down) += got.bytes;
        due = due_of_next(*p, due);
        piece next{{}, due, ended};
        if (from_client) {
            const std::uint64_t before = own->spoiler.spoiled_count();
            own->spoiler.pass(std::span(buffer).first(got.bytes), next.bytes);
            if (ended) own->spoiler.finish(next.bytes);
            p->spoiled += own->spoiler.spoiled_count() - before;
        } else {
            next.bytes.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got.bytes));
        }
        const std::error_code closed = co_await into.send(std::move(next));
        if (closed) co_return;
    }
}

/// The rest of the direction.
io::task<> give(proxy* p, passage* own, bool to_venue) {
    io::channel<piece>& from = to_venue ? own->up : own->down;
    io::tcp_stream& to = to_venue ? own->venue : own->client;
    for (bool ended = false; !ended;) {
        const auto next = co_await from.receive();
        if (!next) co_return;
        const std::error_code woken = co_await io::sleep_until(next->due);
        if (woken) co_return;
        const std::error_code passes = co_await p->passes.wait();
        if (passes || !to.is_open()) co_return;
        io::io_result put;
        if (!next->bytes.empty()) put = co_await to.write_all(next->bytes);
        ended = next->is_end;
        std::error_code failed = put.error;
        if (!failed && ended) failed = co_await to.shutdown();
        if (failed) {
            own->end(false);
            co_return;
        }
    }
}

io::task<> pass_on(proxy* p, io::tcp_stream client) {
    ++p->connections_count;
    auto venue = co_await io::with_timeout(connect_patience, io::tcp_stream::connect(*p->on, p->venue));
    if (!venue || !*venue) {
        say(fmt::format("{}: {}", p->venue.to_string(), venue ? venue->error().message() : "no answer"));
        co_return;
    }
    passage own(std::move(client), std::move(**venue), &p->spoil);
    for (io::tcp_stream* each : {&own.client, &own.venue}) {
        static_cast<void>(each->set_option(io::no_delay{true}));
    }
    const auto place = p->passages.insert(p->passages.end(), &own);
    co_await io::when_all(take(p, &own, true), give(p, &own, true), take(p, &own, false), give(p, &own, false));
    p->passages.erase(place);
}

/// Listens while the proxy is open.
io::task<> accept_all(proxy* p, io::task_scope* passages) {
    while (true) {
        const std::error_code stopped = co_await p->is_open.wait();
        if (stopped) co_return;
        if (!p->acceptor.is_open()) {
            auto opened = io::tcp_acceptor::open(*p->on, p->listen);
            if (!opened) {
                say(fmt::format("{}: {}", p->listen.to_string(), opened.error().message()));
                p->is_open.reset();
                continue;
            }
            p->acceptor = std::move(*opened);
        }
        auto peer = co_await p->acceptor.accept();
        if (peer) {
            passages->spawn(pass_on(p, std::move(*peer)));
        } else if (p->acceptor.is_open()) {
            co_return;  // stopped
        }
    }
}

void print_status(const proxy& p) {
    say(fmt::format(
        "connections: {}, since the start: {}; bytes to the venue: {}, from it: {}; orders spoiled: {}, to come: {}",
        p.passages.size(), p.connections_count, p.bytes_up, p.bytes_down, p.spoiled, p.spoil.count));
}

void end_all(proxy& p, bool resets) {
    const std::size_t count = p.passages.size();
    for (passage* each : p.passages) each->end(resets);
    say(fmt::format("connections {}: {}", resets ? "reset" : "cut", count));
}

void carry_out(proxy& p, desk::link_wish wish) {
    using desk::link_wish;
    switch (wish) {
        case link_wish::hold: p.passes.reset(); return say("nothing passes");
        case link_wish::go: p.passes.set(); return say("everything passes");
        case link_wish::cut: return end_all(p, false);
        case link_wish::reset: return end_all(p, true);
        case link_wish::close:
            p.is_open.reset();
            p.acceptor.close();
            return say("new connections are refused");
        case link_wish::open: p.is_open.set(); return say("new connections are accepted");
        case link_wish::status: return print_status(p);
        case link_wish::help:
            for (const std::string& line : desk::disturbance_help()) say(line);
            return;
        case link_wish::quit: return;
    }
}

/// @return  Whether the proxy is to go on.
bool execute(proxy& p, const std::string& line) {
    const auto parsed = desk::parse_disturbance(line);
    if (!parsed) {
        say(parsed.error());
    } else if (const auto* const delay = std::get_if<desk::delay_wish>(&*parsed)) {
        p.delay = *delay;
        say(fmt::format("delay from {} to {} ms", delay->least.count(), delay->most.count()));
    } else if (const auto* const spoil = std::get_if<desk::spoil_wish>(&*parsed)) {
        p.spoil = *spoil;
        say(fmt::format("orders to be spoiled: {}", spoil->count));
    } else {
        const auto wish = std::get<desk::link_wish>(*parsed);
        carry_out(p, wish);
        return wish != desk::link_wish::quit;
    }
    return true;
}

/// Ends with "quit". Without standard input the proxy keeps running as it is.
io::task<> follow_commands(proxy* p) {
    input_lines lines;
    while (!lines.ended()) {
        const std::error_code stopped = co_await io::sleep_for(window_interval);
        if (stopped) co_return;
        for (auto line = lines.next(); line; line = lines.next()) {
            if (!line->empty() && !execute(*p, *line)) co_return;
        }
    }
    static_cast<void>(co_await p->never.wait());
}

io::task<> serve_passages(proxy* p) {
    return io::with_scope([p](io::task_scope& passages) { return accept_all(p, &passages); });
}

io::task<> run_until_signal(proxy* p) {
    io::signal_set signals(*p->on, {SIGINT, SIGTERM});
    co_await io::when_any(serve_passages(p), follow_commands(p), signals.wait());
}

int run_proxy(const proxy_options& options) {
    raise_descriptor_limit();
    io::context context;
    proxy p(&context, options);
    auto opened = io::tcp_acceptor::open(context, p.listen);
    if (!opened) throw node::configuration_error(fmt::format("{}: {}", options.listen, opened.error().message()));
    p.listen = *opened->local_endpoint();
    p.acceptor = std::move(*opened);
    say(fmt::format("passing {} on to {}; type commands, such as: help", p.listen.to_string(), p.venue.to_string()));
    for (const std::string& line : options.at_start) {
        if (const auto parsed = desk::parse_disturbance(line); !parsed) throw node::configuration_error(parsed.error());
        if (!execute(p, line)) return 0;
    }
    io::block_on(context, run_until_signal(&p));
    print_status(p);
    return 0;
}

}  // namespace

void add_proxy_command(command_line& line) {
    auto options = std::make_shared<proxy_options>();
    const subcommand command =
        line.add_subcommand("proxy", "Disturb connections to a venue: delays, cuts, silence, refused orders");
    command.add_option("--listen", options->listen, "Address for clients").shows_default();
    command.add_option("--venue", options->venue, "Address of the venue: its order entry, FIX, feed or API")
        .shows_default();
    command.add_option("--do", options->at_start, "Execute a command at the start; can be repeated");
    command.add_option("--seed", options->seed, "Seed of random delays").shows_default();
    std::string commands = "Commands, one per line of standard input:";
    for (const std::string& each : desk::disturbance_help()) commands += "\n  " + each;
    command.footer(commands);
    command.runs([options] { return run_proxy(*options); });
}

}  // namespace corro::app
