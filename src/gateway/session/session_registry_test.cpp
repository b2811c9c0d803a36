// SPDX-License-Identifier: Apache-2.0
// The registry with sessions of no protocol, and without a socket.
#include "gateway/session/session_registry.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"

namespace corro::gateway {
namespace {

using domain::account_id;
using domain::session_id;

constexpr account_id copying_account{9};

/// A session that numbers every message that it sends, as FIX does, and remembers which answer a message was.
class recording_session final : public session {
 public:
    explicit recording_session(const answer_log& log) noexcept : log_(log) {}

    void take_answers() noexcept override {
        ++takes_count;
        if (delivery() == answer_delivery::live) read_log();
    }
    void flush() noexcept override {
        ++flushes_count;
        if (delivery() == answer_delivery::live) read_log();
    }
    void send_definition(const domain::instrument& added) noexcept override {
        defined.push_back(added.id);
        ++last_message_;
    }
    void refuse_request(std::uint32_t request, request_refusal why) noexcept override {
        refused.emplace_back(request, why);
        ++last_message_;
    }
    void send_admin_reply(const admin_reply& reply, const order_entry_report& /*report*/) override {
        replies.push_back(reply.to.question);
    }
    bool end(end_reason why) noexcept override {
        if (ended) return false;
        ended = why;
        return true;
    }
    [[nodiscard]] bool is_ending() const noexcept override { return ended.has_value(); }

    /// Reads what the log has until it has caught up.
    void catch_up() {
        read_log();
        go_live();
    }
    void overflow() { stop_answers(); }
    [[nodiscard]] std::uint64_t take_request_number() { return next_request()++; }
    using session::first_answer;
    using session::first_missing;
    using session::is_drop_copy;
    using session::is_operator;

    std::vector<std::uint64_t> received;                            ///< client order ids
    std::vector<std::pair<std::uint64_t, std::uint64_t>> messages;  ///< own number of a message, and its answer
    std::vector<domain::instrument_id> defined;
    std::vector<std::pair<std::uint32_t, request_refusal>> refused;
    std::vector<std::uint64_t> replies;
    std::optional<end_reason> ended;
    int takes_count = 0;
    int flushes_count = 0;

 private:
    void read_log() {
        while (next_answer() != log_.next_answer(id())) {
            const auto run = log_.find_run(id(), next_answer(), at_);
            CORRO_ASSERT(!run.empty());
            for (const domain::event& e : run) {
                received.push_back(e.order.client_order.value);
                messages.emplace_back(++last_message_, next_answer()++);
            }
        }
    }

