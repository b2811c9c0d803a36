// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/own_orders.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/facility.hpp"

namespace corro::app::desk {
namespace {

domain::event about(domain::event_kind kind, std::uint64_t number, std::uint32_t lots, std::int64_t price = 100) {
    domain::event e;
    e.kind = kind;
    e.instrument = domain::instrument_id{1};
    e.order.client_order = domain::client_order_id{number};
    e.order.order = domain::order_id{number + 1000};
    e.order.price = domain::price_ticks{price};
    e.order.quantity = domain::quantity_lots{lots};
    return e;
}

domain::event fill(std::uint64_t number, std::uint32_t lots, std::uint32_t leaves, domain::side side) {
    domain::event e;
    e.kind = domain::event_kind::order_executed;
    e.instrument = domain::instrument_id{1};
    e.side = side;
    e.execution = {};
    e.execution.client_order = domain::client_order_id{number};
    e.execution.price = domain::price_ticks{100};
    e.execution.quantity = domain::quantity_lots{lots};
    e.execution.leaves = domain::quantity_lots{leaves};
    return e;
}

TEST(own_orders, follows_an_order_from_its_sending_to_its_last_fill) {
    own_orders mine;
    domain::command c;
    c.client_order = domain::client_order_id{5};
    c.enter_order().quantity = domain::quantity_lots{10};
    c.enter_order().price = domain::price_ticks{100};
    mine.on_sent(c);
    EXPECT_EQ(mine.find(domain::client_order_id{5})->state, order_state::sent);
    EXPECT_EQ(mine.open_count(), 1U);
    mine.on_event(fill(5, 4, 6, domain::side::buy));
    mine.on_event(about(domain::event_kind::order_entered, 5, 6));
    EXPECT_EQ(mine.find(domain::client_order_id{5})->state, order_state::open);
    EXPECT_EQ(mine.find(domain::client_order_id{5})->quantity, 10U);
    EXPECT_EQ(mine.find(domain::client_order_id{5})->filled, 4U);
    mine.on_event(fill(5, 6, 0, domain::side::buy));
    EXPECT_EQ(mine.find(domain::client_order_id{5})->state, order_state::filled);
    EXPECT_EQ(mine.open_count(), 0U);
    EXPECT_EQ(mine.fills().size(), 2U);
    EXPECT_EQ(mine.positions().at(domain::instrument_id{1}).lots, 10);
    EXPECT_EQ(mine.positions().at(domain::instrument_id{1}).average, 100.0);
}

TEST(own_position, has_the_average_price_of_what_is_open_and_the_result_of_what_is_closed) {
    own_position p;
    p.add(2, domain::price_ticks{100});
    p.add(2, domain::price_ticks{110});
    EXPECT_EQ(p.average, 105.0);
    p.add(-1, domain::price_ticks{125});
    EXPECT_EQ(p.average, 105.0);
    EXPECT_EQ(p.realised, 20.0);
    // Through zero: the rest is sold at the price of this fill.
    p.add(-5, domain::price_ticks{95});
    EXPECT_EQ(p.lots, -2);
    EXPECT_EQ(p.average, 95.0);
    EXPECT_EQ(p.realised, -10.0);
    p.add(2, domain::price_ticks{90});
    EXPECT_EQ(p.lots, 0);
    EXPECT_EQ(p.average, 0.0);
    EXPECT_EQ(p.realised, 0.0);
    EXPECT_EQ(p.traded, 12U);
}

TEST(own_orders, knows_trigger_and_display_quantity_of_what_it_sent) {
    own_orders mine;
    domain::command c;
    c.client_order = domain::client_order_id{5};
    c.order_terms().type = domain::order_type::stop;
    c.enter_order().trigger_price = domain::price_ticks{120};
    c.enter_order().display_quantity = domain::quantity_lots{3};
    mine.on_sent(c);
    EXPECT_EQ(mine.find(c.client_order)->trigger, domain::price_ticks{120});
    EXPECT_EQ(mine.find(c.client_order)->shown, 3U);
    domain::event triggered = about(domain::event_kind::order_amended, 5, 6);
    triggered.reason = domain::reject_reason::triggered;
    mine.on_event(triggered);
    EXPECT_EQ(mine.find(c.client_order)->trigger, domain::no_price);
}

TEST(own_orders, leaves_an_order_as_it_was_when_its_change_is_refused) {
    own_orders mine;
    mine.on_event(about(domain::event_kind::order_entered, 5, 6));
    mine.on_event(about(domain::event_kind::order_rejected, 5, 9));
    EXPECT_EQ(mine.find(domain::client_order_id{5})->state, order_state::open);
    EXPECT_EQ(mine.find(domain::client_order_id{5})->quantity, 6U);
}

TEST(own_orders, takes_over_what_it_hears_about_orders_of_an_earlier_connection) {
    own_orders mine;
    mine.on_event(fill(77, 2, 0, domain::side::sell));
    EXPECT_EQ(mine.find(domain::client_order_id{77})->state, order_state::filled);
    EXPECT_EQ(mine.positions().at(domain::instrument_id{1}).lots, -2);
}

/// Passes the private messages of one session to the desk.
struct listener final : facility::event_consumer {
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            if (domain::is_public(e.kind)) continue;
            const domain::session_id told = e.kind == domain::event_kind::order_executed  ? e.execution.session
                                            : e.kind == domain::event_kind::trade_capture ? e.capture.session
                                                                                          : e.order.session;
            if (told == domain::session_id{1}) mine.on_event(e);
        }
    }
    own_orders mine;
};

