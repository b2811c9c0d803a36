// SPDX-License-Identifier: Apache-2.0
// A bot of the first tutorial: quotes both sides of an instrument, and prints what it trades.
//
//     first_bot CONFIGURATION ACCOUNT SYMBOL SECONDS
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>

#include "client/feed_session.hpp"
#include "client/trading_session.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"
#include "node/configuration/configuration.hpp"
#include "node/configuration/credentials.hpp"

namespace io = corro::io;
namespace client = corro::client;

// [bot]
struct bot {
    client::trading_session venue;
    std::string symbol;
    double middle;
    double distance;  // of each price from the middle
};
// [/bot]

// [trade]
/// Offers to buy and to sell one unit, instead of what was offered before.
void quote(bot& b) {
    const auto number = b.venue.enter(client::quote{b.symbol, 1, b.middle - b.distance, 1, b.middle + b.distance});
    if (!number) std::cerr << "not a quote: " << to_string(number.error()) << std::endl;
}

io::task<> trade(bot* b) {
    quote(*b);
    for (;;) {
        const auto update = co_await b->venue.next();
        if (!update) co_return;  // the venue is gone, or the time is over
        if (update->what != client::order_update::kind::filled) continue;
        std::cout << (update->side == client::side::buy ? "bought " : "sold   ") << update->units << " at "
                  << std::fixed << std::setprecision(2) << update->price << ", position "
                  << b->venue.position(b->symbol) << std::endl;
        b->middle = update->price;  // the next prices are around this one
        quote(*b);
    }
}
// [/trade]

// [run]
io::task<int> run(corro::node::configuration c, std::string account, std::string symbol, int seconds) {
    const auto market = co_await client::feed_session::fetch_best(*io::endpoint::parse(c.snapshot_listen), symbol);
    if (!market) co_return std::cerr << "no price of " << symbol << ": " << market.error().message() << '\n', 1;
    auto venue = co_await client::trading_session::log_on(*io::endpoint::parse(c.order_entry_listen),
                                                          corro::node::credentials_of(c, account));
    if (!venue) co_return std::cerr << "no logon: " << venue.error().message() << '\n', 1;
    bot b{std::move(*venue), symbol, market->middle, market->tick};
    static_cast<void>(co_await io::with_timeout(std::chrono::seconds(seconds), trade(&b)));
    const std::error_code left = co_await b.venue.log_out();  // the venue cancels what is open
    std::cout << "position " << b.venue.position(symbol) << (left ? ", " + left.message() : "") << std::endl;
    co_return 0;
}
// [/run]

// [main]
int main(int argc, char** argv) {
    if (argc != 5) return std::cerr << "usage: first_bot CONFIGURATION ACCOUNT SYMBOL SECONDS\n", 2;
    try {
        io::context context;
        return io::block_on(context,
                            run(corro::node::load_configuration(argv[1]), argv[2], argv[3], std::atoi(argv[4])));
    } catch (const std::exception& e) {
        return std::cerr << e.what() << '\n', 1;
    }
}
// [/main]