    const answer_log& log_;
    answer_log::cursor at_;
    std::uint64_t last_message_ = 0;
};

domain::event answer_to(std::uint32_t session, std::uint64_t what, std::uint32_t owner = 1) {
    domain::event e;
    e.kind = domain::event_kind::order_entered;
    e.order.session = session_id{session};
    e.order.account = account_id{owner};
    e.order.client_order = domain::client_order_id{what};
    return e;
}

domain::event reset_of(std::uint32_t session) {
    domain::event e;
    e.kind = domain::event_kind::session_numbers_reset;
    e.numbers_reset = {};
    e.numbers_reset.session = session_id{session};
    e.numbers_reset.account = account_id{1};
    return e;
}

domain::instrument instrument(std::uint32_t id) {
    domain::instrument i;
    i.id = domain::instrument_id{id};
    i.name = domain::symbol{"TEST" + std::to_string(id)};
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    i.price_low = domain::price_ticks{0};
    i.price_high = domain::price_ticks{10'000};
    i.order_quantity_max = domain::quantity_lots{1'000};
    return i;
}

wire::api_key key_of(std::uint32_t account) {
    wire::api_key key;
    key.fill(static_cast<std::byte>(account));
    return key;
}

/// Accounts 1 and 2 with two sessions each (1, 2 and 3, 4), and a drop copy of account 1 (session 5).
account_directory test_accounts() {
    account_directory accounts;
    for (const std::uint32_t id : {1U, 2U, copying_account.value}) {
        account a;
        a.id = account_id{id};
        a.key = key_of(id);
        a.sessions_count = id == copying_account.value ? 1 : 2;
        a.is_operator = id == 2;
        if (id == copying_account.value) a.copies_of = {account_id{1}};
        CORRO_ASSERT(accounts.add(a).empty());
    }
    return accounts;
}

class session_registry_alone : public ::testing::Test {
 protected:
    explicit session_registry_alone(answer_log_options kept = answer_log_options())
        : log(accounts.sessions_count(), kept),
          registry(context, options, instruments, accounts, commands, log, statistics) {}

    ~session_registry_alone() override {
        for (const auto& each : connected) registry.detach(*each);
    }

    recording_session& connect() {
        connected.push_back(std::make_unique<recording_session>(log));
        registry.attach(*connected.back());
        return *connected.back();
    }

    [[nodiscard]] logon_request request(std::uint32_t owner, std::uint32_t number) const {
        logon_request r;
        r.account = account_id{owner};
        r.session_number = number;
        const auto key = accounts.find(r.account)->key;
        r.key_id = wire::key_id_of(key);
        return r;
    }

    recording_session& log_on(std::uint32_t owner = 1, std::uint32_t number = 1) {
        recording_session& s = connect();
        EXPECT_EQ(registry.open(s, request(owner, number)), std::nullopt);
        return s;
    }

    std::vector<domain::command> pushed() {
        std::vector<domain::command> all;
        domain::command c;
        while (commands.try_pop(c)) all.push_back(c);
        commands.set_answered(commands.pushed_count());
        return all;
    }

    io::context context;
    gateway_options options;
    account_directory accounts = test_accounts();
    std::vector<domain::instrument> instruments{instrument(1)};
    command_queue commands{64};
    answer_log log;
    gateway_statistics statistics;
    session_registry registry;
    std::vector<std::unique_ptr<recording_session>> connected;
};

TEST_F(session_registry_alone, a_batch_costs_one_call_for_each_session_that_has_answers) {
    recording_session& first = log_on(1, 1);
    recording_session& second = log_on(1, 2);
    recording_session& idle = log_on(2, 1);
    for (std::uint64_t i = 0; i < 10; ++i) {
        registry.deliver(answer_to(1, i));
        registry.deliver(answer_to(2, 100 + i));
    }
    EXPECT_EQ(first.takes_count + second.takes_count, 0) << "nothing of a session is touched by a delivery";
    EXPECT_TRUE(first.received.empty());
    registry.flush();
    EXPECT_EQ(first.flushes_count, 1);
    EXPECT_EQ(second.flushes_count, 1);
    EXPECT_EQ(idle.flushes_count, 0);
    EXPECT_EQ(first.takes_count + second.takes_count, 0);
    EXPECT_EQ(first.received, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(second.received.size(), 10U);
    registry.flush();
    EXPECT_EQ(first.flushes_count, 1) << "nothing is new";
}

TEST_F(session_registry_alone, a_long_batch_costs_one_more_call_for_each_block_of_answers) {
    recording_session& s = log_on();
    for (std::uint64_t i = 0; i < 3 * answer_log::answers_per_block + 5; ++i) registry.deliver(answer_to(1, i));
    EXPECT_EQ(s.takes_count, 3);
    EXPECT_EQ(s.received.size(), 3 * answer_log::answers_per_block);
    registry.flush();
    EXPECT_EQ(s.received.size(), 3 * answer_log::answers_per_block + 5);
    EXPECT_EQ(s.flushes_count, 1);
}

/// A log that keeps one block for each session, and less.
class session_registry_with_a_small_log : public session_registry_alone {
 protected:
    session_registry_with_a_small_log() : session_registry_alone(small()) {}
    static answer_log_options small() {
        answer_log_options kept;
        kept.answers_max = 8 * answer_log::answers_per_block;
        kept.session_answers_max = answer_log::answers_per_block;
        return kept;
    }
};

TEST_F(session_registry_with_a_small_log, no_answer_is_given_up_before_its_session_has_it) {
    recording_session& s = log_on(1, 1);
    recording_session& other = log_on(2, 1);
    constexpr std::uint64_t count = 10 * answer_log::answers_per_block;
    for (std::uint64_t i = 0; i < count; ++i) {
        registry.deliver(answer_to(1, i));
        registry.deliver(answer_to(3, i, 2));
    }
    registry.flush();
    ASSERT_EQ(s.received.size(), count);
    for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(s.received[i], i);
    EXPECT_EQ(other.received, s.received);
}

TEST_F(session_registry_alone, a_protocol_may_count_messages_that_are_no_answers) {
    recording_session& s = log_on();
    registry.deliver(answer_to(1, 10));
    registry.flush();
    registry.define(instrument(2));
    registry.deliver(answer_to(1, 11));
    registry.flush();
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{{1, 1}, {3, 2}};
    EXPECT_EQ(s.messages, expected) << "message 2 was the definition";
    EXPECT_EQ(s.take_request_number(), 1U);
    EXPECT_EQ(s.take_request_number(), 2U);
}

TEST_F(session_registry_alone, answers_without_a_connection_wait_in_the_log) {
    registry.deliver(answer_to(1, 10));
    registry.deliver(answer_to(1, 11));
    EXPECT_EQ(statistics.answers_undelivered, 2U);
    recording_session& s = connect();
    logon_request r = request(1, 1);
    r.next_answer = 2;
    ASSERT_EQ(registry.open(s, r), std::nullopt);
    EXPECT_EQ(s.delivery(), answer_delivery::from_log);
    EXPECT_EQ(s.first_answer(), 2U);
    registry.deliver(answer_to(1, 12));
    registry.flush();
    EXPECT_EQ(s.flushes_count, 0) << "it reads the log itself";
    s.catch_up();
    EXPECT_EQ(s.received, (std::vector<std::uint64_t>{11, 12}));
    registry.deliver(answer_to(1, 13));
    registry.flush();
    EXPECT_EQ(s.received.back(), 13U);
    EXPECT_EQ(s.messages.back().second, 4U);
}

TEST_F(session_registry_with_a_small_log, a_client_learns_which_answers_are_not_kept) {
    for (std::uint64_t i = 0; i < 2 * answer_log::answers_per_block; ++i) registry.deliver(answer_to(1, i));
    recording_session& s = connect();
    logon_request r = request(1, 1);
    r.next_answer = 5;
    ASSERT_EQ(registry.open(s, r), std::nullopt);
    EXPECT_EQ(s.first_missing(), 5U);
    EXPECT_EQ(s.first_answer(), log.first_kept(session_id{1}));
    EXPECT_GT(s.first_answer(), 5U);
    EXPECT_EQ(statistics.gaps_announced, 1U);
}

TEST_F(session_registry_alone, refuses_what_it_must) {
    log_on(1, 1);
    recording_session& s = connect();
    EXPECT_EQ(registry.open(s, request(1, 1)), end_reason::already_logged_on);
    logon_request ahead = request(1, 2);
    ahead.next_answer = 2;
    EXPECT_EQ(registry.open(s, ahead), end_reason::sequence_unknown);
    logon_request withdrawn = request(1, 2);
    withdrawn.key_id ^= 1U;
    EXPECT_EQ(registry.open(s, withdrawn), end_reason::authentication_failed);
    registry.refuse_logons(end_reason::journal_failed);
    EXPECT_EQ(registry.open(s, request(1, 2)), end_reason::journal_failed);
    EXPECT_FALSE(s.is_on());
}

TEST_F(session_registry_alone, a_session_that_logs_on_too_often_is_refused) {
    for (std::uint32_t i = 0; i < options.logons_max; ++i) registry.release(log_on());
    EXPECT_EQ(registry.open(connect(), request(1, 1)), end_reason::throttled);
    EXPECT_EQ(registry.open(connect(), request(1, 2)), std::nullopt) << "another one is not";
    EXPECT_EQ(statistics.logons_throttled, 1U);
}

TEST_F(session_registry_alone, rights_come_from_the_account) {
    EXPECT_FALSE(log_on(1, 1).is_operator());
    EXPECT_TRUE(log_on(2, 1).is_operator());
    const recording_session& copy = log_on(copying_account.value, 1);
    EXPECT_TRUE(copy.is_drop_copy());
    EXPECT_FALSE(copy.is_operator());
}

TEST_F(session_registry_alone, a_drop_copy_gets_the_same_answers_under_its_own_numbers) {
    recording_session& own = log_on(1, 2);
    recording_session& copy = log_on(copying_account.value, 1);
    registry.deliver(answer_to(1, 10));
    registry.deliver(answer_to(2, 11));
    registry.flush();
    EXPECT_EQ(own.received, (std::vector<std::uint64_t>{11}));
    EXPECT_EQ(copy.received, (std::vector<std::uint64_t>{10, 11}));
    EXPECT_EQ(copy.messages.back().second, 2U);
    EXPECT_EQ(statistics.answers_undelivered, 1U) << "session 1 has no connection";
}

TEST_F(session_registry_alone, a_connection_keeps_what_came_before_it_was_released_and_nothing_later) {
    recording_session& old = log_on();
    registry.deliver(answer_to(1, 10));
    registry.release(old);
    recording_session& next = log_on();
    registry.deliver(answer_to(1, 11));
    registry.flush();
    EXPECT_EQ(old.received, (std::vector<std::uint64_t>{10}));
    EXPECT_EQ(next.received, (std::vector<std::uint64_t>{11}));
}

TEST_F(session_registry_alone, a_connection_that_has_gone_is_not_called) {
    recording_session& s = log_on();
    registry.deliver(answer_to(1, 10));
    s.overflow();
    registry.deliver(answer_to(1, 11));
    EXPECT_EQ(statistics.answers_undelivered, 1U);
    registry.release(s);
    registry.detach(s);
    registry.flush();
    EXPECT_EQ(s.flushes_count, 0);
    connected.clear();
}

TEST_F(session_registry_alone, a_reset_begins_both_numbers_again_behind_the_last_answer) {
    recording_session& s = log_on();
    EXPECT_EQ(s.take_request_number(), 1U);
    registry.deliver(answer_to(1, 10));
    registry.deliver(reset_of(1));
    registry.deliver(answer_to(1, 11));
    registry.flush();
    EXPECT_EQ(s.received, (std::vector<std::uint64_t>{10})) << "the log has dropped it by now";
    EXPECT_EQ(s.delivery(), answer_delivery::none) << "11 is for the next connection";
    EXPECT_EQ(s.take_request_number(), 1U);
    EXPECT_EQ(log.next_answer(session_id{1}), 2U);
    EXPECT_EQ(statistics.numbers_reset, 1U);
}

TEST_F(session_registry_alone, definitions_are_for_sessions_that_are_on) {
    recording_session& on = log_on();
    recording_session& logging_on = connect();
    registry.define(instrument(2));
    EXPECT_EQ(on.defined, (std::vector<domain::instrument_id>{domain::instrument_id{2}}));
    EXPECT_TRUE(logging_on.defined.empty());
    EXPECT_NE(registry.instruments().find(domain::instrument_id{2}), nullptr);
}

TEST_F(session_registry_alone, a_command_that_is_not_taken_is_refused_to_the_session_that_sent_it) {
    recording_session& s = log_on();
    recording_session& other = log_on(1, 2);
    domain::command c;
    c.session = session_id{1};
    c.set_request(7);
    registry.reject_overloaded(c);
    registry.refuse_logons(end_reason::journal_failed);
    c.set_request(8);
    registry.reject_overloaded(c);
    c.set_request(0);  // the venue's own
    registry.reject_overloaded(c);
    const std::vector<std::pair<std::uint32_t, request_refusal>> expected{{7, request_refusal::overloaded},
                                                                          {8, request_refusal::journal_failed}};
    EXPECT_EQ(s.refused, expected);
    EXPECT_TRUE(other.refused.empty());
    EXPECT_EQ(statistics.overloaded, 2U);
}

TEST_F(session_registry_alone, an_operators_reply_is_for_the_logon_that_asked) {
    recording_session& first = log_on(2, 1);
    admin_reply reply;
    reply.to.session = first.id();
    reply.to.logon = 1;
    reply.to.question = 5;
    registry.deliver_admin_reply(reply);
    registry.release(first);
    recording_session& second = log_on(2, 1);
    registry.deliver_admin_reply(reply);
    EXPECT_EQ(first.replies, (std::vector<std::uint64_t>{5}));
    EXPECT_TRUE(second.replies.empty());
}

TEST_F(session_registry_alone, a_flooding_session_is_ended_once) {
    recording_session& s = log_on();
    domain::event e = answer_to(1, 10);
    e.kind = domain::event_kind::order_rejected;
    e.reason = domain::reject_reason::flooded;
    registry.deliver(e);
    registry.deliver(e);
    EXPECT_EQ(s.ended, end_reason::throttled);
    EXPECT_EQ(statistics.throttled_cut, 1U);
    EXPECT_EQ(statistics.refusals_by[static_cast<std::uint8_t>(e.reason)], 2U);
}

TEST_F(session_registry_alone, sessions_of_a_withdrawn_key_are_ended) {
    recording_session& stays = log_on(1, 1);
    recording_session& goes = log_on(2, 1);
    std::vector<account> changed = accounts.accounts();
    changed[1].key.front() ^= std::byte{0xff};
    ASSERT_EQ(accounts.change_keys(changed), "");
    registry.end_withdrawn();
    EXPECT_EQ(goes.ended, end_reason::authentication_failed);
    EXPECT_FALSE(stays.ended);
}

TEST_F(session_registry_alone, a_lost_connection_is_cancelled_for_and_one_that_logs_out_is_not) {
    const std::optional<io::endpoint> nowhere;
    for (const bool logs_out : {false, true}) {
        recording_session& s = connect();
        logon_request r = request(1, 1);
        r.cancels_on_disconnect = true;
        ASSERT_EQ(registry.open(s, r), std::nullopt);
        io::block_on(context, registry.begin(&s, &nowhere));
        std::vector<domain::command> noted = pushed();
        ASSERT_EQ(noted.size(), 1U) << "before the first request";
        EXPECT_EQ(noted[0].kind, domain::command_kind::cancel_on_disconnect);
        io::block_on(context, registry.end_requests(&s, logs_out));
        noted = pushed();
        ASSERT_EQ(noted.size(), logs_out ? 1U : 2U);
        if (!logs_out) {
            EXPECT_EQ(noted[0].kind, domain::command_kind::cancel_orders);
        }
        EXPECT_EQ(noted.back().kind, domain::command_kind::cancel_on_disconnect);
        EXPECT_EQ(noted.back().session, session_id{1});
        registry.release(s);
    }
    EXPECT_EQ(statistics.cancels_on_disconnect, 1U);
}

TEST_F(session_registry_alone, a_session_that_asks_for_no_cancel_costs_no_command) {
    const std::optional<io::endpoint> nowhere;
    recording_session& s = log_on();
    io::block_on(context, registry.begin(&s, &nowhere));
    io::block_on(context, registry.end_requests(&s, false));
    EXPECT_TRUE(pushed().empty());
    EXPECT_EQ(statistics.cancels_on_disconnect, 0U);
}

TEST_F(session_registry_alone, a_session_that_is_taken_over_is_ended_and_waited_for) {
    recording_session& old = log_on();
    recording_session& next = connect();
    logon_request r = request(1, 1);
    r.takes_over = true;
    const auto leave = [](session_registry* at, recording_session* s) -> io::task<void> {
        while (!s->ended) co_await io::yield();
        at->release(*s);
    };
    const auto both = [](io::context* on, session_registry* at, recording_session* a, recording_session* b,
                         const logon_request* with, auto leaving) -> io::task<void> {
        io::task_scope scope(*on);
        scope.spawn(leaving(at, a));
        co_await at->prepare(b, with);
        EXPECT_EQ(at->open(*b, *with), std::nullopt);
        co_await scope.join();
    };
    io::block_on(context, both(&context, &registry, &old, &next, &r, leave));
    EXPECT_EQ(old.ended, end_reason::taken_over);
    EXPECT_TRUE(next.is_on());
    EXPECT_EQ(statistics.taken_over, 1U);
}

TEST_F(session_registry_alone, closing_ends_every_connection) {
    recording_session& on = log_on();
    recording_session& logging_on = connect();
    registry.close();
    EXPECT_TRUE(registry.is_closing());
    EXPECT_EQ(on.ended, end_reason::shutting_down);
    EXPECT_EQ(logging_on.ended, end_reason::shutting_down);
}

TEST(logon_request, days_count_from_1_to_255_and_again) {
    EXPECT_EQ(day_number_of(1), 1);
    EXPECT_EQ(day_number_of(255), 255);
    EXPECT_EQ(day_number_of(256), 1);
}

TEST(logon_request, a_client_of_an_earlier_day_gets_everything_and_one_of_a_later_day_nothing) {
    answer_log log(1);
    log.append(answer_to(1, 1));
    log.append(reset_of(1));  // day 2
    log.append(answer_to(1, 2));
    logon_request r;
    r.next_answer = 2;
    for (const auto& [day, all, later] : std::vector<std::tuple<int, bool, bool>>{
             {1, true, false}, {2, false, false}, {3, true, true}, {0, false, false}, {250, true, false}}) {
        r.day = static_cast<std::uint8_t>(day);
        EXPECT_EQ(asks_for_all(r, session_id{1}, log), all) << day;
        EXPECT_EQ(is_of_later_day(r, session_id{1}, log), later) << day;
    }
    r.day = 0;
    r.next_answer = 3;
    EXPECT_TRUE(asks_for_all(r, session_id{1}, log)) << "beyond the last answer: a number of day 1";
    r.next_answer = 0;
    EXPECT_FALSE(asks_for_all(r, session_id{1}, log)) << "only new ones";
}

TEST(logon_throttle, forgets_when_the_window_has_passed) {
    logon_throttle throttle(2, 2, std::chrono::milliseconds(100));
    const logon_throttle::time begin{std::chrono::seconds(5)};
    const session_id id{2};
    throttle.count(id, begin);
    EXPECT_TRUE(throttle.may_log_on(id, begin));
    throttle.count(id, begin + std::chrono::milliseconds(99));
    EXPECT_FALSE(throttle.may_log_on(id, begin + std::chrono::milliseconds(99)));
    EXPECT_TRUE(throttle.may_log_on(session_id{1}, begin)) << "each session has its own window";
    EXPECT_TRUE(throttle.may_log_on(id, begin + std::chrono::milliseconds(100)));
    throttle.count(id, begin + std::chrono::milliseconds(100));
    EXPECT_TRUE(throttle.may_log_on(id, begin + std::chrono::milliseconds(101))) << "a new window";
}

}  // namespace
}  // namespace corro::gateway
