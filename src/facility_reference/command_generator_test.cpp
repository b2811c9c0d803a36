// SPDX-License-Identifier: Apache-2.0
#include "facility/command_generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/test_seed.hpp"
#include "facility_reference/differential.hpp"

namespace corro::facility::testing {
namespace {

/// The result of a request with a name.
[[nodiscard]] std::string fate_of_name(const domain::command& c, const std::vector<domain::event>& events) {
    using domain::command_kind;
    using domain::event_kind;
    const auto is_name = [](const domain::event& e) { return e.kind == event_kind::request_named; };
    const auto name = std::find_if(events.begin(), events.end(), is_name);
    if (name == events.end()) return "no name";
    const auto answer = std::find_if(name, events.end(), [&](const domain::event& e) {
        return (e.flags & domain::event_flag::last_of_request) != 0;
    });
    if (answer == events.end()) return "no answer";
    const bool is_refused = answer->kind == event_kind::order_rejected;
    switch (c.kind) {
        case command_kind::amend_order:
            if (is_refused) {
                return answer->reason == domain::reject_reason::duplicate_client_order_id
                           ? "amend refused, the name is taken"
                           : "amend refused otherwise";
            }
            if (answer->kind == event_kind::order_cancelled) return "amend cancels";
            if (answer->order.account != c.account) return "renamed and moved";
            return name->named.client_order == name->named.name ? "named again by its own name" : "renamed";
        case command_kind::cancel_order: return is_refused ? "cancel refused" : "cancelled";
        case command_kind::cancel_orders: return is_refused ? "mass cancel refused" : "many cancelled";
        default:
            if (is_refused) return "query refused";
            if (answer->kind == event_kind::order_status) return "state told";
            return answer->kind == event_kind::position_reported ? "positions told" : "states told";
    }
}

// The model test is only as good as the coverage of its commands.
TEST(command_generator, reaches_every_kind_of_event_and_every_reason_often) {
    base::prng seeds{base::test_seed()};
    std::map<domain::event_kind, std::uint64_t> kinds;
    std::map<domain::reject_reason, std::uint64_t> refusals;
    std::map<domain::reject_reason, std::uint64_t> cancellations;
    std::map<domain::reject_reason, std::uint64_t> amendments;
    std::uint64_t open_orders_sum = 0;
    std::uint64_t circuit_breaks = 0;
    std::map<std::string, std::uint64_t> named;
    constexpr std::uint64_t runs_count = 60;
    for (std::uint64_t run = 0; run < runs_count; ++run) {
        command_generator generator(seeds());
        recorder seen;
        facility venue(generator.profile().options, generator.profile().instruments, seen);
        for (int i = 0; i < 2'000; ++i) {
            seen.events.clear();
            const domain::command command = generator.next();
            venue.apply(command);
            ++named[fate_of_name(command, seen.events)];
            generator.learn(seen.events);
            for (const domain::event& e : seen.events) {
                ++kinds[e.kind];
                if (e.reason == domain::reject_reason::circuit_breaker) ++circuit_breaks;
                if (e.kind == domain::event_kind::order_rejected) ++refusals[e.reason];
                if (e.kind == domain::event_kind::order_cancelled) ++cancellations[e.reason];
                if (e.kind == domain::event_kind::order_amended) ++amendments[e.reason];
            }
            open_orders_sum += venue.open_orders_count();
        }
    }
    using domain::event_kind;
    using domain::reject_reason;
    for (const auto kind : {event_kind::order_entered, event_kind::order_amended, event_kind::order_cancelled,
                            event_kind::order_executed, event_kind::order_reduced, event_kind::top_of_book}) {
        EXPECT_GT(kinds[kind], 1'000U) << name_of(kind);
    }
    EXPECT_GT(kinds[event_kind::session_numbers_reset], 100U);
    EXPECT_GT(kinds[event_kind::messages_counted], 100U);
    EXPECT_GT(kinds[event_kind::order_named], 100U);
    for (const char* fate :
         {"renamed", "named again by its own name", "amend refused, the name is taken", "amend refused otherwise",
          "amend cancels", "cancelled", "cancel refused", "many cancelled", "mass cancel refused", "state told",
          "states told", "positions told", "query refused", "renamed and moved"}) {
        EXPECT_GT(named[fate], 10U) << fate;
    }
    for (const auto kind :
         {event_kind::instrument_terms, event_kind::instrument_legs, event_kind::instrument_defined}) {
        EXPECT_GT(kinds[kind], 5U) << name_of(kind);
    }
    for (const auto reason :
         {reject_reason::instrument_exists, reject_reason::name_taken, reject_reason::instruments_full,
          reject_reason::unsound_definition, reject_reason::unknown_leg, reject_reason::implied_definition}) {
        EXPECT_GT(refusals[reason], 0U) << to_string(reason);
    }
    for (const auto reason : {reject_reason::unknown_instrument,
                              reject_reason::invalid_side,
                              reject_reason::invalid_order_type,
                              reject_reason::invalid_time_in_force,
                              reject_reason::invalid_quantity,
                              reject_reason::invalid_price,
                              reject_reason::price_outside_band,
                              reject_reason::invalid_combination,
                              reject_reason::invalid_self_match_prevention,
                              reject_reason::unknown_command,
                              reject_reason::duplicate_client_order_id,
                              reject_reason::unknown_order,
                              reject_reason::order_not_open,
                              reject_reason::nothing_to_cancel,
                              reject_reason::no_counterparty,
                              reject_reason::insufficient_quantity,
                              reject_reason::would_take_liquidity,
                              reject_reason::self_match_prevented,
                              reject_reason::book_full,
                              reject_reason::not_authorised,
                              reject_reason::invalid_expire_time,
                              reject_reason::price_outside_dynamic_band,
                              reject_reason::order_not_waiting,
                              reject_reason::instrument_halted,
                              reject_reason::killed,
                              reject_reason::order_size_limit,
                              reject_reason::notional_limit,
                              reject_reason::open_orders_limit,
                              reject_reason::position_limit}) {
        EXPECT_GT(refusals[reason], 10U) << domain::to_string(reason);
    }
    for (const auto reason : {reject_reason::none, reject_reason::no_counterparty, reject_reason::self_match_prevented,
                              reject_reason::expired, reject_reason::killed}) {
        EXPECT_GT(cancellations[reason], 100U) << domain::to_string(reason);
    }
    for (const auto reason : {reject_reason::triggered, reject_reason::self_match_prevented}) {
        EXPECT_GT(amendments[reason], 300U) << domain::to_string(reason);
    }
    EXPECT_GT(cancellations[reject_reason::price_outside_dynamic_band], 0U);
    EXPECT_GT(circuit_breaks, 100U);
    EXPECT_GT(kinds[event_kind::request_done], 300U);
    EXPECT_GT(open_orders_sum / (runs_count * 2'000), 10U) << "books are not empty on average";
}

}  // namespace
}  // namespace corro::facility::testing
