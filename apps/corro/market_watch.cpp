// SPDX-License-Identifier: Apache-2.0
#include "market_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "client/feed_session.hpp"
#include "client/session_errors.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "screen.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds frame_interval{100};
constexpr std::uint32_t frames_per_second = 10;
constexpr std::chrono::milliseconds feed_retry_interval{100};

/// The state that the reader and the screen share.
struct watching {
    watch_settings settings;
    std::unique_ptr<client::feed_session> feed;
    market_view view;
    std::optional<screen> picture;
    watch_result result;
    bool leaving = false;
    std::error_code lost;  ///< the error that ended the feed
};

// Reads until the feed ends. Stores the error in `lost`.
io::task<void> read_feed(watching* w) {
    while (true) {
        const auto event = w->feed->poll();
        if (!event) {
            w->lost = event.error();
            co_return;
        }
        if (*event) {
            w->view.on_event(**event);
            continue;
        }
        w->lost = co_await w->feed->fill();
        if (w->lost) co_return;
    }
}

void say(watching& w, const std::string& what) {
    if (w.picture) {
        w.picture->say(what);
    } else {
        fmt::print(stderr, "{}\n", what);
    }
}

// Tries once to rejoin: from the next message, or from a snapshot.
io::task<std::error_code> find_feed_again(watching* w, bool* resuming) {
    if (*resuming) {
        const std::error_code error = co_await w->feed->resume(w->settings.feed);
        if (client::may_come_back(error) || error == io::condition::canceled || !error) co_return error;
        *resuming = false;
    }
    auto joined = co_await client::feed_session::join(w->settings.feed, w->settings.snapshot);
    if (!joined) co_return joined.error();
    w->feed = std::move(*joined);
    co_return std::error_code();
}

// Retries until the feed is back. False if the time is over.
io::task<bool> come_back(watching* w) {
    const auto began = std::chrono::steady_clock::now();
    say(*w, "feed lost: " + w->lost.message());
    bool resuming = client::may_come_back(w->lost);
    while (true) {
        const std::error_code error = co_await find_feed_again(w, &resuming);
        const double away_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        if (!error) {
            w->result.away_s_max = std::max(w->result.away_s_max, away_s);
            ++(resuming ? w->result.resumes : w->result.joins);
            say(*w, resuming ? fmt::format("feed back after {:.3f} s, nothing missed", away_s)
                             : fmt::format("feed back after {:.3f} s, from a snapshot: messages were missed", away_s));
            co_return true;
        }
        w->lost = error;
        if (away_s >= w->settings.patience_s) co_return false;
        const std::error_code stopped = co_await io::sleep_for(feed_retry_interval);
        if (stopped) co_return false;
    }
}

// Follows the feed over reconnections. Ends the program's view if the feed does not come back.
io::task<void> follow(watching* w, io::task_scope* all) {
    io::context& context = co_await io::this_context();
    while (!w->leaving) {
        io::task_scope beating(context);
        beating.spawn(w->feed->keep_alive());
        co_await read_feed(w);
        beating.request_stop();
        co_await beating.join();
        w->leaving = w->leaving || w->lost == client::session_errc::end_of_session;
        if (w->leaving || w->lost == io::condition::canceled) break;
        const bool back = co_await come_back(w);
        if (!back) break;
    }
    w->result.error = w->lost.message();
    all->request_stop();
}

// Joins for the first time. Waits for a venue that is starting.
io::task<std::error_code> join_first(watching* w) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(w->settings.wait_s);
    while (true) {
        auto joined = co_await client::feed_session::join(w->settings.feed, w->settings.snapshot);
        if (joined) {
            w->feed = std::move(*joined);
            co_return std::error_code();
        }
        if (!may_be_starting(joined.error()) || std::chrono::steady_clock::now() >= end) co_return joined.error();
        const std::error_code stopped = co_await io::sleep_for(feed_retry_interval);
        if (stopped) co_return stopped;
    }
}

void print_line(const watching& w) {
    std::optional<domain::instrument> shown;
    w.feed->instruments().for_each([&](const domain::instrument& i) {
        if (!shown && (w.settings.symbol.empty() || i.name.view() == w.settings.symbol)) shown = i;
    });
    if (!shown) return;
    fmt::print("{}  {:>7} messages/s  {:>5} trades/s\n", market_view::summary(*w.feed, *shown),
               w.view.messages_per_second(), w.view.trades_per_second());
    std::fflush(stdout);
}

io::task<void> paint(watching* w, io::task_scope* all) {
    std::uint32_t frames = 0;
    while (!co_await io::sleep_for(frame_interval)) {
        if (++frames % frames_per_second == 0) {
            w->view.on_second();
            if (!w->picture) print_line(*w);
        }
        if (w->picture) {
            if (!w->picture->handle_keys()) w->leaving = true;
            w->picture->draw(*w->feed, w->view, w->settings.headline);
        }
        if (w->settings.seconds > 0 && frames >= w->settings.seconds * frames_per_second) w->leaving = true;
        if (w->leaving) all->request_stop();
    }
}

// Returns an error with the venue's instruments if the symbol is unknown.
std::string check_symbol(const watching& w) {
    if (w.settings.symbol.empty()) return {};
    std::string names;
    bool found = false;
    w.feed->instruments().for_each([&](const domain::instrument& i) {
        found = found || i.name.view() == w.settings.symbol;
        names += (names.empty() ? "" : ", ") + std::string(i.name.view());
    });
    return found ? std::string() : fmt::format("no instrument \"{}\"; the venue has: {}", w.settings.symbol, names);
}

void choose_symbol(watching& w) {
    std::size_t index = 0;
    w.feed->instruments().for_each([&](const domain::instrument& i) {
        if (i.name.view() == w.settings.symbol && w.picture) w.picture->show(index);
        ++index;
    });
}

}  // namespace

io::task<watch_result> watch_market(watch_settings settings) {
    io::context& context = co_await io::this_context();
    const io::stop_token stop = co_await io::this_stop_token();
    watching w;
    w.settings = std::move(settings);
    const std::error_code failed = co_await join_first(&w);
    if (!failed) {
        w.result.joins = 1;
        w.result.error = check_symbol(w);
    } else {
        w.result.error = fmt::format("cannot join the feed {} with the snapshots {}: {}", w.settings.feed.to_string(),
                                     w.settings.snapshot.to_string(), failed.message());
    }
    if (w.result.error.empty()) {
        if (w.settings.picture) {
            w.picture.emplace();
            w.picture->set_details(w.settings.details);
            choose_symbol(w);
        }
        io::task_scope all(context);
        all.spawn(follow(&w, &all));
        all.spawn(paint(&w, &all));
        co_await all.join();
    }
    w.picture.reset();
    w.result.messages = w.view.messages_count();
    w.result.trades = w.view.trades_count();
    if (w.leaving || stop.stop_requested()) w.result.error.clear();
    co_return w.result;
}

io::task<void> watch_market_into(watch_settings settings, watch_result* into) {
    *into = co_await watch_market(std::move(settings));
}

}  // namespace corro::app
