// SPDX-License-Identifier: Apache-2.0
// An outside project's venue and trader in one process: they log on, exchange an order and a report, and log out.
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "fix/codec/tags.hpp"
#include "fix/net/acceptor.hpp"
#include "fix/net/initiator.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"

namespace fix = corro::fix;
namespace io = corro::io;

namespace {

/// Both ends have the same settings, with the names the other way round.
fix::session_settings between(std::string own, std::string peer) {
    fix::session_settings settings;
    settings.identity.begin_string = "FIX.4.4";
    settings.identity.sender_comp_id = std::move(own);
    settings.identity.target_comp_id = std::move(peer);
    return settings;
}

/// Answers each order (D) with an execution report (8).
class venue final : public fix::application {
 public:
    std::string on_logon(fix::session& on) override {
        return on.message().get(fix::tag::password) == "secret" ? "" : "wrong password";
    }
    void on_message(fix::session& on, fix::instant now) override {
        const std::string order(on.message().get(11).value_or("?"));  // ClOrdID
        fix::message_writer& report = on.begin_message("8", now);
        report.put(11, order);
        report.put(150, '0');  // ExecType: new
        static_cast<void>(on.send(now));
    }
    void on_end(fix::session& on) override { ended = on.ended_because(); }

    std::string ended;
};

/// Sends an order when the session is active.
class trader final : public fix::application {
 public:
    void on_active(fix::session& on, fix::instant now) override {
        fix::message_writer& order = on.begin_message("D", now);
        order.put(11, "order-1");
        order.put(44, fix::decimal{450'025, 2});  // Price
        static_cast<void>(on.send(now));
    }
    void on_message(fix::session& on, fix::instant) override {
        reported = on.message().get(11).value_or("?");
        has_report.set();
    }
    void on_end(fix::session& on) override { ended = on.ended_because(); }

    std::string reported;
    std::string ended;
    io::manual_event has_report;
};

io::task<> converse(io::context* on, fix::acceptor* listening, io::tcp_acceptor port, fix::initiator* connecting,
                    trader* trading) {
    io::task_scope served(*on);
    served.spawn(listening->serve(std::move(port)));
    io::task_scope session(*on);
    session.spawn(connecting->run());
    static_cast<void>(co_await io::with_timeout(std::chrono::seconds(10), trading->has_report.wait()));
    connecting->close("done");
    co_await session.join();
    listening->close();
    co_await served.join();
}

}  // namespace

int main() {
    io::context on;
    auto port = io::tcp_acceptor::open(on, io::endpoint::loopback(0));
    if (!port) return 1;

    venue answering;
    fix::memory_store numbers_of_the_venue;
    fix::acceptor listening(on, fix::acceptor_options(), answering);
    listening.add(between("VENUE", "TRADER"), numbers_of_the_venue);

    trader trading;
    fix::memory_store numbers_of_the_trader;
    fix::initiator_options options;
    options.session = between("TRADER", "VENUE");
    options.servers = {*port->local_endpoint()};
    options.credentials = [](fix::message_writer& logon) { logon.put(fix::tag::password, "secret"); };
    fix::initiator connecting(on, options, numbers_of_the_trader, trading);

    io::block_on(on, converse(&on, &listening, std::move(*port), &connecting, &trading));
    const bool well =
        trading.reported == "order-1" && trading.ended == "logged out" && answering.ended == "the peer logged out";
    std::printf("FIX: %s\n", well ? "well" : "failed");
    return well ? 0 : 1;
}
