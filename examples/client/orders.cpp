// SPDX-License-Identifier: Apache-2.0
// Orders of two accounts trade with each other: typed orders in, fills and signed positions out.
//
//     orders VENUE SYMBOL PRICE SELLER KEY BUYER KEY
#include <cstdlib>
#include <iostream>
#include <string>

#include "client/order_entry.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "words.hpp"

namespace client = corro::client;
namespace io = corro::io;
using kind = client::order_update::kind;

io::task<int> trade(client::venue_endpoint where, std::string symbol, double price, client::credentials seller,
                    client::credentials buyer) {
    const auto ask = co_await client::order_session::log_on(where, seller);
    if (!ask) co_return std::cerr << "the seller cannot log on: " << ask.error().message() << '\n', 1;
    const auto bid = co_await client::order_session::log_on(where, buyer);
    if (!bid) co_return std::cerr << "the buyer cannot log on: " << bid.error().message() << '\n', 1;
    client::order_entry sells(**ask);
    client::order_entry buys(**bid);

    // [orders]
    const auto offer = sells.enter(client::limit_order{client::side::sell, symbol, 30, price});
    if (!offer) co_return std::cerr << "not an order: " << to_string(offer.error()) << '\n', 1;
    const bool offered = co_await words::read_until(ask->get(), &sells, "seller", kind::accepted);
    if (!offered) co_return 1;
    const auto lift = buys.enter(client::market_order{client::side::buy, symbol, 20});
    if (!lift) co_return std::cerr << "not an order: " << to_string(lift.error()) << '\n', 1;
    const bool bought = co_await words::read_until(bid->get(), &buys, "buyer", kind::filled);
    const bool sold = co_await words::read_until(ask->get(), &sells, "seller", kind::filled);
    if (!bought || !sold) co_return 1;
    // What is left is cancelled.
    const auto refused = sells.cancel(*offer);
    const bool ended = co_await words::read_until(ask->get(), &sells, "seller", kind::cancelled);
    if (refused != corro::domain::reject_reason::none || !ended) co_return 1;
    std::cout << "seller " << sells.position(symbol) << ", buyer " << buys.position(symbol) << '\n';
    // [/orders]

    const std::error_code left = co_await (*ask)->log_out();
    const std::error_code left_too = co_await (*bid)->log_out();
    co_return left || left_too ? 1 : 0;
}

int main(int argc, char** argv) {
    if (argc != 8) return std::cerr << "usage: orders VENUE SYMBOL PRICE SELLER KEY BUYER KEY\n", 2;
    io::context context;
    return io::block_on(context, trade(words::venue(argv[1]), argv[2], std::atof(argv[3]),
                                       words::account(argv[4], argv[5]), words::account(argv[6], argv[7])));
}
