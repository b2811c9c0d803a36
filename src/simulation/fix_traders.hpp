// SPDX-License-Identifier: Apache-2.0
// The FIX clients of a simulated run. Each has a session that outlives its connections, and reconnects by itself.
//
// They are checkers at the same time, as the traders of Corro Binary are (traders.hpp): a client has the content of
// every message that came, by its number, and how each request was answered.
//
// Threads: one context each.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "domain/types.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/net/application.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/message_store.hpp"
#include "fix_trading/fix_login.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

/// HeartBtInt (108) of the clients. A connection that is silent for 2.4 of them is given up.
inline constexpr std::chrono::seconds fix_heartbeat{1};

struct fix_trader_settings {
    std::vector<std::string> symbols;
    std::uint64_t lowest_price = 100;  ///< orders have one of a few prices from here on, in whole units
    std::uint64_t first_name = 1;      ///< requests are named from here on
    std::size_t outstanding_max = 6;
    std::chrono::nanoseconds think_time{};  ///< between requests, on average
    std::uint64_t seed = 0;
    bool disk_may_fail = false;         ///< then requests may be refused, and refusals be lost
    bool facility_may_be_away = false;  ///< likewise
    bool clocks_may_jump = false;       ///< then messages may be rejected because of their time, likewise
    bool is_divided = false;            ///< the venue, in partitions: a crash may take a request from one of them
    bool may_be_silent = false;         ///< the ends may hear nothing from each other for longer than heartbeats allow
    bool may_quote = true;              ///< quotes are the account's: one client of an account enters them
    /// Called when a message was refused because of its time, with the venue's time of day; may be empty.
    std::function<void(std::int64_t)> set_clock;
};

/// A request, with its virtual times.
struct fix_request {
    std::string type;            ///< MsgType (35)
    std::uint64_t name = 0;      ///< ClOrdID (11), QuoteID (117) or the id of a question
    std::uint64_t original = 0;  ///< OrigClOrdID (41); of a status request, the order's name
    std::int64_t sent_ns = 0;
    std::int64_t answered_ns = 0;  ///< 0: not answered
    std::uint32_t parts = 1;       ///< commands that it becomes
    bool is_refused = false;       ///< it had no effect
    bool is_lost = false;          ///< a crash took it, and the venue has told so

    /// Whether such a request may go to several partitions, and be refused by some of them.
    [[nodiscard]] bool may_be_divided() const noexcept {
        return type == "AF" || type == "H" || type == "i" || type == "Z";
    }
};

/// ClOrdID (11), or the id of a question, of a request with this name: of every third name a UUID, which is too long to
/// be the venue's number, otherwise the name itself. Ids of quotes are always the name.
[[nodiscard]] std::string request_text(std::uint64_t name);
/// And back; 0: no name has this text.
[[nodiscard]] std::uint64_t name_of_request(std::string_view text) noexcept;

/// What a message says, however often it is sent: without PossDupFlag (43) and the times in its header.
[[nodiscard]] std::string content_of(const fix::field_index& message);

/// What a client does: enters, replaces, cancels and asks for orders and quotes at random, and checks what it is told.
class fix_trader final : public fix::application {
 public:
    fix_trader(fix_trader_settings settings, findings* found)
        : settings_(std::move(settings)), found_(found), random_(settings_.seed) {}

    /// Asks now and then, while the session is there, until `end`.
    [[nodiscard]] io::task<void> trade(fix::initiator* venue);
    /// No new requests from now on.
    void finish() noexcept { is_finishing_ = true; }
    /// Ends `trade` at its next step.
    void end() noexcept { is_ending_ = true; }

    /// Logs out, forgets all numbers of the venue, and asks for every message again.
    /// @param store  Of the session.
    void ask_again(fix::message_store* store) noexcept { forgets_ = store; }
    /// From now on the venue may be out of reach.
    void expect_silence() noexcept { settings_.may_be_silent = true; }
    /// Whether every message has come again, after `ask_again`.
    [[nodiscard]] bool has_all_again() const noexcept;

    [[nodiscard]] bool is_on() const noexcept { return is_on_; }
    /// Whether every request was answered.
    [[nodiscard]] bool is_settled() const noexcept { return is_on_ && outstanding_.empty() && !is_in_doubt_; }
    [[nodiscard]] std::size_t outstanding_count() const noexcept { return outstanding_.size(); }

    /// By the number of their message.
    [[nodiscard]] const std::map<std::uint64_t, fix_request>& requests() const noexcept { return requests_; }
    /// The content of each message that came, by number.
    [[nodiscard]] const std::map<std::uint64_t, std::string>& contents() const noexcept { return contents_; }
    /// Whether the message with this number is of a connection that is over: it does not come again.
    [[nodiscard]] bool is_unkept(std::uint64_t number) const { return unkept_.contains(number); }
    /// ExecID (17) of each report that is not the answer to a question.
    [[nodiscard]] const std::set<std::string>& executions() const noexcept { return executions_; }
    /// Whether this is the name of an open order of its own, as far as it knows.
    [[nodiscard]] bool has_open(std::uint64_t name) const { return open_.contains(request_text(name)); }
    [[nodiscard]] std::size_t open_orders_count() const noexcept { return open_.size(); }
    [[nodiscard]] std::uint64_t messages_count() const noexcept { return contents_.size(); }
    [[nodiscard]] std::uint64_t quotes_count() const noexcept { return quote_answers_count_; }
    [[nodiscard]] std::uint64_t fills_count() const noexcept { return fills_count_; }
    [[nodiscard]] std::uint64_t refused_count() const noexcept { return refused_count_; }
    /// Connections that have ended, without the one that `ask_again` ends.
    [[nodiscard]] std::uint64_t connections_count() const noexcept { return connections_count_; }
    /// Why the last of them ended; empty before.
    [[nodiscard]] const std::string& last_end() const noexcept { return last_end_; }
    /// Lots, with the sold ones below zero.
    [[nodiscard]] std::int64_t bought() const noexcept { return bought_; }

