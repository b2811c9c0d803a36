// SPDX-License-Identifier: Apache-2.0
#include "node/venue/answer_merger.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/merged_answers.hpp"
#include "node/venue/order_entry.hpp"

namespace corro::node {
namespace {

using domain::event_kind;
using domain::reject_reason;

constexpr domain::session_id session{1};

configuration small() {
    configuration c;
    c.order_entry_listen = "127.0.0.1:0";
    gateway::account a;
    a.id = domain::account_id{1};
    c.accounts.push_back(a);
    return c;
}

class answer_merger_ : public ::testing::Test {
 protected:
    answer_merger_() { merger.begin_counting(1); }

    /// An executed command of a partition with its events.
    void done(std::size_t partition, std::uint64_t arrival, std::vector<domain::event> events, std::uint8_t copies = 0,
              bool refused = false) {
        say(partition, arrival, copies, static_cast<std::uint32_t>(events.size()), refused);
        hear(partition, std::move(events));
    }
    void say(std::size_t partition, std::uint64_t arrival, std::uint8_t copies, std::uint32_t events, bool refused) {
        if (!refused) ++sequences[partition];
        emitted[partition] += events;
        domain::command c;
        c.set_arrival(arrival, copies);
        c.sequence = domain::sequence_number{sequences[partition] + (refused ? 1 : 0)};
        c.session = session;
        c.set_request(static_cast<std::uint32_t>(arrival));
        merger.executed(partition, executed_command(c, emitted[partition], refused));
    }
    void hear(std::size_t partition, std::vector<domain::event> events) {
        for (domain::event& e : events) e.command = domain::sequence_number{sequences[partition]};
        merger.accept(partition, events);
    }

    static domain::event answer(event_kind kind, std::uint64_t client_order, bool completes = true) {
        domain::event e;
        e.kind = kind;
        if (completes) e.flags = domain::event_flag::last_of_request;
        e.order.session = session;
        e.order.account = domain::account_id{1};
        e.order.client_order = domain::client_order_id{client_order};
        return e;
    }
    static domain::event refusal(std::uint64_t client_order) {
        domain::event e = answer(event_kind::order_rejected, client_order);
        e.reason = reject_reason::nothing_to_cancel;
        return e;
    }

    static domain::event numbers_reset() {
        domain::event e;
        e.kind = event_kind::session_numbers_reset;
        e.flags = domain::event_flag::last_of_request;
        e.numbers_reset = {};
        e.numbers_reset.session = session;
        e.numbers_reset.account = domain::account_id{1};
        return e;
    }

    /// The client order id of each answer, in order; negative where it completes a request.
    std::vector<std::int64_t> told() {
        merger.advance();
        std::vector<std::int64_t> all;
        for (std::uint64_t n = 1; n < orders.answers().next_answer(session); ++n) {
            const domain::event& e = *orders.answers().find(session, n);
            const auto name = static_cast<std::int64_t>(e.order.client_order.value);
            all.push_back((e.flags & domain::event_flag::last_of_request) != 0 ? -name : name);
        }
        return all;
    }

    using names = std::vector<std::int64_t>;

