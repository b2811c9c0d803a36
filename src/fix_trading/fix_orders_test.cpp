// SPDX-License-Identifier: Apache-2.0
#include "fix_trading/fix_orders.hpp"

#include <gtest/gtest.h>

#include <string>

#include "domain/private_event.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/session/message_store.hpp"

namespace corro::fix_trading {
namespace {

using domain::command_kind;
using domain::event_kind;

constexpr std::uint64_t changes_base = 9'000'000;

wire::instrument_table one_instrument() {
    wire::instrument_table table;
    domain::instrument i;
    i.id = domain::instrument_id{3};
    i.name = domain::symbol("ESZ6");
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    i.price_low = domain::price_ticks{0};
    i.price_high = domain::price_ticks{100'000};
    table.define(i);
    return table;
}

/// A session that is logged on, and the orders over it.
class fix_orders_test : public ::testing::Test {
 protected:
    fix_orders_test() : session_(settings(), store_), orders_(instruments_, changes_base) {
        session_.begin(now_);
        static_cast<void>(take("35=A|34=1|98=0|108=30|"));
        session_.consume(session_.output().size());
    }

    static fix::session_settings settings() {
        fix::session_settings made;
        made.side = fix::session_side::initiator;
        made.identity.sender_comp_id = "A";
        made.identity.target_comp_id = "B";
        return made;
    }
    static domain::command order(std::uint64_t name, domain::side side = domain::side::buy) {
        domain::command c;
        c.kind = command_kind::enter_order;
        c.instrument = domain::instrument_id{3};
        c.client_order = domain::client_order_id{name};
        c.order_terms().side = side;
        c.enter_order().price = domain::price_ticks{18'001};
        c.enter_order().quantity = domain::quantity_lots{5};
        return c;
    }
    static domain::command change(command_kind kind, std::uint64_t name) {
        domain::command c;
        c.kind = kind;
        c.instrument = domain::instrument_id{3};
        c.client_order = domain::client_order_id{name};
        return c;
    }
    fix::taken take(std::string_view type_and_body) {
        const std::size_t end = type_and_body.find('|') + 1;
        input_ = fix::testing::framed(std::string(type_and_body.substr(0, end)) + "49=B|56=A|52=20260105-10:00:00|" +
                                      std::string(type_and_body.substr(end)));
        return session_.take(input_, fix::next_frame(input_, fix::message_bytes_max_default), now_);
    }
    /// What is sent, from ClOrdID (11) on and without the time.
    std::string sent(const domain::command& c) {
        number_ = orders_.send(session_, c, now_);
        std::string text = fix::testing::in_words(session_.output());
        session_.consume(session_.output().size());
        const std::size_t type = text.find("35=");
        const std::size_t name = text.find("|11=") + 1;
        const std::size_t time = text.find("60=");
        const std::size_t rest = text.find('|', time) + 1;
        const std::size_t sum = text.rfind("|10=") + 1;
        return text.substr(type, 5) + text.substr(name, time - name) + text.substr(rest, sum - rest);
    }
    fix_answer answer(std::string_view type_and_body) {
        static_cast<void>(take(type_and_body));
        const auto read = orders_.read(session_.message());
        EXPECT_TRUE(read.has_value() && read->has_value()) << type_and_body;
        return read && *read ? **read : fix_answer{};
    }
    std::string error(std::string_view type_and_body) {
        static_cast<void>(take(type_and_body));
        const auto read = orders_.read(session_.message());
        return read ? "none" : std::string(read.error());
    }

    wire::instrument_table instruments_ = one_instrument();
    fix::instant now_{1, 1'767'607'200'000'000'000};
    fix::memory_store store_;
    fix::session session_;
    fix_orders orders_;
    std::string input_;
    std::uint64_t number_ = 0;
};

TEST_F(fix_orders_test, asks_for_positions_and_reads_them) {
    const auto ask = [&](std::uint8_t flags, std::uint32_t instrument) {
        domain::command c;
        c.kind = command_kind::query_order;
        c.instrument = domain::instrument_id{instrument};
        c.query_order().flags = domain::query_flag::positions | flags;
        EXPECT_NE(orders_.send(session_, c, now_), 0U);
        const std::string text = fix::testing::in_words(session_.output());
        session_.consume(session_.output().size());
        const std::size_t begin = text.find("|56=B|") + 6;
        return text.substr(begin, text.rfind("|10=") + 1 - begin);
    };
    EXPECT_EQ(ask(0, 0), "60=20260105-10:00:00.000|710=9000001|724=0|");
    const fix_answer count = answer("35=AO|34=2|1=5|581=1|710=9000001|721=x|727=2|728=0|729=0|");
    EXPECT_EQ(count.event.kind, event_kind::position_reported);
    EXPECT_EQ(count.event.position.count, 2U);
    EXPECT_EQ(count.request_number, 0U);
    const fix_answer first = answer("35=AP|34=3|55=ESZ6|710=9000001|730=4500.25|702=1|703=TQ|704=50|705=0|");
    EXPECT_EQ(first.event.instrument.value, 3U);
    EXPECT_EQ(first.event.side, domain::side::buy);
    EXPECT_EQ(first.event.position.quantity.value, 5U);
    EXPECT_EQ(first.event.position.last.value, 18'001);
    EXPECT_EQ(first.request_number, 0U);
    const fix_answer last = answer("35=AP|34=4|55=ESZ6|710=9000001|702=1|703=TQ|704=0|705=20|20029=Y|");
    EXPECT_EQ(last.event.side, domain::side::sell);
    EXPECT_EQ(last.event.position.quantity.value, 2U);
    EXPECT_EQ(last.event.position.last, domain::no_price);
    EXPECT_EQ(last.event.flags, domain::event_flag::more_behind | domain::event_flag::last_of_request);
    EXPECT_EQ(last.request_number, 2U);
    EXPECT_EQ(orders_.unanswered_count(), 0U);
    EXPECT_EQ(ask(domain::query_flag::behind, 3), "60=20260105-10:00:00.000|710=9000002|724=0|20028=ESZ6|");
    EXPECT_EQ(answer("35=AO|34=5|710=9000002|727=0|728=2|729=0|").request_number, 3U);
    EXPECT_EQ(ask(0, 3), "55=ESZ6|60=20260105-10:00:00.000|710=9000003|724=0|");
    const fix_answer refused = answer("35=AO|34=6|58=throttled|710=9000003|727=0|728=99|729=2|");
    EXPECT_EQ(refused.event.kind, event_kind::order_rejected);
    EXPECT_EQ(refused.event.reason, domain::reject_reason::throttled);
    EXPECT_EQ(refused.request_number, 4U);
}

TEST_F(fix_orders_test, names_what_is_wrong_with_positions) {
    domain::command c;
    c.kind = command_kind::query_order;
    c.query_order().flags = domain::query_flag::positions;
    EXPECT_NE(orders_.send(session_, c, now_), 0U);
    EXPECT_EQ(error("35=AP|34=2|55=ESZ6|710=9000001|704=10|705=0|"), "there are more positions than were announced");
    static_cast<void>(answer("35=AO|34=3|710=9000001|727=1|728=0|729=0|"));
    EXPECT_EQ(error("35=AO|34=4|710=9000001|727=1|728=0|729=0|"), "an answer about positions is not complete");
    EXPECT_EQ(error("35=AP|34=5|55=NONE|710=9000001|704=10|705=0|"), "a position is in an unknown instrument");
    EXPECT_EQ(error("35=AP|34=6|55=ESZ6|710=9000001|704=10|705=10|"), "a position is long and short");
}

TEST_F(fix_orders_test, a_question_that_is_not_answered_leaves_the_order_open) {
    static_cast<void>(sent(order(7)));
    static_cast<void>(answer("35=8|34=2|11=7|14=0|37=1|38=50|39=0|44=4500.25|54=1|55=ESZ6|150=0|151=50|"));
    static_cast<void>(sent(change(command_kind::query_order, 7)));
    const fix_answer refused = answer("35=j|34=3|45=3|58=throttled|372=H|379=9000001|380=0|");
    EXPECT_TRUE(refused.is_reject);
    EXPECT_EQ(refused.request_number, 3U);
    EXPECT_EQ(sent(change(command_kind::cancel_order, 7)), "35=F|11=9000002|37=1|55=ESZ6|") << "it is known as before";
}

TEST_F(fix_orders_test, writes_an_order_in_units_of_the_instrument) {
    EXPECT_EQ(sent(order(7)), "35=D|11=7|55=ESZ6|54=1|38=50|40=2|44=4500.25|59=0|");
    domain::command market = order(8, domain::side::sell);
    market.order_terms().type = domain::order_type::market;
    market.order_terms().time_in_force = domain::time_in_force::ioc;
    market.enter_order().minimum_quantity = domain::quantity_lots{2};
    EXPECT_EQ(sent(market), "35=D|11=8|55=ESZ6|54=2|38=50|40=1|59=3|110=20|");
    domain::command iceberg = order(9);
    iceberg.enter_order().display_quantity = domain::quantity_lots{1};
    iceberg.enter_order().flags = domain::order_flag::post_only | domain::order_flag::stays;
    EXPECT_EQ(sent(iceberg), "35=D|11=9|55=ESZ6|54=1|38=50|40=2|44=4500.25|59=0|111=10|18=6|20002=Y|");
    EXPECT_EQ(orders_.unanswered_count(), 3U);
}

TEST_F(fix_orders_test, sends_nothing_that_fix_does_not_have) {
    domain::command quote;
    quote.kind = command_kind::enter_quote;
    quote.instrument = domain::instrument_id{3};
    EXPECT_EQ(orders_.send(session_, quote, now_), 0U);
    domain::command elsewhere = order(7);
    elsewhere.instrument = domain::instrument_id{4};
    EXPECT_EQ(orders_.send(session_, elsewhere, now_), 0U);
    EXPECT_EQ(orders_.unanswered_count(), 0U);
}

TEST_F(fix_orders_test, tells_an_order_that_rests_and_is_filled) {
    static_cast<void>(sent(order(7)));
    const fix_answer rests = answer("35=8|34=2|37=40|11=7|14=0|150=0|39=0|38=50|151=50|44=4500.25|54=1|55=ESZ6|17=x|");
    EXPECT_EQ(rests.event.kind, event_kind::order_entered);
    EXPECT_TRUE(domain::completes_request(rests.event));
    EXPECT_EQ(rests.request_number, number_);
    EXPECT_EQ(rests.event.order.quantity.value, 5U);
    EXPECT_EQ(rests.event.order.price.value, 18'001);
    const fix_answer part =
        answer("35=8|34=3|37=40|11=7|14=20|150=F|39=1|31=4500|32=20|38=50|151=30|54=1|55=ESZ6|17=x|");
    EXPECT_EQ(part.event.kind, event_kind::order_executed);
    EXPECT_FALSE(domain::completes_request(part.event));
    EXPECT_EQ(part.event.execution.quantity.value, 2U);
    EXPECT_EQ(part.event.execution.leaves.value, 3U);
    EXPECT_EQ(part.event.execution.price.value, 18'000);
    EXPECT_EQ(orders_.unanswered_count(), 0U);
}

TEST_F(fix_orders_test, tells_an_order_that_is_filled_at_once) {
    static_cast<void>(sent(order(7)));
    const fix_answer part =
        answer("35=8|34=2|37=40|11=7|14=20|150=F|39=1|31=4500|32=20|38=50|151=30|54=1|55=ESZ6|17=x|");
    EXPECT_FALSE(domain::completes_request(part.event));
    const fix_answer rest =
        answer("35=8|34=3|37=40|11=7|14=50|150=F|39=2|31=4500|32=30|38=50|151=0|54=1|55=ESZ6|17=y|");
    EXPECT_TRUE(domain::completes_request(rest.event));
}

TEST_F(fix_orders_test, keeps_an_orders_first_name_over_a_replace) {
    static_cast<void>(sent(order(7)));
    static_cast<void>(answer("35=8|34=2|37=40|11=7|14=0|150=0|39=0|38=50|151=50|44=4500.25|54=1|55=ESZ6|17=x|"));
    domain::command amend = change(command_kind::amend_order, 7);
    amend.amend_order().price = domain::price_ticks{18'002};
    amend.amend_order().quantity = domain::quantity_lots{6};
    EXPECT_EQ(sent(amend), "35=G|11=9000001|37=40|55=ESZ6|38=60|44=4500.5|");
    const fix_answer replaced =
        answer("35=8|34=3|37=40|11=9000001|41=7|14=0|150=5|39=0|38=60|151=60|44=4500.5|54=1|55=ESZ6|17=y|");
    EXPECT_EQ(replaced.event.kind, event_kind::order_amended);
    EXPECT_EQ(replaced.event.order.client_order.value, 7U);
    EXPECT_TRUE(domain::completes_request(replaced.event));
    const fix_answer filled =
        answer("35=8|34=4|37=40|11=9000001|14=10|150=F|39=1|31=4500.5|32=10|38=60|151=50|54=1|55=ESZ6|17=z|");
    EXPECT_EQ(filled.event.execution.client_order.value, 7U);
    EXPECT_EQ(sent(change(command_kind::query_order, 7)), "35=H|11=9000001|790=9000002|55=ESZ6|");
    EXPECT_EQ(sent(change(command_kind::cancel_order, 7)), "35=F|11=9000003|37=40|55=ESZ6|");
    const fix_answer cancelled =
        answer("35=8|34=5|37=40|11=9000003|41=9000001|14=10|150=4|39=4|38=60|151=0|44=4500.5|54=1|55=ESZ6|17=u|");
    EXPECT_EQ(cancelled.event.kind, event_kind::order_cancelled);
    EXPECT_EQ(cancelled.event.order.client_order.value, 7U);
    EXPECT_TRUE(domain::completes_request(cancelled.event));
    EXPECT_EQ(orders_.unanswered_count(), 1U) << "the status request";
}

TEST_F(fix_orders_test, tells_refusals_with_their_reasons) {
    static_cast<void>(sent(order(7)));
    const std::string words(domain::to_string(domain::reject_reason::duplicate_client_order_id));
    const fix_answer refused =
        answer("35=8|34=2|37=NONE|11=7|14=0|150=8|39=8|38=0|151=0|54=1|55=ESZ6|17=x|58=" + words + "|");
    EXPECT_EQ(refused.event.kind, event_kind::order_rejected);
    EXPECT_EQ(refused.event.reason, domain::reject_reason::duplicate_client_order_id);
    EXPECT_TRUE(domain::completes_request(refused.event));
    EXPECT_EQ(sent(change(command_kind::cancel_order, 7)), "35=F|11=9000001|41=7|55=ESZ6|");
    const std::string unknown(domain::to_string(domain::reject_reason::unknown_order));
    const fix_answer no_cancel = answer("35=9|34=3|37=NONE|11=9000001|41=7|39=8|434=1|58=" + unknown + "|");
    EXPECT_EQ(no_cancel.event.reason, domain::reject_reason::unknown_order);
    EXPECT_EQ(no_cancel.event.order.client_order.value, 7U);
    EXPECT_TRUE(domain::completes_request(no_cancel.event));
    domain::command all;
    all.kind = command_kind::cancel_orders;
    EXPECT_EQ(sent(all), "35=q|11=9000002|530=7|");
    EXPECT_EQ(answer("35=r|34=4|37=1|11=9000002|530=7|531=7|").event.kind, event_kind::request_done);
    static_cast<void>(sent(order(8)));
    const fix_answer rejected = answer("35=j|34=5|45=" + std::to_string(number_) + "|372=n/a|380=4|58=not now|");
    EXPECT_TRUE(rejected.is_reject);
    EXPECT_EQ(rejected.text, "not now");
    EXPECT_EQ(rejected.event.order.client_order.value, 8U);
    EXPECT_EQ(orders_.unanswered_count(), 0U);
}

TEST_F(fix_orders_test, tells_a_reject_by_the_number_of_its_request) {
    static_cast<void>(sent(order(7)));
    EXPECT_EQ(take("35=3|34=2|45=" + std::to_string(number_) + "|371=38|373=6|58=Incorrect format|"),
              fix::taken::reject);
    const auto rejected = orders_.read(session_.message());
    ASSERT_TRUE(rejected.has_value() && rejected->has_value());
    EXPECT_TRUE((*rejected)->is_reject);
    EXPECT_EQ((*rejected)->request_number, number_);
    EXPECT_EQ((*rejected)->event.order.client_order.value, 7U);
    EXPECT_EQ(store_.next_received(), 3U) << "it is counted";
}

TEST_F(fix_orders_test, finds_what_a_report_contradicts) {
    static_cast<void>(sent(order(7)));
    EXPECT_EQ(error("35=8|34=2|37=40|11=7|14=30|150=F|39=1|31=4500|32=20|38=50|151=20|54=1|55=ESZ6|17=x|"),
              "CumQty (14) is not the sum of the fills");
    EXPECT_EQ(error("35=8|34=3|37=40|11=7|14=0|150=0|39=0|38=50|151=40|54=1|55=ESZ6|17=x|"),
              "OrderQty (38) is not CumQty (14) and LeavesQty (151)");
    EXPECT_EQ(error("35=8|34=4|37=40|11=7|14=20|150=F|39=1|31=4500.1|32=20|38=50|151=30|54=1|55=ESZ6|17=x|"),
              "LastPx (31) is no price of the instrument");
    EXPECT_EQ(error("35=8|34=5|37=40|11=7|14=0|150=0|39=0|38=50|151=50|54=1|55=CLF7|17=x|"),
              "a report is of an unknown instrument");
    EXPECT_EQ(error("35=8|34=6|37=41|11=name|14=0|150=0|39=0|38=50|151=50|54=1|55=ESZ6|17=x|"), "none");
}

}  // namespace
}  // namespace corro::fix_trading
