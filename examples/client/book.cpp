// SPDX-License-Identifier: Apache-2.0
// Follows the book of an instrument by the feed, prints its best prices whenever they change, and the book at the end.
//
//     book FEED SNAPSHOT SYMBOL CHANGES
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>

#include "client/feed_session.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "words.hpp"

namespace client = corro::client;
namespace domain = corro::domain;
namespace io = corro::io;

double price_of(const domain::instrument& i, domain::price_ticks price) {
    return price == domain::no_price ? 0 : static_cast<double>(domain::to_nano(i, price).value) / 1e9;
}

// [book]
io::task<int> follow(client::feed_session* feed, domain::instrument i, int changes) {
    std::cout << std::fixed << std::setprecision(2);
    while (changes > 0) {
        const auto event = feed->poll();  // the next message, applied to its book
        if (!event) co_return std::cerr << "the feed has ended: " << event.error().message() << '\n', 1;
        if (!*event) {
            const std::error_code error = co_await feed->fill();
            if (error) co_return std::cerr << "the feed is cut: " << error.message() << '\n', 1;
            continue;
        }
        if ((*event)->kind != domain::event_kind::top_of_book || (*event)->instrument != i.id) continue;
        const domain::top& best = (*event)->top;
        std::cout << "bid " << best.bid_quantity.value * i.lot_size << " at " << price_of(i, best.bid_price) << ", ask "
                  << best.ask_quantity.value * i.lot_size << " at " << price_of(i, best.ask_price) << std::endl;
        --changes;
    }
    const corro::feed::book_image& book = *feed->book(i.id);
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        for (const auto& level : book.levels(side, 5)) {
            std::cout << (side == domain::side::buy ? "buy  " : "sell ") << level.quantity.value * i.lot_size << " at "
                      << price_of(i, level.price) << ", " << level.orders_count << " orders\n";
        }
    }
    co_return 0;
}
// [/book]

io::task<int> run(client::venue_endpoint feed_at, client::venue_endpoint snapshot_at, std::string symbol, int changes) {
    const auto feed = co_await client::feed_session::join(feed_at, snapshot_at);
    if (!feed) co_return std::cerr << "no feed: " << feed.error().message() << '\n', 1;
    domain::instrument found;
    (*feed)->instruments().for_each([&](const domain::instrument& each) {
        if (each.name.view() == symbol) found = each;
    });
    if (found.id.value == 0) co_return std::cerr << "no instrument " << symbol << '\n', 1;
    std::cout << "joined behind command " << (*feed)->last_command() << std::endl;
    io::task_scope beside(co_await io::this_context());
    beside.spawn((*feed)->keep_alive());
    const int result = co_await follow(feed->get(), found, changes);
    beside.request_stop();
    co_await beside.join();
    co_return result;
}

int main(int argc, char** argv) {
    if (argc != 5) return std::cerr << "usage: book FEED SNAPSHOT SYMBOL CHANGES\n", 2;
    io::context context;
    return io::block_on(context, run(words::venue(argv[1]), words::venue(argv[2]), argv[3], std::atoi(argv[4])));
}
