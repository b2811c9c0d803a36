// SPDX-License-Identifier: Apache-2.0
// Names that amends, cancels, mass cancels and queries have of their own, and messages that are counted.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "facility/facility.hpp"
#include "facility/recorder.hpp"

namespace corro::facility {
namespace {

using domain::account_id;
using domain::client_order_id;
using domain::command;
using domain::command_kind;
using domain::event;
using domain::event_kind;
using domain::order_id;
using domain::reject_reason;
using domain::session_id;
using domain::side;
using testing::limit;
using testing::name_of;
using testing::recorder;
using testing::wide_instrument;
using strings = std::vector<std::string>;

constexpr std::uint32_t market = 1;

class request_names : public ::testing::Test {
 protected:
    std::vector<event> apply(command c) {
        c.sequence = domain::sequence_number{++sequence_};
        c.set_request(static_cast<std::uint32_t>(sequence_));
        recorder_.events.clear();
        venue_.apply(c);
        return recorder_.events;
    }
    static strings names(const std::vector<event>& events) {
        strings out;
        for (const event& e : events) out.emplace_back(name_of(e.kind));
        return out;
    }
    /// A request about the order `named` of account 1.
    static command request(command_kind kind, std::uint64_t named, std::uint64_t name) {
        command c;
        c.kind = kind;
        c.account = account_id{1};
        c.session = session_id{101};
        c.instrument = domain::instrument_id{market};
        c.client_order = client_order_id{named};
        c.request_name() = client_order_id{name};
        return c;
    }
    static command amend(std::uint64_t named, std::uint64_t name, std::int64_t price = 99, std::uint32_t total = 5) {
        command c = request(command_kind::amend_order, named, name);
        c.amend_order().price = domain::price_ticks{price};
        c.amend_order().quantity = domain::quantity_lots{total};
        return c;
    }
    /// Puts an account into firm 1.
    void join_firm(std::uint32_t account) {
        command c;
        c.kind = command_kind::set_limits;
        c.set_operator(true);
        c.set_limits().other_account = account_id{account};
        c.set_limits().firm = 1;
        apply(c);
    }
    /// Whether the account has an open order with this client order id.
    bool is_open(std::uint64_t client_order, std::uint32_t account = 1) {
        command c = request(command_kind::query_order, client_order, 0);
        c.account = account_id{account};
        const std::vector<event> said = apply(c);
        EXPECT_EQ(said.size(), 1U);
        return said[0].kind == event_kind::order_status && said[0].order.client_order.value == client_order;
    }

