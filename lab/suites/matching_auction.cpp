// SPDX-License-Identifier: Apache-2.0
// The row `auction_uncross` of the suite `matching`: the time to end an auction with 100,000 orders.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "facility/facility.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

constexpr std::uint32_t orders_count = 100'000;
constexpr std::uint32_t orders_in_a_short_run = 5'000;
constexpr std::uint32_t accounts = 64;
constexpr std::int64_t middle = 10'000;
constexpr int passes_min = 3;

/// Counts an auction's events and reads all of them.
class listener final : public facility::event_consumer {
 public:
    std::uint64_t trades = 0, lots = 0, expected_lots = 0, said = 0;

 private:
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            said += static_cast<std::uint64_t>(e.kind) ^ e.book.order.value;
            if (e.kind == domain::event_kind::auction_ended) expected_lots = e.auction.volume.value;
            if (e.kind != domain::event_kind::trade) continue;
            ++trades;
            lots += e.trade.quantity.value;
        }
    }
};

domain::command phase(domain::trading_phase to, std::uint64_t sequence) {
    domain::command c;
    c.sequence = domain::sequence_number{sequence};
    c.kind = domain::command_kind::change_phase;
    c.change_phase().phase = to;
    c.set_operator(true);
    return c;
}

/// Collects the orders in pre-open, then times the command that ends it.
std::uint64_t uncross_once(std::uint32_t orders, listener& heard) {
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{"AUCTION"};
    const std::vector<domain::instrument> instruments{i};
    const auto venue = std::make_unique<facility::facility>(
        facility::facility_options{.orders_max = orders, .accounts_max = accounts}, instruments, heard);
    base::prng dice(1);
    std::uint64_t sequence = 0;
    venue->apply(phase(domain::trading_phase::pre_open, ++sequence));
    for (std::uint32_t n = 0; n < orders; ++n) {
        domain::command c;
        c.sequence = domain::sequence_number{++sequence};
        c.account = domain::account_id{n % accounts};
        c.session = domain::session_id{n % accounts};
        c.instrument = i.id;
        c.order_terms().side = n % 2 == 0 ? domain::side::buy : domain::side::sell;
        // Both sides reach 250 ticks beyond the middle and 50 short of it, so that most of them trade.
        const std::int64_t beyond = static_cast<std::int64_t>(dice.below(300)) - 50;
        c.enter_order().price = domain::price_ticks{n % 2 == 0 ? middle + beyond : middle - beyond};
        c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + dice.below(10))};
        c.client_order = domain::client_order_id{n + 1};
        venue->apply(c);
    }
    heard = {};
    const std::uint64_t begin = thread_ns();
    venue->apply(phase(domain::trading_phase::continuous, ++sequence));
    return thread_ns() - begin;
}

}  // namespace

void declare_matching_auction(registry& into) {
    into.declare(
        "matching",
        {{"auction_uncross", "ms", better::lower,
          "the end of an auction with 100,000 orders (5,000 in a short run) on 600 prices, most of which trade"},
         {"auction_fills", "fills", better::higher, "how many fills that makes"}});
}

void implement_matching_auction(registry& into) {
    into.implement("matching", "auction_uncross", "corro_messages", [](const run_parameters& how) {
        const std::uint32_t orders = how.seconds < 0.05 ? orders_in_a_short_run : orders_count;
        std::vector<double> times;
        listener first;
        for (int pass = 0; pass < passes_min; ++pass) {
            listener heard;
            times.push_back(static_cast<double>(uncross_once(orders, heard)) / 1e6);
            verify_equal(heard.lots, heard.expected_lots, "the fills are not what the auction announced");
            if (pass == 0) first = heard;
            verify_equal(heard.said, first.said, "two passes differ");
        }
        std::sort(times.begin(), times.end());
        measurement result;
        result.values = {times[times.size() / 2], static_cast<double>(first.trades)};
        return result;
    });
}

}  // namespace corro::lab
