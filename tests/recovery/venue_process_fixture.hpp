// SPDX-License-Identifier: Apache-2.0
// Test support: an exchange in a separate process, which the test can kill at any moment.
//
// The process is a fork of the test, which therefore must not run threads. It reports its ports and what it
// recovered, serves until its parent closes the wire between them, and reports its final state.
#pragma once

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <type_traits>

#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/block_on.hpp"
#include "node/venue/venue_fixture.hpp"
#include "serve_until_told_fixture.hpp"

namespace corro::testing {

/// @tparam Exchange  Made of a context and a configuration; served until its parent closes the wire.
/// @tparam describe  Makes of an exchange what the process says of itself, at its start and at its end: something
///                   trivially copyable with `sound`, which is false when the process did not start, and
///                   `order_entry_port`.
template <class Exchange, auto describe>
class forked_venue {
 public:
    using report = std::invoke_result_t<decltype(describe), const Exchange&>;
    static_assert(std::is_trivially_copyable_v<report>);

    explicit forked_venue(const node::configuration& configuration, io::platform* backend = &io::default_platform()) {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
        id_ = ::fork();
        if (id_ == 0) {
            ::dup2(ends[1], parents_wire);
            ::close_range(parents_wire + 1, ~0U, 0);
            serve(configuration, backend);
        }
        ::close(ends[1]);
        wire_ = ends[0];
        at_start_ = read_report();
    }
    ~forked_venue() {
        if (id_ > 0) kill();
    }
    forked_venue(const forked_venue&) = delete;
    forked_venue& operator=(const forked_venue&) = delete;

    [[nodiscard]] const report& at_start() const noexcept { return at_start_; }
    [[nodiscard]] io::endpoint order_entry() const noexcept {
        return io::endpoint::loopback(at_start_.order_entry_port);
    }
    /// The feed's address, of a venue with one feed.
    [[nodiscard]] io::endpoint feed() const noexcept { return io::endpoint::loopback(at_start_.feed_port); }
    [[nodiscard]] io::endpoint snapshots() const noexcept { return io::endpoint::loopback(at_start_.snapshot_port); }

    /// Kills it at once.
    void kill() noexcept {
        ::kill(id_, SIGKILL);
        finish();
    }

    /// As `wait_for_exit`.
    [[nodiscard]] int wait_for_end() noexcept {
        const int code = wait_for_exit(id_);
        ::close(wire_);
        id_ = -1;
        return code;
    }
    /// Asks it to close, and does not wait.
    void begin_to_close() noexcept { ::shutdown(wire_, SHUT_WR); }

    /// Closes it. @return Its last report.
    [[nodiscard]] report close() noexcept {
        ::shutdown(wire_, SHUT_WR);
        const report last = read_report();
        finish();
        return last;
    }

 private:
    void finish() noexcept {
        ::waitpid(id_, nullptr, 0);
        ::close(wire_);
        id_ = -1;
    }
    [[nodiscard]] report read_report() const noexcept {
        report r;
        auto* at = reinterpret_cast<char*>(&r);
        for (std::size_t size = 0; size < sizeof r;) {
            const ssize_t got = ::read(wire_, at + size, sizeof r - size);
            if (got <= 0) return report();
            size += static_cast<std::size_t>(got);
        }
        return r;
    }

    static void say(const Exchange& exchange) {
        const report r = describe(exchange);
        if (::write(parents_wire, &r, sizeof r) != static_cast<ssize_t>(sizeof r)) ::_exit(3);
    }
    [[noreturn]] static void serve(const node::configuration& configuration, io::platform* backend) noexcept {
        try {
            io::context context{io::context_options(*backend)};
            Exchange exchange(context, configuration);
            say(exchange);
            io::block_on(context, serve_until_told(&context, &exchange));
            say(exchange);
            // As `corro serve`.
            ::_exit(exchange.failure() == nullptr ? 0 : 1);
        } catch (const std::exception& e) {
            static_cast<void>(!::write(2, e.what(), std::char_traits<char>::length(e.what())));
            ::_exit(1);
        }
    }

    int id_ = -1;
    int wire_ = -1;
    report at_start_;
};

struct venue_report {
    std::uint64_t commands_count = 0;
    std::uint64_t state_hash = 0;
    std::uint64_t feed_messages = 0;
    std::uint16_t order_entry_port = 0;
    std::uint16_t feed_port = 0;
    std::uint16_t snapshot_port = 0;
    std::uint16_t metrics_port = 0;
    bool sound = false;
};

inline venue_report report_of(const node::venue& exchange) {
    venue_report r;
    r.commands_count = exchange.commands_count();
    r.state_hash = exchange.state_hash();
    r.feed_messages = exchange.feed_next_sequence() - 1;
    r.order_entry_port = exchange.order_entry_endpoint().port();
    r.feed_port = exchange.feed_endpoint().port();
    r.snapshot_port = exchange.snapshot_endpoint().port();
    if (const auto metrics = exchange.metrics_endpoint()) r.metrics_port = metrics->port();
    r.sound = true;
    return r;
}

using venue_process = forked_venue<node::testing::started_venue, report_of>;

}  // namespace corro::testing
