// SPDX-License-Identifier: Apache-2.0
// The clients of `corro load --fix`: a fix::initiator each, which reconnects and asks for missed reports by itself.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "fix/net/application.hpp"
#include "fix/net/connection.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/message_store.hpp"
#include "fix_trading/fix_login.hpp"
#include "fix_trading/fix_orders.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "load_client.hpp"
#include "load_pace.hpp"

namespace corro::app {
namespace {

/// Requests that a client keeps, to send them again: more than can be outstanding.
constexpr std::size_t requests_kept_max = 1'024;
constexpr std::chrono::milliseconds retry_interval{50};
constexpr std::chrono::milliseconds start_interval{100};
constexpr std::chrono::seconds first_logon_wait{5};
/// ClOrdIDs of changes are this far above those of orders.
constexpr std::uint64_t load_changes_begin = std::uint64_t{1} << 61U;

/// ClOrdIDs: other ones for each session and run, 2^27 of them.
std::uint64_t names_base(const io::context& context, std::uint32_t index) {
    const auto seconds = static_cast<std::uint64_t>(fix::moment_on(context).wall / 1'000'000'000);
    return ((seconds % (1U << 19U)) << 41U) + (std::uint64_t{index} << 27U);
}

/// One client: its session, its trader, its outstanding requests.
class fix_load_client final : public fix::application {
 public:
    fix_load_client(load_run& run, std::uint32_t index)
        : run_(run),
          orders_(run.instruments, load_changes_begin + names_base(run.context, index)),
          trader_(make_simulated_trader(run, run.instruments, names_base(run.context, index) + 1, index)),
          pace_(run, index),
          index_(index),
          store_(requests_kept_max),
          session_(run.context, options_of(run, run.seats[index]), store_, *this) {}

    /// Runs the client from its logon to its logout.
    io::task<void> work() {
        io::task_scope watching(run_.context);
        watching.spawn(watch());
        co_await session_.run();
        watching.request_stop();
        co_await watching.join();
        run_.lost += sent_.size();
        run_.totals.add(trader_.statistics());
    }

    void on_active(fix::session&, fix::instant) override {
        is_on_ = true;
        if (std::exchange(was_active_, true)) return run_.outages.back(std::exchange(away_since_, 0), std::nullopt);
        if (++run_.logged_on_count == run_.options.clients_count) {
            run_.started = run_.clock.now_ticks();
            run_.all_logged_on.set();
        }
    }
    void on_message(fix::session& on, fix::instant) override { take(on); }
    void on_reject(fix::session& on, fix::instant) override { take(on); }
    void on_end(fix::session& on) override {
        // A Logon that was refused is tried again: the venue may not have noticed the end of the connection before.
        if (!std::exchange(is_on_, false) || is_closing_) return;
        const std::string_view why = on.ended_because();
        away_since_ = run_.outages.lost(why.empty() ? "the venue is gone" : why);
        away_from_ = std::chrono::steady_clock::now();
    }

 private:
    struct sent_request {
        std::uint64_t number = 0;  ///< MsgSeqNum (34)
        std::uint64_t ticks = 0;
        domain::command_kind kind{};
    };

    static fix::initiator_options options_of(const load_run& run, const seat& where) {
        fix_trading::fix_login who;
        who.name = where.fix_name;
        who.venue_name = run.fix_venue_name;
        who.key = where.who.key;
        who.cancel_on_disconnect = true;
        fix::initiator_options options = fix_trading::initiator_of(who, run.fix_venue.at);
        run.fix_venue.apply_to(options);
        options.retry_delay_min = options.retry_delay_max = retry_interval;
        return options;
    }

    [[nodiscard]] bool may_send() const noexcept { return !run_.stop_now && run_.quota_left > 0 && !is_closing_; }
    [[nodiscard]] bool is_paced() const noexcept { return run_.options.rate > 0; }

    void take(fix::session& on) {
        const auto answer = orders_.read(on.message());
        if (!answer) return fail(std::string(answer.error()));
        if (!*answer) return;
        // The session's client before this one may have been killed. What it had sent is answered first.
        if (!is_answered_ && find_request((*answer)->request_number) == sent_.end()) return;
        is_answered_ = true;
        if ((*answer)->is_reject) {
            take_refusal(**answer);
        } else if (!trader_.on_event((*answer)->event)) {
            return;
        }
        note_answer((*answer)->request_number);
        if (!is_paced()) fill();
        end_if_done();
    }
    void take_refusal(const fix_trading::fix_answer& answer) {
        using wire::session_reject_reason;
        if (answer.text == "The venue has no capacity now") return trader_.on_reject(session_reject_reason::overloaded);
        if (answer.text == "The journal has failed") return trader_.on_reject(session_reject_reason::journal_failed);
        fail(fmt::format("a request was rejected: {}", answer.text));
    }
    [[nodiscard]] std::deque<sent_request>::iterator find_request(std::uint64_t number) {
        return std::ranges::find(sent_, number, &sent_request::number);
    }
    void note_answer(std::uint64_t number) {
        const auto found = find_request(number);
        if (found == sent_.end()) return fail("received an answer that matches no request");
        run_.round_trips[static_cast<std::size_t>(found->kind)].record(
            run_.clock.between_ns(found->ticks, run_.clock.now_ticks()));
        sent_.erase(found);
        ++run_.answered_now;
    }
    void send_one(std::uint64_t intended_ticks) {
        const domain::command request = trader_.next_request();
        --run_.quota_left;
        const std::uint64_t number = orders_.send(session_.of(), request, fix::moment_on(run_.context));
        if (number == 0) return fail("a request was not sent");
        sent_.push_back({number, intended_ticks, request.kind});
    }
    void fill() {
        while (may_send() && session_.of().may_send() && sent_.size() < run_.options.outstanding_max) {
            send_one(run_.clock.now_ticks());
        }
    }
    void end_if_done() {
        if (!may_send() && sent_.empty()) close();
    }
    void close() {
        // Without a Logout, so that the venue cancels what is still open.
        if (std::exchange(is_closing_, true)) return;
        session_.abandon();
    }
    void fail(std::string why) {
        run_.errors.push_back(fmt::format("client {}: {}", index_, why));
        if (away_since_ != 0) run_.outages.gave_up();
        close();
    }
    // Sends at the pace of --rate, as long as it can.
    void keep_pace() {
        while (may_send() && session_.of().may_send() && sent_.size() < requests_kept_max / 2 &&
               pace_.wait().count() <= 0) {
            send_one(pace_.due_ticks(run_));
            pace_.due += pace_.gap;
        }
    }
    [[nodiscard]] bool is_away_for_too_long() {
        const std::chrono::duration<double> away = std::chrono::steady_clock::now() - away_from_;
        const double allowed_s = was_active_
                                     ? run_.options.patience_s
                                     : std::chrono::duration<double>(first_logon_wait).count() + run_.options.wait_s;
        return !is_on_ && away.count() > allowed_s;
    }

    // Begins when all clients are logged on, and ends a session that cannot go on.
    io::task<void> watch() {
        std::error_code stopped;
        while (!run_.all_logged_on.is_set() && !stopped) {
            const auto begun = co_await io::with_timeout(start_interval, run_.all_logged_on.wait());
            if (begun) stopped = *begun;
            if (!was_active_ && is_away_for_too_long()) {
                fail(fmt::format("logon failed: {} as {}{}",
                                 session_.connections_count() == 0 ? "no connection" : "refused",
                                 run_.seats[index_].fix_name, words_of(session_.connection_error())));
                run_.stop_now = true;
                run_.all_logged_on.set();
            }
        }
        pace_ = pace(run_, index_);
        while (!stopped && !is_closing_) {
            if (is_paced()) {
                keep_pace();
            } else {
                fill();
            }
            session_.flush();
            if (is_away_for_too_long()) fail("could not reconnect");
            end_if_done();
            std::chrono::nanoseconds wait = start_interval;
            if (is_paced() && may_send()) {
                wait = std::clamp<std::chrono::nanoseconds>(pace_.wait(), std::chrono::microseconds(1), start_interval);
                if (sent_.size() >= requests_kept_max / 2) wait = std::chrono::milliseconds(1);
            }
            stopped = co_await io::sleep_for(wait);
        }
        close();
    }

    load_run& run_;
    fix_trading::fix_orders orders_;
    client::trader trader_;
    pace pace_;
    std::uint32_t index_;
    std::deque<sent_request> sent_;
    std::uint64_t away_since_ = 0;  ///< in ticks; 0: connected, or never was
    std::chrono::steady_clock::time_point away_from_ = std::chrono::steady_clock::now();
    bool is_on_ = false;
    bool is_answered_ = false;  ///< whether any of its requests is
    bool was_active_ = false;
    bool is_closing_ = false;
    fix::memory_store store_;
    fix::initiator session_;
};

}  // namespace

io::task<void> run_fix_client(load_run* run, std::uint32_t index) {
    const auto client = std::make_unique<fix_load_client>(*run, index);
    co_await client->work();
}

}  // namespace corro::app
