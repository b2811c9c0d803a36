// SPDX-License-Identifier: Apache-2.0
// Quotes both sides of several instruments with one message, trades with another account, and withdraws the quotes.
//
//     quotes VENUE MAKER KEY TAKER KEY SYMBOL PRICE [SYMBOL PRICE ...]
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "client/order_entry.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "wire/binary_codec.hpp"
#include "words.hpp"

namespace client = corro::client;
namespace io = corro::io;
using kind = client::order_update::kind;

struct market {
    std::string symbol;
    double price = 0;
};

/// Sends the quotes and reads an answer for each. False when one was refused.
io::task<bool> send(client::order_session* session, client::order_entry* maker, std::vector<client::quote> quotes) {
    const auto number = maker->enter(std::span<const client::quote>(quotes));
    if (!number) co_return std::cerr << "not a quote: " << to_string(number.error()) << '\n', false;
    for (std::size_t k = 0; k < quotes.size(); ++k) {
        const bool is_in = co_await words::read_until(session, maker, "maker", kind::quoted);
        if (!is_in) co_return false;
    }
    co_return true;
}

io::task<int> make(client::venue_endpoint where, client::credentials who, client::credentials other,
                   std::vector<market> markets) {
    const auto session = co_await client::order_session::log_on(where, who);
    if (!session) co_return std::cerr << "no logon: " << session.error().message() << '\n', 1;
    const auto counterparty = co_await client::order_session::log_on(where, other);
    if (!counterparty) co_return std::cerr << "no logon: " << counterparty.error().message() << '\n', 1;
    client::order_entry maker(**session);
    client::order_entry taker(**counterparty);

    // [quotes]
    std::vector<client::quote> quotes;
    for (const market& m : markets) quotes.push_back({m.symbol, 20, m.price, 20, m.price + 1});
    const bool are_in = co_await send(session->get(), &maker, quotes);
    if (!are_in) co_return 1;
    // Another trader sells to the first of them.
    const auto hit = taker.enter(client::limit_order{client::side::sell, markets[0].symbol, 10, markets[0].price});
    const bool sold = co_await words::read_until(counterparty->get(), &taker, "taker", kind::filled);
    const bool bought = co_await words::read_until(session->get(), &maker, "maker", kind::filled);
    if (!hit || !sold || !bought) co_return 1;
    std::cout << "maker " << maker.position(markets[0].symbol) << '\n';
    // A side of no units is withdrawn.
    for (client::quote& q : quotes) q.bid_units = q.ask_units = 0;
    const bool are_out = co_await send(session->get(), &maker, quotes);
    if (!are_out) co_return 1;
    // [/quotes]

    const std::error_code left = co_await (*session)->log_out();
    const std::error_code left_too = co_await (*counterparty)->log_out();
    co_return left || left_too ? 1 : 0;
}

int main(int argc, char** argv) {
    const int count = (argc - 6) / 2;
    if (argc < 8 || argc % 2 != 0 || count > static_cast<int>(corro::wire::mass_quote_max)) {
        return std::cerr << "usage: quotes VENUE MAKER KEY TAKER KEY SYMBOL PRICE [SYMBOL PRICE ...]\n", 2;
    }
    std::vector<market> markets;
    for (int k = 6; k < argc; k += 2) markets.push_back({argv[k], std::atof(argv[k + 1])});
    io::context context;
    return io::block_on(context, make(words::venue(argv[1]), words::account(argv[2], argv[3]),
                                      words::account(argv[4], argv[5]), markets));
}
