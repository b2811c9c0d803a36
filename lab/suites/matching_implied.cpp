// SPDX-License-Identifier: Apache-2.0
// The rows `implied_*` of the suite `matching`: what implied matching adds to a change in an outright, where twelve
// expiries stand in calendar spreads with each other, every pair of them.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "facility/facility.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

constexpr std::uint32_t expiries = 12;
constexpr std::uint32_t accounts = 64;
constexpr std::int64_t month = 20;   ///< ticks between two neighbouring expiries
constexpr std::int64_t nearest = 3;  ///< ticks from the middle to the best price of an outright; of a spread one more
constexpr std::int64_t levels = 20;
constexpr int passes_min = 3;
constexpr double pairs_per_second = 5e5;

class listener final : public facility::event_consumer {
 public:
    std::uint64_t said = 0;
    std::uint64_t implied_tops = 0;
    std::uint64_t trades = 0;
    domain::order_id entered{};

 private:
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            said += static_cast<std::uint64_t>(e.kind) ^ e.book.order.value;
            if (e.kind == domain::event_kind::order_entered) entered = e.order.order;
            if (e.kind == domain::event_kind::implied_top) ++implied_tops;
            if (e.kind == domain::event_kind::trade) ++trades;
        }
    }
};

std::vector<domain::instrument> calendar(bool is_implied) {
    std::vector<domain::instrument> made;
    const auto add = [&](const std::string& name) -> domain::instrument& {
        domain::instrument i;
        i.id = domain::instrument_id{static_cast<std::uint32_t>(made.size()) + 1};
        i.product = domain::product_id{1};
        i.name = domain::symbol{name};
        made.push_back(i);
        return made.back();
    };
    for (std::uint32_t n = 0; n < expiries; ++n) add("M" + std::to_string(n));
    for (std::uint32_t near = 0; near < expiries; ++near) {
        for (std::uint32_t far = near + 1; far < expiries; ++far) {
            domain::instrument& i = add("M" + std::to_string(near) + "-M" + std::to_string(far));
            i.kind = domain::instrument_kind::spread;
            i.legs[0] = {domain::instrument_id{near + 1}, 1, domain::side::buy};
            i.legs[1] = {domain::instrument_id{far + 1}, 1, domain::side::sell};
            i.legs_count = 2;
            i.implied = is_implied;
        }
    }
    return made;
}