    io::context context;
    io::tick_clock clock;
    order_entry orders{context, small(), clock, nullptr};
    merged_answers into{orders};
    answer_merger merger{2, into};
    std::uint64_t sequences[2] = {0, 0};
    std::uint64_t emitted[2] = {0, 0};
};

TEST_F(answer_merger_, tells_answers_in_the_order_of_arrival_whoever_is_first) {
    done(1, 2, {answer(event_kind::order_entered, 20)});
    EXPECT_EQ(told(), names{});
    done(0, 3, {answer(event_kind::order_entered, 30)});
    EXPECT_EQ(told(), names{}) << "the first partition did not say what became of arrival 1";
    done(1, 4, {answer(event_kind::order_entered, 40)});
    EXPECT_EQ(told(), names{});
}

TEST_F(answer_merger_, goes_on_when_the_missing_one_comes) {
    done(1, 2, {answer(event_kind::order_entered, 20)});
    done(0, 1, {answer(event_kind::order_entered, 10)});
    done(0, 3, {answer(event_kind::order_entered, 30)});
    EXPECT_EQ(told(), (names{-10, -20, -30}));
    EXPECT_EQ(merger.next_arrival(), 4U);
}

TEST_F(answer_merger_, knows_the_last_command_of_each_partition_that_is_answered) {
    done(1, 2, {answer(event_kind::order_entered, 12)});
    static_cast<void>(told());
    EXPECT_EQ(merger.answered_sequence(1), 0U) << "it waits for an earlier one";
    done(0, 1, {answer(event_kind::order_entered, 11)});
    done(0, 3, {}, 0, true);
    static_cast<void>(told());
    EXPECT_EQ(merger.answered_sequence(0), 1U) << "what was refused is no command";
    EXPECT_EQ(merger.answered_sequence(1), 1U);
}

TEST_F(answer_merger_, waits_for_every_event_of_a_command) {
    say(0, 1, 0, 2, false);
    hear(0, {answer(event_kind::order_cancelled, 1, false)});
    EXPECT_EQ(told(), names{}) << "one of two is here";
    hear(0, {answer(event_kind::order_cancelled, 2)});
    EXPECT_EQ(told(), (names{1, -2}));
}

TEST_F(answer_merger_, counts_public_events_and_tells_nobody) {
    say(0, 1, 0, 2, false);
    hear(0, {answer(event_kind::order_entered, 1)});
    EXPECT_EQ(told(), names{});
    domain::event public_one;
    public_one.kind = event_kind::order_added;
    hear(0, {public_one});
    EXPECT_EQ(told(), (names{-1}));
}

TEST_F(answer_merger_, answers_a_request_to_all_once) {
    done(1, 1, {answer(event_kind::order_cancelled, 3, false), answer(event_kind::order_cancelled, 4)}, 2);
    EXPECT_EQ(told(), names{}) << "the first partition was asked as well";
    done(0, 1, {answer(event_kind::order_cancelled, 1, false), answer(event_kind::order_cancelled, 2)}, 2);
    EXPECT_EQ(told(), (names{1, 2, 3, -4}));
}

TEST_F(answer_merger_, forgets_a_refusal_when_another_partition_did_something) {
    done(0, 1, {answer(event_kind::order_cancelled, 1)}, 2);
    done(1, 1, {refusal(9)}, 2);
    EXPECT_EQ(told(), (names{-1}));
}

TEST_F(answer_merger_, tells_one_refusal_when_all_refuse) {
    done(0, 1, {refusal(8)}, 2);
    done(1, 1, {refusal(9)}, 2);
    EXPECT_EQ(told(), (names{-8}));
}

TEST_F(answer_merger_, says_that_a_request_is_done_once) {
    done(0, 1, {answer(event_kind::order_cancelled, 1, false), answer(event_kind::request_done, 2)}, 2);
    done(1, 1, {answer(event_kind::order_cancelled, 3, false), answer(event_kind::request_done, 4)}, 2);
    EXPECT_EQ(told(), (names{1, 3, -4}));
}

TEST_F(answer_merger_, makes_one_answer_of_the_positions_of_all_partitions) {
    struct listener final : outcome_sink {
        std::size_t accept(std::span<const domain::event> events) noexcept override {
            for (const domain::event& e : events) {
                if (e.kind != event_kind::position_reported) continue;
                said += e.instrument.value == 0 ? "count " + std::to_string(e.position.count)
                                                : "of " + std::to_string(e.instrument.value);
                if ((e.flags & domain::event_flag::more_behind) != 0) said += " more";
                said += (e.flags & domain::event_flag::last_of_request) != 0 ? ". " : ", ";
            }
            return events.size();
        }
        void executed(const executed_command&) override {}
        std::string said;
    };
    listener heard;
    const auto position = [](std::uint32_t instrument, std::uint8_t flags, std::uint32_t count = 0) {
        domain::event e;
        e.kind = event_kind::position_reported;
        e.instrument = domain::instrument_id{instrument};
        e.flags = flags;
        e.position = {};
        e.position.session = session;
        e.position.account = domain::account_id{1};
        e.position.count = count;
        return e;
    };
    using domain::event_flag::last_of_request;
    using domain::event_flag::more_behind;
    using events = std::vector<domain::event>;
    const events none{position(0, last_of_request, 0)};
    const events one{position(0, 0, 1), position(5, last_of_request)};
    const events page{position(0, 0, 2), position(1, 0), position(3, last_of_request | more_behind)};
    const auto merged = [&](const std::vector<events>& all) {
        heard.said.clear();
        answer_merger of_all(all.size(), heard);
        of_all.begin_counting(1);
        for (std::size_t k = 0; k < all.size(); ++k) {
            domain::command c;
            c.set_arrival(1, static_cast<std::uint8_t>(all.size()));
            c.sequence = domain::sequence_number{1};
            c.session = session;
            c.set_request(1);
            of_all.executed(k, executed_command(c, all[k].size(), false));
            events said = all[k];
            for (domain::event& e : said) e.command = c.sequence;
            of_all.accept(k, said);
        }
        of_all.advance();
        return heard.said;
    };
    EXPECT_EQ(merged({none, none}), "count 0. ");
    EXPECT_EQ(merged({one, none}), "count 1, of 5. ");
    EXPECT_EQ(merged({none, one}), "count 1, of 5. ");
    EXPECT_EQ(merged({page, one}), "count 3, of 1, of 3 more, of 5. ");
    EXPECT_EQ(merged({one, none, page}), "count 3, of 5, of 1, of 3 more. ");
}

TEST_F(answer_merger_, lets_numbers_begin_again_once_when_all_partitions_have) {
    done(0, 1, {answer(event_kind::order_entered, 10)});
    done(1, 2, {numbers_reset()}, 2);
    EXPECT_EQ(told(), names{-10});
    done(0, 2, {numbers_reset()}, 2);
    EXPECT_EQ(told(), names{});
    EXPECT_EQ(orders.answers().days_count(session), 2U) << "once, not once for each partition";
    done(1, 3, {answer(event_kind::order_entered, 30)});
    EXPECT_EQ(told(), names{-30}) << "under number 1";
}

TEST_F(answer_merger_, does_not_let_numbers_begin_again_that_a_partition_goes_on_with) {
    done(0, 1, {answer(event_kind::order_entered, 10)});
    done(0, 2, {numbers_reset()}, 2);
    done(1, 2, {}, 2, true);  // its journal has not accepted the command
    EXPECT_EQ(told(), names{-10});
    EXPECT_TRUE(orders.answers().is_partly_reset(session));
    done(0, 3, {numbers_reset()}, 2);
    done(1, 3, {numbers_reset()}, 2);
    EXPECT_EQ(told(), names{});
    EXPECT_FALSE(orders.answers().is_partly_reset(session));
}

TEST_F(answer_merger_, recovers_a_reset_of_numbers_of_which_one_partition_has_lost_its_copy) {
    done(0, 1, {answer(event_kind::order_entered, 10)});
    EXPECT_EQ(told(), names{-10});
    answer_merger recovering(2, into);
    recovering.skip_to(7);
    domain::event e = numbers_reset();
    e.command = domain::sequence_number{1};
    domain::command c;
    c.set_arrival(7, 2);
    c.session = session;
    c.sequence = e.command;
    recovering.executed(1, executed_command(c, 1, false));
    recovering.accept(1, {&e, 1});
    recovering.advance();
    EXPECT_EQ(told(), names{-10});
    EXPECT_TRUE(orders.answers().is_partly_reset(session));
}

TEST_F(answer_merger_, goes_on_behind_a_command_that_a_journal_did_not_take) {
    done(0, 1, {}, 0, true);
    done(1, 2, {answer(event_kind::order_entered, 20)});
    EXPECT_EQ(told(), (names{-20}));
}

TEST_F(answer_merger_, passes_over_nothing_however_much_comes_behind_it) {
    say(0, 1, 0, 1, false);
    for (std::uint64_t arrival = 2; arrival < 100; ++arrival) {
        done(1, arrival, {answer(event_kind::order_entered, 10 * arrival)});
    }
    EXPECT_EQ(told(), names{})
        << "the first partition's journal may have failed, and may hold the command all the same";
}

TEST_F(answer_merger_, has_room_for_the_one_whose_turn_it_is_however_much_waits) {
    const std::vector<domain::event> many(answers_waiting_max, answer(event_kind::order_cancelled, 1, false));
    hear(1, many);
    EXPECT_FALSE(merger.has_room(1)) << "nobody knows yet whose turn it is";
    EXPECT_TRUE(merger.has_room(0));
    say(1, 1, 0, static_cast<std::uint32_t>(many.size() + 1), false);
    EXPECT_TRUE(merger.has_room(1)) << "or its command would never be complete";
}

TEST_F(answer_merger_, recovers_a_request_of_which_one_partition_has_lost_its_copy) {
    answer_merger recovering(2, into);
    recovering.skip_to(7);
    domain::event e = answer(event_kind::order_cancelled, 5);
    e.command = domain::sequence_number{1};
    domain::command c;
    c.set_arrival(7, 2);
    c.session = session;
    c.sequence = e.command;
    recovering.executed(1, executed_command(c, 1, false));
    recovering.accept(1, {&e, 1});
    recovering.advance();
    EXPECT_EQ(told(), (names{-5}));
    EXPECT_EQ(recovering.next_arrival(), 8U);
}

}  // namespace
}  // namespace corro::node
