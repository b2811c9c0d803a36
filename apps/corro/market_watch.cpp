#include "market_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "client/feed_session.hpp"
#include "client/session_errors.hpp"
#include "io/scope.hpp"
#include "io/timer.hpp"
#include "screen.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds frame_interval{100};
constexpr std::uint32_t frames_per_second = 10;
constexpr std::chrono::milliseconds rejoin_delay{500};
constexpr std::uint32_t failed_joins_max = 20;

/// What reader and painter share.
struct watching {
    watch_settings settings;
    std::unique_ptr<client::feed_session> feed;
    market_view view;
    std::optional<screen> picture;
    watch_result result;
    bool leaving = false;
    io::task_scope* scope = nullptr;
};

io::task<void> read_feed(watching* w) {
    while (true) {
        const auto event = w->feed->poll();
        if (event && *event) {
            w->view.on_event(**event);
            continue;
        }
        std::error_code error;
        if (!event) {
            error = event.error();
        } else {
            error = co_await w->feed->fill();
        }
        if (!error) continue;
        if (error != io::condition::canceled) w->result.error = error.message();
        if (error == client::session_errc::end_of_session) w->leaving = true;
        w->scope->request_stop();
        co_return;
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

io::task<void> paint(watching* w) {
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
        if (w->leaving) w->scope->request_stop();
    }
}

// An instrument that the venue does not have is an error worth a list.
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
    std::uint32_t failed_joins = 0;
    while (!w.leaving && !stop.stop_requested()) {
        auto joined = co_await client::feed_session::join(w.settings.feed, w.settings.snapshot);
        if (!joined) {
            if (joined.error() == io::condition::canceled) break;
            w.result.error = joined.error().message();
            if (w.picture) w.picture->say("Joining the feed again: " + w.result.error);
            if (++failed_joins == failed_joins_max || w.result.joins == 0) break;
            if (co_await io::sleep_for(rejoin_delay)) break;
            continue;
        }
        failed_joins = 0;
        w.feed = std::move(*joined);
        w.result.error.clear();
        if (++w.result.joins == 1) {
            w.result.error = check_symbol(w);
            if (!w.result.error.empty()) break;
            if (w.settings.picture) {
                w.picture.emplace();
                choose_symbol(w);
            }
        }
        io::task_scope following(context);
        w.scope = &following;
        following.spawn(read_feed(&w));
        following.spawn(w.feed->keep_alive());
        following.spawn(paint(&w));
        co_await following.join();
        w.scope = nullptr;
    }
    w.picture.reset();
    w.result.messages = w.view.messages_count();
    w.result.trades = w.view.trades_count();
    if (w.leaving || stop.stop_requested()) w.result.error.clear();
    co_return w.result;
}

}  // namespace corro::app
