// SPDX-License-Identifier: Apache-2.0
// A FIX session between two hosts. The link is cut for eight seconds, and no message is lost or comes twice.
//
//     fix_sessions
#include <chrono>
#include <cstdint>
#include <expected>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "fix/net/acceptor.hpp"
#include "fix/net/initiator.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "sim/world.hpp"

namespace fix = corro::fix;
namespace io = corro::io;
namespace sim = corro::sim;
using namespace std::chrono_literals;

// [names]
/// Both ends have the same settings, with the names the other way round.
fix::session_settings between(std::string own, std::string peer) {
    fix::session_settings settings;
    settings.identity.begin_string = "FIX.4.4";
    settings.identity.sender_comp_id = std::move(own);
    settings.identity.target_comp_id = std::move(peer);
    settings.heartbeat = 2s;
    return settings;
}
// [/names]

// [venue]
/// Answers each order (D) with an execution report (8).
class venue final : public fix::application {
 public:
    std::string on_logon(fix::session& on) override {
        return on.message().get(554) == "secret" ? "" : "wrong password";  // Password
    }
    void on_message(fix::session& on, fix::instant now) override {
        if (on.message().message_type() != "D") return on.reject_business(3, "only orders", now);
        const std::string order(on.message().get(11).value_or("?"));  // ClOrdID
        std::cout << "the venue gets order " << order << "\n";
        fix::message_writer& report = on.begin_message("8", now);
        report.put(11, order);
        report.put(150, '0');  // ExecType: new
        static_cast<void>(on.send(now));
    }
};
// [/venue]

// [trader]
/// Prints the reports, and why a connection ends.
class trader final : public fix::application {
 public:
    void on_message(fix::session& on, fix::instant) override {
        std::cout << "the trader gets a report on " << on.message().get(11).value_or("?") << "\n";
    }
    void on_end(fix::session& on) override {
        std::cout << "the trader's connection ends: " << on.ended_because() << "\n";
    }
};
// [/trader]

// [orders]
/// Sends an order every three seconds. While the session is not logged on, it waits.
io::task<> trade(fix::initiator* venue) {
    io::context& here = co_await io::this_context();
    for (int number = 1; number <= 5; ++number) {
        while (!venue->of().may_send()) static_cast<void>(co_await io::sleep_for(100ms));
        const fix::instant now = fix::moment_on(here);
        fix::message_writer& order = venue->of().begin_message("D", now);
        order.put(11, "order-" + std::to_string(number));
        order.put(55, "ESZ6");
        order.put(54, '1');
        order.put(38, 10);
        order.put(44, fix::decimal{450'025, 2});
        static_cast<void>(venue->of().send(now));
        venue->flush();
        static_cast<void>(co_await io::sleep_for(3s));
    }
    venue->close("done");
}

/// The session and the orders, side by side.
io::task<> trade_over(io::context* here, fix::initiator* venue) {
    io::task_scope both(*here);
    both.spawn(venue->run());
    both.spawn(trade(venue));
    co_await both.join();
}
// [/orders]

// [main]
int main() {
    sim::world world(1);
    sim::host& north = world.add_host("north", {io::endpoint::ipv4({10, 0, 0, 1}, 0)});
    sim::host& south = world.add_host("south", {io::endpoint::ipv4({10, 0, 0, 2}, 0)});
    io::context client{io::context_options(north.start_process("trader"))};
    io::context server{io::context_options(south.start_process("venue"))};

    venue answering;
    fix::memory_store numbers_of_the_venue;
    fix::acceptor acceptor(server, fix::acceptor_options(), answering);
    acceptor.add(between("VENUE", "TRADER"), numbers_of_the_venue);
    std::expected<io::tcp_acceptor, std::error_code> port = io::tcp_acceptor::open(server, io::endpoint::any(9'878));
    if (!port) return 1;
    io::task_scope serving(server);
    serving.spawn(acceptor.serve(std::move(*port)));

    world.plan_after(4s, [&] {
        std::cout << "the link is cut\n";
        world.set_isolated(south, true);
    });
    world.plan_after(12s, [&] {
        std::cout << "the link is whole again\n";
        world.set_isolated(south, false);
    });

    trader trading;
    fix::memory_store numbers_of_the_trader;
    fix::initiator_options options;
    options.session = between("TRADER", "VENUE");
    options.servers = {io::endpoint::ipv4({10, 0, 0, 2}, 9'878)};
    options.credentials = [](fix::message_writer& logon) { logon.put(554, "secret"); };
    fix::initiator initiator(client, options, numbers_of_the_trader, trading);
    io::block_on(client, trade_over(&client, &initiator));

    acceptor.close();
    io::block_on(server, serving.join());
    std::cout << "connections: " << initiator.connections_count() << "\n";
}
// [/main]
