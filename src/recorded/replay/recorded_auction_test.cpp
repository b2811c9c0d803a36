// SPDX-License-Identifier: Apache-2.0
// The opening auction of a recorded session, collected and ended by the facility alone: the same as `corro replay`
// through a gateway, by hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "facility/facility.hpp"
#include "recorded/replay/facility_venue_fixture.hpp"
#include "recorded/replay/recorded_files_fixture.hpp"
#include "recorded/replay/recorded_orders.hpp"

namespace corro::recorded::replay {
namespace {

using domain::command;
using domain::command_kind;

/// The facility with the commands of the records. Orders have their recorded ids as client order ids.
class collecting_venue final : public facility::event_consumer {
 public:
    explicit collecting_venue(const domain::instrument& instrument)
        : id_(instrument.id), venue_({.orders_max = 100'000, .accounts_max = 4}, std::vector{instrument}, *this) {}

    void change_phase(domain::trading_phase phase) {
        command c = made(command_kind::change_phase);
        c.change_phase().phase = phase;
        c.set_operator(true);
        venue_.apply(c);
    }
    void enter(std::uint64_t name, domain::side side, domain::price_ticks price, std::uint32_t size) {
        command c = made(command_kind::enter_order);
        c.client_order = domain::client_order_id{name};
        c.order_terms().side = side;
        c.enter_order().price = price;
        c.enter_order().quantity = domain::quantity_lots{size};
        c.order_terms().time_in_force = domain::time_in_force::gtc;
        venue_.apply(c);
        open[name] = size;
    }
    void amend(std::uint64_t name, domain::price_ticks price, std::uint32_t size) {
        command c = made(size == 0 ? command_kind::cancel_order : command_kind::amend_order);
        c.client_order = domain::client_order_id{name};
        if (size != 0) {
            c.amend_order().price = price;
            c.amend_order().quantity = domain::quantity_lots{size};
            c.amend_order().flags = domain::amend_flag::open_quantity;
        }
        venue_.apply(c);
        open[name] = size;
        if (size == 0) open.erase(name);
    }

    std::map<std::uint64_t, std::uint32_t> open;    ///< by recorded name
    std::map<std::uint64_t, std::uint32_t> filled;  ///< lots, by recorded name
    domain::auction_state indicative{};
    domain::auction_state ended{};
    std::uint64_t refusals = 0;

 private:
    command made(command_kind kind) {
        command c;
        c.sequence = domain::sequence_number{++sequence_};
        c.kind = kind;
        c.instrument = id_;
        c.account = domain::account_id{1};
        c.session = domain::session_id{1};
        return c;
    }
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            switch (e.kind) {
                case domain::event_kind::order_rejected: ++refusals; break;
                case domain::event_kind::auction_indicative: indicative = e.auction; break;
                case domain::event_kind::auction_ended: ended = e.auction; break;
                case domain::event_kind::order_executed:
                    filled[e.execution.client_order.value] += e.execution.quantity.value;
                    break;
                default: break;
            }
        }
    }

    domain::instrument_id id_;
    std::uint64_t sequence_ = 0;
    facility::facility venue_;
};

/// Follows an order of the pre-open.
void follow(collecting_venue& venue, std::map<std::uint64_t, domain::price_ticks>& prices, const order_record& r) {
    const auto known = venue.open.find(r.order);
    if (r.action == record_action::add || (r.action == record_action::modify && known == venue.open.end())) {
        if (known == venue.open.end()) venue.enter(r.order, side_of(r.side), r.price, r.size);
    } else if (known == venue.open.end()) {
        return;
    } else if (r.action == record_action::modify) {
        venue.amend(r.order, r.price, r.size);
    } else if (r.action == record_action::cancel) {
        venue.amend(r.order, prices[r.order], r.size >= known->second ? 0 : known->second - r.size);
    }
    if (r.action != record_action::cancel) prices[r.order] = r.price;
}

/// Seven orders trade that the feed never showed, and a fill of an auction has no side. Six of them came before the
/// session, for their numbers are between those of the snapshot, and stand in the list of fills where buyers have their
/// turn, between the buyers at 4805 and the one at 4802. The seventh has a number of the pre-open and the sellers' turn
/// between 4790 and 4799.50. With one lot more on the sellers' side, and only so, both sides trade the 44 lots.
void enter_unseen(collecting_venue& venue, const order_record& fill) {
    constexpr std::uint64_t seller = 6'412'777'265'240;
    const bool sells = fill.order == seller;
    venue.enter(fill.order, sells ? domain::side::sell : domain::side::buy,
                domain::price_ticks{sells ? 4'790 * 4 : 4'805 * 4}, fill.size);
}

TEST(recorded_auction, the_e_mini_opening_is_found_by_the_rules_of_the_auction) {
    CORRO_FIND_OR_SKIP(sunday, "esh4-glbx-mdp3-20231224.mbo.dbn.zst");
    CORRO_FIND_OR_SKIP(session, "esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    const std::vector<std::filesystem::path> files{sunday, session};
    const order_survey survey = survey_orders(files, std::nullopt);
    const domain::instrument instrument = wide_instrument(domain::price_nano{250'000'000});
    collecting_venue venue(instrument);
    venue.change_phase(domain::trading_phase::opening_auction);

    group_reader groups(open_orders(files, survey, instrument));
    std::map<std::uint64_t, domain::price_ticks> prices;
    std::map<std::uint64_t, std::uint32_t> expected;
    std::vector<order_record> group;
    std::uint32_t lots = 0;
    std::size_t fills = 0;
    domain::price_ticks price{};
    while (lots == 0 && groups.next(group)) {
        bool uncrosses = false;
        for (const order_record& r : group) {
            uncrosses = uncrosses || (r.action == record_action::trade && r.side == record_side::none);
        }
        std::set<std::uint64_t> traded;
        for (const order_record& r : group) {
            if (r.action == record_action::fill) traded.insert(r.order);
        }
        for (const order_record& r : group) {
            // The exchange cancelled orders without a trade before the auction, to prevent self-matches.
            const bool is_before = r.action == record_action::cancel && !traded.contains(r.order);
            if (!uncrosses || is_before) {
                follow(venue, prices, r);
            } else if (r.action == record_action::trade) {
                lots += r.size;
                price = r.price;
            } else if (r.action == record_action::fill) {
                ++fills;
                expected[r.order] += r.size;
                if (!venue.open.contains(r.order)) enter_unseen(venue, r);
            }
        }
    }
    EXPECT_EQ(venue.refusals, 0U);
    const domain::auction_state announced = venue.indicative;
    venue.change_phase(domain::trading_phase::continuous);

    EXPECT_EQ(lots, 44U);
    EXPECT_EQ(fills, 35U);
    EXPECT_EQ(to_nano(instrument, venue.ended.price), domain::price_nano{4'800'250'000'000});
    EXPECT_EQ(venue.ended.price, price);
    EXPECT_EQ(venue.ended.volume.value, lots);
    EXPECT_EQ(venue.filled, expected) << "every order of the record trades what it traded there, and no other";
    EXPECT_EQ(announced.price, venue.ended.price) << "the last indicative price is the auction's";
}

}  // namespace
}  // namespace corro::recorded::replay