    void on_active(fix::session& on, fix::instant now) override;
    void on_message(fix::session& on, fix::instant now) override;
    void on_reject(fix::session& on, fix::instant now) override;
    void on_end(fix::session& on) override;

 private:
    static constexpr std::size_t orders_max = 40;

    struct terms {
        char side = '1';
        std::string symbol;
    };

    [[nodiscard]] bool may_ask() const noexcept {
        return !is_finishing_ && outstanding_.size() < settings_.outstanding_max;
    }
    [[nodiscard]] bool may_be_refused() const noexcept {
        return settings_.disk_may_fail || settings_.facility_may_be_away || settings_.clocks_may_jump;
    }
    [[nodiscard]] bool may_be_silent() const noexcept { return settings_.may_be_silent; }

    void ask(fix::session& on, fix::instant now);
    void ask_as_market_maker(fix::session& on, fix::instant now, fix_request& request);
    void ask_for_all(fix::session& on, fix::instant now, fix_request& request);
    void put_quote(fix::message_writer& into);
    void put_terms(fix::message_writer& into);
    [[nodiscard]] const std::string& any_symbol();
    std::uint64_t send(fix::session& on, fix::instant now, fix_request request);

    void take(const fix::field_index& message, std::int64_t now);
    void check_mark(const fix::field_index& message, std::uint64_t number);
    void take_again(std::uint64_t number, const std::string& content);
    void take_business_reject(const fix::field_index& message, std::uint64_t number, std::int64_t now);
    void take_report(const fix::field_index& message, std::int64_t now);
    void take_fill(const fix::field_index& message);
    void follow_order(const fix::field_index& message, const std::string& name, bool is_status);
    void answered(std::string_view name, std::int64_t now);
    void refused(std::uint64_t number, std::int64_t now);
    void settle_doubts(std::int64_t now);
    void judge_end(const fix::session& on);
    void follow_clock(const fix::session& on) const;
    [[nodiscard]] bool may_log_out(std::string_view text) const noexcept;
    [[nodiscard]] const fix_request* request_named(std::string_view name) const;

    fix_trader_settings settings_;
    findings* found_;
    base::prng random_;
    std::uint64_t names_count_ = 0;
    bool is_finishing_ = false;
    bool is_ending_ = false;
    bool is_on_ = false;
    std::map<std::uint64_t, fix_request> requests_;   ///< by the number of their message
    std::map<std::uint64_t, std::uint64_t> numbers_;  ///< of messages, by the name of their request
    std::set<std::uint64_t> outstanding_;             ///< numbers of requests without an answer
    bool is_in_doubt_ = false;                        ///< which of the outstanding requests were refused
    std::uint64_t query_in_doubt_ = 0;                ///< the number of the question that settles it
    std::map<std::string, terms> open_;               ///< orders, by their newest name
    std::map<std::uint64_t, std::string> contents_;   ///< of messages, by number
    std::set<std::uint64_t> unkept_;                  ///< numbers of messages that do not come again
    std::set<std::string> executions_;
    bool has_cancelled_quotes_ = false;  ///< those of the whole account
    std::uint64_t quote_answers_count_ = 0;
    std::uint64_t fills_count_ = 0;
    std::uint64_t refused_count_ = 0;
    std::uint64_t connections_count_ = 0;
    std::string last_end_;
    std::int64_t bought_ = 0;

    fix::message_store* forgets_ = nullptr;  ///< the numbers are to be forgotten at the end of this connection
    bool is_asking_again_ = false;
    std::uint64_t known_until_ = 0;     ///< the highest number when it began to ask again
    std::set<std::uint64_t> repeated_;  ///< numbers that have come again
};

/// Where a client logs on, and as which session.
struct fix_client_settings {
    fix_trading::fix_login who;
    io::endpoint venue;
    domain::session_id session{};  ///< in journals
    domain::account_id account{};
    fix_trader_settings trades;
};

/// One FIX client.
class fix_client {
 public:
    /// @param found  Outlives the client, as `on` does.
    fix_client(io::context& on, fix_client_settings settings, findings* found);

    /// Connects, trades and connects again until `end`.
    /// @param in  Of the context.
    void start(io::task_scope& in);
    void finish() noexcept { trader_.finish(); }
    /// Closes the connection without a Logout, and ends both tasks.
    void end() noexcept;
    void ask_again() noexcept { trader_.ask_again(&store_); }
    void expect_silence() noexcept { trader_.expect_silence(); }

    [[nodiscard]] const fix_trader& trader() const noexcept { return trader_; }
    [[nodiscard]] const fix_client_settings& settings() const noexcept { return settings_; }

 private:
    fix_client_settings settings_;
    fix::memory_store store_;
    fix_trader trader_;
    fix::initiator initiator_;
};

}  // namespace corro::simulation