// Compares the desk's orders with the venue's after every request of a random flow.
TEST(own_orders, agrees_with_the_venue_on_every_open_order) {
    base::prng random(base::test_seed());
    domain::instrument i;
    i.id = domain::instrument_id{1};
    listener heard;
    facility::facility venue({}, {&i, 1}, heard);
    std::uint64_t next_number = 1;
    for (std::uint64_t step = 1; step <= 5'000; ++step) {
        domain::command c;
        c.sequence = domain::sequence_number{step};
        c.time = domain::time_ns{static_cast<std::int64_t>(step)};
        const auto who = static_cast<std::uint32_t>(1 + random.below(2));
        c.session = domain::session_id{who};
        c.account = domain::account_id{who};
        c.instrument = i.id;
        c.set_request(static_cast<std::uint32_t>(step));
        const std::uint64_t draw = random.below(10);
        c.client_order = domain::client_order_id{draw < 6 ? next_number++ : 1 + random.below(next_number)};
        const domain::price_ticks price{random.between(95, 105)};
        const domain::quantity_lots quantity{static_cast<std::uint32_t>(1 + random.below(9))};
        c.kind = draw < 6   ? domain::command_kind::enter_order
                 : draw < 8 ? domain::command_kind::amend_order
                            : domain::command_kind::cancel_order;
        const domain::side side = random.below(2) == 0 ? domain::side::buy : domain::side::sell;
        if (c.kind == domain::command_kind::enter_order) {
            c.order_terms().side = side;
            if (draw == 0) c.order_terms().time_in_force = domain::time_in_force::ioc;
            c.enter_order().price = price;
            c.enter_order().quantity = quantity;
        } else if (c.kind == domain::command_kind::amend_order) {
            c.amend_order().price = price;
            c.amend_order().quantity = quantity;
        }
        if (who == 1 && c.kind == domain::command_kind::enter_order) heard.mine.on_sent(c);
        venue.apply(c);

        struct counter final : facility::book_visitor {
            void visit_level(domain::side, const domain::level&) override {}
            void visit_order(domain::side, const facility::resting_order& o) override {
                if (o.session != domain::session_id{1}) return;
                ++count;
                const own_order* const seen = mine->find(o.client_order);
                ASSERT_NE(seen, nullptr);
                EXPECT_EQ(seen->state, order_state::open);
                EXPECT_EQ(seen->price, o.price);
                EXPECT_EQ(seen->filled, o.filled.value);
                EXPECT_EQ(seen->quantity - seen->filled, o.open.value);
            }
            const own_orders* mine = nullptr;
            std::size_t count = 0;
        } in_book;
        in_book.mine = &heard.mine;
        venue.visit_book(i.id, in_book);
        ASSERT_EQ(in_book.count, heard.mine.open_count()) << "step " << step;
    }
    EXPECT_EQ(heard.mine.positions().at(domain::instrument_id{1}).lots,
              venue.position_of(domain::account_id{1}, domain::instrument_id{1}));
}

}  // namespace
}  // namespace corro::app::desk