    std::array<domain::instrument, 2> instruments_{wide_instrument(market), wide_instrument(7)};
    recorder recorder_;
    facility venue_{{.orders_max = 16, .accounts_max = 4, .positions_max = 16}, instruments_, recorder_};
    std::uint64_t sequence_ = 0;
};

TEST_F(request_names, are_announced_before_the_answer_with_the_order_and_its_name_before_the_request) {
    const order_id order = apply(limit(1, side::sell, 100, 5, 11))[0].order.order;
    command c = request(command_kind::cancel_order, 0, 12);
    c.cancel_order().order = order;
    c.instrument = domain::instrument_id{7};
    const std::vector<event> said = apply(c);
    EXPECT_EQ(names(said),
              (strings{"request_named", "order_cancelled", "order_deleted", "level_changed", "top_of_book"}));
    const event& e = said[0];
    EXPECT_EQ(e.command.value, sequence_);
    EXPECT_EQ(e.instrument.value, market);
    EXPECT_EQ(e.side, side::sell);
    EXPECT_EQ(e.reason, reject_reason::none);
    EXPECT_EQ(e.flags, 0);
    EXPECT_EQ(e.named.order, order);
    EXPECT_EQ(e.named.client_order.value, 11U);
    EXPECT_EQ(e.named.name.value, 12U);
    EXPECT_EQ(e.named.account.value, 1U);
    EXPECT_EQ(e.named.session.value, 101U);
    EXPECT_EQ(e.named.request, sequence_);
    EXPECT_EQ(e.named.kind, static_cast<std::uint8_t>(command_kind::cancel_order));
    EXPECT_EQ(said[1].order.client_order.value, 11U) << "a cancel renames nothing";
    EXPECT_EQ(said[1].flags, domain::event_flag::last_of_request);
}

TEST_F(request_names, of_requests_about_no_order_or_many_name_none) {
    apply(limit(1, side::sell, 100, 5, 11));
    const auto first = [&](const command& c) {
        const std::vector<event> said = apply(c);
        EXPECT_EQ(said.at(0).kind, event_kind::request_named);
        EXPECT_EQ(said.at(0).named.order.value, 0U);
        EXPECT_EQ(said.at(0).named.client_order, c.client_order);
        EXPECT_EQ(said.at(0).named.name.value, 12U);
        EXPECT_EQ(said.at(0).instrument, c.instrument);
        EXPECT_EQ(said.at(0).side, side::buy);
        return names(said);
    };
    command query = request(command_kind::query_order, 0, 12);
    query.query_order().flags = domain::query_flag::all_of_account;
    EXPECT_EQ(first(query), (strings{"request_named", "order_status", "request_done"}));
    EXPECT_EQ(first(request(command_kind::cancel_order, 9, 12)), (strings{"request_named", "order_rejected"}));
    EXPECT_EQ(first(request(command_kind::cancel_orders, 0, 12)),
              (strings{"request_named", "order_cancelled", "order_deleted", "level_changed", "top_of_book"}));
    command unknown = request(command_kind::cancel_orders, 0, 12);
    unknown.account = account_id{4};
    EXPECT_EQ(first(unknown), (strings{"request_named", "order_rejected"}));
}

TEST_F(request_names, are_announced_before_a_verdict_of_the_edge_with_the_order) {
    const order_id order = apply(limit(1, side::sell, 100, 5, 11))[0].order.order;
    command c = amend(11, 12);
    c.set_verdict(reject_reason::price_off_tick);
    const std::vector<event> said = apply(c);
    EXPECT_EQ(names(said), (strings{"request_named", "order_rejected"}));
    EXPECT_EQ(said[0].named.order, order);
    EXPECT_EQ(said[1].reason, reject_reason::price_off_tick);
    EXPECT_TRUE(is_open(11));
}

TEST_F(request_names, are_announced_after_orders_that_have_expired_before) {
    command gtd = limit(1, side::sell, 100, 5, 11);
    gtd.order_terms().time_in_force = domain::time_in_force::gtd;
    gtd.enter_order().expire_time = domain::time_ns{10};
    apply(gtd);
    command c = request(command_kind::cancel_order, 11, 12);
    c.time = domain::time_ns{11};
    const std::vector<event> said = apply(c);
    EXPECT_EQ(names(said), (strings{"order_cancelled", "order_deleted", "level_changed", "top_of_book", "request_named",
                                    "order_rejected"}));
    EXPECT_EQ(said[4].named.order.value, 0U);
}

TEST_F(request_names, become_the_client_order_id_of_an_amended_order) {
    const order_id order = apply(limit(1, side::buy, 99, 5, 11))[0].order.order;
    const std::vector<event> said = apply(amend(11, 12, 99, 4));
    EXPECT_EQ(names(said),
              (strings{"request_named", "order_amended", "order_reduced", "level_changed", "top_of_book"}));
    EXPECT_EQ(said[0].named.client_order.value, 11U);
    EXPECT_EQ(said[1].order.order, order);
    EXPECT_EQ(said[1].order.client_order.value, 12U);
    EXPECT_TRUE(is_open(12));
    EXPECT_FALSE(is_open(11)) << "the old name is free";
    EXPECT_EQ(apply(limit(1, side::buy, 98, 5, 11))[0].kind, event_kind::order_entered);
    const std::vector<event> fill = apply(limit(2, side::sell, 99, 4));
    EXPECT_EQ(fill.at(1).kind, event_kind::order_executed);
    EXPECT_EQ(fill.at(1).execution.client_order.value, 12U);
    EXPECT_EQ(apply(limit(1, side::buy, 98, 5, 12))[0].kind, event_kind::order_entered) << "free when the order ends";
}

TEST_F(request_names, are_in_the_fills_of_the_amend_itself) {
    apply(limit(2, side::sell, 100, 2, 21));
    apply(limit(1, side::buy, 99, 5, 11));
    const std::vector<event> said = apply(amend(11, 12, 100, 5));
    ASSERT_GT(said.size(), 6U);
    EXPECT_EQ(said[1].kind, event_kind::order_amended);
    EXPECT_EQ(said[5].kind, event_kind::order_executed);
    EXPECT_EQ(said[5].execution.client_order.value, 12U);
    EXPECT_TRUE(is_open(12));
}

TEST_F(request_names, give_a_name_to_an_order_without_one_also_while_it_waits_for_its_trigger) {
    command stop = limit(1, side::buy, 0, 5, 0);
    stop.order_terms().type = domain::order_type::stop;
    stop.enter_order().trigger_price = domain::price_ticks{105};
    command c = amend(0, 12);
    c.amend_order().order = apply(stop)[0].order.order;
    EXPECT_EQ(names(apply(c)), (strings{"request_named", "order_amended"}));
    EXPECT_TRUE(is_open(12));
}

TEST_F(request_names, leave_the_request_number_of_a_renamed_order) {
    apply(limit(1, side::buy, 99, 5, 11));
    const auto entered = static_cast<std::uint32_t>(sequence_);
    apply(amend(11, 12));
    command c = request(command_kind::cancel_order, 0, 0);
    c.cancel_order().target_request = entered;
    EXPECT_EQ(apply(c)[0].kind, event_kind::order_cancelled);
}

TEST_F(request_names, that_another_order_of_the_account_has_are_refused) {
    apply(limit(1, side::buy, 99, 5, 11));
    apply(limit(1, side::buy, 98, 5, 12));
    apply(limit(2, side::buy, 98, 5, 13));
    const std::uint64_t hash = venue_.state_hash();
    const std::vector<event> said = apply(amend(11, 12));
    EXPECT_EQ(names(said), (strings{"request_named", "order_rejected"}));
    EXPECT_EQ(said[1].reason, reject_reason::duplicate_client_order_id);
    EXPECT_EQ(said[1].order.order, said[0].named.order);
    EXPECT_EQ(said[1].order.client_order.value, 11U);
    EXPECT_EQ(venue_.state_hash(), hash);
    EXPECT_EQ(apply(amend(11, 13))[1].kind, event_kind::order_amended) << "another account's name";
    EXPECT_EQ(apply(amend(13, 13))[1].kind, event_kind::order_amended) << "its own name";
    EXPECT_TRUE(is_open(13));
}

TEST_F(request_names, do_not_rename_an_order_that_an_amend_refuses_or_cancels) {
    apply(limit(1, side::buy, 99, 5, 11));
    EXPECT_EQ(apply(amend(11, 12, domain::price_ticks_max + 1))[1].reason, reject_reason::invalid_price);
    EXPECT_TRUE(is_open(11));
    apply(limit(1, side::buy, 98, 5, 12));
    const std::vector<event> said = apply(amend(11, 12, 99, 0));
    EXPECT_EQ(said[1].kind, event_kind::order_cancelled);
    EXPECT_EQ(said[1].order.client_order.value, 11U);
    EXPECT_TRUE(is_open(12));
}

TEST_F(request_names, need_to_be_free_only_in_the_account_to_which_the_order_moves) {
    join_firm(1);
    join_firm(2);
    apply(limit(1, side::buy, 99, 5, 11));
    apply(limit(1, side::buy, 98, 5, 12));
    apply(limit(2, side::buy, 98, 5, 11));
    apply(limit(2, side::buy, 98, 5, 13));
    command c = amend(11, 0);
    c.amend_order().flags = domain::amend_flag::account;
    c.amend_order().other_account = account_id{2};
    const auto reason = [&](std::uint64_t name) {
        c.request_name() = client_order_id{name};
        return apply(c).back().reason;
    };
    EXPECT_EQ(reason(0), reject_reason::duplicate_client_order_id) << "account 2 has an 11";
    EXPECT_EQ(reason(11), reject_reason::duplicate_client_order_id);
    EXPECT_EQ(reason(13), reject_reason::duplicate_client_order_id);
    c.request_name() = client_order_id{12};
    const std::vector<event> said = apply(c);
    ASSERT_EQ(said.at(1).kind, event_kind::order_amended) << "only account 1 has a 12";
    EXPECT_EQ(said[0].named.account.value, 1U);
    EXPECT_EQ(said[1].order.account.value, 2U);
    EXPECT_EQ(said[1].order.client_order.value, 12U);
    EXPECT_FALSE(is_open(11));
    EXPECT_TRUE(is_open(12));
    EXPECT_TRUE(is_open(12, 2));
    EXPECT_TRUE(is_open(11, 2));
}

TEST_F(request_names, outlast_a_snapshot) {
    apply(limit(1, side::buy, 99, 5, 11));
    apply(amend(11, 12));
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    ASSERT_TRUE(venue_.save(sink));
    base::memory_source source(bytes);
    const std::uint64_t hash = venue_.state_hash();
    ASSERT_FALSE(venue_.load(source));
    EXPECT_EQ(venue_.state_hash(), hash);
    EXPECT_TRUE(is_open(12));
    EXPECT_FALSE(is_open(11));
}

TEST_F(request_names, are_announced_only_to_the_session_that_asks) {
    apply(limit(1, side::buy, 99, 5, 11));
    command c = amend(11, 12, 99, 4);
    c.session = session_id{102};
    const std::vector<event> said = apply(c);
    EXPECT_EQ(names(said), (strings{"request_named", "order_amended", "order_amended", "order_reduced", "level_changed",
                                    "top_of_book"}));
    EXPECT_EQ(said[0].named.session.value, 102U);
    EXPECT_EQ(said[1].order.session.value, 101U);
    EXPECT_EQ(said[1].order.client_order.value, 12U);
    EXPECT_EQ(said[2].order.session.value, 102U);
    EXPECT_EQ(said[2].order.client_order.value, 12U);
}

TEST_F(request_names, count_messages_changes_nothing_and_says_what_was_counted) {
    apply(limit(1, side::buy, 99, 5, 11));
    const std::uint64_t hash = venue_.state_hash();
    command c;
    c.kind = command_kind::count_messages;
    c.account = account_id{1};
    c.session = session_id{101};
    c.count_messages().number = 1'234'567'890'123;
    c.count_messages().count = 7;
    c.count_messages().next_answer = 42;
    const std::vector<event> said = apply(c);
    ASSERT_EQ(names(said), strings{"messages_counted"});
    EXPECT_EQ(said[0].flags, domain::event_flag::last_of_command);
    EXPECT_EQ(said[0].instrument.value, 0U);
    EXPECT_EQ(said[0].counted.number, 1'234'567'890'123U);
    EXPECT_EQ(said[0].counted.count, 7U);
    EXPECT_EQ(said[0].counted.next_answer, 42U);
    EXPECT_EQ(said[0].counted.account.value, 1U);
    EXPECT_EQ(said[0].counted.session.value, 101U);
    EXPECT_EQ(venue_.state_hash(), hash);
    c.account = account_id{4};
    EXPECT_EQ(apply(c).at(0).reason, reject_reason::not_authorised);
    c.account = account_id{1};
    c.set_verdict(reject_reason::throttled);
    EXPECT_EQ(names(apply(c)), strings{"order_rejected"});
}

TEST_F(request_names, name_order_changes_nothing_and_says_the_text_in_parts) {
    apply(limit(1, side::buy, 99, 5, 11));
    const std::uint64_t hash = venue_.state_hash();
    const std::string text = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    command c = domain::name_order_of(text);
    c.account = account_id{1};
    c.session = session_id{101};
    c.instrument = domain::instrument_id{1};
    const std::vector<event> said = apply(c);
    ASSERT_EQ(names(said), (strings{"order_named", "order_named"}));
    std::string joined;
    for (const event& e : said) {
        EXPECT_EQ(e.name.name, domain::long_name(text));
        EXPECT_EQ(e.name.account.value, 1U);
        EXPECT_EQ(e.name.session.value, 101U);
        EXPECT_EQ(e.name.length, text.size());
        EXPECT_EQ(e.instrument.value, 0U);
        joined.append(e.name.text.begin(), e.name.text.end());
    }
    EXPECT_EQ(joined.substr(0, text.size()), text);
    EXPECT_EQ(said[0].flags, 0);
    EXPECT_EQ(said[1].flags, domain::event_flag::last_of_command);
    EXPECT_EQ(venue_.state_hash(), hash);
}

}  // namespace
}  // namespace corro::facility
