// SPDX-License-Identifier: Apache-2.0
// What the examples of the client library share: their arguments, and their output in words.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "client/order_entry.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/venue_endpoint.hpp"
#include "io/loop/timer.hpp"
#include "io/task/task.hpp"
#include "wire/authentication.hpp"

namespace words {

namespace client = corro::client;
namespace io = corro::io;

/// The account that a program trades for: a number and a key, as the venue's configuration has them.
inline client::credentials account(std::string_view number, std::string_view key) {
    client::credentials who;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), who.account.value);
    const auto parsed = corro::wire::parse_api_key(key);
    if (read.ec != std::errc() || read.ptr != number.data() + number.size() || !parsed) {
        std::cerr << "an account is its number and a key of 64 hexadecimal digits\n";
        std::exit(2);
    }
    who.key = *parsed;
    return who;
}

/// The address of a venue: "127.0.0.1:7001", "unix:/run/corro/orders", "shm:/run/corro/orders_shm".
inline client::venue_endpoint venue(std::string_view text) {
    const auto parsed = client::venue_endpoint::parse(text);
    if (!parsed) {
        std::cerr << text << " is not an address\n";
        std::exit(2);
    }
    return *parsed;
}

/// One line for an answer of the venue.
inline void print(std::string_view who, const client::order_update& u) {
    using kind = client::order_update::kind;
    std::cout << who << ": " << u.symbol << ' ' << u.number << ' ';
    const auto* side = u.side == client::side::buy ? "buy" : "sell";
    const auto price = [&u] { std::cout << std::fixed << std::setprecision(2) << u.price; };
    switch (u.what) {
        case kind::accepted: std::cout << "accepted, " << side << ' ' << u.open << " at ", price(); break;
        case kind::amended: std::cout << "amended, " << side << ' ' << u.open << " at ", price(); break;
        case kind::filled:
            std::cout << "filled, " << side << ' ' << u.units << " at ", price();
            std::cout << ", " << u.open << " open";
            break;
        case kind::cancelled: std::cout << "cancelled, " << u.units << " units"; break;
        case kind::refused: std::cout << "refused: " << to_string(u.reason); break;
        case kind::quoted: std::cout << "quoted, bid " << u.open << ", ask " << u.ask_open; break;
        case kind::other: std::cout << "other"; break;
    }
    std::cout << std::endl;
}

/// Reads answers until one is of this kind. False when the session has broken.
inline io::task<bool> read_until(client::order_session* session, client::order_entry* orders, std::string who,
                                 client::order_update::kind wanted) {
    for (;;) {
        const auto answer = co_await session->next();
        if (!answer) {
            std::cerr << who << ": " << answer.error().message() << '\n';
            co_return false;
        }
        const client::order_update update = orders->read(*answer);
        if (update.what == client::order_update::kind::other) continue;
        print(who, update);
        if (update.what == wanted) co_return true;
    }
}

/// Connects a session again, for at least a minute while the venue may come back.
inline io::task<std::error_code> come_back(client::order_session* session, client::venue_endpoint where) {
    for (int attempt = 0; attempt < 1'200; ++attempt) {
        const std::error_code error = co_await session->reconnect(where);
        if (!error || !client::may_come_back(error)) co_return error;
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(50));
        if (stopped) co_return stopped;
    }
    co_return std::make_error_code(std::errc::timed_out);
}

}  // namespace words
