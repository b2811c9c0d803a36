#include "simulation/traders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <string>
#include <vector>

#include "client/session_errors.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t echo_id = 4'711;

/// Whether an error means a lost connection, and not a refusal of the venue.
bool is_broken_connection(std::error_code error) {
    return error.category() == std::system_category() || error.category() == std::generic_category() ||
           error == io::condition::end_of_stream || error == io::condition::timed_out ||
           error == io::condition::canceled;
}

/// The error of work that had a time limit.
std::error_code error_of(const std::expected<std::error_code, std::error_code>& tried) {
    return tried ? *tried : tried.error();
}

std::chrono::nanoseconds since_beginning(const io::context& here) {
    return here.now().time_since_epoch();
}

}  // namespace

// A trader.

io::task<void> trader::run() {
    while (!ending_) {
        const bool is_there = co_await come();
        if (is_there) co_await talk();
        is_on_ = false;
        if (!ending_) static_cast<void>(co_await io::sleep_for(reconnect_pause));
    }
}

io::task<bool> trader::come() {
    const bool there = session_ == nullptr ? co_await come_first() : co_await come_again();
    co_return there;
}

io::task<bool> trader::come_first() {
    auto session =
        co_await io::with_timeout(logon_patience, client::order_session::log_on(settings_.venue, settings_.who));
    if (!session) co_return false;  // no answer in time
    if (!*session) {
        judge(session->error());
        co_return false;
    }
    session_ = std::move(**session);
    std::vector<domain::instrument> instruments;
    session_->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    const std::vector<domain::price_ticks> middles(instruments.size(), domain::price_ticks{9'000});
    trader_ = std::make_unique<client::trader>(client::trader_options(), instruments, middles,
                                               settings_.first_order_name, settings_.seed);
    co_return true;
}

io::task<bool> trader::come_again() {
    ++reconnections_count_;
    const auto tried = co_await io::with_timeout(logon_patience, session_->reconnect(settings_.venue));
    const std::error_code error = error_of(tried);
    if (error) {
        judge(error);
        co_return false;
    }
    if (session_->began_again()) found_->add("O1", "a session's numbers began again within a day");
    if (!session_->resend_not_accepted()) found_->add("O1", "requests that were not accepted cannot be sent again");
    co_return true;
}

/// A refused logon: only what a fault explains is no violation.
void trader::judge(std::error_code refused) {
    if (is_broken_connection(refused)) return;
    if (refused == client::logged_out(wire::logout_reason::already_logged_on)) return;  // not noticed there yet
    if (refused == client::logged_out(wire::logout_reason::shutting_down)) return;
    if (refused == client::logged_out(wire::logout_reason::sequence_unknown)) {
        return found_->add("D1", fmt::format("account {} session {}: the venue does not know what it has acknowledged",
                                             settings_.who.account.value, settings_.who.session_number));
    }
    found_->add("O1", fmt::format("account {} session {}: a logon was refused: {}", settings_.who.account.value,
                                  settings_.who.session_number, refused.message()));
}

io::task<void> trader::talk() {
    is_on_ = true;
    io::task_scope beside(co_await io::this_context());
    beside.spawn(session_->keep_alive());
    co_await exchange_messages();
    beside.request_stop();
    session_->abandon();
    co_await beside.join();
}

/// Sends requests and takes answers until the connection breaks, or is silent for too long.
io::task<void> trader::exchange_messages() {
    const io::context& here = co_await io::this_context();
    std::chrono::nanoseconds heard = since_beginning(here);
    asked_for_echo_ = false;
    while (take_answers() && !ending_) {
        const std::chrono::nanoseconds now = since_beginning(here);
        if (now - heard > 3 * client_heartbeat) co_return;
        send_what_is_due(now);
        if (session_->has_output()) {
            const auto written = co_await io::with_timeout(3 * client_heartbeat, session_->flush());
            if (error_of(written)) co_return;
        }
        const bool waits_for_answers = settings_.think_time.count() == 0;
        const std::chrono::nanoseconds patience =
            waits_for_answers ? 100ms : std::clamp<std::chrono::nanoseconds>(next_send_ - now, 100us, 100ms);
        const auto filled = co_await io::with_timeout(patience, session_->fill());
        const std::error_code read = error_of(filled);
        if (!read) heard = since_beginning(here);
        if (read && read != io::condition::timed_out) co_return;
    }
}

void trader::send_what_is_due(std::chrono::nanoseconds now) {
    if (wants_echo_ && !asked_for_echo_) asked_for_echo_ = session_->send_test(echo_id);
    if (now < next_send_) return;
    next_send_ = now + std::chrono::nanoseconds(static_cast<std::int64_t>(
                           random_.below(static_cast<std::uint64_t>(settings_.think_time.count()) * 2 + 1)));
    do {
        if (finishing_ || trader_->outstanding_count() >= settings_.outstanding_max) return;
        if (session_->send(trader_->next_request()) == 0) found_->add("O1", "a request does not fit an empty buffer");
    } while (settings_.think_time.count() == 0);
}

/// Takes the answers that have arrived. False if the session has ended.
bool trader::take_answers() {
    for (;;) {
        const auto got = session_->poll();
        if (!got) {
            const std::error_code error = got.error();
            const bool is_expected = error == client::logged_out(wire::logout_reason::shutting_down) ||
                                     error == client::logged_out(wire::logout_reason::idle_timeout) ||
                                     error == client::logged_out(wire::logout_reason::slow_consumer);
            const bool is_gap = error == client::session_errc::sequence_gap;
            if (!is_expected) found_->add(is_gap ? "C3" : "O1", "a session has ended: " + error.message());
            return false;
        }
        if (!*got) {
            if (wants_echo_ && session_->last_echo() == echo_id) has_echo_ = true;
            return true;
        }
        take(**got);
    }
}

void trader::take(const client::answer& one) {
    if (one.told != nullptr) return;
    if (one.reject)
        return found_->add(
            "O1", fmt::format("request {} of account {} session {} was rejected by its session for reason {}",
                              one.reject->refused_sequence.value, settings_.who.account.value,
                              settings_.who.session_number, static_cast<int>(one.reject->session_reject_reason)));
    if (one.gap) return found_->add("O1", "the venue no longer has answers that were never received");
    if (one.sequence != 0) {
        if (one.sequence != last_sequence_ + 1) {
            found_->add("C3", fmt::format("answer {} came after answer {}", one.sequence, last_sequence_));
        }
        last_sequence_ = one.sequence;
        if (one.event.time < last_time_) found_->add("C4", "an answer is older than the one before it");
        last_time_ = one.event.time;
    }
    if (is_of_a_stranger(one.event)) found_->add("S8", "an answer is about another session's order");
    ++answers_count_;
    static_cast<void>(trader_->on_event(one.event));
}

/// Whether an answer names an order that this trader has not named.
bool trader::is_of_a_stranger(const domain::event& event) const noexcept {
    const bool names_order = event.kind == domain::event_kind::order_entered ||
                             event.kind == domain::event_kind::order_amended ||
                             event.kind == domain::event_kind::order_cancelled;
    if (!names_order) return false;
    const std::uint64_t name = event.order.client_order.value;
    return name < settings_.first_order_name || name >= settings_.first_order_name + order_names_count;
}

// The subscriber.

io::task<void> subscriber::run() {
    while (!ending_) {
        const bool is_there = co_await come();
        if (is_there) co_await follow();
        if (!ending_) static_cast<void>(co_await io::sleep_for(reconnect_pause));
    }
    if (session_ != nullptr) session_->abandon();
}

io::task<bool> subscriber::come() {
    if (session_ != nullptr) {
        const auto tried = co_await io::with_timeout(logon_patience, session_->resume(feed_endpoint_));
        const std::error_code error = error_of(tried);
        if (error && !is_broken_connection(error)) found_->add("N1", "the feed has a gap: " + error.message());
        co_return !error;
    }
    auto joined =
        co_await io::with_timeout(logon_patience, client::feed_session::join(feed_endpoint_, snapshot_endpoint_));
    if (!joined) co_return false;
    if (!*joined) {
        if (!is_broken_connection(joined->error())) {
            found_->add("N1", "nobody can join the feed: " + joined->error().message());
        }
        co_return false;
    }
    session_ = std::move(**joined);
    co_return true;
}

io::task<void> subscriber::follow() {
    const io::context& here = co_await io::this_context();
    io::task_scope beside(co_await io::this_context());
    beside.spawn(session_->keep_alive());
    std::chrono::nanoseconds heard = since_beginning(here);
    while (!ending_) {
        const auto event = session_->poll();
        if (!event) {
            found_->add("N1", "the feed contradicts itself: " + event.error().message());
            break;
        }
        if (*event) {
            ++messages_count_;
            continue;
        }
        const auto filled = co_await io::with_timeout(100ms, session_->fill());
        const std::error_code read = error_of(filled);
        if (!read) heard = since_beginning(here);
        if (read && read != io::condition::timed_out) break;
        if (since_beginning(here) - heard > 20s) break;  // the feed's heartbeats have stopped
    }
    beside.request_stop();
    session_->abandon();
    co_await beside.join();
}

}  // namespace corro::simulation
