// SPDX-License-Identifier: Apache-2.0
#include "binary_link.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "client/session_errors.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "venue_access.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds retry_delay{500};
constexpr std::string_view buffer_is_full = "the output buffer is full";

/// Whether a retry cannot succeed.
bool is_final(const std::error_code& error) {
    const auto code = [](wire::logout_reason reason) { return client::logged_out(reason); };
    return error == code(wire::logout_reason::authentication_failed) ||
           error == code(wire::logout_reason::unsupported_version) ||
           error == code(wire::logout_reason::sequence_unknown) || error == client::session_errc::sequence_gap;
}

/// Why a message was refused before it reached the market: a sentence and the name, or the name.
std::string refusal(wire::session_reject_reason reason) {
    const std::string_view sentence = [&]() -> std::string_view {
        using enum wire::session_reject_reason;
        switch (reason) {
            case not_an_operator: return "only operators may ask this";
            case overloaded: return "the venue has too many requests waiting";
            case not_known_here: return "the process that serves this session does not know it";
            case journal_failed:
                return "the venue's journal has failed; the venue accepts nothing until it is restarted";
            default: return {};
        }
    }();
    const std::string_view name = wire::to_string(reason);
    return sentence.empty() ? std::string(name) : fmt::format("{} ({})", sentence, name);
}

std::string logon_failure_text(const client::venue_endpoint& venue, const std::error_code& error) {
    std::string text = fmt::format("{}: {}", venue.to_string(), error.message());
    if (const std::string_view advice = logon_advice(error); !advice.empty()) text.append("\n").append(advice);
    return text;
}

}  // namespace

binary_link::binary_link(client::venue_endpoint venue, const client::credentials& who, double patience_seconds,
                         double wait_seconds)
    : venue_(std::move(venue)), who_(who), patience_seconds_(patience_seconds), wait_seconds_(wait_seconds) {}

const wire::instrument_table& binary_link::instruments() const noexcept {
    static const wire::instrument_table none;
    return session_ == nullptr ? none : session_->instruments();
}

domain::client_order_id binary_link::long_number(std::uint64_t short_one) const noexcept {
    // Several sessions of an account have orders at once: their client order ids must not collide.
    return domain::client_order_id{(std::uint64_t{who_.session_number} << 32U) | short_one};
}

// The request's number is the order's client order id: the session never uses it again.
domain::client_order_id binary_link::next_order() const noexcept {
    return long_number(session_ == nullptr ? 0 : session_->next_request());
}

void binary_link::leave() noexcept {
    leaving_ = true;
    if (conversation_ != nullptr) conversation_->request_stop();
}

// Connects, exchanges messages, and reconnects after a lost connection.
io::task<std::string> binary_link::run(link_listener* to) {
    to_ = to;
    const io::stop_token stop = co_await io::this_stop_token();
    auto lost_since = std::chrono::steady_clock::now();
    while (!leaving_ && !stop.stop_requested()) {
        const std::error_code error = co_await connect();
        if (error == io::condition::canceled) break;
        if (error) {
            const bool is_first = session_ == nullptr;
            const auto lost_for = std::chrono::steady_clock::now() - lost_since;
            if (error == client::logged_out(wire::logout_reason::sequence_unknown)) {
                // The venue does not know the answers that this session has seen: it has restarted without a journal.
                to_->say("the venue no longer knows this session; its orders are lost");
            }
            const bool waits =
                is_first && may_be_starting(error) && lost_for < std::chrono::duration<double>(wait_seconds_);
            if (is_first && !waits) co_return logon_failure_text(venue_, error);
            const bool is_over = is_final(error) || lost_for > std::chrono::duration<double>(patience_seconds_);
            if (!is_first && is_over) co_return error.message();
            const std::error_code stopped = co_await io::sleep_for(retry_delay);
            if (stopped) break;
            continue;
        }
        connected_ = true;
        broken_ = {};
        co_await converse();
        connected_ = false;
        if (leaving_ || stop.stop_requested()) {
            const std::error_code left = co_await session_->log_out();
            if (left && left != io::condition::canceled) {
                to_->say("the logout was not acknowledged: " + left.message());
            }
            break;
        }
        to_->say(fmt::format("connection lost: {}; reconnecting", broken_.message()));
        lost_since = std::chrono::steady_clock::now();
    }
    co_return std::string();
}

// Connects or reconnects, and reports the outcome of requests in progress.
io::task<std::error_code> binary_link::connect() {
    if (session_ == nullptr) {
        auto opened = co_await client::order_session::log_on(venue_, who_);
        if (!opened) co_return opened.error();
        session_ = std::move(*opened);
        to_->on_first_logon();
        to_->say(fmt::format("logged on: account {}, session {}, {} instruments", session_->account().value,
                             session_->session().value, session_->instruments().count()));
        co_return std::error_code();
    }
    const std::error_code error = co_await session_->reconnect(venue_);
    if (error) co_return error;
    const std::uint32_t untaken = session_->not_accepted_count();
    to_->say(fmt::format("reconnected; answers continue from number {}", session_->next_answer()));
    if (session_->began_again()) {
        to_->say(
            "the session has begun a new day: its numbers start again, and missed messages of the day before are lost");
    }
    if (untaken != 0) {
        const bool again = session_->resend_not_accepted();
        to_->say(fmt::format("the venue had not received {} requests, which {}", untaken,
                             again ? "are resent" : "are dropped"));
    }
    co_return std::error_code();
}

io::task<void> binary_link::converse() {
    io::task_scope scope(co_await io::this_context());
    conversation_ = &scope;
    has_output_.set();
    scope.spawn(read_answers());
    scope.spawn(write_requests());
    scope.spawn(session_->keep_alive());
    co_await scope.join();
    conversation_ = nullptr;
}

io::task<void> binary_link::read_answers() {
    while (true) {
        const auto answer = co_await session_->next();
        if (answer) {
            take(*answer);
            continue;
        }
        if (answer.error() != io::condition::canceled) broken_ = answer.error();
        conversation_->request_stop();
        co_return;
    }
}

io::task<void> binary_link::write_requests() {
    while (true) {
        const std::error_code stopped = co_await has_output_.wait();
        if (stopped) co_return;
        const std::error_code failed = co_await session_->flush();
        if (failed) co_return;  // the reader gets the error too and reports it
    }
}

void binary_link::take(const client::answer& answer) {
    if (answer.gap) {
        to_->say("the venue no longer has some answers: the list of orders may be incomplete");
    } else if (answer.told != nullptr) {
        to_->on_reply(*answer.told);
    } else if (answer.reject) {
        const auto number = answer.reject->refused_sequence.value;
        to_->on_refused(long_number(number), fmt::format("request {} was refused: {}", number,
                                                         refusal(answer.reject->session_reject_reason)));
    } else {
        to_->on_event(answer.event);
    }
}

std::string_view binary_link::send(const domain::command& request) {
    if (session_->send(request) == 0) {
        return session_->numbers_have_ended() ? "the session has no more request numbers" : buffer_is_full;
    }
    has_output_.set();
    return {};
}

std::string_view binary_link::ask_status(domain::instrument_id instrument) {
    return queue(session_->ask_status(++questions_count_, instrument));
}

std::string_view binary_link::ask_snapshot() {
    return queue(session_->ask_snapshot(++questions_count_));
}

std::string_view binary_link::queue(bool queued) {
    if (!queued) return buffer_is_full;
    has_output_.set();
    return {};
}

}  // namespace corro::app
