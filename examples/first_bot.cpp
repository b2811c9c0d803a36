// SPDX-License-Identifier: Apache-2.0
// A bot of the first tutorial: quotes both sides of an instrument, and prints what it trades.
//
//     first_bot CONFIGURATION ACCOUNT SYMBOL SECONDS
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

#include "client/feed_session.hpp"
#include "client/order_entry.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "node/configuration/configuration.hpp"

namespace io = corro::io;
namespace client = corro::client;

// [bot]
struct bot {
    std::unique_ptr<client::order_session> session;
    std::unique_ptr<client::order_entry> orders;
    client::order_number bid = 0;  // the number of the order on this side; 0: none
    client::order_number ask = 0;
    std::string symbol;
    double middle = 0;
    double distance = 0;  // of each quote from the middle
};
// [/bot]

// [quote]
/// Enters an order on each side that has no order.
void quote(bot& b) {
    const auto enter = [&b](client::side side, double price) -> client::order_number {
        const auto number = b.orders->enter(client::limit_order{side, b.symbol, 1, price});
        return number ? *number : 0;
    };
    if (b.bid == 0) b.bid = enter(client::side::buy, b.middle - b.distance);
    if (b.ask == 0) b.ask = enter(client::side::sell, b.middle + b.distance);
}
// [/quote]

// [answers]
/// Takes the venue's answers: prints fills, and forgets orders that have ended.
void take(bot& b, const client::order_update& update) {
    using kind = client::order_update::kind;
    if (update.what == kind::filled) {
        std::cout << (update.side == client::side::buy ? "bought " : "sold   ") << update.units << " at " << std::fixed
                  << std::setprecision(2) << update.price << ", position " << b.orders->position(b.symbol) << std::endl;
        b.middle = update.price;  // the next quotes are around this price
    }
    const bool has_ended = update.open == 0 && update.what != kind::other;
    if (has_ended && update.number == b.bid) b.bid = 0;
    if (has_ended && update.number == b.ask) b.ask = 0;
}

io::task<> trade(bot* b) {
    for (;;) {
        quote(*b);
        const std::error_code broken = co_await b->session->flush();
        if (broken) co_return;
        const auto answer = co_await b->session->next();
        if (!answer) co_return;  // the venue is gone, or the time is over
        take(*b, b->orders->read(*answer));
    }
}
// [/answers]

// [run]
io::task<int> run(corro::node::configuration c, client::credentials who, std::string symbol, int seconds) {
    // The middle of the market, from a snapshot of all books.
    const auto market = co_await client::feed_session::fetch_snapshot(*io::endpoint::parse(c.snapshot_listen));
    if (!market) co_return std::cerr << "no market data: " << market.error().message() << '\n', 1;
    bot b;
    market->instruments().for_each([&](const corro::domain::instrument& i) {
        const auto& top = market->book(i.id)->top();
        if (i.name.view() != symbol) return;
        const double tick = static_cast<double>(i.tick_size.value) / 1e9;
        b.middle = tick * static_cast<double>((top.bid_price.value + top.ask_price.value) / 2);
        b.distance = tick;
    });
    if (b.distance == 0) co_return std::cerr << "no instrument " << symbol << '\n', 1;
    b.symbol = symbol;

    auto session = co_await client::order_session::log_on(*io::endpoint::parse(c.order_entry_listen), who);
    if (!session) co_return std::cerr << "no logon: " << session.error().message() << '\n', 1;
    b.session = std::move(*session);
    b.orders = std::make_unique<client::order_entry>(*b.session);
    io::task_scope beside(co_await io::this_context());
    beside.spawn(b.session->keep_alive());
    const auto limited = co_await io::with_timeout(std::chrono::seconds(seconds), trade(&b));
    static_cast<void>(limited);
    beside.request_stop();
    co_await beside.join();
    const std::error_code left = co_await b.session->log_out();  // the venue cancels what is open
    std::cout << "position " << b.orders->position(symbol) << (left ? ", " + left.message() : "") << std::endl;
    co_return 0;
}
// [/run]

// [main]
int main(int argc, char** argv) {
    if (argc != 5) return std::cerr << "usage: first_bot CONFIGURATION ACCOUNT SYMBOL SECONDS\n", 2;
    try {
        corro::node::configuration c = corro::node::load_configuration(argv[1]);
        client::credentials who;
        for (const corro::gateway::account& a : c.accounts) {
            if (a.name == argv[2]) who.account = a.id, who.key = a.key;
        }
        io::context context;
        return io::block_on(context, run(std::move(c), who, argv[3], std::atoi(argv[4])));
    } catch (const std::exception& e) {
        return std::cerr << e.what() << '\n', 1;
    }
}
// [/main]
