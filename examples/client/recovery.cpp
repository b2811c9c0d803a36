// SPDX-License-Identifier: Apache-2.0
// Enters orders and cancels them until the time is over. When the connection breaks, it comes back, and continues
// where it was: nothing is lost, nothing counts twice.
//
//     recovery VENUE SYMBOL PRICE SECONDS ACCOUNT KEY
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "client/order_entry.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "words.hpp"

namespace client = corro::client;
namespace io = corro::io;
using kind = client::order_update::kind;

struct rounds {
    std::uint64_t entered = 0;
    std::uint64_t accepted = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t cuts = 0;
};

// [next]
/// The next answer about an order, over as many connections as it takes.
io::task<client::order_update> next_update(client::order_session* session, client::order_entry* orders,
                                           client::venue_endpoint where, rounds* count) {
    for (;;) {
        const auto answer = co_await session->next();
        if (answer) {
            const client::order_update update = orders->read(*answer);
            if (update.what != kind::other) co_return update;
            continue;
        }
        if (!client::may_come_back(answer.error())) {
            std::cerr << "the session has ended: " << answer.error().message() << '\n';
            std::exit(1);
        }
        ++count->cuts;
        const std::error_code error = co_await words::come_back(session, where);
        // What the venue has accepted, it answers. What it has not, is sent again, under its old number.
        if (error || !session->resend_not_accepted()) {
            std::cerr << "the session cannot continue: " << error.message() << '\n';
            std::exit(1);
        }
    }
}
// [/next]

io::task<int> trade(client::venue_endpoint where, std::string symbol, double price, int seconds,
                    client::credentials who) {
    who.cancel_on_disconnect = false;
    const auto session = co_await client::order_session::log_on(where, who);
    if (!session) co_return std::cerr << "no logon: " << session.error().message() << '\n', 1;
    client::order_entry orders(**session);
    rounds count;
    io::context& context = co_await io::this_context();
    const auto end = context.now() + std::chrono::seconds(seconds);
    while (context.now() < end) {
        const auto order = orders.enter(client::limit_order{client::side::buy, symbol, 10, price});
        if (!order) co_return std::cerr << "not an order: " << to_string(order.error()) << '\n', 1;
        ++count.entered;
        const client::order_update first = co_await next_update(session->get(), &orders, where, &count);
        count.accepted += first.what == kind::accepted && first.number == *order ? 1U : 0U;
        const auto refused = orders.cancel(*order);
        if (refused != corro::domain::reject_reason::none) co_return std::cerr << to_string(refused) << '\n', 1;
        const client::order_update second = co_await next_update(session->get(), &orders, where, &count);
        count.cancelled += second.what == kind::cancelled && second.number == *order ? 1U : 0U;
    }
    const std::error_code left = co_await (*session)->log_out();
    std::cout << count.entered << " entered, " << count.accepted << " accepted once, " << count.cancelled
              << " cancelled once, " << orders.open_orders().size() << " open, " << count.cuts << " cuts\n";
    co_return left ? 1 : 0;
}

int main(int argc, char** argv) {
    if (argc != 7) return std::cerr << "usage: recovery VENUE SYMBOL PRICE SECONDS ACCOUNT KEY\n", 2;
    io::context context;
    return io::block_on(context, trade(words::venue(argv[1]), argv[2], std::atof(argv[3]), std::atoi(argv[4]),
                                       words::account(argv[5], argv[6])));
}
