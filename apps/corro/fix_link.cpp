// SPDX-License-Identifier: Apache-2.0
#include "fix_link.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "fix/net/connection.hpp"
#include "fix/net/file_store.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "io/tls/tls_errors.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds link_interval{50};
constexpr std::chrono::milliseconds retry_delay_max{5'000};
constexpr double first_logon_wait_seconds = 5;
/// ClOrdIDs of changes begin above those of orders, and differ from run to run.
constexpr std::uint64_t changes_begin = std::uint64_t{1} << 62U;
constexpr unsigned changes_bits = 24;
constexpr std::string_view not_by_fix = "operators ask by Corro Binary";

}  // namespace

fix_link::fix_link(fix_link_settings settings)
    : settings_(std::move(settings)), instruments_(std::move(settings_.instruments)) {}

// With a store the request's number is the end of the order's name, and is never used again. Without one the numbers
// begin again, and names differ by the time of the start.
domain::client_order_id fix_link::next_order() const noexcept {
    return long_number(store_ == nullptr ? 0 : store_->next_sent());
}

domain::client_order_id fix_link::long_number(std::uint64_t short_one) const noexcept {
    return domain::client_order_id{(life_ << 32U) | short_one};
}

io::task<std::string> fix_link::run(link_listener* to) {
    to_ = to;
    io::context& context = co_await io::this_context();
    context_ = &context;
    const auto seconds = static_cast<std::uint64_t>(fix::moment_on(context).wall / 1'000'000'000);
    if (settings_.store.empty()) {
        store_ = std::make_unique<fix::memory_store>();
        life_ = seconds & 0x1fffffffU;
    } else {
        auto opened = co_await fix::file_store::open(context, settings_.store);
        if (!opened) co_return fmt::format("--store {}: {}", settings_.store, opened.error().message());
        store_ = std::move(*opened);
        life_ = settings_.session_number;
    }
    orders_.emplace(instruments_, changes_begin + (seconds << changes_bits));
    settings_.who.resets_numbers = settings_.store.empty();
    fix::initiator_options options = fix_trading::initiator_of(settings_.who, settings_.venue.at);
    settings_.venue.apply_to(options);
    options.retry_delay_max = retry_delay_max;
    session_ = std::make_unique<fix::initiator>(context, std::move(options), *store_, *this);
    away_since_ = fix::moment_on(context).steady;
    if (leaving_) co_return std::string();
    io::task_scope watching(context);
    watching.spawn(watch());
    co_await session_->run();
    watching.request_stop();
    co_await watching.join();
    session_.reset();
    co_return why_;
}

// Ends a session that cannot go on, and one whose program is to end.
io::task<void> fix_link::watch() {
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(link_interval);
        if (stopped) co_return leave();
        const std::chrono::nanoseconds away{fix::moment_on(*context_).steady - away_since_};
        const double allowed =
            was_active_ ? settings_.patience_seconds : first_logon_wait_seconds + settings_.wait_seconds;
        if (connected_ || leaving_) continue;
        // What is wrong with TLS at the first logon is wrong at the next one.
        const std::error_code error = session_->connection_error();
        const bool is_hopeless = !was_active_ && error.category() == io::tls_category();
        if (!is_hopeless && away < std::chrono::duration<double>(allowed)) continue;
        give_up(fmt::format("{}: {}{}", settings_.venue.to_string(),
                            was_active_ ? "the venue did not come back" : "no connection", words_of(error)));
    }
}

void fix_link::give_up(std::string why) {
    why_ = std::move(why);
    leave();
}

void fix_link::leave() noexcept {
    if (std::exchange(leaving_, true)) return;
    connected_ = false;
    if (session_ != nullptr) session_->close();
}

void fix_link::on_active(fix::session& on, fix::instant) {
    connected_ = !leaving_;
    if (std::exchange(was_active_, true)) {
        return to_->say(fmt::format("reconnected; answers continue from number {}", store_->next_received()));
    }
    to_->on_first_logon();
    to_->say(fmt::format("logged on: {}, {}, {} instruments", on.settings().identity.sender_comp_id,
                         on.settings().identity.begin_string, instruments_.count()));
}

void fix_link::on_end(fix::session& on) {
    const bool was_connected = std::exchange(connected_, false);
    if (leaving_) return;
    away_since_ = fix::moment_on(*context_).steady;
    const std::string_view why = on.ended_because().empty() ? "the venue is gone" : on.ended_because();
    if (was_connected) return to_->say(fmt::format("connection lost: {}; reconnecting", why));
    // A venue closes the connection of a Logon that it does not accept.
    const std::error_code error = session_->connection_error();
    if (!was_active_ && error.category() == io::tls_category()) {
        give_up(fmt::format("{}: no connection{}", settings_.venue.to_string(), words_of(error)));
    } else if (!was_active_) {
        give_up(fmt::format(
            "{}: the logon was refused: {}\nThe name, the key or the numbers are not those of the venue, or "
            "another client uses the session; the venue's event log has the reason.",
            settings_.venue.to_string(), why));
    }
}

void fix_link::take(const fix::session& on) {
    const auto answer = orders_->read(on.message());
    if (!answer) return to_->say(fmt::format("the venue contradicts itself: {}", answer.error()));
    if (!*answer) return;
    if ((*answer)->is_reject) {
        return to_->on_refused((*answer)->event.order.client_order,
                               fmt::format("request {} was refused: {}", (*answer)->request_number, (*answer)->text));
    }
    to_->on_event((*answer)->event);
}

std::string_view fix_link::send(const domain::command& request) {
    if (orders_->send(session_->of(), request, fix::moment_on(*context_)) == 0) return "FIX has no such request";
    session_->flush();
    return {};
}

std::string_view fix_link::ask_status(domain::instrument_id) {
    return not_by_fix;
}

std::string_view fix_link::ask_snapshot() {
    return not_by_fix;
}

}  // namespace corro::app
