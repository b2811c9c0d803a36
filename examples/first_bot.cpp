// SPDX-License-Identifier: Apache-2.0
// A bot of the first tutorial: quotes both sides of an instrument, and prints what it trades.
//
//     first_bot ORDERS PRICES ACCOUNT KEY SYMBOL SECONDS
//
// ORDERS and PRICES are addresses of a venue: order entry, and snapshots of its books.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include "client/feed_session.hpp"
#include "client/trading_session.hpp"
#include "client/venue_endpoint.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"
#include "wire/authentication.hpp"

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
io::task<int> run(client::venue_endpoint orders, client::venue_endpoint prices, client::credentials who,
                  std::string symbol, int seconds) {
    const auto market = co_await client::feed_session::fetch_best(prices, symbol);
    if (!market) co_return std::cerr << "no price of " << symbol << ": " << market.error().message() << '\n', 1;
    auto venue = co_await client::trading_session::log_on(orders, who);
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
    if (argc != 7) return std::cerr << "usage: first_bot ORDERS PRICES ACCOUNT KEY SYMBOL SECONDS\n", 2;
    const auto orders = client::venue_endpoint::parse(argv[1]);
    const auto prices = client::venue_endpoint::parse(argv[2]);
    const auto key = corro::wire::parse_api_key(argv[4]);
    if (!orders || !prices) return std::cerr << "an address is a host and a port: 127.0.0.1:7001\n", 2;
    if (!key) return std::cerr << "a key has 64 hexadecimal digits\n", 2;
    client::credentials who;
    who.account.value = static_cast<std::uint32_t>(std::atoi(argv[3]));
    who.key = *key;
    io::context context;
    return io::block_on(context, run(*orders, *prices, who, argv[5], std::atoi(argv[6])));
}
// [/main]