std::int64_t middle_of(const domain::instrument& i) noexcept {
    const auto of_outright = [](domain::instrument_id id) { return 10'000 + month * std::int64_t{id.value}; };
    return i.legs_count == 0 ? of_outright(i.id)
                             : of_outright(i.legs[0].instrument) - of_outright(i.legs[1].instrument);
}

/// A venue with full books, and one client that enters and cancels orders.
class market {
 public:
    /// @param lots_min        Least quantity of an order.
    /// @param is_one_sided    Nobody offers the first expiry directly.
    market(bool is_implied, std::uint32_t lots_min, bool is_one_sided)
        : instruments_(calendar(is_implied)),
          venue_(std::make_unique<facility::facility>(
              facility::facility_options{.orders_max = 1U << 14, .accounts_max = accounts}, instruments_, heard_)) {
        for (const domain::instrument& i : instruments_) {
            const std::int64_t best = nearest + (i.legs_count == 0 ? 0 : 1);
            for (std::int64_t level = 0; level < levels; ++level) {
                for (const domain::side side : {domain::side::buy, domain::side::sell}) {
                    const std::int64_t away = best + level;
                    if (is_one_sided && i.id.value == 1 && side == domain::side::sell) continue;
                    enter(i, side, middle_of(i) + (side == domain::side::buy ? -away : away),
                          lots_min + static_cast<std::uint32_t>(dice_.below(9)));
                }
            }
        }
        heard_ = {};
    }
    /// Enters an order in an outright, `away` ticks from its middle, and cancels it.
    void enter_and_cancel(std::int64_t away) noexcept {
        const domain::instrument& i = instruments_[dice_.below(expiries)];
        const domain::side side = dice_.below(2) == 0 ? domain::side::buy : domain::side::sell;
        enter(i, side, middle_of(i) + (side == domain::side::buy ? -away : away), 1);
        domain::command c = command();
        c.kind = domain::command_kind::cancel_order;
        c.cancel_order().order = heard_.entered;
        venue_->apply(c);
    }
    /// One lot of the first expiry, bought at the best price that others imply.
    void buy_implied() noexcept {
        const domain::instrument& i = instruments_[0];
        enter(i, domain::side::buy, middle_of(i) + 2 * nearest + 1, 1, domain::time_in_force::ioc);
    }
    [[nodiscard]] const listener& heard() const noexcept { return heard_; }

 private:
    domain::command command() noexcept {
        domain::command c;
        c.sequence = domain::sequence_number{++sequence_};
        c.account = domain::account_id{1};
        c.session = domain::session_id{1};
        return c;
    }
    void enter(const domain::instrument& i, domain::side side, std::int64_t price, std::uint32_t lots,
               domain::time_in_force lasts = domain::time_in_force::day) noexcept {
        domain::command c = command();
        c.kind = domain::command_kind::enter_order;
        c.instrument = i.id;
        c.order_terms().side = side;
        c.order_terms().time_in_force = lasts;
        c.enter_order().price = domain::price_ticks{price};
        c.enter_order().quantity = domain::quantity_lots{lots};
        c.client_order = domain::client_order_id{sequence_};
        venue_->apply(c);
    }

    base::prng dice_{1};
    listener heard_;
    std::vector<domain::instrument> instruments_;
    std::unique_ptr<facility::facility> venue_;
    std::uint64_t sequence_ = 0;
};

measurement measure(std::int64_t away, bool is_implied, bool says_tops, double seconds) {
    const auto pairs = static_cast<std::uint64_t>(std::clamp(seconds * pairs_per_second, 5e3, 5e5));
    market m(is_implied, 2, false);
    std::vector<double> times;
    for (int pass = 0; pass < passes_min; ++pass) {
        const std::uint64_t tops_before = m.heard().implied_tops;
        const std::uint64_t begin = thread_ns();
        for (std::uint64_t n = 0; n < pairs; ++n) m.enter_and_cancel(away);
        times.push_back(static_cast<double>(thread_ns() - begin) / static_cast<double>(2 * pairs));
        verify_equal(m.heard().implied_tops != tops_before, says_tops, "implied prices change where they should not");
    }
    std::sort(times.begin(), times.end());
    measurement result;
    result.values = {times[times.size() / 2]};
    return result;
}

measurement measure_fills(double seconds) {
    const auto fills = static_cast<std::uint64_t>(std::clamp(seconds * pairs_per_second, 5e3, 5e5));
    market m(true, 10'000'000, true);
    std::vector<double> times;
    for (int pass = 0; pass < passes_min; ++pass) {
        const std::uint64_t trades_before = m.heard().trades;
        const std::uint64_t begin = thread_ns();
        for (std::uint64_t n = 0; n < fills; ++n) m.buy_implied();
        times.push_back(static_cast<double>(thread_ns() - begin) / static_cast<double>(fills));
        verify_equal(m.heard().trades - trades_before, 3 * fills, "an order did not trade in three books");
    }
    std::sort(times.begin(), times.end());
    measurement result;
    result.values = {times[times.size() / 2]};
    return result;
}

}  // namespace

void declare_matching_implied(registry& into) {
    into.declare("matching", {{"implied_quiet", "ns", better::lower,
                               "an order behind the best price of one of 12 outrights in 66 calendar spreads, and its "
                               "cancel; per command"}});
    into.declare("matching", {{"implied_top", "ns", better::lower,
                               "the same at a better price, which changes 22 implied prices; per command"}});
    into.declare("matching", {{"implied_fill", "ns", better::lower,
                               "an order that trades one lot of an outright at the best of eleven implied prices, in "
                               "three books; per command"}});
    into.declare("matching", {{"implied_off_quiet", "ns", better::lower, "implied_quiet in plain spreads"}});
    into.declare("matching", {{"implied_off_top", "ns", better::lower, "implied_top in plain spreads"}});
}

void implement_matching_implied(registry& into) {
    const auto implement = [&](const char* row, std::int64_t away, bool is_implied) {
        const bool says_tops = is_implied && away < nearest;
        into.implement("matching", row, "corro_messages",
                       [=](const run_parameters& how) { return measure(away, is_implied, says_tops, how.seconds); });
    };
    implement("implied_quiet", nearest + 5, true);
    implement("implied_top", nearest - 1, true);
    into.implement("matching", "implied_fill", "corro_messages",
                   [](const run_parameters& how) { return measure_fills(how.seconds); });
    implement("implied_off_quiet", nearest + 5, false);
    implement("implied_off_top", nearest - 1, false);
}

}  // namespace corro::lab
