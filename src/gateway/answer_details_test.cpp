// SPDX-License-Identifier: Apache-2.0
// Sessions with detailed answers: what the log makes of the events of the venue.
#include "gateway/answer_details.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/long_name.hpp"
#include "gateway/answer_log.hpp"

namespace corro::gateway {
namespace {

constexpr domain::session_id fix{1};
constexpr domain::session_id binary{2};

domain::event of_order(domain::event_kind kind, std::uint64_t order, std::uint32_t lots, std::uint32_t request = 0,
                       domain::session_id session = fix) {
    domain::event e;
    e.kind = kind;
    e.time = domain::time_ns{1'000};
    e.order.order = domain::order_id{order};
    e.order.client_order = domain::client_order_id{order + 100};
    e.order.quantity = domain::quantity_lots{lots};
    e.order.account = domain::account_id{1};
    e.order.session = session;
    e.order.request = request;
    return e;
}

domain::event fill(std::uint64_t order, std::int64_t price, std::uint32_t lots, std::uint32_t leaves) {
    domain::event e;
    e.kind = domain::event_kind::order_executed;
    e.execution.order = domain::order_id{order};
    e.execution.client_order = domain::client_order_id{order + 100};
    e.execution.price = domain::price_ticks{price};
    e.execution.quantity = domain::quantity_lots{lots};
    e.execution.leaves = domain::quantity_lots{leaves};
    e.execution.account = domain::account_id{1};
    e.execution.session = fix;
    return e;
}

domain::event name_of(domain::command_kind kind, std::uint32_t request, std::uint64_t name,
                      std::uint64_t of_order = 0) {
    domain::event e;
    e.kind = domain::event_kind::request_named;
    e.named.name = domain::client_order_id{name};
    e.named.client_order = domain::client_order_id{of_order};
    e.named.account = domain::account_id{1};
    e.named.session = fix;
    e.named.request = request;
    e.named.kind = static_cast<std::uint8_t>(kind);
    return e;
}

domain::event counted(std::uint64_t number, std::uint64_t next_answer, std::uint32_t count) {
    domain::event e;
    e.kind = domain::event_kind::messages_counted;
    e.time = domain::time_ns{500};
    e.counted.number = number;
    e.counted.next_answer = next_answer;
    e.counted.count = count;
    e.counted.account = domain::account_id{1};
    e.counted.session = fix;
    return e;
}

answer_log log_of_fix(std::size_t kept = 1'024) {
    answer_log_options options;
    options.answers_max = kept;
    options.session_answers_max = kept;
    answer_log log(2, options);
    log.set_detailed(fix);
    return log;
}

answer_log::detailed_answer last_of(const answer_log& log) {
    answer_log::cursor near;
    const auto found = log.find_detailed(fix, log.detailed_count(fix), near);
    EXPECT_TRUE(found.has_value());
    return found.value_or(answer_log::detailed_answer{});
}

TEST(answer_details, tell_how_much_of_an_order_is_filled_and_for_how_much) {
    answer_log log = log_of_fix();
    log.append(fill(7, 100, 2, 8));
    log.append(fill(7, 103, 3, 5));
    log.append(of_order(domain::event_kind::order_entered, 7, 5));
    EXPECT_EQ(last_of(log).details.filled.value, 5U);
    EXPECT_EQ(last_of(log).details.value, 2 * 100 + 3 * 103);
    EXPECT_EQ(last_of(log).details.name.value, 107U) << "that of the order";
    log.append(of_order(domain::event_kind::order_entered, 8, 5));
    EXPECT_EQ(last_of(log).details.filled.value, 0U) << "another order";
    log.append(of_order(domain::event_kind::order_cancelled, 7, 5));
    EXPECT_EQ(last_of(log).details.filled.value, 5U);
    // The owner is told as well as another session that asked: the second message says the same.
    log.append(of_order(domain::event_kind::order_cancelled, 7, 5));
    EXPECT_EQ(last_of(log).details.filled.value, 5U);
    EXPECT_EQ(log.detailed_count(fix), 6U);
}

TEST(answer_details, the_answer_of_a_request_with_a_name_has_both_names) {
    answer_log log = log_of_fix();
    log.append(name_of(domain::command_kind::amend_order, 3, 55, 44));
    EXPECT_EQ(log.detailed_count(fix), 0U) << "the name is no answer";
    log.append(of_order(domain::event_kind::order_amended, 7, 5, 3));
    EXPECT_EQ(last_of(log).details.name.value, 55U);
    EXPECT_EQ(last_of(log).details.of_order.value, 44U);
    EXPECT_EQ(last_of(log).details.request_kind, static_cast<std::uint8_t>(domain::command_kind::amend_order));
    log.append(of_order(domain::event_kind::order_cancelled, 7, 5, 3));
    EXPECT_EQ(last_of(log).details.of_order.value, 0U) << "a consequence of the amend is the order's";
}

TEST(answer_details, a_mass_cancel_has_an_answer_of_its_own_before_its_orders) {
    answer_log log = log_of_fix();
    for (int partition = 0; partition < 2; ++partition) {
        log.append(name_of(domain::command_kind::cancel_orders, 3, 55, 7));
        log.append(of_order(domain::event_kind::order_cancelled, 7 + static_cast<std::uint64_t>(partition), 5, 3));
    }
    ASSERT_EQ(log.detailed_count(fix), 3U);
    answer_log::cursor near;
    const auto report = log.find_detailed(fix, 1, near);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->event.kind, domain::event_kind::request_named);
    EXPECT_EQ(report->details.name.value, 55U);
    EXPECT_EQ(log.find_detailed(fix, 3, near)->details.name.value, 108U) << "that of the order";
}

TEST(answer_details, a_mass_cancel_that_is_refused_has_one_answer) {
    answer_log log = log_of_fix();
    log.append(name_of(domain::command_kind::cancel_orders, 3, 55, 7));
    log.append(of_order(domain::event_kind::order_rejected, 0, 0, 3));
    ASSERT_EQ(log.detailed_count(fix), 1U);
    EXPECT_EQ(last_of(log).details.request_kind, static_cast<std::uint8_t>(domain::command_kind::cancel_orders));
}

TEST(answer_details, a_query_of_all_orders_ends_with_their_number) {
    answer_log log = log_of_fix();
    const auto page = [&log](std::uint64_t order) {
        log.append(name_of(domain::command_kind::query_order, 3, 55));
        if (order != 0) log.append(of_order(domain::event_kind::order_status, order, 5, 3));
    };
    page(7);
    EXPECT_EQ(last_of(log).details.name.value, 55U);
    EXPECT_EQ(last_of(log).event.order.client_order.value, 107U);
    log.append(of_order(domain::event_kind::order_status, 8, 5, 3));
    EXPECT_EQ(last_of(log).details.name.value, 55U) << "that of the query, for each order";
    page(9);  // of another partition
    log.append(of_order(domain::event_kind::request_done, 0, 0, 3));
    EXPECT_EQ(log.detailed_count(fix), 4U);
    EXPECT_EQ(last_of(log).details.orders_count, 3U);
    EXPECT_EQ(last_of(log).details.request_kind, static_cast<std::uint8_t>(domain::command_kind::query_order));
    log.append(of_order(domain::event_kind::request_done, 0, 0, 4));
    EXPECT_EQ(log.detailed_count(fix), 4U) << "of another request";
    log.append(name_of(domain::command_kind::query_order, 5, 56));
    log.append(of_order(domain::event_kind::request_done, 0, 0, 5));
    EXPECT_EQ(last_of(log).details.orders_count, 0U);
    EXPECT_EQ(last_of(log).details.name.value, 56U);
}

TEST(answer_details, positions_have_the_name_of_their_request_and_are_for_its_session_only) {
    constexpr domain::session_id copy{2};
    constexpr domain::session_id plain_copy{3};
    answer_log log(3);
    log.set_detailed(fix);
    log.set_detailed(copy);
    log.copy(domain::account_id{9}, copy);
    log.copy(domain::account_id{9}, plain_copy);
    const auto position = [](std::uint32_t instrument) {
        domain::event e;
        e.kind = domain::event_kind::position_reported;
        e.instrument = domain::instrument_id{instrument};
        e.position = {};
        e.position.account = domain::account_id{9};
        e.position.session = fix;
        e.position.request = 3;
        return e;
    };
    domain::event name = name_of(domain::command_kind::query_order, 3, 55);
    name.named.account = domain::account_id{9};
    log.append(name);
    for (const std::uint32_t instrument : {0U, 1U, 2U}) {
        log.append(position(instrument));
        EXPECT_EQ(last_of(log).event.instrument.value, instrument);
        EXPECT_EQ(last_of(log).details.name.value, 55U);
        EXPECT_EQ(last_of(log).details.request_kind, static_cast<std::uint8_t>(domain::command_kind::query_order));
    }
    EXPECT_EQ(log.detailed_count(fix), 3U);
    EXPECT_EQ(log.detailed_count(copy), 0U);
    EXPECT_EQ(log.next_answer(plain_copy), 1U);
    domain::event of_another_protocol = position(1);
    of_another_protocol.position.session = plain_copy;
    log.append(of_another_protocol);
    EXPECT_EQ(log.next_answer(plain_copy), 1U) << "Corro Binary has no such message";
}

TEST(answer_details, a_query_of_one_order_has_one_answer) {
    answer_log log = log_of_fix();
    domain::event name = name_of(domain::command_kind::query_order, 3, 55, 107);
    name.named.order = domain::order_id{7};
    log.append(name);
    log.append(of_order(domain::event_kind::order_status, 7, 5, 3));
    EXPECT_EQ(last_of(log).details.of_order.value, 107U);
}

TEST(answer_details, quotes_protection_legs_and_settlements_are_answers) {
    answer_log log = log_of_fix();
    domain::event quote;
    quote.kind = domain::event_kind::quote_entered;
    quote.quote = {};
    quote.quote.client_order = domain::client_order_id{44};
    quote.quote.session = fix;
    log.append(quote);
    EXPECT_EQ(last_of(log).details.name.value, 44U);
    domain::event protection;
    protection.kind = domain::event_kind::protection_changed;
    protection.protection = {};
    protection.protection.session = fix;
    log.append(protection);
    domain::event capture;
    capture.kind = domain::event_kind::trade_capture;
    capture.capture = {};
    capture.capture.session = fix;
    capture.capture.order = domain::order_id{7};
    EXPECT_EQ(log.append(capture), 0U) << "its order_executed is an answer";
    EXPECT_EQ(log.detailed_count(fix), 2U);
    capture.capture.order = {};
    log.append(capture);
    domain::event leg;
    leg.kind = domain::event_kind::leg_capture;
    leg.leg_fill = {};
    leg.leg_fill.session = fix;
    log.append(leg);
    EXPECT_EQ(log.detailed_count(fix), 4U);
}

TEST(answer_details, a_copy_shows_whether_its_names_are_of_another_protocol) {
    answer_log log(3);
    const domain::session_id copy{3};
    log.set_detailed(fix);
    log.set_detailed(copy);
    log.copy(domain::account_id{1}, copy);
    const auto is_foreign = [&log, copy](std::uint64_t answer) {
        answer_log::cursor near;
        return log.find_detailed(copy, answer, near).value_or(answer_log::detailed_answer{}).details.is_foreign;
    };
    log.append(of_order(domain::event_kind::order_entered, 7, 5, 0, fix));
    log.append(of_order(domain::event_kind::order_entered, 8, 5, 0, binary));
    EXPECT_EQ(is_foreign(1), 0);
    EXPECT_EQ(is_foreign(2), 1);
    EXPECT_EQ(last_of(log).details.is_foreign, 0);
}

TEST(answer_details, sessions_of_corro_binary_are_not_given_names_and_counts) {
    answer_log log(2);
    log.append(name_of(domain::command_kind::cancel_order, 3, 55));
    EXPECT_EQ(log.append(counted(1, 1, 1)), 0U);
    log.append(of_order(domain::event_kind::order_cancelled, 7, 5, 3));
    EXPECT_EQ(log.next_answer(fix), 2U);
}

TEST(answer_details, come_back_from_their_bytes) {
    answer_log log = log_of_fix();
    log.append(counted(1, 1, 1));
    log.append(fill(7, 100, 2, 8));
    log.append(of_order(domain::event_kind::order_entered, 7, 8));
    log.append(counted(4, 3, 2));
    log.append(of_order(domain::event_kind::order_entered, 9, 8, 0, binary));
    std::vector<std::byte> saved;
    log.save(saved);

    answer_log loaded = log_of_fix();
    ASSERT_EQ(loaded.load(saved), "");
    std::vector<std::byte> again;
    loaded.save(again);
    EXPECT_EQ(saved, again);
    EXPECT_EQ(loaded.numbers(fix).number_of(3), 6U);
    loaded.append(of_order(domain::event_kind::order_cancelled, 7, 8));
    EXPECT_EQ(last_of(loaded).details.filled.value, 2U) << "the fills of open orders come back";
    for (std::size_t size = 0; size < saved.size(); ++size) {
        EXPECT_NE(loaded.load(std::span(saved).first(size)), "");
    }
    EXPECT_EQ(last_of(loaded).event.kind, domain::event_kind::order_cancelled) << "a refused load changes nothing";
}

// --- Texts -----------------------------------------------------------------------------------------------------------

const std::string uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

void name_in(answer_log& log, const std::string& text, std::uint32_t account = 1, domain::session_id session = fix) {
    for (std::size_t part = 0; part < domain::name_parts_count(text.size()); ++part) {
        domain::event e;
        e.kind = domain::event_kind::order_named;
        e.name = domain::name_part_of(text, part);
        e.name.name = domain::long_name(text);
        e.name.account = domain::account_id{account};
        e.name.session = session;
        EXPECT_EQ(log.append(e), 0U);
    }
}

domain::event of_text(domain::event_kind kind, std::uint64_t order, const std::string& text, std::uint32_t request = 0,
                      domain::session_id session = fix) {
    domain::event e = of_order(kind, order, 5, request, session);
    e.order.client_order = domain::long_name(text);
    return e;
}

std::string text_in(const answer_log& log, const std::string& text, std::uint32_t account = 1) {
    return std::string(log.texts().find(domain::account_id{account}, domain::long_name(text)));
}

/// Fills the log with answers about other orders.
void forget_answers(answer_log& log) {
    for (std::uint64_t k = 0; k < 200; ++k) log.append(of_order(domain::event_kind::order_rejected, 0, 5));
}

/// Idle texts, until those before them are forgotten.
void forget_idle_texts(answer_log& log) {
    for (std::size_t k = 0; k < order_texts::idle_max; ++k)
        name_in(log, "a name that nothing uses " + std::to_string(k));
}

TEST(answer_texts, are_kept_while_an_order_is_open_and_answers_about_it_are_kept) {
    answer_log log = log_of_fix(64);
    name_in(log, uuid);
    EXPECT_EQ(text_in(log, uuid), uuid);
    EXPECT_EQ(text_in(log, uuid, 2), "") << "names are of an account";
    log.append(of_text(domain::event_kind::order_entered, 7, uuid));
    EXPECT_EQ(last_of(log).details.texts, text_of::name);
    forget_answers(log);
    forget_idle_texts(log);
    EXPECT_EQ(text_in(log, uuid), uuid) << "the order is open";
    log.append(of_text(domain::event_kind::order_cancelled, 7, uuid));
    forget_idle_texts(log);
    EXPECT_EQ(text_in(log, uuid), uuid) << "its last answer is kept";
    EXPECT_EQ(log.texts().count(), order_texts::idle_max + 1);
    forget_answers(log);
    EXPECT_EQ(text_in(log, uuid), uuid) << "idle";
    forget_idle_texts(log);
    EXPECT_EQ(text_in(log, uuid), "");
    EXPECT_EQ(log.texts().count(), order_texts::idle_max);
    log.append(of_text(domain::event_kind::order_rejected, 0, uuid));
    name_in(log, uuid);
    EXPECT_EQ(last_of(log).details.texts, 0) << "sent again, it is what it was";
}

TEST(answer_texts, of_orders_that_were_renamed_filled_and_moved) {
    answer_log log = log_of_fix(64);
    const std::string second = "order-0000012345";
    const auto is_kept = [&log](const std::string& text, std::uint32_t account = 1) {
        forget_answers(log);
        forget_idle_texts(log);
        return !text_in(log, text, account).empty();
    };
    name_in(log, uuid);
    log.append(of_text(domain::event_kind::order_entered, 7, uuid));
    name_in(log, second);
    log.append(
        name_of(domain::command_kind::amend_order, 3, domain::long_name(second).value, domain::long_name(uuid).value));
    log.append(of_text(domain::event_kind::order_amended, 7, second, 3));
    EXPECT_EQ(last_of(log).details.texts, text_of::name | text_of::of_order);
    EXPECT_TRUE(is_kept(second));
    EXPECT_FALSE(is_kept(uuid));
    EXPECT_EQ(log.texts().orders_count(), 1U);
    domain::event moved = of_text(domain::event_kind::order_amended, 7, second);
    moved.order.account = domain::account_id{2};
    log.append(moved);
    EXPECT_TRUE(is_kept(second, 2)) << "an operator has moved the order to another account";
    EXPECT_FALSE(is_kept(second, 1));
    domain::event filled = fill(7, 100, 5, 0);
    filled.execution.client_order = domain::long_name(second);
    filled.execution.account = domain::account_id{2};
    log.append(filled);
    EXPECT_FALSE(is_kept(second, 2));
    // From a short name to a long one, by its own session.
    log.append(of_order(domain::event_kind::order_entered, 8, 5));
    name_in(log, uuid);
    log.append(name_of(domain::command_kind::amend_order, 4, domain::long_name(uuid).value, 108));
    log.append(of_text(domain::event_kind::order_amended, 8, uuid, 4));
    EXPECT_TRUE(is_kept(uuid));
    log.append(of_order(domain::event_kind::order_amended, 8, 5));
    EXPECT_FALSE(is_kept(uuid));
    // By another session of its account, which is told as well.
    name_in(log, uuid);
    log.append(of_text(domain::event_kind::order_amended, 8, uuid));
    log.append(of_text(domain::event_kind::order_amended, 8, uuid, 5, binary));
    EXPECT_EQ(log.texts().orders_count(), 1U);
    log.append(of_text(domain::event_kind::order_cancelled, 8, uuid));
    log.append(of_text(domain::event_kind::order_cancelled, 8, uuid, 6, binary));
    EXPECT_EQ(log.texts().orders_count(), 0U);
    EXPECT_FALSE(is_kept(uuid));
}

TEST(answer_texts, an_id_keeps_its_first_text) {
    answer_log log = log_of_fix();
    name_in(log, uuid);
    for (std::size_t part = 0; part < 2; ++part) {
        domain::event other;
        other.kind = domain::event_kind::order_named;
        other.name = domain::name_part_of(std::string(36, 'x'), part);
        other.name.name = domain::long_name(uuid);
        other.name.account = domain::account_id{1};
        other.name.session = fix;
        log.append(other);
    }
    EXPECT_EQ(text_in(log, uuid), uuid);
}

TEST(answer_texts, are_unknown_without_sessions_that_have_texts) {
    answer_log log(2);
    name_in(log, uuid);
    EXPECT_TRUE(log.texts().is_empty());
}

TEST(answer_texts, of_a_day_that_has_ended_are_given_up) {
    answer_log log = log_of_fix(64);
    name_in(log, uuid);
    for (std::uint64_t k = 0; k < 50; ++k) log.append(of_text(domain::event_kind::order_rejected, 0, uuid));
    domain::event reset;
    reset.kind = domain::event_kind::session_numbers_reset;
    reset.numbers_reset.account = domain::account_id{1};
    reset.numbers_reset.session = fix;
    log.append(reset);
    EXPECT_EQ(text_in(log, uuid), uuid);
    forget_idle_texts(log);
    EXPECT_EQ(text_in(log, uuid), "");
}

TEST(answer_texts, come_back_from_their_bytes) {
    const auto new_log = [] {
        answer_log_options options;
        options.answers_max = options.session_answers_max = 1'024;
        answer_log log(3, options);
        log.set_detailed(fix);
        log.set_detailed(domain::session_id{3});
        log.copy(domain::account_id{1}, domain::session_id{3});
        return log;
    };
    answer_log log = new_log();
    std::vector<std::byte> saved;
    log.append(of_order(domain::event_kind::order_entered, 6, 5));
    log.save(saved);
    EXPECT_EQ(std::to_integer<int>(saved[8]), 3) << "without texts the bytes are as they were before there were any";
    name_in(log, uuid);
    log.append(of_text(domain::event_kind::order_entered, 7, uuid));
    name_in(log, "the order of another account", 2, binary);
    domain::event foreign = of_text(domain::event_kind::order_entered, 8, "the order of another account", 0, binary);
    foreign.order.account = domain::account_id{2};
    log.append(foreign);
    name_in(log, "of a request under way");
    saved.clear();
    log.save(saved);
    EXPECT_EQ(std::to_integer<int>(saved[8]), 4);

    answer_log loaded = new_log();
    ASSERT_EQ(loaded.load(saved), "");
    std::vector<std::byte> again;
    loaded.save(again);
    EXPECT_EQ(saved, again);
    EXPECT_EQ(text_in(loaded, uuid), uuid);
    EXPECT_EQ(text_in(loaded, "of a request under way"), "of a request under way");
    EXPECT_EQ(loaded.texts().orders_count(), 2U);
    answer_log::cursor near;
    EXPECT_EQ(loaded.find_detailed(domain::session_id{3}, 2, near)->details.texts, text_of::name) << "the drop copy";
    for (std::size_t size = 0; size < saved.size(); ++size) {
        EXPECT_NE(loaded.load(std::span(saved).first(size)), "");
    }
    loaded.append(of_text(domain::event_kind::order_cancelled, 7, uuid));
    EXPECT_EQ(last_of(loaded).details.texts, text_of::name);

    // For the gateway of the drop copy.
    saved.clear();
    log.save(saved, {false, false, false, true});
    answer_log part = new_log();
    ASSERT_EQ(part.load(saved), "");
    EXPECT_EQ(text_in(part, uuid), uuid);
    EXPECT_EQ(part.texts().orders_count(), 1U) << "its gateway will see the end of the order";
    EXPECT_EQ(text_in(part, "the order of another account", 2), "");
}

TEST(answer_details, a_session_that_has_spoken_another_protocol_is_not_loaded) {
    answer_log before(2);
    before.append(of_order(domain::event_kind::order_entered, 7, 5));
    std::vector<std::byte> saved;
    before.save(saved);
    answer_log log = log_of_fix();
    EXPECT_NE(log.load(saved).find("session 1 spoke Corro Binary"), std::string::npos);

    answer_log fix_before = log_of_fix();
    fix_before.append(of_order(domain::event_kind::order_entered, 7, 5));
    saved.clear();
    fix_before.save(saved);
    answer_log now(2);
    EXPECT_NE(now.load(saved).find("session 1 spoke FIX"), std::string::npos);
}

TEST(answer_details, numbers_begin_again_with_the_day) {
    answer_log log = log_of_fix();
    log.append(counted(1, 1, 3));
    EXPECT_TRUE(log.is_of_before(fix, domain::time_ns{501})) << "heartbeats are numbered as well";
    EXPECT_FALSE(log.is_of_before(fix, domain::time_ns{500}));
    log.append(of_order(domain::event_kind::order_entered, 7, 5));
    domain::event reset;
    reset.kind = domain::event_kind::session_numbers_reset;
    reset.numbers_reset.account = domain::account_id{1};
    reset.numbers_reset.session = fix;
    log.append(reset);
    EXPECT_EQ(log.detailed_count(fix), 0U);
    EXPECT_EQ(log.numbers(fix).number_of(1), 1U);
}

TEST(answer_details, an_answer_that_was_given_up_is_not_found) {
    answer_log log = log_of_fix(64);
    for (std::uint64_t order = 1; order <= 100; ++order) {
        log.append(of_order(domain::event_kind::order_entered, order, 5));
    }
    answer_log::cursor near;
    EXPECT_EQ(log.detailed_count(fix), 100U);
    EXPECT_FALSE(log.find_detailed(fix, log.first_detailed_kept(fix) - 1, near));
    for (std::uint64_t answer = log.first_detailed_kept(fix); answer <= 100; ++answer) {
        const auto found = log.find_detailed(fix, answer, near);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->event.order.order.value, answer);
        EXPECT_EQ(found->details.name.value, answer + 100);
    }
    EXPECT_FALSE(log.find_detailed(fix, 101, near)) << "not given yet";
}

}  // namespace
}  // namespace corro::gateway
