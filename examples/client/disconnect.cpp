// SPDX-License-Identifier: Apache-2.0
// Two sessions of an account enter an order each and lose their connections. The venue cancels the order of the one
// that has asked for it.
//
//     disconnect VENUE SYMBOL PRICE ACCOUNT KEY
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

io::task<int> lose(client::venue_endpoint where, std::string symbol, double price, client::credentials who) {
    // [disconnect]
    who.session_number = 1;
    who.cancel_on_disconnect = true;
    const auto careful = co_await client::order_session::log_on(where, who);
    who.session_number = 2;
    who.cancel_on_disconnect = false;
    const auto patient = co_await client::order_session::log_on(where, who);
    if (!careful || !patient) co_return std::cerr << "no logon\n", 1;
    client::order_entry first(**careful);
    client::order_entry second(**patient);
    const auto one = first.enter(client::limit_order{client::side::buy, symbol, 10, price});
    const auto two = second.enter(client::limit_order{client::side::buy, symbol, 10, price});
    if (!one || !two) co_return std::cerr << "not an order\n", 1;
    const bool is_in = co_await words::read_until(careful->get(), &first, "careful", kind::accepted);
    const bool is_in_too = co_await words::read_until(patient->get(), &second, "patient", kind::accepted);
    if (!is_in || !is_in_too) co_return 1;

    (*careful)->abandon();  // as if the cable had been pulled
    (*patient)->abandon();
    const std::error_code back = co_await words::come_back(careful->get(), where);
    const std::error_code back_too = co_await words::come_back(patient->get(), where);
    if (back || back_too) co_return std::cerr << "no reconnection\n", 1;
    // The answers that were missed follow.
    const bool was_cancelled = co_await words::read_until(careful->get(), &first, "careful", kind::cancelled);
    std::cout << "careful has " << first.open_orders().size() << " open orders, patient " << second.open_orders().size()
              << '\n';
    // [/disconnect]
    const auto refused = second.cancel(*two);
    const bool is_out = co_await words::read_until(patient->get(), &second, "patient", kind::cancelled);
    if (!was_cancelled || !is_out || refused != corro::domain::reject_reason::none) co_return 1;
    const std::error_code left = co_await (*careful)->log_out();
    const std::error_code left_too = co_await (*patient)->log_out();
    co_return left || left_too ? 1 : 0;
}

int main(int argc, char** argv) {
    if (argc != 6) return std::cerr << "usage: disconnect VENUE SYMBOL PRICE ACCOUNT KEY\n", 2;
    io::context context;
    return io::block_on(context,
                        lose(words::venue(argv[1]), argv[2], std::atof(argv[3]), words::account(argv[4], argv[5])));
}
